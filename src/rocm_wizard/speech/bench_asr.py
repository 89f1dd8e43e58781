"""Measures what Qwen3-ASR-0.6B costs on a device, with random weights: `python -m rocm_wizard.speech.bench_asr`.

The network is full-size and takes the time that the real one takes for the same number of tokens; what it says means
nothing. `bench_child` tells the messages, `docs/bench.md` what each measurement is.
"""

import argparse
import sys
from collections.abc import Sequence

from rocm_wizard.speech.bench_child import BenchReporter, run_bench, send_memory, send_started
from rocm_wizard.speech.guard import ProtocolWriter

_ROUNDS = 5
_QUICK_ROUNDS = 1


def main(arguments: Sequence[str] | None = None) -> int:
    """The program; gives its exit code."""
    parser = argparse.ArgumentParser(prog="bench_asr", description=__doc__)
    parser.add_argument("--device", default="auto", help="cpu, cuda:0 (HIP too), mps, auto")
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument(
        "--rounds", type=int, help=f"warm repetitions (default {_ROUNDS}; with --quick {_QUICK_ROUNDS})"
    )
    parser.add_argument("--quick", action="store_true", help="one warm repetition")
    parser.add_argument("--tiny", action="store_true", help=argparse.SUPPRESS)
    options = parser.parse_args(arguments)
    return run_bench(lambda writer: _bench(writer, options), options.device)


def _bench(writer: ProtocolWriter, options: argparse.Namespace) -> None:
    from rocm_wizard.speech.bench_asr_work import FULL, TINY, AsrBench
    from rocm_wizard.speech.devices import choose_device, prepare_torch, synchronise

    prepare_torch()
    device = choose_device(options.device, require_gpu=False, fall_back=False).device
    rounds = options.rounds or (_QUICK_ROUNDS if options.quick else _ROUNDS)
    facts = {"seed": options.seed, "rounds": rounds, "quick": options.quick, "tiny": options.tiny}
    send_started(writer, device, bench="asr", **facts)
    report = BenchReporter(writer, lambda: synchronise(device), rounds)
    AsrBench(report, device, options.seed, TINY if options.tiny else FULL).run()
    send_memory(report, device)
    writer.send({"type": "done"})


if __name__ == "__main__":
    sys.exit(main())

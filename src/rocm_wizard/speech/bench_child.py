"""What both bench programs share: the messages, cold and warm timing, peak memory.

One JSON object a line: `started`, then for every part `begin` and `measurement` (or `not_available`, with the reason),
then `done`. A message leaves as soon as its numbers are there, so a crash takes nothing with it but its own part.
"""

import argparse
import faulthandler
import sys
import time
import traceback
from collections.abc import Callable, Sequence
from typing import Any

from rocm_wizard.speech.guard import ProtocolWriter, claim_stdout
from rocm_wizard.speech.serve import LoadFailure, spin_shortly, wanted_facts

_ROUNDS = 5
_QUICK_ROUNDS = 1


class BenchReporter:
    """Times work and sends what it took. `rounds`: warm repetitions of everything, after one cold."""

    def __init__(self, writer: ProtocolWriter, synchronise: Callable[[], None], rounds: int) -> None:
        self._writer = writer
        self._synchronise = synchronise
        self.rounds = rounds

    def begin(self, part: str) -> None:
        """Names the part that runs from now on: whoever reads a crash wants to know where."""
        self._writer.send({"type": "begin", "part": part})

    def send(self, id: str, unit: str, cold: float | None, warm: Sequence[float], **facts: object) -> None:
        """One finished measurement; `cold` None where there was no first time of its own."""
        self._writer.send(
            {
                "type": "measurement",
                "id": id,
                "unit": unit,
                "cold": None if cold is None else round(cold, 4),
                "warm": [round(value, 4) for value in warm],
                **facts,
            }
        )

    def not_available(self, id: str, reason: str) -> None:
        """What this device cannot do, so that nobody takes silence for a pass."""
        self._writer.send({"type": "not_available", "id": id, "reason": reason})

    def seconds(self, work: Callable[[], object]) -> float:
        """Seconds of `work`, the device idle before and after."""
        self._synchronise()
        started = time.perf_counter()
        work()
        self._synchronise()
        return time.perf_counter() - started

    def measure(self, id: str, unit: str, work: Callable[[], object], of: Callable[[float], float]) -> None:
        """The first call and `rounds` more; `of` makes the value of a call's seconds."""
        self.begin(id)
        cold = of(self.seconds(work))
        self.send(id, unit, cold, [of(self.seconds(work)) for _ in range(self.rounds)])


def milliseconds(seconds: float) -> float:
    """For `BenchReporter.measure`."""
    return seconds * 1000


class BenchOptions:
    """The command line of a bench program. `rounds` None: as many as the depth has."""

    device: str
    seed: int
    rounds: int | None
    quick: bool
    tiny: bool


type Work = Callable[[BenchReporter, Any, BenchOptions], None]
"""Measures on a torch.device and reports."""


def bench_program(bench: str, about: str | None, load: Callable[[], Work], arguments: Sequence[str] | None) -> int:
    """The program `bench_<bench>`; gives its exit code. `load` imports what the work needs, behind the guard."""
    parser = argparse.ArgumentParser(prog=f"bench_{bench}", description=about)
    parser.add_argument("--device", default="auto", help="cpu, cuda:0 (HIP too), mps, auto")
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument(
        "--rounds", type=int, help=f"warm repetitions (default {_ROUNDS}; with --quick {_QUICK_ROUNDS})"
    )
    parser.add_argument("--quick", action="store_true", help="fewer lengths, one warm repetition")
    parser.add_argument("--tiny", action="store_true", help=argparse.SUPPRESS)
    options = parser.parse_args(arguments, namespace=BenchOptions())

    def program(writer: ProtocolWriter) -> None:
        from rocm_wizard.speech.devices import choose_device, prepare_torch, synchronise

        prepare_torch()
        device = choose_device(options.device, require_gpu=False, fall_back=False).device
        rounds = options.rounds or (_QUICK_ROUNDS if options.quick else _ROUNDS)
        facts = {"seed": options.seed, "rounds": rounds, "quick": options.quick, "tiny": options.tiny}
        work = load()
        _send_started(writer, device, bench=bench, **facts)
        report = BenchReporter(writer, lambda: synchronise(device), rounds)
        work(report, device, options)
        _send_memory(report, device)
        writer.send({"type": "done"})

    return run_bench(program, options.device)


def run_bench(program: Callable[[ProtocolWriter], None], device: str) -> int:
    """A bench program from its first line to its exit code: 0, or 1 after an `error` message."""
    writer = claim_stdout()
    faulthandler.enable(file=sys.stderr)
    spin_shortly()
    try:
        program(writer)
    except BrokenPipeError:
        print("nobody reads the measurements any more", file=sys.stderr)
        return 1
    except Exception as failure:  # noqa: BLE001 - whatever stops it, the host must read it
        traceback.print_exc(file=sys.stderr)
        text = str(failure) if isinstance(failure, LoadFailure) else f"{type(failure).__name__}: {failure}"
        # What could not start says nothing about the device; what broke later does.
        kind = "LOAD_FAIL" if isinstance(failure, LoadFailure | ImportError) else "BENCH_FAIL"
        writer.send({"type": "error", "msg": f"{kind}: {text}", **wanted_facts(device)})
        return 1
    return 0


def _send_started(writer: ProtocolWriter, device: Any, **facts: object) -> None:
    """The first message: what is measured on what. `device` is a torch.device."""
    import torch

    from rocm_wizard.speech.devices import torch_facts

    name = torch.cuda.get_device_name(device) if device.type == "cuda" else "CPU" if device.type == "cpu" else "MPS"
    writer.send(
        {
            "type": "started",
            "weights": "random",
            "quality": "not judged",
            "device": str(device),
            "device_name": name,
            "threads": torch.get_num_threads(),
            **torch_facts(),
            **facts,
        }
    )


def _send_memory(report: BenchReporter, device: Any) -> None:
    """Peak memory of the process and, on CUDA and HIP, of torch on the device."""
    import torch

    report.begin("memory")
    process = peak_process_memory()
    if process is None:
        report.not_available("memory_process", "this system does not tell a process's peak")
    else:
        report.send("memory_process", "B", None, [process])
    if device.type == "cuda":
        report.send("memory_device", "B", None, [torch.cuda.max_memory_allocated(device)])
    else:
        report.not_available("memory_device", f"torch counts memory on CUDA and HIP only, and this is {device}")


def peak_process_memory() -> int | None:
    """The most memory that this process held at once, in bytes."""
    if sys.platform == "win32":
        import psutil

        return psutil.Process().memory_info().peak_wset
    import resource

    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    return peak if sys.platform == "darwin" else peak * 1024

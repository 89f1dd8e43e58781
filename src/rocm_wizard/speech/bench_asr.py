"""Measures what Qwen3-ASR-0.6B costs on a device, with random weights: `python -m rocm_wizard.speech.bench_asr`.

The network is full-size and takes the time that the real one takes for the same number of tokens; what it says means
nothing. `bench_child` tells the messages, `docs/bench.md` what each measurement is.
"""

import sys
from collections.abc import Sequence

from rocm_wizard.speech.bench_child import Work, bench_program


def _work() -> Work:
    from rocm_wizard.speech.bench_asr_work import FULL, TINY, AsrBench

    return lambda report, device, options: AsrBench(report, device, options.seed, TINY if options.tiny else FULL).run()


def main(arguments: Sequence[str] | None = None) -> int:
    """The program; gives its exit code."""
    return bench_program("asr", __doc__, _work, arguments)


if __name__ == "__main__":
    sys.exit(main())

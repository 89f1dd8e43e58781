"""Measures what GPT-SoVITS v3 costs on a device, with random weights: `python -m rocm_wizard.speech.bench_tts`.

The networks are full-size and seeded, so that they take the time that real ones take. The sound is noise and nobody
judges it. `bench_child` tells the messages, `docs/bench.md` what each measurement is.
"""

import sys
from collections.abc import Sequence

from rocm_wizard.speech.bench_child import Work, bench_program


def _work() -> Work:
    from rocm_wizard.speech.bench_tts_work import FULL, TINY, TtsBench

    return lambda report, device, options: TtsBench(
        report, device, options.seed, TINY if options.tiny else FULL, quick=options.quick
    ).run()


def main(arguments: Sequence[str] | None = None) -> int:
    """The program; gives its exit code."""
    return bench_program("tts", __doc__, _work, arguments)


if __name__ == "__main__":
    sys.exit(main())

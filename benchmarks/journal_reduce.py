"""Reducing a journal of a million events: seconds and memory. `python benchmarks/journal_reduce.py [EVENTS]`.

Budget: 10 s for 1,000,000 events, flat memory.
"""

import sys
import tempfile
import time
from pathlib import Path

import psutil

from rocm_wizard.qualification import events as ev
from rocm_wizard.qualification.finding import Finding
from rocm_wizard.qualification.journal import JournalReading, Record
from rocm_wizard.qualification.outcome import Outcome
from rocm_wizard.qualification.reducer import Reducer


def write(path: Path, count: int) -> None:
    """A journal with the mixture of a soak: mostly log lines and measurements, some blocks and findings."""
    finding = Finding("asr.text_right", Outcome.PASSED, {"took": 0.5, "text": "and mister john dashwood"})
    with path.open("wb") as file:
        file.write(Record(1, 0.0, "w", ev.RunStarted("1", ["tts_smoke"], {}, {})).to_line())
        for seq in range(2, count + 1):
            kinds: tuple[ev.Event, ...] = (
                ev.LogLines("tts_smoke", "tts sidecar", ["a line of a usual length from a child's stderr"]),
                ev.MeasurementTaken("tts_smoke", "tts.first_audio", 0.05, "s", seq, "warm"),
                ev.AudioBlockReceived("tts_smoke", seq, 0.1, 0.8, [0.5] * 16),
                ev.Progressed("tts_smoke", seq, None, "blocks"),
            )
            event = ev.FindingReported("tts_smoke", "utterance", finding, 0.1) if seq % 500 == 0 else kinds[seq % 4]
            file.write(Record(seq, seq / 1000, "w", event).to_line())


def main(count: int) -> None:
    """Writes, then reduces."""
    process = psutil.Process()
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "journal.jsonl"
        write(path, count)
        before, started = process.memory_info().rss, time.perf_counter()
        reducer = Reducer()
        for record in JournalReading(path):
            reducer.apply(record)
        state = reducer.state()
        seconds, grown = time.perf_counter() - started, process.memory_info().rss - before
        print(
            f"{state.events} events, {path.stat().st_size / 2**20:.0f} MiB: "
            f"{seconds:.2f} s, {grown / 2**20:.1f} MiB more"
        )


if __name__ == "__main__":
    main(int(sys.argv[1]) if len(sys.argv) > 1 else 1_000_000)

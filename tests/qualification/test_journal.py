"""The journal survives being cut anywhere, and a disk that refuses."""

import json
import os
import sys
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from rocm_wizard.qualification import events as ev
from rocm_wizard.qualification.finding import Finding, as_fact
from rocm_wizard.qualification.journal import Journal, JournalReading, Record
from rocm_wizard.qualification.outcome import Outcome
from rocm_wizard.qualification.reducer import reduce
from rocm_wizard.report.catalogue import Catalogue
from rocm_wizard.report.document import what_is_missing

STAGES = ["profile", "versions"]

scalars = st.none() | st.booleans() | st.integers(-(2**53), 2**53) | st.floats(allow_nan=False) | st.text(max_size=20)
findings = st.builds(
    Finding,
    st.from_regex(r"[a-z]+\.[a-z_]+", fullmatch=True),
    st.sampled_from(Outcome),
    st.dictionaries(st.text(max_size=8), scalars | st.lists(st.text(max_size=5)), max_size=4),
    st.frozensets(st.text(max_size=5), max_size=2),
)
seconds = st.floats(0, 1e6)
events: st.SearchStrategy[ev.Event] = st.one_of(
    st.builds(ev.StageStarted, st.sampled_from(STAGES)),
    st.builds(ev.FindingReported, st.sampled_from(STAGES), st.text(max_size=5), findings, st.none() | seconds),
    st.builds(ev.MeasurementTaken, st.sampled_from(STAGES), st.text(max_size=5), seconds, st.just("s")),
    st.builds(ev.AudioBlockReceived, st.sampled_from(STAGES), st.integers(0, 9), seconds, seconds, st.lists(seconds)),
    st.builds(ev.LogLines, st.sampled_from(STAGES), st.text(max_size=5), st.lists(st.text(max_size=9), max_size=3)),
    st.builds(ev.StageFinished, st.sampled_from(STAGES), st.sampled_from(Outcome), seconds),
)


def example_journal(path: Path) -> list[Record]:
    """A whole run of two stages."""
    journal = Journal(path)
    records: list[Record] = []
    journal.subscribe(records.append)
    journal.append(ev.RunStarted("1.0", STAGES, {"python": "C:/用户/python.exe"}, {"cpu": "x"}))
    for stage in STAGES:
        journal.append(ev.StageStarted(stage))
        journal.append(ev.FindingReported(stage, "a", Finding(f"{stage}.ok", Outcome.PASSED, {"n": 1}), 0.5))
        journal.append(ev.StageFinished(stage, Outcome.PASSED, 0.5))
    journal.append(ev.RunFinished(0, 1.0))
    journal.close()
    return records


@given(st.lists(events, max_size=6))
@settings(suppress_health_check=[HealthCheck.function_scoped_fixture], max_examples=60)
def test_what_is_written_reads_back_equal(tmp_path: Path, found: list[ev.Event]) -> None:
    path = tmp_path / f"{os.urandom(8).hex()}.jsonl"
    journal = Journal(path)
    journal.append(ev.RunStarted("1.0", STAGES, {}, {}))
    for event in found:
        journal.append(event)
    journal.close()
    reading = JournalReading(path)
    assert [record.event for record in reading][1:] == found
    assert reading.problems == []


def test_cut_at_every_byte_it_opens_and_says_what_is_missing(tmp_path: Path) -> None:
    whole = tmp_path / "whole.jsonl"
    records = example_journal(whole)
    data = whole.read_bytes()
    catalogue = Catalogue()
    ends = {index + 1 for index, byte in enumerate(data) if byte == ord("\n")} | {0}
    cut = tmp_path / "cut.jsonl"
    for length in range(len(data)):
        cut.write_bytes(data[:length])
        reading = JournalReading(cut)
        read = list(reading)
        lines = data[:length].count(b"\n")
        assert [record.event for record in read] == [record.event for record in records[:lines]]
        torn = [problem for problem in reading.problems if problem.kind == "torn_line"]
        assert bool(torn) == (length not in ends)
        missing = what_is_missing(reduce(read), reading.problems, catalogue)
        assert missing, f"nothing said about a journal cut at byte {length}"


def test_a_missing_or_broken_line_in_the_middle_is_named_and_the_rest_is_read(tmp_path: Path) -> None:
    path = tmp_path / "j.jsonl"
    example_journal(path)
    lines = path.read_bytes().splitlines(keepends=True)
    lines[3] = b'{"v":1,"seq":4,"t":"soon"}\n'
    del lines[5]
    path.write_bytes(b"".join(lines))
    reading = JournalReading(path)
    assert len(list(reading)) == len(lines) - 1
    assert [(problem.kind, problem.line) for problem in reading.problems] == [("bad_line", 4), ("gap", 5), ("gap", 6)]


def test_an_event_of_a_later_version_is_kept_and_counted(tmp_path: Path) -> None:
    path = tmp_path / "j.jsonl"
    example_journal(path)
    line = {"v": 2, "seq": 9, "t": 2.0, "wall": "w", "type": "hologram", "x": [1]}
    with path.open("ab") as file:
        file.write(json.dumps(line).encode() + b"\n")
    records = list(JournalReading(path))
    assert isinstance(records[-1].event, ev.UnknownEvent)
    assert reduce(records).unknown_events == 1


@pytest.mark.skipif(sys.platform != "linux", reason="/dev/full is Linux's")
def test_a_full_disk_does_not_end_the_run(tmp_path: Path) -> None:
    journal = Journal(tmp_path / "journal.jsonl")
    journal._file.close()
    journal._file = open("/dev/full", "wb", buffering=0)  # noqa: PTH123, SIM115
    seen: list[Record] = []
    journal.subscribe(seen.append)
    journal.append(ev.StageStarted("profile"))
    journal.append(ev.StageFinished("profile", Outcome.PASSED, 0.1))
    journal.close()
    assert journal.write_error == "No space left on device"
    assert len(seen) == 2


def test_facts_from_children_are_made_harmless() -> None:
    assert as_fact("a\x1b[31mred\x1b[0m\nb\x07") == "ared b\N{REPLACEMENT CHARACTER}"
    assert as_fact({"a": 1}) == "{'a': 1}"
    assert as_fact(float("nan")) == "nan"
    assert as_fact([1, "\x1b]0;title\x07x"]) == ["1", "x"]

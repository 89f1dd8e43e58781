"""Reports: escaped, masked, whole, and honest about what a pass means."""

import json
from html.parser import HTMLParser
from pathlib import Path

import pytest

from rocm_wizard.line.printer import LinePrinter
from rocm_wizard.qualification import events as ev
from rocm_wizard.qualification.finding import Finding
from rocm_wizard.qualification.journal import Record
from rocm_wizard.qualification.outcome import Outcome
from rocm_wizard.qualification.reducer import reduce
from rocm_wizard.qualification.state import RunState
from rocm_wizard.report.catalogue import Catalogue
from rocm_wizard.report.redact import Mask
from rocm_wizard.report.told import machine_rows
from rocm_wizard.report.verdict import verdict_sentence, verdict_word
from rocm_wizard.report.writer import write_reports

NASTY = "</td><script>alert(1)</script> `x` | **b** [a](javascript:x)"
MASK = Mask((("C:\\Users\\Kurisu Makise", "~"), ("Makise", "<user>"), ("LAB-PC", "<host>")))


def run_state(*findings: Finding, outcome: Outcome = Outcome.PASSED, provenance: ev.Provenance = "live") -> RunState:
    """A finished run of one stage with these findings."""
    events: list[ev.Event] = [
        ev.RunStarted(
            "1.0", ["asr_smoke"], {"python": "c:/users/kurisu makise/x"}, {"cpu": NASTY}, provenance=provenance
        ),
        ev.StageStarted("asr_smoke"),
        *(ev.FindingReported("asr_smoke", "start", finding, 0.5) for finding in findings),
        ev.MeasurementTaken("asr_smoke", "asr.inference", 1.25, "s", 1, "cold"),
        ev.StageFinished("asr_smoke", outcome, 1.0),
        ev.RunFinished(0 if outcome is Outcome.PASSED else 1, 2.0),
    ]
    return reduce(Record(n, n / 10, "2026-01-01T00:00:00+00:00", event) for n, event in enumerate(events, start=1))


class Strict(HTMLParser):
    """Collects tags; the report may hold no script, no link, no image."""

    def __init__(self) -> None:
        super().__init__()
        self.tags: set[str] = set()

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        """Remembers the tag."""
        self.tags.add(tag)
        assert not any(name.startswith("on") or name in ("src", "href") for name, _ in attrs)


def test_hostile_text_stays_text(tmp_path: Path) -> None:
    finding = Finding("sidecar.refused", Outcome.FAILED, {"sidecar": "asr sidecar", "detail": NASTY})
    paths = write_reports(run_state(finding, outcome=Outcome.FAILED), Catalogue(), tmp_path, mask=MASK)
    html = next(path for path in paths if path.suffix == ".html").read_text(encoding="utf-8")
    parser = Strict()
    parser.feed(html)
    assert "script" not in parser.tags
    assert "&lt;script&gt;" in html
    markdown = (tmp_path / "report.md").read_text(encoding="utf-8")
    assert "<script>" not in markdown
    assert "\\<script\\>" in markdown
    assert json.loads((tmp_path / "report.json").read_text(encoding="utf-8"))["verdict"] == "failed"


def test_a_childs_last_words_are_told_where_something_failed(tmp_path: Path) -> None:
    lines = ["one", "two", "HIP error", "", "Makise: <b>boom</b>"]
    for outcome, told in ((Outcome.FAILED, True), (Outcome.PASSED, False)):
        finding = Finding("sidecar.died", outcome, {"sidecar": "asr sidecar", "detail": "x", "stderr": lines})
        write_reports(run_state(finding, outcome=outcome), Catalogue(), tmp_path, mask=MASK)
        markdown = (tmp_path / "report.md").read_text(encoding="utf-8")
        html = (tmp_path / "report.html").read_text(encoding="utf-8")
        assert (" - HIP error" in markdown) is (" - <user>" in markdown.replace("\\", "")) is told
        assert ("<code>HIP error</code><br><code>&lt;user&gt;: &lt;b&gt;boom" in html) is told
        assert " - one" not in markdown
        said: list[str] = []
        LinePrinter(Catalogue(), said.append)(
            Record(1, 0.1, "2026-01-01T00:00:00+00:00", ev.FindingReported("asr_smoke", "start", finding, 0.5))
        )
        assert [line.strip() for line in said[-2:]] == ["HIP error", lines[-1]] if told else len(said) == 1


def test_the_machine_is_told_in_rows_with_units() -> None:
    adapter = {"vendor": "amd", "device_id": "7550", "name": "Radeon RX 9070", "vram": 16 * 2**30, "driver": None}
    machine = {"cpu": "x", "memory": 32 * 2**30, "page_file": None, "adapters": [adapter], "unread": {}}
    assert list(machine_rows(machine)) == [
        ("cpu", "x"),
        ("memory", "32.0 GiB"),
        ("adapter", "Radeon RX 9070 (vendor amd, device_id 7550, vram 16.0 GiB)"),
    ]


def test_names_of_person_and_computer_are_masked_everywhere(tmp_path: Path) -> None:
    facts = {"file": "C:\\Users\\Kurisu Makise\\声\\x.wav", "reason": "\\\\lab-pc\\share not found for MAKISE"}
    finding = Finding("tts.file_not_written", Outcome.WARNING, facts)
    write_reports(run_state(finding, outcome=Outcome.WARNING), Catalogue(), tmp_path, mask=MASK)
    for path in tmp_path.iterdir():
        text = path.read_text(encoding="utf-8").lower()
        assert "makise" not in text, path.name
        assert "lab-pc" not in text, path.name
        assert "x.wav" in text, path.name


def test_the_mask_does_not_eat_parts_of_words() -> None:
    mask = Mask((("root", "<user>"),))
    assert mask.text("the root of /root, rooted") == "the <user> of /<user>, rooted"


def test_embedded_models_are_said_in_the_first_sentence() -> None:
    ready = Finding("sidecar.ready", Outcome.PASSED, {"engine": "embedded"})
    sentence = verdict_sentence(run_state(ready), Catalogue())
    assert sentence == "Qualified, with the embedded models; your own models were not tested."
    own = Finding("sidecar.ready", Outcome.PASSED, {"engine": "qwen3_asr"})
    assert verdict_sentence(run_state(own), Catalogue()) == "Qualified."


def test_a_run_of_some_steps_never_sounds_like_a_whole_one() -> None:
    events: list[ev.Event] = [
        ev.RunStarted("1.0", ["profile", "compute"], {}, {}, partial=True),
        *(ev.StageFinished(stage, Outcome.PASSED, 1.0) for stage in ("profile", "compute")),
        ev.RunFinished(0, 2.0),
    ]
    state = reduce(Record(n, n / 10, "w", event) for n, event in enumerate(events, start=1))
    assert verdict_sentence(state, Catalogue()) == "Qualified; only these steps were run: Profile, Compute."


@pytest.mark.parametrize("provenance", ["demo", "replay"])
def test_what_is_not_live_says_so_in_every_file(tmp_path: Path, provenance: ev.Provenance) -> None:
    for path in write_reports(run_state(provenance=provenance), Catalogue(), tmp_path, mask=MASK):
        assert provenance.upper() in path.read_text(encoding="utf-8"), path.name


def test_every_file_says_what_a_pass_does_not_prove(tmp_path: Path) -> None:
    for path in write_reports(run_state(), Catalogue(), tmp_path, mask=MASK):
        assert "microphone" in path.read_text(encoding="utf-8")


@pytest.mark.parametrize(
    ("outcome", "word"),
    [
        (Outcome.PASSED, "qualified"),
        (Outcome.WARNING, "qualified_warning"),
        (Outcome.FAILED, "failed"),
        (Outcome.COULD_NOT_CHECK, "could_not_check"),
        (Outcome.CANCELLED, "incomplete"),
    ],
)
def test_the_verdict_is_computed(outcome: Outcome, word: str) -> None:
    assert verdict_word(run_state(outcome=outcome)) == word


@pytest.mark.parametrize(
    ("outcomes", "word", "counts"),
    [
        (
            [Outcome.PASSED, Outcome.SKIPPED],
            "qualified_unchecked",
            "not everything was checked (warnings: 0, not checked: 1)",
        ),
        ([Outcome.WARNING, Outcome.SKIPPED, Outcome.SKIPPED], "qualified_warning", "(warnings: 1, not checked: 2)"),
    ],
)
def test_what_lowers_the_verdict_is_named(outcomes: list[Outcome], word: str, counts: str) -> None:
    findings = [Finding(f"asr.{number}", outcome) for number, outcome in enumerate(outcomes)]
    state = run_state(*findings, outcome=Outcome.WARNING)
    assert verdict_word(state) == word
    assert counts in verdict_sentence(state, Catalogue())


def test_a_finding_without_words_still_says_what_it_is() -> None:
    text = Catalogue().sentence(Finding("new.thing", Outcome.FAILED, {"n": 3}))
    assert text == "new.thing: failed (n=3)"


def test_facts_cannot_reach_into_the_program() -> None:
    catalogue = Catalogue()
    finding = Finding("sidecar.refused", Outcome.FAILED, {"sidecar": "{detail.__class__}", "detail": "{0}"})
    assert catalogue.sentence(finding) == "The {detail.__class__} refused the request: {0}"


def test_an_unwritable_folder_is_an_error_and_leaves_no_part(tmp_path: Path) -> None:
    (tmp_path / "report.html").mkdir()
    with pytest.raises(OSError):
        write_reports(run_state(), Catalogue(), tmp_path, mask=MASK)
    assert not list(tmp_path.glob("*.part"))

"""Every finding and every known issue can be told in full, offline; the table of findings is not stale."""

import json
import subprocess
import sys
from html.parser import HTMLParser
from pathlib import Path

import pytest

from rocm_wizard.line.printer import LinePrinter
from rocm_wizard.qualification import events as ev
from rocm_wizard.qualification.finding import Finding
from rocm_wizard.qualification.journal import Record
from rocm_wizard.qualification.outcome import Outcome
from rocm_wizard.qualification.reducer import reduce
from rocm_wizard.report.catalogue import Catalogue, load_strings
from rocm_wizard.report.explain import closest_ids, explain, finding_ids, issue_ids, list_all, template
from rocm_wizard.report.known_issues import best_issue, load_known_issues, machine_facts
from rocm_wizard.report.redact import Mask
from rocm_wizard.report.writer import write_reports
from rocm_wizard.runner.exit_status import explain_exit

ROOT = Path(__file__).parents[2]
CATALOGUE = Catalogue()
REFERENCE = "gfx1103-dies-at-first-operation"


def run(*arguments: str, script: Path | None = None) -> subprocess.CompletedProcess[str]:
    """The command, or a script of the project."""
    start = ["-m", "rocm_wizard"] if script is None else [str(script)]
    command = [sys.executable, *start, *arguments]
    return subprocess.run(command, capture_output=True, encoding="utf-8", timeout=60, check=False, cwd=ROOT)


@pytest.mark.parametrize("id", finding_ids())
def test_every_finding_is_told_with_all_its_words(id: str) -> None:
    lines = explain(id, CATALOGUE)
    assert lines is not None and lines[0].endswith(id)
    text = "\n".join(lines)
    for part in ("text", "hint", "action", "link"):
        entry = load_strings("en")["finding"][id].get(part, "")
        for words in entry.values() if isinstance(entry, dict) else [entry]:
            assert template(words) in text


@pytest.mark.parametrize("id", issue_ids())
def test_every_known_issue_is_told_with_cause_remedy_and_link(id: str) -> None:
    issue = next(issue for issue in load_known_issues() if issue.id == id)
    text = "\n".join(explain(id, CATALOGUE) or [])
    for part in (issue.title, issue.cause, issue.remedy, issue.link, issue.command, issue.fixed_in, *issue.related):
        assert (part or "") in text


def test_a_finding_names_the_issues_that_can_be_behind_it() -> None:
    crashed = "\n".join(explain("compute.child_crashed", CATALOGUE) or [])
    assert f"{REFERENCE}: " in crashed
    assert "smart-app-control: " not in "\n".join(explain("env.plan", CATALOGUE) or [])


def test_outcomes_with_words_of_their_own_are_named() -> None:
    lines = explain("versions.interpreter", CATALOGUE) or []
    assert any(line.startswith("It says (failed): The interpreter is <implementation> <version>") for line in lines)


@pytest.mark.parametrize(
    ("typed", "meant"),
    [
        ("compute.child_crash", "compute.child_crashed"),
        ("child_crashed", "compute.child_crashed"),
        ("gfx1103-dies", REFERENCE),
        ("smart-app", "smart-app-control"),
        ("grouped mm", "grouped-mm-rocm721"),
        ("profile.torch_mising", "profile.torch_missing"),
    ],
)
def test_a_mistyped_id_is_recognised(typed: str, meant: str) -> None:
    assert explain(typed, CATALOGUE) is None
    assert meant in closest_ids(typed)


def test_the_list_has_every_id_once() -> None:
    listed = [line.strip().partition(": ")[0] for line in list_all(CATALOGUE) if line.startswith("  ")]
    assert sorted(listed) == sorted([*finding_ids(), *issue_ids()])


def test_the_command(tmp_path: Path) -> None:
    told = run("explain", " Compute.Child_Crashed ")
    assert told.returncode == 0
    assert told.stdout.startswith("Finding compute.child_crashed\n")
    unknown = run("explain", "compute.child_crash")
    assert (unknown.returncode, unknown.stdout) == (2, "")
    assert "error: There is no finding" in unknown.stderr and "compute.child_crashed" in unknown.stderr
    everything = run("explain", "--lang", "en")
    assert everything.returncode == 0
    assert REFERENCE in everything.stdout


def test_the_table_of_findings_is_not_stale() -> None:
    done = run("--check", script=ROOT / "tools" / "make_finding_table.py")
    assert done.returncode == 0, done.stderr


def test_the_table_has_a_row_for_every_finding_and_knows_outcomes() -> None:
    rows = [line for line in (ROOT / "docs" / "findings.md").read_text(encoding="utf-8").splitlines() if "| `" in line]
    cells = {row.split("|")[1].strip(" `"): row.split("|")[2].strip() for row in rows}
    assert cells["versions.interpreter"] == "passed, failed"
    assert cells["profile.adapters_unread"] == "warning"
    assert cells["compute.child_crashed"] == "crashed"
    assert cells["wire.bad_base64"] == "failed, crashed"
    assert sum(outcome == "?" for outcome in cells.values()) < len(cells) / 10


RADEON = {"vendor": "amd", "device_id": "15bf", "name": "AMD Radeon 780M Graphics", "driver": "32.0.23027.2005"}
MACHINE = {"platform": "windows-amd64", "adapters": [RADEON]}


def records() -> list[Record]:
    """The reference case as its journal tells it: the device was listed, then the first product ended the process."""
    listed = {"device": "cuda:0", "device_name": "AMD Radeon 780M Graphics", "gfx": "gfx1103"}
    died = {"step": "fp32_product", "exit_code": 0xC0000005, "exit_name": str(explain_exit(0xC0000005))}
    events: list[ev.Event] = [
        ev.RunStarted("1.0", ["compute"], {}, MACHINE),
        ev.StageStarted("compute"),
        ev.FindingReported("compute", "enumerate", Finding("compute.device", Outcome.PASSED, listed)),
        ev.FindingReported("compute", "child", Finding("compute.child_crashed", Outcome.CRASHED, died)),
        ev.StageFinished("compute", Outcome.CRASHED, 1.0),
        ev.RunFinished(1, 2.0),
    ]
    return [Record(n, n / 10, "2026-01-01T00:00:00+00:00", event) for n, event in enumerate(events, start=1)]


class Links(HTMLParser):
    """The text of a page, and whether it has links."""

    def __init__(self) -> None:
        super().__init__()
        self.text = ""
        self.tags: set[str] = set()

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        """Remembers the tag."""
        self.tags.add(tag)

    def handle_data(self, data: str) -> None:
        """Collects the text."""
        self.text += data


def test_the_issue_stands_in_every_report_file(tmp_path: Path) -> None:
    issue = next(issue for issue in load_known_issues() if issue.id == REFERENCE)
    write_reports(reduce(records()), CATALOGUE, tmp_path, mask=Mask(()))
    report = json.loads((tmp_path / "report.json").read_text(encoding="utf-8"))
    assert [known["id"] for known in report["why"]["known_issues"]] == [REFERENCE]
    assert report["stages"][0]["findings"][0]["known_issues"] == []
    markdown = (tmp_path / "report.md").read_text(encoding="utf-8")
    assert f"<{issue.link}>" in markdown and REFERENCE in markdown
    page = Links()
    page.feed((tmp_path / "report.html").read_text(encoding="utf-8"))
    for part in (REFERENCE, issue.title, issue.remedy, issue.link, str(issue.command)):
        assert part in page.text
    assert "a" not in page.tags


def test_line_mode_tells_it_below_the_finding() -> None:
    lines: list[str] = []
    printer = LinePrinter(CATALOGUE, lines.append)
    for record in records():
        printer(record)
    at = next(index for index, line in enumerate(lines) if REFERENCE in line)
    assert any("CRASHED" in line for line in lines[:at])
    issue = next(issue for issue in load_known_issues() if issue.id == REFERENCE)
    told = [line.strip() for line in lines[at : at + 4]]
    assert told == [f"Known issue {REFERENCE}: {issue.title}", issue.remedy, f"Next: {issue.command}", issue.link]


def test_a_screen_gets_the_best_issue_from_the_runs_state() -> None:
    state = reduce(records())
    machine = machine_facts(state)
    assert machine["gfx"] == "gfx1103"
    crashed = state.stage("compute").findings[1]
    issue = best_issue(crashed, machine)
    assert issue is not None and issue.id == REFERENCE
    assert best_issue(state.stage("compute").findings[0], machine) is None

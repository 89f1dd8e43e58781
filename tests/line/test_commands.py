"""The commands for one step: the document on stdout is the schema's, whatever the step found."""

import copy
import json
import subprocess
import sys
from collections.abc import Mapping
from functools import cache
from pathlib import Path
from typing import Any

import pytest

from rocm_wizard.arguments import STAGE_COMMANDS, build_parser
from rocm_wizard.assets import asset
from rocm_wizard.qualification import events as ev
from rocm_wizard.qualification.finding import Finding
from rocm_wizard.qualification.journal import Record
from rocm_wizard.qualification.outcome import Outcome
from rocm_wizard.qualification.reducer import reduce
from rocm_wizard.report.catalogue import Catalogue
from rocm_wizard.report.redact import Mask
from rocm_wizard.report.stage_document import build_stage_document
from tests.line.schema_check import problems

MASK = Mask((("C:\\Users\\Kurisu", "~"), ("Kurisu", "<user>")))
PHOENIX = {
    "platform": "windows-amd64",
    "cores": 16,
    "memory": 2**35,
    "adapters": [{"vendor": "amd", "device_id": "15bf", "name": "AMD Radeon 780M Graphics", "driver": "32.0.1.2"}],
}


@cache
def schema(command: str) -> Mapping[str, Any]:
    """The committed schema of a command."""
    return json.loads(asset("schemas", f"{command}.schema.json").read_text(encoding="utf-8"))


def wrong(document: Any, command: str) -> list[str]:
    """What the command's schema finds wrong."""
    return list(problems(document, schema(command), schema(command)))


def run(*arguments: str) -> subprocess.CompletedProcess[str]:
    """The program as a script starts it."""
    command = [sys.executable, "-m", "rocm_wizard", *arguments]
    return subprocess.run(
        command, stdin=subprocess.DEVNULL, capture_output=True, encoding="utf-8", timeout=170, check=False
    )


def document(command: str, tmp_path: Path, *arguments: str) -> tuple[dict[str, Any], int, str]:
    """The document of a real run, its exit code and what was told on stderr; stdout held one document, no more."""
    done = run(command, "--json", "--no-play", "--runs-dir", str(tmp_path / "runs 运行"), *arguments)
    assert done.stdout.startswith("{\n") and done.stdout.endswith("}\n"), done.stdout + done.stderr
    value = json.loads(done.stdout)
    assert wrong(value, command) == []
    assert value["exit_code"] == done.returncode
    return value, done.returncode, done.stderr


def test_profile(tmp_path: Path) -> None:
    value, code, told = document("profile", tmp_path)
    assert code == 0
    assert [stage["id"] for stage in value["stages"]] == ["profile"]
    assert value["profile"] is not None
    assert value["machine"]["platform"].count("-") == 1
    assert "Journal: " in told


def test_versions(tmp_path: Path) -> None:
    value, code, _ = document("versions", tmp_path, "--profile", "torch-cpu")
    assert code in (0, 1)
    ids = {finding["id"] for finding in value["stages"][1]["findings"]}
    assert "versions.interpreter" in ids
    assert any(measurement["id"] == "versions.import_torch" for measurement in value["stages"][1]["measurements"])


@pytest.mark.slow
def test_compute(tmp_path: Path) -> None:
    value, code, _ = document("compute", tmp_path, "--profile", "torch-cpu")
    assert code == 0
    passed = {finding["id"] for finding in value["stages"][1]["findings"] if finding["outcome"] == "passed"}
    assert {"compute.fp32_product", "compute.conv1d", "compute.fft"} <= passed


@pytest.mark.slow
@pytest.mark.parametrize(("command", "id"), [("asr", "asr.text_right"), ("tts", "tts.utterance")])
def test_speech(command: str, id: str, tmp_path: Path) -> None:
    value, _, _ = document(command, tmp_path, "--profile", "torch-cpu", "--text", "One short sentence.")
    assert id in {finding["id"] for finding in value["stages"][1]["findings"]}


@pytest.mark.parametrize("command", ["versions", "tts"])
def test_a_step_behind_a_closed_gate_is_a_valid_document_too(command: str, tmp_path: Path) -> None:
    value, code, _ = document(command, tmp_path, "--profile", "nonsense")
    assert code == 1
    assert value["verdict"] == "failed"
    assert value["stages"][1]["outcome"] == "blocked"
    assert value["stages"][1]["blocked_by"] == "profile"


def test_for_a_person_the_command_is_a_run_of_these_steps(tmp_path: Path) -> None:
    done = run("profile", "--lang", "en", "--runs-dir", str(tmp_path))
    assert done.returncode == 0, done.stderr
    assert "[1/1] Profile" in done.stdout
    assert not done.stdout.lstrip().startswith("{")


def test_a_usage_error_leaves_stdout_empty(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("in the way", encoding="utf-8")
    for arguments in (["compute", "--json", "--nonsense"], ["profile", "--json", "--runs-dir", str(tmp_path / "file")]):
        done = run(*arguments)
        assert done.returncode == 2
        assert done.stdout == ""
        assert "error:" in done.stderr and "hint:" in done.stderr


def recorded(*findings: Finding, stage: str = "compute", outcome: Outcome = Outcome.CRASHED) -> dict[str, Any]:
    """The document of a run on a Radeon 780M whose compute step found this."""
    target = {"python": "c:/users/kurisu/x", "checkout": None, "profile": None}
    chosen = Finding("profile.chosen_option", Outcome.PASSED, {"profile": "local-rocm", "device_kind": "hip"})
    events: list[ev.Event] = [
        ev.RunStarted("1.0", ["profile", stage], target, PHOENIX),
        ev.StageStarted("profile"),
        ev.FindingReported("profile", "choice", chosen),
        ev.StageFinished("profile", Outcome.PASSED, 0.1),
        ev.StageStarted(stage),
        *(ev.FindingReported(stage, "child", finding, 0.5) for finding in findings),
        ev.MeasurementTaken(stage, f"{stage}.fp32_product", float("nan"), "s", 1, "cold"),
        ev.StageFinished(stage, outcome, 1.0),
        ev.RunFinished(1, 2.0),
    ]
    state = reduce(Record(n, n / 10, "2026-01-01T00:00:00+00:00", event) for n, event in enumerate(events, start=1))
    return json.loads(json.dumps(build_stage_document("compute", state, Catalogue(), MASK), allow_nan=False))


CRASH = Finding("compute.child_crashed", Outcome.CRASHED, {"exit_code": -1073741819, "gfx": "gfx1103"})


def test_a_crash_carries_its_known_issue() -> None:
    value = recorded(CRASH)
    assert wrong(value, "compute") == []
    issues = value["stages"][1]["findings"][0]["known_issues"]
    assert [issue["id"] for issue in issues] == ["gfx1103-dies-at-first-operation"]
    assert value["stages"][1]["measurements"][0]["value"] is None
    assert "kurisu" not in json.dumps(value).lower()


BREAKAGES: dict[str, Any] = {
    "schema": lambda d: d.update(schema="rocm-wizard/stage@2"),
    "command": lambda d: d.update(command="versions"),
    "exit code": lambda d: d.update(exit_code=2),
    "verdict": lambda d: d.update(verdict="fine"),
    "unknown field": lambda d: d.update(extra=1),
    "no machine": lambda d: d.pop("machine"),
    "a step too few": lambda d: d["stages"].pop(),
    "a step too many": lambda d: d["stages"].append(d["stages"][0]),
    "steps in the wrong order": lambda d: d["stages"].reverse(),
    "another step's finding": lambda d: d["stages"][1]["findings"][0].update(id="tts.silent"),
    "another step's measurement": lambda d: d["stages"][1]["measurements"][0].update(id="tts.synthesis"),
    "outcome": lambda d: d["stages"][1]["findings"][0].update(outcome="ok"),
    "fact": lambda d: d["stages"][1]["findings"][0]["facts"].update(x={"a": 1}),
    "list fact": lambda d: d["stages"][1]["findings"][0]["facts"].update(x=[1]),
    "text": lambda d: d["stages"][1]["findings"][0].update(text=""),
    "link": lambda d: d["stages"][1]["findings"][0]["known_issues"][0].update(link="http://x"),
    "seconds": lambda d: d.update(seconds=-1),
    "attempt": lambda d: d["stages"][0].update(attempt=1.5),
    "a truth as a number": lambda d: d["stages"][0].update(attempt=True),
    "adapter": lambda d: d["machine"]["adapters"][0].pop("vendor"),
}


@pytest.mark.parametrize("name", BREAKAGES)
def test_a_broken_document_is_refused(name: str) -> None:
    value = copy.deepcopy(recorded(CRASH))
    BREAKAGES[name](value)
    assert wrong(value, "compute") != []


def test_every_stage_command_has_a_schema_of_the_same_shell() -> None:
    assert {path.name for path in asset("schemas").iterdir()} >= {f"{name}.schema.json" for name in STAGE_COMMANDS}
    shells = [copy.deepcopy(dict(schema(name))) for name in STAGE_COMMANDS]
    for shell in shells:
        assert shell["$schema"].endswith("2020-12/schema")
        del shell["$id"], shell["title"], shell["properties"]["command"], shell["properties"]["stages"]
    assert all(shell == shells[0] for shell in shells)


def test_a_stage_command_runs_the_profile_step_and_its_own() -> None:
    for name, (stage, _) in STAGE_COMMANDS.items():
        arguments = build_parser().parse_args([name])
        assert arguments.stages == list(dict.fromkeys(["profile", stage]))
        assert arguments.command == name and arguments.json is False

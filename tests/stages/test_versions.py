"""The version step against this environment, and against answers that another environment would give."""

import json
from pathlib import Path

import pytest

from rocm_wizard.qualification.outcome import Outcome
from rocm_wizard.report.catalogue import Catalogue
from rocm_wizard.stages.versions import VersionsStage
from tests.stages.bench import Bench, bad


def answering(bench: Bench, *messages: dict[str, object]) -> None:
    """Puts a probe in place that gives these answers."""
    script = bench.folder / "probe.py"
    lines = [json.dumps(message) for message in (*messages, {"type": "done"})]
    script.write_text("".join(f"print({line!r}, flush=True)\n" for line in lines), encoding="utf-8")
    bench.options(versions_probe=script)


INTERPRETER: dict[str, object] = {
    "type": "interpreter",
    "version": "3.12.9",
    "implementation": "CPython",
    "bits": 64,
    "prefix": "C:/amadeus/.venv",
    "in_venv": True,
}
ROCM: dict[str, str | None] = {
    "torch": "2.9.1+rocm7.2.1",
    "torchaudio": "2.9.1+rocm7.2.1",
    "torchvision": "0.24.1+rocm7.2.1",
    "rocm": "7.2.1",
    "rocm-sdk-core": "7.2.1",
    "rocm-sdk-devel": "7.2.1",
    "rocm-sdk-libraries-custom": "7.2.1",
}


def torch(version: str, hip: str | None, cuda: str | None = None) -> dict[str, object]:
    """What the probe says of torch."""
    file = "C:/amadeus/.venv/Lib/site-packages/torch/__init__.py"
    return {"type": "torch", "version": version, "hip": hip, "cuda": cuda, "file": file, "seconds": 1.0}


def test_this_environment_is_torch_cpu(bench: Bench) -> None:
    state = bench.run(VersionsStage)
    assert state.stage("versions").outcome is Outcome.PASSED
    ids = {finding.id for finding in state.stage("versions").findings}
    assert {"versions.interpreter", "versions.package", "versions.torch_build", "versions.torch_place"} <= ids
    assert {"versions.numpy", "versions.module", "versions.paths", "versions.consistent"} <= ids
    assert state.stage("versions").measurements[0].value > 0.1


def test_the_rocm_selection_passes(bench: Bench) -> None:
    bench.session.profile = bench.session.book.get("local-rocm")
    packages: dict[str, object] = {"type": "packages", "versions": ROCM}
    answering(bench, INTERPRETER, packages, torch("2.9.1+rocm7.2.1", "7.2.53211"))
    assert bench.run(VersionsStage).stage("versions").outcome is Outcome.PASSED


def test_a_wheel_that_became_the_cpu_build_is_named_with_its_repair(bench: Bench) -> None:
    bench.session.profile = bench.session.book.get("local-rocm")
    packages: dict[str, object] = {"type": "packages", "versions": ROCM | {"torch": "2.9.1"}}
    answering(bench, INTERPRETER, packages, torch("2.9.1+cpu", None))
    findings = [f for f in bench.run(VersionsStage).stage("versions").findings if f.outcome is not Outcome.PASSED]
    assert [finding.id for finding in findings] == ["versions.package_wrong", "versions.cpu_build"]
    assert findings[0].facts["package"] == "torch"
    action = Catalogue("en").action(findings[1])
    assert action == "uv sync --locked --extra local-rocm --reinstall-package torch"


def test_a_hip_number_of_another_release_fails(bench: Bench) -> None:
    bench.session.profile = bench.session.book.get("local-rocm")
    packages: dict[str, object] = {"type": "packages", "versions": ROCM}
    answering(bench, INTERPRETER, packages, torch("2.9.1+rocm7.2.1", "7.1.25424"))
    assert bad(bench.run(VersionsStage), "versions").id == "versions.torch_build_wrong"


@pytest.mark.parametrize(("hip", "right"), [("7.2.53211", True), ("7.2", True), ("7.20.1", False), (None, False)])
def test_the_hip_number_is_compared_by_its_parts(bench: Bench, hip: str | None, right: bool) -> None:
    bench.session.profile = bench.session.book.get("local-rocm")
    answering(bench, INTERPRETER, {"type": "packages", "versions": ROCM}, torch("2.9.1+rocm7.2.1", hip))
    ids = {finding.id for finding in bench.run(VersionsStage).stage("versions").findings}
    assert ("versions.torch_build" in ids) is right


def test_torch_from_elsewhere_fails(bench: Bench) -> None:
    packages: dict[str, object] = {"type": "packages", "versions": {"torch": "2.9.1", "torchaudio": "2.9.1"}}
    elsewhere = torch("2.9.1", None) | {"file": "C:/Users/x/AppData/Roaming/Python/torch/__init__.py"}
    answering(bench, INTERPRETER, packages, elsewhere)
    assert bad(bench.run(VersionsStage), "versions").id == "versions.torch_elsewhere"


def test_python_311_fails(bench: Bench) -> None:
    packages: dict[str, object] = {"type": "packages", "versions": {"torch": "2.9.1", "torchaudio": "2.9.1"}}
    answering(bench, INTERPRETER | {"version": "3.11.7"}, packages, torch("2.9.1", None))
    assert bad(bench.run(VersionsStage), "versions").id == "versions.interpreter"


def test_a_rocm_package_under_another_profile_fails(bench: Bench) -> None:
    versions = {"torch": "2.9.1", "torchaudio": "2.9.1", "rocm": "7.2.1"}
    answering(bench, INTERPRETER, {"type": "packages", "versions": versions}, torch("2.9.1", None))
    found = bad(bench.run(VersionsStage), "versions")
    assert (found.id, found.facts["present"]) == ("versions.foreign_packages", ["rocm 7.2.1"])


def test_an_interpreter_that_is_none(bench: Bench) -> None:
    fake = bench.folder / "python"
    fake.write_text("not a program", encoding="utf-8")
    bench.session.target = type(bench.session.target)(Path(fake))
    found = bad(bench.run(VersionsStage), "versions")
    assert (found.id, found.outcome) == ("versions.child_not_started", Outcome.COULD_NOT_CHECK)


def test_a_probe_that_says_nothing(bench: Bench) -> None:
    answering(bench)
    assert bad(bench.run(VersionsStage), "versions").id == "versions.silent"

"""The version step's look around: search path, numpy, imports, HIP runtime, pins, package check."""

import os
import sys
import venv
from pathlib import Path
from typing import Any

import pytest

from rocm_wizard.machine.target import Target, venv_python
from rocm_wizard.qualification.finding import Finding
from rocm_wizard.qualification.outcome import Outcome
from rocm_wizard.stages.versions import VersionsStage
from tests.stages.bench import Bench
from tests.stages.test_compute import assert_readable
from tests.stages.test_versions import INTERPRETER, ROCM, answering, torch

PREFIX = "C:/amadeus/.venv"


def rocm_findings(bench: Bench, *messages: dict[str, object], packages: dict[str, Any] | None = None) -> list[Finding]:
    """What did not pass when a right ROCm environment says this, too."""
    bench.session.profile = bench.session.book.get("local-rocm")
    versions: dict[str, object] = {"type": "packages", "versions": ROCM | (packages or {})}
    answering(bench, INTERPRETER, versions, torch("2.9.1+rocm7.2.1", "7.2.53211"), *messages)
    state = bench.run(VersionsStage)
    assert_readable(state, "versions")
    stage = state.stage("versions")
    return [finding for finding in stage.findings if finding.outcome is not Outcome.PASSED]


def only(findings: list[Finding], id: str, outcome: Outcome) -> dict[str, Any]:
    """The facts of the one finding."""
    assert [(finding.id, finding.outcome) for finding in findings] == [(id, outcome)]
    return dict(findings[0].facts)


@pytest.mark.parametrize(
    ("loaded", "id"),
    [
        ([rf"{PREFIX}/Lib/site-packages/_rocm_sdk_core/bin/amdhip64_7.dll"], None),
        ([r"c:\AMADEUS\.venv\Lib\site-packages\_rocm_sdk_core\bin\amdhip64_7.dll"], None),
        ([r"C:\WINDOWS\System32\amdhip64_7.dll"], "versions.hip_runtime_elsewhere"),
        ([r"C:\amadeus\.venv2\amdhip64_7.dll"], "versions.hip_runtime_elsewhere"),
        ([], "versions.hip_runtime_unknown"),
    ],
)
def test_the_loaded_hip_runtime(bench: Bench, loaded: list[str], id: str | None) -> None:
    found = rocm_findings(bench, {"type": "hip_runtime", "loaded": loaded, "on_path": []})
    assert [finding.id for finding in found] == ([id] if id else [])
    assert all(finding.outcome is Outcome.WARNING for finding in found)


def test_numpy_of_another_interface(bench: Bench) -> None:
    message: dict[str, object] = {
        "type": "numpy_error",
        "error": "RuntimeError",
        "message": "Numpy is not available",
        "version": "1.26.4",
    }
    facts = only(rocm_findings(bench, message), "versions.numpy_broken", Outcome.FAILED)
    assert facts["detail"] == "RuntimeError: Numpy is not available"


def test_numpy_that_does_not_share_memory(bench: Bench) -> None:
    message: dict[str, object] = {"type": "numpy", "version": "2.2.0", "right": False}
    only(rocm_findings(bench, message), "versions.numpy_broken", Outcome.FAILED)


def test_torchaudio_of_another_torch(bench: Bench) -> None:
    message: dict[str, object] = {
        "type": "module_error",
        "name": "torchaudio",
        "error": "OSError",
        "message": r'[WinError 127] 找不到指定的程序。 Error loading "C:\x\torchaudio\lib\libtorchaudio.pyd"',
        "winerror": 127,
    }
    facts = only(rocm_findings(bench, message), "versions.module_failed", Outcome.FAILED)
    assert (facts["package"], facts["library"]) == ("torchaudio", "libtorchaudio.pyd")


@pytest.mark.parametrize(("transformers", "right"), [("4.57.6", True), ("5.0.0", False), (None, False)])
def test_a_checkouts_pins(bench: Bench, transformers: str | None, right: bool) -> None:
    bench.session.target = Target(Path(sys.executable), bench.folder)
    found = rocm_findings(bench, packages={"qwen-asr": "0.0.6", "transformers": transformers})
    assert [finding.id for finding in found] == ([] if right else ["versions.pin_wrong"])


def test_without_a_checkout_nobody_needs_the_pins(bench: Bench) -> None:
    assert rocm_findings(bench, packages={"qwen-asr": "0.0.6", "transformers": "5.0.0"}) == []


def test_a_copy_found_first_is_a_warning(bench: Bench, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The real probe, with a PYTHONPATH that leads to another numpy."""
    copy = tmp_path / "别的" / "numpy"
    copy.mkdir(parents=True)
    (copy / "__init__.py").touch()
    monkeypatch.setenv("PYTHONPATH", str(copy.parent))
    stage = bench.run(VersionsStage).stage("versions")
    found = {finding.id: finding for finding in stage.findings if finding.outcome is not Outcome.PASSED}
    assert set(found) == {"versions.path_shadows"}
    assert found["versions.path_shadows"].facts["places"] == [f"{copy.parent}: numpy"]


def test_an_environment_that_lets_the_system_in_and_has_nothing(bench: Bench, tmp_path: Path) -> None:
    """A real virtual environment without packages: the interpreter is right, everything else is said to be missing."""
    folder = tmp_path / "目标 env"
    venv.create(folder, system_site_packages=True, symlinks=os.name != "nt")
    bench.session.target = Target(venv_python(folder))
    stage = bench.run(VersionsStage).stage("versions")
    found = {finding.id: finding for finding in stage.findings}
    assert found["versions.interpreter"].outcome is Outcome.PASSED
    assert found["versions.package_missing"].outcome is Outcome.FAILED
    assert {"versions.system_site", "versions.path_shadows"} & set(found)


@pytest.mark.slow
def test_packages_that_do_not_fit_are_listed(bench: Bench, tmp_path: Path) -> None:
    """A real environment with a package whose requirement is absent, judged by the real uv or pip."""
    folder = tmp_path / "环境 env"
    venv.create(folder, symlinks=os.name != "nt", with_pip=True)
    metadata = next(folder.glob("[Ll]ib/**/site-packages")) / "needy-1.0.dist-info"
    metadata.mkdir()
    text = "Metadata-Version: 2.1\nName: needy\nVersion: 1.0\nRequires-Dist: never-installed>=3\n"
    (metadata / "METADATA").write_text(text, encoding="utf-8")
    bench.session.target = Target(venv_python(folder))
    found = {finding.id: finding for finding in bench.run(VersionsStage).stage("versions").findings}
    assert found["versions.inconsistent"].outcome is Outcome.WARNING
    assert "never-installed" in str(found["versions.inconsistent"].facts["lines"])


@pytest.mark.skipif(sys.platform == "win32", reason="a script as a program")
@pytest.mark.parametrize("code", [0, 7])
def test_without_uv_and_pip_the_package_check_is_left_out(
    bench: Bench, tmp_path: Path, code: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A `uv` that answers and one that breaks; this environment has no pip."""
    fake = tmp_path / "uv"
    fake.write_text(f"#!{sys.executable}\nimport sys\nsys.exit({code})\n", encoding="utf-8")
    fake.chmod(0o755)
    monkeypatch.setenv("UV", str(fake))
    answering(bench, INTERPRETER, {"type": "packages", "versions": {"torch": "2.9.1", "torchaudio": "2.9.1"}})
    found = {finding.id: finding for finding in bench.run(VersionsStage).stage("versions").findings}
    if code == 0:
        assert found["versions.consistent"].facts["tool"] == "uv pip check"
    else:
        assert found["versions.consistency_unknown"].outcome is Outcome.SKIPPED
        assert len(found["versions.consistency_unknown"].facts["reasons"]) == 2  # pyright: ignore[reportArgumentType]

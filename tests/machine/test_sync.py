"""`uv sync` by consent: a real uv, a real lock file, and two builds of a package that calls itself torch."""

import os
import shutil
import subprocess
import sys
import zipfile
from pathlib import Path

import pytest

from rocm_wizard.machine.target import find_target, installed_torch
from rocm_wizard.qualification.events import Event, Progressed
from rocm_wizard.qualification.pipeline import Pipeline
from rocm_wizard.qualification.stage import Answer, CancelToken, Question
from rocm_wizard.qualification.state import RunState
from rocm_wizard.stages.profile import ProfileStage
from tests.machine.support import finding, recorded, short
from tests.stages.bench import Bench

BUILDS = {"local-cu124": "2.6.0+cu124", "torch-cpu": "2.9.1", "local-rocm": "2.9.1+rocm7.2.1"}


def real_uv() -> str | None:
    """The uv beside this interpreter or on PATH; a version manager's stand-in for it does not count."""
    beside = shutil.which(
        "uv", path=os.pathsep.join([str(Path(sys.base_prefix) / "bin"), str(Path(sys.prefix) / "bin")])
    )
    return beside or shutil.which("uv")


UV = real_uv()
pytestmark = pytest.mark.skipif(UV is None, reason="uv is not installed")


def wheel(folder: Path, version: str) -> str:
    """A package without content that calls itself torch; gives its address."""
    path, info = folder / f"torch-{version}-py3-none-any.whl", f"torch-{version}.dist-info"
    with zipfile.ZipFile(path, "w") as archive:
        archive.writestr("torch/__init__.py", "")
        archive.writestr(f"{info}/METADATA", f"Metadata-Version: 2.1\nName: torch\nVersion: {version}\n")
        archive.writestr(f"{info}/WHEEL", "Wheel-Version: 1.0\nRoot-Is-Purelib: true\nTag: py3-none-any\n")
        archive.writestr(f"{info}/RECORD", f"torch/__init__.py,,\n{info}/METADATA,,\n{info}/WHEEL,,\n{info}/RECORD,,\n")
    return path.as_uri().replace("+", "%2B")


def uv(folder: Path, *arguments: str) -> None:
    """Runs uv without a network."""
    command = [str(UV), *arguments, "--offline", "--python", sys.executable]
    subprocess.run(command, cwd=folder, check=True, capture_output=True)


@pytest.fixture
def checkout(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A locked project with three profiles, in a folder with a blank and Chinese characters."""
    monkeypatch.setenv("PATH", os.pathsep.join([str(Path(str(UV)).parent), os.environ["PATH"]]))
    monkeypatch.setenv("UV_OFFLINE", "1")
    monkeypatch.setenv("UV_CACHE_DIR", str(tmp_path / "cache"))
    monkeypatch.delenv("VIRTUAL_ENV", raising=False)
    folder = tmp_path / "my checkout 项目"
    folder.mkdir()
    extras = "".join(f'{name} = ["torch @ {wheel(folder, version)}"]\n' for name, version in BUILDS.items())
    conflicts = ", ".join(f'{{ extra = "{name}" }}' for name in BUILDS)
    (folder / "pyproject.toml").write_text(
        '[project]\nname = "target"\nversion = "1"\nrequires-python = ">=3.12,<3.13"\n'
        f"[project.optional-dependencies]\n{extras}[tool.uv]\npackage = false\nconflicts = [[{conflicts}]]\n",
        encoding="utf-8",
    )
    uv(folder, "lock")
    return folder


class Face:
    """Answers like a person (or like nobody), and remembers what it was asked."""

    def __init__(self, answer: str | None) -> None:
        self.answer = answer
        self.asked: list[Question] = []

    def __call__(self, question: Question, cancel: CancelToken) -> Answer:
        self.asked.append(question)
        if self.answer is None:
            return Answer(question.default, "default")
        assert self.answer in question.options
        return Answer(self.answer, "person")


def run(bench: Bench, folder: Path, face: Face) -> RunState:
    """The profile step for local-rocm on a recorded machine."""
    bench.session.machine = recorded("rx_9070_xt")
    bench.session.target = find_target(folder, None)
    bench.options(profile="local-rocm")
    pipeline = Pipeline([ProfileStage(bench.session)], bench.journal, ask=face, clean_up=bench.runner.stop_all)
    pipeline.start("test", {}, {}, "en")
    return pipeline.run()


def test_with_consent_the_sync_runs_and_the_outcome_is_a_finding(bench: Bench, checkout: Path) -> None:
    uv(checkout, "sync", "--locked", "--extra", "torch-cpu")
    events: list[Event] = []
    bench.journal.subscribe(lambda record: events.append(record.event))
    face = Face("sync")
    state = run(bench, checkout, face)
    assert [question.id for question in face.asked] == ["profile.sync"]
    assert face.asked[0].facts["removes"] == ["torch==2.9.1"] and face.asked[0].facts["add_count"] == 1
    assert installed_torch(bench.session.target.python) == "2.9.1+rocm7.2.1"
    assert {"synced", "torch_installed"} <= set(short(state)) and "!other_profile_installed" not in short(state)
    progress = [event for event in events if isinstance(event, Progressed)]
    assert progress[-1].done == progress[-1].total == 1


@pytest.mark.parametrize("answer", ["leave", None])
def test_without_consent_nothing_changes(bench: Bench, checkout: Path, answer: str | None) -> None:
    uv(checkout, "sync", "--locked", "--extra", "torch-cpu")
    state = run(bench, checkout, Face(answer))
    assert short(state)[-2:] == ["sync_left", "!other_profile_installed"]
    assert installed_torch(bench.session.target.python) == "2.9.1"
    second = f"{checkout}-local-rocm"
    assert finding(state, "other_profile_installed").facts["worktree"] == (
        f'git -C "{checkout}" worktree add --detach "{second}"; '
        f'uv sync --locked --extra local-rocm --directory "{second}"'
    )


def test_a_cuda_environment_wants_its_name_typed(bench: Bench, checkout: Path) -> None:
    uv(checkout, "sync", "--locked", "--extra", "local-cu124")
    face = Face(None)
    run(bench, checkout, face)
    (question,) = face.asked
    assert (question.id, question.options, question.default) == ("profile.replace", ("leave", "local-cu124"), "leave")
    assert question.facts["typed"] == "local-cu124"
    assert installed_torch(bench.session.target.python) == "2.6.0+cu124"
    assert "synced" in short(run(bench, checkout, Face("local-cu124")))


def test_a_stale_lock_file_is_told_and_nothing_is_asked(bench: Bench, checkout: Path) -> None:
    uv(checkout, "sync", "--locked", "--extra", "torch-cpu")
    project = checkout / "pyproject.toml"
    project.write_text(project.read_text(encoding="utf-8").replace(">=3.12,", ">=3.12.1,"), encoding="utf-8")
    face = Face("sync")
    assert short(run(bench, checkout, face))[-2:] == ["~sync_not_possible", "!other_profile_installed"]
    assert face.asked == []


class Spoiler(Face):
    """Says yes after the wheel that the plan saw has gone."""

    def __init__(self, wheel: Path) -> None:
        super().__init__("sync")
        self.wheel = wheel

    def __call__(self, question: Question, cancel: CancelToken) -> Answer:
        self.wheel.unlink()
        return super().__call__(question, cancel)


def test_a_wheel_that_goes_away_fails_the_sync(bench: Bench, checkout: Path) -> None:
    uv(checkout, "sync", "--locked", "--extra", "torch-cpu")
    state = run(bench, checkout, Spoiler(checkout / "torch-2.9.1+rocm7.2.1-py3-none-any.whl"))
    assert short(state)[-2:] == ["!sync_failed", "!other_profile_installed"]
    failed = finding(state, "sync_failed").facts
    assert failed["code"] != 0 and "torch-2.9.1" in str(failed["said"])


@pytest.mark.parametrize("missing", ["uv.lock", "the extra"])
def test_a_folder_that_cannot_be_synced_is_not_offered(bench: Bench, checkout: Path, missing: str) -> None:
    uv(checkout, "sync", "--locked", "--extra", "torch-cpu")
    if missing == "uv.lock":
        (checkout / "uv.lock").unlink()
    else:
        project = checkout / "pyproject.toml"
        project.write_text(project.read_text(encoding="utf-8").replace("local-rocm =", "rocm ="), encoding="utf-8")
    face = Face("sync")
    assert short(run(bench, checkout, face))[-1] == "!other_profile_installed"
    assert face.asked == []

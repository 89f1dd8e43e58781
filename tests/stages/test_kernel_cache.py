"""The state of MIOpen's caches, on real folders: fresh, kept, switched off, not readable; told once, without a name."""

import json
import sys
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pytest

from rocm_wizard.qualification import events as ev
from rocm_wizard.qualification.finding import Finding
from rocm_wizard.qualification.outcome import Outcome
from rocm_wizard.qualification.stage import CancelToken, StageContext, answer_by_default
from rocm_wizard.runner.spec import ChildSpec
from rocm_wizard.stages import kernel_cache
from rocm_wizard.stages.kernel_cache import CACHE, DATABASE, Content, cache_folders, content, tell_kernel_cache
from tests.stages.bench import Bench

HOME = "HOME" if sys.platform != "win32" else "USERPROFILE"


def fill(folder: Path, **files: int) -> Path:
    """Files of these sizes, one folder deep."""
    for name, size in files.items():
        (folder / "3.5.1" / name).parent.mkdir(parents=True, exist_ok=True)
        (folder / "3.5.1" / name).write_bytes(b"x" * size)
    return folder


def told(
    bench: Bench, environment: Mapping[str, str] | None = None, profile: str = "local-rocm", times: int = 1
) -> list[Finding]:
    """What is told before a child with this environment starts."""
    bench.session.profile = bench.session.book.get(profile)
    clear: dict[str, str | None] = dict.fromkeys((DATABASE, CACHE, "MIOPEN_DISABLE_CACHE"))
    home = {HOME: str(bench.folder / "张三 home")}
    spec = ChildSpec("asr sidecar", ["x"], bench.folder, clear | home | dict(environment or {}))
    events: list[Any] = []
    context = StageContext("asr_smoke", events.append, answer_by_default, CancelToken())
    for _ in range(times):
        tell_kernel_cache(context, bench.session, spec)
    return [event.finding for event in events if isinstance(event, ev.FindingReported)]


def usual(bench: Bench) -> tuple[Path, Path]:
    """The folders that MIOpen takes by itself."""
    return cache_folders({HOME: str(bench.folder / "张三 home")})


def test_fresh_is_told_once_and_on_hip_only(bench: Bench) -> None:
    (finding,) = told(bench, times=3)
    assert (finding.id, finding.outcome) == ("sidecar.kernel_cache_fresh", Outcome.PASSED)
    assert (finding.facts["database_files"], finding.facts["cache_bytes"]) == (0, 0)
    assert told(bench, profile="torch-cpu") == []


def test_kept_files_are_counted_and_nobody_is_named(bench: Bench) -> None:
    database, cache = usual(bench)
    fill(database, **{"gfx1201_32.HIP.3_5_1.ufdb.txt": 1000})
    fill(cache, **{"gfx1201_32.ukdb": 3 * 2**20, "b.o": 2**19, "empty.lock": 0})
    (finding,) = told(bench)
    assert finding.id == "sidecar.kernel_cache_kept"
    facts = finding.facts
    assert (facts["database_files"], facts["database_bytes"]) == (1, 1000)
    assert (facts["cache_files"], facts["cache_bytes"], facts["cache_mib"]) == (3, 3 * 2**20 + 2**19, 3.5)
    assert facts["variables"] is None
    shown = json.dumps(finding.to_record(), ensure_ascii=False)
    assert "张三" not in shown and str(bench.folder) not in shown


def test_a_file_of_no_bytes_is_still_fresh(bench: Bench) -> None:
    fill(usual(bench)[1], lock=0)
    assert told(bench)[0].id == "sidecar.kernel_cache_fresh"


def test_variables_choose_other_folders_also_relative_ones(bench: Bench) -> None:
    fill(usual(bench)[1], old=5000)
    fill(bench.folder / "own db", a=7)
    (finding,) = told(bench, {DATABASE: "own db", CACHE: "~/own cache"})
    assert finding.facts["variables"] == [DATABASE, CACHE]
    assert (finding.facts["database_bytes"], finding.facts["cache_bytes"]) == (7, 0)
    fill(bench.folder / "张三 home" / "own cache", b=11)
    assert told(bench, {CACHE: "~/own cache"})[0].facts["cache_bytes"] == 11


@pytest.mark.parametrize(("value", "state"), [("1", "off"), ("TRUE", "off"), ("0", "kept")])
def test_a_cache_that_is_switched_off(bench: Bench, value: str, state: str) -> None:
    fill(usual(bench)[1], kernel=2**20)
    (finding,) = told(bench, {"MIOPEN_DISABLE_CACHE": value})
    assert (finding.id, finding.facts["state"]) == (f"sidecar.kernel_cache_{state}", state)


def test_a_folder_that_is_a_file_is_not_called_fresh(bench: Bench) -> None:
    (bench.folder / "file.db").write_bytes(b"x")
    (finding,) = told(bench, {DATABASE: "file.db"})
    assert (finding.id, finding.outcome) == ("sidecar.kernel_cache_unread", Outcome.WARNING)
    assert "file.db" not in str(finding.facts["reason"])


def test_counting_is_bounded(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(kernel_cache, "MOST_FILES", 5)
    fill(tmp_path / "many", **{f"f{number}": 10 for number in range(5)})
    assert content(tmp_path / "many") == Content(5, 50)
    fill(tmp_path / "more", **{f"f{number}": 10 for number in range(9)})
    assert content(tmp_path / "more") == Content(5, 50, whole=False)


@pytest.mark.skipif(sys.platform == "win32", reason="links need a right there")
def test_links_are_not_followed(tmp_path: Path) -> None:
    fill(tmp_path / "cache", one=10, two=20)
    (tmp_path / "cache" / "loop").symlink_to(tmp_path, target_is_directory=True)
    found = content(tmp_path / "cache")
    assert (found.files, found.whole) == (3, True)


def test_the_folders_of_both_systems() -> None:
    there = {"USERPROFILE": "C:/Users/x", "HOME": "/home/x"}
    assert cache_folders(there, "win32") == (Path("C:/Users/x/.miopen/db"), Path("C:/Users/x/.miopen/cache"))
    assert cache_folders(there, "linux") == (Path("/home/x/.config/miopen"), Path("/home/x/.cache/miopen"))

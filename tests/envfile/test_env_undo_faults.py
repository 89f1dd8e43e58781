"""A write that is undone, and a file that turns into something else between plan and write."""

import errno
from pathlib import Path
from typing import Any

import pytest

from rocm_wizard.envfile import Choice, EnvFileError, Receipt, apply_plan, make_plan, take_snapshot, undo_write
from rocm_wizard.envfile.errors import IsDirectory, Stale
from tests.envfile.env_support import FaultyDisk, PowerCut, listing

OLD = b"# top\r\nA=1\r\nHF_TOKEN=keep\r\n"
NEW = b"# top\r\nA=2\r\nHF_TOKEN=keep\r\n"


@pytest.fixture
def env(tmp_path: Path) -> Path:
    path = tmp_path / "项目 x" / ".env"
    path.parent.mkdir()
    path.write_bytes(OLD)
    return path


def write(path: Path) -> Receipt:
    snapshot = take_snapshot(path)
    return apply_plan(snapshot, make_plan(snapshot.document, {"A": "2"}, choices={"A": Choice.WANTED}))


def test_undo_cut_or_refused_at_any_call_leaves_a_whole_file_and_its_backup(env: Path) -> None:
    for stop in (
        PowerCut(),
        OSError(errno.EIO, "Input/output error"),
        OSError(errno.ENOSPC, "No space left on device"),
    ):
        number, done = 0, False
        while not done:
            number += 1
            receipt = write(env)
            disk = FaultyDisk()

            def before(name: str, count: int, args: tuple[Any, ...], at: int = number, what: Any = stop) -> None:
                if count == at or (count > at and isinstance(what, PowerCut)):
                    raise what

            disk.before = before
            try:
                undo_write(receipt, disk)
                done = len(disk.calls) < number  # beyond the last call: nothing was stopped
                assert env.read_bytes() == OLD
            except PowerCut:
                pass
            except EnvFileError as error:
                assert str(env) in str(error)
                assert env.read_bytes() == NEW
            found = env.read_bytes()
            assert found in (OLD, NEW), disk.calls
            backup = Path(str(receipt.backup))
            assert found == OLD or backup.read_bytes() == OLD, "what is not restored can still be restored"
            for path in env.parent.iterdir():
                path.unlink()
            env.write_bytes(OLD)
        assert number > 10


def test_a_folder_in_its_place_between_plan_and_write(env: Path) -> None:
    snapshot = take_snapshot(env)
    plan = make_plan(snapshot.document, {"A": "2"}, choices={"A": Choice.WANTED})
    env.unlink()
    env.mkdir()
    with pytest.raises(IsDirectory) as refused:
        apply_plan(snapshot, plan)
    assert str(env) in str(refused.value)
    assert listing(env.parent) == [".env"]


def test_a_link_that_leads_nowhere_any_more_between_plan_and_write(env: Path, tmp_path: Path) -> None:
    target = tmp_path / "shared.env"
    env.rename(target)
    try:
        env.symlink_to(target)
    except OSError:
        pytest.skip("no right to make symbolic links here")
    snapshot = take_snapshot(env)
    plan = make_plan(snapshot.document, {"A": "2"}, choices={"A": Choice.WANTED})
    target.unlink()
    with pytest.raises(Stale, match="vanished") as refused:
        apply_plan(snapshot, plan)
    assert str(env) in str(refused.value)
    assert env.is_symlink()
    assert listing(env.parent) == [".env"]
    assert "shared.env" not in listing(tmp_path)

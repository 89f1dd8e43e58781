"""Every system call of a write may fail, or be the last one before the power goes."""

import errno
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from rocm_wizard.envfile import Choice, EnvFileError, Method, Receipt, apply_plan, make_plan, take_snapshot, undo_write
from rocm_wizard.envfile.errors import Busy, DiskFull, ReadOnly, Stale, Unreadable, WriteFailed
from tests.envfile.env_support import FaultyDisk, PowerCut, is_root, listing

OLD = b"# top\r\nA=1\r\nHF_TOKEN=keep\r\n"
NEW = b"# top\r\nA=2\r\nHF_TOKEN=keep\r\n"


@pytest.fixture
def env(tmp_path: Path) -> Path:
    path = tmp_path / "项目 x" / ".env"
    path.parent.mkdir()
    path.write_bytes(OLD)
    return path


def write(path: Path, disk: FaultyDisk) -> Receipt:
    snapshot = take_snapshot(path)
    plan = make_plan(snapshot.document, {"A": "2"}, choices={"A": Choice.WANTED})
    return apply_plan(snapshot, plan, filesystem=disk)


def failing(call: str, error: OSError, *, times: int = 1_000_000, skip: int = 0) -> FaultyDisk:
    """A disk on which `call` raises `error`, `times` times after `skip` good ones."""
    disk = FaultyDisk()
    seen = 0

    def before(name: str, number: int, args: tuple[Any, ...]) -> None:
        nonlocal seen
        if name == call:
            seen += 1
            if skip < seen <= skip + times:
                raise error

    disk.before = before
    return disk


def calls_of_a_write(env: Path) -> list[str]:
    disk = FaultyDisk()
    receipt = write(env, disk)
    undo_write(receipt)
    return disk.calls


def test_the_new_file_is_on_the_disk_before_it_takes_the_place(env: Path) -> None:
    calls = calls_of_a_write(env)
    replaced = calls.index("replace")
    assert "sync" in calls[calls.index("write", calls.index("create") + 5) : replaced]
    assert calls[replaced - 2 : replaced] == ["stat", "read"]  # the guard is the last thing before
    assert "sync_folder" in calls[replaced:]
    assert calls.count("create") == 2  # backup and new file


@pytest.mark.parametrize("code", [errno.EACCES, errno.EIO, errno.ENOSPC, errno.EROFS])
def test_one_failure_at_any_call_leaves_the_old_file_or_the_new_one(env: Path, code: int) -> None:
    for number in range(1, len(calls_of_a_write(env)) + 1):
        disk = FaultyDisk()

        def before(name: str, count: int, args: tuple[Any, ...], at: int = number) -> None:
            if count == at and name not in ("close",):
                raise OSError(code, os.strerror(code))

        disk.before = before
        try:
            write(env, disk)
        except EnvFileError as error:
            assert str(env) in str(error)
            assert error.__cause__ is not None
            assert env.read_bytes() == OLD, disk.calls
            leftovers = [name for name in listing(env.parent) if name != ".env"]
            # An unlink that failed may leave its file; nothing else may.
            assert not leftovers or disk.calls[number - 1] == "unlink"
        else:
            assert env.read_bytes() == NEW, disk.calls
        for path in env.parent.iterdir():
            if path != env:
                assert ".tmp-" not in path.name or disk.calls[number - 1] == "unlink"
                path.unlink()
        env.write_bytes(OLD)


@pytest.mark.parametrize("moment", ["before", "after"])
def test_a_power_cut_at_any_call_leaves_a_whole_file(env: Path, moment: str) -> None:
    total = len(calls_of_a_write(env))
    seen: set[bytes] = set()
    for number in range(1, total + 1):
        disk = FaultyDisk()
        off = False

        def before(name: str, count: int, args: tuple[Any, ...], at: int = number) -> None:
            nonlocal off
            off = off or (moment == "before" and count == at)
            if off:
                raise PowerCut

        def after(name: str, count: int, at: int = number) -> None:
            nonlocal off
            if moment == "after" and count == at:
                off = True
                raise PowerCut

        disk.before, disk.after = before, after
        with pytest.raises(PowerCut):
            write(env, disk)
        found = env.read_bytes()
        assert found in (OLD, NEW)
        seen.add(found)
        assert write(env, FaultyDisk()).after  # and the next run works
        for path in env.parent.iterdir():
            if path != env:
                path.unlink()
        env.write_bytes(OLD)
    assert seen == {OLD, NEW}


@pytest.mark.parametrize("times", [1, 2, 3, 4])
def test_a_file_held_for_a_moment_is_tried_again(env: Path, times: int) -> None:
    disk = failing("replace", PermissionError(errno.EACCES, "Access is denied"), times=times)
    assert write(env, disk).method is Method.REPLACED
    assert env.read_bytes() == NEW
    assert 0 < disk.slept <= 1.0


@pytest.mark.parametrize("winerror", [5, 32, 33])
def test_a_file_held_for_good_is_named(env: Path, winerror: int) -> None:
    error = OSError(errno.EINVAL, "The process cannot access the file")
    setattr(error, "winerror", winerror)  # noqa: B010 - the attribute exists on Windows only
    disk = failing("replace", error)
    with pytest.raises(Busy) as refused:
        write(env, disk)
    assert disk.calls.count("replace") == 5
    assert 0.9 <= disk.slept <= 1.1
    assert str(env) in str(refused.value)
    assert refused.value.state == "old"
    assert env.read_bytes() == OLD
    assert listing(env.parent) == [".env"]


@pytest.mark.parametrize("skip", [0, 1])
def test_a_full_disk_at_each_write(env: Path, skip: int) -> None:
    disk = failing("write", OSError(errno.ENOSPC, "No space left on device"), skip=skip)
    with pytest.raises(DiskFull) as refused:
        write(env, disk)
    assert str(env) in str(refused.value)
    assert env.read_bytes() == OLD
    assert listing(env.parent) == [".env"]


def test_a_full_disk_at_flush(env: Path) -> None:
    for skip in (0, 1):
        with pytest.raises(DiskFull):
            write(env, failing("sync", OSError(errno.EDQUOT, "Quota exceeded"), skip=skip))
        assert env.read_bytes() == OLD
        assert listing(env.parent) == [".env"]


def test_short_writes_are_completed(env: Path) -> None:
    class Slow(FaultyDisk):
        def write(self, descriptor: int, data: bytes | memoryview) -> int:
            return super().write(descriptor, data[:3])

    write(env, Slow())
    assert env.read_bytes() == NEW


@pytest.mark.parametrize("code", [errno.EBUSY, errno.EXDEV])
def test_a_file_that_cannot_be_replaced_is_written_in_place(env: Path, code: int) -> None:
    inode = env.stat().st_ino
    receipt = write(env, failing("replace", OSError(code, os.strerror(code))))
    assert receipt.method is Method.IN_PLACE
    assert env.read_bytes() == NEW
    assert env.stat().st_ino == inode
    assert receipt.backup is not None
    assert Path(receipt.backup).read_bytes() == OLD
    undo_write(receipt)
    assert env.read_bytes() == OLD
    assert listing(env.parent) == [".env"]


def test_a_failure_while_writing_in_place_puts_the_old_content_back(env: Path) -> None:
    class Bound(FaultyDisk):
        def replace(self, source: Path, target: Path) -> None:
            raise OSError(errno.EBUSY, "Device or resource busy")

        def truncate(self, descriptor: int, size: int) -> None:
            if size == len(NEW) and not self.torn:
                self.torn = True
                raise OSError(errno.EIO, "Input/output error")
            super().truncate(descriptor, size)

        torn = False

    with pytest.raises(WriteFailed) as refused:
        write(env, Bound())
    assert refused.value.state == "old"
    assert env.read_bytes() == OLD
    assert listing(env.parent) == [".env"]


def test_a_torn_write_in_place_keeps_the_backup(env: Path) -> None:
    disk = FaultyDisk()

    def before(name: str, number: int, args: tuple[Any, ...]) -> None:
        if name == "replace":
            raise OSError(errno.EBUSY, "Device or resource busy")
        if name == "truncate":
            env.write_bytes(b"torn")
            raise OSError(errno.EIO, "Input/output error")

    disk.before = before
    with pytest.raises(WriteFailed) as refused:
        write(env, disk)
    assert refused.value.state == "other"
    kept = [path for path in env.parent.iterdir() if path != env]
    assert [path.read_bytes() for path in kept] == [OLD]


def test_an_owner_that_cannot_be_kept_means_writing_in_place(env: Path) -> None:
    if sys.platform == "win32":
        pytest.skip("POSIX owners")
    receipt = write(env, failing("chmod", PermissionError(errno.EPERM, "Operation not permitted")))
    assert receipt.method is Method.IN_PLACE
    assert env.read_bytes() == NEW


def test_a_move_that_worked_and_says_it_did_not_is_believed_to_the_disk(env: Path) -> None:
    class Liar(FaultyDisk):
        def replace(self, source: Path, target: Path) -> None:
            super().replace(source, target)
            raise OSError(errno.EPERM, "Operation not permitted")

    assert write(env, Liar()).method is Method.REPLACED
    assert env.read_bytes() == NEW


def test_an_edit_between_plan_and_replace_wins(env: Path) -> None:
    disk = FaultyDisk()

    def after(name: str, number: int) -> None:
        if name == "chmod" or (sys.platform == "win32" and name == "close"):
            env.write_bytes(b"A=mine\n")

    disk.after = after
    with pytest.raises(Stale):
        write(env, disk)
    assert env.read_bytes() == b"A=mine\n"
    assert listing(env.parent) == [".env"]


def test_a_file_that_may_not_be_read(env: Path) -> None:
    with pytest.raises(Unreadable) as refused:
        take_snapshot(env, failing("read", PermissionError(errno.EACCES, "Permission denied")))
    assert str(env) in str(refused.value)
    assert "Permission denied" in str(refused.value)


@pytest.fixture
def tiny_disk(tmp_path: Path) -> Any:
    """A real file system of 64 KiB."""
    place = tmp_path / "tiny"
    place.mkdir()
    if sys.platform != "linux" or not is_root():
        pytest.skip("needs root on Linux to mount a small file system")
    if subprocess.run(["mount", "-t", "tmpfs", "-o", "size=64k", "none", str(place)], check=False).returncode:
        pytest.skip("no right to mount here")
    yield place
    subprocess.run(["umount", str(place)], check=True)


def test_a_disk_that_is_really_full(tiny_disk: Path) -> None:
    path = tiny_disk / ".env"
    path.write_bytes(OLD + b"# padding\n" * 3000)
    before = path.read_bytes()
    with pytest.raises(DiskFull) as refused:
        write(path, FaultyDisk())
    assert str(path) in str(refused.value)
    assert path.read_bytes() == before
    assert listing(tiny_disk) == [".env"]


def test_a_file_that_is_really_a_mount_point(env: Path, tiny_disk: Path) -> None:
    source = tiny_disk / "host.env"
    source.write_bytes(OLD)
    if subprocess.run(["mount", "--bind", str(source), str(env)], check=False).returncode:
        pytest.skip("no right to mount here")
    try:
        receipt = write(env, FaultyDisk())
        assert receipt.method is Method.IN_PLACE
        assert source.read_bytes() == NEW
    finally:
        subprocess.run(["umount", str(env)], check=True)


def test_a_disk_that_is_really_read_only(tiny_disk: Path) -> None:
    path = tiny_disk / ".env"
    path.write_bytes(OLD)
    subprocess.run(["mount", "-o", "remount,ro", str(tiny_disk)], check=True)
    with pytest.raises(ReadOnly) as refused:
        write(path, FaultyDisk())
    assert str(path) in str(refused.value)
    assert path.read_bytes() == OLD


def test_killed_for_real_while_writing(env: Path) -> None:
    """Kill a process that writes again and again; whatever it was doing, the file is whole."""
    script = (
        "import sys\nfrom pathlib import Path\n"
        "from rocm_wizard.envfile import Choice, apply_plan, make_plan, take_snapshot\n"
        "path = Path(sys.argv[1])\nturn = 0\nprint('up', flush=True)\n"
        "while True:\n"
        "    turn += 1\n    snapshot = take_snapshot(path)\n"
        "    plan = make_plan(snapshot.document, {'A': '2' if turn % 2 else '1'}, choices={'A': Choice.WANTED})\n"
        "    apply_plan(snapshot, plan)\n    print(turn, flush=True)\n"
    )
    for turns in range(1, 6):
        with subprocess.Popen([sys.executable, "-c", script, str(env)], stdout=subprocess.PIPE) as child:
            assert child.stdout is not None
            for _ in range(turns + 1):
                assert child.stdout.readline()
            child.kill()
        assert env.read_bytes() in (OLD, NEW)

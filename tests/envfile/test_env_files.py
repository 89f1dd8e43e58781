"""Writing to a real disk: the round trip, links, modes, backups, undo."""

import json
import os
import stat
import sys
import tempfile
from datetime import UTC, datetime
from pathlib import Path

import pytest
from hypothesis import assume, given, settings

from rocm_wizard.envfile import (
    Choice,
    EnvFileError,
    Method,
    Plan,
    Receipt,
    Snapshot,
    apply_plan,
    backups,
    make_plan,
    take_snapshot,
    undo_newest,
    undo_write,
)
from rocm_wizard.envfile.errors import (
    DanglingLink,
    IsDirectory,
    NothingToUndo,
    NotText,
    ReadOnly,
    Stale,
    Unreadable,
    VerificationFailed,
)
from tests.envfile.env_support import dotenv_read, env_bytes, is_root, listing, wanted_maps

posix_only = pytest.mark.skipif(sys.platform == "win32", reason="POSIX permission bits and owners")
NOON = datetime(2026, 1, 1, 10, 15, tzinfo=UTC)


@pytest.fixture
def env(tmp_path: Path) -> Path:
    folder = tmp_path / "检出 with space"
    folder.mkdir()
    return folder / ".env"


def planned(path: Path, **wanted: str) -> tuple[Snapshot, Plan]:
    snapshot = take_snapshot(path)
    return snapshot, make_plan(snapshot.document, wanted, choices=dict.fromkeys(wanted, Choice.WANTED))


def write(path: Path, **wanted: str) -> Receipt:
    return apply_plan(*planned(path, **wanted), now=NOON)


@settings(max_examples=100, deadline=None)
@given(env_bytes, wanted_maps)
def test_plan_apply_undo_restores_every_bit(data: bytes, wanted: dict[str, str]) -> None:
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / ".env"
        path.write_bytes(data)
        try:
            receipt = write(path, **wanted)
        except (NotText, VerificationFailed):
            assert path.read_bytes() == data
            assert listing(path.parent) == [".env"]
            assume(False)
            raise
        read = dotenv_read(path.read_bytes())
        assert {key: read[key] for key in wanted} == wanted
        receipt = Receipt.from_dict(json.loads(json.dumps(receipt.as_dict())))
        if receipt.method is Method.UNCHANGED:
            assert path.read_bytes() == data
        else:
            assert undo_write(receipt) is Method.REPLACED
        assert path.read_bytes() == data
        assert listing(path.parent) == [".env"]


def test_the_report_of_a_write(env: Path) -> None:
    env.write_bytes(b"A=1\n")
    receipt = write(env, A="2")
    assert receipt.method is Method.REPLACED
    assert not receipt.created
    assert receipt.backup is not None
    assert Path(receipt.backup) == env.with_name(".env.bak-20260101T101500Z")
    assert Path(receipt.backup).read_bytes() == b"A=1\n"
    assert listing(env.parent) == [".env", ".env.bak-20260101T101500Z"]


def test_undo_works_from_another_folder(env: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    env.write_bytes(b"A=1\n")
    monkeypatch.chdir(env.parent)
    receipt = write(Path(".env"), A="2")
    monkeypatch.chdir(tmp_path)
    undo_write(receipt)
    assert env.read_bytes() == b"A=1\n"


def test_a_plan_that_changes_nothing_touches_nothing(env: Path) -> None:
    env.write_bytes(b"A=1\n")
    before = env.stat()
    assert write(env, A="1").method is Method.UNCHANGED
    assert (env.stat().st_mtime_ns, env.stat().st_ino) == (before.st_mtime_ns, before.st_ino)
    assert listing(env.parent) == [".env"]


def test_a_new_file_is_its_owner_s_only_and_undo_removes_it(env: Path) -> None:
    receipt = write(env, A="1")
    assert receipt.created
    assert receipt.backup is None
    if sys.platform != "win32":
        assert stat.S_IMODE(env.stat().st_mode) == 0o600
    assert undo_write(receipt) is Method.REMOVED
    assert listing(env.parent) == []


@posix_only
@pytest.mark.parametrize("mode", [0o600, 0o644, 0o640, 0o666])
def test_the_mode_stays(env: Path, mode: int) -> None:
    env.write_bytes(b"HF_TOKEN=x\n")
    env.chmod(mode)
    receipt = write(env, HF_TOKEN="y")
    assert stat.S_IMODE(env.stat().st_mode) == mode
    assert receipt.backup is not None
    assert stat.S_IMODE(Path(receipt.backup).stat().st_mode) == 0o600
    undo_write(receipt)
    assert stat.S_IMODE(env.stat().st_mode) == mode


@pytest.mark.skipif(not is_root(), reason="only root may give a file away")
def test_the_owner_stays(env: Path) -> None:
    env.write_bytes(b"A=1\n")
    assert sys.platform != "win32"
    os.chown(env, 65534, 65534)
    write(env, A="2")
    assert (env.stat().st_uid, env.stat().st_gid) == (65534, 65534)


def test_a_link_stays_a_link_and_its_file_changes(env: Path, tmp_path: Path) -> None:
    shared = tmp_path / "shared"
    shared.mkdir()
    real = shared / "common.env"
    real.write_bytes(b"A=1\n")
    try:
        env.symlink_to(real)
    except OSError:
        pytest.skip("this account may not make symbolic links")
    snapshot, plan = planned(env, A="2")
    assert snapshot.through_link
    assert snapshot.target == real.resolve()
    receipt = apply_plan(snapshot, plan, now=NOON)
    assert env.is_symlink()
    assert real.read_bytes() == b"A=2\n"
    assert listing(shared) == ["common.env", "common.env.bak-20260101T101500Z"]
    assert listing(env.parent) == [".env"]
    undo_write(receipt)
    assert real.read_bytes() == b"A=1\n"
    assert env.is_symlink()


def test_a_hard_link_stays_one(env: Path, tmp_path: Path) -> None:
    env.write_bytes(b"A=1\n")
    twin = tmp_path / "twin.env"
    twin.hardlink_to(env)
    assert write(env, A="2").method is Method.IN_PLACE
    assert twin.read_bytes() == b"A=2\n"


def test_links_that_lead_nowhere(env: Path) -> None:
    try:
        env.symlink_to(env.with_name("gone.env"))
    except OSError:
        pytest.skip("this account may not make symbolic links")
    with pytest.raises(DanglingLink) as refused:
        take_snapshot(env)
    assert str(env) in str(refused.value)
    assert "gone.env" in str(refused.value)
    env.unlink()
    env.symlink_to(env)
    with pytest.raises(DanglingLink):
        take_snapshot(env)


def test_a_folder_of_that_name(env: Path) -> None:
    env.mkdir()
    with pytest.raises(IsDirectory) as refused:
        take_snapshot(env)
    assert str(env) in str(refused.value)


def test_a_missing_folder_is_a_missing_file_until_it_is_written(env: Path) -> None:
    path = env.parent / "nowhere" / ".env"
    snapshot, plan = planned(path, A="1")
    assert plan.creates_file
    with pytest.raises(EnvFileError) as refused:
        apply_plan(snapshot, plan)
    assert str(path) in str(refused.value)


@posix_only
def test_a_pipe_is_not_read(env: Path) -> None:
    assert sys.platform != "win32"
    os.mkfifo(env)
    with pytest.raises(Unreadable, match="pipe"):
        take_snapshot(env)


@pytest.mark.parametrize("encoding", ["utf-16", "utf-16-le"])
def test_utf16_is_refused_by_name(env: Path, encoding: str) -> None:
    env.write_bytes("A=1\r\nASR_LANGUAGE=zh\r\n".encode(encoding))
    with pytest.raises(NotText) as refused:
        take_snapshot(env)
    assert str(env) in str(refused.value)


def test_a_read_only_file_is_left_alone(env: Path) -> None:
    env.write_bytes(b"A=1\n")
    snapshot, plan = planned(env, A="2")
    env.chmod(0o444)
    try:
        with pytest.raises(ReadOnly) as refused:
            apply_plan(snapshot, plan)
        assert str(env) in str(refused.value)
        assert env.read_bytes() == b"A=1\n"
        assert listing(env.parent) == [".env"]
    finally:
        env.chmod(0o644)


@posix_only
def test_a_read_only_folder() -> None:
    assert sys.platform != "win32"
    root = is_root()
    with tempfile.TemporaryDirectory() as open_to_all:  # root may write anywhere, so be somebody else for a moment
        folder = Path(open_to_all)
        path = folder / ".env"
        path.write_bytes(b"A=1\n")
        path.chmod(0o666)
        folder.chmod(0o555)
        snapshot, plan = planned(path, A="2")
        if root:
            os.seteuid(65534)
        try:
            with pytest.raises(ReadOnly) as refused:
                apply_plan(snapshot, plan)
        finally:
            if root:
                os.seteuid(0)
            folder.chmod(0o755)
        assert str(path) in str(refused.value)
        assert path.read_bytes() == b"A=1\n"
        assert listing(folder) == [".env"]


def test_a_file_that_changed_in_between_is_not_overwritten(env: Path) -> None:
    env.write_bytes(b"A=1\n")
    snapshot, plan = planned(env, A="2")
    env.write_bytes(b"A=9\n")
    with pytest.raises(Stale, match="changed since") as refused:
        apply_plan(snapshot, plan)
    assert str(env) in str(refused.value)
    assert env.read_bytes() == b"A=9\n"
    env.unlink()
    with pytest.raises(Stale, match="vanished"):
        apply_plan(snapshot, plan)
    assert listing(env.parent) == []
    snapshot, plan = planned(env, A="2")
    env.write_bytes(b"")
    with pytest.raises(Stale, match="appeared"):
        apply_plan(snapshot, plan)
    assert env.read_bytes() == b""
    assert listing(env.parent) == [".env"]


def test_the_same_bytes_saved_again_are_another_state(env: Path) -> None:
    env.write_bytes(b"A=1\n")
    snapshot, plan = planned(env, A="2")
    os.utime(env, ns=(1, 1))
    with pytest.raises(Stale):
        apply_plan(snapshot, plan)


def test_three_backups_at_most_and_only_ours_go(env: Path) -> None:
    env.write_bytes(b"A=0\n")
    strangers = [".env.bak", ".env.bak-old", ".env.bak-99999999T999999Z", "x.env.bak-20200101T000000Z", ".env.example"]
    for name in strangers:
        env.with_name(name).write_bytes(b"mine")
    for number in range(1, 6):  # all within one second of the clock
        write(env, A=str(number))
    kept = backups(env)
    assert [path.name for path in kept] == [f".env.bak-20260101T10150{second}Z" for second in (2, 3, 4)]
    assert [path.read_bytes() for path in kept] == [b"A=2\n", b"A=3\n", b"A=4\n"]
    assert listing(env.parent) == sorted([".env", *strangers, *(path.name for path in kept)])


def test_undo_is_guarded_against_later_edits(env: Path) -> None:
    env.write_bytes(b"A=1\n")
    receipt = write(env, A="2")
    env.write_bytes(b"A=2\nMINE=1\n")
    with pytest.raises(Stale):
        undo_write(receipt)
    with pytest.raises(Stale):
        undo_newest(env, written=receipt.after)
    assert env.read_bytes() == b"A=2\nMINE=1\n"
    created = write(env.with_name("b.env"), A="1")
    env.with_name("b.env").write_bytes(b"A=1\nMINE=1\n")
    with pytest.raises(Stale):
        undo_write(created)
    assert env.with_name("b.env").exists()


def test_undo_newest_goes_back_step_by_step(env: Path) -> None:
    env.write_bytes(b"A=1\n")
    write(env, A="2")
    receipt = write(env, A="3")
    undo_newest(env, written=receipt.after)
    assert env.read_bytes() == b"A=2\n"
    undo_newest(env, written=None)
    assert env.read_bytes() == b"A=1\n"
    with pytest.raises(NothingToUndo):
        undo_newest(env, written=None)


def test_undo_refuses_a_backup_that_is_not_the_old_content(env: Path) -> None:
    env.write_bytes(b"A=1\n")
    receipt = write(env, A="2")
    assert receipt.backup is not None
    Path(receipt.backup).write_bytes(b"torn")
    with pytest.raises(NothingToUndo, match="not the content"):
        undo_write(receipt)
    Path(receipt.backup).unlink()
    with pytest.raises(NothingToUndo, match="gone"):
        undo_write(receipt)
    assert env.read_bytes() == b"A=2\n"


def test_an_old_leftover_of_a_killed_run_is_swept_and_a_young_one_is_not(env: Path) -> None:
    env.write_bytes(b"A=1\n")
    old, young, other = (env.with_name(name) for name in (".env.tmp-0123abcd", ".env.tmp-89abcdef", ".env.tmp-mine"))
    for path in (old, young, other):
        path.write_bytes(b"x")
    for path in (old, other):
        os.utime(path, (1, 1))
    write(env, A="2")
    assert (old.exists(), young.exists(), other.exists()) == (False, True, True)

"""What lies beside the file and in the state folder: backups that git must not take up, receipts for an undo."""

import shutil
import subprocess
from pathlib import Path

import pytest

from rocm_wizard.envfile import (
    Receipt,
    apply_plan,
    backups_ignored,
    drop_receipt,
    make_plan,
    newest_receipt,
    save_receipt,
    take_snapshot,
)
from rocm_wizard.envfile.backup import backup_name_example
from tests.envfile.env_support import parse

NAME = ".env.bak-20260101T000000Z"


@pytest.fixture
def env(tmp_path: Path) -> Path:
    path = tmp_path / "项目 x" / "inner" / ".env"
    path.parent.mkdir(parents=True)
    path.write_bytes(b"A=1\n")
    return path


def test_outside_of_a_repository_there_is_nothing_to_say(env: Path) -> None:
    assert backups_ignored(env) is None
    assert backup_name_example(env) == NAME


@pytest.mark.parametrize(
    ("top", "inner", "exclude", "ignored"),
    [
        ("", "", "", False),
        (".env\n", "", "", False),
        (".env*\n", "", "", True),
        (".env.bak-*\n", "", "", True),
        ("*.bak\n", "", "", False),
        ("# .env*\n", "", "", False),
        (".env*\n!.env.bak-*\n", "", "", False),
        ("/.env*\n", "", "", False),  # anchored at the top, the file lies below
        ("", "/.env*\n", "", True),
        ("**/.env.*\n", "", "", True),
        (".env.bak-*/\n", "", "", False),  # folders only
        ("", "!.env*\n", ".env*\n", False),
        ("", "", ".env.*  \n", True),
    ],
)
def test_what_git_would_ignore(env: Path, top: str, inner: str, exclude: str, ignored: bool) -> None:
    root = env.parent.parent
    git = shutil.which("git")
    if git is None:
        pytest.skip("git is not installed, and it is the judge here")
    subprocess.run([git, "init", "--quiet", str(root)], check=True)
    (root / ".git/info").mkdir(exist_ok=True)
    for path, text in ((root / ".gitignore", top), (env.with_name(".gitignore"), inner)):
        path.write_text(text, encoding="utf-8")
    (root / ".git/info/exclude").write_text(exclude, encoding="utf-8")
    assert backups_ignored(env) is ignored
    judge = [git, "-C", str(env.parent), "-c", "core.excludesFile=", "check-ignore", "--quiet", "--no-index", NAME]
    assert (subprocess.run(judge, check=False).returncode == 0) is ignored


def write(path: Path, value: str) -> Receipt:
    snapshot = take_snapshot(path)
    return apply_plan(snapshot, make_plan(snapshot.document, {f"K{value}": value}))


def test_receipts_pile_up_and_come_off_again(env: Path, tmp_path: Path) -> None:
    folder = tmp_path / "state" / "env"
    assert newest_receipt(folder, env) is None
    receipts = [write(env, str(number)) for number in range(4)]
    assert all(save_receipt(folder, receipt) for receipt in receipts)
    assert [newest_receipt(folder, env.with_name("other")), newest_receipt(folder, env)] == [None, receipts[3]]
    for expected in (receipts[2], receipts[1], None):  # as many as backups are kept
        drop_receipt(folder, env)
        assert newest_receipt(folder, env) == expected
    drop_receipt(folder, env)


@pytest.mark.parametrize("content", [b"", b"\xff", b"{}", b"[1]", b'[{"path": 1}]', b"[" * 50])
def test_a_damaged_receipt_is_as_good_as_none(env: Path, tmp_path: Path, content: bytes) -> None:
    save_receipt(tmp_path, write(env, "1"))
    (file,) = tmp_path.glob("*.json")
    file.write_bytes(content)
    assert newest_receipt(tmp_path, env) is None


def test_receipts_hold_no_value(env: Path, tmp_path: Path) -> None:
    env.write_bytes(b"HF_TOKEN=hf_canary\n")
    save_receipt(tmp_path, write(env, "canary2"))
    (file,) = tmp_path.glob("*.json")
    assert b"canary" not in file.read_bytes()
    assert parse(env.read_bytes()).value("HF_TOKEN") == "hf_canary"

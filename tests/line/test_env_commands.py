"""`rocm-wizard env`: plans that touch nothing, consent, undo with its guard, and what counts as broken."""

import json
import os
import shlex
import sys
from pathlib import Path
from typing import Any

import pytest

from rocm_wizard.arguments import build_parser
from rocm_wizard.line.env_report import SCHEMA

MINE = b"# my keys\r\nOPENAI_API_KEY=sk-canary-123456789\r\nTTS_DEVICE=cpu\r\nASR_LANGUAGE=ja  # home\r\n"


@pytest.fixture
def env(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A checkout's `.env` that somebody owns; state goes into a folder of the test."""
    monkeypatch.setenv("ROCM_WIZARD_HOME", str(tmp_path / "state"))
    for name in ("TTS_DEVICE", "HF_HUB_OFFLINE", "TRANSFORMERS_OFFLINE", "PYTHON_DOTENV_DISABLED"):
        monkeypatch.delenv(name, raising=False)
    path = tmp_path / "检出 x" / ".env"
    path.parent.mkdir()
    path.write_bytes(MINE)
    return path


def run(*words: object) -> int:
    """The exit code of the command, in this process."""
    arguments = build_parser().parse_args(["env", *map(str, words)])
    return int(arguments.handler(arguments))


def document(capsys: pytest.CaptureFixture[str], *words: object) -> dict[str, Any]:
    """The JSON document of the command; its exit code is the command's own."""
    code = run(*words, "--json")
    told = json.loads(capsys.readouterr().out)
    assert (told["schema"], told["exit_code"], told["command"]) == (SCHEMA, code, words[0])
    return told


def ids(told: dict[str, Any]) -> list[str]:
    return [finding["id"] for finding in told["findings"]]


def test_a_plan_says_what_and_why_and_touches_nothing(env: Path, capsys: pytest.CaptureFixture[str]) -> None:
    told = document(capsys, "plan", "--file", env, "--profile", "local-rocm")
    assert told["exit_code"] == 0
    actions = {action["key"]: (action["verb"], action["reason"], action["line"]) for action in told["actions"]}
    assert len(actions) == 22  # 26 keys less the four stand-ins
    assert actions["TTS_DEVICE"] == ("conflict", "changed_by_user", 3)
    assert actions["TTS_MODE"] == ("append", "absent", None)
    assert ["", "TTS_MODE=sidecar", "added"] in told["rows"]
    assert told["written"] is None
    assert {"env.conflicts", "env.placeholders_left_out"} <= set(ids(told))
    assert env.read_bytes() == MINE
    assert [path.name for path in env.parent.iterdir()] == [".env"]


def test_neither_output_shows_a_secret(env: Path, capsys: pytest.CaptureFixture[str]) -> None:
    words = ("--file", env, "--set", "OPENAI_API_KEY=sk-canary-new-1234", "--set", "HF_TOKEN=hf_canarycanary")
    told = document(capsys, "plan", *words)
    assert [(action["old"], action["new"]) for action in told["actions"]] == [("********",) * 2, (None, "********")]
    assert run("plan", *words) == 0
    assert run("apply", *words) == 3
    assert run("check", "--file", env) in (0, 1)
    output = capsys.readouterr()
    assert "canary" not in json.dumps(told) + output.out + output.err
    assert "sk-********" not in output.out


def test_without_anybody_to_ask_the_exact_command_is_named(env: Path, capsys: pytest.CaptureFixture[str]) -> None:
    told = document(capsys, "apply", "--file", env, "--profile", "local-rocm", "--set", "TTS_DEVICE=cuda:0")
    assert (told["exit_code"], env.read_bytes()) == (3, MINE)
    needs = next(finding for finding in told["findings"] if finding["id"] == "env.needs_yes")
    if sys.platform == "win32":
        return
    words = shlex.split(needs["action"])
    assert words[:3] == ["rocm-wizard", "env", "apply"]
    assert words[-1] == "--yes"
    assert run(*words[2:]) == 0
    written = env.read_bytes()
    assert written.startswith(MINE.replace(b"TTS_DEVICE=cpu", b"TTS_DEVICE=cuda:0"))
    assert b"QWEN3_ASR_DEVICE=cuda\r\n" in written


def test_undo_restores_bit_for_bit_step_by_step(env: Path, capsys: pytest.CaptureFixture[str]) -> None:
    first = document(capsys, "apply", "--file", env, "--set", "TTS_MODE=sidecar", "--yes")
    assert Path(first["written"]["backup"]).read_bytes() == MINE
    once = env.read_bytes()
    assert run("apply", "--file", env, "--set", "TTS_MODE=inprocess", "--yes") == 0
    assert run("undo", "--file", env) == 0
    assert env.read_bytes() == once
    assert ids(document(capsys_cleared(capsys), "undo", "--file", env)) == ["env.undone"]
    assert env.read_bytes() == MINE
    told = document(capsys, "undo", "--file", env)
    assert (told["exit_code"], ids(told)) == (3, ["env.nothing_to_undo"])
    assert [path.name for path in env.parent.iterdir()] == [".env"]


def capsys_cleared(capsys: pytest.CaptureFixture[str]) -> pytest.CaptureFixture[str]:
    capsys.readouterr()
    return capsys


def test_undo_never_throws_away_a_later_edit(env: Path, capsys: pytest.CaptureFixture[str]) -> None:
    run("apply", "--file", env, "--set", "TTS_MODE=sidecar", "--yes")
    edited = env.read_bytes() + b"MORE=1\r\n"
    env.write_bytes(edited)
    told = document(capsys_cleared(capsys), "undo", "--file", env, "--yes")
    assert (told["exit_code"], ids(told)) == (3, ["env.stale"])
    assert env.read_bytes() == edited


def test_without_a_receipt_undo_asks(env: Path, capsys: pytest.CaptureFixture[str], tmp_path: Path) -> None:
    run("apply", "--file", env, "--set", "TTS_MODE=sidecar", "--yes")
    for receipt in (tmp_path / "state" / "env").iterdir():
        assert "canary" not in receipt.read_text(encoding="utf-8")
        receipt.unlink()
    told = document(capsys_cleared(capsys), "undo", "--file", env)
    assert (told["exit_code"], ids(told)) == (3, ["env.undo_unguarded"])
    assert told["findings"][0]["action"].endswith("--yes")
    assert run("undo", "--file", env, "--yes") == 0
    assert env.read_bytes() == MINE


def test_undo_of_a_new_file_removes_it(tmp_path: Path, env: Path) -> None:
    env.unlink()
    assert run("apply", "--checkout", env.parent, "--template", template(tmp_path), "--yes") == 0
    assert env.read_text(encoding="utf-8") == "# Added by rocm-wizard\nTTS_MODE=sidecar\n"
    assert run("undo", "--checkout", env.parent) == 0
    assert list(env.parent.iterdir()) == []


def template(folder: Path) -> Path:
    path = folder / "mine.env"
    path.write_text("TTS_MODE=sidecar\nTTS_GPT_MODEL_PATH=x/YOUR_GPT.ckpt\n", encoding="utf-8")
    return path


def test_a_receipt_that_cannot_be_kept_stops_nothing(
    env: Path, capsys: pytest.CaptureFixture[str], tmp_path: Path
) -> None:
    (tmp_path / "state").write_text("a file in the folder's place", encoding="utf-8")
    told = document(capsys, "apply", "--file", env, "--set", "TTS_MODE=sidecar", "--yes")
    assert told["exit_code"] == 0
    assert "env.no_receipt" in ids(told)


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (("plan", "--set", "TTS_MODE"), "has no ="),
        (("plan", "--set", "GPU ID=1"), "space (U+0020)"),
        (("plan", "--set", "TTS_MODE=a\nb"), "line feed (U+000A)"),
        (("plan", "--profile", "local-vulkan"), "local-rocm"),
        (("plan", "--template", "nowhere.env"), "nowhere.env"),
        (("plan",), "--template"),
        (("apply", "--yes"), "--template"),
        (("check", "--checkout", "nowhere"), "nowhere"),
    ],
)
def test_a_wrong_command_line_is_exit_code_2(
    env: Path, capsys: pytest.CaptureFixture[str], words: tuple[str, ...], said: str
) -> None:
    with pytest.raises(SystemExit) as ended:
        run(*words, "--file", env)
    assert ended.value.code == 2
    output = capsys.readouterr()
    assert said in output.err
    assert output.out == ""
    assert env.read_bytes() == MINE


def test_check_of_a_broken_file(env: Path, capsys: pytest.CaptureFixture[str]) -> None:
    env.write_bytes(b"QWEN3_ASR_DEVICE=cuda:1\nTTS_VOICE_PROFILE=kurisu_v3\n")
    told = document(capsys, "check", "--file", env)
    assert told["exit_code"] == 1
    worst = [(f["id"], f["facts"]["line"]) for f in told["findings"] if f["outcome"] == "failed"]
    assert worst == [("env.asr_device_refused", 1)]
    assert "env.rule_voice_profile_overrides" in ids(told)


@pytest.mark.parametrize(
    ("content", "code", "id"),
    [
        (b"# nothing\nTTS_MODE=sidecar\n", 0, "env.clean"),
        (b"TTS_MODE=sidecar\nTTS_MODE=sidecar\n", 0, "env.notice_duplicate"),
        ("TTS_MODE=sidecar\n".encode("utf-16"), 1, "env.not_text"),
        (b"A=caf\xe9\n", 1, "env.notice_undecodable"),
        (None, 3, "env.no_file"),
    ],
)
def test_check_tells_clean_broken_and_unknown_apart(
    env: Path, capsys: pytest.CaptureFixture[str], content: bytes | None, code: int, id: str
) -> None:
    env.unlink()
    if content is not None:
        env.write_bytes(content)
    told = document(capsys, "check", "--checkout", env.parent)
    assert (told["exit_code"], id in ids(told)) == (code, True), ids(told)


def test_a_folder_in_the_files_place_could_not_be_checked(env: Path, capsys: pytest.CaptureFixture[str]) -> None:
    env.unlink()
    env.mkdir()
    for words in (("check",), ("apply", "--set", "A=1", "--yes"), ("undo",)):
        told = document(capsys, *words, "--file", env)
        assert told["exit_code"] == 3
        assert str(env) in json.dumps(told, ensure_ascii=False).replace("\\\\", "\\")


def test_every_finding_of_a_full_check_has_words(env: Path, capsys: pytest.CaptureFixture[str]) -> None:
    env.write_bytes(
        b'A="open\nTTS_DEVICE=cpu\nTTS_REQUIRE_CUDA=1\nWAKE_ENABLED=on\nTTS_PYTHON=nowhere\nX=1#2\nP=$x\n'
        b"EXP_TTS_MAX_CONCURRENCY=9\nTTS_BIGVGAN_STREAM_BUCKET_MELS=80.0\n"
    )
    told = document(capsys, "check", "--file", env)
    assert len(told["findings"]) >= 9
    for finding in told["findings"]:
        assert "?" not in finding["text"], finding
        assert not finding["text"].startswith("env."), finding


@pytest.mark.skipif(sys.platform == "win32", reason="a pseudo-terminal needs POSIX")
def test_on_a_terminal_each_conflict_and_the_change_are_asked_for(env: Path, tmp_path: Path) -> None:
    import pty

    script = "import sys\nfrom rocm_wizard.cli import main\nsys.exit(main(sys.argv[1:]))\n"
    words = ["env", "apply", "--file", str(env), "--template", str(tmp_path / "t.env")]
    (tmp_path / "t.env").write_text("TTS_DEVICE=cuda:0\nASR_LANGUAGE=zh\n", encoding="utf-8")
    pid, terminal = pty.fork()
    if pid == 0:
        os.execv(sys.executable, [sys.executable, "-c", script, *words])
    told = b""
    answers = [(b"TTS_DEVICE is cpu", b"1\n"), (b"ASR_LANGUAGE is ja", b"2\n"), (b"May these lines", b"apply\n")]
    try:
        while True:
            try:
                piece = os.read(terminal, 4096)
            except OSError:  # Linux: the child has closed its side
                break
            if not piece:
                break
            told += piece
            if answers and answers[0][0] in told and told.rstrip().endswith((b"*", b"mine", b"alone")):
                os.write(terminal, answers.pop(0)[1])
    finally:
        os.close(terminal)
        _, status = os.waitpid(pid, 0)
    assert os.waitstatus_to_exitcode(status) == 0, told.decode("utf-8", "replace")
    assert answers == []
    assert env.read_bytes() == MINE.replace(b"TTS_DEVICE=cpu", b"TTS_DEVICE=cuda:0")

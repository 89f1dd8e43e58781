"""The command to type next tests what this run has tested."""

import subprocess
import sys
from pathlib import Path

import pytest

from rocm_wizard.given import given_options
from rocm_wizard.report.next_command import next_command
from rocm_wizard.stages.session import Options, TtsModelPaths

GIVEN = {"--checkout": "my checkout", "--profile": "local-rocm", "--asr-model": "q", "--reference-text": "Hi there"}
posix = pytest.mark.skipif(sys.platform == "win32", reason="a POSIX shell")


@posix
@pytest.mark.parametrize(
    ("action", "told"),
    [
        ("rocm-wizard compute", "rocm-wizard compute --checkout 'my checkout' --profile local-rocm"),
        (
            'rocm-wizard tts --reference FILE --reference-text "..."',
            "rocm-wizard tts --reference FILE --reference-text \"...\" --checkout 'my checkout' --profile local-rocm"
            " --asr-model q",
        ),
        ("rocm-wizard asr", "rocm-wizard asr --checkout 'my checkout' --profile local-rocm --asr-model q"),
        ("rocm-wizard env plan --checkout FOLDER", "rocm-wizard env plan --checkout 'my checkout'"),
        ("rocm-wizard bench tts", "rocm-wizard bench tts"),
        ("uv sync --locked --extra local-rocm", "uv sync --locked --extra local-rocm"),
        (None, None),
    ],
)
def test_a_command_for_the_same_target(action: str | None, told: str | None) -> None:
    assert next_command(action, {"given": GIVEN}) == told
    assert next_command(action, {}) == action


@posix
def test_an_engine_does_not_stand_in_the_way_of_named_files() -> None:
    given = {"--tts-engine": "embedded", "--tts-language": "zh", "--asr-engine": "checkout", "--text": "你好"}
    action = "rocm-wizard tts --tts-language zh --gpt-model FILE --sovits-model FILE"
    assert next_command(action, {"given": given}) == f"{action} --asr-engine checkout"
    assert next_command("rocm-wizard tts --repeat 5", {"given": given}) == (
        "rocm-wizard tts --repeat 5 --asr-engine checkout --tts-engine embedded --tts-language zh --text '你好'"
    )
    checkout = {"--tts-engine": "checkout"}
    assert next_command(action, {"given": checkout}) == f"{action} --tts-engine checkout", "it uses such files too"


def test_a_recording_is_carried_where_it_is_not_the_bundled_one_that_is_meant() -> None:
    given = {"--audio": "fr.wav", "--transcript": "bonjour"}
    assert next_command("rocm-wizard asr", {"given": given}) == "rocm-wizard asr"
    told = next_command("rocm-wizard asr --asr-language French", {"given": given})
    assert told == "rocm-wizard asr --asr-language French --audio fr.wav --transcript bonjour"


@pytest.mark.parametrize(
    "given", [{"--set": None}, {"--set": 5}, {"--set": "A=1"}, {"--text": ["-x"]}, {"--checkout": 7}]
)
def test_a_damaged_journal_hurts_nobody(given: dict[str, object]) -> None:
    assert str(next_command("rocm-wizard run --yes", {"given": given})).startswith("rocm-wizard run --yes")


@pytest.mark.parametrize("value", ["A=~/models/q", "A=/data/<user>/q"])
def test_what_was_masked_is_no_value_to_write(value: str) -> None:
    assert next_command("rocm-wizard run --yes", {"given": {"--set": [value]}}) is None


def test_the_env_command_means_the_same_file() -> None:
    given = {"--checkout": "C", "--env-file": "try.env"}
    told = next_command("rocm-wizard env apply --checkout FOLDER --set KEY=VALUE", {"given": given})
    assert told == "rocm-wizard env apply --checkout C --set KEY=VALUE --file try.env"


def test_what_writes_a_file_writes_the_same_one_or_is_not_told() -> None:
    options = Options(env_file=Path("try.env"), settings={"A": "1", "B": "2"})
    target = {"given": given_options(None, None, options)}
    assert (
        next_command("rocm-wizard run --yes", target) == "rocm-wizard run --yes --env-file try.env --set A=1 --set B=2"
    )
    secret = Options(env_file=Path("try.env"), settings={"OPENAI_API_KEY": "sk-0123456789", "B": "2"})
    given = given_options(None, None, secret)
    assert "sk-0123456789" not in str(given)
    assert next_command("rocm-wizard run --yes", {"given": given}) is None
    assert next_command("rocm-wizard run --level soak", {"given": given}) == (
        "rocm-wizard run --level soak --env-file try.env --set B=2"
    )


@posix
def test_a_shell_reads_back_what_was_given() -> None:
    models = TtsModelPaths(gpt=Path("a folder/it's.ckpt"))
    options = Options(profile="torch-cpu", tts_models=models, reference_text="$HOME `x` 你好")
    command = next_command("rocm-wizard run", {"given": given_options(Path("我的 checkout"), None, options)})
    assert command is not None
    assert shell(command.removeprefix("rocm-wizard run")) == [
        *("--checkout", "我的 checkout", "--profile", "torch-cpu", "--gpt-model", "a folder/it's.ckpt"),
        *("--reference-text", "$HOME `x` 你好"),
    ]


@posix
def test_a_home_that_was_masked_is_expanded() -> None:
    command = next_command("rocm-wizard compute", {"given": {"--checkout": "~/my checkout"}})
    assert command is not None
    assert shell(command.removeprefix("rocm-wizard compute")) == ["--checkout", str(Path.home() / "my checkout")]


@pytest.mark.parametrize(
    ("path", "quoted"),
    [
        ("C:\\my dir\\", '"C:\\my dir\\\\"'),
        ("~\\my dir", '"$HOME\\my dir"'),
        ("C:\\100%", None),
        ("C:\\“x”", None),
        ("C:\\amadeus", "C:\\amadeus"),
        ("C:\\R&D\\a", '"C:\\R&D\\a"'),
        ("C:\\a(b);c", '"C:\\a(b);c"'),
        ("C:\\it's", '"C:\\it\'s"'),
        ("D:\\我的 文件", '"D:\\我的 文件"'),
    ],
)
def test_quoted_for_the_shells_of_windows(monkeypatch: pytest.MonkeyPatch, path: str, quoted: str | None) -> None:
    monkeypatch.setattr("sys.platform", "win32")
    command = next_command("rocm-wizard compute", {"given": {"--checkout": path}})
    assert command == (quoted and f"rocm-wizard compute --checkout {quoted}")


def shell(arguments: str) -> list[str]:
    """The arguments as a shell takes them."""
    code = "import sys; print('|'.join(sys.argv[1:]))"
    script = f'{sys.executable} -c "{code}" {arguments}'
    return (
        subprocess.run(["/bin/sh", "-c", script], capture_output=True, encoding="utf-8", check=True)
        .stdout.strip()
        .split("|")
    )

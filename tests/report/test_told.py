"""The command to type next tests what this run has tested."""

import subprocess
import sys
from pathlib import Path

import pytest

from rocm_wizard.given import given_options
from rocm_wizard.report.told import next_command
from rocm_wizard.stages.session import Options, TtsModelPaths

GIVEN = {"--checkout": "'my checkout'", "--profile": "local-rocm", "--asr-model": "q", "--reference-text": "'Hi there'"}


@pytest.mark.parametrize(
    ("action", "told"),
    [
        ("rocm-wizard compute", "rocm-wizard compute --checkout 'my checkout' --profile local-rocm"),
        (
            'rocm-wizard tts --reference FILE --reference-text "..."',
            "rocm-wizard tts --reference FILE --reference-text \"...\" --checkout 'my checkout' --profile local-rocm"
            " --asr-model q",
        ),
        ("rocm-wizard env plan --checkout FOLDER", "rocm-wizard env plan --checkout 'my checkout'"),
        ("rocm-wizard bench tts", "rocm-wizard bench tts"),
        ("uv sync --locked --extra local-rocm", "uv sync --locked --extra local-rocm"),
        (None, None),
    ],
)
def test_a_command_for_the_same_target(action: str | None, told: str | None) -> None:
    assert next_command(action, {"given": GIVEN}) == told
    assert next_command(action, {}) == action


@pytest.mark.skipif(sys.platform == "win32", reason="a POSIX shell")
def test_a_shell_reads_back_what_was_given() -> None:
    models = TtsModelPaths(gpt=Path("a folder/it's.ckpt"))
    options = Options(profile="torch-cpu", tts_models=models, reference_text="$HOME `x` 你好")
    command = next_command("rocm-wizard run", {"given": given_options(Path("我的 checkout"), None, options)})
    assert command is not None
    code = "import sys; print('|'.join(sys.argv[1:]))"
    script = command.replace("rocm-wizard run", f'{sys.executable} -c "{code}"')
    said = subprocess.run(["/bin/sh", "-c", script], capture_output=True, encoding="utf-8", check=True).stdout.strip()
    assert said.split("|") == [
        *("--checkout", "我的 checkout", "--profile", "torch-cpu", "--gpt-model", "a folder/it's.ckpt"),
        *("--reference-text", "$HOME `x` 你好"),
    ]

"""Who may import what: proved on the import graph, and on what a real process has loaded."""

import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]


def test_import_contracts() -> None:
    command = [sys.executable, "-c", "from importlinter.cli import lint_imports_command; lint_imports_command()"]
    done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, encoding="utf-8", check=False)
    assert done.returncode == 0, done.stdout + done.stderr
    assert "0 broken" in done.stdout


def loaded_by(code: str) -> set[str]:
    """Top-level modules in a fresh process after some imports."""
    script = f"{code}\nimport sys; print(' '.join({{name.partition('.')[0] for name in sys.modules}}))"
    done = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, encoding="utf-8", check=True)
    return set(done.stdout.split())


@pytest.mark.parametrize(
    ("code", "absent"),
    [
        ("import rocm_wizard.assembly, rocm_wizard.line.session", {"textual", "torch", "numba", "transformers"}),
        ("import rocm_wizard.tui.app", {"torch", "transformers", "sounddevice"}),
        ("import rocm_wizard.cli", {"textual", "torch", "numpy", "psutil", "soundfile"}),
        ("import rocm_wizard.qualification.pipeline", {"textual", "torch", "numpy", "psutil"}),
    ],
)
def test_what_a_process_loads(code: str, absent: set[str]) -> None:
    assert loaded_by(code) & absent == set()

"""Exit codes of both platforms in words."""

import pytest

from rocm_wizard.runner.exit_status import explain_exit


@pytest.mark.parametrize(
    ("code", "name", "crashed"),
    [
        (-11, "SIGSEGV", True),
        (-15, "SIGTERM", False),
        (3221225477, "0xC0000005 STATUS_ACCESS_VIOLATION", True),
        (-1073741819, "0xC0000005 STATUS_ACCESS_VIOLATION", True),
        (3221226505, "0xC0000409 STATUS_STACK_BUFFER_OVERRUN", True),
        (3221225786, "0xC000013A STATUS_CONTROL_C_EXIT", False),
        (3221225999, "0xC000020F unknown status", True),
        (1, "exit code 1", False),
        (0, "exit code 0", False),
        (None, "still running", True),
    ],
)
def test_explained(code: int | None, name: str, crashed: bool) -> None:
    meaning = explain_exit(code)
    assert (meaning.name, meaning.crashed) == (name, crashed)


@pytest.mark.parametrize(("platform", "meaning"), [("win32", "abort() of the C runtime"), ("linux", "exit code 3")])
def test_what_a_code_means_on_one_system_only(monkeypatch: pytest.MonkeyPatch, platform: str, meaning: str) -> None:
    monkeypatch.setattr("sys.platform", platform)
    told = str(explain_exit(3))
    assert meaning in told and ("C runtime" in told) is (platform == "win32")


def test_access_violation_is_explained_in_words() -> None:
    assert "bad pointer" in str(explain_exit(0xC0000005))

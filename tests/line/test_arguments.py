"""What is given before a command holds after it."""

import pytest

from rocm_wizard.arguments import build_parser


@pytest.mark.parametrize("command", [["run"], ["compute"], ["explain"], ["env", "plan"], ["env", "apply"]])
def test_an_option_before_the_command_is_not_undone_by_it(command: list[str]) -> None:
    arguments = build_parser().parse_args(["--lang", "zh", "--checkout", "x", "--profile", "local-rocm", *command])
    assert (arguments.lang, str(arguments.checkout), arguments.profile) == ("zh", "x", "local-rocm")


def test_defaults_and_settings() -> None:
    arguments = build_parser().parse_args(["run", "--set", "A=1=2", "--set", "B=", "--level", "quick"])
    assert arguments.set == [("A", "1=2"), ("B", "")]
    assert (arguments.lang, arguments.chunk_seconds, arguments.level, arguments.play) == ("en", 0.8, "quick", True)


def test_no_command_is_the_wizard() -> None:
    arguments = build_parser().parse_args([])
    assert (arguments.command, arguments.json, arguments.stages) == ("wizard", False, None)

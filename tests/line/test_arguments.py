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


def test_language_is_the_recognisers_or_the_voices_by_the_command() -> None:
    parser = build_parser()
    assert parser.parse_args(["asr", "--language", "Japanese"]).asr_language == "Japanese"
    spoken = parser.parse_args(["tts", "--language", "ja"])
    assert (spoken.tts_language, spoken.asr_language) == ("ja", None)
    with pytest.raises(SystemExit):
        parser.parse_args(["run", "--language", "ja"])

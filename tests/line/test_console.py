"""Line mode on consoles that cannot show everything."""

import io

import pytest

from rocm_wizard.line.console import fit, write_line
from rocm_wizard.qualification.stage import CancelToken, Question
from rocm_wizard.report.catalogue import load_strings


@pytest.mark.parametrize("encoding", ["cp1252", "gbk", "cp437", "ascii", "utf-8"])
def test_every_sentence_can_be_written_on_every_console(encoding: str) -> None:
    def texts(node: object) -> list[str]:
        if isinstance(node, dict):
            return [text for value in node.values() for text in texts(value)]
        return [str(node)]

    for language in ("en", "zh"):
        for text in texts(load_strings(language)):
            fit(text, encoding).encode(encoding)


def test_plain_words_take_the_place_of_what_is_missing() -> None:
    assert fit("256×256 “ones” …", "ascii") == '256x256 "ones" ...'
    assert fit("声", "ascii") == "\\u58f0"
    assert fit("声", "utf-8") == "声"


def test_a_closed_pipe_is_no_crash() -> None:
    class Closed(io.StringIO):
        def write(self, s: str) -> int:
            raise BrokenPipeError

    write_line("x", Closed())


@pytest.mark.parametrize(
    ("line", "choice"), [("2", "no"), ("yes", "yes"), ("", "yes"), ("3", None), ("0", None), ("-1", None), ("²", None)]
)
def test_choices_by_number_name_or_nothing(line: str, choice: str | None) -> None:
    from rocm_wizard.line.asker import _choice

    assert _choice(line, Question("q", ("yes", "no"), "yes")) == choice


def test_nothing_is_no_choice_where_silence_means_something_else() -> None:
    from rocm_wizard.line.asker import _choice

    assert _choice("", Question("q", ("yes", "no"), "not_confirmed")) is None


def test_what_would_lose_something_has_to_be_typed_in_full() -> None:
    from rocm_wizard.line.asker import _choice

    question = Question("profile.replace", ("leave", "local-cu124"), "leave", typed="local-cu124")
    assert [_choice(line, question) for line in ("1", "", "local-cu124")] == ["leave", "leave", "local-cu124"]
    assert [_choice(line, question) for line in ("2", "y", "local", "LOCAL-CU124")] == [None] * 4


def test_the_end_of_stdin_is_silence(monkeypatch: pytest.MonkeyPatch) -> None:
    from rocm_wizard.line.asker import LineAsker
    from rocm_wizard.report.catalogue import Catalogue

    monkeypatch.setattr("sys.stdin", io.StringIO("9\n"))
    told: list[str] = []
    answer = LineAsker(Catalogue(), told.append)(Question("tts.heard", ("yes", "no"), "not_confirmed"), CancelToken())
    assert (answer.option, answer.answered_by) == ("not_confirmed", "default")
    assert any("1 to 2" in text for text in told)

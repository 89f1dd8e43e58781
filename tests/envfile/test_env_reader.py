"""Our reader against python-dotenv 1.2.3, statement by statement."""

import time

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from rocm_wizard.envfile import EnvFileError, read_values
from rocm_wizard.envfile.document import Document
from rocm_wizard.envfile.errors import NotText
from rocm_wizard.envfile.tokens import Kind
from rocm_wizard.envfile.values import bindings
from tests.envfile.env_support import dotenv_bindings, dotenv_read, env_bytes, parse

environments = st.dictionaries(
    st.sampled_from(("A", "B", "K", "OUTER")), st.sampled_from(("", "env", "${A}")), max_size=3
)


def read(data: bytes) -> Document | None:
    try:
        return Document.parse(data)
    except NotText:
        return None


@settings(max_examples=600)
@given(env_bytes)
def test_bindings_equal_python_dotenv(data: bytes) -> None:
    document = read(data)
    if document:
        assert bindings(document) == dotenv_bindings(data)


@settings(max_examples=300)
@given(env_bytes, environments, st.booleans())
def test_expanded_values_equal_python_dotenv(data: bytes, environment: dict[str, str], override: bool) -> None:
    document = read(data)
    if document:
        expected = dotenv_read(data, environment, override=override)
        assert read_values(document, environment, override=override) == expected


@given(st.binary(max_size=200))
def test_any_bytes_come_back(data: bytes) -> None:
    document = read(data)
    if document:
        assert document.encode(document.text) == data


@settings(max_examples=300)
@given(env_bytes)
def test_statements_cover_the_text_without_gap(data: bytes) -> None:
    document = read(data)
    if document:
        body = b"".join(document.raw(statement) for statement in document.statements)
        assert (b"\xef\xbb\xbf" if document.bom else b"") + body == data
        ends = [0, *(statement.end for statement in document.statements)]
        assert [statement.start for statement in document.statements] == ends[:-1]


@pytest.mark.parametrize(
    ("line", "value"),
    [
        ("A=auto   # note", "auto"),
        ("A=ab#cd", "ab#cd"),
        ("A=   # c", "# c"),
        ("A=C:\\temp\\new", "C:\\temp\\new"),
        ('A="C:\\temp\\new"', "C:\temp\new"),
        ("A='C:\\temp\\new'", "C:\\temp\\new"),
        ('A="x y" # c', "x y"),
        ("A='${B:-d}'", "d"),
        ("A=$B", "$B"),
        ("export A=1", "1"),
        ("A = 1 ", "1"),
        ("'A'=1", "1"),
        ("A", None),
        ("A=\u30001\u3000", "1"),
        ("A='\\\\server\\share'", "\\server\\share"),
        ("A=\xa0#c", "#c"),
        ("A=x\xa0# c", "x"),
        ("A=\u201cquoted\u201d", "\u201cquoted\u201d"),
    ],
)
def test_the_host_s_observed_reading(line: str, value: str | None) -> None:
    assert read_values(parse(line)) == {"A": value} == dotenv_read(line.encode())


@pytest.mark.parametrize("line", ["A='C:\\models\\'", 'A="x" junk', "A B=1", "=1", 'A="open', "'A=1"])
def test_lines_no_reader_understands_are_bad(line: str) -> None:
    document = parse(f"{line}\nB=2\n")
    assert [statement.kind for statement in document.statements] == [Kind.BAD, Kind.ASSIGNMENT]
    assert read_values(document) == {"B": "2"}


def test_utf16_is_refused_with_and_without_a_mark() -> None:
    for encoding in ("utf-16", "utf-16-le", "utf-16-be", "utf-32"):
        with pytest.raises(NotText) as refused:
            parse("ASR_LANGUAGE=日文\r\nB=2\r\n".encode(encoding))
        assert ".env" in str(refused.value)
        assert refused.value.encoding in ("UTF-16", "UTF-32")


def test_line_numbers_count_bytes_of_the_file_in_every_style() -> None:
    for newline in ("\n", "\r\n", "\r"):
        document = parse(newline.join(("A=1", "", 'B="x', 'y"', "C=2")))
        assert document.line(document.statements[-1].start) == 5


def test_references_that_double_each_line_are_refused() -> None:
    text = "A0=xxxxxxxx\n" + "".join(f"A{i + 1}=${{A{i}}}${{A{i}}}\n" for i in range(40))
    with pytest.raises(EnvFileError, match="1 MiB"):
        read_values(parse(text))


@pytest.mark.parametrize(
    "unit",
    ["A=${", "A=${A:x", "'", '"', 'A="\n', "A='", "A= \t \t", "A=x  ", "export ", "\\", "A=#", " #", "\r", '"\\"'],
)
def test_hostile_repeats_take_linear_time(unit: str) -> None:
    """A reader that backtracks needs minutes for 200,000 of these."""
    started = time.process_time()
    for text in (unit * 200_000, "A=" + unit * 200_000 + "\n:}", 'A="' + unit * 100_000):
        read_values(parse(text))
    assert time.process_time() - started < 20

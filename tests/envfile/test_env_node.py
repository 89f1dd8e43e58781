"""python-dotenv and Node's `dotenv` on the same files: equal for our keys, or foretold."""

import time
from collections.abc import Iterator

import pytest
from hypothesis import assume, example, given, settings

from rocm_wizard.assets import asset
from rocm_wizard.envfile import Choice, EnvFileError, make_plan, read_values, render, verify
from rocm_wizard.envfile.document import Document
from rocm_wizard.envfile.errors import NotText, VerificationFailed
from rocm_wizard.envfile.node import Difference, disagreements, read_as_node
from tests.envfile.env_support import KEYS, dotenv_read, env_bytes, parse, wanted_maps
from tests.envfile.node_dotenv import NodeDotenv, install


@pytest.fixture(scope="session")
def node(tmp_path_factory: pytest.TempPathFactory) -> Iterator[NodeDotenv]:
    with NodeDotenv(install(tmp_path_factory.mktemp("npm 包"))) as child:
        yield child


def document_of(data: bytes) -> Document:
    try:
        return parse(data)
    except NotText:
        assume(False)
        raise


def spelt(values: dict[str, str]) -> dict[str, str]:
    """Undecodable bytes as Node decodes them: the replacement character (how many a byte, its decoder decides)."""
    return {key: value.encode("utf-8", "surrogateescape").decode("utf-8", "replace") for key, value in values.items()}


@settings(max_examples=1500, deadline=None)
@given(env_bytes)
@example(b"A='x\n'y'\n")
@example(b"A=\"a'b\" '\n")
@example("A=\u2028'x'\u2028B=1\n".encode())
@example(b"\xef\xbb\xbfA=1\n")
def test_our_reading_for_node_is_the_packages_own(node: NodeDotenv, data: bytes) -> None:
    document = document_of(data)
    text = ("\ufeff" if document.bom else "") + document.text
    assert spelt(read_as_node(text)) == node.read(data)


@settings(max_examples=800, deadline=None)
@given(env_bytes, wanted_maps)
def test_no_planned_key_reads_differently_without_a_word(node: NodeDotenv, data: bytes, wanted: dict[str, str]) -> None:
    document = document_of(data)
    plan = make_plan(document, wanted, choices=dict.fromkeys((*KEYS, "NEW_ONE", "NEW_TWO"), Choice.WANTED))
    rendered = render(document, plan)
    try:
        verify(document, plan, rendered)
    except VerificationFailed:
        assume(False)
    host, there = dotenv_read(rendered), node.read(rendered)
    foretold = {found.key for found in disagreements(parse(rendered), wanted)}
    differ = {key for key in wanted if host[key] != there.get(key)}
    assert differ == foretold


@pytest.mark.parametrize("profile", ["rocm", "cuda", "cpu"])
@pytest.mark.parametrize("before", [b"", b"\xef\xbb\xbf# mine\r\nOPENAI_API_KEY=sk-x#y\r\nTTS_DEVICE = cpu # old\r\n"])
def test_the_merged_templates_read_alike(node: NodeDotenv, profile: str, before: bytes) -> None:
    template = read_values(parse(asset(f"voice-{profile}.env").read_bytes()))
    wanted = {key: value or "" for key, value in template.items()}
    document = parse(before)
    plan = make_plan(document, wanted, choices=dict.fromkeys(wanted, Choice.WANTED))
    rendered = render(document, plan)
    host, there = dotenv_read(rendered), node.read(rendered)
    keys = [action.key for action in plan.actions]
    assert len(keys) >= 21
    assert {key: there.get(key) for key in keys} == {key: host[key] for key in keys}
    assert disagreements(parse(rendered), keys) == ()
    assert [found.key for found in disagreements(parse(rendered))] == (["OPENAI_API_KEY"] if before else [])


@pytest.mark.parametrize(
    ("data", "found"),
    [
        ("A=x#y\n", [("A", 1, Difference.CUT_AT_HASH)]),
        ('A="D:\\vad"\n', [("A", 1, Difference.OTHER_VALUE)]),
        ("B=1\nA=${B}/x\n", [("A", 2, Difference.OTHER_VALUE)]),
        # Quotes of a kind that only Node knows: it reads on to the next one, over the lines between.
        (
            "X=`a\nA=1\nY=b`\n",
            [("X", 1, Difference.OTHER_VALUE), ("A", 2, Difference.NOT_SEEN), ("Y", 3, Difference.NOT_SEEN)],
        ),
        # Quotes that are followed by something: the host drops both lines, Node takes them for data.
        ("X='open\nB='2'\n", [("X", None, Difference.ONLY_THERE), ("B", None, Difference.ONLY_THERE)]),
        ("C: 1\n", [("C", None, Difference.ONLY_THERE)]),
        ("A=`x`\n", [("A", 1, Difference.OTHER_VALUE)]),
        ("A=1\n# fine\nB='#'\n", []),
    ],
)
def test_what_node_reads_otherwise(
    node: NodeDotenv, data: str, found: list[tuple[str, int | None, Difference]]
) -> None:
    document = parse(data)
    assert [(one.key, one.line, one.difference) for one in disagreements(document)] == found
    there, host = node.read(data.encode()), dotenv_read(data.encode())
    assert {one.key for one in disagreements(document)} == {
        key for key in {*there, *host} if there.get(key) != host.get(key)
    }


@pytest.mark.parametrize(
    "text",
    ["\n" * 2**20, "K \n" + "\n" * 2**20, "export" + " " * 2**20, "A='x\n" * 200_000, "A='\\'\n" * 150_000, "a" * 2**20,
     "A=`" + "\\`" * 500_000, "K: " + "\n" * 2**20, "K:\n" * 300_000, "# x\n" * 250_000, " " * 2**20 + "#"],
)  # fmt: skip
def test_hostile_files_are_read_in_proportion(text: str) -> None:
    started = time.process_time()
    read_as_node(text[: 2**20])
    assert time.process_time() - started < 10  # a quadratic reader takes hours


def test_a_huge_file_is_refused_by_name() -> None:
    with pytest.raises(EnvFileError, match="Node"):
        disagreements(parse("A=1\n" * 300_000))

"""Bug reports about other `.env` editors, each with a made-up file and the right bytes.

Numbers are those of the project's notes; the link of each report stands beside its test.
"""

import pytest

from rocm_wizard.envfile import (
    Choice,
    Document,
    NoticeCode,
    Verb,
    find_notices,
    key_layers,
    make_plan,
    read_values,
    render,
    verify,
)
from tests.envfile.env_support import dotenv_read, parse


def edit(data: bytes, **wanted: str) -> bytes:
    document = parse(data)
    plan = make_plan(document, wanted, choices=dict.fromkeys(wanted, Choice.WANTED))
    rendered = render(document, plan)
    verify(document, plan, rendered)
    read = dotenv_read(rendered)
    assert {key: read[key] for key in wanted} == wanted
    return rendered


def codes(data: bytes) -> list[tuple[NoticeCode, int, str]]:
    return [(notice.code, notice.line, notice.key) for notice in find_notices(parse(data))]


ADDED = b"# Added by rocm-wizard\n"


def test_01_and_31_a_last_line_without_line_end_is_not_glued() -> None:
    """https://github.com/theskumar/python-dotenv/issues/360, https://github.com/MirazMac/DotEnvWriter/issues/6"""
    assert edit(b"A=1", ASR_MODEL="base") == b"A=1\n\n" + ADDED + b"ASR_MODEL=base\n"


def test_02_only_the_value_changes() -> None:
    """https://github.com/theskumar/python-dotenv/issues/140"""
    assert edit(b"X=1\nHOUR=3\nMIN=7", HOUR="5") == b"X=1\nHOUR=5\nMIN=7"


def test_03_a_commented_example_gets_its_value_directly_below() -> None:
    """https://github.com/theskumar/python-dotenv/issues/657"""
    data = b"# TTS_VOICE=amy  (default)\nZ=1\n"
    assert edit(data, TTS_VOICE="bo") == b"# TTS_VOICE=amy  (default)\nTTS_VOICE=bo\nZ=1\n"


def test_03_several_examples_get_it_below_the_last() -> None:
    data = b"#V=custom\n#V=kurisu_v3\n# prose about V = things\n\nZ=1\n"
    assert edit(data, V="x") == b"#V=custom\n#V=kurisu_v3\nV=x\n# prose about V = things\n\nZ=1\n"


def test_05_a_quote_in_the_value_can_still_be_sourced_by_a_shell() -> None:
    """https://github.com/theskumar/python-dotenv/pull/647"""
    assert edit(b"export A=x\n", A="it's ok") == b'export A="it\'s ok"\n'


def test_06_an_escape_that_eats_a_path_is_reported() -> None:
    """https://github.com/theskumar/python-dotenv/issues/429"""
    data = b'MODELS="D:\\vad\\v2"\n'
    assert codes(data) == [(NoticeCode.ESCAPE_IN_PATH, 1, "MODELS")]
    assert edit(data, MODELS="D:\\vad\\v2") == b"MODELS=D:\\vad\\v2\n"


def test_07_a_byte_order_mark_hides_no_key_and_stays() -> None:
    """https://github.com/theskumar/python-dotenv/issues/637"""
    data = b"\xef\xbb\xbfHIP_VISIBLE_DEVICES=0\n"
    assert read_values(parse(data)) == {"HIP_VISIBLE_DEVICES": "0"}
    assert codes(data) == [(NoticeCode.BYTE_ORDER_MARK, 1, "")]
    assert edit(data, HIP_VISIBLE_DEVICES="1") == b"\xef\xbb\xbfHIP_VISIBLE_DEVICES=1\n"


def test_08_a_stray_byte_does_not_drag_the_mark_into_the_key() -> None:
    """https://github.com/NousResearch/hermes-agent/issues/65123"""
    data = b"\xef\xbb\xbfA=1\nB=caf\xe9\n"
    assert edit(data, A="2") == b"\xef\xbb\xbfA=2\nB=caf\xe9\n"
    assert (NoticeCode.UNDECODABLE, 2, "") in codes(data)


def test_18_the_last_of_two_lines_is_the_one_that_counts() -> None:
    """https://github.com/HKUDS/Vibe-Trading/pull/742"""
    assert edit(b"K=1\nX=0\nK=2\n", K="3") == b"K=1\nX=0\nK=3\n"
    assert codes(b"K=1\nX=0\nK=2\n") == [(NoticeCode.DUPLICATE, 1, "K")]


def test_19_export_is_syntax_and_stays() -> None:
    """https://github.com/HKUDS/Vibe-Trading/pull/768"""
    assert edit(b"  export OPENAI_KEY = a  # mine\n", OPENAI_KEY="b") == b"  export OPENAI_KEY = b  # mine\n"


def test_20_duplicates_are_never_simplified_because_their_order_counts() -> None:
    """https://github.com/theskumar/python-dotenv/issues/197"""
    data = b"A=1\nG=${A}\nB=2\nG=${B}${G}\n"
    assert read_values(parse(data))["G"] == "21" == dotenv_read(data)["G"]
    assert edit(data, A="5") == b"A=5\nG=${A}\nB=2\nG=${B}${G}\n"


def test_21_a_hash_in_a_value_is_quoted_and_a_cut_is_foretold() -> None:
    """https://github.com/motdotla/dotenv/issues/601"""
    assert codes(b"HF_TOKEN=hf_ab#cd\n") == [(NoticeCode.NODE_CUTS, 1, "HF_TOKEN")]
    assert edit(b"HF_TOKEN=\n", HF_TOKEN="hf_ab#cd") == b'HF_TOKEN="hf_ab#cd"\n'


def test_22_a_dollar_is_reported_and_written_in_single_quotes() -> None:
    """https://github.com/docker/compose/issues/9704"""
    assert codes(b"PASS=ab$Cd\n") == [(NoticeCode.DOLLAR, 1, "PASS")]
    assert edit(b"PASS=\n", PASS="ab$Cd") == b"PASS='ab$Cd'\n"


def test_23_plain_values_lose_their_quotes() -> None:
    """https://github.com/docker/cli/issues/3630"""
    assert edit(b'VOICE="amy"\n', VOICE="bo") == b"VOICE=bo\n"


def test_24_no_export_is_added() -> None:
    """https://github.com/docker/for-linux/issues/701"""
    assert b"export" not in edit(b"# export B=1\nA=1\n", A="2", B="3", C="4").replace(b"# export", b"")


def test_25_and_26_line_ends_stay_and_mixed_ones_are_reported() -> None:
    """https://github.com/wardenenv/warden/issues/380, https://github.com/luqmanoop/sync-dotenv/issues/33"""
    assert edit(b"A=1\r\nK=old\r\nB=2\r\n", K="new") == b"A=1\r\nK=new\r\nB=2\r\n"
    assert edit(b"A=1\nK=old\nB=2\n", K="new") == b"A=1\nK=new\nB=2\n"
    assert codes(b"A=1\r\nB=2\n") == [(NoticeCode.MIXED_LINE_ENDS, 1, "")]


def test_27_and_29_a_value_of_several_lines_is_one_statement() -> None:
    """https://github.com/dotenvx/dotenvx/issues/531, https://github.com/theskumar/python-dotenv/issues/82"""
    data = b'P="-----BEGIN\r\nK=not a key\r\n-----END"\r\nK=1\r\n'
    assert read_values(parse(data)) == {"P": "-----BEGIN\nK=not a key\n-----END", "K": "1"}
    assert edit(data, K="2") == data.replace(b"K=1", b"K=2")
    assert edit(data, P="x") == b"P=x\r\nK=1\r\n"


def test_28_line_numbers_are_those_of_the_file() -> None:
    """https://github.com/motdotla/dotenv/issues/461"""
    assert codes(b'A=1\r\n\r\nB="open\r\n') == [(NoticeCode.BAD_LINE, 3, "")]


def test_30_no_backslash_stands_before_a_dollar_in_double_quotes() -> None:
    """https://github.com/dotenvx/dotenvx/issues/596"""
    assert edit(b"P=\n", P="a\\$FOO") == b"P='a\\$FOO'\n"


@pytest.mark.parametrize(
    ("before", "after"),
    [
        (b"K=old  # keep me\n", b"K=new  # keep me\n"),
        (b"   K=old\n", b"   K=new\n"),
        (b"A=1\n\n\nK=old\n", b"A=1\n\n\nK=new\n"),
        (b'K="old"# tight\n', b"K=new # tight\n"),
        (b"K\n", b"K=new\n"),
        (b"K # note\n", b"K=new # note\n"),
        (b"K# note\n", b"K=new # note\n"),
        (b"K=   # note\n", b"K=new   # note\n"),
        (b"K=#data\n", b"K=new\n"),
        (b"'K'='old'\n", b"'K'=new\n"),
        (b"K=\n", b"K=new\n"),
        (b"K=", b"K=new"),
        (b"K = \n", b"K = new\n"),
        (b"A=caf\xe9\nK=old\n", b"A=caf\xe9\nK=new\n"),
    ],
)
def test_what_set_key_would_lose_stays(before: bytes, after: bytes) -> None:
    """Each line of the table of what python-dotenv's `set_key` drops."""
    assert edit(before, K="new") == after


@pytest.mark.parametrize(
    ("before", "after"),
    [(b"K=old # note\n", b'K="" # note\n'), (b"K=old\n", b"K=\n"), (b"K # note\n", b'K="" # note\n')],
)
def test_an_empty_value_does_not_turn_the_comment_into_the_value(before: bytes, after: bytes) -> None:
    assert edit(before, K="") == after


def test_an_open_quote_is_not_closed_by_what_we_add() -> None:
    data = b'X="open\nY=1\n'
    assert edit(data, NEW="a b").endswith(b"NEW='a b'\n")
    assert read_values(parse(edit(data, NEW="a b"))) == {"Y": "1", "NEW": "a b"}


def test_17_a_file_that_is_not_there_is_created_only_by_name() -> None:
    """https://github.com/theskumar/python-dotenv/issues/480"""
    plan = make_plan(Document.missing(), {"A": "1", "B": "x y"})
    assert [action.verb for action in plan.actions] == [Verb.CREATE, Verb.CREATE]
    assert plan.creates_file
    assert render(Document.missing(), plan) == ADDED + b'A=1\nB="x y"\n'
    assert not make_plan(parse(""), {"A": "1"}).creates_file


def test_the_environment_hides_the_file() -> None:
    file = {"HIP_VISIBLE_DEVICES": "0", "TTS_MODE": "sidecar", "ASR_CONTEXT": "x", "PATHLIKE": "same"}
    layers = key_layers(
        ("HIP_VISIBLE_DEVICES", "TTS_MODE", "ASR_CONTEXT", "PATHLIKE", "TTS_DEVICE", "NOWHERE"),
        process={"HIP_VISIBLE_DEVICES": "1", "ASR_CONTEXT": "", "PATHLIKE": "same"},
        user={"tts_mode": "inprocess"},
        file=file,
        default={"TTS_DEVICE": "cuda:0", "TTS_MODE": "sidecar"},
        ignore_case=True,
    )
    assert [(row.key, row.winner, row.value, row.file_shadowed, row.same_value) for row in layers] == [
        ("HIP_VISIBLE_DEVICES", "process", "1", True, False),
        ("TTS_MODE", "user", "inprocess", True, False),
        ("ASR_CONTEXT", "process", "", True, False),  # present and empty still wins
        ("PATHLIKE", "process", "same", True, True),
        ("TTS_DEVICE", "default", "cuda:0", False, False),
        ("NOWHERE", "none", None, False, False),
    ]
    exact = key_layers(("TTS_MODE",), process={}, user={"tts_mode": "inprocess"}, file=file)
    assert exact[0].winner == "file"


def test_a_switched_off_reader_hides_the_whole_file() -> None:
    row = key_layers(("A",), process={"PYTHON_DOTENV_DISABLED": "True"}, file={"A": "1"})[0]
    assert (row.winner, row.file_shadowed) == ("none", True)


def test_comment_as_value_and_placeholders_are_reported() -> None:
    data = b"A=   # c\nB=x/YOUR_GPT.ckpt\nC=1 # fine\nD='#'\n"
    assert codes(data) == [(NoticeCode.COMMENT_AS_VALUE, 1, "A"), (NoticeCode.PLACEHOLDER, 2, "B")]

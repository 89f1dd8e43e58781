"""Nothing secret in a diff row, whatever the shape of the line that holds it."""

import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

from rocm_wizard.envfile import MASK, Choice, RowKind, diff_rows, is_secret, make_plan, mask
from rocm_wizard.envfile.errors import NotText
from rocm_wizard.envfile.secrets import fingerprint
from tests.envfile.env_support import env_bytes, parse

SECRET = "s3cr3tZq"


def shown(data: bytes | str, wanted: dict[str, str]) -> str:
    document = parse(data)
    plan = make_plan(document, wanted, choices=dict.fromkeys(wanted, Choice.WANTED))
    return "\n".join(f"{row.before}|{row.after}" for row in diff_rows(document, plan, context=None))


@pytest.mark.parametrize(
    "line",
    [
        f"HF_TOKEN={SECRET}",
        f"export openai_api_key = '{SECRET}'  # old: {SECRET}",
        f'DB_PASSWORD="first\n{SECRET}\nlast"',
        f"# MIMO_SECRET={SECRET}",
        f"#export PASS = {SECRET}",
        f'MY_KEY="{SECRET}',
        f'MY_KEY={SECRET[:2]}\'"x\nHF_TOKEN="{SECRET}" junk',
        f"URL=https://me:{SECRET}@example.org/x",
        f"X=1 # password: {SECRET}",
        f"# the api key is {SECRET}",
        f"PRIVATE_KEY=-----BEGIN KEY-----\n{SECRET * 9}\n{SECRET * 4}/+a==",
        f"sk-{SECRET}1234",
        f"K # token: {SECRET}",
        f"OTHER=sk-{SECRET}",
    ],
)
def test_a_secret_is_masked_in_every_kind_of_line(line: str) -> None:
    text = shown(f"A=1\n{line}\nB=2\n", {"NEW_TOKEN": f"{SECRET}2", "B": "3"})
    assert SECRET not in text
    assert MASK in text
    assert "B=3" in text


@given(env_bytes, st.sampled_from(("HF_TOKEN", "openai_key", "MY_PASSPHRASE", "CLIENT_SECRET")))
def test_old_and_new_secret_never_show(data: bytes, key: str) -> None:
    try:
        parse(data)
    except NotText:
        assume(False)
    text = shown(data + f"\n{key}={SECRET}\n".encode(), {key: f"{SECRET}9"})
    assert text.count(SECRET) == 0


def test_rows_side_by_side() -> None:
    document = parse("# top\nA=1\nK=old # c\nZ=9\n" + "X=1\n" * 9)
    plan = make_plan(document, {"K": "new", "N": "2"}, choices={"K": Choice.WANTED})
    rows = [
        (row.kind, row.before_line, row.before, row.after_line, row.after)
        for row in diff_rows(document, plan, context=1)
    ]
    gap = (RowKind.GAP, None, None, None, None)
    assert rows == [
        gap,
        (RowKind.SAME, 2, "A=1", 2, "A=1"),
        (RowKind.CHANGED, 3, "K=old # c", 3, "K=new # c"),
        (RowKind.SAME, 4, "Z=9", 4, "Z=9"),
        gap,
        (RowKind.SAME, 12, "X=1", 12, "X=1"),
        (RowKind.SAME, 13, "X=1", 13, "X=1"),
        (RowKind.ADDED, None, None, 14, ""),
        (RowKind.ADDED, None, None, 15, "# Added by rocm-wizard"),
        (RowKind.ADDED, None, None, 16, "N=2"),
    ]


def test_control_sequences_do_not_reach_the_terminal() -> None:
    text = shown(b"A=\x1b[2Jx\xe9\nB=\xe2\x80\xae\n", {})
    assert "A=\\x1b[2Jx\\xe9" in text
    assert "B=\\u202e" in text


def test_mask_and_fingerprint() -> None:
    assert [mask("HF_TOKEN", value) for value in ("x", "", None)] == [MASK, "", None]
    assert mask("TTS_DEVICE", "cuda:0") == "cuda:0"
    assert [is_secret(key) for key in ("WAKE_PHRASES", "TTS_MODE", "Password", "API_KEY")] == [False, False, True, True]
    assert fingerprint("a", b"salt1") == fingerprint("a", b"salt1") != fingerprint("a", b"salt2")

"""The plan's properties, judged by python-dotenv itself."""

import itertools

import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st

from rocm_wizard.envfile import Choice, Reason, Verb, diff_rows, make_plan, render, verify
from rocm_wizard.envfile.document import Document
from rocm_wizard.envfile.edits import open_quotes
from rocm_wizard.envfile.errors import BadKey, BadValue, NotText, Stale, VerificationFailed
from rocm_wizard.envfile.plan import Plan
from rocm_wizard.envfile.quoting import encode
from tests.envfile.env_support import KEYS, dotenv_bindings, dotenv_read, env_bytes, parse, wanted_maps

ALL_WANTED: dict[str, Choice] = dict.fromkeys((*KEYS, "NEW_ONE", "NEW_TWO"), Choice.WANTED)


def document_of(data: bytes) -> Document:
    try:
        return parse(data)
    except NotText:
        assume(False)
        raise


def merge(document: Document, wanted: dict[str, str]) -> tuple[Plan, bytes]:
    """Plan, render, verify. A refusal counts only where a quote that stays open meets a value that holds one."""
    plan = make_plan(document, wanted, choices=ALL_WANTED)
    rendered = render(document, plan)
    try:
        verify(document, plan, rendered)
    except VerificationFailed:
        quotes = open_quotes(document)
        assert any(quotes.intersection(value) or not value.isalnum() for value in wanted.values()) and quotes
        assume(False)
    return plan, rendered


def merged(data: bytes | str, wanted: dict[str, str], **options: object) -> str:
    document = parse(data)
    plan = make_plan(document, wanted, choices=ALL_WANTED, **options)  # type: ignore[arg-type]
    rendered = render(document, plan)
    verify(document, plan, rendered)
    return rendered.decode("utf-8", "surrogateescape")


@given(env_bytes)
def test_an_empty_plan_changes_nothing(data: bytes) -> None:
    document = document_of(data)
    assert render(document, make_plan(document, {})) == data


@settings(max_examples=500)
@given(env_bytes, wanted_maps)
def test_planned_keys_read_back_and_no_other_binding_changes(data: bytes, wanted: dict[str, str]) -> None:
    document = document_of(data)
    _, rendered = merge(document, wanted)
    after = dotenv_read(rendered)
    assert {key: after[key] for key in wanted} == wanted
    kept = [pair for pair in dotenv_bindings(data) if pair[0] not in wanted]
    assert [pair for pair in dotenv_bindings(rendered) if pair[0] not in wanted] == kept
    for key in wanted:  # shadowed duplicates stay; a new key gets one line
        before = [pair for pair in dotenv_bindings(data) if pair[0] == key]
        now = [pair for pair in dotenv_bindings(rendered) if pair[0] == key]
        assert now[:-1] == before[:-1]
        assert len(now) == max(1, len(before))


@settings(max_examples=300)
@given(env_bytes, wanted_maps)
def test_bytes_outside_the_edits_are_equal(data: bytes, wanted: dict[str, str]) -> None:
    document = document_of(data)
    plan, rendered = merge(document, wanted)
    rest, cursor = rendered[3 * document.bom :], 0
    for edit in plan.edits:
        untouched = document.text[cursor : edit.start].encode("utf-8", "surrogateescape")
        assert rest.startswith(untouched)
        rest = rest[len(untouched) :]
        assert rest.startswith(edit.text.encode())
        rest = rest[len(edit.text.encode()) :]
        cursor = edit.end
    assert rest == document.text[cursor:].encode("utf-8", "surrogateescape")


@settings(max_examples=300)
@given(env_bytes, wanted_maps)
def test_a_second_merge_changes_nothing(data: bytes, wanted: dict[str, str]) -> None:
    document = document_of(data)
    once = parse(merge(document, wanted)[1])
    again = make_plan(once, wanted)
    assert [action.verb for action in again.actions] == [Verb.KEEP] * len(wanted)
    assert render(once, again) == once.data


@settings(max_examples=200)
@given(env_bytes, wanted_maps)
def test_the_whole_diff_shows_every_statement_of_both_files(data: bytes, wanted: dict[str, str]) -> None:
    document = document_of(data)
    plan, rendered = merge(document, wanted)
    after = parse(rendered)
    rows = diff_rows(document, plan, context=None)
    for column, side in (("before_line", document), ("after_line", after)):
        numbers = [getattr(row, column) for row in rows if getattr(row, column) is not None]
        assert numbers == sorted(set(numbers))
        # A masked statement of several lines is one row, so the first line of each statement is what must be there.
        assert {side.line(statement.start) for statement in side.statements} <= set(numbers)


@pytest.mark.parametrize(
    ("newline", "bom", "final", "stray"),
    list(itertools.product(("\n", "\r\n", "\r", "mixed"), (b"", b"\xef\xbb\xbf"), (True, False), (b"", b"caf\xe9"))),
)
def test_every_style_survives(newline: str, bom: bytes, final: bool, stray: bytes) -> None:
    lines = [
        b"# top",
        b"A=1",
        b"export K=old  # keep me",
        b"X='" + stray + b"'",
        b"",
        b"# TTS_VOICE=amy  (default)",
        b"Z=9",
    ]
    ends = [b"\n", b"\r\n", b"\n", b"\r", b"\n", b"\n", b"\r\n"] if newline == "mixed" else [newline.encode()] * 7
    if not final:
        ends[-1] = b""
    style = b"\n" if newline == "mixed" else newline.encode()
    data = bom + b"".join(line + end for line, end in zip(lines, ends, strict=True))
    document = parse(data)
    plan = make_plan(document, {"K": "new", "TTS_VOICE": "bo", "NEW": "x y"}, choices=ALL_WANTED)
    rendered = render(document, plan)
    verify(document, plan, rendered)
    example = b"# TTS_VOICE=amy  (default)" + ends[5]
    expected = data.replace(b"K=old", b"K=new").replace(example, example + b"TTS_VOICE=bo" + style)
    expected += (b"" if final else style) + style + b"# Added by rocm-wizard" + style + b'NEW="x y"' + style
    assert rendered == expected


def test_three_way_rule() -> None:
    text = (
        "SAME=w\nEMPTY=\nBARE\nDEFAULT=d\nSTAND_IN=x/YOUR_GPT.ckpt\nMINE=m\nHELD=h\nNOTE=   # c\nREF=${SAME}\n# EX=1\n"
    )
    wanted: dict[str, str] = dict.fromkeys(
        ("SAME", "EMPTY", "BARE", "DEFAULT", "STAND_IN", "MINE", "HELD", "NOTE", "REF", "EX", "NEW"), "w"
    )
    plan = make_plan(parse(text), wanted, template_defaults={"DEFAULT": "d", "MINE": "d"}, keep=["HELD"])
    assert {action.key: (action.verb, action.reason) for action in plan.actions} == {
        "SAME": (Verb.KEEP, Reason.ALREADY_SET),
        "EMPTY": (Verb.SET, Reason.WAS_EMPTY),
        "BARE": (Verb.SET, Reason.WAS_EMPTY),
        "DEFAULT": (Verb.SET, Reason.WAS_DEFAULT),
        "STAND_IN": (Verb.SET, Reason.WAS_PLACEHOLDER),
        "MINE": (Verb.CONFLICT, Reason.CHANGED_BY_USER),
        "HELD": (Verb.KEEP, Reason.ASKED_TO_KEEP),
        "NOTE": (Verb.SET, Reason.WAS_EMPTY),
        "REF": (Verb.KEEP, Reason.ALREADY_SET),
        "EX": (Verb.UNCOMMENT, Reason.COMMENTED_EXAMPLE),
        "NEW": (Verb.APPEND, Reason.ABSENT),
    }
    assert [action.key for action in plan.conflicts] == ["MINE"]
    chosen = make_plan(parse(text), {"MINE": "w"}, choices={"MINE": Choice.WANTED}).actions[0]
    assert (chosen.verb, chosen.reason, chosen.old, chosen.new) == (Verb.SET, Reason.CHOSE_WANTED, "m", "w")
    stays = make_plan(parse(text), {"MINE": "w"}, choices={"MINE": Choice.CURRENT}).actions[0]
    assert (stays.verb, stays.reason, stays.edit) == (Verb.KEEP, Reason.CHOSE_CURRENT, None)


def test_a_conflict_without_a_choice_leaves_its_line() -> None:
    document = parse("MINE=m\nEMPTY=\n")
    plan = make_plan(document, {"MINE": "w", "EMPTY": "w"})
    assert render(document, plan) == b"MINE=m\nEMPTY=w\n"


def test_placeholders_are_left_out_and_listed() -> None:
    wanted = {
        "TTS_GPT_MODEL_PATH": "weights/YOUR_GPT.ckpt",
        "TTS_REF_TEXT_JA": "ここに参照音声と一致する文章を入力してください。",
        "TTS_MODE": "sidecar",
    }
    plan = make_plan(parse(""), wanted)
    assert plan.placeholders == ("TTS_GPT_MODEL_PATH", "TTS_REF_TEXT_JA")
    assert [action.key for action in plan.actions] == ["TTS_MODE"]


def test_appended_keys_share_one_marked_block() -> None:
    first = merged("A=1\n", {"NEW_ONE": "1"})
    assert first == "A=1\n\n# Added by rocm-wizard\nNEW_ONE=1\n"
    second = merged(first + "\n# mine\nB=2", {"NEW_TWO": "2"})
    assert second == "A=1\n\n# Added by rocm-wizard\nNEW_ONE=1\nNEW_TWO=2\n\n# mine\nB=2"


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("\nA=1\r", "\nA=1\r\r# Added by rocm-wizard\nNEW_ONE=1\n"),
        ("# NEW_ONE=\r\n\r\r\n", "# NEW_ONE=\r\nNEW_ONE=1\r\n\r\r\n"),
        ("# NEW_ONE=\r\r\r\n\n", "# NEW_ONE=\rNEW_ONE=1\r\r\r\n\n"),
        ("B=\r# NEW_ONE=\n\nA=1\r\r", "B=\r# NEW_ONE=\nNEW_ONE=1\r\n\nA=1\r\r"),
    ],
)
def test_new_lines_do_not_merge_with_mixed_line_ends(text: str, expected: str) -> None:
    assert merged(text, {"NEW_ONE": "1"}) == expected


def test_dependents_and_shadowed_lines_are_named() -> None:
    action = make_plan(parse("A=1\nG=${A}\nA=2\nH=x${A:-3}\n"), {"A": "4"}, choices=ALL_WANTED).actions[0]
    assert (action.line, action.shadowed_lines, action.dependents) == (3, (1,), ("G", "H"))


@pytest.mark.parametrize(
    ("key", "named"),
    [("GPU ID", "space (U+0020)"), ("a=b", "equals sign (U+003D)"), ("", "empty"), ("1A", "digit 1"),
     ("ASR-X", "U+002D"), ("A\n", "line feed (U+000A)"), ("モデル", "U+30E2")],
)  # fmt: skip
def test_bad_keys_are_refused_by_character(key: str, named: str) -> None:
    with pytest.raises(BadKey) as refused:
        make_plan(parse(""), {"GOOD": "1", key: "x"})
    assert named in str(refused.value)
    assert str(refused.value).startswith(".env: ")


@pytest.mark.parametrize(
    ("value", "named"),
    [("top\nsecret", "line feed (U+000A)"), ("a\x00", "NUL (U+0000)"), ("\x1b[2J", "escape (U+001B)"), ("a\tb", "tab"),
     ("\x85", "U+0085"), ("\udce9", "U+DCE9"), ("pa${HOME}", "expanded")],
)  # fmt: skip
def test_bad_values_are_refused_by_character_and_never_shown(value: str, named: str) -> None:
    with pytest.raises(BadValue) as refused:
        make_plan(parse(""), {"HF_TOKEN": value})
    assert named in str(refused.value)
    assert "secret" not in str(refused.value)


@pytest.mark.parametrize(
    ("value", "text", "disagree"),
    [
        ("C:\\models\\asr", "C:\\models\\asr", ("shell",)),
        ("cuda:0", "cuda:0", ()),
        ("日文", "日文", ()),
        ("it's ok", '"it\'s ok"', ()),
        ('say "hi"', "'say \"hi\"'", ()),
        ("hf_ab#cd", '"hf_ab#cd"', ()),
        ("ab$Cd", "'ab$Cd'", ()),
        ("C:\\Program Files\\x", "'C:\\Program Files\\x'", ()),
        ("\\\\server\\my share", "\\\\server\\my share", ("shell",)),
        ("C:\\my models\\", "C:\\my models\\", ("shell",)),
        ("' and \" #", '"\' and \\" #"', ("node",)),
        ("", "", ()),
    ],
)
def test_values_are_written_in_the_form_that_most_readers_share(
    value: str, text: str, disagree: tuple[str, ...]
) -> None:
    encoded = encode(value)
    assert (encoded.text, encoded.disagree) == (text, disagree)


@given(st.data())
def test_a_plan_is_bound_to_its_document(data: st.DataObject) -> None:
    plan = make_plan(parse("A=1\n"), {"B": "2"})
    other = data.draw(st.sampled_from(("A=1", "", "A=2\n", "\ufeffA=1\n")))
    with pytest.raises(Stale):
        render(parse(other), plan)


def test_verification_names_the_key_that_would_be_lost() -> None:
    document = parse("A=1\nB=2\n")
    plan = make_plan(document, {"NEW": "x"})
    for broken, key in ((b"A=1\nNEW=x\n", "B"), (b"A=1\nB=2\n", "NEW"), (b"A=1\nB=2\nNEW=y\n", "NEW")):
        with pytest.raises(VerificationFailed) as refused:
            verify(document, plan, broken)
        assert refused.value.key == key
        assert key in str(refused.value)


def test_neither_plan_nor_action_shows_a_value_in_its_repr() -> None:
    plan: Plan = make_plan(parse("HF_TOKEN=hf_old\n"), {"HF_TOKEN": "hf_new", "X": "y"}, choices=ALL_WANTED)
    assert "hf_old" not in repr(plan)
    assert "hf_new" not in repr(plan)

"""`how_to_cut`: where a text is cut, and that nothing is lost on the way."""

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from rocm_wizard.speech.gpt_sovits.text.split import MOST_CHARACTERS, split_text
from rocm_wizard.speech.tts_request import CUTS
from tests.speech.gpt_sovits.text.bench import ANY_TEXT

_SENTENCES = "第一句话来了。第二句话来了！第三句话来了？第四句话来了。第五句话来了。第六句话来了。"


@pytest.mark.parametrize(
    ("cut", "text", "items"),
    [
        ("不切", "今天很好。明天也好。\n后天呢，不知道。", ["今天很好。明天也好。", "后天呢，不知道。"]),
        (
            "凑四句一切",
            _SENTENCES,
            ["第一句话来了。第二句话来了！第三句话来了？第四句话来了。", "第五句话来了。第六句话来了。"],
        ),
        ("凑50字一切", _SENTENCES, [_SENTENCES]),
        ("凑50字一切", _SENTENCES * 3, [_SENTENCES + _SENTENCES[:14], _SENTENCES[14:] + _SENTENCES]),
        ("按中文句号。切", "今天，很好！明天也好。后天不好。", ["今天，很好！明天也好。", "后天不好。"]),
        ("按英文句号.切", "It is 3.14 here. And you? Done.", ["It is 3.14 here.", "And you? Done."]),
        ("按标点符号切", "おはよう、牧瀬さん。今日は3.5度です。", ["おはよう、", "牧瀬さん。", "今日は3.5度です。"]),
        ("按标点符号切", "彼は「もう帰ります。」と言った。", ["彼は「もう帰ります。」", "と言った。"]),
        ("按标点符号切", "嗯，好，我们现在就走。对。", ["嗯，好，我们现在就走。对。"]),
        ("按标点符号切", "……！？\n。", []),
        ("按标点符号切", "OK\nLet us go home", ["OK\nLet us go home"]),
        ("按标点符号切", "はい\r\n元気です", ["はい\n元気です"]),
        ("不切", "Hello" + "." * 600, ["Hello" + "." * 505]),
    ],
)
def test_where_a_text_is_cut(cut: str, text: str, items: list[str]) -> None:
    assert split_text(text, cut) == items


@settings(max_examples=200, deadline=None)
@given(ANY_TEXT, st.sampled_from(CUTS))
def test_no_character_is_lost_and_every_item_can_be_spoken(text: str, cut: str) -> None:
    items = split_text(text, cut)
    assert all(any(character.isalnum() for character in item) and item == item.strip() for item in items)
    if any(character.isalnum() for character in text):
        assert "".join("".join(items).split()) == "".join(text.split())
    else:
        assert items == []


@settings(max_examples=20, deadline=None)
@given(st.text("字句，。 ab", min_size=MOST_CHARACTERS, max_size=1700), st.sampled_from(CUTS))
def test_no_item_is_longer_than_bert_reads(text: str, cut: str) -> None:
    items = split_text(text, cut)
    assert all(len(item) <= MOST_CHARACTERS for item in items)
    assert [*filter(str.isalnum, "".join(items))] == [*filter(str.isalnum, text)]

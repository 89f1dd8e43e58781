"""The front end as a whole: languages inside one text, short texts, BERT columns, and no network."""

import json
import subprocess
import sys
from pathlib import Path

import pytest
import torch
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from rocm_wizard.speech.gpt_sovits.text.front_end import FrontEnd, Phones
from rocm_wizard.speech.gpt_sovits.text.languages import MAIN, spans
from rocm_wizard.speech.gpt_sovits.text.symbols import symbol_ids
from rocm_wizard.speech.serve import LoadFailure, RequestError
from tests.speech.gpt_sovits.text.bench import ANY_TEXT, NumberedCharacters


@pytest.fixture(scope="module")
def front_end() -> FrontEnd:
    return FrontEnd(None, NumberedCharacters())


def _symbols(phones: Phones) -> str:
    names = list(symbol_ids())
    return " ".join(names[number] for number in phones.ids)


@pytest.mark.parametrize(
    ("language", "text", "expected"),
    [
        ("all_ja", "今日はRX 7900 XTで動かすよ。", ["ja:今日は", "en:RX 7900 XT", "ja:で動かすよ。"]),
        ("ja", "Windows 11を使う。", ["en:Windows ", "ja:11を使う。"]),
        ("all_ja", "5kmのマラソンと16GBのメモリ", ["ja:5kmのマラソンと16GBのメモリ"]),
        ("all_zh", "型号是RX 7900 XT，很快。", ["zh:型号是", "en:RX 7900 XT", "zh:，很快。"]),
        ("en", "All of it, 東京 too.", ["en:All of it, 東京 too."]),
        ("auto", "It is 5 km away.", ["en:It is 5 km away."]),
        (
            "auto",
            "你好，こんにちは, hello there. 今天天气很好。今日は東京、大阪に行く。",
            ["zh:你好，", "ja:こんにちは, ", "en:hello there. ", "zh:今天天气很好。", "ja:今日は東京、大阪に行く。"],
        ),
        ("auto", "我们去吃ラーメン吧", ["zh:我们去吃", "ja:ラーメン", "zh:吧"]),
        ("auto", "東京駅", ["ja:東京駅"]),
        ("auto", "中国人", ["zh:中国人"]),
        ("auto", "123", ["zh:123"]),
    ],
)
def test_which_stretch_is_which_language(language: str, text: str, expected: list[str]) -> None:
    assert [f"{kind}:{stretch}" for kind, stretch in spans(text, language)] == expected


@settings(max_examples=200, deadline=None)
@given(ANY_TEXT, st.sampled_from(sorted(MAIN)))
def test_the_stretches_are_the_text(text: str, language: str) -> None:
    try:
        found = spans(text, language)
    except RequestError:
        assert any("\u1100" <= character <= "\ud7af" for character in text)
        return
    assert "".join(stretch for _, stretch in found) == text


@pytest.mark.parametrize("language", ["ko", "all_ko", "yue", "all_yue", "auto_yue", "", "日文"])
def test_other_labels_are_refused(front_end: FrontEnd, language: str) -> None:
    with pytest.raises(RequestError, match="Japanese, English and Chinese"):
        front_end.phones("何か", language)


def test_korean_inside_an_automatic_text_is_refused(front_end: FrontEnd) -> None:
    with pytest.raises(RequestError, match="Korean"):
        front_end.phones("hello 안녕하세요", "auto")


@pytest.mark.parametrize(("text", "language"), [("……", "all_ja"), ("مرحبا", "all_zh"), ("…", "en"), ("", "en")])
def test_a_text_without_sound_is_refused(front_end: FrontEnd, text: str, language: str) -> None:
    with pytest.raises(RequestError, match="can be spoken"):
        front_end.phones(text, language)


@pytest.mark.parametrize(
    ("text", "language", "symbols"),
    [
        # A closing mark where there is none; a leading `.` below six phonemes; `,` before very short English.
        ("ありがとうございます", "all_ja", "a [ r i ] g a t o o UNK g o [ z a i m a ] s u ."),
        ("はい", "all_ja", ". h a ] i ."),
        ("好", "all_zh", ". h ao3 ."),
        ("Hi", "en", ". HH AY1 ."),
        ("I", "en", ", . AY1 ."),
        ("我用GPU。", "all_zh", "w o3 y ong4 JH IY2 P IY2 Y UW1 ."),
        ("「終わり。」", "ja", "o [ w a r i ."),
        ("Good morning.\nHow are you", "en", "G UH1 D M AO1 R N IH0 NG . HH AW1 AA1 R Y UW1 ."),
        ("How are you?\n\nGood morning", "en", "HH AW1 AA1 R Y UW1 ? G UH1 D M AO1 R N IH0 NG ."),
        ("はい\n元気です。", "all_ja", "h a ] i . g e ] N k i d e s u ."),
    ],
)
def test_marks_that_the_models_expect(front_end: FrontEnd, text: str, language: str, symbols: str) -> None:
    assert _symbols(front_end.phones(text, language)) == symbols


def test_each_phoneme_of_a_character_has_that_character_s_features(front_end: FrontEnd) -> None:
    found = front_end.phones("今天，好吗？", "all_zh")
    assert found.normalised == "今天,好吗?"
    assert found.word_to_phones == [2, 2, 1, 2, 2, 1]
    assert found.bert[0].tolist() == [1, 1, 2, 2, 3, 4, 4, 5, 5, 6]


def test_only_chinese_has_features(front_end: FrontEnd) -> None:
    found = front_end.phones("我用GPU。", "all_zh")
    assert found.word_to_phones is None
    assert found.bert.shape == (1024, len(found.ids))
    # 我 用 and six phonemes of English with the closing mark.
    assert found.bert[0].tolist() == [1, 1, 2, 2, *[0] * 6, 0]
    assert not front_end.phones("今日は晴れです", "all_ja").bert.any()


def test_chinese_needs_a_bert_and_one_of_the_decoder_s_width() -> None:
    without = FrontEnd(None, None, bert_width=32)
    with pytest.raises(RequestError, match="chinese-roberta"):
        without.phones("你好，世界。", "all_zh")
    assert without.phones("Hello there.", "en").bert.shape[0] == 32
    with pytest.raises(LoadFailure, match="1024 features"):
        FrontEnd(None, NumberedCharacters(), bert_width=32)


def test_the_note_says_that_cmudict_is_missing(tmp_path: Path, front_end: FrontEnd) -> None:
    assert "cmudict" in front_end.note
    (tmp_path / "corpora").mkdir()
    (tmp_path / "corpora" / "cmudict.zip").write_bytes(b"")
    assert FrontEnd(tmp_path, None).note == ""


@settings(max_examples=80, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(text=ANY_TEXT, language=st.sampled_from(sorted(MAIN)))
def test_any_text_gives_numbers_of_the_symbol_set(front_end: FrontEnd, text: str, language: str) -> None:
    try:
        found = front_end.phones(text, language)
    except RequestError:
        return
    assert all(0 <= number < 732 for number in found.ids)
    assert found.bert.shape == (1024, len(found.ids))
    if found.word_to_phones is not None:
        assert sum(found.word_to_phones) == len(found.ids)
        assert len(found.word_to_phones) == len(found.normalised)


_OFFLINE = """
import json, sys
attempts = []
def watch(event, details):
    if event.startswith(("socket.connect", "socket.getaddrinfo", "socket.gethostby", "urllib.Request")):
        attempts.append(event)
        raise OSError("no network in this test")
sys.addaudithook(watch)
from rocm_wizard.speech.gpt_sovits.text.front_end import FrontEnd
from tests.speech.gpt_sovits.text.bench import NumberedCharacters
front = FrontEnd(None, NumberedCharacters())
counts = [len(front.phones(text, "auto").ids) for text in ("Kurisu spoke.", "今日は。", "你们好吗？")]
loaded = sorted({"nltk", "g2p_en"} & set(sys.modules))
print(json.dumps({"attempts": attempts, "counts": counts, "loaded": loaded}))
"""


def test_no_network_is_even_asked_for() -> None:
    ended = subprocess.run(
        [sys.executable, "-W", "ignore", "-c", _OFFLINE], capture_output=True, encoding="utf-8", check=True, timeout=60
    )
    said = json.loads(ended.stdout.splitlines()[-1])
    assert said == {"attempts": [], "counts": [said["counts"][0], 7, 9], "loaded": []}
    assert said["counts"][0] > 9


def test_features_stay_on_the_cpu_in_float32(front_end: FrontEnd) -> None:
    assert front_end.phones("你好。", "zh").bert.dtype == torch.float32

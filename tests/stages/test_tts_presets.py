"""What the host asks for, by the length of a sentence; and how long a text can take."""

import sys
from pathlib import Path

import pytest

from rocm_wizard.machine.target import Target
from rocm_wizard.stages.tts_presets import host_block_seconds, main_plan, plausible_seconds, preset_plan, spoken_units
from rocm_wizard.stages.utterance import default_text
from tests.stages.bench import Bench


@pytest.mark.parametrize(
    ("characters", "mel_frames"), [(3, 38), (8, 38), (11, 51), (16, 71), (20, 72), (24, 75), (200, 75)]
)
def test_the_hosts_block_lengths(characters: int, mel_frames: int) -> None:
    assert round(host_block_seconds(characters, 1.067) * 93.75) == mel_frames


def test_the_first_sentence_is_asked_for_in_a_hurry(bench: Bench) -> None:
    plan = preset_plan(bench.session, "first")
    request = plan.request(bench.session)
    assert request["speed"] == 1.067
    assert request["options"]["sample_steps"] == 4
    assert request["options"]["how_to_cut"] == "不切"
    assert (request["options"]["pause_second"], request["options"]["text_language"]) == (0.41, "英文")
    assert request["options"]["max_sec_override"] == 8.0
    assert request["chunk_size_seconds"] == 0.8


def test_a_short_first_sentence_may_not_become_long(bench: Bench) -> None:
    bench.options(tts_language="zh")
    request = preset_plan(bench.session, "first").request(bench.session)
    assert request["options"]["max_sec_override"] == 3.75, "a quarter of a second for each of 15 characters"
    assert request["chunk_size_seconds"] == pytest.approx((0.11 * 15 + 0.25) / 1.067 / 2.5)


@pytest.mark.parametrize(("text", "cut", "steps"), [("x" * 44, "不切", 16), ("x" * 45, "凑四句一切", 32)])
def test_later_sentences_by_their_length(bench: Bench, text: str, cut: str, steps: int) -> None:
    bench.options(text=text, chunk_seconds=0.6)
    plan = main_plan(bench.session)
    assert (plan.options["how_to_cut"], plan.options["sample_steps"], plan.speed) == (cut, steps, 0.97)
    assert (plan.chunk_seconds, plan.known) == (0.6, False)
    bench.session.profile = bench.session.book.get("local-rocm")
    assert main_plan(bench.session).options["sample_steps"] == 16


def test_a_blank_text_is_none(bench: Bench) -> None:
    bench.options(text="  \n")
    assert main_plan(bench.session).known
    assert main_plan(bench.session).text.startswith("This computer")


@pytest.mark.parametrize(
    ("text", "language", "seconds"),
    [
        ("He was not an ill disposed young man, unless to be rather cold hearted is to be ill disposed.", "en", 6.0),
        ("Yes.", "en", 0.4),
        ("こんばんは、また声が聞けてうれしいです。", "ja", 2.8),
        ("晚上好，很高兴又听到你的声音。", "zh", 3.0),
        ("2026年", "zh", 2.0),
    ],
)
def test_usual_speech_is_plausible_and_a_fraction_or_a_multiple_is_not(
    text: str, language: str, seconds: float
) -> None:
    for speed in (0.97, 1.067):
        shortest, longest = plausible_seconds(text, language, speed)
        assert shortest < seconds < longest
        assert seconds * 8 > longest
        assert seconds / 20 < shortest


@pytest.mark.parametrize(
    ("text", "language"), [("777", "en"), ("1234567890", "en"), ("777777", "ja"), ("777777", "zh")]
)
def test_a_number_may_be_said_digit_by_digit_or_as_one(text: str, language: str) -> None:
    shortest, longest = plausible_seconds(text, language, 1.0)
    assert shortest < 0.25 * len(text), "said fast, digit by digit"
    assert longest > 0.6 * len(text), "seven hundred and seventy-seven takes 1.8 s"


@pytest.mark.parametrize(
    ("text", "language", "said", "spelt"),
    [
        ("NASA USB GPU CPU HTML HTTP", "en", 2.5, 8.0),
        ("GPUs CPUs APIs LLMs NPUs TPUs", "en", 2.0, 6.0),
        ("HTML HTTP CPU GPU USB", "ja", 2.0, 5.5),
        ("HTML HTTP CPU GPU USB", "zh", 2.0, 6.0),
    ],
)
def test_an_initialism_may_be_spelt_out_or_read_as_a_word(text: str, language: str, said: float, spelt: float) -> None:
    shortest, longest = plausible_seconds(text, language, 1.0)
    assert shortest < said and spelt < longest < 3 * spelt


def test_units() -> None:
    assert spoken_units("きょう、行く。", "ja", 2, 1) == 5.0, "kyo-u-yu-ku by the rule: small letters none, a kanji two"
    assert spoken_units("我有3本书。", "zh", 2, 1) == 6.0
    assert spoken_units("a b 1", "en", 2, 1) == 4.0
    assert spoken_units("A USB-Cable, NASA", "en", 2, 3) == 29.0


def test_a_checkouts_voice_is_asked_with_its_own_reference(bench: Bench, monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("TTS_REF_AUDIO_JA", "TTS_REF_TEXT_JA"):
        monkeypatch.delenv(name, raising=False)
    checkout = bench.folder / "检出"
    checkout.mkdir()
    (checkout / ".env").write_text('TTS_REF_AUDIO_JA=assets/ref.wav\nTTS_REF_TEXT_JA="こんにちは"\n', encoding="utf-8")
    bench.session.target = Target(Path(sys.executable), checkout)
    bench.options(tts_engine="checkout", tts_language="ja")
    request = preset_plan(bench.session, "first").request(bench.session)
    assert (request["reference_audio"], request["reference_text"]) == (
        str(checkout / "assets" / "ref.wav"),
        "こんにちは",
    )
    assert request["options"]["prompt_language"] == "日文"
    bench.options(reference=bench.folder / "mine.wav", reference_text="mine")
    request = preset_plan(bench.session, "first").request(bench.session)
    assert (request["reference_audio"], request["reference_text"]) == (str(bench.folder / "mine.wav"), "mine")
    bench.options(reference=None, tts_engine="embedded")
    assert "reference_audio" not in preset_plan(bench.session, "first").request(bench.session)


@pytest.mark.parametrize(
    ("text", "language", "reference"),
    [
        ("", "ja", None),
        ("TTS_REF_AUDIO_JA=a.wav\n", "ja", "a.wav"),
        ("TTS_OUTPUT_LANGUAGE=日文\nTTS_REF_AUDIO_JA=a.wav\n", "ja", "a.wav"),
        ("TTS_OUTPUT_LANGUAGE=英文\nTTS_REF_AUDIO_JA=a.wav\nTTS_REF_AUDIO_EN=b.wav\n", "en", "b.wav"),
        ("TTS_OUTPUT_LANGUAGE=英文\n", "en", "assets/audio/reference/english_recording.wav"),
        ("TTS_OUTPUT_LANGUAGE=klingon\n", "ja", None),
    ],
)
def test_a_checkout_speaks_as_its_settings_say(
    bench: Bench, monkeypatch: pytest.MonkeyPatch, text: str, language: str, reference: str | None
) -> None:
    for name in ("TTS_REF_AUDIO_JA", "TTS_REF_AUDIO_EN", "TTS_OUTPUT_LANGUAGE"):
        monkeypatch.delenv(name, raising=False)
    checkout = bench.folder / "检出"
    checkout.mkdir()
    (checkout / ".env").write_text(text, encoding="utf-8")
    bench.session.target = Target(Path(sys.executable), checkout)
    bench.options(tts_engine="checkout")
    request = preset_plan(bench.session, "first").request(bench.session)
    assert request["language"] == language
    assert request["text"] == default_text(language, "first")
    wanted = None if reference is None else str(checkout / reference)
    assert request.get("reference_audio") == wanted
    bench.options(tts_engine="embedded")
    assert preset_plan(bench.session, "first").request(bench.session)["language"] == "en"


def test_the_host_knows_nothing_of_the_options(bench: Bench, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("TTS_OUTPUT_LANGUAGE", "英文")
    monkeypatch.setenv("TTS_REF_AUDIO_EN", "theirs.wav")
    bench.session.target = Target(Path(sys.executable), bench.folder)
    mine = bench.folder / "mine.wav"
    bench.options(tts_engine="checkout", tts_language="ja", reference=mine, reference_text="mine", text="mine")
    host = bench.session.as_the_host()
    request = preset_plan(host, "first").request(host)
    assert (request["language"], request["reference_audio"], request["reference_text"]) == (
        "en",
        str(bench.folder / "theirs.wav"),
        "",
    )
    assert preset_plan(bench.session, "first").request(bench.session)["reference_audio"] == str(mine)

"""What the embedded voice says, the embedded recogniser hears."""

import re

import jiwer
import pytest

from rocm_wizard.speech.embedded_tts import MOST_PHONEMES, shortened
from tests.speech.speech_child import Child, payload, samples_of

SENTENCES = [
    "The quick brown fox jumps over the lazy dog.",
    "Please bring me a cup of hot coffee in the morning.",
    "We walked along the river until the sun went down.",
]


@pytest.mark.slow
@pytest.mark.parametrize("sentence", SENTENCES)
def test_english_is_understood(asr: Child, tts: Child, sentence: str) -> None:
    chunks, _ = tts.speak(text=sentence, language="en", chunk_size_seconds=0.4)
    heard = asr.ask(audio_b64=payload(samples_of(chunks)), sample_rate=24_000, language="English")
    words = re.sub(r"[^a-z ]", "", heard["text"].lower())
    assert jiwer.wer(re.sub(r"[^a-z ]", "", sentence.lower()), words) <= 0.1


def test_japanese_is_understood(asr: Child, tts: Child) -> None:
    chunks, _ = tts.speak("infer", text="今日はとてもいい天気ですね。", language="ja")
    heard = asr.ask(audio_b64=payload(samples_of(chunks)), sample_rate=48_000, language=None)
    assert heard["language"] == "Japanese"
    assert "天気" in heard["text"]


def test_long_phonemes_are_cut_at_clauses_then_words_then_anywhere() -> None:
    clauses = ", ".join(["a" * 150] * 4)
    assert [len(piece) for piece in shortened(clauses)] == [303, 302]
    words = " ".join(["b" * 30] * 40)
    assert max(map(len, shortened(words))) <= MOST_PHONEMES
    assert " ".join(shortened(words)) == words
    assert "".join(shortened("c" * 1_000)) == "c" * 1_000
    assert max(map(len, shortened("c" * 1_000))) == MOST_PHONEMES

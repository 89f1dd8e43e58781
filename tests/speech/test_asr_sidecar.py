"""The ASR sidecar as a child process, over its pipes."""

import json
import re
from pathlib import Path

import jiwer
import numpy as np
import pytest
import soundfile

from rocm_wizard.assets import asset
from rocm_wizard.stages.recordings import bundled_recording
from tests.speech.speech_child import Child, payload

RATE = 16_000


def spoken(text: str) -> str:
    """Words only, as the transcripts have them."""
    return re.sub(r"[^a-z ]", "", text.lower().replace("mr.", "mister").replace("-", " "))


@pytest.mark.parametrize("recording_id", ["sense-and-sensibility-0870", "sense-and-sensibility-0880"])
def test_recordings_are_read_without_a_wrong_word(asr: Child, recording_id: str) -> None:
    recording = bundled_recording(recording_id)
    samples, rate = soundfile.read(recording.file, dtype="float32")
    heard = asr.ask(audio_b64=payload(samples), sample_rate=rate, language=recording.language)
    assert heard["type"] == "result"
    assert recording.transcript is not None
    assert jiwer.wer(recording.transcript, spoken(heard["text"])) == 0.0
    assert heard["text"] == heard["text"].strip()
    assert heard["audio_seconds"] == pytest.approx(len(samples) / RATE)
    assert heard["speech_ratio"] > 0.5


def test_another_sentence_is_not_taken_for_the_first(asr: Child) -> None:
    first, other = bundled_recording("sense-and-sensibility-0870"), bundled_recording("sense-and-sensibility-0880")
    samples, _ = soundfile.read(other.file, dtype="float32")
    heard = asr.ask(audio_b64=payload(samples), language="English")
    assert first.transcript is not None
    assert jiwer.wer(first.transcript, spoken(heard["text"])) > 0.8


@pytest.mark.parametrize("language", [None, ""])
def test_language_is_detected(asr: Child, language: str | None) -> None:
    samples, _ = soundfile.read(asset("audio", "en-sense-and-sensibility-0880.wav"), dtype="float32")
    heard = asr.ask(audio_b64=payload(samples), language=language, request_id=7)
    assert (heard["language"], heard["request_id"]) == ("English", 7)
    assert spoken(heard["text"]) == "he was not an ill disposed young man"


def test_same_clip_gives_the_same_text_at_another_rate(asr: Child) -> None:
    import torch
    from torchaudio.functional import resample

    samples, _ = soundfile.read(asset("audio", "en-sense-and-sensibility-0880.wav"), dtype="float32")
    faster = resample(torch.from_numpy(samples), RATE, 48_000).numpy()
    heard = asr.ask(audio_b64=payload(faster), sample_rate=48_000, language="English")
    assert spoken(heard["text"]) == "he was not an ill disposed young man"
    assert heard["audio_seconds"] == pytest.approx(2.99)


@pytest.mark.parametrize(
    "samples",
    [
        np.zeros(RATE * 2),
        np.random.default_rng(1).standard_normal(RATE * 2) * 1e-3,
        np.random.default_rng(2).standard_normal(RATE * 2) * 0.1,
        0.5 * np.sin(2 * np.pi * 440 * np.arange(RATE * 2) / RATE),
    ],
    ids=["silence", "noise -60 dBFS", "noise -20 dBFS", "440 Hz"],
)
def test_what_is_no_speech_gives_no_words(asr: Child, samples: np.ndarray) -> None:
    heard = asr.ask(audio_b64=payload(samples), language="English")
    assert (heard["type"], heard["text"], heard["speech_ratio"], heard["tokens"]) == ("result", "", 0.0, 0)


@pytest.mark.parametrize(
    ("line", "expected"),
    [
        (b"{", "not JSON"),
        (b'"text"', "is str"),
        (b"\xff\xfe", "not JSON"),
        (b'{"audio_b64": NaN}', "NaN is not a JSON number"),
        (b"[" * 100_000, "not JSON"),
        (b"{}", "audio_b64 is missing"),
        (b'{"audio_b64": "AAAA!AAA"}', "strict base64"),
        ('{"audio_b64": "ＡＡＡＡ"}'.encode(), "strict base64"),
        (b'{"audio_b64": "AAAAAAA="}', "5 bytes"),
        (b'{"audio_b64": ""}', "no samples"),
        (json.dumps({"audio_b64": payload([0.0, np.nan, np.inf])}).encode(), "2 samples that are NaN or infinite"),
        (json.dumps({"audio_b64": payload(np.zeros(RATE * 30 + 1))}).encode(), "at most 30 s"),
        (json.dumps({"audio_b64": payload([0.0]), "sample_rate": 44101}).encode(), "sample_rate 44101"),
        (json.dumps({"audio_b64": payload([0.0]), "sample_rate": True}).encode(), "sample_rate True"),
        (json.dumps({"audio_b64": payload([0.0]), "language": "en"}).encode(), "Chinese, Croatian"),
        (json.dumps({"audio_b64": payload([0.0]), "language": "Klingon"}).encode(), "'Klingon' is unknown"),
        (json.dumps({"audio_b64": payload([0.0]), "language": 3}).encode(), "not int"),
        (json.dumps({"audio_b64": payload([0.0]), "context": ["x"]}).encode(), "context is a string"),
    ],
)
def test_a_bad_request_is_an_error_and_the_next_one_is_answered(asr: Child, line: bytes, expected: str) -> None:
    asr.write(line)
    answer = asr.receive()
    assert answer["type"] == "error"
    assert expected in answer["msg"]
    assert "request_id" not in answer
    assert asr.ask(audio_b64=payload(np.zeros(160)))["type"] == "result"


def test_thirty_seconds_are_accepted_and_blank_lines_ignored(asr: Child) -> None:
    asr.write(b"  \r")
    assert asr.ask(audio_b64=payload(np.zeros(RATE * 30)))["audio_seconds"] == 30.0


def test_a_whisper_folder_with_code_in_it_is_refused(tmp_path: Path) -> None:
    from rocm_wizard.speech.embedded_asr import FOLDER_FILES, load_folder
    from rocm_wizard.speech.serve import LoadFailure

    for name in FOLDER_FILES:
        (tmp_path / name).write_text("{}", encoding="utf-8")
    (tmp_path / "custom_generate").mkdir()
    with pytest.raises(LoadFailure, match="custom_generate is code that loading the model would run"):
        load_folder(tmp_path, "sdpa")

"""The TTS sidecar with the GPT-SoVITS engine on small random models, over its pipes."""

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from tests.speech.gpt_sovits.tiny import TinyVoice, save_tiny_voice
from tests.speech.speech_child import TTS, Child, samples_of

TEXT = "The old ship sailed away slowly. Nobody ever saw it again after that!"
LIMITED = {"max_sec_override": 1.2, "sample_steps": 2, "pause_second": 0.1}


@pytest.fixture(scope="module")
def voice(tmp_path_factory: pytest.TempPathFactory) -> TinyVoice:
    return save_tiny_voice(tmp_path_factory.mktemp("a voice 声"))


@pytest.fixture(scope="module")
def tts(voice: TinyVoice) -> Iterator[Child]:
    # The guard would refuse what random networks say; that it does so has a test of its own.
    with Child([*TTS, *voice.arguments()], {"TTS_DEVICE": "cpu", "TTS_SEMANTIC_GUARD": "0"}) as child:
        ready = child.receive()
        assert (ready["type"], ready["engine"], ready["device"], ready["sample_rate"]) == (
            "ready",
            "gpt_sovits",
            "cpu",
            24_000,
        )
        assert (ready["voice"], ready["dtype"], ready["bucket_mels"], ready["graphs"]) == (
            "voice s8",
            "float32",
            0,
            False,
        )
        yield child


def asked(voice: TinyVoice, **more: object) -> dict[str, Any]:
    """A request that names the reference."""
    request: dict[str, Any] = {
        "text": TEXT,
        "language": "en",
        "reference_audio": str(voice.reference),
        "reference_text": voice.reference_text,
        "chunk_size_seconds": 0.4,
        "options": LIMITED,
    }
    return request | more


def test_blocks_stream_item_by_item_with_pauses(tts: Child, voice: TinyVoice) -> None:
    chunks, done = tts.speak(**asked(voice))
    texts = [chunk["text"] for chunk in chunks if chunk["text"]]
    assert texts == ["The old ship sailed away slowly.", "Nobody ever saw it again after that!"]
    assert {chunk["sample_rate"] for chunk in chunks} == {24_000}
    pauses = [chunk for chunk in chunks if "timing" not in chunk]
    assert [len(samples_of([pause])) for pause in pauses] == [2_400, 2_400]
    assert not samples_of(pauses).any()
    blocks = [chunk for chunk in chunks if "timing" in chunk]
    frames = sum(chunk["timing"]["mel_frames"] for chunk in blocks)
    # Random networks never end a sentence: both were cut at 1.2 s of 50 tokens a second.
    assert (done["t2s_tokens"], done["t2s_attempts"]) == (120, 2)
    assert frames == 2 * int(60 * 3.75)
    assert done["blocks"] == 2 * 6
    assert done["audio_seconds"] <= (frames * 256 + 4_800) / 24_000
    for stage in ("reference", "g2p", "t2s", "encoder", "cfm", "bigvgan"):
        assert done[f"{stage}_ms"] >= 0
    assert done["first_audio_ms"] < done["synthesis_ms"]
    assert "cmudict" in done["device_note"]


def test_the_same_request_gives_the_same_sound_and_a_seed_another(tts: Child, voice: TinyVoice) -> None:
    first, again, other = (samples_of(tts.speak(**asked(voice, seed=seed))[0]) for seed in (7, 7, 8))
    assert np.array_equal(first, again)
    assert first.shape != other.shape or not np.array_equal(first, other)


def test_without_block_length_a_sentence_is_one_chunk_and_infer_gives_one_for_all(tts: Child, voice: TinyVoice) -> None:
    chunks, _ = tts.speak(**asked(voice, chunk_size_seconds=None))
    assert [bool(chunk["text"]) for chunk in chunks] == [True, False, True, False]
    whole, done = tts.speak("infer", **asked(voice))
    assert len(whole) == 1
    assert whole[0]["text"] == TEXT
    assert done["type"] == "done"


def test_the_reference_is_encoded_once(tts: Child, voice: TinyVoice) -> None:
    tts.speak(**asked(voice, text="Once."))
    _, done = tts.speak(**asked(voice, text="Once more, with feeling."))
    assert done["reference_ms"] < 5


def test_japanese(tts: Child, voice: TinyVoice) -> None:
    chunks, done = tts.speak(**asked(voice, text="こんにちは、世界。", language="ja"))
    assert done["type"] == "done"
    assert chunks[0]["text"] == "こんにちは、世界。"


@pytest.mark.parametrize(
    ("changes", "expected"),
    [
        ({"reference_audio": "nowhere.wav"}, "reference_audio nowhere.wav"),
        ({"reference_audio": ""}, "a recording of 3 to 10 s"),
        ({"reference_text": " "}, "reference_text is missing"),
        ({"options": {"if_sr": True}}, "no super-resolution"),
        ({"options": {"enable_cuda_graph": True}}, "graphs were not asked for"),
        ({"options": {"how_to_cut": "every word"}}, "how_to_cut"),
        ({"language": "中文"}, "Chinese needs the folder chinese-roberta-wwm-ext-large"),
        ({"text": "…"}, "spoken"),
        ({"seed": -1}, "seed -1"),
        ({"options": {"sample_steps": 0}}, "sample_steps"),
    ],
)
def test_a_failure_is_an_error_and_never_silence(
    tts: Child, voice: TinyVoice, changes: dict[str, object], expected: str
) -> None:
    chunks, answer = tts.speak(**asked(voice, **changes))
    assert chunks == []
    assert (answer["type"], answer["request_id"]) == ("error", "r1")
    assert expected in answer["msg"]


def test_collapsed_tokens_are_told_and_not_spoken(tmp_path: Path) -> None:
    voice = save_tiny_voice(tmp_path, collapsed=True)
    environment = {"TTS_DEVICE": "cpu", "TTS_SOVITS_SYNC_TIMING": "1", "TTS_BIGVGAN_STREAM_BUCKET_MELS": "lots"}
    with Child([*TTS, *voice.arguments()], environment) as child:
        ready = child.receive()
        assert (ready["bucket_mels"], ready["sync_timing"]) == (0, True)
        chunks, answer = child.speak(**asked(voice, options={"top_k": 1, "max_sec_override": 8, "sample_steps": 1}))
        assert chunks == []
        assert "collapsed twice" in answer["msg"]
        assert child.close() == 0
        assert b"is no whole number: 0 is used" in child.stderr


def test_missing_files_are_a_load_failure(tmp_path: Path) -> None:
    with Child(
        [*TTS, "--engine", "gpt_sovits", "--gpt-model", str(tmp_path / "no.ckpt")], {"TTS_DEVICE": "cpu"}
    ) as child:
        answer = child.receive()
        assert answer["type"] == "error"
        assert answer["msg"].startswith("LOAD_FAIL: model files are missing")
        assert "no.ckpt" in answer["msg"]
        assert child.process.wait(timeout=30) == 1

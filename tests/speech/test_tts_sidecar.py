"""The TTS sidecar as a child process, over its pipes."""

import json

import numpy as np
import pytest

from tests.speech.speech_child import Child, samples_of

TEXT = "The old ship sailed away. Nobody saw it again!"


def test_stream_gives_a_chunk_a_sentence_then_done(tts: Child) -> None:
    chunks, done = tts.speak(text=TEXT, language="en")
    assert [chunk["text"] for chunk in chunks] == ["The old ship sailed away.", "Nobody saw it again!"]
    assert {(chunk["request_id"], chunk["sample_rate"]) for chunk in chunks} == {("r1", 24_000)}
    assert (done["type"], done["request_id"], done["chunks"]) == ("done", "r1", 2)
    sound = samples_of(chunks)
    assert 2.0 < len(sound) / 24_000 < 5.0
    assert done["audio_seconds"] == pytest.approx(len(sound) / 24_000, abs=1e-4)
    assert 0.05 < float(np.abs(sound).max()) <= 1.0
    assert done["g2p_ms"] + done["network_ms"] + done["render_ms"] <= done["synthesis_ms"]


def test_blocks_one_shot_and_sentences_are_the_same_sound(tts: Child) -> None:
    whole, _ = tts.speak("infer", text=TEXT, language="en")
    sentences, _ = tts.speak(text=TEXT, language="en")
    blocks, _ = tts.speak(text=TEXT, language="en", chunk_size_seconds=0.3)
    assert len(whole) == 1
    assert whole[0]["text"] == TEXT
    sizes = [len(samples_of([block])) for block in blocks]
    assert sizes[0] == 7_200
    assert all(1_200 <= size < 7_200 + 1_200 for size in sizes)
    assert [block["text"] for block in blocks if block["text"]] == ["The old ship sailed away.", "Nobody saw it again!"]
    assert np.array_equal(samples_of(whole), samples_of(sentences))
    assert float(np.abs(samples_of(whole) - samples_of(blocks)).max()) < 1e-5


def test_a_tiny_block_length_still_gives_no_click(tts: Child) -> None:
    blocks, _ = tts.speak(text="No clicks.", language="en", chunk_size_seconds=0.001)
    assert min(len(samples_of([block])) for block in blocks) >= 1_200


def test_a_pause_is_sent_only_when_asked_for(tts: Child) -> None:
    plain, _ = tts.speak(text=TEXT, language="en", options={"pause_second": 0})
    paused, _ = tts.speak(text=TEXT, language="en", options={"pause_second": 0.25})
    assert [len(samples_of([chunk])) for chunk in paused[1::2]] == [6_000, 6_000]
    assert not samples_of(paused[1::2]).any()
    assert np.array_equal(samples_of(paused[::2]), samples_of(plain))


def test_speed_changes_the_length(tts: Child) -> None:
    slow, fast = (len(samples_of(tts.speak(text=TEXT, language="en", speed=speed)[0])) for speed in (0.8, 1.6))
    assert slow / fast == pytest.approx(2.0, rel=0.1)


def test_the_hosts_whole_request_is_understood(tts: Child) -> None:
    options = {
        "text_language": "英文",
        "prompt_language": "日文",
        "speed": 1.0,
        "how_to_cut": "不切",
        "top_k": 15,
        "top_p": 1,
        "temperature": 1,
        "sample_steps": 16,
        "ref_free": False,
        "pause_second": 0.4,
        "if_freeze": False,
        "inp_refs": None,
        "if_sr": False,
        "enable_cuda_graph": False,
        "enable_static_kv": True,
        "max_sec_override": None,
        "collect_t2s_stats": True,
    }
    chunks, done = tts.speak(
        text="Good morning.",
        language="ja",
        reference_language="ja",
        reference_audio="voice/ref.wav",
        reference_text="参照文",
        speed=1.0,
        chunk_size_seconds=0.4,
        voice="",
        options=options,
    )
    assert done["type"] == "done"
    assert done["engine"] == "embedded"
    assert len(samples_of(chunks[-1:])) == 9_600


@pytest.mark.parametrize("language", ["ja", "日文", "auto"])
def test_japanese_is_spoken_by_the_processor_and_says_so(tts: Child, language: str) -> None:
    chunks, done = tts.speak(text="こんにちは。元気ですか？", language=language)
    assert [chunk["text"] for chunk in chunks] == ["こんにちは。", "元気ですか？"]
    assert {chunk["sample_rate"] for chunk in chunks} == {48_000}
    assert (done["engine"], done["device"]) == ("open_jtalk", "cpu")
    assert "exercises no GPU" in done["device_note"]
    assert 1.0 < done["audio_seconds"] < 5.0
    assert 0.05 < float(np.abs(samples_of(chunks)).max()) <= 1.0


@pytest.mark.parametrize(
    ("request_fields", "expected"),
    [
        ({"text": ""}, "text is missing"),
        ({"text": " \n"}, "text is missing"),
        ({"text": 5}, "text is missing"),
        ({"text": "..."}, "nothing in the text can be pronounced"),
        ({"text": "！？", "language": "ja"}, "nothing in the text has a Japanese reading"),
        ({"text": "hi", "language": "中文"}, "possible: ja, 日文, en, 英文, auto"),
        ({"text": "hi", "options": {"text_language": ["en"]}}, "cannot be spoken"),
        ({"text": "hi", "speed": 0}, "speed 0"),
        ({"text": "hi", "speed": "fast"}, "speed 'fast'"),
        ({"text": "hi", "speed": True}, "speed True"),
        ({"text": "hi", "chunk_size_seconds": -1}, "chunk_size_seconds"),
        ({"text": "hi", "options": {"emotion": "joy"}}, "unknown option 'emotion'"),
        ({"text": "hi", "options": []}, "options is an object"),
        ({"text": "hi", "options": {"pause_second": 1e9}}, "options.pause_second"),
    ],
)
@pytest.mark.parametrize("kind", ["infer", "infer_stream"])
def test_a_failure_is_an_error_and_never_silence(
    tts: Child, kind: str, request_fields: dict[str, object], expected: str
) -> None:
    chunks, answer = tts.speak(kind, **request_fields)
    assert chunks == []
    assert (answer["type"], answer["request_id"]) == ("error", "r1")
    assert expected in answer["msg"]


@pytest.mark.parametrize(
    ("message", "request_id", "expected"),
    [
        ({"type": "sing", "request_id": "a", "request": {}}, "a", "unknown type 'sing'"),
        ({"request_id": "a"}, "a", "unknown type None"),
        ({"type": "infer", "request": {"text": "hi"}}, "", "request_id is missing"),
        ({"type": "infer", "request_id": "", "request": {"text": "hi"}}, "", "request_id is missing"),
        ({"type": "infer", "request_id": 5, "request": {"text": "hi"}}, "", "request_id is missing"),
        ({"type": "infer", "request_id": "b", "request": "hi"}, "b", "request is an object"),
    ],
)
def test_a_bad_envelope_is_an_error(tts: Child, message: dict[str, object], request_id: str, expected: str) -> None:
    answer = tts.ask(**message)
    assert (answer["type"], answer["request_id"]) == ("error", request_id)
    assert expected in answer["msg"]


def test_a_line_that_is_no_json_is_an_error_with_an_empty_id(tts: Child) -> None:
    tts.write(b'{"type": "infer"')
    answer = tts.receive()
    assert (answer["type"], answer["request_id"]) == ("error", "")


def test_queued_requests_are_answered_in_order(tts: Child) -> None:
    for name in ("one", "two", "three"):
        request = {"type": "infer", "request_id": name, "request": {"text": "Next.", "language": "en"}}
        tts.write(json.dumps(request).encode())
    answers = [tts.receive() for _ in range(6)]
    assert [(a["type"], a["request_id"]) for a in answers] == [
        (kind, name) for name in ("one", "two", "three") for kind in ("chunk", "done")
    ]


def test_a_sentence_beyond_the_networks_length_is_spoken_whole(tts: Child) -> None:
    text = "the river ran " * 50
    chunks, done = tts.speak(text=text, language="en")
    assert len(chunks) == 2
    assert [chunk["text"] for chunk in chunks] == [text.strip(), ""]
    assert 25 < done["audio_seconds"] < 60

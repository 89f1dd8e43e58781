"""The client's state machine against scripted children: what it drains, refuses and counts; nothing escapes."""

import json
import time
from collections.abc import Mapping, Sequence
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from rocm_wizard.qualification.stage import CancelToken
from rocm_wizard.runner.scripted import ScriptedRunner
from rocm_wizard.runner.spec import ChildSpec
from rocm_wizard.sidecar.channel import Traffic
from rocm_wizard.sidecar.client import Block, SidecarClient, SidecarError
from rocm_wizard.sidecar.messages import encode_samples
from rocm_wizard.sidecar.pipelined import speak_many

SOUND = np.array([0.25, -0.25], np.float32)
READY = {"line": {"type": "ready", "device": "cpu"}}
EXPECT = {"expect": True}


def chunk(samples: Any = SOUND, **more: Any) -> dict[str, Any]:
    message = {"type": "chunk", "request_id": "$request_id", "sample_rate": 24000, "audio_b64": encode_samples(samples)}
    return {"line": message | more}


DONE = {"line": {"type": "done", "request_id": "$request_id"}}


def client_of(*steps: Mapping[str, Any], seconds: float = 0.2, tolerant: bool = False) -> SidecarClient:
    runner = ScriptedRunner(lambda event: None, {"tts sidecar": [list(steps)]})
    child = runner.start(ChildSpec("tts sidecar", ["x"], Path()), "test", CancelToken())
    client = SidecarClient(child, ready_seconds=seconds, message_seconds=seconds, text_before_ready=tolerant)
    return client


def blocks_of(items: Sequence[Any]) -> list[Block]:
    return [item for item in items if isinstance(item, Block)]


def test_an_interrupted_utterance_is_drained_before_the_next() -> None:
    late = chunk() | {"after": 0.05}
    client = client_of(READY, EXPECT, chunk(), late, chunk(), DONE, EXPECT, chunk(text="second"), DONE)
    client.wait_ready()
    first = client.speak({"text": "long"})
    assert isinstance(next(first), Block)
    assert client.drained is None
    first.close()
    second = list(client.speak({"text": "next"}))
    assert [block.chunk.text for block in blocks_of(second)] == ["second"]
    assert client.drained is not None
    assert client.drained.blocks == 2
    assert 0.05 <= client.drained.seconds < 0.2


def test_an_interrupted_utterance_that_fails_then_is_over_too() -> None:
    error = {"line": {"type": "error", "request_id": "$request_id", "msg": "gave up"}}
    client = client_of(READY, EXPECT, chunk(), error, EXPECT, chunk(), DONE)
    client.wait_ready()
    for _ in client.speak({"text": "x"}):
        break
    assert len(blocks_of(list(client.speak({"text": "y"})))) == 1
    assert client.drained is not None
    assert client.drained.blocks == 0


def test_an_older_utterance_cannot_be_read_on() -> None:
    client = client_of(READY, EXPECT, chunk(), chunk(), DONE, EXPECT, chunk(), DONE)
    client.wait_ready()
    older = client.speak({"text": "x"})
    next(older)
    newer = client.speak({"text": "y"})
    next(newer)
    with pytest.raises(SidecarError) as caught:
        next(older)
    assert caught.value.kind == "out_of_step"


@pytest.mark.parametrize("trouble", [{"hang": True}, {"line": [1]}, {"exit": 3}])
def test_after_trouble_nothing_more_is_asked(trouble: dict[str, Any]) -> None:
    client = client_of(READY, EXPECT, trouble, EXPECT, {"line": {"type": "result", "text": "late"}}, seconds=0.05)
    client.wait_ready()
    with pytest.raises(SidecarError) as first:
        client.transcribe(SOUND, 16000, None)
    assert first.value.kind in ("silent", "protocol", "died")
    with pytest.raises(SidecarError) as second:
        client.transcribe(SOUND, 16000, None)
    assert second.value.kind == "out_of_step"
    assert (first.value.rule or first.value.kind) in second.value.detail


def test_a_refusal_leaves_the_channel_usable() -> None:
    refusal = {"line": {"type": "error", "msg": "no such language"}}
    client = client_of(READY, EXPECT, refusal, EXPECT, {"line": {"type": "result", "text": "yes"}})
    client.wait_ready()
    with pytest.raises(SidecarError, match="no such language"):
        client.transcribe(SOUND, 16000, "Klingonese")
    assert client.transcribe(SOUND, 16000, None).text == "yes"


def test_one_shot_takes_one_block_and_no_second() -> None:
    client = client_of(READY, EXPECT, chunk(), DONE, EXPECT, chunk(), chunk(), DONE)
    client.wait_ready()
    block, done = client.infer({"text": "x"})
    assert block.chunk.samples.tolist() == SOUND.tolist()
    assert done["type"] == "done"
    with pytest.raises(SidecarError) as caught:
        client.infer({"text": "x"})
    assert caught.value.rule == "infer_many_chunks"


def test_a_banner_before_ready_is_tolerated_where_the_host_does() -> None:
    client = client_of({"line": "banner"}, READY)
    with pytest.raises(SidecarError) as caught:
        client.wait_ready()
    assert caught.value.rule == "not_an_object"


def test_unknown_names_are_counted_and_their_number_is_bounded() -> None:
    strange = [{"line": {"type": f"progress {n}"}} for n in range(30)]
    client = client_of(READY, EXPECT, *strange, {"line": {"type": "result", "text": "", "score": 1}})
    client.wait_ready()
    answer = client.transcribe(SOUND, 16000, None)
    assert answer.extra == {"score": 1}
    assert client.unknown_messages == 30
    assert len(client.traffic.unknown_types) == 21
    assert client.traffic.unknown_fields == {"result.score": 1}


def test_stderr_is_counted_before_ready_and_for_each_request() -> None:
    client = client_of(
        {"stderr": "x" * 99}, READY, EXPECT, {"stderr": "y" * 49}, {"line": {"type": "result", "text": ""}}
    )
    client.wait_ready()
    client.transcribe(SOUND, 16000, None)
    assert (client.traffic.stderr_before_ready, client.traffic.stderr_worst_request) == (100, 50)


def test_what_is_read_a_moment_after_the_answer_is_the_requests_and_what_comes_much_later_is_not(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    answer, monotonic = {"line": {"type": "result", "text": ""}}, time.monotonic
    client = client_of(
        READY, EXPECT, answer, {"stderr": "y" * 49}, EXPECT, answer, {"stderr": "z" * 99}, EXPECT, answer
    )
    client.wait_ready()
    client.transcribe(SOUND, 16000, None)
    assert client.traffic.stderr_worst_request == 0
    client.transcribe(SOUND, 16000, None)
    assert client.traffic.stderr_worst_request == 50
    later = SimpleNamespace(monotonic=lambda: monotonic() + 0.5, sleep=time.sleep)
    monkeypatch.setattr("rocm_wizard.sidecar.channel.time", later)
    client.transcribe(SOUND, 16000, None)
    assert client.traffic.stderr_worst_request == 50


def test_the_log_of_a_request_is_told_apart_from_what_came_before() -> None:
    answer = {"line": {"type": "result", "text": ""}}
    client = client_of(
        {"stderr": "loading"}, READY, EXPECT, {"stderr": "streaming inference failed: x"}, answer, EXPECT, answer
    )
    client.wait_ready()
    client.transcribe(SOUND, 16000, None)
    assert client.request_log() == ["streaming inference failed: x"]
    client.transcribe(SOUND, 16000, None)
    assert client.request_log() == []


messages = st.one_of(
    st.just({"type": "result", "text": "x"}),
    st.just(chunk()["line"]),
    st.just(DONE["line"]),
    st.just({"type": "error", "request_id": "$request_id", "msg": "no"}),
    st.just({"type": "ready", "device": "cpu"}),
    st.dictionaries(
        st.sampled_from(["type", "request_id", "sample_rate", "audio_b64", "text", "msg"]),
        st.one_of(st.none(), st.integers(), st.floats(), st.sampled_from(["chunk", "done", "error", "\ud800", "AAAA"])),
    ),
)
acts = st.lists(st.sampled_from(["transcribe", "infer", "speak", "interrupt", "pair"]), min_size=1, max_size=4)


@settings(max_examples=300, deadline=2000)
@given(st.lists(messages, max_size=12), acts)
def test_nothing_but_a_sidecar_error_comes_out(lines: list[dict[str, Any]], asked: list[str]) -> None:
    client = client_of(READY, *({"line": line} for line in lines), seconds=0.01)
    started = time.monotonic()
    lost = False
    client.wait_ready()
    for act in asked:
        try:
            if act == "transcribe":
                client.transcribe(SOUND, 16000, None)
            elif act == "infer":
                client.infer({"text": "x"})
            elif act == "pair":
                speak_many(client, [{"text": "x"}, {"text": "y"}], 2)
            else:
                for _ in client.speak({"text": "x"}):
                    if act == "interrupt":
                        break
        except SidecarError as error:
            json.dumps(error.detail, ensure_ascii=False).encode("utf-8")
            assert not lost or error.kind == "out_of_step"
            lost = lost or error.kind != "refused"
        else:
            assert not lost
    assert time.monotonic() - started < 2


def test_when_a_pipe_that_nobody_reads_is_full() -> None:
    def full(before: int, request: int) -> int | None:
        return Traffic(stderr_before_ready=before, stderr_worst_request=request).requests_until_full(4096)

    assert (full(0, 0), full(4096, 0)) == (None, None)
    assert (full(3000, 400), full(0, 5000), full(4097, 0)) == (2, 0, 0)

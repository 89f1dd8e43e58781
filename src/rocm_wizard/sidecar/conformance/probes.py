"""One probe a rule: sends something and says what was wrong with the answer, None when nothing was."""

import base64
from collections.abc import Callable, Mapping
from typing import Any

from rocm_wizard.sidecar.conformance.requests import TEXTS, Voice, asr_request, audio, tts_request
from rocm_wizard.sidecar.conformance.wire import Lost, Wire
from rocm_wizard.sidecar.messages import ProtocolError, parse_text
from rocm_wizard.sidecar.swallowed import FAILURE_SAMPLES

type Probe = Callable[[Wire, Voice], str | None]

_MOST_MESSAGES = 10_000
_LONG_FIELD = 200_000
_HIDDEN_FAILURE = base64.b64encode(bytes(4 * FAILURE_SAMPLES)).decode("ascii")


def _said(message: Mapping[str, Any]) -> str:
    kind = message["type"]
    return f"{kind}: {str(message.get('msg'))[:120]}" if kind == "error" else str(kind)


def refused(line: bytes) -> Probe:
    """The line has to be answered with one `error`."""

    def probe(wire: Wire, _: Voice) -> str | None:
        wire.send(line)
        return expect_error(wire)

    return probe


def expect_error(wire: Wire, request_id: str | None = None) -> str | None:
    """An `error` message that names what was wrong, and the request where it has an id."""
    message = wire.receive()
    if message["type"] != "error":
        if message["type"] == "chunk":
            _judge_last(wire, _read_to_done(wire, message))
        return f"answered with {_said(message)}"
    if not isinstance(message.get("msg"), str) or not message["msg"]:
        return "the error has no msg"
    if request_id is not None and message.get("request_id") != request_id:
        wire.note("ids_echoed", f"error for {message.get('request_id')!r} in place of {request_id!r}")
    return None


def _judge_last(wire: Wire, chunk: Mapping[str, Any]) -> None:
    if chunk.get("audio_b64") == _HIDDEN_FAILURE:
        wire.note("failure_is_told", f"the last chunk is {FAILURE_SAMPLES} zeros")


def _read_to_done(wire: Wire, chunk: Mapping[str, Any]) -> Mapping[str, Any]:
    """The last chunk of an utterance that began with `chunk`."""
    for _ in range(_MOST_MESSAGES):
        message = wire.receive()
        if message["type"] in ("done", "error"):
            return chunk
        chunk = message if message["type"] == "chunk" else chunk
    raise Lost(f"sent {_MOST_MESSAGES} messages without an end")


def expect_result(wire: Wire) -> str | None:
    """One `result` with a text."""
    message = wire.receive()
    if message["type"] != "result":
        return f"answered with {_said(message)}"
    try:
        parse_text(message)
    except ProtocolError as error:
        return error.shown
    return None


def expect_speech(
    wire: Wire, request_id: str, *, counts: list[int] | None = None, in_order: bool = False
) -> str | None:
    """Chunks of this request, then its `done`. `counts` takes the number of chunks.

    `in_order`: messages under another id are what this probe looks for, and not only a broken `ids_echoed`.
    """
    wire.seen.add("ids_echoed")
    rates: set[Any] = set()
    last: Mapping[str, Any] = {}
    strange: str | None = None
    for count in range(_MOST_MESSAGES):
        message = wire.receive()
        if message.get("request_id") != request_id:
            strange = f"{message['type']} for {message.get('request_id')!r} in place of {request_id!r}"
            wire.note("ids_echoed", strange)
        if message["type"] == "chunk":
            rates.add(message.get("sample_rate"))
            last = message
            continue
        if len(rates) > 1:
            wire.note("constant_rate", f"within an utterance: {sorted(map(str, rates))}")
        if counts is not None:
            counts.append(count)
        if message["type"] != "done":
            return f"answered with {_said(message)}"
        _judge_last(wire, last)
        if in_order and strange is not None:
            return strange
        return None if count else "done without sound"
    raise Lost(f"sent {_MOST_MESSAGES} messages without an end")


def asr(**changes: Any) -> Probe:
    """A request that has to be recognised."""

    def probe(wire: Wire, _: Voice) -> str | None:
        wire.ask(asr_request(**changes))
        return expect_result(wire)

    return probe


def asr_without(name: str) -> Probe:
    """A request without one field that may be missing."""

    def probe(wire: Wire, _: Voice) -> str | None:
        request = asr_request()
        del request[name]
        wire.ask(request)
        return expect_result(wire)

    return probe


def asr_refused(**changes: Any) -> Probe:
    """A request that has to be refused."""

    def probe(wire: Wire, _: Voice) -> str | None:
        wire.ask(asr_request(**changes))
        return expect_error(wire)

    return probe


def asr_nan(wire: Wire, _: Voice) -> str | None:
    """The host's own sidecar does not check its input: an answer is enough, either way."""
    wire.ask(asr_request(audio_b64=audio(0.5, value=float("nan"))))
    message = wire.receive()
    return None if message["type"] in ("error", "result") else f"answered with {_said(message)}"


def asr_blank(wire: Wire, voice: Voice) -> str | None:
    """A blank line is no request."""
    wire.send(b"  ")
    return asr()(wire, voice)


def asr_pipelined(wire: Wire, _: Voice) -> str | None:
    """Three requests at once; only the first is right, so that the order shows."""
    for request in (asr_request(), {"sample_rate": 16_000}, {"sample_rate": 16_000}):
        wire.ask(request)
    kinds = [wire.receive()["type"] for _ in range(3)]
    return None if kinds == ["result", "error", "error"] else f"answered in the order {', '.join(kinds)}"


def tts(**more: Any) -> Probe:
    """A request that has to be spoken."""

    def probe(wire: Wire, voice: Voice) -> str | None:
        wire.ask(tts_request(voice, "a" * 32, **more))
        return expect_speech(wire, "a" * 32)

    return probe


def tts_refused(kind: str = "infer_stream", **more: Any) -> Probe:
    """A request that has to be refused, under its id."""

    def probe(wire: Wire, voice: Voice) -> str | None:
        wire.ask(tts_request(voice, "b" * 32, kind=kind, **more))
        return expect_error(wire, "b" * 32)

    return probe


def tts_empty(wire: Wire, voice: Voice) -> str | None:
    """The one failure that any voice can be brought to; it shows whether failures are told."""
    wrong = tts_refused(text="")(wire, voice)
    if wrong is None:
        wire.seen.add("failure_is_told")
    return wrong


def tts_blank(wire: Wire, voice: Voice) -> str | None:
    """A blank line is no request."""
    wire.send(b"  ")
    return tts()(wire, voice)


def tts_unicode(wire: Wire, voice: Voice) -> str | None:
    """Characters beyond ASCII in an id, escaped as the host escapes them, have to come back."""
    wire.ask(tts_request(voice, "聞こえる🎧"))
    return expect_speech(wire, "聞こえる🎧", in_order=True)


def tts_without_id(wire: Wire, voice: Voice) -> str | None:
    """Nobody could tell whose answer it is."""
    request = tts_request(voice, "")
    del request["request_id"]
    wire.ask(request)
    return expect_error(wire)


def tts_one_shot(wire: Wire, voice: Voice) -> str | None:
    """The host takes exactly one chunk."""
    counts: list[int] = []
    wire.ask(tts_request(voice, "c" * 32, kind="infer"))
    wrong = expect_speech(wire, "c" * 32, counts=counts)
    return wrong or (None if counts == [1] else f"{counts[0]} chunks")


def tts_pipelined(wire: Wire, voice: Voice) -> str | None:
    """Two requests at once, answered one after the other."""
    for request_id in ("d" * 32, "e" * 32):
        wire.ask(tts_request(voice, request_id))
    return expect_speech(wire, "d" * 32, in_order=True) or expect_speech(wire, "e" * 32, in_order=True)


def tts_interrupted(wire: Wire, voice: Voice) -> str | None:
    """The host stops listening after the first block, reads the rest away, and the next sentence is whole."""
    wire.ask(tts_request(voice, "f" * 32, text=TEXTS[voice.language][1]))
    first = wire.receive()
    if first["type"] != "chunk":
        return f"answered with {_said(first)}"
    wire.ask(tts_request(voice, "1" * 32))
    return expect_speech(wire, "f" * 32, in_order=True) or expect_speech(wire, "1" * 32, in_order=True)


_ANY_REFUSED: Mapping[str, Probe] = {
    "malformed_json": refused(b'{"type": "infer_stream", "audio_b64": '),
    "request_is_array": refused(b"[1, 2, 3]"),
    "missing_fields": refused(b"{}"),
}
REFUSALS = frozenset(
    (
        *_ANY_REFUSED,
        *("bad_base64", "odd_bytes", "nan_input", "unknown_language"),
        *("unknown_request", "missing_id", "unknown_option", "empty_text"),
    )
)
"""Probes with requests that are wrong: a child that is lost over one does not keep running."""
IMPROPER = REFUSALS | {"pipelined"}
"""Probes with any request that is wrong."""
PROBES: Mapping[str, Mapping[str, Probe]] = {
    "asr": {
        "valid_request": asr(audio_b64=audio(1)),
        **_ANY_REFUSED,
        "bad_base64": asr_refused(audio_b64="AAAAA"),
        "odd_bytes": asr_refused(audio_b64="AAAAAAA="),
        "nan_input": asr_nan,
        "unknown_language": asr_refused(language="Klingonese"),
        "keeps_running": asr(),
        "blank_line": asr_blank,
        "language_is_null": asr(language=None),
        "language_is_empty": asr(language=""),
        "language_is_missing": asr_without("language"),
        "rate_is_missing": asr_without("sample_rate"),
        "unicode": asr(context="紅莉栖、ステインズ・ゲート 🎧"),
        "long_line": asr(audio_b64=audio(30, value=0.0)),
        "pipelined": asr_pipelined,
    },
    "tts": {
        "valid_request": tts(),
        **_ANY_REFUSED,
        "unknown_request": tts_refused("infer_backwards"),
        "missing_id": tts_without_id,
        "unknown_option": tts_refused(options={"no_such_option": 1}),
        "empty_text": tts_empty,
        "keeps_running": tts(),
        "blank_line": tts_blank,
        "unicode": tts_unicode,
        "long_line": tts(voice="x" * _LONG_FIELD),
        "infer_one_chunk": tts_one_shot,
        "pipelined": tts_pipelined,
        "interruption": tts_interrupted,
    },
}
"""What is tried, in this order, with one child as long as it lives."""

"""Several utterances under way at one sidecar at once, told apart by their request ids.

The host's "Parallel x2" hands a second sentence over before the first is done. The usual client never does.
"""

import time
import uuid
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from rocm_wizard.sidecar.client import LONGEST_UTTERANCE, MOST_BLOCKS, SLOWEST, SidecarClient, SidecarError
from rocm_wizard.sidecar.messages import Chunk, ProtocolError, parse_chunk


@dataclass(slots=True)
class Spoken:
    """One utterance: seconds after the common start at which it was sent, first heard and done; its sound."""

    sent: float
    first_audio: float | None = None
    done: float | None = None
    chunks: list[Chunk] = field(default_factory=list[Chunk])
    length: float = 0.0

    @property
    def seconds(self) -> float:
        """The length of the speech: blocks of nothing but zeros are pauses, which cost no work."""
        return sum(len(chunk.samples) / chunk.sample_rate for chunk in self.chunks if chunk.samples.any())

    def add(self, chunk: Chunk, at: float) -> None:
        """Takes one block, under the rules of the client."""
        if self.chunks and chunk.sample_rate != self.chunks[0].sample_rate:
            raise ProtocolError("sample_rate_changed", f"{self.chunks[0].sample_rate} to {chunk.sample_rate}")
        self.chunks.append(chunk)
        self.length += len(chunk.samples) / chunk.sample_rate
        self.first_audio = at if self.first_audio is None else self.first_audio
        if self.length > LONGEST_UTTERANCE or len(self.chunks) > MOST_BLOCKS:
            raise ProtocolError("endless", f"{self.length:.0f} s of sound in {len(self.chunks)} blocks")


def speak_many(client: SidecarClient, requests: Sequence[Mapping[str, Any]], at_once: int) -> list[Spoken]:
    """Speaks all requests with at most `at_once` of them handed over and not done; in the requests' order.

    Raises:
        SidecarError: as the client's. The first trouble ends everything, a refusal too: others are under way.
    """
    client.begin()
    try:
        return _speak(client, requests, at_once)
    except (SidecarError, ProtocolError) as error:
        raise client.failed(error, alone=False) from error


def _speak(client: SidecarClient, requests: Sequence[Mapping[str, Any]], at_once: int) -> list[Spoken]:
    started, seconds = time.monotonic(), client.message_seconds
    waiting = [(uuid.uuid4().hex, request) for request in requests]
    order = [request_id for request_id, _ in waiting]
    spoken: dict[str, Spoken] = {}
    heard = started
    while waiting or any(one.done is None for one in spoken.values()):
        while waiting and sum(one.done is None for one in spoken.values()) < at_once:
            request_id, request = waiting.pop(0)
            message = {"type": "infer_stream", "request_id": request_id, "request": dict(request)}
            heard = client.channel.send(message, seconds)
            spoken[request_id] = Spoken(heard - started)
        received = client.channel.receive(heard + seconds, "silent")
        if _apply(received.message, spoken, received.arrived - started):
            heard = received.arrived
        if received.arrived - started > SLOWEST * seconds * len(requests):
            raise ProtocolError("endless", f"{len(requests)} utterances after {received.arrived - started:.0f} s")
    return [spoken[request_id] for request_id in order]


def _apply(message: Mapping[str, Any], spoken: Mapping[str, Spoken], at: float) -> bool:
    """Whether the message was of the wire; the host skips others, and they buy no time."""
    kind, request_id = message["type"], message.get("request_id")
    if kind == "error":
        raise SidecarError("refused", str(message.get("msg", "")))
    if kind not in ("chunk", "done"):
        if kind in ("ready", "result"):
            raise ProtocolError(
                "second_ready" if kind == "ready" else "wrong_answer_type", f"{kind!r} in place of 'chunk'"
            )
        return False
    one = spoken.get(str(request_id))
    if one is None or one.done is not None:
        raise ProtocolError("wrong_request_id", f"{str(request_id)[:40]!r} is not under way")
    if kind == "chunk":
        one.add(parse_chunk(message), at)
    elif not one.chunks:
        raise ProtocolError("no_audio", "done without audio")
    else:
        one.done = at
    return True

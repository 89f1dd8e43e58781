"""Several utterances under way at one sidecar at once, told apart by their request ids.

The host's "Parallel x2" hands a second sentence over before the first is done. The usual client never does.
"""

import time
import uuid
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from rocm_wizard.sidecar.channel import broken
from rocm_wizard.sidecar.client import MOST_BLOCKS, SLOWEST, SidecarClient, SidecarError
from rocm_wizard.sidecar.messages import Chunk, ProtocolError, parse_chunk


@dataclass(slots=True)
class Spoken:
    """One utterance: seconds after the common start at which it was sent, first heard and done, and its sound."""

    sent: float
    first_audio: float | None = None
    done: float | None = None
    chunks: list[Chunk] = field(default_factory=list[Chunk])

    @property
    def seconds(self) -> float:
        """The length of the speech: blocks of nothing but zeros are pauses, which cost no work."""
        return sum(len(chunk.samples) / chunk.sample_rate for chunk in self.chunks if chunk.samples.any())


def speak_many(
    client: SidecarClient, requests: Sequence[Mapping[str, Any]], at_once: int, message_seconds: float
) -> list[Spoken]:
    """Speaks all requests with at most `at_once` of them handed over and not done; in the requests' order.

    Raises:
        SidecarError: as the client's, the first trouble ends everything.
    """
    client.channel.request_begins()
    started = time.monotonic()
    waiting = [(uuid.uuid4().hex, request) for request in requests]
    order = [request_id for request_id, _ in waiting]
    spoken: dict[str, Spoken] = {}
    deadline = started + SLOWEST * message_seconds * len(requests)
    while waiting or any(one.done is None for one in spoken.values()):
        while waiting and sum(one.done is None for one in spoken.values()) < at_once:
            request_id, request = waiting.pop(0)
            message = {"type": "infer_stream", "request_id": request_id, "request": dict(request)}
            client.channel.send(message, message_seconds)
            spoken[request_id] = Spoken(time.monotonic() - started)
        _take(client, spoken, started, message_seconds)
        if time.monotonic() > deadline or sum(len(one.chunks) for one in spoken.values()) > MOST_BLOCKS:
            raise broken(ProtocolError("endless", f"{len(requests)} utterances are not done"))
    return [spoken[request_id] for request_id in order]


def _take(client: SidecarClient, spoken: Mapping[str, Spoken], started: float, seconds: float) -> None:
    received = client.channel.receive(time.monotonic() + seconds, "silent")
    try:
        _apply(received.message, spoken, received.arrived - started)
    except ProtocolError as error:
        raise broken(error) from error


def _apply(message: Mapping[str, Any], spoken: Mapping[str, Spoken], at: float) -> None:
    kind, request_id = message["type"], message.get("request_id")
    if kind == "error":
        raise SidecarError("refused", str(message.get("msg", "")))
    if kind not in ("chunk", "done"):
        return
    one = spoken.get(str(request_id))
    if one is None or one.done is not None:
        raise SidecarError("protocol", f"{str(request_id)[:40]!r} is not under way", "wrong_request_id")
    if kind == "chunk":
        one.chunks.append(parse_chunk(message))
        one.first_audio = at if one.first_audio is None else one.first_audio
    elif not one.chunks:
        raise SidecarError("protocol", "done without audio", "no_audio")
    else:
        one.done = at

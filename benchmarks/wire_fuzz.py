"""Mutated protocol lines through decoder and client: `python benchmarks/wire_fuzz.py [LINES] [SEED]` (1,000,000, 1).

All lines go through the reader that splits a child's stdout; then half of them to a client that waits for `ready`, for
an answer, or for one utterance or two at once, and a quarter each through the decoder with the parsers of all messages
and through the conformance examination. Nothing but `ProtocolError`, `SidecarError` and `Lost` may come out, no call
may take longer than 10 s, and the memory must not grow with the lines. The exit code is 1 when any of that fails.
Budget: 10 minutes.
"""

import io
import json
import random
import sys
import time
import tracemalloc
from collections import Counter
from collections.abc import Callable
from pathlib import Path

import numpy as np

from rocm_wizard.runner.exit_status import explain_exit
from rocm_wizard.runner.spec import ChildSpec, ChildTimeout, ExitReport, Line
from rocm_wizard.runner.streams import StdoutReader
from rocm_wizard.sidecar.client import SidecarClient, SidecarError
from rocm_wizard.sidecar.conformance.wire import Lost, Wire
from rocm_wizard.sidecar.messages import (
    ProtocolError,
    decode_line,
    encode_samples,
    parse_chunk,
    parse_ready,
    parse_text,
)
from rocm_wizard.sidecar.pipelined import speak_many

LINES_A_CHILD = 20
LONGEST_CALL = 10.0
LINE_LIMIT = 2**20
SILENCE = np.zeros(16, np.float32)
ID = "$request_id"
AUDIO = encode_samples(np.linspace(-1, 1, 24, dtype=np.float32))
SEEDS: tuple[dict[str, object], ...] = (
    {"type": "ready", "device": "cuda:0", "torch": "2.9.1", "hip": "7.2", "cuda_available": True, "warmup_ms": 5},
    {"type": "result", "text": "你好", "language": "Chinese"},
    {"type": "chunk", "request_id": ID, "sample_rate": 24000, "audio_b64": AUDIO, "text": "", "timing": {"cfm_ms": 1}},
    {"type": "done", "request_id": ID, "t2s_ms": 1.5},
    {"type": "error", "request_id": ID, "msg": "out of memory"},
)
ODD: tuple[object, ...] = (
    None, True, -1, 0, 2**70, 1e308, "", "\ud800", "\x1b[31m", "0" * 300, [], {}, [[]], {"a": None}, "NaN", AUDIO[:-1],
)  # fmt: skip
SPLICES = (
    b"\x00", b"\n", b"\xff\xfe", b"\xed\xa0\x80", b"NaN", b"1e999", b'"', b"}{", b"\\u", b"[" * 2000, b"9" * 5000,
    b"\r",
)  # fmt: skip


def mutate(random_: random.Random) -> bytes:
    """A line that began as a proper message."""
    message = dict(random_.choice(SEEDS))
    for _ in range(random_.choice((0, 0, 1, 1, 2))):
        name = random_.choice([*message, "extra"])
        if random_.random() < 0.3:
            message.pop(name, None)
        else:
            message[name] = random_.choice(ODD)
    line = bytearray(json.dumps(message, ensure_ascii=random_.random() < 0.9).encode("utf-8", "surrogatepass"))
    for _ in range(random_.choice((0, 0, 0, 1, 2, 5))):
        at = random_.randrange(len(line) + 1)
        kind = random_.randrange(4)
        if kind == 0 and at < len(line):
            line[at] = random_.randrange(256)
        elif kind == 1:
            del line[at : at + random_.randrange(1, 20)]
        elif kind == 2:
            line[at:at] = random_.choice(SPLICES)
        else:
            del line[at:]
    return bytes(line)


class FuzzChild:
    """A child whose stdout has these lines; the id of the last request is filled in."""

    pid = 0
    spec = ChildSpec("fuzz", [], Path())

    def __init__(self, lines: list[Line]) -> None:
        self._lines = lines
        self._id = b""

    def send(self, data: bytes, timeout: float) -> None:
        del timeout
        self._id = str(json.loads(data).get("request_id", "")).encode("ascii")

    def read(self, timeout: float) -> Line | None:
        if timeout <= 0:
            raise ChildTimeout
        if not self._lines:
            return None
        line = self._lines.pop()
        return Line(line.data.replace(ID.encode("ascii"), self._id), time.monotonic(), line.torn)

    def close_stdin(self) -> None:
        pass

    def poll(self) -> int | None:
        return None

    def stderr_tail(self) -> list[str]:
        return []

    def stderr_bytes(self) -> int:
        return 0

    def stderr_lines(self) -> int:
        return 0

    def drain(self) -> None:
        pass

    def stop(self, grace: float = 5.0) -> ExitReport:
        del grace
        return ExitReport(0, explain_exit(0), "none", 0.0)


def read(lines: list[bytes]) -> list[Line]:
    """The lines as the reader of a child's stdout splits them; the last one has no end."""
    reader = StdoutReader(io.BytesIO(b"\n".join(lines)), LINE_LIMIT)
    reader.start()
    split: list[Line] = []
    while (line := reader.get(LONGEST_CALL)) is not None:
        split.append(line)
    return split


def decode(line: Line) -> None:
    """The decoder, and every parser on what it gave."""
    message = decode_line(line.data)
    parsers: tuple[Callable[[dict[str, object]], object], ...] = (parse_chunk, parse_ready, parse_text)
    for parse in parsers:
        try:
            parse(message)
        except ProtocolError:
            pass


def examine(lines: list[Line], outcomes: "Counter[str]") -> None:
    """The conformance examination's half of the wire, until all lines are read."""
    wire = Wire(FuzzChild(lines), 5)
    while lines:
        try:
            wire.receive()
        except Lost:
            outcomes["lost"] += 1
    outcomes.update(wire.broken.keys())


def converse(lines: list[Line], random_: random.Random, outcomes: "Counter[str]") -> None:
    """Clients, one after the other as each is lost, until all lines are read."""
    while lines:
        lines.append(Line(json.dumps(SEEDS[0]).encode("ascii"), 0.0))
        if random_.random() < 0.1:
            lines += read([mutate(random_)])
        client = SidecarClient(FuzzChild(lines), ready_seconds=5, message_seconds=5, text_before_ready=True)
        try:
            live(client, lines, random_, outcomes)
            outcomes["proper"] += 1
        except SidecarError as error:
            outcomes[error.rule or error.kind] += 1
            error.detail.encode("utf-8")


def live(client: SidecarClient, lines: list[Line], random_: random.Random, outcomes: "Counter[str]") -> None:
    """One client's life."""
    client.wait_ready()
    while lines:
        act = random_.randrange(5)
        try:
            if act == 0:
                client.transcribe(SILENCE, 16000, None)
            elif act == 1:
                client.infer({"text": "x"})
            elif act == 4:
                speak_many(client, [{"text": "x"}, {"text": "y"}], 2)
            else:
                for _ in client.speak({"text": "x"}):
                    if act == 3:
                        break
        except SidecarError as error:
            if error.kind != "refused":
                raise
            outcomes["refused"] += 1
    client.finish(1.0)


def main(lines: int, seed: int) -> int:
    """Runs it all; gives the exit code."""
    random_ = random.Random(seed)
    outcomes: Counter[str] = Counter()
    slowest, escaped, done = 0.0, 0, 0
    started = time.perf_counter()
    tracemalloc.start()
    first_peak = 0
    while done < lines:
        batch = read([mutate(random_) for _ in range(LINES_A_CHILD)])
        done += LINES_A_CHILD
        before = time.perf_counter()
        try:
            if done % (2 * LINES_A_CHILD):
                converse(batch, random_, outcomes)
            elif done % (4 * LINES_A_CHILD):
                examine(batch, outcomes)
            else:
                for line in batch:
                    try:
                        decode(line)
                    except ProtocolError as error:
                        outcomes[error.rule] += 1
        except Exception as error:  # noqa: BLE001 - whatever comes out here is what this program looks for
            escaped += 1
            print(f"escaped: {type(error).__name__}: {error}")
        slowest = max(slowest, time.perf_counter() - before)
        if not first_peak and done >= lines // 10:
            first_peak = tracemalloc.get_traced_memory()[1]
    peak = tracemalloc.get_traced_memory()[1]
    print(f"{done} lines, seed {seed}: {time.perf_counter() - started:.1f} s, slowest batch {slowest * 1000:.1f} ms")
    print(f"peak of Python's memory {peak / 2**20:.1f} MiB, {first_peak / 2**20:.1f} MiB after a tenth of the lines")
    print(f"escaped: {escaped}; " + ", ".join(f"{name} {count}" for name, count in outcomes.most_common()))
    return int(escaped > 0 or slowest > LONGEST_CALL or peak > 2 * first_peak + 2**20)


if __name__ == "__main__":
    given = [int(text) for text in sys.argv[1:]]
    raise SystemExit(main(*(given + [1_000_000, 1][len(given) :])))

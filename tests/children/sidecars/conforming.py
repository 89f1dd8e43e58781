"""A sidecar that keeps every rule of the wire, or breaks exactly the one that is named: `conforming.py KIND [RULE]`.

Standard library only. It neither hears nor speaks: the answers are a fixed text and a tone.
"""

import base64
import json
import math
import os
import queue
import struct
import sys
import threading
import time
from typing import Any

RATE = 24000
LANGUAGES = ("Chinese", "English", "Japanese", "", None)
OPTIONS = ("text_language", "prompt_language")


class Refused(Exception):
    """The request cannot be answered."""


class Sidecar:
    """One kind of sidecar with at most one fault."""

    def __init__(self, kind: str, fault: str) -> None:
        self.kind = kind
        self.fault = fault
        self.answered = 0
        self.waiting: queue.SimpleQueue[bytes] = queue.SimpleQueue()

    def send(self, **message: Any) -> None:
        """One message; three of the faults are in how it is written."""
        if self.fault == "ascii_only" and message["type"] in ("result", "done"):
            message["note"] = "終わり"
        if self.fault == "strict_json" and message["type"] in ("result", "done"):
            message["score"] = math.nan
        line = json.dumps(message, ensure_ascii=self.fault != "ascii_only").encode("utf-8")
        if self.fault == "pure_stdout" and message["type"] in ("result", "done"):
            line = b"progress: 100%\n" + line
        if self.fault == "nothing_unasked" and message["type"] in ("result", "done") and not self.answered:
            line += b'\n{"type": "done", "request_id": ""}'
        sys.stdout.buffer.write(line + b"\n")
        sys.stdout.buffer.flush()

    def start(self) -> None:
        """The first message."""
        if self.fault == "ready_first":
            self.send(type="hello")
        if self.fault == "stderr_volume":
            sys.stderr.write("warning: slow kernel\n" * 400)
            sys.stderr.flush()
            time.sleep(0.2)
        fields = {"attn_impl": "eager", "warmup_ms": 0, "torch": "2.9.1", "hip": None, "cuda_available": False}
        self.send(type="ready", device="cpu", **({} if self.fault == "ready_fields" else fields))

    def answer(self, line: bytes) -> None:
        """One line, one complete answer."""
        request: Any = None
        if not line.strip() and self.fault != "blank_line":
            return
        if self.fault.startswith("second_request") and self.answered:
            time.sleep(600 if self.fault.endswith("hangs") else 0)
            os._exit(1)
        if len(line) > 100_000 and self.fault == "long_line":
            os._exit(9)
        try:
            request = self.parse(line)
            if self.kind == "asr":
                self.hear(request)
            else:
                self.speak(request)
        except Refused as error:
            if self.fault == "keeps_running" and self.answered:
                os._exit(1)
            said = request.get("request_id", "") if isinstance(request, dict) else ""
            self.send(type="error", request_id=said if isinstance(said, str) else "", msg=str(error))
        self.answered += 1

    def parse(self, line: bytes) -> Any:
        """The request, or the excuse of a fault."""
        try:
            request = json.loads(line)
        except ValueError:
            self.excuse("malformed_json")
            raise Refused("no JSON") from None
        if not isinstance(request, dict):
            self.excuse("request_is_array")
            raise Refused("no object")
        if not request:
            self.excuse("missing_fields")
            raise Refused("nothing asked")
        return request

    def excuse(self, rule: str) -> None:
        """What a broken sidecar does in place of an error."""
        if self.fault == rule:
            self.succeed("")

    def succeed(self, request_id: str) -> None:
        """An answer, earned or not."""
        if self.kind == "asr":
            self.send(type="result", text="yes")
        else:
            self.send(type="chunk", request_id=request_id, sample_rate=RATE, audio_b64=tone(), text="")
            self.send(type="done", request_id=request_id)

    def check(self, rule: str, right: bool) -> None:
        """Refuses what is wrong, unless that is the fault."""
        if not right and self.fault != rule:
            raise Refused(rule)

    def allow(self, rule: str, special: bool) -> None:
        """Takes what is special, unless that is the fault."""
        if special and self.fault == rule:
            raise Refused(rule)

    def hear(self, request: dict[str, Any]) -> None:
        """Recognises."""
        encoded = request.get("audio_b64")
        if not isinstance(encoded, str):
            raise Refused("no audio_b64")
        try:
            raw = base64.b64decode(encoded, validate=True)
        except ValueError:
            self.check("bad_base64", right=False)
            raw = b""
        self.check("odd_bytes", len(raw) % 4 == 0)
        if self.fault == "nan_input" and raw[:4] == struct.pack("<f", math.nan):
            time.sleep(600)
        language = request.get("language", "Chinese")
        self.check("unknown_language", language in LANGUAGES)
        self.allow("language_is_null", language is None)
        self.allow("language_is_empty", language == "")
        self.allow("language_is_missing", "language" not in request)
        self.allow("rate_is_missing", "sample_rate" not in request)
        self.allow("unicode", not request.get("context", "").isascii())
        self.allow("valid_request", self.answered == 0)
        if self.fault == "host_limits" and not self.answered:
            time.sleep(0.5)
        self.succeed("")

    def speak(self, request: dict[str, Any]) -> None:
        """Speaks."""
        request_id, inner = request.get("request_id"), request.get("request", {})
        self.check("missing_id", isinstance(request_id, str) and bool(request_id))
        self.check("unknown_request", request.get("type") in ("infer", "infer_stream"))
        self.check("unknown_option", all(name in OPTIONS for name in inner.get("options", {})))
        self.check("empty_text", bool(inner.get("text")))
        self.allow("valid_request", self.answered == 0)
        shown = str(request_id or "")
        if self.fault == "unicode":
            shown = shown.encode("ascii", "replace").decode("ascii")
        elif self.fault == "ids_echoed":
            shown = "0" * 32
        self.utterance(shown, one_shot=request.get("type") == "infer")

    def utterance(self, request_id: str, *, one_shot: bool) -> None:
        """Two blocks, or one in one shot; most faults of sound are in the second."""
        for block in range(1 if one_shot and self.fault != "infer_one_chunk" else 2):
            audio, rate = tone(), RATE
            if block and self.fault == "interruption" and self.another_waits():
                return
            if block and self.fault == "constant_rate":
                rate = 48000
            if block and self.fault == "chunk_payload":
                audio = "AAAAAAA="
            if block and self.fault == "no_empty_chunk":
                audio = ""
            if block and self.fault == "finite_samples":
                audio = base64.b64encode(struct.pack("<f", math.inf)).decode("ascii")
            if block and self.fault == "failure_is_told":
                audio = base64.b64encode(bytes(4 * 16_000)).decode("ascii")
            self.send(type="chunk", request_id=request_id, sample_rate=rate, audio_b64=audio, text="")
        self.send(type="done", request_id=request_id)

    def another_waits(self) -> bool:
        """Whether the host asks for something else before the second block."""
        ends = time.monotonic() + 0.3
        while self.waiting.empty() and time.monotonic() < ends:
            time.sleep(0.01)
        return not self.waiting.empty()

    def run(self) -> int:
        """From start to end; two faults want to see what waits on stdin."""
        self.start()
        lines = iter(sys.stdin.buffer.readline, b"")
        if self.fault in ("pipelined", "interruption"):
            self.out_of_order()
        else:
            for line in lines:
                self.answer(line)
        return 3 if self.fault == "end_of_input" else 0

    def out_of_order(self) -> None:
        """Answers the newest of the requests that wait first."""
        waiting = self.waiting

        def read() -> None:
            for line in iter(sys.stdin.buffer.readline, b""):
                waiting.put(line)
            waiting.put(b"")

        threading.Thread(target=read, daemon=True).start()
        while True:
            held = [waiting.get()]
            if self.fault == "pipelined":
                time.sleep(0.1)
            while self.fault == "pipelined" and not waiting.empty():
                held.append(waiting.get())
            for line in reversed([line for line in held if line]):
                self.answer(line)
            if b"" in held:
                return


def tone() -> str:
    """A tenth of a second."""
    count = RATE // 10
    samples = [0.3 * math.sin(2 * math.pi * 220 * n / RATE) for n in range(count)]
    return base64.b64encode(struct.pack(f"<{count}f", *samples)).decode("ascii")


if __name__ == "__main__":
    raise SystemExit(Sidecar(sys.argv[1], sys.argv[2] if len(sys.argv) > 2 else "").run())

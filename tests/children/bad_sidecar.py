"""A sidecar that breaks the wire in one chosen way. Standard library only: `python bad_sidecar.py KIND MODE`.

KIND is asr or tts. A mode that is not about the start sends a proper `ready` first and misbehaves when asked; `healthy`
does nothing wrong. `docs/conformance.md` lists the modes with the finding that each one must give.
"""

import base64
import json
import math
import os
import struct
import subprocess
import sys
import time
from collections.abc import Callable

RATE = 24000


def send(**message: object) -> None:
    """One message on the wire."""
    write(json.dumps(message).encode("ascii") + b"\n")


def write(data: bytes) -> None:
    """Any bytes on the wire."""
    sys.stdout.buffer.write(data)
    sys.stdout.buffer.flush()


def ready(**more: object) -> None:
    """The first message of a healthy CPU sidecar."""
    send(**{"type": "ready", "device": "cpu", "hip": None, "engine": "test", **more})


def sound(seconds: float = 0.4, *, value: float | None = None) -> str:
    """A 220 Hz tone as base64 float32."""
    count = int(RATE * seconds)
    samples = [0.3 * math.sin(2 * math.pi * 220 * n / RATE) if value is None else value for n in range(count)]
    return base64.b64encode(struct.pack(f"<{count}f", *samples)).decode("ascii")


def chunk(request_id: object, audio: str = "", **more: object) -> None:
    """One block of an utterance."""
    send(**{"type": "chunk", "request_id": request_id, "sample_rate": RATE, "audio_b64": audio, "text": "", **more})


def load_fail() -> None:
    send(type="error", msg="LOAD_FAIL: no such weights\x1b[31m")
    sys.exit(1)


def missing_package() -> None:
    raise ImportError("No module named 'qwen_asr'")


def prints_forever() -> None:
    while True:
        write(b"loading\n" * 100)


START: dict[str, Callable[[], None]] = {
    "never_ready": lambda: time.sleep(600),
    "banner_first": lambda: write(b"Loading the model ...\n"),
    "gbk_first": lambda: write("正在加载\n".encode("gbk")),
    "prints_forever": prints_forever,
    "array_first": lambda: write(b"[1, 2]\n"),
    "load_fail": load_fail,
    "traceback": missing_package,
    "leaves_at_once": lambda: sys.exit(0),
    "other_first": lambda: send(type="hello"),
    "answer_first": lambda: send(type="result", text="too early"),
    "no_device": lambda: send(type="ready", torch="2.9.1"),
    "wrong_device": lambda: ready(device="cuda:0"),
}
"""What goes wrong before or in place of `ready`."""


def huge_line(_: str) -> None:
    for _piece in range(34):
        write(b"x" * 2**20)
    time.sleep(600)


def half_line(_: str) -> None:
    write(b'{"type": "result", "te')
    os._exit(0)


def half_line_killed(_: str) -> None:
    write(b'{"type": "result", "te')
    os.kill(os.getpid(), 9)


def unknown_then_silent(_: str) -> None:
    send(type="progress", done=0.5)
    time.sleep(600)


def unknown_flood(_: str) -> None:
    while True:
        write(b'{"type": "progress"}\n' * 100)


def spills(data: bytes) -> Callable[[str], None]:
    """Writes something that is no message."""
    return lambda _: write(data)


BOTH: dict[str, Callable[[str], None]] = {
    "print": spills(b"100%|##########| 4/4\n"),
    "gbk": spills("你好\n".encode("gbk")),
    "array": spills(b"[1, 2]\n"),
    "no_type": spills(b'{"text": "x"}\n'),
    "type_is_number": spills(b'{"type": 7}\n'),
    "deep_nesting": spills(b"[" * 100_000 + b"\n"),
    "half_line": half_line,
    "half_line_killed": half_line_killed,
    "huge_line": huge_line,
    "silent": lambda _: time.sleep(600),
    "unknown_then_silent": unknown_then_silent,
    "unknown_flood": unknown_flood,
    "dies": lambda _: os._exit(3),
    "killed": lambda _: os.kill(os.getpid(), 9),
    "second_ready": lambda _: ready(),
    "refuses": lambda request_id: send(type="error", request_id=request_id, msg="out of memory"),
}
"""What either kind can do in place of an answer."""


def result(text: object = "hello") -> None:
    """An answer of a recogniser."""
    send(type="result", text=text)


def twice(_: str) -> None:
    write(b'{"type":"result","text":"one"}\n{"type":"result","text":"two"}\n')


ASR: dict[str, Callable[[str], None]] = BOTH | {
    "no_text": lambda _: send(type="result", words=[]),
    "text_is_number": lambda _: result(12),
    "half_surrogate": lambda _: result("\ud83d"),
    "two_results": twice,
    "chunk_for_result": lambda _: chunk("", sound()),
    "wrong_text": lambda _: result("something else entirely was said here"),
}


def spoken(request_id: str, *, block: float = 0.4) -> None:
    """A proper utterance of two blocks."""
    chunk(request_id, sound(block))
    chunk(request_id, sound(block))
    send(type="done", request_id=request_id)


def both(*actions: Callable[[str], None]) -> Callable[[str], None]:
    """One after the other."""

    def act(request_id: str) -> None:
        for action in actions:
            action(request_id)

    return act


def then(action: Callable[[str], None]) -> Callable[[str], None]:
    """Begins to speak, then does something else."""
    return both(lambda request_id: chunk(request_id, sound()), action)


def endless(request_id: str) -> None:
    audio = sound(30)
    while True:
        chunk(request_id, audio)


def drips(request_id: str) -> None:
    """Each block in time, and never a last one."""
    while True:
        time.sleep(0.2)
        chunk(request_id, sound(0.01))


def silence(request_id: str) -> None:
    for _ in range(10):
        chunk(request_id, sound(0.8, value=0.0))
    send(type="done", request_id=request_id)


def tone(request_id: str) -> None:
    for _ in range(20):
        chunk(request_id, sound())
    send(type="done", request_id=request_id)


def done(request_id: str) -> None:
    send(type="done", request_id=request_id)


TTS: dict[str, Callable[[str], None]] = {name: then(action) for name, action in BOTH.items()} | {
    "nan": then(lambda id: chunk(id, sound(0.01, value=math.nan))),
    "infinite": then(lambda id: chunk(id, sound(0.01, value=math.inf))),
    "bad_base64": then(lambda id: chunk(id, "!!!!")),
    "spaced_base64": then(lambda id: chunk(id, "AAAA AAA=")),
    "no_audio_field": then(lambda id: chunk(id, audio_b64=None)),
    "odd_bytes": then(lambda id: chunk(id, base64.b64encode(b"12345").decode("ascii"))),
    "empty_chunk": then(lambda id: chunk(id)),
    "no_rate": then(lambda id: chunk(id, sound(), sample_rate=None)),
    "rate_is_zero": then(lambda id: chunk(id, sound(), sample_rate=0)),
    "rate_is_text": then(lambda id: chunk(id, sound(), sample_rate="24000")),
    "rate_changes": then(lambda id: chunk(id, sound(), sample_rate=48000)),
    "wrong_id": then(lambda _: chunk("0" * 32, sound())),
    "no_id": then(lambda _: send(type="chunk", sample_rate=RATE, audio_b64=sound())),
    "error_for_another": then(lambda _: send(type="error", request_id="0" * 32, msg="whose?")),
    "done_for_another": then(lambda _: done("0" * 32)),
    "result_for_chunk": then(lambda _: result()),
    "nothing": done,
    "chunk_after_done": both(spoken, lambda id: chunk(id, sound())),
    "done_twice": both(spoken, done),
    "error_after_done": both(spoken, lambda id: send(type="error", request_id=id, msg="late")),
    "endless": endless,
    "never_answers": lambda _: time.sleep(600),
    "drips": drips,
    "silence": silence,
    "tone": tone,
    "too_short": spoken,
}


def noisy(_: str) -> None:
    sys.stderr.write("MIOpen(HIP): Warning [SearchImpl] no kernel\n" * 200)
    sys.stderr.flush()


def table(kind: str) -> dict[str, Callable[[str], None]]:
    """How each mode answers."""
    proper: Callable[[str], None] = (lambda _: result()) if kind == "asr" else spoken
    harmless = {
        "unknown_type": both(lambda _: send(type="progress", done=0.5), proper),
        "noisy_stderr": both(noisy, proper),
        "unknown_fields": (lambda _: send(type="result", text="hello", words=[], score=1))
        if kind == "asr"
        else both(lambda id: chunk(id, sound(), energy=1), done),
    }
    return {"": proper} | (ASR if kind == "asr" else TTS) | harmless


def leaves_behind() -> None:
    """A process with a session and pipes of its own, which nobody ends."""
    code = "import time; time.sleep(600)"
    nothing = subprocess.DEVNULL
    subprocess.Popen(
        [sys.executable, "-c", code], stdin=nothing, stdout=nothing, stderr=nothing, start_new_session=True
    )


def end(mode: str) -> None:
    """What goes wrong after stdin was closed."""
    if mode in ("lingers", "tone"):
        sys.stderr.write("bye\n")
    if mode == "lingers":
        time.sleep(600)
    while mode == "prints_forever_at_the_end":
        write(b"cleaning up\n")
    if mode == "prints_at_the_end":
        write(b"cleaning up\n")
    if mode == "answers_at_the_end":
        send(type="result", text="late") if sys.argv[1] == "asr" else chunk("late", sound())
    if mode == "leaves_with_3":
        sys.exit(3)


def main(kind: str, mode: str) -> None:
    """Starts, then answers until stdin ends."""
    if mode.startswith("leaves_behind"):
        leaves_behind()
        mode = mode.removeprefix("leaves_behind").removeprefix("_and_")
    if mode in START:
        START[mode]()
    if mode not in ("no_device", "wrong_device"):
        ready()
    answers = table(kind)
    if mode == "reads_nothing":
        time.sleep(600)
    for line in sys.stdin:
        request = json.loads(line)
        answers.get(mode, answers[""])(request.get("request_id", ""))
    end(mode)


if __name__ == "__main__":
    main(sys.argv[1], sys.argv[2])

"""A speaking sidecar for concurrency: `python two_at_a_time.py MODE`. Standard library only.

serial: answers one request after the other. parallel: works on two at once, so that two cost as much as one.
mute: says nothing for a second request that waits beside the first. strange: answers with an id nobody asked for.
other: says something else for it, just as long. endless, hums: never comes to an end, with sound or unknown messages.
rate: changes the sample rate. silent: no sound at all. broken_off: a hundredth of a second for anything.
"""

import base64
import json
import queue
import struct
import sys
import threading
import time

RATE = 24000
WORK = 0.08
lock = threading.Lock()
under_way = 0


def send(**message: object) -> None:
    """One message on the wire."""
    with lock:
        sys.stdout.write(json.dumps(message) + "\n")
        sys.stdout.flush()


def speak(request_id: str, level: float, *, rate: int = RATE, done: bool = True, seconds: float = 0.5) -> None:
    """Half a second of sound after some work."""
    time.sleep(WORK)
    count = int(RATE * seconds)
    audio = base64.b64encode(struct.pack(f"<{count}f", *([level] * count))).decode("ascii")
    send(type="chunk", request_id=request_id, sample_rate=rate, audio_b64=audio, text="")
    if done:
        send(type="done", request_id=request_id)


def worker(mode: str, requests: "queue.Queue[str | None]") -> None:
    """Answers requests until there is none."""
    global under_way
    while (request_id := requests.get()) is not None:
        with lock:
            under_way += 1
            beside = under_way > 1
        if mode == "strange":
            send(type="chunk", request_id="somebody", sample_rate=RATE, audio_b64="AAAA", text="")
        while mode == "hums":
            send(type="progress")
            time.sleep(0.05)
        while mode == "endless":
            speak(request_id, 0.3, done=False)
        if mode == "rate":
            speak(request_id, 0.3, rate=48000, done=False)
        level = {"mute": 0.0, "other": 0.25}.get(mode, 0.3) if beside else 0.3
        speak(request_id, 0.0 if mode == "silent" else level, seconds=0.01 if mode == "broken_off" else 0.5)
        with lock:
            under_way -= 1


def main(mode: str) -> None:
    """Ready, then requests until stdin ends."""
    requests: queue.Queue[str | None] = queue.Queue()
    count = 1 if mode == "serial" else 2
    threads = [threading.Thread(target=worker, args=(mode, requests), daemon=True) for _ in range(count)]
    for thread in threads:
        thread.start()
    send(type="ready", device="cpu", torch="2.9.1", hip=None, engine="test")
    for line in sys.stdin:
        requests.put(json.loads(line)["request_id"])
    for _ in threads:
        requests.put(None)
    for thread in threads:
        thread.join()


if __name__ == "__main__":
    main(sys.argv[1])

"""Stands in a checkout as either sidecar and prints every secret it can find, as TELLTALE says. Standard library only.

It knows the secrets of its environment and reads `.env` in its working directory by itself, as a checkout may. Every
secret of the test holds MARK over and over, so that even a small part of one can be found again.
"""

import base64
import json
import os
import re
import struct
import sys
import time
from pathlib import Path
from typing import Any

MARK = "qzx"
MODE = os.environ.get("TELLTALE", "")
KIND = Path(__file__).parent.name
RATE = 24000


def secrets() -> list[str]:
    """Values of the environment, and the values of the file as they stand there and without quotes."""
    file = Path(".env").read_text(encoding="utf-8") if Path(".env").is_file() else ""
    stated = [line.partition("=")[2] for line in file.splitlines()]
    stated += [text.strip("'\"") for text in stated] + re.findall(r"://\w+:([^@]+)@", file)
    return [value for value in [*os.environ.values(), *stated] if MARK in value]


def send(**message: object) -> None:
    """One message."""
    sys.stdout.write(json.dumps(message) + "\n")
    sys.stdout.flush()


def log(text: str) -> None:
    """Bytes of stderr, not always whole lines."""
    os.write(2, text.encode("utf-8"))


def babble() -> None:
    """Secrets on stderr: whole, in two pieces, escaped; with room enough all, coloured, and where lines are cut off."""
    for value in secrets()[: 3 if KIND == "asr" else None]:  # the host never reads its recogniser's stderr
        half = len(value) // 2
        log(f"key: {value[:half]}")
        time.sleep(0.02)
        log(f"{value[half:]} refused\n{json.dumps({'key': value})} {value!r}\n")
        if KIND == "asr":
            continue
        log(f"\x1b[31m{value[:half]}\x1b[0m{value[half:]}\n")
        for border in (1000, 16 * 1024, 64 * 1024, 80 * 1024):
            log("." * (border - half) + value + "." * 3000 + "\n")


def start() -> None:
    """Up to `ready`."""
    babble()
    everything = " ".join(secrets())
    if MODE == "load":
        send(type="error", msg=f"LOAD_FAIL: {everything} refused")
        sys.exit(1)
    if MODE == "banner":
        for value in secrets():
            print("." * (110 - len(value) // 2) + value, flush=True)
    more = {"model": everything, everything: [{everything: everything}]} if MODE == "fields" else {}
    send(type="ready", device="cpu", hip=None, attn_impl="eager", warmup_ms=0, cuda_available=False, **more)


def answer(request: dict[str, Any]) -> None:
    """One answer."""
    babble()
    everything = " ".join(secrets())
    if MODE == "die":
        sys.stdout.write(f"about to use {everything}")
        sys.stdout.flush()
        os._exit(3)
    if MODE == "print":
        print(json.dumps(everything) if KIND == "asr" else f"using {everything}", flush=True)
    if MODE == "fields":
        send(type=everything, text=everything)
    request_id = request.get("request_id")
    if MODE == "refuse":
        send(type="error", request_id=request_id, msg=f"{everything} refused")
    elif MODE == "id":
        send(type="error", request_id=everything, msg="?")
    elif KIND == "asr":
        send(type="result", text=f"hello {everything}", tokens=everything)
    else:
        sound = base64.b64encode(struct.pack("<7200f", *[0.0] * 7200)).decode("ascii")
        send(type="chunk", request_id=request_id, sample_rate=RATE, audio_b64=sound, text=everything)
        send(type="done", request_id=request_id, device_note=everything)


if __name__ == "__main__":
    start()
    for line in sys.stdin:
        answer(json.loads(line))

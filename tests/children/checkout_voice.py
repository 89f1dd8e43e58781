"""A voice that logs what the host project's engine logs: `python checkout_voice.py JSON`. Standard library and numpy.

Keys: wav (mono 16-bit file), held (blocks that are computed and never sent), refuses (an option that is an error, as to
an engine that does not know it), mute_log (the engine logs nothing), hip (the device is a HIP one), asked (a file that
gets the options of each request). Graphs make T2S twice as fast.
"""

import importlib.metadata
import json
import os
import sys
from pathlib import Path
from typing import Any

import numpy as np

sys.path.insert(0, str(Path(__file__).parent))
from speaking_sidecar import chunk, read, send

TIMED = os.environ.get("TTS_SOVITS_SYNC_TIMING") == "1"
BUCKET = int(os.environ.get("TTS_BIGVGAN_STREAM_BUCKET_MELS", "80"))


def log(text: str) -> None:
    """One line on stderr."""
    sys.stderr.write(f"2026-01-01 10:00:00,000 - INFO - {text}\n")
    sys.stderr.flush()


def log_block(number: int, frames: int) -> None:
    """A block was computed."""
    if TIMED:
        vocoder = max(BUCKET, frames) / 4
        log(f"[v3-stream] chunk={number} cfm=80.5ms denorm=0.1ms bigvgan={vocoder:.1f}ms mel_T={frames}")
    else:
        log(f"[v3-stream] chunk={number} mel_T={frames}")


def speak(script: dict[str, Any], message: dict[str, Any]) -> None:
    """One utterance."""
    request, id = message["request"], message["request_id"]
    options = request["options"]
    if script.get("refuses") in options:
        unknown = f"infer_stream() got an unexpected keyword argument '{script['refuses']}'"
        send(type="error", request_id=id, msg=unknown)
        return
    if options.get("collect_t2s_stats") is True and not script.get("mute_log"):
        seconds = 0.25 if options.get("enable_cuda_graph") else 0.5
        log(f"[t2s] tokens=100 elapsed={seconds:.3f}s speed={100 / seconds:.0f} it/s attempts=1")
    samples, rate = read(script["wav"])
    size, held = int(rate * request["chunk_size_seconds"]), script.get("held", 0)
    blocks = [samples[begin : begin + size] for begin in range(0, len(samples) - size // 4, size)]
    for number in range(held + len(blocks)):
        if number == script.get("second_item"):
            chunk(id, rate, np.zeros(int(rate * options["pause_second"]), np.float32))
        if not script.get("mute_log"):
            log_block(
                number - (script["second_item"] if number >= script.get("second_item", 1000) else 0),
                round(request["chunk_size_seconds"] * 93.75),
            )
        if number >= held:
            chunk(id, rate, blocks[number - held])
    chunk(id, rate, np.zeros(int(rate * options["pause_second"]), np.float32))
    send(type="done", request_id=id)


def main(script: dict[str, Any]) -> None:
    """Ready, then utterances until stdin ends."""
    torch = importlib.metadata.version("torch")
    if script.get("hip"):
        send(type="ready", device="cuda:0", torch=torch, hip="7.2.53150", cuda_available=True)
    else:
        send(type="ready", device="cpu", torch=torch, hip=None, cuda_available=False)
    for line in sys.stdin:
        message = json.loads(line)
        if "asked" in script:
            with Path(script["asked"]).open("a", encoding="utf-8") as file:
                file.write(json.dumps(message["request"]["options"]) + "\n")
        speak(script, message)


if __name__ == "__main__":
    main(json.loads(sys.argv[1]))

"""Decodes and validates one hour of 24 kHz float32 chunks of 0.8 s: `python benchmarks/wire_decode.py`. Budget: 3 s."""

import json
import time

import numpy as np

from rocm_wizard.sidecar.messages import decode_line, encode_samples, parse_chunk

RATE, BLOCK = 24000, 0.8


def main() -> None:
    """Decodes the same block as often as an hour holds it."""
    samples = np.random.default_rng(1).standard_normal(int(RATE * BLOCK)).astype(np.float32)
    message = {"type": "chunk", "request_id": "0" * 32, "sample_rate": RATE, "audio_b64": encode_samples(samples)}
    line = json.dumps(message).encode("ascii")
    blocks = round(3600 / BLOCK)
    started = time.perf_counter()
    for _ in range(blocks):
        parse_chunk(decode_line(line))
    print(f"{blocks} blocks of {len(line)} bytes: {time.perf_counter() - started:.2f} s")


if __name__ == "__main__":
    main()

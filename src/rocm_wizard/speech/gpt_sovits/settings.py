"""What the environment says to the GPT-SoVITS engine. Names and rules are the host project's."""

import os
import sys
from collections.abc import Mapping
from dataclasses import dataclass

BUCKET_VARIABLE = "TTS_BIGVGAN_STREAM_BUCKET_MELS"
BUCKET_MELS = 80
_OFF = frozenset({"0", "false", "off", "no"})


@dataclass(frozen=True)
class Settings:
    """`bucket_mels`: stream blocks shorter than this many mel frames are padded for the vocoder, up to a whole block
    where that is longer; 0 pads none.

    `sync_timing`: time every stage of every block, with the device synchronised around it; never for a latency figure.
    `guard`: refuse collapsed semantic tokens. `graphs`: CUDA Graphs were asked for.
    """

    bucket_mels: int = 0
    sync_timing: bool = False
    guard: bool = True
    graphs: bool = False


def read_settings(environment: Mapping[str, str] = os.environ, *, hip: bool) -> Settings:
    """The settings. On HIP blocks are padded always, elsewhere only where the variable is set.

    A malformed bucket keeps the default, and says so on stderr; one below 1 is 1.
    """
    return Settings(
        bucket_mels=_bucket(environment.get(BUCKET_VARIABLE), hip=hip),
        sync_timing=any(environment.get(name) == "1" for name in ("TTS_SOVITS_SYNC_TIMING", "TTS_STREAM_SYNC_TIMING")),
        guard=environment.get("TTS_SEMANTIC_GUARD", "1").strip().lower() not in _OFF,
        graphs=environment.get("ENABLE_CUDA_GRAPH") == "1",
    )


def _bucket(value: str | None, *, hip: bool) -> int:
    default = BUCKET_MELS if hip else 0
    if value is None:
        return default
    try:
        return max(1, int(value))
    except ValueError:
        print(f"{BUCKET_VARIABLE}={value!r} is no whole number: {default} is used", file=sys.stderr)
        return default

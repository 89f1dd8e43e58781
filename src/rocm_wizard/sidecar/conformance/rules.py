"""The rules, in the order in which they are told; their words are `conform.rule` in the string tables."""

from dataclasses import dataclass
from enum import StrEnum


class State(StrEnum):
    """What came of one rule."""

    KEPT = "kept"
    BROKEN = "broken"
    COULD_NOT_CHECK = "could_not_check"


@dataclass(frozen=True, slots=True)
class Judged:
    """One rule and what came of it; `detail` is the first example or the reason."""

    rule: str
    state: State
    detail: str = ""


_START = ("ready_first", "ready_fields")
_LINES = ("pure_stdout", "ascii_only", "strict_json")
_ANY = (
    "valid_request",
    "malformed_json",
    "request_is_array",
    "blank_line",
    "missing_fields",
    "keeps_running",
    "unicode",
    "long_line",
    "pipelined",
    "nothing_unasked",
)
_ASR = (
    "bad_base64",
    "odd_bytes",
    "nan_input",
    "language_is_null",
    "language_is_empty",
    "language_is_missing",
    "unknown_language",
    "rate_is_missing",
    "host_limits",
    "stderr_volume",
)
_TTS = (
    "unknown_request",
    "missing_id",
    "unknown_option",
    "empty_text",
    "infer_one_chunk",
    "interruption",
    "ids_echoed",
    "constant_rate",
    "chunk_payload",
    "no_empty_chunk",
    "finite_samples",
    "failure_is_told",
)
_END = ("end_of_input",)

RULES = {"asr": (*_START, *_LINES, *_ANY, *_ASR, *_END), "tts": (*_START, *_LINES, *_ANY, *_TTS, *_END)}
"""The rules for each kind of sidecar."""

"""Reads and checks one TTS request."""

import re
from collections.abc import Mapping
from dataclasses import dataclass

from rocm_wizard.speech.serve import Message, RequestError
from rocm_wizard.speech.speaker import SHORTEST_BLOCK_S

TYPES = ("infer", "infer_stream")
# Every option the host sends to its own engine. Those this engine has no use for are accepted and ignored, because the
# host sends them always; a name outside the list is an error there and here.
OPTIONS = frozenset(
    {
        "text_language",
        "prompt_language",
        "speed",
        "how_to_cut",
        "top_k",
        "top_p",
        "temperature",
        "sample_steps",
        "ref_free",
        "pause_second",
        "if_freeze",
        "inp_refs",
        "if_sr",
        "enable_cuda_graph",
        "enable_static_kv",
        "max_sec_override",
        "collect_t2s_stats",
    }
)
LANGUAGES = {"ja": "ja", "日文": "ja", "en": "en", "英文": "en"}
AUTOMATIC = ("auto", "")
SPEEDS = (0.5, 2.0)
LONGEST_PAUSE_S = 10.0
LONGEST_BLOCK_S = 60.0
_JAPANESE = re.compile("[\u3041-\u309f\u30a0-\u30ff\uff66-\uff9f\u3400-\u4dbf\u4e00-\u9fff]")


@dataclass(frozen=True)
class TtsRequest:
    """A checked request. `language` is `ja` or `en`; `block_s` 0 means a chunk for every sentence."""

    request_id: str
    streamed: bool
    text: str
    language: str
    speed: float
    block_s: float
    pause_s: float


def read_request(message: Message) -> TtsRequest:
    """Raises RequestError naming the field and what it may be."""
    kind = message.get("type")
    if kind not in TYPES:
        raise RequestError(f"unknown type {kind!r}; known: {', '.join(TYPES)}")
    request_id = message.get("request_id")
    if not isinstance(request_id, str) or not request_id:
        raise RequestError("request_id is missing, empty or no string")
    request = _object(message, "request")
    options = _object(request, "options")
    unknown = sorted(set(options) - OPTIONS)
    if unknown:
        raise RequestError(f"unknown option {unknown[0]!r}; known: {', '.join(sorted(OPTIONS))}")
    text = request.get("text", "")
    if not isinstance(text, str) or not text.strip():
        raise RequestError("text is missing, empty or no string")
    speed = request.get("speed")
    return TtsRequest(
        request_id=request_id,
        streamed=kind == "infer_stream",
        text=text,
        language=_language(options.get("text_language", request.get("language")), text),
        speed=_number("speed", options.get("speed") if speed is None else speed, 1.0, *SPEEDS),
        block_s=_block(request.get("chunk_size_seconds")),
        pause_s=_number("options.pause_second", options.get("pause_second"), 0.0, 0.0, LONGEST_PAUSE_S),
    )


def request_id_of(message: Message | None) -> str:
    """The id to answer an invalid request under, "" where it has none."""
    found = message.get("request_id") if message else None
    return found if isinstance(found, str) else ""


def _object(holder: Mapping[str, object], name: str) -> dict[str, object]:
    value = holder.get(name)
    if value is None:
        return {}
    if not isinstance(value, dict):
        raise RequestError(f"{name} is an object, not {type(value).__name__}")
    return value


def _language(label: object, text: str) -> str:
    if label is None or label in AUTOMATIC:
        return "ja" if _JAPANESE.search(text) else "en"
    if not isinstance(label, str) or label not in LANGUAGES:
        raise RequestError(f"language {label!r} cannot be spoken; possible: {', '.join(LANGUAGES)}, auto")
    return LANGUAGES[label]


def _block(value: object) -> float:
    seconds = _number("chunk_size_seconds", value, 0.0, 0.0, LONGEST_BLOCK_S)
    return max(seconds, SHORTEST_BLOCK_S) if seconds else 0.0


def _number(name: str, value: object, default: float, low: float, high: float) -> float:
    if value is None:
        return default
    if isinstance(value, bool) or not isinstance(value, int | float) or not low <= value <= high:
        raise RequestError(f"{name} {value!r} is no number from {low} to {high}")
    return float(value)

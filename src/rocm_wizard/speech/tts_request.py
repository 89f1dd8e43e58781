"""Reads and checks one TTS request."""

import re
from collections.abc import Mapping
from dataclasses import dataclass

from rocm_wizard.speech.serve import Message, RequestError

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
AUTOMATIC = ("auto", "")
CUTS = ("不切", "凑四句一切", "凑50字一切", "按中文句号。切", "按英文句号.切", "按标点符号切")
SPEEDS = (0.5, 2.0)
# Below this a block is a click in the host's player, not sound; it joins its neighbour.
SHORTEST_BLOCK_S = 0.05
LONGEST_PAUSE_S = 10.0
LONGEST_BLOCK_S = 60.0
LONGEST_SPEECH_S = 600.0
_JAPANESE = re.compile("[\u3041-\u309f\u30a0-\u30ff\uff66-\uff9f\u3400-\u4dbf\u4e00-\u9fff]")


@dataclass(frozen=True)
class Sampling:
    """How semantic tokens are drawn, and how many CFM steps refine each block. Defaults: the host's inferencer."""

    top_k: int = 20
    top_p: float = 0.6
    temperature: float = 0.6
    steps: int = 16


@dataclass(frozen=True)
class Reference:
    """The recording whose voice is spoken with: its path as the host gave it ("" is none), transcript, language."""

    path: str = ""
    text: str = ""
    language: str = ""


@dataclass(frozen=True)
class TtsRequest:
    """A checked request. `language` is the engine's name for it; `block_s` 0 means a chunk for every sentence.

    `most_s` limits the speech of one sentence in seconds (0: the engine's own limit); `seed` None is drawn from the
    text, so that the same request gives the same sound.
    """

    request_id: str
    streamed: bool
    text: str
    language: str
    speed: float
    block_s: float
    pause_s: float
    cut: str
    sampling: Sampling = Sampling()
    reference: Reference = Reference()
    most_s: float = 0.0
    graph: bool = False
    super_resolution: bool = False
    seed: int | None = None


def read_request(message: Message, languages: Mapping[str, str]) -> TtsRequest:
    """A request checked against the engine's `languages`. Raises RequestError naming the field and what it may be."""
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
    streamed = kind == "infer_stream"
    language = _language(options.get("text_language", request.get("language")), text, languages)
    return TtsRequest(
        request_id=request_id,
        streamed=streamed,
        text=text,
        language=language,
        speed=_number("speed", options.get("speed") if speed is None else speed, 1.0, *SPEEDS),
        block_s=_block(request.get("chunk_size_seconds")),
        pause_s=_number("options.pause_second", options.get("pause_second"), 0.0, 0.0, LONGEST_PAUSE_S),
        cut=_cut(options.get("how_to_cut"), CUTS[-1] if streamed else CUTS[0]),
        sampling=_sampling(options),
        reference=_reference(request, options, language, languages),
        most_s=_number("options.max_sec_override", options.get("max_sec_override"), 0.0, 0.0, LONGEST_SPEECH_S),
        graph=_flag("options.enable_cuda_graph", options.get("enable_cuda_graph")),
        super_resolution=_flag("options.if_sr", options.get("if_sr")),
        seed=_seed(request.get("seed")),
    )


def _sampling(options: Mapping[str, object]) -> Sampling:
    usual = Sampling()
    return Sampling(
        top_k=int(_number("options.top_k", options.get("top_k"), usual.top_k, 1, 1025)),
        top_p=_number("options.top_p", options.get("top_p"), usual.top_p, 0.0, 1.0),
        temperature=_number("options.temperature", options.get("temperature"), usual.temperature, 0.0, 2.0),
        steps=int(_number("options.sample_steps", options.get("sample_steps"), usual.steps, 1, 128)),
    )


def _reference(
    request: Mapping[str, object], options: Mapping[str, object], language: str, languages: Mapping[str, str]
) -> Reference:
    label = options.get("prompt_language", request.get("reference_language"))
    text = _string("reference_text", request.get("reference_text"))
    spoken = language if label is None else _language(label, text, languages)
    return Reference(_string("reference_audio", request.get("reference_audio")), text, spoken)


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


def _language(label: object, text: str, languages: Mapping[str, str]) -> str:
    if label is None or label in AUTOMATIC:
        return languages.get("auto") or ("ja" if _JAPANESE.search(text) else "en")
    if not isinstance(label, str) or label not in languages:
        known = ", ".join(dict.fromkeys((*languages, "auto")))
        raise RequestError(f"language {label!r} cannot be spoken; possible: {known}")
    return languages[label]


def _cut(value: object, default: str) -> str:
    if value is None:
        return default
    if value not in CUTS:
        raise RequestError(f"options.how_to_cut {value!r} is unknown; possible: {', '.join(CUTS)}")
    return str(value)


def _string(name: str, value: object) -> str:
    if value is None:
        return ""
    if not isinstance(value, str):
        raise RequestError(f"{name} is a string, not {type(value).__name__}")
    return value


def _flag(name: str, value: object) -> bool:
    if value is not None and not isinstance(value, bool):
        raise RequestError(f"{name} is true or false, not {value!r}")
    return bool(value)


def _seed(value: object) -> int | None:
    if value is None:
        return None
    if isinstance(value, bool) or not isinstance(value, int) or not 0 <= value < 2**63:
        raise RequestError(f"seed {value!r} is no whole number from 0 to 2**63 - 1")
    return value


def _block(value: object) -> float:
    seconds = _number("chunk_size_seconds", value, 0.0, 0.0, LONGEST_BLOCK_S)
    return max(seconds, SHORTEST_BLOCK_S) if seconds else 0.0


def _number(name: str, value: object, default: float, low: float, high: float) -> float:
    if value is None:
        return default
    if isinstance(value, bool) or not isinstance(value, int | float) or not low <= value <= high:
        raise RequestError(f"{name} {value!r} is no number from {low} to {high}")
    return float(value)

"""A child's stdout line as a message that may be told: decoded exactly, then without the secrets it holds."""

import re
from collections.abc import Mapping
from typing import Any

from rocm_wizard.qualification.clean import HIDDEN, Hiding
from rocm_wizard.sidecar.fields import KNOWN_FIELDS
from rocm_wizard.sidecar.messages import ProtocolError, decode_line, excerpt

_DEEPEST = 16
_OUR_ID = re.compile(r"[0-9a-f]{32}")
_VERSION = re.compile(r"\d{1,4}(?:\.\d{1,6}){1,3}(?:[a-z]{1,3}\d{1,4})?(?:[+-][0-9a-z.]{1,16})?")
_PLAIN = {
    "device": re.compile(r"(?:cpu|cuda|mps)(?::\d{1,2})?"),
    "torch": _VERSION,
    "hip": _VERSION,
    "attn_impl": re.compile(r"eager(?:_recursive|\+math_sdp)?|flash_attention_2|sdpa"),
}
"""Fields that are judged, and the looks that let them be told as they are: a setting may have the same words."""


def decode_told(data: bytes, hiding: Hiding) -> dict[str, Any]:
    """One line as a message in which `hiding` has replaced what nobody may be told.

    Exact stay the sound, the names, types and numbers of the wire, the ids that we gave, the device and versions, and
    plain words that were heard or spoken. What lies deeper than 16 levels, which nobody reads, is cut off where there
    is something to hide.

    Raises:
        ProtocolError: as `decode_line`; the excerpt was hidden before it was cut.
    """
    try:
        message = decode_line(data)
    except ProtocolError as error:
        raise ProtocolError(error.rule, excerpt(hiding.data(data))) from None
    if not hiding:
        return message
    known = KNOWN_FIELDS.get(message["type"], frozenset(("type",)))
    told = {
        name if name in known else hiding.text(name): _told(name, value, hiding, numbers=name in known)
        for name, value in message.items()
    }
    return told | ({"type": message["type"]} if message["type"] in KNOWN_FIELDS else {})


def _told(name: str, value: Any, hiding: Hiding, *, numbers: bool) -> Any:
    match name, value:
        case "audio_b64", str():
            return value
        case "text", str():
            return hiding.speech(value)
        case "request_id", str() if _OUR_ID.fullmatch(value) and hiding.text(value) != HIDDEN:
            return value
        case _, str() if name in _PLAIN and _PLAIN[name].fullmatch(value):
            return value
        case _:
            return _value(value, hiding, 0, numbers=numbers)


def _value(value: Any, hiding: Hiding, depth: int, *, numbers: bool) -> Any:
    """`numbers`: they are the wire's, and none of them is a secret."""
    if isinstance(value, str):
        return hiding.text(value)
    if isinstance(value, int | float) and not isinstance(value, bool) and not numbers:
        return HIDDEN if hiding.hides(str(value)) else value
    if depth >= _DEEPEST and isinstance(value, Mapping | list):
        return "…"
    if isinstance(value, Mapping):
        return {hiding.text(name): _value(item, hiding, depth + 1, numbers=numbers) for name, item in value.items()}
    if isinstance(value, list):
        return [_value(item, hiding, depth + 1, numbers=numbers) for item in value]
    return value

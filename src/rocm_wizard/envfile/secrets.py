"""Keep secrets out of what a person or a report sees."""

import hashlib
import re

from rocm_wizard.envfile.document import Document
from rocm_wizard.envfile.tokens import Kind, Statement

MASK = "********"

_SECRET_KEY = re.compile(r"token|key|secret|pass|pwd|credential|auth|bearer|cookie|private|webhook|dsn", re.IGNORECASE)
# Values that give themselves away whatever their key: a login in an address, and well-known token prefixes.
_SECRET_VALUE = re.compile(
    r"://[^/\s:@]*:[^/\s@]+@|-----BEGIN |\b(?:sk|rk|pk)-[A-Za-z0-9_-]{8,}|\bhf_[A-Za-z0-9]{4,}|\bgithub_pat_"
    r"|\bgh[opsur]_[A-Za-z0-9]{8,}|\bxox[abprs]-|\bAKIA[0-9A-Z]{12,}|\bAIza[0-9A-Za-z_-]{20,}|\beyJ[\w-]+\.eyJ"
)
_TOLD = re.compile(r"(?:token|secret|passw|pwd|api[ _-]?key)\w*\s*(?:[:=]|is\b)\s*\S", re.IGNORECASE)
_LONGEST_NAME = 60
_NAME = re.compile(r"[A-Za-z_][A-Za-z0-9_.-]{0,59}")
_UNSAFE = re.compile("[\x00-\x1f\x7f-\x9f\u200e\u200f\u2028-\u202e\u2066-\u2069\ud800-\udfff]")
_COMMENTED = re.compile(
    r"(?P<head>[^\S\r\n]*#[#\s]*(?:export\s+)?(?P<key>[A-Za-z_][\w.]*)\s*=\s*)(?P<value>.*)", re.DOTALL
)


def is_secret(key: str, value: str = "") -> bool:
    """Whether the value of `key` must not be shown: by the key's name, or by the look of the value."""
    return _SECRET_KEY.search(key) is not None or _SECRET_VALUE.search(value) is not None


def mask(key: str, value: str | None) -> str | None:
    """`value`, or `MASK` in its place. Nothing and an empty value hide nothing and are shown."""
    return MASK if value and is_secret(key, value) else value


def fingerprint(value: str, salt: bytes) -> str:
    """Eight hex digits that tell "the same" from "another" within one report; `salt` must be new for each report."""
    return hashlib.blake2b(value.encode("utf-8", "surrogatepass"), key=salt[:64], digest_size=4).hexdigest()


def masked_text(document: Document, statement: Statement) -> str:
    """One statement as it stands in the file, without its line end, a secret masked and unsafe characters spelt out.

    Several lines where a value that is no secret has several.
    """
    text = document.text[statement.start : statement.end].removesuffix("\n").removesuffix("\r")
    match statement.kind:
        case Kind.ASSIGNMENT:
            text = _masked_assignment(document, statement, text)
        case Kind.COMMENT:
            text = _masked_comment(text)
        case Kind.BARE if not _NAME.fullmatch(statement.key) or _SECRET_VALUE.search(text) or _TOLD.search(text):
            # A line of a key block whose quotes are missing reads as a name without a value.
            text = MASK
        case Kind.BAD if is_secret(text, text) or len(text) > _LONGEST_NAME:
            # Nobody can tell where the secret of a broken line begins, except behind a plain name and its `=`.
            name, equals, _ = text.partition("=")
            text = f"{name}={MASK}" if equals and _NAME.fullmatch(name.strip()) else MASK
        case _:
            pass
    return printable(text)


def _masked_assignment(document: Document, statement: Statement, text: str) -> str:
    head = document.text[statement.start : statement.value_start]
    value = document.text[statement.value_start : statement.value_end]
    tail = text[statement.value_end - statement.start :]
    if not _NAME.fullmatch(statement.key):
        return f"{MASK}={MASK}"
    hidden = bool(value) and is_secret(statement.key, value)
    if tail.strip() and (hidden or _SECRET_VALUE.search(tail) or _TOLD.search(tail)):
        tail = f" # {MASK}"
    return f"{head}{MASK if hidden else value}{tail}"


def _masked_comment(text: str) -> str:
    example = _COMMENTED.fullmatch(text)
    if example and example["value"] and is_secret(example["key"], example["value"]):
        return example["head"] + MASK
    return f"# {MASK}" if _SECRET_VALUE.search(text) or _TOLD.search(text) else text


def printable(text: str) -> str:
    """`text` with control characters, direction overrides and bytes that are no text as `\\x..`; line ends stay."""
    text = text.replace("\r\n", "\n").replace("\r", "\n")
    return "\n".join(_UNSAFE.sub(_spelt, line) for line in text.split("\n"))


def _spelt(match: re.Match[str]) -> str:
    if match[0] == "\t":
        return "    "
    code = ord(match[0])
    if 0xDC80 <= code <= 0xDCFF:
        code -= 0xDC00
    return f"\\x{code:02x}" if code < 0x100 else f"\\u{code:04x}"

"""Made-up `.env` files, python-dotenv as the judge, and a disk whose calls can be made to fail."""

import io
import os
import sys
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any
from unittest.mock import patch

from dotenv.main import DotEnv
from dotenv.parser import parse_stream
from hypothesis import strategies as st

from rocm_wizard.envfile.document import Document
from rocm_wizard.envfile.filesystem import FileSystem

KEYS: tuple[str, ...] = ("A", "B", "ASR_MODEL", "K", "TTS_VOICE", "HF_TOKEN")

_PIECES = (
    *KEYS, "=", "=", "=", "\n", "\n", "\r\n", "\r", " ", "\t", "\x0b", "\x85", "\xa0", "\u3000", "\u2028", "#",
    " # note", "'", '"', "\\", "\\n", "\\'", '\\"', "$", "${A}", "${B:-d}", "${K", "${", "}", ":", ":-", "export ",
    "export", "value", "日文", "C:\\models\\", "é", "\ufeff", "\x00", "-", "~",
)  # fmt: skip

fragments = st.lists(st.sampled_from(_PIECES), max_size=30).map("".join)

_values = st.one_of(
    st.sampled_from(
        ("1", "", "a b", '"q"', "'s'", '"a\\nb"', "# c", "a#b", "x # c", "${A}", '"multi\nline"', '"open', "é")
    ),
    fragments.map(lambda text: text.replace("\n", "").replace("\r", "")),
)
_lines = st.one_of(
    st.builds(
        lambda head, key, eq, value, tail: head + key + eq + value + tail,
        st.sampled_from(("", "export ", "  ", "# ", "#")),
        st.sampled_from(KEYS),
        st.sampled_from(("=", " = ", "=  ", "")),
        _values,
        st.sampled_from(("", "  ", " # note", "# note")),
    ),
    st.sampled_from(("", "   ", "# prose", "not a line at all", "=x", "'", "'K'=1")),
)
_newlines = st.sampled_from(("\n", "\r\n", "\r"))


@st.composite
def _files(draw: st.DrawFn) -> str:
    lines = draw(st.lists(_lines, max_size=8))
    style = draw(st.one_of(_newlines, st.none()))
    text = "".join(line + (style or draw(_newlines)) for line in lines)
    return text if draw(st.booleans()) else text.rstrip("\r\n")


env_texts = st.one_of(fragments, _files())
_stray = st.sampled_from((b"", b"\xe9", b"\x93\xfa", b"\xff"))
env_bytes = st.builds(
    lambda bom, text, stray, at: (
        bom + (raw := text.encode())[: at % (len(raw) + 1)] + stray + raw[at % (len(raw) + 1) :]
    ),
    st.sampled_from((b"", b"\xef\xbb\xbf")),
    env_texts,
    _stray,
    st.integers(0, 500),
)
"""Files with every trap; the stray bytes may also fall into the middle of a character."""

wanted_values = st.one_of(
    st.sampled_from(("", "1", "cuda:0", "a b", "it's", 'say "x"', "both ' and \"", "C:\\models\\", "C:\\my models\\",
                     "\\\\server\\share", "\\\\server\\my share", "hf_ab#cd", " lead", "trail ", "#x", "a # b", "pa$$w",
                     "日文", "`x`", "'", '"', "\\", "a\\'b", "$", "ends\"", "~", "\u3000", "\ufeffx", "é")),
    st.text(st.characters(exclude_categories=("Cc", "Cs")), max_size=12).filter(lambda text: "${" not in text),
)  # fmt: skip
wanted_maps = st.dictionaries(st.sampled_from((*KEYS, "NEW_ONE", "NEW_TWO")), wanted_values, max_size=5)


def _stream(data: bytes) -> io.TextIOWrapper:
    return io.TextIOWrapper(io.BytesIO(data), encoding="utf-8", errors="surrogateescape")


def dotenv_read(data: bytes, environment: Mapping[str, str] | None = None, *, override: bool = False) -> dict[str, Any]:
    """python-dotenv's own answer, opened in text mode as it opens a file."""
    with patch.dict(os.environ, dict(environment or {}), clear=True):
        return dict(DotEnv(None, stream=_stream(data), override=override).dict())


def dotenv_bindings(data: bytes) -> list[tuple[str, str | None]]:
    """Every binding that python-dotenv sees, in order, not expanded."""
    return [(found.key, found.value) for found in parse_stream(_stream(data)) if found.key is not None]


def parse(data: bytes | str) -> Document:
    """A document of some text."""
    return Document.parse(data.encode() if isinstance(data, str) else data)


class FaultyDisk(FileSystem):
    """The real disk, with a hook before and after every call. Nothing sleeps; waits are added up in `slept`."""

    def __init__(self) -> None:
        self.calls: list[str] = []
        self.slept = 0.0
        self.before: Callable[[str, int, tuple[Any, ...]], None] = lambda name, number, args: None
        self.after: Callable[[str, int], None] = lambda name, number: None

    def __getattribute__(self, name: str) -> Any:
        found = super().__getattribute__(name)
        if name not in vars(FileSystem) or name.startswith("_") or name == "sleep":
            return found

        def call(*args: Any) -> Any:
            self.calls.append(name)
            number = len(self.calls)
            self.before(name, number, args)
            try:
                return found(*args)
            finally:
                self.after(name, number)

        return call

    def sleep(self, seconds: float) -> None:
        self.slept += seconds


def is_root() -> bool:
    """Whether rights mean nothing to us (never said of Windows)."""
    return sys.platform != "win32" and os.geteuid() == 0


class PowerCut(BaseException):
    """The machine is off: no call after this one does anything."""


def listing(folder: Path) -> list[str]:
    """The names in a folder, sorted."""
    return sorted(entry.name for entry in folder.iterdir())

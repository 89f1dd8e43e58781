"""The first look at any file: is it there, and is it the thing itself or something that came in its place?"""

import json
import re
import stat
from pathlib import Path
from typing import Any

from rocm_wizard.models.problem import Kind, Problem, Refused, reason_of, shown

_HEAD = 4096
_JSON_LIMIT = 64 << 20
_POINTER_LIMIT = 1024
_SIZE = re.compile(rb"^size (\d{1,18})\s*$", re.MULTILINE)
_LFS = b"version https://git-lfs.github.com/spec/"
_ANNEX = re.compile(rb"^[./\\]*(?:\.git)?[/\\]?annex[/\\]objects[/\\]")
_ARCHIVES = {b"7z\xbc\xaf\x27\x1c": "7z", b"Rar!\x1a\x07": "RAR", b"\x1f\x8b\x08": "gzip", b"\xfd7zXZ": "xz"}
_UNFINISHED = (".aria2", ".part", ".crdownload", ".incomplete", ".download")
"""What download programs leave beside or at the end of a file that is not complete yet."""


def first_look(path: Path, *, text: bool = False) -> int:
    """The size in bytes of a regular file that can be read and is no stand-in.

    `text`: the file is text itself (JSON, a word list). Raises Refused with one of the kinds for any file.
    """
    try:
        found = path.stat()
    except (OSError, ValueError) as error:  # ValueError: a NUL in the name
        raise _absent(path, error) from error
    if not stat.S_ISREG(found.st_mode):
        raise Refused(Kind.NOT_A_FILE, path)
    if path.suffix.casefold() in _UNFINISHED or _has_leftover(path):
        raise Refused(Kind.UNFINISHED, path, bytes=found.st_size)
    try:
        with path.open("rb") as file:
            head = file.read(_HEAD)
    except OSError as error:
        raise Refused(Kind.UNREADABLE, path, reason=reason_of(error)) from error
    _judge_head(path, head, found.st_size, text)
    return found.st_size


def read_text(path: Path, limit: int = _JSON_LIMIT) -> str:
    """A text file in UTF-8, a byte-order mark left out. Raises Refused."""
    size = first_look(path, text=True)
    if size > limit:
        raise Refused(Kind.TEXT_BROKEN, path, detail=f"{size} bytes, at most {limit}")
    try:
        return path.read_text(encoding="utf-8-sig")
    except OSError as error:
        raise Refused(Kind.UNREADABLE, path, reason=reason_of(error)) from error
    except ValueError as error:
        raise Refused(Kind.TEXT_BROKEN, path, detail=shown(error)) from error


def read_json(path: Path) -> dict[str, Any]:
    """A file that holds one JSON object. Raises Refused."""
    text = read_text(path)
    try:
        value = json.loads(text)
    except (ValueError, RecursionError) as error:
        raise Refused(Kind.JSON_BROKEN, path, detail=shown(error)) from error
    if not isinstance(value, dict):
        raise Refused(Kind.JSON_BROKEN, path, detail=f"{type(value).__name__} instead of an object")
    return value


def folder_problem(path: Path) -> Problem | None:
    """Why `path` is no folder, or None."""
    try:
        if path.is_dir():
            return None
        kind = Kind.NOT_A_FILE if path.exists() else Kind.MISSING
    except (OSError, ValueError):
        kind = Kind.MISSING
    return Problem(kind, path)


def _absent(path: Path, error: Exception) -> Refused:
    try:
        target = str(path.readlink())
    except (OSError, ValueError):
        if isinstance(error, FileNotFoundError | NotADirectoryError | ValueError):
            return Refused(Kind.MISSING, path)
        return Refused(Kind.UNREADABLE, path, reason=reason_of(error) if isinstance(error, OSError) else shown(error))
    # git-annex keeps an absent file as a link into a store that has no such object.
    kind = Kind.ANNEX_POINTER if "annex/objects" in target.replace("\\", "/") else Kind.BROKEN_LINK
    return Refused(kind, path, target=shown(target)) if kind is Kind.BROKEN_LINK else Refused(kind, path)


def _has_leftover(path: Path) -> bool:
    # aria2 gives the file its full length at once; only this neighbour says that it is not complete.
    return path.with_name(path.name + ".aria2").exists()


def _judge_head(path: Path, head: bytes, size: int, text: bool) -> None:
    if not head:
        raise Refused(Kind.EMPTY, path)
    if head.startswith(_LFS):
        wanted = _SIZE.search(head)
        raise Refused(Kind.LFS_POINTER, path, bytes=int(wanted.group(1)) if wanted else None)
    if size <= _POINTER_LIMIT and _ANNEX.match(head):
        raise Refused(Kind.ANNEX_POINTER, path)
    start = head.removeprefix(b"\xef\xbb\xbf").lstrip()[:64].lower()
    if start.startswith((b"<!doctype html", b"<html", b"<?xml")):
        raise Refused(Kind.WEB_PAGE, path, bytes=size)
    if not head.strip(b"\0"):
        raise Refused(Kind.ZEROS, path, bytes=size)
    for magic, name in _ARCHIVES.items():
        if head.startswith(magic):
            raise Refused(Kind.ARCHIVE, path, archive=name)
    if not text and size <= _HEAD and _is_text(head):
        # What a server answers instead of a file: `Entry not found`, `{"error": "..."}`; or a link saved as text.
        raise Refused(Kind.PLAIN_TEXT, path, bytes=size, words=shown(head[:120].decode("utf-8", "replace")))


def _is_text(data: bytes) -> bool:
    try:
        text = data.decode("utf-8")
    except UnicodeDecodeError:
        return False
    return all(letter.isprintable() or letter in "\r\n\t" for letter in text)

"""The known-issue book: public reports that explain a finding, read from `assets/known_issues.toml`."""

import re
import tomllib
from collections.abc import Mapping
from dataclasses import dataclass, fields
from functools import cache
from pathlib import Path
from typing import Any

from rocm_wizard.assets import asset
from rocm_wizard.report.exit_forms import exit_forms

PLATFORMS = ("windows", "linux", "any")
CONFIDENCES = ("high", "medium", "low")
_ID = re.compile(r"[a-z0-9]+(-[a-z0-9]+)*")


class BookError(ValueError):
    """The book's file is not a book; the message names the entry and the field."""


@dataclass(frozen=True, slots=True)
class Matcher:
    """When an entry applies. Every field that is given must hold; inside a field one item is enough.

    Attributes:
        finding: patterns of finding ids (`*` stands for anything); the file may write `@name` for one of its groups.
        exit: exit codes in any form.
        text: tokens looked for in the finding's text facts (stderr tails too), whatever their case.
        text_all: tokens of which none may be absent.
        step: patterns of the step that was running.
        gpu: the computing GPU: `gfx1103`, `gfx12*`, `pci:15bf`, or a part of its name.
        beside: another AMD adapter that must be in the machine, written like `gpu`.
        torch: patterns of torch versions with their local tag.
        rocm: patterns of ROCm or HIP versions, or `<7.2`, `>=7.2`.
        driver: patterns or bounds of the GPU's driver, as WDDM (`32.0.23017.1001`) or Adrenalin number (`26.1.1`).
    """

    finding: tuple[str, ...]
    exit: tuple[str, ...] = ()
    text: tuple[str, ...] = ()
    text_all: tuple[str, ...] = ()
    step: tuple[str, ...] = ()
    gpu: tuple[str, ...] = ()
    beside: tuple[str, ...] = ()
    torch: tuple[str, ...] = ()
    rocm: tuple[str, ...] = ()
    driver: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class KnownIssue:
    """One entry. `command` is None where there is nothing to type, `fixed_in` where nobody stated a fix."""

    id: str
    title: str
    platform: str
    match: Matcher
    cause: str
    remedy: str
    link: str
    confidence: str
    command: str | None = None
    fixed_in: str | None = None
    related: tuple[str, ...] = ()


def load_known_issues(path: Path | None = None) -> tuple[KnownIssue, ...]:
    """The book's entries in the file's order; without a path the one that comes with the program.

    Raises:
        OSError: the file cannot be read.
        BookError: it is not a book.
    """
    return _load(path or asset("known_issues.toml"))


@cache
def _load(path: Path) -> tuple[KnownIssue, ...]:
    try:
        values = tomllib.loads(path.read_text(encoding="utf-8"))
    except (tomllib.TOMLDecodeError, UnicodeDecodeError) as error:
        raise BookError(f"{path.name}: {error}") from error
    groups = {name: _tokens("groups", name, ids) for name, ids in values.get("groups", {}).items()}
    book: dict[str, KnownIssue] = {}
    for row in values.get("issue", []):
        issue = _issue(row, groups)
        if issue.id in book:
            raise BookError(f"{issue.id}: the id is there twice")
        book[issue.id] = issue
    return tuple(book.values())


def _issue(row: Mapping[str, Any], groups: Mapping[str, tuple[str, ...]]) -> KnownIssue:
    name = str(row.get("id"))
    texts = {field.name for field in fields(KnownIssue)} - {"match", "related"}
    required = texts - {"command", "fixed_in"} | {"match"}
    if missing := sorted(required - set(row)):
        raise BookError(f"{name}: {', '.join(missing)} missing")
    if unknown := sorted(set(row) - texts - {"match", "related"}):
        raise BookError(f"{name}: unknown field {', '.join(unknown)}")
    if bad := sorted(field for field in texts & set(row) if not isinstance(row[field], str) or not row[field].strip()):
        raise BookError(f"{name}: {', '.join(bad)} must be text")
    if not _ID.fullmatch(name):
        raise BookError(f"{name}: an id has lower-case words joined by hyphens")
    if row["platform"] not in PLATFORMS or row["confidence"] not in CONFIDENCES:
        raise BookError(f"{name}: platform or confidence is none of the known words")
    related = _tokens(name, "related", row.get("related", []))
    if bad := [link for link in (row["link"], *related) if not link.startswith("https://")]:
        raise BookError(f"{name}: {bad[0]} is no https link")
    plain = {field: row[field] for field in texts & set(row)}
    return KnownIssue(match=_matcher(name, row["match"], groups), related=related, **plain)


def _matcher(name: str, row: Any, groups: Mapping[str, tuple[str, ...]]) -> Matcher:
    known = {field.name for field in fields(Matcher)}
    if not isinstance(row, Mapping) or "finding" not in row or set(row) - known:
        raise BookError(f"{name}: match needs finding and knows only {', '.join(sorted(known))}")
    tokens = {field: _tokens(name, field, value) for field, value in row.items()}
    tokens["finding"] = _expanded(name, tokens["finding"], groups)
    matcher = Matcher(**tokens)
    if set(row) == {"finding"}:
        raise BookError(f"{name}: a finding id alone matches too much")
    try:
        for code in matcher.exit:
            exit_forms(code)
    except ValueError as error:
        raise BookError(f"{name}: {error}") from error
    return matcher


def _expanded(name: str, ids: tuple[str, ...], groups: Mapping[str, tuple[str, ...]]) -> tuple[str, ...]:
    expanded: list[str] = []
    for id in ids:
        if not id.startswith("@"):
            expanded.append(id)
        elif id[1:] in groups:
            expanded += groups[id[1:]]
        else:
            raise BookError(f"{name}: there is no group {id}")
    return tuple(dict.fromkeys(expanded))


def _tokens(name: str, field: str, value: Any) -> tuple[str, ...]:
    if not isinstance(value, list) or not all(isinstance(item, str) and item.strip() for item in value):
        raise BookError(f"{name}: {field} must be a list of texts")
    return tuple(value)

"""Judge the values of a `.env` by the catalogue: type, range, truth, files, combinations, near misses of names.

The values are those that the host reads, `${...}` expanded. What is wrong with the lines themselves is the matter of
`find_notices`.
"""

from collections.abc import Callable, Collection, Iterator, Mapping
from dataclasses import dataclass, field
from difflib import get_close_matches
from pathlib import Path
from typing import Any

from rocm_wizard.envfile.catalogue import EnvCatalogue, KeySpec, Rule, Weight
from rocm_wizard.envfile.document import Document
from rocm_wizard.envfile.paths import check_path
from rocm_wizard.envfile.placeholders import is_placeholder
from rocm_wizard.envfile.secrets import mask
from rocm_wizard.envfile.values import read_values

_CLOSE = 0.88  # below it, TTS_REF_TEXT_ZH would be taken for a slip of TTS_REF_TEXT_JA
_MOST_UNKNOWN = 500
_YES = frozenset({"1", "true", "yes", "on", "t", "y", "enabled"})
_NO = frozenset({"0", "false", "no", "off", "f", "n", "disabled", ""})


@dataclass(frozen=True)
class Problem:
    """One thing about one key (or about several, for a rule). `facts` are plain values, secrets masked."""

    code: str
    weight: Weight
    key: str
    line: int | None
    facts: Mapping[str, Any] = field(default_factory=dict[str, Any])


def lint(
    document: Document,
    catalogue: EnvCatalogue,
    *,
    environment: Mapping[str, str] | None = None,
    root: Path | None = None,
    known: Collection[str] = (),
    seconds_of: Callable[[Path], float | None] | None = None,
) -> list[Problem]:
    """All problems in the order of the file, rules last.

    `root` is the checkout, against which paths are looked up (`None`: files are not looked at). `known` are further
    keys that the host has. `seconds_of` gives the length of a sound file, `None` where it cannot be read.

    Raises:
        Unreadable: the references in the file blow up.
    """
    values = {key: value for key, value in read_values(document, environment or {}).items() if value is not None}
    found: list[Problem] = []
    for key, value in values.items():
        statement = document.effective(key)
        line = document.line(statement.start) if statement else None
        if (spec := catalogue.by_name.get(key)) is None:
            continue
        for code, weight, facts in _of_value(spec, value, root, seconds_of):
            shown = {"value": mask(key, value), **facts}
            found.append(Problem(code, weight, key, line, shown))
    found += _near_misses(document, catalogue, known)
    found.sort(key=lambda problem: problem.line or 0)
    return found + [_of_rule(rule, values, document) for rule in catalogue.rules if _holds(rule, values, catalogue)]


type _Found = Iterator[tuple[str, Weight, dict[str, Any]]]


def _of_value(
    spec: KeySpec, value: str, root: Path | None, seconds_of: Callable[[Path], float | None] | None
) -> _Found:
    if is_placeholder(value):
        yield "placeholder", Weight.BREAKS, {}
        return
    word = value.strip().casefold()
    if not word:  # the host takes its default
        return
    if spec.type == "choice" and word not in (allowed.casefold() for allowed in spec.allowed):
        weight = Weight.BREAKS if spec.bad == "stops" else Weight.TRAP
        numbered = spec.refused != "not_allowed" and word.partition(":")[0] == "cuda"
        yield spec.refused if numbered else "not_allowed", weight, {"allowed": [word for word in spec.allowed if word]}
        return
    if spec.type in ("integer", "number"):
        yield from _of_number(spec, value)
    elif spec.type == "integers" and _numbers(value) is None:
        yield "not_numbers", Weight.TRAP, {}
    elif spec.type == "boolean":
        yield from _of_boolean(spec, word)
    elif spec.type == "path" and root is not None:
        yield from _of_path(spec, root / value, seconds_of)
    if spec.baseline and word not in spec.baseline:
        yield "not_baseline", Weight.TRAP, {"baseline": spec.baseline[0]}


def _of_number(spec: KeySpec, value: str) -> _Found:
    try:
        number = int(value) if spec.type == "integer" else float(value)
    except ValueError:
        number = None
    if number is None or number != number or abs(number) == float("inf"):
        stops = spec.bad == "stops"
        code = "number_stops" if stops else "number_ignored"
        yield code, Weight.BREAKS if stops else Weight.TRAP, {"type": spec.type, "default": spec.default}
        return
    low, high = spec.minimum, spec.maximum
    if (low is not None and number < low) or (high is not None and number > high):
        yield spec.outside, Weight.TRAP, {"minimum": low, "maximum": high}


def _of_boolean(spec: KeySpec, word: str) -> _Found:
    truths = spec.truths(word)
    true = [reader for reader, truth in truths.items() if truth]
    false = [reader for reader, truth in truths.items() if not truth]
    if true and false:
        yield "truth_differs", Weight.TRAP, {"true_for": true, "false_for": false}
    elif word in _YES and false:
        yield "truth_missed", Weight.TRAP, {"readers": false, "spellings": _spellings(spec, "true")}
    elif word in _NO and true:
        yield "falsehood_missed", Weight.TRAP, {"readers": true, "spellings": _spellings(spec, "false")}
    elif word not in _YES | _NO:
        yield "no_boolean", Weight.TRAP, {"means": "true" if true else "false"}


def _spellings(spec: KeySpec, kind: str) -> list[str]:
    return list(dict.fromkeys(word for words in spec.readers.values() for word in words.get(kind, ())))


def _of_path(spec: KeySpec, path: Path, seconds_of: Callable[[Path], float | None] | None) -> _Found:
    fault = check_path(path, spec.path, spec.suffixes, seconds_of)
    if fault is not None:
        weight = Weight.BREAKS if spec.missing == "breaks" else Weight.TRAP
        ignored = fault.code == "missing" and spec.missing == "ignored" and spec.path == "interpreter"
        yield "path_ignored" if ignored else f"path_{fault.code}", weight, {"path": str(path), **fault.facts}


def _numbers(value: str) -> list[int] | None:
    try:
        return [int(item) for item in value.split(",") if item.strip()]
    except ValueError:
        return None


def _near_misses(document: Document, catalogue: EnvCatalogue, known: Collection[str]) -> Iterator[Problem]:
    names = list(catalogue.by_name)
    ours = (
        key
        for key in document.assignments
        if key not in catalogue.by_name and key not in known and key.upper().startswith(catalogue.families)
    )
    for _, key in zip(range(_MOST_UNKNOWN), ours, strict=False):
        near = get_close_matches(key.upper(), names, 1, _CLOSE)
        if near:
            statement = document.effective(key)
            line = document.line(statement.start) if statement else None
            yield Problem("near_miss", Weight.TRAP, key, line, {"meant": near[0]})


def _of_rule(rule: Rule, values: Mapping[str, str], document: Document) -> Problem:
    keys = [condition["key"] for condition in rule.when]
    first = next(key for key in keys if key in values)
    statement = document.effective(first)
    line = document.line(statement.start) if statement else None
    shown = {"value": mask(first, values[first]), "keys": [key for key in keys if key in values]}
    return Problem(f"rule_{rule.id}", rule.weight, first, line, shown)


def _holds(rule: Rule, values: Mapping[str, str], catalogue: EnvCatalogue) -> bool:
    return any(condition["key"] in values for condition in rule.when) and all(
        _condition_holds(condition, values, catalogue) for condition in rule.when
    )


def _condition_holds(condition: Mapping[str, Any], values: Mapping[str, str], catalogue: EnvCatalogue) -> bool:
    spec = catalogue.by_name[condition["key"]]
    word = (values.get(spec.name) or spec.default).strip().casefold()
    match condition:
        case {"in": options}:
            return word in options
        case {"not_in": options}:
            return word not in options
        case {"starts": start}:
            return word.startswith(start)
        case {"set": wanted}:
            return bool(word) is wanted
        case {"is": wanted}:
            return set(spec.truths(word).values()) == {wanted}
        case {"outside": other}:
            numbers = _numbers(values.get(other) or catalogue.by_name[other].default)
            number = _numbers(word)
            return bool(numbers and number and number[0] not in numbers)
        case _:
            raise ValueError(f"no such condition: {condition}")

"""Which known issues explain a finding, best first. A pure function of facts.

Ranking rule. Among the entries that match, the first difference decides:
1. more exact versions named and met (torch, ROCm, driver; no pattern, no bound),
2. the GPU named, and then the adapter beside it,
3. more version patterns or bounds met,
4. more kinds of evidence (exit code, text, step),
5. more characters of matched text,
6. the higher confidence,
7. the order in the book.

What a finding does not tell cannot be met: an entry about gfx1103 needs a gfx1103 (or an adapter that is one), an entry
about torch 2.9.1+rocm7.2.1 needs to know torch. Only the platform is the exception: unknown, it excludes nothing.
"""

import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from fnmatch import fnmatchcase
from functools import cache
from typing import Any

from rocm_wizard.qualification.finding import Finding
from rocm_wizard.qualification.outcome import Outcome
from rocm_wizard.report.evidence import Evidence, Gpu, gather, learn, machine_facts
from rocm_wizard.report.exit_forms import exit_forms
from rocm_wizard.report.issue_book import CONFIDENCES, BookError, KnownIssue, Matcher, load_known_issues

__all__ = [
    "BookError",
    "KnownIssue",
    "Match",
    "Matcher",
    "best_issue",
    "learn",
    "load_known_issues",
    "machine_facts",
    "match_issues",
    "may_match",
]

_BOUND = re.compile(r"(<=|>=|<|>)\s*(.+)")
_FIRST_WDDM = 30
"""WDDM drivers count 32.0.x.y, Adrenalin packages by the year: 26.2.2. The two are never compared."""


@dataclass(frozen=True, slots=True)
class Match:
    """An entry that explains a finding, and by which of its fields (`because`, in the matcher's words)."""

    issue: KnownIssue
    because: tuple[str, ...]
    rank: tuple[int, ...]


def match_issues(finding: Finding, machine: Mapping[str, Any], book: Sequence[KnownIssue] | None = None) -> list[Match]:
    """The entries that explain a finding which did not pass, best first (see the ranking rule above).

    Args:
        finding: what was established.
        machine: the run's machine facts, as `machine_facts` or `learn` make them.
        book: the entries; without it the book that comes with the program.
    """
    if finding.outcome is Outcome.PASSED:
        return []
    evidence = gather(finding, machine)
    found = (_match(issue, evidence) for issue in (load_known_issues() if book is None else book))
    return sorted((match for match in found if match is not None), key=lambda match: match.rank, reverse=True)


def best_issue(finding: Finding, machine: Mapping[str, Any]) -> KnownIssue | None:
    """The entry that explains a finding best, if any."""
    matches = match_issues(finding, machine)
    return matches[0].issue if matches else None


def may_match(issue: KnownIssue, finding_id: str) -> bool:
    """Whether an entry can explain findings of this id at all."""
    return _any_pattern(issue.match.finding, (finding_id,)) is not None


def _match(issue: KnownIssue, evidence: Evidence) -> Match | None:
    wanted = issue.match
    if not may_match(issue, evidence.finding) or not _on(issue.platform, evidence.platform):
        return None
    gpus = tuple(gpu for gpu in evidence.gpus if _is_one_of(gpu, wanted.gpu)) if wanted.gpu else evidence.gpus
    drivers = tuple(driver for gpu in gpus for driver in gpu.drivers)
    versions = {
        "torch": _any_version(wanted.torch, evidence.torch),
        "rocm": _any_version(wanted.rocm, evidence.rocm),
        "driver": _any_version(wanted.driver, drivers),
    }
    tokens = _found(wanted.text, evidence.text)
    every = _found(wanted.text_all, evidence.text)
    holds = {
        "exit": any(exit_forms(code) & evidence.exits for code in wanted.exit),
        "text": bool(tokens),
        "text_all": len(every) == len(wanted.text_all),
        "step": _any_pattern(wanted.step, (evidence.step,)) is not None,
        "gpu": bool(gpus),
        "beside": any(_is_one_of(gpu, wanted.beside) for gpu in evidence.adapters),
        **{name: met is not None for name, met in versions.items()},
    }
    because = tuple(name for name in holds if getattr(wanted, name))
    if not all(holds[name] for name in because):
        return None
    met = [spec for name, spec in versions.items() if name in because and spec is not None]
    exact = sum(1 for spec in met if not _is_open(spec))
    rank = (
        exact,
        ("gpu" in because) + ("beside" in because),
        len(met) - exact,
        sum(1 for name in because if name in ("exit", "text", "text_all", "step")),
        sum(len(token) for token in tokens + every),
        -CONFIDENCES.index(issue.confidence),
    )
    return Match(issue, because, rank)


def _on(wanted: str, platform: str) -> bool:
    return wanted == "any" or platform in ("", wanted)


def _is_one_of(gpu: Gpu, wanted: Iterable[str]) -> bool:
    for token in (token.casefold() for token in wanted):
        if token.startswith("gfx"):
            if fnmatchcase(gpu.gfx, token):
                return True
        elif token.startswith("pci:"):
            if gpu.pci == token.removeprefix("pci:"):
                return True
        elif _found((token,), gpu.name):
            return True
    return False


@cache
def _pattern(token: str) -> re.Pattern[str]:
    """A token as it stands, but no part of a longer word: `nan` is not in `finance`."""
    text = " ".join(token.casefold().split())
    before = r"(?<![a-z0-9])" if text[:1].isalnum() else ""
    after = r"(?![a-z0-9])" if text[-1:].isalnum() else ""
    return re.compile(before + re.escape(text) + after)


def _found(tokens: Iterable[str], text: str) -> list[str]:
    return [token for token in tokens if _pattern(token).search(text)]


def _any_pattern(patterns: Iterable[str], values: Iterable[str]) -> str | None:
    values = tuple(values)
    return next((p for p in patterns if any(fnmatchcase(value, p.casefold()) for value in values)), None)


def _is_open(spec: str) -> bool:
    return "*" in spec or _BOUND.match(spec) is not None


def _any_version(specs: Iterable[str], values: Sequence[str]) -> str | None:
    """The first spec that a value meets, exact ones before open ones."""
    for spec in sorted(specs, key=_is_open):
        bound = _BOUND.match(spec)
        for value in values:
            if _within(bound[1], bound[2], value) if bound else fnmatchcase(value, spec.casefold()):
                return spec
    return None


def _within(operator: str, limit: str, value: str) -> bool:
    have, want = _numbers(value), _numbers(limit)
    if not have or not want or (have[0] >= _FIRST_WDDM) is not (want[0] >= _FIRST_WDDM):
        return False
    have = have[: len(want)] + (0,) * (len(want) - len(have))
    return {"<": have < want, "<=": have <= want, ">": have > want, ">=": have >= want}[operator]


def _numbers(version: str) -> tuple[int, ...]:
    parts = re.match(r"\d+(?:\.\d+)*", version)
    return tuple(int(part) for part in parts[0].split(".")) if parts else ()

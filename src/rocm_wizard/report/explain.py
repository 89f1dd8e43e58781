"""Any finding or known issue told in full, offline, without a run."""

import difflib
import string
from collections.abc import Iterable, Iterator, Mapping
from typing import Any

from rocm_wizard.report.catalogue import Catalogue, load_strings
from rocm_wizard.report.known_issues import KnownIssue, load_known_issues, may_match

_STAGE_OF_FAMILY = {
    "env": "env_merge",
    "asr": "asr_smoke",
    "tts": "tts_smoke",
    "playback": "tts_smoke",
    "heard": "tts_smoke",
}
_INDENT = "  "
_CLOSEST = 4


def finding_ids() -> list[str]:
    """Every finding that has words, sorted."""
    return sorted(load_strings("en")["finding"])


def issue_ids() -> list[str]:
    """Every known issue, in the book's order."""
    return [issue.id for issue in load_known_issues()]


def explain(id: str, catalogue: Catalogue) -> list[str] | None:
    """The lines that explain a finding id or a known-issue id; None when there is no such id."""
    name = id.strip().casefold()
    if name in load_strings("en")["finding"]:
        return list(_finding(name, catalogue))
    issue = next((issue for issue in load_known_issues() if issue.id == name), None)
    return None if issue is None else list(_issue(issue, catalogue))


def closest_ids(id: str) -> list[str]:
    """Existing ids that look like this one, the likeliest first: by spelling, or by a word that both have."""
    known = [*finding_ids(), *issue_ids()]
    name = id.strip().casefold()
    alike = difflib.get_close_matches(name, known, n=_CLOSEST, cutoff=0.6)
    words = [word for word in name.replace(".", " ").replace("_", " ").replace("-", " ").split() if len(word) > 2]
    scored = [(sum(word in other for word in words), other) for other in known if other not in alike]
    sharing = [other for score, other in sorted(scored, key=lambda pair: -pair[0]) if score]
    return [*alike, *sharing][:_CLOSEST]


def list_all(catalogue: Catalogue) -> list[str]:
    """Every id with one line about it."""
    lines = [catalogue.format("explain", "all_findings"), ""]
    for id in finding_ids():
        texts = [text for _, text in _words(catalogue, id, "text")]
        lines.append(f"{_INDENT}{id}: {texts[0] if texts else id}")
    lines += ["", catalogue.format("explain", "all_issues"), ""]
    lines += [f"{_INDENT}{issue.id}: {issue.title}" for issue in load_known_issues()]
    return [*lines, "", catalogue.format("explain", "facts"), catalogue.format("explain", "more")]


def template(text: str) -> str:
    """A catalogue text with its gaps shown as `<name>`."""
    parts = string.Formatter().parse(text)
    return "".join(literal + (f"<{name}>" if name is not None else "") for literal, name, _, _ in parts)


def issue_lines(issue: Mapping[str, Any], catalogue: Catalogue) -> list[str]:
    """A matched issue in few lines, as it stands below its finding: id and title, remedy, command, link."""
    lines = [catalogue.format("explain", "known_issue", id=issue["id"], title=issue["title"]), issue["remedy"]]
    if issue["command"]:
        lines.append(f"{catalogue.format('report', 'next')}: {issue['command']}")
    return [*lines, issue["link"]]


def issue_record(issue: KnownIssue) -> dict[str, Any]:
    """A matched issue as plain values, for report files."""
    names = ("id", "title", "cause", "remedy", "command", "fixed_in", "link", "confidence")
    return {name: getattr(issue, name) for name in names}


def _words(catalogue: Catalogue, id: str, part: str) -> list[tuple[str | None, str]]:
    """The texts of one part of a finding, each with the outcome it belongs to (None: all)."""
    for language in (catalogue.language, "en"):
        entry = load_strings(language).get("finding", {}).get(id, {}).get(part)
        if isinstance(entry, str):
            return [(None, template(entry))]
        if isinstance(entry, dict):
            return [(outcome, template(text)) for outcome, text in entry.items()]
    return []


def _finding(id: str, catalogue: Catalogue) -> Iterator[str]:
    def word(key: str) -> str:
        return catalogue.format("explain", key)

    yield catalogue.format("explain", "finding", id=id)
    family = id.partition(".")[0]
    explains = catalogue.stage_explains(_STAGE_OF_FAMILY.get(family, family))
    if explains:
        yield f"{word('stage')}: {explains}"
    gaps = False
    for part, key in (("text", "text"), ("hint", "meaning"), ("action", "action"), ("link", "link")):
        for outcome, text in _words(catalogue, id, part):
            when = "" if outcome is None else f" ({catalogue.format('outcome', outcome)})"
            gaps = gaps or "<" in text
            yield f"{word(key)}{when}: {text}"
    if gaps:
        yield word("facts")
    behind = [issue for issue in load_known_issues() if may_match(issue, id)]
    if behind:
        yield ""
        yield f"{word('causes')}:"
        yield from (f"{_INDENT}{issue.id}: {issue.title}" for issue in behind)
        yield word("depends")


def _issue(issue: KnownIssue, catalogue: Catalogue) -> Iterator[str]:
    def word(key: str) -> str:
        return catalogue.format("explain", key)

    yield catalogue.format("explain", "known_issue", id=issue.id, title=issue.title)
    rows: Iterable[tuple[str, str | None]] = (
        ("cause", issue.cause),
        ("remedy", issue.remedy),
        ("action", issue.command),
        ("fixed_in", issue.fixed_in),
        ("platform", word(f"platform_{issue.platform}")),
        ("confidence", word(f"confidence_{issue.confidence}")),
        ("explains", ", ".join(issue.match.finding)),
    )
    yield from (f"{word(key)}: {text}" for key, text in rows if text)
    yield from (f"{word('link')}: {link}" for link in (issue.link, *issue.related))

"""The report as Markdown, for an issue or a chat."""

import re
from collections.abc import Iterable, Mapping
from typing import Any

from rocm_wizard.report.catalogue import Catalogue
from rocm_wizard.report.explain import issue_lines
from rocm_wizard.report.plots import sparkline, split_series
from rocm_wizard.report.told import last_words, machine_rows

_SPECIAL = re.compile(r"([\\`*_{}\[\]<>#|~])")


def escape(value: Any) -> str:
    """Text that Markdown shows as it is, on one line."""
    return _SPECIAL.sub(r"\\\1", " ".join(str(value).split()))


def to_markdown(report: Mapping[str, Any], catalogue: Catalogue) -> str:
    """The whole report."""
    return "\n".join(_lines(report, catalogue)) + "\n"


def _lines(report: Mapping[str, Any], catalogue: Catalogue) -> Iterable[str]:
    def word(key: str, **facts: Any) -> str:
        return catalogue.format("report", key, **facts)

    yield f"# {word('title')}"
    yield ""
    yield f"**{escape(report['sentence'])}**"
    yield ""
    if report["why"]:
        yield from _finding(report["why"], word, catalogue)
        yield ""
    yield escape(report["does_not_prove"])
    yield ""
    version, started = report["tool_version"], report["started"]
    yield escape(word("made_by", version=version, started=started, seconds=report["seconds"]))
    yield ""
    if report["missing"]:
        yield f"## {word('missing')}"
        yield ""
        yield from (f"- {escape(line)}" for line in report["missing"])
        yield ""
    yield f"## {word('steps')}"
    yield ""
    yield f"| {word('step')} | {word('outcome')} | {word('time')} |"
    yield "|---|---|---:|"
    for stage in report["stages"]:
        blocked = (
            f" ({word('blocked_by', stage=catalogue.stage_title(stage['blocked_by']))})" if stage["blocked_by"] else ""
        )
        time = "" if stage["seconds"] is None else f"{stage['seconds']:.2f} s"
        yield f"| {escape(stage['title'])} | {escape(stage['outcome_word'] + blocked)} | {time} |"
    for stage in report["stages"]:
        yield from _stage(stage, word, catalogue)
    yield ""
    yield f"## {word('machine')}"
    yield ""
    yield from (f"- {escape(name)}: {escape(value)}" for name, value in machine_rows(report["machine"]))


def _stage(stage: Mapping[str, Any], word: Any, catalogue: Catalogue) -> Iterable[str]:
    if stage["findings"]:
        yield ""
        yield f"## {escape(stage['title'])}"
        yield ""
    for finding in stage["findings"]:
        yield from _finding(finding, word, catalogue)
    if stage["measurements"]:
        yield ""
        yield f"| {word('quantity')} | {word('phase')} | {word('sample')} | {word('value')} |"
        yield "|---|---|---:|---:|"
    series, rows = split_series(stage["measurements"])
    for one in series:
        line = sparkline([value for _, value in one.points])
        yield f"| {escape(one.name)} | {line} | {len(one.points)} | {escape(one.range)} |"
    for m in rows:
        yield f"| {escape(m['name'])} | {catalogue.phase(m['phase'])} | {m['sample']} | {m['value']:.4g} {m['unit']} |"


def _finding(finding: Mapping[str, Any], word: Any, catalogue: Catalogue) -> Iterable[str]:
    yield f"- **{escape(finding['outcome_word'])}** `{finding['id']}` {escape(finding['text'])}"
    if finding["hint"] and finding["outcome"] != "passed":
        yield f"  - {word('hint')}: {escape(finding['hint'])}"
    if finding["action"] and finding["outcome"] != "passed":
        yield f"  - {word('next')}: `{finding['action'].replace('`', '')}`"
    if words := last_words(finding["outcome"], finding["facts"]):
        yield f"  - {word('last_words')}:"
        yield from (f"    - {escape(line)}" for line in words)
    for issue in finding["known_issues"]:
        first, *more, link = issue_lines(issue, catalogue)
        yield f"  - {escape(first)}"
        yield from (f"    - {escape(line)}" for line in more)
        yield f"    - <{link}>"

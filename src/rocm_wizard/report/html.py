"""The report as one HTML file: no script, no request, everything escaped."""

from collections.abc import Iterable, Mapping
from html import escape
from typing import Any

from rocm_wizard.report.catalogue import Catalogue
from rocm_wizard.report.explain import issue_lines
from rocm_wizard.report.plots import split_series, svg
from rocm_wizard.report.told import last_words, machine_rows

_STYLE = """
:root{color-scheme:light dark;--ok:#1a7f37;--warn:#9a6700;--bad:#cf222e;--dim:#6e7781}
body{font:16px/1.5 system-ui,sans-serif;max-width:60rem;margin:2rem auto;padding:0 1rem}
h1{font-size:1.3rem}h2{font-size:1.1rem;margin-top:2rem}
.verdict{font-size:1.25rem;font-weight:600}
table{border-collapse:collapse;width:100%}
td,th{text-align:left;padding:.3rem .6rem;border-bottom:1px solid #8884;vertical-align:top}
td.n{text-align:right;white-space:nowrap;font-variant-numeric:tabular-nums}
.w{font-weight:600;white-space:nowrap}.passed{color:var(--ok)}.warning,.skipped{color:var(--warn)}
.failed,.crashed,.could_not_check{color:var(--bad)}.blocked,.cancelled{color:var(--dim)}
code{background:#8882;padding:.1rem .3rem;border-radius:.2rem}.dim{color:var(--dim)}
.stamp{border:3px solid var(--bad);color:var(--bad);display:inline-block;padding:.2rem .8rem;font-weight:700}
"""


def _e(value: Any) -> str:
    return escape(str(value), quote=True)


def to_html(report: Mapping[str, Any], catalogue: Catalogue) -> str:
    """The whole report."""
    return "\n".join(_lines(report, catalogue)) + "\n"


def _lines(report: Mapping[str, Any], catalogue: Catalogue) -> Iterable[str]:
    def word(key: str, **facts: Any) -> str:
        return _e(catalogue.format("report", key, **facts))

    yield f'<!doctype html><html lang="{_e(report["language"])}"><head><meta charset="utf-8">'
    yield '<meta name="viewport" content="width=device-width">'
    yield "<meta http-equiv=\"Content-Security-Policy\" content=\"default-src 'none'; style-src 'unsafe-inline'\">"
    yield f"<title>{word('title')}</title><style>{_STYLE}</style></head><body><h1>{word('title')}</h1>"
    if report["provenance"] not in (None, "live"):
        yield f'<p class="stamp">{_e(str(report["provenance"]).upper())}</p>'
    yield f'<p class="verdict">{_e(report["sentence"])}</p>'
    if report["why"]:
        yield f"<table>{_finding(report['why'], word, catalogue)}</table>"
    yield f"<p>{_e(report['does_not_prove'])}</p>"
    facts = {"version": report["tool_version"], "started": report["started"], "seconds": report["seconds"]}
    yield f'<p class="dim">{word("made_by", **facts)}</p>'
    if report["missing"]:
        yield f"<h2>{word('missing')}</h2><ul>"
        yield from (f"<li>{_e(line)}</li>" for line in report["missing"])
        yield "</ul>"
    yield f"<h2>{word('steps')}</h2><table>"
    for stage in report["stages"]:
        time = "" if stage["seconds"] is None else f"{stage['seconds']:.2f} s"
        by = stage["blocked_by"]
        blocked = " " + word("blocked_by", stage=catalogue.stage_title(by)) if by else ""
        outcome = f'<td class="w {_e(stage["outcome"])}">{_e(stage["outcome_word"])}{blocked}</td>'
        yield f'<tr><td>{_e(stage["title"])}</td>{outcome}<td class="n">{time}</td></tr>'
    yield "</table>"
    for stage in report["stages"]:
        yield from _stage(stage, word, catalogue)
    yield f"<h2>{word('machine')}</h2><table>"
    yield from (f"<tr><td>{_e(name)}</td><td>{_e(value)}</td></tr>" for name, value in machine_rows(report["machine"]))
    yield "</table></body></html>"


def _stage(stage: Mapping[str, Any], word: Any, catalogue: Catalogue) -> Iterable[str]:
    if not stage["findings"]:
        return
    yield f"<h2>{_e(stage['title'])}</h2><table>"
    yield from (_finding(finding, word, catalogue) for finding in stage["findings"])
    yield "</table>"
    if stage["measurements"]:
        yield f"<table><tr><th>{word('quantity')}</th><th>{word('phase')}</th><th>{word('value')}</th></tr>"
        series, rows = split_series(stage["measurements"])
        for one in series:
            yield f'<tr><td>{_e(one.name)}</td><td>{svg(one)}</td><td class="n">{_e(one.range)}</td></tr>'
        for m in rows:
            value = f"{m['value']:.4g} {m['unit']}"
            phase = f"{catalogue.phase(m['phase'])} {m['sample']}"
            yield f'<tr><td>{_e(m["name"])}</td><td>{_e(phase)}</td><td class="n">{_e(value)}</td></tr>'
        yield "</table>"


def _finding(finding: Mapping[str, Any], word: Any, catalogue: Catalogue) -> str:
    more = ""
    if finding["outcome"] != "passed":
        more += f'<br><span class="dim">{_e(finding["hint"])}</span>' if finding["hint"] else ""
        more += f"<br>{word('next')}: <code>{_e(finding['action'])}</code>" if finding["action"] else ""
    if words := last_words(finding["outcome"], finding["facts"]):
        more += f"<br>{word('last_words')}:" + "".join(f"<br><code>{_e(line)}</code>" for line in words)
    for issue in finding["known_issues"]:
        first, *rest = issue_lines(issue, catalogue)
        more += f"<br><b>{_e(first)}</b>" + "".join(f"<br>{_e(line)}" for line in rest)
    outcome = f'<td class="w {_e(finding["outcome"])}">{_e(finding["outcome_word"])}</td>'
    return f"<tr>{outcome}<td><code>{_e(finding['id'])}</code></td><td>{_e(finding['text'])}{more}</td></tr>"

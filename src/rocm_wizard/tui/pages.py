"""The texts of the centre: a finding in full, a step without findings, and the result of the whole run."""

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from textual.content import Content

from rocm_wizard.qualification.finding import Finding
from rocm_wizard.qualification.outcome import Outcome
from rocm_wizard.qualification.state import CheckState, RunState, StageState
from rocm_wizard.report.verdict import verdict_sentence
from rocm_wizard.tui.bars import bar
from rocm_wizard.tui.header import Moment
from rocm_wizard.tui.text import Line, fit, named_values, paragraph, spread, stack
from rocm_wizard.tui.words import Words, first_bad_finding, stage_state

_BAR_WIDTH = 40


def heading(text: str) -> list[Line]:
    """A blank line and a heading."""
    return [Content(""), Content.styled(text, "bold $accent")]


def command(text: str, width: int) -> list[Line]:
    """The exact command, alone on its lines so that it can be selected."""
    return paragraph(text, width, "bold", indent=2, first="  ")


def advice(words: Words, run: RunState, finding: Finding, width: int) -> list[Line]:
    """Hint, command and link of a finding."""
    catalogue, lines = words.catalogue, list[Line]()
    if hint := catalogue.hint(finding):
        lines += [Content(""), *paragraph(hint, width, "$soft")]
    if action := words.command(run, finding):
        lines += [*heading(words.ui("word_action")), *command(action, width)]
    if link := catalogue.link(finding):
        lines += [*heading(words.ui("word_link")), *paragraph(link, width, indent=2, first="  ")]
    return lines


def known_issue(words: Words, run: RunState, finding: Finding, width: int) -> list[Line]:
    """The entry of the known-issue book that fits best, if any."""
    from rocm_wizard.report.explain import issue_lines, issue_record  # the book: not while the wizard opens
    from rocm_wizard.report.known_issues import best_issue, machine_facts

    if finding.outcome is Outcome.PASSED or (issue := best_issue(finding, machine_facts(run))) is None:
        return []
    title, *rest = issue_lines(issue_record(issue), words.catalogue)
    lines = [Content(""), *paragraph(title, width, "bold")]
    return [*lines, *(line for text in rest for line in paragraph(text, width, "$soft"))]


def finding_page(words: Words, run: RunState, check: CheckState, width: int) -> Content:
    """A check's finding: sentence, hint, command, link, known issue, facts, id."""
    finding = check.finding
    assert finding is not None
    state = str(finding.outcome)
    title = words.catalogue.check_title(check.id)
    head = Content.assemble((f"{words.glyph(state)} {words.word(state)}", f"bold {words.style(state)}"), f"  {title}")
    lines = [head, Content(""), *paragraph(words.catalogue.sentence(finding), width)]
    lines += [*advice(words, run, finding, width), *known_issue(words, run, finding, width)]
    rows = [(name.replace("_", " "), words.fact(value)) for name, value in finding.facts.items()]
    if rows:
        lines += [*heading(words.ui("word_facts")), *named_values(rows, width)]
    return stack([*lines, Content(""), Content.styled(fit(finding.id, width), "$muted")])


def running_page(words: Words, stage: StageState, check: CheckState | None, now: float, width: int) -> Content:
    """A step that works: what it does, how far it is."""
    lines = list[Line]()
    if check is not None:
        sign = (f"{words.glyph('running')} {words.word('running')}", "bold $accent")
        lines += [Content.assemble(sign, f"  {words.catalogue.check_title(check.id)}"), Content("")]
        lines += paragraph(words.ui("running_for", time=words.clock(max(0.0, now - check.started))), width)
    if (progress := stage.progress) is not None:
        total = progress.total
        key = "progress_open" if total is None else "progress"
        done = words.quantity(progress.done, "")
        text = words.ui(
            key, done=done, total=words.quantity(total or 0.0, ""), unit=words.catalogue.unit(progress.unit)
        )
        lines += [Content(""), *paragraph(text, width)]
        if total:
            drawn = bar(progress.done, total, min(width, _BAR_WIDTH), ascii_only=words.ascii_only)
            lines.append(Content.styled(drawn, "$accent on $panel"))
    return stack(lines)


def waiting_page(words: Words, run: RunState, stage: StageState, width: int) -> Content:
    """A step that has not run: why not, and what would let it."""
    if stage.blocked_by is None:
        return stack(paragraph(words.ui("waiting_text"), width, "$soft"))
    title = words.catalogue.stage_title(stage.blocked_by)
    lines = paragraph(words.ui("blocked_text", stage=title), width)
    finding = first_bad_finding(run)
    if finding is not None:
        lines += [
            Content(""),
            *paragraph(words.catalogue.sentence(finding), width),
            *advice(words, run, finding, width),
        ]
    return stack([*lines, Content(""), *paragraph(words.ui("blocked_hint", stage=title), width, "$soft")])


@dataclass(frozen=True, slots=True)
class Ending:
    """What the end of a run left: report files, and what went wrong with writing them."""

    reports: tuple[Path, ...] = ()
    troubles: tuple[str, ...] = ()


def verdict_lines(words: Words, run: RunState, moment: Moment, width: int) -> list[Line]:
    """The verdict's sentence with its restrictions, the first thing that is said."""
    state = words.verdict(run, moment.code)[0]
    sign, style = f"{words.glyph(state)} ", f"bold {words.style(state)}"
    lines = paragraph(verdict_sentence(run, words.catalogue), width, style, indent=2)
    lines[0] = Content.styled(sign, style) + lines[0][2:]
    provenance = run.header.provenance if run.header is not None else "live"
    if provenance != "live":
        lines += paragraph(words.ui(f"verdict_{provenance}"), width, "bold")
    return lines


def result_page(words: Words, run: RunState, moment: Moment, ending: Ending, width: int) -> Content:
    """Verdict, what to do next, each step's outcome, the report files, and what a pass does not prove."""
    lines = verdict_lines(words, run, moment, width)
    for trouble in ending.troubles:
        lines += [Content(""), *paragraph(trouble, width, "$error")]
    finding = first_bad_finding(run)
    if finding is not None and moment.code is not None:
        lines += [*heading(words.ui("word_next")), *paragraph(words.catalogue.sentence(finding), width)]
        lines += [*advice(words, run, finding, width), *known_issue(words, run, finding, width)]
    lines += heading(words.ui("word_steps"))
    lines += [_outcome_line(words, stage, width) for stage in run.stages]
    if moment.code is not None:
        lines += heading(words.ui("word_report"))
        lines += _paths(words, ending.reports, width)
    lines += [Content(""), *paragraph(words.catalogue.format("proves_not", "text"), width, "$soft")]
    return stack(lines)


def _outcome_line(words: Words, stage: StageState, width: int) -> Line:
    state = stage_state(stage)
    text = words.word(state)
    if stage.blocked_by is not None:
        text = words.ui("blocked_by", stage=words.catalogue.stage_title(stage.blocked_by))
    sign = (f"{words.glyph(state)} ", f"bold {words.style(state)}")
    left = Content.assemble(sign, words.catalogue.stage_title(stage.id))
    right = Content.assemble((text, words.style(state)), (words.duration(stage.seconds or None).rjust(9), "$muted"))
    return spread(left, right, min(width, 72))


def _paths(words: Words, reports: Sequence[Path], width: int) -> list[Line]:
    if not reports:
        return paragraph(words.ui("no_reports"), width, "$muted")
    names = ", ".join(path.name for path in reports)
    return [*paragraph(names, width, indent=2), *paragraph(str(reports[0].parent), width, "$soft", indent=2)]

"""The three lines at the top: how the run stands, what is being tested, what is needed next."""

from dataclasses import dataclass

from textual.content import Content

from rocm_wizard.qualification.state import RunState, StageState
from rocm_wizard.report.widths import cells
from rocm_wizard.tui.text import Paper, fit, spread, stack
from rocm_wizard.tui.words import Words, fact_of, first_bad_finding, first_bad_stage, stage_state


@dataclass(frozen=True, slots=True)
class Moment:
    """What the screen knows beside the run's state. `code` is None until the run's end is written."""

    seconds: float
    code: int | None = None
    stopping: bool = False
    broken: bool = False


def running_check(stage: StageState) -> str | None:
    """The check that a running step is at."""
    return next((check.id for check in reversed(stage.checks) if check.finding is None), None)


def need(words: Words, run: RunState, moment: Moment) -> tuple[str, str]:
    """Which step, which state, what is needed next: the state and one sentence."""
    catalogue = words.catalogue
    current = run.current
    if current is not None and moment.code is None:
        title = catalogue.stage_title(current.id)
        if moment.stopping:
            return "running", words.ui("need_stopping", stage=title)
        if run.question is not None:
            return "warning", words.ui("need_question", stage=title)
        check = running_check(current)
        if check is None:
            return "running", words.ui("need_running_short", stage=title)
        return "running", words.ui("need_running", stage=title, check=catalogue.check_title(check))
    if moment.code is None:
        over = all(stage.outcome is not None for stage in run.stages) and run.stages
        return "running", words.ui("need_writing" if over else "need_starting")
    if moment.broken:
        return "crashed", words.ui("need_broken")
    bad = first_bad_stage(run)
    if bad is None:
        return words.verdict(run, moment.code)[0], words.ui("need_done")
    state = stage_state(bad)
    finding = first_bad_finding(run)
    key = "need_retry"
    if finding is not None and words.command(run, finding):
        key = "need_command"
    elif finding is not None and catalogue.hint(finding):
        key = "need_hint"
    return state, words.ui(key, stage=catalogue.stage_title(bad.id), word=words.word(state))


def device_name(run: RunState) -> str | None:
    """What the compute child says that the device is called."""
    for stage in run.stages:
        for finding in stage.findings:
            name = finding.facts.get("device_name")
            if finding.id.startswith("compute.device") and isinstance(name, str):
                return name
    return None


def identity(run: RunState) -> list[str]:
    """Profile, device and level, as far as they are known yet."""
    names = (
        fact_of(run, ("profile",), ("profile",)),
        device_name(run) or fact_of(run, ("device",), ("profile",)),
        run.header.level if run.header is not None else None,
    )
    return [name for name in names if name]


class Header(Paper):
    """Product, verdict so far, time; profile, device, level; which step, which state, what is needed next."""

    def update_run(self, words: Words, run: RunState, moment: Moment, hint: str) -> None:
        """Shows the run; `hint` is appended to the last line where it fits."""
        provenance = run.header.provenance if run.header is not None else "live"
        who = identity(run)
        verdict, _, text = words.verdict(run, moment.code)
        clock = words.clock(run.seconds if moment.code is not None else moment.seconds)
        state, sentence = need(words, run, moment)

        def build(width: int) -> Content:
            badge = Content.styled(f" {words.ui(provenance)} ", "bold $badge-ink on $badge")
            right = Content.assemble(
                badge if provenance != "live" else "",
                "  ",
                (f"{words.glyph(verdict)} {text}", f"bold {words.style(verdict)}"),
                (f"  {clock}", "$muted"),
            )
            top = spread(Content.styled(words.ui("product"), "bold $accent"), right, width)
            room = width - 2
            said = sentence + hint if cells(sentence + hint) <= room else fit(sentence, room)
            below = Content.assemble((f"{words.glyph(state)} ", f"bold {words.style(state)}"), said)
            return stack([top, Content.styled(fit("   ".join(who), width), "$soft"), below])

        self.show((who, verdict, text, clock, state, sentence, hint, provenance), build)

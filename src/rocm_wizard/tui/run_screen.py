"""The one screen of a run: steps on the left, checks and finding in the centre, numbers on the right."""

from typing import ClassVar

from textual.app import ComposeResult
from textual.binding import Binding, BindingType
from textual.containers import Horizontal, Vertical, VerticalScroll
from textual.content import Content
from textual.events import Resize
from textual.geometry import Size
from textual.screen import Screen
from textual.widgets import OptionList

from rocm_wizard.qualification.finding import Finding
from rocm_wizard.qualification.outcome import Outcome
from rocm_wizard.qualification.state import RunState, StageState
from rocm_wizard.tui.feed import LogRing
from rocm_wizard.tui.header import Header, Moment, need
from rocm_wizard.tui.keys import KeyLine
from rocm_wizard.tui.lists import RESULT, Checks, Rail
from rocm_wizard.tui.logpane import LogPane
from rocm_wizard.tui.pages import Ending, finding_page, result_page, running_page, waiting_page
from rocm_wizard.tui.side import Side
from rocm_wizard.tui.text import Paper, paragraph, stack, use_plain_scrollbars
from rocm_wizard.tui.words import Words, first_bad_finding, first_bad_stage, worst_check

MIN_WIDTH, MIN_HEIGHT, WIDE, ROOMY = 80, 24, 110, 32


class RunScreen(Screen[None]):
    """Shows a run. Holds only what the person chose to look at; everything else comes in with `update_run`."""

    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("f", "follow"),
        Binding("x", "log"),
        Binding("m", "numbers"),
        Binding("right", "app.focus_next"),
        Binding("left", "app.focus_previous"),
    ]

    def __init__(self, words: Words, ring: LogRing, run: RunState) -> None:
        super().__init__(classes="-ascii" if words.ascii_only else "")
        self.words = words
        self.selected = run.stages[0].id if run.stages else RESULT
        self.following = True
        self._ring = ring
        self._picked: int | None = None
        self._composed = False
        self._run = run
        self._moment = Moment(0.0)
        self._ending = Ending()

    def compose(self) -> ComposeResult:
        """See `Screen.compose`. The layout is chosen first, so that the first drawing needs no second one."""
        self._choose_layout(self.app.size)
        with Vertical(id="small"):
            yield Paper(id="small-text")
        with Vertical(id="main"):
            yield Header(id="header")
            with Horizontal(id="body"):
                yield Rail(self.words, id="rail")
                with Vertical(id="centre"):
                    yield Paper(id="title")
                    yield Checks(self.words, id="checks")
                    with VerticalScroll(id="detail", can_focus=True):
                        yield Paper(id="page")
                with VerticalScroll(id="side", can_focus=True):
                    yield Side(id="side-text")
            with Vertical(id="log-box"):
                yield Paper(id="log-title")
                yield LogPane(self._ring, id="log")
            yield KeyLine(id="keys")

    def on_mount(self) -> None:
        """The rail has the keys first."""
        self._composed = True
        self.query_one("#rail").focus()
        if self.words.ascii_only:
            use_plain_scrollbars(self)
        text = self.words.ui("word_log")
        self.query_one("#log-title", Paper).show(None, lambda _: Content.styled(text, "bold $accent"))
        self._draw()

    def check_action(self, action: str, parameters: tuple[object, ...]) -> bool | None:
        """See `DOMNode.check_action`. A key that comes before the panes are made finds nothing to act on."""
        return self._composed

    def on_resize(self, event: Resize) -> None:
        """Chooses the layout for the size."""
        self._choose_layout(event.size)
        self._draw()
        self.call_after_refresh(self._draw)  # once more, now that the rows know their width

    def _choose_layout(self, size: Size) -> None:
        self.set_class(size.width >= WIDE, "-wide")
        self.set_class(size.width < MIN_WIDTH or size.height < MIN_HEIGHT, "-small")

    def update_run(self, run: RunState, moment: Moment, ending: Ending) -> None:
        """Takes over the newest picture of the run."""
        self._run, self._moment, self._ending = run, moment, ending
        if self._drawable:
            if self.following:
                self._follow()
            self._draw()

    @property
    def stage(self) -> StageState | None:
        """The step that is looked at; None: the result."""
        return next((stage for stage in self._run.stages if stage.id == self.selected), None)

    @property
    def finding(self) -> Finding | None:
        """The finding that is looked at; on the result, the one to deal with first."""
        stage = self.stage
        if stage is None or stage.blocked_by is not None:
            return first_bad_finding(self._run)
        index = self._check_index(stage)
        return stage.checks[index].finding if index is not None else None

    @property
    def retry_target(self) -> str | None:
        """The step that `r` would run again."""
        stage = self.stage or first_bad_stage(self._run)
        if stage is None or stage.outcome in (None, Outcome.PASSED):
            return None
        return stage.blocked_by or stage.id

    def _follow(self) -> None:
        current = self._run.current
        target = self.selected
        if current is not None:
            target = current.id
        elif self._moment.code is not None:
            target = RESULT
        self._select(target)

    def _select(self, target: str) -> None:
        if target != self.selected:
            self.selected, self._picked = target, None
            self.query_one("#detail").scroll_home(animate=False)

    def _check_index(self, stage: StageState) -> int | None:
        if self._picked is not None and self._picked < len(stage.checks):
            return self._picked
        if stage.running:
            return len(stage.checks) - 1 if stage.checks else None
        return worst_check(stage)

    @property
    def _drawable(self) -> bool:
        """False while the widgets are still being made, and when the app is taking them away again."""
        return self._composed and self.app.is_running

    def _draw(self) -> None:
        if not self._drawable:
            return
        words, run, moment, stage = self.words, self._run, self._moment, self.stage
        if self.has_class("-small"):
            self._draw_small()
            return
        hint = words.ui("need_result") if moment.code is not None and not self.following else ""
        self.query_one(Header).update_run(words, run, moment, hint)
        self.query_one(Rail).update_run(run, moment, self.selected)
        self._draw_centre(stage)
        self.query_one(Side).update_run(words, run, stage)
        self.query_one(KeyLine).update_keys(words, self._keys())
        if self.has_class("-log"):
            self.query_one(LogPane).pull()

    def _draw_centre(self, stage: StageState | None) -> None:
        words, run, moment, page = self.words, self._run, self._moment, self.query_one("#page", Paper)
        title, explains, checks = words.ui("result"), "", self.query_one(Checks)
        if stage is not None:
            title = words.catalogue.stage_title(stage.id)
            if self.size.height >= ROOMY or not stage.checks:
                explains = words.catalogue.stage_explains(stage.id)
        self.query_one("#title", Paper).show(
            (title, explains),
            lambda width: stack([Content.styled(title, "bold $accent"), *paragraph(explains, width, "$soft")]),
        )
        if stage is None:
            checks.display = False
            ending = self._ending
            page.show((run.stages, moment.code, ending), lambda width: result_page(words, run, moment, ending, width))
            return
        index = self._check_index(stage)
        checks.update_stage(stage, moment.seconds, index)
        check = stage.checks[index] if index is not None else None
        if check is not None and check.finding is not None:
            page.show((stage.id, check), lambda width: finding_page(words, run, check, width))
        elif stage.running:
            key = (stage.id, check, stage.progress, int(moment.seconds))
            page.show(key, lambda width: running_page(words, stage, check, moment.seconds, width))
        else:
            key = (stage.id, stage.blocked_by, first_bad_finding(run))
            page.show(key, lambda width: waiting_page(words, run, stage, width))

    def _draw_small(self) -> None:
        words, size = self.words, self.size
        state, sentence = need(words, self._run, self._moment)

        def build(width: int) -> Content:
            head = f"{words.glyph(state)} {words.word(state)}"
            needs = words.ui("small_need", width=size.width, height=size.height)
            return stack(
                [
                    Content.styled(head, f"bold {words.style(state)}"),
                    *paragraph(sentence, width),
                    *paragraph(needs, width, "bold"),
                    *paragraph(words.ui("small_keys"), width, "$soft"),
                ]
            )

        self.query_one("#small-text", Paper).show((state, sentence, size), build)

    def _keys(self) -> list[tuple[str, str, str, bool]]:
        running, action = self._moment.code is None, self.finding
        can_copy = action is not None and self.words.command(self._run, action) is not None
        keys = [
            ("f", "key_follow", "screen.follow", not self.following),
            ("r", "key_retry", "app.control('retry')", not running and self.retry_target is not None),
            ("c", "key_copy", "app.control('copy')", can_copy),
            ("x", "key_log", "screen.log", True),
            ("k", "key_cancel", "app.control('cancel')", self._run.current is not None),
            ("?", "key_help", "app.control('help')", True),
            ("q", "key_quit", "app.control('leave')", True),
        ]
        if not self.has_class("-wide"):
            keys.insert(4, ("m", "key_numbers", "screen.numbers", True))
        return keys

    def on_option_list_option_highlighted(self, event: OptionList.OptionHighlighted) -> None:
        """The person moved a cursor: from now on the screen stays where they look."""
        rows = event.option_list
        if isinstance(rows, Rail):
            target = rows.id_at(event.option_index)
            if target != self.selected:
                self.following = False
                self._select(target)
        elif isinstance(rows, Checks):
            self.following, self._picked = False, event.option_index
            self.query_one("#detail").scroll_home(animate=False)
        self._draw()

    def on_option_list_option_selected(self, event: OptionList.OptionSelected) -> None:
        """Enter goes one pane to the right."""
        checks = self.query_one(Checks)
        into = checks if isinstance(event.option_list, Rail) and checks.display else self.query_one("#detail")
        into.focus()

    def action_follow(self) -> None:
        """Looks at the running step again, or at the result."""
        self.following, self._picked = True, None
        self._follow()
        self._draw()

    def action_log(self) -> None:
        """Shows or hides the log."""
        self.toggle_class("-log")
        if self.has_class("-log"):
            self.query_one(LogPane).focus()
        elif self.focused is None or isinstance(self.focused, LogPane):
            self.query_one("#rail").focus()
        self.call_after_refresh(self._draw)

    def action_numbers(self) -> None:
        """On a narrow screen: measurements in place of the finding."""
        self.toggle_class("-numbers")
        self.call_after_refresh(self._draw)

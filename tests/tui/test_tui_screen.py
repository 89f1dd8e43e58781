"""What is on the screen: sizes, plain text, ASCII, provenance, numbers, log, copying."""

import threading
from collections.abc import Callable

import pytest

from rocm_wizard.qualification import events as ev
from rocm_wizard.qualification.outcome import Outcome
from rocm_wizard.qualification.stage import StageContext
from rocm_wizard.tui import clipboard
from rocm_wizard.tui.dialogs import HelpDialog, TextDialog
from rocm_wizard.tui.logpane import LogPane
from tests.tui.scripted_stages import Step, Wizard, fails, holds, passes, until, waits

type Make = Callable[..., Wizard]
ENVELOPE = [0.1, 0.9, 0.5, 0.2]


def speech(context: StageContext) -> None:
    """A stage with sound, texts and numbers."""
    for index in range(4):
        late = 2.0 if index == 2 else 0.0
        context.emit(ev.AudioBlockReceived(context.stage, index, 0.25 + index * 0.1 + late, 0.5, ENVELOPE))
    context.emit(ev.TextRecognised(context.stage, 1, "helo [b]world[/]", "hello world"))
    context.measure("sidecar.load", 14.2, "s", 1, "cold")
    context.measure("sidecar.load", 2.0, "s", 2, "warm")
    context.measure("sidecar.load", 3.0, "s", 3, "warm")
    context.measure("sidecar.load", 4.0, "s", 4, "warm")
    with context.check("utterance"):
        context.finding("tts.file", Outcome.PASSED, file="a.wav", bytes=1)


@pytest.mark.parametrize("size", [(79, 23), (79, 40), (120, 23), (40, 10)])
async def test_too_small_screen_names_step_state_and_size(make_wizard: Make, size: tuple[int, int]) -> None:
    wizard = make_wizard(waits("compute"))
    async with wizard.app.run_test(size=size) as pilot:
        await until(pilot, wizard.ready)
        await until(pilot, lambda: "Compute is running" in wizard.screen_text())
        text = " ".join(wizard.screen_text().split())
        assert f"Needs 80 x 24, has {size[0]} x {size[1]}." in text
        assert not wizard.app.screen.query_one("#main").display
        await pilot.resize_terminal(80, 24)
        await until(pilot, lambda: "waiting" in wizard.screen_text() or "running" in wizard.shown("#rail"))
        assert wizard.app.screen.query_one("#main").display
        await pilot.press("k")
        await until(pilot, lambda: wizard.result_shown())


@pytest.mark.parametrize("provenance", ["demo", "replay"])
async def test_provenance_stays_on_the_screen(make_wizard: Make, provenance: str) -> None:
    go = threading.Event()
    wizard = make_wizard(holds("profile", go), provenance=provenance)
    async with wizard.app.run_test(size=(80, 24)) as pilot:
        await until(pilot, wizard.ready)
        await until(pilot, lambda: provenance.upper() in wizard.screen_text().splitlines()[0])
        go.set()
        await until(pilot, lambda: wizard.result_shown())
        assert provenance.upper() in wizard.screen_text().splitlines()[0]
        assert {"demo": "demonstration", "replay": "replay of an earlier run"}[provenance] in wizard.shown(
            "#page"
        ).replace("\n", " ")


async def test_markup_and_control_sequences_of_children_are_plain_text(make_wizard: Make) -> None:
    nasty = ["[red]x[/]", "[/]", "[link=http://x]", "\x1b[31mred\x1b[0m \x07", "{name}", "日本語 [b]"]

    def work(context: StageContext) -> None:
        context.emit(ev.LogLines(context.stage, "probe [b]", nasty))
        with context.check("machine"):
            facts = "[red]x[/] [/] \x1b[2Jend"
            context.finding("profile.torch_installed", Outcome.FAILED, found=facts, list=nasty)

    wizard = make_wizard(Step("profile", work))
    async with wizard.app.run_test(size=(120, 40)) as pilot:
        await until(pilot, wizard.ready)
        await until(pilot, lambda: wizard.result_shown())
        await pilot.press("home", "x")
        await until(pilot, lambda: "[link=http://x]" in wizard.screen_text())
        log = wizard.app.screen.query_one(LogPane)
        assert [line.removeprefix("probe [b] | ") for line in log.lines[-6:-4]] == ["[red]x[/]", "[/]"]
        page = wizard.shown("#page")
        assert "The target environment holds torch [red]x[/] [/] end." in page.replace("\n", " ")
        assert "\x1b" not in wizard.screen_text() and "\x07" not in wizard.screen_text()


async def test_wide_screen_shows_sound_texts_and_cold_apart_from_warm(make_wizard: Make) -> None:
    wizard = make_wizard(Step("tts_smoke", speech))
    async with wizard.app.run_test(size=(120, 40)) as pilot:
        await until(pilot, wizard.ready)
        await until(pilot, lambda: wizard.result_shown())
        await pilot.press("home")
        await until(pilot, lambda: "Measurements" in wizard.shown("#side-text"))
        side = wizard.shown("#side-text")
        assert "first sound after 250 ms" in side
        assert "late blocks: 1" in side
        assert "helo [b]world[/]" in side and "hello world" in side
        cold, warm = (next(line for line in side.splitlines() if word in line) for word in ("  cold", "  warm"))
        assert cold.endswith("14.2 s") and warm.endswith("3.0 s")


async def test_narrow_screen_shows_numbers_on_request(make_wizard: Make) -> None:
    wizard = make_wizard(Step("tts_smoke", speech))
    async with wizard.app.run_test(size=(80, 24)) as pilot:
        await until(pilot, wizard.ready)
        await until(pilot, lambda: wizard.result_shown())
        assert "Sound, as it arrived" not in wizard.screen_text()
        await pilot.press("home", "m")
        await until(pilot, lambda: "Sound, as it arrived" in wizard.screen_text())
        await pilot.press("m")
        await until(pilot, lambda: "Sound, as it arrived" not in wizard.screen_text())


async def test_ascii_only_means_ascii_only(make_wizard: Make) -> None:
    go = threading.Event()
    wizard = make_wizard(
        Step("tts_smoke", speech), holds("compute", go), fails("versions"), passes("x"), ascii_only=True
    )
    async with wizard.app.run_test(size=(120, 40), notifications=True) as pilot:
        await until(pilot, wizard.ready)
        await until(pilot, lambda: wizard.pipeline.state.stage("compute").running)
        await pilot.press("x")
        await until(pilot, lambda: "== compute" in wizard.screen_text())
        seen = [wizard.screen_text()]
        await pilot.press("question_mark")
        await until(pilot, lambda: isinstance(wizard.app.screen, HelpDialog))
        seen.append(wizard.screen_text())
        await pilot.press("escape")
        go.set()
        await until(pilot, lambda: wizard.result_shown())
        await pilot.press("home")
        seen.append(wizard.screen_text())
        assert [char for text in seen for char in text if ord(char) > 126] == []


async def test_log_follows_only_at_its_end(make_wizard: Make) -> None:
    more, done = threading.Event(), threading.Event()

    def work(context: StageContext) -> None:
        context.emit(ev.LogLines(context.stage, "a", [f"line {number}" for number in range(5000)]))
        more.wait(20)
        context.emit(ev.LogLines(context.stage, "a", [f"late {number}" for number in range(50)]))
        done.wait(20)
        context.emit(ev.LogLines(context.stage, "a", ["the very last"]))

    wizard = make_wizard(Step("profile", work))
    async with wizard.app.run_test(size=(80, 24)) as pilot:
        await until(pilot, wizard.ready)
        await pilot.press("x")
        log = wizard.app.screen.query_one(LogPane)
        await until(pilot, lambda: log.line_count == 2000)
        await until(pilot, lambda: "line 4999" in wizard.screen_text())
        await pilot.press("home")
        await until(pilot, lambda: log.scroll_offset.y == 0)
        more.set()
        await until(pilot, lambda: log.lines[-1] == "a | late 49")
        assert log.scroll_offset.y == 0 and log.line_count == 2000
        await pilot.press("end")
        await until(pilot, lambda: "late 49" in wizard.screen_text())
        done.set()
        await until(pilot, lambda: "the very last" in wizard.screen_text())


async def test_copy_says_where_the_command_went(make_wizard: Make, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(clipboard, "takes_osc52", lambda environment: True)
    monkeypatch.setattr(clipboard, "_copy_windows", lambda text: False)
    wizard = make_wizard(fails("versions"))
    async with wizard.app.run_test(size=(80, 24), notifications=True) as pilot:
        await until(pilot, wizard.ready)
        await until(pilot, lambda: wizard.result_shown())
        await pilot.press("c")
        await until(pilot, lambda: "Sent to your terminal's clipboard" in wizard.screen_text())
        assert wizard.app.clipboard == "uv sync --locked --extra local-rocm"


async def test_copy_without_a_clipboard_shows_the_text(make_wizard: Make, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(clipboard, "takes_osc52", lambda environment: False)
    monkeypatch.setattr(clipboard, "_copy_windows", lambda text: False)
    wizard = make_wizard(fails("versions"))
    async with wizard.app.run_test(size=(80, 24)) as pilot:
        await until(pilot, wizard.ready)
        await until(pilot, lambda: wizard.result_shown())
        await pilot.press("c")
        await until(pilot, lambda: isinstance(wizard.app.screen, TextDialog))
        assert "uv sync --locked --extra local-rocm" in wizard.shown("#box-text").splitlines()
        await pilot.press("enter")
        await until(pilot, lambda: not isinstance(wizard.app.screen, TextDialog))


def test_clipboard_knows_where_the_person_sits() -> None:
    assert clipboard.is_remote({"SSH_CONNECTION": "1.2.3.4 5 6.7.8.9 22"})
    assert not clipboard.is_remote({"SESSIONNAME": "RDP-Tcp#1"})
    assert not clipboard.takes_osc52({"TERM_PROGRAM": "Apple_Terminal"})
    sent: list[str] = []
    assert clipboard.copy("x", sent.append, {"SSH_CONNECTION": "1", "TERM": "xterm-256color"}) == "terminal"
    assert sent == ["x"]
    assert clipboard.copy("x", sent.append, {"SSH_CONNECTION": "1", "TERM": "dumb"}) == "nowhere"


async def test_mouse_click_on_a_step_and_on_a_key(make_wizard: Make) -> None:
    wizard = make_wizard(passes("profile"), passes("versions"))
    async with wizard.app.run_test(size=(80, 24)) as pilot:
        await until(pilot, wizard.ready)
        await until(pilot, lambda: wizard.result_shown())
        await pilot.click("#rail", offset=(5, 3))
        await until(pilot, lambda: wizard.shown("#title") == "Versions")
        keys = wizard.shown("#keys")
        await pilot.click("#keys", offset=(2 + keys.index("x Log"), 0))
        await until(pilot, lambda: wizard.app.screen.has_class("-log"))


async def test_flood_keeps_the_ring_bounded_and_the_keys_alive(make_wizard: Make) -> None:
    """20,000 lines a second for a moment; the latency itself is measured by benchmarks/tui_flood.py."""
    stop = threading.Event()

    def work(context: StageContext) -> None:
        with context.check("machine"):
            while not stop.wait(0.005):
                context.emit(ev.LogLines(context.stage, "flood", ["x" * 80] * 100))
                context.cancel.raise_if_cancelled()
            context.finding("profile.target", Outcome.PASSED)

    wizard = make_wizard(Step("profile", work))
    async with wizard.app.run_test(size=(80, 24)) as pilot:
        await until(pilot, wizard.ready)
        await pilot.press("x")
        log = wizard.app.screen.query_one(LogPane)
        await until(pilot, lambda: wizard.pipeline.state.log_lines > 20_000)
        assert log.line_count <= 2000
        await pilot.press("x", "question_mark")
        await until(pilot, lambda: isinstance(wizard.app.screen, HelpDialog))
        await pilot.press("escape")
        stop.set()
        await until(pilot, lambda: wizard.result_shown())


async def test_a_crash_shows_the_known_issue_behind_it(make_wizard: Make) -> None:
    """The reference case: a Radeon 780M that is listed and dies at its first FP32 operation."""

    def crash(context: StageContext) -> None:
        facts = {
            "gfx": "gfx1103",
            "device_name": "AMD Radeon 780M Graphics",
            "step": "fp32_product",
            "code": 3221225477,
        }
        name = "0xC0000005 STATUS_ACCESS_VIOLATION (bad pointer in native code)"
        context.finding("compute.child_crashed", Outcome.CRASHED, name=name, module="amdhip64_7.dll", **facts)

    wizard = make_wizard(Step("compute", crash))
    async with wizard.app.run_test(size=(120, 40)) as pilot:
        await until(pilot, wizard.ready)
        await until(pilot, lambda: wizard.result_shown())
        page = wizard.shown("#page")
    assert "Not qualified: Compute did not pass." in page
    assert "780M" in page and "gfx1103" in page
    assert "http" in page

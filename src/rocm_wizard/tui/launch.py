"""Opens the wizard, and leaves the terminal as it was found."""

import sys
from collections.abc import Callable
from typing import TYPE_CHECKING

from rocm_wizard.qualification.exit_codes import ExitCode
from rocm_wizard.tui.app import RunParts, WizardApp

if TYPE_CHECKING:
    from rocm_wizard.assembly import Run

_MODES_OFF = "\x1b[?1000l\x1b[?1003l\x1b[?1006l\x1b[?1015l\x1b[?2004l\x1b[?25h\x1b[?1049l\x1b[0m"
"""Mouse reports, bracketed paste and the alternate screen off, cursor on."""


def run_wizard(prepare: Callable[[], "Run"], *, ascii_only: bool) -> ExitCode:
    """Runs the wizard; afterwards the verdict and the files' paths stand in the terminal.

    Raises:
        OSError: the run could not be prepared.
    """
    runs: list[Run] = []

    def open_run() -> RunParts:
        from rocm_wizard.assembly import start

        run = prepare()
        runs.append(run)
        return RunParts(run.pipeline, run.catalogue, run.finish, run.report_paths, lambda: start(run))

    app = WizardApp(open_run, ascii_only=ascii_only)
    code = None
    try:
        code = app.run()
    finally:
        for run in runs:
            run.session.runner.stop_all()
        if code is None:  # the screen broke off: its modes may still be on
            sys.stdout.write(_MODES_OFF)
    if app.open_error is not None:
        raise app.open_error
    return _tell(runs, code)


def _tell(runs: "list[Run]", code: int | None) -> ExitCode:
    from rocm_wizard.line.console import write_line
    from rocm_wizard.line.session import tell_end

    for run in runs:
        tell_end(run, write_line)
    return ExitCode.INTERNAL_ERROR if code is None else ExitCode(code)

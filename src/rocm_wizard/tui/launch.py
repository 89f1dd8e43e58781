"""Opens the wizard for a prepared run, and leaves the terminal as it was found."""

import sys
from typing import TYPE_CHECKING

from rocm_wizard.line.console import write_line
from rocm_wizard.line.session import tell_end
from rocm_wizard.qualification.exit_codes import ExitCode

if TYPE_CHECKING:
    from rocm_wizard.assembly import Run

_MODES_OFF = "\x1b[?1000l\x1b[?1003l\x1b[?1006l\x1b[?1015l\x1b[?2004l\x1b[?25h\x1b[?1049l\x1b[0m"
"""Mouse reports, bracketed paste and the alternate screen off, cursor on."""


def run_wizard(run: "Run", *, ascii_only: bool) -> ExitCode:
    """Runs the wizard; afterwards the verdict and the files' paths stand in the terminal."""
    from rocm_wizard.assembly import start
    from rocm_wizard.tui.app import WizardApp

    app = WizardApp(
        run.pipeline,
        run.catalogue,
        ascii_only=ascii_only,
        report_paths=run.report_paths,
        finish=run.finish,
        begin=lambda: start(run),
    )
    code = None
    try:
        code = app.run()
    finally:
        run.session.runner.stop_all()
        if code is None:  # the screen broke off: its modes may still be on
            sys.stdout.write(_MODES_OFF)
    tell_end(run, write_line)
    return ExitCode.INTERNAL_ERROR if code is None else ExitCode(code)

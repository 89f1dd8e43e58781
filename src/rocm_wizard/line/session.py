"""One run in line mode or JSON mode, from the first line to the report's path."""

import sys
from collections.abc import Callable
from functools import partial
from typing import TYPE_CHECKING

from rocm_wizard.line.asker import LineAsker
from rocm_wizard.line.console import fit, write_line
from rocm_wizard.line.printer import LinePrinter
from rocm_wizard.line.run import run_to_end, write_json_line
from rocm_wizard.qualification.exit_codes import ExitCode
from rocm_wizard.report.verdict import verdict_sentence

if TYPE_CHECKING:
    from rocm_wizard.assembly import Run


def _writer(ascii_only: bool) -> Callable[[str], None]:
    if not ascii_only:
        return write_line
    return lambda text: write_line(fit(text, "ascii"))


def run_in_lines(run: "Run", *, as_json: bool, ascii_only: bool = False) -> ExitCode:
    """Runs all steps. stdout carries the events (JSON) or the told run (text); where the files are is said last."""
    from rocm_wizard.assembly import start

    write = _writer(ascii_only)
    journal = run.pipeline.journal
    if as_json:
        journal.subscribe(write_json_line)
        write = partial(write_line, stream=sys.stderr)
    else:
        journal.subscribe(LinePrinter(run.catalogue, write))
        if sys.stdin is not None and sys.stdin.isatty():
            run.pipeline.ask = LineAsker(run.catalogue, write)
    start(run)
    code = run_to_end(run.pipeline, run.finish)
    tell_end(run, write)
    return code


def tell_end(run: "Run", write: Callable[[str], None]) -> None:
    """Verdict, what it does not prove, and where the files are."""
    catalogue = run.catalogue
    write("")
    write(verdict_sentence(run.pipeline.state, catalogue))
    write(catalogue.format("proves_not", "text"))
    if run.report_error:
        write(catalogue.format("line", "no_report", reason=run.report_error))
    for path in run.reports[:1]:
        write(catalogue.format("line", "report", path=path))
    write(catalogue.format("line", "journal", path=run.pipeline.journal.path))
    if run.pipeline.journal.write_error:
        write(catalogue.format("missing", "unwritten", detail=run.pipeline.journal.write_error))

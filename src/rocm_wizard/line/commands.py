"""Commands with one answer: a step as a JSON document, a finding or known issue explained."""

import json
import sys
from functools import partial
from typing import TYPE_CHECKING

from rocm_wizard.line.console import write_line
from rocm_wizard.line.printer import LinePrinter
from rocm_wizard.line.run import run_to_end
from rocm_wizard.line.session import tell_end
from rocm_wizard.qualification.exit_codes import ExitCode
from rocm_wizard.report.catalogue import Catalogue
from rocm_wizard.report.explain import closest_ids, explain, list_all
from rocm_wizard.report.redact import machine_mask
from rocm_wizard.report.stage_document import build_stage_document

if TYPE_CHECKING:
    from rocm_wizard.assembly import Run


def run_as_document(command: str, run: "Run") -> ExitCode:
    """Runs the steps, told on stderr as they go; stdout gets one JSON document at the end, after an interruption too.

    Args:
        command: the command's name, which is also its schema's.
        run: the prepared run of the profile step and the command's own.
    """
    from rocm_wizard.assembly import start

    tell = partial(write_line, stream=sys.stderr)
    journal = run.pipeline.journal
    journal.subscribe(LinePrinter(run.catalogue, tell))
    start(run)
    code = run_to_end(run.pipeline, run.finish)
    tell_end(run, tell)
    error = journal.write_error
    missing = [run.catalogue.format("missing", "unwritten", detail=error)] if error else []
    document = build_stage_document(command, run.pipeline.state, run.catalogue, machine_mask(), missing)
    text = json.dumps(document, ensure_ascii=False, indent=1, allow_nan=False) + "\n"
    try:
        sys.stdout.buffer.write(text.encode("utf-8", "backslashreplace"))
        sys.stdout.buffer.flush()
    except BrokenPipeError:
        pass
    return code


def explain_id(id: str | None, language: str) -> ExitCode:
    """Tells one finding or known issue in full, or lists all without an id; an unknown id gets the closest ones."""
    catalogue = Catalogue(language)
    lines = list_all(catalogue) if id is None else explain(id, catalogue)
    if lines is not None:
        for line in lines:
            write_line(line)
        return ExitCode.QUALIFIED
    write_line(f"error: {catalogue.format('explain', 'unknown', id=id)}", sys.stderr)
    closest = closest_ids(str(id))
    hint = catalogue.format("explain", "closest", ids=closest) if closest else catalogue.format("explain", "see_all")
    write_line(f"hint: {hint}", sys.stderr)
    return ExitCode.USAGE

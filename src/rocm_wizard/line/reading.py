"""A journal from disk: told again, or made into report files again."""

import sys
from pathlib import Path

from rocm_wizard.line.console import write_line
from rocm_wizard.line.printer import LinePrinter
from rocm_wizard.qualification.exit_codes import ExitCode
from rocm_wizard.qualification.journal import JournalReading
from rocm_wizard.qualification.reducer import Reducer
from rocm_wizard.report.catalogue import Catalogue
from rocm_wizard.report.document import what_is_missing
from rocm_wizard.report.verdict import verdict_sentence
from rocm_wizard.report.writer import write_reports


def replay_in_lines(journal: Path, language: str) -> ExitCode:
    """Tells a journal again, every line marked; gives the exit code that its findings add up to."""
    catalogue = Catalogue(language)
    reading, reducer = JournalReading(journal), Reducer()
    printer = LinePrinter(catalogue, write_line, mark="REPLAY | ")
    for record in reading:
        reducer.apply(record)
        printer(record)
    state = reducer.state()
    missing = what_is_missing(state, reading.problems, catalogue)
    for line in [verdict_sentence(state, catalogue), catalogue.format("proves_not", "text"), *missing]:
        write_line(f"REPLAY | {line}")
    return state.verdict if state.header is not None else ExitCode.COULD_NOT_CHECK


def report_from_journal(journal: Path, output: Path | None, language: str) -> ExitCode:
    """Makes the report files again. What the journal lacks is said in them and on stderr."""
    catalogue = Catalogue(language)
    reading, reducer = JournalReading(journal), Reducer()
    for record in reading:
        reducer.apply(record)
    state = reducer.state()
    missing = what_is_missing(state, reading.problems, catalogue)
    for line in missing:
        write_line(line, sys.stderr)
    for path in write_reports(state, catalogue, output or journal.parent, missing=missing):
        write_line(str(path))
    return state.verdict if state.header is not None else ExitCode.COULD_NOT_CHECK

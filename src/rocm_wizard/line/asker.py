"""Questions in line mode: numbered choices where a person is there, silence otherwise."""

import queue
import sys
import threading
import time
from collections.abc import Callable

from rocm_wizard.qualification.stage import Answer, CancelToken, Question
from rocm_wizard.report.catalogue import Catalogue

_SLICE = 0.2


class LineAsker:
    """Reads answers from stdin in a thread of its own, so that a timeout and a cancel are noticed."""

    def __init__(self, catalogue: Catalogue, write: Callable[[str], None]) -> None:
        self._catalogue = catalogue
        self._write = write
        self._lines: queue.SimpleQueue[str | None] = queue.SimpleQueue()
        self._reader: threading.Thread | None = None

    def __call__(self, question: Question, cancel: CancelToken) -> Answer:
        """See `Asker`."""
        self._write("")
        self._write(self._catalogue.question(question.id, question.facts))
        for number, option in enumerate(numbered(question), start=1):
            mark = " *" if option == question.default else ""
            self._write(f"  {number}. {self._catalogue.option(question.id, option)}{mark}")
        if question.free is not None:
            self._write(self._catalogue.format("line", f"type_{question.free}"))
        if question.timeout is not None:
            default = self._catalogue.option(question.id, question.default)
            self._write(self._catalogue.format("line", "timeout", seconds=question.timeout, default=default))
        self._start_reader()
        deadline = None if question.timeout is None else time.monotonic() + question.timeout
        while not cancel.cancelled and (deadline is None or time.monotonic() < deadline):
            try:
                line = self._lines.get(timeout=_SLICE)
            except queue.Empty:
                continue
            if line is None:
                break
            if (option := _choice(line, question)) is not None:
                return Answer(option, "person")
            self._write(self._catalogue.format("line", "choose", last=len(numbered(question))))
        return Answer(question.default, "default")

    def _start_reader(self) -> None:
        if self._reader is None:
            self._reader = threading.Thread(target=self._read, name="stdin", daemon=True)
            self._reader.start()

    def _read(self) -> None:
        for line in sys.stdin:
            self._lines.put(line.strip())
        self._lines.put(None)


def numbered(question: Question) -> tuple[str, ...]:
    """The options that a number chooses: all but one that has to be typed."""
    return tuple(option for option in question.options if option != question.typed)


def _choice(line: str, question: Question) -> str | None:
    """The option a line names: its number, its id, or nothing for the default. What has to be typed is typed whole."""
    if not line and question.default in question.options:
        return question.default
    options = numbered(question)
    if line.isdecimal() and 1 <= int(line) <= len(options):
        return options[int(line) - 1]
    if line in question.options:
        return line
    return line if line and question.free is not None else None

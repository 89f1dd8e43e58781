"""Puts a stage's question on the screen and blocks the stage's thread until it is settled."""

import threading
import time
from collections.abc import Callable

from rocm_wizard.qualification.stage import Answer, CancelToken, Question

_SLICE = 0.05


class PendingQuestion:
    """A question on its way to an answer; the first answer counts."""

    def __init__(self, question: Question) -> None:
        self.question = question
        self.deadline = None if question.timeout is None else time.monotonic() + question.timeout
        self._answer: Answer | None = None
        self._lock = threading.Lock()
        self._settled = threading.Event()

    @property
    def settled(self) -> bool:
        """Whether there is an answer."""
        return self._settled.is_set()

    @property
    def seconds_left(self) -> int | None:
        """Whole seconds until the default counts; None: it never does."""
        return None if self.deadline is None else max(0, round(self.deadline - time.monotonic()))

    def settle(self, option: str, answered_by: str) -> Answer:
        """Gives the answer, or returns the one given before."""
        with self._lock:
            if self._answer is None:
                self._answer = Answer(option, answered_by)
                self._settled.set()
            return self._answer

    def wait(self, cancel: CancelToken) -> Answer:
        """Blocks until the person, the clock or a cancellation settles it."""
        while not self._settled.wait(_SLICE):
            late = self.deadline is not None and time.monotonic() >= self.deadline
            if late or cancel.cancelled:
                break
        return self.settle(self.question.default, "default")


class ScreenAsker:
    """The pipeline's asker while the wizard is on the screen."""

    def __init__(self, post: Callable[[PendingQuestion], bool]) -> None:
        self._post = post

    def __call__(self, question: Question, cancel: CancelToken) -> Answer:
        """See `Asker`. A screen that is gone answers like silence."""
        pending = PendingQuestion(question)
        if not self._post(pending):
            return pending.settle(question.default, "default")
        return pending.wait(cancel)

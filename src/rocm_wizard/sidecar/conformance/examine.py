"""Examines one sidecar command: starts it, tries every probe, ends it, and judges every rule."""

import time
from collections.abc import Callable, Mapping
from typing import Any

from rocm_wizard.qualification.clean import clean_text
from rocm_wizard.runner.spec import Child, ChildTimeout, LineTooLong, StartFailed
from rocm_wizard.sidecar.conformance.probes import IMPROPER, PROBES, REFUSALS, Probe
from rocm_wizard.sidecar.conformance.requests import Voice, asr_request
from rocm_wizard.sidecar.conformance.rules import RULES, Judged, State
from rocm_wizard.sidecar.conformance.wire import Lost, Wire
from rocm_wizard.sidecar.host_limits import HOST_ANSWER_SECONDS, HOST_READY_SECONDS

MOST_STARTS = 4
"""A sidecar that was lost is started again, so that one fault does not hide the others; a model takes its time."""
_READY_FIELDS = {"asr": ("device", "attn_impl", "warmup_ms"), "tts": ("device", "torch", "hip", "cuda_available")}
_STRAY_SECONDS = 0.2
_SAID = 200


class NoStart(Exception):
    """There is no sidecar to examine."""


def kind_of(start: Callable[[], Child], ready_seconds: float, seconds: float) -> str:
    """Whether a command is an `asr` or a `tts` sidecar, by its answer to a recogniser's request.

    Only a recogniser recognises, and only a voice refuses by `request_id`.

    Raises:
        NoStart: it cannot be started, does not become ready and answer, or answers like neither.
    """
    try:
        child = start()
    except StartFailed as error:
        raise NoStart(f"could not be started: {error}") from error
    wire = Wire(child, seconds)
    try:
        first = wire.receive(ready_seconds)
        if first["type"] != "ready":
            raise NoStart(f"was never ready: {_said(first)}")
        wire.ask(asr_request())
        answer = wire.receive()
        if answer["type"] == "result":
            return "asr"
        if answer["type"] == "error" and "request_id" in answer:
            return "tts"
        raise NoStart(f"answered neither as a recogniser nor as a voice: {_said(answer)}")
    except Lost as error:
        raise NoStart(str(error)) from error
    finally:
        child.stop(grace=0.5)


def _said(message: Mapping[str, Any]) -> str:
    """A message in a few words that are fit for a terminal."""
    return clean_text(str(message.get("msg") or message["type"]))[:_SAID]


class Examiner:
    """Runs the examination once."""

    def __init__(
        self,
        kind: str,
        start: Callable[[], Child],
        seconds: float,
        ready_seconds: float,
        voice: Voice | None = None,
        host_limits: tuple[float, float] = (HOST_READY_SECONDS, HOST_ANSWER_SECONDS),
    ) -> None:
        self._kind = kind
        self._start = start
        self._seconds = seconds
        self._ready_seconds = ready_seconds
        self._voice = voice or Voice()
        self._host_limits = host_limits
        self._judged: dict[str, Judged] = {}
        self._seen: set[str] = set()
        self._starts = 0
        self._begun = 0
        self._lost_to_order = self._one_a_start = False
        self._wire: Wire | None = None

    def run(self) -> list[Judged]:
        """Every rule of this kind of sidecar, in the order of `RULES`. Nothing is left running."""
        reason = "nothing showed it"
        try:
            for rule, probe in PROBES[self._kind].items():
                self._try(rule, probe)
            self._end(self._ready_wire())
        except NoStart as error:
            reason = str(error)
        finally:
            self._drop()
        return [self._judge(rule, reason) for rule in RULES[self._kind]]

    def _judge(self, rule: str, reason: str) -> Judged:
        found = self._judged.get(rule)
        if found is not None:
            return found
        return Judged(rule, State.KEPT) if rule in self._seen else Judged(rule, State.COULD_NOT_CHECK, reason)

    def _set(self, rule: str, wrong: str | None) -> None:
        """Broken once is broken."""
        if wrong is not None:
            self._judged.setdefault(rule, Judged(rule, State.BROKEN, wrong))
        else:
            self._seen.add(rule)

    def _try(self, rule: str, probe: Probe) -> None:
        """One probe. A child that is lost to one which it survives when it comes first is lost to the order.

        From the second time on each probe comes first.
        """
        alone = self._wire is None
        lost = self._probe(rule, probe, alone=alone)
        if lost is not None and not alone:
            self._starts -= 1  # for the same question again
            try:
                again = self._probe(rule, probe, alone=True)
            except NoStart:
                self._set(rule, lost)
                raise
            if again is None:
                self._set("keeps_running", f"{rule}, after other requests: {lost}")
                self._one_a_start = self._lost_to_order
                self._lost_to_order = True
        if self._one_a_start:
            self._drop()

    def _probe(self, rule: str, probe: Probe, *, alone: bool) -> str | None:
        """How the child was lost, None where it was not; judged where the probe came first."""
        wire, loss = self._ready_wire(), None
        try:
            wrong = probe(wire, self._voice)
            wire.count_stderr(proper=rule not in IMPROPER)
            self._set(rule, wrong)
            stray = wire.waiting(_STRAY_SECONDS if wrong else 0.0)
            if wrong is None:
                self._set("nothing_unasked", None if stray is None else f"{stray['type']} after {rule}")
            lost = stray is not None
        except Lost as error:
            loss, lost = str(error), True
            if alone:
                self._set(rule, loss)
            if alone and rule in REFUSALS:
                self._set("keeps_running", f"{rule}: {error}")
        if lost:  # what is still under way would be taken for later answers
            self._drop()
        return loss

    def _ready_wire(self) -> Wire:
        if self._wire is not None:
            return self._wire
        if self._starts >= MOST_STARTS:
            raise NoStart(f"the sidecar had to be started {self._begun} times")
        self._starts += 1
        self._begun += 1
        try:
            child = self._start()
        except StartFailed as error:
            raise NoStart(f"could not be started: {error}") from error
        self._wire = wire = Wire(child, self._seconds, *self._host_limits)
        try:
            message = wire.receive(self._ready_seconds)
        except Lost as error:
            self._set("ready_first", str(error))
            raise NoStart("the sidecar was never ready") from error
        wire.count_stderr(proper=False)
        if message["type"] != "ready":
            said = _said(message)
            loading = message["type"] == "error" and said.startswith("LOAD_FAIL: ")
            if not loading:
                self._set("ready_first", said if said == message["type"] else f"{message['type']} {said}")
            raise NoStart(f"the sidecar was never ready: {said}")
        first = wire.broken.get("pure_stdout")
        self._set("ready_first", None if first is None else f"text before ready: {first}")
        missing = [name for name in _READY_FIELDS[self._kind] if name not in message]
        self._set("ready_fields", f"lacks {', '.join(missing)}" if missing else None)
        return wire

    def _end(self, wire: Wire) -> None:
        """Closes stdin: nothing more may come, and the process has to leave by itself with code 0."""
        wire.child.close_stdin()
        deadline = time.monotonic() + self._seconds
        try:
            while (line := wire.child.read(max(0.0, deadline - time.monotonic()))) is not None:
                if time.monotonic() > deadline:
                    raise ChildTimeout
                stray = wire.judge_line(line)
                if stray is not None:
                    self._set("nothing_unasked", f"{stray['type']} after the end of input")
        except (ChildTimeout, LineTooLong):
            self._set("end_of_input", f"did not end within {self._seconds:g} s")
            return
        report = wire.child.stop(grace=max(_STRAY_SECONDS, deadline - time.monotonic()))
        if report.forced != "none":
            self._set("end_of_input", f"did not end within {self._seconds:g} s")
        elif report.left:
            self._set("end_of_input", f"left {len(report.left)} processes: {', '.join(sorted(set(report.left))[:5])}")
        else:
            self._set("end_of_input", None if report.code == 0 else f"ended with {report.meaning}")

    def _drop(self) -> None:
        """Ends the child and takes over what its lines showed."""
        wire, self._wire = self._wire, None
        if wire is None:
            return
        wire.child.stop(grace=0.5)
        self._seen |= wire.seen
        for rule, detail in wire.broken.items():
            self._set(rule, detail)

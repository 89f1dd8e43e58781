"""Step 3: children compute on the device, and every number has a known answer."""

from typing import Any

from rocm_wizard.qualification.outcome import Outcome
from rocm_wizard.qualification.stage import StageContext
from rocm_wizard.stages.compute_device import report_device
from rocm_wizard.stages.compute_plan import Operation, load_plan
from rocm_wizard.stages.compute_results import VocoderTimes, report_operation, report_vocoder
from rocm_wizard.stages.probe import Probe
from rocm_wizard.stages.session import Session


class ComputeStage:
    """Runs the compute probe. Being listed by torch proves nothing: only right numbers made by the device count.

    The first process that dies or hangs ends the step; wrong numbers and refused operations are all collected.
    """

    id = "compute"

    def __init__(self, session: Session) -> None:
        self._session = session
        self._plan = load_plan()

    def run(self, context: StageContext) -> None:
        """See `Stage.run`."""
        options, kind = self._session.options, self._session.chosen.device_kind
        level, asked = options.level, options.graphs
        children = self._plan.children(level, kind, asked)
        total = sum(len(operations) for _, operations in children)
        facts: dict[str, Any] = {}
        before = 0
        for _, operations in children:
            child = _Child(self._session, context, operations, facts, (before, total))
            if not child.run():
                return
            before += len(operations)
            facts = child.facts


class _Child:
    """One process with its operations."""

    def __init__(
        self,
        session: Session,
        context: StageContext,
        operations: list[Operation],
        facts: dict[str, Any],
        progress: tuple[int, int],
    ) -> None:
        self._context = context
        self._profile = session.chosen
        self._operations = {operation.id: operation for operation in operations}
        self._first = not facts
        self._before, self._total = progress
        self._settled: set[str] = set()
        self._times = VocoderTimes()
        self._may_go_on = True
        limit = session.limit("compute")
        orders = [operation.order(limit) for operation in operations]
        request = {"device": self._profile.device, "operations": orders}
        seconds = {operation.id: operation.seconds for operation in operations}
        probe = session.options.compute_probe
        self._probe = Probe(context, session, "compute", probe, request, seconds=seconds, facts=facts)

    @property
    def facts(self) -> dict[str, Any]:
        """What is known of the device, for the findings of later children."""
        return self._probe.facts

    def run(self) -> bool:
        """Runs it to its end; whether another child makes sense."""
        context, probe = self._context, self._probe
        with context.check("child"):
            for message in probe.messages():
                self._report(message)
            missing = [name for name in self._operations if name not in self._settled]
            if probe.complete and missing and self._may_go_on:
                context.finding("compute.not_computed", Outcome.COULD_NOT_CHECK, missing=missing)
            elif probe.ended_by_itself:
                context.finding("compute.child_ended", Outcome.PASSED, count=len(self._settled))
            elif probe.ending in ("child_crashed", "child_hung") and self.facts.get("device_name"):
                context.finding("compute.not_usable", Outcome.FAILED, step=probe.step, **self.facts)
        return probe.usable and self._may_go_on

    def _report(self, message: dict[str, Any]) -> None:
        context, profile, kind = self._context, self._profile, message["type"]
        operation = self._operations.get(str(message.get("step")))
        if kind == "device":
            if self._first:
                self._probe.facts = report_device(context, message)
        elif kind == "no_device":
            self._may_go_on = False
            context.finding("compute.no_device", Outcome.FAILED, device=profile.device, profile=profile.id)
        elif kind == "device_lost":
            self._may_go_on = False
            context.finding("compute.device_lost", Outcome.FAILED, step=self._probe.step, **self.facts)
        elif operation is not None:
            self._report_step(kind, operation, message)

    def _report_step(self, kind: str, operation: Operation, message: dict[str, Any]) -> None:
        context, device, device_kind = self._context, self._profile.device, self._profile.device_kind
        if kind == "operation" and operation.function != "vocoder":
            report_operation(context, operation, message, device, device_kind, self.facts)
        elif kind == "unavailable" and operation.may_lack:
            with context.check(operation.id):
                reason = str(message.get("reason"))
                context.finding("compute.unavailable", Outcome.SKIPPED, step=operation.id, reason=reason, **self.facts)
        elif kind in ("operation_error", "unavailable"):
            detail = str(message.get("reason") or f"{message.get('error')}: {message.get('message')}")
            with context.check(operation.id):
                context.finding(
                    "compute.operation_error", Outcome.FAILED, step=self._probe.step, detail=detail, **self.facts
                )
        elif kind in ("vocoder_length", "vocoder_padded"):
            self._times.take(context, message, device, device_kind)
            return
        elif kind != "vocoder" or not report_vocoder(
            context, operation, self._times, message, device, device_kind, self.facts
        ):
            return
        self._settled.add(operation.id)
        context.progress(self._before + len(self._settled), self._total, "")

"""Step 3: a child computes on the device, and every number has a known answer."""

from typing import Any

from rocm_wizard.qualification.outcome import Outcome
from rocm_wizard.qualification.stage import StageContext
from rocm_wizard.stages.probe import Probe
from rocm_wizard.stages.session import Session

OPERATIONS = ("fp32_product", "conv1d", "fft")
"""What has to be reported right before this step can pass."""


class ComputeStage:
    """Runs the compute probe. Being listed by torch proves nothing: only right numbers count."""

    id = "compute"

    def __init__(self, session: Session) -> None:
        self._session = session

    def run(self, context: StageContext) -> None:
        """See `Stage.run`."""
        request = {"device": self._session.chosen.device}
        probe = Probe(context, self._session, self.id, self._session.options.compute_probe, request)
        done: set[str] = set()
        with context.check("child"):
            for message in probe.messages():
                self._report(context, message, done)
        missing = [name for name in OPERATIONS if name not in done]
        if probe.complete and missing:
            context.finding("compute.not_computed", Outcome.COULD_NOT_CHECK, missing=missing)

    def _report(self, context: StageContext, message: dict[str, Any], done: set[str]) -> None:
        kind = message["type"]
        if kind == "device":
            facts = {name: message.get(name) for name in ("device", "name", "gfx", "memory", "count")}
            id = "compute.device" if facts["name"] else "compute.device_unnamed"
            context.finding(id, Outcome.PASSED, **facts)
        elif kind == "no_device":
            profile = self._session.chosen
            context.finding("compute.no_device", Outcome.FAILED, device=profile.device, profile=profile.id)
        elif kind == "operation":
            _report_operation(context, message, done)
        elif kind == "operation_error":
            detail = f"{message.get('error')}: {message.get('message')}"
            context.finding("compute.operation_error", Outcome.FAILED, step=str(message.get("step")), detail=detail)


def _report_operation(context: StageContext, message: dict[str, Any], done: set[str]) -> None:
    step = str(message.get("step"))
    names = ("cold", "warm", "max_error", "tolerance", "elements", "worst_index", "worst_value", "expected_value")
    facts = {name: message.get(name) for name in names}
    right = message.get("right") is True and step in OPERATIONS
    with context.check(step):
        id = f"compute.{step}" if right else "compute.wrong_numbers"
        context.finding(id, Outcome.PASSED if right else Outcome.FAILED, step=step, **facts)
    if right:
        done.add(step)
    for phase in ("cold", "warm"):
        value = facts[phase]
        if isinstance(value, int | float):
            context.measure(f"compute.{step}", float(value), "s", phase=phase)

"""What both speech smokes share: starting a sidecar, judging its `ready`, naming whatever goes wrong, ending it."""

from collections.abc import Iterator
from contextlib import contextmanager

from rocm_wizard.qualification.outcome import Outcome
from rocm_wizard.qualification.stage import StageContext
from rocm_wizard.runner.spec import Child, ChildSpec, StartFailed
from rocm_wizard.sidecar.client import SidecarClient, SidecarError
from rocm_wizard.sidecar.messages import Ready
from rocm_wizard.stages.session import Session

_EXIT_GRACE = 10.0
_STDERR_SHOWN = 5


class SmokeFailed(Exception):
    """The smoke cannot go on; its findings are already reported."""


@contextmanager
def sidecar(context: StageContext, session: Session, spec: ChildSpec) -> Iterator[SidecarClient]:
    """A ready sidecar of the right device kind; at the end it must leave by itself.

    Whatever breaks inside becomes a finding, then `SmokeFailed`. The child is gone when this returns.
    """
    try:
        child = session.runner.start(spec, context.stage, context.cancel)
    except StartFailed as error:
        context.finding("sidecar.not_started", Outcome.COULD_NOT_CHECK, sidecar=spec.purpose, reason=error.reason)
        raise SmokeFailed from error
    client = SidecarClient(child, ready_seconds=session.limit("ready"), message_seconds=session.limit("message"))
    healthy = False
    try:
        _wait_ready(context, session, client)
        yield client
        healthy = True
    except SidecarError as error:
        _report_error(context, session, client, error)
        raise SmokeFailed from error
    finally:
        if healthy:
            _report_exit(context, child)
        else:
            child.stop(grace=0.5)


def _wait_ready(context: StageContext, session: Session, client: SidecarClient) -> None:
    with context.check("start"):
        ready, seconds = client.wait_ready()
        facts = _ready_facts(ready, client.child.spec.purpose)
        context.finding("sidecar.ready", Outcome.PASSED, seconds=round(seconds, 3), **facts)
        context.measure("sidecar.start", seconds, "s", phase="cold")
        for name, value in (("sidecar.load", ready.load_ms), ("sidecar.warm_up", ready.warmup_ms)):
            if value is not None:
                context.measure(name, value / 1000, "s", phase="cold")
    with context.check("device"):
        wanted = session.chosen.device_kind
        right = ready.device_kind == wanted
        id = "sidecar.device" if right else "sidecar.wrong_device"
        outcome = Outcome.PASSED if right else Outcome.FAILED
        context.finding(id, outcome, wanted=wanted, found=ready.device_kind, **facts)
        if not right:
            raise SmokeFailed


def _ready_facts(ready: Ready, purpose: str) -> dict[str, object]:
    names = ("engine", "model", "voice", "attn_impl", "semantic_backend")
    said = {name: ready.extra[name] for name in names if isinstance(ready.extra.get(name), str)}
    return {"sidecar": purpose, "device": ready.device, "torch": ready.torch, "hip": ready.hip, **said}


def _report_error(context: StageContext, session: Session, client: SidecarClient, error: SidecarError) -> None:
    limits = {"not_ready": session.limit("ready"), "silent": session.limit("message")}
    facts = {
        "sidecar": client.child.spec.purpose,
        "detail": error.detail,
        "seconds": limits.get(error.kind),
        "stderr": client.child.stderr_tail()[-_STDERR_SHOWN:],
    }
    id = f"wire.{error.rule}" if error.kind == "protocol" else f"sidecar.{error.kind}"
    crashed = error.exit is not None and error.exit.meaning.crashed
    context.finding(id, Outcome.CRASHED if crashed else Outcome.FAILED, ["stderr"], **facts)


def _report_exit(context: StageContext, child: Child) -> None:
    with context.check("stop"):
        report = child.stop(grace=_EXIT_GRACE)
        facts = {"sidecar": child.spec.purpose, "code": report.code, "name": str(report.meaning)}
        if report.forced != "none":
            context.finding("sidecar.would_not_exit", Outcome.WARNING, forced=report.forced, **facts)
        elif report.code != 0:
            context.finding("sidecar.bad_exit", Outcome.WARNING, **facts)
        else:
            context.finding("sidecar.stopped", Outcome.PASSED, **facts)

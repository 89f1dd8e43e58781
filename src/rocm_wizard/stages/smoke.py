"""What both speech smokes share: starting a sidecar, judging its `ready`, naming whatever goes wrong, ending it."""

import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path
from typing import Any

from rocm_wizard.qualification.outcome import Outcome
from rocm_wizard.qualification.stage import StageContext
from rocm_wizard.runner.spec import ChildSpec, ExitReport, StartFailed
from rocm_wizard.sidecar.client import SidecarClient, SidecarError
from rocm_wizard.sidecar.host_limits import STDERR_LIMIT
from rocm_wizard.sidecar.launch import SidecarSpec
from rocm_wizard.sidecar.messages import Ready
from rocm_wizard.stages.checkout_settings import hidden_values
from rocm_wizard.stages.kernel_cache import tell_kernel_cache
from rocm_wizard.stages.ready_rules import Told, device_kind, judge_ready
from rocm_wizard.stages.session import Session

_EXIT_GRACE = 10.0
_AFTER_FINISH = 0.5
_STDERR_SHOWN = 5
_LEFT_GRACE = 2.0
_LEFT_SHOWN = 5


class SmokeFailed(Exception):
    """The smoke cannot go on; its findings are already reported."""


@contextmanager
def sidecar(context: StageContext, session: Session, spec: ChildSpec) -> Iterator[SidecarClient]:
    """A ready sidecar of the right device kind; at the end it must leave by itself, with nothing left on its channel.

    Whatever breaks inside becomes a finding, then `SmokeFailed`. The child is gone when this returns.
    """
    _tell_remarks(context, spec)
    spec = replace(spec, hidden=spec.hidden | hidden_values(session.target.checkout))
    tell_kernel_cache(context, session, spec)
    try:
        child = session.runner.start(spec, context.stage, context.cancel)
    except StartFailed as error:
        context.finding("sidecar.not_started", Outcome.COULD_NOT_CHECK, sidecar=spec.purpose, reason=error.reason)
        raise SmokeFailed from error
    client = SidecarClient(
        child,
        ready_seconds=session.limit("ready"),
        message_seconds=session.limit("message"),
        text_before_ready=kind_of(spec) == "asr",
    )
    healthy = False
    try:
        _wait_ready(context, session, client)
        yield client
        healthy = True
    except SidecarError as error:
        report_error(context, session, client, error)
        raise SmokeFailed from error
    finally:
        try:
            if healthy:
                _report_exit(context, session, client)
        finally:
            child.stop(grace=0.5)


def kind_of(spec: ChildSpec) -> str:
    """asr or tts."""
    return spec.kind if isinstance(spec, SidecarSpec) else spec.purpose.partition(" ")[0]


def _tell_remarks(context: StageContext, spec: ChildSpec) -> None:
    if not isinstance(spec, SidecarSpec):
        return
    for remark in spec.remarks:
        context.finding(remark.id, remark.outcome, ["path", "used"], **remark.facts)
    if not spec.startable:
        raise SmokeFailed


def _wait_ready(context: StageContext, session: Session, client: SidecarClient) -> None:
    spec = client.child.spec
    with context.check("start"):
        ready, seconds = client.wait_ready()
        facts = _ready_facts(ready, spec)
        context.finding("sidecar.ready", Outcome.PASSED, seconds=round(seconds, 3), **facts)
        context.measure("sidecar.start", seconds, "s", phase="cold")
        for name, value in (("sidecar.load", ready.load_ms), ("sidecar.warm_up", ready.warmup_ms)):
            if value is not None:
                context.measure(name, value / 1000, "s", phase="cold")
        if client.text_before_ready:
            detail = client.text_before_ready[0]
            context.finding("wire.text_before_ready", Outcome.WARNING, sidecar=spec.purpose, detail=detail)
    with context.check("device"):
        wanted = session.chosen.device_kind
        found = device_kind(ready, kind_of(spec), wanted)
        id = "sidecar.device" if found == wanted else "sidecar.wrong_device"
        outcome = Outcome.PASSED if found == wanted else Outcome.FAILED
        context.finding(id, outcome, wanted=wanted, found=found, **facts)
        if found != wanted:
            raise SmokeFailed
    with context.check("ready_fields"):
        judge_ready(context, session, kind_of(spec), ready, seconds, Path(spec.argv[0]))


def _ready_facts(ready: Ready, spec: ChildSpec) -> dict[str, object]:
    names = ("engine", "model", "voice", "attn_impl", "semantic_backend")
    said = {name: ready.extra[name] for name in names if isinstance(ready.extra.get(name), str)}
    facts: dict[str, object] = {"engine": spec.engine} if isinstance(spec, SidecarSpec) else {}
    facts |= {"sidecar": spec.purpose, "device": ready.device, "torch": ready.torch, "hip": ready.hip}
    return facts | said


def report_error(context: StageContext, session: Session, client: SidecarClient, error: SidecarError) -> None:
    """What broke, as a finding with the child's last words."""
    limits = {"not_ready": session.limit("ready"), "silent": session.limit("message")}
    facts = {
        "sidecar": client.child.spec.purpose,
        "detail": error.detail,
        "seconds": limits.get(error.kind),
        "stderr": client.child.stderr_tail()[-_STDERR_SHOWN:],
        "unknown_messages": client.unknown_messages,
    }
    begun = error.kind == "silent" and error.detail
    id = f"wire.{error.rule}" if error.kind == "protocol" else f"sidecar.{'fell_silent' if begun else error.kind}"
    crashed = error.exit is not None and error.exit.meaning.crashed
    context.finding(id, Outcome.CRASHED if crashed else Outcome.FAILED, ["stderr"], **facts)
    for left_id, outcome, left in left_by(client, error):
        context.finding(left_id, outcome, **left)


def left_by(client: SidecarClient, error: SidecarError) -> list[Told]:
    """What a sidecar left behind that ended by itself, too early; one that is ended by the wizard leaves nothing."""
    if error.kind not in ("died", "load_failed"):
        return []
    return told_left(client.child.spec.purpose, client.child.stop(grace=_LEFT_GRACE))


def _report_exit(context: StageContext, session: Session, client: SidecarClient) -> None:
    """The end of a sidecar that did its work: what is still on the channel, what came over it, and how it leaves."""
    grace = exit_grace(session)
    with context.check("stop"):
        ends = time.monotonic() + grace
        try:
            client.finish(grace)
        except SidecarError as error:
            report_error(context, session, client, error)
        for id, outcome, facts in judge_exit(client, ends):
            context.finding(id, outcome, **facts)
    with context.check("traffic"):
        judge_traffic(context, client)


def exit_grace(session: Session) -> float:
    """Seconds that a sidecar has to leave in, once nothing more will be asked."""
    return session.options.limits.get("exit", _EXIT_GRACE)


def judge_exit(client: SidecarClient, ends: float) -> list[Told]:
    """How a sidecar leaves, to which nothing more will be said; it has until `ends` (`time.monotonic()`)."""
    report = client.child.stop(grace=max(_AFTER_FINISH, ends - time.monotonic()))
    facts: dict[str, Any] = {"sidecar": client.child.spec.purpose, "code": report.code, "name": str(report.meaning)}
    told: list[Told] = []
    if report.forced != "none":
        told.append(("sidecar.would_not_exit", Outcome.WARNING, facts | {"forced": report.forced}))
    elif report.code != 0:
        told.append(("sidecar.bad_exit", Outcome.WARNING, facts))
    told += told_left(client.child.spec.purpose, report)
    return told or [("sidecar.stopped", Outcome.PASSED, facts)]


def told_left(purpose: str, report: ExitReport) -> list[Told]:
    """What a sidecar left behind, whether it left in order or died."""
    if not report.left:
        return []
    facts = {"sidecar": purpose, "code": report.code, "name": str(report.meaning)}
    left = {"count": len(report.left), "processes": sorted(set(report.left))[:_LEFT_SHOWN]}
    return [("sidecar.left_processes", Outcome.WARNING, facts | left)]


def judge_traffic(context: StageContext, client: SidecarClient) -> None:
    """What came over the wire in all, and what of it a host would stumble on."""
    kind, traffic = kind_of(client.child.spec), client.traffic
    facts: dict[str, Any] = {"sidecar": client.child.spec.purpose}
    context.finding(
        "wire.traffic_more" if traffic.unknown_fields else "wire.traffic",
        Outcome.PASSED,
        messages=traffic.messages,
        size=traffic.size,
        unknown_fields=list(traffic.unknown_fields),
        stderr=client.child.stderr_bytes(),
        **facts,
    )
    if traffic.unknown_types:
        # The host's recogniser skips them, its voice breaks off at the first.
        outcome = Outcome.WARNING if kind == "asr" else Outcome.FAILED
        context.finding(
            "wire.unknown_types", outcome, types=list(traffic.unknown_types), count=client.unknown_messages, **facts
        )
    full = traffic.requests_until_full(STDERR_LIMIT)
    if kind == "asr" and full is not None:
        context.finding(
            "sidecar.stderr_volume" if full == 0 else "sidecar.stderr_fills",
            Outcome.WARNING,
            requests=full,
            before_ready=traffic.stderr_before_ready,
            worst_request=traffic.stderr_worst_request,
            limit=STDERR_LIMIT,
            **facts,
        )

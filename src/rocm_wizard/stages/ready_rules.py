"""What a `ready` message has to say beside the device: the host decides from it how the app behaves."""

from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

from rocm_wizard.machine.target import installed_torch
from rocm_wizard.qualification.outcome import Outcome
from rocm_wizard.qualification.stage import StageContext
from rocm_wizard.sidecar.host_limits import HOST_READY_SECONDS
from rocm_wizard.sidecar.messages import Ready
from rocm_wizard.stages.session import Session

type Told = tuple[str, Outcome, Mapping[str, Any]]
"""A finding to make: its id, outcome and facts."""


def device_kind(ready: Ready, kind: str, wanted: str) -> str:
    """The device kind that a sidecar reports.

    The checkout's ASR sidecar says `cuda:0` on ROCm and CUDA alike and sends no `hip`: then the profile, which the
    versions step has held against the installed torch, says which of the two it is.
    """
    if kind == "asr" and not ready.says_hip and ready.device_kind == "cuda" and wanted == "hip":
        return "hip"
    return ready.device_kind


def judge_ready(context: StageContext, session: Session, kind: str, ready: Ready, seconds: float, python: Path) -> None:
    """Every rule of the fields that holds for this kind of sidecar and profile; `python` is what started it."""
    facts = {"sidecar": f"{kind} sidecar"}
    faults = list(ready_faults(session, kind, ready, python))
    limit = session.options.limits.get("host_ready", HOST_READY_SECONDS)
    if kind == "asr" and seconds > limit:
        slow = {"seconds": round(seconds, 1), "limit": limit}
        faults.append(("sidecar.slower_than_host", Outcome.WARNING, slow))
    for id, outcome, more in faults:
        context.finding(id, outcome, **more, **facts)
    if not faults:
        context.finding("sidecar.ready_fields", Outcome.PASSED, **facts)


def ready_faults(session: Session, kind: str, ready: Ready, python: Path) -> Iterator[Told]:
    """What is wrong with the fields."""
    if session.chosen.device_kind == "hip":
        yield from _rocm_faults(kind, ready)
    expected = installed_torch(python)
    if ready.torch is not None and expected is not None and not _same_version(ready.torch, expected):
        yield "sidecar.ready_torch", Outcome.WARNING, {"found": ready.torch, "expected": expected}


def _same_version(found: str, expected: str) -> bool:
    """Some wheels have a local version tag (`+cpu`) in torch itself and none in their metadata."""
    tagged = "+" in expected
    return found == expected if tagged else found.partition("+")[0] == expected


def _rocm_faults(kind: str, ready: Ready) -> Iterator[Told]:
    said = {
        "hip": ready.hip,
        "cuda_available": ready.extra.get("cuda_available") is True,
        "device": ready.device.startswith("cuda"),
    }
    missing = [name for name, right in said.items() if not right]
    if kind == "tts" and missing:
        yield "sidecar.ready_not_rocm", Outcome.FAILED, {"fields": missing}
    if kind == "asr":
        attention = ready.extra.get("attn_impl")
        if not (isinstance(attention, str) and attention.startswith("eager")):
            yield "sidecar.ready_attention", Outcome.WARNING, {"attention": str(attention)}
        if not ready.warmup_ms:
            yield "sidecar.ready_no_warm_up", Outcome.WARNING, {}

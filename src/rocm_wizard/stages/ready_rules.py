"""What a `ready` message has to say beside the device: the host decides from it how the app behaves."""

from pathlib import Path
from typing import Any

from rocm_wizard.machine.target import installed_torch
from rocm_wizard.qualification.outcome import Outcome
from rocm_wizard.qualification.stage import StageContext
from rocm_wizard.sidecar.host_limits import HOST_READY_SECONDS
from rocm_wizard.sidecar.messages import Ready
from rocm_wizard.stages.session import Session


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
    facts: dict[str, Any] = {"sidecar": f"{kind} sidecar"}
    broken = False
    if session.chosen.device_kind == "hip":
        broken = _judge_rocm(context, kind, ready, facts)
    expected = installed_torch(python)
    if ready.torch is not None and expected is not None and not _same_version(ready.torch, expected):
        broken = True
        context.finding("sidecar.ready_torch", Outcome.WARNING, found=ready.torch, expected=expected, **facts)
    limit = session.options.limits.get("host_ready", HOST_READY_SECONDS)
    if kind == "asr" and seconds > limit:
        broken = True
        context.finding("sidecar.slower_than_host", Outcome.WARNING, seconds=round(seconds, 1), limit=limit, **facts)
    if not broken:
        context.finding("sidecar.ready_fields", Outcome.PASSED, **facts)


def _same_version(found: str, expected: str) -> bool:
    """Some wheels have a local version tag (`+cpu`) in torch itself and none in their metadata."""
    tagged = "+" in expected
    return found == expected if tagged else found.partition("+")[0] == expected


def _judge_rocm(context: StageContext, kind: str, ready: Ready, facts: dict[str, Any]) -> bool:
    broken = False
    available = ready.extra.get("cuda_available")
    missing = [
        name
        for name, said in (
            ("hip", ready.hip),
            ("cuda_available", available is True),
            ("device", ready.device.startswith("cuda")),
        )
        if not said
    ]
    if kind == "tts" and missing:
        broken = True
        context.finding("sidecar.ready_not_rocm", Outcome.FAILED, fields=missing, **facts)
    if kind == "asr":
        attention = ready.extra.get("attn_impl")
        if not (isinstance(attention, str) and attention.startswith("eager")):
            broken = True
            context.finding("sidecar.ready_attention", Outcome.WARNING, attention=str(attention), **facts)
        if not ready.warmup_ms:
            broken = True
            context.finding("sidecar.ready_no_warm_up", Outcome.WARNING, **facts)
    return broken

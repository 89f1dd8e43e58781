"""How a sidecar is started: the command, the working directory and what its environment gains and loses."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from rocm_wizard.machine.profiles import Profile
from rocm_wizard.qualification.outcome import Outcome
from rocm_wizard.runner.spec import ChildSpec

type Changes = dict[str, str | None]

CHECKOUT_SCRIPTS = {"asr": Path("asr/qwen3_asr_sidecar.py"), "tts": Path("tts/gpt_sovits_sidecar.py")}
"""Where a checkout keeps its own sidecars."""

_PYTHON: Changes = {
    "PYTHONPATH": None,
    "PYTHONHOME": None,
    "PYTHONUTF8": "1",
    "PYTHONIOENCODING": "utf-8",
    "PYTHONUNBUFFERED": "1",
    "PYTHONNOUSERSITE": "1",
}
_OFFLINE: Changes = {"HF_HUB_OFFLINE": "1", "TRANSFORMERS_OFFLINE": "1"}
_COMMON: Changes = (
    _PYTHON
    | _OFFLINE
    | {
        "HF_HUB_DISABLE_TELEMETRY": "1",
        # A HIP SDK of its own confuses the wheels' tools (TheRock#1200, unsloth#6043); the profile step reports it.
        "HIP_PATH": None,
        "ROCM_PATH": None,
        "ROCM_HOME": None,
        "HIP_DEVICE_LIB_PATH": None,
    }
)
_BASELINE_OFF: Changes = {
    "ENABLE_CUDA_GRAPH": "0",
    "ENABLE_CUDA_GRAPH_PRECAPTURE": "0",
    "TTS_T2S_FLASH_ATTN": "0",
    "BIGVGAN_USE_CUDA_KERNEL": "0",
}


@dataclass(frozen=True, slots=True)
class Remark:
    """A finding about how a sidecar is started, made before it is."""

    id: str
    outcome: Outcome
    facts: Mapping[str, Any]


@dataclass(frozen=True, slots=True)
class SidecarSpec(ChildSpec):
    """A sidecar to start.

    Attributes:
        kind: asr or tts.
        engine: embedded, qwen3_asr, gpt_sovits, checkout, or command.
        remarks: what has to be told about it first.
        startable: False: the remarks say why there is nothing to start.
    """

    kind: str = "asr"
    engine: str = "embedded"
    remarks: Sequence[Remark] = field(default_factory=tuple[Remark, ...])
    startable: bool = True


def _on_gpu(profile: Profile) -> bool:
    return profile.device_kind in ("cuda", "hip")


def _asr_device(profile: Profile) -> Changes:
    gpu = _on_gpu(profile)
    device = "cuda" if gpu else profile.device_kind
    return {"QWEN3_ASR_DEVICE": device, "QWEN3_ASR_REQUIRE_CUDA": "true" if gpu else "false"}


def _tts_device(profile: Profile) -> Changes:
    return {"TTS_DEVICE": profile.device, "TTS_REQUIRE_CUDA": "1" if _on_gpu(profile) else "0"}


def asr_environment(profile: Profile) -> Changes:
    """Environment changes for our ASR sidecar; on a GPU profile a quiet fall back to the CPU is an error."""
    return _COMMON | _BASELINE_OFF | _asr_device(profile)


def tts_environment(profile: Profile) -> Changes:
    """Environment changes for our TTS sidecar."""
    return _COMMON | _BASELINE_OFF | _tts_device(profile)


def own_sidecar(
    kind: str,
    python: Path,
    profile: Profile,
    cwd: Path,
    command: Sequence[str] | None = None,
    *,
    engine: str = "embedded",
    options: Sequence[str] = (),
) -> SidecarSpec:
    """Our own `asr` or `tts` sidecar, run by the target interpreter; `command` replaces it whole."""
    argv = list(command or [str(python), "-u", "-m", f"rocm_wizard.speech.{kind}", *options])
    environment = asr_environment(profile) if kind == "asr" else tts_environment(profile)
    return SidecarSpec(f"{kind} sidecar", argv, cwd, environment, kind=kind, engine="command" if command else engine)


def checkout_sidecar(
    kind: str, python: Path, profile: Profile, checkout: Path, more: Mapping[str, str | None]
) -> SidecarSpec:
    """A checkout's own sidecar, started as the host project's checker starts it: everything stated, nothing inherited
    from a user's site folder. `more` joins the environment changes.
    """
    argv = [str(python), "-u", str(checkout / CHECKOUT_SCRIPTS[kind])]
    if kind == "asr":
        stated: Changes = _OFFLINE | _asr_device(profile) | {"QWEN3_ASR_WARMUP": "1", "TTS_BACKEND": "disabled"}
    else:
        stated = (
            {"TTS_BACKEND": "gpt_sovits"} | _tts_device(profile) | _BASELINE_OFF | {"TTS_STARTUP_INFERENCE_WARMUP": "0"}
        )
    environment = _PYTHON | stated | dict(more)
    return SidecarSpec(f"{kind} sidecar", argv, checkout, environment, kind=kind, engine="checkout")


def host_sidecar(
    kind: str,
    python: Path,
    checkout: Path,
    settings: Mapping[str, str],
    masked: frozenset[str],
    hidden: frozenset[str] = frozenset(),
) -> SidecarSpec:
    """A checkout's own sidecar, started as the application starts it: a bare command, everything inherited.

    `settings`: what the `.env` file adds to our environment. `masked`: those of them that the journal must not hold.
    `hidden`: values that must not be told even if the sidecar prints them.
    """
    argv = [str(python), str(checkout / CHECKOUT_SCRIPTS[kind])]
    purpose = f"{kind} sidecar as the host"
    return SidecarSpec(
        purpose,
        argv,
        checkout,
        dict(settings),
        masked=masked,
        hidden=hidden,
        undrained=kind == "asr",  # the host reads the stderr of its voice only (docs/wire.md)
        kind=kind,
        engine="checkout",
    )


def nothing_to_start(kind: str, cwd: Path, engine: str, remark: Remark) -> SidecarSpec:
    """An engine that was named and cannot be started; the remark tells why."""
    return SidecarSpec(f"{kind} sidecar", (), cwd, kind=kind, engine=engine, remarks=(remark,), startable=False)

"""How a sidecar is started: the command, the working directory and what its environment gains and loses."""

from collections.abc import Sequence
from pathlib import Path

from rocm_wizard.machine.profiles import Profile
from rocm_wizard.runner.spec import ChildSpec

_COMMON: dict[str, str | None] = {
    "PYTHONPATH": None,
    "PYTHONHOME": None,
    "PYTHONUTF8": "1",
    "PYTHONIOENCODING": "utf-8",
    "PYTHONUNBUFFERED": "1",
    "PYTHONNOUSERSITE": "1",
    "HF_HUB_OFFLINE": "1",
    "TRANSFORMERS_OFFLINE": "1",
    "HF_HUB_DISABLE_TELEMETRY": "1",
    # A HIP SDK of its own confuses the wheels' tools (TheRock#1200, unsloth#6043); the profile step reports it.
    "HIP_PATH": None,
    "ROCM_PATH": None,
    "ROCM_HOME": None,
    "HIP_DEVICE_LIB_PATH": None,
}
_BASELINE_OFF: dict[str, str | None] = {
    "ENABLE_CUDA_GRAPH": "0",
    "ENABLE_CUDA_GRAPH_PRECAPTURE": "0",
    "TTS_T2S_FLASH_ATTN": "0",
    "BIGVGAN_USE_CUDA_KERNEL": "0",
}


def asr_environment(profile: Profile) -> dict[str, str | None]:
    """Environment changes for an ASR sidecar; on a GPU profile a quiet fall back to the CPU is an error."""
    gpu = profile.device_kind in ("cuda", "hip")
    device = "cuda" if gpu else profile.device_kind
    return _COMMON | _BASELINE_OFF | {"QWEN3_ASR_DEVICE": device, "QWEN3_ASR_REQUIRE_CUDA": "true" if gpu else "false"}


def tts_environment(profile: Profile) -> dict[str, str | None]:
    """Environment changes for a TTS sidecar."""
    gpu = profile.device_kind in ("cuda", "hip")
    return _COMMON | _BASELINE_OFF | {"TTS_DEVICE": profile.device, "TTS_REQUIRE_CUDA": "1" if gpu else "0"}


def own_sidecar(
    kind: str, python: Path, profile: Profile, cwd: Path, command: Sequence[str] | None = None
) -> ChildSpec:
    """Our own `asr` or `tts` sidecar, run by the target interpreter; `command` replaces it whole."""
    argv = list(command or [str(python), "-u", "-m", f"rocm_wizard.speech.{kind}"])
    environment = asr_environment(profile) if kind == "asr" else tts_environment(profile)
    return ChildSpec(f"{kind} sidecar", argv, cwd, environment)

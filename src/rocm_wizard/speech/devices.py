"""Which torch device a sidecar runs on, and how torch must behave there."""

import os
import sys
from dataclasses import dataclass

import torch

from rocm_wizard.speech.serve import LoadFailure, Message

TRUE_WORDS = frozenset({"1", "true", "yes", "on"})
GPU_WORDS = frozenset({"cuda", "cuda:0", "gpu"})
MOST_THREADS = 4


@dataclass(frozen=True)
class Choice:
    """A device and, where it is not the one that was asked for, why."""

    device: torch.device
    note: str = ""


def required(variable: str) -> bool:
    """Whether an environment flag such as QWEN3_ASR_REQUIRE_CUDA demands the GPU."""
    return os.environ.get(variable, "").strip().lower() in TRUE_WORDS


def choose_device(wanted: str, *, require_gpu: bool, fall_back: bool) -> Choice:
    """The device for `wanted` (`cuda`, `cuda:N`, `gpu`, `cpu`, `mps`; anything else is automatic).

    HIP devices are called `cuda` in torch. With `fall_back` a missing GPU means the CPU and a note.
    Raises LoadFailure for a missing device otherwise, and for any other device when the GPU is required.
    """
    name = wanted.strip().lower()
    if name in GPU_WORDS or name.startswith("cuda:"):
        choice = _gpu(name, fall_back=fall_back and not require_gpu)
    elif name == "cpu":
        choice = Choice(torch.device("cpu"))
    elif name == "mps":
        if not torch.backends.mps.is_available():
            raise _missing(name)
        choice = Choice(torch.device("mps"))
    else:
        choice = Choice(_automatic())
    if require_gpu and choice.device.type != "cuda":
        raise LoadFailure(
            f"a GPU is required and the device is {choice.device}. {_circumstances()}", {"device": str(choice.device)}
        )
    return choice


def _gpu(name: str, *, fall_back: bool) -> Choice:
    index = name.removeprefix("cuda:") if name.startswith("cuda:") else "0"
    if torch.cuda.is_available() and index.isdigit() and int(index) < torch.cuda.device_count():
        return Choice(torch.device("cuda", int(index)))
    if fall_back:
        return Choice(torch.device("cpu"), f"{name} was asked for and is not available: running on the CPU")
    raise _missing(name)


def _missing(name: str) -> LoadFailure:
    return LoadFailure(f"device {name} was asked for and is not available. {_circumstances()}", {"device": name})


def _automatic() -> torch.device:
    if torch.cuda.is_available():
        return torch.device("cuda", 0)
    return torch.device("mps" if torch.backends.mps.is_available() else "cpu")


def _circumstances() -> str:
    return (
        f"exe={sys.executable} torch={torch.__version__} torch.version.cuda={torch.version.cuda} "
        f"torch.version.hip={torch.version.hip} CUDA_VISIBLE_DEVICES={os.environ.get('CUDA_VISIBLE_DEVICES')!r} "
        f"HIP_VISIBLE_DEVICES={os.environ.get('HIP_VISIBLE_DEVICES')!r}"
    )


def is_hip() -> bool:
    """Whether this torch was built for AMD's HIP."""
    return bool(torch.version.hip)


def prepare_torch() -> None:
    """Thread count and attention kernels, before any network is built.

    On HIP the flash and memory-efficient attention kernels are off, as the host's own sidecars do: they are the ones
    that crash or give wrong numbers on the consumer cards.
    """
    if not os.environ.get("OMP_NUM_THREADS"):
        torch.set_num_threads(min(os.cpu_count() or 1, MOST_THREADS))
    if is_hip():
        torch.backends.cuda.enable_flash_sdp(False)
        torch.backends.cuda.enable_mem_efficient_sdp(False)
        torch.backends.cuda.enable_math_sdp(True)


def torch_facts() -> Message:
    """What the host wants to know of this torch: version, HIP version or None, whether it sees a GPU."""
    return {
        "torch": torch.__version__,
        "hip": torch.version.hip,
        "cuda_available": torch.cuda.is_available(),
    }


def synchronise(device: torch.device) -> None:
    """Wait for the device, so that a clock read next means the work is done."""
    if device.type == "cuda":
        torch.cuda.synchronize(device)
    elif device.type == "mps":
        torch.mps.synchronize()


def memory_fields(device: str) -> Message:
    """`device_memory_bytes`, what this process holds on a GPU; nothing where the memory is the computer's own."""
    return {"device_memory_bytes": torch.cuda.memory_reserved(device)} if device.startswith("cuda") else {}

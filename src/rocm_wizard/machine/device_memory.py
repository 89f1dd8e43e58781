"""How much memory of a GPU is in use, as the system tells it: of the whole device, and by processes where it knows.

Linux: amdgpu's `mem_info_vram_*` (kernel documentation, "AMDGPU driver", sysfs) and, by process, `vram_<gpu>` of the
compute driver (`/sys/class/kfd/kfd/proc/<pid>`, kfd_process.c). Windows: the counters that Task Manager shows.
"""

import ctypes
import re
import sys
from collections.abc import Iterator, Mapping, Sequence
from collections.abc import Set as AbstractSet
from dataclasses import dataclass
from pathlib import Path

import psutil

from rocm_wizard.machine.pdh import PdhLibrary, read_counters

SYSFS = Path("/sys")
PROCESS_COUNTER = r"\GPU Process Memory(*)\Dedicated Usage"
ADAPTER_COUNTER = r"\GPU Adapter Memory(*)\Dedicated Usage"

_INSTANCE = re.compile(r"pid_(\d+)_(luid_.+)", re.IGNORECASE)

type Trees = Sequence[AbstractSet[int]]
"""For each process of interest, its id and those of its descendants."""


@dataclass(frozen=True, slots=True)
class DeviceUse:
    """Bytes of dedicated memory; None: not told.

    Attributes:
        device: in use on the device by all programs.
        total: what the device has.
        processes: held by the processes that were asked for and all below them.
    """

    device: int | None
    total: int | None = None
    processes: int | None = None


def device_use(pids: Sequence[int], kind: str = "hip", device_id: str | None = None) -> DeviceUse | None:
    """The device on which these processes work; None where the system does not tell. Never raises.

    `kind`: `hip` or `cuda`; Linux tells it of AMD's only. `device_id`: its hexadecimal PCI id, where it is known.
    """
    trees = [_tree(pid) for pid in pids]
    try:
        if sys.platform == "win32":
            from rocm_wizard.machine.pdh import load_pdh

            return windows_use(load_pdh(), trees)
        return linux_use(SYSFS, trees, device_id) if sys.platform == "linux" and kind == "hip" else None
    except (OSError, ValueError, AttributeError, ctypes.ArgumentError):
        return None


def _tree(pid: int) -> AbstractSet[int]:
    try:
        return {pid, *(child.pid for child in psutil.Process(pid).children(recursive=True))}
    except psutil.Error:
        return {pid}


def linux_use(sysfs: Path, trees: Trees, device_id: str | None = None) -> DeviceUse | None:
    """The card of this id; of several, or where none has it, the one with the most memory."""
    cards = [path.parent for path in sorted((sysfs / "class" / "drm").glob("card*/device/mem_info_vram_total"))]
    meant = [card for card in cards if device_id is not None and _has_id(card, device_id)]
    told = [
        (total, used)
        for card in meant or cards
        if (total := _number(card / "mem_info_vram_total"))
        and (used := _number(card / "mem_info_vram_used")) is not None
    ]
    total, used = max(told, default=(None, None), key=lambda one: one[0] or 0)
    processes = _sum([_of_tree(_kfd(sysfs, tree)) for tree in trees])
    return None if used is None and processes is None else DeviceUse(used, total, processes)


def _has_id(card: Path, device_id: str) -> bool:
    try:
        return int((card / "device").read_text(encoding="ascii"), 16) == int(device_id, 16)
    except (OSError, ValueError):
        return False


def _number(path: Path) -> int | None:
    try:
        return int(path.read_text(encoding="ascii"))
    except (OSError, ValueError):
        return None


def _kfd(sysfs: Path, tree: AbstractSet[int]) -> Iterator[int]:
    for pid in tree:
        for path in (sysfs / "class" / "kfd" / "kfd" / "proc" / str(pid)).glob("vram_*"):
            if (held := _number(path)) is not None:
                yield held


def _of_tree(held: Iterator[int]) -> int | None:
    values = list(held)
    return sum(values) if values else None


def _sum(trees: Sequence[int | None]) -> int | None:
    """A sum that lacks one of them would be too small and is none."""
    known = [held for held in trees if held is not None]
    return sum(known) if known and len(known) == len(trees) else None


def windows_use(pdh: PdhLibrary, trees: Trees) -> DeviceUse | None:
    """Of several adapters the one that holds most for the processes, else the one with most in use.

    Raises:
        OSError: a counter cannot be read, and the other tells nothing.
    """
    errors: list[OSError] = []
    by_process, by_adapter = (_instances(pdh, path, errors) for path in (PROCESS_COUNTER, ADAPTER_COUNTER))
    rows = [
        (int(match[1]), match[2].lower(), held)
        for name, held in by_process
        if (match := _INSTANCE.fullmatch(name)) is not None
    ]
    adapters = {name.lower(): used for name, used in by_adapter}
    processes = _sum([_of_tree(held for pid, _, held in rows if pid in tree) for tree in trees])
    theirs: dict[str, int] = {}
    for pid, adapter, held in rows:
        if any(pid in tree for tree in trees):
            theirs[adapter] = theirs.get(adapter, 0) + held
    used = _of_adapter(adapters, theirs)
    if used is None and processes is None:
        if errors:
            raise errors[0]
        return None
    return DeviceUse(used, None, processes)


def _instances(pdh: PdhLibrary, path: str, errors: list[OSError]) -> list[tuple[str, int]]:
    """One counter's instances; a Windows that has only one of the two counters still tells half."""
    try:
        return read_counters(pdh, path)
    except OSError as error:
        errors.append(error)
        return []


def _of_adapter(adapters: Mapping[str, int], theirs: Mapping[str, int]) -> int | None:
    busiest = max(theirs, key=lambda adapter: theirs[adapter], default=None)
    if busiest is not None and theirs[busiest] and busiest in adapters:
        return adapters[busiest]
    return max(adapters.values(), default=None)

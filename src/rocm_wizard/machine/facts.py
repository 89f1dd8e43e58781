"""What this computer is, with "could not read" where that is so."""

import os
import platform
import sys
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

import psutil

from rocm_wizard.machine.adapters import Adapter, read_adapters


@dataclass(frozen=True, slots=True)
class MachineFacts:
    """Facts that recommend a profile and head the report. None: could not be read.

    Sizes are bytes. `platform` is `<system>-<machine>` in the spelling of `profiles.toml`.
    """

    platform: str
    system: str
    release: str
    cpu: str | None
    cores: int | None
    memory: int | None
    disk_free: int | None
    adapters: tuple[Adapter, ...] | None
    adapters_source: str

    def fingerprint(self) -> dict[str, Any]:
        """The facts for the journal's first line: nothing in them names a person."""
        return asdict(self)


_SYSTEMS = {"win32": "windows", "darwin": "macos", "linux": "linux"}


def platform_tag(system: str = sys.platform, machine: str | None = None) -> str:
    """`windows-amd64`, `linux-x86_64`, `macos-arm64` and their like."""
    return f"{_SYSTEMS.get(system, system)}-{(machine or platform.machine()).lower()}"


def _cpu_name() -> str | None:
    if sys.platform == "win32":
        import winreg

        try:
            with winreg.OpenKey(winreg.HKEY_LOCAL_MACHINE, r"HARDWARE\DESCRIPTION\System\CentralProcessor\0") as key:
                return str(winreg.QueryValueEx(key, "ProcessorNameString")[0]).strip()
        except OSError:
            return None
    if sys.platform == "linux":
        try:
            for line in Path("/proc/cpuinfo").read_text(encoding="utf-8", errors="replace").splitlines():
                if line.startswith("model name"):
                    return line.partition(":")[2].strip()
        except OSError:
            return None
    return platform.processor() or None


def _release() -> str:
    """The system's version. Windows 11 still calls itself 10 in every name: only the build tells (22000 and up)."""
    if sys.platform == "win32":
        version = sys.getwindowsversion()
        return f"{'11' if version.build >= 22000 else '10'} build {version.build}"
    return platform.release()


def read_machine(folder: Path) -> MachineFacts:
    """Reads the machine; `folder` is where free disk space matters. Never raises."""
    try:
        disk_free = psutil.disk_usage(str(folder)).free
    except OSError:
        disk_free = None
    adapters, source = read_adapters()
    return MachineFacts(
        platform=platform_tag(),
        system=platform.system(),
        release=_release(),
        cpu=_cpu_name(),
        cores=os.cpu_count(),
        memory=psutil.virtual_memory().total,
        disk_free=disk_free,
        adapters=adapters,
        adapters_source=source,
    )

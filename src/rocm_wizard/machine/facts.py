"""What this computer is: conclusions from one raw reading, with "could not read" where that is so."""

import platform
import sys
from collections.abc import Mapping
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any

from rocm_wizard.machine.adapters import Adapter, adapters_of, stale_rows
from rocm_wizard.machine.knowledge import load_knowledge
from rocm_wizard.machine.raw import RawMachine, raw_from_json, read_raw

_SYSTEMS = {"win32": "windows", "darwin": "macos", "linux": "linux"}
_NAMES = {"win32": "Windows", "darwin": "macOS", "linux": "Linux"}
_ADAPTER_SOURCES = {"win32": "CfgMgr32, display class key, EnumDisplayDevicesW", "linux": "sysfs"}
_SMART_APP_CONTROL = {0: "off", 1: "on", 2: "evaluation"}
WINDOWS_11 = 22000
WORKSTATION = 1


@dataclass(frozen=True, slots=True)
class WindowsFacts:
    """Build 22000 and up is Windows 11 (its own ProductName still says 10); product type 1 is a workstation."""

    build: int
    revision: int | None = None
    workstation: bool = True
    edition: str | None = None
    version: str | None = None
    long_paths: bool | None = None
    smart_app_control: str | None = None
    vc_runtime: str | None = None
    amd_software: str | None = None

    @property
    def name(self) -> str:
        """`Windows 11`, `Windows 10` or `Windows Server`."""
        if not self.workstation:
            return "Windows Server"
        return "Windows 11" if self.build >= WINDOWS_11 else "Windows 10"


@dataclass(frozen=True, slots=True)
class MachineFacts:
    """Facts that recommend a profile and head the report. None: absent, or not readable and then in `unread`.

    Sizes are bytes. `platform` is `<system>-<machine>` in the spelling of `profiles.toml`. `stale_adapters` are names
    of removed cards. `paths` (USERPROFILE, TEMP) and `environment` may name a person and stay out of the fingerprint.
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
    page_file: int | None = None
    windows: WindowsFacts | None = None
    stale_adapters: tuple[str, ...] = ()
    environment: Mapping[str, str] = field(default_factory=dict[str, str])
    paths: Mapping[str, str] = field(default_factory=dict[str, str])
    unread: Mapping[str, str] = field(default_factory=dict[str, str])

    def fingerprint(self) -> dict[str, Any]:
        """The facts for the journal's first line: nothing in them names a person."""
        values = asdict(self)
        for private in ("environment", "paths"):
            del values[private]
        return values


def platform_tag(system: str = sys.platform, machine: str | None = None) -> str:
    """`windows-amd64`, `linux-x86_64`, `macos-arm64` and their like."""
    return f"{_SYSTEMS.get(system, system)}-{(machine or platform.machine()).lower()}"


def interpret(raw: RawMachine) -> MachineFacts:
    """What a raw reading means. Reads nothing itself."""
    windows = _windows(raw)
    release = f"{windows.name.removeprefix('Windows ')} build {windows.build}" if windows else raw.release
    adapters = adapters_of(raw)
    why = raw.unread.get("adapters") or raw.unread.get("class_rows") or "nothing was read"
    return MachineFacts(
        platform=platform_tag(raw.system, raw.machine),
        system=_NAMES.get(raw.system, raw.system),
        release=release,
        cpu=raw.cpu,
        cores=raw.cores,
        memory=raw.memory,
        disk_free=raw.disk_free,
        adapters=adapters,
        adapters_source=_ADAPTER_SOURCES.get(raw.system, raw.system) if adapters is not None else why,
        page_file=raw.page_file,
        windows=windows,
        stale_adapters=tuple(stale_rows(raw)),
        environment=raw.environment,
        paths=raw.paths,
        unread={what: why for what, why in raw.unread.items() if what != "adapters"},
    )


def _windows(raw: RawMachine) -> WindowsFacts | None:
    build = raw.windows.get("build")
    if raw.system != "win32" or not isinstance(build, int):
        return None
    registry = raw.registry
    long_paths, control = registry.get("long_paths"), registry.get("smart_app_control")
    return WindowsFacts(
        build=build,
        revision=raw.windows.get("ubr"),
        workstation=raw.windows.get("product_type", WORKSTATION) == WORKSTATION,
        edition=raw.windows.get("edition_id"),
        version=raw.windows.get("display_version"),
        long_paths=None if "long_paths" in raw.unread else long_paths == 1,
        smart_app_control=_SMART_APP_CONTROL.get(control) if isinstance(control, int) else None,
        vc_runtime=_vc_runtime(registry.get("vc_runtime")),
        amd_software=registry.get("amd_software"),
    )


def _vc_runtime(values: Any) -> str | None:
    """`v14.44.35211.00` as `14.44.35211.00`; None where nothing is installed."""
    if not isinstance(values, dict) or values.get("Installed") != 1:
        return None
    return str(values.get("Version", "")).removeprefix("v") or None


def read_machine(folder: Path) -> MachineFacts:
    """Reads the machine; `folder` is where free disk space matters. Never raises."""
    variables = load_knowledge().variables
    return interpret(read_raw(folder, variables.patterns(shown=True), variables.patterns(shown=False)))


def machine_from_recording(path: Path) -> MachineFacts:
    """The machine that was recorded in a JSON file.

    Raises:
        OSError, ValueError, TypeError: the file cannot be read or is not a recording.
    """
    return interpret(raw_from_json(path.read_text(encoding="utf-8")))

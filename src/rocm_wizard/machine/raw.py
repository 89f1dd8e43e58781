"""One machine as it was read, before anything is concluded from it. A recording is this, as JSON."""

import ctypes
import fnmatch
import json
import os
import platform
import sys
from collections.abc import Callable, Iterable, Mapping
from dataclasses import asdict, dataclass, field, fields
from pathlib import Path
from typing import Any

import psutil


@dataclass(slots=True)
class RawMachine:
    """What the readers saw. A value that is None was absent; what could not be read is named in `unread` with why.

    Attributes:
        system, machine, release: `sys.platform`, `platform.machine()`, `platform.release()`.
        windows: build, ubr, product_type, edition_id, display_version.
        memory, page_file, disk_free: bytes.
        registry: long_paths, smart_app_control (numbers), vc_runtime (the key's values), amd_software (text).
        class_rows: subkey of the Windows display class key to its values; bytes as `{"hex": "..."}`.
        devices: Windows: present display devices (instance_id, driver_key, name, service, problem);
            Linux: display devices of sysfs (class, vendor, device, revision, driver, vram, connected).
        displays: rows of EnumDisplayDevicesW (id, name, flags).
        environment: variables that are known to matter. paths: USERPROFILE and TEMP.
    """

    system: str
    machine: str
    release: str = ""
    windows: dict[str, Any] = field(default_factory=dict[str, Any])
    cpu: str | None = None
    cores: int | None = None
    memory: int | None = None
    page_file: int | None = None
    disk_free: int | None = None
    registry: dict[str, Any] = field(default_factory=dict[str, Any])
    class_rows: dict[str, dict[str, Any]] | None = None
    devices: list[dict[str, Any]] | None = None
    displays: list[dict[str, Any]] | None = None
    environment: dict[str, str] = field(default_factory=dict[str, str])
    paths: dict[str, str] = field(default_factory=dict[str, str])
    unread: dict[str, str] = field(default_factory=dict[str, str])

    def to_json(self) -> str:
        """The recording's text."""
        return json.dumps(asdict(self), ensure_ascii=False, indent=1)

    def read(self, what: str, reader: Callable[[], Any]) -> Any:
        """The reader's value, or None and an entry in `unread`."""
        try:
            return reader()
        except (OSError, RuntimeError, ValueError, TypeError, AttributeError, ctypes.ArgumentError) as error:
            self.unread[what] = getattr(error, "strerror", None) or str(error) or type(error).__name__
            return None


def raw_from_json(text: str) -> RawMachine:
    """The machine that a recording holds.

    Raises:
        ValueError, TypeError: it is not a recording.
    """
    values = json.loads(text)
    unknown = set(values) - {one.name for one in fields(RawMachine)}
    if unknown:
        raise ValueError(f"a recording has no {sorted(unknown)}")
    return RawMachine(**values)


def chosen_variables(environment: Mapping[str, str], patterns: Iterable[str], hidden: Iterable[str]) -> dict[str, str]:
    """The variables whose names fit a pattern; the values of those that fit `hidden` are left out."""
    shown, masked = tuple(patterns), tuple(hidden)
    return {
        name: "***" if _fits(name, masked) else value
        for name, value in sorted(environment.items())
        if _fits(name, shown) or _fits(name, masked)
    }


def _fits(name: str, patterns: Iterable[str]) -> bool:
    return any(fnmatch.fnmatchcase(name.upper(), pattern) for pattern in patterns)


def read_raw(folder: Path, patterns: Iterable[str] = (), hidden: Iterable[str] = ()) -> RawMachine:
    """Reads this machine; `folder` is where free disk space matters. Never raises."""
    raw = RawMachine(sys.platform, platform.machine(), platform.release(), cores=os.cpu_count())
    raw.memory = raw.read("memory", lambda: psutil.virtual_memory().total)
    raw.page_file = raw.read("page_file", lambda: psutil.swap_memory().total)
    raw.disk_free = raw.read("disk_free", lambda: psutil.disk_usage(str(folder)).free)
    raw.environment = chosen_variables(os.environ, patterns, hidden)
    if sys.platform == "win32":
        from rocm_wizard.machine.windows import read_windows

        read_windows(raw)
    elif sys.platform == "linux":
        from rocm_wizard.machine.linux import read_linux

        read_linux(raw)
    else:
        raw.cpu = platform.processor() or None
        raw.unread["adapters"] = f"no reader for {sys.platform}"
    return raw

"""Raw readings on Linux: sysfs and /proc."""

from pathlib import Path
from typing import Any

from rocm_wizard.machine.raw import RawMachine


def read_linux(raw: RawMachine, root: Path = Path("/")) -> None:
    """Adds processor and display devices."""
    raw.cpu = raw.read("cpu", lambda: _cpu_name(root / "proc" / "cpuinfo"))
    raw.devices = raw.read("adapters", lambda: display_devices(root / "sys"))


def _cpu_name(path: Path) -> str | None:
    for line in path.read_text(encoding="utf-8", errors="replace").splitlines():
        if line.startswith("model name"):
            return line.partition(":")[2].strip()
    return None


def display_devices(sysfs: Path) -> list[dict[str, Any]]:
    """The devices of class 0x03 below `bus/pci/devices`.

    Raises:
        OSError: the folder cannot be listed.
    """
    found: list[dict[str, Any]] = []
    for device in sorted((sysfs / "bus" / "pci" / "devices").iterdir()):
        if not (_text(device / "class") or "").lower().startswith("0x03"):
            continue
        driver, vram = device / "driver", _text(device / "mem_info_vram_total")
        found.append(
            {
                **{name: _text(device / name) for name in ("class", "vendor", "device", "revision")},
                "driver": driver.resolve().name if driver.exists() else None,
                "vram": int(vram) if vram and vram.isdecimal() else None,
                "connected": _connected(device),
            }
        )
    return found


def _connected(device: Path) -> bool | None:
    """Whether a monitor hangs on a connector; None where the driver shows no connectors."""
    states = [_text(path) for path in device.glob("drm/card*/card*-*/status")]
    return any(state == "connected" for state in states) if states else None


def _text(path: Path) -> str | None:
    try:
        return path.read_text(encoding="ascii", errors="replace").strip()
    except OSError:
        return None

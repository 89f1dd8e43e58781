"""Display adapters by PCI vendor and device id, from the registry (Windows) or sysfs (Linux)."""

import re
import sys
from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path

VENDORS = {0x1002: "amd", 0x10DE: "nvidia", 0x8086: "intel", 0x106B: "apple"}

_PCI_ID = re.compile(r"VEN_([0-9A-F]{4})&DEV_([0-9A-F]{4})", re.IGNORECASE)


@dataclass(frozen=True, slots=True)
class Adapter:
    """One display adapter. `vendor` is amd, nvidia, intel, apple or the hexadecimal PCI vendor id."""

    vendor: str
    device_id: str
    name: str | None = None
    driver: str | None = None


def adapter_from_ids(vendor_id: int, device_id: int, name: str | None = None, driver: str | None = None) -> Adapter:
    """An adapter from its PCI numbers: vendors are matched by number, never by marketing name."""
    return Adapter(VENDORS.get(vendor_id, f"{vendor_id:04x}"), f"{device_id:04x}", name, driver)


def adapters_from_sysfs(root: Path) -> tuple[Adapter, ...]:
    """Reads `<root>/bus/pci/devices`: class 0x03.... is a display controller.

    Raises:
        OSError: the folder cannot be listed.
    """
    found: list[Adapter] = []
    for device in sorted((root / "bus" / "pci" / "devices").iterdir()):
        try:
            numbers = [int((device / name).read_text(encoding="ascii"), 16) for name in ("class", "vendor", "device")]
        except (OSError, ValueError):
            continue
        if numbers[0] >> 16 == 0x03:
            driver = device / "driver"
            found.append(
                adapter_from_ids(numbers[1], numbers[2], None, driver.resolve().name if driver.exists() else None)
            )
    return tuple(found)


def adapters_from_class_key(rows: Iterable[dict[str, str]]) -> tuple[Adapter, ...]:
    """Adapters from rows of the Windows display class key (DriverDesc, MatchingDeviceId, DriverVersion)."""
    found: list[Adapter] = []
    for row in rows:
        match = _PCI_ID.search(row.get("MatchingDeviceId", ""))
        if match:
            ids = int(match[1], 16), int(match[2], 16)
            found.append(adapter_from_ids(*ids, row.get("DriverDesc"), row.get("DriverVersion")))
    return tuple(found)


def read_adapters() -> tuple[tuple[Adapter, ...] | None, str]:
    """The adapters and where they were read, or None and why not."""
    if sys.platform == "win32":
        return adapters_from_class_key(_class_key_rows()), "registry display class key"
    if sys.platform == "linux":
        root = Path("/sys")
        try:
            return adapters_from_sysfs(root), "sysfs"
        except OSError as error:
            return None, f"sysfs: {error.strerror}"
    return None, f"no reader for {sys.platform}"


if sys.platform == "win32":

    def _class_key_rows() -> list[dict[str, str]]:
        import winreg

        path = r"SYSTEM\CurrentControlSet\Control\Class\{4d36e968-e325-11ce-bfc1-08002be10318}"
        rows: list[dict[str, str]] = []
        with winreg.OpenKey(winreg.HKEY_LOCAL_MACHINE, path, 0, winreg.KEY_READ | winreg.KEY_WOW64_64KEY) as key:
            for index in range(winreg.QueryInfoKey(key)[0]):
                name = winreg.EnumKey(key, index)
                if not name.isdigit():
                    continue  # the subkey Properties refuses access
                try:
                    with winreg.OpenKey(key, name) as adapter:
                        values = (winreg.EnumValue(adapter, i) for i in range(winreg.QueryInfoKey(adapter)[1]))
                        rows.append({value[0]: str(value[1]) for value in values})
                except OSError:
                    continue
        return rows

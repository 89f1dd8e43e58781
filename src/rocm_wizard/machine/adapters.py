"""Display adapters by PCI vendor and device id: what the raw readings of Windows and Linux say about each."""

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from rocm_wizard.machine.raw import RawMachine

VENDORS = {0x1002: "amd", 0x10DE: "nvidia", 0x8086: "intel", 0x106B: "apple"}
DISABLED = 22
"""ConfigManager's code for a device that somebody switched off."""

_PCI_ID = re.compile(r"VEN_([0-9A-F]{4})&DEV_([0-9A-F]{4})(?:.*?&REV_([0-9A-F]{2}))?", re.IGNORECASE)
_USB_ID = re.compile(r"VID_([0-9A-F]{4})&PID_([0-9A-F]{4})", re.IGNORECASE)
_ATTACHED_TO_DESKTOP = 0x1
_GENERIC_SERVICES = ("basicdisplay", "basicrender", "vga")


@dataclass(frozen=True, slots=True)
class Adapter:
    """One display adapter that is present.

    Attributes:
        vendor: amd, nvidia, intel, apple, `virtual`, or the hexadecimal vendor id.
        driver: Windows: the WDDM driver that it is bound to; Linux: the kernel module.
        adrenalin: the AMD Software that its driver key names.
        vram: dedicated memory in bytes (of an integrated GPU only the carved-out part).
        attached: whether it drives the desktop; None: could not be read.
        problem: ConfigManager's code, 0 for none, None where there is no such thing.
        generic: only Windows' own basic driver is bound to it.
    """

    vendor: str
    device_id: str
    name: str | None = None
    driver: str | None = None
    revision: str | None = None
    adrenalin: str | None = None
    vram: int | None = None
    attached: bool | None = None
    problem: int | None = None
    generic: bool = False
    bus: str = "pci"

    @property
    def works(self) -> bool:
        """Whether a driver of its own is bound and reports no problem."""
        return not self.problem and not self.generic

    @property
    def label(self) -> str:
        """Its name, else its numbers."""
        return self.name if self.name and not self.generic else f"{self.vendor} {self.device_id}"


def vendor_name(vendor_id: int) -> str:
    """Vendors are known by number, never by marketing name."""
    return VENDORS.get(vendor_id, f"{vendor_id:04x}")


def adapters_of(raw: RawMachine) -> tuple[Adapter, ...] | None:
    """The present adapters in the system's order, or None where they could not be read."""
    if raw.system == "linux":
        return None if raw.devices is None else tuple(map(_from_sysfs, raw.devices))
    if raw.system != "win32" or (raw.devices is None and raw.class_rows is None):
        return None
    rows = raw.class_rows or {}
    if raw.devices is None:  # which rows are left over from removed cards is unknown then
        found = (_from_windows(str(row.get("MatchingDeviceId", "")), {}, row, None) for row in rows.values())
        return tuple(adapter for adapter in found if adapter.bus == "pci")
    return tuple(
        _from_windows(str(device["instance_id"]), device, rows.get(_row_of(device), {}), raw.displays)
        for device in raw.devices
    )


def stale_rows(raw: RawMachine) -> list[str]:
    """Names in the display class key that no present device is bound to: cards that were removed."""
    if raw.devices is None or raw.class_rows is None:
        return []
    bound = {_row_of(device) for device in raw.devices}
    return [str(row.get("DriverDesc")) for name, row in raw.class_rows.items() if name not in bound]


def _row_of(device: Mapping[str, Any]) -> str:
    """`{4d36e968-...}\\0003` names row 0003."""
    return str(device.get("driver_key") or "").rpartition("\\")[2]


def _from_windows(
    id: str, device: Mapping[str, Any], row: Mapping[str, Any], displays: Sequence[Mapping[str, Any]] | None
) -> Adapter:
    bus = id.partition("\\")[0].lower()
    match = _PCI_ID.search(id) or _USB_ID.search(id)
    service = str(device.get("service") or "").lower()
    problem = device.get("problem")
    return Adapter(
        vendor=vendor_name(int(match[1], 16)) if match else "virtual",
        device_id=match[2].lower() if match else "",
        name=row.get("DriverDesc") or device.get("name"),
        driver=row.get("DriverVersion"),
        revision=match[3].upper() if match and match.lastindex == 3 and match[3] else None,
        adrenalin=row.get("RadeonSoftwareVersion"),
        vram=_number(row.get("HardwareInformation.qwMemorySize")),
        attached=_attached(id, displays),
        problem=problem if isinstance(problem, int) else None,
        generic=service in _GENERIC_SERVICES or str(row.get("MatchingDeviceId", "")).lower().startswith("pci\\cc_03"),
        bus=bus,
    )


def _number(value: Any) -> int | None:
    """A registry number; REG_BINARY is little-endian."""
    if isinstance(value, dict) and isinstance(value.get("hex"), str):
        return int.from_bytes(bytes.fromhex(value["hex"]), "little")
    return value if isinstance(value, int) else None


def _attached(id: str, displays: Sequence[Mapping[str, Any]] | None) -> bool | None:
    """EnumDisplayDevicesW names the hardware id, the instance id goes on after it: two equal cards share an answer."""
    if displays is None:
        return None
    wanted = id.upper()
    rows = [row for row in displays if row.get("id") and wanted.startswith(str(row["id"]).upper())]
    return any(int(row.get("flags", 0)) & _ATTACHED_TO_DESKTOP for row in rows)


def _from_sysfs(device: Mapping[str, Any]) -> Adapter:
    revision = device.get("revision")
    return Adapter(
        vendor=vendor_name(int(device["vendor"], 16)),
        device_id=f"{int(device['device'], 16):04x}",
        driver=device.get("driver"),
        revision=f"{int(revision, 16):02X}" if revision else None,
        vram=device.get("vram"),
        attached=device.get("connected"),
    )

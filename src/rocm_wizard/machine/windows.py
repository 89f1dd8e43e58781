"""Raw readings on Windows: registry, CfgMgr32 and EnumDisplayDevicesW. No other process is asked.

wmic is gone from current Windows 11 and PowerShell may be blocked, so neither is used. Value names and constants:
Microsoft's documentation of CfgMgr32 (`CM_Get_Device_ID_ListW`, `CM_Get_DevNode_Status`), of EnumDisplayDevicesW, and
the display class key `{4d36e968-e325-11ce-bfc1-08002be10318}`.
"""

import os
import sys

if sys.platform == "win32":
    import ctypes
    import winreg
    from ctypes import wintypes
    from typing import Any, ClassVar

    from rocm_wizard.machine.raw import RawMachine

    DISPLAY_CLASS = "{4d36e968-e325-11ce-bfc1-08002be10318}"
    _CLASS_KEY = rf"SYSTEM\CurrentControlSet\Control\Class\{DISPLAY_CLASS}"
    _VERSION_KEY = r"SOFTWARE\Microsoft\Windows NT\CurrentVersion"
    _CPU_KEY = r"HARDWARE\DESCRIPTION\System\CentralProcessor\0"
    _VC_KEY = r"SOFTWARE\Microsoft\VisualStudio\14.0\VC\Runtimes\x64"
    _ROW_VALUES = (
        "DriverDesc",
        "DriverVersion",
        "DriverDate",
        "ProviderName",
        "MatchingDeviceId",
        "RadeonSoftwareVersion",
        "HardwareInformation.qwMemorySize",
    )
    _FILTER_ENUMERATOR, _FILTER_PRESENT, _FILTER_CLASS = 0x001, 0x100, 0x200
    _DEVICE_DESCRIPTION, _COMPATIBLE_IDS, _SERVICE, _DRIVER = 0x01, 0x03, 0x05, 0x0A
    _CR_SUCCESS, _CR_BUFFER_SMALL = 0x00, 0x1A

    def read_windows(raw: RawMachine) -> None:
        """Adds what only Windows has."""
        raw.windows = raw.read("windows", _windows) or {}
        raw.cpu = raw.read("cpu", lambda: str(_value(_CPU_KEY, "ProcessorNameString") or "").strip() or None)
        control = r"SYSTEM\CurrentControlSet\Control"
        single = {
            "long_paths": (rf"{control}\FileSystem", "LongPathsEnabled"),
            "smart_app_control": (rf"{control}\CI\Policy", "VerifiedAndReputablePolicyState"),
            "amd_software": (r"SOFTWARE\AMD\CN", "RadeonSoftwareVersion"),
        }
        for name, (path, value) in single.items():
            raw.registry[name] = raw.read(name, lambda path=path, value=value: _value(path, value))
        raw.registry["vc_runtime"] = raw.read("vc_runtime", lambda: _values(_VC_KEY))
        raw.class_rows = raw.read("class_rows", _class_rows)
        raw.devices = raw.read("adapters", _present_devices)
        raw.displays = raw.read("displays", _displays)
        raw.paths = {name: os.environ[name] for name in ("USERPROFILE", "TEMP") if os.environ.get(name)}

    def _windows() -> dict[str, Any]:
        version = sys.getwindowsversion()
        return {
            "build": version.build,
            "product_type": version.product_type,
            "ubr": _value(_VERSION_KEY, "UBR"),
            "edition_id": _value(_VERSION_KEY, "EditionID"),
            "display_version": _value(_VERSION_KEY, "DisplayVersion"),
        }

    def _open(path: str) -> winreg.HKEYType:
        # The 64-bit view also for a 32-bit interpreter, which would otherwise see another half of the registry.
        return winreg.OpenKey(winreg.HKEY_LOCAL_MACHINE, path, 0, winreg.KEY_READ | winreg.KEY_WOW64_64KEY)

    def _value(path: str, name: str) -> Any:
        """The value, or None where key or value do not exist."""
        try:
            with _open(path) as key:
                return _plain(winreg.QueryValueEx(key, name)[0])
        except FileNotFoundError:
            return None

    def _plain(value: Any) -> Any:
        return {"hex": value.hex()} if isinstance(value, bytes) else value

    def _values(path: str) -> dict[str, Any] | None:
        try:
            with _open(path) as key:
                rows = (winreg.EnumValue(key, index) for index in range(winreg.QueryInfoKey(key)[1]))
                return {name: _plain(value) for name, value, _ in rows}
        except FileNotFoundError:
            return None

    def _class_rows() -> dict[str, dict[str, Any]]:
        rows: dict[str, dict[str, Any]] = {}
        with _open(_CLASS_KEY) as key:
            names = [winreg.EnumKey(key, index) for index in range(winreg.QueryInfoKey(key)[0])]
        for name in names:
            if not name.isdigit():
                continue  # the subkey Properties refuses access
            try:
                values = _values(rf"{_CLASS_KEY}\{name}") or {}
            except OSError:
                continue
            rows[name] = {wanted: values[wanted] for wanted in _ROW_VALUES if wanted in values}
        return rows

    def _present_devices() -> list[dict[str, Any]]:
        """Display devices that are here now, with or without a driver."""
        cfgmgr = ctypes.WinDLL("cfgmgr32")
        ids = dict.fromkeys(_device_ids(cfgmgr, DISPLAY_CLASS, _FILTER_CLASS | _FILTER_PRESENT))
        # Without a driver a card has no class yet: its PCI class 03 still says what it is.
        for id in _device_ids(cfgmgr, "PCI", _FILTER_ENUMERATOR | _FILTER_PRESENT):
            node = _node(cfgmgr, id)
            if node is not None and r"PCI\CC_03" in (_property(cfgmgr, node, _COMPATIBLE_IDS) or ""):
                ids.setdefault(id)
        return [device for id in ids if (device := _device(cfgmgr, id)) is not None]

    def _device_ids(cfgmgr: ctypes.WinDLL, filter: str, flags: int) -> list[str]:
        size, code = wintypes.ULONG(), _CR_BUFFER_SMALL
        for _ in range(3):  # a device may come in between the two calls
            if code := cfgmgr.CM_Get_Device_ID_List_SizeW(ctypes.byref(size), filter, flags):
                raise OSError(f"CM_Get_Device_ID_List_Size: {code:#x}")
            buffer = ctypes.create_unicode_buffer(size.value)
            code = cfgmgr.CM_Get_Device_ID_ListW(filter, buffer, size, flags)
            if code == _CR_SUCCESS:
                return [id for id in "".join(buffer).split("\0") if id]
            if code != _CR_BUFFER_SMALL:
                break
        raise OSError(f"CM_Get_Device_ID_List: {code:#x}")

    def _node(cfgmgr: ctypes.WinDLL, id: str) -> wintypes.DWORD | None:
        node = wintypes.DWORD()
        return node if cfgmgr.CM_Locate_DevNodeW(ctypes.byref(node), id, 0) == _CR_SUCCESS else None

    def _device(cfgmgr: ctypes.WinDLL, id: str) -> dict[str, Any] | None:
        node = _node(cfgmgr, id)
        if node is None:
            return None
        status, problem = wintypes.ULONG(), wintypes.ULONG()
        code = cfgmgr.CM_Get_DevNode_Status(ctypes.byref(status), ctypes.byref(problem), node, 0)
        return {
            "instance_id": id,
            "driver_key": _property(cfgmgr, node, _DRIVER),
            "name": _property(cfgmgr, node, _DEVICE_DESCRIPTION),
            "service": _property(cfgmgr, node, _SERVICE),
            "problem": problem.value if code == _CR_SUCCESS else None,
        }

    def _property(cfgmgr: ctypes.WinDLL, node: wintypes.DWORD, property: int) -> str | None:
        """A text property; the parts of a list are divided by NUL."""
        size = wintypes.ULONG(4096)
        buffer = ctypes.create_unicode_buffer(size.value // 2)
        code = cfgmgr.CM_Get_DevNode_Registry_PropertyW(node, property, None, buffer, ctypes.byref(size), 0)
        return "".join(buffer[: size.value // 2]).rstrip("\0") if code == _CR_SUCCESS else None

    class _DisplayDevice(ctypes.Structure):
        """DISPLAY_DEVICEW."""

        _fields_: ClassVar = [
            ("cb", wintypes.DWORD),
            ("DeviceName", wintypes.WCHAR * 32),
            ("DeviceString", wintypes.WCHAR * 128),
            ("StateFlags", wintypes.DWORD),
            ("DeviceID", wintypes.WCHAR * 128),
            ("DeviceKey", wintypes.WCHAR * 128),
        ]

    def _displays() -> list[dict[str, Any]]:
        user32 = ctypes.WinDLL("user32")
        rows: list[dict[str, Any]] = []
        for index in range(64):
            row = _DisplayDevice()
            row.cb = ctypes.sizeof(row)
            if not user32.EnumDisplayDevicesW(None, index, ctypes.byref(row), 0):
                break
            rows.append({"id": row.DeviceID, "name": row.DeviceString, "flags": row.StateFlags})
        return rows

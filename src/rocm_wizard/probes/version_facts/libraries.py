"""Native libraries: which HIP runtime is loaded, and which library a failed import lacks."""

import os
import struct
import sys
from collections.abc import Iterable
from pathlib import Path

HIP_RUNTIMES = ("amdhip64_7.dll", "amdhip64_6.dll", "amdhip64.dll")
_PROVIDED_BY_WINDOWS = ("api-ms-win-", "ext-ms-")


def imported_libraries(data: bytes) -> list[str]:
    """The libraries that a 64-bit Windows DLL or program names in its import table, lower case.

    Layout: Microsoft's PE format, https://learn.microsoft.com/en-us/windows/win32/debug/pe-format

    Raises:
        ValueError: this is no 64-bit PE file, or it is cut.
    """
    try:
        (header,) = struct.unpack_from("<I", data, 0x3C)
        signature, _machine, sections, optional_size = struct.unpack_from("<4sHH12xH", data, header)
        optional = header + 24
        (magic,) = struct.unpack_from("<H", data, optional)
        if data[:2] != b"MZ" or signature != b"PE\0\0" or magic != 0x20B:
            raise ValueError("not a 64-bit PE file")
        (table,) = struct.unpack_from("<I", data, optional + 112 + 8)
        rows = [
            struct.unpack_from("<8xIIII", data, optional + optional_size + 40 * number) for number in range(sections)
        ]
        names: list[str] = []
        entry = _offset(rows, table) if table else None
        while entry is not None:
            (name,) = struct.unpack_from("<12xI4x", data, entry)
            if name == 0:
                break
            start = _offset(rows, name)
            names.append(data[start : data.index(b"\0", start)].decode("ascii", "replace").lower())
            entry += 20
        return names
    except struct.error as error:
        raise ValueError("the file is cut") from error


def _offset(sections: list[tuple[int, ...]], address: int) -> int:
    """The place in the file of an address in memory."""
    for size, start, raw_size, raw in sections:
        if start <= address < start + max(size, raw_size):
            return raw + address - start
    raise ValueError("an address lies in no section")


def missing_libraries(libraries: Iterable[Path], places: Iterable[Path]) -> list[str]:
    """`libomp140.x86_64.dll (needed by shm.dll)` for what none of the places holds."""
    present: set[str] = set()
    for place in places:
        if place.is_dir():
            present |= {file.name.lower() for file in place.iterdir()}
    missing: dict[str, str] = {}
    for library in sorted(libraries):
        try:
            wanted = imported_libraries(library.read_bytes())
        except (OSError, ValueError):
            continue
        for name in wanted:
            if name not in present and not name.startswith(_PROVIDED_BY_WINDOWS):
                missing.setdefault(name, library.name)
    return [f"{name} (needed by {library})" for name, library in missing.items()]


def missing_for_torch(site_packages: Path) -> list[str]:
    """What the DLLs of an installed torch lack on this Windows; empty elsewhere."""
    if sys.platform != "win32":
        return []
    own = site_packages / "torch" / "lib"
    system = Path(os.environ.get("SYSTEMROOT", r"C:\Windows")) / "System32"
    base = Path(sys.base_prefix)
    places = [own, *site_packages.glob("_rocm_sdk_*/bin"), system, base, base / "DLLs"]
    return missing_libraries(own.glob("*.dll"), places)


def hip_runtimes_on_path() -> list[str]:
    """Copies of the HIP runtime in the folders of PATH."""
    folders = [Path(entry) for entry in os.environ.get("PATH", "").split(os.pathsep) if entry]
    return [str(folder / name) for folder in folders for name in HIP_RUNTIMES if (folder / name).is_file()]


def loaded_hip_runtimes() -> list[str]:
    """The full paths of the HIP runtimes that this process has loaded."""
    if sys.platform == "win32":
        return [path for name in HIP_RUNTIMES if (path := _module_path(name))]
    try:
        maps = Path("/proc/self/maps").read_text(encoding="utf-8", errors="replace")
    except OSError:
        return []
    paths = {line.split(maxsplit=5)[5] for line in maps.splitlines() if "libamdhip64" in line}
    return sorted(paths)


if sys.platform == "win32":

    def _module_path(name: str) -> str | None:
        """Where Windows loaded a module from, None when it did not."""
        import ctypes
        from ctypes import wintypes

        kernel = ctypes.WinDLL("kernel32", use_last_error=True)
        kernel.GetModuleHandleW.argtypes = [wintypes.LPCWSTR]
        kernel.GetModuleHandleW.restype = wintypes.HMODULE
        kernel.GetModuleFileNameW.argtypes = [wintypes.HMODULE, wintypes.LPWSTR, wintypes.DWORD]
        handle = kernel.GetModuleHandleW(name)
        if not handle:
            return None
        buffer = ctypes.create_unicode_buffer(32768)
        return buffer.value if kernel.GetModuleFileNameW(handle, buffer, len(buffer)) else None

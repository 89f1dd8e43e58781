"""Windows' performance counters through PDH: what one counter says now, instance by instance.

Functions, constants and structures: Microsoft's documentation of pdh.h (`PdhAddEnglishCounterW`,
`PdhGetFormattedCounterArrayW`) and of PDH's error codes. Nothing here needs Windows but `load_pdh`.
"""

import ctypes
import sys
from ctypes import wintypes
from typing import Any, ClassVar, Protocol

FMT_LARGE = 0x0400
MORE_DATA = 0x800007D2
_VALID = (0, 1)  # PDH_CSTATUS_VALID_DATA, PDH_CSTATUS_NEW_DATA
_TRIES = 3


class CounterValue(ctypes.Structure):
    """PDH_FMT_COUNTERVALUE, its union read as PDH_FMT_LARGE fills it."""

    _fields_: ClassVar = [("status", wintypes.DWORD), ("large", ctypes.c_longlong)]


class CounterItem(ctypes.Structure):
    """PDH_FMT_COUNTERVALUE_ITEM_W."""

    _fields_: ClassVar = [("name", wintypes.LPWSTR), ("value", CounterValue)]


class PdhLibrary(Protocol):
    """The functions of pdh.dll that are used; each returns a status, 0 for success."""

    def PdhOpenQueryW(self, source: Any, user: Any, query: Any, /) -> int: ...

    def PdhAddEnglishCounterW(self, query: Any, path: Any, user: Any, counter: Any, /) -> int: ...

    def PdhCollectQueryData(self, query: Any, /) -> int: ...

    def PdhGetFormattedCounterArrayW(self, counter: Any, format: Any, size: Any, count: Any, items: Any, /) -> int: ...

    def PdhCloseQuery(self, query: Any, /) -> int: ...


def read_counters(pdh: PdhLibrary, path: str) -> list[tuple[str, int]]:
    """The instances of a path with a wildcard, and their values. English names hold on every Windows.

    Counters of a rate would need two readings; these are levels.

    Raises:
        OSError: the system has no such counter, or did not answer.
    """
    query = wintypes.HANDLE()
    _check("PdhOpenQuery", pdh.PdhOpenQueryW(None, 0, ctypes.byref(query)))
    try:
        counter = _add(pdh, query, path)
        _check("PdhCollectQueryData", pdh.PdhCollectQueryData(query))
        return _values(pdh, counter)
    finally:
        pdh.PdhCloseQuery(query)


def _check(function: str, status: int) -> None:
    if status:
        raise OSError(f"{function}: {status:#x}")


def _add(pdh: PdhLibrary, query: wintypes.HANDLE, path: str) -> wintypes.HANDLE:
    counter = wintypes.HANDLE()
    _check("PdhAddEnglishCounter", pdh.PdhAddEnglishCounterW(query, path, 0, ctypes.byref(counter)))
    return counter


def _values(pdh: PdhLibrary, counter: wintypes.HANDLE) -> list[tuple[str, int]]:
    for _ in range(_TRIES):  # a process may come in between the two calls
        size, count = wintypes.DWORD(0), wintypes.DWORD(0)
        told = ctypes.byref(size), ctypes.byref(count)
        status = pdh.PdhGetFormattedCounterArrayW(counter, FMT_LARGE, *told, None)
        if status != MORE_DATA:
            _check("PdhGetFormattedCounterArray", status)
            return []
        buffer = ctypes.create_string_buffer(size.value)
        status = pdh.PdhGetFormattedCounterArrayW(counter, FMT_LARGE, *told, buffer)
        if status == MORE_DATA:
            continue
        _check("PdhGetFormattedCounterArray", status)
        items = ctypes.cast(buffer, ctypes.POINTER(CounterItem))
        rows = (items[number] for number in range(count.value))
        return [(row.name or "", row.value.large) for row in rows if row.value.status in _VALID]
    raise OSError("PdhGetFormattedCounterArray: the instances keep changing")


if sys.platform == "win32":
    from typing import cast

    def load_pdh() -> PdhLibrary:
        """pdh.dll with the types of its functions.

        Raises:
            OSError, AttributeError: this Windows does not have it.
        """
        pdh = ctypes.WinDLL("pdh")
        handle, number, text = wintypes.HANDLE, wintypes.DWORD, wintypes.LPCWSTR
        to_handle, to_number, pointer_sized = ctypes.POINTER(handle), ctypes.POINTER(number), ctypes.c_size_t
        types = {
            pdh.PdhOpenQueryW: [text, pointer_sized, to_handle],
            pdh.PdhAddEnglishCounterW: [handle, text, pointer_sized, to_handle],
            pdh.PdhCollectQueryData: [handle],
            pdh.PdhGetFormattedCounterArrayW: [handle, number, to_number, to_number, ctypes.c_void_p],
            pdh.PdhCloseQuery: [handle],
        }
        for function, arguments in types.items():
            function.argtypes, function.restype = arguments, number
        return cast(PdhLibrary, pdh)

"""A Windows job object: what a child starts stays in it, and goes when its last handle is closed. No-ops elsewhere.

The wizard's own death closes the handle too. Constants and structures: Microsoft's documentation of
SetInformationJobObject, JOBOBJECT_EXTENDED_LIMIT_INFORMATION and JOBOBJECT_BASIC_PROCESS_ID_LIST.
"""

import sys

if sys.platform == "win32":
    import ctypes
    from ctypes import wintypes

    _PROCESS_ID_LIST, _EXTENDED_LIMITS = 3, 9
    # No breakaway: a venv's python.exe has its python in a job that everything leaves silently, and this one with it
    # if it allowed that (Microsoft, "Nested Jobs").
    _LIMITS = 0x2000  # kill on job close
    _SET_QUOTA_AND_TERMINATE = 0x0100 | 0x0001
    _MOST_MEMBERS = 1024

    class _BasicLimits(ctypes.Structure):
        _fields_ = (
            ("PerProcessUserTimeLimit", ctypes.c_int64),
            ("PerJobUserTimeLimit", ctypes.c_int64),
            ("LimitFlags", wintypes.DWORD),
            ("MinimumWorkingSetSize", ctypes.c_size_t),
            ("MaximumWorkingSetSize", ctypes.c_size_t),
            ("ActiveProcessLimit", wintypes.DWORD),
            ("Affinity", ctypes.c_size_t),
            ("PriorityClass", wintypes.DWORD),
            ("SchedulingClass", wintypes.DWORD),
        )

    class _ExtendedLimits(ctypes.Structure):
        _fields_ = (
            ("BasicLimitInformation", _BasicLimits),
            ("IoInfo", ctypes.c_uint64 * 6),
            ("ProcessMemoryLimit", ctypes.c_size_t),
            ("JobMemoryLimit", ctypes.c_size_t),
            ("PeakProcessMemoryUsed", ctypes.c_size_t),
            ("PeakJobMemoryUsed", ctypes.c_size_t),
        )

    class _Members(ctypes.Structure):
        _fields_ = (
            ("NumberOfAssignedProcesses", wintypes.DWORD),
            ("NumberOfProcessIdsInList", wintypes.DWORD),
            ("ProcessIdList", ctypes.c_size_t * _MOST_MEMBERS),
        )

    def _kernel32() -> ctypes.WinDLL:
        kernel32 = ctypes.WinDLL("kernel32", use_last_error=True)
        kernel32.CreateJobObjectW.argtypes = [wintypes.LPVOID, wintypes.LPCWSTR]
        kernel32.OpenProcess.argtypes = [wintypes.DWORD, wintypes.BOOL, wintypes.DWORD]
        kernel32.CreateJobObjectW.restype = kernel32.OpenProcess.restype = wintypes.HANDLE
        kernel32.AssignProcessToJobObject.argtypes = [wintypes.HANDLE, wintypes.HANDLE]
        kernel32.CloseHandle.argtypes = [wintypes.HANDLE]
        information = [wintypes.HANDLE, ctypes.c_int, wintypes.LPVOID, wintypes.DWORD]
        kernel32.SetInformationJobObject.argtypes = information
        kernel32.QueryInformationJobObject.argtypes = [*information, wintypes.LPVOID]
        return kernel32

    class Job:
        """One job. Where Windows refuses any of it, it has no members, and psutil's view of the children is all."""

        def __init__(self) -> None:
            self._kernel32 = _kernel32()
            self._handle: int | None = self._kernel32.CreateJobObjectW(None, None)
            limits = _ExtendedLimits()
            limits.BasicLimitInformation.LimitFlags = _LIMITS
            size = ctypes.sizeof(limits)
            if self._handle and not self._kernel32.SetInformationJobObject(
                self._handle, _EXTENDED_LIMITS, ctypes.byref(limits), size
            ):
                self.close()

        def take(self, pid: int) -> bool:
            """Puts a process into the job; what it starts from now on is in it from its beginning."""
            process = self._kernel32.OpenProcess(_SET_QUOTA_AND_TERMINATE, False, pid) if self._handle else None
            if not process:
                return False
            taken = bool(self._kernel32.AssignProcessToJobObject(self._handle, process))
            self._kernel32.CloseHandle(process)
            return taken

        def members(self) -> list[int]:
            """The ids of the processes in it, at most 1024."""
            found = _Members()
            if self._handle:  # with more members than there is room for it fails and fills the room all the same
                size = ctypes.sizeof(found)
                self._kernel32.QueryInformationJobObject(
                    self._handle, _PROCESS_ID_LIST, ctypes.byref(found), size, None
                )
            return list(found.ProcessIdList[: found.NumberOfProcessIdsInList])

        def close(self) -> None:
            """Ends every member. Safe to call twice."""
            if self._handle:
                self._kernel32.CloseHandle(self._handle)
            self._handle = None

else:

    class Job:
        """Nothing: POSIX has sessions and process groups."""

        def take(self, pid: int) -> bool:
            """Takes none."""
            del pid
            return False

        def members(self) -> list[int]:
            """None."""
            return []

        def close(self) -> None:
            """Nothing to close."""

"""The two things that Windows does in its own way: replacing a file, and a user's environment. No-ops elsewhere."""

import sys
from pathlib import Path

if sys.platform == "win32":
    import ctypes
    import winreg

    _IGNORE_MERGE_ERRORS = 0x2
    _ATTRIBUTES = 0x2 | 0x4 | 0x20 | 0x2000  # hidden, system, archive, not content indexed
    _NORMAL = 0x80
    # Not supported by this kind of volume (FAT, some network shares): invalid function, not supported, bad parameter.
    _UNSUPPORTED = frozenset({1, 50, 87})

    def replace(source: Path, target: Path) -> None:
        """Put `source` in `target`'s place and keep `target`'s access list, attributes and creation time.

        ReplaceFileW does so; see https://learn.microsoft.com/windows/win32/api/winbase/nf-winbase-replacefilew.

        Raises:
            OSError: with `winerror`; the target is then whole, old or new.
        """
        try:
            attributes = target.stat().st_file_attributes
        except FileNotFoundError:
            source.replace(target)
            return
        kernel32 = ctypes.WinDLL("kernel32", use_last_error=True)
        done = kernel32.ReplaceFileW(
            ctypes.c_wchar_p(str(target)),
            ctypes.c_wchar_p(str(source)),
            None,
            ctypes.c_uint32(_IGNORE_MERGE_ERRORS),
            None,
            None,
        )
        if done:
            return
        code = ctypes.get_last_error()
        # Error 1176 may leave the target's name free with the new file still under its own.
        if code in _UNSUPPORTED or not target.exists():
            source.replace(target)
            kept = attributes & _ATTRIBUTES or _NORMAL
            kernel32.SetFileAttributesW(ctypes.c_wchar_p(str(target)), ctypes.c_uint32(kept))
            return
        raise ctypes.WinError(code)

    def user_environment() -> dict[str, str]:
        """The signed-in user's variables from the registry, which every program started anew receives."""
        found: dict[str, str] = {}
        try:
            with winreg.OpenKey(winreg.HKEY_CURRENT_USER, "Environment") as key:
                for index in range(winreg.QueryInfoKey(key)[1]):
                    name, value, kind = winreg.EnumValue(key, index)
                    if kind == winreg.REG_EXPAND_SZ:
                        value = winreg.ExpandEnvironmentStrings(value)
                    if kind in (winreg.REG_SZ, winreg.REG_EXPAND_SZ):
                        found[name] = value
        except OSError:
            return found
        return found

else:

    def replace(source: Path, target: Path) -> None:
        """Put `source` in `target`'s place."""
        source.replace(target)

    def user_environment() -> dict[str, str]:
        """Empty: only Windows keeps a user's variables in a registry."""
        return {}

"""Why a native package could not be loaded: Windows' error numbers and the loaders' words, told apart.

Windows writes the sentence in the person's language; `[WinError <number>]` is the same everywhere, but an `ImportError`
does not have it.
"""

import re
from collections.abc import Mapping
from typing import Any

_NUMBER = re.compile(r"WinError (\d+)")
_LIBRARY = (
    re.compile(r'Error loading "([^"]+)"'),  # torch on Windows
    re.compile(r"(\S+\.so[\w.]*): (?:cannot open|undefined symbol|invalid ELF|file too short)"),
    re.compile(r"DLL load failed while importing (\w+)"),
    re.compile(r"['\"]([^'\"]+\.(?:dll|pyd|so)[\w.]*)['\"]", re.IGNORECASE),
)
_ENDINGS = {
    5: "dll_denied",
    126: "dll_missing",
    127: "dll_function_missing",
    182: "dll_function_missing",
    193: "dll_not_valid",
    206: "dll_path_too_long",
    1114: "dll_init_failed",
    1455: "page_file",
    4551: "dll_blocked",
}
_WORDS = (
    ("application control", "dll_blocked"),
    ("specified procedure could not be found", "dll_function_missing"),
    ("找不到指定的程序", "dll_function_missing"),
    ("initialization routine failed", "dll_init_failed"),
    ("初始化例程失败", "dll_init_failed"),
    ("not a valid Win32 application", "dll_not_valid"),
    ("不是有效的 Win32", "dll_not_valid"),
    ("paging file is too small", "page_file"),
    ("页面文件太小", "page_file"),
    ("cannot open shared object file", "dll_missing"),
    ("undefined symbol", "dll_function_missing"),
    ("invalid ELF header", "dll_not_valid"),
    ("file too short", "dll_not_valid"),
    ("DLL load failed", "dll_missing"),
)
"""What stands in an error without a number; asked in this order."""


def import_failure(message: Mapping[str, Any]) -> tuple[str, dict[str, Any]]:
    """The finding's last part and its facts, from a probe's `import_error` or `module_error`."""
    text = str(message.get("message"))
    match = _NUMBER.search(text)
    number = message.get("winerror") or (int(match[1]) if match else None)
    ending = _ENDINGS.get(number) if isinstance(number, int) else None
    if ending is None:
        ending = next((ending for words, ending in _WORDS if words.lower() in text.lower()), "import_failed")
    library = next((found[1] for pattern in _LIBRARY if (found := pattern.search(text))), None)
    facts: dict[str, Any] = {
        "detail": f"{message.get('error')}: {text}",
        "winerror": number,
        "library": library.replace("\\", "/").rpartition("/")[2] if library else None,
        "missing": message.get("missing") or [],
    }
    return ending, facts

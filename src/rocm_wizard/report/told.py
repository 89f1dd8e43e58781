"""What every face tells beside the sentences: a child's last words, the command to type next, the machine in rows."""

import re
from collections.abc import Iterator, Mapping
from typing import Any

_WORDS = ("stderr", "log")
_WORDS_SHOWN = 3
_OURS = re.compile(r"rocm-wizard (run|profile|versions|compute|asr|tts)\b")
_SPEAKING = ("run", "asr", "tts")
_TESTED = ("--checkout", "--python", "--profile")
"""What every step asks about; the other options are for those that speak or listen."""
_SIZES = ("memory", "disk_free", "page_file", "vram")
_ADAPTER = ("vendor", "device_id", "driver", "adrenalin")


def last_words(outcome: str, facts: Mapping[str, Any]) -> list[str]:
    """The last lines that a child logged before it failed, oldest first; none where nothing failed."""
    if outcome == "passed":
        return []
    lines = next((facts[name] for name in _WORDS if isinstance(facts.get(name), list)), [])
    return [str(line) for line in lines if str(line).strip()][-_WORDS_SHOWN:]


def machine_rows(machine: Mapping[str, Any]) -> Iterator[tuple[str, str]]:
    """Name and value of each fact that is known, sizes with their unit, an adapter in a row of its own."""
    for name, value in machine.items():
        if name == "adapters" and isinstance(value, list | tuple):
            yield from (("adapter", _adapter(one)) for one in value)
        elif value not in (None, "", [], (), {}):
            yield name, _size(value) if name in _SIZES else str(value)


def _adapter(adapter: Any) -> str:
    if not isinstance(adapter, Mapping):
        return str(adapter)
    known = [f"{name} {adapter[name]}" for name in _ADAPTER if adapter.get(name)]
    if adapter.get("vram"):
        known.append(f"vram {_size(adapter['vram'])}")
    return f"{adapter.get('name') or '?'} ({', '.join(known)})"


def _size(value: Any) -> str:
    return f"{value / 2**30:.1f} GiB" if isinstance(value, int | float) else str(value)


def next_command(action: str | None, target: Mapping[str, Any]) -> str | None:
    """The command of a finding for what this run has tested; `target` is the journal header's."""
    given = target.get("given")
    if action is None or not isinstance(given, Mapping) or not given:
        return action
    if "--checkout" in given:
        action = action.replace("--checkout FOLDER", f"--checkout {given['--checkout']}")
    started = _OURS.match(action)
    if started is None:
        return action
    words = action.split()
    wanted = [name for name in given if name not in words and (name in _TESTED or started[1] in _SPEAKING)]
    return " ".join([action, *(f"{name} {given[name]}" for name in wanted)])

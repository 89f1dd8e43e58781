"""What reports tell beside the sentences, and line mode too: a child's last words; and the machine in rows."""

from collections.abc import Iterator, Mapping
from typing import Any

_WORDS = ("stderr", "log")
_WORDS_SHOWN = 3
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

"""Receipts of the last writes, so that a later `undo` knows whether somebody has edited the file since.

They hold paths and hashes and no value, and lie in the program's own state folder, one small file for each `.env`:
beside the `.env` they would be one more thing to ignore and to tidy up. Without them undo still works from the backups,
but has to ask.
"""

import hashlib
import json
import os
from contextlib import suppress
from pathlib import Path
from typing import Any

from rocm_wizard.envfile.apply import Receipt
from rocm_wizard.envfile.backup import KEPT


def save_receipt(folder: Path, receipt: Receipt) -> bool:
    """Puts `receipt` on the pile of its file; whether the disk took it."""
    pile = [*_read(folder, Path(receipt.target)), receipt.as_dict()]
    return _write(folder, Path(receipt.target), pile[-KEPT:])


def newest_receipt(folder: Path, target: Path) -> Receipt | None:
    """The receipt of the last write to `target` that was not undone."""
    for fields in reversed(_read(folder, target)):
        with suppress(TypeError, ValueError, KeyError):
            return Receipt.from_dict(fields)
    return None


def drop_receipt(folder: Path, target: Path) -> None:
    """Takes the newest receipt off the pile, after its write was undone."""
    if pile := _read(folder, target):
        _write(folder, target, pile[:-1])


def _file(folder: Path, target: Path) -> Path:
    name = os.path.normcase(target.absolute())
    return folder / f"{hashlib.sha256(name.encode('utf-8', 'surrogatepass')).hexdigest()[:32]}.json"


def _read(folder: Path, target: Path) -> list[dict[str, Any]]:
    try:
        pile = json.loads(_file(folder, target).read_text(encoding="utf-8"))
    except (OSError, ValueError):
        return []
    return [fields for fields in pile if isinstance(fields, dict)] if isinstance(pile, list) else []


def _write(folder: Path, target: Path, pile: list[dict[str, Any]]) -> bool:
    place = _file(folder, target)
    temporary = place.with_suffix(".tmp")
    try:
        folder.mkdir(parents=True, exist_ok=True)
        temporary.write_text(json.dumps(pile), encoding="utf-8")
        temporary.replace(place)
    except OSError:
        return False
    return True

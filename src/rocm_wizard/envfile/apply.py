"""Write a plan into its file: render, verify, back up, replace."""

import hashlib
from contextlib import suppress
from dataclasses import asdict, dataclass
from datetime import datetime
from pathlib import Path
from typing import Any

from rocm_wizard.envfile.atomic import Method, check_fresh, check_writable, write_file
from rocm_wizard.envfile.backup import make_backup, prune
from rocm_wizard.envfile.errors import EnvFileError
from rocm_wizard.envfile.filesystem import REAL, FileSystem
from rocm_wizard.envfile.plan import Plan
from rocm_wizard.envfile.rendering import render, verify
from rocm_wizard.envfile.snapshot import Snapshot


@dataclass(frozen=True)
class Receipt:
    """What a write did, enough to undo it later. Holds no values of the file.

    `before` and `after` are SHA-256 of the whole file in hex, `""` for a missing one.
    """

    path: str
    target: str
    method: Method
    created: bool
    backup: str | None
    before: str
    after: str

    def as_dict(self) -> dict[str, Any]:
        """For a journal."""
        return asdict(self)

    @classmethod
    def from_dict(cls, fields: dict[str, Any]) -> "Receipt":
        """The inverse of `as_dict`."""
        return cls(**{**fields, "method": Method(fields["method"])})


def apply_plan(
    snapshot: Snapshot, plan: Plan, *, now: datetime | None = None, filesystem: FileSystem = REAL
) -> Receipt:
    """Write `plan` to the file of `snapshot`. Conflicts without a choice leave their lines alone.

    A plan that changes nothing touches nothing. `now` dates the backup.

    Raises:
        EnvFileError: a subclass that says what is wrong. The file is whole, and no temporary file stays; a backup
            stays only if the file's content is no longer the old one.
    """
    document, path, target = snapshot.document, snapshot.path, snapshot.target
    names = str(path.absolute()), str(target.absolute())
    rendered = render(document, plan)
    before = document.digest
    if rendered == document.data:
        return Receipt(*names, Method.UNCHANGED, False, None, before, before)
    verify(document, plan, rendered)
    check_writable(path, target, filesystem)
    check_fresh(path, target, snapshot.fingerprint, filesystem)
    backup = make_backup(path, target, document.data, now=now, filesystem=filesystem) if document.exists else None
    try:
        method = write_file(
            path, target, rendered, expected=snapshot.fingerprint, old=document.data, filesystem=filesystem
        )
    except EnvFileError as error:
        if backup and error.state in ("", "old"):
            _discard(backup, filesystem)
        raise
    prune(target, filesystem)
    after = hashlib.sha256(rendered).hexdigest()
    return Receipt(*names, method, not document.exists, str(backup.absolute()) if backup else None, before, after)


def _discard(backup: Path, filesystem: FileSystem) -> None:
    with suppress(OSError):
        filesystem.unlink(backup)

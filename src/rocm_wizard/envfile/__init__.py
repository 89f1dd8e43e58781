"""The `.env`: a lossless document, a plan, a verified atomic write, and its undo. Standard library only.

`take_snapshot` → `make_plan` → (`diff_rows`, `find_notices`, `key_layers` for the person) → `apply_plan` →
`undo_write`.
"""

from rocm_wizard.envfile.apply import Receipt, apply_plan
from rocm_wizard.envfile.atomic import Method
from rocm_wizard.envfile.backup import backups
from rocm_wizard.envfile.diff import Row, RowKind, diff_rows
from rocm_wizard.envfile.document import Document
from rocm_wizard.envfile.errors import EnvFileError
from rocm_wizard.envfile.layers import KeyLayers, Layer, dotenv_disabled, key_layers, user_environment
from rocm_wizard.envfile.notices import Notice, NoticeCode, find_notices
from rocm_wizard.envfile.placeholders import is_placeholder
from rocm_wizard.envfile.plan import Action, Choice, Plan, Reason, Verb, make_plan
from rocm_wizard.envfile.rendering import render, verify
from rocm_wizard.envfile.secrets import MASK, is_secret, mask
from rocm_wizard.envfile.snapshot import Snapshot, take_snapshot
from rocm_wizard.envfile.undo import undo_newest, undo_write
from rocm_wizard.envfile.values import read_values

__all__ = [
    "MASK",
    "Action",
    "Choice",
    "Document",
    "EnvFileError",
    "KeyLayers",
    "Layer",
    "Method",
    "Notice",
    "NoticeCode",
    "Plan",
    "Reason",
    "Receipt",
    "Row",
    "RowKind",
    "Snapshot",
    "Verb",
    "apply_plan",
    "backups",
    "diff_rows",
    "dotenv_disabled",
    "find_notices",
    "is_placeholder",
    "is_secret",
    "key_layers",
    "make_plan",
    "mask",
    "read_values",
    "render",
    "take_snapshot",
    "undo_newest",
    "undo_write",
    "user_environment",
    "verify",
]

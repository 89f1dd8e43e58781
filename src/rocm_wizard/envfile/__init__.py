"""The `.env`: a lossless document, a plan, a verified atomic write, and its undo. Standard library only.

`take_snapshot` → `make_plan` → (`diff_rows`, `find_notices`, `lint`, `disagreements`, `key_layers` for the person) →
`apply_plan` → `undo_write`. `docs/env.md` states the rules.
"""

from rocm_wizard.envfile.apply import Receipt, apply_plan
from rocm_wizard.envfile.atomic import Method
from rocm_wizard.envfile.backup import backups
from rocm_wizard.envfile.catalogue import EnvCatalogue, KeySpec, Rule, Weight, load_catalogue
from rocm_wizard.envfile.diff import Row, RowKind, diff_rows
from rocm_wizard.envfile.document import Document
from rocm_wizard.envfile.errors import EnvFileError
from rocm_wizard.envfile.gitignore import backups_ignored
from rocm_wizard.envfile.layers import KeyLayers, Layer, dotenv_disabled, key_layers, user_environment
from rocm_wizard.envfile.lint import Problem, lint
from rocm_wizard.envfile.node import Difference, Disagreement, disagreements, read_as_node
from rocm_wizard.envfile.notices import Notice, NoticeCode, find_notices
from rocm_wizard.envfile.paths import PathFault, check_path
from rocm_wizard.envfile.placeholders import is_placeholder
from rocm_wizard.envfile.plan import Action, Choice, Plan, Reason, Verb, make_plan
from rocm_wizard.envfile.quoting import check_key, check_value
from rocm_wizard.envfile.receipts import drop_receipt, newest_receipt, save_receipt
from rocm_wizard.envfile.rendering import render, verify
from rocm_wizard.envfile.secrets import MASK, is_secret, mask
from rocm_wizard.envfile.snapshot import Snapshot, find_target, take_snapshot
from rocm_wizard.envfile.undo import undo_newest, undo_write
from rocm_wizard.envfile.values import read_values

__all__ = [
    "MASK",
    "Action",
    "Choice",
    "Difference",
    "Disagreement",
    "Document",
    "EnvCatalogue",
    "EnvFileError",
    "KeyLayers",
    "KeySpec",
    "Layer",
    "Method",
    "Notice",
    "NoticeCode",
    "PathFault",
    "Plan",
    "Problem",
    "Reason",
    "Receipt",
    "Row",
    "RowKind",
    "Rule",
    "Snapshot",
    "Verb",
    "Weight",
    "apply_plan",
    "backups",
    "backups_ignored",
    "check_key",
    "check_path",
    "check_value",
    "diff_rows",
    "disagreements",
    "dotenv_disabled",
    "drop_receipt",
    "find_notices",
    "find_target",
    "is_placeholder",
    "is_secret",
    "key_layers",
    "lint",
    "load_catalogue",
    "make_plan",
    "mask",
    "newest_receipt",
    "read_as_node",
    "read_values",
    "render",
    "save_receipt",
    "take_snapshot",
    "undo_newest",
    "undo_write",
    "user_environment",
    "verify",
]

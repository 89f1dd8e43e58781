"""One JSON document about one step: what `rocm-wizard profile --json` and its siblings print."""

import math
from collections.abc import Mapping, Sequence
from typing import Any

from rocm_wizard.qualification.state import RunState
from rocm_wizard.report.catalogue import Catalogue
from rocm_wizard.report.document import build_report
from rocm_wizard.report.redact import Mask

SCHEMA = "rocm-wizard/stage@1"
_FROM_REPORT = (
    "tool_version",
    "provenance",
    "started",
    "seconds",
    "language",
    "verdict",
    "exit_code",
    "sentence",
    "does_not_prove",
    "profile",
    "machine",
    "target",
    "stages",
    "answers",
    "missing",
)


def build_stage_document(
    command: str, state: RunState, catalogue: Catalogue, mask: Mask, missing: Sequence[str] = ()
) -> dict[str, Any]:
    """The ended run of one step (after the profile step), masked; the schemas are `assets/schemas/<command>`."""
    report = build_report(state, catalogue, mask, missing)
    document = {"schema": SCHEMA, "command": command} | {name: report[name] for name in _FROM_REPORT}
    return _without_infinity(document)


def _without_infinity(value: Any) -> Any:
    """JSON has no NaN and no infinity: a number that is none becomes null."""
    if isinstance(value, float):
        return value if math.isfinite(value) else None
    if isinstance(value, Mapping):
        return {str(key): _without_infinity(item) for key, item in value.items()}
    if isinstance(value, list | tuple):
        return [_without_infinity(item) for item in value]
    return value

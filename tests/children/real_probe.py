"""The real compute probe, for children that run it with something bent."""

import importlib.util
import sys
from pathlib import Path
from types import ModuleType
from typing import Any

PROBES = Path(__file__).resolve().parents[2] / "src" / "rocm_wizard" / "probes"


def load() -> tuple[ModuleType, dict[str, Any]]:
    """The probe's module and its table of operations."""
    sys.path.insert(0, str(PROBES))
    registry = importlib.import_module("compute_operations.registry")
    spec = importlib.util.spec_from_file_location("compute_under_test", PROBES / "compute.py")
    assert spec is not None and spec.loader is not None
    probe = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(probe)
    return probe, registry.OPERATIONS

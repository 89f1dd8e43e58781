"""Puts the report's files beside the journal."""

import json
from collections.abc import Sequence
from pathlib import Path

from rocm_wizard.qualification.state import RunState
from rocm_wizard.report.catalogue import Catalogue
from rocm_wizard.report.document import build_report
from rocm_wizard.report.html import to_html
from rocm_wizard.report.markdown import to_markdown
from rocm_wizard.report.redact import Mask, machine_mask


def write_reports(
    state: RunState, catalogue: Catalogue, folder: Path, *, missing: Sequence[str] = (), mask: Mask | None = None
) -> list[Path]:
    """Writes report.html, report.md and report.json, each whole or not at all; gives the paths written.

    Raises:
        OSError: a file could not be written.
    """
    report = build_report(state, catalogue, mask or machine_mask(), missing)
    texts = {
        "report.html": to_html(report, catalogue),
        "report.md": to_markdown(report, catalogue),
        "report.json": json.dumps(report, ensure_ascii=False, indent=1) + "\n",
    }
    folder.mkdir(parents=True, exist_ok=True)
    return [_write(folder / name, text) for name, text in texts.items()]


def _write(path: Path, text: str) -> Path:
    temporary = path.with_name(path.name + ".part")
    try:
        temporary.write_text(text, encoding="utf-8", errors="backslashreplace", newline="\n")
        temporary.replace(path)
    finally:
        temporary.unlink(missing_ok=True)
    return path

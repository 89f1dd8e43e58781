"""The tables of `docs/conformance.md` are the data that the tests run."""

import re
from pathlib import Path

from rocm_wizard.report.catalogue import load_strings
from rocm_wizard.sidecar.conformance.rules import RULES
from tests.sidecar.faults import FAULTS

DOCUMENT = (Path(__file__).parents[2] / "docs" / "conformance.md").read_text(encoding="utf-8")
ROWS = [tuple(cell.strip() for cell in line.strip("|").split("|")) for line in DOCUMENT.splitlines() if line[:1] == "|"]


def test_every_fault_is_in_the_table() -> None:
    listed = [row for row in ROWS if len(row) == 6 and row[1].startswith("`")]
    assert listed == [
        (f.kind, f"`{f.mode}`", f.does, f"`{f.finding}`", str(f.outcome), "deadline" if f.waits else "at once")
        for f in FAULTS
    ]
    assert len({fault.mode for fault in FAULTS}) >= 40


def test_every_rule_is_in_the_table_with_its_words() -> None:
    words = load_strings("en")["conform"]["rule"]
    listed = [row for row in ROWS if len(row) == 4 and row[0].startswith("`")]
    expected = [
        (f"`{rule}`", "x" if rule in RULES["asr"] else "", "x" if rule in RULES["tts"] else "", words[rule])
        for rule in dict.fromkeys((*RULES["asr"], *RULES["tts"]))
    ]
    assert listed == expected


def test_every_fault_has_a_finding_with_words() -> None:
    assert {fault.finding for fault in FAULTS} <= set(load_strings("en")["finding"])


def test_the_wire_document_names_every_field_that_ours_add() -> None:
    from rocm_wizard.sidecar.fields import KNOWN_FIELDS

    wire = (Path(__file__).parents[2] / "docs" / "wire.md").read_text(encoding="utf-8")
    named = set(re.findall(r"`([a-z0-9_]+)`", wire))
    unnamed = set().union(*KNOWN_FIELDS.values()) - named
    assert unnamed <= {"type", "flash_attn", "device_memory_bytes", "t2s_attempts"}

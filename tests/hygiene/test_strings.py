"""Every finding, check, measurement and question that the code names has its words, and every word is used."""

import ast
import re
import string
from pathlib import Path

import pytest

from rocm_wizard.qualification.outcome import Outcome
from rocm_wizard.report.catalogue import LANGUAGES, load_strings

SOURCE = Path(__file__).parents[2] / "src" / "rocm_wizard"
FAMILIES = {
    "wire": SOURCE / "sidecar",
    "sidecar": SOURCE / "sidecar",
}


def literals(*folders: Path) -> set[str]:
    """All string literals in the code, f-strings with their gaps as `*`."""
    found: set[str] = set()
    for folder in folders:
        for path in folder.rglob("*.py"):
            tree = ast.parse(path.read_text(encoding="utf-8"))
            joined = [node for node in ast.walk(tree) if isinstance(node, ast.JoinedStr)]
            parts_of_joined = {id(value) for node in joined for value in node.values}
            for node in joined:
                found.add("".join(str(v.value) if isinstance(v, ast.Constant) else "*" for v in node.values))
            for node in ast.walk(tree):
                if isinstance(node, ast.Constant) and isinstance(node.value, str) and id(node) not in parts_of_joined:
                    found.add(node.value)
    return found


CODE = literals(SOURCE)
STAGE_NAMES = set(load_strings("en")["stage"])


def matches(id: str) -> bool:
    """Whether the code can make this id: literally, or from an f-string."""
    return id in CODE or any(
        "*" in literal and len(literal) > 2 and re.fullmatch(re.escape(literal).replace(r"\*", "[a-z0-9_]+"), id)
        for literal in CODE
    )


def test_every_finding_in_the_code_has_words() -> None:
    words = load_strings("en")["finding"]
    named = {
        text
        for text in CODE
        if re.fullmatch(
            r"(profile|versions|compute|env|asr|tts|sidecar|wire|playback|heard|internal|models|acceptance|bench|soak)"
            r"\.[a-z0-9_]+",
            text,
        )
    }
    others = set(load_strings("en")["measurement"]) | set(load_strings("en")["question"])
    files = {id for id in named if id.endswith((".py", ".toml", "_"))}  # "_": the beginning of a family of ids
    assert named - files - others - set(words) == set()


def test_every_wire_rule_has_words() -> None:
    rules = set()
    for path in (SOURCE / "sidecar").glob("*.py"):
        text = path.read_text(encoding="utf-8")
        rules |= set(re.findall(r'ProtocolError\(\s*"([a-z0-9_]+)"', text))
        rules |= set(re.findall(r'SidecarError\("protocol", .+?, "([a-z0-9_]+)"\)', text))
    words = load_strings("en")["finding"]
    assert len(rules) >= 12
    assert {rule for rule in rules if f"wire.{rule}" not in words} == set()


def test_every_finding_with_words_can_be_made() -> None:
    assert {id for id in load_strings("en")["finding"] if not matches(id) and not id.startswith("wire.")} == set()


def test_outcomes_and_stages_have_words() -> None:
    strings = load_strings("en")
    assert {str(outcome) for outcome in Outcome} <= set(strings["outcome"])


def flat(node: object, path: str = "") -> dict[str, str]:
    """All strings of a tree by their path."""
    if isinstance(node, dict):
        found: dict[str, str] = {}
        for key, value in node.items():
            found |= flat(value, f"{path}/{key}")
        return found
    return {path: str(node)}


@pytest.mark.parametrize("language", LANGUAGES)
def test_every_language_has_the_same_keys_and_gaps(language: str) -> None:
    english, other = flat(load_strings("en")), flat(load_strings(language))
    assert set(other) == set(english)
    for key, text in english.items():
        gaps = {name for _, name, _, _ in string.Formatter().parse(text) if name}
        theirs = {name for _, name, _, _ in string.Formatter().parse(other[key]) if name}
        assert theirs == gaps, key

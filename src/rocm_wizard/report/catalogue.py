"""The language catalogue: every sentence a person reads is made here, from ids and facts."""

import string
import tomllib
from collections.abc import Mapping
from functools import cache
from typing import Any

from rocm_wizard.assets import asset
from rocm_wizard.qualification.finding import Finding
from rocm_wizard.qualification.outcome import Outcome

LANGUAGES = ("en", "zh")


class _Formatter(string.Formatter):
    """`{name}` and `{name:spec}` only: no attributes, no indexes; a missing or odd fact shows as such, never raises."""

    def __init__(self, none: str) -> None:
        self.none = none

    def get_field(self, field_name: str, args: Any, kwargs: Mapping[str, Any]) -> tuple[Any, str]:
        return kwargs.get(field_name, "?"), field_name

    def format_field(self, value: Any, format_spec: str) -> str:
        if isinstance(value, list):
            return ", ".join(str(item) for item in value)
        if value is None:
            return self.none
        try:
            return format(value, format_spec)
        except (ValueError, TypeError):
            return str(value)


def _merge(into: dict[str, Any], more: Mapping[str, Any]) -> None:
    for key, value in more.items():
        if isinstance(value, dict) and isinstance(into.get(key), dict):
            _merge(into[key], value)
        else:
            into[key] = value


@cache
def load_strings(language: str) -> dict[str, Any]:
    """All string files of a language, merged: one file a stage, so that a new stage brings its own.

    Raises:
        FileNotFoundError: there is no such language.
    """
    folder = asset("strings", language)
    strings: dict[str, Any] = {}
    for path in sorted(folder.glob("*.toml")):
        with path.open("rb") as file:
            _merge(strings, tomllib.load(file))
    if not strings:
        raise FileNotFoundError(f"no strings for language {language!r} in {folder}")
    return strings


class Catalogue:
    """Sentences in one language; what that language lacks is taken from English."""

    def __init__(self, language: str = "en") -> None:
        self.language = language
        self._strings = load_strings(language)
        self._english = load_strings("en")
        self._formatter = _Formatter(str(self._look_up("word", "none")))

    def _look_up(self, *path: str) -> Any:
        for strings in (self._strings, self._english):
            node: Any = strings
            for key in path:
                node = node.get(key) if isinstance(node, dict) else None
            if node is not None:
                return node
        return None

    def _of_finding(self, finding: Finding, part: str) -> str | None:
        entry = self._look_up("finding", finding.id, part)
        if isinstance(entry, dict):
            entry = entry.get(str(finding.outcome))
        if not isinstance(entry, str):
            return None
        return self._formatter.vformat(entry, (), self._spoken(finding.facts))

    def _spoken(self, facts: Mapping[str, Any]) -> Mapping[str, Any]:
        """The facts as sentences use them: a step under its check's title, a unit under its own name."""
        named = {"step": self.check_title, "unit": self.unit}
        said = {name: say(str(facts[name])) for name, say in named.items() if isinstance(facts.get(name), str)}
        return {**facts, **said}

    def sentence(self, finding: Finding) -> str:
        """What the finding says, in one sentence; an id the catalogue lacks still says id, outcome and facts."""
        text = self._of_finding(finding, "text")
        if text is not None:
            return text
        facts = ", ".join(f"{name}={value}" for name, value in finding.facts.items())
        return f"{finding.id}: {self.outcome(finding.outcome)}" + (f" ({facts})" if facts else "")

    def hint(self, finding: Finding) -> str | None:
        """What it means and what to do about it."""
        return self._of_finding(finding, "hint")

    def action(self, finding: Finding) -> str | None:
        """The exact command to type next."""
        return self._of_finding(finding, "action")

    def link(self, finding: Finding) -> str | None:
        """Where to read on."""
        return self._of_finding(finding, "link")

    def check_title(self, check: str) -> str:
        """The short name of a check; a finding outside of any goes by the family of its id."""
        return str(self._look_up("check", check) or self._look_up("family", check.partition(".")[0]) or check)

    def phase(self, phase: str | None) -> str:
        """What a measurement of the first use, or of a later one, is called; "" where there is no such difference."""
        return str(self._look_up("phase", phase) or phase) if phase else ""

    def stage_title(self, stage: str) -> str:
        """The short name of a stage."""
        return str(self._look_up("stage", stage, "title") or stage)

    def stage_explains(self, stage: str) -> str:
        """What the stage does and why, in a sentence or two."""
        return str(self._look_up("stage", stage, "explains") or "")

    def outcome(self, outcome: Outcome) -> str:
        """The outcome's word."""
        return str(self._look_up("outcome", str(outcome)) or outcome)

    def question(self, question: str, facts: Mapping[str, Any]) -> str:
        """The question's text."""
        return self.format("question", question, "text", **facts)

    def option(self, question: str, option: str) -> str:
        """An option's text."""
        return str(self._look_up("question", question, "option", option) or option)

    def measurement(self, id: str) -> str:
        """The name of a measured quantity."""
        return str(self._look_up("measurement", id) or id)

    def unit(self, unit: str) -> str:
        """The name of a unit that progress is counted in."""
        return str(self._look_up("unit", unit) or unit)

    def format(self, *path: str, **facts: Any) -> str:
        """Any other string, filled with facts."""
        text = self._look_up(*path)
        return self._formatter.vformat(text, (), facts) if isinstance(text, str) else ".".join(path)

    def ui(self, key: str, **facts: Any) -> str:
        """A string of the faces themselves."""
        return self.format("ui", key, **facts)

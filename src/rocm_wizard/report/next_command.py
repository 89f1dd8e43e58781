"""The command to type next, for what the run has tested: the same checkout, interpreter, files and texts."""

import re
import shlex
import sys
from collections.abc import Iterator, Mapping
from typing import Any

_OURS = re.compile(r"rocm-wizard (run|profile|versions|compute|asr|tts)\b")
_ALL = ("--checkout", "--python", "--profile")
_ASR = ("--asr-engine", "--asr-model", "--asr-language")
_RECORDING = ("--audio", "--transcript")
_TTS = (
    *("--tts-engine", "--gpt-model", "--sovits-model", "--pretrained", "--nltk-data"),
    *("--reference", "--reference-text", "--tts-language", "--text"),
)
_CARRIED = {
    "run": (*_ALL, "--env-file", "--set", *_ASR, *_RECORDING, *_TTS),
    "asr": (*_ALL, *_ASR),  # the bundled recordings tell whose fault a wrong text is
    "tts": (*_ALL, *_ASR, *_TTS),
}
_INSTEAD = {"--asr-engine": "--asr-model", "--tts-engine": "--gpt-model"}
"""An engine that was named would take no notice of the files that the command names."""
_PLAIN_ON_WINDOWS = re.compile(r"[\w\\/:.=-]+")


def next_command(action: str | None, target: Mapping[str, Any]) -> str | None:
    """The command of a finding, with what was given to the run; `target` is the journal header's.

    None where it would write settings that it cannot name: a secret is nowhere in a journal.
    """
    given = target.get("given")
    if action is None or not isinstance(given, Mapping) or not given:
        return action
    if "--checkout" in given:
        action = action.replace("--checkout FOLDER", f"--checkout {_quoted(str(given['--checkout']))}")
    started = _OURS.match(action)
    if started is None:
        return action
    named = action.split()
    if "--yes" in named and any("=" not in one for one in given.get("--set", ())):
        return None
    more = _options(given, _CARRIED.get(started[1], _ALL), named)
    return " ".join([action, *more])


def _options(given: Mapping[str, Any], carried: tuple[str, ...], named: list[str]) -> Iterator[str]:
    for option in carried:
        if option not in given or option in named or _INSTEAD.get(option) in named:
            continue
        values = given[option] if isinstance(given[option], list | tuple) else [given[option]]
        yield from (f"{option} {_quoted(str(value))}" for value in values if option != "--set" or "=" in str(value))


def _quoted(value: str) -> str:
    """For this system's shells; a home that was masked is still expanded."""
    if sys.platform == "win32":
        return value if _PLAIN_ON_WINDOWS.fullmatch(value) else '"' + value.replace('"', '\\"') + '"'
    home, rest = ("~/", value[2:]) if value.startswith("~/") else ("", value)
    return home + shlex.quote(rest) if rest or not home else home

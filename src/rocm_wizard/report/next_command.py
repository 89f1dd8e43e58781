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
    "asr": (*_ALL, *_ASR),
    "tts": (*_ALL, *_ASR, *_TTS),
}
_INSTEAD = {"--asr-engine": "--asr-model", "--tts-engine": "--gpt-model"}
"""The embedded engines would take no notice of the files that the command names."""
_SPOKEN = ("--text", "--reference-text")
_PLAIN_ON_WINDOWS = re.compile(r"[\w\\/:.=-]+")
_READ_BY_WINDOWS = re.compile('[$`"“”„%]')
_MASKED = ("<user>", "<host>", "=~")


class _Unsayable(Exception):
    """A value that cannot be written so that every shell reads it back."""


def next_command(action: str | None, target: Mapping[str, Any]) -> str | None:
    """The command of a finding, with what was given to the run; `target` is the journal header's.

    None where it would not be exact: a secret setting is in no journal, a report masks names, and some characters are
    read by the shells of Windows.
    """
    given = target.get("given")
    if action is None or not isinstance(given, Mapping) or not given:
        return action
    try:
        return _with(action, given)
    except _Unsayable:
        return None


def _with(action: str, given: Mapping[str, Any]) -> str:
    checkout, file = given.get("--checkout"), given.get("--env-file")
    if isinstance(checkout, str):
        action = action.replace("--checkout FOLDER", f"--checkout {_quoted(checkout)}")
    if action.startswith("rocm-wizard env ") and isinstance(file, str):
        return f"{action} --file {_quoted(file)}"
    started = _OURS.match(action)
    if started is None:
        return action
    named = action.split()
    settings = given.get("--set")
    if "--yes" in named and isinstance(settings, list | tuple) and any("=" not in str(one) for one in settings):
        raise _Unsayable
    carried = _CARRIED.get(started[1], _ALL)
    if action != "rocm-wizard asr":  # which means the bundled recording: it tells whose fault a wrong text is
        carried += _RECORDING if started[1] == "asr" else ()
    return " ".join([action, *_options(given, carried, named)])


def _options(given: Mapping[str, Any], carried: tuple[str, ...], named: list[str]) -> Iterator[str]:
    for option in carried:
        instead = given.get(option) == "embedded" and _INSTEAD.get(option) in named
        another = option in _SPOKEN and "--tts-language" in named
        if option in named or instead or another:
            continue
        values = given.get(option, ())
        for value in [values] if isinstance(values, str) else values if isinstance(values, list | tuple) else ():
            if option != "--set" or "=" in str(value):
                yield f"{option}{'=' if str(value).startswith('-') else ' '}{_quoted(str(value))}"


def _quoted(value: str) -> str:
    """For this system's shells; a home that was masked is still expanded."""
    if any(mask in value for mask in _MASKED):
        raise _Unsayable
    home, rest = (value[:1], value[2:]) if value[:2] in ("~", "~/", "~\\") else ("", value)
    if sys.platform != "win32":
        return (f"{home}/" if home and rest else home) + (shlex.quote(rest) if rest or not home else "")
    if _READ_BY_WINDOWS.search(rest):
        raise _Unsayable
    if not home and _PLAIN_ON_WINDOWS.fullmatch(rest):
        return rest
    ended = rest + "\\" if rest.endswith("\\") else rest  # the last one would take the quotation mark with it
    return f'"$HOME\\{ended}"' if home else f'"{ended}"'

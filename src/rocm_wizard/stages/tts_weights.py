"""Whether a checkout's voice has loaded the weights that it was told to: its settings may name others.

The host ignores both paths unless its voice profile is `custom`. Which lines it logs while it loads is not a promise,
so what is looked for is names of weight files, wherever they stand.
"""

import re
from pathlib import PureWindowsPath

from rocm_wizard.qualification.outcome import Outcome
from rocm_wizard.qualification.stage import StageContext
from rocm_wizard.sidecar.channel import settled_bytes
from rocm_wizard.sidecar.client import SidecarClient

_PATHS = {".ckpt": "TTS_GPT_MODEL_PATH", ".pth": "TTS_SOVITS_MODEL_PATH"}
_BEFORE, _AFTER = r"(?<![\w-])(?<![^.]\.)", r"(?![A-Za-z0-9_])(?!-[^>])(?!\.\w)"
"""A name ends where no longer one can stand: `5.ckpt` is not in `mine-e15.ckpt`, nor `mine.pth` in `mine.pth.bak`."""
_NAMED = re.compile(r"(?<![\w.=-])[\w.=-]+\.(?:ckpt|pth)" + _AFTER)
_IN_FOLDER = re.compile(r".*[\\/](?P<rest>[^\\/:\"'`|]*)")
_FILE_BEFORE = re.compile(r".*\.(?:ckpt|pth)\b")
_OTHERS = re.compile(
    r"(?:^|=)(?:s2[GD].*\.pth|.*vocoder.*\.pth|s1v3\.ckpt|s1bert.*\.ckpt|.*eres2net.*)$", re.IGNORECASE
)
"""Pretrained files that a voice may load, or name, beside its own."""


def judge_weights(context: StageContext, client: SidecarClient) -> None:
    """Compares the names that were logged up to `ready` with those that the child was told; only for a checkout's."""
    told = {
        suffix: PureWindowsPath(path).name
        for suffix, name in _PATHS.items()
        if (path := client.child.spec.environment.get(name))
    }
    if not told:
        return
    settled_bytes(client.child)
    missing, strangers = _compare(told, "\n".join(client.child.stderr_tail()))
    with context.check("weights"):
        if set(missing) & set(strangers):
            context.finding("tts.weights_other", Outcome.FAILED, loaded=_all(strangers), told=sorted(missing.values()))
        elif missing:
            context.finding("tts.weights_not_named", Outcome.SKIPPED, told=sorted(missing.values()))
        elif strangers:
            context.finding("tts.weights_several", Outcome.SKIPPED, told=sorted(told.values()), named=_all(strangers))
        else:
            context.finding("tts.weights", Outcome.PASSED, files=sorted(told.values()))


def _compare(told: dict[str, str], log: str) -> tuple[dict[str, str], dict[str, list[str]]]:
    """By suffix: the name that was told where the log lacks it, and the names that nobody told."""
    missing: dict[str, str] = {}
    for suffix, name in told.items():
        # A name may have blanks, and its end would look like another's: it goes out of the log.
        whole = re.compile(_BEFORE + re.escape(name) + _AFTER, re.IGNORECASE)
        if not any(_stands_alone(log, one.start()) for one in whole.finditer(log)):
            missing[suffix] = name
        log = whole.sub("", log)
    strangers: dict[str, set[str]] = {}
    for one in _NAMED.finditer(log):
        name = one[0].rpartition("..")[2].lstrip(".")  # behind dots that mean "wait"
        suffix = PureWindowsPath(name).suffix
        in_folder = log[one.start() - 1 : one.start()] in ("/", "\\")
        if suffix in told and not _OTHERS.search(name) and (in_folder or not _touches(name, told[suffix])):
            strangers.setdefault(suffix, set()).add(name)
    return missing, {suffix: sorted(names) for suffix, names in strangers.items()}


def _stands_alone(log: str, at: int) -> bool:
    """Whether the name that begins there is the whole name of a file: `(old) mine.ckpt` in a folder is another one."""
    line = log[log.rfind("\n", 0, at) + 1 : at]
    found = _IN_FOLDER.fullmatch(_FILE_BEFORE.sub("", line))
    return found is None or not found["rest"]


def _touches(name: str, told: str) -> bool:
    """Whether it is the name that was told behind a word of a script without blanks: that may be the log's own."""
    before = name.removesuffix(told)[-1:] if name.endswith(told) else ""
    return bool(before) and not before.isascii()


def _all(names: dict[str, list[str]]) -> list[str]:
    return sorted(name for some in names.values() for name in some)

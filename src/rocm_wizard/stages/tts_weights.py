"""Whether a checkout's voice has loaded the weights that it was told to: its settings may name others.

The host ignores both paths unless its voice profile is `custom`. Which lines it logs while it loads is not a promise,
so what is looked for is names of weight files, wherever they stand.
"""

import re
from pathlib import PureWindowsPath

from rocm_wizard.qualification.outcome import Outcome
from rocm_wizard.qualification.stage import StageContext
from rocm_wizard.sidecar.client import SidecarClient

_PATHS = {".ckpt": "TTS_GPT_MODEL_PATH", ".pth": "TTS_SOVITS_MODEL_PATH"}
_NAMED = re.compile(r"[^\s\\/:*?\"'<>|]+\.(?:ckpt|pth)\b")
_OTHERS = re.compile(r"s2G.*\.pth|.*vocoder.*\.pth|s1v3\.ckpt", re.IGNORECASE)
"""Pretrained files that every voice loads beside its own."""


def judge_weights(context: StageContext, client: SidecarClient) -> None:
    """Compares the names that were logged up to `ready` with those that the child was told; only for a checkout's."""
    told = {
        suffix: PureWindowsPath(path).name
        for suffix, name in _PATHS.items()
        if (path := client.child.spec.environment.get(name))
    }
    if not told:
        return
    log = "\n".join(client.child.stderr_tail())
    with context.check("weights"):
        missing = sorted(name for name in told.values() if name not in log)
        for name in told.values():
            log = log.replace(name, "")  # a name may have blanks, and its end would look like another's
        strangers = sorted({name for name in _NAMED.findall(log) if not _OTHERS.fullmatch(name)})
        if strangers and missing:
            context.finding("tts.weights_other", Outcome.FAILED, loaded=strangers, told=missing)
        elif missing:
            context.finding("tts.weights_not_named", Outcome.SKIPPED, told=missing)
        else:
            context.finding("tts.weights", Outcome.PASSED, files=sorted(told.values()))

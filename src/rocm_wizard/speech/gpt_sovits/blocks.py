"""The arithmetic of streamed blocks: lengths in mel frames, padding for the vocoder, fades, the onset gate.

The rules are the host project's preview (`local_tts_infer.py`, `tts/speech_onset.py`).
"""

import numpy as np
import torch
from torch import Tensor

from rocm_wizard.speech.payload import Samples

RATE = 24_000
HOP = 256
FRAMES_A_SECOND = RATE / HOP
MOST_PROMPT_FRAMES = 468
"""The reference window: its last 4.99 s."""
MOST_FRAMES = 934
"""Prompt and block together in one CFM pass: 9.96 s."""
FEWEST_FRAMES = 8

_FADE_IN = int(RATE * 0.008)
_FADE_OUT = int(RATE * 0.015)


def block_frames(seconds: float, prompt_frames: int) -> int:
    """The length of a block in mel frames: `seconds` 0 is the longest that fits beside the prompt."""
    longest = MOST_FRAMES - prompt_frames
    if not seconds:
        return longest
    return min(max(round(seconds * FRAMES_A_SECOND), FEWEST_FRAMES), longest)


def padded(mel: Tensor, frames: int) -> Tensor:
    """A mel [1, 100, T] whose last frame is repeated up to `frames`; a longer one as it is.

    MIOpen searches a solver the first time it sees a length, so all short blocks share one.
    """
    missing = frames - mel.shape[2]
    return torch.cat([mel, mel[:, :, -1:].expand(-1, -1, missing)], dim=2) if missing > 0 else mel


def limited(samples: Samples) -> Samples:
    """The block scaled so that no sample passes 1, where one did."""
    peak = float(np.abs(samples).max(initial=0.0))
    return samples / np.float32(peak) if peak > 1 else samples


def faded(samples: Samples, *, first: bool, last: bool) -> Samples:
    """A copy with 8 ms of linear fade-in unless it is the first block, and 15 ms of fade-out if it is the last.

    Neither is longer than a quarter of the block.
    """
    faded = samples.copy()
    quarter = samples.size // 4
    if not first and (length := min(_FADE_IN, quarter)):
        faded[:length] *= np.linspace(0, 1, length, dtype=np.float32)
    if last and (length := min(_FADE_OUT, quarter)):
        faded[-length:] *= np.linspace(0, 1, length, dtype=np.float32)[::-1]  # of one sample too: the end is zero
    return faded


class OnsetGate:
    """Holds a sentence's blocks back until it is voiced: a 10 ms frame of at least -45 dBFS.

    Networks of this family begin with up to a second of near silence; whoever plays it hears a late start.
    """

    _FRAME = RATE // 100
    _LEAD = RATE // 20
    _LEVEL = 10 ** (-45 / 20)

    def __init__(self) -> None:
        self._held: Samples | None = np.zeros(0, np.float32)

    def feed(self, samples: Samples) -> Samples:
        """What may leave now: nothing while the sentence is silent, else all from 50 ms before the voiced frame."""
        if self._held is None:
            return samples
        held = np.concatenate([self._held, samples])
        begin = self._onset(held)
        if begin is None:
            self._held = held
            return held[:0]
        self._held = None
        return held[max(0, begin - self._LEAD) :]

    def flush(self) -> Samples:
        """What was held back of a sentence that never became voiced."""
        held, self._held = self._held, None
        return held if held is not None else np.zeros(0, np.float32)

    def _onset(self, samples: Samples) -> int | None:
        whole = samples.size // self._FRAME * self._FRAME
        frames = samples[:whole].reshape(-1, self._FRAME)
        voiced = np.flatnonzero(np.sqrt(np.mean(np.square(frames), axis=1)) >= self._LEVEL)
        return int(voiced[0]) * self._FRAME if voiced.size else None

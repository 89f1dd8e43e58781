"""Failures that a TTS sidecar hides: the host project's inferencer turns an exception into silence and says `done`.

Its stream catches everything, logs one line and gives 16,000 zero samples in place of the missing sound
(`docs/wire.md`, "Failures that look like success").
"""

from collections.abc import Sequence

import numpy as np

from rocm_wizard.sidecar.messages import Chunk

LOG_MARK = "streaming inference failed:"
"""Begins the text of the log line, after the time and the level."""
FAILURE_SAMPLES = 16_000


def swallowed_failure(chunks: Sequence[Chunk], stderr_lines: Sequence[str], pause_seconds: float | None) -> str | None:
    """What went wrong in an utterance that ended with `done`, or None when nothing shows it.

    Args:
        chunks: the utterance's, at least the last one.
        stderr_lines: cleaned lines that the sidecar logged during the utterance.
        pause_seconds: the `pause_second` that was sent; None when none was, or when the engine is known not to end its
            utterances with a pause. With it the last block has to be exactly that many zeros.
    """
    for line in stderr_lines:
        if LOG_MARK in line:
            return line[line.index(LOG_MARK) :]
    if not chunks:
        return None
    last = chunks[-1]
    silent = not np.any(last.samples)
    pause = None if pause_seconds is None else int(last.sample_rate * pause_seconds)
    if silent and len(last.samples) == FAILURE_SAMPLES and pause != FAILURE_SAMPLES:
        return f"the last block is {FAILURE_SAMPLES} zeros, which stands for a failure"
    if pause and not (silent and len(last.samples) == pause):
        shown = "zeros" if silent else "samples of sound"
        return f"the last block is {len(last.samples)} {shown} and not the pause of {pause} zeros"
    return None

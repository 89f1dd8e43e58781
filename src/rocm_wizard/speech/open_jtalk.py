"""The Japanese voice: Open JTalk's statistical (HTS) voice from pyopenjtalk-plus, on the CPU at 48 kHz.

It is no neural network and exercises no GPU; messages say so.
"""

import re
from collections.abc import Iterator

import numpy as np

from rocm_wizard.speech.harmonic_noise import block_ends
from rocm_wizard.speech.serve import RequestError
from rocm_wizard.speech.speaker import Block, StageTimes
from rocm_wizard.speech.tts_request import SHORTEST_BLOCK_S

_SENTENCE_END = re.compile(r"(?<=[。！？!?])[」』）\s]*|\n+")
FULL_SCALE = 32_768.0


class OpenJTalkVoice:
    """pyopenjtalk-plus's own voice. Importing is left to the first use: most runs never speak Japanese."""

    engine = "open_jtalk"
    voice = "mei_normal"
    device = "cpu"
    sample_rate = 48_000
    note = "Japanese is spoken by Open JTalk on the CPU at 48000 Hz; it is no network and exercises no GPU"

    def __init__(self) -> None:
        self._labels: dict[str, list[str]] = {}

    def parts(self, text: str, times: StageTimes) -> list[str]:
        """Sentences with a reading. Raises RequestError where there is none."""
        import pyopenjtalk

        self._labels = {}
        spoken: list[str] = []
        with times.stage("g2p"):
            for sentence in split_sentences(text):
                # Plain Open JTalk: the extra readings load a 70 MB dictionary and a network for rare words.
                labels = pyopenjtalk.extract_fullcontext(sentence, use_sudachi_kanji_yomi=False, predict_nani=False)
                # Two labels are the silence before and after; a sentence of symbols has nothing between them.
                if len(labels) > 2:
                    spoken.append(sentence)
                    self._labels[sentence] = labels
        if not spoken:
            raise RequestError(f"nothing in the text has a Japanese reading: {text[:80]!r}")
        return spoken

    def speak(self, part: str, speed: float, block_s: float, times: StageTimes) -> Iterator[Block]:
        """Blocks of one sentence. The engine renders a sentence at once; only the sending is in blocks."""
        import pyopenjtalk

        with times.stage("render"):
            wave, rate = pyopenjtalk.synthesize(self._labels[part], speed=speed)
        if rate != self.sample_rate:
            raise RuntimeError(f"the Japanese voice speaks at {rate} Hz, not {self.sample_rate}")
        samples = (np.asarray(wave) / FULL_SCALE).astype(np.float32)
        begin, text = 0, part
        for end in block_ends(samples.size, int(block_s * rate), int(SHORTEST_BLOCK_S * rate)):
            yield Block(samples[begin:end], text)
            begin, text = end, ""


def split_sentences(text: str) -> list[str]:
    """Sentences of Japanese text, closing brackets kept with their sentence."""
    sentences: list[str] = []
    begin = 0
    for found in _SENTENCE_END.finditer(text):
        sentences.append(text[begin : found.end()])
        begin = found.end()
    sentences.append(text[begin:])
    return [sentence.strip() for sentence in sentences if sentence.strip()]

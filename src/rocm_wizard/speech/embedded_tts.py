"""The embedded English voice: hibari's network as torch runs it on the profile's device, and its text front end."""

import hashlib
import importlib.util
import json
import re
import time
import zlib
from collections.abc import Iterator
from pathlib import Path

import onnx
import torch
from hibari import Hibari
from hibari.g2p import G2P

from rocm_wizard.speech.devices import synchronise
from rocm_wizard.speech.harmonic_noise import RATE, Renderer, Spectra, block_ends
from rocm_wizard.speech.onnx_fold import fold_quantised_products
from rocm_wizard.speech.onnx_torch import OnnxModule
from rocm_wizard.speech.serve import LoadFailure, RequestError
from rocm_wizard.speech.speaker import Block, StageTimes
from rocm_wizard.speech.tts_request import SHORTEST_BLOCK_S

VOICE_SHA256 = "5f70741d4e900f4e85d0037498736cc1b3e1b9a63a13546a5da1e63abf4fccd8"
# hibari reads sentences up to this length at once (`hibari.tts.MAX_PHONEMES`).
MOST_PHONEMES = 400
_CLAUSE_END = re.compile(r"(?<=[,;:—])\s+")


class EmbeddedVoice:
    """hibari's bundled American voice at 24 kHz. The same text and speed give the same sound on one machine."""

    engine = "embedded"
    voice = "heart"
    sample_rate = RATE
    note = ""

    def __init__(self, device: torch.device, network_file: Path | None = None) -> None:
        """Load the network. Raises LoadFailure when the file is missing or has another hash."""
        path = network_file or _assets() / "hibari.onnx"
        if not path.is_file():
            raise LoadFailure(f"the embedded voice is missing: {path}")
        content = path.read_bytes()
        self.sha256 = hashlib.sha256(content).hexdigest()
        if self.sha256 != VOICE_SHA256:
            raise LoadFailure(f"{path}: SHA-256 is {self.sha256}, expected {VOICE_SHA256}")
        self._device = device
        self.device = str(device)
        self._network = OnnxModule(fold_quantised_products(onnx.load_from_string(content))).to(device).eval()
        self._numbers: dict[str, int] = json.loads((_assets() / "vocab.json").read_text(encoding="utf-8"))
        self._g2p = G2P(british=False)
        self._phonemes: dict[str, list[str]] = {}

    def warm_up(self) -> int:
        """Say one short sentence, so that the first request pays no lazy initialisation; returns milliseconds."""
        started = time.perf_counter()
        times = StageTimes()
        for part in self.parts("Ready.", times):
            for _ in self.speak(part, 1.0, 0.0, times):
                synchronise(self._device)
        return round((time.perf_counter() - started) * 1000)

    def parts(self, text: str, times: StageTimes) -> list[str]:
        """Sentences with something to say. Raises RequestError where no word can be pronounced."""
        self._phonemes = {}
        spoken: list[str] = []
        with times.stage("g2p"):
            for sentence in Hibari.split_sentences(text):
                phonemes = "".join(c for c in self._g2p(sentence) if c in self._numbers)
                if any(c.isalpha() for c in phonemes):
                    spoken.append(sentence)
                    self._phonemes[sentence] = shortened(phonemes)
        if not spoken:
            raise RequestError(f"nothing in the text can be pronounced in English: {text[:80]!r}")
        return spoken

    def speak(self, part: str, speed: float, block_s: float, times: StageTimes) -> Iterator[Block]:
        """Blocks of one sentence that `parts` returned. The network runs once for every 400 phonemes."""
        text = part
        for phonemes in self._phonemes[part]:
            with times.stage("network"):
                spectra = self._spectra(phonemes, speed)
            # Noise is drawn from the words alone, so that a repeated request can be compared bit by bit.
            renderer = Renderer(spectra, zlib.crc32(phonemes.encode("utf-8")))
            begin = 0
            for end in block_ends(renderer.samples_left, int(block_s * RATE), int(SHORTEST_BLOCK_S * RATE)):
                with times.stage("render"):
                    samples = renderer.take(end - begin).cpu().numpy()
                yield Block(samples, text)
                begin, text = end, ""

    def _spectra(self, phonemes: str, speed: float) -> Spectra:
        numbers = [0, *(self._numbers[c] for c in phonemes), 0]
        given = {
            "ids": torch.tensor([numbers], device=self._device),
            "speed": torch.tensor([speed], dtype=torch.float32, device=self._device),
        }
        found = self._network(given)
        synchronise(self._device)
        return Spectra(**{name: values[0] for name, values in found.items()})


def _assets() -> Path:
    spec = importlib.util.find_spec("hibari")
    if spec is None or not spec.submodule_search_locations:
        raise LoadFailure("package hibari-tts is not installed; it carries the embedded voice")
    return Path(next(iter(spec.submodule_search_locations))) / "assets"


def shortened(phonemes: str, most: int = MOST_PHONEMES) -> list[str]:
    """Phonemes cut into pieces of at most `most`: at clause ends, else between words, else anywhere."""
    if len(phonemes) <= most:
        return [phonemes]
    for pieces in (_CLAUSE_END.split(phonemes), phonemes.split(" ")):
        if all(len(piece) <= most for piece in pieces):
            return _joined(pieces, most)
    return [phonemes[at : at + most] for at in range(0, len(phonemes), most)]


def _joined(pieces: list[str], most: int) -> list[str]:
    lines = [pieces[0]]
    for piece in pieces[1:]:
        if len(lines[-1]) + 1 + len(piece) <= most:
            lines[-1] += f" {piece}"
        else:
            lines.append(piece)
    return lines

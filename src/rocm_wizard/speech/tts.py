"""The TTS sidecar: `python -u -m rocm_wizard.speech.tts [--engine NAME] [--device NAME] [model files]`.

One JSON object a line on stdin and stdout. `infer` gives one chunk, `infer_stream` a chunk a sentence or, with
`chunk_size_seconds`, a chunk a block, each sent as soon as it is rendered; then `done`. A failure is an `error`, never
silence.
"""

import os
import time
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from rocm_wizard.speech.serve import Message, OptionParser, Service, check_engine, run_sidecar

if TYPE_CHECKING:  # torch is loaded only behind the guard
    import torch

    from rocm_wizard.speech.payload import Samples
    from rocm_wizard.speech.speaker import Block, Speaker, StageTimes, VoiceEngine
    from rocm_wizard.speech.tts_request import TtsRequest

ENGINES = ("embedded", "gpt_sovits")


class TtsService:
    """A voice engine behind the wire."""

    def __init__(self, engine: "VoiceEngine", facts: Message) -> None:
        self._engine = engine
        self._facts = facts

    def ready(self) -> Message:
        """The `ready` message."""
        return {"type": "ready", **self._facts}

    def error_fields(self, request: Message | None) -> Message:
        """The request's id, "" where it could not be read."""
        from rocm_wizard.speech.tts_request import request_id_of

        return {"request_id": request_id_of(request)}

    def answer(self, request: Message, send: Callable[[Message], None]) -> None:
        """Speak one request."""
        from rocm_wizard.speech.devices import memory_fields
        from rocm_wizard.speech.speaker import StageTimes
        from rocm_wizard.speech.tts_request import read_request

        started = time.perf_counter()
        asked = read_request(request, self._engine.languages)
        speaker = self._engine.speaker(asked)
        times = StageTimes()
        count, samples, first_audio_ms = 0, 0, 0.0
        for block in _whole_or_blocks(speaker, asked, times):
            send(_chunk(asked.request_id, speaker.sample_rate, block))
            if not count:
                first_audio_ms = (time.perf_counter() - started) * 1000
            count += 1
            samples += block.samples.size
        send(
            {
                "type": "done",
                "request_id": asked.request_id,
                "engine": speaker.engine,
                "voice": speaker.voice,
                "device": speaker.device,
                "device_note": speaker.note,
                "sample_rate": speaker.sample_rate,
                "chunks": count,
                "audio_seconds": round(samples / speaker.sample_rate, 4),
                "synthesis_ms": round((time.perf_counter() - started) * 1000, 2),
                "first_audio_ms": round(first_audio_ms, 2),
                **times.fields(),
                **memory_fields(str(self._facts["device"])),
            }
        )


def _chunk(request_id: str, rate: int, block: "Block") -> Message:
    from rocm_wizard.speech.payload import encode_samples

    audio = encode_samples(block.samples)
    timing = {"timing": dict(block.timing)} if block.timing else {}
    return {
        "type": "chunk",
        "request_id": request_id,
        "sample_rate": rate,
        "audio_b64": audio,
        "text": block.text,
        **timing,
    }


def _whole_or_blocks(speaker: "Speaker", asked: "TtsRequest", times: "StageTimes") -> "Iterator[Block]":
    blocks = _blocks(speaker, asked, asked.block_s if asked.streamed else 0.0, times)
    if asked.streamed:
        yield from blocks
        return
    import numpy as np

    from rocm_wizard.speech.speaker import Block

    yield Block(np.concatenate([block.samples for block in blocks]), asked.text)


def _blocks(speaker: "Speaker", asked: "TtsRequest", block_s: float, times: "StageTimes") -> "Iterator[Block]":
    from rocm_wizard.speech.speaker import Block

    pause = _silence(int(speaker.sample_rate * asked.pause_s))
    for part in speaker.parts(asked.text, times):
        yield from speaker.speak(part, asked.speed, block_s, times)
        if pause.size:
            yield Block(pause, "")


def _silence(samples: int) -> "Samples":
    import numpy as np

    return np.zeros(samples, np.float32)


def load(arguments: Sequence[str]) -> Service:
    """Read the options and build the service. Raises LoadFailure; an import that fails raises as it is."""
    started = time.perf_counter()
    options = _options(arguments)
    from rocm_wizard.speech import devices

    devices.prepare_torch()
    choice = devices.choose_device(
        options.device or os.environ.get("TTS_DEVICE", ""),
        require_gpu=devices.required("TTS_REQUIRE_CUDA"),
        fall_back=False,
    )
    engine = _engine(options, choice.device)
    loaded_ms = round((time.perf_counter() - started) * 1000)
    warm_up_ms = engine.warm_up() if choice.device.type != "cpu" else 0
    facts = devices.torch_facts()
    return TtsService(
        engine,
        {
            "device": str(choice.device),
            **facts,
            "semantic_backend": "torch",
            "semantic": {"semantic_backend": "torch", "torch": facts["torch"]},
            "engine": options.engine,
            "load_ms": loaded_ms,
            "warmup_ms": warm_up_ms,
            **engine.facts(),
        },
    )


def _engine(options: "_Options", device: "torch.device") -> "VoiceEngine":
    if options.engine == "gpt_sovits":
        from rocm_wizard.speech.gpt_sovits.engine import load_engine
        from rocm_wizard.speech.gpt_sovits.files import find_files

        given = {"gpt": options.gpt_model, "sovits": options.sovits_model, "pretrained": options.pretrained}
        return load_engine(find_files(given, options.nltk_data, os.environ), device, os.environ)
    from rocm_wizard.speech.embedded_engine import EmbeddedEngine

    return EmbeddedEngine(device)


class _Options:
    engine: str
    device: str
    gpt_model: Path | None
    sovits_model: Path | None
    pretrained: Path | None
    nltk_data: Path | None


def _options(arguments: Sequence[str]) -> _Options:
    parser = OptionParser(prog="rocm_wizard.speech.tts", description="TTS sidecar, JSON Lines on stdin and stdout")
    parser.add_argument("--engine", default=ENGINES[0], help="voice engine: " + ", ".join(ENGINES))
    parser.add_argument("--device", default="", help="cpu, cuda:0 or mps; TTS_DEVICE when absent")
    parser.add_argument("--gpt-model", type=Path, help="GPT .ckpt file; TTS_GPT_MODEL_PATH when absent")
    parser.add_argument("--sovits-model", type=Path, help="SoVITS v3 .pth file; TTS_SOVITS_MODEL_PATH when absent")
    parser.add_argument("--pretrained", type=Path, help="folder with BigVGAN, HuBERT, RoBERTa and s2Gv3.pth")
    parser.add_argument("--nltk-data", type=Path, help="folder with NLTK's data; NLTK_DATA when absent")
    options = parser.parse_args(arguments, namespace=_Options())
    check_engine(options.engine, ENGINES)
    return options


def main(arguments: Sequence[str] | None = None) -> int:
    """Run the sidecar until stdin ends; the exit code is 0, or 1 when it could not load."""
    return run_sidecar(load, "TTS_DEVICE", arguments)


if __name__ == "__main__":
    raise SystemExit(main())

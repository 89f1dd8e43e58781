"""The ASR sidecar: `python -u -m rocm_wizard.speech.asr [--engine NAME] [--model DIR] [--device NAME]`.

One JSON object a line on stdin and stdout. Request: `audio_b64` (base64 of float32 little-endian mono), `sample_rate`
(16000), `language` (English name; null or "" detects; absent means Chinese, as the host's own sidecar takes it),
`context`, `request_id` (echoed when given). Answer: one `result` or `error`.
"""

import importlib.util
import os
import sys
import time
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any, cast

from rocm_wizard.speech.serve import (
    LoadFailure,
    Message,
    OptionParser,
    RequestError,
    Service,
    check_engine,
    run_sidecar,
)

if TYPE_CHECKING:  # torch is loaded only behind the guard
    import torch

    from rocm_wizard.speech.asr_engine import AsrEngine
    from rocm_wizard.speech.payload import Samples
    from rocm_wizard.speech.qwen3_asr_folder import ModelFolder

ENGINES = ("embedded", "qwen3_asr")
MODEL_RATE = 16_000
# Rates whose ratio to 16 kHz is small; a polyphase filter for any other takes gigabytes.
RATES = (8_000, 11_025, 12_000, 16_000, 22_050, 24_000, 32_000, 44_100, 48_000, 88_200, 96_000, 176_400, 192_000)
LONGEST_S = 30
DEFAULT_LANGUAGE = "Chinese"
# The host's name for a language that Whisper calls otherwise.
HOST_NAMES = {"Filipino": "Tagalog"}


class AsrService:
    """A recogniser behind the wire."""

    def __init__(self, engine: "AsrEngine", facts: Message) -> None:
        self._engine = engine
        self._facts = facts

    def ready(self) -> Message:
        """The `ready` message."""
        return {"type": "ready", **self._facts}

    def error_fields(self, request: Message | None) -> Message:
        """The request's id, where it has one."""
        return {"request_id": request["request_id"]} if request and "request_id" in request else {}

    def answer(self, request: Message, send: Callable[[Message], None]) -> None:
        """Recognise one clip."""
        from rocm_wizard.speech.devices import memory_fields

        started = time.perf_counter()
        samples, seconds = read_audio(request)
        language = read_language(request, self._engine.language_names)
        context = request.get("context")
        if context is not None and not isinstance(context, str):
            raise RequestError(f"context is a string, not {type(context).__name__}")
        heard = self._engine.transcribe(samples, language, context or "")
        took = (time.perf_counter() - started) * 1000
        times = {
            "inference_ms": took,
            "gate_ms": heard.gate_ms,
            "encode_ms": heard.encode_ms,
            "decode_ms": heard.decode_ms,
        }
        send(
            {
                "type": "result",
                **self.error_fields(request),
                "text": heard.text,
                "language": heard.language,
                "audio_seconds": round(seconds, 4),
                **{name: round(ms, 2) for name, ms in times.items() if ms is not None},
                "tokens": heard.tokens,
                **({} if heard.speech_ratio is None else {"speech_ratio": heard.speech_ratio}),
                **memory_fields(str(self._facts["device"])),
            }
        )


def read_audio(request: Message) -> "tuple[Samples, float]":
    """The clip at 16 kHz, and its length in seconds. Raises RequestError."""
    from rocm_wizard.speech.payload import decode_samples

    text = request.get("audio_b64")
    if not isinstance(text, str):
        raise RequestError("audio_b64 is missing or no string")
    rate = request.get("sample_rate", MODEL_RATE)
    if isinstance(rate, bool) or not isinstance(rate, int) or rate not in RATES:
        raise RequestError(f"sample_rate {rate!r} is none of {', '.join(map(str, RATES))}")
    samples = decode_samples(text)
    seconds = samples.size / rate
    if seconds > LONGEST_S:
        raise RequestError(f"the audio lasts {seconds:.2f} s; at most {LONGEST_S} s are recognised at once")
    if rate != MODEL_RATE:
        samples = _resampled(samples, rate)
    return samples, seconds


def _resampled(samples: "Samples", rate: int) -> "Samples":
    import torch
    from torchaudio.functional import resample

    found = resample(torch.from_numpy(samples), rate, MODEL_RATE, lowpass_filter_width=64, rolloff=0.95)
    return found.numpy()[: LONGEST_S * MODEL_RATE]


def read_language(request: Message, known: Sequence[str]) -> str | None:
    """The name among `known` in any letter case, None for detection. Raises RequestError naming all."""
    wanted = request.get("language", DEFAULT_LANGUAGE if DEFAULT_LANGUAGE in known else None)
    if wanted is None or wanted == "":
        return None
    if not isinstance(wanted, str):
        raise RequestError(f"language is a string or null, not {type(wanted).__name__}")
    names = {name.casefold(): name for name in known}
    name = names.get(wanted.strip().casefold()) or names.get(HOST_NAMES.get(wanted, "").casefold())
    if name is None:
        raise RequestError(f"language {wanted!r} is unknown; use null for detection, or one of: {', '.join(known)}")
    return name


def load(arguments: Sequence[str]) -> Service:
    """Read the options and build the service. Raises LoadFailure; an import that fails raises as it is."""
    started = time.perf_counter()
    options = _options(arguments)
    # The weights are on disk or nowhere: nothing may be looked up on a network.
    os.environ["HF_HUB_OFFLINE"] = os.environ["TRANSFORMERS_OFFLINE"] = "1"
    # torch and transformers take seconds to import: what is wrong with a folder or a device is told before.
    folder = _qwen3_asr_folder(options.model) if options.engine == "qwen3_asr" else None
    from rocm_wizard.speech import devices

    devices.prepare_torch()
    choice = devices.choose_device(
        options.device or os.environ.get("QWEN3_ASR_DEVICE", ""),
        require_gpu=devices.required("QWEN3_ASR_REQUIRE_CUDA"),
        fall_back=not options.device,
    )
    engine = _engine(choice.device, options.model, folder)
    loaded_ms = round((time.perf_counter() - started) * 1000)
    return AsrService(
        engine,
        {
            "device": str(choice.device),
            "warmup_ms": engine.warm_up(),
            **devices.torch_facts(),
            "engine": options.engine,
            "load_ms": loaded_ms,
            "device_note": choice.note,
            **engine.facts(),
        },
    )


def _qwen3_asr_folder(given: Path | None) -> "ModelFolder":
    if importlib.util.find_spec("qwen_asr") is None:
        raise LoadFailure("the package qwen-asr is not installed; it comes with the extra `engines`")
    from rocm_wizard.speech.qwen3_asr_folder import check_folder, find_folder

    return check_folder(find_folder(given, os.environ, Path.cwd()))


def _engine(device: "torch.device", given: Path | None, folder: "ModelFolder | None") -> "AsrEngine":
    if folder is not None:
        from rocm_wizard.speech.qwen3_asr import Qwen3Asr

        return Qwen3Asr(device, folder, os.environ)
    # transformers imports scikit-learn where it is installed, for a decoding method that nobody here asks for: 3 s of
    # every start. Told that there is none, it goes on without.
    cast(dict[str, Any], sys.modules).setdefault("sklearn", None)
    from rocm_wizard.speech.embedded_asr import EmbeddedAsr

    return EmbeddedAsr(device, given)


class _Options:
    engine: str
    model: Path | None
    device: str


def _options(arguments: Sequence[str]) -> _Options:
    parser = OptionParser(prog="rocm_wizard.speech.asr", description="ASR sidecar, JSON Lines on stdin and stdout")
    parser.add_argument("--engine", default=ENGINES[0], help="recogniser: " + ", ".join(ENGINES))
    parser.add_argument("--model", type=Path, help="local folder (safetensors): Whisper, or Qwen3-ASR")
    parser.add_argument("--device", default="", help="cpu, cuda:0 or mps; QWEN3_ASR_DEVICE when absent")
    options = parser.parse_args(arguments, namespace=_Options())
    check_engine(options.engine, ENGINES)
    return options


def main(arguments: Sequence[str] | None = None) -> int:
    """Run the sidecar until stdin ends; the exit code is 0, or 1 when it could not load."""
    return run_sidecar(load, "QWEN3_ASR_DEVICE", arguments)


if __name__ == "__main__":
    raise SystemExit(main())

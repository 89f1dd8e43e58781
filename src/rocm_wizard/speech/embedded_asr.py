"""The embedded recogniser: Whisper as transformers builds it, from the packaged weights or a local folder."""

import hashlib
import json
import time
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import torch
from tokenizers import Tokenizer
from torch import nn
from transformers.generation.configuration_utils import GenerationConfig
from transformers.models.whisper.configuration_whisper import WhisperConfig
from transformers.models.whisper.feature_extraction_whisper import WhisperFeatureExtractor
from transformers.models.whisper.modeling_whisper import WhisperForConditionalGeneration
from transformers.models.whisper.tokenization_whisper import LANGUAGES
from transformers.utils import logging as transformers_logging

from rocm_wizard.speech.asr_engine import RATE, WARM_UP_SECONDS, Heard, attention_for, refuse_code, token_limit
from rocm_wizard.speech.devices import is_hip, synchronise
from rocm_wizard.speech.payload import Samples
from rocm_wizard.speech.serve import LoadFailure, Message
from rocm_wizard.speech.voice_gate import read_gate
from rocm_wizard.speech.whisper_weights import WHISPER_BASE_SHA256, find_packaged_whisper, read_whisper

# Half of the decoder's 448 positions, less the start token: what Whisper was trained to see before the text.
MOST_CONTEXT_TOKENS = 223
FOLDER_FILES = (
    "config.json",
    "generation_config.json",
    "preprocessor_config.json",
    "tokenizer.json",
    "model.safetensors",
)

# Token numbers of multilingual Whisper; the same in the packaged settings and in tokenizer.json.
END_OF_TEXT, START_OF_TRANSCRIPT = 50257, 50258
TRANSLATE, TRANSCRIBE, START_OF_PREVIOUS, NO_TIMESTAMPS = 50358, 50359, 50361, 50363


@dataclass(frozen=True)
class LoadedWhisper:
    """A network with its tokenizer and what it was loaded from."""

    network: WhisperForConditionalGeneration
    tokenizer: Tokenizer
    features: WhisperFeatureExtractor
    name: str
    sha256: str


class EmbeddedAsr:
    """See `asr_engine.AsrEngine`. Whisper on one device, float16 on a GPU, behind the voice gate."""

    def __init__(self, device: torch.device, model_folder: Path | None = None) -> None:
        """Load the network. Raises LoadFailure, FileNotFoundError or WeightFileError for what is missing or wrong."""
        transformers_logging.set_verbosity_error()  # a host may never read stderr, and a full pipe would stop us
        self._device = device
        self._hip = is_hip() and device.type == "cuda"
        attention = attention_for(self._hip)
        loaded = load_packaged(attention) if model_folder is None else load_folder(model_folder, attention)
        self._dtype = torch.float16 if device.type == "cuda" else torch.float32
        self._network = loaded.network.eval()
        nn.Module.to(self._network, device=device, dtype=self._dtype)
        self._tokenizer, self._features = loaded.tokenizer, loaded.features
        self._name, self._sha256 = loaded.name, loaded.sha256
        tokens: dict[str, int] | None = getattr(self._network.generation_config, "lang_to_id", None)
        # An English-only Whisper has no language tokens.
        self._language_tokens = tokens or {"<|en|>": 0}
        self._multilingual = tokens is not None
        codes = [token[2:-2] for token in self._language_tokens]
        self._languages = {code: LANGUAGES[code].title() for code in codes if code in LANGUAGES}

    @property
    def language_names(self) -> list[str]:
        """See `asr_engine.AsrEngine.language_names`: those that this network knows."""
        return sorted(self._languages.values())

    def facts(self) -> Message:
        """See `asr_engine.AsrEngine.facts`."""
        return {
            "attn_impl": "eager+math_sdp" if self._hip else attention_for(self._hip),
            "model": self._name,
            "weights_sha256": self._sha256,
            "dtype": str(self._dtype).removeprefix("torch."),
        }

    def warm_up(self) -> int:
        """See `asr_engine.AsrEngine.warm_up`: 2 s of zeros through the whole network, on a GPU."""
        if self._device.type == "cpu":
            return 0
        started = time.perf_counter()
        self._recognise(torch.zeros(WARM_UP_SECONDS * RATE).numpy(), "Chinese" if self._multilingual else None, "")
        synchronise(self._device)
        return round((time.perf_counter() - started) * 1000)

    def transcribe(self, samples: Samples, language: str | None, context: str) -> Heard:
        """See `asr_engine.AsrEngine.transcribe`; `context` is shown to the decoder as the text before."""
        started = time.perf_counter()
        gate = read_gate(samples)
        gate_ms = (time.perf_counter() - started) * 1000
        if not gate.speech:
            return Heard("", "", 0, 0.0, 0.0, gate_ms, 0.0)
        heard = self._recognise(samples, language, context)
        return replace(heard, gate_ms=gate_ms, speech_ratio=gate.speech_ratio)

    @torch.inference_mode()
    def _recognise(self, samples: Samples, language: str | None, context: str) -> Heard:
        started = time.perf_counter()
        mel = self._features(samples, sampling_rate=RATE, return_tensors="pt")["input_features"]
        mel = mel.to(device=self._device, dtype=self._dtype)
        encoded = self._network.get_encoder()(mel)
        synchronise(self._device)
        encoded_at = time.perf_counter()
        options: dict[str, Any] = {}
        code = "en"
        if self._multilingual:
            code = self._code_of(language) if language else self._detect(encoded)
            options = {"language": code, "task": "transcribe"}
        if context.strip():
            options["prompt_ids"] = self._context_tokens(context)
        found: Any = self._network.generate(
            input_features=mel,
            encoder_outputs=encoded,
            max_new_tokens=token_limit(len(samples) / RATE),
            do_sample=False,
            num_beams=1,
            return_timestamps=False,
            **options,
        )
        tokens = [int(token) for token in found[0]]
        synchronise(self._device)
        done = time.perf_counter()
        text = self._tokenizer.decode(tokens, skip_special_tokens=True).strip()
        encode_ms, decode_ms = (encoded_at - started) * 1000, (done - encoded_at) * 1000
        return Heard(text, self._languages.get(code, ""), len(tokens), encode_ms, decode_ms)

    def _code_of(self, language: str) -> str:
        return next(code for code, name in self._languages.items() if name == language)

    def _detect(self, encoded: Any) -> str:
        number = int(self._network.detect_language(encoder_outputs=encoded)[0])
        return next(code[2:-2] for code, known in self._language_tokens.items() if known == number)

    def _context_tokens(self, context: str) -> torch.Tensor:
        words = self._tokenizer.encode(" " + context.strip(), add_special_tokens=False).ids[-MOST_CONTEXT_TOKENS:]
        start = self._tokenizer.token_to_id("<|startofprev|>")
        return torch.tensor([start, *words], device=self._device)


def load_packaged(attention: str) -> LoadedWhisper:
    """Whisper base, multilingual, from the installed weight packages; no hub, no pickle."""
    files = find_packaged_whisper()
    state = read_whisper(files.parts, WHISPER_BASE_SHA256)
    config = WhisperConfig(
        vocab_size=51865,
        d_model=512,
        encoder_layers=6,
        decoder_layers=6,
        encoder_attention_heads=8,
        decoder_attention_heads=8,
        encoder_ffn_dim=2048,
        decoder_ffn_dim=2048,
        attn_implementation=attention,
    )
    # On the meta device nothing is allocated or drawn at random: the tensors read above become the parameters.
    with torch.device("meta"):
        network = WhisperForConditionalGeneration(config)
    network.load_state_dict(state, strict=True, assign=True)
    network.tie_weights()
    network.generation_config = _packaged_generation(files.settings, files.tokenizer)
    tokenizer = Tokenizer.from_file(str(files.tokenizer))
    return LoadedWhisper(network, tokenizer, WhisperFeatureExtractor(), "whisper-base", WHISPER_BASE_SHA256)


def _packaged_generation(settings: Path, tokenizer: Path) -> GenerationConfig:
    values = json.loads(settings.read_text(encoding="utf-8"))
    numbers = {entry["content"]: entry["id"] for entry in _added_tokens(tokenizer)}
    languages = {f"<|{code}|>": numbers[f"<|{code}|>"] for code in LANGUAGES if f"<|{code}|>" in numbers}
    if sorted(languages.values()) != values["lang_ids"]:
        raise LoadFailure(f"{settings} and {tokenizer} disagree on the language tokens")
    return GenerationConfig(
        decoder_start_token_id=START_OF_TRANSCRIPT,
        bos_token_id=END_OF_TEXT,
        eos_token_id=END_OF_TEXT,
        pad_token_id=END_OF_TEXT,
        prev_sot_token_id=START_OF_PREVIOUS,
        no_timestamps_token_id=NO_TIMESTAMPS,
        max_initial_timestamp_index=50,
        max_length=448,
        is_multilingual=True,
        lang_to_id=languages,
        task_to_id={"transcribe": TRANSCRIBE, "translate": TRANSLATE},
        suppress_tokens=values["suppress_ids"],
        begin_suppress_tokens=values["suppress_ids_begin"],
        return_timestamps=False,
    )


def _added_tokens(tokenizer: Path) -> list[dict[str, Any]]:
    return json.loads(tokenizer.read_text(encoding="utf-8"))["added_tokens"]


def load_folder(folder: Path, attention: str) -> LoadedWhisper:
    """A local Hugging Face Whisper folder: safetensors only. Raises LoadFailure naming what is missing."""
    missing = [name for name in FOLDER_FILES if not (folder / name).is_file()]
    if missing:
        names = ", ".join(missing)
        raise LoadFailure(f"{folder} is no Whisper folder: {names} missing (pickled weights are never read)")
    refuse_code(folder)
    kind = json.loads((folder / "config.json").read_text(encoding="utf-8")).get("model_type")
    if kind != "whisper":
        raise LoadFailure(f"{folder} holds a {kind!r} model, not Whisper")
    weights = folder / "model.safetensors"
    with weights.open("rb") as stream:
        sha256 = hashlib.file_digest(stream, "sha256").hexdigest()
    loaded: Any = WhisperForConditionalGeneration.from_pretrained(
        str(folder),
        local_files_only=True,
        use_safetensors=True,
        dtype=torch.float32,
        attn_implementation=attention,
        output_loading_info=True,
    )
    network, report = loaded
    # The output projection is the embedding; any other gap would be filled with random numbers.
    gaps = set(report["missing_keys"]) - {"proj_out.weight"}
    if gaps or report["mismatched_keys"]:
        raise LoadFailure(f"{weights} does not fit its config.json: {sorted(gaps)[:5]} {report['mismatched_keys'][:5]}")
    features = WhisperFeatureExtractor.from_pretrained(str(folder), local_files_only=True)
    return LoadedWhisper(network, Tokenizer.from_file(str(folder / "tokenizer.json")), features, folder.name, sha256)

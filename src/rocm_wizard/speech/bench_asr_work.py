"""The measurements of `bench_asr`."""

import time
from dataclasses import dataclass
from typing import Any

import numpy as np
import torch
from qwen_asr.core.transformers_backend import Qwen3ASRConfig
from transformers.models.auto.modeling_auto import AutoModel
from transformers.models.whisper.feature_extraction_whisper import WhisperFeatureExtractor
from transformers.utils import logging as transformers_logging

from rocm_wizard.speech.asr_engine import RATE, attention_for
from rocm_wizard.speech.bench_child import BenchReporter
from rocm_wizard.speech.devices import is_hip, synchronise
from rocm_wizard.speech.payload import Samples
from rocm_wizard.speech.qwen3_asr import settle_attention

TOKENS_A_SECOND = 3
"""English speech of three words a second has about so many tokens; each clip is decoded to just this number."""
_AUDIO_PAD, _TEXT_TOKEN, _FRAME_TOKENS = 151_676, 1, 20
"""The placeholder of an encoder frame, any token, and how many of the chat template stand around the audio."""


@dataclass(frozen=True)
class Sizes:
    """The encoder's and the decoder's sizes, and the clips' lengths in seconds.

    The defaults are Qwen3-ASR-0.6B's, as its public descriptions give them (docs/bench.md); rates and window lengths
    that they leave out are those of the package's configuration.
    """

    width: int = 896
    layers: int = 18
    heads: int = 14
    inner: int = 3584
    channels: int = 480
    text_width: int = 1024
    text_layers: int = 28
    text_heads: int = 16
    key_heads: int = 8
    head: int = 128
    text_inner: int = 3072
    vocabulary: int = 151_936
    clips: tuple[int, ...] = (7, 30)


FULL = Sizes()
TINY = Sizes(32, 1, 2, 32, 8, 32, 2, 4, 2, 128, 32, clips=(1, 2))


class AsrBench:
    """One device, one network with random weights in bfloat16 on a GPU and float32 elsewhere."""

    def __init__(self, report: BenchReporter, device: torch.device, seed: int, sizes: Sizes) -> None:
        transformers_logging.set_verbosity_error()
        self._report = report
        self._device = device
        self._seed = seed
        self._sizes = sizes
        self._dtype = torch.bfloat16 if device.type == "cuda" else torch.float32
        self._listener = WhisperFeatureExtractor(feature_size=128, chunk_length=30)

    def run(self) -> None:
        """Builds the network and measures it."""
        report = self._report
        report.begin("load")
        report.send("load", "s", report.seconds(self._build), [], attention=self._attention)
        for seconds in self._sizes.clips:
            self._measure_clip(seconds)

    def _build(self) -> None:
        hip = is_hip() and self._device.type == "cuda"
        torch.manual_seed(self._seed)
        config = configuration(self._sizes)
        with self._device:
            network: Any = AutoModel.from_config(config, dtype=self._dtype, attn_implementation=attention_for(hip))
        self._network = network.eval().to(self._device, self._dtype)
        self._attention = settle_attention(network, hip=hip)
        self._encoded = 0.0
        network.thinker.audio_tower.register_forward_hook(self._note_encoder)

    def _note_encoder(self, *_: object) -> None:
        synchronise(self._device)
        self._encoded = time.perf_counter()

    def _measure_clip(self, seconds: int) -> None:
        """A clip of noise; mel and encoder, then a fixed number of greedy tokens."""
        report, tokens = self._report, TOKENS_A_SECOND * seconds
        report.begin(f"clip_{seconds}")
        samples = np.random.default_rng(self._seed).standard_normal(seconds * RATE).astype(np.float32) * np.float32(0.1)
        whole: list[float] = []
        encoder: list[float] = []
        for _ in range(report.rounds + 1):
            started = time.perf_counter()
            whole.append(report.seconds(lambda: self._transcribe(samples, tokens)))
            encoder.append(self._encoded - started)
        speed = [tokens / (all - part) for all, part in zip(whole, encoder, strict=True)]
        factor = [taken / seconds for taken in whole]
        facts = {"clip_s": seconds, "tokens": tokens}
        report.send(f"asr_{seconds}", "s", whole[0], whole[1:], **facts)
        report.send(f"asr_encoder_{seconds}", "ms", encoder[0] * 1000, [part * 1000 for part in encoder[1:]], **facts)
        report.send(f"asr_speed_{seconds}", "tokens/s", speed[0], speed[1:], **facts)
        report.send(f"asr_real_time_factor_{seconds}", "", factor[0], factor[1:], **facts)

    @torch.inference_mode()
    def _transcribe(self, samples: Samples, tokens: int) -> None:
        heard = self._listener(
            samples,
            sampling_rate=RATE,
            return_attention_mask=True,
            padding="longest",
            truncation=False,
            return_tensors="pt",
        )
        mask = heard["attention_mask"]
        frames = encoder_frames(int(mask.sum()))
        half = _FRAME_TOKENS // 2
        ids = torch.tensor([[_TEXT_TOKEN] * half + [_AUDIO_PAD] * frames + [_TEXT_TOKEN] * half], device=self._device)
        self._network.generate(
            input_ids=ids,
            attention_mask=torch.ones_like(ids),
            input_features=heard["input_features"].to(self._device, self._dtype),
            feature_attention_mask=mask.to(self._device),
            max_new_tokens=tokens,
            min_new_tokens=tokens,
            do_sample=False,
            pad_token_id=_TEXT_TOKEN,
        )


def configuration(sizes: Sizes) -> Qwen3ASRConfig:
    """The package's configuration of these sizes."""
    audio = {
        "d_model": sizes.width,
        "encoder_layers": sizes.layers,
        "encoder_attention_heads": sizes.heads,
        "encoder_ffn_dim": sizes.inner,
        "downsample_hidden_size": sizes.channels,
        "output_dim": sizes.text_width,
        "n_window": 50,
        "n_window_infer": 800,
    }
    text = {
        "vocab_size": sizes.vocabulary,
        "hidden_size": sizes.text_width,
        "intermediate_size": sizes.text_inner,
        "num_hidden_layers": sizes.text_layers,
        "num_attention_heads": sizes.text_heads,
        "num_key_value_heads": sizes.key_heads,
        "head_dim": sizes.head,
        "rope_theta": 1_000_000,
        "rope_scaling": {"rope_type": "default", "mrope_interleaved": True, "mrope_section": [24, 20, 20]},
    }
    return Qwen3ASRConfig({"audio_config": audio, "text_config": text, "audio_token_id": _AUDIO_PAD})


def encoder_frames(mel_frames: int) -> int:
    """How many frames the encoder makes of so many mel frames: 13 of every whole 100, and its three strides' rest."""
    rest = mel_frames % 100
    for _ in range(3):
        rest = (rest - 1) // 2 + 1
    return rest + mel_frames // 100 * 13

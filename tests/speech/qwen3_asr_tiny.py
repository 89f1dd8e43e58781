"""A Qwen3-ASR folder of 0.1 M parameters: the real architecture and the real file names, random weights.

Names and shapes: `modeling_qwen3_asr.py` of qwen-asr 0.0.6, which is not imported: that takes seconds.
"""

import json
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt
from safetensors.numpy import save_file
from tokenizers.pre_tokenizers import ByteLevel

WEIGHTS = "model.safetensors"
FILES = (
    "chat_template.json",
    "config.json",
    "generation_config.json",
    "merges.txt",
    WEIGHTS,
    "preprocessor_config.json",
    "tokenizer_config.json",
    "vocab.json",
)
MERGES = ("t h", "th e", "a n", "an d", "i n", "in g", "o u", "Ġ s", "Ġ w", "Ġ m", "e r", "o n")
SPECIAL = ("<|endoftext|>", "<|im_start|>", "<|im_end|>", "<|audio_start|>", "<|audio_end|>", "<|audio_pad|>")
TEXT_TAG = "<asr_text>"
AUDIO = {"audio_bos_token": "<|audio_start|>", "audio_eos_token": "<|audio_end|>", "audio_token": "<|audio_pad|>"}
CHAT = (
    "{% for message in messages %}{{ '<|im_start|>' + message.role + '\\n' }}"
    "{% if message.content is string %}{{ message.content }}{% else %}"
    "{% for part in message.content %}{% if part.type == 'audio' %}<|audio_start|><|audio_pad|><|audio_end|>"
    "{% endif %}{% endfor %}{% endif %}{{ '<|im_end|>\\n' }}{% endfor %}"
    "{% if add_generation_prompt %}{{ '<|im_start|>assistant\\n' }}{% endif %}"
)

AUDIO_WIDTH, AUDIO_INNER, AUDIO_LAYERS, MELS, CHANNELS = 32, 64, 2, 128, 8
WIDTH, INNER, LAYERS, HEADS, KEY_HEADS, HEAD = 32, 64, 2, 4, 2, 16


def save_tiny_model(folder: Path, seed: int = 1) -> None:
    """Write the eight files to `folder`, which is made where it is missing. The same seed gives the same bytes.

    What the network says is noise out of the merged syllables. It never ends by itself, because qwen-asr ends on token
    numbers of the published vocabulary: every answer has as many tokens as its audio allows.
    """
    folder.mkdir(parents=True, exist_ok=True)
    vocabulary = _vocabulary()
    numbers = {token: len(vocabulary) + place for place, token in enumerate((*SPECIAL, TEXT_TAG))}
    _write(folder / "vocab.json", vocabulary)
    (folder / "merges.txt").write_text("\n".join(("#version: 0.2", *MERGES, "")), encoding="utf-8", newline="\n")
    _write(folder / "tokenizer_config.json", _tokenizer(numbers))
    _write(folder / "chat_template.json", {"chat_template": CHAT})
    _write(folder / "preprocessor_config.json", _preprocessor())
    _write(folder / "config.json", _config(numbers))
    _write(folder / "generation_config.json", {"do_sample": False, "eos_token_id": numbers["<|im_end|>"]})
    weights = _weights(len(vocabulary) + len(numbers), seed)
    # A row of zeros hardly ever has the highest score among rows of random numbers.
    weights["thinker.lm_head.weight"][: -len(numbers) - len(MERGES)] = 0
    weights["thinker.lm_head.weight"][-len(numbers) :] = 0
    save_file(weights, folder / WEIGHTS, metadata={"format": "pt"})


def _write(path: Path, value: Mapping[str, Any]) -> None:
    path.write_text(json.dumps(value, ensure_ascii=False, indent=1), encoding="utf-8", newline="\n")


def _vocabulary() -> dict[str, int]:
    tokens = [*sorted(ByteLevel.alphabet()), *(merge.replace(" ", "") for merge in MERGES)]
    return {token: number for number, token in enumerate(tokens)}


def _tokenizer(numbers: Mapping[str, int]) -> dict[str, Any]:
    plain = {"lstrip": False, "rstrip": False, "normalized": False, "single_word": False}
    added = {str(number): {"content": token, "special": token in SPECIAL, **plain} for token, number in numbers.items()}
    return {
        "tokenizer_class": "Qwen2Tokenizer",
        "processor_class": "Qwen3ASRProcessor",
        "added_tokens_decoder": added,
        "extra_special_tokens": AUDIO,
        "eos_token": "<|im_end|>",
        "pad_token": "<|endoftext|>",
        "unk_token": None,
        "model_max_length": 131_072,
    }


def _preprocessor() -> dict[str, Any]:
    return {
        "feature_extractor_type": "WhisperFeatureExtractor",
        "processor_class": "Qwen3ASRProcessor",
        "feature_size": MELS,
        "sampling_rate": 16_000,
        "hop_length": 160,
        "n_fft": 400,
        "chunk_length": 30,
        "n_samples": 480_000,
        "nb_max_frames": 3000,
        "padding_side": "right",
        "padding_value": 0.0,
        "return_attention_mask": True,
    }


def _config(numbers: Mapping[str, int]) -> dict[str, Any]:
    rows = max(numbers.values()) + 1
    audio = {
        "model_type": "qwen3_asr_audio_encoder",
        "num_mel_bins": MELS,
        "d_model": AUDIO_WIDTH,
        "encoder_layers": AUDIO_LAYERS,
        "encoder_attention_heads": 2,
        "encoder_ffn_dim": AUDIO_INNER,
        "downsample_hidden_size": CHANNELS,
        "output_dim": WIDTH,
        "n_window": 50,
        "n_window_infer": 800,
        "conv_chunksize": 500,
        "max_source_positions": 1500,
    }
    text = {
        "model_type": "qwen3_asr_text",
        "vocab_size": rows,
        "hidden_size": WIDTH,
        "intermediate_size": INNER,
        "num_hidden_layers": LAYERS,
        "num_attention_heads": HEADS,
        "num_key_value_heads": KEY_HEADS,
        "head_dim": HEAD,
        "max_position_embeddings": 65_536,
        "rope_theta": 1_000_000,
        "rope_scaling": {"rope_type": "default", "mrope_interleaved": True, "mrope_section": [4, 2, 2]},
        "tie_word_embeddings": False,
    }
    return {
        "model_type": "qwen3_asr",
        "architectures": ["Qwen3ASRForConditionalGeneration"],
        "transformers_version": "4.57.1",
        "support_languages": ["Chinese", "English"],
        "thinker_config": {
            "model_type": "qwen3_asr",
            "audio_config": audio,
            "text_config": text,
            "audio_token_id": numbers["<|audio_pad|>"],
            "audio_start_token_id": numbers["<|audio_start|>"],
            "tie_word_embeddings": False,
        },
    }


def _weights(rows: int, seed: int) -> dict[str, npt.NDArray[np.float32]]:
    """Random weights, norms 1. The decoder's layers add more than usual, so that the text depends on all before it."""
    draw = np.random.default_rng(seed)
    found: dict[str, npt.NDArray[np.float32]] = {}
    for name, shape in _shapes(rows):
        values = draw.standard_normal(shape, np.float32)
        if len(shape) > 1:
            loud = name.endswith(("o_proj.weight", "down_proj.weight"))
            found[name] = values * np.float32((3 if loud else 1) / np.sqrt(np.prod(shape[1:])))
        else:
            found[name] = values * np.float32(0.1) if name.endswith("bias") else np.ones(shape, np.float32)
    return found


def _shapes(rows: int) -> Iterator[tuple[str, tuple[int, ...]]]:
    for name, shape in _audio_shapes():
        yield f"thinker.audio_tower.{name}.weight", shape
        if name != "conv_out":
            yield f"thinker.audio_tower.{name}.bias", shape[:1]
    for name, shape in _text_shapes():
        yield f"thinker.model.{name}.weight", shape
    yield "thinker.model.embed_tokens.weight", (rows, WIDTH)
    yield "thinker.lm_head.weight", (rows, WIDTH)


def _audio_shapes() -> Iterator[tuple[str, tuple[int, ...]]]:
    yield "conv2d1", (CHANNELS, 1, 3, 3)
    yield "conv2d2", (CHANNELS, CHANNELS, 3, 3)
    yield "conv2d3", (CHANNELS, CHANNELS, 3, 3)
    yield "conv_out", (AUDIO_WIDTH, CHANNELS * MELS // 8)
    yield "ln_post", (AUDIO_WIDTH,)
    yield "proj1", (AUDIO_WIDTH, AUDIO_WIDTH)
    yield "proj2", (WIDTH, AUDIO_WIDTH)
    for layer in range(AUDIO_LAYERS):
        for part in ("q", "k", "v", "out"):
            yield f"layers.{layer}.self_attn.{part}_proj", (AUDIO_WIDTH, AUDIO_WIDTH)
        yield f"layers.{layer}.self_attn_layer_norm", (AUDIO_WIDTH,)
        yield f"layers.{layer}.final_layer_norm", (AUDIO_WIDTH,)
        yield f"layers.{layer}.fc1", (AUDIO_INNER, AUDIO_WIDTH)
        yield f"layers.{layer}.fc2", (AUDIO_WIDTH, AUDIO_INNER)


def _text_shapes() -> Iterator[tuple[str, tuple[int, ...]]]:
    yield "norm", (WIDTH,)
    for layer in range(LAYERS):
        stem = f"layers.{layer}"
        yield f"{stem}.input_layernorm", (WIDTH,)
        yield f"{stem}.post_attention_layernorm", (WIDTH,)
        yield f"{stem}.self_attn.q_proj", (HEADS * HEAD, WIDTH)
        yield f"{stem}.self_attn.k_proj", (KEY_HEADS * HEAD, WIDTH)
        yield f"{stem}.self_attn.v_proj", (KEY_HEADS * HEAD, WIDTH)
        yield f"{stem}.self_attn.o_proj", (WIDTH, HEADS * HEAD)
        yield f"{stem}.self_attn.q_norm", (HEAD,)
        yield f"{stem}.self_attn.k_norm", (HEAD,)
        yield f"{stem}.mlp.gate_proj", (INNER, WIDTH)
        yield f"{stem}.mlp.up_proj", (INNER, WIDTH)
        yield f"{stem}.mlp.down_proj", (WIDTH, INNER)

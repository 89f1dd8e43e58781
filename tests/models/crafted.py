"""Real checkpoint files, small: full shapes over storages of one number, saved by torch itself."""

import json
import sys
import types
from collections import OrderedDict
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

import numpy as np
import soundfile
import torch
from safetensors.torch import save_file
from torch import Tensor

from rocm_wizard.models.book import load_book, load_layout
from rocm_wizard.models.problem import Problem, Refused
from rocm_wizard.models.tts_models import TtsModelFiles


def filled(shape: tuple[int, ...], dtype: torch.dtype = torch.float16) -> Tensor:
    """A tensor of that shape that takes a few bytes on disk."""
    return torch.zeros(1, dtype=dtype).expand(shape)


def state_of(layout: str, prefix: str = "") -> dict[str, Tensor]:
    """All tensors of a published network."""
    return {prefix + name: filled(shape) for name, shape in load_layout(layout).shapes.items()}


def with_weight_norm(state: Mapping[str, Tensor], prefix: str = "") -> dict[str, Tensor]:
    """The weights under a prefix split into length and direction, as published files have them."""
    split: dict[str, Tensor] = {}
    for name, tensor in state.items():
        if name.startswith(prefix) and name.endswith(".weight"):
            split |= {f"{name}_v": tensor, f"{name}_g": filled((tensor.shape[0], 1, 1))}
        else:
            split[name] = tensor
    return split


def v3_state() -> dict[str, Tensor]:
    """All tensors of a SoVITS v3 file."""
    return with_weight_norm(state_of("sovits_v3"), "wns1.enc.")


def hparams(values: Mapping[str, Any]) -> Any:
    """Settings as GPT-SoVITS pickles them: an object of the class `utils.HParams`, nested."""
    module = sys.modules.setdefault("utils", types.ModuleType("utils"))
    if not hasattr(module, "HParams"):
        module.__dict__["HParams"] = type("HParams", (), {"__module__": "utils"})
    made = module.__dict__["HParams"]()
    for name, value in values.items():
        setattr(made, name, hparams(value) if isinstance(value, dict) else value)
    return made


def save(path: Path, content: object, head: str = "PK") -> Path:
    """Saves with torch, then writes the head's two bytes over the first two, as `process_ckpt.py` does."""
    path.parent.mkdir(parents=True, exist_ok=True)
    torch.save(content, path)
    with path.open("r+b") as file:
        file.write(head.encode())
    return path


def gpt(
    path: Path, rows: int = 732, layers: int = 24, change: Callable[[dict[str, Tensor]], object] | None = None
) -> Path:
    """A GPT `.ckpt`."""
    weight = state_of("t2s", "model.")
    weight["model.ar_text_embedding.word_embeddings.weight"] = filled((rows, 512))
    if change is not None:
        change(weight)
    config = {"model": {"n_layer": layers, "head": 16, "phoneme_vocab_size": rows}, "data": {"max_sec": 54}}
    return save(path, OrderedDict(weight=OrderedDict(weight), config=config, info="GPT-e15"))


def sovits(
    path: Path,
    weight: Mapping[str, Tensor] | None = None,
    head: str = "PK",
    version: str | None = "v3",
    **more: object,
) -> Path:
    """A SoVITS `.pth`, of v3 where no weights are given; `version` is what its settings say."""
    model = {"gin_channels": 512} | ({} if version is None else {"version": version})
    config = hparams({"model": model, "data": {"sampling_rate": 32000}})
    state = dict(weight if weight is not None else v3_state())
    return save(path, OrderedDict(weight=state, config=config, info="8epoch_100iteration", **more), head)


def decoder_state(rows: int, **more: tuple[int, ...]) -> dict[str, Tensor]:
    """Enough of a SoVITS v1, v2 or v2Pro network: text embedding, decoder, and what is named."""
    shapes = {"enc_p.text_embedding.weight": (rows, 192), "dec.conv_pre.weight": (512, 192, 7)}
    return {name: filled(shape) for name, shape in {**shapes, **more}.items()}


def lora_state(rank: int = 32) -> dict[str, Tensor]:
    """A v3 LoRA's tensors, as peft names them."""
    stem = "cfm.base_model.model.estimator.transformer_blocks.{}.attn.{}.{}.default.weight"
    state: dict[str, Tensor] = {}
    for block in range(22):
        for part in ("to_q", "to_k", "to_v", "to_out.0"):
            state[stem.format(block, part, "lora_A")] = filled((rank, 1024))
            state[stem.format(block, part, "lora_B")] = filled((1024, rank))
    return state


def lora(path: Path, head: str = "03", rank: int = 32, version: str = "v3") -> Path:
    """A SoVITS LoRA `.pth`."""
    return sovits(path, lora_state(), head, version, lora_rank=rank)


def bigvgan(folder: Path, **changes: object) -> Path:
    """A BigVGAN folder, the convolutions with weight norm as published."""
    config = {"upsample_initial_channel": 1536} | load_book()["folder"]["bigvgan"]["config"]
    config |= load_book()["folder"]["bigvgan"]["mel"] | {"fmax": None, "upsample_rates": [4, 4, 2, 2, 2, 2]}
    write_json(folder / "config.json", config | changes)
    save(folder / "bigvgan_generator.pt", {"generator": with_weight_norm(state_of("bigvgan"))})
    return folder


def hubert(folder: Path, width: int = 768, **changes: object) -> Path:
    """A HuBERT folder with safetensors weights."""
    write_json(
        folder / "config.json", {"model_type": "hubert", "hidden_size": width, "num_hidden_layers": 12} | changes
    )
    write_json(folder / "preprocessor_config.json", {"sampling_rate": 16000})
    name = load_book()["folder"]["hubert"]["tensor"]
    save_file({name: torch.zeros(width, width, dtype=torch.float16)}, folder / "model.safetensors")
    return folder


def bert(folder: Path, width: int = 1024) -> Path:
    """A RoBERTa folder with torch weights and a word list."""
    config = {"model_type": "bert", "hidden_size": width, "num_hidden_layers": 24, "vocab_size": 21128}
    write_json(folder / "config.json", config)
    (folder / "vocab.txt").write_text("[PAD]\n[UNK]\n我\n", encoding="utf-8")
    name = "bert." + load_book()["folder"]["bert"]["tensor"]
    save(folder / "pytorch_model.bin", OrderedDict({name: filled((width, width))}))
    return folder


def nltk(folder: Path) -> Path:
    """NLTK's data for English."""
    entry = load_book()["nltk"]
    for name in [*entry["files"], *(f"{entry['tagger']}/{file}" for file in entry["tagger_files"])]:
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        (folder / name).write_text("{}", encoding="utf-8")
    return folder


def recording(path: Path, seconds: float = 4.0, level: float = 0.2, rate: int = 16000) -> Path:
    """A tone."""
    path.parent.mkdir(parents=True, exist_ok=True)
    time = np.arange(round(seconds * rate)) / rate
    soundfile.write(path, np.clip(level * np.sin(2 * np.pi * 220 * time), -1, 1), rate)
    return path


def voice(folder: Path, language: str = "ja") -> TtsModelFiles:
    """A whole GPT-SoVITS v3 voice that is in order."""
    pretrained = folder / "预 训练"
    return TtsModelFiles(
        gpt=gpt(folder / "声音-e15.ckpt"),
        sovits=sovits(folder / "声音 e8.pth"),
        base=None,
        bigvgan=bigvgan(pretrained / "bigvgan"),
        hubert=hubert(pretrained / "hubert"),
        bert=bert(pretrained / "bert"),
        nltk=nltk(folder / "nltk_data"),
        reference=recording(folder / "参考.wav"),
        reference_text="こんにちは、今日はいい天気ですね。",
        language=language,
    )


def qwen(folder: Path, layers: int = 2, rows: int = 40, shards: int = 0) -> Path:
    """A small Qwen3-ASR folder of all its files; with `shards` its weights are split and indexed."""
    text = {"vocab_size": rows, "hidden_size": 8, "num_hidden_layers": layers}
    thinker = {"model_type": "qwen3_asr_thinker", "text_config": text, "audio_config": {"encoder_layers": layers}}
    config = {
        "model_type": "qwen3_asr",
        "architectures": ["Qwen3ASRForConditionalGeneration"],
        "thinker_config": thinker,
    }
    write_json(folder / "config.json", config)
    write_json(folder / "vocab.json", {chr(65 + number): number for number in range(30)})
    added = {str(number): {"content": f"<|{number}|>"} for number in range(30, 35)}
    write_json(folder / "tokenizer_config.json", {"added_tokens_decoder": added})
    for name in ("chat_template.json", "generation_config.json", "preprocessor_config.json"):
        write_json(folder / name, {"some": "thing"})
    (folder / "merges.txt").write_text("#version: 0.2\nĠ t\nh e\n", encoding="utf-8")
    state = {
        "thinker.model.embed_tokens.weight": torch.zeros(rows, 8, dtype=torch.bfloat16),
        "thinker.model.norm.weight": torch.zeros(8),
        "thinker.audio_tower.conv_out.weight": torch.zeros(8, 8),
    }
    for layer in range(layers):
        state[f"thinker.model.layers.{layer}.input_layernorm.weight"] = torch.zeros(8)
        state[f"thinker.audio_tower.layers.{layer}.self_attn_layer_norm.weight"] = torch.zeros(8)
    if not shards:
        save_file(state, folder / "model.safetensors")
        return folder
    placed: dict[str, str] = {}
    for shard in range(shards):
        name = f"model-{shard + 1:05}-of-{shards:05}.safetensors"
        part = {tensor: state[tensor] for tensor in sorted(state)[shard::shards]}
        save_file(part, folder / name)
        placed |= dict.fromkeys(part, name)
    write_json(folder / "model.safetensors.index.json", {"metadata": {}, "weight_map": placed})
    return folder


def write_json(path: Path, value: object) -> None:
    """UTF-8 JSON; the folder is made."""
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(json.dumps(value, ensure_ascii=False), encoding="utf-8")


def problem_of(call: Callable[[], object]) -> Problem:
    """The problem that a reader refuses with."""
    try:
        found = call()
    except Refused as refused:
        return refused.problem
    raise AssertionError(f"not refused: {found}")

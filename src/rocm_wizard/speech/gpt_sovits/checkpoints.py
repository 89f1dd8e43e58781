"""Loads public checkpoints by their names. Sizes come from the tensors' shapes, so that other widths load too."""

import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import torch
from torch import Tensor, nn

from rocm_wizard.speech.gpt_sovits.bigvgan import BigVgan, BigVganConfig
from rocm_wizard.speech.gpt_sovits.condition import folded_weight_norm
from rocm_wizard.speech.gpt_sovits.dit import DitConfig
from rocm_wizard.speech.gpt_sovits.sovits import SovitsConfig, SovitsV3
from rocm_wizard.speech.gpt_sovits.t2s import T2SConfig, T2SDecoder
from rocm_wizard.speech.gpt_sovits.torch_file import plain, read_torch_file
from rocm_wizard.speech.serve import LoadFailure

type State = dict[str, Tensor]

USUAL_SECONDS = 54.0
"""`data.max_sec` of the public GPT configurations."""
USUAL_HEADS = 16
_TRAINING_ONLY = ("enc_p.proj.", "linear_mel.", "enc_q.")
_LORA_PREFIX = "cfm.base_model.model."


def load_t2s(path: Path, device: torch.device, dtype: torch.dtype) -> tuple[T2SDecoder, float]:
    """The decoder of a GPT `.ckpt` and the longest speech in seconds that it was trained for. Raises LoadFailure."""
    content, _ = read_torch_file(path)
    state = {name.removeprefix("model."): tensor for name, tensor in _weights(path, content).items()}
    if "ar_text_embedding.word_embeddings.weight" not in state:
        raise LoadFailure(f"{path}: no GPT checkpoint (it has no phoneme embedding); is it the SoVITS file?")
    config = plain(content.get("config")) or {}
    sizes = t2s_sizes(state, _number(config, "model", "head", USUAL_HEADS))
    decoder = T2SDecoder(sizes)
    fill(path, decoder, state)
    return ready(decoder, device, dtype), float(_number(config, "data", "max_sec", USUAL_SECONDS))


def load_sovits(path: Path, device: torch.device, dtype: torch.dtype, base: Path | None = None) -> SovitsV3:
    """The synthesiser of a SoVITS v3 `.pth`; a LoRA is merged into its base file. Raises LoadFailure."""
    content, head = read_torch_file(path)
    state = _weights(path, content)
    if head not in (None, "v3", "v3 LoRA"):
        raise LoadFailure(f"{path}: a SoVITS {head} file; this engine speaks v3")
    if "lora_rank" in content or any(".lora_A." in name for name in state):
        if base is None:
            raise LoadFailure(f"{path}: a v3 LoRA; it needs the base file s2Gv3.pth beside the other pretrained models")
        whole = _weights(base, read_torch_file(base)[0])
        state = merged(whole, state)
    if "cfm.estimator.proj_out.weight" not in state:
        raise LoadFailure(f"{path}: no SoVITS v3 checkpoint (it has no CFM); v1 and v2 files have none")
    state = folded_weight_norm(state, ("wns1.",))
    synthesiser = SovitsV3(sovits_sizes(state))
    fill(path, synthesiser, {name: t for name, t in state.items() if not name.startswith(_TRAINING_ONLY)})
    return ready(synthesiser, device, dtype)


def load_bigvgan(path: Path, device: torch.device, dtype: torch.dtype) -> BigVgan:
    """The vocoder in a folder with `config.json` and `bigvgan_generator.pt`. Raises LoadFailure."""
    content, _ = read_torch_file(path / "bigvgan_generator.pt")
    generator = content.get("generator")
    if not isinstance(generator, dict):
        raise LoadFailure(f"{path / 'bigvgan_generator.pt'}: has no part called generator")
    vocoder = BigVgan(bigvgan_sizes(path / "config.json"))
    fill(path, vocoder, folded_weight_norm(generator))
    return ready(vocoder, device, dtype)


def ready[Network: nn.Module](network: Network, device: torch.device, dtype: torch.dtype) -> Network:
    """On its device, and nothing to be trained."""
    return network.eval().requires_grad_(False).to(device, dtype)


def fill(path: Path, network: nn.Module, state: Mapping[str, Tensor]) -> None:
    """Loads by name, all of them. Raises LoadFailure naming what is missing, too much, or of another shape."""
    own = network.state_dict()
    problems = [f"missing {name}" for name in own if name not in state]
    problems += [f"unknown {name}" for name in state if name not in own]
    problems += [
        f"{name} is {list(tensor.shape)}, expected {list(own[name].shape)}"
        for name, tensor in state.items()
        if name in own and tensor.shape != own[name].shape
    ]
    if problems:
        more = f" and {len(problems) - 3} more" if len(problems) > 3 else ""
        raise LoadFailure(f"{path}: the weights do not fit: {'; '.join(problems[:3])}{more}")
    network.load_state_dict(state)


def merged(base: State, lora: State) -> State:
    """The base's weights with low-rank changes added (Hu et al., 2021); the scale is 1, as the trainer writes it."""
    whole = dict(base)
    for name, tensor in lora.items():
        if ".lora_B." in name:
            continue
        plain_name = name.replace(_LORA_PREFIX, "cfm.").replace(".base_layer.", ".")
        if ".lora_A." not in name:
            whole[plain_name] = tensor
            continue
        up = lora.get(name.replace(".lora_A.", ".lora_B."))
        target = f"{plain_name.partition('.lora_A.')[0]}.weight"
        if up is None or target not in base:
            raise LoadFailure(f"the LoRA does not fit its base file: {name}")
        whole[target] = (base[target].float() + up.float() @ tensor.float()).to(base[target].dtype)
    return whole


def t2s_sizes(state: Mapping[str, Tensor], heads: int) -> T2SConfig:
    """A decoder's sizes; how many heads there are shows in no shape."""
    vocabulary = state["ar_audio_embedding.word_embeddings.weight"].shape[0]
    return T2SConfig(
        width=state["bert_proj.weight"].shape[0],
        layers=_count(state, "h.layers."),
        heads=heads,
        inner=state["h.layers.0.linear1.weight"].shape[0],
        vocabulary=vocabulary,
        eos=vocabulary - 1,
        phonemes=state["ar_text_embedding.word_embeddings.weight"].shape[0],
        bert=state["bert_proj.weight"].shape[1],
    )


def sovits_sizes(state: Mapping[str, Tensor]) -> SovitsConfig:
    """A synthesiser's sizes."""

    def size(name: str, axis: int = 0) -> int:
        return state[name].shape[axis]

    estimator = "cfm.estimator."
    width = size(f"{estimator}proj_out.weight", 1)
    dit = DitConfig(
        width=width,
        blocks=_count(state, f"{estimator}transformer_blocks."),
        heads=width // (2 * size(f"{estimator}rotary_embed.inv_freq")),
        inner=size(f"{estimator}transformer_blocks.0.ff.ff.0.0.weight") // width,
        text_blocks=_count(state, f"{estimator}text_embed.text_blocks."),
        position_groups=width // size(f"{estimator}input_embed.conv_pos_embed.conv1d.0.weight", 1),
    )
    channels = size("enc_p.ssl_proj.weight")
    return SovitsConfig(
        channels=channels,
        inner=size("enc_p.encoder_text.ffn_layers.0.conv_1.weight"),
        heads=channels // size("enc_p.encoder_text.attn_layers.0.emb_rel_k", 2),
        layers=_count(state, "enc_p.encoder_text.attn_layers."),
        kernel=size("enc_p.encoder_text.ffn_layers.0.conv_1.weight", 2),
        phonemes=size("enc_p.text_embedding.weight"),
        style=size("ref_enc.fc.fc.weight"),
        style_channels=size("ref_enc.fc.fc.weight", 1),
        style_bins=size("ref_enc.spectral.0.fc.weight", 1),
        semantic=size("ssl_proj.weight"),
        codes=size("quantizer.vq.layers.0._codebook.embed"),
        features=size("bridge.0.weight"),
        feature_layers=_count(state, "wns1.enc.in_layers."),
        mels=size(f"{estimator}proj_out.weight"),
        dit=dit,
    )


def bigvgan_sizes(path: Path) -> BigVganConfig:
    """The sizes in a vocoder's `config.json`. Raises LoadFailure."""
    try:
        said = json.loads(path.read_text(encoding="utf-8"))
        config = BigVganConfig(
            mels=said["num_mels"],
            channels=said["upsample_initial_channel"],
            rates=tuple(said["upsample_rates"]),
            upsample_kernels=tuple(said["upsample_kernel_sizes"]),
            kernels=tuple(said["resblock_kernel_sizes"]),
            dilations=tuple(tuple(each) for each in said["resblock_dilation_sizes"]),
            final_bias=said.get("use_bias_at_final", True),
            final_tanh=said.get("use_tanh_at_final", True),
        )
        kind = (str(said["resblock"]), said["activation"], said["snake_logscale"])
    except (OSError, ValueError, KeyError, TypeError) as error:
        raise LoadFailure(f"{path}: no BigVGAN configuration: {type(error).__name__} {error}") from error
    if kind != ("1", "snakebeta", True):
        raise LoadFailure(f"{path}: another BigVGAN than v2 with snakebeta activations: {kind}")
    return config


def _weights(path: Path, content: Mapping[str, Any]) -> State:
    weight = content.get("weight")
    if not isinstance(weight, dict) or not all(isinstance(tensor, Tensor) for tensor in weight.values()):
        raise LoadFailure(f"{path}: has no part called weight; was it exported for inference?")
    return dict(weight)


def _count(state: Mapping[str, Tensor], prefix: str) -> int:
    return len({name.removeprefix(prefix).partition(".")[0] for name in state if name.startswith(prefix)})


def _number(config: Any, section: str, name: str, default: float) -> Any:
    part = config.get(section) if isinstance(config, dict) else None
    value = part.get(name) if isinstance(part, dict) else None
    return value if isinstance(value, int | float) and not isinstance(value, bool) and value > 0 else default

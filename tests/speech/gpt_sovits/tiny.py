"""Small networks with seeded random weights, and the files that real ones of their kind come in."""

import json
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import torch
from torch import Tensor, nn

from rocm_wizard.speech.gpt_sovits.bigvgan import BigVgan, BigVganConfig
from rocm_wizard.speech.gpt_sovits.dit import DitConfig
from rocm_wizard.speech.gpt_sovits.files import BIGVGAN, HUBERT
from rocm_wizard.speech.gpt_sovits.networks import Networks, random_networks
from rocm_wizard.speech.gpt_sovits.sovits import SovitsConfig, SovitsV3
from rocm_wizard.speech.gpt_sovits.t2s import T2SConfig, T2SDecoder

T2S = T2SConfig(width=64, layers=3, heads=4, inner=128, bert=32)
SOVITS = SovitsConfig(
    channels=32,
    inner=48,
    style=64,
    style_channels=32,
    semantic=48,
    features=64,
    feature_layers=3,
    dit=DitConfig(width=64, blocks=2, heads=4, text_blocks=2, position_groups=8),
)
VOCODER = BigVganConfig(channels=64)


def tiny_networks(seed: int = 1) -> Networks:
    """All three on the CPU."""
    return random_networks(torch.device("cpu"), seed, t2s=T2S, sovits=SOVITS, vocoder=VOCODER)


def with_weight_norm(network: nn.Module, state: dict[str, Tensor], *prefixes: str) -> dict[str, Tensor]:
    """The convolutions' weights under the prefixes split into length and direction, as training leaves them."""
    split = dict(state)
    for name, module in network.named_modules():
        key = f"{name}.weight"
        if name.startswith(prefixes) and isinstance(module, nn.Conv1d | nn.ConvTranspose1d):
            weight = split.pop(key)
            split[f"{key}_g"] = weight.flatten(1).norm(dim=1).view(-1, 1, 1)
            split[f"{key}_v"] = weight * 0.5
    return split


def save_gpt(path: Path, decoder: T2SDecoder) -> None:
    """A GPT `.ckpt`."""
    config: dict[str, Any] = {"model": {"head": decoder.config.heads}, "data": {"max_sec": 54}}
    weight = {f"model.{name}": tensor.half() for name, tensor in decoder.state_dict().items()}
    torch.save({"weight": weight, "config": config, "info": "GPT-e15"}, path)


def sovits_weights(synthesiser: SovitsV3) -> dict[str, Tensor]:
    """What a SoVITS v3 file holds under `weight`, with the parts that only training needs."""
    config = synthesiser.config
    state = with_weight_norm(synthesiser, synthesiser.state_dict(), "wns1.enc.")
    state |= {
        "enc_p.proj.weight": torch.zeros(2 * config.channels, config.channels, 1),
        "enc_p.proj.bias": torch.zeros(2 * config.channels),
        "linear_mel.weight": torch.zeros(config.mels, config.features, 1),
        "linear_mel.bias": torch.zeros(config.mels),
    }
    return {name: tensor.half() for name, tensor in state.items()}


def save_sovits(path: Path, weight: dict[str, Tensor], head: bytes = b"PK", **more: Any) -> None:
    """A SoVITS `.pth`; a head other than a zip's replaces its first two bytes."""
    torch.save({"weight": weight, "config": {"model": {"version": "v3"}}, "info": "8epoch_100iteration", **more}, path)
    with path.open("r+b") as file:
        file.write(head)


def save_vocoder(folder: Path, vocoder: BigVgan) -> None:
    """A BigVGAN folder, with weight norm as published."""
    folder.mkdir(parents=True, exist_ok=True)
    config = vocoder.config
    said = {
        "num_mels": config.mels,
        "upsample_initial_channel": config.channels,
        "upsample_rates": config.rates,
        "upsample_kernel_sizes": config.upsample_kernels,
        "resblock_kernel_sizes": config.kernels,
        "resblock_dilation_sizes": config.dilations,
        "use_bias_at_final": config.final_bias,
        "use_tanh_at_final": config.final_tanh,
        "resblock": "1",
        "activation": "snakebeta",
        "snake_logscale": True,
    }
    (folder / "config.json").write_text(json.dumps(said), encoding="utf-8")
    state = with_weight_norm(vocoder, vocoder.state_dict(), "")
    torch.save({"generator": state}, folder / "bigvgan_generator.pt")


@dataclass(frozen=True)
class TinyVoice:
    """Files of a whole small voice, as a person has them."""

    gpt: Path
    sovits: Path
    pretrained: Path
    reference: Path
    reference_text: str = "this is the voice"

    def arguments(self) -> list[str]:
        """The sidecar's options that name them."""
        return [
            *("--engine", "gpt_sovits", "--gpt-model", str(self.gpt), "--sovits-model", str(self.sovits)),
            *("--pretrained", str(self.pretrained)),
        ]


def collapse(decoder: T2SDecoder) -> None:
    """Makes one token likelier than any other whatever was said before."""
    last = decoder.h.layers[-1].get_submodule("norm2")
    assert isinstance(last, nn.LayerNorm)
    with torch.no_grad():
        last.bias.fill_(1.0)
        decoder.ar_predict_layer.weight[7] = 100.0


def save_tiny_voice(folder: Path, *, collapsed: bool = False) -> TinyVoice:
    """Checkpoints, pretrained models and a reference recording of 4 s in a folder."""
    import numpy as np
    import soundfile
    from transformers import HubertConfig, HubertModel

    voice = TinyVoice(
        folder / "声音 e15.ckpt", folder / "voice s8.pth", folder / "pretrained", folder / "reference.wav"
    )
    networks = tiny_networks()
    if collapsed:
        collapse(networks.t2s)
    save_vocoder(voice.pretrained / BIGVGAN, networks.vocoder)
    save_gpt(voice.gpt, networks.t2s)
    save_sovits(voice.sovits, sovits_weights(networks.sovits), b"02")
    torch.manual_seed(1)
    hubert = HubertConfig(
        hidden_size=SOVITS.semantic,
        num_hidden_layers=2,
        num_attention_heads=4,
        intermediate_size=64,
        conv_dim=(16,) * 7,
        num_conv_pos_embeddings=16,
        num_conv_pos_embedding_groups=4,
    )
    HubertModel(hubert).save_pretrained(voice.pretrained / HUBERT)
    at = np.arange(4 * 24_000) / 24_000
    sound = 0.3 * np.sin(2 * np.pi * 140 * at) * (0.6 + 0.4 * np.sin(2 * np.pi * 3 * at))
    soundfile.write(voice.reference, sound.astype(np.float32), 24_000)
    return voice

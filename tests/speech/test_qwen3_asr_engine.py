"""The qwen3_asr engine in this process: attention on HIP, gaps in the weights, the package's own way beside ours."""

from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch
from safetensors.numpy import load_file, save_file

from rocm_wizard.speech.asr_engine import token_limit
from rocm_wizard.speech.qwen3_asr import (
    Qwen3Asr,
    attention_name,
    attention_used,
    load_network,
    settle_attention,
    warm_up_wanted,
)
from rocm_wizard.speech.qwen3_asr_folder import check_folder
from rocm_wizard.speech.serve import LoadFailure
from tests.speech.qwen3_asr_tiny import WEIGHTS, save_tiny_model

CPU = torch.device("cpu")
CLIP = np.random.default_rng(3).standard_normal(32_000).astype(np.float32) * np.float32(0.1)


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The small random model."""
    found = tmp_path_factory.mktemp("qwen")
    save_tiny_model(found)
    return found


def network_asked_for_eager(folder: Path) -> Any:
    """The network as it is loaded on HIP, here on the CPU."""
    return load_network(folder, CPU, torch.float32, "eager")


def test_the_engine_hears_what_the_package_alone_hears(folder: Path) -> None:
    from qwen_asr import Qwen3ASRModel

    alone = Qwen3ASRModel.from_pretrained(str(folder), dtype=torch.float32, device_map="cpu", max_new_tokens=32)
    expected = alone.transcribe((CLIP, 16_000), context="Kurisu", language="Japanese")[0].text
    engine = Qwen3Asr(CPU, check_folder(folder), {"QWEN3_ASR_WARMUP": "1"})
    heard = engine.transcribe(CLIP, "Japanese", "Kurisu")
    assert (heard.text, heard.language, heard.tokens) == (expected.strip(), "Japanese", 32)
    assert engine.warm_up() == 0


def test_eager_reaches_the_inner_networks_only_through_the_setter(folder: Path) -> None:
    network = network_asked_for_eager(folder)
    assert attention_used(network) == {"eager", "sdpa"}
    assert settle_attention(network, hip=True) == "eager_recursive"
    assert attention_used(network) == {"eager"}


def test_without_the_setter_the_fallback_is_told(folder: Path) -> None:
    network = network_asked_for_eager(folder)
    network.set_attn_implementation = None
    assert settle_attention(network, hip=True) == "eager+math_sdp"
    assert attention_used(network) == {"eager", "sdpa"}


def test_a_setter_that_changes_nothing_is_a_load_failure(folder: Path) -> None:
    network = network_asked_for_eager(folder)
    network.set_attn_implementation = str
    with pytest.raises(LoadFailure, match="attention is eager, sdpa though eager was set"):
        settle_attention(network, hip=True)


def test_other_devices_keep_scaled_dot_product_attention(folder: Path) -> None:
    network = load_network(folder, CPU, torch.float32, "sdpa")
    assert settle_attention(network, hip=False) == "sdpa"
    assert attention_used(network) == {"sdpa"}


def test_eager_and_scaled_dot_product_attention_give_the_same_numbers(folder: Path) -> None:
    networks = [network_asked_for_eager(folder), load_network(folder, CPU, torch.float32, "sdpa")]
    settle_attention(networks[0], hip=True)
    tokens = torch.arange(40)[None]
    with torch.no_grad():
        first, second = (network.thinker(input_ids=tokens).logits for network in networks)
    assert float(first.abs().max()) > 1
    assert float((first - second).abs().max()) < 1e-4


@pytest.mark.parametrize(
    ("hip", "setter", "name"),
    [(False, True, "sdpa"), (False, False, "sdpa"), (True, True, "eager_recursive"), (True, False, "eager+math_sdp")],
)
def test_attention_by_device_and_setter(hip: bool, setter: bool, name: str) -> None:
    assert attention_name(hip=hip, setter=setter) == name


@pytest.mark.parametrize("tensor", ["thinker.audio_tower.proj1.bias", "thinker.model.layers.1.mlp.up_proj.weight"])
def test_a_gap_in_the_weights_is_not_filled_with_random_numbers(tmp_path: Path, tensor: str) -> None:
    save_tiny_model(tmp_path)
    weights = load_file(tmp_path / WEIGHTS)
    del weights[tensor]
    save_file(weights, tmp_path / WEIGHTS, metadata={"format": "pt"})
    with pytest.raises(LoadFailure, match=tensor):
        Qwen3Asr(CPU, check_folder(tmp_path), {})


@pytest.mark.parametrize(
    ("kind", "setting", "hip", "wanted"),
    [
        ("cuda", None, True, True),
        ("cuda", None, False, False),
        ("cuda", "1", False, True),
        ("cuda", "", False, True),
        ("cuda", " Off ", True, False),
        ("cuda", "no", True, False),
        ("cpu", "1", False, False),
        ("mps", "1", False, False),
    ],
)
def test_warm_up_is_for_gpus_and_by_default_for_hip(kind: str, setting: str | None, hip: bool, wanted: bool) -> None:
    assert warm_up_wanted(kind, setting, hip=hip) is wanted


@pytest.mark.parametrize(
    ("seconds", "tokens"), [(0.01, 32), (3.2, 32), (3.29, 32), (3.3, 33), (12.99, 129), (25.6, 256), (30, 256)]
)
def test_token_limit(seconds: float, tokens: int) -> None:
    assert token_limit(seconds) == tokens

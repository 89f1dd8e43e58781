"""Real file formats with small contents: what loads, what is refused, and that nothing in a file runs."""

import pickle
from pathlib import Path

import pytest
import torch

from rocm_wizard.speech.gpt_sovits.checkpoints import load_bigvgan, load_sovits, load_t2s
from rocm_wizard.speech.gpt_sovits.networks import Networks
from rocm_wizard.speech.gpt_sovits.torch_file import read_torch_file
from rocm_wizard.speech.serve import LoadFailure
from tests.speech.gpt_sovits.tiny import (
    SOVITS,
    T2S,
    VOCODER,
    save_gpt,
    save_sovits,
    save_vocoder,
    sovits_weights,
    tiny_networks,
)

CPU, FLOAT = torch.device("cpu"), torch.float32


@pytest.fixture(scope="module")
def networks() -> Networks:
    return tiny_networks()


def test_a_gpt_checkpoint(tmp_path: Path, networks: Networks) -> None:
    path = tmp_path / "声音 e15.ckpt"
    save_gpt(path, networks.t2s)
    decoder, seconds = load_t2s(path, CPU, FLOAT)
    assert decoder.config == T2S
    assert seconds == 54
    assert torch.allclose(decoder.bert_proj.weight, networks.t2s.bert_proj.weight, atol=1e-3)


@pytest.mark.parametrize("head", [b"PK", b"02"])
def test_a_sovits_checkpoint_with_either_head(tmp_path: Path, networks: Networks, head: bytes) -> None:
    path = tmp_path / "voice.pth"
    save_sovits(path, sovits_weights(networks.sovits), head)
    loaded = load_sovits(path, CPU, FLOAT)
    assert loaded.config == SOVITS
    weight, own = (network.wns1.enc.in_layers[0].weight for network in (loaded, networks.sovits))
    assert isinstance(weight, torch.Tensor) and isinstance(own, torch.Tensor)
    assert torch.allclose(weight, own, atol=2e-3)
    assert read_torch_file(path)[1] == (None if head == b"PK" else "v3")


def test_a_lora_is_merged_into_its_base(tmp_path: Path, networks: Networks) -> None:
    base, path = tmp_path / "s2Gv3.pth", tmp_path / "lora.pth"
    save_sovits(base, sovits_weights(networks.sovits))
    name = "estimator.transformer_blocks.1.attn.to_q"
    down, up = torch.randn(4, 64).half(), torch.randn(64, 4).half()
    lora = {
        f"cfm.base_model.model.{name}.lora_A.default.weight": down,
        f"cfm.base_model.model.{name}.lora_B.default.weight": up,
    }
    save_sovits(path, lora, b"03", lora_rank=4)
    with pytest.raises(LoadFailure, match="needs the base file"):
        load_sovits(path, CPU, FLOAT)
    merged, plain = load_sovits(path, CPU, FLOAT, base), load_sovits(base, CPU, FLOAT)
    changed = merged.state_dict()[f"cfm.{name}.weight"] - plain.state_dict()[f"cfm.{name}.weight"]
    assert torch.allclose(changed, up.float() @ down.float(), atol=2e-2)
    same = "cfm.estimator.transformer_blocks.1.attn.to_k.weight"
    assert torch.equal(merged.state_dict()[same], plain.state_dict()[same])


def test_a_vocoder_folder(tmp_path: Path, networks: Networks) -> None:
    save_vocoder(tmp_path / "bigvgan", networks.vocoder)
    loaded = load_bigvgan(tmp_path / "bigvgan", CPU, FLOAT)
    assert loaded.config == VOCODER
    mel = torch.randn(1, 100, 9)
    assert float((loaded(mel) - networks.vocoder(mel)).abs().max()) < 1e-5


def test_other_versions_are_named(tmp_path: Path, networks: Networks) -> None:
    for head, version in ((b"01", "v2"), (b"04", "v4 LoRA"), (b"06", "v2ProPlus")):
        save_sovits(tmp_path / "other.pth", sovits_weights(networks.sovits), head)
        with pytest.raises(LoadFailure, match=f"a SoVITS {version} file"):
            load_sovits(tmp_path / "other.pth", CPU, FLOAT)


def test_the_two_files_exchanged_are_told_apart(tmp_path: Path, networks: Networks) -> None:
    save_gpt(tmp_path / "gpt", networks.t2s)
    save_sovits(tmp_path / "sovits", sovits_weights(networks.sovits))
    with pytest.raises(LoadFailure, match="is it the SoVITS file"):
        load_t2s(tmp_path / "sovits", CPU, FLOAT)
    with pytest.raises(LoadFailure, match="no SoVITS v3 checkpoint"):
        load_sovits(tmp_path / "gpt", CPU, FLOAT)


def test_weights_that_do_not_fit_are_named(tmp_path: Path, networks: Networks) -> None:
    weight = sovits_weights(networks.sovits)
    del weight["wns1.proj.bias"]
    weight["surprise"] = torch.zeros(1).half()
    save_sovits(tmp_path / "broken.pth", weight)
    with pytest.raises(LoadFailure, match=r"missing wns1\.proj\.bias; unknown surprise"):
        load_sovits(tmp_path / "broken.pth", CPU, FLOAT)


class Hostile:
    """Writes a file when it is unpickled."""

    def __init__(self, target: Path) -> None:
        self._target = target

    def __reduce__(self) -> tuple[object, tuple[object, ...]]:
        return Path.write_text, (self._target, "it ran", "utf-8")


@pytest.mark.parametrize("head", [b"PK", b"02"])
def test_a_file_that_wants_to_run_code_is_refused_and_nothing_runs(tmp_path: Path, head: bytes) -> None:
    trace = tmp_path / "trace"
    save_sovits(tmp_path / "evil.pth", {}, head, payload=Hostile(trace))
    with pytest.raises(LoadFailure, match="holds more than tensors"):
        load_sovits(tmp_path / "evil.pth", CPU, FLOAT)
    assert not trace.exists()
    with (tmp_path / "bare.pth").open("wb") as file:
        pickle.dump(Hostile(trace), file)
    with pytest.raises(LoadFailure, match="no torch file"):
        load_sovits(tmp_path / "bare.pth", CPU, FLOAT)
    assert not trace.exists()


@pytest.mark.parametrize("kept", [0, 1, 2, 30, 2000, -30])
def test_a_file_cut_short(tmp_path: Path, networks: Networks, kept: int) -> None:
    path = tmp_path / "cut.ckpt"
    save_gpt(path, networks.t2s)
    path.write_bytes(path.read_bytes()[:kept])
    with pytest.raises(LoadFailure, match=r"cut\.ckpt"):
        load_t2s(path, CPU, FLOAT)


def test_settings_objects_of_the_training_program_are_read_as_values(tmp_path: Path, networks: Networks) -> None:
    import sys
    import types

    module = types.ModuleType("utils")
    hparams = type("HParams", (), {"__module__": "utils"})
    module.HParams = hparams  # type: ignore[attr-defined]
    sys.modules["utils"] = module
    try:
        settings = hparams()
        vars(settings)["version"] = "v3"
        torch.save(
            {"weight": sovits_weights(networks.sovits), "config": settings, "path": Path("logs/x")}, tmp_path / "h.pth"
        )
    finally:
        del sys.modules["utils"]
    assert load_sovits(tmp_path / "h.pth", CPU, FLOAT).config == SOVITS

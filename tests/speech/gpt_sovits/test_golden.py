"""Our networks against the reference's numbers at full size: every golden key, weights loaded by the public names."""

from collections.abc import Iterator
from pathlib import Path

import pytest
import torch
from torch import Tensor

from rocm_wizard.speech.gpt_sovits.bigvgan import BigVgan, BigVganConfig
from rocm_wizard.speech.gpt_sovits.checkpoints import fill, sovits_sizes, t2s_sizes
from rocm_wizard.speech.gpt_sovits.condition import folded_weight_norm
from rocm_wizard.speech.gpt_sovits.sovits import SovitsConfig, SovitsV3
from rocm_wizard.speech.gpt_sovits.t2s import T2SConfig, T2SDecoder
from rocm_wizard.speech.gpt_sovits.t2s_sampling import Sampling
from tests.speech.gpt_sovits.pseudo_weights import (
    expected,
    names_of,
    needs_golden,
    pseudo_ids,
    pseudo_input,
    pseudo_state,
)

pytestmark = [needs_golden, pytest.mark.slow]
HERE = Path("the pseudo-weights")
WITHIN = 1e-4


def worst(found: Tensor, key: str) -> float:
    """The largest difference to the reference."""
    wanted = expected(key)
    assert found.shape == wanted.shape
    return float((found - wanted).abs().max())


@pytest.fixture(scope="module")
def sovits() -> Iterator[SovitsV3]:
    state = folded_weight_norm(pseudo_state("sovits_v3"), ("wns1.",))
    sizes = sovits_sizes(state)
    assert sizes == SovitsConfig()
    network = SovitsV3(sizes)
    unused = ("enc_p.proj.", "linear_mel.")
    fill(HERE, network, {name: tensor for name, tensor in state.items() if not name.startswith(unused)})
    yield network.eval()


def test_condition_features(sovits: SovitsV3) -> None:
    ge = sovits.style(pseudo_input("refer", 1, 1025, 60).abs())
    assert worst(ge, "encp.ge") < WITHIN
    codes, phones = pseudo_ids("codes", 1024, 24), pseudo_ids("phones", 732, 17)
    assert worst(sovits.features(codes, phones, ge), "encp.fea") < WITHIN
    assert worst(sovits.features(codes, phones, ge, 1.25), "encp.fea_speed_1.25") < WITHIN


def test_semantic_codes(sovits: SovitsV3) -> None:
    assert torch.equal(sovits.semantic_codes(pseudo_input("ssl", 1, 768, 30))[None], expected("ssl.codes"))


def test_estimator(sovits: SovitsV3) -> None:
    dit = sovits.cfm.estimator
    x, cond = (pseudo_input(f"dit.{name}", 1, 100, 40).transpose(1, 2) for name in ("x", "cond"))
    text = pseudo_input("dit.text", 1, 512, 40).transpose(1, 2)
    with torch.inference_mode():
        assert worst(dit.text_embed(text), "dit.text_embed") < WITHIN
        assert worst(dit.d_embed(torch.tensor([0.125])), "dit.d_embed") < WITHIN
        (at,) = dit.modulations(torch.tensor([0.375]), 0.125)
        assert worst(dit(x, at, dit.conditions(cond, text)), "dit.out") < WITHIN


@pytest.mark.parametrize(("temperature", "key"), [(1.0, "cfm.out_4_steps"), (0.7, "cfm.out_4_steps_temp")])
def test_cfm(sovits: SovitsV3, temperature: float, key: str) -> None:
    mu, prompt = pseudo_input("cfm.mu", 1, 40, 512), pseudo_input("cfm.prompt", 1, 100, 12)
    made = sovits.cfm.sample(mu, prompt, pseudo_input("cfm.noise", 1, 100, 40), 4, temperature)
    assert worst(made, key) < WITHIN
    assert not made[:, :, :12].any()


def test_the_all_true_mask_changes_nothing(sovits: SovitsV3) -> None:
    mu, prompt = pseudo_input("cfm.mu", 1, 40, 512), pseudo_input("cfm.prompt", 1, 100, 12)
    noise = pseudo_input("cfm.noise", 1, 100, 40)
    plain = sovits.cfm.sample(mu, prompt, noise, 2)
    masked = sovits.cfm.sample(mu, prompt, noise, 2, mask=torch.ones(1, 1, 1, 40, dtype=torch.bool))
    assert float((plain - masked).abs().max()) < 1e-5
    half = torch.ones(1, 1, 1, 40, dtype=torch.bool)
    half[..., 30:] = False
    assert float((plain - sovits.cfm.sample(mu, prompt, noise, 2, mask=half))[:, :, 12:30].abs().max()) > 1e-3


def vocoder(state: dict[str, Tensor]) -> BigVgan:
    network = BigVgan(BigVganConfig())
    fill(HERE, network, state)
    return network.eval()


def test_vocoder_in_both_spellings() -> None:
    state = pseudo_state("bigvgan_v2_24khz_100band_256x", halved=True)
    mel = pseudo_input("bigvgan.mel", 1, 100, 12)
    found = vocoder(state)(mel)[None]
    assert worst(found, "bigvgan.wav_12") < WITHIN
    spelt: dict[str, Tensor] = {}
    for name in names_of("bigvgan.generator (with weight norm)"):
        if name.endswith(".weight_v"):
            # Any length will do: the gain alone carries it.
            weight = state[name.removesuffix("_v")]
            spelt[name] = weight * 3
            spelt[f"{name.removesuffix('_v')}_g"] = weight.flatten(1).norm(dim=1).view(-1, 1, 1)
        elif not name.endswith(".weight_g"):
            spelt[name] = state[name]
    assert float((vocoder(folded_weight_norm(spelt))(mel)[None] - found).abs().max()) < 1e-5


def test_tokens() -> None:
    state = pseudo_state("t2s_v2_v3")
    sizes = t2s_sizes(state, 16)
    assert sizes == T2SConfig()
    network = T2SDecoder(sizes)
    fill(HERE, network, state)
    prompt = pseudo_ids("t2s.prompt", 1024, 13)
    made = network.eval().generate(
        pseudo_ids("t2s.phones", 732, 21),
        prompt,
        pseudo_input("t2s.bert", 1, 1024, 21),
        sampling=Sampling(top_k=1, repetition_penalty=1.35, fewest_tokens=11),
        most_tokens=41,
    )
    assert torch.cat([prompt[0], made.tokens]).tolist() == expected("t2s.tokens_top1_rep1.35")[0].tolist()
    assert not made.stopped

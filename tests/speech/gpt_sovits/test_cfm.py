"""The sampler: what the prompt, the noise, the mask and the temperature do, with small networks."""

import pytest
import torch
from torch import Tensor

from rocm_wizard.speech.gpt_sovits.cfm import Cfm
from tests.speech.gpt_sovits.tiny import SOVITS, tiny_networks

FRAMES, KNOWN = 30, 12


@pytest.fixture(scope="module")
def cfm() -> Cfm:
    return tiny_networks().sovits.cfm


def inputs(seed: int = 3) -> tuple[Tensor, Tensor, Tensor]:
    source = torch.Generator().manual_seed(seed)
    mu = torch.randn(1, FRAMES, SOVITS.features, generator=source)
    return mu, torch.randn(1, 100, KNOWN, generator=source), torch.randn(1, 100, FRAMES, generator=source)


def full_steps(cfm: Cfm, mu: Tensor, prompt: Tensor, noise: Tensor, steps: int) -> Tensor:
    """Euler's method written out: every frame's velocity at every step, the prompt's frames set back to zero."""
    x = noise.transpose(1, 2).clone()
    held = torch.zeros_like(x)
    held[:, :KNOWN] = prompt.transpose(1, 2)
    x[:, :KNOWN] = 0
    dit = cfm.estimator
    with torch.inference_mode():
        for number in range(steps):
            (at,) = dit.modulations(torch.tensor([number / steps]), 1 / steps)
            x = x + dit(x, at, dit.conditions(held, mu)) / steps
            x[:, :KNOWN] = 0
    return x.transpose(1, 2)


@pytest.mark.parametrize("steps", [1, 4])
def test_leaving_out_the_prompts_velocities_changes_nothing(cfm: Cfm, steps: int) -> None:
    made = cfm.sample(*inputs(), steps)
    assert not made[:, :, :KNOWN].any()
    assert float((made - full_steps(cfm, *inputs(), steps)).abs().max()) < 1e-5


def test_the_same_noise_means_the_same_mel_and_the_inputs_are_left_alone(cfm: Cfm) -> None:
    mu, prompt, noise = inputs()
    kept = noise.clone()
    first = cfm.sample(mu, prompt, noise, 3)
    assert torch.equal(noise, kept)
    assert torch.equal(first, cfm.sample(mu, prompt, noise, 3))
    assert not torch.equal(first, cfm.sample(mu, prompt, inputs(4)[2], 3))


def test_temperature_scales_the_noise(cfm: Cfm) -> None:
    mu, prompt, noise = inputs()
    assert torch.equal(cfm.sample(mu, prompt, noise, 2, 0.5), cfm.sample(mu, prompt, noise * 0.5, 2))


def test_an_all_true_mask_changes_nothing_and_one_with_padding_hides_it_from_attention(cfm: Cfm) -> None:
    mu, prompt, noise = inputs()
    mask = torch.ones(1, 1, 1, FRAMES, dtype=torch.bool)
    plain = cfm.sample(mu, prompt, noise, 3)
    assert float((plain - cfm.sample(mu, prompt, noise, 3, mask=mask)).abs().max()) < 1e-5
    mask[..., -5:] = False
    assert float((plain - cfm.sample(mu, prompt, noise, 3, mask=mask))[:, :, KNOWN:-5].abs().max()) > 1e-4


def test_the_prompt_is_heard(cfm: Cfm) -> None:
    mu, prompt, noise = inputs()
    assert not torch.allclose(cfm.sample(mu, prompt, noise, 2), cfm.sample(mu, prompt + 1, noise, 2), atol=1e-4)

"""Streamed blocks against the whole sentence, padding against the vocoder's receptive field, and seeds."""

import numpy as np
import pytest
import torch

from rocm_wizard.speech.gpt_sovits.bigvgan import BigVgan, BigVganConfig
from rocm_wizard.speech.gpt_sovits.blocks import HOP, block_frames, limited
from rocm_wizard.speech.gpt_sovits.networks import Networks
from rocm_wizard.speech.gpt_sovits.synthesis import Prompt, Renderer, Rendering, reference_prompt
from rocm_wizard.speech.speaker import Block, StageTimes
from tests.speech.gpt_sovits.tiny import SOVITS, VOCODER, tiny_networks

STEPS = 3


@pytest.fixture(scope="module")
def networks() -> Networks:
    return tiny_networks()


def sentence(frames: int, window: int = 60) -> tuple[torch.Tensor, Prompt]:
    source = torch.Generator().manual_seed(9)
    return torch.randn(1, SOVITS.features, frames, generator=source), Prompt(
        torch.randn(1, 100, window, generator=source), torch.randn(1, SOVITS.features, window, generator=source)
    )


def streamed(networks: Networks, frames: int, seed: int = 4, **rendering: float) -> tuple[list[Block], StageTimes]:
    features, prompt = sentence(frames)
    times = StageTimes()
    generator = torch.Generator().manual_seed(seed)
    settings = Rendering(**{"block_s": 0.4, "steps": STEPS, **rendering})
    return list(Renderer(networks).stream(features, prompt, settings, generator, times)), times


def test_blocks_have_the_stated_lengths_and_every_frame_is_spoken_once(networks: Networks) -> None:
    features, prompt = sentence(100)
    blocks = list(
        Renderer(networks).mel_blocks(features, prompt, Rendering(0.4, STEPS), torch.Generator().manual_seed(1))
    )
    assert [block.shape[2] for block in blocks] == [38, 38, 24]


def test_each_block_after_the_first_hangs_on_the_block_before_it_alone(networks: Networks) -> None:
    features, prompt = sentence(100)
    rendering, renderer = Rendering(0.4, STEPS), Renderer(networks)

    def blocks(begin: torch.Tensor, window: Prompt) -> list[torch.Tensor]:
        return list(renderer.mel_blocks(begin, window, rendering, torch.Generator().manual_seed(1)))

    made = blocks(features, prompt)
    (again,) = renderer.mel_blocks(
        features[:, :, 38:76], Prompt(made[0], features[:, :, :38]), rendering, skipping(prompt.frames + 38)
    )
    assert torch.equal(again, made[1])
    later = features.clone()
    later[:, :, 76:] += 1
    assert torch.equal(blocks(later, prompt)[1], made[1])  # no look-ahead
    assert not torch.equal(blocks(features, sentence(1, 80)[1])[0], made[0])


def skipping(frames: int) -> torch.Generator:
    """The generator of seed 1 after the noise of a first pass of so many frames was drawn."""
    generator = torch.Generator().manual_seed(1)
    torch.randn((1, 100, frames), generator=generator)
    return generator


def test_the_window_never_grows_and_takes_the_end_of_the_reference() -> None:
    mel, features = torch.randn(1, 100, 700), torch.randn(1, SOVITS.features, 620)
    prompt = reference_prompt(mel, features)
    assert prompt.frames == 468
    assert torch.equal(prompt.mel, mel[:, :, 152:620])
    assert torch.equal(prompt.features, features[:, :, 152:])


def test_streamed_sound_is_the_whole_sentences_up_to_the_joins(networks: Networks) -> None:
    """The same mels: the vocoder hears each block alone, so samples agree outside its receptive field and the fades."""
    features, prompt = sentence(336)
    renderer = Renderer(networks)
    mels = list(renderer.mel_blocks(features, prompt, Rendering(1.2, STEPS), torch.Generator().manual_seed(4)))
    whole = renderer.wave(torch.cat(mels, dim=2))
    parts = np.concatenate([renderer.wave(mel) for mel in mels])
    assert whole.shape == parts.shape == (336 * HOP,)
    reach = networks.vocoder.receptive_field_frames
    for begin, end in ((0, 112 - reach), (112 + reach, 224 - reach), (224 + reach, 336)):
        inside = slice(begin * HOP, end * HOP)
        assert float(np.abs(whole[inside] - parts[inside]).max()) < 1e-5
    blocks, _ = streamed(networks, 336, block_s=1.2)
    sound = np.concatenate([block.samples for block in blocks])
    assert sound.size <= 336 * HOP
    tail = np.concatenate([limited(renderer.wave(mel)) for mel in mels])[-sound.size :]
    steady = slice(sound.size - 100 * HOP, sound.size - 400)
    assert np.array_equal(sound[steady], tail[steady])


def test_padding_changes_no_sample_beyond_the_receptive_field(networks: Networks) -> None:
    mel = torch.randn(1, 100, 60)
    renderer = Renderer(networks)
    plain, padded = renderer.wave(mel), renderer.wave(mel, bucket_mels=80)
    assert plain.shape == padded.shape == (60 * HOP,)
    reach = networks.vocoder.receptive_field_frames
    assert float(np.abs(plain - padded)[: (60 - reach) * HOP].max()) < 1e-6
    assert float(np.abs(plain - padded)[-HOP:].max()) > 1e-6
    assert np.array_equal(renderer.wave(torch.cat([mel, mel], dim=2), 80), renderer.wave(torch.cat([mel, mel], dim=2)))


def test_blocks_longer_than_the_bucket_share_one_length_too(networks: Networks) -> None:
    lengths: list[int] = []
    handle = networks.vocoder.register_forward_pre_hook(lambda _, given: lengths.append(given[0].shape[2]))
    rendering = Rendering(block_s=1.0, steps=1, bucket_mels=80)
    features, prompt = torch.randn(1, 64, 204), Prompt(torch.randn(1, 100, 120), torch.randn(1, 64, 120))
    for _ in Renderer(networks).stream(features, prompt, rendering, torch.Generator(), StageTimes()):
        pass
    handle.remove()
    assert lengths == [94, 94, 94]


def test_the_receptive_field_is_as_stated() -> None:
    """What is not a number makes everything that depends on it not a number, however small the weights between."""
    vocoder = BigVgan(VOCODER).eval()
    frames, at = 120, 60
    mel = torch.zeros(1, 100, frames)
    mel[:, 0, at] = torch.nan
    touched = vocoder(mel)[0].isnan().view(frames, HOP).any(dim=1)
    where = torch.nonzero(touched).flatten()
    reach = vocoder.receptive_field_frames
    assert (at - int(where.min()), int(where.max()) - at) == (reach, reach)


def test_the_public_vocoders_receptive_field() -> None:
    assert BigVgan(BigVganConfig(channels=64)).receptive_field_frames == BigVgan(VOCODER).receptive_field_frames


def test_a_seed_means_the_same_sound(networks: Networks) -> None:
    first, again, other = (streamed(networks, 90, seed)[0] for seed in (4, 4, 5))
    assert all(np.array_equal(a.samples, b.samples) for a, b in zip(first, again, strict=True))
    assert not np.array_equal(first[-1].samples[-500:], other[-1].samples[-500:])


def test_timed_blocks_carry_their_stages(networks: Networks) -> None:
    blocks, times = streamed(networks, 90, timed=True)
    assert times.counts["blocks"] == 3
    assert sum(block.timing["mel_frames"] for block in blocks if block.timing) == 90
    assert sum(block.timing["cfm_ms"] for block in blocks if block.timing) == pytest.approx(times.ms["cfm"], abs=0.1)
    assert times.ms["bigvgan"] > 0
    plain, times = streamed(networks, 90)
    assert times.ms == {}
    assert plain[0].timing is None


def test_the_whole_sentence_at_once(networks: Networks) -> None:
    features, prompt = sentence(90)
    made = Renderer(networks).whole(
        features, prompt, Rendering(0, STEPS), torch.Generator().manual_seed(4), StageTimes()
    )
    assert 0 < made.samples.size <= 90 * HOP
    assert made.samples[-1] == 0
    assert block_frames(0, prompt.frames) >= 90

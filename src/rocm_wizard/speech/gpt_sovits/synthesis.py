"""From semantic tokens to sound: features of a whole sentence, then CFM and vocoder block by block.

Block one is conditioned on the reference recording, every later one on the block before it; there is no look-ahead,
no overlap and no cross-fade. These are the rules of the host project's preview.
"""

import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass

import torch
from torch import Tensor

from rocm_wizard.speech.devices import synchronise
from rocm_wizard.speech.gpt_sovits.blocks import (
    HOP,
    MOST_PROMPT_FRAMES,
    OnsetGate,
    block_frames,
    faded,
    limited,
    padded,
)
from rocm_wizard.speech.gpt_sovits.mel import denormalise
from rocm_wizard.speech.gpt_sovits.networks import Networks
from rocm_wizard.speech.payload import Samples
from rocm_wizard.speech.speaker import Block, StageTimes


@dataclass(frozen=True)
class Prompt:
    """What a block is conditioned on: a normalised mel [1, 100, T] and the features [1, 512, T] it was made from."""

    mel: Tensor
    features: Tensor

    @property
    def frames(self) -> int:
        """T."""
        return self.mel.shape[2]

    def cut(self, most: int) -> "Prompt":
        """Its last `most` frames."""
        return Prompt(self.mel[:, :, -most:], self.features[:, :, -most:])


def reference_prompt(mel: Tensor, features: Tensor) -> Prompt:
    """The reference window: what mel and features have in common, and of that the last 468 frames."""
    common = min(mel.shape[2], features.shape[2])
    return Prompt(mel[:, :, :common], features[:, :, :common]).cut(MOST_PROMPT_FRAMES)


@dataclass(frozen=True)
class Rendering:
    """How the sentence is rendered: block length (0: the longest), CFM steps, vocoder bucket in mel frames (0: none).

    `timed`: the device is synchronised around every stage and each block carries its times.
    """

    block_s: float
    steps: int
    bucket_mels: int = 0
    timed: bool = False


class Renderer:
    """Renders sentences with one set of networks."""

    def __init__(self, networks: Networks) -> None:
        self._networks = networks

    @torch.inference_mode()
    def mel_blocks(
        self, features: Tensor, prompt: Prompt, rendering: Rendering, generator: torch.Generator
    ) -> Iterator[Tensor]:
        """Normalised mels [1, 100, n] of a sentence, block after block.

        Args:
            features: [1, 512, M] of the whole sentence.
            prompt: the reference window.
            rendering: block length and steps.
            generator: draws the start noise; on the networks' device.
        """
        window = prompt.frames
        length = block_frames(rendering.block_s, window)
        for begin in range(0, features.shape[2], length):
            todo = features[:, :, begin : begin + length]
            condition = torch.cat([prompt.features, todo], dim=2).transpose(1, 2)
            noise = torch.randn(
                (1, prompt.mel.shape[1], condition.shape[1]),
                generator=generator,
                device=condition.device,
                dtype=condition.dtype,
            )
            made = self._networks.sovits.cfm.sample(condition, prompt.mel, noise, rendering.steps)[
                :, :, prompt.frames :
            ]
            prompt = Prompt(made, todo).cut(window)
            yield made

    @torch.inference_mode()
    def wave(self, mel: Tensor, bucket_mels: int = 0) -> Samples:
        """The vocoder's samples of a normalised mel [1, 100, T]: T * 256, whatever the padding."""
        frames = mel.shape[2]
        sound = self._networks.vocoder(padded(denormalise(mel), bucket_mels))
        return sound[0, : frames * HOP].float().cpu().numpy()

    def stream(
        self, features: Tensor, prompt: Prompt, rendering: Rendering, generator: torch.Generator, times: StageTimes
    ) -> Iterator[Block]:
        """The sentence's blocks as they are made, silence before its onset cut away."""
        gate = OnsetGate()
        timing: dict[str, float] = {}
        bucket = rendering.bucket_mels and max(rendering.bucket_mels, block_frames(rendering.block_s, prompt.frames))
        blocks = self.mel_blocks(features, prompt, rendering, generator)
        left, first = features.shape[2], True
        while left > 0:
            with _stage(times, timing, "cfm", self._networks.device, timed=rendering.timed):
                mel = next(blocks)
            with _stage(times, timing, "bigvgan", self._networks.device, timed=rendering.timed):
                samples = limited(self.wave(mel, bucket))
            left -= mel.shape[2]
            timing["mel_frames"] = timing.get("mel_frames", 0) + mel.shape[2]
            times.count("blocks", 1)
            leaving = gate.feed(faded(samples, first=first, last=left <= 0))
            first = False
            if left <= 0 and not leaving.size:
                leaving = gate.flush()
            if leaving.size:
                yield Block(leaving, "", timing if rendering.timed else None)
                timing = {}

    def whole(
        self, features: Tensor, prompt: Prompt, rendering: Rendering, generator: torch.Generator, times: StageTimes
    ) -> Block:
        """The sentence in one piece: blocks as long as fit, one vocoder pass over all of them."""
        timing: dict[str, float] = {}
        with _stage(times, timing, "cfm", self._networks.device, timed=rendering.timed):
            mel = torch.cat(list(self.mel_blocks(features, prompt, rendering, generator)), dim=2)
        with _stage(times, timing, "bigvgan", self._networks.device, timed=rendering.timed):
            samples = limited(self.wave(mel))
        timing["mel_frames"] = mel.shape[2]
        times.count("blocks", 1)
        gate = OnsetGate()
        leaving = gate.feed(samples)
        leaving = leaving if leaving.size else gate.flush()
        return Block(faded(leaving, first=True, last=True), "", timing if rendering.timed else None)


@contextmanager
def _stage(
    times: StageTimes, timing: dict[str, float], name: str, device: torch.device, *, timed: bool
) -> Iterator[None]:
    """Adds the time inside to the request's stage and to the block's own timing; without `timed` it does nothing.

    A GPU works on while Python goes on: a time taken without waiting for the device would be another stage's.
    """
    if not timed:
        yield
        return
    synchronise(device)
    started = time.perf_counter()
    yield
    synchronise(device)
    seconds = time.perf_counter() - started
    times.add(name, seconds)
    timing[f"{name}_ms"] = round(timing.get(f"{name}_ms", 0.0) + seconds * 1000, 2)

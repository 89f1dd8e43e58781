"""Conditional flow matching: from noise to a mel in a few Euler steps, the prompt held fixed (Lipman et al., 2023)."""

import torch
from torch import Tensor, nn

from rocm_wizard.speech.gpt_sovits.dit import Dit, DitConfig


class Cfm(nn.Module):
    """The sampler around the estimator."""

    def __init__(self, mels: int, features: int, config: DitConfig) -> None:
        super().__init__()
        self.mels = mels
        self.estimator = Dit(mels, features, config)

    @torch.inference_mode()
    def sample(
        self,
        mu: Tensor,
        prompt: Tensor,
        noise: Tensor,
        steps: int,
        temperature: float = 1.0,
        mask: Tensor | None = None,
    ) -> Tensor:
        """A normalised mel, zero over the prompt.

        Args:
            mu: [1, T, 512] condition features of prompt and block.
            prompt: [1, mels, Tp] normalised mel, Tp at most T.
            noise: [1, mels, T], standard normal.
            steps: Euler steps; one network pass each, without guidance.
            temperature: scales the noise.
            mask: [1, 1, 1, T], false over padding. None for one unpadded sample, where it would change nothing.

        Returns:
            [1, mels, T].
        """
        known = prompt.shape[2]
        x = (noise * temperature).transpose(1, 2).contiguous()
        x[:, :known] = 0
        held = torch.zeros_like(x)
        held[:, :known] = prompt.transpose(1, 2)
        conditions = self.estimator.conditions(held, mu)
        step = 1 / steps
        times = torch.arange(steps, device=mu.device, dtype=torch.float32).mul(step).to(mu.dtype)
        for modulations in self.estimator.modulations(times, step):
            x[:, known:] += step * self.estimator(x, modulations, conditions, mask, known)
        return x.transpose(1, 2)

"""How the next semantic token is drawn from its scores."""

from dataclasses import dataclass

import torch
from torch import Tensor


@dataclass(frozen=True)
class Sampling:
    """`fewest_tokens`: the end cannot come before so many tokens (0.4 s of speech). `top_k` 1 is greedy."""

    top_k: int = 20
    top_p: float = 0.6
    temperature: float = 0.6
    repetition_penalty: float = 1.35
    fewest_tokens: int = 11


def penalised(scores: Tensor, seen: Tensor, penalty: float) -> Tensor:
    """Scores [V] in which every token of `seen` [V] (true or false) is less likely (Keskar et al., 2019)."""
    return torch.where(seen, torch.where(scores < 0, scores * penalty, scores / penalty), scores)


def draw(scores: Tensor, sampling: Sampling, generator: torch.Generator | None) -> Tensor:
    """A token [1] int64 from penalised scores [V]: nucleus, then temperature, then the best k, then by chance.

    The order is the public engine's: the nucleus is cut before the temperature is applied.
    """
    if sampling.top_k == 1:
        return scores.argmax(dim=0, keepdim=True)
    scores = scores.float()
    if sampling.top_p < 1:
        ordered, index = scores.sort(descending=True)
        beyond = ordered.softmax(dim=0).cumsum(dim=0) > sampling.top_p
        beyond[0] = False
        scores = scores.masked_fill(torch.zeros_like(beyond).scatter(0, index, beyond), -torch.inf)
    scores = scores / max(sampling.temperature, 1e-5)
    if sampling.top_k < scores.shape[0]:
        least = scores.topk(sampling.top_k).values[-1]
        scores = scores.masked_fill(scores < least, -torch.inf)
    waits = torch.empty_like(scores).exponential_(generator=generator)
    return (scores.softmax(dim=0) / waits).argmax(dim=0, keepdim=True)

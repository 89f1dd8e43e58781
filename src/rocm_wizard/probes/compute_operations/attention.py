"""What a decoder does beside products: attention by each backend, its cache, softmax and drawing tokens."""

import math
from typing import Any

from .prepared import Options, Prepared, Unavailable, flat, normal

_NOT_OFFERED = ("No viable backend", "No available kernel", "not compiled", "not built")


def _reference(torch: Any, query: Any, key: Any, value: Any, causal: bool) -> Any:
    scores = query.double() @ key.double().transpose(-1, -2) * query.shape[-1] ** -0.5
    if causal:
        later = torch.ones(scores.shape[-2:], dtype=torch.bool).triu(1)
        scores = scores.masked_fill(later, -math.inf)
    weights = (scores - scores.amax(-1, keepdim=True)).exp()
    return weights / weights.sum(-1, keepdim=True) @ value.double()


def attention(torch: Any, _device: str, options: Options) -> Prepared:
    """Scaled dot-product attention, plain and causal, by one named backend and no other."""
    from torch.nn.attention import SDPBackend, sdpa_kernel

    backend = getattr(SDPBackend, options["backend"])
    dtype = getattr(torch, options["dtype"])
    query, key, value = (normal(torch, seed, 1, 4, 96, 64).to(dtype) for seed in (81, 82, 83))
    attend = torch.nn.functional.scaled_dot_product_attention

    def on_device(q: Any, k: Any, v: Any) -> Any:
        try:
            with sdpa_kernel(backend):
                return flat(torch, [attend(q, k, v, is_causal=causal) for causal in (False, True)])
        except RuntimeError as error:
            if any(words in str(error) for words in _NOT_OFFERED):
                raise Unavailable(str(error)) from error
            raise

    expected = flat(torch, [_reference(torch, query, key, value, causal) for causal in (False, True)])
    return Prepared([query, key, value], on_device, expected)


def kv_cache(torch: Any, _device: str, _options: Options) -> Prepared:
    """Keys copied into a cache by index, one position overwritten, two beams exchanged: exact, or it is broken."""
    new, single = normal(torch, 84, 2, 4, 3, 16), normal(torch, 85, 2, 4, 16)
    positions, beams = [40, 5, 6], [1, 0]

    def on_device(keys: Any, one: Any, where: Any, order: Any) -> Any:
        cache = torch.zeros(2, 4, 64, 16, device=keys.device)
        cache.index_copy_(2, where, keys)
        cache[:, :, 7] = one
        return cache.index_select(0, order)

    expected = torch.zeros(2, 4, 64, 16, dtype=torch.float64)
    for beam, source in enumerate(beams):
        for index, position in enumerate(positions):
            expected[beam, :, position] = new[source, :, index].double()
        expected[beam, :, 7] = single[source].double()
    return Prepared([new, single, torch.tensor(positions), torch.tensor(beams)], on_device, expected)


def softmax(torch: Any, _device: str, _options: Options) -> Prepared:
    """Softmax over 1,000 logits with a part masked out, as before a token is drawn."""
    logits = normal(torch, 86, 64, 1000) * 6
    logits[:, 900:] = -math.inf
    weights = (logits.double() - logits.double().amax(-1, keepdim=True)).exp()
    expected = weights / weights.sum(-1, keepdim=True)
    return Prepared([logits], lambda x: torch.softmax(x, -1), expected)


def multinomial(torch: Any, device: str, options: Options) -> Prepared:
    """How often each of eight tokens is drawn, seeded. A token of probability nought must never appear.

    Its frequency is multiplied by the number of draws, so that a single one is an error of one.
    """
    chances = [0.3, 0.25, 0.2, 0.1, 0.08, 0.05, 0.02, 0.0]
    draws = options["draws"]

    def on_device(weights: Any) -> Any:
        generator = torch.Generator(device=device).manual_seed(87)
        drawn = torch.multinomial(weights, draws, replacement=True, generator=generator)
        tokens = torch.arange(len(chances), device=weights.device)
        frequency = (drawn[:, None] == tokens).sum(0).float() / draws
        frequency[-1] *= draws
        return frequency

    return Prepared([torch.tensor(chances)], on_device, torch.tensor(chances, dtype=torch.float64))

"""CUDA and HIP Graphs: off unless asked for, and then only after this machine has shown that they are right and faster.

A graph that replays wrongly gives plausible sound of another sentence, so tokens are compared, not listened to.
"""

from dataclasses import dataclass

import torch

from rocm_wizard.speech.gpt_sovits.t2s import Generation, T2SDecoder
from rocm_wizard.speech.gpt_sovits.t2s_sampling import Sampling

_TOKENS = 96
_PHONES = 40
_PROMPT = 25
_RUNS = 3


@dataclass(frozen=True)
class GraphCheck:
    """Whether graphs may be used here, and why or why not."""

    allowed: bool
    note: str


def check_graphs(decoder: T2SDecoder, asked: bool) -> GraphCheck:
    """Tries the decoder with and without graphs on the same seeded input; allowed when equal and not slower."""
    device = next(decoder.parameters()).device
    if not asked:
        return GraphCheck(False, "graphs were not asked for when the sidecar was started (ENABLE_CUDA_GRAPH=1)")
    if device.type != "cuda":
        return GraphCheck(False, f"graphs exist on CUDA and HIP only, and this is {device}")
    try:
        plain, graph = (_fastest(decoder, graph=graph) for graph in (False, True))
    except RuntimeError as error:
        return GraphCheck(False, f"graphs cannot be used on this machine: {str(error).splitlines()[0][:160]}")
    if not torch.equal(plain.tokens, graph.tokens):
        return GraphCheck(False, "graphs give other tokens on this machine")
    if graph.seconds > plain.seconds:
        return GraphCheck(False, "graphs are slower on this machine")
    return GraphCheck(True, "graphs gave the same tokens, and faster")


def _fastest(decoder: T2SDecoder, *, graph: bool) -> Generation:
    device, config = next(decoder.parameters()).device, decoder.config
    dtype = next(decoder.parameters()).dtype
    random = torch.Generator().manual_seed(1)
    phones = torch.randint(0, config.phonemes, (1, _PHONES), generator=random).to(device)
    prompt = torch.randint(0, config.eos, (1, _PROMPT), generator=random).to(device)
    bert = torch.zeros(1, config.bert, _PHONES, device=device, dtype=dtype)
    greedy = Sampling(top_k=1, top_p=1.0, temperature=1.0, fewest_tokens=_TOKENS)
    runs = [
        decoder.generate(phones, prompt, bert, sampling=greedy, most_tokens=_TOKENS, graph=graph) for _ in range(_RUNS)
    ]
    return min(runs, key=lambda run: run.seconds)

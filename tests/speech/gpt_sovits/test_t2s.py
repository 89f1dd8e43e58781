"""The decoder: a kept cache gives what a fresh computation gives, a seed gives the same tokens, limits hold."""

import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st

from rocm_wizard.speech.gpt_sovits.graphs import check_graphs
from rocm_wizard.speech.gpt_sovits.t2s import DecoderRun, T2SDecoder, _up_to_the_end
from rocm_wizard.speech.gpt_sovits.t2s_sampling import Sampling, draw, penalised
from tests.speech.gpt_sovits.tiny import T2S, tiny_networks


@pytest.fixture(scope="module")
def decoder() -> T2SDecoder:
    return tiny_networks().t2s


def inputs(phones: int = 12, prompt: int = 7) -> tuple[torch.Tensor, torch.Tensor, torch.Tensor]:
    source = torch.Generator().manual_seed(3)
    return (
        torch.randint(0, T2S.phonemes, (1, phones), generator=source),
        torch.randint(0, T2S.eos, (1, prompt), generator=source),
        torch.randn(1, T2S.bert, phones, generator=source),
    )


def test_the_kept_cache_gives_what_a_fresh_computation_gives(decoder: T2SDecoder) -> None:
    phones, prompt, bert = inputs()
    greedy = Sampling(top_k=1, fewest_tokens=40)
    made = decoder.generate(phones, prompt, bert, sampling=greedy, most_tokens=40).tokens
    assert len(made) == 40
    for known in (1, 17, 39):
        longer = torch.cat([prompt, made[None, :known]], dim=1)
        again = decoder.generate(phones, longer, bert, sampling=greedy, most_tokens=1).tokens
        assert again.tolist() == made[known : known + 1].tolist()


def test_the_masked_step_of_graphs_is_the_plain_step(decoder: T2SDecoder) -> None:
    phones, prompt, bert = inputs()
    with torch.inference_mode():
        runs = [DecoderRun(decoder, 256) for _ in range(2)]
        for run in runs:
            decoder.prefill(phones, prompt, bert, run)
        x, at = torch.randn(1, T2S.width), 19
        mask = (torch.arange(256) <= at)[None]
        plain = runs[0].step(x, at)
        masked = runs[1].masked_step(x, torch.tensor([at]), mask)
    assert float((plain - masked).abs().max()) < 1e-5


def test_a_seed_means_the_same_tokens_and_another_seed_others(decoder: T2SDecoder) -> None:
    def tokens(seed: int) -> list[int]:
        generator = torch.Generator().manual_seed(seed)
        sampling = Sampling(top_p=1.0, temperature=1.0, fewest_tokens=30)
        return decoder.generate(*inputs(), sampling=sampling, most_tokens=30, generator=generator).tokens.tolist()

    assert tokens(5) == tokens(5)
    assert tokens(5) != tokens(6)


def test_phonemes_never_see_tokens(decoder: T2SDecoder) -> None:
    phones, prompt, bert = inputs()
    with torch.inference_mode():
        runs = [DecoderRun(decoder, 256) for _ in range(2)]
        decoder.prefill(phones, prompt, bert, runs[0])
        decoder.prefill(phones, (prompt + 1) % T2S.eos, bert, runs[1])
    first, second = (run.cache for run in runs)
    assert torch.equal(first[:, :, :, :12], second[:, :, :, :12])
    assert not torch.equal(first[:, :, :, 12:19], second[:, :, :, 12:19])


def test_no_end_before_the_fewest_tokens_and_none_in_the_result() -> None:
    network = tiny_networks(2).t2s
    with torch.no_grad():
        network.ar_predict_layer.weight[T2S.eos] = network.ar_predict_layer.weight[:8].mean(dim=0) * 50
    made = network.generate(*inputs(), sampling=Sampling(top_k=1, fewest_tokens=11), most_tokens=200)
    assert len(made.tokens) >= 11
    assert T2S.eos not in made.tokens.tolist()


@given(
    scores=st.lists(st.floats(-20, 20), min_size=3, max_size=40),
    top_k=st.integers(2, 45),
    top_p=st.floats(0.05, 1.0),
    seed=st.integers(0, 99),
)
@settings(max_examples=60)
def test_a_drawn_token_is_among_the_best_k_and_in_the_nucleus(
    scores: list[float], top_k: int, top_p: float, seed: int
) -> None:
    tensor = torch.tensor(scores)
    token = int(draw(tensor, Sampling(top_k, top_p, 0.7), torch.Generator().manual_seed(seed)))
    ordered = sorted(scores, reverse=True)
    assert tensor[token] >= torch.tensor(ordered[min(top_k, len(scores)) - 1])
    above = tensor.softmax(0)[tensor > tensor[token]].sum()
    assert float(above) <= top_p + 1e-5


def test_repetition_is_made_less_likely_on_both_sides_of_zero() -> None:
    seen = torch.tensor([True, True, False])
    assert penalised(torch.tensor([2.0, -2.0, 1.0]), seen, 2.0).tolist() == [1.0, -4.0, 1.0]


def test_graphs_are_refused_where_there_are_none(decoder: T2SDecoder) -> None:
    with pytest.raises(RuntimeError, match="CUDA and HIP only"):
        decoder.generate(*inputs(), sampling=Sampling(), most_tokens=20, graph=True)
    assert not check_graphs(decoder, asked=True).allowed
    assert "not asked" in check_graphs(decoder, asked=False).note


@pytest.mark.parametrize(("ends", "kept", "stopped"), [("0000", 4, False), ("0010", 2, True), ("0111", 1, True)])
def test_tokens_made_after_the_end_are_dropped(ends: str, kept: int, stopped: bool) -> None:
    """On a GPU some are: the end is looked for only now and then."""
    tokens = [torch.tensor([number]) for number in range(4)]
    made, ended = _up_to_the_end(tokens, [torch.tensor([end == "1"]) for end in ends], tokens[0])
    assert (made.tolist(), ended) == ([0, 1, 2, 3][:kept], stopped)

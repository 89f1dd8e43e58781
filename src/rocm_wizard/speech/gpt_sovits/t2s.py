"""T2S: phonemes and the reference's semantic tokens to the tokens of the new sentence, one after the other.

Phonemes see each other and no tokens; tokens see all phonemes and the tokens before them. Keys and values are kept in
tensors that are made once for a sentence, so that no step copies them.
"""

import math
import time
from dataclasses import dataclass

import torch
from torch import Tensor, nn

from rocm_wizard.speech.devices import synchronise
from rocm_wizard.speech.gpt_sovits.t2s_graph import StepGraph
from rocm_wizard.speech.gpt_sovits.t2s_layer import DecoderLayer, LayerWeights, apply_layer
from rocm_wizard.speech.gpt_sovits.t2s_sampling import Sampling, draw, penalised

BUCKET = 256
"""The cache's length is a multiple of this, so that shapes repeat from sentence to sentence."""
_LOOK_EVERY = 8
"""On a GPU the end is looked for after so many tokens: a look waits for the device, and costs more than what a token
too many does."""


@dataclass(frozen=True)
class T2SConfig:
    """Sizes; the defaults are those of every public v2 and v3 checkpoint."""

    width: int = 512
    layers: int = 24
    heads: int = 16
    inner: int = 2048
    vocabulary: int = 1025
    eos: int = 1024
    phonemes: int = 732
    bert: int = 1024


@dataclass(frozen=True)
class Generation:
    """New tokens [n] int64 without the end token, whether the end token came, and seconds for all of it."""

    tokens: Tensor
    stopped: bool
    seconds: float


class _Named(nn.Module):
    """An embedding under the name that it has in checkpoints."""

    def __init__(self, count: int, width: int) -> None:
        super().__init__()
        self.word_embeddings = nn.Embedding(count, width)


class _Position(nn.Module):
    """Sine positions with a learned scale."""

    def __init__(self, width: int) -> None:
        super().__init__()
        self.alpha = nn.Parameter(torch.ones(1))
        self.width = width

    def table(self, begin: int, end: int) -> Tensor:
        """[end - begin, width], scaled."""
        at = torch.arange(begin, end, dtype=torch.float32, device=self.alpha.device)[:, None]
        rates = torch.exp(torch.arange(0, self.width, 2, device=at.device).float() * -(math.log(10000.0) / self.width))
        return self.alpha * torch.stack([(at * rates).sin(), (at * rates).cos()], dim=2).flatten(1).to(self.alpha.dtype)


class _Layers(nn.Module):
    def __init__(self, config: T2SConfig) -> None:
        super().__init__()
        self.layers = nn.ModuleList(DecoderLayer(config.width, config.inner) for _ in range(config.layers))

    def weights(self) -> list[LayerWeights]:
        """Of every layer."""
        return [layer.weights() for layer in self.layers if isinstance(layer, DecoderLayer)]


class T2SDecoder(nn.Module):
    """The decoder of a GPT checkpoint."""

    def __init__(self, config: T2SConfig) -> None:
        super().__init__()
        self.config = config
        self.bert_proj = nn.Linear(config.bert, config.width)
        self.ar_text_embedding = _Named(config.phonemes, config.width)
        self.ar_text_position = _Position(config.width)
        self.ar_audio_embedding = _Named(config.vocabulary, config.width)
        self.ar_audio_position = _Position(config.width)
        self.h = _Layers(config)
        self.ar_predict_layer = nn.Linear(config.width, config.vocabulary, bias=False)

    @torch.inference_mode()
    def generate(
        self,
        phones: Tensor,
        prompt: Tensor,
        bert: Tensor,
        *,
        sampling: Sampling,
        most_tokens: int,
        generator: torch.Generator | None = None,
        graph: bool = False,
    ) -> Generation:
        """Tokens of a sentence.

        Args:
            phones: [1, P] phoneme ids of reference and sentence.
            prompt: [1, T] semantic tokens of the reference.
            bert: [1, 1024, P] text features, zero where there are none.
            sampling: how tokens are drawn.
            most_tokens: the generation ends after so many, `stopped` false.
            generator: makes the draw repeatable; on the weights' device.
            graph: replay each step as a CUDA or HIP Graph.
        """
        started = time.perf_counter()
        begin = phones.shape[1] + prompt.shape[1]
        run = DecoderRun(self, -(-(begin + most_tokens) // BUCKET) * BUCKET)
        last = self.prefill(phones, prompt, bert, run)
        positions = self.ar_audio_position.table(prompt.shape[1], prompt.shape[1] + most_tokens)
        seen = torch.zeros(self.config.vocabulary, dtype=torch.bool, device=last.device)
        seen[prompt[0]] = True
        stepper = StepGraph(run.masked_step, run.cache, begin) if graph else None
        every = 1 if last.device.type == "cpu" else _LOOK_EVERY
        tokens: list[Tensor] = []
        ends: list[Tensor] = []
        while len(tokens) < most_tokens:
            token, end = self._next(last, seen, len(tokens), sampling, generator)
            tokens.append(token)
            ends.append(end)
            if len(tokens) == most_tokens or (len(tokens) % every == 0 and bool(torch.cat(ends[-every:]).any())):
                break
            seen[token] = True
            x = self.ar_audio_embedding.word_embeddings(token) + positions[len(tokens) - 1]
            at = begin + len(tokens) - 1
            last = stepper.run(x, at) if stepper is not None else run.step(x, at)
        made, ended = _up_to_the_end(tokens, ends, prompt)
        synchronise(made.device)
        return Generation(made, ended, time.perf_counter() - started)

    def _next(
        self, last: Tensor, seen: Tensor, made: int, sampling: Sampling, generator: torch.Generator | None
    ) -> tuple[Tensor, Tensor]:
        """The next token [1], and whether it, or the likeliest one, is the end [1]."""
        scores = penalised(self.ar_predict_layer(last), seen, sampling.repetition_penalty)
        if made < sampling.fewest_tokens:
            token = draw(scores[: self.config.eos], sampling, generator)
            return token, torch.zeros_like(token, dtype=torch.bool)
        token = draw(scores, sampling, generator)
        return token, (token == self.config.eos) | (scores.argmax() == self.config.eos)

    def prefill(self, phones: Tensor, prompt: Tensor, bert: Tensor, run: "DecoderRun") -> Tensor:
        """Runs phonemes and prompt; the last position's output [W]."""
        texts, sounds = phones.shape[1], prompt.shape[1]
        text = self.ar_text_embedding.word_embeddings(phones[0]) + self.bert_proj(bert[0].T)
        text = text + self.ar_text_position.table(0, texts)
        sound = self.ar_audio_embedding.word_embeddings(prompt[0]) + self.ar_audio_position.table(0, sounds)
        total = texts + sounds
        mask = torch.ones(total, total, dtype=torch.bool, device=text.device).tril()
        mask[:texts, :texts] = True
        return run.step(torch.cat([text, sound]), 0, mask)


class DecoderRun:
    """The weights and the cache [layers, 2, heads, L, d] of one sentence."""

    def __init__(self, decoder: T2SDecoder, length: int) -> None:
        config, weight = decoder.config, decoder.ar_predict_layer.weight
        shape = (config.layers, 2, config.heads, length, config.width // config.heads)
        self.cache = torch.zeros(shape, dtype=weight.dtype, device=weight.device)
        self._layers = list(zip(decoder.h.weights(), self.cache.unbind(), strict=True))

    def step(self, x: Tensor, at: int, mask: Tensor | None = None) -> Tensor:
        """Positions [n, W] that begin at `at`; the last one's output [W]."""
        for weights, kept in self._layers:
            x = apply_layer(x, weights, kept, at, mask)
        return x[-1]

    def masked_step(self, x: Tensor, index: Tensor, mask: Tensor) -> Tensor:
        """One position [1, W] with shapes that do not depend on it: the whole cache, and a mask [1, L] over it."""
        for weights, kept in self._layers:
            x = apply_layer(x, weights, kept, index, mask)
        return x[0]


def _up_to_the_end(tokens: list[Tensor], ends: list[Tensor], prompt: Tensor) -> tuple[Tensor, bool]:
    """The tokens [n] before the first end, and whether there was one."""
    if not tokens:
        return prompt.new_zeros(0), False
    made, ended = torch.cat(tokens), torch.cat(ends).tolist()
    return (made[: ended.index(True)], True) if any(ended) else (made, False)

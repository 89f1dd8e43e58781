"""The measurements of `bench_tts`, the cheapest first and the riskiest last."""

import threading
from collections.abc import Iterator
from dataclasses import dataclass
from itertools import islice

import numpy as np
import torch
from torch import Tensor

from rocm_wizard.speech.bench_child import BenchReporter, milliseconds
from rocm_wizard.speech.gpt_sovits.bigvgan import BigVganConfig
from rocm_wizard.speech.gpt_sovits.blocks import MOST_PROMPT_FRAMES, RATE, block_frames
from rocm_wizard.speech.gpt_sovits.dit import DitConfig
from rocm_wizard.speech.gpt_sovits.networks import random_networks
from rocm_wizard.speech.gpt_sovits.settings import BUCKET_MELS
from rocm_wizard.speech.gpt_sovits.sovits import SovitsConfig
from rocm_wizard.speech.gpt_sovits.synthesis import Prompt, Renderer, Rendering
from rocm_wizard.speech.gpt_sovits.t2s import T2SConfig
from rocm_wizard.speech.gpt_sovits.t2s_sampling import Sampling
from rocm_wizard.speech.payload import Samples

APP_FRAMES = (33, 38, 51, 75)
"""Block lengths in mel frames that the host's blocks of 0.35, 0.4, 0.55 and 0.8 s have."""
SHORT, LONG = 0.4, 0.8
"""The block lengths in seconds that are compared."""
STEPS = (16, 32)


@dataclass(frozen=True)
class Sizes:
    """The networks and the sentence: phonemes of reference and sentence, tokens of the reference and new ones."""

    t2s: T2SConfig
    sovits: SovitsConfig
    vocoder: BigVganConfig
    phones: int = 60
    prompt_tokens: int = 110
    tokens: int = 100
    window: int = MOST_PROMPT_FRAMES


FULL = Sizes(T2SConfig(), SovitsConfig(), BigVganConfig())
TINY = Sizes(
    T2SConfig(width=32, layers=2, heads=2, inner=64, bert=16),
    SovitsConfig(
        channels=32,
        inner=32,
        style=32,
        style_channels=16,
        semantic=32,
        features=32,
        feature_layers=2,
        dit=DitConfig(width=32, blocks=1, heads=2, text_blocks=1, position_groups=4),
    ),
    BigVganConfig(channels=64),
    tokens=40,
    window=80,
)


class TtsBench:
    """One device, one set of random networks. Everything is seeded: the same seed gives the same work."""

    def __init__(self, report: BenchReporter, device: torch.device, seed: int, sizes: Sizes, *, quick: bool) -> None:
        self._report = report
        self._device = device
        self._seed = seed
        self._sizes = sizes
        self._quick = quick

    def run(self) -> None:
        """Builds the networks and measures them."""
        self._report.begin("load")
        seconds = self._report.seconds(self._build)
        self._report.send("load", "s", seconds, [])
        self._measure_t2s()
        self._measure_vocoder()
        self._measure_cfm()
        self._measure_utterances()
        self._measure_concurrency()
        self._measure_graph()  # last: a capture that goes wrong can leave the device unusable

    def _build(self) -> None:
        sizes, device = self._sizes, self._device
        networks = random_networks(device, self._seed, t2s=sizes.t2s, sovits=sizes.sovits, vocoder=sizes.vocoder)
        self._renderer = Renderer(networks)
        random = torch.Generator().manual_seed(self._seed)

        def ids(count: int, below: int) -> Tensor:
            return torch.randint(0, below, (1, count), generator=random).to(device)

        def noise(*shape: int) -> Tensor:
            return torch.randn(shape, generator=random).to(device, networks.dtype)

        self._decoder, self._sovits = networks.t2s, networks.sovits
        self._phones, self._prompt_tokens = ids(sizes.phones, sizes.t2s.phonemes), ids(sizes.prompt_tokens, 1024)
        self._bert = noise(1, sizes.t2s.bert, sizes.phones)
        self._style = noise(1, sizes.sovits.style, 1)
        self._prompt = Prompt(
            noise(1, sizes.sovits.mels, sizes.window).clamp(-1, 1), noise(1, sizes.sovits.features, sizes.window)
        )
        self._mels = noise(1, sizes.sovits.mels, BUCKET_MELS).clamp(-1, 1)

    def _tokens(self, *, graph: bool = False) -> Tensor:
        """So many tokens always: the end token is not allowed before."""
        generated = self._decoder.generate(
            self._phones,
            self._prompt_tokens,
            self._bert,
            sampling=Sampling(fewest_tokens=self._sizes.tokens),
            most_tokens=self._sizes.tokens,
            generator=self._generator(),
            graph=graph,
        )
        return generated.tokens

    def _generator(self) -> torch.Generator:
        return torch.Generator(self._device).manual_seed(self._seed)

    def _measure_t2s(self) -> None:
        count = self._sizes.tokens
        self._report.measure("t2s_speed", "tokens/s", self._tokens, lambda seconds: count / seconds)

    def _measure_graph(self) -> None:
        """With graphs: speed, and whether the tokens are the same. A graph that replays wrongly speaks other words."""
        if self._device.type != "cuda":
            reason = f"graphs exist on CUDA and HIP only, and this is {self._device}"
            self._report.not_available("t2s_speed_graph", reason)
            return
        count, report = self._sizes.tokens, self._report
        report.begin("t2s_speed_graph")
        plain = self._tokens()
        made: list[Tensor] = []
        try:
            cold, *warm = (
                count / report.seconds(lambda: made.append(self._tokens(graph=True))) for _ in range(report.rounds + 1)
            )
        except RuntimeError as error:
            report.not_available("t2s_speed_graph", str(error).splitlines()[0][:200])
            return
        equal = all(torch.equal(plain, tokens) for tokens in made)
        report.send("t2s_speed_graph", "tokens/s", cold, warm, equal=equal)

    def _measure_vocoder(self) -> None:
        """First what is padded to the bucket, whose length is new only once, then every length as it is.

        On HIP each new length costs a search for a solver, which is what the bucket is for; it shows as cold.
        """
        lengths = (APP_FRAMES[1], APP_FRAMES[-1]) if self._quick else APP_FRAMES
        self._time_wave("bigvgan_80", BUCKET_MELS, 0)
        for frames in lengths:
            self._time_wave(f"bigvgan_bucket_{frames}", frames, BUCKET_MELS)
        for frames in lengths:
            self._time_wave(f"bigvgan_{frames}", frames, 0)

    def _time_wave(self, id: str, frames: int, bucket: int) -> None:
        mel = self._mels[:, :, :frames]
        self._report.measure(id, "ms", lambda: self._renderer.wave(mel, bucket), milliseconds)

    def _measure_cfm(self) -> None:
        """A block behind the reference window (543 frames at 0.8 s), and one behind another block (150)."""
        long, short = (block_frames(seconds, self._sizes.window) for seconds in (LONG, SHORT))
        self._time_cfm("first", self._sizes.window, long, STEPS[0])
        self._time_cfm("later", long, long, STEPS[0])
        self._time_cfm("later", long, long, STEPS[1])
        if not self._quick:
            self._time_cfm("first", self._sizes.window, long, STEPS[1])
            self._time_cfm("short_first", self._sizes.window, short, STEPS[0])
            self._time_cfm("short_later", short, short, STEPS[0])

    def _time_cfm(self, name: str, before: int, frames: int, steps: int) -> None:
        prompt = self._prompt.cut(before)
        todo = self._prompt.features[:, :, :frames]
        todo = todo.repeat(1, 1, -(-frames // todo.shape[2]))[:, :, :frames]
        rendering = Rendering(LONG, steps)

        def block() -> None:
            next(iter(self._renderer.mel_blocks(todo, prompt, rendering, self._generator())))

        id, report = f"cfm_{name}_{steps}", self._report
        report.begin(id)
        cold, *warm = (milliseconds(report.seconds(block)) for _ in range(report.rounds + 1))
        facts = {"frames": before + frames, "steps": steps}
        report.send(id, "ms", cold, warm, **facts)
        report.send(f"{id}_step", "ms", cold / steps, [value / steps for value in warm], **facts)

    def _measure_utterances(self) -> None:
        variants = [("long_16", LONG, 16, BUCKET_MELS), ("short_16", SHORT, 16, BUCKET_MELS)]
        if not self._quick:
            variants += [("long_32", LONG, 32, BUCKET_MELS), ("long_16_no_bucket", LONG, 16, 0)]
        for name, block_s, steps, bucket in variants:
            self._time_utterance(name, Rendering(block_s, steps, bucket))

    def _time_utterance(self, name: str, rendering: Rendering) -> None:
        """Until the first block's samples are there, and the whole as seconds of work a second of speech."""
        report = self._report
        report.begin(f"utterance_{name}")
        first: list[float] = []
        factor: list[float] = []
        for _ in range(report.rounds + 1):
            blocks = self._utterance(rendering, self._seed)
            rest: list[Samples] = []
            waited = report.seconds(lambda blocks=blocks, rest=rest: rest.append(next(blocks)))
            whole = waited + report.seconds(lambda blocks=blocks, rest=rest: rest.extend(blocks))
            first.append(waited)
            factor.append(whole * RATE / sum(len(samples) for samples in rest))
        facts = {"block_s": rendering.block_s, "steps": rendering.steps, "bucket": rendering.bucket_mels}
        report.send(f"first_audio_{name}", "s", first[0], first[1:], **facts)
        report.send(f"real_time_factor_{name}", "", factor[0], factor[1:], **facts)

    def _utterance(self, rendering: Rendering, seed: int) -> Iterator[Samples]:
        """A sentence from its phonemes to its blocks, as they are made.

        Without the onset gate: what comes out of random weights has no onset, and would be held back or not by chance.
        """
        generator = torch.Generator(self._device).manual_seed(seed)
        tokens = self._tokens()[None].clamp(max=self._sizes.sovits.codes - 1)
        features = self._sovits.features(tokens, self._phones, self._style)
        for mel in self._renderer.mel_blocks(features, self._prompt, rendering, generator):
            yield self._renderer.wave(mel, rendering.bucket_mels)

    def _measure_concurrency(self) -> None:
        """Two sentences one after the other, and both at once in two threads: what a child that can do so would gain.

        Their first two blocks each hold every kind of work once. A sidecar of the wire answers one request after the
        other, so the second is the most that could be had.
        """
        report, rendering = self._report, Rendering(LONG, STEPS[0], BUCKET_MELS)
        report.begin("throughput")
        apart: list[Samples] = []
        at_once: dict[int, Samples] = {}

        def speak(seed: int) -> Samples:
            return np.concatenate(list(islice(self._utterance(rendering, seed), 2)))

        def together() -> None:
            at_once.clear()
            threads = [threading.Thread(target=lambda s=s: at_once.update({s: speak(s)})) for s in (1, 2)]
            for thread in threads:
                thread.start()
            for thread in threads:
                thread.join()

        def one_after_the_other() -> None:
            apart[:] = [speak(seed) for seed in (1, 2)]

        one: list[float] = []
        two: list[float] = []
        for _ in range(report.rounds):  # by turns, so that a machine that slows down slows both
            one.append(report.seconds(one_after_the_other))
            two.append(report.seconds(together))
        if len(at_once) < 2:
            report.not_available("throughput_2", "one of two threads failed; stderr tells why")
            return
        seconds = sum(len(samples) for samples in apart) / RATE
        same = all(np.allclose(apart[s - 1], at_once[s], atol=1e-2) for s in (1, 2))
        report.send("throughput_1", "", None, [seconds / taken for taken in one])
        report.send("throughput_2", "", None, [seconds / taken for taken in two], equal=same)

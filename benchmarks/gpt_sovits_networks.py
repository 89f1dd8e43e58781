"""Our GPT-SoVITS v3 networks against the public ones: same random weights, inputs and threads, runs alternated.

    python benchmarks/gpt_sovits_networks.py --reference FOLDER [--packages FOLDER] [--threads 2] [--rounds 5]

FOLDER is a checkout of https://github.com/RVC-Boss/GPT-SoVITS; --packages names a folder with what it imports and this
environment lacks (x-transformers, einx, einops, loguru, torchmetrics ...). Each side lives in a process of its own, so
that its peak memory is its own. Weights are drawn by their names, so both sides hold the same numbers.
"""

import argparse
import json
import os
import statistics
import subprocess
import sys
import time
import zlib
from collections.abc import Callable, Iterable
from functools import partial
from pathlib import Path
from typing import Any

TOKENS = 100
PHONES = 60
PROMPT = 110
TIMED_STEPS = 4
WINDOW = 468
MOST_FRAMES = 934
SENTENCES = {"4 s": 100, "6 s": 150}
BLOCK_S = 0.8
PARTS = ("t2s", "cfm_543", "cfm_150", "bigvgan_80")
UTTERANCES = tuple(f"{kind} {length}" for length in SENTENCES for kind in ("first", "whole"))


def main() -> int:
    """Measures and prints a table."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--reference", type=Path, required=True)
    parser.add_argument("--packages", type=Path)
    parser.add_argument("--threads", type=int, default=2)
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--utterance-rounds", type=int, default=2)
    parser.add_argument("--steps", type=int, default=4, help="CFM steps of an utterance; the host's first sentence: 4")
    parser.add_argument("--side", choices=("ours", "reference"), help=argparse.SUPPRESS)
    options = parser.parse_args()
    if options.side:
        return serve(options)
    sides = {name: Side(name, options) for name in ("ours", "reference")}
    times: dict[tuple[str, str], list[float]] = {}
    answers: dict[tuple[str, str], Any] = {}
    # The first round of the parts pays for what is made once.
    rounds = [(PARTS, False), *[(PARTS, True)] * options.rounds, *[(UTTERANCES, True)] * options.utterance_rounds]
    for works, kept in rounds:
        for work in works:
            for name, side in sides.items():
                seconds, answers[name, work] = side.ask(work)
                if kept:
                    times.setdefault((name, work), []).append(seconds)
    tell(times, {name: side.end() for name, side in sides.items()})
    same = answers["ours", "t2s"] == answers["reference", "t2s"]
    print(f"tokens of both are {'the same' if same else 'DIFFERENT'}")
    return 0 if same else 1


def tell(times: dict[tuple[str, str], list[float]], memory: dict[str, float]) -> None:
    """The table. The fastest round counts, because other programs only ever add time; medians stand beside it."""
    print(f"{'fastest round':36}{'ours':>10}{'reference':>11}{'ratio':>7}{'of medians':>12}")
    rows: list[tuple[str, Callable[[float], float]]] = [
        (f"T2S, tokens/s ({TOKENS} tokens)", lambda seconds: TOKENS / seconds),
        ("CFM, ms a step (543 frames)", lambda seconds: seconds * 1000 / TIMED_STEPS),
        ("CFM, ms a step (150 frames)", lambda seconds: seconds * 1000 / TIMED_STEPS),
        ("BigVGAN, ms (80 frames)", lambda seconds: seconds * 1000),
    ]
    for length in SENTENCES:
        rows += [(f"{length}: first block / all of it, s", float), (f"{length}: whole utterance, s", float)]
    for work, (title, shown) in zip(PARTS + UTTERANCES, rows, strict=True):
        pair = [times[name, work] for name in ("ours", "reference")]
        ours, reference = (shown(min(found)) for found in pair)
        middle, other = (shown(statistics.median(found)) for found in pair)
        print(f"{title:36}{ours:10.2f}{reference:11.2f}{ours / reference:7.2f}{middle / other:12.2f}")
    ours, reference = memory["ours"], memory["reference"]
    print(f"{'peak memory, MiB':36}{ours:10.0f}{reference:11.0f}{ours / reference:7.2f}")


class Side:
    """One of the two processes."""

    def __init__(self, name: str, options: argparse.Namespace) -> None:
        command = [sys.executable, __file__, "--side", name, "--reference", str(options.reference)]
        command += ["--threads", str(options.threads), "--steps", str(options.steps)]
        command += ["--packages", str(options.packages)] if options.packages else []
        environment = {**os.environ, "OMP_NUM_THREADS": str(options.threads), "TQDM_DISABLE": "1"}
        self._child = subprocess.Popen(
            command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, env=environment, text=True, encoding="utf-8"
        )

    def ask(self, work: str) -> tuple[float, Any]:
        """Seconds, and what was made."""
        assert self._child.stdin is not None and self._child.stdout is not None
        self._child.stdin.write(f"{work}\n")
        self._child.stdin.flush()
        while line := self._child.stdout.readline():
            if line.startswith("{"):
                answer = json.loads(line)
                return answer["seconds"], answer["made"]
        raise SystemExit("a side ended early")

    def end(self) -> float:
        """Peak memory in MiB."""
        memory, _ = self.ask("memory")
        assert self._child.stdin is not None
        self._child.stdin.close()
        self._child.wait()
        return memory


def serve(options: argparse.Namespace) -> int:
    """One side: builds its networks, then does what it is asked for."""
    import torch

    torch.set_num_threads(options.threads)
    if options.side == "ours":
        works = our_works(options.steps)
    else:
        works = reference_works(options.reference, options.packages, options.steps)
    for line in sys.stdin:
        work = line.strip()
        if work == "memory":
            print(json.dumps({"seconds": peak_memory(), "made": None}), flush=True)
            continue
        with torch.inference_mode():
            started = time.perf_counter()
            made = works[work]()
            seconds = time.perf_counter() - started
        print(json.dumps({"seconds": seconds, "made": made}), flush=True)
    return 0


def peak_memory() -> float:
    """MiB that this process held at most."""
    if sys.platform == "win32":
        import psutil

        return psutil.Process().memory_info().peak_wset / 2**20
    import resource

    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / (2**20 if sys.platform == "darwin" else 2**10)


def draw_weights(named: Iterable[tuple[str, Any]]) -> None:
    """Fills every tensor from its name, and keeps the end of speech unlikely."""
    import torch

    for name, tensor in named:
        if not tensor.is_floating_point() or tensor.numel() <= 12:
            continue
        generator = torch.Generator().manual_seed(zlib.crc32(name.encode()))
        fan = max(1, tensor[0].numel()) if tensor.dim() > 1 else 1
        values = torch.randn(tensor.shape, generator=generator)
        with torch.no_grad():
            if tensor.dim() > 1:
                tensor.copy_(values * (0.5 / fan**0.5))
            else:
                tensor.copy_(values * 0.05 + (1.0 if name.endswith("weight") else 0.0))
            if name == "ar_predict_layer.weight":
                tensor[1024] = 0


class Inputs:
    """The same on both sides."""

    def __init__(self) -> None:
        import torch

        source = torch.Generator().manual_seed(11)
        self.phones = torch.randint(0, 732, (1, PHONES), generator=source)
        self.prompt = torch.randint(0, 1024, (1, PROMPT), generator=source)
        self.bert = torch.randn(1, 1024, PHONES, generator=source)
        self.codes = torch.randint(0, 1024, (1, max(SENTENCES.values())), generator=source)
        self.refer = torch.rand(1, 1025, 250, generator=source)
        self.mel = torch.randn(1, 100, WINDOW, generator=source)
        self.mu = torch.randn(1, MOST_FRAMES, 512, generator=source)


def our_works(steps: int) -> dict[str, Callable[[], Any]]:
    """What is measured, on our side."""
    import torch

    from rocm_wizard.speech.gpt_sovits.networks import random_networks
    from rocm_wizard.speech.gpt_sovits.synthesis import Prompt, Renderer, Rendering
    from rocm_wizard.speech.gpt_sovits.t2s_sampling import Sampling
    from rocm_wizard.speech.speaker import StageTimes

    networks, given = random_networks(torch.device("cpu"), 1), Inputs()
    for network in (networks.t2s, networks.sovits, networks.vocoder):
        network.requires_grad_(False)
        draw_weights(network.named_parameters())
    greedy = Sampling(top_k=1, top_p=1.0, temperature=1.0, fewest_tokens=11)
    sovits, renderer = networks.sovits, Renderer(networks)

    def tokens(count: int = TOKENS) -> list[int]:
        made = networks.t2s.generate(given.phones, given.prompt, given.bert, sampling=greedy, most_tokens=count)
        return made.tokens.tolist()

    def cfm(frames: int) -> None:
        known = frames - 75
        noise = torch.randn(1, 100, frames)
        sovits.cfm.sample(given.mu[:, :frames], given.mel[:, :, :known], noise, TIMED_STEPS)

    def utterance(count: int, *, first_only: bool) -> None:
        tokens(count)
        features = sovits.features(given.codes[:, :count], given.phones, sovits.style(given.refer))
        prompt = Prompt(given.mel, given.mu[:, :WINDOW].transpose(1, 2))
        generator = torch.Generator().manual_seed(1)
        if first_only:
            mel = next(renderer.mel_blocks(features, prompt, Rendering(BLOCK_S, steps), generator))
            renderer.wave(mel, 80)
        else:
            renderer.whole(features, prompt, Rendering(0, steps), generator, StageTimes())

    works: dict[str, Callable[[], Any]] = {
        "t2s": tokens,
        "cfm_543": lambda: cfm(543),
        "cfm_150": lambda: cfm(150),
        "bigvgan_80": lambda: renderer.wave(given.mel[:, :, :80]) is None,
    }
    for length, count in SENTENCES.items():
        works[f"first {length}"] = partial(utterance, count, first_only=True)
        works[f"whole {length}"] = partial(utterance, count, first_only=False)
    return works


def reference_works(checkout: Path, packages: Path | None, steps: int) -> dict[str, Callable[[], Any]]:
    """What is measured, on the public side."""
    import importlib
    import warnings

    import torch

    warnings.filterwarnings("ignore")
    sys.path[:0] = [str(checkout), str(checkout / "GPT_SoVITS"), *([str(packages)] if packages else [])]
    model = {"vocab_size": 1025, "phoneme_vocab_size": 732, "hidden_dim": 512, "embedding_dim": 512, "head": 16}
    model |= {"n_layer": 24, "linear_units": 2048, "dropout": 0, "EOS": 1024}
    decoder = importlib.import_module("AR.models.t2s_model").Text2SemanticDecoder({"model": model}, top_k=3).eval()
    sizes: dict[str, Any] = {"inter_channels": 192, "hidden_channels": 192, "filter_channels": 768, "n_heads": 2}
    sizes |= {"n_layers": 6, "kernel_size": 3, "p_dropout": 0.1, "resblock": "1", "gin_channels": 512}
    sizes |= {"resblock_kernel_sizes": [3], "resblock_dilation_sizes": [[1]], "upsample_rates": [10]}
    sizes |= {"upsample_initial_channel": 512, "upsample_kernel_sizes": [16], "semantic_frame_rate": "25hz"}
    sovits = importlib.import_module("module.models").SynthesizerTrnV3(1025, 32, freeze_quantizer=True, **sizes).eval()
    vocoder_module = importlib.import_module("BigVGAN.bigvgan")
    hyper = {"num_mels": 100, "upsample_initial_channel": 1536, "upsample_rates": [4, 4, 2, 2, 2, 2]}
    hyper |= {"upsample_kernel_sizes": [8, 8, 4, 4, 4, 4], "resblock_kernel_sizes": [3, 7, 11], "resblock": "1"}
    hyper |= {"resblock_dilation_sizes": [[1, 3, 5]] * 3, "activation": "snakebeta", "snake_logscale": True}
    hyper |= {"use_bias_at_final": False, "use_tanh_at_final": False}
    vocoder = vocoder_module.BigVGAN(vocoder_module.AttrDict(hyper)).eval()
    vocoder.remove_weight_norm()
    for network in (decoder, sovits, vocoder):
        network.requires_grad_(False)
        draw_weights(network.named_parameters())
    given = Inputs()
    lengths = torch.tensor([PHONES])

    def tokens(count: int = TOKENS) -> list[int]:
        greedy: dict[str, Any] = {"top_k": 1, "top_p": 1, "temperature": 1.0, "early_stop_num": count - 1}
        made, index = decoder.infer_panel(given.phones, lengths, given.prompt, given.bert, **greedy)
        return made[0, -index - 1 :].tolist()

    def cfm(mu: torch.Tensor, known: torch.Tensor, steps: int = TIMED_STEPS) -> torch.Tensor:
        length = torch.tensor([mu.shape[1]])
        return sovits.cfm.inference(mu, length, known, steps, inference_cfg_rate=0)

    def utterance(count: int) -> None:
        """As the public web page does it: nothing is heard before all of it is made."""
        tokens(count)
        features, _ = sovits.decode_encp(given.codes[None, :, :count], given.phones, given.refer)
        mel, mu, made = given.mel, given.mu[:, :WINDOW], []
        for todo in features.transpose(1, 2).split(MOST_FRAMES - WINDOW, dim=1):
            block = cfm(torch.cat([mu, todo], dim=1), mel, steps)[:, :, mel.shape[2] :]
            made.append(block)
            mel, mu = block[:, :, -WINDOW:], todo[:, -WINDOW:]
        vocoder((torch.cat(made, dim=2) + 1) / 2 * 14 - 12)

    works: dict[str, Callable[[], Any]] = {
        "t2s": tokens,
        "cfm_543": lambda: cfm(given.mu[:, :543], given.mel) is None,
        "cfm_150": lambda: cfm(given.mu[:, :150], given.mel[:, :, :75]) is None,
        "bigvgan_80": lambda: vocoder((given.mel[:, :, :80] + 1) / 2 * 14 - 12) is None,
    }
    for length, count in SENTENCES.items():
        works[f"first {length}"] = works[f"whole {length}"] = partial(utterance, count)
    return works


if __name__ == "__main__":
    raise SystemExit(main())

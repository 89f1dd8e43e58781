"""A convolution stack shaped like BigVGAN's, at changing mel lengths and padded to one: what a new length costs.

Shape after the published configuration `bigvgan_v2_24khz_100band_256x` (https://github.com/NVIDIA/BigVGAN): 100 mel
bands, 256 samples a frame, residual blocks of kernels 3, 7 and 11 with dilations 1, 3 and 5. The weights are random,
the anti-aliasing around the activations is left out, and `channels` says how wide the stack is (the model's: 1,536).
"""

import math
import statistics
import time
from collections.abc import Callable
from typing import Any

from .device import Meter
from .prepared import normal

_BANDS = 100
_RATES = (4, 4, 2, 2, 2, 2)
_KERNELS = (3, 7, 11)
_DILATIONS = (1, 3, 5)
_WARM_RUNS = 3
HOP = math.prod(_RATES)

type Say = Callable[..., None]


def receptive_frames() -> int:
    """How many mel frames before the end of a block can hear what lies beyond it."""
    reach = 3.0  # the first convolution has seven taps
    rate = 1
    for factor in _RATES:
        reach += 1.0 / rate
        rate *= factor
        reach += sum((max(_KERNELS) - 1) // 2 * (dilation + 1) for dilation in _DILATIONS) / rate
    return math.ceil(reach + 3 / rate)


class Stack:
    """The stack's weights on a device; calling it turns (1, 100, frames) into (256 * frames,) samples."""

    def __init__(self, torch: Any, device: str, dtype: Any, channels: int) -> None:
        self._torch = torch
        self._seed = 100
        self._place = {"device": device, "dtype": dtype}
        self._first = self._weights(channels, _BANDS, 7)
        self._up: list[Any] = []
        self._blocks: list[list[list[tuple[Any, Any]]]] = []
        for stage, rate in enumerate(_RATES):
            wide = max(1, channels >> stage)
            narrow = max(1, channels >> (stage + 1))
            self._up.append(self._weights(wide, narrow, 2 * rate, fan=2 * wide))
            self._blocks.append(
                [
                    [(self._weights(narrow, narrow, taps), self._weights(narrow, narrow, taps)) for _ in _DILATIONS]
                    for taps in _KERNELS
                ]
            )
        self._last = self._weights(1, narrow, 7)  # pyright: ignore[reportPossiblyUnboundVariable]

    def _weights(self, out: int, into: int, taps: int, fan: int | None = None) -> Any:
        self._seed += 1
        scale = (fan or into * taps) ** -0.5
        return (normal(self._torch, self._seed, out, into, taps) * scale).to(**self._place)

    def __call__(self, mel: Any) -> Any:
        functional = self._torch.nn.functional
        x = functional.conv1d(mel.to(**self._place), self._first, padding=3)
        for rate, up, blocks in zip(_RATES, self._up, self._blocks, strict=True):
            x = functional.conv_transpose1d(x, up, stride=rate, padding=rate // 2)
            x = sum(self._residual(x, block) for block in blocks) / len(blocks)
        return self._torch.tanh(functional.conv1d(self._snake(x), self._last, padding=3)).flatten()

    def _snake(self, x: Any) -> Any:
        return x + self._torch.sin(x) ** 2

    def _residual(self, x: Any, block: list[tuple[Any, Any]]) -> Any:
        conv1d = self._torch.nn.functional.conv1d
        for dilation, (dilated, plain) in zip(_DILATIONS, block, strict=True):
            reach = (dilated.shape[2] - 1) // 2
            y = conv1d(self._snake(x), dilated, padding=reach * dilation, dilation=dilation)
            x = x + 0.3 * conv1d(self._snake(y), plain, padding=reach)
        return x


def _timed(torch: Any, device: str, stack: Stack, mel: Any, times: list[float]) -> tuple[Any, dict[str, Any]]:
    started = time.perf_counter()
    meter = Meter(torch, device)
    result = stack(mel)
    evidence = meter.stop(result)
    result = result.cpu()
    times.append(time.perf_counter() - started)
    return result.double(), evidence


def _differing_frames(whole: Any, cut: Any, tolerance: float) -> tuple[int, float, int]:
    """How many frames from the first difference to the end, the largest difference out of reach, values not finite."""
    difference = (whole - cut).abs()
    apart = (~(difference <= tolerance)).nonzero()
    frames = 0 if len(apart) == 0 else math.ceil((len(cut) - int(apart[0])) / HOP)
    inside = difference[: max(0, len(cut) - receptive_frames() * HOP)]
    largest = float(inside.max()) if len(inside) else 0.0
    return frames, largest if math.isfinite(largest) else 1e308, int((~difference.isfinite()).sum())


def vocoder(torch: Any, device: str, options: dict[str, Any], say: Say) -> None:
    """Each length unpadded, cold and warm; then the same mels padded with their last frame to the bucket."""
    kind = device.partition(":")[0]
    channels = options["channels"].get(kind, options["channels"]["other"])
    dtype = torch.float32 if kind == "cpu" else torch.float16
    bucket, tolerance = options["bucket"], options["tolerance"]
    stack = Stack(torch, device, dtype, channels)
    mels = {length: normal(torch, 7 + length, 1, _BANDS, length) for length in options["lengths"]}
    unpadded: dict[int, Any] = {}
    evidence: dict[str, Any] = {}
    for length, mel in mels.items():
        say("before", part=f"{length} mels")
        times: list[float] = []
        for _ in range(1 + _WARM_RUNS):
            unpadded[length], evidence = _timed(torch, device, stack, mel, times)
        say("vocoder_length", mels=length, cold=times[0], warm=statistics.median(times[1:]), **evidence)
    frames, largest, not_finite = 0, 0.0, 0
    for length, mel in mels.items():
        say("before", part=f"{length} mels in the bucket of {bucket}")
        times = []
        padded = torch.cat([mel, mel[:, :, -1:].expand(-1, -1, bucket - length)], 2)
        for _ in range(1 + _WARM_RUNS):
            whole, evidence = _timed(torch, device, stack, padded, times)
            found = _differing_frames(whole[: length * HOP], unpadded[length], tolerance)
        frames, largest = max(frames, found[0]), max(largest, found[1])  # pyright: ignore[reportPossiblyUnboundVariable]
        not_finite += found[2]  # pyright: ignore[reportPossiblyUnboundVariable]
        say("vocoder_padded", mels=length, cold=times[0], warm=statistics.median(times[1:]), **evidence)
    say(
        "vocoder",
        bucket=bucket,
        channels=channels,
        model_channels=options["channels"]["other"],
        dtype=str(dtype).removeprefix("torch."),
        frames_differ=frames,
        receptive_frames=receptive_frames(),
        max_error=largest,
        not_finite=not_finite,
        tolerance=tolerance,
    )

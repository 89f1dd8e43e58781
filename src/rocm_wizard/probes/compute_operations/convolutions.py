"""One-dimensional convolutions: what a vocoder is made of, and what MIOpen searches kernels for."""

from typing import Any

from .prepared import Options, Prepared, flat, normal


def written_out(torch: Any, signal: Any, kernel: Any, dilation: int) -> Any:
    """The convolution of `signal` (1, channels, length) without padding as a plain sum over taps, float64."""
    wide, weights = signal.double(), kernel.double()
    count = signal.shape[2] - dilation * (kernel.shape[2] - 1)
    total = torch.zeros(1, kernel.shape[0], count, dtype=torch.float64)
    for tap in range(kernel.shape[2]):
        total[0] += weights[:, :, tap] @ wide[0, :, tap * dilation : tap * dilation + count]
    return total


def conv1d(torch: Any, _device: str, options: Options) -> Prepared:
    """A dilated convolution at each of `lengths`, one after the other: a new length is a new search for MIOpen."""
    dilation, taps, channels = options["dilation"], options["taps"], options["channels"]
    kernel = normal(torch, 21, channels, channels, taps) * (channels * taps) ** -0.5
    signals = [normal(torch, 22 + length, 1, channels, length) for length in options["lengths"]]
    convolve = torch.nn.functional.conv1d

    def on_device(weights: Any, *waves: Any) -> Any:
        return flat(torch, [convolve(wave, weights, dilation=dilation) for wave in waves])

    expected = flat(torch, [written_out(torch, signal, kernel, dilation) for signal in signals])
    return Prepared([kernel, *signals], on_device, expected)


def conv_transpose1d(torch: Any, _device: str, options: Options) -> Prepared:
    """A transposed convolution (kernel twice the stride, as BigVGAN's) against its definition: scatter and add."""
    stride, channels, length = options["stride"], options["channels"], options["length"]
    taps, padding, narrower = 2 * stride, stride // 2, channels // 2
    signal = normal(torch, 31, 1, channels, length)
    kernel = normal(torch, 32, channels, narrower, taps) * (2 * channels) ** -0.5
    total = torch.zeros(narrower, (length - 1) * stride + taps, dtype=torch.float64)
    for tap in range(taps):
        spread = kernel[:, :, tap].double().T @ signal[0].double()
        total[:, tap : tap + (length - 1) * stride + 1 : stride] += spread
    expected = total[None, :, padding:-padding]
    transposed = torch.nn.functional.conv_transpose1d
    return Prepared([signal, kernel], lambda x, w: transposed(x, w, stride=stride, padding=padding), expected)

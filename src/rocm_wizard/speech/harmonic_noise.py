"""Turns the embedded voice's spectra into sound, block by block.

hibari's vocoder (hibari-tts 0.2.1, Apache-2.0, `hibari/dsp.py`): per 12.5 ms frame and bin,

    S = exp(lh) e^(i pi tanh(theta)) STFT(pulses(f0)) + exp(ln) noise + exp(lr) e^(i phi)

with a 1200-point periodic Hann window and a hop of 300 samples at 24 kHz; the sound is the inverse STFT. Here the
frames go through in runs: what overlaps into the next run is kept, so blocks leave before the sentence is finished, and
joined blocks are the one-shot result.
"""

from dataclasses import dataclass

import numpy as np
import torch
from torch import Tensor
from torch.nn import functional

N_FFT = 1200
HOP = 300
RATE = 24_000
BINS = N_FFT // 2 + 1
OVERLAP = N_FFT - HOP
LEAD = N_FFT // 2

VOICED_ABOVE_HZ = 40.0
HIGHEST_HARMONIC_HZ = 11_000.0
LARGEST_LOG = 7.0
# The phase is an integer of 2^-40 cycles: exact however the sum is cut, and MPS has no float64.
PHASE_BITS = 40


@dataclass(frozen=True)
class Spectra:
    """The network's output for one sentence: each [601, frames] but f0, [frames] in Hz; float32 on one device."""

    lh: Tensor
    theta: Tensor
    ln: Tensor
    lr: Tensor
    phi: Tensor
    f0: Tensor

    @property
    def frames(self) -> int:
        """Number of 12.5 ms frames."""
        return self.f0.shape[0]


class Renderer:
    """Renders one sentence from front to back. The same spectra and seed give the same sound for any block lengths."""

    def __init__(self, spectra: Spectra, seed: int) -> None:
        if spectra.frames < 3:
            raise ValueError(f"a sentence of {spectra.frames} frames is too short to render")
        self._spectra = spectra
        device = spectra.f0.device
        self._window = torch.hann_window(N_FFT, periodic=True, device=device)
        # numpy's generator gives the same numbers however the draw is cut, and for every device.
        self._noise = np.random.default_rng(seed)
        # The whole excitation is cheap (two sines a sample); the frames around it are what costs.
        excitation = pulses(spectra.f0)
        self._excitation = functional.pad(excitation[None], (LEAD, LEAD), mode="reflect")[0]
        self._done_frames = 0
        self._sound = torch.zeros(OVERLAP, device=device)
        self._weight = torch.zeros(OVERLAP, device=device)
        self._skip = LEAD
        self._ready = torch.zeros(0, device=device)
        self._left = spectra.frames * HOP

    @property
    def samples_left(self) -> int:
        """Samples that `take` has not returned yet."""
        return self._left

    def take(self, samples: int) -> Tensor:
        """The next `samples` samples (fewer at the end), float32 [n] on the device; renders the frames they need."""
        wanted = min(samples, self._left)
        while self._ready.shape[0] < wanted:
            missing = wanted - self._ready.shape[0] + self._skip
            self._render(min(-(-missing // HOP), self._spectra.frames - self._done_frames))
        self._left -= wanted
        block, self._ready = self._ready[:wanted], self._ready[wanted:]
        return block

    def _render(self, frames: int) -> None:
        first, last = self._done_frames, self._done_frames + frames
        sound = _overlapped(torch.fft.irfft(self._spectrum(first, last), n=N_FFT, dim=1) * self._window)
        weight = _overlapped((self._window**2).expand(frames, N_FFT))
        sound[:OVERLAP] += self._sound
        weight[:OVERLAP] += self._weight
        self._done_frames = last
        # After the last frame nothing more overlaps: what is left over is final, too.
        final = sound.shape[0] if last == self._spectra.frames else frames * HOP
        self._sound, self._weight = sound[final:], weight[final:]
        finished = sound[:final] / weight[:final].clamp(min=1e-11)
        self._ready = torch.cat([self._ready, finished[self._skip :]])
        self._skip = max(0, self._skip - final)

    def _spectrum(self, first: int, last: int) -> Tensor:
        """Complex spectra of frames first to last, [frames, 601]."""
        part = slice(first, last)
        span = self._excitation[first * HOP : (last - 1) * HOP + N_FFT]
        # Scaled so that a cosine of amplitude 1 has height 1 in the spectrum's harmonic bins.
        source = torch.fft.rfft(span.unfold(0, N_FFT, HOP) * (self._window / (N_FFT / 4)), dim=1)
        spectra = self._spectra
        turn = torch.pi * torch.tanh(spectra.theta[:, part])
        harmonic = torch.polar(_magnitude(spectra.lh[:, part]), turn).T * source
        drawn = self._noise.standard_normal((last - first, BINS, 2), dtype=np.float32)
        noise = torch.view_as_complex(torch.from_numpy(drawn).to(spectra.ln.device))
        free = torch.polar(_magnitude(spectra.lr[:, part]), spectra.phi[:, part]).T
        return harmonic + _magnitude(spectra.ln[:, part]).T * noise + free


def _magnitude(logarithm: Tensor) -> Tensor:
    return torch.exp(logarithm.clamp(max=LARGEST_LOG))


def _overlapped(frames: Tensor) -> Tensor:
    """Sum of frames [n, 1200], each HOP samples after the one before: [n * 300 + 900]."""
    count, runs = frames.shape[0], N_FFT // HOP
    pieces = frames.reshape(count, runs, HOP)
    total = torch.zeros(count + runs - 1, HOP, device=frames.device)
    for run in range(runs):
        total[run : run + count] += pieces[:, run]
    return total.reshape(-1)


def pulses(f0: Tensor) -> Tensor:
    """Band-limited pulse train of a fundamental, f0 [frames] in Hz -> [frames * 300]; 0 where f0 is below 40 Hz.

    Every harmonic up to 11 kHz at amplitude 1: sum over h of cos(h t) = sin((H + 1/2) t) / (2 sin(t / 2)) - 1/2.
    """
    smooth = functional.interpolate(f0[None, None], scale_factor=HOP, mode="linear", align_corners=False)[0, 0]
    voiced = smooth > VOICED_ABOVE_HZ
    frequency = smooth.clamp(min=VOICED_ABOVE_HZ)
    steps = (frequency * (2**PHASE_BITS / RATE)).to(torch.int64)
    cycles = (torch.cumsum(steps, 0) & (2**PHASE_BITS - 1)).to(torch.float32) / 2**PHASE_BITS
    phase = cycles * (2 * torch.pi)
    half_harmonics = torch.floor(HIGHEST_HARMONIC_HZ / frequency) + 0.5
    below = 2 * torch.sin(phase / 2)
    at_peak = below.abs() <= 2e-3
    train = torch.sin(half_harmonics * phase) / torch.where(at_peak, torch.ones_like(below), below)
    train = torch.where(at_peak, half_harmonics, train) - 0.5
    return torch.where(voiced, train, torch.zeros_like(train))


def block_ends(total: int, block: int, shortest: int) -> list[int]:
    """Where blocks of `block` samples end in `total` samples; a last block below `shortest` joins the one before it."""
    if block <= 0:
        return [total]
    ends = list(range(block, total, block))
    if ends and total - ends[-1] < shortest:
        ends.pop()
    return [*ends, total]

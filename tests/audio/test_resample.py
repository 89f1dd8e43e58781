import tracemalloc

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from rocm_wizard.audio.resample import PASSBAND, STOPBAND, Resampler, resample, weights

PAIRS = [(24_000, 48_000), (24_000, 44_100), (32_000, 48_000), (48_000, 16_000), (44_100, 16_000), (22_050, 48_000)]
ODD = [(44_101, 16_000), (191_999, 16_000), (24_001, 48_000)]
"""Rates without a common divisor: as many phases as the target has hertz."""


@settings(deadline=None, max_examples=40)
@given(
    pair=st.sampled_from([*PAIRS, *ODD]),
    length=st.integers(0, 3000),
    cuts=st.lists(st.integers(0, 3000), max_size=8),
    seed=st.integers(0, 99),
)
def test_output_does_not_depend_on_how_the_input_is_cut(
    pair: tuple[int, int], length: int, cuts: list[int], seed: int
) -> None:
    samples = np.random.default_rng(seed).uniform(-1, 1, length).astype(np.float32)
    whole = resample(samples, *pair)
    resampler = Resampler(*pair)
    pieces = [resampler.process(piece) for piece in np.split(samples, sorted(min(cut, length) for cut in cuts))]
    cut = np.concatenate([*pieces, resampler.flush()])
    assert len(cut) == len(whole) == -(-length * pair[1] // pair[0])
    assert np.abs(cut - whole).max(initial=0) <= 1e-6


@pytest.mark.parametrize(("source", "target"), [*PAIRS, *ODD])
def test_response(source: int, target: int) -> None:
    """A tone below 0.9 of the lower Nyquist frequency keeps its level and place; one above 1.0 of it is 80 dB down."""
    lower = min(source, target) / 2
    for fraction in (0.02, 0.5, 0.8, PASSBAND):
        frequency = fraction * lower
        out, expected = tone(source, target, frequency), sine(frequency, target, len(tone(source, target, frequency)))
        middle = slice(len(out) // 4, 3 * len(out) // 4)
        gain = 20 * np.log10(np.linalg.norm(out[middle]) / np.linalg.norm(expected[middle]))
        assert abs(gain) < 0.01, fraction
        assert np.abs(out[middle] - expected[middle]).max() < 0.001, fraction
    if target < source:
        for fraction in (STOPBAND, 1.02, 1.3, 1.9):
            if fraction * lower < source / 2:
                out = tone(source, target, fraction * lower)
                middle = out[len(out) // 4 : 3 * len(out) // 4]
                assert 20 * np.log10(np.abs(middle).max()) < -80, fraction
    else:
        spectrum = np.abs(np.fft.rfft(tone(source, target, 0.8 * lower) * np.blackman(len(tone(source, target, 1000)))))
        frequencies = np.fft.rfftfreq(len(tone(source, target, 1000)), 1 / target)
        images = spectrum[frequencies > lower * 1.02]
        assert 20 * np.log10(images.max() / spectrum.max()) < -80


def sine(frequency: float, rate: int, count: int) -> np.ndarray:
    return np.sin(2 * np.pi * frequency * np.arange(count) / rate)


def tone(source: int, target: int, frequency: float) -> np.ndarray:
    return resample(sine(frequency, source, source // 4).astype(np.float32), source, target)


def test_constant_stays_constant() -> None:
    out = resample(np.full(2000, 0.5, np.float32), 24_000, 44_100)
    assert np.abs(out[300:-300] - 0.5).max() < 1e-6


def test_output_comes_while_input_does() -> None:
    """Not all at the end: no more than 3 ms of 24 kHz input are held back."""
    resampler = Resampler(24_000, 48_000)
    got = sum(len(resampler.process(np.zeros(240, np.float32))) for _ in range(10))
    assert got > 2 * (2400 - 72)


def test_equal_rates_and_bad_rates() -> None:
    samples = np.ones(5, np.float32)
    assert resample(samples, 16_000, 16_000) is samples
    with pytest.raises(ValueError, match="positive"):
        Resampler(0, 48_000)


@pytest.mark.parametrize(("source", "target"), ODD)
def test_odd_rates_are_as_exact_as_the_filter(source: int, target: int) -> None:
    """Against the same filter with the weights of each output's own phase: the difference is below -110 dB."""
    samples = np.random.default_rng(5).uniform(-1, 1, source // 2).astype(np.float32)
    out = resample(samples, source, target)
    narrow = min(1.0, target / source)
    inner = np.random.default_rng(6).integers(len(out) // 10, len(out) * 9 // 10, 300)
    errors: list[float] = []
    for index in inner:
        before, phase = divmod(int(index) * source, target)
        (row,) = weights(np.array([phase / target]), narrow)
        first = before - (len(row) // 2 - 1)
        errors.append(float(row @ samples[first : first + len(row)]) - float(out[index]))
    assert 20 * np.log10(np.abs(errors).max() / np.abs(out).max()) < -110


@pytest.mark.parametrize(("source", "target"), ODD)
def test_a_tone_of_an_odd_rate_stays_clean(source: int, target: int) -> None:
    """What is not the tone lies 90 dB below it."""
    samples = sine(1000.0, source, source).astype(np.float32)
    out = resample(samples, source, target)
    middle = slice(target // 10, target * 9 // 10)
    assert np.abs(out - sine(1000.0, target, len(out)))[middle].max() < 10 ** (-90 / 20)


@pytest.mark.parametrize(("source", "target"), [*ODD, (767_999, 16_000), (192_000, 44_100)])
def test_no_rate_takes_much_memory(source: int, target: int) -> None:
    """A filter for each of 16,000 phases took 361 MiB at 44,101 Hz and 1.5 GB at 191,999 Hz."""
    samples = np.zeros(source // 4, np.float32)
    tracemalloc.start()
    try:
        resample(samples, source, target)
        peak = tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()
    assert peak < 16 * 2**20

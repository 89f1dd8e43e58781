"""Whether a quantity drifts over time: the slope of a straight line through it, with its confidence interval."""

import math
from collections.abc import Sequence
from dataclasses import dataclass
from statistics import NormalDist

FEWEST_POINTS = 5
_CONFIDENCE = 0.95


@dataclass(frozen=True, slots=True)
class Drift:
    """Least-squares slope in units a minute with its 95 % interval, and the fitted line's first and last value.

    `minutes`: the time between those two.
    """

    slope: float
    low: float
    high: float
    begin: float
    end: float
    minutes: float
    points: int

    @property
    def grows(self) -> bool:
        """Whether the whole interval is above zero."""
        return self.low > 0

    @property
    def growth(self) -> float:
        """The fitted change over the whole time, as a share of the beginning."""
        return (self.end - self.begin) / abs(self.begin) if self.begin else 0.0

    @property
    def most(self) -> float:
        """The greatest change over the whole time that the interval allows, in units."""
        return self.high * self.minutes


def drift(minutes: Sequence[float], values: Sequence[float]) -> Drift | None:
    """The drift of `values` taken at `minutes`; None for fewer than five points or no time between them.

    The interval takes the residuals for independent and alike (Student's t). A first value that pays for warm-up
    bends the line: leave it out.
    """
    count = len(values)
    if count < FEWEST_POINTS or len(minutes) != count:
        return None
    centre, mean = sum(minutes) / count, sum(values) / count
    spread = sum((minute - centre) ** 2 for minute in minutes)
    if spread <= 0:
        return None
    slope = sum((m - centre) * (v - mean) for m, v in zip(minutes, values, strict=True)) / spread
    residuals = (v - mean - slope * (m - centre) for m, v in zip(minutes, values, strict=True))
    error = math.sqrt(sum(residual**2 for residual in residuals) / (count - 2) / spread)
    margin = student_t(0.5 + _CONFIDENCE / 2, count - 2) * error
    first, last = min(minutes), max(minutes)
    begin, end = (mean + slope * (at - centre) for at in (first, last))
    return Drift(slope, slope - margin, slope + margin, begin, end, last - first, count)


def student_t(probability: float, freedom: int) -> float:
    """The quantile of Student's t, by the Cornish-Fisher expansion (Abramowitz and Stegun 26.7.5).

    Within 0.02 for three degrees of freedom at 0.975 and far closer above.
    """
    z = NormalDist().inv_cdf(probability)
    terms = (
        (z**3 + z) / 4,
        (5 * z**5 + 16 * z**3 + 3 * z) / 96,
        (3 * z**7 + 19 * z**5 + 17 * z**3 - 15 * z) / 384,
        (79 * z**9 + 776 * z**7 + 1482 * z**5 - 1920 * z**3 - 945 * z) / 92160,
    )
    return z + sum(term / freedom**power for power, term in enumerate(terms, start=1))

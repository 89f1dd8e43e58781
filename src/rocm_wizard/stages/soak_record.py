"""What a soak remembers: each turn's times and texts, memory over time, and what it all adds up to."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from statistics import fmean

import psutil

from rocm_wizard.qualification.outcome import Outcome
from rocm_wizard.qualification.stage import StageContext
from rocm_wizard.stages.device_meter import DeviceMeter
from rocm_wizard.stages.drift import FEWEST_POINTS, Drift, drift

SLOWER = 0.20
"""A latency that surely grows, and by this share over the soak, is a warning; where it may, it is not called steady."""
MEMORY_GROWTH = 64 * 2**20
"""The same for memory, in bytes over the soak."""
_WARM_UP_SHARE = 0.1


@dataclass(slots=True)
class Series:
    """One quantity over time."""

    minutes: list[float] = field(default_factory=list[float])
    values: list[float] = field(default_factory=list[float])

    def add(self, minute: float, value: float) -> None:
        """Takes one value."""
        self.minutes.append(minute)
        self.values.append(value)

    def drift(self) -> Drift | None:
        """The drift after the first tenth, in which caches fill."""
        skip = max(1, int(len(self.values) * _WARM_UP_SHARE))
        return drift(self.minutes[skip:], self.values[skip:])


@dataclass(slots=True)
class SoakRecord:
    """Everything measured so far; `turns` counts pairs of recognition and synthesis, `first_text` was heard first."""

    device: DeviceMeter
    turns: int = 0
    restarts: int = 0
    wrong_texts: int = 0
    first_text: str = ""
    series: dict[str, Series] = field(default_factory=dict[str, Series])

    def add(self, context: StageContext, name: str, minute: float, value: float, unit: str) -> None:
        """Takes one value and reports it."""
        series = self.series.setdefault(name, Series())
        series.add(minute, value)
        context.measure(f"soak.{name}", value, unit, len(series.values))

    def report(self, context: StageContext, latencies: Mapping[str, str], memories: Mapping[str, str]) -> None:
        """Findings on drift: names of latency series and of memory series, each with its check's name."""
        for name, check in latencies.items():
            with context.check(check):
                _report_latency(context, name, self.series.get(name, Series()))
        for name, check in memories.items():
            with context.check(check):
                if name in self.series:
                    _report_memory(context, name, self.series[name])
                elif name == "memory_device" and not self.device.asks:
                    context.finding("soak.memory_unknown", Outcome.SKIPPED, quantity=name)
                else:
                    context.finding("soak.memory_untold", Outcome.SKIPPED, quantity=name)
                if name == "memory_device":
                    self.device.report(context)


def _report_latency(context: StageContext, name: str, series: Series) -> None:
    found = series.drift()
    if found is None:
        context.finding(
            "soak.too_short", Outcome.COULD_NOT_CHECK, quantity=name, points=len(series.values), least=FEWEST_POINTS + 1
        )
        return
    if found.grows and found.growth > SLOWER:
        id, outcome = "soak.slower", Outcome.WARNING
    elif found.most > SLOWER * abs(found.begin):
        id, outcome = "soak.unclear", Outcome.COULD_NOT_CHECK
    else:
        id, outcome = "soak.steady", Outcome.PASSED
    mean = fmean(series.values) or 1.0
    context.finding(
        id,
        outcome,
        quantity=name,
        slope=round(found.slope / mean, 6),
        low=round(found.low / mean, 6),
        high=round(found.high / mean, 6),
        begin=round(found.begin, 4),
        end=round(found.end, 4),
        points=found.points,
        limit=SLOWER,
    )


def _report_memory(context: StageContext, name: str, series: Series) -> None:
    found = series.drift()
    if found is None:
        context.finding(
            "soak.too_short", Outcome.COULD_NOT_CHECK, quantity=name, points=len(series.values), least=FEWEST_POINTS + 1
        )
        return
    if found.grows and found.end - found.begin > MEMORY_GROWTH:
        id, outcome = "soak.memory_grows", Outcome.WARNING
    elif found.most > MEMORY_GROWTH:
        id, outcome = "soak.memory_unclear", Outcome.COULD_NOT_CHECK
    else:
        id, outcome = "soak.memory_steady", Outcome.PASSED
    context.finding(
        id,
        outcome,
        quantity=name,
        begin_mib=round(found.begin / 2**20),
        end_mib=round(found.end / 2**20),
        most_mib=round(max(series.values) / 2**20),
        slope_mib=round(found.slope / 2**20, 3),
        points=found.points,
        most_growth_mib=round(found.most / 2**20),
        limit_mib=round(MEMORY_GROWTH / 2**20),
    )


def resident_memory(pid: int | None = None) -> int | None:
    """Bytes of memory of a process and everything below it, this one without a pid; None when it is gone."""
    try:
        process = psutil.Process(pid)
        below = process.children(recursive=True) if pid is not None else []
        return process.memory_info().rss + sum(child.memory_info().rss for child in below)
    except psutil.Error:
        return None

"""Judges what the compute probe reports: the numbers, and the evidence that the device made them.

The child only reports errors and evidence; whether they are good enough is decided here, so a child that calls itself
right convinces nobody.
"""

import math
import statistics
from dataclasses import dataclass, field
from typing import Any

from rocm_wizard.qualification.outcome import Outcome
from rocm_wizard.qualification.stage import StageContext
from rocm_wizard.stages.compute_plan import Operation

_WITH_COUNTERS = ("cuda", "hip")
_SEARCH_SECONDS = 0.25
_SEARCH_TIMES = 3.0
"""A search was seen when a new length typically costs this much more and this many times the warm time."""


def number(value: Any) -> float | None:
    """A finite number that a child sent, else None."""
    if isinstance(value, int | float) and not isinstance(value, bool) and math.isfinite(value):
        return float(value)
    return None


def on_device(message: dict[str, Any], device: str, kind: str) -> bool:
    """Whether the evidence says that the device itself computed.

    The result lies on the device; CUDA and HIP devices have also taken memory and spent time by their own clock.
    """
    place = str(message.get("result_device"))
    if place.partition(":")[0] != device.partition(":")[0]:
        return False
    if kind not in _WITH_COUNTERS:
        return True
    return (number(message.get("device_bytes")) or 0) > 0 and (number(message.get("device_ms")) or 0) > 0


def report_operation(
    context: StageContext, operation: Operation, message: dict[str, Any], device: str, kind: str, facts: dict[str, Any]
) -> None:
    """One finding for an operation's numbers, and its times."""
    names = ("cold", "warm", "max_error", "elements", "worst_index", "worst_value", "expected_value", "not_finite")
    shown = {name: message.get(name) for name in (*names, "result_device", "device_ms", "device_bytes")}
    shown |= {"step": operation.id, "tolerance": operation.tolerance, **facts}
    error = number(shown["max_error"])
    id, outcome = f"compute.{operation.id}", Outcome.FAILED
    if number(shown["not_finite"]):
        id = "compute.not_finite"
    elif error is None or error > operation.tolerance or error < 0 or not number(shown["elements"]):
        id = "compute.wrong_numbers"
    elif not on_device(message, device, kind):
        id = "compute.cpu_fallback"
    else:
        outcome = Outcome.PASSED
    times = [seconds for phase in ("cold", "warm") if (seconds := number(shown[phase])) is not None]
    with context.check(operation.id, took=sum(times)):
        context.finding(id, outcome, device=device, **shown)
    for phase in ("cold", "warm"):
        seconds = number(shown[phase])
        if seconds is not None:
            context.measure(f"compute.{operation.id}", seconds, "s", phase=phase)


@dataclass(slots=True)
class VocoderTimes:
    """Cold and warm seconds by mel length, unpadded and in the bucket, as they come in."""

    unpadded: dict[int, tuple[float, float]] = field(default_factory=dict[int, tuple[float, float]])
    padded: dict[int, tuple[float, float]] = field(default_factory=dict[int, tuple[float, float]])
    elsewhere: int = 0

    def take(self, context: StageContext, message: dict[str, Any], device: str, kind: str) -> None:
        """One length's times."""
        mels, cold, warm = message.get("mels"), number(message.get("cold")), number(message.get("warm"))
        if not isinstance(mels, int) or cold is None or warm is None:
            return
        bucket = message["type"] == "vocoder_padded"
        rows = self.padded if bucket else self.unpadded
        rows[mels] = (cold, warm)
        self.elsewhere += not on_device(message, device, kind)
        id = "compute.vocoder_bucket" if bucket else "compute.vocoder_unpadded"
        context.measure(id, cold, "s", len(rows), "cold")
        context.measure(id, warm, "s", len(rows), "warm")

    @property
    def extra(self) -> float:
        """What one new length typically costs over a known one, in seconds."""
        return statistics.median(cold - warm for cold, warm in self.unpadded.values())

    @property
    def searched(self) -> bool:
        """Whether new lengths cost a kernel search."""
        warm = statistics.median(warm for _, warm in self.unpadded.values())
        return self.extra > _SEARCH_SECONDS and self.extra > (_SEARCH_TIMES - 1) * warm

    def numbers(self) -> dict[str, Any]:
        """Sums and rows for a finding; seconds."""
        unpadded = sum(cold for cold, _ in self.unpadded.values())
        bucket = sum(cold for cold, _ in self.padded.values())
        return {
            "lengths": [str(mels) for mels in self.unpadded],
            "cold": [f"{cold:.4g}" for cold, _ in self.unpadded.values()],
            "warm": [f"{warm:.4g}" for _, warm in self.unpadded.values()],
            "bucket_cold": [f"{cold:.4g}" for cold, _ in self.padded.values()],
            "bucket_warm": [f"{warm:.4g}" for _, warm in self.padded.values()],
            "count": len(self.unpadded),
            "extra": self.extra,
            "unpadded_seconds": unpadded,
            "bucket_seconds": bucket,
            "saved": unpadded - bucket,
            "warm_seconds": statistics.median(warm for _, warm in self.unpadded.values()),
            "bucket_warm_seconds": statistics.median(warm for _, warm in self.padded.values()),
        }


def report_vocoder(
    context: StageContext,
    operation: Operation,
    times: VocoderTimes,
    message: dict[str, Any],
    device: str,
    kind: str,
    facts: dict[str, Any],
) -> bool:
    """Findings about the vocoder's shapes; whether every length was reported."""
    wanted = operation.order(math.inf)["options"]["lengths"]
    if not set(wanted) <= set(times.unpadded) & set(times.padded):
        return False
    names = ("bucket", "channels", "model_channels", "dtype", "frames_differ", "receptive_frames", "max_error")
    shown = {name: message.get(name) for name in (*names, "not_finite")} | times.numbers() | facts
    shown |= {"device": device, "step": operation.id, "tolerance": operation.tolerance}
    error = number(message.get("max_error"))
    with context.check("vocoder"):
        if times.elsewhere:
            context.finding("compute.cpu_fallback", Outcome.FAILED, result_device="cpu", **shown)
        if number(message.get("not_finite")):
            context.finding("compute.not_finite", Outcome.FAILED, **shown)
        elif error is None or not 0 <= error <= operation.tolerance:
            context.finding("compute.vocoder_differs", Outcome.FAILED, **shown)
        else:
            context.finding("compute.vocoder_agrees", Outcome.PASSED, **shown)
        # oneDNN prepares a new shape too, but a CPU searches nothing: what is slow there is something else.
        searched = kind in _WITH_COUNTERS and times.searched
        context.finding("compute.vocoder_search" if searched else "compute.vocoder_no_search", Outcome.PASSED, **shown)
    return True

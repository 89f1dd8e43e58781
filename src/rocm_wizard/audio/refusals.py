"""What came of trying to open an output: PortAudio's codes, in words that do not change with its version."""

from collections.abc import Sequence
from dataclasses import asdict, dataclass
from typing import Any, Literal

_MEANINGS = {
    -9999: "host_error",
    -9998: "channels",
    -9997: "rate",
    -9996: "device",
    -9994: "sample_format",
    -9987: "timed_out",
    -9986: "internal_error",
    -9985: "busy_or_unsupported",
    -9984: "host_settings",
}
"""PortAudio's error codes that opening an output can give (`PaErrorCode` in portaudio.h)."""


@dataclass(frozen=True, slots=True)
class Attempt:
    """What came of one try: `step` is where it ended, `code` PortAudio's (0 when it opened)."""

    host_api: str
    device: str
    rate: int
    channels: int
    resampled: bool
    step: Literal["check", "open", "start", "opened"]
    code: int
    text: str

    @property
    def meaning(self) -> str:
        """A stable word for the code. WASAPI calls a refused rate an invalid device (PortAudio issue 314)."""
        if self.code == -9996 and "WASAPI" in self.host_api:
            return "device_or_rate"
        return _MEANINGS.get(self.code, "opened" if self.step == "opened" else "other")

    def as_fact(self) -> dict[str, Any]:
        """Its fields and its meaning."""
        return {**asdict(self), "meaning": self.meaning}


class NoOutput(Exception):
    """Nothing can be played. `reason`: portaudio_missing, portaudio_failed, no_output_device, device_not_found or
    could_not_open."""

    def __init__(
        self,
        reason: str,
        text: str,
        attempts: Sequence[Attempt] = (),
        code: int | None = None,
        outputs: Sequence[str] = (),
    ) -> None:
        super().__init__(text)
        self.reason = reason
        self.attempts = list(attempts)
        self.outputs = list(outputs)
        """Names of the outputs there are."""
        self.code = attempts[-1].code if attempts and code is None else code

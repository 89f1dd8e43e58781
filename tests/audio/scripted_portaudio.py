"""PortAudio as a Windows machine would show it, with refusals on demand: there is no Windows sound card to test with.

Stands in for the `sounddevice` module, a third-party library; none of our own code is replaced. Names and rates are
those of an ordinary laptop as PortAudio lists them.
"""

import threading
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from types import SimpleNamespace
from typing import Any

_SPEAKERS = "Speakers (Realtek(R) Audio)"
WINDOWS_HOST_APIS = ("MME", "Windows DirectSound", "Windows WASAPI", "Windows WDM-KS")
WINDOWS_DEVICES = (
    # name, host API, output channels, default rate
    ("Microsoft Sound Mapper - Input", 0, 0, 44100.0),
    ("Microsoft Sound Mapper - Output", 0, 2, 44100.0),
    (_SPEAKERS, 0, 2, 44100.0),
    ("Headset Earphone (WH-1000XM4 Ha", 0, 2, 44100.0),
    ("Primary Sound Driver", 1, 2, 44100.0),
    (_SPEAKERS, 1, 2, 44100.0),
    (_SPEAKERS, 2, 2, 48000.0),
    ("Headset Earphone (WH-1000XM4 Hands-Free AG Audio)", 2, 1, 16000.0),
    ("Microphone Array (Realtek(R) Audio)", 2, 0, 48000.0),
    (_SPEAKERS, 3, 2, 48000.0),
)
WINDOWS_DEFAULTS = (1, 4, 6, 9)


class PortAudioError(Exception):
    def __str__(self) -> str:
        return f"{self.args[0]} [PaErrorCode {self.args[1]}]"


@dataclass
class WasapiSettings:
    exclusive: bool = False
    auto_convert: bool = False


@dataclass
class ScriptedStream:
    """Never calls back by itself."""

    settings: dict[str, Any]
    latency: float = 0.1
    active: bool = True
    started: bool = False
    closed: bool = False
    hang: threading.Event | None = None
    """When set here, stop and abort wait for it."""

    def start(self) -> None:
        self.started = True

    def stop(self) -> None:
        if self.hang is not None:
            self.hang.wait()

    abort = stop

    def close(self) -> None:
        self.closed = True


Refusal = tuple[int, str]


@dataclass
class ScriptedPortAudio:
    """`refuse(host_api, rate, settings)` gives an error for a combination, or None."""

    refuse: Callable[[str, int, Mapping[str, Any]], Refusal | None] = lambda host_api, rate, settings: None
    host_apis: tuple[str, ...] = WINDOWS_HOST_APIS
    devices: tuple[tuple[str, int, int, float], ...] = WINDOWS_DEVICES
    defaults: tuple[int, ...] = WINDOWS_DEFAULTS
    fails_at: str = "check"
    streams: list[ScriptedStream] = field(default_factory=list)
    hang: threading.Event | None = None
    PortAudioError: type[Exception] = PortAudioError
    WasapiSettings: type[Any] = WasapiSettings
    default: Any = field(default_factory=lambda: SimpleNamespace(hostapi=0))

    def query_hostapis(self) -> tuple[dict[str, Any], ...]:
        pairs = zip(self.host_apis, self.defaults, strict=True)
        return tuple({"name": name, "default_output_device": index} for name, index in pairs)

    def query_devices(self, index: int | None = None) -> Any:
        all_devices = [
            {
                "index": number, "name": name, "hostapi": host_api, "max_output_channels": channels,
                "default_samplerate": rate, "default_high_output_latency": 0.18,
            }
            for number, (name, host_api, channels, rate) in enumerate(self.devices)
        ]  # fmt: skip
        return all_devices if index is None else all_devices[index]

    def check_output_settings(self, samplerate: int, **settings: Any) -> None:
        if self.fails_at == "check":
            self._refuse(samplerate, settings)

    def OutputStream(self, samplerate: int, **settings: Any) -> ScriptedStream:
        if self.fails_at == "open":
            self._refuse(samplerate, settings)
        self.streams.append(ScriptedStream({"samplerate": samplerate, **settings}, hang=self.hang))
        return self.streams[-1]

    def _refuse(self, rate: int, settings: Mapping[str, Any]) -> None:
        host_api = self.host_apis[self.devices[settings["device"]][1]]
        refusal = self.refuse(host_api, rate, settings)
        if refusal is not None:
            raise PortAudioError(refusal[1], refusal[0])

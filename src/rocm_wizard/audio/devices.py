"""Which output is opened, in which order, and why the others were not. Never an input: opening a microphone turns a
Bluetooth headset into a 16 kHz telephone (dosbox-x issue 6119).

WDM-KS and exclusive mode are never used: stopping can hang (PortAudio issue 919) and other programs fall silent. A
WASAPI device that refuses a rate may say "invalid device" (-9996) instead of "invalid rate" (PortAudio issue 314), so
every refusal leads to the next attempt. An index may name another device after a replug (python-sounddevice issue 427),
so a device is named by host API and name and looked up just before it is opened.
"""

import sys
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any, Literal

from rocm_wizard.audio.refusals import Attempt, NoOutput

_INVALID_CHANNEL_COUNT = -9998
_SINKS_OF_NOBODY = ("remote audio", "dummy output", "null output", "auto_null")
"""Outputs that take sound without a loudspeaker of this computer behind them: that of Windows' remote desktop (FreeRDP
pull 5806 has a fake one too) and those that PulseAudio and PipeWire make up when there is no card."""
_MME_NAME_LENGTH = 31
_LATENCY_SECONDS = 0.07
"""Device buffer asked for, unless the device's own `high` is more. PortAudio's ALSA cuts it into four periods, and the
first sample waits for one: up to 17.5 ms here. 200 ms would outlast a busier computer and make that wait 50 ms."""


@dataclass(frozen=True, slots=True)
class Choice:
    """One thing to try."""

    host_api: str | None
    """None: the default one."""
    rate: Literal["stream", "device"]
    """The stream's own rate, or the device's with our resampler."""
    auto_convert: bool = False
    """WASAPI shared mode converts the rate itself."""


WINDOWS_CHOICES = (
    Choice("Windows WASAPI", "stream", auto_convert=True),
    Choice("Windows WASAPI", "device"),
    Choice("Windows DirectSound", "stream"),
    Choice("MME", "stream"),
)
OTHER_CHOICES = (Choice(None, "stream"), Choice(None, "device"))
REFUSED_HOST_APIS = frozenset({"Windows WDM-KS"})


@dataclass(frozen=True, slots=True)
class Wanted:
    """A device that the user named; None means any host API, the default device."""

    name: str | None = None
    host_api: str | None = None
    or_default: bool = False
    """When it cannot be had, the usual ones in their order."""


@dataclass(frozen=True, slots=True)
class Output:
    """A device with output channels."""

    index: int
    name: str
    host_api: str
    default_rate: int
    channels: int
    is_default: bool
    """Of its host API."""


@dataclass(slots=True)
class Opened:
    """A running stream and what it is."""

    stream: Any
    output: Output
    rate: int
    attempts: list[Attempt]
    outputs: list[str]
    """Names of all outputs there are, this one's host API first."""

    @property
    def hands_free(self) -> bool:
        """A Bluetooth headset in telephone mode, by its name."""
        return "hands-free" in self.output.name.lower()

    @property
    def heard_by_nobody(self) -> bool:
        """An output without a loudspeaker of this computer behind it, by its name."""
        return any(name in self.output.name.lower() for name in _SINKS_OF_NOBODY)

    def attempts_as_facts(self) -> list[dict[str, Any]]:
        return [attempt.as_fact() for attempt in self.attempts]


MakeCallback = Callable[[int], Callable[..., None]]
"""Given the device's rate, the stream callback for it."""


def load_portaudio() -> Any:
    """The `sounddevice` module, with PortAudio initialised. Raises NoOutput."""
    try:
        import sounddevice
    except OSError as error:
        # Wheels bring the library on Windows and macOS; on Linux it is the distribution's.
        hint = "; install libportaudio2 (Debian, Ubuntu) or portaudio (Fedora, Arch)" if sys.platform == "linux" else ""
        raise NoOutput("portaudio_missing", f"{error}{hint}") from error
    except Exception as error:
        # A PortAudioError; it has no name here, the import that defines it failed.
        raise NoOutput("portaudio_failed", str(error), code=_code(error)) from error
    return sounddevice


def list_outputs(sound: Any) -> list[Output]:
    """Every output, those of the default host API first. `sound` is the sounddevice module."""
    host_apis = sound.query_hostapis()
    outputs = [
        Output(
            index=int(device["index"]),
            name=str(device["name"]),
            host_api=str(host_apis[device["hostapi"]]["name"]),
            default_rate=round(float(device["default_samplerate"])),
            channels=int(device["max_output_channels"]),
            is_default=int(device["index"]) == host_apis[device["hostapi"]]["default_output_device"],
        )
        for device in sound.query_devices()
        if device["max_output_channels"] > 0
    ]
    first = str(host_apis[sound.default.hostapi]["name"]) if outputs else ""
    return sorted(outputs, key=lambda output: output.host_api != first)


def choices_for(platform: str) -> tuple[Choice, ...]:
    """The order for `sys.platform`."""
    return WINDOWS_CHOICES if platform == "win32" else OTHER_CHOICES


def candidates(
    choices: Sequence[Choice], outputs: Sequence[Output], wanted: Wanted, stream_rate: int
) -> list[tuple[Choice, Output, int]]:
    """(choice, output, rate to open it at) in the order to try. Empty when no output fits."""
    found: list[tuple[Choice, Output, int]] = []
    for named in (wanted, Wanted()) if wanted.or_default else (wanted,):
        for choice in choices:
            output = next(_matching(choice, outputs, named), None)
            if output is None:
                continue
            rate = stream_rate if choice.rate == "stream" else output.default_rate
            twins = [old for old, other, tried in found if (other, tried) == (output, rate)]
            if choice not in twins and (choice.auto_convert or not twins):
                found.append((choice, output, rate))
    return found


def open_output(
    sound: Any, choices: Sequence[Choice], wanted: Wanted, stream_rate: int, make_callback: MakeCallback
) -> Opened:
    """Opens and starts the first candidate that can be. Raises NoOutput with every attempt."""
    outputs = list_outputs(sound)
    if not outputs:
        raise NoOutput("no_output_device", "there is no output device")
    tries = candidates(choices, outputs, wanted, stream_rate)
    names = _names(outputs)
    if not tries and (wanted.or_default or wanted == Wanted()):
        raise NoOutput("no_output_device", "no host API has a default output device", outputs=names)
    if not tries:
        text = f"no output is named {wanted.name!r} (host API {wanted.host_api!r})"
        raise NoOutput("device_not_found", text, outputs=names)
    attempts: list[Attempt] = []
    for choice, output, rate in tries:
        for channels in (1, 2):
            stream, attempt = _try(sound, choice, output, rate, channels, rate != stream_rate, make_callback(rate))
            attempts.append(attempt)
            if stream is not None:
                return Opened(stream, output, rate, attempts, names)
            if attempt.code != _INVALID_CHANNEL_COUNT or output.channels < 2:
                break
    raise NoOutput("could_not_open", attempts[-1].text, attempts, outputs=names)


def _names(outputs: Sequence[Output]) -> list[str]:
    """Each name once, cut-off ones left out where the whole one is there too."""
    names = dict.fromkeys(output.name for output in outputs if output.host_api not in REFUSED_HOST_APIS)
    return [name for name in names if not any(other != name and _is_named(name, other) for other in names)]


def _matching(choice: Choice, outputs: Sequence[Output], wanted: Wanted) -> Iterator[Output]:
    for output in outputs:
        if output.host_api in REFUSED_HOST_APIS:
            continue
        if choice.host_api not in (None, output.host_api) or wanted.host_api not in (None, output.host_api):
            continue
        if output.is_default if wanted.name is None else _is_named(output.name, wanted.name):
            yield output


def _is_named(name: str, wanted: str) -> bool:
    """MME cuts names off after 31 characters."""
    return name == wanted or (len(name) == _MME_NAME_LENGTH and wanted.startswith(name))


def _try(
    sound: Any, choice: Choice, output: Output, rate: int, channels: int, resampled: bool, callback: Callable[..., None]
) -> tuple[Any, Attempt]:
    extra = sound.WasapiSettings(exclusive=False, auto_convert=True) if choice.auto_convert else None
    settings = {"device": output.index, "channels": channels, "dtype": "float32", "extra_settings": extra}
    stream = None
    step: Literal["check", "open", "start", "opened"] = "check"

    def ended(code: int, text: str) -> Attempt:
        return Attempt(output.host_api, output.name, rate, channels, resampled, step, code, text)

    try:
        sound.check_output_settings(samplerate=rate, **settings)
        step = "open"
        # No block size: one that does not fit the device's period makes callbacks come in bursts.
        stream = sound.OutputStream(
            samplerate=rate, callback=callback, dither_off=True,
            latency=max(_LATENCY_SECONDS, _default_latency(sound, output)), **settings,
        )  # fmt: skip
        step = "start"
        stream.start()
    except (sound.PortAudioError, ValueError) as error:
        if stream is not None:
            stream.close()
        return None, ended(_code(error), str(error))
    step = "opened"
    return stream, ended(0, "")


def _default_latency(sound: Any, output: Output) -> float:
    return float(sound.query_devices(output.index)["default_high_output_latency"])


def _code(error: BaseException) -> int:
    """PortAudio's error code, 0 when the exception has none."""
    code = error.args[1] if len(error.args) > 1 else 0
    return code if isinstance(code, int) else 0

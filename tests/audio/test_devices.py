import subprocess
import sys
from collections.abc import Callable, Mapping
from typing import Any

import pytest

from rocm_wizard.audio.devices import (
    OTHER_CHOICES,
    WINDOWS_CHOICES,
    Opened,
    Wanted,
    candidates,
    choices_for,
    list_outputs,
    open_output,
)
from rocm_wizard.audio.refusals import NoOutput

from .scripted_portaudio import Refusal, ScriptedPortAudio

SPEAKERS = "Speakers (Realtek(R) Audio)"
HEADSET = "Headset Earphone (WH-1000XM4 Hands-Free AG Audio)"


def open_windows(sound: ScriptedPortAudio, wanted: Wanted | None = None) -> tuple[Opened, list[int]]:
    """The opened stream, and the rates that callbacks were asked for."""
    rates: list[int] = []

    def make_callback(rate: int) -> Callable[..., None]:
        rates.append(rate)
        return lambda *_: None

    return open_output(sound, WINDOWS_CHOICES, wanted or Wanted(), 24_000, make_callback), rates


def test_windows_order() -> None:
    outputs = list_outputs(ScriptedPortAudio())
    tries = candidates(WINDOWS_CHOICES, outputs, Wanted(), 24_000)
    assert [(output.host_api, output.name, rate, choice.auto_convert) for choice, output, rate in tries] == [
        ("Windows WASAPI", SPEAKERS, 24_000, True),
        ("Windows WASAPI", SPEAKERS, 48_000, False),
        ("Windows DirectSound", "Primary Sound Driver", 24_000, False),
        ("MME", "Microsoft Sound Mapper - Output", 24_000, False),
    ]


def test_platforms() -> None:
    assert choices_for("win32") == WINDOWS_CHOICES
    assert choices_for("linux") == choices_for("darwin") == OTHER_CHOICES


def test_first_choice_is_shared_mode_with_conversion_and_never_exclusive() -> None:
    sound = ScriptedPortAudio()
    opened, rates = open_windows(sound)
    settings = sound.streams[0].settings
    assert (settings["extra_settings"].exclusive, settings["extra_settings"].auto_convert) == (False, True)
    assert (settings["samplerate"], settings["channels"], settings["latency"]) == (24_000, 1, 0.18)
    assert rates == [opened.rate] == [24_000]
    assert sound.streams[0].started


@pytest.mark.parametrize("fails_at", ["check", "open"])
def test_invalid_device_from_wasapi_leads_on_to_the_devices_own_rate(fails_at: str) -> None:
    def refuse(host_api: str, rate: int, settings: Mapping[str, Any]) -> Refusal | None:
        return (-9996, "Invalid device") if host_api == "Windows WASAPI" and rate == 24_000 else None

    opened, rates = open_windows(ScriptedPortAudio(refuse, fails_at=fails_at))
    assert opened.rate == rates[-1] == 48_000
    facts = [
        (a["step"], a["code"], a["meaning"], a["text"], a["rate"], a["resampled"]) for a in opened.attempts_as_facts()
    ]
    assert facts == [
        (fails_at, -9996, "device_or_rate", "Invalid device [PaErrorCode -9996]", 24_000, False),
        ("opened", 0, "opened", "", 48_000, True),
    ]


def test_every_refusal_is_kept_when_nothing_opens() -> None:
    def refuse(host_api: str, rate: int, settings: Mapping[str, Any]) -> Refusal | None:
        return -9985, f"Device unavailable ({host_api})"

    with pytest.raises(NoOutput) as caught:
        open_windows(ScriptedPortAudio(refuse))
    assert (caught.value.reason, caught.value.code) == ("could_not_open", -9985)
    assert [a.host_api for a in caught.value.attempts] == ["Windows WASAPI"] * 2 + ["Windows DirectSound", "MME"]
    assert str(caught.value) == "Device unavailable (MME) [PaErrorCode -9985]"
    assert {a.meaning for a in caught.value.attempts} == {"busy_or_unsupported"}


def test_device_that_refuses_one_channel_gets_two() -> None:
    def refuse(host_api: str, rate: int, settings: Mapping[str, Any]) -> Refusal | None:
        return (-9998, "Invalid number of channels") if settings["channels"] == 1 else None

    opened, _ = open_windows(ScriptedPortAudio(refuse))
    assert [(a.channels, a.step) for a in opened.attempts] == [(1, "check"), (2, "opened")]


def test_named_device_is_found_by_its_whole_name_and_by_the_31_characters_of_mme() -> None:
    outputs = list_outputs(ScriptedPortAudio())
    tries = candidates(WINDOWS_CHOICES, outputs, Wanted(HEADSET), 24_000)
    assert [(output.host_api, rate) for _, output, rate in tries] == [
        ("Windows WASAPI", 24_000),
        ("Windows WASAPI", 16_000),
        ("MME", 24_000),
    ]
    only = candidates(WINDOWS_CHOICES, outputs, Wanted(SPEAKERS, "Windows DirectSound"), 24_000)
    assert [(output.host_api, output.index) for _, output, _ in only] == [("Windows DirectSound", 5)]


def test_lost_device_that_is_not_back_is_replaced_by_the_usual_ones() -> None:
    gone = Wanted("USB Headset", "Windows WASAPI", or_default=True)
    opened, _ = open_windows(ScriptedPortAudio(), gone)
    assert (opened.output.host_api, opened.output.name) == ("Windows WASAPI", SPEAKERS)
    silent = ScriptedPortAudio(devices=(), defaults=(-1, -1, -1, -1))
    with pytest.raises(NoOutput) as caught:
        open_windows(silent, gone)
    assert caught.value.reason == "no_output_device"


def test_lost_device_that_is_back_comes_first_and_no_way_is_tried_twice() -> None:
    outputs = list_outputs(ScriptedPortAudio())
    tries = candidates(WINDOWS_CHOICES, outputs, Wanted(SPEAKERS, "Windows WASAPI", or_default=True), 24_000)
    ways = [(output.host_api, output.name, rate, choice.auto_convert) for choice, output, rate in tries]
    assert ways == [
        ("Windows WASAPI", SPEAKERS, 24_000, True),
        ("Windows WASAPI", SPEAKERS, 48_000, False),
        ("Windows DirectSound", "Primary Sound Driver", 24_000, False),
        ("MME", "Microsoft Sound Mapper - Output", 24_000, False),
    ]


def test_names_of_all_outputs_are_told_once_and_whole() -> None:
    opened, _ = open_windows(ScriptedPortAudio())
    assert opened.outputs == ["Microsoft Sound Mapper - Output", SPEAKERS, "Primary Sound Driver", HEADSET]


@pytest.mark.parametrize(("name", "nobody"), [("Remote Audio", True), ("Dummy Output", True), (SPEAKERS, False)])
def test_an_output_without_a_loudspeaker_is_known_by_its_name(name: str, nobody: bool) -> None:
    sound = ScriptedPortAudio(devices=((name, 2, 2, 48_000.0),), defaults=(-1, -1, 0, -1))
    assert open_windows(sound)[0].heard_by_nobody is nobody


def test_hands_free_is_noticed() -> None:
    assert open_windows(ScriptedPortAudio(), Wanted(HEADSET))[0].hands_free
    assert not open_windows(ScriptedPortAudio())[0].hands_free


@pytest.mark.parametrize("choices", [WINDOWS_CHOICES, OTHER_CHOICES])
def test_kernel_streaming_is_never_used_even_when_asked_for(choices: tuple[Any, ...]) -> None:
    outputs = list_outputs(ScriptedPortAudio())
    assert candidates(choices, outputs, Wanted(SPEAKERS, "Windows WDM-KS"), 24_000) == []


@pytest.mark.parametrize(
    ("devices", "defaults", "wanted", "reason"),
    [
        ((), (-1, -1, -1, -1), Wanted(), "no_output_device"),
        ((("Microphone", 2, 0, 48_000.0),), (-1, -1, -1, -1), Wanted(), "no_output_device"),
        (((SPEAKERS, 2, 2, 48_000.0),), (-1, -1, -1, -1), Wanted(), "no_output_device"),
        (((SPEAKERS, 2, 2, 48_000.0),), (-1, -1, 0, -1), Wanted("Speaker"), "device_not_found"),
    ],
)
def test_nothing_to_play_on(devices: tuple[Any, ...], defaults: tuple[int, ...], wanted: Wanted, reason: str) -> None:
    with pytest.raises(NoOutput) as caught:
        open_windows(ScriptedPortAudio(devices=devices, defaults=defaults), wanted)
    assert (caught.value.reason, caught.value.code, caught.value.attempts) == (reason, None, [])


def test_missing_library_has_its_own_reason() -> None:
    """In a fresh interpreter whose loader finds no libportaudio, as on a Linux machine without the package."""
    if sys.platform != "linux":
        pytest.skip("wheels bring the library on Windows and macOS")
    code = (
        "import ctypes.util; ctypes.util.find_library = lambda name: None\n"
        "from rocm_wizard.audio.devices import load_portaudio\nfrom rocm_wizard.audio.refusals import NoOutput\n"
        "try: load_portaudio()\n"
        "except NoOutput as error: print(error.reason, '|', error)"
    )
    done = subprocess.run([sys.executable, "-I", "-c", code], capture_output=True, text=True, timeout=30, check=True)
    reason, _, text = done.stdout.partition(" | ")
    assert reason == "portaudio_missing"
    assert "libportaudio2" in text

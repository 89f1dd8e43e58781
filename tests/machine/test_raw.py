"""Raw readings: sysfs, recordings, the way back to JSON, and what is left out."""

import sys
from pathlib import Path

import pytest

from rocm_wizard.machine.adapters import adapters_of
from rocm_wizard.machine.facts import interpret, machine_from_recording, platform_tag, read_machine
from rocm_wizard.machine.linux import display_devices
from rocm_wizard.machine.raw import RawMachine, chosen_variables, raw_from_json, read_raw
from tests.machine.support import RECORDINGS, recorded


def sysfs(folder: Path, name: str, **files: str) -> Path:
    """One device of a sysfs tree."""
    device = folder / "bus/pci/devices" / name
    device.mkdir(parents=True)
    for file, value in files.items():
        (device / file).write_text(value + "\n", encoding="ascii")
    return device


def test_display_devices_of_sysfs(tmp_path: Path) -> None:
    sysfs(tmp_path, "0000:00:02.0", **{"class": "0x030000", "vendor": "0x8086", "device": "0x5917"})
    files = {"class": "0x030000", "vendor": "0x1002", "device": "0x7550", "revision": "0xc0"}
    card = sysfs(tmp_path, "0000:03:00.0", mem_info_vram_total="17095983104", **files)
    for connector, state in (("card1-DP-1", "disconnected"), ("card1-HDMI-A-1", "connected")):
        folder = card / "drm/card1" / connector
        folder.mkdir(parents=True)
        (folder / "status").write_text(state + "\n", encoding="ascii")
    sysfs(tmp_path, "0000:04:00.0", **{"class": "0x020000", "vendor": "0x10ec", "device": "0x8168"})
    adapters = adapters_of(RawMachine("linux", "x86_64", devices=display_devices(tmp_path)))
    assert adapters is not None
    assert [(one.vendor, one.device_id, one.revision, one.vram, one.attached) for one in adapters] == [
        ("intel", "5917", None, None, None),
        ("amd", "7550", "C0", 17095983104, True),
    ]


def test_a_linux_recording() -> None:
    machine = recorded("linux_rx_9070_xt")
    assert (machine.platform, machine.system, machine.windows) == ("linux-x86_64", "Linux", None)
    assert machine.adapters is not None and machine.adapters[0].driver == "amdgpu"


@pytest.mark.parametrize("path", sorted(RECORDINGS.glob("*.json")), ids=lambda path: path.stem)
def test_a_recording_survives_the_way_through_json(path: Path) -> None:
    raw = raw_from_json(path.read_text(encoding="utf-8"))
    assert interpret(raw_from_json(raw.to_json())) == machine_from_recording(path)


def test_something_else_is_no_recording(tmp_path: Path) -> None:
    path = tmp_path / "x.json"
    for text in ('{"system": "win32", "machine": "AMD64", "gpu": 1}', "[", "{}"):
        path.write_text(text, encoding="utf-8")
        with pytest.raises((ValueError, TypeError)):
            machine_from_recording(path)


def test_without_cfgmgr_the_class_key_still_says_something() -> None:
    """Rows of removed cards cannot be told from others then, and nobody knows who drives a monitor."""
    raw = raw_from_json((RECORDINGS / "rx_9070_xt.json").read_text(encoding="utf-8"))
    raw.devices = None
    adapters = adapters_of(raw)
    assert adapters is not None
    assert [(one.vendor, one.device_id, one.attached) for one in adapters] == [
        ("nvidia", "1f08", None),
        ("amd", "7550", None),
    ]


def test_unreadable_adapters_are_said_to_be_so() -> None:
    raw = RawMachine("win32", "AMD64", windows={"build": 26200}, unread={"adapters": "CM_Get_Device_ID_List: 0x1f"})
    machine = interpret(raw)
    assert machine.adapters is None and machine.adapters_source == "CM_Get_Device_ID_List: 0x1f"


def test_variables_are_chosen_by_name_and_addresses_are_left_out() -> None:
    found = chosen_variables(
        {"HIP_PATH": "x", "HSA_ENABLE_SDMA": "0", "UV_INDEX": "https://user:word@host/", "HOME": "/home/x"},
        ["HIP_PATH", "HSA_*"],
        ["UV_INDEX"],
    )
    assert found == {"HIP_PATH": "x", "HSA_ENABLE_SDMA": "0", "UV_INDEX": "***"}


def test_a_reader_that_fails_is_named() -> None:
    raw = RawMachine("linux", "x86_64")

    def refuse() -> None:
        raise PermissionError(13, "Permission denied")

    assert raw.read("memory", refuse) is None
    assert raw.unread == {"memory": "Permission denied"}


def test_this_machine(tmp_path: Path) -> None:
    raw = read_raw(tmp_path)
    assert interpret(raw_from_json(raw.to_json())) == interpret(raw)
    machine = read_machine(tmp_path)
    assert machine.memory and machine.disk_free and machine.platform == platform_tag(sys.platform)
    assert "environment" not in machine.fingerprint()

"""Device memory as the system tells it: sysfs trees on disk, and PDH's own structures filled by a scripted library."""

import ctypes
import os
import subprocess
import sys
from collections.abc import Mapping, Sequence
from ctypes import wintypes
from pathlib import Path
from typing import Any

import pytest

from rocm_wizard.machine import device_memory
from rocm_wizard.machine.device_memory import (
    ADAPTER_COUNTER,
    PROCESS_COUNTER,
    DeviceUse,
    device_use,
    linux_use,
    windows_use,
)
from rocm_wizard.machine.pdh import MORE_DATA, CounterItem, read_counters

GIB = 2**30
NO_SUCH_OBJECT = 0xC0000BB8


def card(sysfs: Path, name: str, **files: object) -> None:
    """A display device of sysfs."""
    folder = sysfs / "class/drm" / name / "device"
    folder.mkdir(parents=True)
    for file, value in files.items():
        (folder / f"mem_info_vram_{file}").write_text(f"{value}\n", encoding="ascii")


def holds(sysfs: Path, pid: int, **gpus: int) -> None:
    """What the compute driver says of a process: bytes on each GPU by its number."""
    folder = sysfs / "class/kfd/kfd/proc" / str(pid)
    folder.mkdir(parents=True)
    (folder / "pasid").write_text("32770\n", encoding="ascii")
    for gpu, size in gpus.items():
        (folder / f"vram_{gpu.lstrip('g')}").write_text(f"{size}\n", encoding="ascii")


def test_of_two_cards_the_large_one_counts(tmp_path: Path) -> None:
    card(tmp_path, "card0", used=500 * 2**20, total=512 * 2**20)
    card(tmp_path, "card1", used=3 * GIB, total=16 * GIB)
    card(tmp_path, "card2")  # a driver that does not tell
    (tmp_path / "class/drm/card1-DP-1").mkdir()
    assert linux_use(tmp_path, [{1}, {2}]) == DeviceUse(3 * GIB, 16 * GIB, None)


def test_the_card_that_does_the_work_counts_whatever_the_others_have(tmp_path: Path) -> None:
    card(tmp_path, "card0", used=20 * GIB, total=32 * GIB)
    card(tmp_path, "card1", used=3 * GIB, total=16 * GIB)
    for name, id in (("card0", "0x1586"), ("card1", "0x7550")):
        (tmp_path / "class/drm" / name / "device/device").write_text(f"{id}\n", encoding="ascii")
    assert linux_use(tmp_path, [{1}], "7550") == DeviceUse(3 * GIB, 16 * GIB, None)
    assert linux_use(tmp_path, [{1}], "7551") == linux_use(tmp_path, [{1}]) == DeviceUse(20 * GIB, 32 * GIB, None)


def test_processes_are_summed_over_their_trees_and_gpus(tmp_path: Path) -> None:
    card(tmp_path, "card0", used=9 * GIB, total=16 * GIB)
    holds(tmp_path, 11, g4711=GIB)
    holds(tmp_path, 12, g4711=2 * GIB, g4712=5)
    holds(tmp_path, 20, g4711=7)
    holds(tmp_path, 99, g4711=4 * GIB)
    assert linux_use(tmp_path, [{10, 11, 12}, {20}]) == DeviceUse(9 * GIB, 16 * GIB, 3 * GIB + 5 + 7)


def test_a_sum_that_lacks_one_process_is_none(tmp_path: Path) -> None:
    card(tmp_path, "card0", used=9 * GIB, total=16 * GIB)
    holds(tmp_path, 11, g4711=GIB)
    found = linux_use(tmp_path, [{11}, {20}])
    assert found is not None and found.processes is None and found.device == 9 * GIB


@pytest.mark.parametrize("broken", ["", "none", "0"])
def test_what_is_no_size_is_not_told(tmp_path: Path, broken: str) -> None:
    card(tmp_path, "card0", used=5, total=broken)
    assert linux_use(tmp_path, [{1}]) is None


@pytest.mark.skipif(sys.platform != "linux", reason="sysfs")
def test_children_of_a_real_process_belong_to_it(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(device_memory, "SYSFS", tmp_path)
    with subprocess.Popen([sys.executable, "-c", "input()"], stdin=subprocess.PIPE) as child:
        try:
            holds(tmp_path, child.pid, g1=GIB)
            assert device_use([os.getpid()]) == DeviceUse(None, None, GIB)
            assert device_use([child.pid, os.getpid()]) == DeviceUse(None, None, 2 * GIB)
        finally:
            child.communicate(b"\n")
    assert device_use([child.pid], "cuda") is None, "the compute driver is AMD's"
    assert device_use([child.pid]) == DeviceUse(None, None, GIB), "a process that is gone has no tree but itself"


def test_a_system_that_tells_nothing(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(device_memory, "SYSFS", tmp_path / "nothing here")
    if sys.platform == "linux":
        assert device_use([os.getpid()]) is None
    monkeypatch.setattr(device_memory.sys, "platform", "darwin")
    assert device_use([os.getpid()]) is None


class ScriptedPdh:
    """pdh.dll with these instances: (name, bytes, status) by counter path; `grows`: so often one more comes in between.

    It fills the caller's real ctypes structures, the names behind the items as PDH does.
    """

    def __init__(self, rows: Mapping[str, Sequence[tuple[str, int, int]]], *, grows: int = 0, collect: int = 0) -> None:
        self.rows, self.grows, self.collect = rows, grows, collect
        self.paths: dict[int, str] = {}
        self.open = 0
        self._names: list[Any] = []

    def PdhOpenQueryW(self, source: Any, user: Any, query: Any) -> int:
        assert source is None and user == 0
        self.open += 1
        query._obj.value = 77
        return 0

    def PdhAddEnglishCounterW(self, query: Any, path: str, user: Any, counter: Any) -> int:
        assert query.value == 77
        if path not in self.rows:
            return NO_SUCH_OBJECT
        counter._obj.value = len(self.paths) + 1
        self.paths[counter._obj.value] = path
        return 0

    def PdhCollectQueryData(self, query: Any) -> int:
        assert query.value == 77
        return self.collect

    def PdhGetFormattedCounterArrayW(self, counter: Any, format: int, size: Any, count: Any, items: Any) -> int:
        assert format == 0x400
        rows = self.rows[self.paths[counter.value]]
        if not rows:
            return 0
        needed = (len(rows) + (1 if items is not None and self.grows else 0)) * ctypes.sizeof(CounterItem)
        if items is None or size._obj.value < needed:
            self.grows -= 1 if items is not None else 0
            size._obj.value = needed
            return MORE_DATA
        array = ctypes.cast(items, ctypes.POINTER(CounterItem))
        for number, (name, value, status) in enumerate(rows):
            self._names.append(ctypes.create_unicode_buffer(name))
            array[number].name = ctypes.cast(self._names[-1], wintypes.LPWSTR).value
            array[number].value.status, array[number].value.large = status, value
        count._obj.value = len(rows)
        return 0

    def PdhCloseQuery(self, query: Any) -> int:
        assert query.value == 77
        self.open -= 1
        return 0


CARD, SMALL = "luid_0x00000000_0x0000D3F1_phys_0", "luid_0x00000000_0x0000A001_phys_0"
ROWS = {
    PROCESS_COUNTER: [
        (f"pid_10_{CARD}", 3 * GIB, 0),
        (f"pid_10_{SMALL}", 4096, 0),
        (f"pid_12_{CARD.lower()}", GIB, 1),
        (f"pid_20_{CARD}", 5, 0),
        (f"pid_20_{SMALL}", 999, 0xC0000BBA),  # PDH_CSTATUS_INVALID_DATA
        (f"pid_120_{CARD}", 6 * GIB, 0),
        ("_Total", 99 * GIB, 0),
    ],
    ADAPTER_COUNTER: [(SMALL, 20 * GIB, 0), (CARD, 11 * GIB, 0)],
}


def test_windows_counters_by_process_and_adapter() -> None:
    pdh = ScriptedPdh(ROWS)
    assert windows_use(pdh, [{10, 12}, {20}]) == DeviceUse(11 * GIB, None, 4 * GIB + 4096 + 5)
    assert pdh.open == 0


def test_windows_without_their_processes_takes_the_fullest_adapter() -> None:
    assert windows_use(ScriptedPdh(ROWS), [{1}, {20}]) == DeviceUse(11 * GIB, None, None)
    assert windows_use(ScriptedPdh(ROWS), [{1}, {2}]) == DeviceUse(20 * GIB, None, None)
    assert windows_use(ScriptedPdh({PROCESS_COUNTER: [], ADAPTER_COUNTER: []}), [{1}]) is None


@pytest.mark.parametrize(
    ("counter", "use"),
    [(PROCESS_COUNTER, DeviceUse(None, None, 4 * GIB + 4096 + 5)), (ADAPTER_COUNTER, DeviceUse(20 * GIB, None, None))],
)
def test_a_windows_with_one_of_the_counters_tells_half(counter: str, use: DeviceUse) -> None:
    pdh = ScriptedPdh({counter: ROWS[counter]})
    assert windows_use(pdh, [{10, 12}, {20}]) == use
    assert pdh.open == 0


def test_instances_that_come_in_between_are_asked_for_again() -> None:
    pdh = ScriptedPdh(ROWS, grows=2)
    assert read_counters(pdh, ADAPTER_COUNTER) == [(SMALL, 20 * GIB), (CARD, 11 * GIB)]
    with pytest.raises(OSError, match="keep changing"):
        read_counters(ScriptedPdh(ROWS, grows=9), ADAPTER_COUNTER)


@pytest.mark.parametrize(
    "pdh", [ScriptedPdh({PROCESS_COUNTER: []}), ScriptedPdh(ROWS, collect=0x800007D5)], ids=["no counter", "no data"]
)
def test_what_windows_refuses_is_an_error_and_the_query_is_closed(pdh: ScriptedPdh) -> None:
    with pytest.raises(OSError, match="0x"):
        windows_use(pdh, [{10}])
    assert pdh.open == 0


@pytest.mark.skipif(sys.platform != "win32", reason="pdh.dll")
def test_this_windows_is_asked_without_an_exception() -> None:
    found = device_use([os.getpid()])
    assert found is None or found.device is None or found.device >= 0

"""What a device says of itself, judged."""

from typing import Any

import pytest

from rocm_wizard.qualification import events as ev
from rocm_wizard.qualification.finding import Finding
from rocm_wizard.qualification.stage import CancelToken, StageContext, answer_by_default
from rocm_wizard.stages.compute_device import base_architecture, has_kernels, report_device

WHEEL = ["gfx1100", "gfx1101", "gfx1150", "gfx1151", "gfx1200", "gfx1201"]


def findings_of(message: dict[str, Any]) -> dict[str, Finding]:
    """The findings of a `device` message by id."""
    events: list[ev.Event] = []
    report_device(StageContext("compute", events.append, answer_by_default, CancelToken()), message)
    return {event.finding.id: event.finding for event in events if isinstance(event, ev.FindingReported)}


@pytest.mark.parametrize(
    ("gfx", "architectures", "expected"),
    [
        ("gfx1201", WHEEL, True),
        ("gfx1201:sramecc-:xnack-", WHEEL, True),
        ("gfx1103", WHEEL, False),
        ("gfx1102", WHEEL, False),
        ("gfx1030", WHEEL, False),
        ("gfx120", WHEEL, False),
        ("gfx1103", ["gfx11-generic"], True),
        ("gfx1036", ["gfx10-3-generic"], True),
        ("gfx1010", ["gfx10-3-generic"], False),
        ("gfx1201", [], None),
    ],
)
def test_hip_architectures(gfx: str, architectures: list[str], expected: bool | None) -> None:
    assert has_kernels(gfx, [12, 0], architectures) is expected


@pytest.mark.parametrize(
    ("capability", "architectures", "expected"),
    [
        ([9, 0], ["sm_80", "sm_90"], True),
        ([8, 6], ["sm_80"], True),
        ([8, 0], ["sm_86"], False),
        ([12, 0], ["sm_50", "sm_90a"], False),
        ([12, 0], ["sm_90", "compute_90"], True),
        ([12, 0], ["sm_120"], True),
        ([6, 1], ["sm_70", "compute_70"], False),
        ([9, 0], ["nonsense"], False),
        (None, ["sm_90"], None),
    ],
)
def test_cuda_architectures(capability: list[int] | None, architectures: list[str], expected: bool | None) -> None:
    assert has_kernels(None, capability, architectures) is expected


def test_the_suffix_is_no_part_of_the_architecture() -> None:
    assert base_architecture("gfx90a:sramecc+:xnack-") == "gfx90a"


def device(index: int, *integrated: bool) -> dict[str, Any]:
    """A machine with these GPUs, `index` being the chosen one."""
    names = ["AMD Radeon(TM) Graphics" if small else "AMD Radeon RX 7900 XTX" for small in integrated]
    devices = [{"name": name, "gfx": "gfx1100", "integrated": i} for name, i in zip(names, integrated, strict=True)]
    chosen = {"name": names[index], "gfx": "gfx1100", "arch_list": WHEEL}
    return {"device": f"cuda:{index}", "index": index, "devices": devices, "count": len(devices), **chosen}


def test_the_integrated_gpu_that_took_index_0_is_named_with_the_other_ones_index() -> None:
    found = findings_of(device(0, True, False))["compute.integrated_first"]
    assert (found.facts["integrated"], found.facts["dedicated_index"]) == ("AMD Radeon(TM) Graphics", 1)


@pytest.mark.parametrize("message", [device(0, False, True), device(0, True), device(1, True, False)])
def test_no_warning_when_the_chosen_one_is_dedicated_or_alone(message: dict[str, Any]) -> None:
    assert set(findings_of(message)) == {"compute.device"}


def test_a_child_that_sends_nonsense_about_its_devices_is_no_crash_of_ours() -> None:
    message = {"device": "cuda:0", "index": 7, "devices": [{"name": "x"}], "capability": "12.0", "arch_list": ["sm_90"]}
    assert set(findings_of(message)) == {"compute.device_unnamed"}

"""Device memory in the soak and beside the recogniser: whose number it is, its peak, and the card that fills up.

The sidecars are real children that say they run on ROCm; the system is a sysfs tree on disk.
"""

import json
import sys
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from rocm_wizard.machine import device_memory
from rocm_wizard.machine.adapters import Adapter
from rocm_wizard.qualification import events as ev
from rocm_wizard.qualification.finding import Finding
from rocm_wizard.qualification.outcome import Outcome
from rocm_wizard.qualification.stage import CancelToken, StageContext, answer_by_default
from rocm_wizard.qualification.state import StageState
from rocm_wizard.stages.device_meter import DeviceMeter
from rocm_wizard.stages.recordings import bundled_recording
from rocm_wizard.stages.smoke import sidecar
from rocm_wizard.stages.soak import SoakStage
from rocm_wizard.stages.speech_children import tts_spec
from rocm_wizard.stages.tts_presets import main_plan
from rocm_wizard.stages.tts_round_trip import round_trip
from rocm_wizard.stages.utterance import speak
from tests.machine.test_device_memory import GIB, card, holds
from tests.stages.bench import CHILDREN, MACHINE, Bench

pytestmark = pytest.mark.skipif(sys.platform != "linux", reason="sysfs")
SPOKEN = bundled_recording()
MIB = 2**20


@pytest.fixture
def system(bench: Bench, monkeypatch: pytest.MonkeyPatch) -> Path:
    """An empty sysfs, and a session on ROCm."""
    bench.session.profile = bench.session.book.get("local-rocm")
    found = bench.folder / "sys"
    found.mkdir()
    monkeypatch.setattr(device_memory, "SYSFS", found)
    return found


def on_gpu(bench: Bench, asr: dict[str, object], tts: dict[str, object], **options: object) -> None:
    """Both sidecars, each with what it does on its GPU."""
    wrapper = [sys.executable, "-u", str(CHILDREN / "on_a_gpu.py")]
    listener = [str(CHILDREN / "soak_listener.py"), "right", str(bench.folder / "count"), "en"]
    voice = [str(CHILDREN / "speaking_sidecar.py"), json.dumps({"wav": str(SPOKEN.file)})]
    usual: dict[str, object] = {
        "asr_command": [*wrapper, json.dumps(asr), *listener],
        "tts_command": [*wrapper, json.dumps(tts), *voice],
        "asr_language": "en",
        "tts_language": "en",
        "text": SPOKEN.transcript,
        "minutes": 0.02,
        "limits": {"ready": 20.0, "message": 20.0},
    }
    bench.options(**usual | options)


def soaked(bench: Bench) -> tuple[StageState, dict[str, Finding]]:
    """The stage, and its findings by id."""
    stage = bench.run(SoakStage).stage("soak")
    return stage, {finding.id: finding for finding in stage.findings}


def values(stage: StageState, id: str) -> list[float]:
    """All values of a measurement."""
    return [measured.value for measured in stage.measurements if measured.id == id]


def test_what_both_engines_say_counts_most(bench: Bench, system: Path) -> None:
    card(system, "card0", used=9 * GIB, total=16 * GIB)
    on_gpu(bench, {"says": 3 * GIB}, {"says": 2 * GIB})
    stage, found = soaked(bench)
    assert set(values(stage, "soak.memory_device")) == {5.0 * GIB}
    told = found["sidecar.device_memory_engine"]
    assert told.outcome is Outcome.PASSED
    assert dict(told.facts) == {"source": "engine", "peak_mib": 5 * 1024, "total_mib": 16 * 1024}
    assert "soak.memory_unknown" not in found and "soak.stopped_device" not in found


def test_where_one_does_not_say_the_system_tells_it_by_process(bench: Bench, system: Path) -> None:
    card(system, "card0", used=9 * GIB, total=16 * GIB)
    kfd = str(system / "class/kfd/kfd/proc")
    on_gpu(bench, {"kfd": kfd, "holds": 700 * MIB}, {"kfd": kfd, "holds": 300 * MIB, "says": 1})
    stage, found = soaked(bench)
    assert set(values(stage, "soak.memory_device")) == {1000.0 * MIB}
    assert found["sidecar.device_memory_processes"].facts["peak_mib"] == 1000


def test_the_whole_device_is_called_so(bench: Bench, system: Path) -> None:
    card(system, "card0", used=9 * GIB, total=16 * GIB)
    on_gpu(bench, {}, {})
    stage, found = soaked(bench)
    assert set(values(stage, "soak.memory_device")) == {9.0 * GIB}
    assert found["sidecar.device_memory_device"].facts["source"] == "device"
    assert found["soak.limits"].facts["device"] == 0.95


def test_a_system_that_tells_nothing_is_no_pass(bench: Bench, system: Path) -> None:
    on_gpu(bench, {}, {"says": GIB})
    stage, found = soaked(bench)
    assert values(stage, "soak.memory_device") == []
    assert found["soak.memory_untold"].outcome is Outcome.SKIPPED
    assert not [id for id in found if id.startswith("sidecar.device_memory")]


def test_a_full_card_ends_the_soak(bench: Bench, system: Path) -> None:
    card(system, "card0", used=int(15.5 * GIB), total=16 * GIB)
    on_gpu(bench, {"says": 1}, {"says": 1}, minutes=5)
    _, found = soaked(bench)
    stopped = found["soak.stopped_device"]
    assert (stopped.outcome, stopped.facts["turns"], stopped.facts["share"]) == (Outcome.FAILED, 1, 0.969)
    assert "soak.endured" not in found


def test_beside_the_recogniser_the_peak_is_measured(bench: Bench, system: Path) -> None:
    """The most is in use while the voice works; when it is done it has let go."""
    card(system, "card0", used=2 * GIB, total=16 * GIB)
    used = str(system / "class/drm/card0/device/mem_info_vram_used")
    on_gpu(bench, {}, {"used": used, "while_speaking": 12 * GIB, "done": 2 * GIB})
    events: list[Any] = []
    context = StageContext("tts_smoke", events.append, answer_by_default, CancelToken())
    session, plan = bench.session, main_plan(bench.session)
    with sidecar(context, session, tts_spec(session)) as voice:
        round_trip(context, session, voice, plan, [speak(voice, plan.request(session))])
    measured = {event.id: event.value for event in events if isinstance(event, ev.MeasurementTaken)}
    assert measured["tts.device_memory_both"] == 12 * GIB
    told = {event.finding.id: event.finding for event in events if isinstance(event, ev.FindingReported)}
    assert told["sidecar.device_memory_device"].facts["peak_mib"] == 12 * 1024
    assert told.keys() & {"tts.both_loaded", "tts.both_loaded_slower"}
    caches = [event for event in events if isinstance(event, ev.FindingReported)]
    caches = [event.finding for event in caches if event.finding.id.startswith("sidecar.kernel_cache")]
    assert len(caches) == 1, "once a stage, though two sidecars were started"


def test_the_first_source_stays(bench: Bench, system: Path) -> None:
    """A jump from one to the other would look like a leak."""
    meter = DeviceMeter(bench.session)
    assert meter.read(({}, {}), (1, 1)) is None
    assert meter.read(({"device_memory_bytes": 5}, {"device_memory_bytes": 6}), (1, 1)) == 11
    card(system, "card0", used=9 * GIB, total=16 * GIB)
    assert meter.read(({}, {}), (1, 1)) is None
    assert (meter.source, meter.peak) == ("engine", 11)


def test_an_integrated_gpu_that_is_full_goes_on_in_the_computers_memory(bench: Bench, system: Path) -> None:
    card(system, "card0", used=500 * MIB, total=512 * MIB)
    integrated = Adapter("amd", "1586", driver="amdgpu", revision="C1")
    for adapters, share in (((), 500 / 512), ((integrated,), None)):
        bench.session.machine = replace(MACHINE, adapters=adapters)
        meter = DeviceMeter(bench.session)
        meter.look([1])
        assert meter.share == share
        assert meter.total == 512 * MIB


def test_another_makers_card_is_not_taken_for_the_one_that_works(bench: Bench, system: Path) -> None:
    """A full integrated GPU beside an NVIDIA card must not end its soak."""
    card(system, "card0", used=500 * MIB, total=512 * MIB)
    bench.session.profile = bench.session.book.get("local-cu128")
    meter = DeviceMeter(bench.session)
    assert meter.read(({}, {}), (1, 1)) is None
    assert (meter.asks, meter.source, meter.share) == (True, None, None)


def test_the_size_of_the_card_is_what_its_driver_says_where_the_system_does_not(bench: Bench, system: Path) -> None:
    radeon = Adapter("amd", "7550", driver="amdgpu", vram=16 * GIB)
    bench.session.machine = replace(MACHINE, adapters=(radeon,))
    holds(system, 1, g4711=GIB)
    meter = DeviceMeter(bench.session)
    assert meter.read(({}, {}), (1, 1)) == 2 * GIB
    assert (meter.source, meter.total, meter.share) == ("processes", 16 * GIB, None)


def test_on_the_cpu_the_system_is_not_asked(bench: Bench, system: Path) -> None:
    card(system, "card0", used=9 * GIB, total=16 * GIB)
    bench.session.profile = bench.session.book.get("torch-cpu")
    meter = DeviceMeter(bench.session)
    assert meter.read(({}, {}), (1, 1)) is None
    assert (meter.source, meter.share, meter.total) == (None, None, None)

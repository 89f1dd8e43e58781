"""The real probe on devices that are wrong: every operation's check notices, and the tolerances are where they say."""

from pathlib import Path

import pytest

from rocm_wizard.qualification.outcome import Outcome
from rocm_wizard.qualification.state import RunState
from rocm_wizard.stages.compute import ComputeStage
from rocm_wizard.stages.compute_plan import load_plan
from tests.stages.bench import CHILDREN, Bench
from tests.stages.test_compute import at_level

LACKING = {"sdpa_efficient", "sdpa_efficient_bf16", "graph_capture"}
"""What a CPU does not offer."""
JUDGED = [name for name in load_plan().levels["standard"] if name not in LACKING | {"vocoder"}]


def run_child(bench: Bench, script: str, level: str = "standard") -> RunState:
    """The compute stage with one of the bent probes."""
    at_level(bench, level, compute_probe=CHILDREN / script)
    return bench.run(ComputeStage)


def steps(state: RunState, id: str) -> list[str]:
    """The operations with that finding."""
    return [str(finding.facts["step"]) for finding in state.stage("compute").findings if finding.id == id]


@pytest.mark.parametrize(
    ("fault", "id"),
    [
        ("above", "compute.wrong_numbers"),
        ("zero", "compute.wrong_numbers"),
        ("shape", "compute.wrong_numbers"),
        ("nan", "compute.not_finite"),
    ],
)
def test_one_wrong_element_fails_every_operation(
    bench: Bench, fault: str, id: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("FAULT", fault)
    state = run_child(bench, "faulty_probe.py")
    assert steps(state, id) == JUDGED
    assert state.stage("compute").outcome is Outcome.FAILED


def test_an_error_within_the_tolerance_passes(bench: Bench, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("FAULT", "below")
    state = run_child(bench, "faulty_probe.py")
    assert state.stage("compute").outcome is Outcome.PASSED
    found = {finding.id: finding.facts for finding in state.stage("compute").findings}
    for name in JUDGED:
        error = found[f"compute.{name}"]["max_error"]
        assert error == pytest.approx(load_plan().operations[name].tolerance * 0.875, rel=1e-6), name


def test_no_reference_is_computed_by_what_it_judges(bench: Bench) -> None:
    """Each function that the probe calls on the device has a bug of its own kind; every operation must notice its."""
    state = run_child(bench, "mutant_probe.py")
    assert [name for name in JUDGED if name not in steps(state, "compute.wrong_numbers")] == []


@pytest.mark.parametrize(("pretend", "outcome"), [("silent", Outcome.FAILED), ("counters", Outcome.FAILED)])
def test_a_silent_fallback_to_the_cpu_fails(
    bench: Bench, pretend: str, outcome: Outcome, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("PRETEND", pretend)
    bench.session.profile = bench.session.book.get("local-rocm")
    state = run_child(bench, "pretend_gpu.py", "quick")
    assert steps(state, "compute.cpu_fallback") == ["fp32_product", "conv1d", "fft"]
    assert state.stage("compute").outcome is outcome
    device = next(finding for finding in state.stage("compute").findings if finding.id == "compute.device")
    assert (device.facts["device_name"], device.facts["gfx"]) == ("AMD Radeon RX 9070 XT", "gfx1201")


def test_a_file_that_prints_on_stdout_does_not_disturb_the_messages(bench: Bench, tmp_path: Path) -> None:
    """MIOpen and its kin print to the process's stdout; the messages have one of their own."""
    script = tmp_path / "chatty.py"
    script.write_text(
        "import os, sys\n"
        f"sys.path.insert(0, {str(CHILDREN)!r})\n"
        "import real_probe\n"
        "probe, operations = real_probe.load()\n"
        "product = operations['product_of_ones']\n"
        "def chatty(*arguments):\n"
        "    os.write(1, b'MIOpen(HIP): Warning [SQLiteBase]\\n')\n"
        "    return product(*arguments)\n"
        "operations['product_of_ones'] = chatty\n"
        "probe.main()\n",
        encoding="utf-8",
    )
    at_level(bench, compute_probe=script)
    assert bench.run(ComputeStage).stage("compute").outcome is Outcome.PASSED


@pytest.mark.slow
def test_a_hang_names_the_python_line_that_waits(bench: Bench, tmp_path: Path) -> None:
    script = tmp_path / "hanging.py"
    script.write_text(
        "import sys, time\n"
        f"sys.path.insert(0, {str(CHILDREN)!r})\n"
        "import real_probe\n"
        "probe, operations = real_probe.load()\n"
        "def kernel_that_never_ends(*arguments):\n"
        "    time.sleep(600)\n"
        "operations['conv1d'] = kernel_that_never_ends\n"
        "probe.main()\n",
        encoding="utf-8",
    )
    at_level(bench, compute_probe=script, limits={"compute": 6.0})
    state = bench.run(ComputeStage)
    found = next(f for f in state.stage("compute").findings if f.id == "compute.child_hung")
    assert (found.facts["step"], found.facts["fatal"]) == ("conv1d", "hang")
    assert found.facts["frame"] == "hanging.py:6 in kernel_that_never_ends"

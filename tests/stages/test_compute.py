"""The compute step: right numbers here, and children that really crash, hang and lie."""

import sys

import pytest

from rocm_wizard.qualification.outcome import Outcome
from rocm_wizard.qualification.state import RunState
from rocm_wizard.stages import probe
from rocm_wizard.stages.asr_smoke import AsrSmokeStage
from rocm_wizard.stages.compute import OPERATIONS, ComputeStage
from tests.stages.bench import CHILDREN, Bench, bad

posix = pytest.mark.skipif(sys.platform == "win32", reason="POSIX signals")


def run_bad(bench: Bench, mode: str, monkeypatch: pytest.MonkeyPatch) -> RunState:
    """The compute stage with the misbehaving probe, and a stage behind it."""
    monkeypatch.setenv("BAD_PROBE", mode)
    bench.options(compute_probe=CHILDREN / "probe.py", limits={"compute": 2.0})
    return bench.run(ComputeStage, AsrSmokeStage)


def test_right_numbers_on_this_cpu(bench: Bench) -> None:
    state = bench.run(ComputeStage)
    stage = state.stage("compute")
    assert stage.outcome is Outcome.PASSED
    ids = [finding.id for finding in stage.findings]
    assert [id for id in ids if not id.startswith("compute.device")] == [f"compute.{name}" for name in OPERATIONS]
    product = next(finding for finding in stage.findings if finding.id == "compute.fp32_product")
    assert (product.facts["elements"], product.facts["max_error"]) == (65536, 0.0)
    assert {(m.id, m.phase) for m in stage.measurements} == {
        (f"compute.{name}", phase) for name in OPERATIONS for phase in ("cold", "warm")
    }


def test_no_such_device_fails(bench: Bench) -> None:
    bench.session.profile = bench.session.book.get("local-rocm")
    found = bad(bench.run(ComputeStage), "compute")
    assert (found.id, found.outcome) == ("compute.no_device", Outcome.FAILED)


@posix
@pytest.mark.parametrize(("mode", "name"), [("segfault", "SIGSEGV"), ("abort", "SIGABRT"), ("illegal", "SIGILL")])
def test_a_crash_names_signal_and_operation(
    bench: Bench, mode: str, name: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    state = run_bad(bench, mode, monkeypatch)
    found = bad(state, "compute")
    assert (found.id, found.outcome) == ("compute.child_crashed", Outcome.CRASHED)
    assert str(found.facts["name"]).startswith(name)
    assert found.facts["step"] == "fp32_product"
    assert state.stage("asr_smoke").blocked_by == "compute"
    assert state.verdict == 1


@pytest.mark.parametrize(
    ("mode", "finding", "outcome"),
    [
        ("hang", "compute.child_hung", Outcome.FAILED),
        ("rubbish", "compute.child_rubbish", Outcome.FAILED),
        ("exit_7", "compute.child_failed", Outcome.COULD_NOT_CHECK),
        ("wrong", "compute.wrong_numbers", Outcome.FAILED),
        ("error", "compute.operation_error", Outcome.FAILED),
    ],
)
def test_other_ends(bench: Bench, mode: str, finding: str, outcome: Outcome, monkeypatch: pytest.MonkeyPatch) -> None:
    state = run_bad(bench, mode, monkeypatch)
    found = next(found for found in state.stage("compute").findings if found.outcome is not Outcome.PASSED)
    assert (found.id, found.outcome) == (finding, outcome)
    assert state.stage("asr_smoke").outcome is Outcome.BLOCKED


def test_wrong_numbers_name_the_worst_element(bench: Bench, monkeypatch: pytest.MonkeyPatch) -> None:
    state = run_bad(bench, "wrong", monkeypatch)
    wrong = next(found for found in state.stage("compute").findings if found.id == "compute.wrong_numbers")
    assert (wrong.facts["worst_index"], wrong.facts["worst_value"]) == (5, "0.0")


def test_done_without_results_proves_nothing(bench: Bench, monkeypatch: pytest.MonkeyPatch) -> None:
    found = bad(run_bad(bench, "says_done", monkeypatch), "compute")
    assert (found.id, found.outcome) == ("compute.not_computed", Outcome.COULD_NOT_CHECK)
    assert found.facts["missing"] == list(OPERATIONS)


def test_work_done_but_process_lingering_is_a_warning(bench: Bench, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(probe, "_EXIT_GRACE", 0.3)
    monkeypatch.setenv("BAD_PROBE", "would_not_exit")
    bench.options(compute_probe=CHILDREN / "probe.py")
    found = bad(bench.run(ComputeStage), "compute")
    assert (found.id, found.outcome) == ("compute.child_would_not_exit", Outcome.WARNING)

"""The compute step: right numbers here, and children that really crash, hang and lie."""

import sys

import pytest

from rocm_wizard.qualification.finding import Finding
from rocm_wizard.qualification.outcome import Outcome
from rocm_wizard.qualification.state import RunState
from rocm_wizard.report.catalogue import Catalogue
from rocm_wizard.runner.scripted import ScriptedRunner
from rocm_wizard.stages import probe
from rocm_wizard.stages.asr_smoke import AsrSmokeStage
from rocm_wizard.stages.compute import ComputeStage
from rocm_wizard.stages.compute_plan import load_plan
from tests.stages.bench import CHILDREN, Bench, bad

posix = pytest.mark.skipif(sys.platform == "win32", reason="POSIX signals")
QUICK = ("fp32_product", "conv1d", "fft")


def at_level(bench: Bench, level: str = "quick", graphs: bool = False, **changes: object) -> None:
    """Sets level and options."""
    bench.options(level=level, graphs=graphs, **changes)


def run_bad(bench: Bench, mode: str, monkeypatch: pytest.MonkeyPatch, seconds: float = 20.0) -> RunState:
    """The compute stage of a ROCm profile with the misbehaving probe, and a stage behind it."""
    monkeypatch.setenv("BAD_PROBE", mode)
    bench.session.profile = bench.session.book.get("local-rocm")
    at_level(bench, compute_probe=CHILDREN / "probe.py", limits={"compute": seconds})
    state = bench.run(ComputeStage, AsrSmokeStage)
    assert_readable(state, "compute")
    return state


def assert_readable(state: RunState, stage: str) -> None:
    """No sentence, hint or command of the stage lacks a fact that it names."""
    words = Catalogue("en")
    for finding in state.stage(stage).findings:
        text = f"{words.sentence(finding)} {words.hint(finding)} {words.action(finding)}"
        assert "?" not in text and not text.startswith(f"{finding.id}:"), text


def one(state: RunState, id: str) -> Finding:
    """The finding of that id."""
    return next(finding for finding in state.stage("compute").findings if finding.id == id)


def not_passed(state: RunState) -> list[str]:
    """The ids of what did not pass, sorted: a check is listed where it began, not where it ended."""
    return sorted(finding.id for finding in state.stage("compute").findings if finding.outcome is not Outcome.PASSED)


def test_right_numbers_on_this_cpu(bench: Bench) -> None:
    at_level(bench)
    stage = bench.run(ComputeStage).stage("compute")
    assert stage.outcome is Outcome.PASSED
    ids = [finding.id for finding in stage.findings]
    assert set(ids) == {"compute.device_unnamed", "compute.child_ended", *(f"compute.{name}" for name in QUICK)}
    product = next(finding for finding in stage.findings if finding.id == "compute.fp32_product")
    assert (product.facts["elements"], product.facts["max_error"]) == (65536, 0.0)
    assert {(m.id, m.phase) for m in stage.measurements} == {
        (f"compute.{name}", phase) for name in QUICK for phase in ("cold", "warm")
    }


def test_what_a_device_does_not_offer_is_skipped_and_never_passed(
    bench: Bench, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("BAD_PROBE", "lacks_flash")
    bench.session.profile = bench.session.book.get("local-rocm")
    at_level(bench, "standard", compute_probe=CHILDREN / "probe.py")
    stage = bench.run(ComputeStage).stage("compute")
    skipped = {str(f.facts["step"]): f.outcome for f in stage.findings if f.id == "compute.unavailable"}
    assert skipped == {"sdpa_flash": Outcome.SKIPPED, "sdpa_flash_bf16": Outcome.SKIPPED}
    assert stage.outcome is Outcome.WARNING, [(f.id, f.facts) for f in stage.findings if f.outcome is Outcome.FAILED]


def test_the_standard_level_runs_every_operation_on_this_cpu(bench: Bench) -> None:
    at_level(bench, "standard")
    state = bench.run(ComputeStage)
    assert_readable(state, "compute")
    stage = state.stage("compute")
    assert stage.outcome is Outcome.PASSED
    ids = {finding.id for finding in stage.findings}
    planned = {operation.id for _, operations in load_plan().children("standard", "cpu") for operation in operations}
    left_out = set(load_plan().levels["standard"]) - planned
    assert left_out == {"sdpa_efficient", "sdpa_efficient_bf16", "graph_capture"}, "what a CPU does not have"
    assert {f"compute.{name}" for name in planned - {"vocoder"}} <= ids
    assert {"compute.vocoder_agrees", "compute.vocoder_no_search"} <= ids
    shapes = one(state, "compute.vocoder_no_search").facts
    assert shapes["lengths"] == ["33", "42", "56", "75"] and shapes["bucket"] == 80
    assert (shapes["channels"], shapes["model_channels"], shapes["receptive_frames"]) == (48, 1536, 27)
    times = [m for m in stage.measurements if m.id == "compute.vocoder_unpadded"]
    assert [(m.sample, m.phase) for m in times] == [(n, phase) for n in (1, 2, 3, 4) for phase in ("cold", "warm")]
    assert len([child for child in stage.children if hasattr(child, "argv")]) == 2, "attention has its own process"


def test_no_such_device_fails(bench: Bench) -> None:
    at_level(bench)
    bench.session.profile = bench.session.book.get("local-rocm")
    found = bad(bench.run(ComputeStage), "compute")
    assert (found.id, found.outcome) == ("compute.no_device", Outcome.FAILED)


@posix
@pytest.mark.parametrize(
    ("mode", "name", "fatal"),
    [
        ("segfault", "SIGSEGV", "Segmentation fault"),
        ("abort", "SIGABRT", "Aborted"),
        ("illegal", "SIGILL", "Illegal instruction"),
        ("bus", "SIGBUS", "Bus error"),
    ],
)
def test_a_crash_names_signal_operation_and_line(
    bench: Bench, mode: str, name: str, fatal: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    state = run_bad(bench, mode, monkeypatch)
    crash = one(state, "compute.child_crashed")
    assert crash.outcome is Outcome.CRASHED
    assert str(crash.facts["exit_name"]).startswith(name)
    assert (crash.facts["step"], crash.facts["fatal"]) == ("fp32_product", fatal)
    assert str(crash.facts["frame"]).startswith(("probe.py:", "__init__.py:"))
    assert (crash.facts["gfx"], crash.facts["device_name"]) == ("gfx1103", "AMD Radeon 780M Graphics")
    assert "stderr_tail" in crash.private and any(fatal in line for line in crash.facts["stderr_tail"])  # pyright: ignore[reportOptionalIterable, reportGeneralTypeIssues]
    assert not_passed(state) == ["compute.child_crashed", "compute.not_usable"]
    assert state.stage("asr_smoke").blocked_by == "compute"
    assert state.verdict == 1


@posix
def test_a_crash_names_the_native_library_where_a_c_stack_is_given(
    bench: Bench, monkeypatch: pytest.MonkeyPatch
) -> None:
    facts = one(run_bad(bench, "c_stack", monkeypatch), "compute.child_crashed").facts
    assert (facts["module"], facts["frame"]) == ("libMIOpen.so", "conv.py:366 in _conv_forward")


@pytest.mark.parametrize(
    ("mode", "expected"),
    [
        ("rubbish", ["compute.child_rubbish"]),
        ("exit_1", ["compute.child_failed"]),
        ("exit_3", ["compute.child_failed"]),
        ("exit_120", ["compute.child_failed"]),
        ("wrong", ["compute.wrong_numbers"]),
        ("wrong_but_says_right", ["compute.wrong_numbers"]),
        ("no_error_given", ["compute.wrong_numbers"]),
        ("nothing_computed", ["compute.wrong_numbers"]),
        ("nan", ["compute.not_finite"]),
        ("on_cpu", ["compute.cpu_fallback"]),
        ("no_memory_used", ["compute.cpu_fallback"]),
        ("no_time_spent", ["compute.cpu_fallback"]),
        ("two_wrong_one_refused", ["compute.wrong_numbers", "compute.operation_error", "compute.not_finite"]),
        ("lost", ["compute.operation_error", "compute.device_lost"]),
        ("lacks_everything", ["compute.operation_error"] * 3),
        ("error", ["compute.operation_error", "compute.not_computed"]),
        ("says_done", ["compute.not_computed"]),
    ],
)
def test_other_ends(bench: Bench, mode: str, expected: list[str], monkeypatch: pytest.MonkeyPatch) -> None:
    state = run_bad(bench, mode, monkeypatch)
    assert not_passed(state) == sorted(expected)
    assert state.stage("asr_smoke").outcome is Outcome.BLOCKED


def test_the_first_child_that_dies_ends_the_step(bench: Bench, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("BAD_PROBE", "exit_7")
    bench.session.profile = bench.session.book.get("local-rocm")
    at_level(bench, "standard", compute_probe=CHILDREN / "probe.py")
    stage = bench.run(ComputeStage).stage("compute")
    assert len([child for child in stage.children if hasattr(child, "argv")]) == 1


@pytest.mark.parametrize(("mode", "seconds"), [("hang", 1.0), ("chatter", 0.5)])
def test_a_hang_is_ended_at_the_operations_deadline(
    bench: Bench, mode: str, seconds: float, monkeypatch: pytest.MonkeyPatch
) -> None:
    state = run_bad(bench, mode, monkeypatch, seconds)
    found = one(state, "compute.child_hung")
    assert (found.facts["step"], found.facts["seconds"]) == ("fp32_product", seconds)
    assert not_passed(state) == ["compute.child_hung", "compute.not_usable"]
    assert (state.stage("compute").seconds or 0) < 10


def test_a_right_gpu_passes(bench: Bench, monkeypatch: pytest.MonkeyPatch) -> None:
    state = run_bad(bench, "right", monkeypatch)
    assert state.stage("compute").outcome is Outcome.PASSED
    assert one(state, "compute.device").facts["device_name"] == "AMD Radeon 780M Graphics"


def test_wrong_numbers_name_the_worst_element(bench: Bench, monkeypatch: pytest.MonkeyPatch) -> None:
    wrong = one(run_bad(bench, "wrong", monkeypatch), "compute.wrong_numbers")
    assert (wrong.facts["worst_index"], wrong.facts["worst_value"]) == (5, "0.0")


def test_done_without_results_proves_nothing(bench: Bench, monkeypatch: pytest.MonkeyPatch) -> None:
    found = bad(run_bad(bench, "says_done", monkeypatch), "compute")
    assert (found.id, found.outcome) == ("compute.not_computed", Outcome.COULD_NOT_CHECK)
    assert found.facts["missing"] == list(QUICK)


def test_work_done_but_process_lingering_is_a_warning(bench: Bench, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(probe, "_EXIT_GRACE", 0.3)
    state = run_bad(bench, "would_not_exit", monkeypatch)
    found = one(state, "compute.child_would_not_exit")
    assert found.outcome is Outcome.WARNING
    assert not_passed(state) == ["compute.child_would_not_exit"]


def run_vocoder(bench: Bench, mode: str, monkeypatch: pytest.MonkeyPatch) -> RunState:
    """The standard level of a ROCm profile, with one thing wrong about the vocoder."""
    monkeypatch.setenv("BAD_PROBE", mode)
    bench.session.profile = bench.session.book.get("local-rocm")
    at_level(bench, "standard", compute_probe=CHILDREN / "probe.py")
    state = bench.run(ComputeStage)
    assert_readable(state, "compute")
    return state


def test_the_cost_of_a_kernel_search_is_said_in_numbers(bench: Bench, monkeypatch: pytest.MonkeyPatch) -> None:
    facts = one(run_vocoder(bench, "search", monkeypatch), "compute.vocoder_search").facts
    assert facts["extra"] == pytest.approx(5.0)
    assert facts["unpadded_seconds"] == pytest.approx(4 * 5.1)
    assert facts["bucket_seconds"] == pytest.approx(5.1 + 3 * 0.12), "in the bucket only the first length searches"
    assert facts["saved"] == pytest.approx(3 * 4.98)
    assert (facts["cold"], facts["bucket_cold"]) == (["5.1"] * 4, ["5.1", "0.12", "0.12", "0.12"])


@pytest.mark.parametrize(
    ("mode", "expected"),
    [
        ("vocoder_differs", "compute.vocoder_differs"),
        ("vocoder_nan", "compute.not_finite"),
        ("vocoder_on_cpu", "compute.cpu_fallback"),
        ("vocoder_missing", "compute.not_computed"),
    ],
)
def test_a_wrong_vocoder(bench: Bench, mode: str, expected: str, monkeypatch: pytest.MonkeyPatch) -> None:
    assert not_passed(run_vocoder(bench, mode, monkeypatch)) == [expected]


def test_graphs_are_captured_only_when_asked(bench: Bench, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("BAD_PROBE", "right")
    bench.session.profile = bench.session.book.get("local-rocm")
    at_level(bench, "standard", compute_probe=CHILDREN / "probe.py", graphs=True)
    stage = bench.run(ComputeStage).stage("compute")
    assert stage.outcome is Outcome.PASSED
    assert "compute.graph_capture" in {finding.id for finding in stage.findings}
    assert len([child for child in stage.children if hasattr(child, "argv")]) == 3


@pytest.mark.parametrize(
    ("code", "name"),
    [
        (0xC0000005, "0xC0000005 STATUS_ACCESS_VIOLATION"),
        (0xC0000005 - 2**32, "0xC0000005 STATUS_ACCESS_VIOLATION"),
        (0xC0000409, "0xC0000409 STATUS_STACK_BUFFER_OVERRUN"),
        (0xC000001D, "0xC000001D STATUS_ILLEGAL_INSTRUCTION"),
        (0xC0E90002, "0xC0E90002 STATUS_SYSTEM_INTEGRITY_POLICY_VIOLATION"),
        (0xE06D7363, "0xE06D7363"),
    ],
)
def test_windows_codes_by_number(bench: Bench, code: int, name: str) -> None:
    """The reference case: a Radeon 780M that torch lists, and an access violation at the first product."""
    device = {"type": "device", "device": "cuda:0", "name": "AMD Radeon 780M Graphics", "gfx": "gfx1103"}
    script: list[dict[str, object]] = [
        {"line": {"type": "before", "step": "enumerate"}},
        {"line": device | {"arch_list": ["gfx1100", "gfx1201"]}},
        {"line": {"type": "before", "step": "fp32_product"}},
        {"stderr": "Windows fatal exception: access violation"},
        {"stderr": ""},
        {"stderr": "Current thread 0x00001a2c (most recent call first):"},
        {"stderr": r'  File "C:\语音\.venv\Lib\site-packages\compute_operations\products.py", line 12 in <lambda>'},
        {"exit": code},
    ]
    bench.session.runner = ScriptedRunner(bench.journal.append, {"compute probe": [script]})
    bench.session.profile = bench.session.book.get("local-rocm")
    at_level(bench)
    state = bench.run(ComputeStage)
    assert not_passed(state) == ["compute.child_crashed", "compute.no_kernels", "compute.not_usable"]
    facts = one(state, "compute.child_crashed").facts
    assert str(facts["exit_name"]).startswith(name) and facts["exit_code"] == code
    assert (facts["fatal"], facts["frame"]) == ("access violation", "products.py:12 in <lambda>")
    assert one(state, "compute.no_kernels").facts["architecture"] == "gfx1103"

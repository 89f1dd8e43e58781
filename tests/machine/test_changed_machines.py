"""Recorded machines with one thing changed."""

from dataclasses import replace
from pathlib import Path

from rocm_wizard.machine.target import Target
from rocm_wizard.report.catalogue import Catalogue
from rocm_wizard.stages.profile import ProfileStage
from tests.machine.support import environment, finding, recorded, short
from tests.machine.test_recordings import AFTER, BEFORE, CHOICE, GOOD
from tests.stages.bench import Bench


def test_a_long_path_counts_only_while_long_paths_are_off(bench: Bench, tmp_path: Path) -> None:
    machine = recorded("rx_9070_xt")
    assert machine.windows is not None
    folder = tmp_path / ("deep" * 20) / ".venv"
    bench.session.target = Target(environment(folder, "2.9.1+rocm7.2.1"))
    bench.options(profile="local-rocm")
    for long_paths, id in ((True, "paths"), (False, "~path_long")):
        bench.session.machine = replace(machine, windows=replace(machine.windows, long_paths=long_paths))
        assert id in short(bench.run(ProfileStage))


def test_a_disabled_card_and_one_that_stopped(bench: Bench, tmp_path: Path) -> None:
    machine = recorded("rx_9070_xt")
    assert machine.adapters is not None
    (card,) = machine.adapters
    bench.session.target = Target(environment(tmp_path / "v", "2.9.1+rocm7.2.1"))
    bench.options(profile="local-rocm")
    for problem, id in ((22, "!adapter_disabled"), (43, "!adapter_problem")):
        bench.session.machine = replace(machine, adapters=(replace(card, problem=problem),))
        assert id in short(bench.run(ProfileStage))


def test_a_disabled_processor_gpu_is_a_cure_and_no_fault(bench: Bench, tmp_path: Path) -> None:
    machine = recorded("rx_7900_xtx_and_igpu")
    assert machine.adapters is not None
    igpu, card = machine.adapters
    bench.session.machine = replace(machine, adapters=(replace(igpu, problem=22), card))
    bench.session.target = Target(environment(tmp_path / "v", "2.9.1+rocm7.2.1"))
    bench.options(profile="local-rocm")
    assert short(bench.run(ProfileStage)) == [*BEFORE, "adapter", "adapter", *CHOICE, *GOOD, *AFTER]


def test_variables_are_removed_by_one_command(bench: Bench, tmp_path: Path) -> None:
    stray = {"HIP_PATH": "C:\\hip", "ROCM_PATH": "C:\\rocm"}
    bench.session.machine = replace(recorded("rx_9070_xt"), environment=stray)
    bench.session.target = Target(environment(tmp_path / "v", "2.9.1+rocm7.2.1"))
    bench.options(profile="local-rocm")
    found = finding(bench.run(ProfileStage), "variable_stray_sdk")
    assert Catalogue("en").action(found) == "Remove-Item Env:HIP_PATH, Env:ROCM_PATH"


def test_the_first_visible_index_decides_whether_the_processor_gpu_is_hidden(bench: Bench, tmp_path: Path) -> None:
    bench.session.target = Target(environment(tmp_path / "v", "2.9.1+rocm7.2.1"))
    bench.options(profile="local-rocm")
    for visible, id in (("1", "igpu_hidden"), ("0,1", "~igpu_first"), ("", "~igpu_first")):
        machine = replace(recorded("rx_7900_xtx_and_igpu"), environment={"HIP_VISIBLE_DEVICES": visible})
        bench.session.machine = machine
        assert id in short(bench.run(ProfileStage))

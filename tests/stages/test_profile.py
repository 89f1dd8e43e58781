"""Choosing a profile from recorded machines and environments."""

from dataclasses import replace
from pathlib import Path

import pytest

from rocm_wizard.machine.adapters import Adapter
from rocm_wizard.machine.facts import platform_tag
from rocm_wizard.machine.profiles import load_profiles
from rocm_wizard.machine.recommend import recommend
from rocm_wizard.machine.target import Target, find_target, installed_torch, profile_of_torch
from rocm_wizard.qualification.outcome import Outcome
from rocm_wizard.stages.profile import ProfileStage
from tests.machine.support import environment
from tests.stages.bench import MACHINE, Bench, bad

WINDOWS = replace(MACHINE, platform="windows-amd64", system="Windows", release="11 build 26100")


def test_this_machine_gets_torch_cpu_because_it_is_installed(bench: Bench) -> None:
    bench.session.profile = None
    state = bench.run(ProfileStage)
    assert state.stage("profile").outcome is Outcome.PASSED
    assert bench.session.chosen.id == "torch-cpu"
    assert "profile.chosen_installed" in {finding.id for finding in state.stage("profile").findings}


def test_windows_with_a_radeon_recommends_rocm(bench: Bench, tmp_path: Path) -> None:
    radeon = Adapter("amd", "7550", "AMD Radeon RX 9070 XT")
    bench.session.machine = replace(WINDOWS, adapters=(Adapter("17e9", "4307", bus="usb"), radeon))
    bench.session.target = Target(environment(tmp_path / "v", "2.9.1+rocm7.2.1"))
    state = bench.run(ProfileStage)
    assert bench.session.chosen.id == "local-rocm"
    assert state.answers[0].answered_by == "default"


def test_an_adapter_that_is_not_tested_is_said_aloud(bench: Bench, tmp_path: Path) -> None:
    bench.session.machine = replace(WINDOWS, adapters=(Adapter("amd", "7550"),))
    bench.session.target = Target(environment(tmp_path / "v", "2.9.1"))
    bench.options(profile="torch-cpu")
    found = bad(bench.run(ProfileStage), "profile")
    assert (found.id, found.facts["profile"]) == ("profile.adapter_unused", "local-rocm")


@pytest.mark.parametrize(
    ("profile", "finding"), [("local-rocm", "profile.excluded_by_platform"), ("rocm", "profile.unknown")]
)
def test_a_profile_that_cannot_be(bench: Bench, profile: str, finding: str) -> None:
    bench.options(profile=profile)
    found = bad(bench.run(ProfileStage), "profile")
    assert (found.id, found.outcome) == (finding, Outcome.FAILED)


def test_an_environment_of_another_profile_is_refused(bench: Bench, tmp_path: Path) -> None:
    bench.session.machine = WINDOWS
    bench.session.target = Target(environment(tmp_path / "v", "2.6.0+cu124"))
    bench.options(profile="torch-cpu")
    found = bad(bench.run(ProfileStage), "profile")
    assert (found.id, found.facts["holds"]) == ("profile.other_profile_installed", "local-cu124")


def test_an_environment_without_torch_is_refused(bench: Bench, tmp_path: Path) -> None:
    bench.session.target = Target(environment(tmp_path / "v", None))
    assert bad(bench.run(ProfileStage), "profile").id == "profile.torch_missing"


def test_a_checkout_without_interpreter(bench: Bench, tmp_path: Path) -> None:
    bench.session.target = find_target(tmp_path, None)
    assert bad(bench.run(ProfileStage), "profile").id == "profile.interpreter_missing"


def test_torch_versions_belong_to_profiles() -> None:
    book = load_profiles()
    cases = {
        "2.9.1": "torch-cpu",
        "2.9.1+cpu": "torch-cpu",
        "2.9.1+rocm7.2.1": "local-rocm",
        "2.7.0+cu128": "local-cu128",
        "2.6.0+cu124": "local-cu124",
    }
    for version, id in cases.items():
        profile = profile_of_torch(version, book, "windows-amd64")
        assert profile is not None and profile.id == id, version
    assert profile_of_torch("1.13.1", book, "windows-amd64") is None


def test_installed_torch_is_read_without_running_anything(tmp_path: Path) -> None:
    assert installed_torch(environment(tmp_path / "v", "2.9.1+rocm7.2.1")) == "2.9.1+rocm7.2.1"


def test_platform_tags() -> None:
    assert platform_tag("win32", "AMD64") == "windows-amd64"
    assert platform_tag("linux", "x86_64") == "linux-x86_64"
    assert platform_tag("darwin", "arm64") == "macos-arm64"


def test_every_profile_is_whole() -> None:
    for profile in load_profiles().profiles:
        assert {"versions", "compute", "ready", "message"} <= set(profile.limits), profile.id
        assert "torch" in profile.packages


def test_no_profile_for_an_unknown_platform() -> None:
    assert recommend(load_profiles(), replace(MACHINE, platform="freebsd-amd64"), None) is None

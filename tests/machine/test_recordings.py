"""Recorded machines: each gives exactly the findings that a support engineer would write.

`name` passed, `~name` warning, `!name` failed. Every run is for `local-rocm`, in an environment that holds its torch.
"""

from pathlib import Path

import pytest

from rocm_wizard.machine.profiles import load_profiles
from rocm_wizard.machine.recommend import recommend
from rocm_wizard.machine.target import Target
from rocm_wizard.report.catalogue import Catalogue
from rocm_wizard.stages.profile import ProfileStage
from tests.machine.support import RECORDINGS, environment, finding, recorded, short
from tests.stages.bench import Bench

BEFORE = ["machine", "windows"]
CHOICE = ["target", "chosen_option"]
GOOD = ["gpu_listed", "driver_as_documented", "monitor"]
AFTER = ["vc_runtime", "paths", "torch_installed"]

TABLE: dict[str, tuple[str, str, list[str]]] = {
    "rx_9070_xt": ("local-rocm", "adapter", [*BEFORE, "adapter", "adapters_stale", *CHOICE, *GOOD, *AFTER]),
    "rx_7900_xtx_and_igpu": (
        "local-rocm",
        "adapter",
        [*BEFORE, "adapter", "adapter", *CHOICE, *GOOD, "~drivers_differ", "~igpu_first", *AFTER],
    ),
    "radeon_780m": (
        "torch-cpu",
        "unfit",
        [
            *BEFORE,
            "adapter",
            *CHOICE,
            "~gpu_not_usable",
            "driver_as_documented",
            "monitor",
            "vc_runtime",
            "~smart_app_control",
            "paths",
            "torch_installed",
        ],
    ),
    "strix_halo": (
        "local-rocm",
        "adapter",
        [*BEFORE, "adapter", *CHOICE, *GOOD, "vc_runtime", "smart_app_control_evaluation", "paths", "torch_installed"],
    ),
    "rx_6800": (
        "torch-cpu",
        "unfit",
        [*BEFORE, "adapter", *CHOICE, "!gpu_refused", "vc_runtime", "paths", "~variable_no_effect", "torch_installed"],
    ),
    "nvidia": (
        "local-cu124",
        "adapter",
        [
            *BEFORE,
            "adapter",
            "adapter",
            *CHOICE,
            "!gpu_missing",
            "vc_runtime",
            "paths",
            "~variable_hides_device",
            "torch_installed",
        ],
    ),
    "no_gpu": (
        "torch-cpu",
        "fallback",
        [
            *BEFORE,
            "~memory_low",
            "~page_file_low",
            "adapter",
            *CHOICE,
            "!gpu_missing",
            "~vc_runtime_missing",
            "paths",
            "torch_installed",
        ],
    ),
    "usb_display_first": (
        "local-rocm",
        "adapter_unlisted",
        [
            *BEFORE,
            "adapter",
            "adapter",
            *CHOICE,
            "~gpu_not_listed",
            "driver_as_documented",
            "monitor",
            "vc_runtime",
            "paths",
            "~variable_package_index",
            "~variable_stray_sdk",
            "torch_installed",
        ],
    ),
    "driver_missing": (
        "local-rocm",
        "adapter",
        [*BEFORE, "adapter", *CHOICE, "gpu_listed", "!driver_missing", *AFTER],
    ),
    "driver_not_installed": (
        "local-rocm",
        "adapter",
        [*BEFORE, "adapter", "adapter", *CHOICE, "gpu_listed", "!driver_missing", *AFTER],
    ),
    "cjk_user": (
        "local-rocm",
        "adapter",
        [*BEFORE, "adapter", *CHOICE, *GOOD, "vc_runtime", "~path_not_ascii", "~path_blank", "torch_installed"],
    ),
    "headless_beside_igpu": (
        "local-rocm",
        "adapter",
        [
            *BEFORE,
            "adapter",
            "adapter",
            *CHOICE,
            "gpu_listed",
            "driver_as_documented",
            "~no_monitor_beside_igpu",
            "igpu_hidden",
            "vc_runtime",
            "paths",
            "variables_noted",
            "torch_installed",
        ],
    ),
    "driver_older": (
        "local-rocm",
        "adapter",
        [*BEFORE, "adapter", *CHOICE, "gpu_listed", "!driver_older", "~driver_disagrees", "monitor", *AFTER],
    ),
    "driver_newer": (
        "local-rocm",
        "adapter_unlisted",
        [
            *BEFORE,
            "adapter",
            *CHOICE,
            "~gpu_not_listed",
            "~driver_newer",
            "monitor",
            "~vc_runtime_old",
            "paths",
            "torch_installed",
        ],
    ),
    "windows_10": ("torch-cpu", "unfit", [*BEFORE, "adapter", *CHOICE, "!windows_too_old", *GOOD, *AFTER]),
    "krackan_8_gib": (
        "local-rocm",
        "adapter_unlisted",
        [
            *BEFORE,
            "~memory_low",
            "~page_file_low",
            "adapter",
            *CHOICE,
            "~gpu_disputed",
            "~driver_newer",
            "monitor",
            *AFTER,
        ],
    ),
    "windows_server": (
        "torch-cpu",
        "unfit",
        [
            *BEFORE,
            "~unread",
            "adapter",
            *CHOICE,
            "!windows_server",
            "gpu_listed",
            "driver_as_documented",
            "~no_monitor",
            "~vc_runtime_unread",
            "paths",
            "torch_installed",
        ],
    ),
}


def test_every_recording_is_in_the_table() -> None:
    names = {path.stem for path in RECORDINGS.glob("*.json")}
    assert names - set(TABLE) == {"linux_rx_9070_xt"} and len(names) >= 10


@pytest.mark.parametrize("name", TABLE)
def test_rocm(bench: Bench, tmp_path: Path, name: str) -> None:
    profile, reason, expected = TABLE[name]
    machine = recorded(name)
    advice = recommend(load_profiles(), machine, None)
    assert advice is not None and (advice.profile.id, advice.reason) == (profile, reason)
    bench.session.machine = machine
    bench.session.target = Target(environment(tmp_path / "v", "2.9.1+rocm7.2.1"))
    bench.options(profile="local-rocm")
    state = bench.run(ProfileStage)
    assert short(state) == expected
    catalogue = Catalogue("en")
    for one in state.stage("profile").findings:
        shown = [catalogue.sentence(one), catalogue.hint(one), catalogue.action(one), catalogue.link(one)]
        assert not any("?" in (text or "") for text in shown), (one.id, shown)


@pytest.mark.parametrize("name", TABLE)
def test_the_cpu_profile_is_never_stopped_by_a_gpu(bench: Bench, tmp_path: Path, name: str) -> None:
    bench.session.machine = recorded(name)
    bench.session.target = Target(environment(tmp_path / "v", "2.9.1"))
    bench.options(profile="torch-cpu")
    state = bench.run(ProfileStage)
    assert state.stage("profile").outcome.opens_gate  # pyright: ignore[reportOptionalMemberAccess]
    ids = {one.removeprefix("~") for one in short(state)}
    assert not {one for one in ids if one.startswith(("gpu_", "driver", "igpu", "path", "variable_", "no_monitor"))}


def test_what_the_unfit_and_the_unused_adapter_are_told(bench: Bench, tmp_path: Path) -> None:
    bench.session.target = Target(environment(tmp_path / "v", "2.9.1"))
    bench.options(profile="torch-cpu")
    expected = {"rx_6800": "adapter_unfit", "windows_10": "adapter_unfit_windows", "rx_9070_xt": "~adapter_unused"}
    for name, id in expected.items():
        bench.session.machine = recorded(name)
        assert id in short(bench.run(ProfileStage))


def test_facts_that_decide(bench: Bench, tmp_path: Path) -> None:
    bench.session.target = Target(environment(tmp_path / "v", "2.9.1+rocm7.2.1"))
    bench.options(profile="local-rocm")

    def fact(name: str, id: str, key: str) -> object:
        bench.session.machine = recorded(name)
        return finding(bench.run(ProfileStage), id).facts[key]

    assert fact("rx_7900_xtx_and_igpu", "igpu_first", "index") == 1
    assert fact("rx_7900_xtx_and_igpu", "igpu_first", "igpu_gfx") == "gfx1036"
    assert fact("driver_missing", "driver_missing", "adapter") == "Radeon RX 9070 XT"
    assert fact("driver_not_installed", "driver_missing", "problem") == 28
    assert fact("strix_halo", "gpu_listed", "product") == "Ryzen AI Max+ 395 (Radeon 8060S)"
    assert fact("strix_halo", "gpu_listed", "confidence") == "medium"
    assert fact("driver_older", "driver_older", "wanted_driver") == "32.0.23027.2005"
    assert fact("driver_newer", "driver_newer", "package") == "26.6.4"
    assert fact("cjk_user", "path_not_ascii", "which") == ["USERPROFILE", "TEMP"]
    assert fact("rx_9070_xt", "adapters_stale", "names") == ["NVIDIA GeForce RTX 2060"]


def test_vram_is_read_with_64_bits() -> None:
    sizes = {adapter.label: adapter.vram for adapter in recorded("rx_7900_xtx_and_igpu").adapters or ()}
    assert sizes == {"AMD Radeon(TM) Graphics": 512 * 2**20, "AMD Radeon RX 7900 XTX": 24 * 2**30}


def test_windows_facts() -> None:
    eleven, ten = recorded("rx_9070_xt").windows, recorded("windows_10").windows
    assert eleven is not None and ten is not None
    assert (eleven.name, eleven.build, eleven.smart_app_control, eleven.long_paths) == (
        "Windows 11",
        26200,
        "off",
        True,
    )
    assert (ten.name, ten.smart_app_control) == ("Windows 10", None)


def test_the_fingerprint_names_nobody() -> None:
    text = str(recorded("cjk_user").fingerprint())
    assert "小明" not in text and "paths" not in text.replace("long_paths", "")

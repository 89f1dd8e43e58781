"""The GPU matrix, the driver table and the variables, and a release that is only data."""

import json
import shutil
import tomllib
from dataclasses import replace
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from rocm_wizard.assets import assets_root
from rocm_wizard.machine.adapters import Adapter
from rocm_wizard.machine.drivers import Age, order_of
from rocm_wizard.machine.knowledge import load_knowledge
from rocm_wizard.machine.matrix import Status, status_of
from rocm_wizard.machine.profiles import load_profiles
from rocm_wizard.machine.recommend import recommend
from rocm_wizard.machine.target import Target
from rocm_wizard.stages.profile import ProfileStage
from tests.machine.support import environment, finding, recorded, short
from tests.stages.bench import Bench

KNOWN = load_knowledge()
RELEASE = KNOWN.matrix.releases[0]

CARDS = [
    # device, revision, name, processor, product, status
    ("744c", "C8", "AMD Radeon RX 7900 XTX", None, "rx-7900-xtx", Status.LISTED),
    ("744c", "CC", "AMD Radeon RX 7900 XT", None, "rx-7900-xt", Status.NOT_LISTED),
    ("744c", "CE", "AMD Radeon RX 7900 GRE", None, "rx-7900-gre", Status.NOT_LISTED),
    ("744c", "CC", None, None, "rx-7900-xt", Status.NOT_LISTED),
    ("7550", "C0", "AMD Radeon RX 9070 XT", None, "rx-9070-xt", Status.LISTED),
    ("7550", None, "AMD Radeon RX 9070", None, "rx-9070", Status.LISTED),
    ("7550", "C2", "AMD Radeon RX 9070 GRE", None, "rx-9070-gre", Status.NOT_LISTED),
    ("7590", "C1", "AMD Radeon RX 9060 XT LP", None, "rx-9060-xt-lp", Status.NOT_LISTED),
    ("7590", "C7", "AMD Radeon RX 9060", None, "rx-9060", Status.NOT_LISTED),
    ("747e", "DB", "AMD Radeon RX 7700", None, "rx-7700", Status.LISTED),
    ("747e", "FF", "AMD Radeon RX 7700 XT", None, "rx-7700-xt", Status.NOT_LISTED),
    ("7448", "00", "AMD Radeon PRO W7900", None, "pro-w7900", Status.LISTED),
    ("744a", "00", "AMD Radeon PRO W7900 Dual Slot", None, "pro-w7900-dual-slot", Status.LISTED),
    ("7480", "CF", "AMD Radeon RX 7600", None, "rx-7600", Status.NOT_USABLE),
    ("15bf", "C2", "AMD Radeon 780M Graphics", "AMD Ryzen 7 7840HS", "radeon-780m", Status.NOT_USABLE),
    ("164e", "C1", "AMD Radeon(TM) Graphics", "AMD Ryzen 9 7950X", "ryzen-7000-graphics", Status.NOT_USABLE),
    ("73bf", "C3", "AMD Radeon RX 6800", None, "rx-6800", Status.NOT_USABLE),
    ("73df", "C2", "AMD Radeon RX 6800M", None, "rx-6700", Status.NOT_USABLE),
    ("1114", "C2", "AMD Radeon(TM) 860M Graphics", "AMD Ryzen AI 7 350", "radeon-860m", Status.DISPUTED),
    ("1586", "C1", "AMD Radeon(TM) 8060S Graphics", "AMD RYZEN AI MAX+ 395", "ryzen-ai-max-plus-395", Status.LISTED),
    ("1586", "D1", "AMD Radeon 8060S", "AMD RYZEN AI MAX+ PRO 395", "ryzen-ai-max-other", Status.NOT_LISTED),
    ("1586", "C2", "AMD Radeon 8050S", "AMD RYZEN AI MAX 385", "ryzen-ai-max-385", Status.LISTED),
    ("150e", "C1", "AMD Radeon(TM) 890M", "AMD Ryzen AI 9 HX 370 w/ Radeon 890M", "ryzen-ai-9-hx-370", Status.LISTED),
    ("150e", "D1", "AMD Radeon(TM) 890M", "AMD Ryzen AI 9 HX PRO 370", "ryzen-ai-9-other", Status.NOT_LISTED),
    ("1ff0", "C1", "AMD Radeon(TM) 890M", "AMD Ryzen AI 9 HX 470 w/ Radeon 890M", "ryzen-ai-9-hx-470", Status.LISTED),
]


@pytest.mark.parametrize(("device", "revision", "name", "cpu", "product", "status"), CARDS)
def test_one_product(
    device: str, revision: str | None, name: str | None, cpu: str | None, product: str, status: Status
) -> None:
    match = KNOWN.matrix.find(Adapter("amd", device, name, revision=revision), cpu)
    assert [one.id for one in match.products] == [product]
    assert status_of(match, RELEASE) is status


def test_an_undecided_card_gets_the_weakest_status_and_is_never_called_listed() -> None:
    match = KNOWN.matrix.find(Adapter("amd", "744c"), None)
    assert {one.id for one in match.products} == {"rx-7900-xtx", "rx-7900-xt", "rx-7900-gre", "rx-7900m"}
    assert (match.gfx, status_of(match, RELEASE)) == ("gfx1100", Status.NOT_LISTED)


def test_other_vendors_and_unknown_ids_are_not_in_the_matrix() -> None:
    for adapter in (Adapter("nvidia", "744c", "RX 7900 XTX"), Adapter("amd", "ffff", "AMD Radeon RX 9999")):
        assert status_of(KNOWN.matrix.find(adapter, None), RELEASE) is Status.UNKNOWN


def test_listed_products_have_a_listed_instruction_set_and_every_source_is_named() -> None:
    products = {one.id: one for one in KNOWN.matrix.products}
    assert {products[id].gfx for id in RELEASE.listed} == set(RELEASE.gfx)
    for one in products.values():
        assert one.sources and set(one.sources) <= set(KNOWN.matrix.sources), one.id
        assert one.confidence in ("high", "medium", "low") and one.kind in ("discrete", "integrated")


@pytest.mark.parametrize(
    ("driver", "family", "age"),
    [
        ("32.0.23027.2005", "RDNA4", Age.AS_DOCUMENTED),
        ("32.0.23027.5001", "RDNA3.5", Age.AS_DOCUMENTED),
        ("32.0.23017.1001", "RDNA3", Age.OLDER),
        ("31.0.24033.1003", "RDNA3", Age.OLDER),
        ("32.0.23033.1002", "RDNA3", Age.NEWER),
        ("32.0.21045.11001", "RDNA2", Age.UNKNOWN),
        ("32.0.23027.2005", "GCN", Age.UNKNOWN),
        (None, "RDNA4", Age.UNKNOWN),
        ("26.Q3", "RDNA4", Age.UNKNOWN),
    ],
)
def test_driver_age(driver: str | None, family: str, age: Age) -> None:
    assert KNOWN.drivers.age("26.2.2", driver, family) is age


def test_the_branches_of_one_package() -> None:
    new, old = KNOWN.drivers.find("26.1.1", "RDNA3"), KNOWN.drivers.find("26.1.1", "RDNA2")
    assert new is not None and old is not None
    assert (new.wddm, old.wddm) == ("32.0.23017.1001", "32.0.21041.1000")
    assert KNOWN.drivers.package_of("32.0.21041.1000", "RDNA3") is None


@given(st.text())
def test_any_driver_text_is_a_number_or_nothing(text: str) -> None:
    order = order_of(text)
    assert order is None or len(order) == 3


def test_variables_by_kind() -> None:
    environment = {
        "HIP_PATH_64": "C:\\hip",
        "PYTORCH_HIP_ALLOC_CONF": "max_split_size_mb:64, expandable_segments:True",
        "PYTORCH_ALLOC_CONF": "max_split_size_mb:64",
        "MIOPEN_FIND_MODE": "2",
        "MIOPEN_FIND_ENFORCE": "4",
        "ROCM_PATH": "",
    }
    assert KNOWN.variables.by_kind(environment) == {
        "stray_sdk": ["HIP_PATH_64"],
        "unsupported": ["PYTORCH_HIP_ALLOC_CONF"],
        "noted": ["PYTORCH_ALLOC_CONF", "MIOPEN_FIND_MODE"],
        "slow_search": ["MIOPEN_FIND_ENFORCE"],
    }


NEXT_PROFILE = """
[[profile]]
id = "local-rocm-73"
device_kind = "hip"
device = "cuda:0"
vendor = "amd"
platforms = ["windows-amd64"]
python = "3.12"
env_template = "voice-rocm.env"
local = ["rocm7.3.0"]
hip = "7.3"
cuda = ""
packages = { torch = "2.10.0", torchaudio = "2.10.0", rocm = "7.3.0" }
limits = { versions = 300, compute = 300, ready = 600, message = 300 }
"""
NEXT_RELEASE = """
[[release]]
rocm = "7.3.0"
platform = "windows-amd64"
driver = "26.6.4"
windows_build = 26100
gfx = ["gfx1100", "gfx1103", "gfx1201"]
[release.listed]
radeon-780m = "high"
rx-7900-xt = "high"
rx-9070-xt = "high"
"""


def test_the_next_release_is_an_edit_of_data_files_only(bench: Bench, tmp_path: Path) -> None:
    data = tmp_path / "data"
    data.mkdir()
    for name in ("profiles.toml", "gpu_matrix.toml", "drivers.toml", "machine.toml", "variables.toml"):
        shutil.copy(assets_root() / name, data / name)
    for name, more in (("profiles.toml", NEXT_PROFILE), ("gpu_matrix.toml", NEXT_RELEASE)):
        with (data / name).open("a", encoding="utf-8", newline="\n") as file:
            file.write(more)
    book, known = load_profiles(data / "profiles.toml"), load_knowledge(data)

    def advised(name: str) -> tuple[str, str]:
        advice = recommend(book, recorded(name), None, known)
        assert advice is not None
        return advice.profile.id, advice.reason

    assert advised("radeon_780m") == ("local-rocm-73", "adapter")  # 7.3.0 lists it, 7.2.1 has no kernels for it
    assert advised("driver_newer") == ("local-rocm-73", "adapter")  # an RX 7900 XT, and the driver of 7.3.0
    assert advised("rx_9070_xt") == ("local-rocm", "adapter")  # listed by both, and the driver of 7.2.1
    assert advised("rx_6800") == ("torch-cpu", "unfit")

    bench.session.book, bench.session.machine = book, recorded("radeon_780m")
    bench.session.target = Target(environment(tmp_path / "v", "2.10.0+rocm7.3.0"))
    state = bench.run(lambda session: ProfileStage(session, known))
    assert {"chosen_installed", "gpu_listed", "!driver_older"} <= set(short(state))
    assert finding(state, "driver_older").facts["wanted"] == "26.6.4"
    bench.session.machine = replace(recorded("driver_newer"))
    assert {"gpu_listed", "driver_as_documented"} <= set(short(bench.run(lambda session: ProfileStage(session, known))))


def test_recordings_and_data_are_plain_text() -> None:
    for path in (Path(__file__).parent / "recordings").glob("*.json"):
        json.loads(path.read_text(encoding="utf-8"))
    for name in ("gpu_matrix.toml", "drivers.toml", "machine.toml", "variables.toml"):
        tomllib.loads((assets_root() / name).read_text(encoding="utf-8"))

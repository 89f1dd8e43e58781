"""The compute step's data file."""

from pathlib import Path

import pytest

from rocm_wizard.stages.compute_plan import LEVELS, load_plan


def test_every_operation_is_in_a_level_and_the_issues_list_is_complete() -> None:
    plan = load_plan()
    assert set().union(*plan.levels.values()) == set(plan.operations)
    assert set(plan.levels["quick"]) <= set(plan.levels["standard"])
    assert {"vocoder_all", "allocate_free_long"} == set(plan.levels["soak"]) - set(plan.levels["standard"])


def test_exact_operations_are_exact_and_tolerances_follow_the_type() -> None:
    operations = load_plan().operations
    exact = {name for name, operation in operations.items() if operation.tolerance == 0}
    copies = {"allocate", "host_to_device", "device_to_host", "kv_cache", "allocate_free", "allocate_free_long"}
    assert exact == copies | {"fp32_product"}
    by_type = [operations[f"large_product_{name}"].tolerance for name in ("fp32", "fp16", "bf16")]
    assert by_type == sorted(by_type) and by_type[2] < 0.1


def test_what_kills_processes_has_one_of_its_own() -> None:
    plan = load_plan()
    assert [name for name, _ in plan.children("standard", "hip", asked=True)] == ["device", "attention", "graph"]
    assert [name for name, _ in plan.children("standard", "hip")] == ["device", "attention"]
    assert [name for name, _ in plan.children("standard", "cpu", asked=True)] == ["device", "attention"]
    assert [name for name, _ in plan.children("quick", "hip", asked=True)] == ["device"]


def test_the_soak_level_tries_every_length_of_a_streamed_block() -> None:
    options = load_plan().operations["vocoder_all"].order(10.0)["options"]
    assert options["lengths"] == list(range(33, 76))


def test_an_order_has_no_more_time_than_the_profile_gives() -> None:
    operation = load_plan().operations["fft"]
    assert operation.order(5.0)["seconds"] == 5.0
    assert operation.order(1e6)["seconds"] == operation.seconds
    assert operation.order(5.0)["options"]["tolerance"] == operation.tolerance


RIGHT = 'levels = {quick = ["a"], standard = ["a"], soak = ["a"]}\n'
ENTRY = '[[operation]]\nid = "a"\nfunction = "fft"\ntolerance = 1.0\nseconds = 1\n'


@pytest.mark.parametrize(
    ("text", "words"),
    [
        (RIGHT + ENTRY + "colour = 1\n", "'a'.*colour"),
        (RIGHT + ENTRY + ENTRY, "two operations are called 'a'"),
        (RIGHT.replace('soak = ["a"]', 'soak = ["b"]') + ENTRY, "'soak' names unknown operations: b"),
        (RIGHT.replace("soak", "long") + ENTRY, "must be quick, standard, soak"),
    ],
)
def test_a_wrong_file_names_the_entry(tmp_path: Path, text: str, words: str) -> None:
    file = tmp_path / "compute.toml"
    file.write_text(text, encoding="utf-8")
    with pytest.raises((TypeError, ValueError), match=words):
        load_plan(file)
    assert len(LEVELS) == 3

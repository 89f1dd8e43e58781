"""The known-issue book: each entry explains its recorded example and leaves another alone; the best one comes first."""

import tomllib
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from rocm_wizard.assets import asset
from rocm_wizard.qualification.finding import Fact, Finding
from rocm_wizard.qualification.outcome import Outcome
from rocm_wizard.report.exit_forms import exit_forms, exits_in, forms_of_number
from rocm_wizard.report.known_issues import BookError, best_issue, load_known_issues, match_issues
from rocm_wizard.runner.exit_status import explain_exit

RECORDED = Path(__file__).parent / "recorded_issues"
BOOK = {issue.id: issue for issue in load_known_issues()}


def tables(name: str) -> dict[str, Any]:
    """One file of examples."""
    return tomllib.loads((RECORDED / name).read_text(encoding="utf-8"))


MACHINES = tables("machines.toml")
EXAMPLES: dict[str, Any] = tables("crashes.toml") | tables("kernels.toml") | tables("packages.toml")


def finding_of(example: Mapping[str, Any]) -> Finding:
    """The example's finding."""
    return Finding(example["finding"], Outcome(example.get("outcome", "failed")), example.get("facts", {}))


def found(example: Mapping[str, Any]) -> list[str]:
    """The ids that explain an example, best first."""
    machine = MACHINES[example["machine"]] | example.get("known", {})
    return [match.issue.id for match in match_issues(finding_of(example), machine)]


def crash(facts: Mapping[str, Fact], machine: str = "phoenix", **known: object) -> str | None:
    """The best explanation of a crash in the compute step."""
    issue = best_issue(Finding("compute.child_crashed", Outcome.CRASHED, facts), MACHINES[machine] | known)
    return issue.id if issue else None


def test_the_book_has_its_forty_entries_and_each_has_its_examples() -> None:
    assert len(BOOK) >= 40
    assert set(EXAMPLES) == set(BOOK)


@pytest.mark.parametrize("name", sorted(BOOK))
def test_every_entry_explains_its_example_first_and_leaves_the_other_alone(name: str) -> None:
    example = EXAMPLES[name]
    ids = found(example["yes"])
    assert name in ids
    before = set(ids[: ids.index(name)])
    assert before <= set(example["yes"].get("after", []))
    assert name not in found(example["no"])


@pytest.mark.parametrize("name", sorted(BOOK))
def test_every_entry_can_be_followed(name: str) -> None:
    issue = BOOK[name]
    assert len(issue.cause) > 40
    assert issue.remedy[0].isupper() and issue.remedy.endswith(".")
    assert "\n" not in issue.title + issue.cause + issue.remedy + (issue.command or "")
    assert len(issue.title) <= 110


SAME_DEATH: tuple[Mapping[str, Fact], ...] = (
    {"code": 3221225477},
    {"code": -1073741819},
    {"code": 0xC0000005},
    {"code": 139},
    {"code": -11},
    {"exit_code": -1073741819},
    {"exit_name": "STATUS_ACCESS_VIOLATION"},
    {"name": str(explain_exit(3221225477))},
    {"name": str(explain_exit(-11))},
    {"detail": "the process ended with -1073741819"},
    {"stderr": ["Windows fatal exception: access violation", "Current thread 0x00005930"]},
)


@pytest.mark.parametrize("facts", SAME_DEATH)
def test_the_reference_case_in_every_spelling_of_its_exit_code(facts: Mapping[str, Fact]) -> None:
    assert crash({"step": "fp32_product", **facts}) == "gfx1103-dies-at-first-operation"
    assert crash({"step": "fp32_product", "gfx": "gfx1103:xnack-", **facts}, "nvidia") == (
        "gfx1103-dies-at-first-operation"
    )


@pytest.mark.parametrize("facts", [{"code": 1}, {"code": 0xC0000409}, {"code": -6}, {"code": 7}, {}])
def test_another_death_of_the_same_gpu_is_not_that_case(facts: Mapping[str, Fact]) -> None:
    assert crash({"step": "fp32_product", **facts}) is None


def test_a_crash_of_the_cpu_build_is_not_blamed_on_the_radeon_beside_it() -> None:
    assert crash({"code": 3221225477, "step": "fp32_product"}, device_kind="cpu") is None
    assert crash({"code": 3221225477, "step": "fp32_product"}, device_kind="hip") is not None


def test_the_gpu_that_computed_decides_not_the_one_beside_it() -> None:
    facts: dict[str, Fact] = {"code": 3221225477, "step": "fp32_product"}
    assert crash(facts | {"gfx": "gfx1201"}) is None
    assert crash(facts, gfx="gfx1201") is None
    assert crash(facts) == "gfx1103-dies-at-first-operation"


def test_what_passed_needs_no_explanation() -> None:
    finding = Finding("compute.fp32_product", Outcome.PASSED, {"detail": "WinError 4551"})
    assert match_issues(finding, MACHINES["phoenix"]) == []
    assert match_issues(Finding("versions.child_failed", Outcome.FAILED, {"detail": "WinError 4551"}), {}) != []


def test_a_windows_error_is_known_by_its_number_in_every_language() -> None:
    facts: dict[str, Fact] = {"detail": "ImportError: 动态链接库(DLL)初始化例程失败。", "winerror": 1114}
    issue = best_issue(Finding("versions.dll_init_failed", Outcome.FAILED, facts), MACHINES["rx9070"])
    assert issue is not None and issue.id == "visual-c-runtime-too-old"


def test_version_exact_entries_stand_before_generic_ones_with_the_same_token() -> None:
    pairs = [
        ("rdna2-is-available-rocm721", "rdna2-dies-at-start"),
        ("grouped-mm-rocm721", "grouped-mm-windows"),
        ("miopen-batchnorm-rocm721", "miopen-headers-missing"),
        ("hang-at-exit-rocm721", "hang-at-exit-windows"),
    ]
    for exact, generic in pairs:
        ids = found(EXAMPLES[exact]["yes"])
        assert ids.index(exact) < ids.index(generic)


def entry(name: str, match: str, confidence: str = "low") -> str:
    """A book entry with this matcher."""
    return f"""
[[issue]]
id = "{name}"
title = "t"
platform = "any"
cause = "c"
remedy = "r"
link = "https://example.org/{name}"
confidence = "{confidence}"
match = {{ finding = ["a.*"], {match} }}
"""


RANKED = [
    ("exact-version", 'text = ["boom"], torch = ["2.9.1+rocm7.2.1"]'),
    ("gpu", 'text = ["boom"], gpu = ["gfx1201"]'),
    ("version-pattern", 'text = ["boom"], torch = ["2.9.*"]'),
    ("two-kinds", 'text = ["boom"], step = ["s"]'),
    ("longer-token", 'text = ["big boom"]'),
    ("sure", 'text = ["boom"]'),
    ("less-sure", 'text = ["boom"]'),
    ("later-in-the-book", 'text = ["boom"]'),
]


def test_the_ranking_rule_step_by_step(tmp_path: Path) -> None:
    confidence = {"sure": "high", "less-sure": "medium", "later-in-the-book": "medium"}
    rows = [entry(name, match, confidence.get(name, "low")) for name, match in RANKED]
    shuffled = [*reversed(rows[:-2]), *rows[-2:]]
    path = tmp_path / "book.toml"
    path.write_text("".join(shuffled), encoding="utf-8")
    finding = Finding("a.b", Outcome.FAILED, {"detail": "BIG\n boom!", "step": "s"})
    machine = {"torch": "2.9.1+rocm7.2.1", "gfx": "gfx1201"}
    ranked = [match.issue.id for match in match_issues(finding, machine, load_known_issues(path))]
    assert ranked == [name for name, _ in RANKED]


BROKEN = [
    (entry("a", 'text = ["x"]') * 2, "twice"),
    (entry("A", 'text = ["x"]'), "lower-case"),
    (entry("a", "").replace(",  }", " }"), "too much"),
    (entry("a", 'exit = ["0xZZ"]'), "a: "),
    (entry("a", 'text = ["x"]').replace("a.*", "@crash"), "no group @crash"),
    (entry("a", 'texts = ["x"]'), "knows only"),
    (entry("a", 'text = "x"'), "list"),
    (entry("a", 'text = [""]'), "list"),
    (entry("a", 'text = ["x"]', "certain"), "confidence"),
    (entry("a", 'text = ["x"]').replace("https://", "http://"), "https"),
    (entry("a", 'text = ["x"]').replace('cause = "c"', ""), "cause missing"),
    (entry("a", 'text = ["x"]').replace('cause = "c"', "cause = 3"), "must be text"),
    (entry("a", 'text = ["x"]').replace("title =", "titel ="), "title missing"),
    (entry("a", 'text = ["x"]').replace("cause =", 'author = "me"\ncause ='), "unknown field author"),
    ("[[issue]\n", "book.toml"),
]


@pytest.mark.parametrize(("text", "said"), BROKEN)
def test_a_broken_book_is_refused_and_the_message_names_the_entry(tmp_path: Path, text: str, said: str) -> None:
    path = tmp_path / "book.toml"
    path.write_text(text, encoding="utf-8")
    with pytest.raises(BookError, match=said):
        load_known_issues(path)


STATUSES = [
    (int(row["hex"], 16), row["name"])
    for row in tomllib.loads(asset("ntstatus.toml").read_text(encoding="utf-8"))["code"]
]


@pytest.mark.parametrize(("code", "name"), STATUSES)
def test_hex_unsigned_signed_and_name_are_one_code(code: int, name: str) -> None:
    signed = code - 2**32 if code >= 2**31 else code
    forms = frozenset((code,))
    assert exit_forms(f"0x{code:08X}") == exit_forms(f"0x{code:08x}") == forms
    assert exit_forms(str(code)) == exit_forms(str(signed)) == forms_of_number(signed) == forms
    assert exit_forms(name) == forms


@given(st.integers(min_value=0x40000000, max_value=0xFFFFFFBF))
def test_signed_and_unsigned_are_always_one_code(code: int) -> None:
    signed = code - 2**32 if code >= 2**31 else code
    assert forms_of_number(signed) == forms_of_number(code) == frozenset((code,))


@given(st.dictionaries(st.sampled_from(["detail", "step", "gfx", "code", "stderr"]), st.text() | st.integers()))
def test_any_facts_can_be_asked_about(facts: dict[str, Any]) -> None:
    finding = Finding("compute.child_crashed", Outcome.CRASHED, facts)
    ranks = [match.rank for match in match_issues(finding, {"adapters": None, "torch": 3, "platform": 5})]
    assert ranks == sorted(ranks, reverse=True)


def test_an_address_or_a_byte_count_is_no_exit_code() -> None:
    texts = ["at 0x00007FFD935B2DF5 read 0x12345678", "536870912 bytes, 17179869184 more", "SIGNAL of SIGNIFICANCE"]
    assert exits_in({}, texts) == frozenset()

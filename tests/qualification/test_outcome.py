"""The rule from findings to outcomes, and from outcomes to the exit code."""

import itertools

import pytest
from hypothesis import given
from hypothesis import strategies as st

from rocm_wizard.qualification.exit_codes import ExitCode, exit_code
from rocm_wizard.qualification.outcome import Outcome, worst

outcomes = st.lists(st.sampled_from(Outcome), max_size=8)


def test_no_finding_is_not_a_pass() -> None:
    assert worst([]) is Outcome.COULD_NOT_CHECK


def test_something_skipped_beside_something_passed_is_a_warning() -> None:
    assert worst([Outcome.PASSED, Outcome.SKIPPED]) is Outcome.WARNING
    assert worst([Outcome.SKIPPED, Outcome.SKIPPED]) is Outcome.SKIPPED


@given(outcomes)
def test_passed_means_every_finding_passed(found: list[Outcome]) -> None:
    assert (worst(found) is Outcome.PASSED) == (bool(found) and set(found) == {Outcome.PASSED})


@given(outcomes, st.sampled_from(Outcome))
def test_one_more_finding_never_opens_a_closed_gate(found: list[Outcome], more: Outcome) -> None:
    if found and not worst(found).opens_gate:
        assert not worst([*found, more]).opens_gate


@given(outcomes)
def test_the_order_of_findings_does_not_matter(found: list[Outcome]) -> None:
    assert worst(found) is worst(list(reversed(found)))


@pytest.mark.parametrize(
    ("stages", "code"),
    [
        ([Outcome.PASSED, Outcome.WARNING], 0),
        ([Outcome.PASSED, Outcome.CRASHED, Outcome.BLOCKED], 1),
        ([Outcome.FAILED, Outcome.COULD_NOT_CHECK], 1),
        ([Outcome.COULD_NOT_CHECK, Outcome.BLOCKED], 3),
        ([Outcome.PASSED, Outcome.CANCELLED], 4),
        ([Outcome.PASSED, None], 4),
        ([], 4),
    ],
)
def test_exit_codes(stages: list[Outcome | None], code: int) -> None:
    assert exit_code(stages) == code


def test_our_own_bug_outranks_every_outcome() -> None:
    for pair in itertools.product(Outcome, repeat=2):
        assert exit_code(pair, internal_error=True) is ExitCode.INTERNAL_ERROR

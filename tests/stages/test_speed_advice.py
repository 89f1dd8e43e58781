"""The recommendations, with made-up numbers on both sides of every line."""

import pytest

from rocm_wizard.stages.speed_advice import (
    Pace,
    Vocoder,
    advise_blocks,
    advise_bucket,
    advise_concurrency,
    advise_graph,
    advise_steps,
)


@pytest.mark.parametrize(
    ("short", "long", "id"),
    [
        (Pace(0.4, 0.7), Pace(0.7, 0.5), "bench.blocks_short"),
        (Pace(0.4, 0.9), Pace(0.7, 0.5), "bench.blocks_short"),
        (Pace(0.4, 0.91), Pace(0.7, 0.5), "bench.blocks_long"),
        (Pace(0.69, 0.7), Pace(0.7, 0.5), "bench.blocks_no_gain"),
        (Pace(0.4, 1.6), Pace(0.7, 1.2), "bench.blocks_neither"),
        (Pace(0.4, 0.8), Pace(0.7, 1.2), "bench.blocks_short"),
    ],
)
def test_blocks(short: Pace, long: Pace, id: str) -> None:
    assert advise_blocks(short, long).id == id


@pytest.mark.parametrize(("factor", "id"), [(0.6, "bench.steps_many"), (0.61, "bench.steps_few")])
def test_more_steps_only_where_they_are_easily_afforded(factor: float, id: str) -> None:
    advice = advise_steps(Pace(0.4, 0.3), Pace(0.7, factor))
    assert advice.id == id
    assert advice.facts["factor_many"] == factor


@pytest.mark.parametrize(
    ("on", "off", "id"),
    [
        (Vocoder(1, 40), Vocoder(1500, 18), "bench.bucket_on"),
        (Vocoder(1600, 40), Vocoder(1500, 18), "bench.bucket_off"),
        (Vocoder(1, 40), Vocoder(199, 18), "bench.bucket_off"),
        (Vocoder(1, 41), Vocoder(5, 40), "bench.bucket_either"),
        (Vocoder(1, 3600), Vocoder(900, 3500), "bench.bucket_either"),  # on a slow CPU 0.9 s is noise
    ],
)
def test_bucket(on: Vocoder, off: Vocoder, id: str) -> None:
    assert advise_bucket(on, off).id == id


@pytest.mark.parametrize(
    ("graph", "equal", "id"),
    [
        (220.0, True, "bench.graph_on"),
        (109.0, True, "bench.graph_off"),
        (900.0, False, "bench.graph_wrong"),
        (111.0, None, "acceptance.graph_unproven"),
        (109.0, None, "bench.graph_off"),
    ],
)
def test_other_tokens_rule_graphs_out_whatever_they_gain(graph: float, equal: bool | None, id: str) -> None:
    assert advise_graph(100.0, graph, equal=equal).id == id


@pytest.mark.parametrize(
    ("two", "equal", "id"),
    [(1.1, True, "bench.parallel_gains"), (1.09, True, "bench.parallel_no_gain"), (2.0, False, "bench.parallel_wrong")],
)
def test_concurrency(two: float, equal: bool, id: str) -> None:
    assert advise_concurrency(1.0, two, equal=equal).id == id

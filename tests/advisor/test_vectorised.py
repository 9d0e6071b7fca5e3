"""Recommendations for arrays: exactly those for single sizes."""

from __future__ import annotations

import numpy as np
import pytest

from depthlaw.advisor import recommend, recommend_depths
from depthlaw.advisor.base.quantities import UsageError
from depthlaw.advisor.budgets import Budget
from depthlaw.advisor.recommendation import ladder_for
from depthlaw.advisor.shape_search import Ladder, Rung, middle
from depthlaw.advisor.shapes import Constraints, Measure
from depthlaw.advisor.vectorised import Shapes

FIELDS = ("layers", "width", "heads", "kv_heads", "d_ff", "low", "high")
KINDS = [
    (Constraints(), "total"),
    (Constraints(pipeline=4, tensor=2, kv_ratio=4), "nonembedding"),
    (Constraints(experts=8, active_experts=2), "active"),
    (Constraints(loops=2), "total"),
    (Constraints(latency_matters=True), "total"),
    (Constraints(parametrisation="completep", gated=False), "total"),
    (Constraints(kind="encoder-decoder"), "total"),
    (Constraints(layers=40), "total"),
    (Constraints(width=4096), "total"),
]


def sizes(number: int, low: float, high: float, seed: int) -> np.ndarray:
    return np.exp(np.random.default_rng(seed).uniform(np.log(low), np.log(high), number))


def same(found: Shapes, place: tuple[int, ...], rung: Rung | None) -> None:
    a = rung.architecture
    assert [getattr(found, name)[place] for name in ("size", *FIELDS[:5])] == [
        rung.size,
        a.layers,
        a.width,
        a.heads,
        a.key_heads,
        a.d_ff,
    ]


def test_two_thousand_sizes_are_the_answers_to_each_of_them() -> None:
    asked = sizes(2000, 5e7, 2e12, seed=0)
    found = recommend_depths(asked)
    alone: Ladder = ladder_for(Constraints(), "total")
    for i, size in enumerate(asked):
        same(found, (i,), alone.at(float(size)))
    for i in range(0, 2000, 100):
        answer = recommend(Budget(total=float(asked[i])))
        a = answer.shape.architecture
        assert answer.shape.counts.total == found.size[i]
        assert [getattr(found, name)[i] for name in FIELDS] == [
            a.layers,
            a.width,
            a.heads,
            a.key_heads,
            a.d_ff,
            answer.interval.low,
            answer.interval.high,
        ]


@pytest.mark.parametrize(("constraints", "of"), KINDS)
def test_so_they_are_under_constraints_and_by_every_count(
    constraints: Constraints, of: Measure
) -> None:
    asked = sizes(40, 8e9, 9e10, seed=1).reshape(5, 8)
    found = recommend_depths(asked, constraints, of)
    assert found.layers.shape == (5, 8)
    for place, size in np.ndenumerate(asked):
        same(found, place, ladder_for(constraints, of).at(float(size)))


def test_so_they_are_where_no_shape_near_the_rule_can_be_built() -> None:
    coarse = Constraints(kv_ratio=8, head_width=64, tensor=2)
    asked = sizes(60, 7e8, 2e9, seed=3)
    found = recommend_depths(asked, coarse)
    ladder = ladder_for(coarse, "total")
    rungs = [ladder.at(float(size)) for size in asked]
    for i, rung in enumerate(rungs):
        same(found, (i,), rung)
    assert {rung and rung.on_rule for rung in rungs} == {True, False}


def test_a_size_between_two_rungs_goes_to_the_nearer_one_and_a_tie_to_the_smaller() -> None:
    below, above = ladder_for(Constraints(), "total").around(1e9, 1e9)[:2]
    tie = middle(below.size, above.size)
    asked = [below.size, tie, np.nextafter(tie, np.inf), above.size]
    assert recommend_depths(asked).size.tolist() == [below.size, below.size, above.size, above.size]


def test_one_number_none_and_a_list_are_arrays_too() -> None:
    assert recommend_depths(3e9).layers.shape == ()
    assert recommend_depths([]).layers.shape == (0,)
    assert recommend_depths([3e9, 3e9]).layers[1] == recommend_depths(3e9).layers


def test_larger_sizes_never_give_smaller_nets() -> None:
    found = recommend_depths(np.sort(sizes(5000, 3e7, 5e12, seed=2)))
    assert (np.diff(found.size) >= 0).all()
    assert (found.low <= found.high).all()


@pytest.mark.parametrize(
    ("asked", "why"),
    [
        ([3e9, np.nan], "finite numbers"),
        ([0], "from 1000 to 1e"),
        ([-1e9], "from 1000"),
        ([1e16], "from 1000"),
        ([np.inf], "finite"),
        ([3e9, 1e4], "no shape near 1e"),
    ],
)
def test_what_has_no_shape_is_refused_in_one_line(asked: list[float], why: str) -> None:
    with pytest.raises(UsageError, match=why) as caught:
        recommend_depths(asked)
    assert "\n" not in str(caught.value)


def test_as_of_a_year_without_grids_the_interval_is_not_known() -> None:
    found = recommend_depths([1e9, 1e10], known_by=2020)
    assert (found.low == 0).all()

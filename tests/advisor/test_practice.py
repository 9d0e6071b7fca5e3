"""Thirty sizes from 30M to 1T beside what somebody built, read here from the table itself."""

from __future__ import annotations

import csv
from functools import cache
from pathlib import Path
from typing import Any

import pytest

from depthlaw.advisor import models as models_of, recommend
from depthlaw.advisor.architecture import Architecture
from depthlaw.advisor.counting import count
from depthlaw.advisor.decide import ladder_for
from depthlaw.advisor.practice import practice, unbuilt
from depthlaw.advisor.shape_search import Ladder
from depthlaw.advisor.shapes import Constraints

SIZES = [round(3e7 * (1e12 / 3e7) ** (i / 29)) for i in range(30)]
DEMANDS: dict[str, dict[str, Any]] = {
    "none": {},
    "--gqa 8": {"kv_ratio": 8},
    "--ff 8/3": {"ff_factor": 8 / 3},
    "--plain": {"gated": False},
    "--plain --ff 4": {"gated": False, "ff_factor": 4.0},
    "--tensor 8": {"tensor": 8},
    "--vocabulary 32000": {"vocabulary": 32000},
    "--vocabulary 128256": {"vocabulary": 128256},
}


@cache
def rows() -> tuple[dict[str, Any], ...]:
    """Dense decoders whose weights can be counted, a shape as often as it is listed."""
    table = Path(models_of.__file__).with_name("models.csv")
    with table.open(encoding="utf-8", newline="") as file:
        listed = list(csv.DictReader(file))
    names = ("layers", "width", "heads", "kv_heads", "head_width", "d_ff", "matrices")
    return tuple(
        {name: int(row[name]) for name in names}
        for row in listed
        if row["kind"] == "decoder" and row["vocabulary"]
    )


def strange(a: Architecture) -> set[str]:
    """What no row has, by the rows alone."""
    near = [row["heads"] for row in rows() if a.width / 2 <= row["width"] <= 2 * a.width]
    factors = [row["d_ff"] / row["width"] for row in rows() if row["matrices"] == 2 + a.gated]
    as_many = a.heads in {row["heads"] for row in rows()} or a.heads % 4 == 0
    grouped = {row["kv_heads"] for row in rows() if row["kv_heads"] < row["heads"]}
    there = {
        "d_ff": min(factors) <= a.d_ff / a.width <= max(factors),
        "heads": as_many and min(near) <= a.heads <= max(near),
        "kv-heads": a.key_heads in {a.heads, *grouped},
        "head-width": a.head_size in {row["head_width"] for row in rows()},
        "layers": a.layers <= max(row["layers"] for row in rows()),
        "width": a.width <= max(row["width"] for row in rows()),
    }
    return {part for part, built in there.items() if not built}


def ladder(asked: str) -> Ladder:
    return ladder_for(Constraints(**DEMANDS[asked]), "total")


@pytest.mark.parametrize("asked", DEMANDS)
def test_shapes_are_as_somebody_built_them_or_it_is_said(asked: str) -> None:
    demands, depths = DEMANDS[asked], []
    for size in SIZES:
        rung = ladder(asked).at(size)
        assert rung is not None, size
        a = rung.architecture
        assert abs(count(a).total / size - 1) <= 0.02
        assert a.width == a.heads * a.head_size
        assert a.d_ff % (64 if size < 5e8 else 128) == 0
        if not demands.keys() & {"ff_factor", "gated"}:
            assert 2.5 <= a.d_ff / a.width <= 4
        else:
            wanted = demands.get("ff_factor", 4) * a.width
            assert abs(a.d_ff - wanted) <= (32 if size < 5e8 else 64)
        assert a.heads == a.key_heads * demands.get("kv_ratio", a.heads // a.key_heads)
        assert a.heads % demands.get("tensor", 1) == a.key_heads % demands.get("tensor", 1) == 0
        assert {part.part for part in unbuilt(a)} == strange(a)
        assert ladder(asked).at(float(rung.size)) == rung
        budget = ladder(asked).budget_depth(size)
        assert (a.layers == budget) or rung.tier
        if "vocabulary" not in demands:  # one depth for one budget
            assert budget == ladder("none").budget_depth(size)
        depths.append(budget)
    assert depths == sorted(depths)


def test_without_demands_no_depth_is_moved_and_gpus_share_the_heads() -> None:
    nets = {size: ladder("none").at(size) for size in SIZES}
    assert not any(rung.tier for rung in nets.values())
    for size, rung in nets.items():
        a = rung.architecture
        assert size < 3e8 or a.heads % 4 == a.key_heads % 4 == 0
        assert not strange(a) or size > 2e11
    moved = [rung.tier for asked in DEMANDS for size in SIZES if (rung := ladder(asked).at(size))]
    assert sum(map(bool, moved)) < len(moved) / 5
    assert sum(tier > 1 for tier in moved) < len(moved) / 10


def test_what_most_nets_have_is_read_off_the_rows() -> None:
    """Three in four recipes, and no narrower range holds as many."""
    parts = ("layers", "width", "heads", "kv_heads", "d_ff", "matrices")
    recipes = {tuple(row[part] for part in parts) for row in rows()}
    factors = sorted(row[4] / row[1] for row in recipes if row[5] == 3)
    low, high = practice().factors[True]
    inside = [factor for factor in factors if low <= factor <= high]
    assert len(inside) >= 0.75 * len(factors)
    ends = [(x, y) for x in factors for y in factors if x < y and y / x < high / low]
    assert all(sum(x <= f <= y for f in factors) < 0.75 * len(factors) for x, y in ends)


@pytest.mark.parametrize(
    ("budget", "demands", "codes", "said"),
    [
        ("1B", {"gqa": 8}, [], ""),
        ("3B", {"tensor": 8}, [], ""),
        ("88M", {"gqa": 8}, ["exact-size"], "the exact size costs 3 layers. With 15"),
        ("125M", {"ff": 8 / 3}, ["exact-size", "unbuilt"], "11 heads at such a width"),
        ("1T", {}, ["unbuilt"], "no listed model has 146 layers and a width of 22,528"),
        ("3B", {"ff": 9.0}, ["unbuilt"], "a feed-forward width of 9.04 times the width, "),
    ],
)
def test_what_is_unusual_is_said_in_a_line(
    budget: str, demands: dict[str, Any], codes: list[str], said: str
) -> None:
    found = recommend(budget, **demands)
    known = {"exact-size", "unbuilt"}
    assert [code for code in found.warning_codes if code in known] == codes
    assert said in "\n".join(found.warnings)

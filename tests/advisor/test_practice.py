"""Thirty sizes from 30M to 1T beside what somebody built, read here from the table itself."""

from __future__ import annotations

import csv
import math
from collections.abc import Iterator
from functools import cache
from pathlib import Path
from typing import Any

import pytest

from depthlaw.advisor import models as models_of, recommend
from depthlaw.advisor.architecture import Architecture
from depthlaw.advisor.budgets import Budget
from depthlaw.advisor.counting import count
from depthlaw.advisor.decide import decide, ladder_for
from depthlaw.advisor.practice import practice, unbuilt
from depthlaw.advisor.shape_search import Ladder
from depthlaw.advisor.shapes import Constraints, without

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

# The keywords of the function, where the options of a question are called otherwise.
TYPED: dict[str, dict[str, Any]] = {
    "--gqa 8": {"gqa": 8},
    "--ff 8/3": {"ff": 8 / 3},
    "--plain --ff 4": {"gated": False, "ff": 4},
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
        if "ff_factor" not in demands:
            assert 2.5 <= a.d_ff / a.width <= 4
        else:
            wanted = demands["ff_factor"] * a.width
            assert abs(a.d_ff - wanted) <= (32 if size < 5e8 else 64)
        assert a.heads == a.key_heads * demands.get("kv_ratio", a.heads // a.key_heads)
        assert a.heads % demands.get("tensor", 1) == a.key_heads % demands.get("tensor", 1) == 0
        assert {part.part for part in unbuilt(a)} == strange(a)
        assert ladder(asked).at(float(rung.size)) == rung
        depths.append(ladder(asked).budget_depth(size))
    assert depths == sorted(depths)


def test_without_demands_no_depth_is_moved_and_gpus_share_the_heads() -> None:
    nets = {size: ladder("none").at(size) for size in SIZES}
    assert not any(rung.tier for rung in nets.values())
    for size, rung in nets.items():
        a = rung.architecture
        assert size < 3e8 or a.heads % 4 == a.key_heads % 4 == 0
        assert not strange(a) or size > 2e11


def buildable(a: Architecture, layers: int, factor: float) -> Iterator[Architecture]:
    """Nets of a depth whose feed-forward width is a factor of the width, with any number of heads
    of a width that somebody built, or of any multiple of 8 where the width is one of 64."""
    built = {row["head_width"] for row in rows()}
    for head in sorted({*built, *range(40, 128, 8)}):
        for heads in range(1, 2 * a.width // head):
            width = head * heads
            if width % (64 if head not in built else min(head, 64)) or width < a.width / 2:
                continue
            inner = math.floor(factor * width / 64 + 0.5) * 64
            for keys in (n for n in range(1, heads + 1) if heads % n == 0):
                more = {"heads": heads, "kv_heads": keys, "head_width": head, "d_ff": inner}
                yield a.with_(layers=layers, width=width, **more)


@pytest.mark.parametrize("asked", [asked for asked in DEMANDS if asked != "none"])
def test_one_depth_for_one_budget_or_a_line_says_why(asked: str) -> None:
    """By counting every net of that depth, where the exact size is to blame."""
    moved = 0
    for size in SIZES:
        budget, rung = ladder("none").budget_depth(size), ladder(asked).at(size)
        if rung is None or rung.architecture.layers == budget:
            continue
        moved += 1
        d = decide(Budget(total=float(size)), Constraints(**DEMANDS[asked]), None)
        a, reason = rung.architecture, d.moved
        assert d.net == a
        assert reason is not None
        assert reason.against is not None
        assert abs(a.layers / budget - 1) < 0.2
        c = Constraints(**DEMANDS[asked])
        alone = [
            name
            for name in DEMANDS[asked]
            if (other := ladder_for(without(c, name), "total").at(size))
            and other.architecture.layers == budget
        ]
        named = tuple(alone or DEMANDS[asked])
        assert (reason.against[0], reason.demands) == (budget, named)
        said = recommend(float(size), **TYPED.get(asked, DEMANDS[asked])).warning_codes
        assert said.count(reason.code) == 1
        if reason.code == "exact-size" and size < 5e8:
            nets = buildable(a, budget, DEMANDS[asked].get("ff_factor", 4))
            assert min(abs(count(net).total / size - 1) for net in nets) > 0.01
        else:
            left = [count(net).nonembedding for net in (a, ladder("none").at(size).architecture)]
            assert (left[0] < left[1]) == (a.layers < budget)
            assert reason.code == "rest-of-size"
    assert moved <= 3


@pytest.mark.parametrize(
    ("size", "asked", "code"),
    [
        (42_144_353, "--ff 8/3", "exact-size"),
        (57_652_000, "--plain --ff 4", "exact-size"),
        (92_246_000, "--plain --ff 4", "exact-size"),
        (191_600_000, "--ff 8/3", "exact-size"),
        (262_153_173, "--ff 8/3", "listed-size"),
        (1_192_030_327, "--plain --ff 4", "listed-size"),
        *((size, "--plain", None) for size in (3.5e8, 7e8, 1.3e9, 1.5e9, 4e10)),
    ],
)
def test_what_a_depth_cannot_have_no_net_has(size: float, asked: str, code: str | None) -> None:
    """Sizes off the thirty. Of a shape that is not listed this does not hold: one reaches it."""
    demands = DEMANDS[asked]
    d = decide(Budget(total=float(size)), Constraints(**demands), None)
    budget = ladder("none").budget_depth(size)
    assert (d.moved and d.moved.code) == code
    assert (d.net.layers == budget) == (code is None)
    if code is None:
        assert 2.5 <= d.net.d_ff / d.net.width <= 4
        assert not unbuilt(d.net)
        return
    nets = buildable(d.net, budget, demands["ff_factor"])
    reached = min(abs(count(net).total / size - 1) for net in nets) <= 0.01
    assert reached == (code == "listed-size")
    said = recommend(float(size), **TYPED[asked])
    assert said.warning_codes.count(code) == 1


@pytest.mark.parametrize("vocabulary", [256, 32000, 128256, 300000])
def test_a_vocabulary_moves_the_depth_to_within_a_fifth_of_the_rule_at_most(
    vocabulary: int,
) -> None:
    """The rule for what it leaves to the layers; else the depth is the budget's."""
    for size in (5e7, 1e8, 2.5e8, 6e8, 1e10):
        d = decide(Budget(total=size), Constraints(vocabulary=vocabulary), None)
        budget = ladder_for(Constraints(vocabulary=vocabulary), "total").budget_depth(size)
        apart = abs(math.log(budget / d.case.seen(d.net).depth(d.case.chosen)))
        usual = ladder("none").budget_depth(size)
        assert apart < math.log(1.2) + 1 / budget
        assert budget == usual or apart > 0.05


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
        ("88M", {"gqa": 8}, ["unbuilt"], "heads of width 72"),
        (
            "760M",
            {"ff": 8 / 3, "tensor": 8},
            ["exact-size", "unbuilt"],
            "24 layers cannot have exactly 760M parameters with --ff 2.67 and --tensor 8: 23",
        ),
        (
            "50M",
            {"vocabulary": 256000},
            ["rest-of-size", "unbuilt"],
            "leaves 886K parameters to the layers: 2 layers, not the 12 of the budget",
        ),
        ("10M", {"vocabulary": 256}, ["rest-of-size"], "to the layers: 8 layers, not the 6 of"),
        ("1T", {}, ["unbuilt"], "no listed model has 146 layers and a width of 22,528"),
        ("3B", {"ff": 9.0}, ["unbuilt"], "a feed-forward width of 9.04 times the width"),
    ],
)
def test_what_is_unusual_is_said_in_a_line(
    budget: str, demands: dict[str, Any], codes: list[str], said: str
) -> None:
    found = recommend(budget, **demands)
    known = {"exact-size", "rest-of-size", "unbuilt"}
    assert [code for code in found.warning_codes if code in known] == codes
    assert said in "\n".join(found.warnings)

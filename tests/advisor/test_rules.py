"""Rules of depth: each is what its source or its claim says, and known from its year on."""

from __future__ import annotations

import math
import pickle
from pathlib import Path
from typing import Literal

import pytest
from hypothesis import given, strategies as st

from depthlaw.advisor import laws, rules
from depthlaw.advisor.grids import NetKind
from depthlaw.theory.claims.definition import Case, at, find

sizes = st.floats(1e5, 1e14)
RULES = (*rules.rules(), *rules.family())


def shape(size: float, depth: float) -> float:
    """d / L of a net of 12 L d^2 parameters."""
    return math.sqrt(size / (12 * depth)) / depth


@pytest.mark.parametrize("rule", RULES, ids=lambda r: r.key)
def test_every_rule_says_whose_it_is_and_depends_on_the_volume_alone(rule: rules.Rule) -> None:
    assert rule.source
    marks = {"printed", "reported", "recalled", "derived"}
    assert set(rule.wording.replace(";", " ").split()) & marks
    assert rule.claim is None or find(rule.claim).key == rule.claim
    assert 2020 <= rule.year <= 2026
    assert rule.domain is None or rule.domain[0] <= rule.domain[1]
    for size in (1e7, 1.3e9, 7e10):
        assert rule.depth(size) == pickle.loads(pickle.dumps(rule)).depth(size) > 0
        assert rule.depth(15 * size / 12, 15) == pytest.approx(rule.depth(size), rel=1e-12)


@given(sizes, st.floats(1.001, 100))
def test_what_may_be_recommended_grows_with_the_budget(size: float, factor: float) -> None:
    for rule in RULES:
        if rule.eligible or rule.key.startswith(("ratio-", "slope-")):
            assert rule.depth(size) < rule.depth(size * factor), rule.key


# How it can be known that a source compared depths at an equal budget.
KNOWN = "printed", "reported", "recalled", "stated", "none"


def test_a_word_for_how_a_comparison_is_known_is_one_of_a_closed_list(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(rules, "Compared", Literal["printed"])
    with pytest.raises(ValueError, match="threshold: compared is 'none'"):
        rules.rules.__wrapped__()


def test_which_rules_may_be_followed_by_columns_alone() -> None:
    failing = {r.key: set(r.fails) for r in rules.rules()}
    named, plain, compared = rules.PREDICATES
    bounds = {r.key for r in rules.rules() if r.meaning in {"floor", "knee", "maximum"}}
    restated = {"gemstones", "built", "kaplan", "mup-least", "completep-least"}
    assert {key for key, fails in failing.items() if named in fails} == bounds | restated
    assert {key for key, fails in failing.items() if plain in fails} == {"attnres"}
    theory = {"threshold", "knee", "built"}  # nothing was trained for them
    assert {key for key, fails in failing.items() if compared in fails} == theory
    known = {key: {r.key for r in rules.rules() if r.compared == key} for key in KNOWN}
    assert set().union(*known.values()) == {r.key for r in rules.rules()}
    assert known["none"] == theory
    assert (known["stated"], known["recalled"]) == ({"marin"}, {"levine"})
    assert all(bool(r.compared_note) == (r.compared != "none") for r in rules.rules())
    evidence = (Path(__file__).parents[2] / "docs/depth-evidence.md").read_text()
    unread = evidence.partition("Not read: ")[2].partition("Read, and without")[0]
    assert "what Marin's nets" in unread
    assert [r.key for r in rules.rules() if r.followed] == ["mup"]
    decisions = Path(__file__).parents[2] / "docs/decisions"
    assert list(decisions.glob(f"{rules.rule('mup').followed}-*.md"))


def test_the_error_of_a_fit_is_that_of_its_parameters(monkeypatch: pytest.MonkeyPatch) -> None:
    """By finite differences of the depth, and by the standard errors that are printed."""
    printed = (0.5126208485738366, 0.08327255081534041, 1.8237893515285493, 0.2685404712170156)
    covariance = laws.ADDED_COVARIANCE
    for i, error in enumerate(printed):
        assert math.sqrt(covariance[i][i]) == pytest.approx(error, rel=1e-4)
        assert covariance[i] == tuple(row[i] for row in covariance)
    (m, a), (k, b) = laws.ADDED_WIDTH, laws.ADDED_DEPTH
    at = [math.log(m), a, math.log(k), b]

    def depth(size: float, values: list[float]) -> float:
        monkeypatch.setattr(laws, "ADDED_WIDTH", (math.exp(values[0]), values[1]))
        monkeypatch.setattr(laws, "ADDED_DEPTH", (math.exp(values[2]), values[3]))
        return laws.added_depth(size)

    for size in (1e8, 1e9, 7e10):
        expected = laws.added_depth_error(size)
        slopes = []
        for i in range(4):
            up, down = ([x + s * 1e-5 * (i == j) for j, x in enumerate(at)] for s in (1, -1))
            slopes.append((depth(size, up) - depth(size, down)) / 2e-5)
        depth(size, at)
        pairs = [(i, j) for i in range(4) for j in range(4)]
        variance = sum(slopes[i] * slopes[j] * covariance[i][j] for i, j in pairs)
        assert expected == pytest.approx(math.sqrt(variance), rel=1e-4)


@pytest.mark.parametrize(
    ("key", "size", "ratio"),
    [
        ("mup", 5e7, 40),
        ("mup", 3e8, 50),
        ("mup", 1.5e9, 62),
        ("attnres", 1e12, 45),
        ("nanochat", 12 * 20 * 1280**2, 64),
        ("attnres", 1e9, 45),
        ("prenorm", 1e9, 60),
        ("mup-least", 1.5e9, 38.7),
        ("completep-least", 1.5e9, 11.8),
        ("kaplan", 12 * 6 * 4288**2, 4288 / 6),
    ],
)
def test_ratios_are_those_published(key: str, size: float, ratio: float) -> None:
    assert shape(size, rules.rule(key).depth(size)) == pytest.approx(ratio, rel=1e-9)


def test_the_ratio_of_mup_is_a_power_of_the_size_between_and_beyond_what_is_published() -> None:
    def at(size: float) -> float:
        return shape(size, rules.rule("mup").depth(size))

    assert at(math.sqrt(5e7 * 3e8)) == pytest.approx(math.sqrt(40 * 50), rel=1e-9)
    assert at(1.5e9 * 5) == pytest.approx(62 * 62 / 50, rel=1e-9)
    assert at(5e7 / 6) == pytest.approx(40 * 40 / 50, rel=1e-9)
    assert rules.rule("mup").extrapolates(1.6e9)
    assert not rules.rule("mup").extrapolates(1.5e9)


def test_a_least_ratio_is_no_optimum() -> None:
    # 11.8 and 38.7 were once taken for optima of CompleteP and muP.
    for key in ("mup-least", "completep-least"):
        assert rules.rule(key).meaning == "within 1 %"
    assert not any(r.meaning == "optimum" and r.applies == NetKind("completep") for r in RULES)


@pytest.mark.parametrize(
    ("width", "layers"), [(512, 6), (768, 8), (2048, 21), (4096, 40), (8192, 77)]
)
def test_marin_at_the_widths_of_its_code(width: int, layers: int) -> None:
    exact = width / (64 + 4 * math.log2(width) - 9)
    assert round(exact) == layers
    assert laws.marin_depth(12 * exact * width**2) == pytest.approx(exact, rel=1e-12)


@pytest.mark.parametrize("width", [1, 2, 11, 100, 12288])
def test_the_knee_is_that_of_its_claim(width: int) -> None:
    stated = at(find("separation_rank/knee").statement.rhs, Case(width=width))
    real = math.log(2 * width**2 + 2 * width + 1, 3)
    assert math.ceil(real - 1e-12) == stated
    assert laws.knee_depth(12 * real * width**2) == pytest.approx(real, rel=1e-9)


def test_delusion_is_a_maximum_that_its_width_obeys() -> None:
    size = 1e9
    depth = rules.rule("delusion").depth(size)
    assert depth == pytest.approx(2.43 * math.log(math.sqrt(size / (12 * depth))), rel=1e-12)


def test_levine_has_an_error_and_a_domain() -> None:
    levine = rules.rule("levine")
    assert levine.standard_error(1e8) == pytest.approx(laws.transition_depth_error(1e8))
    assert levine.extrapolates(7e9)
    assert not levine.extrapolates(1e8)
    assert levine.depth(levine.domain[0]) == pytest.approx(6)  # no net behind the fit is shallower
    assert rules.rule("nanochat").standard_error(1e8) is None


def test_as_of_a_year_nothing_later_is_known() -> None:
    for year in range(2019, 2027):
        assert all(r.year <= year for r in rules.rules(year))
        assert all(r.read_off == "" for r in rules.family(year)) == (year < 2025)
    assert rules.rules(2019) == ()
    assert {"nanochat", "mup"} <= {r.key for r in rules.rules(2025)}

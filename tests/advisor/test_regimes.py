"""Where an answer leaves what grids hold: other tokens, larger nets, phones."""

from __future__ import annotations

import re
from dataclasses import replace
from itertools import pairwise
from statistics import median

import pytest

from depthlaw.advisor import regimes
from depthlaw.advisor.base.quantities import UsageError
from depthlaw.advisor.budgets import Budget
from depthlaw.advisor.decide import Decision, decide
from depthlaw.advisor.grids import loss_grids, rows
from depthlaw.advisor.recommendation import recommend
from depthlaw.advisor.rule_scores import best_rule, contradicting_range, interval
from depthlaw.advisor.shapes import Constraints
from depthlaw.advisor.words import as_text, explained

# The smallest and the largest net of losses at equal size, read here from the table itself.
OWN = [r for r in rows() if r["budget"] == "nonembedding" and r["width"]]
EQUAL = [r["nonembedding"] for r in OWN if r["nonembedding"]]
SIZES = [int(size) for size in EQUAL]
STORED = min(SIZES), max(SIZES)


def asked(known_by: int | None = None, **have: object) -> Decision:
    return decide(Budget(**have), Constraints(), known_by)  # type: ignore[arg-type]


def codes(size: str, **more: object) -> set[str]:
    found = recommend(size, **more)
    return {*found.warning_codes, *found.doubt_codes}


def test_a_fact_has_a_source_and_says_how_it_is_known() -> None:
    for about in ("repeated", "shallow"):
        for fact in regimes.facts(about):
            assert fact.source
            assert fact.wording in {"printed", "reported", "recalled", "derived", "abstract"}
            assert len(fact.says.split()) <= 25


@pytest.mark.parametrize(
    ("tokens", "epochs", "place", "said"),
    [
        ("100M", None, "below", {"tokens-below", "repeated"}),
        ("100M", 16, "below", {"tokens-below", "repeated"}),
        ("54B", None, "inside", {"tokens-inside", "tokens-law"}),
        ("10B", 5, "inside", {"repeated", "tokens-inside"}),
        ("100T", None, "above", {"tokens-above"}),
        (None, None, None, set()),
    ],
)
def test_tokens_are_placed_among_those_of_the_grids(
    tokens: str | None, epochs: int | None, place: str | None, said: set[str]
) -> None:
    found = recommend("2.7B", tokens=tokens, epochs=epochs)
    known = {"tokens-below", "tokens-above", "tokens-inside", "repeated"}
    assert {*found.warning_codes, *found.doubt_codes} & known == said & known
    assert (found.data and found.data.place) == place
    if found.data and tokens == "100M":
        assert found.data.each == pytest.approx(1e8 * (epochs or 1) / 2.7e9)
        assert "2605.01640" in explained(found)
        assert "at least 5.7 there" in " ".join(as_text(found).split())


def test_few_tokens_are_repeated_ones_below_every_grid_alone() -> None:
    """Below the grids nearest in size, but not below all, nothing is said of repeated data."""
    for size, tokens in (("126M", 2.52e9), ("10M", 8e8)):
        found = recommend(size, tokens=tokens)
        data = found.data
        assert data.place == "below"
        assert data.fewest < data.each < data.covered.least
        assert "tokens-below" in found.warning_codes
        assert "repeated" not in {*found.warning_codes, *found.doubt_codes}
        assert "repeated" in codes(size, tokens=tokens, epochs=2)
        few = found.warnings[found.warning_codes.index("tokens-below")]
        yours, theirs = (float(number) for number in re.findall(r"\b\d+\b", few))
        assert yours < theirs
        assert yours == pytest.approx(data.each, rel=0.05)


def test_epochs_are_paid_for_and_nothing_without_tokens() -> None:
    once, often = (recommend("1B", tokens="1B", epochs=n) for n in (1, 8))
    assert often.training_flops == pytest.approx(8 * once.training_flops)
    assert (once.tokens, often.tokens) == (1e9, 8e9)
    assert often.question.count("8 times") == 1
    assert "time" not in once.question
    with pytest.raises(UsageError, match="try --tokens 100M --epochs 16"):
        recommend("1B", epochs=3)


def test_fewer_tokens_make_large_nets_shallower_and_their_range_wider() -> None:
    found = [asked(total=7e9, tokens=each * 7e9) for each in (6, 20, 1000)]
    depths = [d.net.layers for d in found]
    assert depths == sorted(depths)
    assert depths[0] < depths[-1] == asked(total=7e9).net.layers
    for few, many in pairwise(found):
        assert few.within.low <= many.within.low
        assert few.second.best == pytest.approx(many.second.best, abs=2)  # other shapes alone


def test_beyond_the_grids_practice_and_rule_are_two_numbers() -> None:
    largest = max(g.volume for g in loss_grids())
    for size in (1e9, 2e9, 8e9, 7e10):
        d = asked(total=size)
        seen = d.case.seen(d.net)
        assert (d.beyond is None) == (seen.parameters / seen.per_layer <= largest)
        if b := d.beyond:
            built = [m.layers for m in d.nearby]
            assert min(built) <= b.low <= median(built) <= b.high <= max(built)
            assert b.rule == round(seen.depth(best_rule())) >= d.net.layers
            assert d.leaning is None or d.leaning.layers == b.rule
            assert b.ends == (min(b.low, b.rule), max(b.high, b.rule))
            assert b.measured == STORED[1]
    assert "beyond" in codes("8B")
    assert "shallow" in codes("8B")
    assert not {"beyond", "shallow"} & codes("1B")
    assert "beyond" not in codes("8B", layers=20)  # no rule chose it
    agreed = asked(total=3e9).beyond
    assert agreed.low <= agreed.rule <= agreed.high
    assert "beyond" not in codes("3B")  # both say the same
    # What nobody had measured by then was beyond all grids, and nothing is said of none.
    assert asked(known_by=2024, total=8e9).beyond is None


@pytest.mark.parametrize(
    ("more", "named"),
    [
        ({"ms_per_token": "20", "bandwidth": "50GB/s"}, True),
        ({"ms_per_token": "20", "gpu": "Snapdragon 8 Gen 3"}, True),
        ({"ms_per_token": "20", "bandwidth": "500GB/s"}, False),
        ({"ms_per_token": "20", "gpu": "4090"}, False),
        ({}, False),
    ],
    ids=str,
)
def test_for_a_phone_the_paper_on_phones_is_named(more: dict[str, str], named: bool) -> None:
    found = recommend("350M", **more)
    assert ("phone" in found.warning_codes) == named
    if named:
        assert (found.phone.source, found.phone.layers, found.phone.beaten) == ("MobileLLM", 32, 12)
        assert "MobileLLM" in as_text(found)
    assert recommend("350M", known_by=2023, **more).phone is None


def test_the_range_rests_on_two_sources_or_says_that_it_rests_on_one() -> None:
    both, alone = recommend("1B"), recommend("1B", known_by=2025)
    assert both.second.low <= both.shape.architecture.layers <= both.second.high
    assert f"{both.second.low} to {both.second.high} by Liu's fit" in explained(both)
    far = recommend("8B", layers=24)
    assert far.second.low > 24
    assert "Another fit, of other nets, has" in " ".join(as_text(far).split())
    assert alone.second is None
    assert "by the one source of losses we use" in " ".join(as_text(alone).split())
    changes = [n.second_change for n in both.neighbours if n.layers != both.layers]
    assert all(abs(change) < 0.001 for change in changes)
    assert recommend("1B", parametrisation="mup").second is None
    outside = {size: recommend(size).second.extrapolated for size in ("60M", "1B", "7B", "100B")}
    assert outside == {"60M": True, "1B": False, "7B": False, "100B": True}


@pytest.mark.parametrize(
    ("size", "said", "side", "heavier"),
    [
        ("10M", "begin at 22.6M parameters without", "below", False),
        ("1B", None, "", False),
        ("2B", "end at 1.77B parameters without", "above", True),
        ("7B", "end at 1.77B parameters without", "above", False),
    ],
)
def test_one_stored_number_says_where_the_losses_end(
    size: str, said: str | None, side: str, heavier: bool
) -> None:
    found = recommend(size)
    text = " ".join(as_text(found).split())
    assert found.interval.sizes == STORED
    assert found.interval.side == side
    assert ("in heavier layers" in text) == heavier
    assert said is None or text.count(said) == 1
    if heavier:
        assert found.shape.counts.nonembedding < STORED[1]


def test_a_comparison_that_contradicts_the_range_alone_is_said() -> None:
    said = {size: " ".join(as_text(recommend(size)).split()) for size in ("7B", "30B")}
    assert "In that range another test found 64 layers worse than 32." in said["7B"]
    assert "64 layers lost" not in said["30B"]
    assert "Depth Delusion: 32 layers beat 64" in " ".join(explained(recommend("7B")).split())
    wide = recommend("7B").interval
    against = contradicting_range(wide, 6.06e9, 11.5)
    assert [each.source for each in against] == ["Depth Delusion"]
    # A range that ends before the beaten net is not contradicted by it.
    assert contradicting_range(replace(wide, high=63), 6.06e9, 11.5) == ()
    assert contradicting_range(wide, 6.06e9, 11.5, known_by=2025) == ()


def test_where_the_grid_at_these_tokens_prefers_another_depth_that_is_the_first_doubt() -> None:
    few, many = (recommend("350M", tokens=tokens) for tokens in ("7B", "100B"))
    assert few.doubt_codes[0] == many.doubt_codes[0] == "tokens-prefer"
    said = [re.search(r": (\d+) to (\d+) layers", found.doubts[0]) for found in (few, many)]
    ends = [[int(end) for end in found.groups()] for found in said if found]
    assert max(ends[0]) < few.layers == many.layers < min(ends[1])
    assert "tokens-prefer" not in recommend("350M").doubt_codes


def test_the_rule_is_named_by_its_own_number_and_the_net_that_leans_from_it_says_so() -> None:
    for size, layers in (("7B", 44), ("10B", 48), ("13B", 52)):
        found = recommend(size)
        text = " ".join(as_text(found).split())
        assert f"the rule says {layers}," in text
        assert f"It is the shallowest that should lose at most 0.1 % more than the {layers}" in text
        assert f"layers fewer than the {layers} of this rule: " in found.rule_why
    # As deep as practice and rule at most: nothing is to be explained.
    assert "of the rule" not in as_text(recommend("70B"))
    few = recommend("70B", tokens="400B")
    assert few.rule_layers > 1.25 * few.layers
    assert f"than the {few.rule_layers} of the rule." in " ".join(as_text(few).split())


@pytest.mark.parametrize("size", [1e9, 7e9, 7e10])
def test_the_depth_follows_tokens_where_comparisons_reach_and_is_that_of_the_size_elsewhere(
    size: float,
) -> None:
    """By every number of tokens a parameter from far below to far above: without a jump inside, and
    what it is without tokens outside. The ends are read here from the table itself."""
    each = [int(r["tokens"]) / int(r["total"]) for r in OWN if r["tokens"] and r["total"]]
    alone, least = asked(total=size), min(each)
    for few in (1 / size, 0.01, 1, 0.9 * least):
        d = asked(total=size, tokens=few * size)
        assert (d.net, d.within) == (alone.net, alone.within)
        assert d.data.place == "below"
        assert not d.data.reached
    asked_for = [1.05 * least * 1.04**step for step in range(100)]
    found = [asked(total=size, tokens=n * size) for n in asked_for]
    depths = [d.net.layers for d in found]
    assert depths == sorted(depths)
    assert all(more <= 1.06 * fewer + 1 for fewer, more in pairwise(depths))
    assert all(d.within.low <= d.net.layers <= d.within.high for d in found)
    assert depths[-1] == alone.net.layers
    above = asked(total=size, tokens=2 * max(each) * size)
    assert (above.net.layers, above.within) == (alone.net.layers, alone.within)


@pytest.mark.parametrize(
    ("size", "more", "likely"),
    [
        ("1B", {}, False),
        ("1B", {"tokens": "20B"}, False),
        ("1B", {"tokens": "1"}, True),
        ("1B", {"tokens": "4B"}, True),
        ("1B", {"tokens": "100T"}, True),
        ("100M", {"tokens": "100M", "epochs": 40}, True),
        ("100M", {"tokens": "100M", "epochs": 400}, True),
        ("7B", {}, True),
    ],
    ids=str,
)
def test_a_range_without_data_is_no_observation(
    size: str, more: dict[str, object], likely: bool
) -> None:
    text = " ".join(as_text(recommend(size, **more)).split())
    assert ("should come within 1 %" in text) == likely
    assert (" come within 1 %" in text.replace("should come", "")) != likely
    assert ("should change the loss" in text) == likely
    assert not re.search(r"\b1 (training )?tokens|\d e-", text)
    if more.get("tokens") == "1":
        assert "1B parameters, 1 training token?" in text
        assert "1 token takes 6e+09 FLOPs" in text
        assert "less than 0.01 a parameter here" in text
        assert "the depth is that of the size alone." in text


@pytest.mark.parametrize("size", ["170B", "200B", "400B", "2T", "2.5T", "10T", "1e15"])
def test_no_depth_is_said_to_lose_by_losses_more_than_a_factor_of_100_away(size: str) -> None:
    found = recommend(size)
    own = found.shape.counts.nonembedding
    text = " ".join(as_text(found).split())
    far = not STORED[0] / 100 <= own <= 100 * STORED[1]
    assert far == (size != "170B")
    assert (found.interval is None) == far
    assert ("lie within a factor of 100 of this size, so there is no range." in text) == far
    assert "far" in found.doubt_codes or not far
    if far:
        assert not re.search("within 1 %|more than 1 %|too (shallow|deep)|outside the range", text)
        assert not re.search("lose at most 1 %|lose more than 1 %", explained(found))
    # The interval itself goes on: shapes are still chosen inside it.
    assert interval(1e15, 12).extrapolated


def test_a_configuration_far_from_all_losses_is_not_judged() -> None:
    found = recommend(layers=100, width=65536)
    assert found.verdicts[0].endswith(
        "no published grid has nets within a factor of 100 of this size"
    )
    assert found.instead is None
    text = " ".join(as_text(found).split())
    assert "Not known: no losses that we use lie within a factor of 100 of this size." in text
    assert "1,000T" in as_text(recommend("1e15"))
    largest = " ".join(as_text(recommend("1e15")).split())
    assert re.search(r"tell from ours, say 152 to \d,\d{3}[.;]", largest)

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
from depthlaw.advisor.rule_scores import contradicting_range
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
            assert b.rule == d.net.layers
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
    assert "worse depths in that range: 64 layers lost to 32." in said["7B"]
    assert "worse depths" not in said["30B"]
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

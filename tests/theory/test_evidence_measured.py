"""Tables of published numbers: read exactly, with the interval that rounding leaves, each row with a source."""
from __future__ import annotations

from fractions import Fraction
from pathlib import Path

import pytest

from depthlaw.theory import evidence
from depthlaw.theory.claim import Case
from depthlaw.theory.evidence import measured as measured_by
from depthlaw.theory.judgement import Verdict, judge
from depthlaw.theory.values import Ball, Exact


@pytest.mark.parametrize("name", ["wide_attention", "translation", "shape_results"])
def test_every_row_has_a_source_and_a_number(name: str) -> None:
    for row in measured_by.table(name):
        assert row["source"]
        assert [Fraction(row[column]) for column in ("deep", "wide", "value") if column in row]


class Watched(dict[str, str]):
    """A row of a table that remembers whether a number of it was read."""

    read = False

    def __getitem__(self, column: str) -> str:
        self.read |= column in ("value", "deep", "wide")
        return super().__getitem__(column)


@pytest.mark.parametrize("name", ["wide_attention", "translation", "shape_results"])
def test_every_row_is_used_by_a_claim_or_named_in_the_coverage_table(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    tables = {n: tuple(Watched(row) for row in measured_by.table(n)) for n in ("wide_attention", "translation", "shape_results")}
    monkeypatch.setattr(measured_by, "table", tables.get)
    for claim in evidence.claims():
        for case in claim.cases("theory"):
            assert claim.measured is not None
            claim.measured(case, 0)
    coverage = (Path(__file__).parents[2] / "docs" / "coverage" / "evidence.md").read_text(encoding="utf-8")
    unused = [row for row in tables[name] if not row.read]
    for row in unused:
        # The net and the number stand in one row of the table, which says why nothing is concluded from them.
        assert any(row["model"].removesuffix(" ADMIN") in line and row["value"] in line for line in coverage.splitlines()), dict(row)
    assert [row["value"] for row in unused] == (["67", "61", "28.58", "29.03"] if name == "translation" else [])


def test_rows_of_the_source_that_are_no_numbers_are_named() -> None:
    coverage = (Path(__file__).parents[2] / "docs" / "coverage" / "evidence.md").read_text(encoding="utf-8")
    assert '60L-12L Default, "diverge"' in coverage


def test_a_printed_number_is_an_interval() -> None:
    assert measured_by.interval([(1, "62.3")]) == Ball(Fraction("62.25"), Fraction("62.35"))
    assert measured_by.interval([(1, "2.0"), (-1, "1.83")]) == Ball(Fraction("0.115"), Fraction("0.225"))
    assert measured_by.interval([(2, "5")]) == Ball(Fraction(9), Fraction(11))
    assert measured_by.interval([]) == Ball(Fraction(0), Fraction(0))


def test_table_of_wide_attention_is_complete() -> None:
    assert len(measured_by.attentions()) == 10
    assert len(measured_by._cells("all", "all")) == 40
    assert measured_by._averaged(Case(attention="BigBird", task="average", net="deep")) == ("62.3", ["86.0", "62.7", "36.7", "63.9"])
    assert sum(map(Fraction, measured_by._averaged(Case(attention="average", task="ListOps", net="wide"))[1])) == Fraction("356.8")


def test_wins_and_gain() -> None:
    assert measured_by.wide_wins().value == 22
    assert sum(measured_by.wide_wins(task).value for task in measured_by.TASKS) == 22
    gain = measured_by.wide_gain()
    assert (gain.low + gain.high) / 2 == Fraction("0.195")
    assert gain.high - gain.low == Fraction(2, 10)


def test_the_added_layers_agree_with_sizes_that_were_each_rounded() -> None:
    """54 encoder layers of 12 d^2 weights, 6 decoder layers of 16 d^2, then biases, norms and a scaling for each residual branch."""
    claim, d = next(c for c in evidence.claims() if c.key == "evidence/translation_size"), 512
    assert all(measured_by.size_interval(language) == Ball(Fraction(194), Fraction(196)) for language in ("FR", "DE"))
    weights = (54 * 12 + 6 * 16) * d**2
    more = (54 * (4 + 5 + 4) + 6 * (8 + 5 + 6)) * d + (60 * 2 + 12 * 3) * d
    assert (round(weights / 1e6, 1), round((weights + more) / 1e6, 1)) == (195.0, 195.5)
    case = claim.grid["quick"][0]
    assert measured_by.size_gap(case) == Exact(Fraction(weights, 10**6) - 195)
    # Not only 195 to the million: what the rounding of both sizes leaves open, and no more.
    assert judge(claim, case, Exact(Fraction("0.8"))).verdict is Verdict.HOLDS
    assert judge(claim, case, Exact(Fraction("1.1"))).verdict is Verdict.FAILS


def test_translation_entries() -> None:
    assert measured_by.translation("60L-12L ADMIN", "DE", "BLEU") == "30.1"
    assert measured_by.restated_gap("6L-6L ADMIN", "DE").value == Fraction(1, 5)


def test_gain_has_the_sign_of_the_measure() -> None:
    loss, accuracy = measured_by.gain("T5 at 223M", 6, 8), measured_by.gain("encoder", 12, 96)
    assert loss.low > 0, "the loss falls"
    assert accuracy.high < 0, "the accuracy falls"


def test_best_depth_and_spread() -> None:
    assert measured_by.best_depth("encoder").value == 14
    spread = measured_by.spread("1.9-2.0B", 30, 300)
    assert spread.low < 100 * (Fraction("2.529") / Fraction("2.504") - 1) < spread.high


def test_sizes_of_compared_shapes() -> None:
    assert measured_by.weights_ratio("textbook, options A and B") == 1
    assert measured_by.weights_ratio("iGSM, 4 and 16 layers") == Fraction(4 * 1920**2, 16 * 576**2)


@pytest.mark.parametrize("width", [2, 16, 512])
def test_local_exponent_encloses_one_over_the_logarithm(width: int) -> None:
    from flint import arb

    from depthlaw.theory.exact.enclosure import endpoints

    ball = measured_by.local_exponent(Case(law="2.43 ln W", width=width))
    low, high = endpoints(1 / arb(width).log())
    assert ball.low < low < high < ball.high

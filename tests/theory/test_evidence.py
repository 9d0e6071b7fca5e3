"""Statements about published tables: what is read off, which verdicts follow, what turns them."""

from __future__ import annotations

from fractions import Fraction
from pathlib import Path

import pytest
from flint import arb
from judging import claims

from depthlaw.theory.claims.definition import Ball, Case, Exact
from depthlaw.theory.claims.verdict import Verdict, judge
from depthlaw.theory.evidence import depth_against_width, translation, wide_attention
from depthlaw.theory.evidence.printed_numbers import interval
from depthlaw.theory.exact.enclosure import endpoints

PAPERS = Path(__file__).parents[2] / "docs" / "papers"
MODULES = (depth_against_width, translation, wide_attention)
CLAIMS = claims("evidence")


class Watched(dict[str, str]):
    """A row of a table that remembers whether a number of it was read."""

    read = False

    def __getitem__(self, column: str) -> str:
        self.read |= column in ("value", "deep", "wide")
        return super().__getitem__(column)


@pytest.mark.parametrize("module", MODULES)
def test_every_row_is_used_by_a_claim_or_named_on_the_page_of_its_paper(
    module, monkeypatch: pytest.MonkeyPatch
) -> None:
    rows = tuple(Watched(row) for row in module.TABLE)
    monkeypatch.setattr(module, "TABLE", rows)
    for claim in CLAIMS.values():
        for case in claim.cases("theory"):
            claim.measure(case)
    unused = [row for row in rows if not row.read]
    page = (PAPERS / "liu2020verydeep.md").read_text(encoding="utf-8")
    for row in unused:
        # The net and the number are in one line of the list, which says why nothing is concluded.
        net = row["model"].removesuffix(" ADMIN")
        assert any(net in line and row["value"] in line for line in page.splitlines()), row
    missing = ["67", "61", "28.58", "29.03"] if module is translation else []
    assert [row["value"] for row in unused] == missing


def test_a_printed_number_is_an_interval() -> None:
    assert interval([(1, "62.3")]) == Ball(Fraction("62.25"), Fraction("62.35"))
    assert interval([(1, "2.0"), (-1, "1.83")]) == Ball(Fraction("0.115"), Fraction("0.225"))
    assert interval([(2, "5")]) == Ball(Fraction(9), Fraction(11))
    assert interval([]) == Ball(Fraction(0), Fraction(0))


def test_the_added_layers_agree_with_sizes_that_were_each_rounded() -> None:
    """54 encoder layers of 12 d^2 weights, 6 decoder layers of 16 d^2."""
    claim, d = CLAIMS["table_arithmetic"], 512
    case = Case(number="size", language="FR", units=1)
    assert claim.measure(case) == Exact(Fraction((54 * 12 + 6 * 16) * d**2, 10**6) - 195)
    # Not only 195 to the million: what the rounding of both sizes leaves open, and no more.
    assert judge(claim, case, Exact(Fraction("0.8"))).verdict is Verdict.HOLDS
    assert judge(claim, case, Exact(Fraction("1.1"))).verdict is Verdict.FAILS


def test_gain_has_the_sign_of_the_measure() -> None:
    claim = CLAIMS["depth_wins"]
    assert claim.measure(Case(group="T5 at 223M", depth=6, deeper=8)).low > 0, "the loss falls"
    assert claim.measure(Case(group="encoder", depth=12, deeper=96)).high < 0, "the accuracy falls"


@pytest.mark.parametrize("width", [2, 16, 512])
def test_local_exponent_encloses_one_over_the_logarithm(width: int) -> None:
    ball = CLAIMS["critical_depth_exponent"].measure(Case(law="2.43 ln W", width=width))
    low, high = endpoints(1 / arb(width).log())
    assert ball.low < low < high < ball.high


@pytest.mark.parametrize(
    ("page", "sentences"),
    [
        (
            "notthatdeep2024",
            (
                "two layers are enough, as shown in the universal approximation theorem",
                "mH might have to be linear in D",
                "English to Setswana (123868), Sepedi (30777), and Afrikaans (53172)",
                "3 layers is better than the standard 6",
            ),
        ),
        (
            "kdnuggets2020",
            ("The successful ALBERT", "using only a fraction of it for computation in each layer"),
        ),
        ("deepnetworks63", ("Representational power: Similar, Similar",)),
    ],
)
def test_sentences_of_the_texts_that_depthlaw_began_with_are_on_their_pages(
    page: str, sentences: tuple[str, ...]
) -> None:
    """Those that no claim holds, below what is not covered."""
    text = " ".join((PAPERS / f"{page}.md").read_text(encoding="utf-8").split())
    _, _, left_out = text.partition("**Not covered")
    assert [sentence for sentence in sentences if sentence not in left_out] == []

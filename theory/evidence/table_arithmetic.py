"""Numbers in published tables that follow from others: averages, differences, sizes."""

from __future__ import annotations

from fractions import Fraction

from sympy import Rational

from ..claims.definition import Case, Control, Exact, Source, claim
from ..claims.relations import Lt
from ..claims.symbols import quantity, rounding_gap
from .translation import LANGUAGES, printed
from .wide_attention import ATTENTIONS, TASKS, averaged

units = quantity(
    "units", r"u_0", "units of the last digit that rounding may take away", "positive real"
)

_NETS = ("deep", "wide")


def _size_gap(language: str) -> Exact:
    """Distance of the difference of two printed sizes, in millions, from the weights of 54 encoder
    layers and 6 decoder layers of width 512."""
    # A decoder layer has two attentions.
    attention, feed_forward = 4 * 512**2, 8 * 512**2
    weights = 54 * (attention + feed_forward) + 6 * (2 * attention + feed_forward)
    deep, shallow = (
        Fraction(printed(net, language, "parameters (million)"))
        for net in ("60L-12L ADMIN", "6L-6L Default")
    )
    return Exact(abs(deep - shallow - Fraction(weights, 10**6)))


@claim(
    Lt(rounding_gap, units),
    source=Source(
        "notthatdeep2024",
        "tables of brown2022wide and liu2020verydeep, reprinted; restated in he2021realformer",
    ),
    wording="reported",
    known="FAILS",
    weight="arithmetic",
    cases={
        "quick": (
            *Case.grid(number="average", attention=ATTENTIONS, task="average", net=_NETS, units=1),
            *Case.grid(number="average", attention="average", task=TASKS, net=_NETS, units=1),
            *Case.grid(
                number="difference",
                net=("6L-6L ADMIN", "60L-12L ADMIN"),
                language=LANGUAGES,
                units=1,
            ),
            *Case.grid(number="size", language=LANGUAGES, units=1),
            *(
                Case(number="restated", net=net, language=language, units="1/2")
                for net, language in (
                    ("6L-6L ADMIN", "FR"),
                    ("60L-12L ADMIN", "FR"),
                    ("6L-6L ADMIN", "DE"),
                )
            ),
        )
    },
    control=Control(
        Case(number="average", attention="Performer", task="average", net="deep", units=1),
        "a quarter of a unit",
        statement=Lt(rounding_gap, Rational(1, 4)),
    ),
    supports="evidence/wide_attention_one_task",
)
def table_arithmetic(case: Case) -> Exact:
    """Printed numbers follow from the numbers that they are computed from.

    In the tables of wide and deep attention and of deep translation nets, every printed average is
    less than one unit of its last digit away from the mean of the printed entries, every difference
    is that of the printed BLEUs, and the sizes of 60L-12L and 6L-6L differ by the weights of the
    layers added, to less than a million; every BLEU that RealFormer restates rounds to the one
    printed.

    Two fail, and all others hold. The wide column of IMDb byte averages 60.70 and is printed as
    60.8: reachable only if all ten entries were exact halves that had been rounded down. Nor does
    one rule for halves give the other averages: 62.25 became 62.3 and 59.35 became 59.4, but 63.15
    became 63.1 and 57.95 became 57.9, as happens when means are taken before the entries are
    rounded. And 6L-6L on German is restated (he2021realformer) as 27.90, printed as 27.7: that the
    two texts agree is our expectation; they may report different runs. Sizes: 54 encoder layers
    with $12 d^2$ weights and 6 decoder layers with $16 d^2$ at width 512 have 195.0 million; 67 and
    262 (61 and 256) are each rounded to the million. Biases, norms and ADMIN's scalings are left
    out: with them 195.5. That the feed-forward width is $4 d$ is assumed.
    """
    if case.number == "average":
        average, parts = averaged(case)
        return Exact(10 * abs(average - sum(parts, Fraction(0)) / len(parts)))
    if case.number == "size":
        return _size_gap(case.language)
    bleu = Fraction(printed(case.net, case.language, "BLEU"))
    if case.number == "difference":
        default = Fraction(printed("6L-6L Default", case.language, "BLEU"))
        delta = Fraction(printed(case.net, case.language, "Delta"))
        return Exact(10 * abs(delta - (bleu - default)))
    return Exact(10 * abs(Fraction(printed(case.net, case.language, "BLEU (restated)")) - bleu))

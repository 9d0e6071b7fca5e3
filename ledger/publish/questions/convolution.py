"""Separation ranks of convolutional circuits beside those of attention."""

from __future__ import annotations

from collections.abc import Iterator
from fractions import Fraction

from depthlaw.theory.claims.values import Exact
from depthlaw.theory.separation_rank.dimension_count import dimension_count

from ..drawing.panels import Found, Panel, curve, curves, named, rows, stated
from .question import question


@question("convolution-beside-attention")
def _convolution(results: Found) -> Iterator[Panel]:
    """Ranks of a partition of eight tokens of each type, then those of two partitions for more."""
    circuits, ratios = (
        {
            (len(case.channels.split("-")), str(case.side)): Fraction(value.value)
            for case, value in rows(results, f"separation_rank/{name}", features=2, shared=True)
            if set(case.channels) == set("2-") and isinstance(value, Exact)
        }
        for name in ("convolution_shared", "convolution_below_attention")
    )
    attention = {key: circuits[key] / ratio for key, ratio in ratios.items() if key in circuits}
    eight = [key for _, key in sorted((circuits[k], k) for k in attention) if key[0] == 3]
    if eight:
        yield named(
            "Eight tokens, width 2",
            "tokens of one side",
            "separation rank",
            {
                label: [(" ".join(key[1]), Exact(ranks[key])) for key in eight]
                for label, ranks in (
                    ("convolutional circuit", circuits),
                    ("linearised attention, three layers", attention),
                )
            },
            {"2^4: circuits have no more": 16},
        )
    names = {True: "circuit, sides in turn", False: "circuit, first and second half"}
    part = rows(results, "separation_rank/convolution_sides", width=2)
    lines = curves(part, "tokens", "alternating", lambda turn: names[turn], "points")
    ranks_of = {2**layers: Exact(rank) for (layers, _), rank in attention.items()}
    beside = curve("linearised attention", ranks_of, "points")
    deep = range(1, 8)
    largest = {2**L: 2.0**2 ** (L - 1) for L in deep}
    count = {2**L: dimension_count(2, L) for L in deep}
    yield Panel(
        "Width 2, log_2 N layers",
        "tokens N",
        "separation rank",
        (
            # Circuits first, attention second, as on the left.
            *lines[:1],
            *filter(None, [beside]),
            *lines[1:],
            stated("largest possible: 2^(N/2)", largest, names[True]),
            stated("S(2, log_2 N), the bound for attention", count),
        ),
        x_scale="log",
        y_scale="log",
    )

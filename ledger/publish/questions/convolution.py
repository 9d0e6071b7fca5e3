"""Separation ranks of convolutional circuits beside those of attention."""

from __future__ import annotations

from collections.abc import Iterator
from fractions import Fraction

from depthlaw.theory.claims.values import Exact
from depthlaw.theory.separation_rank.dimension_count import dimension_count

from ..drawing.panels import Found, Panel, curve, curves, named, rows, stated
from .question import question


def _eight(results: Found) -> dict[str, dict[tuple[int, str], Fraction]]:
    """Ranks of circuits and of attention by the number of layers and the tokens of one side."""
    circuits, ratios = (
        {
            (len(case.channels.split("-")), str(case.side)): Fraction(value.value)
            for case, value in rows(results, f"separation_rank/{name}", features=2, shared=True)
            if set(case.channels) == set("2-") and isinstance(value, Exact)
        }
        for name in ("convolution_shared", "convolution_below_attention")
    )
    attention = {key: circuits[key] / ratio for key, ratio in ratios.items() if key in circuits}
    return {_CIRCUIT: circuits, _ATTENTION: attention}


_CIRCUIT, _ATTENTION = "convolutional circuit", "linearised attention"


def _convolution_says(results: Found) -> Iterator[str]:
    ranks = _eight(results)
    eight = [key for key in ranks[_ATTENTION] if key[0] == 3]
    if eight:
        most = max(ranks[_CIRCUIT][key] for key in eight)
        least = min(ranks[_ATTENTION][key] for key in eight)
        yield (
            f"On eight tokens convolutional circuits have rank {most} at most, linearised "
            f"attention of three layers at least {least}."
        )


@question("convolution-beside-attention", says=_convolution_says)
def _convolution(results: Found) -> Iterator[Panel]:
    """Ranks of a partition of eight tokens of each type, then those of two partitions for more."""
    ranks_of = _eight(results)
    circuits, attention = ranks_of.values()
    eight = [key for _, key in sorted((circuits[k], k) for k in attention) if key[0] == 3]
    if eight:
        yield named(
            "Eight tokens, width 2",
            "tokens of one side",
            "separation rank",
            {
                label: [(" ".join(key[1]), Exact(ranks[key])) for key in eight]
                for label, ranks in ranks_of.items()
            },
            {"2^4": 16},
        )
    names = {True: "circuit, sides in turn", False: "circuit, two halves"}
    part = rows(results, "separation_rank/convolution_sides", width=2)
    lines = curves(part, "tokens", "alternating", lambda turn: names[turn], "points")
    by_tokens = {2**layers: Exact(rank) for (layers, _), rank in attention.items()}
    beside = curve(_ATTENTION, by_tokens, "points")
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
            stated("2^(N/2)", largest, names[True]),
            stated("S(2, log_2 N)", count),
        ),
        x_scale="log",
        y_scale="log",
    )

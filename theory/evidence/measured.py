"""What published tables say, in exact decimals: a printed 62.3 stands for the interval [62.25, 62.35].

The tables are the files wide_attention.csv, translation.csv and shape_results.csv, each row with its source.
"""
from __future__ import annotations

import csv
from collections.abc import Iterable
from fractions import Fraction
from functools import cache
from itertools import pairwise
from pathlib import Path
from typing import NamedTuple

from ..values import Ball, Case, Exact

TASKS = ("IMDb token", "IMDb byte", "ListOps", "document matching")

# The textbook's table of model depths, smallest model first.
TEXTBOOK_DEPTHS = (("GPT-2 Small", 12), ("GPT-2 Medium", 24), ("GPT-2 Large", 36), ("GPT-2 XL", 48), ("LLaMA 7B", 32), ("LLaMA 70B", 80))
# Pairs of shapes that a text compares: (layers, width) twice.
COMPARED = {
    "Kaplan, 6 and 48 layers": ((48, 1600), (6, 4288)),
    "Kaplan, 207 and 48 layers": ((48, 1600), (207, 768)),
    "textbook, options A and B": ((24, 1024), (6, 2048)),
    "iGSM, 4 and 16 layers": ((16, 576), (4, 1920)),
}
# Parameters of a deep and narrow T5 and of the standard one, in millions or in percent of the latter.
DEEPNARROW = {"small-16L and base": (134, 223), "XL-32L and XXL": (33, 100), "base-36L and large": (84, 100)}


@cache
def table(name: str) -> tuple[dict[str, str], ...]:
    """The rows of a table of this package.

    >>> len(table("wide_attention"))
    55
    """
    with (Path(__file__).parent / f"{name}.csv").open(encoding="utf-8", newline="") as file:
        return tuple(csv.DictReader(file))


def half_unit(printed: str) -> Fraction:
    """Half a unit of the last printed digit: how far the unrounded number may be away.

    >>> half_unit("62.3") == Fraction(1, 20)
    True
    """
    return Fraction(1, 2 * 10 ** len(printed.partition(".")[2]))


def interval(printed: Iterable[tuple[int, str]]) -> Ball:
    """The sum of printed numbers with integer factors, each standing for the interval it was rounded from."""
    rows = list(printed)
    middle = sum((sign * Fraction(text) for sign, text in rows), Fraction(0))
    radius = sum((abs(sign) * half_unit(text) for sign, text in rows), Fraction(0))
    return Ball(middle - radius, middle + radius)


# --- wide and deep attention --------------------------------------------------------------------------------------------------

def attentions() -> tuple[str, ...]:
    """The attention types of the table, without the row of averages."""
    return tuple(dict.fromkeys(r["attention"] for r in table("wide_attention") if r["attention"] != "average"))


def _cells(attention: str, task: str) -> list[dict[str, str]]:
    """The entries with a given attention and task; "all" stands for every one, never for an average."""
    return [r for r in table("wide_attention") if r["attention"] != "average" and r["task"] != "average"
            and attention in ("all", r["attention"]) and task in ("all", r["task"])]


def _averaged(case: Case) -> tuple[str, list[str]]:
    """A printed average and the printed entries it is the average of."""
    along, across = ("task", "attention") if case.attention == "average" else ("attention", "task")
    entries = [r[case.net] for r in table("wide_attention") if r[along] == getattr(case, along) and r[across] != "average"]
    printed = next(r[case.net] for r in table("wide_attention") if (r["attention"], r["task"]) == (case.attention, case.task))
    return printed, entries


def average_gap(case: Case) -> Exact:
    """Distance of a printed average from the mean of the printed entries, in units of the last digit (0.1)."""
    printed, entries = _averaged(case)
    mean = sum((Fraction(e) for e in entries), Fraction(0)) / len(entries)
    return Exact(10 * abs(Fraction(printed) - mean))


def wide_gain(without: str = "") -> Ball:
    """Mean of wide minus deep over the entries, or over those of three tasks, as the interval that the rounding of the entries leaves."""
    cells = [r for r in _cells("all", "all") if r["task"] != without]
    signed: list[tuple[int, str]] = [(1, r["wide"]) for r in cells] + [(-1, r["deep"]) for r in cells]
    total = interval(signed)
    return Ball(total.low / len(cells), total.high / len(cells))


def wide_bottom_line() -> Ball:
    """Wide minus deep in the printed line of averages over everything."""
    row = next(r for r in table("wide_attention") if r["attention"] == r["task"] == "average")
    return interval([(1, row["wide"]), (-1, row["deep"])])


def wide_wins(task: str = "all") -> Exact:
    """Entries where the printed accuracy of the wide net is the higher one."""
    return Exact(sum(Fraction(r["wide"]) > Fraction(r["deep"]) for r in _cells("all", task)))


# --- translation --------------------------------------------------------------------------------------------------------------

def translation(net: str, language: str, metric: str) -> str:
    """A printed entry of the translation tables."""
    return next(r["value"] for r in table("translation") if (r["model"], r["language"], r["metric"]) == (net, language, metric))


def improvement(over: str, language: str, metric: str) -> Ball:
    """How much better 60L-12L is than another net in a metric: less TER, more METEOR and BLEU."""
    sign = -1 if metric == "TER" else 1
    return interval([(sign, translation("60L-12L ADMIN", language, metric)), (-sign, translation(over, language, metric))])


def back_translation_lead(rival: str, metric: str) -> Ball:
    """BLEU of the deepest net with back-translation minus that of a rival."""
    return interval([(1, translation("60L-12L ADMIN + BT", "FR", metric)), (-1, translation(rival, "FR", metric))])


def restated_gap(net: str, language: str) -> Exact:
    """Distance between a BLEU as restated with two digits and as printed with one."""
    return Exact(abs(Fraction(translation(net, language, "BLEU (restated)")) - Fraction(translation(net, language, "BLEU"))))


def size_interval(language: str) -> Ball:
    """Parameters of 60L-12L minus those of 6L-6L, in millions, each as what was rounded to the printed number."""
    name = "parameters (million)"
    return interval([(1, translation("60L-12L ADMIN", language, name)), (-1, translation("6L-6L Default", language, name))])


def size_gap(case: Case, cross: bool = True) -> Exact:
    """Distance, in millions, of the printed difference of sizes from the weights of the layers added, counted matrix by matrix.

    Args:
        case: language, width d and the layers added to either stack; feed-forward width 4 d.
        cross: whether decoder layers attend to the encoder too.
    """
    attention, feed_forward = 4 * [case.width**2], 2 * [4 * case.width**2]
    encoder, decoder = attention + feed_forward, (2 if cross else 1) * attention + feed_forward
    weights = case.encoder_layers * sum(encoder) + case.decoder_layers * sum(decoder)
    ends = size_interval(case.language)
    return Exact(abs((ends.low + ends.high) / 2 - Fraction(weights, 10**6)))


# --- depth against width ------------------------------------------------------------------------------------------------------

class Trained(NamedTuple):
    """One trained net of shape_results.csv."""

    depth: int
    width: int
    value: str


def trained(group: str) -> list[Trained]:
    """The nets of a group, shallowest first."""
    return sorted(Trained(int(r["depth"]), int(r["width"] or 0), r["value"]) for r in table("shape_results") if r["group"] == group)


def _sign(group: str) -> int:
    return 1 if next(r["measure"] for r in table("shape_results") if r["group"] == group) == "loss" else -1


def neighbours(group: str) -> list[tuple[int, int]]:
    """Depths of neighbouring nets of different width (or of one width, where the group lists none): (shallower, deeper)."""
    return [(a.depth, b.depth) for a, b in pairwise(trained(group)) if not a.width or a.width != b.width]


def gain(group: str, depth: int, deeper: int) -> Ball:
    """How much better the deeper of two nets is: fall of the loss, or rise of the accuracy."""
    value = {net.depth: net.value for net in trained(group)}
    return interval([(_sign(group), value[depth]), (-_sign(group), value[deeper])])


def best_depth(group: str) -> Exact:
    """The depth of the best net of a group."""
    nets = trained(group)
    best = min(nets, key=lambda net: _sign(group) * Fraction(net.value))
    if sum(net.value == best.value for net in nets) > 1:
        raise ValueError(f"{group} has no single best net")
    return Exact(best.depth)


def spread(group: str, lowest: int, highest: int) -> Ball:
    """Worst loss over best, less one, in percent, among the nets with d / L in [lowest, highest]."""
    losses = [net.value for net in trained(group) if lowest * net.depth <= net.width <= highest * net.depth]
    best, worst = min(losses, key=Fraction), max(losses, key=Fraction)
    low = (Fraction(worst) - half_unit(worst)) / (Fraction(best) + half_unit(best))
    high = (Fraction(worst) + half_unit(worst)) / (Fraction(best) - half_unit(best))
    return Ball(100 * (low - 1), 100 * (high - 1))


def weights_ratio(pair: str) -> Fraction:
    """Weights in layers of the second shape over those of the first, counted matrix by matrix."""
    from ..depth_choice.measured import weights

    first, second = COMPARED[pair]
    return Fraction(weights(*second), weights(*first))


def local_exponent(case: Case) -> Ball:
    """d ln D / d ln W: of D = c ln W at a width, from a symmetric difference that brackets it, or the ratio of two printed exponents."""
    if case.law == "optimal shapes":
        return Ball(Fraction(115, 345), Fraction(125, 335))  # 0.12 and 0.34, each to two digits
    from flint import arb

    from ..exact.enclosure import ball, endpoints

    # ln ln W is concave in ln W, so the slope lies between the difference quotients to the right and to the left.
    x, h = arb(case.width).log(), arb(1) / 1024
    right, left = ((x + h).log() - x.log()) / h, (x.log() - (x - h).log()) / h
    return Ball.of(ball(endpoints(right)[0], endpoints(left)[1]))

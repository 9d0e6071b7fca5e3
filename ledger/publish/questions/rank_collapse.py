"""Rank collapse, what stops it, and what long paths and texts forget."""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping
from functools import cache

from depthlaw.theory.claims.definition import Case, at, find
from depthlaw.theory.claims.values import Measured

from ..drawing.panels import (
    Found,
    Panel,
    Rows,
    Series,
    curve,
    curves,
    middles,
    named,
    rows,
    split,
    stated,
)
from .question import keys, question


@cache
def _residuals() -> tuple[Series, ...]:
    """The doubly exponential law and what breaks it, on two tokens of width one: -log10 of the
    residual against layers, by balls, whose exponents have no limit."""
    from flint import arb, arb_mat

    from depthlaw.theory.rank_collapse.doubly_exponential import next_pair
    from depthlaw.theory.rank_collapse.softmax_attention import SoftmaxHead

    layers = range(9)
    drawn: list[Series] = []
    for label, weights, skip in (
        ("attention alone", None, False),
        ("causal mask", arb_mat([[1, 0], [1, 1]]), False),
        ("skip connection", None, True),
    ):
        mean, moved, heights = arb_mat([[0]]), arb_mat([["0.01"], ["-0.01"]]), []
        for layer in layers:
            if layer:
                head = SoftmaxHead(arb_mat([[1]]), arb_mat([[1]]))
                mean, moved = next_pair(mean, moved, [head], weights, skip)
            heights.append(float(-abs(moved[0, 0]).log() / arb(10).log()))
        drawn.append(Series(label, tuple(layers), tuple(heights)))
    return tuple(drawn)


def _residuals_say(_: Found) -> Iterator[str]:
    drawn = _residuals()
    ends = ", ".join(f"10^-{line.y[-1]:.0f} ({line.label})" for line in drawn)
    yield f"After {drawn[0].x[-1]} layers the residual is {ends}."


@question("doubly-exponential", says=_residuals_say)
def _layers_seen(results: Found) -> Iterator[Panel]:
    drawn = _residuals()
    law = stated("3^l times start", {layer: drawn[0].y[0] * 3**layer for layer in drawn[0].x})
    yield Panel(
        "Orders of magnitude that the residual has lost",
        "layer l",
        "-log10 of the residual",
        (*drawn, law),
        y_scale="log",
    )


_BERT = {
    "attention alone": ("bert_init_collapse", "bert_plateau_is_rounding"),
    "the whole net": ("bert_init_full_curve",),
}


def _bert_says(results: Found) -> Iterator[str]:
    lines = {
        label: curve("", {c.layer: v for c, v in rows(results, *keys("rank_collapse", names))})
        for label, names in ((label, " ".join(names)) for label, names in _BERT.items())
    }
    ends = [f"{line.y[-1]:.2g} in {label}" for label, line in lines.items() if line]
    last = {line.x[-1] for line in lines.values() if line}
    if len(last) == 1:
        yield f"After {last.pop()} layers the mean relative residual is {', '.join(ends)}."


@question("bert-residuals", says=_bert_says)
def _bert(results: Found) -> Iterator[Panel]:
    series: list[Series] = []
    for label, names in _BERT.items():
        part = rows(results, *keys("rank_collapse", " ".join(names)))
        line = curve(label, {case.layer: value for case, value in part}, "points")
        first = f"rank_collapse/{names[0]}"
        says = find(first).statement.rhs
        predicted = {int(case.layer): float(at(says, case)) for case, _ in rows(results, first)}
        if line:
            series += [line, stated(f"{label}, published", predicted, label)]
    yield Panel("BERT-base by layer", "layer", "relative residual", tuple(series), y_scale="log")


# Of the exact nets: the slope of log(-log r_l) where logits come from hidden states alone, and
# where the logits hold or add something else.
_EXACT = {"causal": "causal mask", "positions": "positions", "skip": "with skips"}
_DROPS = {"cubic_drop": "hidden states alone", "slower_with_positions_or_mask": "positions or mask"}
_MODELS = ["BERT", "ALBERT", "XLNet", "T5", "GPT-2", "Llama", "Mistral", "Qwen2", "Qwen3"]
_NAMES = {name.lower().replace("-", ""): name for name in _MODELS}


@question("rank-collapse")
def _collapse(results: Found) -> Iterator[Panel]:
    slopes = [
        ("attention alone", value)
        for _, value in rows(results, "rank_collapse/doubly_exponential_slope")
    ]
    below = rows(results, "rank_collapse/slope_below_cubic")
    slopes += [(_EXACT[c.logits], value) for c, value in below if c.logits in _EXACT]
    yield named(
        "Exact nets", "", "slope of log(-log r)", {"one net": slopes}, {"log 3: cubic": math.log(3)}
    )
    yield named(
        "Architectures",
        "",
        "growth of the drop by layer",
        {label: _largest(rows(results, f"rank_collapse/{name}")) for name, label in _DROPS.items()},
        {"3: cubic": 3, "1: exponential": 1},
    )
    yield from _bert(results)


def _largest(part: Rows) -> list[tuple[str, Measured]]:
    """Of each model without skips and MLPs the widest net."""
    alone = [row for row in part if row[0].get("variant") == "san"]
    widest: Mapping[str, tuple[Case, Measured]] = {
        row[0].model: row for row in sorted(alone, key=lambda row: row[0].width)
    }
    return [
        (_NAMES.get(model, model) + ("" if case.get("positions", 1) else ", no pos."), value)
        for model, (case, value) in widest.items()
    ]


_PARTS = {"whole": "whole", "attention": "attention"}


def _memory_says(results: Found) -> Iterator[str]:
    """Of trained nets, in the last layer."""
    part = rows(results, "rank_collapse/amnesia_is_near", learns=1)
    last = max((case.layer for case, _ in part), default=0)
    shares = [
        f"{share:.2g} ({_PARTS[case.part]})"
        for case, value in part
        if case.layer == last
        for share in middles([(case, value)])
    ]
    if shares:
        yield f"In layer {last} of trained nets the distance over its bound is {', '.join(shares)}."


@question("memory", says=_memory_says)
def _memory(results: Found) -> Iterator[Panel]:
    part = rows(results, "rank_collapse/amnesia_is_near")
    lines = [
        curve(
            f"{_PARTS[case_part]}, {'trained' if learns else 'as drawn'}",
            {case.layer: value for case, value in of},
        )
        for (case_part, learns), of in split(part, "part", "learns")
    ]
    layers = {case.layer: 1 for case, _ in part}
    yield Panel(
        "Texts whose first half is equal",
        "layer",
        "distance of last states over its bound",
        (*filter(None, lines), stated("bound", layers)),
        y_scale="log",
    )


def _paths_say(results: Found) -> Iterator[str]:
    """By 95 % intervals of the difference."""
    falls = rows(results, "rank_collapse/paths_deteriorate")
    ends = [curve("", {0: value}) for _, value in falls]
    surely = [line for line in ends if line and line.low and line.high]
    if surely:
        lower = sum(line.low[0] > 0 for line in surely if line.low)
        raised = sum(line.high[0] < 0 for line in surely if line.high)
        yield (
            f"One more layer of a path lowers the score in {lower} of {len(surely)} cases and "
            f"raises it in {raised}."
        )


@question("paths", says=_paths_say)
def _paths(results: Found) -> Iterator[Panel]:
    """Claims about a fall from each length to the next."""
    score = "score at l minus score at l + 1"
    for name, method, title, y_label in (
        ("paths_deteriorate", "alone", "Sums over all paths of length l", score),
        ("paths_deteriorate", "isolated", "Random paths of length l, run alone", score),
        (
            "longer_paths_flatter",
            "alone",
            "Tokens of the sums over all paths of length l",
            "fall of the log10 residual to l + 1",
        ),
    ):
        lines = curves(
            rows(results, f"rank_collapse/{name}", method=method), "length", "task", kind="points"
        )
        longest = max((x for line in lines for x in line.x), default=1)
        bound = stated("at least 0", {1: 0, longest: 0})
        yield Panel(title, "path length l", y_label, (*lines, bound))

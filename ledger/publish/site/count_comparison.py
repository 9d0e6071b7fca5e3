"""The parts of docs/counting.md that are computed: every listed model recounted from its shape,
beside what its makers report, the list's own count, and what other tools count.

`other_counts.csv` is written by benchmarks/compare_counting.py, which runs those tools.
"""

from __future__ import annotations

from collections.abc import Iterator
from functools import cache
from typing import NamedTuple

from depthlaw.advisor.architecture import Architecture
from depthlaw.advisor.counting import Count, count, weights
from depthlaw.advisor.models import Model, architecture, model, models

from ..appendix.typesetting import md
from ..tables import csv_rows

_NEAR = 0.01
_UNITS = {"M": 10**6, "B": 10**9}
# What other tools count.
_OTHERS = csv_rows(__package__, "other_counts.csv")
# Families whose learned positions the list's own count includes.
_POSITIONS_LISTED = ("GPT-2", "GPT-3", "OPT", "Cerebras-GPT", "BERT")


class Recount(NamedTuple):
    """A listed model counted from its shape, and what it is compared with."""

    model: Model
    counts: Count
    as_listed: int  # counted as the list counts: see `_as_listed`
    built: int | None  # parameters of the class in transformers, where there is one

    @property
    def off_reported(self) -> float | None:
        """Relative difference from the reported size."""
        if not self.model.reported:
            return None
        return self.counts.total / reported_size(self.model.reported)[0] - 1

    @property
    def as_reported(self) -> bool:
        """Whether it is the reported size, within 1 % or as that is rounded."""
        if not self.model.reported:
            return True
        size, half = reported_size(self.model.reported)
        return abs(self.counts.total - size) <= max(half, _NEAR * size)


def reported_size(text: str) -> tuple[float, float]:
    """A reported size, and by how much it may have been rounded: half a unit of its last digit that
    is not a zero at the end.

    >>> reported_size("6.7B") == (6.7e9, 0.05e9), reported_size("350M") == (350e6, 5e6)
    (True, True)
    """
    digits, unit = text[:-1], _UNITS[text[-1]]
    whole, _, decimals = digits.partition(".")
    zeros = len(whole) - len(whole.rstrip("0"))
    return float(digits) * unit, 0.5 * unit * 10.0 ** (-len(decimals) if decimals else zeros)


@cache
def recounts() -> tuple[Recount, ...]:
    """Every listed model whose shape is complete."""
    built = {r["model"]: int(r["parameters"]) for r in _OTHERS if r["tool"] == "transformers"}
    rows = []
    for row in models():
        if row.complete:
            a = architecture(row)
            rows.append(Recount(row, count(a), _as_listed(row, a), built.get(row.name)))
    return tuple(rows)


def _as_listed(m: Model, a: Architecture) -> int:
    """The list counts weight matrices of the layers, embeddings, and an output layer of its own;
    positions of a few families; no norms, biases, projections of embeddings or relative positions.
    """
    listed = sum(
        w.stored
        for w in weights(a)
        if len(w.shape) == 2
        and (w.role in ("attention", "mlp", "expert", "router", "head") or w.is_token_table)
    )
    learned = a.learned_positions and m.family in _POSITIONS_LISTED
    return listed + (a.context * a.width if learned else 0)


# --- parts of the page ----------------------------------------------------------------------------


def part(name: str) -> str:
    """A part of docs/counting.md in Markdown: summary, exceptions, models, tools or versions."""
    return "\n".join(
        {
            "summary": _summary,
            "exceptions": _exceptions,
            "models": _models,
            "tools": _tools,
            "versions": _versions,
        }[name]()
    )


# The share of rows that are to be within 1 %.
_WANTED = 0.98


def _summary() -> Iterator[str]:
    rows = recounts()
    listed = [(r, r.model.listed) for r in rows if r.model.listed]
    built = [(r.counts.total, r.built) for r in rows if r.built is not None]
    reported = [r for r in rows if r.model.reported]
    yield (
        f"The list has {len(models())} models. {len(rows)} are complete: {len(built)} of them are "
        f"nets of transformers, {len(listed)} have a count by the list and {len(reported)} a "
        "reported size."
    )
    yield ""
    yield f"| compared with | rows | equal | within 1 % | at least {100 * _WANTED:.0f} % |"
    yield "|---|--:|--:|--:|---|"
    for name, pairs in (
        ("the class in transformers, built without memory", built),
        ("the list's count, counted as the list counts", [(r.as_listed, n) for r, n in listed]),
        ("the list's count, everything counted", [(r.counts.total, n) for r, n in listed]),
    ):
        yield _compared(
            name,
            [ours == theirs for ours, theirs in pairs],
            [abs(ours / theirs - 1) <= _NEAR for ours, theirs in pairs],
        )
    near = [abs(r.off_reported or 0) <= _NEAR for r in reported]
    yield _compared("the reported size", None, near)
    rounded = [r.as_reported for r in reported]
    yield _compared("the reported size, or what rounds to it", None, rounded)


def _compared(name: str, equal: list[bool] | None, near: list[bool]) -> str:
    reached = "yes" if sum(near) >= _WANTED * len(near) else "no"
    exact = _share(equal) if equal else ""
    return f"| {name} | {len(near)} | {exact} | {_share(near)} | {reached} |"


def _share(held: list[bool]) -> str:
    return f"{sum(held)} ({100 * sum(held) / len(held):.1f} %)"


def _exceptions() -> Iterator[str]:
    yield "| model | counted | reported | | list's count | | why |"
    yield "|---|--:|--:|--:|--:|--:|---|"
    for r in recounts():
        if r.model.difference:
            listed = f"{r.model.listed:,}" if r.model.listed else ""
            off = _percent(r.counts.total / r.model.listed - 1) if r.model.listed else ""
            yield (
                f"| {md(r.model.name)} | {r.counts.total:,} | {r.model.reported} | "
                f"{_percent(r.off_reported)} | {listed} | {off} | {md(r.model.difference)} |"
            )


def _models() -> Iterator[str]:
    yield (
        "| model | year | layers | width | parameters | without embeddings | active | reported "
        "| difference | transformers | shape |"
    )
    yield "|---|--:|--:|--:|--:|--:|--:|--:|--:|---|---|"
    for r in recounts():
        active = f"{r.counts.active:,}" if r.counts.active != r.counts.total else ""
        built = (
            "" if r.built is None else ("equal" if r.built == r.counts.total else f"{r.built:,}")
        )
        yield (
            f"| {md(r.model.name)} | {r.model.year} | {r.model.layers} | {r.model.width} | "
            f"{r.counts.total:,} | {r.counts.nonembedding:,} | {active} | {r.model.reported} | "
            f"{_percent(r.off_reported)} | {built} | {r.model.status} |"
        )


def _tools() -> Iterator[str]:
    counts: dict[str, dict[str, str]] = {}
    for row in _OTHERS:
        counts.setdefault(row["tool"], {})[row["model"]] = row["parameters"]
    exact = counts.pop("transformers")
    names = list(counts["accelerate"])
    yield "| model | transformers | depthlaw | " + " | ".join(md(tool) for tool in counts) + " |"
    yield "|---|--:|" + "--:|" * (1 + len(counts))
    right = dict.fromkeys(["depthlaw", *counts], 0)
    for name in names:
        true = int(exact[name])
        ours = count(architecture(model(name))).total
        cells = []
        for tool, printed in (("depthlaw", str(ours)), *((t, counts[t][name]) for t in counts)):
            off = int(printed) / true - 1 if printed else None
            right[tool] += off is not None and abs(off) <= _NEAR
            cells.append(
                "not read" if off is None else "exact" if int(printed) == true else _percent(off)
            )
        yield f"| {md(name)} | {true:,} | " + " | ".join(cells) + " |"
    yield "| within 1 % | | " + " | ".join(f"{n} of {len(names)}" for n in right.values()) + " |"


def _versions() -> Iterator[str]:
    asked: dict[str, dict[str, str]] = {}
    for row in _OTHERS:
        if row["tool"] not in asked or row["parameters"]:
            asked.setdefault(row["tool"], row)
    for tool, row in asked.items():
        yield (
            f"- {md(tool)}: {md(row['version'])}, run {row['date']}; {md(row['model'])} by "
            f"`{row['how']}`"
        )


def _percent(off: float | None) -> str:
    return "" if off is None else f"{100 * off:+.1f} %" if abs(off) < 10 else f"x{1 + off:.1f}"

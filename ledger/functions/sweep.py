"""Recommendations over a range of sizes."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any, Unpack

from depthlaw.advisor.answer import Answer, as_json
from depthlaw.advisor.base.quantities import UsageError, parse_budget, parse_count, size
from depthlaw.advisor.grids import NetKind
from depthlaw.advisor.question import BY_NAME, Question, completed, of_sizes
from depthlaw.advisor.recommendation import answer_to
from depthlaw.advisor.shapes import Constraints

from .report import Picture, Report

if TYPE_CHECKING:
    from .options import SizeOptions

_MOST_POINTS = 1000
# Sizes at which a plot is drawn, at least.
_PLOTTED = 81
_ENDS = ("low", "high", "started", "ended", "extrapolated")


@dataclass(frozen=True, repr=False)
class Sweep(Report):
    """What was asked of each size, the sizes, and what is recommended there."""

    question: Question
    budgets: tuple[int, ...]
    answers: tuple[Answer, ...]

    def rows(self) -> list[dict[str, Any]]:
        """One for each size; the number of every law under its key, empty where it has none."""
        return flat(self.budgets, self.answers)

    def to_json(self) -> dict[str, Any]:
        """What `depthlaw sweep --json` prints."""
        pairs = zip(self.budgets, self.answers, strict=True)
        return {"sweep": [{"budget": n, "answer": as_json(a)} for n, a in pairs]}

    def plot(self) -> Picture:
        """Depth against size, with laws, intervals and real models."""

        def drawn(form: str) -> bytes:
            from ..publish.drawing.sweep_plot import depth_plot

            demanded = Constraints(**self.question.of(Constraints))
            key = NetKind(demanded.parametrisation, demanded.norm, demanded.residual)
            points = max(len(self.budgets), _PLOTTED)
            finer = _answered(self.question, self.budgets[0], self.budgets[-1], points)
            return depth_plot(finer.answers, form, key, self.question.known_by)

        return Picture(drawn)

    def summary(self) -> str:
        """Its range, and the depths there."""
        ends = (0, -1)
        sizes, depths = ([size(self.budgets[i]) for i in ends], [self.answers[i] for i in ends])
        return f"{' to '.join(sizes)}, {' to '.join(str(a.layers) for a in depths)} layers"


def flat(budgets: Sequence[float | None], answers: Sequence[Answer]) -> list[dict[str, Any]]:
    """A row for each answer that has a shape: the shape, its counts, the depths that are as good,
    and the number of every law under its key, empty where it has none."""
    keys = list(dict.fromkeys(law.key for answer in answers for law in answer.laws))
    rows = []
    for budget, answer in zip(budgets, answers, strict=True):
        if answer.shape is None:
            continue
        shape, counts, interval = answer.shape.architecture, answer.shape.counts, answer.interval
        layers = {law.key: law.layers for law in answer.laws}
        rows.append(
            {"budget": budget, "layers": shape.layers, "width": shape.width, "heads": shape.heads}
            | {"kv_heads": shape.key_heads, "d_ff": shape.d_ff}
            | {name: getattr(counts, name) for name in ("total", "nonembedding", "active")}
            | {name: getattr(interval, name) if interval else "" for name in _ENDS}
            | {f"law {key}": layers.get(key, "") for key in keys}
        )
    return rows


@completed(of_sizes)
def sweep(
    least: str | float,
    most: str | float,
    points: str | int = 9,
    **options: Unpack[SizeOptions],
) -> Sweep:
    """Recommend shapes for a range of sizes: `depthlaw sweep`.

    Args:
        least, most: numbers of parameters, as numbers (1e8) or as they are typed ("100M").
        points: how many sizes, evenly spaced in the logarithm.
        options: what the shapes must obey, as for `recommend`.

    Raises:
        UsageError: for sizes that are no range, and where `recommend` raises.

    Cost: milliseconds for each size.

    >>> found = sweep("100M", "10B", points=3, pipeline=4)
    >>> [(row["budget"], row["layers"] % 4) for row in found.rows()]
    [(100000000, 0), (1000000000, 0), (10000000000, 0)]
    """
    low, high = parse_budget(str(least)), parse_budget(str(most))
    if low >= high:
        raise UsageError(f"--from {least} is not below --to {most}; try --from 100M --to 1T")
    count = parse_count(str(points), "number of points", "--points 9", least=2)
    if count > _MOST_POINTS:
        raise UsageError(f"{count} points are too many; accepted are 2 to {_MOST_POINTS}")
    for name in options:
        if name in BY_NAME and not of_sizes(BY_NAME[name]):
            what = f"a range of sizes takes no {name}, which is of one answer"
            raise UsageError(f"{what}; try recommend")
    return _answered(Question.read(budget=str(least), **options), low, high, count)


def _answered(question: Question, low: int, high: int, points: int) -> Sweep:
    sizes = dict.fromkeys(round(low * (high / low) ** (i / (points - 1))) for i in range(points))
    answers = (answer_to(replace(question, budget=float(n))) for n in sizes)
    return Sweep(question, tuple(sizes), tuple(answers))

"""The best depth of each budget of a loss surface, laws, and rules beside them."""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Literal, get_args

from depthlaw.advisor import laws as advised, rule_scores
from depthlaw.advisor.answer import OwnLaw, OwnLosses, OwnNearest, plain_data
from depthlaw.advisor.base.quantities import UsageError, parse_share, plural, quoted
from depthlaw.advisor.grids import SIZE_EXPONENT
from depthlaw.advisor.rules import rule
from depthlaw.empirics.depth_width import fits
from depthlaw.empirics.depth_width.additive import Additive, additive
from depthlaw.empirics.depth_width.comparison import PredictionRow, compare, levine_distance
from depthlaw.empirics.depth_width.surface import Surface, read

from .report import Picture, Report

# Of nets that somebody trained: a CSV file, or its rows.
Losses = str | Path | Iterable[Mapping[str, Any]]
# Of the next net that a fit speaks of.
NEXT = 1e9
# Below this chance of its misfit a law is not right.
_MISFIT = 0.01


@dataclass(frozen=True, repr=False)
class LossFit(Report):
    """All that is fitted to a loss surface.

    Attributes:
        surface: what the file holds.
        budget, tolerance: what nets of one budget have in common, and how far they may differ.
        optima: the best depth of each budget; of each size the budget with the most tokens.
        left_out: budgets of fewer tokens.
        laws: width against best depth.
        transitions: from which size the deeper of two nets wins.
        additive: the law E + A width^-a + B depth^-b + C tokens^-c, where it can be fitted.
        predictions: every published rule beside the best depths, with a verdict.
    """

    surface: Surface
    budget: fits.BudgetKind
    tolerance: float
    optima: tuple[fits.Optimum, ...]
    left_out: int
    laws: tuple[fits.Law, ...]
    transitions: tuple[fits.Transition, ...]
    additive: Additive | None
    predictions: tuple[PredictionRow, ...]

    def next_net(self, parameters: float, per_layer: float = 12.0) -> OwnLosses:
        """What the laws say of a net of so many parameters in layers, c L d^2 where c is
        `per_layer`: how far it is beyond the largest budget, each law's depth, the best depth of
        the budget nearest in size, and what published grids say beside them. Sizes are compared by
        L d^2, with 12 L d^2 as the parameters of a budget."""
        alike = 12 * parameters / per_layer
        # A law that misses its own budgets says nothing beyond them.
        right = [law for law in self.laws if law.misfit is None or law.misfit >= _MISFIT]
        within = rule_scores.interval(parameters, per_layer)
        known = ((12 * o.volume, (o.low, o.depth, o.high)) for o in self.optima if o.depth)
        nearest = min(known, key=lambda own: abs(math.log(own[0] / alike)), default=None)
        return OwnLosses(
            parameters,
            self.budget,
            alike / max((12 * o.volume for o in self.optima), default=math.inf),
            tuple(OwnLaw(law.form, law.depth(alike)) for law in right),
            nearest and OwnNearest(*nearest),
            rule_scores.default_rule().depth(parameters, per_layer),
            within.ends if within else None,
        )

    def rows(self) -> list[dict[str, Any]]:
        """The best depth of each budget, with its interval."""
        names = "parameters tokens depth low high width seeds"
        return [{name: getattr(o, name) for name in names.split()} for o in self.optima]

    def to_json(self) -> dict[str, Any]:
        """What `depthlaw fit --json` prints."""
        law = self.additive
        best_depths = [plain_data(law.depth(row.volume)) for row in self.optima if law]
        return {
            "rows": len(self.surface.points),
            "columns": dict(self.surface.columns),
            "ignored": list(self.surface.ignored),
            "notes": list(self.surface.notes),
            "budget": self.budget,
            "tolerance": self.tolerance,
            "level": 1 - fits.LEVEL,
            "budgets": [plain_data(row) for row in self.optima],
            "left_out": self.left_out,
            "laws": [plain_data(row) | {"formula": row.formula} for row in self.laws],
            "next": plain_data(self.next_net(NEXT)),
            "levine": {
                "a": advised.FIT_A,
                "b": advised.FIT_B,
                "wording": rule("levine").wording,
                "chance": levine_distance(self.laws[0]) if self.laws else None,
            },
            "transitions": [plain_data(row) for row in self.transitions],
            "additive": law and plain_data(law) | {"best_depths": best_depths},
            "comparison": [plain_data(row) for row in self.predictions],
        }

    def plot(self) -> Picture:
        """Losses against depth for each budget, and width against depth."""

        def drawn(form: str) -> bytes:
            from ..publish.drawing import fit_figures, line_plot

            return line_plot.line_plot(fit_figures.panels(self.optima, self.laws), form)

        return Picture(drawn)

    def summary(self) -> str:
        """How many budgets, and the best depths that are known."""
        depths = ", ".join(f"{o.depth:.1f}" for o in self.optima if o.depth is not None)
        budgets = plural(len(self.optima), "budget")
        return f"{budgets}, best depths {depths}" if depths else f"{budgets}, no best depth"


def fit_of_net(file: Losses) -> LossFit:
    """The same of nets of equal parameters and tokens, or of equal hours where no three depths have
    these and the file says how long each training took.

    Raises:
        UsageError: as `fit`.
    """
    surface = read(file)
    try:
        return _fitted(surface, "parameters", fits.TOLERANCE)
    except UsageError:
        if any(point.seconds is None for point in surface.points):
            raise
    return _fitted(surface, "hours", fits.TOLERANCE)


def fit(
    file: Losses,
    *,
    budget: Literal["parameters", "flops", "hours"] = "parameters",
    tolerance: str | float = fits.TOLERANCE,
    seed_column: str = "",
) -> LossFit:
    """Fit the losses of nets that you trained: `depthlaw fit`.

    Args:
        file: a CSV file with the columns width, depth, parameters, tokens, loss; or its rows, such
            as dictionaries.
        budget: what nets of one budget have in common.
        tolerance: how far their sizes may differ, as a share or such as "5%".
        seed_column: the column that tells trainings of one shape apart, if not seed.

    Raises:
        UsageError: for a file or an option that cannot be used, in one line.

    Cost: seconds.

    >>> from tempfile import TemporaryDirectory
    >>> lines = ["width,depth,tokens,loss"] + [
    ...     f"{width},{depth},1e9,{3 + (depth / 8 - 1) ** 2}"
    ...     for depth, width in ((2, 512), (4, 362), (8, 256), (16, 181), (32, 128))]
    >>> with TemporaryDirectory() as folder:
    ...     table = Path(folder, "losses.csv")
    ...     _ = table.write_text("\\n".join(lines))
    ...     found = fit(table)
    >>> len(found.surface.points), [row["tokens"] for row in found.rows()]
    (5, [1000000000.0])
    """
    if budget not in get_args(fits.BudgetKind):
        accepted = ", ".join(get_args(fits.BudgetKind))
        raise UsageError(f"unknown --budget {quoted(budget)}; accepted are {accepted}")
    share = float(parse_share(str(tolerance), "--tolerance"))
    return _fitted(read(file, seed_column), budget, share)


def _fitted(surface: Surface, budget: fits.BudgetKind, share: float) -> LossFit:
    groups = fits.groups(surface.points, budget, share)
    # At equal FLOPs or hours a smaller net saw more tokens; its loss is what it is.
    same_size = budget == "parameters"
    exponent = SIZE_EXPONENT if same_size else 0.0
    used = fits.longest(groups) if same_size else groups
    optima = tuple(fits.optimum(group, size_exponent=exponent) for group in used)
    return LossFit(
        surface,
        budget,
        share,
        optima,
        len(groups) - len(used),
        fits.depth_laws(optima),
        fits.transitions(used) if same_size else (),
        additive(surface.points),
        compare(optima),
    )

"""How every rule does on the published grids: as text, and as plain data."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any

from .answer import plain_data
from .base.quantities import size
from .layout import columns, wrapped
from .rule_scores import UNTOLD, gain, projections
from .words import say

if TYPE_CHECKING:
    from .rule_scores import EvidenceTable


def evidence(table: EvidenceTable, width: int = 80) -> str:
    """How every rule does on the published grids, how the recommendation does on each source that
    it was not chosen by, and Levine's projections beside the fit."""
    every: list[tuple[str, ...]] = [("rule", "says", "regret", "worst", "loss %", "best")]
    for s in table.scores:
        name = s.rule.name + (" *" if s.rule.key in table.choices else "")
        loss = "" if s.loss is None else f"{100 * s.loss:.2f}"
        scores = (f"{s.mean:.3f}", f"{s.worst:.2f}", loss, f"{s.hits}/{len(s.outcomes)}")
        every.append((name, s.rule.meaning, *scores))
    named = ("regret", "built", "d = 64 L", "best", "worst")
    rows: list[tuple[str, ...]] = [("source", "chosen by the others", *named)]
    for row in table.rows:
        regret = (f"{x:.2f}" for x in (row.regret, row.built, row.default))
        held = (f"{row.inside}/{row.asked}", f"{row.losers}/{row.asked}")
        rows.append((row.source, row.chosen.name, *regret, *held))
    means = (table.held_out, table.held_out_built, table.of("nanochat").mean)
    rows.append(("all", "", *(f"{mean:.3f}" for mean in means), "", ""))
    projected: list[tuple[str, ...]] = [("model", "parameters", "stated", "fit", "+-", "")]
    for p in projections():
        solved = (f"{p.solved:.1f}", f"{p.error:.1f}")
        remark = "" if p.matches else "not equal after rounding"
        projected.append((p.model, size(p.parameters), str(p.stated), *solved, remark))
    # Upwards: none is further off than what is printed.
    off = math.ceil(10 * max(abs(p.stated - p.solved) / p.error for p in projections())) / 10
    parts: list[str | list[tuple[str, ...]]] = [say("evidence.rules"), every]
    if table.rows and table.best.rule != table.default.rule:
        against = gain(table.best, table.default)
        parts.append(say("evidence.against-default", table=table, against=str(against)))
    left_out = say("evidence.left-out", untold=100 * UNTOLD, settled=table.settled)
    parts += [left_out, rows, say("evidence.projections", off=off), projected]
    return "\n\n".join(
        "\n".join(wrapped(part, width)) if isinstance(part, str) else columns(part, width)
        for part in parts
    )


def evidence_json(table: EvidenceTable) -> dict[str, Any]:
    """The same as plain data, with the regret of every rule by source."""
    rule = ("key", "name", "formula", "meaning", "source", "wording")
    paired = None
    if table.rows:
        against = gain(table.best, table.default)
        error = against.error if against.sources > 1 else None
        paired = against._asdict() | {"error": error, "told": against.told}
    return {
        "rules": [
            {name: getattr(s.rule, name) for name in rule}
            | {
                "regret": s.mean,
                "worst": s.worst,
                "loss": s.loss,
                "best": s.hits,
                "grids": len(s.outcomes),
                "regret_by_source": s.sources,
                "loss_by_source": s.losses,
                "may_be_chosen": s.rule.key in table.choices,
            }
            for s in table.scores
        ],
        "against_default": paired,
        "left_out": [plain_data(row) | {"chosen": row.chosen.key} for row in table.rows],
        "held_out": table.held_out if table.rows else None,
        "projections": [plain_data(p) for p in projections()],
    }

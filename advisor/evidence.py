"""How every rule does on the published grids: as text, and as plain data."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any

from .answer import plain_data
from .base.quantities import size
from .layout import columns, wrapped
from .rule_scores import LEVEL, UNTOLD, foresight, gain, projections, uses
from .words import say

if TYPE_CHECKING:
    from .rule_scores import Choice, EvidenceTable


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
    after: list[tuple[str, ...]] = [
        ("rule", "year", "shapes", "built / rule", "off by", "shallower", "grids", "regret")
    ]
    for f in foresight():
        name = f.rule or say("evidence.default", f=f)
        ratios = (f"{f.factor:.2f}", f"{f.spread:.2f}") if f.shapes else ("", "")
        later = "" if f.regret is None else f"{f.regret:.3f}"
        counts = f"{f.shallower}/{f.shapes}", str(f.grids)
        after.append((name, str(f.year), str(f.shapes), *ratios, *counts, later))
    used: list[tuple[str, ...]] = [("model", "12 L d^2", "built", "fit", "+-")]
    for u in uses():
        solved = (f"{u.solved:.1f}", f"{u.error:.1f}")
        used.append((u.model, size(u.parameters), str(u.stated), *solved))
    parts: list[str | list[tuple[str, ...]]] = [say("evidence.rules"), every]
    if table.rows and table.best.rule != table.default.rule:
        against = gain(table.best, table.default)
        parts.append(say("evidence.against-default", table=table, against=str(against)))
    if table.choice and len(table.choices) > 1:
        alike = "; ".join(r.name for r in table.choice.alike)
        parts += [say("evidence.choice", c=table.choice, alike=alike, percent=100 * LEVEL)]
        parts.append(_pairs(table))
    parts += [say("evidence.fails"), _fails(table)]
    known = {"settled": table.settled, "by_scores": table.by_scores}
    left_out = say("evidence.left-out", untold=100 * UNTOLD, **known)
    parts += [left_out, rows, say("evidence.foresight"), after]
    parts += [say("evidence.projections", off=off), projected, say("evidence.uses"), used]
    return "\n\n".join(
        "\n".join(wrapped(part, width)) if isinstance(part, str) else columns(part, width)
        for part in parts
    )


def _pairs(table: EvidenceTable) -> list[tuple[str, ...]]:
    """p of each pair of rules that may be followed, each named once by its key."""
    scored = [s for s in table.scores if s.rule.key in table.choices]
    rows: list[tuple[str, ...]] = [("rule", "regret", *(s.rule.key for s in scored[:-1]))]
    for i, s in enumerate(scored):
        chances = [f"{gain(other, s).chance:.2f}" for other in scored[:i]]
        rows.append((s.rule.key, f"{s.mean:.3f}", *chances, *[""] * (len(scored) - 1 - i)))
    return rows


def _fails(table: EvidenceTable) -> list[tuple[str, ...]]:
    """The other rules, and the names of the predicates that each fails."""
    failing = [s.rule for s in table.scores if s.rule.fails]
    return [("rule", "fails"), *((r.name, "; ".join(r.fails)) for r in failing)]


def _choice(c: Choice) -> dict[str, Any]:
    alike = [r.key for r in c.alike]
    return {"rule": c.rule.key, "best": c.best.key, "alike": alike, "kept": c.kept, "level": LEVEL}


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
                "fails": s.rule.fails,
            }
            for s in table.scores
        ],
        "against_default": paired,
        "choice": table.choice and _choice(table.choice),
        "left_out": [plain_data(row) | {"chosen": row.chosen.key} for row in table.rows],
        "held_out": table.held_out if table.rows else None,
        "foresight": [plain_data(f) for f in foresight()],
        "projections": [plain_data(p) for p in projections()],
        "uses": [plain_data(u) for u in uses()],
    }

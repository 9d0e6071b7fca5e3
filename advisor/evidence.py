"""How every rule does on the published grids: as text, and as plain data."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any

from .answer import plain_data
from .base.quantities import size
from .layout import columns, wrapped
from .rule_scores import UNTOLD, gain, projections

if TYPE_CHECKING:
    from .rule_scores import EvidenceTable


def evidence(table: EvidenceTable, width: int = 80) -> str:
    """How every rule does on the published grids, how the recommendation does on each source that
    it was not chosen by, and Levine's projections beside the fit."""
    legend = (
        "Regret: where the depth of a rule lies between the best (0) and the worst (1) of a grid, "
        "read between its nets; mean over the grids of a source, then over sources. loss: regret "
        "in percent of the loss, where losses are published. best: grids whose best net is the "
        "nearest. *: the rules that may be chosen, which were published for plain residuals and "
        "name a depth to build."
    )
    every = [("rule", "says", "regret", "worst", "loss %", "best")] + [
        (
            s.rule.name + " *" * (s.rule.key in table.choices),
            s.rule.meaning,
            f"{s.mean:.3f}",
            f"{s.worst:.2f}",
            "" if s.loss is None else f"{100 * s.loss:.2f}",
            f"{s.hits}/{len(s.outcomes)}",
        )
        for s in table.scores
    ]
    left_out = (
        "Each source judges what the others choose, without rules that were read off it. built: "
        "the same of what the advisor builds, which above the sizes of the grids of losses takes "
        f"the shallowest depth within {100 * UNTOLD:g} % of the rule's loss. best, worst: on how "
        "many grids the interval of the other sources holds the best depth, and the worst."
    )
    if table.settled:
        left_out += (
            " Whichever source is left out, the others choose the same rule, so its score "
            "here is the one above and no score on new sources; which rules may be chosen "
            "was settled with the scores in view."
        )
    texts = [left_out]
    if table.rows and table.best.rule != table.default.rule:
        against = f"{table.best.rule.name} against {table.default.rule.formula}, by source: "
        texts.insert(0, f"{against}{gain(table.best, table.default)}.")
    rows: list[tuple[str, ...]] = [
        ("source", "chosen by the others", "regret", "built", "d = 64 L", "best", "worst")
    ]
    rows += [
        (
            row.source,
            row.chosen.name,
            f"{row.regret:.2f}",
            f"{row.built:.2f}",
            f"{row.default:.2f}",
            f"{row.inside}/{row.asked}",
            f"{row.losers}/{row.asked}",
        )
        for row in table.rows
    ]
    means = (table.held_out, table.held_out_built, table.of("nanochat").mean)
    rows.append(("all", "", *(f"{mean:.3f}" for mean in means), "", ""))
    projected = [("model", "parameters", "stated", "fit", "+-", "")] + [
        (
            p.model,
            size(p.parameters),
            str(p.stated),
            f"{p.solved:.1f}",
            f"{p.error:.1f}",
            "" if p.matches else "not equal after rounding",
        )
        for p in projections()
    ]
    # Upwards: none is further off than what is printed.
    off = math.ceil(10 * max(abs(p.stated - p.solved) / p.error for p in projections())) / 10
    return "\n\n".join(
        [
            "\n".join(wrapped(legend, width)),
            columns(every, width),
            *("\n".join(wrapped(text, width)) for text in texts),
            columns(rows, width),
            "\n".join(
                wrapped(
                    "Depths that Levine et al. project (recalled) beside their fit solved for the "
                    f"size, with its standard error (none is further off than {off:.1f} of these):",
                    width,
                )
            ),
            columns(projected, width),
        ]
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

"""The table "least depth of a task": for each kind of net what is known from below and from above,
who says so, and what came of it. Which claims speak of which task stands in least_depth.csv."""
from __future__ import annotations

import csv
from collections.abc import Mapping
from importlib.resources import files

from depthlaw.theory.claim import Claim
from depthlaw.theory.notation import latex

from ..verdicts.citations import sources
from ..verdicts.report import ClaimResult, verdict_name
from .typesetting import maths, prose

__all__ = ["rows", "table"]


def rows() -> list[dict[str, str]]:
    """The rows as they are listed: task, nets, bound (lower, upper or exact) and claim.

    >>> rows()[0]["bound"]
    'exact'
    """
    text = (files(__package__) / "least_depth.csv").read_text(encoding="utf-8")
    return list(csv.DictReader(text.splitlines()))


def table(judged: Mapping[str, ClaimResult | None]) -> str:
    """The table in Markdown; a claim of which nothing is recorded is not run."""
    lines = [":::{container} compact\n",
             "| task | nets | lower bound | upper bound | who | verdict |",
             "|---|---|---|---|---|---|"]
    for row in rows():
        result = judged[row["claim"]]
        if result is None:
            continue
        bound = _bound(result.claim)
        lower = bound if row["bound"] in ("lower", "exact") else ""
        upper = bound if row["bound"] in ("upper", "exact") else ""
        lines.append(f"| {prose(row['task'])} | {prose(row['nets'])} | {lower} | {upper} | "
                     f"{_who(result.claim)} | "
                     f"[{verdict_name(result)}](/claims/{result.claim.key}.md) |")
    return "\n".join([*lines, ":::"])


def _bound(claim: Claim) -> str:
    """The number of layers, where the statement gives one; else what it says."""
    says = claim.statement
    names = {symbol.name for symbol in says.free_symbols}
    if "depth" in names:
        return maths(latex(says))
    layers = {"minimal_depth", "doubling_layers", "trained_depth", "layers_needed", "layers_used",
              "lookup_layers", "attention_layers", "count_depth"}
    return maths(latex(says.rhs)) if says.lhs.is_Symbol and says.lhs.name in layers \
        else prose(claim.title)


def _who(claim: Claim) -> str:
    named = [key for key in sources(str(claim.source)) if key != "depthlaw"]
    cited = ", ".join(f"{{cite:t}}`{key}`" for key in named)
    if claim.source.key == "depthlaw":
        return f"derived here, after {cited}" if cited else "derived here"
    return f"{cited} ({claim.wording})"

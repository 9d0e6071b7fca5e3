"""The table "least depth of a task": for each kind of net what is known from below and from above,
who says so, and what came of it. Which claims speak of which task stands in least_depth.csv."""

from __future__ import annotations

import csv
from collections.abc import Iterable, Mapping
from importlib.resources import files

from depthlaw.theory.claims.definition import Claim
from depthlaw.theory.claims.printing import latex

from ...verdicts.citations import sources
from ...verdicts.suite_verdicts import ClaimResult, marked
from ..appendix.typesetting import maths, pipe_table, prose, verdict


def rows() -> list[dict[str, str]]:
    """The rows as they are listed: task, nets, bound (lower, upper or exact; printed: an upper one
    that no claim checks, whose printed count the claim inverts), claim, and in layers the bound
    where the claim's statement is about something else.

    >>> rows()[0]["bound"]
    'exact'
    """
    text = (files(__package__) / "least_depth.csv").read_text(encoding="utf-8")
    return list(csv.DictReader(text.splitlines()))


def table(judged: Mapping[str, ClaimResult | None]) -> str:
    """Two tables in Markdown, of statements about nets and of trainings; what is not recorded is
    left out."""
    pairs = [(row, result) for row in rows() if (result := judged[row["claim"]]) is not None]
    theory = [row for row in pairs if row[1].claim.weight != "measurement"]
    trained = [row for row in pairs if row not in theory]
    after = (
        "Trained nets, at the sizes, tasks and numbers of updates that were tried: what the "
        "best or the worst of our seeds reached, no bound for others."
    )
    return "\n\n".join([_table(theory), after, _table(trained)])


def _table(rows: Iterable[tuple[dict[str, str], ClaimResult]]) -> str:
    cells = []
    for row, result in rows:
        bound = prose(row["layers"]) or maths(latex(result.claim.statement.rhs))
        lower = bound if row["bound"] in ("lower", "exact") else "\u2013"
        upper = bound if row["bound"] in ("upper", "exact", "printed") else "\u2013"
        printed = row["bound"] == "printed"
        who = _cited(result.claim) + ", printed" if printed else _who(result.claim)
        word = (
            "not checked here"
            if printed
            else (f"[{verdict(marked(result))}](/claims/{result.claim.key}.md)")
        )
        cells.append((prose(row["task"]), prose(row["nets"]), lower, upper, who, word))
    listed = pipe_table("task | nets | lower bound | upper bound | who | verdict", cells)
    return f":::{{container}} compact\n\n{listed}\n:::"


def _cited(claim: Claim) -> str:
    named = [key for key in sources(str(claim.source)) if key != "depthlaw"]
    return ", ".join(f"{{cite:t}}`{key}`" for key in named)


def _who(claim: Claim) -> str:
    cited = _cited(claim)
    if claim.source.key == "depthlaw":
        return f"here, after {cited}" if cited else "here"
    return f"{cited}, {claim.wording}"

"""The tables of docs/depth-evidence.md, rules of depth scored by published grids, and those of
docs/how-to/loop-mix-or-grow.md, what was published of loops, hybrids and growing nets."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Sequence
from itertools import combinations

from depthlaw.advisor.architecture import Architecture
from depthlaw.advisor.base.quantities import size
from depthlaw.advisor.grids import Grid, grids, rows
from depthlaw.advisor.hybrids import hybrid_advice
from depthlaw.advisor.initialisation_advice import rows as rows_of
from depthlaw.advisor.loops import published_loops
from depthlaw.advisor.rule_scores import (
    Comparison,
    Pool,
    Scores,
    foresight,
    gain,
    interval,
    projections,
    table,
    uses,
)
from depthlaw.advisor.words import say

from ..appendix.typesetting import md, pipe_table, prose
from ..drawing.panels import Panel, Series

_two, _three = "{:.2f}".format, "{:.3f}".format


def part(name: str) -> str:
    """One of the tables, in Markdown.

    Raises:
        KeyError: for a name that no table has.
    """
    return _PARTS[name]()


def _scores() -> str:
    scores = table()
    return _table(
        "rule | says | may be followed | regret: | worst source: | loss, %: | best net picked: "
        "| outside:",
        (
            (
                s.rule.name,
                s.rule.meaning,
                "no: " + "; ".join(s.rule.fails) if s.rule.fails else "yes",
                _three(s.mean),
                _two(s.worst),
                "" if s.loss is None else _two(100 * s.loss),
                f"{s.hits} of {len(s.outcomes)}",
                str(sum(o.beyond for o in s.outcomes)),
            )
            for s in scores.scores
        ),
    )


def regrets() -> Panel:
    """The regret of every rule on each source, and its mean over them; of a name what fits."""
    scores = table().scores
    names = tuple(score.rule.name.partition(", best")[0] for score in scores)
    each = [(at, regret) for at, s in enumerate(scores, 1) for regret in s.sources.values()]
    places, heights = zip(*each, strict=True)
    means = tuple(s.mean for s in scores)
    series = (
        Series("a source's regret", places, heights, kind="points"),
        Series("mean of sources", (*range(1, len(names) + 1),), means, kind="points"),
    )
    least = math.floor(100 * min(s.worst for s in scores)) / 100
    title = f"Every rule has a source where its regret is {least} or more"
    return Panel(title, "", "regret", series, x_names=names)


def _sources() -> str:
    scores = table()

    def cell(score: Scores, source: str) -> str:
        return _two(score.sources[source]) + ("\\*" if score.rule.read_off == source else "")

    return _table(
        " | ".join(["rule", *(f"{md(source)}:" for source in scores.sources)]),
        ((s.rule.name, *(cell(s, source) for source in scores.sources)) for s in scores.scores),
    )


def _pairs() -> str:
    scores = table()
    eligible = [s for s in scores.scores if s.rule.key in scores.choices]
    return _table(
        "rule | against | mean gain: | standard error: | better on: | worse on: | p:",
        (
            (
                *(one.rule.name, other.rule.name),
                *map(_three, ((g := gain(one, other)).mean, g.error)),
                *map(str, (g.better, g.worse)),
                _two(g.chance),
            )
            for one, other in combinations(eligible, 2)
        ),
    )


def _left_out() -> str:
    scores = table(pool="published")
    better = sum(row.regret < row.default for row in scores.rows)
    worse = sum(row.regret > row.default for row in scores.rows)
    lines = _table(
        "source | grids | the others choose | regret here: | best rule in hindsight: | d = 64 L: "
        "| best depth inside the others' interval: | worst depth inside it:",
        (
            (
                *(row.source, str(row.grids), row.chosen.name),
                *map(_two, (row.regret, row.best, row.default)),
                *(f"{n} of {row.asked}" if row.asked else "none" for n in (row.inside, row.losers)),
            )
            for row in scores.rows
        ),
    )
    followed = table()
    return (
        f"{lines}\n\nOver all sources: {_three(scores.held_out)} for the choice of the others, "
        f"{_three(scores.best.mean)} for the best single rule that may be followed, in hindsight "
        f"({md(scores.best.rule.name)}), {_three(scores.default.mean)} for d = 64 L. Against "
        f"d = 64 L the choice is better on {better} of {len(scores.rows)} sources, worse on "
        f"{worse}. The rule that is followed ({md(followed.best.rule.name)}) has "
        f"{_three(followed.held_out)}, whichever source is left out; "
        f"{_three(followed.held_out_built)} as it is built."
    )


def _sensitivity() -> str:
    pools: dict[Pool, str] = {
        "followed": "the rule that is followed, until one is told from it",
        "published": "the least regret of the rules that may be followed",
        "held": "the same, muP's d / L constant beyond 1.5B",
        "standard": "of those the ones for the standard parametrisation",
        "both": "the published ones, and the family",
        "family": "the family alone",
        "all": "every rule: bounds, best Gemstones nets and what is built too",
    }
    compared = {
        Comparison(): "between cells, at equal size by N^-0.076",
        Comparison(0.0): "between cells, losses as published",
        Comparison(nearest=True): "at the nearest cell, at equal size",
    }
    return _table(
        "may be chosen | grids are read | chosen | regret: | left out: | d = 64 L:",
        (
            (
                says,
                how,
                (scores := table(way, pool=pool)).best.rule.name,
                *map(_three, (scores.best.mean, scores.held_out, scores.default.mean)),
            )
            for pool, says in pools.items()
            for way, how in compared.items()
        ),
    )


def _grids() -> str:
    return _table(
        "source | grid | 12 L d^2 | measure | layers: value (** the best) | how known",
        (
            (g.source, g.name, f"{12 * g.volume / 1e6:,.0f}M", g.measure, _cells(g), g.wording)
            for g in grids()
            if g.scored
        ),
        raw=4,
    )


def _cells(grid: Grid) -> str:
    bold = {cell: "" if grid.share(cell) else "**" for cell in grid.cells}
    return ", ".join(f"{bold[c]}{c.layers}: {c.value}{bold[c]}" for c in grid.cells)


def _not_scored() -> str:
    groups = {(g.source, g.place): g for g in grids() if not g.scored}
    optima = {(r["source"], r["grid"]): r for r in rows() if "d/L" in r["measure"]}
    lines = [(g.source, g.kind, g.measure, g.place) for g in groups.values()]
    lines += [
        (source, grid, f"{r['measure']} = {r['value']}", r["place"])
        for (source, grid), r in optima.items()
    ]
    return _table("source | what | measure | place", lines)


def _intervals() -> str:
    intervals = [(size, interval(size)) for size in (1e8, 3e8, 1e9, 3e9, 1e10, 1e11)]
    return _table(
        "12 L d^2 | layers | by what",
        ((f"{size:.0e}", f"{i.low} to {i.high}", i.why) for size, i in intervals if i),
    )


def _projections() -> str:
    return _table(
        "model | stated in | parameters: | stated: | fit: | standard error: "
        "| equal after rounding:",
        (
            (
                p.model,
                p.stated_in,
                f"{p.parameters:,}",
                str(p.stated),
                *map(_two, (p.solved, p.error)),
                "yes" if p.matches else "**no**",
            )
            for p in projections()
        ),
        raw=6,
    )


def _foresight() -> str:
    return _table(
        "rule | year: | shapes built since: | built / rule: | off by a factor: | shallower: "
        "| grids since: | regret there:",
        (
            (
                f.rule or "the default of that year",
                *map(str, (f.year, f.shapes)),
                *(_two(x) if f.shapes else "" for x in (f.factor, f.spread)),
                *map(str, (f.shallower, f.grids)),
                "" if f.regret is None else _three(f.regret),
            )
            for f in foresight()
        ),
    )


def _uses() -> str:
    return _table(
        "model | 12 L d^2: | built: | fit: | source",
        (
            (u.model, f"{u.parameters:,}", str(u.stated), _two(u.solved), u.stated_in)
            for u in uses()
        ),
    )


def _loops() -> str:
    return _table(
        "net | passes: | tokens: | the law says: | its source: | as if | note | source | mark",
        (
            (
                p.name,
                str(p.loops),
                *("" if n is None else size(n) for n in (p.tokens, p.parameters, p.equal)),
                f"R^{p.exponent:.2f}, by {p.by}" if p.exponent else "",
                *(p.note, p.source, p.wording),
            )
            for p in published_loops()
        ),
    )


def _hybrids() -> str:
    known = hybrid_advice(Architecture(24, 2048, 16, 8192, 32000), "gated-deltanet")
    lines = (row for row in rows_of("hybrids") if row["code"] not in ("ratio", "counts"))
    return _table(
        "what is known | theory's class of the mixer | source | mark",
        (
            (
                say(f"hybrid.{row['code']}", h=known),
                row["of"] or "any",
                row["source"],
                row["wording"],
            )
            for row in lines
        ),
    )


def _growth() -> str:
    lines = (row for row in rows_of("advice") if row["situation"].startswith("grow"))
    return _table(
        "what | says | conditions | source | mark",
        ([row[name] for name in ("what", "says", "holds", "source", "wording")] for row in lines),
    )


_PARTS: dict[str, Callable[[], str]] = {
    "scores": _scores,
    "sources": _sources,
    "pairs": _pairs,
    "left-out": _left_out,
    "sensitivity": _sensitivity,
    "grids": _grids,
    "not-scored": _not_scored,
    "intervals": _intervals,
    "projections": _projections,
    "foresight": _foresight,
    "uses": _uses,
    "loops": _loops,
    "hybrids": _hybrids,
    "growth": _growth,
}


def _table(heading: str, lines: Iterable[Sequence[str]], raw: int = -1) -> str:
    """A table; one column is Markdown already, and cells with a star are."""

    def cell(place: int, text: str) -> str:
        return text if place == raw or "\\*" in text else prose(text)

    return pipe_table(heading, ([cell(*each) for each in enumerate(line)] for line in lines))

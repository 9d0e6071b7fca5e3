"""Rules of depth scored by published grids, the recommendation that follows, and its interval.

A rule is charged what a grid says at the depth it asks for at the grid's volume L d^2, linear in
ln L between cells. (By the nearest cell alone, a rule whose depth lies between two cells is judged
by which side it falls on.) Values differ in unit, so the score is the regret as a share of the
grid's range: 0 for the best cell, 1 for the worst; where a grid prints only an order of two nets,
0 or 1. Regrets relative to the best loss stand beside it, for grids of losses alone. Grids are
averaged within a source, and sources with equal weights.

The recommendation is the rule of the least mean score among published rules for plain residuals
that name a depth to build. How far that can be trusted is shown by leaving each source out: the
others choose, without the rules that were read off the one left out, and it judges; and by the
same for other sets of rules.
"""
from __future__ import annotations

import csv
import math
from collections import defaultdict
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from statistics import fmean
from typing import Literal, NamedTuple, get_args

from . import laws
from .grids import (
    NEAR,
    SIZE_EXPONENT,
    STANDARD,
    Grid,
    Key,
    Price,
    grids,
    least_ratio,
    losses_near,
    price,
)
from .rules import Rule, family, mup_held, rule, rules

__all__ = [
    "Interval", "Key", "Outcome", "Price", "Projection", "Row", "Scores", "Table", "best_rule",
    "interval", "outcomes", "price", "projection_rows", "projections", "reason",
    "score", "table"]

Pool = Literal["published", "held", "standard", "family", "both", "all"]
# How much more loss the interval allows: what E1 of the sources calls compute-efficient.
TOLERANCE = 0.01


class Comparison(NamedTuple):
    """How grids are read."""

    size_exponent: float = SIZE_EXPONENT  # losses are compared at equal size by N^-exponent
    nearest: bool = False  # at the nearest cell, instead of between cells


COMPARISON = Comparison()


class Outcome(NamedTuple):
    """What a rule does on one grid."""

    grid: Grid
    depth: float  # asked for
    layers: int  # of the nearest cell
    share: float  # its regret: 0 for the best cell, 1 for the worst
    loss: float | None  # its regret relative to the best loss, for grids of losses
    hit: bool  # no cell is better than the nearest
    beyond: bool  # the depth lies outside the depths of the grid


@dataclass(frozen=True)
class Scores:
    """A rule over all sources; sources have equal weights, and so have the grids of a source."""

    rule: Rule
    sources: dict[str, float]  # mean share for each source
    losses: dict[str, float]  # mean relative regret in loss, for sources with losses
    outcomes: tuple[Outcome, ...]

    @property
    def mean(self) -> float:
        """Mean share over sources."""
        return fmean(self.sources.values()) if self.sources else math.nan

    @property
    def worst(self) -> float:
        """The greatest share of any source."""
        return max(self.sources.values(), default=math.nan)

    @property
    def loss(self) -> float | None:
        """Mean relative regret in loss over the sources that print losses."""
        return fmean(self.losses.values()) if self.losses else None

    @property
    def hits(self) -> int:
        """On how many grids no cell is better."""
        return sum(outcome.hit for outcome in self.outcomes)


@dataclass(frozen=True)
class Interval:
    """The depths that lose at most 1 % of the best loss by published grids. By Marin's fits 1 % of
    a loss of 2.6 is worth a fifth to a quarter of the compute: the interval is no indifference.
    """

    low: int
    high: int
    why: str  # one sentence
    sources: tuple[str, ...]
    extrapolated: bool = False  # no grid has nets of this size
    ended: bool = False  # the deep end is where training ended, not where the loss grew


@dataclass(frozen=True)
class Row:
    """One source, and what happens when the recommendation is chosen without it."""

    source: str
    grids: int
    chosen: Rule  # by the other sources
    share: float  # its regret here
    loss: float | None
    best: float  # of the best single rule in hindsight
    default: float  # of d = 64 L
    inside: int  # best depths inside the interval of the other sources,
    losers: int  # worst depths inside it,
    asked: int  # out of so many grids for which there is one


@dataclass(frozen=True)
class Table:
    """The evidence table: every rule over all sources, and the recommendation without each."""

    scores: tuple[Scores, ...]  # best first
    rows: tuple[Row, ...]
    best: Scores  # of the rule with the least mean among those that may be chosen
    default: Scores  # of d = 64 L, whatever was known

    @property
    def sources(self) -> tuple[str, ...]:
        """Whose grids are scored, in the order of grids.csv."""
        return tuple(row.source for row in self.rows)

    @property
    def held_out(self) -> float:
        """Mean share of the recommendation, each source by what the others choose."""
        return fmean(row.share for row in self.rows) if self.rows else math.nan

    def of(self, key: str) -> Scores:
        """The scores of one rule."""
        return next(s for s in (*self.scores, self.default) if s.rule.key == key)


@cache
def _scored(how: Comparison, known_by: int | None) -> tuple[Grid, ...]:
    return tuple(g for g in grids(how.size_exponent)
                 if g.scored and (known_by is None or g.year <= known_by))


def outcomes(
    each: Rule, how: Comparison = COMPARISON, known_by: int | None = None,
) -> tuple[Outcome, ...]:
    """What a rule does on every scored grid, those that it was read off included."""
    found = []
    for grid in _scored(how, known_by):
        depth = each.depth(grid.volume, per_layer=1)
        cell = grid.nearest(depth)
        place = cell.layers if how.nearest else depth
        found.append(Outcome(
            grid, depth, cell.layers, grid.at(place, grid.share),
            grid.at(place, grid.loss_regret) if grid.is_loss else None, grid.share(cell) == 0,
            not grid.cells[0].layers <= depth <= grid.cells[-1].layers))
    return tuple(found)


@cache
def score(
    each: Rule, how: Comparison = COMPARISON, known_by: int | None = None,
) -> Scores:
    """A rule scored by every source.

    >>> score(rule("nanochat")).sources["codelion"] < score(rule("levine")).sources["codelion"]
    True
    """
    found = outcomes(each, how, known_by)
    shares, losses = defaultdict(list), defaultdict(list)
    for outcome in found:
        shares[outcome.grid.source].append(outcome.share)
        if outcome.loss is not None:
            losses[outcome.grid.source].append(outcome.loss)
    return Scores(each, {source: fmean(values) for source, values in shares.items()},
                  {source: fmean(values) for source, values in losses.items()}, found)


def _chosen(
    candidates: tuple[Scores, ...], without: str | None = None,
) -> Rule:
    """The rule of the least mean share over all sources but one. Ties go to the least worst share,
    then to published rules before the family, the older first."""
    def cost(scores: Scores) -> tuple[float, float]:
        shares = [v for source, v in scores.sources.items() if source != without]
        return (round(fmean(shares), 9), round(max(shares), 9)) if shares else (math.inf, math.inf)

    return min(candidates, key=cost).rule


@cache
def _candidates(
    how: Comparison, known_by: int | None, pool: Pool = "published",
) -> tuple[Scores, ...]:
    found = [] if pool == "family" else [
        r for r in rules(known_by) if pool == "all" or (r.recommends and (
            r.applies == STANDARD if pool == "standard" else r.applies.residual == "plain"))]
    if pool == "held":
        found = [mup_held() if r.key == "mup" else r for r in found]
    if pool in ("family", "both", "all"):
        found += family(known_by)
    return tuple(score(r, how, known_by) for r in found)


@cache
def best_rule(key: Key = STANDARD, known_by: int | None = None) -> Rule:
    """The rule that the advisor follows: for the standard parametrisation and plain residuals the
    one with the least mean regret among published rules for plain residuals that name a depth to
    build, whatever their parametrisation; for muP, CompleteP and attention residuals, of which no
    grid is published cell by cell, the optimum published for them (for CompleteP that of muP: its
    paper says that other shapes lose less, not that another one is best). The norm makes no
    difference: no grid compares depths in another norm.

    Args:
        known_by: a year; rules and grids of later years are left out.

    >>> best_rule(Key("mup")).key, best_rule(Key(residual="attnres")).key
    ('mup', 'attnres')
    """
    wanted = Key("standard" if key.parametrisation == "standard" else "mup", residual=key.residual)
    if wanted != STANDARD:
        for special in (Key(residual=wanted.residual), Key(wanted.parametrisation)):
            if special != STANDARD:
                for each in rules(known_by):
                    if each.applies == special and each.meaning == "optimum":
                        return each
    return _winner(COMPARISON, known_by, "published")


def _winner(how: Comparison, known_by: int | None, pool: Pool) -> Rule:
    """Without any grid: the oldest rule, or today's default."""
    if not _scored(how, known_by):
        return next((r for r in rules(known_by) if r.recommends), rule("nanochat"))
    return _chosen(_candidates(how, known_by, pool))


def reason(key: Key = STANDARD, known_by: int | None = None, brief: bool = False) -> str:
    """Why `best_rule` is the one, in a sentence with its numbers, or in a shorter one."""
    chosen, found = best_rule(key, known_by), table(known_by=known_by)
    if Key(key.parametrisation, residual=key.residual) != STANDARD != chosen.applies:
        return f"the optimum published for this kind of net ({chosen.source}; {chosen.wording})"
    if not found.rows:
        return ("the oldest rule: no grid was published by then" if chosen in rules(known_by)
                else "no rule was published by then: today's default")
    mean, default = found.best.mean, found.default.mean
    published = any(r.key == "nanochat" for r in rules(known_by))
    beside = f"; d = 64 L: {default:.2f}" if published else ""
    if brief:
        standard = table(known_by=known_by, pool="standard").held_out
        return (f"{chosen.wording}, least mean regret ({mean:.2f}{beside}); held out "
                f"{found.held_out:.2f}, standard rules alone {standard:.2f}: no proof")
    number = len(_candidates(COMPARISON, known_by))
    others = [table(known_by=known_by, pool=pool).held_out for pool in get_args(Pool)]
    return (f"the least mean regret of {number} published rule{'' if number == 1 else 's'} "
            f"over {len(found.rows)} sources ({mean:.2f} of a grid's range{beside}); chosen "
            f"without the source that judges {found.held_out:.2f}, among "
            f"other sets of rules up to {max(others):.2f}")


@cache
def table(
    how: Comparison = COMPARISON, known_by: int | None = None, pool: Pool = "published",
) -> Table:
    """Every rule scored by every source, and the recommendation chosen without each.

    Args:
        how: losses are compared at equal size by an exponent (0 takes them as published), and
            grids are read between their cells, or at the nearest one.
        known_by: a year; rules and grids of later years are left out.
        pool: what may be chosen: published rules for plain residuals that name a depth to build;
            "held": the same with muP's ratio constant beyond the sizes it was published for;
            of those the ones for the standard parametrisation; the family alone; "both": the
            published ones and the family; or "all" rules, bounds and what is built too.
    """
    published = [score(r, how, known_by) for r in rules(known_by)]
    candidates = _candidates(how, known_by, pool)
    best = score(_winner(how, known_by, pool), how, known_by)
    shown = published if best.rule in rules(known_by) else [*published, best]
    default = score(rule("nanochat"), how, known_by)
    found = []
    for source in dict.fromkeys(g.source for g in _scored(how, known_by)):
        chosen = _chosen(tuple(c for c in candidates if c.rule.read_off != source), source)
        scores = score(chosen, how, known_by)
        own = [g for g in _scored(how, known_by) if g.source == source]
        found.append(Row(
            source, len(own), chosen, scores.sources[source], scores.losses.get(source),
            best.sources.get(source, math.nan), default.sources.get(source, math.nan),
            *_covered(own, source, known_by)))
    shown = [scores for scores in shown if scores.sources]
    return Table(tuple(sorted(shown, key=lambda s: (s.mean, s.worst))), tuple(found), best,
                 default)


def _covered(own: list[Grid], source: str, known_by: int | None) -> tuple[int, int, int]:
    """On how many grids of a source the interval of the others holds a best depth, on how many a
    worst one, of how many that have an interval: one that is wide holds both."""
    found = [(g, within) for g in own
             if (within := interval(g.volume, 1, known_by=known_by, without=source))]

    def holds(share: float) -> int:
        return sum(any(each.low <= cell.layers <= each.high
                       for cell in g.cells if g.share(cell) == share) for g, each in found)

    return holds(0), holds(1), len(found)


def interval(
    parameters: float, per_layer: float = 12.0, key: Key = STANDARD, *,
    known_by: int | None = None, without: str | None = None,
) -> Interval | None:
    """The depths whose loss is within 1 % of the best by every grid of losses of this size.

    Regret is linear in ln(d / L) between the cells of a grid. An end is the tightest place where a
    grid of the size class crosses 1 %; where none does, the end of what was trained, which is said.
    Where the least d / L within 1 % is published for the parametrisation, it is the deep end. None
    where there is no grid at all.

    Args:
        parameters: N without embeddings. per_layer: c of N = c L d^2.
        known_by: a year; later sources are left out. without: a source that is left out.
    """
    volume = parameters / per_layer
    near, extrapolated = losses_near(volume, known_by, without)
    if not near:
        return None
    ends = [grid.within(TOLERANCE) for grid in near]
    deep = [r for (r, crossed), _ in ends if crossed]
    wide = [r for _, (r, crossed) in ends if crossed]
    low = max([*deep, min(r for (r, _), _ in ends)])
    high = min([*wide, max(r for _, (r, _) in ends)])
    sources = list(dict.fromkeys(g.source for g in near))
    if low > high:
        low, high = high, low
        notes = ["grids of this size disagree"]
    else:
        ended = (("deeper", deep), ("wider", wide))
        notes = [f"no {which} net was trained" for which, crossed in ended if not crossed]
    if key.norm != "pre":
        notes.append("these nets are pre-norm")
    if extrapolated:
        notes.append("no grid has nets of this size: the nearest were asked")
    said = f"d / L from {{low:.0f}} to {{high:.0f}} loses at most 1 % by {' and '.join(sources)}"
    published = least_ratio(key)
    if published is not None and without != "CompleteP" and (known_by is None or known_by >= 2025):
        low, sources = published, [*sources, "CompleteP"]
        said = (f"d / L from {{low:.1f}} (CompleteP, measured at 1.5B) to {{high:.0f}} "
                f"({sources[0]}, standard nets) loses at most 1 %")
        notes = [n for n in notes if "deeper" not in n]
        extrapolated = True
    elif Key(key.parametrisation, residual=key.residual) != STANDARD:
        notes.append("measured on standard nets")
        extrapolated = True

    def layers(ratio: float) -> float:
        return laws.aspect_depth(12 * volume, ratio)

    shallow, deepest = layers(high), layers(low)
    least = max(1, math.ceil(shallow - 1e-9))
    return Interval(
        least, max(least, math.floor(deepest + 1e-9)),
        "; ".join([said.format(low=low, high=high), *notes]), tuple(sources), extrapolated,
        any("deeper" in note for note in notes))


def contradicting(
    parameters: float, layers: int, per_layer: float = 12.0, known_by: int | None = None,
) -> tuple[str, ...]:
    """What scored grids at most a factor 4 away in size have against a depth: those that put it in
    the worse half of their range.

    >>> contradicting(3.1e8, 12, 32 / 3)[-1]
    'MobileLLM: 32 layers beat 12'
    """
    volume = parameters / per_layer
    found = []
    for grid in _scored(COMPARISON, known_by):
        if 1 / NEAR <= grid.volume / volume <= NEAR and grid.at(layers, grid.share) > 0.5:
            found.append(f"{grid.source}: {grid.best.layers} layers beat "
                         f"{grid.nearest(layers).layers}")
    return tuple(dict.fromkeys(found))


# --- Levine's projections -------------------------------------------------------------------------


class Projection(NamedTuple):
    """A row of Levine's table of projected shapes beside the solution of the fit."""

    model: str
    stated_in: str
    parameters: int
    stated: int
    solved: float
    error: float  # standard error of the solution
    matches: bool  # the solution rounds to what is stated


@cache
def projection_rows() -> tuple[dict[str, str], ...]:
    """The rows of projections.csv as recalled."""
    with (Path(__file__).parent / "projections.csv").open(encoding="utf-8", newline="") as file:
        return tuple(csv.DictReader(file))


@cache
def projections() -> tuple[Projection, ...]:
    """The projected depths as stated (recalled), each beside the fit solved for its size.

    >>> [(p.model, p.stated, round(p.solved, 1)) for p in projections() if not p.matches]
    [('GPT-3 Large', 38, 37.4), ('1 trillion', 92, 94.7)]
    """
    return tuple(
        Projection(row["model"], row["stated_in"], size := int(row["parameters"]),
                   stated := int(row["projected_depth"]), solved := laws.transition_depth(size),
                   laws.transition_depth_error(size), math.floor(solved + 0.5) == stated)
        for row in projection_rows())

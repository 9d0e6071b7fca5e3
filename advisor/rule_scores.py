"""Rules of depth scored by published grids, the recommendation that follows, and its interval.

A rule is charged what a grid says at the depth it asks for at the grid's volume L d^2, linear in
ln L between cells. (By the nearest cell alone, a rule whose depth lies between two cells is judged
by which side it falls on.) Values differ in unit, so the score is the regret as a share of the
grid's range: 0 for the best cell, 1 for the worst; where a grid prints only an order of two nets,
0 or 1. Regrets relative to the best loss stand beside it, for grids of losses alone. Grids are
averaged within a source, and sources with equal weights.

The scores choose no rule. They say which of the eligible ones (`rules.PREDICATES`) the sources do
not tell from the one of the least mean; of these the advisor keeps the one that it follows, or else
takes the oldest. How far choosing by scores could be trusted is shown by leaving each source out:
the others choose, without the rules that were read off the one left out, and it judges; for several
sets of rules.
"""

from __future__ import annotations

import csv
import math
from collections import defaultdict
from collections.abc import Iterable
from dataclasses import dataclass, replace
from functools import cache
from itertools import pairwise
from pathlib import Path
from statistics import fmean, stdev
from typing import Literal, NamedTuple

from . import laws
from .grids import (
    NEAR,
    SIZE_EXPONENT,
    STANDARD,
    Grid,
    NetKind,
    grids,
    least_ratio,
    loss_grids,
    sizes_compared,
)
from .models import Model, models
from .rules import Rule, family, mup_held, rule, rules

Pool = Literal["followed", "published", "held", "standard", "family", "both", "all"]
# How much more loss the interval allows: what E1 of the sources calls compute-efficient.
TOLERANCE = 0.01
# Losses that differ by less are not told apart: no source tells them (answer.percents).
UNTOLD = 0.001
# How many times as large as the largest compared net, or as small as the smallest, one may be whose
# range is still given.
CARRIED = 100
# The level of the exact test that tells two rules apart.
LEVEL = 0.05


class Comparison(NamedTuple):
    """How grids are read."""

    size_exponent: float = SIZE_EXPONENT  # losses are compared at equal size by N^-exponent
    nearest: bool = False  # at the nearest cell, instead of between cells


COMPARISON = Comparison()


class RuleOutcome(NamedTuple):
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
    outcomes: tuple[RuleOutcome, ...]

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

    def cost(self, without: str | None = None) -> tuple[float, float]:
        """Mean share over all sources but one, and the worst share, which parts ties."""
        shares = [v for source, v in self.sources.items() if source != without]
        return (round(fmean(shares), 9), round(max(shares), 9)) if shares else (math.inf, math.inf)


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
    started: bool = False  # the same of the shallow end
    # From where on a grid loses more; beyond an end where training ended that is one of larger nets
    # at the deep end, of smaller ones at the shallow end. What lies between is not known.
    too_deep: int | None = None
    too_shallow: int | None = None
    # The least and the greatest net whose losses were compared, in parameters without embeddings.
    sizes: tuple[float, float] | None = None
    # On which side of them the size lies: "above" or "below", by L d^2. Of a size among them that
    # is extrapolated "kind": they are of other nets.
    side: Literal["", "above", "below", "kind"] = ""

    @property
    def ends(self) -> str:
        """Both ends in words, with a plus or a minus where training ended.

        >>> Interval(10, 1200, "", (), ended=True).ends, Interval(1, 1, "", (), started=True).ends
        ('10 to 1,200+ layers', '1- to 1 layer')
        """
        return (
            f"{self.low:,}{'-' if self.started else ''} to {self.high:,}"
            f"{'+' if self.ended else ''} layer{'s' if self.high > 1 else ''}"
        )

    def far(self, parameters: float) -> bool:
        """Whether it is carried too far to say that a depth loses: no losses lie within a factor of
        100 of so many parameters without embeddings.

        >>> interval(1.7e11, 12).far(1.7e11), interval(1.8e11, 12).far(1.8e11)
        (False, True)
        """
        if self.sizes is None or self.side not in ("above", "below"):
            return False
        return not self.sizes[0] / CARRIED <= parameters <= self.sizes[1] * CARRIED

    def place(
        self, layers: int
    ) -> Literal[
        "inside", "too shallow", "too deep", "shallower than trained", "deeper than trained"
    ]:
        """Where a depth lies. Outside an end where training ended, nothing is known of it."""
        if layers < self.low:
            return "too shallow" if self.trained(layers) else "shallower than trained"
        if layers > self.high:
            return "too deep" if self.trained(layers) else "deeper than trained"
        return "inside"

    def trained(self, layers: int) -> bool:
        """Whether grids of this size reach a depth, so that something is known of its loss."""
        if layers < self.low:
            return self.too_shallow is not None and layers <= self.too_shallow
        return layers <= self.high or (self.too_deep is not None and layers >= self.too_deep)


class Gain(NamedTuple):
    """How much less regret one rule has than another, source by source."""

    mean: float  # of the differences; positive: the first is better
    error: float  # its standard error; nan of a single source
    better: int  # sources on which the first is better,
    worse: int  # and worse; on the others both are equal
    sources: int
    chance: float  # of a mean at least as far from 0, were every sign as likely the other one

    @property
    def told(self) -> bool:
        """Whether the sources tell the two rules apart at 5 %."""
        return self.chance <= LEVEL

    def __str__(self) -> str:
        return (
            f"mean gain {self.mean:.3f}, standard error {self.error:.3f}; better on "
            f"{self.better} of {self.sources} sources, worse on {self.worse}, p = "
            f"{self.chance:.2f} over all signs: {'' if self.told else 'not '}told apart"
        )


def gain(first: Scores, second: Scores, without: str | None = None) -> Gain:
    """The differences in regret of two rules, paired by source, but for one source.

    The test is exact: of all 2^n ways to turn the signs of n differences, the share whose mean is
    at least as far from 0. Cost: 2^n additions, for the n sources on which the two differ.
    """
    differences = [
        second.sources[source] - share
        for source, share in first.sources.items()
        if source != without
    ]
    decided = [x for x in differences if abs(x) > 1e-9]
    sums = [0.0]
    for x in decided:
        sums = [total + signed for total in sums for signed in (x, -x)]
    far = abs(sum(decided)) - 1e-9
    error = stdev(differences) / math.sqrt(len(differences)) if len(differences) > 1 else math.nan
    better = sum(x > 0 for x in decided)
    return Gain(
        fmean(differences) if differences else math.nan,
        error,
        better,
        len(decided) - better,
        len(differences),
        sum(abs(total) >= far for total in sums) / len(sums),
    )


@dataclass(frozen=True)
class Choice:
    """Which eligible rule is followed. The scores say what is not told apart; a rule that does not
    look at them takes one of those: the one followed so far, or else the oldest."""

    rule: Rule
    best: Rule  # of the least mean regret
    alike: tuple[Rule, ...]  # that the sources do not tell from the best, with it; oldest first
    untold: tuple[Rule, ...]  # that they do not tell from the rule that is followed, without it

    @property
    def kept(self) -> bool:
        """Whether the rule is the one followed so far."""
        return bool(self.rule.followed)


def choice(candidates: Iterable[Scores], without: str | None = None) -> Choice:
    """The choice among scored rules, by all sources but one.

    Raises:
        ValueError: without candidates.
    """
    scored = sorted(candidates, key=lambda s: s.rule.year)
    if not scored:
        raise ValueError("no rule is eligible")
    best = min(scored, key=lambda s: s.cost(without))
    alike = tuple(s for s in scored if s is best or not gain(best, s, without).told)
    chosen = next((s for s in alike if s.rule.followed), alike[0])
    untold = (s.rule for s in scored if s is not chosen and not gain(chosen, s, without).told)
    return Choice(chosen.rule, best.rule, tuple(s.rule for s in alike), tuple(untold))


@dataclass(frozen=True)
class SourceRow:
    """One source, and what happens when the recommendation is chosen without it."""

    source: str
    grids: int
    chosen: Rule  # by the other sources
    regret: float  # of that rule, here
    built: float  # of what is built by it: the same, leaning by the losses of the other sources
    loss: float | None
    best: float  # of the best single rule in hindsight
    default: float  # of d = 64 L
    inside: int  # best depths inside the interval of the other sources,
    losers: int  # worst depths inside it,
    asked: int  # out of so many grids for which there is one


@dataclass(frozen=True)
class EvidenceTable:
    """The evidence table: every rule over all sources, and the recommendation without each."""

    scores: tuple[Scores, ...]  # best first
    rows: tuple[SourceRow, ...]
    best: Scores  # of the rule that is chosen
    default: Scores  # of d = 64 L, whatever was known
    choices: frozenset[str]  # keys of the rules that may be chosen
    choice: Choice | None  # among the eligible rules; None without grids or rules
    by_scores: float  # mean share where the eligible rule of the least regret is chosen instead

    @property
    def settled(self) -> bool:
        """Whether the others choose the same rule, whichever source is left out: then what that
        rule scores is no score on sources that it has not seen."""
        return bool(self.rows) and {row.chosen.key for row in self.rows} == {self.best.rule.key}

    @property
    def sources(self) -> tuple[str, ...]:
        """Whose grids are scored, in the order of grids.csv."""
        return tuple(row.source for row in self.rows)

    @property
    def held_out(self) -> float:
        """Mean share of the recommendation, each source by what the others choose."""
        return fmean(row.regret for row in self.rows) if self.rows else math.nan

    @property
    def held_out_built(self) -> float:
        """The same of what is built by the choice."""
        return fmean(row.built for row in self.rows) if self.rows else math.nan

    def of(self, key: str) -> Scores:
        """The scores of one rule."""
        return next(s for s in (*self.scores, self.default) if s.rule.key == key)


@cache
def _grids_to_score(how: Comparison, known_by: int | None) -> tuple[Grid, ...]:
    return tuple(
        g for g in grids(how.size_exponent) if g.scored and (known_by is None or g.year <= known_by)
    )


@cache
def score(rule: Rule, how: Comparison = COMPARISON, known_by: int | None = None) -> Scores:
    """A rule scored by every source, on every scored grid, those that it was read off included."""
    rows = []
    for grid in _grids_to_score(how, known_by):
        depth = rule.depth(grid.volume, per_layer=1)
        cell = grid.nearest(depth)
        place = cell.layers if how.nearest else depth
        rows.append(
            RuleOutcome(
                grid,
                depth,
                cell.layers,
                grid.at(place, grid.share),
                grid.at(place, grid.loss_regret) if grid.is_loss else None,
                grid.share(cell) == 0,
                not grid.cells[0].layers <= depth <= grid.cells[-1].layers,
            )
        )
    shares, losses = defaultdict(list), defaultdict(list)
    for outcome in rows:
        shares[outcome.grid.source].append(outcome.share)
        if outcome.loss is not None:
            losses[outcome.grid.source].append(outcome.loss)
    share, loss = ({source: fmean(v) for source, v in of.items()} for of in (shares, losses))
    return Scores(rule, share, loss, tuple(rows))


def _chosen(candidates: tuple[Scores, ...], pool: Pool, without: str | None = None) -> Rule:
    """The rule that is followed; or, for other pools, that of the least mean share over all sources
    but one. Ties go to the least worst share, then to published rules before the family, the older
    first."""
    if pool == "followed":
        return choice(candidates, without).rule
    return min(candidates, key=lambda s: s.cost(without)).rule


@cache
def _candidates(
    how: Comparison, known_by: int | None, pool: Pool = "followed"
) -> tuple[Scores, ...]:
    def may_be_chosen(r: Rule) -> bool:
        if pool in ("family", "all"):
            return pool == "all"
        return r.eligible and (pool != "standard" or r.applies == STANDARD)

    candidates = [r for r in rules(known_by) if may_be_chosen(r)]
    if pool == "held":
        candidates = [mup_held() if r.key == "mup" else r for r in candidates]
    if pool in ("family", "both", "all"):
        candidates += family(known_by)
    return tuple(score(r, how, known_by) for r in candidates)


@cache
def best_rule(key: NetKind = STANDARD, known_by: int | None = None) -> Rule:
    """The rule that the advisor follows: for the standard parametrisation and plain residuals that
    of `choice` among the eligible, whatever their parametrisation; for muP, CompleteP and attention
    residuals, of which no grid is published cell by cell, the optimum published for them (for
    CompleteP that of muP: its paper says that other shapes lose less, not that another one is
    best). The norm makes no difference: no grid compares depths in another norm. Rules and grids of
    years after `known_by` are left out.
    """
    scaled = NetKind("standard" if key.parametrisation == "standard" else "mup")
    for special in (NetKind(residual=key.residual), scaled):
        for r in rules(known_by) if special != STANDARD else ():
            if r.applies == special and r.meaning == "optimum":
                return r
    return _winner(COMPARISON, known_by, "followed")


def _winner(how: Comparison, known_by: int | None, pool: Pool) -> Rule:
    """Without any grid: the oldest rule, or today's default."""
    if not _grids_to_score(how, known_by):
        return next((r for r in rules(known_by) if r.eligible), rule("nanochat"))
    return _chosen(_candidates(how, known_by, pool), pool)


def _end_of_grids(
    known_by: int | None, without: str | None = None, each: float | None = None
) -> tuple[Grid, ...]:
    """The grids of losses of the largest size."""
    known = loss_grids(known_by, without, each)
    largest = max((grid.volume for grid in known), default=0)
    return tuple(grid for grid in known if grid.volume == largest)


@cache
def default_rule(
    key: NetKind = STANDARD, known_by: int | None = None, each: float | None = None
) -> Rule:
    """The rule that the advisor builds by: `best_rule` as far as losses were measured; above these
    sizes, of the depths that the extrapolated losses do not tell apart, the shallowest. A layer
    takes time of its own there as everywhere, and most published models just above the grids are
    shallower than the rule; how many, by size, is in docs/decisions/0016. Up to the largest grid
    losses were measured, and the rule is followed as it was scored. For other parametrisations and
    residuals no losses are published cell by cell: there it is `best_rule`.

    Args:
        each: training tokens for each parameter, at which the losses are read; with few of them
            wider nets lose less than with many.

    >>> round(best_rule().depth(7e9, 14)), round(default_rule().depth(7e9, 14))
    (45, 42)
    >>> round(default_rule(each=20).depth(7e9, 14))
    38
    """
    chosen = best_rule(key, known_by)
    if NetKind(key.parametrisation, residual=key.residual) != STANDARD:
        return chosen
    return leaning(chosen, known_by, each=each)


def depth_at_end(key: NetKind = STANDARD, known_by: int | None = None) -> float | None:
    """The depth of `best_rule` at the largest size of the grids of losses, below which
    `default_rule` does not go above that size; None without such grids."""
    largest = _end_of_grids(known_by)
    return best_rule(key, known_by).law(12 * largest[0].volume) if largest else None


def leaning(
    rule: Rule,
    known_by: int | None = None,
    without: str | None = None,
    each: float | None = None,
) -> Rule:
    """A rule that, above the largest size of the grids of losses, takes the shallowest depth that
    these, read at equal d / L and so many tokens for each parameter, do not tell from the rule's,
    but at least that at their size."""
    largest = _end_of_grids(known_by, without, each)
    if not largest:
        return rule
    least = rule.law(12 * largest[0].volume)
    widest = min(grid.within(math.inf)[1][0] for grid in largest)

    def law(size: float) -> float:
        depth, volume = rule.law(size), size / 12
        if volume <= largest[0].volume:
            return depth
        ratio = math.sqrt(volume / depth**3)
        ends = []
        for grid in largest:
            regret = grid.regret_at(ratio)
            if regret is None or regret > TOLERANCE:
                return depth
            ends.append(grid.within(min(regret + UNTOLD, TOLERANCE))[1][0])
        shallowest = math.ceil(laws.aspect_depth(size, widest))  # no wider net was trained
        fewest = laws.aspect_depth(size, max(ratio, min(ends)))
        return min(depth, max(fewest, shallowest, least))

    return replace(rule, law=law)


@cache
def table(
    how: Comparison = COMPARISON, known_by: int | None = None, pool: Pool = "followed"
) -> EvidenceTable:
    """Every rule scored by every source, and the recommendation chosen without each.

    Args:
        how: losses are compared at equal size by an exponent (0 takes them as published), and
            grids are read between their cells, or at the nearest one.
        known_by: a year; rules and grids of later years are left out.
        pool: who chooses: "followed": `choice`, among the eligible rules. Or the least mean regret,
            among the "published" ones that are eligible; "held": the same with muP's ratio constant
            beyond the sizes it was published for; of those the ones for the standard
            parametrisation; the family alone; "both": the published ones and the family; or "all"
            rules, bounds and what is built too.
    """
    published = [score(r, how, known_by) for r in rules(known_by)]
    candidates = _candidates(how, known_by, pool)
    best = score(_winner(how, known_by, pool), how, known_by)
    columns = published if best.rule in rules(known_by) else [*published, best]
    default = score(rule("nanochat"), how, known_by)
    rows = []
    for source in dict.fromkeys(g.source for g in _grids_to_score(how, known_by)):
        chosen = _chosen(tuple(c for c in candidates if c.rule.read_off != source), pool, source)
        scores = score(chosen, how, known_by)
        own = [g for g in _grids_to_score(how, known_by) if g.source == source]
        rows.append(
            SourceRow(
                source,
                len(own),
                chosen,
                scores.sources[source],
                score(leaning(chosen, known_by, source), how, known_by).sources[source],
                scores.losses.get(source),
                best.sources.get(source, math.nan),
                default.sources.get(source, math.nan),
                *_coverage(own, source, known_by),
            )
        )
    columns = [scores for scores in columns if scores.sources]
    eligible = _candidates(how, known_by)
    by_scores = [
        _chosen(
            tuple(c for c in eligible if c.rule.read_off != row.source), "published", row.source
        )
        for row in rows
    ]
    return EvidenceTable(
        tuple(sorted(columns, key=lambda s: (s.mean, s.worst))),
        tuple(rows),
        best,
        default,
        frozenset(c.rule.key for c in candidates),
        choice(eligible) if rows and eligible else None,
        fmean(
            score(chosen, how, known_by).sources[row.source]
            for chosen, row in zip(by_scores, rows, strict=True)
        )
        if rows
        else math.nan,
    )


def _coverage(own: list[Grid], source: str, known_by: int | None) -> tuple[int, int, int]:
    """On how many grids of a source the interval of the others holds a best depth, on how many a
    worst one, of how many that have an interval: one that is wide holds both."""
    intervals = ((g, interval(g.volume, 1, known_by=known_by, without=source)) for g in own)
    covering = [(g, within) for g, within in intervals if within]

    def holds(share: float) -> int:
        return sum(
            any(i.low <= cell.layers <= i.high for cell in g.cells if g.share(cell) == share)
            for g, i in covering
        )

    return holds(0), holds(1), len(covering)


class _End(NamedTuple):
    """Where the depths within 1 % end at one size."""

    depth: float
    crossed: bool  # beyond it a grid loses more; False: beyond it nothing was trained

    @property
    def least(self) -> int:
        """The fewest whole layers that are no shallower."""
        return math.ceil(self.depth - 1e-9)

    @property
    def most(self) -> int:
        """The most whole layers that are no deeper."""
        return math.floor(self.depth + 1e-9)


def _ends(known: tuple[Grid, ...]) -> list[tuple[float, _End, _End]]:
    """For every size of which there are grids, smallest first: its volume, and the shallow and the
    deep end. Of several grids of one size the tightest crossing counts; where none crosses, an end
    is as far as one of them was trained.

    Where training ended, other sizes say more: depths that are not too deep for a smaller net are
    not too deep for a larger one, and the other way round. No grid contradicts that.
    """
    volumes = sorted({grid.volume for grid in known})
    shallow, deep = [], []
    for volume in volumes:
        ends = [grid.within(TOLERANCE) for grid in known if grid.volume == volume]
        narrow = [ratio for (ratio, crossed), _ in ends if crossed]
        wide = [ratio for _, (ratio, crossed) in ends if crossed]
        least = max(narrow, default=min(ratio for (ratio, _), _ in ends))
        most = min(wide, default=max(ratio for _, (ratio, _) in ends))
        shallow.append(_End(laws.aspect_depth(12 * volume, most), bool(wide)))
        deep.append(_End(laws.aspect_depth(12 * volume, least), bool(narrow)))
    for i in range(1, len(volumes)):
        if not deep[i].crossed:
            deep[i] = deep[i]._replace(depth=max(deep[i].depth, deep[i - 1].depth))
    for i in reversed(range(len(volumes) - 1)):
        if not shallow[i].crossed:
            shallow[i] = shallow[i]._replace(depth=min(shallow[i].depth, shallow[i + 1].depth))
    return list(zip(volumes, shallow, deep, strict=True))


def _between(points: list[tuple[float, _End]], volume: float) -> _End:
    """An end at a volume: ln L linear in the logarithm of the volume; beyond all sizes at the d / L
    of the outermost. It is crossed where it is on both sides."""
    (first, least), (last, most) = points[0], points[-1]
    if volume <= first:
        return least._replace(depth=least.depth * math.cbrt(volume / first))
    if volume >= last:
        return most._replace(depth=most.depth * math.cbrt(volume / last))
    return next(
        _End(
            below.depth
            * (above.depth / below.depth) ** (math.log(volume / small) / math.log(large / small)),
            below.crossed and above.crossed,
        )
        for (small, below), (large, above) in pairwise(points)
        if volume <= large
    )


def interval(
    parameters: float,
    per_layer: float = 12.0,
    key: NetKind = STANDARD,
    *,
    known_by: int | None = None,
    without: str | None = None,
    each: float | None = None,
) -> Interval | None:
    """The depths whose loss is within 1 % of the best by the grids of losses.

    Regret is linear in ln(d / L) between the cells of a grid. At the size of a grid an end is where
    it crosses 1 %; where it does not, the end of what was trained, which is said. Between two sizes
    the ends are interpolated, so that they move with the size without a jump. Where the least d / L
    within 1 % is published for the parametrisation, it is the deep end. None where there is no grid
    at all.

    `parameters` are N without embeddings, `per_layer` is c of N = c L d^2; sources of years after
    `known_by`, and `without`, are left out; `each` are training tokens for each parameter.
    """
    volume = parameters / per_layer
    known = loss_grids(known_by, without, each)
    if not known:
        return None
    ends = _ends(known)
    shallow, deep = (_between([(v, pair[side]) for v, *pair in ends], volume) for side in (0, 1))
    extrapolated = not ends[0][0] <= volume <= ends[-1][0]
    sources = list(dict.fromkeys(g.source for g in known))
    notes = []
    if shallow.depth > deep.depth:
        shallow, deep = deep, shallow
        notes.append("grids of this size disagree")
    if not deep.crossed:
        notes.append("no deeper net was trained")
    if not shallow.crossed:
        notes.append("no wider net was trained")
    if key.norm != "pre":
        notes.append("these nets are pre-norm")
    if extrapolated:
        notes.append("no grid has nets of this size: d / L is that of the nearest")
    low, high = (math.sqrt(volume / end.depth**3) for end in (deep, shallow))
    sentence = f"d / L from {low:.0f} to {high:.0f} loses at most 1 % by {' and '.join(sources)}"
    published = least_ratio(key)
    if published is not None and without != "CompleteP" and (known_by is None or known_by >= 2025):
        sources = [*sources, "CompleteP"]
        sentence = (
            f"d / L from {published:.1f} (CompleteP, measured at 1.5B) to {high:.0f} "
            f"({sources[0]}, standard nets) loses at most 1 %"
        )
        notes = [n for n in notes if "deeper" not in n]
        deep, extrapolated = _End(laws.aspect_depth(12 * volume, published), True), True
    elif NetKind(key.parametrisation, residual=key.residual) != STANDARD:
        notes.append("measured on standard nets")
        extrapolated = True
    side: Literal["", "above", "below", "kind"] = "kind" if extrapolated else ""
    if not ends[0][0] <= volume <= ends[-1][0]:
        side = "above" if volume > ends[-1][0] else "below"
    least = max(1, shallow.least)
    most = max(least, deep.most)
    above = (d.most + 1 for v, _, d in ends if d.crossed and v >= volume * (1 - 1e-9))
    below = (s.least - 1 for v, s, _ in ends if s.crossed and v <= volume * (1 + 1e-9))
    too_deep = most + 1 if deep.crossed else min(above, default=None)
    too_shallow = least - 1 if shallow.crossed else max(below, default=None)
    return Interval(
        least,
        most,
        "; ".join([sentence, *notes]),
        tuple(sources),
        extrapolated,
        too_deep is None or too_deep > most + 1,
        too_shallow is None or too_shallow < least - 1,
        too_deep,
        too_shallow,
        sizes_compared(known),
        side,
    )


class Contradiction(NamedTuple):
    """What a source has against a depth: its best net beat the one nearest to that depth."""

    source: str
    best: int  # layers
    beaten: int

    def __str__(self) -> str:
        return f"{self.source}: {self.best} layers beat {self.beaten}"


def contradicting(
    parameters: float,
    layers: int,
    per_layer: float = 12.0,
    known_by: int | None = None,
    each: float | None = None,
) -> tuple[Contradiction, ...]:
    """What scored grids at most a factor 4 away in size have against a depth: those that put it in
    the worse half of their range. Of the same nets trained on several counts of tokens, those count
    that `loss_grids` reads at so many tokens for each parameter.

    >>> print(contradicting(3.1e8, 12, 32 / 3)[-1])
    MobileLLM: 32 layers beat 12
    """
    volume = parameters / per_layer
    read = loss_grids(known_by, each=each)
    nets = {g.nets for g in read}
    others = (g for g in _grids_to_score(COMPARISON, known_by) if g.nets not in nets)
    sources = (
        Contradiction(g.source, g.best.layers, g.nearest(layers).layers)
        for g in (*read, *others)
        if 1 / NEAR <= g.volume / volume <= NEAR and g.at(layers, g.share) > 0.5
    )
    return tuple(dict.fromkeys(sources))


def contradicting_range(
    within: Interval,
    parameters: float,
    per_layer: float = 12.0,
    known_by: int | None = None,
) -> tuple[Contradiction, ...]:
    """What sources other than its own have against either end of a range: those whose beaten net
    has a depth inside it. Sizes as in `contradicting`.

    >>> print(contradicting_range(interval(6e9, 11.5), 6e9, 11.5)[0])
    Depth Delusion: 32 layers beat 64
    """
    ends = (
        contradicting(parameters, end, per_layer, known_by) for end in (within.low, within.high)
    )
    return tuple(
        dict.fromkeys(
            against
            for found in ends
            for against in found
            if against.source not in within.sources and within.place(against.beaten) == "inside"
        )
    )


# --- what came later ------------------------------------------------------------------------------


class Foresight(NamedTuple):
    """How a rule fares on what was built and published in years after its own."""

    rule: str  # name; empty: the default of the year before
    year: int
    shapes: int  # published dense decoders, each shape once
    factor: float  # geometric mean of the depths of the models over those that it asks for
    spread: float  # as a factor, the root mean square of the logarithms of these ratios
    shallower: int  # models that have fewer layers than it asks for
    grids: int  # scored grids of later years, without those that it was read off
    regret: float | None  # mean share over the sources of these


@cache
def foresight() -> tuple[Foresight, ...]:
    """Every eligible rule, oldest first, against
    what came after its year, and, with an empty name, what the advisor would have built by what was
    known in the year before, against the models of each year. Nothing is chosen but the years: a
    model is asked at its own weights and weights per layer. Years of models are mostly recalled.

    >>> [(f.rule, f.shapes, f.shallower) for f in foresight()][:2]
    [("Levine's fit", 61, 51), ("muP's best d / L", 1, 1)]
    """
    built = {(m.layers, m.width): m for m in reversed(models()) if m.kind == "decoder"}.values()
    named = [r for r in rules() if r.eligible]
    found = [_foresight(r, [m for m in built if m.year > r.year], r.name) for r in named]
    for year in sorted({m.year for m in built}):
        if any(r.year < year for r in named):
            default = replace(default_rule(known_by=year - 1), year=year)
            found.append(_foresight(default, [m for m in built if m.year == year], ""))
    return tuple(found)


def _foresight(rule: Rule, later: list[Model], name: str) -> Foresight:
    asked = [rule.depth(m.parameters, m.parameters / m.layers / m.width**2) for m in later]
    logs = [math.log(m.layers / depth) for m, depth in zip(later, asked, strict=True)]
    shares = defaultdict(list)
    for outcome in score(rule).outcomes if name else ():
        if outcome.grid.year > rule.year and outcome.grid.source != rule.read_off:
            shares[outcome.grid.source].append(outcome.share)
    return Foresight(
        name,
        rule.year,
        len(logs),
        math.exp(fmean(logs)) if logs else math.nan,
        math.exp(math.sqrt(fmean(x * x for x in logs))) if logs else math.nan,
        sum(x < 0 for x in logs),
        sum(map(len, shares.values())),
        fmean(map(fmean, shares.values())) if shares else None,
    )


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
        _projection(
            row["model"], row["stated_in"], int(row["parameters"]), int(row["projected_depth"])
        )
        for row in projection_rows()
    )


@cache
def uses() -> tuple[Projection, ...]:
    """The rows of uses.csv, nets whose makers looked to Levine's fit for a shape: their own depth
    beside the fit, and the source in place of where it is stated.

    >>> [(u.model, u.stated, round(u.solved)) for u in uses() if u.model[:3] == "Gat"]
    [('GatorTron base', 24, 35), ('GatorTron medium', 48, 50), ('GatorTron large', 56, 56)]
    """
    with (Path(__file__).parent / "uses.csv").open(encoding="utf-8", newline="") as file:
        rows = list(csv.reader(file))[1:]
    return tuple(
        _projection(name, f"{source} ({status})", 12 * int(layers) * int(width) ** 2, int(layers))
        for name, layers, width, status, source in rows
    )


def _projection(model: str, stated_in: str, size: int, stated: int) -> Projection:
    solved, error = laws.transition_depth(size), laws.transition_depth_error(size)
    return Projection(
        model, stated_in, size, stated, solved, error, math.floor(solved + 0.5) == stated
    )

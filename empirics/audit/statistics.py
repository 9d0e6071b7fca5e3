"""What documents say of a measure: intervals, calls, the best of many, and two orders compared.

The sample is a list of documents. Every number here is per document, and every interval is of the
mean over all documents that could have been drawn; documents are taken to be independent.
"""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum
from typing import Any, Literal, NamedTuple

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy import optimize, special

from depthlaw.theory.claims.values import Proportion

from . import AuditError

Floats = NDArray[np.float64]

LEVEL = 0.95
# Levels that may be asked for; those of many rows at once are higher.
LEVELS = 0.5, 0.9999
# Fewer documents than this carry no interval.
FEWEST = 8
# Resamples of documents, and random changes of sign.
DRAWS = 999
# Means of layers that differ by less, relative to the largest, differ by rounding.
_ROUNDING = 1e-6


@dataclass(frozen=True)
class Estimate:
    """A number with its interval.

    Attributes:
        level: of the interval, such as 0.95.
        n: documents, trials or draws that it rests on.
        rule: "skewed" (`mean`), "equal" (every document gave this number: the interval is a
            point), "ratio" (`relative`), "clopper-pearson", "pairs" (`agreement`) or "range"
            (`reach`).
    """

    value: float
    low: float
    high: float
    level: float
    n: int
    rule: str


class Call(StrEnum):
    """What an interval says of a layer, against a stated threshold of its cost."""

    NEEDED = "needed"
    SUPERFLUOUS = "superfluous"
    UNDECIDED = "undecided"


@dataclass(frozen=True)
class Chosen:
    """The best of many candidates, with an estimate that the choice has not flattered.

    Attributes:
        index: of the candidate.
        estimate: of its cost; the interval holds for the candidate that was chosen.
        candidates: how many there were.
        rule: "split" or "bonferroni".
        chosen_on: documents that chose it.
        judged_on: documents that the estimate rests on.
    """

    index: int
    estimate: Estimate
    candidates: int
    rule: str
    chosen_on: int
    judged_on: int


def mean(values: ArrayLike, level: float = LEVEL) -> Estimate:
    """The mean of one number per document, values (n,), with a two-sided interval.

    The interval is the hull of Student's and of Hall's, who takes the skewness out of Student's t
    (Hall 1992, "On the removal of skewness by transformation"). Student's alone is too short at its
    far end where a few documents cost much more than the others. The skewness of the sample is
    enlarged by 1 + 6/n, a factor chosen here by simulation, since few documents show too little of
    it. No interval sees what no document of the sample shows: where 1 document in 20 costs 1 and
    the others next to nothing, 16 documents miss the mean in 42 % of samples, 64 in 5 %
    (simulated). An AuditError for fewer than 8 documents, and for numbers that are not finite.

    >>> found = mean([1, 2, 3, 4, 5, 6, 7, 8])
    >>> found.value, round(found.low, 3), round(found.high, 3)
    (4.5, 2.452, 6.548)
    """
    x = _documents(values)
    low, high = _ends(x, _checked(level))
    rule = "skewed" if np.ptp(x) else "equal"
    return Estimate(_mean(x), low, high, level, len(x), rule)


def paired(values: ArrayLike, baseline: ArrayLike, level: float = LEVEL) -> Estimate:
    """The mean of the differences by document, values less baseline, both (n,): see `mean`."""
    x, base = _pair(values, baseline)
    return mean(x - base, level)


def relative(values: ArrayLike, baseline: ArrayLike, level: float = LEVEL) -> Estimate:
    """The mean difference over the mean baseline, by document: 0.013 is +1.3 %.

    The interval holds the ratios r for which `mean` of values - (1 + r) baseline allows 0, after
    Fieller: it counts the error of the baseline and its correlation with the difference, and needs
    no expansion for small errors, as the delta method does. An AuditError where the baseline itself
    may be 0. Cost: about 50 times that of `mean`.
    """
    x, base = _pair(values, baseline)
    low, high = _ends(base, _checked(level))
    if low <= 0 <= high:
        raise AuditError(
            f"a change relative to a baseline in [{low:.3g}, {high:.3g}] is not defined: "
            "the baseline must differ from 0; try the paired difference"
        )
    sign = 1.0 if low > 0 else -1.0
    difference, base = sign * (x - base), sign * base
    ratio = _mean(difference) / _mean(base)
    scale = float(np.abs(difference).max())
    if np.abs(difference - ratio * base).max() <= 1e-13 * scale:
        return Estimate(ratio, ratio, ratio, level, len(x), "equal")

    def end(side: int) -> float:
        def allowed(by: float) -> float:
            ends = _ends(difference - (ratio + side * by) * base, level)
            return side * ends[side > 0]

        step = float(np.std(difference - ratio * base)) / _mean(base)
        while allowed(step) > 0:
            step *= 2
        return ratio + side * optimize.brentq(allowed, 0, step, xtol=1e-12 * step, rtol=1e-12)

    return Estimate(ratio, end(-1), end(1), level, len(x), "ratio")


def proportion(hits: int, n: int, level: float = LEVEL) -> Estimate:
    """The share of n independent trials that succeeded, after Clopper and Pearson.

    >>> found = proportion(10, 200)
    >>> round(found.low, 4), round(found.high, 4)
    (0.0242, 0.09)
    """
    share = Proportion(hits, n)
    low, high = share.interval(1 - _checked(level))
    return Estimate(share.mean, low, high, level, n, "clopper-pearson")


def reach(draws: ArrayLike) -> Estimate:
    """The mean of two or more independent draws, from the least to the greatest. Of n draws of any
    law, one more lies between these in (n - 1) / (n + 1) of all cases or more: that is the level.

    >>> found = reach([1, 2, 3, 6])
    >>> found.value, found.low, found.high, found.level
    (3.0, 1.0, 6.0, 0.6)
    """
    x = np.asarray(draws, float)
    n = len(x)
    return Estimate(_mean(x), float(x.min()), float(x.max()), (n - 1) / (n + 1), n, "range")


def call(estimate: Estimate, threshold: float) -> Call:
    """Whether the cost of doing without a layer lies beyond a threshold, in the unit of the cost.

    >>> call(Estimate(.2, .1, .3, .95, 64, "skewed"), .05).name
    'NEEDED'
    """
    if estimate.high <= threshold:
        return Call.SUPERFLUOUS
    return Call.NEEDED if estimate.low > threshold else Call.UNDECIDED


def best_of(
    candidates: ArrayLike,
    *,
    baseline: ArrayLike | None = None,
    rule: Literal["split", "bonferroni"] = "split",
    seed: int = 0,
    level: float = LEVEL,
) -> Chosen:
    """The candidate of the least mean cost, candidates (m, n), with an interval for its cost.

    "split": half of the documents, drawn by the seed, choose, and the others judge. "bonferroni":
    all documents choose and judge, at the level 1 - (1 - level) / m. With a `baseline` (n,) the
    estimate is `relative`. "bonferroni" rests on tails far out, which few documents with skewed
    costs do not show: "split" is the rule where both could serve. An AuditError for fewer than 8
    documents that judge. Cost: O(m n).
    """
    costs = np.asarray(candidates, float)
    if costs.ndim != 2 or not costs.size or not np.isfinite(costs).all():
        raise AuditError(
            f"candidates of shape {costs.shape}: accepted are finite costs (candidates, documents)"
        )
    m, n = costs.shape
    judging = choosing = np.arange(n)
    within = _checked(level)
    if rule == "split":
        mixed = np.random.default_rng(seed).permutation(n)
        choosing, judging = mixed[: n // 2], mixed[n // 2 :]
    elif rule == "bonferroni":
        within = 1 - (1 - level) / m
    else:
        raise AuditError(f"the rule {rule!r}: accepted are split and bonferroni")
    if len(judging) < FEWEST:
        more = ", or bonferroni with 8" if rule == "split" else ""
        raise AuditError(
            f"{n} documents leave {len(judging)} to judge the best of {m}: "
            f"at least {FEWEST} must; try {2 * FEWEST} documents{more}"
        )
    index = int(costs[:, choosing].mean(1).argmin())
    judged = costs[index, judging]
    if baseline is None:
        estimate = mean(judged, within)
    else:
        estimate = relative(judged, np.asarray(baseline, float)[judging], within)
    return Chosen(index, estimate, m, rule, len(choosing), len(judging))


def agreement(
    first: ArrayLike, second: ArrayLike, *, level: float = LEVEL, seed: int = 0
) -> Estimate:
    """Kendall's tau of two orders of the same layers, each by its means over documents.

    Args:
        first: (layers, n), one number by layer and document; the order is that of its means.
        second: (layers, n), by another objective on the same documents, or on n others.

    The interval is of the tau of the true means. Resampled documents say how far apart two means
    must be, for all pairs at once, to be in the order that is seen; a pair nearer than that in
    either may agree or disagree. To resample tau itself would be wrong: noise added to noise moves
    it towards 0. Equal means count as neither. Cost: O(999 n layers^2).
    """
    one, two = (np.asarray(array, float) for array in (first, second))
    if one.ndim != 2 or one.shape != two.shape or len(one) < 2:
        raise AuditError(
            f"orders of shapes {one.shape} and {two.shape}: accepted are two arrays "
            "(layers, documents) of one shape, with two layers or more"
        )
    n = len(_documents(one[0]))
    if not (np.isfinite(one).all() and np.isfinite(two).all()):
        raise AuditError("a number that is not finite: accepted are finite numbers")
    _checked(level)
    i, j = np.triu_indices(len(one), 1)
    apart = np.concatenate([one[i] - one[j], two[i] - two[j]])
    gaps, errors = apart.mean(1), apart.std(1) / np.sqrt(n - 1)
    weights = np.random.default_rng(seed).multinomial(n, np.full(n, 1 / n), DRAWS) / n
    centred = apart - gaps[:, None]
    moved = weights @ centred.T
    spread = np.sqrt(np.maximum(weights @ (centred**2).T - moved**2, 0) / (n - 1))
    far = np.abs(moved) / np.where(spread > 1e-9 * errors.max(), spread, np.inf)
    sure = np.abs(gaps) > np.quantile(far.max(1), level) * errors
    signs = np.sign(gaps).reshape(2, -1)
    same, known = signs[0] * signs[1], sure.reshape(2, -1).all(0)
    low = np.where(known, same, -1).mean()
    high = np.where(known, same, 1).mean()
    return Estimate(float(same.mean()), float(low), float(high), level, n, "pairs")


class Telling(NamedTuple):
    """Whether a measure tells a model from its null model.

    Attributes:
        told: None where too little is known for an answer.
        about: "law": of the null model as it is drawn; "nets": of the drawn ones alone, each told
            apart by documents, although two draws of one law may differ as much.
        p: how often chance alone does as much; None with `told`.
        draws: of the null model.
    """

    told: bool | None
    about: Literal["law", "nets"]
    p: float | None
    draws: int


def telling(values: ArrayLike, nulls: ArrayLike, *, level: float = LEVEL, seed: int = 0) -> Telling:
    """Whether the numbers of a model, values (layers, n), are told from those of its null, nulls
    (draws, layers, n), on the same documents.

    With 1 / (1 - level) - 1 draws or more (19), and at least two, it is the rank of the model among
    them: of each the largest distance of a layer's mean from those of all others, in their standard
    deviations; 0 where it is as small as rounding.
    The level is exact whatever the law, since a model that is a draw itself has any rank alike, and
    equal ranks count against it: see `by_chance`.
    With fewer draws the documents of each pair change sides at random, for the largest Student's t
    of a layer; every draw must be told apart. None for fewer than 8 documents, numbers that are not
    finite, or shapes that differ. Cost: O(draws^2 layers), or O(999 draws layers n).
    """
    x, others = np.asarray(values, float), np.asarray(nulls, float)
    draws = len(others) if others.ndim == 3 else 0
    about: Literal["law", "nets"] = "law" if draws > 1 and by_chance(draws, level) else "nets"
    fits = draws and x.ndim == 2 and others.shape[1:] == x.shape and x.shape[1] >= FEWEST
    if not (fits and np.isfinite(x).all() and np.isfinite(others).all()):
        return Telling(None, about, None, draws)
    p = _rank(x, others) if about == "law" else max(_flips(x - net, seed) for net in others)
    return Telling(p <= 1 - level + 1e-9, about, p, draws)


def by_chance(draws: int, level: float) -> float:
    """How often a model that is itself a draw is told from so many others by its rank, at most; 0
    where they are too few for any.

    >>> by_chance(19, 0.95), by_chance(18, 0.95), round(by_chance(20, 0.95), 4)
    (0.05, 0.0, 0.0476)
    """
    return int((draws + 1) * (1 - level) + 1e-9) / (draws + 1)


def _rank(x: Floats, others: Floats) -> float:
    means = np.concatenate([x[None], others]).mean(2)
    far, rounding = [], _ROUNDING * np.abs(means).max()
    for index, own in enumerate(means):
        rest = np.delete(means, index, 0)
        gaps, spread = np.abs(own - rest.mean(0)), rest.std(0, ddof=1)
        gaps[gaps <= rounding] = 0.0
        infinite = np.where(gaps > 0, np.inf, 0.0)
        far.append(np.divide(gaps, spread, out=infinite, where=spread > 0).max())
    return float(np.mean(np.array(far) >= far[0]))


def _flips(differences: Floats, seed: int) -> float:
    """By random signs, one for all layers of a document, of the largest |t|; the sum of squares
    does not change, so that t grows with the mean alone."""
    size = np.sqrt((differences**2).sum(1))
    units = differences[size > 0] / size[size > 0, None]
    if not len(units):
        return 1.0
    signs = np.random.default_rng(seed).choice([-1.0, 1.0], (DRAWS, units.shape[1]))
    far = np.abs(signs @ units.T).max(1)
    seen = np.abs(units.sum(1)).max()
    return float((1 + (far >= seen * (1 - 1e-12)).sum()) / (DRAWS + 1))


def _ends(x: Floats, level: float) -> tuple[float, float]:
    """See `mean`."""
    n, centre = len(x), _mean(x)
    if not np.ptp(x):
        return centre, centre
    away = x - centre
    spread = float(np.sqrt((away**2).sum() / n))
    skewness = float(((away / spread) ** 3).mean()) * np.sqrt(n * (n - 1)) / (n - 2) * (1 + 6 / n)
    a = skewness / np.sqrt(n)
    t = float(special.stdtrit(n - 1, (1 + level) / 2))
    error = spread / np.sqrt(n - 1)

    def without_skewness(y: float) -> float:
        # Hall: t + a t^2 / 3 + a^2 t^3 / 27 + a / 6, solved for t.
        return y if abs(a) < 1e-9 else float(3 / a * (np.cbrt(1 + a * (y - a / 6)) - 1))

    above, below = max(t, without_skewness(t)), min(-t, without_skewness(-t))
    return float(centre - above * error), float(centre - below * error)


def _mean(x: Floats) -> float:
    """Of equal numbers the number itself."""
    return float(x.mean()) if np.ptp(x) else float(x[0])


def _documents(values: Any) -> Floats:
    x = np.asarray(values, float)
    if x.ndim != 1:
        raise AuditError(f"numbers of shape {x.shape}: accepted is one number for each document")
    if len(x) < FEWEST:
        raise AuditError(
            f"{len(x)} documents carry no interval: at least {FEWEST} are needed; "
            "try a longer text, or shorter documents"
        )
    if not np.isfinite(x).all():
        raise AuditError(
            f"{int((~np.isfinite(x)).sum())} of {len(x)} documents give a number that is not "
            "finite: accepted are finite numbers; look for NaN among the weights"
        )
    return x


def _pair(values: ArrayLike, baseline: ArrayLike) -> tuple[Floats, Floats]:
    x, base = _documents(values), _documents(baseline)
    if len(x) != len(base):
        raise AuditError(
            f"{len(x)} documents against {len(base)}: a pair is of the same documents; "
            "measure both on one text"
        )
    return x, base


def asked_level(level: float) -> float:
    """A level that is asked for, as it is.

    Raises:
        AuditError: for one outside of `LEVELS`.
    """
    if not LEVELS[0] <= level <= LEVELS[1]:
        raise AuditError(f"level {level}: accepted are {LEVELS[0]} to {LEVELS[1]}, such as 0.95")
    return level


def _checked(level: float) -> float:
    if not 0 < level < 1:
        raise AuditError(f"the level {level}: accepted is a number between 0 and 1, such as 0.95")
    return level

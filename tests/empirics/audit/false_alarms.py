"""How often the statistics of an audit see what is not there, by simulated documents.

Run: python tests/empirics/audit/false_alarms.py [SEEDS] prints the table, with the binomial
interval of each count; its last rows are whole audits of nets that are draws of their null models.
"""

from __future__ import annotations

import sys

import numpy as np
from scipy import stats

from depthlaw.empirics.audit.statistics import (
    agreement,
    best_of,
    mean,
    paired,
    proportion,
    relative,
    telling,
)
from depthlaw.theory.claims.values import Sample

# Costs by document with mean 0, n of each row: (rng, shape) -> array.
LAWS = {
    "normal": lambda rng, shape: rng.normal(size=shape),
    "lognormal, sigma 1/2": lambda rng, shape: rng.lognormal(0, 0.5, shape) - np.exp(0.125),
    "lognormal, sigma 1": lambda rng, shape: rng.lognormal(0, 1, shape) - np.exp(0.5),
    "difference of lognormals": lambda rng, shape: (
        rng.lognormal(0, 1, shape) - rng.lognormal(0, 1, shape)
    ),
}
CANDIDATES, LAYERS = 40, 6


def _outside(estimate, truth=0.0):
    return not estimate.low <= truth <= estimate.high


def _losses(rng, n):
    """Of documents, in nats."""
    return rng.lognormal(1.1, 0.3, n)


def _paired(rng, law, n, seed):
    base = _losses(rng, n)
    return _outside(paired(base + law(rng, n), base))


def _relative(rng, law, n, seed):
    base = _losses(rng, n)
    return _outside(relative(base * (1.02 + 0.05 * law(rng, n)), base), 0.02)


def _best(rule):
    """Of candidates that all cost 0; the documents are hard for all alike in part."""

    def work(rng, law, n, seed):
        costs = (law(rng, (CANDIDATES, n)) + law(rng, n)) / np.sqrt(2)
        if rule == "none":
            return _outside(mean(costs[costs.mean(1).argmin()]))
        return _outside(best_of(costs, rule=rule, seed=seed).estimate)

    return work


def _student(rng, law, n, seed):
    low, high = Sample(tuple(law(rng, n))).interval(0.05)
    return not low <= 0 <= high


def _told_from_nets(rng, law, n, seed):
    """A document gives the model and its null two numbers of one law."""
    shared = law(rng, (LAYERS, n))
    x, null = (shared + law(rng, (LAYERS, n)) for _ in "ab")
    return telling(x, null[None], seed=seed).told


def _draws(count):
    """The model is one more draw of the null, and every net differs from every other."""

    def work(rng, law, n, seed):
        nets = law(rng, (count + 1, LAYERS, n)) + law(rng, (count + 1, LAYERS, 1))
        return telling(nets[0], nets[1:], seed=seed).told

    return work


def _orders(rng, law, n):
    """Two objectives that order twelve layers alike, by documents, with gaps of noise's size."""
    truth = np.arange(12) / 4
    return (truth[:, None] + law(rng, (12, n)) + law(rng, n) for _ in "ab")


def _agreement(rng, law, n, seed):
    return _outside(agreement(*_orders(rng, law, n), seed=seed), 1)


def _tau_resampled(rng, law, n, seed):
    """The percentiles of tau over resampled documents, which noise moves towards 0."""
    first, second = _orders(rng, law, n)
    rows = rng.integers(0, n, (199, n))
    drawn = [stats.kendalltau(first[:, r].mean(1), second[:, r].mean(1)).statistic for r in rows]
    low, high = np.quantile(drawn, [0.025, 0.975])
    return not low <= 1 <= high


HONEST = {
    "paired": _paired,
    "relative": _relative,
    "best of 40, split": _best("split"),
    "best of 40, bonferroni": _best("bonferroni"),
    "told from a net": _told_from_nets,
    "told from a law": _draws(19),
    "agreement": _agreement,
}
CONTROLS = {
    "Student's t": _student,
    "best of 40, uncorrected": _best("none"),
    "one net taken for a law": _draws(1),
    "tau resampled": _tau_resampled,
}


def false_alarms(rule: str, law: str, n: int, seeds: int) -> int:
    """In how many of so many samples of n documents the rule is wrong, at a level of 5 %."""
    work = {**HONEST, **CONTROLS}[rule]
    rngs = (np.random.default_rng([seed, n]) for seed in range(seeds))
    return sum(bool(work(rng, LAWS[law], n, seed)) for seed, rng in enumerate(rngs))


def _write(rule: str, law: str, n: int, hits: int, seeds: int) -> None:
    share = proportion(hits, seeds)
    ends = f"[{100 * share.low:.1f}, {100 * share.high:.1f}]"
    sys.stdout.write(f"| {rule} | {law} | {n} | {hits} of {seeds} | {ends} % |\n")


if __name__ == "__main__":
    seeds = int(sys.argv[1]) if len(sys.argv) > 1 else 400
    for rule in (*HONEST, *CONTROLS):
        for law in LAWS:
            for n in (16, 64):
                _write(rule, law, n, false_alarms(rule, law, n, seeds), seeds)
    from fresh_nets import alarms

    for null, counts in alarms(seeds).items():
        for number, hits in enumerate(counts, 1):
            _write(f"19 draws, {null}", f"measure {number}", 8, int(hits), seeds)

"""Random attention: row-normalised log-normal matrices, their one large singular value, and the bulk at distance 1/sqrt(T)."""
from __future__ import annotations

import math
from collections.abc import Callable, Iterator
from fractions import Fraction

import numpy as np

from ..claim import Ball, Case, Claim, Control, Sample, Source

__all__ = ["claims", "random_attention"]

# Independent matrices per case.
REPLICAS = 16


def random_attention(rng: np.random.Generator, tokens: int) -> np.ndarray:
    """A T x T matrix of i.i.d. log-normal entries with logit deviation sqrt(ln 2), so that deviation equals mean, divided by row sums.

    Args:
        rng: source of randomness.
        tokens: T >= 1.

    Returns:
        shape (T, T); every row sums to 1.

    >>> float(random_attention(np.random.default_rng(0), 1)[0, 0])
    1.0

    Cost O(T^2). Reference: Nait Saada, Naderi, Tanner 2025, arXiv:2410.07799.
    """
    if tokens < 1:
        raise ValueError(f"the number of tokens must be at least 1, got {tokens}")
    weights = np.exp(rng.normal(0.0, math.sqrt(math.log(2)), (tokens, tokens)))
    return np.asarray(weights / weights.sum(axis=1, keepdims=True))


def _spectra(case: Case, seed: int, statistic: Callable[[np.ndarray], float]) -> Sample:
    rng = case.rng(seed)
    return Sample(tuple(statistic(random_attention(rng, case.tokens)) for _ in range(REPLICAS)))


def first_singular(attention: np.ndarray) -> float:
    """s_1."""
    return float(np.linalg.norm(attention, 2))


def second_singular(attention: np.ndarray) -> float:
    """s_2 sqrt(T)."""
    return float(np.linalg.svd(attention, compute_uv=False)[1] * math.sqrt(len(attention)))


def second_eigenvalue(attention: np.ndarray) -> float:
    """|lambda_2| sqrt(T)."""
    return float(np.sort(np.abs(np.linalg.eigvals(attention)))[-2] * math.sqrt(len(attention)))


def stable_rank(attention: np.ndarray) -> float:
    """The stable rank sum s^2 / max s^2 of A A^T."""
    squares = np.linalg.svd(attention, compute_uv=False) ** 4
    return float(squares.sum() / squares[0])


def first_without_mean(attention: np.ndarray) -> float:
    """s_1 sqrt(T) of A - 11^T/T."""
    return float(np.linalg.norm(attention - 1 / len(attention), 2) * math.sqrt(len(attention)))


# --- claims ---


def claims() -> Iterator[Claim]:
    """The claims of this module."""
    limits: tuple[tuple[str, int, str, Callable[[np.ndarray], float]], ...] = (
        ("first_singular", 1, "the largest singular value s_1", first_singular),
        ("second_singular", 2, "the scaled second singular value s_2 sqrt(T)", second_singular),
        ("second_eigenvalue", 1, "the scaled second eigenvalue |lambda_2| sqrt(T)", second_eigenvalue),
        ("stable_rank", 1, "the stable rank of A A^T", stable_rank),
        ("first_without_mean", 2, "s_1 sqrt(T) of A - 11^T/T", first_without_mean),
    )
    for name, limit, words, statistic in limits:
        yield _limit_claim(name, limit, words, statistic)


def _limit_claim(name: str, limit: int, words: str, statistic: Callable[[np.ndarray], float]) -> Claim:
    from sympy import Eq

    from ..glossary import symbol

    quantity = symbol("spectral_limit")
    statement = Eq(quantity, limit)
    return Claim(
        key=f"rank_collapse/random_attention_{name}", title=f"random attention: {words.replace('the ', '', 1)} is near {limit}",
        text=f"For row-normalised i.i.d. log-normal T x T attention with deviation equal to mean, the mean of {words} is typically "
              f"within a "
              f"relative T^(-1/4) of its limit {limit}.",
        statement=statement, source=Source("naitsaada2025", "spectra of random attention at sigma = 1", "arXiv:2410.07799"),
        wording="derived", kind="empirical fit", holds_for="typical", measured=lambda c, s: _spectra(c, s, statistic),
        predicted=lambda st, case: _around(st.rhs, case.tokens),
        grid={"quick": (Case(tokens=64),), "theory": (Case(tokens=192),), "full": (Case(tokens=512),)},
        note=f"The limit is that of random Markov matrices (bulk radius sigma/sqrt(T), reported). The allowance T^(-1/4) is ours, set after "
             f"looking at sizes from 50 to 800, because the rate is not known to us: a consistency check, no evidence of convergence. "
             f"Entries have heavy tails, and at these sizes the mean lies above the limit. {REPLICAS} matrices per case.",
        control=Control(Case(tokens=192), "twice the limit", statement=Eq(quantity, 2 * limit)))


def _around(limit: object, tokens: int) -> Ball:
    """The limit with a relative allowance of T^(-1/4), rounded outwards."""
    value, allowance = Fraction(int(str(limit))), Fraction(math.ceil(10**6 * tokens**-0.25), 10**6)
    return Ball(value * (1 - allowance), value * (1 + allowance))

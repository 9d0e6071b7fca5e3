"""Random attention: row-normalised log-normal matrices and their spectra.

One singular value is large; the bulk lies at distance 1/sqrt(T) from 0.
"""
from __future__ import annotations

import math
from collections.abc import Callable
from fractions import Fraction

import numpy as np
from sympy import Eq
from sympy.core.relational import Relational

from ..claim import Ball, Case, Control, Sample, Source, claim
from ..symbols import quantity

# Independent matrices per case.
REPLICAS = 16

spectral_limit = quantity(
    "spectral_limit", r"\Lambda",
    "a scaled singular value, eigenvalue or stable rank of random attention, mean over matrices",
    "positive real")


def random_attention(rng: np.random.Generator, tokens: int) -> np.ndarray:
    """A T x T matrix of i.i.d. log-normal entries, their deviation their mean, over row sums.

    >>> float(random_attention(np.random.default_rng(0), 1)[0, 0])
    1.0
    """
    weights = np.exp(rng.normal(0.0, math.sqrt(math.log(2)), (tokens, tokens)))
    return np.asarray(weights / weights.sum(axis=1, keepdims=True))


def first_singular(attention: np.ndarray) -> float:
    """s_1."""
    return float(np.linalg.norm(attention, 2))


def second_singular(attention: np.ndarray) -> float:
    """s_2 sqrt(T)."""
    return float(np.linalg.svd(attention, compute_uv=False)[1] * math.sqrt(len(attention)))


def second_eigenvalue(attention: np.ndarray) -> float:
    """|lambda_2| sqrt(T)."""
    sizes = np.sort(np.abs(np.linalg.eigvals(attention)))
    return float(sizes[-2] * math.sqrt(len(attention)))


def stable_rank(attention: np.ndarray) -> float:
    """The stable rank sum s^2 / max s^2 of A A^T."""
    squares = np.linalg.svd(attention, compute_uv=False) ** 4
    return float(squares.sum() / squares[0])


def first_without_mean(attention: np.ndarray) -> float:
    """s_1 sqrt(T) of A - 11^T/T."""
    return float(np.linalg.norm(attention - 1 / len(attention), 2) * math.sqrt(len(attention)))


def _mean_of(statistic: Callable[[np.ndarray], float]) -> Callable[[Case, int], Sample]:
    def measured(case: Case, seed: int) -> Sample:
        rng = case.rng(seed)
        drawn = (random_attention(rng, case.tokens) for _ in range(REPLICAS))
        return Sample(tuple(statistic(attention) for attention in drawn))

    return measured


def _around(statement: Relational, case: Case) -> Ball:
    """The limit with a relative allowance of T^(-1/4), rounded outwards."""
    limit = Fraction(int(statement.rhs))
    allowance = Fraction(math.ceil(10**6 * case.tokens**-0.25), 10**6)
    return Ball(limit * (1 - allowance), limit * (1 + allowance))


CLAIMS = [
    claim(
        Eq(spectral_limit, limit), kind="empirical fit", holds_for="typical", predicted=_around,
        source=Source(
            "naitsaada2025", "spectra of random attention at sigma = 1", "arXiv:2410.07799"),
        cases={"quick": (Case(tokens=64),), "theory": (Case(tokens=192),),
               "full": (Case(tokens=512),)},
        control=Control(
            Case(tokens=192), "twice the limit", statement=Eq(spectral_limit, 2 * limit)),
        name=f"random_attention_{statistic.__name__}",
        doc=f"""Random attention: {what} is near {limit}.

        For row-normalised i.i.d. log-normal T x T attention with deviation equal to mean, the mean
        of {the}{what} is typically within a relative T^(-1/4) of its limit {limit}.

        The limit is that of random Markov matrices (bulk radius sigma/sqrt(T), reported). The
        allowance T^(-1/4) is ours, set after looking at sizes from 50 to 800, because the rate is
        not known to us: a consistency check, no evidence of convergence. Entries have heavy tails,
        and at these sizes the mean lies above the limit. {REPLICAS} matrices per case.""",
    )(_mean_of(statistic))
    for statistic, limit, the, what in (
        (first_singular, 1, "the ", "largest singular value s_1"),
        (second_singular, 2, "the ", "scaled second singular value s_2 sqrt(T)"),
        (second_eigenvalue, 1, "the ", "scaled second eigenvalue |lambda_2| sqrt(T)"),
        (stable_rank, 1, "the ", "stable rank of A A^T"),
        (first_without_mean, 2, "", "s_1 sqrt(T) of A - 11^T/T"))]

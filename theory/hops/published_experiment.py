"""The published k-hop experiment: what follows exactly from its data, and what its table says."""

from __future__ import annotations

import csv
from collections import defaultdict
from collections.abc import Iterator
from fractions import Fraction
from functools import cache
from itertools import pairwise, product
from pathlib import Path
from typing import Any, NamedTuple

from flint import fmpq, fmpq_mat
from sympy import Integer, Rational, Sum, Symbol, binomial

from ..claims.definition import Ball, Case, Control, Exact, claim
from ..claims.relations import Eq, Gt
from ..claims.symbols import alphabet, depth, hops, published_error, quantity, tokens, width
from .construction import ours
from .pointers import find

scored = quantity(
    "scored",
    r"\#_{sc}",
    "expected number of positions with an answer in one sequence of the published experiment",
    "nonnegative real",
)
returns = quantity(
    "return_probability",
    r"p_{ret}",
    r"probability that $\mathrm{hop}_{k+1}$ is the symbol of $\mathrm{hop}_{k-1}$",
    "nonnegative real",
)
gpt_parameters = quantity(
    "gpt_parameters",
    r"N_{GPT}",
    "printed parameter count of a model of the published experiment, embeddings included",
)
guess_error = quantity(
    "best_guess_error",
    r"P_{guess}",
    r"error of the best guess of $\mathrm{hop}_k$ from the current symbol and $k$ alone",
    "positive real",
)
inversions = quantity(
    "inversions",
    r"\#_{inv}",
    "pairs of neighbours in a table that stand in the wrong order",
    "nonnegative integer",
)
hops_learned = quantity(
    "hops_learned",
    r"k_{learn}",
    "largest tested $k$ that a trained model answers with an error below 1/10",
)

# The experiment shows the first 98 of 100 symbols out of 4.
SHOWN, ALPHABET = 98, 4
# A model has learned k hops when it errs on fewer than one scored token in ten.
LEARNED = Fraction(1, 10)
# Printed parameter counts by width, with 4 and 8 heads, of 2 to 6 layers.
PRINTED_PARAMETERS = {
    128: (413_440, 611_712, 809_984, 1_008_256, 1_206_528),
    256: (1_613_312, 2_403_072, 3_192_832, 3_982_592, 4_772_352),
}


class HopError(NamedTuple):
    """Error of one trained model; `status` "reported": a re-run that no code here repeats."""

    hops: int
    depth: int
    dropout: str  # whether it was left "on" or switched "off"
    error: Fraction
    status: str


@cache
def hop_errors() -> tuple[HopError, ...]:
    """Errors of the models of the published experiment with 4 heads and width 128."""
    with (Path(__file__).parent / "hop_errors.csv").open(encoding="utf-8", newline="") as file:
        return tuple(
            HopError(int(hops), int(depth), dropout, Fraction(error), status)
            for hops, depth, dropout, error, status in list(csv.reader(file))[1:]
        )


def error_rows(dropout: str, status: str) -> tuple[HopError, ...]:
    """The rows of `hop_errors` of one kind."""
    return tuple(row for row in hop_errors() if (row.dropout, row.status) == (dropout, status))


# --- data -----------------------------------------------------------------------------------------


@cache
def expected_counts(tokens: int, hops: int, alphabet: int) -> tuple[Fraction, Fraction]:
    """Expected numbers of positions where hop_k exists, and where it equals the current symbol.

    Neighbours always differ; otherwise symbols are uniform. Read backwards from position i, this is
    the same chain: the state is the number of hops done, the symbol just read and the symbol that
    is looked for, and i's own symbol is 0. A hop is done when the symbol looked for is read; the
    next one is that read before it.
    """
    step, states = Fraction(1, alphabet - 1), {(0, 0, 0): Fraction(1)}
    if hops:
        states = {(0, read, 0): step for read in range(1, alphabet)}
    exists = copies = Fraction(0 if hops else 1)
    for _ in range(2, tokens + 1):
        after: dict[tuple[int, int, int], Fraction] = defaultdict(Fraction)
        for (done, read, wanted), p in states.items():
            if done == hops:
                exists += p
                copies += p * (wanted == 0)
                after[done, read, wanted] += p
                continue
            for symbol in set(range(alphabet)) - {read}:
                hop = symbol == wanted
                after[done + hop, symbol, read if hop else wanted] += p * step
        states = after
    return exists, copies


def counted(tokens: int, hops: int, alphabet: int) -> tuple[Fraction, Fraction]:
    """The same by going through every sequence."""
    exists = copies = number = 0
    for sequence in product(range(alphabet), repeat=tokens):
        if all(a != b for a, b in pairwise(sequence)):
            number += 1
            hops_at = [(i, p) for i, p in enumerate(find(sequence, hops)) if p]
            exists += len(hops_at)
            copies += sum(sequence[p - 1] == sequence[i] for i, p in hops_at)
    return Fraction(exists, number), Fraction(copies, number)


s = Symbol("s", integer=True, positive=True)
chance = binomial(s - 1, hops - 1) * (alphabet - 2) ** (s - hops) / (alphabet - 1) ** s
positions = Sum((tokens - 1 - s) * chance, (s, hops, tokens - 2))


@claim(
    Eq(scored, positions),
    source=ours("Section 4.2 and Appendix G"),
    cases={
        "quick": (
            *Case.grid(tokens=(3, 5), hops=(1, 2), alphabet=(3, 4)),
            Case(tokens=6, hops=3, alphabet=3),
            *Case.grid(tokens=SHOWN, hops=(1, 16), alphabet=ALPHABET),
        ),
        "theory": (
            *Case.grid(tokens=7, hops=(1, 2, 3), alphabet=4),
            Case(tokens=10, hops=4, alphabet=3),
            *Case.grid(tokens=SHOWN, hops=(2, 4, 8, 12), alphabet=ALPHABET),
        ),
    },
    control=Control(
        Case(tokens=5, hops=1, alphabet=3),
        "position 2 has no earlier copy",
        Eq(scored, positions.subs(tokens, tokens + 1)),
    ),
    supports="hops/experiment_capacity",
)
def scored_positions(case: Case) -> Exact:
    r"""A negative binomial law gives the expected number of positions with $\mathrm{hop}_k$.

    For $k \geq 1$ and at least two symbols, if neighbours always differ and symbols are otherwise
    uniform, $\mathrm{find}^k$ moves back by $s$, the number of draws of chance $1/(|\Sigma| - 1)$,
    which start two tokens back, until the $k$-th success; $\mathrm{hop}_k$ exists where
    $s \leq i - 2$. Stated is the expected number of such $i$ among $N$.

    Each jump has mean $|\Sigma| - 1$. Measured by going through every sequence; beyond 10 tokens by
    the chain of hops read backwards. In the published experiment, for $k = 1 \ldots 16$ among the
    first 98 symbols out of 4, it is $97 - 3 k$ to the nearest thousandth, larger by the chance to
    run off the start: $3 \cdot 10^{-4}$ at $k = 16$, less below. For $k = 0$ all 98 positions
    count.
    """
    count = counted if case.tokens <= 10 else expected_counts
    return Exact(count(case.tokens, case.hops, case.alphabet)[0])


@claim(
    Eq(returns, 2 / alphabet),
    source=ours("Appendix G"),
    cases={"quick": Case.grid(alphabet=(3, 4, 7, 26))},
    control=Control(
        Case(alphabet=4),
        "not uniform over the three others",
        Eq(returns, Rational(4, 3) / alphabet),
    ),
    supports="hops/experiment_capacity",
)
def return_probability(case: Case) -> Exact:
    r"""$\mathrm{hop}_{k+1}$ repeats $\mathrm{hop}_{k-1}$ with probability $2/|\Sigma|$.

    On an endless sequence of uniform symbols with different neighbours, $\mathrm{hop}_{k+1}$ has
    the symbol of $\mathrm{hop}_{k-1}$ with probability $2/|\Sigma|$, and each other symbol but that
    of $\mathrm{hop}_k$ with probability $1/|\Sigma|$, for every $k \geq 1$.

    So with 4 symbols copying the current one is right for $k = 2$ with probability 1/2: the answers
    are no fair draw.
    """
    # Read backwards from a copy of hop_(k-1)'s symbol 0 in search of symbol 1 = hop_k; the answer
    # is the last symbol before 1 is read.
    others = [s for s in range(case.alphabet) if s != 1]
    step = fmpq(1, case.alphabet - 1)
    system = fmpq_mat([[fmpq(1) if s == t else -step for t in others] for s in others])
    # Expected visits to 0 from 0, times the probability to read 1 next.
    absorbed = system.inv()[0, 0] * step
    return Exact(Fraction(int(absorbed.p), int(absorbed.q)))


@claim(
    Eq(gpt_parameters, 130 * width + 2 * width + depth * (12 * width**2 + 13 * width)),
    source=ours("Appendix G"),
    weight="arithmetic",
    cases={"quick": Case.grid(width=(128, 256), depth=(2, 3, 4, 5, 6))},
    control=Control(
        Case(width=128, depth=2),
        "without biases and norms",
        Eq(gpt_parameters, 130 * width + 12 * depth * width**2),
    ),
    supports="hops/experiment_capacity",
)
def experiment_parameters(case: Case) -> Exact:
    r"""The experiment's models have $132m + L(12m^2 + 13m)$ parameters.

    Each of the ten printed parameter counts ($m = 128$ and 256, $L = 2 \ldots 6$) is $130 m$ for
    the embeddings of 30 tokens and 100 positions, $2 m$ for the last norm, and $12 m^2 + 13 m$ for
    each layer.
    """
    return Exact(PRINTED_PARAMETERS[case.width][case.depth - 2])


# --- errors ---------------------------------------------------------------------------------------


figures = ours("Figures 2, 6 and 8")
PUBLISHED_TABLE: dict[str, Any] = {
    "source": figures,
    "kind": "empirical fit",
    "weight": "measurement",
}
TABLE = tuple(
    Case(hops=row.hops, depth=row.depth, published_error=str(row.error))
    for row in error_rows("on", "printed")
)
ENDS = tuple(case for case in TABLE if case.hops in (1, 16))


def best_guess_error(hops: int) -> Fraction:
    """Error of the best guess of hop_k from the current symbol and k alone, where hop_k exists.

    >>> [round(float(best_guess_error(k)), 4) for k in (1, 2, 4, 8, 16)]
    [0.6667, 0.4959, 0.6532, 0.7339, 0.7495]
    """
    exists, copies = expected_counts(SHOWN, hops, ALPHABET)
    copy = copies / exists
    return 1 - max(copy, (1 - copy) / (ALPHABET - 1))


@claim(
    Gt(guess_error, published_error),
    **PUBLISHED_TABLE,
    cases={"quick": ENDS, "theory": tuple(case for case in TABLE if case not in ENDS)},
    control=Control(
        Case(hops=2, published_error="1/2"),
        "for $k = 2$ copying the symbol already errs on less than half",
    ),
    supports="hops/experiment_capacity",
)
def experiment_beats_guess(case: Case) -> Exact:
    """Every published error of 4 heads beats the best guess.

    For every $k$ and $L$ of the published table (4 heads, width 128), the error lies below that of
    the best guess from the current symbol and $k$ alone.

    The exact errors of that guess are 0.667, 0.496, 0.653, 0.734 and 0.749 for $k = 1$, 2, 4, 8 and
    16, so 3/4 is the wrong yardstick. At $L = 2$ and $k = 16$ the model is only 0.013 better than
    the guess, about two standard errors of 100 sequences if all their 4900 answers were
    independent.
    """
    return Exact(best_guess_error(case.hops))


def _not_smaller(pairs: Iterator[tuple[Fraction, Fraction]]) -> Exact:
    return Exact(sum(second >= first for first, second in pairs))


def _deeper(case: Case) -> Iterator[tuple[Fraction, Fraction]]:
    """Published errors for the case's k, each with that of the next deeper model."""
    return pairwise(row.error for row in error_rows("on", "printed") if row.hops == case.hops)


@claim(
    Eq(inversions, 0),
    **PUBLISHED_TABLE,
    cases={"quick": Case.grid(hops=(1, 2, 4, 8, 16))},
    control=Control(
        Case(hops=8),
        "the other direction",
        measured=lambda case: _not_smaller((b, a) for a, b in _deeper(case)),
    ),
    supports="hops/experiment_capacity",
)
def experiment_deeper_is_better(case: Case) -> Exact:
    r"""For each tested $k$ the published error falls with depth.

    In the published table (4 heads, width 128, $L = 2 \ldots 6$), for each of $k = 1$, 2, 4, 8, 16
    every model errs less than the model one layer shallower.

    That the errors fall with every layer is read off the table. One model per depth, with errors of
    100 sequences and dropout left on: even if all their answers were independent, the models of 4
    and 5 layers would differ by less than one standard error at $k = 1$, and three more pairs of
    neighbours by less than 2.3. The 6-layer model was read at half of its learning-rate schedule.
    """
    return _not_smaller(_deeper(case))


def _dropout(case: Case) -> Iterator[tuple[Fraction, Fraction]]:
    """Reported errors of one model with dropout on, each with that with dropout off."""
    on, off = error_rows("on", "reported"), error_rows("off", "reported")
    return ((a.error, b.error) for a, b in zip(on, off, strict=True) if a.hops == case.hops)


@claim(
    Eq(inversions, 0),
    **PUBLISHED_TABLE | {"source": ours("Appendix G; measured outside this repository")},
    known="UNDECIDED",
    cases={"quick": Case.grid(hops=(1, 8))},
    undecidable=(
        "no run can decide it: a missing file; the public weights are not here (if you have "
        "them, run depthlaw measure hops)"
    ),
    control=Control(
        Case(hops=8),
        "the reported errors in the other direction",
        measured=lambda case: _not_smaller((b, a) for a, b in _dropout(case)),
    ),
    supports="hops/experiment_capacity",
)
def experiment_dropout(case: Case) -> Ball:
    r"""Switching dropout off lowers every error of the public weights.

    Of the public weights (4 heads, width 128, $L = 2 \ldots 5$), each errs less with dropout off
    than with dropout on, for $k = 1$ and $k = 8$.

    Measured outside this repository, and the weights are not here, so what is known here is that 0
    to 4 of the 4 models err as much or more. The reported errors (status 'reported' in
    hop_errors.csv; 100 to 200 sequences of the authors' weights) agree in all 8 cells, with dropout
    on they return the published numbers, and with dropout off the 4-layer model errs on 6.5% for
    $k = 8$, more hops than $2^{L-1} - 1 = 7$. Neither the authors' model file nor their notebooks
    switch dropout off. No run here can decide it: that takes the public weights (depthlaw measure
    hops asks them). Nets trained again are asked both ways in trained_depth/published_dropout_on
    and trained_depth/published_dropout_off.
    """
    # From none to all: no code here measures these models again.
    return Ball(Fraction(0), Fraction(len(list(_dropout(case)))))


@claim(
    Eq(hops_learned, Integer(2) ** (depth - 2)),
    **PUBLISHED_TABLE,
    cases={"quick": Case.grid(depth=(2, 3, 4, 5, 6))},
    control=Control(Case(depth=3), "not $2^{L-1}$", Eq(hops_learned, Integer(2) ** (depth - 1))),
    post_hoc="The limit of 10 % was set with the table in hand.",
    cited="Bears on how many hops a further layer may be said to buy in the published table.",
)
def experiment_capacity(case: Case) -> Exact:
    r"""Published models err below 10% up to $k = 2^{L-2}$.

    In the published table (4 heads, width 128), the largest of $k = 1$, 2, 4, 8, 16 with an error
    below 1/10 is $2^{L-2}$, $L = 2 \ldots 6$.

    Only powers of two were tested, so $2^{L-1} - 1$ would read the same. The limit of 10% is ours:
    it reads so for limits above 6.16% and up to 14.01%, and for no other. One model per depth, and
    its errors were computed with dropout left on (hops/experiment_dropout), so this is no limit of
    what trained models can do.
    """
    rows = [row for row in error_rows("on", "printed") if row.depth == case.depth]
    return Exact(max(row.hops for row in rows if row.error < LEARNED))

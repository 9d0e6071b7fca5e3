"""Exact facts about the data of the published k-hop experiment, from its Markov chain, and its error table (hop_errors.csv)."""
from __future__ import annotations

import csv
from collections import defaultdict
from collections.abc import Callable, Iterator
from fractions import Fraction
from functools import cache
from itertools import pairwise, product
from pathlib import Path
from typing import NamedTuple

from ..values import Ball, Case, Exact
from . import find

# The experiment shows the first 98 of 100 symbols out of 4.
SHOWN, ALPHABET = 98, 4
# A model has learned k hops when it errs on fewer than one scored token in ten.
LEARNED = Fraction(1, 10)
# Printed parameter counts by (width, depth), with 4 and 8 heads.
PRINTED_PARAMETERS = {(128, 2): 413_440, (128, 3): 611_712, (128, 4): 809_984, (128, 5): 1_008_256, (128, 6): 1_206_528,
                      (256, 2): 1_613_312, (256, 3): 2_403_072, (256, 4): 3_192_832, (256, 5): 3_982_592, (256, 6): 4_772_352}


class HopError(NamedTuple):
    """Error of one trained model: `dropout` says whether it was left on; `status` "reported": a re-run that no code here repeats."""

    hops: int
    depth: int
    dropout: str
    error: Fraction
    status: str


@cache
def hop_errors() -> tuple[HopError, ...]:
    """Errors of the models of the published experiment with 4 heads and width 128.

    >>> hop_errors()[0].error
    Fraction(1, 100)
    """
    with (Path(__file__).parent / "hop_errors.csv").open(encoding="utf-8", newline="") as file:
        return tuple(HopError(int(r["hops"]), int(r["depth"]), r["dropout"], Fraction(r["error"]),
        r["status"]) for r in csv.DictReader(file))


def error_rows(dropout: str, status: str) -> tuple[HopError, ...]:
    """The rows of `hop_errors` of one kind."""
    return tuple(row for row in hop_errors() if (row.dropout, row.status) == (dropout, status))


@cache
def expected_counts(tokens: int, hops: int, alphabet: int) -> tuple[Fraction, Fraction]:
    """Expected numbers of positions in a sequence where hop_k exists, and where it equals the current symbol. Exact.

    Neighbours always differ; otherwise symbols are uniform. Read backwards from position i, this is the same chain: the state is the
    number of hops done, the symbol just read and the symbol that is looked for, and i's own symbol is 0. A hop is done when the symbol
    looked for is read; the next one is that read before it.

    >>> expected_counts(4, 1, 3)
    (Fraction(5, 4), Fraction(0, 1))
    """
    step = Fraction(1, alphabet - 1)
    states: dict[tuple[int, int, int], Fraction] = {(0, read, 0): step for read in range(1, alphabet)} if hops else {(0, 0, 0): Fraction(1)}
    exists, copies = (Fraction(1), Fraction(1)) if not hops else (Fraction(0), Fraction(0))
    for _ in range(2, tokens + 1):
        exists += sum((p for (done, _, _), p in states.items() if done == hops), Fraction(0))
        copies += sum((p for (done, _, wanted), p in states.items() if done == hops and wanted == 0), Fraction(0))
        after: dict[tuple[int, int, int], Fraction] = defaultdict(Fraction)
        for (done, read, wanted), p in states.items():
            if done == hops:
                after[done, read, wanted] += p
                continue
            for symbol in range(alphabet):
                if symbol != read:
                    after[(done + 1, symbol, read) if symbol == wanted else (done, symbol, wanted)] += p * step
        states = after
    return exists, copies


def counted(tokens: int, hops: int, alphabet: int) -> tuple[Fraction, Fraction]:
    """The same by going through every sequence.

    >>> counted(4, 1, 3) == expected_counts(4, 1, 3)
    True
    """
    exists = copies = number = 0
    for sequence in product(range(alphabet), repeat=tokens):
        if all(a != b for a, b in pairwise(sequence)):
            number += 1
            found = [(i, p) for i, p in enumerate(find(sequence, hops)) if p]
            exists += len(found)
            copies += sum(sequence[p - 1] == sequence[i] for i, p in found)
    return Fraction(exists, number), Fraction(copies, number)


def best_guess_error(hops: int, tokens: int = SHOWN, alphabet: int = ALPHABET) -> Fraction:
    """Error of the best guess of hop_k from the current symbol and k alone, over the positions where hop_k exists. Exact.

    >>> [round(float(best_guess_error(k)), 4) for k in (1, 2, 4, 8, 16)]
    [0.6667, 0.4959, 0.6532, 0.7339, 0.7495]
    """
    exists, copies = expected_counts(tokens, hops, alphabet)
    copy = copies / exists
    return 1 - max(copy, (1 - copy) / (alphabet - 1))


def scored_by_counting(case: Case, seed: int) -> Exact:
    """See `counted`."""
    return Exact(counted(case.tokens, case.hops, case.alphabet)[0])


def scored_thousandths(case: Case, seed: int) -> Exact:
    """Expected scored positions of one sequence of the experiment, to the nearest thousandth."""
    return Exact(Fraction(round(1000 * expected_counts(SHOWN, case.hops, ALPHABET)[0]), 1000))


def guess_error(case: Case, seed: int) -> Exact:
    """See `best_guess_error`."""
    return Exact(best_guess_error(case.hops))


def return_probability(case: Case, seed: int) -> Exact:
    """Probability that hop_(k+1) has the symbol of hop_(k-1), on an endless sequence: absorption, solved in rational numbers.

    Read backwards from a copy of hop_(k-1)'s symbol 0 in search of symbol 1 = hop_k; the answer is the last symbol before 1 is read.
    """
    from flint import fmpq, fmpq_mat

    others = [s for s in range(case.alphabet) if s != 1]
    step = fmpq(1, case.alphabet - 1)
    system = fmpq_mat([[fmpq(int(s == t)) - (step if s != t else fmpq(0)) for t in others] for s in others])
    # Expected visits to 0 from 0, times the probability to read 1 next.
    visits = system.inv()[0, 0]
    absorbed = visits * step
    return Exact(Fraction(int(absorbed.p), int(absorbed.q)))


def printed_parameters(case: Case, seed: int) -> Exact:
    """The count that the authors print."""
    return Exact(PRINTED_PARAMETERS[case.width, case.depth])


def counted_parameters(width: int, depth: int, vocabulary: int = 30, positions: int = 100) -> int:
    """Sizes of all tensors of the GPT-2 model that the experiment builds, added up.

    >>> counted_parameters(128, 2)
    413440
    """
    m = width
    norm, block = [m, m], [3 * m * m, 3 * m, m * m, m, 4 * m * m, 4 * m, 4 * m * m, m]
    return sum([vocabulary * m, positions * m, *norm, *([*norm, *norm, *block] * depth)])


def inversions(order: Callable[[Case], Iterator[tuple[Fraction, Fraction]]]) -> Callable[[Case, int], Exact]:
    """Pairs (first, second) of neighbours of a table in which the second is not smaller."""
    def measured(case: Case, seed: int) -> Exact:
        return Exact(sum(second >= first for first, second in order(case)))
    return measured


def deeper(case: Case) -> Iterator[tuple[Fraction, Fraction]]:
    """Published errors for the case's k, each with that of the next deeper model."""
    return pairwise(row.error for row in error_rows("on", "printed") if row.hops == case.hops)


def shallower(case: Case) -> Iterator[tuple[Fraction, Fraction]]:
    """The same in the wrong direction."""
    return ((b, a) for a, b in deeper(case))


def with_and_without_dropout(case: Case) -> Iterator[tuple[Fraction, Fraction]]:
    """Reported errors of one model with dropout on, each with that of the same model with dropout off."""
    on, off = error_rows("on", "reported"), error_rows("off", "reported")
    return ((a.error, b.error) for a, b in zip(on, off, strict=True) if a.hops == case.hops)


def not_rerun_here(order: Callable[[Case], Iterator[tuple[Fraction, Fraction]]]) -> Callable[[Case, int], Ball]:
    """What this repository knows of the inversions of a table that it cannot measure again: from none to all of its pairs."""
    def measured(case: Case, seed: int) -> Ball:
        return Ball(Fraction(0), Fraction(sum(1 for _ in order(case))))
    return measured


def learned(case: Case, seed: int) -> Exact:
    """The largest tested k that the published model of the case's depth answers with an error below `LEARNED`."""
    return Exact(max(row.hops for row in error_rows("on", "printed") if row.depth == case.depth and row.error < LEARNED))

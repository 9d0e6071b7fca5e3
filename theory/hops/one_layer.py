"""What one layer cannot do, by counting bits or letters: hop_k and composition."""

from __future__ import annotations

from collections.abc import Sequence
from fractions import Fraction
from functools import cache
from itertools import combinations, product

from sympy import Integer, log

from ..claims.definition import Case, Control, Exact, Formal, Source, claim
from ..claims.relations import Eq, Ge
from ..claims.symbols import hops as hop_number, quantity, summaries, tokens
from .pointers import hop_k

domain_size = quantity("domain_size", "n", "size of the domain of the functions that are composed")
summary_bits = quantity(
    "summary_bits",
    "B",
    "bits of a summary of a function that is all that the read-out knows of it",
    "nonnegative integer",
)
error = quantity(
    "composition_error",
    r"P_{err}",
    "least error of reading $f(x)$ off a summary of $f$, $f$ and $x$ uniform",
    "nonnegative real",
)
counting_letters = quantity(
    "counting_letters",
    r"\#_{letters}",
    r"letters of a word that each change $\mathrm{hop}_k$ at its end",
)
_COPIED = 2
two = Integer(2)


def index_sequence(bits: Sequence[int], index: int, hops: int = 1) -> list[int]:
    """The reduction from INDEX: the answer of hop_k at the last token is the bit at the index.

    Bits stand at even positions, symbol 2 before the bit asked for (else 0), and behind them pairs
    (3, 2), (4, 3), ..., so that k - 1 forced hops lead from the last token to a symbol 2.

    >>> index_sequence([0, 1], 1), index_sequence([0, 1], 1, 3)
    ([0, 0, 2, 1, 2], [0, 0, 2, 1, 3, 2, 4, 3, 4])
    """
    sequence = []
    for j, bit in enumerate(bits):
        sequence += [_COPIED if j == index else 0, bit]
    for symbol in range(_COPIED, _COPIED + hops - 1):
        sequence += [symbol + 1, symbol]
    return [*sequence, _COPIED + hops - 1]


@cache
def hops_ask_for_every_bit(hops: int, count: int = 4) -> bool:
    """Whether hop_k at the last token is the bit asked for, for all words and all indices."""
    return all(
        hop_k(index_sequence(bits, i, hops), hops)[-1] == bits[i]
        for bits in product((0, 1), repeat=count)
        for i in range(count)
    )


@claim(
    Eq(summaries, two ** ((tokens - 1) / 2)),
    assumes={"the reduction has an odd number of tokens": lambda case: case.tokens % 2 == 1},
    source=Source(
        "depthlaw", "after sanford2024one, arXiv:2408.14332 (as reported), the theorem on one layer"
    ),
    cases={"quick": Case.grid(tokens=(1, 3, 7, 13)), "theory": Case.grid(tokens=(17, 21))},
    control=Control(Case(tokens=7), "not one bit less", Eq(summaries, two ** ((tokens - 3) / 2))),
    cited=(
        "Decides whether $(N - 1)/2$ bits may be quoted as what one layer must carry for induction."
    ),
    formal=Formal(
        "Index.one_layer_index_checked",
        "Index.summaries_value {tokens}",
        "The count is exact on the sequences of the reduction, where even positions hold bits; "
        "over all sequences of three symbols only the lower end follows, and that one layer "
        "passes on no more than a summary is prose.",
    ),
)
def one_layer_index(case: Case) -> Exact:
    r"""Half a sequence needs $2^{(N-1)/2}$ summaries for one induction query.

    For every odd $N$, over 3 symbols, the $(N-1)/2$ tokens at even positions, which hold bits, need
    $2^{(N-1)/2}$ different summaries, if $\mathrm{hop}_1$ at token $N$ is to be read off the
    summary and the other tokens. One layer with $H$ heads of width $m$ and $p$ bits passes on $H (m
    + 1)$ sums of $p$ bits, so $H (m + 1) p \geq (N-1)/2$.

    The reduction from INDEX, executed: every word of bits has its own row of answers. So with any
    read-out a head of width 1 whose two sums have $p$ bits each errs for some index on all but
    $2^{2 p}$ words: of the words that share their sums at most one is right for every index. That
    one layer passes on so many sums is prose. sanford2024one states $H m p = \Omega(N)$, as
    reported; the constant 1/2 and the $m + 1$ are those of this reduction.
    """
    n = (case.tokens - 1) // 2
    rows = {
        tuple(hop_k(index_sequence(bits, i), 1)[-1] for i in range(n))
        for bits in product((0, 1), repeat=n)
    }
    return Exact(len(rows))


def _counted(word: Sequence[int], hops: int) -> Exact:
    """How many letters of a word change hop_k at the last token, if another is put there."""
    given = hop_k(word, hops)[-1]
    others = {0, _COPIED, *word}
    changed = (
        any(hop_k([*word[:j], x, *word[j + 1 :]], hops)[-1] != given for x in others)
        for j in range(len(word))
    )
    return Exact(sum(changed))


@claim(
    Ge(counting_letters, tokens - 2 * hop_number + 1),
    source=Source("depthlaw", "after sanford2024, arXiv:2402.09268v1, Definition 4.1"),
    cases={
        "quick": (
            *Case.grid(tokens=(2, 5, 16), hops=1),
            *Case.grid(tokens=(8, 20), hops=(2, 3, 4)),
        ),
        "theory": Case.grid(tokens=(40, 64), hops=(1, 2, 5, 7, 15)),
    },
    assumes={r"$N \geq 2 k$": lambda case: case.tokens >= 2 * case.hops},
    control=Control(
        Case(tokens=8, hops=1),
        "a word of one letter, of which the last ones count",
        measured=lambda case: _counted([0] * case.tokens, case.hops),
    ),
    supports="hops/one_layer_index",
)
def letters_that_count(case: Case) -> Exact:
    r"""$\mathrm{hop}_k$ depends on all letters but $2 k - 1$.

    For every $k \geq 1$ and $N \geq 2 k$ there is a word of $N$ letters, over $k + 1$ symbols, of
    which at least $N - 2 k + 1$ letters each change $\mathrm{hop}_k$ at the last token, if another
    one is put in their place.

    The word is $0 \ldots 0$ and a tail by which $k - 1$ hops lead to a symbol 2; there is no
    $k$-th one until a 2 stands among the zeros, wherever it does. In $L$ layers of one lookup a
    layer, whose keys are functions of the place alone, a token reads at most $2^L$ letters of a
    word, since each layer adds those of one other token. So $2^L \geq N - 2 k + 1$, and no fixed
    number of such layers does $\mathrm{hop}_k$, not even for $k = 1$. That is prose.
    """
    zeros = case.tokens - 2 * case.hops + 1
    return _counted([0] * zeros + index_sequence([], 0, case.hops), case.hops)


def _least_error(points: int, bits: int) -> Exact:
    """Least error of reading f(x) off a summary of f with 2^bits values: an exhaustive search.

    A summary's best read-out is one function for each value, so the error is the mean Hamming
    distance to the nearest of so many functions.
    """
    functions = list(product(range(points), repeat=points))
    apart = [[sum(a != b for a, b in zip(f, g, strict=True)) for g in functions] for f in functions]
    # Relabelling the values at each point maps any function to any other: the first may be chosen.
    best = min(
        sum(map(min, zip(*(apart[c] for c in (0, *chosen)), strict=True)))
        for chosen in combinations(range(1, len(functions)), 2**bits - 1)
    )
    return Exact(Fraction(best, len(functions) * points))


entropy = domain_size * log(domain_size) / log(2)


@claim(
    Ge(error, (entropy - summary_bits) / (3 * entropy)),
    source=Source(
        "depthlaw",
        "after peng2024, arXiv:2402.08164 (as reported), composition of functions by one layer",
    ),
    cases={
        "quick": (
            *Case.grid(domain_size=(2, 3), summary_bits=(0, 1)),
            Case(domain_size=4, summary_bits=1),
        ),
        "theory": (Case(domain_size=3, summary_bits=2), Case(domain_size=4, summary_bits=0)),
    },
    assumes={
        r"fewer bits than $n \log_2 n$": lambda case: (
            2**case.summary_bits < case.domain_size**case.domain_size
        )
    },
    control=Control(
        Case(domain_size=2, summary_bits=0),
        "a summary of one bit, where none is granted",
        measured=lambda case: _least_error(case.domain_size, case.summary_bits + 1),
    ),
    supports="hops/one_layer_index",
)
def composition_error(case: Case) -> Exact:
    r"""A short summary of $f$ leaves a composition error.

    For every $n \geq 2$ and every summary of $B < n \log_2 n$ bits of a uniform function $f$ on $n$
    points, $f(x)$ at a uniform point $x$ is read off the summary and $x$ with an error probability
    of at least $(n \log_2 n - B)/(3 n \log_2 n)$.

    Every summary of these sizes is tried. The constant 1/3 has room: the least ratio of the two
    sides here is 3/2. That a one-layer transformer composes functions with $B = H (d + 1) p$, where
    peng2024 applies it, is prose, not measured.
    """
    return _least_error(case.domain_size, case.summary_bits)

"""One causal head finds the last EARLIER copy at once: hop_k in as few layers as printed.

Numbers of O(log N) bits in floating point may be as large as 4^N and as small as 4^-N. So a score
can rank all earlier copies of a token by their place, above the start token, and that above the
token itself.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from functools import partial
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sympy import Rational, Symbol, exp, floor, log
from sympy.core.relational import Relational

from ..claims.definition import Case, Control, Exact, Formal, Step, claim
from ..claims.proof_steps import equal, nonnegative, remark, vanish
from ..claims.relations import Eq
from ..claims.symbols import hops as hop_number
from ..nets.attention import AttentionNet
from ..nets.json_format import changed
from .construction import layers_used, log2_k, ours
from .hop_nets import BASE, SKIP, net_depth, self_skipping_net, simulated_depth, with_softmax
from .pointers import hop_k

Numbers = NDArray[Any]  # of doubles
Features = tuple[Numbers, ...]

# Doubles end at 2^1024; the largest feature is 2 16^(N/2) or 8 x^2 4^(N/2) for symbols x.
LONGEST_IN_DOUBLES = 500


def first_features(x: Numbers) -> tuple[Features, Features]:
    """Queries and keys of layer 1, four numbers each, of the start token and the symbols from 1.

    The score is that of `self_skipping_net`, in doubles, for which places are counted from the
    middle.
    """
    places = np.arange(len(x))
    middle = (len(x) - 1) // 2
    common, up = np.full_like(x, float(BASE) ** middle), float(BASE) ** (places - middle)
    own, across = 1 - 2 * x * x, np.full_like(x, -2)
    own[0], across[0] = 1, 0  # The start token is a copy of every symbol.
    query = (common, common * x * x, common * x, float(BASE) ** (2 * middle - places))
    return query, (up * own, up * across, 4 * up * x, -SKIP * up * up)


def scores(query: Features, key: Features) -> Numbers:
    """Inner products of queries with the keys that they see, added up from the left; else 0."""
    seen = np.tri(len(query[0]), dtype=bool)
    total = np.zeros(seen.shape)
    for q, k in zip(query, key, strict=True):
        total += np.multiply(q[:, None], k[None, :], out=np.zeros_like(total), where=seen)
    return total


def shares(scored: Numbers, softmax: bool) -> Numbers:
    """What each token attends to under the causal mask: by softmax, or the largest scores alone."""
    scored = np.where(np.tri(len(scored), dtype=bool), scored, -np.inf)
    apart = scored - scored.max(axis=1, keepdims=True)
    weights = np.exp(apart) if softmax else (apart == 0).astype(float)
    return weights / weights.sum(axis=1, keepdims=True)


def sharpness(tokens: int, alphabet: int) -> int:
    """What softmax multiplies its scores by: the least power of two from 2 ln(16 L M^2) on, for
    L = 12 layers and M = N + |Sigma| + 1.

    >>> sharpness(500, 26)
    64
    """
    least = 2 * math.log(16 * 12 * (tokens + alphabet + 1) ** 2)
    return 1 << (math.ceil(least) - 1).bit_length()


def in_doubles(
    sequence: Sequence[int], hops: int, factor: float | None = None
) -> Iterator[list[int]]:
    """Answers after each layer of `self_skipping_net` in doubles, -1 for none. With a factor its
    heads are softmax, of scores times the factor. A ValueError for words too long for doubles.
    """
    if len(sequence) > LONGEST_IN_DOUBLES:
        raise ValueError(
            f"{len(sequence)} symbols: 16^N needs N at most {LONGEST_IN_DOUBLES} in doubles"
        )
    says = np.array([0.0, *(x + 1.0 for x in sequence)])
    places = np.arange(len(says)).astype(float)

    def mean(features: tuple[Features, Features], *values: Numbers) -> list[Numbers]:
        query, key = features
        scored = scores(tuple((factor or 1) * q for q in query), key)
        weights = shares(scored, factor is not None)
        return [(weights * held[None, :]).sum(axis=1) for held in values]

    (aim,) = mean(first_features(says), np.where(places, places + 1, 0))
    while True:
        yield (np.rint(says[1:]).astype(int) - 1).tolist()
        if not hops:
            return
        # The score 2 aim j - j^2 is largest where j = aim.
        looked_up = ((aim, np.ones_like(places)), (2 * places, -places * places))
        after, there = mean(looked_up, aim, says)
        aim, says, hops = after, there if hops & 1 else says, hops >> 1


# --- claims ---------------------------------------------------------------------------------------

_ASKED = (1, 2, 3, 4, 5, 6, 7, 15)
_WORDS = {
    "quick": (
        *Case.grid(hops=_ASKED[:-1], tokens=7, alphabet=2, exhaustive=True, doubles=False),
        Case(hops=15, tokens=9, alphabet=2, exhaustive=True, doubles=False),
        *Case.grid(hops=(3, 7), tokens=5, alphabet=3, exhaustive=True, doubles=False),
        Case(hops=3, tokens=500, alphabet=26, repeats=True, doubles=True),
        Case(hops=15, tokens=500, alphabet=2, repeats=False, doubles=True),
    ),
    "theory": (
        *Case.grid(hops=_ASKED, tokens=10, alphabet=2, exhaustive=True, doubles=False),
        *Case.grid(hops=_ASKED[:-1], tokens=7, alphabet=3, exhaustive=True, doubles=False),
        *Case.grid(
            hops=(4, 5, 7, 15), tokens=(100, 500), alphabet=(2, 3, 26), repeats=True, doubles=True
        ),
    ),
}


def _depth(case: Case, seed: int, net: AttentionNet, factor: float | None = None) -> Exact:
    """By the net on all words of a length, in doubles on long ones."""
    if case.get("exhaustive"):
        return net_depth(case, seed, net, "one-causal-head")
    return simulated_depth(case, seed, partial(in_doubles, factor=factor))


def _soft(case: Case, seed: int, factor: int) -> Exact:
    net = with_softmax(self_skipping_net(case.hops, case.alphabet), factor)
    return _depth(case, seed, net, factor)


@claim(
    Eq(layers_used, floor(log2_k) + 2),
    source=ours("Theorem 4.2"),
    kind="construction",
    cases=_WORDS,
    control=Control(
        Case(hops=3, tokens=6, alphabet=2, exhaustive=True, doubles=False),
        "without the term by which a token skips itself",
        measured=lambda case, seed: _depth(
            case,
            seed,
            changed(self_skipping_net(3, 2), "layers", 0, "heads", 0, "key", 3, 13, to=0),
        ),
    ),
    cited=r"Decides whether $\lfloor \log_2 k \rfloor + 2$ layers may be quoted for "
    r"$\mathrm{hop}_k$ in floating point.",
    formal=Formal(
        "HopsSelfSkip.hop_depth_checked",
        "HopsSelfSkip.floor_layers_value {hops}",
        "That sums of products rounded to so many bits err by no more than the theorem allows; the "
        "claim's queries, which are those of the theorem times a power of 4.",
    ),
)
def depth_printed_floating(case: Case, seed: int) -> Exact:
    r"""With floats, one head computes $\mathrm{hop}_k$ in $\lfloor \log_2 k \rfloor + 2$ layers.

    For every $k \geq 1$, every $N$ and every alphabet, the hard-attention network with one head a
    layer, a causal mask, a start token and a width that depends on none of them, in floating point
    of $O(\log(N + |\Sigma|))$ bits, is right on every token of every sequence from layer
    $\lfloor \log_2 k \rfloor + 2$ on; and on some not before, if they are long enough.

    For symbols $x = 1, 2, \ldots$ the score of token $j$ for token $i$ in layer 1 is
    $4^j (1 - 2 (x_i - x_j)^2) - 2 \cdot 4^{2j-i}$, of four numbers a token; the start token, at
    place 0, counts as a copy of every symbol. Of equal symbols the last one before $i$ scores
    highest, any of them more than the start token, that more than 0, and the token itself and
    other symbols less. So one layer gives $\mathrm{find}^1$. Then layer $t + 2$ looks up the token
    at $\mathrm{find}^{2^t}$ by the score $2pj - j^2$; the answer there is taken over if digit $t$
    of $k$ is 1. No score that decides is tied. The net is run on all words of a length, in exact
    numbers. Words of 100 symbols and more are run in IEEE doubles, and the class is words there,
    since exact numbers have thousands of bits. In the source numbers are at most $N^{\zeta}$ in
    steps of $N^{-\zeta}$, which is fixed point; there this ranking is impossible
    (hops/self_skip_subset_sums), and hops/depth_printed is open.
    """
    return _depth(case, seed, self_skipping_net(case.hops, case.alphabet))


def _score_steps() -> Iterator[Step]:
    """Scores over 4^i, for u = 4^(j-i): u (1 - 2 d^2) - 2 u^2, for d the distance of symbols."""
    a, b, e = (Symbol(name, nonnegative=True) for name in ("a", "b", "e"))
    x, y, u, v = (Symbol(name, positive=True) for name in ("x", "y", "u", "v"))
    query, key = (1, x**2, x, u**-1), (u * (1 - 2 * y**2), -2 * u, 4 * u * y, -SKIP * u**3)
    yield equal(
        "layer 1: four numbers of query and key give u (1 - 2 (x - y)^2) - 2 u^2",
        sum(q * k for q, k in zip(query, key, strict=True)),
        u * (1 - 2 * (x - y) ** 2) - SKIP * u**2,
    )
    copy = u - SKIP * u**2
    yield equal(
        "two copies differ by (u - v) (1 - 2 (u + v))",
        copy - copy.subs(u, v),
        (u - v) * (1 - 2 * (u + v)),
    )
    nearer = 1 / (BASE + a)
    farther = nearer / (BASE + b)
    yield nonnegative(
        "for u <= 1/4 and v <= u/4 that is at least 3/8 (u - v): the nearer copy wins, the start "
        "token, a copy at place 0, is the farthest",
        1 - SKIP * (nearer + farther) - Rational(3, 8),
    )
    yield nonnegative("a copy scores at least u/2, more than 0", copy.subs(u, nearer) - nearer / 2)
    yield nonnegative(
        "another symbol, d^2 = 1 + e, scores at most -u", -u - (u * (1 - 2 * (1 + e)) - SKIP * u**2)
    )
    yield Step("the token itself, u = 1, scores -1", copy.subs(u, 1) == -1)


def _depth_steps(statement: Relational) -> Iterator[Step]:
    p, j = Symbol("p"), Symbol("j")
    yield equal("2 p j - j^2 = p^2 - (j - p)^2", 2 * p * j - j**2, p**2 - (j - p) ** 2)
    yield remark(
        "after layer t + 1 a token holds find^(2^t) and hop_r, r = k mod 2^t: the token found "
        "holds find^(2^t) and hop_r of its own, and pointers add up (hops/doubling)"
    )
    yield remark("pointers lead to the token itself, to earlier ones or the start: none is masked")
    asked = range(1, 130)
    yield Step(
        "one layer, and one for each binary digit of k",
        all(statement.rhs.subs(hop_number, k) == 1 + k.bit_length() for k in asked),
    )
    yield Step(
        "a layer earlier it is hop_r, r < k, which token k + 1 of 0, 1, 0, 1 ... has, not hop_k",
        all(
            hop_k([i % 2 for i in range(k + 1)], hops)[-1] in given
            for k in asked
            for hops, given in ((k, [None]), (k - (1 << k.bit_length() - 1), [0, 1]))
        ),
    )


@depth_printed_floating.argument(
    "The inequalities between scores are checked for all places and symbols, the depth for k < "
    "130; prose: induction over the layers, and that k has floor(log2 k) + 1 binary digits."
)
def _(statement: Relational) -> Iterator[Step]:
    """The best score of layer 1 is that of the last earlier copy; then pointers double."""
    yield from _score_steps()
    yield from _rounding_steps()
    yield from _depth_steps(statement)


def _rounding_steps() -> Iterator[Step]:
    """In units of 4^j the summands of a score add up to 3 + 2 (x + y)^2 at most."""
    x, y = (Symbol(name, positive=True) for name in ("x", "y"))
    w = Symbol("w", nonnegative=True)
    yield nonnegative(
        "the summands of a score, in units of 4^j, add up to at most 3 + 2 (x + y)^2",
        3 + 2 * (x + y) ** 2 - ((1 + 2 * y**2) + 2 * x**2 + 4 * x * y + 2),
    )
    yield remark(
        "so with errors of 1/(32 (3 + 8 A^2)) of that, for A symbols, which takes 2 log2 A + O(1) "
        "bits of mantissa, a score errs by at most 4^j/32"
    )
    # w = 4^j - 4: the best is a copy at place j >= 1, the next one at most at place j - 1.
    best = 4 + w
    gap = Rational(3, 8) * (best - best / 4) - (best + best / 4) / 32
    yield nonnegative(
        "a nearer copy still wins by 1/2 or more: 3/8 (4^j - 4^(j-1)) less both errors",
        gap - Rational(1, 2),
    )
    yield nonnegative(
        "a copy at j >= 1 scores 4^j/2 or more, less its error; the start token 1/2 or more",
        best / 2 - best / 32 - Rational(1, 2),
        Rational(1, 2) - Rational(1, 32),
    )
    yield nonnegative(
        "the token itself and other symbols score at most -4^j, which an error leaves below -1/2",
        best - best / 32 - Rational(1, 2),
    )
    yield remark("so every best score is above every other one by 1/2 or more, as computed")


@claim(
    Eq(layers_used, floor(log2_k) + 2),
    source=ours("Theorem 4.2"),
    kind="construction",
    cases={
        "quick": (
            *Case.grid(hops=(1, 3, 4, 7), tokens=7, alphabet=2, exhaustive=True),
            Case(hops=15, tokens=500, alphabet=2, repeats=False),
        ),
        "theory": (
            *Case.grid(hops=(2, 5, 6, 15), tokens=9, alphabet=2, exhaustive=True),
            *Case.grid(hops=(3, 7), tokens=5, alphabet=3, exhaustive=True),
            *Case.grid(hops=(3, 7), tokens=500, alphabet=(3, 26), repeats=True),
        ),
    },
    control=Control(
        Case(hops=3, tokens=6, alphabet=2, exhaustive=True),
        "scores that are not multiplied",
        measured=partial(_soft, factor=1),
    ),
    supports="hops/depth_printed_floating",
)
def depth_printed_softmax(case: Case, seed: int) -> Exact:
    r"""With floats, softmax computes $\mathrm{hop}_k$ in $\lfloor \log_2 k \rfloor + 2$ layers.

    For every $k \geq 1$, every $N$ and every alphabet, the network of hops/depth_printed_floating
    with softmax in place of hard attention, its scores multiplied by a number of order
    $\log(L (N + |\Sigma|))$ for $L$ layers, in floating point of $O(\log(L (N + |\Sigma|)))$ bits,
    is right on every token of every sequence from layer $\lfloor \log_2 k \rfloor + 2$ on, if
    softmax subtracts the largest score before it exponentiates; and on some not before, if they are
    long enough.

    Every best score, as computed, is above the others by 1/2 or more, since the query of layer 1
    is $4^i$ times what hard attention would need. So the other tokens have a share of at most
    $N e^{-s/2}$ for scores multiplied by $s = 2 \ln(16 L M^2)$, $M = N + |\Sigma| + 1$, and a
    layer adds at most $1/(16 L)$ to the error of pointers and answers, which are at most $M$.
    Scores grow as $4^N$: their exponents have $O(\log N)$ bits, those of their exponentials would
    have $2 N$ and more. With $s$ rounded up to a power of two, for 12 layers, the net is run on all
    words of a length, in balls, and on longer ones in IEEE doubles, where the class is words.
    """
    return _soft(case, seed, sharpness(case.tokens, case.alphabet))


@depth_printed_softmax.argument(
    "The inequalities between scores and the sum of errors are checked; prose: softmax with its "
    "largest score subtracted rounds N shares by a relative error of order N times that of one "
    "number, induction over the layers, and that k has floor(log2 k) + 1 binary digits."
)
def _(statement: Relational) -> Iterator[Step]:
    """Every gap is at least 1/2, so shares, pointers and answers are right to 1/8."""
    yield from _score_steps()
    yield from _rounding_steps()
    L, M = (Symbol(name, integer=True, positive=True) for name in "LM")
    r = Symbol("r", nonnegative=True)
    steps = r + 1
    yield nonnegative(
        "a pointer right to 1/8 looks up its token: a token m steps away scores m^2 - m/4 less, at "
        "least 3/4, which leaves 1/2 if scores are computed to 1/8",
        steps**2 - steps / 4 - Rational(3, 4),
    )
    share = 1 / (16 * L * M**2)
    yield equal("exp(-s/2) is 1/(16 L M^2)", exp(-2 * log(16 * L * M**2) / 2), share)
    yield nonnegative(
        "N <= M tokens with values up to M add at most 1/(16 L) to an error",
        1 / (16 * L) - M * M * share,
    )
    yield remark("rounding adds no more than that with O(log(L M)) bits of mantissa")
    yield vanish("after L layers errors are at most 1/8", L * 2 / (16 * L) - Rational(1, 8))
    yield from _depth_steps(statement)

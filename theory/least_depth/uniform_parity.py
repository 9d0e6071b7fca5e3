"""Parity by two softmax layers whose weights and positions are the same at every length.

No layer norm, no feed-forward network, one head a layer, with a causal mask or none. The word
stands between a start and an end token; a token enters as the sum of a vector of its own and one
of its place, which grows as a polynomial.
"""

from __future__ import annotations

from collections.abc import Iterator
from fractions import Fraction

from flint import arb
from sympy import Rational, Symbol, exp, pi
from sympy.core.relational import Relational

from ..atlas.tasks import parity_bits
from ..claims.definition import Ball, Case, Control, Formal, Source, Step, claim
from ..claims.proof_steps import equal, nonnegative, remark
from ..claims.relations import Ge
from ..exact.enclosure import from_fraction, sign as sign_of
from ..nets.attention import AttentionNet
from ..nets.balls import read_out
from ..nets.builder import Stream
from ..nets.classes import in_class
from .parity import Bits, sign, signed_output

# What the last layer multiplies its scores by.
SHARPNESS = 4
# Of longer words the claim follows what the end token reads alone, since the whole net takes a
# product for each pair of tokens.
SHORT = 10


def counted(word: Bits, zeros: int = 3) -> tuple[Fraction, Fraction]:
    """What layer 1 writes at the end token: (c + e)/D and 1/D, for c ones, e < 1/N^2, D < pi^2/6.

    The start token is at place 0, the end token at N - 1. The score of a token at place j is -2
    ln(j + 1), minus ln(N) times `zeros` for a zero and 5 for the end token, where ln(N) is in the
    query. The values are (j + 1)^2, minus 1 for the start token, and 1 for the start token alone.

    >>> counted([1])
    (Fraction(8784, 10939), Fraction(8748, 10939))
    """
    N = len(word) + 2
    weights = [
        Fraction(1),
        *(Fraction(1, (j + 1) ** 2 * N ** (0 if bit else zeros)) for j, bit in enumerate(word, 1)),
        Fraction(1, N**7),
    ]
    values = [(j + 1) ** 2 - (j == 0) for j in range(N)]
    total = sum(weights, Fraction(0))
    count = sum((w * v for w, v in zip(weights, values, strict=True)), Fraction(0))
    return count / total, 1 / total


def output(word: Bits, sharpness: int = SHARPNESS, zeros: int = 3) -> arb:
    """A ball around what layer 2 writes at the end token: positive for an even number of ones.

    The score of the token at place i is sharpness (2 a i - b i^2), for what layer 1 wrote, a and b;
    its value is (-1)^i.
    """
    a, b = map(from_fraction, counted(word, zeros))
    scores = [sharpness * (2 * a * i - b * i**2) for i in range(len(word) + 2)]
    # A common factor of all weights cancels.
    weights = [(score - scores[sum(word)]).exp() for score in scores]
    signed = [w if i % 2 == 0 else -w for i, w in enumerate(weights)]
    return sum(signed, arb(0)) / sum(weights, arb(0))


def uniform(sharpness: int = SHARPNESS, zeros: int = 3) -> AttentionNet:
    """The net of every length, positive for an odd number of ones; see `counted` and `output`."""
    stream = Stream(
        ["everywhere", "0", "?", ">", "less", "a", "b", "even"],
        {"log": "log(i + 1)", "values": "(i + 1)^2", "i": "i", "i^2": "i^2", "sign": "(-1)^i"},
    )
    count = stream.head(
        "softmax",
        "causal",
        [{"everywhere": 1}, {"log": 1}],
        [{"log": -2}, {"0": -zeros, "?": -5}],
        {"values+less": "a", ">": "b"},
    )
    find = stream.head(
        "softmax",
        "causal",
        [{"a": 2 * sharpness}, {"b": -sharpness}],
        [{"i": 1}, {"i^2": 1}],
        {"sign": "even"},
    )
    return stream.net(
        "01",
        {
            "0": {"everywhere": 1, "0": 1},
            "1": {"everywhere": 1},
            ">": {"everywhere": 1, ">": 1, "less": -1},
            "?": {"everywhere": 1, "?": 1},
        },
        start=">",
        end="?",
        layers=[{"heads": [count | {"base": "e"}]}, {"heads": [find | {"base": "e"}]}],
        read=stream.matrix([{"even": -1}])[0],
    )


def _words(n: int) -> Iterator[Bits]:
    """The words of each number of ones that stand all in front, all behind, or every other one from
    the front."""
    for ones in range(n + 1):
        yield (1,) * ones + (0,) * (n - ones)
        yield (0,) * (n - ones) + (1,) * ones
        spread = sorted(range(n), key=lambda place: (place % 2, place))[:ones]
        yield tuple(int(place in spread) for place in range(n))


def _least(case: Case, sharpness: int = SHARPNESS) -> Ball:
    """Around the least output over the words, its sign turned for an odd number of ones; -1 for a
    net that is not of the class."""
    net, task = uniform(sharpness), parity_bits(case.bits)
    if in_class(net, "softmax-positions"):
        return Ball(Fraction(-1), Fraction(-1))
    if case.bits <= SHORT:
        outputs = [
            read_out(net, word)[0] * (1 if task.answer(word) else -1) for word in task.words(0)
        ]
    else:
        outputs = [sign(word) * output(word, sharpness) for word in _words(case.bits)]
    balls = [Ball.of(each).widened() for each in outputs]
    return Ball(min(ball.low for ball in balls), min(ball.high for ball in balls))


@claim(
    Ge(signed_output, Rational(7, 10)),
    source=Source("depthlaw", "after kozachinskiy2026, arXiv:2602.05896v2, abstract: four layers"),
    kind="construction",
    cases={
        "quick": Case.grid(bits=(*range(1, 8), 100)),
        "theory": Case.grid(bits=(8, 9, 10, 40, 200)),
    },
    control=Control(
        Case(bits=6),
        "scores three quarters as large",
        measured=lambda case: _least(case, sharpness=3),
    ),
    cited="Decides whether parity takes softmax nets more layers where positions are of one kind.",
    formal=Formal(
        "ParityUniform.parity_uniform",
        "ParityUniform.margin_value",
        "Nothing: matrices, masks and a bound on positions stand in the theorem; ln(j + 1) is the "
        "number whose exponential is j + 1. The word of no bits is right too.",
    ),
)
def parity_uniform(case: Case) -> Ball:
    r"""Two softmax layers with length-independent positions decide parity at every length.

    For every $n \geq 1$ the net of two softmax layers with one head each, without layer norm and
    feed-forward networks, with weights and positions that do not depend on $n$, and positions
    bounded by a polynomial in the place, outputs at least $7/10$ on every word of $n$ bits with an
    even number of ones and at most $-7/10$ on every other one.

    The word stands between a start and an end token; a token enters as the sum of a vector of its
    own and one of its place $j$, of $\ln(j+1)$, $(j+1)^2$, $j$, $j^2$ and $(-1)^j$. The end token
    reads all tokens, so that a causal mask changes nothing. In layer 1 it weighs a one at place $j$
    by $(j+1)^{-2}$, whose sum stays below $\pi^2/6$ with the start token's 1, and reads values
    $(j+1)^2$: so it holds the number of ones over $D$, and $1/D$, for one $D < \pi^2/6$. In
    layer 2 it attends by $4(2ci - i^2)/D$ to the place $i = c$, and reads whether that is even. The
    abstract of the source says that these assumptions cost two more layers, four in place of two;
    an earlier abstract (arXiv:2501.02535) has three with positions of one kind, and says nothing of
    masks and of how positions grow. Here two are enough. One layer of one head with a linear
    read-out is not (least_depth/parity_heads), nor, as published for all lengths, any one layer of
    a fixed size (kozachinskiy2026). The length enters through the place of the end token alone; the
    abstract of the source speaks of no start or end tokens, so that its class may be another one.
    Of what layer 1 writes $2\log_2N+9$ bits behind the point are enough for an output of $69/100$:
    with errors of at most $1/(400N^2)$ no score of layer 2 is off by more than $1/100$, no ratio of
    weights by more than a factor $e^{1/50}$, and the output, $\tanh$ of half the logarithm of the
    ratio of both signs' weights, moves from $\tanh t$ to at least $\tanh(t-1/100)$. Rounding
    inside the layers is not treated. The net is run on all words of up to 10 bits; what its
    end token reads is followed on words of 40 to 200 bits, three for each number of ones. Softmax
    is enclosed in balls.
    """
    return _least(case)


@parity_uniform.argument(
    "The bounds on what layer 1 writes, the square and the last inequalities are checked; prose: "
    "the terms to either side of the largest alternate and fall, the bound falls in r, and one or "
    "two bits are run."
)
def _(statement: Relational) -> Iterator[Step]:
    """(c + e)/D with 0 <= e <= 1/N^2 and D <= pi^2/6 - 1/(N+1), then an alternating sum."""
    c, e, i, d = (Symbol(name, nonnegative=True) for name in ("c", "e", "i", "d"))
    m = Symbol("m", integer=True, nonnegative=True)
    yield remark("each of N tokens weighs at most (j+1)^-2, and all (j+1)^-2 add up to pi^2/6")
    yield nonnegative(
        "1/j^2 >= 1/j - 1/(j+1) for j = m + 1, so those not there add up to 1/(N+1) or more",
        (1 / (m + 1) ** 2 - 1 / (m + 1) + 1 / (m + 2)).together(),
    )
    yield nonnegative(
        "e <= 1/N^2 for N = m + 3: at most N - 2 zeros add 1/N^3 each, the end token 1/N^5",
        (1 / (m + 3) ** 2 - (m + 1) / (m + 3) ** 3 - 1 / (m + 3) ** 5).together(),
    )
    yield equal(
        "2 (c + e) i - i^2 = (c + e)^2 - (i - c - e)^2",
        2 * (c + e) * i - i**2,
        (c + e) ** 2 - (i - c - e) ** 2,
    )
    for side, says in ((1, "above"), (-1, "below")):
        yield equal(
            f"d steps {says} c the score has fallen by 4/D times",
            (c + side * d - c - e) ** 2 - e**2,
            d**2 - side * 2 * e * d,
        )
    yield remark(
        "it falls with d, since e <= 1/9: so the terms on either side alternate and fall, and add "
        "up to between -r and 0, where r = exp(-(4/D) (1 - 2 e)); the middle one is 1"
    )
    yield nonnegative(
        "d^2 - 2 e d >= d^2 (1 - 2 e) for d = m + 1: the d-th term is at most r^(d^2)",
        2 * e * (m + 1) ** 2 - 2 * e * (m + 1),
    )
    yield Step("6/pi^2 >= 3/5", sign_of(6 / pi**2 - Rational(3, 5)) == 1)
    yield nonnegative(
        "2/N^2 <= (3/5)/(N+1) for N = m + 5: so (1 - 2 e)/D >= 6/pi^2 from three bits on",
        3 * (m + 5) ** 2 - 10 * (m + 6),
    )
    r = exp(-SHARPNESS * 6 / pi**2)
    yield remark("the output is at least (1 - 2 r)/(1 + 2 r + 2 r^4/(1 - r)), which falls in r")
    share = (1 - 2 * r) / (1 + 2 * r + 2 * r**4 / (1 - r))
    yield Step("that is at least what is stated", sign_of(share - statement.rhs) == 1)
    yield remark("the middle place c is one of 0, ..., n + 1")

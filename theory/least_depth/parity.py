"""Parity by softmax attention: one layer needs a head for every bit, two layers need two heads.

Weights are rational: a softmax weight is given as it is, so its logit is the logarithm of a
rational number. Nets run in exact arithmetic on every word of a length.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence
from fractions import Fraction
from itertools import combinations, count, product
from math import prod
from operator import mul

from sympy import Symbol, ceiling, factor, simplify, symbols
from sympy.core.relational import Relational

from ..atlas.tasks import parity_bits
from ..claims.definition import Case, Control, Exact, Formal, Source, Step, claim
from ..claims.proof_steps import equal, nonnegative, remark, vanish
from ..claims.relations import Eq
from ..claims.symbols import heads, quantity
from ..nets.attention import AttentionNet
from ..nets.batched import read_outs
from ..nets.builder import Stream, exact
from ..nets.classes import in_class
from ..nets.json_format import changed
from ..nets.right import right_on

bits = quantity("bits", "n", "number of bits whose parity is asked for")
parity_heads_least = quantity(
    "parity_heads_least",
    r"H_{min}",
    "least number of heads of one softmax layer that decides parity; $-1$ where that is not shown",
    "integer",
)
readout_degree = quantity(
    "readout_degree",
    "p",
    "least degree of numerator and denominator of a read-out that decides parity after one layer; "
    "$-1$ where that is not shown",
    "integer",
)
signed_output = quantity(
    "signed_output",
    "m",
    "least output over all words, its sign turned where the parity is even; negative if a word is "
    "decided wrongly",
    "real",
)
parity_layers = quantity(
    "parity_layers",
    r"L_{min}",
    "least number of softmax layers of one head that decides parity; $-1$ where that is not shown",
    "integer",
)
attention_base = quantity(
    "attention_base", "t", "the larger softmax weight of a head; the smaller one is its inverse"
)

# The class of the nets whose heads are fewer than the bits.
FEW_HEADS = "linear-readout-few-heads"

Bits = Sequence[int]
ZERO = Fraction(0)


# --- one layer ---


def one_layer(case: Case) -> AttentionNet:
    """A head for each of k bits; their sum is P(c)/D(c) for c ones, so positive for even c.

    P(t) = (-1)^k (t - 1/2)(t - 3/2)...(t - k + 1/2) and D(t) = (t + 1)...(t + k). Head j has
    denominator c + j; its numerator alpha + beta c is the partial fraction of P/D at -j and a k-th
    part of the constant (-1)^k. No position is used. The query token, whose value is 0, has in
    every head the weight 10^-12, which P and D leave out.
    """
    k = case.bits
    stream = Stream(["0", "1", "?", "everywhere", "sum"], {})
    heads = []
    for j in range(1, k + 1):
        residue = prod(
            (Fraction(-2 * (j + m) - 1, 2) for m in range(k)), start=Fraction((-1) ** k)
        ) / prod(m - j for m in range(1, k + 1) if m != j)
        alpha, beta = residue + Fraction((-1) ** k * j, k), Fraction((-1) ** k, k)
        zero, one = Fraction(j, k), 1 + Fraction(j, k)
        values = {"0": alpha / j, "1": (beta + alpha / k) / one}
        weights = {"0": zero, "1": one, "?": 1}
        heads.append(
            stream.head("weights", "none", [{"everywhere": 1}], [weights], [(values, "sum")])
        )
    return stream.net(
        "01",
        {
            "0": {"0": 1, "everywhere": 1},
            "1": {"1": 1, "everywhere": 1},
            "?": {"?": Fraction(1, 10**12), "everywhere": 1},
        },
        end="?",
        layers=[{"heads": heads}],
        read=stream.matrix([{"sum": -1}])[0],
    )


def sign(word: Bits) -> int:
    """1 for an even number of ones, -1 for an odd one."""
    return (-1) ** (sum(word) % 2)


def least_order(k: int) -> int:
    """The least h for which the sum of sign(x) E_x^(tensor h) over all words x of k bits is not 0.

    E_x has an entry 1 for the query token and for each pair (position, its bit), and 0 for the
    pairs that do not occur. An entry of its h-th power is 1 where all of at most h coordinates
    occur in x, so sets of coordinates are counted.
    """
    for order in count():
        signed: Counter[tuple[object, ...]] = Counter()
        for word in product((0, 1), repeat=k):
            for chosen in combinations(("?", *enumerate(word)), order):
                signed[chosen] += sign(word)
        if any(signed.values()):
            break
    return order


# --- two layers ---


def two_layers(case: Case) -> AttentionNet:
    """Two layers of two heads with a ReLU network between them, to the base t.

    Layer 1 writes [i = c]/(n + 1) at every position i of the word and the query token: its head
    averages [token is 1] to c/(n + 1), c the number of ones, and [token is the last] to 1/(n + 1),
    over all tokens; three ReLUs of the difference to the position i/(n + 1) make the indicator. In
    layer 2 a head weighs even positions by t and odd ones by 1/t, the other the other way round,
    and their difference is read.
    """
    t = case.rational("attention_base")
    stream = Stream(
        ["one", "last", "1", "ones", "unit", "is c", "odd"], {"place": "i/n", "sign": "(-1)^i"}
    )
    means = stream.head(
        "softmax", "none", [{}], [{}], {"one": "ones", "last": "unit"}, base=exact(t)
    )
    difference = {"ones": 1, "place": -1}
    mlp = stream.mlp(
        [
            (difference | {"unit": -1}, 0, "is c"),
            (difference, 0, {"is c": -2}),
            (difference | {"unit": 1}, 0, "is c"),
        ]
    )
    heads = [
        stream.head(
            "softmax",
            "none",
            [{"1": 1}],
            [{"sign": power}],
            [({"is c": -power}, "odd")],
            base=exact(t),
        )
        for power in (1, -1)
    ]
    return stream.net(
        "01",
        {"0": {"1": 1}, "1": {"1": 1, "one": 1}, "?": {"1": 1, "last": 1}},
        end="?",
        layers=[{"heads": [means], "mlp": mlp}, {"heads": heads}],
        read=stream.matrix([{"odd": 1}])[0],
    )


# --- claims ---


def _heads(case: Case, net: AttentionNet) -> Exact:
    """Heads of the net, if it is right on all words and fewer are excluded; else -1."""
    bits, heads = case.bits, len(net.layers[0].heads)
    right = right_on(net, parity_bits(bits))
    broken = in_class(net, "softmax-linear-readout", letters=bits)
    return Exact(heads if right and not broken and least_order(bits) == heads else -1)


@claim(
    Eq(parity_heads_least, bits),
    source=Source("rajaraman2026", "Theorems 1 and 2, appendix A.2", "arXiv:2609.04046"),
    wording="printed",
    cases={"quick": Case.grid(bits=range(1, 7)), "theory": Case.grid(bits=(7, 8, 9))},
    control=Control(
        Case(bits=2),
        "the query token itself gets softmax weight 1, as much as a bit, in the same net",
        measured=lambda case: _heads(case, changed(one_layer(case), "embedding", "?", 2, to=1)),
    ),
    supports="least_depth/parity_two_layers",
    formal=Formal(
        "Bridges.parity_transformer_checked",
        "Parity.parity_heads_value {bits}",
        "That the reals are an ordered field, and that the exponential is positive and takes every "
        "positive value: fewer heads fail for every positive function of the scores, and enough "
        "heads succeed for some. Its net for the upper end has other weights, which absorb the "
        "query token's. Ties given to the other side are Parity.parity_heads_ties.",
    ),
)
def parity_heads(case: Case) -> Exact:
    r"""One softmax layer needs exactly a head per bit for parity.

    For every $n$, the parity of $n$ bits is decided by one layer of softmax attention with $n$
    heads, read at a query token after the bits, and by none with fewer, whatever the embeddings of
    bits and positions and the width, in exact arithmetic. The read-out is linear in the sum of the
    heads and a constant; there is no feed-forward network.

    Lower bound, proved for every $n$ by the kernel and measured for each $n$ tried: times the
    denominators of its $H$ heads the output is a sum of products of $H$ linear functions of the
    vector $E_x$ that lists the query token and the pairs (position, bit) of the input $x$. The sum
    over all $x$ of $(-1)^{|x|}$ times the $H$-th tensor power of $E_x$ is computed and is 0 for $H
    < n$: each entry reads at most $H$ bits. So the outputs, with alternating signs, cannot all be
    of the right sign, even if ties are given to one side. Upper bound: explicit rational weights,
    derived here after the source's, run on all $2^n$ inputs with softmax weight $10^{-12}$ on the
    query token (small enough up to $n = 17$; for every $n$, zero-bit weight $(j - q)/n$ absorbs a
    query weight $q < 1$ exactly); they use no positions. With a large weight there the same net is
    wrong (the control).
    A multilayer perceptron after the layer is outside this claim.
    """
    return _heads(case, one_layer(case))


def inverse(k: int, j: int, word: Bits) -> Fraction:
    """A head of softmax attention, a weighted mean: 1/(c + j + 1) on k bits with c ones, where the
    query has the weight 1 and the value 0.

    >>> inverse(3, 1, (0, 1, 1))
    Fraction(1, 4)
    """
    weights, values = (Fraction(j, k), 1 + Fraction(j, k)), (Fraction(1, j), Fraction(1, k + j))
    return sum(weights[b] * values[b] for b in word) / sum((weights[b] for b in word), Fraction(1))


def linear_form(roots: Sequence[Fraction], number: int) -> tuple[Fraction, ...]:
    """A constant and coefficients of the outputs 1/(c + 2), ..., 1/(c + number + 1) that add up to
    the product of c - root over that of c + 2, ..., c + number + 1, by partial fractions.

    >>> linear_form([Fraction(1, 2)], 1)
    (Fraction(1, 1), Fraction(-5, 2))
    """
    poles = range(2, number + 2)
    return (
        Fraction(len(roots) == number),
        *(
            prod((-j - root for root in roots), start=Fraction(1))
            / prod(i - j for i in poles if i != j)
            for j in poles
        ),
    )


@claim(
    Eq(readout_degree, ceiling(bits / (2 * heads))),
    source=Source("depthlaw", "after hsu2026, arXiv:2605.12171, abstract"),
    cases={
        "quick": (*Case.grid(bits=range(1, 8), heads=(1, 2, 3)), *Case.grid(bits=(7, 8), heads=4)),
        "theory": Case.grid(bits=9, heads=(1, 2, 3, 5)),
        "full": Case.grid(bits=10, heads=(1, 2, 3, 5)),
    },
    control=Control(
        Case(bits=8, heads=2),
        "a quarter of the bits, the constant that is reported for heads times degree",
        statement=Eq(readout_degree, ceiling(bits / (4 * heads))),
    ),
    supports="least_depth/parity_two_layers",
)
def parity_readout_degree(case: Case) -> Exact:
    r"""One softmax layer: heads times degree of the read-out reaches $n/2$.

    For all $n$ and $H$, a read-out $P/Q$ of $H$ softmax heads, with polynomials $P$ and $Q$ of
    total degree at most $p$ in the outputs of the heads, decides the parity of $n$ bits for some
    weights exactly if $2 H p \geq n$: the least degree is $\lceil n/(2 H) \rceil$.

    Lower bound: $P/Q$ has the sign of $P Q$, and times the $2 p$-th powers of the denominators of
    the heads that is a sum of products of $2 H p$ linear functions of the vector of
    least_depth/parity_heads, computed there for all weights. Upper bound: heads with outputs
    $1/(c + j + 1)$ for $c$ ones; by partial fractions a polynomial in $c$ of degree $H$ over the
    product of the $c + j + 1$ is linear in them, and $P$ and $Q$ are products of $p$ such, with the
    roots $1/2, 3/2, ..., n - 1/2$; run on all inputs. The abstract says that heads times degree
    must grow linearly in $n$; $H p \geq n/4$ is reported of the paper, whose definition of degree
    was not read. So in one layer heads or the degree must grow with the number of bits, where a
    second layer makes do with fixed ones.
    """
    n, number = case.bits, case.heads
    roots = [m + Fraction(1, 2) for m in range(n)]
    forms = [linear_form(roots[i : i + number], number) for i in range(0, n, number)]
    degree = (len(forms) + 1) // 2
    right = True
    for word in product((0, 1), repeat=n):
        outputs = [Fraction(1), *(inverse(n, j, word) for j in range(1, number + 1))]
        values = [sum(map(mul, form, outputs), ZERO) for form in forms]
        upper, lower = prod(values[:degree]), prod(values[degree:], start=Fraction(1))
        right &= (-1) ** n * upper / lower * sign(word) > 0
    # Degree p in the outputs of H heads becomes order 2 H p.
    excluded = 2 * number * (degree - 1) < least_order(n) <= 2 * number * degree
    return Exact(degree if right and excluded else -1)


def _least_signed(case: Case, net: AttentionNet) -> Exact:
    """The least output with its sign; -1 for a net that is not of the class."""
    if in_class(net, "softmax"):
        return Exact(-1)
    task = parity_bits(case.bits)
    outputs = read_outs(net, task.words(0))
    return Exact(min(output if task.answer(word) else -output for word, (output,) in outputs))


def one_head(case: Case) -> AttentionNet:
    """Two layers of one head without a feed-forward network, read at the query token.

    Layer 1 attends to all n + 1 tokens equally and writes the share of ones, c/(n + 1). Layer 2
    scores the token at position i by 2 c i - i^2, in powers of 4: the query holds the share, the
    key i (n + 1) and i^2. Its value is (-1)^i. Neither weights nor positions name the length.
    """
    stream = Stream(["one", "1", "share", "even"], {"i n": "i*n", "i i": "i^2", "sign": "(-1)^i"})
    means = stream.head("softmax", "none", [{"1": 1}], [{"1": 0}], {"one": "share"}, base=4)
    place = stream.head(
        "softmax",
        "none",
        [{"share": 2}, {"1": -1}],
        [{"i n": 1}, {"i i": 1}],
        {"sign": "even"},
        base=4,
    )
    return stream.net(
        "01",
        {"0": {"1": 1}, "1": {"1": 1, "one": 1}, "?": {"1": 1}},
        end="?",
        layers=[{"heads": [head]} for head in (means, place)],
        read=stream.matrix([{"even": -1}])[0],
    )


def _layers(case: Case, net: AttentionNet) -> Exact:
    right = right_on(net, parity_bits(case.bits))
    return Exact(
        net.depth
        if right and not in_class(net, FEW_HEADS, letters=case.bits) and least_order(case.bits) > 1
        else -1
    )


@claim(
    Eq(parity_layers, 2),
    source=Source("depthlaw", "after chiang2022, arXiv:2202.12172"),
    cases={"quick": Case.grid(bits=range(2, 9)), "theory": Case.grid(bits=(9, 10))},
    assumes={"two bits or more": lambda case: case.bits > 1},
    control=Control(
        Case(bits=6),
        "the second layer looks for half the number of ones",
        measured=lambda case: _layers(
            case, changed(one_head(case), "layers", 1, "heads", 0, "query", 0, 2, to=1)
        ),
    ),
    supports="least_depth/parity_two_layers",
)
def parity_one_head(case: Case) -> Exact:
    r"""Two softmax layers of one head decide the parity of $n$ bits.

    For every $n \geq 2$ the least number of layers of softmax attention with one head that decides
    the parity of $n$ bits is 2, read at a query token after the bits, with any embedding of bits
    and positions and any width, in exact arithmetic. The read-out is linear; there is no
    feed-forward network.

    One layer takes $n$ heads (least_depth/parity_heads). Of two layers the first writes the share
    of ones at the query token, $c/(n+1)$; the second attends from there by $2 c i - i^2 = c^2 - (i
    - c)^2$, which is largest at the position $i = c$, and reads whether that is even. To the base 4
    the output times $(-1)^c$ is at least $1 - 2/4$ before softmax divides, since the terms to
    either side of $c$ alternate and fall. Scores grow as $n^2$. Run on all words.
    """
    return _layers(case, one_head(case))


# Even and odd positions among 0..n.
_EVEN, _ODD = ceiling((bits + 1) / 2), ceiling(bits / 2)


@claim(
    Eq(
        signed_output,
        _ODD
        * (attention_base**2 - attention_base**-2)
        / (
            (bits + 1)
            * (_EVEN * attention_base + _ODD / attention_base)
            * (_EVEN / attention_base + _ODD * attention_base)
        ),
    ),
    source=Source("depthlaw", "after chiang2022, arXiv:2202.12172, and its code parity_exact.py"),
    kind="construction",
    cases={
        "quick": (
            *Case.grid(bits=range(1, 8), attention_base=("3/2", 2)),
            Case(bits=5, attention_base="101/100"),
        ),
        "theory": Case.grid(bits=(8, 9, 10, 11), attention_base=("3/2", 2, 10)),
    },
    control=Control(
        Case(bits=4, attention_base=2),
        "one of the two heads of layer 2 dropped: the output never changes sign",
        measured=lambda case: _least_signed(
            case, changed(two_layers(case), "layers", 1, "heads", 1, "value", 0, 5, to=0)
        ),
    ),
    cited="Decides whether a softmax net of two layers may be said to do parity at every length.",
)
def parity_two_layers(case: Case) -> Exact:
    r"""Two softmax layers with two heads decide parity at every length.

    For every $n \geq 1$ and every base $t > 1$, the net of two layers with two heads each and a
    ReLU network between them decides the parity of every word of $n$ bits. Its output has the right
    sign with margin
    $O (t^2 - t^{-2}) / ((n + 1)(E t + O/t)(E/t + O t))$, attained, where
    $E = \lfloor n/2 \rfloor + 1$ and $O = \lceil n/2 \rceil$ count the even and odd positions among
    $0, ..., n$.

    The construction of chiang2022, as its code has it, with base $t$ in place of $e^{1/\sqrt{5}}$
    so that all is rational. It has positions $i/(n + 1)$ and $(-1)^i$, no layer norm and no mask.
    Layer 1 writes $1/(n + 1)$ at the position whose number is the number of ones, and 0 elsewhere;
    layer 2 asks whether that position is odd. The margin falls as $1/n^2$. One layer with a fixed
    number of heads and a linear read-out fails by least_depth/parity_heads. That one layer with a
    fixed ReLU read-out fails for large $n$ is published (kozachinskiy2026), asymptotic, and not
    checked. Weights do not depend on $n$, positions do.
    """
    return _least_signed(case, two_layers(case))


@parity_two_layers.argument(
    "The indicator, both outputs, and that the smaller is the statement and positive are checked; "
    "prose: the heads of layer 1 are means over all positions, and every number of ones from 0 to "
    "n occurs."
)
def _(statement: Relational) -> Iterator[Step]:
    """Layer 1 writes v = [i = k]/(n+1); layer 2 subtracts two weighted means of v."""
    z = Symbol("z", integer=True, nonnegative=True)
    # ReLU(x - 1) - 2 ReLU(x) + ReLU(x + 1) at x = k - i, each ReLU read off its sign.
    yield vanish("the second difference of ReLU is 0 at x >= 1", z - 2 * (z + 1) + (z + 2))
    yield Step("it is 1 at x = 0", max(-1, 0) - 2 * max(0, 0) + max(1, 0) == 1)
    yield remark("at x <= -1 nothing passes a ReLU")
    n, t, even, odd = symbols("n t E O", positive=True)
    first, second = even * t + odd / t, even / t + odd * t
    spread = t**2 - t**-2
    share = 1 / ((n + 1) * first * second)
    yield equal(
        "for an even number of ones minus the output is O (t^2 - t^-2)/((n+1) A B)",
        (t / first - 1 / (t * second)) / (n + 1),
        odd * spread * share,
    )
    yield equal(
        "for an odd number of ones the output is E (t^2 - t^-2)/((n+1) A B)",
        (t / second - 1 / (t * first)) / (n + 1),
        even * spread * share,
    )
    u = Symbol("u", positive=True)
    yield Step("t^2 - t^-2 > 0 for t = 1 + u", bool(factor(spread.subs(t, 1 + u)).is_positive))
    m = Symbol("m", integer=True, positive=True)
    for length, evens, odds in ((2 * m, m + 1, m), (2 * m - 1, m, m)):
        right = statement.rhs.subs({bits: length, attention_base: t})
        values = {n: length, even: evens, odd: odds}
        gap = simplify(right - (odd * spread * share).subs(values, simultaneous=True))
        yield Step(f"for n = {length} the even words decide: the statement", gap == 0)
        yield nonnegative(f"for n = {length} there are no fewer even positions", evens - odds)

"""Order-k Markov data: the conditional k-gram in two layers of one head; not in one of k heads."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from fractions import Fraction
from itertools import combinations, product
from typing import Any

from sympy import Sum, expand, simplify, symbols as names

from ..claims.definition import Case, Control, Exact, Source, Step, claim
from ..claims.proof_steps import remark
from ..claims.relations import Eq
from ..claims.symbols import quantity
from ..nets.attention import AttentionNet
from ..nets.batched import read_outs
from ..nets.builder import Stream
from ..nets.classes import in_class
from .chain_of_thought import Digits

least_layers = quantity(
    "few_head_layers",
    r"L^*_k",
    "least number of layers of up to $k$ heads that compute the conditional $k$-gram",
    "integer",
)

LETTERS = "abcdefghijklmnopqrstuvwxyz"


def gram(word: Digits, k: int, symbols: int) -> list[Fraction] | None:
    """How often each symbol followed the last k symbols before; None where nothing did."""
    context = word[len(word) - k :]
    after = [word[n] for n in range(k, len(word)) if word[n - k : n] == context]
    return [Fraction(after.count(s), len(after)) for s in range(symbols)] if after else None


def network(word: Digits, k: int, symbols: int, delete: bool = True) -> tuple[list[Fraction], int]:
    """Two layers, one head each, in exact arithmetic.

    Layer 1 attends to the k positions before with weights in the ratio 3 : 9 : ... : 3^k, nearest
    first, which softmax does with scores log 3, 2 log 3, ...; k start tokens stand in front. Its
    outputs, times the sum of the weights, are integers `before`. The MLP finds in them the oldest
    symbol by two ReLUs for each symbol, and turns `before` into the code of the k symbols that end
    here. Layer 2 averages the symbols at all positions whose `before` is nearest to it, the score
    being 2 <key, query> - |key|^2; an MLP has squares of finitely many values exactly.

    Returns the distribution of the next symbol, and the number of attention layers. With
    delete=False the MLP does not take the oldest symbol away.
    """
    start, letters = symbols, range(symbols + 1)
    text = [start] * k + list(word)
    before = [
        [sum(3**i for i in range(1, k + 1) if n >= i and text[n - i] == s) for s in letters]
        for n in range(len(text))
    ]
    # Without the oldest symbol a coordinate is at most 3 + ... + 3^(k-1), with it at least 3^k.
    low, high = (3**k - 3) // 2, 3**k
    # The query and the scores times `apart`, which makes them whole.
    apart = high - low
    oldest = [max(held - low, 0) - max(held - high, 0) for held in before[-1]]
    query = [
        3 * apart * ((text[-1] == s) + before[-1][s]) - (3 * high * oldest[s] if delete else 0)
        for s in letters
    ]
    scores = [
        sum(2 * x * y - apart * x * x for x, y in zip(key, query, strict=True))
        for key in before[k:]
    ]
    most = max(scores)
    best = [symbol for symbol, score in zip(word, scores, strict=True) if score == most]
    return [Fraction(best.count(s), len(best)) for s in range(symbols)], 2


def heads_net(case: Case) -> AttentionNet:
    """As `network`, with a head for each of the k symbols before in place of one with weights in
    powers of 3: then the mean over all places behind the same k symbols."""
    k, letters = case.context, LETTERS[: case.symbols]
    back = range(1, k + 1)
    stream = Stream(
        [
            *letters,
            "start",
            *(f"{x} {r}" for r in back for x in letters),
            *(f"{x}?" for x in letters),
        ],
        {"i": "i", "i^2": "i^2"},
    )
    everywhere = dict.fromkeys([*letters, "start"], 1)
    first = [
        stream.head(
            "average",
            "causal",
            [{"i": 1}, everywhere],
            [{"i": 2}, {"i": -2 * r, "i^2": -1}],
            {x: f"{x} {r}" for x in letters},
        )
        for r in back
    ]
    second = stream.head(
        "average",
        "causal",
        [{x if r == 1 else f"{x} {r - 1}": 1} for r in back for x in letters],
        [{f"{x} {r}": 1} for r in back for x in letters],
        {x: f"{x}?" for x in letters},
    )
    return stream.net(
        letters,
        {x: {x: 1} for x in letters} | {"^": {"start": 1}},
        start="^",
        layers=[{"heads": first}, {"heads": [second]}],
        labels=list(letters),
        read=stream.matrix([{f"{x}?": 1} for x in letters]),
    )


def signed_words(k: int, symbols: int, length: int) -> list[tuple[int, Digits]]:
    """Words that too few heads in one layer cannot all get right, with what to get right.

    All end in k symbols 0. Sign 1 says that of the last two symbols the first is likelier,
    -1 that the second is. With three symbols the
    words belong to k + 1 bits and the sign is their parity: for each pattern of the first k bits
    there is a window of k symbols that are 0 where bit and pattern agree, and behind it the symbol
    1 or 2 that the last bit chooses; one window alone is all 0. With two symbols there are four
    words, of two bits, with one run of symbols 0 that is longer. Symbols 1 in front fill the words
    up, and change nothing. A ValueError below the length 2^k (k + 1) + k, with two symbols 3 k + 3.

    >>> signed_words(1, 2, 6)[0], signed_words(1, 3, 5)[0]
    ((1, (0, 0, 0, 1, 1, 0)), (1, (0, 1, 1, 2, 0)))
    """
    ends: list[tuple[int, list[int]]] = []
    if symbols == 2:
        for sign, runs in (
            (1, (2 * k + 1, 0, k)),
            (1, (k, 0, 2 * k + 1)),
            (-1, (k + 1, k, k)),
            (-1, (k, k, k + 1)),
        ):
            first, second, third = ([0] * run for run in runs)
            ends.append((sign, [*first, 1, *second, 1, *third]))
    else:
        for bits in product((0, 1), repeat=k + 1):
            windows: list[int] = []
            for pattern in product((0, 1), repeat=k):
                windows += [int(bit != wanted) for bit, wanted in zip(bits, pattern, strict=False)]
                windows.append(1 + (sum(pattern) + bits[-1]) % 2)
            ends.append(((-1) ** sum(bits), [*windows, *[0] * k]))
    if length < len(ends[0][1]):
        raise ValueError(f"the words have at least {len(ends[0][1])} symbols, got {length}")
    return [(sign, (*(1,) * (length - len(end)), *end)) for sign, end in ends]


def contradicts(signed: list[tuple[int, Digits]], k: int, heads: int) -> bool:
    """Whether so many heads in one layer must get one of the words wrong, by counting.

    The signs must be those of the k-grams and the last symbols equal; and whatever symbols are
    asked for at whatever `heads` positions, as many words of either sign must bear them.

    Cost: the binomial of length and heads, times the number of words.
    """
    symbols = max(max(word) for _, word in signed) + 1
    for sign, word in signed:
        follows = gram(word, k, symbols)
        if follows is None or sign * (follows[-2] - follows[-1]) <= 0:
            return False
    if len({word[-1] for _, word in signed}) > 1:
        return False
    for positions in combinations(range(len(signed[0][1])), heads):
        total: Counter[Digits] = Counter()
        for sign, word in signed:
            total[tuple(word[position] for position in positions)] += sign
        if any(total.values()):
            return False
    return True


def _heads_right(case: Case) -> bool:
    """Whether the net of k heads has the same frequencies on the words and is of its class."""
    net, k = heads_net(case), case.context
    if in_class(net, "softmax-heads", {"k": k}):
        return False
    for length in range(k + 1, case.length + 1):
        for word, shares in read_outs(net, product(LETTERS[: case.symbols], repeat=length)):
            follows = gram(tuple(map(LETTERS.index, word)), k, case.symbols)
            if follows is not None and shares != follows:
                return False
    return True


def _least(case: Case, delete: bool = True) -> Exact:
    k, symbols, layers = case.context, case.symbols, 0
    for length in range(k + 1, case.length + 1):
        for word in product(range(symbols), repeat=length):
            follows = gram(word, k, symbols)
            if follows is None:
                continue
            found, layers = network(word, k, symbols, delete)
            if found != follows:
                return Exact(-1)
    if not _heads_right(case):
        return Exact(-1)
    shortest = 3 * k + 3 if symbols == 2 else 2**k * (k + 1) + k
    signed = signed_words(k, symbols, max(case.length, shortest))
    return Exact(layers if contradicts(signed, k, case.heads) else -1)


@claim(
    Eq(least_layers, 2),
    source=Source("depthlaw", "after ekbote2025, arXiv:2508.07208v1, abstract: two layers suffice"),
    cases={
        "quick": (
            Case(context=1, symbols=2, heads=1, length=7),
            Case(context=2, symbols=2, heads=1, length=7),
            Case(context=3, symbols=2, heads=1, length=9),
            Case(context=1, symbols=3, heads=1, length=6),
            Case(context=2, symbols=3, heads=2, length=6),
            Case(context=3, symbols=3, heads=3, length=5),
        ),
        "theory": (
            Case(context=1, symbols=2, heads=1, length=11),
            Case(context=4, symbols=2, heads=1, length=11),
            Case(context=2, symbols=3, heads=2, length=8),
            Case(context=1, symbols=4, heads=1, length=6),
            Case(context=3, symbols=3, heads=3, length=7),
            Case(context=4, symbols=3, heads=2, length=7),
        ),
    },
    assumes={
        "at most $k$ heads, and with two symbols one": lambda case: (
            case.heads <= (case.context if case.symbols > 2 else 1)
        )
    },
    control=Control(
        Case(context=2, symbols=2, heads=1, length=7),
        "no MLP between the layers: the oldest symbol stays in the query",
        measured=lambda case: _least(case, delete=False),
    ),
    supports="hops/one_layer_index",
)
def kgram_layers(case: Case) -> Exact:
    r"""Two layers do $k$-grams; $k$ heads in one, linearly read, do not.

    For every order $k$ and every number of symbols, two layers of one head each compute what
    followed the last $k$ symbols of a word before, as exact frequencies (averaging over maxima in
    the second layer), wherever anything did. One layer of up to $k$ heads with a linear read-out
    does not even tell which of two symbols followed more often, for three symbols or more and from
    length $2^k (k + 1) + k$ on; nor does one layer of one head for two symbols, from length
    $3 k + 3$ on.

    Two layers: relative positions, weights of softmax in the ratio of powers of 3, two ReLUs for
    each symbol, and a second layer that averages over its maxima; softmax comes as near as its
    scores are scaled. Run on all words up to the length, in rational arithmetic. The class of this
    net is words: its first head weighs a window of positions and gives nothing elsewhere, which
    softmax does in the limit alone. A net of the class with $k$ heads in layer 1 is run beside
    it. One layer: any
    function of symbol and position before it, any width, in exact arithmetic, softmax or the
    average over maxima, a residual, logits linear in what the heads put out. The difference of two
    logits, times the positive denominators, is then a sum of terms that depend on the last symbol
    and on those at as many positions as there are heads. In words of both signs whatever symbols
    are asked for at so many positions stand equally often, so the sum over the words, with their
    signs, is 0, whereas each summand would be positive. (The average over maxima is a limit of
    softmax, which has the same signs on finitely many words.) Whether $k + 1$ heads in one layer
    are enough is not known to us. An MLP after the layer is not excluded by this; how many bits
    that layer must carry for $k = 1$ is counted in hops/one_layer_index. Of the source the abstract
    was read; it says that with one head a layer the best constructions had three layers before.
    """
    return _least(case)


@kgram_layers.argument(
    "Argument. Prose: logits times denominators are sums of terms that read one position for each "
    "head; each position of the words bears one bit; one window is all 0; runs of 0 are counted; a "
    "code whose largest digit outweighs all others is read digit by digit."
)
def _(statement: Any) -> Iterator[Step]:
    """For every order k."""
    k, i = names("k i", integer=True, positive=True)
    x, y = names("x y", real=True)
    nearer = Sum(3**i, (i, 1, k - 1)).doit()
    yield Step("3 + ... + 3^(k-1) = (3^k - 3)/2", simplify(nearer - (3**k - 3) / 2) == 0)
    yield Step(
        "the oldest symbol outweighs all nearer ones together: 3^k - (3^k - 3)/2 > 0",
        bool(expand(3**k - (3**k - 3) / 2).is_positive),
    )
    yield Step(
        "three times a code moves each symbol on by one: 3 3^i = 3^(i+1)",
        simplify(3 * 3**i - 3 ** (i + 1)) == 0,
    )
    yield Step(
        "2 x y - x^2 is y^2 less the square of the distance: largest where key and query agree",
        expand(2 * x * y - x**2 - (y**2 - (x - y) ** 2)) == 0,
    )
    yield remark(
        "three symbols: k positions leave one of k + 1 bits unread, and its two signs cancel"
    )
    yield Step(
        "so it is, signs and positions, for k = 1, 2, 3",
        all(contradicts(signed_words(n, 3, 2**n * (n + 1) + n), n, n) for n in (1, 2, 3)),
    )
    # Runs of symbols 0 of length r >= k yield r - k symbols 0, and one symbol 1 if it is inside.
    longer, shorter = (2 * k + 1 - k) - 1, (1 + 1) - (k + 1 - k)
    yield Step(
        "two symbols: in two words 0 is likelier by k, in two 1 is likelier by 1",
        longer == k and shorter == 1,
    )
    first, second = {2 * k + 2, 2 * k + 3, k + 1, k + 2}, {k + 2, 2 * k + 3, k + 1, 2 * k + 2}
    yield Step(
        "the symbols 1 of the first two words stand where those of the others do", first == second
    )
    yield Step("one layer fails and two layers do it", statement.rhs == 1 + 1)

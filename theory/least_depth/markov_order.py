"""Order-k Markov data: the conditional k-gram in two layers of one head, and not in one."""

from __future__ import annotations

from collections.abc import Iterator
from fractions import Fraction
from itertools import product
from typing import Any

from sympy import Sum, expand, simplify, symbols as names

from ..claims.definition import Case, Control, Exact, Source, Step, claim
from ..claims.relations import Eq
from ..claims.symbols import quantity

least_layers = quantity(
    "one_head_layers",
    r"L^*_1",
    "least number of layers of one head each that compute the conditional k-gram",
    "integer",
)

Word = tuple[int, ...]


def gram(word: Word, k: int, symbols: int) -> list[Fraction] | None:
    """How often each symbol followed the last k symbols before; None where nothing followed them.

    >>> gram((0, 1, 0, 0, 0), 1, 2)
    [Fraction(2, 3), Fraction(1, 3)]
    """
    context = word[len(word) - k :]
    after = [word[n] for n in range(k, len(word)) if word[n - k : n] == context]
    return [Fraction(after.count(s), len(after)) for s in range(symbols)] if after else None


def network(word: Word, k: int, symbols: int, delete: bool = True) -> tuple[list[Fraction], int]:
    """Two layers, one head each, in exact arithmetic.

    Layer 1 attends to the k positions before with weights in the ratio 3 : 9 : ... : 3^k, nearest
    first, which softmax does with scores log 3, 2 log 3, ...; k start tokens stand in front. Its
    outputs, times the sum of the weights, are integers `before`. The MLP finds in them the oldest
    symbol by two ReLUs for each symbol, and turns `before` into the code of the k symbols that end
    here. Layer 2 averages the symbols at all positions whose `before` is nearest to it, the score
    being 2 <key, query> - |key|^2; an MLP has squares of finitely many values exactly.

    Args:
        word, k, symbols: the symbols are 0 to symbols - 1.
        delete: whether the MLP takes the oldest symbol away.

    Returns:
        The distribution of the next symbol, and the number of attention layers.
    """
    start, letters = symbols, range(symbols + 1)
    text = [start] * k + list(word)
    before = [
        [sum(3**i for i in range(1, k + 1) if n >= i and text[n - i] == s) for s in letters]
        for n in range(len(text))
    ]
    # Without the oldest symbol a coordinate is at most 3 + ... + 3^(k-1), with it at least 3^k.
    low, high = (3**k - 3) // 2, 3**k
    oldest = [Fraction(max(held - low, 0) - max(held - high, 0), high - low) for held in before[-1]]
    query = [
        3 * (text[-1] == s) + 3 * before[-1][s] - (3 * high * oldest[s] if delete else 0)
        for s in letters
    ]
    scores = [sum(2 * x * y - x * x for x, y in zip(key, query, strict=True)) for key in before[k:]]
    best = [symbol for symbol, score in zip(word, scores, strict=True) if score == max(scores)]
    return [Fraction(best.count(s), len(best)) for s in range(symbols)], 2


def contradiction(k: int, length: int) -> tuple[Word, Word, Word, Word]:
    """Four words that one head in one layer cannot all get right.

    After the first two symbol 0 is likelier than symbol 1, after the others symbol 1; at each
    position the first two bear the same two symbols as the others. All end in k symbols 0, so that
    the symbols 1 in front, which fill them up to the length, change nothing.

    Raises:
        ValueError: for a length below 3 k + 3.

    >>> contradiction(1, 6)
    ((0, 0, 0, 1, 1, 0), (0, 1, 1, 0, 0, 0), (0, 0, 1, 0, 1, 0), (0, 1, 0, 1, 0, 0))
    """
    if length < 3 * k + 3:
        raise ValueError(f"the words have at least {3 * k + 3} symbols, got {length}")

    def word(*zeros: int) -> Word:
        ones = length - sum(zeros) - 2
        first, second, third = ((0,) * run for run in zeros)
        return (1,) * ones + (*first, 1, *second, 1, *third)

    return (
        word(2 * k + 1, 0, k),
        word(k, 0, 2 * k + 1),
        word(k + 1, k, k),
        word(k, k, k + 1),
    )


def contradicts(words: tuple[Word, Word, Word, Word], k: int) -> bool:
    """Whether four words are such a contradiction, by counting.

    >>> contradicts(((0, 1, 0), (0, 1, 0), (0, 1, 0), (0, 1, 0)), 1)
    False
    """
    likelier = [follows[0] > follows[1] for word in words if (follows := gram(word, k, 2))]
    columns = list(zip(*words, strict=True))
    return (
        likelier == [True, True, False, False]
        and all(follows[0] != follows[1] for word in words if (follows := gram(word, k, 2)))
        and len({word[-1] for word in words}) == 1
        and all(sorted(column[:2]) == sorted(column[2:]) for column in columns)
    )


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
    words = contradiction(k, max(case.length, 3 * k + 3))
    return Exact(layers if contradicts(words, k) else -1)


@claim(
    Eq(least_layers, 2),
    source=Source("depthlaw", "after ekbote2025, arXiv:2508.07208v1, abstract: two layers suffice"),
    cases={
        "quick": (
            Case(context=1, symbols=2, length=6),
            Case(context=2, symbols=2, length=7),
            Case(context=3, symbols=2, length=9),
            Case(context=1, symbols=3, length=5),
            Case(context=2, symbols=3, length=6),
        ),
        "theory": (
            Case(context=1, symbols=2, length=11),
            Case(context=4, symbols=2, length=11),
            Case(context=2, symbols=3, length=8),
            Case(context=1, symbols=4, length=6),
        ),
    },
    control=Control(
        Case(context=2, symbols=2, length=7),
        "no MLP between the layers: the oldest symbol stays in the query",
        measured=lambda case: _least(case, delete=False),
    ),
    supports="least_depth/dyck_layers",
)
def kgram_layers(case: Case) -> Exact:
    r"""With one head a layer the conditional $k$-gram takes exactly two.

    For every order $k$ and every number of symbols, two layers of one head each compute what
    followed the last $k$ symbols of a word before, as exact frequencies, wherever anything did; one
    layer of one head with a linear read-out does not even tell which of two symbols followed more
    often, from length $3 k + 3$ on.

    Two layers: relative positions, weights of softmax in the ratio of powers of 3, two ReLUs for
    each symbol, and a second layer that averages over its maxima; softmax comes as near as its
    scores are scaled. Run on all words up to the length, in rational arithmetic. One layer: any
    function of symbol and position before it, any width and precision, softmax or the average over
    maxima, a residual, logits linear in what the head puts out. The difference of two logits, times
    the positive denominator, is then a sum over the positions of numbers that depend on the symbol
    there and the last one; four words, of which two bear the same symbols as the other two at each
    position, give sums $p_1 + p_2 = n_1 + n_2$, and the signs contradict. (The average over
    maxima is a limit of softmax, which has the same signs on finitely many words.) An MLP after one
    layer, or more heads, are not excluded by this; that one layer then needs a size linear in the
    length is a published bound with an unknown constant (sanford2024one). The source, of which the
    abstract was read, says that the best constructions of one head a layer had three before.
    """
    return _least(case)


@kgram_layers.argument(
    "Argument. Prose: the difference of two logits of one head, times its denominator, is a sum "
    "over positions; what follows k symbols 0 in the four words is read off their runs; a code "
    "whose largest digit outweighs all others is read digit by digit."
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
    # Runs of symbols 0 of length r >= k yield r - k symbols 0, and one symbol 1 if it is inside.
    longer, shorter = (2 * k + 1 - k) - 1, (1 + 1) - (k + 1 - k)
    yield Step(
        "in two words 0 is likelier by k, in two 1 is likelier by 1",
        longer == k and shorter == 1,
    )
    first, second = {2 * k + 2, 2 * k + 3, k + 1, k + 2}, {k + 2, 2 * k + 3, k + 1, 2 * k + 2}
    yield Step(
        "the symbols 1 of the first two words stand where those of the others do", first == second
    )
    yield Step("one layer fails and two layers do it", statement.rhs == 1 + 1)

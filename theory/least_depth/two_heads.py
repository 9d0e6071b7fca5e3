"""Words 0...01...1 by one layer of attention: one head is too few, two heads are enough.

A head scores every position by its number and its letter. Hard attention returns the position of
the largest score and the letter there; softmax the mean of any vectors of position and letter.
"""

from __future__ import annotations

from fractions import Fraction
from itertools import combinations, product
from operator import add

from sympy import Min

from ..atlas.tasks import ordered
from ..claims.definition import Case, Control, Exact, Source, claim
from ..claims.relations import Eq
from ..claims.symbols import quantity
from ..nets.attention import AttentionNet
from ..nets.builder import Body, Stream
from ..nets.classes import in_class
from ..nets.right import right_on
from ..nets.thoughts import ThoughtNet
from .chain_of_thought import Digits, least_steps, pairs_text, task, thoughts_by_tables, word_length

ordered_heads_least = quantity(
    "ordered_heads_least",
    "H_{min}",
    "least number of heads of one layer that tells sorted words; -1 where that is not shown",
    "integer",
)


def softmax_heads(n: int, heads: int = 2) -> AttentionNet:
    """The first head finds the last zero, by the scores i n - x_i n^2, the second one the first
    one, by their negatives; both in one layer, or with one head a layer one after the other.

    The read-out is linear: the position of the first one less that of the last zero, with n added
    where there is no zero or no one, is above 1/2.
    """
    stream = Stream(["1", "one", "zero at", "zero is", "one at", "one is"], {"i": "i"})

    def head(sign: int, at: str, is_one: str) -> Body:
        return stream.head(
            "softmax",
            "strict",
            [{"1": 1}],
            [{"i": sign * n, "1": sign * n, "one": -sign * n * n}],
            {"i+1": at, "one": is_one},
            base=2,
        )

    found = [head(1, "zero at", "zero is"), head(-1, "one at", "one is")]
    read = {"one at": 1, "zero at": -1, "zero is": n, "one is": -n, "1": Fraction(2 * n - 1, 2)}
    return stream.net(
        "01",
        {"0": {"1": 1}, "1": {"1": 1, "one": 1}, "?": {"1": 1}},
        end="?",
        layers=[{"heads": found[at : at + heads]} for at in range(0, 2, heads)],
        read=stream.matrix([read])[0],
    )


def hard_heads(n: int) -> ThoughtNet:
    """Hard attention by the same scores, ties to the left, and one step of thought: what follows is
    the same read-out of what both heads attend to."""
    pairs = list(product(range(n), (0, 1)))
    orders = [
        sorted(pairs, key=lambda pair: -sign * ((pair[0] + 1) * n - pair[1] * n * n))
        for sign in (1, -1)
    ]
    follows = {}
    for word in product((0, 1), repeat=n):
        (i, a), (j, b) = (next(p for p in order if word[p[0]] == p[1]) for order in orders)
        in_order = j - i + n * a + n * (1 - b) > Fraction(1, 2)
        follows[pairs_text([(i, a), (j, b)])] = "sorted" if in_order else "not sorted"
    return thoughts_by_tables(
        "01",
        "begin",
        {"begin": {"heads": [*map(pairs_text, orders)], "next": follows}},
        {"sorted": True, "not sorted": False},
    )


def uniform(word: Digits) -> bool:
    """Whether a net with one uniform head takes a word for sorted: right up to two letters."""
    n = len(word)
    return sum(x * Fraction(2 * i - n - 1, n) for i, x in enumerate(word, 1)) > Fraction(-1, 4)


def balanced(words: list[Digits], others: list[Digits]) -> bool:
    """Whether two words and two others have the same letters, counted at each position.

    One softmax head with a linear read-out, times its positive denominator, is a sum of functions
    of one letter each. Over two words and over two others with the same letters it has one sum; so
    it is not positive on the words alone.
    """
    sums, other_sums = (
        {tuple(map(add, *pair)) for pair in combinations(some, 2)} for some in (words, others)
    )
    return not sums.isdisjoint(other_sums)


def _heads(case: Case) -> Exact:
    """The least number of heads, by weights that are run on all words and by what excludes fewer;
    -1 where they do not meet."""
    words = list(product((0, 1), repeat=case.word_length))
    inside = [word for word in words if list(word) == sorted(word)]
    outside = [word for word in words if list(word) != sorted(word)]
    if not outside:
        return Exact(0)
    hard = case.attention == "hard"
    if hard:
        one_fails = least_steps(task(lambda word: list(word) == sorted(word), len(words[0]))) > 1
    else:
        one_fails = balanced(inside, outside)
    if not one_fails:
        return Exact(1 if hard or all(uniform(w) == (w in inside) for w in words) else -1)
    net = hard_heads(case.word_length) if hard else softmax_heads(case.word_length)
    broken = in_class(net, "cot-heads" if hard else "linear-readout-two-heads")
    two_do = right_on(net, ordered(case.word_length))
    return Exact(2 if two_do and two_do.depth == 1 and not broken else -1)


@claim(
    Eq(ordered_heads_least, Min(2, word_length - 1)),
    source=Source("depthlaw", "after vandoornmalen2026, Theorem 1: two heads are needed"),
    kind="threshold",
    cases={
        "quick": Case.grid(attention=("hard", "soft"), word_length=range(1, 9)),
        "theory": Case.grid(attention=("hard", "soft"), word_length=9),
        "full": Case.grid(attention=("hard", "soft"), word_length=(10, 11)),
    },
    control=Control(
        Case(attention="soft", word_length=3),
        "one head, as for words of two letters",
        statement=Eq(ordered_heads_least, 1),
    ),
    supports="least_depth/steps_are_rank",
)
def ordered_heads(case: Case) -> Exact:
    r"""Sorted words take two heads in one layer.

    For every $n$ the least number of heads of one layer that tells the words $0^a 1^b$ of $n$
    letters from all others is $\min(2, n - 1)$: for hard attention whose answer is any function of
    what the heads return, and for softmax of any width and precision with a linear read-out.

    Upper end: the printed logits $i n - x_i n^2$ and $x_i n^2 - i n$ for position $i$ and letter
    $x_i$ with a linear read-out, run on all words, for softmax exactly to the base 2; the printed
    net reads out by an MLP, which these logits do not need. Lower end, hard: a search over all
    orders of scores (least_depth/steps_are_rank). Lower end, softmax: $000$ and $111$ have together
    the letters of $010$ and $101$ at each position; zeros in front make it any length. The printed
    lower end is for softmax with an MLP of a fixed size and has not been checked here: without a
    bound on size or precision one softmax head with an MLP decides every language of words of
    $n$ letters.
    """
    return _heads(case)

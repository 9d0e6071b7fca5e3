"""Least number of steps of thought of one layer of hard attention, and the rank of a function.

The decoder: its thought is an element of a finite set. In a step each head scores every position by
the thought, the position and the letter there, and attends to the highest score, ties to the left;
the next thought is any function of the thought and of the attended positions and letters. After the
last step the thought names the answer. Embeddings, precision and widths are free, so scores are any
table. Thoughts of earlier steps tell nothing new, so heads need not attend to them.

Sets of words are integers: bit j stands for word j.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping
from functools import cache, reduce
from itertools import permutations, product
from operator import or_
from typing import Any, NamedTuple

from sympy import Min, Symbol, ceiling
from sympy.core.relational import Relational

from ..atlas.tasks import parity_bits
from ..claims.definition import Case, Control, Exact, Formal, Source, Step, claim
from ..claims.relations import Eq
from ..claims.symbols import heads, quantity, stated
from ..nets.classes import in_class
from ..nets.right import right_on
from ..nets.thoughts import ThoughtNet, thought_net

thought_steps = quantity(
    "thought_steps",
    r"t^*",
    "least number of steps of thought of one layer of hard attention",
    "integer",
)
disagreements = quantity(
    "disagreements",
    r"\#_{\neq}",
    "functions on which two numbers differ, or which a decoder gets wrong",
    "nonnegative integer",
)
word_length = quantity("word_length", "n", "number of letters of a word")
ones = quantity("ones", "k", "which of the ones of a word is sought")
iterations = quantity("iterations", r"\ell", "how often a function is applied")
shortest_length = quantity(
    "shortest_length", "n_k", "least length of words at which the $k$-th one takes $k$ steps"
)

BARCELO = "arXiv:2501.12997v2"

Digits = tuple[int, ...]
# A position and a letter.
Pair = tuple[int, int]


class WordFunction(NamedTuple):
    """A function on words, as sets of words."""

    words: tuple[Digits, ...]
    tests: dict[Pair, int]  # -> the words that have this letter at this position
    classes: dict[Any, int]  # answer -> the words that have it

    @property
    def everything(self) -> int:
        """The set of all words."""
        return (1 << len(self.words)) - 1

    def answered(self, some: int) -> bool:
        """Whether all words of a set have one answer; the empty set has."""
        return any(not some & ~same for same in self.classes.values())


def task(function: Callable[[Digits], Any], length: int, letters: int = 2) -> WordFunction:
    """The task of computing a function on all words of a length over the letters 0, 1, ...

    Cost: the function is called letters^length times.
    """
    words = tuple(product(range(letters), repeat=length))
    classes: dict[Any, int] = {}
    for j, word in enumerate(words):
        answer = function(word)
        classes[answer] = classes.get(answer, 0) | 1 << j
    tests = {
        (i, letter): sum(1 << j for j, word in enumerate(words) if word[i] == letter)
        for i, letter in product(range(length), range(letters))
    }
    return WordFunction(words, tests, classes)


# --- the rank ---


def ranks(the: WordFunction) -> Callable[[int], tuple[int, Pair | None]]:
    """Set of words -> its rank, and the query at the root of a tree of that rank.

    The rank of a tree whose inner nodes ask whether a letter stands at a position: 0 for a leaf,
    r + 1 for two children of rank r, else the larger of the two; that of a set is the least over
    its trees.

    Cost: one minimum over all pairs for every product of sets of letters, 3^n of them for bits.
    """

    @cache
    def rank(some: int) -> tuple[int, Pair | None]:
        if the.answered(some):
            return 0, None
        found = []
        for pair, test in the.tests.items():
            if some & test and some & ~test:
                yes, no = rank(some & test)[0], rank(some & ~test)[0]
                found.append((yes + 1 if yes == no else max(yes, no), pair))
        return min(found)

    return rank


def decoder(the: WordFunction) -> ThoughtNet:
    """The net that follows a tree of least rank, with as many steps as the rank; thoughts are sets
    of words.

    From a node of rank r one child at a time has rank r, until none has. The queries on this path
    are scored in their order, each by the letters that lead off the path; so attention finds where
    a word leaves it, to a node of smaller rank.

    >>> decoder(task(sum, 2)).answer(("1", "1"))
    ('2', 2)
    """
    rank, names = ranks(the), {the.everything: "begin"}
    thoughts: dict[str, Any] = {}
    answers: dict[str, str] = {}
    waiting = [the.everything]
    while waiting:
        thought = waiting.pop()
        level, name = rank(thought)[0], names[thought]
        if level == 0:
            answers[name] = str(next(a for a, same in the.classes.items() if thought & same))
            continue
        after: dict[Pair, int] = {}
        path = thought
        while rank(path)[0] == level:
            position, letter = rank(path)[1] or (0, 0)
            test = the.tests[position, letter]
            leaves = rank(path & test)[0] < level
            exit_to, path_on = path & test, path & ~test
            if not leaves:
                exit_to, path_on = path_on, exit_to
            for pair in the.tests:
                if pair[0] == position and (pair[1] == letter) == leaves:
                    after.setdefault(pair, exit_to)
            path = path_on
        for pair in sorted(the.tests.keys() - after.keys()):
            after[pair] = path
        for following in after.values():
            if following not in names:
                names[following] = f"t{len(names)}"
                waiting.append(following)
        thoughts[name] = {
            "heads": [pairs_text(after)],
            "next": {pairs_text([pair]): names[following] for pair, following in after.items()},
        }
    return thoughts_by_tables({str(letter) for _, letter in the.tests}, "begin", thoughts, answers)


def pairs_text(pairs: Iterable[Pair]) -> str:
    """Pairs as a file of thoughts has them."""
    return " ".join(f"{position}:{letter}" for position, letter in pairs)


def thoughts_by_tables(
    letters: Iterable[str], begin: str, thoughts: Mapping[str, Any], answers: Mapping[str, Any]
) -> ThoughtNet:
    """A chain of thought by its tables, as a file has them (`nets.thoughts`)."""
    return thought_net(
        {
            "family": "thoughts",
            "alphabet": sorted(letters),
            "begin": begin,
            "thoughts": thoughts,
            "answers": answers,
        }
    )


# --- the least number of steps, over all scores ---


# For every head the pairs by falling score.
Orders = tuple[tuple[Pair, ...], ...]


def least_steps(the: WordFunction, heads: int = 1, sees_letters: bool = True) -> int:
    """The least number of steps over all decoders with so many heads, by search.

    What a head attends to depends on the order of its scores alone: it returns the first pair of
    the order that the word has. Which thoughts are possible is a partition of the words, by the
    pairs that all heads return; each part must be answered in one step less. Orders are tried for
    all heads but the last. For the last one pairs are taken as they fit: what can be answered for a
    set can be for its subsets, so taking a pair never hurts.

    With sees_letters=False scores are by position alone: a step reads one position, which the
    thought names. Else the decoder that is found is run on every word.

    Raises:
        RuntimeError: when the decoder that is found is wrong about a word.

    Cost: exponential in the length; seconds for 13 bits with two heads.
    """
    letters: dict[int, list[int]] = {}
    for (position, _), test in the.tests.items():
        letters.setdefault(position, []).append(test)

    @cache
    def answered(some: int, steps: int) -> bool:
        if the.answered(some):
            return True
        if steps and not sees_letters:
            return any(
                all(answered(some & test, steps - 1) for test in at) for at in letters.values()
            )
        return steps > 0 and fit(frozenset((some,)), steps, heads) is not None

    @cache
    def fit(parts: frozenset[int], steps: int, left: int) -> Orders | None:
        """Orders for the heads that are left, which split the parts into ones that a step less
        answers."""
        rest = reduce(or_, parts, 0)
        if left > 1:
            return extend((), rest, parts, steps, left)
        order: list[Pair] = []
        size = None
        while rest and rest != size:
            size = rest
            for pair, test in the.tests.items():
                if rest & test and all(answered(part & rest & test, steps - 1) for part in parts):
                    order.append(pair)
                    rest &= ~test
        return None if rest else (tuple(order),)

    def extend(
        order: tuple[Pair, ...], rest: int, parts: frozenset[int], steps: int, left: int
    ) -> Orders | None:
        """An order of this head that goes on from the given pairs, and orders of the others."""
        # The words by which pair of the order comes first; words that have none are left out.
        cut, without = [], the.everything
        for pair in order:
            cut.append(without & the.tests[pair])
            without &= ~the.tests[pair]
        split = frozenset(part & taken for part in parts for taken in cut if part & taken)
        others = fit(split, steps, left - 1)
        if others is None or not rest:
            return None if others is None else (order, *others)
        for pair in {rest & test: pair for pair, test in the.tests.items() if rest & test}.values():
            longer, taken = (*order, pair), rest & the.tests[pair]
            if fit(frozenset(part & taken for part in parts), steps, left - 1) is not None:
                found = extend(longer, rest & ~taken, parts, steps, left)
                if found is not None:
                    return found
        return None

    def right(word: Digits) -> bool:
        """Whether the heads, with the orders that were found, answer a word."""
        thought = the.everything
        for left in range(steps, 0, -1):
            if the.answered(thought):
                break
            for order in fit(frozenset((thought,)), left, heads) or ():
                attended = next(pair for pair in order if word[pair[0]] == pair[1])
                for pair in order[: order.index(attended)]:
                    thought &= ~the.tests[pair]
                thought &= the.tests[attended]
        return the.answered(thought)

    steps = 0
    while not answered(the.everything, steps):
        steps += 1
    if sees_letters and not all(map(right, the.words)):
        raise RuntimeError("the decoder that was found is wrong about a word")
    return steps


# --- tasks ---


def kth_one(k: int) -> Callable[[Digits], int]:
    """The position of the k-th one, from 1; 0 if there are fewer."""
    return lambda word: next((i for i, bit in enumerate(word, 1) if bit and sum(word[:i]) == k), 0)


def iterated(times: int) -> Callable[[Digits], int]:
    """The word read as a map of {0, ..., n-1} to itself, applied so often to 0."""
    return lambda word: reduce(lambda at, _: word[at], range(times), 0)


def truth_tables(length: int) -> Iterator[tuple[int, ...]]:
    """All functions of bits; from four bits on, one of those that differ in the order or the flips
    of the bits, which change neither rank nor steps."""
    words = list(product((0, 1), repeat=length))
    index = {word: j for j, word in enumerate(words)}
    moves = [
        [index[tuple(word[i] for i in order)] ^ mask for word in words]
        for order in permutations(range(length))
        for mask in range(len(words))
        if length > 3
    ]
    seen = bytearray(2 ** len(words))
    for number in range(len(seen)):
        if not seen[number]:
            table = [number >> j & 1 for j in range(len(words))]
            for move in moves:
                seen[sum(table[j] << i for i, j in enumerate(move))] = 1
            yield tuple(table)


# --- claims ---


def _agrees(the: WordFunction, sees_letters: bool = True) -> bool:
    """Whether the least number of steps is the rank, and the decoder of the tree right with it."""
    rank, net = ranks(the)(the.everything)[0], decoder(the)
    if least_steps(the, sees_letters=sees_letters) != rank or in_class(net, "cot-one-head"):
        return False
    said = [net.answer(tuple(map(str, word))) for word in the.words]
    return all(
        said[j][0] == str(answer) and said[j][1] <= rank
        for answer, same in the.classes.items()
        for j in range(len(the.words))
        if same >> j & 1
    )


def _disagreements(case: Case, seed: int, sees_letters: bool = True) -> Exact:
    tables: Iterable[Iterable[int]]
    if case.drawn:
        size = case.letters**case.word_length
        tables = case.rng(seed).integers(0, case.answers, (case.drawn, size)).tolist()
    elif case.letters == 2:
        tables = truth_tables(case.word_length)
    else:
        tables = product(range(case.answers), repeat=case.letters**case.word_length)
    return Exact(sum(not _agrees(tabled(t, case), sees_letters) for t in tables))


def tabled(table: Iterable[int], case: Case) -> WordFunction:
    """The task of a list of answers, by words in their order."""
    values = iter(table)
    return task(lambda _: next(values), case.word_length, case.letters)


@claim(
    Eq(disagreements, 0),
    source=Source("barcelo2025", "abstract", BARCELO),
    wording="derived",
    kind="two-sided",
    cases={
        "quick": (
            *Case.grid(word_length=(1, 2, 3), letters=2, answers=2, drawn=0),
            Case(word_length=2, letters=3, answers=2, drawn=0),
            Case(word_length=5, letters=2, answers=2, drawn=10),
            Case(word_length=3, letters=3, answers=3, drawn=10),
        ),
        "theory": (
            Case(word_length=4, letters=2, answers=2, drawn=0),
            Case(word_length=5, letters=2, answers=2, drawn=100),
            Case(word_length=6, letters=2, answers=3, drawn=40),
            Case(word_length=3, letters=4, answers=2, drawn=40),
        ),
    },
    control=Control(
        Case(word_length=3, letters=2, answers=2, drawn=0),
        "scores that do not see the letters: then the least number is the depth of a tree",
        measured=lambda case, seed: _disagreements(case, seed, sees_letters=False),
    ),
    cited="Decides whether lower bounds on rank may be quoted as least steps of chain of thought.",
    formal=Formal(
        "Thoughts.steps_are_rank",
        "0%N",
        "The theorem holds no number: for every function the numbers of steps that are enough are "
        "those from the rank on. That attention to earlier thoughts tells nothing new.",
    ),
)
def steps_are_rank(case: Case, seed: int) -> Exact:
    r"""One layer thinks for as many steps as the rank.

    For every function of words of a fixed length, the least number of steps of thought of one layer
    of hard attention with one head is its rank: the least over decision trees, whose queries are
    whether a letter stands at a position, of the Ehrenfeucht-Haussler rank.

    Two computations that share nothing but the function. The rank is a recursion over queries. The
    least number of steps is a search over decoders: in a step, over all orders of the scores of
    positions and letters. Besides, a decoder whose scores are read off the tree answers every word,
    in no more steps than the rank. All functions of up to four bits (from four on up to order and
    flips of the bits) and random functions of more letters. The thought may be of any size, a
    vector of any precision: written in bits, it is a longer chain. Only the abstract was read; that
    it means this decoder is how we read it. Where scores see positions alone, as in the control,
    the number is the depth of a tree, up to $n$ where the rank is 1.
    """
    return _disagreements(case, seed)


@claim(
    Eq(thought_steps, Min(ones, word_length - ones + 1)),
    source=Source("depthlaw", f"after barcelo2025, {BARCELO}, abstract: $k$ steps"),
    kind="two-sided",
    cases={
        "quick": tuple(Case(ones=k, word_length=n) for n in range(1, 9) for k in range(1, n + 1)),
        "theory": (
            *Case.grid(ones=(1, 2, 5, 6, 10), word_length=10),
            *Case.grid(ones=(3, 6, 7, 10), word_length=12),
        ),
    },
    assumes={"there are that many positions": lambda c: c.ones <= c.word_length},
    control=Control(
        Case(ones=3, word_length=4),
        "$k$ steps, as printed without a condition on the length",
        statement=Eq(thought_steps, ones),
    ),
    supports="least_depth/steps_are_rank",
    formal=Formal(
        "Thoughts.kth_one_steps",
        "Thoughts.kth_one_steps_value {ones} {word_length}",
        "That attention to earlier thoughts tells nothing new.",
    ),
)
def kth_one_steps(case: Case) -> Exact:
    r"""One hard head finds the $k$-th one in exactly $\min(k, n - k + 1)$ steps of thought.

    For all $1 \leq k \leq n$ the least number of steps in which one layer of hard attention with
    one head finds the position of the $k$-th one in $n$ bits, or that there are fewer, is
    $\min(k, n - k + 1)$: the printed $k$ exactly for $n \geq 2 k - 1$.

    Over all decoders, by search: the class is words. The abstract says that it requires $k$ steps;
    for which lengths was not read, and as recalled for all large ones. Upper bound: find the first
    $k$ ones, one a step; or the first $n - k$ zeros, after which only a word of ones is right.
    Lower bound: whether there are $k$ ones at all.
    """
    return Exact(least_steps(task(kth_one(case.ones), case.word_length)))


@kth_one_steps.argument(
    "Lower bound on the rank of 'at least k of n ones', whose rows for k = 0 and n + 1 are "
    "constant: whatever a root asks, its children are k - 1 and k of n - 1. Prose: steps are at "
    "least the rank: the order of a head is a path of queries, whose exits have rank one less; the "
    "two decoders of the note."
)
def _(statement: Relational) -> Iterator[Step]:
    n, k = word_length, Symbol("k", integer=True, positive=True)
    more = Symbol("d", integer=True, nonnegative=True)

    def law(length: Any, one: Any) -> Any:
        return statement.rhs.subs({word_length: length, ones: one}, simultaneous=True)

    yield Step("the statement is an equation", statement.rel_op == "==")
    yield Step("no one is sought: constant", law(n, 0) == 0)
    yield Step("more ones than bits are sought: constant", law(n, n + 1) == 0)
    # k below, at and above the middle, where n = 2k - 1.
    yield Step(
        "n = 2k + d: the children differ, and the larger is the law",
        law(2 * k + more - 1, k) == law(2 * k + more, k) == law(2 * k + more - 1, k - 1) + 1,
    )
    yield Step(
        "n = 2k - 1: the children agree, and one more is the law",
        law(2 * k - 2, k) == law(2 * k - 2, k - 1) == law(2 * k - 1, k) - 1,
    )
    # n = k + d and k = d + 2 + e.
    many = more + 2 + Symbol("e", integer=True, nonnegative=True)
    yield Step(
        "n < 2k - 1: the children differ, and the larger is the law",
        law(many + more - 1, many - 1) == law(many + more, many) == law(many + more - 1, many) + 1,
    )


@claim(
    Eq(shortest_length, stated),
    source=Source("depthlaw", f"after barcelo2025, {BARCELO}, abstract: multi-head rank"),
    kind="threshold",
    cases={
        "quick": (
            *(Case(heads=1, ones=k, stated=2 * k - 1) for k in (2, 3, 4, 5)),
            Case(heads=2, ones=2, stated=4),
        ),
        "theory": (Case(heads=3, ones=2, stated=8),),
        "full": (Case(heads=2, ones=3, stated=13),),
    },
    control=Control(
        Case(heads=2, ones=2, stated=3), "the length at which one head needs $k$ steps"
    ),
    supports="least_depth/steps_are_rank",
)
def kth_one_heads(case: Case) -> Exact:
    r"""Hard heads need $k$ steps of thought for the $k$-th one from the listed lengths on.

    One layer of hard attention needs $k$ steps of thought for the position of the $k$-th one in $n$
    bits exactly from these lengths on: with one head $2 k - 1$ for $k \leq 5$; with two heads 4 for
    $k = 2$ and 13 for $k = 3$; with three heads 8 for $k = 2$.

    Over all decoders, by search at every length up to there: the class is words. The decoders that
    take fewer steps are run on all words. As recalled, that more heads do not help for large $n$ is
    a theorem; no bound on $n$ was read. So two heads still find the third one of 12 bits in two
    steps (that 13 bits take three is searched in suite full), and a small experiment would see
    heads replace steps. No formula is known to us.
    """
    # It stays k for longer words: zeros at the end change nothing, and k steps are enough.
    length = case.ones
    while least_steps(task(kth_one(case.ones), length), case.heads) < case.ones:
        length += 1
    return Exact(length)


@claim(
    Eq(thought_steps, Min(iterations, word_length - 1)),
    source=Source("depthlaw", rf"after barcelo2025, {BARCELO}, abstract: $\ell$ steps"),
    kind="two-sided",
    cases={
        "quick": Case.grid(iterations=range(1, 7), word_length=(2, 3, 4)),
        "theory": Case.grid(iterations=range(1, 7), word_length=5),
        "full": (Case(iterations=6, word_length=6),),
    },
    control=Control(
        Case(iterations=4, word_length=4),
        r"$\ell$ steps, as printed without a condition on the domain",
        statement=Eq(thought_steps, iterations),
    ),
    supports="least_depth/steps_are_rank",
    formal=Formal(
        "Thoughts.iteration_steps",
        "Thoughts.iteration_steps_value {iterations} {word_length}",
        "That attention to earlier thoughts tells nothing new.",
    ),
)
def iteration_steps(case: Case) -> Exact:
    r"""One hard head applies a map $\ell$ times in exactly $\min(\ell, n - 1)$ steps.

    For all $n, \ell \geq 1$ the least number of steps in which one layer of hard attention with one
    head reads the $n$ values of a map of $n$ elements to itself and applies it $\ell$ times to a
    fixed start is $\min(\ell, n - 1)$: the printed $\ell$ needs a domain of more than $\ell$
    elements.

    Over all decoders, by search: the class is words. As recalled, the printed task is this one.
    Upper bound: a step follows the map once; when $n - 1$ elements are visited, one step reads
    where the last of them goes and, if that is the element left, where that goes. Lower bound, on
    the rank: whichever query stands at the root, both children keep all but one of the steps. A
    query at the end of the path: go on to the element asked for, or to another new one. A query
    elsewhere: let no value be that element. For maps that differ from each other no domain is too
    small (least_depth/composition_steps).
    """
    n = case.word_length
    return Exact(least_steps(task(iterated(case.iterations), n, n)))


@iteration_steps.argument(
    "Prose: steps are at least the rank: the order of a head is a path of queries, whose exits "
    "have rank one less; the children of the note, each at least as hard as the task with an "
    "element less, and a hop less at the end of the path; a query for a visited element is "
    "answered no; the decoder of the note"
)
def _(statement: Relational) -> Iterator[Step]:
    hop = Symbol("l", integer=True, positive=True)
    more = Symbol("d", integer=True, nonnegative=True)

    def law(hops: Any, elements: Any) -> Any:
        values = {iterations: hops, word_length: elements}
        return statement.rhs.subs(values, simultaneous=True)

    yield Step("the statement is an equation", statement.rel_op == "==")
    yield Step("one element: nothing to find", law(hop, 1) == 0)
    yield Step("one hop: one step", law(1, more + 2) == 1)
    yield Step("two elements: one step", law(hop, 2) == 1)
    # Both at least 2: n - 1 equal to l, larger, smaller.
    for hops, elements in (
        (hop + 1, hop + 2),
        (hop + 1, hop + 3 + more),
        (hop + 2 + more, hop + 2),
    ):
        here = law(hops, elements)
        yield Step("an element and a hop less", law(hops - 1, elements - 1) == here - 1)
        yield Step("an element less", (law(hops, elements - 1) - here + 1).is_nonnegative is True)


def bit_by_bit(case: Case) -> ThoughtNet:
    """Each head reads one bit more in each step, and the thought is the parity so far."""
    n, step = case.word_length, case.heads
    thoughts = {}
    for at, odd in product(range(0, n, step), (0, 1)):
        read = range(at, min(at + step, n))
        thoughts[f"{at} {odd}"] = {
            "heads": [pairs_text([(position, 0), (position, 1)]) for position in read],
            "next": {
                pairs_text(zip(read, bits, strict=True)): (
                    f"{min(at + step, n)} {(odd + sum(bits)) % 2}"
                )
                for bits in product((0, 1), repeat=len(read))
            },
        }
    return thoughts_by_tables("01", "0 0", thoughts, {f"{n} 0": False, f"{n} 1": True})


@claim(
    Eq(thought_steps, ceiling(word_length / heads)),
    source=Source("depthlaw", f"after barcelo2025, {BARCELO}, and dahiya2021: PARITY has rank $n$"),
    kind="two-sided",
    cases={
        "quick": Case.grid(word_length=range(1, 7), heads=(1, 2, 3)),
        "theory": (
            *Case.grid(word_length=(7, 8), heads=(1, 2, 3)),
            *Case.grid(word_length=(5, 6, 7), heads=4),
        ),
    },
    control=Control(
        Case(word_length=5, heads=2),
        "heads do not help, as recalled for other tasks and long words",
        statement=Eq(thought_steps, word_length),
    ),
    supports="least_depth/steps_are_rank",
    formal=Formal(
        "Thoughts.parity_steps",
        "Thoughts.parity_steps_value {word_length} {heads}",
        "That attention to earlier thoughts tells nothing new.",
    ),
)
def parity_steps(case: Case) -> Exact:
    r"""One layer of $H$ hard heads does parity in exactly $\lceil n/H \rceil$ steps of thought.

    For all $n$ and $H$ the least number of steps in which one layer of hard attention with $H$
    heads computes the parity of $n$ bits is $\lceil n/H \rceil$.

    Over all decoders, by search; and by a net that reads $H$ bits a step, on all words. So hard
    attention does no better than that.
    Lower bound: an adversary makes the pair that each head scores highest, among those still
    possible, true; this fixes at most $H$ bits, the step tells nothing else, and the rest is a
    parity or its complement.
    """
    steps = least_steps(task(lambda word: sum(word) % 2, case.word_length), case.heads)
    net = bit_by_bit(case)
    right = right_on(net, parity_bits(case.word_length))
    return Exact(steps if right and right.depth == steps and not in_class(net, "cot-heads") else -1)


@parity_steps.argument(
    "Prose: the adversary of the note, by which $n$ bits take one step more than $n - H$; reading "
    "$H$ bits a step attains it."
)
def _(statement: Relational) -> Iterator[Step]:
    n, right = word_length, statement.rhs
    yield Step("the statement is an equation", statement.rel_op == "==")
    yield Step("H bits more take one step more", right.subs(n, n + heads).expand() == right + 1)
    yield Step("no bits take no step", right.subs(n, 0) == 0)
    spare = Symbol("m", integer=True, nonnegative=True)
    ratio = (right.args or (right,))[0].subs(heads, n + spare)
    yield Step(
        "up to H bits take one step: a ceiling of more than 0 and at most 1",
        right.func == ceiling and ratio.is_positive and (1 - ratio).together().is_nonnegative,
    )

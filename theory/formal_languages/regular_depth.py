"""What a regular language asks of depth: whether any depth does, decided in its syntactic monoid,
and how many layers of unique hard attention it takes, by a search over all that layers can tell.

The monoid is R-trivial iff leftmost heads do the language at some depth, aperiodic iff rightmost
heads do. Where none does, four words show it for every depth.
"""

from __future__ import annotations

import re
from itertools import count
from typing import NamedTuple

from depthlaw.advisor.base.quantities import UsageError, quoted

from .automaton import Automaton, Map, cycle, images, minimal, period
from .temporal_logic import kinds, leftmost_kinds

# Beyond these a language is refused: it would take minutes, or all memory.
LONGEST_EXPRESSION = 500
MOST_STATES = 1_000
MOST_ELEMENTS = 20_000
# Elements times states: what they take in memory.
MOST_PLACES = 3_000_000
# What a search for two words looks at, for each number of layers.
MOST_SEEN = 30_000
# Up to here numbers of layers are tried one by one, and then twice as many each time.
_ONE_BY_ONE = 8

_ACCEPTED = "write letters and digits with |, *, +, ? and parentheses, for example (ab)* or a*b*"


# --- reading a language ---


def read_language(expression: str, letters: str | None = None) -> Automaton:
    """The minimal automaton of a user's expression, over these letters or those that it holds.

    Raises:
        UsageError: for what is no expression, foreign letters, and more than `MOST_STATES` sets of
            states.

    >>> read_language("(ab)*").states, read_language("a*").states, read_language("a*", "ab").states
    (3, 1, 2)
    """
    if len(expression) > LONGEST_EXPRESSION:
        raise UsageError(
            f"the expression has {len(expression):,} characters; accepted are up to "
            f"{LONGEST_EXPRESSION}"
        )
    if foreign := re.search(r"[^a-zA-Z0-9|*+?()]", expression):
        raise UsageError(f"cannot read {quoted(foreign[0])} in the expression; {_ACCEPTED}")
    used = "".join(sorted(set(re.findall(r"\w", expression))))
    alphabet = used if letters is None else letters
    if not re.fullmatch(r"[a-zA-Z0-9]*", alphabet) or len(set(alphabet)) != len(alphabet):
        raise UsageError(
            f"cannot read the alphabet {quoted(alphabet)}; write each letter or digit once, for "
            "example ab"
        )
    if not alphabet and expression.count("(") != expression.count(")"):
        raise UsageError("the expression has unclosed parentheses, and no letter; try (ab)*")
    if not alphabet:
        raise UsageError("the expression has no letter; name the alphabet, for example ab")
    if missing := [letter for letter in used if letter not in alphabet]:
        raise UsageError(
            f"the expression has the letter {quoted(missing[0])}, which the alphabet "
            f"{quoted(alphabet)} lacks; try the alphabet {used}"
        )
    try:
        _bounded(expression, alphabet)
        return minimal(expression, alphabet)
    except UsageError:
        raise
    except (ValueError, RecursionError) as error:
        why = "it is nested too deep" if isinstance(error, RecursionError) else _why(error)
        raise UsageError(f"cannot read {quoted(expression)}: {why}; {_ACCEPTED}") from None


def _why(error: ValueError) -> str:
    """The parser's complaint, without names of its classes."""
    text = re.sub(r"'?<\w+?Token: '?(.*?)'?>'?", r"\1", str(error)).rstrip(". ")
    for theirs, ours in (
        ("Token list", "it"),
        ("a statement", "an expression"),
        ("parethesis", "parentheses"),
    ):
        text = text.replace(theirs, ours)
    return text


def _bounded(expression: str, alphabet: str) -> None:
    """Raises where the deterministic automaton has too many states, before they are all listed."""
    from automata.base.exceptions import AutomatonException, RegexException
    from automata.fa.nfa import NFA

    try:
        nfa = NFA.from_regex(expression, input_symbols=set(alphabet))
    except (AutomatonException, RegexException) as error:
        raise ValueError(str(error)) from None
    moves = nfa.transitions

    def closed(states: frozenset) -> frozenset:
        found = [*states]
        known = set(states)
        for state in found:
            for after in moves.get(state, {}).get("", ()):
                if after not in known:
                    known.add(after)
                    found.append(after)
        return frozenset(known)

    queue = [closed(frozenset([nfa.initial_state]))]
    seen = set(queue)
    for states in queue:
        for letter in alphabet:
            after = closed(frozenset(t for s in states for t in moves.get(s, {}).get(letter, ())))
            if after not in seen:
                seen.add(after)
                queue.append(after)
        if len(seen) > MOST_STATES:
            raise UsageError(
                f"the language takes an automaton of more than {MOST_STATES:,} states, which is "
                "too many here; try a shorter expression"
            )


# --- the monoid ---


def monoid(automaton: Automaton) -> dict[Map, str]:
    """The transition monoid: every map of states by a word, with a shortest such word. Of a minimal
    automaton it is the syntactic monoid.

    Raises:
        UsageError: for more than `MOST_ELEMENTS` of them, or fewer where there are many states.

    >>> len(monoid(minimal("(ab)*")))
    6
    """
    most = min(MOST_ELEMENTS, MOST_PLACES // automaton.states)
    word_of = images(automaton, tuple(range(automaton.states)), most)
    if len(word_of) > most:
        raise UsageError(
            f"the syntactic monoid of the language has more than {most:,} elements, which are too "
            "many here; try a shorter expression"
        )
    return word_of


def solvable(elements: dict[Map, str]) -> bool:
    """Whether all groups in a monoid are solvable.

    A map is in a group iff it permutes its image; those of one group have the image and the classes
    of states with equal images in common.

    >>> solvable(monoid(minimal("(aa)*"))), solvable(monoid(permuted(5)))
    (True, False)
    """
    from sympy.combinatorics import Permutation, PermutationGroup

    groups: dict[tuple[Map, Map], set[Map]] = {}
    for element in elements:
        image = sorted(set(element))
        if len({element[state] for state in image}) == len(image):
            first = {place: i for i, place in reversed([*enumerate(element)])}
            places = {state: i for i, state in enumerate(image)}
            key = tuple(image), tuple(first[place] for place in element)
            groups.setdefault(key, set()).add(tuple(places[element[state]] for state in image))
    for group in groups.values():
        # The smallest group that is not solvable has 60 elements.
        if len(group) < 60:
            continue
        listed = [Permutation(list(p)) for p in sorted(group)]
        made = PermutationGroup(listed[:2])
        while made.order() < len(group):
            made = PermutationGroup([*made.generators, next(p for p in listed if p not in made)])
        if not made.is_solvable:
            return False
    return True


def permuted(n: int) -> Automaton:
    """The automaton of n states whose letters exchange two of them and turn all: a symmetric group.

    >>> len(monoid(permuted(4)))
    24
    """
    turned = tuple((i + 1) % n for i in range(n))
    return Automaton("ab", ((1, 0, *range(2, n)), turned), frozenset([0]))


# --- words that no depth tells apart ---


class Pumped(NamedTuple):
    """Two words for every depth: `prefix`, `loop` repeated, `suffix`, and the same with `step`
    before the suffix. One is in the language, the other is not."""

    prefix: str
    loop: str
    step: str
    suffix: str

    def pair(self, layers: int) -> tuple[str, str]:
        """The words for so many layers."""
        rounds = self.prefix + self.loop * (layers + 1)
        return rounds + self.suffix, rounds + self.step + self.suffix


def around_a_cycle(automaton: Automaton) -> Pumped | None:
    """What no depth of leftmost heads tells apart: once more around a cycle, or half of it; None
    iff the monoid is R-trivial.

    Every kind of a depth has come up after as many rounds; from then on no position is of a kind
    that is new, so the orders of first occurrence stay.

    >>> around_a_cycle(minimal("(ab)*")), around_a_cycle(minimal("a*b*"))
    (Pumped(prefix='', loop='ab', step='a', suffix=''), None)
    """
    states = cycle(automaton)
    if states is None:
        return None
    there = images(automaton, states[:1])[states[1:]]
    back = images(automaton, states[1:])[states[:1]]
    prefix = images(automaton, (0,))[states[:1]]
    return Pumped(prefix, there + back, there, _separating(automaton, states))


def counted(automaton: Automaton, elements: dict[Map, str]) -> tuple[Pumped, int] | None:
    """What no depth of rightmost heads tells apart, and the period: the loop is a word so many
    times; None iff the monoid is aperiodic.

    >>> even = minimal("(aa)*")
    >>> counted(even, monoid(even)), counted(minimal("(ab)*"), monoid(minimal("(ab)*")))
    ((Pumped(prefix='', loop='aa', step='a', suffix=''), 2), None)
    """
    for element, word in elements.items():
        if period(element) == 1:
            continue
        state, round_ = next(
            (state, round_)
            for state in range(automaton.states)
            if len(round_ := _round(element, state)) > 1
        )
        length = len(round_)
        p = next(p for p in count(2) if length % p == 0)
        step = word * (length // p)
        states = state, round_[length // p]
        prefix = images(automaton, (0,))[states[:1]]
        return Pumped(prefix, step * p, step, _separating(automaton, states)), p
    return None


def _round(element: Map, state: int) -> list[int]:
    """The states that a map takes a state through until it is back; empty where it does not come
    back."""
    found = [state]
    while (after := element[found[-1]]) not in found:
        found.append(after)
    return found if after == state else []


def _separating(automaton: Automaton, states: Map) -> str:
    """A shortest word that is accepted from one of two states alone."""
    return next(
        word
        for (one, other), word in images(automaton, (states[0], states[1])).items()
        if (one in automaton.accepting) != (other in automaton.accepting)
    )


def deceived(automaton: Automaton, pumped: Pumped, leftmost: bool, layers: int) -> bool:
    """Whether so many layers cannot tell the two words apart, of which one is in the language."""
    one, other = pumped.pair(layers)
    seen = leftmost_kinds if leftmost else kinds
    alike = seen(one, layers) == seen(other, layers)
    return alike and automaton.accepts(one) != automaton.accepts(other)


# --- how many layers ---


class Search(NamedTuple):
    """What a search over words found.

    pair: two words, one of them in the language, that look alike, the longer of which is as short
    as can be; None for none. length: words were searched up to this length; None if all were, of
    every length.
    """

    pair: tuple[str, str] | None
    length: int | None


def search(
    automaton: Automaton,
    layers: int,
    leftmost: bool,
    most: int = MOST_SEEN,
    told: _Orders | None = None,
) -> Search:
    """Two words of one letter or more that so many layers of hard attention do not tell apart.

    What an end token tells of a word after k layers is what k - 1 layers have at the positions, in
    the order of last occurrence (`kinds`), for leftmost heads of first occurrence
    (`leftmost_kinds`). A letter more changes these orders, layer by layer; so all orders that some
    word has are followed, with the state of the automaton, until nothing new comes or there are too
    many. If nothing new comes and no two words look alike, so many layers are enough: heads that
    compare two kinds at a time read the orders off.

    Cost: at most `most` times the number of letters, each with an order for each layer. `told`
    keeps these for other numbers of layers.

    >>> search(minimal("a*b*"), 1, leftmost=False)
    Search(pair=('ab', 'bab'), length=3)
    >>> search(minimal("a*b*"), 2, leftmost=False)
    Search(pair=None, length=None)
    """
    told = _Orders(leftmost) if told is None else told
    queue = [((0,) * layers, 0, "")]
    seen: set[tuple[object, int]] = set()
    first: dict[object, dict[bool, str]] = {}
    for orders, state, word in queue:
        for place, letter in enumerate(automaton.alphabet):
            after, reached = told.after(orders, letter), automaton.moves[place][state]
            if (after, reached) in seen:
                continue
            seen.add((after, reached))
            longer = word + letter
            looks = first.setdefault(after, {})
            looks.setdefault(reached in automaton.accepting, longer)
            if len(looks) == 2:
                one, other = looks.values()
                return Search((one, other), len(longer))
            if len(seen) >= most:
                return Search(None, len(word))
            queue.append((after, reached, longer))
    return Search(None, None)


class _Orders:
    """Orders of kinds, each known by a number, which is 0 of the empty one: those of a long word
    are looked up, and not made, for every letter that follows and every number of layers."""

    def __init__(self, leftmost: bool) -> None:
        self.leftmost = leftmost
        self.kinds: dict[object, int] = {}
        self.numbers: dict[tuple[int, ...], int] = {(): 0}
        self.listed: list[tuple[int, ...]] = [()]
        self.known: dict[tuple[int, int], int] = {}

    def after(self, orders: tuple[int, ...], letter: str) -> tuple[int, ...]:
        """The orders of all layers after a letter more."""
        kind: object = letter
        following = []
        for order in orders:
            at = self.kinds.setdefault(kind, len(self.kinds))
            if (order, at) not in self.known:
                self.known[order, at] = self._with(order, at)
            following.append(self.known[order, at])
            kind = (at, order)
        return tuple(following)

    def _with(self, order: int, at: int) -> int:
        after = self.listed[order]
        if self.leftmost:
            after = after if at in after else (*after, at)
        else:
            place = after.index(at) if at in after else len(after)
            after = (at, *after[:place], *after[place + 1 :])
        if after not in self.numbers:
            self.numbers[after] = len(self.listed)
            self.listed.append(after)
        return self.numbers[after]


class Least(NamedTuple):
    """How many layers a language takes, as far as it was found.

    needed: so many, at least. pair: two words that one layer fewer does not tell apart; None where
    none is needed. enough: so many are; None where that was not found. length: words were searched
    up to this length for a pair that `needed` layers do not tell apart; None for all words.
    """

    needed: int
    pair: tuple[str, str] | None
    enough: int | None
    length: int | None


def least_layers(automaton: Automaton, leftmost: bool, most: int = MOST_SEEN) -> Least:
    """The least number of layers of unique hard attention for a language that some depth does.

    Of letters that move all states alike one is enough: a net may read them as one.

    >>> least_layers(minimal("a*b*"), leftmost=True)
    Least(needed=2, pair=('ab', 'aba'), enough=2, length=None)
    """
    letters = dict(reversed([*zip(automaton.moves, automaton.alphabet, strict=True)]))
    moves = tuple(dict.fromkeys(automaton.moves))
    automaton = automaton._replace(alphabet="".join(map(letters.__getitem__, moves)), moves=moves)
    told, fewer, layers, found = _Orders(leftmost), 0, 0, search(automaton, 0, leftmost, most)
    # So many layers fewer do not tell these apart; what they tell apart, more of them do.
    pair = None
    while found.pair:
        fewer, pair = layers, found.pair
        layers = layers + 1 if layers < _ONE_BY_ONE else 2 * layers
        found = search(automaton, layers, leftmost, most, told)
    while pair and layers - fewer > 1:
        between = (fewer + layers) // 2
        tried = search(automaton, between, leftmost, most, told)
        if tried.pair:
            fewer, pair = between, tried.pair
        else:
            layers, found = between, tried
    return Least(layers, pair, layers if found.length is None else None, found.length)


def formula_layers(automaton: Automaton) -> int:
    """The depth of `past_formula`, which heads of either side compute: twice the longest path of an
    accepted word through different states, and one.

    >>> formula_layers(minimal("a*b*"))
    3
    """
    import networkx as nx

    graph = nx.DiGraph(
        (before, after) for move in automaton.moves for before, after in enumerate(move)
    )
    graph.remove_edges_from(list(nx.selfloop_edges(graph)))
    longest = {0: 0}
    for state in nx.topological_sort(graph):
        if state in longest:
            for after in graph[state]:
                longest[after] = max(longest.get(after, 0), longest[state] + 1)
    return max((2 * longest[state] + 1 for state in automaton.accepting), default=0)


# --- all of it ---


class Asked(NamedTuple):
    """What a language asks of depth.

    Attributes:
        elements: the number of elements of its syntactic monoid.
        around, counted: where none does, words that show it; with the period.
        leftmost, rightmost: where some does, how many layers.
        solvable: whether all groups in the monoid are.
    """

    elements: int
    around: Pumped | None
    counted: tuple[Pumped, int] | None
    leftmost: Least | None
    rightmost: Least | None
    solvable: bool

    @property
    def r_trivial(self) -> bool:
        """Whether some depth of leftmost heads does it."""
        return self.around is None

    @property
    def star_free(self) -> bool:
        """Whether some depth of rightmost heads does it."""
        return self.counted is None


def asked_of_depth(automaton: Automaton, most: int = MOST_SEEN) -> Asked:
    """Everything above about the language of a minimal automaton.

    Raises:
        UsageError: for a monoid that is too large.
    """
    elements = monoid(automaton)
    around, pumped = around_a_cycle(automaton), counted(automaton, elements)
    for found, leftmost in ((around, True), (pumped and pumped[0], False)):
        if found and not all(deceived(automaton, found, leftmost, layers) for layers in range(3)):
            raise AssertionError(f"the words {found} do not show what they must")
    return Asked(
        len(elements),
        around,
        pumped,
        None if around else least_layers(automaton, True, most),
        None if pumped else least_layers(automaton, False, most),
        solvable(elements),
    )

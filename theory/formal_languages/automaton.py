"""Finite automata, their transition monoids, and two tests of star-freeness.

Regular expressions become minimal automata by automata-lib; monoid, periods and counters are
computed here. A language is star-free iff the transition monoid of its minimal automaton is
aperiodic (Schuetzenberger), iff that automaton has no counter (McNaughton and Papert).
"""

from __future__ import annotations

from collections.abc import Iterator
from functools import cache
from itertools import permutations, product
from math import inf, lcm
from typing import Any, NamedTuple

Map = tuple[int, ...]


class Automaton(NamedTuple):
    """A complete deterministic automaton: `moves[letter][state]`, start state 0."""

    alphabet: str
    moves: tuple[Map, ...]
    accepting: frozenset[int]

    @property
    def states(self) -> int:
        """The number of states."""
        return len(self.moves[0])

    def accepts(self, word: str) -> bool:
        """Whether the automaton accepts a word over its alphabet."""
        state = 0
        for letter in word:
            state = self.moves[self.alphabet.index(letter)][state]
        return state in self.accepting


@cache
def minimal(expression: str, alphabet: str = "ab") -> Automaton:
    """The minimal automaton of a regular expression in automata-lib's syntax: |, *, + and ?.

    Raises:
        ValueError: for an expression that cannot be read.

    >>> minimal("(aa)*").accepts("aaaa"), minimal("(ab)*").states
    (True, 3)
    """
    from automata.base.exceptions import AutomatonException, RegexException
    from automata.fa.dfa import DFA
    from automata.fa.nfa import NFA

    try:
        nfa = NFA.from_regex(expression, input_symbols=set(alphabet))
    except (AutomatonException, RegexException) as error:
        raise ValueError(
            f"cannot read {expression!r} over {alphabet!r} ({error}); "
            "write for example (ab)* or a+b+"
        ) from None
    return _numbered(DFA.from_nfa(nfa, minify=True), alphabet)


def _numbered(dfa: Any, alphabet: str) -> Automaton:
    """States in the order of a breadth-first search, so that equal languages are equal automata."""
    complete = (dfa.to_complete() if dfa.allow_partial else dfa).minify()
    number = {complete.initial_state: 0}
    queue = list(number)
    for state in queue:
        for letter in alphabet:
            following = complete.transitions[state][letter]
            if following not in number:
                number[following] = len(number)
                queue.append(following)
    moves = tuple(
        tuple(number[complete.transitions[state][letter]] for state in queue) for letter in alphabet
    )
    return Automaton(
        alphabet, moves, frozenset(number[s] for s in complete.final_states if s in number)
    )


def images(automaton: Automaton, states: Map, most: float = inf) -> dict[Map, str]:
    """Where words take a tuple of states, each image with a shortest such word; the search ends
    once there are more than `most`.

    >>> images(minimal("(ab)*"), (0,))
    {(0,): '', (1,): 'a', (2,): 'b'}
    """
    word_of = {states: ""}
    queue = [states]
    for place in queue:
        for letter, move in zip(automaton.alphabet, automaton.moves, strict=True):
            following = tuple(move[state] for state in place)
            if following not in word_of:
                word_of[following] = word_of[place] + letter
                queue.append(following)
        if len(word_of) > most:
            break
    return word_of


def period(element: Map) -> int:
    """The smallest p >= 1 with m^(k + p) = m^k for some k, m a map: the lcm of its cycles' lengths.

    >>> period((1, 2, 0, 0))
    3
    """
    seen: dict[Map, int] = {}
    power = element
    while power not in seen:
        seen[power] = len(seen)
        power = tuple(element[state] for state in power)
    return len(seen) - seen[power]


def monoid_period(automaton: Automaton) -> int:
    """The smallest common period of the maps of states by words; 1 iff the language is star-free.

    >>> monoid_period(minimal("(ab)*")), monoid_period(minimal("(aaa)*"))
    (1, 3)
    """
    return lcm(*(period(element) for element in images(automaton, tuple(range(automaton.states)))))


def counter(automaton: Automaton) -> tuple[str, Map] | None:
    """A word that maps p states in a circle, p a prime: the certificate against star-freeness.

    Another route than the monoid: for every prime up to the number of states a search over tuples.

    >>> counter(minimal("(aa)*")), counter(minimal("(ab)*"))
    (('a', (0, 1)), None)
    """
    n = automaton.states
    for p in (p for p in range(2, n + 1) if all(p % q for q in range(2, p))):
        for cycle in (cycle for cycle in permutations(range(n), p) if cycle[0] == min(cycle)):
            word = images(automaton, cycle).get((*cycle[1:], cycle[0]))
            if word is not None:
                return word, cycle
    return None


def cycle(automaton: Automaton) -> tuple[int, int] | None:
    """Two states that reach each other, or None for a partially ordered automaton.

    >>> cycle(minimal("a*b*")), cycle(minimal("(ab)*"))
    (None, (0, 1))
    """
    import networkx as nx

    graph = nx.DiGraph(pair for move in automaton.moves for pair in enumerate(move))
    for component in nx.strongly_connected_components(graph):
        if len(component) > 1:
            first, second, *_ = sorted(component)
            return first, second
    return None


def words(longest: int) -> Iterator[str]:
    """Every word over a, b up to a length, shortest first.

    >>> list(words(1))
    ['', 'a', 'b']
    """
    for length in range(longest + 1):
        yield from map("".join, product("ab", repeat=length))


def block_language(k: int) -> str:
    """The regular expression a+ b+ a+ ... with k blocks.

    >>> block_language(3)
    'a+b+a+'
    """
    if k < 1:
        raise ValueError(f"a word of this family has at least one block, got {k}")
    return "".join(("a+", "b+")[i % 2] for i in range(k))

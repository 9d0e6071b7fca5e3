"""Finite automata, their transition monoids, and two tests of star-freeness.

Regular expressions become minimal automata by automata-lib; what depends on the theory (monoid, periods, counters) is computed here.
A language is star-free iff the transition monoid of its minimal automaton is aperiodic (Schuetzenberger), iff that automaton has no
counter (McNaughton and Papert).
"""
from __future__ import annotations

from collections.abc import Iterator
from functools import cache
from itertools import permutations, product
from math import lcm
from typing import Any, NamedTuple

Map = tuple[int, ...]

# A star-free expression: a letter, or ("cat" | "or" | "and", x, y), or ("not", x), or "0" for the empty language.
Expression = str | tuple[Any, ...]


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


class Counter(NamedTuple):
    """A word that permutes states in a cycle of length at least 2: the certificate that a language is not star-free."""

    word: str
    cycle: tuple[int, ...]


@cache
def minimal(expression: str, alphabet: str = "ab") -> Automaton:
    """The minimal automaton of a regular expression in automata-lib's syntax (union |, star *, plus +, option ?).

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
        raise ValueError(f"cannot read {expression!r} over {alphabet!r} ({error}); write for example (ab)* or a+b+") from None
    return _numbered(DFA.from_nfa(nfa, minify=True), alphabet)


def _numbered(dfa: Any, alphabet: str) -> Automaton:
    """Rename the states in the order of a breadth-first search, so that equal languages give equal automata."""
    complete = dfa.to_complete() if dfa.allow_partial else dfa
    complete = complete.minify()
    number, queue = {complete.initial_state: 0}, [complete.initial_state]
    for state in queue:
        for letter in alphabet:
            following = complete.transitions[state][letter]
            if following not in number:
                number[following] = len(number)
                queue.append(following)
    moves = tuple(tuple(number[complete.transitions[state][letter]] for state in queue) for letter in alphabet)
    return Automaton(alphabet, moves, frozenset(number[s] for s in complete.final_states if s in number))


def star_free_language(expression: Expression, alphabet: str = "ab") -> Automaton:
    """The minimal automaton of an expression with complement, union, intersection and product but without star.

    >>> star_free_language(("not", "0")) == minimal("(a|b)*")
    True
    """
    return _numbered(_built(expression, alphabet), alphabet)


def _built(node: Expression, alphabet: str) -> Any:
    from automata.fa.dfa import DFA
    from automata.fa.nfa import NFA

    letters = set(alphabet)
    if node == "0":
        return DFA.empty_language(letters)
    if isinstance(node, str):
        return DFA.from_finite_language(letters, {node})
    first = _built(node[1], alphabet)
    if node[0] == "not":
        return first.complement()
    second = _built(node[2], alphabet)
    if node[0] == "cat":
        return DFA.from_nfa(NFA.from_dfa(first).concatenate(NFA.from_dfa(second)), minify=True)
    return first.union(second) if node[0] == "or" else first.intersection(second)


def transition_monoid(automaton: Automaton) -> dict[Map, str]:
    """Every map of states that some word induces, with a shortest such word.

    Cost: O(size of the monoid times letters times states); the size is at most n^n.

    >>> len(transition_monoid(minimal("(ab)*")))
    6
    """
    found: dict[Map, str] = {tuple(range(automaton.states)): ""}
    queue = list(found)
    for element in queue:
        for letter, move in zip(automaton.alphabet, automaton.moves, strict=True):
            following = tuple(move[state] for state in element)
            if following not in found:
                found[following] = found[element] + letter
                queue.append(following)
    return found


def period(element: Map) -> int:
    """The smallest p >= 1 with m^(k + p) = m^k for some k: the least common multiple of the lengths of the cycles of the map m.

    >>> period((1, 2, 0, 0))
    3
    """
    seen: dict[Map, int] = {}
    power, exponent = element, 1
    while power not in seen:
        seen[power] = exponent
        power, exponent = tuple(element[state] for state in power), exponent + 1
    return exponent - seen[power]


def monoid_period(automaton: Automaton) -> int:
    """The smallest p that is a period of every element of the transition monoid; 1 iff the language of a minimal automaton is star-free.

    >>> monoid_period(minimal("(ab)*")), monoid_period(minimal("(aaa)*"))
    (1, 3)
    """
    return lcm(*(period(element) for element in transition_monoid(automaton)))


def counter(automaton: Automaton) -> Counter | None:
    """A counter of the automaton, or None: states q_0, ..., q_(p-1), p a prime, that one word maps in a circle.

    Another route than the monoid: for every prime p up to the number of states a search over p-tuples of states.

    >>> counter(minimal("(aa)*")), counter(minimal("(ab)*"))
    (Counter(word='a', cycle=(0, 1)), None)
    """
    n = automaton.states
    for p in (p for p in range(2, n + 1) if all(p % q for q in range(2, p))):
        for cycle in permutations(range(n), p):
            if cycle[0] == min(cycle) and (word := _turns(automaton, cycle)) is not None:
                return Counter(word, cycle)
    return None


def _turns(automaton: Automaton, cycle: tuple[int, ...]) -> str | None:
    """A word that maps every state of the cycle to the next one."""
    target = (*cycle[1:], cycle[0])
    found = {cycle: ""}
    queue = [cycle]
    for place in queue:
        if place == target:
            return found[place]
        for letter, move in zip(automaton.alphabet, automaton.moves, strict=True):
            following = tuple(move[state] for state in place)
            if following not in found:
                found[following] = found[place] + letter
                queue.append(following)
    return None


def words(longest: int, alphabet: str = "ab") -> Iterator[str]:
    """Every word up to a length, shortest first.

    >>> list(words(1))
    ['', 'a', 'b']
    """
    for length in range(longest + 1):
        yield from map("".join, product(alphabet, repeat=length))

"""Tasks on words whose answers are known exactly: what `depthlaw tasks check` runs a net on."""

from __future__ import annotations

import inspect
import itertools
import runpy
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cache, reduce
from math import log10
from string import ascii_lowercase
from typing import Any

from depthlaw.advisor.atlas import Atlas, AtlasTask, atlas as shipped
from depthlaw.advisor.atlas.formulas import NoNumber, value as depth_at
from depthlaw.advisor.base.quantities import UsageError, quoted

from ..formal_languages.regular_depth import read_language
from ..hops.pointers import last_hop
from ..least_depth.graphs import all_graphs, distances
from ..least_depth.groups import (
    GROUPS,
    Element,
    closure,
    element_name,
    exponent,
    series_length,
    times,
)

Word = tuple[str, ...]
# Parameter.
LARGEST = 1_000
# Of tasks whose words have one length.
MOST_WORDS = 10_000_000


@dataclass(frozen=True)
class Machine:
    """A task read letter by letter, in finitely many states.

    Attributes:
        start: the state before a word.
        step: the state after one letter more.
        said: what a word has that ends in a state; by default the state itself.
    """

    start: Any
    step: Callable[[Any, str], Any]
    said: Callable[[Any], bool | str] = lambda state: state


@dataclass(frozen=True)
class WordTask:
    """A task with its parameters filled in.

    Attributes:
        letters: the alphabet.
        answer: what a word has: True or False, or a label.
        least: length of the shortest word that is asked.
        length: of every word that the task has, where all have one.
        machine: the same answers from finitely many states, where there are such.
        asked: the words of a length that are asked; by default all.
        listed: all words that are asked, of whatever length; and what they are.
    """

    letters: tuple[str, ...]
    answer: Callable[[Word], bool | str]
    least: int = 0
    length: int | None = None
    machine: Machine | None = None
    asked: Callable[[int], Iterable[Word]] | None = None
    listed: tuple[Callable[[], Iterable[Word]], str] | None = None

    def words(self, length: int) -> Iterator[Word]:
        """Every word up to a length that is asked; all if they have one length, or are listed."""
        if self.listed is not None:
            yield from self.listed[0]()
            return
        sizes = range(self.least, length + 1) if self.length is None else [self.length]
        for size in sizes:
            if self.asked is None:
                yield from itertools.product(self.letters, repeat=size)
            else:
                yield from self.asked(size)


def _read_by(machine: Machine, letters: Sequence[str], least: int = 0) -> WordTask:
    return WordTask(
        tuple(letters),
        lambda word: machine.said(reduce(machine.step, word, machine.start)),
        least,
        machine=machine,
    )


def word_task(name: str, parameters: Mapping[str, Any]) -> WordTask:
    """A task by its name in the atlas.

    Raises:
        UsageError: for a task that has no words here, or parameters that it does not take.

    >>> task = word_task("parity", {})
    >>> [task.answer(word) for word in task.words(1)]
    [False, False, True]
    """
    if name not in _MADE:
        raise UsageError(
            f"the task {quoted(name)} cannot be checked from a file; accepted are "
            f"{', '.join(sorted(_MADE))}, for nets of the family relu maximum and maximum-large, "
            "and with --atlas DIR tasks of your own tables"
        )
    made, needed = _MADE[name]
    _refuse_parameters(name, needed, parameters)
    for letter, value in parameters.items():
        if letter == "group" and name in _ADMITTED:
            _admitted(name, value)
        elif letter == "group":
            _generators(value)
        elif not isinstance(value, int) or isinstance(value, bool) or not 1 <= value <= LARGEST:
            raise UsageError(
                f"the parameter {letter} of the task {name} is {quoted(str(value))}; accepted are "
                f"whole numbers from 1 to {LARGEST:,}"
            )
    task = made(**parameters)
    if task.length is not None and task.length * log10(len(task.letters)) > log10(MOST_WORDS):
        raise UsageError(
            f"the task {name} has more than {MOST_WORDS:,} words at these parameters, and all are "
            "run; try smaller ones"
        )
    return task


def _refuse_parameters(name: str, needed: Sequence[str], given: Mapping[str, Any]) -> None:
    if set(given) != set(needed):
        takes = f"the parameters {', '.join(needed)}" if needed else "no parameters"
        raise UsageError(f"the task {name} takes {takes}; got {', '.join(given) or 'none'}")


def language_task(language: str, alphabet: str) -> WordTask:
    """Membership in a regular language, over these letters or those of the expression.

    Raises:
        UsageError: for what is no regular expression.

    >>> task = language_task("(ab)*", "ab")
    >>> [task.answer(tuple(word)) for word in ("", "ab", "aba")]
    [True, True, False]
    """
    automaton = read_language(language, alphabet or None)
    moves = dict(zip(automaton.alphabet, automaton.moves, strict=True))
    machine = Machine(
        0, lambda state, letter: moves[letter][state], lambda state: state in automaton.accepting
    )
    return _read_by(machine, automaton.alphabet)


def task_of(known: Atlas, name: str, parameters: Mapping[str, Any]) -> WordTask:
    """`word_task`; of a task in tables of a user's own its `language`, or the function of its name
    (with _ for -) in the file words.py beside them, from a word to its answer.

    Raises:
        UsageError: as `word_task`, and for a file that cannot be used.
    """
    own = known.tasks.get(name)
    if own is None or known.folder is None or name in shipped().tasks:
        return word_task(name, parameters)
    if own.language:
        if parameters:
            raise UsageError(f"the task {name} is one language, and takes no parameters")
        return language_task(own.language, own.alphabet)
    file, function = known.folder / "words.py", name.replace("-", "_")
    if not own.alphabet or not file.is_file():
        raise UsageError(
            f"the task {name} has no words; fill in language or alphabet in tasks.csv, with an "
            f"alphabet alone define {function}(word) in {file}"
        )
    try:
        answer = runpy.run_path(str(file))[function]
        needed = [*inspect.signature(answer).parameters][1:]
    except Exception as error:  # whatever the file raises
        raise UsageError(f"cannot use {function} of {file} ({error!r})") from None
    _refuse_parameters(name, needed, parameters)
    letters = own.alphabet.split() if " " in own.alphabet else own.alphabet

    def answered(word: Word) -> bool | str:
        try:
            given = answer(word, **parameters)
        except Exception as error:  # whatever the file raises
            raise UsageError(f"{function} of {file}: {error!r} on {quoted(str(word))}") from None
        if not isinstance(given, bool | str):
            raise UsageError(
                f"{function} of {file} answers {given!r}; return True or False, or a string"
            )
        return given

    return WordTask(tuple(letters), answered, least=1)


def _parity() -> WordTask:
    return _read_by(Machine(False, lambda odd, letter: odd != (letter == "1")), "01")


def parity_bits(n: int) -> WordTask:
    """Whether n bits have an odd number of ones."""
    return WordTask(("0", "1"), lambda word: word.count("1") % 2 == 1, length=n)


def _blocks(k: int) -> WordTask:
    """L_k: exactly k blocks of equal letters, a first."""

    def step(state: tuple[int, str], letter: str) -> tuple[int, str]:
        blocks, last = state
        # As if a block of letters b stood before the word: it has more than k blocks for good.
        return (min(blocks + (letter != last), k + 1) if last or letter == "a" else k + 1), letter

    return _read_by(Machine((0, ""), step, lambda state: state[0] == k), "ab")


def _letters(k: int) -> WordTask:
    return _read_by(
        Machine(0, lambda seen, letter: min(seen + (letter == "a"), k), lambda seen: seen == k),
        "ab",
    )


def _stair(k: int) -> WordTask:
    """k letters a in a row, once every c is deleted."""

    def step(row: int, letter: str) -> int:
        if row == k or letter == "c":
            return row
        return row + 1 if letter == "a" else 0

    return _read_by(Machine(0, step, lambda row: row == k), "abc")


def _dyck(k: int, D: int) -> WordTask:
    _demand(k <= 4, "dyck", "words of up to 4 types of brackets here", k=k)
    pairs = list(zip("([{<"[:k], ")]}>"[:k], strict=True))

    def step(stack: Word | None, letter: str) -> Word | None:
        if stack is None or letter in "([{<":
            return None if stack is None or len(stack) == D else (*stack, letter)
        return stack[:-1] if stack and (stack[-1], letter) in pairs else None

    machine = Machine((), step, lambda stack: stack == ())
    return _read_by(machine, [letter for pair in pairs for letter in pair])


def ordered(n: int) -> WordTask:
    """Whether n bits are sorted."""
    _demand(n >= 3, "ordered", "words of 3 letters or more", n=n)
    return WordTask(("0", "1"), lambda word: list(word) == sorted(word), length=n)


def _kgram(k: int, symbols: int) -> WordTask:
    """The symbol that followed the last k symbols most often, where one did more than others."""
    letters = _symbols("kgram", symbols, 3)

    def ranked(word: Word) -> list[tuple[str, int]]:
        ends = word[len(word) - k :]
        after = (word[i] for i in range(k, len(word)) if word[i - k : i] == ends)
        return Counter(after).most_common(2)

    def asked(size: int) -> Iterator[Word]:
        for word in itertools.product(letters, repeat=size):
            best = ranked(word)
            if best and (len(best) == 1 or best[0][1] > best[1][1]):
                yield word

    return WordTask(letters, lambda word: ranked(word)[0][0], least=k + 1, asked=asked)


def hops(k: int, symbols: int) -> WordTask:
    """hop_k at the last symbol."""
    letters = _symbols("hops", symbols, 2)
    return WordTask(letters, lambda word: last_hop(word, k, missing="none"), least=1)


def composition(k: int, N: int) -> WordTask:
    """The values of k maps on 0 to N - 1, of the map that is applied last at first, and the start.

    In this order what a value leads to stands before it, as a causal mask asks.
    """
    _demand(2 <= N <= 10, "composition", "maps on 2 to 10 numbers here", N=N)

    def answer(word: Word) -> str:
        return reduce(lambda at, a: word[a * N + int(at)], reversed(range(k)), word[-1])

    return WordTask(tuple(map(str, range(N))), answer, length=k * N + 1)


def _kth_one(k: int, n: int) -> WordTask:
    """The place of the k-th one, from 1; 0 where there is none."""
    _demand(k <= n, "kth-one", "k up to n", k=k, n=n)

    def answer(word: Word) -> str:
        ones = [place for place, bit in enumerate(word, 1) if bit == "1"]
        return str(ones[k - 1]) if len(ones) >= k else "0"

    return WordTask(("0", "1"), answer, length=n)


# `l` as the atlas calls it.
def _iteration(l: int, n: int) -> WordTask:  # noqa: E741
    """The map i -> word[i], applied l times to 0."""
    _demand(2 <= n <= 10, "iteration", "maps on 2 to 10 numbers here", n=n)
    return WordTask(
        tuple(map(str, range(n))),
        lambda word: reduce(lambda at, _: word[int(at)], range(l), "0"),
        length=n,
    )


def _connectivity(n: int, D: int) -> WordTask:
    """Whether the first two vertices are connected, in all labelled graphs of n vertices whose
    components have diameter at most D. A letter is a row of A + I."""
    _demand(2 <= n <= 6, "connectivity", "graphs of 2 to 6 vertices here", n=n)
    _demand(n > D, "connectivity", _FAR, n=n, D=D)
    pairs = list(itertools.combinations(range(n), 2))

    def apart(word: Word) -> list[list[int]]:
        return distances(
            n, [(u, v) for u, row in enumerate(word) for v in range(n) if row[v] > "0"]
        )

    def listed() -> Iterator[Word]:
        for chosen in itertools.product((False, True), repeat=len(pairs)):
            edges = {frozenset(pair) for pair, given in zip(pairs, chosen, strict=True) if given}
            rows = ("".join("01"[u == v or {u, v} in edges] for v in range(n)) for u in range(n))
            word = tuple(rows)
            if max(map(max, apart(word))) <= D:
                yield word

    return WordTask(
        tuple(map("".join, itertools.product("01", repeat=n))),
        lambda word: apart(word)[0][1] >= 0,
        listed=(listed, f"graphs of {n} vertices"),
    )


def reachability(n: int, D: int) -> WordTask:
    """Whether a path leads from the last letter's vertex to the first one, where none leads or one
    of at most D edges, in all labelled graphs of n vertices. An edge is three letters."""
    _demand(2 <= n <= 4, "reachability", "graphs of 2 to 4 vertices here", n=n)
    _demand(n > D, "reachability", _FAR, n=n, D=D)
    names = [str(vertex) for vertex in range(1, n + 1)]

    def apart(word: Word) -> int:
        edges = [(int(word[i]) - 1, int(word[i + 1]) - 1) for i in range(0, len(word) - 1, 3)]
        return distances(n, edges)[int(word[-1][1:]) - 1][0]

    def listed() -> Iterator[Word]:
        for edges in all_graphs(n):
            letters = [x for u, v in edges for x in (names[u], names[v], "|")]
            words = ((*letters, f">{name}") for name in names)
            yield from (word for word in words if apart(word) <= D)

    return WordTask(
        (*names, "|", *(f">{name}" for name in names)),
        lambda word: apart(word) >= 0,
        listed=(listed, f"graphs of {n} vertices, each with every start"),
    )


def majority() -> WordTask:
    """Whether more than half of the bits are ones."""
    return WordTask(("0", "1"), lambda word: 2 * word.count("1") > len(word), least=1)


def counted(n: int) -> WordTask:
    """How many of n bits are ones."""
    return WordTask(("0", "1"), lambda word: str(word.count("1")), length=n)


def sorting(n: int, m: int) -> WordTask:
    """n numbers, each from 1 to m, and a place k up to n; the answer is the k-th smallest number.

    All k together are the sorted numbers.
    """
    _demand(n <= m, "sorting", "n up to m, since the last letter names a place", n=n, m=m)
    numbers = tuple(str(number) for number in range(1, m + 1))

    def asked(size: int) -> Iterator[Word]:
        for word in itertools.product(numbers, repeat=size - 1):
            yield from ((*word, place) for place in numbers[:n])

    def answer(word: Word) -> str:
        return sorted(word[:-1], key=int)[int(word[-1]) - 1]

    return WordTask(numbers, answer, length=n + 1, asked=asked)


def recall(n: int, keys: int, values: int) -> WordTask:
    """n pairs of a key and a value, each pair a letter, of different keys, and one of these keys;
    the answer is its value."""
    _demand(n <= keys <= 26, "recall", "n different keys of up to 26", n=n, keys=keys)
    names = ascii_lowercase[:keys]
    pairs = [f"{key}{value}" for key in names for value in range(1, values + 1)]

    def asked(size: int) -> Iterator[Word]:
        for word in itertools.permutations(pairs, size - 1):
            held = {pair[0] for pair in word}
            if len(held) == len(word):
                yield from ((*word, f"{key}?") for key in sorted(held))

    def answer(word: Word) -> str:
        return next(pair[1:] for pair in word if pair[0] == word[-1][0])

    return WordTask((*pairs, *(f"{key}?" for key in names)), answer, length=n + 1, asked=asked)


def copying(n: int, symbols: int) -> WordTask:
    """A word of n letters, a bar, and fewer than n letters of the word again: the next letter."""
    return _copied(range(n, n + 1), symbols, f"words of {n} letters")


def copying_any(n: int, symbols: int) -> WordTask:
    """The same of words of 1 to n letters."""
    return _copied(range(1, n + 1), symbols, f"words of 1 to {n} letters")


def _copied(sizes: Iterable[int], symbols: int, words: str) -> WordTask:
    letters = _symbols("copying", symbols, 2)

    def listed() -> Iterator[Word]:
        for word in (word for size in sizes for word in itertools.product(letters, repeat=size)):
            yield from ((*word, "|", *word[:copied]) for copied in range(len(word)))

    return WordTask(
        (*letters, "|"),
        lambda word: word[len(word) - word.index("|") - 1],
        listed=(listed, f"{words}, each with all that is copied of it"),
    )


def equality(n: int, symbols: int) -> WordTask:
    """Whether two words of n letters, one after the other, are equal."""
    letters = _symbols("equality", symbols, 2)
    return WordTask(letters, lambda word: word[:n] == word[n:], length=2 * n)


def one_kind_of_bracket() -> WordTask:
    """Whether brackets of one kind are matched, to any depth."""

    def answer(word: Word) -> bool:
        heights = list(itertools.accumulate(1 if letter == "(" else -1 for letter in word))
        return min(heights, default=0) >= 0 and not sum(heights[-1:])

    return WordTask(("(", ")"), answer)


def match_three(M: int) -> WordTask:
    """Whether three numbers modulo M, at different places, have the sum 0."""
    _demand(4 <= M <= 10, "match-three", "a modulus from 4 to 10 here", M=M)

    def step(held: tuple[int, ...] | None, letter: str) -> tuple[int, ...] | None:
        """At most two of a kind, or None once there are such three."""
        two = itertools.combinations(held or (), 2)
        if held is None or any((int(letter) + a + b) % M == 0 for a, b in two):
            return None
        return held if held.count(int(letter)) == 2 else tuple(sorted((*held, int(letter))))

    return _read_by(Machine((), step, lambda held: held is None), list(map(str, range(M))))


def addition() -> WordTask:
    """A bit of each of two numbers is a letter, from the lowest on; the bit of their sum at the
    last place."""

    def step(state: tuple[int, int], letter: str) -> tuple[int, int]:
        total = state[0] + letter.count("1")
        return total // 2, total % 2

    letters = ("00", "01", "10", "11")
    return _read_by(Machine((0, 0), step, lambda state: state[1] == 1), letters, least=1)


def multiplication() -> WordTask:
    """The same of their product."""

    def answer(word: Word) -> bool:
        one, two = (sum(int(x[side]) << i for i, x in enumerate(word)) for side in (0, 1))
        return one * two >> (len(word) - 1) & 1 == 1

    return WordTask(("00", "01", "10", "11"), answer, least=1)


def circuit(n: int, D: int) -> WordTask:
    """Circuits of n letters, each the constant 0 or 1 or the places, from 1, of two earlier ones,
    of which it is true that not both hold; the value of the last one, whose depth is at most D."""
    _demand(2 <= n <= 6, "circuit", "2 to 6 letters here", n=n)
    gates = [f"{i}{j}" for j in range(1, n) for i in range(1, j + 1)]

    def last(word: Word) -> tuple[bool, int]:
        held: list[tuple[bool, int]] = []
        for letter in word:
            if len(letter) == 1:
                held.append((letter == "1", 0))
            else:
                one, two = (held[int(place) - 1] for place in letter)
                held.append((not (one[0] and two[0]), max(one[1], two[1]) + 1))
        return held[-1]

    def listed() -> Iterator[Word]:
        known = [("0", "1", *(g for g in gates if int(g[1]) <= place)) for place in range(n)]
        yield from (word for word in itertools.product(*known) if last(word)[1] <= D)

    return WordTask(
        ("0", "1", *gates), lambda word: last(word)[0], listed=(listed, f"circuits of {n} letters")
    )


# No two of n vertices are n edges apart: a bound for a larger D says nothing of them.
_FAR = "D up to n - 1, the largest distance of n vertices"


def _demand(met: bool, task: str, has: str, **got: int) -> None:
    if not met:
        listed = " and ".join(f"{letter} = {number}" for letter, number in got.items())
        raise UsageError(f"the task {task} has {has}; got {listed}")


def _symbols(name: str, symbols: int, least: int) -> Word:
    many = least <= symbols <= 26
    _demand(many, name, f"words over {least} to 26 symbols here", symbols=symbols)
    return tuple(ascii_lowercase[:symbols])


def group_words(group: str) -> WordTask:
    """Words over all elements, each written by the images of 0, 1, ...; the answer is the product
    from left to right."""
    elements = closure(_generators(group))
    names = {element_name(element): element for element in sorted(elements)}
    written = {element: name for name, element in names.items()}

    @cache
    def product(left: str, right: str) -> str:
        return written[times(names[left], names[right])]

    one = written[tuple(range(len(next(iter(elements)))))]
    return _read_by(Machine(one, product), tuple(names), least=1)


def group_product(group: str, N: int) -> WordTask:
    """The product of N elements of a group."""
    words = group_words(group)
    return WordTask(words.letters, words.answer, length=N)


def _generators(group: str) -> tuple[Element, ...]:
    if not isinstance(group, str) or group not in GROUPS:
        raise UsageError(f"the group {quoted(str(group))}: accepted are {', '.join(GROUPS)}")
    return GROUPS[group]


# The groups that a task is about. A group may be one of several tasks.
_ADMITTED: dict[str, tuple[str, ...]] = {
    "elementary-words": ("C2",),
    "dihedral-words": ("S3", "D4", "D8"),
    "s4-words": ("A4", "S4"),
    "a5-words": ("A5",),
    "s5-words": ("S5",),
    "two-group-words": ("C2", "C4", "C8", "C2xC4", "D4", "D8", "Q8"),
    "group-words": tuple(group for group in GROUPS if group not in ("A5", "S5")),
}


def _admitted(name: str, group: Any) -> None:
    if not isinstance(group, str) or group not in _ADMITTED[name]:
        instead = tasks_of_group(group) if isinstance(group, str) else ()
        raise UsageError(
            f"the task {name} is not about the group {quoted(str(group))}; accepted are "
            + ", ".join(_ADMITTED[name])
            + (f"; try the task {' or '.join(instead)}" if instead else "")
        )


def tasks_of_group(group: str) -> tuple[str, ...]:
    """The tasks whose words may be over a group: a bound of any of them is one for it.

    >>> tasks_of_group("S3"), tasks_of_group("A5")
    (('dihedral-words', 'group-words'), ('a5-words',))
    """
    return tuple(task for task, groups in _ADMITTED.items() if group in groups)


def tasks_of(name: str, parameters: Mapping[str, Any]) -> tuple[str, ...]:
    """The tasks of the atlas that a task at some parameters is a case of, itself among them.

    >>> tasks_of("parity", {}), tasks_of("blocks", {"k": 2})
    (('parity', 'not-r-trivial', 'not-star-free'), ('blocks', 'r-trivial', 'star-free'))
    """
    if name in _ADMITTED and "group" in parameters:
        return tasks_of_group(parameters["group"])
    # Dyck-(k, D) holds Dyck-(1, D), of which the atlas says it.
    kinds = {
        "parity": ("not-r-trivial", "not-star-free"),
        "dyck": ("not-r-trivial", "star-free"),
        "blocks": ("r-trivial", "star-free"),
        "letters": ("r-trivial", "star-free"),
        # STAIR_1 is at least one letter a.
        "stair": ("r-trivial" if parameters.get("k") == 1 else "not-r-trivial", "star-free"),
    }
    return (name, *kinds.get(name, ()))


def parameters_of(name: str) -> tuple[str, ...]:
    """What a task of the atlas takes in files; () for one that has no words here.

    >>> parameters_of("dyck"), parameters_of("maximum")
    (('k', 'D'), ())
    """
    return _MADE[name][1] if name in _MADE else ()


def outside(task: AtlasTask, numbers: Mapping[str, int]) -> str:
    """What of the definition of a task numbers do not meet, as a condition; "" for nothing.

    >>> [outside(shipped().tasks["maximum"], {"n": n}) for n in (0, 2, 3, 9)]
    ['n >= 3', 'n >= 3', '', 'n <= 8']
    """
    asked = filter(None, task.asks.split("; "))
    own = task.key not in shipped().tasks
    for condition in (*asked, *(f"{letter} >= 1" for letter in numbers if not own)):
        met = depth_at(f"1 if {condition}", numbers)
        if isinstance(met, NoNumber) and met.why == "condition":
            return condition
    return ""


def lengths_of(group: str) -> dict[str, int]:
    """What the letters in the formulas of the atlas stand for: e, the exponent; d, the derived
    length, and s, that of the series G_(i+1) = G_i' G_i^2, each left out where the series does not
    reach 1. `order` is the largest order of an element.

    >>> lengths_of("D4"), lengths_of("A5")
    ({'e': 4, 'order': 4, 'd': 2, 's': 2}, {'e': 30, 'order': 5})
    """
    elements = closure(_generators(group))
    orders = [exponent([element]) for element in elements]
    found = {"e": exponent(elements), "order": max(orders)}
    lengths = {"d": derived_length_of(group), "s": series_length(group, 2)}
    return found | {letter: length for letter, length in lengths.items() if length is not None}


def derived_length_of(group: str) -> int | None:
    """The derived length of a group by its name; None for one that is not solvable.

    >>> derived_length_of("S3"), derived_length_of("A5")
    (2, None)
    """
    return series_length(group, exponent(closure(_generators(group))))


_MADE: dict[str, tuple[Callable[..., WordTask], tuple[str, ...]]] = {
    "parity": (_parity, ()),
    "parity-bits": (parity_bits, ("n",)),
    "blocks": (_blocks, ("k",)),
    "letters": (_letters, ("k",)),
    "stair": (_stair, ("k",)),
    "dyck": (_dyck, ("k", "D")),
    "ordered": (ordered, ("n",)),
    "kgram": (_kgram, ("k", "symbols")),
    "hops": (hops, ("k", "symbols")),
    "composition": (composition, ("k", "N")),
    "connectivity": (_connectivity, ("n", "D")),
    "reachability": (reachability, ("n", "D")),
    "kth-one": (_kth_one, ("k", "n")),
    "iteration": (_iteration, ("l", "n")),
    "group-product": (group_product, ("group", "N")),
    "majority": (majority, ()),
    "count": (counted, ("n",)),
    "sorting": (sorting, ("n", "m")),
    "recall": (recall, ("n", "keys", "values")),
    "copying": (copying, ("n", "symbols")),
    "copying-any": (copying_any, ("n", "symbols")),
    "equality": (equality, ("n", "symbols")),
    "dyck-one": (one_kind_of_bracket, ()),
    "match-three": (match_three, ("M",)),
    "addition": (addition, ()),
    "multiplication": (multiplication, ()),
    "circuit": (circuit, ("n", "D")),
    **dict.fromkeys(_ADMITTED, (group_words, ("group",))),
}

"""Certificates that a depth does not suffice: two words with different answers that no net of a
class with so many layers tells apart, whatever its weights, heads and width.

A file is one JSON object with `"family": "bound"`, `task` and `parameters` of the atlas (or a
regular `language` and its `alphabet`), `class`, `layers`, and `words`, two of them: each a list of
letters or a string. What decides depends on the class:

`uhat-right`, `uhat-left`: what an end token can hold of a word after so many layers is its kind
(`kinds`, `leftmost_kinds`): which position a head attends to follows from kinds, whatever the
scores. A letter in front of all words changes no kind, so nets that put one there are meant too.

`uhat-two-way`: the same, with kinds that see both ways (`kinds_both_ways`), and with no letter in
front; for tasks, not for languages.

`sign-ssm`, over groups: the states of so many layers are functions of how often, modulo 2, each
letter was read in each state of the layers below (`universal`). The words end in the same letter,
which a read-out sees too.

`diagonal-ssm`, over groups: no two words are alike to all nets of two layers, since a net may count
as far as it likes. But each net has finitely many states. So here "x^-1" may stand for a letter: x
so often that together with one x it changes nothing, in the net and in the group; and each letter
is read between words of product 1 that bring the net to its fewest states, which letters then
permute. Layers act on these through the free group: words that are equal in it modulo the k-th
group of its derived series lead k layers to the same states (Magnus; theory/formal/Diagonal.v). It
is decided by counting, with signs, how often each letter is read in each state of the layers below.

`deltanet`, over groups, one layer: powers of one letter whose exponents differ by an even number,
after that letter has been read so often that its period, 1 or 2 (least_depth/deltanet_period),
shows.

`cot-one-head`, functions of words of one length: there may be more than two words, and the rank of
the function on these words alone is above `layers`, which counts steps of thought
(least_depth/steps_are_rank: the least number of steps is the rank; a chain that is right on all
words is right on these).
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property, partial
from typing import Any, cast

from depthlaw.advisor.atlas import RULES, Atlas, atlas
from depthlaw.advisor.base.quantities import UsageError, quoted

from ..formal_languages.automaton import Automaton
from ..formal_languages.regular_depth import read_language
from ..formal_languages.temporal_logic import kinds, kinds_both_ways, leftmost_kinds
from ..least_depth.chain_of_thought import (
    WordFunction,
    iterated,
    kth_one,
    ranks,
    task as function_on_words,
)
from ..least_depth.group_words import universal
from .tasks import Word, WordTask, task_of

# Layers times pairs of positions, or of counts and positions: what takes ten seconds.
MOST_STEPS = 10_000_000
MOST_LETTERS = 20_000
# Words of one length in all, and sets of words whose rank may be asked.
MOST_WORDS = 5_000
MOST_SETS = 100_000
BACK = "^-1"

# What the column `bound` of a class says.
_ONE_WAY = {"rightmost": kinds, "leftmost": leftmost_kinds}
_HEADS = {**_ONE_WAY, "both ways": kinds_both_ways}
_GROUPS_ONLY = ("flows", "signs", "powers")
_STEPS = "rank"
# Tasks on words of every length over a few letters.
_WORDS = ("parity", "blocks", "letters", "stair", "dyck")
# Functions of words of one length over the letters 0, 1, ..., and their parameters.
_FUNCTIONS = {
    "boolean-function": ("table",),
    "kth-one": ("k", "n"),
    "ordered": ("n",),
    "iteration": ("l", "n"),
}


@dataclass(frozen=True)
class BoundCertificate:
    """The content of a file, once it is known that it can be decided.

    Attributes:
        task, parameters: of the atlas; "" and {} for a language.
        language, automaton: of a language; "" and None for a task.
        kind: the class; bound: how words show a bound for it, as its row says.
        layers: the number that is said not to suffice.
        words: both; of functions all that are named.
        answers: to each.
        function: on words of one length, where the class is about such.
    """

    task: str
    parameters: dict[str, Any]
    language: str
    automaton: Automaton | None
    kind: str
    bound: str
    layers: int
    words: tuple[Word, ...]
    answers: tuple[Any, ...]
    function: WordFunction | None = None

    @property
    def steps(self) -> bool:
        """True if `layers` are steps of thought."""
        return self.function is not None

    @property
    def verified(self) -> bool:
        """True if the answers differ, and so many layers do not tell the words apart."""
        return self.separated_by is None and len(set(self.answers)) > 1

    @cached_property
    def separated_by(self) -> int | None:
        """The least number of layers that tell the words apart; None where `layers` do not.

        Cost: layers times the square of the length; where they are told apart, that for each layer.
        """
        if self.function:
            named = {tuple(map(int, word)) for word in self.words}
            some = sum(1 << j for j, word in enumerate(self.function.words) if word in named)
            rank = ranks(self.function)(some)[0]
            return rank if rank <= self.layers else None
        if self.bound == "powers":
            one, other = (sum(1 - 2 * x.endswith(BACK) for x in word) for word in self.words)
            return 1 if self.layers and (one - other) % 2 else None
        if self.bound == "signs":
            if self.words[0][-1] != self.words[1][-1]:
                return 0
            # To it letters are names: elements or strings.
            return _first_difference(*universal(cast(Any, self.words), 2, self.layers))
        if self.bound == "flows":
            return _first_difference(*flows(self.words, self.layers))
        seen = partial(_seen, _HEADS[self.bound], self.words)
        if not seen(self.layers):
            return None
        return next(layers for layers in range(self.layers + 1) if seen(layers))


def _seen(kind: Callable[[str, int], object], words: tuple[Word, ...], layers: int) -> bool:
    one, other = (kind("".join(word), layers) for word in words)
    return one != other


def _first_difference(one: Sequence[object], other: Sequence[object]) -> int | None:
    """The number of the first layer whose states differ."""
    layers = enumerate(zip(one, other, strict=True), 1)
    return next((number for number, (x, y) in layers if x != y), None)


def flows(words: Sequence[Word], layers: int) -> list[list[frozenset[Any]]]:
    """For each word over letters and their inverses the states of layers that count how often each
    letter was read in each state of the layers below, a letter that is taken back counting -1.

    Two words have the same states in k layers iff they are equal in the free group modulo the k-th
    group of its derived series: equal flows in the Cayley graph of a factor F/N are equality modulo
    [N, N].

    >>> x, y, xy, yx = ("x",), ("y",), ("x", "y"), ("y", "x")
    >>> [one == other for one, other in zip(*flows([xy, yx], 2))]
    [True, False]
    >>> commutator = ("x^-1", "y^-1", "x", "y")
    >>> flows([commutator], 1) == flows([()], 1)
    True
    """
    # States get numbers when they are first seen, the same for all words.
    names: list[dict[Any, int]] = [{frozenset(): 0} for _ in range(layers)]
    ends = []
    for word in words:
        counts: list[dict[Any, int]] = [{} for _ in range(layers)]
        states = [0] * layers
        for letter in word:
            back = letter.endswith(BACK)
            # A letter is read in the states before it; one that is taken back was read in those
            # that it leads back to.
            before = tuple(states)
            for level, count in enumerate(counts):
                below = tuple(states[:level]) if back else before[:level]
                edge = (*below, letter.removesuffix(BACK))
                count[edge] = count.get(edge, 0) + (-1 if back else 1)
                if not count[edge]:
                    del count[edge]
                name = names[level]
                states[level] = name.setdefault(frozenset(count.items()), len(name))
        ends.append([frozenset(count.items()) for count in counts])
    return ends


# --- files ---


def certified_classes(known: Atlas, bounds: Collection[str] = ()) -> tuple[str, ...]:
    """The classes of an atlas for which words show bounds, of some kinds or of all.

    >>> certified_classes(atlas(), ["flows", "powers"])
    ('diagonal-ssm', 'deltanet')
    """
    return tuple(
        key for key, row in known.classes.items() if row.bound in (bounds or RULES["bound"][1:])
    )


def read_bound(body: Mapping[str, Any], known: Atlas | None = None) -> BoundCertificate:
    """The certificate of a JSON object; about a task of the atlas, or of tables of a user's own.

    Raises:
        UsageError: for what is missing, of the wrong form, too long, or not decided here.
    """
    kind, layers, words = (body.get(name) for name in ("class", "layers", "words"))
    known = atlas() if known is None else known
    if kind not in certified_classes(known):
        raise UsageError(
            f"bounds of the class {quoted(str(kind))} cannot be checked from words; accepted are "
            + ", ".join(certified_classes(known))
        )
    bound = known.classes[kind].bound
    if not isinstance(layers, int) or isinstance(layers, bool) or layers < 0:
        raise UsageError(
            f"the field layers is {quoted(str(layers))}; give the number of layers that do not "
            "suffice, 0 or more"
        )
    if not isinstance(words, list) or len(words) < 2 or (bound != _STEPS and len(words) > 2):
        raise UsageError('the file names no two words; give "words": ["ab", "ba"]')
    if ("language" in body) == ("task" in body):
        raise UsageError('give either "task" and "parameters", or "language" and "alphabet"')
    if "language" in body:
        return _of_language(body, known, kind, layers, words)
    name, parameters = body["task"], body.get("parameters", {})
    if not isinstance(name, str) or not isinstance(parameters, dict):
        raise UsageError('the task has the wrong form; give "task": "dyck" and "parameters"')
    if bound == _STEPS:
        return _of_function(name, parameters, kind, layers, words)
    task = task_of(known, name, parameters)
    fits: Collection[str] = _GROUPS_ONLY if "group" in parameters else ()
    if name in _WORDS or name not in atlas().tasks:
        fits = _HEADS
    if bound not in fits:
        classes = certified_classes(known, fits) if fits else ()
        raise UsageError(
            f"bounds of the class {kind} for the task {name} are not checked here"
            + (f"; accepted are the classes {', '.join(classes)}" if classes else "")
        )
    if bound == "powers" and layers > 1:
        raise UsageError(f"of {kind} bounds on 0 or 1 layers are checked here; got {layers}")
    letters = task.letters
    back = bound in ("flows", "powers")
    one, other = _read_pair(words, letters, back, layers)
    if bound == "powers" and len({letter.removesuffix(BACK) for letter in one + other}) > 1:
        raise UsageError(f"for {kind} both words are powers of one letter")
    answers = _answer(task, one), _answer(task, other)
    return BoundCertificate(name, parameters, "", None, kind, bound, layers, (one, other), answers)


def _of_language(
    body: Mapping[str, Any], known: Atlas, kind: str, layers: int, words: Sequence[Any]
) -> BoundCertificate:
    expression, alphabet = body["language"], body.get("alphabet")
    if not isinstance(expression, str) or not isinstance(alphabet, str):
        raise UsageError('give "language": "(ab)*" and "alphabet": "ab"')
    bound = known.classes[kind].bound
    if bound not in _ONE_WAY:
        raise UsageError(
            f"bounds of the class {kind} for a language are not checked here; accepted are "
            + ", ".join(certified_classes(known, _ONE_WAY))
        )
    automaton = read_language(expression, alphabet)
    one, other = _read_pair(words, alphabet, False, layers)
    answers = automaton.accepts("".join(one)), automaton.accepts("".join(other))
    return BoundCertificate(
        "", {}, expression, automaton, kind, bound, layers, (one, other), answers
    )


def _of_function(
    name: str, parameters: Mapping[str, Any], kind: str, layers: int, words: Sequence[Any]
) -> BoundCertificate:
    if name not in _FUNCTIONS:
        raise UsageError(
            f"bounds of the class {kind} for the task {quoted(name)} are not checked here; "
            f"accepted are {', '.join(_FUNCTIONS)}"
        )
    if set(parameters) != set(_FUNCTIONS[name]):
        raise UsageError(f"the task {name} takes the parameters {', '.join(_FUNCTIONS[name])}")
    function, length, letters = _function(name, parameters)
    read = tuple(_read_word(word, [str(i) for i in range(letters)], False) for word in words)
    if any(len(word) != length for word in read):
        raise UsageError(f"the words of this task have {length} letters each")
    sets = min(2 ** len({*read}), (2**letters - 1) ** length)
    if letters**length > MOST_WORDS or sets > MOST_SETS:
        raise UsageError("these are too many words to be decided; name fewer, or shorter ones")
    answers = tuple(function(tuple(map(int, word))) for word in read)
    made = function_on_words(function, length, letters)
    return BoundCertificate(
        name, dict(parameters), "", None, kind, _STEPS, layers, read, answers, made
    )


def _function(
    name: str, parameters: Mapping[str, Any]
) -> tuple[Callable[[tuple[int, ...]], Any], int, int]:
    """A function, how long its words are, and how many letters they have."""
    if name == "boolean-function":
        table = parameters["table"]
        bits = table if isinstance(table, str) else ""
        length = len(bits).bit_length() - 1
        if length < 1 or len(bits) != 2**length or set(bits) - {"0", "1"}:
            raise UsageError(
                "the table of a function of n bits has 2^n digits 0 and 1, in the order of the "
                f"words: for the parity of two bits 0110; got {quoted(str(table))}"
            )
        return lambda word: int(bits[int("".join(map(str, word)), 2)]), length, 2
    if not all(type(x) is int and 0 < x <= 12 for x in parameters.values()):
        raise UsageError(f"the parameters of the task {name} are whole numbers from 1 to 12 here")
    n = parameters["n"]
    if (name == "ordered" and n < 3) or parameters.get("k", 1) > n:
        raise UsageError(f"the task {name} has n of 3 or more, or of k or more; got n = {n}")
    if name == "kth-one":
        return kth_one(parameters["k"]), n, 2
    if name == "iteration":
        return iterated(parameters["l"]), n, n
    return lambda word: list(word) == sorted(word), n, 2


def _read_word(word: Any, letters: Sequence[str], back: bool) -> Word:
    """A word of one letter or more: a list, or a string of letters, apart where they are long."""
    read = word
    if isinstance(word, str):
        read = word.split() if max(map(len, letters)) > 1 else list(word)
    if not isinstance(read, list) or not read:
        raise UsageError(
            f"cannot read the word {quoted(str(word))}; give a list of one letter or more, or a "
            "string"
        )
    if len(read) > MOST_LETTERS:
        raise UsageError(f"a word has {len(read):,} letters; accepted are up to {MOST_LETTERS:,}")
    for letter in read:
        plain = letter.removesuffix(BACK) if back and isinstance(letter, str) else letter
        if plain not in letters:
            listed = " ".join(letters[:12]) + (" ..." if len(letters) > 12 else "")
            raise UsageError(
                f"the word has {quoted(str(letter))}, which is no letter of the task; accepted are "
                f"{listed}" + (f", each also with {BACK}" if back else "")
            )
    return tuple(read)


def _read_pair(
    words: Sequence[Any], letters: Sequence[str], back: bool, layers: int
) -> tuple[Word, Word]:
    one, other = (_read_word(word, letters, back) for word in words)
    longest = max(len(one), len(other))
    if (layers + 1) * longest**2 > MOST_STEPS:
        raise UsageError(
            f"{layers:,} layers on a word of {longest:,} letters take too long; give fewer layers "
            "or shorter words"
        )
    return one, other


def _answer(task: WordTask, word: Word) -> Any:
    """The answer to a word in which letters may be taken back."""
    if not any(letter.endswith(BACK) for letter in word):
        return task.answer(word)
    one = next(x for x in task.letters if task.answer((x, x)) == x)
    back = {x + BACK: y for x in task.letters for y in task.letters if task.answer((x, y)) == one}
    return task.answer(tuple(back.get(letter, letter) for letter in word))

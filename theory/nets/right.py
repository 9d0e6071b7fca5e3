"""Whether a net is right on a task: on words that are run, on words of every length where finitely
many states decide that, or on all numbers."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass

from depthlaw.advisor.base.quantities import UsageError, plural

from ..atlas.tasks import Word, WordTask
from .batched import Answer, Sizes, answers
from .classes import ExactNet
from .every_length import automaton
from .relu import Maximum, ReluNet, where_no_maximum
from .thoughts import ThoughtNet


@dataclass(frozen=True)
class Mistake:
    """What a net says of a word, or of numbers, and what is right."""

    word: tuple[str, ...]
    said: Answer
    right: Answer


@dataclass(frozen=True)
class Correctness:
    """Whether a net is right; true where it is.

    Attributes:
        words: how many were run, up to the first that is answered wrongly.
        mistake: the first word that is answered wrongly; None where the net is right.
        depth: of the net: layers, or the most steps of thought that a word took.
        states: of all layers together, where finitely many are reached.
        every_length: whether words of every length were decided.
    """

    words: int
    mistake: Mistake | None
    depth: int
    states: int | None = None
    every_length: bool = False

    def __bool__(self) -> bool:
        return self.mistake is None


def right_on(
    net: ExactNet,
    task: WordTask | Maximum,
    words: Iterable[Word] | None = None,
    sizes: Sizes | None = None,
    prefixes: bool = False,
) -> Correctness:
    """Whether a net is right on a task, exactly.

    Args:
        net: of any family.
        task: on words, or of ReLU nets a maximum of numbers.
        words: that are run; by default all that are asked, where these are finitely many, and
            those of every length where the net's states close up.
        sizes, prefixes: where to note how large the numbers of states get, and whether all prefixes
            of a word stand in its place (`batched.answers`).

    Cost: that of running the net on the words, or of its automaton (`every_length`), or of
        `relu.where_no_maximum`.

    Raises:
        UsageError: for a net that is not for such a task, a word without an answer, or a task with
            words of every length whose words are not named and that no automaton decides.

    >>> from depthlaw.theory.atlas.tasks import parity_bits
    >>> from depthlaw.theory.nets.json_format import net_of
    >>> last_bit = net_of(
    ...     {"family": "attention", "alphabet": ["0", "1"], "embedding": {"0": [0], "1": [1]},
    ...      "layers": [], "read": [1]}
    ... )
    >>> right_on(last_bit, parity_bits(2)).mistake
    Mistake(word=('1', '0'), said=False, right=True)
    """
    if isinstance(net, ReluNet) or isinstance(task, Maximum):
        if not (isinstance(net, ReluNet) and isinstance(task, Maximum)):
            raise UsageError("a ReLU net is compared with a maximum, and nothing else is")
        return _on_numbers(net, task)
    if set(net.alphabet) != set(task.letters):
        raise UsageError(
            f"the alphabet of the net is {' '.join(net.alphabet)}; that of the task is "
            + " ".join(task.letters)
        )
    closed = None if isinstance(net, ThoughtNet) else automaton(net, task)
    every_length = closed is not None and closed.compared
    if words is None:
        if not every_length and task.length is None and task.listed is None:
            raise UsageError("the task has words of every length; name those that are run")
        words = () if every_length else task.words(0)
    depth = net.depth if not isinstance(net, ThoughtNet) else 0
    count, mistake = 0, None
    for word, said, steps in _answers(net, words, sizes, prefixes):
        count, depth = count + 1, max(depth, steps)
        if mistake := _mistake(word, said, task):
            break
    if not mistake and closed and closed.wrong:
        ((word, said, _),) = _answers(net, [closed.wrong])
        count, mistake = count + 1, _mistake(word, said, task)
    return Correctness(count, mistake, depth, closed.states if closed else None, every_length)


def _answers(
    net: ExactNet, words: Iterable[Word], sizes: Sizes | None = None, prefixes: bool = False
) -> Iterator[tuple[Word, Answer, int]]:
    if isinstance(net, ThoughtNet):
        yield from ((word, *net.answer(word)) for word in words)
    elif not isinstance(net, ReluNet):
        yield from ((word, said, 0) for word, said in answers(net, words, sizes, prefixes))


def _mistake(word: Word, said: Answer, task: WordTask) -> Mistake | None:
    right = task.answer(word)
    if isinstance(said, bool) != isinstance(right, bool):
        kinds = "true and false, no strings" if isinstance(right, bool) else "strings"
        raise UsageError(f"the net answers {said!r}; the answers of the task are {kinds}")
    return None if said == right else Mistake(word, said, right)


def _on_numbers(net: ReluNet, task: Maximum) -> Correctness:
    if net.inputs != task.n:
        raise UsageError(f"the net takes {plural(net.inputs, 'number')}; the task has {task.n}")
    point = where_no_maximum(net)
    if point is None:
        return Correctness(0, None, net.depth)
    mistake = Mistake(tuple(map(str, point)), str(net.value(point)), str(max(point)))
    return Correctness(0, mistake, net.depth)

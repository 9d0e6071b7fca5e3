"""What a file of explicit weights or of a lower bound shows, beside what the atlas knows."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from depthlaw.advisor.atlas import Atlas, atlas
from depthlaw.advisor.base.quantities import UsageError, plural

from ..least_depth.chain_of_thought import ranks
from ..nets import classes, relu, thoughts
from ..nets.batched import Sizes, answers
from ..nets.every_length import automaton
from ..nets.json_format import net_of, read_body
from ..nets.relu import ReluNet, relu_net, where_no_maximum
from ..nets.thoughts import ThoughtNet, thought_net
from .certificates import BoundCertificate, read_bound
from .ends import End, Ends, Result, ends_of_task, refuse_unknown_class
from .languages import ends_of_language
from .tasks import Word, WordTask, language_task, task_of

Net = classes.Net | ReluNet | ThoughtNet
# Words that a check runs by default at most, and with a length.
_WORDS, _MOST_WORDS = 3_000, 1_000_000


@dataclass(frozen=True)
class Wrong:
    """A word, or numbers, on which a net is wrong: what it says, and what is right."""

    word: str
    said: str | bool
    right: str | bool


@dataclass(frozen=True)
class NetRun:
    """What came of running a net.

    Attributes:
        layers, heads: of the net, or steps of thought; heads are the most of a layer, if any.
        inputs: how many numbers it takes; None for words.
        words: how many were run, up to the first wrong one; None for numbers.
        length: of the longest word; None where words are listed.
        listed: what all words of the task are, where they are listed, such as graphs.
        of_one_length: whether all words of the task have that length.
        states: how many were followed, where they are finitely many.
        every_length: whether the answers were compared in all of them.
        whole: whether it was right on all that the task asks.
        in_balls: whether signs were decided in balls, and not exactly.
        sizes: how large the numbers of its states get, by the length of words, where the class
            says how many bits they have.
        thoughts: whether it is a chain of thought, given by tables.
        wrong: the first word on which it is wrong.
    """

    layers: int
    heads: int | None = None
    inputs: int | None = None
    words: int | None = None
    length: int | None = None
    listed: str = ""
    of_one_length: bool = False
    states: int | None = None
    every_length: bool = False
    whole: bool = False
    in_balls: bool = False
    sizes: Sizes | None = None
    thoughts: bool = False
    wrong: Wrong | None = None


@dataclass(frozen=True)
class BoundRun:
    """What came of verifying a bound.

    Attributes:
        layers: so many are said not to suffice; steps where `steps` is true.
        words, answers: of the file, and the right answers to them.
        separated_by: the least number of layers that tell the words apart; None where `layers`
            do not.
    """

    layers: int
    words: tuple[Word, ...]
    answers: tuple[Any, ...]
    separated_by: int | None
    steps: bool

    @property
    def verified(self) -> bool:
        """Whether the answers differ, and so many layers do not tell the words apart."""
        return self.separated_by is None and len(set(self.answers)) > 1


@dataclass(frozen=True)
class Compared:
    """A net or a bound beside the atlas.

    Attributes:
        task: key of the atlas; "" for a language.
        language: a regular expression; "" for a task.
        parameters: of the task.
        class_: key of the class.
        found: what came of it.
        ends: what is known at these parameters.
        result: how the two compare.
    """

    task: str
    language: str
    parameters: Mapping[str, Any]
    class_: str
    found: NetRun | BoundRun
    ends: Ends
    result: Result

    @property
    def right(self) -> bool:
        """Whether the net is right wherever it was asked, or the bound is verified."""
        return self.result not in (Result.WRONG, Result.NOT_VERIFIED)


def check(
    given: str | Path | Mapping[str, Any] | Net,
    task: str | None = None,
    class_: str | None = None,
    *,
    length: int | None = None,
    tables: str | Path | None = None,
    **parameters: Any,
) -> Compared:
    """Run a net on all words up to a length, or decide it as a whole, or verify a lower bound, and
    compare its depth with what the atlas knows.

    Args:
        given: a file in the format of docs/how-to/check-a-net.md, its JSON object, or a net.
        task, class_, parameters: of a net that is no file; of a file they take the place of its
            own.
        length: of the longest word that is run; by default that of 3,000 words in all.
        tables: a folder with tables of a user's own, which extend the atlas.

    Raises:
        UsageError: for what cannot be read, is not of its class, or belongs to no task.

    Cost: that of the words that are run; of a bound, of its layers and the squares of its words.

    >>> head = {"attention": "hard-right", "mask": "strict", "query": [[1, 1, 1]],
    ...         "key": [[0, 1, 0]], "value": [[0, 1, 0]], "output": [[0], [0], [1]]}
    >>> net = {"family": "attention", "alphabet": ["a", "b"], "end": "$",
    ...        "embedding": {"a": [0, 1, 0], "b": [0, 0, 0], "$": [1, 0, 0]},
    ...        "layers": [{"heads": [head]}], "read": [0, 0, 1]}
    >>> found = check(net, "letters", "uhat-right", k=1)
    >>> found.found.every_length, found.ends.needed, found.result.value
    (True, 1, 'as many as the table')
    """
    known = atlas(None if tables is None else Path(tables))
    given_net = isinstance(given, Net)
    body = {} if given_net else read_body(Path(given) if isinstance(given, str) else given)
    if task is not None:
        body = {name: value for name, value in body.items() if name != "language"}
        body |= {"task": task, "parameters": parameters}
    elif parameters:
        body["parameters"] = body.get("parameters", {}) | parameters
    if class_ is not None:
        body["class"] = class_
    if body.get("family") == "bound":
        if length is not None:
            raise UsageError("--length belongs to nets; a lower bound is about two words")
        return _bound(body, known)
    name = str(given) if isinstance(given, str | Path) else "the net"
    return _net(name, given if given_net else None, body, length, known)


# --- nets -----------------------------------------------------------------------------------------


def _net(
    name: str, net: Net | None, body: Mapping[str, Any], length: int | None, known: Atlas
) -> Compared:
    if length is not None and length < 1:
        raise UsageError(f"--length is 1 or more; got {length}")
    task, parameters = body.get("task", ""), body.get("parameters", {})
    language, class_ = body.get("language", ""), body.get("class")
    if (
        not isinstance(task, str)
        or not isinstance(parameters, dict)
        or bool(task) == bool(language)
    ):
        raise UsageError(
            f'{name} names no task; give "task": "parity" and "parameters": {{}}, or a regular '
            '"language": "(ab)*", one of the two'
        )
    refuse_unknown_class(class_, known)
    if net is None:
        readers = {"relu": relu_net, "thoughts": thought_net}
        net = readers.get(str(body.get("family")), net_of)(body)
    if isinstance(net, ReluNet):
        run = _on_numbers(name, net, task, parameters, class_, length)
    elif isinstance(net, ThoughtNet):
        words = task_of(known, task, parameters)
        run = _in_thoughts(name, net, words, task, class_, length)
    else:
        words = (
            language_task(language, "".join(net.alphabet))
            if language
            else task_of(known, task, parameters)
        )
        bits = "bits" in known.classes[class_].definition
        run = _on_words(name, net, words, parameters, class_, length, bits)
    if language:
        ends = ends_of_language(language, "".join(net.alphabet), class_, known)
    else:
        ends = ends_of_task(task, class_, parameters, known, run.heads)
    result = Result.WRONG if run.wrong else ends.of_net(run.layers, run.whole)
    return Compared(task, language, parameters, class_, run, ends, result)


def _refuse(name: str, class_: str, why: str) -> None:
    if why:
        raise UsageError(f"{name} is not of the class {class_}: {why}")


def _on_words(
    name: str,
    net: classes.Net,
    task: WordTask,
    parameters: Mapping[str, Any],
    class_: str,
    length: int | None,
    bits: bool,
) -> NetRun:
    _same_alphabet(name, net.alphabet, task.letters)
    _refuse(name, class_, classes.breaks(net, class_, parameters, task.length))
    _refuse_length(length, task.length)
    longest = task.length or length or _longest(len(task.letters), _WORDS)
    if not task.length and longest > (most := _longest(len(task.letters), _MOST_WORDS)):
        raise UsageError(
            f"--length {longest}: at most {_MOST_WORDS:,} words are run; try --length {most}"
        )
    try:
        closed = automaton(net, task)
    except UsageError as error:
        raise UsageError(f"{name} is not of the class {class_}: {error}") from None
    sizes: Sizes | None = {} if bits else None
    said = answers(net, filter(None, task.words(longest)), sizes)
    words, wrong = _compared(name, said, task.answer)
    if not wrong and closed and closed.wrong:
        _, wrong = _compared(name, answers(net, [closed.wrong]), task.answer)
        words += 1
    if not words:
        raise UsageError(
            f"no word up to length {longest} is asked; try --length {max(task.least, 1)} or more"
        )
    every_length = closed is not None and closed.compared and not wrong
    return NetRun(
        layers=net.depth,
        heads=max((len(getattr(layer, "heads", ())) for layer in net.layers), default=0) or None,
        words=words,
        length=None if task.listed else longest,
        listed=task.listed[1] if task.listed else "",
        of_one_length=task.length is not None,
        states=closed.states if closed else None,
        every_length=every_length,
        whole=(every_length or task.whole) and not wrong,
        in_balls=getattr(net, "in_balls", False),
        sizes=sizes,
        wrong=wrong,
    )


def _in_thoughts(
    name: str, net: ThoughtNet, task: WordTask, key: str, class_: str, length: int | None
) -> NetRun:
    _refuse(name, class_, thoughts.breaks(net, class_, key))
    _refuse_length(length, task.length)
    _same_alphabet(name, net.alphabet, task.letters)
    steps = [0]

    def said() -> Iterator[tuple[Word, str | bool]]:
        for word in task.words(0):
            answer, taken = net.answer(word)
            steps.append(taken)
            yield word, answer

    words, wrong = _compared(name, said(), task.answer)
    return NetRun(
        layers=max(steps),
        heads=net.most_heads,
        words=words,
        length=task.length,
        of_one_length=True,
        whole=not wrong,
        thoughts=True,
        wrong=wrong,
    )


def _on_numbers(
    name: str,
    net: ReluNet,
    task: str,
    parameters: Mapping[str, Any],
    class_: str,
    length: int | None,
) -> NetRun:
    inputs = relu.numbers(task, parameters)
    if length is not None:
        raise UsageError("--length is for words; a maximum is compared on all numbers")
    if net.inputs != inputs:
        raise UsageError(f"{name} takes {plural(net.inputs, 'number')}; the task has {inputs}")
    _refuse(name, class_, relu.breaks(net, class_))
    run = NetRun(layers=net.depth, inputs=inputs, whole=True)
    if (point := where_no_maximum(net)) is None:
        return run
    wrong = Wrong(" ".join(map(str, point)), str(net.value(point)), str(max(point)))
    return replace(run, whole=False, wrong=wrong)


def _compared(
    name: str,
    answers: Iterable[tuple[Sequence[str], str | bool]],
    right: Callable[[Any], str | bool],
) -> tuple[int, Wrong | None]:
    """How many words were asked, up to the first that is answered wrongly, and that one."""
    words = 0
    for word, said in answers:
        words, answer = words + 1, right(word)
        if isinstance(said, bool) != isinstance(answer, bool):
            kinds = "true and false, no strings" if isinstance(answer, bool) else "strings"
            raise UsageError(f"{name} answers {said!r}; the answers of the task are {kinds}")
        if said != answer:
            return words, Wrong(" ".join(word), said, answer)
    return words, None


def _refuse_length(length: int | None, of_task: int | None) -> None:
    if length is not None and of_task is not None and length != of_task:
        raise UsageError(f"all words of this task have {of_task} letters; leave out --length")


def _same_alphabet(name: str, alphabet: Word, letters: Word) -> None:
    if set(alphabet) != set(letters):
        raise UsageError(
            f"the alphabet of {name} is {' '.join(alphabet)}; that of the task is "
            + " ".join(letters)
        )


def _longest(letters: int, most: int) -> int:
    """The largest length with at most so many words in all."""
    length, total = 1, letters
    while total + letters ** (length + 1) <= most:
        length += 1
        total += letters**length
    return length


# --- lower bounds ---------------------------------------------------------------------------------


def _bound(body: Mapping[str, Any], known: Atlas) -> Compared:
    bound: BoundCertificate = read_bound(body, known)
    run = BoundRun(
        bound.layers,
        bound.words,
        bound.answers,
        bound.separating_layers(),
        bound.function is not None,
    )
    if bound.automaton:
        ends = ends_of_language(bound.language, bound.automaton.alphabet, bound.kind, known)
    elif bound.task == "boolean-function" and bound.function:
        rank = ranks(bound.function)(bound.function.everything)[0]
        end = End.decided(rank, "the rank of f, least_depth/steps_are_rank")
        ends = Ends(bound.task, bound.kind, True, end, end)
    else:
        ends = ends_of_task(bound.task, bound.kind, bound.parameters, known)
    result = ends.of_bound(bound.layers + 1) if run.verified else Result.NOT_VERIFIED
    return Compared(bound.task, bound.language, bound.parameters, bound.kind, run, ends, result)

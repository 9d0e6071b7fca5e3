"""What a file of explicit weights or of a lower bound shows, beside what the atlas knows."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from depthlaw.advisor.atlas import Atlas, atlas
from depthlaw.advisor.base.quantities import UsageError, quoted

from ..least_depth.chain_of_thought import ranks
from ..nets.batched import Sizes
from ..nets.classes import ExactNet, in_class
from ..nets.every_length import StatesGrow
from ..nets.json_format import net_of, read_body
from ..nets.relu import Maximum, ReluNet, numbers
from ..nets.right import Mistake, right_on
from ..nets.thoughts import TASKS, ThoughtNet
from .certificates import BoundCertificate, read_bound
from .ends import End, Ends, Result, class_of, ends_of_task
from .languages import ends_of_language
from .tasks import WordTask, language_task, task_of

# Words that a check runs by default at most, and with a length.
_WORDS, _MOST_WORDS = 3_000, 1_000_000


@dataclass(frozen=True)
class NetRun:
    """The outcome of running a net.

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
    wrong: Mistake | None = None


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
    found: NetRun | BoundCertificate
    ends: Ends
    result: Result

    @property
    def right(self) -> bool:
        """True if the net is right wherever it was asked, or the bound is verified."""
        return self.result not in (Result.WRONG, Result.NOT_VERIFIED)


def check(
    given: str | Path | Mapping[str, Any] | ExactNet,
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
    net: ExactNet | None = None
    body: dict[str, Any] = {}
    if isinstance(given, ExactNet):
        net = given
    elif isinstance(given, str | Path | Mapping):
        body = read_body(Path(given) if isinstance(given, str) else given)
    else:
        raise UsageError(
            f"cannot check {quoted(str(given))}; accepted are a file, its JSON object, or a net"
        )
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
    return _net(name, net, body, length, known)


# --- nets -----------------------------------------------------------------------------------------


def _net(
    name: str, net: ExactNet | None, body: Mapping[str, Any], length: int | None, known: Atlas
) -> Compared:
    if length is not None and length < 1:
        raise UsageError(f"--length is 1 or more; got {length}")
    task, parameters = body.get("task", ""), body.get("parameters", {})
    language = body.get("language", "")
    if (
        not isinstance(task, str)
        or not isinstance(parameters, dict)
        or bool(task) == bool(language)
    ):
        raise UsageError(
            f'{name} names no task; give "task": "parity" and "parameters": {{}}, or a regular '
            '"language": "(ab)*", one of the two'
        )
    rules = class_of(body.get("class"), known)
    class_ = rules.key
    net = net_of(body) if net is None else net
    words: WordTask | Maximum
    if language:
        words = language_task(language, "".join(getattr(net, "alphabet", ())))
    elif isinstance(net, ReluNet):
        words = Maximum(numbers(task, parameters))
    elif isinstance(net, ThoughtNet) and task not in TASKS:
        raise UsageError(
            f"nets of the family thoughts are for the tasks {', '.join(TASKS)}, not {quoted(task)}"
        )
    else:
        words = task_of(known, task, parameters)
    letters = words.length if isinstance(words, WordTask) else None
    if why := in_class(net, rules, parameters, letters):
        raise UsageError(f"{name} is not of the class {class_}: {why}")
    try:
        run = _run(net, words, length, "bits" in rules.definition)
    except StatesGrow as error:
        raise UsageError(f"{name} is not of the class {class_}: {error}") from None
    if language:
        ends = ends_of_language(language, "".join(getattr(net, "alphabet", ())), class_, known)
    else:
        ends = ends_of_task(task, class_, parameters, known, run.heads)
    result = Result.WRONG if run.wrong else ends.of_net(run.layers, run.whole)
    return Compared(task, language, parameters, class_, run, ends, result)


def _run(net: ExactNet, task: WordTask | Maximum, length: int | None, bits: bool) -> NetRun:
    """The net on all words up to a length; `bits`: whether to note how large its numbers get."""
    if isinstance(task, Maximum):
        if length is not None:
            raise UsageError("--length is for words; a maximum is compared on all numbers")
        right = right_on(net, task)
        return NetRun(right.depth, inputs=task.n, whole=bool(right), wrong=right.mistake)
    if None not in (length, task.length) and length != task.length:
        raise UsageError(f"all words of this task have {task.length} letters; leave out --length")
    longest = task.length or length or _longest(len(task.letters), _WORDS)
    if not task.length and longest > (most := _longest(len(task.letters), _MOST_WORDS)):
        raise UsageError(
            f"--length {longest}: at most {_MOST_WORDS:,} words are run; try --length {most}"
        )
    sizes: Sizes | None = {} if bits else None
    right = right_on(net, task, filter(None, task.words(longest)), sizes)
    if not right.words:
        raise UsageError(
            f"no word up to length {longest} is asked; try --length {max(task.least, 1)} or more"
        )
    thoughts = isinstance(net, ThoughtNet)
    layers = () if isinstance(net, ThoughtNet | ReluNet) else net.layers
    heads = max((len(getattr(layer, "heads", ())) for layer in layers), default=0) or None
    return NetRun(
        layers=right.depth,
        heads=net.most_heads if isinstance(net, ThoughtNet) else heads,
        words=right.words,
        length=None if task.listed else longest,
        listed=task.listed[1] if task.listed else "",
        of_one_length=task.length is not None,
        states=right.states,
        every_length=bool(right) and right.every_length,
        whole=bool(right) and (right.every_length or task.length is not None),
        in_balls=getattr(net, "in_balls", False),
        sizes=sizes,
        thoughts=thoughts,
        wrong=right.mistake,
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
    bound = read_bound(body, known)
    if bound.automaton:
        ends = ends_of_language(bound.language, bound.automaton.alphabet, bound.kind, known)
    elif bound.task == "boolean-function" and bound.function:
        rank = ranks(bound.function)(bound.function.everything)[0]
        end = End.decided(rank, "the rank of f, least_depth/steps_are_rank")
        ends = Ends(bound.task, bound.kind, True, end, end)
    else:
        ends = ends_of_task(bound.task, bound.kind, bound.parameters, known)
    result = ends.of_bound(bound.layers + 1) if bound.verified else Result.NOT_VERIFIED
    return Compared(bound.task, bound.language, bound.parameters, bound.kind, bound, ends, result)

"""`depthlaw tasks`: the atlas of least depth, and the check of explicit weights against it."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import asdict, dataclass
from difflib import get_close_matches
from math import inf
from pathlib import Path
from typing import TYPE_CHECKING, Any

from depthlaw.advisor.atlas import (
    GAPS,
    NONE,
    AtlasBound,
    AtlasRow,
    atlas_rows,
    classes,
    formula,
    singular,
    tasks,
)
from depthlaw.advisor.base.quantities import UsageError, plural, quoted

from .output import dump, heading, note, say, stdout, tell
from .tables import plain_table, print_table

if TYPE_CHECKING:
    from depthlaw.theory.nets.batched import Sizes

# Words that a check runs by default at most, and with --length.
_WORDS, _MOST_WORDS = 3_000, 1_000_000
# Columns that a cell of a table may shrink to; all formulas fit.
_LEAST = 22


def list_tasks(task: str | None, known_by: int | None, json_output: bool) -> int:
    """The table, or with a task its rows with sources."""
    rows = list(atlas_rows(task, known_by))
    if not rows:
        raise UsageError(f"nothing was known of that by {known_by}; try a later year")
    if json_output:
        dump([_as_json(row) for row in rows])
        return 0
    if task is None:
        _overview(rows)
        return 0
    tell(f"{tasks()[task].name}: {tasks()[task].definition}")
    table = plain_table(2)
    for heading_ in ("class", "needed", "suffices", "gap", "checked"):
        table.add_column(heading_, no_wrap=heading_ in ("class", "gap"), min_width=_LEAST)
    for row in rows:
        cells = (row.class_.key, formula(row.needed), formula(row.suffices), row.gap, row.checked)
        table.add_row(*cells)
    print_table(stdout(), table)
    for word in dict.fromkeys(row.gap for row in rows):
        note(f"{word}: {GAPS[word]}", wrap=True)
    for row in rows:
        say("")
        tell(f"{row.class_.key}: {row.class_.definition} Counted: {row.class_.unit}.")
        for end in filter(None, (row.lower, row.upper)):
            tell(told(end), "  ")
        for quote in dict.fromkeys(end.quote for end in (row.lower, row.upper) if end):
            if quote:
                tell(f"“{quote}”", "  ")
    return 0


def _overview(rows: Sequence[AtlasRow]) -> None:
    """What each task is, and its rows in a line each; piped, these begin with the task."""
    piped, subject = not stdout().is_terminal, ""
    for task in tasks().values():
        if not (own := [row for row in rows if row.task == task]):
            continue
        if task.subject != subject:
            heading(f"\n{task.subject}" if subject else task.subject)
            subject = task.subject
        tell(f"{task.key}: {task.definition}")
        for row in own:
            says = f"{row.class_.key}: {row.summary}; {row.checked}"
            tell(says, f"{task.key}, " if piped else "  ")
    note(
        "Letters are those of the task or the class: `depthlaw tasks list TASK` defines both, and "
        "says who found each bound",
        wrap=True,
    )


def told(end: AtlasBound) -> str:
    """A bound in a line."""
    who = "ours" if end.source == "depthlaw" else end.source
    says = "no depth suffices" if end.depth == NONE else f"{end.end} bound {formula(end.depth)}"
    rest = f"; {end.note}" if end.note else ""
    check = f"claim {end.claim}: {end.verdict}" if end.claim else end.verdict
    if why := "; ".join(filter(None, [end.checked, end.argument])):
        check += f": {why}"
    elif not end.claim:
        check += ", not checked here"
    if end.source != "depthlaw" and not end.quote:
        check += "; no sentence quoted"
    return f"{says}: {who}, {end.year}, {end.place} ({end.mark}); {check}{rest}"


def _as_json(row: AtlasRow) -> dict[str, Any]:
    def end(bound: AtlasBound | None) -> dict[str, Any] | None:
        if bound is None:
            return None
        return {
            name: value for name, value in asdict(bound).items() if name not in ("task", "class_")
        } | {"verdict": bound.verdict, "quote": bound.quote or None}

    return {
        "task": row.task.key,
        "class": row.class_.key,
        "lower": end(row.lower),
        "upper": end(row.upper),
        "gap": row.gap,
    }


def check_net(file: Path, length: int | None, json_output: bool) -> int:
    """Run a file's net on all words up to a length, or decide it as a whole; say whether it is
    right there, and how its depth compares with the table. Exit code 1 where it is wrong."""
    from depthlaw.theory.nets.json_format import read_body

    if length is not None and length < 1:
        raise UsageError(f"--length is 1 or more; got {length}")
    body = read_body(file)
    name, parameters, kind = body.get("task"), body.get("parameters", {}), body.get("class")
    if "language" in body:
        raise UsageError(
            f"{file} has a language; nets are checked against tasks of the atlas, bounds against "
            "either"
        )
    if not isinstance(name, str) or not isinstance(parameters, dict):
        raise UsageError(f'{file} names no task; give "task": "parity" and "parameters": {{}}')
    if not isinstance(kind, str) or kind not in classes():
        near = get_close_matches(str(kind), classes(), n=1)
        hint = f"did you mean {near[0]}?" if near else f"accepted are {', '.join(classes())}"
        raise UsageError(f"unknown class {quoted(str(kind))}; {hint}")
    runs = {"relu": _run_maximum, "thoughts": _run_thoughts}
    run = runs.get(str(body.get("family")), _run_words)
    found = run(file, body, name, parameters, kind, length)
    table = Ends.of(name, parameters, kind, found.heads)
    result, text = (
        ("wrong", "") if found.wrong else table.against(found.layers, found.on, found.whole)
    )
    if json_output:
        dump(
            {
                "file": str(file),
                "task": name,
                "parameters": parameters,
                "class": kind,
                "layers": found.layers,
                "words": found.words,
                "length": found.length,
                "whole": found.whole and not found.wrong,
                "states": found.states,
                "wrong": found.wrong,
                "sizes": found.sizes,
                "table": table.upper,
                "lower": NONE if table.lower == inf else table.lower,
                "result": result,
            }
        )
    elif found.wrong:
        said, word, right = (found.wrong[name] for name in ("said", "word", "right"))
        thing, has = found.asked
        tell(f"WRONG: {file} says {said} of {thing} {word!r}, {has} {right}{found.rest}")
    else:
        unit = classes()[kind].unit
        unit = singular(unit) if found.layers == 1 else unit
        tell(f"right on {found.right_on}, {found.how}{found.rest}; {found.layers} {unit}: {text}")
        if found.sizes:
            ends = dict.fromkeys((min(found.sizes), max(found.sizes)))
            tell(
                "its states hold numbers (p/q) 2^e with p and q odd: "
                + "; ".join(_size(length, found.sizes[length]) for length in ends)
            )
        tell(
            f"its weights break nothing of the class {kind}; the rest is for a reader to check: "
            + classes()[kind].definition
        )
    return int(bool(found.wrong))


@dataclass(frozen=True)
class _Found:
    """What came of running a net.

    Attributes:
        layers, heads: of the net; heads are the most of a layer.
        whole: whether it was right on all that the task asks.
        right_on: what it was right on; on: the same, in "fewer than the table on ...".
        asked: of what it was asked, and before the right answer, such as "the word", "which has".
        rest: what else is to be said.
        wrong: what it was wrong on first, and both answers.
        words, length, states: how many words were run, up to which length, and how many states
            were followed.
        how: in which arithmetic.
        sizes: how large the numbers of its states get, by the length of words.
    """

    layers: int
    heads: int | None
    whole: bool
    right_on: str
    on: str
    asked: tuple[str, str]
    rest: str
    wrong: dict[str, Any] | None
    words: int | None = None
    length: int | None = None
    states: int | None = None
    how: str = "exactly"
    sizes: Sizes | None = None


def _run_words(
    file: Path,
    body: dict[str, Any],
    name: str,
    parameters: dict[str, Any],
    kind: str,
    length: int | None,
) -> _Found:
    from depthlaw.theory.atlas.tasks import word_task
    from depthlaw.theory.nets.batched import answers
    from depthlaw.theory.nets.classes import breaks
    from depthlaw.theory.nets.every_length import automaton
    from depthlaw.theory.nets.json_format import net_of

    net, task = net_of(body), word_task(name, parameters)
    _same_alphabet(file, net.alphabet, task.letters)
    if why := breaks(net, kind, parameters, task.length):
        raise UsageError(f"{file} is not of the class {kind}: {why}")
    _refuse_length(length, task.length)
    longest = task.length or length or _longest(len(task.letters))
    if not task.length and longest > (most := _longest(len(task.letters), _MOST_WORDS)):
        raise UsageError(
            f"--length {longest}: at most {_MOST_WORDS:,} words are run; try --length {most}"
        )
    try:
        closed = automaton(net, task)
    except UsageError as error:
        raise UsageError(f"{file} is not of the class {kind}: {error}") from None
    every_length = closed is not None and closed.compared
    sizes: Sizes | None = {} if "bits" in classes()[kind].definition else None
    said = answers(net, filter(None, task.words(longest)), sizes)
    words, wrong = _compared(file, said, task.answer)
    if not wrong and closed and closed.wrong:
        _, wrong = _compared(file, answers(net, [closed.wrong]), task.answer)
        words += 1
    if not words:
        raise UsageError(
            f"no word up to length {longest} is asked; try --length {max(task.least, 1)} or more"
        )
    rest = ""
    if wrong:
        rest = f"; {plural(words - 1, 'shorter or earlier word')} {_were(words - 1)} right"
    elif closed and every_length:
        rest = f": its {plural(closed.states, 'state')} close up"
    if task.listed is not None:
        some = asked = task.listed[1]
    elif task.length is not None:
        some = asked = f"words of {plural(longest, 'letter')}"
    else:
        some, asked = f"words to length {longest}", f"words up to length {longest}"
    return _Found(
        layers=net.depth,
        heads=_heads(net),
        whole=every_length or task.whole,
        right_on="words of every length" if every_length else f"all {words:,} {asked}",
        on="all words" if every_length or task.whole else some,
        asked=("the word", "which has"),
        rest=rest,
        wrong=wrong,
        words=words,
        length=None if task.listed else longest,
        states=closed.states if closed else None,
        how="each sign decided in balls" if getattr(net, "in_balls", False) else "exactly",
        sizes=sizes,
    )


def _compared(
    file: Path,
    answers: Iterable[tuple[Sequence[str], str | bool]],
    right: Callable[[Any], str | bool],
) -> tuple[int, dict[str, Any] | None]:
    """How many words were asked, up to the first that is answered wrongly, and that one."""
    words = 0
    for word, said in answers:
        words, answer = words + 1, right(word)
        if isinstance(said, bool) != isinstance(answer, bool):
            kinds = "true and false, no strings" if isinstance(answer, bool) else "strings"
            raise UsageError(f"{file} answers {said!r}; the answers of the task are {kinds}")
        if said != answer:
            return words, {"word": " ".join(word), "said": said, "right": answer}
    return words, None


def _refuse_length(length: int | None, of_task: int | None) -> None:
    if length is not None and of_task is not None and length != of_task:
        raise UsageError(f"all words of this task have {of_task} letters; leave out --length")


def _same_alphabet(file: Path, alphabet: tuple[str, ...], letters: tuple[str, ...]) -> None:
    if set(alphabet) != set(letters):
        raise UsageError(
            f"the alphabet of {file} is {' '.join(alphabet)}; that of the task is "
            + " ".join(letters)
        )


def _run_thoughts(
    file: Path,
    body: dict[str, Any],
    name: str,
    parameters: dict[str, Any],
    kind: str,
    length: int | None,
) -> _Found:
    from depthlaw.theory.atlas.tasks import word_task
    from depthlaw.theory.nets.thoughts import breaks, thought_net

    net = thought_net(body)
    if why := breaks(net, kind, name):
        raise UsageError(f"{file} is not of the class {kind}: {why}")
    task = word_task(name, parameters)
    _refuse_length(length, task.length)
    _same_alphabet(file, net.alphabet, task.letters)
    steps = [0]

    def said() -> Iterator[tuple[tuple[str, ...], str | bool]]:
        for word in task.words(0):
            answer, taken = net.answer(word)
            steps.append(taken)
            yield word, answer

    words, wrong = _compared(file, said(), task.answer)
    return _Found(
        layers=max(steps),
        heads=net.most_heads,
        whole=True,
        right_on=f"all {words:,} words of {plural(task.length or 0, 'letter')}",
        on="all words",
        asked=("the word", "which has"),
        rest=f"; {plural(words - 1, 'earlier word')} {_were(words - 1)} right" if wrong else "",
        wrong=wrong,
        words=words,
        length=task.length,
    )


def _run_maximum(
    file: Path,
    body: dict[str, Any],
    name: str,
    parameters: dict[str, Any],
    kind: str,
    length: int | None,
) -> _Found:
    from depthlaw.theory.nets.relu import breaks, numbers, relu_net, where_no_maximum

    net, inputs = relu_net(body), numbers(name, parameters)
    if length is not None:
        raise UsageError("--length is for words; a maximum is compared on all numbers")
    if net.inputs != inputs:
        raise UsageError(f"{file} takes {plural(net.inputs, 'number')}; the task has {inputs}")
    if why := breaks(net, kind):
        raise UsageError(f"{file} is not of the class {kind}: {why}")
    point = where_no_maximum(net)
    wrong = None
    if point is not None:
        wrong = {
            "word": " ".join(map(str, point)),
            "said": str(net.value(point)),
            "right": str(max(point)),
        }
    return _Found(
        layers=net.depth,
        heads=None,
        whole=True,
        right_on=f"all of R^{inputs}",
        on="all numbers",
        asked=("the numbers", "whose maximum is"),
        rest="",
        wrong=wrong,
    )


@dataclass(frozen=True)
class Ends:
    """What the table says of a task at some parameters.

    Attributes:
        rows: whether it has a row for it.
        lower, upper: how many layers are needed and suffice; None where no number is known, and
            infinite where no depth suffices.
        source, upper_source: who says that as many as `lower` are needed, and `upper` suffice.
        unread: a lower end that is no number at these parameters.
        note: what the table says of `upper`, where it says that this is not the least.
    """

    rows: bool
    lower: float | None
    upper: int | None
    source: str
    upper_source: str
    unread: str
    note: str

    @classmethod
    def of(cls, name: str, parameters: dict[str, Any], kind: str, heads: int | None) -> Ends:
        """The ends of all rows in the class whose tasks this one is a case of; the sharpest count,
        since S3 is a solvable group and a dihedral one."""
        from depthlaw.theory.atlas.tasks import tasks_of

        names = tasks_of(name, parameters)
        rows = [row for task in names for row in atlas_rows(task) if row.class_.key == kind]
        numbers = _numbers(parameters, heads)
        uppers = [(_value(row.upper.depth, numbers), row.upper) for row in rows if row.upper]
        suffice = [(int(value), whose(end), end.note) for value, end in uppers if value is not None]
        upper, upper_source, note = min(suffice, default=(None, "", ""))
        note = note if note.startswith("not the least") else ""
        lower, source, unread = None, "", ""
        for bound in (row.lower for row in rows if row.lower):
            value = _value(bound.depth, numbers)
            if value is None:
                unread = bound.depth
            # That of a wider task may have a condition, which its note names.
            elif (upper is None or len(names) == 1 or value <= upper) and (
                lower is None or value > lower
            ):
                lower, source = value, whose(bound)
        return cls(bool(rows), lower, upper, source, upper_source, unread, note)

    def against(self, layers: int, words: str, whole: bool) -> tuple[str, str]:
        """How a net that was right on so many words compares, in a few words and in a line."""
        words = f"on {words}"
        if not self.rows:
            return "no record to compare with", "the table has no row for this task in this class"
        if self.lower is not None and layers < self.lower:
            bound = (
                f"lower bound, that no depth suffices ({self.source}),"
                if self.lower == inf
                else f"lower bound {self.lower} ({self.source})"
            )
            return (
                "contradicts a lower bound",
                f"contradicts the table's {bound} {words}"
                + (
                    "; either the bound or the class of the net is wrong"
                    if whole
                    else ", which no finite run refutes"
                ),
            )
        if self.upper is None:
            result = "no number of layers that suffice is known to the table"
            return result, result
        if layers >= self.upper:
            result = f"{'as many as' if layers == self.upper else 'more than'} the table"
            return result, f"{result} ({self.upper})"
        if self.note:
            result = "fewer than the table, which is not the least"
            return result, f"fewer than the table ({self.upper}), which says: {self.note}"
        if self.unread:
            needed = f"; it needs {formula(self.unread)}, which is no number here"
        elif self.lower is None:
            needed = "; no lower bound is known to it"
        else:
            needed = f"; {self.lower} needed"
        return (
            "fewer than the table" if whole else "fewer than the table on short words",
            f"fewer than the table ({self.upper}{needed}) {words}"
            + (
                ": a record, if the net is of the class"
                if whole
                else "; a record only if it is right on longer words too, which no run shows"
            ),
        )


def _size(length: int, size: tuple[int, int, int] | None) -> str:
    """How large numbers get in words of a length."""
    letters = f"in words of {plural(length, 'letter')} "
    if size is None:
        return letters + "too long to be counted"
    p, q, e = size
    return letters + f"p up to {plural(p, 'bit')}, q up to {plural(q, 'bit')}, |e| up to {e}"


def whose(bound: AtlasBound) -> str:
    """Whose bound it is, and how that is known."""
    return f"{'ours' if bound.source == 'depthlaw' else bound.source}, {bound.mark}"


def _heads(net: Any) -> int | None:
    """The most heads of a layer; None without any."""
    return max((len(getattr(layer, "heads", ())) for layer in net.layers), default=0) or None


def _were(count: int) -> str:
    return "was" if count == 1 else "were"


def _longest(letters: int, words: int = _WORDS) -> int:
    """The largest length with at most so many words in all."""
    length, total = 1, letters
    while total + letters ** (length + 1) <= words:
        length += 1
        total += letters**length
    return length


def _numbers(parameters: dict[str, Any], heads: int | None) -> dict[str, int]:
    """What letters in formulas of the table stand for."""
    from depthlaw.theory.atlas.tasks import lengths_of

    numbers = {k: v for k, v in parameters.items() if isinstance(v, int)}
    if "group" in parameters:
        numbers |= lengths_of(parameters["group"])
    return numbers if heads is None else numbers | {"H": heads}


def _value(formula: str, numbers: dict[str, int]) -> float | None:
    """A formula of the table at some numbers: `3`, `k + 1`, `1 if H >= n, else 2`; infinite for
    `NONE`, and None where it is no number."""
    import sympy

    if formula.strip() == NONE:
        return inf
    if parts := re.fullmatch(r"(.+?),? if (.+?)(?:,? else (.+))?", formula):
        holds = _holds(parts[2], numbers)
        chosen = None if holds is None else parts[1] if holds else parts[3]
        return None if chosen is None else _value(chosen, numbers)
    named = {"ceil": sympy.ceiling, "log2": lambda x: sympy.log(x, 2)}
    letters = {letter: sympy.Integer(number) for letter, number in numbers.items()}
    try:
        value = sympy.sympify(formula.replace("^", "**"), named | letters)
    except (sympy.SympifyError, TypeError):
        return None
    return int(value) if getattr(value, "is_Integer", False) else None


def _holds(condition: str, numbers: dict[str, int]) -> bool | None:
    """Whether a condition of the table holds; None where that is not known."""
    if order := re.fullmatch(r"an element has order (\d+) or more", condition):
        return numbers["order"] >= int(order[1]) if "order" in numbers else None
    parts = re.fullmatch(r"(\w+) (>=|<=|>|<|=) (\w+)", condition)
    if not parts:
        return None
    left, right = (_value(part, numbers) for part in (parts[1], parts[3]))
    if left is None or right is None:
        return None
    return {
        ">=": left >= right,
        "<=": left <= right,
        ">": left > right,
        "<": left < right,
        "=": left == right,
    }[parts[2]]

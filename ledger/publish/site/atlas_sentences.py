"""What the rows of the atlas say in sentences: how deep a task is, by classes of models."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence

from depthlaw.advisor.atlas import NONE, AtlasBound, AtlasRow, formula
from depthlaw.advisor.atlas.formulas import Conditional, Maths, Number, Words, parse, singular

from ..appendix.typesetting import prose

_NUMBERS = ("no", "one", "two", "three", "four", "five", "six", "seven", "eight", "nine")
# Families whose nets answer at once; classes that weights cannot show come last.
_NETS = ("attention", "recurrent", "relu")


def answer(rows: Iterable[AtlasRow], stands: Callable[[AtlasBound], str]) -> list[str]:
    """How deep a task is, in Markdown: a sentence for all classes in which that is the same, those
    first of which this project proves an end.

    Args:
        rows: those of one task.
        stands: what an end stands on, in a word or two of Markdown.
    """
    groups: dict[str, list[AtlasRow]] = {}
    for row in ranked(rows):
        groups.setdefault(_said(row, "{}"), []).append(row)
    return [
        f"{said.replace('{}', _listed([class_name(row.class_.name) for row in own]))} "
        f"({_evidence(own, stands)})."
        for said, own in groups.items()
    ]


def class_name(name: str) -> str:
    """The name of a class in running text, in Markdown: what follows a comma is in brackets.

    >>> class_name("hard attention, both ways"), class_name("one causal head")
    ('hard attention (both ways)', 'one causal head')
    """
    head, _, rest = name.partition(", ")
    return prose(f"{head} ({rest})" if rest else head)


def ranked(rows: Iterable[AtlasRow]) -> list[AtlasRow]:
    """Rows in the order in which they are told: of nets of which this project proves an end first,
    then other nets, then what weights cannot show; equal ones as they come."""
    return sorted(rows, key=_rank)


def _rank(row: AtlasRow) -> tuple[bool, bool, int]:
    ends = [end for end in (row.lower, row.upper) if end]
    evidence = max(2 * (end.ours and end.argued) + bool(end.claim) for end in ends)
    return row.class_.family == "words", row.class_.family not in _NETS, -evidence


def _said(row: AtlasRow, name: str) -> str:
    """The sentence about one row, without its full stop; `name` stands for its classes."""
    unit, needed, suffices = row.class_.unit, row.needed, row.suffices
    least = f"The least number of {unit} is"
    if suffices.startswith(NONE):
        return f"No fixed depth is enough for {name}{_formula(suffices).removeprefix(NONE)}"
    if suffices == "some depth":
        return f"Some fixed depth is enough for {name}"
    if needed.startswith("no fixed number"):
        none, _, premise = _formula(needed).partition(" if ")
        return f"At most {_formula(suffices)} {unit} are enough for {name}, and {none} if {premise}"
    if parse(needed) == parse(suffices):
        number = parse(needed)
        if isinstance(number, Number):
            return _constant(number.number, unit, name)
        return f"{least} {_least(suffices)} for {name}"
    low, high = parse(needed), parse(suffices)
    if suffices == "-" and not isinstance(low, Conditional):
        return f"At least {_many(needed, unit)} needed for {name}"
    if needed == "-" and not isinstance(high, Conditional):
        return f"{capital(_many(suffices, unit))} enough for {name}"
    if "-" in (needed, suffices):
        end = f"at least {_least(needed)}" if suffices == "-" else f"at most {_least(suffices)}"
        return f"{least} {end} for {name}"
    if isinstance(low, Number) and isinstance(high, Maths):
        return f"{least} between {_formula(needed)} and {_formula(suffices)} for {name}"
    return f"{least} at least {_least(needed)} and at most {_least(suffices)} for {name}"


def _constant(number: int, unit: str, name: str) -> str:
    words = [f"{_NUMBERS[n]} {unit if n != 1 else singular(unit)}" for n in (number, number - 1)]
    if number == 1:
        return f"{capital(words[0])} is enough for {name}"
    fewer = f"{_NUMBERS[number - 1]} {'is' if number == 2 else 'are'} not"
    return f"{capital(words[0])} are enough, and {fewer}, for {name}"


def _least(depth: str) -> str:
    """A depth behind "is", with a comma where a condition ends."""
    tree = parse(depth)
    article = "the " if isinstance(tree, Words) else ""
    order = "of " if depth.startswith("order ") else ""
    return f"{order}{article}{_formula(depth)}{',' if isinstance(tree, Conditional) else ''}"


def _many(depth: str, unit: str) -> str:
    """So many layers, and their verb."""
    tree = parse(depth)
    number = tree.number if isinstance(tree, Number) else None
    many = _formula(depth) if number is None else _NUMBERS[number]
    return f"{many} {singular(unit)} is" if number == 1 else f"{many} {unit} are"


def _formula(depth: str) -> str:
    return prose(formula(depth, latex=True))


def _evidence(rows: Iterable[AtlasRow], stands: Callable[[AtlasBound], str]) -> str:
    """What ends of some rows stand on: once where it is the same for both."""
    rows = list(rows)
    low, high = (
        ", ".join(dict.fromkeys(stands(end) for end in ends if end))
        for ends in ([row.lower for row in rows], [row.upper for row in rows])
    )
    if low == high or not (low and high):
        return low or high
    return f"needed: {low}; enough: {high}"


def _listed(names: Sequence[str]) -> str:
    """Names as a sentence lists them.

    >>> _listed(["a"]), _listed(["a", "b"]), _listed(["a", "b", "c"])
    ('a', 'a and b', 'a, b and c')
    """
    return " and ".join([*filter(None, [", ".join(names[:-1])]), names[-1]])


def capital(text: str) -> str:
    """Text as a sentence begins, unless with a letter of a formula.

    >>> capital("two layers"), capital("k hops")
    ('Two layers', 'k hops')
    """
    return text[0].upper() + text[1:] if text[1:2].isalpha() else text

"""How many layers the atlas says that a task needs and how many suffice, at numbers, and how a net
or a lower bound compares with that."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from difflib import get_close_matches
from enum import StrEnum
from math import inf
from pathlib import Path
from typing import Any

from depthlaw.advisor.atlas import OURS, Atlas, AtlasBound, AtlasClass, AtlasRow, AtlasTask, atlas
from depthlaw.advisor.atlas.formulas import NoNumber, letters, parse, value
from depthlaw.advisor.base.quantities import UsageError, quoted

from .tasks import lengths_of, outside, parameters_of, tasks_of


class Result(StrEnum):
    """The outcome of comparing a net or a bound with what is known."""

    WRONG = "wrong"
    NOT_VERIFIED = "not verified"
    NO_ROW = "no record to compare with"
    # Of nets.
    CONTRADICTS_LOWER = "contradicts a lower bound"
    NO_UPPER = "no number of layers that suffice is known to the table"
    MORE = "more than the table"
    AS_MANY = "as many as the table"
    NOT_THE_LEAST = "fewer than the table, which is not the least"
    FEWER = "fewer than the table"
    FEWER_ON_SHORT_WORDS = "fewer than the table on short words"
    # Of lower bounds.
    CONTRADICTS_UPPER = "contradicts an upper bound"
    NO_LOWER = "no lower end is known to the table"
    RECORD = "a record"
    EQUAL = "equal"
    WEAKER = "weaker"


@dataclass(frozen=True)
class End:
    """An end at numbers.

    Attributes:
        value: so many layers; infinite where no depth suffices; `NoNumber` says why it is none.
        depth: the formula of the table; "" for what was decided here.
        source: key of the bibliography, "depthlaw" for ours, or what decided it.
        mark: how it is known; "" for what was decided here.
        verdict: what it stands on.
        note: conditions, doubts.
        argued: whether a claim about all of it is proved or argued for all sizes.
        improvable: whether fewer are known to suffice in some cases.
    """

    value: int | float | NoNumber
    depth: str
    source: str
    mark: str
    verdict: str
    note: str
    argued: bool
    improvable: bool = False

    @property
    def number(self) -> int | float | None:
        """Its value, where that is a number."""
        return None if isinstance(self.value, NoNumber) else self.value

    @property
    def attribution(self) -> str:
        """Who says it, and how that is known."""
        return ", ".join(filter(None, ["ours" if self.source == OURS else self.source, self.mark]))

    @classmethod
    def decided(cls, layers: int | float | None, by: str) -> End | None:
        """An end that is decided exactly for one function or language; None for None."""
        return None if layers is None else cls(layers, "", by, "", "decided", "", True)


@dataclass(frozen=True)
class Ends:
    """The layers that a task is known to need, and those that suffice, in a class at numbers.

    Attributes:
        task: its key; a regular expression for a language.
        class_: key of the class.
        known: whether the atlas has a row for it.
        lower, upper: how many layers are needed, and suffice; None where no bound is known.
    """

    task: str
    class_: str
    known: bool
    lower: End | None
    upper: End | None

    @property
    def needed(self) -> int | float | None:
        """So many layers are needed, infinite where no depth suffices; None for no number."""
        return self.lower.number if self.lower else None

    @property
    def suffices(self) -> int | float | None:
        """So many layers suffice; None for no number."""
        return self.upper.number if self.upper else None

    @property
    def gap(self) -> str:
        """A word of `advisor.atlas.GAPS`, at these numbers."""
        if self.needed is None or (self.needed < inf and self.needed != self.suffices):
            return "open"
        ends = [end for end in (self.lower, self.upper) if end]
        return "closed" if all(end.argued for end in ends) else "ends meet"

    def of_net(self, layers: int, whole: bool) -> Result:
        """Compare a net of so many layers; `whole`: it is right on all that the task asks."""
        if not self.known:
            return Result.NO_ROW
        if self.needed is not None and layers < self.needed:
            return Result.CONTRADICTS_LOWER
        if self.upper is None or self.suffices is None:
            return Result.NO_UPPER
        if layers >= self.suffices:
            return Result.AS_MANY if layers == self.suffices else Result.MORE
        if self.upper.improvable:
            return Result.NOT_THE_LEAST
        return Result.FEWER if whole else Result.FEWER_ON_SHORT_WORDS

    def of_bound(self, needed: int) -> Result:
        """Compare a bound that shows so many layers to be needed."""
        if not self.known:
            return Result.NO_ROW
        if self.suffices is not None and needed > self.suffices:
            return Result.CONTRADICTS_UPPER
        if self.needed is None:
            return Result.NO_LOWER
        if needed > self.needed:
            return Result.RECORD
        return Result.EQUAL if needed == self.needed else Result.WEAKER


def at(task: str, class_: str, *, tables: str | Path | None = None, **numbers: int | str) -> Ends:
    """What the atlas knows of a task in a class at numbers: the sharpest of all rows whose tasks it
    is a case of.

    Args:
        task, class_: keys of the atlas.
        tables: a folder with tables of a user's own, which extend the atlas.
        numbers: what letters of formulas stand for (k=3), or a `group`.

    Raises:
        UsageError: for an unknown task, class or letter.

    >>> found = at("dyck", "uhat-right", D=3)
    >>> found.needed, found.suffices, found.gap, found.lower.verdict
    (4, 4, 'closed', 'PROVED')
    >>> at("group-words", "deltanet", group="S3").suffices
    2
    """
    found = rows_at(task, class_, tables, numbers)
    return found[0] if found else Ends(task, class_, False, None, None)


def rows_at(
    task: str | None, class_: str | None, tables: str | Path | None, numbers: Mapping[str, Any]
) -> list[Ends]:
    """What is known at numbers: of one task or of all, in one class or in all.

    Raises:
        UsageError: for an unknown task, class or letter, and for numbers without a task.
    """
    known = atlas(None if tables is None else Path(tables))
    if class_ is not None:
        class_of(class_, known)
    if numbers and task is None:
        raise UsageError("letters have a meaning in a task; name the task, too")
    names = [*known.tasks] if task is None else list(tasks_of(task, numbers))
    rows = [row for name in names for row in known.rows(name) if class_ in (None, row.class_.key)]
    if task is None:
        return [_of_rows(row.task.key, row.class_.key, [row], {}) for row in rows]
    whole = _whole_numbers(known.tasks[task], numbers, rows)
    keys = dict.fromkeys(row.class_.key for row in rows)
    return [ends_of_task(task, key, whole, known) for key in keys]


def class_of(key: Any, known: Atlas) -> AtlasClass:
    """A class by its key.

    Raises:
        UsageError: for what is none, with the nearest one.
    """
    if not isinstance(key, str) or key not in known.classes:
        near = get_close_matches(str(key), known.classes, n=1)
        hint = f"did you mean {near[0]}?" if near else f"accepted are {', '.join(known.classes)}"
        raise UsageError(f"unknown class {quoted(str(key))}; {hint}")
    return known.classes[key]


def _whole_numbers(
    task: AtlasTask, numbers: Mapping[str, Any], rows: Iterable[AtlasRow]
) -> dict[str, Any]:
    """What was given for letters, as whole numbers, and a group by its name."""
    ends = [end for row in rows for end in (row.lower, row.upper) if end]
    accepted = sorted({*(x for end in ends for x in letters(parse(end.depth)))} | {"H"})
    whole = {}
    for letter, number in numbers.items():
        if letter not in (*accepted, *parameters_of(task.key)):
            raise UsageError(
                f"the task {task.key} has no letter {quoted(letter)}; accepted are "
                + ", ".join(dict.fromkeys([*accepted, *parameters_of(task.key)]))
            )
        whole[letter] = number if letter == "group" else _whole(letter, number)
    if less := outside(task, {k: v for k, v in whole.items() if k != "group"}):
        raise UsageError(f"the task {task.key} asks for {less}; give numbers that meet it")
    return whole


def _whole(letter: str, number: Any) -> int:
    try:
        whole = int(number)
    except (TypeError, ValueError, OverflowError):
        whole = None
    if whole is None or isinstance(number, bool | str) or whole != number:
        raise UsageError(f"{letter} is {quoted(str(number))}; give a whole number")
    return whole


def ends_of_task(
    task: str, class_: str, parameters: Mapping[str, Any], known: Atlas, heads: int | None = None
) -> Ends:
    """`at`, of parameters that were read already and the most heads of a layer."""
    names = tasks_of(task, parameters)
    rows = [row for name in names for row in known.rows(name) if row.class_.key == class_]
    numbers = {k: v for k, v in parameters.items() if isinstance(v, int)}
    if "group" in parameters:
        numbers |= lengths_of(parameters["group"])
    return _of_rows(task, class_, rows, numbers if heads is None else numbers | {"H": heads})


def _of_rows(task: str, class_: str, rows: list[AtlasRow], numbers: Mapping[str, int]) -> Ends:
    """The sharpest count of all rows: S3 is a solvable group, and a dihedral one."""
    uppers = [end_at(row.upper, numbers) for row in rows if row.upper]
    lowers = [end_at(row.lower, numbers) for row in rows if row.lower]
    upper = min(uppers, key=lambda end: inf if end.number is None else end.number, default=None)
    most = inf if upper is None or upper.number is None else upper.number
    # The lower end of a wider task may have a condition, which its note names.
    own = [end for end in lowers if len(rows) == 1 or end.number is None or end.number <= most]
    lower = max(own, key=lambda end: -1 if end.number is None else end.number, default=None)
    return Ends(task, class_, bool(rows), lower, upper)


def end_at(bound: AtlasBound, numbers: Mapping[str, int]) -> End:
    """A bound of the atlas at numbers."""
    return End(
        value(bound.depth, numbers),
        bound.depth,
        bound.source,
        bound.mark,
        bound.verdict,
        bound.note,
        bound.argued,
        bound.least == "no",
    )

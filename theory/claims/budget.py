"""What expensive runs take, for suites that work within a budget of memory and time, and tables of
what they found."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from datetime import timedelta
from typing import TYPE_CHECKING, NamedTuple, Protocol

if TYPE_CHECKING:
    from collections.abc import Sequence
    from typing import Any

    from .values import Case, Measured
    from .verdict import Decision


@dataclass(frozen=True)
class Cost:
    """What measuring one case takes.

    Attributes:
        work: kind -> units of it; reports print the kinds "operations" and "bytes" (moved).
        prepared: the same, for what a process makes once for all cases of a group.
        least_bytes: of memory without which it cannot be done.
        peak_bytes: of memory with which nothing has to go to disk.
    """

    work: Mapping[str, float]
    prepared: Mapping[str, float] = field(default_factory=dict)
    least_bytes: int = 0
    peak_bytes: int = 0

    def seconds(self, rates: Mapping[str, float], *, first: bool = True) -> float:
        """The expected time at these rates; `first`: with what is made once for a group."""
        work = [*self.work.items(), *(self.prepared.items() if first else ())]
        return sum(units / rates[kind] for kind, units in work)


@dataclass(frozen=True)
class Plan:
    """What the runs of a claim take; claims that share a plan are planned together. Their functions
    name `memory`.

    Attributes:
        cost: (case) -> what it takes.
        rates: kind of work -> units per second of one process, on some machine.
        group: the fields whose values name a case's group: cases that share what is prepared.
    """

    cost: Callable[[Case], Cost]
    rates: Mapping[str, float]
    group: tuple[str, ...]

    def group_of(self, case: Case) -> tuple[Any, ...]:
        """The group of a case."""
        return tuple(case.get(name) for name in self.group)


class TableRow(Protocol):
    """What a table is made of: a case, what was measured there, how that was judged, and the
    records behind it."""

    @property
    def case(self) -> Case:
        """Where it was measured."""

    @property
    def measured(self) -> Measured | None:
        """The value; None: not recorded."""

    @property
    def decision(self) -> Decision:
        """The verdict on the case."""

    @property
    def records(self) -> Sequence[Any]:
        """Records, each with its `facts`."""


class ClaimTable(NamedTuple):
    """A table of a claim's own, which reports print besides its verdict.

    Attributes:
        title, columns: one line, and headings.
        rows: cells, one for each column: text, and durations, which each report prints in its way.
        legend: what the columns mean.
        words: the headings of columns that hold words; numbers stand to the right.
    """

    title: str
    columns: tuple[str, ...]
    rows: tuple[tuple[str | timedelta, ...], ...]
    legend: str
    words: tuple[str, ...] = ()

"""How deep a net must be for a task: constructions that suffice, lower bounds that are known."""
from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

Meaning = Literal["minimum", "exact", "suffices", "claimed"]


@dataclass(frozen=True)
class TaskNumber:
    """A number of layers for a task, and whose it is."""

    layers: int
    meaning: Meaning  # what the number claims to be
    name: str  # of the construction or the bound
    rule: str  # the formula
    regime: str  # for which nets
    source: str  # bibliography key, version, place
    wording: str  # printed, reported, recalled, derived
    certainty: str  # how far to trust it
    claim: str | None = None  # key of the claim that tests it


@dataclass(frozen=True)
class TaskAnswer:
    """What is known of the depth that one task needs."""

    task: str  # connectivity, hops, regular
    question: str  # as it was understood
    headline: str  # the answer in one line
    remarks: tuple[str, ...]  # what else there is to know, most wanted first
    numbers: tuple[TaskNumber, ...]
    labels: tuple[str, ...] = ()  # in front of the numbers, in place of their layers

"""How deep a net must be for a task: constructions that suffice, lower bounds that are known.

Exact, suffices, claimed and measured are different things; they stand side by side, each under its
own name. The words stand in task_depths.json.
"""

from __future__ import annotations

import json
from dataclasses import dataclass
from difflib import get_close_matches
from functools import partial
from pathlib import Path
from typing import Any, Literal

from . import atlas, laws
from .base.quantities import UsageError, parse_count, quoted
from .layout import Sentences

Meaning = Literal["exact", "suffices", "claimed", "measured"]
# What can be asked, and how.
TASKS = {
    "connectivity": "connectivity --diameter 64",
    "hops": "hops --hops 16",
    "regular": "regular --length 1024",
}
# Which task an option belongs to.
OPTIONS = {
    "diameter": "connectivity",
    "vertices": "connectivity",
    "hops": "hops",
    "length": "regular",
}
_NEEDED = {"connectivity": "diameter", "hops": "hops", "regular": "length"}


@dataclass(frozen=True)
class TaskNumber:
    """A number of layers for a task, and whose it is."""

    layers: int
    meaning: Meaning  # what the number claims to be
    name: str  # of the construction
    rule: str  # the formula
    regime: str  # for which nets
    source: str  # bibliography key, version, place
    wording: str  # how the wording of the source is known: printed, reported, recalled, derived
    certainty: str  # how far to trust it here, for those who ask
    claim: str | None = None  # key of the claim that tests it
    extrapolated: bool = False  # outside what the source measured


@dataclass(frozen=True)
class TaskAnswer:
    """What is known of the depth that one task needs."""

    task: str  # a key of TASKS
    question: str  # as it was understood
    headline: str  # the answer in one line
    remarks: tuple[str, ...]  # what else there is to know, most wanted first
    numbers: tuple[TaskNumber, ...]
    labels: tuple[str, ...] = ()  # in front of the numbers, in place of their layers
    sure: str = ""  # how far that can be trusted, in short
    changes: str = ""  # what would change it, in short


def answer_task(
    task: str, known_by: int | None = None, tables: Path | None = None, **typed: str | None
) -> TaskAnswer:
    """The depth that a task needs, from what was typed: of three tasks in numbers, of any other
    task of the atlas as it stands there.

    Args:
        task: "connectivity", with `diameter`, `vertices` or both (n vertices have a diameter of at
            most n - 1); "hops", with `hops`; "regular", with `length`; or a key of `atlas.tasks`.
        known_by: of a task of the atlas, what was known at the end of that year.
        tables: a folder with tables of a user's own, which extend the atlas.
        typed: these options.

    Raises:
        UsageError: when something is missing, unknown or unreadable.

    >>> answer_task("hops", hops="16").headline
    '6 layers suffice for 16 hops: ceil(log_2 k) + 2'
    """
    known, every = task.strip().lower(), atlas.atlas(tables)
    if known not in TASKS and known in every.tasks:
        refuse_options(typed)
        return _from_atlas(known, known_by, every, tables)
    if known not in TASKS:
        spelt = get_close_matches(known, {**TASKS, **every.tasks}, n=1)
        nearest, *_ = spelt or every.nearest_tasks(known) or ["connectivity"]
        raise UsageError(
            f"unknown task {quoted(task)}; accepted are connectivity, hops, regular and those that "
            f"`depthlaw tasks` lists; try --task {TASKS.get(nearest, nearest)}"
        )
    refuse_options({name: value for name, value in typed.items() if OPTIONS[name] != known})
    needed = typed.get(_NEEDED[known])
    count = None
    if (vertices := typed.get("vertices")) is not None:
        count = parse_count(vertices, "number of vertices", "--vertices 100")
        if needed is None:
            return for_connectivity(count - 1, count)
    if needed is None:
        raise UsageError(f"the task {known} needs --{_NEEDED[known]}; try --task {TASKS[known]}")
    if known == "hops":
        return for_hops(parse_count(needed, "number of hops", "--hops 16"))
    if known == "regular":
        return for_regular(parse_count(needed, "length", "--length 1024"))
    return for_connectivity(parse_count(needed, "diameter", "--diameter 64", least=0), count)


def _from_atlas(
    key: str, known_by: int | None, known: atlas.Atlas, tables: Path | None
) -> TaskAnswer:
    rows = list(known.rows(key, known_by))
    if not rows:
        raise UsageError(f"no bound of {key} was known by {known_by}; try a later year")
    task, more = known.tasks[key], f" --atlas {tables}" if tables else ""
    many = f"{len(rows)} classes, defines them" if len(rows) > 1 else "one class, defines it"
    return TaskAnswer(
        key,
        f"Task: {task.name}. {task.definition}",
        f"It depends on the class of models; `depthlaw tasks list {key}{more}` has bounds for "
        f"{many} and names sources",
        tuple(f"{row.class_.name}: {row.summary}; {row.checked}." for row in rows),
        (),
        sure=_TEXTS["atlas"]["sure"],
    )


def refuse_options(typed: dict[str, str | None]) -> None:
    """Options of tasks (diameter, vertices, hops, length) that were given without their task.

    Raises:
        UsageError: for the first that is not None.
    """
    for name, value in typed.items():
        if value is not None:
            task = OPTIONS[name]
            raise UsageError(f"--{name} belongs to the task {task}; try --task {TASKS[task]}")


def for_connectivity(diameter: int, vertices: int | None = None) -> TaskAnswer:
    """Layers to decide connectivity in graphs whose components have diameter at most D.

    Args:
        vertices: n, which one of two architectures depends on; by default it is asked for, and the
            number is given at the least n = D + 1.

    Raises:
        UsageError: when n vertices cannot have diameter D.

    >>> [number.layers for number in for_connectivity(64, 128).numbers]
    [4, 32]
    """
    least = diameter + 1
    n = least if vertices is None else vertices
    if n < least:
        raise UsageError(
            f"a component of diameter {diameter} has at least {least} vertices, "
            f"not {n}; try --vertices {least}"
        )
    layers = {"reach": laws.layers_for_diameter(diameter), "doubling": laws.universal_layers(n)}
    known = {"diameter": diameter, "n": n, "seen": diameter <= 1, "given": vertices is not None}
    return _answer("connectivity", layers, largest=laws.LARGEST_DIAMETER, **known)


def for_hops(hops: int) -> TaskAnswer:
    """Layers to follow k hops (the k-fold induction heads task).

    >>> [(number.layers, number.meaning) for number in for_hops(5).numbers]
    [(4, 'claimed'), (5, 'suffices')]
    """
    printed, corrected = laws.layers_for_hops_printed(hops), laws.layers_for_hops(hops)
    differ, executed = printed != corrected, laws.LARGEST_EXECUTED
    layers = {"corrected": corrected} | ({"printed": printed} if differ else {})
    known = {"differ": differ, "fails": hops > 1, "beyond": hops > executed}
    return _answer("hops", layers, hops=hops, printed=printed, executed=executed, **known)


def for_regular(length: int) -> TaskAnswer:
    """Layers to recognise a regular language (to track a finite state) on words of n letters.

    >>> [(number.layers, number.meaning) for number in for_regular(64).numbers]
    [(29, 'suffices'), (57, 'suffices'), (13, 'measured')]
    """
    own, looped = (laws.layers_for_regular(length, shared) for shared in (False, True))
    trained = laws.trained_layers_for_a5(length)
    fewest, most = laws.A5_DEPTHS
    layers = {"own": own, "looped": looped, "measured": max(1, round(trained))}
    outside = () if fewest <= trained <= most else ("measured",)
    known = {"length": length, "trained": trained, "fewest": fewest, "most": most}
    fit = {"slope": laws.A5_SLOPE, "below": -laws.A5_INTERCEPT}
    return _answer("regular", layers, outside, **known, **fit)


# The texts of an answer, with the places of its numbers in braces.
_TEXTS: dict[str, Any] = json.loads(
    Path(__file__).with_name("task_depths.json").read_text(encoding="utf-8")
)


def _answer(
    task: str, layers: dict[str, int], extrapolated: tuple[str, ...] = (), /, **known: Any
) -> TaskAnswer:
    """The texts of a task with its numbers, of constructions whose layers are known."""
    texts, filled = _TEXTS[task], partial(Sentences().format, **known | layers)

    def number(row: dict[str, str]) -> TaskNumber:
        said: dict[str, Any] = {name: filled(text) for name, text in row.items()}
        outside = row["layers"] in extrapolated
        return TaskNumber(**said | {"layers": layers[row["layers"]], "extrapolated": outside})

    return TaskAnswer(
        task,
        filled(texts["question"]),
        filled(texts["headline"]),
        tuple(map(filled, texts["remarks"])),
        tuple(number(row) for row in texts["numbers"] if row["layers"] in layers),
        tuple(texts["labels"]),
        filled(texts["sure"]),
        filled(texts["changes"]),
    )

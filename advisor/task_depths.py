"""How deep a net must be for a task: constructions that suffice, lower bounds that are known.

Exact, suffices, claimed and measured are different things; they stand side by side, each under its
own name. The words stand in task_depths.json.
"""

from __future__ import annotations

import json
from dataclasses import dataclass
from difflib import get_close_matches
from pathlib import Path
from typing import Any, Literal

from . import atlas, laws
from .base.quantities import UsageError, parse_count, plural, quoted

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


def answer_task(task: str, known_by: int | None = None, **typed: str | None) -> TaskAnswer:
    """The depth that a task needs, from what was typed: of three tasks in numbers, of any other
    task of the atlas as it stands there.

    Args:
        task: "connectivity", with `diameter`, `vertices` or both (n vertices have a diameter of at
            most n - 1); "hops", with `hops`; or
            "regular", with `length`; or a key of `atlas.tasks`.
        known_by: of a task of the atlas, what was known at the end of that year.
        typed: these options.

    Raises:
        UsageError: when something is missing, unknown or unreadable.

    >>> answer_task("hops", hops="16").headline
    '6 layers suffice for 16 hops: ceil(log_2 k) + 2'
    """
    known = task.strip().lower()
    if known not in TASKS and known in atlas.tasks():
        refuse_options(typed)
        return _from_atlas(known, known_by)
    if known not in TASKS:
        spelt = get_close_matches(known, {**TASKS, **atlas.tasks()}, n=1)
        nearest, *_ = spelt or atlas.atlas().nearest_tasks(known) or ["connectivity"]
        raise UsageError(
            f"unknown task {quoted(task)}; accepted are connectivity, hops, regular and those that "
            f"`depthlaw tasks` lists; try --task {TASKS.get(nearest, nearest)}"
        )
    refuse_options({name: value for name, value in typed.items() if OPTIONS[name] != known})
    needed = typed.get(_NEEDED[known])
    vertices = typed.get("vertices")
    count = (
        None if vertices is None else parse_count(vertices, "number of vertices", "--vertices 100")
    )
    if needed is None and count is not None:
        return for_connectivity(count - 1, count)
    if needed is None:
        raise UsageError(f"the task {known} needs --{_NEEDED[known]}; try --task {TASKS[known]}")
    if known == "hops":
        return for_hops(parse_count(needed, "number of hops", "--hops 16"))
    if known == "regular":
        return for_regular(parse_count(needed, "length", "--length 1024"))
    return for_connectivity(parse_count(needed, "diameter", "--diameter 64", least=0), count)


def _from_atlas(key: str, known_by: int | None) -> TaskAnswer:
    rows = list(atlas.atlas_rows(key, known_by))
    if not rows:
        raise UsageError(f"nothing was known of {key} by {known_by}; try a later year")
    task = atlas.tasks()[key]
    return TaskAnswer(
        key,
        f"Task: {task.name}. {task.definition}",
        f"It depends on the class of models, of which the atlas has {len(rows)}; "
        f"`depthlaw tasks list {key}` defines them and names sources",
        tuple(f"{row.class_.name}: {row.summary}; {row.checked}." for row in rows),
        (),
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
    if vertices is not None and vertices < least:
        raise UsageError(
            f"a component of diameter {diameter} has at least {least} vertices, "
            f"not {vertices}; try --vertices {least}"
        )
    n = vertices or least
    reach, doubling = laws.layers_for_diameter(diameter), laws.universal_layers(n)
    rule = f"ceil(log_3 D) = {reach}, the least L with 3^L >= {diameter:,}"
    unknown = "" if vertices else ", at the least n for this diameter; give yours by --vertices"
    second = plural(doubling, "layer") if vertices else "18 + 2 ceil(log_2 n) layers"
    return _answer(
        "connectivity",
        {"reach": reach, "doubling": doubling},
        diameter=diameter,
        n=n,
        rule="0 layers: the input already shows it" if diameter <= 1 else rule,
        unknown=unknown,
        second=second,
        reach_layers=plural(reach, "layer"),
        largest=laws.LARGEST_DIAMETER,
    )


def for_hops(hops: int) -> TaskAnswer:
    """Layers to follow k hops (the k-fold induction heads task).

    >>> [(number.layers, number.meaning) for number in for_hops(5).numbers]
    [(4, 'claimed'), (5, 'suffices')]
    """
    printed, corrected = laws.layers_for_hops_printed(hops), laws.layers_for_hops(hops)
    executed = laws.LARGEST_EXECUTED
    layers = {"corrected": corrected} | ({"printed": printed} if printed != corrected else {})
    known = {"printed": printed, "executed": executed}
    claimed = _TEXTS["hops"]["claimed"][2 if printed != corrected else int(hops > 1)]
    return _answer(
        "hops",
        layers,
        **known,
        asked=plural(hops, "hop"),
        corrected_layers=plural(corrected, "layer"),
        claimed=claimed.format(**known),
        limits=_TEXTS["hops"]["limits"].format(**known) if hops > executed else "",
    )


def for_regular(length: int) -> TaskAnswer:
    """Layers to recognise a regular language (to track a finite state) on words of n letters.

    >>> [(number.layers, number.meaning) for number in for_regular(64).numbers]
    [(29, 'suffices'), (57, 'suffices'), (13, 'measured')]
    """
    own, looped = (laws.layers_for_regular(length, shared) for shared in (False, True))
    trained = laws.trained_layers_for_a5(length)
    fewest, most = laws.A5_DEPTHS
    return _answer(
        "regular",
        {"own": own, "looped": looped, "measured": max(1, round(trained))},
        () if fewest <= trained <= most else ("measured",),
        letters=plural(length, "letter"),
        slope=laws.A5_SLOPE,
        below=-laws.A5_INTERCEPT,
        trained=trained,
        fewest=fewest,
        most=most,
    )


# The texts of an answer, with the places of its numbers in braces.
_TEXTS: dict[str, Any] = json.loads(
    Path(__file__).with_name("task_depths.json").read_text(encoding="utf-8")
)


def _answer(
    task: str, layers: dict[str, int], extrapolated: tuple[str, ...] = (), /, **known: Any
) -> TaskAnswer:
    """The texts of a task with its numbers, of constructions whose layers are known."""
    texts, known = _TEXTS[task], known | layers

    def number(row: dict[str, str]) -> TaskNumber:
        filled: dict[str, Any] = {name: text.format(**known) for name, text in row.items()}
        outside = row["layers"] in extrapolated
        return TaskNumber(**filled | {"layers": layers[row["layers"]], "extrapolated": outside})

    return TaskAnswer(
        task,
        texts["question"].format(**known),
        texts["headline"].format(**known),
        tuple(remark.format(**known) for remark in texts["remarks"]),
        tuple(number(row) for row in texts["numbers"] if row["layers"] in layers),
        tuple(texts["labels"]),
    )

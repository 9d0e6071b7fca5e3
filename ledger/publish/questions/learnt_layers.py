"""Layers that training takes for tasks of the atlas, beside those needed and sufficient."""

from __future__ import annotations

from collections.abc import Iterator

from depthlaw.theory.claims.definition import Case
from depthlaw.theory.claims.values import Ball

from ..drawing.panels import Found, Panel, Series, rows
from .question import keys, question

_LEARNT = keys("trained_depth", "sufficient_is_learnt necessary_binds_training")


# What tasks of the atlas are called, by sizes of a case.
_CALLED = {
    "letters": "at least {size} letters 1",
    "brackets": "brackets to depth {size}",
    "stair": "{size} zeros in a row, twos left out",
    "blocks": "{size} blocks",
    "composition": "{size} maps in context",
    "kgram": "conditional {size}-grams",
    "S3 words": "products in S_3",
    "A5 words": "products in A_5",
}


def _called(case: Case) -> str:
    return _CALLED.get(str(case.task), str(case.task)).format(**case.fields())


def _by_task(results: Found) -> dict[str, dict[str, Ball]]:
    """Least depths by the best, the median and the worst seed of each task that is recorded."""
    tasks: dict[str, dict[str, Ball]] = {}
    for case, value in rows(results, *_LEARNT):
        if isinstance(value, Ball):
            tasks.setdefault(_called(case), {})[str(case.seeds)] = value
    return {task: seeds for task, seeds in tasks.items() if len(seeds) == 3}


def _learnt_says(results: Found) -> Iterator[str]:
    bounds = {
        _called(c): (c.needed, c.enough, c.updates, c.tried) for c, _ in rows(results, *_LEARNT)
    }
    kinds: dict[str, list[str]] = {"none": [], "more": [], "as many": [], "fewer": [], "open": []}
    for task, seeds in _by_task(results).items():
        median, (needed, enough, _, tried) = seeds["median"], bounds[task]
        found = {
            "none": seeds["best"].low > tried,
            "more": median.low > enough,
            "fewer": median.high < needed,
            "as many": median.low >= needed and median.high <= enough,
        }
        kinds[next((kind for kind, holds in found.items() if holds), "open")].append(task)
    said = {
        "more": "more layers than suffice",
        "as many": "as many layers as are needed and suffice",
        "fewer": "fewer layers than the class near by needs (for some, only at all lengths)",
    }
    for kind, tasks in kinds.items():
        if tasks:
            _, _, updates, tried = bounds[tasks[0]]
            names = "; ".join(tasks)
            if kind == "none":
                yield f"With 1 to {tried} layers no seed learns by {updates:,} updates: {names}."
            elif kind == "open":
                yield f"Open, at the level of the verdicts: {names}."
            else:
                yield f"By {updates:,} updates half of the seeds take {said[kind]}: {names}."


@question("learnt-layers", says=_learnt_says)
def _learnt_layers(results: Found) -> Iterator[Panel]:
    tasks = _by_task(results)
    bounds = {_called(c): (c.needed, c.enough) for c, _ in rows(results, *_LEARNT)}
    places = range(1, len(tasks) + 1)
    if not tasks:
        return
    low = tuple(float(seeds["best"].low) for seeds in tasks.values())
    middle = tuple(float(s["median"].low + s["median"].high) / 2 for s in tasks.values())
    high = tuple(float(seeds["worst"].high) for seeds in tasks.values())
    label = "trained (best to all)"
    series = [Series(label, tuple(places), middle, low, high, "points")]
    for end, word in enumerate(("needed", "that suffice")):
        depths = tuple(bounds[task][end] for task in tasks)
        name = f"layers {word}"
        series.append(Series(name, tuple(places), depths, kind="points"))
    title, y_label = "Layers that training takes", "layers"
    yield Panel(title, "", y_label, tuple(series), x_names=tuple(tasks))

"""The exercises of the text."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator

from depthlaw.empirics.exercises import (
    depth_ablation,
    gradient_flow,
    initial_scales,
    layer_probing,
    remove_layer,
)
from depthlaw.empirics.exercises.exercise import exercises
from depthlaw.theory.claims.definition import Case
from depthlaw.theory.claims.values import Measured

from ..drawing.panels import Found, Panel, Series, curve, curves, named, rows, split, stated
from .question import Drawn, keys, question

_LOSS = "validation loss, nats per token"


def _exercise(name: str) -> Callable[[Drawn], Drawn]:
    """Title and claims of an exercise stand where it is defined."""
    known = exercises()[name]
    return question(name, {"title": known.title, "claims": known.claims})


@_exercise("depth-ablation")
def _depth_ablation(results: Found) -> Iterator[Panel]:
    deepest, shallowest = depth_ablation.DEPTHS[0], depth_ablation.DEPTHS[-1]
    learnt = rows(results, "exercises/language_models_learn")
    # The deepest net is compared with the wide one alone.
    gains = [row for row in rows(results, "exercises/deeper_is_better") if row[0].depth < deepest]
    yield Panel(
        "Loss against depth",
        "layers",
        _LOSS,
        curves(learnt, "depth", "width", "width {}".format),
        x_scale="log",
    )
    yield Panel(
        "What doubling the depth gains",
        "layers after doubling",
        "loss gained, nats per token",
        (
            *curves(gains, lambda case: 2 * case.depth, "width", lambda _: "measured", "points"),
            stated("no gain", {2 * shallowest: 0.0, deepest: 0.0}),
        ),
        x_scale="log",
    )


@_exercise("initialisation")
def _initialisation(results: Found) -> Iterator[Panel]:
    learnt = rows(results, *keys("exercises", "random_stalls scaled_learn"))
    for title, y_label, part, law, height in (
        (
            "Loss after training",
            _LOSS,
            learnt,
            "equal chances",
            math.log(next((case.vocabulary for case, _ in learnt), 1)),
        ),
        (
            "Variance before training",
            "doublings, first layer to last",
            rows(results, "exercises/variance_is_not_geometric"),
            "doubling with each layer",
            initial_scales.LAYERS - 1.0,
        ),
    ):
        order = sorted(part, key=lambda row: list(initial_scales.OF_NAME).index(_drawn_by(row)))
        values = [(_drawn_by(row), row[1]) for row in order]
        yield named(title, "initialisation", y_label, {"measured": values}, {law: height})


def _drawn_by(row: tuple[Case, Measured]) -> str:
    return str(row[0].initialisation)


@_exercise("gradient-flow")
def _gradient_flow(results: Found) -> Iterator[Panel]:
    layers, left = gradient_flow.LAYERS, float(gradient_flow.LEFT)
    every = rows(results, *keys("exercises", "gradients_vanish residuals_preserve"), depth=layers)
    # Without residuals on the left, with them on the right.
    for (steps, scheme, residual), part in split(every, "steps", "scheme", "residual"):
        stays = {at: 1.0 if residual else left ** (layers - at) for at in range(1, layers + 1)}
        yield Panel(
            f"{'With' if residual else 'Without'} residuals, {scheme}, "
            + (f"{steps} updates" if steps else "not trained"),
            "layer",
            "gradient over that at the last",
            (
                *map(_of_logs, curves(part, "layer", "norm", "norm: {}".format)),
                stated("1" if residual else f"{left}^(L - l)", stays),
            ),
            y_scale="linear" if residual and scheme == "gpt2" and not steps else "log",
        )


def _of_logs(series: Series) -> Series:
    """Geometric means over nets, of logarithms; the last layer is what others are compared with."""
    y, low, high = (
        (*(math.exp(log) for log in part or series.y), 1.0)
        for part in (series.y, series.low, series.high)
    )
    return Series(series.label, (*series.x, gradient_flow.LAYERS), y, low, high)


@_exercise("layer-probing")
def _layer_probing(results: Found) -> Iterator[Panel]:
    ends = {"trained": "embeddings and read-out trained too", "frozen": "nothing else trained"}
    alone = rows(results, "exercises/each_layer_alone_helps")
    yield Panel(
        f"One of {layer_probing.LAYERS} layers trained",
        "layer that is trained",
        "loss taken off, nats per token",
        curves(alone, "layer", "ends", lambda which: ends[which]),
    )
    read = rows(results, "exercises/every_layer_is_read")
    # The current token is read so well that beside it the others would look alike.
    for which, current in (("the current token", True), ("other tokens", False)):
        part = [row for row in read if (row[0].target == "current") is current]
        yield Panel(
            f"Probes of {which}",
            "layer that is read",
            "accuracy above most frequent",
            curves(
                part,
                "layer",
                "target",
                lambda which: "after last copy" if which == "after" else which,
            ),
        )


@_exercise("remove-layer")
def _remove_layer(results: Found) -> Iterator[Panel]:
    added = rows(results, "exercises/every_layer_matters")
    most = remove_layer.LAYERS
    parts = {
        "without this layer": {c.first: v for c, v in added if c.first == c.last},
        "without this layer and all below": {c.last: v for c, v in added if c.first == 1},
        "without all layers above this one": {c.first - 1: v for c, v in added if c.last == most},
    }
    one, *stacks = (curve(label, part) for label, part in parts.items())
    label = "loss added, nats per token"
    yield Panel("One layer removed", "layer", label, tuple(filter(None, [one])), y_scale="log")
    yield Panel("A stack removed", "layer", label, tuple(filter(None, stacks)))

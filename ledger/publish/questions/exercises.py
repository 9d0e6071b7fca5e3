"""The exercises of the text."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator
from itertools import zip_longest

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

from ..drawing.panels import (
    Found,
    Panel,
    Series,
    curve,
    curves,
    middles,
    named,
    rows,
    same_scale,
    split,
    spread,
    stated,
)
from .question import Drawn, Said, keys, question

_LOSS = "validation loss, nats per token"


def _exercise(name: str, says: Said) -> Callable[[Drawn], Drawn]:
    """Title and claims of an exercise stand where it is defined."""
    known = exercises()[name]
    return question(name, {"title": known.title, "claims": known.claims}, says=says)


def _ablation_says(results: Found) -> Iterator[str]:
    """Of the width with most depths."""
    learnt = rows(results, "exercises/language_models_learn")
    line = max(curves(learnt, "depth", "width"), key=lambda of: len(of.x), default=None)
    if line and len(line.x) > 1:
        (first, few), *_, (last, many) = zip(line.x, line.y, strict=True)
        goes = "rises" if many > few else "falls"
        yield (
            f"At width {line.label} the mean loss {goes} from {few:.2f} nats with {first} layers "
            f"to {many:.2f} with {last}."
        )


@_exercise("depth-ablation", _ablation_says)
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


def _losses_say(results: Found) -> Iterator[str]:
    learnt = rows(results, *keys("exercises", "random_stalls scaled_learn"))
    losses = {_drawn_by(row): loss for row in learnt for loss in middles([row])}
    if len(losses) > 1:
        best, worst = (of(losses, key=losses.__getitem__) for of in (min, max))
        yield (
            f"The mean loss ends lowest from {best} weights, at {losses[best]:.2f} nats, "
            f"and highest from {worst}, at {losses[worst]:.2f}."
        )


@_exercise("initialisation", _losses_say)
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


def _gradients_say(results: Found) -> Iterator[str]:
    """The first layer's gradient in the net where it is least, of nets that differ in residuals."""
    least = {}
    for residual, name in enumerate(("gradients_vanish", "residuals_preserve")):
        first = rows(results, f"exercises/{name}", depth=gradient_flow.LAYERS, layer=1)
        if logs := middles(first):
            least[residual] = f"10^{round(min(logs) / math.log(10))}"
    if len(least) == 2:
        yield (
            f"The least gradient of a first layer, over that of the last, is {least[0]} without "
            f"residuals, {least[1]} with them."
        )


@_exercise("gradient-flow", _gradients_say)
def _gradient_flow(results: Found) -> Iterator[Panel]:
    layers, left = gradient_flow.LAYERS, float(gradient_flow.LEFT)
    every = rows(results, *keys("exercises", "gradients_vanish residuals_preserve"), depth=layers)

    def drawn(residual: bool) -> Iterator[Panel]:
        own = [row for row in every if row[0].residual is residual]
        for (steps, scheme), part in split(own, "steps", "scheme"):
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
                y_scale="log",
            )

    # Without residuals on the left, with them on the right; each column on one scale.
    for pair in zip_longest(same_scale(drawn(False)), same_scale(drawn(True))):
        yield from filter(None, pair)


def _of_logs(series: Series) -> Series:
    """Geometric means over nets, of logarithms; the last layer is what others are compared with."""
    y, low, high = (
        (*(math.exp(log) for log in part or series.y), 1.0)
        for part in (series.y, series.low, series.high)
    )
    return Series(series.label, (*series.x, gradient_flow.LAYERS), y, low, high)


def _alone_says(results: Found) -> Iterator[str]:
    takes = middles(rows(results, "exercises/each_layer_alone_helps", ends="frozen"))
    if takes:
        one = f"One layer of {layer_probing.LAYERS}, trained alone,"
        yield f"{one} takes {spread(takes, '.3f')} nats off the loss."


@_exercise("layer-probing", _alone_says)
def _layer_probing(results: Found) -> Iterator[Panel]:
    ends = {"trained": "with embeddings", "frozen": "nothing else"}
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


def _removed_says(results: Found) -> Iterator[str]:
    added = rows(results, "exercises/every_layer_matters")
    one = {c.first: loss for c, v in added if c.first == c.last for loss in middles([(c, v)])}
    if len(one) > 1:
        (most, first), (_, second), *_ = sorted(one.items(), key=lambda item: -item[1])
        yield (
            f"Without layer {most} the loss rises by {first:.2g} nats, without any other single "
            f"layer by {second:.2g} at most."
        )


@_exercise("remove-layer", _removed_says)
def _remove_layer(results: Found) -> Iterator[Panel]:
    added = rows(results, "exercises/every_layer_matters")
    most = remove_layer.LAYERS
    parts = {
        "this layer": {c.first: v for c, v in added if c.first == c.last},
        "it and all below": {c.last: v for c, v in added if c.first == 1},
        "all above it": {c.first - 1: v for c, v in added if c.last == most},
    }
    one, *stacks = (curve(label, part) for label, part in parts.items())
    label = "loss added, nats per token"
    yield Panel("One layer removed", "layer", label, tuple(filter(None, [one])), y_scale="log")
    yield Panel("A stack removed", "layer", label, tuple(filter(None, stacks)))

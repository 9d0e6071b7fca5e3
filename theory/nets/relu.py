"""ReLU nets over numbers given by explicit weights in a file, and compared with a maximum exactly.

A file of the family `relu` has `layers`, each with a `matrix` and perhaps a `bias`, of which the
outputs go through ReLU, and a read-out `out`, a vector, perhaps with `add`, a number. Weights are
rational. Depth is the number of hidden layers.

Whether such a net is the maximum of its n inputs on all of R^n is decided by finite algebra. On
x_i >= x_j >= ..., with the sign of the last one, the inputs are a cone, with one dimension more for
the constant. It is cut along the units of all hidden layers but the last, so that on every part
these layers are linear. Then the net is a linear form and a sum of weighted kinks |l(x)|, one for
each hyperplane that cuts the part; kinks on different hyperplanes are linearly independent, so the
net is x_i there iff all weights cancel and the linear form is x_i. A form is known by its values at
the edges of a cone, and cuts the cone iff these have both signs. Of a net that stays itself when
its inputs are permuted, but for the order of its units, one order of the inputs is enough.
"""

from __future__ import annotations

import itertools
import math
import random
from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from fractions import Fraction
from typing import Any

import numpy as np

from depthlaw.advisor.base.quantities import UsageError, plural, quoted

from .batched import Whole, in_whole_numbers, matmul, small
from .fields import Field

# Inputs whose orders are gone through one by one, and parts into which their cones are cut.
MOST_INPUTS = 7
MOST_PARTS = 50_000

Point = tuple[Fraction, ...]
_Scaled = tuple[Whole, int]  # Rationals as whole numbers, and by what they are divided.


@dataclass(frozen=True)
class Maximum:
    """The task: the maximum of n numbers."""

    n: int


@dataclass(frozen=True)
class ReluNet:
    """Hidden layers, each as rows of weights with the bias last, and the read-out likewise; `body`
    is its JSON."""

    layers: tuple[list[list[Fraction]], ...]
    out: list[Fraction]
    body: Mapping[str, Any] = field(default_factory=dict, repr=False)

    @property
    def depth(self) -> int:
        """Hidden layers."""
        return len(self.layers)

    @property
    def inputs(self) -> int:
        """Numbers that it takes."""
        return len(self.layers[0][0] if self.layers else self.out) - 1

    @property
    def whole(self) -> bool:
        """Whether all weights are integers; biases are none."""
        rows = [*itertools.chain(*self.layers), self.out]
        return all(entry.denominator == 1 for row in rows for entry in row[:-1])

    def value(self, x: Sequence[Fraction | int]) -> Fraction:
        """The output."""
        state = [Fraction(entry) for entry in x]
        for layer in self.layers:
            state = [max(_row(row, state), Fraction(0)) for row in layer]
        return _row(self.out, state)


def _row(row: Sequence[Fraction], state: Sequence[Fraction]) -> Fraction:
    return sum((a * b for a, b in zip(row, state, strict=False)), row[-1])


def relu_net(body: Mapping[str, Any]) -> ReluNet:
    """The net that a JSON object describes.

    Raises:
        UsageError: for what is no number, or of the wrong size; `net_of` says what is missing.
    """
    read, layers = Field().numbers, []
    for layer in body["layers"]:
        matrix = [read(row) for row in layer["matrix"]]
        bias = read(layer.get("bias", [0] * len(matrix)))
        layers.append([[*row, b] for row, b in zip(matrix, bias, strict=True)])
    out = read([*body["out"], body.get("add", 0)])
    sizes = [{len(row) - 1 for row in rows} for rows in (*layers, [out])]
    for place, (given, rows) in enumerate(zip(sizes[1:], layers, strict=True), 1):
        if not rows or len(sizes[place - 1]) != 1 or given != {len(rows)}:
            raise UsageError(f"the weights do not fit the {len(rows)} units of layer {place}")
    return ReluNet(tuple(layers), out, body)


def numbers(task: str, parameters: Mapping[str, Any]) -> int:
    """Of how many numbers a task asks the maximum.

    Raises:
        UsageError: for another task, or numbers that it is not about.
    """
    n = parameters.get("n")
    if task not in ("maximum", "maximum-large"):
        raise UsageError(
            f"nets of the family relu are for the tasks maximum and maximum-large, not "
            f"{quoted(task)}"
        )
    if set(parameters) != {"n"} or not isinstance(n, int) or isinstance(n, bool):
        raise UsageError(f'the task {task} takes one parameter: {{"n": 5}}')
    if (task == "maximum") != (3 <= n <= 8) or n < 3:
        raise UsageError(f"the task {task} is not about the maximum of {plural(n, 'number')}")
    return n


# --- cones ----------------------------------------------------------------------------------------


@dataclass(frozen=True)
class _Cone:
    """A pointed cone: its edges as columns (dimension, edges), and for each the bits of those of
    its walls on which the edge lies."""

    edges: Whole
    walls: tuple[int, ...]
    count: int

    def cut(self, values: Whole) -> Iterator[_Cone]:
        """Both sides of a form that has these values, of both signs, at the edges."""
        bit = 1 << self.count
        signs = np.sign(values.astype(object))
        for side in (1, -1):
            kept = [e for e in range(len(values)) if side * signs[e] >= 0]
            edges = [self.edges[:, e] for e in kept]
            walls = [self.walls[e] | (bit if signs[e] == 0 else 0) for e in kept]
            for up, down in itertools.product(range(len(values)), repeat=2):
                if not (signs[up] > 0 > signs[down]):
                    continue
                common = self.walls[up] & self.walls[down]
                others = (w for e, w in enumerate(self.walls) if e not in (up, down))
                # Edges of one face of dimension two, which no other edge is on.
                if all(common & ~other for other in others):
                    new = values[up] * self.edges[:, down] - values[down] * self.edges[:, up]
                    edges.append(new // math.gcd(*map(int, new)))
                    walls.append(common | bit)
            yield _Cone(np.array(edges, dtype=object).T, tuple(walls), self.count + 1)


def _chambers(n: int, orders: Iterable[tuple[int, ...]]) -> Iterator[tuple[_Cone, int]]:
    """R^n by the order of its coordinates and the sign of the least, and which is largest. The last
    row is that of the constant."""
    for order in orders:
        for sign in (1, -1):
            edges = np.zeros((n + 1, n + 1), dtype=object)
            for count in range(1, n):
                edges[list(order[:count]), count - 1] = 1
            edges[:n, n - 1], edges[n, n] = sign, 1
            all_walls = (1 << (n + 1)) - 1
            yield _Cone(edges, tuple(all_walls ^ (1 << e) for e in range(n + 1)), n + 1), order[0]


def symmetric(net: ReluNet) -> bool:
    """Whether a net with its inputs permuted is the net with its units in another order, for all
    permutations; False too where two units of a layer have the same weights."""
    places = list(range(net.inputs))
    for order in ([1, 0, *places[2:]], [*places[1:], 0]):
        for rows in net.layers:
            moved = {
                (*(row[place] for place in order), row[-1]): unit for unit, row in enumerate(rows)
            }
            if len(moved) < len(rows) or any(tuple(row) not in moved for row in rows):
                return False
            order = [moved[tuple(row)] for row in rows]
        if [net.out[place] for place in order] != net.out[:-1]:
            return False
    return True


# --- the decision ---------------------------------------------------------------------------------


def where_no_maximum(net: ReluNet) -> Point | None:
    """A point at which a net is not the maximum of its inputs; None if it is on all of R^n.

    Cost: n! orders, or one if the net is `symmetric`, each with at least a product of every layer's
    matrix with the edges of a cone.

    Raises:
        UsageError: for more than `MOST_INPUTS` inputs of a net that is not symmetric, or
            `MOST_PARTS` parts.
    """
    orders: Iterable[tuple[int, ...]] = [tuple(range(net.inputs))]
    if not symmetric(net):
        if net.inputs > MOST_INPUTS:
            raise UsageError(
                f"a net that is not symmetric is compared on every order of its inputs, up to "
                f"{MOST_INPUTS} of them; this one has {net.inputs}"
            )
        orders = itertools.permutations(range(net.inputs))
    whole = [
        (top.astype(object), int(bottom[0]))
        for top, bottom in map(in_whole_numbers, (*net.layers, [net.out]))
    ]
    parts = 0
    for chamber, largest in _chambers(net.inputs, orders):
        todo = [chamber]
        while todo:
            cone = todo.pop()
            parts += 1
            if parts > MOST_PARTS:
                raise UsageError(f"the units cut the space into more than {MOST_PARTS:,} parts")
            cut, taken = _last_states(whole, cone)
            if cut is not None:
                todo.extend(cone.cut(cut))
            elif (wrong := _wrong_on(net, whole, cone, largest, taken)) is not None:
                return wrong
    return None


def _through(layer: _Scaled, states: Whole, cone: _Cone, scale: int) -> Whole:
    """The values before ReLU of a layer's units at the edges, times the scale and the layer's
    denominator."""
    return matmul(small(layer[0]), small(np.vstack([states, scale * cone.edges[-1:]])))


def _last_states(whole: Sequence[_Scaled], cone: _Cone) -> tuple[Whole | None, _Scaled]:
    """Values at the edges of a unit of a layer before the last hidden one that cuts the cone, or
    None; then what the last hidden layer takes, and its scale."""
    states, scale = cone.edges[:-1], 1
    for layer in whole[:-2]:
        values = _through(layer, states, cone, scale)
        both = np.flatnonzero((values > 0).any(axis=1) & (values < 0).any(axis=1))
        if both.size:
            return values[both[0]], (states, scale)
        states, scale = np.maximum(values, 0), scale * layer[1]
    return None, (states, scale)


def _wrong_on(
    net: ReluNet, whole: Sequence[_Scaled], cone: _Cone, largest: int, taken: _Scaled
) -> Point | None:
    """A point of a part at which the net is not the largest input, or None."""
    states, scale = taken
    kinks: dict[tuple[int, ...], int] = defaultdict(int)
    out, bottom = whole[-1]
    if net.layers:
        values = _through(whole[-2], states, cone, scale)
        scale *= whole[-2][1]
        cut = [unit for unit, row in enumerate(values) if min(row) < 0 < max(row)]
        for unit in cut:
            row = [int(value) for value in values[unit]]
            # Up to its sign and a factor the hyperplane of the unit.
            factor = math.gcd(*row)
            along = factor if next(filter(None, row)) > 0 else -factor
            kinks[tuple(value // along for value in row)] += factor * int(out[0, unit])
        # Twice ReLU(l) is l where l cuts the part, with the kink beside it, and else 2 l or 0.
        states = np.maximum(2 * values.astype(object), 0)
        states[cut] = values[cut]
        twice = 2
    else:
        twice = 1
    given = out[0, :-1] @ states + twice * scale * out[0, -1] * cone.edges[-1]
    rest = given - twice * scale * bottom * cone.edges[largest]
    bent = next((plane for plane, weight in kinks.items() if weight), None)
    if bent is None and not rest.any():
        return None
    return next(point for point in _points(cone, rest, bent) if net.value(point) != max(point))


def _points(cone: _Cone, rest: Whole, bent: tuple[int, ...] | None) -> Iterator[Point]:
    """Points of a part, one of which a linear form `rest` that is not 0 does not miss; or beside a
    hyperplane, by its values at the edges, and ever nearer to it."""
    edges = cone.edges.shape[1]

    def point(weights: Sequence[Any]) -> Point:
        *x, t = (sum(w * int(e) for w, e in zip(weights, row, strict=True)) for row in cone.edges)
        return tuple(Fraction(entry) / t for entry in x)

    if bent is None:
        yield point([1] * edges)
        yield from (point([1 + (e == other) for e in range(edges)]) for other in range(edges))
        return
    draw = random.Random(0)
    for near in itertools.count():
        weights = [Fraction(draw.randint(1, 999)) for _ in range(edges)]
        up = sum(w * v for w, v in zip(weights, bent, strict=True) if v > 0)
        down = -sum(w * v for w, v in zip(weights, bent, strict=True) if v < 0)
        # Balanced, they are a point of the hyperplane.
        on = [
            w * (down if v > 0 else up if v < 0 else 1) for w, v in zip(weights, bent, strict=True)
        ]
        for sign in (0, 1, -1):
            step = Fraction(sign, 2**near)
            yield point([w * (1 + step / 2 if v > 0 else 1) for w, v in zip(on, bent, strict=True)])

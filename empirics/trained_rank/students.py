"""Students: nets trained on a teacher's values over a whole grid, many replicas together.

A student reads token ids through an embedding of its own width, has no residual connections, no
normalisation and no MLP, and is read at position 0 by a linear map. A linearised student of width d
and depth L is a polynomial x . P(U + V) whatever its weights, so its separation rank is at most
S(min(d, V), L): see `theory.separation_rank.dimension_count`.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import asdict, dataclass, replace
from fractions import Fraction
from functools import lru_cache
from pathlib import Path
from typing import Any

import flint
import numpy as np
import torch
from flint import arb
from numpy.typing import NDArray
from torch import Tensor

from depthlaw.theory.claims.code_version import code_version
from depthlaw.theory.claims.values import Ball
from depthlaw.theory.separation_rank.dimension_count import moments_degree
from depthlaw.theory.separation_rank.linear_attention import LinearAttentionNet, normal_form

from ..nets.net import Net, NetShape
from ..training import checkpoints
from ..training.adamw import AdamW, flatten, schedule_factor
from ..training.depth_search import alone
from . import teachers
from .teachers import Teacher

# Below the folder of results.
FOLDER = "students"
# Cells on which the scale of the initial weights is set.
_CELLS = 512
# Share of the targets' norm above which a bound on rounding is too loose to tell errors apart.
_LOOSE = 1e-5
# Checkpoints of a training.
_SAVES = 10


@dataclass(frozen=True)
class StudentRecipe:
    """R = len(rates) * len(seeds) students of one shape on one teacher.

    Attributes:
        teacher: what they learn.
        width, depth: of the students.
        attention: "linearised" or "softmax".
        seeds, rates: of the initial weights, and peak learning rates of Adam; replica
            (rate i, seed j) is number i len(seeds) + j.
        steps: updates, each on the whole grid; the rate rises over a twentieth of them and falls by
            half a cosine.
        marks: how many steps are marked, evenly on a scale of log(1 + step) from 0 to `steps`:
            errors are recorded and weights are kept there.

    Raises:
        ValueError: for a number that is too small, or another attention.
    """

    teacher: Teacher
    width: int
    depth: int
    attention: str = "linearised"
    seeds: tuple[int, ...] = (0, 1, 2, 3)
    rates: tuple[float, ...] = (1e-2,)
    steps: int = 1000
    marks: int = 21

    def __post_init__(self) -> None:
        if self.attention not in ("linearised", "softmax"):
            raise ValueError(f"attention={self.attention!r}: accepted are linearised and softmax")
        if (
            min(self.width, self.depth, self.steps) < 1
            or self.marks < 2
            or not self.seeds
            or not self.rates
        ):
            raise ValueError(
                "width, depth and steps are at least 1, marks at least 2, with a "
                f"seed and a rate; got {self}"
            )

    @property
    def replicas(self) -> int:
        """R."""
        return len(self.seeds) * len(self.rates)

    @property
    def marked(self) -> tuple[int, ...]:
        """The marked steps, ascending: 0 and `steps` are the ends.

        >>> StudentRecipe(Teacher(width=2, depth=1), width=2, depth=1, steps=10, marks=4).marked
        (0, 1, 4, 10)
        """
        top = math.log1p(self.steps)
        return tuple(
            sorted({round(math.expm1(top * i / (self.marks - 1))) for i in range(self.marks)})
        )

    @property
    def shape(self) -> NetShape:
        """Of the nets."""
        return NetShape(
            width=self.width,
            depth=self.depth,
            residual=False,
            outputs=1,
            attention="softmax" if self.attention == "softmax" else "linearised",
            vocabulary=self.teacher.vocabulary,
        )


@dataclass(frozen=True, eq=False)
class Students:
    """Trained students.

    Attributes:
        recipe: how they were trained.
        steps: marked steps.
        history: relative errors at the marked steps, shape (marks, replicas).
        snapshots: weights at the marked steps, shape (marks, replicas, parameters).
    """

    recipe: StudentRecipe
    steps: tuple[int, ...]
    history: NDArray[np.float64]
    snapshots: Tensor

    @property
    def errors(self) -> NDArray[np.float64]:
        """Relative L2 error of each replica on the grid, ||F - G||_F / ||F||_F, at the end; nan
        where it diverged."""
        return self.history[-1]

    @property
    def curve(self) -> tuple[tuple[int, tuple[float, ...]], ...]:
        """(step, errors of the replicas) at the marked steps."""
        return tuple(
            (step, tuple(map(float, errors)))
            for step, errors in zip(self.steps, self.history, strict=True)
        )

    def of_rate(self, rate: int) -> slice:
        """The replicas of one of the rates, by its index."""
        seeds = len(self.recipe.seeds)
        return slice(rate * seeds, (rate + 1) * seeds)

    def best_rate(self) -> int:
        """The index of the rate with the least median error over the seeds at the end."""
        medians = [
            float(np.median(np.nan_to_num(self.errors[self.of_rate(i)], nan=np.inf)))
            for i in range(len(self.recipe.rates))
        ]
        return int(np.argmin(medians))

    def net(self, step: int | None = None) -> Net:
        """The nets at a marked step, by default the last.

        Raises:
            ValueError: for a step that is not marked.
        """
        step = self.steps[-1] if step is None else step
        if step not in self.steps:
            raise ValueError(f"step {step} is not marked; marked are {self.steps}")
        rebuilt = Net(self.recipe.shape, replicas=self.recipe.replicas, dtype=torch.float64)
        flatten(rebuilt).copy_(self.snapshots[self.steps.index(step)])
        return rebuilt

    def weights(self, step: int | None = None) -> dict[str, NDArray[np.float64]]:
        """The weights at a marked step, as in `LinearAttentionNet`: embedding (R, V, d), query,
        key, value (R, L, 1, d, d), output (R, L, 1, d, d), read_out (R, d).

        Raises:
            ValueError: for a step that is not marked.
        """
        net = self.net(step)
        with torch.no_grad():
            layers = [net.attention_weights(layer) for layer in range(self.recipe.depth)]
            parts = {
                name: torch.stack([layer[i].transpose(2, 3) for layer in layers], dim=1).numpy()
                for i, name in enumerate(("query", "key", "value", "output"))
            }
            return {
                "embedding": net.embedding.numpy(),
                **parts,
                "read_out": net.read_out[:, :, 0].numpy(),
            }

    def values(self, step: int | None = None) -> NDArray[np.float64]:
        """The students' values on the grid at a marked step, shape (replicas, rows, columns)."""
        with torch.no_grad():
            return outputs(self.net(step), *_ids(self.recipe.teacher)).numpy()


# --- values on a grid -----------------------------------------------------------------------------


def outputs(net: Net, left: Tensor, right: Tensor) -> Tensor:
    """The values of all replicas on a grid, shape (replicas, rows, columns).

    For linearised attention without residual connections, by the normal form
    y = x T_1 ... T_L w with T_l = B_l M_l A_l and M_{l+1} = T_l^T M_l T_l (rows on the left): a
    chain of C(L) = (3^L - 1)/2 products with M = Z^T Z, each worked out in the coefficients of the
    tokens Z. That takes 16 operations a cell at two tokens a side, whatever the width. Otherwise by
    the net's own forward pass, cell by cell.

    Args:
        net: such as `Students.net`, on the device of the ids.
        left, right: token ids, shapes (rows, tokens) and (columns, tokens).
    """
    if net.shape.attention == "linearised":
        return _Chain(net, left, right).values()
    rows, columns = len(left), len(right)
    ids = torch.cat((left[:, None].expand(-1, columns, -1), right[None].expand(rows, -1, -1)), 2)
    # All layers mix all tokens; position 0 alone is read.
    hidden = net.hidden_states(ids.reshape(1, rows * columns, -1))[-1][:, :, :1]
    return net.read(hidden).reshape(net.replicas, rows, columns)


def enclosed_error(students: Students, replica: int) -> Ball:
    """The relative error of one linearised replica at the end, with all rounding enclosed.

    A computed sum of products in which no path has more than K roundings differs from the exact one
    by at most g = K u / (1 - K u) times the sum of the absolute values, which the same net with the
    absolute values of its weights computes up to a factor 1 +- g. The targets are rounded, too: by
    two roundings each, and by one common factor, which changes no relative error. Underflow, below
    1e-307, is not counted. Where that bound
    is wide, as the absolute values of a polynomial of high degree are far larger than its values,
    the values are worked out again in balls of 256 bits.

    Args:
        students: linearised ones.
        replica: which.

    Raises:
        ValueError: for softmax students, whose exponentials have no such bound here.

    Cost: two forward passes; in balls 4 L d^3 operations a cell, about 3 million in a second.

    References: N. Higham, Accuracy and Stability of Numerical Algorithms, 2002, Section 3.1.
    """
    recipe = students.recipe
    if recipe.attention != "linearised":
        raise ValueError("the error of softmax students is not enclosed; train linearised ones")
    net, ids = students.net(), _ids(recipe.teacher)
    with torch.no_grad():
        values = outputs(net, *ids)[replica].numpy()
        for parameter in net.parameters():
            parameter.abs_()
        sizes = outputs(net, *ids)[replica].numpy()
    target = teachers.targets(recipe.teacher)
    # A product with M: two products with matrices of d x d, each itself one, scalar products of
    # tokens, a sum over tokens; the read-out once more.
    products, tokens = moments_degree(recipe.depth), 2 * recipe.teacher.tokens
    longest = (products + 1) * (6 * recipe.width + 2 * tokens + 2) + values.size + 8
    unit = longest * 2.0**-53
    g = 4 * unit / (1 - unit)
    norm, loose = float(np.linalg.norm(target)), g * float(np.linalg.norm(sizes))
    if loose > _LOOSE * norm:
        values, loose = _in_balls(students, replica), 0.0
    off = float(np.linalg.norm(values - target))
    loose += g * norm
    low, high = (off * (1 - g) - loose) / norm / (1 + g), (off * (1 + g) + loose) / norm / (1 - g)
    return Ball(
        Fraction(max(0.0, math.nextafter(low, -math.inf))), Fraction(math.nextafter(high, math.inf))
    )


def _in_balls(students: Students, replica: int) -> NDArray[np.float64]:
    """The values of one replica, each right to one rounding."""
    weights = {
        name: np.vectorize(arb, otypes=[object])(value[replica])
        for name, value in students.weights().items()
    }
    left, right = (weights["embedding"][ids] for ids in teachers.grid(students.recipe.teacher))
    with flint.ctx.workprec(256):
        # The read-out goes into the last layer, which then writes one coordinate.
        weights["output"][-1, 0, 0] = weights["read_out"] @ weights["output"][-1, 0]
        net = LinearAttentionNet(
            weights["query"], weights["key"], weights["value"], weights["output"], prime=None
        )
        sums = [np.swapaxes(side, -1, -2) @ side for side in (left, right)]
        form = normal_form(net, sums[0][:, None] + sums[1][None], left[:, None, 0])
    for ball in form.flat:
        if not ball.rad() < abs(ball.mid()) * 2.0**-60:
            raise ArithmeticError(f"256 bits are too few for {ball}")
    return np.vectorize(float)(form)


class _Chain:
    """v = sum_j c_j z_j W: a vector for each cell, by coefficients of the cell's tokens and one
    matrix for all cells."""

    def __init__(self, net: Net, left: Tensor, right: Tensor) -> None:
        self.net, self.before, self.after, d = net, [], [], net.shape.width
        for qkv, output in zip(net.qkv, net.output, strict=True):
            query, key, value = qkv.split(d, dim=-1)
            self.before.append(query @ key.transpose(1, 2))
            self.after.append(value @ output)
        # Tokens of the two sides, (replicas, tokens, rows or columns, width).
        self.a, self.b = (net.embedding[:, ids.T] for ids in (left, right))

    def values(self) -> Tensor:
        """Of all cells."""
        first = self.a.new_ones(1, 1, 1)
        nothing: list[Tensor | None] = [None] * (self.a.shape[1] + self.b.shape[1] - 1)
        coefficients, matrix = (
            [first, *nothing],
            torch.eye(self.net.shape.width, dtype=self.a.dtype, device=self.a.device).expand(
                self.net.replicas, -1, -1
            ),
        )
        for layer in range(self.net.shape.depth):
            coefficients, matrix = self._times_layer(layer, coefficients, matrix)
        ends = matrix @ self.net.read_out
        a, b = ((side @ ends.unsqueeze(1)).squeeze(-1) for side in (self.a, self.b))
        parts = [*a.unsqueeze(3).unbind(1), *b.unsqueeze(2).unbind(1)]
        return _dot(coefficients, parts)

    def _times_layer(self, layer: int, c: Any, matrix: Tensor) -> tuple[Any, Tensor]:
        """v T_l."""
        c, matrix = self._times_moments(layer, c, matrix @ self.before[layer])
        return c, matrix @ self.after[layer]

    def _times_transposed(self, layer: int, c: Any, matrix: Tensor) -> tuple[Any, Tensor]:
        """v T_l^T."""
        c, matrix = self._times_moments(layer, c, matrix @ self.after[layer].transpose(1, 2))
        return c, matrix @ self.before[layer].transpose(1, 2)

    def _times_moments(self, layer: int, c: Any, matrix: Tensor) -> tuple[Any, Tensor]:
        """v M_l."""
        if layer:
            c, matrix = self._times_transposed(layer - 1, c, matrix)
            c, matrix = self._times_moments(layer - 1, c, matrix)
            return self._times_layer(layer - 1, c, matrix)
        # z_j W z_i^T for all pairs of tokens of a cell.
        a, b = ((side @ matrix.unsqueeze(1)) for side in (self.a, self.b))
        aa = torch.einsum("rjxd,rixd->rjix", a, self.a).unsqueeze(4)
        bb = torch.einsum("rjxd,rixd->rjix", b, self.b).unsqueeze(3)
        ab = torch.einsum("rjxd,riyd->rjixy", a, self.b)
        ba = torch.einsum("rjyd,rixd->rjixy", b, self.a)
        rows = [[*aa[:, j].unbind(1), *ab[:, j].unbind(1)] for j in range(a.shape[1])] + [
            [*ba[:, j].unbind(1), *bb[:, j].unbind(1)] for j in range(b.shape[1])
        ]
        products = [_dot(c, [row[i] for row in rows]) for i in range(len(rows))]
        return products, torch.eye(matrix.shape[-1], dtype=a.dtype, device=a.device).expand_as(
            matrix
        )


def _dot(coefficients: Sequence[Tensor | None], others: Sequence[Tensor]) -> Tensor:
    """The sum of products; None stands for 0."""
    total: Tensor | None = None
    for c, other in zip(coefficients, others, strict=True):
        if c is not None:
            total = c * other if total is None else torch.addcmul(total, c, other)
    assert total is not None
    return total


def _ids(teacher: Teacher, device: str = "cpu") -> tuple[Tensor, Tensor]:
    left, right = (torch.from_numpy(ids).to(device) for ids in teachers.grid(teacher))
    return left, right


# --- training -------------------------------------------------------------------------------------


def _initial(recipe: StudentRecipe) -> Net:
    """Normal weights, then layer by layer scaled so that what a layer adds has the root mean square
    of the embedding, and the output that of the targets: the output is of degree 3^L in the tokens
    and of higher degree in the weights."""
    rngs = [np.random.default_rng(seed) for _ in recipe.rates for seed in recipe.seeds]
    net = Net(
        recipe.shape,
        replicas=recipe.replicas,
        rng=rngs,
        std=recipe.width**-0.5,
        dtype=torch.float64,
    )
    left, right = teachers.grid(recipe.teacher)
    rng = np.random.default_rng(0)
    cells = np.concatenate(
        (left[rng.integers(0, len(left), _CELLS)], right[rng.integers(0, len(right), _CELLS)]),
        axis=1,
    )
    with torch.no_grad():
        hidden = net.embed(torch.from_numpy(cells)[None])
        size = _size(hidden)
        for layer in range(recipe.depth):
            after = net.layer(layer, hidden)
            factor = size / _size(after)
            net.output[layer].mul_(factor.squeeze(3))
            hidden = after * factor
        net.read_out.mul_((1 / _size(net.read(hidden[:, :, :1]))).squeeze(3))
    return net


def _size(hidden: Tensor) -> Tensor:
    """Root mean square of each replica, shape (replicas, 1, 1, 1)."""
    return hidden.square().mean(dim=(1, 2, 3), keepdim=True).sqrt()


@lru_cache(maxsize=64)
def trained(recipe: StudentRecipe, device: str = "cpu", folder: str = "") -> Students:
    """Train the students of a recipe, or read those that an earlier process trained.

    A training that was killed goes on from its last checkpoint and ends with the same weights. A
    replica whose error is not finite stays so.

    Args:
        recipe: teacher, shape, replicas, steps.
        device: where.
        folder: weights at all marks are stored in `folder`/students; "": nowhere.

    Raises:
        checkpoints.CheckpointError: where what is stored is damaged, or cannot be written.

    Cost: for linearised students 48 C(L) operations a cell, replica and step (two tokens a side),
    whatever the width; for softmax students those of the net.
    """
    if not folder:
        return _trained(recipe, device, None)
    place = Path(folder) / FOLDER / _identity(recipe, device)
    with alone(place):
        return _trained(recipe, device, place)


def _identity(recipe: StudentRecipe, device: str) -> str:
    """Everything that the weights depend on, the code that trains and torch included."""
    code = [code_version(definition) for definition in (_trained, StudentRecipe, NetShape)]
    return checkpoints.fingerprint(
        [asdict(recipe), device, torch.get_num_threads(), code, torch.__version__]
    )


def fit_by_lbfgs(recipe: StudentRecipe, seed: int, iterations: int) -> float:
    """The relative error of one student that starts as those of `trained` do and is fitted by
    L-BFGS-B of SciPy, 20 corrections kept, until no descent is found or the iterations are over;
    infinite where it is not finite."""
    from scipy.optimize import minimize

    one = replace(recipe, seeds=(seed,), rates=recipe.rates[:1])
    net = _initial(one)
    weights, parameters, ids = flatten(net), list(net.parameters()), _ids(one.teacher)
    target = torch.from_numpy(teachers.targets(one.teacher))

    def loss(point: NDArray[np.float64]) -> tuple[float, NDArray[np.float64]]:
        weights.copy_(torch.from_numpy(point)[None])
        value, _ = _fitted(outputs(net, *ids), target)
        gradients = torch.autograd.grad(value.sum(), parameters)
        return value.item(), torch.cat([g.reshape(-1) for g in gradients]).numpy()

    found = minimize(
        loss,
        weights[0].detach().numpy().copy(),
        jac=True,
        method="L-BFGS-B",
        options={
            "maxiter": iterations,
            "maxfun": 2 * iterations,
            "maxcor": 20,
            "ftol": 0,
            "gtol": 1e-12,
        },
    )
    return float(max(0.0, found.fun) ** 0.5) if np.isfinite(found.fun) else np.inf


def _fitted(found: Tensor, target: Tensor) -> tuple[Tensor, Tensor]:
    """The squared relative error of the best multiple of each replica's values, and the factor.

    The scale of a product of many matrices is what training loses first: values that vanish have no
    gradient. So the factor on the read-out is worked out, not trained.
    """
    inner, square = (found * target).sum(dim=(1, 2)), found.square().sum(dim=(1, 2))
    return 1 - inner**2 / square / target.square().sum(), inner / square


def _scaled(net: Net, recipe: StudentRecipe, scale: Tensor) -> Tensor:
    """The weights with the read-out multiplied by the fitted factor, on the CPU."""
    copy = Net(recipe.shape, replicas=recipe.replicas, dtype=torch.float64)
    weights = flatten(copy)
    weights.copy_(torch.cat([p.detach().reshape(recipe.replicas, -1) for p in net.parameters()], 1))
    with torch.no_grad():
        copy.read_out.mul_(scale.cpu()[:, None, None])
    return weights


def _trained(recipe: StudentRecipe, device: str, place: Path | None) -> Students:
    net, marks = _initial(recipe).to(device), recipe.marked
    weights, ids = flatten(net), _ids(recipe.teacher, device)
    target = torch.from_numpy(teachers.targets(recipe.teacher)).to(device)
    rates = torch.tensor([rate for rate in recipe.rates for _ in recipe.seeds], dtype=weights.dtype)
    optimiser = AdamW(weights, rates.to(device), weight_decay=0.0)
    scalars = optimiser.scalars(
        [
            schedule_factor(step, steps=recipe.steps, warmup=recipe.steps // 20, schedule="cosine")
            for step in range(recipe.steps)
        ]
    )
    snapshots = torch.zeros((len(marks), *weights.shape), dtype=weights.dtype)
    history, start = torch.zeros(len(marks), recipe.replicas, dtype=weights.dtype), 0
    run = _identity(recipe, device)
    stored = checkpoints.read(place, run) if place else None
    if stored is not None:
        done, tensors, _ = stored
        for name, into in (
            ("weights", weights),
            ("first", optimiser.first),
            ("second", optimiser.second),
        ):
            into.copy_(tensors[name])
        snapshots, history, start = tensors["snapshots"], tensors["history"], done
    live = torch.ones(recipe.replicas, dtype=torch.bool, device=device)
    parameters, saved = list(net.parameters()), start if stored else -1
    for step in range(start, recipe.steps + 1):
        losses, scale = _fitted(outputs(net, *ids), target)
        if step in marks:
            history[marks.index(step)] = losses.detach().clamp(min=0).sqrt().cpu()
            snapshots[marks.index(step)] = _scaled(net, recipe, scale.detach())
        done = step == recipe.steps
        if place and step != saved and (done or step - max(saved, 0) >= recipe.steps / _SAVES):
            checkpoints.write(
                place,
                run,
                step,
                {
                    "weights": weights,
                    "first": optimiser.first,
                    "second": optimiser.second,
                    "snapshots": snapshots,
                    "history": history,
                },
                {},
            )
            saved = step
        if done:
            break
        gradients = torch.autograd.grad(losses.sum(), parameters)
        gradient = torch.cat([g.reshape(recipe.replicas, -1) for g in gradients], dim=1)
        live = live & gradient.isfinite().all(dim=1)
        optimiser.update(torch.where(live.unsqueeze(1), gradient, 0.0), live, scalars[step])
    return Students(recipe, marks, history.numpy(), snapshots)

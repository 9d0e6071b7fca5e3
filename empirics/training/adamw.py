"""AdamW for many nets at once: one matrix of weights, one row and one learning rate per replica,
and rows that can stop.

`flatten` turns all parameters of a net into views of one matrix (replicas, parameters); a step is
then a handful of passes over that matrix, however many tensors the net has. Each row moves as
torch.optim.AdamW would move it alone.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from fnmatch import fnmatchcase
from typing import Literal

import torch
from torch import Tensor, nn

# (pattern of parameter names, factor on their learning rate); see `rate_columns`.
RateFactors = tuple[tuple[str, float], ...]

Schedule = Literal["constant", "linear", "cosine"]
Decayed = Literal["all", "matrices"]


def flatten(net: nn.Module) -> Tensor:
    """Make every parameter of a net a view of one matrix, and return the matrix.

    Row r of the matrix (replicas, parameters) holds the parameters of replica r, in the order of
    `net.parameters()`. What is written into the matrix is seen by the net.

    Raises:
        ValueError: where the parameters have not the replicas as their common first dimension.
    """
    parameters = list(net.parameters())
    replicas = {p.shape[0] if p.ndim else 0 for p in parameters}
    if len(replicas) != 1 or 0 in replicas:
        raise ValueError(
            "every parameter needs the replicas as its first dimension; found first "
            f"dimensions {sorted(replicas)}"
        )
    rows = replicas.pop()
    weights = torch.cat([p.detach().reshape(rows, -1) for p in parameters], dim=1)
    start = 0
    for p in parameters:
        end = start + p[0].numel()
        p.data = weights[:, start:end].view(p.shape)
        start = end
    return weights


def decay_mask(net: nn.Module, decayed: Decayed) -> Tensor | None:
    """Which columns of `flatten(net)` weight decay applies to, as zeros and ones of shape
    (parameters,); None means all.

    "all" is what torch.optim.AdamW does with `net.parameters()`. "matrices" spares the parameters
    whose name ends in bias, gain or shift.
    """
    if decayed == "all":
        return None
    return torch.cat(
        [
            torch.full(
                (p[0].numel(),),
                float(not name.rstrip(".0123456789").endswith(("bias", "gain", "shift"))),
                dtype=p.dtype,
                device=p.device,
            )
            for name, p in net.named_parameters()
        ]
    )


def rate_columns(net: nn.Module, factors: RateFactors) -> Tensor | None:
    """What the learning rate is multiplied with in each column of `flatten(net)`, shape
    (parameters,); None where there are no factors.

    Args:
        net: the net, with names such as `qkv.3` and `embedding`.
        factors: patterns as in `fnmatch`, such as "mlp_*" or "*.3", of which the last that matches
            a name counts; names that none matches have factor 1. Factor 0 freezes.

    Raises:
        ValueError: for a pattern that matches no parameter.
    """
    named = dict(net.named_parameters())
    for pattern, _ in factors:
        if not any(fnmatchcase(name, pattern) for name in named):
            raise ValueError(
                f"rate_factors: {pattern!r} matches no parameter; there are {', '.join(named)}"
            )
    if not factors:
        return None
    return torch.cat(
        [
            torch.full(
                (p[0].numel(),),
                next(
                    (factor for pattern, factor in reversed(factors) if fnmatchcase(name, pattern)),
                    1.0,
                ),
                dtype=p.dtype,
                device=p.device,
            )
            for name, p in named.items()
        ]
    )


def schedule_factor(
    step: int, *, steps: int, warmup: int = 0, schedule: Schedule = "constant"
) -> float:
    """What the learning rate of update number `step` (from 0) is multiplied with.

    Linear warm-up: step/warmup for step < warmup, so that the first update of a warm-up has rate 0,
    as in Hugging Face's schedules. After it constant 1; or linear decay, (steps - step)/(steps -
    warmup); or half a cosine, (1 + cos(pi t))/2 with t = (step - warmup)/(steps - warmup).
    """
    if step < warmup:
        return step / warmup
    passed = (step - warmup) / max(1, steps - warmup)
    if schedule == "linear":
        return max(0.0, 1 - passed)
    return 0.5 * (1 + math.cos(math.pi * min(1.0, passed))) if schedule == "cosine" else 1.0


def gradient_scale(gradient: Tensor, clip: float) -> tuple[Tensor, Tensor]:
    """The global norm of each replica's gradient (replicas, parameters), and the factor that clips
    it, (replicas,) each: min(1, clip/(norm + 1e-6)), as torch's clip_grad_norm_; clip 0 for none.
    """
    norm = torch.linalg.vector_norm(gradient, dim=1)
    return norm, (clip / (norm + 1e-6)).clamp(max=1.0) if clip else torch.ones_like(norm)


class AdamW:
    """Adam with decoupled weight decay on a matrix of weights, in place, with a learning rate per
    row.

    For each row with rate a, at update t = 1, 2, ...: m = b1 m + (1-b1) g; v = b2 v + (1-b2) g^2; w
    = (1 - a decay) w - a m/(1-b1^t) / (sqrt(v/(1-b2^t)) + epsilon), with a scaled by the schedule's
    factor. A row of torch.optim.AdamW differs only by rounding: a few units in the last place of w
    and of the change, per step.

    Args:
        weights: shape (replicas, parameters); changed in place.
        rates: learning rates, shape (replicas,).
        betas, epsilon, weight_decay: as in torch.optim.AdamW.
        decay: what `decay_mask` gives; None decays all.
        columns: what `rate_columns` gives; None: every column has the rate of its row.

    Cost per update: 8 passes over the matrix, one matrix of scratch memory.

    References: I. Loshchilov, F. Hutter, Decoupled Weight Decay Regularization, arXiv:1711.05101v3,
    Algorithm 2.
    """

    def __init__(
        self,
        weights: Tensor,
        rates: Tensor,
        *,
        betas: tuple[float, float] = (0.9, 0.999),
        epsilon: float = 1e-8,
        weight_decay: float = 0.01,
        decay: Tensor | None = None,
        columns: Tensor | None = None,
    ) -> None:
        self.weights, self.rates = weights, rates.to(weights)
        self.betas, self.epsilon, self.weight_decay, self.decay = (
            betas,
            epsilon,
            weight_decay,
            decay,
        )
        self.columns = columns
        self.first, self.second, self._scratch = (torch.zeros_like(weights) for _ in range(3))
        self._none = torch.zeros((), dtype=weights.dtype, device=weights.device)

    def scalars(self, factors: Sequence[float]) -> Tensor:
        """What the updates need besides the gradient: a row (schedule factor, 1/(1-b1^t),
        1/sqrt(1-b2^t)) for each, shape (updates, 3).

        They are a tensor on the device, so that no update waits for the host and a captured CUDA
        graph can be replayed with other numbers.
        """
        first, second = self.betas
        rows = [
            (factor, 1 / (1 - first**t), 1 / math.sqrt(1 - second**t))
            for t, factor in enumerate(factors, start=1)
        ]
        return torch.tensor(rows, dtype=self.weights.dtype, device=self.weights.device)

    def update(self, gradient: Tensor, live: Tensor, scalars: Tensor) -> None:
        """One update in place. Rows that are not `live` keep their weights bit for bit; their
        gradient must be finite (zero)."""
        factor, correction, root = scalars.unbind()
        rate = torch.where(live, self.rates * factor, self._none).unsqueeze(1)
        self.first.lerp_(gradient, 1 - self.betas[0])
        self.second.mul_(self.betas[1]).addcmul_(gradient, gradient, value=1 - self.betas[1])
        torch.sqrt(self.second, out=self._scratch).mul_(root).add_(self.epsilon)
        torch.div(self.first, self._scratch, out=self._scratch)
        if self.columns is not None:
            self._scratch.mul_(self.columns)
        if self.weight_decay:
            shrink = rate * self.weight_decay
            if self.columns is not None:
                shrink = shrink * self.columns
            self.weights.mul_(1 - (shrink if self.decay is None else shrink * self.decay))
        self.weights.addcmul_(self._scratch, rate * correction, value=-1)

    def clear(self, rows: Tensor) -> None:
        """Forget the moments of rows that have stopped: decaying to denormal numbers they would
        slow every step down."""
        self.first[rows], self.second[rows] = 0.0, 0.0

"""How much of a device a training run can use: operations of a step, and the device's measured
matrix-product rate."""
from __future__ import annotations

import time
from collections.abc import Sequence
from dataclasses import replace
from statistics import median

import torch
from torch.utils.flop_counter import FlopCounterMode

from .nets import Shape
from .settings import Precision, Settings
from .tasks import Task
from .training_run import Run

__all__ = ["matmul_rate", "step_operations"]


def step_operations(
    shape: Shape, task: Task, settings: Settings, device: torch.device | str = "cpu",
) -> int:
    """Multiplications and additions in the matrix products of one step of all replicas, forward and
    backward, as torch counts them.

    Softmax, activations, loss and optimiser are left out: they are bound by memory, not by
    arithmetic. A product of (m, k) and (k, n) is 2 m k n.

    Cost: one step.
    """
    run = Run(shape, task, replace(settings, steps=1, warmup=0, drawn=1, compiled=False,
                                   graphed=False), torch.device(device))
    counter = FlopCounterMode(display=False,
                              custom_mapping={torch.ops.aten.baddbmm_: _in_place_product})
    with counter:
        run.advance()
    return int(counter.get_total_flops())


def _in_place_product(
    out: Sequence[int], left: Sequence[int], right: Sequence[int], **rest: object,
) -> int:
    """Operations of `baddbmm_`, which torch's table leaves out, from the shapes (b, m, n), (b, m,
    k), (b, k, n)."""
    return 2 * out[0] * out[1] * out[2] * left[2]


def matmul_rate(
    device: torch.device | str = "cpu", precision: Precision = "float32", *, size: int = 0,
    rounds: int = 7,
) -> float:
    """Operations per second of a large square matrix product on a device, the median of some
    rounds: the peak that counts here.

    Args:
        device: where; on a CPU with as many threads as torch has.
        precision: of the product.
        size: of the matrices; 0 for 1024 on a CPU and 8192 on a GPU.
        rounds: timed products, after one that is not timed.
    """
    device = torch.device(device)
    dtype = {"float32": torch.float32, "float64": torch.float64, "bf16": torch.bfloat16}[precision]
    size = size or (8192 if device.type == "cuda" else 1024)
    left, right = torch.ones(2, size, size, dtype=dtype, device=device).unbind()
    seconds = []
    for _ in range(rounds + 1):
        before = _now(device)
        torch.mm(left, right)
        seconds.append(_now(device) - before)
    return 2 * size**3 / median(seconds[1:])


def _now(device: torch.device) -> float:
    if device.type == "cuda":
        torch.cuda.synchronize(device)
    return time.perf_counter()

"""Graded pieces of the separation rank with the elimination on a GPU: the same code, the same integers, another array library."""
from __future__ import annotations

import torch

from depthlaw.theory.claim import Case, Exact
from depthlaw.theory.separation_rank.exact import rank_of_piece

__all__ = ["gpu_is_there", "piece_on", "piece_on_gpu"]


def piece_on(device: torch.device | str, case: Case, seed: int) -> Exact:
    """`separation_rank.exact.measured_piece` with the matrix on a device of PyTorch.

    >>> piece_on("cpu", Case(width=2, depth=2, heads=1, order=2), 0)
    Exact(value=6, misses=0.0, truncated=False)
    """
    return rank_of_piece(case, seed, lambda matrix: torch.from_numpy(matrix).to(device))


def gpu_is_there() -> bool:
    """Whether PyTorch can use a GPU."""
    return torch.cuda.is_available()


def piece_on_gpu(case: Case, seed: int) -> Exact:
    """`piece_on` the first GPU."""
    return piece_on("cuda", case, seed)

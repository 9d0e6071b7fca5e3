"""Rank collapse: what attention alone does to the distance between tokens.

A layer of pure softmax attention cubes the residual, so the tokens become equal doubly
exponentially with depth; skips, masks, other kernels and layer normalisation change that.
"""
from __future__ import annotations

from collections.abc import Iterator

from ..claim import Claim


def claims() -> Iterator[Claim]:
    """The claims that are not decorated yet."""
    from . import clustering

    yield from getattr(clustering, "claims", tuple)()

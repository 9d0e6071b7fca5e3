"""Where `depthlaw.theory.claims.symbols` was in 0.3.0, for files that name it."""

from __future__ import annotations

import warnings

from .claims.symbols import (
    DOMAINS,
    Term,
    alphabet,
    beta,
    depth,
    diameter,
    edges,
    head_width,
    heads,
    hops,
    hops_max,
    layer,
    order,
    parameters,
    plain,
    position,
    published_error,
    quantity,
    relative_error,
    residual,
    rounding_gap,
    size_millions,
    stated,
    summaries,
    tokens,
    vertices,
    vocabulary,
    width,
)

__all__ = [
    "DOMAINS",
    "Term",
    "alphabet",
    "beta",
    "depth",
    "diameter",
    "edges",
    "head_width",
    "heads",
    "hops",
    "hops_max",
    "layer",
    "order",
    "parameters",
    "plain",
    "position",
    "published_error",
    "quantity",
    "relative_error",
    "residual",
    "rounding_gap",
    "size_millions",
    "stated",
    "summaries",
    "tokens",
    "vertices",
    "vocabulary",
    "width",
]

warnings.warn(
    "depthlaw.theory.symbols is now depthlaw.theory.claims.symbols; the old name goes "
    "with version 0.5",
    FutureWarning,
    stacklevel=2,
)

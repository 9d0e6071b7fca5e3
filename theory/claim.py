"""Where `depthlaw.theory.claims` was in 0.3.0, for files that name it."""

from __future__ import annotations

import warnings

from .claims.definition import *  # noqa: F403
from .claims.definition import __all__ as __all__

warnings.warn(
    "depthlaw.theory.claim is now depthlaw.theory.claims; the old name goes with version 0.5",
    FutureWarning,
    stacklevel=2,
)

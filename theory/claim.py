"""Where `depthlaw.theory.claims` was in 0.3.0, for files that name it."""

from __future__ import annotations

import warnings

from .claims.definition import (
    ALONE,
    DEVICE_OF,
    LEVEL_MOVED,
    SUITES,
    Ball,
    Case,
    Claim,
    Control,
    Exact,
    Measured,
    Outside,
    Proportion,
    Sample,
    Source,
    Step,
    at,
    claim,
    find,
    made_in,
    measured_symbol,
    registry,
    topics,
)

__all__ = [
    "ALONE",
    "DEVICE_OF",
    "LEVEL_MOVED",
    "SUITES",
    "Ball",
    "Case",
    "Claim",
    "Control",
    "Exact",
    "Measured",
    "Outside",
    "Proportion",
    "Sample",
    "Source",
    "Step",
    "at",
    "claim",
    "find",
    "made_in",
    "measured_symbol",
    "registry",
    "topics",
]

warnings.warn(
    "depthlaw.theory.claim is now depthlaw.theory.claims; the old name goes with version 0.5",
    FutureWarning,
    stacklevel=2,
)

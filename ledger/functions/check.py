"""Explicit weights or a lower bound against the atlas: `depthlaw tasks check` as data."""

from depthlaw.theory.atlas.check import check

__all__ = ["check"]

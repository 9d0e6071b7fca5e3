"""Old names, until every module of this topic uses the new ones."""
from __future__ import annotations

from ..exact.enclosure import from_fraction as arb_of
from .softmax_attention import resolved, whole_part

__all__ = ["arb_of", "resolved", "whole_part"]

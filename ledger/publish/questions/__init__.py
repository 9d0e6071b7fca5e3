"""Questions that pages, the appendix and `depthlaw exercise` ask of measurements, by topic."""

from . import (  # noqa: F401
    convolution,
    exercises,
    hops,
    learnt_layers,
    losses,
    rank_collapse,
    ranks,
    short_paths,
    walls,
)
from .question import QUESTIONS, PageQuestion

__all__ = ["QUESTIONS", "PageQuestion"]

"""What the claims on trained nets share: graphs, sequences, sources, and what their notes say.

What was expected before anything was recorded is `expected` of each claim, and what is known since
is `known`. What was first written, split off or restated after a recording is `post_hoc`: there
`expected` is no forecast, or only in part.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from sympy import Rational

from depthlaw.theory.claims.definition import Source
from depthlaw.theory.claims.symbols import quantity

GRAPHS = Source("depthlaw", "after ye2025, arXiv:2510.19753, Theorem 4.3")
HOPS = Source("depthlaw", "after sanford2024, arXiv:2402.09268v1, Theorem 4.2")

# What every claim about trained nets is.
FIT: dict[str, Any] = {"kind": "empirical fit", "holds_for": "typical", "weight": "measurement"}
# Fields that only choose what is read off: one process trains all depths of a task, so that none
# is trained twice.
READS = (
    "vertices",
    "diameter",
    "depth",
    "tried",
    "distance",
    "hops",
    "seeds",
    "graphs",
    "dropout",
    "published_error",
)
# Examples of a few seeds' nets are pooled, so that a verdict is about these nets.
TRAINED: dict[str, Any] = FIT | {"holds_for": "these nets", "reads": READS, "portable": False}


def after(updates: str) -> dict[str, Any]:
    """What claims about nets of `recipes` are, whose cases do not say how long these train."""
    return TRAINED | {"trained": f"{updates} updates"}


accuracy = quantity(
    "accuracy", "a", "share of answers that a trained net gives right", "nonnegative real"
)
bar = Rational(95, 100)

NETS = ("softmax", "linearised")
# (vertices, diameter): the depths tried.
GRAPHS_OF = {
    "quick": {(8, 7): 1},
    "full": {(12, 3): 2, (12, 11): 4, (24, 23): 3},
    "gpu": {(64, 9): 3, (64, 27): 4, (82, 81): 5},
}
# (task, symbols, alphabet, largest k): the depths tried.
HOPS_OF = {
    "full": {("induction", 24, 8, 1): 2, ("hop_k", 24, 4, 4): 4},
    "gpu": {("hop_k", 98, 4, 16): 6},
}

_SEEDS = (
    r"Five seeds (three on 24 vertices and for $\mathrm{hop}_k$), where several learning rates "
    "are tried at the one with the best median."
)
_BAR = (
    "At least 95 % must be right: of one position, or of one choice between a connected pair "
    "and another (chance: one half), drawn from each fresh example."
)
_NO_THEOREM = (
    "What training finds is no theorem: another budget, family of graphs or optimiser "
    "may end elsewhere."
)

# Three recordings came before this version: a first; a second with other learning rates, of 4096
# examples each; a third of more examples.
RECORDED_AGAIN = (
    "Recorded four times, each time with more learning rates or more examples; the last is shown."
)
RESTATED_WALL = (
    "Restated after the third recording: until then only failing at $3^L + 1$ was asked for. "
    "That all nets reach $3^L$, and that they fail at $3^L + 1$, was expected before the first. "
    "That graphs need $2 (3^L + 1)$ vertices was added after the first."
)
BEST_SEED = (
    "Asked of the best seed in place of the worst, which is the easier statistic for a lower "
    "bound, after the third recording."
)


def noted(*more: str) -> Callable[[Callable[..., Any]], Callable[..., Any]]:
    """Decorator: the note of a claim goes on with these sentences."""

    def add(function: Callable[..., Any]) -> Callable[..., Any]:
        function.__doc__ = "\n\n".join((function.__doc__ or "", *more))
        return function

    return add


def about_nets(standard: str = _BAR) -> Callable[[Callable[..., Any]], Callable[..., Any]]:
    """Decorator: what all notes on trained nets say, with what counts as success."""
    return noted(_SEEDS, standard, _NO_THEOREM)

"""Shortcuts: what a small decision tree answers without search, of the tasks nets are trained on.

Nets that reach 95 % on a task where this fails may have learned the clue; see `tasks.shortcuts`.
"""

from __future__ import annotations

from functools import lru_cache, partial
from typing import TYPE_CHECKING, Any

from depthlaw.theory.claims.definition import Case, Control, Proportion, Source, claim
from depthlaw.theory.claims.relations import Lt

from .experiment import FIT, Maker, accuracy, bar

if TYPE_CHECKING:
    from ..tasks.graphs import Connectivity
    from ..tasks.sequences import HopK
    from ..tasks.shortcuts import Shortcut

missed: Maker = partial(
    claim,
    Lt(accuracy, bar),
    reads=("clue",),
    source=Source("depthlaw", "empirics/tasks/shortcuts.py"),
    **FIT,
)
_HOPS: dict[str, Any] = {"task": "hop_k", "symbols": 24, "alphabet": 4, "hops_max": 4}
_INDUCTION = _HOPS | {"task": "induction", "alphabet": 8, "hops_max": 1}


@missed(
    cases={
        "quick": tuple(
            Case(task="connectivity", vertices=n, diameter=n - 1, clue=clue)
            for n in (12, 24)
            for clue in ("degrees", "index", "edges", "degrees, index, edges", "1 hops", "3 hops")
        )
    },
    control=Control(
        Case(task="connectivity", vertices=12, diameter=11, clue="9 hops"),
        "nine hops are nearly all the search there is",
    ),
    supports="trained_depth/connectivity_needed",
)
def connectivity_shortcuts(case: Case, seed: int) -> Proportion:
    """Small trees miss connectivity from degrees, indices, edges, three hops.

    On the random paths that nets are trained on, typically no small decision tree answers 95 % of
    the pairs from degrees, indices, the number of edges, or what lies within three hops.

    A tree of at most 256 leaves, fitted to 2000 examples and scored on one answer of each of 2000
    others. Nets that reach 95 % on a task where this fails may have learned the clue.
    """
    from .recipes import paths

    return _audited(paths(case.vertices, case.diameter), case.clue, seed)


@missed(
    cases={
        "quick": tuple(
            Case(**task, clue=clue)
            for task in (_HOPS, _INDUCTION)
            for clue in ("position", "token", "counts", "last 1", "last 3", "last 9")
        )
    },
    control=Control(Case(**_HOPS, clue="9 hops"), "nine hops are all the search there is"),
    supports="trained_depth/hops_needed",
)
def hops_shortcuts(case: Case, seed: int) -> Proportion:
    """Small trees miss hops from positions, counts and last symbols.

    On the sequences that nets are trained on, typically no small decision tree answers 95 % of the
    positions from the position, the token, the counts of symbols, or the last one, three or nine
    symbols.

    A tree of at most 256 leaves, fitted to 2000 examples and scored on one answer of each of 2000
    others. Nets that reach 95 % on a task where this fails may have learned the clue.
    """
    from .recipes import sequences

    return _audited(sequences(case), case.clue, seed)


def _audited(task: Connectivity | HopK, clue: str, seed: int) -> Proportion:
    """Answers that a tree gives right from one kind of clue."""
    found = {each.name: each for each in _audit(task, seed)}
    if clue not in found:
        raise ValueError(f"clue={clue!r}: accepted are {', '.join(found)}")
    return Proportion(round(found[clue].accuracy * found[clue].examples), found[clue].examples)


@lru_cache(maxsize=16)
def _audit(task: Connectivity | HopK, seed: int) -> list[Shortcut]:
    from ..tasks.shortcuts import audit

    return audit(task, seed)

"""How many trainings succeed where depth allows it."""

from __future__ import annotations

from fractions import Fraction
from functools import partial

from sympy import Rational

from depthlaw.advisor.laws import layers_for_hops, reach
from depthlaw.theory.claims.definition import Ball, Case, Control, claim
from depthlaw.theory.claims.relations import Ge
from depthlaw.theory.claims.symbols import quantity

from .experiment import GRAPHS, GRAPHS_OF, HOPS, HOPS_OF, NETS, TRAINED, Maker, about_nets

succeeded = quantity(
    "succeeded",
    "s_{tr}",
    "share of the trainings of a task and depth that succeed within their budget",
    "nonnegative real",
)
_SUCCESS = (
    "A training has succeeded where 99.9 % of fresh answers were right at two evaluations in a "
    "row. The share is that of these seeds alone, a count without an interval: so few say little "
    "about others."
)

converged: Maker = partial(claim, Ge(succeeded, Rational(1, 2)), expected="FAILS", **TRAINED)


def _reaches(case: Case) -> bool:
    return bool(reach(case.depth) >= case.diameter)


def _hops_all(case: Case) -> bool:
    return bool(layers_for_hops(case.hops_max) <= case.depth)


@converged(
    source=GRAPHS,
    assumes={"3^L >= D": _reaches},
    post_hoc="Written after the second recording, expecting it to fail by what had been seen.",
    cases={
        suite: tuple(
            case
            for (n, diameter), most in GRAPHS_OF[suite].items()
            for case in Case.grid(
                task="connectivity",
                net=NETS,
                vertices=n,
                diameter=diameter,
                depth=range(1, most + 1),
            )
            if _reaches(case)
        )
        for suite in ("full", "gpu")
    },
    control=Control(
        Case(
            task="connectivity", net="linearised", vertices=12, diameter=3, depth=1, shuffled=True
        ),
        "labels of other graphs",
    ),
    supports="trained_depth/connectivity_needed",
)
@about_nets(_SUCCESS)
def connectivity_converged(case: Case, device: str = "cpu", folder: str = "") -> Ball:
    """Half of our seeds succeed on connectivity where depth allows.

    Where 3^L >= D, at least half of our five (three) seeds' trainings of nets of L layers succeed
    within their budget.

    Fails for three layers of softmax on 24 vertices and four linearised ones on 12.
    """
    return _share(case, device, folder)


@converged(
    source=HOPS,
    assumes={"ceil(log2 k) + 2 <= L": _hops_all},
    post_hoc="Written after the second recording, expecting it to fail by what had been seen.",
    cases={
        "full": tuple(
            case
            for (task, symbols, alphabet, k_max), most in HOPS_OF["full"].items()
            for case in Case.grid(
                task=task,
                symbols=symbols,
                alphabet=alphabet,
                hops_max=k_max,
                depth=range(1, most + 1),
            )
            if _hops_all(case)
        )
    },
    control=Control(
        Case(task="induction", symbols=24, alphabet=8, hops_max=1, depth=2, shuffled=True),
        "labels of other sequences",
    ),
    supports="trained_depth/hops_needed",
)
@about_nets(_SUCCESS)
def hops_converged(case: Case, device: str = "cpu", folder: str = "") -> Ball:
    """Half of our seeds succeed on hops where depth allows.

    Where ceil(log2 k) + 2 <= L for every k, at least half of our five (three) seeds' trainings of
    nets of L layers on hop_k succeed within their budget.

    Fails for four layers and k up to 4.
    """
    return _share(case, device, folder)


def _share(case: Case, device: str, folder: str) -> Ball:
    """The share of the seeds whose training succeeded, at the rate that was chosen."""
    from .net_answers import answers_of

    status = answers_of(case, case.depth, device, folder).status
    share = Fraction(status.count("success"), len(status))
    return Ball(share, share)

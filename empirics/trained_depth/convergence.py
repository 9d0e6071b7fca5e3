"""How many trainings succeed where depth allows it."""

from __future__ import annotations

from collections.abc import Iterator
from fractions import Fraction

from sympy import Rational

from depthlaw.advisor.laws import layers_for_hops, reach
from depthlaw.theory.claims.definition import Ball, Case, Control, Source, claim
from depthlaw.theory.claims.relations import Ge
from depthlaw.theory.claims.symbols import quantity

from .experiment import GRAPHS_OF, HOPS_OF, NETS, about_nets, after

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


def _depth_allows(case: Case) -> bool:
    """Whether weights exist that answer all of a task."""
    if case.task == "connectivity":
        return bool(reach(case.depth) >= case.diameter)
    return bool(layers_for_hops(case.hops_max) <= case.depth)


def _tasks(suite: str) -> Iterator[Case]:
    """Every task and depth of a suite: hops are asked in suite full alone."""
    for (n, diameter), most in GRAPHS_OF[suite].items():
        yield from Case.grid(
            task="connectivity", net=NETS, vertices=n, diameter=diameter, depth=range(1, most + 1)
        )
    if suite != "full":
        return
    for (task, symbols, alphabet, k_max), most in HOPS_OF[suite].items():
        yield from Case.grid(
            task=task, symbols=symbols, alphabet=alphabet, hops_max=k_max, depth=range(1, most + 1)
        )


@claim(
    Ge(succeeded, Rational(1, 2)),
    source=Source(
        "depthlaw",
        "after ye2025, arXiv:2510.19753, Theorem 4.3, and sanford2024, arXiv:2402.09268v1, "
        "Theorem 4.2",
    ),
    expected="FAILS",
    assumes={r"$3^L \geq D$, or $\lceil \log_2 k \rceil + 2 \leq L$ for every $k$": _depth_allows},
    post_hoc="Written after the second recording, expecting it to fail by what had been seen.",
    cases={suite: tuple(filter(_depth_allows, _tasks(suite))) for suite in ("full", "gpu")},
    control=Control(
        Case(
            task="connectivity", net="linearised", vertices=12, diameter=3, depth=1, shuffled=True
        ),
        "labels of other graphs",
    ),
    supports="trained_depth/connectivity_least_depth",
    **after("1,000 to 5,000"),
)
@about_nets(_SUCCESS)
def convergence(case: Case, device: str = "cpu", folder: str = "") -> Ball:
    r"""Half of our seeds succeed where depth allows.

    At least half of our five (three) seeds' trainings of nets of $L$ layers succeed within their
    budget: on connectivity where $3^L \geq D$, on $\mathrm{hop}_k$ where
    $\lceil \log_2 k \rceil + 2 \leq L$ for every $k$.

    Fails on connectivity for three layers of either attention on 24 vertices and four linearised
    ones on 12, and on hops for four layers and $k$ up to 4.
    """
    return _share(case, device, folder)


def _share(case: Case, device: str, folder: str) -> Ball:
    """The share of the seeds whose training succeeded, at the rate that was chosen."""
    from .net_answers import answers_of

    status = answers_of(case, case.depth, device, folder).status
    share = Fraction(status.count("success"), len(status))
    return Ball(share, share)

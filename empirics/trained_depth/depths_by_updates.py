"""The least depth at which trained nets do a task, by number of updates.

Written when the nets of `least_depths`, 1,000 to 5,000 updates, had been recorded; some of them are
asked again. Few updates may decide a verdict here: what nets of more do, `least_depths` says.
"""

from __future__ import annotations

from sympy import ceiling, log

from depthlaw.theory.claims.definition import Ball, Case, Control, claim
from depthlaw.theory.claims.relations import Eq, Le
from depthlaw.theory.claims.symbols import diameter as D, hops as k

from .experiment import GRAPHS, HOPS, NETS, TRAINED, about_nets
from .least_depths import least, least_of

_SEEN = (
    "Written when the least depths of nets of 1,000 to 5,000 updates had been seen; connectivity "
    "after 2,000 updates is one of them."
)
_graphs = [
    Case(
        task="connectivity",
        net=net,
        vertices=12,
        diameter=11,
        tried=3,
        seeds="median",
        updates=updates,
    )
    for updates in (500, 2_000)
    for net in NETS
]
_hops = [
    Case(
        task="hop_k",
        symbols=24,
        alphabet=4,
        hops_max=4,
        hops=hops,
        tried=4,
        seeds="median",
        updates=1_250,
    )
    for hops in (1, 2, 4)
]


@claim(
    Eq(least, ceiling(log(D) / log(3))),
    source=GRAPHS,
    cases={"long": _graphs},
    expected="FAILS",
    post_hoc=_SEEN,
    control=Control(
        Case(**_graphs[0].fields() | {"net": "explicit"}),
        "explicit weights take three layers, not two",
        Eq(least, 2),
    ),
    supports="trained_depth/connectivity_least_depth",
    **TRAINED,
)
@about_nets()
def connectivity_by_updates(case: Case, device: str = "cpu", folder: str = "") -> Ball:
    r"""These nets take $\lceil \log_3 11 \rceil$ layers from 500 updates on.

    The least depth, up to three layers, at which our nets of the median seed, trained for 500 and
    2,000 updates on 12 vertices, answer pairs at every distance up to $D = 11$ is
    $\lceil \log_3 D \rceil = 3$.

    Four stands for any depth beyond three. Each number of updates is a training with its own
    warm-up and decay.
    """
    return least_of(case, device, folder)


@claim(
    Le(least, ceiling(log(k) / log(2)) + 2),
    source=HOPS,
    cases={"long": _hops},
    expected="FAILS",
    post_hoc=_SEEN,
    control=Control(
        Case(**_hops[0].fields() | {"updates": 100, "tried": 1}),
        "one layer, a hundred updates",
        Le(least, 1),
    ),
    supports="trained_depth/hops_enough",
    **TRAINED,
)
@about_nets()
def hops_by_updates(case: Case, device: str = "cpu", folder: str = "") -> Ball:
    r"""After 1,250 updates our nets hop in $\lceil \log_2 k \rceil + 2$ layers.

    The least depth, up to four layers, at which our nets of the median seed, trained for 1,250
    updates, do $\mathrm{hop}_k$ is at most $\lceil \log_2 k \rceil + 2$, for $k = 1$, 2, 4.

    Five stands for any depth beyond four. hops_enough asks it of nets of more updates.
    """
    return least_of(case, device, folder)

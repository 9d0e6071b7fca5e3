"""The threshold L >= log_3(d) for a parameter budget (Levine et al. 2020)."""

from __future__ import annotations

from collections.abc import Iterator
from math import log as ln

from sympy import Integer, LambertW, Symbol, log, simplify
from sympy.core.relational import Relational

from depthlaw.advisor.models import model, models

from ..claims.definition import Case, Control, Exact, Source, Step, claim
from ..claims.relations import Eq, Gt
from ..claims.symbols import depth, parameters, quantity, width
from .inversion import inversion_steps, nine_decimals, root

threshold_depth = quantity(
    "threshold_depth",
    r"L_{th}",
    r"least real depth of a net of $N_{\mathrm{par}}$ parameters with $L \geq \log_3(d_x)$",
    "positive real",
)
_INVERSION = Source(
    "levine2020", "abstract (threshold); the inversion is derived here", "arXiv:2006.12467v1"
)


def _least_depth(base: int) -> Relational:
    square = log(Integer(base**2))
    return Eq(threshold_depth, nine_decimals(LambertW(parameters * square / 12) / square))


@claim(
    _least_depth(3),
    source=_INVERSION,
    cases={
        "quick": Case.grid(parameters=(12, 10**6, 10**7, 1_300_000_000, 10**12)),
        "theory": Case.grid(parameters=(10**8, 10**9, 10**15, 10**18)),
    },
    control=Control(Case(parameters=10**9), "base 2 in place of base 3", statement=_least_depth(2)),
    supports="depth_choice/threshold_never_binds",
)
def threshold_budget(case: Case) -> Exact:
    r"""Lambert's function gives the least depth above $\log_3(d)$ for a budget.

    For every budget $N = 12 L d^2$ the least real depth with $L \geq \log_3(d)$ is
    $W(N \ln 9/12)/\ln 9$, $W$ being Lambert's function; stated to nine decimals, rounded down.

    The threshold concerns attention without softmax, feed-forward layers and residuals. The other
    way round, the largest net with $L \geq \log_3(d)$ has width $3^L$ and $12 L 9^L$ parameters, so
    that it asks for one more layer when the width grows by a factor 3, and for 0.91 layers more per
    factor $e$.
    """
    return Exact(root(lambda x: 12 * x * 9**x, case.parameters))


@threshold_budget.argument(
    "machine: the closed form solves $12 L 9^L = N$, which grows with $L$; prose: so "
    r"$L \geq \log_3(d)$ exactly from that depth on"
)
def _(statement: Relational) -> Iterator[Step]:
    """The closed form solves 12 L 9^L = N, and that size is where L = log_3(d)."""
    L, d = Symbol("L", positive=True), Symbol("d", positive=True)
    size = 12 * L * 9**L
    yield Step(
        "at L = log_3(d), 12 L 9^L is the size 12 L d^2",
        simplify((size - 12 * L * d**2).subs(L, log(d) / log(3))) == 0,
    )
    yield from inversion_steps(statement, size, L)


# The tightest rows first, so that the quick suite holds them.
_LISTED = [
    Case(model=m.name, width=m.width)
    for m in sorted(models(), key=lambda m: m.layers / ln(m.width))
    if m.parameters > 10**8
]


@claim(
    Gt(depth, log(width) / log(Integer(3))),
    headline=(
        r"Whether the threshold $\log_3(d_x)$ can be what limits the depth of nets as people "
        "build them."
    ),
    source=Source("depthlaw", "advisor/models.csv"),
    cases={"quick": (*_LISTED[:12], _LISTED[-1]), "theory": _LISTED[12:-1]},
    assumes={
        "more than $10^8$ parameters without embeddings": lambda case: (
            model(case.model).parameters > 10**8
        )
    },
    control=Control(
        Case(model="BERT-Tiny", width=128), "2 layers of width 128, far below $10^8$ parameters"
    ),
    weight="measurement",
    cited=r"Bears on whether builders of nets above $10^8$ parameters need to look at $\log_3(d)$ "
    "at all.",
)
def threshold_never_binds(case: Case) -> Exact:
    r"""Listed models above $10^8$ are deeper than $\log_3(d)$.

    Every listed model with more than $10^8$ parameters without embeddings has more than $\log_3(d)$
    layers.

    A fact about the listed models, not a law: the bare threshold does not limit nets as built. T5
    counts layers per stack.
    """
    return Exact(model(case.model).layers)

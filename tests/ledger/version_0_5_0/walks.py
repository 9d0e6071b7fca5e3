"""The largest entry after L layers of X -> X X^T X on the complete graph."""

import numpy as np
from sympy import Eq

from depthlaw.theory.claims import Case, Control, Exact, Source, claim
from depthlaw.theory.claims.symbols import depth, quantity

degree = quantity("degree_of_graph", r"\Delta", "degree of a complete graph")
entry = quantity("largest_walk", "x", "largest entry of the output")


@claim(
    Eq(entry, (degree + 1) ** (3**depth - 1)),
    source=Source("ye2025", "Theorem 4.3", "arXiv:2510.19753"),
    cases={
        "quick": Case.grid(degree_of_graph=(1, 2, 4), depth=(0, 1, 2)),
        "theory": Case.grid(degree_of_graph=9, depth=3),
    },
    control=Control(
        Case(degree_of_graph=2, depth=1),
        "one walk too many per step",
        statement=Eq(entry, (degree + 1) ** 3**depth),
    ),
)
def complete_graph(case: Case) -> Exact:
    r"""Complete graphs attain the bound on the entries.

    On the complete graph of degree $\Delta$ every entry after $L$ layers of $X \to X X^T X$ on
    $A + I$ is $(\Delta + 1)^{3^L - 1}$.

    Multiplies integer matrices of ones; never uses the formula.
    """
    x = np.ones((case.degree_of_graph + 1, case.degree_of_graph + 1), dtype=object)
    for _ in range(case.depth):
        x = x @ x.T @ x
    return Exact(int(x.max()))

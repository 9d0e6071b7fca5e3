"""Separation rank of linearised attention and the depth threshold log_3(d_x)."""
from __future__ import annotations

from collections.abc import Iterator

from .claim import Case, Claim, Exact, Source, Twin


def claims() -> Iterator[Claim]:
    """The claims of this module."""
    from dataclasses import replace

    from sympy import Eq

    from .glossary import symbol

    L, degree = symbol("depth"), symbol("degree")
    yield Claim(
        key="separation_rank/degree", title="degree", words="w", statement=Eq(degree, 3**L),
        source=Source("levine2020", "eqs. (3)-(4)", "arXiv:2006.12467v3"), reading="recalled", kind="identity", quantifier="almost every",
        measured=lambda c, s: Exact(3**c.depth), grid={"quick": Case.grid(depth=(1, 2, 3))},
        must_fail=Twin(Case(depth=2), "base 2", statement=Eq(degree, 2**L)))

"""Statements in print: LaTeX as papers write it, and one line of ASCII for a terminal."""
from __future__ import annotations

from typing import NamedTuple

import sympy
from sympy.core.relational import Relational

from . import symbols as _symbols

__all__ = ["Definition", "definitions", "latex", "symbols", "text"]


class Definition(NamedTuple):
    """What stands behind a name that a printed statement uses: a relation in LaTeX, and its meaning
    in words."""

    formula: str
    meaning: str


def latex(expression: sympy.Basic) -> str:
    """LaTeX of an expression or relation, without dollars."""
    return _symbols.latex(expression)


def text(expression: sympy.Basic) -> str:
    """One line of ASCII for a terminal."""
    if isinstance(expression, Relational):
        return _symbols.one_line(expression)
    return _symbols.plain(expression)


def definitions(expression: sympy.Basic) -> tuple[Definition, ...]:
    """The definitions of the names, other than symbols, that `latex` and `text` use for it."""
    return ()


def symbols(expression: sympy.Basic) -> tuple[sympy.Symbol, ...]:
    """The declared symbols of an expression, in the order in which it is printed."""
    return tuple(sorted((s for s in expression.free_symbols if s.name in _symbols.TERMS),
                        key=lambda s: s.name))

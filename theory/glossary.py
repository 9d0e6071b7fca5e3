"""One glossary for the whole project: a symbol's name in code and in cases, how papers print it, and what it means.

Every symbol of every claim's statement comes from `symbol(name)`, so a statement cannot use a quantity that is not defined here.
"""
from __future__ import annotations

from functools import cache
from typing import TYPE_CHECKING, NamedTuple

if TYPE_CHECKING:
    import sympy


class Term(NamedTuple):
    """How papers print a quantity (LaTeX), what it means, and the domain SymPy may assume."""

    latex: str
    meaning: str
    domain: str = "positive integer"


GLOSSARY: dict[str, Term] = {
    # the shape of a network
    "width": Term("d_x", "width: the dimension of the representation of one token"),
    "depth": Term("L", "depth: the number of layers"),
    "heads": Term("H", "attention heads per layer"),
    "head_width": Term("d_a", "width of one head, d_x / H"),
    "tokens": Term("N", "number of tokens (positions) in the input"),
    # separation rank
    "sep": Term(r"\operatorname{sep}", "separation rank of one output coordinate with respect to a balanced partition of the tokens"),
    "degree": Term(r"\deg", "total degree of an output coordinate as a polynomial in the tokens"),
}

_DOMAINS = {
    "positive integer": {"integer": True, "positive": True},
    "nonnegative integer": {"integer": True, "nonnegative": True},
    "integer": {"integer": True},
    "positive real": {"positive": True},
    "nonnegative real": {"nonnegative": True},
    "real": {"real": True},
}


@cache
def symbol(name: str) -> sympy.Symbol:
    """The SymPy symbol of a glossary entry, with the assumptions of its domain.

    Raises:
        KeyError: when the glossary has no such entry.

    >>> symbol("width").is_positive
    True
    """
    import sympy

    return sympy.Symbol(name, **_DOMAINS[GLOSSARY[name].domain])


def latex(expression: sympy.Basic) -> str:
    """LaTeX of an expression or relation, in the papers' notation.

    >>> latex(symbol("width") ** 2)
    'd_x^{2}'
    """
    import sympy

    names = {s: GLOSSARY[s.name].latex for s in expression.free_symbols if s.name in GLOSSARY}
    # log(x)/log(3) is how SymPy stores a logarithm to base 3; papers print it as one symbol.
    text = sympy.latex(_based_logarithms(expression), symbol_names=names)
    return text.replace(r"\operatorname{log}_{3}", r"\log_{3}")


def plain(expression: sympy.Basic) -> str:
    """One line of text for a terminal, in the papers' notation.

    >>> plain(symbol("width") ** symbol("depth"))
    'd_x**L'
    """
    import re

    import sympy

    names = {s: sympy.Symbol(re.sub(r"\\(operatorname|mathrm|text)|[\\{}]", "", GLOSSARY[s.name].latex))
             for s in expression.free_symbols if s.name in GLOSSARY}
    based = _based_logarithms(expression)
    return str(sympy.sstr(based.xreplace(names), order="none")) if names else str(based)


def _based_logarithms(expression: sympy.Basic) -> sympy.Basic:
    """Write log(x)/log(3) as log_3(x), for printing only."""
    import sympy

    log_3 = sympy.Function("log_3")

    def fold(product: sympy.Mul) -> sympy.Expr:
        if 1 / sympy.log(3) not in product.args:
            return product
        factors = [f for f in product.args if f != 1 / sympy.log(3)]
        for place, factor in enumerate(factors):
            if isinstance(factor, sympy.log):
                factors[place] = log_3(factor.args[0])
                return sympy.Mul(*factors, evaluate=False)
        return product

    return expression.replace(lambda e: isinstance(e, sympy.Mul), fold)

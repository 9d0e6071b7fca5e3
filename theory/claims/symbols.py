"""Quantities: how papers print them, what they mean, their domains; those that topics share."""

from __future__ import annotations

import re
import sys
from typing import Any, NamedTuple

import sympy
from sympy.core.relational import Relational

DOMAINS = {
    "positive integer": {"integer": True, "positive": True},
    "nonnegative integer": {"integer": True, "nonnegative": True},
    "integer": {"integer": True},
    "positive real": {"positive": True},
    "nonnegative real": {"nonnegative": True},
    "real": {"real": True},
}


class Term(NamedTuple):
    """How papers print a quantity (LaTeX), what it means, and the domain SymPy may assume."""

    latex: str
    meaning: str
    domain: str


# Every quantity of depthlaw that was declared so far, by name.
TERMS: dict[str, Term] = {}
# The same of each file of the user's, by its module.
_OWN: dict[str, dict[str, Term]] = {}


class OwnSymbol(sympy.Symbol):
    """A quantity of a user's file, which says itself what it stands for: depthlaw may use the name
    for another."""

    __slots__ = ("term",)
    term: Term

    def __new__(cls, name: str, term: Term) -> OwnSymbol:
        """As SymPy makes its own kinds of symbols."""
        made: OwnSymbol = sympy.Symbol.__xnew__(cls, name, **DOMAINS[term.domain])
        made.term = term
        return made

    def __getnewargs_ex__(self) -> Any:
        """What a copy is made from."""
        return (self.name, self.term), {}

    def _hashable_content(self) -> tuple[Any, ...]:
        return (*super()._hashable_content(), self.term)


def quantity(name: str, latex: str, meaning: str, domain: str = "positive integer") -> sympy.Symbol:
    """Declare a quantity, and return its symbol. A case gives it a value by a field of its name.
    Names of a user's file are its own, whatever depthlaw calls by them.

    Args:
        name: in code and in cases.
        latex: how papers print it.
        meaning: what it is, in a few words.
        domain: one of `DOMAINS`.

    Raises:
        ValueError: when the name stands for another quantity already.

    >>> quantity("width", "d_x", TERMS["width"].meaning) == width
    True
    """
    home = str(sys._getframe(1).f_globals["__name__"])
    own = home.startswith("depthlaw.own.")
    term, terms = Term(latex, meaning, domain), _OWN.setdefault(home, {}) if own else TERMS
    if terms.setdefault(name, term) != term:
        known = terms[name].meaning
        raise ValueError(f"the name {name!r} stands for another quantity already: {known}")
    if own and TERMS.get(name) != term:
        return OwnSymbol(name, term)
    return sympy.Symbol(name, **DOMAINS[domain])


def term_of(symbol: sympy.Symbol) -> Term | None:
    """What was declared of a symbol; None where nothing was."""
    return symbol.term if isinstance(symbol, OwnSymbol) else TERMS.get(symbol.name)


width = quantity("width", "d_x", "width: the dimension of the representation of one token")
depth = quantity("depth", "L", "depth: the number of layers")
heads = quantity("heads", "H", "attention heads per layer")
head_width = quantity("head_width", "d_a", "width of one head, $d_x/H$")
tokens = quantity("tokens", "N", "number of tokens (positions) in the input")
order = quantity(
    "order",
    "k",
    "degree in the moments of one side, or order of a derivative: an index of summation",
    "nonnegative integer",
)
parameters = quantity("parameters", r"N_{par}", "parameters without embeddings, 12 L d_x^2")
beta = quantity(
    "beta",
    r"\beta",
    r"bound on $\|W_{QK}\|_1 \|W_V\|_{1, \infty}$ over all heads and layers",
    "positive real",
)
residual = quantity(
    "residual", "r_0", "composite norm of the input tokens minus their centre", "positive real"
)
layer = quantity(
    "layer", "l", "layer after which a quantity is read; 0 is the embedding", "nonnegative integer"
)
diameter = quantity(
    "diameter", "D", "largest distance between two vertices of one component of a graph"
)
vertices = quantity("vertices", "n", "number of vertices of a graph")
hops = quantity("hops", "k", "number of hops")
hops_max = quantity(
    "hops_max", r"k_{max}", r"largest $k$ for which a statement gives $\mathrm{hop}_k$ at depth $L$"
)
summaries = quantity(
    "summaries",
    "S",
    "different summaries of one part of the input that the other part can tell apart",
)
edges = quantity("edges", "|E|", "number of edges of a graph", "nonnegative integer")
alphabet = quantity("alphabet", r"|\Sigma|", "number of symbols")
published_error = quantity(
    "published_error", r"P_{pub}", "published error of a trained model", "nonnegative real"
)
vocabulary = quantity("vocabulary", "V", "number of tokens in the vocabulary")
relative_error = quantity(
    "relative_error",
    r"\delta",
    "relative distance of an approximate count from the exact one",
    "nonnegative real",
)
rounding_gap = quantity(
    "rounding_gap",
    "u",
    "distance of a printed number from the exact one, in units of its last printed digit",
    "nonnegative real",
)
position = quantity("position", "j", "position of a token, counted from 1")
size_millions = quantity("size_millions", r"N_{10^6}", "parameters in millions")
stated = quantity("stated", "s", "value that a text states", "positive real")


def plain(expression: sympy.Basic) -> str:
    """One line of text by which machines know an expression; people read `notation.text`.

    >>> plain(width ** depth)
    'd_x^L'
    """
    markup = re.compile(r"\\(operatorname|mathrm|text)|[\\{}]")
    names = {
        s: sympy.Symbol(markup.sub("", term.latex))
        for s in expression.atoms(sympy.Symbol)
        if (term := term_of(s))
    }
    if isinstance(expression, Relational):
        # Side by side: SymPy would compare the sides of a relation that it builds anew.
        sides = [_based_logarithms(side).xreplace(names) for side in expression.args]
        printed = expression.func(*sides, evaluate=False)
    else:
        printed = _based_logarithms(expression).xreplace(names)
    return str(sympy.sstr(printed, order="none")).replace("**", "^")


def _based_logarithms(expression: sympy.Basic) -> sympy.Basic:
    """Write log(x)/log(3) as log_3(x), for printing only."""
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

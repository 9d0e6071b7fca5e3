"""The degree of the output, 3^L in the tokens and (3^L - 1)/2 in their moments; where it is d_x."""

from __future__ import annotations

import itertools
import math
from collections.abc import Callable, Iterator
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sympy import Expr, Indexed, IndexedBase, Integer, Symbol
from sympy.core.relational import Relational

from ..claims.definition import Ball, Case, Control, Exact, Formal, Source, Step, claim
from ..claims.proof_steps import vanish
from ..claims.symbols import quantity
from .linear_attention import (
    LinearAttentionNet,
    forward,
    layer_matrix,
    measured_degree,
    moments,
    normal_form,
    random_net,
    random_tokens,
)
from .rank_symbols import C, Eq, L, levine

Array = NDArray[Any]

deg = quantity(
    "degree", r"\deg", "total degree of an output coordinate as a polynomial in the tokens"
)
deg_M = quantity(
    "moments_degree",
    r"\deg_M",
    "degree of an output coordinate as a polynomial in the second moments of the tokens, $C(L)$",
)
tenths = quantity(
    "threshold_tenths",
    r"10\,L_{th}",
    "threshold depth in tenths of a layer, to the nearest integer",
    "nonnegative integer",
)
beta_two = quantity(
    "beta_two",
    r"\beta_2",
    r"layers beyond $\log_3(d_x)$, and factor $3^{\beta_2}$ in width, of the shallower net",
    "nonnegative integer",
)

_GRID = {
    "quick": Case.grid(width=(1, 2), depth=(1, 2, 3, 4)),
    "theory": Case.grid(width=(2, 3), depth=5),
}


@claim(
    Eq(deg, 3**L),
    source=levine("eqs. (3)-(4)"),
    wording="recalled",
    holds_for="almost every",
    headline="Base 3 has one reason: a layer multiplies query, key and value: degrees triple.",
    cases=_GRID,
    assumes={"no residual connections": lambda c: not c.get("residual", False)},
    control=Control(
        Case(width=2, depth=2, residual=True),
        "residual connections mix degrees 1 to $3^L$, so the output is no form",
    ),
    cited="Decides whether a least depth that rests on degree takes the logarithm to base 3 or 2.",
    formal=Formal(
        "Degree.degree_almost_all",
        "Degree.degree_value {depth}",
        "That the reals are an archimedean field, over which AlmostAll.v defines almost all.",
    ),
)
def degree(case: Case, seed: int) -> Exact | Ball:
    """Outputs of $L$ linearised layers have degree $3^L$ in the tokens.

    For every width, heads and tokens and almost all weights, an output coordinate of $L$ layers of
    linearised attention without residual connections is a form of degree $3^L$ in the tokens.

    The layer is as recalled; check against the paper. The degree is derived from it.
    """
    rng, residual = case.rng(seed), case.get("residual", False)
    net = random_net(rng, width=case.width, depth=case.depth, prime=None, residual=residual)
    return _over_z(rng, lambda tokens: forward(net, tokens).item(), (2, net.width))


@degree.argument(
    "One layer's term, the induction over $L$ and the positive witness are checked; prose: that "
    "sums of any length go like the sum over two of each, degrees of compositions multiply, and "
    "a polynomial that is not zero vanishes on a null set only."
)
def _(statement: Relational) -> Iterator[Step]:
    """deg = 3^L: induction over layers, and positive weights as the witness."""
    net, tokens = positive_net(), positive_symbols("x", (2, 2))
    term = _term("o:hpf q:hea y:ia k:heb y:jb v:hfc y:jc")
    total = sum(
        _at_indices(term, net, y=tokens, i=0, j=j, p=0, h=h, e=0, f=0, a=a, b=b, c=c)
        for j, h, a, b, c in itertools.product(range(2), repeat=5)
    )
    yield vanish(
        "a layer sums one kind of term over heads, tokens and coordinates, of which there "
        "may be any number; the sum over two of each is what the code computes",
        forward(net, tokens).item() - total,
    )
    yield vanish(
        "that term takes a factor t^3 when the tokens take t, whatever its indices are",
        _scaled_by(term, "y", 3),
    )
    yield from _induction(statement, first=3, following=lambda degree: 3 * degree)
    yield Step(
        "at positive weights and tokens every term is positive, so no output is the zero "
        "polynomial",
        term.is_positive,
    )


@claim(
    Eq(deg_M, C),
    source=levine("eqs. (3)-(4)"),
    holds_for="almost every",
    cases=_GRID,
    control=Control(Case(width=2, depth=2), "$3^L/2$, without the -1", Eq(deg_M, 3**L / 2)),
    supports="separation_rank/degree",
    formal=Formal(
        "Degree.moments_degree_almost_all",
        "Degree.moment_degree_value {depth}",
        "The named theorem is at the token of ones; form and linearity are moment_homogeneous "
        "and moment_poly_linear; that the reals are an archimedean field, over which "
        "AlmostAll.v defines almost all.",
    ),
)
def moments_degree(case: Case, seed: int) -> Exact | Ball:
    """Outputs of $L$ linearised layers have degree $(3^L - 1)/2$ in the moments.

    For every width and heads and almost all weights, an output coordinate is linear in the token at
    its position and a form of degree $C(L) = (3^L - 1)/2$ in the second moments of all tokens.
    """
    rng = case.rng(seed)
    net = random_net(rng, width=case.width, depth=case.depth, prime=None)
    token = random_tokens(rng, net)
    # A symmetric matrix from any square one: the polynomial is asked about off the cone of moment
    # matrices too.
    return _over_z(
        rng, lambda half: normal_form(net, half + half.T, token).item(), (net.width, net.width)
    )


@moments_degree.argument(
    "One layer, the induction over $L$ and the positive witness are checked; prose: that sums "
    "of any length go like the sum over two of each, degrees of compositions multiply, and a "
    "polynomial that is not zero vanishes on a null set only."
)
def _(statement: Relational) -> Iterator[Step]:
    """deg = C(L): the first layer gives 1, all later ones act on moments of degree 3."""
    net, half = positive_net(), positive_symbols("m", (2, 2))
    M = half + half.T
    term = _term("o:hpf v:hfb M:bc k:hec q:hea")
    entries = [
        sum(
            _at_indices(term, net, M=M, p=p, a=a, h=h, e=0, f=0, b=b, c=c)
            for h, b, c in itertools.product(range(2), repeat=3)
        )
        for p, a in itertools.product(range(2), repeat=2)
    ]
    yield vanish(
        "the matrix T(M) of a layer sums one kind of term over heads and coordinates, of "
        "which there may be any number; the sum over two of each is what the code "
        "computes",
        *(layer_matrix(net, 0, M).ravel() - entries),
    )
    yield vanish("that term is linear in M, whatever its indices are", _scaled_by(term, "M", 1))
    tokens = positive_symbols("x", (2, 2))
    moved = layer_matrix(net, 0, moments(net, tokens)) @ tokens[0]
    yield vanish(
        "and a layer multiplies a token by T(M), M the sum of x x^T over the tokens: so "
        "the output is linear in the token",
        *(forward(net, tokens, coordinate=p).item() - moved[p] for p in range(2)),
    )
    cubic = term * _term("M:ag") * _term("o:HqF v:HFB M:BC k:HEC q:HEg")
    yield vanish(
        "so a term of the moments after the layer, T(M) M T(M)^T, is cubic in M",
        _scaled_by(cubic, "M", 3),
    )
    yield from _induction(statement, first=1, following=lambda degree: 3 * degree + 1)
    yield Step(
        "at positive weights, moments and tokens every term is positive, so no output is "
        "the zero polynomial",
        bool(term.is_positive and cubic.is_positive),
    )


@claim(
    Eq(tenths, Integer(63)),
    source=Source("kdnuggets2020", "Our finding"),
    wording="printed",
    kind="threshold",
    weight="arithmetic",
    cases={"quick": (Case(width=1000),)},
    assumes={"$d_x = 1000$": lambda c: c.width == 1000},
    control=Control(Case(width=1100), r"$\log_3 1100 = 6.37$"),
    supports="separation_rank/knee",
)
def threshold_at_1000(case: Case) -> Exact:
    r"""At width 1000 the threshold is about 6.3 layers.

    At width 1000 the threshold depth $\log_3(d_x)$ is 6.3 to one decimal.

    The threshold is where the degree $3^L$ of the output (separation_rank/degree) reaches the
    width, as the abstract of levine2020, v1, has it. The agreement with Kaplan's split between 6
    and more layers is read off a figure; only the number is checked here.
    """
    # The largest t with 3^(2t-1) <= d_x^20.
    nearest = 0
    while 3 ** (2 * nearest + 1) <= case.width**20:
        nearest += 1
    return Exact(nearest)


def triplings(width: int) -> int:
    """log_3 of a power of three, else a ValueError: the depth at which the degree is the width."""
    depth, degree = 0, 1
    while degree < width:
        depth, degree = depth + 1, degree * 3
    if degree != width:
        raise ValueError(f"width={width} is no power of three, so no whole depth meets it exactly")
    return depth


def _over_z(
    rng: np.random.Generator, function: Callable[[Array], Any], shape: tuple[int, ...]
) -> Exact | Ball:
    """The degree of a polynomial over Z, on a random line."""
    base, direction = (rng.integers(1, 2**61, shape).astype(object) for _ in range(2))
    degree_over_z = measured_degree(function, base, direction)
    # By Schwartz and Zippel the part of top degree, if below 2^21, vanishes at a random direction
    # with probability at most 2^-40.
    return (
        Exact(degree_over_z.value, misses=2.0**-40)
        if isinstance(degree_over_z, Exact)
        else degree_over_z
    )


# --- layers as sums of one kind of term -----------------------------------------------------------


def _term(entries: str) -> Expr:
    """A product of entries, each "array:indices", of arrays of any size."""
    pairs = (entry.split(":") for entry in entries.split())
    return math.prod(
        IndexedBase(array, positive=True)[tuple(Symbol(i, integer=True) for i in indices)]
        for array, indices in pairs
    )


def _scaled_by(term: Expr, array: str, degree: int) -> Expr:
    """term(t * array) - t^degree term(array): zero exactly when homogeneous of that degree."""
    t = Symbol("t", positive=True)
    entries = [x for x in term.atoms(Indexed) if str(x.base) == array]
    return term.xreplace({x: t * x for x in entries}) - t**degree * term


def _at_indices(term: Expr, net: LinearAttentionNet, **values: Any) -> Expr:
    """The term at the net's first layer, and at arrays and indices given by name."""
    arrays = {"q": net.query[0], "k": net.key[0], "v": net.value[0], "o": net.output[0]} | values
    return math.prod(
        arrays[str(x.base)][tuple(values[str(i)] for i in x.indices)] ** n
        for x, n in term.as_powers_dict().items()
        if isinstance(x, Indexed)
    )


def _induction(
    statement: Relational, first: int, following: Callable[[Any], Any]
) -> Iterator[Step]:
    yield vanish(f"one layer has degree {first}", statement.rhs.subs(L, 1) - first)
    yield vanish(
        f"from L to L + 1 layers a degree n becomes {following(Symbol('n'))}",
        statement.rhs.subs(L, L + 1) - following(statement.rhs),
    )


def positive_net() -> LinearAttentionNet:
    """One layer of positive symbols, width 2, two heads: with two tokens, every kind of sum."""
    shapes = 3 * [(1, 2, 1, 2)] + [(1, 2, 2, 1)]
    query, key, value, output = map(positive_symbols, "qkvo", shapes)
    return LinearAttentionNet(query, key, value, output, prime=None)


def positive_symbols(name: str, shape: tuple[int, ...]) -> Array:
    """An array of positive symbols name0, name1, ..."""
    symbols = [Symbol(f"{name}{i}", positive=True) for i in range(math.prod(shape))]
    return np.array(symbols, dtype=object).reshape(shape)

"""Signal propagation at initialisation: how norms, gradients and token correlations change with depth, and the scales that keep them.

This module has the norms of pre-LN and post-LN streams and the Jacobian of LayerNorm, after Xiong et al.; the claims of
`gradients`, `initialisation`, `depth_scaling` and `token_correlation` belong to the same topic. SymPy is imported inside functions.
"""
from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from fractions import Fraction
from typing import Any

from ..claim import Case, Claim, Control, Source
from . import depth_scaling, gradients, initialisation, token_correlation
from . import measured as measured_by


def pre_ln_mean_square(layer: int) -> tuple[float, float]:
    """Lemma 2: the mean square of a coordinate of a pre-LN stream after layer l lies in [1 + l/2, 1 + 3 l/2].

    The attention branch writes between 0 (tokens cancel) and 1 (tokens are equal) per layer, the feed-forward branch 1/2.

    Args:
        layer: l >= 0; 0 is the embedding, with mean square 1.

    Raises:
        ValueError: for a negative layer.

    >>> pre_ln_mean_square(0), pre_ln_mean_square(24)
    ((1.0, 1.0), (13.0, 37.0))

    References: xiong2020, arXiv:2002.04745, Lemma 2.
    """
    if layer < 0:
        raise ValueError(f"the layer must be 0 (the embedding) or more, got {layer}")
    return 1 + layer / 2, 1 + 3 * layer / 2


def layernorm_jacobian_norm(row: Sequence[float]) -> float:
    """Lemma 3, exact form: the spectral norm sqrt(d)/||y|| of the Jacobian of LayerNorm at x, y = x minus its mean, d >= 3.

    At d <= 2 the output is a constant sign pattern and the Jacobian is 0.

    Raises:
        ValueError: for a row of equal numbers, where LayerNorm is not defined.

    >>> round(layernorm_jacobian_norm([4, 1, 1]), 6)
    0.707107

    References: xiong2020, arXiv:2002.04745, Lemma 3.
    """
    d = len(row)
    mean = math.fsum(row) / d if d else 0.0
    norm = math.sqrt(math.fsum((v - mean) ** 2 for v in row))
    if norm == 0:
        raise ValueError("LayerNorm has no derivative at a row of equal numbers; give a row with at least two different entries")
    return math.sqrt(d) / norm if d >= 3 else 0.0


def norm_excess_bound(width: int, excess: float) -> float:
    """exp(-d eps^2/8), which bounds the chance that ||X||^2 > (1 + eps) d for a standard Gaussian X, for 0 < eps <= 8/5.

    Raises:
        ValueError: beyond eps = 8/5; from about 1.62 on the bound is false for large d.

    >>> round(norm_excess_bound(512, 0.25), 6)
    0.018316

    References: xiong2020, arXiv:2002.04745, after the definition of (eps, delta)-boundedness.
    """
    if width < 1 or not 0 < excess <= 1.6:
        raise ValueError(f"width={width}, excess={excess}: accepted are widths from 1 and an excess in (0, 1.6]")
    return math.exp(-width * excess**2 / 8)


# --- claims ----------------------------------------------------------------------------------------------------------------------

_XIONG = "arXiv:2002.04745"
_MOMENTS = "Needs of the weights only independence, symmetry and variance 1/d, as Xavier's Gaussian weights have; d_ff = d."


def claims() -> Iterator[Claim]:
    """The claims of this stem."""
    yield _relu_claim()
    yield _post_ln_claim()
    yield from _pre_ln_claims()
    yield from _jacobian_claims()
    yield _tail_claim()
    yield from gradients.claims()
    yield from initialisation.claims()
    yield from depth_scaling.claims()
    yield from token_correlation.claims()


def _relu_claim() -> Claim:
    from sympy import Eq

    from ..glossary import symbol

    norm, v, d = symbol("squared_norm"), symbol("input_variance"), symbol("width")
    return Claim(
        key="signal_propagation/relu_norm", title="ReLU halves the mean squared norm of a Gaussian",
        text="For X with independent N(0, sigma^2) coordinates, E ||ReLU(X)||^2 = sigma^2 d/2.",
        statement=Eq(norm, v * d / 2), source=Source("xiong2020", "Lemma 1", _XIONG), wording="printed", kind="identity",
        holds_for="all", measured=measured_by.relu_squared_norm, proof=measured_by.prove_relu_norm,
        rests_on="one integral with a symbolic variance; prose: the mean of a sum over d coordinates is d times one mean",
        grid={"quick": Case.grid(width=(1, 3), input_variance=("1", "1/3")), "theory": Case.grid(width=512, input_variance=("2", "7/5"))},
        control=Control(Case(width=3, input_variance="1"), "the whole norm", statement=Eq(norm, v * d)))


def _post_ln_claim() -> Claim:
    from sympy import Eq, Rational

    from ..glossary import symbol

    square = symbol("sum_mean_square")
    return Claim(
        key="signal_propagation/post_ln_norm", title="post-LN residual sums have squared norm 3d/2 at every layer",
        text="At initialisation the residual sum that enters the last LayerNorm of a post-LN layer has mean squared norm 3d/2, for every "
              "layer l > 0 and every input whose rows LayerNorm is defined on.",
        statement=Eq(square, Rational(3, 2)), source=Source("xiong2020", "Lemma 2, post-LN", _XIONG), wording="printed", kind="identity",
        holds_for="all", measured=measured_by.post_ln_sum, proof=measured_by.prove_post_ln, note=_MOMENTS,
        rests_on="the machine checks the Gaussian half moment; prose: LayerNorm fixes the norm, fresh weights write uncorrelated with it",
        grid={"quick": Case.grid(width=2, layer=(1, 2, 5)), "theory": Case.grid(width=3, layer=(1, 3, 8))},
        control=Control(Case(width=2, layer=1), "without the feed-forward branch", statement=Eq(square, 1)))


def _pre_ln_claims() -> Iterator[Claim]:
    from sympy import Ge, Le, Rational

    from ..glossary import symbol

    square, layer, half = symbol("mean_square"), symbol("layer"), Rational(1, 2)
    source = Source("xiong2020", "Lemma 2, pre-LN", _XIONG)
    quick = (*Case.grid(width=2, layer=(0, 1), tokens=2, start=("identical", "opposite")), Case(width=2, layer=2, tokens=2, start="identical"),
             *Case.grid(layer=(1, 10, 40), tokens=(2, 64), start="orthogonal"))
    more = (Case(width=2, layer=3, tokens=2, start="identical"), Case(width=2, layer=2, tokens=2, start="opposite"),
            *Case.grid(layer=200, tokens=(2, 1024), start="orthogonal"))
    attained = " 'orthogonal' cases are of infinite width; the others average over all signs of all weights at width 2."
    bounds: tuple[tuple[Any, ...], ...] = (
        ("lower", -1, Ge(square, 1 + layer * half), Ge(square, 1 + 3 * layer * half), Case(width=2, layer=1, tokens=2, start="opposite")),
        ("upper", 1, Le(square, 1 + 3 * layer * half), Le(square, 1 + layer * half), Case(width=2, layer=1, tokens=2, start="identical")),
    )
    for name, side, statement, wrong, case in bounds:
        yield Claim(
            key=f"signal_propagation/pre_ln_norm_{name}", title=f"pre-LN streams grow linearly: {name} bound",
            text="At initialisation the mean squared norm of a pre-LN stream after layer l is at "
                  + ("least (1 + l/2) d." if side < 0 else "most (1 + 3 l/2) d."),
            statement=statement, source=source, wording="printed", kind=name, holds_for="all",
            rests_on="induction over layers; prose: fresh weights write uncorrelated with the stream, so that mean squares add",
            measured=measured_by.pre_ln_mean_square, proof=lambda st, side=side: measured_by.prove_pre_ln(st, side),  # type: ignore[misc]
            grid={"quick": quick, "theory": more},
            note=_MOMENTS + (" Attained at l = 1 by tokens that cancel." if side < 0 else " Attained by identical tokens.") + attained,
            control=Control(case, "the other end of the bracket", statement=wrong))


def _jacobian_claims() -> Iterator[Claim]:
    from sympy import Eq

    from ..glossary import symbol

    d, square = symbol("width"), symbol("centred_square")
    rows = ([4, 1, 1], [3, -1, 4, 1], [2, 7, 1, 8, 2], [1, 0, 0])
    more = ([5, 3, 5, 8, 9, 7, 9, 3], [1, 2, 3, 4, 5, 6, 7, 8, 9, 10])
    source = Source("xiong2020", "Lemma 3 and its proof", _XIONG)
    shape = {"d >= 3": lambda c: c.width >= 3, "||y||^2 is that of the row": lambda c: _centred([int(v) for v in c.row.split()]) == c}
    claimed: tuple[tuple[Any, ...], ...] = (
        ("layernorm_jacobian", True, "LayerNorm's Jacobian has spectral norm sqrt(d)/||y||",
         "At every x of width d >= 3 that is not constant, the Jacobian of LayerNorm has spectral norm sqrt(d)/||y||, y the centred x.",
         symbol("jacobian_square"), d / square, d**2 / square, "printed"),
        ("layernorm_jacobian_rank", False, "LayerNorm's Jacobian is a projection of rank d - 2",
         "At every x of width d >= 3 that is not constant, ||J||_F^2 = d (d - 2)/||y||^2: the Jacobian removes the mean and the radial "
         "direction and scales the rest.", symbol("jacobian_trace"), d * (d - 2) / square, d * (d - 1) / square, "derived"),
    )
    for name, spectral, title, words, quantity, value, wrong, reading in claimed:
        yield Claim(
            key=f"signal_propagation/{name}", title=title, text=words, statement=Eq(quantity, value), source=source, wording=reading,
            kind="identity", holds_for="all", assumes=shape,
            rests_on="the derivative and the projection algebra are symbolic; prose: y is orthogonal to the ones, and what a trace counts",
            measured=lambda c, s, spectral=spectral: measured_by.jacobian_size(c, s, spectral=spectral),  # type: ignore[misc]
            proof=lambda st, spectral=spectral: measured_by.prove_jacobian(st, spectral=spectral),  # type: ignore[misc]
            grid={"quick": tuple(map(_centred, rows)), "theory": tuple(map(_centred, more))},
            note="Lemma 3 states O(sqrt(d)/||x||); its proof has the exact Jacobian, from which this follows.",
            control=Control(_centred(rows[0]), "another dimension", statement=Eq(quantity, wrong)))


def _centred(row: list[int]) -> Case:
    """A row as a case, with its width and the squared norm of the centred row."""
    d = len(row)
    return Case(row=" ".join(map(str, row)), width=d, centred_square=f"{d * sum(v * v for v in row) - sum(row) ** 2}/{d}")


def _tail_claim() -> Claim:
    from sympy import Le, exp

    from ..glossary import symbol

    tail, eps, d = symbol("excess_probability"), symbol("relative_excess"), symbol("width")
    return Claim(
        key="signal_propagation/norm_concentration", title="squared norms of Gaussians rarely exceed their mean",
        text="For a standard Gaussian vector X of width d and 0 < eps <= 8/5, P(||X||^2 > (1 + eps) d) <= exp(-d eps^2/8).",
        statement=Le(tail, exp(-d * eps**2 / 8)), source=Source("xiong2020", "after the definition of (eps, delta)-boundedness", _XIONG),
        wording="printed", kind="upper", holds_for="all", measured=measured_by.gaussian_tail, proof=measured_by.prove_tail,
        rests_on="every inequality on the whole range; prose: Markov's inequality; that the slope has one root rests on SymPy's solver",
        assumes={"eps <= 8/5": lambda c: 0 < c.rational("relative_excess") <= Fraction(8, 5)},
        grid={"quick": Case.grid(width=(1, 8, 64), relative_excess=("1/100", "1/10", "1/2", "8/5")),
              "theory": Case.grid(width=(512, 4096), relative_excess=("1/10", "1", "8/5"))},
        note="Needs a bound on eps that the text does not state: from eps = 1.6238 on it is false for large d.",
        control=Control(Case(width=64, relative_excess="3"), "eps = 3 is beyond the range"))

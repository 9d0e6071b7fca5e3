"""Depth for a parameter budget: the threshold log_3(d), Levine's fit, and the other rules in use, each solved for the depth.

A budget is a count N = 12 L d^2 of parameters without embeddings, positions, norms and biases: per layer 4 d^2 for attention and
8 d^2 for a feed-forward network of width 4 d. Each rule here ties width to depth and is solved for L at a given N. Only the standard
library is imported at the top, so that a command line can ask for a depth without waiting for SymPy.
"""
from __future__ import annotations

import math
from collections.abc import Iterator
from typing import Any

from ..claim import Case, Claim, Control, Exact, Source
from . import measured as measured_by
from .models import model, models

# Levine's fit ln d = a + b L of the width at which a net of depth L stops losing to shallower ones of equal size.
FIT_A, FIT_B = 5.039, 5.55e-2
# Its covariance: variances of a and b, and their covariance.
FIT_VAR_A, FIT_VAR_B, FIT_COV = 9.4e-4, 1.74e-6, -3.74e-5
# Depths of the nets behind the fit, and the size beyond which it extrapolates whatever the depth.
FIT_DEPTHS, FIT_MAX_PARAMETERS = (6, 48), 6e8


def parameters_nonembedding(depth: float, width: float) -> float:
    """Parameters without embeddings: N = 12 L d^2 (4 d^2 attention and 8 d^2 feed-forward per layer).

    Args:
        depth: layers.
        width: model dimension d.

    Returns:
        The count, exact for integers.

    Raises:
        ValueError: unless both are positive and finite.

    >>> parameters_nonembedding(12, 768)
    84934656

    References: kaplan2020, arXiv:2001.08361, section 2.1.
    """
    return 12 * _positive("the depth", depth) * _positive("the width", width) ** 2


def width_at(parameters: float, depth: float) -> float:
    """The width d = sqrt(N / (12 L)) that spends a budget N on L layers.

    >>> width_at(84934656, 12)
    768.0
    """
    return math.sqrt(_positive("the budget", parameters) / (12 * _positive("the depth", depth)))


def lambert_w_exp(y: float) -> float:
    """W(e^y) for real y: the solution w > 0 of w + ln w = y, so that W of a huge argument never overflows.

    Newton's method on the concave function w + ln w - y climbs monotonically to the root after one step. The last step leaves
    an error of a few units in the last place of max(|y|, 1), divided by 1 + 1/w.

    >>> lambert_w_exp(1.0), round(lambert_w_exp(1e6), 6)
    (1.0, 999986.184503)

    Raises:
        ValueError: for an infinite or undefined y.
    """
    if not math.isfinite(y):
        raise ValueError(f"the logarithm of Lambert W's argument must be finite, got {y}; check the budget")
    if y < -700:  # w = e^y (1 - e^y + ...) underflows to the same float
        return math.exp(y)
    w = y if y > 1 else math.exp(y)
    for _ in range(100):
        following = w * ((1 + y - math.log(w)) / (1 + w))
        if abs(following - w) <= 1e-15 * following:
            return following
        w = following
    return w


# --- the threshold log_3(d) ---------------------------------------------------------------------------------------------------

def threshold_parameters(depth: int) -> int:
    """The largest budget whose nets of depth L can satisfy L >= log_3(d): N = 12 L 9^L, reached at d = 3^L.

    >>> [threshold_parameters(L) for L in (4, 5, 6)]
    [314928, 3542940, 38263752]

    References: levine2020, arXiv:2006.12467v1, abstract (threshold); the inversion is derived here.
    """
    return 12 * int(_positive("the depth", depth)) * 9 ** int(depth)


def threshold_depth(parameters: float) -> float:
    """The real depth L = W(N ln 9 / 12) / ln 9 at which N = 12 L d^2 meets L = log_3(d). Deeper nets of that size have L > log_3(d).

    >>> [round(threshold_depth(10.0 ** k), 2) for k in (6, 7, 8, 9, 12)]
    [4.47, 5.43, 6.41, 7.39, 10.38]

    References: levine2020, arXiv:2006.12467v1, abstract (threshold); closed form derived here.
    """
    return lambert_w_exp(math.log(_positive("the budget", parameters)) + math.log(math.log(9) / 12)) / math.log(9)


def threshold_layers(parameters: int) -> int:
    """The smallest integer L with 12 L 9^L >= N: the fewest layers for which a net of N parameters has L >= log_3(d). Exact integers.

    >>> threshold_layers(1_300_000_000), threshold_layers(314928), threshold_layers(314929)
    (8, 4, 5)
    """
    _positive("the budget", parameters)
    depth = 1
    while 12 * depth * 9**depth < parameters:
        depth += 1
    return depth


# --- Levine's fit -------------------------------------------------------------------------------------------------------------

def transition_width(depth: float) -> float:
    """Levine's fit: d = exp(a + b L), the width from which depth L pays at equal size (L of 6 to 48 measured).

    >>> [round(transition_width(L)) for L in (6, 24, 48)]
    [215, 585, 2215]

    References: levine2020, arXiv:2006.12467v3; constants as in bigscience, math/README.md, and wu2023.
    """
    return math.exp(FIT_A + FIT_B * _positive("the depth", depth))


def transition_parameters(depth: float) -> float:
    """Levine's fit as a size: N_tr(L) = 12 L exp(2 a + 2 b L). Below it depth L loses to fewer layers, above it depth L wins.

    >>> f"{transition_parameters(48):.3g}"
    '2.83e+09'
    """
    return 12 * depth * transition_width(depth) ** 2


def transition_relative_error(depth: float) -> float:
    """First-order standard error Delta N / N = 2 sqrt(var_a + L^2 var_b + 2 L cov) of the transition size at depth L.

    >>> round(transition_relative_error(24), 4)
    0.0243
    """
    depth = _positive("the depth", depth)
    return 2 * math.sqrt(FIT_VAR_A + depth**2 * FIT_VAR_B + 2 * depth * FIT_COV)


def transition_depth(parameters: float) -> float:
    """Levine's fit solved for a budget: L e^{2bL} = N / (12 e^{2a}), so L = W(b N / (6 e^{2a})) / (2 b).

    >>> [round(transition_depth(n), 1) for n in (1e8, 7e9, 1.75e11)]
    [24.1, 55.0, 80.5]
    """
    return lambert_w_exp(math.log(_positive("the budget", parameters)) + math.log(FIT_B / 6) - 2 * FIT_A) / (2 * FIT_B)


def transition_depth_gradient(depth: float) -> tuple[float, float]:
    """(dL/da, dL/db) of the inverted fit at fixed N, by implicit differentiation of ln L + 2 a + 2 b L = const:
    dL/da = -2 L / (1 + 2 b L) and dL/db = -2 L^2 / (1 + 2 b L).

    >>> [round(g, 2) for g in transition_depth_gradient(24.0)]
    [-13.1, -314.41]
    """
    slope = -2 * _positive("the depth", depth) / (1 + 2 * FIT_B * depth)
    return slope, slope * depth


def transition_depth_error(parameters: float) -> float:
    """First-order standard error of `transition_depth`: the gradient through the covariance of (a, b). It is the error of the fit
    alone: not of its form, nor of using it beyond the sizes it was fitted on.

    >>> round(transition_depth_error(1e8), 2)
    0.16
    """
    da, db = transition_depth_gradient(transition_depth(parameters))
    return math.sqrt(da * da * FIT_VAR_A + db * db * FIT_VAR_B + 2 * da * db * FIT_COV)


def extrapolated(parameters: float) -> bool:
    """Whether Levine's fit is used outside the nets behind it: depths 6 to 48, about 6e8 parameters.

    >>> extrapolated(1e8), extrapolated(7e9), extrapolated(1e5)
    (False, True, True)
    """
    low, high = FIT_DEPTHS
    return parameters > FIT_MAX_PARAMETERS or not low <= transition_depth(parameters) <= high


# --- other rules --------------------------------------------------------------------------------------------------------------

def aspect_depth(parameters: float, aspect: float) -> float:
    """The depth of a net of N = 12 L d^2 parameters with aspect ratio d / L = r: L = (N / (12 r^2))^(1/3).

    >>> round(aspect_depth(12 * 24 * 1536**2, 64), 9)
    24.0
    """
    return math.cbrt(_positive("the budget", parameters) / (12 * _positive("the aspect ratio", aspect) ** 2))


def logarithmic_depth(parameters: float, layers_per_e_fold: float) -> float:
    """The depth of a net of N = 12 L d^2 parameters with L = c ln d: L = (c / 2) W(N / (6 c)). The threshold has c = 1 / ln 3.

    >>> round(logarithmic_depth(1e9, 1 / math.log(3)) - threshold_depth(1e9), 12)
    0.0
    """
    c = _positive("the number of layers per e-fold of width", layers_per_e_fold)
    return c / 2 * lambert_w_exp(math.log(_positive("the budget", parameters)) - math.log(6 * c))


def _positive(what: str, value: float) -> float:
    if not (isinstance(value, int) or math.isfinite(value)) or value <= 0:
        raise ValueError(f"{what} must be a positive finite number, got {value}; try for example 24 layers, width 1024 or 1.3e9 parameters")
    return value


# --- claims -------------------------------------------------------------------------------------------------------------------

_V1, _V3 = "arXiv:2006.12467v1", "arXiv:2006.12467v3"
_AS_RECALLED = "as recalled; check against the paper"


def claims() -> Iterator[Claim]:
    """The claims of this module."""
    yield from _threshold_claims()
    yield from _fit_claims()
    yield _fit_error_claim()
    yield from _projection_claims()
    yield _never_binds_claim()


def _threshold_claims() -> Iterator[Claim]:
    from sympy import Eq, Integer, LambertW, log

    from ..glossary import symbol

    N, L, depth = symbol("parameters"), symbol("depth"), symbol("threshold_depth")
    nine, four = log(Integer(9)), log(Integer(4))
    source = Source("levine2020", "abstract (threshold); the inversion is derived here", _V1)
    yield Claim(
        key="depth_choice/threshold_budget", title="least depth above log_3(d) for a budget",
        text="For every budget N = 12 L d^2 the least real depth with L >= log_3(d) is W(N ln 9 / 12) / ln 9, W being Lambert's "
              "function; stated to nine decimals, rounded down.",
        statement=Eq(depth, _nine_decimals(LambertW(N * nine / 12) / nine)),
        source=source, wording="derived", kind="identity", holds_for="all",
        measured=lambda case, seed: Exact(measured_by.root(measured_by.threshold_size, case.parameters)),
        grid={"quick": Case.grid(parameters=(12, 10**6, 10**7, 1_300_000_000, 10**12)),
              "theory": Case.grid(parameters=(10**8, 10**9, 10**15, 10**18))},
        control=Control(Case(parameters=10**9), "base 2 in place of base 3",
                       statement=Eq(depth, _nine_decimals(LambertW(N * four / 12) / four))),
        proof=measured_by.threshold_proof,
        rests_on="machine: the closed form solves 12 L 9^L = N, which grows with L; prose: so L >= log_3(d) exactly from that depth on",
        note="The threshold concerns attention without softmax, feed-forward layers and residuals.")
    yield Claim(
        key="depth_choice/threshold_inverse", title="largest budget a depth serves under the threshold",
        text="For every depth L the largest net with L >= log_3(d) has width 3^L and 12 L 9^L parameters.",
        statement=Eq(symbol("threshold_parameters"), 12 * L * 9**L),
        source=source, wording="derived", kind="identity", holds_for="all",
        measured=lambda case, seed: Exact(measured_by.weights(case.depth, measured_by.widest(case.depth))),
        grid={"quick": Case.grid(depth=range(1, 12)), "theory": Case.grid(depth=(16, 32, 64))},
        control=Control(Case(depth=6), "3^L in place of d^2 = 9^L", statement=Eq(symbol("threshold_parameters"), 12 * L * 3**L)),
        note="So the threshold asks for one more layer when the width grows by a factor 3, and for 0.91 layers more per factor e.")


def _fit_claims() -> Iterator[Claim]:
    from sympy import Eq, LambertW, Rational, exp, floor

    from ..glossary import symbol

    N, L, half = symbol("parameters"), symbol("depth"), Rational(1, 2)
    width, depth = symbol("transition_width"), symbol("transition_depth")
    a, b = _exact(FIT_A), _exact(FIT_B)
    yield Claim(
        key="depth_choice/levine_fit_width", title="Levine's fit: its two published forms agree",
        text="In Levine's fit the width from which a net of depth L stops losing to shallower ones of equal size is exp(a + b L), with "
              "a = 5.039 and b = 0.0555; here to the nearest integer, measured by inverting the other published form L = (ln d - a) / b.",
        statement=Eq(width, floor(exp(a + b * L) + half)),
        source=Source("bigscience", "math/README.md, after levine2020"), wording="reported", kind="empirical fit", holds_for="all",
        weight="measurement",
        measured=lambda case, seed: Exact(measured_by.nearest_width(case.depth)),
        grid={"quick": Case.grid(depth=(6, 12, 18, 24, 30, 36, 48)), "theory": Case.grid(depth=(1, 64, 96, 118))},
        control=Control(Case(depth=48), "b = 0.0565", statement=Eq(width, floor(exp(a + Rational("0.0565") * L) + half))),
        note="Says that the published forms of the fit agree, not that nets obey it. Nets of 6 to 48 layers are behind it. By its slope it "
             "asks for 18.0 more layers when the width grows by a factor e, and for 19.8 by a factor 3.")
    yield Claim(
        key="depth_choice/levine_fit_depth", title="Levine's fit solved for a budget",
        text="For every budget N the depth L with N = 12 L exp(2 a + 2 b L) is W(b N / (6 e^(2 a))) / (2 b), a = 5.039, b = 0.0555; "
              "stated to nine decimals, rounded down.",
        statement=Eq(depth, _nine_decimals(_fit_depth(N, a, b))),
        source=Source("bigscience", "math/README.md, after levine2020; the inversion is derived here"),
        wording="derived", kind="identity", holds_for="all",
        measured=lambda case, seed: Exact(measured_by.root(measured_by.fit_size, case.parameters)),
        grid={"quick": Case.grid(parameters=(10**6, 10**8, 1_300_000_000, 7 * 10**9, 175 * 10**9)),
              "theory": Case.grid(parameters=(10**3, 10**10, 10**12, 10**15))},
        control=Control(Case(parameters=10**8), "a factor 2 lost in W's argument",
                       statement=Eq(depth, _nine_decimals(LambertW(b * N / (12 * exp(2 * a))) / (2 * b)))),
        weight="measurement", proof=measured_by.fit_proof,
        rests_on="machine: the closed form solves 12 L exp(2 a + 2 b L) = N, which grows with L; the constants are those published",
        note="An algebraic fact about the fit, which extrapolates beyond 48 layers or about 6e8 parameters.")


def _fit_error_claim() -> Claim:
    from sympy import Eq

    from ..glossary import symbol

    L, variance = symbol("depth"), symbol("transition_variance")
    var_a, var_b, cov = _exact(FIT_VAR_A), _exact(FIT_VAR_B), _exact(FIT_COV)
    return Claim(
        key="depth_choice/levine_fit_error", title="error of the transition size",
        text="For every depth L the squared relative error of N = 12 L exp(2 a + 2 b L) is, to first order, "
              "4 (var_a + L^2 var_b + 2 L cov); its root is the published 2 sqrt(...).",
        statement=Eq(variance, 4 * (var_a + L**2 * var_b + 2 * L * cov)),
        source=Source("levine2020", "the fit of the transition sizes", _V3), wording="recalled", kind="identity", holds_for="all",
        measured=lambda case, seed: Exact(measured_by.propagated(case.depth)),
        grid={"quick": Case.grid(depth=(1, 6, 12, 24, 48)), "theory": Case.grid(depth=(80, 118))},
        control=Control(Case(depth=24), "the covariance counted once", statement=Eq(variance, 4 * (var_a + L**2 * var_b + L * cov))),
        weight="measurement", proof=measured_by.error_proof,
        rests_on="machine: gradient of ln N through the covariance, for every L; recalled: the three entries of the covariance",
        note=_AS_RECALLED + ". The variances too are recalled; their roots agree with the recalled errors 0.030 and 1.3e-3.")


def _projection_claims() -> Iterator[Claim]:
    from sympy import Eq, Lt, Rational, floor

    from ..glossary import symbol

    N, projected, half = symbol("parameters"), symbol("projected_depth"), Rational(1, 2)
    a, b, rows = _exact(FIT_A), _exact(FIT_B), measured_by.projections()
    depths = tuple(Case(model=r["model"], stated_in=r["stated_in"], parameters=int(r["parameters"])) for r in rows)
    thirteen = next(case for case in depths if case.model == "GPT-3 13B")
    yield Claim(
        key="depth_choice/gpt3_projection", title="projected depths of the GPT-3 models and of 10^12 parameters",
        text="Every projected depth in Table 1, and the one that the authors' page gives for 10^12 parameters, is the solution of Levine's "
              "fit at N = 12 L d^2 of the trained shape (or at 10^12), rounded to an integer.",
        statement=Eq(projected, floor(_fit_depth(N, a, b) + half)),
        source=Source("levine2020", "Table 1, all nine rows; and the authors' page", _V3), wording="recalled", kind="empirical fit",
        holds_for="all", known="FAILS", weight="measurement",
        measured=lambda case, seed: Exact(measured_by.projected(case)), grid={"quick": depths},
        control=Control(thirteen, "a = 5.1", statement=Eq(projected, floor(_fit_depth(N, Rational("5.1"), b) + half))),
        note=_AS_RECALLED + ". Measured: the entries of the table. GPT-3 Large is given 38 layers where the fit gives 37.4; the rounding of a "
             "and b moves that by less than 0.04, and the fit's own standard error there is 0.35. For 10^12 the table's 95 is the rounded 94.7, "
             "the page's 92 is not: the two contradict each other. The other eight rows agree; within one layer all but the 92 do.")
    widths = tuple(Case(model=r["model"], parameters=int(r["parameters"]), projected_depth=int(r["projected_depth"]),
                        stated_in=r["stated_in"], width=int(r["projected_width"] or measured_by.projected_width(r["model"]))) for r in rows)
    gap = symbol("rounding_gap")
    yield Claim(
        key="depth_choice/projected_widths", title="projected widths spend the budget at the projected depth",
        text="In every row the projected width is sqrt(N / (12 L)) at the projected integer depth L, to less than one unit of its third "
              "digit, whether rounded or cut off; the depth of the authors' page is taken with the table's width.",
        statement=Lt(gap, 1), source=Source("levine2020", "Table 1, all nine rows; how it was computed is our reconstruction", _V3),
        wording="derived", kind="upper", holds_for="all", known="FAILS", weight="arithmetic",
        measured=lambda case, seed: measured_by.width_gap(case.parameters, case.projected_depth, case.width), grid={"quick": widths},
        control=Control(widths[4], "a twentieth of a unit", statement=Lt(gap, Rational(1, 20))),
        note="The entries are as recalled. In the row of 10^12 parameters a depth of 95 would go with a width of 29,618; the recalled "
             "30,100 goes with the 92 layers of the authors' page. As recalled, that row contradicts itself.")


def _never_binds_claim() -> Claim:
    from math import log as ln

    from sympy import Gt, Integer, log

    from ..glossary import symbol

    # The tightest rows first, so that the quick suite holds them.
    rows = sorted((m for m in models() if m.parameters > 10**8), key=lambda m: m.layers / ln(m.width))
    cases = [Case(model=m.name, width=m.width) for m in rows]
    return Claim(
        key="depth_choice/threshold_never_binds", title="listed models above 1e8 are deeper than log_3(d)",
        text="Every listed model with more than 1e8 parameters without embeddings has more than log_3(d) layers.",
        statement=Gt(symbol("depth"), log(symbol("width")) / log(Integer(3))),
        source=Source("depthlaw", "theory/depth_choice/models.csv"), wording="derived", kind="lower", holds_for="all", weight="measurement",
        measured=lambda case, seed: Exact(model(case.model).layers),
        grid={"quick": (*cases[:12], cases[-1]), "theory": tuple(cases[12:-1])},
        assumes={"more than 1e8 parameters without embeddings": lambda case: model(case.model).parameters > 10**8},
        control=Control(Case(model="BERT-Tiny", width=128), "2 layers of width 128, far below 1e8 parameters"),
        note="A fact about the listed models, not a law: the bare threshold does not limit nets as built. T5 counts layers per stack.")


def _exact(constant: float) -> Any:
    """The decimal that a constant was published as, as a rational."""
    from sympy import Rational

    return Rational(repr(constant))


def _nine_decimals(depth: Any) -> Any:
    """A real depth rounded down to nine decimals: equality of rationals can be decided, equality of two reals cannot."""
    from sympy import floor

    return floor(depth * measured_by.UNITS) / measured_by.UNITS


def _fit_depth(parameters: Any, a: Any, b: Any) -> Any:
    from sympy import LambertW, exp

    return LambertW(b * parameters / (6 * exp(2 * a))) / (2 * b)

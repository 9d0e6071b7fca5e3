"""Scales that depend on depth: DeepNorm and ADMIN for post-LN, depth-muP and CompleteP for residual branches and learning rates.

Part of the topic signal_propagation. Exponents are those of L in a quantity that goes as a power of L; the claims on
exponents count powers in a scalar model, they are no statements about trained nets.
"""
from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from typing import Any, NamedTuple

from ..claim import Case, Claim, Control, Source
from . import depth_scaling_measured as measured_by
from .measured import nine_decimals


class DeepNorm(NamedTuple):
    """alpha multiplies the residual branch, x <- LN(alpha x + G(x)); beta multiplies the initial feed-forward, value and output weights."""

    alpha: float
    beta: float


class DepthExponents(NamedTuple):
    """Powers of the depth ratio m_L: of the branch multiplier, and of Adam's and SGD's learning rate and Adam's epsilon in the blocks."""

    branch: float
    adam: float
    sgd: float
    epsilon: float


def deepnorm(layers: int, *, cross_attention: bool = False) -> DeepNorm:
    """DeepNorm's scales of an encoder-only or decoder-only stack, or of the decoder of an encoder-decoder.

    alpha = n^(1/4) and beta = (4 n)^(-1/4) with n = 2 N sublayers, or 3 M with cross-attention, are printed; that they
    solve n 2 beta^2/alpha^2 = 1 and 2 alpha^2 beta^2 = 1 is derived here.

    Args:
        layers: N, or M with cross-attention.
        cross_attention: whether a layer has three sublayers.

    Raises:
        ValueError: below one layer.

    >>> [round(x, 4) for x in deepnorm(100)]
    [3.7606, 0.188]

    References: wang2022deepnet, arXiv:2203.00555, figure 2.
    """
    n = (3 if cross_attention else 2) * _positive(layers)
    return DeepNorm(n**0.25, (4 * n) ** -0.25)


def deepnorm_encoder(layers: int, decoder_layers: int) -> DeepNorm:
    """DeepNorm's scales of the encoder of an encoder-decoder, unrounded: 3^(-3/16) (N^4 M)^(1/16) and 3^(3/16)/sqrt(2) (N^4 M)^(-1/16).

    Printed are the coefficients 0.81 and 0.87, for 0.8138 and 0.8689.

    >>> [round(x, 4) for x in deepnorm_encoder(1, 1)]
    [0.8138, 0.8689]
    """
    size = (_positive(layers) ** 4 * _positive(decoder_layers)) ** (1 / 16)
    return DeepNorm(3 ** (-3 / 16) * size, 3 ** (3 / 16) / math.sqrt(2) / size)


def admin_omegas(variances: Sequence[float]) -> list[float]:
    """ADMIN: omega_i = sqrt(1 + the profiled variances of the branches before i), the embedding counted as variance 1.

    >>> [round(w, 3) for w in admin_omegas([1.0, 1.0, 1.0])]
    [1.0, 1.414, 1.732]
    >>> admin_omegas([])
    []

    References: liu2020admin, arXiv:2004.08249, as reported.
    """
    if any(v < 0 or not math.isfinite(v) for v in variances):
        raise ValueError("variances must be finite and not negative; profile them with one forward pass at omega = 1")
    return [math.sqrt(1 + math.fsum(variances[:i])) for i in range(len(variances))]


def depth_exponents(alpha: float) -> DepthExponents:
    """CompleteP's rule for branches multiplied by m_L^(-alpha): Adam m_L^(alpha-1), SGD m_L^(2 alpha-1), epsilon m_L^(-alpha).

    alpha = 1/2 is depth-muP, alpha = 1 CompleteP. Below 1/2 the stream's variance grows with depth.

    Raises:
        ValueError: outside [1/2, 1].

    >>> depth_exponents(1.0)
    DepthExponents(branch=-1.0, adam=0.0, sgd=1.0, epsilon=-1.0)

    References: dey2025, arXiv:2505.01618; the SGD exponent is derived here.
    """
    if not 0.5 <= alpha <= 1:
        raise ValueError(f"alpha must lie in [1/2, 1] (1/2 is depth-muP, 1 is CompleteP), got {alpha}")
    return DepthExponents(-alpha, alpha - 1, 2 * alpha - 1, -alpha)


def _positive(layers: int) -> int:
    if layers < 1:
        raise ValueError(f"a stack has at least one layer, got {layers}")
    return layers


# --- claims ----------------------------------------------------------------------------------------------------------------------

_STEM = "signal_propagation/"
_DEEPNET, _COMPLETEP = "arXiv:2203.00555", "arXiv:2505.01618"
_DEPTHS = (1, 2, 3, 5, 6, 12, 18, 24, 100)
_SCALE = "the closed form is put into both equations for every depth; prose: a monotone left side has one root"
_POWERS = "power counting: the law in L is typed in and the machine adds its exponents; the cases, scalar nets, decide"


def claims() -> Iterator[Claim]:
    """The claims of this module."""
    yield from _deepnorm_claims()
    yield from _encoder_claims()
    yield _transcribed_claim()
    yield from _amplification_claims()
    yield _admin_claim()
    yield from _exponent_claims()
    yield _second_order_claim()
    yield _width_claim()


def _deepnorm_claims() -> Iterator[Claim]:
    from sympy import Eq, Rational

    from ..glossary import symbol

    quarter = Rational(1, 4)
    scales = {True: symbol("residual_scale"), False: symbol("init_scale")}
    for stack, decoder, layers, n in (("", False, symbol("depth"), 2), ("decoder_", True, symbol("decoder_depth"), 3)):
        for name, residual, value in (("alpha", True, (n * layers) ** quarter), ("beta", False, (4 * n * layers) ** -quarter)):
            scale = scales[residual]
            text = f"({n if residual else 4 * n}{'M' if decoder else 'N'})^({'1/4' if residual else '-1/4'})"
            yield Claim(
                key=f"{_STEM}deepnorm_{stack}{name}", title=f"DeepNorm's {name} = {text} solves two equations",
                text=f"The printed {name} = {text} of {'the decoder of an encoder-decoder' if decoder else 'an encoder-only or decoder-only stack'} "
                      f"is the only positive scale with {n}{'M' if decoder else 'N'} 2 beta^2/alpha^2 = 1 and 2 alpha^2 beta^2 = 1, two equations "
                      "that are derived here; to nine decimals, rounded down.",
                statement=Eq(scale, nine_decimals(value)), source=Source("wang2022deepnet", "figure 2 and section 4.3", _DEEPNET), wording="derived",
                kind="identity", holds_for="all", rests_on=_SCALE,
                measured=lambda c, s, residual=residual: measured_by.deepnorm_scale(c, s, residual=residual),  # type: ignore[misc]
                proof=lambda st, residual=residual, count=n * layers: measured_by.prove_scale(  # type: ignore[misc]
                    st, residual=residual, sublayers=count),
                grid={"quick": Case.grid(**{layers.name: _DEPTHS}, decoder=decoder),
                      "theory": Case.grid(**{layers.name: (8, 27, 48, 500, 1000)}, decoder=decoder)},
                note="Printed are the constants. The first equation makes the sum over sublayers in Theorem 4.2 one at v = w = beta; the "
                     "second is what the constants satisfy besides. That they were chosen by these two is our reading.",
                control=Control(Case(**{layers.name: 6}, decoder=decoder), "a square root",
                               statement=Eq(scale, nine_decimals(value**2))))


def _encoder_claims() -> Iterator[Claim]:
    from sympy import Eq, Rational, sqrt

    from ..glossary import symbol

    n, m, sixteenth = symbol("depth"), symbol("decoder_depth"), Rational(1, 16)
    size = (n**4 * m) ** sixteenth
    for name, residual, scale, value in (
        ("alpha", True, symbol("residual_scale"), 3 ** (-3 * sixteenth) * size),
        ("beta", False, symbol("init_scale"), 3 ** (3 * sixteenth) / sqrt(2) / size),
    ):
        exact = "3^(-3/16) (N^4 M)^(1/16)" if residual else "3^(3/16)/sqrt(2) (N^4 M)^(-1/16)"
        yield Claim(
            key=f"{_STEM}deepnorm_encoder_{name}", title=f"DeepNorm's encoder {name}, before rounding",
            text=f"{name} = {exact} is the only scale of an encoder of N layers before a decoder of M layers with "
                  "(M v_d w_d/alpha_d) 2N 2 beta^2/alpha^2 = 1 and 2 alpha^2 beta^2 = 1, two equations that are derived here; to nine "
                  "decimals, rounded down.",
            statement=Eq(scale, nine_decimals(value)), source=Source("wang2022deepnet", "section 4.3, encoder-decoder; Theorem 4.3", _DEEPNET),
            wording="derived", kind="identity", holds_for="all", rests_on=_SCALE,
            measured=lambda c, s, residual=residual: measured_by.encoder_scale(c, s, residual=residual),  # type: ignore[misc]
            proof=lambda st, residual=residual: measured_by.prove_scale(  # type: ignore[misc]
                st, residual=residual, sublayers=2 * n, cross=measured_by.cross_term(m)),
            grid={"quick": Case.grid(depth=(1, 2, 6, 18, 60), decoder_depth=(1, 6, 12)),
                  "theory": Case.grid(depth=100, decoder_depth=(10, 100))},
            note="Printed are the coefficients 0.81 and 0.87; that these two equations stand behind them is our reading, which gives "
                 "3^(-3/16) = 0.8138 and 3^(3/16)/sqrt(2) = 0.8689. With the two printed digits the first sum is 2 (0.87/0.81)^2/3^(3/4) = "
                 "1.0122 for all N and M, in place of 1.",
            control=Control(Case(depth=6, decoder_depth=6), "the printed coefficient, not rounded",
                           statement=Eq(scale, nine_decimals(Rational(81, 100) * size if residual else Rational(87, 100) / size))))


def _transcribed_claim() -> Claim:
    from sympy import Eq, sqrt

    from ..glossary import symbol

    scales, m = symbol("weight_scales"), symbol("decoder_depth")
    return Claim(
        key=_STEM + "deepnorm_transcribed_exponent", title="v_d^2 + w_d^2 = (3M)^(1/2), as transcribed",
        text="With v_d = w_d = (12 M)^(-1/4), v_d^2 + w_d^2 = (3 M)^(1/2).", statement=Eq(scales, sqrt(3 * m)),
        source=Source("wang2022deepnet", "section 4.3, in a public transcription", _DEEPNET), wording="reported", kind="identity",
        holds_for="all", measured=measured_by.decoder_weight_scales, known="FAILS", weight="arithmetic",
        grid={"quick": Case.grid(decoder_depth=(3, 12, 27))},
        note="It is (3 M)^(-1/2): the sign of the exponent was lost. Only with it does 3 M (v_d^2 + w_d^2)/alpha_d^2 = 1 hold.",
        control=Control(Case(decoder_depth=3), "the exponent 1/2"))


def _amplification_claims() -> Iterator[Claim]:
    from sympy import Eq, Ge, Le, Rational, log

    from ..glossary import symbol

    total, n = symbol("amplification"), symbol("sublayers")
    source = Source("liu2020admin", "section 4, dependency on residual branches", "arXiv:2004.08249")
    model = "In the model of branches that each write variance 1, uncorrelated with a stream that starts at variance 1, "
    note = ("The paper's statement, as recalled, is O(N) (post-LN) and O(log N) (pre-LN) for the change of the output under a perturbation "
            "of all weights, which it takes as proportional to this sum; check against the paper. Checked is the sum alone, with constants "
            "that are derived; no net is perturbed.")
    quick, more = Case.grid(sublayers=(1, 2, 12, 96)), Case.grid(sublayers=(400, 1000))
    yield Claim(
        key=_STEM + "amplification_post_ln", title="post-LN branch shares add up in proportion to depth",
        text=model + "every one of n branches of a post-LN net has share 1/2 of its own sum, so the shares add up to n/2.",
        statement=Eq(total, n / 2), source=source, wording="derived", kind="identity", holds_for="all",
        measured=lambda c, s: measured_by.amplification(c, s, post=True), grid={"quick": quick, "theory": more}, note=note,
        control=Control(Case(sublayers=12), "logarithmic, as in pre-LN", statement=Eq(total, log(n + 1))))
    bounds: tuple[tuple[Any, ...], ...] = (
        ("lower", -1, Ge(total, log(n + 2) - Rational(3, 5)), Ge(total, n / 2)), ("upper", 1, Le(total, log(n + 1)), Le(total, log(n + 2) / 2)),
    )
    for name, side, statement, wrong in bounds:
        yield Claim(
            key=f"{_STEM}amplification_pre_ln_{name}", title=f"pre-LN branch shares add up logarithmically: {name} bound",
            text=model + "the shares of n branches of a pre-LN net in their own sums, 1/2 + ... + 1/(n + 1), add up to at "
                  + ("least log(n + 2) - 3/5." if side < 0 else "most log(n + 1)."),
            statement=statement, source=source, wording="derived", kind=name, holds_for="all",
            rests_on="induction on n, its step for every real n > 0; prose: what falls with n and tends to 0 is positive",
            measured=lambda c, s: measured_by.amplification(c, s, post=False), grid={"quick": quick, "theory": more}, note=note,
            proof=lambda st, side=side: measured_by.prove_harmonic(st, side),  # type: ignore[misc]
            control=Control(Case(sublayers=96), "another growth", statement=wrong))


def _admin_claim() -> Claim:
    from sympy import Eq, Rational

    from ..glossary import symbol

    share, n = symbol("branch_share"), symbol("sublayers")
    return Claim(
        key=_STEM + "admin_share", title="ADMIN gives post-LN the branch shares of pre-LN",
        text="In the model of branches that each write variance 1, uncorrelated with the stream: with omega_i^2 the sum of the profiled "
              "variances before i, the embedding included, branch n of a post-LN net has share 1/(n + 1) of its sum, as in pre-LN.",
        statement=Eq(share, 1 / (n + 1)), source=Source("liu2020admin", "section 4.3, adaptive model initialization", "arXiv:2004.08249"),
        wording="reported", kind="identity", holds_for="all", measured=measured_by.admin_share,
        grid={"quick": Case.grid(sublayers=(1, 2, 12)), "theory": Case.grid(sublayers=(96, 400))},
        note="Reported is the rule for omega; that it reproduces pre-LN's shares is what it is for.",
        control=Control(Case(sublayers=2), "omega = 1", statement=Eq(share, Rational(1, 2))))


def _exponent_claims() -> Iterator[Claim]:
    from sympy import Eq

    from ..glossary import symbol

    a = symbol("depth_power")
    model = "In the scalar net h <- h + L^(-alpha) w_l h at w = 0, "
    rows: tuple[tuple[Any, ...], ...] = (
        ("branch_variance_exponent", "variance", "variance_exponent", 1 - 2 * a, -2 * a, lambda L: L * L ** (-2 * a), "derived",
         "branches over L^alpha: power of L in the variance",
         "L uncorrelated scalar branches of variance 1, multiplied by L^(-alpha), write a variance that goes as L^(1 - 2 alpha): bounded "
         "exactly for alpha >= 1/2.", "one variance L^(-2 alpha) from each of L branches"),
        ("depth_gradient_exponent", "gradient", "gradient_exponent", -a, 1 - a, lambda L: L**-a, "derived",
         "branches over L^alpha: power of L in a gradient",
         model + "the gradient of a branch's weight goes as L^(-alpha), the power that CompleteP gives Adam's epsilon in the blocks.",
         "one multiplier stands between the weight and the output"),
        ("completep_learning_rate", "adam", "adam_exponent", a - 1, -a, lambda L: 1 / (L * L**-a), "derived",
         "branches over L^alpha: power of L in Adam's rate",
         model + "one sign step of size L^(alpha-1), the printed power of Adam's rate in the blocks, in every weight changes the output by an "
         "amount that does not depend on L, to first order.", "L steps of one size, each multiplied by L^(-alpha)"),
        ("depth_sgd_learning_rate", "sgd", "sgd_exponent", 2 * a - 1, a - 1, lambda L: 1 / (L * L ** (-2 * a)), "derived",
         "branches over L^alpha: power of L in SGD's rate",
         model + "one SGD step of rate L^(2 alpha-1) in every weight changes the output by an amount that does not depend on L, to first "
         "order; at alpha = 1/2 the rate does not depend on L.", "L squared gradients of L^(-2 alpha) each"),
    )
    for name, what, quantity, value, wrong, law, reading, title, words, says in rows:
        yield Claim(
            key=_STEM + name, title=title, text=words, statement=Eq(symbol(quantity), value),
            source=Source("dey2025", "section 3, parameterizations with alpha in [1/2, 1]", _COMPLETEP), wording=reading, kind="rate",
            holds_for="all", measured=lambda c, s, what=what: measured_by.depth_exponent(c, s, what=what),  # type: ignore[misc]
            proof=lambda st, law=law, says=says: measured_by.prove_exponent(st, law, says),  # type: ignore[misc]
            evidence="checks", rests_on=_POWERS, grid={"quick": Case.grid(depth_power=("1/2", "3/4", "1"))},
            note="A scalar model, measured from L = 16 to 256: it shows where the power of L comes from, not that nets train alike at every "
                 "depth. At alpha = 1/2 these are depth-muP's exponents: branches and Adam rate L^(-1/2), SGD rate 1, as recalled from "
                 "yang2023tp6 and bordelon2023.",
            control=Control(Case(depth_power="1/4"), "another exponent, below alpha = 1/2", statement=Eq(symbol(quantity), wrong)))


def _second_order_claim() -> Claim:
    from sympy import Eq

    from ..glossary import symbol

    a, exponent = symbol("depth_power"), symbol("second_order_exponent")
    return Claim(
        key=_STEM + "lazy_second_order", title="branches over L^alpha: power of L in the second-order response",
        text="In the scalar branch L^(-alpha) u w h at u = w = 1, the second-order over the linear response to a step of L^(alpha-1) in "
              "both weights goes as L^(alpha-1): it is flat at alpha = 1 only, and L^(-1/2) at alpha = 1/2.",
        statement=Eq(exponent, a - 1), source=Source("dey2025", "equation 6 and figure 6", _COMPLETEP), wording="derived", kind="rate",
        holds_for="all", measured=measured_by.second_order, grid={"quick": Case.grid(depth_power=("1/2", "3/4", "1"))},
        evidence="checks", rests_on=_POWERS, note="A scalar model of one block; the power is reported for nets.",
        proof=lambda st: measured_by.prove_exponent(st, lambda L: L**-a * L ** (2 * a - 2) / (L**-a * L ** (a - 1)),
                                                    "a branch of two weights is quadratic in the step L^(alpha-1)"),
        control=Control(Case(depth_power="1/2"), "flat", statement=Eq(exponent, 0)))


def _width_claim() -> Claim:
    from sympy import Eq

    from ..glossary import symbol

    exponent = symbol("width_exponent")
    cases = [Case(matrix=m, optimiser=o) for m in ("input", "hidden", "output") for o in ("adam", "sgd")]
    return Claim(
        key=_STEM + "mup_learning_rates", title="muP's learning rates move one exact net equally at every width",
        text="In the net x -> u -> W -> v with |u_i| = 1, W a Hadamard matrix over sqrt(n) and v = u/n, the sizes of muP's initial weights, "
              "one step at muP's rate (Adam 1, 1/n, 1/n; SGD n, 1, 1/n for u, W, v) changes the next activation by an amount that does not "
              "depend on the width n.",
        statement=Eq(exponent, 0), source=Source("yang2022tp5", "Table 3", "arXiv:2203.03466"), wording="derived", kind="rate",
        holds_for="all", measured=measured_by.width_exponent, grid={"quick": tuple(cases)},
        note="Reported are the rates. Measured from n = 16 to 256 on one input; the Hadamard matrix and a bent sign vector spread signals evenly, "
             "as random weights do on average. For random or trained nets nothing is shown.",
        control=Control(Case(matrix="hidden", optimiser="adam", rates="standard"), "one rate for all widths: exponent 1"))

"""How far one step, or one relative perturbation, moves the output of deep nets: DeepNorm, ADMIN,
and learning rates that depend on depth."""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING, Any, Literal

import numpy as np
from sympy import Integer, Rational

from depthlaw.theory.claims.definition import Case, Control, Sample, Source, claim
from depthlaw.theory.claims.relations import Eq, Ge
from depthlaw.theory.claims.symbols import quantity
from depthlaw.theory.signal_propagation.depth_scaling import alpha

from ..trained_depth.experiment import Maker
from .coordinate_checks import COMPLETEP, EXPONENT, by_size, depth_change, sizes
from .exponents import exponents, sample, within

if TYPE_CHECKING:
    from .parametrisations import Batch

share_exponent = quantity(
    "share_exponent",
    r"\epsilon_L",
    "exponent of the depth in the variance that a relative "
    "perturbation of all weights makes at the output, over the sum of branch shares",
    "real",
)

grows: Maker = partial(claim, **EXPONENT)
flat: Maker = partial(claim, predicted=within, **EXPONENT)
_DEPTHS = partial(Case.grid, width=32)
_FEW = {"shallow": 8, "deep": 32, "replicas": 64}
# Rates so small that responses are linear, as float64 lets them be.
SGD_RATE, ADAM_RATE = 1e-4, 1e-6


def _moved(case: Case, seed: int, device: str, optimiser: Literal["adam", "sgd"]) -> Sample:
    """Exponents of the change of the last hidden states by one step of all weights in blocks, at a
    rate that does not depend on depth."""
    import torch

    from .parametrisations import Rule, changes, net_of

    rng, rule = case.rng(seed), Rule(alpha=float(case.rational("depth_power")))
    rate = ADAM_RATE if optimiser == "adam" else SGD_RATE

    def run(batch: Batch, width: int, depth: int) -> np.ndarray:
        net = net_of(rule, width, depth, len(batch.ids), rng, device=device, dtype=torch.float64)
        return changes(rule, net, batch, steps=1, moved="blocks", optimiser=optimiser, rate=rate)[
            "hidden"
        ]

    return sample(exponents(sizes(case), by_size(case, rng, device, run)))


_RATES = {
    "full": (
        *_DEPTHS(depth_power="1/2", shallow=16, deep=128, replicas=96),
        *_DEPTHS(depth_power=("3/4", "1"), shallow=16, deep=128, replicas=192),
    )
}
_OTHER = Case(depth_power="1/2", width=32, **_FEW)


@flat(
    Eq(depth_change, 1 - alpha),
    source=COMPLETEP,
    wording="derived",
    cases=_RATES,
    control=Control(_OTHER, "SGD's law", statement=Eq(depth_change, 1 - 2 * alpha)),
    cited=(
        "Bears on the power of L by which Adam's rate should follow branches scaled down with "
        "depth."
    ),
)
def adam_rate_exponent(case: Case, seed: int, device: str = "cpu") -> Sample:
    """Adam's rate in blocks has to go as L^(alpha-1).

    In random nets with branches times L^(-alpha) one step of Adam at a rate that does not depend on
    L, in all weights of blocks, typically changes the last hidden states by an amount that goes as
    L^(1-alpha), so that a rate times L^(alpha-1) keeps it flat.

    In a scalar net: completep_learning_rate. At alpha = 1/2 this is depth-muP's rate. Nets and task
    as in mup_width_flat, in double precision.
    """
    return _moved(case, seed, device, "adam")


@flat(
    Eq(depth_change, 1 - 2 * alpha),
    source=COMPLETEP,
    wording="derived",
    cases=_RATES,
    control=Control(_OTHER, "Adam's law", statement=Eq(depth_change, 1 - alpha)),
    supports="signal_propagation/adam_rate_exponent",
)
def sgd_rate_exponent(case: Case, seed: int, device: str = "cpu") -> Sample:
    """SGD's rate in blocks has to go as L^(2 alpha-1).

    In random nets with branches times L^(-alpha) one step of SGD at a rate that does not depend on
    L, in all weights of blocks, typically changes the last hidden states by an amount that goes as
    L^(1-2 alpha): at alpha = 1/2, depth-muP's, the rate need not depend on L.

    In a scalar net: depth_sgd_learning_rate. Nets and task as in mup_width_flat, in double
    precision.
    """
    return _moved(case, seed, device, "sgd")


def step_changes(case: Case, seed: int, device: str = "cpu") -> np.ndarray:
    """The change of the last hidden states of post-LN nets by one step in blocks, (sizes,
    replicas)."""
    import torch

    from ..nets.net import Net
    from .parametrisations import RULES, changes, drawn_scheme

    rng = case.rng(seed)

    def run(batch: Batch, width: int, depth: int) -> np.ndarray:
        shape, stds = drawn_scheme(case.scheme, width, depth, rng, biases=case.biases)
        net = Net(
            shape, std=stds, replicas=len(batch.ids), rng=rng, dtype=torch.float64, device=device
        )
        return changes(
            RULES["standard"],
            net,
            batch,
            steps=1,
            moved="blocks",
            optimiser=case.optimiser,
            rate=ADAM_RATE if case.optimiser == "adam" else SGD_RATE,
        )["hidden"]

    return by_size(case, rng, device, run)


def _one_step(case: Case, seed: int, device: str = "cpu") -> Sample:
    return sample(exponents(sizes(case), step_changes(case, seed, device)))


_THEOREM = Source("wang2022deepnet", "Theorem 4.2 and section 4.3", "arXiv:2203.00555")
_STEP = partial(_DEPTHS, shallow=8, deep=64, replicas=64)
_FEW_STEPS = partial(Case, width=32, biases=False, **_FEW)


@flat(
    Eq(depth_change, Integer(0)),
    source=_THEOREM,
    wording="derived",
    post_hoc=(
        "Biases were taken out after a first try, in which it failed: deepnorm_update_with_biases."
    ),
    cases={
        "full": (
            *_STEP(scheme="deepnorm", optimiser="sgd", biases=False),
            *_DEPTHS(
                scheme="deepnorm", optimiser="sgd", biases=False, shallow=32, deep=256, replicas=128
            ),
        )
    },
    control=Control(
        _FEW_STEPS(scheme="xavier, post", optimiser="sgd"), "post-LN without alpha and beta"
    ),
    cited="Bears on whether DeepNorm's alpha and beta bound the first SGD step of whole nets.",
)
def deepnorm_update_flat(case: Case, seed: int, device: str = "cpu") -> Sample:
    """DeepNorm without biases: change by one SGD step is flat in depth.

    In random nets without biases, with DeepNorm's alpha = (2N)^(1/4) and beta = (8N)^(-1/4), one
    small step of SGD, in the matrices of all blocks at one rate, typically changes the last hidden
    states by an amount whose exponent of the depth is 0.

    Theorem 4.2 bounds the change by a sum over sublayers that these constants keep at 1
    (deepnorm_alpha), to first order and for a hidden dimension of one; that real nets follow it is
    what is measured. Nets have no biases, gains or shifts, as in the theorem; with them see
    deepnorm_update_with_biases. A first try had them, and a rate at which plain post-LN nets moved
    as far as they can.
    """
    return _one_step(case, seed, device)


@flat(
    Eq(depth_change, Integer(0)),
    source=_THEOREM,
    wording="derived",
    expected="FAILS",
    post_hoc=(
        "Split off from deepnorm_update_flat after a first measurement, in which the change rose "
        "from depth 64 on."
    ),
    cases={
        "full": _DEPTHS(
            scheme="deepnorm", optimiser="sgd", biases=True, shallow=64, deep=512, replicas=32
        )
    },
    control=Control(
        _FEW_STEPS(scheme="xavier, post", optimiser="sgd"), "post-LN without alpha and beta"
    ),
    cited="Bears on whether biases and gains of DeepNorm nets must be scaled with depth as well.",
)
def deepnorm_update_with_biases(case: Case, seed: int, device: str = "cpu") -> Sample:
    """DeepNorm with biases and gains: change by one SGD step is flat.

    In random nets with DeepNorm's alpha and beta one small step of SGD, in all parameters of
    blocks, biases, gains and shifts included, typically changes the last hidden states by an amount
    whose exponent of the depth is 0.

    A reading of Theorem 4.2 beyond its model. Biases and shifts are not multiplied by beta: the
    shift of a layer moves the output by nearly as much as itself, so that L of them add up to L.
    Written after a first measurement, in which the change rose from depth 64 on.
    """
    return _one_step(case, seed, device)


@grows(
    Ge(depth_change, Rational(1, 2)),
    source=_THEOREM,
    wording="derived",
    cases={"full": _STEP(scheme="xavier, post", optimiser="sgd", biases=False)},
    control=Control(_FEW_STEPS(scheme="deepnorm", optimiser="sgd"), "DeepNorm"),
    supports="signal_propagation/deepnorm_update_flat",
)
def post_ln_update_growth(case: Case, seed: int, device: str = "cpu") -> Sample:
    """Post-LN without DeepNorm: one SGD step moves deeper nets further.

    In random post-LN nets with Xavier's weights one small step of SGD, in the matrices of all
    blocks at one rate, typically changes the last hidden states by an amount that grows at least as
    the root of the depth.

    Theorem 4.2 bounds the change by a sum that grows as the depth.
    """
    return _one_step(case, seed, device)


@flat(
    Eq(depth_change, Rational(1, 2)),
    source=_THEOREM,
    wording="derived",
    post_hoc="Written after a first measurement.",
    cases={
        "full": _DEPTHS(
            scheme="deepnorm", optimiser="adam", biases=False, shallow=8, deep=64, replicas=32
        )
    },
    control=Control(_FEW_STEPS(scheme="deepnorm", optimiser="sgd"), "SGD"),
    cited="Bears on whether Adam's rate must fall with depth in DeepNorm nets.",
)
def deepnorm_adam_growth(case: Case, seed: int, device: str = "cpu") -> Sample:
    """DeepNorm: one Adam step moves deeper nets further, as sqrt(L).

    In random nets with DeepNorm's alpha and beta one small step of Adam, in the matrices of all
    blocks at one rate, typically changes the last hidden states by an amount that goes as L^(1/2).

    Each step has one size whatever the gradient, and the sum of Theorem 4.2 has 2N terms of
    sqrt(2) beta/alpha, which is N^(-1/2)/sqrt(2): the constants are made for SGD. Written after a
    first measurement.
    """
    return _one_step(case, seed, device)


def _amplified(
    case: Case,
    seed: int,
    device: str = "cpu",
    *,
    shares_of: str = "",
) -> Sample:
    """Exponents of the variance that a relative perturbation makes, over the sum of the branch
    shares of these nets, or of others."""
    import torch

    from ..nets.net import Net
    from .parametrisations import amplification, branch_shares, drawn_batch, drawn_scheme

    rng = case.rng(seed)

    def run(batch: Batch, width: int, depth: int) -> np.ndarray:
        shape, stds = drawn_scheme(case.scheme, width, depth, rng, device=device)
        profiled = (
            drawn_scheme(shares_of, width, depth, rng, device=device)
            if shares_of
            else (shape, stds)
        )
        shares = sum(branch_shares(*profiled, drawn_batch(PROFILED, rng, device).ids, rng))
        net = Net(
            shape, std=stds, replicas=len(batch.ids), rng=rng, dtype=torch.float64, device=device
        )
        return amplification(net, batch.ids, rng) / shares

    return sample(exponents(sizes(case), by_size(case, rng, device, run)))


# Nets whose branch shares are averaged.
PROFILED = 16
_PERTURBED = partial(Case, width=64, shallow=4, deep=32)


def _perturbed(scheme: str, other: str, shares_of: str) -> dict[str, Any]:
    return {
        "source": Source(
            "liu2020admin", "section 4, dependency on residual branches", "arXiv:2004.08249"
        ),
        # The paper's sum is the model's; what is asked is ours, with the shares of these nets.
        "wording": "derived",
        "cases": {
            "full": (
                *(() if scheme == "lecun, post" else (_PERTURBED(scheme=scheme, replicas=96),)),
                Case(scheme=scheme, width=256, shallow=4, deep=16, replicas=96),
            )
        },
        "control": Control(
            _PERTURBED(scheme=other, replicas=48),
            f"{other}: shares of {shares_of}",
            measured=partial(_amplified, shares_of=shares_of),
        ),
    }


_SHARES = "First measured against the model's sum; shares of these nets took its place after that."


@flat(
    Eq(share_exponent, Integer(0)),
    known="UNDECIDED",
    post_hoc=f"{_SHARES} Nets of width 64, which are undecided, are no longer asked.",
    **_perturbed("lecun, post", "lecun, pre", "lecun, post"),
    supports="signal_propagation/admin_amplification",
)
def post_ln_amplification(case: Case, seed: int, device: str = "cpu") -> Sample:
    """Post-LN: effect of relative perturbations grows with depth as branch shares.

    In random post-LN nets the variance of the output's change under a small relative perturbation
    of all matrices typically goes with depth as the sum of the branch shares beta_(i,i)^2 of these
    nets, which is O(N).

    As recalled, Var[F(W) - F(W*)] is about C times that sum. Shares are profiled: mean squares of
    branches over those of the sums they enter. ReLU, LeCun's weights, no biases; a perturbation of
    1e-4 of each matrix's root mean square. How the sum grows in a model: amplification_post_ln.
    First measured against n/2, the model's sum; shares of nets took its place after that. Nets of
    width 64 and depths 4 to 32, as in pre_ln_amplification, are undecided and no longer asked. Nets
    that are run together share one profile, of 16 nets, whose scatter, a third of theirs or less,
    is not in the interval.
    """
    return _amplified(case, seed, device)


@flat(
    Eq(share_exponent, Integer(0)),
    **_perturbed("lecun, pre", "lecun, pre", "lecun, post"),
    post_hoc=_SHARES,
    supports="signal_propagation/admin_amplification",
)
def pre_ln_amplification(case: Case, seed: int, device: str = "cpu") -> Sample:
    """Pre-LN: effect of relative perturbations grows with depth as branch shares.

    In random pre-LN nets the variance of the output's change under a small relative perturbation of
    all matrices typically goes with depth as the sum of the branch shares beta_(i,i)^2 of these
    nets, which is O(log N).

    As recalled, Var[F(W) - F(W*)] is about C times that sum. Shares are profiled: mean squares of
    branches over those of the sums they enter. ReLU, LeCun's weights, no biases; a perturbation of
    1e-4 of each matrix's root mean square. How the sum grows in a model: amplification_pre_ln_upper
    and amplification_pre_ln_lower. First measured against H_n, the model's sum; shares of nets took
    its place after that. Shared profiles: post_ln_amplification.
    """
    return _amplified(case, seed, device)


@flat(
    Eq(share_exponent, Integer(0)),
    **_perturbed("admin", "admin", "lecun, post"),
    post_hoc=_SHARES,
    cited="Bears on whether ADMIN's branch shares may be used to predict how perturbations grow.",
)
def admin_amplification(case: Case, seed: int, device: str = "cpu") -> Sample:
    """ADMIN: effect of relative perturbations is within 1/8 of branch shares.

    In random post-LN nets with ADMIN's profiled skips the variance of the output's change under a
    small relative perturbation of all matrices typically goes with depth as the sum of the branch
    shares beta_(i,i)^2 of these nets, which is that of pre-LN: with an exponent within 1/8 of it.

    Within 1/8 is all that holds: both means lie below 0, at -0.05 and -0.06, both significantly at
    the claim's own level, and a stated exponent of -1/16 would hold as well. As recalled,
    Var[F(W) - F(W*)] is about C times that sum. Shares are profiled: mean squares of branches over
    those of the sums they enter. ReLU, LeCun's weights, no biases; a perturbation of 1e-4 of each
    matrix's root mean square. That ADMIN has the shares of pre-LN: admin_share. First measured
    against H_n, the model's sum; shares of nets took its place after that. Skips are profiled in 8
    nets, and shared as the shares are: post_ln_amplification.
    """
    return _amplified(case, seed, device)

"""Looped nets of finite width at initialisation: streams by norm, and what one step changes.

How branches are scaled is derived for nets of infinite width without attention in
`theory/signal_propagation/looped_limits`.
"""

from __future__ import annotations

from dataclasses import replace
from functools import partial
from typing import TYPE_CHECKING

import numpy as np
from sympy import Integer, Rational, exp

from depthlaw.theory.claims.definition import Case, Control, Sample, Source, claim
from depthlaw.theory.claims.relations import Eq, Le, between
from depthlaw.theory.claims.symbols import quantity
from depthlaw.theory.signal_propagation.looped_limits import post_growth
from depthlaw.theory.signal_propagation.looped_stream import gained
from depthlaw.theory.signal_propagation.token_correlation import CLOSED_FORM, cosine

from .coordinate_checks import WITHIN
from .exponents import doublings, exponents, sample
from .norm_growth import IN_NETS
from .updates import ADAM_RATE, SGD_RATE

if TYPE_CHECKING:
    from torch import Tensor

    from ..nets.net import Factors

loop_change = quantity(
    "loop_change_exponent",
    r"\kappa_R",
    "exponent of the number of passes in the change of a net's hidden states by one step",
    "real",
)
# Of a hidden layer's inner width, in widths.
_INNER = 4
_RATES = {"sgd": SGD_RATE, "adam": ADAM_RATE}


def ends(
    case: Case, seed: int, device: str, factors: tuple[Factors, Factors], branches: int = 1
) -> list[Tensor]:
    """The streams before the first pass and after the last, (replicas, tokens, width) each, in
    float64.

    Args:
        case: width, own_layers, loops, norm, tokens and replicas.
        factors: of attention and of the MLP, in each layer.
        branches: how many layers of the net stand for one of the case.

    Weights are Gaussian: a token's values and what an MLP writes of a normalised token have mean
    square 1. The first stream has mean square 1.
    """
    import torch

    from ..nets.initialisations import initialised
    from ..nets.net import Net, NetShape, layer_norm

    rng, inner = case.rng(seed), _INNER * case.width
    shape = NetShape(
        width=case.width,
        depth=branches * case.own_layers,
        heads=4,
        mlp=inner,
        norm=case.norm,
        loops=case.loops,
        activation="relu",
        factors=factors * branches * case.own_layers,
    )
    stds = initialised("lecun", shape)[1]._replace(mlp_out=(2 / inner) ** 0.5)
    net = Net(shape, replicas=case.replicas, rng=rng, std=stds, dtype=torch.float64, device=device)
    drawn = torch.from_numpy(rng.normal(size=(case.replicas, 1, case.tokens, case.width)))
    first = layer_norm(drawn.to(device), 0.0)
    with torch.no_grad():
        return [state[:, 0] for state in (first, net.hidden_states(first)[-1])]


def _pre_scaled(case: Case, seed: int, device: str = "cpu", *, power: float = 1.0) -> Sample:
    """What is added to the mean square of a stream whose branches are scaled by 1/(R^power
    sqrt(2 L)), one number of each net."""
    from ..nets.net import Factors

    branch = Factors(branch=1 / (case.loops**power * (2 * case.own_layers) ** 0.5))
    _, last = ends(case, seed, device, (branch, branch))
    return sample(last.square().mean(dim=(1, 2)).cpu().numpy() - 1)


def _post_scaled(case: Case, seed: int, device: str = "cpu", *, power: float = 1.0) -> Sample:
    """One over the squared mean cosine of the last stream with the first, where attention writes
    nothing and skips are scaled by the root of the number of branches times R^power."""
    from ..nets.net import Factors

    skip = Factors(skip=case.loops**power * (2 * case.own_layers) ** 0.5)
    first, last = ends(case, seed, device, (Factors(branch=0.0), skip), branches=2)
    return sample((first * last).mean(dim=(1, 2)).cpu().numpy() ** -2)


_LOOKED = "The cases of suite quick had been run before the claim was written."
_nets = partial(Case.grid, width=64, own_layers=2, loops=(1, 2, 4, 8), tokens=8, replicas=32)


@claim(
    Le(gained, 1),
    source=Source("depthlaw", "after wang2026loops, v1, abstract: 1/(N sqrt(L)) for N loops of L"),
    cases={"quick": _nets(norm="pre"), "full": _nets(width=128, own_layers=4, norm="pre")},
    control=Control(
        _nets(norm="pre")[1],
        "scaled by 1/sqrt(2 R L), as if each pass had weights of its own: the gain is 1.2",
        measured=partial(_pre_scaled, power=0.5),
    ),
    supports="signal_propagation/looped_stream",
    post_hoc=_LOOKED,
    **IN_NETS,
)
def looped_attention_stream(case: Case, seed: int, device: str = "cpu") -> Sample:
    r"""Looped pre-norm nets with attention at most double their stream.

    Of $R$ passes over $L$ layers of their own, of softmax attention and a ReLU MLP with pre-norm,
    each scaled by $1/(R\sqrt{2L})$, a net at initialisation typically adds at most 1 to the mean
    square of its residual stream, 1 at the start, at every $R$ of the cases.

    looped_stream_limit bounds the gain of MLPs by 1. What attention writes is a mean of values with
    mean square 1 each, so that it writes no more, and of tokens that differ less: gains are 0.6
    here, of independent tokens. Nothing is said about training.
    """
    return _pre_scaled(case, seed, device)


@claim(
    between(1 + CLOSED_FORM.subs(cosine, exp(-Rational(1, 2))), post_growth, exp(1)),
    source=Source("depthlaw", "looped_post_norm_limit, at finite width"),
    cases={"quick": _nets(norm="post"), "full": _nets(width=128, own_layers=4, norm="post")},
    control=Control(
        _nets(norm="post")[1],
        "a skip of sqrt(2 R L), as if each pass had weights of its own: 4.2 for 2 passes",
        measured=partial(_post_scaled, power=0.5),
    ),
    supports="signal_propagation/looped_stream",
    post_hoc=_LOOKED,
    **IN_NETS,
)
def looped_post_norm_nets(case: Case, seed: int, device: str = "cpu") -> Sample:
    r"""Looped post-norm nets of finite width keep a share of their input.

    Of $R$ passes over $L$ layers of their own, with two post-norm ReLU branches each, whose skip is
    $R\sqrt{2L}$ times as large as what they write, a net at initialisation typically has between
    its last stream and its first a squared mean cosine of at least $1/e$, and at most
    $1/(1 + k(e^{-1/2})) = 0.59$, $k$ the ReLU kernel, at every $R$ of the cases.

    What looped_post_norm_limit has of infinite width: 2.44, 2.28, 2.27 and 2.27 for one over it at
    $R$ = 1, 2, 4, 8 and $L$ = 2. The cosine is the mean over tokens. Norms are LayerNorm, which
    takes away the mean besides.
    """
    return _post_scaled(case, seed, device)


def step_exponents(case: Case, seed: int, device: str = "cpu", *, power: int = 2) -> Sample:
    """Exponents of the number of passes, from 1 to the case's by doublings, in what one step in all
    matrices of blocks changes in the last hidden states of post-norm nets.

    Scales are DeepNorm's of L R^power layers, without biases. Nets of all passes see one batch.
    """
    import torch

    from ..nets.initialisations import initialised
    from ..nets.net import Net
    from .parametrisations import RULES, SHAPE, changes, drawn_batch

    rng, found, passes = case.rng(seed), list[np.ndarray](), doublings(1, case.loops)
    rate, batch = _RATES[case.optimiser], drawn_batch(case.replicas, rng, device)
    sizes = {"width": case.width, "mlp": 2 * case.width, "depth": case.own_layers}
    plain = replace(SHAPE, **sizes, activation="relu", biases=False)
    for loops in passes:
        scaled, std = initialised("deepnorm", replace(plain, loops=loops**power))
        shape, n, kind = replace(scaled, loops=loops), case.replicas, torch.float64
        net = Net(shape, std=std, replicas=n, rng=rng, dtype=kind, device=device)
        one_step = partial(changes, RULES["standard"], net, batch, steps=1, moved="blocks")
        found.append(one_step(optimiser=case.optimiser, rate=rate)["hidden"])
    return sample(exponents(passes, found))


_STEPS = Case.grid(width=32, own_layers=2, loops=8, replicas=32, optimiser=("sgd", "adam"))


@claim(
    Eq(loop_change, Integer(0)),
    source=Source("depthlaw", "looped_deepnorm_scales, for real nets"),
    cases={
        "quick": _STEPS,
        "full": Case.grid(width=64, own_layers=4, loops=16, replicas=64, optimiser=("sgd", "adam")),
    },
    control=Control(
        _STEPS[1],
        "DeepNorm at the R L layers passed: Adam's step grows as the root of R, SGD's as R",
        measured=partial(step_exponents, power=1),
    ),
    supports="signal_propagation/looped_stream",
    post_hoc=_LOOKED,
    **WITHIN,
)
def looped_deepnorm_update(case: Case, seed: int, device: str = "cpu") -> Sample:
    r"""With DeepNorm for loops one step changes nets alike, however many passes.

    In random post-norm softmax nets without biases, of $R$ passes over $L$ layers of their own,
    with $\alpha = (2 L R^2)^{1/4}$ and $\beta = (8 L R^2)^{-1/4}$, one small step of SGD, or of
    Adam, in the matrices of all blocks at one rate, typically changes the last hidden states by an
    amount whose exponent of $R$ is 0.

    Scales are those of looped_deepnorm_scales, whose net of scalars has the gradients of passes
    agree. Both optimisers' sums have $4 L$ weights: a step of SGD in each moves the output by
    $R^2 \beta^2/\alpha^2$, of Adam by $R \beta/\alpha$, and $\beta/\alpha$ falls as $1/R$. With
    $R L$ in place of $L R^2$ SGD's change grows as $R$. The net is that of
    deepnorm_update_exponents.
    """
    return step_exponents(case, seed, device)

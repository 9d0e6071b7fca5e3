"""Nets whose weights, constants and learning rates follow width and depth by a rule, and what
optimiser steps change in them.

m_N and m_L are the ratios of width and depth to those of the base net.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace
from typing import Literal, NamedTuple

import numpy as np
import torch
from torch import Tensor
from torch.nn import functional

from ..nets.initialisations import initialised
from ..nets.net import Deviations, Factors, Net, NetShape, layer_norm

BASE_WIDTH, BASE_DEPTH, HEADS = 32, 2, 4
VOCABULARY, TOKENS, SEQUENCES = 16, 8, 4
# Adam's rate and epsilon in the base net. Small, so that steps stay in the range where every
# response is nearly linear at all sizes, with the growing ones of the controls.
RATE, EPSILON = 1e-4, 1e-8
# Of all nets here that read and predict tokens; width, depth, norm and constants are replaced.
SHAPE = NetShape(
    width=BASE_WIDTH,
    depth=1,
    heads=HEADS,
    mlp=2 * BASE_WIDTH,
    causal=True,
    positions="learned",
    length=TOKENS,
    biases=True,
    vocabulary=VOCABULARY,
    outputs=VOCABULARY,
)
MATRICES = ("qkv", "output", "mlp_in", "mlp_out")

Moved = Literal["all", "blocks"]


@dataclass(frozen=True)
class ScalingRule:
    """A parametrisation.

    Attributes:
        wide: muP's powers of the width: deviations of hidden weights m_N^(-1/2), of the read-out
            m_N^-1, Adam's rates of both m_N^-1, scores divided by the head width; else the standard
            parametrisation, with the read-out's deviation m_N^(-1/2), one rate, and scores divided
            by the root of the head width.
        alpha: branches are multiplied by m_L^(-alpha).
        rate: Adam's rates in blocks are multiplied by m_L^rate.
    """

    wide: bool = True
    alpha: float = 0.0
    rate: float = 0.0


# depth-muP has branches and Adam's rates times L^(-1/2) (recalled), CompleteP branches times L^-1
# (printed). Both take muP's powers of the width.
RULES = {
    "standard": ScalingRule(wide=False),
    "mup": ScalingRule(),
    "depth-mup": ScalingRule(alpha=0.5, rate=-0.5),
    "completep": ScalingRule(alpha=1.0),
    "completep with the rate of depth-mup": ScalingRule(alpha=1.0, rate=-0.5),
}


class TokenBatch(NamedTuple):
    """Token ids and the ids to predict, shape (replicas, sequences, tokens) each."""

    ids: Tensor
    labels: Tensor


def drawn_batch(replicas: int, rng: np.random.Generator, device: str = "cpu") -> TokenBatch:
    """Random tokens; the label is the token before, renamed by a permutation of each replica."""
    ids = rng.integers(VOCABULARY, size=(replicas, SEQUENCES, TOKENS))
    before = np.concatenate([ids[..., :1], ids[..., :-1]], axis=-1)
    renamed = np.stack([rng.permutation(VOCABULARY) for _ in range(replicas)])
    labels = np.take_along_axis(renamed[:, None], before, axis=-1)
    return TokenBatch(*(torch.from_numpy(part).to(device) for part in (ids, labels)))


def net_of(
    rule: ScalingRule,
    width: int,
    depth: int,
    replicas: int,
    rng: np.random.Generator,
    *,
    dtype: torch.dtype = torch.float32,
    device: str = "cpu",
) -> Net:
    """Pre-LN causal nets with biases that read and predict tokens, initialised by a rule."""
    m_N, m_L = width / BASE_WIDTH, depth / BASE_DEPTH
    shape = replace(
        SHAPE,
        width=width,
        depth=depth,
        mlp=2 * width,
        norm="pre",
        # At the base width both parametrisations agree.
        scale=(BASE_WIDTH / HEADS) ** 0.5 / (width / HEADS) if rule.wide else None,
        factors=(Factors(branch=m_L**-rule.alpha),) * (2 * depth),
    )
    stds = initialised("lecun", shape)[1]
    if rule.wide:
        stds = stds._replace(read_out=stds.read_out * m_N**-0.5)
    return Net(shape, std=stds, replicas=replicas, rng=rng, dtype=dtype, device=device)


def drawn_scheme(
    scheme: str,
    width: int,
    depth: int,
    rng: np.random.Generator,
    *,
    biases: bool = False,
    device: str = "cpu",
) -> tuple[NetShape, Deviations]:
    """Nets that read and predict tokens, with ReLU, by a scheme: "lecun, pre", "lecun, post",
    "xavier, post"; "deepnorm", or "deepnorm without beta", with Xavier's weights; "admin", LeCun's
    weights with `admin_factors`, profiled here on tokens, with weights from `rng`."""
    name, _, norm = scheme.partition(", ")
    shape = replace(
        SHAPE,
        width=width,
        mlp=2 * width,
        depth=depth,
        activation="relu",
        biases=biases,
        norm="pre" if norm == "pre" else "post",
    )
    if name == "admin":
        shape, stds = initialised("lecun", shape)
        profiled = drawn_batch(8, rng, device).ids
        return replace(shape, factors=admin_factors(shape, stds, profiled, rng)), stds
    if name == "deepnorm without beta":
        return initialised("deepnorm", shape)[0], initialised("xavier", shape)[1]
    return initialised(name, shape)


def _loss(net: Net, batch: TokenBatch) -> Tensor:
    """The sum over replicas of each one's mean cross-entropy, whose gradients do not mix them."""
    logits = net(batch.ids)
    return functional.cross_entropy(logits.flatten(0, 2), batch.labels.flatten()) * net.replicas


def _optimiser(rule: ScalingRule, net: Net, moved: Moved, rate: float) -> torch.optim.Adam:
    """Adam with the rates and epsilons of a rule.

    CompleteP's epsilon, the size of a gradient: m_N^-1, in blocks m_N^-1 m_L^-alpha. The read-out
    here has its factor m_N^-1 inside, so its gradient has no power of the width.
    """
    m_N = net.shape.width / BASE_WIDTH if rule.wide else 1.0
    m_L = net.shape.depth / BASE_DEPTH
    groups = []
    for name, parameter in net.named_parameters():
        kind, inside = name.partition(".")[0], "." in name
        if moved == "blocks" and not inside:
            continue
        by_width = m_N if kind in (*MATRICES, "read_out") else 1.0
        groups.append(
            {
                "params": [parameter],
                "lr": rate / by_width * (m_L**rule.rate if inside else 1.0),
                "eps": EPSILON
                * (
                    m_L**-rule.alpha / m_N
                    if inside
                    else 1.0
                    if kind.startswith("read_out")
                    else 1 / m_N
                ),
            }
        )
    return torch.optim.Adam(groups, foreach=True)


def _readings(net: Net, batch: TokenBatch) -> dict[str, Tensor]:
    with torch.no_grad():
        hidden = net.hidden_states(batch.ids)[-1]
        return {"hidden": hidden, "logits": net.read(hidden)}


def _rms(values: Tensor) -> np.ndarray:
    """The root mean square of each replica."""
    return values.double().flatten(1).square().mean(dim=1).sqrt().cpu().numpy()


def changes(
    rule: ScalingRule,
    net: Net,
    batch: TokenBatch,
    *,
    steps: int,
    moved: Moved = "all",
    optimiser: Literal["adam", "sgd"] = "adam",
    rate: float = RATE,
) -> dict[str, np.ndarray]:
    """How far so many steps of full-batch training, of "all" parameters or of those in "blocks"
    alone, move the last hidden states and the logits. The net is changed. The rule's rates are
    Adam's; "sgd" has `rate` everywhere.

    Returns:
        "hidden" (the residual stream, before the last normalisation) and "logits": root mean
        square over sequences, tokens and coordinates of the change, shape (replicas,).
    """
    before = _readings(net, batch)
    stepping: torch.optim.Optimizer = _optimiser(rule, net, moved, rate)
    if optimiser == "sgd":
        stepping = torch.optim.SGD(
            [p for group in stepping.param_groups for p in group["params"]], lr=rate
        )
    for _ in range(steps):
        net.zero_grad()
        _loss(net, batch).backward()
        stepping.step()
    after = _readings(net, batch)
    return {name: _rms(after[name] - before[name]) for name in before}


def gradient_sizes(net: Net, batch: TokenBatch) -> np.ndarray:
    """Root mean square of an entry of the gradient of the matrices in blocks, shape
    (replicas,)."""
    net.zero_grad()
    _loss(net, batch).backward()
    return _rms(
        torch.cat([p.grad.flatten(1) for name, p in _matrices(net) if p.grad is not None], dim=1)
    )


def _matrices(net: Net) -> Iterator[tuple[str, Tensor]]:
    return ((name, p) for name, p in net.named_parameters() if name.partition(".")[0] in MATRICES)


def second_order_share(
    rule: ScalingRule, net: Net, batch: TokenBatch, rate: float = RATE
) -> np.ndarray:
    """The second-order over the linear response of blocks to one Adam step, shape (replicas,).

    For each block alone, at the hidden states that enter it before the step: the even part of its
    response to plus and minus the step over the odd part, both as root mean squares over all
    blocks. They are the second-order and the linear response up to two orders more of the step.
    """
    with torch.no_grad():
        entering = net.hidden_states(batch.ids)[:-1]
    start = [p.detach().clone() for p in net.parameters()]
    stepping = _optimiser(rule, net, "blocks", rate)
    net.zero_grad()
    _loss(net, batch).backward()
    stepping.step()
    moved = [p.detach() - before for p, before in zip(net.parameters(), start, strict=True)]

    def outputs(sign: int) -> Tensor:
        for parameter, before, step in zip(net.parameters(), start, moved, strict=True):
            parameter.copy_(before + sign * step)
        return torch.stack(
            [net.layer(layer, hidden) for layer, hidden in enumerate(entering)], dim=1
        )

    with torch.no_grad():
        plus, same, minus = outputs(1), outputs(0), outputs(-1)
    return _rms((plus + minus - 2 * same) / 2) / _rms((plus - minus) / 2)


class Sum(NamedTuple):
    """What one sublayer adds up: its input and its branch, with their factors."""

    skipped: Tensor
    branch: Tensor


@torch.no_grad()
def _sums(
    shape: NetShape, stds: Deviations, inputs: Tensor, rng: np.random.Generator
) -> Iterator[Sum]:
    """Of every sublayer in turn of random nets, one per replica of the inputs, in float64; memory
    for the weights of one layer."""
    hidden: Tensor | None = None
    for layer in range(shape.depth):
        net = Net(
            replace(shape, depth=1, norm="none", factors=()),
            replicas=len(inputs),
            std=stds,
            rng=rng,
            dtype=torch.float64,
            device=inputs.device,
        )
        if hidden is None:
            hidden = net.embed(inputs if shape.vocabulary else inputs.double())
        for place in range(shape.sublayers):
            factors = Factors()
            if shape.factors:
                factors = shape.factors[layer * shape.sublayers + place]
            entering = layer_norm(hidden, shape.epsilon) if shape.norm == "pre" else hidden
            # This sublayer without its skip, the other one with nothing but its skip.
            net.shape = replace(
                net.shape,
                factors=tuple(
                    Factors(skip=0.0) if sublayer == place else Factors(branch=0.0)
                    for sublayer in range(shape.sublayers)
                ),
            )
            branch = net.layer(0, factors.entering * entering)
            total = Sum(factors.skip * hidden, factors.branch * branch)
            yield total
            hidden = total.skipped + total.branch
            if shape.norm == "post":
                hidden = layer_norm(hidden, shape.epsilon)


def branch_shares(
    shape: NetShape, stds: Deviations, inputs: Tensor, rng: np.random.Generator
) -> list[float]:
    """beta_(i,i)^2 of every sublayer: the mean square of its branch over that of its sum, of random
    nets, one for each replica of the inputs."""
    return [
        float(total.branch.square().mean() / (total.skipped + total.branch).square().mean())
        for total in _sums(shape, stds, inputs, rng)
    ]


def admin_factors(
    shape: NetShape, stds: Deviations, inputs: Tensor, rng: np.random.Generator
) -> tuple[Factors, ...]:
    """ADMIN's factors omega on the skips of a post-LN net, one for each sublayer, from one forward
    pass with omega = 1.

    omega_i^2 = Var(embedding) + Var(f_1) + ... + Var(f_(i-1)) for the sublayers f_i, profiled in a
    net of the same law; omega_1 = 1, since what enters the first sublayer is not normalised.

    Args:
        shape: with norm "post" and skip connections; its factors are not read.
        stds, rng: of its weights.
        inputs: as `Net.hidden_states` takes them; as many nets as replicas are profiled, and
            averaged.

    References: Liu et al. 2020, arXiv:2004.08249 (reported).
    """
    if shape.norm != "post" or not shape.residual:
        raise ValueError(
            f"norm={shape.norm!r}, residual={shape.residual}: ADMIN scales the skip "
            'connections of norm "post"'
        )
    written = 0.0
    factors: list[Factors] = []
    for total in _sums(replace(shape, factors=()), stds, inputs, rng):
        written = written or float(total.skipped.square().mean())
        factors.append(Factors(skip=written**0.5 if factors else 1.0))
        written += float(total.branch.square().mean())
    return tuple(factors)


@torch.no_grad()
def amplification(
    net: Net, ids: Tensor, rng: np.random.Generator, relative: float = 1e-4
) -> np.ndarray:
    """Var[F(x, W) - F(x, W*)] / relative^2 of the normalised last hidden states F, (replicas,).

    W* = W + relative * s * G for every matrix W in blocks of root mean square s, with Gaussian G.
    """

    def output() -> Tensor:
        hidden = net.hidden_states(ids)[-1]
        return layer_norm(hidden, net.shape.epsilon)

    before = output()
    for _, weight in _matrices(net):
        s = weight.flatten(1).square().mean(dim=1).sqrt()[:, None, None]
        noise = torch.from_numpy(rng.normal(size=tuple(weight.shape)))
        weight.add_(relative * s * noise.to(weight))
    return (_rms(output() - before) / relative) ** 2

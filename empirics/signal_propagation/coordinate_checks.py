"""Coordinate checks: how far a few steps of Adam move hidden states and logits, against width and
depth (Yang et al. 2022 and 2023, Dey et al. 2025).

Each check is an exponent: the slope of the log change over widths or depths that double, one for
each of many nets. What a rule keeps flat has exponent 0. The powers of width and depth in these
rules are multiples of 1/2, or of 1/4 between depth-muP and CompleteP; an exponent counts as the
stated one if its interval lies within 1/8 of it, so that no other multiple of 1/4 is as near. Over
eight times the size a change that counts as flat may still move by 8^(1/8), some 30 %.

Sizes and numbers of nets were settled after first runs, and numbers raised where these were
undecided; a case with another number draws other nets.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import lru_cache, partial
from typing import TYPE_CHECKING, Any

import numpy as np
from sympy import Integer, Rational

from depthlaw.theory.claims.definition import Case, Control, Sample, Source, claim
from depthlaw.theory.claims.relations import Eq, Ge
from depthlaw.theory.claims.symbols import quantity
from depthlaw.theory.signal_propagation.depth_scaling import alpha, second_order_exponent
from depthlaw.theory.signal_propagation.signal_symbols import expected_exponent

from ..trained_depth.experiment import noted
from .exponents import doublings, exponents, sample, within
from .norm_growth import IN_NETS, without

if TYPE_CHECKING:
    from .parametrisations import TokenBatch

width_change = quantity(
    "width_change_exponent",
    r"\kappa_N",
    "exponent of the width in the change of a net's hidden states or logits by a few steps",
    "real",
)
depth_change = quantity(
    "depth_change_exponent",
    r"\kappa_L",
    "exponent of the depth in the change of a net's hidden states or logits by a few steps",
    "real",
)
gradient_size = quantity(
    "gradient_size_exponent",
    r"\gamma",
    "exponent of the width or depth in the entries of the gradients of weights in blocks",
    "real",
)

MUP = Source("yang2022tp5", "Table 3 and coordinate checks", "arXiv:2203.03466")
DEPTH_MUP = Source(
    "yang2023tp6", "depth-muP; as recalled, check against the paper", "arXiv:2310.02244"
)
COMPLETEP = Source(
    "dey2025", r"section 3, parameterizations with $\alpha$ in $[1/2, 1]$", "arXiv:2505.01618"
)


# What claims on exponents in nets have in common.
_TRIED = "Sizes and numbers of nets were settled after first runs: more nets where undecided."
EXPONENT: dict[str, Any] = {"kind": "rate", **IN_NETS}
WITHIN: dict[str, Any] = {"predicted": within, **EXPONENT}

# Nets that are run at once, which bounds the memory.
AT_ONCE = 32


def by_size(
    case: Case,
    rng: np.random.Generator,
    device: str,
    run: Callable[[TokenBatch, int, int], np.ndarray],
) -> np.ndarray:
    """What `run` (batch, width, depth) measures at every size of a case, a few replicas at a time;
    nets of all sizes see the same examples.

    Returns:
        Shape (sizes, ..., replicas) where `run` gives (..., replicas).
    """
    from .parametrisations import drawn_batch

    blocks = []
    for start in range(0, case.replicas, AT_ONCE):
        batch = drawn_batch(min(AT_ONCE, case.replicas - start), rng, device)
        blocks.append(np.stack([run(batch, width, depth) for width, depth in shapes(case)]))
    return np.concatenate(blocks, axis=-1)


@lru_cache(maxsize=16)
def changes_by_size(case: Case, seed: int, device: str) -> dict[str, np.ndarray]:
    """Changes of "hidden" and "logits", (sizes, replicas) each."""
    from .parametrisations import RULES, changes, net_of

    rng, rule = case.rng(seed), RULES[case.rule]

    def run(batch: TokenBatch, width: int, depth: int) -> np.ndarray:
        net = net_of(rule, width, depth, len(batch.ids), rng, device=device)
        change = changes(rule, net, batch, steps=case.steps, moved=case.moved)
        return np.stack([change[name] for name in OF])

    return dict(zip(OF, by_size(case, rng, device, run).swapaxes(0, 1), strict=True))


def shapes(case: Case) -> list[tuple[int, int]]:
    """(width, depth) of the nets of a case: one of the two doubles."""
    if "narrow" in case:
        return [(width, case.depth) for width in doublings(case.narrow, case.wide)]
    return [(case.width, depth) for depth in doublings(case.shallow, case.deep)]


def sizes(case: Case) -> list[int]:
    """Those that double."""
    return [pair["narrow" not in case] for pair in shapes(case)]


def change_exponents(case: Case, seed: int, device: str = "cpu") -> Sample:
    """Of what the case is about, "hidden" states or "logits"."""
    shared = Case(**{name: value for name, value in case.fields().items() if name != "of"})
    return sample(exponents(sizes(case), changes_by_size(shared, seed, device)[case.of]))


OF = ("hidden", "logits")
_WIDTHS = partial(Case.grid, depth=4, moved="all", steps=4)
_DEPTHS = partial(Case.grid, width=32, steps=4)


# Nets of controls.
_FEW_WIDE = partial(Case, narrow=32, wide=128, depth=4, moved="all", steps=4, replicas=48)
_FEW_DEEP = partial(Case, shallow=8, deep=32, width=32, steps=4, replicas=48)


_NETS = (
    "Pre-LN causal nets with biases and learned positions, softmax attention of 4 heads, GELU "
    "MLPs of twice the width; 4 sequences of 8 tokens of a vocabulary of 16, whose labels are "
    "the tokens before, renamed by a permutation; Adam on all of them at a base rate of "
    "$10^{-4}$, at which responses are nearly linear at every size. An interval within 1/8 of "
    "an exponent counts as that exponent."
)


@claim(
    Eq(width_change, Integer(0)),
    source=MUP,
    post_hoc=f"Logits were split off, as mup_logits_flat, after a first measurement. {_TRIED}",
    shares=("signal_propagation/mup_logits_flat",),
    cases={
        "full": (
            *_WIDTHS(narrow=32, wide=256, replicas=32, rule="completep", of="hidden"),
            *_WIDTHS(narrow=32, wide=256, replicas=64, rule="mup", of="hidden"),
        )
    },
    control=Control(_FEW_WIDE(rule="standard", of="hidden"), "the standard rule"),
    cited="Bears on whether muP carries Adam's rate for hidden weights to wider nets.",
    **WITHIN,
)
@noted(_NETS)
def mup_width_flat(case: Case, seed: int, device: str = "cpu") -> Sample:
    """MuP and CompleteP: change of hidden states is flat in width.

    In random nets with muP's powers of the width (variance and Adam rate $1/n$ of hidden weights,
    variance $1/n^2$ and rate $1/n$ of the read-out, scores over the head width) a few steps of Adam
    typically change the last hidden states by amounts whose exponent of the width is 0; so they do
    with CompleteP's constants for the depth besides.

    The read-out's factor $m_N^{-1}$ stands in its weights, with deviation and rate to match. Of
    these powers it is the rate of hidden weights that the exponent tests: in so few steps it does
    not notice scores over the root of the head width, nor the read-out's variance (which moves
    mup_logits_flat) and rate.
    """
    return change_exponents(case, seed, device)


@claim(
    Eq(width_change, Integer(0)),
    source=MUP,
    post_hoc=f"Split off from mup_width_flat after a first measurement. {_TRIED}",
    shares=("signal_propagation/mup_width_flat",),
    cases={
        "full": _WIDTHS(narrow=32, wide=256, replicas=96, rule=("mup", "completep"), of="logits")
    },
    known="UNDECIDED",
    control=Control(_FEW_WIDE(rule="standard", of="logits"), "the standard rule"),
    supports="signal_propagation/mup_width_flat",
    **WITHIN,
)
@noted(_NETS)
def mup_logits_flat(case: Case, seed: int, device: str = "cpu") -> Sample:
    """MuP and CompleteP: change of logits is flat in width.

    In random nets with muP's powers of the width a few steps of Adam typically change the logits by
    amounts whose exponent of the width is 0; so they do with CompleteP's constants for the depth
    besides.

    On widths 32 to 256 the exponent lies near -1/8. What the initial read-out, of deviation $1/n$,
    sees of a change that is not aligned with it goes as $n^{-1/2}$ and dies out slowly.
    """
    return change_exponents(case, seed, device)


@claim(
    Ge(width_change, Rational(1, 2)),
    source=MUP,
    reads=("of",),
    post_hoc=_TRIED,
    cases={"full": _WIDTHS(narrow=32, wide=128, replicas=48, rule="standard", of=OF)},
    control=Control(_FEW_WIDE(rule="mup", of="hidden"), "muP"),
    supports="signal_propagation/mup_width_flat",
    **EXPONENT,
)
@noted(_NETS)
def standard_width_growth(case: Case, seed: int, device: str = "cpu") -> Sample:
    """The standard parametrisation: training steps move wider nets further.

    In random nets of variance 1/fan-in with one Adam rate for all weights and widths, a few steps
    typically change the last hidden states and the logits by amounts that grow at least as the root
    of the width.

    Counting powers gives an exponent of 1 while steps are small: a sign step of one size in each of
    $n$ weights, aligned with what enters.
    """
    return change_exponents(case, seed, device)


@claim(
    Eq(depth_change, Integer(0)),
    source=COMPLETEP,
    reads=("of",),
    post_hoc=f"Depths were moved twice after measurements: from 2, from 8, from 16 on. {_TRIED}",
    shares=("signal_propagation/completep_flat_shallow",),
    cases={
        "full": tuple(
            case
            for rule in ("completep", "depth-mup")
            for moved, replicas in (("blocks", 48), ("all", 96))
            for case in _DEPTHS(
                shallow=16, deep=128, replicas=replicas, moved=moved, rule=rule, of=OF
            )
        ),
        "gpu": _DEPTHS(
            rule=("completep", "depth-mup"), of=OF, shallow=16, deep=512, replicas=64, moved="all"
        ),
    },
    control=Control(
        _FEW_DEEP(rule="completep with the rate of depth-mup", moved="blocks", of="hidden"),
        r"branches over $L$ with rates over $\sqrt{L}$: exponent -1/2",
    ),
    cited="Bears on whether CompleteP and depth-muP carry a rate from 16 layers to more.",
    **WITHIN,
)
@noted(_NETS)
def depth_flat(case: Case, seed: int, device: str = "cpu") -> Sample:
    """CompleteP and depth-muP: change by first steps stays within $L^{1/8}$ either way.

    In random nets of 16 layers and more with branches times $1/L$ and Adam rates that do not depend
    on $L$ (CompleteP), and with branches and Adam rates times $L^{-1/2}$ (depth-muP), a few steps
    typically change the last hidden states and the logits by amounts whose exponent of the depth is
    within 1/8 of 0, with all weights trained and with those in the blocks alone.

    Within 1/8 of flat is not flat: CompleteP's changes of hidden states fall, as $L^{-0.04}$, and
    the intervals of these exponents do not hold 0.

    With a base depth of 2. Depth-muP's rule is as recalled from yang2023tp6; check against the
    paper. Below 16 layers changes of hidden states fall (completep_flat_shallow), and from 8 on
    their exponent lies near the edge of the tolerance. The variance that branches write falls as
    $1/L$, from about that of the embedding at the base depth, and hidden states move less where it
    is small.
    """
    return change_exponents(case, seed, device)


@claim(
    Eq(depth_change, Integer(0)),
    source=COMPLETEP,
    known="FAILS",
    post_hoc=f"Split off from depth_flat after a measurement, in which it failed. {_TRIED}",
    shares=("signal_propagation/depth_flat",),
    cases={
        "full": _DEPTHS(
            shallow=2, deep=16, replicas=256, rule="completep", moved="blocks", of="hidden"
        )
    },
    control=Control(_FEW_DEEP(rule="mup", moved="blocks", of="hidden"), "no power of the depth"),
    cited="Bears on whether CompleteP carries a rate tuned at 2 layers to 16.",
    **WITHIN,
)
@noted(_NETS)
def completep_flat_shallow(case: Case, seed: int, device: str = "cpu") -> Sample:
    """CompleteP: change by first steps is flat in shallow nets too.

    In random nets of 2 to 16 layers with branches times $1/L$, base depth 2, and Adam rates that do
    not depend on $L$ a few steps typically change the last hidden states by amounts whose exponent
    of the depth is 0.

    A reading of "flat" down to the base depth, which was expected to hold. It fails, since the
    powers are those of large depths (depth_flat).
    """
    return change_exponents(case, seed, device)


@claim(
    Ge(depth_change, Rational(1, 2)),
    source=DEPTH_MUP,
    post_hoc=_TRIED,
    cases={"full": (_FEW_DEEP(rule="mup", moved="all", of="hidden"),)},
    control=Control(_FEW_DEEP(rule="completep", moved="blocks", of="hidden"), "CompleteP"),
    supports="signal_propagation/depth_flat",
    **EXPONENT,
)
@noted(_NETS)
def plain_depth_growth(case: Case, seed: int, device: str = "cpu") -> Sample:
    """Without powers of the depth training steps move deeper nets further.

    In random pre-LN nets with muP's powers of the width and none of the depth a few steps of Adam
    typically change the last hidden states by amounts that grow at least as the root of the depth.

    Counting powers gives an exponent of 1 while steps are small: each of $L$ branches moves by as
    much, in one direction.
    """
    return change_exponents(case, seed, device)


def _gradient_exponents(case: Case, seed: int, device: str = "cpu") -> Sample:
    from .parametrisations import RULES, ScalingRule, gradient_sizes, net_of

    rng = case.rng(seed)
    rule = (
        RULES[case.rule]
        if "rule" in case
        else ScalingRule(alpha=float(case.rational("depth_power")))
    )

    def run(batch: TokenBatch, width: int, depth: int) -> np.ndarray:
        return gradient_sizes(net_of(rule, width, depth, len(batch.ids), rng, device=device), batch)

    return sample(exponents(sizes(case), by_size(case, rng, device, run)))


_WIDER = partial(Case.grid, narrow=32, depth=4, expected_exponent="-1")


def _deeper(*powers: str, **fields: Any) -> tuple[Case, ...]:
    return tuple(
        Case(depth_power=power, expected_exponent=f"-{power}", shallow=8, width=32, **fields)
        for power in powers
    )


@claim(
    Eq(gradient_size, expected_exponent),
    source=COMPLETEP,
    post_hoc=_TRIED,
    assumes={
        "a case expects -1 by width, minus the branches' power by depth": lambda c: (
            c.rational("expected_exponent") == (-1 if "narrow" in c else -c.rational("depth_power"))
        )
    },
    cases={
        "quick": _deeper("1/2", deep=32, replicas=96),
        "full": (
            *_deeper("1/2", "3/4", "1", deep=64, replicas=48),
            *_WIDER(rule="completep", wide=256, replicas=32),
            *_WIDER(rule="mup", wide=256, replicas=64),
        ),
    },
    control=Control(_WIDER(rule="standard", wide=128, replicas=48)[0], "the standard rule"),
    supports="signal_propagation/depth_flat",
    **WITHIN,
)
@noted(_NETS)
def epsilon_exponents(case: Case, seed: int, device: str = "cpu") -> Sample:
    r"""Gradients in blocks together go as CompleteP's $\epsilon$.

    In random nets with muP's powers of the width the root mean square of the gradients of all
    matrices in blocks together typically goes as $1/n$, $n$ the width, and with branches times
    $L^{-\alpha}$ as $L^{-\alpha}$: the powers that CompleteP gives Adam's $\epsilon$ there.

    Reported are the powers of $\epsilon$; that they are the gradient's is what they are for.
    Gradients of the first backward pass. Values, outputs and MLPs make up the mean. Queries and
    keys alone have $n^{-3/2}$ there: scores are over the head width, and what comes back to a score
    is a sum over $n$ values that random signs keep at $n^{-1/2}$. Against their gradients
    $\epsilon$ grows with the width. The power of the depth in a scalar net: depth_exponents.
    """
    return _gradient_exponents(without(case, "expected_exponent"), seed, device)


@claim(
    Eq(second_order_exponent, alpha - 1),
    wording="reported",
    cases={
        "full": Case.grid(
            depth_power=("1/2", "1", "3/4"), shallow=8, deep=64, width=32, replicas=48
        )
    },
    post_hoc=_TRIED,
    source=Source("dey2025", "equation 6 and figure 6", "arXiv:2505.01618"),
    control=Control(
        Case(depth_power="1/2", shallow=8, deep=32, width=32, replicas=96),
        r"flat at $\alpha = 1/2$ too",
        Eq(second_order_exponent, Integer(0)),
    ),
    cited="Bears on whether CompleteP may be preferred because depth-muP makes deep blocks linear.",
    **WITHIN,
)
@noted(_NETS)
def second_order_response(case: Case, seed: int, device: str = "cpu") -> Sample:
    r"""Deep blocks turn linear in their step, but for $\alpha = 1$.

    In random nets with branches times $L^{-\alpha}$ and Adam rates in blocks times $L^{\alpha-1}$
    the second-order over the linear response of a block to one step of its own weights typically
    goes as $L^{\alpha-1}$: flat for CompleteP alone.

    The two responses are the even and the odd part of what plus and minus the step do to the block,
    at the hidden states that enter it. To lowest order their ratio is proportional to the step, so
    to $L^{\alpha-1}$ by the rule's rate: what is measured is that nothing else in it depends on
    depth. In a scalar branch: depth_exponents.
    """
    import torch

    from .parametrisations import ScalingRule, net_of, second_order_share

    rng, power = case.rng(seed), float(case.rational("depth_power"))
    rule = ScalingRule(alpha=power, rate=power - 1)

    def run(batch: TokenBatch, width: int, depth: int) -> np.ndarray:
        net = net_of(rule, width, depth, len(batch.ids), rng, device=device, dtype=torch.float64)
        return second_order_share(rule, net, batch)

    return sample(exponents(sizes(case), by_size(case, rng, device, run)))

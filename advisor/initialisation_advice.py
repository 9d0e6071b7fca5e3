"""Initial scales, branch multipliers and optimiser settings for a depth, by parametrisation and
norm.

Each is one of several ways to make up for depth. They are alternatives: a net that divides its
branches by depth twice, say in the initialisation and by a multiplier, counts depth twice.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import NamedTuple

from . import laws
from .grids import STANDARD, NetKind

# Plain post-norm nets of more layers failed in translation.
_DEEPEST_PLAIN_POST = 12
# The name of advice that a first look must show.
_WARNING = "warning"


class Advice(NamedTuple):
    """One piece of advice, and whose it is."""

    what: str  # which setting
    says: str  # one sentence, with the number for this depth
    source: str
    wording: str  # printed, reported, recalled, derived
    claim: str | None = None  # of the ledger, about it

    @property
    def warns(self) -> bool:
        """Whether it says that the demanded net may not train as it is."""
        return self.what == _WARNING

    def __str__(self) -> str:
        claim = f"; claim {self.claim}" if self.claim else ""
        return f"{self.what}: {self.says} [{self.source}; {self.wording}{claim}]"


def advice(
    layers: int, key: NetKind = STANDARD, *, encoder_layers: int = 0, loops: int = 1
) -> tuple[Advice, ...]:
    """What to set for a net of this depth, most important first.

    Args:
        layers: that a token passes; of the decoder, where there are two stacks.
        key: parametrisation, norm and kind of residual connection.
        encoder_layers: of an encoder-decoder, else 0.
        loops: R, how often a token passes the same layers, of which there are layers / R.

    >>> print(advice(32)[0].says)
    output projections of a layer with standard deviation 0.02 / sqrt(2 L) = 0.0025
    >>> advice(32, loops=4)[0].says.partition("deviation ")[2]
    '0.02 / (R sqrt(2 L)) = 0.00125, R = 4, L = 8'
    >>> [a.what for a in advice(32, NetKind("completep"))][:2]
    ['branch multiplier', 'learning rate']
    """
    once = Advice(
        "once",
        "do not count depth twice: scaled initialisation, branch multiplier, DeepNorm "
        "and LayerNorm scaling each make up for depth; use one",
        "Megatron-LM, draft pull request 4381, printed; README of LayerNorm scaling",
        "reported",
    )
    found = (*_norm(layers, key, encoder_layers, loops), *_parametrisation(key))
    return (*found, once) if key.residual == "plain" else found


def _norm(layers: int, key: NetKind, encoder_layers: int, loops: int) -> Iterator[Advice]:
    if key.norm == "post":
        yield from _deepnorm(layers, encoder_layers, loops)
    elif key.norm == "lns":
        yield Advice(
            "norm",
            "the output of the LayerNorm in layer l times 1 / sqrt(l): "
            f"{layers**-0.5:.3g} in the last; no depth in the initialisation beside it",
            "arXiv:2502.05795 and its README",
            "reported",
        )
    elif key.residual == "attnres":
        yield Advice(
            "initialisation",
            "no scale by depth is published for attention residuals",
            "depthlaw",
            "derived",
        )
    elif key.parametrisation != "completep" and loops > 1:
        yield from _loop_advice(layers // loops, loops)
    elif key.parametrisation != "completep":
        yield Advice(
            "initialisation",
            "output projections of a layer with standard deviation "
            f"0.02 / sqrt(2 L) = {0.02 * laws.residual_scale(layers):.3g}",
            "karpathy/nanoGPT, model.py; GPT-2 leaves open whether L or 2 L",
            "printed",
            "signal_propagation/residual_stream",
        )
        yield Advice(
            "without it",
            f"2 L = {2 * layers} branch writes of variance s^2 raise the variance of "
            f"the residual stream to 1 + {2 * layers} s^2; OLMo 2 initialises so",
            "derived; OLMo 2 as reported",
            "derived",
            "signal_propagation/residual_stream",
        )


def _loop_advice(own_layers: int, loops: int) -> Iterator[Advice]:
    """Passes share weights, so that the writes of one branch add up."""
    claim = "signal_propagation/looped_stream"
    yield Advice(
        "initialisation",
        "output projections of a layer with standard deviation 0.02 / (R sqrt(2 L)) = "
        f"{0.02 * laws.residual_scale(own_layers, loops):.3g}, R = {loops}, L = {own_layers}",
        "arXiv:2606.18524, abstract: 1/(N sqrt(L)) for N loops of L blocks; two a layer are ours",
        "derived",
        claim,
    )
    yield Advice(
        "without it",
        f"2 L = {2 * own_layers} branches, each of which writes variance s^2 in R = {loops} passes "
        "with the same weights, raise the variance of the residual stream to nearly "
        f"1 + {2 * own_layers * loops**2} s^2",
        "derived",
        "derived",
        claim,
    )


def _deepnorm(layers: int, encoder_layers: int, loops: int) -> Iterator[Advice]:
    if encoder_layers:
        alpha, beta, alpha_d, beta_d = laws.deepnorm_pair(encoder_layers, layers)
        scale = f"alpha {alpha:.3g} in the encoder, {alpha_d:.3g} in the decoder"
        gain = f"{beta:.3g} in the encoder, {beta_d:.3g} in the decoder,"
    else:
        alpha, beta = laws.deepnorm_scales(layers)
        scale = f"alpha = (2 L)^(1/4) = {alpha:.3g}"
        gain = f"beta = (8 L)^(-1/4) = {beta:.3g}"
    for what, says in (
        ("residual scale", f"DeepNorm, LN(alpha x + G(x)): {scale}"),
        ("initialisation", f"Xavier gain {gain} for the MLP, values and output projections"),
    ):
        yield Advice(
            what,
            says,
            "wang2022deepnet, arXiv:2203.00555, figure 2",
            "printed",
            "signal_propagation/deepnorm_scales",
        )
    if loops > 1:
        yield Advice(
            _WARNING,
            "DeepNorm's scales are of layers with weights of their own; looped layers share them, "
            "and need others, which are not derived here",
            "depthlaw",
            "derived",
        )
    if max(layers, encoder_layers) > _DEEPEST_PLAIN_POST:
        yield Advice(
            _WARNING,
            "plain post-norm failed beyond 6 to 12 layers in translation: use DeepNorm's scales, "
            "or pre-norm",
            "liu2020verydeep, arXiv:2008.07772, as tabulated in RealFormer",
            "reported",
            "signal_propagation/branch_shares",
        )


def _parametrisation(key: NetKind) -> Iterator[Advice]:
    if key.parametrisation == "mup":
        yield Advice(
            "learning rate",
            "tuned at one width it carries over to others, not to other depths: "
            "tune it at this depth",
            "microsoft/mup, issue 54",
            "printed",
            "signal_propagation/mup_learning_rates",
        )
        yield Advice(
            "depth-muP",
            "to carry it over depths too, in place of the scaled initialisation: branches times "
            "m^-0.5 and Adam's rate times m^-0.5, m = L / L_base",
            "arXiv:2310.02244",
            "recalled",
            "signal_propagation/depth_exponents",
        )
    elif key.parametrisation == "completep":
        for what, says in (
            ("branch multiplier", "m^-1, m = L / L_base"),
            ("learning rate", "of hidden weights: no power of the depth"),
        ):
            yield Advice(
                what,
                says,
                "dey2025, arXiv:2505.01618; EleutherAI/nanoGPT-mup, branch completep",
                "printed",
                "signal_propagation/depth_exponents",
            )
        yield Advice(
            "epsilon",
            "AdamW's epsilon in blocks times m^-1, and one over the width ratio",
            "dey2025, arXiv:2505.01618",
            "reported",
        )
        yield Advice(
            "initialisation",
            "of hidden weights: no power of the depth; a framework whose initialisation already "
            "divides by sqrt(L), such as Megatron, needs m^0.5 to undo it",
            "Megatron-LM, draft pull request 4381",
            "printed",
        )

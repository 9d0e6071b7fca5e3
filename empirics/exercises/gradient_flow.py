"""Exercise: gradient norms by layer, with and without residuals, pre and post norm.

Gradients are those of a language model's loss by the hidden states after each layer, by
backpropagation through real nets, at initialisation and after a short training. They are compared
with the gradient by the last layer's output, so that what is measured is the text's product of
derivatives.

At initialisation weights are Xavier's and GPT-2's, in nets of 12, 24 and 48 layers; training starts
from GPT-2's, in nets of 24. Of 24 layers some are compared with the last, of 12 and 48 the first.
"""

from __future__ import annotations

from collections.abc import Iterable
from functools import lru_cache, partial
from typing import TYPE_CHECKING, Any

import numpy as np
from sympy import Rational, log

from depthlaw.theory.claims.definition import Case, Control, Sample, Source, claim
from depthlaw.theory.claims.relations import Ge, Gt, Le, Lt
from depthlaw.theory.claims.symbols import depth, layer, quantity

from ..signal_propagation.exponents import sample
from ..trained_depth.experiment import FIT
from .corpus import STANDARD

if TYPE_CHECKING:
    from ..signal_propagation.profiles import Gradients

ratio = quantity(
    "gradient_log_ratio",
    r"\ln(g_l/g_L)",
    "log of the gradient norm at layer $l$ over that at the last layer",
    "real",
)
change = quantity(
    "gradient_log_change",
    r"|\ln(g_l/g_L)|",
    "absolute value of the log of the gradient norm at layer $l$ over that at the last layer",
    "nonnegative real",
)
against_pre = quantity(
    "gradient_against_pre_norm",
    r"\Delta\ln(g_l/g_L)",
    "log ratio of gradient norms, layer $l$ over the last, of post-norm minus that of pre-norm",
    "real",
)

# The net of which all layers are shown and that is also trained; a shorter and a longer one.
LAYERS, SHORTER, LONGER = 24, 12, 48
WIDTH = 48
SHOWN = (1, 4, 8, 12, 16, 20)
# Of initialisation: one that keeps the variance at any width, and the usual one.
SCHEMES = ("xavier", "gpt2")
# The short training: updates, and windows per net in each.
STEPS, BATCH = 60, 4
# Nets at initialisation, which cost little, and trained ones.
DRAWN, TRAINED = 32, 16
# Sequences for each gradient.
SEQUENCES = 2

# What one layer leaves of a gradient in the text's example of vanishing, 0.9^100.
LEFT = Rational(9, 10)

_text = partial(Source, "deepnetworks63")
GRADIENTS: dict[str, Any] = {
    **FIT,
    "wording": "universal",
    "portable": False,
    "reads": ("layer", "of"),
}


def _nets(
    residual: bool, *norms: str, layers: Iterable[int] = SHOWN, of: Iterable[str] = ("states",)
) -> dict[str, tuple[Case, ...]]:
    """After a short training, and at initialisation by both schemes and at three depths."""
    net = partial(Case.grid, residual=residual, norm=norms, of=of, width=WIDTH, corpus=STANDARD)
    at_start = partial(net, scheme=SCHEMES, steps=0, replicas=DRAWN)
    return {
        "exercises": (
            *net(scheme="gpt2", steps=STEPS, replicas=TRAINED, depth=LAYERS, layer=layers),
            *at_start(depth=LONGER, layer=1),
            *at_start(depth=LAYERS, layer=layers),
            *at_start(depth=SHORTER, layer=1),
        )
    }


def _one(
    residual: bool, norm: str, scheme: str = "xavier", *, depth: int = LAYERS, layer: int = 1
) -> Case:
    """A layer of a net at initialisation."""
    return Case(
        residual=residual,
        norm=norm,
        of="states",
        width=WIDTH,
        corpus=STANDARD,
        scheme=scheme,
        steps=0,
        replicas=DRAWN,
        depth=depth,
        layer=layer,
    )


def log_ratios(case: Case, device: str = "cpu", folder: str = "") -> np.ndarray:
    """ln of the gradient norm at a case's layer over that at the last layer, shape (replicas,): by
    the hidden states after the layer, or by all weights of attention and MLP in it."""
    gradients = _gradients(
        *(
            case.fields()[name]
            for name in (
                "residual",
                "norm",
                "scheme",
                "width",
                "depth",
                "steps",
                "replicas",
                "corpus",
            )
        ),
        device,
        folder,
    )
    norms = gradients.hidden[:, 1:] if case.of == "states" else gradients.layers
    return np.asarray(np.log(norms[:, case.layer - 1] / norms[:, -1]))


@lru_cache(maxsize=64)
def _gradients(
    residual: bool,
    norm: str,
    scheme: str,
    width: int,
    depth: int,
    steps: int,
    replicas: int,
    corpus: str,
    device: str,
    folder: str,
) -> Gradients:
    """In float64, since without residuals gradients fall below what float32 can hold."""
    import torch

    from ..nets.net import Net
    from ..signal_propagation.profiles import mean_cross_entropy, net_gradients
    from ..training.evaluation import draw, source
    from .language_model import recipe, texts, trained

    model = recipe(
        depth,
        width=width,
        steps=max(1, steps),
        seeds=replicas,
        batch=BATCH,
        scheme=scheme,
        norm=norm,
        residual=residual,
    )
    settings = model.settings
    drawn = [np.random.default_rng(source("weights", seed)) for seed in settings.seeds]
    net = Net(
        model.shape,
        replicas=replicas,
        rng=drawn,
        std=settings.std,
        dtype=torch.float64,
        device=device,
    )
    if steps:
        # The trainer starts from these very weights; what it ends with is float32.
        net.load_state_dict(trained(model, corpus, device=device, folder=folder).net.state_dict())
    text = texts(corpus, model.shape.vocabulary, model.shape.length, folder).validation
    batch = draw(text, settings.seeds, SEQUENCES, device, "gradient flow")
    mean_loss = mean_cross_entropy(batch.targets)
    # Ratios do not see the power of two; without it squares of the smallest gradients are zero.
    factor = 1.0 if residual else 2.0**480
    return net_gradients(net, batch.inputs, lambda logits: factor * mean_loss(logits))


@claim(
    Le(ratio, (depth - layer) * log(LEFT)),
    cases=_nets(False, "none", "pre", "post"),
    source=_text("The Vanishing Gradient Problem"),
    expected="FAILS",
    post_hoc="nets with and without norm were claims of their own when their data were seen",
    control=Control(_one(True, "pre"), "with residuals and pre-norm"),
    cited=(
        "Bears on whether residuals alone, and not norms, get the credit for gradients in "
        "deep nets."
    ),
    **GRADIENTS,
)
def gradients_vanish(case: Case, device: str = "cpu", folder: str = "") -> Sample:
    r"""Without residuals gradients vanish exponentially, whatever the norm.

    In language models without residuals, with layer normalisation before or behind attention and
    MLP or with none, the gradient of the loss by the output of layer $l$ is at most $0.9^{L - l}$
    times that by the output of the last layer $L$: in the geometric mean a layer leaves 0.9 of it
    or less, as in the text's example, for $L = 12$, 24 and 48, at initialisation and, for 24, after
    a short training.

    The text: "the product vanishes exponentially". It holds in every net without normalisation.
    Expected to fail with layer normalisation, at initialisations that keep the variance: it undoes
    on the way back what a branch shrinks on the way forward, and the text's argument does not speak
    of it. Where gradients vanish all the same, with GPT-2's weights in 24 layers, hidden states are
    so small that the $\epsilon$ of layer normalisation keeps it from undoing that.
    """
    return sample(log_ratios(case, device, folder))


@claim(
    Gt(ratio, 0),
    source=_text("Gradient Visualization, without residuals"),
    expected="FAILS",
    cases={
        "exercises": [
            _one(False, norm, scheme, depth=10)
            for norm in ("none", "pre", "post")
            for scheme in SCHEMES
        ]
    },
    control=Control(_one(False, "none", "gpt2", depth=10, layer=5), "layer 5 in place of 1"),
    supports="exercises/gradients_vanish",
    **GRADIENTS,
)
def first_layer_has_the_largest(case: Case, device: str = "cpu", folder: str = "") -> Sample:
    """Without residuals layer 1 has a larger gradient than layer 10.

    In language models of ten layers without residuals the gradient of the loss by the output of
    layer 1 is larger than that by the output of layer 10, as the text draws it.

    The text draws layer 1 with "large gradient" and layer 10 with "vanishing!". Expected to fail:
    the picture has the two ends exchanged. Backpropagation starts at the last layer, and by the
    text's own product it is layer 1 where the gradient vanishes.
    """
    return sample(log_ratios(case, device, folder))


@claim(
    Ge(ratio, 0),
    source=_text("Residual Connections Save the Day: the gradient is at least 1"),
    expected="FAILS",
    cases=_nets(True, "pre", "none", "post"),
    post_hoc=(
        "Nets without norm were split off as a claim of their own after a first trial, in which "
        "they failed; they are back in this one."
    ),
    control=Control(_one(False, "none"), "without residuals"),
    supports="signal_propagation/residual_gradient_at_least_one",
    **GRADIENTS,
)
def residuals_preserve(case: Case, device: str = "cpu", folder: str = "") -> Sample:
    """With residuals gradients are not lost, whatever the norm.

    In language models with residuals, with layer normalisation before or behind attention and MLP
    or with none, the gradient of the loss by the output of each layer $l$ is at least as large as
    that by the output of the last layer, at initialisation and after a short training.

    The text: "the gradient is at least 1!" Expected to fail with post-norm alone, where the text
    says so itself: "gradient through LN". With pre-norm nothing fails; the upper layers of the
    trained nets are undecided. With no norm it fails after the short training, and is undecided at
    the start from GPT-2's weights: branches that read the small embeddings as they are change the
    gradient by so little that it is not told from nothing; thousands of nets would tell.
    """
    return sample(log_ratios(case, device, folder))


@claim(
    Le(change, -(depth - layer) * log(LEFT)),
    source=_text("Gradient Visualization, with residuals; Layer Normalization Placement"),
    cases=_nets(True, "pre", "none", "post", layers=(1,), of=("states", "weights")),
    expected="FAILS",
    post_hoc=(
        "Without a norm: written after a first trial, in which it failed with Xavier's weights."
    ),
    control=Control(_one(False, "none"), "without residuals"),
    cited=(
        "Bears on whether pre-norm may be said to keep gradients of one size from layer to layer."
    ),
    **GRADIENTS,
)
def residual_gradients_are_stable(case: Case, device: str = "cpu", folder: str = "") -> Sample:
    """With residuals gradients are stable over layers, whatever the norm.

    In language models with residuals, with pre-norm, post-norm or no norm, the gradients of the
    loss by the output of the first layer and of the last, and by the weights of these layers,
    differ by a factor of at most $(1/0.9)^{L - 1}$, whichever is larger, at initialisation and
    after a short training.

    The text: "all healthy!", of a picture that names no norm, and "For very deep networks, pre-norm
    is essential", by which post-norm should fail. The tolerance is wide: a factor of 3 for 12
    layers, 11 for 24 and 141 for 48. The text draws equal bars and gives no tolerance; taken here
    is the change per layer, 0.9, by which it shows what vanishes. Pre-norm fails for 12 layers of
    Xavier's weights: most of what gradients gain they gain in the first layers, however many
    follow, so that it is the more per layer the fewer there are. Post-norm is not the unstable one
    before training, at any depth or scheme, and is so after it. Without a norm each layer
    multiplies the hidden states, and the gradients, by Xavier's weights.
    """
    return sample(np.abs(log_ratios(case, device, folder)))


def _against(
    case: Case, device: str = "cpu", folder: str = "", *, norm: str = "pre", residual: bool = True
) -> Sample:
    other = Case(**case.fields() | {"norm": norm, "residual": residual})
    return sample(log_ratios(case, device, folder) - log_ratios(other, device, folder))


@claim(
    Lt(against_pre, 0),
    cases=_nets(True, "post", layers=(1,)),
    source=_text("Layer Normalization Placement: pre-norm is essential"),
    control=Control(
        _one(True, "post"),
        "against nets without residuals and norms",
        measured=partial(_against, norm="none", residual=False),
    ),
    supports="signal_propagation/residual_gradient_at_least_one",
    **GRADIENTS,
)
def post_norm_loses_more(case: Case, device: str = "cpu", folder: str = "") -> Sample:
    """Post-norm loses more of the gradient than pre-norm.

    Of language models with residuals and the same seed, those with post-norm have a smaller ratio
    of the gradient by the first layer's output to that by the last layer's than those with
    pre-norm, at initialisation and after a short training.

    The text: "Post-norm: gradient must flow through LayerNorm".
    """
    return _against(case, device, folder)

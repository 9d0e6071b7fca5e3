"""Exercise: language models of 24 layers from six initialisations: their loss after training, and
the variance of their hidden states before."""

from __future__ import annotations

from functools import partial
from typing import Any

import numpy as np
from sympy import Rational, log

from depthlaw.theory.claims.definition import (
    LEVEL_MOVED,
    Case,
    Control,
    Exact,
    Sample,
    Source,
    claim,
)
from depthlaw.theory.claims.relations import Eq, Gt, Lt
from depthlaw.theory.claims.symbols import depth, quantity, vocabulary

from ..signal_propagation.exponents import sample
from .corpus import STANDARD
from .depth_ablation import NETS, gained
from .exercise import loss

doublings = quantity(
    "variance_doublings",
    r"\log_2(v_L/v_1)",
    "how often the variance of the hidden states doubles from the first layer to the last",
    "real",
)
growths = quantity(
    "growth_ratio",
    r"\gamma_L/\gamma_{L/4}",
    "growth of the variance over the embedding's, $v_L/v_0 - 1$, at $L$ layers over that at $L/4$",
    "real",
)
diverged = quantity(
    "diverged",
    "n_{div}",
    "trainings with a loss or gradient that is not finite",
    "nonnegative integer",
)

# By the name in cases: scheme and standard deviation, see `initialised`. "random" is
# numpy.random.randn without a factor; "fixed" the text's base of 0.02 for all weights, "gpt2" the
# same with residual projections divided by sqrt(2 L). PyTorch's default for a linear map is none
# of them: it is scaled by its fan-in.
OF_NAME = {
    "random": ("plain", 1.0),
    "fixed": ("plain", 0.02),
    "xavier": ("xavier", 0.02),
    "kaiming": ("kaiming", 0.02),
    "gpt2": ("gpt2", 0.02),
    "deepnorm": ("deepnorm", 0.02),
}
SCALED = ("xavier", "kaiming", "gpt2", "deepnorm")
LAYERS = 24
# Windows of text that variances are the mean over.
_WINDOWS = 16

# Updates: as many as two cores do in eight minutes.
_CPU = partial(Case, depth=LAYERS, width=48, steps=240, vocabulary=512, replicas=8, corpus=STANDARD)
# Nets that are not trained cost little, so that there are more of them.
_DRAWN = partial(Case, depth=LAYERS, width=48, vocabulary=512, replicas=32, corpus=STANDARD)


def _cases(*names: str) -> dict[str, list[Case]]:
    return {"exercises": [_CPU(initialisation=name) for name in names]}


_text = partial(Source, "deepnetworks63")


def _recipe(case: Case, name: str, **changes: Any) -> Any:
    from .language_model import recipe

    scheme, std = OF_NAME[name]
    given = {
        "width": case.width,
        "vocabulary": case.vocabulary,
        "seeds": case.replicas,
        "batch": 8,
        "scheme": scheme,
        "std": std,
        "steps": case.get("steps", 1),
    }
    return recipe(case.depth, **(given | changes))


def losses(case: Case, name: str, device: str, folder: str, *, learns: bool = True) -> np.ndarray:
    """Validation losses of a case's nets from an initialisation, one per seed; without `learns`
    those of nets as they are initialised."""
    from .language_model import trained

    changes: dict[str, Any] = {} if learns else {"steps": 1, "rate": 0.0}
    model = _recipe(case, name, **changes)
    return np.array(trained(model, case.corpus, device=device, folder=folder).losses)


def _untrained(case: Case, device: str = "cpu", folder: str = "") -> Sample:
    return sample(losses(case, case.initialisation, device, folder, learns=False))


@claim(
    Gt(loss, log(vocabulary) - 1),
    source=_text("Section 6.3, Initialization; Exercises, 2"),
    wording="universal",
    cases=_cases("random"),
    control=Control(_CPU(initialisation="gpt2"), "GPT-2's initialisation, which learns"),
    supports="exercises/variance_is_not_geometric",
    **NETS,
)
def random_stalls(case: Case, device: str = "cpu", folder: str = "") -> Sample:
    r"""From weights $N(0, 1)$ 24 layers gain less than a nat.

    The validation loss of pre-norm language models of 24 layers whose weights all start as
    $N(0, 1)$ typically stays above a nat less than that of equal chances, $\log V$, within the
    budget.

    Checked sentence: "Proper initialization is crucial for training deep networks." Random means
    numpy.random.randn as it is; the text names no variance.
    """
    return sample(losses(case, case.initialisation, device, folder))


@claim(
    Lt(loss, log(vocabulary) - 1),
    source=_text("Section 6.3, Initialization"),
    wording="universal",
    known="UNDECIDED",
    cases=_cases("gpt2", "deepnorm", "xavier", "kaiming", "fixed"),
    control=Control(
        _CPU(initialisation="gpt2"), "nets as they are initialised", measured=_untrained
    ),
    supports="exercises/variance_is_not_geometric",
    **NETS,
)
def scaled_learn(case: Case, device: str = "cpu", folder: str = "") -> Sample:
    r"""Precondition: 24 layers learn from five small or scaled initialisations.

    The validation loss of language models of 24 layers from Xavier's, Kaiming's, GPT-2's and
    DeepNorm's initialisation, and from $N(0, 0.02^2)$ for all weights, is typically more than one
    nat below that of equal chances, $\log V$, after the budget.

    Checked sentence: "Proper initialization is crucial for training deep networks." DeepNorm is
    post-norm, by its definition, the others pre-norm; Kaiming's factor 2 is for ReLU, while all
    nets here have GELU. One learning rate serves all.
    """
    return sample(losses(case, case.initialisation, device, folder))


def _against(case: Case, worse: str, better: str, device: str, folder: str) -> Sample:
    return sample(losses(case, worse, device, folder) - losses(case, better, device, folder))


@claim(
    Gt(gained, 0),
    source=_text("Section 6.3, Exercises, 2"),
    wording="universal",
    post_hoc=LEVEL_MOVED,
    cases=_cases(*SCALED),
    control=Control(
        _CPU(initialisation="gpt2"), "by a nat and a half", statement=Gt(gained, Rational(3, 2))
    ),
    supports="exercises/variance_is_not_geometric",
    **NETS,
)
def scaled_beats_random(case: Case, device: str = "cpu", folder: str = "") -> Sample:
    """Scaled initialisations end below random weights.

    The validation loss from weights $N(0, 1)$, minus that from Xavier's, Kaiming's, GPT-2's or
    DeepNorm's initialisation, is typically positive after the budget, seed by seed, with 24 layers.

    Checked sentence: "Compare random init vs scaled init on a 24-layer model.", which asks; that
    scaled is better is what the section says of "Proper initialization".
    """
    return _against(case, "random", case.initialisation, device, folder)


@claim(
    Gt(gained, 0),
    source=_text("Section 6.3, Summary, Key takeaway"),
    wording="universal",
    known="UNDECIDED",
    cases=_cases("fixed"),
    control=Control(_CPU(initialisation="fixed"), "by a nat", statement=Gt(gained, 1)),
    supports="exercises/variance_is_not_geometric",
    **NETS,
)
def residual_scaling_helps(case: Case, device: str = "cpu", folder: str = "") -> Sample:
    r"""Residual projections divided by $\sqrt{2 L}$ lower the loss.

    The validation loss from $N(0, 0.02^2)$ for all weights, minus that with residual projections
    divided by $\sqrt{2 L}$, is typically positive after the budget, seed by seed, with 24 layers.

    Checked sentence: "Proper scaling of residual projections ($1/\sqrt{2 n_{\mathrm{layers}}}$)
    prevents activation variance from growing with depth", as one of the techniques that "enable the
    very deep networks". That it lowers the loss of nets as small as these is our reading.
    """
    return _against(case, "fixed", "gpt2", device, folder)


def _overflowing(case: Case, device: str = "cpu", folder: str = "") -> Exact:
    from .language_model import trained

    model = _recipe(case, "random", std=1e30, steps=2)
    return Exact(sum(trained(model, case.corpus, device=device, folder=folder).diverged))


@claim(
    Eq(diverged, 0),
    source=Source("depthlaw", "what the exercise rests on"),
    cases=_cases("random", "gpt2", "deepnorm", "xavier", "kaiming", "fixed"),
    control=Control(
        _CPU(initialisation="random", depth=2),
        "weights of $10^{30}$, which overflow",
        measured=_overflowing,
    ),
    supports="exercises/variance_is_not_geometric",
    **NETS | {"holds_for": "these nets"},
)
def none_diverges(case: Case, device: str = "cpu", folder: str = "") -> Exact:
    """No training of these nets diverges from any of the six initialisations.

    Of the trainings of 24 layers from each of the six initialisations, none has a loss or gradient
    that is not finite.

    With the gradient's norm clipped, and normalisation in every layer, even weights $N(0, 1)$
    should give finite losses.
    """
    from .language_model import trained

    model = _recipe(case, case.initialisation)
    return Exact(sum(trained(model, case.corpus, device=device, folder=folder).diverged))


# --- before training -----------------------------------------------------------------------------


def variances(
    case: Case, name: str, layers: int, device: str, folder: str, **changes: Any
) -> np.ndarray:
    """The variance of the hidden states before the first layer and after each, over tokens and
    width, shape (layers + 1, replicas), of nets as they are initialised, on validation text."""
    import torch

    from ..nets.net import Net
    from ..training.evaluation import source
    from .language_model import texts

    model = _recipe(Case(**case.fields() | {"depth": layers}), name, **changes)
    net = Net(
        model.shape,
        replicas=case.replicas,
        std=model.settings.std,
        device=device,
        rng=[np.random.default_rng(source("weights", seed)) for seed in model.settings.seeds],
    )
    text = texts(case.corpus, case.vocabulary, folder=folder).validation
    with torch.no_grad():
        states = net.hidden_states(text.windows(_WINDOWS, device).inputs)
        return np.array([state.double().var(dim=(1, 2, 3)).tolist() for state in states])


def _growth(case: Case, device: str, folder: str, **changes: Any) -> Sample:
    of_layer = variances(case, case.initialisation, case.depth, device, folder, **changes)
    return sample(np.log2(of_layer[-1] / of_layer[1]))


def _without_norm(case: Case, device: str = "cpu", folder: str = "") -> Sample:
    return _growth(case, device, folder, norm="none")


@claim(
    Lt(doublings, 2 * log(depth) / log(2)),
    source=Source("depthlaw", "after deepnetworks63, Section 6.3, Initialization, The Problem"),
    cases={"exercises": [_DRAWN(initialisation=name) for name in OF_NAME if name != "deepnorm"]},
    control=Control(
        _DRAWN(initialisation="kaiming"),
        "without normalisation each branch has its input's variance, which doubles",
        measured=_without_norm,
    ),
    cited=(
        "Bears on whether scaled initialisation may be motivated by a variance that doubles "
        "per layer."
    ),
    **NETS,
)
def variance_is_not_geometric(case: Case, device: str = "cpu", folder: str = "") -> Sample:
    """With pre-norm the variance grows by less than $L^2$, not geometrically.

    In pre-norm nets of 24 layers as they are initialised, each of five ways, the variance of the
    hidden states after the last layer is typically less than $L^2$ times that after the first
    (means of logarithms).

    So it does not double with each layer, which would be $2^{L - 1}$, from weights $N(0, 1)$
    either, of which the text says so: "With random initialization: ... Layer 1 output: variance
    $= 1$, Layer 2 output: variance $= 2$ (grows!), Layer 10 output: variance $= 1024$ (explodes!)";
    the printed third number is one doubling more than the first two say. That is read of nets as
    the text builds them; the picture is one of nets without normalisation. With norm and skip
    connection what a layer adds does not depend on the size of what enters: branches of like
    variance are added, so that the variance grows about linearly, faster where tokens become alike;
    $L^2$ lies far above that and far below the text's factor 2 per layer. One depth is measured:
    that fits no law of growth. DeepNorm is left out: after its norm the variance is 1 in every
    layer.
    """
    return _growth(case, device, folder)


def _growths(case: Case, name: str, device: str, folder: str) -> Sample:
    grown = []
    for layers in (case.depth // 4, case.depth):
        of_layer = variances(case, name, layers, device, folder)
        grown.append(of_layer[-1] / of_layer[0] - 1)
    return sample(grown[1] / grown[0])


def _fixed_growths(case: Case, device: str = "cpu", folder: str = "") -> Sample:
    return _growths(case, "fixed", device, folder)


@claim(
    Lt(growths, 2),
    source=_text("Section 6.3, Transformer-Specific Initialization"),
    wording="universal",
    cases={"exercises": [_DRAWN(initialisation="gpt2")]},
    control=Control(
        _DRAWN(initialisation="fixed"),
        "without the division, four times the layers add four times the variance",
        measured=_fixed_growths,
    ),
    supports="exercises/variance_is_not_geometric",
    **NETS,
)
def residual_scaling_keeps_variance(case: Case, device: str = "cpu", folder: str = "") -> Sample:
    r"""Dividing residual projections by $\sqrt{2 L}$ keeps variance alike at two depths.

    With them, the variance that all layers together add to the embedding's, as a multiple of it, is
    in nets of 24 layers typically less than twice that in nets of 6, as they are initialised.

    Checked sentence: "The $1/\sqrt{2 n_{\mathrm{layers}}}$ factor ensures that even with many
    layers, the output variance doesn't explode." Expected is a ratio of 1 with the factor and 4
    without, and 2 lies between the two.
    """
    return _growths(case, case.initialisation, device, folder)

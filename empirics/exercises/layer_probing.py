"""Exercise: freeze all layers but one; and what linear probes read from each layer.

One layer of a language model is trained while the others stay as they are drawn. And from the
hidden states of each layer of a trained net, a linear classifier guesses tokens of the text.
"""

from __future__ import annotations

from collections.abc import Iterable
from functools import lru_cache, partial
from typing import TYPE_CHECKING, Any

import numpy as np
from sympy import Rational, log

from depthlaw.theory.claims.definition import LEVEL_MOVED, Case, Control, Sample, Source, claim
from depthlaw.theory.claims.relations import Gt, Lt
from depthlaw.theory.claims.symbols import quantity, vocabulary

from ..signal_propagation.exponents import sample
from ..trained_depth.experiment import FIT
from .corpus import STANDARD
from .depth_ablation import gained
from .exercise import loss
from .remove_layer import trained_net, whole_net

if TYPE_CHECKING:
    from .language_model import LanguageModelRecipe

read = quantity(
    "probe_excess",
    r"a_l-a_0",
    "accuracy of a linear probe minus that of always guessing the most frequent token",
    "real",
)
moved = quantity(
    "probe_difference",
    r"\Delta a",
    "mean accuracy of linear probes of some layers minus that of others",
    "real",
)

# --- all layers frozen but one --------------------------------------------------------------------

# With fewer layers there is time for more updates: with half as many of them, layers that are
# trained do not pay yet.
LAYERS, STEPS, BATCH, REPLICAS = 4, 640, 8, 8
NONE, ALL = 0, -1

_FREEZE = Source("deepnetworks63", "Exercises, 4: Layer probing")
_LEARNS = Source("deepnetworks63", "What Each Layer Learns")
FROZEN: dict[str, Any] = {**FIT, "wording": "universal", "portable": False}
_frozen = partial(
    Case, layers=LAYERS, width=48, steps=STEPS, vocabulary=512, replicas=REPLICAS, corpus=STANDARD
)
# Embeddings, positions, final normalisation and read-out.
_ENDS = ("trained", "frozen")


def frozen_but_one(case: Case) -> LanguageModelRecipe:
    """How the nets of a case are trained: the layer named there alone, counted from 1, or `NONE`,
    or `ALL`; with the ends, or without."""
    from .language_model import recipe

    recipe_of = partial(
        recipe,
        case.layers,
        width=case.width,
        batch=BATCH,
        seeds=case.replicas,
        vocabulary=case.vocabulary,
    )
    if case.layer == NONE and case.ends == "frozen":
        return recipe_of(steps=1, rate=0.0)
    # What stands outside of layers has no dot in its name; what a layer holds ends in its number.
    chosen = {NONE: (), ALL: (("*.*", 1.0),)}.get(case.layer, ((f"*.{case.layer - 1}", 1.0),))
    return recipe_of(
        steps=case.steps, rate_factors=(("*", float(case.ends == "trained")), ("*.*", 0.0), *chosen)
    )


@lru_cache(maxsize=64)
def _losses(case: Case, device: str, folder: str) -> np.ndarray:
    """The validation loss of each replica."""
    from .language_model import trained

    recipe_of = frozen_but_one(case)
    return np.array(trained(recipe_of, case.corpus, device=device, folder=folder).losses)


def _with(case: Case, **fields: int | str) -> Case:
    return Case(**case.fields() | fields)


def _taken_off(case: Case, device: str = "cpu", folder: str = "") -> np.ndarray:
    """The loss where no layer is trained minus that where a case's is."""
    without = _losses(_with(case, layer=NONE), device, folder)
    return np.asarray(without - _losses(case, device, folder))


# With the ends frozen only the first layer and the last, for the time it takes.
_EACH, _OUTER = tuple(range(1, LAYERS + 1)), (1, LAYERS)


def _cases(with_ends: Iterable[int], without: Iterable[int] = ()) -> dict[str, tuple[Case, ...]]:
    """By the layer that is trained."""
    return {
        "exercises": tuple(
            _frozen(layer=place, ends=ends)
            for ends, layers in zip(_ENDS, (with_ends, without), strict=True)
            for place in layers
        )
    }


@claim(
    Lt(loss, log(vocabulary) - 1),
    source=Source("depthlaw", "check of the exercise"),
    cases=_cases((ALL, NONE, *_EACH)),
    control=Control(_frozen(layer=NONE, ends="frozen"), "nets as they are drawn"),
    supports="exercises/together_costs_more",
    **FROZEN | {"wording": "derived"},
)
def frozen_nets_learn(case: Case, device: str = "cpu", folder: str = "") -> Sample:
    r"""Precondition: they learn with all layers frozen, all but one, none.

    Language models of four layers, of which all layers are trained, none, or one, and whose
    embeddings and read-out are trained always, have a validation loss at least 1 nat per token
    below that of equal chances, $\ln V$.
    """
    return sample(_losses(case, device, folder))


@claim(
    Gt(gained, 0),
    source=_FREEZE,
    cases=_cases(_EACH, _OUTER),
    post_hoc=(
        "Layers and updates were chosen after a trial of six layers with fewer updates, in which "
        "it did not hold."
    ),
    control=Control(
        _frozen(layer=1, ends="trained"),
        "by a sixth of a nat",
        statement=Gt(gained, Rational(1, 6)),
    ),
    supports="exercises/together_costs_more",
    **FROZEN,
)
def each_layer_alone_helps(case: Case, device: str = "cpu", folder: str = "") -> Sample:
    """Training any one layer, the others frozen, lowers the loss.

    In language models of four layers, of which all but one are frozen as they are drawn, the
    validation loss is lower than where all are frozen, whichever is trained, if embeddings and
    read-out are trained in both; and for the first layer and the last, if these are frozen in both,
    as the exercise says literally.

    The text: "Freeze all but one layer". A frozen read-out of standard deviation 0.02 bounds all
    logits, so that little can be learned then. Four layers and so many updates were chosen after a
    trial of six layers with fewer updates, in which training a layer did not pay yet. At this
    learning rate training all four layers takes nothing off the loss (frozen_nets_learn), so that
    no share of that can be asked for.
    """
    return sample(_taken_off(case, device, folder))


@claim(
    Gt(gained, 0),
    source=_LEARNS,
    known="UNDECIDED",
    cases=_cases(_EACH[1:], _OUTER[1:]),
    control=Control(
        _frozen(layer=2, ends="trained"),
        "by a fortieth of a nat",
        statement=Gt(gained, Rational(1, 40)),
    ),
    supports="exercises/together_costs_more",
    **FROZEN,
)
def first_layer_alone_is_best(case: Case, device: str = "cpu", folder: str = "") -> Sample:
    """Trained alone, the first layer is the most important one.

    In language models of four layers of which all but one are frozen as they are drawn, the
    validation loss is lower where the first layer is trained than where any other one is, if
    embeddings and read-out are trained in both; and than where the last one is, if these are frozen
    in both.

    Our reading: the text says that early layers learn "Local syntactic patterns", which is what a
    net of this size and training learns, and leaves open which layer is most important.
    """
    return sample(_losses(case, device, folder) - _losses(_with(case, layer=1), device, folder))


# --- linear probes --------------------------------------------------------------------------------

# What is read from the hidden state at a token.
TARGETS = ("current", "previous", "next", "after")
# Windows that probes are fitted on, and tested on.
FITTED, TESTED = 128, 64
_DEPTH = whole_net().layers
# The text's early, middle and later layers, for twelve.
EARLY, MIDDLE, LATE = ((first, first + _DEPTH // 3 - 1) for first in range(1, _DEPTH, _DEPTH // 3))
# Layers that are read, 0 being the embedding: half of them, for the time that probes take.
PROBED = (0, 1, *range(2, _DEPTH + 1, 2))


def answers(target: str, ids: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """What a probe has to say at each token of windows, and where there is something to say.

    Args:
        target: "current", "previous" or "next", the token there; "after": the token that came after
            the last earlier copy of the current one, a relation between two places.
        ids: token ids, shape (windows, N + 1), the last for the answer to the one before.

    Returns:
        ids and bool, shape (windows, N).

    >>> said, there = answers("after", np.array([[5, 7, 5, 5, 9]]))
    >>> said[there].tolist(), there.tolist()
    ([7, 5], [[False, False, True, True]])
    """
    import torch

    from ..tasks.sequences import last_copies

    now = ids[:, :-1]
    there = np.ones(now.shape, dtype=bool)
    if target == "current":
        return now, there
    if target == "next":
        return ids[:, 1:], there
    there[:, 0] = False
    if target == "previous":
        return np.roll(now, 1, axis=1), there
    copy = last_copies(torch.from_numpy(now)).numpy()
    # Counted from 1, a copy's place is that of the token after it counted from 0.
    return np.take_along_axis(now, copy, axis=1), copy > 0


@lru_cache(maxsize=16)
def _probed(
    case: Case,
    targets: tuple[str, ...],
    layers: tuple[int, ...],
    device: str,
    folder: str,
    learns: bool,
    shuffled: bool,
) -> np.ndarray:
    """Accuracies of linear probes, shape (targets, layers, replicas), and behind the layers that of
    the most frequent answer."""
    import torch

    models = trained_net(case, device, folder, learns=learns)
    windows = models.validation.windows(case.replicas * (FITTED + TESTED), device)
    # Each net is probed on windows of its own, so that the spread over nets is that of text too.
    per_replica = windows.inputs.shape[1] // case.replicas
    inputs, last = (
        ids[0, : per_replica * case.replicas].unflatten(0, (per_replica, -1)).transpose(0, 1)
        for ids in (windows.inputs, windows.targets[..., -1:])
    )
    ids, fitted = (
        torch.cat([inputs, last], dim=-1).cpu().numpy(),
        per_replica * FITTED // (FITTED + TESTED),
    )
    asked = [[_answered(target, of_net, shuffled) for of_net in ids] for target in targets]
    accuracy = np.full((len(targets), len(layers) + 1, case.replicas), np.nan)
    with torch.no_grad():
        hidden = models.net.embed(inputs)
        for place in range(max(layers) + 1):
            if place:
                hidden = models.net.layer(place - 1, hidden)
            if place not in layers:
                continue
            for row, of_nets in enumerate(asked):
                for column, (states, answer) in enumerate(
                    zip(hidden.cpu().numpy(), of_nets, strict=True)
                ):
                    accuracy[row, layers.index(place), column] = _accuracy(states, *answer, fitted)
    for row, of_nets in enumerate(asked):
        for column, (predicted, there) in enumerate(of_nets):
            most = np.bincount(predicted[:fitted][there[:fitted]]).argmax()
            accuracy[row, -1, column] = (predicted[fitted:][there[fitted:]] == most).mean()
    return accuracy


def _answered(target: str, ids: np.ndarray, shuffled: bool) -> tuple[np.ndarray, np.ndarray]:
    answer, there = answers(target, ids)
    if shuffled:
        answer = answer.copy()
        answer[there] = np.random.default_rng(0).permuted(answer[there])
    return answer, there


def discriminant(states: np.ndarray, said: np.ndarray) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Linear discriminant analysis: classes, weights (width, classes) and biases, such that the
    class guessed at a state x is the largest of x @ weights + biases.

    It needs no choice of a step size or a penalty. Written here since scikit-learn's, with which a
    test compares it, takes five times as long for 512 classes.

    Args:
        states: shape (examples, width).
        said: the class of each.

    >>> classes, weights, biases = discriminant(np.array([[0.0], [1.0], [4.0], [5.0]]),
    ...                                         np.array([7, 7, 9, 9]))
    >>> classes[(np.array([[2.0], [3.0]]) @ weights + biases).argmax(1)].tolist()
    [7, 9]
    """
    classes, which, counts = np.unique(said, return_inverse=True, return_counts=True)
    x = states.astype(np.float64)
    means = np.zeros((len(classes), x.shape[1]))
    np.add.at(means, which, x)
    means /= counts[:, None]
    within = x - means[which]
    weights = np.linalg.pinv(within.T @ within / len(x), hermitian=True) @ means.T
    return classes, weights, np.log(counts / len(x)) - (means.T * weights).sum(axis=0) / 2


def _accuracy(states: np.ndarray, said: np.ndarray, there: np.ndarray, fitted: int) -> float:
    """Of a probe that is fitted on the first windows and tested on the others."""
    first, then = there[:fitted], there[fitted:]
    classes, weights, biases = discriminant(states[:fitted][first], said[:fitted][first])
    guessed = classes[(states[fitted:][then] @ weights + biases).argmax(axis=1)]
    return float((guessed == said[fitted:][then]).mean())


_READS = ("target", "layer", "low", "high", "against_low", "against_high")
PROBES: dict[str, Any] = FROZEN | {"source": _LEARNS, "reads": _READS}


def _accuracies(
    case: Case,
    layers: Iterable[int],
    device: str,
    folder: str,
    *,
    learns: bool = True,
    shuffled: bool = False,
) -> np.ndarray:
    """Accuracies of the probes of a case's target at some layers, and of the most frequent answer:
    shape (layers + 1, replicas)."""
    net = Case(**{name: value for name, value in case.fields().items() if name not in _READS})
    layers = tuple(layers)
    if shuffled or not learns:
        return np.asarray(_probed(net, (case.target,), layers, device, folder, learns, shuffled)[0])
    there = tuple(place for place in PROBED if place <= case.layers)
    accuracies = _probed(net, TARGETS, there, device, folder, True, False)
    return np.asarray(accuracies[TARGETS.index(case.target)][[*map(there.index, layers), -1]])


def _excess(case: Case, device: str = "cpu", folder: str = "", *, shuffled: bool = False) -> Sample:
    accuracy, frequent = _accuracies(case, (case.layer,), device, folder, shuffled=shuffled)
    return sample(accuracy - frequent)


def _moved(case: Case, device: str = "cpu", folder: str = "", *, shuffled: bool = False) -> Sample:
    """Mean accuracy of the layers low, ..., high that are read minus that of the others."""
    some, others = (
        _accuracies(
            case,
            [place for place in PROBED if low <= place <= high],
            device,
            folder,
            shuffled=mixed,
        )[:-1].mean(axis=0)
        for low, high, mixed in (
            (case.low, case.high, shuffled),
            (case.against_low, case.against_high, False),
        )
    )
    return sample(some - others)


def _between(target: str, layers: tuple[int, int], against: tuple[int, int]) -> Case:
    return whole_net(
        target=target,
        low=layers[0],
        high=layers[1],
        against_low=against[0],
        against_high=against[1],
    )


@claim(
    Gt(read, 0),
    cases={
        "exercises": tuple(
            whole_net(target=target, layer=place) for target in TARGETS for place in PROBED
        )
    },
    control=Control(
        whole_net(target="current", layer=0),
        "shuffled answers",
        measured=partial(_excess, shuffled=True),
    ),
    supports="exercises/layers_specialise",
    **PROBES,
)
def every_layer_is_read(case: Case, device: str = "cpu", folder: str = "") -> Sample:
    """Linear probes read tokens from every layer that is probed.

    From the hidden states of the layers 1, 2, 4, 6, 8, 10 and 12 of trained language models of
    twelve layers, and of the embedding, linear probes tell the current token, the previous one, the
    next one, and the one that came after the last earlier copy of the current one better than the
    most frequent answer.

    The text has probes read what layers "learn". They are linear discriminants, fitted for each net
    on windows of the validation text of its own, 128 or as many as the text has, and tested on half
    as many later ones.
    """
    return _excess(case, device, folder)


@claim(
    Gt(moved, 0),
    expected="FAILS",
    post_hoc=f"The current token and the one before: {LEVEL_MOVED}",
    cases={
        "exercises": (
            _between("current", EARLY, LATE),
            _between("previous", EARLY, LATE),
            _between("after", MIDDLE, EARLY),
            _between("after", MIDDLE, LATE),
            _between("next", LATE, EARLY),
        )
    },
    control=Control(
        _between("next", LATE, EARLY),
        "probes of the larger side are fitted and tested on shuffled answers",
        measured=partial(_moved, shuffled=True),
    ),
    cited="Bears on whether surface features should be read from early layers.",
    **PROBES,
)
def layers_specialise(case: Case, device: str = "cpu", folder: str = "") -> Sample:
    """Early layers hold the surface, middle ones relations, later ones the task.

    In trained language models of twelve layers linear probes read the current token, and the
    previous one, better from the layers 1, 2 and 4 than from the layers 10 and 12; the token that
    came after the last earlier copy of the current one better from the layers 6 and 8 than from
    either; and the next token better from the layers 10 and 12 than from the layers 1, 2 and 4.

    The text gives early layers "local patterns" and "character/subword patterns", middle layers
    "coreference resolution" and "entity relationships", of which a last copy is the simplest that
    text without annotation has, and later layers "task-specific representations" and "output
    formatting". It counts the layers of a deeper net; here thirds of twelve. The current token is
    read better early, and the middle and later layers are undecided. It fails for the previous
    token, as it did in a trial: attention brings that to where it is used and residuals keep it
    there, so that it is read better the later. Expected to fail for middle against later layers
    alone, since what came after a copy helps to guess the next token.
    """
    return _moved(case, device, folder)


def _learned(
    case: Case, device: str = "cpu", folder: str = "", *, shuffled: bool = False
) -> Sample:
    trained = _accuracies(case, (case.layer,), device, folder, shuffled=shuffled)
    drawn = _accuracies(case, (case.layer,), device, folder, learns=False)
    return sample(trained[0] - drawn[0])


@claim(
    Gt(moved, 0),
    post_hoc=LEVEL_MOVED,
    cases={
        "exercises": (
            whole_net(target="previous", layer=EARLY[1]),
            whole_net(target="after", layer=MIDDLE[1]),
            whole_net(target="next", layer=LATE[1]),
        )
    },
    control=Control(
        whole_net(target="next", layer=LATE[1]),
        "probes of the trained net are fitted and tested on shuffled answers",
        measured=partial(_learned, shuffled=True),
    ),
    supports="exercises/layers_specialise",
    **PROBES,
)
def specialisation_is_learned(case: Case, device: str = "cpu", folder: str = "") -> Sample:
    """Probes read more from three layers after training than before.

    In language models of twelve layers linear probes read the previous token from layer 4, the
    token that came after the last earlier copy of the current one from layer 8, and the next token
    from layer 12, better after training than from nets of the same seeds as they are drawn.

    The text: "Research on probing Transformers reveals layer specialization".
    """
    return _learned(case, device, folder)

"""Null models: the same measure where what it is said to show cannot be there.

A null model is made from a model and its documents by a seed, and keeps the shapes of both, so that
a measure of it stands row by row beside the measure of the model.
"""

from __future__ import annotations

import copy
import math
from collections import Counter
from collections.abc import Callable, Sequence
from functools import partial
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from . import AuditError
from .documents import Documents, shuffled
from .statistics import LEVEL, Telling, telling

if TYPE_CHECKING:
    from torch import nn

    from .layered import LayeredModel, Route
    from .measures import Values

    Drawn = tuple[LayeredModel, Documents]
    Maker = Callable[[LayeredModel, Documents, int], Drawn]

# Between the seeds of two draws: farther than seeds of audits lie apart.
_STRIDE = 1_000_003


class Null(NamedTuple):
    """A null model.

    Attributes:
        key, label: for code, and for a heading.
        make: (model, documents, seed) -> both as the null has them.
        longer: whether it has one layer more than the model, so that it is drawn once and beside
            the table of layers.
    """

    key: str
    label: str
    make: Maker
    longer: bool = False


def draws_of(
    key: str, model: LayeredModel, documents: Documents, count: int, seed: int = 0
) -> list[Callable[[], Drawn]]:
    """So many independent draws of a null model, each made when it is called, so that one is in
    memory at a time.

    Orders of layers are drawn without replacement and are not the model's own: where that is a
    random order too, all of them are exchangeable, which is what the rank in `telling` rests on.
    There are fewer where there are no more orders. Fresh weights and shuffled tokens are drawn with
    replacement.

    Raises:
        AuditError: as the null model does.
    """
    if key == "permuted":
        return [
            partial(_in_order, model, documents, order) for order in _orders(model, count, seed)
        ]
    seeds = (seed + draw * _STRIDE for draw in range(count))
    return [partial(NULLS[key].make, model, documents, one) for one in seeds]


def told_from(
    values: Values, nulls: Values | Sequence[Values], level: float = LEVEL, seed: int = 0
) -> Telling:
    """Whether a measure tells a model from draws of a null model: see `telling`; `told` is None
    where the rows are not of the same layers, as those of a model with more layers."""
    draws = [nulls] if hasattr(nulls, "per_document") else list(nulls)
    same = [draw.per_document for draw in draws if draw.index == values.index]
    shapes = {array.shape for array in same}
    found = np.stack(same) if len(same) == len(draws) and len(shapes) == 1 else np.empty(0)
    return telling(values.per_document, found, level=level, seed=seed)._replace(draws=len(draws))


def initialised(
    model: LayeredModel, documents: Documents, seed: int
) -> tuple[LayeredModel, Documents]:
    """The same shapes with fresh weights.

    A model of transformers is made anew from its configuration. Any other is copied, and its
    modules draw again; parameters of modules that have no way to do so keep their entries in random
    order. Memory: a second model.
    """
    import torch

    with torch.random.fork_rng(devices=[]), torch.no_grad():
        torch.manual_seed(seed)
        if hasattr(model.net, "config") and hasattr(model.net, "init_weights"):
            place = next(model.net.parameters())
            net = type(model.net)(copy.deepcopy(model.net.config)).to(place.device, place.dtype)
        else:
            net = copy.deepcopy(model.net)
            for module in net.modules():
                reset: Any = getattr(module, "reset_parameters", None)
                for weight in module.parameters(recurse=False) if reset is None else ():
                    mixed = torch.randperm(weight.numel(), device=weight.device)
                    weight.copy_(weight.flatten()[mixed].view_as(weight))
                if reset is not None:
                    reset()
    return _again(model, net, documents), documents


def permuted(
    model: LayeredModel, documents: Documents, seed: int
) -> tuple[LayeredModel, Documents]:
    """The layers in a random order other than their own, among layers of equal shapes alone.

    Memory: a second model. An AuditError where every order is the same model.
    """
    return _in_order(model, documents, _orders(model, 1, seed)[0])


def _orders(model: LayeredModel, count: int, seed: int) -> list[list[int]]:
    """Random orders that are all different models, none of them the model itself; fewer than
    `count` where there are no more."""
    alike: dict[Any, list[int]] = {}
    for index, layer in enumerate(model.layers):
        shapes = tuple((key, t.shape) for key, t in layer.state_dict(keep_vars=True).items())
        alike.setdefault((model.kinds[index], shapes), []).append(index)
    weights = np.arange(model.depth)
    for same in model.shared:
        weights[list(same)] = same[0]
    others = -1 + math.prod(
        math.factorial(len(group))
        // math.prod(map(math.factorial, Counter(weights[group]).values()))
        for group in alike.values()
    )
    if not others:
        raise AuditError(
            f"{model.name}: every order of its layers is the same model, since no two of equal "
            "shapes have different weights; take another null model"
        )
    rng, order = np.random.default_rng(seed), np.arange(model.depth)
    found = {tuple(weights): order.tolist()}
    while len(found) <= min(count, others):
        for group in alike.values():
            order[group] = rng.permutation(group)
        found.setdefault(tuple(weights[order]), order.tolist())
    return list(found.values())[1:]


def _in_order(model: LayeredModel, documents: Documents, order: Sequence[int]) -> Drawn:
    made = _again(model, copy.deepcopy(model.net), documents)
    for index, other in enumerate(order):
        made.layers[index].load_state_dict(model.layers[other].state_dict())
    return made, documents


def duplicated(
    model: LayeredModel,
    documents: Documents,
    seed: int = 0,
    how: str = "zero",
    index: int | None = None,
) -> tuple[LayeredModel, Documents]:
    """One more layer behind layer `index`, or behind one that the seed draws: with the weights of
    that layer ("copy"), or such that it adds zero to the stream ("zero"). It is layer index + 1.

    Memory: a second model. An AuditError for shared layers, for a model that does not run with one
    layer more, and for "zero" where a norm behind the sum still changes the stream.
    """
    import torch

    behind = int(np.random.default_rng(seed).integers(model.depth)) if index is None else index
    if len({id(layer) for layer in model.layers}) < model.depth:
        raise AuditError(f"{model.name}: one module is several layers, so none can be put between")
    net, (name, first) = copy.deepcopy(model.net), _place(model)
    holder: Any = net.get_submodule(name)
    layer = copy.deepcopy(holder[first + behind])
    if how == "zero":
        for part in model._writers(behind):
            for weight in layer.get_submodule(part).parameters():
                weight.detach().zero_()
    holder.insert(first + behind + 1, layer)
    config = getattr(net, "config", None)
    for key in ("num_hidden_layers", "n_layer", "n_layers", "num_layers"):
        if getattr(config, key, None) == model.depth:
            setattr(config, key, model.depth + 1)
            break
    for key in ("layer_types", "layers_block_type"):
        if isinstance(kinds := getattr(config, key, None), list) and len(kinds) == model.depth:
            kinds.insert(behind + 1, kinds[behind])
    made = _again(model, net, documents)
    if made.depth != model.depth + 1:
        raise AuditError(f"{model.name} does not run the layer that was put in")
    if how == "zero":
        before, after = list(made.states(documents.ids[:2]))[behind + 1 : behind + 3]
        if not torch.equal(before, after):
            raise AuditError(
                f"{model.name}: a layer that adds zero still changes the stream, by a norm behind "
                "the sum; take the copy"
            )
    return made, documents


def random_routes(depth: int, length: int, draws: int, seed: int = 0) -> list[Route]:
    """Routes that leave out so many random layers, each set at most once; fewer than `draws` where
    there are no more.

    >>> len(random_routes(6, 4, 99))
    15
    """
    from .layered import whole

    if not 0 < length < depth or draws < 1:
        raise AuditError(
            f"{draws} draws of {length} of {depth} layers: accepted are 1 draw or more, of 1 to "
            f"{depth - 1} layers"
        )
    rng = np.random.default_rng(seed)
    sets: set[frozenset[int]] = set()
    while len(sets) < min(draws, math.comb(depth, length)):
        sets.add(frozenset(rng.permutation(depth)[:length].tolist()))
    left = sorted(sets, key=sorted)
    return [tuple(step for step in whole(depth) if step.layer not in out) for out in left]


def _again(model: LayeredModel, net: nn.Module, documents: Documents) -> LayeredModel:
    from .layered import layered

    where, ids = _place(model)[0], documents.ids[:2]
    return layered(net, name=model.name, layers=where, example=ids, causal=model.causal)


def _place(model: LayeredModel) -> tuple[str, int]:
    """Name of the list that holds the layers, and where in it the first one stands."""
    for name, module in model.net.named_modules():
        for index, member in enumerate(module if hasattr(module, "insert") else ()):
            if member is model.layers[0]:
                return name, index
    raise AuditError(f"{model.name}: its layers stand in no list")


NULLS: dict[str, Null] = {
    null.key: null
    for null in (
        Null("initialised", "the same shapes at initialisation", initialised),
        Null("permuted", "layers in random order", permuted),
        Null("shuffled", "tokens shuffled", lambda net, texts, seed: (net, shuffled(texts, seed))),
        Null("zero", "a layer that adds zero put in", duplicated, longer=True),
        Null("copy", "a layer doubled on purpose", partial(duplicated, how="copy"), longer=True),
    )
}

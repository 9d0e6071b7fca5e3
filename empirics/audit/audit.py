"""An audit: what is measured of one model on one sample, with intervals, null models, a search that
is corrected for, and what theory says beside it: one value of `results`."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import partial
from math import comb
from typing import TYPE_CHECKING, Any, Literal

import numpy as np

from . import AuditError
from .documents import LEAST, Documents, loss, objective, outcomes, subset
from .layered import LayeredModel, Route, whole
from .measures import MEASURES, Values, measure_all
from .nulls import NULLS, draws_of, duplicated, random_routes, told_from
from .records import Store, model_hash, versions
from .results import (
    Audit,
    AuditedModel,
    AuditedTask,
    AuditedText,
    LeastBlock,
    Planted,
    Row,
    Search,
    Table,
    learnt,
)
from .statistics import (
    Chosen,
    Estimate,
    agreement,
    asked_level,
    best_of,
    call,
    mean,
    reach,
    relative,
)
from .theory_beside import facts_of, theory_beside

if TYPE_CHECKING:
    from .ladder import RungResult
    from .nulls import Drawn

# What is measured together, in one go: (measure, variant).
GROUPS: dict[str, tuple[tuple[str, str], ...]] = {
    "states": (
        ("residual", "composite"),
        ("residual", "composite_factor"),
        ("growth", "rms"),
        ("growth", "factor"),
        ("block_influence", "mean"),
        ("angular_distance", "last_token"),
    ),
    "parts": (("contribution", "attention"), ("contribution", "mlp")),
    "removal": (("removal", "loss"), ("removal", "divergence")),
    "exits": (
        ("settling_depth", "mean"),
        ("settling_depth", "share"),
        ("exit_loss", "loss"),
        ("exit_loss", "change"),
    ),
    "changes": (("swap", "loss"), ("repeat", "plain"), ("repeat", "damped")),
    "skips": (
        ("skip_effect", "output_mean"),
        ("skip_effect", "output_max"),
        ("skip_effect", "later_mean"),
        ("skip_effect", "later_max"),
    ),
    "paths": (("path_length", "kept"), ("path_length", "half")),
}
USUAL = ("states", "parts", "removal", "exits")
# Documents that null models run on, and sets of random layers that a block is compared with.
NULL_DOCUMENTS, RANDOM_SETS = 16, 32
# Draws of a null model, at most.
_MOST_DRAWS = 9_999
# Of null models, so that a model with fresh weights of a seed is no null model of its own.
_NULL_SEED = 1_000_003
# A gain is called where so many documents judge it: with fewer, skewed costs call one too often.
FEWEST_FOR_GAINS = 32
# An answer is taken from calls of single layers and from searches; each has half of the error.
_FAMILIES = 2
# A layer whose removal costs at most this share of the loss is superfluous.
TOLERANCE = 0.01
# The measures of one draw of a null model.
_Measured = dict[tuple[str, str], Values]
# Measures of the loss, whose rows have a share of it and a call.
_OF_LOSS = {
    ("removal", "loss"),
    ("removal", "task"),
    ("swap", "loss"),
    ("repeat", "plain"),
    ("repeat", "damped"),
}
# Of the loss too: its rows have a share over the last of them, which is the loss of the whole.
_EXIT = ("exit_loss", "loss")
# Of a group, what is measured of blocks too, and searched for the block of which it says least.
OF_BLOCKS: dict[str, tuple[tuple[str, str], ...]] = {
    "states": (("angular_distance", "last_token"),),
    "changes": GROUPS["changes"],
}


def audit(
    model: LayeredModel,
    documents: Documents,
    *,
    groups: Sequence[str] = USUAL,
    blocks: Sequence[int] = (),
    nulls: Sequence[str] | None = None,
    draws: int = 1,
    tolerance: float = TOLERANCE,
    level: float = 0.95,
    seed: int = 0,
    store: Store | None = None,
    task: Documents | None = None,
    ladder: tuple[RungResult, ...] = (),
    changed: Mapping[str, str] | None = None,
    tick: Callable[[str, int, int], object] = lambda what, done, total: None,
) -> Audit:
    """Audit a model on documents.

    Args:
        groups: of `GROUPS`; those that need a head are left out where the model has none.
        blocks: sizes of blocks, each searched for the one that is cheapest to remove; with the
            groups of `OF_BLOCKS` other measures too.
        nulls: of `NULLS`; by default all that can be drawn of this model.
        draws: of each null model; 1 / (1 - level) - 1 of them, 19, are of its law: see `telling`.
        tolerance: share of the loss that a superfluous layer may cost.
        level: of the intervals.
        seed: of random sets, splits and null models.
        store: where measurements are kept, and read from.
        task: questions, see `task_documents`; layers are removed on them too.
        ladder, changed: what `climb` found, and after which change.
        tick: hears what runs, and documents done of all.

    Raises:
        AuditError: for groups, blocks and nulls that do not exist, and as the measures do.

    Cost: that of the measures; the null models add as many passes on `NULL_DOCUMENTS`, for each
    draw. Memory: one null model beside the model.
    """
    _check(model, groups, blocks, nulls, draws, tolerance, len(documents))
    asked_level(level)
    run = _Run(model, documents, tolerance, level, seed, store, tick)
    chosen = [name for name in GROUPS if name in groups and (model.head or not _head(name))]
    values, absent = run.of_layers(chosen)
    found = {(v.key, v.variant): v for v in values}
    drawn = run.drawn(list(found), NULLS if nulls is None else nulls, draws)
    fresh = None
    if ("removal", "loss") in found and (untaught := drawn.by_null.get("initialised")):
        bases = np.mean([_base(of["removal", "loss"]) for of in untaught], axis=0)
        fresh = relative(_base(found["removal", "loss"])[: len(bases)], bases, level)
    run = replace(run, learnt=learnt(fresh, tolerance))
    removal, divergence = found.get(("removal", "loss")), found.get(("removal", "divergence"))
    removals = {1: removal} if removal is not None else {}
    others = [
        (1, v)
        for pair, v in found.items()
        if pair in OF_BLOCKS["changes"] or (blocks and pair in OF_BLOCKS["states"])
    ]
    tables = [run.table(v, drawn) for v in values] + absent
    for size in sorted(set(blocks) - set(removals)):
        for v in run.of_blocks(size, chosen):
            if v.key == "removal":
                removals[size] = v
            else:
                others.append((size, v))
            if size > 1:
                tables.append(run.table(v, size=size))
    strict = 1 - (1 - level) / (_FAMILIES * max(1, len(removals)))
    searches = [run.search(v, size, strict) for size, v in removals.items()]
    strict = 1 - (1 - level) / max(1, len(others))
    least = [least_block(v, size, strict, seed, gains=run.learnt) for size, v in others]
    orders = second = None
    if removal is not None and divergence is not None and model.depth > 1:
        orders = agreement(removal.per_document, divergence.per_document, level=level, seed=seed)
    if task is not None:
        (on_task,) = run.measured(model, task, [("removal", "task")])
        second = _task(task, on_task, removal, run.fresh(task, on_task), level, seed)
        of_task = replace(run, learnt=learnt(second.fresh, tolerance))
        tables.append(of_task.table(on_task))
    return Audit(
        _model_facts(model, documents),
        _sample(documents),
        run.loss(removal) if model.head else None,
        fresh,
        tuple(tables),
        tuple(searches),
        tuple(least),
        tuple(_planted(drawn, removal, level)),
        drawn.refused,
        orders,
        second,
        theory_beside(facts_of(model, documents)),
        ladder,
        changed or {},
        tolerance,
        level,
        draws,
        seed,
        versions(),
    )


@dataclass(frozen=True, eq=False)
class _Drawn:
    """Measures of null models.

    Attributes:
        documents: that they ran on, the first of the sample.
        behind: the layer behind which one was put in, from 0.
        by_null: of each null model its draws.
        longer: of models with one layer more, see `Planted.how`.
        refused, missing: null models that cannot be drawn, or have no parts, and why.
    """

    documents: int = 0
    behind: int = 0
    by_null: dict[str, list[_Measured]] = field(default_factory=dict)
    longer: dict[str, _Measured] = field(default_factory=dict)
    refused: dict[str, str] = field(default_factory=dict)
    missing: dict[str, str] = field(default_factory=dict)


@dataclass(frozen=True, eq=False)
class _Run:
    model: LayeredModel
    documents: Documents
    tolerance: float
    level: float
    seed: int
    store: Store | None
    tick: Callable[[str, int, int], object]
    learnt: bool = True

    def measured(
        self,
        net: LayeredModel,
        sample: Documents,
        asked: Sequence[tuple[str, str]],
        of: str = "",
        **options: Any,
    ) -> list[Values]:
        def heard(what: str, done: int, total: int) -> None:
            self.tick(f"{of}: {what}" if of else what, done, total)

        way = measure_all if self.store is None else self.store.measured
        return way(net, sample, asked, seed=self.seed, tick=heard, **options)

    def losses(self, routes: Sequence[Route]) -> np.ndarray:
        """By route and document."""

        def told(done: int) -> object:
            return self.tick("random layers", done, len(self.documents))

        if self.store is None:
            return outcomes(self.model, self.documents, routes, tick=told)["loss"]
        return self.store.losses(self.model, self.documents, routes, told)

    def loss(self, removal: Values | None) -> Estimate:
        """Of the whole."""
        base = self.losses([whole(self.model.depth)])[0] if removal is None else _base(removal)
        return mean(base, self.level)

    def fresh(self, task: Documents, on_task: Values) -> Estimate | None:
        """The loss on the task relative to that of fresh weights, of one draw; None where there is
        no such draw, or its loss may be 0."""
        few = subset(task, slice(0, NULL_DOCUMENTS))
        try:
            net, _ = draws_of("initialised", self.model, few, 1, _NULL_SEED + self.seed)[0]()
            return relative(_base(on_task)[: len(few)], loss(net, few), self.level)
        except AuditError:
            return None

    def of_layers(self, groups: Sequence[str]) -> tuple[list[Values], list[Table]]:
        """Measures of single layers, and those without rows."""
        values: list[Values] = []
        absent: list[Table] = []
        for name in groups:
            try:
                values += self.measured(self.model, self.documents, GROUPS[name])
            except AuditError as error:
                if name != "parts":
                    raise
                absent += [_absent(pair, str(error)) for pair in GROUPS[name]]
        alone = [(v.key, v.variant) for v in values if not v.index]
        absent += [_absent(pair, "one layer has no neighbour") for pair in alone]
        return [v for v in values if v.index], absent

    def of_blocks(self, size: int, groups: Sequence[str]) -> list[Values]:
        """The removal of blocks of a size, and of more than one layer what `OF_BLOCKS` has."""
        asked = [("removal", "loss")] if self.model.head else []
        for name in OF_BLOCKS if size > 1 else ():
            for pair in OF_BLOCKS[name] if name in groups else ():
                if pair[0] != "swap" or 2 * size <= self.model.depth:
                    asked.append(pair)
        return self.measured(self.model, self.documents, asked, sizes=(size,))

    def drawn(self, asked: Sequence[tuple[str, str]], nulls: Iterable[str], draws: int) -> _Drawn:
        """Null models, one at a time."""
        few = subset(self.documents, slice(0, NULL_DOCUMENTS))
        behind = (self.model.depth - 1) // 2
        found = _Drawn(len(few), behind)
        for key in nulls if asked else ():
            try:
                if NULLS[key].longer:
                    longer = partial(duplicated, self.model, few, how=key, index=behind)
                    found.longer[key] = self._of_null(longer, asked, key, "", found.missing)
                    continue
                makers = draws_of(key, self.model, few, draws, _NULL_SEED + self.seed)
                found.by_null[key] = [
                    self._of_null(make, asked, key, f", draw {n} of {len(makers)}", found.missing)
                    for n, make in enumerate(makers, 1)
                ]
            except AuditError as error:
                found.refused[key] = str(error)
        return found

    def _of_null(
        self,
        make: Callable[[], Drawn],
        asked: Sequence[tuple[str, str]],
        key: str,
        draw: str,
        missing: dict[str, str],
    ) -> _Measured:
        """The measures of one draw, which is let go behind them. Where its parts cannot be told
        apart, the others stay, and `missing` has the reason."""
        null = make()
        parts = [pair for pair in asked if pair in GROUPS["parts"]]
        found = []
        for some in ([pair for pair in asked if pair not in parts], parts):
            try:
                found += self.measured(*null, some, f"{key}{draw}") if some else []
            except AuditError as error:
                if some is not parts:
                    raise
                missing[key] = str(error)
        return {(v.key, v.variant): v for v in found}

    def table(self, values: Values, drawn: _Drawn | None = None, size: int = 1) -> Table:
        """The rows of a measure, with its null models."""
        drawn = drawn or _Drawn()
        pair = (values.key, values.variant)
        families = _FAMILIES if pair == ("removal", "loss") else 1
        strict = 1 - (1 - self.level) / (families * len(values.index))
        nulls = {
            key: [found[pair] for found in draws]
            for key, draws in drawn.by_null.items()
            if all(pair in found for found in draws)
        }
        few = replace(values, per_document=values.per_document[:, : drawn.documents])
        told = {key: told_from(few, found, self.level, self.seed) for key, found in nulls.items()}
        rows = []
        for number, index in enumerate(values.index):
            own = values.per_document[number]
            share = decided = None
            if pair == _EXIT:
                share = _share(own, values.per_document[-1], strict)
            elif pair in _OF_LOSS and values.baseline is not None:
                share = _share(values.baseline + own, values.baseline, strict)
                if share and values.key == "removal" and self.learnt:
                    decided = call(share, self.tolerance)
            estimate = mean(own, self.level)
            if pair == ("settling_depth", "share"):
                low, high = max(0.0, estimate.low), min(1.0, estimate.high)
                estimate = replace(estimate, low=low, high=high)
            beside = {key: _null(found, number, self.level) for key, found in nulls.items()}
            rows.append(Row(*_block(index), estimate, share, decided, beside))
        missing = drawn.missing if pair in GROUPS["parts"] else {}
        kind = (*pair, values.unit, values.identity)
        return Table(*kind, tuple(rows), told, missing=missing, size=size)

    def search(self, removal: Values, size: int, level: float) -> Search:
        """The cheapest block of a size to remove."""
        base, depth = _base(removal), self.model.depth
        costs = removal.per_document + base
        chosen = _best(costs, base, level, self.seed)
        if size == 1:
            costly, every = costs, True
        else:
            routes = random_routes(depth, size, RANDOM_SETS, self.seed)
            every = len(routes) == comb(depth, size)
            costly = self.losses(routes)
        random = (
            relative(costly.mean(0), base, level)
            if every
            else mean(costly.mean(1) / base.mean() - 1, level)
        )
        neighbours = relative(costs.mean(0), base, level)
        first, last = _block(removal.index[chosen.index])
        decided = call(chosen.estimate, self.tolerance) if self.learnt else None
        return Search(size, first, last, chosen, random, len(costly), every, neighbours, decided)


def forecast(
    model: LayeredModel, documents: Documents, sizes: Sequence[int], groups: Sequence[str] = ()
) -> float:
    """Seconds that a search over blocks of these sizes takes, by one timed pass on few documents:
    each block runs what stands behind it, and the head; with the group changes, twice more with the
    block run twice, and once with the block behind it.

    Raises:
        AuditError: for sizes that the model does not have.
    """
    _check(model, (), sizes, None, 1, 0, len(documents))
    few = subset(documents, slice(0, min(len(documents), 4)))
    loss(model, few)
    start = time.perf_counter()
    loss(model, few)
    once = (time.perf_counter() - start) * len(documents) / len(few)
    depth = model.depth
    blocks = [(size, first) for size in sizes for first in range(depth - size + 1)]
    share = sum((depth - first - size) / depth + 0.3 for size, first in blocks)
    if "changes" in groups:
        share += sum(2 * (depth - first + size) / depth + 0.6 for size, first in blocks)
        swaps = (first for size, first in blocks if first + 2 * size <= depth)
        share += sum((depth - first) / depth + 0.3 for first in swaps)
    most = (min(RANDOM_SETS, comb(depth, size)) for size in sizes if size > 1)
    return once * (share + sum(most))


def _head(group: str) -> bool:
    return any(MEASURES[key].needs == "head" for key, _ in GROUPS[group])


def _check(
    model: LayeredModel,
    groups: Sequence[str],
    blocks: Sequence[int],
    nulls: Sequence[str] | None,
    draws: int,
    tolerance: float,
    documents: int,
) -> None:
    for what, given, known in (("group", groups, GROUPS), ("null model", nulls or (), NULLS)):
        for name in given:
            if name not in known:
                raise AuditError(f"{what} {name!r} is not known; accepted are {', '.join(known)}")
    for size in blocks:
        if not 1 <= size < model.depth:
            raise AuditError(
                f"blocks of {size} layers: {model.name} has {model.depth}; accepted are 1 to "
                f"{model.depth - 1}"
            )
    if not 1 <= draws <= _MOST_DRAWS:
        raise AuditError(
            f"{draws} draws of a null model: accepted are whole numbers from 1 to {_MOST_DRAWS}"
        )
    if not 0 <= tolerance < 1:
        raise AuditError(f"tolerance {tolerance}: accepted are shares of the loss from 0 to 1")
    if blocks and not model.head and "states" not in groups:
        model.need_head()
    if documents < LEAST:
        raise AuditError(f"{documents} documents: at least {LEAST} carry an interval")
    if blocks and documents < 2 * LEAST:
        raise AuditError(
            f"{documents} documents: a search over blocks needs at least {2 * LEAST}, of which "
            "half choose; leave blocks out, or give a longer text"
        )


def _absent(pair: tuple[str, str], why: str) -> Table:
    variant = MEASURES[pair[0]].variants[pair[1]]
    return Table(*pair, variant.unit, variant.identity, (), absent=why)


def _base(values: Values) -> np.ndarray:
    """The loss of the whole, of a measure of the loss."""
    assert values.baseline is not None
    return values.baseline


def _block(index: int | tuple[int, int]) -> tuple[int, int]:
    return index if isinstance(index, tuple) else (index, index)


def _null(draws: Sequence[Values], row: int, level: float) -> Estimate:
    """See `Row.nulls`."""
    if len(draws) == 1:
        return mean(draws[0].per_document[row], level)
    return reach([draw.per_document[row].mean() for draw in draws])


def _share(values: np.ndarray, baseline: np.ndarray, level: float) -> Estimate | None:
    """None where the loss of the whole may be 0, and so has no shares."""
    try:
        return relative(values, baseline, level)
    except AuditError:
        return None


def _task(
    task: Documents,
    on_task: Values,
    removal: Values | None,
    fresh: Estimate | None,
    level: float,
    seed: int,
) -> AuditedTask:
    both = None
    if removal is not None and len(removal.per_document) > 1:
        most = min(len(task), removal.per_document.shape[1])
        orders = (v.per_document[:, :most] for v in (removal, on_task))
        both = agreement(*orders, level=level, seed=seed)
    ladder = str(task.cut.get("ladder", ""))
    return AuditedTask(ladder, _sample(task), mean(_base(on_task), level), fresh, both)


def _sample(documents: Documents) -> AuditedText:
    return AuditedText(
        documents.source,
        documents.law,
        len(documents),
        documents.tokens,
        documents.cut,
        documents.sha256,
    )


def least_block(
    values: Values, size: int, level: float, seed: int, *, gains: bool = True
) -> LeastBlock:
    """Of blocks of one size the one with the least mean, with an interval that the choice has not
    flattered. Where fewer than 32 documents judge it, or `gains` says so, no gain is called."""
    base = values.baseline
    costs = values.per_document if base is None else values.per_document + base
    chosen = _best(costs, base, level, seed)
    place = _block(values.index[chosen.index])
    told = gains and base is not None and chosen.judged_on >= FEWEST_FOR_GAINS
    gain = chosen.estimate.high < 0 if told else None
    return LeastBlock(values.key, values.variant, size, *place, chosen, gain)


def _best(costs: np.ndarray, base: np.ndarray | None, level: float, seed: int) -> Chosen:
    rule: Literal["split", "bonferroni"]
    rule = "split" if costs.shape[1] >= 2 * LEAST else "bonferroni"
    return best_of(costs, baseline=base, rule=rule, seed=seed, level=level)


def _planted(drawn: _Drawn, removal: Values | None, level: float) -> Iterator[Planted]:
    """What measures of a layer say of the one that was put in; of one that adds zero, those that
    must say something."""
    place = drawn.behind + 1
    for how, measured in drawn.longer.items():
        for pair, values in measured.items():
            must = values.identity if how == "zero" else None
            if how == "copy" and pair == ("removal", "loss") and removal is not None:
                own = _base(values)
                must = float(_base(removal)[: len(own)].mean() - own.mean())
            if values.key == "path_length" or (how == "zero" and must is None):
                continue
            for index, of in zip(values.index, values.per_document, strict=True):
                if _block(index) == (place, place):
                    yield Planted(how, *pair, drawn.behind, mean(of, level), must)


def _model_facts(model: LayeredModel, documents: Documents) -> AuditedModel:
    return AuditedModel(
        model.name,
        type(model.net).__name__,
        model.depth,
        model.width,
        sum(parameter.numel() for parameter in model.net.parameters()),
        model.vocabulary,
        model.causal,
        model.kinds,
        model.shared,
        objective(model, documents) if model.head else "",
        model_hash(model),
    )

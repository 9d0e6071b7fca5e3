"""An audit: what is measured of one model on one sample, with intervals, null models, a search that
is corrected for, and what theory says beside it: values, of which sentences are made last."""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, fields, is_dataclass, replace
from enum import Enum
from functools import partial
from math import comb
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal

import numpy as np

from . import AuditError
from .documents import LEAST, Documents, loss, objective, outcomes, subset
from .layered import LayeredModel, Route, whole
from .measures import MEASURES, Values, measure_all
from .nulls import NULLS, draws_of, duplicated, random_routes, told_from
from .records import Store, model_hash, versions
from .statistics import (
    Call,
    Chosen,
    Estimate,
    Telling,
    agreement,
    asked_level,
    best_of,
    call,
    mean,
    reach,
    relative,
)
from .theory_beside import TheoryValue, facts_of, theory_beside

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
# Of null models, so that a model with fresh weights of a seed is no null model of its own.
_NULL_SEED = 1_000_003
# A layer whose removal costs at most this share of the loss is superfluous.
TOLERANCE = 0.01
# The measures of one draw of a null model.
_Found = dict[tuple[str, str], Values]
# Measures of the loss, whose rows have a share of it and a call.
_OF_LOSS = {
    ("removal", "loss"),
    ("removal", "task"),
    ("swap", "loss"),
    ("repeat", "plain"),
    ("repeat", "damped"),
}
# Of a group, what is measured of blocks too, and searched for the block of which it says least.
OF_BLOCKS: dict[str, tuple[tuple[str, str], ...]] = {
    "states": (("angular_distance", "last_token"),),
    "changes": GROUPS["changes"],
}


@dataclass(frozen=True)
class AuditedModel:
    """The model that was audited.

    Attributes:
        kinds: of each layer; shared: groups of layers that are one module or have equal weights.
        objective: "next token", "masked token", "labels", or "" without a head.
    """

    name: str
    kind: str
    layers: int
    width: int
    parameters: int
    vocabulary: int
    causal: bool
    kinds: tuple[str, ...]
    shared: tuple[tuple[int, ...], ...]
    objective: str
    sha256: str


@dataclass(frozen=True)
class AuditedText:
    """The sample: where it comes from, and the law of its tokens ("text" where it is a text)."""

    source: str
    law: str
    documents: int
    tokens: int
    cut: Mapping[str, Any]
    sha256: str


@dataclass(frozen=True)
class Row:
    """One layer or block in one measure.

    Attributes:
        first, last: the block, from 0; of a pair (skipped, later) these two.
        estimate: of the mean over documents.
        share: of the loss of the whole, where the measure is a change of it; its level is divided
            by the number of rows.
        call: of the removal of a layer, by `share`.
        nulls: by null model, on the documents that it ran on. Of one draw it is the mean, with an
            interval by document. Of several it is the mean of their means, and the interval goes
            from the least draw to the greatest: one more lies there at the level that it states,
            see `reach`.
    """

    first: int
    last: int
    estimate: Estimate
    share: Estimate | None = None
    call: Call | None = None
    nulls: Mapping[str, Estimate] = field(default_factory=dict)


@dataclass(frozen=True)
class Table:
    """A measure of all layers or blocks.

    Attributes:
        told: by null model, whether the measure tells the model from it.
        absent: why there are no rows, in one line; "" where there are.
        missing: by null model, why it has no numbers here although it was drawn.
        size: layers of a block, where blocks of one size have a table of their own; 1 otherwise.
    """

    key: str
    variant: str
    unit: str
    identity: float | None
    rows: tuple[Row, ...]
    told: Mapping[str, Telling] = field(default_factory=dict)
    absent: str = ""
    missing: Mapping[str, str] = field(default_factory=dict)
    size: int = 1


@dataclass(frozen=True)
class Search:
    """The cheapest block of one size to remove.

    Attributes:
        size: layers of a block.
        first, last: the block that was chosen, from 0.
        chosen: relative loss, and how the search was corrected for, at a level divided by the
            number of sizes.
        random: relative loss without as many layers, whichever they are. Where `sets` are all that
            there are, it is their mean and the interval is by document; otherwise sets were drawn
            at random, and they are the sample.
        sets: of layers, that `random` is the mean over.
        every: whether these are all.
        neighbours: relative loss without a block of as many neighbours, the mean over all blocks.
        call: of the chosen block against the tolerance.
    """

    size: int
    first: int
    last: int
    chosen: Chosen
    random: Estimate
    sets: int
    every: bool
    neighbours: Estimate
    call: Call


@dataclass(frozen=True)
class LeastBlock:
    """The block of one size of which a measure says least: whose repetition, or exchange with the
    block behind it, raises the loss least, or which turns the states least.

    Attributes:
        size: layers of a block.
        first, last: the block that was chosen, from 0; of a swap both blocks.
        chosen: relative change of the loss, or the angle, and how the search was corrected for, at
            a level divided by the number of such values in the audit.
        gain: whether the loss surely falls; None where the measure is not of the loss.
    """

    key: str
    variant: str
    size: int
    first: int
    last: int
    chosen: Chosen
    gain: bool | None


@dataclass(frozen=True)
class AuditedTask:
    """The second objective: answers to questions.

    Attributes:
        ladder: the name of the ladder of abilities that asks; "" where a file does.
        sample: the questions, each a document.
        loss: of the whole model, nats for each token of the answers.
        agreement: of two orders of single layers, by loss on the text and on the task; None where
            removal was not asked for.
    """

    ladder: str
    sample: AuditedText
    loss: Estimate
    agreement: Estimate | None


@dataclass(frozen=True)
class Planted:
    """A layer that was put into the model on purpose: what a measure says of it.

    Attributes:
        how: "zero", a layer that adds zero, or "copy", one with the weights of `behind`.
        behind: the layer that it stands behind, from 0.
        estimate: on the documents that null models run on.
        identity: what the measure must say; None where that is not known. Without the copy the
            model is the whole again, so that the copy's removal must change the loss to that.
    """

    how: str
    key: str
    variant: str
    behind: int
    estimate: Estimate
    identity: float | None


@dataclass(frozen=True)
class Audit:
    """What was found; see the module.

    Attributes:
        loss: of the whole model, nats by scored token; None without a head.
        fresh: its loss relative to that of the same shapes with fresh weights, the mean of their
            draws, on the documents of null models: -0.5 is half as large; None without a head or
            that null model.
        searches: by size of the block.
        least: of other measures of blocks, by size and measure, where these were asked.
        planted: a layer that does nothing and a copy, see `Planted`.
        refused: null models that cannot be drawn of this model, and why.
        objectives: agreement of two orders of single layers, by loss and by divergence from the
            whole model; None without a head.
        task: a second objective; None where none was asked.
        changed: what the ladder was asked again after: without or repeat, with the layers, or
            against, with the name of the other model; empty without a change.
        tolerance, level, draws, seed: as asked.
    """

    model: AuditedModel
    text: AuditedText
    loss: Estimate | None
    fresh: Estimate | None
    tables: tuple[Table, ...]
    searches: tuple[Search, ...]
    least: tuple[LeastBlock, ...]
    planted: tuple[Planted, ...]
    refused: Mapping[str, str]
    objectives: Estimate | None
    task: AuditedTask | None
    theory: tuple[TheoryValue, ...]
    ladder: tuple[RungResult, ...]
    changed: Mapping[str, str]
    tolerance: float
    level: float
    draws: int
    seed: int
    versions: Mapping[str, str]

    @property
    def learnt(self) -> bool:
        """Whether the loss is surely below that of fresh weights, by more than the tolerance; True
        where that was not measured."""
        return self.fresh is None or self.fresh.high < -self.tolerance

    def table(self, key: str, variant: str = "", size: int = 1) -> Table | None:
        """The table of a measure, by layer or of blocks of one size; None where it was not
        asked."""
        for table in self.tables:
            if table.key == key and variant in ("", table.variant) and table.size == size:
                return table
        return None

    def to_json(self) -> dict[str, Any]:
        """What `--json` prints: every number with its interval as {value, low, high, level, n}."""
        found: dict[str, Any] = _plain(self)
        return found


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
    chosen = [name for name in GROUPS if name in groups and (model.head or not _head(name))]

    def measured(
        net: LayeredModel,
        sample: Documents,
        asked: list[tuple[str, str]],
        of: str = "",
        **options: Any,
    ) -> list[Values]:
        def heard(what: str, done: int, total: int) -> None:
            tick(f"{of}: {what}" if of else what, done, total)

        if store is None:
            return measure_all(net, sample, asked, tick=heard, **options)
        return store.measured(net, sample, asked, tick=heard, **options)

    def losses(routes: Sequence[Route]) -> np.ndarray:
        def told(done: int) -> object:
            return tick("random layers", done, len(documents))

        if store is None:
            return outcomes(model, documents, routes, tick=told)["loss"]
        return store.losses(model, documents, routes, told)

    values: list[Values] = []
    absent: list[Table] = []
    for name in chosen:
        try:
            values += measured(model, documents, list(GROUPS[name]))
        except AuditError as error:
            if name != "parts":
                raise
            absent += [_absent(pair, str(error)) for pair in GROUPS[name]]
    alone = [(v.key, v.variant) for v in values if not v.index]
    absent += [_absent(pair, "one layer has no neighbour") for pair in alone]
    values = [v for v in values if v.index]
    few = subset(documents, slice(0, NULL_DOCUMENTS))
    asked = [(v.key, v.variant) for v in values]
    drawn: dict[str, list[_Found]] = {}
    longer_by: dict[str, _Found] = {}
    refused: dict[str, str] = {}
    missing: dict[str, str] = {}
    behind = int(np.random.default_rng(seed).integers(model.depth))
    for key in (NULLS if nulls is None else nulls) if asked else ():
        try:
            if NULLS[key].longer:
                longer = partial(duplicated, model, few, how=key, index=behind)
                longer_by[key] = _found(measured, longer, asked, key, "", missing)
                continue
            makers = draws_of(key, model, few, draws, _NULL_SEED + seed)
            drawn[key] = [
                _found(measured, make, asked, key, f", draw {number} of {len(makers)}", missing)
                for number, make in enumerate(makers, 1)
            ]
        except AuditError as error:
            refused[key] = str(error)
    tables = [_table(v, drawn, missing, len(few), tolerance, level, seed) for v in values]
    removal = next((v for v in values if (v.key, v.variant) == ("removal", "loss")), None)
    divergence = next((v for v in values if (v.key, v.variant) == ("removal", "divergence")), None)
    removals = {1: removal} if removal is not None else {}
    found_least = [
        (1, v)
        for v in values
        if (v.key, v.variant) in OF_BLOCKS["changes"]
        or (blocks and (v.key, v.variant) in OF_BLOCKS["states"])
    ]
    for size in sorted(set(blocks) - set(removals)):
        of_size = [("removal", "loss")] if model.head else []
        if size > 1:
            of_size += [
                pair
                for name, pairs in OF_BLOCKS.items()
                for pair in (pairs if name in chosen else ())
                if pair[0] != "swap" or 2 * size <= model.depth
            ]
        for v in measured(model, documents, of_size, sizes=(size,)):
            if v.key == "removal":
                removals[size] = v
            else:
                found_least.append((size, v))
            if size > 1:
                tables.append(_table(v, {}, {}, len(few), tolerance, level, seed, size))
    strict = 1 - (1 - level) / max(1, len(removals))
    searches = [
        _search(model.depth, v, size, tolerance, strict, seed, losses)
        for size, v in removals.items()
    ]
    strict = 1 - (1 - level) / max(1, len(found_least))
    least = [least_block(v, size, strict, seed) for size, v in found_least]
    whole_loss = None
    if model.head:
        base = losses([whole(model.depth)])[0] if removal is None else removal.baseline
        assert base is not None
        whole_loss = mean(base, level)
    orders = None
    if removal is not None and divergence is not None and model.depth > 1:
        orders = agreement(removal.per_document, divergence.per_document, level=level, seed=seed)
    second = None
    if task is not None:
        (on_task,) = measured(model, task, [("removal", "task")])
        tables.append(_table(on_task, {}, {}, 0, tolerance, level, seed))
        second = _task(task, on_task, removal, level, seed)
    fresh = None
    if removal is not None and "initialised" in drawn:
        assert removal.baseline is not None
        untaught: Any = [found["removal", "loss"].baseline for found in drawn["initialised"]]
        fresh = relative(removal.baseline[: len(few)], np.mean(untaught, axis=0), level)
    return Audit(
        _model_facts(model, documents),
        _sample(documents),
        whole_loss,
        fresh,
        (*tables, *absent),
        tuple(searches),
        tuple(least),
        tuple(_planted(longer_by, removal, behind, level)),
        refused,
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


def forecast(
    model: LayeredModel, documents: Documents, sizes: Sequence[int], groups: Sequence[str] = ()
) -> float:
    """Seconds that a search over blocks of these sizes takes, by one timed pass on few documents:
    each block runs what stands behind it, and the head; with the group changes, twice more with the
    block run twice, and once with the block behind it.

    Raises:
        AuditError: for sizes that the model does not have.
    """
    _check(model, (), sizes, None, 1, 0, LEAST)
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
    if draws < 1:
        raise AuditError(f"{draws} draws of a null model: accepted are whole numbers from 1")
    if not 0 <= tolerance < 1:
        raise AuditError(f"tolerance {tolerance}: accepted are shares of the loss from 0 to 1")
    if blocks and not model.head and "states" not in groups:
        model.need_head()
    if documents < LEAST:
        raise AuditError(f"{documents} documents: at least {LEAST} carry an interval")


def _absent(pair: tuple[str, str], why: str) -> Table:
    variant = MEASURES[pair[0]].variants[pair[1]]
    return Table(*pair, variant.unit, variant.identity, (), absent=why)


def _block(index: int | tuple[int, int]) -> tuple[int, int]:
    return index if isinstance(index, tuple) else (index, index)


def _found(
    measured: Callable[..., list[Values]],
    make: Callable[[], Drawn],
    asked: list[tuple[str, str]],
    key: str,
    draw: str,
    missing: dict[str, str],
) -> _Found:
    """The measures of one draw of a null model, which is let go behind them. Where its parts cannot
    be told apart, the others stay, and `missing` has the reason."""
    null = make()
    parts = [pair for pair in asked if pair in GROUPS["parts"]]
    found = []
    for some in ([pair for pair in asked if pair not in parts], parts):
        try:
            found += measured(*null, some, f"{key}{draw}") if some else []
        except AuditError as error:
            if some is not parts:
                raise
            missing[key] = str(error)
    return {(v.key, v.variant): v for v in found}


def _table(
    values: Values,
    drawn: Mapping[str, Sequence[_Found]],
    missing: Mapping[str, str],
    few: int,
    tolerance: float,
    level: float,
    seed: int,
    size: int = 1,
) -> Table:
    pair = (values.key, values.variant)
    strict = 1 - (1 - level) / len(values.index)
    nulls = {
        key: [found[pair] for found in draws]
        for key, draws in drawn.items()
        if all(pair in found for found in draws)
    }
    own_few = replace(values, per_document=values.per_document[:, :few])
    told = {key: told_from(own_few, found, level, seed) for key, found in nulls.items()}
    rows = []
    for number, index in enumerate(values.index):
        own = values.per_document[number]
        share = decided = None
        if pair in _OF_LOSS and values.baseline is not None:
            share = _share(pair, values.baseline + own, values.baseline, strict)
            decided = call(share, tolerance) if share and values.key == "removal" else None
        estimate = mean(own, level)
        if pair == ("settling_depth", "share"):
            low, high = max(0.0, estimate.low), min(1.0, estimate.high)
            estimate = replace(estimate, low=low, high=high)
        rows.append(
            Row(
                *_block(index),
                estimate,
                share,
                decided,
                {key: _null(found, number, level) for key, found in nulls.items()},
            )
        )
    without = missing if pair in GROUPS["parts"] else {}
    return Table(*pair, values.unit, values.identity, tuple(rows), told, missing=without, size=size)


def _null(draws: Sequence[Values], row: int, level: float) -> Estimate:
    """See `Row.nulls`."""
    if len(draws) == 1:
        return mean(draws[0].per_document[row], level)
    return reach([draw.per_document[row].mean() for draw in draws])


def _share(
    pair: tuple[str, str], values: np.ndarray, baseline: np.ndarray, level: float
) -> Estimate | None:
    """None where a task is solved, so that its loss may be 0 and has no shares."""
    try:
        return relative(values, baseline, level)
    except AuditError:
        if pair != ("removal", "task"):
            raise
        return None


def _task(
    task: Documents, on_task: Values, removal: Values | None, level: float, seed: int
) -> AuditedTask:
    assert on_task.baseline is not None
    both = None
    if removal is not None and len(removal.per_document) > 1:
        most = min(len(task), removal.per_document.shape[1])
        orders = (v.per_document[:, :most] for v in (removal, on_task))
        both = agreement(*orders, level=level, seed=seed)
    ladder = str(task.cut.get("ladder", ""))
    return AuditedTask(ladder, _sample(task), mean(on_task.baseline, level), both)


def _sample(documents: Documents) -> AuditedText:
    return AuditedText(
        documents.source,
        documents.law,
        len(documents),
        documents.tokens,
        documents.cut,
        documents.sha256,
    )


def least_block(values: Values, size: int, level: float, seed: int) -> LeastBlock:
    """Of blocks of one size the one with the least mean, with an interval that the choice has not
    flattered."""
    base = values.baseline
    costs = values.per_document if base is None else values.per_document + base
    chosen = _best(costs, base, level, seed)
    place = _block(values.index[chosen.index])
    gain = None if base is None else chosen.estimate.high < 0
    return LeastBlock(values.key, values.variant, size, *place, chosen, gain)


def _best(costs: np.ndarray, base: np.ndarray | None, level: float, seed: int) -> Chosen:
    rule: Literal["split", "bonferroni"]
    rule = "split" if costs.shape[1] >= 2 * LEAST else "bonferroni"
    return best_of(costs, baseline=base, rule=rule, seed=seed, level=level)


def _planted(
    longer: Mapping[str, _Found], removal: Values | None, behind: int, level: float
) -> list[Planted]:
    """What measures of a layer say of the one that was put in; of one that adds zero, those that
    must say something."""
    found = []
    for how, measured in longer.items():
        for pair, values in measured.items():
            must = values.identity if how == "zero" else None
            if how == "copy" and pair == ("removal", "loss"):
                assert removal is not None
                assert removal.baseline is not None
                assert values.baseline is not None
                whole = removal.baseline[: len(values.baseline)]
                must = float(whole.mean() - values.baseline.mean())
            if values.key == "path_length" or (how == "zero" and must is None):
                continue
            for index, own in zip(values.index, values.per_document, strict=True):
                if _block(index) == (behind + 1, behind + 1):
                    found.append(Planted(how, *pair, behind, mean(own, level), must))
    return found


def _search(
    depth: int,
    removal: Values,
    size: int,
    tolerance: float,
    level: float,
    seed: int,
    losses: Callable[[Sequence[Route]], np.ndarray],
) -> Search:
    base = removal.baseline
    assert base is not None
    costs = removal.per_document + base
    chosen = _best(costs, base, level, seed)
    if size == 1:
        costly, every = costs, True
    else:
        routes = random_routes(depth, size, RANDOM_SETS, seed, together=False)
        every = len(routes) == comb(depth, size)
        costly = losses(routes)
    random = (
        relative(costly.mean(0), base, level)
        if every
        else mean(costly.mean(1) / base.mean() - 1, level)
    )
    neighbours = relative(costs.mean(0), base, level)
    first, last = _block(removal.index[chosen.index])
    decided = call(chosen.estimate, tolerance)
    return Search(size, first, last, chosen, random, len(costly), every, neighbours, decided)


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


def _plain(value: Any) -> Any:
    if isinstance(value, Estimate):
        names = ("value", "low", "high", "level", "n")
        return {name: _plain(getattr(value, name)) for name in names}
    if isinstance(value, Enum):
        return value.value
    if is_dataclass(value) and not isinstance(value, type):
        return {part.name: _plain(getattr(value, part.name)) for part in fields(value)}
    if isinstance(value, TheoryValue):
        return {name: _plain(part) for name, part in value._asdict().items()} | {
            "vacuous": value.vacuous
        }
    if isinstance(value, tuple) and hasattr(value, "_asdict"):
        return {name: _plain(part) for name, part in value._asdict().items()}
    if isinstance(value, Mapping):
        return {str(name): _plain(part) for name, part in value.items()}
    if isinstance(value, list | tuple):
        return [_plain(part) for part in value]
    if isinstance(value, np.generic):
        return _plain(value.item())
    if isinstance(value, Path):
        return str(value)
    if isinstance(value, float) and not np.isfinite(value):
        return None
    return value

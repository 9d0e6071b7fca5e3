"""What is measured of a model's layers, by the definition of the paper that it comes from.

Every value is one number per document. Values that compare a changed model with the whole are
differences by document, so that 0 says that nothing changed; `baseline` is the whole's loss.

`measure_all` is the way to several measures: those of hidden states share one pass, and all routes
share the prefix that they have in common with the whole.
"""

from __future__ import annotations

import itertools
import tomllib
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
import torch
from torch import Tensor

from ..architectures.residuals import matrix_norms
from . import AuditError
from .documents import (
    IGNORED,
    SCORES,
    Documents,
    batches,
    by_document,
    kept_columns,
    outcomes,
    reference_by,
    said_by,
    subset,
)
from .layered import LayeredModel, Route, Step, repeated, swapped, whole, without

if TYPE_CHECKING:
    Index = tuple[int | tuple[int, int], ...]
    from .documents import Parts

    Tick = Callable[[str, int, int], object]


@dataclass(frozen=True)
class Variant:
    """One way to take a measure.

    Attributes:
        words: what is taken, after the measure's definition.
        unit: of the value.
        identity: the value of a layer that does nothing; None where it depends on the others.
    """

    words: str
    unit: str
    identity: float | None = None


@dataclass(frozen=True)
class Measure:
    """A measure and its source.

    Attributes:
        key, label: for code, and for a heading.
        definition, source: in words, and the paper whose definition it is.
        variants: by name; the first is the one that is meant without a name.
        needs: "states"; "head", logits as well; or "parts", what attention and MLP add.
        beside: in what the definition departs from its source, or "".
    """

    key: str
    label: str
    definition: str
    source: str
    variants: dict[str, Variant]
    needs: str
    beside: str


@dataclass(frozen=True, eq=False)
class Values:
    """A measure by layer or block, and by document.

    Attributes:
        index: what each row is about: a layer, the block (first, last), for `skip_effect` on later
            layers the pair (skipped, later), for `path_length` how many layers are kept.
        per_document: float64, shape (rows, documents).
        baseline: the whole model's loss, float64 (documents,), where rows are differences to it.
        options: what else was chosen, such as the size of blocks.
    """

    key: str
    variant: str
    index: Index
    per_document: np.ndarray
    unit: str
    identity: float | None
    baseline: np.ndarray | None = None
    options: dict[str, Any] = field(default_factory=dict)


def _measures() -> dict[str, Measure]:
    text = (Path(__file__).parent / "measures.toml").read_text(encoding="utf-8")
    return {
        key: Measure(
            key, **row | {"variants": {n: Variant(**v) for n, v in row["variants"].items()}}
        )
        for key, row in tomllib.loads(text).items()
    }


MEASURES: dict[str, Measure] = _measures()


def measure(
    model: LayeredModel, documents: Documents, key: str, variant: str = "", **options: Any
) -> Values:
    """One measure; see `measure_all`."""
    return measure_all(model, documents, [(key, variant)], **options)[0]


def measure_all(
    model: LayeredModel,
    documents: Documents,
    asked: Sequence[tuple[str, str]],
    *,
    sizes: Sequence[int] = (1,),
    times: int = 2,
    draws: int = 4,
    seed: int = 0,
    tick: Tick = lambda what, done, total: None,
    parts: Parts | None = None,
) -> list[Values]:
    """Measures, each a key of `MEASURES` and a variant or "" for its first.

    Args:
        sizes: layers of a block, for `angular_distance`, `removal`, `repeat` and `swap`.
        times: how often a block runs, for `repeat`.
        draws: random sets of layers for each number of them, for `path_length`.
        seed: of the random sets.
        tick: called with what runs, and the documents done of all.
        parts: where columns of a few documents are kept; for one of `groups`.

    Raises:
        AuditError: for a measure, variant or option that is not accepted, a model that lacks what a
            measure needs, and values that are not finite.

    Cost: states, one pass without the head; `removal`, `swap` and `repeat` of every layer about
    L / 2 passes and L heads; `skip_effect` on later layers L passes; `path_length` about
    draws L / 2 passes and draws L heads.
    """
    wanted = [(key, _variant(model, key, variant)) for key, variant in asked]
    depth = model.depth
    if not sizes or min(sizes) < 1 or max(sizes) > depth or times < 2 or draws < 1:
        raise AuditError(
            f"sizes={tuple(sizes)}, times={times}, draws={draws}: accepted are sizes from 1 to "
            f"{depth}, times from 2, draws from 1"
        )
    run = _Run(model, documents, tuple(sizes), times, draws, seed, tick, parts)
    found: dict[tuple[str, str], Values] = {}
    for compute in (_of_states, _of_routes, _of_paths, _of_exits, _of_skips, _of_parts):
        mine = [pair for pair in wanted if _way(*pair) is compute]
        if mine:
            found |= {(v.key, v.variant): v for v in compute(run, list(dict.fromkeys(mine)))}
    for values in found.values():
        if not np.isfinite(values.per_document).all():
            bad = int(np.argmin(np.isfinite(values.per_document).all(axis=1)))
            raise AuditError(
                f"{model.name}: {values.key} ({values.variant}) is not finite at "
                f"{values.index[bad]}: states vanish, as those of padding may, or overflow; take "
                "other ids or float64"
            )
    return [found[pair] for pair in wanted]


def _variant(model: LayeredModel, key: str, variant: str) -> str:
    if key not in MEASURES:
        raise AuditError(f"measure {key!r} is not known; accepted are {', '.join(MEASURES)}")
    variants = MEASURES[key].variants
    variant = variant or next(iter(variants))
    if variant not in variants:
        raise AuditError(f"{key} has no variant {variant!r}; accepted are {', '.join(variants)}")
    if MEASURES[key].needs == "head" and not variant.startswith("later"):
        model.need_head()
    return variant


@dataclass(frozen=True, eq=False)
class _Run:
    model: LayeredModel
    documents: Documents
    sizes: tuple[int, ...]
    times: int
    draws: int
    seed: int
    tick: Tick
    parts: Parts | None = None
    tables: list[np.ndarray] = field(default_factory=list)

    def batches(self, what: str) -> Iterator[tuple[slice, Tensor, Tensor]]:
        """Those whose columns of the tables are not known."""
        for rows, ids, targets in batches(self.model, self.documents):
            with kept_columns(self.parts, self.tables, rows) as known:
                if not known:
                    yield rows, ids, targets
            self.tick(what, rows.stop, len(self.documents))

    def table(self, rows: int) -> np.ndarray:
        self.tables.append(np.full((rows, len(self.documents)), np.nan))
        return self.tables[-1]

    def values(
        self, key: str, variant: str, index: Sequence[Any], table: np.ndarray, **more: Any
    ) -> Values:
        kind = MEASURES[key].variants[variant]
        baseline = more.pop("baseline", None)
        return Values(
            key, variant, tuple(index), table, kind.unit, kind.identity, baseline, dict(more)
        )

    def blocks(self) -> list[tuple[int, int]]:
        depth = self.model.depth
        return [(a, a + size - 1) for size in self.sizes for a in range(depth - size + 1)]


# --- measures of hidden states ---


def _apart(one: Tensor, two: Tensor) -> Tensor:
    """|u - v| of the directions u, v of two states, (documents, tokens): 1 - cosine is half of its
    square, exactly 0 for equal states."""
    directions = [x / x.norm(dim=-1, keepdim=True) for x in (one, two)]
    return (directions[0] - directions[1]).norm(dim=-1)


def _angle(one: Tensor, two: Tensor) -> Tensor:
    """arccos(cosine) / pi, from the chord: accurate for small angles."""
    return 2 / torch.pi * torch.asin((_apart(one, two) / 2).clamp(max=1))


def _residuals(hidden: Tensor) -> Tensor:
    norms = matrix_norms(hidden)
    return norms[2:] / norms[:2]


def _rms(hidden: Tensor) -> Tensor:
    return hidden.square().mean(dim=(1, 2)).sqrt()


# (key, variant) -> (states before and after one layer, float64) -> one number per document.
_BY_LAYER: dict[tuple[str, str], Callable[[Tensor, Tensor], Tensor]] = {
    ("residual", "composite"): lambda before, after: _residuals(after)[0],
    ("residual", "frobenius"): lambda before, after: _residuals(after)[1],
    ("residual", "composite_factor"): lambda before, after: (
        _residuals(after)[0] / _residuals(before)[0]
    ),
    ("residual", "frobenius_factor"): lambda before, after: (
        _residuals(after)[1] / _residuals(before)[1]
    ),
    ("growth", "rms"): lambda before, after: _rms(after),
    ("growth", "variance"): lambda before, after: after.flatten(1).var(dim=1, correction=0),
    ("growth", "factor"): lambda before, after: _rms(after) / _rms(before),
    ("block_influence", "mean"): lambda before, after: (
        _apart(before, after).square().mean(dim=1) / 2
    ),
    ("contribution", "layer"): lambda before, after: (
        (after - before).norm(dim=-1) / before.norm(dim=-1)
    ).mean(dim=1),
}


def _of_states(run: _Run, asked: list[tuple[str, str]]) -> Iterator[Values]:
    depth, blocks = run.model.depth, run.blocks()
    angles = [pair for pair in asked if pair[0] == "angular_distance"]
    tables = {pair: run.table(len(blocks) if pair in angles else depth) for pair in asked}
    longest = max(run.sizes) if angles else 1
    every = ("angular_distance", "all_tokens") in asked
    for rows, ids, _ in run.batches("hidden states"):
        # The last states that a block may start from: whole, or at the last token alone.
        window: list[Tensor] = []
        before: Tensor | None = None
        for passed, state in enumerate(run.model.states(ids)):
            after = state.double()
            if before is not None:
                for pair in asked:
                    if pair not in angles:
                        told = _BY_LAYER[pair](before, after)
                        tables[pair][passed - 1, rows] = told.cpu().numpy()
            for number, (first, last) in enumerate(blocks if angles else ()):
                if last == passed - 1:
                    for pair in angles:
                        start, end = window[first - passed], after
                        if pair[1] == "last_token":
                            start, end = start[:, -1:], end[:, -1:]
                        told = _angle(start, end).mean(dim=1)
                        tables[pair][number, rows] = told.cpu().numpy()
            before = after
            if angles:
                window = [*window, after if every else after[:, -1:]][-longest:]
    for pair in asked:
        index = blocks if pair in angles else range(depth)
        yield run.values(*pair, index, tables[pair])


# --- measures of routes ---


def _routes(run: _Run, key: str, variant: str) -> list[tuple[Any, Route]]:
    depth = run.model.depth
    if key == "removal":
        return [(block, without(depth, *block)) for block in run.blocks()]
    if key == "swap":
        return [
            ((i, i + 2 * size - 1), swapped(depth, i, size))
            for size in run.sizes
            for i in range(depth - 2 * size + 1)
        ]
    if key == "repeat":
        damped = variant.startswith("damped")
        return [(b, repeated(depth, *b, times=run.times, damped=damped)) for b in run.blocks()]
    return [(i, without(depth, i, i)) for i in range(depth)]


def _of_routes(run: _Run, asked: list[tuple[str, str]]) -> Iterator[Values]:
    objectives = {
        pair: "divergence"
        if "divergence" in pair[1]
        else {"output_max": "output_max", "output_mean": "output"}.get(pair[1], "loss")
        for pair in asked
    }
    routes = {pair: _routes(run, *pair) for pair in asked}
    every = list(
        dict.fromkeys(
            [whole(run.model.depth), *(route for pair in asked for _, route in routes[pair])]
        )
    )
    place = {route: number for number, route in enumerate(every)}
    found = outcomes(
        run.model,
        run.documents,
        every,
        tuple(dict.fromkeys(objectives.values())),
        lambda done: run.tick("routes", done, len(run.documents)),
        run.parts,
    )
    for pair in asked:
        key, variant = pair
        told = found[objectives[pair]]
        baseline = told[0].copy() if objectives[pair] == "loss" else None
        index = [what for what, _ in routes[pair]]
        table = told[[place[route] for _, route in routes[pair]]]
        if baseline is not None:
            table = table - baseline
        more: dict[str, Any] = {"baseline": baseline}
        if key == "repeat":
            more["times"] = run.times
        yield run.values(key, variant, index, table, **more)


def _of_paths(run: _Run, asked: list[tuple[str, str]]) -> Iterator[Values]:
    """Every document has sets of its own, so that its numbers are independent of the others', and
    an interval over documents is one over sets too."""
    depth, n = run.model.depth, len(run.documents)
    curve, whole_loss = run.table(depth + 1), run.table(1)
    for row in range(n):
        rows = slice(row, row + 1)
        with kept_columns(run.parts, run.tables, rows) as known:
            if not known:
                one = subset(run.documents, rows)
                sets = _paths(depth, run.draws, [run.seed, *one.ids.flatten().tolist()])
                routes = [whole(depth), *(route for _, route in sets)]
                losses = outcomes(run.model, one, routes)["loss"][:, 0]
                kept = np.array([number for number, _ in sets])
                whole_loss[0, row] = losses[0]
                curve[:, row] = [losses[1:][kept == k].mean() for k in range(depth + 1)]
                curve[:, row] -= losses[0]
        run.tick("paths", row + 1, n)
    for key, variant in asked:
        index: list[Any] = list(range(depth + 1))
        table = curve
        if variant == "half":
            index, table = [(0, depth - 1)], _halfway(curve)[None]
        more = {"baseline": whole_loss[0].copy(), "draws": run.draws, "seed": run.seed}
        yield run.values(key, variant, index, table, **more)


def _paths(depth: int, draws: int, seed: list[int]) -> list[tuple[int, Route]]:
    """Random sets of each number of layers."""
    rng = np.random.default_rng(seed)
    sets = [
        (kept, rng.choice(depth, kept, replace=False))
        for kept in range(depth + 1)
        for _ in range(draws if 0 < kept < depth else 1)
    ]
    return [(kept, tuple(Step(int(i)) for i in sorted(chosen))) for kept, chosen in sets]


def _halfway(curve: np.ndarray) -> np.ndarray:
    """For each column the first place, interpolated, where a curve that ends at 0 is at half of its
    start; 0 where it starts at or below its end, so that no layer gains anything."""
    found = np.zeros(curve.shape[1])
    for column, values in enumerate(curve.T):
        half = values[0] / 2
        if half > 0:
            k = int(np.argmax(values <= half))
            found[column] = k - (half - values[k]) / (values[k - 1] - values[k])
    return found


# --- measures of exits ---


def _of_exits(run: _Run, asked: list[tuple[str, str]]) -> Iterator[Values]:
    model, depth = run.model, run.model.depth
    compared = ("exit_loss", "divergence") in asked
    names = ("loss", "divergence") if compared else ("loss",)
    exits = {name: run.table(depth + 1) for name in names}
    settled = run.table(depth + 1)
    for rows, ids, targets in run.batches("exits"):
        right = targets[targets != IGNORED].to(ids.device)
        reference = reference_by(model.logits(ids), targets) if compared else None
        largest: list[Tensor] = []
        for passed, state in enumerate(model.states(ids)):
            said = said_by(model.read_out(state, ids), targets)
            largest.append(said.argmax(1))
            for name, table in exits.items():
                per_token = SCORES[name][1](said, reference, right).double()
                table[passed, rows] = by_document(per_token.cpu(), targets)
        other = torch.stack(largest) != largest[-1]
        # The layers up to the last whose read-out still differs.
        numbers = torch.arange(1, depth + 2, device=other.device)[:, None]
        depths = (other * numbers).amax(0)
        for passed in range(depth + 1):
            share = (depths <= passed).double().cpu()
            settled[passed, rows] = by_document(share, targets)
    for key, variant in asked:
        if key == "settling_depth" and variant == "share":
            yield run.values(key, variant, range(depth), settled[1:])
        elif key == "settling_depth":
            # The mean of a count is the sum of the shares that have not settled.
            yield run.values(key, variant, [(0, depth - 1)], (1 - settled[:-1]).sum(0)[None])
        elif variant == "change":
            yield run.values(key, variant, range(depth), np.diff(exits["loss"], axis=0))
        else:
            yield run.values(key, variant, range(depth), exits[variant][1:])


# --- effects of a skipped layer ---


def _of_skips(run: _Run, asked: list[tuple[str, str]]) -> Iterator[Values]:
    model, depth = run.model, run.model.depth
    pairs = list(itertools.combinations(range(depth), 2))
    later = [variant for _, variant in asked if variant.startswith("later")]
    future = [variant for _, variant in asked if variant.startswith("future")]
    tables = {v: run.table(len(pairs)) for v in later} | {v: run.table(depth) for v in future}
    half = run.documents.tokens // 2
    if future and not model.causal:
        raise AuditError(f"{model.name} is not causal, so no token has a future; ask for output")
    for rows, ids, targets in run.batches("skipped layers"):
        if future:
            targets = targets.clone()
            targets[:, :half] = IGNORED
            reference = reference_by(model.logits(ids), targets)
        for skipped, before in enumerate(itertools.islice(model.states(ids), depth)):
            after = model.step(before, skipped, ids)
            if later:
                own, changed = after, before
                for number in range(skipped + 1, depth):
                    streams = [model.step(stream, number, ids) for stream in (own, changed)]
                    one, two = streams[0] - own, streams[1] - changed
                    ratio = _ratio((one - two).double().norm(dim=-1), one.double().norm(dim=-1))
                    place = pairs.index((skipped, number))
                    for variant in later:
                        told = ratio.amax(1) if variant == "later_max" else ratio.mean(1)
                        tables[variant][place, rows] = told.cpu().numpy()
                    own, changed = streams
            if future:
                stream = torch.cat([before[:, :half], after[:, half:]], dim=1)
                for number in range(skipped + 1, depth):
                    stream = model.step(stream, number, ids)
                said = said_by(model.read_out(stream, ids), targets)
                change = SCORES["output"][1](said, reference, None).double().cpu()
                for variant in future:
                    largest = variant == "future_max"
                    tables[variant][skipped, rows] = by_document(change, targets, largest)
    for key, variant in asked:
        index = pairs if variant in later else range(depth)
        yield run.values(key, variant, index, tables[variant])


def _ratio(change: Tensor, size: Tensor) -> Tensor:
    """change / size, and 0 where nothing changed."""
    return torch.where(change == 0, change.new_zeros(()), change / size)


# --- what parts of a layer add ---


def _of_parts(run: _Run, asked: list[tuple[str, str]]) -> Iterator[Values]:
    depth = run.model.depth
    tables = {variant: run.table(depth) for _, variant in asked}
    for rows, ids, _ in run.batches("parts of layers"):
        for number, written in enumerate(run.model.parts(ids)):
            size = written["stream"].double().norm(dim=-1)
            for variant, table in tables.items():
                if variant in written:
                    ratio = written[variant].double().norm(dim=-1) / size
                    table[number, rows] = ratio.mean(1).cpu().numpy()
    for key, variant in asked:
        has = [i for i in range(depth) if not np.isnan(tables[variant][i]).all()]
        if not has:
            raise AuditError(
                f"{run.model.name}: no layer has a second part; ask for attention alone"
            )
        yield run.values(key, variant, has, tables[variant][has])


# Which way a measure goes: by variant, or for all variants of a key.
_WAY: dict[tuple[str, str], Callable[[_Run, list[tuple[str, str]]], Iterator[Values]]] = {
    ("residual", ""): _of_states,
    ("growth", ""): _of_states,
    ("block_influence", ""): _of_states,
    ("angular_distance", ""): _of_states,
    ("contribution", "layer"): _of_states,
    ("contribution", ""): _of_parts,
    ("skip_effect", "output_max"): _of_routes,
    ("skip_effect", "output_mean"): _of_routes,
    ("skip_effect", ""): _of_skips,
    ("removal", ""): _of_routes,
    ("swap", ""): _of_routes,
    ("repeat", ""): _of_routes,
    ("path_length", ""): _of_paths,
    ("settling_depth", ""): _of_exits,
    ("exit_loss", ""): _of_exits,
}


def _way(key: str, variant: str) -> Callable[[_Run, list[tuple[str, str]]], Iterator[Values]]:
    named = variant or next(iter(MEASURES[key].variants))
    return _WAY[(key, named) if (key, named) in _WAY else (key, "")]


def groups(asked: Sequence[tuple[str, str]]) -> list[list[tuple[str, str]]]:
    """Known measures, in the order asked, so that those of one group share their passes: all of
    hidden states, otherwise the variants of one measure."""
    found: dict[tuple[Any, str], list[tuple[str, str]]] = {}
    for key, variant in asked:
        way = _way(key, variant)
        found.setdefault((way, "" if way is _of_states else key), []).append((key, variant))
    return list(found.values())

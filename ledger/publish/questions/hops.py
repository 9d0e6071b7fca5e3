"""What nets trained on hops answer by depth, and what was published of it."""

from __future__ import annotations

from collections.abc import Iterator

from depthlaw.advisor.base.quantities import plural
from depthlaw.advisor.laws import layers_for_hops
from depthlaw.theory.claims.definition import Case
from depthlaw.theory.claims.values import Ball, Proportion

from ..drawing.panels import Found, Panel, Rows, curve, curves, rows, split, stated
from .question import keys, question
from .short_paths import in_words, least_depths

_HOPS = keys("trained_depth", "hops_enough hops_needed")


def _hops_say(results: Found) -> Iterator[str]:
    median = rows(results, *_HOPS, task="hop_k", seeds="median")
    least = {c.hops: in_words(v, c.tried) for c, v in median if isinstance(v, Ball)}
    if least:
        told = [f"{least[k]} for {plural(k, 'hop')}" for k in sorted(least)]
        yield f"Layers that the median seed takes: {', '.join(told)}."


@question("hops", says=_hops_say)
def _hops(results: Found) -> Iterator[Panel]:
    part = rows(results, "trained_depth/hops_by_depth", task="hop_k")
    depths = sorted({case.depth for case, _ in part}) or [1]
    lines = curves(part, "depth", "hops", lambda k: f"k = {k}, from L = {layers_for_hops(k)}")
    bar = stated("95 %", {depths[0]: 0.95, depths[-1]: 0.95})
    yield Panel("Positions answered", "layers", "share right", (*lines, bar))
    median = rows(results, *_HOPS, task="hop_k", seeds="median")
    least = curves(median, "hops", "seeds", lambda _: "trained")
    yield least_depths(median, "hops", "hops k", least, ("ceil(log_2 k) + 2", layers_for_hops))


# Of the nets of hops_enough with 24 symbols and k up to 4, by training_table.csv.
HOP_UPDATES = 5_000


def _by_updates(results: Found) -> Iterator[tuple[str, dict[str, Rows]]]:
    """Title and kinds of nets, each with its cases of several numbers of updates."""
    more = rows(
        results, "trained_depth/hops_enough", task="hop_k", symbols=24, hops_max=4, seeds="median"
    )
    hops = [
        *rows(results, "trained_depth/hops_by_updates"),
        *((Case(**case.fields() | {"updates": HOP_UPDATES}), value) for case, value in more),
    ]
    paths = rows(results, "trained_depth/connectivity_by_updates")
    if any(case.updates != HOP_UPDATES for case, _ in hops):
        yield "Hops", {f"k = {k}": part for (k,), part in split(hops, "hops")}
    kinds = {f"D = {D}, {net}": part for (D, net), part in split(paths, "diameter", "net")}
    yield "Connectivity", kinds


def _least_by_updates_say(results: Found) -> Iterator[str]:
    """In how many kinds of nets the least depth surely falls, then of each what it is."""
    ends = [
        [value for _, value in sorted(part, key=lambda row: row[0].updates)]
        for _, kinds in _by_updates(results)
        for part in kinds.values()
    ]
    balls = [[value for value in of if isinstance(value, Ball)] for of in ends]
    several = [of for of in balls if len(of) > 1]
    if several:
        falls = sum(last.high < first.low for first, *_, last in several)
        yield (
            "With more updates the least depth clearly falls in "
            f"{falls} of {len(several)} kinds of nets."
        )
    for title, kinds in _by_updates(results):
        for kind, part in kinds.items():
            found = [
                f"{in_words(value, case.tried)} after {case.updates:,}"
                for case, value in sorted(part, key=lambda row: row[0].updates)
                if isinstance(value, Ball)
            ]
            if found:
                yield f"{title}, {kind}: least depth {', '.join(found)} updates."


@question("least-depth-by-updates", says=_least_by_updates_say)
def _least_by_updates(results: Found) -> Iterator[Panel]:
    for title, kinds in _by_updates(results):
        pairs = kinds.items()
        lines = (curve(label, {case.updates: value for case, value in p}) for label, p in pairs)
        y_label = "least depth (one above tried: beyond)"
        yield Panel(title, "updates", y_label, tuple(filter(None, lines)), x_scale="log")


_DROPOUT = {"left on": "published_dropout_on", "off": "published_dropout_off"}


def _published_say(results: Found) -> Iterator[str]:
    apart = [
        abs(1 - value.mean - float(case.published_error))
        for name in _DROPOUT.values()
        for case, value in rows(results, f"trained_depth/{name}")
        if isinstance(value, Proportion)
    ]
    if apart:
        most = f"{100 * max(apart):.0f} percentage points"
        yield f"Our share of wrong positions differs from the published one by {most} at most."


@question("published-errors", says=_published_say)
def _published(results: Found) -> Iterator[Panel]:
    for word, name in _DROPOUT.items():
        part = [
            (case, Proportion(value.trials - value.right, value.trials))
            for case, value in rows(results, f"trained_depth/{name}")
            if isinstance(value, Proportion)
        ]
        published = [
            stated(
                f"published, L = {layers}",
                {case.hops: float(case.published_error) for case, _ in own},
                f"L = {layers}",
            )
            for (layers,), own in split(part, "depth")
        ]
        lines = (*curves(part, "hops", "depth", "L = {}".format), *published)
        yield Panel(f"Dropout {word}", "hops k", "share of positions wrong", lines, x_scale="log")

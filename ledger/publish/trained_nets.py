"""Trained nets in docs/trained-depth.md, all from records: accuracy against distance and hops as a
figure; the local baseline beside the nets, least depths and published errors as tables; and of each
claim what was expected before, what is known since, and the verdict.
"""
from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from math import fsum
from pathlib import Path
from typing import TYPE_CHECKING, Any

from depthlaw.empirics.trained_depth.experiment import LATE
from depthlaw.theory.claim import measured_symbol, registry
from depthlaw.theory.values import Ball, Proportion

from ..run.records import Store, manifest
from ..verdicts.display import prediction
from ..verdicts.report import CaseResult, ClaimResult, results
from .figures import COLOURS, STYLE
from .typesetting import md, md_code

if TYPE_CHECKING:
    from matplotlib.axes import Axes

TOPIC = "trained_depth"
SUITE = "full"
# Level of the intervals drawn; the verdicts share another one, see `judgement.FALSE_ALARM_BUDGET`.
LEVEL = 0.05
_GRAPH = {"vertices": 24, "diameter": 23}
# The rule that is asked at every radius.
_LOCAL = "bounded"
_NETS = {"explicit": ("S", "o", "explicit weights"), "softmax": ("lower", "s", "trained, softmax"),
         "linearised": ("upper", "^", "trained, linearised")}
_GREY = "#8C8C8C"
# Distances beside which nets and local baseline are compared, as the nets are asked about them.
_PLACES = range(1, 21)
# The claims of suite gpu that stand beside published errors, by whether dropout was left on.
_PUBLISHED = {True: f"{TOPIC}/published_dropout_on", False: f"{TOPIC}/published_dropout_off"}
# What is measured by the claims of a table: how far nets are right and which sight they are nearest
# to, least depths and their slopes, and how many trainings succeed.
_REACHES = ("trained_reach", "local_radius")
_LEAST = ("trained_depth", "depth_slope")
_SUCCESSES = ("succeeded",)


@dataclass(frozen=True)
class Measured:
    """One accuracy: of which net, depth (for the local baseline: radius) and distance (or hops),
    how many right of how many, and the record.
    """

    task: str
    net: str
    depth: int
    place: int
    value: Proportion
    record: str
    device: str


def measured(judged: Iterable[ClaimResult]) -> Iterator[Measured]:
    """Every accuracy that the trained-depth claims recorded, of the graphs drawn and of all
    hops."""
    for result in judged:
        for row in result.cases:
            case = row.case
            if not isinstance(row.measured, Proportion) or not row.records:
                continue
            record, device = row.records[0].id, str(row.records[0].inputs.get("device", ""))
            if ("distance" in case
                and all(case.get(name) == value for name, value in _GRAPH.items())):
                size = case.radius if case.net == _LOCAL else case.depth
                yield Measured("connectivity", case.net, size, case.distance, row.measured, record,
                               device)
            elif case.task == "hop_k" and "depth" in case:
                yield Measured("hop_k", "softmax", case.depth, case.hops, row.measured, record,
                               device)


def draw(points: list[Measured], file: Path) -> None:
    """Accuracy against distance, a panel for each depth, with 3^L marked; and of hops against
    depth. The bytes depend on the points alone."""
    from matplotlib import style
    from matplotlib.backends.backend_agg import FigureCanvasAgg
    from matplotlib.figure import Figure

    graphs = [p for p in points if p.task == "connectivity"]
    depths = sorted({p.depth for p in graphs if p.net != _LOCAL})
    with style.context(["default", STYLE]):
        figure = Figure(figsize=(4.1 * (len(depths) // 2 + 1), 7.0), layout="constrained")
        FigureCanvasAgg(figure)
        panels = list(figure.subplots(2, len(depths) // 2 + 1, squeeze=False).flatten())
        for axes, depth in zip(panels, depths, strict=False):
            _distances(axes, depth, [p for p in graphs if p.depth == depth and p.net != _LOCAL],
                       [p for p in graphs if p.net == _LOCAL])
        _hops(panels[len(depths)], [p for p in points if p.task == "hop_k"])
        for axes in panels[len(depths) + 1:]:
            axes.set_visible(False)
        shown: dict[str, Any] = {}
        for axes in panels[:len(depths)]:
            for handle, label in zip(*axes.get_legend_handles_labels(), strict=True):
                shown.setdefault(label, handle)
        figure.legend(list(shown.values()), list(shown), loc="outside lower center", ncols=3)
        file.parent.mkdir(parents=True, exist_ok=True)
        figure.savefig(file, metadata={"Software": None})


def _distances(axes: Axes, depth: int, points: list[Measured], local: list[Measured]) -> None:
    """One depth: nets and explicit weights with intervals; behind them the local baseline at every
    radius where 3^L is one of them."""
    from matplotlib.patheffects import withStroke

    radii = sorted({p.depth for p in local})
    for radius in radii if 3**depth in radii else ():
        own = sorted((p for p in local if p.depth == radius), key=lambda p: p.place)
        chosen = radius == 3**depth
        label = ("local baseline of radius $3^L$" if chosen
                 else "local baseline of the radius written at its start")
        colour = COLOURS["several"] if chosen else _GREY
        axes.plot([p.place for p in own], [p.value.mean for p in own], color=colour,
                  linewidth=1.8 if chosen else 0.8, zorder=1.5, label=label)
        # On a white rim, where other lines pass.
        axes.annotate(str(radius), (own[0].place, own[0].value.mean), (0, -1),
                      textcoords="offset points", ha="center", va="center", color=colour,
                      fontsize=7.5, fontweight="bold", zorder=4,
                      path_effects=[withStroke(linewidth=2.5, foreground="white")])
    for net, (colour, marker, label) in _NETS.items():
        _line(axes, [p for p in points if p.net == net], color=COLOURS[colour], marker=marker,
              label=label)
    axes.axvline(3**depth, color="#555555", linestyle="--", linewidth=1, label="$3^L$")
    _frame(axes, f"$L = {depth}$", "distance of the connected pair", 0.45)
    # As far as the distances, or 3^L where it lies further.
    axes.set_xlim(0, max(_PLACES[-1], 3**depth) + 1)
    axes.set_xticks([1, *range(3, max(_PLACES[-1], 3**depth) + 1, 3)])


def _hops(axes: Axes, points: list[Measured]) -> None:
    from matplotlib.ticker import MaxNLocator

    for (hops, colour, marker) in zip(sorted({p.place for p in points}),
                                      ("lower", "one", "several"), "sov", strict=False):
        own = sorted((p for p in points if p.place == hops), key=lambda p: p.depth)
        _line(axes, own, by_depth=True, color=COLOURS[colour], marker=marker, label=f"$k = {hops}$")
        # Where ceil(log2 k) + 2 layers are expected to be enough.
        axes.axvline((hops - 1).bit_length() + 2, color=COLOURS[colour], linestyle="--",
                     linewidth=1)
    _frame(axes, "hops, softmax", "depth $L$", 0)
    axes.xaxis.set_major_locator(MaxNLocator(integer=True))
    if points:
        axes.legend(loc="lower right", bbox_to_anchor=(0.97, 0.02))


def _line(axes: Axes, points: list[Measured], *, by_depth: bool = False, **look: Any) -> None:
    if not points:
        return
    points = sorted(points, key=lambda p: p.depth if by_depth else p.place)
    ends = [p.value.interval(LEVEL) for p in points]
    heights = [p.value.mean for p in points]
    bars = [[h - low for h, (low, _) in zip(heights, ends, strict=True)],
            [high - h for h, (_, high) in zip(heights, ends, strict=True)]]
    axes.errorbar([p.depth if by_depth else p.place for p in points], heights, yerr=bars,
                  markersize=3, linewidth=1, elinewidth=0.8, **look)


def _frame(axes: Axes, title: str, below: str, lowest: float) -> None:
    axes.axhline(0.95, color="#555555", linewidth=0.8, linestyle=":")
    axes.set_title(title)
    axes.set_xlabel(below)
    axes.set_ylim(lowest, 1.03)
    axes.set_ylabel("accuracy")


def part(store: Store, file: Path) -> str:
    """Figure and tables of trained-depth.md, in Markdown, from the records of suite full, and the
    published errors beside those of suite gpu; empty where nothing of suite full is recorded."""
    claims = {key: claim for key, claim in registry().items() if claim.topic == TOPIC}
    judged = [result for result in results(claims, SUITE, store) if result.cases]
    points = list(measured(judged))
    if not points:
        return ""
    draw(points, file)
    return "\n".join([*_page(judged, points), *published(results(claims, "gpu", store))])


def _page(judged: list[ClaimResult], points: list[Measured]) -> Iterator[str]:
    devices = ", ".join(sorted({p.device for p in points}))
    yield ("\n![Accuracy of trained nets, the local baseline and explicit weights against "
           "distance; of hops against depth](figures/trained-depth.png)\n")
    yield ("*All panels but the last: how often nets of L layers tell a pair at a distance from a "
           f"pair that is not connected (chance 1/2), on random paths of {_GRAPH['vertices']} "
           "vertices; dashed: 3^L. Grey: the local baseline, from one step beyond its radius on, "
           "which is written there. Last panel: share of positions answered, hop_k with k = 1, 2, "
           "4; dashed: ceil(log2 k) + 2. Points of trained nets pool three seeds, each on 16384 "
           "graphs (or 32768 sequences); explicit weights and the local baseline are rules "
           "without seeds, asked on 20480 graphs. Bars: Clopper-Pearson intervals of level "
           f"{1 - LEVEL:.2f} over independent test examples; dotted: 0.95. Device: {devices}. "
           "Records: listed at the end of this page, manifest "
           f"`{manifest([r for each in judged for r in each.records])['hash']}`.*\n")
    yield from _beside([p for p in points if p.task == "connectivity"])
    yield "## Reach and sight\n"
    yield from _rows(judged, _REACHES)
    yield "\n## Least depths\n"
    yield from _rows(judged, _LEAST)
    yield "\n## Trainings that succeeded\n"
    yield from _rows(judged, _SUCCESSES)
    yield "\n## Verdicts\n"
    yield from _verdicts(judged)
    yield "\n<details><summary>Records</summary>\n"
    yield ", ".join(f"`{p.record[:12]}`" for p in points) + "\n\n</details>\n"


def _beside(points: list[Measured]) -> Iterator[str]:
    """The local baseline and the nets by distance, and how near each net comes to which radius."""
    heights = {(p.net, p.depth, p.place): p.value.mean for p in points}
    radii = sorted({p.depth for p in points if p.net == _LOCAL})
    nets = sorted({(p.depth, p.net) for p in points if p.net in ("softmax", "linearised")},
                  key=lambda net: (net[0], net[1] != "softmax"))
    if not radii or not nets:
        return
    yield "## Local baseline and nets\n"
    yield (f"*Accuracy on random paths of {_GRAPH['vertices']} vertices, of the local baseline by "
           "its radius r (left; \u00b7 where the distance "
           "is at most r: there it is always right) and of trained nets of L layers (right).*\n")
    yield "| distance | " + " | ".join([f"r = {r}" for r in radii]
                                       + [f"L = {depth}, {net}" for depth, net in nets]) + " |"
    yield "|--:" * (1 + len(radii) + len(nets)) + "|"
    for place in _PLACES:
        near = ("\u00b7" if place <= r else _share(heights.get((_LOCAL, r, place))) for r in radii)
        yield (f"| {place} | " + " | ".join(
                   [*near, *(_share(heights.get((net, depth, place))) for depth, net in nets)])
               + " |")
    yield ("\n*The radius of these whose accuracies lie nearest to those of a net, by the sum of "
           f"squares over distances {_PLACES[0]} to "
           f"{_PLACES[-1]}; what intervals leave open stands under Reach and sight.*\n")
    yield ("| net | nearest radius | root of the mean square difference | largest difference, at "
           "distance |\n|---|--:|--:|---|")
    for depth, net in nets:
        gaps = {r: {place: ours - theirs for place in _PLACES
                    if (ours := heights.get((net, depth, place))) is not None
                    and (theirs := 1.0 if place <= r
                         else heights.get((_LOCAL, r, place))) is not None} for r in radii}
        whole = {r: fsum(gap**2 for gap in each.values()) / len(each) for r, each in gaps.items()
                 if len(each) == len(_PLACES)}
        if not whole:
            continue
        nearest = min(whole, key=lambda r: whole[r])
        where = max(gaps[nearest], key=lambda place: abs(gaps[nearest][place]))
        yield (f"| L = {depth}, {net} | {nearest} | {whole[nearest]**0.5:.3f} | "
               f"{gaps[nearest][where]:+.2f}, at {where} |")
    yield ""


def _share(value: float | None) -> str:
    return "-" if value is None else f"{value:.3f}"


def _rows(judged: list[ClaimResult], measured_: tuple[str, ...]) -> Iterator[str]:
    """The cases of the claims that measure one of these quantities."""
    yield "| claim | case | measured | stated | verdict |\n|---|---|---|---|---|"
    for result in judged:
        for row in result.cases:
            if (isinstance(row.measured, Ball)
                and measured_symbol(result.claim.statement, row.case).name in measured_):
                case = " ".join(f"{k}={v}" for k, v in row.case.fields().items() if k != "task"
                                or measured_ == _SUCCESSES)
                yield (f"| {md(result.claim.title)} | {md_code(case)} | "
                       f"{_range(row.measured, row.case.get('tried'))} | "
                       f"{md(result.claim.statement.rel_op)} {md(prediction(result.claim, row))} | "
                       f"{row.verdict_name} |")


def _verdicts(judged: list[ClaimResult]) -> Iterator[str]:
    """Of each claim what was expected before, what is known since, and the verdict."""
    yield "| claim | expected before | known since | verdict | cases |\n|---|---|---|---|---|"
    for result in judged:
        late = "\\*" if _name(result) in LATE else ""
        link, *rest = _verdict(result).strip("| ").split(" | ")
        yield (f"| {link} | {result.claim.expected}{late} | {result.claim.known or '-'} | "
               f"{' | '.join(rest)} |")
    yield ("\nExpected before: when anything of the claim was first recorded; known since: where "
           "that differs; verdict: of the records that this page is written from.\n")
    yield "\\* Not, or not in this form, written before nets had been recorded:\n"
    yield from (f"* `{result.claim.key}`: {md(LATE[name])}" for result in judged
                if (name := _name(result)) in LATE)


def _name(result: ClaimResult) -> str:
    return result.claim.name


def published(judged: Iterable[ClaimResult]) -> Iterator[str]:
    """The published errors of hop_k beside those of the nets trained again, by the verdicts of
    suite gpu, as lines of the page; one sentence where nothing is recorded."""
    found = {result.claim.key: result for result in judged}
    rows = {dropout: {(row.case.hops, row.case.depth): row for row in found[key].cases}
            for dropout, key in _PUBLISHED.items() if key in found}
    yield "\n## Published errors of hop_k\n"
    if not any(row.records for each in rows.values() for row in each.values()):
        yield ("Suite gpu has not been recorded, so that no errors of ours stand beside the "
               "published ones.\n")
        return
    devices = sorted({str(r.inputs.get("device", "")) for each in rows.values()
                      for row in each.values() for r in row.records})
    yield ("*Share of positions answered wrongly by nets of 4 heads and width 128, trained as "
           "published; one position of each fresh sequence, three seeds pooled, with "
           f"Clopper-Pearson intervals of level {1 - LEVEL:.2f} over sequences, and the record. "
           f"Published errors had dropout left on. Device: {', '.join(devices)}.*\n")
    yield ("| k | L | published error | ours, dropout on | ours, dropout off "
           "|\n|---|---|---|---|---|")
    for place, row in next(iter(rows.values())).items():
        ours = " | ".join(_error(rows.get(dropout, {}).get(place)) for dropout in (True, False))
        yield f"| {place[0]} | {place[1]} | {row.case.published_error} | {ours} |"
    yield "\n| claim | verdict | cases |\n|---|---|---|"
    yield from (_verdict(found[key]) for key in _PUBLISHED.values() if key in found)
    yield ""


def _error(row: CaseResult | None) -> str:
    """Error, interval and record of a case of which an accuracy is recorded."""
    if row is None or not isinstance(row.measured, Proportion) or not row.records:
        return "-"
    low, high = row.measured.interval(LEVEL)
    return f"{1 - row.measured.mean:.4f} [{1 - high:.4f}, {1 - low:.4f}] `{row.records[0].id[:12]}`"


def _verdict(result: ClaimResult) -> str:
    return (f"| [{result.claim.title}](claims/{result.claim.key}.md) | {result.verdict.value} | "
            f"{len(result.decided)} of {len(result.in_scope)} |")


def _range(value: Ball, tried: int | None) -> str:
    low, high = (f"more than {tried}" if tried and end > tried else f"{float(end):.4g}"
                 for end in (value.low, value.high))
    return low if low == high else f"{low} to {high}"

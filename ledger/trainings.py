"""Trained nets in docs/trained-depth.md: accuracy against distance and hops as a figure, least depths and published errors as tables, all
from records."""
from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from depthlaw.theory.measurement import Ball, Proportion

from . import terminal
from .figures import COLOURS, STYLE
from .records import Store, manifest
from .report import CaseResult, ClaimResult, results
from .suite import load_claims
from .typesetting import md, md_code

if TYPE_CHECKING:
    from matplotlib.axes import Axes

STEM = "trained_depth"
SUITE = "full"
# Level of the intervals drawn; the verdicts share another one, see `judgement.FALSE_ALARM_BUDGET`.
LEVEL = 0.05
_GRAPH = {"vertices": 24, "diameter": 23}
_NETS = {"explicit": ("S", "o", "explicit weights"), "bounded": ("several", "x", "a look around to $3^L$"),
         "softmax": ("lower", "s", "trained, softmax"),
         "linearised": ("upper", "^", "trained, linearised")}
# The claims of suite gpu that stand beside published errors, by whether dropout was left on.
_PUBLISHED = {True: f"{STEM}/published_dropout_on", False: f"{STEM}/published_dropout_off"}
# The claims on how many trainings succeed.
_SUCCESSES = "_converged"
_BEGIN, _END = "<!-- begin: trained nets -->", "<!-- end: trained nets -->"


@dataclass(frozen=True)
class Measured:
    """One accuracy: of which net, depth and distance (or hops), how many right of how many, and the record."""

    task: str
    net: str
    depth: int
    place: int
    value: Proportion
    record: str
    device: str


def measured(judged: Iterable[ClaimResult]) -> Iterator[Measured]:
    """Every accuracy that the trained-depth claims recorded, of the graphs drawn and of all hops."""
    for result in judged:
        for row in result.cases:
            case = row.case
            if not isinstance(row.measured, Proportion) or not row.records or "depth" not in case:
                continue
            record, device = row.records[0].id, str(row.records[0].inputs.get("device", ""))
            if all(case.get(name) == value for name, value in _GRAPH.items()):
                yield Measured("connectivity", case.net, case.depth, case.distance, row.measured, record, device)
            elif case.task == "hop_k":
                yield Measured("hop_k", "softmax", case.depth, case.hops, row.measured, record, device)


def draw(points: list[Measured], file: Path) -> None:
    """Accuracy against distance, a panel for each depth, with 3^L marked; and of hops against depth. The bytes depend on the points alone."""
    from matplotlib import style
    from matplotlib.backends.backend_agg import FigureCanvasAgg
    from matplotlib.figure import Figure

    depths = sorted({p.depth for p in points if p.task == "connectivity"})
    with style.context(["default", STYLE]):
        figure = Figure(figsize=(7.2, 5.2) if len(depths) < 4 else (9.6, 5.2), layout="constrained")
        FigureCanvasAgg(figure)
        panels = list(figure.subplots(2, len(depths) // 2 + 1, sharey=True, squeeze=False).flatten())
        for axes, depth in zip(panels, depths, strict=False):
            _distances(axes, depth, [p for p in points if p.task == "connectivity" and p.depth == depth])
        _hops(panels[len(depths)], [p for p in points if p.task == "hop_k"])
        for axes in panels[len(depths) + 1:]:
            axes.set_visible(False)
        handles, labels = panels[0].get_legend_handles_labels()
        figure.legend(handles, labels, loc="outside lower center", ncols=5)
        file.parent.mkdir(parents=True, exist_ok=True)
        figure.savefig(file, metadata={"Software": None})


def _distances(axes: Axes, depth: int, points: list[Measured]) -> None:
    for net, (colour, marker, label) in _NETS.items():
        _line(axes, [p for p in points if p.net == net], color=COLOURS[colour], marker=marker, label=label)
    axes.axvline(3**depth, color="#555555", linestyle="--", linewidth=1, label="$3^L$")
    _frame(axes, f"$L = {depth}$", "distance of the connected pair")
    axes.set_xlim(0, 28)
    axes.set_xticks([1, 3, 9, 15, 21, 27])


def _hops(axes: Axes, points: list[Measured]) -> None:
    from matplotlib.ticker import MaxNLocator

    for (hops, colour, marker) in zip(sorted({p.place for p in points}), ("lower", "one", "several"), "sov", strict=False):
        own = sorted((p for p in points if p.place == hops), key=lambda p: p.depth)
        _line(axes, own, by_depth=True, color=COLOURS[colour], marker=marker, label=f"$k = {hops}$")
        # Where ceil(log2 k) + 2 layers are expected to be enough.
        axes.axvline((hops - 1).bit_length() + 2, color=COLOURS[colour], linestyle="--", linewidth=1)
    _frame(axes, "hops, softmax", "depth $L$")
    axes.xaxis.set_major_locator(MaxNLocator(integer=True))
    axes.legend(loc="lower right", bbox_to_anchor=(0.97, 0.02))


def _line(axes: Axes, points: list[Measured], *, by_depth: bool = False, **look: Any) -> None:
    if not points:
        return
    points = sorted(points, key=lambda p: p.depth if by_depth else p.place)
    ends = [p.value.interval(LEVEL) for p in points]
    heights = [p.value.mean for p in points]
    bars = [[h - low for h, (low, _) in zip(heights, ends, strict=True)], [high - h for h, (_, high) in zip(heights, ends, strict=True)]]
    axes.errorbar([p.depth if by_depth else p.place for p in points], heights, yerr=bars, markersize=3, linewidth=1, elinewidth=0.8, **look)


def _frame(axes: Axes, title: str, below: str) -> None:
    axes.axhline(0.95, color="#999999", linewidth=0.8, linestyle=":")
    axes.set_title(title)
    axes.set_xlabel(below)
    axes.set_ylim(0, 1.03)
    axes.set_ylabel("accuracy")
    axes.yaxis.set_tick_params(labelleft=True)


def write(docs: Path, store: Store) -> Path | None:
    """Write figure and tables into trained-depth.md from the records of suite full, and the published errors beside those of suite gpu; None
    where there are none of suite full.

    Raises:
        ValueError: for a page without the marks between which they stand.
    """
    claims = {key: claim for key, claim in load_claims().items() if claim.stem == STEM}
    judged = [result for result in results(claims, SUITE, store) if result.cases]
    points = list(measured(judged))
    if not points:
        return None
    file = docs / "trained-depth.md"
    before, begin, rest = file.read_text(encoding="utf-8").partition(_BEGIN)
    _, end, after = rest.partition(_END)
    if not begin or not end:
        raise ValueError(f"{file} lacks {_BEGIN} or {_END}: put them where the tables shall stand")
    draw(points, docs / "figures" / "trained-depth.png")
    file.write_text("\n".join([before + begin, *_page(judged, points), *published(results(claims, "gpu", store)), end]) + after, encoding="utf-8")
    return file


def _page(judged: list[ClaimResult], points: list[Measured]) -> Iterator[str]:
    devices = ", ".join(sorted({p.device for p in points}))
    yield "\n![Accuracy of trained nets and of explicit weights against distance and hops](figures/trained-depth.png)\n"
    yield ("*All panels but the last: how often nets of L layers tell a pair at a distance from a pair that is not connected (chance 1/2), on "
           f"random paths of {_GRAPH['vertices']} vertices; dashed: 3^L. Last panel: share of positions answered, hop_k with k = 1, 2, 4; dashed: "
           "ceil(log2 k) + 2. Points of trained nets pool three seeds, each on 16384 graphs (or 32768 sequences); explicit weights and the look "
           f"around are rules without seeds, asked on 20480 graphs. Bars: Clopper-Pearson intervals of level {1 - LEVEL:.2f} over independent test "
           f"examples; dotted: 0.95. Device: {devices}. Records: "
           f"listed at the end of this page, manifest `{manifest([r for each in judged for r in each.records])['hash']}`.*\n")
    yield "## Least depths\n"
    yield "| expected | case | seed | least depth measured | stated | verdict |\n|---|---|---|---|---|---|"
    for result in judged:
        for row in result.cases:
            if isinstance(row.measured, Ball) and not result.claim.key.endswith(_SUCCESSES):
                case = " ".join(f"{k}={v}" for k, v in row.case.fields().items() if k not in ("seeds", "task"))
                verdict = row.decision.verdict.value
                found = _range(row.measured, row.case.get("tried"))
                yield (f"| {md(result.claim.title)} | {md_code(case)} | {row.case.get('seeds', 'median')} | {found} | "
                       f"{md(result.claim.statement.rel_op)} {md(terminal.prediction(result.claim, row))} | {verdict} |")
    yield "\n## Trainings that succeeded\n"
    yield "| case | share of the seeds | verdict |\n|---|---|---|"
    for result in judged:
        for row in result.cases:
            if isinstance(row.measured, Ball) and result.claim.key.endswith(_SUCCESSES):
                yield f"| {md_code(str(row.case))} | {float(row.measured.low):.2g} | {row.decision.verdict.value} |"
    yield "\n## Verdicts\n"
    yield "| claim | verdict | cases |\n|---|---|---|"
    yield from map(_verdict, judged)
    yield "\n<details><summary>Records</summary>\n"
    yield ", ".join(f"`{p.record[:12]}`" for p in points) + "\n\n</details>\n"


def published(judged: Iterable[ClaimResult]) -> Iterator[str]:
    """The published errors of hop_k beside those of the nets trained again, as lines of the page; one sentence where nothing is recorded.

    Args:
        judged: of suite gpu; claims about anything else are passed over.
    """
    found = {result.claim.key: result for result in judged}
    rows = {dropout: {(row.case.hops, row.case.depth): row for row in found[key].cases} for dropout, key in _PUBLISHED.items() if key in found}
    yield "\n## Published errors of hop_k\n"
    if not any(row.records for each in rows.values() for row in each.values()):
        yield "Suite gpu has not been recorded, so that no errors of ours stand beside the published ones.\n"
        return
    devices = sorted({str(r.inputs.get("device", "")) for each in rows.values() for row in each.values() for r in row.records})
    yield ("*Share of positions answered wrongly by nets of 4 heads and width 128, trained as published; one position of each fresh sequence, "
           "three seeds pooled, with Clopper-Pearson intervals of level "
           f"{1 - LEVEL:.2f} over sequences, and the record. Published errors had dropout left on. Device: {', '.join(devices)}.*\n")
    yield "| k | L | published error | ours, dropout on | ours, dropout off |\n|---|---|---|---|---|"
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
    return f"| [{result.claim.title}](claims/{result.claim.key}.md) | {result.verdict.value} | {len(result.decided)} of {len(result.in_scope)} |"


def _range(value: Ball, tried: int | None) -> str:
    low, high = (f"more than {tried}" if tried and end > tried else f"{float(end):.4g}" for end in (value.low, value.high))
    return low if low == high else f"{low} to {high}"

"""The explorer, a page of sliders and plots that works without a server: what it shows is computed
here, by the advisor, the claims and the records, and written beside it as one script of data.
"""

from __future__ import annotations

import itertools
import json
import math
import shutil
import sys
from collections.abc import Iterable, Iterator, Sequence
from fractions import Fraction
from importlib.metadata import version
from pathlib import Path
from typing import Any

import flint
from flint import arb, arb_mat

from depthlaw.advisor import laws
from depthlaw.advisor.answer import LawNumber
from depthlaw.advisor.base.quantities import parse_budget
from depthlaw.advisor.models import models
from depthlaw.advisor.recommendation import recommend
from depthlaw.advisor.rule_scores import Interval
from depthlaw.advisor.rules import rules
from depthlaw.advisor.task_depths import TaskNumber
from depthlaw.advisor.words import layers
from depthlaw.empirics.separation_rank.frontier import entries
from depthlaw.theory.claims.definition import Case, at, find
from depthlaw.theory.claims.rounding import LEVEL, interval
from depthlaw.theory.claims.values import Ball, Exact, Sample
from depthlaw.theory.claims.verdict import Verdict
from depthlaw.theory.rank_collapse.doubly_exponential import next_pair
from depthlaw.theory.rank_collapse.softmax_attention import (
    SoftmaxHead,
    ball_composite_norm,
    centred,
    instance,
)
from depthlaw.theory.separation_rank.dimension_count import log3_dimension_count

from ...records.store import decode, manifest, write_file
from ...verdicts.estimates import middle
from ...verdicts.record_source import Recorded
from ...verdicts.suite_verdicts import marked
from ..drawing.rank_panels import log3_bound
from ..tables import csv_rows
from . import interactive
from .front_page import BUDGETS, advised

# --- the grids of the controls --------------------------------------------------------------------

WIDTHS = (*range(2, 17), *(m * 2**k for k in range(4, 14) for m in ((2, 3) if k < 13 else (2,))))
HEADS = (1, 2, 4, 8, 16)
LAYERS = 20
# With every size from which a task needs a layer more, so that steps are drawn where they are.
_DIAMETERS = (
    "16 20 24 27 28 32 40 48 64 80 81 82 100 128 160 200 243 244 256 300 400 512 600 729 730 800"
)
SIZES = {
    "connectivity": (*range(1, 13), *map(int, _DIAMETERS.split()), 1000),
    "hops": (*range(1, 13), 15, 16, 17, 20, 24, 31, 32, 33, 48, 63, 64, 65, 96, 128, 129, 192, 256),
    "regular": (*(2**k + more for k in range(1, 16) for more in (0, 1)), 2**16),
}
OPTIONS = {"connectivity": "diameter", "hops": "hops", "regular": "length"}
# Residuals of the input, bounds beta on the weights, layers of the picture of collapse.
STARTS, BETAS, COLLAPSE = ("1/1000", "1/100", "1/10", "1/2", "1"), ("1/4", "1", "4"), 12
# Of the nets that collapse: those that rank_collapse/doubly_exponential_slope draws.
_TOKENS, _WIDTH = 6, 4

Curve = dict[str, Any]


def write(source: Path, out: Path, recorded: Recorded) -> dict[Path, str]:
    """Write the explorer into a folder of its own: the page with the figure of a reader's own
    model, and data.js. Returned are the files of the figure, which belong beside that folder.

    Args:
        source: docs/explorer, with the curves that `main` has written.
        out: replaced; claim pages are linked as ../claims/TOPIC/NAME.html, and the figure's scripts
            as ../_static/figures/model.js.
        recorded: whose verdicts and measured values are shown.

    Cost: three seconds.
    """
    data = _data(recorded, kept(source))
    shutil.rmtree(out, ignore_errors=True)
    shutil.copytree(source, out, ignore=shutil.ignore_patterns(_CURVES))
    page = out / "index.html"
    text = page.read_text(encoding="utf-8")
    figures = interactive.FigureSource(source.parent)
    page.write_text(figures.filled(text, Path(page.parent.name, page.name)), encoding="utf-8")
    text = json.dumps(data, separators=(",", ":"), ensure_ascii=True, allow_nan=False)
    (out / "data.js").write_text(f"window.depthlaw = {text};\n", encoding="ascii")
    return figures.files(out.parent)


_CURVES = "curves.json"


def kept(source: Path) -> dict[str, Any]:
    """The curves beside the page, as `curves` computes them."""
    read: dict[str, Any] = json.loads((source / _CURVES).read_text(encoding="ascii"))
    return read


def curves() -> dict[str, Any]:
    """What the plots of rules, ranks and collapse draw of the advisor, formulas and exact nets
    alone, by plot; no record takes part.

    Cost: fifteen seconds.
    """
    return {"rules": by_rule(), "ranks": _rank_frames(), "collapse": _collapse_frames()}


def _data(recorded: Recorded, drawn: dict[str, Any]) -> dict[str, Any]:
    panels: dict[str, Any] = {
        "rules": drawn["rules"],
        "thresholds": thresholds(recorded),
        "ranks": ranks(recorded, drawn["ranks"]),
        "collapse": collapse(recorded, drawn["collapse"]),
        "tasks": tasks(recorded),
    }
    groups = (panel["curves"] for panel in panels.values())
    lists = (part for g in groups for part in (g.values() if isinstance(g, dict) else (g,)))
    curves = itertools.chain.from_iterable(lists)
    named = {key for curve in curves for key in (*curve["claims"], *curve["related"])}
    held = manifest(recorded.store)
    return {
        "about": {
            "version": version("depthlaw"),
            "manifest": held["hash"],
            "records": len(held["runs"]),
        },
        "claims": {key: _claim(recorded, key) for key in sorted(named)},
        "grids": {
            "budgets": BUDGETS,
            "parameters": [parse_budget(budget) for budget in BUDGETS],
            "widths": WIDTHS,
            "heads": HEADS,
            "layers": LAYERS,
            "sizes": SIZES,
            "options": OPTIONS,
            "collapse": COLLAPSE,
            "starts": STARTS,
            "betas": BETAS,
        },
        **panels,
    }


def _claim(recorded: Recorded, named: str) -> dict[str, str]:
    """What a legend says of a claim, or of a claim in one suite, KEY@SUITE."""
    key, _, suite = named.partition("@")
    claim = recorded.claims[key]
    result = recorded.of(suite, key) if suite else recorded.judged(key)
    return {
        "key": key,
        "suite": suite,
        "title": claim.plain.entitled,
        "wording": claim.wording,
        "verdict": marked(result) if result else "not run",
    }


def _curves(panel: str) -> list[Curve]:
    """The curves of a panel that are the same whatever is recorded (curves.csv)."""
    return [
        _curve(
            row["key"],
            row["label"],
            *row["claims"].split(),
            colour=int(row["colour"]),
            related=row["related"].split(),
            **{name: row[name] for name in ("short", "mark", "dash", "basis")},
        )
        for row in csv_rows(__package__, "curves.csv")
        if row["panel"] == panel
    ]


def _curve(key: str, label: str, *claims: str, **drawn: Any) -> Curve:
    """How one curve is called and drawn, and the claims that stand behind it.

    Args:
        claims: which say that the curve is where it is drawn; their verdicts are shown.
        related: claims on something else, such as the algebra of inverting a rule, or a bound that
            dots are compared with; no verdict is shown, which would be read as one on the curve.
        colour: a number.
        mark: line, step, dots, rings, crosses, band or rule (a vertical line).
        dash: of lines, as SVG writes it.
        basis: where it is from, if there is no claim.
        short: what is written at the end of the curve; nothing beside single points.
    """
    default: Curve = {"related": (), "mark": "line", "dash": "", "basis": "", "short": ""}
    return default | {"key": key, "label": label, "claims": claims} | drawn


def _short(value: float | None) -> float | int | None:
    """Six digits, which no picture exceeds."""
    if value is None or not math.isfinite(value):
        return None
    short = float(f"{value:.6g}")
    return int(short) if short.is_integer() and abs(short) < 1e15 else short


def _shorts(values: Iterable[float | None]) -> list[float | int | None]:
    return [_short(value) for value in values]


# --- depth against size ---------------------------------------------------------------------------


def by_rule() -> dict[str, Any]:
    """Depth against size for standard nets: as recommended, and by every rule."""
    plain = [advised(b) for b in BUDGETS]
    plain_rules = [rule for rule in rules() if rule.key in _RULES]
    curves = _curves("rules")
    within = [a.interval for a in plain]
    nets = [a.shape.architecture for a in plain if a.shape]
    series: dict[str, Any] = {
        "recommended": [net.layers for net in nets],
        "within": {
            "low": [i and i.low for i in within],
            "high": [i and i.high for i in within],
            "text": [i and f"{i.ends}{_outside(i)}" for i in within],
        },
    }
    for place, rule in enumerate(plain_rules):
        curves.append(
            _curve(
                rule.key,
                f"{rule.name} ({rule.meaning}; {rule.wording})",
                related=[rule.claim] if rule.claim else [],
                short=_RULES[rule.key],
                colour=1 + place % 4,
                dash=("", "6 3", "2 3")[place // 4],
                basis=rule.source,
            )
        )
        of_plain = [next((law for law in a.laws if law.key == rule.key), None) for a in plain]
        series[rule.key] = {
            "y": _shorts(law.depth if law else None for law in of_plain),
            "text": [law and f"{law.depth:.1f} layers{_outside(law)}" for law in of_plain],
        }
    return {
        "shapes": [[net.layers, net.width, net.heads] for net in nets],
        "curves": curves,
        "x": [parse_budget(b) for b in BUDGETS],
        "series": series,
    }


def _outside(number: Interval | LawNumber | TaskNumber) -> str:
    return ", extrapolated" if number.extrapolated else ""


# Rules for standard nets whose depth the plot shows, as its curves are labelled. The others are
# special cases of these, or restate the nets of one grid.
_RULES = {
    "threshold": "threshold",
    "levine": "Levine",
    "kaplan": "Kaplan",
    "nanochat": "nanochat",
    "marin": "Marin",
    "delusion": "Delusion",
    "prenorm": "d / L = 60",
    "knee": "knee",
}


# --- thresholds -----------------------------------------------------------------------------------


def thresholds(recorded: Recorded) -> dict[str, Any]:
    """Width and depth: the threshold, the knee, Levine's transition, nets of one size, models."""
    (first, last), knee = laws.FIT_DEPTHS, recorded.claims["separation_rank/knee"]
    near = [m for m in models() if m.kind == "decoder" and m.width <= WIDTHS[-1]]
    fitted = range(first, last + 1)
    equal = [
        [(laws.width_at(parse_budget(b), depth), depth) for depth in range(1, 129)] for b in BUDGETS
    ]
    return {
        "curves": _curves("thresholds"),
        "series": {
            "threshold": {"x": WIDTHS, "y": _shorts(math.log(d, 3) for d in WIDTHS)},
            "knee": {
                "x": WIDTHS,
                "y": _shorts(float(at(knee.statement.rhs.args[0], Case(width=d))) for d in WIDTHS),
            },
            "levine": {
                "x": [round(math.exp(laws.FIT_A + laws.FIT_B * L)) for L in fitted],
                "y": [*fitted],
            },
            "models": {
                "x": [m.width for m in near],
                "y": [m.layers for m in near],
                "text": [m.name for m in near],
            },
        },
        "equal": [
            {
                "x": _shorts(d for d, _ in line if WIDTHS[0] <= d <= WIDTHS[-1]),
                "y": [depth for d, depth in line if WIDTHS[0] <= d <= WIDTHS[-1]],
            }
            for line in equal
        ],
    }


# --- separation ranks -----------------------------------------------------------------------------


def ranks(recorded: Recorded, curves: dict[str, Any]) -> dict[str, Any]:
    """log_3 of the separation rank against depth, for each width and number of heads: curves, and
    recorded ranks."""
    frames = {frame: dict(drawn) for frame, drawn in curves.items()}
    for (name, width, heads), points in _points(recorded).items():
        if f"{width},{heads}" in frames:
            frames[f"{width},{heads}"][name] = points
    return {"curves": _curves("ranks"), "frames": frames}


def _rank_frames() -> dict[str, Any]:
    """Bounds, the dimension count, threshold and knee."""
    known: dict[tuple[str, ...], float] = {}
    claims = {name: find(f"separation_rank/{name}") for name in (*_BOUNDS, "knee")}
    layers_of = range(1, LAYERS + 1)

    def bound_at(name: str, case: Case) -> float | None:
        """What a claim says, at least 0; None where an assumption does not hold."""
        claim = claims[name]
        if claim.broken(case) is not None:
            return None
        # Some bounds do not depend on the width, some not on the number of heads.
        symbols = sorted(symbol.name for symbol in claim.statement.rhs.free_symbols)
        place = (name, *(str(case.get(symbol)) for symbol in symbols))
        if place not in known:
            known[place] = log3_bound(claim, case)
        return known[place]

    frames = {}
    for width in WIDTHS:
        counts = _shorts(log3_dimension_count(width, depth)[1] for depth in layers_of)
        knee = int(claims["knee"].predict(Case(width=width)))
        for heads in (h for h in HEADS if h <= width):
            shape = {"width": width, "heads": heads, "tokens": 2 * width + 2}
            cases = [Case(depth=depth, **shape) for depth in layers_of]
            frames[f"{width},{heads}"] = {
                "S": counts,
                **{name: _shorts(bound_at(name, case) for case in cases) for name in _BOUNDS},
                "threshold": {"x": [_short(math.log(width, 3))]},
                "knee": {"x": [knee]},
            }
    return frames


_BOUNDS = (
    "upper_bound_shallow",
    "upper_bound_deep",
    "lower_bound_shallow",
    "lower_bound_deep",
    "product_lower_bound",
)


def _points(recorded: Recorded) -> dict[tuple[str, int, int], dict[str, Any]]:
    """Recorded ranks by curve, width and heads."""
    by_net: dict[tuple[str, int, int], list[tuple[int, int, str]]] = {}
    exact = recorded.claims["separation_rank/exact"]
    keys = (exact.key, "separation_rank/exact_below_count")
    for entry in entries(recorded.rows(*keys)):
        if not entry.complete:
            continue
        case = Case(width=entry.width, depth=entry.depth, heads=1)
        name = "certified" if exact.certified and exact.certified(case) else "exact"
        says = f"rank {'' if entry.settled else 'at least '}{entry.rank:,}"
        by_net.setdefault((name, entry.width, 1), []).append((entry.depth, entry.rank, says))
    for (width, depth, heads), rank in _ranks_of_several_heads(recorded).items():
        by_net.setdefault(("measured", width, heads), []).append((depth, rank, f"rank {rank:,}"))
    return {
        shape: {
            "x": [depth for depth, _, _ in sorted(points)],
            "y": _shorts(math.log(rank, 3) for _, rank, _ in sorted(points)),
            "text": [says for _, _, says in sorted(points)],
        }
        for shape, points in by_net.items()
    }


def _ranks_of_several_heads(recorded: Recorded) -> dict[tuple[int, int, int], int]:
    """By width, depth and heads, of nets without residual connections: the largest rank over the
    seeds of the case with the most tokens."""
    result, ranks = recorded.judged("separation_rank/dimension_count"), {}
    rows = sorted(result.cases if result else (), key=lambda row: row.case.get("tokens", 0))
    for row in rows:
        case = row.case
        # A rank of too few inputs leaves the claim undecided, and is none of the net.
        decided = row.decision.verdict in (Verdict.HOLDS, Verdict.FAILS)
        if decided and case.get("heads", 1) > 1 and not case.get("residual", False):
            values = (decode(record.result) for record in row.records)
            seeds = [int(value.value) for value in values if isinstance(value, Exact)]
            ranks[case.width, case.depth, case.heads] = max(seeds)
    return ranks


# --- rank collapse --------------------------------------------------------------------------------


def collapse(recorded: Recorded, curves: dict[str, Any]) -> dict[str, Any]:
    """Orders of magnitude below 1 of the residual, layer by layer: one drawn net with and without
    mask and skips, the bound; and nets of BERT's shape."""
    return {
        "curves": _curves("collapse"),
        "series": {"bert": _bert(recorded)},
        "frames": curves,
        "net": {"tokens": _TOKENS, "width": _WIDTH},
    }


def _collapse_frames() -> dict[str, Any]:
    return {
        f"{start},{beta},{heads}": _passes(start, beta, heads)
        for start in STARTS
        for beta in BETAS
        for heads in HEADS
    }


def _passes(start: str, beta: str, heads: int) -> dict[str, Any]:
    shape = {"tokens": _TOKENS, "width": _WIDTH, "heads": heads, "depth": COLLAPSE}
    case = Case(**shape, residual=start, beta=beta, qk_width=1, bias=0)
    mask = arb_mat([[int(j <= i) for j in range(_TOKENS)] for i in range(_TOKENS)])
    with flint.ctx.workprec(256):
        tokens, heads_of = instance(case)
        alone, gammas, ranges = [*_residuals(tokens, heads_of)], arb(0), []
        for residual, layer in zip(alone, heads_of, strict=False):
            for head in layer:
                one, infinity = head.gammas(residual)
                gammas = gammas.max((one * infinity).sqrt())
                entries_of = itertools.chain.from_iterable(head.perturbation(residual).tolist())
                ranges.append(2 * max(abs(entry).upper() for entry in entries_of))
        curves = {
            "alone": alone,
            "causal": [*_residuals(tokens, heads_of, mask)],
            "skip": [*_residuals(tokens, heads_of, skip=True)],
        }
        # -log10 of the composite norms.
        ten = arb(10).log()
        heights = {
            name: _shorts(float(-ball_composite_norm(residual).log() / ten) for residual in curve)
            for name, curve in curves.items()
        }
        # Rounded up, so that it bounds every gamma that was computed.
        gamma = Fraction(math.ceil(float(gammas.upper()) * 10**6) + 1, 10**6)
        small = bool(max(ranges) <= arb(157) / 125)
    claim, bounds = find("rank_collapse/layers_uniform"), []
    for depth in range(1, COLLAPSE + 1):
        at_depth: dict[str, Any] = {"depth": depth, "gamma": str(gamma), "lipschitz": 1}
        bound = float(claim.predict(Case(**case.fields() | at_depth)))
        # A bound above 1 says nothing of a collapse.
        bounds.append(-bound / math.log(10) if small and bound < 0 else None)
    return {**heights, "bound": [heights["alone"][0], *_shorts(bounds)]}


def _residuals(
    tokens: arb_mat,
    layers: Sequence[Sequence[SoftmaxHead]],
    mask: arb_mat | None = None,
    skip: bool = False,
) -> Iterator[arb_mat]:
    """The residual before the first layer and after each."""
    residual = centred(tokens)
    mean = arb_mat([(tokens - residual).tolist()[0]])
    yield residual
    for layer in layers:
        mean, residual = next_pair(mean, residual, layer, mask, skip)
        yield residual


def _bert(recorded: Recorded) -> dict[str, Any]:
    """Means and 95 % intervals of the relative residual, as orders of magnitude below 1."""
    by_layer = sorted(
        (int(row.case.layer), row.measured)
        for row in recorded.rows("rank_collapse/bert_init_collapse")
        if isinstance(row.measured, Sample)
    )
    return {
        "x": [layer for layer, _ in by_layer],
        "y": _shorts(-math.log10(value.mean) for _, value in by_layer),
        "text": [
            f"relative residual {middle(value)}, 95 % {interval(*value.interval(LEVEL))}, "
            f"{len(value.values)} nets"
            for _, value in by_layer
        ],
    }


# --- tasks ----------------------------------------------------------------------------------------

# The claims on the least depth of trained nets.
_LEAST_OF_NETS = {
    "connectivity": ("trained_depth/connectivity_least_depth",),
    "hops": ("trained_depth/hops_enough", "trained_depth/hops_needed"),
}


def tasks(recorded: Recorded) -> dict[str, Any]:
    """Depths that tasks need, as `depthlaw depth --task` answers, and trained nets."""
    curves, series = dict[str, Any](), dict[str, Any]()
    for task, sizes in SIZES.items():
        data: dict[str, dict[str, Any]] = {}
        names: dict[str, Curve] = {}
        for size in sizes:
            first = recommend(task=task, **{OPTIONS[task]: size}).tasks[0]
            for place, number in enumerate(first.numbers):
                key = first.labels[place] if first.labels else number.meaning
                line = data.setdefault(key, {"x": [], "y": []})
                line["x"].append(size)
                line["y"].append(number.layers)
                name = number.name.split(", n = ")[0]
                if key not in names:
                    names[key] = _curve(
                        key,
                        f"{name}: {number.meaning}",
                        *([number.claim] if number.claim else []),
                        colour=len(names),
                        mark="line" if number.meaning == "measured" else "step",
                        dash=("", "6 3", "2 3")[len(names)],
                        basis=number.source,
                        short=name.split()[0],
                    )
                if number.meaning == "measured":
                    # A fit is no whole number of layers.
                    fit = laws.trained_layers_for_a5(size)
                    line["y"][-1] = _short(fit) if fit >= 1 else None
                    line.setdefault("text", []).append(f"{fit:.1f} layers{_outside(number)}")
        if task == "hops":
            # The advisor leaves it out where it is the same number.
            data["claimed"] = {"x": sizes, "y": [*map(laws.layers_for_hops_printed, sizes)]}
        for kind, points, colour, mark in _trained(recorded, task):
            names[f"{task} {kind}"] = _curve(
                f"{task} {kind}",
                f"least depth that trained nets needed ({kind}, median seed)",
                related=list(_LEAST_OF_NETS[task]),
                basis="measured",
                colour=colour,
                mark=mark,
            )
            data[f"{task} {kind}"] = points
        curves[task], series[task] = list(names.values()), data
    return {"curves": curves, "series": series}


def _trained(recorded: Recorded, task: str) -> Iterator[tuple[str, dict[str, Any], int, str]]:
    """Least depths of trained nets by kind of net and size of the task, of the median seed."""
    kinds: dict[str, list[tuple[int, int, int]]] = {}
    for row in recorded.rows(*_LEAST_OF_NETS.get(task, ())[:1]):
        if row.case.seeds == "median" and isinstance(ball := row.measured, Ball):
            kind = str(row.case.get("net", row.case.task)).replace("_", " ")
            point = int(row.case.get(OPTIONS[task])), int(ball.low), int(ball.high)
            kinds.setdefault(kind, []).append(point)
    for place, (kind, points) in enumerate(sorted(kinds.items())):
        sizes, lows, highs = map(list, zip(*sorted(points), strict=True))
        text = [
            layers(low) if low == high else f"{low} to {layers(high)}"
            for low, high in zip(lows, highs, strict=True)
        ]
        drawn = {"x": sizes, "y": highs, "low": lows, "text": text}
        yield kind, drawn, 3 + place, ("dots", "crosses")[place % 2]


def main(docs: Path) -> None:
    """Write the curves beside the page: python -m depthlaw.ledger.publish.site.explorer DOCS."""
    plots = (
        f"{json.dumps(plot)}: {{\n" + ",\n".join(_line(*frame) for frame in frames.items()) + "\n}"
        for plot, frames in curves().items()
    )
    text = "{\n" + ",\n".join(plots) + "\n}\n"
    write_file(docs / "explorer" / _CURVES, text.encode("ascii"))


def _line(name: str, frame: dict[str, Any]) -> str:
    return f"{json.dumps(name)}: {json.dumps(frame, separators=(',', ':'), allow_nan=False)}"


if __name__ == "__main__":
    main(Path(sys.argv[1]))

"""The figures of the appendix: what is drawn is recorded or follows from a statement, and so is
every number of a caption."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from math import log
from typing import Literal

from depthlaw.empirics.depth_width.ablation import BUDGETS
from depthlaw.empirics.figure_data import LEVEL, Found, Panel, Series
from depthlaw.empirics.separation_rank.frontier import entries
from depthlaw.empirics.separation_rank.frontier import table as frontier_table
from depthlaw.empirics.trained_depth.cycle_reach import WALLS
from depthlaw.empirics.trained_rank.floors import FLOORS
from depthlaw.theory.claims.definition import at
from depthlaw.theory.claims.values import Ball, Case, Sample
from depthlaw.theory.claims.verdict import Verdict

from ...verdicts.judged_ledger import Recorded
from ...verdicts.report import CaseResult, marked
from ..appendix.typesetting import verdict
from ..intervals import CONFIDENCE
from .line_plot import line_plot
from .site_figures import exact_ranks

__all__ = ["Plate", "plates"]

# Panels of the first figure: widths below, at and above those that a bound says something of.
_WIDTHS = (2, 4, 10, 16)


@dataclass(frozen=True)
class Plate:
    """A figure of the appendix, drawn for the width of a page.

    Attributes:
        name: of its files, without ending.
        title: in one line, plain text.
        caption: what is drawn, in Markdown with maths between dollars.
        alt: what is seen, in plain text.
        claims, records: keys and ids of what is drawn.
        drawn: (png, svg or pdf) -> the file; its bytes depend on the records and the version of
            matplotlib alone.
    """

    name: str
    title: str
    caption: str
    alt: str
    claims: tuple[str, ...]
    records: tuple[str, ...]
    drawn: Callable[[Literal["png", "svg", "pdf"]], bytes] = field(repr=False)


def plates(recorded: Recorded, keys: Collection[str] | None = None) -> list[Plate]:
    """The figures of which something is recorded, in their order.

    Args:
        keys: only figures that draw one of these claims; None: all.
    """
    made = (make(recorded) for make in (_separation_rank, _collapse, _walls, _floors))
    return [
        plate
        for plate in made
        if plate is not None and (keys is None or not set(keys).isdisjoint(plate.claims))
    ]


# --- separation rank against depth ----------------------------------------------------------------


def _separation_rank(recorded: Recorded) -> Plate | None:
    shared = [claim for claim in recorded.claims.values() if claim.table is frontier_table]
    rows = {
        row.case: row
        for claim in shared
        for suite in claim.grid
        if (result := recorded.of(suite, claim.key))
        for row in result.cases
        if row.records
    }
    found = [
        entry for entry in entries(list(rows.values())) if entry.complete and entry.width in _WIDTHS
    ]
    if not found:
        return None
    shapes = {(entry.width, entry.depth) for entry in found}
    drawn = [row for row in rows.values() if (row.case.width, row.case.depth) in shapes]
    settled = [entry for entry in found if entry.settled]
    below = [
        f"{entry.rank:,} in place of {entry.count:,} at $d_x = {entry.width}$, $L = {entry.depth}$"
        for entry in settled
        if entry.rank < entry.count
    ]
    equal = sum(entry.rank == entry.count for entry in settled)
    outside = sum(
        any(bound and bound.verdict is Verdict.FAILS for bound in entry.bounds) for entry in settled
    )
    bounds = [
        recorded.claims[f"separation_rank/{side}_bound_{regime}"]
        for side in ("upper", "lower")
        for regime in ("shallow", "deep")
    ]
    words = ", ".join(sorted({claim.wording for claim in bounds}))
    caption = (
        f"Sums of the graded ranks of one head for almost all weights, exact in {len(settled)} of "
        f"{len(found)} entries drawn (circles), on a scale of $\\log_3$. With "
        f"$N \\ge 2 (d_x + 1)$ tokens such a sum is the separation rank"
        f"{_word(recorded, 'separation_rank/graded_rank')}. Of these {equal} equal the dimension "
        f"count $S(d_x, L)$ (solid), an upper bound for any number of heads"
        f"{_word(recorded, 'separation_rank/dimension_count')}"
        f"{'; the sum is ' + ' and '.join(below) if below else ''}. Dashed and dotted: upper and "
        f"lower bounds of Theorems 1 and 2 of [@levine2020], {words}; a lower bound of height 0 "
        "says nothing. Vertical lines: the threshold $\\log_3 d_x$, and the knee of $S$, where "
        f"$C(L) = (3^L - 1)/2$ reaches $2D = d_x (d_x + 1)$.{_refuted(recorded)}"
    )
    return Plate(
        "separation-rank",
        "Separation rank against depth",
        caption,
        f"Panels for widths {_list(sorted({entry.width for entry in found}))}: logarithm of the "
        f"separation rank against depth. Of {len(settled)} exact ranks {equal} lie on the curve of "
        f"the dimension count and {len(settled) - equal} just below it; {outside or 'none'} "
        f"{'lies' if outside == 1 else 'lie'} outside the lower and upper bounds.",
        *_sources(drawn, (claim.key for claim in shared)),
        lambda form: exact_ranks(found, form, _WIDTHS, columns=len(_WIDTHS)),
    )


def _word(recorded: Recorded, key: str) -> str:
    """By which claim a caption says something, with its verdict; empty where it is not known."""
    result = recorded.judged(key)
    return f" (`{key}`, {verdict(marked(result))})" if result else ""


def _refuted(recorded: Recorded) -> str:
    """Where the recalled upper bound fails, which is beyond the depths that are drawn."""
    result = recorded.judged("separation_rank/upper_bound_deep")
    worst = result.counterexample if result else None
    if worst is None:
        return ""
    at_ = f"$d_x = {worst.case.width}$, $L = {worst.case.depth}$, $H = {worst.case.heads}$"
    return f" Beyond the threshold the upper bound FAILS, at {at_}."


# --- rank collapse --------------------------------------------------------------------------------

# The slope of log(-log r_l) for exact nets that differ in what the logits hold or what is added.
_CUBIC, _BROKEN = "doubly_exponential_slope", "slope_below_cubic"
_EXACT = {"causal": "causal mask", "positions": "positions", "skip": "with skips"}
# By how much the drop of log r grows from layer to layer in real architectures.
_BY_CONTENT, _BY_PLACE = "cubic_drop", "slower_with_positions_or_mask"
_NAMES = {
    "bert": "BERT",
    "albert": "ALBERT",
    "xlnet": "XLNet",
    "t5": "T5",
    "gpt2": "GPT-2",
    "llama": "Llama",
    "mistral": "Mistral",
    "qwen2": "Qwen2",
    "qwen3": "Qwen3",
}


def _collapse(recorded: Recorded) -> Plate | None:
    slopes = {name: _recorded(recorded, f"rank_collapse/{name}") for name in (_CUBIC, _BROKEN)}
    growths = {
        name: _largest(_recorded(recorded, f"rank_collapse/{name}"))
        for name in (_BY_CONTENT, _BY_PLACE)
    }
    layers = {
        name: _recorded(recorded, f"rank_collapse/{name}")
        for name in ("bert_init_collapse", "bert_plateau_is_rounding", "bert_init_full_curve")
    }
    made = [
        (_slope_panel(slopes), slopes),
        (_growth_panel(growths), growths),
        (_layer_panel(recorded, layers), layers),
    ]
    panels = tuple(panel for panel, _ in made if panel)
    used = {name: rows for panel, part in made if panel for name, rows in part.items()}
    if not panels:
        return None
    said = [
        text
        for (panel, _), text in zip(
            made,
            (
                f"slope of $\\log(-\\log r_l)$ over the layers of {_count(slopes)} exact nets of "
                "softmax "
                "attention, where $r_l$ is the residual, the distance to equal tokens: $\\log 3$ "
                "is the "
                "cubic law, doubly exponential in depth",
                f"factor by which the drop of $\\log r_l$ grows from layer to layer in "
                "architectures with "
                "the initial weights of transformers and without skip connection and MLP (XLNet "
                "also "
                "without its position keys), mean and "
                f"{CONFIDENCE} interval over initialisations: 3 is cubic, 1 exponential; the two "
                "laws "
                "are told apart at 2. Nets whose logits come from the hidden states alone show two "
                "layers before rounding, the others six",
                "relative residual at initialisation by layer, beside the published values of one "
                "initialisation [@dong2021]: of BERT-base, and of its attention alone, whose "
                "layers 0 to 2 "
                "are those of a net of our own of this shape and whose later ones are float64's "
                "rounding",
            ),
            strict=True,
        )
        if panel
    ]
    sides = ("Left: ", "Middle: ", "Right: ") if len(said) == 3 else ("",) * len(said)
    caption = " ".join(f"{side}{text}." for side, text in zip(sides, said, strict=True))
    rows = [row for part in used.values() for row in part]
    return Plate(
        "rank-collapse",
        "Rank collapse, and what stops it",
        caption[0].upper() + caption[1:],
        "Slopes of exact nets lie at log 3 for attention alone and far below it with a causal "
        "mask, relative positions or skips. In real architectures the drop grows threefold where "
        "logits come from hidden states alone, else hardly. Without skips BERT's residual falls "
        "to rounding within three layers; with them it stays above a third.",
        *_sources(rows, (f"rank_collapse/{name}" for name, part in used.items() if part)),
        lambda form: line_plot(panels, form, columns=3),
    )


def _slope_panel(found: dict[str, list[CaseResult]]) -> Panel | None:
    by_label = {"attention alone": found[_CUBIC]} | {
        label: [row for row in found[_BROKEN] if row.case.logits == logits]
        for logits, label in _EXACT.items()
    }
    names = [label for label, rows in by_label.items() if rows]
    points = [
        (place, float(row.measured.low + row.measured.high) / 2)
        for place, name in enumerate(names, 1)
        for row in by_label[name]
        if isinstance(row.measured, Ball)
    ]
    if not points:
        return None
    nets = Series(
        "one net",
        tuple(place for place, _ in points),
        tuple(height for _, height in points),
        kind="points",
    )
    law = Series("log 3: cubic", (0.5, len(names) + 0.5), (log(3),) * 2, kind="reference")
    return Panel("Exact nets", "", "slope of log(-log r)", (nets, law), x_names=tuple(names))


def _growth_panel(found: dict[str, list[CaseResult]]) -> Panel | None:
    series: list[Series] = []
    names: list[str] = []
    for label, rows in (
        ("hidden states alone", found[_BY_CONTENT]),
        ("positions or causal mask", found[_BY_PLACE]),
    ):
        points = [
            (_architecture(row.case), row.measured)
            for row in rows
            if isinstance(row.measured, Sample)
        ]
        ends = [value.interval(LEVEL) for _, value in points]
        if points:
            places = tuple(range(len(names) + 1, len(names) + len(points) + 1))
            names += [name for name, _ in points]
            series.append(
                Series(
                    label,
                    places,
                    tuple(value.mean for _, value in points),
                    tuple(low for low, _ in ends),
                    tuple(high for _, high in ends),
                    "points",
                )
            )
    if not series:
        return None
    ends_ = (0.5, len(names) + 0.5)
    laws = (
        Series("3: cubic", ends_, (3, 3), kind="reference"),
        Series("1: exponential", ends_, (1, 1), kind="reference"),
    )
    return Panel(
        "Architectures", "", "growth of the drop by layer", (*series, *laws), x_names=tuple(names)
    )


def _architecture(case: Case) -> str:
    name = _NAMES.get(case.model, str(case.model))
    return f"{name}, no pos." if case.get("positions", 1) == 0 else name


def _largest(rows: Sequence[CaseResult]) -> list[CaseResult]:
    """Of each model without skips and MLPs the widest net."""
    alone = [row for row in rows if row.case.get("variant") == "san"]
    widest = {row.case.model: row for row in sorted(alone, key=lambda row: row.case.width)}
    return list(widest.values())


def _layer_panel(
    recorded: Recorded,
    found: dict[str, list[CaseResult]],
) -> Panel | None:
    series: list[Series] = []
    for label, names, published in (
        (
            "attention alone",
            ("bert_init_collapse", "bert_plateau_is_rounding"),
            "bert_init_collapse",
        ),
        ("the whole net", ("bert_init_full_curve",), "bert_init_full_curve"),
    ):
        points = {
            int(row.case.layer): row.measured
            for name in names
            for row in found[name]
            if isinstance(row.measured, Sample)
        }
        there = dict(sorted(points.items()))
        if not there:
            continue
        ends = [value.interval(LEVEL) for value in there.values()]
        series.append(
            Series(
                label,
                tuple(there),
                tuple(v.mean for v in there.values()),
                tuple(low for low, _ in ends),
                tuple(high for _, high in ends),
                "points",
            )
        )
        stated = recorded.claims[f"rank_collapse/{published}"].statement.rhs
        said = {int(row.case.layer): float(at(stated, row.case)) for row in found[published]}
        series.append(
            Series(
                f"{label}, published",
                tuple(sorted(said)),
                tuple(said[layer] for layer in sorted(said)),
                kind="reference",
                like=label,
            )
        )
    return (
        Panel("BERT-base by layer", "layer", "relative residual", tuple(series), y_scale="log")
        if series
        else None
    )


# --- what trained nets reach ----------------------------------------------------------------------

_WALLS = ("cycles_within", "cycles_at_chance")


def _walls(recorded: Recorded) -> Plate | None:
    rows = {name: _recorded(recorded, f"trained_depth/{name}") for name in _WALLS}
    panels = WALLS.panels(_found(rows))
    trained = [row for name in _WALLS for row in rows[name]]
    if not panels or not trained:
        return None
    depths = sorted({int(row.case.depth) for row in trained})
    cycles = sorted({(row.case.cycles, row.case.around) for row in trained})
    sizes = " and ".join(f"{k} cycles of {around} vertices" for k, around in cycles)
    caption = (
        f"Share of right choices between a pair of connected vertices at a distance (horizontal) "
        f"and an unconnected pair, for nets with {_list(depths)} layers trained on {sizes}, "
        f"softmax and linearised, pooled over seeds, with {CONFIDENCE} intervals; a coin has 0.5. "
        "Explicit weights are right up to $3^L$ (dotted line), which no rule that sees only "
        "$3^L$ steps passes: beyond it they are at chance. "
        "Trained nets may see less: where their curves end before $3^L$, training has "
        "not found what theory allows."
    )
    return Plate(
        "reach",
        "How far trained nets see",
        caption,
        f"Panels for {_list(depths)} layers: accuracy against distance. One layer is right up to "
        "distance 3 and at chance beyond; with more layers trained nets fall off well before the "
        "distance that explicit weights reach.",
        *_sources(
            (row for part in rows.values() for row in part),
            (f"trained_depth/{name}" for name in _WALLS if rows[name]),
        ),
        lambda form: line_plot(panels, form, columns=3),
    )


# --- floors and losses ----------------------------------------------------------------------------


def _floors(recorded: Recorded) -> Plate | None:
    students = {"floor_holds": _recorded(recorded, "trained_rank/floor_holds")}
    models = {"language_models_learn": _recorded(recorded, "depth_width/language_models_learn")}
    floor = FLOORS.panels(_found(students))
    # At equal updates and at equal operations; equal seconds are those of one machine.
    losses = BUDGETS.panels(_found(models))[:2]
    panels = (*floor, *losses)
    if not panels:
        return None
    said = []
    if floor:
        said.append(
            "Relative error of the best trained linearised student against its width, and the "
            "floor (dashed, dotted) that the rank of its shape and the teacher's singular values "
            "put below it; a floor of 0 is not drawn. No floor says that training comes near it"
        )
    if losses:
        seeds = sorted(
            {
                len(row.measured.values)
                for row in models["language_models_learn"]
                if isinstance(row.measured, Sample)
            }
        )
        said.append(
            f"Validation loss of language models of about equal $12 L d^2$, mean and {CONFIDENCE} "
            f"interval over {' or '.join(map(str, seeds))} seeds, at equal updates and at equal "
            "operations. These nets are small and not trained out: of larger ones they tell "
            "nothing"
        )
    sides = ("Left: ", "Middle and right: ") if len(said) == 2 else ("",)
    rows = [
        row
        for part in (students if floor else {}, models if losses else {})
        for listed in part.values()
        for row in listed
    ]
    keys = [
        key
        for key, there in (
            ("trained_rank/floor_holds", floor),
            ("depth_width/language_models_learn", losses),
        )
        if there
    ]
    return Plate(
        "floors",
        "What depth buys in training: floors of rank, and losses at equal size",
        " ".join(
            f"{side}{text[0].lower() + text[1:] if side else text}."
            for side, text in zip(sides, said, strict=True)
        ),
        "Errors of trained students lie above the floors of their rank, many times so for two "
        "and three layers. Losses of small language models rise with depth at equal updates, and "
        "are least at two or three layers at equal operations.",
        *_sources(rows, keys),
        lambda form: line_plot(panels, form, columns=3),
    )


# --- what figures share ---------------------------------------------------------------------------


def _recorded(recorded: Recorded, key: str) -> list[CaseResult]:
    """The cases of a claim that were measured; none where it is not known."""
    result = recorded.judged(key)
    return (
        [
            row
            for row in result.cases
            if row.records
            and row.measured is not None
            and row.decision.verdict is not Verdict.OUT_OF_SCOPE
        ]
        if result
        else []
    )


def _found(rows: dict[str, list[CaseResult]]) -> Found:
    return {
        name: {row.case: row.measured for row in part if row.measured is not None}
        for name, part in rows.items()
    }


def _sources(
    rows: Iterable[CaseResult],
    keys: Iterable[str],
) -> tuple[tuple[str, ...], tuple[str, ...]]:
    """The keys, and the ids of the records."""
    ids: Iterator[str] = (record.id for row in rows for record in row.records)
    return tuple(keys), tuple(dict.fromkeys(ids))


def _count(found: dict[str, list[CaseResult]]) -> int:
    return sum(map(len, found.values()))


def _list(numbers: Sequence[int]) -> str:
    *most, last = map(str, numbers)
    return f"{', '.join(most)} and {last}" if most else last

"""Separation ranks and their floors while nets are trained."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator

from depthlaw.empirics.trained_rank.ranks_in_training import ATTENTIONS
from depthlaw.theory.claims.definition import Case, find
from depthlaw.theory.claims.values import Ball, Exact, Outside, Sample
from depthlaw.theory.claims.verdict import judge

from ..drawing.panels import (
    Found,
    Panel,
    Table,
    curve,
    curves,
    middles,
    rows,
    split,
    spread,
    stated,
)
from ..tables import csv_rows
from .question import keys, question
from .walls import LAYERS


def _floors_say(results: Found) -> Iterator[str]:
    drawn = [
        float(value.low) / floor
        for case, value in rows(results, "trained_rank/floor_holds")
        if isinstance(value, Ball) and (floor := _floor(case)) > _NO_FLOOR
    ]
    asked = rows(results, "trained_rank/floor_attained")
    means = [value.mean for _, value in asked if isinstance(value, Sample)]
    widest = ", ".join(
        f"{max(case.width for case, _ in part)} ({LAYERS[layers]})"
        for (layers,), part in split(asked, "depth")
    )
    starts = [
        float(value.low)
        for _, value in rows(results, "trained_rank/best_of_many_stays_above_floor")
        if isinstance(value, Ball)
    ]
    for text, ratios in (
        ("For one teacher the best seed of Adam ends at", drawn),
        (f"For widths up to {widest}, the mean over seeds ends at", means),
        ("The best of 64 starts of L-BFGS, for the smallest student, ends at", starts),
    ):
        if ratios:
            low, high = f"{min(ratios):.3g}", f"{max(ratios):.3g}"
            yield f"{text} {low if low == high else f'{low} to {high}'} times the floor."


# A logarithmic scale has no 0.
_NO_FLOOR = 1e-6


def _floor(case: Case) -> float:
    return float(find("trained_rank/floor_holds").predict(case).low)


@question("rank-floor", says=_floors_say)
def _floors(results: Found) -> Iterator[Panel]:
    # Enclosed is the rounding of an evaluation, which no picture shows.
    part = [
        (case, Exact((value.low + value.high) / 2))
        for case, value in rows(results, "trained_rank/floor_holds")
        if isinstance(value, Ball)
    ]
    floors = [
        stated(
            f"L = {layers}, floor",
            {width: y for width in widths if (y := _floor(widths[width])) > _NO_FLOOR},
            f"L = {layers}, trained",
        )
        for (layers,), own in split(part, "depth")
        for widths in [{case.width: case for case, _ in own}]
    ]
    yield Panel(
        "Error of the best student, and the floor of its rank",
        "width of the student",
        "relative error",
        (
            *curves(part, "width", "depth", "L = {}, trained".format),
            *(series for series in floors if series.x),
        ),
        x_scale="log",
        y_scale="log",
    )


def _effective_say(results: Found) -> Iterator[str]:
    part = rows(results, "trained_rank/half_of_rank_matters")
    last = max((case.step for case, _ in part), default=0)
    ends = split([row for row in part if row[0].step == last], "attention")
    told = [f"{spread(middles(own), '.2g')} ({kind})" for (kind,), own in ends]
    if told:
        yield f"After {last:,} updates the mean effective rank is {', '.join(told)}."


@question("rank-in-training", says=_effective_say)
def _ranks(results: Found) -> Iterator[Panel]:
    kinds = {
        "rank_stays_generic": "exact",
        "part_of_rank_shows": "above 1/1000",
        "half_of_rank_matters": "effective",
    }
    shapes = split(rows(results, *keys("trained_rank", " ".join(kinds))), "width", "depth")
    for (width, layers), _ in shapes:
        drawn = tuple(
            series
            for name, label in kinds.items()
            for series in curves(
                rows(results, f"trained_rank/{name}", width=width, depth=layers),
                # A logarithmic axis has no 0.
                lambda case: case.step + 1,
                "attention",
                f"{label}, {{}}".format,
            )
        )
        if len(drawn) > 1:
            title = f"d = {width}, L = {layers} (3^L {'<' if 3**layers < width else '>='} d)"
            yield Panel(title, "updates + 1", "rank", drawn, x_scale="log", y_scale="log")


# Chance of a false alarm of each verdict: no more than that of the verdicts on the page.
_ALPHA = 1e-7


def _transfer_table(results: Found) -> Table:
    """Where the linearised theory transfers to softmax nets, and where not: of each prediction in
    transfer.csv the verdicts of the claim that asks it of one kind of attention, on cases of that
    kind alone. A claim may state the opposite of the prediction, as its title says."""
    listed = []
    for row in csv_rows(__package__, "transfer.csv"):
        cells = [_of_attention(results, row[attention], attention) for attention in ATTENTIONS]
        if any(cells):
            parts = (part for cell in cells for part in cell or (None,) * 3)
            listed.append((row["prediction"], *parts))
    heads = [f"{head}, {kind}" for kind in ATTENTIONS for head in ("asked", "verdicts", "measured")]
    return Table(("prediction of the linearised theory", *heads), tuple(listed))


def _of_attention(results: Found, key: str, attention: str) -> tuple[str, str, str] | None:
    """Title of the claim, verdicts by how many cases, and the range of what was measured; None
    where nothing is recorded of such nets."""
    # Cases that do not say are linearised where the floors of linearised students are asked about.
    silent = "linearised" if key.startswith("trained_rank/") else "softmax"
    cases = {
        case: value
        for case, value in rows(results, key)
        if case.get("attention", case.get("net", silent)) == attention
    }
    if not cases:
        return None
    asked = find(key)
    counts = Counter(judge(asked, *row, alpha=_ALPHA).verdict for row in cases.items())
    verdicts = ", ".join(f"{verdict} {count}" for verdict, count in counts.items())
    line = curve("", {n: v for n, v in enumerate(cases.values()) if not isinstance(v, Outside)})
    span = dict.fromkeys(f"{end:.3g}" for end in (min(line.y), max(line.y))) if line else ()
    return asked.plain.title, verdicts, " to ".join(span)


def _softmax_says(results: Found) -> Iterator[str]:
    apart = middles(rows(results, "trained_rank/softmax_fits_worse"))
    if apart:
        ends = f"{spread(apart, '.2f')} on a linearised teacher"
        yield f"The mean softmax error minus the linearised one is {ends}."


@question("linearised-against-softmax", table=_transfer_table, says=_softmax_says)
def _softmax(results: Found) -> Iterator[Panel]:
    part = rows(results, "trained_rank/softmax_fits_worse")
    widths = sorted({case.width for case, _ in part}) or [1]
    yield Panel(
        "Softmax minus linearised error on a linearised teacher",
        "width of the students",
        "difference of relative errors",
        (
            *curves(part, "width", "depth", "L = {}".format),
            stated("equal errors", {widths[0]: 0.0, widths[-1]: 0.0}),
        ),
        x_scale="log",
    )

"""`depthlaw fit`: the best depth of each budget of a loss surface, laws, and rules beside them."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import Any, Literal

from rich.text import Text

from depthlaw.advisor import laws as advised
from depthlaw.advisor.base.quantities import plural, size
from depthlaw.advisor.rules import rule
from depthlaw.advisor.words import next_net
from depthlaw.empirics.depth_width import fits
from depthlaw.empirics.depth_width.comparison import NEAR, PredictionRow, levine_distance
from depthlaw.theory.claims.verdict import Verdict

from ..functions.fit import NEXT, LossFit, fit as fitted_to
from .plain import dump, heading, paragraph, picture_format, stdout, write_named
from .tables import plain_table, print_table, text_table
from .terminal import STYLES

_ORDER = (Verdict.HOLDS, Verdict.FAILS, Verdict.UNDECIDED)
# Transitions that are printed; the rest is in the JSON.
_MOST = 8


def fit(
    path: Path,
    *,
    budget: Literal["parameters", "flops", "hours"],
    tolerance: str,
    seed_column: str,
    plot: Path | None,
    force: bool,
    json_output: bool,
) -> None:
    """Fit a file and print what it shows, or JSON; draw it where a file is named."""
    form = picture_format(plot, force)
    fitted = fitted_to(path, budget=budget, tolerance=tolerance, seed_column=seed_column)
    if plot is not None:
        write_named(plot, fitted.plot().drawn(form))
    if json_output:
        dump(fitted.to_json())
    else:
        _print(path, fitted)


# --- in words -------------------------------------------------------------------------------------


def _print(path: Path, fitted: LossFit) -> None:
    heading(f"Loss surface {' '.join(path.name.split())}")
    surface = fitted.surface
    points = surface.points
    shapes = {(p.width, p.depth) for p in points}
    paragraph(
        f"{plural(len(points), 'row')}: {plural(len(shapes), 'shape')} of "
        f"{_span(p.depth for p in points)} layers, width {_span(p.width for p in points)}; "
        f"{_span((p.parameters for p in points), size)} parameters, "
        f"{_span((p.tokens for p in points), size)} tokens; "
        f"{plural(surface.seeds, 'seed') if surface.seeds else 'no seeds named'}."
    )
    if surface.ignored:
        paragraph(f"Ignored: {', '.join(surface.ignored)}.")
    _print_budgets(fitted)
    _print_laws(fitted)
    _print_transitions(fitted.transitions)
    _print_additive(fitted)
    _print_rows(fitted.predictions)
    _print_limits(fitted)
    _print_next(fitted)


def _print_next(fitted: LossFit) -> None:
    """What the file answers, budget by budget, and at the size of the next net."""
    heading("\nYour next net")
    unit = "" if fitted.budget == "hours" else " tokens"
    for o in fitted.optima:
        best = f"{_best(o)} layers ({_interval(o)})" if _best(o) != "-" else "no best depth"
        _item(f"at {size(o.parameters)} parameters and {_spent(fitted, o)}{unit}: {best}")
    paragraph(next_net(fitted.next_net(NEXT)))


def _spent(fitted: LossFit, optimum: fits.Optimum) -> str:
    """What the trainings of a budget took: hours where these are equal, else tokens."""
    if fitted.budget == "hours" and optimum.seconds:
        return f"{_two_digits(optimum.seconds / 3600)} h"
    return size(optimum.tokens)


def _print_budgets(fitted: LossFit) -> None:
    what = {"flops": "FLOPs", "hours": "hours"}.get(fitted.budget, "parameters and tokens")
    heading(f"\nBest depth at equal {what} (within {fitted.tolerance:.0%})")
    spent = "hours" if fitted.budget == "hours" else "tokens"
    headings = ("parameters", spent, "depths", "best", "interval", "width", "seeds")
    rows = []
    for o in fitted.optima:
        sizes, width = (size(o.parameters), _spent(fitted, o)), f"{o.width:,.0f}"
        found = (_span(o.depths), _best(o), _interval(o), "-" if o.depth is None else width)
        rows.append((*sizes, *found, str(o.seeds)))
    print_table(stdout(), text_table(*headings, rows=rows))
    if fitted.left_out:
        paragraph(f"Left out: {plural(fitted.left_out, 'budget')} of fewer tokens.")
    paragraph(
        "best: where the curve c + A L^-p + B L^q through ln loss is least, if there are "
        "five depths or more and its interval has both ends; with fewer than five depths, "
        "many such curves fit, and a range, whatever the interval, holds all their minima. "
        "interval: 95 % for each budget; unbounded where no trained depth is told from the "
        "best."
    )


def _best(optimum: fits.Optimum) -> str:
    """The best depth, or the range that too few depths leave, or neither."""
    low, high = optimum.minima
    if optimum.depth is not None:
        return f"{optimum.depth:.1f}"
    if optimum.sharp or not 0 < low <= high < math.inf:
        return "-"
    return f"{_two_digits(low)} to {_two_digits(high)}"


def _two_digits(value: float) -> str:
    return f"{float(f'{value:.2g}'):g}"


def _interval(optimum: fits.Optimum) -> str:
    if optimum.bounded:
        return f"{optimum.low:.1f} to {optimum.high:.1f}"
    if optimum.low:
        return f"at least {optimum.low:.1f}"
    return f"at most {optimum.high:.1f}" if optimum.high < math.inf else "unbounded"


def _print_laws(fitted: LossFit) -> None:
    heading("\nWidth against best depth")
    if not fitted.laws:
        paragraph(
            "No law: it needs two budgets or more of different size, each with five depths "
            f"or more and an interval bounded on both sides. {_lacking(fitted.optima)}"
        )
        return
    rows = []
    for law in fitted.laws:
        form = "ln d = a + b L" if law.form == "exponential" else "ln d = a + b ln L"
        misfit = "-" if law.misfit is None else _chance(law.misfit)
        numbers = ((law.a, *law.a_interval), (law.b, *law.b_interval))
        rows.append(
            (form, f"p {misfit}", *(f"{v:.4g} ({a:.3g} to {b:.3g})" for v, a, b in numbers))
        )
    known = ((advised.FIT_A, advised.FIT_VAR_A), (advised.FIT_B, advised.FIT_VAR_B))
    ends = ((value, 1.96 * math.sqrt(variance)) for value, variance in known)
    levine = (f"{v:.4g} ({v - off:.4g} to {v + off:.4g})" for v, off in ends)
    rows.append(("Levine's", "L {}-{}".format(*advised.FIT_DEPTHS), *levine))
    headings = ("law", "fit", "a", "b")
    print_table(stdout(), text_table(*headings, rows=rows, left=headings))
    paragraph(
        f"From {plural(fitted.laws[0].optima, 'budget')}; p: the chance of best depths so far"
        " from the law if it were right. The chance of an exponential law so far from "
        f"Levine's if both were one: {_chance(levine_distance(fitted.laws[0]))}. Levine's "
        f"fit is {rule('levine').wording}."
    )


def _lacking(optima: Sequence[fits.Optimum]) -> str:
    """What these budgets lack for a law."""
    counts = {
        "with fewer than five depths": sum(not o.sharp for o in optima),
        "without a bounded interval": sum(not o.bounded for o in optima),
        "whose curve has no minimum inside": sum(
            o.sharp and o.bounded and o.at_edge for o in optima
        ),
    }
    lacks = [f"{number} of {len(optima)} {what}" for what, number in counts.items() if number]
    if lacks:
        return f"Here: {', '.join(lacks)}."
    return f"Here: {plural(len(optima), 'budget')}{' of one size' if len(optima) > 1 else ''}."


def _chance(value: float) -> str:
    return f"{value:.2g}" if value > 1e-6 else "below 1e-6"


def _print_transitions(fitted: Sequence[fits.Transition]) -> None:
    known = [t for t in fitted if t.parameters is not None and (t.low or t.high < math.inf)]
    if not known:
        return
    # Doublings of the depth first, as Levine et al. compared them.
    nearest = sorted(known, key=lambda t: abs(math.log(t.deep / t.shallow / 2)))[:_MOST]
    heading("\nFrom which size the deeper net wins")
    rows = []
    for t in sorted(nearest, key=lambda t: (t.shallow, t.deep)):
        low = size(t.low) if t.low else "-"
        high = size(t.high) if t.high < math.inf else "-"
        wins = f"{sum(d.high < 0 for d in t.differences)} of {len(t.differences)}"
        depths, width = f"{t.shallow}, {t.deep}", f"{t.width(t.deep):,.0f}"
        rows.append((depths, size(t.parameters or 0), f"{low} to {high}", width, wins))
    headings = ("depths", "parameters", "interval", "width", "deeper wins at")
    print_table(stdout(), text_table(*headings, rows=rows))
    more = f" {len(known) - _MOST} more pairs: see --json." if len(known) > _MOST else ""
    paragraph(
        "interval: up to its first end the shallower net is significantly better, from its "
        f"second on the deeper one; width: of the deeper net there.{more}"
    )


def _print_additive(fitted: LossFit) -> None:
    law = fitted.additive
    heading("\nAdditive law E + A width^-a + B depth^-b + C tokens^-c")
    if law is None:
        paragraph(
            "Not fitted: it needs three widths, three depths and more shapes than it has numbers."
        )
        return
    low, high = law.floor_interval
    paragraph(
        f"E = {law.floor:.3g} ({low:.3g} to {high:.3g}); relative error {law.error:.2%} over"
        f" {plural(law.shapes, 'shape')}; {law.starts[0]} of {law.starts[1]} starts agree"
        + (", too few for a best depth" * (2 * law.starts[0] < law.starts[1]))
        + "."
    )
    headings = ("variable", "exponent", "interval", "share of loss")
    rows = []
    for term in law.terms:
        interval = f"{term.low:.3g} to {term.high:.3g}" if term.determined else "-"
        rows.append((term.variable, f"{term.exponent:.3g}", interval, f"{term.share:.1%}"))
    print_table(stdout(), text_table(*headings, rows=rows))
    texts = []
    for row in fitted.optima:
        if depth := law.depth(row.volume):
            inside = row.depths[0] <= depth[0] <= row.depths[-1]
            at = "{} ({} to {}) at {}".format(*map(_two_digits, depth), size(row.parameters))
            texts.append(at + ("" if inside else ", beyond the depths trained there"))
    if texts:
        paragraph(f"Best depth by this law: {'; '.join(texts)}.")


def _print_rows(rows: Sequence[PredictionRow]) -> None:
    heading("\nPredictions beside the measured best depth")
    table = plain_table(2)
    for name, width in {"verdicts": 11, "prediction": 18, "read as": 8, "layers": 8}.items():
        table.add_column(name, overflow="fold", min_width=width)
    for key in dict.fromkeys(row.key for row in rows):
        group = [row for row in rows if row.key == key]
        first = group[0]
        outside = "*" if all(row.extrapolates for row in group) else ""
        counts = Counter(row.verdict for row in group)
        words = Text(", ").join(
            Text(f"{counts[v]} {v.value}", style=STYLES[v]) for v in _ORDER if counts[v]
        )
        table.add_row(
            words,
            Text(first.name + outside),
            first.reading,
            ", ".join(f"{row.predicted[0]:.1f}" for row in group),
        )
    print_table(stdout(), table)
    paragraph(
        f"layers: what it says of each budget above, in that order; near: the best depth is "
        f"within a factor {NEAR:g} or half a layer of it; within: of the loss of the best "
        "trained shape. * extrapolated: every budget lies outside the sizes that the source "
        "measured. With intervals of 95 %, at most about one in twenty right predictions would "
        "be called FAILS."
    )
    # Dictionaries, since a rule with several readings has several rows.
    remedies: dict[str, dict[str, None]] = {}
    for row in rows:
        if row.verdict is Verdict.UNDECIDED:
            remedies.setdefault(row.reason, {})[row.name] = None
    if remedies:
        heading("\nWhat would decide the open verdicts")
    for reason, names in remedies.items():
        _item(f"{reason}: {'; '.join(names)}")


def _print_limits(fitted: LossFit) -> None:
    heading("\nWhat this file cannot tell")
    for note in fitted.surface.notes:
        _item(note)
    seen: dict[str, list[str]] = {}
    for optimum in fitted.optima:
        for note in optimum.notes:
            seen.setdefault(note, []).append(size(optimum.parameters))
    for note, sizes in seen.items():
        _item(f"{note} ({', '.join(sizes)} parameters)")
    for note in fitted.additive.notes if fitted.additive else ():
        _item(note)
    _item(
        "whether learning rates suit every shape: losses of badly tuned nets show the tuning, not "
        "the depth"
    )


def _item(text: str) -> None:
    paragraph(f"- {text}.", rest="  ")


def _span(values: Iterable[Any], show: Any = "{:,.0f}".format) -> str:
    ordered = sorted(values)
    first, last = show(ordered[0]), show(ordered[-1])
    return first if first == last else f"{first} to {last}"

"""The parts of docs/rank-collapse-measured.md and docs/exercises.md that records fill: exercises,
pictures, and of claims what they measured and their verdicts."""
from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from pathlib import Path

from depthlaw.empirics.exercises.exercise import exercises
from depthlaw.empirics.figures import Number, Panel, Series, Table
from depthlaw.theory.claim import Claim, at
from depthlaw.theory.symbols import latex
from depthlaw.theory.values import Sample

from ..run.records import Store
from ..verdicts.display import measured_side, prediction
from ..verdicts.report import CaseResult, ClaimResult, results, verdict_name
from .line_plot import line_plot
from .typesetting import md, md_code, md_math

__all__ = ["exercise", "figure", "values", "verdicts"]

# The longest suite first; exercises and gpu stand alone.
_SUITES = ("full", "theory", "quick")
# Of the intervals that tables and pictures show; those of verdicts are wider.
_LEVEL = 0.05

Claims = Mapping[str, Claim]
_Drawn = tuple[tuple[Panel, ...], Table | None]


# --- exercises -----------------------------------------------------------------------------------


def exercise(name: str, claims: Claims, store: Store, file: Path) -> str:
    """One exercise: picture, what was measured, table and verdicts; empty where nothing is
    recorded.

    Args:
        file: of the picture, in the folder `figures`.
    """
    each = exercises()[name]
    judged = [r for key in each.claims if key in claims
              for r in results({key: claims[key]}, "exercises", store) if _rows(r)]
    found = {r.claim.name: {row.case: row.measured for row in _rows(r) if row.measured is not None}
             for r in judged}
    if not found:
        return ""
    _write(file, each.panels(found))
    return "\n\n".join([
        f"![{md(each.title)}](figures/{file.name})", md(each.says(found)),
        _table(each.table(found)), _verdicts(judged)])


def _table(table: Table) -> str:
    """Plain data in Markdown."""
    words = [any(isinstance(row[i], str) for row in table.rows) for i in range(len(table.columns))]
    lines = ["| " + " | ".join(md(heading) for heading in table.columns) + " |",
             "|" + "".join("---|" if each else "--:|" for each in words)]
    lines += ["| " + " | ".join(_cell(cell) for cell in row) + " |" for row in table.rows]
    return "\n".join(lines)


def _cell(cell: str | Number | None) -> str:
    if cell is None:
        return "-"
    return md(cell) if isinstance(cell, str) else f"{cell:,}" if isinstance(cell, int) else \
        f"{cell:.4g}"


# --- claims --------------------------------------------------------------------------------------


def verdicts(keys: Sequence[str], claims: Claims, store: Store) -> str:
    """Of each claim the statement, what was expected and is known, and the verdict; empty where
    nothing is recorded."""
    judged = [r for key in keys if (r := _judged(claims[key], store)) is not None]
    return _verdicts(judged) if judged else ""


def values(keys: Sequence[str], claims: Claims, store: Store) -> str:
    """Every recorded case of the claims: measured, with its 95 % interval where there is one, and
    stated; empty where nothing is recorded."""
    judged = [r for key in keys if (r := _judged(claims[key], store)) is not None]
    return "\n".join(_values(judged)) if judged else ""


def _judged(claim: Claim, store: Store) -> ClaimResult | None:
    """The claim in the longest suite of which every case is recorded, else in the one of which most
    are."""
    found = [results({claim.key: claim}, suite, store)[0] for suite in _SUITES]
    whole = [r for r in found if r.cases and not r.missing]
    some = sorted((r for r in found if _rows(r)), key=lambda r: len(r.missing))
    return next(iter([*whole, *some]), None)


def _rows(result: ClaimResult) -> list[CaseResult]:
    return [row for row in result.cases if row.records]


def _verdicts(judged: Sequence[ClaimResult]) -> str:
    lines = ["| claim | states | expected | verdict | cases |", "|---|---|---|---|--:|"]
    for r in judged:
        before = r.claim.expected + (f", now {r.claim.known}" if r.claim.known else "")
        link, states = f"[{md(r.claim.title)}](claims/{r.claim.key}.md)", latex(r.claim.statement)
        lines.append(f"| {link} | {md_math(states)} | {before} | {verdict_name(r)} | "
                     f"{len(r.decided)} of {len(r.in_scope)} |")
    return "\n".join(lines)


def _values(judged: Sequence[ClaimResult]) -> Iterator[str]:
    yield "| claim | case | measured | stated | verdict |\n|---|---|---|---|---|"
    for result in judged:
        rows = _rows(result)
        every = [set(row.case.fields().items()) for row in rows]
        same = set.intersection(*every) if len(every) > 1 else set()
        for row in rows:
            own = " ".join(f"{k}={v}" for k, v in row.case.fields().items() if (k, v) not in same)
            sign = result.claim.statement.rel_op.replace("==", "=")
            yield (f"| {md_code(result.claim.name)} | {md_code(own or str(row.case))} | "
                   f"{md(_measured(result.claim, row))} | {md(sign)} "
                   f"{md(prediction(result.claim, row))} | {row.verdict_name} |")


def _measured(claim: Claim, row: CaseResult) -> str:
    value = row.measured
    if isinstance(value, Sample) and len(value.values) > 1:
        low, high = value.interval(_LEVEL)
        return f"{value.mean:.4g}, 95 % [{low:.4g}, {high:.4g}], {len(value.values)} draws"
    return measured_side(claim, row)


# --- figures -------------------------------------------------------------------------------------


def figure(name: str, claims: Claims, store: Store, file: Path) -> str:
    """A picture and its caption; empty where what it shows is not recorded."""
    title, made = _FIGURES[name]
    panels, table = made(claims, store)
    if not panels:
        return ""
    _write(file, panels)
    return f"![{md(title)}](figures/{file.name})" + (f"\n\n{_table(table)}" if table else "")


def _write(file: Path, panels: Sequence[Panel]) -> None:
    file.parent.mkdir(parents=True, exist_ok=True)
    file.write_bytes(line_plot(panels, file.suffix.removeprefix(".")))


def _layers_seen(claims: Claims, store: Store) -> _Drawn:
    """The doubly exponential law and what breaks it, on two tokens of width one: -log10 of the
    residual against layers, by balls, whose exponents have no limit."""
    from flint import arb, arb_mat

    from depthlaw.theory.rank_collapse.doubly_exponential import next_pair
    from depthlaw.theory.rank_collapse.softmax_attention import Head

    layers, curves = 8, []
    for label, weights, skip in (
            ("attention alone", None, False), ("causal mask", arb_mat([[1, 0], [1, 1]]), False),
            ("skip connection", None, True)):
        mean, moved, heights = arb_mat([[0]]), arb_mat([["0.01"], ["-0.01"]]), []
        for layer in range(layers + 1):
            if layer:
                mean, moved = next_pair(mean, moved, [Head(arb_mat([[1]]), arb_mat([[1]]))],
                                        weights, skip)
            heights.append(float(-abs(moved[0, 0]).log() / arb(10).log()))
        curves.append(Series(label, tuple(range(layers + 1)), tuple(heights)))
    law = Series("3^l times the start", tuple(range(layers + 1)),
                 tuple(curves[0].y[0] * 3**layer for layer in range(layers + 1)), kind="reference")
    return (Panel("Orders of magnitude that the residual has lost", "layer l",
                  "-log10 of the residual", (*curves, law), y_scale="log"),), None


def _bert(claims: Claims, store: Store) -> _Drawn:
    """Residuals of nets of BERT's shape by layer, beside the published values."""
    def curves(*named: tuple[str, str, bool]) -> Iterator[Series]:
        for name, label, beside in named:
            claim = claims[f"rank_collapse/{name}"]
            result = _judged(claim, store)
            found = sorted(((int(row.case.layer), row.measured, row.case)
                            for row in (_rows(result) if result else ())
                            if isinstance(row.measured, Sample)), key=lambda each: each[0])
            if not found:
                continue
            places = tuple(layer for layer, _, _ in found)
            ends = [sample.interval(_LEVEL) for _, sample, _ in found]
            yield Series(label, places, tuple(sample.mean for _, sample, _ in found),
                         tuple(low for low, _ in ends), tuple(high for _, high in ends), "points")
            if beside:
                yield Series("published", places, tuple(
                    float(at(claim.statement.rhs, case)) for _, _, case in found),
                    kind="reference")

    panels = (
        Panel("Attention without skips and MLPs", "layer", "relative residual",
              tuple(curves(("bert_init_collapse", "our net of this shape", True),
                           ("bert_plateau_is_rounding", "BERT of transformers, float64", False))),
              y_scale="log"),
        Panel("The whole net", "layer", "relative residual",
              tuple(curves(("bert_init_full_curve", "BERT of transformers", True)))))
    return tuple(panel for panel in panels if panel.series), None


def _paths(claims: Claims, store: Store) -> _Drawn:
    """Effect by path length, where the trainings of suite full are in the results folder."""
    key = "rank_collapse/path_sums_deteriorate"
    if not _measured_here(claims[key], store):
        return (), None
    (result,) = results({key: claims[key]}, "full", store)
    if not result.cases or result.missing:
        return (), None
    from depthlaw.empirics.rank_collapse.path_effects import path_panels, path_table

    folder = str(store.root / "cache")
    return path_panels(folder=folder), path_table(folder=folder)


def _gradients(claims: Claims, store: Store) -> _Drawn:
    """Gradients and norms against depth, measured for the picture where the claims are recorded."""
    if not _measured_here(claims["signal_propagation/softmax_pre_ln_gradient"], store):
        return (), None
    from depthlaw.empirics.signal_propagation.signal_curves import signal_panels

    return signal_panels(), None


def _scaling(claims: Claims, store: Store) -> _Drawn:
    """Steps of an optimiser against width and depth, measured for the picture where the claims are
    recorded."""
    if not _measured_here(claims["signal_propagation/mup_width_flat"], store):
        return (), None
    from depthlaw.empirics.signal_propagation.scaling_curves import scaling_panels

    return scaling_panels(), None


def _measured_here(claim: Claim, store: Store) -> bool:
    """Whether one's own results folder holds the claim, and what measures it is installed."""
    return bool(store.root.is_dir() and claim.measurable and _judged(claim, store))


_FIGURES: dict[str, tuple[str, Callable[[Claims, Store], _Drawn]]] = {
    "doubly-exponential": ("Orders of magnitude that the residual loses, layer by layer",
                           _layers_seen),
    "bert-residuals": ("Relative residuals of BERT's shape at initialisation by layer", _bert),
    "gradients": ("Gradients and norms of nets against depth, by scheme", _gradients),
    "scaling": ("Steps of an optimiser against width and depth, by rule", _scaling),
    "paths": ("Effect of attention paths by their length on three toy tasks", _paths),
}

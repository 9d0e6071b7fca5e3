"""The parts of pages that records fill: questions and exercises, pictures, of claims what they
measured and their verdicts, and the file of data beside a page."""

from __future__ import annotations

import csv
import io
from collections.abc import Callable, Iterator, Mapping, Sequence
from functools import cache
from importlib import import_module
from pathlib import Path
from typing import Any

from depthlaw.advisor.base.quantities import plural
from depthlaw.empirics.exercises.exercise import Exercise, exercises
from depthlaw.empirics.figure_data import LEVEL, Found, Number, Panel, Question, Series, Table
from depthlaw.theory.claims.definition import DEVICE_OF, Claim, at
from depthlaw.theory.claims.values import Ball, Exact, Proportion, Sample

from ...verdicts.display import measured_side, stated, statement_latex
from ...verdicts.judged_ledger import Recorded
from ...verdicts.report import CaseResult, ClaimResult, marked
from ...verdicts.undecided_advice import remedies
from ..appendix.typesetting import code, maths, md, verdict
from ..drawing.line_plot import line_plot
from ..intervals import CONFIDENCE, Estimate, estimate, written

__all__ = [
    "claims_of",
    "data",
    "exercise",
    "figure",
    "numbers",
    "question",
    "settings",
    "undecided",
    "values",
    "verdicts",
]

# Cases of a claim that a list names one by one, lines that a page shows unfolded, and letters of a
# statement in a table.
_FEW, _LINES, _LETTERS = 2, 4, 120

Claims = Mapping[str, Claim]
_Drawn = tuple[tuple[Panel, ...], Table | None]


# --- questions and exercises ---------------------------------------------------------------------


def question(name: str, recorded: Recorded, folder: Path) -> str:
    """A question of `empirics`, such as trained_depth.path_and_hop_figures.HOPS: picture and
    sentences, and the same of larger cases on another device; empty where nothing is recorded.

    Args:
        folder: where pictures go.
    """
    asked: Question = _named(name)
    return _blocks(
        recorded,
        asked,
        lambda there, suite: _seen(
            asked, there, folder / f"{'-'.join(filter(None, (asked.name, suite)))}.png"
        ),
    )


def numbers(names: Sequence[str], recorded: Recorded) -> str:
    """The rest of a question: numbers, folded, and verdicts; empty where nothing is recorded."""
    (name,) = names
    asked: Question = _named(name)
    return _blocks(recorded, asked, lambda there, _: _numbers(asked, there))


def _blocks(
    recorded: Recorded, asked: Question, shown: Callable[[Sequence[ClaimResult], str], str]
) -> str:
    """What is shown of a question's claims, and of those with cases on another device."""
    keys = (*asked.claims, *asked.beside)
    blocks = [shown([r for key in keys if (r := recorded.judged(key))], "")]
    for suite, device in DEVICE_OF.items():
        there = [r for key in keys for where, r in recorded.elsewhere(key) if where == suite]
        block = shown(there, suite)
        blocks.append(f"**Larger, on {device} (suite {suite}).**\n\n{block}" if block else "")
    return "\n\n".join(filter(None, blocks))


def exercise(name: str, recorded: Recorded, folder: Path) -> str:
    """One exercise: picture, what was measured, numbers and verdicts."""
    each = exercises()[name]
    there = [r for key in each.claims if (r := recorded.of("exercises", key)) and _rows(r)]
    parts = (_seen(each, there, folder / f"{name}.png"), _numbers(each, there))
    return "\n\n".join(filter(None, parts))


def settings(name: str) -> str:
    """The table that a function of `empirics` makes, folded: such as
    trained_depth.path_and_hop_figures.trainings."""
    return _folded("Settings", _table(_named(name)()))


@cache
def _named(name: str) -> Any:
    """What a module of `empirics` calls so."""
    module, _, constant = name.rpartition(".")
    return getattr(import_module(f"depthlaw.empirics.{module}"), constant)


def claims_of(kind: str, name: str) -> tuple[str, ...]:
    """The keys of the claims that a question (kind "measured") or an exercise shows."""
    asked: Question | Exercise = exercises()[name] if kind == "exercise" else _named(name)
    return asked.claims


def _found(there: Sequence[ClaimResult]) -> Found:
    return {
        r.claim.name: {row.case: row.measured for row in _rows(r) if row.measured is not None}
        for r in there
    }


def _own(asked: Question | Exercise, there: Sequence[ClaimResult]) -> list[ClaimResult]:
    """Those of which something is recorded and whose verdicts stand here."""
    return [r for r in there if r.claim.key in asked.claims and _rows(r)]


def _seen(asked: Question | Exercise, there: Sequence[ClaimResult], file: Path) -> str:
    """Picture and sentences."""
    if not _own(asked, there):
        return ""
    found = _found(there)
    # Partial records leave some with nothing but what a theory says.
    panels = tuple(
        panel
        for panel in asked.panels(found)
        if any(series.kind != "reference" for series in panel.series)
    )
    if panels:
        _write(file, panels)
    says = asked.says(found)
    parts = (
        f"![{md(asked.title)}](/figures/{file.name})" if panels else "",
        md(says),
        _level(panels, says)
        if any(
            isinstance(value, Sample | Proportion)
            for values_ in found.values()
            for value in values_.values()
        )
        else "",
    )
    return "\n\n".join(filter(None, parts))


def _numbers(asked: Question | Exercise, there: Sequence[ClaimResult]) -> str:
    """The table, folded, and the verdicts."""
    own = _own(asked, there)
    if not own:
        return ""
    table = asked.table(_found(there))
    parts = (_folded("Numbers", _table(table)) if table.rows else "", _verdicts(own))
    return "\n\n".join(filter(None, parts))


def _folded(title: str, text: str) -> str:
    return f"<details><summary>{title}</summary>\n\n{text}\n\n</details>"


def _table(table: Table) -> str:
    """Plain data in Markdown."""
    words = [any(isinstance(row[i], str) for row in table.rows) for i in range(len(table.columns))]
    lines = [
        "| " + " | ".join(md(heading) for heading in table.columns) + " |",
        "|" + "".join("---|" if each else "--:|" for each in words),
    ]
    lines += ["| " + " | ".join(_cell(cell) for cell in row) + " |" for row in table.rows]
    return "\n".join(lines)


def _cell(cell: str | Number | None) -> str:
    if cell is None:
        return "-"
    return (
        md(cell)
        if isinstance(cell, str)
        else f"{cell:,}"
        if isinstance(cell, int)
        else f"{cell:.4g}"
    )


# --- claims --------------------------------------------------------------------------------------


def verdicts(keys: Sequence[str], recorded: Recorded) -> str:
    """Of each claim the statement, what was expected and is known, and the verdict; empty where
    nothing is recorded."""
    judged = [r for key in keys if (r := recorded.judged(key)) is not None]
    return _verdicts(judged) if judged else ""


def values(keys: Sequence[str], recorded: Recorded) -> str:
    """Every recorded case of the claims: measured, with its 95 % interval where there is one, and
    stated; empty where nothing is recorded."""
    judged = [r for key in keys if (r := recorded.judged(key)) is not None]
    return "\n".join(_values(judged)) if judged else ""


def _rows(result: ClaimResult) -> list[CaseResult]:
    return [row for row in result.cases if row.records]


def _verdicts(judged: Sequence[ClaimResult]) -> str:
    """A row for each claim; below, what was changed after data, and what would decide the
    undecided."""
    lines = [
        "| claim | states | expected before | known since | verdict | cases |",
        "|---|---|---|---|---|--:|",
    ]
    for r in judged:
        link, states = f"[{md(r.claim.title)}](/claims/{r.claim.key}.md)", _states(r.claim)
        lines.append(
            f"| {link} | {states} | {r.claim.expected} | "
            f"{r.claim.known or '-'} | {verdict(marked(r))} | "
            f"{len(r.decided)} of {len(r.in_scope)} |"
        )
    texts = dict.fromkeys(r.claim.post_hoc for r in judged if r.claim.post_hoc)
    after = [
        f"* {', '.join(f'`{r.claim.name}`' for r in judged if r.claim.post_hoc == text)}: "
        f"{md(text)}"
        for text in texts
    ]
    open_ = [f"* `{r.claim.name}`, {md(line)}" for r in judged for line in undecided(r)]
    parts = [
        "\n".join(lines),
        _list("UNDECIDED, and what would decide it", open_),
        _folded(
            "\\* Written, restated or measured otherwise after data had been seen", "\n".join(after)
        )
        if after
        else "",
    ]
    return "\n\n".join(filter(None, parts))


def _states(claim: Claim) -> str:
    """The statement, where it fits a table."""
    text = statement_latex(claim)
    return maths(text) if len(text) <= _LETTERS else "see its page"


def undecided(result: ClaimResult) -> Iterator[str]:
    """What would decide a claim, in plain text: of a few cases each, of many the range."""
    found = list(remedies(result))
    if len(found) <= _FEW:
        yield from (f"{each.where}: {each}" for each in found)
        return
    cases = f"of {len(result.in_scope)} cases"
    for what in sorted({each.what for each in found if each.what}):
        own = [each for each in found if each.what == what]
        enough = [each.enough for each in own if each.enough]
        parts = [f"about {_between(enough)} would"] if enough else []
        if len(enough) < len(own):
            parts.append(f"in {len(own) - len(enough)} no number of them would")
        there = _between([each.there for each in own])
        yield f"{len(own)} {cases}: {there} {what} do not decide; {', '.join(parts)}"
    for reason in dict.fromkeys(each.reason for each in found if each.reason):
        yield f"{sum(each.reason == reason for each in found)} {cases}: {reason}"


def _between(numbers_: Sequence[int]) -> str:
    """The least and the largest, once where they are equal."""
    return " to ".join(dict.fromkeys(f"{n:,}" for n in (min(numbers_), max(numbers_))))


def _list(title: str, items: Sequence[str]) -> str:
    if not items:
        return ""
    text = "\n".join(items)
    return f"{title}:\n\n{text}" if len(items) <= _LINES else _folded(title, text)


def _values(judged: Sequence[ClaimResult]) -> Iterator[str]:
    yield (
        f"| claim | case | measured | {CONFIDENCE} interval | decided by | stated | verdict |\n"
        "|---|---|---|---|---|---|---|"
    )
    for result in judged:
        rows = _rows(result)
        every = [set(row.case.fields().items()) for row in rows]
        same = set.intersection(*every) if len(every) > 1 else set()
        for row in rows:
            own = " ".join(f"{k}={v}" for k, v in row.case.fields().items() if (k, v) not in same)
            found = estimate(result, row)
            ends = written(found.ends) if found and found.ends else ""
            yield (
                f"| {code(result.claim.name)} | {code(own or str(row.case))} | "
                f"{md(_mean(found) if found else measured_side(result.claim, row))} | "
                f"{md(ends)} | {md(found.decided_by if found else '')} | "
                f"{md(stated(result.claim, row))} | {row.verdict_name} |"
            )


def _mean(found: Estimate) -> str:
    return f"{found.middle}, {plural(found.count, found.what)}"


# --- the data beside a page ----------------------------------------------------------------------


def data(keys: Sequence[str], places: Sequence[Recorded], file: Path) -> str:
    """Write every recorded case of the claims as CSV, each claim from the first of the places that
    holds it, and return a sentence with a link to the file; empty where nothing is recorded."""
    rows, devices = [_COLUMNS], set()
    for key in keys:
        for recorded in places:
            first = recorded.judged(key)
            there = [*([first] if first else []), *(r for _, r in recorded.elsewhere(key))]
            if there:
                break
        for result in there:
            open_ = {each.case: str(each) for each in remedies(result)}
            for each in _rows(result):
                rows.append(_data_row(result, each, open_.get(each.case, "")))
                devices.update(rows[-1][-2].split())
    if len(rows) == 1:
        return ""
    text = io.StringIO()
    csv.writer(text, lineterminator="\n").writerows(rows)
    file.parent.mkdir(parents=True, exist_ok=True)
    file.write_text(text.getvalue(), encoding="utf-8")
    return (
        f"Every number above, with its {CONFIDENCE} interval, the wider interval that decided "
        "its verdict and the level of that, the ids of the records that hold it and the device "
        f"({', '.join(sorted(devices))}): [{file.name}](/data/{file.name})."
    )


_COLUMNS = [
    "claim",
    "case",
    "value",
    "low",
    "high",
    "decision low",
    "decision high",
    "decision level",
    "rank p",
    "observations",
    "stated",
    "verdict",
    "undecided because",
    "device",
    "records",
]


def _data_row(result: ClaimResult, row: CaseResult, why: str) -> list[str]:
    """One case; ends are those of a 95 % interval, or of an enclosure, and of the interval that
    decided."""
    value, mean, low, high, observations = row.measured, "", "", "", ""
    decision = [""] * 4
    if (found := estimate(result, row)) is not None:
        mean, observations = f"{found.mean:.10g}", str(found.count)
        low, high = _ends(found.ends)
        decision = [
            *_ends(found.deciding),
            f"{found.level:.3g}" if found.deciding else "",
            "" if found.p is None else f"{found.p:.3g}",
        ]
    elif isinstance(value, Ball):
        low, high = f"{float(value.low):.10g}", f"{float(value.high):.10g}"
    elif isinstance(value, Exact):
        mean = measured_side(result.claim, row)
    devices = sorted({str(each.inputs.get("device", "")) for each in row.records})
    return [
        result.claim.key,
        str(row.case),
        mean,
        low,
        high,
        *decision,
        observations,
        stated(result.claim, row),
        row.verdict_name,
        why,
        " ".join(devices),
        " ".join(each.id for each in row.records),
    ]


def _ends(interval: tuple[float, float] | None) -> tuple[str, str]:
    return (f"{interval[0]:.6g}", f"{interval[1]:.6g}") if interval else ("", "")


# --- figures -------------------------------------------------------------------------------------


def figure(name: str, recorded: Recorded, folder: Path) -> str:
    """A picture and its caption; empty where what it shows is not recorded."""
    title, made = _FIGURES[name]
    panels, table = made(recorded)
    if not panels:
        return ""
    file = folder / f"{name}.png"
    _write(file, panels)
    parts = (
        f"![{md(title)}](/figures/{file.name})",
        _level(panels),
        _table(table) if table else "",
    )
    return "\n\n".join(filter(None, parts))


def _level(panels: Sequence[Panel], says: str = "") -> str:
    """The level of the intervals in a picture and in the sentences below it; empty without any."""
    drawn = any(series.low for panel in panels for series in panel.series)
    return (
        f"*Bars, bands and ±: {CONFIDENCE} intervals. Verdicts use wider ones.*"
        if drawn or "+-" in says
        else ""
    )


def _write(file: Path, panels: Sequence[Panel]) -> None:
    file.parent.mkdir(parents=True, exist_ok=True)
    file.write_bytes(line_plot(panels, file.suffix.removeprefix(".")))


def _layers_seen(recorded: Recorded) -> _Drawn:
    """The doubly exponential law and what breaks it, on two tokens of width one: -log10 of the
    residual against layers, by balls, whose exponents have no limit."""
    from flint import arb, arb_mat

    from depthlaw.theory.rank_collapse.doubly_exponential import next_pair
    from depthlaw.theory.rank_collapse.softmax_attention import Head

    layers, curves = 8, []
    for label, weights, skip in (
        ("attention alone", None, False),
        ("causal mask", arb_mat([[1, 0], [1, 1]]), False),
        ("skip connection", None, True),
    ):
        mean, moved, heights = arb_mat([[0]]), arb_mat([["0.01"], ["-0.01"]]), []
        for layer in range(layers + 1):
            if layer:
                mean, moved = next_pair(
                    mean, moved, [Head(arb_mat([[1]]), arb_mat([[1]]))], weights, skip
                )
            heights.append(float(-abs(moved[0, 0]).log() / arb(10).log()))
        curves.append(Series(label, tuple(range(layers + 1)), tuple(heights)))
    law = Series(
        "3^l times the start",
        tuple(range(layers + 1)),
        tuple(curves[0].y[0] * 3**layer for layer in range(layers + 1)),
        kind="reference",
    )
    return (
        Panel(
            "Orders of magnitude that the residual has lost",
            "layer l",
            "-log10 of the residual",
            (*curves, law),
            y_scale="log",
        ),
    ), None


def _bert(recorded: Recorded) -> _Drawn:
    """Residuals of nets of BERT's shape by layer, beside the published values."""

    def curves(*named: tuple[str, str, bool]) -> Iterator[Series]:
        for name, label, beside in named:
            key = f"rank_collapse/{name}"
            claim, result = recorded.claims[key], recorded.judged(key)
            found = sorted(
                (
                    (int(row.case.layer), row.measured, row.case)
                    for row in (_rows(result) if result else ())
                    if isinstance(row.measured, Sample)
                ),
                key=lambda each: each[0],
            )
            if not found:
                continue
            places = tuple(layer for layer, _, _ in found)
            ends = [sample.interval(LEVEL) for _, sample, _ in found]
            yield Series(
                label,
                places,
                tuple(sample.mean for _, sample, _ in found),
                tuple(low for low, _ in ends),
                tuple(high for _, high in ends),
                "points",
            )
            if beside:
                yield Series(
                    "published",
                    places,
                    tuple(float(at(claim.statement.rhs, case)) for _, _, case in found),
                    kind="reference",
                )

    panels = (
        Panel(
            "Attention without skips and MLPs",
            "layer",
            "relative residual",
            tuple(
                curves(
                    ("bert_init_collapse", "our net of this shape", True),
                    ("bert_plateau_is_rounding", "BERT of transformers, float64", False),
                )
            ),
            y_scale="log",
        ),
        Panel(
            "The whole net",
            "layer",
            "relative residual",
            tuple(curves(("bert_init_full_curve", "BERT of transformers", True))),
        ),
    )
    return tuple(panel for panel in panels if panel.series), None


def _by_length(recorded: Recorded) -> _Drawn:
    """What one more layer of a path changes, by its length: claims about a fall from each length to
    the next."""
    panels = []
    for name, method, title, y_label in (
        (
            "paths_deteriorate",
            "alone",
            "Sums over all paths of length l",
            "score at l minus score at l + 1",
        ),
        (
            "paths_deteriorate",
            "isolated",
            "Random paths of length l, run alone",
            "score at l minus score at l + 1",
        ),
        (
            "longer_paths_flatter",
            "alone",
            "Tokens of the sums over all paths of length l",
            "fall of the log10 residual to l + 1",
        ),
    ):
        result = recorded.judged(f"rank_collapse/{name}")
        found = [
            row
            for row in (_rows(result) if result else ())
            if isinstance(row.measured, Sample) and row.case.method == method
        ]
        tasks = dict.fromkeys(str(row.case.task) for row in found)
        curves = [
            _means(task, [(int(row.case.length), row) for row in found if row.case.task == task])
            for task in tasks
        ]
        if curves:
            longest = max(x for each in curves for x in each.x)
            panels.append(
                Panel(
                    title,
                    "path length l",
                    y_label,
                    (*curves, Series("stated: at least 0", (1, longest), (0, 0), kind="reference")),
                )
            )
    return tuple(panels), None


def _means(label: str, found: Sequence[tuple[int, CaseResult]]) -> Series:
    """Means of samples with their intervals."""
    ends = [row.measured.interval(LEVEL) for _, row in found if isinstance(row.measured, Sample)]
    return Series(
        label,
        tuple(x for x, _ in found),
        tuple(row.measured.mean for _, row in found if isinstance(row.measured, Sample)),
        tuple(low for low, _ in ends),
        tuple(high for _, high in ends),
        "points",
    )


# A claim of signal_propagation, the label of its curve ("" for its title), and fields of its cases.
_Curve = tuple[str, str, dict[str, str]]


def _exponents(*panels: tuple[str, str, tuple[_Curve, ...]]) -> Callable[[Recorded], _Drawn]:
    """Measured exponents of claims, a point for each case, beside what is stated of it.

    Args:
        panels: title, label of the exponent, and the curves.
    """

    def drawn(recorded: Recorded) -> _Drawn:
        return tuple(
            panel
            for title, y_label, curves in panels
            if (panel := _exponents_of(recorded, title, y_label, curves)).series
        ), None

    return drawn


def _exponents_of(recorded: Recorded, title: str, y_label: str, asked: Sequence[_Curve]) -> Panel:
    curves, lines, place = [], {}, 1
    for name, label, fields in asked:
        result = recorded.judged(f"signal_propagation/{name}")
        found = [
            row
            for row in (_rows(result) if result else ())
            if isinstance(row.measured, Sample) and fields.items() <= row.case.fields().items()
        ]
        if result is None or not found:
            continue
        stated = at(result.claim.statement.rhs, found[0].case)
        words = f"{'at least ' if result.claim.statement.rel_op == '>=' else ''}{stated}"
        label = label or result.claim.title.partition(":")[0]
        curves.append(_means(f"{label}: {words}", list(enumerate(found, place))))
        lines[f"stated: {words}"] = float(stated)
        place += len(found) + 1
    ends = (1, place - 2)
    return Panel(
        title,
        "cases, claim by claim",
        y_label,
        (
            *curves,
            *(
                Series(words, ends, (height, height), kind="reference")
                for words, height in lines.items()
                if curves
            ),
        ),
    )


_FIGURES: dict[str, tuple[str, Callable[[Recorded], _Drawn]]] = {
    "doubly-exponential": (
        "Orders of magnitude that the residual loses, layer by layer",
        _layers_seen,
    ),
    "bert-residuals": ("Relative residuals of BERT's shape at initialisation by layer", _bert),
    "gradients": (
        "Powers of the depth in gradients and hidden states, by scheme",
        _exponents(
            (
                "Last gradient against depth",
                "power of the depth",
                tuple(
                    ("gradient_exponents", label, {"of": "last", **fields})
                    for label, fields in (
                        ("Pre-norm", {"norm": "pre", "expected_exponent": "-1/2"}),
                        ("Post-norm", {"norm": "post"}),
                        ("GPT-2's scaling", {"scheme": "gpt2"}),
                        ("DeepNorm", {"scheme": "deepnorm"}),
                    )
                ),
            ),
            (
                "Mean square of the last hidden states against depth",
                "power of the depth",
                (
                    ("norm_exponents", "Pre-norm", {"over": "layers"}),
                    ("norm_exponents", "GPT-2's scaling", {"over": "nets"}),
                ),
            ),
        ),
    ),
    "scaling": (
        "Powers of width and depth in the change by first steps, by rule",
        _exponents(
            (
                "Change by first updates against width",
                "power of the width",
                (("mup_width_flat", "", {}), ("standard_width_growth", "", {})),
            ),
            (
                "Change by first updates against depth",
                "power of the depth",
                (
                    ("depth_flat", "Depth-muP", {"rule": "depth-mup"}),
                    ("depth_flat", "CompleteP", {"rule": "completep"}),
                    ("plain_depth_growth", "", {}),
                    ("deepnorm_update_exponents", "DeepNorm", {"optimiser": "sgd"}),
                    ("post_ln_update_growth", "", {}),
                ),
            ),
        ),
    ),
    "paths": ("What one more layer of a path changes, by its length", _by_length),
}

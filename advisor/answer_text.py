"""An answer of the advisor in words, as JSON, and as one sentence to cite."""

from __future__ import annotations

import math
import re
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import fields, is_dataclass
from html import escape
from pathlib import Path
from typing import TYPE_CHECKING, Any

from . import budgets
from .answer import percents
from .base.paragraphs import wrapped
from .base.quantities import binary, plural, size
from .claim_verdicts import about, title, verdict
from .counting import per_layer
from .rule_scores import UNTOLD, gain, projections
from .rules import rules

if TYPE_CHECKING:
    from .answer import Answer, Candidate, LawNumber, Neighbour
    from .architecture import Architecture
    from .counting import Count
    from .rule_scores import EvidenceTable
    from .task_depths import TaskAnswer, TaskNumber

SCHEMA = Path(__file__).with_name("schema.json")
LEGEND = (
    "printed: read in the source; reported: read elsewhere; recalled: from memory, check it; "
    "derived: computed here; EXTRAPOLATED: outside what was measured. Memory is in powers of 1024 "
    "(MiB, GiB), rates in powers of 1000 (GB/s). Verdicts are those of `depthlaw show CLAIM`."
)
# Columns of the labels, and the width below which there is no room for such a column.
_LABEL, _NARROW = 9, 60
# The narrowest that a column of words in a table may become.
_LEAST = 14

# What a law may be for, where that is not the usual net.
_SPECIAL = {
    "mup": "muP",
    "completep": "CompleteP",
    "post": "post-norm",
    "lns": "scaled norms",
    "attnres": "attention residuals",
}

# A label and what is said under it.
Row = tuple[str, str]


# --- for people ----------------------------------------------------------------------------------


def as_text(answer: Answer, width: int = 80) -> str:
    """The answer in some ten lines: the shape, why, its price, the biggest doubt.

    Args:
        answer: of `recommend`.
        width: columns; no line is longer unless a single word is.
    """
    return "\n".join(_laid_out(_short(answer), width))


def explained(answer: Answer, width: int = 80) -> str:
    """Everything else there is to say, with sources: what `--why` adds to `as_text`."""
    parts = []
    for heading, rows in _sections(answer):
        if lines := _laid_out(rows, width, "- "):
            parts.append("\n".join([*wrapped(heading, width), *lines]))
    if answer.neighbours:
        parts.insert(1, _around(answer.neighbours, width))
    return "\n\n".join([*parts, "\n".join(wrapped(LEGEND, width))])


def as_html(answer: Answer) -> str:
    """The answer for a notebook: what `as_text` says as a table, and below it, folded, what
    `explained` says."""
    rows = "".join(
        f'<tr><th scope="row" style="text-align:left">{escape(label)}</th>'
        f'<td style="text-align:left">{escape(line)}</td></tr>'
        for label, line in _short(answer)
    )
    return (
        f"<table>{rows}</table><details><summary>Why, with sources</summary>"
        f"<pre>{escape(explained(answer))}</pre></details>"
    )


def _short(answer: Answer) -> Iterator[Row]:
    yield "", answer.question
    given, proposed = answer.given, _proposed(answer)
    if given:
        yield "Given", f"{shape(given.architecture)}; {counted(given.counts)}{_speed(given)}"
        if (f := answer.flops) and (m := answer.memory):
            yield (
                "Costs",
                f"{size(f.forward)} FLOPs per token forward, {size(f.training)} in training (at "
                f"{f.context:,} tokens); weights {binary(m.weights)}, KV cache "
                f"{binary(m.kv_cache)} at {given.architecture.context:,}",
            )
        for place, verdict_text in enumerate(answer.verdicts):
            yield ("", f"- {verdict_text}") if place else ("Depth", verdict_text)
    if proposed:
        a = proposed.architecture
        tokens = f"{a.vocabulary:,} tokens{' (tied)' if a.tied else ''}"
        yield (
            "Instead" if given else "Answer",
            f"{shape(a)}; {tokens}; {counted(proposed.counts)}{_speed(proposed)}",
        )
        if given:
            yield "Why", proposed.why
    if answer.limits:
        yield "Budget", "; ".join(answer.limits)
    if not given:
        yield from _grounds(answer)
    if len(set(answer.stages)) > 1 and not given:
        parts = (f"{times} of {layers(n)}" for n, times in sorted(Counter(answer.stages).items()))
        yield "Stages", f"{len(answer.stages)} of unequal depth: {' and '.join(parts)}"
    if price := _price(answer):
        yield "Price", price
    for task in answer.tasks:
        if answer.shape:
            yield "Task", f"{task.question.removeprefix('Task: ')} {task.headline}."
        else:
            yield "Answer", task.headline
            yield from ((label, _task_number(number, label)) for label, number in _labelled(task))
            yield from (("Note", remark) for remark in task.remarks)
    if answer.together:
        yield "Together", answer.together
    for warning in answer.warnings:
        yield "Warning", warning
    if answer.doubts:
        yield "Doubt", answer.doubts[0]
    if answer.floor and not given:
        least = layers(answer.floor.layers)
        yield "Floor", f"{least}: below log_3(width), theory without softmax wants more depth"


def _proposed(answer: Answer) -> Candidate | None:
    """The shape to build: the recommended one, or what stands in for a configuration."""
    return answer.instead if answer.given else answer.shape


def _grounds(answer: Answer) -> Iterator[Row]:
    """Why this depth, which others are as good, and what real models do."""
    if answer.shape:
        # The evidence for the rule, where it is the rule that chose.
        chose = any(r.key == answer.rule and r.name in answer.shape.why for r in rules())
        yield "Why", answer.rule_brief or answer.rule_why if chose else answer.shape.why
    if answer.interval:
        sources = ", ".join(answer.interval.sources)
        outside = "; EXTRAPOLATED" if answer.interval.extrapolated else ""
        yield "Range", f"{answer.interval.ends} lose at most 1 % ({sources}{outside})"
    if answer.built:
        b = answer.built
        among = b.among or plural(b.recipes, "shape")
        yield "Built", f"{b.low} to {b.high}, middle {b.middle}; {among}"


def _price(answer: Answer) -> str:
    """One legal depth less, and one more, at equal parameters; their sources once."""
    middle = answer.shape.architecture.layers if answer.shape else 0
    others = [n for n in answer.neighbours if n.equal == "parameters" and n.layers != middle]
    shapes: dict[str, list[str]] = {}  # by their effects
    for n in others:
        shapes.setdefault(_effects(n), []).append(f"{n.layers:,} x {n.architecture.width:,}")
    prices = "; ".join(f"{' or '.join(alike)}: {effects}" for effects, alike in shapes.items())
    sources = ", ".join(dict.fromkeys(n.loss_source for n in others if n.loss_change))
    return prices + (f" ({sources})" if sources else "")


def _effects(n: Neighbour) -> str:
    """What a neighbour costs or gains."""
    known = percents(n.loss_change) if n.loss_change else f"not known ({n.loss_source})"
    parts = [f"loss {known}"]
    # What compute is worth follows from the loss; of equal losses `--why` says the rest.
    if n.speedup and n.loss_change and not percents(n.loss_change).startswith("within"):
        worth = _factors(n.speedup)
        if worth != "1.00":
            parts.append(f"worth {worth} of the compute")
    if n.milliseconds:
        parts.append(milliseconds(n.milliseconds))
    return ", ".join(parts)


def _factors(ends: tuple[float, float]) -> str:
    low, high = (f"{factor:.2f}" for factor in ends)
    return low if low == high else f"{low} to {high}"


def _speed(candidate: Candidate) -> str:
    return f"; {milliseconds(candidate.milliseconds)}" if candidate.milliseconds else ""


def _sections(answer: Answer) -> Iterator[tuple[str, Iterable[Row | str]]]:
    """Headings and what stands under each, with a label or without."""
    given, proposed = answer.given, _proposed(answer)
    if given:
        yield "Counts of the configuration:", _costs(given, answer)
    if proposed:
        yield "Counts of the recommended shape:", _costs(proposed, None if given else answer)
    if answer.shape:
        yield (
            "Other shapes:",
            [
                f"{shape(c.architecture)}; {counted(c.counts)}{_speed(c)}. {c.why}"
                for c in answer.runners_up
            ],
        )
    if proposed:
        yield "Why this depth:", [proposed.why, answer.rule_why]
    elif answer.shape:
        yield "The advised depth:", [answer.rule_why]
    if answer.interval:
        outside = "; EXTRAPOLATED" if answer.interval.extrapolated else ""
        sources = "; ".join(answer.interval.sources)
        yield f"{answer.interval.ends}:", [f"{answer.interval.why}{outside} [{sources}]"]
    if b := answer.built:
        near = [f"{name}: {deep:,} x {wide:,}" for name, deep, wide in b.nearest]
        yield "Real models nearby:", [*near, f"{b.models} models, known: {b.wording}"]
    yield ("Who says what (never averaged):", [(str(law.layers), _law(law)) for law in answer.laws])
    for task in answer.tasks:
        numbers = [(at, _task_number(n, at, n.certainty)) for at, n in _labelled(task)]
        yield task.question, [*numbers, *task.remarks]
    if answer.stages:
        yield "Layers of each pipeline stage:", [", ".join(map(str, answer.stages))]
    yield "Initialisation for this depth:", answer.initialisation
    yield "Doubts:", answer.doubts


def _around(neighbours: Sequence[Neighbour], width: int) -> str:
    """A table of the shapes with one legal depth less, the same, and one more."""
    rows = [("equal", "shape", "heads", "d_ff", "size", "loss %", "compute")]
    for n in neighbours:
        a = n.architecture
        rows.append(
            (
                n.equal,
                f"{a.layers:,} x {a.width:,}",
                f"{a.heads} ({a.key_heads})",
                f"{a.d_ff:,}",
                size(n.counts.total),
                percents(n.loss_change)[:-2] if n.loss_change else "not known",
                _factors(n.speedup) if n.speedup else "",
            )
        )
    sources = dict.fromkeys(n.loss_source for n in neighbours if n.loss_change)
    unknown = dict.fromkeys(n.loss_source for n in neighbours if not n.loss_change)
    loss = ". not known: ".join("; ".join(names) for names in (sources, unknown) if names)
    about = (
        f"One depth less, the same, one more. loss: {loss}. compute: effective "
        "speed-up, below 1 where the shape loses: by Marin's two fits, of other data, with "
        "the FLOPs of a token for its time; of equal losses the FLOPs alone."
    )
    timed = [
        f"{n.layers} layers, equal {n.equal}: {milliseconds(n.milliseconds)}"
        for n in neighbours
        if n.milliseconds
    ]
    return "\n".join(
        [
            *wrapped(about, width),
            columns(rows, width),
            *(line for text in timed for line in wrapped(text, width, "- ", "  ")),
        ]
    )


def _costs(candidate: Candidate, answer: Answer | None) -> Iterator[str]:
    """Everything counted of a net; of the one that the answer's costs are of, those too."""
    a, c = candidate.architecture, candidate.counts
    yield (
        f"{c.total:,} parameters in all, {c.nonembedding:,} without embeddings, "
        f"{c.active:,} active, {c.embedding:,} in the token table"
    )
    yield (
        f"{per_layer(a) / a.width**2:.3g} d^2 weights in a layer (laws count 12; they are "
        "read at equal L d^2)"
    )
    if answer is None:
        return
    if answer.tokens:
        cost = f"{answer.tokens / c.total:.3g} per parameter"
        yield f"{size(answer.tokens)} training tokens, {cost}"
    if answer.training_flops:
        yield f"{answer.training_flops:.3g} training FLOPs"
    if f := answer.flops:
        causal = ", causal half" if f.causal else ""
        yield (
            f"{size(f.forward)} FLOPs per token forward ({size(f.attention)} of them attention "
            f"scores at {f.context:,} tokens{causal}), {size(f.training)} in training"
        )
    if m := answer.memory:
        trained = ""
        if m.gradients is not None and m.optimiser is not None and m.activations is not None:
            trained = (
                f", gradients {binary(m.gradients)}, optimiser "
                f"{binary(sum(m.optimiser.values()))}, activations {binary(m.activations)}"
            )
        yield f"weights {binary(m.weights)}{trained}, KV cache {binary(m.kv_cache)}"


def _law(law: LawNumber) -> str:
    wide = f" (width {law.width:,})" if law.width else ""
    error = f" +- {law.error:.1f}" if law.error is not None else ""
    outside = " EXTRAPOLATED." if law.extrapolated else ""
    where = ""
    if law.domain:
        low, high = map(size, law.domain)
        where = f" Measured at {low if low == high else f'{low} to {high}'} parameters."
    special = [
        _SPECIAL[name] for name in (law.parametrisation, law.norm, law.residual) if name in _SPECIAL
    ]
    where += f" For {' and '.join(special)}." if special else ""
    remark = f" {law.remark[:1].upper()}{law.remark[1:]}." if law.remark else ""
    return (
        f"{law.meaning}{wide}: {law.name}, {law.formula}, L = {law.depth:.1f}{error}.{outside}"
        f"{where}{remark} "
        f"{_sourced(law.source, law.wording, law.claim, law.verdict, law.claim_about)}"
    )


def _labelled(task: TaskAnswer) -> Iterator[tuple[str, TaskNumber]]:
    labels = task.labels or tuple(str(number.layers) for number in task.numbers)
    return zip(labels, task.numbers, strict=True)


def _task_number(number: TaskNumber, label: str, certainty: str = "") -> str:
    name, regime = number.name.removeprefix(label).strip(), number.regime
    outside = " EXTRAPOLATED." if number.extrapolated else ""
    certainty = f"; {certainty}" if certainty else ""
    known = _sourced(
        number.source, number.wording, number.claim, verdict(number.claim), about(number.claim)
    )
    return (
        f"{number.meaning}: {name}, {number.rule}.{outside} "
        f"{regime[:1].upper()}{regime[1:]}{certainty}. {known}"
    )


def _sourced(source: str, wording: str, claim: str | None, value: str | None, of: str = "") -> str:
    """Where a number is from, how that is known, and the verdict on the claim about it, after what
    of the number that claim checks."""
    if not claim:
        return f"[{source}; {wording}]"
    named = f" ({claim_title})" if (claim_title := title(claim)) else ""
    judged = f"{f'{of}: ' * bool(of)}claim {claim}{named}: {value or 'no verdict yet'}"
    named = f"claim {claim}"
    return (
        f"[{source.replace(named, judged)}; {wording}]"
        if named in source
        else f"[{source}; {wording}; {judged}]"
    )


# --- the evidence --------------------------------------------------------------------------------


def evidence(table: EvidenceTable, width: int = 80) -> str:
    """How every rule does on the published grids, how the recommendation does on each source that
    it was not chosen by, and Levine's projections beside the fit."""
    legend = (
        "Regret: where the depth of a rule lies between the best (0) and the worst (1) of a grid, "
        "read between its nets; mean over the grids of a source, then over sources. loss: regret "
        "in percent of the loss, where losses are published. best: grids whose best net is the "
        "nearest. *: the rules that may be chosen, which were published for plain residuals and "
        "name a depth to build."
    )
    every = [("rule", "says", "regret", "worst", "loss %", "best")] + [
        (
            s.rule.name + " *" * (s.rule.key in table.choices),
            s.rule.meaning,
            f"{s.mean:.3f}",
            f"{s.worst:.2f}",
            "" if s.loss is None else f"{100 * s.loss:.2f}",
            f"{s.hits}/{len(s.outcomes)}",
        )
        for s in table.scores
    ]
    left_out = (
        "Each source judges what the others choose, without rules that were read off it. built: "
        "the same of what the advisor builds, which above the sizes of the grids of losses takes "
        f"the shallowest depth within {100 * UNTOLD:g} % of the rule's loss. best, worst: on how "
        "many grids the interval of the other sources holds the best depth, and the worst."
    )
    if table.settled:
        left_out += (
            " Whichever source is left out, the others choose the same rule, so its score "
            "here is the one above and no score on new sources; which rules may be chosen "
            "was settled with the scores in view."
        )
    texts = [left_out]
    if table.rows and table.best.rule != table.default.rule:
        against = f"{table.best.rule.name} against {table.default.rule.formula}, by source: "
        texts.insert(0, f"{against}{gain(table.best, table.default)}.")
    rows: list[tuple[str, ...]] = [
        ("source", "chosen by the others", "regret", "built", "d = 64 L", "best", "worst")
    ]
    rows += [
        (
            row.source,
            row.chosen.name,
            f"{row.regret:.2f}",
            f"{row.built:.2f}",
            f"{row.default:.2f}",
            f"{row.inside}/{row.asked}",
            f"{row.losers}/{row.asked}",
        )
        for row in table.rows
    ]
    means = (table.held_out, table.held_out_built, table.of("nanochat").mean)
    rows.append(("all", "", *(f"{mean:.3f}" for mean in means), "", ""))
    projected = [("model", "parameters", "stated", "fit", "+-", "")] + [
        (
            p.model,
            size(p.parameters),
            str(p.stated),
            f"{p.solved:.1f}",
            f"{p.error:.1f}",
            "" if p.matches else "not equal after rounding",
        )
        for p in projections()
    ]
    # Upwards: none is further off than what is printed.
    off = math.ceil(10 * max(abs(p.stated - p.solved) / p.error for p in projections())) / 10
    return "\n\n".join(
        [
            "\n".join(wrapped(legend, width)),
            columns(every, width),
            *("\n".join(wrapped(text, width)) for text in texts),
            columns(rows, width),
            "\n".join(
                wrapped(
                    "Depths that Levine et al. project (recalled) beside their fit solved for the "
                    f"size, with its standard error (none is further off than {off:.1f} of these):",
                    width,
                )
            ),
            columns(projected, width),
        ]
    )


def columns(rows: Sequence[Sequence[str]], width: int) -> str:
    """A table, columns of numbers to the right. Where it does not fit, its widest column of words
    wraps; where that column would be too narrow, each row becomes a block of named values.

    Args:
        rows: the first holds the headings.
        width: columns of the terminal.
    """
    cells_of = [list(column) for column in zip(*rows, strict=True)]
    widths = [max(map(len, column)) for column in cells_of]
    numbers = [
        all(not cell or (cell[0].isdigit() and not re.search("[a-z]{3}", cell)) for cell in cells)
        for _, *cells in cells_of
    ]
    words = [i for i, number in enumerate(numbers) if not number]
    if words:
        widest = max(words, key=widths.__getitem__)
        widths[widest] -= max(0, sum(widths) + 2 * (len(widths) - 1) - width)
    if (
        min(widths) < 1
        or sum(widths) + 2 * (len(widths) - 1) > width
        or (words and widths[widest] < _LEAST and widths[widest] < max(map(len, cells_of[widest])))
    ):
        heading, *others = rows
        return "\n".join(
            line
            for row in others
            for line in wrapped(
                row[0]
                + ": "
                + ", ".join(
                    f"{h} {c}".strip() for h, c in zip(heading[1:], row[1:], strict=True) if c
                ),
                width,
                rest="  ",
            )
        )
    lines = []
    for row in rows:
        cells = [wrapped(cell, w) or [""] for cell, w in zip(row, widths, strict=True)]
        for i in range(max(map(len, cells))):
            padded = [cell[i] if i < len(cell) else "" for cell in cells]
            lines.append(
                "  ".join(
                    cell.rjust(w) if number else cell.ljust(w)
                    for cell, w, number in zip(padded, widths, numbers, strict=True)
                ).rstrip()
            )
    return "\n".join(lines)


def evidence_json(table: EvidenceTable) -> dict[str, Any]:
    """The same as plain data, with the regret of every rule by source."""
    rule = ("key", "name", "formula", "meaning", "source", "wording")
    paired = None
    if table.rows:
        against = gain(table.best, table.default)
        error = against.error if against.sources > 1 else None
        paired = against._asdict() | {"error": error, "told": against.told}
    return {
        "rules": [
            {name: getattr(s.rule, name) for name in rule}
            | {
                "regret": s.mean,
                "worst": s.worst,
                "loss": s.loss,
                "best": s.hits,
                "grids": len(s.outcomes),
                "regret_by_source": s.sources,
                "loss_by_source": s.losses,
                "may_be_chosen": s.rule.key in table.choices,
            }
            for s in table.scores
        ],
        "against_default": paired,
        "left_out": [plain_data(row) | {"chosen": row.chosen.key} for row in table.rows],
        "held_out": table.held_out if table.rows else None,
        "projections": [plain_data(p) for p in projections()],
    }


# --- words ---------------------------------------------------------------------------------------


def shape(a: Architecture) -> str:
    """An architecture in one phrase.

    >>> from depthlaw.advisor.architecture import Architecture
    >>> shape(Architecture(32, 4096, 32, 14336, 128256, kv_heads=8))
    '32 layers x width 4,096; 32 heads of 128 on 8 key-value heads; d_ff 14,336'
    """
    deep = layers(a.layers)
    if a.unique_layers and a.unique_layers != a.layers:
        deep += f" ({a.unique_layers} of their own)"
    if a.encoder_layers and a.kind == "encoder-decoder":
        deep = f"{a.encoder_layers} + {deep}"
    keys = f" on {plural(a.key_heads, 'key-value head')}" if a.key_heads != a.heads else ""
    parts = [f"{deep} x width {a.width:,}", f"{plural(a.heads, 'head')} of {a.head_size}{keys}"]
    if not a.experts or a.experts.dense_layers:
        parts.append(f"d_ff {a.d_ff:,}")
    if not a.gated:
        parts.append("not gated")
    if e := a.experts:
        shared = f" and {e.shared} shared" if e.shared else ""
        parts.append(f"{e.count} experts of {e.width:,}, {e.active} active{shared}")
    return "; ".join(parts)


def counted(c: Count) -> str:
    """Three counts in one phrase, those that are equal once."""
    active = f", {size(c.active)} active" if c.active != c.total else ""
    return f"{size(c.total)} parameters ({size(c.nonembedding)} without embeddings{active})"


def layers(number: int) -> str:
    """So many layers."""
    return plural(number, "layer")


def milliseconds(interval: tuple[float, float, float]) -> str:
    """Milliseconds for one token with their interval."""
    low, middle, high = map(budgets.milliseconds, interval)
    return f"{middle} ms per token (95 %: {low} to {high})"


def _laid_out(rows: Iterable[Row | str], width: int, bullet: str = "") -> list[str]:
    """Labels in a column of their own where there is room. What has none starts with the bullet, or
    stands below the text of the row before."""
    lines: list[str] = []
    for row in rows:
        label, text = ("", row) if isinstance(row, str) else row
        if label and width < _NARROW:
            lines += wrapped(f"{label}: {text}", width, rest="  ")
        elif label:
            lines += wrapped(text, width, f"{label:<{_LABEL}}", " " * _LABEL)
        else:
            column = _LABEL if lines and not bullet and width >= _NARROW else 0
            under = column + 2 * (text.startswith("- ") or not column)
            lines += wrapped(text, width, bullet or " " * column, " " * under)
    return lines


# --- for machines and papers ---------------------------------------------------------------------


def as_json(answer: Answer) -> dict[str, Any]:
    """The answer as plain data, as schema.json describes it."""
    data: dict[str, Any] = plain_data(answer)
    if answer.flops:
        data["flops"] |= {"forward": answer.flops.forward, "training": answer.flops.training}
    if answer.memory:
        data["memory"] |= {"training": answer.memory.training, "serving": answer.memory.serving}
    return data


def plain_data(value: Any) -> Any:
    """Dataclasses and named tuples as dictionaries without what starts with an underscore; no
    infinities."""
    if is_dataclass(value):
        value = {field.name: getattr(value, field.name) for field in fields(value)}
    elif hasattr(value, "_asdict"):  # a named tuple
        value = value._asdict()
    if isinstance(value, dict):
        return {name: plain_data(item) for name, item in value.items() if name[:1] != "_"}
    if isinstance(value, tuple | list):
        return [plain_data(item) for item in value]
    return None if isinstance(value, float) and not math.isfinite(value) else value


def citation(answer: Answer, version: str) -> str:
    """One sentence that says what was recommended, by what, and from which sources."""
    known = {rule.read_off: rule.source for rule in rules() if rule.read_off}
    parts = []
    if proposed := _proposed(answer):
        a = proposed.architecture
        parts.append(
            f"recommends {layers(a.layers)} of width {a.width:,} "
            f"({size(proposed.counts.total)} parameters){_by_rule(answer, proposed)}"
        )
    if answer.interval:
        sources = "; ".join(known.get(name, name) for name in answer.interval.sources)
        where = (
            ", as extrapolated from published grids without such nets"
            if answer.interval.extrapolated
            else " in published grids"
        )
        parts.append(f"finds {answer.interval.ends} within 1 % of the best loss{where} ({sources})")
    for task in answer.tasks:
        sources = "; ".join(dict.fromkeys(number.source for number in task.numbers))
        parts.append(f"says of the task {task.task}: {task.headline} ({sources})")
    return f'depthlaw {version}, asked "{answer.question}", {", and ".join(parts)}.'


def _by_rule(answer: Answer, proposed: Candidate) -> str:
    """The rule that chose the depth, and its source, where one did. Where the answer has fewer
    layers than the rule, by what it differs."""
    for r in rules():
        if r.key == answer.rule and r.name in proposed.why:
            law = next((law for law in answer.laws if law.key == r.key), None)
            reached = ""
            if law and law.extrapolated and law.domain:
                low, high = map(size, law.domain)
                reached = f", itself extrapolated beyond its {low} to {high}"
            known = f"({r.source}; {r.wording}{reached})"
            return f": {proposed.why} {known}" if answer.rule_layers else f" by {r.name} {known}"
    return ""


def in_brief(answer: Answer) -> str:
    """The answer in one line, for a prompt.

    >>> from .recommendation import recommend
    >>> in_brief(recommend(task="hops", hops=16))
    '<Answer: 6 layers suffice for 16 hops: ceil(log_2 k) + 2>'
    """
    proposed = _proposed(answer) or answer.given
    parts = (
        [f"{proposed.architecture.layers:,} x {proposed.architecture.width:,}"] if proposed else []
    )
    parts += [task.headline for task in answer.tasks]
    return f"<Answer: {'; '.join(parts) or answer.question}>"

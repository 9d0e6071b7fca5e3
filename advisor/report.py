"""An answer of the advisor in words, as JSON, and as one sentence to cite."""
from __future__ import annotations

import textwrap
from collections.abc import Iterable, Iterator
from dataclasses import fields, is_dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from .verdicts import verdict

if TYPE_CHECKING:
    from .architecture import Architecture
    from .counting import Count, Flops, Memory
    from .recommendation import Answer, Candidate, LawNumber, Neighbour
    from .tasks import TaskAnswer, TaskNumber

SCHEMA = Path(__file__).with_name("schema.json")
LEGEND = (
    "printed: read in the source; reported: read elsewhere; recalled: from memory, check it; "
    "derived: computed here; EXTRAPOLATED: outside what was measured. Verdicts are those of "
    "`depthlaw show CLAIM`.")
# Columns of the labels, and the width below which there is no room for such a column.
_LABEL, _NARROW = 9, 60

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
        if lines := _laid_out(rows, width):
            parts.append("\n".join([heading, *lines]))
    return "\n\n".join([*parts, "\n".join(_wrap(LEGEND, width))])


def _short(answer: Answer) -> Iterator[Row]:
    yield "", answer.question
    if answer.given:
        yield "Given", f"{shape(answer.given.architecture)}; {counted(answer.given.counts)}"
        for said in answer.verdicts:
            yield "", said
    if answer.shape:
        built = answer.shape.architecture
        label = "Instead" if answer.given and built != answer.given.architecture else "Answer"
        yield label, f"{shape(built)}; {counted(answer.shape.counts)}{_speed(answer.shape)}"
        if answer.rule_why:
            yield "Why", answer.rule_why
    if answer.interval:
        outside = " EXTRAPOLATED." if answer.interval.extrapolated else ""
        yield "Range", (f"{answer.interval.low} to {layers(answer.interval.high)}: "
                        f"{answer.interval.why}{outside}")
    if answer.built:
        b = answer.built
        near = ", ".join(f"{name} {deep} x {wide:,}" for name, deep, wide in b.nearest[:2])
        yield "Built", (f"{b.low} to {layers(b.high)}, middle {b.middle} ({b.recipes} recipes "
                        f"within a factor {b.factor:g}): {near}")
    yield from _price(answer)
    for task in answer.tasks:
        yield "Task", f"{task.question.removeprefix('Task: ')} {task.headline}."
    if answer.together:
        yield "Together", answer.together
    for warning in answer.warnings:
        yield "Warning", warning
    if answer.doubts:
        yield "Doubt", answer.doubts[0]
    if answer.floor:
        yield "Floor", f"{layers(answer.floor.layers)} by {answer.floor.name}"


def _price(answer: Answer) -> Iterator[Row]:
    """One legal depth less, and one more, at equal parameters."""
    if answer.shape is None:
        return
    middle = answer.shape.architecture.layers
    for n in answer.neighbours:
        if n.equal == "parameters" and n.layers != middle:
            yield ("Fewer" if n.layers < middle else "More",
                   f"{n.layers} x {n.architecture.width:,}: {_effects(n)}")


def _effects(n: Neighbour) -> str:
    """What a neighbour costs or gains."""
    parts = [f"loss {percents(n.loss_change)} ({n.loss_source})" if n.loss_change
             else f"change of loss not known ({n.loss_source})"]
    if n.speedup:
        low, high = (f"{factor:.2f}" for factor in n.speedup)
        parts.append(f"worth {low} to {high} times the compute" if low != high
                     else f"worth {low} times the compute")
    if n.milliseconds:
        parts.append(milliseconds(n.milliseconds))
    return "; ".join(parts)


def _speed(candidate: Candidate) -> str:
    return f"; {milliseconds(candidate.milliseconds)}" if candidate.milliseconds else ""


def _sections(answer: Answer) -> Iterator[tuple[str, Iterable[Row]]]:
    if answer.shape:
        yield "Counts of the recommended shape:", _costs(answer)
        yield "Other shapes:", [
            ("", f"{shape(c.architecture)}; {counted(c.counts)}{_speed(c)}. {c.why}")
            for c in answer.runners_up]
        yield "One depth less, the same, one more:", [
            ("", f"equal {n.equal}: {shape(n.architecture)}; {counted(n.counts)}. {_effects(n)}")
            for n in answer.neighbours]
    if answer.interval:
        yield "Range:", [("", f"{answer.interval.why} [{'; '.join(answer.interval.sources)}]")]
    if answer.built:
        yield "Real models nearby:", [
            ("", f"{name}: {deep} x {wide:,}") for name, deep, wide in answer.built.nearest] + [
            ("", f"{answer.built.models} models, known: {answer.built.wording}")]
    yield ("Who says what (never averaged):",
           [(str(law.layers), _law(law)) for law in answer.laws])
    for task in answer.tasks:
        yield task.question, _task(task)
    yield "Limits:", [("", text) for text in answer.limits]
    if answer.stages:
        yield "Layers of each pipeline stage:", [("", ", ".join(map(str, answer.stages)))]
    yield "Initialisation for this depth:", [("", text) for text in answer.initialisation]
    yield "Doubts:", [("", text) for text in answer.doubts]


def _costs(answer: Answer) -> Iterator[Row]:
    assert answer.shape is not None
    c = answer.shape.counts
    yield "", (f"{c.total:,} parameters in all, {c.nonembedding:,} without embeddings, "
               f"{c.active:,} active, {c.embedding:,} in the token table")
    if answer.tokens:
        yield "", (f"{size(answer.tokens)} training tokens, {answer.tokens / c.total:.3g} per "
                   "parameter")
    if answer.training_flops:
        yield "", f"{answer.training_flops:.3g} training FLOPs"
    if answer.flops:
        yield "", _operations(answer.flops)
    if answer.memory:
        yield "", _bytes(answer.memory)


def _operations(f: Flops) -> str:
    causal = ", causal half" if f.causal else ""
    return (f"{size(f.forward)} FLOPs per token forward ({size(f.attention)} of them attention "
            f"scores at {f.context:,} tokens{causal}), {size(f.training)} in training")


def _bytes(m: Memory) -> str:
    text = f"weights {gibibytes(m.weights)}"
    if m.gradients is not None and m.optimiser is not None and m.activations is not None:
        text += (f", gradients {gibibytes(m.gradients)}, optimiser "
                 f"{gibibytes(sum(m.optimiser.values()))}, activations {gibibytes(m.activations)}")
    return f"{text}, KV cache {gibibytes(m.kv_cache)}"


def _law(law: LawNumber) -> str:
    wide = f" (width {law.width:,})" if law.width else ""
    error = f" +- {law.error:.1f}" if law.error is not None else ""
    outside = " EXTRAPOLATED." if law.extrapolated else ""
    where = "" if law.domain is None else (
        f" Measured from {size(law.domain[0])} to {size(law.domain[1])} parameters.")
    remark = f" {law.remark}" if law.remark else ""
    return (f"{law.meaning}{wide}: {law.name}, {law.formula}, L = {law.depth:.1f}{error}.{outside}"
            f"{where}{remark} [{law.source}; {law.wording}{_judged(law.claim, law.verdict)}]")


def _task(task: TaskAnswer) -> Iterator[Row]:
    yield "", task.headline
    labels = task.labels or tuple(str(number.layers) for number in task.numbers)
    for label, number in zip(labels, task.numbers, strict=True):
        yield label, _task_number(number, label)
    for remark in task.remarks:
        yield "", remark


def _task_number(number: TaskNumber, label: str) -> str:
    name, regime = number.name.removeprefix(label).strip(), number.regime
    outside = " EXTRAPOLATED." if number.extrapolated else ""
    claim = _judged(number.claim, verdict(number.claim))
    return (f"{number.meaning}: {name}, {number.rule}.{outside} {regime[:1].upper()}{regime[1:]}; "
            f"{number.certainty}. [{number.source}; {number.wording}{claim}]")


def _judged(claim: str | None, found: str | None) -> str:
    return f"; claim {claim}: {found or 'no verdict yet'}" if claim else ""


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
    keys = f" on {a.key_heads} key-value heads" if a.key_heads != a.heads else ""
    parts = [f"{deep} x width {a.width:,}", f"{a.heads} heads of {a.head_size}{keys}",
             f"d_ff {a.d_ff:,}" + ("" if a.gated else ", not gated")]
    if e := a.experts:
        shared = f" and {e.shared} shared" if e.shared else ""
        parts.append(f"{e.count} experts of {e.width:,}, {e.active} active{shared}")
    return "; ".join(parts)


def counted(c: Count) -> str:
    """Three counts in one phrase, those that are equal once."""
    active = f", {size(c.active)} active" if c.active != c.total else ""
    return f"{size(c.total)} parameters ({size(c.nonembedding)} without embeddings{active})"


def size(number: float) -> str:
    """A large number to three digits.

    >>> [size(n) for n in (3_012_345_678, 350e6, 999_600, 12, 1e15, 2.5e18, 0)]
    ['3.01B', '350M', '1M', '12', '1e+15', '2.5e+18', '0']
    """
    for unit, suffix in ((1e12, "T"), (1e9, "B"), (1e6, "M"), (1e3, "K")):
        if 0.9995 * unit <= number < 1e15:
            return f"{number / unit:.3g}{suffix}"
    return f"{number:.3g}"


def layers(number: int) -> str:
    """
    >>> layers(1), layers(28)
    ('1 layer', '28 layers')
    """
    return f"{number:,} layer{'' if number == 1 else 's'}"


def percents(change: tuple[float, float]) -> str:
    """A relative change as an interval.

    >>> percents((-0.001, 0.0034)), percents((0.002, 0.002))
    ('-0.1 to +0.3 %', '+0.2 %')
    """
    low, high = (f"{100 * x:+.1f}" for x in change)
    return f"{low} %" if low == high else f"{low} to {high} %"


def milliseconds(found: tuple[float, float, float]) -> str:
    """Milliseconds for one token with their interval."""
    low, middle, high = found
    return f"{middle:.3g} ms per token ({low:.3g} to {high:.3g})"


def gibibytes(count: float) -> str:
    """
    >>> gibibytes(2**31), gibibytes(1000)
    ('2 GiB', '0.000954 MiB')
    """
    return f"{count / 2**30:.3g} GiB" if count >= 2**29 else f"{count / 2**20:.3g} MiB"


def _laid_out(rows: Iterable[Row], width: int) -> list[str]:
    lines: list[str] = []
    for label, text in rows:
        if width < _NARROW:
            lines += _wrap(f"{label}: {text}" if label else text, width, rest="  ")
        else:
            first = f"{label:<{_LABEL}}" if label else "  " if lines else ""
            lines += _wrap(text, width, first, " " * (_LABEL if label else 2))
    return lines


def _wrap(text: str, width: int, first: str = "", rest: str = "") -> list[str]:
    return textwrap.wrap(text, width, initial_indent=first, subsequent_indent=rest,
                         break_on_hyphens=False)


# --- for machines and papers ---------------------------------------------------------------------


def as_json(answer: Answer) -> dict[str, Any]:
    """The answer as plain data, as schema.json describes it."""
    data = _plain(answer)
    if answer.flops:
        data["flops"] |= {"forward": answer.flops.forward, "training": answer.flops.training}
    if answer.memory:
        data["memory"] |= {"training": answer.memory.training, "serving": answer.memory.serving}
    return data


def _plain(value: Any) -> Any:
    if is_dataclass(value):
        return {field.name: _plain(getattr(value, field.name)) for field in fields(value)}
    if hasattr(value, "_asdict"):  # a named tuple
        return {name: _plain(item) for name, item in value._asdict().items()}
    if isinstance(value, dict):
        return {name: _plain(item) for name, item in value.items()}
    if isinstance(value, tuple | list):
        return [_plain(item) for item in value]
    return value


def citation(answer: Answer, version: str) -> str:
    """One sentence that says what was recommended, by what, and from which sources."""
    parts = []
    if answer.shape:
        a = answer.shape.architecture
        parts.append(f"recommends {layers(a.layers)} of width {a.width:,} "
                     f"({size(answer.shape.counts.total)} parameters)")
    if answer.interval:
        parts.append(f"finds {answer.interval.low} to {layers(answer.interval.high)} within 1 % of "
                     f"the best loss in published grids ({'; '.join(answer.interval.sources)})")
    for task in answer.tasks:
        sources = "; ".join(dict.fromkeys(number.source for number in task.numbers))
        parts.append(f"says of the task {task.task}: {task.headline} ({sources})")
    question = answer.question.rstrip(".")
    return f"For \"{question}\" depthlaw {version} {', and '.join(parts)}."

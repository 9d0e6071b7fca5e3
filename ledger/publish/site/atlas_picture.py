"""The picture of the atlas: for each task and class a bar from the depth that is needed to the one
that suffices, in columns of how depth grows with the task."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator
from functools import partial
from html import escape
from itertools import groupby

from depthlaw.advisor.atlas import NONE, AtlasBound, AtlasClass, AtlasRow, AtlasTask
from depthlaw.advisor.atlas.formulas import (
    Conditional,
    Growth,
    Limited,
    Log,
    Words,
    letters,
    parse,
    value,
)

# How depth grows: a constant, with a logarithm of what the task is about, or faster.
COLUMNS = ("1", "2", "3", "4+", "log", "lin", "none")
KINDS = {
    "softmax": "softmax attention",
    "hard": "hard attention, lookups",
    "linear": "linear or kernel attention",
    "counting": "counting attention",
    "recurrent": "recurrent, hybrid",
    "thought": "chain of thought",
    "relu": "ReLU nets",
}
# In pixels: a column, the height of a class, that of its bar and the gap above a picture's axis.
_COLUMN, _LANE, _BAR, _AXIS = 28, 12, 8, 14
# Numbers for letters that tell a constant from a logarithm from more; heads stay few, and what a
# word is made of is longer than what is asked of it.
_SIZES = (2**16, 2**32)
_LOGARITHM = 3


def picture(rows: Iterable[AtlasRow], checked: Callable[[AtlasBound], bool]) -> str:
    """The picture, as HTML: a block for each subject, a link for each task, a bar for each class.

    Args:
        rows: of the atlas, those of a task together.
        checked: whether a claim here is about an end, and does not fail.
    """
    by_subject: dict[str, list[str]] = {}
    for task, own in groupby(rows, lambda row: row.task):
        by_subject.setdefault(task.subject, []).append(_task(task, list(own), checked))
    blocks = (
        f'<section><div class="atlas-task"><b>{escape(subject)}</b>{_axis()}</div>'
        f"{''.join(lines)}</section>"
        for subject, lines in by_subject.items()
    )
    return f'<div class="atlas">{_patterns()}{"".join(blocks)}</div>'


def legend() -> str:
    """What colours and fillings mean, as HTML."""
    colours = "".join(
        f'<span><svg width="14" height="8" aria-hidden="true">{_rectangle(kind, 0, 14, True)}</svg>'
        f" {escape(name)}</span>"
        for kind, name in KINDS.items()
    )
    fillings = "".join(
        f'<span><svg width="14" height="8" aria-hidden="true">{_rectangle("any", 0, 14, solid)}'
        f"</svg> {name}</span>"
        for solid, name in ((True, "checked here"), (False, "published, or argued in words"))
    )
    return f'<p class="atlas-legend">{colours}{fillings}</p>'


def column(depth: str) -> int:
    """The place of a depth in `COLUMNS`.

    >>> [COLUMNS[column(it)] for it in ("2", "ceil(log(n, 3)) + 1", "k", "none if k >= 2")]
    ['2', 'log', 'lin', 'none']
    >>> [COLUMNS[column(it)] for it in ("order log k", "some depth", "rank of f")]
    ['log', '4+', 'lin']
    """
    tree = parse(depth)
    if isinstance(tree, Conditional) and isinstance(tree.condition, Words):
        tree = tree.then
    if isinstance(tree, Limited):
        tree = tree.of
    if tree == Words("some depth"):
        return COLUMNS.index("4+")
    # No constant is enough, so that it is a logarithm at least.
    if isinstance(tree, Words) and tree.text.startswith("no fixed number"):
        return COLUMNS.index("log")
    if isinstance(tree, Growth):
        return COLUMNS.index("log" if isinstance(tree.of, Log) else "lin")
    if tree == Words(NONE):
        return COLUMNS.index(NONE)
    small, large = (value(depth.partition(" for ")[0], _at(depth, size)) for size in _SIZES)
    if not (isinstance(small, int) and isinstance(large, int)):
        return COLUMNS.index(NONE if large == float("inf") else "lin")
    if small == large:
        return min(small, COLUMNS.index("4+") + 1) - 1
    return COLUMNS.index("log" if large <= _LOGARITHM * small else "lin")


def kind(class_: AtlasClass) -> str:
    """The key in `KINDS` of a class."""
    units = {"steps of thought": "thought", "nested counts": "counting", "hidden layers": "relu"}
    if class_.unit in units:
        return units[class_.unit]
    if class_.arithmetic:
        return "recurrent"
    if class_.attention == ("linear",) or class_.name.startswith(("linear attention", "kernel")):
        return "linear"
    only_hard = class_.attention and not {"softmax", "linear"} & set(class_.attention)
    hard = only_hard or "hard" in class_.name or class_.name.startswith("pointers")
    return "hard" if hard else "softmax"


def _at(depth: str, size: int) -> dict[str, int]:
    special = {"H": 2, "n": size**2, "N": size**2, "M": size**4}
    return {name: special.get(name, size) for name in letters(parse(depth))}


def _task(task: AtlasTask, rows: list[AtlasRow], checked: Callable[[AtlasBound], bool]) -> str:
    lanes = "".join(
        f'<g transform="translate(0 {i * _LANE + 2})"><title>'
        f"{escape(f'{row.class_.name}: {row.summary}')}</title>{_lane(row, checked)}</g>"
        for i, row in enumerate(rows)
    )
    label = escape(f"{task.name}: depth by class of models", quote=True)
    bars = _svg(len(rows) * _LANE + 4, f'role="img" aria-label="{label}"', lanes)
    return f'<div class="atlas-task"><a href="{task.key}.html">{_name(task.name)}</a>{bars}</div>'


def _name(name: str) -> str:
    """The name of a task as HTML, with its indices and signs set."""
    name = re.sub(r"_(\w)\b", r"<sub>\1</sub>", escape(name))
    return name.replace("&lt;=", "≤").replace("&gt;=", "≥")


def _lane(row: AtlasRow, checked: Callable[[AtlasBound], bool]) -> str:
    """One bar: the needed end fills the left half of its column, the other the right half."""
    box = partial(_rectangle, kind(row.class_))
    half, width = _COLUMN / 2, len(COLUMNS) * _COLUMN
    if row.lower and row.needed == "-":
        return box(column(row.lower.depth) * _COLUMN + 1, _COLUMN - 2, checked(row.lower))
    low = column(row.needed) * _COLUMN if row.lower else None
    high = column(row.suffices) * _COLUMN + half if row.upper else None
    # Ends that meet touch; between others is a gap, which is dashed where a column is skipped.
    apart = 0 if row.gap != "open" else 1.5
    parts = []
    start = 0 if low is None else low + half
    end = width if high is None else high
    if end > start:
        parts.append(
            f'<line class="gap" x1="{start:g}" x2="{end:g}" y1="{_BAR / 2:g}" y2="{_BAR / 2:g}"/>'
        )
    if row.lower and low is not None:
        parts.append(box(low + 1, half - 1 - apart, checked(row.lower)))
    if row.upper and high is not None:
        parts.append(box(high + apart, half - 1 - apart, checked(row.upper)))
    return "".join(parts)


def _rectangle(kind_: str, x: float, width: float, solid: bool) -> str:
    fill = f"var(--atlas-{kind_})" if solid else f"url(#hatch-{kind_})"
    return (
        f'<rect x="{x:g}" width="{width:g}" height="{_BAR}" fill="{fill}" '
        f'stroke="var(--atlas-{kind_})"/>'
    )


def _axis() -> str:
    names = (
        f'<text x="{(i + 0.5) * _COLUMN:g}" y="11" text-anchor="middle">{name}</text>'
        for i, name in enumerate(COLUMNS)
    )
    return _svg(_AXIS, 'aria-hidden="true"', "".join(names))


def _svg(height: int, attributes: str, inside: str) -> str:
    width = len(COLUMNS) * _COLUMN
    rules = "".join(
        f'<line class="rule" x1="{i * _COLUMN}" x2="{i * _COLUMN}" y1="0" y2="{height}"/>'
        for i in range(len(COLUMNS) + 1)
    )
    return f'<svg width="{width}" height="{height}" {attributes}>{rules}{inside}</svg>'


def _patterns() -> str:
    def hatch(kind_: str) -> Iterator[str]:
        yield f'<pattern id="hatch-{kind_}" width="4" height="4" patternUnits="userSpaceOnUse" '
        yield 'patternTransform="rotate(45)"><line x1="0" x2="0" y1="0" y2="4" stroke-width="2" '
        yield f'stroke="var(--atlas-{kind_})"/></pattern>'

    defined = "".join("".join(hatch(each)) for each in (*KINDS, "any"))
    return f'<svg width="0" height="0" aria-hidden="true"><defs>{defined}</defs></svg>'

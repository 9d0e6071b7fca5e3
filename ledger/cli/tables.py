"""Tables that wrap in a terminal and are whole when piped, without control characters."""

from __future__ import annotations

import io
from collections.abc import Collection, Iterable, Iterator, Mapping
from typing import TYPE_CHECKING

from rich.cells import cell_len
from rich.console import Console
from rich.table import Table
from rich.text import Text

from ..text import clean

if TYPE_CHECKING:
    from ..publish.drawing.panels import Table as Data

# Under a table with such marks.
CHANGED = "*: something was changed after data were seen; `depthlaw show KEY` says what"
# What stands for a verdict where nothing was measured.
_NO_VERDICT = ("-", "not run", "OUT OF SCOPE")
# Columns before a block, in the place of a row that does not fit.
_INDENT = 3


def plain_table(gap: int = 1) -> Table:
    """An empty table without lines, and with so many spaces between columns."""
    return Table(box=None, pad_edge=False, padding=(0, gap, 0, 0), show_edge=False)


def text_table(
    *headings: str, rows: Iterable[Iterable[str]], left: Collection[str] = (), gap: int = 2
) -> Table:
    """Text that is never wrapped, on the right of its columns, or on the left of those named."""
    table = plain_table(gap)
    for heading in headings:
        table.add_column(heading, no_wrap=True, justify="left" if heading in left else "right")
    for row in rows:
        table.add_row(*row)
    return table


def names_table(name: str, what: str, rows: Mapping[str, str]) -> Table:
    """Names, and what stands behind each."""
    table = plain_table(2)
    table.add_column(name, no_wrap=True)
    table.add_column(what, overflow="fold", min_width=20)
    for row in rows.items():
        table.add_row(*row)
    return table


def claims_table(
    rows: Iterable[Mapping[str, str]], verdicts: Mapping[str, str], *, at: bool = False
) -> Table:
    """Every claim with its verdict, how we know its wording, and its title; `at`: and the names
    that --at takes. A * marks a verdict of a claim that was changed after data were seen. Keys may
    be indented."""
    table = plain_table()
    table.add_column("key", overflow="fold", min_width=40)
    table.add_column("verdict", no_wrap=True)
    table.add_column("wording", no_wrap=True)
    table.add_column("title", overflow="fold", min_width=20)
    if at:
        table.add_column("--at", overflow="fold", min_width=12)
    for row in rows:
        verdict = verdicts[row["key"].strip()] or "-"
        changed = row["post_hoc"] and verdict not in _NO_VERDICT
        table.add_row(
            clean(row["key"]),
            verdict + ("*" if changed else ""),
            row["wording"],
            Text(clean(row["title"])),
            *([row["at"]] if at else []),
        )
    return table


def data_table(data: Data) -> Table:
    """Plain data: numbers on the right, floats with four digits, "-" where there is no value.

    >>> from depthlaw.ledger.publish.drawing import panels
    >>> table = panels.Table(("n", "x"), ((1, None),))
    >>> [str(cell) for cell in data_table(table).columns[1].cells]
    ['-']
    """
    table = plain_table(2)
    for place, heading in enumerate(data.columns):
        words = any(isinstance(row[place], str) for row in data.rows)
        table.add_column(heading.strip(), justify="left" if words else "right", no_wrap=True)
    for row in data.rows:
        table.add_row(*(_shown(cell) for cell in row))
    return table


def _shown(cell: str | float | None) -> str:
    if cell is None:
        return "-"
    if isinstance(cell, float):
        return f"{cell:.4f}" if 1e-3 <= abs(cell) < 1e4 else f"{cell:.4g}"
    return clean(cell) if isinstance(cell, str) else f"{cell:,}"


def print_table(console: Console, table: Table) -> None:
    """Print a table without cutting anything.

    Piped, every row is one line, however long. In a terminal columns that may wrap do so down to
    their least width; where even that does not fit, every row becomes a block: its first cell, with
    its heading where it is a number, then the others with theirs. Rows with the same first cell
    stand below it together.
    """
    cells = [[_text(cell) for cell in column.cells] for column in table.columns]
    headings = [str(column.header) for column in table.columns]
    natural = [
        max(cell_len(text.plain) for text in (Text(heading), *column))
        for heading, column in zip(headings, cells, strict=True)
    ]
    gaps = table.padding[1] * len(table.columns)
    if not console.is_terminal:
        for size, column in zip(natural, table.columns, strict=True):
            column.width = size
        whole = Console(file=io.StringIO(), width=sum(natural) + gaps, highlight=False)
        with whole.capture() as captured:
            whole.print(table)
        console.file.writelines(f"{line.rstrip()}\n" for line in captured.get().splitlines())
        return
    widths = [
        size if column.no_wrap else min(size, column.min_width or size)
        for size, column in zip(natural, table.columns, strict=True)
    ]
    left = console.width - sum(widths) - gaps
    if left >= 0:
        # Left to itself rich would cut where columns of a least width do not fit beside each other.
        for place, column in reversed(list(enumerate(table.columns))):
            column.width = min(natural[place], widths[place] + left)
            left -= column.width - widths[place]
        console.print(table)
        return
    # A number says nothing without its heading.
    counted, before = table.columns[0].justify == "right", None
    for first, *others in zip(*cells, strict=True):
        if first != before:
            console.print(Text.assemble((f"{headings[0]} ", "dim"), first) if counted else first)
        before = first
        named = zip(headings[1:], others, strict=True)
        parts = [Text.assemble((f"{head} ", "dim"), cell) for head, cell in named if cell]
        for place, line in enumerate(_filled(parts, console)):
            console.print(Text(" " * (_INDENT + 2 * bool(place))).append_text(line))


def _filled(parts: Iterable[Text], console: Console) -> Iterator[Text]:
    """Lines of the block under a heading: a part goes on the next line before it is broken."""
    width, line = console.width - _INDENT - 2, Text()
    for part in parts:
        joined = Text("  ").join([line, part]) if line else part
        if joined.cell_len > width and line:
            yield line
            joined = part
        wrapped = joined.wrap(console, width)
        for each in wrapped:
            each.rstrip()
        *whole, line = wrapped
        yield from whole
    if line:
        yield line


def _text(cell: object) -> Text:
    return cell if isinstance(cell, Text) else Text(str(cell))

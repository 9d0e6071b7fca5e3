"""Tables of the atlas, read with file, line and cell in every error."""

from __future__ import annotations

import csv
from collections.abc import Collection, Iterator
from dataclasses import MISSING, fields
from difflib import get_close_matches
from pathlib import Path
from typing import Any, TypeVar

from ..base.quantities import UsageError, quoted

Row = TypeVar("Row")


def read_table(file: Path, of: type[Row]) -> Iterator[tuple[str, Row]]:
    """Each row of a CSV file, if there is one, with its place, such as "bounds.csv, line 7".

    A column is a field of `of`, `class` for `class_`. Columns with a default may be missing, cells
    of all others must be filled in; `int` and `int | None` are read as such. What `of.of_row` says
    of cells and their place, where there is such, comes last.

    Raises:
        UsageError: for a file, a row or a cell that is not of this form.
    """
    if not file.exists():
        return
    columns = {field.name.rstrip("_"): field for field in fields(of)}  # type: ignore[arg-type]
    needed = [name for name, field in columns.items() if field.default is MISSING]
    try:
        lines = file.read_text(encoding="utf-8-sig").splitlines(keepends=True)
    except (OSError, UnicodeDecodeError) as error:
        raise UsageError(f"cannot read {file} ({error}); give a CSV file in UTF-8") from None
    rows = csv.reader(lines, strict=True)
    header: list[str] = []
    try:
        for cells in rows:
            place = f"{file.name}, line {rows.line_num}"
            if not header:
                header = cells
                for name in header:
                    if name not in columns or header.count(name) > 1:
                        raise UsageError(
                            f"{place}: the column {quoted(name)} "
                            + ("is there twice" if name in columns else "is unknown")
                            + f"; accepted are {', '.join(columns)}"
                        )
                if missing := [name for name in needed if name not in header]:
                    raise UsageError(f"{place}: the column {missing[0]} is missing")
            elif cells:
                row = _cells(place, header, cells, columns)
                make = getattr(of, "of_row", None)
                yield place, of(**row) if make is None else make(row, place)
    except csv.Error as error:
        raise UsageError(f"{file.name}, line {rows.line_num}: {error}") from None


def _cells(
    place: str, header: list[str], cells: list[str], columns: dict[str, Any]
) -> dict[str, Any]:
    """The cells of a row by the name of the field."""
    if len(cells) != len(header):
        which = f"{quoted(cells[-1])} is too many" if len(cells) > len(header) else "too few"
        raise UsageError(
            f"{place}: {len(cells)} cells for the {len(header)} columns {', '.join(header)} "
            f"({which}); put a cell that holds a comma in quotes"
        )
    row: dict[str, Any] = {}
    for name, cell in zip(header, cells, strict=True):
        field = columns[name]
        if not cell.strip() and field.default is MISSING:
            raise UsageError(f"{place}: the cell {name} is empty")
        if not field.type.startswith("int"):
            row[field.name] = cell
        elif cell.strip().isdecimal():
            row[field.name] = int(cell)
        elif cell.strip():
            raise UsageError(f"{place}: the {name} is {quoted(cell)}; write a year such as 2026")
    return row


def refuse_unknown(place: str, name: str, cell: str, accepted: Collection[str]) -> None:
    """Raises where a cell is none of these, with the nearest of them."""
    if cell not in accepted:
        near = get_close_matches(cell, accepted, n=1)
        hint = f"did you mean {near[0]}?" if near else f"accepted are {', '.join(accepted)}"
        raise UsageError(f"{place}: unknown {name} {quoted(cell)}; {hint}")

"""What functions of depthlaw return: values with rows, JSON, one line at a prompt, and pictures."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from html import escape
from pathlib import Path
from typing import Any

# Rows that a notebook shows.
_MOST = 50


class Report:
    """A value with `rows()`, flat dictionaries such as `pandas.DataFrame` takes, and `to_json()`,
    what its command prints with `--json`. A notebook shows the rows, a prompt one line."""

    def rows(self) -> list[dict[str, Any]]:
        """Flat dictionaries, one for each row of a table: by default what is flat in the JSON."""
        data = self.to_json()
        return [
            {name: value for name, value in row.items() if not isinstance(value, dict | list)}
            for row in (data if isinstance(data, list) else [data])
        ]

    def to_json(self) -> Any:
        """What the command prints with `--json`: by default the rows."""
        return self.rows()

    def summary(self) -> str:
        """What it holds, in a few words."""
        return f"{len(self.rows())} rows"

    def __repr__(self) -> str:
        return f"<{type(self).__name__.removeprefix('_')}: {self.summary()}>"

    def _repr_html_(self) -> str:
        rows = self.rows()
        names = list(dict.fromkeys(name for row in rows for name in row))
        cells = [[row.get(name, "") for name in names] for row in rows[:_MOST]]
        return html_table(names, cells, len(rows), _cell)


def html_table(
    names: Sequence[str],
    rows: Sequence[Sequence[Any]],
    there: int,
    written: Callable[[Any], str],
    style: str = "",
) -> str:
    """The first rows, of so many, as a table; `written` makes HTML of a cell."""
    lines = [("th", names), *(("td", row) for row in rows)]
    table = "".join(
        f"<tr>{''.join(f'<{cell}{style}>{written(part)}</{cell}>' for part in line)}</tr>"
        for cell, line in lines
    )
    more = f"<p>and {there - len(rows)} more</p>" if there > len(rows) else ""
    return f"<table>{table}</table>{more}"


def _cell(value: Any) -> str:
    text = f"{value:.4g}" if isinstance(value, float) else "" if value is None else str(value)
    return escape(text)


@dataclass(frozen=True)
class Picture:
    """A picture that is drawn when it is looked at.

    Attributes:
        drawn: the bytes of a format: png, svg or pdf.
    """

    drawn: Callable[[str], bytes]

    def save(self, file: str | Path) -> Path:
        """Write it, in the format of the name's end (.png, .svg or .pdf).

        Raises:
            UsageError: for another end.
        """
        from ..publish.drawing.sweep_plot import plot_format
        from ..records.store import write_file

        place = Path(file)
        write_file(place, self.drawn(plot_format(place.suffix)))
        return place

    def _repr_svg_(self) -> str:
        return self.drawn("svg").decode()


def as_path(given: str | Path | None) -> Path | None:
    """The path of a file or folder, if one is given."""
    return None if given is None else Path(given)


def as_list(given: Any) -> list[Any]:
    """Several things, or one: a text or path stands for the list of it.

    >>> as_list("hops"), as_list(["hops", "connectivity"]), as_list(None)
    (['hops'], ['hops', 'connectivity'], [])
    """
    if given is None:
        return []
    return [given] if isinstance(given, str | Path) else list(given)

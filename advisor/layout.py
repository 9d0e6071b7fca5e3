"""Text laid out for a terminal: paragraphs, labels in a column, tables."""

from __future__ import annotations

import re
import textwrap
from collections.abc import Iterable, Sequence

# Columns of the labels, and the width below which there is no room for such a column.
_LABEL, _NARROW = 9, 60
# The narrowest that a column of words in a table may become.
_LEAST = 14

# A label and what is said under it.
Row = tuple[str, str]


def label_rows(rows: Iterable[Row | str], width: int, bullet: str = "") -> list[str]:
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


def wrapped(text: str, width: int, first: str = "", rest: str = "") -> list[str]:
    """Lines of at most so many columns; a single long word, such as a path, is left whole.

    >>> wrapped("one two three", 9, "- ", "  ")
    ['- one two', '  three']
    """
    return textwrap.wrap(
        text,
        width,
        initial_indent=first,
        subsequent_indent=rest,
        break_on_hyphens=False,
        break_long_words=False,
    )


def listed(parts: Sequence[object]) -> str:
    """Several things as a sentence names them.

    >>> listed([1, 2, 3]), listed(["one"]), listed([])
    ('1, 2 and 3', 'one', '')
    """
    names = [str(part) for part in parts]
    return " and ".join(filter(None, [", ".join(names[:-1]), *names[-1:]]))


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

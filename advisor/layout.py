"""Sentences filled in, and text laid out for a terminal: paragraphs, labels in a column, tables."""

from __future__ import annotations

import re
import textwrap
from collections.abc import Callable, Iterable, Sequence
from itertools import zip_longest
from string import Formatter
from typing import Any

from .base.quantities import binary, plural, size

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


class Sentences(Formatter):
    """Fills in sentences whose places stand in braces, as `str.format` does, and besides:

    {weights:bytes}, {sources:list}: in a form by its name; {layers:layer}: so many of a thing;
    {own:?yes}, {own:?yes|no}: a text where the value is true, else the other one or nothing. A
    place without a value stays empty.

    >>> Sentences().format("{n:head}{e:? of {e:size} experts|, dense}", n=1, e=0)
    '1 head, dense'
    """

    def __init__(self, **forms: Callable[[Any], str]) -> None:
        self.forms: dict[str, Callable[[Any], str]]
        self.forms = {"bytes": binary, "list": listed, "size": size, **forms}

    def format_field(self, value: Any, format_spec: str) -> str:
        """The text of one place."""
        if format_spec.startswith("?"):
            said, _, otherwise = format_spec[1:].partition("|")
            return said if value else otherwise
        if value is None:
            return ""
        if write := self.forms.get(format_spec):
            return write(value)
        counted = len(format_spec) > 1 and format_spec[0].isalpha()
        return plural(value, format_spec) if counted else format(value, format_spec)


def columns(rows: Sequence[Sequence[str]], width: int) -> str:
    """A table, columns of numbers to the right. Where it does not fit, its widest column of words
    wraps; where that column would be too narrow, each row becomes a block of named values.

    Args:
        rows: the first holds the headings.
        width: columns of the terminal.
    """
    lines: list[str] = []
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
    wide = min(widths) < 1 or sum(widths) + 2 * (len(widths) - 1) > width
    if wide or (words and widths[widest] < min(_LEAST, max(map(len, cells_of[widest])))):
        (_, *names), *others = rows
        for first, *cells in others:
            named = (f"{h} {c}".strip() for h, c in zip(names, cells, strict=True) if c)
            lines += wrapped(f"{first}: {', '.join(named)}", width, rest="  ")
        return "\n".join(lines)
    for row in rows:
        for line in zip_longest(*map(wrapped, row, widths), fillvalue=""):
            padded = (
                cell.rjust(w) if number else cell.ljust(w)
                for cell, w, number in zip(line, widths, numbers, strict=True)
            )
            lines.append("  ".join(padded).rstrip())
    return "\n".join(lines)

"""Text as lines of a given width."""

from __future__ import annotations

import textwrap


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

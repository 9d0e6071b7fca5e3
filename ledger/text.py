"""Text on its way to people."""

from __future__ import annotations

import re


def clean(text: str) -> str:
    """The text without control characters, which could rewrite what a terminal shows.

    >>> clean("a" + chr(27) + "[2Jb")
    'a[2Jb'
    """
    return re.sub(r"[\x00-\x08\x0b-\x1f\x7f-\x9f\u202a-\u202e\u2066-\u2069]", "", text)

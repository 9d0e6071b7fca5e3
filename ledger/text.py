"""Text on its way to people."""

from __future__ import annotations

import codecs
import re
import unicodedata
from typing import TextIO

# What a tree and its text are drawn with, where a stream has ASCII or Latin letters alone.
_PLAIN = str.maketrans(
    {
        **dict.fromkeys("\u2018\u2019", "'"),
        **dict.fromkeys("\u201c\u201d", '"'),
        **dict.fromkeys("\u2010\u2011\u2012\u2013\u2014\u2212\u2500\u2501", "-"),
        **dict.fromkeys("\u2502\u2503", "|"),
        **dict.fromkeys("\u251c\u2523\u253c", "+"),
        **dict.fromkeys("\u2514\u2517", "`"),
        "\u00d7": "x",
        "\u2192": "->",
        "\u2264": "<=",
        "\u2265": ">=",
        "\u2208": "in",
        "\u2308": "ceil(",
        "\u230a": "floor(",
        **dict.fromkeys("\u2309\u230b", ")"),
    }
)


def clean(text: str) -> str:
    """The text without control characters, which could rewrite what a terminal shows.

    >>> clean("a" + chr(27) + "[2Jb")
    'a[2Jb'
    """
    return re.sub(r"[\x00-\x08\x0b-\x1f\x7f-\x9f\u202a-\u202e\u2066-\u2069]", "", text)


def plain_letters(text: str) -> str:
    """The text in ASCII: signs by what looks like them, letters without accents or, if Greek, by
    their names; else "?".

    >>> plain_letters("\u251c\u2500\u2500 \u201cM\u00fcller\u201d")
    '+-- "Muller"'
    """
    return "".join(map(_plain_letter, text.translate(_PLAIN)))


def _plain_letter(letter: str) -> str:
    flat = unicodedata.normalize("NFKD", letter).encode("ascii", "ignore").decode()
    greek = re.fullmatch(r"GREEK \w+ LETTER (\w+)", unicodedata.name(letter, ""))
    return flat or (greek[1].capitalize() if greek else "?")


def _replaced(error: UnicodeError) -> tuple[str, int]:
    assert isinstance(error, UnicodeEncodeError)
    return plain_letters(error.object[error.start : error.end]), error.end


def never_refuse(*streams: TextIO) -> None:
    """Let streams print what their encoding lacks by `plain_letters`, where they would raise."""
    codecs.register_error("depthlaw-plain", _replaced)
    for stream in streams:
        if hasattr(stream, "reconfigure"):
            stream.reconfigure(errors="depthlaw-plain")


def is_unicode(stream: TextIO) -> bool:
    """Whether a stream can hold every character."""
    return str(getattr(stream, "encoding", None) or "utf-8").lower().startswith(("utf", "u8"))

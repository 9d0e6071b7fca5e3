"""Pictures written as SVG by hand: a picture of a figure that a page also draws in the browser."""

from __future__ import annotations

from collections.abc import Iterable
from html import escape

Number = int | float
Point = tuple[Number, Number]


def tag(name: str, content: str = "", **attributes: str | Number) -> str:
    """One element; `class_` is the attribute class, and _ in a name is -.

    >>> tag("text", "a < b", class_="quiet", text_anchor="end", x=1.25)
    '<text class="quiet" text-anchor="end" x="1.2">a &lt; b</text>'
    """
    text = content if content.startswith("<") else escape(content, quote=False)
    given = "".join(
        f' {key.rstrip("_").replace("_", "-")}="{escape(rounded(value))}"'
        for key, value in attributes.items()
    )
    return f"<{name}{given}>{text}</{name}>" if text else f"<{name}{given}/>"


def rounded(value: str | Number) -> str:
    """A text as it is, a number to a tenth of a pixel, the same on every machine."""
    return value if isinstance(value, str) else f"{round(value, 1) + 0:g}"


def line(points: Iterable[Point], class_: str) -> str:
    """Points joined by a line."""
    joined = " ".join(f"{rounded(x)},{rounded(y)}" for x, y in points)
    return tag("polyline", points=joined, class_=class_)


def picture(width: int, height: int, alt: str, parts: Iterable[str]) -> str:
    """The whole picture in one line, with what it shows in words; its colours and letters are those
    of docs/_static/figures/still.css."""
    label = escape(alt)
    inside = "".join(parts)
    return (
        f'<svg xmlns="http://www.w3.org/2000/svg" class="figure" role="img" '
        f'viewBox="0 0 {width} {height}" aria-label="{label}">{inside}</svg>'
    )

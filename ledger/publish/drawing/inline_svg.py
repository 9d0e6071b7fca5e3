"""A panel as SVG inside a page: it takes the page's colours, light or dark, and its font, and stays
readable on a phone, where a picture of several panels would shrink."""

from __future__ import annotations

import itertools
import re
from collections.abc import Sequence
from xml.etree import ElementTree

from .line_plot import alone
from .panels import Panel

_SVG, _XLINK = "http://www.w3.org/2000/svg", "http://www.w3.org/1999/xlink"
# What matplotlib draws in black, greys and white is the page's own foreground and background.
_THEME = {
    "#000000": "currentColor",
    "#333333": "currentColor",
    "#dddddd": "var(--color-background-border, #ddd)",
    "#ffffff": "var(--color-background-primary, #fff)",
}
# CSS pixels in a point.
_PIXELS = 4 / 3
# Units of a letter at least, also of an index: nine CSS pixels where a panel is as wide as a phone.
_LEAST = 7.4


def inline_svg(panel: Panel, name: str) -> str:
    """One panel as an SVG element for HTML, in one line.

    Args:
        panel: what is drawn, by `line_plot`.
        name: unique in its page; what the element refers to inside itself is named by it.

    Returns:
        The element, whose bytes depend on the arguments and matplotlib's version alone. Its label
        for screen readers is the panel's title.
    """
    settings = {"svg.fonttype": "none", "svg.hashsalt": name, "savefig.transparent": True}
    root = ElementTree.fromstring(alone(panel, settings))
    for parent in root.iter():
        for child in [*parent]:
            if child.tag in (f"{{{_SVG}}}metadata", f"{{{_SVG}}}style"):
                parent.remove(child)
    groups = [g for g in root.iter(f"{{{_SVG}}}g") if g.get("id", "").startswith("ytick")]
    beside = {words for group in groups for words in group.iter(f"{{{_SVG}}}text")}
    for words in root.iter(f"{{{_SVG}}}text"):
        _flow(words, words in beside)
    for at, element in enumerate(root.iter()):
        element.tag = element.tag.removeprefix(f"{{{_SVG}}}")
        element.text = (element.text or "").strip() if element.tag not in _TEXTS else element.text
        element.tail = "" if element.tag != "tspan" else element.tail
        element.attrib = {
            key.replace(f"{{{_XLINK}}}", ""): _plain(value)
            for key, value in element.attrib.items()
            if key != "id" or (element.tag in ("path", "clipPath") and at)
        }
    text = ElementTree.tostring(root, encoding="unicode", short_empty_elements=False)
    names = {old: f"{name}-{n}" for n, old in enumerate(re.findall(r' id="([^"]+)"', text))}
    named = re.compile(r'( id="|url\(#|href="#)([^")]+)')
    text = named.sub(lambda to: to[1] + names[to[2]], text)
    width = float(root.attrib["width"].removesuffix("pt"))
    label = panel.title.replace("&", "&amp;").replace('"', "&quot;")
    opened = (
        f'<svg role="img" aria-label="{label}" viewBox="{root.attrib["viewBox"]}" style="max-width:'
        f' {width * _PIXELS:.0f}px; stroke-linejoin: round; stroke-linecap: butt">'
    )
    return opened + text.partition(">")[2]


def _flow(text: ElementTree.Element, ends: bool) -> None:
    """Formulas, which matplotlib sets letter by letter, as runs that follow each other in any font,
    with indices that are read on a phone.

    Args:
        ends: whether its right end stays where it is: beside an axis.
    """
    letters: list[tuple[float, float, float, str]] = []
    for span in text.findall(f"{{{_SVG}}}tspan"):
        xs, ys = span.get("x", "").split(), span.get("y", "").split()
        size = float(re.findall(r"([\d.]+)px", span.get("style", ""))[0])
        placed = zip(map(float, xs), map(float, itertools.cycle(ys)), span.text or "", strict=False)
        letters += [(x, y, size, letter) for x, y, letter in placed]
        text.remove(span)
    if not letters:
        return
    letters.sort()
    text.text = ""
    if ends:
        last, _, size, _ = letters[-1]
        text.attrib |= {"text-anchor": "end", "x": str(last + _WIDE * size)}
    height = 0.0
    for (y, size), run in itertools.groupby(letters, key=lambda letter: letter[1:3]):
        look = {"dy": str(y - height), "style": f"font-size: {max(size, _LEAST)}px"}
        span = ElementTree.SubElement(text, f"{{{_SVG}}}tspan", look)
        span.text, height = "".join(letter for *_, letter in run), y


# A digit's width, in heights of a letter.
_WIDE = 0.636


def together(panels: Sequence[str], columns: int = 2) -> str:
    """Panels of `inline_svg` as one picture for a file: in rows, black on white.

    >>> together(['<svg role="img" viewBox="0 0 40 30"><text>x</text></svg>'])[:60]
    '<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 40 30" '
    """
    sizes = [re.search(r'viewBox="0 0 ([\d.]+) ([\d.]+)"', panel) for panel in panels]
    wide = [float(size[1]) for size in sizes if size]
    high = [float(size[2]) for size in sizes if size]
    step, at, placed = max(wide), 0.0, []
    for first in range(0, len(panels), columns):
        row = range(first, min(first + columns, len(panels)))
        for n in row:
            where = (
                f'x="{(n - first) * step:g}" y="{at:g}" width="{wide[n]:g}" height="{high[n]:g}"'
            )
            placed.append(re.sub(r" style=\"max-width:[^\"]*\"", "", panels[n], count=1))
            placed[-1] = placed[-1].replace("<svg ", f"<svg {where} ", 1)
        at += max(high[n] for n in row)
    inside = "".join(placed).replace("currentColor", "#000")
    inside = re.sub(r"var\(--[\w-]+, (#\w+)\)", r"\1", inside)
    across = step * min(columns, len(panels))
    return (
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {across:g} {at:g}" '
        f'width="{across * _PIXELS:.0f}" height="{at * _PIXELS:.0f}" font-family="sans-serif" '
        'style="stroke-linejoin: round; stroke-linecap: butt">'
        f'<rect width="100%" height="100%" fill="#fff"/>{inside}</svg>\n'
    )


# Elements whose spaces are words.
_TEXTS = ("text", "tspan")


def _plain(value: str) -> str:
    """An attribute in the page's colours and font, with coordinates to a hundredth of a point.

    >>> _plain("M 1.23456 2 \\nL 3 4"), _plain("font-size: 9px; font-family: 'X'; fill: #000000")
    ('M 1.23 2 L 3 4', 'font-size: 9px; fill: currentColor')
    """
    value = re.sub(r"font-family: [^;]*;? ?|font: (?:\w+ )*?([\d.]+px) [^;]*", _font, value)
    for drawn, theirs in _THEME.items():
        value = value.replace(drawn, theirs)
    value = re.sub(r"\d+\.\d{3,}", lambda n: f"{float(n[0]):.2f}".rstrip("0").rstrip("."), value)
    return " ".join(value.split())


def _font(given: re.Match[str]) -> str:
    return f"font-size: {given[1]}" if given[1] else ""

"""A panel as SVG inside a page: it takes the page's colours, light or dark, and its font, and stays
readable on a phone, where a picture of several panels would shrink."""

from __future__ import annotations

import re
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

"""Figures that a reader moves: `<!-- interactive: NAME -->` becomes a still picture, which the
script docs/_static/figures/NAME.js replaces where there are scripts; `<!-- still: NAME -->` the
picture alone. An image before the mark goes away: it is the same picture as a file, for whoever
reads the page in the repository.

A figure is one entry in `FIGURES`. What its script reads is kept in docs/_static/figures/NAME.json,
since it takes half a minute; a test computes it again. The site has it as a script, too: pages are
also opened as files.

    python -m depthlaw.ledger.publish.site.interactive docs   # renew these files and the pictures
"""

from __future__ import annotations

import json
import re
import sys
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from depthlaw.theory.claims.definition import registry

from ...records.store import write_file
from ...verdicts.record_source import Recorded
from ...verdicts.reference_ledger import shipped
from . import front_page
from .khop_figure import khop_data, khop_still
from .model_figure import model_data, model_still
from .ring_figure import ring_data, ring_still

_FOLDER = "_static/figures"


@dataclass(frozen=True)
class InteractiveFigure:
    """One figure.

    Attributes:
        data: what its script reads, of JSON; the same records give the same.
        still: the picture that stands there without scripts, as SVG in one line, of the same data.
        caption: what is shown, as HTML in one line.
    """

    data: Callable[[Recorded], Any]
    still: Callable[[Any], str]
    caption: str


FIGURES = {
    "ring": InteractiveFigure(
        ring_data,
        ring_still,
        "The ring: what a vertex (square) sees of 40 through layers written by hand. The curves: "
        "nets trained on two cycles of 20, where no connected pair is farther apart than 10, then "
        "asked on cycles of 28 to 40 which of two vertices is nearer, the one at this distance or "
        "the one at 14. A coin is right on 50 %.",
    ),
    "khop": InteractiveFigure(
        khop_data,
        khop_still,
        "A box holds what a letter says, and an arrow shows where the last letter looks. For two "
        "hops the printed net starts from the letters themselves, the repaired one from their "
        "first hops. Both run in exact arithmetic.",
    ),
    "model": InteractiveFigure(
        model_data,
        model_still,
        "Each dot is a published shape: point at it, or walk the dots with the arrow keys, for its "
        "names. Nets on the dashed line have equal size 12 L d<sup>2</sup>. The band holds the "
        "depths that should come within 1 % of the best loss; + and -: deeper and shallower nets "
        "were not trained.",
    ),
}


@dataclass(frozen=True)
class FigureSource:
    """What figures are filled from.

    Attributes:
        docs: the folder of the pages.
    """

    docs: Path
    _data: dict[str, Any] = field(default_factory=dict)

    def filled(self, text: str, page: Path) -> str:
        """A page with its marks replaced.

        Args:
            page: its path among the sources, from where its scripts are found.

        Raises:
            ValueError: for a figure that there is not.
        """
        up = "../" * (len(page.parts) - 1) + _FOLDER
        return _MARK.sub(lambda mark: self._figure(mark["name"], mark["kind"], up), text)

    def files(self, out: Path) -> dict[Path, str]:
        """Of the figures in pages filled so far what their scripts read, and to download the same
        data and the still picture, by path among the sources in a folder."""
        written: dict[Path, str] = {}
        for name, data in self._data.items():
            text, file = _text(data), out / _FOLDER / name
            written |= {
                file.with_suffix(".data.js"): f"(globalThis.FIGURES ??= {{}}).{name} = {text};\n",
                file.with_suffix(".svg"): file_of(self, name),
            }
        return written

    def picture(self, name: str) -> str:
        """The still picture."""
        data = self._of(name)
        return FIGURES[name].still(data)

    def _of(self, name: str) -> Any:
        if name not in FIGURES:
            raise ValueError(f"there is no figure {name}; known are {', '.join(FIGURES)}")
        if name not in self._data:
            kept = self.docs / _FOLDER / f"{name}.json"
            self._data[name] = json.loads(kept.read_text(encoding="ascii"))
        return self._data[name]

    def _figure(self, name: str, kind: str, up: str) -> str:
        still = f'<div class="still">{self.picture(name)}</div>'
        if kind == "still":
            return f'<figure class="interactive">\n{still}\n</figure>'
        sources = (f"{up}/{file}.js" for file in ("figures", f"{name}.data", name))
        scripts = "".join(f'<script defer src="{source}"></script>' for source in sources)
        links = (f'<a href="{up}/{name}.{end}" download>{end}</a>' for end in ("svg", "json"))
        caption = f"<figcaption>{FIGURES[name].caption} Download: {', '.join(links)}.</figcaption>"
        # No empty line: it would end the HTML.
        return "\n".join(
            [f'<figure class="interactive" id="{name}">', still, caption, scripts, "</figure>"]
        )


_MARK = re.compile(r"(!\[[^]]*\]\([^)]*\))?<!-- (?P<kind>interactive|still): (?P<name>\w+) -->")


def _text(data: Any) -> str:
    return json.dumps(data, separators=(",", ":"), ensure_ascii=True)


def file_of(source: FigureSource, name: str) -> str:
    """The picture as a file, which brings its colours along."""
    style = " ".join((source.docs / _FOLDER / "still.css").read_text(encoding="utf-8").split())
    return source.picture(name).replace(">", f"><style>{style}</style>", 1) + "\n"


def main(docs: Path) -> None:
    """Write what scripts read, of the card of the front page too, and the still pictures."""
    store = shipped()
    assert store is not None
    recorded, source = Recorded(registry(), store), FigureSource(docs)
    write_file(docs / _FOLDER / "advice.data.js", front_page.advice().encode("ascii"))
    for name, figure in FIGURES.items():
        text = f"{_text(figure.data(recorded))}\n"
        write_file(docs / _FOLDER / f"{name}.json", text.encode("ascii"))
        write_file(docs / "figures" / f"{name}.svg", file_of(source, name).encode())


if __name__ == "__main__":
    main(Path(sys.argv[1]))

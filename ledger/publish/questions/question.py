"""What pages, the appendix and `depthlaw exercise` show of what was measured: for each question the
claims that answer it, and its picture, whose numbers stand in tables below."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from typing import Any

from ..drawing.panels import Found, Panel, Table
from ..tables import texts

Drawn = Callable[[Found], Iterable[Panel]]
Said = Callable[[Found], Iterable[str]]


@dataclass(frozen=True)
class PageQuestion:
    """What is shown of a few claims, all from what is recorded of them: a page shows the picture
    where it says `<!-- measured: NAME -->`, and numbers and verdicts at `<!-- numbers: NAME -->`.

    Attributes:
        title: of its picture, in one line.
        claims: keys of the claims that measure it.
        drawn: the picture.
        beside: keys of further claims that it shows numbers of, whose verdicts stand elsewhere.
        table: what no picture shows.
        says: sentences that state what was found, with its numbers.
        below: how its bands and lines are read, where that is not what `page_blocks` says of all.
    """

    title: str
    drawn: Drawn
    claims: tuple[str, ...] = ()
    beside: tuple[str, ...] = ()
    table: Callable[[Found], Table] | None = None
    says: Said = lambda _: ()
    below: str = ""

    def panels(self, results: Found) -> tuple[Panel, ...]:
        """The picture; partial records leave some panels with nothing but what a theory says, which
        are left out."""
        return tuple(
            panel
            for panel in self.drawn(results)
            if any(series.kind != "reference" for series in panel.series)
        )


QUESTIONS: dict[str, PageQuestion] = {}
_TEXTS = texts(__package__, "questions.toml")


def question(
    name: str, about: Mapping[str, Any] | None = None, **asked: Any
) -> Callable[[Drawn], Drawn]:
    """Decorator for what draws the picture of a question; `asked` are `table` and `says` of its
    `PageQuestion`, and `about` its texts, by default those of questions.toml."""

    def keep(drawn: Drawn) -> Drawn:
        QUESTIONS[name] = PageQuestion(drawn=drawn, **asked, **(about or _TEXTS[name]))
        return drawn

    return keep


def keys(topic: str, names: str) -> tuple[str, ...]:
    """The keys of claims of one topic, whose names stand between spaces."""
    return tuple(f"{topic}/{name}" for name in names.split())

"""What a regular language of a user's own asks of depth in each class of the atlas."""

from __future__ import annotations

from dataclasses import dataclass, replace

from depthlaw.advisor.atlas import Atlas, AtlasBound, AtlasRow, atlas

from ..formal_languages.automaton import Automaton
from ..formal_languages.regular_depth import (
    Asked,
    Least,
    Pumped,
    asked_of_depth,
    formula_layers,
    read_language,
)
from .ends import End, Ends, end_at

# What finds least depths of languages.
SEARCH = "found by `depthlaw tasks language`"


@dataclass(frozen=True)
class LanguageInClass:
    """What is known of a language in a class.

    Attributes:
        class_: key of the class.
        any_depth: whether some depth does it; None where that is not decided here.
        bounds: those of the atlas that say so.
        least: how many layers a search found to be needed, and to be enough.
        formula: so many layers suffice by a formula, where that is known.
        pumped: words that no depth tells apart.
        period: of what they count, where they do.
        of_every_language: whether these bounds are for every regular language.
        lower_is_of_others: whether there is a lower end about other languages alone, with groups
            that are not solvable.
    """

    class_: str
    any_depth: bool | None
    bounds: tuple[AtlasBound, ...]
    least: Least | None = None
    formula: int | None = None
    pumped: Pumped | None = None
    period: int | None = None
    of_every_language: bool = False
    lower_is_of_others: bool = False

    @property
    def enough(self) -> int | None:
        """So many layers suffice, as far as that is known."""
        found = self.least.enough if self.least else None
        return self.formula if found is None else found


@dataclass(frozen=True)
class LanguageDepth:
    """A language with its minimal automaton, its monoid and what is known of it by class."""

    language: str
    automaton: Automaton
    monoid: Asked
    classes: tuple[LanguageInClass, ...]


def depth_of_language(
    language: str, alphabet: str | None = None, known: Atlas | None = None
) -> LanguageDepth:
    """Whether any depth does a language, for each class, who says so and how many layers it takes.

    Cost: seconds, for a search over words (`regular_depth`).

    Raises:
        UsageError: for what is no regular expression, and for languages that are too large.

    >>> found = depth_of_language("(ab)*")
    >>> [(each.class_, each.any_depth, each.enough) for each in found.classes[:3]]
    ... # doctest: +NORMALIZE_WHITESPACE
    [('uhat-left', False, None), ('uhat-right', True, 2),
     ('softmax-fixed-precision', False, None)]
    """
    known = atlas() if known is None else known
    automaton = read_language(language, alphabet)
    asked = asked_of_depth(automaton)
    formula = formula_layers(automaton) if asked.r_trivial else None
    side = "r-trivial" if asked.r_trivial else "not-r-trivial"
    free = "star-free" if asked.star_free else "not-star-free"
    pumped, period = asked.counted or (None, None)

    def bounds(task: str, class_: str) -> tuple[AtlasBound, ...]:
        rows = (row for row in known.rows(task) if row.class_.key == class_)
        return tuple(end for row in rows for end in (row.lower, row.upper) if end)

    def heads(class_: str, task: str, least: Least | None, words: Pumped | None) -> LanguageInClass:
        return LanguageInClass(
            class_,
            least is not None,
            bounds(task, class_),
            least,
            formula if least else None,
            words,
        )

    fixed = "softmax-fixed-precision"
    return LanguageDepth(
        language,
        automaton,
        asked,
        (
            heads("uhat-left", side, asked.leftmost, asked.around),
            replace(heads("uhat-right", free, asked.rightmost, pumped), period=period),
            LanguageInClass(fixed, asked.r_trivial, bounds(side, fixed)),
            *(each for row in known.rows("regular") if (each := _any_regular(row, asked)).bounds),
        ),
    )


def _any_regular(row: AtlasRow, asked: Asked) -> LanguageInClass:
    """What holds for every regular language; lower ends are about groups that are not solvable."""
    lower = None if asked.solvable else row.lower
    solved = True if row.class_.key == "softmax" and asked.solvable else None
    ends = tuple(end for end in (lower, row.upper) if end)
    return LanguageInClass(
        row.class_.key,
        solved,
        ends,
        of_every_language=True,
        lower_is_of_others=row.lower is not None and asked.solvable,
    )


def ends_of_language(language: str, alphabet: str, class_: str, known: Atlas) -> Ends:
    """How many layers a language needs in a class and how many suffice: of unique hard attention as
    a search finds it, else as the atlas has it for all languages of its kind.

    >>> found = ends_of_language("a*b*", "ab", "uhat-right", atlas())
    >>> found.needed, found.suffices, found.lower.source
    (2, 2, 'found by `depthlaw tasks language`')
    """
    by_class = {each.class_: each for each in depth_of_language(language, alphabet, known).classes}
    if (found := by_class.get(class_)) is None:
        return Ends(language, class_, False, None, None)
    if found.least:
        lower = End.decided(found.least.needed, SEARCH)
        return Ends(language, class_, True, lower, End.decided(found.least.enough, SEARCH))
    lower, upper = (
        next((end_at(bound, {}) for bound in found.bounds if bound.end == end), None)
        for end in ("lower", "upper")
    )
    return Ends(language, class_, True, lower, upper)

"""`depthlaw tasks language`: whether any depth does a regular language, by class of models."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field
from itertools import groupby
from typing import TYPE_CHECKING, Any

from depthlaw.advisor.atlas import AtlasBound, atlas_rows, classes, formula
from depthlaw.advisor.base.quantities import plural

from .output import dump, notes, say, stdout, tell
from .tables import plain_table, print_table
from .tasks_command import told
from .terminal import waiting

if TYPE_CHECKING:
    from depthlaw.theory.formal_languages.automaton import Automaton
    from depthlaw.theory.formal_languages.regular_depth import Asked, Least, Pumped


# Longer words are shown by their runs, or their ends.
_LONG = 40


@dataclass
class _Answer:
    """What is known in one class.

    Attributes:
        class_: the class.
        depth: in a few words.
        ends: bounds of the atlas that say so.
        shown: what is shown here of this language, in sentences.
        data: the same as data.
    """

    class_: str
    depth: str
    ends: list[AtlasBound]
    shown: list[str] = field(default_factory=list)
    data: dict[str, Any] = field(default_factory=dict)


def language(expression: str, alphabet: str | None, json_output: bool) -> int:
    """Say for each class whether any depth does the language, who says so, and what shows it."""
    from depthlaw.theory.formal_languages.regular_depth import asked_of_depth, read_language

    automaton = read_language(expression, alphabet)
    with waiting(notes(), "searching words", json_output):
        asked = asked_of_depth(automaton)
    answers = [*_hard_attention(automaton, asked), *_any_regular(asked)]
    if json_output:
        dump(
            {
                "language": expression,
                "alphabet": automaton.alphabet,
                "states": automaton.states,
                "monoid": asked.elements,
                "r_trivial": asked.r_trivial,
                "star_free": asked.star_free,
                "solvable": asked.solvable,
                "classes": [
                    {
                        "class": answer.class_,
                        "depth": answer.depth,
                        "sources": [told(end) for end in answer.ends],
                        "shown": answer.shown,
                        **answer.data,
                    }
                    for answer in answers
                ],
            }
        )
        return 0
    kind = [
        "R-trivial" if asked.r_trivial else "not R-trivial",
        "star-free" if asked.star_free else "not star-free",
        *([] if asked.solvable else ["with a group that is not solvable"]),
    ]
    tell(
        f"{expression} over {', '.join(automaton.alphabet)}: minimal automaton of "
        f"{plural(automaton.states, 'state')}, syntactic monoid of "
        f"{plural(asked.elements, 'element')}: {', '.join(kind)}."
    )
    table = plain_table(2)
    table.add_column("class", no_wrap=True)
    table.add_column("depth", min_width=20)
    for answer in answers:
        table.add_row(answer.class_, answer.depth)
    print_table(stdout(), table)
    for answer in answers:
        say("")
        tell(f"{answer.class_}: {classes()[answer.class_].definition}")
        quotes = (f"“{end.quote}”" for end in answer.ends if end.quote)
        for text in (*answer.shown, *map(told, answer.ends), *quotes):
            tell(text, "  ")
    return 0


def _hard_attention(automaton: Automaton, asked: Asked) -> Iterator[_Answer]:
    """Leftmost heads and soft attention at fixed precision, then rightmost heads."""
    from depthlaw.theory.formal_languages.regular_depth import formula_layers

    formula = formula_layers(automaton) if asked.r_trivial else None
    side = "r-trivial" if asked.r_trivial else "not-r-trivial"
    free = "star-free" if asked.star_free else "not-star-free"
    for task, class_, least, pumped in (
        (side, "uhat-left", asked.leftmost, asked.around),
        (free, "uhat-right", asked.rightmost, asked.counted and asked.counted[0]),
    ):
        answer = _Answer(class_, "none", _ends(task, class_))
        if pumped:
            answer.shown = [_pumped(pumped, asked, class_)]
            answer.data = {"any_depth": False, "witness": pumped._asdict()}
        elif least:
            _at_some_depth(answer, least, formula)
        yield answer
    yield _Answer(
        "softmax-fixed-precision",
        "some depth" if asked.r_trivial else "none",
        _ends(side, "softmax-fixed-precision"),
        data={"any_depth": asked.r_trivial},
    )


def _at_some_depth(answer: _Answer, least: Least, formula: int | None) -> None:
    """How many layers, as far as a search or a formula shows."""
    enough = least.enough if least.enough is not None else formula
    answer.depth = (
        f"some depth, {least.needed} or more"
        if enough is None
        else f"{least.needed}"
        if enough == least.needed
        else f"{least.needed} to {enough}"
    )
    if least.pair:
        one, other = least.pair
        answer.shown.append(
            f"needed {least.needed}: {plural(least.needed - 1, 'layer')} of any weights, heads and "
            f"width cannot tell {_word(one)} from {_word(other)}, of which one is in the language."
        )
    if least.enough is not None:
        answer.shown.append(
            f"suffices {least.enough}: what so many layers can tell of a word of one letter or "
            "more, searched for all lengths, decides the language."
        )
    else:
        answer.shown.append(
            f"Whether {plural(least.needed, 'layer')} suffice was not found: no two words up to "
            f"length {least.length} deceive them; longer ones were not searched."
        )
        if formula is not None:
            answer.shown.append(
                f"suffices {formula}: a formula that nests `once` so deep, made from the automaton."
            )
    answer.data = {
        "any_depth": True,
        "needed": least.needed,
        "words": list(least.pair) if least.pair else None,
        "suffices": enough,
        "searched_to": least.length,
    }


def _word(word: str) -> str:
    """A word in quotes; of a long one its runs, or where they are many its ends.

    >>> _word("aab"), _word("a" * 400 + "b"), _word("ab" * 50)
    ("'aab'", 'a^400 b', "'ababababab...ababababab' (100 letters)")
    """
    if len(word) <= _LONG:
        return f"'{word}'"
    runs = [(letter, len([*run])) for letter, run in groupby(word)]
    if len(runs) <= _LONG // 4:
        return " ".join(f"{letter}^{n}" if n > 1 else letter for letter, n in runs)
    return f"'{word[:10]}...{word[-10:]}' ({len(word):,} letters)"


def _pumped(pumped: Pumped, asked: Asked, class_: str) -> str:
    """The words that no depth tells apart, for every depth."""
    many = f"({pumped.loop})^(L + 1)"
    one = " ".join(filter(None, [pumped.prefix, many, pumped.suffix]))
    other = " ".join(filter(None, [pumped.prefix, many, pumped.step, pumped.suffix]))
    why = (
        f"it counts how often {pumped.step} comes, modulo {asked.counted[1]}"
        if class_ == "uhat-right" and asked.counted
        else f"{pumped.loop} leads around a cycle of states, and {pumped.step} halfway"
    )
    return (
        f"No depth: {why}. For every L, whatever the weights, heads and width, no L layers tell "
        f"{one} from {other}, of which one is in the language."
    )


def _any_regular(asked: Asked) -> Iterator[_Answer]:
    """What holds for every regular language; lower ends are about groups that are not solvable."""
    for row in atlas_rows("regular"):
        ends = [row.upper] if row.upper else []
        if row.lower and not asked.solvable:
            ends = [row.lower, *ends]
        if not ends:
            continue
        answer = _Answer(row.class_.key, "; ".join(_says(end) for end in ends), ends)
        if row.class_.key == "softmax" and asked.solvable:
            answer.depth = "some depth"
            answer.shown = [
                "All groups of this language are solvable, so that by the source a depth that does "
                "not grow with n suffices; the bound below is for every regular language."
            ]
        elif row.lower and asked.solvable:
            answer.shown = [
                "The lower end of the table is about languages with a group that is not solvable; "
                "all groups of this one are solvable."
            ]
        yield answer


def _says(end: AtlasBound) -> str:
    depth = formula(end.depth)
    return f"at most {depth}" if end.end == "upper" else depth


def _ends(task: str, class_: str) -> list[AtlasBound]:
    (row,) = (row for row in atlas_rows(task) if row.class_.key == class_)
    return [end for end in (row.lower, row.upper) if end]

"""`depthlaw tasks`: the atlas of least depth as a table; whether any depth does a regular language,
by class of models."""

from __future__ import annotations

import json
from collections.abc import Iterator, Sequence
from itertools import groupby, product
from pathlib import Path
from typing import TYPE_CHECKING, Any

from depthlaw.advisor.atlas import GAPS, NONE, Atlas, AtlasBound, AtlasRow, atlas, classes, formula
from depthlaw.advisor.base.quantities import UsageError, plural, quoted

from ..functions.tasks import tasks as known_tasks
from .plain import axes_of, dump, heading, note, notes, refuse_place, say, stdout, tell, write_named
from .tables import names_table, plain_table, print_table, text_table
from .terminal import waiting

if TYPE_CHECKING:
    from depthlaw.theory.atlas.languages import LanguageInClass

# Columns that a cell of a table may shrink to; all formulas fit.
_LEAST = 22
# Longer words are shown by their runs, or their ends.
_LONG = 40


def list_tasks(
    *,
    known_by: int | None,
    tables: Path | None,
    json_output: bool,
    task: str | None = None,
    at: Sequence[str] | None = None,
    values: Sequence[str] | None = None,
) -> None:
    """The table, or with a task its rows with sources, or what they say at numbers."""
    if at and known_by is not None:
        raise UsageError("--at is about what is known now; leave out --known-by")
    if at:
        return _at_numbers(task, [*at, *(values or ())], tables, json_output)
    if values:
        raise UsageError(f"one task at a time, {quoted(values[0])} too many; values follow --at")
    table_of = known_tasks(task, known_by=known_by, tables=tables)
    if json_output:
        return dump(table_of.to_json())
    known, rows = atlas(tables), table_of.known
    if task is None:
        return _overview(known, rows)
    tell(f"{known.tasks[task].name}: {known.tasks[task].definition}")
    table = plain_table(2)
    for heading_ in ("class", "needed", "suffices", "gap", "checked"):
        table.add_column(heading_, no_wrap=heading_ in ("class", "gap"), min_width=_LEAST)
    for row in rows:
        cells = (row.class_.key, formula(row.needed), formula(row.suffices), row.gap, row.checked)
        table.add_row(*cells)
    print_table(stdout(), table)
    for word in dict.fromkeys(row.gap for row in rows):
        note(f"{word}: {GAPS[word]}")
    for row in rows:
        say("")
        tell(f"{row.class_.key}: {row.class_.definition} Counted: {row.class_.unit}.")
        for end in filter(None, (row.lower, row.upper)):
            tell(bound_line(end), "  ")
        for quote in dict.fromkeys(e.quote for e in (row.lower, row.upper) if e and e.quote):
            tell(f"“{quote}”", "  ")


def _at_numbers(
    task: str | None, typed: Sequence[str], tables: Path | None, json_output: bool
) -> None:
    """A row for each class and each combination of numbers; in the place of what is no number
    stands its formula."""
    from depthlaw.theory.atlas.ends import rows_at

    from ..functions.atlas import AtlasAnswer

    axes = axes_of(typed, "k=3 n=16,32")
    asked = [dict(zip(axes, numbers, strict=True)) for numbers in product(*axes.values())]
    found = [(numbers, AtlasAnswer(rows_at(task, None, tables, numbers))) for numbers in asked]
    rows = [{"at": numbers} | row for numbers, answer in found for row in answer.rows()]
    if json_output:
        return dump(rows)
    ends, cells = {"needed": "lower_depth", "suffices": "upper_depth"}, []
    for row in rows:
        both = (formula(row[of] or "-") if row[n] is None else row[n] for n, of in ends.items())
        cells.append(map(str, [*row["at"].values(), row["class"], *both, row["gap"]]))
    headings = (*axes, "class", *ends, "gap")
    print_table(stdout(), text_table(*headings, rows=cells, left=headings[len(axes) :]))
    note(f"`depthlaw tasks list {task}` says who found each bound")


def _overview(known: Atlas, rows: Sequence[AtlasRow]) -> None:
    """What each task is, and its rows in a line each; piped, these begin with the task."""
    piped, subject = not stdout().is_terminal, ""
    for task in known.tasks.values():
        if not (own := [row for row in rows if row.task == task]):
            continue
        if task.subject != subject:
            heading(f"\n{task.subject}" if subject else task.subject)
            subject = task.subject
        tell(f"{task.key}: {task.definition}")
        for row in own:
            says = f"{row.class_.key}: {row.summary}; {row.checked}"
            tell(says, f"{task.key}, " if piped else "  ")
    note(
        "Letters are those of the task or the class: `depthlaw tasks list TASK` defines both, and "
        "says who found each bound"
    )


def bound_line(end: AtlasBound) -> str:
    """A bound in a line."""
    who = "ours" if end.ours else end.source
    says = (
        "no fixed depth suffices" if end.depth == NONE else f"{end.end} bound {formula(end.depth)}"
    )
    rest = f"; {end.note}" if end.note else ""
    check = f"claim {end.claim}: {end.verdict}" if end.claim else end.verdict
    if end.reasons:
        check += f": {end.reasons}"
    elif not end.claim:
        check += ", not checked here"
    if not end.ours and not end.quote:
        check += "; no sentence quoted"
    return f"{says}: {who}, {end.year}, {end.place} ({end.mark}); {check}{rest}"


# --- a language of the user's own -----------------------------------------------------------------


def language(
    expression: str, alphabet: str | None, net: Path | None, force: bool, json_output: bool
) -> None:
    """Say for each class whether any depth does the language, who says so, and what shows it."""
    from depthlaw.theory.atlas.language_nets import net_of_language
    from depthlaw.theory.atlas.languages import depth_of_language

    if net:
        refuse_place(net, force)
    with waiting(notes(), "searching words", json_output):
        found = depth_of_language(expression, alphabet)
        body = net_of_language(found) if net else None
    if net and body:
        write_named(net, (json.dumps(body) + "\n").encode())
    asked, automaton = found.monoid, found.automaton
    if json_output:
        kinds = {name: getattr(asked, name) for name in ("r_trivial", "star_free", "solvable")}
        whole = {"language": expression, "alphabet": automaton.alphabet, "states": automaton.states}
        classes_ = [
            {
                "class": each.class_,
                "depth": _depth(each),
                "sources": [*map(bound_line, each.bounds)],
            }
            | {"shown": [*_shown(each)], **_facts(each)}
            for each in found.classes
        ]
        return dump(whole | {"monoid": asked.elements} | kinds | {"classes": classes_})
    kind = ["R-trivial" if asked.r_trivial else "not R-trivial"]
    kind += ["star-free" if asked.star_free else "not star-free"]
    kind += [] if asked.solvable else ["with a group that is not solvable"]
    tell(
        f"{expression} over {', '.join(automaton.alphabet)}: minimal automaton of "
        f"{plural(automaton.states, 'state')}, syntactic monoid of "
        f"{plural(asked.elements, 'element')}: {', '.join(kind)}."
    )
    depths = {each.class_: _depth(each) for each in found.classes}
    print_table(stdout(), names_table("class", "depth", depths))
    for each in found.classes:
        say("")
        tell(f"{each.class_}: {classes()[each.class_].definition}")
        quotes = (f"“{bound.quote}”" for bound in each.bounds if bound.quote)
        for text in (*_shown(each), *map(bound_line, each.bounds), *quotes):
            tell(text, "  ")
    if net and body:
        say("")
        tell(
            f"{net}: a net of {plural(len(body['layers']), 'layer')} of the class {body['class']}; "
            f"`depthlaw tasks check {net}` runs it"
        )


def _depth(found: LanguageInClass) -> str:
    """How many layers, in a few words."""
    if found.least:
        needed, enough = found.least.needed, found.enough
        if enough is None:
            return f"some depth, {needed} or more"
        return f"{needed}" if enough == needed else f"{needed} to {enough}"
    if found.any_depth is not None:
        return "some depth" if found.any_depth else "none"
    most = {"upper": "at most ", "lower": ""}
    return "; ".join(most[b.end] + formula(b.depth) for b in found.bounds)


def _facts(found: LanguageInClass) -> dict[str, Any]:
    if found.pumped:
        return {"any_depth": False, "witness": found.pumped._asdict()}
    if not found.least:
        return {} if found.of_every_language else {"any_depth": found.any_depth}
    return {
        "any_depth": True,
        "needed": found.least.needed,
        "words": list(found.least.pair) if found.least.pair else None,
        "suffices": found.enough,
        "searched_to": found.least.length,
    }


def _shown(found: LanguageInClass) -> Iterator[str]:
    """What is shown here of this language, in sentences."""
    if pumped := found.pumped:
        # Words that no depth tells apart, for every depth.
        many = f"({pumped.loop})^(L + 1)"
        one = " ".join(filter(None, [pumped.prefix, many, pumped.suffix]))
        other = " ".join(filter(None, [pumped.prefix, many, pumped.step, pumped.suffix]))
        why = f"{pumped.loop} leads around a cycle of states, and {pumped.step} halfway"
        if found.period:
            why = f"it counts how often {pumped.step} comes, modulo {found.period}"
        yield (
            f"No depth: {why}. For every L, whatever the weights, heads and width, no L layers "
            f"tell {one} from {other}, of which one is in the language."
        )
    least = found.least
    if least and least.pair:
        one, other = map(_word, least.pair)
        yield (
            f"needed {least.needed}: {plural(least.needed - 1, 'layer')} of any weights, heads and "
            f"width cannot tell {one} from {other}, of which one is in the language."
        )
    if least and least.enough is not None:
        yield (
            f"suffices {least.enough}: what so many layers can tell of a word of one letter or "
            "more, searched for all lengths, decides the language."
        )
    elif least:
        yield (
            f"Whether {plural(least.needed, 'layer')} suffice was not found: no two words up to "
            f"length {least.length} deceive them; longer ones were not searched."
        )
        if found.formula is not None:
            yield (
                f"suffices {found.formula}: a formula that nests `once` so deep, made from the "
                "automaton."
            )
    if found.of_every_language and found.any_depth:
        yield (
            "All groups of this language are solvable, so that by the source a depth that does not "
            "grow with n suffices; the bound below is for every regular language."
        )
    elif found.lower_is_of_others:
        yield (
            "The lower end of the table is about languages with a group that is not solvable; all "
            "groups of this one are solvable."
        )


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

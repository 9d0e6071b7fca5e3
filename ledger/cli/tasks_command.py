"""`depthlaw tasks`: the atlas of least depth, and the check of explicit weights against it."""

from __future__ import annotations

from dataclasses import asdict
from pathlib import Path
from typing import Any

from depthlaw.advisor.atlas import NONE, AtlasRow, Bound, atlas_rows, classes, tasks
from depthlaw.advisor.base.quantities import UsageError, plural

from .output import dump, note, say, stdout
from .tables import plain_table, print_table

# Words that a check runs by default at most.
_WORDS = 3_000


def list_tasks(task: str | None, known_by: int | None, json_output: bool) -> int:
    """The table, or with a task its rows with sources."""
    rows = list(atlas_rows(task, known_by))
    if not rows:
        raise UsageError(f"nothing was known of that by {known_by}; try a later year")
    if json_output:
        dump([_as_json(row) for row in rows])
        return 0
    if task is not None:
        say(f"{tasks()[task].name}: {tasks()[task].definition}")
    table = plain_table(2)
    headings = (*(() if task else ("task",)), "class", "needed", "suffices", "gap", "checked")
    for heading in headings:
        table.add_column(
            heading, overflow="fold", min_width=8, no_wrap=heading in ("task", "class", "gap")
        )
    for row in rows:
        cells = (
            row.class_.key,
            *(end.depth if end else "-" for end in (row.lower, row.upper)),
            row.gap,
            ", ".join(dict.fromkeys(_checked(end) for end in (row.lower, row.upper) if end)),
        )
        table.add_row(*(cells if task else (row.task.key, *cells)))
    print_table(stdout(), table)
    if task is not None:
        for row in rows:
            say(f"\n{row.class_.key}: {row.class_.definition} Counted: {row.class_.unit}.")
            for end in filter(None, (row.lower, row.upper)):
                say(f"  {_told(end)}")
            for quote in dict.fromkeys(end.quote for end in (row.lower, row.upper) if end):
                if quote:
                    say(f"  “{quote}”")
    else:
        note("`depthlaw tasks list TASK` says what each class is, and who found each end")
    return 0


def _checked(end: Bound) -> str:
    return f"{end.verdict} ({end.end})"


def _told(end: Bound) -> str:
    """A bound in a line."""
    who = "ours" if end.source == "depthlaw" else end.source
    says = "no depth suffices" if end.depth == NONE else f"{end.end} bound {end.depth}"
    rest = f"; {end.note}" if end.note else ""
    check = f"claim {end.claim}: {end.verdict}" if end.claim else end.verdict
    if end.checked:
        check += f": {end.checked}"
    elif not end.claim:
        check += ", not checked here"
    if end.source != "depthlaw" and not end.quote:
        check += "; no sentence quoted"
    return f"{says}: {who}, {end.year}, {end.place} ({end.mark}); {check}{rest}"


def _as_json(row: AtlasRow) -> dict[str, Any]:
    def end(bound: Bound | None) -> dict[str, Any] | None:
        if bound is None:
            return None
        return {
            name: value for name, value in asdict(bound).items() if name not in ("task", "class_")
        } | {"verdict": bound.verdict, "quote": bound.quote or None}

    return {
        "task": row.task.key,
        "class": row.class_.key,
        "lower": end(row.lower),
        "upper": end(row.upper),
        "gap": row.gap,
    }


def check(file: Path, length: int | None, json_output: bool) -> int:
    """Run a file's net on all words up to a length; say whether it is right there, and how its
    depth compares with the table. Exit code 1 where it is wrong."""
    from depthlaw.theory.least_depth.batched_nets import answers
    from depthlaw.theory.least_depth.explicit_nets import breaks, read_net
    from depthlaw.theory.least_depth.task_words import word_task

    net, body = read_net(file)
    name, parameters = body.get("task"), body.get("parameters", {})
    if not isinstance(name, str) or not isinstance(parameters, dict):
        raise UsageError(f'{file} names no task; give "task": "parity" and "parameters": {{}}')
    task, kind = word_task(name, parameters), body.get("class")
    if kind not in classes():
        raise UsageError(f"unknown class {kind!r}; accepted are {', '.join(classes())}")
    if set(net.alphabet) != set(task.letters):
        raise UsageError(
            f"the alphabet of {file} is {' '.join(net.alphabet)}; that of the task is "
            + " ".join(task.letters)
        )
    if why := breaks(net, kind):
        raise UsageError(f"{file} is not of the class {kind}: {why}")
    longest, least = length or _longest(len(task.letters)), task.least
    if name == "parity-bits":
        longest = least = int(parameters["n"])
    asked, wrong = 0, None
    words = (word for word in task.words(longest) if len(word) >= max(least, 1))
    for word, said in answers(net, words):
        asked += 1
        if said != task.answer(word):
            wrong = {"word": " ".join(word), "said": said, "right": task.answer(word)}
            break
    best = next((row.upper for row in atlas_rows(name) if row.class_.key == kind), None)
    known = None if best is None else _value(best.depth, parameters)
    verdict = (
        "wrong"
        if wrong
        else "no record to compare with"
        if known is None
        else "fewer than the table"
        if net.depth < known
        else "as many as the table"
        if net.depth == known
        else "more than the table"
    )
    result = {
        "file": str(file),
        "task": name,
        "parameters": parameters,
        "class": kind,
        "layers": net.depth,
        "words": asked,
        "length": longest,
        "wrong": wrong,
        "table": known,
        "result": verdict,
    }
    if json_output:
        dump(result)
    elif wrong:
        say(
            f"WRONG: {file} says {wrong['said']} of the word {wrong['word']!r}, which has "
            f"{wrong['right']}; {plural(asked - 1, 'shorter or earlier word')} were right"
        )
    else:
        say(
            f"right on all {asked:,} words up to length {longest}, exactly; "
            f"{plural(net.depth, 'layer')}: {verdict}" + (f" ({known})" if known else "")
        )
        if known is not None and net.depth < known:
            note(f"a record if it is right beyond length {longest} too, which no run shows")
        note(
            f"its weights break nothing of the class {kind}; the rest is for a reader to check: "
            + classes()[kind].definition
        )
    return int(bool(wrong))


def _longest(letters: int) -> int:
    """The largest length with at most `_WORDS` words in all."""
    length, total = 1, letters
    while total + letters ** (length + 1) <= _WORDS:
        length += 1
        total += letters**length
    return length


def _value(formula: str, parameters: dict[str, Any]) -> int | None:
    """A formula of the table at some parameters; None where it is no number."""
    import sympy

    from depthlaw.theory.least_depth.task_words import derived_length_of

    numbers = {k: sympy.Integer(v) for k, v in parameters.items() if isinstance(v, int)}
    if "group" in parameters and (length := derived_length_of(parameters["group"])) is not None:
        numbers["d"] = sympy.Integer(length)
    named = {"ceil": sympy.ceiling, "log2": lambda x: sympy.log(x, 2)}
    try:
        value = sympy.sympify(formula.replace("^", "**"), {**named, **numbers})
    except (sympy.SympifyError, TypeError):
        return None
    return int(value) if value.is_Integer else None

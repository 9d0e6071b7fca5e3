"""The pages of the atlas of least depth: a picture and a table of all rows, one page for each task,
which opens with the answer, and what each class of models is."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from functools import partial
from pathlib import Path

from depthlaw.advisor.atlas import (
    GAPS,
    NONE,
    AtlasBound,
    AtlasRow,
    atlas_rows,
    bounds,
    classes,
    formula,
    tasks,
)
from depthlaw.advisor.base.quantities import plural

from ...verdicts.suite_verdicts import ClaimResult, marked
from ..appendix.typesetting import cite, md, pipe_table, prose, template, told, verdict
from .atlas_picture import legend, picture
from .atlas_sentences import answer, capital, class_name, ranked

Judged = Callable[[str], ClaimResult | None]
_AGREE = ("PROVED", "ARGUED", "HOLDS")
# Sentences above a task's table, which has the rest.
_SENTENCES = 2


def pages(judged: Judged, folder: Path) -> dict[Path, str]:
    """Every page by its path.

    Args:
        judged: the verdict on a claim by its key; None where nothing is recorded.
        folder: where they go.
    """
    known = template("atlas_classes.md", __package__).render(classes=classes().values())
    return {
        folder / "index.md": _index(judged),
        folder / "classes.md": known,
        **{folder / f"{key}.md": _task(key, judged) for key in tasks()},
    }


def _index(judged: Judged) -> str:
    rows = list(atlas_rows())
    checked = partial(_checked_here, judged=judged)
    by_task = [row for key in tasks() for row in rows if row.task.key == key]
    return template("atlas.md", __package__).render(
        rows=rows,
        tasks=tasks(),
        classes=classes(),
        checked=sum(any(end and end.claim for end in (row.lower, row.upper)) for row in rows),
        gaps=GAPS,
        picture=picture(by_task, checked),
        legend=legend(),
        table=_table(
            "checked | task | class | needed | suffices",
            (
                (
                    _evidence(row, judged),
                    f"[{prose(row.task.name)}]({row.task.key}.md)",
                    prose(row.class_.name),
                    *_ends(row),
                )
                for row in by_task
            ),
        ),
    )


def _checked_here(end: AtlasBound, judged: Judged) -> bool:
    """Whether a claim is about the whole end, and agrees with it."""
    return bool(end.claim) and not end.covers and _claimed(end, judged).startswith(_AGREE)


def _task(key: str, judged: Judged) -> str:
    task, rows = tasks()[key], ranked(atlas_rows(key))
    own = [b for b in bounds() if b.task == key]
    table = _table(
        "checked | class | who | needed | suffices",
        (
            (
                _evidence(row, judged),
                f"[{prose(row.class_.name)}](#class-{row.class_.key})",
                "; ".join(dict.fromkeys(_who(end) for end in (row.lower, row.upper) if end)),
                *_ends(row),
            )
            for row in rows
        ),
    )
    open_ = sum(row.gap == "open" for row in rows)
    parts = [
        f"# {_heading(capital(task.name))}: how deep?",
        " ".join(answer(rows, partial(_word, judged=judged))[:_SENTENCES]),
        f"*{prose(task.name)}*: {prose(task.definition)}",
        table,
        f"Open in {open_} of {plural(len(rows), 'row')}: {GAPS['open']}." if open_ else "",
        _history(own, judged),
    ]
    return "\n\n".join(filter(None, parts)) + "\n"


def _heading(name: str) -> str:
    """A task's name without formulas, as a search and the title of a window show it.

    >>> _heading("MAX_n, 3 <= n <= 8")
    'MAXₙ, 3 ≤ n ≤ 8'
    """
    plain = name
    for typed, shown in {"_n": "ₙ", "_k": "ₖ", "<=": "≤", ">=": "≥"}.items():
        plain = plain.replace(typed, shown)
    return prose(name) if plain == name else plain


def _history(own: Sequence[AtlasBound], judged: Judged) -> str:
    """Every bound in order of time, and the words of its source, folded; both ends of a class in
    one line where they differ in nothing else."""
    ends: dict[tuple[str, ...], list[str]] = {}
    for b in sorted(own, key=lambda b: b.year):
        gone = f" (until {b.superseded})" if b.superseded else ""
        depth = "no fixed depth suffices" if b.depth == NONE else _depth(b.depth)
        who = told(f"{b.place}{'' if b.ours else f' ({b.mark})'}", cite)
        bound = f"{b.year}, {class_name(classes()[b.class_].name)}: {depth}"
        behind = f"{capital(_who(b))}, {who} {_conditions(b, judged)}".rstrip()
        end = "" if b.depth == NONE else {"lower": "needed", "upper": "enough"}[b.end]
        ends.setdefault((bound, behind), []).append(f"{end}{gone}".strip())
    lines = (
        f"- {', '.join(filter(None, [bound, ' and '.join(which)]))}. {behind}"
        for (bound, behind), which in ends.items()
    )
    quoted = {
        f"> “{md(b.quote)}” ({cite(b.source)}, {told(b.place, cite)[:-1]})": b
        for b in own
        if b.quote
    }
    once = {b.quote: text for text, b in quoted.items()}.values()
    inside = "\n\n".join(["\n".join(lines), *once])
    return f"<details><summary>All bounds, in order of time</summary>\n\n{inside}\n\n</details>"


def _conditions(b: AtlasBound, judged: Judged) -> str:
    """What the table above and the page of a claim do not say: the verdict where another bound took
    its place, or where it is on a part; why an end is argued; conditions."""
    whole = b.claim and not b.covers
    reasons = b.argument if whole else b.reasons
    known = "; ".join(filter(None, [reasons if reasons != b.place else "", b.note]))
    check = _check(b, judged) if b.covers or (whole and b.superseded) else ""
    said = told(known, cite) if known else ""
    return capital(": ".join(filter(None, [check, said])))


def _table(heading: str, rows: Iterable[tuple[str, ...]]) -> str:
    """A table whose rows are stacked on a phone: what is needed and what suffices stand last."""
    return f":::{{container}} stacked\n\n{pipe_table(heading, rows)}\n:::"


def _ends(row: AtlasRow) -> tuple[str, str]:
    return _depth(row.needed), _depth(row.suffices)


def _evidence(row: AtlasRow, judged: Judged) -> str:
    """What both ends stand on, once where it is the same."""
    found = {end.end: _check(end, judged) for end in (row.lower, row.upper) if end}
    if len(set(found.values())) == 1:
        return found.popitem()[1]
    return "; ".join(
        f"{'needed' if end == 'lower' else 'enough'}: {what}" for end, what in found.items()
    )


def _who(end: AtlasBound) -> str:
    return "ours" if end.ours else cite(end.source)


def _depth(depth: str) -> str:
    return depth if depth == "-" else prose(formula(depth, latex=True))


def _check(end: AtlasBound, judged: Judged) -> str:
    if not end.claim:
        return end.verdict
    return end.judged(f"[{_claimed(end, judged)}](/claims/{end.claim}.md)")


def _word(end: AtlasBound, judged: Judged) -> str:
    """What an end stands on, without a link: of a claim about a part of it, not its verdict."""
    if end.covers:
        return end.judged("")
    return end.judged(_claimed(end, judged) if end.claim else "")


def _claimed(end: AtlasBound, judged: Judged) -> str:
    result = judged(end.claim)
    return verdict(marked(result)) if result else "not recorded"

"""`depthlaw tasks check`: of a net, or of a lower bound, two words that so many layers cannot tell
apart."""

from __future__ import annotations

from dataclasses import asdict
from math import inf
from pathlib import Path
from typing import TYPE_CHECKING, Any

from depthlaw.advisor.atlas import NONE, atlas, formula, singular
from depthlaw.advisor.base.quantities import plural, quoted

from .output import dump, tell

if TYPE_CHECKING:
    from depthlaw.theory.atlas.certificates import BoundCertificate
    from depthlaw.theory.atlas.check import Compared, NetRun
    from depthlaw.theory.atlas.ends import Ends

# Kinds of bounds for which each net has words of its own, and how these are made.
_MADE = {
    "flows": "each letter stands between words of product 1 that bring the net to its "
    "fewest states, and x^-1 is x so often that one x more changes nothing",
    "powers": "the letter is read very often in front of both, with product 1",
}
_NO_ROW = "the table has no row for this task in this class"


def check(file: Path, length: int | None, tables: Path | None, json_output: bool) -> int:
    """Check what the file holds. Exit code 1 where a net is wrong or a bound is not verified."""
    from depthlaw.theory.atlas import check as atlas_check

    compared = atlas_check.check(file, length=length, tables=tables)
    found = compared.found
    class_ = atlas(tables).classes[compared.class_]
    if isinstance(found, atlas_check.NetRun):
        if json_output:
            _dump(file, compared, _net_facts(found))
        elif found.wrong:
            tell(_wrong(file, found))
        else:
            unit = singular(class_.unit) if found.layers == 1 else class_.unit
            tell(f"{_right(found)}; {found.layers} {unit}: {_net_beside(compared.ends, found)}")
            if found.sizes:
                ends = dict.fromkeys((min(found.sizes), max(found.sizes)))
                tell(
                    "its states hold numbers (p/q) 2^e with p and q odd: "
                    + "; ".join(_size(length, found.sizes[length]) for length in ends)
                )
            tell(
                f"its weights break nothing of the class {class_.key}; the rest is for a reader to "
                f"check: {class_.definition}"
            )
    elif json_output:
        _dump(file, compared, _bound_facts(found))
    else:
        for line in _bound_lines(compared, found, class_.bound):
            tell(line)
        if compared.right:
            tell(f"the class {class_.key}: {class_.definition}")
    return int(not compared.right)


def _dump(file: Path, compared: Compared, facts: dict[str, Any]) -> None:
    needed = compared.ends.needed
    dump(
        {
            "file": str(file),
            "task": compared.task or None,
            "language": compared.language or None,
            "parameters": dict(compared.parameters),
            "class": compared.class_,
            **facts,
            "lower": NONE if needed == inf else needed,
            "table": compared.ends.suffices,
            "result": compared.result,
        }
    )


# --- nets -----------------------------------------------------------------------------------------


def _net_facts(run: NetRun) -> dict[str, Any]:
    facts = {name: getattr(run, name) for name in ("layers", "words", "length", "whole", "states")}
    wrong = run.wrong and asdict(run.wrong) | {"word": " ".join(run.wrong.word)}
    return facts | {"wrong": wrong, "sizes": run.sizes}


def _asked(run: NetRun, up_to: str = "to") -> str:
    """What was run, after its number."""
    if run.listed:
        return run.listed
    if run.of_one_length:
        return f"words of {plural(run.length or 0, 'letter')}"
    return f"words {up_to} length {run.length}"


def _wrong(file: Path, run: NetRun) -> str:
    assert run.wrong
    thing, has = ("the word", "which has") if run.words else ("the numbers", "whose maximum is")
    says = f"WRONG: {file} says {run.wrong.said} of {thing} {' '.join(run.wrong.word)!r}, {has} "
    if not run.words:
        return f"{says}{run.wrong.right}"
    before = "earlier word" if run.thoughts else "shorter or earlier word"
    verb = "was" if run.words == 2 else "were"
    return f"{says}{run.wrong.right}; {plural(run.words - 1, before)} {verb} right"


def _right(run: NetRun) -> str:
    how = "each sign decided in balls" if run.in_balls else "exactly"
    if run.every_length:
        states = plural(run.states or 0, "state")
        return f"right on words of every length, {how}: its {states} close up"
    if run.words is None:
        return f"right on all of R^{run.inputs}, {how}"
    return f"right on all {run.words:,} {_asked(run, 'up to')}, {how}"


def _net_beside(ends: Ends, run: NetRun) -> str:
    """How a net that is right compares, in a line."""
    from depthlaw.theory.atlas.ends import Result

    result = ends.of_net(run.layers, run.whole)
    if result == Result.NO_ROW:
        return _NO_ROW
    words = "on all words" if run.words else "on all numbers"
    if run.words and not run.whole:
        words = f"on {_asked(run)}"
    if result == Result.CONTRADICTS_LOWER:
        assert ends.lower
        bound = f"lower bound {ends.needed} ({ends.lower.attribution})"
        if ends.needed == inf:
            bound = f"lower bound, that no depth suffices ({ends.lower.attribution}),"
        either = "; either the bound or the class of the net is wrong"
        return f"contradicts the table's {bound} {words}" + (
            either if run.whole else ", which no finite run refutes"
        )
    if result in (Result.AS_MANY, Result.MORE):
        return f"{result} ({ends.suffices})"
    if result == Result.NOT_THE_LEAST:
        assert ends.upper
        return f"fewer than the table ({ends.suffices}), which says: {ends.upper.note}"
    if result == Result.NO_UPPER:
        return result
    needed = f"; {ends.needed} needed"
    if ends.lower is None:
        needed = "; no lower bound is known to it"
    elif ends.needed is None:
        needed = f"; it needs {formula(ends.lower.depth)}, which is no number here"
    rest = ": a record, if the net is of the class"
    if not run.whole:
        rest = "; a record only if it is right on longer words too, which no run shows"
    return f"fewer than the table ({ends.suffices}{needed}) {words}{rest}"


def _size(length: int, size: tuple[int, int, int] | None) -> str:
    """How large numbers get in words of a length."""
    letters = f"in words of {plural(length, 'letter')} "
    if size is None:
        return letters + "too long to be counted"
    p, q, e = size
    return letters + f"p up to {plural(p, 'bit')}, q up to {plural(q, 'bit')}, |e| up to {e}"


# --- lower bounds ---------------------------------------------------------------------------------


def _bound_facts(run: BoundCertificate) -> dict[str, Any]:
    return {
        "layers": run.layers,
        "words": [list(word) for word in run.words],
        "answers": list(run.answers),
        "verified": run.verified,
        "told_apart_by": run.separated_by,
    }


def _bound_lines(compared: Compared, run: BoundCertificate, kind: str) -> list[str]:
    """Whether a bound is verified, and how it compares; `kind`: of bounds, as the class has it."""
    class_, unit = compared.class_, "step" if run.steps else "layer"
    one, other, *more = (quoted(("" if max(map(len, w)) == 1 else " ").join(w)) for w in run.words)
    if len(set(run.answers)) == 1:
        which = "all words" if more else f"both words, {one} and {other},"
        return [f"NOT VERIFIED: {which} have the answer {run.answers[0]}"]
    if run.separated_by is not None:
        what = "answer all these words" if run.steps else f"tell {one} from {other}"
        return [f"NOT VERIFIED: {plural(run.separated_by, unit)} of the class {class_} can {what}"]
    layers, made = plural(run.layers, unit), _MADE.get(kind)
    nets = f"of the class {class_} with {layers}, whatever its"
    says = f"no net {nets} weights, tells {one} from {other}"
    if run.steps:
        says = f"no chain {nets} tables, answers all {len(run.words)} words"
    elif made:
        says = f"every net {nets} weights, says the same of two words made of {one} and {other}"
    answers = "" if more else f", whose answers are {run.answers[0]} and {run.answers[1]}"
    return [
        f"verified: {says}{answers}",
        f"needs more than {layers}; {_bound_beside(compared.ends, run.layers + 1)}",
        *([f"the words of a net: {made}"] if made else []),
    ]


def _bound_beside(ends: Ends, needed: int) -> str:
    """How a bound that was verified compares, in a line."""
    from depthlaw.theory.atlas.ends import Result

    result = ends.of_bound(needed)
    if result == Result.NO_ROW:
        return _NO_ROW
    if result == Result.CONTRADICTS_UPPER:
        assert ends.upper
        return (
            f"this contradicts the upper end, {ends.suffices} ({ends.upper.attribution}); one of "
            "the two is wrong, or is about other nets or words"
        )
    if ends.lower is None or ends.needed is None:
        unread = f": {formula(ends.lower.depth)} is no number here" if ends.lower else ""
        return f"the table has no lower end for this task in this class{unread}"
    whose = ends.lower.attribution
    if ends.needed == inf:
        return f"weaker than the known lower end, that no depth suffices ({whose})"
    known = f"the greatest known lower end is {ends.needed} ({whose})"
    if result == Result.RECORD:
        return f"{known}: this is better, a record"
    return f"{known}: {'as much as' if result == Result.EQUAL else 'more than'} this"

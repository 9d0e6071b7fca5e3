"""`depthlaw tasks check`: a net run on words, or words that so many layers cannot tell apart."""

from __future__ import annotations

from collections.abc import Iterator
from math import inf
from pathlib import Path

from depthlaw.advisor.atlas import AtlasClass, atlas, formula, singular
from depthlaw.advisor.base.quantities import plural, quoted
from depthlaw.theory.atlas.certificates import BoundCertificate
from depthlaw.theory.atlas.check import NetRun
from depthlaw.theory.atlas.ends import Ends, Result

from ..functions.check import Checked, check as checked
from .plain import dump, tell

# Kinds of bounds for which each net has words of its own, and how these are made.
_MADE = {
    "flows": "each letter stands between words of product 1 that bring the net to its "
    "fewest states, and x^-1 is x so often that one x more changes nothing",
    "powers": "the letter is read very often in front of both, with product 1",
}
_NO_ROW = "the table has no row for this task in this class"


def check(file: Path, length: int | None, tables: Path | None, json_output: bool) -> int:
    """Check what the file holds. Exit code 1 where a net is wrong or a bound is not verified."""
    compared = checked(file, length=length, tables=tables)
    found, class_ = compared.found, atlas(tables).classes[compared.class_]
    if json_output:
        dump(compared.to_json())
    elif isinstance(found, NetRun):
        for line in _net_lines(compared, found, class_):
            tell(line)
    else:
        for line in _bound_lines(compared, found, class_):
            tell(line)
    return int(not compared.right)


# --- nets -----------------------------------------------------------------------------------------


def _net_lines(compared: Checked, run: NetRun, class_: AtlasClass) -> Iterator[str]:
    if run.wrong:
        thing, has = ("word", "which has") if run.words else ("numbers", "whose maximum is")
        says = f"WRONG: {compared.file} says {run.wrong.said} of the {thing} "
        says += f"{' '.join(run.wrong.word)!r}, {has} {run.wrong.right}"
        before = "earlier word" if run.thoughts else "shorter or earlier word"
        verb = "was" if run.words == 2 else "were"
        yield says + (f"; {plural(run.words - 1, before)} {verb} right" if run.words else "")
        return
    unit = singular(class_.unit) if run.layers == 1 else class_.unit
    yield f"{_right(run)}; {run.layers} {unit}: {_net_beside(compared.ends, run)}"
    if run.sizes:
        ends = dict.fromkeys((min(run.sizes), max(run.sizes)))
        sizes = "; ".join(_size(length, run.sizes[length]) for length in ends)
        yield f"its states hold numbers (p/q) 2^e with p and q odd: {sizes}"
    yield (
        f"its weights break no condition of the class {class_.key}; the rest is for a reader to "
        f"check: {class_.definition}"
    )


def _asked(run: NetRun, up_to: str = "to") -> str:
    """What was run, after its number."""
    if run.of_one_length and not run.listed:
        return f"words of {plural(run.length or 0, 'letter')}"
    return run.listed or f"words {up_to} length {run.length}"


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
    result = ends.of_net(run.layers, run.whole)
    words = "on all words" if run.words else "on all numbers"
    if run.words and not run.whole:
        words = f"on {_asked(run)}"
    if result == Result.NO_ROW:
        return _NO_ROW
    if result == Result.CONTRADICTS_LOWER:
        assert ends.lower
        bound = f"lower bound {ends.needed} ({ends.lower.attribution})"
        if ends.needed == inf:
            bound = f"lower bound, that no fixed depth suffices ({ends.lower.attribution}),"
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


def _bound_lines(compared: Checked, run: BoundCertificate, class_: AtlasClass) -> Iterator[str]:
    """Whether a bound is verified, and how it compares."""
    unit, of_class = "step" if run.steps else "layer", f"of the class {class_.key}"
    one, other, *more = (quoted(("" if max(map(len, w)) == 1 else " ").join(w)) for w in run.words)
    if len(set(run.answers)) == 1:
        which = "all words" if more else f"both words, {one} and {other},"
        yield f"NOT VERIFIED: {which} have the answer {run.answers[0]}"
        return
    if run.separated_by is not None:
        what = "answer all these words" if run.steps else f"tell {one} from {other}"
        yield f"NOT VERIFIED: {plural(run.separated_by, unit)} {of_class} can {what}"
        return
    layers, made = plural(run.layers, unit), _MADE.get(class_.bound)
    nets = f"{of_class} with {layers}, whatever its"
    says = f"no net {nets} weights, tells {one} from {other}"
    if run.steps:
        says = f"no chain {nets} tables, answers all {len(run.words)} words"
    elif made:
        says = f"every net {nets} weights, says the same of two words made of {one} and {other}"
    answers = "" if more else f", whose answers are {run.answers[0]} and {run.answers[1]}"
    yield f"verified: {says}{answers}"
    yield f"needs more than {layers}; {_bound_beside(compared.ends, run.layers + 1)}"
    if made:
        yield f"the words of a net: {made}"
    yield f"the class {class_.key}: {class_.definition}"


def _bound_beside(ends: Ends, needed: int) -> str:
    """How a bound that was verified compares, in a line."""
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
        return f"weaker than the known lower end, that no fixed depth suffices ({whose})"
    known = f"the greatest known lower end is {ends.needed} ({whose})"
    if result == Result.RECORD:
        return f"{known}: this is better, a record"
    return f"{known}: {'as much as' if result == Result.EQUAL else 'more than'} this"

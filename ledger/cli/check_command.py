"""`depthlaw tasks check`: of a net, or of a lower bound, two words that so many layers cannot tell
apart."""

from __future__ import annotations

from collections.abc import Mapping
from math import inf
from pathlib import Path
from typing import Any

from depthlaw.advisor.atlas import NONE, atlas_rows, classes, formula
from depthlaw.advisor.base.quantities import UsageError, plural, quoted

from .output import dump, tell
from .tasks_command import Ends, check_net, whose

# Classes of whose nets each has words of its own, and how these are made.
_MADE = {
    "diagonal-ssm": "each letter stands between words of product 1 that bring the net to its "
    "fewest states, and x^-1 is x so often that one x more changes nothing",
    "deltanet": "the letter is read very often in front of both, with product 1",
}


def check(file: Path, length: int | None, json_output: bool) -> int:
    """Check what the file holds. Exit code 1 where a net is wrong or a bound is not verified."""
    from depthlaw.theory.nets.json_format import read_body

    body = read_body(file)
    if body.get("family") != "bound":
        return check_net(file, length, json_output)
    if length is not None:
        raise UsageError("--length belongs to nets; a lower bound is about two words")
    return _check_bound(file, body, json_output)


def _check_bound(file: Path, body: Mapping[str, Any], json_output: bool) -> int:
    """Verify a lower bound and compare it with the table."""
    from depthlaw.theory.atlas.certificates import BoundCertificate, read_bound

    bound: BoundCertificate = read_bound(body)
    parted, same = bound.told_apart(), len(set(bound.answers)) == 1
    verified = parted is None and not same
    ends = _of_language(bound) if bound.automaton else _of_task(bound)
    result, compared = _against(ends, bound.layers + 1) if verified else ("not verified", "")
    one, other, *more = (_shown(word) for word in bound.words)
    unit = "step" if bound.function else "layer"
    if json_output:
        dump(
            {
                "file": str(file),
                "task": bound.task or None,
                "language": body.get("language"),
                "parameters": bound.parameters,
                "class": bound.kind,
                "layers": bound.layers,
                "words": [list(word) for word in bound.words],
                "answers": list(bound.answers),
                "verified": verified,
                "told_apart_by": parted,
                "lower": NONE if ends.lower == inf else ends.lower,
                "table": ends.upper,
                "result": result,
            }
        )
    elif same:
        which = "all words" if more else f"both words, {one} and {other},"
        tell(f"NOT VERIFIED: {which} have the answer {bound.answers[0]}")
    elif parted is not None:
        what = "answer all these words" if bound.function else f"tell {one} from {other}"
        tell(f"NOT VERIFIED: {plural(parted, unit)} of the class {bound.kind} can {what}")
    else:
        layers, made = plural(bound.layers, unit), _MADE.get(bound.kind)
        nets = f"of the class {bound.kind} with {layers}, whatever its"
        if bound.function:
            says = f"no chain {nets} tables, answers all {len(bound.words)} words"
        elif made:
            says = f"every net {nets} weights, says the same of two words made of {one} and {other}"
        else:
            says = f"no net {nets} weights, tells {one} from {other}"
        answers = "" if more else f", whose answers are {bound.answers[0]} and {bound.answers[1]}"
        tell(f"verified: {says}{answers}")
        tell(f"needs more than {layers}; {compared}")
        if made:
            tell(f"the words of a net: {made}")
        tell(f"the class {bound.kind}: {classes()[bound.kind].definition}")
    return int(not verified)


def _shown(word: tuple[str, ...]) -> str:
    return quoted(("" if max(map(len, word)) == 1 else " ").join(word))


def _of_task(bound: Any) -> Ends:
    """What the table says; of a function that is given by its values, its rank."""
    if bound.task == "boolean-function":
        from depthlaw.theory.least_depth.chain_of_thought import ranks

        rank = ranks(bound.function)(bound.function.everything)[0]
        source = "the rank of f, least_depth/steps_are_rank"
        return Ends(
            rows=True,
            lower=rank,
            upper=rank,
            source=source,
            upper_source=source,
            unread="",
            note="",
        )
    return Ends.of(bound.task, bound.parameters, bound.kind, None)


def _of_language(bound: Any) -> Ends:
    """What `depthlaw tasks language` says of it."""
    from depthlaw.theory.formal_languages.regular_depth import asked_of_depth

    asked = asked_of_depth(bound.automaton)
    least = asked.leftmost if bound.kind == "uhat-left" else asked.rightmost
    if least is not None:
        search = "found by `depthlaw tasks language`"
        return Ends(
            rows=True,
            lower=least.needed,
            upper=least.enough,
            source=search,
            upper_source=search,
            unread="",
            note="",
        )
    task = "not-r-trivial" if bound.kind == "uhat-left" else "not-star-free"
    (known,) = (row.lower for row in atlas_rows(task) if row.class_.key == bound.kind and row.lower)
    return Ends(
        rows=True,
        lower=inf,
        upper=None,
        source=whose(known),
        upper_source="",
        unread="",
        note="",
    )


def _against(ends: Ends, needed: int) -> tuple[str, str]:
    """How a bound that was verified compares, in a word or two and in a line."""
    if not ends.rows:
        return "no record to compare with", "the table has no row for this task in this class"
    if ends.upper is not None and needed > ends.upper:
        return (
            "contradicts an upper bound",
            f"this contradicts the upper end, {ends.upper} ({ends.upper_source}); one of the two "
            "is wrong, or is about other nets or words",
        )
    if ends.lower is None:
        unread = f": {formula(ends.unread)} is no number here" if ends.unread else ""
        result = "no lower end is known to the table"
        return result, f"the table has no lower end for this task in this class{unread}"
    if ends.lower == inf:
        return "weaker", f"weaker than the known lower end, that no depth suffices ({ends.source})"
    known = f"the greatest known lower end is {ends.lower} ({ends.source})"
    if needed > ends.lower:
        return "a record", f"{known}: this is better, a record"
    result = "equal" if needed == ends.lower else "weaker"
    return result, f"{known}: {'as much as' if result == 'equal' else 'more than'} this"

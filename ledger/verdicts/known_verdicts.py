"""What is known of the claims that come with depthlaw: the verdict of each recorded case, and the
word of the claim in each suite.

`known_cases.json` is written with the reference ledger, a case a line, so that a changed verdict
shows as a changed line of that file.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING, Any

from depthlaw.theory.claims.values import Case

if TYPE_CHECKING:
    from depthlaw.theory.claims.definition import Claim

FILE = Path(__file__).with_name("known_cases.json")


@dataclass(frozen=True)
class Known:
    """What is known of one claim: its verdict by suite, of the suites of which every case is
    recorded; and that of every recorded case, OUT_OF_SCOPE among them, unless each HOLDS."""

    words: Mapping[str, str] = field(default_factory=dict)
    cases: Mapping[Case, str] = field(default_factory=dict)


def known(key: str) -> Known | None:
    """What is known of a claim, by its key; None of one's own and of new ones.

    >>> known("separation_rank/degree").words["quick"]
    'PROVED'
    """
    return _listed().get(key)


def known_at(claim: Claim, case: Case) -> str:
    """The verdict that is known of a case; where none is recorded, HOLDS if the claim awaits that,
    else an empty string.

    >>> from depthlaw.theory.claims.definition import find
    >>> claim = find("separation_rank/degree")
    >>> known_at(claim, claim.every_case[0])
    'HOLDS'
    """
    listed = known(claim.key) or Known()
    return listed.cases.get(case) or ("HOLDS" if claim.awaited == "HOLDS" else "")


def shared_fields(cases: Iterable[Case]) -> dict[str, Any]:
    """The fields that are the same in all of several cases; none of one case alone."""
    rows = [case.fields().items() for case in cases]
    return {k: v for k, v in rows[0] if all((k, v) in row for row in rows)} if rows[1:] else {}


@cache
def _listed() -> dict[str, Known]:
    if not FILE.is_file():
        return {}
    listed = {}
    for key, body in json.loads(FILE.read_text(encoding="utf-8")).items():
        rows = ((word, fields) for word, cases in body["cases"].items() for fields in cases)
        cases = {Case(**fields, **body["same"]): word for word, fields in rows}
        listed[key] = Known(body["words"], cases)
    return listed


def write_known(claims: Mapping[str, Known]) -> None:
    """Write the file again."""
    parts = [f"{json.dumps(key)}: {_text(cases)}" for key, cases in claims.items()]
    FILE.write_text("{\n" + ",\n".join(parts) + "\n}\n", encoding="utf-8")


def _text(known: Known) -> str:
    """What is known of a claim as JSON, a case a line; the fields that all cases share stand
    once."""
    same, by_word = shared_fields(known.cases), dict[str, list[str]]()
    for case, word in known.cases.items():
        own = {name: value for name, value in case.fields().items() if name not in same}
        by_word.setdefault(word, []).append(json.dumps(own))
    lines = {word: ",\n  ".join(cases) for word, cases in sorted(by_word.items())}
    verdicts = ", ".join(f"{json.dumps(word)}: [\n  {rows}]" for word, rows in lines.items())
    words = json.dumps(dict(known.words))
    shared = json.dumps(same, sort_keys=True)
    return f'{{"words": {words}, "same": {shared}, "cases": {{{verdicts}}}}}'

"""Where a statement fails, for a reader: the input, what is expected and what was got, in one line
that every report prints."""

from __future__ import annotations

import re
import tomllib
from collections.abc import Iterable, Mapping
from functools import cache
from importlib.resources import files
from typing import Any

from depthlaw.theory.claims.definition import Claim, measured_symbol
from depthlaw.theory.claims.printing import latex
from depthlaw.theory.claims.symbols import term_of
from depthlaw.theory.claims.values import Case, Instance

from .display import measured_side, stated
from .known_verdicts import shared_fields
from .suite_verdicts import CaseResult, ClaimResult

_SINGULAR = re.compile(r"\b1 (head|hop|input|layer|number|output|symbol|token|update)s\b")


@cache
def _table() -> dict[str, Any]:
    """case_words.toml: what is told of a case, and how."""
    return tomllib.loads(files(__package__).joinpath("case_words.toml").read_text("utf-8"))


def failing_instance(result: ClaimResult) -> Instance | None:
    """The instance that a claim brings along to show that it fails, else its smallest case that
    does; None where none does."""
    worst = result.counterexample
    if worst is None:
        return None
    claim, cases = result.claim, (row.case for row in result.cases)
    return claim.instance() if claim.instance else instance_at(claim, worst, cases)


def instance_at(claim: Claim, row: CaseResult, cases: Iterable[Case] = ()) -> Instance:
    """A case that fails: its input, the statement there, and the measured side.

    Args:
        cases: what else the claim is asked about; fields that all share are left out.
    """
    left = claim.statement.lhs
    expected = f"${latex(left)}$ {stated(claim, row)}"
    term = term_of(measured_symbol(claim.statement, row.case))
    if term is not None:
        # "width: the dimension of ..." names the quantity first.
        name = re.sub(r"^(\w+): .*", r"\1", _table()["means"].get(claim.key, term.meaning))
        if left.is_Symbol:
            expected = f"{name}, {expected}"
        else:
            expected += f" (${term.latex}$: {name})"
    asked = in_words(claim.key, own_fields(claim.key, row.case, cases))[0]
    return Instance(asked, expected, measured_side(claim, row))


def own_fields(key: str, case: Case, cases: Iterable[Case]) -> dict[str, int | str | bool]:
    """The fields of a case that not all cases of its claim share, and those of which a reader needs
    to know all the same (`kept` of case_words.toml); all where none is left."""
    same, kept = shared_fields(cases).items(), _table()["kept"].get(key, ())
    fields = case.fields()
    return {k: v for k, v in fields.items() if k in kept or (k, v) not in same} or fields


def in_words(key: str, fields: Mapping[str, int | str | bool]) -> tuple[str, list[str]]:
    """The fields of a case of a claim as a reader is told of them, and those that no phrase is for,
    which are told by their names."""
    table = _table()
    told = {k: v for k, v in fields.items() if _told(k, v)}
    left = {k: v for k, v in told.items() if k not in table["said_by_the_statement"]} or told
    parts = []
    for phrase in (*table["claims"].get(key, ()), *table["phrases"]):
        names = re.findall(r"\{(\w+)\}", phrase)
        if all(name in left for name in names):
            said = phrase.format(**{name: _word(name, left.pop(name)) for name in names})
            parts.append(_SINGULAR.sub(r"1 \1", said))
    parts += [f"{name.replace('_', ' ')} {_word(name, value)}" for name, value in left.items()]
    return ", ".join(parts), list(left)


def _told(name: str, value: int | str | bool) -> bool:
    # Which of the seeds says something, how many of them there are does not.
    return name not in _table()["untold"] and not (name == "seeds" and isinstance(value, int))


def _word(name: str, value: int | str | bool) -> str:
    if word := _table()["words"].get(name, {}).get(str(value).lower()):
        return str(word)
    # Not by a table: 1 would be found under True.
    if isinstance(value, bool):
        return ("no", "yes")[value]
    return f"{value:,}" if isinstance(value, int) else value

"""Decisions that were already taken: a cache beside the records, derived from them, which may be
deleted at any time.

A decision depends on the recorded value, the statement, the allowed false-alarm rate and the code
of the comparison rule; the key is a hash of all four, so a stale decision is never found.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Callable
from contextlib import suppress
from dataclasses import astuple
from functools import cache
from importlib import import_module
from pathlib import Path
from typing import Any

import sympy

from depthlaw.theory.claims.code_version import code_version
from depthlaw.theory.claims.definition import Claim
from depthlaw.theory.claims.verdict import Decision, Verdict

from ..records.store import Record, Store, canonical, digest

# Of a ledger, beside which nothing can be written: what this process has decided, by its file.
_of_ledgers: dict[Path, dict[str, list[Any]]] = {}


class Decisions:
    """The decision cache of a results folder, or of this process for a ledger."""

    def __init__(self, store: Store) -> None:
        self._store = store
        self._path = store.root / "cache" / "decisions.json"
        self._known: dict[str, list[Any]] = {}
        self._new = False
        if store.root.is_file():
            self._known = _of_ledgers.setdefault(store.root, {})
            return
        with suppress(OSError, ValueError, KeyError, TypeError):
            body = json.loads(self._path.read_bytes())
            if body["seal"] == digest(body["decisions"]):
                self._known = body["decisions"]

    def get(
        self,
        claim: Claim,
        records: tuple[Record, ...],
        alpha: float | None,
        decide: Callable[[], tuple[int, Decision]],
    ) -> tuple[int, Decision]:
        """The index of the deciding value and the decision for one case, from the cache or by
        `decide`; `alpha` is None for a negative control, which is judged whatever it assumes."""
        values = [record.result_hash for record in records]
        key = digest([values, _statement_hash(claim), alpha, _rule_hash()])
        if key in self._known:
            index, verdict, *rest = self._known[key]
            return index, Decision(Verdict(verdict), *rest)
        index, decision = decide()
        self._known[key] = [index, *astuple(decision)]
        self._new = True
        return index, decision

    def save(self) -> None:
        """Keep new decisions. A folder that cannot be written costs only time."""
        if not self._new:
            return
        with suppress(OSError):
            self._path.parent.mkdir(exist_ok=True)
            kept = {"decisions": self._known, "seal": digest(self._known)}
            self._store.write(self._path, canonical(kept))
            self._new = False


@cache
def _statement_hash(claim: Claim) -> str:
    prediction = code_version(claim.predicted) if claim.predicted else ""
    return digest([_structure(claim.statement), prediction, claim.kind])


def _structure(expression: sympy.Basic) -> list[Any]:
    """An expression with the assumptions of its symbols, ten times as fast as SymPy prints it."""
    if not expression.args:
        return [_atom(expression)]
    return [type(expression).__name__, *map(_structure, expression.args)]


@cache
def _atom(expression: sympy.Basic) -> str:
    return str(sympy.srepr(expression))


@cache
def _rule_hash() -> str:
    sources = []
    for module in ("claims.definition", "claims.verdict", "exact.enclosure", "claims.values"):
        path = Path(import_module(f"depthlaw.theory.{module}").__file__ or "")
        sources.append(hashlib.sha256(path.read_bytes()).hexdigest())
    return digest(sources)

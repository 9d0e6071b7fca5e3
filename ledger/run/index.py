"""The list of claims as plain data, so that commands which only name claims need not import them.

It is built once for each version of the code and stored in the user's cache folder, which may be
deleted at any time.
"""
from __future__ import annotations

from collections.abc import Collection, Iterable
from difflib import get_close_matches
from functools import cache
from typing import Any

from depthlaw.advisor.quantities import UsageError
from depthlaw.theory.code_version import read_cache, write_cache
from depthlaw.theory.withdrawn import WITHDRAWN

__all__ = ["claims_index", "select"]


@cache
def claims_index() -> dict[str, dict[str, str]]:
    """Of every claim that comes with depthlaw, by key: what `depthlaw claims --json` prints, its
    text, and its bibliography key.

    Cost: milliseconds; two seconds for the first time after a change of the code.
    """
    found = read_cache("claims")
    if found is None:
        found = _built()
        write_cache("claims", found)
    return found


def _built() -> dict[str, Any]:
    from depthlaw.theory.claim import registry
    from depthlaw.theory.symbols import plain

    return {c.key: {
        "key": c.key, "title": c.title, "wording": c.wording, "kind": c.kind,
        "holds_for": c.holds_for, "source": str(c.source), "statement": plain(c.statement),
        "text": c.text, "bibliography": c.source.key} for c in registry().values()}


def select(asked: Iterable[str], known: Collection[str]) -> list[str]:
    """The keys that were asked for by key or by topic; all of them when none was.

    Raises:
        UsageError: for what is neither, with the nearest key.
    """
    keys = [key for one in asked for key in [k for k in known if k.startswith(f"{one}/")] or [one]]
    for key in keys:
        if key in WITHDRAWN:
            raise UsageError(f"the claim {key} was withdrawn: {WITHDRAWN[key]}")
        if key not in known:
            close = get_close_matches(key, known, n=1, cutoff=0.5)
            hint = f"did you mean {close[0]}?" if close else "`depthlaw claims` lists them"
            raise UsageError(f"unknown claim {key!r}; {hint}")
    return keys or list(known)

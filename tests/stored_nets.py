"""The nets of docs/examples/nets, one entry of one changed, and a table of one row beside them."""

from __future__ import annotations

import copy
import json
from pathlib import Path
from typing import Any

import pytest

from depthlaw.advisor.atlas import Atlas, AtlasBound, classes, tasks
from depthlaw.theory.atlas import check

NETS = Path(__file__).parents[1] / "docs/examples/nets"


def stored(name: str) -> dict[str, Any]:
    """The JSON object of a file, a new one each time."""
    body: dict[str, Any] = json.loads((NETS / f"{name}.json").read_text())
    return body


def changed(body: dict[str, Any], way: list[Any], to: object) -> dict[str, Any]:
    """The body with another entry; in place of None the last two letters of a row exchanged."""
    body = copy.deepcopy(body)
    at = body
    for key in way[:-1]:
        at = at[key]
    if to is None and isinstance(at[way[-1]], str) and " " in at[way[-1]]:
        *rest, one, two = at[way[-1]].split()
        to = " ".join((*rest, two, one))
    assert (at.get(way[-1]) if isinstance(at, dict) else at[way[-1]]) != to
    at[way[-1]] = to
    return body


def table_of(patch: pytest.MonkeyPatch, task: str, class_: str, lower: str, upper: str) -> None:
    """Until the patch is undone, checks know an atlas with these ends alone."""

    def bound(end: str, depth: str) -> AtlasBound:
        facts = {"task": task, "class_": class_, "end": end, "depth": depth}
        return AtlasBound(**facts, year=2021, source="yao2021", mark="reported")

    ends = tuple(bound(end, depth) for end, depth in (("lower", lower), ("upper", upper)) if depth)
    patch.setattr(check, "atlas", lambda tables: Atlas(tasks(), classes(), ends))

"""Write what every measure calls the layers of nets that need them all: the numbers of
docs/audit-known-answers.md.

    python benchmarks/audit_known_answers.py docs/audit-known-answers.json

Two minutes on one core.
"""

from __future__ import annotations

import json
import sys
from pathlib import Path
from typing import Any

from depthlaw.empirics.audit.known_answers import (
    MOST_WORDS,
    LayerCalls,
    answer,
    known_answers,
    known_net,
    table,
)
from depthlaw.empirics.audit.statistics import Call

# Nets with a layer that no call decides on a sample of words: these are asked all words.
UNDECIDED = ("dyck-hard", "connectivity-linear")


def rows(said: list[LayerCalls]) -> list[dict[str, Any]]:
    """Of each net, with its decoy or without: truth and calls by their first letters, a letter for
    each layer, "?" where nothing is known and "-" where nothing is said; and the measures whose
    value of the decoy is below that of every needed layer."""
    found: dict[tuple[str, str], dict[str, Any]] = {}
    for one in said:
        net, key = one.net, f"{one.measure} {one.variant}"
        truth = "".join(call[0] if call else "?" for call in net.truth)
        known = {"net": net.name, "decoy": net.decoy, "truth": truth, "said": {}, "lowest": []}
        row = found.setdefault((net.name, net.decoy), known)
        calls = one.calls
        row["said"][key] = "".join(calls[i][0] if i in calls else "-" for i in range(len(truth)))
        if (one.below or 0) > 0:
            row["lowest"].append(key)
    return list(found.values())


def open_layers(said: LayerCalls) -> list[dict[str, Any]]:
    """The layers that a measure does not call needed, with their intervals."""
    return [
        {
            "net": said.net.name,
            "measure": said.measure,
            "variant": said.variant,
            "layer": i + 1,
            "call": said.calls[i].value,
            "words": len(said.net.documents),
            "value": round(one.value, 4),
            "low": round(one.low, 4),
            "high": round(one.high, 4),
        }
        for i, one in said.estimates.items()
        if said.calls[i] is not Call.NEEDED
    ]


def main() -> None:
    """Ask all nets, and those of `UNDECIDED` once more on every word of their length."""
    must = [rule for rule in table("known_rules") if rule["must"] == "yes"]
    keys = {(rule["measure"], rule["variant"]) for rule in must}
    said = known_answers()
    asked = [one for one in said if not one.net.decoy and (one.measure, one.variant) in keys]
    nets = {line["net"]: line for line in table("known_answers")}
    for name in UNDECIDED:
        if net := known_net(nets[name], documents=MOST_WORDS):
            asked += [answer(net, rule) for rule in must]
    found = {
        "nets": rows(said),
        "not needed": [layer for one in asked for layer in open_layers(one)],
        "asked again": [
            {"net": one.net.name, "measure": one.measure, "words": len(one.net.documents)}
            for one in asked[-len(must) * len(UNDECIDED) :]
        ],
    }
    Path(sys.argv[1]).write_text(dumped(found), encoding="utf-8")


def dumped(found: dict[str, list[dict[str, Any]]]) -> str:
    """JSON with a line for each row."""
    parts = []
    for key, rows in found.items():
        lines = ",\n  ".join(json.dumps(one) for one in rows)
        parts.append(f' "{key}": [\n  {lines}\n ]')
    return "{\n" + ",\n".join(parts) + "\n}\n"


if __name__ == "__main__":
    main()

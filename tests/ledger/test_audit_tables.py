"""The tables of audits, and what the file of known answers says against nets that are run anew."""

from __future__ import annotations

import json
import re
from pathlib import Path

import pytest

from depthlaw.empirics.audit.known_answers import answer, known_net, table
from depthlaw.ledger.publish.site import audit_tables

DOCS = Path(__file__).parents[2] / "docs"
PAGES = ("audit-known-answers.md", "audit-results.md", "questions/can-i-prune-layers.md")


@pytest.mark.parametrize("page", PAGES)
def test_every_mark_of_the_pages_has_a_table(page: str) -> None:
    text = (DOCS / page).read_text(encoding="utf-8")
    marks = re.findall("<!-- audit: (.*?) -->", text)
    assert marks
    made = audit_tables.filled(text, DOCS)
    assert "<!-- audit" not in made
    rows = [line for line in made.splitlines() if line.startswith("|")]
    assert len(rows) > 3 * len(marks)
    assert all(line.replace("\\|", "").count("|") > 3 for line in rows)


@pytest.mark.parametrize("name", ["blocks-hard", "kgram", "product-of-four"])
def test_the_file_says_what_the_nets_say(name: str) -> None:
    found = json.loads((DOCS / "audit-known-answers.json").read_text(encoding="utf-8"))
    nets = {(net["net"], net["decoy"]): net for net in found["nets"]}
    line = next(row for row in table("known_answers") if row["net"] == name)
    for decoy in ("", "loud"):
        net = known_net(line, decoy)
        assert net is not None
        for rule in table("known_rules"):
            if rule["measure"] not in ("removal", "exit_loss", "block_influence"):
                continue
            said, key = answer(net, rule), f"{rule['measure']} {rule['variant']}"
            calls = "".join(call[0] for call in said.calls.values())
            assert calls == nets[name, decoy]["said"][key]
            assert ((said.below or 0) > 0) == (key in nets[name, decoy]["lowest"])


def test_the_table_counts_each_layer_once() -> None:
    """Against the list of nets: 63 needed layers, and a decoy for each net that has one."""
    rows = audit_tables.filled("<!-- audit: calls -->", DOCS).splitlines()[2:]
    by_key = {cells[1].strip(" `"): cells[3:6] for row in rows if (cells := row.split("|"))}
    layers = sum(int(row["layers"]) for row in table("known_answers"))
    assert sum(map(int, by_key["removal error"])) == layers == 63
    assert [key for key, cells in by_key.items() if int(cells[2]) == 0] == [
        "removal error",
        "exit_loss error",
        "settling_depth share",
    ]

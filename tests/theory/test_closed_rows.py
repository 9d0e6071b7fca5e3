"""Rows that the atlas calls closed prove themselves: what is stored for them passes in the class of
the row, and the claims of both ends argue for all sizes."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from depthlaw.advisor import atlas
from depthlaw.advisor.atlas import AtlasRow
from depthlaw.ledger.cli.arguments import main
from depthlaw.ledger.publish.site import atlas_pages
from depthlaw.theory.atlas import certificates, tasks
from depthlaw.theory.claims.definition import registry
from depthlaw.theory.nets import thoughts
from depthlaw.theory.nets.classes import shown

EXAMPLES = Path(__file__).parents[2] / "docs/examples"
STORED = {
    folder: [json.loads(file.read_text()) for file in sorted((EXAMPLES / folder).glob("*.json"))]
    for folder in ("nets", "bounds")
}
ROWS = {(row.task.key, row.class_.key): row for row in atlas.atlas_rows()}
CLOSED = [row for row in ROWS.values() if row.gap == "closed"]
# Nets of these rows have too many states for a file; the page on nets says so.
TOO_LARGE = [("a5-words", "deltanet"), ("s5-words", "deltanet")]

Checked = Callable[..., tuple[int, Any]]


def about(row: AtlasRow, folder: str) -> Iterator[dict[str, Any]]:
    """What is stored of a row's task, in whatever class."""
    for body in STORED[folder]:
        task, parameters = body.get("task"), body.get("parameters", {})
        known = task in tasks._MADE
        if row.task.key in (tasks.tasks_of(task, parameters) if known else (task,)):
            yield body


def runs_nets(row: AtlasRow) -> bool:
    """Whether `tasks check` runs nets of the row's class on its task."""
    if row.class_.key in ("cot-one-head", "cot-heads"):
        return row.task.key in thoughts.TASKS
    if row.class_.key in ("relu", "relu-integer"):
        return row.task.key in ("maximum", "maximum-large")
    return row.class_.key in shown() and row.task.key in tasks._MADE


def fault(row: AtlasRow, checked: Checked) -> str:
    """What a closed row lacks; "" for nothing."""
    class_ = row.class_.key
    certificates = [body for body in about(row, "bounds") if body["class"] == class_]
    for body in certificates:
        code, said = checked(body, "--json")
        if code or said["result"] not in ("equal", "weaker"):
            return f"the lower bound is not verified: {said}"
    if row.upper is None or not runs_nets(row) or (row.task.key, class_) in TOO_LARGE:
        return ""
    own = [body for body in about(row, "nets") if body["class"] == class_]
    # Without one of its own, those of its task in other classes may do.
    tried = [
        (body["class"], *checked(body | {"class": class_})) for body in own or about(row, "nets")
    ]
    wrong = [f"{said} (stored for {kind})" for kind, code, said in tried if code]
    slow = [said for _, code, said in tried if not code and "as many as the table" not in said]
    if own:
        return "; ".join([*wrong, *slow])
    return (
        "" if len(wrong) + len(slow) < len(tried) else "no stored net passes: " + "; ".join(wrong)
    )


@pytest.mark.parametrize("row", CLOSED, ids=lambda row: f"{row.task.key}-{row.class_.key}")
def test_what_is_stored_for_a_closed_row_passes_in_its_class(row, checked) -> None:
    assert fault(row, checked) == ""


def test_most_closed_rows_have_something_stored() -> None:
    """The rule above is not empty: nets for every class that runs them, and bounds."""
    with_nets = [row for row in CLOSED if row.upper and runs_nets(row)]
    kinds = {body["class"] for row in CLOSED for body in about(row, "bounds")}
    assert len(with_nets) >= 15
    assert kinds == set(certificates.certified_classes(atlas.atlas()))
    page = (EXAMPLES.parent / "how-to/net-format.md").read_text()
    assert "Not stored: A5 and S5 by two DeltaNet layers" in page
    assert {(row.task.key, row.class_.key) for row in CLOSED}.issuperset(TOO_LARGE)


def hops_by_lookups() -> AtlasRow:
    """A row that was in the atlas and false: both ends by a claim about pointers that all tokens
    share, in a class whose keys are functions of the place."""
    facts = {"task": "hops", "class_": "one-lookup", "depth": "ceil(log2(k)) + 2"}
    facts |= {"claim": "least_depth/composition_layers", "covers": ""}
    ends = [replace(atlas.bounds()[0], end=end, **facts) for end in ("lower", "upper")]
    return AtlasRow(atlas.tasks()["hops"], atlas.classes()["one-lookup"], *ends)


def test_a_row_whose_net_is_refused_in_its_class_is_found(checked) -> None:
    row = hops_by_lookups()
    assert row.gap == "closed"
    assert "a key of layer 2 is no function of the place alone" in fault(row, checked)


def test_a_closed_row_with_a_net_or_a_bound_that_fails_is_found(checked, monkeypatch) -> None:
    composed, stair = ROWS["composition", "one-lookup"], ROWS["stair", "uhat-right"]
    (lookups,) = about(composed, "nets")
    changed = lookups | {"layers": lookups["layers"][:-1]}
    monkeypatch.setitem(STORED, "nets", [changed])
    assert "WRONG" in fault(composed, checked)
    monkeypatch.setitem(STORED, "nets", [])
    assert "no stored net" in fault(composed, checked)
    (bound,) = about(stair, "bounds")
    monkeypatch.setitem(STORED, "bounds", [bound | {"layers": bound["layers"] + 1}])
    assert "not verified" in fault(stair, checked)


# --- the word ---


def test_claims_of_closed_rows_are_proved_or_argued_as_a_whole() -> None:
    for row in CLOSED:
        for end in filter(None, (row.lower, row.upper)):
            assert end.claim in registry()
            assert end.verdict in ("PROVED", "ARGUED"), (row.task.key, row.class_.key)
    proved = [row for row in CLOSED if row.checked == "PROVED"]
    assert len(proved) >= 25


@pytest.mark.parametrize(
    ("change", "word"),
    [
        ({}, "closed"),
        ({"claim": ""}, "ends meet"),
        ({"covers": "part"}, "ends meet"),
        ({"claim": "least_depth/growing_state"}, "ends meet"),
        ({"claim": "no/claim"}, "ends meet"),
        ({"depth": "D + 2"}, "open"),
    ],
)
@pytest.mark.parametrize("end", ["lower", "upper"])
def test_the_word_is_that_of_the_weaker_end(end, change, word) -> None:
    row = ROWS["dyck", "uhat-right"]
    other = replace(row, **{end: replace(getattr(row, end), **change)})
    assert other.gap == word


def test_one_end_is_open_unless_no_depth_suffices() -> None:
    none = ROWS["parity", "uhat-right"]
    assert none.gap == "closed"
    assert none.lower is not None
    assert replace(none, lower=replace(none.lower, claim="")).gap == "ends meet"
    assert replace(none, lower=replace(none.lower, depth="2")).gap == "open"
    assert ROWS["regular", "softmax-log-bits"].gap == "open"


def test_every_word_comes_with_its_meaning(capsys) -> None:
    assert main(["tasks", "list", "parity"]) == 0
    said = capsys.readouterr()
    shown = " ".join((said.out + said.err).split())
    assert "ends meet" in said.out
    for word in ("closed", "ends meet"):
        assert f"{word}: {atlas.GAPS[word]}" in shown
    assert main(["tasks", "list", "parity", "--json"]) == 0
    words = {row["class"]: row["gap"] for row in json.loads(capsys.readouterr().out)}
    assert (words["softmax-positions"], words["counting"]) == ("ends meet", "closed")
    pages = atlas_pages.pages(lambda key: None, Path())
    assert all(f"*{word}* (" in pages[Path("index.md")] for word in atlas.GAPS)

"""The page on trained nets: its points and rows are the records, and its bytes depend on nothing else."""
from dataclasses import replace
from fractions import Fraction

import pytest

from depthlaw.ledger import trainings
from depthlaw.ledger.records import Record, Store, encode
from depthlaw.ledger.suite import Run, load_claims
from depthlaw.theory.measurement import Ball, Case, Proportion

WITHIN, ONE, ENOUGH = "trained_depth/connectivity_within", "trained_depth/connectivity_one_layer", "trained_depth/connectivity_enough"
MARKS = "before\n<!-- begin: trained nets -->\nold\n<!-- end: trained nets -->\nafter\n"


def record(key, case, value):
    return Record(Run(load_claims()[key], case).inputs, encode(value), {})


@pytest.fixture
def store(tmp_path):
    made = Store(tmp_path / "results")
    for depth, distance, right in ((1, 1, 4000), (1, 3, 3900), (2, 3, 4000), (2, 9, 3990), (3, 9, 4000)):
        for net in ("softmax", "explicit"):
            case = Case(task="connectivity", net=net, vertices=24, diameter=23, depth=depth, distance=distance)
            made.put(record(ONE if depth == 1 else WITHIN, case, Proportion(right, 4000)))
    hops = {"task": "hop_k", "symbols": 24, "alphabet": 4, "hops_max": 4}
    made.put(record("trained_depth/hops_within", Case(**hops, depth=2, hops=1), Proportion(3999, 4000)))
    least = Case(task="connectivity", net="softmax", vertices=12, diameter=11, tried=4, seeds="worst")
    made.put(record(ENOUGH, least, Ball(Fraction(2), Fraction(3))))
    beyond = Case(task="connectivity", net="linearised", vertices=12, diameter=11, tried=4, seeds="worst")
    made.put(record(ENOUGH, beyond, Ball(Fraction(5), Fraction(5))))
    return made


@pytest.fixture
def docs(tmp_path):
    folder = tmp_path / "docs"
    folder.mkdir()
    (folder / "trained-depth.md").write_text(MARKS, encoding="utf-8")
    return folder


def test_points_are_the_records_of_the_graphs_drawn_and_of_hops(store):
    claims = {key: claim for key, claim in load_claims().items() if claim.stem == "trained_depth"}
    points = list(trainings.measured(trainings.results(claims, "full", store)))
    assert {(p.task, p.net, p.depth, p.place, p.value.right) for p in points} >= {
        ("connectivity", "softmax", 2, 9, 3990), ("connectivity", "explicit", 1, 3, 3900), ("hop_k", "softmax", 2, 1, 3999)}
    assert len(points) == 11
    assert all(p.record in store for p in points)


def test_the_page_holds_rows_caption_and_records_and_is_the_same_again(store, docs):
    text = trainings.write(docs, store).read_text(encoding="utf-8")
    picture = (docs / "figures" / "trained-depth.png").read_bytes()
    assert text.startswith("before\n")
    assert text.endswith("after\n")
    assert "old" not in text
    assert "| worst | 2 to 3 |" in text
    assert "| worst | more than 4 |" in text
    assert "pools three seeds" in text
    assert "Clopper-Pearson intervals of level 0.95" in text
    assert "Device: cpu" in text
    assert all(f"`{r.id[:12]}`" in text for r in store if r.inputs["claim"] in (ONE, WITHIN))
    again = trainings.write(docs, store)
    assert (again.read_text(encoding="utf-8"), (docs / "figures" / "trained-depth.png").read_bytes()) == (text, picture)


def test_without_records_or_marks_there_is_no_page(store, docs, tmp_path):
    assert trainings.write(docs, Store(tmp_path / "empty")) is None
    assert (docs / "trained-depth.md").read_text(encoding="utf-8") == MARKS
    (docs / "trained-depth.md").write_text("no marks", encoding="utf-8")
    with pytest.raises(ValueError, match="lacks"):
        trainings.write(docs, store)


def test_other_graphs_are_not_drawn(store):
    claim = load_claims()[WITHIN]
    other = next(c for c in claim.cases("full") if c.vertices == 12)
    store.put(record(WITHIN, other, Proportion(1, 2)))
    judged = trainings.results({WITHIN: replace(claim, grid={"full": (other,)})}, "full", store)
    assert list(trainings.measured(judged)) == []

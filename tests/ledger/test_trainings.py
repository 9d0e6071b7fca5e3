"""The page on trained nets: its points and rows are the records, and its bytes depend on nothing else."""
from dataclasses import replace
from fractions import Fraction

import pytest

from depthlaw.ledger import trainings
from depthlaw.ledger.records import Record, Store, encode
from depthlaw.ledger.suite import Run, load_claims
from depthlaw.theory.measurement import Ball, Case, Proportion

WITHIN, ONE, ENOUGH = "trained_depth/connectivity_within", "trained_depth/connectivity_one_layer", "trained_depth/connectivity_enough"
RULES, AROUND = "trained_depth/rules_within", "trained_depth/look_around"
ON, OFF = "trained_depth/published_dropout_on", "trained_depth/published_dropout_off"
MARKS = "before\n<!-- begin: trained nets -->\nold\n<!-- end: trained nets -->\nafter\n"


def record(key, case, value):
    return Record(Run(load_claims()[key], case).inputs, encode(value), {})


@pytest.fixture
def store(tmp_path):
    made = Store(tmp_path / "results")
    for depth, distance, right in ((1, 1, 4000), (1, 3, 3900), (2, 3, 4000), (2, 9, 3990), (3, 9, 4000)):
        for net, key in (("softmax", ONE if depth == 1 else WITHIN), ("explicit", RULES)):
            case = Case(task="connectivity", net=net, vertices=24, diameter=23, depth=depth, distance=distance)
            made.put(record(key, case, Proportion(right, 4000)))
    for distance, right in ((4, 3000), (20, 3990)):
        beyond = Case(task="connectivity", net="bounded", vertices=24, diameter=23, depth=1, distance=distance)
        made.put(record(AROUND, beyond, Proportion(right, 4000)))
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
        ("connectivity", "softmax", 2, 9, 3990), ("connectivity", "explicit", 1, 3, 3900), ("connectivity", "bounded", 1, 4, 3000),
        ("hop_k", "softmax", 2, 1, 3999)}
    assert len(points) == 13
    assert all(p.record in store for p in points)


def test_the_page_holds_rows_caption_and_records_and_is_the_same_again(store, docs):
    text = trainings.write(docs, store).read_text(encoding="utf-8")
    picture = (docs / "figures" / "trained-depth.png").read_bytes()
    assert text.startswith("before\n")
    assert text.endswith("after\n")
    assert "old" not in text
    assert "| worst | 2 to 3 |" in text
    assert "| worst | more than 4 |" in text
    assert "Points of trained nets pool three seeds, each on 16384 graphs (or 32768 sequences);" in text
    assert "rules without seeds, asked on 20480 graphs" in text
    assert "Clopper-Pearson intervals of level 0.95" in text
    assert "Device: cpu" in text
    assert all(f"`{r.id[:12]}`" in text for r in store if r.inputs["claim"] in (ONE, WITHIN, RULES, AROUND))
    assert "0 of 0" not in text, "claims without a case in suite full have no verdict there"
    again = trainings.write(docs, store)
    assert (again.read_text(encoding="utf-8"), (docs / "figures" / "trained-depth.png").read_bytes()) == (text, picture)


def test_every_net_and_rule_is_a_line_of_its_own(store, monkeypatch):
    from matplotlib.axes import Axes

    lines, errorbar = [], Axes.errorbar

    def kept(axes, places, heights, **look):
        lines.append((look["label"], list(places), list(heights)))
        return errorbar(axes, places, heights, **look)

    monkeypatch.setattr(Axes, "errorbar", kept)
    claims = {key: claim for key, claim in load_claims().items() if claim.stem == "trained_depth"}
    trainings.draw(list(trainings.measured(trainings.results(claims, "full", store))), store.root / "figure.png")
    assert [line for line in lines if line[1][0] in (1, 4) and line[1][-1] > 2] == [
        ("explicit weights", [1, 3], [1.0, 0.975]), ("a look around to $3^L$", [4, 20], [0.75, 0.9975]),
        ("trained, softmax", [1, 3], [1.0, 0.975])]


def test_the_caption_says_how_many_examples_the_measurements_take():
    from depthlaw.empirics.trained_depth import RULE_GRAPHS, training

    assert RULE_GRAPHS == 20_480
    for shape, examples in (({"task": "connectivity", "net": "softmax", "vertices": 24, "diameter": 23}, 16_384),
                            ({"task": "hop_k", "symbols": 24, "alphabet": 4, "hops_max": 4}, 32_768)):
        made = training(Case(**shape), 2)
        assert (len(made.seeds), made.examples) == (3, examples)


def published(store, docs):
    """The lines of the page on published errors."""
    text = trainings.write(docs, store).read_text(encoding="utf-8")
    return text.partition("## Published errors of hop_k")[2].partition("<!-- end")[0].splitlines()


def test_without_records_of_suite_gpu_one_sentence_says_so(store, docs):
    assert [line for line in published(store, docs) if line] == [
        "Suite gpu has not been recorded, so that no errors of ours stand beside the published ones."]


def test_published_errors_stand_beside_ours_with_interval_and_record(store, docs):
    claims = load_claims()
    cell = {key: next(c for c in claims[key].grid["gpu"] if (c.hops, c.depth) == (8, 4)) for key in (ON, OFF)}
    made = {ON: record(ON, cell[ON], Proportion(1580, 2000)), OFF: record(OFF, cell[OFF], Proportion(1900, 2000))}
    store.put(made[ON])
    (row,) = [line for line in published(store, docs) if line.startswith("| 8 | 4 |")]
    low, high = (1 - end for end in reversed(Proportion(1580, 2000).interval(0.05)))
    assert row == f"| 8 | 4 | 0.2163 | 0.2100 [{low:.4f}, {high:.4f}] `{made[ON].id[:12]}` | - |"
    store.put(made[OFF])
    lines = published(store, docs)
    (row,) = [line for line in lines if line.startswith("| 8 | 4 |")]
    assert row.endswith(f" `{made[OFF].id[:12]}` |")
    assert "| 0.0500 [" in row
    assert sum(line.startswith(("| 1 |", "| 2 |", "| 4 |", "| 8 |", "| 16 |")) for line in lines) == 25
    assert "| 16 | 6 | 0.0616 | - | - |" in lines
    assert [line.split(" | ")[1:] for line in lines if "claims/" in line] == [["HOLDS", "1 of 25 |"], ["HOLDS", "1 of 25 |"]]
    assert "not been recorded" not in "".join(lines)


def test_the_terminal_shows_published_beside_ours(store, capsys, monkeypatch):
    from depthlaw.ledger.commands import show

    monkeypatch.setenv("COLUMNS", "200")
    case = next(c for c in load_claims()[ON].grid["gpu"] if (c.hops, c.depth) == (8, 4))
    store.put(record(ON, case, Proportion(1580, 2000)))
    assert show(ON, store.root, json_output=False) == 0
    text = "".join(capsys.readouterr().out.split())
    assert "published_error=0.2163" in text
    assert "0.79of2000" in text
    assert "[0.561709,0.929272]" in text


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

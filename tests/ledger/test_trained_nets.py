"""The page on trained nets: its points and rows are the records, and its bytes depend on nothing
else."""
from dataclasses import replace
from fractions import Fraction

import pytest

from depthlaw.ledger.publish import trained_nets
from depthlaw.ledger.run.records import Record, Store, encode
from depthlaw.ledger.run.run import Run
from depthlaw.theory.claim import registry
from depthlaw.theory.values import Ball, Case, Proportion

WITHIN = "trained_depth/connectivity_within"
ONE = "trained_depth/connectivity_one_layer"
ENOUGH = "trained_depth/connectivity_enough"
WALL = "trained_depth/connectivity_wall"
FAR = "trained_depth/connectivity_far"
RULES, LOCAL = "trained_depth/rules_within", "trained_depth/local_baseline_misses"
ON, OFF = "trained_depth/published_dropout_on", "trained_depth/published_dropout_off"


def record(key, case, value):
    return Record(Run(registry()[key], case).inputs, encode(value), {})


@pytest.fixture
def store(tmp_path):
    made = Store(tmp_path / "results")
    for depth, distance, right in ((1, 1, 4000), (1, 3, 3900), (2, 3, 4000), (2, 9, 3990),
                                   (3, 9, 4000)):
        for net, key in (("softmax", ONE if depth == 1 else WITHIN), ("explicit", RULES)):
            case = Case(task="connectivity", net=net, vertices=24, diameter=23, depth=depth,
                        distance=distance)
            made.put(record(key, case, Proportion(right, 4000)))
    for radius, distance, right in ((3, 4, 3000), (3, 20, 3990), (8, 9, 3600)):
        beyond = Case(task="connectivity", net="bounded", vertices=24, diameter=23, radius=radius,
                      distance=distance)
        made.put(record(LOCAL, beyond, Proportion(right, 4000)))
    wall = Case(task="connectivity", net="softmax", vertices=24, diameter=23, depth=2)
    made.put(record(WALL, wall, Ball(Fraction(6), Fraction(7))))
    hops = {"task": "hop_k", "symbols": 24, "alphabet": 4, "hops_max": 4}
    made.put(record("trained_depth/hops_within", Case(**hops, depth=2, hops=1),
                    Proportion(3999, 4000)))
    least = Case(task="connectivity", net="softmax", vertices=12, diameter=11, tried=4,
                 seeds="worst")
    made.put(record(ENOUGH, least, Ball(Fraction(2), Fraction(3))))
    beyond = Case(task="connectivity", net="linearised", vertices=12, diameter=11, tried=4,
                  seeds="worst")
    made.put(record(ENOUGH, beyond, Ball(Fraction(5), Fraction(5))))
    return made


@pytest.fixture
def file(tmp_path):
    """Where the figure goes."""
    return tmp_path / "figures" / "trained-depth.png"


def test_points_are_the_records_of_the_graphs_drawn_and_of_hops(store):
    claims = {key: claim for key, claim in registry().items() if claim.topic == "trained_depth"}
    points = list(trained_nets.measured(trained_nets.results(claims, "full", store)))
    assert ({(p.task, p.net, p.depth, p.place, p.value.right) for p in points}
            >= {("connectivity", "softmax", 2, 9, 3990), ("connectivity", "explicit", 1, 3, 3900),
                ("connectivity", "bounded", 3, 4, 3000), ("hop_k", "softmax", 2, 1, 3999)})
    assert len(points) == 14
    assert all(p.record in store for p in points)


def test_the_page_holds_rows_caption_and_records_and_is_the_same_again(store, file):
    text = trained_nets.part(store, file)
    picture = file.read_bytes()
    assert "seeds=worst tried=4 vertices=12` | 2 to 3 |" in text
    assert "seeds=worst tried=4 vertices=12` | more than 4 |" in text
    reach = text.partition("## Reach")[2].partition("## Least")[0]
    assert "| `depth=2 diameter=23 net=softmax vertices=24` | 6 to 7 | == 9 | FAILS |" in reach
    assert "trained nets pool three seeds, each on 16384 graphs (or 32768 sequences);" in text
    assert "rules without seeds, asked on 20480 graphs" in text
    assert "Clopper-Pearson intervals of level 0.95" in text
    assert "Device: cpu" in text
    assert all(f"`{r.id[:12]}`" in text for r in store
               if r.inputs["claim"] in (ONE, WITHIN, RULES, LOCAL))
    assert "0 of 0" not in text, "claims without a case in suite full have no verdict there"
    assert (trained_nets.part(store, file), file.read_bytes()) == (text, picture)


def test_every_net_and_rule_is_a_line_of_its_own(store, monkeypatch):
    from matplotlib.axes import Axes

    lines, errorbar, plot = [], Axes.errorbar, Axes.plot

    def plain(axes, places, heights, **look):
        if str(look.get("label", "")).startswith("local"):
            lines.append((axes.get_title(), look["label"], list(places), list(heights)))
        return plot(axes, places, heights, **look)

    def noted(axes, places, heights, **look):
        lines.append((axes.get_title(), look["label"], list(places), list(heights)))
        return errorbar(axes, places, heights, **look)

    monkeypatch.setattr(Axes, "errorbar", noted)
    monkeypatch.setattr(Axes, "plot", plain)
    claims = {key: claim for key, claim in registry().items() if claim.topic == "trained_depth"}
    trained_nets.draw(list(trained_nets.measured(trained_nets.results(claims, "full", store))),
                   store.root / "figure.png")
    # Titles are set last, so that every line is drawn under an empty one; panels follow each other.
    other = "local baseline of the radius written at its start"
    own = "local baseline of radius $3^L$"
    assert [line[1:] for line in lines if line[1].startswith(("local", "trained, softmax"))] == [
        (own, [4, 20], [0.75, 0.9975]), (other, [9], [0.9]),
        ("trained, softmax", [1, 3], [1.0, 0.975]),
        ("trained, softmax", [3, 9], [1.0, 0.9975]), ("trained, softmax", [9], [1.0])]
    assert [line[1:] for line in lines if line[1] == "explicit weights"] == [
        ("explicit weights", [1, 3], [1.0, 0.975]), ("explicit weights", [3, 9], [1.0, 0.9975]),
        ("explicit weights", [9], [1.0])]


def test_the_local_baseline_stands_beside_the_nets_at_every_radius_and_the_nearest_radius_is_given(
        store, file):
    claims = registry()
    # A net that answers as radius 6 does, but for 0.1 at distance 12; radius 5 is 0.05 below radius
    # 6 at every distance.
    height = {d: 4000 - 100 * (d - 6) for d in range(7, 21)}
    for radius, less in ((5, 200), (6, 0)):
        for distance in range(radius + 1, 21):
            case = Case(task="connectivity", net="bounded", vertices=24, diameter=23, radius=radius,
                        distance=distance)
            store.put(record(LOCAL, case, Proportion(height.get(distance, 4000) - less, 4000)))
    for distance in range(1, 21):
        case = Case(task="connectivity", net="linearised", vertices=24, diameter=23, depth=2,
                    distance=distance)
        key = WITHIN if distance <= 9 else FAR
        assert case in claims[key].cases("full")
        store.put(record(key, case,
                         Proportion(height.get(distance, 4000) - 400 * (distance == 12), 4000)))
    text = trained_nets.part(store, file).partition("## Local baseline")[2].partition("## Reach")[0]
    assert ("| distance | r = 3 | r = 5 | r = 6 | r = 8 | L = 1, softmax | L = 2, softmax | "
            "L = 2, linearised | L = 3, softmax |") in text
    assert "| 3 | \u00b7 | \u00b7 | \u00b7 | \u00b7 | 0.975 | 1.000 | 1.000 | - |" in text
    assert "| 7 | - | 0.925 | 0.975 | \u00b7 | - | - | 0.975 | - |" in text
    assert "| 12 | - | 0.800 | 0.850 | - | - | - | 0.750 | - |" in text
    # A tenth at one of twenty distances: the root of 0.01 / 20.
    assert "| L = 2, linearised | 6 | 0.022 | -0.10, at 12 |" in text
    assert "| L = 2, softmax |" not in text.partition(
        "| net | nearest radius |")[2], "nothing is nearest to two distances of twenty"


def test_what_was_expected_before_and_what_is_known_since_stand_apart(store, file):
    text = trained_nets.part(store, file).partition("## Verdicts")[2].partition("<details>")[0]
    assert "| claim | expected before | known since | verdict | cases |" in text
    rows = {line.partition("claims/")[2].partition(".md")[0]: line.split(" | ")[1:4]
            for line in text.splitlines() if "](claims/" in line}
    assert rows[WITHIN] == ["HOLDS\\*", "FAILS", "HOLDS"], "the store's nets reach 3^L"
    assert rows[WALL] == ["HOLDS\\*", "FAILS", "FAILS"]
    assert rows[LOCAL] == ["FAILS\\*", "-", "FAILS"]
    assert f"* `{WALL}`: Restated after the third recording" in text
    assert rows["trained_depth/hops_within"] == ["HOLDS", "UNDECIDED", "HOLDS"]
    assert "* `trained_depth/hops_within`" not in text, "written before, and not changed since"


def test_the_caption_says_how_many_examples_the_measurements_take():
    from depthlaw.empirics.trained_depth.net_answers import RULE_GRAPHS
    from depthlaw.empirics.trained_depth.recipes import training

    assert RULE_GRAPHS == 20_480
    for shape, examples in (
            ({"task": "connectivity", "net": "softmax", "vertices": 24, "diameter": 23}, 16_384),
            ({"task": "hop_k", "symbols": 24, "alphabet": 4, "hops_max": 4}, 32_768)):
        made = training(Case(**shape), 2)
        assert (len(made.seeds), made.examples) == (3, examples)


def published(store, file):
    """The lines of the page on published errors."""
    return trained_nets.part(store, file).partition("## Published errors of hop_k")[2].splitlines()


def test_without_records_of_suite_gpu_one_sentence_says_so(store, file):
    assert [line for line in published(store, file) if line] == [
        "Suite gpu has not been recorded, so that no errors of ours stand beside the published "
        "ones."]


def test_published_errors_stand_beside_ours_with_interval_and_record(store, file):
    claims = registry()
    cell = {key: next(c for c in claims[key].grid["gpu"] if (c.hops, c.depth) == (8, 4))
            for key in (ON, OFF)}
    made = {ON: record(ON, cell[ON], Proportion(1580, 2000)),
            OFF: record(OFF, cell[OFF], Proportion(1900, 2000))}
    store.put(made[ON])
    (row,) = [line for line in published(store, file) if line.startswith("| 8 | 4 |")]
    low, high = (1 - end for end in reversed(Proportion(1580, 2000).interval(0.05)))
    assert row == f"| 8 | 4 | 0.2163 | 0.2100 [{low:.4f}, {high:.4f}] `{made[ON].id[:12]}` | - |"
    store.put(made[OFF])
    lines = published(store, file)
    (row,) = [line for line in lines if line.startswith("| 8 | 4 |")]
    assert row.endswith(f" `{made[OFF].id[:12]}` |")
    assert "| 0.0500 [" in row
    assert sum(line.startswith(("| 1 |", "| 2 |", "| 4 |", "| 8 |", "| 16 |"))
               for line in lines) == 25
    assert "| 16 | 6 | 0.0616 | - | - |" in lines
    assert [line.split(" | ")[1:] for line in lines
            if "claims/" in line] == [["HOLDS", "1 of 25 |"], ["HOLDS", "1 of 25 |"]]
    assert "not been recorded" not in "".join(lines)


def test_the_terminal_shows_published_beside_ours(store, capsys, monkeypatch):
    from depthlaw.ledger.cli.show import show

    monkeypatch.setenv("COLUMNS", "200")
    case = next(c for c in registry()[ON].grid["gpu"] if (c.hops, c.depth) == (8, 4))
    store.put(record(ON, case, Proportion(1580, 2000)))
    assert show(ON, store.root, json_output=False) == 0
    text = "".join(capsys.readouterr().out.split())
    assert "published_error=0.2163" in text
    assert "0.79of2000" in text
    assert "[0.561709,0.929272]" in text


def test_without_records_nothing_is_written(file, tmp_path):
    assert trained_nets.part(Store(tmp_path / "empty"), file) == ""
    assert not file.exists()


def test_other_graphs_are_not_drawn(store):
    claim = registry()[WITHIN]
    other = next(c for c in claim.cases("full") if c.vertices == 12)
    store.put(record(WITHIN, other, Proportion(1, 2)))
    judged = trained_nets.results({WITHIN: replace(claim, grid={"full": (other,)})}, "full", store)
    assert list(trained_nets.measured(judged)) == []

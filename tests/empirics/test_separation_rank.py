"""Exact separation ranks: values, table, cost model, and the same integers with torch's arrays."""

from types import SimpleNamespace

import pytest

from depthlaw.empirics.separation_rank import frontier as frontier
from depthlaw.theory.claims.definition import Case, find
from depthlaw.theory.claims.values import Exact
from depthlaw.theory.claims.verdict import Verdict, judge
from depthlaw.theory.separation_rank import piece_rank

EXACT, BELOW = (find(f"separation_rank/{name}") for name in ("exact", "exact_below_count"))


def piece(width, depth, order):
    return Case(width=width, depth=depth, heads=1, order=order)


def row(claim, case, value, *records):
    return SimpleNamespace(
        case=case, measured=value, decision=judge(claim, case, value), records=records
    )


@pytest.fixture(scope="module")
def rows():
    facts = {"timing": {"wall_s": 60.0}, "compute": {"peak_bytes_of_process": 2**29}}
    record = SimpleNamespace(facts=facts)
    return [row(EXACT, case, EXACT.measure(case), record) for case in EXACT.cases("quick")]


def test_small_entries_are_exact(rows):
    found = {(e.width, e.depth): e for e in frontier.entries(rows)}
    assert {shape: (e.rank, e.settled) for shape, e in found.items()} == {
        (2, 1): (3, True),
        (2, 2): (18, True),
        (2, 3): (232, True),
        (3, 1): (4, True),
        (3, 2): (49, True),
        (4, 1): (5, True),
        (4, 2): (110, True),
    }
    lower, upper = found[4, 1].bounds
    assert (lower.verdict, upper.verdict) == (Verdict.HOLDS, Verdict.HOLDS)
    assert (lower.ratio, upper.ratio) == (pytest.approx(3.21, abs=0.01), pytest.approx(1.0))


def test_a_lost_rank_is_no_exact_value(rows):
    """One piece one short, as a bad prime would leave it."""
    rows = list(rows)
    place = next(i for i, each in enumerate(rows) if each.case == piece(2, 2, 2))
    rows[place] = row(EXACT, rows[place].case, Exact(5, misses=1.0))
    entry = next(e for e in frontier.entries(rows) if (e.width, e.depth) == (2, 2))
    assert (entry.rank, entry.count, entry.settled) == (17, 18, False)
    assert entry.bounds == (None, None)


@pytest.mark.parametrize(("found", "settled"), [(11436, True), (11435, False)])
def test_an_entry_below_the_count_is_exact_where_its_loss_is_proved(found, settled):
    """Width 4 and depth 3, with the ranks put in by hand."""
    ranks = {
        c: Exact(
            int(BELOW.predict(c)) if c.order != 6 else found,
            misses=0.0 if settled or c.order != 6 else 1.0,
        )
        for c in BELOW.grid["frontier"]
    }
    (entry,) = frontier.entries([row(BELOW, case, value) for case, value in ranks.items()])
    total = 31456 - (11436 - found)
    assert (entry.rank, entry.count, entry.settled) == (total, 31460, settled)


def test_the_table_says_what_is_exact_and_what_a_part(rows):
    assert EXACT.table is BELOW.table is frontier.table
    table = EXACT.table(rows[1:])
    assert table.rows[0][:6] == ("2", "1", ">= 1", "3", "1/2", "part")
    assert table.rows[1][:7] == ("2", "2", "18", "18", "5/5", "exact", "2.1e+03")
    seconds, *rest = table.rows[1][7:]
    assert (seconds.total_seconds(), rest) == (300.0, ["0.5 GB", "none", "0.17"])
    assert all(len(cells) == len(table.columns) for cells in table.rows)
    assert set(table.words) <= set(table.columns)


@pytest.mark.parametrize("order", [0, 3, 6, 7, 13])
def test_torch_gives_the_same_rank(order):
    case = piece(3, 3, order)
    assert EXACT.measure(case, device="cpu:0") == EXACT.measure(case)


def test_the_memory_of_a_process_decides_what_goes_to_disk(monkeypatch):
    """All that it takes besides the matrix is subtracted."""
    seen = []
    monkeypatch.setattr(piece_rank, "graded_rank", lambda *a, memory, **k: seen.append(memory) or 6)
    case = piece(2, 2, 2)
    least = frontier.cost_of_piece(case).least_bytes
    for memory in (None, least - 1, least + 1000):
        EXACT.measure(case, memory=memory)
    assert seen == [None, 0, 1000]


def seconds(case, **changed):
    return frontier.cost_of_piece(case).seconds(frontier.RATES | changed)


def test_every_part_of_the_cost_counts():
    whole = seconds(piece(5, 2, 2))
    slower = [
        seconds(piece(5, 2, 2), **{kind: rate / 2}) - whole for kind, rate in frontier.RATES.items()
    ]
    assert min(slower) > 0
    assert sum(slower) == pytest.approx(whole)

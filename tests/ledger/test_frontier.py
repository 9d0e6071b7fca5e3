"""Suite frontier: what runs where, the table, and what is refused."""
import json
from dataclasses import replace

import pytest
from rich.console import Console

from depthlaw.ledger import frontier
from depthlaw.ledger.budget import UsageError
from depthlaw.ledger.cli import main
from depthlaw.ledger.driver import execute
from depthlaw.ledger.engines import Inline, Pool
from depthlaw.ledger.records import Store
from depthlaw.ledger.report import results
from depthlaw.ledger.suite import load_claims, plan
from depthlaw.theory.judgement import Verdict
from depthlaw.theory.separation_rank import graded_pieces

RATES = frontier.Rates(operations=1e10, bytes=1e10, entries=1e9, column=1e-5)


@pytest.fixture(scope="module")
def claims():
    return load_claims()


@pytest.fixture(scope="module")
def recorded(claims, tmp_path_factory):
    store = Store(tmp_path_factory.mktemp("frontier"))
    assert execute(plan({frontier.KEY: claims[frontier.KEY]}, "quick"), store, Inline()) == []
    return store


def judged(claims, store, suite="quick"):
    return results({frontier.KEY: claims[frontier.KEY]}, suite, store)[0]


def test_small_entries_are_exact_and_proved(claims, recorded):
    result = judged(claims, recorded)
    assert result.verdict is Verdict.PROVED
    found = {(e.width, e.depth): e for e in frontier.entries(result, claims)}
    assert {shape: (e.rank, e.settled) for shape, e in found.items()} == {
        (2, 1): (3, True), (2, 2): (18, True), (2, 3): (232, True), (3, 1): (4, True), (3, 2): (49, True), (4, 1): (5, True), (4, 2): (110, True)}
    assert [b.verdict for b in found[4, 1].bounds] == [Verdict.HOLDS, Verdict.HOLDS]
    assert found[4, 1].bounds[1].ratio == pytest.approx(1.0)


def test_a_part_of_the_pieces_proves_nothing(claims, recorded):
    result = judged(claims, recorded, "theory")
    assert result.verdict is Verdict.HOLDS


def test_a_lost_rank_is_no_exact_value(claims, recorded):
    """One piece one short, as a bad prime would leave it."""
    result = judged(claims, recorded)
    rows = list(result.cases)
    place = next(i for i, row in enumerate(rows) if (row.case.width, row.case.depth, row.case.order) == (2, 2, 2))
    wrong = replace(rows[place].measured, value=5, misses=1.0)
    decision = frontier.judge(result.claim, rows[place].case, wrong)
    rows[place] = replace(rows[place], measured=wrong, decision=decision)
    entry = next(e for e in frontier.entries(replace(result, cases=tuple(rows)), claims) if (e.width, e.depth) == (2, 2))
    assert (entry.rank, entry.count, entry.settled, entry.bounds) == (17, 18, False, ())


def test_large_pieces_wait_for_the_whole_memory(claims):
    runs = plan({frontier.KEY: claims[frontier.KEY]}, "frontier")
    small, large = frontier.stages(runs, Pool(2), 8 * 2**30)
    assert isinstance(small.engine, Pool)
    assert isinstance(large.engine, Inline)
    assert (small.memory, large.memory) == (4 * 2**30, 8 * 2**30)
    assert max(frontier._needed(run)[1] for run in small.runs) <= 4 * 2**30 < min(frontier._needed(run)[1] for run in large.runs)
    assert sorted(run.id for run in small.runs + large.runs) == sorted(run.id for run in runs)


def test_a_budget_that_holds_no_forms_is_refused(claims):
    runs = plan({frontier.KEY: claims[frontier.KEY]}, "frontier")
    with pytest.raises(UsageError, match="besides its matrix"):
        list(frontier.stages(runs, Pool(2), 2**28))


def test_cheap_entries_come_first(claims):
    ordered = list(frontier.by_cost(plan({frontier.KEY: claims[frontier.KEY]}, "frontier"), RATES))
    shapes = list(dict.fromkeys((run.case.width, run.case.depth) for run in ordered))
    assert shapes[0] == (2, 1)
    assert len(shapes) == len({(run.case.width, run.case.depth) for run in ordered}), "an entry is not torn apart"
    total = {s: sum(graded_pieces.piece_cost(*s, k).operations for k in range((3 ** s[1] + 1) // 2)) for s in shapes}
    assert total[shapes[-1]] > total[shapes[0]]


def test_the_table_fits_80_columns(claims, recorded, capsys):
    Console(width=80, highlight=False).print(frontier.table(frontier.entries(judged(claims, recorded), claims)))
    printed = capsys.readouterr().out
    assert max(map(len, printed.splitlines())) <= 80
    assert "exact" in printed


@pytest.mark.parametrize(("arguments", "why"), [
    (["verify", "quick", "--memory", "8GB"], "--memory is the budget of suite frontier"),
    (["verify", "quick", "--device", "cuda"], "accepted are cpu, and cuda"),
    (["verify", "frontier", "--memory", "lots"], "amount of memory"),
    (["verify", "frontier", "--device", "tpu"], "accepted are cpu, and cuda")])
def test_wrong_options_are_refused(arguments, why, tmp_path, capsys):
    assert main([*arguments, "--results", str(tmp_path)]) == 2
    assert why in capsys.readouterr().err


def test_certify_and_recheck(tmp_path, capsys):
    file = tmp_path / "certificate.json"
    assert main(["certify", "2", "2", str(file)]) == 0
    assert main(["recheck", str(file)]) == 0
    assert "stands" in capsys.readouterr().out
    data = json.loads(file.read_text())
    data["weights"]["key"][0][0][0][0] += 1
    file.write_text(json.dumps(data))
    assert main(["recheck", str(file)]) == 1
    assert main(["certify", "2", "2", str(file)]) == 2
    assert "--force" in capsys.readouterr().err


@pytest.mark.parametrize("shape", [("0", "2"), ("2", "9"), ("12", "3")])
def test_shapes_that_cannot_be_certified_here(shape, tmp_path, capsys):
    assert main(["certify", *shape, str(tmp_path / "c.json")]) == 2
    assert capsys.readouterr().err.count("\n") == 1
    assert list(tmp_path.iterdir()) == []


def test_a_process_beyond_its_share_is_named(claims, recorded):
    result = judged(claims, recorded)
    runs = plan({frontier.KEY: claims[frontier.KEY]}, "quick")
    said = list(frontier.cost_check([result], {}, runs, [frontier.Stage(runs, Inline(), 2**20)]))
    assert len(said) == 1
    assert "more than its share of 0.0 GB" in said[0]
    assert list(frontier.cost_check([result], {}, runs, [frontier.Stage(runs, Inline(), 2**50)])) == []

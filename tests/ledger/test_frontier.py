"""Suite frontier: what runs where, the table, and what is refused."""
import dataclasses
import json
import os
from dataclasses import replace
from types import SimpleNamespace

import pytest
from rich.console import Console

from depthlaw.advisor.quantities import UsageError
from depthlaw.ledger.cli.arguments.arguments import main
from depthlaw.ledger.run import frontier
from depthlaw.ledger.run.driver import execute
from depthlaw.ledger.run.engines import Inline, Pool
from depthlaw.ledger.run.records import Store
from depthlaw.ledger.run.suite import plan
from depthlaw.ledger.verdicts import reference
from depthlaw.ledger.verdicts.report import CaseResult, ClaimResult, results
from depthlaw.theory.claim import Case, registry
from depthlaw.theory.judgement import Verdict, judge
from depthlaw.theory.separation_rank import exact, graded_pieces, piece_rank
from depthlaw.theory.values import Exact

RATES = frontier.Rates(processes=1, operations=1e10, bytes=1e10, column=1e-5, gathers=1e9, line=1e-6, numbers=1e8)


@pytest.fixture(scope="module")
def claims():
    return registry()


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
    small, large = frontier.stages(runs, Pool(2), 6 * 2**30)
    assert isinstance(small.engine, Pool)
    assert isinstance(large.engine, Inline)
    assert (small.memory, large.memory) == (3 * 2**30, 6 * 2**30)
    assert max(frontier._needed(run)[1] for run in small.runs) <= 3 * 2**30 < min(frontier._needed(run)[1] for run in large.runs)
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
    total = {s: sum(piece_rank.piece_cost(*s, k).operations for k in range((3 ** s[1] + 1) // 2)) for s in shapes}
    assert total[shapes[-1]] > total[shapes[0]]


def case(width, depth, order):
    return Case(width=width, depth=depth, heads=1, order=order)


def test_every_part_of_the_cost_counts():
    whole = RATES.seconds(case(5, 2, 2))
    fields = [field.name for field in dataclasses.fields(frontier.Rates) if field.name != "processes"]
    slower = {name: RATES.seconds(case(5, 2, 2)) for name in fields}
    for name in fields:
        value = getattr(RATES, name)
        slower[name] = replace(RATES, **{name: 2 * value if name in ("column", "line") else value / 2}).seconds(case(5, 2, 2)) - whole
    assert min(slower.values()) > 0
    assert sum(slower.values()) == pytest.approx(whole)


@pytest.mark.parametrize("processes", [1, 2])
def test_the_first_piece_of_each_process_makes_the_forms(claims, processes):
    runs = [run for run in plan({frontier.KEY: claims[frontier.KEY]}, "frontier") if (run.case.width, run.case.depth) == (14, 2)]
    expected = frontier.by_cost(runs, replace(RATES, processes=processes))
    for place, run in enumerate(runs):
        made = expected[run] - RATES.seconds(run.case, forms=False)
        assert made == pytest.approx(graded_pieces.forms_entries(14, 2) / RATES.numbers if place < processes else 0.0)


def test_a_piece_known_to_fall_short_of_what_bounds_it_is_drawn_again():
    attained = RATES.seconds(case(4, 3, 6))
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(exact, "RANKS", {})
        full = RATES.seconds(case(4, 3, 6))
        patch.setattr(exact, "RANKS", {(4, 3, 6): 11400})
        draws = exact.draws(4, 3, 6)
        short = RATES.seconds(case(4, 3, 6))
    assert draws > 1
    assert full < attained < short / draws


@pytest.mark.parametrize(("found", "settled"), [(11436, True), (11435, False)])
def test_an_entry_below_the_count_is_exact_where_its_loss_is_proved(claims, found, settled):
    """Width 4 and depth 3, with the ranks put in by hand."""
    claim = claims[frontier.BELOW]
    ranks = {c: Exact(int(claim.predict(c)) if c.order != 6 else found, misses=0.0 if settled or c.order != 6 else 1.0)
             for c in claim.grid["frontier"]}
    rows = tuple(CaseResult(c, value, judge(claim, c, value)) for c, value in ranks.items())
    entry, = frontier.entries(ClaimResult(claim, rows, None, None), claims)
    assert (entry.rank, entry.count, entry.settled) == (31456 - (11436 - found), 31460, settled)


def test_ranks_known_are_those_of_the_reference_ledger():
    """Of any version of the code: a rank does not change with it."""
    claims = {frontier.KEY, frontier.BELOW, "separation_rank/count_attained"}
    recorded = {tuple(case[name] for name in ("width", "depth", "order")): int(record.result["exact"]) for record in reference.shipped()
                if record.inputs["claim"] in claims and (case := record.inputs["case"])}
    short = {shape: rank for shape, rank in recorded.items() if rank < min(graded_pieces.piece_shape(*shape))}
    assert short == exact.RANKS


def test_rates_are_those_of_this_machine():
    """Measured in processes of their own, whose surroundings are as before afterwards."""
    before = dict(os.environ)
    rates = frontier.Rates.measured()
    assert dict(os.environ) == before
    assert rates.processes == frontier._cores()
    assert min(dataclasses.astuple(rates)) > 0


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


def test_cost_model_and_measurement_stand_side_by_side(claims, recorded):
    result = judged(claims, recorded)
    runs = [run for run in plan({frontier.KEY: claims[frontier.KEY]}, "quick") if run.case is not None and not run.control]
    predicted = dict.fromkeys((run.id for run in runs), 0.1) | {runs[5].id: 2.0, runs[6].id: 5.0}
    walls = dict.fromkeys((record.id for record in result.records), 0.5) | {runs[5].id: 16.0, runs[6].id: 5.0}
    timed = [replace(record, facts=record.facts | {"timing": {"wall_s": walls[record.id]}}) for record in result.records]
    said = list(frontier.cost_check([SimpleNamespace(records=timed)], predicted, runs, []))
    assert max(map(len, said)) <= 80
    assert len(said) == 2 + 7 + 2, "two lines of headings, one for each entry, the sum and the ratios"
    assert said[-2] == f"altogether {7 + 0.1 * (len(runs) - 2):.0f} s predicted, {21 + 0.5 * (len(runs) - 2):.0f} s measured"
    assert said[-1] == "measured / predicted, 2 pieces of 1 s and more: median 8.00, from 1.00 to 8.00"

"""The tree of `why` holds everything that a verdict rests on and nothing else, at any width."""

import io
import json
import re
from dataclasses import replace
from functools import cache

import pytest
from rich.console import Console

from depthlaw.ledger.cli import terminal
from depthlaw.ledger.cli.arguments import main
from depthlaw.ledger.cli.tables import CHANGED
from depthlaw.ledger.records.store import Store
from depthlaw.ledger.running.claims_index import claims_index
from depthlaw.ledger.verdicts.evidence_tree import as_json, grounds
from depthlaw.ledger.verdicts.record_source import Recorded
from depthlaw.ledger.verdicts.reference_ledger import shipped
from depthlaw.ledger.verdicts.suite_verdicts import results, verdict_name
from depthlaw.theory.claims.definition import find
from depthlaw.theory.claims.verdict import Verdict

REFUTED, RESTS_ON_IT = "separation_rank/upper_bound_deep", "separation_rank/corollary_2_recalled"
OF_HOPS = sum(key.startswith("hops/") for key in claims_index())
OF_NETS, CERTIFIED = "trained_rank/floor_holds", "separation_rank/exact"
FORMAL = ("hops/depth_corrected", "hops/construction_printed_spacing")


@pytest.fixture(scope="module")
def judged():
    store = shipped()
    return cache(lambda key: Recorded({key: find(key)}, store).judged(key))


@pytest.fixture(scope="module")
def trees(judged):
    keys = (REFUTED, RESTS_ON_IT, OF_NETS, CERTIFIED, *FORMAL)
    return {key: grounds(judged(key), judged) for key in keys}


def below(ground, *kinds):
    return [each for each in ground.below if each.kind in kinds]


def everywhere(ground, kind):
    return ([ground] if ground.kind == kind else []) + [
        found for each in ground.below for found in everywhere(each, kind)
    ]


def reason(ground):
    return below(ground, "reason")[0].says


@pytest.mark.parametrize("key", [REFUTED, OF_NETS, CERTIFIED])
def test_every_case_step_and_record_stands_in_the_tree_once(judged, trees, key):
    result, tree = judged(key), trees[key]
    (cases,) = below(tree, "cases")
    assert sorted(each.name for each in cases.below) == sorted(str(c.case) for c in result.cases)
    assert [each.says for each in everywhere(tree, "step")][: len(result.proof or ())] == [
        step.says for step in result.proof or ()
    ]
    premises = {found for each in below(tree, "premise") for found in everywhere(each, "record")}
    own = {each.name for each in everywhere(tree, "record") if each not in premises}
    assert own == {record.id for record in result.records}
    assert tree.verdict == verdict_name(result)


def test_what_fails_comes_first_and_has_its_certificates(judged, trees):
    tree = trees[REFUTED]
    (cases,) = below(tree, "cases")
    verdicts = [each.verdict for each in cases.below]
    assert cases.below[0].name == str(judged(REFUTED).counterexample.case)
    failing = verdicts.count("FAILS")
    assert failing >= 3
    assert verdicts == ["FAILS"] * failing + ["HOLDS"] * (len(verdicts) - failing)
    assert reason(tree) == (
        f"{failing} of {len(verdicts)} decided cases fail (one is enough); we quote it from "
        "memory, and did not read its source"
    )
    certificates = below(tree, "certificate")
    assert len(certificates) == 3
    place = "theory/certificates/counterexamples/"
    assert all(each.name.startswith(place) for each in certificates)
    assert [each.name for each in below(tree, "source")] == ["levine2020"]


def test_no_time_stands_for_trainings_that_were_read(judged):
    tree = grounds(judged("trained_depth/wall_beyond"), judged)
    trained = [each.says for each in everywhere(below(tree, "cases")[0], "record")]
    assert trained
    # The first run that asks a net takes a second or more, and says so.
    assert 2 * sum("no training in this run" in said for said in trained) > len(trained)
    assert not any("below 1 s" in said for said in trained)


def test_what_is_judged_stands_with_the_statement(judged):
    tree = grounds(judged("rank_collapse/doubly_exponential_slope"), judged)
    (said,) = (each.says for each in below(tree, "statement"))
    assert said.startswith("s_hat ≈ ln(3); judged: within the interval that the words")
    assert all("stated within [" in each.says for each in below(tree, "cases")[0].below)


def test_a_premise_stands_with_all_that_it_rests_on(trees):
    tree = trees[RESTS_ON_IT]
    assert tree.verdict == "PREMISE REFUTED"
    assert reason(tree) == f"it rests on {REFUTED}, which FAILS"
    premise = below(tree, "premise")[0]
    assert (premise.name, premise.verdict) == (REFUTED, "FAILS (as recalled)")
    assert premise.below == trees[REFUTED].below


def test_a_source_behind_a_derived_claim_and_a_claim_that_it_names(trees):
    tree = trees[OF_NETS]
    assert [each.name for each in below(tree, "source")] == ["depthlaw", "eckart1936"]
    assert [each.name for each in below(tree, "named")] == ["separation_rank/dimension_count"]
    assert [each.verdict for each in below(tree, "premise")] == ["ARGUED", "PROVED"]
    assert all(
        below(each, "proof")[0].below[0].kind == "reading" for each in below(tree, "premise")
    )


def test_nothing_recorded_circles_and_broken_controls_are_said(judged, tmp_path):
    empty = results({REFUTED: find(REFUTED)}, "quick", Store(tmp_path / "r"))[0]
    tree = grounds(empty, lambda key: None)
    assert (tree.verdict, reason(tree)) == ("not run", "none of its cases is recorded")
    assert [each.verdict for each in below(tree, "control")] == ["not run"]

    found = judged(REFUTED)
    circle = replace(found, premises={REFUTED: "FAILS"})
    (again,) = below(grounds(circle, lambda key: circle), "premise")
    assert (again.says, again.below) == ("above: the premises go in a circle", ())

    decision = replace(found.control.decision, verdict=Verdict.HOLDS)
    broken = replace(found, control=replace(found.control, decision=decision))
    tree = grounds(broken, judged)
    assert below(tree, "attention")[0].says.startswith(
        "the negative control HOLDS, where it must fail"
    )
    assert "negative control HOLDS: " in shown(tree, 80, is_terminal=False)


def test_what_a_proof_kernel_checked_and_what_is_not_formal_is_said(judged):
    claim = find("connectivity/reach")
    text = shown(grounds(judged(claim.key), judged), 80, is_terminal=False)
    assert f"kernel: {claim.formal.theorem}" in text
    assert claim.plain.formal.informal in text


def shown(tree, width, *, is_terminal, whole=False):
    console = Console(file=io.StringIO(), width=width, force_terminal=is_terminal, highlight=False)
    terminal.grounds(console, tree, whole=whole)
    return re.sub(r"\x1b\[[0-9;]*m", "", console.file.getvalue())


def test_what_a_kernel_checked_is_said(trees):
    proved, refuted = (below(trees[key], "formal proof")[0].says for key in FORMAL)
    assert proved.startswith("Hops.depth_corrected_checked, compared with the statement")
    assert refuted.startswith(
        "refuted, and a kernel has checked the refutation: Hops.construction_printed_spacing_errs, "
        "which contradicts the statement at alphabet=2 exhaustive=True hops=1 tokens=3, and holds "
        "no number to compare; not formal"
    )
    assert [trees[key].verdict for key in FORMAL] == ["PROVED", "FAILS"]


@pytest.mark.parametrize("width", [40, 80])
def test_a_terminal_gets_every_word_within_its_width(trees, width):
    for tree in trees.values():
        text = shown(tree, width, is_terminal=True)
        assert max(map(len, text.splitlines())) <= width
        assert "…" not in text
    tree = shown(trees[REFUTED], width, is_terminal=True, whole=True)
    squeezed = re.sub(r"[\s│├└─]+", "", tree)
    assert all(record.name[:10] in squeezed for record in everywhere(trees[REFUTED], "record"))


def test_piped_every_ground_is_one_line(trees):
    tree = trees[OF_NETS]
    count = len(json.dumps(as_json(tree)).split('"kind"')) - 1
    whole = shown(tree, 40, is_terminal=False, whole=True).splitlines()
    assert len(whole) == count
    assert whole == [line.rstrip() for line in whole]
    few = shown(tree, 40, is_terminal=False).splitlines()
    assert len(few) < count / 2
    assert any(line.endswith("more HOLDS") for line in few)


@pytest.mark.parametrize(
    ("typed", "said"),
    [
        (["why", "hops"], f"'hops' is a topic of {OF_HOPS} claims; `depthlaw show hops`"),
        (["why", "hopps/doubling"], "did you mean hops/doubling?"),
        (["show", "hopps/doubling"], "did you mean hops/doubling?"),
        (["cite", "hopps/doubling"], "did you mean hops/doubling?"),
        (["verify", "quick", "--only", "hopps/doubling"], "did you mean hops/doubling?"),
        (["why", "doubling"], "did you mean hops/doubling?"),
        (["cite", "levine2002"], "did you mean levine2020?"),
        (["cite", ""], "`depthlaw claims --all`"),
        (["cite", "nosuch"], "`depthlaw claims --all` lists the claims"),
        (["show", "rank_colapse"], "did you mean rank_collapse?"),
    ],
)
def test_a_slip_gets_the_same_hint_everywhere(typed, said, capsys):
    assert main(typed) == 2
    err = capsys.readouterr().err
    assert said in err
    assert err.count("\n") == 1


def test_show_of_a_topic_lists_its_claims(capsys):
    assert main(["show", "hops"]) == 0
    lines = capsys.readouterr().out.splitlines()
    # Below the claims stands what the * of one of them means.
    assert lines[-1] == CHANGED
    assert len(lines) == 2 + OF_HOPS
    assert all(line.startswith("hops/") for line in lines[1:-1])


def test_certificates_that_say_the_same_are_counted(capsys):
    """Of thirteen, one sentence stands there; all of them with --all."""
    assert main(["why", "separation_rank/exact"]) == 0
    short = capsys.readouterr().out
    assert short.count("theory/separation_rank/certificates/") == 1
    assert "12 more certificates" in short

"""What an appendix is made from: the citation and the checklist say what the records say, and
nothing that records cannot know."""

from __future__ import annotations

import re
from dataclasses import replace
from fractions import Fraction
from typing import Any

from sympy import Le

from depthlaw.ledger.publish.appendix import provenance
from depthlaw.ledger.records.store import Record, encode
from depthlaw.ledger.verdicts.suite_verdicts import CaseResult, ClaimResult
from depthlaw.theory.claims.definition import Case, Claim, Control, Source, Step
from depthlaw.theory.claims.symbols import width
from depthlaw.theory.claims.values import Ball, Exact, Measured, Proportion, Sample
from depthlaw.theory.claims.verdict import Decision, Verdict
from depthlaw.theory.separation_rank.value_rank import sep

SOURCE = provenance.Provenance(
    version="1.2.3",
    claim_set="claims-v7",
    claims_hash="c" * 64,
    manifest="0123456789abcdef" * 4,
    records=1234,
    origin='records of "suite quick"',
    command="depthlaw appendix out",
    date="2031-05-06",
)
FACTS: dict[str, Any] = {
    "environment": {
        "python": "3.11.7",
        "cpu": "CPU_A",
        "cores": 2,
        "commit": "abc",
        "packages": {"numpy": "2.0"},
        "platform": "Linux",
    },
    "timing": {"wall_s": 3600.0},
    "compute": {"peak_bytes_of_process": 2**31},
}


def row(
    value: Measured | None,
    verdict: Verdict = Verdict.HOLDS,
    *,
    seeds: int = 1,
    facts: Any = FACTS,
    **fields: str | int,
) -> CaseResult:
    case = Case(width=9, **fields)
    records = tuple(
        Record(
            {"case": case.fields(), "seed": seed, "device": "cpu", "code": "c0de"},
            encode(value),
            facts,
        )
        for seed in range(seeds)
        if value is not None
    )
    return CaseResult(case, value, Decision(verdict), records)


def result(
    *rows: CaseResult,
    control: Verdict | None = Verdict.FAILS,
    **changes: Any,
) -> ClaimResult:
    claim = Claim(
        key="topic_a/name",
        title="t",
        text="W.",
        statement=Le(sep, width),
        source=Source("depthlaw", "here"),
        wording="derived",
        kind="upper",
        holds_for="all",
        measured=None,
        grid={"quick": tuple(r.case for r in rows)},
        control=Control(Case(width=9), "never"),
    )
    ran = None if control is None else CaseResult(claim.control.case, Exact(10), Decision(control))
    return ClaimResult(replace(claim, **changes), rows, None, None, control=ran, suite="quick")


RESULTS = [
    result(
        row(Exact(3), order=1),
        row(Ball(Fraction(1), Fraction(2)), order=2),
        row(None, Verdict.UNDECIDED, order=3),
        assumes={"$d_x < 10$": lambda case: True},
    ),
    result(
        row(Sample((1.0, 2.0)), seeds=2, corpus="d1ce"),
        row(Proportion(9, 10), Verdict.UNDECIDED, corpus="d1ce", order=4),
        portable=False,
        needs="empirics",
        wording="recalled",
    ),
    replace(
        result(
            row(Exact(4), Verdict.OUT_OF_SCOPE, order=5),
            row(Exact(5), order=6),
            rests_on="prose",
            proof=lambda s: [],
            evidence="argument",
        ),
        proof=(Step("a", True), Step("b", True)),
    ),
]
RECORDS = [r for each in RESULTS for r in each.records]


def section(title: str) -> str:
    text = provenance.checklist(RESULTS, RECORDS, SOURCE).decode()
    found = re.search(rf"^## \d+\. {title}\n\n(.*?)(?=^## |\Z)", text, re.M | re.S)
    assert found, title
    return found[1]


def test_claims_and_limits_are_counted() -> None:
    said = section("Claims and what is shown of them")
    assert "| ARGUED | 1 |\n| UNDECIDED | 1 |" in said.replace("| HOLDS | 1 |\n", "")
    assert "Wording: 2 derived, 1 recalled." in said
    assert (
        "Cases: 7; decided 4, undecided 1, without a record 1, outside the assumptions 1."
        in section("Limits")
    )
    assert "rounding differs from machine to machine: 1." in section("Limits")
    assert "a machine confirmed: 2. Claims" in section("Assumptions and proofs")
    assert "checks of these certificates that a machine confirmed: 0." in section(
        "Assumptions and proofs"
    )
    assert "- `topic_a/name`: $d_x < 10$" in section("Assumptions and proofs")


def test_statistics_name_their_intervals_and_levels() -> None:
    said = section("Statistics")
    assert "exact values 3, rigorous enclosures 1, means 1, shares 1." in said
    assert "(of 2 observations)" in said
    assert "leaves one comparison 0.0005" in said
    nets = result(row(Ball(Fraction(1), Fraction(2))), needs="empirics")
    read = provenance.checklist([nets], RECORDS, SOURCE).decode()
    assert "rigorous enclosures 0, means 0, shares 0, intervals of other kinds" in read
    exact = provenance.checklist(RESULTS[:1], RECORDS, SOURCE).decode()
    assert "**Not applicable.** Nothing here is estimated" in exact


def test_nets_of_one_seed_id_are_counted() -> None:
    assert "No case names more than one net to a seed id." in section("Settings")
    nets = [
        result(row(Exact(1), replicas=16)),
        result(row(Sample((1.0,) * 10), seeds=2), needs="empirics"),
    ]
    said = provenance.checklist(nets, RECORDS, SOURCE).decode()
    assert "stand under one seed id: 5 to 16 of them" in said


def test_compute_is_added_up_and_what_is_not_recorded_is_said() -> None:
    said = section("Compute")
    assert "took 7.0 hours of wall-clock time" in said
    assert "the longest 60 minutes" in said
    assert "7 runs on cpu" in said
    assert r"CPU\_A, 2 cores" in said
    assert "The largest process took 2.0 GB." in said
    bare = [result(row(Exact(1), facts={}))]
    text = provenance.checklist(bare, [r for b in bare for r in b.records], SOURCE).decode()
    assert "Peak memory is not in these records." in text
    assert "0 seconds" in text


def test_controls_that_did_not_run_are_not_said_to_fail() -> None:
    said = section("Checks that the checks work")
    assert "Recorded: 3; of these judged FAILS: 3; not run: 0." in said
    broken = [
        *RESULTS[:1],
        result(row(Exact(1)), control=None),
        result(row(Exact(1)), control=Verdict.HOLDS),
    ]
    text = provenance.checklist(broken, RECORDS, SOURCE).decode()
    assert "Recorded: 2; of these judged FAILS: 1; not run: 1." in text
    assert "**Claims that need attention: 1.**" in text


def test_commands_and_corpora() -> None:
    said = section("How to run it again")
    assert "depthlaw appendix out" in said
    assert "depthlaw verify quick \\\n  --only topic_a/name" in said
    assert "(extras `empirics`)" in said
    assert "7 runs: Python 3.11.7, numpy 2.0; Linux; commit `abc`" in said
    assert "`d1ce`" in section("Data and code")


def test_citations_name_exactly_this_ledger() -> None:
    entry = provenance.citation_bibtex(SOURCE)
    assert entry.count("@") == 1
    assert re.match(r"@\w+\{depthlaw,", entry)
    assert SOURCE.manifest in entry.replace(" ", "")
    assert all(part in entry for part in ("year = {2031}", "claims-v7", "1.2.3"))
    cff = provenance.citation_cff(SOURCE).decode()
    for line in (
        f'value: "sha256:{SOURCE.manifest}"',
        f'value: "sha256:{"c" * 64}"',
        "date-released: 2031-05-06",
        r"records of \"suite quick\"",
    ):
        assert line in cff

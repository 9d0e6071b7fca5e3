"""What an appendix is made from: the citation and the checklist say what the records say, and
nothing that records cannot know."""

from __future__ import annotations

import re
from dataclasses import replace
from fractions import Fraction
from typing import Any

import made
import pytest
from sympy import Le

from depthlaw.ledger.publish.appendix import provenance
from depthlaw.ledger.verdicts.reference_ledger import Agreement
from depthlaw.ledger.verdicts.suite_verdicts import CaseResult, ClaimResult
from depthlaw.theory.claims.definition import Case, Step
from depthlaw.theory.claims.formal import Formal
from depthlaw.theory.claims.symbols import width
from depthlaw.theory.claims.values import Ball, Exact, Measured, Proportion, Sample
from depthlaw.theory.claims.verdict import Verdict
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
    "environment": {"python": "3.11.7", "cpu": "CPU_A", "cores": 2, "platform": "Linux"}
    | {"commit": "abc", "packages": {"numpy": "2.0"}},
    "timing": {"wall_s": 3600.0},
    "compute": {"peak_bytes_of_process": 2**31},
}


def row(value: Measured | None, verdict: Verdict = Verdict.HOLDS, **given: Any) -> CaseResult:
    own = [name for name in ("seeds", "facts") if name in given]
    said = {"facts": FACTS} | {name: given.pop(name) for name in own}
    return made.row(Case(width=9, **given), value, verdict, **said)


def result(
    *rows: CaseResult, control: Verdict | None = Verdict.FAILS, **changes: Any
) -> ClaimResult:
    return made.result(Le(sep, width), *rows, control=control, **changes)


ROWS = [
    (
        row(Exact(3), order=1),
        row(Ball(Fraction(1), Fraction(2)), order=2),
        row(None, Verdict.UNDECIDED, order=3),
    ),
    (
        row(Sample((1.0, 2.0)), seeds=2, corpus="d1ce"),
        row(Proportion(9, 10), Verdict.UNDECIDED, corpus="d1ce", order=4),
    ),
    (row(Exact(4), Verdict.OUT_OF_SCOPE, order=5), row(Exact(5), order=6)),
]
_ARGUED = {"rests_on": "prose", "proof": lambda s: [], "evidence": "argument"}
RESULTS = [
    result(*ROWS[0], assumes={"$d_x < 10$": lambda case: True}),
    result(*ROWS[1], portable=False, needs="empirics", wording="recalled"),
    replace(result(*ROWS[2], **_ARGUED), proof=(Step("a", True), Step("b", True))),
]


def checklist(*results: ClaimResult) -> str:
    return provenance.checklist(results, [r for it in results for r in it.records], SOURCE).decode()


@pytest.mark.parametrize(
    ("title", "said"),
    [
        ("Claims and what is shown of them", ["| ARGUED | 1 |", "| UNDECIDED | 1 |"]),
        ("Claims and what is shown of them", ["Wording: 2 derived, 1 recalled."]),
        ("Assumptions and proofs", ["a machine confirmed: 2. PROVED", "- `topic/name`: $d_x <"]),
        ("Assumptions and proofs", ["by certificates that decide every case: 0, with 0 checks"]),
        (
            "Limits",
            [
                "Cases: 7; decided 4, undecided 1, without a record 1, outside the assumptions 1.",
                "rounding differs from machine to machine: 1.",
            ],
        ),
        ("How to run it again", ["depthlaw appendix out", "(extras `empirics`)"]),
        ("How to run it again", ["depthlaw verify quick \\\n  --only topic/name"]),
        ("How to run it again", ["7 runs: Python 3.11.7, numpy 2.0; Linux; commit `abc`"]),
        ("Data and code", ["`d1ce`"]),
        ("Settings", ["No case names more than one net to a seed id."]),
        ("Statistics", ["exact values 3, rigorous enclosures 1, means 1, shares 1."]),
        ("Statistics", ["(of 2 observations)", "leaves one comparison 0.0005"]),
        ("Compute", ["took 7.0 hours of wall-clock time", "the longest 60 minutes"]),
        ("Compute", ["7 runs on cpu", r"CPU\_A, 2 cores", "The largest process took 2.0 GB."]),
        ("Checks that the checks work", ["Recorded: 3; with the verdict FAILS: 3; not run: 0."]),
    ],
)
def test_a_section_counts_what_is_recorded(title: str, said: list[str]) -> None:
    found = re.search(rf"^## \d+\. {title}\n\n(.*?)(?=^## |\Z)", checklist(*RESULTS), re.M | re.S)
    assert found
    assert [line for line in said if line not in found[1]] == []


def test_what_was_measured_otherwise_is_counted_otherwise() -> None:
    read = checklist(result(row(Ball(Fraction(1), Fraction(2))), needs="empirics"))
    assert "rigorous enclosures 0, means 0, shares 0, intervals of other kinds" in read
    assert "**Not applicable.** Every value here is exact or enclosed" in checklist(RESULTS[0])
    nets = result(row(Sample((1.0,) * 10), seeds=2), needs="empirics")
    both = checklist(result(row(Exact(1), replicas=16)), nets)
    assert "have one seed id: 5 to 16 of them" in both
    bare = checklist(result(row(Exact(1), facts={})))
    assert "These records hold no peak memory." in bare
    assert "0 seconds" in bare


def test_a_theorem_of_the_kernel_is_not_counted_among_certificates() -> None:
    proved, refuted = (
        result(row(Exact(3)), formal=Formal("Degree.degree", "3", "Nothing.", refutes=cases))
        for cases in ((), (Case(width=2),))
    )
    for it, verdict in ((proved, Verdict.PROVED), (refuted, Verdict.FAILS)):
        vars(it).update(verdict=verdict, kernel_checked=it is proved, kernel_refuted=it is refuted)
    text = checklist(proved, refuted)
    assert "the kernel of the Rocq prover checked: 1; by certificates" in text
    assert "every case: 0, with 0 checks" in text
    assert "FAILS by a refutation that the kernel checked: 1." in text


def test_only_a_released_set_is_a_tag_and_what_changed_is_named() -> None:
    assert SOURCE.at == "at the tag `claims-v7`"
    assert SOURCE.differs == ""
    changed = replace(SOURCE, changed=("a/b", "c/d"), commit="abc+")
    assert changed.at == "at the commit `abc`, with changes that were not committed"
    assert changed.differs == "Changed since the set was released: `a/b`, `c/d`."
    assert "tag" not in replace(changed, commit="").at


def test_a_copy_of_shipped_records_is_not_said_to_be_a_new_run() -> None:
    shipped = replace(SOURCE, repeated=Agreement(0, 0, 0, ()), held=2000)
    records = RESULTS[0].records
    text = provenance.checklist(RESULTS[:1], records, shipped).decode()
    assert "a copy, from the records that come with depthlaw. With `--suite quick`" in text
    assert "The folder holds 2,000 records; the others are of" in text
    assert "a copy" not in checklist(RESULTS[0])


def test_controls_that_did_not_run_are_not_said_to_fail() -> None:
    broken = (result(row(Exact(1)), control=kind) for kind in (None, Verdict.HOLDS))
    text = checklist(RESULTS[0], *broken)
    assert "Recorded: 2; with the verdict FAILS: 1; not run: 1." in text
    assert "**Claims that need attention: 1.**" in text


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

"""The board of open questions: each open row of the atlas once, in few words, with files that the
machine reads; notices of printed sentences that fail; verdicts as JSON-LD."""

import json
import re
from dataclasses import replace
from pathlib import Path

import pytest

from depthlaw.advisor.atlas import atlas_rows
from depthlaw.ledger.address import Address
from depthlaw.ledger.publish.site import linked_data, open_board
from depthlaw.ledger.publish.site.open_questions import OpenQuestion, questions
from depthlaw.ledger.verdicts.record_source import Recorded
from depthlaw.ledger.verdicts.reference_ledger import shipped
from depthlaw.theory.atlas.check import check
from depthlaw.theory.atlas.ends import Result
from depthlaw.theory.claims.definition import registry

FORMAL = Path(__file__).parents[2] / "theory" / "formal"
FAILS = "hops/construction_printed_depth"


# What schema.org and those who read it ask of each type that is written.
REQUIRED = {
    "Dataset": ("@id", "name", "description", "version", "creator", "license", "hasPart"),
    "ClaimReview": ("@id", "url", "claimReviewed", "reviewRating", "itemReviewed", "author"),
    "Rating": ("alternateName", "ratingExplanation"),
    "Claim": ("text", "appearance"),
    "CreativeWork": ("name", "citation"),
    "Organization": ("name",),
}


def faults(part, pages=None):
    """What is wrong with a part of a document: a property that is missing or empty, a type that is
    not known, a page that is not among those that there are."""
    if isinstance(part, list):
        return [fault for each in part for fault in faults(each, pages)]
    if not isinstance(part, dict):
        return []
    found = [fault for each in part.values() for fault in faults(each, pages)]
    kind = part.get("@type")
    if kind is not None and kind not in REQUIRED:
        found.append(f"the type {kind} is unknown")
    found += [f"{kind} without {name}" for name in REQUIRED.get(kind, ()) if not part.get(name)]
    if pages is not None and "url" in part and part["url"] not in pages:
        found.append(f"no page {part['url']}")
    return found


@pytest.fixture(scope="module")
def judged():
    """A printed sentence that fails, one that is proved, and one that is recalled and fails."""
    keys = (FAILS, "hops/doubling", "separation_rank/upper_bound_deep")
    recorded = Recorded({key: registry()[key] for key in keys}, shipped())
    return [recorded.judged(key) for key in keys]


def test_every_open_row_is_a_question_of_at_most_forty_words():
    asked = questions()
    names = [f"{row.task.key}--{row.class_.key}" for row in atlas_rows() if row.gap == "open"]
    assert [question.name for question in asked] == names
    assert len(set(names)) == len(names) > 30
    for question in asked:
        said = open_board.words_of(question)
        assert len(said.split()) <= 40, said
        assert re.search(r"(Find|Name) .*, or prove\b", said), said


@pytest.mark.parametrize("question", [q for q in questions() if q.file()], ids=lambda q: q.name)
def test_the_file_of_a_question_is_read_and_refused_until_it_is_filled_in(question, tmp_path):
    file = tmp_path / "net.json"
    file.write_text(question.file())
    found = check(file)
    assert (found.task, found.class_) == (question.row.task.key, question.row.class_.key)
    assert found.result is Result.WRONG


THEOREMS = [question for question in questions() if question.theorem]


@pytest.mark.parametrize("question", THEOREMS, ids=lambda q: q.name)
def test_theorems_name_definitions_that_exist_and_have_a_control(question):
    theorem = question.theorem
    text = theorem.file(question.name)
    assert theorem.statement != theorem.control
    assert text.count("(") == text.count(")")
    known = {path.stem for path in FORMAL.glob("*.v")}
    named = {(file, name) for file, name in re.findall(r"\b(\w+)\.(\w+)", text) if file in known}
    assert {file for file, _ in named} == set(theorem.imports)
    for file, name in named:
        source = (FORMAL / f"{file}.v").read_text()
        declared = rf"(Definition|Record|Theorem|Fixpoint|Variant)\s+{name}\b|[:=|] {name}\b"
        assert re.search(declared, source), (file, name)


def test_all_theorems_are_of_open_rows():
    text = Path(open_board.__file__).with_name("open_theorems.toml").read_text()
    assert sorted(re.findall(r"^\[(.*)\]$", text, re.M)) == sorted(q.name for q in THEOREMS)


def test_words_of_a_question_are_about_the_ends_that_its_row_has():
    text = Path(open_board.__file__).with_name("open_words.toml").read_text()
    worded = [question for question in questions() if question.words]
    assert sorted(re.findall(r"^\[(.*)\]$", text, re.M)) == sorted(q.name for q in worded)
    assert sum(bool(question.words.layers) for question in worded) == 1
    for question in worded:
        if question.words.layers:
            assert len(json.loads(question.file())["layers"]) == question.words.layers
        for end in ("needed", "suffices"):
            moved = replace(question.words, **{end: "17"})
            with pytest.raises(ValueError, match="other ends"):
                OpenQuestion(question.row, words=moved)


def test_a_bound_on_a_conjecture_is_asked_for_by_its_value():
    (hops,) = [q for q in questions() if q.name == "hops--one-causal-head-fixed"]
    said = f"prove, without supposing that a conjecture holds, that order ${chr(92)}log k$ layers"
    assert hops.more == f"{said} are needed"


def test_a_notice_is_of_a_printed_sentence_that_fails_and_names_no_address(judged):
    (only,) = open_board.printed_failures(judged)
    assert only.claim.key == FAILS
    ((path, text),) = open_board.notice_files([only]).items()
    assert path == "data/notices/hops-construction_printed_depth.txt"
    for part in (
        "sanford2024",
        "Appendix F.4",
        "`ababa`",
        "expected: ",
        f"depthlaw show {FAILS} --all",
    ):
        assert part in text
    assert "@" not in text
    assert max(map(len, text.splitlines())) <= 80


def test_verdicts_as_json_ld_have_what_schema_org_asks(judged, monkeypatch):
    monkeypatch.setattr(linked_data, "address", lambda: Address())
    document = json.loads(linked_data.document(judged, "so many records"))
    pages = [f"claims/{result.claim.key}.html" for result in judged]
    assert faults(document, pages) == []
    _, *reviews = document["@graph"]
    assert [each["reviewRating"]["alternateName"] for each in reviews] == [
        "FAILS",
        "PROVED",
        "FAILS (as recalled)",
    ]
    # Addresses are those of the bibliography, of schema.org and of the licence; others are
    # relative.
    found = set(re.findall(r"https?://([^/\"]+)", json.dumps(document)))
    assert found <= {"schema.org", "spdx.org", "arxiv.org", "doi.org"}
    # Where the site has an address, pages are below it.
    site = "https://example.org/depthlaw/"
    monkeypatch.setattr(linked_data, "address", lambda: Address(site))
    body = json.loads(linked_data.document(judged[:1], "so many records"))["@graph"][1]
    assert body["url"] == f"{site}{pages[0]}"
    # Negative controls: a property is missing, a page does not exist, a type is none.
    broken = reviews[0] | {"reviewRating": {"@type": "Rating"}, "url": "claims/none.html"}
    assert faults([broken, {"@type": "Thing"}], pages) == [
        "Rating without alternateName",
        "Rating without ratingExplanation",
        "no page claims/none.html",
        "the type Thing is unknown",
    ]


def test_the_script_of_a_page_is_its_own_review(judged):
    block = linked_data.block(judged[0])
    body = json.loads(re.search(r"<script[^>]*>(.*)</script>", block)[1])
    assert body["url"] == "construction_printed_depth.html"
    assert faults(body) == []

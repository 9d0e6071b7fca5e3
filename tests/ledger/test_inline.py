"""Words that records fill in running text, against what the records hold."""
import re
from pathlib import Path

import pytest

import depthlaw
from depthlaw.ledger.publish.inline import Ledger

DEGREE, REACH = "separation_rank/degree", "connectivity/layers_for_diameter"


@pytest.fixture(scope="module")
def ledger(tmp_path_factory) -> Ledger:
    judged = depthlaw.verify(only=[DEGREE, "counting/textbook_flops"],
                             results=tmp_path_factory.mktemp("records"))
    return Ledger({**judged, REACH: None}, 1234)


@pytest.mark.parametrize(("mark", "word"), [
    (f"verdict: {DEGREE}", f"[ARGUED](/claims/{DEGREE}.md)"),
    (f"of: {DEGREE}", "8"),
    # Four layers: 3 * 3 * 3 * 3, on both sides.
    (f"is: {DEGREE} depth=4,width=2", "81"), (f"says: {DEGREE} depth=4,width=2", "81"),
    ("number: records", "1,234"), ("number: claims", "3"), ("number: topics", "3"),
    ("number: FAILS", "1"), ("number: not run", "1"),
    # The least L with 3^L >= 64 is 4; 3^9 = 19683.
    ("law: advisor.laws.layers_for_diameter 64", "4"), ("law: advisor.laws.reach 9", "19,683"),
    # One layer at width 2: three products.
    ("law: theory.separation_rank.dimension_count.dimension_count 2 1", "3")])
def test_a_mark_becomes_the_word_that_is_recorded(ledger, mark, word):
    assert ledger.spoken(f"so <!-- {mark} --> it is") == f"so {word} it is"


@pytest.mark.parametrize("mark", [
    f"verdict: {REACH}", "of: no/claim", f"is: {DEGREE} depth=99", f"is: {DEGREE} residual=no",
    "number: MAYBE", "near: counting/textbook_flops", f"fails: {DEGREE} depth"])
def test_a_sentence_without_its_number_is_not_published(ledger, mark):
    with pytest.raises(ValueError, match="recorded|cases of|no claim has|no sides"):
        ledger.spoken(f"<!-- {mark} -->")


def test_other_comments_stay(ledger):
    assert ledger.spoken("<!-- table: x --> <!-- a: b -->") == "<!-- table: x --> <!-- a: b -->"


def test_benchmarks_and_claims_that_pages_name_are_there():
    docs = Path(__file__).parents[2] / "docs"
    filled = Ledger({}, 0).spoken((docs / "performance.md").read_text())
    assert "<!-- bench" not in filled
    named = {key for page in docs.glob("*.md")
             for key in re.findall(r"<!--\s+(?:verdict|of|is|says|near|fails):\s+([\w/]+)",
                                   page.read_text())}
    assert len(named) > 40
    assert named <= set(depthlaw.claims())

"""The pages of the atlas: sentences and bars that are made of its rows, for all rows."""

from __future__ import annotations

import re
from dataclasses import replace
from pathlib import Path

import pytest

from depthlaw.advisor import atlas
from depthlaw.ledger.publish.site import atlas_pages
from depthlaw.ledger.publish.site.atlas_picture import COLUMNS, KINDS, column, kind, picture
from depthlaw.ledger.publish.site.atlas_sentences import answer

ROWS = {(row.task.key, row.class_.key): row for row in atlas.atlas_rows()}
# The shapes that a sentence may have; ends and names of classes are cut out before.
SHAPES = (
    r"(One|Two|Three|Four|D) [a-z ]+ (is|are) enough for C",
    r"(Two|Three|Four) .+ are enough, and (one is|two are|three are) not, for C",
    r"The least number of [a-z ]+ is (at least |at most |between )?D(,? and (at most )?D)?,? for C",
    r"At least (D|one|two) [a-z ]+ are needed for C",
    r"At most D [a-z ]+ are enough for C, and no fixed number( for all D)? if TC0 is not NC1",
    r"No fixed depth is enough for C( if (D|TC0 is not NC1))?",
    r"Some fixed depth is enough for C",
)


def stands(end: atlas.AtlasBound) -> str:
    return end.verdict


def shape(row: atlas.AtlasRow) -> str:
    """The sentence about a row with C for its class, D for formulas, and without its evidence."""
    (said,) = answer([replace(row, class_=replace(row.class_, name="CLASS"))], lambda end: "seen")
    said = said.removesuffix(" (seen).").removesuffix(" (needed: seen; enough: seen).")
    said = re.sub(r"(?<=[a-z] )\d+(?=[ ,]|$)|\$[^$]+\$(, if [a-z ]+)?", "D", said)
    condition = r"D if D, else D|D if D|D for all large D|(of )?order D|Order D|the rank of D"
    return re.sub(condition, "D", said).replace("CLASS", "C")


@pytest.mark.parametrize("row", ROWS.values(), ids=["-".join(key) for key in ROWS])
def test_each_row_makes_a_sentence(row: atlas.AtlasRow) -> None:
    said = shape(row)
    assert re.fullmatch("|".join(SHAPES), said), said
    verbless = re.sub(" (is|are) ", " ", said)
    assert not re.fullmatch("|".join(SHAPES), verbless)


def test_sentences_say_what_the_rows_hold() -> None:
    parity = answer([ROWS["parity", "softmax-positions"], ROWS["parity", "uhat-right"]], stands)
    assert parity == [
        "Two layers are enough, and one is not, for softmax (positions of one kind) "
        "(needed: published; enough: PROVED).",
        "No fixed depth is enough for hard attention (rightmost) (PROVED).",
    ]
    # Classes of one answer share a sentence; another answer has its own.
    dyck = answer([ROWS["dyck", key] for key in ("uhat-right", "uhat-two-way")], stands)
    assert dyck == [
        "The least number of layers is $D + 1$ for hard attention (rightmost) and hard attention "
        "(both ways) (PROVED)."
    ]
    # A negative control: an end more, and the sentence is another one.
    open_ = replace(ROWS["dyck", "uhat-right"], lower=None)
    assert answer([open_], stands)[0].startswith("$D + 1$ layers are enough for")


def test_every_bound_has_a_column_and_every_class_a_colour() -> None:
    for bound in atlas.bounds():
        assert 0 <= column(bound.depth) < len(COLUMNS), bound
    found = {kind(class_) for class_ in atlas.classes().values()}
    assert found == set(KINDS)
    places = {key: COLUMNS[column(row.suffices)] for key, row in ROWS.items()}
    assert places["parity", "softmax"] == "2"
    assert places["connectivity", "linear-attention-graph"] == "log"
    assert places["letters", "uhat-right"] == places["parity-bits", "cot-heads"] == "lin"
    assert places["parity", "uhat-right"] == "none"
    assert places["regular", "rwkv7"] == places["star-free", "uhat-right"] == "4+"


def test_a_bar_is_solid_where_a_claim_agrees_and_gaps_are_dashed() -> None:
    met = ROWS["parity", "softmax-positions"]
    assert (met.needed, met.suffices) == ("2", "2")
    drawn = picture([met], lambda end: bool(end.claim))
    assert drawn.count('fill="url(#hatch-softmax)"') == 1
    assert drawn.count('fill="var(--atlas-softmax)"') == 1
    assert 'class="gap"' not in drawn
    assert 'class="gap"' in picture([replace(met, lower=None)], lambda end: True)


def test_a_task_page_opens_with_the_answer_and_quotes_each_source_once() -> None:
    pages = atlas_pages.pages(lambda key: None, Path())
    for key, task in atlas.tasks().items():
        title, _, first, *_ = pages[Path(f"{key}.md")].split("\n")
        assert title.endswith(": how deep?")
        assert title.lower().startswith(f"# {task.name[:3].lower()}")
        assert "$" not in title, "a search shows titles as they are"
        assert re.match(r"[A-Z$].* (enough|needed|least number)\b", first), first
        quotes = re.findall(r"“([^”]+)”", pages[Path(f"{key}.md")])
        assert len(quotes) == len(set(quotes)), key
    assert "Open in 1 of 1 row: the ends differ, or one is not known." in pages[Path("cpwl.md")]
    assert "Open in" not in pages[Path("letters.md")]

"""The atlas of least depth: its tables fit together, and answers follow from them."""

from __future__ import annotations

import json
import re
from pathlib import Path

import pytest

from depthlaw.advisor import atlas
from depthlaw.advisor.atlas import formulas
from depthlaw.advisor.base.quantities import UsageError
from depthlaw.advisor.recommendation import recommend
from depthlaw.ledger.cli.arguments import main
from depthlaw.ledger.publish.site import atlas_pages
from depthlaw.theory.claims.definition import find
from depthlaw.theory.claims.readable import readable

ROWS = list(atlas.atlas_rows())
BIBLIOGRAPHY = (Path(atlas.__file__).parents[2] / "theory/bibliography.bib").read_text()


def test_bounds_name_what_there_is() -> None:
    sources = set(re.findall(r"(?m)^@\w+\{([^,]+),", BIBLIOGRAPHY)) | {"depthlaw"}
    for bound in atlas.bounds():
        assert bound.source in sources, bound
        assert not bound.claim or find(bound.claim).key == bound.claim, bound
        assert bool(bound.claim) <= bool(bound.checked), bound
        assert not (bound.quote and bound.source == "depthlaw"), "our own words are no quotation"
        assert bound.quote == bound.quote.strip(' "“”')
        assert bound.depth != atlas.NONE or bound.end == "lower"


def test_the_table_is_as_large_as_promised() -> None:
    checked = [row for row in ROWS if any(end and end.claim for end in (row.lower, row.upper))]
    assert len(ROWS) >= 40
    assert len(checked) >= 25
    assert {row.task.key for row in ROWS} == set(atlas.tasks())
    assert {row.class_.key for row in ROWS} == set(atlas.classes())


def test_a_verdict_on_a_part_is_not_the_verdict_on_an_end(
    capsys: pytest.CaptureFixture[str],
) -> None:
    for bound in atlas.bounds():
        stands = bound.mark if bound.mark in ("derived", "recalled") else "published"
        stands = "argued in words" if bound.argument else stands
        part = bound.verdict.startswith(f"{stands}, in part checked (")
        assert part == bool(bound.covers), bound
    ends = {(b.task, b.class_, b.end): b for b in atlas.bounds() if b.superseded is None}
    assert ends["blocks", "counting", "lower"].verdict == "published, in part checked (ARGUED)"
    assert ends["kth-one", "cot-heads", "lower"].verdict == "recalled, in part checked (HOLDS)"
    assert not ends["regular", "ahat-looped", "upper"].claim, "it is about printed counts, not nets"
    for covered in (b for b in ends.values() if "class equality is published" in b.checked):
        assert covered.covers == "part"
    page = atlas_pages.pages(lambda key: None, Path())[Path("blocks.md")]
    link = "[not recorded](/claims/least_depth/blocks_beyond_depth_two.md)"
    assert f"Published, in part checked ({link}): k = 3;" in page
    assert main(["tasks", "list", "blocks"]) == 0
    said = capsys.readouterr().out
    assert "published, in part checked (ARGUED): k = 3; k = 2 by" in " ".join(said.split())
    assert main(["tasks", "list", "blocks", "--json"]) == 0
    (row,) = (r for r in json.loads(capsys.readouterr().out) if r["class"] == "counting")
    assert row["lower"]["covers"] == "part"
    assert row["lower"]["verdict"] == "published, in part checked (ARGUED)"


def test_no_end_has_two_bounds_that_stand() -> None:
    ends = [(b.task, b.class_, b.end) for b in atlas.bounds() if b.superseded is None]
    assert len(ends) == len(set(ends))


def test_earlier_years_know_less_and_keep_what_was_superseded() -> None:
    hops = {row.class_.key: row for row in atlas.atlas_rows("hops", 2024)}
    upper = hops["one-causal-head-fixed"].upper
    assert upper is not None
    assert (upper.depth, upper.superseded) == ("floor(log2(k)) + 2", 2026)
    now = {row.class_.key: row for row in atlas.atlas_rows("hops")}
    assert {kind: row.suffices for kind, row in now.items() if "one-causal" in kind} == {
        "one-causal-head": "floor(log2(k)) + 2",
        "one-causal-head-fixed": "ceil(log2(k)) + 2",
    }
    assert len(list(atlas.atlas_rows(known_by=2020))) < len(ROWS)
    for task, model, year, ends in (
        ("maximum", "relu", 2017, ("2", None)),
        ("maximum", "relu", 2024, ("2", "ceil(log2(n))")),
        ("cpwl", "relu", 2024, ("2", "ceil(log2(d + 1))")),
        ("kgram", "softmax-heads", 2024, (None, "3")),
        ("kgram", "softmax-heads", 2025, (None, "2")),
        ("iteration", "cot-one-head", 2025, ("l", "l")),
        ("composition", "one-lookup", 2025, (None, "log2(k) + 1")),
        ("group-words", "deltanet", 2025, (None, "4")),
    ):
        (row,) = (r for r in atlas.atlas_rows(task, year) if r.class_.key == model)
        assert tuple(end and end.depth for end in (row.lower, row.upper)) == ends, (task, year)


def test_bounds_stand_in_order_of_time() -> None:
    years: dict[tuple[str, str, str], int] = {}
    for bound in atlas.bounds():
        end = (bound.task, bound.class_, bound.end)
        assert bound.year >= years.get(end, 0), bound
        assert bound.superseded is None or bound.superseded >= bound.year
        years[end] = bound.year


def test_a_gap_is_closed_where_both_ends_meet_or_no_depth_is_enough() -> None:
    gaps = {(row.task.key, row.class_.key): row.gap for row in ROWS}
    assert gaps["dyck", "uhat-right"] == gaps["parity", "counting"] == "closed"
    assert gaps["parity", "softmax-positions"] == "ends meet"
    assert gaps["cpwl", "relu"] == "open"


def test_conditions_on_heads_and_groups_are_in_the_depth_or_in_the_class() -> None:
    """Values where a depth is not what it is elsewhere in the class."""
    rows = {(row.task.key, row.class_.key): row for row in ROWS}
    open_ = rows["kth-one", "cot-heads"]
    # Two heads find the second one of three bits in one step.
    assert open_.lower is not None
    assert (open_.gap, open_.lower.depth) == ("open", "k for all large n")
    assert _depths(rows["ordered", "cot-heads"], H=1) == (2, 2)
    assert _depths(rows["ordered", "cot-heads"], H=2) == (1, 1)
    words = rows["group-words", "deltanet"]
    # S3; an elementary abelian 2-group; a group of derived length 5.
    assert _depths(words, d=2, e=6) == (2, 3)
    assert _depths(words, d=1, e=2) == (1, 2)
    assert _depths(words, d=5, e=12) == (2, 4)
    assert rows["parity-bits", "softmax-linear-readout"].gap == "ends meet"
    assert rows["parity-bits", "linear-readout-few-heads"].gap == "ends meet"
    assert rows["ordered", "linear-readout-two-heads"].gap == "ends meet"
    assert rows["ordered", "linear-readout-one-head"].gap == "ends meet"


def _depths(row: atlas.AtlasRow, **sizes: int) -> tuple[int, ...]:
    ends = [end for end in (row.lower, row.upper) if end]
    return tuple(
        int(value) for end in ends if isinstance(value := formulas.value(end.depth, sizes), int)
    )


def test_formulas_read_as_mathematics() -> None:
    """The LaTeX, which another module reads as ASCII, has the same signs in the same order."""
    for depth in {bound.depth for bound in atlas.bounds()}:
        line, latex = atlas.formula(depth), atlas.formula(depth, latex=True)
        assert not re.search(r"M(in|ax)\(|log\d|log\(", line + latex), depth
        assert latex.count("$") % 2 == 0
        assert _signs(readable(latex)) == _signs(line), depth
        # A negative control: what was parsed is not what is printed.
        assert ("log" in depth) <= (_signs(line) != _signs(depth)) or "order" in depth
    assert atlas.formula("ceil(log((d + 1) / 2, 6)) + 1") == "ceil(log_6((d + 1)/2)) + 1"
    assert atlas.formula("1 if H >= n, else 2", latex=True) == r"1 if $H \geq n$, else 2"
    with pytest.raises(UsageError, match="a bracket is open"):
        atlas.formula("ceil(log2(k)")


def _signs(line: str) -> str:
    return re.sub(r"[ ()^]", "", line)


def test_every_letter_of_a_formula_is_explained_beside_it() -> None:
    for bound in atlas.bounds():
        task, class_ = atlas.tasks()[bound.task], atlas.classes()[bound.class_]
        beside = f"{task.name} {task.definition} {class_.name} {class_.definition}"
        letters = re.findall(r"\b(?!a\b)[A-Za-z]\b", bound.depth)
        assert set(letters) <= set(re.findall(r"\b[A-Za-z]\b", beside)), bound


def test_what_no_depth_does_is_not_needed_but_never_enough() -> None:
    rows = {(row.task.key, row.class_.key): row for row in ROWS}
    parity = rows["parity", "counting"]
    assert (parity.needed, parity.suffices) == ("-", "none")
    regular = rows["regular", "ahat-looped"]
    assert regular.needed.startswith("no fixed number")
    assert regular.suffices == "8 ceil(log2(n)) + 9"


def test_the_advisor_answers_from_it() -> None:
    (task,) = recommend(task="dyck").tasks
    assert "hard attention, rightmost: D + 1 layers; PROVED." in task.remarks
    assert len(recommend(task="parity", known_by=2023).tasks[0].remarks) == 1
    with pytest.raises(UsageError, match="unknown task"):
        recommend(task="knapsack")
    with pytest.raises(UsageError, match="belongs to the task"):
        recommend(task="dyck", hops="3")

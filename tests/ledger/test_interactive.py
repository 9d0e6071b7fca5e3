"""Figures that a reader moves: what their scripts read is what records hold and exact nets say, and
their pictures in the repository are those of these data."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from depthlaw.advisor.laws import reach
from depthlaw.ledger.publish.site import front_page
from depthlaw.ledger.publish.site.interactive import FIGURES, FigureSource, file_of
from depthlaw.ledger.verdicts.record_source import Recorded
from depthlaw.theory.claims.values import Ball
from depthlaw.theory.hops.hop_nets import causal_net
from depthlaw.theory.hops.pointers import find, hop_k

DOCS = Path(__file__).parents[2] / "docs"
STARTS = "(globalThis.FIGURES ??= {})."


@pytest.fixture(scope="module")
def source() -> FigureSource:
    return FigureSource(DOCS)


@pytest.fixture(scope="module")
def data(source: FigureSource) -> dict[str, Any]:
    """What the scripts read, by figure, out of what is written."""
    source.filled("".join(f"<!-- interactive: {name} -->" for name in FIGURES), Path("x.md"))
    read = {}
    files = source.files(Path("out"))
    for path, text in files.items():
        if path.suffix == ".js":
            name, _, body = text.removeprefix(STARTS).partition(" = ")
            assert path == Path(f"out/_static/figures/{name}.data.js")
            read[name] = json.loads(body.rstrip().removesuffix(";"))
    for name in read:
        assert files[Path(f"out/_static/figures/{name}.svg")] == file_of(source, name)
    return read


@pytest.mark.slow
@pytest.mark.parametrize("name", FIGURES)
def test_what_is_kept_is_what_records_and_exact_nets_say(
    recorded: Recorded, data: dict[str, Any], name: str
) -> None:
    """Where it fails: `make transcripts`."""
    assert json.loads(json.dumps(FIGURES[name].data(recorded))) == data[name]


@pytest.mark.slow
def test_the_card_holds_what_is_recommended_today() -> None:
    kept = (DOCS / "_static/figures/advice.data.js").read_text(encoding="ascii")
    assert kept == front_page.advice(), "make transcripts"


@pytest.mark.parametrize("name", FIGURES)
def test_a_mark_becomes_a_picture_and_its_scripts_wherever_the_page_is(
    source: FigureSource, name: str
) -> None:
    image = f"![a picture](figures/{name}.svg)<!-- interactive: {name} -->"
    figure = source.filled(f"before {image} after", Path("papers/x.md"))
    assert "before <figure" in figure
    assert "![" not in figure
    assert "\n\n" not in figure, "an empty line ends HTML in Markdown"
    assert figure.count("<script") == 3
    assert f'src="../_static/figures/{name}.js"' in figure
    assert f'href="../_static/figures/{name}.json" download' in figure
    assert "<script" not in source.filled(f"<!-- still: {name} -->", Path("x.md"))
    for script in ("figures", name):
        assert (DOCS / "_static" / "figures" / f"{script}.js").is_file()
    with pytest.raises(ValueError, match="there is no figure nothing"):
        source.filled("<!-- interactive: nothing -->", Path("x.md"))


@pytest.mark.parametrize("name", FIGURES)
def test_pictures_in_the_repository_are_those_of_the_data(source: FigureSource, name: str) -> None:
    written = (DOCS / "figures" / f"{name}.svg").read_text(encoding="utf-8")
    assert written == file_of(source, name), "say `make transcripts`"


def test_the_ring_has_the_shares_that_are_recorded(
    recorded: Recorded, data: dict[str, Any]
) -> None:
    ring = data["ring"]
    assert ring["reach"] == [reach(layers) for layers in range(5)]
    nets = {(net["net"], net["layers"], net["seed"]): net for net in ring["nets"]}
    assert len(nets) == len(ring["nets"]) == 34
    longest = {1: 60_000, 2: 240_000, 3: 240_000}
    assert all(net["updates"] == longest[net["layers"]] for net in ring["nets"])
    held = 0
    for row in recorded.rows("trained_depth/wall_within"):
        case, value = row.case, row.measured
        net = nets.get((case.net, case.depth, case.first))
        if case.asked == "row" and case.nets == 1 and net:
            assert isinstance(value, Ball)
            assert [case.distance, float(value.low), float(value.high)] in net["shares"]
            held += 1
    assert held == 16 * (3 + 9)


def test_every_word_of_the_hops_is_what_the_exact_nets_say(data: dict[str, Any]) -> None:
    table, words = data["khop"]["nets"], ("a", "ab", "aab", "ababa", "babbab", "aabbab")
    for hops in (1, 2, 3, 4):
        for induction in ("printed", "repaired"):
            net = causal_net(hops, 2, induction)
            rows = {word: table[induction][str(hops)][word] for word in words}
            assert [rows[word][-1][2] or "none" for word in words] == [*map(net.answer, words)]
            assert {len(row) for row in rows.values()} == {net.depth + 1}
            # The pointers of both double: they err in which letter they take over.
            assert all(row[2][1] == find(word, 1)[-1] for word, row in rows.items())
        assert all(data["khop"]["right"][word][hops] == find(word, hops)[-1] for word in words)
    wrong = [word for word, row in table["printed"]["2"].items() if row[-1][2] != _hops(word)]
    assert "ababa" in wrong
    assert [w for w, row in table["repaired"]["2"].items() if row[-1][2] != _hops(w)] == []


def _hops(word: str) -> str:
    return str(hop_k(word, 2, missing="")[-1])

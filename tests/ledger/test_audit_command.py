"""`depthlaw audit` at a terminal, piped and as JSON, and what it refuses."""

from __future__ import annotations

import json
import re
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from jsonschema import Draft202012Validator

from depthlaw.empirics.audit.statistics import Estimate
from depthlaw.ledger.publish.audit.sentences import number, percent

# Answers of the fixtures of this folder.
Command = Callable[..., Any]
SMALL = ["--documents", "16", "--tokens", "12", "--measures", "states,removal"]


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    import torch
    from transformers import GPT2Config, GPT2LMHeadModel

    torch.manual_seed(3)
    sizes = {"vocab_size": 40, "n_positions": 32, "n_embd": 16, "n_layer": 3, "n_head": 2}
    config = GPT2Config(**sizes, initializer_range=0.3)
    place = tmp_path_factory.mktemp("models") / "three-layers"
    GPT2LMHeadModel(config).save_pretrained(place)
    return place


@pytest.fixture
def asked(folder: Path, tmp_path: Path) -> list[object]:
    return ["audit", folder, *SMALL, "--results", tmp_path / "kept"]


def test_json_is_all_that_is_printed_and_is_as_the_schema_says(
    depthlaw: Command, asked: list[object]
) -> None:
    answer = depthlaw(*asked, "--json", "--blocks", "2")
    assert answer.code == 0
    printed = json.loads(answer.out)
    schema = json.loads(depthlaw("audit --schema").out)
    assert Draft202012Validator(schema).is_valid(printed)
    assert [search["size"] for search in printed["searches"]] == [1, 2]
    assert len(answer.err.splitlines()) == 1
    assert "a minute or less. If stopped, the same command goes on with what is done." in answer.err


@pytest.mark.parametrize("columns", [40, 80])
def test_a_terminal_shows_every_layer_and_says_that_tokens_are_random(
    on_terminal: Command, asked: list[object], columns: int
) -> None:
    """`on_terminal` asserts that no line is wider."""
    said = " ".join(on_terminal(columns, *asked).out.split())
    for needed in ("Answer", "Loss without a layer", "on random tokens (zipf)", "influence"):
        assert needed in said
    # The model is no better than fresh weights, so that no layer of it is called.
    assert "Nothing is said of which layer is used" in said
    assert not re.search(r"\b(?:needed|superfluous|undecided)\b", said)


def test_piped_answers_hold_a_row_for_each_layer(depthlaw: Command, asked: list[object]) -> None:
    rows = [line.split() for line in depthlaw(*asked).out.splitlines()]
    of_layers = [row for row in rows if row[:1] in (["1"], ["2"], ["3"])]
    calls = {"needed", "superfluous", "undecided"}
    assert not any(calls & set(row) for row in of_layers)
    assert len(of_layers) == 9


@pytest.mark.parametrize("columns", [0, 40, 80])
def test_changes_skips_and_paths_are_shown_where_they_are_asked(
    depthlaw: Command, on_terminal: Command, asked: list[object], columns: int
) -> None:
    """At a terminal and piped, with the numbers of the JSON; not where they were not asked."""
    more = [*asked, "--measures", "changes,skips,paths"]
    found = json.loads(depthlaw(*more, "--json").out)["tables"]
    answer = on_terminal(columns, *more) if columns else depthlaw(*more)
    said = " ".join(answer.out.split())
    titles = ("change places or run twice", "Effects of leaving a layer out", "Loss with few")
    assert all(title in said for title in titles)
    by_name = {(table["key"], table["variant"]): table["rows"] for table in found}
    for row in by_name["repeat", "damped"]:
        shown = Estimate(**row["share"])
        assert percent(shown) in said
    for name in (("skip_effect", "output_mean"), ("path_length", "kept"), ("path_length", "half")):
        for row in by_name[name]:
            assert number(Estimate(**row["estimate"])) in said
    later = [row for row in by_name["skip_effect", "later_mean"] if row["first"] == 0]
    most = max(later, key=lambda row: row["estimate"]["value"])
    assert f"{most['estimate']['value']:.3g} in {most['last'] + 1}" in said
    assert not any(title in depthlaw(*asked).out for title in titles)


def test_enough_draws_test_against_the_law(depthlaw: Command, asked: list[object]) -> None:
    """At a level of 50 % two draws are enough."""
    law = (*asked, "--draws", "2", "--level", "0.5")
    once, words = (" ".join(depthlaw(*some).out.split()) for some in (asked, law))
    assert "measures differ from one draw of the same shapes with fresh weights" in once
    assert "measures tell the model from the same shapes with fresh weights" in words
    # A third of 8 measures.
    assert "on average chance alone gives at most 2.7." in words
    assert "Of null models it is the mean of 2 draws" in words
    printed = json.loads(depthlaw(*law, "--json").out)
    assert printed["draws"] == 2
    (told,) = {t["told"]["initialised"]["about"] for t in printed["tables"]}
    assert told == "law"


def test_pages_and_pictures_are_written_once(
    depthlaw: Command, refused: Command, asked: list[object], tmp_path: Path
) -> None:
    card, picture = tmp_path / "card.md", tmp_path / "audit.svg"
    answer = depthlaw(*asked, "--markdown", card, "--plot", picture)
    assert answer.code == 0
    assert answer.err.count("written") == 2
    assert card.read_text(encoding="utf-8").startswith("# Is the depth of three-layers used?")
    assert picture.read_bytes().startswith(b"<?xml")
    assert "--force to replace it" in refused(*asked, "--markdown", card)
    before = card.read_bytes()
    assert depthlaw(*asked, "--markdown", card, "--force").code == 0
    assert card.read_bytes() == before


WRONG = {
    "--html page.htm": "ends in .html",
    "--html missing/page.html": "its folder does not exist",
    "--plot page.jpg": ".png, .svg and .pdf",
    "--text absent.txt": "has no tokenizer",
    "--blocks two": "give sizes of blocks",
    "--measures removals": "accepted are usual",
    "--plot page.svg --measures parts,skips": "none of which was asked; add usual to --measures",
    "--without 1-2": "add --ladder",
    "--tolerance much": "such as 40%",
    "--documents 3": "documents=3",
}


@pytest.mark.parametrize("typed", WRONG)
def test_what_is_wrong_is_one_line_and_nothing_is_written(
    refused: Command, asked: list[object], tmp_path: Path, typed: str
) -> None:
    names = [tmp_path / word if "page" in word else word for word in typed.split()]
    assert WRONG[typed] in refused(*asked, *names)
    assert not list(tmp_path.rglob("*"))


def test_no_model_and_missing_programs_are_said_before_anything_is_measured(
    refused: Command, asked: list[object], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    assert "no model: give a folder" in refused("audit")
    monkeypatch.setattr(
        "depthlaw.ledger.publish.appendix.formats.find_spec",
        lambda name: None if name == "typst" else object(),
    )
    said = refused(*asked, "--pdf", tmp_path / "page.pdf")
    assert "the page is written by Typst, not installed here" in said
    assert "pip install" in said
    monkeypatch.setattr("depthlaw.ledger.functions.audit.find_spec", lambda name: None)
    assert "an audit needs PyTorch and transformers" in refused(*asked)
    assert not list(tmp_path.rglob("*"))

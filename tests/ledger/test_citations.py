"""The bibliography as package data, and what stands behind a claim."""

import re
from importlib.resources import files

from depthlaw.ledger.verdicts.citations import bibtex_for, entries, reference, sources
from depthlaw.theory.claims.definition import registry


def test_every_entry_is_read_whole():
    text = (files("depthlaw.theory") / "bibliography.bib").read_text(encoding="utf-8")
    # In this order: a key twice, or a line that begins an entry and names none, would show.
    assert list(entries()) == re.findall(r"^\s*@\w+\{([^,\s]*)", text, re.M)
    for key, entry in entries().items():
        assert entry.startswith("@"), key
        assert entry.count("{") == entry.count("}"), key
        assert re.search(r"^\s*title\s*=", entry, re.M), key
    between = text
    for entry in entries().values():
        between = between.replace(entry, "")
    assert all(line.startswith("%") for line in between.split("\n") if line.strip())


def test_entries_hold_no_character_that_stops_latex():
    for key, entry in entries().items():
        for name, value in re.findall(r"^\s*(\w+)\s*=\s*\{(.*)\},?$", entry, re.M):
            if name not in ("url", "doi", "eprint"):
                assert not re.search(r"(?<!\\)[_#%&$^~]", value), (
                    f"{key}: {name} needs a backslash before a special character"
                )
    assert all(entry.isascii() for entry in entries().values()), (
        "accents are written in TeX, so that every BibTeX reads them"
    )


def test_claim_and_bibliography_keys_mix_and_repeat_nothing():
    claim = next(each for each in registry().values() if each.source.key != "depthlaw")
    other = next(key for key in entries() if key != claim.source.key)
    found = bibtex_for([claim.key, other, claim.source.key, claim.key])
    assert found == {key: entries()[key] for key in (claim.source.key, other)}
    assert bibtex_for([]) == {}


def test_a_claim_after_a_source_cites_that_source_too():
    assert list(bibtex_for(["hops/doubling"])) == ["depthlaw", "sanford2024"]
    assert sources("depthlaw, dimension count, after eqs. (3)-(4) of levine2020") == [
        "depthlaw",
        "levine2020",
    ]
    assert sources("nobody1900, Theorem 1") == []


def test_a_reference_is_one_line_without_markup():
    for key in entries():
        line = reference(key)
        assert line
        assert not set(line) & set("{}\\\n"), line
    assert "Fraïssé" in reference("etessami2000")
    assert reference("wu2024masks").startswith("Wu and others 2024: ")

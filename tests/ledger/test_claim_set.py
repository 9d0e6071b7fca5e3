"""A claim set has one name and one hash, and is never written again."""

from __future__ import annotations

import dataclasses
import hashlib
from pathlib import Path

import pytest

from depthlaw.advisor.base.quantities import UsageError
from depthlaw.ledger.verdicts import claim_set as sets
from depthlaw.ledger.verdicts.claim_set import Entry, altered, changes, claim_set, claim_sets
from depthlaw.theory.claims.definition import find, registry

# What papers cite. A set that stands here was released: where its file differs, put the file back
# (git checkout claims-v1 -- FILE), and write an erratum into the next set
# (python -m depthlaw.ledger.verdicts.claim_set claims-v8), with a line here.
RELEASED = {
    "claims-v1": "bbbdfc2037476eae5cc9b0d79b71aeb36ea3d59954e3b59949e1f35c307d8ddd",
    "claims-v2": "bec65266ce4dd67a21635f0e1dfa125a71c660f4bda46472865118eb398a1098",
    "claims-v3": "1614959b932e9417ef655a2b570713a0bc169b5f9c94056733a921df4ac46939",
    "claims-v4": "ba1a1b31662a55af969b2aa1d860735be6edbf3e311c5ec57cff26ced06fff8f",
    "claims-v5": "1827a6a6cbace8179ee20f6dd3ca07ddbc1313b465db84d3d9585cb3a1b75ec5",
    "claims-v6": "79d0b1bc180184914e4a1ec02c38f63a00819f7e942e4529b1eb22f666b199ec",
    "claims-v7": "f1c85c7322ede3a6aa1875a5c14259d53db7a6ec63195c7ffcb02b8cea3780d4",
    "claims-v8": "2355601d5fe504c58e65b09a7f78ee5365a37b104550ac6db382544d110b5bae",
    "claims-v9": "6d617cdb478857d2c63e05269f7b5299dd0cc94dff9bf4bfa625fab16406a4ba",
    "claims-v10": "7388a6c436e420335a479df52d8f608a3130f76fa187fb593a422bf7d028134b",
    "claims-v11": "769b40f02b9b01e6c9ee86f671b4659f763788fb8862a47c2d3e783b892e96eb",
    "claims-v12": "06fcb77bf98cf9f4dca8b024050669b474a39360c4dd4c2095e1a7b13c1f2bb9",
    "claims-v13": "0ae85bb7e22cc881310d5efafaa46c2c38b15b484b31311975c3f9d139e83e8a",
    "claims-v14": "0ae85bb7e22cc881310d5efafaa46c2c38b15b484b31311975c3f9d139e83e8a",
    "claims-v15": "13c6fa8766d2316ed934fb5351e2b0b546f900bbe5a2f12afc1054843624f931",
    "claims-v16": "b177934a4c18fede3345793129a9021be358e4f7ab491c82d02926d8fe32aea6",
    "claims-v17": "d2761b2b62c506fa201928d19be94110bbef8f11b9c5003bc2680fcc7579a2aa",
    "claims-v18": "38ac10be56cec4c44fe4943b3c0905f9aaacc58e3ec6804e23f6b05aac55cf68",
    "claims-v19": "3fef54c5eca2328949d0e51fcca084551a507ab3babdbfc4cb91286087339273",
    "claims-v20": "3e38ac3b99f1c47d15a635d492a6ab5bc8ca629507a0e60346e530c9ba90cc41",
}

_WORDS = ("x <= 1", "paper, Theorem 1", "printed", "upper", "all", "theorem")
ONE = Entry("hops/one", "One", "Text.", *_WORDS, (), "HOLDS")
TWO = dataclasses.replace(ONE, key="hops/two", premises=("hops/one",))


def test_released_sets_are_those_that_papers_cite() -> None:
    """With their hashes also as `tail -n +2 FILE | sha256sum` says them, without our code."""
    assert {name: claim_set(name).hash for name in claim_sets()} == RELEASED
    for name, file in claim_sets().items():
        lines = file.read_bytes().split(b"\n", 1)[1]
        assert hashlib.sha256(lines).hexdigest() == RELEASED[name]


def test_newest_set_is_read_by_default() -> None:
    assert claim_set().name == list(RELEASED)[-1]
    assert claim_set().claims["rank_collapse/one_layer_cubic"].weight == "theorem"


def test_every_claim_says_what_the_newest_set_lists() -> None:
    """Else a new set is written, with an erratum; a new claim waits for the next release."""
    assert altered(claim_set(), registry()) == set()


@pytest.mark.slow
def test_every_verdict_is_that_of_the_newest_set() -> None:
    today, manifest = sets._today()
    found = {key: what for key, what in changes(claim_set(), today).items() if what != "new"}
    assert (found, manifest) == ({}, claim_set().manifest)


def test_another_constant_is_another_claim() -> None:
    degree = find("separation_rank/degree")
    left, right = degree.statement.args
    two = dataclasses.replace(degree, statement=degree.statement.func(left, right.subs(3, 2)))
    newest = dataclasses.replace(claim_set(), claims={degree.key: claim_set().claims[degree.key]})
    assert altered(newest, {degree.key: degree}) == set()
    assert altered(newest, {degree.key: two}) == altered(newest, {}) == {degree.key}


def test_a_set_is_written_once_and_sets_are_counted(tmp_path: Path) -> None:
    for name in ("claims-v2", "claims", "claims-v0"):
        with pytest.raises(UsageError, match="say claims-v1"):
            sets.write_claim_set(name, (ONE,), "abc", tmp_path)
    sets.write_claim_set("claims-v1", (ONE,), "abc", tmp_path)
    with pytest.raises(UsageError, match="never written again; the next one is claims-v2"):
        sets.write_claim_set("claims-v1", (TWO,), "abc", tmp_path)
    for number in range(2, 11):
        sets.write_claim_set(f"claims-v{number}", (TWO,), "abc", tmp_path)
    assert list(claim_sets(tmp_path))[-1] == claim_set(folder=tmp_path).name == "claims-v10"
    assert claim_set("claims-v1", tmp_path).claims == {ONE.key: ONE}


def test_an_edited_set_is_refused(tmp_path: Path) -> None:
    sets.write_claim_set("claims-v1", (ONE,), "abc", tmp_path)
    file = tmp_path / "claims-v1.jsonl"
    good = file.read_text()
    file.write_text(good.replace("HOLDS", "FAILS"))
    with pytest.raises(UsageError, match="erratum into the next set"):
        claim_set(folder=tmp_path)
    for bad in (good[:-9], "", good.replace('"title"', '"name"'), "[]\n"):
        file.write_text(bad)
        with pytest.raises(UsageError, match="get it again"):
            claim_set(folder=tmp_path)


def test_unknown_set_and_none(tmp_path: Path) -> None:
    with pytest.raises(
        UsageError, match=r"unknown claim set 'claims-v99'; the known ones are claims-v1"
    ):
        claim_set("claims-v99")
    with pytest.raises(UsageError, match="the known ones are none"):
        claim_set(folder=tmp_path)


def test_what_is_written_is_read_again_and_changes_name_what_differs(tmp_path: Path) -> None:
    old = sets.write_claim_set("claims-v1", (TWO, ONE), "abc", tmp_path)
    assert (old, old.manifest) == (claim_set("claims-v1", tmp_path), "abc")
    assert list(old.claims.values()) == [ONE, TWO]
    refuted = dataclasses.replace(TWO, verdict="FAILS", text="Other text.")
    three = dataclasses.replace(ONE, key="hops/three")
    assert changes(old, {e.key: e for e in (ONE, TWO)}) == {}
    assert changes(old, {e.key: e for e in (refuted, three)}) == {
        "hops/one": "gone",
        "hops/three": "new",
        "hops/two": "text, verdict",
    }


def test_writing_a_released_set_is_refused_before_anything_is_judged(
    capsys: pytest.CaptureFixture[str],
) -> None:
    file = claim_sets()["claims-v1"]
    before = file.read_bytes()
    with pytest.raises(SystemExit) as stopped:
        sets.main(["claims-v1"])
    assert stopped.value.code == 2
    assert "the next one is claims-v" in capsys.readouterr().err
    assert file.read_bytes() == before

"""Every theorem that a claim names, in versions that are wrong: the kernel refuses each."""

from __future__ import annotations

import os
import tomllib
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from pathlib import Path

import pytest
from mutants import Mutant, copies, judged, mutated, script, stops, up_to

from depthlaw.theory.claims.definition import find
from depthlaw.theory.claims.formal import source
from depthlaw.theory.formal import prove

# The first test waits until everything is compiled, on machines that are busy too.
pytestmark = pytest.mark.timeout(7200)

TABLE: dict[str, list[list[str]]] = tomllib.loads(
    (Path(__file__).parent / "mutants.toml").read_text(encoding="utf-8")
)
FILES = sorted({of.partition(".")[0] for of in TABLE if "/" not in of})
LINKS = [of for of in TABLE if "/" in of]


def test_every_claim_with_a_theorem_stands_in_the_table():
    claims = prove.linked()
    assert set(LINKS) == set(claims)
    terms = {claim.formal.head for claim in claims.values() if "." in claim.formal.head}
    theorems = {claim.formal.theorem for claim in claims.values()}
    assert theorems | terms <= set(TABLE)


def wrong_theorems(name):
    """A script of the wrong versions of a file's theorems, and what each is, by its name."""
    text, placed, says = source(name), [], {}
    for i, (of, versions) in enumerate(TABLE.items()):
        if of.startswith(f"{name}."):
            # The first is the original: a copy of it can be proved where it stands.
            pairs = [("", ""), *versions]
            place, made = copies(text, of.partition(".")[2], pairs, f"mutant_{i}")
            placed.append((place, made))
            for each, (old, new) in zip(made, pairs, strict=True):
                says[each.name] = f"{of}: {old!r} -> {new!r}"
    return script(text, placed), says


@pytest.mark.parametrize("name", FILES)
def test_a_wrong_theorem_is_refused(kernel, name):
    told, says = kernel[name]
    found = told.result()
    expected = {says[each]: "proved" if each.endswith("_0") else "refused" for each in says}
    assert {says[each]: found[each] for each in says} == expected


def wrong_links():
    """A script of the wrong versions of links, and what each is with its sentence, by its name."""
    sentences = {}
    for key in LINKS:
        for old, new in TABLE[key]:
            claim = find(key)
            value = mutated(claim.formal.value, old, new)
            wrong = replace(claim, formal=replace(claim.formal, value=value))
            sentences[f"{key}: {old!r} -> {new!r}"] = list(prove.comparisons(wrong))
    assert all(sentences.values())
    named = {
        f"mutant_{i}_{j}": (says, sentence)
        for i, (says, each) in enumerate(sentences.items())
        for j, sentence in enumerate(each)
    }
    made = [
        Mutant(name, f"Lemma {name} : {sentence}.", "compared. Qed.")
        for name, (_, sentence) in named.items()
    ]
    head = prove.link_file(map(find, LINKS)).partition("\n(* connectivity/")[0]
    return script(head, [(len(head), made)]), {name: says for name, (says, _) in named.items()}


def test_a_wrong_link_is_refused(kernel):
    """At one case at least: what a claim says of its term is no other function of the case."""
    told, says = kernel["Link"]
    found = told.result()
    assert "no statement" not in found.values()
    refused = {says[name] for name in found if found[name] == "refused"}
    assert set(says.values()) - refused == set()


DEFINITIONS: list[dict[str, str]] = tomllib.loads(
    (Path(__file__).parent / "definitions.toml").read_text(encoding="utf-8")
)["mutant"]


@pytest.mark.parametrize(
    "mutant", DEFINITIONS, ids=lambda m: f"{m['definition']}: {m['change']}".replace(" ", "_")
)
def test_a_theorem_about_a_wrong_object_is_refused_or_that_it_is_not_is_explained(kernel, mutant):
    """Where it is refused the table says at which declaration, so that another reason is seen."""
    kinds = ("accepted: ",) if not mutant["stops"] else ("false: ", "the script: ", "open: ")
    assert mutant["why"].startswith(kinds)
    assert kernel[mutant["definition"], mutant["change"]].result() == mutant["stops"]


@pytest.fixture(scope="session")
def kernel(compiled, tmp_path_factory):
    """What the kernel says of all that is wrong, by what it is: asked at once, a process a core."""
    with ThreadPoolExecutor(len(os.sched_getaffinity(0))) as pool:
        asked = {}
        scripts = {"Link": wrong_links()} | {name: wrong_theorems(name) for name in FILES}
        for of, (told, says) in scripts.items():
            asked[of] = pool.submit(judged, compiled, told), says
        for mutant in DEFINITIONS:
            name, _, theorem = mutant["theorem"].partition(".")
            assert mutant["definition"].partition(".")[0] == name
            text = up_to(mutated(source(name), mutant["old"], mutant["new"]), theorem)
            folder = tmp_path_factory.mktemp("wrong")
            asked[mutant["definition"], mutant["change"]] = pool.submit(
                stops, compiled, folder, name, text
            )
        yield asked


TOY = """
Definition twice (n : nat) := n + n.

Lemma twiceE n : twice n = n + n.
Proof. reflexivity. Qed.

Section Sums.
Variable k : nat.
(* What is it? *)
Theorem plus n : n = 0 -> k + n = k.
Proof. now intros ->; rewrite <- plus_n_O. Qed.
End Sums.
"""


def test_what_is_equivalent_is_proved_and_what_means_nothing_is_no_statement(tmp_path):
    versions = [("k + n", "0 + (k + n)"), ("= k", "= S k"), ("k + n", "k ++ n"), ("n = 0 -> ", "")]
    place, made = copies(TOY, "plus", versions, "plus")
    term, others = copies(TOY, "twice", [("n + n", "n + n + 0"), ("n + n", "n + (0 + n)")], "twice")
    found = judged(tmp_path, script(TOY, [(place, made), (term, others)]))
    assert list(found.values()) == [
        *("refused", "proved"),
        *("proved", "refused", "no statement", "refused"),
    ]


def test_a_passage_that_is_gone_is_an_error():
    with pytest.raises(LookupError, match="'q' occurs 0 times"):
        copies(TOY, "plus", [("q", "n")], "m")
    with pytest.raises(LookupError, match="occurs 3 times"):
        copies(TOY, "plus", [("n", "m")], "m")
    with pytest.raises(LookupError, match="no theorem thrice"):
        copies(TOY, "thrice", [("n", "m")], "m")


def test_where_a_wrong_object_stops_is_read_off(tmp_path):
    compiled, folder, other = (tmp_path / name for name in ("compiled", "folder", "other"))
    for each in (compiled, folder, other):
        each.mkdir()
    text = up_to(TOY, "twiceE")
    assert stops(compiled, folder, "Toy", text) == ""
    assert stops(compiled, other, "Toy", mutated(text, ":= n + n", ":= n")) == "twiceE"
    with pytest.raises(LookupError, match="no theorem thrice"):
        up_to(TOY, "thrice")

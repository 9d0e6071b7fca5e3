"""What `depthlaw tasks`, `tasks check` and `tasks language` print."""

from __future__ import annotations

import json
import re
from pathlib import Path

import pytest

from depthlaw.advisor.atlas import Atlas, AtlasBound, classes, tasks
from depthlaw.ledger.functions.atlas import atlas
from depthlaw.theory.atlas import check as check_module, languages
from depthlaw.theory.formal_languages.regular_depth import permuted
from depthlaw.theory.nets import every_length

EXAMPLES = Path(__file__).parents[2] / "docs/examples"


def stored(name: str) -> dict:
    return json.loads((EXAMPLES / f"{name}.json").read_text())


# --- tasks check ---


def table_of(monkeypatch, task: str, class_: str, lower: str, upper: str) -> None:
    """A table of one row."""
    same = {"task": task, "class_": class_, "year": 2021, "source": "yao2021", "mark": "reported"}
    depths = {"lower": lower, "upper": upper}
    ends = tuple(AtlasBound(end=end, depth=d, **same) for end, d in depths.items() if d)
    table = Atlas(tasks(), classes(), ends)
    monkeypatch.setattr(check_module, "atlas", lambda tables: table)


@pytest.mark.parametrize(
    ("name", "change", "says"),
    [
        ("c2-deltanet", {}, "right on words of every length, exactly: its 4 states close up; 1 l"),
        ("parity", {}, "right on all 2,046 words up to length 10, exactly; 2 layers: as many as"),
        ("ordered-one-head", {}, "right on all 32 words of 5 letters, exactly; 2 layers: as many"),
        ("connectivity-linear", {}, "graphs of 5 vertices, exactly; 2 layers: as many as the"),
        ("maximum-of-five", {}, "right on all of R^5, exactly; 2 hidden layers: as many as the"),
        ("kth-one-thoughts", {}, "right on all 16 words of 4 letters, exactly; 2 steps of thought"),
        ("parity", {"task": "parity-bits", "parameters": {"n": 4}}, "the table has no row for"),
    ],
)
def test_a_net_that_is_right_has_its_sentence(name, change, says, checked) -> None:
    code, said = checked(stored(f"nets/{name}") | change)
    assert code == 0
    assert says in said


def test_a_net_that_is_wrong_has_its_sentence(checked) -> None:
    net = stored("nets/parity")
    for wrong, says in (
        (net | {"layers": net["layers"][:1]}, "False of the word '1', which has True; 1 shorter"),
        (stored("nets/maximum-of-five") | {"add": 1}, ".* of the numbers '.*', whose maximum is"),
    ):
        code, said = checked(wrong)
        assert code == 1
        assert re.search(f"WRONG: .* says {says}", said)


def test_a_bound_that_is_not_verified_has_its_sentence(checked) -> None:
    bound = stored("bounds/dyck")
    for change, says in (
        ({"layers": 3}, "NOT VERIFIED: 3 layers of the class uhat-right can tell"),
        ({"words": ["()", "()"]}, "NOT VERIFIED: both words, '()' and '()', have the answer True"),
    ):
        code, said = checked(bound | change)
        assert code == 1
        assert said.startswith(says)
        assert said.count("\n") == 1


def test_fewer_layers_on_short_words_are_no_record(checked, monkeypatch) -> None:
    table_of(monkeypatch, "elementary-words", "deltanet", "1", "2")
    monkeypatch.setattr(every_length, "MOST_PAIRS", 1)
    code, said = checked(stored("nets/c2-deltanet"))
    assert code == 0
    assert "(2; 1 needed) on words to length 10; a record only if it is right on longer" in said
    table_of(monkeypatch, "elementary-words", "deltanet", "2", "2")
    said = checked(stored("nets/c2-deltanet"))[1]
    assert "lower bound 2 (yao2021, reported) on words to length 10, which no finite run" in said


def test_the_json_of_a_check_has_the_keys_that_it_had(checked) -> None:
    both = {"file", "task", "parameters", "class", "layers", "words", "table", "lower", "result"}
    net = checked(stored("nets/parity"), "--json")[1]
    assert {*net} == both | {"language", "length", "whole", "states", "wrong", "sizes"}
    bound = checked(stored("bounds/sorted"), "--json")[1]
    assert {*bound} == both | {"language", "answers", "verified", "told_apart_by"}
    assert (bound["task"], bound["language"], bound["result"]) == (None, "a*b*", "equal")
    assert checked(stored("bounds/a5-diagonal"), "--json")[1]["lower"] == "none"


@pytest.mark.parametrize(
    ("lower", "upper", "says"),
    [
        ("2", "3", "contradicts the table's lower bound 2 (yao2021, reported) on all words; eithe"),
        (
            "none",
            "",
            "no fixed depth suffices (yao2021, reported), on all words; either the bound or",
        ),
        ("1", "2", "fewer than the table (2; 1 needed) on all words: a record, if the net is of"),
        ("", "2", "fewer than the table (2; no lower bound is known to it) on all words"),
        ("none if TC0 is not NC1", "2", "it needs none if TC0 is not NC1, which is no number here"),
        ("1", "order log n", "no number of layers that suffice is known to the table"),
        ("1", "", "no number of layers that suffice is known to the table"),
        ("2 if an element has order 3 or more, else 1", "Min(d, 4)", "as many as the table (1)"),
    ],
)
def test_each_answer_on_a_net_has_its_sentence(lower, upper, says, checked, monkeypatch) -> None:
    table_of(monkeypatch, "elementary-words", "deltanet", lower, upper)
    code, said = checked(stored("nets/c2-deltanet"))
    assert code == 0
    assert says in said


@pytest.mark.parametrize(
    ("lower", "upper", "says"),
    [
        ("2", "5", "lower end is 2 (yao2021, reported): this is better, a record"),
        ("D + 1", "", "lower end is 3 (yao2021, reported): as much as this"),
        ("4", "5", "lower end is 4 (yao2021, reported): more than this"),
        (
            "none",
            "",
            "weaker than the known lower end, that no fixed depth suffices (yao2021, reported)",
        ),
        ("", "5", "the table has no lower end for this task in this class"),
        ("order log n", "", "this task in this class: order log n is no number here"),
        ("1", "D", "contradicts the upper end, 2 (yao2021, reported); one of the two is wrong"),
        ("", "2", "contradicts the upper end, 2 (yao2021, reported)"),
    ],
)
def test_each_answer_on_a_bound_has_its_sentence(lower, upper, says, checked, monkeypatch) -> None:
    table_of(monkeypatch, "dyck", "uhat-right", lower, upper)
    code, said = checked(stored("bounds/dyck"))
    assert code == 0
    assert says in said
    assert ("record" in said) == (lower == "2")


@pytest.mark.parametrize("file", ["nets/letters-hard.json", "bounds/letters.json"])
@pytest.mark.parametrize("columns", [40, 80])
def test_the_answer_ends_with_the_class_and_keeps_within_the_terminal(
    file, columns, on_terminal
) -> None:
    said = on_terminal(columns, "tasks", "check", EXAMPLES / file)
    assert (said.code, said.err) == (0, "")
    assert " ".join(said.out.split()).endswith(classes()["uhat-right"].definition)


def test_a_year_after_tasks_is_that_of_the_list(depthlaw, refused) -> None:
    rows = depthlaw("tasks --known-by 2023 --json").data
    assert rows == depthlaw("tasks list --known-by 2023 --json").data
    for words, why in {
        "--known-by 1066": "no bound of these tasks was known by 1066",
        "--known-by 2023 list": "`depthlaw tasks list --known-by 2023`",
        "--known-by 2023 check net.json": "--known-by belongs to the list",
        "--atlas mine list": "`depthlaw tasks list --atlas mine`",
        "--json list": "`depthlaw tasks list --json`",
    }.items():
        assert why in refused("tasks", *words.split())


def test_the_list_at_numbers_is_the_atlas_at_them(depthlaw, refused) -> None:
    rows = depthlaw("tasks list kth-one --at k=3 n=4,16 --json").data
    asked = [{"k": 3, "n": 4}, {"k": 3, "n": 16}]
    assert rows == [{"at": n} | row for n in asked for row in atlas("kth-one", **n).rows()]
    lines = depthlaw("tasks list kth-one --at k=3 n=4,16").out.splitlines()
    assert lines[1].split() == ["3", "4", "cot-one-head", "2", "2", "closed"]
    assert "   k for all large n  " in lines[2]
    assert "asks for k <= n" in refused("tasks list kth-one --at k=3 n=2")
    assert "'k=3' too many; values follow --at" in refused("tasks list kth-one k=3")
    assert "leave out --known-by" in refused("tasks list kth-one --at k=3 --known-by 2023")


def test_help_of_a_task_says_where_the_atlas_lists_them(depthlaw) -> None:
    assert "`depthlaw tasks`" in " ".join(depthlaw("depth --help").out.split())


# --- tasks language ---


@pytest.fixture
def said(depthlaw):
    def run(*arguments: str):
        answer = depthlaw("tasks", "language", *arguments)
        assert answer.code == 0
        return answer.data if "--json" in arguments else answer.out

    return run


def test_the_command_says_what_each_class_takes(said) -> None:
    text = said("(ab)*")
    assert "syntactic monoid of 6 elements: not R-trivial, star-free." in text
    assert "no L layers tell (ab)^(L + 1) from (ab)^(L + 1) a, of which one is" in text
    assert "needed 2: 1 layer of any weights, heads and width cannot tell 'ab' from 'aab'" in text
    assert "no fixed depth suffices: li2025precision, 2025" in text
    assert "not solvable; all groups of this one are solvable" in text
    assert "TC0" not in text.split("merrill2025")[0].split("ahat-looped:")[1]


def test_the_command_as_data(said) -> None:
    found = said("a+b+a+", "--json")
    classes = {row["class"]: row for row in found["classes"]}
    assert (found["states"], found["r_trivial"], found["star_free"]) == (5, True, True)
    assert (classes["uhat-left"]["needed"], classes["uhat-left"]["suffices"]) == (3, 3)
    assert (classes["uhat-right"]["needed"], classes["uhat-right"]["suffices"]) == (2, 2)
    assert classes["softmax-fixed-precision"]["any_depth"] is True
    odd = said("b*ab*(ab*ab*)*", "--json")
    classes = {row["class"]: row for row in odd["classes"]}
    assert [classes[c]["any_depth"] for c in ("uhat-left", "uhat-right")] == [False, False]
    assert classes["uhat-right"]["witness"]["step"] == "a"
    assert set(classes) == {
        *("uhat-left", "uhat-right", "softmax-fixed-precision", "ahat-looped", "rwkv7", "softmax")
    }


@pytest.mark.parametrize("columns", [40, 80])
def test_in_a_terminal_no_line_is_longer_than_it(columns, on_terminal) -> None:
    said = on_terminal(columns, "tasks", "language", "(a(ab)*b)*")
    assert said.code == 0
    assert len(said.out.splitlines()) > 40


def test_a_group_that_is_not_solvable_has_the_lower_ends_of_the_table(said, monkeypatch) -> None:
    monkeypatch.setattr(languages, "read_language", lambda *given: permuted(5))
    text = said("a")
    assert "with a group that is not solvable" in text
    assert "no fixed number if TC0 is not NC1" in text
    assert "\nsoftmax-log-bits" in text


def test_what_a_search_does_not_find_is_not_said(said) -> None:
    text = said("(a(ab)*b)*")
    assert "some depth, 3 or more" in text
    assert "Whether 3 layers suffice was not found: no two words up to length" in text
    text = said("a+b+a+b+a+b+")
    assert "6 to 13" in text
    assert "suffices 13: a formula that nests `once` so deep" in text


def test_a_net_of_a_language_is_written_and_passes(tmp_path, monkeypatch, depthlaw) -> None:
    monkeypatch.chdir(tmp_path)
    said = depthlaw("tasks language a*b* --net net.json")
    assert said.code == 0
    assert "net.json: a net of 2 layers of the class uhat-right; `depthlaw tasks" in said.out
    said = depthlaw("tasks check net.json")
    assert said.code == 0
    assert said.out.startswith("right on words of every length, exactly: its")
    assert "2 layers: as many as the table (2)" in said.out
    for words, why in {
        "a*b* --net net.json": "net.json exists; give another name, or --force to replace it",
        "(aa)* --net other.json": "no number of layers of hard attention was found",
    }.items():
        again = depthlaw("tasks language", *words.split())
        assert again.code == 2
        assert why in again.err
    assert not Path("other.json").exists()

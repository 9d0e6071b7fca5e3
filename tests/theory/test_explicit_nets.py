"""Nets in files: exact answers, and one line for what is wrong."""

from __future__ import annotations

import itertools
import json
import re
from dataclasses import replace

import pytest
from stored_nets import NETS, stored

from depthlaw.advisor.atlas import RULES, AtlasClass, classes
from depthlaw.advisor.base.quantities import UsageError
from depthlaw.ledger.cli.arguments import main
from depthlaw.theory.atlas.check import check
from depthlaw.theory.nets.classes import family_of, in_class
from depthlaw.theory.nets.json_format import net_of

FILES = sorted(NETS.glob("*.json"))
_HEAD = {"attention": "hard-right", "query": [[0] * 9], "key": [[0] * 8], "value": [[0] * 9]}
_HEAD |= {"output": []}


@pytest.mark.parametrize("file", FILES, ids=lambda file: file.stem)
def test_each_stored_net_is_right_and_equal_to_the_table(file, capsys) -> None:
    assert main(["tasks", "check", str(file), "--json"]) == 0
    said = json.loads(capsys.readouterr().out)
    assert said["wrong"] is None
    assert said["result"] == "as many as the table"
    assert said["words"] is None or said["words"] >= 8
    # Of only these no more is shown than that they are right on some words.
    some = ("parity", "parity-softmax-positions", "kgram")
    some += ("connectivity-linear", "reachability-thoughts", "majority", "dyck-one", "copying")
    some += ("circuit-loops", "copying-any", "multiplication")
    assert said["whole"] == (file.stem not in some and not file.stem.startswith("hops"))


def test_one_layer_more_is_worse(checked) -> None:
    net = stored("parity")
    idle = {"heads": []}
    code, said = checked(net | {"layers": [*net["layers"], idle]})
    assert code == 0
    assert "3 layers: more than the table (2)" in said


@pytest.mark.parametrize(
    ("change", "says"),
    [
        ({"class": "deltanet"}, "is not of the class deltanet: nets of the class deltanet are"),
        ({"class": "uhat-right"}, "a head has attention softmax; the class has hard-right"),
        ({"class": "counting"}, "does not show in weights; accepted are softmax"),
        ({"generator": {"polynomial": "open(1)"}}, "cannot read the generator"),
        ({"generator": {"polynomial": "x^2 - 2"}, "read": ["exit()"]}, "cannot read the number"),
        ({"class": "fast"}, "unknown class 'fast'; accepted are softmax"),
        ({"class": "softmx"}, "unknown class 'softmx'; did you mean softmax?"),
        ({"task": "chess"}, "family relu maximum and maximum-large, and with --atlas DIR tasks of"),
        ({"parameters": {"k": 2}}, "the task parity takes no parameters; got k"),
        ({"alphabet": ["0", "2"]}, "the letter '2' has no embedding"),
        ({"read": [1]}, "the read-out does not fit the width 9"),
        ({"positions": ["__import__", "i"]}, "cannot read the position"),
        ({"family": "convolution"}, "the family of nets 'convolution' is not known"),
        ({"residaul": False}, "unknown field 'residaul'; accepted are family, task"),
        ({"layers": [{"heads": [], "mpl": 1}]}, "unknown field 'mpl' in layer 1"),
        ({"layers": [{"heads": [], "residual": "false"}]}, "residual is true or false"),
        (
            {"layers": [{"heads": [_HEAD]}]},
            "key in head 1 of layer 1 is 1 x 8; the",
        ),
        ({"layers": [{"heads": [_HEAD | {"query": [["x"]]}]}]}, "query in head 1 of layer 1"),
        ({"end": ""}, "start and end are letters"),
        ({"positions": ["9^9^9^9", "i"]}, "cannot read the position '9^9^9^9'"),
        ({"labels": [False, True, False], "read": [[0] * 9] * 3}, "each label has one vector"),
        ({"labels": ["False", "True"], "read": [[0] * 9, [1] * 9]}, "are true and false"),
        ({"language": "a*"}, 'or a regular "language": "(ab)*", one of the two'),
    ],
)
def test_what_is_wrong_is_said_in_one_line(change, says, checked) -> None:
    code, said = checked(stored("parity") | change)
    assert code == 2
    assert says in said
    assert said.count("\n") == 1


def parts(value):
    """Every list and object in a net: where it stands."""
    for key in value if isinstance(value, dict) else range(len(value)):
        if isinstance(value[key], dict | list):
            yield value, key
            yield from parts(value[key])


@pytest.mark.parametrize("name", ["blocks-hard-left", "c2-deltanet", "parity-thoughts"])
def test_a_part_of_another_kind_is_refused(name) -> None:
    net = stored(name)
    for part, key in [*parts(net)]:
        kept = part[key]
        for part[key] in ({}, [], "", 7):
            if type(part[key]) is not type(kept):
                with pytest.raises(UsageError):
                    check(net, length=4)
        part[key] = kept


@pytest.mark.parametrize("bracket", ['{"a":', "["])
def test_a_file_that_is_nested_too_deep_is_no_wrong_net(bracket, tmp_path, capsys) -> None:
    file = tmp_path / "deep.json"
    file.write_text(bracket * 200_000)
    assert main(["tasks", "check", str(file)]) == 2
    said = capsys.readouterr()
    assert (said.out, said.err.count("\n")) == ("", 1)
    assert f"{file} is no JSON (it is nested too deep)" in said.err


@pytest.mark.parametrize("within", ["{%s}", '{"layers": [{"heads": [], %s}]}'])
def test_a_field_that_stands_twice_is_refused(within, tmp_path, capsys) -> None:
    file = tmp_path / "net.json"
    file.write_text(within % '"residual": true, "residual": false')
    assert main(["tasks", "check", str(file)]) == 2
    assert "is no JSON (the field 'residual' stands twice)" in capsys.readouterr().err


def test_so_many_words_are_refused(capsys) -> None:
    assert main(["tasks", "check", str(NETS / "parity.json"), "--length", "40"]) == 2
    assert "at most 1,000,000 words are run; try --length 18" in capsys.readouterr().err


def test_weights_that_break_their_class_are_refused() -> None:
    delta = stored("d4-deltanet")
    delta["layers"][0]["step"]["0123"]["matrix"] = [["3/2"]]
    assert "is not I - beta k k^T" in in_class(net_of(delta), "deltanet")
    assert in_class(net_of(stored("d4-deltanet")), "deltanet") == ""
    assert "is not diagonal" in in_class(net_of(stored("d4-deltanet")), "diagonal-ssm")
    residues = stored("s3-diagonal")
    residues["layers"][1]["step"][next(iter(residues["layers"][1]["step"]))]["add"] = [1]
    assert "adds to the state" in in_class(net_of(residues), "diagonal-ssm")


@pytest.mark.parametrize(
    ("kind", "answers"),
    [
        ("hard-right", [True, False, True]),
        ("hard-left", [True, True, False]),
        ("average", [True, True, True]),
        ("softmax", [True, True, True]),
        ("linear", [True, True, True]),
    ],
)
def test_kinds_of_attention(kind, answers) -> None:
    """One head that looks at a value with equal scores: the words 1, 10 and 01."""
    head = {"attention": kind, "base": 2, "value": [[0, 1]], "output": [[0], [1]]}
    layer = {"heads": [head | {"query": [[1, 1]], "key": [[1, 1]]}], "residual": False}
    net = net_of(two_letters([1, 0], [0, 1]) | {"layers": [layer], "read": [0, 1]})
    assert [net.answer(word) for word in (("1",), ("1", "0"), ("0", "1"))] == answers


def test_roots_of_polynomials_are_exact() -> None:
    head = {"attention": "linear", "query": [[0]], "key": [[0]], "value": [[1]], "output": [[0]]}
    body = two_letters(["x"], ["-1414213562373095/1000000000000000"])
    body |= {"generator": {"polynomial": "x^2 - 2", "above": 0}}
    net = net_of(body | {"layers": [{"heads": [head]}], "read": [1]})
    assert [net.answer((letter,)) for letter in "01"] == [True, False]


def two_letters(zero: list, one: list) -> dict:
    embedding = {"0": zero, "1": one}
    return {"family": "attention", "alphabet": ["0", "1"], "embedding": embedding}


def test_a_class_added_as_a_row_is_checked_at_once() -> None:
    row = dict.fromkeys(RULES, "") | {"key": "strict-pair", "name": "", "definition": ""}
    row |= {"unit": "layers", "family": "attention", "attention": "softmax weights"}
    parity = net_of(stored("parity"))
    assert in_class(parity, AtlasClass.of_row(row | {"most_heads": "2"}, "row 2")) == ""
    one = AtlasClass.of_row(row | {"most_heads": "k - 1"}, "row 2")
    assert "at most 1 head, not 2" in in_class(parity, one, {"k": 2})
    assert in_class(parity, one, {"k": 3}) == ""
    no_mlp = AtlasClass.of_row(row | {"mlp": "none"}, "row 2")
    assert in_class(parity, no_mlp) == "it has no MLP"


@pytest.mark.parametrize(
    ("cell", "says"),
    [
        ({"mlp": "some"}, "row 7, mlp: 'some' is not known; accepted are nothing, none, not last"),
        ({"masks": "causal past"}, "row 7, masks: 'past' is not known; accepted are none, causal"),
        (
            {"most_heads": "n + 1"},
            "row 7, most_heads: 'n + 1' is not known; accepted are nothing, ",
        ),
        ({"family": ""}, "row 7, family: '' is not known; accepted are words, attention"),
        ({"family": "recurrent"}, "row 7, arithmetic: a recurrent class names the numbers that"),
        (
            {"arithmetic": "exact"},
            "row 7, arithmetic: 'exact' is not known; accepted are nothing, ",
        ),
    ],
)
def test_a_cell_that_no_rule_knows_is_refused(cell, says) -> None:
    row = {"key": "a", "name": "", "definition": "", "unit": "", "family": "attention"}
    with pytest.raises(UsageError) as error:
        AtlasClass.of_row(row | cell, "classes.csv, row 7")
    assert says in str(error.value)


def test_every_recurrent_class_says_in_what_numbers_it_counts() -> None:
    """Their bounds turn on it: one layer that adds counts modulo 2 where integers wrap, and in no
    class of exact complex numbers."""
    named = re.compile(r"recurrent|state.space|diagonal|deltanet", re.IGNORECASE)
    for row in classes().values():
        recurrent = bool(named.search(f"{row.name} {row.definition}"))
        assert bool(row.arithmetic) == recurrent, row.key
        numbers = {"complex": "exact complex", "real": "exact real", "integer": "whole numbers"}
        assert numbers.get(row.arithmetic, "bits") in row.definition or not recurrent
    wrapping = {
        "family": "recurrent",
        "modulus": 2,
        "alphabet": ["0", "1"],
        "layers": [
            {
                "start": [0],
                "step": {bit: {"matrix": [[1]], "add": [int(bit)]} for bit in "01"},
                "emit": {"letters": "0 1", "rows": [[[0], "0 0"], [[1], "1 1"]]},
            }
        ],
    }
    net = net_of(wrapping)
    assert [net.answer(tuple(word)) for word in ("0", "01", "0110", "111")] == ["0", "1", "0", "1"]
    assert "residues may not" in in_class(net, "diagonal-ssm")
    floating = replace(classes()["diagonal-ssm"], arithmetic="floating")
    assert "the class counts in others (floating)" in in_class(net, floating)


def test_each_class_of_the_table_is_words_or_has_a_net_that_shows_it() -> None:
    """Of each family that a row names there are stored nets."""
    nets = [net_of(stored(file.stem)) for file in NETS.glob("*.json")]
    families = {family_of(net) for net in nets}
    assert families == {row.family for row in classes().values()} - {"words"}


@pytest.mark.parametrize("place", [0, 1, 2])
def test_a_layer_whose_output_projections_are_zero_is_the_identity(place: int) -> None:
    """Whatever its other matrices are, so that they get no gradient at first; one entry that is
    not zero changes answers."""
    words = [tuple(word) for n in (1, 2, 3) for word in itertools.product("01", repeat=n)]
    grown = json.loads(json.dumps(stored("parity")))
    before = [net_of(grown).answer(word) for word in words]
    layer = json.loads(json.dumps(grown["layers"][0]))
    layer["heads"][0]["value"][0][2] = 5
    zeros = [[0] * len(row) for row in layer["mlp"]["out"]]
    layer["heads"][0]["output"] = [row[:2] for row in zeros]
    layer["mlp"]["out"] = zeros
    grown["layers"].insert(place, layer)
    assert [net_of(grown).answer(word) for word in words] == before
    layer["heads"][0]["output"][6][0] = 1
    assert [net_of(grown).answer(word) for word in words] != before

"""The atlas asked from Python: ends at numbers, nets against languages, nets of languages."""

from __future__ import annotations

import itertools
import re
from math import inf

import numpy as np
import pytest
from stored_nets import NETS, changed, stored

import depthlaw
from depthlaw.advisor.atlas import atlas_rows
from depthlaw.advisor.base.quantities import UsageError
from depthlaw.theory.atlas.check import check
from depthlaw.theory.atlas.ends import Result, at
from depthlaw.theory.atlas.language_nets import net_of_language
from depthlaw.theory.atlas.languages import SEARCH, depth_of_language
from depthlaw.theory.nets.batched import answers
from depthlaw.theory.nets.json_format import net_of

# --- ends at numbers ---


@pytest.mark.parametrize(
    ("task", "class_", "numbers", "needed", "suffices", "gap"),
    [
        ("dyck", "uhat-right", {"D": 3}, 4, 4, "closed"),
        ("blocks", "uhat-two-way", {"k": 1}, 1, 1, "closed"),
        ("blocks", "uhat-two-way", {"k": 5}, 3, 3, "closed"),
        ("parity", "counting", {}, inf, None, "closed"),
        ("hops", "one-causal-head", {"k": 16}, None, 6, "open"),
        ("maximum-large", "relu", {"n": 12}, 2, 2, "ends meet"),
        ("maximum-large", "relu", {"n": 13}, 2, 3, "open"),
        ("regular", "ahat-looped", {"n": 1000}, None, 89, "open"),
        ("regression", "linear-attention", {"n*": 13}, 3, 3, "closed"),
        # S3 is a dihedral group, and a solvable one of derived length 2.
        ("group-words", "deltanet", {"group": "S3"}, 2, 2, "ends meet"),
        ("group-words", "deltanet", {"group": "C2"}, 1, 1, "ends meet"),
        ("group-words", "deltanet", {"d": 5, "e": 12}, 2, 4, "open"),
        ("dyck", "relu", {}, None, None, "open"),
        # At least one letter a is R-trivial.
        ("stair", "softmax-fixed-precision", {"k": 1}, None, None, "open"),
        ("stair", "softmax-fixed-precision", {"k": 2}, inf, None, "ends meet"),
    ],
)
def test_ends_at_numbers(task, class_, numbers, needed, suffices, gap) -> None:
    found = at(task, class_, **numbers)
    assert (found.needed, found.suffices, found.gap) == (needed, suffices, gap)


def test_every_row_is_asked_and_says_who_and_how() -> None:
    rows = depthlaw.atlas()
    assert [(row.task, row.class_) for row in sorted(rows, key=lambda row: row.task)] == [
        (row.task.key, row.class_.key) for row in sorted(atlas_rows(), key=lambda row: row.task.key)
    ]
    for row in rows:
        for end in (row.lower, row.upper):
            assert end is None or (end.source and end.mark and end.verdict and end.depth)
    (row,) = depthlaw.atlas("hops", "one-causal-head", k=np.int64(16))
    assert row.upper.value == 6
    assert depthlaw.atlas("blocks", k=4.0) == depthlaw.atlas("blocks", k=4)
    assert depthlaw.atlas("blocks", k=4) != depthlaw.atlas("blocks", k=5)
    assert depthlaw.atlas("dyck", "uhat-right")[0].lower.value.what == "D"


@pytest.mark.parametrize(
    ("asked", "says"),
    [
        ({"task": "dyk"}, "unknown task 'dyk'; did you mean dyck?"),
        ({"task": "dyck", "class_": "uhat"}, "unknown class 'uhat'; did you mean uhat-"),
        ({"task": "dyck", "depth": 3}, "the task dyck has no letter 'depth'; accepted are D, H, k"),
        ({"task": "dyck", "D": 2.5}, "D is '2.5'; give a whole number"),
        ({"task": "dyck", "D": "2"}, "D is '2'; give a whole number"),
        ({"task": "dyck", "D": True}, "D is 'True'; give a whole number"),
        ({"D": 2}, "letters have a meaning in a task"),
        # What rows say of a task, they say where its definition holds.
        ({"task": "maximum", "n": 2}, "the task maximum asks for n >= 3"),
        ({"task": "maximum", "n": 16}, "the task maximum asks for n <= 8"),
        ({"task": "ordered", "n": 2}, "the task ordered asks for n >= 3"),
        ({"task": "blocks-prediction", "k": 1}, "asks for k >= 3"),
        ({"task": "kth-one", "k": 3, "n": 2}, "the task kth-one asks for k <= n"),
        ({"task": "letters", "k": 0}, "the task letters asks for k >= 1"),
        ({"tables": "nowhere"}, "'nowhere' holds no tables"),
    ],
)
def test_what_cannot_be_asked_is_one_line(asked, says) -> None:
    with pytest.raises(UsageError) as error:
        depthlaw.atlas(**asked)
    assert says in str(error.value)
    assert "\n" not in str(error.value)


# --- nets ---


def test_a_net_is_checked_as_a_file_as_data_and_as_a_value() -> None:
    file = NETS / "dyck-hard.json"
    of_file, of_body = depthlaw.check(file), depthlaw.check(stored("dyck-hard"))
    net = net_of(stored("dyck-hard"))
    of_value = depthlaw.check(net, "dyck", "uhat-right", k=2, D=2)
    assert of_file == of_body == of_value
    assert (of_file.result, of_file.ends.needed) == (Result.AS_MANY, 3)
    # Another task of the same words, and of the same net in another class.
    assert depthlaw.check(net, "dyck", "uhat-right", k=2, D=3).result == Result.WRONG
    with pytest.raises(UsageError, match="the net is not of the class uhat-left"):
        depthlaw.check(net, "dyck", "uhat-left", k=2, D=2)


def test_a_net_is_checked_against_a_language_of_ones_own() -> None:
    net = stored("letters-hard")
    bare = {k: v for k, v in net.items() if k not in ("task", "parameters")}
    language = {"language": "(a|b)*a(a|b)*a(a|b)*a(a|b)*"}
    found = check(bare | language)
    # That three are enough the search does not find.
    assert (found.result, found.found.every_length) == (Result.NO_UPPER, True)
    assert (found.ends.needed, found.ends.lower.source) == (3, SEARCH)
    # Two letters a are another language.
    found = check(bare | {"language": "(a|b)*a(a|b)*a(a|b)*", "class": "uhat-right"})
    assert found.result == Result.WRONG
    assert found.found.wrong.word == ("a", "a")
    with pytest.raises(UsageError, match="one of the two"):
        check(net | language)


def test_binary_fractions_are_read_and_others_are_written_out() -> None:
    net = stored("parity")
    assert check(net | {"read": [float(x) for x in net["read"]]}).right
    way = ["layers", 0, "heads", 0, "value"]
    value = net["layers"][0]["heads"][0]["value"]
    half = changed(net, way, [[0.5 * x for x in row] for row in value])
    exact = changed(net, way, [[f"{x}/2" for x in row] for row in value])
    assert check(half, length=4).found == check(exact, length=4).found
    with pytest.raises(UsageError, match='no binary fraction, .* write the string "1/10"'):
        check(net | {"read": [0.1, *net["read"][1:]]})


# --- nets of languages ---


@pytest.mark.parametrize(
    ("language", "alphabet", "class_", "layers"),
    [
        ("(ab)*", None, "uhat-right", 2),
        ("(a|b)*a(a|b)*", None, "uhat-right", 1),
        ("(a|b)*", None, "uhat-right", 0),
        # What stands first is seen by one layer to the left, by two to the right.
        ("a(a|b)*", None, "uhat-left", 1),
        # Letters that move all states alike.
        ("(a|c)*(b|d)*", None, "uhat-right", 2),
    ],
)
def test_a_search_hands_out_a_net_that_is_right_on_all_words(
    language, alphabet, class_, layers
) -> None:
    net = net_of_language(depth_of_language(language, alphabet))
    assert (net["class"], len(net["layers"])) == (class_, layers)
    found = check(net)
    assert (found.result, found.found.every_length) == (Result.AS_MANY, True)
    # By another route: Python's own expressions.
    words = [w for n in range(1, 6) for w in itertools.product(net["alphabet"], repeat=n)]
    for word, said in answers(net_of(net), words):
        assert said == bool(re.fullmatch(language, "".join(word)))
    if layers:
        net["layers"][-1]["mlp"]["bias"][0] -= 1
        assert check(net, length=3).result == Result.WRONG


def test_no_net_is_handed_out_where_none_is_known() -> None:
    for language in ("(aa)*", "(a(ab)*b)*"):
        with pytest.raises(UsageError, match="no number of layers of hard attention was found"):
            net_of_language(depth_of_language(language))

"""Certificates stand on their own, and every change that breaks the argument is seen."""
import copy
import json

import pytest

from depthlaw.theory.certificates import load, product_certificate, recheck, shipped
from depthlaw.theory.separation_rank.measured import coordinate_net

NAME = "separation_rank-upper_bound_deep.json"


@pytest.fixture
def data():
    return load(shipped()[NAME])


def confirmed(data) -> bool:
    return all(step.holds for step in recheck(data))


def test_shipped_certificate_stands_and_is_what_the_code_writes(data):
    assert confirmed(data)
    assert data == json.loads(json.dumps(product_certificate(coordinate_net(6, 30), 14)))
    assert data["claim"] == "separation_rank/upper_bound_deep"


def change(data, *path, to):
    inner = data
    for key in path[:-1]:
        inner = inner[key]
    inner[path[-1]] = to
    return data


@pytest.mark.parametrize(("path", "to"), [
    (("tokens",), 12), (("tokens",), 15), (("exponents", 0), 1), (("forms", 0, 0), 5),
    (("weights", "value", 3, 1, 0, 5), 1), (("weights", "output", 0, 2, 2, 0), 0), (("weights", "key", 0, 0, 0), [0] * 6),
])
def test_a_change_that_matters_is_seen(data, path, to):
    assert not confirmed(change(data, *path, to=to))


def test_a_shallower_net_is_no_counterexample():
    steps = recheck(product_certificate(coordinate_net(6, 29), 14))
    assert [step.holds for step in steps] == [True] * 5 + [False]


def test_fewer_heads_can_be_certified():
    assert confirmed(product_certificate(coordinate_net(16, 216, heads=8), 34))


@pytest.mark.parametrize("broken", [
    {}, {"kind": "nothing"}, {"kind": "separation_rank/product_of_forms"}, [],
    {"kind": "separation_rank/product_of_forms", "width": 6, "depth": "x", "heads": 6, "tokens": 14},
])
def test_what_is_no_certificate_is_refused_in_one_line(broken):
    with pytest.raises(ValueError, match="certificate|invalid literal") as error:
        recheck(broken)
    assert "\n" not in str(error.value)


@pytest.mark.parametrize("field", ["weights", "forms", "exponents", "depth"])
def test_missing_fields_and_wrong_shapes_are_refused(data, field):
    missing = copy.deepcopy(data)
    del missing[field]
    with pytest.raises(ValueError, match="not a certificate"):
        recheck(missing)
    with pytest.raises(ValueError, match="integers of shape"):
        recheck(change(data, "weights", "query", to=[[1, 2], [3]]))


def test_files_that_cannot_be_read(tmp_path):
    for text in ("", "[1]", "{"):
        (tmp_path / "c.json").write_text(text)
        with pytest.raises(ValueError, match="JSON object"):
            load(tmp_path / "c.json")
    with pytest.raises(ValueError, match="cannot be read"):
        load(tmp_path / "none.json")

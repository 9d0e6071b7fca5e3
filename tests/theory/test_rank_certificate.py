"""Certificates of separation ranks: they stand as made, and fall with every change."""

import copy
import json

import pytest

from depthlaw.theory.certificates.recheck import finding, recheck
from depthlaw.theory.separation_rank.rank_certificate import certificate


@pytest.fixture(scope="module")
def made():
    return json.loads(json.dumps(certificate(2, 2)))


def broken(data) -> str:
    """The first step that does not hold, or nothing."""
    return next((step.says for step in recheck(data) if not step.holds), "")


@pytest.mark.parametrize(
    ("width", "depth", "heads", "rank"), [(2, 1, 1, 3), (2, 2, 1, 18), (2, 2, 2, 17), (3, 2, 1, 49)]
)
def test_certificates_stand(width, depth, heads, rank):
    data = json.loads(json.dumps(certificate(width, depth, heads=heads)))
    assert data["rank"] == rank
    assert broken(data) == ""


def added(*path):
    """One more at a place of a certificate."""

    def change(data):
        *way, last = path
        for step in way:
            data = data[step]
        data[last] += 1

    return change


def piece_twice(data):
    data["pieces"].append(data["pieces"][1])
    data["rank"] += 6


def other_row(data):
    piece = data["pieces"][3]
    piece["rows"][0] = next(n for n in range(20) if n not in piece["rows"])


@pytest.mark.parametrize(
    ("change", "why"),
    [
        (added("weights", "query", 0, 0, 0, 0), "invertible"),
        (added("pieces", 2, "solutions", 1, 3), "order 2"),
        (added("rank"), "the sizes add up to 19"),
        (piece_twice, "own order"),
        (added("pieces", 1, "rows", 0), "repeat"),
        (other_row, "order 3"),
        (lambda data: data["pieces"][0]["solutions"].pop(), "3 solutions"),
        (lambda data: data.update(prime=4194288), "not prime"),
        (lambda data: data.update(prime=3), "does not exceed the degree 4"),
        (lambda data: data.update(prime=2**31 - 1), "exact for"),
        (lambda data: data.update(claim="separation_rank/upper_bound_deep"), "what its kind says"),
        (lambda data: data.update(says="The separation rank is 18."), "what its kind says"),
    ],
)
def test_a_change_breaks_the_step_that_it_concerns(made, change, why):
    data = copy.deepcopy(made)
    change(data)
    assert why in broken(data)


def test_shapes_that_are_none_are_refused(made):
    data = copy.deepcopy(made)
    data["heads"] = 3
    with pytest.raises(ValueError, match="heads must divide"):
        recheck(data)


@pytest.mark.parametrize(
    ("field", "value"),
    [("heads", True), ("heads", 1.0), ("width", "2"), ("prime", 4194287.0), ("seed", 0)],
)
def test_types_that_do_not_fit_are_refused(made, field, value):
    with pytest.raises(ValueError, match="must be a whole number|missing or unknown"):
        recheck(made | {field: value})


def test_small_parts_are_decided_without_chance(made):
    assert not [step.says for step in recheck(made) if "chance" in step.says]
    assert "5 of 5 catalecticants have the rank of their shorter side" in finding(made).says
    assert finding(made).independent == "yes"


def test_a_shape_whose_forms_are_too_large_is_refused(made):
    weights = {name: [[[[1] * 6] * 6]] * 4 for name in made["weights"]}
    with pytest.raises(ValueError, match="more than 8 GB"):
        recheck(made | {"width": 6, "depth": 4, "weights": weights})

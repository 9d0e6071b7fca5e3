"""Ranks while nets are trained, and what of the linearised theory softmax nets show."""

from fractions import Fraction
from types import SimpleNamespace

import numpy as np
import pytest
from judging import control_verdict

from depthlaw.empirics.trained_rank import ranks_in_training
from depthlaw.empirics.trained_rank.ranks_in_training import (
    ATTENTIONS,
    effective_rank,
    numerical_rank,
    student_cases,
    students_of,
    teacher_of,
)
from depthlaw.theory.claims.definition import Case, Exact, find
from depthlaw.theory.claims.verdict import Verdict
from depthlaw.theory.separation_rank.linear_attention import forward
from depthlaw.theory.separation_rank.rank_at_weights import integer_net, whole_numbers

TINY = student_cases(lambda width, depth: depth == 2, ATTENTIONS[:1])["full"][0]


def test_ranks_of_singular_values_known_by_hand():
    values = np.array([[1.0, 0.5, 1e-4, 0.0], [1.0, 1.0, 1.0, 1.0]])
    assert [numerical_rank(each, Fraction(1, 1000)) for each in values] == [(2, 2), (4, 4)]
    assert numerical_rank(values[0], Fraction(1, 100_000)) == (3, 3)
    # Entropy of 2/3 and 1/3.
    half = effective_rank(np.array([1.0, 0.5, 0.0]))
    assert half == pytest.approx(3 / 2 ** (2 / 3))
    assert effective_rank(3 * values[1]) == pytest.approx(4)


def test_exact_net_has_the_values_of_the_students():
    students = students_of(TINY, "cpu", "")
    weights = students.weights(TINY.updates)
    net = integer_net(
        *(weights[name][1] for name in ("query", "key", "value", "output", "read_out"))
    )
    from depthlaw.empirics.trained_rank.teachers import grid

    left, right = grid(teacher_of(TINY))
    ids = np.concatenate((left[:3], right[:3]), axis=1)
    exact = forward(net, whole_numbers(weights["embedding"][1])[ids])
    floated = students.values(TINY.updates)[1][range(3), range(3)]
    ratios = [float(Fraction(int(exact[i]), int(exact[0]))) for i in range(3)]
    assert ratios == pytest.approx(list(floated / floated[0]), rel=1e-9)


def test_exact_rank_is_the_least_of_all_seeds(monkeypatch):
    found = iter([Exact(18), Exact(17, misses=1e-9), *[Exact(18)] * 14])
    monkeypatch.setattr(ranks_in_training, "rank_at", lambda net, rng: next(found))
    assert find("trained_rank/rank_stays_generic").measure(
        Case(**TINY.fields() | {"step": 0})
    ) == Exact(17, misses=1e-9)


@pytest.mark.slow
@pytest.mark.train
def test_the_negative_control_of_the_claim_for_a_gpu_fails():
    """Those of the other claims are in the reference ledger."""
    assert control_verdict(find("trained_rank/wide_nets_gain_more_by_layers")) is Verdict.FAILS


def test_tokens_in_a_smaller_space_lower_the_exact_rank(monkeypatch):
    """Generic matrices of width 2 and one layer have rank 3; of tokens on a line the net of width 1
    is left, with rank 2."""
    rng = np.random.default_rng(0)
    shapes = dict.fromkeys(("query", "key", "value", "output"), (1, 1, 1, 2, 2))
    shapes |= {"embedding": (1, 6, 2), "read_out": (1, 2)}
    weights = {name: rng.normal(size=shape) for name, shape in shapes.items()}
    monkeypatch.setattr(
        ranks_in_training,
        "students_of",
        lambda *_: SimpleNamespace(
            weights=lambda step: {name: array.copy() for name, array in weights.items()}
        ),
    )
    case = Case(width=2, depth=1, replicas=1, step=0)
    assert ranks_in_training._ranks(case, "cpu", "").value == 3
    weights["embedding"] = weights["embedding"][..., :1] * np.array([1.0, 2.0])
    assert ranks_in_training._ranks(case, "cpu", "").value == 2

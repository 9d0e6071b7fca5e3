"""Gradients of real nets: their exact laws, and faults that the claims must see."""

import math

import numpy as np
import pytest

from depthlaw.theory.claims.definition import find
from depthlaw.theory.claims.values import Case, Outside
from depthlaw.theory.claims.verdict import Verdict, judge
from depthlaw.theory.signal_propagation import backward as net, last_layer_gradient

SLOPE, SIZE = (
    find(f"signal_propagation/{name}") for name in ("last_gradient_slope", "pre_ln_gradient_size")
)


def test_the_slope_is_measured_by_the_reverse_mode(monkeypatch):
    """No slope of a typed recursion: a fault in the gradient is seen."""
    case = Case(**SLOPE.cases("quick")[0].fields() | {"replicas": 64, "start": "independent"})
    true = net.backward

    def faulty(upstream, layers, *rest, **kinds):
        for layer in true(upstream, layers, *rest, **kinds):
            yield layer._replace(second=layer.second * math.sqrt(len(layers)))

    assert judge(SLOPE, case, SLOPE.measure(case)).verdict is not Verdict.FAILS
    monkeypatch.setattr(last_layer_gradient, "backward", faulty)
    assert judge(SLOPE, case, SLOPE.measure(case, 1)).verdict is Verdict.FAILS


@pytest.mark.parametrize(("pre", "attention"), [(False, 1.0), (True, 7.0)])
def test_the_wrong_order_and_a_large_attention_branch_are_seen(pre, attention):
    case = SIZE.cases("quick")[0]
    found = last_layer_gradient.log_sizes(case, 0, pre=pre, attention=attention)
    assert judge(SIZE, case, found, alpha=1e-5).verdict is Verdict.FAILS


@pytest.mark.parametrize("depth", [1, 4])
def test_at_equal_tokens_the_mean_is_exact(depth):
    case = Case(width=24, tokens=3, start="equal", loss="linear", depth=depth, replicas=1000)
    low, high = last_layer_gradient.log_sizes(case, 0, pre=True).interval(1e-4)
    exact = -float(last_layer_gradient.mean_log_variance(depth, 24, attention=True).mid())
    assert low <= exact <= high


@pytest.mark.parametrize("attention", [True, False])
def test_the_mean_log_of_a_sum_against_sampling(attention):
    rng, depth, width = np.random.default_rng(0), 3, 5
    squares = (np.maximum(rng.normal(size=(20_000, depth, width)), 0) ** 2).sum((1, 2)) / width
    logs = np.log(1 + depth * attention + squares)
    exact = last_layer_gradient.mean_log_variance(depth, width, attention=attention)
    assert float(exact.rad()) < 1e-12
    assert abs(logs.mean() - float(exact.mid())) < 4 * logs.std() / math.sqrt(len(logs))


def test_a_net_whose_last_layer_is_dead_breaks_the_assumption():
    case = Case(width=3, tokens=2, start="independent", loss="linear", depth=1, replicas=64)
    decision = judge(SIZE, case, SIZE.measure(case))
    assert decision.verdict is Verdict.OUT_OF_SCOPE
    assert "active" in decision.reason
    slope = Case(**case.fields() | {"shallow": 1, "deep": 2})
    assert last_layer_gradient.slopes(slope, 0, pre=True) == Outside(last_layer_gradient.DEAD)

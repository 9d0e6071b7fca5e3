"""Budgets of every kind become one size: hand answers, contradictions, limits."""

from __future__ import annotations

import math
from dataclasses import replace
from fractions import Fraction

import pytest
from hypothesis import given, settings, strategies as st

from depthlaw.advisor.architecture import Architecture
from depthlaw.advisor.base.quantities import UsageError
from depthlaw.advisor.budgets import Budget, Resolved, read_bytes, resolve, serving_note
from depthlaw.advisor.counting import count, flops, memory
from depthlaw.advisor.hardware import gpu
from depthlaw.advisor.latency import LatencyPoint, fit
from depthlaw.advisor.shapes import Constraints, Target, nearest, shapes, template

MIXTURE = Constraints(experts=64, active_experts=6, shared_experts=2, dense_layers=1)
# 2 ms, 0.25 ms a layer, and 1 ms for 1e8 weights' worth of L d^2.
PHONE = fit(
    [
        LatencyPoint(layers, width, 2 + Fraction(layers, 4) + Fraction(layers * width**2, 10**8))
        for layers in (8, 16, 32)
        for width in (512, 1024)
    ]
)
# One width: 2 ms, 1 ms a layer.
LINE = fit([LatencyPoint(n, 960, Fraction(2 + n)) for n in (8, 16, 32)])
BOTH = Budget(total=3e8, layer_milliseconds=0.1, milliseconds=20, bandwidth=1e12, latency=PHONE)


# --- sizes ----------------------------------------------------------------------------------------


def test_any_of_size_flops_and_tokens_give_the_rest() -> None:
    """C = 6 N D, and D = 20 N where tokens are open: 1.2e22 = 120 N^2 for N = 1e10."""
    done = resolve(Budget(flops=1.2e22), Constraints())
    assert done.target.value == pytest.approx(1e10)
    assert (done.tokens, done.flops) == (pytest.approx(2e11), 1.2e22)
    done = resolve(Budget(flops=6e21, tokens=1e12), Constraints())
    assert (done.target, done.tokens) == ((1e9, "total"), 1e12)
    done = resolve(Budget(total=1e9, tokens=1e11, gpu="H100", gpus=8), Constraints())
    assert (done.flops, done.hours) == (6e20, pytest.approx(6e20 / (8 * 3600 * 0.4 * 989.4e12)))
    assert resolve(Budget(tokens=6e10), Constraints()).target.value == 3e9


def test_of_experts_the_active_parameters_are_trained() -> None:
    done = resolve(Budget(flops=1.2e20), MIXTURE)
    assert done.target == (1e9, "active")
    given = resolve(Budget(total=3e10, flops=1e22), MIXTURE)
    active = [count(s.architecture).active for s in shapes(given.target, MIXTURE)]
    assert 6 * min(active) <= 1e22 / (given.tokens or 0) <= 6 * max(active)


@settings(deadline=None, max_examples=20)
@given(st.floats(1e8, 1e12), st.floats(1e9, 1e13))
def test_size_tokens_and_flops_are_consistent(size: float, tokens: float) -> None:
    """Inverse consistent: each two of three numbers give the third."""
    spent = resolve(Budget(total=size, tokens=tokens), Constraints()).flops
    assert spent is not None
    assert resolve(Budget(total=size, flops=spent), Constraints()).tokens == pytest.approx(tokens)
    found = resolve(Budget(flops=spent, tokens=tokens), Constraints()).target
    assert found.value == pytest.approx(size)


def test_six_operations_per_parameter_and_token_are_counted_ones() -> None:
    """C = 6 N D against every matrix product of a net with tied embeddings, without attention."""
    shape = nearest(Target(3e9), template(Target(3e9), Constraints()), 28)
    assert 3 * flops(shape.architecture).weights == pytest.approx(6 * shape.value, rel=1e-3)


@pytest.mark.parametrize(
    ("budget", "loops"),
    [
        (Budget(gpu="H100", gpus=64, hours=336), 4),
        (Budget(flops=1e22, tokens=1e12), 4),
        (Budget(flops=1e21, total=1e9), 8),
    ],
)
def test_what_a_budget_trains_costs_the_budget_at_every_pass_of_a_loop(
    budget: Budget, loops: int
) -> None:
    """By every matrix product of a net of some depth, whose input table is the output's; by the
    weights once it would be 3 to 6 times the budget."""
    c = Constraints(loops=loops, tied=True)
    done = resolve(budget, c)
    net = nearest(done.target, template(done.target, c), 12 * loops).architecture
    assert 3 * flops(net).weights * (done.tokens or 0) == pytest.approx(done.flops, rel=0.15)
    assert any("per parameter passed" in n or "each parameter passed" in n for n in done.notes)


# --- contradictions -------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("budget", "why"),
    [
        (Budget(), "nothing fixes a size"),
        (Budget(gpu="H100"), "nothing fixes a size"),
        (Budget(milliseconds=20), "nothing fixes a size"),
        (Budget(milliseconds=20, latency=LINE), "nothing fixes a size"),
        (Budget(total=3e9, nonembedding=3e9), "more than one number of parameters"),
        (Budget(total=3e9, active=3e9), "total and active"),
        (Budget(hours=3), "hours of which GPU"),
        (Budget(total=1e9, gpus=8), "of which type"),
        (Budget(total=1e9, gpu="abacus"), "'abacus' is unknown"),
        (Budget(flops=1e22, gpu="H100", gpus=64, hours=336), "1e.22 training FLOPs.* to 3.06e"),
        (Budget(total=3e9, tokens=1e12, flops=1e21), "1.8e.22 FLOPs .* more than the 1e.21"),
        (Budget(total=3e9, tokens=1e14, gpu="A100", hours=1), "they allow .* tokens, or"),
        (Budget(total=0.0), "number of parameters is '0.0'"),
        (Budget(total=math.nan), "is 'nan'"),
        (Budget(flops=math.inf), "is 'inf'"),
        (Budget(total=1e16), "'1e.16'; accepted"),
        (Budget(total=3e9, utilisation=1.2), "up to 1,"),
        (Budget(gpu="Apple M4 Max", hours=10), "no rate of training is listed"),
        (Budget(total=3e9, gpu="H100", gpus=0), "number of GPUs is '0'"),
        (Budget(flops=1e3), "comes to"),
        (Budget(total=True), "is 'True'"),
        (Budget(total=10**5000), "with thousands of digits"),
        (Budget(total="3B"), "is '3B'"),  # type: ignore[arg-type]
        (Budget(total=3e9, gpu="H100", gpus=1.5), "1.5 GPUs"),  # type: ignore[arg-type]
        (Budget(total=3e9, bytes_per_weight=32), "bytes of a weight is '32'"),
        (Budget(memory=1e3), "no net keeps the limits"),
        (
            Budget(total=70e9, memory=24e9),
            "70B parameters keeps the limits: .*the largest that does",
        ),
        (Budget(total=7e9, kv_bytes=1e5), "for the KV cache of 4,096 tokens"),
        (Budget(total=3.5e8, milliseconds=20, bandwidth=20e9), "read its weights at 20 GB/s"),
        (Budget(total=3.5e8, milliseconds=3, latency=PHONE), "measured points.*, more than 3 ms"),
        (Budget(total=3e9, layer_milliseconds=0.1), "layer needs .*--ms-per-token.*--bandwidth"),
        (Budget(total=3e9, layer_milliseconds=0.1, milliseconds=20), "layer needs a bandwidth"),
        (BOTH, "layer and --latency do not go together"),
    ],
)
def test_contradictions_get_one_clear_line(budget: Budget, why: str) -> None:
    with pytest.raises(UsageError, match=why) as caught:
        resolve(budget, Constraints())
    assert str(caught.value).isprintable()
    assert len(str(caught.value)) < 300


@pytest.mark.parametrize("name", ["total", "flops", "tokens", "memory", "bandwidth", "kv_bytes"])
@settings(max_examples=30)
@given(value=st.floats(allow_nan=True, allow_infinity=True))
def test_any_number_gives_a_size_in_range_or_a_usage_error(name: str, value: float) -> None:
    try:
        done = resolve(Budget(**{name: value}), Constraints())  # type: ignore[arg-type]
    except UsageError:
        return
    assert 1e3 <= done.target.value <= 1e15


# --- limits ---------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("budget", "constraints"),
    [
        (Budget(memory=24e9), Constraints()),
        (Budget(memory=8e9), Constraints(context=32768)),
        (Budget(memory=24e9, bytes_per_weight=0.5), Constraints()),
        (Budget(memory=80e9), MIXTURE),
        (Budget(milliseconds=20, bandwidth=50e9), Constraints()),
        (Budget(milliseconds=20, bandwidth=50e9, memory=4e9), MIXTURE),
    ],
)
def test_the_largest_size_keeps_the_limits_and_a_fifth_more_does_not(
    budget: Budget, constraints: Constraints
) -> None:
    done = resolve(budget, constraints)

    def fits(size: float) -> bool:
        found = (shape.architecture for shape in shapes(Target(size), constraints))
        return any(not done.excludes(a) for a in found if 50 < a.aspect < 150)

    assert fits(done.target.value)
    assert not fits(1.2 * done.target.value)


def test_memory_is_what_counting_says() -> None:
    a = Architecture(32, 4096, 32, 11008, 32000)
    needed = memory(a).serving
    target = Target(count(a).total)
    assert Resolved(target, Budget(memory=needed)).excludes(a) is None
    assert "weights and KV cache" in str(Resolved(target, Budget(memory=needed - 1)).excludes(a))
    assert Resolved(target, Budget(kv_bytes=memory(a).kv_cache)).excludes(a) is None
    assert "KV cache" in str(Resolved(target, Budget(kv_bytes=memory(a).kv_cache - 1)).excludes(a))


def test_a_token_reads_the_active_weights_at_every_pass() -> None:
    tied = Architecture(2, 64, 1, 256, 1000, tied=True)
    assert read_bytes(tied, 2) == 2 * count(tied).total
    untied = tied.with_(tied=False)
    assert read_bytes(untied, 2) == read_bytes(tied, 2)
    looped = tied.with_(layers=8, unique_layers=2)
    plain = tied.with_(layers=8)
    assert read_bytes(looped, 2) == read_bytes(plain, 2) > 3 * read_bytes(tied, 2)


def test_a_limit_of_milliseconds_without_measurements_names_the_bandwidth() -> None:
    """350M in 16 bits are 0.7 GB: 50 times a second, 35 GB/s; and nothing is excluded."""
    budget = Budget(total=3.5e8, milliseconds=20)
    done = resolve(budget, Constraints())
    a = shapes(done.target, Constraints())[0].architecture
    note = serving_note(budget, Constraints(), a)
    assert f"{2 * count(a).total / 1e6:.0f} MB of weights" in note
    assert "at least 35" in note
    assert "the Apple A16 (51.2 GB/s at best)" in note
    assert "excludes nothing" in note
    assert serving_note(Budget(total=3.5e8), Constraints(), a) is None
    assert not any(done.excludes(s.architecture) for s in shapes(done.target, Constraints()))


def test_a_gpu_without_training_is_what_serves() -> None:
    done = resolve(Budget(total=7e9, gpu="RTX 4090", milliseconds=20), Constraints())
    assert done.budget.bandwidth == gpu("RTX 4090").bandwidth
    assert "served on one RTX 4090" in done.notes[0]
    with pytest.raises(UsageError, match="read its weights at 1.01 TB/s"):
        resolve(Budget(total=14e9, gpu="RTX 4090", milliseconds=20), Constraints())


def test_bandwidth_alone_bounds_no_depth_and_says_so() -> None:
    a = Architecture(32, 1024, 16, 4096, 32000)
    budget = Budget(total=count(a).total, milliseconds=20, bandwidth=2e12)
    note = serving_note(budget, Constraints(), a)
    assert "bounds bytes, not depth" in note
    slow = replace(budget, layer_milliseconds=0.5)
    note = serving_note(slow, Constraints(), a)
    assert "not depth" not in note
    read = 1000 * read_bytes(a, 2) / 2e12
    for limit, kept in ((16 + read + 0.001, True), (16 + read - 0.001, False)):
        done = Resolved(Target(count(a).total), replace(slow, milliseconds=limit))
        assert (done.excludes(a) is None) == kept


@pytest.mark.parametrize("each", [None, 0.05])
def test_a_limit_that_the_cache_breaks_is_said_with_the_context_at_which_it_holds(
    each: float | None,
) -> None:
    a = Architecture(32, 4096, 32, 14336, 128256, kv_heads=8, context=131072)
    weights = 1000 * read_bytes(a, 2) / 2.039e12 + 32 * (each or 0)
    number = 1000 * 2 * 2 * 32 * 1024 / 2.039e12  # of one token in the cache
    full = weights + number * 131072

    def note(limit: float) -> str:
        served = {"bandwidth": 2.039e12, "layer_milliseconds": each}
        budget = Budget(total=count(a).total, milliseconds=limit, **served)
        return serving_note(budget, Constraints(), a)

    assert "holds up to" not in note(full + 0.01)
    said = note(weights + number * 20_050)
    assert "holds up to 20,000 tokens of context only" in said
    assert f"at 131,072 a token takes {full:.1f} ms" in said
    assert "holds up to 0 tokens" in note(weights + number / 2)

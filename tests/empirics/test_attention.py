"""The own attention of what is trained on a CPU against torch's kernels, its gradients against
differences, and dropout's draws."""

import math

import numpy as np
import pytest
import torch

from depthlaw.empirics.nets import attention
from depthlaw.empirics.nets.attention import (
    SHORT,
    SHORTEST,
    Projections,
    SoftmaxRows,
    attend,
    dropped,
)

U = 2.0**-53
SIZES = [(4, 1, 1, 3), (2, 3, 5, 4), (2, 2, SHORTEST, 3), (2, 2, SHORTEST + 1, 3), (1, 2, SHORT, 5)]
MASKS = ["none", "causal", "shared", "each", "each, causal"]


def entries(*size, seed=0, dtype=torch.float64):
    return torch.from_numpy(np.random.default_rng(seed).uniform(-1, 1, size)).to(dtype)


def masked(kind, size):
    """Options of `attend`; in the masks some rows allow nothing."""
    batch, _, tokens, _ = size
    sizes = (tokens, tokens) if kind == "shared" else (batch, 1, tokens, tokens)
    mask = torch.from_numpy(np.random.default_rng(5).random(sizes) < 0.5)
    mask[..., 0, :] = False
    asked = {"mask": mask} if "shared" in kind or "each" in kind else {}
    return {"causal": "causal" in kind} | asked


def both(size, options, dtype=torch.float64, weight=None):
    """Value and gradients of a weighted sum, by the own function and by torch's."""
    upper = [entries(*size, seed=seed, dtype=dtype).requires_grad_() for seed in range(3)]
    weight = entries(*size, seed=3, dtype=dtype)
    found = []
    for limit in (SHORT, 0):
        with pytest.MonkeyPatch.context() as patch:
            patch.setattr(attention, "SHORT", limit)
            out = attend(*upper, **options)
        assert ("SoftmaxRows" in type(out.grad_fn).__name__) == (limit > 0)
        found.append([out.detach(), *torch.autograd.grad((out * weight).sum(), upper)])
    return found


def bound(size, dtype):
    """Largest rounding error of either side, for entries of q, k, v and the weight in [-1, 1] and
    scale 1/sqrt(d).

    A score is at most sqrt(d) and has an error of at most (d + 3) sqrt(d) u; a softmax weight then
    has a relative error of at most 2 (d + 3) sqrt(d) u + (n + 8) u, with exp good to 4 units.
    Values and their sums of n terms add n u, a gradient with respect to the weights has d terms of
    at most 1, so is at most d with an error of at most d^2 u, and the gradient of the scores is at
    most 2 d in the sum over a row (or n times that over a column). All is covered by the relative
    error of the weights plus (n + d + 8) u for the sums, times the largest size 2 d n, three times
    over for the product of three such factors.
    """
    n, d = size[-2:]
    unit = torch.finfo(dtype).eps / 2
    relative = 2 * (d + 3) * math.sqrt(d) + 2 * (n + d + 8)
    return 3 * relative * unit * 2 * d * n


@pytest.mark.parametrize("dtype", [torch.float32, torch.float64])
@pytest.mark.parametrize("kind", MASKS)
@pytest.mark.parametrize("size", SIZES, ids=str)
def test_values_and_gradients_equal_those_of_torchs_kernels(size, kind, dtype):
    mine, theirs = both(size, masked(kind, size), dtype)
    for a, b in zip(mine, theirs, strict=True):
        assert float((a - b).abs().max()) <= 2 * bound(size, dtype)


def test_gradients_with_dropout_equal_differences_for_one_draw():
    upper = [entries(1, 2, 4, 2, seed=seed).requires_grad_() for seed in range(3)]

    def once(*x, seed=7):
        with torch.random.fork_rng():
            torch.manual_seed(seed)
            return attend(*x, causal=True, dropout=0.25)

    assert "SoftmaxRows" in type(once(*upper).grad_fn).__name__
    assert torch.autograd.gradcheck(once, upper)
    assert not torch.equal(once(*upper), once(*upper, seed=8))


def test_gradcheck_sees_a_wrong_backward(monkeypatch):
    right = SoftmaxRows.backward
    monkeypatch.setattr(
        SoftmaxRows,
        "backward",
        staticmethod(lambda ctx, g: (2 * right(ctx, g)[0], *right(ctx, g)[1:])),
    )
    upper = [entries(1, 1, 4, 2, seed=seed).requires_grad_() for seed in range(3)]
    assert not torch.autograd.gradcheck(attend, upper, raise_exception=False)


@pytest.mark.parametrize("biased", [False, True])
def test_projections_are_one_product_cut_in_three(biased):
    hidden, weight, bias = (
        entries(*size, seed=seed).requires_grad_()
        for seed, size in enumerate([(2, 5, 4), (2, 4, 9), (2, 1, 9)])
    )
    given = (hidden, weight, bias if biased else None)
    found = Projections.apply(*given)
    expected = hidden @ weight + bias if biased else hidden @ weight
    # Sums of five products of numbers up to 1, each side rounded at most five times.
    assert (torch.cat(found, dim=-1) - expected).abs().max() <= 2 * 5 * 5 * U
    assert torch.autograd.gradcheck(
        lambda *x: Projections.apply(*x, *given[2 + biased :]), given[: 2 + biased]
    )
    one = torch.autograd.grad(found[1].sum(), weight)[0]
    assert one[..., 3:6].all()
    assert not one[..., :3].any()
    assert not one[..., 6:].any()


def test_it_is_used_for_what_is_trained_alone():
    plain = [entries(1, 1, 4, 2, seed=seed) for seed in range(3)]
    trained = [x.clone().requires_grad_() for x in plain]
    long = [entries(1, 1, SHORT + 1, 2, seed=seed).requires_grad_() for seed in range(3)]
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(SoftmaxRows, "apply", lambda *_: pytest.fail("called"))
        attend(*plain)
        attend(*plain, dropout=0.5)
        attend(*long)
        with torch.no_grad():
            attend(*trained)
        for kind in ("linearised", "relu", "hard"):
            attend(*trained, attention=kind)
        with pytest.raises(pytest.fail.Exception):
            attend(*trained)
        with pytest.raises(pytest.fail.Exception):
            attend(*long, dropout=0.5)


def test_a_second_derivative_is_refused():
    x = entries(1, 1, 3, 2).requires_grad_()
    (first,) = torch.autograd.grad(attend(x, x, x).square().sum(), x, create_graph=True)
    with pytest.raises(RuntimeError, match="once_differentiable"):
        first.sum().backward()


@pytest.mark.parametrize("probability", [0.1, 0.5, 0.9])
def test_dropout_drops_every_place_with_its_probability(probability):
    rounds, places = 20_000, 8
    with torch.random.fork_rng():
        torch.manual_seed(0)
        out = dropped(torch.ones(rounds, places, dtype=torch.float64), probability)
    share = round((1 - probability) * 2**16) / 2**16
    assert set(out.unique().tolist()) == {0.0, 1 / share}
    # Eight places hold each of the four numbers of a draw twice; a mean of 20000 draws leaves five
    # standard deviations once in 1.7 million.
    deviation = 5 * math.sqrt(share * (1 - share) / rounds)
    assert ((out > 0).double().mean(0) - share).abs().max() <= deviation
    kept = (out > 0).double() - share
    assert (kept.T @ kept / rounds).fill_diagonal_(0).abs().max() <= 5 * share * (
        1 - share
    ) / math.sqrt(rounds)


def test_draws_of_63_bits_would_be_seen(monkeypatch):
    right = torch.Tensor.random_
    monkeypatch.setattr(torch.Tensor, "random_", lambda x, *_: right(x))
    out = dropped(torch.ones(2_000, 4), 0.5)
    assert (out > 0).double().mean(0).max() == 1.0


@pytest.mark.parametrize("size", [(), (3, 5), (0, 2)])
def test_dropout_of_any_size_and_type(size):
    for dtype in (torch.float32, torch.float64):
        out = dropped(torch.ones(size, dtype=dtype), 0.25)
        assert out.dtype == dtype
        assert out.shape == size
        assert bool(((out == 0) | (out == torch.tensor(4 / 3, dtype=dtype))).all())
    assert dropped(out, 0.0) is out

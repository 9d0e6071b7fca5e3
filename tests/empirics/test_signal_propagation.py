"""The reverse mode of theory/signal_propagation against PyTorch's autograd."""

import numpy as np
import pytest
import torch

from depthlaw.theory.signal_propagation import backward as net


def torch_loss(x, layers, head, *, pre, attention):
    norm = torch.nn.LayerNorm(x.shape[-1], eps=0.0, elementwise_affine=False, dtype=torch.float64)
    for value, first, second in layers:
        # Softmax of zero scores, as W_Q = W_K = 0 give.
        weights = torch.softmax(torch.zeros(x.shape[0], x.shape[0], dtype=torch.float64), -1)
        for branch in (
            lambda h, w=weights, v=value: attention * (w @ h) @ v,
            lambda h, a=first, b=second: torch.relu(h @ a) @ b,
        ):
            x = x + branch(norm(x)) if pre else norm(x + branch(x))
    output = norm(x) if pre else x
    return torch.nn.functional.cross_entropy((output @ head)[:1], torch.tensor([0]))


@pytest.mark.parametrize("pre", [True, False])
@pytest.mark.parametrize("attention", [1.0, 7.0])
def test_every_gradient_is_that_of_autograd(pre, attention):
    rng = np.random.default_rng(3)
    layers = net.draw(rng, 3, 8, 1)
    head, x = rng.normal(size=(1, 8, 8)), rng.normal(size=(1, 5, 8))
    output, tape = net.forward(x, layers, pre=pre, attention=attention)
    loss, upstream = net.cross_entropy(output, head)
    ours = list(net.backward(upstream, layers, tape, pre=pre, attention=attention))[::-1]

    tensors = [
        net.LayerMatrices(*(torch.tensor(m[0], requires_grad=True) for m in layer))
        for layer in layers
    ]
    theirs = torch_loss(
        torch.from_numpy(x[0]), tensors, torch.from_numpy(head[0]), pre=pre, attention=attention
    )
    theirs.backward()
    assert loss[0] == pytest.approx(theirs.item(), rel=1e-12)
    for mine, other in zip(ours, tensors, strict=True):
        for name in net.LayerMatrices._fields:
            np.testing.assert_allclose(
                getattr(mine, name)[0], getattr(other, name).grad.numpy(), rtol=1e-9, atol=1e-13
            )

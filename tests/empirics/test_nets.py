"""Nets against one plain net at a time, against exact integers, and against wrong options."""

import itertools
import math
from dataclasses import asdict, replace
from functools import partial

import numpy as np
import pytest
import torch
from torch.nn import functional

from depthlaw.empirics.nets.net import Deviations, Factors, Net, NetShape, attend, gpt2
from depthlaw.theory.hops.published_experiment import PRINTED_PARAMETERS
from depthlaw.theory.separation_rank.linear_attention import forward, random_net, random_tokens

U = 2.0**-53
# Both sides of a comparison make the same few hundred roundings in another order; normalisation of
# short rows may magnify them.
ROUNDING = 2**16 * U


def randomised(shape, *, replicas=2, seed=0, dtype=torch.float64):
    """A net whose biases, gains and shifts are random as well."""
    rng = np.random.default_rng(seed)
    net = Net(shape, replicas=replicas, rng=rng, std=0.4, dtype=dtype)
    with torch.no_grad():
        for name, parameter in net.named_parameters():
            if "bias" in name or "gain" in name or "shift" in name:
                parameter += torch.from_numpy(rng.normal(0, 0.4, parameter.shape))
    return net


def inputs_for(shape, *, replicas=2, batch=2, tokens=5, seed=1):
    rng = np.random.default_rng(seed)
    if shape.vocabulary:
        return torch.from_numpy(rng.integers(0, shape.vocabulary, (replicas, batch, tokens)))
    return torch.from_numpy(
        rng.normal(size=(replicas, batch, tokens, shape.features or shape.width))
    )


# --- one net, one sequence, one head and one token at a time --------------------------------------


class Plain:
    """The replica `r` of a net, run on one sequence; `shape` may be a wrong one."""

    def __init__(self, net, r, shape):
        self.shape = shape
        self.weights = {name: parameter[r].detach() for name, parameter in net.named_parameters()}

    def linear(self, name, x):
        y = x @ self.weights[name]
        bias = self.weights.get(f"{name}_bias" if "." not in name else name.replace(".", "_bias."))
        return y if bias is None else y + bias

    def norm(self, name, x):
        x = x - x.mean(1, keepdim=True)
        y = x / torch.sqrt((x**2).mean(1, keepdim=True) + self.shape.epsilon)
        gain, shift = name.replace("norm", "gain"), name.replace("norm", "shift")
        return y * self.weights[gain] + self.weights[shift] if gain in self.weights else y

    def row(self, scores, values):
        """What one token receives from the tokens it may attend to, given the scores without
        scale."""
        kind, head = self.shape.attention, self.shape.width // self.shape.heads
        usual = {"softmax": 1 / math.sqrt(head), "relu": 1 / self.tokens}.get(kind, 1)
        s = scores * (usual if self.shape.scale is None else self.shape.scale)
        if kind == "softmax":
            e = torch.exp(s - max(s))
            s = e / sum(e)
        elif kind == "relu":
            s = torch.clamp(s, min=0)
        elif kind == "hard":
            s = (s == max(s)).double() / sum(s == max(s))
        return sum(w * v for w, v in zip(s, values, strict=True))

    def attention(self, layer, mask, x):
        fused = self.linear(f"qkv.{layer}", x).unflatten(1, (3, self.shape.heads, -1))
        mixed = torch.zeros_like(fused[:, 0])
        for i, h in itertools.product(range(len(x)), range(self.shape.heads)):
            q, k, v = fused[:, :, h].unbind(1)
            seen = range(i + 1) if self.shape.causal else range(len(x))
            if seen := [j for j in seen if mask is None or mask[i, j]]:
                mixed[i, h] = self.row(torch.stack([q[i] @ k[j] for j in seen]), v[seen])
        return self.linear(f"output.{layer}", mixed.flatten(1))

    def mlp(self, layer, x):
        inner = self.linear(f"mlp_in.{layer}", x)
        relu = self.shape.activation == "relu"
        inner = functional.relu(inner) if relu else functional.gelu(inner, approximate="tanh")
        return self.linear(f"mlp_out.{layer}", inner)

    def block(self, norm, x, inside):
        place = 2 * int(norm.partition(".")[2]) + norm.startswith("mlp")
        constants = self.shape.factors[place] if self.shape.factors else Factors()
        y = self.norm(norm, x) if self.shape.norm == "pre" else x
        y = constants.branch * inside(constants.entering * y)
        y = constants.skip * x + y if self.shape.residual else y
        return self.norm(norm, y) if self.shape.norm == "post" else y

    def __call__(self, x, mask=None):
        shape, self.tokens = self.shape, len(x)
        if shape.vocabulary:
            x = self.weights["embedding"][x]
        elif shape.features:
            x = self.linear("read_in", x)
        if shape.positions == "learned":
            x = x + self.weights["position"][: len(x)]
        elif shape.positions == "sinusoidal":
            rates = [10000 ** -(c // 2 * 2 / shape.width) for c in range(shape.width)]
            waves = [
                [(math.cos if c % 2 else math.sin)(p * rate) for c, rate in enumerate(rates)]
                for p in range(len(x))
            ]
            x = x + torch.tensor(waves, dtype=torch.float64)
        for layer in list(range(shape.depth)) * shape.loops:
            x = self.block(f"attention_norm.{layer}", x, partial(self.attention, layer, mask))
            if shape.mlp:
                x = self.block(f"mlp_norm.{layer}", x, partial(self.mlp, layer))
        x = self.norm("final_norm", x) if shape.norm == "pre" else x
        return self.linear("read_out", x) if shape.outputs else x


def gap(net, shape, inputs, mask=None):
    """Largest difference from plain nets of that shape, in units of the largest output."""
    with torch.no_grad():
        found = net(inputs, mask)
    size = net.replicas, inputs.shape[1]
    masks = [[None] * size[1]] * size[0] if mask is None else mask.expand(*size, -1, -1)
    rows = [
        torch.stack([*map(Plain(net, r, shape), inputs[r], masks[r])]) for r in range(net.replicas)
    ]
    expected = torch.stack(rows)
    return float((found - expected).abs().max() / expected.abs().max())


BASE = NetShape(width=6, depth=2, heads=3)
GPT = gpt2(width=6, depth=2, heads=3, vocabulary=5, length=7, dropout=0.0)
FACTORS = tuple(Factors(0.5 + i, 2.0 - i / 4, 3.0 + i) for i in range(4))
OPTIONS = [
    *(
        {"attention": a, "causal": c}
        for a in ("softmax", "linearised", "relu", "hard")
        for c in (False, True)
    ),
    *({"attention": a, "scale": 0.7} for a in ("softmax", "linearised", "relu", "hard")),
    *({"norm": n, "biases": b, "mlp": 7} for n in ("none", "pre", "post") for b in (False, True)),
    *({"norm": n, "residual": False, "mlp": 7} for n in ("none", "pre", "post")),
    {"vocabulary": 4, "outputs": 3},
    {"features": 2, "outputs": 3, "biases": True},
    {"loops": 3, "norm": "pre", "mlp": 5},
    {"positions": "learned", "length": 6, "vocabulary": 4},
    {"positions": "sinusoidal", "length": 4},
    {"positions": "sinusoidal"},
    {"heads": 1},
    {"epsilon": 0.3, "norm": "pre", "outputs": 2, "biases": True},
    *(
        {"norm": n, "biases": True, "mlp": 12, "activation": a, "factors": FACTORS}
        for n in ("pre", "post")
        for a in ("relu", "gelu")
    ),
]


@pytest.mark.parametrize("options", [*OPTIONS, asdict(GPT)], ids=str)
def test_replicas_equal_plain_nets(options):
    shape = replace(BASE, **options)
    assert gap(randomised(shape), shape, inputs_for(shape)) <= ROUNDING


@pytest.mark.parametrize(
    "wrong",
    [
        {"scale": 0.5},
        {"attention": "hard"},
        {"attention": "linearised"},
        {"causal": False},
        {"residual": False},
        {"norm": "post"},
        {"norm": "none"},
        {"loops": 2},
        {"depth": 1},
        {"heads": 2},
        {"mlp": 0},
        {"positions": "none"},
        {"epsilon": 1e-4},
        {"activation": "relu"},
        *({"factors": (Factors(**{name: 1.25}), *[Factors()] * 3)} for name in Factors._fields),
    ],
    ids=str,
)
def test_a_plain_net_with_one_other_option_differs(wrong):
    net, inputs = randomised(GPT, replicas=1), inputs_for(GPT, replicas=1, batch=1)
    assert gap(net, replace(GPT, **wrong), inputs) > 2 * ROUNDING


@pytest.mark.parametrize("attention", ["softmax", "linearised", "relu", "hard"])
@pytest.mark.parametrize(
    ("causal", "size"), [(False, (5, 5)), (True, (2, 2, 5, 5)), (True, (1, 2, 5, 5))]
)
def test_masks_equal_plain_nets(attention, causal, size):
    # Some rows allow nothing: such a token receives nothing.
    mask = torch.from_numpy(np.random.default_rng(3).random(size) < 0.5)
    mask[..., 2, :] = False
    shape = replace(BASE, attention=attention, causal=causal)
    inputs, net = inputs_for(shape), randomised(shape)
    assert gap(net, shape, inputs, mask) <= ROUNDING
    with torch.no_grad():
        assert not torch.equal(net(inputs, mask), net(inputs, ~mask))


# --- exact integers -------------------------------------------------------------------------------


def load(nets, shape):
    """One `Net` whose replicas have the weights of exact nets."""
    net = Net(shape, replicas=len(nets), dtype=torch.float64)
    for layer in range(shape.depth):
        stacks = [
            torch.from_numpy(
                np.stack([getattr(n, name)[layer] for n in nets]).astype(float)
            ).transpose(-1, -2)
            for name in ("query", "key", "value", "output")
        ]
        net.set_attention_weights(layer, *stacks)
    return net


@pytest.mark.parametrize("residual", [False, True])
def test_linearised_attention_of_integers_equals_the_exact_net_over_the_integers(residual):
    rng = np.random.default_rng(11)
    nets = [
        random_net(rng, width=2, depth=2, heads=2, prime=None, residual=residual) for _ in range(3)
    ]
    tokens = np.stack([random_tokens(rng, nets[0], 3) for _ in range(3)])
    net = load(nets, NetShape(width=2, depth=2, heads=2, attention="linearised", residual=residual))
    with torch.no_grad():
        found = net(torch.from_numpy(tokens.astype(float))[:, None])
    # Every partial sum is an integer below the same expression in absolute values, and that is
    # below 2^53.
    with torch.no_grad():
        for parameter in net.parameters():
            parameter.abs_()
        assert float(net(torch.from_numpy(tokens.astype(float)).abs()[:, None]).max()) < 2**53
    for r, exact in enumerate(nets):
        for position in range(3):
            for coordinate in range(2):
                assert int(found[r, 0, position, coordinate]) == forward(
                    exact, tokens[r], position=position, coordinate=coordinate
                )


# --- single properties ----------------------------------------------------------------------------


def test_hard_attention_averages_the_values_of_ties():
    ones, values = torch.ones(1, 4, 1), torch.tensor([[[1.0], [2.0], [3.0], [6.0]]])
    keys = torch.tensor([[[2.0], [-1.0], [2.0], [0.0]]])
    for causal, expected in ((False, [2.0] * 4), (True, [1.0, 1.0, 2.0, 2.0])):
        found = attend(ones, keys, values, attention="hard", causal=causal)
        assert found.flatten().tolist() == expected


@pytest.mark.parametrize(("width", "heads"), [(128, 4), (256, 8)])
@pytest.mark.parametrize("depth", [2, 3, 4, 5, 6])
def test_the_gpt2_shape_has_the_published_parameters(width, heads, depth):
    shape = gpt2(width, depth, heads, vocabulary=30, length=100)
    counted = sum(p.numel() for p in Net(shape).parameters())
    assert counted == PRINTED_PARAMETERS[width][depth - 2]


def test_one_row_of_inputs_serves_all_replicas():
    for shape in (
        BASE,
        replace(BASE, vocabulary=4, positions="learned", length=5),
        replace(BASE, features=2, biases=True),
    ):
        X, net = inputs_for(shape, replicas=1), randomised(shape)
        with torch.no_grad():
            assert torch.equal(net(X), net(X.repeat(2, *[1] * (X.ndim - 1))))
            assert not torch.equal(net(X)[0], net(X)[1])


def test_dropout_acts_in_training_only_and_follows_the_seed():
    shape = replace(GPT, dropout=0.1)
    net, plain, ids = randomised(shape), randomised(GPT), inputs_for(GPT)

    def trained(seed):
        with torch.random.fork_rng():
            torch.manual_seed(seed)
            return net.train()(ids)

    with torch.no_grad():
        assert torch.equal(net.eval()(ids), plain(ids))
        assert torch.equal(trained(0), trained(0))
        assert not torch.equal(trained(0), trained(1))
        assert not torch.equal(trained(0), plain(ids))


def test_attention_with_dropout_is_that_without_some_of_its_weights():
    x = inputs_for(BASE)
    values = torch.eye(5, dtype=torch.float64).expand(2, 2, 5, 5)
    mask = torch.ones(5, 5, dtype=torch.bool)
    mask[2] = False
    for options in (
        {"mask": mask},
        {"mask": mask, "causal": True},
        {"scale": 2.0},
        {"attention": "linearised"},
    ):
        plain = attend(x, x, values, **options)
        with torch.random.fork_rng():
            torch.manual_seed(0)
            found = attend(x, x, values, dropout=0.25, **options)
        kept = found != 0
        assert kept.any()
        assert not kept[plain > 0].all()
        assert ((found - plain / 0.75)[kept].abs() <= ROUNDING).all()


def test_each_kind_of_weight_has_its_deviation():
    sizes = dict.fromkeys(("width", "mlp", "length", "vocabulary", "outputs"), 64)
    shape = NetShape(**sizes, depth=1, heads=2, positions="learned")
    stds = Deviations(*(float(i) for i in range(1, 11)))
    net = Net(shape, rng=np.random.default_rng(0), std=stds)
    query, key, value, output = net.attention_weights(0)
    inside = {1: query, 2: key, 3: value, 4: output, 5: net.mlp_in[0], 6: net.mlp_out[0]}
    outside = {7: net.embedding, 8: net.position, 10: net.read_out}
    for std, found in (inside | outside).items():
        assert abs(found.std().item() / std - 1) < 0.1  # 4096 weights: 9 standard errors
    with pytest.raises(ValueError, match="beside deviations of each kind"):
        Net(shape, std=stds, output_std=0.1)
    # One number for all, and another for the output matrices.
    net = Net(shape, rng=np.random.default_rng(0), std=0.5, output_std=0.1)
    for weights, std in ((net.output, 0.1), (net.mlp_out, 0.1), (net.qkv, 0.5), (net.mlp_in, 0.5)):
        assert abs(weights[0].std().item() / std - 1) < 0.1


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"width": 5, "heads": 2}, "heads divide width"),
        ({"depth": 0}, "at least 1"),
        ({"norm": "middle"}, "none, pre, post"),
        ({"dropout": 1.0}, "dropout in"),
        ({"mlp": -1}, "at least 0"),
        ({"vocabulary": 3, "features": 2}, "set one to 0"),
        ({"positions": "learned"}, "need length"),
    ],
)
def test_bad_options_are_refused(options, message):
    with pytest.raises(ValueError, match=message):
        NetShape(**{"depth": 1, "width": 4} | options)


@pytest.mark.parametrize(
    ("shape", "size", "message"),
    [
        (BASE, (2, 2, 6), "replicas or 1, batch, tokens, 6"),
        (BASE, (9, 2, 5, 6), "2 replicas"),
        (replace(BASE, features=2), (2, 2, 5, 6), "batch, tokens, 2"),
        (replace(BASE, vocabulary=4), (2, 2, 5, 6), "batch, tokens\\)"),
        (replace(BASE, positions="learned", length=4), (2, 2, 5, 6), "length=4"),
    ],
)
def test_bad_inputs_are_refused(shape, size, message):
    kind = torch.int64 if shape.vocabulary else torch.float64
    with pytest.raises(ValueError, match=message):
        randomised(shape)(torch.zeros(size, dtype=kind))


def test_a_wrong_number_of_generators_or_replicas_is_refused():
    with pytest.raises(ValueError, match="exactly one for each"):
        Net(BASE, replicas=2, rng=[np.random.default_rng(0)])
    with pytest.raises(ValueError, match="replicas=0"):
        Net(BASE, replicas=0)

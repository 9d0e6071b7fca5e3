"""Training many small nets together, next to a plain PyTorch loop that trains them one after the
other, in the same run.

Run with `pytest benchmarks --benchmark-only`. The task is all-pairs connectivity of 12 vertices, 64
graphs per step; the net has width 48 and two layers. The peer is an ordinary module with
torch.optim.AdamW and clip_grad_norm_, written as one writes it. Its examples are drawn beforehand,
so that it pays nothing for them; the replicas' time includes drawing theirs. Medians, ratios and
how much is due to the examples are printed. Aim: 3 times on two CPU cores, as the median of ten
runs on an idle machine, and 20 times on a GPU with 64 replicas. What bounds it is printed beside
it: the time of the step's matrix products alone, the same products of the same shapes in the same
order, and the ratio if a step were nothing else.

The second benchmark is hop_k at the published size: width 128, 4 heads, 99 tokens, 32 sequences,
next to a plain loop over `transformers.GPT2Model`, the design of the published training code; it
needs `pip install transformers`. Aim: 2 times on two CPU cores, 10 times on a GPU.

Both sides use two threads. They wait for each other at every operation, so that a machine that does
other work makes both numbers useless: use the ratio of a quiet one.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from dataclasses import replace
from statistics import median

import pytest
import torch
from torch import Tensor, nn
from torch.nn import functional
from torch.utils._python_dispatch import TorchDispatchMode
from torch.utils.flop_counter import FlopCounterMode

from depthlaw.empirics.nets.net import NetShape, gpt2
from depthlaw.empirics.tasks import Task
from depthlaw.empirics.tasks.graphs import Connectivity
from depthlaw.empirics.tasks.sequences import HopK
from depthlaw.empirics.training.evaluation import draw
from depthlaw.empirics.training.trainer import Settings
from depthlaw.empirics.training.training_run import TrainingRun

VERTICES, WIDTH, DEPTH, BATCH = 12, 48, 2, 64
DEVICE = "cuda" if torch.cuda.is_available() else "cpu"
REPLICAS = 64 if DEVICE == "cuda" else 16
THREADS, ROUNDS, STEPS = 2, 15, 16
TASK = Connectivity(vertices=VERTICES)
SHAPE = NetShape(width=WIDTH, depth=DEPTH, features=TASK.features, outputs=TASK.outputs)
SETTINGS = Settings(
    steps=100_000,
    batch=BATCH,
    learning_rates=(1e-3,) * REPLICAS,
    seeds=tuple(range(REPLICAS)),
    std=0.1,
    drawn=STEPS,
    graphed=DEVICE == "cuda",
)
HOPS, SEQUENCES = HopK(), 32
GPT2_REPLICAS, GPT2_STEPS = (16, 8) if DEVICE == "cuda" else (4, 2)


class PlainLayer(nn.Module):
    """Single-head attention with a skip connection."""

    def __init__(self, width: int) -> None:
        super().__init__()
        self.qkv = nn.Linear(width, 3 * width, bias=False)
        self.output = nn.Linear(width, width, bias=False)

    def forward(self, x: Tensor) -> Tensor:
        """Tokens of shape (batch, tokens, width)."""
        query, key, value = self.qkv(x).chunk(3, dim=-1)
        return x + self.output(functional.scaled_dot_product_attention(query, key, value))


class PlainNet(nn.Module):
    """The same net as `SHAPE`, for one seed."""

    def __init__(self) -> None:
        super().__init__()
        self.read_in = nn.Linear(TASK.features, WIDTH, bias=False)
        self.read_out = nn.Linear(WIDTH, TASK.outputs, bias=False)
        self.layers = nn.ModuleList(PlainLayer(WIDTH) for _ in range(DEPTH))

    def forward(self, x: Tensor) -> Tensor:
        """Logits of all pairs."""
        x = self.read_in(x)
        for layer in self.layers:
            x = layer(x)
        return self.read_out(x)


class Plain:
    """One net, its optimiser and its examples."""

    def __init__(self, seed: int) -> None:
        self.net = PlainNet().to(DEVICE)
        self.optimiser = torch.optim.AdamW(self.net.parameters(), lr=1e-3)
        batch = draw(TASK, [seed], BATCH * STEPS, DEVICE, "plain")
        self.examples = list(
            zip(
                batch.inputs[0].split(BATCH),
                batch.targets[0].float().split(BATCH),
                batch.scored[0].split(BATCH),
                strict=True,
            )
        )

    def step(self, index: int) -> None:
        """One update."""
        inputs, targets, scored = self.examples[index]
        self.optimiser.zero_grad()
        loss = functional.binary_cross_entropy_with_logits(
            self.net(inputs)[scored], targets[scored]
        )
        loss.backward()
        nn.utils.clip_grad_norm_(self.net.parameters(), 1.0)
        self.optimiser.step()


def finished() -> float:
    """The time when the device has done what it was given."""
    if DEVICE == "cuda":
        torch.cuda.synchronize()
    return time.perf_counter()


def step_operations(shape: NetShape, task: Task, settings: Settings) -> int:
    """Multiplications and additions in the matrix products of one step of all replicas, forward and
    backward, as torch counts them; 2 m k n for a product of (m, k) and (k, n)."""
    settings = replace(settings, steps=1, warmup=0, drawn=1, compiled=False, graphed=False)
    run = TrainingRun(shape, task, settings, torch.device(DEVICE))

    def in_place(out: Sequence[int], left: Sequence[int], *_: object, **__: object) -> int:
        return 2 * out[0] * out[1] * out[2] * left[2]

    # torch's table leaves this product out.
    counter = FlopCounterMode(display=False, custom_mapping={torch.ops.aten.baddbmm_: in_place})
    with counter:
        run.advance()
    return int(counter.get_total_flops())


def matmul_rate() -> float:
    """Operations per second of a large square matrix product: the peak that counts here."""
    size = 8192 if DEVICE == "cuda" else 1024
    left, right = torch.ones(2, size, size, device=DEVICE).unbind()
    seconds = []
    for _ in range(8):
        before = finished()
        torch.mm(left, right)
        seconds.append(finished() - before)
    return 2 * size**3 / median(seconds[1:])


class Products(TorchDispatchMode):
    """The batched matrix products of a step, to be done again without the rest."""

    def __init__(self) -> None:
        super().__init__()
        self.done: list[tuple[Callable[..., object], tuple[object, ...], dict[str, object]]] = []

    def __torch_dispatch__(self, func, types, args=(), kwargs=None):
        """Do what is asked, and remember it where it is a product."""
        if func in (
            torch.ops.aten.bmm.default,
            torch.ops.aten.baddbmm.default,
            torch.ops.aten.baddbmm_.default,
        ):
            self.done.append((func, args, kwargs or {}))
        return func(*args, **kwargs or {})

    def seconds(self) -> float:
        """To do them all again, once."""
        before = finished()
        with torch.no_grad():
            for product, args, options in self.done:
                product(*args, **options)
        return finished() - before


def product_seconds() -> float:
    """Seconds per replica-step of the matrix products alone."""
    settings = replace(SETTINGS, steps=1, drawn=1, graphed=False)
    run = TrainingRun(SHAPE, TASK, settings, torch.device(DEVICE))
    with Products() as products:
        run.advance()
    return median(products.seconds() for _ in range(ROUNDS)) / REPLICAS


def plain_loop(nets: Sequence[Plain | PlainGPT2], steps: int) -> float:
    """Seconds per replica-step of the plain loop."""
    before = finished()
    for net in nets:
        for index in range(steps):
            net.step(index)
    return (finished() - before) / (len(nets) * steps)


def together(run: TrainingRun) -> float:
    """Seconds per replica-step of the batched program, over one draw of examples and the steps on
    it."""
    before = finished()
    for _ in range(STEPS):
        run.advance()
    return (finished() - before) / (REPLICAS * STEPS)


@pytest.mark.benchmark(group="trainer")
@pytest.mark.filterwarnings("ignore")
def test_replicas_against_a_plain_loop(benchmark, say) -> None:
    torch.set_num_threads(THREADS)
    run, nets = (
        TrainingRun(SHAPE, TASK, SETTINGS, torch.device(DEVICE)),
        [Plain(seed) for seed in range(REPLICAS)],
    )
    peer, mine = [], []
    # The peer runs before every round, so that both see the same machine.
    benchmark.pedantic(
        lambda: mine.append(together(run)),
        setup=lambda: peer.append(plain_loop(nets, 4)),
        rounds=ROUNDS,
        warmup_rounds=2,
    )
    drawing = []
    for _ in range(ROUNDS):
        before = finished()
        run.examples.draw(7)
        drawing.append((finished() - before) / (REPLICAS * STEPS))
    plain, batched, drawn = median(peer[-ROUNDS:]), median(mine[-ROUNDS:]), median(drawing)
    operations = step_operations(SHAPE, TASK, SETTINGS) / REPLICAS
    share, products = operations / batched / matmul_rate(), product_seconds()
    benchmark.extra_info.update(
        {
            "plain loop, replica-steps/s": 1 / plain,
            "together, replica-steps/s": 1 / batched,
            "ratio": plain / batched,
            "share of examples": drawn / batched,
            "share of peak": share,
            "share of matrix products": products / batched,
            "ratio of matrix products": plain / products,
        }
    )
    say(
        f"{DEVICE}, {torch.get_num_threads()} threads, R={REPLICAS}: plain loop "
        f"{1 / plain:.0f}, together {1 / batched:.0f} replica-steps/s, ratio {plain / batched:.2f} "
        f"({plain / (batched - drawn):.2f} without drawing examples, which is "
        f"{drawn / batched:.0%} of a step); {share:.0%} of the measured "
        f"matrix-product rate; matrix products are {products / batched:.0%} of a "
        f"step, and alone would give ratio {plain / products:.2f}"
    )
    assert min(mine) > 0


class PlainGPT2:
    """One model of `transformers` with its optimiser and examples; the loss is taken over the
    hidden states, as published."""

    def __init__(self, seed: int, depth: int, dropout: float) -> None:
        transformers = pytest.importorskip("transformers")
        config = transformers.GPT2Config(
            vocab_size=HOPS.vocabulary,
            n_positions=100,
            n_embd=128,
            n_layer=depth,
            n_head=4,
            use_cache=False,
            bos_token_id=None,
            eos_token_id=None,
            embd_pdrop=dropout,
            attn_pdrop=dropout,
            resid_pdrop=dropout,
        )
        self.net = transformers.GPT2Model(config).to(DEVICE).train()
        self.optimiser = torch.optim.AdamW(self.net.parameters(), lr=1e-4)
        batch = draw(HOPS, [seed], SEQUENCES * GPT2_STEPS, DEVICE, "plain")
        self.examples = list(
            zip(batch.inputs[0].split(SEQUENCES), batch.targets[0].split(SEQUENCES), strict=True)
        )

    def step(self, index: int) -> None:
        """One update."""
        inputs, targets = self.examples[index]
        self.optimiser.zero_grad()
        logits = self.net(input_ids=inputs).last_hidden_state
        functional.cross_entropy(logits.flatten(0, 1), targets.flatten()).backward()
        nn.utils.clip_grad_norm_(self.net.parameters(), 1.0)
        self.optimiser.step()


@pytest.mark.parametrize("dropout", [0.1, 0.0])
@pytest.mark.parametrize("depth", [2, 4, 6])
@pytest.mark.benchmark(group="trainer, GPT-2 shape")
@pytest.mark.filterwarnings("ignore")
def test_the_gpt2_shape_against_a_loop_over_transformers(
    benchmark, say, depth: int, dropout: float
) -> None:
    torch.set_num_threads(THREADS)
    nets = [PlainGPT2(seed, depth, dropout) for seed in range(GPT2_REPLICAS)]
    shape = gpt2(
        width=128, depth=depth, heads=4, vocabulary=HOPS.vocabulary, length=100, dropout=dropout
    )
    settings = Settings(
        steps=100_000,
        batch=SEQUENCES,
        learning_rates=(1e-4,) * GPT2_REPLICAS,
        seeds=tuple(range(GPT2_REPLICAS)),
        drawn=GPT2_STEPS,
        graphed=DEVICE == "cuda",
    )
    run = TrainingRun(shape, HOPS, settings, torch.device(DEVICE))
    peer, mine = [], []

    def together() -> None:
        before = finished()
        for _ in range(GPT2_STEPS):
            run.advance()
        mine.append((finished() - before) / (GPT2_REPLICAS * GPT2_STEPS))

    benchmark.pedantic(
        together, setup=lambda: peer.append(plain_loop(nets, GPT2_STEPS)), rounds=7, warmup_rounds=1
    )
    plain, batched = median(peer[-7:]), median(mine[-7:])
    operations = step_operations(shape, HOPS, settings) / GPT2_REPLICAS
    peak = matmul_rate()
    benchmark.extra_info.update(
        {
            "plain loop, model-steps/s": 1 / plain,
            "together, model-steps/s": 1 / batched,
            "ratio": plain / batched,
            "share of peak": operations / batched / peak,
            "ratio at peak": plain * peak / operations,
        }
    )
    say(
        f"{DEVICE}, {torch.get_num_threads()} threads, R={GPT2_REPLICAS}, depth "
        f"{depth}, dropout {dropout}: plain loop "
        f"{1 / plain:.1f}, together {1 / batched:.1f} model-steps/s, ratio {plain / batched:.2f}; "
        f"{operations / batched / peak:.0%} of the measured matrix-product rate, at which the "
        f"ratio would be {plain * peak / operations:.2f}"
    )
    assert min(mine) > 0

"""Whether the advisor keeps a limit of latency, on devices whose true times are known.

    python benchmarks/latency_limits.py [FILE]

prints a table, or writes it into a file (benchmarks/latency_limits.md). Each device has
a formula for the time of a token. A table of "measured" points follows from it; the advisor sees
these points alone. The true time of what it recommends is computed from the shape by the formula,
with a count of weights of its own.
"""

from __future__ import annotations

import random
import sys
from collections.abc import Callable, Iterator
from fractions import Fraction
from functools import cache
from pathlib import Path
from typing import Any, NamedTuple

from depthlaw.advisor import recommend
from depthlaw.advisor.architecture import Architecture
from depthlaw.advisor.base.quantities import UsageError
from depthlaw.advisor.latency import LatencyPoint, fit

VOCABULARY = 128256
_MS_PER_WEIGHT = 2 * 1000 / 1.5e12  # two bytes at 1.5 TB/s
_DEPTHS, _WIDTHS = (8, 16, 24, 32, 48), (1024, 1536, 2048, 2560, 3072)
# d_ff / d of nets with grouped queries, unlike 4.
_RATIOS = (2.5, 2.75, 3.5, 5.0, 5.5)


class Net(NamedTuple):
    """What the time of a token depends on."""

    layers: int
    width: int
    layer_weights: int
    keys: int  # their width in one layer
    context: int = 4096
    vocabulary: int = VOCABULARY


class Device(NamedTuple):
    """A true time, and how its points are measured."""

    name: str
    true: Callable[[Net], float]
    limit: float
    budget: str | None = None  # None: as large as the limit allows
    noise: float = 0.0  # standard deviation of a measurement, as a share of it
    seeds: tuple[int, ...] = (0,)
    queries: int = 1  # per key head
    described: bool = False  # the table names d_ff, heads and vocabulary, else L, d and ms alone
    context: int = 4096  # asked by --context
    named: bool = False  # the table names the context


class Result(NamedTuple):
    """What the advisor said, and the truth."""

    device: Device
    seed: int
    answer: Architecture | None  # None: refused
    said: tuple[float, float, float] | None
    true: float | None
    line: str = ""  # of the refusal


def _sum(token: float, layer: float, read: float, output: float) -> Callable[[Net], float]:
    return lambda net: (
        token
        + layer * net.layers
        + read * net.layers * net.layer_weights
        + output * net.width * net.vocabulary
    )


def _cached(token: float, layer: float) -> Callable[[Net], float]:
    """Weights in layers and the cache at 1.5 TB/s."""
    plain = _sum(token, layer, _MS_PER_WEIGHT, 0)
    return lambda net: plain(net) + _MS_PER_WEIGHT * 2 * net.layers * net.keys * net.context


def _saturating(net: Net) -> float:
    """Wide layers are read faster: 1.5 TB/s for d much above 512."""
    read = _MS_PER_WEIGHT * net.layers * net.layer_weights * (1 + 512 / net.width)
    return 0.2 + 0.1 * net.layers + read


def _saturating_and_cache(net: Net) -> float:
    return _saturating(net) + _cached(0, 0)(net._replace(layer_weights=0))


def _quadratic(net: Net) -> float:
    """Each layer takes longer than the one before."""
    read = _MS_PER_WEIGHT * net.layers * net.layer_weights
    return 0.2 + 0.05 * net.layers + 0.001 * net.layers**2 + read


def _devices() -> Iterator[Device]:
    for layer in (0.05, 0.10, 0.15):
        true = _sum(0.2, layer, _MS_PER_WEIGHT, 0)
        yield Device(f"0.2 ms + {layer:.2f} L + layers at 1.5 TB/s", true, 3)
    yield Device("overhead alone: 0.5 ms + 0.12 L", _sum(0.5, 0.12, 0, 0), 3, "1B")
    true = _sum(0, 0, _MS_PER_WEIGHT, _MS_PER_WEIGHT)
    yield Device("bandwidth alone: 1.5 TB/s, output layer too", true, 3)
    true, name = _sum(0.2, 0.1, _MS_PER_WEIGHT, _MS_PER_WEIGHT), "0.2 ms + 0.10 L + 1.5 TB/s"
    yield Device(f"{name}, 5 % noise", true, 4, noise=0.05, seeds=tuple(range(5)))
    name += ", grouped queries, d_ff / d of 2.5 to 5.5"
    yield Device(name, true, 4, "1B", queries=4, described=True)
    # Nets that are described, and their cache of so many tokens.
    long = {"queries": 8, "described": True, "context": 32768}
    true, name = _cached(0.2, 0.05), "0.2 ms + 0.05 L + layers and a cache of {} at 1.5 TB/s"
    for limit, budget, named in (
        (4, None, False),
        (5, "2B", False),
        (6, None, True),
        (8, None, True),
    ):
        words = name.format("32,768") + ", named" * named
        yield Device(words, true, limit, budget, named=named, **long)
    for limit in (3, 5):
        yield Device(name.format("8,192"), true, limit, **long | {"context": 8192})
    for keys, queries in (("full keys", 1), ("grouped queries", 4)):
        words = f"{name.format('32,768')}, {keys}, L, d, ms alone"
        yield Device(words, true, 8, queries=queries, context=32768)
    name = "outside the formula: 0.2 ms + 0.10 L + layers at 1.5 TB/s / (1 + 512 / d)"
    yield from (Device(name, _saturating, limit) for limit in (3, 4))
    name = "outside the formula: the same and a cache of 32,768 at 1.5 TB/s"
    yield from (Device(name, _saturating_and_cache, limit, **long) for limit in (4, 8))
    name = "outside the formula: 0.2 ms + 0.05 L + 0.001 L^2 + layers at 1.5 TB/s"
    yield from (Device(name, _quadratic, limit) for limit in (3, 4))


DEVICES = tuple(_devices())


def weights_of(a: Architecture) -> Net:
    """A shape with its weights counted by hand: four projections and a gated network."""
    head = a.head_width or a.width // a.heads
    keys = head * (a.kv_heads or a.heads)
    layer = a.width * (2 * head * a.heads + 2 * keys) + 3 * a.width * a.d_ff
    return Net(a.layers, a.width, layer, keys, a.context, a.vocabulary)


def points(device: Device, seed: int = 0) -> list[LatencyPoint]:
    """What somebody measures: nets of 12 d^2 weights a layer without a word on their shape, or
    nets that are described."""
    draw, found = random.Random(seed), []
    for layers in _DEPTHS:
        for place, width in enumerate(_WIDTHS):
            named: dict[str, Any] = {}
            heads = width // 128
            keys = heads // device.queries
            kept = 128 * keys
            weights = 12 * width**2
            if device.described:
                inner = int(_RATIOS[(place + layers // 8) % len(_RATIOS)] * width)
                weights = 2 * width**2 + 2 * width * kept + 3 * width * inner
                named = {"d_ff": inner, "heads": heads, "kv_heads": keys, "vocabulary": VOCABULARY}
                if device.named:
                    named["context"] = device.context
            net = Net(layers, width, weights, kept, device.context)
            true = device.true(net) * draw.gauss(1, device.noise)
            found.append(LatencyPoint(layers, width, Fraction(f"{true:.6g}"), **named))
    return found


@cache
def result(device: Device, seed: int) -> Result:
    """What is recommended for a device whose points are measured with one draw of the noise."""
    try:
        shape = recommend(
            device.budget,
            latency=fit(points(device, seed)),
            ms_per_token=device.limit,
            vocabulary=VOCABULARY,
            context=device.context,
            # Of nets that are not described one asks for what was measured.
            gqa=device.queries if device.queries > 1 and not device.described else None,
        ).shape
    except UsageError as refused:
        return Result(device, seed, None, None, None, str(refused))
    assert shape is not None
    a = shape.architecture
    return Result(device, seed, a, shape.milliseconds, device.true(weights_of(a)))


def results() -> Iterator[Result]:
    """Every device, with each draw of its noise."""
    return (result(device, seed) for device in DEVICES for seed in device.seeds)


def table() -> str:
    """The results in Markdown."""
    lines = [
        "| true time | limit, ms | answer | d_ff / d | said, ms (95 %) | true, ms |",
        "|---|---|---|---|---|---|",
    ]
    for device, seed, a, said, true, line in results():
        name = device.name + (f", draw {seed + 1}" if len(device.seeds) > 1 else "")
        asked = f"{device.limit:g}"
        if a is None or said is None:
            lines.append(f"| {name} | {asked} | refused: {line} | | | |")
            continue
        low, middle, high = said
        lines.append(
            f"| {name} | {asked} | {a.layers} x {a.width:,} | {a.d_ff / a.width:.2f} | "
            f"{middle:.2f} ({low:.2f} to {high:.2f}) | {true:.2f} |"
        )
    return "\n".join(lines)


def document() -> str:
    """The table of today below a title and what its names mean."""
    return (
        "# Limits of latency on made-up devices\n\n"
        "Tables with a cache or grouped queries have the columns `d_ff`, `heads`, `kv_heads` and\n"
        '`vocabulary`, those called "named" also `context`; all others have L, d and ms alone. '
        f"The last\nrows do not follow the formula.\n\n{table()}\n"
    )


if __name__ == "__main__":
    if len(sys.argv) > 1:
        Path(sys.argv[1]).write_text(document(), encoding="utf-8")
    else:
        sys.stdout.write(table() + "\n")

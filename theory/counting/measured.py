"""Parameters counted tensor by tensor, and the shapes of published models (model_anatomy.csv).

A net is written down as the list of its tensors, the way a checkpoint stores them. The sizes may be integers, which gives a count, or
symbols, which gives the count of every net of that family at once.
"""
from __future__ import annotations

import csv
import math
from collections.abc import Callable, Iterable, Iterator
from fractions import Fraction
from functools import cache
from pathlib import Path
from typing import Any, NamedTuple

from ..values import Case, Exact, Step

Tensor = tuple[str, tuple[Any, ...]]


class Net(NamedTuple):
    """The tensors of a net: those outside the layers, and per stack the number of layers and the tensors of one layer."""

    outside: list[Tensor]
    stacks: list[tuple[Any, list[Tensor]]]

    def parameters(self) -> Any:
        """All numbers in all tensors."""
        return _numbers(self.outside) + sum(layers * _numbers(tensors) for layers, tensors in self.stacks)

    def weights(self) -> Any:
        """Entries of the weight matrices inside layers: no embeddings, positions, norms or biases."""
        return sum(layers * _numbers([t for t in tensors if len(t[1]) == 2]) for layers, tensors in self.stacks)

    def walk(self) -> Iterator[Tensor]:
        """Every tensor by its own name, layer after layer. Needs integer sizes."""
        yield from self.outside
        for stack, (layers, tensors) in enumerate(self.stacks):
            for layer in range(layers):
                yield from ((f"{stack}.{layer}.{name}", shape) for name, shape in tensors)


def _numbers(tensors: Iterable[Tensor]) -> Any:
    return sum(math.prod(shape) for _, shape in tensors)


def counted(net: Net) -> int:
    """The parameters of a net of integer sizes, by walking through a checkpoint's worth of differently named tensors."""
    tensors = dict(net.walk())
    return sum(math.prod(shape) for shape in tensors.values())


def _norm(name: str, width: Any, bias: bool) -> list[Tensor]:
    return [(name + ".weight", (width,))] + ([(name + ".bias", (width,))] if bias else [])


def _linear(name: str, rows: Any, columns: Any, bias: bool) -> list[Tensor]:
    return [(name + ".weight", (rows, columns))] + ([(name + ".bias", (columns,))] if bias else [])


def _attention(name: str, width: Any, inner: Any, kv: Any, bias: bool) -> list[Tensor]:
    return [*_linear(name + ".query", width, inner, bias), *_linear(name + ".key", width, kv, bias),
            *_linear(name + ".value", width, kv, bias), *_linear(name + ".output", inner, width, bias)]


def gpt2(depth: Any, width: Any, vocabulary: Any = 1, positions: Any = 1, ff: Any = None, inner: Any = None) -> Net:
    """GPT-2: biases everywhere, two LayerNorms per layer and a last one, learned positions, read-out tied to the embedding."""
    ff, inner = 4 * width if ff is None else ff, width if inner is None else inner
    layer = [*_norm("ln_1", width, True), *_attention("attn", width, inner, inner, True), *_norm("ln_2", width, True),
             *_linear("mlp.in", width, ff, True), *_linear("mlp.out", ff, width, True)]
    outside: list[Tensor] = [("wte", (vocabulary, width)), ("wpe", (positions, width))]
    return Net(outside + _norm("ln_f", width, True), [(depth, layer)])


def llama(depth: Any, width: Any, inner: Any, kv: Any, ff: Any, vocabulary: Any) -> Net:
    """LLaMA: no biases, RMSNorm, gated feed-forward of three matrices, rotary positions, untied read-out, grouped queries."""
    layer = [*_norm("norm_1", width, False), *_attention("attn", width, inner, kv, False), *_norm("norm_2", width, False),
             *_linear("mlp.gate", width, ff, False), *_linear("mlp.up", width, ff, False), *_linear("mlp.down", ff, width, False)]
    return Net([("embed", (vocabulary, width)), ("head", (width, vocabulary)), ("norm", (width,))], [(depth, layer)])


def mixture(depth: int, width: int, inner: int, kv: int, ff: int, vocabulary: int, experts: int) -> Net:
    """Mixtral: LLaMA with `experts` gated feed-forward nets per layer and a linear router."""
    dense = llama(depth, width, inner, kv, ff, vocabulary)
    layer = [t for t in dense.stacks[0][1] if not t[0].startswith("mlp")] + [("router", (width, experts))]
    for e in range(experts):
        layer += [(f"{e}.gate", (width, ff)), (f"{e}.up", (width, ff)), (f"{e}.down", (ff, width))]
    return Net(dense.outside, [(depth, layer)])


def mixture_seen(depth: Any, width: Any, inner: Any, kv: Any, ff: Any, vocabulary: Any, experts: Any, active: Any) -> Net:
    """The tensors of `mixture` that one token passes through: `active` experts of each layer, and all else."""
    dense = llama(depth, width, inner, kv, ff, vocabulary)
    (_, layer), = dense.stacks
    kept, expert = ([t for t in layer if t[0].startswith("mlp") is gated] for gated in (False, True))
    return Net(dense.outside, [(depth, [*kept, ("router", (width, experts))]), (depth * active, expert)])


def bert(depth: int, width: int, vocabulary: int, positions: int) -> Net:
    """BERT: post-norm encoder with biases, token types, a norm on the embeddings and a pooler."""
    layer = gpt2(depth, width, vocabulary, positions).stacks[0][1]
    outside: list[Tensor] = [("words", (vocabulary, width)), ("positions", (positions, width)), ("types", (2, width))]
    return Net([*outside, *_norm("norm", width, True), *_linear("pooler", width, width, True)], [(depth, layer)])


def t5(depth: int, width: int, inner: int, ff: int, vocabulary: int, heads: int) -> Net:
    """T5 1.0: `depth` layers in each stack, no biases, 32 relative-position buckets per stack, one tied embedding."""
    mlp = [*_norm("norm_ff", width, False), *_linear("wi", width, ff, False), *_linear("wo", ff, width, False)]
    encoder = [*_norm("norm_1", width, False), *_attention("self", width, inner, inner, False), *mlp]
    decoder = [*encoder, *_norm("norm_2", width, False), *_attention("cross", width, inner, inner, False)]
    outside: list[Tensor] = [("shared", (vocabulary, width)), ("encoder.bias", (32, heads)), ("decoder.bias", (32, heads)),
                             ("encoder.norm", (width,)), ("decoder.norm", (width,))]
    return Net(outside, [(depth, encoder), (depth, decoder)])


# --- published shapes ---------------------------------------------------------------------------------------------------------

_COLUMNS = ("layers", "width", "heads", "kv_heads", "head_width", "ff_width", "mlp_matrices", "vocab", "positions", "experts",
            "experts_per_token", "ff_expert")


class Anatomy(NamedTuple):
    """What a published shape consists of. 0 stands for an empty field (no learned positions, no experts)."""

    name: str
    reported: str
    kind: str
    tied: bool
    sizes: dict[str, int]

    @property
    def plain(self) -> bool:
        """One stack of layers with weights of their own and one feed-forward net each: what a single product counts."""
        return self.kind in ("decoder", "encoder", "encoder (vision)") and not self.name.startswith("ALBERT")


@cache
def anatomies() -> dict[str, Anatomy]:
    """The shapes of model_anatomy.csv by name.

    >>> anatomies()["GPT-2 small"].sizes["ff_width"]
    3072
    """
    with (Path(__file__).parent / "model_anatomy.csv").open(encoding="utf-8", newline="") as file:
        return {r["model"]: Anatomy(r["model"], r["reported"], r["kind"], r["tied"] == "yes",
                                    {c: int(r[c] or 0) for c in _COLUMNS}) for r in csv.DictReader(file)}


def reported_size(text: str) -> Fraction:
    """A printed size such as 6.7B or 124M as a number.

    >>> reported_size("6.7B") == 6_700_000_000
    True
    """
    number, unit = text.split()[0][:-1], text.split()[0][-1]
    try:
        return Fraction(number) * {"M": 10**6, "B": 10**9}[unit]
    except (KeyError, ValueError):
        raise ValueError(f"{text!r} is not a size; write it like 124M or 6.7B") from None


def matrices(shape: Anatomy) -> list[tuple[int, int]]:
    """The weight matrices of a plain shape, layer by layer: query, key, value, output, and two or three of the feed-forward net."""
    s = shape.sizes
    inner, kv = s["heads"] * s["head_width"], s["kv_heads"] * s["head_width"]
    layer = [(s["width"], inner), (s["width"], kv), (s["width"], kv), (inner, s["width"])]
    return (layer + [(s["width"], s["ff_width"])] * s["mlp_matrices"]) * s["layers"]


def rule_error(name: str) -> Exact:
    """|12 L d^2 / N - 1| with the weights N of the matrices of a listed plain model, exactly."""
    shape = anatomies()[name]
    weights = sum(rows * columns for rows, columns in matrices(shape))
    return Exact(abs(Fraction(12 * shape.sizes["layers"] * shape.sizes["width"] ** 2, weights) - 1))


def name_error(name: str) -> Exact:
    """How far the reported size of a plain decoder is from its weights with embeddings and read-out, relative to the latter."""
    shape = anatomies()[name]
    s = shape.sizes
    outside = s["width"] * (s["vocab"] * (1 if shape.tied else 2) + s["positions"])
    total = sum(rows * columns for rows, columns in matrices(shape)) + outside
    return Exact(abs(reported_size(shape.reported) / total - 1))


# --- the measured side of the claims ------------------------------------------------------------------------------------------

# The textbook's table of model depths: printed size in units of its last digit, and the net it names.
PRINTED = {
    "GPT-2 Small": (124, 10**6, gpt2(12, 768, 50257, 1024)),
    "GPT-2 Medium": (355, 10**6, gpt2(24, 1024, 50257, 1024)),
    "GPT-2 Large": (774, 10**6, gpt2(36, 1280, 50257, 1024)),
    "GPT-2 XL": (15, 10**8, gpt2(48, 1600, 50257, 1024)),
    "LLaMA 7B": (7, 10**9, llama(32, 4096, 4096, 4096, 11008, 32000)),
    "LLaMA 70B": (70, 10**9, llama(80, 8192, 8192, 1024, 28672, 32000)),
}


# GPT-3's Table 2.1 as recalled: width, heads, width of a head. The shapes of model_anatomy.csv lack the row XL, whose heads do not fit its width.
GPT3_TABLE = {
    "GPT-3 Small": (768, 12, 64), "GPT-3 Medium": (1024, 16, 64), "GPT-3 Large": (1536, 16, 96), "GPT-3 XL": (2048, 24, 128),
    "GPT-3 2.7B": (2560, 32, 80), "GPT-3 6.7B": (4096, 32, 128), "GPT-3 13B": (5140, 40, 128), "GPT-3 175B": (12288, 96, 128),
}


def printed_gap(name: str) -> Exact:
    """Distance between a size printed in the textbook's table and the exact one, in units of the last printed digit."""
    printed, unit, net = PRINTED[name]
    return Exact(abs(Fraction(counted(net), unit) - printed))


def counted_weights(net: Net) -> int:
    """The entries of the weight matrices of layers, by the same walk."""
    return sum(math.prod(shape) for name, shape in dict(net.walk()).items() if len(shape) == 2 and name[0].isdigit())


def option_error(case: Case) -> Exact:
    """How far the printed 150 million is from the weights of a net with feed-forward width f, relative to the latter."""
    return Exact(abs(Fraction(150 * 10**6, counted_weights(gpt2(case.depth, case.width, ff=case.ff_width))) - 1))


def widest_shared(depth: int, width: int) -> int:
    """The largest width at which one layer, used by all, has no more weights than `depth` layers of the given width."""
    budget = counted_weights(gpt2(depth, width))
    low, high = width, depth * width + 1  # fits, and does not
    while high - low > 1:
        middle = (low + high) // 2
        low, high = (middle, high) if counted_weights(gpt2(1, middle)) <= budget else (low, middle)
    return low


def t5_size(depth: int, width: int, heads: int) -> Exact:
    """Parameters of a T5 with `depth` layers in each stack and feed-forward width 4 d, to the nearest million."""
    return Exact((counted(t5(depth, width, width, 4 * width, 32128, heads)) + 500_000) // 10**6)


def t5_growth(what: str) -> Exact:
    """T5-11B over BERT-base: parameters to the nearest ten times, or layers with both stacks or with one."""
    large, base = t5(24, 1024, 128 * 128, 65536, 32128, 128), bert(12, 768, 30522, 512)
    if what == "parameters":
        return Exact((counted(large) + 5 * counted(base)) // (10 * counted(base)) * 10)
    layers = sum(depth for depth, _ in large.stacks) if what == "layers of both stacks" else large.stacks[0][0]
    return Exact(Fraction(layers, base.stacks[0][0]))


def active(case: Case) -> Exact:
    """Parameters of the tensors one token passes through, when the router picks the experts 0 to k - 1."""
    net = mixture(case.depth, case.width, case.attention_width, case.kv_width, case.ff_width, case.vocabulary, case.experts)
    tensors = {name: math.prod(shape) for name, shape in net.walk()}
    idle = {f"0.{layer}.{e}." for layer in range(case.depth) for e in range(case.experts_active, case.experts)}
    return Exact(sum(size for name, size in tensors.items() if not any(name.startswith(prefix) for prefix in idle)))


def enumeration(net: Callable[[], Any], condition: str = "for every size") -> Callable[[Any], Iterable[Step]]:
    """An argument for an identity of counts: the tensors with symbolic sizes sum to the right side, as polynomials.

    Args:
        net: builds the count from glossary symbols.
        condition: the sizes it covers.
    """
    def proof(statement: Any) -> Iterable[Step]:
        from sympy import Eq, expand

        yield Step("the statement is an identity", isinstance(statement, Eq) and statement.lhs.is_Symbol)
        yield Step(f"{condition} the tensors sum to the right side", expand(net() - statement.rhs) == 0)
    return proof

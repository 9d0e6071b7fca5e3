"""Explicit weights for the nets of `nets`: induction, hop_k and graph reach, with the depth at which each stops.

The weights are loaded into `Net` and run by torch like any trained net. What they should compute is in `depthlaw.theory`.

Theorems let queries, keys and values be arbitrary functions of a token's state, where nets have linear maps. Constructions that use this
freedom say so and carry a `row_map`, which sees one token at a time; the others consist of weights alone.
"""
from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from itertools import count, islice
from typing import TYPE_CHECKING, Literal

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor
from torch.nn import functional

from depthlaw.advisor.laws import layers_for_hops
from depthlaw.theory.connectivity.graph_attention import distances
from depthlaw.theory.hops.network import BOTTOM
from depthlaw.theory.hops.pointers import hop_k

from .nets import Net, RowMap, Shape

if TYPE_CHECKING:
    import networkx as nx

__all__ = ["Construction", "averaging", "cubing", "hop_errors", "hop_network", "hop_scale", "hop_weights", "hop_weights_scale", "induction",
           "reach", "relu_stream", "support"]

Hard = Literal["hard", "softmax"]


@dataclass(frozen=True)
class Construction:
    """A net with explicit weights, and how a task is put into it and read from it.

    Attributes:
        net: one replica.
        encode: the task's input -> the net's input (1, batch, tokens, ...).
        decode: the net's output -> the answers.
        row_map: what acts on each token between the layers; None where the weights do everything.
    """

    net: Net
    encode: Callable[[Tensor], Tensor]
    decode: Callable[[Tensor], Tensor]
    row_map: RowMap | None = None

    def __call__(self, given: Tensor) -> Tensor:
        """The answers."""
        with torch.no_grad():
            return self.decode(self.net(self.encode(given.to(self.net.qkv[0].device)), row_map=self.row_map))


# --- hops, by weights alone --------------------------------------------------------------------------------------------------------


def induction(alphabet: int, tokens: int, *, depth: int = 2, attention: Hard = "hard", scale: float | None = None,
              dtype: torch.dtype = torch.float64) -> Construction:
    """Induction in two layers: what followed the last earlier copy of each symbol. This is `hop_weights` for one hop.

    >>> induction(3, 6)(torch.tensor([[0, 1, 0, 2, 1, 0]])).tolist()
    [[-1, -1, 1, -1, 0, 2]]
    """
    return hop_weights(1, alphabet, tokens, depth=depth, attention=attention, scale=scale, dtype=dtype)


def hop_weights(hops: int, alphabet: int, tokens: int, *, depth: int | None = None, attention: Hard = "hard", scale: float | None = None,
                dtype: torch.dtype = torch.float64) -> Construction:
    """hop_k by weights alone, one head, ceil(log2 k) + 2 layers: `hop_network` with one-hot symbols in place of row-wise functions.

    Tokens are one-hot symbols, positions are points on a circle, both learned tables. Layer 1 turns its own point back by one step
    and fetches the symbol there. Layer 2 scores 1 for a key whose previous symbol is the query's, plus less than 1/2 growing with the
    position, against 3/4 for the start token; it fetches the point of the best token and its symbol. Every later layer looks up the
    fetched point, so the pointer doubles. What is fetched goes to columns of its own, so the width is O(|Sigma| log k).

    Args:
        hops: k, at least 1.
        alphabet: number of symbols.
        tokens: N, the length of the sequences; a start token is put in front.
        depth: layers; None for as many as it needs. With fewer, the answer so far is read.
        attention: hard, or softmax, which needs a scale.
        scale: factor on the scores; None for `hop_weights_scale` with softmax.

    Returns:
        (batch, N) symbols from 0 -> (batch, N) symbols, -1 where no k-th hop exists.

    >>> hop_weights(2, 2, 6)(torch.tensor([[0, 1, 0, 1, 1, 0]])).tolist()
    [[-1, -1, -1, 1, 1, 0]]
    """
    depth = layers_for_hops(hops) if depth is None else depth
    if scale is None and attention == "softmax":
        scale = hop_weights_scale(tokens, depth)
    c = _HopColumns.allot(hops, alphabet + 1, depth)
    net = Net(Shape(width=c.width, depth=depth, vocabulary=alphabet + 1, positions="learned", length=tokens + 1, outputs=alphabet + 1,
                    causal=True, attention=attention, scale=scale), dtype=dtype)
    step, place = 2 * math.pi / (tokens + 1), torch.arange(tokens + 1, dtype=torch.float64)
    one_hot = torch.eye(alphabet + 1, dtype=dtype)
    with torch.no_grad():
        net.embedding[0][:, c.token] = one_hot
        net.position[0][:, c.place] = _point(step * place).to(dtype)
        net.position[0][:, c.rising] = torch.stack([place / (2 * tokens + 2), torch.ones_like(place)], 1).to(dtype)
        net.read_out[0][c.answers[-1]] = one_hot
    back = torch.tensor([[math.cos(step), -math.sin(step)], [math.sin(step), math.cos(step)]])
    _load(net, 0, query=[(c.place, back)], key=[(c.place, None)], value=[(c.token, c.previous)])
    if depth > 1:
        # The last column of a token is the mark of the start token.
        bonus = [(c.previous, None), ([c.rising[0], c.token[-1]], torch.tensor([[1.0], [0.75]]))]
        _load(net, 1, query=[(c.token, None), (c.rising[1:], None)], key=bonus,
              value=[(c.place, c.pointers[0]), (c.token, c.answers[1])])
    for layer in range(2, depth):
        old, new = (c.pointers[layer - 2], c.answers[layer - 1]), (c.pointers[layer - 1], c.answers[layer])
        copied = [(a, b) for a, b in zip(old, new, strict=True) if a != b]
        _load(net, layer, query=[(old[0], None)], key=[(c.place, None)], value=copied)
    return Construction(net, lambda s: functional.pad(s, (1, 0), value=alphabet)[None], lambda y: _symbols(y, alphabet))


def hop_weights_scale(tokens: int, depth: int) -> float:
    """Factor on the scores from which on `hop_weights` is right with softmax: 2 log((N + 1)/epsilon)/gap, epsilon = gap/(8 L).

    The gap is that of two points one step apart, or of two matches one position apart. A head that leaves weight epsilon to other tokens
    errs by at most 2 epsilon in what it fetches, L of them by 2 L epsilon, which moves a score by less than gap/4 and a difference of
    two by less than gap/2; so half of the gap remains to every head.

    >>> round(hop_weights_scale(100, 6))
    15234
    """
    gap = min(1 - math.cos(2 * math.pi / (tokens + 1)), 1 / (2 * tokens + 2))
    return 2 * math.log((tokens + 1) * 8 * depth / gap) / gap


@dataclass(frozen=True)
class _HopColumns:
    """Which columns of the hidden states hold what in `hop_weights`; pointers after layer 2, 3, ..., answers after layer 1, 2, ..."""

    token: list[int]
    place: list[int]
    rising: list[int]
    previous: list[int]
    pointers: list[list[int]]
    answers: list[list[int]]
    width: int

    @classmethod
    def allot(cls, hops: int, symbols: int, depth: int) -> _HopColumns:
        free = count()
        token, place, rising, previous = (list(islice(free, size)) for size in (symbols, 2, 2, symbols))
        pointers, answers = [], [token]
        for layer in range(2, depth + 1):
            pointers.append(list(islice(free, 2)))
            fetches = layer == 2 or hops - 1 >> layer - 3 & 1
            answers.append(list(islice(free, symbols)) if fetches else answers[-1])
        return cls(token, place, rising, previous, pointers, answers, next(free))


def _load(net: Net, layer: int, *, query: list[tuple[list[int], Tensor | None]], key: list[tuple[list[int], Tensor | None]],
          value: list[tuple[list[int], list[int]]]) -> None:
    """Set one head: query and key read columns through a matrix (None: as they are), values are copied from columns to columns."""
    width = net.shape.width
    read_query, read_key, read_value, write = (torch.zeros(width, width, dtype=torch.float64) for _ in range(4))
    for matrix, parts in ((read_query, query), (read_key, key)):
        start = 0
        for columns, through in parts:
            through = torch.eye(len(columns)) if through is None else through
            matrix[columns, start:start + through.shape[1]] = through.double()
            start += through.shape[1]
    start = 0
    for source, target in value:
        entries = list(range(start, start + len(source)))
        read_value[source, entries], write[entries, target] = 1.0, 1.0
        start += len(source)
    net.set_attention_weights(layer, read_query, read_key, read_value, write)


def _symbols(logits: Tensor, alphabet: int) -> Tensor:
    """(1, batch, 1 + N, |Sigma| + 1) -> (batch, N); the last class is the start token's, which stands for "there is none"."""
    best = logits[0, :, 1:].argmax(-1)
    return best.where(best < alphabet, BOTTOM)


def _point(angle: Tensor) -> Tensor:
    return torch.stack([angle.cos(), angle.sin()], dim=-1)


# --- hops, in the width of the theorem -------------------------------------------------------------------------------------------

# Columns of the hidden states: what a token knows, what it has just fetched, and what its head reads next.
_POSITION, _SYMBOL, _PREVIOUS, _POINTER, _ANSWER = range(5)
_FETCHED, _QUERY, _KEY, _VALUE, _WIDTH = slice(5, 7), slice(7, 10), slice(10, 13), slice(13, 15), 15


def hop_network(hops: int, alphabet: int, tokens: int, *, depth: int | None = None, attention: Hard = "hard", scale: float | None = None,
                spacing: int = 2, dtype: torch.dtype = torch.float64) -> Construction:
    """hop_k in width 15 for every alphabet and length, one head, ceil(log2 k) + 2 layers, with row-wise functions between the layers.

    The repaired construction of `depthlaw.theory.hops.network.causal`: layer 1 fetches the previous symbol, layer 2 the last token whose
    previous symbol is the query's, every later layer the token that the pointer names, by the cosine between angles. The attention is
    that of the net, with weights that select columns. Its row map rounds what was fetched to whole numbers and computes the angles of the
    next queries and keys, the freedom that the theorem grants.

    Args:
        hops: k, at least 1.
        alphabet: number of symbols.
        tokens: N, the length of the sequences; a start token is put in front.
        depth: layers; None for as many as it needs. With fewer, the answer so far is read.
        attention: hard, or softmax, which needs a scale.
        scale: factor on the scores; None for `hop_scale` with softmax.
        spacing: angle between two symbols in units of N; 1 as printed, 2 is exact.

    Returns:
        (batch, N) symbols from 0 -> (batch, N) symbols, -1 where no k-th hop exists.

    >>> hop_network(2, 2, 6)(torch.tensor([[0, 1, 0, 1, 1, 0]])).tolist()
    [[-1, -1, -1, 1, 1, 0]]

    References: Sanford, Hsu and Telgarsky 2024, arXiv:2402.09268v1, Theorem 4.2 and Appendix F.4, with our two corrections.
    """
    depth = layers_for_hops(hops) if depth is None else depth
    if scale is None and attention == "softmax":
        scale = hop_scale(tokens, alphabet)
    net = Net(Shape(width=_WIDTH, depth=depth, causal=True, attention=attention, scale=scale), dtype=dtype)
    q, k, v, fetched = (list(range(s.start, s.stop)) for s in (_QUERY, _KEY, _VALUE, _FETCHED))
    for layer in range(depth):
        _load(net, layer, query=[(q, None)], key=[(k, None)], value=[(v, fetched)])

    def encode(sequences: Tensor) -> Tensor:
        hidden = torch.zeros(1, len(sequences), tokens + 1, _WIDTH, dtype=dtype, device=sequences.device)
        hidden[..., _POSITION] = torch.arange(tokens + 1)
        hidden[..., _SYMBOL] = hidden[..., _ANSWER] = functional.pad(sequences, (1, 0), value=BOTTOM)
        return hidden

    def row_map(layer: int, hidden: Tensor) -> Tensor:
        return _prepare(layer, _settle(layer, hidden, hops), tokens, alphabet, spacing)

    return Construction(net, encode, lambda y: y[0, :, 1:, _ANSWER].long(), row_map)


def hop_scale(tokens: int, alphabet: int) -> float:
    """Factor on the scores from which on `hop_network` is right with softmax: log((N + 1)/epsilon)/gap.

    With epsilon = 1/(2 max(N, |Sigma|) + 2), at most epsilon of the weight is elsewhere, on numbers that differ by at most N or |Sigma|, so
    rounding restores them. The smallest gap is 1 - cos(2 pi/(N + 1)) in a lookup and 1 - cos(pi/(N |Sigma|)) in the last-occurrence head.

    >>> round(hop_scale(100, 4))
    321745
    """
    gap = 1 - math.cos(min(2 * math.pi / (tokens + 1), math.pi / (tokens * alphabet)))
    return math.log((tokens + 1) * (2 * max(tokens, alphabet) + 2)) / gap


def _settle(layer: int, hidden: Tensor, hops: int) -> Tensor:
    """Row map, first half: what the layer has fetched becomes a number that the token knows."""
    hidden = hidden.clone()
    first, second = hidden[..., _FETCHED].round().unbind(-1)
    if layer == 1:
        hidden[..., _PREVIOUS] = first
    elif layer > 1:
        hidden[..., _POINTER] = first
        if layer == 2 or hops - 1 >> layer - 3 & 1:
            hidden[..., _ANSWER] = second
    hidden[..., _FETCHED] = 0
    return hidden


def _prepare(layer: int, hidden: Tensor, tokens: int, alphabet: int, spacing: int) -> Tensor:
    """Row map, second half: queries, keys and values of the next layer."""
    position, symbol, previous, pointer, answer = (hidden[..., column].double() for column in range(5))
    zero, turn, period = torch.zeros_like(position), 2 * math.pi / (tokens + 1), spacing * tokens * alphabet
    if layer == 1:
        step = 2 * math.pi / period
        query = torch.cat([_point(step * (spacing * tokens * symbol + position)), zero[..., None] + 1], -1)
        key = torch.cat([_point(step * (spacing * tokens * previous + position)), zero[..., None]], -1)
        # The third entry is a score for every query: the start token lies between true matches and wrong symbols, token 1 never matches.
        for place, score in ((0, math.cos(step * (tokens - 0.5))), (1, -2.0)):
            key[position == place] = torch.tensor([0, 0, score], dtype=key.dtype, device=key.device)
        value = torch.stack([position, symbol], -1)
    else:
        target, read = ((position - 1).clamp(min=0), (symbol, zero)) if layer == 0 else (pointer, (pointer, answer))
        query, key = (torch.cat([_point(turn * where), zero[..., None]], -1) for where in (target, position))
        value = torch.stack(read, -1)
    for columns, entries in ((_QUERY, query), (_KEY, key), (_VALUE, value)):
        hidden[..., columns] = entries.to(hidden.dtype)
    return hidden


def hop_errors(construction: Construction, sequences: Sequence[Sequence[int]] | NDArray[np.int64], hops: int) -> int:
    """How many tokens of all sequences (of one length) a construction answers wrongly.

    >>> [hop_errors(hop_network(2, 2, 6, depth=depth), [[0, 1, 0, 1, 1, 0]], 2) for depth in (1, 2, 3)]
    [3, 3, 0]
    """
    given = np.asarray(sequences, dtype=np.int64)
    right = torch.tensor([hop_k(row, hops, missing=BOTTOM) for row in given.tolist()])
    return int((construction(torch.from_numpy(given)).cpu() != right).sum())


# --- reach in graphs --------------------------------------------------------------------------------------------------------------


def cubing(vertices: int, depth: int, *, clip: bool = False, dtype: torch.dtype = torch.float64) -> Construction:
    """Reach 3^L by linearised attention: identity weights and no skip connection map X = A + I to X X^T X, so L layers to (A + I)^(3^L).

    Args:
        vertices: n, the number of tokens and the width.
        depth: L.
        clip: set every positive entry to 1 after each layer, by a row map, which keeps the support. Without it entries grow doubly
            exponentially in L and weights are all there is.

    Returns:
        (batch, n, n) symmetric adjacency without loops -> (batch, n, n) bool, which pairs have a positive entry.

    >>> path = torch.diag(torch.ones(29), 1) + torch.diag(torch.ones(29), -1)
    >>> [int(cubing(30, depth)(path[None])[0, 0].sum()) - 1 for depth in (1, 2, 3)]
    [3, 9, 27]
    """
    net = Net(Shape(width=vertices, depth=depth, attention="linearised", residual=False), dtype=dtype)
    for layer in range(depth):
        net.set_attention_weights(layer, *[torch.eye(vertices)] * 4)
    return Construction(net, lambda a: _with_loops(a, dtype), _positive, (lambda layer, h: (h > 0).to(h)) if clip else None)


def relu_stream(vertices: int, depth: int, *, dtype: torch.dtype = torch.float64) -> Construction:
    """Reach 3^L by ReLU attention as published, (1/n) ReLU(h h^T) h, appended to the stream, so that the width doubles: 2^L n.

    The stream is a skip connection here, and each layer writes to columns that were 0. The read-out adds up the blocks of n columns.

    Args, Returns: as for `cubing`. All scores are non-negative, so ReLU changes none of them.

    Raises:
        ValueError: where the factors 1/n could leave the range of the dtype.

    References: Ye et al. 2025, arXiv:2510.19753 (as reported), the disentangled transformer and Theorem 4.3.
    """
    if (3**depth - 1) / 2 * math.log(vertices) > -math.log(torch.finfo(dtype).tiny):
        raise ValueError(f"depth={depth} with {vertices} vertices divides by more than {dtype} can hold; use less depth or float64")
    net = Net(Shape(width=2**depth * vertices, depth=depth, attention="relu", outputs=vertices), dtype=dtype)
    for layer in range(depth):
        old = list(range(2**layer * vertices))
        _load(net, layer, query=[(old, None)], key=[(old, None)], value=[(old, [len(old) + column for column in old])])
    with torch.no_grad():
        net.read_out[0] = torch.eye(vertices).repeat(2**depth, 1)
    return Construction(net, lambda a: functional.pad(_with_loops(a, dtype), (0, (2**depth - 1) * vertices)), _positive)


def averaging(vertices: int, depth: int, *, attention: Hard = "hard", scale: float | None = None,
              dtype: torch.dtype = torch.float64) -> Construction:
    """Reach 2^L by plain averages: each token gives equal weight to the tokens in its row and replaces its row by the support of the mean.

    Scores are the entries of the row (the key of token k is one-hot at k), so the largest, 1, are the vertices reached. A row map turns
    what is above 1/(2n) into 1 and the rest into 0: a mean over at most n rows has entries of at least 1/n, or 0. With softmax the others
    keep weight, at most n exp(-scale), which is 1/(4n) at the default scale log(4 n^2). Directed graphs are accepted.

    Args:
        vertices: n, the number of tokens; the width is 3 n.
        depth: L.
        attention: hard, with ties averaged, or softmax.
        scale: factor on the scores; None for log(4 n^2) with softmax.

    Returns:
        (batch, n, n) adjacency without loops -> (batch, n, n) bool, row u: what u reaches.

    >>> path = torch.diag(torch.ones(29), 1) + torch.diag(torch.ones(29), -1)
    >>> [int(averaging(30, depth)(path[None])[0, 0].sum()) - 1 for depth in (1, 2, 3, 4)]
    [2, 4, 8, 16]

    References: Merrill and Sabharwal 2025, arXiv:2503.03961, Theorem 2, for doubling by averages; it spends two layers of fixed width and
    n^3 padding tokens on each doubling, where this spends one of width 3 n.
    """
    if scale is None and attention == "softmax":
        scale = math.log(4 * vertices**2)
    net = Net(Shape(width=3 * vertices, depth=depth, attention=attention, scale=scale), dtype=dtype)
    row, index, mean = (list(range(block * vertices, (block + 1) * vertices)) for block in range(3))
    for layer in range(depth):
        _load(net, layer, query=[(row, None)], key=[(index, None)], value=[(row, mean)])

    def encode(adjacency: Tensor) -> Tensor:
        rows = _with_loops(adjacency, dtype)
        return torch.cat([rows, torch.eye(vertices).to(rows).expand_as(rows), torch.zeros_like(rows)], -1)

    def row_map(layer: int, hidden: Tensor) -> Tensor:
        rows, indices, means = hidden.split(vertices, dim=-1)
        return hidden if layer == 0 else torch.cat([(means > 1 / (2 * vertices)).to(rows), indices, torch.zeros_like(means)], -1)

    return Construction(net, encode, lambda y: _positive(y[..., :vertices]), row_map)


def support(construction: Construction, g: nx.Graph) -> NDArray[np.bool_]:
    """The pairs of vertices (0..n-1 in order) that a construction calls connected.

    Raises:
        OverflowError: where entries grew beyond the dtype.
    """
    import networkx as nx

    adjacency = torch.from_numpy(nx.to_numpy_array(g, nodelist=range(len(g)), weight=None))
    return construction(adjacency.fill_diagonal_(0)[None])[0].cpu().numpy()


def reach(construction: Construction, g: nx.Graph) -> int:
    """The distance up to which a construction calls pairs of vertices connected, and beyond which it calls none so.

    The diameter of g bounds what can be seen: take a graph that is long enough.

    Raises:
        ArithmeticError: where no such distance exists.

    >>> import networkx as nx
    >>> reach(cubing(12, 2), nx.path_graph(12)), reach(averaging(12, 2), nx.path_graph(12))
    (9, 4)
    """
    seen, far = support(construction, g), distances(g)
    farthest = int(far[seen & (far < len(g))].max(initial=0))
    if (seen != (far <= farthest)).any():
        raise ArithmeticError(f"the pairs called connected are not those up to distance {farthest}")
    return farthest


def _with_loops(adjacency: Tensor, dtype: torch.dtype) -> Tensor:
    return (adjacency != 0).to(dtype)[None] + torch.eye(adjacency.shape[-1], dtype=dtype, device=adjacency.device)


def _positive(output: Tensor) -> Tensor:
    if not output.isfinite().all():
        raise OverflowError(f"entries grew beyond {output.dtype}; use less depth, float64, or clip=True")
    return output[0] > 0

"""Classes of models: what of them shows in the weights of a net."""

from __future__ import annotations

import itertools
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from depthlaw.advisor.base.quantities import UsageError, plural, quoted

from .attention import AttentionNet, Head
from .fields import Field, Vector
from .recurrent import RecurrentNet

Net = AttentionNet | RecurrentNet


def breaks(
    net: Net,
    kind: str,
    parameters: Mapping[str, Any] | None = None,
    letters: int | None = None,
) -> str:
    """What of a class of the atlas a net breaks, as far as its weights show it; "" for nothing.
    `parameters`: of the task; `letters`: of every word, where they have one length.

    What they do not show (that sizes do not grow with the length, how many bits a number has) is
    for a reader to check.

    Raises:
        UsageError: for a class of which weights show nothing.
    """
    if kind not in CHECKED:
        raise UsageError(
            f"whether a net is of the class {kind} does not show in such a file; accepted are "
            + ", ".join(CHECKED)
        )
    recurrent = kind in _RECURRENT
    if recurrent != isinstance(net, RecurrentNet):
        return f"nets of the class {kind} are {'recurrent' if recurrent else 'of attention'}"
    if isinstance(net, RecurrentNet):
        steps = [(letter, *step) for layer in net.layers for letter, step in layer.step.items()]
        for letter, matrix, add in steps:
            if why := _breaks_step(kind, net.field, matrix, add):
                return f"the step of {quoted(letter)} {why}"
        return ""
    rules = _ATTENTION[kind]
    if rules.thoughts != (net.thoughts is not None):
        return "its thoughts are vectors (`thoughts`)" if rules.thoughts else "it has no thoughts"
    if rules.thoughts and len(net.layers) != 2:
        return f"it has two layers, not {len(net.layers)}"
    for head in (head for layer in net.layers for head in layer.heads):
        if head.kind not in rules.kinds:
            return f"a head has attention {head.kind}; the class has {' or '.join(rules.kinds)}"
        if rules.masks and head.mask not in rules.masks:
            return f"a head has the mask {head.mask}; the class has {' or '.join(rules.masks)}"
    few, many = _least_heads(kind, letters), _most_heads(kind, letters, parameters or {})
    for layer in net.layers:
        if few is not None and len(layer.heads) < few:
            return f"a layer has at least {plural(few, 'head')}, not {len(layer.heads)}"
        if many is not None and len(layer.heads) > many:
            return f"a layer has at most {plural(many, 'head')}, not {len(layer.heads)}"
        if rules.residual and not layer.residual:
            return "the input of a layer is added to what its heads give (`residual`)"
    if rules.read == "mark" and (net.end if net.at == "last" else net.start) is None:
        return "it is read at a letter after the word (`end`), or before it (`start`)"
    if rules.masks == ("strict",) and net.at == "first":
        return "it is read at the last letter (`at`)"
    if rules.read == "every token" and (net.end is not None or net.at == "first" or net.by_length):
        return (
            "it answers at every token, so that it is read at the last letter of the word (`at`, "
            "no `end`), and no position depends on n"
        )
    for number, layer in enumerate(net.layers):
        if any(head.kind == "weights" for head in layer.heads) and (
            number or not all(_fixed_query(head, net) for head in layer.heads)
        ):
            return (
                'attention "weights" is softmax only in the first layer, with a query that no '
                "position enters"
            )
    if not rules.positions and net.positions:
        return "it has no positions"
    if isinstance(rules.positions, str) and (net.by_length or not net.polynomial):
        return "no position depends on n, or has i in an exponent but of 1 or -1"
    if rules.positions == "added" and any(factor is not None for factor in net.factors):
        return "what is of the place is added to what is of the letter, not multiplied with it"
    if rules.mlp == "none" and any(layer.mlp for layer in net.layers):
        return "it has no MLP"
    if rules.mlp == "not last" and net.layers and net.layers[-1].mlp:
        return "it has no MLP after the last layer"
    if rules.by_place:
        return _not_by_place(net, rules.by_place)
    if rules.read == "vertices":
        return _no_graph_net(net, kind == "linear-attention-graph")
    return ""


def _no_graph_net(net: AttentionNet, plain: bool) -> str:
    """What keeps a net from being linear attention on the rows of A + I, `plain` with identity
    weights."""
    if net.start is not None or net.end is not None:
        return "it has a token for each vertex and no other (`start`, `end`)"
    size, one = len(net.alphabet[0]), net.field.number(1)
    if {len(letter) for letter in net.alphabet} != {size} or len(set(net.alphabet)) != 2**size:
        return "its letters are rows of A + I"
    rows = list(itertools.product((0, 1), repeat=size))
    if {"".join(map(str, row)) for row in rows} != set(net.alphabet):
        return "its letters are rows of A + I"
    given = {row: net.embedding["".join(map(str, row))] for row in rows}
    zero = given[(0,) * size]
    units = [given[tuple(int(i == j) for j in range(size))] for i in range(size)]
    for row, vector in given.items():
        sums = list(zero)
        for bit, unit in zip(row, units, strict=True):
            sums = [s + bit * (u - z) for s, u, z in zip(sums, unit, zero, strict=True)]
        if sums != vector:
            return "an embedding is no linear function of the row of A + I, with constants"
    if not plain:
        return ""
    identity = [[one * (i == j) for j in range(size)] for i in range(size)]
    if units != identity or any(zero):
        return "its states are the rows of A + I"
    for layer in net.layers:
        matrices = [m for h in layer.heads for m in (h.query, h.key, h.value, h.output)]
        if len(layer.heads) != 1 or layer.residual or any(m != identity for m in matrices):
            return "a layer is one head with identity matrices and no residual"
        if layer.heads[0].divide != one:
            return "it divides by nothing"
    return ""


def _not_by_place(net: AttentionNet, which: tuple[str, ...]) -> str:
    """What keeps keys, or queries as well, from being functions of the place: then the token that
    is looked up is the choice of the asking token alone, or of its place."""
    fixed = _same_for_all_letters(net)
    for number, layer in enumerate(net.layers, 1):
        written = {
            i
            for matrix in [*(head.output for head in layer.heads), *(layer.mlp or [])[2:]]
            for i, row in enumerate(matrix)
            if any(row)
        }
        for head, what in itertools.product(layer.heads, which):
            rows = getattr(head, what)
            if any(entry for row in rows for i, entry in enumerate(row) if i not in fixed):
                return f"a {what} of layer {number} is no function of the place alone"
        fixed = fixed - written if layer.residual else set[int]()
    return ""


def _same_for_all_letters(net: AttentionNet) -> set[int]:
    """The coordinates of the first states that depend on the place alone."""
    given = [net.embedding[letter] for letter in net.alphabet]
    letters = len(given[0])
    # A mark stands at a place of its own.
    same = {i for i in range(letters) if len({vector[i] for vector in given}) == 1}
    return same | {letters + i for i, c in enumerate(net.factors) if c is None or c in same}


def _fixed_query(head: Head, net: AttentionNet) -> bool:
    """Whether what a head of the first layer asks depends on the letter alone. Then the logarithm
    of a weight is a product of the letter with a vector for each key, which an embedding may hold.
    """
    places = len(net.positions)
    return head.kind != "weights" or not any(
        entry for row in head.query for entry in row[len(row) - places :]
    )


def _least_heads(kind: str, letters: int | None) -> int | None:
    if kind == "softmax-linear-readout":
        return letters
    return 2 if kind == "linear-readout-two-heads" else None


def _most_heads(kind: str, letters: int | None, parameters: Mapping[str, Any]) -> int | None:
    if kind == "linear-readout-few-heads" and letters is not None:
        return letters - 1
    if kind == "softmax-heads":
        return parameters.get("k")
    one = ("linear-readout-one-head", "one-causal-head", "one-strict-head", "one-lookup")
    return 1 if kind in (*one, "one-causal-head-fixed") else None


@dataclass(frozen=True)
class _Attention:
    """What a class of attention admits.

    Attributes:
        kinds: of attention. masks: that it may have; () for any. positions: whether it may have
            some; "of one kind" for those that do not depend on n and that a polynomial in the
            place bounds, "added" for such without factors of the letter. mlp: "any", "not last" or
            "none". residual: whether it must have it.
        read: "mark", at a letter that is none of the word's, "every token", "vertices", where
            there is no other token, or "any".
        by_place: which of "key" and "query" are functions of the place alone.
        thoughts: whether it has two layers, whose thoughts are vectors.
    """

    kinds: tuple[str, ...]
    masks: tuple[str, ...] = ()
    positions: bool | str = True
    mlp: str = "any"
    residual: bool = False
    read: str = "any"
    by_place: tuple[str, ...] = ()
    thoughts: bool = False


_SOFTMAX = ("softmax", "weights")
_HARD = ("hard-right", "hard-left")
_LINEAR_READOUT = (
    "softmax-linear-readout",
    "linear-readout-few-heads",
    "linear-readout-two-heads",
    "linear-readout-one-head",
)

_ATTENTION = {
    "softmax": _Attention(_SOFTMAX),
    "softmax-positions": _Attention(
        ("softmax",), ("none", "causal"), positions="added", residual=True
    ),
    **dict.fromkeys(_LINEAR_READOUT, _Attention(_SOFTMAX, mlp="none", read="mark")),
    "softmax-heads": _Attention((*_SOFTMAX, "average"), mlp="not last", residual=True),
    "one-causal-head": _Attention((*_SOFTMAX, "average", *_HARD), ("causal",), read="every token"),
    "one-causal-head-fixed": _Attention(
        (*_SOFTMAX, "average", *_HARD), ("causal",), positions="of one kind", read="every token"
    ),
    "one-strict-head": _Attention(_HARD, ("strict",), read="every token"),
    "one-lookup": _Attention(_HARD, ("causal",), by_place=("key",)),
    "fixed-positions": _Attention(_HARD, residual=True, by_place=("query", "key")),
    "continuous-thought": _Attention((*_SOFTMAX, "average"), ("causal",), thoughts=True),
    "uhat-right": _Attention(("hard-right",), ("strict",), positions=False, read="mark"),
    "uhat-left": _Attention(("hard-left",), ("strict",), positions=False, read="mark"),
    "linear-attention": _Attention(("linear",), mlp="none"),
    **dict.fromkeys(
        ("linear-attention-graph", "linear-attention-graph-any"),
        _Attention(("linear",), ("none",), positions=False, mlp="none", read="vertices"),
    ),
}


_RECURRENT = ("diagonal-ssm", "sign-ssm", "deltanet")
CHECKED = (*_ATTENTION, *_RECURRENT)


def _breaks_step(kind: str, field: Field, matrix: list[Vector], add: Vector) -> str:
    size, one = len(matrix), field.number(1)
    if kind in ("diagonal-ssm", "sign-ssm"):
        if any(matrix[i][j] for i in range(size) for j in range(size) if i != j):
            return "is not diagonal"
        if kind == "sign-ssm" and any(matrix[i][i] not in (one, -one) for i in range(size)):
            return "has an eigenvalue that is not 1 or -1"
        # Over residues an additive input makes one layer do what no complex one does.
        if field.domain is not None and field.root is None and any(add):
            return "adds to the state, which residues may not: they stand for roots of unity"
        return ""
    if field.domain is not None and field.root is None:
        return "has residues in place of real numbers"
    # I - A = beta k k^T: symmetric, of rank 1 at most, with trace beta between 0 and 2.
    rest = [[one * (i == j) - matrix[i][j] for j in range(size)] for i in range(size)]
    trace = sum(rest[i][i] for i in range(size))
    flat = all(
        rest[i][j] * rest[k][m] == rest[i][m] * rest[k][j]
        for i in range(size)
        for j in range(size)
        for k in range(size)
        for m in range(size)
    )
    symmetric = all(rest[i][j] == rest[j][i] for i in range(size) for j in range(size))
    inside = field.sign(trace) >= 0 and field.sign(2 * one - trace) >= 0
    return "" if flat and symmetric and inside else "is not I - beta k k^T with beta in [0, 2]"

"""Classes of models: which rules of a row of `classes.csv` a net breaks.

What weights do not show (that sizes do not grow with the length, how many bits a number has) is
for a reader to check. A class whose row has the family "words" shows in no weights.
"""

from __future__ import annotations

import itertools
from collections.abc import Mapping
from functools import reduce
from typing import Any

from depthlaw.advisor.atlas import AtlasClass, classes
from depthlaw.advisor.base.quantities import UsageError, plural, quoted

from .attention import AttentionNet, Head
from .fields import Field, Vector, plus
from .recurrent import RecurrentNet
from .relu import ReluNet
from .thoughts import ThoughtNet

ExactNet = AttentionNet | RecurrentNet | ReluNet | ThoughtNet


def in_class(
    net: ExactNet,
    class_: str | AtlasClass,
    parameters: Mapping[str, Any] | None = None,
    letters: int | None = None,
) -> str:
    """What of a class of the atlas a net breaks, as far as its weights show it; "" for nothing.

    Args:
        net: a net of any family.
        class_: key of a class of the atlas, or a row of another table.
        parameters: of the task, for classes whose numbers are formulas in them.
        letters: of every word, where all have one length.

    Raises:
        UsageError: for a class of which weights show nothing, or a key that is none.

    >>> from depthlaw.theory.nets.json_format import net_of
    >>> layer = {"matrix": [[1, -1], [0, 1], [0, -1]]}
    >>> maximum = net_of({"family": "relu", "layers": [layer], "out": [1, 1, -1]})
    >>> in_class(maximum, "relu-integer"), in_class(maximum, "deltanet")
    ('', 'nets of the class deltanet are of the family recurrent, not relu; accepted are relu, \
relu-integer')
    """
    rules = class_ if isinstance(class_, AtlasClass) else classes().get(class_)
    if rules is None or rules.family == "words":
        raise UsageError(
            f"whether a net is of the class {rules.key if rules else class_} does not show in "
            f"weights; accepted are {', '.join(shown())}"
        )
    if family_of(net) != rules.family:
        thoughts = "continuous thoughts"
        if family_of(net) == "attention" and rules.family == thoughts:
            return "its thoughts are vectors (`thoughts`)"
        if family_of(net) == thoughts and rules.family == "attention":
            return "it has no thoughts"
        return (
            f"nets of the class {rules.key} are of the family {rules.family}, not "
            f"{family_of(net)}; accepted are {', '.join(shown(family_of(net)))}"
        )
    sizes = {**(parameters or {}), **({} if letters is None else {"n": letters})}
    layers = _number(rules.layers, sizes)
    if isinstance(net, ReluNet):
        return "a weight is no integer" if rules.weights == "integer" and not net.whole else ""
    if isinstance(net, ThoughtNet):
        return _breaks_heads(net.most_heads, rules, sizes)
    if layers is not None and len(net.layers) != layers:
        return f"it has {plural(layers, 'layer')}, not {len(net.layers)}"
    if isinstance(net, RecurrentNet):
        steps = [(letter, *step) for layer in net.layers for letter, step in layer.step.items()]
        for letter, matrix, add in steps:
            why = _breaks_arithmetic(rules.arithmetic, net.field, add)
            if why := why or _breaks_step(rules.weights, net.field, matrix):
                return f"the step of {quoted(letter)} {why}"
        return ""
    return _breaks_attention(net, rules, sizes)


def shown(family: str = "") -> tuple[str, ...]:
    """The classes of the atlas that weights can show, of one family of nets or of all."""
    return tuple(
        key
        for key, row in classes().items()
        if row.family == family or (not family and row.family != "words")
    )


def family_of(net: ExactNet) -> str:
    """The family of a net, as rows of classes name it."""
    if isinstance(net, AttentionNet):
        return "attention" if net.thoughts is None else "continuous thoughts"
    return {RecurrentNet: "recurrent", ReluNet: "relu", ThoughtNet: "thoughts"}[type(net)]


def _number(formula: str, sizes: Mapping[str, Any]) -> int | None:
    """A cell such as "2", "k" or "n - 1"; None where it is empty or a letter has no value."""
    letter, _, less = formula.partition(" - ")
    given = int(letter) if letter.isdecimal() else sizes.get(letter)
    return None if given is None else given - int(less or 0)


def _breaks_heads(heads: int, rules: AtlasClass, sizes: Mapping[str, Any]) -> str:
    few, many = _number(rules.least_heads, sizes), _number(rules.most_heads, sizes)
    for formula, number in ((rules.least_heads, few), (rules.most_heads, many)):
        if formula and number is None:
            return f"the class bounds heads by {formula}, which has no value here"
    if few is not None and heads < few:
        return f"a layer has at least {plural(few, 'head')}, not {heads}"
    if many is not None and heads > many:
        return f"a layer has at most {plural(many, 'head')}, not {heads}"
    return ""


def _breaks_attention(net: AttentionNet, rules: AtlasClass, sizes: Mapping[str, Any]) -> str:
    for head in (head for layer in net.layers for head in layer.heads):
        if rules.attention and head.kind not in rules.attention:
            accepted = " or ".join(rules.attention)
            return f"a head has attention {head.kind}; the class has {accepted}"
        if rules.masks and head.mask not in rules.masks:
            return f"a head has the mask {head.mask}; the class has {' or '.join(rules.masks)}"
    for layer in net.layers:
        if why := _breaks_heads(len(layer.heads), rules, sizes):
            return why
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
    if rules.positions == "none" and net.positions:
        return "it has no positions"
    if rules.positions in ("one kind", "added") and (net.by_length or not net.polynomial):
        return "no position depends on n, or has i in an exponent but of 1 or -1"
    if rules.positions == "added" and any(factor is not None for factor in net.factors):
        return "what is of the place is added to what is of the letter, not multiplied with it"
    if rules.mlp == "none" and any(layer.mlp for layer in net.layers):
        return "it has no MLP"
    if rules.mlp == "not last" and net.layers and net.layers[-1].mlp:
        return "it has no MLP after the last layer"
    if rules.weights == "shared" and any(layer != net.layers[0] for layer in net.layers):
        return "its layers are loops of one, with the same weights"
    if rules.by_place:
        return _not_by_place(net, rules.by_place)
    if rules.read == "vertices":
        return _no_graph_net(net, rules.weights == "identity")
    return ""


def _no_graph_net(net: AttentionNet, plain: bool) -> str:
    """What keeps a net from being linear attention on the rows of A + I, `plain` with identity
    weights."""
    if net.start is not None or net.end is not None:
        return "it has a token for each vertex and no other (`start`, `end`)"
    size, letters, one = len(net.alphabet[0]), set(net.alphabet), net.field.number(1)
    if len(letters) != 2**size or {*map("".join, itertools.product("01", repeat=size))} != letters:
        return "its letters are rows of A + I"
    zero = net.embedding["0" * size]
    units = [net.embedding["0" * i + "1" + "0" * (size - 1 - i)] for i in range(size)]
    steps = [plus(unit, [-entry for entry in zero]) for unit in units]
    for letter in letters:
        chosen = (step for step, bit in zip(steps, letter, strict=True) if bit == "1")
        if reduce(plus, chosen, zero) != net.embedding[letter]:
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


def _breaks_arithmetic(arithmetic: str, field: Field, add: Vector) -> str:
    """What keeps a step from the arithmetic of a class: nets are exact, and residues stand for
    roots of unity, which are complex."""
    residues = field.domain is not None and field.root is None
    if arithmetic not in ("complex", "real"):
        return f"is exact in any number, and the class counts in others ({arithmetic})"
    if residues and arithmetic == "real":
        return "has residues in place of real numbers"
    # Over residues an additive input makes one layer do what no complex one does.
    if residues and any(add):
        return "adds to the state, which residues may not: they stand for roots of unity"
    return ""


def _breaks_step(weights: str, field: Field, matrix: list[Vector]) -> str:
    """What keeps a step of a recurrent layer from being "diagonal", with "signs" alone, or one of
    the "reflections" I - beta k k^T."""
    size, one = len(matrix), field.number(1)
    if weights in ("diagonal", "signs"):
        if any(matrix[i][j] for i in range(size) for j in range(size) if i != j):
            return "is not diagonal"
        if weights == "signs" and any(matrix[i][i] not in (one, -one) for i in range(size)):
            return "has an eigenvalue that is not 1 or -1"
        return ""
    # I - A = beta k k^T: symmetric, of rank 1 at most, with trace beta between 0 and 2.
    places = range(size)
    rest = [[one * (i == j) - matrix[i][j] for j in places] for i in places]
    trace = sum(rest[i][i] for i in places)
    flat = all(
        rest[i][j] * rest[k][m] == rest[i][m] * rest[k][j]
        for i, j, k, m in itertools.product(places, repeat=4)
    )
    symmetric = all(rest[i][j] == rest[j][i] for i, j in itertools.product(places, repeat=2))
    inside = field.sign(trace) >= 0 and field.sign(2 * one - trace) >= 0
    return "" if flat and symmetric and inside else "is not I - beta k k^T with beta in [0, 2]"

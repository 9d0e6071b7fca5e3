"""Nets given by explicit weights in a file, and run exactly.

A file is one JSON object. Numbers are integers or strings: "1/3", or, where the file names a
`generator`, polynomials in x such as "1/2*x + 1", for x the named real root. With a prime
`modulus` they are residues, so that 2 stands for a third root of unity modulo 7; then only
recurrent nets run, which compare nothing. Two families of nets (`relu_nets` and `thought_nets` read
two others):

attention (`"family": "attention"`), a net over vectors:
  `alphabet`: the letters; `end`: a letter put after the word, or absent; `start`: one put before.
  `embedding`: letter -> vector. `positions`: expressions in i (0 for the first token) and n (the
  number of tokens), such as "i", "i/n", "(-1)^i", "log(i + 1)" (the natural logarithm), which are
  appended to the vector; ["4^i", 0] stands for the product of 4^i with coordinate 0 of the letter.
  `layers`: each has `heads` and perhaps `mlp` and `"residual": false` (by default the input of a
  layer is added to what its heads give). A head has matrices `query`, `key`, `value`, `output` (all
  act on column vectors); the score of a pair is (query x_i) . (key x_j).
  `attention` of a head: "hard-right", "hard-left" (the largest score, ties to that side),
  "average" (the mean over all with the largest score), "softmax" (weights `base`^score, for a
  rational base above 1 and whole scores, or "e" and any scores), "weights" (positive scores are
  the weights before they are normalised: softmax of their logarithms), "linear" (scores are the
  weights, divided by `divide`, or by the number of tokens where that is "n").
  `mask`: "none", "causal" (j <= i) or "strict" (j < i; a token that sees nothing gets 0).
  An `mlp` has `in`, `bias`, `out`: output (ReLU(in x + bias)) is added to x.
  `read`: a vector and `at`: "last" or "first"; the answer is whether its product with the state
  there is positive. With `labels` it is a list of vectors, and the answer the label of the largest.
  `thoughts`, where there are some: `steps`, `matrix` and `add`. So often matrix x + add, for the
  state x of the last token, is put behind the tokens as another one, whose positions are appended
  as of the others. Of the last of them it is read, before the layers. Depth is the number of steps.
  A net with a base e or a logarithm has softmax heads alone, and runs in balls (`ball_nets`).

recurrent (`"family": "recurrent"`), a net over letters, layer upon layer:
  each layer has `start`, a vector; `step`: letter -> {`matrix` or `diagonal`, and perhaps `add`};
  and `emit`: a list of [state, letter read, letter written], or a table of `letters` read, in one
  string with spaces between them, and `rows` [state, letters written], likewise, "-" for none; the
  state is that after the step. In a layer with `"before": true` it is that before it. A layer reads
  the letters that the one below wrote. The answer is the last letter written.
"""

from __future__ import annotations

import itertools
import json
import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from functools import cache
from pathlib import Path
from typing import Any

import sympy

from depthlaw.advisor.base.quantities import UsageError, plural, quoted

Number = Any
Vector = list[Number]
# Of softmax: base^score has about as many digits.
LARGEST_SCORE = 10_000
MOST_THOUGHTS = 1_000
KINDS = ("hard-right", "hard-left", "average", "softmax", "weights", "linear")
MASKS = ("none", "causal", "strict")
# SymPy evaluates what it parses: of a file it gets nothing but arithmetic in named letters.
_POSITION = re.compile(r"[\d\sin+\-*/^().]+")
# Powers of powers, and others that would take a machine's memory.
_HUGE = re.compile(r"\^\s*\d{3}|\^[^+\-*/]*\^|\^\s*\([\d\s*]{5,}\)|\*\*|\d{20}")
_POLYNOMIAL = re.compile(r"[\d\sx+\-*/^().]+")


_X = sympy.Symbol("x")


def _polynomial(text: str) -> sympy.Expr:
    """Arithmetic in x.

    Raises:
        ValueError: for anything else.
    """
    if not _POLYNOMIAL.fullmatch(text):
        raise ValueError(f"{text!r} is no polynomial in x")
    return sympy.sympify(text.replace("^", "**"), {"x": _X})


@dataclass(frozen=True)
class Field:
    """Where numbers live: the rationals, with a real root of a polynomial, or residues."""

    domain: Any = None
    root: Any = None

    def number(self, text: Any) -> Number:
        """An integer or a string as a number of the field.

        Raises:
            UsageError: for anything else.
        """
        if isinstance(text, int) and not isinstance(text, bool):
            return Fraction(text) if self.domain is None else self.domain.convert(text)
        if isinstance(text, str) and (self.domain is None or self.root is not None):
            try:
                if self.domain is None:
                    if "e" in text.lower():
                        raise ValueError  # 1e9999 would take the memory of the machine
                    return Fraction(text.replace(" ", ""))
                value = self.domain.zero
                for coefficient in sympy.Poly(_polynomial(text), _X, domain="QQ").all_coeffs():
                    value = value * _element(self) + self.domain.from_sympy(coefficient)
                return value
            except (ValueError, ZeroDivisionError, sympy.SympifyError, sympy.PolynomialError):
                pass
        raise UsageError(
            f"cannot read the number {quoted(str(text))}; accepted are whole numbers and strings "
            'such as "1/3"'
            + ("" if self.domain is None else ', or polynomials in x such as "1/2*x + 1"')
        )

    def sign(self, value: Number) -> int:
        """-1, 0 or 1, exactly."""
        if self.domain is None:
            return (value > 0) - (value < 0)
        if not value:
            return 0
        exact, digits = self.domain.to_sympy(value), 30
        while True:  # It is not zero, so that enough digits show its sign.
            found = exact.evalf(digits)
            if abs(found) > sympy.Float(10) ** (10 - digits):
                return 1 if found > 0 else -1
            digits *= 2


@cache
def _element(field: Field) -> Number:
    """The root as an element of its field."""
    return field.domain.from_sympy(field.root)


def field_of(body: Mapping[str, Any]) -> Field:
    """The field that a file names: `"generator": {"polynomial": "x^2 - 2", "above": "1"}` is the
    least root above that number; `"modulus": 7` the residues; by default the rationals."""
    modulus = body.get("modulus")
    if modulus is not None:
        if not isinstance(modulus, int) or modulus is True or not sympy.isprime(modulus):
            raise UsageError(f"the modulus {quoted(str(modulus))} is no prime")
        if body.get("family") != "recurrent":
            raise UsageError("residues have no order: with a modulus the family is recurrent")
        return Field(sympy.GF(modulus, symmetric=False))
    named = body.get("generator")
    if named is None:
        return Field()
    try:
        polynomial = sympy.Poly(_polynomial(named["polynomial"]), _X)
        above = Fraction(str(named.get("above", 0)))
        roots = [root for root in sympy.real_roots(polynomial) if root > above]
    except (KeyError, TypeError, AttributeError, ValueError, sympy.PolynomialError) as error:
        raise UsageError(f"cannot read the generator {quoted(str(named))} ({error})") from None
    if not roots:
        raise UsageError(f"the generator {quoted(str(named))} has no real root above {above}")
    return Field(sympy.QQ.algebraic_field(roots[0]), roots[0])


# --- attention ------------------------------------------------------------------------------------


@dataclass(frozen=True)
class Head:
    """One head: four matrices, the kind of attention, the mask, and what goes with the kind."""

    query: list[Vector]
    key: list[Vector]
    value: list[Vector]
    output: list[Vector]
    kind: str
    mask: str
    base: Number = None
    divide: Any = None


@dataclass(frozen=True)
class Layer:
    """Heads side by side, then perhaps an MLP."""

    heads: tuple[Head, ...]
    mlp: tuple[list[Vector], Vector, list[Vector]] | None
    residual: bool


@dataclass(frozen=True)
class Thoughts:
    """Tokens that a net writes itself: how many, and matrix x + add for the state x of the last."""

    steps: int
    matrix: list[Vector]
    add: Vector


@dataclass(frozen=True)
class AttentionNet:
    """A net over vectors, as in the module's docstring.

    Attributes:
        factors: for each position the coordinate of the letter that multiplies it; None for none.
        by_length: whether a position depends on n.
        polynomial: whether each position is bounded by a polynomial in the place, as its expression
            shows: i is in no exponent but one of 1 or -1.
        in_balls: whether its numbers are no rationals; then `answer` is not for it.
    """

    field: Field
    alphabet: tuple[str, ...]
    start: str | None
    end: str | None
    embedding: Mapping[str, Vector]
    positions: tuple[Callable[[int, int], Number], ...]
    factors: tuple[int | None, ...]
    by_length: bool
    polynomial: bool
    in_balls: bool
    layers: tuple[Layer, ...]
    read: list[Vector]
    labels: tuple[str, ...] | None
    at: str
    thoughts: Thoughts | None = None

    @property
    def depth(self) -> int:
        """Layers, or thoughts where there are some."""
        return self.thoughts.steps if self.thoughts else len(self.layers)

    def answer(self, word: Sequence[str]) -> str | bool:
        """What the net says of a word: a label, or whether the read-out is positive.

        Cost: for each head of each layer n^2 scores, in exact arithmetic; so for each thought.
        """
        tokens = [*filter(None, [self.start]), *word, *filter(None, [self.end])]
        vectors = [list(self.embedding[token]) for token in tokens]
        if self.thoughts is None:
            return self.said(self._states(vectors)[-1 if self.at == "last" else 0])
        for _ in range(self.thoughts.steps):
            last = self._states(vectors)[-1]
            thought = times(self.thoughts.matrix, last)
            vectors.append([a + b for a, b in zip(thought, self.thoughts.add, strict=True)])
        return self.said(self._placed(vectors)[-1])

    def _placed(self, vectors: list[Vector]) -> list[Vector]:
        n, places = len(vectors), list(zip(self.positions, self.factors, strict=True))
        return [
            [*vector, *(at(i, n) if c is None else at(i, n) * vector[c] for at, c in places)]
            for i, vector in enumerate(vectors)
        ]

    def _states(self, vectors: list[Vector]) -> list[Vector]:
        """The states of all tokens after the layers."""
        states = self._placed(vectors)
        for layer in self.layers:
            states = self._through(layer, states)
        return states

    def said(self, state: Vector) -> str | bool:
        """The answer that is read off a state."""
        read = [_dot(row, state) for row in self.read]
        if self.labels is None:
            return self.field.sign(read[0]) > 0
        best = 0
        for k in range(1, len(read)):
            if self.field.sign(read[k] - read[best]) > 0:
                best = k
        return self.labels[best]

    def _through(self, layer: Layer, states: list[Vector]) -> list[Vector]:
        zero = [0 * value for value in states[0]]
        sums = [list(state) if layer.residual else list(zero) for state in states]
        for head in layer.heads:
            for i, given in enumerate(self._attended(head, states)):
                if given is not None:
                    sums[i] = [
                        a + b for a, b in zip(sums[i], times(head.output, given), strict=True)
                    ]
        return [self.after_mlp(layer, state) for state in sums]

    def after_mlp(self, layer: Layer, state: Vector) -> Vector:
        """A state with what the layer's MLP adds to it."""
        if layer.mlp is None:
            return state
        first, bias, second = layer.mlp
        hidden = [a + b for a, b in zip(times(first, state), bias, strict=True)]
        hidden = [h if self.field.sign(h) > 0 else 0 * h for h in hidden]
        return [a + b for a, b in zip(state, times(second, hidden), strict=True)]

    def _attended(self, head: Head, states: list[Vector]) -> list[Vector | None]:
        queries, keys, values = (
            [times(matrix, state) for state in states]
            for matrix in (head.query, head.key, head.value)
        )
        found: list[Vector | None] = []
        for i, query in enumerate(queries):
            last = {"none": len(states), "causal": i + 1, "strict": i}[head.mask]
            scores = [_dot(query, key) for key in keys[:last]]
            weights = self._weights(head, scores, len(states)) if scores else []
            total: Vector | None = None
            for weight, value in zip(weights, values, strict=False):
                if weight:
                    part = [weight * entry for entry in value]
                    total = (
                        part if total is None else [a + b for a, b in zip(total, part, strict=True)]
                    )
            found.append(total)
        return found

    def _weights(self, head: Head, scores: Vector, tokens: int) -> Vector:
        sign = self.field.sign
        if head.kind == "linear":
            by = tokens if head.divide == "n" else head.divide
            return [score / by for score in scores]
        if head.kind in ("softmax", "weights"):
            if head.kind == "softmax":
                powers = [_whole(self.field, score) for score in scores]
                if any(abs(power) > LARGEST_SCORE for power in powers):
                    raise UsageError(
                        f"softmax takes scores up to {LARGEST_SCORE:,}, since base^score is "
                        "written out"
                    )
                scores = [head.base**power for power in powers]
            # Softmax gives no token the weight 0.
            if any(sign(score) <= 0 for score in scores):
                raise UsageError('attention "weights" takes scores above 0')
            total = sum(scores[1:], scores[0])
            return [score / total for score in scores]
        best = scores[0]
        for score in scores[1:]:
            if sign(score - best) > 0:
                best = score
        where = [j for j, score in enumerate(scores) if score == best]
        if head.kind == "average":
            return [self.field.number(f"1/{len(where)}") if s == best else 0 for s in scores]
        chosen = where[-1 if head.kind == "hard-right" else 0]
        return [self.field.number(1) if j == chosen else 0 for j in range(len(scores))]


def _whole(field: Field, score: Number) -> int:
    """A score of softmax as an integer, also where the file names a generator."""
    exact = score if field.domain is None else field.domain.to_sympy(score)
    # A rational number of SymPy has a denominator, any other one has none.
    if getattr(exact, "denominator", None) != 1:
        raise UsageError("softmax takes whole scores, so that base^score is exact")
    return int(exact)


def _dot(one: Vector, other: Vector) -> Number:
    return sum(a * b for a, b in zip(one, other, strict=True))


def times(matrix: list[Vector], vector: Vector) -> Vector:
    """A matrix times a vector."""
    return [_dot(row, vector) for row in matrix]


# --- recurrent layers -----------------------------------------------------------------------------


@dataclass(frozen=True)
class RecurrentLayer:
    """One layer over letters: h <- step[letter] h + add[letter]."""

    start: tuple[Number, ...]
    step: Mapping[str, tuple[list[Vector], Vector]]
    emit: Mapping[tuple[tuple[Number, ...], str], str]
    before: bool


@dataclass(frozen=True)
class RecurrentNet:
    """A net over letters, as in the module's docstring."""

    field: Field
    alphabet: tuple[str, ...]
    layers: tuple[RecurrentLayer, ...]

    @property
    def depth(self) -> int:
        """Layers."""
        return len(self.layers)

    def answer(self, word: Sequence[str]) -> str:
        """The last letter that the last layer writes.

        Raises:
            UsageError: for a state and letter that the file says nothing of.
        """
        letters = list(word)
        for number, layer in enumerate(self.layers, 1):
            state, written = layer.start, []
            for letter in letters:
                if letter not in layer.step:
                    raise UsageError(f"layer {number} has no step for the letter {quoted(letter)}")
                matrix, add = layer.step[letter]
                after = tuple(a + b for a, b in zip(times(matrix, list(state)), add, strict=True))
                key = (state if layer.before else after, letter)
                if key not in layer.emit:
                    raise UsageError(
                        f"layer {number} writes nothing in the state {list(map(str, key[0]))} for "
                        f"the letter {quoted(letter)}"
                    )
                written.append(layer.emit[key])
                state = after
            letters = written
        return letters[-1]


Net = AttentionNet | RecurrentNet


# --- what of a class shows in the weights --------------------------------------------------------


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


# --- files ----------------------------------------------------------------------------------------

_WANTED = "give a file of explicit weights, such as docs/examples/nets/parity.json of a checkout"


def read_body(file: Path) -> dict[str, Any]:
    """The JSON object of a file, whatever is in it.

    Raises:
        UsageError: what is wrong with it, in one line.
    """
    try:
        body = json.loads(file.read_text(encoding="utf-8"), object_pairs_hook=_once)
    except OSError as error:
        raise UsageError(f"cannot read {file} ({error.strerror}); {_WANTED}") from None
    except (ValueError, RecursionError) as error:
        why = "it is nested too deep" if isinstance(error, RecursionError) else error
        raise UsageError(f"{file} is no JSON ({why}); {_WANTED}") from None
    if not isinstance(body, dict):
        raise UsageError(f"{file} holds no JSON object; {_WANTED}")
    _refuse_unknown(body)
    return body


def _once(fields: list[tuple[str, Any]]) -> dict[str, Any]:
    """A JSON object; of a field that stands twice JSON's readers take one, without a word."""
    found = dict(fields)
    if len(found) < len(fields):
        names = [name for name, _ in fields]
        twice = next(name for name in names if names.count(name) > 1)
        raise ValueError(f"the field {quoted(twice)} stands twice")
    return found


_OF_ALL = "family task parameters class about"
# A language is refused with a word on what to do.
_OF_NETS = f"{_OF_ALL} language alphabet layers"
# The fields of a file of each family, and of its layers.
_FIELDS = {
    "attention": (
        f"{_OF_NETS} start end embedding positions read at labels thoughts generator",
        "heads mlp residual",
    ),
    "recurrent": (f"{_OF_NETS} generator modulus", "start step emit before"),
    "relu": (f"{_OF_ALL} layers out add", "matrix bias"),
    "thoughts": (f"{_OF_ALL} alphabet begin thoughts answers", ""),
    "bound": (f"{_OF_ALL} layers words language alphabet", ""),
}
_OF_HEADS = "attention mask query key value output base divide"


def _refuse_unknown(body: Mapping[str, Any]) -> None:
    """A field that nothing reads is a slip, and another net than was meant would be checked."""

    def refuse(part: Any, known: str, where: str) -> None:
        for name in part if isinstance(part, dict) else ():
            if name not in known.split():
                raise UsageError(
                    f"unknown field {quoted(name)}{where}; accepted are {known.replace(' ', ', ')}"
                )

    if (family := body.get("family")) not in _FIELDS:
        return
    known, of_layers = _FIELDS[family]
    refuse(body, known, "")
    layers = body.get("layers")
    for number, layer in enumerate(layers if isinstance(layers, list) else (), 1):
        where = f" in layer {number}"
        refuse(layer, of_layers, where)
        for head in (layer.get("heads") or ()) if isinstance(layer, dict) else ():
            refuse(head, _OF_HEADS, f" in a head of layer {number}")
        if isinstance(layer, dict):
            refuse(layer.get("mlp"), "in bias out", f" in the mlp of layer {number}")


def net_of(body: Mapping[str, Any]) -> Net:
    """The net that a JSON object describes.

    Raises:
        UsageError: for what is missing, unknown or of the wrong size.
    """
    family = body.get("family")
    if family not in ("attention", "recurrent"):
        raise UsageError(
            f"the family of nets {quoted(str(family))} is not known; accepted are attention, "
            "recurrent, relu and thoughts"
        )
    field = field_of(body)
    try:
        return (_attention if family == "attention" else _recurrent)(body, field)
    except KeyError as missing:
        raise UsageError(f"the file lacks {missing} where it is needed") from None
    except (TypeError, AttributeError, ValueError) as error:
        raise UsageError(f"the file has a part of the wrong form: {error}") from None


def letters_of(body: Mapping[str, Any]) -> tuple[str, ...]:
    """The alphabet of a file.

    Raises:
        UsageError: unless it is a list of strings.
    """
    alphabet = body["alphabet"]
    if not isinstance(alphabet, list) or not all(isinstance(letter, str) for letter in alphabet):
        raise UsageError('the alphabet is a list of letters, each a string: ["a", "b"]')
    return tuple(alphabet)


def _attention(body: Mapping[str, Any], field: Field) -> AttentionNet:
    embedding = {token: _vector(field, v) for token, v in body["embedding"].items()}
    alphabet = letters_of(body)
    marks = [body[end] for end in ("start", "end") if body.get(end) is not None]
    if not all(isinstance(mark, str) and mark for mark in marks):
        raise UsageError("start and end are letters, which are strings and not empty")
    for token in (*alphabet, *marks):
        if token not in embedding:
            raise UsageError(f"the letter {quoted(token)} has no embedding")
    if len({len(vector) for vector in embedding.values()}) != 1:
        raise UsageError("the embeddings of letters have different lengths")
    size = len(next(iter(embedding.values())))
    placed = [_with_factor(given, size) for given in body.get("positions", ())]
    texts, factors = [text for text, _ in placed], tuple(factor for _, factor in placed)
    positions = tuple(_position(field, text) for text in texts)
    width = size + len(positions)
    layers = []
    for number, layer in enumerate(body["layers"], 1):
        heads = tuple(_head(field, head, width, number) for head in layer["heads"])
        mlp = None
        if "mlp" in layer:
            first, second = (_matrix(field, layer["mlp"][name]) for name in ("in", "out"))
            mlp = (first, _vector(field, layer["mlp"]["bias"]), second)
            hidden = {len(first), len(mlp[1]), len(second[0])}
            if len(first[0]) != width or len(second) != width or len(hidden) != 1:
                raise UsageError(f"the mlp of layer {number} does not fit the width {width}")
        layers.append(Layer(heads, mlp, _flag(layer, "residual", True)))
    logarithms = any("log" in text for text in texts)
    in_balls = logarithms or any(head.base == "e" for layer in layers for head in layer.heads)
    if in_balls and (
        field.domain is not None
        or "thoughts" in body
        or any(head.kind != "softmax" for layer in layers for head in layer.heads)
    ):
        raise UsageError(
            "a net with logarithms or the base e has softmax heads alone, no generator and no "
            "thoughts"
        )
    labels = body.get("labels")
    if labels and not all(isinstance(label, bool | str) for label in labels):
        raise UsageError("labels are strings, or true and false")
    if labels and len(set(labels)) < len(labels):
        raise UsageError("each label has one vector: the largest of several is no linear read-out")
    read = _matrix(field, body["read"] if labels else [body["read"]])
    if any(len(row) != width for row in read) or (labels and len(read) != len(labels)):
        raise UsageError(f"the read-out does not fit the width {width}, or its labels")
    at = body.get("at", "last")
    if at not in ("last", "first"):
        raise UsageError(f"the read-out is at last or first, not at {quoted(str(at))}")
    return AttentionNet(
        field,
        alphabet,
        body.get("start"),
        body.get("end"),
        embedding,
        positions,
        factors,
        any("n" in text for text in texts),
        all(map(_polynomial_place, texts)),
        in_balls,
        tuple(layers),
        read,
        tuple(labels) if labels else None,
        at,
        _thoughts(field, body["thoughts"], width, len(positions)) if "thoughts" in body else None,
    )


def _flag(layer: Mapping[str, Any], name: str, usual: bool) -> bool:
    value = layer.get(name, usual)
    if not isinstance(value, bool):
        raise UsageError(f"{name} is true or false, not {quoted(str(value))}")
    return value


def _thoughts(field: Field, given: Mapping[str, Any], width: int, positions: int) -> Thoughts:
    matrix, add = _matrix(field, given["matrix"]), _vector(field, given["add"])
    steps = given["steps"]
    if not isinstance(steps, int) or isinstance(steps, bool) or not 1 <= steps <= MOST_THOUGHTS:
        raise UsageError(f"the number of thoughts is from 1 to {MOST_THOUGHTS:,}")
    if len(matrix[0]) != width or {len(matrix), len(add)} != {width - positions}:
        raise UsageError(f"the matrix of the thoughts does not fit the width {width}")
    return Thoughts(steps, matrix, add)


def _head(field: Field, head: Mapping[str, Any], width: int, layer: int) -> Head:
    kind, mask = head["attention"], head.get("mask", "none")
    if kind not in KINDS:
        raise UsageError(f"attention {quoted(str(kind))}: accepted are {', '.join(KINDS)}")
    if mask not in MASKS:
        raise UsageError(f"mask {quoted(str(mask))}: accepted are {', '.join(MASKS)}")
    query, key, value, output = (
        _matrix(field, head[name]) for name in ("query", "key", "value", "output")
    )
    fits = (
        all(len(matrix[0]) == width for matrix in (query, key, value))
        and len(query) == len(key)
        and len(output) == width
        and len(output[0]) == len(value)
    )
    if not fits:
        raise UsageError(f"a head of layer {layer} has matrices that do not fit the width {width}")
    base: Number = None
    if kind == "softmax":
        base = "e" if head["base"] == "e" else field.number(head["base"])
    if base not in (None, "e") and field.sign(base - 1) <= 0:
        raise UsageError("the base of softmax is above 1")
    divide = head.get("divide", 1)
    if divide != "n" and field.sign(field.number(divide)) == 0:
        raise UsageError("scores are divided by n or a number other than 0")
    return Head(
        query,
        key,
        value,
        output,
        kind,
        mask,
        base,
        divide if divide == "n" else field.number(divide),
    )


def _recurrent(body: Mapping[str, Any], field: Field) -> RecurrentNet:
    layers = []
    for layer in body["layers"]:
        start = tuple(_vector(field, layer["start"]))
        size = len(start)
        step = {}
        for letter, given in layer["step"].items():
            if "diagonal" in given:
                entries = _vector(field, given["diagonal"])
                if len(entries) != size:
                    raise UsageError(
                        f"the step of {quoted(letter)} does not fit a state of size {size}"
                    )
                matrix = [
                    [entries[i] if i == j else field.number(0) for j in range(size)]
                    for i in range(size)
                ]
            else:
                matrix = _matrix(field, given["matrix"])
            add = _vector(field, given["add"]) if "add" in given else [field.number(0)] * size
            if len(matrix) != size or any(len(row) != size for row in matrix) or len(add) != size:
                raise UsageError(
                    f"the step of {quoted(letter)} does not fit a state of size {size}"
                )
            step[letter] = (matrix, add)
        emit = {
            (tuple(_vector(field, state)), read): written
            for state, read, written in _triples(layer["emit"])
        }
        if not all(isinstance(written, str) for written in emit.values()):
            raise UsageError("what a layer writes is a letter, which is a string")
        layers.append(RecurrentLayer(start, step, emit, _flag(layer, "before", False)))
    return RecurrentNet(field, letters_of(body), tuple(layers))


def _triples(emit: Any) -> Iterator[tuple[Any, str, str]]:
    """State, letter read and letter written; of a table what is not "-"."""
    if not isinstance(emit, dict):
        yield from emit
        return
    letters = emit["letters"].split()
    for state, row in emit["rows"]:
        for read, written in zip(letters, row.split(), strict=True):
            if written != "-":
                yield state, read, written


def _vector(field: Field, entries: Any) -> Vector:
    return [field.number(entry) for entry in entries]


def _matrix(field: Field, rows: Any) -> list[Vector]:
    matrix = [_vector(field, row) for row in rows]
    if not matrix or len({len(row) for row in matrix}) != 1:
        raise UsageError("a matrix has rows of different lengths, or none")
    return matrix


def _position(field: Field, text: str) -> Callable[[int, int], Number]:
    """A feature of the position, as an expression in i and n: a number of the field, or one of
    SymPy's if it has a logarithm that is irrational."""
    expression = _in_place(text)

    @cache
    def at(place: int, tokens: int) -> Number:
        value = expression.subs({_PLACE: place, _TOKENS: tokens})
        if value.is_Rational:
            return field.number(f"{value.p}/{value.q}")
        if not (expression.has(sympy.log) and value.is_real):
            raise UsageError(
                f"the position {quoted(text)} is no real number at i = {place}, or irrational "
                "without a logarithm"
            )
        return value

    return at


def _with_factor(given: Any, size: int) -> tuple[Any, int | None]:
    """The expression of a position, and the coordinate of the letter that multiplies it."""
    if not isinstance(given, list):
        return given, None
    if len(given) != 2 or type(given[1]) is not int or not 0 <= given[1] < size:
        raise UsageError(
            f"cannot read the position {quoted(str(given))}; a product is an expression and a "
            f'coordinate of the letter from 0 to {size - 1}, such as ["4^i", 0]'
        )
    return given[0], given[1]


_PLACE, _TOKENS = sympy.symbols("i n")


def _in_place(text: str) -> sympy.Expr:
    """An expression in i and n, which may have logarithms.

    Raises:
        UsageError: for anything else.
    """
    arithmetic = text.replace("log(", "(") if isinstance(text, str) else ""
    if not _POSITION.fullmatch(arithmetic) or _HUGE.search(arithmetic):
        raise UsageError(
            f"cannot read the position {quoted(str(text))}; try i, i/n, (-1)^i or log(i + 1)"
        )
    try:
        names = {"i": _PLACE, "n": _TOKENS, "log": sympy.log}
        return sympy.sympify(text.replace("^", "**"), names)
    except (sympy.SympifyError, TypeError) as error:
        raise UsageError(f"cannot read the position {quoted(text)} ({error})") from None


def _polynomial_place(text: str) -> bool:
    """Whether no power has the place in its exponent, but those of 1 and -1."""
    return not any(
        power.exp.free_symbols and power.base not in (1, -1)
        for power in _in_place(text).atoms(sympy.Pow)
    )

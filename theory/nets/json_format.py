"""Nets given by explicit weights in a file, and run exactly.

A file is one JSON object. Numbers are integers or strings: "1/3", or, where the file names a
`generator`, polynomials in x such as "1/2*x + 1", for x the named real root. With a prime
`modulus` they are residues, so that 2 stands for a third root of unity modulo 7; then only
recurrent nets run, which compare nothing. Two families of nets (`relu` and `thoughts` read
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
  A net with a base e or a logarithm has softmax heads alone, and runs in balls (`balls`).

recurrent (`"family": "recurrent"`), a net over letters, layer upon layer:
  each layer has `start`, a vector; `step`: letter -> {`matrix` or `diagonal`, and perhaps `add`};
  and `emit`: a list of [state, letter read, letter written], or a table of `letters` read, in one
  string with spaces between them, and `rows` [state, letters written], likewise, "-" for none; the
  state is that after the step. In a layer with `"before": true` it is that before it. A layer reads
  the letters that the one below wrote. The answer is the last letter written.
"""

from __future__ import annotations

import copy
import json
import re
from collections.abc import Callable, Iterator, Mapping
from functools import cache, lru_cache, partial
from pathlib import Path
from typing import Any, TypeVar

import sympy

from depthlaw.advisor.base.quantities import UsageError, quoted

from .attention import KINDS, MASKS, AttentionNet, Head, Layer, Thoughts
from .classes import ExactNet
from .fields import Field, Number, Vector, field_of, integers, letters_of
from .recurrent import RecurrentLayer, RecurrentNet
from .relu import ReluNet, relu_net
from .thoughts import ThoughtNet, thought_net

Some = TypeVar("Some", AttentionNet, RecurrentNet, ReluNet, ThoughtNet)

MOST_THOUGHTS = 1_000
# SymPy evaluates what it parses: of a file it gets nothing but arithmetic in named letters.
_POSITION = re.compile(r"[\d\sin+\-*/^().]+")
# Powers of powers, and others that would take a machine's memory.
_HUGE = re.compile(r"\^\s*\d{3}|\^[^+\-*/]*\^|\^\s*\([\d\s*]{5,}\)|\*\*|\d{20}")

_WANTED = "give a file of explicit weights, such as docs/examples/nets/parity.json of a checkout"


def read_body(file: Path | Mapping[str, Any]) -> dict[str, Any]:
    """The JSON object of a file, whatever is in it; or this object, with known fields alone.

    Raises:
        UsageError: what is wrong with it, in one line.
    """
    if isinstance(file, Mapping):
        _refuse_unknown(file)
        return dict(file)
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
# What fields are, wherever they stand in a net; those without a value are left out.
_FORMS: dict[str, tuple[Any, str]] = {
    "a list": (list | tuple | None, "alphabet positions layers heads read labels out bias"),
    "an object": (Mapping | None, "embedding mlp parameters generator thoughts answers step"),
    "a string": (str | None, "task language about"),
}


def _refuse_unknown(body: Mapping[str, Any]) -> None:
    """A field that nothing reads is a slip, and another net than was meant would be checked; so is
    an object in place of a list, and a matrix that does not fit."""

    def refuse(part: Any, known: str, where: str) -> None:
        if not isinstance(part, Mapping):
            raise UsageError(f"{where.removeprefix(' in ')} is {quoted(str(part))}; give an object")
        for name, value in part.items():
            if name not in known.split():
                raise UsageError(
                    f"unknown field {quoted(name)}{where}; accepted are {known.replace(' ', ', ')}"
                )
            for form, (kind, names) in _FORMS.items():
                if name in names.split() and not isinstance(value, kind):
                    raise UsageError(f"{name}{where} is {quoted(str(value))}; give {form}")

    if (family := str(body.get("family"))) not in _FIELDS:
        return
    known, of_layers = _FIELDS[family]
    if family == "bound":
        body = {name: value for name, value in body.items() if name not in ("layers", "alphabet")}
    refuse(body, known, "")
    misfit = partial(_refuse_misfit, field_of(body))
    vectors = [v for v in (body.get("embedding") or {}).values() if isinstance(v, list | tuple)]
    width = len([*vectors[0], *(body.get("positions") or ())]) if vectors else None
    for number, layer in enumerate(body.get("layers") or (), 1):
        refuse(layer, of_layers, f" in layer {number}")
        misfit(layer, "matrix", f" in layer {number}", None, None)
        for letter, step in (layer.get("step") or {}).items():
            where = f" in the step of {quoted(letter)} in layer {number}"
            refuse(step, "matrix diagonal add", where)
            misfit(step, "matrix", where, None, misfit(step, "matrix", where, None, None))
        for place, head in enumerate(layer.get("heads") or (), 1):
            where = f" in head {place} of layer {number}"
            refuse(head, _OF_HEADS, where)
            misfit(head, "key", where, misfit(head, "query", where, None, width), width)
            misfit(head, "output", where, width, misfit(head, "value", where, None, width))
        if (mlp := layer.get("mlp")) is not None:
            where = f" in the mlp of layer {number}"
            refuse(mlp, "in bias out", where)
            misfit(mlp, "out", where, width, misfit(mlp, "in", where, None, width))


def _refuse_misfit(
    field: Field, part: Any, name: str, where: str, rows: int | None, columns: int | None
) -> int | None:
    """Raises unless a matrix, where there is one, has so many rows and columns, None for any.
    Returns how many rows it has."""
    if name not in part:
        return None
    try:
        matrix = _matrix(field, part[name])
    except TypeError:
        raise UsageError(f"{name}{where} is no list of rows, each a list of numbers") from None
    except UsageError as error:
        raise UsageError(f"{name}{where}: {error}") from None
    high, wide = len(matrix), len(matrix[0])
    if rows not in (None, high) or columns not in (None, wide):
        asked = f"{rows or high} x {columns or wide}"
        raise UsageError(f"{name}{where} is {high} x {wide}; the rest of the net asks for {asked}")
    return high


def net_of(body: Mapping[str, Any]) -> ExactNet:
    """The net that a JSON object describes.

    Raises:
        UsageError: for what is missing, unknown or of the wrong size.
    """
    readers: dict[Any, Callable[[Mapping[str, Any]], ExactNet]] = {
        "attention": _attention,
        "recurrent": _recurrent,
        "relu": relu_net,
        "thoughts": thought_net,
    }
    if (family := str(body.get("family"))) not in readers:
        raise UsageError(
            f"the family of nets {quoted(family)} is not known; accepted are attention, "
            "recurrent, relu and thoughts"
        )
    try:
        return readers[family](body)
    except KeyError as missing:
        raise UsageError(f"the file lacks {missing} where it is needed") from None
    except UsageError:
        raise
    except (TypeError, AttributeError, ValueError) as error:
        raise UsageError(f"the file has a part of the wrong form: {error}") from None


def _of_kind(kind: type[Some], body: Mapping[str, Any]) -> Some:
    """`net_of`, for what is known to be of one family."""
    net = net_of(body)
    assert isinstance(net, kind)
    return net


# The net of attention, or the recurrent net, that a JSON object describes; raises as `net_of` does.
attention_net = partial(_of_kind, AttentionNet)
recurrent_net = partial(_of_kind, RecurrentNet)


def changed(net: Some, *way: str | int, to: Any) -> Some:
    """The net with one entry of its JSON changed: what a negative control measures.

    Args:
        net: of any family.
        way: where the entry stands, such as "layers", 0, "heads", 0, "query", 0, 0.
        to: what stands there instead.

    Raises:
        UsageError: for a way that is none, or where `to` stands already.
    """
    body: Any = copy.deepcopy(net.body)
    part = body
    try:
        for name in way[:-1]:
            part = part[name]
        same = part[way[-1]] == to
    except (KeyError, IndexError, TypeError):
        raise UsageError(f"the net has no entry {' '.join(map(str, way))}") from None
    if same:
        raise UsageError(f"the entry {' '.join(map(str, way))} of the net is {to} already")
    part[way[-1]] = to
    return _of_kind(type(net), body)


def text_of(value: Any, indent: int = 0) -> str:
    """JSON with rows of numbers or letters in one line."""
    inner = "\n" + " " * (indent + 1)
    if isinstance(value, dict) and value:
        items = [f"{json.dumps(key)}: {text_of(each, indent + 1)}" for key, each in value.items()]
        return "{" + inner + ("," + inner).join(items) + "\n" + " " * indent + "}"
    line = json.dumps(value, ensure_ascii=False)
    nested = isinstance(value, list) and any(isinstance(each, list | dict) for each in value)
    if not nested or len(line) <= 98 - indent:
        return line
    return "[" + inner + ("," + inner).join(text_of(each, indent + 1) for each in value) + "]"


def _attention(body: Mapping[str, Any]) -> AttentionNet:
    field = field_of(body)
    embedding = {token: field.numbers(v) for token, v in body["embedding"].items()}
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
            mlp = (first, field.numbers(layer["mlp"]["bias"]), second)
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
        body,
    )


def _flag(layer: Mapping[str, Any], name: str, usual: bool) -> bool:
    value = layer.get(name, usual)
    if not isinstance(value, bool):
        raise UsageError(f"{name} is true or false, not {quoted(str(value))}")
    return value


def _thoughts(field: Field, given: Mapping[str, Any], width: int, positions: int) -> Thoughts:
    matrix, add = _matrix(field, given["matrix"]), field.numbers(given["add"])
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
    if divide != "n" and field.sign(divide := field.number(divide)) == 0:
        raise UsageError("scores are divided by n or a number other than 0")
    return Head(query, key, value, output, kind, mask, base, divide)


def _recurrent(body: Mapping[str, Any]) -> RecurrentNet:
    field, layers = field_of(body), []
    for layer in body["layers"]:
        start = tuple(integers(field.numbers(layer["start"])))
        size = len(start)
        step = {}
        for letter, given in layer["step"].items():
            if "diagonal" in given:
                entries, zero = field.numbers(given["diagonal"]), field.number(0)
                places = range(len(entries))
                matrix = [[entries[i] if i == j else zero for j in places] for i in places]
            else:
                matrix = _matrix(field, given["matrix"])
            add = field.numbers(given["add"]) if "add" in given else [field.number(0)] * size
            if len(matrix) != size or any(len(row) != size for row in matrix) or len(add) != size:
                raise UsageError(
                    f"the step of {quoted(letter)} does not fit a state of size {size}"
                )
            step[letter] = integers((matrix, add))
        emit = {
            (tuple(integers(field.numbers(state))), read): written
            for state, read, written in _triples(layer["emit"])
        }
        if not all(isinstance(written, str) for written in emit.values()):
            raise UsageError("what a layer writes is a letter, which is a string")
        layers.append(RecurrentLayer(start, step, emit, _flag(layer, "before", False)))
    return RecurrentNet(field, letters_of(body), tuple(layers), body)


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


def _matrix(field: Field, rows: Any) -> list[Vector]:
    matrix = [field.numbers(row) for row in rows]
    if not matrix or len({len(row) for row in matrix}) != 1:
        raise UsageError("a matrix has rows of different lengths, or none")
    return matrix


def _position(field: Field, text: str) -> Callable[[int, int], Number]:
    """A feature of the position, as an expression in i and n: a number of the field, or one of
    SymPy's if it has a logarithm that is irrational."""
    by_length = _TOKENS in _in_place(text).free_symbols
    return lambda place, tokens: _number_at(field, text, place, tokens if by_length else 0)


@lru_cache(1 << 16)
def _number_at(field: Field, text: str, place: int, tokens: int) -> Number:
    expression = _in_place(text)
    value = expression.subs({_PLACE: place, _TOKENS: tokens})
    if value.is_Rational:
        return field.number(f"{value.p}/{value.q}")
    if not (expression.has(sympy.log) and value.is_real):
        raise UsageError(
            f"the position {quoted(text)} is no real number at i = {place}, or irrational "
            "without a logarithm"
        )
    return value


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
    """An expression in i and n, which may have logarithms."""
    arithmetic = text.replace("log(", "(") if isinstance(text, str) else ""
    if not _POSITION.fullmatch(arithmetic) or _HUGE.search(arithmetic):
        raise UsageError(
            f"cannot read the position {quoted(str(text))}; try i, i/n, (-1)^i or log(i + 1)"
        )
    return _expression(text)


@cache
def _expression(text: str) -> sympy.Expr:
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

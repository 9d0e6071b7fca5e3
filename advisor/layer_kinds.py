"""Kinds of layers that mix tokens in another way than attention: their names, weights and states.

A kind is a row of layer_kinds.json, with formulas for the sizes of its tensors and of its state, in
the letters that a class of model_classes.json reads from a configuration. Where the atlas of least
depth has such a class of models, the row names it, and says in what its layers differ.
"""

from __future__ import annotations

import json
from collections import Counter
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

from .architecture import Part

if TYPE_CHECKING:
    from .model_classes import Config

# What stands in a layer, by what configurations call it.
_BLOCKS = {
    "full": "full_attention attention * 1",
    "other": "linear_attention mamba recurrent conv M 0",
    "mlp": "mlp -",
    "experts": "moe E",
}
_MEANINGS = {said: block for block, names in _BLOCKS.items() for said in names.split()}


class LayerKind(NamedTuple):
    """What is known of a kind."""

    name: str
    atlas: str  # the class of the atlas that it is nearest to; empty: none
    differs: str  # in what it differs from that class
    source: str
    mark: str


@cache
def _table() -> dict[str, dict[str, Any]]:
    path = Path(__file__).with_name("layer_kinds.json")
    table: dict[str, dict[str, Any]] = json.loads(path.read_text(encoding="utf-8"))
    return table


@cache
def layer_kinds() -> dict[str, LayerKind]:
    """All kinds, by their key."""
    rows = {key: row for key, row in _table().items() if "name" in row}
    return {key: LayerKind(*(row[f] for f in LayerKind._fields)) for key, row in rows.items()}


def mixed_layers(
    c: Config, fields: dict[str, Any], blocks: dict[str, Any], mixers: list[dict[str, Any]]
) -> dict[str, Any]:
    """The fields of an Architecture that say which layers attend and what stands in the others.

    Args:
        c: the configuration.
        fields: those of the net that were read before.
        blocks: where the configuration says what stands in each layer, or what stands in all.
        mixers: the parts of the class that stand there, with the keys of their sizes.

    Raises:
        UsageError: for a list of layers that is none, and for sizes that do not divide.
    """
    flat = {name: value for name, value in c.values.items() if value != "auto"}
    for name, value in c.values.items():
        if isinstance(value, dict):
            flat |= {f"{name}.{key}": inner for key, inner in value.items()}
    flattened = type(c)(flat, c.kind)
    listed = Counter(_blocks(flattened, fields, blocks))
    layers = sum(listed.values())
    others = listed["other"] + listed["both"]
    read: dict[str, Any] = {"layers": layers}
    read["attention_layers"] = layers - listed["other"] - listed["mlp"] - listed["experts"]
    if "near" in blocks:
        window, default = blocks["near"]
        near = {"window": c.size(window, default=default)}
        read |= near | {"window_layers": read["attention_layers"]}
    if blocks.get("single"):
        read["mlp_layers"] = listed["mlp"] + listed["experts"]
        read["experts.dense_layers"] = listed["mlp"]
    letters = _letters(fields | {"layers": layers})
    parts = []
    for mixer in mixers:
        for letter, (key, *default) in mixer.get("sizes", {}).items():
            letters[letter] = _size(flattened, key, default, letters)
        times = others - mixer.get("but", 0)
        if times > 0:
            parts.append(_part(flattened, mixer, times, letters))
    if "ff" in letters:
        read["d_ff"] = letters["ff"]
    return read | {"parts": tuple(parts)}


def further_weights(
    c: Config, fields: dict[str, Any], further: dict[str, str]
) -> tuple[tuple[str, int], ...]:
    """Weights that stand in no list of layers here, each with the formula of their number."""
    letters = _letters(fields)
    return tuple((name, _number(c, "", formula, letters)) for name, formula in further.items())


def _letters(fields: dict[str, Any]) -> dict[str, int]:
    """The sizes of a net as the letters of formulas: d, L, H heads of p, C tokens, F, D."""
    width, heads = fields["width"], fields.get("heads", 0)
    own = fields.get("head_width") or (width // heads if heads else 0)
    others = {"C": "context", "F": "d_ff", "D": "experts.dense_layers"}
    letters = {letter: fields.get(name) or 0 for letter, name in others.items()}
    return letters | {"d": width, "L": fields["layers"], "H": heads, "p": own}


def _blocks(c: Config, fields: dict[str, Any], blocks: dict[str, Any]) -> list[str]:
    """What stands in each layer: a key of `_BLOCKS`."""
    layers = fields.get("layers") or c.optional("num_hidden_layers", most=10_000) or 0
    allowed = {"full", "other"} | ({"mlp", "experts"} if "single" in blocks else set())
    known = {said for said, block in _MEANINGS.items() if block in allowed}
    for key in blocks.get("list", "").split():
        listed = c.values.get(key)
        if listed is None:
            continue
        of_text = isinstance(listed, str | list) and all(str(each) in known for each in listed)
        if not of_text or not listed or len(listed) != (layers or len(listed)):
            many = f"{layers} " if layers else ""
            c.refuse(key, f"it is not a list of {many}kinds of layers that are known here")
        return [_MEANINGS[str(each)] for each in listed]
    if "cycle" in blocks and isinstance(cycle := c.values.get(blocks["cycle"]), list) and cycle:
        if not all(str(each) in known for each in cycle):
            c.refuse(blocks["cycle"], "it is not a list of kinds of layers that are known here")
        return [_MEANINGS[str(cycle[i % len(cycle)])] for i in range(layers)]
    if "indices" in blocks and (at := c.whole_numbers(blocks["indices"])):
        first = blocks.get("first", 0)
        if len(set(at)) < len(at) or not all(first <= i < layers + first for i in at):
            c.refuse(blocks["indices"], f"it is not a list of different layers of {layers}")
        return ["full" if i + first in at else "other" for i in range(layers)]
    if "every" in blocks:
        key, default = blocks["every"]
        step = c.size(key, default=default)
        at_key, at_default = blocks.get("offset", ("", -1))
        offset = c.size(at_key, default=at_default, least=0) if at_key else at_default % step
        return ["full" if i % step == offset else "other" for i in range(layers)]
    if "all" not in blocks:
        where = next(str(blocks[how]) for how in ("list", "indices", "cycle") if how in blocks)
        c.refuse(where.replace(" ", " or "), "it is missing, and no default is known")
    return [blocks["all"]] * layers


def _size(c: Config, key: str, default: list[Any], letters: dict[str, int]) -> int:
    """The number of a letter: of the first key that the configuration has, or its default, which
    may be a formula."""
    key = next((k for k in key.split() if c.values.get(k) is not None), key)
    otherwise = default[0] if default else None
    if isinstance(otherwise, bool):
        return int(c.flag(key, otherwise))
    if isinstance(otherwise, str):
        otherwise = _number(c, key, otherwise, letters)
    if not key:
        assert otherwise is not None
        return otherwise
    return c.size(*key.split(), default=otherwise)


def _number(c: Config, key: str, formula: str, letters: dict[str, int]) -> int:
    from .atlas.formulas import value  # loaded for hybrid and recurrent nets alone

    found = value(formula, letters)
    if not isinstance(found, int):
        c.refuse(key or "sizes", f"{formula} is not a whole number: the sizes do not divide")
    return found


def _part(c: Config, mixer: dict[str, Any], layers: int, letters: dict[str, int]) -> Part:
    row = _table()[mixer.get("of", mixer["kind"])]

    def number(formula: str) -> int:
        return _number(c, "", formula, letters)

    weights = {
        name: tuple(map(number, sizes.split(", "))) for name, sizes in row["weights"].items()
    }
    there = tuple((name, shape) for name, shape in weights.items() if min(shape))
    for one, other, what in row.get("equal", ()):
        if number(one) != number(other):
            keys = [key for letter, (key, *_) in mixer["sizes"].items() if letter in one]
            c.refuse(
                " and ".join(key.split()[0] for key in keys if key) or "sizes",
                f"{what} are {number(one):,} and the inner width is {number(other):,}; accepted "
                "are sizes that make them equal",
            )
    state, products = number(row["state"]), number(row["products"])
    kept = number(row["kept"]) if "kept" in row else None
    return Part(mixer["kind"], layers, there, state, products, kept)

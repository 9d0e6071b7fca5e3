"""The project's constructions as files: docs/examples/nets.

`python -m depthlaw.theory.least_depth.written_nets FOLDER` writes them; a test compares them with
what is stored.
"""

from __future__ import annotations

import itertools
import sys
from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import Any

from ..claims.values import Case
from ..formal_languages.fixed_precision import leftmost_net
from ..formal_languages.hard_attention import blocks_net
from ..hops.hop_nets import causal_net, self_skipping_net, strict_net
from ..nets.builder import Body, rows
from ..nets.classes import ExactNet
from ..nets.json_format import text_of
from .brackets import brackets_net, looking_back, stair_net
from .chain_of_thought import bit_by_bit, decoder, iterated, kth_one, task
from .composition import lookups
from .continuous_thoughts import vertex_net
from .fixed_reads import doubling_net
from .group_nets import by_signs, cube, octagon
from .group_words import diagonal_net
from .markov_order import heads_net
from .parity import one_head, one_layer, two_layers
from .relu_maxima import blocks
from .two_heads import hard_heads, softmax_heads
from .uniform_parity import uniform

# --- of no claim of this topic ---


def identity_weights(n: int, layers: int) -> Body:
    """X -> X X^T X on A + I, so many times, for n vertices; read where the rows of the first and
    the second one meet."""
    letters = ["".join(bits) for bits in itertools.product("01", repeat=n)]
    unit = rows(n, *({i: 1} for i in range(n)))
    head = {"attention": "linear", "query": unit, "key": unit, "value": unit, "output": unit}
    return {
        "family": "attention",
        "alphabet": letters,
        "embedding": {row: [*map(int, row)] for row in letters},
        "layers": [{"heads": [head], "residual": False}] * layers,
        "read": rows(n, {1: 1})[0],
        "at": "first",
    }


def maximum_of_pairs() -> Body:
    """The maximum of four numbers as that of two maxima, with integer weights."""
    one = [[1, -1, 0, 0], [0, 1, 0, 0], [0, -1, 0, 0]]
    two = [[row[2], row[3], row[0], row[1]] for row in one]
    left, right = [1, 1, -1, 0, 0, 0], [0, 0, 0, 1, 1, -1]
    return {
        "family": "relu",
        "layers": [
            {"matrix": [*one, *two]},
            {
                "matrix": [
                    [x - y for x, y in zip(left, right, strict=True)],
                    right,
                    [-x for x in right],
                ]
            },
        ],
        "out": [1, 1, -1],
    }


# --- files ----------------------------------------------------------------------------------------


# Of a file: task, parameters, class, and what writes the net.
FILES: dict[str, tuple[str, dict[str, Any], str, Callable[[], Body | ExactNet]]] = {
    "letters-hard": ("letters", {"k": 3}, "uhat-right", lambda: looking_back(Case(letters=3))),
    "stair-hard": ("stair", {"k": 3}, "uhat-right", lambda: stair_net(Case(in_a_row=3))),
    "blocks-hard": ("blocks", {"k": 3}, "uhat-right", lambda: blocks_net(Case(blocks=3))),
    "blocks-hard-left": ("blocks", {"k": 3}, "uhat-left", lambda: leftmost_net(Case(blocks=3))),
    "dyck-hard": (
        "dyck",
        {"k": 2, "D": 2},
        "uhat-right",
        lambda: brackets_net(Case(bracket_types=2, nesting=2)),
    ),
    "c2-deltanet": ("elementary-words", {"group": "C2"}, "deltanet", lambda: by_signs("C2")),
    "d8-deltanet": ("dihedral-words", {"group": "D8"}, "deltanet", octagon),
    "s4-deltanet": ("s4-words", {"group": "S4"}, "deltanet", cube),
    "s4-diagonal": (
        "group-words", {"group": "S4"}, "diagonal-ssm", lambda: diagonal_net("S4", 12)
    ),
    "d8-signs": ("two-group-words", {"group": "D8"}, "sign-ssm", lambda: diagonal_net("D8", 2)),
    "hops-causal": (
        "hops", {"k": 3, "symbols": 2}, "one-causal-head-fixed", lambda: causal_net(3, 2)
    ),
    **{
        f"hops-{k}": (
            "hops",
            {"k": k, "symbols": symbols},
            "one-causal-head",
            partial(self_skipping_net, k, symbols),
        )
        for k, symbols in ((3, 3), (5, 2), (7, 2), (15, 2))
    },
    "hops-strict": (
        "hops", {"k": 3, "symbols": 2}, "one-strict-head", lambda: strict_net(3, 2, 64)
    ),
    "kgram": (
        "kgram",
        {"k": 2, "symbols": 3},
        "softmax-heads",
        lambda: heads_net(Case(context=2, symbols=3)),
    ),
    "composition-lookups": (
        "composition", {"k": 3, "N": 2}, "one-lookup", lambda: lookups(Case(depth=2))
    ),
    "product-of-four": (
        "group-product", {"group": "S3", "N": 4}, "fixed-positions", lambda: doubling_net("S3", 2)
    ),
    "ordered-two-heads": (
        "ordered", {"n": 5}, "linear-readout-two-heads", lambda: softmax_heads(5)
    ),
    "ordered-one-head": (
        "ordered", {"n": 5}, "linear-readout-one-head", lambda: softmax_heads(5, heads=1)
    ),
    "parity": ("parity", {}, "softmax", lambda: two_layers(Case(bits=1, attention_base=2))),
    "parity-3-heads": (
        "parity-bits", {"n": 3}, "softmax-linear-readout", lambda: one_layer(Case(bits=3))
    ),
    "parity-one-head": (
        "parity-bits", {"n": 7}, "linear-readout-few-heads", lambda: one_head(Case(bits=7))
    ),
    "parity-softmax-positions": ("parity", {}, "softmax-positions", uniform),
    "reachability-thoughts": (
        "reachability",
        {"n": 3, "D": 2},
        "continuous-thought",
        lambda: vertex_net(Case(vertices=3, distance=2)),
    ),
    "kth-one-thoughts": (
        "kth-one", {"k": 2, "n": 4}, "cot-one-head", lambda: decoder(task(kth_one(2), 4))
    ),
    "iteration-thoughts": (
        "iteration", {"l": 2, "n": 3}, "cot-one-head", lambda: decoder(task(iterated(2), 3, 3))
    ),
    "parity-thoughts": (
        "parity-bits", {"n": 5}, "cot-heads", lambda: bit_by_bit(Case(word_length=5, heads=2))
    ),
    "ordered-thoughts": ("ordered", {"n": 4}, "cot-heads", lambda: hard_heads(4)),
    "maximum-of-five": ("maximum", {"n": 5}, "relu", lambda: blocks(Case(maximands=5))),
    "maximum-of-four-integer": ("maximum", {"n": 4}, "relu-integer", maximum_of_pairs),
    "connectivity-linear": (
        "connectivity",
        {"n": 5, "D": 4},
        "linear-attention-graph",
        lambda: identity_weights(5, 2),
    ),
}  # fmt: skip


def written(name: str) -> str:
    """The text of a file of docs/examples/nets, one of `FILES`."""
    task, parameters, kind, make = FILES[name]
    made = make()
    body = made if isinstance(made, dict) else made.body
    return text_of({"task": task, "parameters": parameters, "class": kind, **body}) + "\n"


if __name__ == "__main__":
    for each in FILES:
        (Path(sys.argv[1]) / f"{each}.json").write_text(written(each), encoding="utf-8")

"""The project's constructions as files: docs/examples/nets.

`python -m depthlaw.theory.least_depth.written_nets FOLDER` writes the nets of its files anew; a
test compares them with what is stored.
"""

from __future__ import annotations

import itertools
import json
import sys
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

from ..claims.values import Case
from ..formal_languages.fixed_precision import leftmost_net
from ..formal_languages.hard_attention import blocks_net
from ..hops.hop_nets import causal_net, self_skipping_net, strict_net
from ..nets.builder import Body, rows
from ..nets.classes import ExactNet
from ..nets.json_format import text_of
from . import everyday_nets as everyday
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
    last = [[1, 1, -1, -1, -1, 1], [0, 0, 0, 1, 1, -1], [0, 0, 0, -1, -1, 1]]
    layers = [{"matrix": [*one, *two]}, {"matrix": last}]
    return {"family": "relu", "layers": layers, "out": [1, 1, -1]}


# --- files ---


# By file the net; what it is for stands in the file.
FILES: dict[str, Callable[[], Body | ExactNet]] = {
    "letters-hard": lambda: looking_back(Case(letters=3)),
    "stair-hard": lambda: stair_net(Case(in_a_row=3)),
    "blocks-hard": lambda: blocks_net(Case(blocks=3)),
    "blocks-hard-left": lambda: leftmost_net(Case(blocks=3)),
    "dyck-hard": lambda: brackets_net(Case(bracket_types=2, nesting=2)),
    "c2-deltanet": lambda: by_signs("C2"),
    "d8-deltanet": octagon,
    "s4-deltanet": cube,
    "s4-diagonal": lambda: diagonal_net("S4", 12),
    "d8-signs": lambda: diagonal_net("D8", 2),
    "hops-causal": lambda: causal_net(3, 2),
    "hops-1": lambda: self_skipping_net(1, 3),
    "hops-3": lambda: self_skipping_net(3, 3),
    "hops-5": lambda: self_skipping_net(5, 2),
    "hops-7": lambda: self_skipping_net(7, 2),
    "hops-15": lambda: self_skipping_net(15, 2),
    "hops-strict": lambda: strict_net(3, 2, 64),
    "kgram": lambda: heads_net(Case(context=2, symbols=3)),
    "composition-lookups": lambda: lookups(Case(depth=2)),
    "product-of-four": lambda: doubling_net("S3", 2),
    "ordered-two-heads": lambda: softmax_heads(5),
    "ordered-one-head": lambda: softmax_heads(5, heads=1),
    "parity": lambda: two_layers(Case(bits=1, attention_base=2)),
    "parity-3-heads": lambda: one_layer(Case(bits=3)),
    "parity-one-head": lambda: one_head(Case(bits=7)),
    "parity-softmax-positions": uniform,
    "reachability-thoughts": lambda: vertex_net(Case(vertices=3, distance=2)),
    "kth-one-thoughts": lambda: decoder(task(kth_one(2), 4)),
    "iteration-thoughts": lambda: decoder(task(iterated(2), 3, 3)),
    "parity-thoughts": lambda: bit_by_bit(Case(word_length=5, heads=2)),
    "ordered-thoughts": lambda: hard_heads(4),
    "maximum-of-five": lambda: blocks(Case(maximands=5)),
    "maximum-of-four-integer": maximum_of_pairs,
    "connectivity-linear": lambda: identity_weights(5, 2),
    "majority": everyday.majority,
    "count": lambda: everyday.counting(6),
    "sorting-one-layer": lambda: everyday.sorted_by_counts(4),
    "sorting-two-layers": lambda: everyday.sorted_by_slopes(3, range(1, 6)),
    "recall": lambda: everyday.recalled(3, 2),
    "copying": lambda: everyday.copied(4, 2),
    "copying-any": lambda: everyday.copied_after_the_bar(2),
    "equality": lambda: everyday.equal_words(3, 2),
    "dyck-one": everyday.matched_brackets,
    "addition": everyday.added,
    "match-three": lambda: everyday.three_found(5),
    "multiplication": everyday.multiplied,
    "circuit-loops": lambda: everyday.evaluated(5, 3),
}


def written(name: str, stored: Mapping[str, Any]) -> str:
    """The text of a file, one of `FILES`, with the task, parameters and class of the stored one."""
    made = FILES[name]()
    head = {field: stored[field] for field in ("task", "parameters", "class")}
    return text_of(head | (made if isinstance(made, dict) else dict(made.body))) + "\n"


if __name__ == "__main__":
    for name in FILES:
        file = Path(sys.argv[1]) / f"{name}.json"
        file.write_text(written(name, json.loads(file.read_text("utf-8"))), encoding="utf-8")

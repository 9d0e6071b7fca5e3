"""Published sizes and rules of thumb, held against the tensors of the models they speak of."""

from __future__ import annotations

import csv
from fractions import Fraction
from functools import cache
from pathlib import Path
from typing import NamedTuple

import numpy as np
from sympy import Rational

from ..claims.definition import Case, Control, Exact, Source, claim
from ..claims.relations import Eq, Le
from ..claims.symbols import (
    head_width,
    heads,
    quantity,
    relative_error,
    size_millions,
    stated,
    width,
)
from .counted_nets import bert, gpt2, llama, t5
from .operation_count import forward, layer_arrays

tolerance = quantity(
    "tolerance",
    r"\tau",
    "relative distance from a printed number that its rounding, or its wording, allows",
    "nonnegative real",
)
growth = quantity(
    "growth", "g", "factor by which a larger net exceeds a smaller one", "positive real"
)

# Columns that hold no sizes.
_WORDS = ("model", "reported", "tied", "kind", "status", "source")


class Anatomy(NamedTuple):
    """What a published shape consists of. 0 stands for an empty field (no learned positions)."""

    name: str
    reported: str
    kind: str
    tied: bool
    sizes: dict[str, int]

    @property
    def plain(self) -> bool:
        """One stack of layers with weights of their own and one feed-forward net each."""
        one_stack = self.kind in ("decoder", "encoder", "encoder (vision)")
        return one_stack and not self.name.startswith("ALBERT")

    def weights(self) -> int:
        """Entries of the weight matrices inside the layers of a plain shape."""
        s = self.sizes
        attention = 2 * s["head_width"] * (s["heads"] + s["kv_heads"])
        return s["layers"] * s["width"] * (attention + s["mlp_matrices"] * s["ff_width"])


@cache
def anatomies() -> dict[str, Anatomy]:
    """The shapes of model_anatomy.csv by name.

    >>> anatomies()["GPT-2 small"].sizes["ff_width"]
    3072
    """
    with (Path(__file__).parent / "model_anatomy.csv").open(encoding="utf-8", newline="") as file:
        return {
            r["model"]: Anatomy(
                r["model"],
                r["reported"],
                r["kind"],
                r["tied"] == "yes",
                {c: int(r[c] or 0) for c in r if c not in _WORDS},
            )
            for r in csv.DictReader(file)
        }


def _models(*names: str) -> tuple[Case, ...]:
    return tuple(Case(model=name) for name in names)


_PLAIN = [a for a in anatomies().values() if a.plain]
_TELLING = ("GPT-2 XL", "Llama-2-7B", "Llama-2-70B", "Gemma-1-7B", "Qwen2-7B")


@claim(
    Le(relative_error, Rational(1, 20)),
    source=Source("kdnuggets2020", "Background"),
    wording="universal",
    known="FAILS",
    weight="arithmetic",
    cases={
        "quick": _models(*_TELLING),
        "theory": _models(*(a.name for a in _PLAIN if a.name not in _TELLING)),
    },
    control=Control(
        Case(model="Gemma-1-7B"),
        "feed-forward width $8 d$, three matrices, and heads wider than $d$",
        Le(relative_error, Rational(1, 2)),
    ),
    cited="Decides whether $12 L d^2$ may stand for a listed model's weights in layers, to 5 %.",
)
def rule_of_twelve(case: Case) -> Exact:
    r"""$12 L d^2$ is within 5 % of the weights.

    For every listed model of one stack the size $12 L d^2$ is within 5 % of the number of weights
    in its layers.

    The vague sentence: "the overall (non-embedding) network size, given by" $12 L d_x^2$, said of
    the nets of one study and read here as a rule for any model. What deviates, and by how much,
    follows from the anatomy: a gate with $d_{\mathrm{ff}} > 8 d/3$, grouped queries, heads whose
    width is not $d/H$. The rule is exact for GPT-like shapes.
    """
    shape = anatomies()[case.model]
    rule = 12 * shape.sizes["layers"] * shape.sizes["width"] ** 2
    return Exact(abs(Fraction(rule, shape.weights()) - 1))


# GPT-3's Table 2.1 as recalled: width, heads, width of a head. The shapes of model_anatomy.csv lack
# the row XL, whose heads do not fit its width.
GPT3_TABLE = {
    "GPT-3 Small": (768, 12, 64),
    "GPT-3 Medium": (1024, 16, 64),
    "GPT-3 Large": (1536, 16, 96),
    "GPT-3 XL": (2048, 24, 128),
    "GPT-3 2.7B": (2560, 32, 80),
    "GPT-3 6.7B": (4096, 32, 128),
    "GPT-3 13B": (5140, 40, 128),
    "GPT-3 175B": (12288, 96, 128),
}


@claim(
    Eq(width, heads * head_width),
    known="FAILS",
    weight="arithmetic",
    source=Source("brown2020", "Table 2.1, all eight rows"),
    cases={
        "quick": [
            Case(model=name, heads=count, head_width=size)
            for name, (_, count, size) in GPT3_TABLE.items()
        ]
    },
    control=Control(
        Case(model="GPT-3 Small", heads=12, head_width=64),
        "one head more",
        Eq(width, (heads + 1) * head_width),
    ),
    cited="Decides whether the GPT-3 models can be rebuilt from their printed table.",
)
def gpt3_heads(case: Case) -> Exact:
    """Width is heads times head width in GPT-3.

    For every model of GPT-3's Table 2.1 the width is the number of heads times the width of a head.

    The entries are as recalled; check against the paper. The row XL gives 24 heads of 128, which
    make 3072, and a width of 2048; the row 13B gives 40 heads of 128, which make 5120, and a width
    of 5140. Re-creations use 5120 for the latter, and other heads for the former. That the heads
    share the width among them is usual, and not said in the table.
    """
    return Exact(GPT3_TABLE[case.model][0])


# The textbook's table of model depths: printed size in units of its last digit, and the net.
PRINTED = {
    "GPT-2 Small": (124, 10**6, gpt2(12, 768, 50257, 1024)),
    "GPT-2 Medium": (355, 10**6, gpt2(24, 1024, 50257, 1024)),
    "GPT-2 Large": (774, 10**6, gpt2(36, 1280, 50257, 1024)),
    "GPT-2 XL": (15, 10**8, gpt2(48, 1600, 50257, 1024)),
    "LLaMA 7B": (7, 10**9, llama(32, 4096, 4096, 4096, 11008, 32000)),
    "LLaMA 70B": (70, 10**9, llama(80, 8192, 8192, 1024, 28672, 32000)),
}


# Sizes of a meter's net, and of what a layer stores: operations, and numbers for backward passes.
_METERED = [
    Case(number=number, depth=layers, width=size, tokens=count, tolerance=0)
    for number in ("multiplications by weights", "operations")
    for layers, size, count in ((1, 2, 3), (2, 4, 2), (3, 2, 5))
]
_STORED = [
    Case(number="stored values", kept=kept, **case.fields(), tolerance=0)
    for kept in ("layer inputs", "all")
    for case in Case.grid(batch=(1, 2), tokens=(1, 3), width=(4, 8), heads=(1, 2), depth=(1, 3))[
        ::5
    ]
]


@claim(
    Le(relative_error, tolerance),
    wording="universal",
    known="FAILS",
    weight="arithmetic",
    source=Source(
        "deepnetworks63", "Section 6.3, Depth vs Width, Modern Model Depths, Scaling Considerations"
    ),
    cases={
        "quick": [
            *(
                Case(number="parameters", model=name, tolerance=str(Fraction(1, 2 * size)))
                for name, (size, _, _) in PRINTED.items()
            ),
            *(
                Case(number="weights", depth=layers, width=w, ff_width=ff, tolerance="1/4")
                for layers, w, ff in (
                    (6, 2048, 8192),
                    (24, 1024, 4096),
                    (6, 2048, 2048),
                    (24, 1024, 1024),
                )
            ),
            *_METERED,
            *_STORED,
        ]
    },
    control=Control(
        Case(number="parameters", model="GPT-2 Small", tolerance="1/248"),
        "half of the rounding",
        Le(relative_error, tolerance / 2),
    ),
    cited="Decides which of deepnetworks63's sizes and cost formulas may be used to compare nets.",
)
def textbook_numbers(case: Case) -> Exact:
    r"""Sizes and costs that the textbook prints agree with a count.

    Four statements of the textbook agree with a count of the net they speak of. Every parameter
    count in its table of model depths is the exact one rounded to its last digit. Six layers of
    width 2048, and 24 layers of width 1024, have about 150 million parameters each: to a quarter. A
    forward pass takes $12 d_{\mathrm{model}}^2$ seq_len floating-point operations per layer:
    exactly. Training keeps 2 batch_size seq_len $d_{\mathrm{model}} n_{\mathrm{layers}}$ numbers,
    activations and their gradients: exactly.

    Checked sentences: "| GPT-2 XL | 48 | 1600 | 25 | 1.5B |" and "| LLaMA 70B | 80 | 8192 | 64 |
    70B |", with "Parameters" as the heading; "Option A: 6 layers, $d_{\mathrm{model}} = 2048$
    (~150M params)" and "Option B: 24 layers, $d_{\mathrm{model}} = 1024$ (~150M params)"; "FLOPs
    per layer ≈ 12 × d_model² × seq_len (approximate)"; "Memory ≈ batch_size × seq_len ×
    $d_{\mathrm{model}} \times n_{\mathrm{layers}} \times 2$", with "(activations + gradients)"
    under the 2. Ours are: that the table rounds exact counts, where it may give names; a quarter
    for the printed ~; that the two formulas are equalities. GPT-2 XL has 1,557,611,200 parameters,
    so 1.6B and not 1.5B; LLaMA 70B has $68.98 \cdot 10^9$, and is Llama 2. The row GPT-4, "~120?"
    layers and "~1.8T?" parameters, is marked as unknown there and is not checked. Both options have
    $12 L d^2 = 301{,}989{,}888$ weights in their layers, so they are equal to each other but twice
    the printed size; 151 million needs a feed-forward width of $d$ in place of the usual $4 d$,
    which the text's own code uses. $12 d^2$ per token is exact for multiplications by weights;
    operations are twice as many, and scores and averages add $N/(6 d)$ of that
    (counting/pass_operations). The memory is exact when each layer keeps its input only and
    recomputes the rest; without recomputation a layer keeps $16 + 2 H N/d$ numbers per token and
    coordinate in place of 1.
    """
    if case.number == "parameters":
        size, unit, net = PRINTED[case.model]
        counted_here, printed = net.parameters(), size * unit
    elif case.number == "weights":
        counted_here = gpt2(case.depth, case.width, ff=case.ff_width).weights()
        printed = 150 * 10**6
    elif case.number == "stored values":
        arrays = layer_arrays(case.batch, case.tokens, case.width, case.heads)
        # The first of them is the layer's input.
        used = arrays if case.kept == "all" else arrays[:1]
        counted_here = 2 * case.depth * sum(a.size for a in used if a.dtype == np.float16)
        printed = 2 * case.batch * case.tokens * case.width * case.depth
    else:
        meter = forward(case)
        counted_here = meter.operations if case.number == "operations" else meter.by_weights
        printed = 12 * case.depth * case.width**2 * case.tokens
    return Exact(abs(Fraction(counted_here, printed) - 1))


@claim(
    Eq(growth, stated),
    wording="reported",
    weight="arithmetic",
    source=Source("kdnuggets2020", "Background; T5's shape as PaddleNLP loads t5-11b"),
    cases={
        "quick": [Case(what="parameters", stated=100), Case(what="layers of both stacks", stated=4)]
    },
    control=Control(Case(what="parameters", stated=50), "half of it"),
    supports="counting/rule_of_twelve",
)
def t5_growth(case: Case) -> Exact:
    """T5 is about 100 times BERT-base, and 4 times deeper as counted.

    The largest T5 has 100 times the parameters of BERT-base, to the nearest ten times, and 4 times
    its layers, if those of encoder and decoder are added up.

    Checked sentence: "T5, has increased the parameter count of BERT-base by a factor of 100, while
    only increasing its depth by a factor of 4." About right: 11,307,321,344 against 109,482,240
    parameters are 103 times as many. The sentence is printed; T5's shape is as recalled, and to
    round to tens is our reading. The factor 4 counts encoder and decoder as one path of 48 layers;
    per stack T5 has 24 layers, a factor of 2.
    """
    large, base = t5(24, 1024, 128 * 128, 65536, 32128, 128), bert(12, 768, 30522, 512)
    if case.what == "parameters":
        return Exact((large.parameters() + 5 * base.parameters()) // (10 * base.parameters()) * 10)
    return Exact(Fraction(sum(layers for layers, _ in large.stacks), base.stacks[0][0]))


@claim(
    Eq(size_millions, stated),
    wording="reported",
    weight="arithmetic",
    source=Source("tay2022", "small-16L and base, second-hand", "arXiv:2109.10686"),
    cases={
        "quick": [
            Case(depth=16, width=512, heads=8, stated=134),
            Case(depth=12, width=768, heads=12, stated=223),
        ]
    },
    control=Control(Case(depth=16, width=512, heads=8, stated=112), "half of the standard size"),
    supports="evidence/compared_sizes",
)
def deepnarrow_sizes(case: Case) -> Exact:
    """The narrow T5 of 16 layers has 134 million parameters, the standard one 223.

    A T5 with 16 layers of width 512 in each stack has 134 million parameters, one with 12 layers of
    width 768 has 223 million.

    So the deep and narrow one has 40 % fewer parameters, where the abstract speaks of 50 % against
    T5-base.
    """
    net = t5(case.depth, case.width, case.width, 4 * case.width, 32128, case.heads)
    return Exact((net.parameters() + 500_000) // 10**6)

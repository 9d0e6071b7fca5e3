"""How many parameters a net has: all of them, the weights inside layers, 12 L d^2, and the active
ones of a mixture of experts. Formulas are proved against the list of a net's tensors."""

from __future__ import annotations

import math
from collections.abc import Iterator
from functools import partial
from typing import Any

from sympy import Eq as Equality
from sympy import expand, floor, sqrt
from sympy.core.relational import Relational

from ..claims.definition import Case, Control, Exact, Source, Step, claim
from ..claims.relations import Eq
from ..claims.symbols import depth, quantity, vocabulary, width
from .counted_nets import counted, counted_weights, gpt2, llama, mixture, mixture_seen

total_parameters = quantity(
    "total_parameters",
    r"N_{tot}",
    "all parameters of a net: weights, biases, norms, positions, embeddings and read-out",
)
weights = quantity(
    "weights",
    "N_W",
    "entries of the weight matrices inside layers: no embeddings, positions, norms or biases",
)
active_parameters = quantity(
    "active_parameters",
    r"N_{act}",
    "parameters that one token passes through in a mixture of experts",
)
positions = quantity("positions", r"n_{ctx}", "number of learned position embeddings")
attention_width = quantity("attention_width", r"d_{attn}", "width of all query heads together")
kv_width = quantity(
    "kv_width", r"d_{kv}", "width of all key heads together, which is that of all value heads"
)
ff_width = quantity("ff_width", r"d_{ff}", "inner width of the feed-forward network")
experts = quantity("experts", "E", "feed-forward networks per layer")
experts_active = quantity(
    "experts_active", "k_E", "feed-forward networks per layer that a token passes through"
)
shared_width = quantity(
    "shared_width",
    r"d_{sh}",
    "largest width of a net whose layers share their weights, at the weights of one whose layers "
    "do not",
)

# Why the proofs by enumeration are arguments about a defined count, and what a reader must check.
_ENUMERATED = (
    "machine: the listed tensors, defined apart from the formula, sum to it at all "
    "sizes; prose: that such a net has these tensors"
)
L, d, V, n = depth, width, vocabulary, positions
inner, kv, ff = attention_width, kv_width, ff_width


def _cases(names: str, *shapes: tuple[int, ...]) -> tuple[Case, ...]:
    return tuple(Case(**dict(zip(names.split(), shape, strict=True))) for shape in shapes)


_gpt2_cases = partial(_cases, "depth width vocabulary positions")
_llama_cases = partial(_cases, "depth width attention_width kv_width ff_width vocabulary")
_GPT2 = {
    "quick": _gpt2_cases(
        (12, 768, 50257, 1024),
        (24, 1024, 50257, 1024),
        (36, 1280, 50257, 1024),
        (48, 1600, 50257, 1024),
    ),
    "theory": _gpt2_cases((1, 1, 1, 1), (3, 5, 7, 11)),
}
_LLAMA = {
    "quick": _llama_cases(
        (32, 4096, 4096, 4096, 11008, 32000),
        (40, 5120, 5120, 5120, 13824, 32000),
        (80, 8192, 8192, 8192, 22016, 32000),
        (80, 8192, 8192, 1024, 28672, 32000),
    ),
    "theory": _llama_cases((1, 1, 1, 1, 1, 1), (3, 5, 7, 2, 11, 13)),
}


def _tensors_sum(count: Any, statement: Relational, sizes: str = "size") -> Iterator[Step]:
    """The tensors with symbolic sizes sum to the right side, as polynomials."""
    identity = isinstance(statement, Equality) and statement.lhs.is_Symbol
    yield Step("the statement is an identity", identity)
    yield Step(
        f"for every {sizes} the tensors sum to the right side", expand(count - statement.rhs) == 0
    )


@claim(
    Eq(total_parameters, 12 * L * d**2 + 13 * L * d + (V + n + 2) * d),
    cases=_GPT2,
    source=Source("radford2019", "architecture; the count is derived here"),
    proof=partial(_tensors_sum, gpt2(L, d, V, n).parameters()),
    rests_on=_ENUMERATED,
    control=Control(
        _GPT2["quick"][0],
        "the biases forgotten",
        Eq(total_parameters, 12 * L * d**2 + 4 * L * d + (V + n + 2) * d),
    ),
    checks="The sum of our list of a GPT-2's tensors against our formula for it.",
)
def gpt2_total(case: Case) -> Exact:
    """All parameters of a net like GPT-2.

    For all L, d, V and n_ctx a net with biases, two LayerNorms per layer and one at the end,
    feed-forward width 4 d, n_ctx learned positions and a read-out tied to the embedding has
    12 L d^2 + 13 L d + (V + n_ctx + 2) d parameters.
    """
    return Exact(counted(gpt2(case.depth, case.width, case.vocabulary, case.positions)))


@claim(
    Eq(total_parameters, L * d * (2 * inner + 2 * kv + 3 * ff + 2) + (2 * V + 1) * d),
    cases=_LLAMA,
    source=Source("touvron2023", "architecture; the count is derived here"),
    proof=partial(_tensors_sum, llama(L, d, inner, kv, ff, V).parameters()),
    rests_on=_ENUMERATED,
    control=Control(
        _LLAMA["quick"][0],
        "two feed-forward matrices",
        Eq(total_parameters, L * d * (2 * inner + 2 * kv + 2 * ff + 2) + (2 * V + 1) * d),
    ),
    checks="The sum of our list of a LLaMA's tensors against our formula for it.",
)
def llama_total(case: Case) -> Exact:
    """All parameters of a net like LLaMA.

    For all sizes a net without biases, with RMSNorm, grouped queries, a gated feed-forward net,
    rotary positions and an untied read-out has L d (2 d_attn + 2 d_kv + 3 d_ff + 2) + (2 V + 1) d
    parameters.
    """
    return Exact(
        counted(
            llama(
                case.depth,
                case.width,
                case.attention_width,
                case.kv_width,
                case.ff_width,
                case.vocabulary,
            )
        )
    )


_NEMO = 12 * L * d**2 * (1 + 13 / (12 * d) + (V + n) / (12 * L * d))


@claim(
    Eq(total_parameters, _NEMO + 2 * d),
    cases=_GPT2,
    source=Source("nemo", "auto-configurator, commit 8cfedd7203; the comparison is ours"),
    proof=partial(_tensors_sum, gpt2(L, d, V, n).parameters()),
    rests_on=_ENUMERATED,
    control=Control(
        _GPT2["quick"][0], "the formula alone, taken for exact", Eq(total_parameters, _NEMO)
    ),
    supports="counting/rule_of_twelve",
)
def nemo_formula(case: Case) -> Exact:
    """NeMo's size formula leaves out the last LayerNorm.

    For all L, d, V and n_ctx the size formula 12 L d^2 (1 + 13/(12 d) + (V + n_ctx)/(12 L d)) of
    NeMo's auto-configurator is the count of a net like GPT-2 less the 2 d parameters of its last
    LayerNorm.

    NeMo applies it to gated and grouped nets too, for which it is not an identity.
    """
    return Exact(counted(gpt2(case.depth, case.width, case.vocabulary, case.positions)))


_printed = partial(
    claim, source=Source("kaplan2020", "eq. (2.1)", "arXiv:2001.08361"), wording="printed"
)


@_printed(
    Eq(weights, 2 * d * L * (2 * inner + ff)),
    proof=partial(_tensors_sum, gpt2(L, d, ff=ff, inner=inner).weights()),
    rests_on=_ENUMERATED,
    cases={
        "quick": Case.grid(
            depth=(1, 12), width=(3, 768), attention_width=(2, 768), ff_width=(5, 3072)
        )
    },
    control=Control(
        Case(depth=12, width=768, attention_width=768, ff_width=3072),
        "one feed-forward matrix",
        Eq(weights, d * L * (4 * inner + ff)),
    ),
    supports="counting/rule_of_twelve",
)
def kaplan_weights(case: Case) -> Exact:
    """Kaplan's count of the weights in layers.

    For all L, d, d_attn and d_ff the weight matrices of the layers have 2 d L (2 d_attn + d_ff)
    entries, when the feed-forward net has two matrices and every query head has a key head of its
    own.
    """
    return Exact(
        counted_weights(gpt2(case.depth, case.width, ff=case.ff_width, inner=case.attention_width))
    )


def _standard(case: Case) -> bool:
    return bool(
        case.get("attention_width", case.width) == case.width
        and case.get("ff_width", 4 * case.width) == 4 * case.width
    )


_NARROW = Case(depth=2, width=64, attention_width=64, ff_width=128)


@_printed(
    Eq(weights, 12 * L * d**2),
    assumes={"d_attn = d and d_ff = 4 d": _standard},
    proof=partial(_tensors_sum, gpt2(L, d).weights(), sizes="depth and width"),
    rests_on=_ENUMERATED,
    cases={"quick": (*Case.grid(depth=(1, 12, 48), width=(2, 768, 1600)), _NARROW)},
    control=Control(_NARROW, "feed-forward width 2 d"),
    supports="counting/rule_of_twelve",
)
def twelve(case: Case) -> Exact:
    """12 L d^2 under Kaplan's condition.

    For all L and d the weight matrices of the layers have 12 L d^2 entries, when d_attn = d and
    d_ff = 4 d.

    The condition suffices and is not necessary: 2 d_attn + d_ff = 6 d is, for instance a gated net
    with d_ff = 8 d / 3.
    """
    return Exact(
        counted_weights(
            gpt2(case.depth, case.width, ff=case.get("ff_width"), inner=case.get("attention_width"))
        )
    )


_MIXTURES = _cases(
    "depth width attention_width kv_width ff_width vocabulary experts experts_active",
    (32, 4096, 4096, 1024, 14336, 32000, 8, 2),
    (2, 6, 4, 2, 10, 7, 5, 1),
    (3, 8, 8, 4, 3, 9, 4, 3),
)
_REST = 2 * inner + 2 * kv + experts + 2


@claim(
    Eq(active_parameters, L * d * (_REST + 3 * experts_active * ff) + (2 * V + 1) * d),
    source=Source("jiang2024", "architecture; the count is derived here"),
    weight="arithmetic",
    proof=partial(
        _tensors_sum, mixture_seen(L, d, inner, kv, ff, V, experts, experts_active).parameters()
    ),
    rests_on="machine: the listed tensors, defined apart from the formula, sum to it at all sizes; "
    "prose: that a token passes through these",
    cases={"quick": _MIXTURES},
    control=Control(
        _MIXTURES[0],
        "all experts counted",
        Eq(active_parameters, L * d * (_REST + 3 * experts * ff) + (2 * V + 1) * d),
    ),
    checks="The sum of the tensors a token meets in our list of a mixture against our formula.",
)
def active(case: Case) -> Exact:
    """Active parameters of a mixture of experts.

    A token that passes through k of E gated experts per layer, in a net otherwise like LLaMA with a
    linear router, is counted with L d (2 d_attn + 2 d_kv + E + 2 + 3 k d_ff) + (2 V + 1) d
    parameters, embedding and read-out in full: 12.88e9 of the 46.70e9 of Mixtral 8x7B.

    Vendors differ in what they call active: some leave out the embedding, of which a token uses one
    row.
    """
    net = mixture(
        case.depth,
        case.width,
        case.attention_width,
        case.kv_width,
        case.ff_width,
        case.vocabulary,
        case.experts,
    )
    # The router picks the experts 0 to k - 1.
    idle = tuple(
        f"0.{layer}.{e}."
        for layer in range(case.depth)
        for e in range(case.experts_active, case.experts)
    )
    tensors = dict(net.walk()).items()
    return Exact(sum(math.prod(shape) for name, shape in tensors if not name.startswith(idle)))


@claim(
    Eq(shared_width, floor(sqrt(L) * d)),
    source=Source("kdnuggets2020", "Practical derivatives; the width is derived here"),
    cases={"quick": _cases("depth width", (1, 5), (4, 64), (12, 768), (24, 1024), (24, 2048))},
    control=Control(
        Case(depth=4, width=64), "all of the saving goes into the width", Eq(shared_width, L * d)
    ),
    checks="Bisection over our count of one layer's weights against floor(sqrt(L) d).",
)
def shared_layers(case: Case) -> Exact:
    """Layers that share their weights can be wider.

    For all L and d, nets of L layers that all share the weights of one layer, with feed-forward
    width 4 times the width, stay within the weights of L layers of width d without sharing up to
    the width sqrt(L) d, rounded down.

    Checked sentence: "The successful ALBERT, a BERT variant that shares parameters between
    self-attention layers, allows for wider models to be trained for the same budget." The budget is
    one of parameters: at that width a token costs L times as many operations. How much the greater
    width helps is not said there.
    """
    budget = counted_weights(gpt2(case.depth, case.width))
    low, high = case.width, case.depth * case.width + 1  # fits, and does not
    while high - low > 1:
        middle = (low + high) // 2
        fits = counted_weights(gpt2(1, middle)) <= budget
        low, high = (middle, high) if fits else (low, middle)
    return Exact(low)

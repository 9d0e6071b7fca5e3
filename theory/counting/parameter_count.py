"""How many parameters a net has: all of them, the weights inside layers, 12 L d^2. Formulas are
proved against the list of a net's tensors."""

from __future__ import annotations

from collections.abc import Iterator
from functools import partial
from typing import Any

from sympy import Eq as Equality, expand
from sympy.core.relational import Relational

from ..claims.definition import Case, Control, Exact, Source, Step, claim
from ..claims.relations import Eq
from ..claims.symbols import depth, quantity, vocabulary, width
from .counted_nets import gpt2

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
positions = quantity("positions", r"n_{ctx}", "number of learned position embeddings")
attention_width = quantity("attention_width", r"d_{attn}", "width of all query heads together")
ff_width = quantity("ff_width", r"d_{ff}", "inner width of the feed-forward network")
# Why the proofs by enumeration are arguments about a defined count, and what a reader must check.
_ENUMERATED = (
    "machine: the listed tensors, defined apart from the formula, sum to it at all "
    "sizes; prose: that such a net has these tensors"
)
L, d, V, n = depth, width, vocabulary, positions
inner, ff = attention_width, ff_width


def _cases(names: str, *shapes: tuple[int, ...]) -> tuple[Case, ...]:
    return tuple(Case(**dict(zip(names.split(), shape, strict=True))) for shape in shapes)


_gpt2_cases = partial(_cases, "depth width vocabulary positions")
_GPT2 = {
    "quick": _gpt2_cases(
        (12, 768, 50257, 1024),
        (24, 1024, 50257, 1024),
        (36, 1280, 50257, 1024),
        (48, 1600, 50257, 1024),
    ),
    "theory": _gpt2_cases((1, 1, 1, 1), (3, 5, 7, 11)),
}


def _tensors_sum(count: Any, statement: Relational) -> Iterator[Step]:
    """The tensors with symbolic sizes sum to the right side, as polynomials."""
    identity = isinstance(statement, Equality) and statement.lhs.is_Symbol
    yield Step("the statement is an identity", identity)
    yield Step(
        "for every size the tensors sum to the right side", expand(count - statement.rhs) == 0
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
    r"""NeMo's size formula leaves out the last LayerNorm.

    For all $L$, $d$, $V$ and $n_{\mathrm{ctx}}$ the size formula
    $12 L d^2 (1 + 13/(12 d) + (V + n_{\mathrm{ctx}})/(12 L d))$ of NeMo's auto-configurator is the
    count of a net like GPT-2 (biases, two LayerNorms per layer and one at the end, feed-forward
    width $4 d$, $n_{\mathrm{ctx}}$ learned positions, a read-out tied to the embedding) less the
    $2 d$ parameters of its last LayerNorm.

    So such a net has $12 L d^2 + 13 L d + (V + n_{\mathrm{ctx}} + 2) d$ parameters. NeMo applies
    its formula to gated and grouped nets too, for which it is not an identity.
    """
    return Exact(gpt2(case.depth, case.width, case.vocabulary, case.positions).parameters())


_KAPLAN = "depth width attention_width ff_width"


@claim(
    Eq(weights, 2 * d * L * (2 * inner + ff)),
    source=Source("kaplan2020", "eq. (2.1)", "arXiv:2001.08361"),
    wording="printed",
    cases={
        "quick": (
            *Case.grid(depth=(1, 12), width=(3, 768), attention_width=(2, 768), ff_width=(5, 3072)),
            *_cases(_KAPLAN, *((layers, w, w, 4 * w) for layers in (1, 12, 48) for w in (2, 1600))),
            *_cases(_KAPLAN, (48, 768, 768, 3072), (2, 64, 64, 128)),
        )
    },
    control=Control(
        Case(depth=2, width=64, attention_width=64, ff_width=128),
        "$12 L d^2$ at feed-forward width $2 d$",
        Eq(weights, 12 * L * d**2),
    ),
    supports="counting/rule_of_twelve",
)
def kaplan_weights(case: Case) -> Exact:
    r"""Kaplan's formula counts the entries of weight matrices in ungated layers exactly.

    For all $L$, $d$, $d_{\mathrm{attn}}$ and $d_{\mathrm{ff}}$ the weight matrices of the layers
    have $2 d L (2 d_{\mathrm{attn}} + d_{\mathrm{ff}})$ entries, when the feed-forward net has two
    matrices and every query head has a key head of its own; that is $12 L d^2$ when
    $d_{\mathrm{attn}} = d$ and $d_{\mathrm{ff}} = 4 d$.

    For these nets $2 d_{\mathrm{attn}} + d_{\mathrm{ff}} = 6 d$ is sufficient and necessary for
    $12 L d^2$. A gated net, with three matrices, is not among them: it has $12 L d^2$ with
    $d_{\mathrm{attn}} = d$ and $d_{\mathrm{ff}} = 8 d/3$.
    """
    return Exact(
        gpt2(case.depth, case.width, ff=case.ff_width, inner=case.attention_width).weights()
    )


@kaplan_weights.argument(_ENUMERATED)
def _(statement: Relational) -> Iterator[Step]:
    yield from _tensors_sum(gpt2(L, d, ff=ff, inner=inner).weights(), statement)
    standard = statement.rhs.subs({inner: d, ff: 4 * d})
    yield Step(
        "at d_attn = d and d_ff = 4 d the right side is 12 L d^2", expand(standard) == 12 * L * d**2
    )

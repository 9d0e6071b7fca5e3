"""How many parameters a net has. Four counts are in use and each has its own name here: all parameters, the weights inside layers,
12 L d^2, and the active parameters of a mixture of experts.

The formulas are proved against a list of a net's tensors (counting_measured); published sizes and rules of thumb are held against them.
Operations and memory are counted in `operation_count`.
"""
from __future__ import annotations

from collections.abc import Iterator

from ..claim import Case, Claim, Control, Exact, Source
from . import measured as measured_by
from . import operation_count


def gpt2_parameters(depth: int, width: int, vocabulary: int, positions: int) -> int:
    """All parameters of a net like GPT-2: 12 L d^2 + 13 L d + (V + n_ctx + 2) d.

    Per layer 12 d^2 weights, 9 d biases and 4 d in two LayerNorms; once the embedding (it is also the read-out), the positions and
    the last LayerNorm.

    Args:
        depth, width: L layers of width d, feed-forward width 4 d.
        vocabulary, positions: V rows of the embedding, n_ctx learned positions.

    Raises:
        ValueError: when a size is not a positive integer.

    >>> gpt2_parameters(12, 768, 50257, 1024)
    124439808

    Cost: O(1). References: radford2019; karpathy_nanogpt, model.py.
    """
    _positive(depth=depth, width=width, vocabulary=vocabulary, positions=positions)
    return 12 * depth * width**2 + 13 * depth * width + (vocabulary + positions + 2) * width


def llama_parameters(depth: int, width: int, attention_width: int, kv_width: int, ff_width: int, vocabulary: int) -> int:
    """All parameters of a net like LLaMA: L d (2 d_attn + 2 d_kv + 3 d_ff + 2) + (2 V + 1) d.

    Args:
        depth, width: L layers of width d.
        attention_width, kv_width: width of all query heads, and of all key heads, together.
        ff_width: inner width of the gated feed-forward net (three matrices).
        vocabulary: V rows of the embedding, and V columns of the read-out, which has weights of its own.

    Raises:
        ValueError: when a size is not a positive integer.

    >>> llama_parameters(80, 8192, 8192, 1024, 28672, 32000)
    68976648192

    Cost: O(1). References: touvron2023.
    """
    _positive(depth=depth, width=width, attention_width=attention_width, kv_width=kv_width, ff_width=ff_width, vocabulary=vocabulary)
    return depth * width * (2 * attention_width + 2 * kv_width + 3 * ff_width + 2) + (2 * vocabulary + 1) * width


def layer_weights(width: int, attention_width: int, kv_width: int, ff_width: int, mlp_matrices: int = 2) -> int:
    """Entries of the weight matrices of one layer: d (2 d_attn + 2 d_kv + m d_ff). Twelve d^2 when all is standard.

    Args:
        width, attention_width, kv_width, ff_width: d, d_attn, d_kv, d_ff.
        mlp_matrices: m = 2, or 3 for a gated feed-forward net.

    Raises:
        ValueError: when a size is not a positive integer.

    >>> layer_weights(768, 768, 768, 3072) == 12 * 768**2
    True

    Cost: O(1). References: kaplan2020, arXiv:2001.08361, eq. (2.1), extended to grouped queries and gates.
    """
    _positive(width=width, attention_width=attention_width, kv_width=kv_width, ff_width=ff_width, mlp_matrices=mlp_matrices)
    return width * (2 * attention_width + 2 * kv_width + mlp_matrices * ff_width)


def active_parameters(total: int, depth: int, width: int, ff_width: int, experts: int, experts_active: int) -> int:
    """Parameters one token passes through: all of them less 3 L d d_ff for each of the E - k gated experts it does not see.

    >>> active_parameters(46_702_792_704, 32, 4096, 14336, 8, 2)
    12879925248

    Raises:
        ValueError: when a size is not a positive integer, or more experts are active than there are.
    """
    _positive(total=total, depth=depth, width=width, ff_width=ff_width, experts=experts, experts_active=experts_active)
    if experts_active > experts:
        raise ValueError(f"{experts_active} of {experts} experts cannot be active; give at most {experts}")
    return total - 3 * depth * width * ff_width * (experts - experts_active)


def _positive(**sizes: int) -> None:
    for name, value in sizes.items():
        if isinstance(value, bool) or not isinstance(value, int) or value < 1:
            raise ValueError(f"{name} must be a positive integer, got {value!r}; try for example depth 12, width 768, vocabulary 50257")


# --- claims -------------------------------------------------------------------------------------------------------------------

# Why the proofs by enumeration are arguments about a defined count, and what a reader must check.
_ENUMERATED = "machine: the listed tensors, defined apart from the formula, sum to it at all sizes; prose: that such a net has these tensors"

_GPT2 = ((12, 768, 50257, 1024), (24, 1024, 50257, 1024), (36, 1280, 50257, 1024), (48, 1600, 50257, 1024))
_LLAMA = ((32, 4096, 4096, 4096, 11008, 32000), (40, 5120, 5120, 5120, 13824, 32000), (80, 8192, 8192, 8192, 22016, 32000),
          (80, 8192, 8192, 1024, 28672, 32000))


def claims() -> Iterator[Claim]:
    """The claims of this module and of `operation_count`."""
    yield from _total_claims()
    yield _nemo_claim()
    yield from _weight_claims()
    yield _active_claim()
    yield _shared_claim()
    yield from _rule_claims()
    yield _gpt3_heads_claim()
    yield from _printed_claims()
    yield from _t5_claims()
    yield from operation_count.claims()


def _gpt2_cases(shapes: tuple[tuple[int, int, int, int], ...]) -> tuple[Case, ...]:
    return tuple(Case(depth=L, width=d, vocabulary=V, positions=n) for L, d, V, n in shapes)


def _llama_cases(shapes: tuple[tuple[int, int, int, int, int, int], ...]) -> tuple[Case, ...]:
    return tuple(Case(depth=L, width=d, attention_width=a, kv_width=k, ff_width=f, vocabulary=V) for L, d, a, k, f, V in shapes)


def _total_claims() -> Iterator[Claim]:
    from sympy import Eq

    from ..glossary import symbol

    L, d, V, n = (symbol(name) for name in ("depth", "width", "vocabulary", "positions"))
    inner, kv, ff, total = (symbol(name) for name in ("attention_width", "kv_width", "ff_width", "total_parameters"))
    yield Claim(
        key="counting/gpt2_total", title="all parameters of a net like GPT-2",
        text="For all L, d, V and n_ctx a net with biases, two LayerNorms per layer and one at the end, feed-forward width 4 d, n_ctx "
              "learned positions and a read-out tied to the embedding has 12 L d^2 + 13 L d + (V + n_ctx + 2) d parameters.",
        statement=Eq(total, 12 * L * d**2 + 13 * L * d + (V + n + 2) * d),
        source=Source("radford2019", "architecture; the count is derived here"), wording="derived", kind="identity", holds_for="all",
        measured=lambda case, seed: Exact(measured_by.counted(measured_by.gpt2(case.depth, case.width, case.vocabulary, case.positions))),
        grid={"quick": _gpt2_cases(_GPT2), "theory": _gpt2_cases(((1, 1, 1, 1), (3, 5, 7, 11)))},
        control=Control(_gpt2_cases(_GPT2)[0], "the biases forgotten", statement=Eq(total, 12 * L * d**2 + 4 * L * d + (V + n + 2) * d)),
        proof=measured_by.enumeration(lambda: measured_by.gpt2(L, d, V, n).parameters()), rests_on=_ENUMERATED)
    yield Claim(
        key="counting/llama_total", title="all parameters of a net like LLaMA",
        text="For all sizes a net without biases, with RMSNorm, grouped queries, a gated feed-forward net, rotary positions and an "
              "untied read-out has L d (2 d_attn + 2 d_kv + 3 d_ff + 2) + (2 V + 1) d parameters.",
        statement=Eq(total, L * d * (2 * inner + 2 * kv + 3 * ff + 2) + (2 * V + 1) * d),
        source=Source("touvron2023", "architecture; the count is derived here"), wording="derived", kind="identity", holds_for="all",
        measured=lambda case, seed: Exact(measured_by.counted(measured_by.llama(
            case.depth, case.width, case.attention_width, case.kv_width, case.ff_width, case.vocabulary))),
        grid={"quick": _llama_cases(_LLAMA), "theory": _llama_cases(((1, 1, 1, 1, 1, 1), (3, 5, 7, 2, 11, 13)))},
        control=Control(_llama_cases(_LLAMA)[0], "two feed-forward matrices",
                       statement=Eq(total, L * d * (2 * inner + 2 * kv + 2 * ff + 2) + (2 * V + 1) * d)),
        proof=measured_by.enumeration(lambda: measured_by.llama(L, d, inner, kv, ff, V).parameters()), rests_on=_ENUMERATED)


def _nemo_claim() -> Claim:
    from sympy import Eq

    from ..glossary import symbol

    L, d, V, n, total = (symbol(name) for name in ("depth", "width", "vocabulary", "positions", "total_parameters"))
    return Claim(
        key="counting/nemo_formula", title="NeMo's size formula leaves out the last LayerNorm",
        text="For all L, d, V and n_ctx the size formula 12 L d^2 (1 + 13/(12 d) + (V + n_ctx)/(12 L d)) of NeMo's auto-configurator is "
              "the count of a net like GPT-2 less the 2 d parameters of its last LayerNorm.",
        statement=Eq(total, 12 * L * d**2 * (1 + 13 / (12 * d) + (V + n) / (12 * L * d)) + 2 * d),
        source=Source("nemo", "auto-configurator, commit 8cfedd7203; the comparison is ours"), wording="derived", kind="identity", holds_for="all",
        measured=lambda case, seed: Exact(measured_by.counted(measured_by.gpt2(case.depth, case.width, case.vocabulary, case.positions))),
        grid={"quick": _gpt2_cases(_GPT2), "theory": _gpt2_cases(((1, 1, 1, 1), (3, 5, 7, 11)))},
        control=Control(_gpt2_cases(_GPT2)[0], "the formula alone, taken for exact",
                       statement=Eq(total, 12 * L * d**2 * (1 + 13 / (12 * d) + (V + n) / (12 * L * d)))),
        proof=measured_by.enumeration(lambda: measured_by.gpt2(L, d, V, n).parameters()), rests_on=_ENUMERATED,
        note="NeMo applies it to gated and grouped nets too, for which it is not an identity.")


def _weight_claims() -> Iterator[Claim]:
    from sympy import Eq

    from ..glossary import symbol

    L, d, inner, ff, weights = (symbol(name) for name in ("depth", "width", "attention_width", "ff_width", "weights"))
    source, version = ("kaplan2020", "eq. (2.1)"), "arXiv:2001.08361"

    yield Claim(
        key="counting/kaplan_weights", title="Kaplan's count of the weights in layers",
        text="For all L, d, d_attn and d_ff the weight matrices of the layers have 2 d L (2 d_attn + d_ff) entries, when the "
              "feed-forward net has two matrices and every query head has a key head of its own.",
        statement=Eq(weights, 2 * d * L * (2 * inner + ff)),
        source=Source(*source, version), wording="printed", kind="identity", holds_for="all",
        measured=lambda case, seed: Exact(measured_by.counted_weights(
            measured_by.gpt2(case.depth, case.width, ff=case.ff_width, inner=case.attention_width))),
        grid={"quick": Case.grid(depth=(1, 12), width=(3, 768), attention_width=(2, 768), ff_width=(5, 3072))},
        control=Control(Case(depth=12, width=768, attention_width=768, ff_width=3072), "one feed-forward matrix",
                       statement=Eq(weights, d * L * (4 * inner + ff))),
        proof=measured_by.enumeration(lambda: measured_by.gpt2(L, d, ff=ff, inner=inner).weights()), rests_on=_ENUMERATED)
    yield Claim(
        key="counting/twelve", title="12 L d^2 under Kaplan's condition",
        text="For all L and d the weight matrices of the layers have 12 L d^2 entries, when d_attn = d and d_ff = 4 d.",
        statement=Eq(weights, 12 * L * d**2),
        source=Source(*source, version), wording="printed", kind="identity", holds_for="all",
        measured=lambda case, seed: Exact(measured_by.counted_weights(measured_by.gpt2(
            case.depth, case.width, ff=case.get("ff_width"), inner=case.get("attention_width")))),
        grid={"quick": (*Case.grid(depth=(1, 12, 48), width=(2, 768, 1600)), Case(depth=2, width=64, attention_width=64, ff_width=128))},
        assumes={"d_attn = d and d_ff = 4 d": lambda case: case.get("attention_width", case.width) == case.width
                 and case.get("ff_width", 4 * case.width) == 4 * case.width},
        control=Control(Case(depth=2, width=64, attention_width=64, ff_width=128), "feed-forward width 2 d"),
        proof=measured_by.enumeration(lambda: measured_by.gpt2(L, d).weights(), "for every depth and width"), rests_on=_ENUMERATED,
        note="The condition suffices and is not necessary: 2 d_attn + d_ff = 6 d is, for instance a gated net with d_ff = 8 d / 3.")


def _active_claim() -> Claim:
    from sympy import Eq

    from ..glossary import symbol

    names = ("depth", "width", "attention_width", "kv_width", "ff_width", "vocabulary", "experts", "experts_active")
    L, d, inner, kv, ff, V, E, k = (symbol(name) for name in names)
    count, rest = symbol("active_parameters"), 2 * inner + 2 * kv + E + 2
    cases = [Case(**dict(zip(names, sizes, strict=True)))
             for sizes in ((32, 4096, 4096, 1024, 14336, 32000, 8, 2), (2, 6, 4, 2, 10, 7, 5, 1), (3, 8, 8, 4, 3, 9, 4, 3))]
    return Claim(
        key="counting/active", title="active parameters of a mixture of experts",
        text="A token that passes through k of E gated experts per layer, in a net otherwise like LLaMA with a linear router, is counted with "
              "L d (2 d_attn + 2 d_kv + E + 2 + 3 k d_ff) + (2 V + 1) d parameters, embedding and read-out in full: 12.88e9 of the "
              "46.70e9 of Mixtral 8x7B.",
        statement=Eq(count, L * d * (rest + 3 * k * ff) + (2 * V + 1) * d),
        source=Source("jiang2024", "architecture; the count is derived here"), wording="derived", kind="identity", holds_for="all",
        weight="arithmetic", measured=lambda case, seed: measured_by.active(case),
        grid={"quick": tuple(cases)},
        control=Control(cases[0], "all experts counted", statement=Eq(count, L * d * (rest + 3 * E * ff) + (2 * V + 1) * d)),
        proof=measured_by.enumeration(lambda: measured_by.mixture_seen(L, d, inner, kv, ff, V, E, k).parameters()),
        rests_on="machine: the listed tensors, defined apart from the formula, sum to it at all sizes; prose: that a token passes through these",
        note="Vendors differ in what they call active: some leave out the embedding, of which a token uses one row.")


def _shared_claim() -> Claim:
    from sympy import Eq, floor, sqrt

    from ..glossary import symbol

    L, d, shared = symbol("depth"), symbol("width"), symbol("shared_width")
    cases = tuple(Case(depth=n, width=w) for n, w in ((1, 5), (4, 64), (12, 768), (24, 1024), (24, 2048)))
    return Claim(
        key="counting/shared_layers", title="layers that share their weights can be wider",
        text="For all L and d, nets of L layers that all share the weights of one layer, with feed-forward width 4 times the width, stay within "
              "the weights of L layers of width d without sharing up to the width sqrt(L) d, rounded down.",
        statement=Eq(shared, floor(sqrt(L) * d)),
        source=Source("kdnuggets2020", "Practical derivatives; the width is derived here"), wording="derived", kind="identity", holds_for="all",
        measured=lambda case, seed: Exact(measured_by.widest_shared(case.depth, case.width)), grid={"quick": cases},
        control=Control(cases[1], "all of the saving goes into the width", statement=Eq(shared, L * d)),
        note='Checked sentence: "The successful ALBERT, a BERT variant that shares parameters between self-attention layers, allows for wider '
             'models to be trained for the same budget." The budget is one of parameters: at that width a token costs L times as many '
             "operations. How much the greater width helps is not said there.")


def _rule_claims() -> Iterator[Claim]:
    from sympy import Le, Rational

    from ..glossary import symbol

    error = symbol("relative_error")
    plain = [a for a in measured_by.anatomies().values() if a.plain]
    first = ("GPT-2 XL", "Llama-2-7B", "Llama-2-70B", "Gemma-1-7B", "Qwen2-7B")
    yield Claim(
        key="counting/rule_of_twelve", title="12 L d^2 is within 5 % of the weights",
        text="For every listed model of one stack the size 12 L d^2 is within 5 % of the number of weights in its layers.",
        statement=Le(error, Rational(1, 20)),
        source=Source("kdnuggets2020", "Background"), wording="universal", kind="upper",
        holds_for="all", known="FAILS", weight="arithmetic", measured=lambda case, seed: measured_by.rule_error(case.model),
        grid={"quick": tuple(Case(model=name) for name in first),
              "theory": tuple(Case(model=a.name) for a in plain if a.name not in first)},
        control=Control(Case(model="Gemma-1-7B"), "feed-forward width 8 d, three matrices, and heads wider than d",
                       statement=Le(error, Rational(1, 2))),
        note='The vague sentence: "the overall (non-embedding) network size, given by" 12 L d_x^2, said of the nets of one study and read here '
             "as a rule for any model. What deviates, and by how much, follows from the anatomy: a gate with d_ff > 8 d / 3, grouped queries, "
             "heads whose width is not d / H. The rule is exact for GPT-like shapes.")
    sized = [a.name for a in plain if a.reported]
    yield Claim(
        key="counting/reported_sizes", title="a model's name gives its size within 5 %",
        text="The reported size of every listed model of one stack is within 5 % of its weights with embeddings, positions and read-out.",
        statement=Le(error, Rational(1, 20)), source=Source("depthlaw", "theory/counting/model_anatomy.csv"), wording="derived", kind="upper",
        holds_for="all", known="FAILS", weight="arithmetic", measured=lambda case, seed: measured_by.name_error(case.model),
        grid={"quick": tuple(Case(model=name) for name in (*sized[:6], "PaLM-8B")),
              "theory": tuple(Case(model=name) for name in sized[6:] if name != "PaLM-8B")},
        control=Control(Case(model="Falcon3-1B"), "1.67e9 parameters sold as 1B", statement=Le(error, Rational(1, 4))),
        note="Names are rounded, or name another count: MPT-1B has 1.31e9 parameters, Qwen1.5-7B 7.7e9. Some of what fails is our list: it has "
             "no relative positions for Gopher and Chinchilla, and neither patch embedding nor head for SoViT.")


def _gpt3_heads_claim() -> Claim:
    from sympy import Eq, Integer

    from ..glossary import symbol

    d = symbol("width")
    cases = tuple(Case(model=name, heads=heads, head_width=size) for name, (_, heads, size) in measured_by.GPT3_TABLE.items())
    return Claim(
        key="counting/gpt3_heads", title="width is heads times head width in GPT-3",
        text="For every model of GPT-3's Table 2.1 the width is the number of heads times the width of a head.",
        statement=Eq(d, symbol("heads") * symbol("head_width")),
        source=Source("brown2020", "Table 2.1, all eight rows"), wording="derived", kind="identity", holds_for="all", known="FAILS",
        weight="arithmetic", measured=lambda case, seed: Exact(measured_by.GPT3_TABLE[case.model][0]), grid={"quick": cases},
        control=Control(cases[0], "one head more", statement=Eq(d, (symbol("heads") + Integer(1)) * symbol("head_width"))),
        note="The entries are as recalled; check against the paper. The row XL gives 24 heads of 128, which make 3072, and a width of 2048; "
             "the row 13B gives 40 heads of 128, which make 5120, and a width of 5140. Re-creations use 5120 for the latter, and other heads "
             "for the former. That the heads share the width among them is usual, and not said in the table.")


def _printed_claims() -> Iterator[Claim]:
    from sympy import Le, Rational

    from ..glossary import symbol

    gap, error = symbol("rounding_gap"), symbol("relative_error")
    yield Claim(
        key="counting/textbook_sizes", title="sizes in the textbook's table of model depths",
        text="Every parameter count printed in the textbook's table of model depths is the exact one rounded to its last digit.",
        statement=Le(gap, Rational(1, 2)),
        source=Source("deepnetworks63", "Section 6.3, Modern Model Depths"), wording="universal", kind="upper", holds_for="all", known="FAILS",
        weight="arithmetic",
        measured=lambda case, seed: measured_by.printed_gap(case.model),
        grid={"quick": tuple(Case(model=name) for name in measured_by.PRINTED)},
        control=Control(Case(model="GPT-2 Small"), "a digit more than is printed", statement=Le(gap, Rational(1, 20))),
        note='Checked sentences, with "Parameters" as the heading: "| GPT-2 XL | 48 | 1600 | 25 | 1.5B |" and "| LLaMA 70B | 80 | 8192 | 64 | '
             '70B |". That the column rounds exact counts is our reading; it may give names. GPT-2 XL has 1,557,611,200 parameters, so 1.6B '
             'and not 1.5B; LLaMA 70B has 68.98e9, and is Llama 2. The row GPT-4, "~120?" layers and "~1.8T?" parameters, is marked as '
             'unknown there and is not checked.')
    options = [Case(depth=6, width=2048, ff_width=4 * 2048), Case(depth=24, width=1024, ff_width=4 * 1024),
               Case(depth=6, width=2048, ff_width=2048), Case(depth=24, width=1024, ff_width=1024)]
    yield Claim(
        key="counting/textbook_options", title="the textbook's two shapes of about 150M parameters",
        text="Six layers of width 2048, and 24 layers of width 1024, have about 150 million parameters each: 150 million is within a quarter "
              "of the weights in their layers.",
        statement=Le(error, Rational(1, 4)),
        source=Source("deepnetworks63", "Section 6.3, Why Depth?, Depth vs Width, options A and B"), wording="printed", kind="upper",
        holds_for="all", known="FAILS", weight="arithmetic", measured=lambda case, seed: measured_by.option_error(case),
        grid={"quick": tuple(options)},
        control=Control(options[2], "to the nearest thousandth", statement=Le(error, Rational(1, 1000))),
        note='Checked sentences: "Option A: 6 layers, d_model=2048   (~150M params)" and "Option B: 24 layers, d_model=1024  (~150M params)". '
             "A quarter is our tolerance for the printed ~. Both have 12 L d^2 = 301,989,888 weights in their layers, so they are equal to each "
             "other but twice the printed size. 151 million needs a feed-forward width of d in place of the usual 4 d (the last two "
             "cases); the text's own code uses 4 d.")


def _t5_claims() -> Iterator[Claim]:
    from sympy import Eq

    from ..glossary import symbol

    cases = tuple(Case(what=what, stated=stated) for what, stated in (("parameters", 100), ("layers of both stacks", 4)))
    yield Claim(
        key="counting/t5_growth", title="T5 is BERT-base times 100, but only 4 times deeper",
        text="The largest T5 has 100 times the parameters of BERT-base (to the nearest ten times) and 4 times its layers.",
        statement=Eq(symbol("growth"), symbol("stated")),
        source=Source("kdnuggets2020", "Background"), wording="printed", kind="identity", holds_for="all", weight="arithmetic",
        measured=lambda case, seed: measured_by.t5_growth(case.what), grid={"quick": cases},
        control=Control(Case(what="parameters", stated=50), "half of it"),
        note='Checked sentence: "T5, has increased the parameter count of BERT-base by a factor of 100, while only increasing its depth by a factor '
             'of 4." ' "11,307,321,344 against 109,482,240 parameters (T5's shape as recalled). The factor 4 counts encoder and decoder as one "
             "path of 48 layers; per stack T5 has 24 layers, a factor of 2.")
    shapes = (Case(depth=16, width=512, heads=8, stated=134), Case(depth=12, width=768, heads=12, stated=223))
    yield Claim(
        key="counting/deepnarrow_sizes", title="sizes of a narrow T5 and of the standard one",
        text="A T5 with 16 layers of width 512 in each stack has 134 million parameters, one with 12 layers of width 768 has 223 million.",
        statement=Eq(symbol("size_millions"), symbol("stated")),
        source=Source("tay2022", "small-16L and base, second-hand", "arXiv:2109.10686"), wording="reported", kind="identity",
        holds_for="all", weight="arithmetic",
        measured=lambda case, seed: measured_by.t5_size(case.depth, case.width, case.heads), grid={"quick": shapes},
        control=Control(Case(depth=16, width=512, heads=8, stated=112), "half of the standard size"),
        note="So the deep and narrow one has 40 % fewer parameters, where the abstract speaks of 50 % against T5-base.")

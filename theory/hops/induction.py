"""What one layer cannot do: the induction task (hop_1) and function composition, by counting bits; and when such bounds are vacuous."""
from __future__ import annotations

import operator
from collections.abc import Iterator
from typing import Any

from ..values import Case

__all__ = ["claims", "one_layer_bits"]

_ONE_LAYER = "arXiv:2408.14332"


def one_layer_bits(tokens: int) -> int:
    """(N - 1)/2, rounded down: bits that one layer must pass to the last token of N to copy what followed its last earlier copy. Exact.

    Every one-layer softmax transformer with H heads of width m and p bits for each of the m + 1 sums of a head that does so on all
    sequences over 3 symbols has H (m + 1) p of at least this: H m p = Omega(N).

    Args:
        tokens: N, at least 1; 1 and 2 give 0.

    Raises:
        ValueError: for anything else.

    >>> [one_layer_bits(tokens) for tokens in (1, 2, 3, 2049)]
    [0, 0, 1, 1024]

    References: Sanford, Hsu and Telgarsky 2024, arXiv:2408.14332 (as reported), for Omega(n).
    """
    try:
        n = operator.index(tokens)
    except TypeError:
        n = 0
    if isinstance(tokens, bool) or n < 1:
        raise ValueError(f"tokens={tokens!r}: accepted are whole numbers from 1 on")
    return (n - 1) // 2


def claims() -> Iterator[Any]:
    """The claims of this module."""
    yield from _one_layer_claims()
    yield _composition_claim()
    yield from _vacuous_claims()


def _one_layer_claims() -> Iterator[Any]:
    from sympy import Eq, Ge, Integer

    from ..claim import Claim, Control, Source
    from ..glossary import symbol
    from .induction_measured import failing_inputs, summaries

    N, p, two = symbol("tokens"), symbol("precision"), Integer(2)
    source = Source("depthlaw", f"after sanford2024one, {_ONE_LAYER} (as reported), the theorem on one layer")
    odd = {"the reduction has an odd number of tokens": lambda case: case.tokens % 2 == 1}
    yield Claim(
        key="hops/one_layer_index", title="half a sequence needs 2^((N-1)/2) summaries for one induction query",
        text="For every odd N, over 3 symbols, the (N-1)/2 tokens at even positions need 2^((N-1)/2) different summaries, if hop_1 at "
              "token N is to be read off the summary and the other tokens. One layer with H heads of width m and p bits passes on H (m + "
              "1) sums of p bits, so H (m + 1) p >= (N-1)/2.",
        statement=Eq(symbol("summaries"), two ** ((N - 1) / 2)), source=source, wording="derived", kind="identity", holds_for="all",
        measured=summaries, grid={"quick": Case.grid(tokens=(1, 3, 7, 13)), "theory": Case.grid(tokens=(17, 21))}, assumes=odd,
        control=Control(Case(tokens=7), "not one bit less", Eq(symbol("summaries"), two ** ((N - 3) / 2))),
        note="The reduction from INDEX, executed: every word of bits has its own row of answers. That one layer passes on so many sums "
             "is prose. sanford2024one states H m p = Omega(N), as reported; the constant 1/2 and the m + 1 are those of this reduction.")
    yield Claim(
        key="hops/one_layer_fails", title="a one-layer head of few bits fails on most words of INDEX",
        text="For every odd N and every one-layer head of width 1 whose two sums have p bits each, with any read-out, all but 2^(2p) of "
              "the 2^((N-1)/2) words of the reduction from INDEX are answered wrongly for some index.",
        statement=Ge(symbol("failing_inputs"), two ** ((N - 1) / 2) - two ** (2 * p)), source=source, wording="derived", kind="lower",
        holds_for="all", measured=failing_inputs(), assumes=odd,
        grid={"quick": Case.grid(tokens=(13, 17), precision=(1, 2)), "theory": Case.grid(tokens=(21, 25), precision=(1, 2, 3))},
        control=Control(Case(tokens=9, precision=1), "with many more bits the head does store the words",
        measured=failing_inputs(bits_more=20)),
        note="Random weights, sums rounded to p bits, and for every index the best read-out. Pigeonhole: of the words that share their "
             "sums at most one is right for every index. Two layers do it: hops/construction_corrected_spacing.")


def _composition_claim() -> Any:
    from sympy import Ge, log

    from ..claim import Claim, Control, Source
    from ..glossary import symbol
    from .induction_measured import composition_error

    n, bits = symbol("domain_size"), symbol("summary_bits")
    entropy = n * log(n) / log(2)
    bound = (entropy - bits) / (3 * entropy)
    return Claim(
        key="hops/composition_error", title="a short summary of f leaves a composition error",
        text="For every n >= 2 and every summary of B < n log2 n bits of a uniform function f on n points, f(x) at a uniform point x is "
              "read off the summary and x with an error probability of at least (n log2 n - B)/(3 n log2 n).",
        statement=Ge(symbol("composition_error"), bound), wording="derived", kind="lower", holds_for="all",
        source=Source("depthlaw", "after peng2024, arXiv:2402.08164 (as reported), composition of functions by one layer"),
        measured=composition_error(),
        grid={"quick": (*Case.grid(domain_size=2, summary_bits=(0, 1)), *Case.grid(domain_size=3, summary_bits=(0, 1)),
                        Case(domain_size=4, summary_bits=1)),
              "theory": (Case(domain_size=3, summary_bits=2), Case(domain_size=4, summary_bits=0))},
        assumes={"fewer bits than n log2 n": lambda case: 2**case.summary_bits < case.domain_size**case.domain_size},
        control=Control(Case(domain_size=2, summary_bits=0), "a summary of one bit, where none is granted", measured=composition_error(more=1)),
        note="Every summary of these sizes is tried. The constant 1/3 has room: the least ratio of the two sides here is 3/2. That a one-layer "
             "transformer composes functions with B = H (d + 1) p, where peng2024 applies it, is prose, not measured.")


def _vacuous_claims() -> Iterator[Any]:
    from sympy import Eq, Integer

    from ..claim import Claim, Control, Source
    from ..glossary import symbol
    from .induction_measured import prompt_min, tokens_min

    L, k, m, bits = symbol("depth"), symbol("hops"), symbol("width"), symbol("state_bits")
    shared: dict[str, Any] = {"kind": "threshold", "holds_for": "all"}
    yield Claim(
        key="hops/composition_vacuous", title="the composition bound starts at prompts of (Hdp)^(2^(4L)) tokens",
        text="For every L, the least prompt length n with H d p <= n^(2^(-4L)) is (H d p)^(2^(4L)): below it the theorem that L layers "
              "cannot compose L functions says nothing.",
        statement=Eq(symbol("prompt_min"), bits ** (Integer(2) ** (4 * L))), wording="derived",
        source=Source("depthlaw", "after chen2024, arXiv:2412.02975 (as reported), Theorem 1.1"), measured=prompt_min,
        grid={"quick": Case.grid(depth=1, state_bits=(2, 10, 10**6)), "theory": Case.grid(depth=2, state_bits=(2, 10**6))},
        control=Control(Case(depth=1, state_bits=10), "the exponent is 16 for one layer", Eq(symbol("prompt_min"), bits**8)),
        note="With H d p = 10^6, about one small model, it needs 10^96 tokens for L = 1 and 10^1536 for L = 2: vacuous at real sizes. "
             "Arithmetic of the condition, which is as reported; it says nothing of the theorem.", **shared)
    yield Claim(
        key="hops/recurrent_bound_vacuous", title="with constant 1, no width is excluded up to m k^6 tokens",
        text="If the constant is 1, the least N at which a recurrent net with fewer than k layers and width m is excluded from hop_k is "
              "m k^6 + 1; the same holds for kernel attention, sparse attention and chains of thought with their state sizes.",
        statement=Eq(symbol("tokens_min"), m * k**6 + 1), wording="derived",
        source=Source("depthlaw", "after sanford2024, arXiv:2402.09268v1, Corollaries 5.2 to 5.6"), measured=tokens_min,
        grid={"quick": Case.grid(hops=(2, 4, 8, 16), width=(1, 128, 4096))},
        control=Control(Case(hops=4, width=128), "the exponent is 6", Eq(symbol("tokens_min"), m * k**5 + 1)),
        note="The constant is not given; 1 is an assumption. At m = 128 and k = 16 it needs 2.1e9 tokens, at k = 4 already 524,289: "
             "vacuous for the published experiment with N = 100, where even k = 3 asks for no more than m >= 1.", **shared)

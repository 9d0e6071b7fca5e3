"""How much depth, width and precision hop_k costs: lookups, what a causal head cannot skip, one cycle against two, score gaps."""
from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

from ..values import Case, Measured

__all__ = ["claims"]

_SANFORD = "arXiv:2402.09268v1"


def claims() -> Iterator[Any]:
    """The claims of this module."""
    yield from _lookup_claims()
    yield from _precision_claims()
    yield from _cycle_claims()
    yield _conditional_claim()
    yield from _gap_claims()
    yield _angles_claim()
    yield _scale_claim()


def _source(place: str) -> Any:
    from ..claim import Source

    return Source("sanford2024", place, _SANFORD)


def _own(place: str) -> Any:
    """What is our own is credited to this project, and names what it was made after."""
    from ..claim import Source

    return Source("depthlaw", f"after sanford2024, {_SANFORD}, {place}")


def _lookup_claims() -> Iterator[Any]:
    from sympy import Eq, ceiling, floor, log

    from ..claim import Claim, Control
    from ..glossary import symbol
    from .depth_measured import lookups

    k, used = symbol("hops"), symbol("lookup_layers")
    log2 = log(k) / log(2)
    shared: dict[str, Any] = {"source": _own("Theorem 4.2"), "wording": "derived", "kind": "threshold", "holds_for": "all",
                              "measured": lookups}
    for mask, statement, other, title in (
            ("causal", Eq(used, ceiling(log2) + 2), Eq(used, floor(log2) + 2), "one lookup per layer needs ceil(log2 k) + 2, causal mask"),
            ("strict", Eq(used, floor(log2) + 2), Eq(used, ceiling(log2) + 2),
             "one lookup per layer needs floor(log2 k) + 2 with strict mask")):
        start = ("The first layer fetches the previous token, the second find^1" if mask == "causal"
                 else "The first layer fetches the position of the last earlier copy")
        yield Claim(
            key=f"hops/lookup_depth_{mask}", title=title,
            text=f"Among all networks with a {mask} mask in which every layer is one lookup at a pointer find^p that the tokens already "
                  f"hold, the least depth at which tokens hold hop_k is the one stated. {start}.",
            statement=statement,
            grid={"quick": Case.grid(hops=(1, 2, 3, 4, 5, 6, 7, 8), mask=mask), "theory": Case.grid(hops=(9, 12, 15, 16, 17), mask=mask)},
            control=Control(Case(hops=3, mask=mask), "3 is not a power of two", other),
            note="All choices of pointers are tried. It explains the constructions that are known; it is no lower bound for attention, "
                 "which may do other things than look up a pointer.", **shared)


def _precision_claims() -> Iterator[Any]:
    from sympy import Eq, Integer

    from ..claim import Claim, Control
    from ..glossary import symbol
    from .depth_measured import any_subset_sums, prefix_errors, subset_sums

    yield Claim(
        key="hops/one_layer_unbounded_precision", title="one layer computes hop_k, given about N log2 |Sigma| bits",
        text="For every N, k and alphabet, one causal layer with one head of width 1 computes hop_k on every sequence, if numbers may "
              "have about N log2 |Sigma| bits: uniform attention over |Sigma|^j X_j puts the whole prefix into one number.",
        statement=Eq(symbol("wrong_tokens"), 0), source=_own("Definition 2.1"), wording="derived", kind="construction", holds_for="all",
        measured=prefix_errors(), grid={"quick": Case.grid(hops=(1, 2, 3), alphabet=(2, 3), tokens=(1, 3, 5)),
                                        "theory": Case.grid(hops=(3, 5), alphabet=(2, 4), tokens=6)},
        control=Control(Case(hops=1, alphabet=3, tokens=3), "base 2 cannot hold three symbols", measured=prefix_errors(base_short=1)),
        note="So no search at a fixed N can refute a depth: lower bounds need the precision O(log N) as N grows. Bits are not measured; the "
             "read-out is an arbitrary map of its own for each index; tested is that the prefix can be read.")
    yield Claim(
        key="hops/self_skip_subset_sums", title="keys that let every token skip itself have distinct subset sums",
        text="If with a causal mask some query for every i <= N scores i-1 above i-2 above ... above 1 above the start token above i "
              "itself, then the N steps between consecutive keys have 2^N different subset sums.",
        statement=Eq(symbol("subset_sums"), Integer(2) ** symbol("tokens")), source=_own("Appendix F.4"), wording="derived",
        kind="identity", holds_for="all", measured=subset_sums,
        grid={"quick": (Case(tokens=1, width=1, key_size=2), Case(tokens=3, width=2, key_size=1), Case(tokens=4, width=2, key_size=2)),
              "theory": (Case(tokens=4, width=2, key_size=3), Case(tokens=3, width=3, key_size=1))},
        control=Control(Case(tokens=3, width=2, key_size=1), "keys in a row, which skip nothing", measured=any_subset_sums),
        note="If sum of e_j d_j = 0 with e_j in {-1, 0, 1} and i the last e_i != 0, the query of i gives |q d_i| > sum over j < i of q "
             "d_j, a contradiction. With integer keys, steps of size at most S, the sums fill at most (N S + 1)^m places, so m >= N / "
             "log2(N S + 1): a head of width O(1) and O(log N) bits cannot find the last EARLIER copy under a causal mask by ranking "
             "all earlier tokens above itself. A head may find it another way; and found by search are only the small keys of the "
             "cases.")


def _cycle_claims() -> Iterator[Any]:
    from sympy import Eq

    from ..claim import Claim, Control
    from ..glossary import symbol
    from .depth_measured import tokens_needed, walked

    k, c, needed = symbol("hops"), symbol("cycles"), symbol("tokens_needed")
    source = _source("Corollary 4.3")
    whole: dict[str, Callable[[Case], bool]] = {"k is even": lambda case: case.hops % 2 == 0,
                                                "cycles have at least 3 vertices": lambda case: case.hops >= 6}
    yield Claim(
        key="hops/cycle_reduction", title="hop_k on the edge list tells one cycle from two",
        text="For every even k >= 6 and every order, orientation and labelling of the edges, hop_k at the last token of k/2 copies of "
              "the edge list, followed by a vertex, is a vertex at distance k/2 on one k-cycle, and the vertex itself on two k/2-cycles.",
        statement=Eq(symbol("walked"), k * (2 - c) / 2), source=source, wording="printed", kind="construction", holds_for="all",
        measured=walked, grid={"quick": Case.grid(hops=(6, 8), cycles=(1, 2)),
                               "theory": (*Case.grid(hops=(10, 12, 16), cycles=(1, 2)),
                                          *Case.grid(hops=6, cycles=(1, 2), exhaustive=True))},
        control=Control(Case(hops=6, cycles=2), "three steps on a triangle come back", Eq(symbol("walked"), k / 2)),
        assumes=whole,
        note="Nine tokens `* u + v u + v * _` for each edge: two hops walk one edge, from either end, and the next copy of a vertex met "
             "going back belongs to its other edge. At k = 6 all orders and orientations are tried, up to symmetry. This executes the "
             "reduction; that hop_k then needs Omega(log k) layers is conditional.")
    yield Claim(
        key="hops/cycle_reduction_length", title="the reduction needs all k/2 copies: 9k (k/2) + 1 tokens",
        text="For every even k >= 6, the shortest sequence of whole copies of the edge list on which hop_k walks k/2 steps on a "
              "k-cycle, whatever the order of the edges and the start, has 9k (k/2) + 1 tokens.",
        statement=Eq(needed, 9 * k * k / 2 + 1), source=_own("Corollary 4.3"), wording="derived", kind="threshold", holds_for="all",
        measured=tokens_needed,
        grid={"quick": Case.grid(hops=(6, 8), cycles=1), "theory": Case.grid(hops=(10, 12), cycles=1)},
        control=Control(Case(hops=6, cycles=1), "one copy less fails for edges listed along the walk", Eq(needed, 9 * k * (k / 2 - 1) + 1)),
        assumes=whole,
        note="The source builds the sequence of this length; that no shorter repetition does is ours. So k = Theta(sqrt N) for this "
             "reduction; smaller k pads the sequence. Tried: edges in order, reversed, and four times shuffled with random orientation.")


def _conditional_claim() -> Any:
    from sympy import Ge, log

    from ..claim import Claim, Control
    from ..glossary import symbol
    from .depth_measured import lookups

    k = symbol("hops")
    return Claim(
        key="hops/lower_bound_conditional", title="networks of lookups do not beat log2 k layers",
        text="If no MPC protocol tells one cycle from two in o(log N) rounds, narrow masked transformers that compute hop_k need "
              "Omega(log k) layers, with an unknown constant (Corollary 4.3). Tested is one family: for every k >= 1, networks in which "
              "every layer is one lookup at a pointer need at least log2 k. One family cannot test a bound over all transformers.",
        statement=Ge(symbol("lookup_layers"), log(k) / log(2)), source=_own("Corollary 4.3"), wording="derived", kind="conditional",
        holds_for="all", measured=lookups, grid={"quick": Case.grid(hops=(1, 2, 3, 4, 6, 8), mask=("causal", "strict"))},
        control=Control(Case(hops=8, mask="strict"), "three times as many layers are not needed",
                       Ge(symbol("lookup_layers"), 3 * log(k) / log(2))),
        note="Conditional on the one-versus-two-cycle conjecture (sanford2024, Conjecture 2.4), for which there is no claim here. What "
             "is tested is unconditional and weaker than hops/lookup_depth_causal and hops/lookup_depth_strict. The "
             "corollary, for k = Theta(N^xi), xi in (0, 1/2], and m H = O(k^(1 - epsilon)), is neither proved nor refuted.")


def _gap_claims() -> Iterator[Any]:
    from sympy import Eq, cos, floor, pi

    from ..claim import Claim, Control
    from ..glossary import symbol
    from .depth_measured import last_match_gap, lookup_gap

    # At N - 2 and a hundredth steps: just beyond the farthest match.
    early = last_match_gap(start="-199/100")

    N, a, gap = symbol("tokens"), symbol("alphabet"), symbol("gap_scaled")
    units = 10**9
    own: dict[str, Any] = {"source": _own("Appendix F.4"), "wording": "derived", "kind": "identity", "holds_for": "all"}
    yield Claim(
        key="hops/lookup_gap", title="the lookup head separates scores by 1 - cos(2 pi/(N + 1))",
        text="For every N >= 2, with N + 1 angles the best and the next score of the lookup head differ by at least 1 - cos(2 pi/(N + "
              "1)) for every query, with equality; checked to 10^-9.",
        statement=Eq(gap, floor(units * (1 - cos(2 * pi / (N + 1))))), measured=lookup_gap,
        grid={"quick": Case.grid(tokens=(4, 7, 16)), "theory": Case.grid(tokens=(40, 99))},
        control=Control(Case(tokens=7), "half the angle", Eq(gap, floor(units * (1 - cos(pi / (N + 1)))))),
        note="1 - cos x >= 2 x^2/pi^2 on [0, pi], so this is at least 8/(N + 1)^2, the printed margin Omega(N^-2).", **own)
    yield Claim(
        key="hops/last_match_gap", title="the last-occurrence head separates scores by 1 - cos(pi/(N |Sigma|))",
        text="For every N >= 3 and every alphabet of at least two symbols, with symbols 2N steps apart the best and the next score of "
              "the last-occurrence head differ by at least 1 - cos(pi/(N |Sigma|)), with equality; checked to 10^-9.",
        statement=Eq(gap, floor(units * (1 - cos(pi / (N * a))))), measured=last_match_gap(),
        grid={"quick": Case.grid(tokens=(3, 5, 8), alphabet=(2, 3)), "theory": Case.grid(tokens=(12, 20), alphabet=(2, 5))},
        control=Control(Case(tokens=5, alphabet=2), "the start token a hundredth of a step beyond the farthest match", measured=early),
        note="Up to N = 6 measured over all sequences; beyond, over every pair of a distance d0 <= N - 1/2 of the best key (the start token is never "
             "farther) and the next larger distance d that a key can have, which no sequence falls short of. With steps of s = pi/(N |Sigma|) the "
             "gap is cos(d0 s) - cos(d s) >= 2 sin((d0 + 1/2) s) sin(s/2), as d >= d0 + 1. This grows with d0 while (d0 + 1/2) s <= N s <= "
             "pi/2, so it is least at d0 = 0: 1 - cos s, which (0, 0, 0) attains.", **own)


def _angles_claim() -> Any:
    from sympy import Ge

    from ..claim import Claim, Control
    from ..glossary import symbol
    from .depth_measured import distinct_keys

    return Claim(
        key="hops/lookup_angles_printed", title="N angles separate the tokens 0..N of the lookup head",
        text="If the start token 0 is keyed by the same printed formula, for every N the keys (cos, sin)(2 pi j/N) of the tokens 0..N are "
              "different.",
        statement=Ge(symbol("distinct_keys"), symbol("tokens") + 1), source=_source("Appendix F.4"), wording="universal", kind="lower",
        holds_for="all", measured=distinct_keys(), known="FAILS", weight="step",
        grid={"quick": Case.grid(tokens=(1, 2, 5, 100))},
        control=Control(Case(tokens=5), "N + 1 angles, which do separate the tokens, in steps of two",
                       measured=distinct_keys(more=1, step=2)),
        note='Printed are the keys "K_j = (cos 2 pi j/N, sin 2 pi j/N)", the margin Omega(N^-2) and an optional start token; that its key is K_0, '
             "and for every N, is our hardening. Token N and the start token share a key, so token N averages the two when it has no match "
             "to look up, or points to itself. N + 1 angles repair it. The source makes the start token optional; it needs one, for tokens "
             "without a match.")


def _scale_claim() -> Any:
    from sympy import Le

    from ..claim import Claim, Control
    from ..glossary import symbol
    from .depth_measured import softmax_error

    measured: Callable[[Case, int], Measured] = softmax_error()
    return Claim(
        key="hops/softmax_scale", title="logit scale log(N/epsilon)/gap makes a softmax lookup exact to epsilon",
        text="For every N >= 2 and epsilon in (0, 1), a softmax lookup head over N tokens with logits scaled by log(N/epsilon)/(1 - "
              "cos(2 pi/N)) leaves at most epsilon of its weight to all tokens but the right one.",
        statement=Le(symbol("softmax_error"), symbol("epsilon")), source=_own("Lemma A.2"), wording="derived", kind="upper",
        holds_for="all", measured=measured,
        grid={"quick": Case.grid(tokens=(2, 8, 100), epsilon=("1/10", "1/1000")), "theory": Case.grid(tokens=1000, epsilon="1/10")},
        control=Control(Case(tokens=8, epsilon="1/10"), "a third of the scale", measured=softmax_error(weaker=3)),
        note="(N - 1) exp(-scale gap) < epsilon. At N = 100 and epsilon = 1/100 the scale is 4,670.")

"""k-hop retrieval: hop_k follows k times the pointer "the token after the last earlier copy of me", and needs about log2 k layers.

The formulas are exact integers and import nothing heavy. The networks that the claims execute are in `hop_network`.
"""
from __future__ import annotations

import operator
from collections.abc import Callable, Hashable, Iterable, Iterator, Sequence
from fractions import Fraction
from typing import TYPE_CHECKING, Any, Literal

from ..claim import Ball, Case, Claim, Control, Exact, Measured, Source, Step

if TYPE_CHECKING:
    import sympy

Wording = Literal["corrected", "printed"]


def find1(sequence: Sequence[Hashable]) -> list[int]:
    """find^1(i) = max({0} u {j <= i : X_(j-1) = X_i}) for i = 1..N: the token after the last earlier copy of X_i, counted from 1.

    Args:
        sequence: N symbols. The empty sequence gives the empty list.

    Cost: O(N).

    >>> find1("abab")
    [0, 0, 2, 3]

    References: Sanford, Hsu and Telgarsky 2024, arXiv:2402.09268v1, Definition 4.1.
    """
    after_last: dict[Hashable, int] = {}
    found = []
    for position, symbol in enumerate(sequence, start=1):
        found.append(after_last.get(symbol, 0))
        after_last[symbol] = position + 1
    return found


def find(sequence: Sequence[Hashable], hops: int) -> list[int]:
    """find^k(i) = find^1(find^(k-1)(i)) for i = 1..N, with find^0(i) = i and find^1(0) = 0.

    >>> find("ababab", 2)
    [0, 0, 0, 2, 3, 4]
    """
    once = [0, *find1(sequence)]
    pointers = list(range(1, len(once)))
    for _ in range(_whole("hops", hops)):
        pointers = [once[p] for p in pointers]
    return pointers


def hop_k(sequence: Sequence[Any], hops: int, missing: Any = None) -> list[Any]:
    """hop_k(X)_i = X_(find^k(i)), or `missing` where find^k(i) = 0, for i = 1..N. hop_0 is the identity.

    Args:
        sequence: N symbols.
        hops: k, a whole number.
        missing: what stands for "there is none".

    Raises:
        ValueError: for other k.

    Cost: O(k N).

    >>> [hop_k("baebcabebdea", hops)[-1] for hops in (0, 1, 2)]
    ['a', 'b', 'c']

    References: Sanford, Hsu and Telgarsky 2024, arXiv:2402.09268v1, Definition 4.1.
    """
    return [sequence[p - 1] if p else missing for p in find(sequence, hops)]


def layers_for_hops(hops: int, reading: Wording = "corrected") -> int:
    """Layers that suffice for hop_k with one head of fixed width and a causal mask, exact; hop_0 needs none.

    corrected: ceil(log2 k) + 2, by a construction that is executed here. printed: floor(log2 k) + 2, Theorem 4.2; its construction
    does not do it, and for k that is not a power of two it is not known here. (`hop_network.symbol_carrying` does it with a strict
    mask, or with about log2 N heads in its first layer.)

    Args:
        hops: k, a whole number.
        reading: which of the two.

    Raises:
        ValueError: for another k or reading.

    >>> [layers_for_hops(hops) for hops in (0, 1, 2, 3, 4, 5, 16)]
    [0, 2, 3, 4, 4, 5, 6]
    >>> [layers_for_hops(hops, "printed") for hops in (0, 1, 2, 3, 4, 5, 16)]
    [0, 2, 3, 3, 4, 4, 6]

    References: Sanford, Hsu and Telgarsky 2024, arXiv:2402.09268v1, Theorem 4.2.
    """
    _check_reading(reading)
    k = _whole("hops", hops)
    if k == 0:
        return 0
    return 2 + ((k - 1).bit_length() if reading == "corrected" else k.bit_length() - 1)


def k_max_printed(depth: int) -> int:
    """2^(L-1) - 1: the largest k with floor(log2 k) + 2 <= L; 0 below two layers, where only hop_0 is granted.

    >>> [k_max_printed(depth) for depth in (0, 1, 2, 3, 4, 5, 6)]
    [0, 0, 1, 3, 7, 15, 31]
    """
    layers = _whole("depth", depth)
    return 2 ** (layers - 1) - 1 if layers >= 2 else 0


def k_max_corrected(depth: int) -> int:
    """2^(L-2): the largest k with ceil(log2 k) + 2 <= L; 0 below two layers, where only hop_0 is granted.

    >>> [k_max_corrected(depth) for depth in (0, 1, 2, 3, 4, 5, 6)]
    [0, 0, 1, 2, 4, 8, 16]
    """
    layers = _whole("depth", depth)
    return 2 ** (layers - 2) if layers >= 2 else 0


def _whole(name: str, value: int) -> int:
    try:
        whole = operator.index(value)
    except TypeError:
        whole = -1
    if isinstance(value, bool) or whole < 0:
        raise ValueError(f"{name}={value!r}: accepted are whole numbers from 0 on")
    return whole


def _check_reading(reading: str) -> None:
    if reading not in ("corrected", "printed"):
        raise ValueError(f"wording={reading!r}: accepted are 'corrected' and 'printed'")


# --- claims ------------------------------------------------------------------------------------------------------------------

_SANFORD = "arXiv:2402.09268v1"
_THEOREM = Source("sanford2024", "Theorem 4.2", _SANFORD)
_APPENDIX = Source("sanford2024", "Appendix F.4", _SANFORD)
# What is our own is credited to this project, and names what it was made after.
_OWN_DEPTH = Source("depthlaw", f"after sanford2024, {_SANFORD}, Theorem 4.2")
_OWN_WEIGHTS = Source("depthlaw", f"after sanford2024, {_SANFORD}, Appendix F.4")
# The largest k that the grid below executes: what can be said of an execution ends there; beyond it speaks the argument.
LARGEST_EXECUTED = 64
# Every short sequence; and long enough that k hops exist, on the alternating sequence and on random tokens.
_GRID = {"quick": (*(Case(hops=k, tokens=40 + k, alphabet=4, repeats=bool(k % 2)) for k in (1, 2, 3, 4, 5, 6, 7, 8, 16, 17)),
                   *Case.grid(hops=(1, 2, 3, 4, 5, 6), tokens=5, alphabet=2, exhaustive=True)),
         "theory": (*Case.grid(hops=(1, 2, 3, 4, 5, 6), tokens=5, alphabet=3, exhaustive=True),
                    *(Case(hops=k, tokens=60 + 3 * k, alphabet=3 + k % 3, repeats=bool(k % 2)) for k in range(1, LARGEST_EXECUTED + 1)),
                    *Case.grid(hops=(1, 5, 31, 32, 33), tokens=100, alphabet=(2, 10), repeats=(False, True)))}


def claims() -> Iterator[Claim]:
    """The claims of this module."""
    yield from _depth_claims()
    yield from _variant_claims()
    yield from _printed_construction_claims()
    yield from _spacing_claims()
    yield from _inverse_claims()
    yield _doubling_claim()
    from . import depth as hop_depth
    from . import experiment as hop_experiment
    from . import induction

    yield from hop_depth.claims()
    yield from induction.claims()
    yield from hop_experiment.claims()


def _truth(sequence: Sequence[int], hops: int) -> list[int]:
    from .network import BOTTOM

    return hop_k(sequence, hops, missing=BOTTOM)


def _settles(name: str, **options: Any) -> Callable[[Case, int], Measured]:
    """Run a network of `hop_network` on the sequences of a case: the first layer from which on it is right everywhere."""
    def measured(case: Case, seed: int) -> Exact:
        from . import network as hop_network
        from .network import sequences_of, settles

        network = getattr(hop_network, name)
        return Exact(settles(lambda s, a, k: network(s, a, k, **options), sequences_of(case, seed), case.alphabet, case.hops, _truth))
    return measured


def _known_depths(case: Case, seed: int) -> Ball:
    """What is known about the least depth L*: at least 2, at most the depth of the executed construction.

    Lower end: hop_k answers INDEX, which is executed here for this k, and one layer of fixed width with O(log N) bits cannot
    (`induction.one_layer_bits`). Upper end: the first layer from which on the repaired construction is right on the sequences of the
    case; that it is right on all others rests on the argument in `hop_network`, not on this run.
    """
    from .induction_measured import hops_ask_for_every_bit

    found = _settles("causal")(case, seed)
    if not isinstance(found, Exact) or found.value < 0:
        raise ValueError(f"the construction errs at [{case}], so it gives no upper end")
    return Ball(Fraction(2 if hops_ask_for_every_bit(case.hops) else 0), Fraction(found.value))


def _depth_claims() -> Iterator[Claim]:
    from sympy import Eq, Le, ceiling, floor, log

    from ..glossary import symbol

    k, used, needed = symbol("hops"), symbol("layers_used"), symbol("layers_needed")
    log2 = log(k) / log(2)
    first = Case(hops=1, tokens=41, alphabet=4, repeats=True)
    yield Claim(
        key="hops/depth_printed", title="hop_k needs at most floor(log2 k) + 2 layers, as printed",
        text="For every k >= 1 and every alphabet of at most N symbols, some masked transformer with one head of width O(1), "
              "O(log N) bits and floor(log2 k) + 2 layers computes hop_k on all sequences of length N.",
        statement=Le(needed, floor(log2) + 2), source=_THEOREM, wording="printed", kind="upper", holds_for="all",
        known="UNDECIDED", measured=_known_depths, grid=_GRID,
        control=Control(first, "one layer less at k = 1 is one layer, which cannot do the induction task", Le(needed, floor(log2) + 1)),
        note="Measured is the interval that is known here. Its lower end 2: one layer of fixed width and O(log N) bits cannot answer "
             "INDEX (sanford2024one, as reported), which hop_k does (hops/one_layer_index). Its upper end: the depth of the repaired "
             "construction, executed on the sequences of the case, and on no others. It agrees at powers of two. "
             "Elsewhere the construction needs one layer more, which refutes nothing, so the verdict stays open. For k = 3 it would be decided by "
             "one causal head of width O(1) with O(log N) bits that does hop_3 in three layers for every N, or by a proof that three "
             "layers do not. With a strict mask, or "
             f"log2 N heads, the printed depth was right on everything executed, up to k = {LARGEST_EXECUTED}: hops/depth_strict_mask, "
             "hops/depth_log_heads. What stands in the way: "
             "hops/lookup_depth_causal, hops/self_skip_subset_sums; why no finite search settles it: hops/one_layer_unbounded_precision.")
    yield Claim(
        key="hops/depth_corrected", title="the repaired construction computes hop_k in ceil(log2 k) + 2 layers",
        text="For every k >= 1, the repaired construction (start from find^1, add the binary digits of k - 1, symbols 2N apart) with one "
              "head and a causal mask is right on every token of every sequence from layer ceil(log2 k) + 2 on, and on some not before.",
        statement=Eq(used, ceiling(log2) + 2), source=_OWN_WEIGHTS, wording="derived", kind="construction", holds_for="all",
        measured=_settles("causal"), grid=_GRID,
        control=Control(Case(hops=5, tokens=45, alphabet=4, repeats=True), "5 hops are not done a layer earlier", Eq(used, floor(log2) + 2)),
        note="Executed in integers: a head attends to the key at the least angular distance. All sequences of 5 tokens over 2 and 3 "
             f"symbols for k <= 6, and for each k <= {LARGEST_EXECUTED} an alternating and four random sequences. Two corrections of "
             "the printed construction.")


def _variant_claims() -> Iterator[Claim]:
    from sympy import Eq, ceiling, floor, log

    from ..glossary import symbol

    k, used = symbol("hops"), symbol("layers_used")
    shared: dict[str, Any] = {
        "statement": Eq(used, floor(log(k) / log(2)) + 2), "source": _OWN_DEPTH, "wording": "derived", "kind": "construction",
        "holds_for": "all", "grid": _GRID,
        "control": Control(Case(hops=5, tokens=45, alphabet=4, repeats=True), "rounding up would ask for a layer more",
                          Eq(used, ceiling(log(k) / log(2)) + 2))}
    yield Claim(
        key="hops/depth_strict_mask", title="strict mask: hard attention does hop_k in floor(log2 k) + 2 layers",
        text="For every k >= 1, a hard-attention network with one head, width O(1), O(log N) bits, a start token that sees itself and else "
              "the strict mask j < i is right on every token of every sequence from layer floor(log2 k) + 2 on, and on some not before.",
        measured=_settles("symbol_carrying", mask="strict"),
        note="find^1(i) is one more than the last j < i with X_j = X_i: one layer instead of two. Then the answer's symbol travels with "
             f"the pointers, so find^(2^t) gives hop_k up to k = 2^(t+1) - 1. Executed up to k = {LARGEST_EXECUTED}. The "
             "mask is allowed in the source's definition of masked attention, but Theorem 4.2 speaks of the causal mask "
             "j <= i, under which a token finds itself first.", **shared)
    yield Claim(
        key="hops/depth_log_heads", title="with log2 N heads floor(log2 k) + 2 layers do compute hop_k",
        text="For every k >= 1, a hard-attention network with the causal mask, a start token and ceil(log2(N + 1)) heads in its first "
              "layer, one in the others, is right on every token of every sequence from layer floor(log2 k) + 2 on, and on some not before.",
        measured=_settles("symbol_carrying", mask="causal"),
        note="Head b of the first layer sees only tokens whose position differs in binary digit b: never the token itself, and every "
             "other token at least once. H and m grow as log N, against H = 1 and m = O(1) in the theorem.", **shared)


def _wrong(*, layers: int, extra: int = 0, **options: Any) -> Callable[[Case, int], Measured]:
    """Wrong tokens of the causal network on the sequences of a case; asking it for `extra` hops too many sabotages it."""
    def measured(case: Case, seed: int) -> Exact:
        from .network import causal, errors, sequences_of

        return Exact(errors(lambda s, a, k: causal(s, a, k + extra, **options), sequences_of(case, seed), case.alphabet, case.hops, _truth,
                            layers))
    return measured


def _computed_hops(case: Case, seed: int) -> Exact:
    """The one h for which the network printed for k hops answers hop_h on every token; -1 when it is none or several."""
    from .network import answers, causal, sequences_of

    candidates = set(range(2 * case.hops + 1))
    for sequence in sequences_of(case, seed):
        given = answers(lambda s, a, k: causal(s, a, k, induction="printed"), sequence, case.alphabet, case.hops).tolist()
        candidates = {h for h in candidates if _truth(sequence, h) == given}
    return Exact(candidates.pop() if len(candidates) == 1 else -1)


def _printed_construction_claims() -> Iterator[Claim]:
    from sympy import Eq, ceiling

    from ..glossary import symbol

    k, wrong, computed = symbol("hops"), symbol("wrong_tokens"), symbol("computed_hops")
    few = {"quick": _GRID["quick"], "theory": _GRID["theory"][:30]}
    yield Claim(
        key="hops/construction_printed_depth", title="the printed induction step computes hop_k",
        text="For every k >= 1, the construction with the printed induction step (symbols 2N apart) is right on every token of every "
              "sequence.",
        statement=Eq(wrong, 0), source=_APPENDIX, wording="printed", kind="construction", holds_for="all", known="FAILS", weight="step",
        measured=_wrong(layers=12, induction="printed"), grid=few,
        control=Control(Case(hops=1, tokens=41, alphabet=4, repeats=True), "a network for 2 hops, asked for 1 hop",
                       measured=_wrong(layers=12, induction="printed", extra=2)),
        note="The step composes find^(k mod 2^(l-1)) with find^(2^(l-2)), where find^(2^(l-1)) is needed. It errs for every k >= 2, at any "
             "depth; hops/construction_printed_hops says what it computes. Spacing corrected, so that only this error shows.")
    yield Claim(
        key="hops/construction_printed_hops", title="the printed induction step computes hop_h with h = ceil(k/2)",
        text="For every k >= 1 with binary digits k_j, the construction with the printed induction step computes hop_h with "
              "h = k_0 + sum over j >= 1 of k_j 2^(j-1) = ceil(k/2).",
        statement=Eq(computed, ceiling(k / 2)), source=_OWN_WEIGHTS, wording="derived", kind="identity", holds_for="all",
        measured=_computed_hops, grid=few,
        control=Control(Case(hops=4, tokens=44, alphabet=4, repeats=False), "it should compute k hops", Eq(computed, k)))


def _spacing_claims() -> Iterator[Claim]:
    from sympy import Eq

    from ..glossary import symbol

    none_wrong = Eq(symbol("wrong_tokens"), 0)
    small = {"quick": Case.grid(hops=1, alphabet=(2, 3), tokens=(1, 2, 3, 4), exhaustive=True),
             "theory": Case.grid(hops=1, alphabet=(2, 3), tokens=(5, 6), exhaustive=True)}
    yield Claim(
        key="hops/construction_printed_spacing", title="symbols N apart suffice in the last-occurrence head",
        text="For every N, every alphabet and every sequence of length N, the construction with symbols N angular steps apart computes "
              "hop_1 on every token.",
        statement=none_wrong, source=_APPENDIX, wording="printed", kind="construction", holds_for="all", known="FAILS", weight="step",
        measured=_wrong(layers=2, spacing=1), grid=small,
        control=Control(Case(hops=1, alphabet=2, tokens=2, exhaustive=True), "where spacing N is right, one layer is not enough",
                       measured=_wrong(layers=1, spacing=1)),
        note="A key whose symbol follows the query's symbol in cyclic order lies N - (i - j) >= 1 steps away and can win. Smallest "
             "failure: N = 3, X = (0, 0, 1), token 3, which should find nothing. All sequences of each length are tried.")
    yield Claim(
        key="hops/construction_corrected_spacing", title="symbols 2N apart suffice in the last-occurrence head",
        text="For every N, every alphabet and every sequence of length N, the hard-attention construction with symbols 2N angular steps "
              "apart computes hop_1 on every token.",
        statement=none_wrong, source=_OWN_WEIGHTS, wording="derived", kind="construction", holds_for="all",
        measured=_wrong(layers=2, spacing=2), grid=small,
        control=Control(Case(hops=1, alphabet=2, tokens=3, exhaustive=True), "symbols N apart", measured=_wrong(layers=2, spacing=1)),
        note="A true match is at most N - 1 steps away, the start token N - 1/2, a wrong symbol at least 2N - (N - 1) = N + 1.")


def _search(reading: Wording) -> Callable[[Case, int], Measured]:
    """The largest k whose layers fit, counting layers by halving (printed) or doubling (corrected) one hop at a time."""
    def fits(k: int, depth: int) -> bool:
        layers, reached = 2, 1
        if reading == "printed":
            while k > 1:
                layers, k = layers + 1, k // 2
        while reached < k:
            layers, reached = layers + 1, 2 * reached
        return layers <= depth

    def measured(case: Case, seed: int) -> Exact:
        k = 0
        while fits(k + 1, case.depth):
            k += 1
        return Exact(k)
    return measured


def _inverse_proof(reading: Wording) -> Callable[[sympy.core.relational.Relational], Iterable[Step]]:
    """The whole k whose layers fit are those up to the right side: one chain of equivalences, written at L = t + 2, t >= 0."""
    def proof(statement: sympy.core.relational.Relational) -> Iterator[Step]:
        from sympy import Symbol, ceiling, diff, floor, log, simplify

        from ..glossary import symbol

        t, x, k = Symbol("t", integer=True, nonnegative=True), Symbol("x", real=True), Symbol("k", positive=True)
        printed = reading == "printed"
        rounded, edge = (floor, 2 ** (t + 1)) if printed else (ceiling, 2**t)
        fits, last = x < t + 1 if printed else x <= t, edge - int(printed)
        name, order = ("floor", "< t + 1") if printed else ("ceil", "<= t")
        yield Step(f"{name}(x) + 2 <= t + 2 means x {order}, for every real x and whole t", (rounded(x) <= t) == fits)
        yield Step(f"2^x grows with x and is k at x = log2 k, so log2 k {order} means k {order.partition(' ')[0]} {edge}",
                   bool(diff(2**x, x).is_positive) and simplify(2 ** (log(k) / log(2)) - k) == 0)
        yield Step(f"for whole k that means k <= {last}", edge.is_integer and (not printed or (floor(x) <= last) == (floor(x) < edge)))
        yield Step("k = 1 fits at every L = t + 2", bool(rounded(log(1) / log(2)) + 2 <= t + 2))
        yield Step(f"the statement is an equation, and its right side at L = t + 2 is {last}",
                   statement.rel_op == "==" and simplify(statement.rhs.subs(symbol("depth"), t + 2) - last) == 0)
    return proof


_INVERSE = ("about the stated count of layers, not nets. Prose: every L >= 2 is t + 2; the steps chain to 'k fits iff k <= right side'; "
            "SymPy's rules for floor and ceil")


def _inverse_claims() -> Iterator[Claim]:
    from sympy import Eq, Integer

    from ..glossary import symbol

    L, most = symbol("depth"), symbol("hops_max")
    grid = {"quick": Case.grid(depth=(2, 3, 4, 5, 6, 7, 8)), "theory": Case.grid(depth=(9, 10, 11, 12, 13, 14))}
    shared: dict[str, Any] = {"source": _OWN_DEPTH, "wording": "derived", "kind": "identity", "holds_for": "all", "grid": grid,
                              "assumes": {"at least two layers": lambda case: case.depth >= 2}}
    two = Integer(2)
    yield Claim(
        key="hops/k_max_printed", title="floor(log2 k) + 2 <= L means k <= 2^(L-1) - 1",
        text="For every L >= 2, the largest k with floor(log2 k) + 2 <= L, the printed depth, is 2^(L-1) - 1.",
        statement=Eq(most, two ** (L - 1) - 1), measured=_search("printed"),
        proof=_inverse_proof("printed"), rests_on=_INVERSE,
        control=Control(Case(depth=4), "2^(L-1) itself has one binary digit more", Eq(most, two ** (L - 1))), **shared)
    yield Claim(
        key="hops/k_max_corrected", title="ceil(log2 k) + 2 <= L means k <= 2^(L-2)",
        text="For every L >= 2, the largest k with ceil(log2 k) + 2 <= L, the depth of the repaired construction, is 2^(L-2).",
        statement=Eq(most, two ** (L - 2)), measured=_search("corrected"),
        proof=_inverse_proof("corrected"), rests_on=_INVERSE,
        control=Control(Case(depth=4), "the printed depth allows almost twice as many", Eq(most, two ** (L - 1) - 1)), **shared)


def _composed(case: Case, seed: int) -> Exact:
    """The one h with find^h = find^a after find^b on all sequences; -1 when it is none or several."""
    from .network import all_sequences, random_sequences

    sequences = [*random_sequences(case.rng(seed), case.tokens, case.alphabet, case.repeats), *all_sequences(6, 2)]
    candidates = set(range(case.tokens))
    for sequence in sequences:
        first, then = [0, *find(sequence, case.hops_first)], find(sequence, case.hops_then)
        composed = [first[p] for p in then]
        candidates = {h for h in candidates if find(sequence, h) == composed}
    return Exact(candidates.pop() if len(candidates) == 1 else -1)


def _doubling_claim() -> Claim:
    from sympy import Eq

    from ..glossary import symbol

    a, b, computed = symbol("hops_first"), symbol("hops_then"), symbol("computed_hops")
    return Claim(
        key="hops/doubling", title="find^a after find^b is find^(a+b)",
        text="For every sequence and all a, b >= 0, find^a(find^b(i)) = find^(a+b)(i) at every i, so one lookup doubles a pointer.",
        statement=Eq(computed, a + b), wording="derived", kind="identity", holds_for="all",
        source=Source("depthlaw", f"after sanford2024, {_SANFORD}, Definition 4.1 and Appendix F.4"), measured=_composed,
        grid={"quick": Case.grid(hops_first=(0, 1, 2, 4), hops_then=(0, 1, 3, 4), tokens=24, alphabet=4, repeats=True),
              "theory": Case.grid(hops_first=(5, 8, 16), hops_then=(2, 8, 16), tokens=60, alphabet=4, repeats=False)},
        control=Control(Case(hops_first=2, hops_then=3, tokens=24, alphabet=4, repeats=True), "hops add up, they do not multiply",
                       Eq(computed, a * b)))

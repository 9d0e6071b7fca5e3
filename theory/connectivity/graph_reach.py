"""Reach beyond the plain network: ReLU attention as published, read-outs that double the reach, layer counts, and shortcuts in data."""
from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from functools import partial
from typing import TYPE_CHECKING, Any

from ..values import Case, Step

if TYPE_CHECKING:
    from sympy.core.relational import Relational

__all__ = ["claims"]

_YE = "arXiv:2510.19753"
_MERRILL = "arXiv:2503.03961"
_FAMILIES = {"quick": (*Case.grid(family=("path", "cycle", "two cycles", "grid"), diameter=(3, 4, 10), depth=(0, 1, 2)),
                       *Case.grid(family="barbell", diameter=(3, 8), depth=(1, 2)), Case(family="star", diameter=2, depth=1)),
             # "all": every graph of at most 6 vertices.
             "theory": (*Case.grid(family=("path", "two cycles"), diameter=(18, 19, 28), depth=2),
                        *Case.grid(family="all", diameter=(2, 4), depth=(0, 1)), Case(family="all", diameter=5, depth=1),
                        *Case.grid(family=("random tree", "Erdos-Renyi"), diameter=(6, 8), depth=(1, 2)))}


def claims() -> Iterator[Any]:
    """The claims of this module."""
    yield _relu_claim()
    yield from _nonnegative_claims()
    yield from _power_claims()
    yield _row_claim()
    yield from _length_claims()
    yield from _shortcut_claims()


def _relu_claim() -> Any:
    from sympy import Eq, Min

    from ..claim import Claim, Control, Source
    from ..glossary import symbol
    from .graph_reach_measured import relu_reach

    L, D, reached = symbol("depth"), symbol("diameter"), symbol("reached_distance")
    return Claim(
        key="connectivity/relu_reach", title="L layers of ReLU attention with identity weights reach exactly 3^L",
        text="For every graph with largest finite distance D, ReLU attention (1/n) ReLU(h h^T) h, its output appended to a stream that "
              "starts as A + I alone, has after L layers a positive sum of blocks exactly for the pairs at distance at most min(3^L, D).",
        statement=Eq(reached, Min(3**L, D)), source=Source("ye2025", "Theorem 4.3", _YE), wording="reported", kind="construction",
        holds_for="all", measured=relu_reach, grid=_FAMILIES,
        control=Control(Case(family="path", diameter=10, depth=1), "base 2 would stop at 2", Eq(reached, Min(2**L, D))),
        note="Executed in rational numbers, on another network than connectivity/reach: a growing stream, scores divided by n. With "
             "identity weights no score is negative, so ReLU never cuts. The theorem itself was not read; reported stream widths 2^(l+1) n "
             "may mean a stream that starts as two blocks (connectivity/relu_powers_reported).")


def _nonnegative_claims() -> Iterator[Any]:
    from sympy import Eq

    from ..claim import Claim, Control, Source
    from ..glossary import symbol
    from .graph_reach_measured import surviving_supports, survivors

    grid = {"quick": (Case(depth=1, trials=12, labellings=12),),
            "theory": (Case(depth=1, trials=60, labellings=40), Case(depth=2, trials=24, labellings=6))}
    one, two = ((" and ".join(str(c.trials) for suite in grid.values() for c in suite if c.depth == depth)) for depth in (1, 2))
    yield Claim(
        key="connectivity/nonnegative_weights_fail", title="no non-negative weights tried read off distance 3^L + 1",
        text="Reported: for every choice of non-negative weights of L layers of ReLU attention there is a graph of diameter 3^L + 1 on "
              f"which the model errs. Tested, on a stream that starts as A: of {one} different weights at depth 1 and {two} at depth 2, none "
              "lets one threshold on the sum of blocks read off reachability in two paths of that diameter, in every labelling drawn.",
        statement=Eq(symbol("survivors"), 0), source=Source("ye2025", "Theorem 4.5", _YE), wording="reported", kind="upper",
        holds_for="all", measured=survivors(),
        grid=grid,
        control=Control(Case(depth=1, trials=6, labellings=6), "within 3^L the identity works", measured=survivors(longest=0)),
        note="Sampled weights support the theorem and do not prove it; for one layer connectivity/nonnegative_one_layer covers all. The "
             "graph tried has two components, so that answering yes everywhere fails too.")
    yield Claim(
        key="connectivity/nonnegative_one_layer", title="no non-negative one-layer weights tell two 5-vertex paths apart",
        text="For every non-negative weight matrix of one layer of ReLU attention on 10 vertices there is a labelling of two paths of 5 "
              "vertices in which an output entry within a component is 0 or one between the components is positive.",
        statement=Eq(symbol("surviving_supports"), 0), source=Source("depthlaw", f"after ye2025, {_YE}, Theorem 4.5"), wording="derived",
        kind="upper", holds_for="all", measured=surviving_supports, grid={"quick": (Case(vertices=10, labellings=24),)},
        control=Control(Case(vertices=8, labellings=24), "distance 3 is reached by the identity"),
        note="Exhaustive: supports only grow with the weights. The largest diagonal support leaves distance 4 at 0, and every single "
             "entry off the diagonal joins two components in some labelling, hence so does every matrix that contains it.")


def _power_claims() -> Iterator[Any]:
    from sympy import Eq, Ge

    from ..claim import Claim, Control, Source
    from ..glossary import symbol
    from .graph_reach_measured import relu_powers, relu_unbroken

    L, powers, unbroken = symbol("depth"), symbol("powers"), symbol("unbroken_powers")
    starts = ("A", "I A")
    yield Claim(
        key="connectivity/relu_powers_reported", title="the output holds every power A^j with j <= 3^L",
        text="For every L, with identity weights, every power A^j, 1 <= j <= 3^L, of the adjacency matrix A with self-loops has a "
              "positive coefficient in the stream after L layers of ReLU attention, whether the stream starts as A or as [I, A].",
        statement=Ge(unbroken, 3**L), source=Source("ye2025", "Theorem 4.3", _YE), wording="universal", kind="lower", known="FAILS",
        holds_for="all", measured=relu_unbroken,
        grid={"quick": Case.grid(start=starts, depth=(0, 1, 2, 3)), "theory": Case.grid(start=starts, depth=(4, 5))},
        control=Control(Case(start="I A", depth=1), "the degree of the stream is 3^L", Ge(unbroken, 3**L + 1)),
        note='The sentence, in a restatement of the theorem, which was not read: "it computes sum_(j <= 3^L) alpha_j A^j, alpha_j > 0, with '
             'all W_l = I". That the start does not matter is our hardening. The sentence holds for a stream that starts as '
             "[I, A], which the reported width 2^(l+1) n means if l counts finished layers. It fails for one that starts as A, which holds "
             "odd powers only (connectivity/relu_powers). The reach is 3^L either way: with self-loops the support of A^j grows with j.")
    yield Claim(
        key="connectivity/relu_powers", title="the output holds exactly the (3^L + 1)/2 odd powers of A",
        text="For every L, with identity weights, the blocks of the stream after L layers of ReLU attention, as polynomials in A on a "
              "stream that starts as A, hold exactly the powers A^j with odd j <= 3^L, (3^L + 1)/2 of them.",
        statement=Eq(powers, (3**L + 1) / 2), source=Source("depthlaw", f"after ye2025, {_YE}, Theorem 4.3"), wording="derived",
        kind="identity", holds_for="all", measured=relu_powers,
        grid={"quick": Case.grid(depth=(0, 1, 2, 3)), "theory": Case.grid(depth=(4, 5))},
        control=Control(Case(depth=2, start="I A"), "a stream that starts as [I, A] holds even powers too"),
        note="A layer multiplies a block by a sum of squares of blocks, so every exponent stays odd. Measured is the number of powers if "
             "they are the first odd ones, otherwise -1.")


def _row_claim() -> Any:
    from sympy import Eq, Min

    from ..claim import Claim, Control, Source
    from ..glossary import symbol
    from .graph_reach_measured import row_reach

    L, D, reached = symbol("depth"), symbol("diameter"), symbol("row_distance")
    return Claim(
        key="connectivity/row_reach", title="comparing rows of the output doubles the reach to 2 3^L",
        text="For every graph with largest finite distance D, two rows of the output of L layers of X -> X X^T X on A + I have a "
              "positive inner product (cosine) exactly for vertices at distance at most min(2 3^L, D).",
        statement=Eq(reached, Min(2 * 3**L, D)), source=Source("depthlaw", "after paccagnella, Part IV"), wording="derived",
        kind="identity", holds_for="all", measured=row_reach, grid=_FAMILIES,
        control=Control(Case(family="path", diameter=10, depth=1), "not only the entries themselves", Eq(reached, Min(3**L, D))),
        note="Both balls of radius 3^L must meet: the inner products are the power 2 3^L of A + I, where connectivity/reach is the same "
             "for the entries themselves; what differs is the read-out. paccagnella, a student report, sees the wall of trained nets "
             "move to 2 3^L with such a read-out.")


def length_steps(r: int, s: int, right_at: Callable[[Any], Any]) -> Iterator[Step]:
    """For every L >= s the largest n with s + r ceil(log2 n) <= L is `right_at(L)`: one chain of equivalences for each remainder."""
    from sympy import Rational, Symbol, ceiling, diff, floor, log, simplify

    t, c = Symbol("t", integer=True, nonnegative=True), Symbol("c", integer=True)
    x, n = Symbol("x", real=True), Symbol("n", positive=True)
    yield Step("for whole c, c <= x means c <= floor(x)", (floor(x) >= c) == (x >= c))
    yield Step("for whole t, ceil(x) <= t means x <= t", (ceiling(x) <= t) == (x <= t))
    yield Step("2^x grows with x and is n at x = log2 n, so log2 n <= t means n <= 2^t",
               bool(diff(2**x, x).is_positive) and simplify(2 ** (log(n) / log(2)) - n) == 0)
    yield Step("2^t is a whole number of at least 1", bool((2**t).is_integer) and bool((2**t).is_positive))
    for spare in range(r):
        depth = s + r * t + spare
        yield Step(f"at L = {s} + {r} t + {spare} the c with {s} + {r} c <= L are those with c <= t",
                   floor(simplify((depth - s) / r)) == t and Rational(1, r).is_positive)
        yield Step(f"at L = {s} + {r} t + {spare} the right side is 2^t", simplify(right_at(depth) - 2**t) == 0)


def _length_proof(statement: Relational) -> Iterable[Step]:
    """For the layer counts of the source: r layers per doubling, s fixed ones."""
    from ..glossary import symbol

    r, s, L = (symbol(name) for name in ("per_doubling", "fixed_layers", "depth"))
    yield Step("the statement is an equation", statement.rel_op == "==")
    for per, fixed in ((8, 9), (4, 5)):
        right = statement.rhs.subs({r: per, s: fixed})
        yield from length_steps(per, fixed, partial(right.subs, L))


def _length_claims() -> Iterator[Any]:
    from sympy import Eq, Ge, Integer, floor

    from ..claim import Claim, Control, Source
    from ..glossary import symbol
    from .graph_reach_measured import length_max

    L, r, s, most = (symbol(name) for name in ("depth", "per_doubling", "fixed_layers", "length_max"))
    two = Integer(2)
    grid = {"quick": (*Case.grid(depth=(32, 33, 80), per_doubling=4, fixed_layers=5),
                      *Case.grid(depth=(9, 24, 25, 80), per_doubling=8, fixed_layers=9))}
    yield Claim(
        key="connectivity/log_depth_lengths", title="r layers per doubling and s more reach length 2^floor((L - s)/r)",
        text="For (r, s) = (8, 9) and (4, 5), regular languages with uniform and with non-uniform weights, the largest n with "
              "r ceil(log2 n) + s <= L is 2^floor((L - s)/r), for every L >= s.",
        statement=Eq(most, two ** floor((L - s) / r)), source=Source("depthlaw", f"after merrill2025, {_MERRILL}, Theorem 1, Corollary 1.1"),
        wording="derived", kind="identity", holds_for="all", measured=length_max, grid=grid, proof=_length_proof,
        rests_on="about the printed counts of layers, not nets. Prose: every L >= s is s + r t + a remainder below r; the steps chain; "
                 "SymPy's rules for floor and ceil",
        control=Control(Case(depth=32, per_doubling=4, fixed_layers=5), "the exponent is whole", Eq(most, floor(two ** ((L - s) / r)))),
        note="So 32 and 80 layers give lengths 64 and 262,144 for regular languages, if the printed counts are right.")
    yield Claim(
        key="connectivity/log_depth_lengths_printed", title="Corollary 1.1 grants regular languages lengths up to 2^((L-9)/4+1)",
        text="For every L >= 9 the lengths n <= 2^((L - 9)/4 + 1), rounded down, fit into L layers by 4 ceil(log2 n) + 5 <= L, so that "
              "32 layers reach 107 and 80 layers 440 thousand.",
        statement=Ge(most, floor(two ** ((L - 9) / 4 + 1))), source=Source("merrill2025", "Corollary 1.2 and introduction", _MERRILL),
        wording="printed", kind="lower", holds_for="all", measured=length_max, known="FAILS",
        grid={"quick": Case.grid(depth=(29, 32, 33, 80), per_doubling=4, fixed_layers=5)},
        control=Control(Case(depth=33, per_doubling=4, fixed_layers=5), "even where the exponent is whole, twice as long fails",
                       Ge(most, two ** ((L - 9) / 4 + 2))),
        note="It drops the rounding up of log2 n: Corollary 1.1 gives 64 and 262,144. Right when 4 divides L - 9. What fails is the "
             "inference: other nets of L layers may well reach these lengths.")


def _shortcut_claims() -> Iterator[Any]:
    from sympy import Eq

    from ..claim import Claim, Control, Source
    from ..glossary import symbol
    from .graph_reach_measured import first_difference, forest_components, path_leaves

    n, edges, parts, leaves, m = (symbol(name) for name in ("vertices", "edges", "components", "leaves", "cycle_length"))
    shared: dict[str, Any] = {"source": Source("depthlaw", "after paccagnella, Parts I to III"), "wording": "derived",
                              "kind": "identity", "holds_for": "all"}
    yield Claim(
        key="connectivity/forest_components", title="a forest has n - |E| components: counting edges decides",
        text="Every forest with n vertices and |E| edges has n - |E| components, so that a count of edges answers 'connected?' without "
              "any path.",
        statement=Eq(parts, n - edges), measured=forest_components, assumes={"no cycle": lambda c: not c.get("closed", False)},
        grid={"quick": (*Case.grid(vertices=20, edges=(0, 7, 19)), *Case.grid(vertices=(1, 2), edges=0)),
              "theory": Case.grid(vertices=200, edges=(1, 100, 199))},
        control=Control(Case(vertices=20, edges=7, closed=True), "a graph with one cycle"),
        note="A hazard when chains or trees are used as data. The same count says nothing about cycles.", **shared)
    yield Claim(
        key="connectivity/path_leaves", title="a union of paths has two vertices of degree 1 per component",
        text="Every union of c paths of at least two vertices has 2c vertices of degree 1.",
        statement=Eq(leaves, 2 * parts), measured=path_leaves, grid={"quick": Case.grid(components=(1, 2, 5, 12))},
        control=Control(Case(components=5), "one end per path", Eq(leaves, parts)),
        note="So a count of degrees answers 'connected?' on such data, without any path.", **shared)
    yield Claim(
        key="connectivity/cycles_same_counts", title="closed walks shorter than m do not tell the cycles apart",
        text="For every m >= 3, one 2m-cycle and two m-cycles have equally many closed walks of every length below m, and not of length "
              "m.",
        statement=Eq(symbol("first_difference"), m), measured=first_difference,
        grid={"quick": Case.grid(cycle_length=(3, 4, 7, 12)), "theory": Case.grid(cycle_length=(25, 40))},
        control=Control(Case(cycle_length=7), "the longer cycle closes at 2m", Eq(symbol("first_difference"), 2 * m)),
        note="Cycles against cycles leave no count of edges, degrees or short walks to read off: a test without that shortcut.", **shared)

"""Paths through heads and skips: pure attention is a sum over H^L paths, and with skips the path length is binomial."""
from __future__ import annotations

from collections.abc import Iterable, Iterator
from fractions import Fraction
from math import comb

from ..claim import Case, Claim, Control, Source
from . import attention_paths_measured as measured_by

__all__ = ["claims", "path_length_distribution"]

_V2 = "arXiv:2103.03404v2"
_CODE = Source("dong2021", "paths_counting.ipynb", "commit 38b5df6")


def path_length_distribution(depth: int, heads: int) -> list[Fraction]:
    """P(l) = binom(L, l) H^l / (H + 1)^L for l = 0..L: how long the paths through L layers with H heads and a skip are.

    Args:
        depth, heads: L >= 0 and H >= 0; without heads every path has length 0.

    Raises:
        ValueError: for negative counts.

    >>> [str(share) for share in path_length_distribution(2, 1)]
    ['1/4', '1/2', '1/4']

    Cost O(L) big-integer operations. Reference: Dong et al. 2021, section 3.1; the law is derived.
    """
    if depth < 0 or heads < 0:
        raise ValueError(f"depth and heads must not be negative, got {depth} and {heads}")
    return [Fraction(comb(depth, length) * heads**length, (heads + 1) ** depth) for length in range(depth + 1)]


# --- claims ---


def claims() -> Iterator[Claim]:
    """The claims of this module."""
    yield _decomposition_claim()
    yield from _length_claims()
    yield from _average_claims()
    yield _figures_claim()
    yield _skip_claim()


def _decomposition_claim() -> Claim:
    from sympy import Eq

    from ..glossary import symbol

    errors = symbol("path_errors")
    cases = Case.grid(tokens=3, width=2, depth=(1, 2, 3), heads=(1, 2, 3))
    return Claim(
        key="rank_collapse/path_decomposition", title="pure attention is a sum over H^L paths",
        text="For all row-stochastic attention matrices, weights and biases, SAN(X) = sum over paths in [H]^L of P_path X W_path + 1 "
              "b^T with "
              "P_path = P^L ... P^1 row-stochastic and W_path = W^1 ... W^L.",
        statement=Eq(errors, 0), source=Source("dong2021", "Theorem 2.1", _V2), wording="reported", kind="identity", holds_for="all",
        measured=measured_by.path_errors, proof=measured_by.prove_decomposition,
        rests_on="Argument: induction on L with symbols that do not commute. Prose: distributivity carries the checked step to all heads and paths.",
        assumes={"later layers stand on the left": lambda c: c.get("order", "forward") == "forward"},
        grid={"quick": cases, "theory": Case.grid(tokens=5, width=4, depth=(4, 5), heads=3)},
        note="Exact, over the rationals. The attention matrices are those of the forward pass and depend on X, so this is no linear map. "
             "The "
             "authors' sampling code multiplies them in increasing layer order, which is not P_path.",
        control=Control(Case(tokens=3, width=2, depth=2, heads=2, order="reversed"), "P^1 ... P^L in place of P^L ... P^1"))


def _pairs(pairs: Iterable[tuple[int, int]]) -> tuple[Case, ...]:
    return tuple(Case(depth=L, heads=H) for L, H in pairs)


def _length_claims() -> Iterator[Claim]:
    from sympy import Eq, binomial

    from ..glossary import symbol

    L, H, length = symbol("depth"), symbol("heads"), symbol("path_length")
    count, share = symbol("path_count"), symbol("path_share")
    small = tuple(Case(depth=k, heads=h, path_length=m) for k, h in ((1, 2), (3, 2), (4, 3)) for m in range(k + 1))
    yield Claim(
        key="rank_collapse/path_count", title="paths of length l with skips: binom(L, l) H^l",
        text="Among the (1 + H)^L paths through L layers with H heads and a skip each, exactly binom(L, l) H^l pass l heads.",
        statement=Eq(count, binomial(L, length) * H**length), source=_CODE, wording="printed", kind="identity", holds_for="all",
        measured=measured_by.enumerated_paths, proof=measured_by.prove_count,
        rests_on="Argument: induction on L. Prose: the last layer is a skip or one of H heads; the edges l = 0 and l = L + 1.",
        grid={"quick": small, "theory": Case.grid(depth=7, heads=4, path_length=(3, 7))},
        control=Control(Case(depth=3, heads=2, path_length=2), "order of the heads counted twice",
                       statement=Eq(count, 2 * binomial(L, length) * H**length)))
    yield Claim(
        key="rank_collapse/path_length_law", title="path lengths are binomial with success probability H/(H + 1)",
        text="A uniformly drawn path through L layers with H heads and a skip each has a length distributed as Binomial(L, H/(H + 1)).",
        statement=Eq(share, binomial(L, length) * (H / (H + 1)) ** length * (1 / (H + 1)) ** (L - length)),
        source=Source("depthlaw", "from the path counts of dong2021, section 3.1"), wording="derived", kind="identity", holds_for="all",
        measured=measured_by.path_share, proof=measured_by.prove_share,
        rests_on="Argument: induction on L. Prose: all H + 1 choices of the last layer are equally likely; the edges l = 0 and l = L + 1.",
        grid={"quick": (*small, Case(depth=12, heads=12, path_length=12), Case(depth=96, heads=96, path_length=95))},
        control=Control(Case(depth=12, heads=12, path_length=12), "a fair coin", statement=Eq(share, binomial(L, length) / 2**L)))


def _average_claims() -> Iterator[Claim]:
    from sympy import Eq, floor

    from ..glossary import symbol

    L, H, mean, mode = (symbol(name) for name in ("depth", "heads", "path_mean", "path_mode"))
    models = _pairs(((1, 1), (12, 12), (24, 16), (96, 96), (12, 3)))
    yield Claim(
        key="rank_collapse/path_length_mean", title="mean path length is L H/(H + 1)",
        text="The mean number of heads on a uniformly drawn path through L layers with H heads and a skip each is L H/(H + 1).",
        statement=Eq(mean, L * H / (H + 1)), source=Source("depthlaw", "from the path counts of dong2021, section 3.1"), wording="derived",
        kind="identity", holds_for="all", measured=measured_by.path_mean, proof=measured_by.prove_mean, grid={"quick": models},
        rests_on="Argument. Prose: layers choose independently, so the generating function is a power; its derivative at 1 is the mean.",
        note="Paths are mostly long, and the share of short ones falls with H: that short paths dominate is a statement on effect, not "
             "count.",
        control=Control(Case(depth=12, heads=12), "half the layers", statement=Eq(mean, L / 2)))
    yield Claim(
        key="rank_collapse/path_length_mode", title="most frequent path length is floor((L + 1) H/(H + 1))",
        text="The largest of the most frequent lengths of a path through L layers with H heads and a skip each is floor((L + 1) H/(H + "
              "1)).",
        statement=Eq(mode, floor((L + 1) * H / (H + 1))), source=Source("depthlaw", "from the path counts of dong2021, section 3.1"),
        wording="derived", kind="identity", holds_for="all", measured=measured_by.path_mode, proof=measured_by.prove_mode,
        rests_on="Argument. Prose: counts do not fall while their checked ratio is at least 1, so the last such length is the border rounded down.",
        grid={"quick": (*models, *_pairs(((2, 4), (5, 1), (6, 2), (40, 2))))},
        note="Where H + 1 divides L + 1 the length before it is as frequent: for L = H = 12 both 11 and 12.",
        control=Control(Case(depth=12, heads=12), "one less", statement=Eq(mode, floor(L * H / (H + 1)))))


def _figures_claim() -> Claim:
    from sympy import Eq, Piecewise

    from ..glossary import symbol

    figure, item = symbol("rounded_figure"), symbol("item")
    table = ((12, 12, "mean", 3, 11077), (12, 12, "longest", 4, 3827), (12, 12, "half", 6, 127), (24, 16, "mean", 2, 2259),
             (96, 96, "mean", 2, 9501), (12, 3, "mean", 2, 900))
    cases = tuple(Case(item=i, depth=L, heads=H, what=what, digits=digits) for i, (L, H, what, digits, _) in enumerate(table, start=1))
    values = Piecewise(*((entry[-1], Eq(item, i)) for i, entry in enumerate(table, start=1)))
    return Claim(
        key="rank_collapse/path_length_figures", title="path lengths of BERT-base, BERT-large, GPT-3 and DeiT-T",
        text="Lengths of a uniformly drawn path, attention heads and skips only (no MLP): BERT-base (12 layers, 12 heads): mean 11.077, "
              "P(12) = 0.3827, P(at most 6) = 1.27e-4; means: BERT-large (24, 16) 22.59, GPT-3 (96, 96) 95.01, DeiT-T (12, 3) 9.00. The "
              "statement holds the rounded digits.",
        statement=Eq(figure, values), source=Source("depthlaw", "from the path counts of dong2021, section 3.1"), wording="derived",
        kind="identity", holds_for="all", measured=measured_by.path_figure, grid={"quick": cases}, weight="arithmetic",
        control=Control(cases[0], "a mean of 11.08 in the same digits", statement=Eq(figure, values + 3)))


def _skip_claim() -> Claim:
    from sympy import Ge, Rational

    from ..glossary import symbol

    growth = symbol("residual_growth")
    zero = Case.grid(instance="zero", tokens=4, width=3, depth=(1, 8), heads=2)
    orthogonal = Case.grid(instance="orthogonal", tokens=4, width=3, depth=(1, 6), heads=2, beta=("1/10", "1/1000000"))
    return Claim(
        key="rank_collapse/skip_existence", title="with skips some weights keep the residual at every depth",
        text="For any L and H there are infinitely many weights, of any size, with which attention layers with skips have "
              "|res(X^L)| >= |res(X)|: W_V = 0, and values orthogonal to the input.",
        statement=Ge(growth, 1), source=Source("dong2021", "Claim 3.1", _V2), wording="reported", kind="lower", holds_for="exists",
        measured=measured_by.residual_growth, grid={"quick": (*zero, *orthogonal)},
        assumes={"every layer has a skip": lambda c: c.instance != "none"},
        note="Existence only: it says nothing on generic or trained weights, and the upper bound with skips is vacuous. A lower bound for "
             "generic weights is open in the paper. With W_V = 0 it holds by construction; the orthogonal values are the cases that could fail.",
        control=Control(Case(instance="none", tokens=4, width=3, depth=1, heads=2, beta="1/10"), "no skip",
                       statement=Ge(growth, Rational(1))))

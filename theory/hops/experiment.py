"""The published k-hop experiment: what follows exactly from its data and model, and what its error table says."""
from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from ..values import Case

__all__ = ["claims"]

_SANFORD = "arXiv:2402.09268v1"


def claims() -> Iterator[Any]:
    """The claims of this module."""
    yield from _data_claims()
    yield _guess_claim()
    yield _parameter_claim()
    yield from _error_claims()
    yield _capacity_claim()


def _ours(place: str) -> dict[str, Any]:
    """What the source does not say: our own results about its data and its table."""
    from ..claim import Source

    return {"source": Source("depthlaw", f"after sanford2024, {_SANFORD}, {place}"), "wording": "derived"}


def _data_claims() -> Iterator[Any]:
    from sympy import Eq, Rational, Sum, Symbol, binomial

    from ..claim import Claim, Control
    from ..glossary import symbol
    from .experiment_measured import return_probability, scored_by_counting, scored_thousandths

    N, k, a = symbol("tokens"), symbol("hops"), symbol("alphabet")
    s = Symbol("s", integer=True, positive=True)
    found = Sum((N - 1 - s) * binomial(s - 1, k - 1) * (a - 2) ** (s - k) / (a - 1) ** s, (s, k, N - 2))
    yield Claim(
        key="hops/scored_positions", title="expected number of positions where hop_k exists",
        text="For k >= 1 and at least two symbols, if neighbours always differ and symbols are otherwise uniform, find^k moves back by s, the "
              "number of draws of chance 1/(|Sigma| - 1), which start two tokens back, until the k-th success; hop_k exists where s <= i - 2. "
              "Stated is the expected number of such i among N.",
        statement=Eq(symbol("scored"), found), kind="identity", holds_for="all", measured=scored_by_counting,
        grid={"quick": (*Case.grid(tokens=(3, 5), hops=(1, 2), alphabet=(3, 4)), Case(tokens=6, hops=3, alphabet=3)),
              "theory": (*Case.grid(tokens=7, hops=(1, 2, 3), alphabet=4), Case(tokens=10, hops=4, alphabet=3))},
        control=Control(Case(tokens=5, hops=1, alphabet=3), "position 2 has no earlier copy", Eq(symbol("scored"), found.subs(N, N + 1))),
        note="Each jump has mean |Sigma| - 1. Measured by going through every sequence.", **_ours("Section 4.2"))
    yield Claim(
        key="hops/experiment_scored", title="97 - 3k positions of a sequence are scored on average",
        text="For k = 1..16, the expected number of positions where hop_k exists, among the first 98 symbols out of 4 with different "
              "neighbours, is 97 - 3k to the nearest thousandth.",
        statement=Eq(symbol("scored_thousandths"), 97 - 3 * k), kind="identity", holds_for="all",
        measured=scored_thousandths, grid={"quick": Case.grid(hops=(1, 16)), "theory": Case.grid(hops=(2, 4, 8, 12))},
        control=Control(Case(hops=1), "position 2 has no earlier copy", Eq(symbol("scored_thousandths"), 98 - 3 * k)),
        note="The exact number is larger by the chance to run off the start: 3e-4 at k = 16, less below. For k = 0 all 98 positions count.",
        **_ours("Appendix G"))
    yield Claim(
        key="hops/return_probability", title="hop_(k+1) repeats hop_(k-1) with probability 2/|Sigma|",
        text="On an endless sequence of uniform symbols with different neighbours, hop_(k+1) has the symbol of hop_(k-1) with "
              "probability 2/|Sigma|, and each other symbol but that of hop_k with probability 1/|Sigma|, for every k >= 1.",
        statement=Eq(symbol("return_probability"), 2 / a), kind="identity", holds_for="all",
        measured=return_probability,
        grid={"quick": Case.grid(alphabet=(3, 4, 7, 26))},
        control=Control(Case(alphabet=4), "not uniform over the three others", Eq(symbol("return_probability"), Rational(4, 3) / a)),
        note="So with 4 symbols copying the current one is right for k = 2 with probability 1/2: the answers are no fair draw.",
        **_ours("Appendix G"))


def _guess_claim() -> Any:
    from sympy import Gt

    from ..claim import Claim, Control
    from ..glossary import symbol
    from .experiment_measured import error_rows, guess_error

    cases = tuple(Case(hops=row.hops, depth=row.depth, published_error=str(row.error)) for row in error_rows("on", "printed"))
    few = tuple(case for case in cases if case.hops in (1, 16))
    statement = Gt(symbol("best_guess_error"), symbol("published_error"))
    return Claim(
        key="hops/experiment_beats_guess", title="every published error of 4 heads beats the best guess",
        text="For every k and L of the published table (4 heads, width 128), the error lies below that of the best guess from the "
              "current symbol and k alone.",
        statement=statement, kind="empirical fit", holds_for="all", weight="measurement", measured=guess_error,
        grid={"quick": few, "theory": tuple(case for case in cases if case not in few)},
        control=Control(Case(hops=2, published_error="1/2"), "for k = 2 copying the symbol already errs on less than half"),
        note="The exact errors of that guess are 0.667, 0.496, 0.653, 0.734 and 0.749 for k = 1, 2, 4, 8 and 16, so 3/4 is the wrong "
             "yardstick. At L = 2 and k = 16 the model is only 0.013 better than the guess, about two standard errors of "
             "100 sequences if all their 4900 answers were independent.", **_ours("Figures 2, 6 and 8"))


def _parameter_claim() -> Any:
    from sympy import Eq

    from ..claim import Claim, Control
    from ..glossary import symbol
    from .experiment_measured import printed_parameters

    m, L, count = symbol("width"), symbol("depth"), symbol("gpt_parameters")
    formula = 130 * m + 2 * m + L * (12 * m**2 + 13 * m)
    return Claim(
        key="hops/experiment_parameters", title="the experiment's models have 132m + L(12m^2 + 13m) parameters",
        text="Each of the ten printed parameter counts (m = 128 and 256, L = 2..6) is 130m for the embeddings of 30 tokens and 100 "
              "positions, 2m for the last norm, and 12m^2 + 13m for each layer.",
        statement=Eq(count, formula), kind="identity", holds_for="all", weight="arithmetic", measured=printed_parameters,
        grid={"quick": Case.grid(width=(128, 256), depth=(2, 3, 4, 5, 6))},
        control=Control(Case(width=128, depth=2), "without biases and norms", Eq(count, 130 * m + 12 * L * m**2)), **_ours("Appendix G"))


def _error_claims() -> Iterator[Any]:
    from sympy import Eq

    from ..claim import Claim, Control
    from ..glossary import symbol
    from .experiment_measured import deeper, inversions, not_rerun_here, shallower, with_and_without_dropout

    none = Eq(symbol("inversions"), 0)
    yield Claim(
        key="hops/experiment_deeper_is_better", title="for each tested k the published error falls with depth",
        text="In the published table (4 heads, width 128, L = 2..6), for each of k = 1, 2, 4, 8, 16 every model errs less than the "
              "model one layer shallower.",
        statement=none, kind="empirical fit", holds_for="all", weight="measurement", measured=inversions(deeper),
        grid={"quick": Case.grid(hops=(1, 2, 4, 8, 16))},
        control=Control(Case(hops=8), "the other direction", measured=inversions(shallower)),
        note="That the errors fall with every layer is read off the table. One model per depth, with errors of 100 sequences and dropout left "
             "on: even if all their answers were independent, the models of 4 and 5 layers would differ by less than one standard error at "
             "k = 1, and three more pairs of neighbours by less than 2.3. The 6-layer model was read at half of its learning-rate schedule.",
        **_ours("Figures 2, 6 and 8"))
    yield Claim(
        key="hops/experiment_dropout", title="switching dropout off lowers every error of the public weights",
        text="Of the public weights (4 heads, width 128, L = 2..5), each errs less with dropout off than with dropout on, for k = 1 and "
              "k = 8.",
        statement=none, kind="empirical fit", holds_for="all", weight="measurement", known="UNDECIDED",
        measured=not_rerun_here(with_and_without_dropout),
        grid={"quick": Case.grid(hops=(1, 8))},
        control=Control(Case(hops=8), "the reported errors in the other direction",
                       measured=inversions(lambda case: ((b, a) for a, b in with_and_without_dropout(case)))),
        note="Measured outside this repository; no code here re-runs it, so what is known here is that 0 to 4 of the 4 models err as much "
             "or more. The reported errors (status 'reported' in hop_errors.csv; 100 to 200 sequences of the authors' weights) agree in "
             "all 8 cells, with dropout on they return the published numbers, and with dropout off the 4-layer model errs on 6.5% for "
             "k = 8, more hops than 2^(L-1) - 1 = 7. Neither the authors' model file nor their notebooks switch dropout off. A re-run "
             "of the public weights would decide; nets trained again are asked both ways in trained_depth/published_dropout_on and "
             "trained_depth/published_dropout_off.",
        **_ours("Appendix G; measured outside this repository"))


def _capacity_claim() -> Any:
    from sympy import Eq, Integer

    from ..claim import Claim, Control
    from ..glossary import symbol
    from .experiment_measured import learned

    L, k, two = symbol("depth"), symbol("hops_learned"), Integer(2)
    return Claim(
        key="hops/experiment_capacity", title="published models err below 10% up to k = 2^(L-2)",
        text="In the published table (4 heads, width 128), the largest of k = 1, 2, 4, 8, 16 with an error below 1/10 is 2^(L-2), L = "
              "2..6.",
        statement=Eq(k, two ** (L - 2)), kind="empirical fit", holds_for="all", weight="measurement", measured=learned,
        grid={"quick": Case.grid(depth=(2, 3, 4, 5, 6))},
        control=Control(Case(depth=3), "not 2^(L-1)", Eq(k, two ** (L - 1))),
        note="Only powers of two were tested, so 2^(L-1) - 1 would read the same. The limit of 10% is ours: at 5% the 6-layer model would "
             "drop out. One model per depth, and its errors were computed with dropout left on (hops/experiment_dropout), so this is no "
             "limit of what trained models can do.",
        **_ours("Figures 2, 6 and 8"))

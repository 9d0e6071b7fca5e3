"""The claim: a theorem as an object that says what it predicts, how to measure it by another route, and when it is wrong.

This is the only framework of the project. A module of `theory` offers its claims through a function `claims()`, which imports
SymPy itself, so that the formulas of a module can be used without it; `registry()` collects them. `judgement.judge` compares.
"""
from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from functools import cache
from importlib import import_module
from typing import TYPE_CHECKING, Any, Literal

from .values import Ball, Case, Exact, Measured, Outside, Proportion, Sample, Step

if TYPE_CHECKING:
    import sympy

__all__ = [
    "ALONE",
    "STEMS",
    "SUITES",
    "WITHDRAWN",
    "Ball",
    "Case",
    "Claim",
    "Control",
    "Exact",
    "Measured",
    "Outside",
    "Proportion",
    "Sample",
    "Source",
    "Step",
    "at",
    "quantity",
    "registry",
]

# The rooms of the house: one module per concept, in reading order. A new theorem goes into the module of its concept.
STEMS = ("separation_rank", "rank_collapse", "signal_propagation", "connectivity", "hops", "formal_languages", "counting", "depth_choice", "evidence",
         "trained_depth")

SUITES = ("quick", "theory", "full", "frontier", "gpu")

# Suites of special claims, with long runs: contained in no other, and only for claims that have cases of their own there.
ALONE = ("frontier", "gpu")

# "universal": a vague sentence of the source ("always", "approximately") was hardened into a statement about all instances to be testable.
Wording = Literal["printed", "reported", "recalled", "derived", "universal"]
Kind = Literal["identity", "upper", "lower", "two-sided", "rate", "threshold", "construction", "conditional", "empirical fit"]
Quantifier = Literal["all", "almost every", "exists", "typical"]
Weight = Literal["theorem", "step", "measurement", "arithmetic"]


@dataclass(frozen=True)
class Source:
    """Where a statement stands: a key of bibliography.bib, the version read, and the place in it."""

    key: str
    place: str
    version: str = ""

    def __str__(self) -> str:
        return ", ".join(part for part in (self.key, self.version, self.place) if part)


@dataclass(frozen=True)
class Control:
    """A deliberately wrong version of a claim on one case. Judging it must say FAILS, which shows that the check can say no.

    Give a mutated `statement`, a sabotaged `measured`, or only a `case` that breaks an assumption (it is forced past `assumes`).
    """

    case: Case
    why: str
    statement: sympy.core.relational.Relational | None = None
    measured: Callable[[Case, int], Measured] | None = None
    seed: int = 0


@dataclass(frozen=True, eq=False)
class Claim:
    """A theorem as an object.

    Attributes:
        key: permanent name `stem/name`; page, record, macro and citation derive from it.
        title: what it says, in at most ten words.
        words: the full statement in words with quantifier and conditions, one to three sentences.
        statement: a SymPy relation over glossary symbols. Its left side holds exactly one symbol that no case gives: the measured
            quantity. By default its right side, evaluated at a case, is the prediction.
        source, reading: where it stands, and how its wording is known.
        kind, quantifier: fix what evidence can prove, what can only support, and which statistic is honest.
        measured: (case, seed) -> value, by a route that never uses the prediction. None when `needs` names what must attach it.
        grid: suite name -> cases; the suites theory and full include the smaller ones.
        control: the failing twin.
        assumes: named predicates; a case that breaks one is OUT_OF_SCOPE.
        predicted: (statement, case) -> prediction, for claims that allow an interval around what the right side says.
        proof: (statement) -> steps that a machine confirms. What they amount to says `evidence`.
        evidence: "argument": a written proof over the whole domain; its algebra is machine-checked, its joints are prose that a reader must
            check (ARGUED). "checks": the steps cover less than the statement, so that its cases decide (HOLDS at most). "certificate":
            the steps recheck stored certificates of the cases of a finite statement (PROVED where `certified` covers every case).
        certified: (case) -> whether a certificate that comes with the package decides the case.
        rests_on: one line: why the evidence is what it is, and what of it a reader must check. A proof without it is not ARGUED.
        premises: keys of the claims that it rests on: CONDITIONAL unless each of them is recorded as PROVED or ARGUED.
        expected: what was expected before anything was measured.
        known: what is known since, where it differs: FAILS or UNDECIDED. A verdict that differs from both is unexpected.
        weight: what it would mean if it were wrong: a "theorem"; a "step", such as a lemma of its proof or a detail of its construction;
            a "measurement", published or ours, or a fit to some; the "arithmetic" of printed numbers. Findings are sorted by it.
        seeds: how many seeds each case is measured with.
        reads: fields of a case that only choose what is read off a measurement, such as one distance of all that a trained net is asked
            about. One process measures all cases that differ in them alone, so that it need not measure twice.
        needs: the extra that must be installed before it can be measured ("empirics"), or "".
        note: corrections, doubts, and what the verdict does not say.
    """

    key: str
    title: str
    text: str
    statement: sympy.core.relational.Relational
    source: Source
    wording: Wording
    kind: Kind
    holds_for: Quantifier
    measured: Callable[[Case, int], Measured] | None
    grid: Mapping[str, tuple[Case, ...]]
    control: Control
    assumes: Mapping[str, Callable[[Case], bool]] = field(default_factory=dict)
    predicted: Callable[[sympy.core.relational.Relational, Case], Any] | None = None
    proof: Callable[[sympy.core.relational.Relational], Iterable[Step]] | None = None
    evidence: Literal["argument", "checks", "certificate"] = "argument"
    certified: Callable[[Case], bool] | None = None
    rests_on: str = ""
    premises: tuple[str, ...] = ()
    expected: Literal["HOLDS", "FAILS"] = "HOLDS"
    known: Literal["", "HOLDS", "FAILS", "UNDECIDED"] = ""
    weight: Weight = "theorem"
    seeds: int = 1
    reads: tuple[str, ...] = ()
    needs: str = ""
    note: str = ""

    @property
    def awaited(self) -> str:
        """The verdict that surprises nobody: what is known since, or else what was expected before."""
        return self.known or self.expected

    @property
    def topic(self) -> str:
        """The concept this claim belongs to: the first part of its key."""
        return self.key.partition("/")[0]

    def cases(self, suite: str) -> tuple[Case, ...]:
        """The cases of a suite: quick is contained in theory, theory in full and, for claims that have a frontier, in it; gpu stands alone."""
        if suite in ALONE and suite not in self.grid:
            return ()
        chain = {"quick": ("quick",), "theory": ("quick", "theory"), "full": ("quick", "theory", "full"),
                 "frontier": ("quick", "theory", "frontier")}
        return tuple(case for name in chain.get(suite, (suite,)) for case in self.grid.get(name, ()))

    def predict(self, case: Case) -> Any:
        """The prediction for a case: an int, a Fraction, a Ball (an interval), or an exact SymPy number."""
        return self.predicted(self.statement, case) if self.predicted else at(self.statement.rhs, case)


# Keys of claims that were merged into others or demoted to notes, and where what they said stands now. A key is never used again.
WITHDRAWN: dict[str, str] = {
    "connectivity/support": "merged into connectivity/reach",
    "connectivity/reach_residual": "merged into connectivity/reach",
    "connectivity/components_log_depth": "now a note of connectivity/layers_for_diameter",
    "connectivity/one_vs_two_cycles": "now a note of connectivity/reach",
    "hops/experiment_capacity_without_dropout": "now a note of hops/experiment_dropout: nobody can re-run its number here",
    "signal_propagation/gpt2_factor": "merged into signal_propagation/residual_scaled",
    "signal_propagation/deepnorm_encoder_rounding": "merged into signal_propagation/deepnorm_encoder_alpha",
    "counting/listed_weights": "it compared two tables of ours, which a test does",
    "evidence/wide_table_rounding": "merged into evidence/wide_table_averages",
    "evidence/fit_layers_per_factor": "now a note of depth_choice/levine_fit_width",
    "evidence/threshold_layers_per_factor": "now a note of depth_choice/threshold_inverse",
    "evidence/article_threshold": "merged into separation_rank/threshold_at_1000",
}


def at(expression: sympy.Expr, case: Case) -> sympy.Expr:
    """The expression with every symbol that the case names replaced by the case's exact value."""
    import sympy

    values = {}
    for s in expression.free_symbols:
        if s.name in case:
            value = case.get(s.name)
            values[s] = sympy.Integer(int(value)) if isinstance(value, int) else sympy.Rational(str(value))
    # xreplace rebuilds every node with its new arguments, so integer powers of integers become integers; far faster than subs.
    replaced = expression.xreplace(values)
    return replaced.doit() if replaced.has(sympy.Sum, sympy.Product) else replaced


def quantity(statement: sympy.core.relational.Relational, case: Case) -> sympy.Symbol:
    """The one symbol of the left side that the case does not give: what is measured."""
    free = [s for s in statement.lhs.free_symbols if s.name not in case]
    if len(free) != 1:
        raise ValueError(f"the left side {statement.lhs} must hold one measured quantity at [{case}], but has {free}")
    return free[0]


def registry() -> dict[str, Claim]:
    """Every claim of `theory` by key, in reading order.

    Raises:
        ValueError: when two claims share a key or a key's first part is not its module's name.
    """
    return dict(_registry())


@cache
def _registry() -> Mapping[str, Claim]:
    found: dict[str, Claim] = {}
    for stem in STEMS:
        for claim in _claims_of(stem):
            if claim.key in found or claim.topic != stem:
                raise ValueError(f"the key {claim.key!r} is used twice or does not belong to theory/{stem}.py")
            found[claim.key] = claim
    return found


def _claims_of(stem: str) -> Iterator[Claim]:
    return iter(import_module(f".{stem}", __package__).claims())

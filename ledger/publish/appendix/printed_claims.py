"""Claims in print: statement, source, evidence and counterexample of a judged claim, as Markdown
for pandoc."""

from __future__ import annotations

import re
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from math import log10

from sympy import Symbol

from depthlaw.advisor.base.quantities import plural
from depthlaw.theory.claims.definition import UNNAMED, Case, Claim, Source
from depthlaw.theory.claims.printing import definitions, latex, symbols
from depthlaw.theory.claims.proof_steps import counted
from depthlaw.theory.claims.rounding import interval as in_print
from depthlaw.theory.claims.symbols import TERMS, term_of
from depthlaw.theory.claims.verdict import Verdict

from ...verdicts.citations import entries, sources
from ...verdicts.display import interval, judged, measured_side, prediction, relation
from ...verdicts.estimates import CONFIDENCE, estimate, leaning, middle
from ...verdicts.failing_case import failing_instance
from ...verdicts.known_verdicts import shared_fields
from ...verdicts.sign_test import normality, sign_test
from ...verdicts.suite_verdicts import NOT_RUN, CaseResult, ClaimResult, marked, verdict_name
from ...verdicts.undecided_advice import remedies
from .typesetting import code, factor, maths, prose, span, value, verdict

_SIGNS = {"<=": r"\le", ">=": r"\ge", "!=": r"\ne", "≈": r"\approx", "in": r"\in"}
# Fields of a case that say how often it is measured.
_SEEDS = ("replicas", "seeds", "repeats", "trials")
# Fields that say how large nets are and how long they were trained, in print.
_SIZES = {
    "parameters": "{} weights in layers",
    "width": "width {}",
    "cycles": "{} cycles",
    "around": "of {} vertices",
    "updates": "{} updates",
    "steps": "{} updates",
}
# Undecided cases that are printed one by one.
_FEW = 3
# Orders of magnitude in one per cent.
_PERCENT = log10(1.01)
# What factors are printed with in values.tex.
_TIMES = r"\times "
_WORD = re.compile(r"\b[a-z]\w+\b")


@dataclass(frozen=True)
class Statement:
    """One judged claim in print. Every property is Markdown, but for names and anchors.

    Attributes:
        number: by which the document calls it; 0 where it has none.
        result: the claim as it was judged.
    """

    result: ClaimResult
    number: int = 0

    @property
    def claim(self) -> Claim:
        """The claim itself."""
        return self.result.claim

    @property
    def anchor(self) -> str:
        """The key as an identifier of HTML, Typst and LaTeX."""
        return "claim-" + self.claim.key.replace("/", "-").replace("_", "-")

    @property
    def sizes(self) -> str:
        """How large the nets are that were run, and how long they were trained, as far as fields of
        the cases say it; empty for claims on no nets of that kind."""
        cases = [
            row.case
            for row in self.result.in_scope
            if self.claim.needs and (row.measured is not None or self.result.suite != "long")
        ]
        parts = []
        for name, phrase in _SIZES.items():
            if sizes := [n for case in cases if isinstance(n := case.get(name), int)]:
                parts.append(phrase.format(span(sizes)))
        return ", ".join(parts).replace(", of ", " of ")

    @property
    def domain(self) -> str:
        """The cases that a PROVED statement is about, every one, by the fields in which they
        differ: a run of whole numbers of the last field is written as a range."""
        letters, shapes = self.shapes
        cells = ((*key, _run(values)) for key, values in sorted(shapes.items(), key=_in_order))
        listed = [maths(f"({', '.join(map(str, parts))})") for parts in cells]
        what = f"the {plural(len(listed), 'shape')} {maths(f'({letters})')} = {', '.join(listed)}"
        return what if listed else ""

    @property
    def shapes(self) -> tuple[str, Mapping[tuple[object, ...], Sequence[object]]]:
        """Of a PROVED statement the letters of the fields in which its cases differ, and the values
        of the last field for all others."""
        cases = [row.case.fields() for row in self.result.in_scope]
        by_cases = self.result.verdict is Verdict.PROVED and not self.result.kernel_checked
        names = [n for n in cases[0] if len({c.get(n) for c in cases}) > 1] if by_cases else []
        if not names:
            return "", {}
        # Shapes of nets read from their width on, whatever the order of the alphabet.
        *shape, last = sorted(names, key=lambda name: (name != "width", name != "depth", name))
        shapes: dict[tuple[object, ...], list[object]] = {}
        for case in cases:
            shapes.setdefault(tuple(case[name] for name in shape), []).append(case[last])
        return ", ".join(latex(Symbol(name)) for name in (*shape, last)), shapes

    def where(self, known: Collection[str] = ()) -> str:
        """What is judged where it is no equality, and what stands behind names and symbols of the
        statement, but for symbols, by name, that were explained before."""
        sentences = []
        if first := interval(self.claim):
            # A case as the statement writes it, not as a command line does.
            how = prose(judged(self.claim)).removesuffix(prose(str(first[0])))
            sentences.append(f"{how[:1].upper()}{how[1:]}{self.place(first[0])}.")
        stated = [
            maths(definition.latex)
            + (f" ({prose(definition.meaning)})" if definition.meaning else "")
            for definition in definitions(self.claim.statement)
        ]
        named = [explained(s) for s in symbols(self.claim.statement) if s.name not in known]
        for before, parts in (("Here", stated), ("Symbols:", named)):
            sentences += [f"{before} {'; '.join(parts)}."] if parts else []
        return " ".join(sentences)

    @property
    def brief(self) -> str:
        """Who states it, without the place."""
        keys = sources(str(self.claim.source))
        if self.claim.source.key not in entries():
            return prose(self.claim.source.key)
        if keys[0] != "depthlaw" and self.claim.wording != "derived":
            return f"@{keys[0]}"
        after = [f"@{key}" for key in keys if key != "depthlaw"]
        return f"here, after {' and '.join(after)}" if after else "here"

    @property
    def reading(self) -> str:
        """How its wording is known."""
        return "universal reading" if self.claim.wording == "universal" else self.claim.wording

    @property
    def whence(self) -> str:
        """The source, and how its wording is known where it is not derived here."""
        return self._from(self.claim.source)

    @property
    def place_of_source(self) -> str:
        """`whence` without the version of the source, for tables."""
        return self._from(replace(self.claim.source, version=""))

    def _from(self, source: Source) -> str:
        if source.key in ("depthlaw", UNNAMED) or source.author:
            return cited(source)
        # A sentence of ours is not one of the source that it starts from.
        if self.claim.wording == "derived":
            return f"derived here, after {cited(source)}"
        return f"{cited(source)}; {self.reading}"

    @property
    def verdict(self) -> str:
        """The verdict as every report prints it."""
        return verdict(marked(self.result))

    @cached_property
    def evidence(self) -> str:
        """What the verdict rests on, in a line."""
        result, name = self.result, verdict_name(self.result)
        if name in (NOT_RUN, Verdict.OUT_OF_SCOPE):
            return "nothing is recorded" if name == NOT_RUN else "no case is in scope"
        asked, failing = len(result.in_scope), len(result.failing)
        parts = []
        kernel = result.kernel_checked and result.claim.formal
        if name == Verdict.PROVED and kernel:
            parts.append(f"{kernel.theorem}, checked by the kernel of the Rocq prover")
        elif name == Verdict.PROVED:
            parts.append(f"certificates of all {plural(asked, 'case')}, rechecked")
        elif result.proof and result.claim.evidence == "argument":
            counting = counted(result.proof)
            steps, sure = plural(len(counting), "step"), sum(bool(s.holds) for s in counting)
            whole = f"proof with {steps} confirmed by machine"
            part = f"proof of which {sure} of {steps} are confirmed"
            parts.append(whole if sure == len(counting) else part)
        if failing:
            parts.append(f"{failing} of {plural(asked, 'case')} fail{'s' if failing == 1 else ''}")
            if result.kernel_refuted and result.claim.formal:
                theorem = result.claim.formal.theorem
                parts.append(f"refuted by {theorem}, which the kernel of the Rocq prover checked")
        elif asked and (name != Verdict.PROVED or kernel):
            agree = len(result.decided)
            parts.append(f"{agree} of {plural(asked, 'case')} agree{'s' if agree == 1 else ''}")
        parts += [f"{len(result.undecided)} undecided"] if result.undecided else []
        parts += [f"{len(result.missing)} not recorded"] if result.missing else []
        return "; ".join(filter(None, (*parts, self.carried, self.against, self.slack)))

    @property
    def carried(self) -> str:
        """How many seeds stand behind the decided means whose level only a normal law carries;
        empty where there is none."""
        rows = [row for row in self.result.decided if normality(self.result, row)]
        tests = [test for row in rows if (test := sign_test(self.claim, row))]
        weakest = max(tests, key=lambda test: test.p, default=None)
        if weakest is None:
            return ""
        of = "" if len(rows) == len(self.result.decided) == 1 else f"{len(rows)} by "
        return f"{of}{weakest}{' at most' if len(tests) > 1 else ''}"

    @property
    def against(self) -> str:
        """Of an undecided or failing statement about means or shares, how many of them contradict
        it, and how many by their 95 % intervals; empty where none does."""
        side = leaning(self.result)
        if not side.means or self.result.verdict not in (Verdict.FAILS, Verdict.UNDECIDED):
            return ""
        whose = (
            f"its {CONFIDENCE} interval" if side.intervals == 1 else f"their {CONFIDENCE} intervals"
        )
        contradict = f"contradict{'s' if side.means == 1 else ''} it, {side.intervals} by {whose}"
        return f"{side.means} of {plural(side.cases, 'mean')} {contradict}"

    @property
    def slack(self) -> str:
        """How near the two sides of a bound that holds come; empty without meaning."""
        near = self.result.tightest
        if near is None or self.result.counterexample is not None:
            return ""
        apart = f"sides at least a factor {maths(factor(near).removeprefix(_TIMES))} apart"
        if self.result.vacuous:
            return f"vacuous: {apart}"
        if near:
            # A factor rounded down to 1 would say nothing.
            return apart if near >= _PERCENT else "the sides come within 1 % of each other"
        meet = sum(row.decision.slack == 0 for row in self.result.decided)
        if meet == len(self.result.decided):
            return "in all of them the sides meet" if meet > 1 else "the sides meet"
        return f"in {meet} of them the sides meet"

    @property
    def control(self) -> str:
        """What became of the negative control."""
        control, why = self.result.control, prose(self.claim.control.why)
        if control is None:
            return f"{why}: not recorded"
        if control.fails:
            return f"{why}: fails, as it must"
        return f"{why}: {verdict(control.decision.verdict.value)}, where it must fail"

    @property
    def counterexample(self) -> str:
        """The instance that the claim brings along, then the smallest case that fails: where, what
        was measured, what is stated; empty where none does."""
        worst = self.result.counterexample
        if worst is None:
            return ""
        brought = self.claim.instance and failing_instance(self.result)
        before = f"{prose(str(brought))}; " if brought else ""
        return f"{before}{self.place(worst.case)}: {self.compared(worst)}"

    def place(self, case: Case) -> str:
        """A case by the symbols of the statement, and by what else differs between cases; not by
        how many seeds it has."""
        same = shared_fields(row.case for row in self.result.cases).items()
        names = {s.name: s for s in symbols(self.claim.statement)}
        parts = []
        for name, given in case.fields().items():
            known = name in names or (name in TERMS and not self.claim.own)
            symbol = known and re.fullmatch(r"-?[\d./]+", str(given))
            if name in _SEEDS or ((name, given) in same and not (symbol and name in names)):
                continue
            if symbol:
                parts.append(maths(f"{latex(names.get(name, Symbol(name)))} = {given}"))
            else:
                word = "other depth" if name == "other" and "depth" in case else name
                # Not by a table: 1 would be found under True.
                printed = ("no", "yes")[given] if isinstance(given, bool) else str(given)
                parts.append(f"{prose(word.replace('_', ' '))} {prose(printed)}")
        return ", ".join(parts) or code(str(case))

    def compared(self, row: CaseResult) -> str:
        """Measured against stated, of one case."""
        left = maths(latex(self.claim.statement.lhs))
        side = prediction(self.claim, row)
        within = side.startswith("[") and interval(self.claim)
        stated = f"stated {'within' if within else sign(self.claim)} {value(side)}"
        printed = estimate(self.result, row)
        if printed is None:
            return f"{left} is {value(measured_side(self.claim, row))}, {stated}"
        parts = []
        if printed.ends:
            parts.append(f"{CONFIDENCE} interval {value(in_print(*printed.ends))}")
        if printed.deciding:
            level = f"at level {value(f'{printed.level:.2g}')}"
            how = f"if normal; {printed.carried}" if printed.normality else level
            parts.append(f"decided by {value(in_print(*printed.deciding))} {how}")
        if printed.test and not printed.normality:
            parts.append(f"sign test p = {value(f'{printed.test.p:.2g}')}")
        ends = f" ({'; '.join(parts)})" if parts else ""
        return (
            f"{left} is {value(middle(printed.value))} on average over "
            f"{plural(printed.count, printed.what)}{ends}, {stated}"
        )

    @property
    def open(self) -> Sequence[str]:
        """What would decide its undecided cases: the first few."""
        every = list(remedies(self.result))
        few = [f"Open at {self.place(of.case)}: {prose(str(of))}." for of in every[:_FEW]]
        rest = len(every) - _FEW
        more = f"So {'is' if rest == 1 else 'are'} {plural(rest, 'further case')}."
        return [*few, *([more] if rest > 0 else [])]

    @property
    def steps(self) -> Sequence[str]:
        """The steps of the proof, with what a machine made of each."""
        words = {True: "confirmed", False: "broken", None: "not decided"}
        return [f"{prose(step.says)} ({words[step.holds]})" for step in self.result.proof or ()]

    @property
    def premises(self) -> str:
        """The claims that it rests on, with their verdicts."""
        premises = self.result.premises.items()
        return ", ".join(f"{code(key)} ({verdict(word)})" for key, word in premises)


def _in_order(shape: tuple[tuple[object, ...], object]) -> list[str]:
    """Numbers by size, words by letter."""
    return [f"{part:>12}" if isinstance(part, int) else str(part) for part in shape[0]]


def _run(values: Sequence[object]) -> str:
    r"""The values of a field, in maths.

    >>> _run([0, 1, 2]), _run([1, 3])
    ('0 \\ldots 2', '1 / 3')
    """
    numbers = [value for value in values if isinstance(value, int)]
    if len(values) > 1 and numbers == list(values) == list(range(numbers[0], numbers[-1] + 1)):
        return rf"{numbers[0]} \ldots {numbers[-1]}"
    return " / ".join(map(str, values))


def explained(symbol: Symbol) -> str:
    """A declared symbol and what it stands for."""
    term = term_of(symbol)
    return f"{maths(latex(symbol))}, {prose(term.meaning if term else symbol.name)}"


def cited(source: Source) -> str:
    """A source as a citation in running text: `@key`, the place in brackets; keys that a place
    names are cited too.

    >>> cited(Source("dong2021", "Lemma A.3", "arXiv v2"))
    '@dong2021 [arXiv v2, Lemma A.3]'
    >>> cited(Source("depthlaw", "after ye2025, Theorem 4.3"))
    'derived here, after @ye2025, Theorem 4.3'
    """
    place = ", ".join(filter(None, (source.version, source.place)))
    if source.key not in entries():
        return prose(", ".join(filter(None, (source.key, place))))
    if source.key != "depthlaw":
        return f"@{source.key} [{_place(place, nested=True)}]"
    return f"derived here, {_place(place)}" if place else "derived here"


def _place(text: str, *, nested: bool = False) -> str:
    parts, done = [], 0
    for match in () if nested else _WORD.finditer(text):
        if match[0] in entries():
            parts += [prose(text[done : match.start()]), f"@{match[0]}"]
            done = match.end()
    return "".join([*parts, prose(text[done:])])


def sign(claim: Claim) -> str:
    """The relation of a statement, in Markdown.

    >>> from depthlaw.theory.claims.definition import find
    >>> sign(find("separation_rank/upper_bound_deep"))
    '$\\\\le$'
    """
    return maths(_SIGNS.get(relation(claim), relation(claim)))

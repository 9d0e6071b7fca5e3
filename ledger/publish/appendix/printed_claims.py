"""Claims in print: statement, source, evidence and counterexample of a judged claim, as Markdown
for pandoc."""

from __future__ import annotations

import re
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from functools import cached_property
from math import log10

from sympy import Symbol

from depthlaw.advisor.base.quantities import plural
from depthlaw.empirics.depth_width.fixed_budgets import weights_in_all, width_of
from depthlaw.theory.claims.definition import UNNAMED, Case, Claim, Source
from depthlaw.theory.claims.printing import definitions, latex, symbols
from depthlaw.theory.claims.proof_steps import counted
from depthlaw.theory.claims.rounding import interval as in_print
from depthlaw.theory.claims.symbols import TERMS, term_of
from depthlaw.theory.claims.values import Ball
from depthlaw.theory.claims.verdict import Verdict

from ...verdicts.citations import entries, sources
from ...verdicts.display import interval, measured_side, number, prediction, relation
from ...verdicts.estimates import CONFIDENCE, estimate, leaning, middle
from ...verdicts.failing_case import failing_instance
from ...verdicts.known_verdicts import shared_fields
from ...verdicts.sign_test import normality, sign_test
from ...verdicts.suite_verdicts import NOT_RUN, CaseResult, ClaimResult, marked, verdict_name
from ..tables import csv_rows
from .typesetting import code, factor, maths, prose, span, value, verdict

_SIGNS = {"<=": r"\le", ">=": r"\ge", "!=": r"\ne", "≈": r"\approx", "in": r"\in"}
# Fields of a case that say how often it is measured.
_SEEDS = ("replicas", "seeds", "repeats", "trials")
# Fields that say how large nets are and how long they were trained, in print.
_SIZES = {
    "parameters": "{} weights in the layers",
    "width": "width {}",
    "cycles": "{} cycles",
    "around": "of {} vertices",
    "updates": "{} updates",
    "steps": "{} updates",
}
# Fields by which undecided cases are told from the others, at most.
_FEW = 3
# Fields of cases in words, where no symbol of the statement names them: by field or field=value, by
# another field that the case must have, empty for fields that a reader does not need.
_IN_WORDS = {
    (row["field"], row["with"]): row["words"] for row in csv_rows(__package__, "cases.csv")
}
# Orders of magnitude in one per cent.
_PERCENT = log10(1.01)
# Denominators up to which a fraction is read as one.
_PLAIN = 1000
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
            if name == "parameters" and (totals := [n for case in cases for n in _in_all(case)]):
                parts[-1] += f", {span(totals)} in all"
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
        """The letters of the fields in which the cases of a PROVED statement differ, and the values
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
        """The interval that decides where no equality does, and the meaning of the names and
        symbols of the statement, but for symbols, by name, that were explained before."""
        sentences = []
        if first := self._interval:
            # A case as the statement writes it, not as a command line does.
            sentences.append(
                f"The verdict compares with an interval, such as {value(number(first[1]))} "
                f"({self.place(first[0])})."
            )
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
    def _interval(self) -> tuple[Case, Ball] | None:
        """A case and the interval that decides it, where no equality does: of those that were
        judged, where there is one."""
        first = interval(self.claim)
        for case in (row.case for row in self.result.in_scope) if first else ():
            predicted = self.claim.predict(case)
            if isinstance(predicted, Ball) and predicted.low < predicted.high:
                return case, predicted
        return first

    @property
    def theorem(self) -> str:
        """The theorem that the kernel checked for or against it; empty where there is none."""
        formal = self.result.claim.formal
        checked = self.result.kernel_checked or self.result.kernel_refuted
        return f"theorem {code(formal.theorem)} in Rocq" if checked and formal else ""

    @property
    def origin(self) -> str:
        """Who states it and how the wording is known, without the place."""
        derived = self.claim.wording == "derived"
        return f"derived {self.brief}" if derived else f"{self.brief}; {self.reading}"

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
        return "; ".join(filter(None, (self.outcome, self.carried, self.against, self.slack)))

    @cached_property
    def outcome(self) -> str:
        """What the verdict rests on, in words for a table."""
        result, name = self.result, verdict_name(self.result)
        if name in (NOT_RUN, Verdict.OUT_OF_SCOPE):
            return "nothing is recorded" if name == NOT_RUN else "no case is in scope"
        asked, failing, parts = len(result.in_scope), len(result.failing), []
        by_certificates = name == Verdict.PROVED and not result.kernel_checked
        if by_certificates:
            parts.append(f"proved by certificates of {'all ' * (asked > 1)}{plural(asked, 'case')}")
        elif name == Verdict.PROVED:
            parts.append("proved in Rocq")
        elif result.proof and result.claim.evidence == "argument":
            counting = counted(result.proof)
            steps, sure = plural(len(counting), "step"), sum(bool(s.holds) for s in counting)
            whole = f"written proof, {steps} checked by machine"
            part = f"written proof, {sure} of {steps} checked by machine"
            parts.append(whole if sure == len(counting) else part)
        if result.premise_refuted and not failing:
            parts.append(f"its premise {code(result.premise_refuted)} fails")
        if failing:
            parts += ["refuted in Rocq"] if result.kernel_refuted else []
            parts.append(f"{failing} of {plural(asked, 'case')} fail{'s' if failing == 1 else ''}")
        elif asked and not by_certificates:
            agree = len(result.decided)
            of = "" if agree == asked else f"{agree} of "
            parts.append(f"{of}{plural(asked, 'case')} agree{'s' if agree == 1 else ''}")
        parts += [f"{len(result.undecided)} undecided"] if result.undecided else []
        parts += [f"{len(result.missing)} not recorded"] if result.missing else []
        return "; ".join(parts)

    @property
    def carried(self) -> str:
        """How many seeds lie behind the decided means whose level only a normal law carries;
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
        """A case by the symbols of the statement, and in words by what else differs between cases;
        not by how many seeds it has."""
        same = shared_fields(row.case for row in self.result.cases)
        names = {s.name for s in symbols(self.claim.statement)}
        parts = [
            part
            for name, given in case.fields().items()
            if name in names or same.get(name, case) != given
            if (part := self._part(name, _shown(given), case))
        ]
        return ", ".join(parts) or code(str(case))

    def _part(self, name: str, shown: str, case: Case) -> str:
        """One field of a case: a symbol and its value, or words; empty where readers need none."""
        names = {s.name: s for s in symbols(self.claim.statement)}
        known = name in names or (name in TERMS and not self.claim.own)
        numeric = re.fullmatch(r"-?[\d./]+( to -?\d+)?", shown)
        if name in names and numeric:
            return maths(_equals(names[name], shown))
        own = [] if self.claim.own else [f"{name}={shown}", name]
        for field in own:
            # What holds beside another field before what holds anywhere.
            others = [other for of, other in _IN_WORDS if of == field and other and other in case]
            for other in (*others, ""):
                if (words := _IN_WORDS.get((field, other))) is not None:
                    several = words.replace("distance", "distances") if " to " in shown else words
                    return several.format(prose(_grouped(shown)))
        if name in _SEEDS:
            return ""
        if known and numeric:
            return maths(_equals(names.get(name, Symbol(name)), shown))
        return f"{prose(name.replace('_', ' '))} {prose(shown)}"

    @property
    def counterexample_in_short(self) -> str:
        """`counterexample` without the intervals around a mean, for tables."""
        worst = self.result.counterexample
        return "" if worst is None else f"{self.place(worst.case)}: {self.compared(worst, False)}"

    def compared(self, row: CaseResult, intervals: bool = True) -> str:
        """Measured against stated, of one case; of a mean with its intervals or without."""
        left = maths(latex(self.claim.statement.lhs))
        side = prediction(self.claim, row)
        within = side.startswith("[") and interval(self.claim)
        stated = f"stated {'within' if within else sign(self.claim)} {value(_decimal(side))}"
        printed = estimate(self.result, row)
        if printed is None:
            return f"{left} is {value(_decimal(measured_side(self.claim, row)))}, {stated}"
        parts = []
        if printed.ends:
            parts.append(f"{CONFIDENCE} interval {value(in_print(*printed.ends))}")
        if printed.deciding:
            level = f"at level {value(f'{printed.level:.2g}')}"
            how = f"if normal; {printed.carried}" if printed.normality else level
            parts.append(f"decided by {value(in_print(*printed.deciding))} {how}")
        if printed.test and not printed.normality:
            parts.append(f"sign test p = {value(f'{printed.test.p:.2g}')}")
        ends = f" ({'; '.join(parts)})" if parts and intervals else ""
        return (
            f"{left} is {value(middle(printed.value))} on average over "
            f"{plural(printed.count, printed.what)}{ends}, {stated}"
        )

    @property
    def open(self) -> str:
        """How many cases are undecided, and where they lie; empty where there is none."""
        rows, every = self.result.undecided, self.result.in_scope
        if not rows:
            return ""
        counted = f"{len(rows)} of {plural(len(every), 'case')} {'is' if len(rows) == 1 else 'are'}"
        fields, parts = rows[0].case.fields(), []
        for name in fields if len(rows) < len(every) else ():
            here, everywhere = (_ends(row.case.get(name) for row in part) for part in (rows, every))
            if here and here != everywhere:
                shown = " to ".join(dict.fromkeys(map(_shown, here)))
                parts.append(self._part(name, shown, rows[0].case))
        where = ", ".join(list(filter(None, parts))[:_FEW])
        return f"{counted} undecided{f': {where}' if where else ''}."

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


def _equals(symbol: Symbol, shown: str) -> str:
    """A value, or a range of them, in maths."""
    digits = _grouped(shown).replace(",", "{,}") if len(shown) > len("10000") else shown
    return f"{latex(symbol)} = {digits}".replace(" to ", r" \ldots ")


def _in_all(case: Case) -> Iterator[int]:
    """Of language models that are compared at equal weights in their layers all weights, rounded to
    three digits."""
    for depth in (case.get("depth"), case.get("other")):
        if (
            isinstance(depth, int)
            and {"parameters", "heads", "vocabulary", "length"} <= case.fields().keys()
        ):
            width = width_of(case.parameters, depth, case.heads)
            yield int(float(f"{weights_in_all(depth, width, case.vocabulary, case.length):.3g}"))


def _shown(given: object) -> str:
    """The value of a field: no and yes for what is false and true."""
    # Not by a table: 1 would be found under True.
    return ("no", "yes")[given] if isinstance(given, bool) else str(given)


def _decimal(text: str) -> str:
    """A fraction as a decimal, where that is exact and short, or where it has many digits.

    >>> _decimal("19/20"), _decimal("1/17"), _decimal("67763507/200000000"), _decimal("[1, 2]")
    ('0.95', '1/17', '0.3388', '[1, 2]')
    """
    if not re.fullmatch(r"-?\d+/\d+", text):
        return text
    number = Fraction(text)
    exact = Fraction(short := f"{float(number):.4g}") == number
    return short if exact or number.denominator > _PLAIN else text


def _grouped(shown: str) -> str:
    """Whole numbers with thousands apart.

    >>> _grouped("240000"), _grouped("7 to 9"), _grouped("1/3")
    ('240,000', '7 to 9', '1/3')
    """
    return re.sub(r"(?<![\d./])\d{4,}(?![\d./])", lambda m: f"{int(m[0]):,}", shown)


def _ends(values: Iterable[object]) -> tuple[object, ...]:
    """The least and the largest of whole numbers, or what is the same in all; else nothing."""
    every = set(values)
    numbers = [value for value in every if isinstance(value, int)]
    if len(numbers) == len(every):
        return min(numbers), max(numbers)
    return tuple(every) if len(every) == 1 else ()


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
    """A declared symbol and its meaning."""
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

"""The claim: a theorem as one decorated function that says what is predicted, measures it by
another route, and names when it is wrong.

`@claim(statement, ...)` makes a function a `Claim`, `registry()` finds all of them, and
`verdict.judge` compares what is measured with what is stated.
"""

from __future__ import annotations

import importlib.util
import inspect
import itertools
import re
from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cache, cached_property, lru_cache
from importlib import import_module
from pathlib import Path
from traceback import extract_tb
from typing import TYPE_CHECKING, Any, Literal

import sympy
from sympy.core.relational import Relational

from depthlaw.advisor.base.quantities import UsageError, plural

from .evaluation import OutOfDomain, at, summed, value_at
from .formal import Formal
from .readable import readable
from .values import (
    Ball,
    Case,
    Exact,
    Instance,
    Measured,
    Outside,
    PowerOfTen,
    Proportion,
    Sample,
    Step,
)

if TYPE_CHECKING:
    from .counterexample_search import Search

__all__ = [
    "ALONE",
    "DEVICE_OF",
    "LEVEL_MOVED",
    "SUITES",
    "Ball",
    "Case",
    "Claim",
    "Control",
    "Exact",
    "Formal",
    "Instance",
    "Measured",
    "OutOfDomain",
    "Outside",
    "PowerOfTen",
    "Proportion",
    "Sample",
    "Source",
    "Step",
    "at",
    "claim",
    "find",
    "made_by",
    "made_in",
    "measured_symbol",
    "registry",
    "topics",
]

SUITES = ("quick", "theory", "full", "frontier", "exercises", "training", "long", "gpu")

# Suites of special claims, with long runs: contained in no other, and only for claims that have
# cases of their own there.
ALONE = ("frontier", "exercises", "training", "long", "gpu")

# Suites of trainings that take a day: cases are declared beforehand and recorded as they come.
AS_IT_COMES = ("long",)

# Suites that are for one kind of device.
DEVICE_OF = {"gpu": "cuda"}

# "universal": a vague sentence of the source ("always", "approximately") was hardened into one
# about all instances, to be testable.
Wording = Literal["printed", "reported", "recalled", "derived", "universal"]
Kind = Literal[
    "identity",
    "upper",
    "lower",
    "two-sided",
    "rate",
    "threshold",
    "construction",
    "conditional",
    "empirical fit",
]
# "typical": seeds are the sample. "these nets": one number of a few nets, or their examples pooled;
# the verdict is about those nets.
Quantifier = Literal["all", "almost every", "exists", "typical", "these nets"]
ClaimWeight = Literal["theorem", "step", "measurement", "arithmetic"]
Evidence = Literal["argument", "checks", "certificate"]
Tier = Literal["cited", "supporting"]
# Why verdicts carry a * that were undecided while all claims of a suite shared one budget.
LEVEL_MOVED = (
    "the false-alarm level, which the claims of a suite used to share, became the "
    "claim's own after these data were seen"
)
_KINDS: dict[str, Kind] = {
    "==": "identity",
    "!=": "identity",
    "<=": "upper",
    "<": "upper",
    ">=": "lower",
    ">": "lower",
    "in": "two-sided",
}


# How many draws a random claim of a user's file gets at each case, unless it says `seeds`: of a
# statement that is false for a quarter of all draws 20 miss every counterexample 3 times in 1,000.
OWN_SEEDS = 20
# Who states a claim of a user's file whose source is depthlaw: not depthlaw.
UNNAMED = "no author named"


@dataclass(frozen=True)
class Source:
    """The place of a statement: a key of bibliography.bib (or the name of a work that is not in
    it), the place in it, and the version read; `Source.own` for a result of one's own."""

    key: str
    place: str
    version: str = ""
    author: str = ""
    year: int = 0

    @classmethod
    def own(cls, author: str, year: int, title: str = "") -> Source:
        """A result of one's own, by its author, or several with "and" between them.

        Raises:
            ValueError: for an author that is no line of text, or a year that is no year.

        >>> str(Source.own("Jane Doe", 2026, "Walks"))
        'Jane Doe 2026, Walks'
        """
        if not (isinstance(author, str) and author.strip() and author.isprintable()):
            raise ValueError(f'Source.own takes an author, such as "Jane Doe"; got {author!r}')
        if type(year) is not int or not 1000 <= year <= 9999:
            raise ValueError(
                f"Source.own takes a year of four digits after the author; got {year!r}"
            )
        author = " ".join(author.split())
        return cls(f"{author} {year}", title, author=author, year=year)

    def __str__(self) -> str:
        return ", ".join(part for part in (self.key, self.version, self.place) if part)


@dataclass(frozen=True)
class Control:
    """The negative control: a deliberately wrong version of a claim on one case, which must be
    judged FAILS: a wrong `statement`, a wrong way to measure, or only a `case` that breaks an
    assumption (it is judged all the same)."""

    case: Case
    why: str
    statement: Relational | None = None
    measured: Callable[..., Measured] | None = None
    seed: int = 0


@dataclass(frozen=True, eq=False)
class Claim:
    """A theorem as an object. Most fields are arguments of the decorator `claim`.

    Attributes:
        key: permanent name `topic/function`; page, record, macro and citation derive from it.
        title, text, note: the paragraphs of the docstring: at most twelve words; the statement in
            words with its quantifier and conditions; corrections, doubts, and what the verdict does
            not say. Formulas in these and in all other texts are LaTeX between dollars.
        statement: a relation whose left side holds exactly one symbol that no case gives: the
            measured quantity. By default its right side, evaluated at a case, is the prediction.
        source, wording: where it stands, and how its wording is known.
        kind, holds_for: fix what evidence can prove, what can only support, and which statistic is
            honest.
        measured: measures the left side at a case, by a route that never uses the prediction.
        grid: suite name -> cases; the suites theory and full include the smaller ones.
        assumes: named predicates; a case that breaks one is OUT_OF_SCOPE.
        predicted: (statement, case) -> prediction, where an interval around it is allowed.
        proof: (statement) -> steps that a machine confirms, see `argument`.
        evidence: what they amount to. "argument": a written proof over the whole domain, whose
            algebra is machine-checked, and whose joints a reader must check (ARGUED). "checks":
            they cover less, so that the cases decide (HOLDS at most). "certificate": they recheck
            stored certificates of a finite statement (PROVED where `certified` covers every case).
        rests_on: one line: why the evidence is what it is, and what of it a reader must check.
        certified: (case) -> whether a certificate that comes with the package decides the case.
        formal: the theorem behind it that a proof kernel has checked; see `formal.stale`.
        premises: keys of claims that it rests on: CONDITIONAL unless each of them is recorded as
            PROVED or ARGUED.
        expected: what was expected before anything was measured.
        known: what is known since, where it differs; see `ledger.verdicts.known_verdicts`.
        post_hoc: one line: what was changed after data were seen (a case split off, more seeds,
            another statistic or tolerance), or empty. A * marks its verdict everywhere.
        shares: keys of the claims that were split off this one after data were seen, or that it was
            split off, and of those split off with it: one false-alarm level is divided over all.
        undecidable: one line: why no run can decide it (such as a missing file), or empty.
        weight: what it would mean if it were wrong: a "theorem"; a "step" of a proof or
            construction; a "measurement", published or ours; the "arithmetic" of printed numbers.
        headline: why it stands in the appendix that is written by default, in one sentence.
        cited, supports: its tier; a claim that comes with depthlaw gives exactly one. `cited`: one
            line: what hangs on its verdict outside depthlaw. `supports`: the key of the cited claim
            whose step, condition, part or variation it is.
        seeds: of each case; 20 for a claim of a user's file that takes a seed.
        reads: fields of a case that only choose what is read off a measurement: one process
            measures all cases that differ in them alone.
        portable: whether another machine measures the same value; what trained nets answer depends
            on rounding.
        needs: the extra that must be installed before it can be measured, or "".
        trained: how long nets were trained, where no field of its cases says so.
        search: families of instances in which the falsifier looks for counterexamples.
        plan: what the runs of an expensive claim take in memory and time.
        closed: (case) -> what the right side says, for sums of too many terms at sizes that people
            use; `at` asks it, `predict` does not.
        instance: () -> the smallest instance at which it fails that a reader can check by eye,
            computed; by default the smallest recorded case is printed.
        table: (rows of results) -> a table that reports print besides the verdict; claims with the
            same function share one.
    """

    key: str
    title: str
    text: str
    statement: Relational
    source: Source
    wording: Wording
    kind: Kind
    holds_for: Quantifier
    measured: Callable[..., Measured] | None
    grid: Mapping[str, tuple[Case, ...]]
    control: Control
    assumes: Mapping[str, Callable[[Case], bool]] = field(default_factory=dict)
    predicted: Callable[[Relational, Case], Any] | None = None
    proof: Callable[[Relational], Iterable[Step]] | None = None
    evidence: Evidence = "argument"
    certified: Callable[[Case], bool] | None = None
    rests_on: str = ""
    formal: Formal | None = None
    premises: tuple[str, ...] = ()
    expected: Literal["HOLDS", "FAILS"] = "HOLDS"
    known: Literal["", "HOLDS", "FAILS", "UNDECIDED"] = ""
    post_hoc: str = ""
    shares: tuple[str, ...] = ()
    undecidable: str = ""
    weight: ClaimWeight = "theorem"
    headline: str = ""
    cited: str = ""
    supports: str = ""
    seeds: int = 1
    reads: tuple[str, ...] = ()
    portable: bool = True
    needs: str = ""
    trained: str = ""
    search: Callable[[], tuple[Search, ...]] | None = None
    plan: Any = None
    closed: Callable[[Case], Any] | None = None
    instance: Callable[[], Instance] | None = None
    table: Callable[..., Any] | None = None
    note: str = ""

    @property
    def entitled(self) -> str:
        """The title with how long its nets were trained, where it does not say so: what holds after
        300 updates may not after 3,000."""
        suites = ["long"] if "long" in self.grid else [*{*self.grid} - {"quick", *DEVICE_OF}]
        counts = {
            case.get(name)
            for case in itertools.chain.from_iterable(self.grid[suite] for suite in suites)
            for name in ("steps", "updates", "earlier")
            if self.needs and "iterations" not in case and name in case
        }
        ends = sorted({min(counts), max(counts)}) if any(counts) else []
        after = self.trained or " to ".join(f"{n:,}" for n in ends) + " updates" * bool(ends)
        said = re.search(r"\d updates|no training", self.title)
        return f"{self.title} ({after})" if after and not said else self.title

    @property
    def awaited(self) -> str:
        """The verdict that surprises nobody: what is known since, or else what was expected."""
        return self.known or self.expected

    @cached_property
    def every_case(self) -> tuple[Case, ...]:
        """The cases of all suites, each once."""
        return tuple(dict.fromkeys(case for cases in self.grid.values() for case in cases))

    @cached_property
    def families(self) -> dict[Case, int]:
        """Of every case, how many in scope share its false-alarm budget: one kind of device."""
        anywhere = {
            case for suite, cases in self.grid.items() if suite not in DEVICE_OF for case in cases
        }
        sizes = Counter(case in anywhere for case in self.every_case if self.broken(case) is None)
        return {case: max(1, sizes[case in anywhere]) for case in self.every_case}

    def broken(self, case: Case) -> str | None:
        """The first assumption that a case breaks; None for a case in scope."""
        if case not in self._broken:
            names = (name for name, holds in self.assumes.items() if not holds(case))
            self._broken[case] = next(names, None)
        return self._broken[case]

    @cached_property
    def _broken(self) -> dict[Case, str | None]:
        # Some assumptions look up published models, and many ask of the same cases.
        return {}

    @cached_property
    def plain(self) -> Claim:
        """The same claim with its texts as a terminal shows them, in ASCII without dollars."""
        texts: dict[str, Any] = {name: readable(getattr(self, name)) for name in _TEXTS}
        return replace(
            self,
            **texts,
            source=replace(self.source, place=readable(self.source.place)),
            control=replace(self.control, why=readable(self.control.why)),
            assumes={readable(name): holds for name, holds in self.assumes.items()},
        )

    @property
    def tier(self) -> Tier:
        """The rank of the claim: "cited" by itself (the default), or "supporting" one that is."""
        return "supporting" if self.supports else "cited"

    @property
    def own(self) -> bool:
        """True if it comes from a file of the user's."""
        return _is_own(made_by(self))

    @property
    def draws(self) -> str:
        """The number of random instances drawn at each case, in words; else empty."""
        return f"{plural(self.seeds, 'draw')} a case" if self.accepts("seed") else ""

    @property
    def topic(self) -> str:
        """The first part of the key."""
        return self.key.partition("/")[0]

    @property
    def name(self) -> str:
        """The second part of the key."""
        return self.key.partition("/")[2]

    @property
    def measurable(self) -> bool:
        """True if it can be measured with what is installed here."""
        library = "transformers" if self.needs == "hf" else "torch"
        there = not self.needs or importlib.util.find_spec(library) is not None
        return self.measured is not None and there

    def cases(self, suite: str) -> tuple[Case, ...]:
        """The cases of a suite: quick is contained in theory, theory in full and, for claims with
        cases there, in frontier."""
        if suite in ALONE and suite not in self.grid:
            return ()
        smaller = ("quick", "theory")
        chain = {"theory": smaller, "full": (*smaller, "full"), "frontier": (*smaller, "frontier")}
        names = chain.get(suite, (suite,))
        return tuple(case for name in names for case in self.grid.get(name, ()))

    def predict(self, case: Case) -> Any:
        """The prediction for a case: an int, a Fraction, a Ball (an interval), an exact SymPy
        number, or the pair of two, between which the measured quantity is stated to lie."""
        return _predicted(self, case)

    def at(self, *, log10: bool = False, **values: Any) -> Any:
        """Evaluate the right side at values of one's own.

        Args:
            log10: its decimal logarithm, as a float.
            values: of the right side's quantities and of other fields of the cases, by name or as
                printed (`d_x`, `L`): numbers of any type, exactly (a float is the decimal it prints
                as), text for fractions ("1/3"), arrays and lists, which are broadcast, or SymPy's
                expressions.

        Returns:
            Of numbers what `predict` returns, or a `PowerOfTen` beyond 4,300 digits; of arrays an
            array of floats; of symbols SymPy's expression.

        Raises:
            OutOfDomain: for numbers that break an assumption, which it names.
            UsageError: for an unknown or missing name, or a value outside its domain.

        >>> bound = find("separation_rank/upper_bound_deep")
        >>> round(float(bound.at(width=768, depth=12)))
        12013
        >>> bound.at(d_x=[768, 1024], L=12).round(1).tolist()
        [12013.0, 15475.3]
        >>> print(find("separation_rank/degree").at(depth=10**6))
        10^(477121.25)
        >>> find("connectivity/reach").at(depth=sympy.Symbol("L"), diameter=1000)
        Min(1000, 3**L)
        """
        return value_at(self, values, log10=log10)

    @property
    def symbols(self) -> dict[str, sympy.Symbol]:
        """The symbols of the right side by name: what `at` needs a value of."""
        free = () if self.predicted else self.statement.rhs.free_symbols
        return {symbol.name: symbol for symbol in free}

    def measure(
        self, case: Case, seed: int = 0, *, control: bool = False, **options: Any
    ) -> Measured:
        """Measure the left side at a case, as the claim does or as its negative control does.

        Args:
            case, seed: what is measured; the same give the same value on every machine.
            control: in the way of the negative control.
            options: `device`, `memory` (bytes), `folder` (kept intermediate results), for functions
                that name them. They never change the value.
        """
        function = self.control.measured if control else self.measured
        assert function is not None
        names = inspect.signature(function).parameters
        given = {"seed": seed} | options
        return function(case, **{name: value for name, value in given.items() if name in names})

    def accepts(self, option: str) -> bool:
        """True if the claim's function names an option, such as "device"."""
        return self.measured is not None and option in inspect.signature(self.measured).parameters

    def argument(
        self, rests_on: str, evidence: Evidence = "argument"
    ) -> Callable[[_Steps], _Steps]:
        """Decorator for (statement) -> steps: the machine-checked steps of a proof."""

        def attach(steps: _Steps) -> _Steps:
            for name, value in (("proof", steps), ("rests_on", rests_on), ("evidence", evidence)):
                object.__setattr__(self, name, value)
            return steps

        return attach


# The fields that hold running text.
_TEXTS: tuple[str, ...] = ("title", "text", "note", "rests_on", "post_hoc", "undecidable")
_TEXTS += ("headline", "cited", "trained")
# The packages that all topics share.
_SHARED = ("atlas", "audit", "claims", "certificates", "exact", "formal", "nets", "training")
# The imports that are done when a module is loaded: those that are not indented.
_IMPORT = re.compile(r"^from (\.*[\w.]*) import (?:\(([^)]*)\)|(.*))|^import ([\w.]+)", re.M)
_Steps = Callable[[Relational], Iterable[Step]]
# Every claim that was made in this process, and the module that made it.
_registered: dict[str, Claim] = {}
_homes: dict[str, str] = {}


def _is_own(home: str) -> bool:
    """Whether a module is a file of the user's."""
    return home.startswith("depthlaw.own.")


def claim(
    statement: Relational,
    *,
    source: Source,
    cases: Mapping[str, Sequence[Case]],
    control: Control,
    wording: Wording = "derived",
    holds_for: Quantifier = "all",
    kind: Kind | None = None,
    name: str = "",
    doc: str = "",
    **rare: Any,
) -> Callable[[Callable[..., Measured]], Claim]:
    """Make a function that measures a case into a claim with the key `topic/function`.

    Args:
        statement, source, wording, holds_for, control: see `Claim`.
        cases: suite name -> cases.
        kind: by default identity, upper or lower, as the relation says.
        name, doc: in place of the function's own, for claims that are made in a loop.
        rare: any other field of `Claim` that this one needs.

    The function takes `case` and, where it needs them, `seed`, `device`, `memory`, `folder`. The
    paragraphs of its docstring are the title, the statement in words, and notes. The topic is the
    package that it stands in, or the name of a file of one's own.

    Raises:
        ValueError: when the docstring lacks title or statement, or a key is taken.
    """
    frame = inspect.currentframe()
    assert frame is not None
    assert frame.f_back is not None
    home = frame.f_back.f_globals["__name__"]
    parts = home.split(".")
    # A file of one's own is loaded under its name and the hash of its content.
    topic = parts[2] if parts[1:2] in (["theory"], ["empirics"]) else parts[-1].partition("__")[0]

    def made(function: Callable[..., Measured]) -> Claim:
        key = f"{topic}/{name or function.__name__}"
        written = inspect.cleandoc(doc or function.__doc__ or "")
        paragraphs = [" ".join(part.split()) for part in re.split(r"\n\s*\n", written)]
        if len(paragraphs) < 2:
            raise ValueError(
                f"{key}: its docstring needs a title, an empty line, and the statement in words"
            )
        title, text, *notes = paragraphs
        if not isinstance(statement, Relational):
            raise ValueError(f"{key}: its statement is no relation; write Eq(a, b) for a == b")
        extra: dict[str, Any] = {"needs": "empirics"} if parts[1:2] == ["empirics"] else {}
        whence = source
        if _is_own(home):
            if "seed" in inspect.signature(function).parameters:
                extra["seeds"] = OWN_SEEDS
            if source.key == "depthlaw":
                whence = replace(source, key=UNNAMED)
        new = Claim(
            key=key,
            title=title.removesuffix("."),
            text=text,
            note=" ".join(notes),
            statement=statement,
            source=whence,
            wording=wording,
            kind=kind or _KINDS[statement.rel_op],
            holds_for=holds_for,
            measured=function,
            grid={suite: tuple(listed) for suite, listed in cases.items()},
            control=control,
            **(extra | rare),
        )
        # A changed file of one's own may be loaded again, under another name of its module.
        again = key in _homes and _homes[key] != home and _is_own(home)
        if key in _registered and not (again and _homes[key].startswith(f"depthlaw.own.{topic}__")):
            raise ValueError(f"the key {key!r} is used twice: in {home} and in {_homes[key]}")
        _registered[key], _homes[key] = new, home
        return new

    return made


@lru_cache(maxsize=1 << 14)
def _predicted(claim: Claim, case: Case) -> Any:
    """Judging, printing and drawing ask for the same predictions; sums take milliseconds."""
    if claim.predicted:
        return claim.predicted(claim.statement, case)
    return at(summed(claim.statement.rhs, case), case)


def measured_symbol(statement: Relational, case: Case) -> sympy.Symbol:
    """The one symbol of the left side that the case does not give: what is measured."""
    free = [s for s in statement.lhs.free_symbols if s.name not in case]
    if len(free) != 1:
        raise ValueError(
            f"the left side {statement.lhs} must hold one measured quantity "
            f"at [{case}], but has {free}"
        )
    return free[0]


def topics() -> list[str]:
    """The topics of the claims that come with depthlaw."""
    return sorted({module.split(".")[2] for module, _ in _modules()})


def registry() -> dict[str, Claim]:
    """Every claim of `theory` and `empirics` by key, ordered by topic, module and place.

    Raises:
        UsageError: for a module that cannot be imported, with the file and line of the mistake.

    Cost: two seconds when first called, for SymPy and all statements.
    """
    modules = [module for module, _ in _modules()]
    for module in modules:
        _imported(module)
    # Not in the order of import, which depends on what was asked before.
    modules.sort(key=lambda module: (module.split(".")[2], module.split(".")[1:]))
    return {claim.key: claim for module in modules for claim in made_in(module)}


def made_in(module: str) -> list[Claim]:
    """The claims whose functions stand in a module that was imported, in their order."""
    return [new for key, new in _registered.items() if _homes[key] == module]


def made_by(claim: Claim) -> str:
    """The name of the module whose claim it is; nothing for one that was made elsewhere."""
    return _homes.get(claim.key, "")


def find(key: str) -> Claim:
    """One claim, for which only the module that holds it is imported.

    Raises:
        KeyError: when there is none of this key.
        UsageError: for a module that cannot be imported, with the file and line of the mistake.
    """
    topic, _, name = key.partition("/")
    homes = [(module, source) for module, source in _modules() if module.split(".")[2] == topic]
    defined = re.compile(rf"^def {re.escape(name)}\(", re.M)
    for module, _ in sorted(homes, key=lambda home: not defined.search(home[1])):
        _imported(module)
        if key in _registered:
            return _registered[key]
    return registry()[key]


def _imported(module: str) -> None:
    """Import a module; one that is being written may hold a mistake."""
    try:
        import_module(module)
    except Exception as error:
        # The line of the innermost module that was being executed, not of what it called.
        lines = [
            (frame.filename, frame.lineno)
            for frame in extract_tb(error.__traceback__)
            if frame.name == "<module>"
        ]
        if isinstance(error, SyntaxError):
            lines.append((error.filename or module, error.lineno))
        file, line = lines[-1] if lines else (module, 0)
        message = error.msg if isinstance(error, SyntaxError) else str(error)
        raise UsageError(
            f"{file}, line {line}: {type(error).__name__}: "
            f"{' '.join(message.split())}; no claim can be used before this module can "
            "be imported"
        ) from error


@cache
def _modules() -> list[tuple[str, str]]:
    """The modules that may hold claims, with their sources, without importing any: those of a topic
    that import this module, themselves or through another, and can be loaded without torch."""
    sources: dict[str, str] = {}
    imported: dict[str, set[str]] = {}
    below_a_topic = []
    for folder in ("theory", "empirics"):
        spec = importlib.util.find_spec(f"depthlaw.{folder}")
        assert spec is not None
        for root in spec.submodule_search_locations or ():
            for path in sorted(Path(root).rglob("*.py")):
                parts = ("depthlaw", folder, *path.relative_to(root).with_suffix("").parts)
                name = ".".join(parts).removesuffix(".__init__")
                sources[name] = path.read_text(encoding="utf-8")
                imported[name] = _imports(".".join(parts[:-1]), sources[name])
                if len(parts) > 3 and parts[2] not in _SHARED:
                    below_a_topic.append(name)
                # This package hands out the decorator, but loads its modules only when asked.
                if name.startswith(__package__):
                    imported[name].discard(__package__)
    there = _importing(imported, __name__, __package__) - _importing(imported, "torch")
    return [(name, sources[name]) for name in below_a_topic if name in there]


def _imports(package: str, source: str) -> set[str]:
    """The modules that a module of a package loads, its package and the names that it takes from
    modules, which may be modules, included."""
    packages = {package}
    for base, several, one, whole in _IMPORT.findall(source):
        module = importlib.util.resolve_name(base, package) if base else whole
        taken = re.findall(r"\w+", several or one)
        packages |= {module, module.partition(".")[0], *(f"{module}.{name}" for name in taken)}
    return packages


def _importing(imported: Mapping[str, set[str]], *sources: str) -> set[str]:
    """The modules that import one of some modules, themselves or through another."""
    modules, before = set(sources), 0
    while len(modules) > before:
        before = len(modules)
        modules |= {name for name, others in imported.items() if not modules.isdisjoint(others)}
    return modules

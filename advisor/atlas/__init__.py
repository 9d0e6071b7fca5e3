"""The atlas of least depth: for each task and class of models the greatest depth that is known to
be necessary and the least that is known to suffice, who found it, and what of it is checked here.

`tasks.csv` and `classes.csv` define both, a class with the rules that its nets keep; `bounds.csv`
holds every bound in order of time, the superseded ones too. Tables of the same columns in a folder
of a user's own extend them.
"""

from __future__ import annotations

import os
import re
from collections.abc import Collection, Iterator, Mapping
from dataclasses import dataclass
from difflib import get_close_matches
from functools import cache
from pathlib import Path
from typing import Any

from ..base.quantities import UsageError, quoted
from ..claim_verdicts import verdict
from .formulas import (
    NONE as NONE,
    Comparison,
    Conditional,
    Limited,
    Words,
    counted,
    formula as formula,
    parse,
    singular as singular,
)
from .reading import read_table, refuse_unknown

# The source of bounds that are ours.
OURS = "depthlaw"
# What the gap of a row can be, and what that means.
GAPS = {
    "closed": "as many layers suffice as are needed, or no fixed depth suffices, and claims here "
    "prove or argue it for all sizes",
    "ends meet": "the same, but an end is published, run at some sizes, or argued in words alone",
    "open": "the ends differ, or one is not known",
}


@dataclass(frozen=True)
class AtlasTask:
    """A task: its key, what it is about, a name, a definition in two lines, and what its letters
    stand for. Those about one subject stand together. Of a user's own: a regular expression of its
    words, `language`, or the letters of `alphabet` alone for a function in words.py. `asks`: what
    its definition asks of its letters, such as "n >= 3; n <= 8"."""

    key: str
    subject: str
    name: str
    definition: str
    language: str = ""
    alphabet: str = ""
    asks: str = ""


# What a cell of `classes.csv` may hold, by column: one of these words, or, in the plural ones,
# several of them.
RULES = {
    "family": ("words", "attention", "continuous thoughts", "recurrent", "relu", "thoughts"),
    "attention": ("softmax", "weights", "average", "hard-right", "hard-left", "linear"),
    "masks": ("none", "causal", "strict"),
    "positions": ("", "none", "one kind", "added"),
    "mlp": ("", "none", "not last"),
    "residual": ("", "yes"),
    "read": ("", "mark", "every token", "vertices"),
    "by_place": ("query", "key"),
    "weights": ("", "integer", "identity", "diagonal", "signs", "reflections", "shared"),
    "arithmetic": ("", "complex", "real", "integer", "floating", "fixed", "unsigned", "bits"),
    "bound": ("", "rightmost", "leftmost", "both ways", "flows", "signs", "powers", "rank"),
}
_SEVERAL = ("attention", "masks", "by_place")
# A number, or a letter of the task's, perhaps less a number; n is the number of letters of a word.
_NUMBER = re.compile(r"|\d+|[a-z]( - \d+)?")
_NUMBERS = ("least_heads", "most_heads", "layers")


@dataclass(frozen=True)
class AtlasClass:
    """A class of models with all its fine print, and the rules that weights can show.

    Attributes:
        key, name, definition, unit: what it is, and what depth counts in it.
        family: of its nets; "words" where weights show nothing of the class.
        attention, masks: that a head may have; none for any.
        positions: "none"; "one kind" for those that do not depend on n and that a polynomial in
            the place bounds, "added" for such without factors of the letter.
        mlp: "none", or "not last" for none after the last layer.
        residual: whether every layer adds its input.
        read: at a letter that is none of the word's ("mark"), at every token, or of "vertices",
            where there is no other token.
        by_place: which of query and key are functions of the place alone.
        least_heads, most_heads, layers: numbers, or formulas in the task's letters and in n, the
            letters of a word.
        weights: what matrices are; "shared" by all layers, which are loops of one.
        bound: how two words show a lower bound for the class; "" where none do.
        arithmetic: in which a recurrent class counts, since its bounds turn on it: exact "complex",
            "real" or "integer" numbers; "floating" or "fixed" point; "unsigned" integers, which
            wrap; "bits" where the source fixes their number and not what they stand for.
    """

    key: str
    name: str
    definition: str
    unit: str
    family: str = "words"
    attention: tuple[str, ...] = ()
    masks: tuple[str, ...] = ()
    positions: str = ""
    mlp: str = ""
    residual: str = ""
    read: str = ""
    by_place: tuple[str, ...] = ()
    least_heads: str = ""
    most_heads: str = ""
    layers: str = ""
    weights: str = ""
    bound: str = ""
    arithmetic: str = ""

    @classmethod
    def of_row(cls, row: Mapping[str, str], where: str) -> AtlasClass:
        """A row of a table of classes; `where` it stands, for errors.

        Raises:
            UsageError: for a cell with a word that no rule knows.

        >>> row = {"key": "a", "name": "", "definition": "", "unit": "layers", "family": "relu"}
        >>> AtlasClass.of_row(row | {"weights": "integer"}, "classes.csv, row 2").weights
        'integer'
        """
        rules: dict[str, Any] = dict(row)
        for column, cell in row.items():
            known = RULES.get(column)
            words = tuple(cell.split()) if column in _SEVERAL else (cell,)
            if column in _SEVERAL:
                rules[column] = words
            unknown = [word for word in words if known is not None and word not in known]
            accepted = ", ".join(word or "nothing" for word in known or ())
            if column in _NUMBERS and not _NUMBER.fullmatch(cell):
                unknown, accepted = [cell], "nothing, a number, or a letter such as n or n - 1"
            if unknown:
                raise UsageError(
                    f"{where}, {column}: {quoted(unknown[0])} is not known; accepted are {accepted}"
                )
        if rules.get("family") == "recurrent" and not rules.get("arithmetic"):
            raise UsageError(
                f"{where}, arithmetic: a recurrent class names the numbers that it counts in; "
                f"accepted are {', '.join(filter(None, RULES['arithmetic']))}"
            )
        return cls(**rules)


@dataclass(frozen=True, kw_only=True)
class AtlasBound:
    """A published bound, or one of ours.

    Attributes:
        end: "lower": so many are needed; "upper": so many suffice.
        depth: a formula in the task's letters (`formulas`); `NONE` where no fixed depth suffices.
        year: when it was published.
        source: key of the bibliography, "depthlaw" for ours.
        place: where it stands there.
        quote: the source's own words that state it, formulas in plain text and […] for what is
            left out; "" for ours, and where its words were not at hand.
        mark: how it is known: printed, reported, recalled or derived.
        claim: key of the claim that checks it; "" for published, not checked here.
        covers: "" where the claim is about the whole end, "part" where about a part of it alone.
        checked: what of it is checked, and how.
        superseded: year of the bound that took its place, or None.
        note: conditions, doubts, what is open.
        argument: of an end of ours why it holds, as far as no claim says it.
        least: "no" where fewer layers are known to suffice for some cases; the note says which.
    """

    task: str
    class_: str
    end: str
    depth: str
    year: int
    source: str
    place: str = ""
    quote: str = ""
    mark: str
    claim: str = ""
    covers: str = ""
    checked: str = ""
    superseded: int | None = None
    note: str = ""
    argument: str = ""
    least: str = ""

    @property
    def ours(self) -> bool:
        """Whether it is depthlaw's own."""
        return self.source == OURS

    @property
    def reasons(self) -> str:
        """What is checked of it and how, and what is argued beside that."""
        argued = f"argued: {self.argument}" if self.claim and self.argument else self.argument
        return "; ".join(filter(None, [self.checked, argued]))

    @property
    def verdict(self) -> str:
        """What it stands on: the verdict on its claim, or, where none is about all of it, whether
        it is published, derived here alone or recalled, and the verdict on a part."""
        return self.judged(verdict(self.claim) or "not recorded") if self.claim else self.judged("")

    @property
    def argued(self) -> bool:
        """Whether a claim that covers the whole end is proved or argued for all sizes."""
        return not self.covers and verdict(self.claim) in ("PROVED", "ARGUED")

    def judged(self, word: str) -> str:
        """The same with another word for the verdict on its claim, such as a link; "" for none.

        >>> from dataclasses import replace
        >>> end = replace(bounds()[0], claim="", covers="")
        >>> end.judged(""), replace(end, covers="part").judged("HOLDS")
        ('published', 'published, in part checked (HOLDS)')
        """
        if word and not self.covers:
            return word
        stands = "published" if self.mark in ("printed", "reported") else self.mark
        stands = "argued in words" if self.argument else stands
        return f"{stands}, in part checked ({word})" if word else stands


def _no_depth(depth: str) -> bool:
    """Whether no fixed depth suffices, perhaps from some number on; on a conjecture is not enough.

    >>> [_no_depth(each) for each in ("none", "none if k >= 2", "none if TC0 is not NC1", "k")]
    [True, True, False, False]
    """
    tree = parse(depth)
    if isinstance(tree, Conditional) and isinstance(tree.condition, Comparison):
        tree = tree.then
    return tree == Words(NONE)


@dataclass(frozen=True)
class AtlasRow:
    """The best known bounds of a task in a class; None where no bound is known."""

    task: AtlasTask
    class_: AtlasClass
    lower: AtlasBound | None
    upper: AtlasBound | None

    @property
    def needed(self) -> str:
        """How many layers are needed, as a formula of the table; "-" where no bound is known, or no
        depth suffices, which `suffices` says."""
        known = self.lower and not self.lower.depth.startswith(NONE)
        return self.lower.depth if self.lower and known else "-"

    @property
    def suffices(self) -> str:
        """How many layers suffice, in the same way; `NONE` where no fixed depth does.

        >>> [(row.needed, row.suffices) for row in atlas_rows("blocks-prediction")]
        [('k - 2', 'k - 2')]
        >>> [(row.needed, row.suffices) for row in atlas_rows("not-r-trivial")][0]
        ('-', 'none')
        """
        if self.upper:
            return self.upper.depth
        return self.lower.depth if self.lower and self.needed == "-" else "-"

    @property
    def gap(self) -> str:
        """A word of `GAPS`: "open" where the ends differ or one is not known; where they are equal,
        or no fixed depth suffices, "closed" if each rests on an argument for all sizes.

        >>> {(row.class_.key): row.gap for row in atlas_rows("parity") if row.upper is None}
        ... # doctest: +NORMALIZE_WHITESPACE
        {'counting': 'closed', 'uhat-right': 'closed', 'softmax-fixed-precision': 'ends meet',
         'diagonal-ssm-positive': 'ends meet'}
        """
        ends = [end for end in (self.lower, self.upper) if end]
        none = self.lower is not None and _no_depth(self.lower.depth)
        if not none and (len(ends) < 2 or parse(self.needed) != parse(self.suffices)):
            return "open"
        return "closed" if all(end.argued for end in ends) else "ends meet"

    @property
    def summary(self) -> str:
        """Both ends in words.

        >>> [row.summary for row in atlas_rows("parity-bits")][1:3]
        ['1 layer', 'order n steps of thought']
        >>> [row.summary for row in atlas_rows("dyck")][2:]
        ['D + 1 layers', 'no fixed depth suffices', 'at least 2 layers if D >= 3, else 1 layer']
        """
        needed, suffices, unit = formula(self.needed), formula(self.suffices), self.class_.unit
        if suffices.startswith(NONE):
            return f"no fixed depth suffices{suffices.removeprefix(NONE)}"
        if suffices == "some depth":
            return suffices
        enough = counted(parse(self.suffices), unit)
        if needed == suffices:
            return enough
        conditional = isinstance(parse(self.needed), Conditional | Limited)
        if suffices == "-":
            least = counted(parse(self.needed), unit)
            return f"at least {least}" if conditional else f"{least} or more"
        if needed == "-":
            return f"at most {enough}"
        if not conditional:
            return f"{needed} to {enough}"
        least = needed if needed.startswith("no ") else f"at least {needed}"
        return f"{least}; at most {enough}"

    @property
    def checked(self) -> str:
        """What both ends stand on, once where it is the same."""
        stands = {end.end: end.verdict for end in (self.lower, self.upper) if end}
        if len(set(stands.values())) == 1:
            return stands.popitem()[1]
        return ", ".join(f"{verdict_} ({end})" for end, verdict_ in stands.items())


@dataclass(frozen=True)
class Atlas:
    """The tables: tasks and classes by key, and every bound in order of time; of a user's own the
    folder."""

    tasks: dict[str, AtlasTask]
    classes: dict[str, AtlasClass]
    bounds: tuple[AtlasBound, ...]
    folder: Path | None = None

    def rows(self, task: str | None = None, known_by: int | None = None) -> Iterator[AtlasRow]:
        """The rows of the table: of one task or of all, as known by the end of a year.

        Raises:
            UsageError: for a task that is not in the atlas.
        """
        if task is not None and task not in self.tasks:
            hint = "`depthlaw tasks` lists them, `depthlaw tasks language REGEX` decides regular "
            near = " or ".join(self.nearest_tasks(task))
            hint = f"did you mean {near}?" if near else f"{hint}languages"
            raise UsageError(f"unknown task {quoted(task)}; {hint}")
        best: dict[tuple[str, str], dict[str, AtlasBound]] = {}
        for bound in self.bounds:
            if (known_by is None or bound.year <= known_by) and task in (None, bound.task):
                ends = best.setdefault((bound.task, bound.class_), {})
                gone = bound.superseded
                if gone is None or (known_by is not None and gone > known_by):
                    ends[bound.end] = bound
        for (key, class_), ends in best.items():
            yield AtlasRow(
                self.tasks[key], self.classes[class_], ends.get("lower"), ends.get("upper")
            )

    def nearest_tasks(self, typed: str) -> list[str]:
        """The keys of the tasks that were most likely meant: one that is spelt so, or else at most
        three in which a word begins so.

        >>> near = atlas().nearest_tasks
        >>> near("maximun"), near("brackets"), near("S5")
        (['maximum'], ['dyck', 'dyck-prediction', 'dyck-one'], ['s5-words'])
        >>> near("knapsack"), near("a")
        ([], [])
        """
        if close := get_close_matches(typed.lower(), self.tasks, n=1, cutoff=0.75):
            return close
        begins = re.compile(rf"\b{re.escape(typed.strip())}", re.IGNORECASE)
        texts = {key: f"{key} {task.name} {task.definition}" for key, task in self.tasks.items()}
        found = [key for key, text in texts.items() if len(typed) > 1 and begins.search(text)]
        return found[:3]


@cache
def _shipped() -> Atlas:
    return _extended(Atlas({}, {}, ()), Path(__file__).parent, None)


def atlas(tables: Path | None = None) -> Atlas:
    """The atlas; with the tables of a folder that extend it: `tasks.csv`, `classes.csv` and
    `bounds.csv`, as far as there are such. A bound of theirs takes the place of the atlas's.

    Raises:
        UsageError: for a folder without tables, and what is wrong in them, with file and line.
    """
    if tables is None:
        return _shipped()
    names = ("tasks", "classes", "bounds")
    # Of os.path, which takes a name that is too long for one that does not exist.
    if not any(os.path.isfile(tables / f"{name}.csv") for name in names):
        raise UsageError(
            f"{quoted(str(tables))} holds no tables; give a folder with tasks.csv, classes.csv or "
            "bounds.csv"
        )
    return _extended(_shipped(), tables, tables)


def _extended(known: Atlas, folder: Path, own: Path | None) -> Atlas:
    tasks, classes, bounds = dict(known.tasks), dict(known.classes), list(known.bounds)
    for place, task in read_table(folder / "tasks.csv", AtlasTask):
        _refuse_known(place, task.key, tasks)
        _refuse_unread(place, task)
        tasks[task.key] = task
    for place, class_ in read_table(folder / "classes.csv", AtlasClass):
        _refuse_known(place, class_.key, classes)
        classes[class_.key] = class_
    for place, bound in read_table(folder / "bounds.csv", AtlasBound):
        refuse_unknown(place, "task", bound.task, tasks)
        refuse_unknown(place, "class", bound.class_, classes)
        refuse_unknown(place, "end", bound.end, ("lower", "upper"))
        refuse_unknown(place, "mark", bound.mark, ("printed", "reported", "recalled", "derived"))
        refuse_unknown(place, "covers", bound.covers, ("", "part"))
        refuse_unknown(place, "least", bound.least, ("", "no"))
        _refuse_unsupported(place, bound, own is not None)
        bounds.append(bound)
    return Atlas(tasks, classes, tuple(bounds), own)


def _refuse_known(place: str, key: str, known: Collection[str]) -> None:
    if key in known:
        raise UsageError(f"{place}: the atlas has the key {quoted(key)}; take another")


def _refuse_unread(place: str, task: AtlasTask) -> None:
    """What is no regular expression, or no condition: nothing here uses them, a check of a net
    does."""
    # Of several signs of repetition one is meant; Python's grammar knows them, and empty choices.
    plain, empty = re.sub(r"[*+?]+", "*", task.language), r"(?<!\w|\)|\*)\||\|(?!\w|\()"
    try:
        broken = re.search(rf"[^a-zA-Z0-9|*()]|{empty}", plain) or not re.compile(plain)
    except re.error:
        broken = True
    why = f"cannot read {quoted(task.language)}; try letters, digits, |, *, +, ? and ( )"
    if not broken and task.alphabet and (less := {*re.findall(r"\w", plain)} - {*task.alphabet}):
        broken, why = True, f"the alphabet {quoted(task.alphabet)} lacks {quoted(min(less))}"
    if broken:
        raise UsageError(f"{place}, language: {why}")
    for condition in filter(None, task.asks.split("; ")):
        try:
            parse(f"1 if {condition}")
        except UsageError:
            why = f"{quoted(condition)} is no condition; write some such as n >= 3; k <= n"
            raise UsageError(f"{place}, asks: {why}") from None


def _refuse_unsupported(place: str, bound: AtlasBound, own: bool) -> None:
    """A depth that cannot be read, and an end of ours that nothing here supports."""
    try:
        parse(bound.depth)
    except UsageError as error:
        raise UsageError(f"{place}: {error}") from None
    if bound.claim and (verdict(bound.claim) is None if own else bound.claim.count("/") != 1):
        raise UsageError(
            f"{place}: unknown claim {quoted(bound.claim)}; give the key of a claim that `depthlaw "
            "tasks` names, or leave it empty"
        )
    if bound.covers and not bound.claim:
        raise UsageError(f"{place}: covers is {bound.covers}, and no claim is named")
    if bound.ours and not bound.argument and (not bound.claim or bound.covers):
        raise UsageError(
            f"{place}: an end of the source {OURS} has a claim about all of it, or says in the "
            "cell argument why it holds; both are empty"
        )


def tasks() -> dict[str, AtlasTask]:
    """Every task by its key."""
    return atlas().tasks


@cache
def classes() -> dict[str, AtlasClass]:
    """Every class of models by its key, without the rest of the atlas: claims of constructions rest
    on this table, and not on that of bounds."""
    table = Path(__file__).with_name("classes.csv")
    return {row.key: row for _, row in read_table(table, AtlasClass)}


def bounds() -> tuple[AtlasBound, ...]:
    """Every bound, by task and class, in order of time."""
    return atlas().bounds


def atlas_rows(task: str | None = None, known_by: int | None = None) -> Iterator[AtlasRow]:
    """`Atlas.rows` of the shipped tables."""
    return atlas().rows(task, known_by)

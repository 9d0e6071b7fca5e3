"""Words in running text that records or laws fill: what hand-written pages say in numbers.

Marks, each an HTML comment: `<!-- verdict: KEY -->` is the verdict with a link to the claim,
`<!-- of: KEY -->` how many of its cases are decided, `<!-- is: KEY field=value,... -->` what was
measured in the one case that has these values,
`<!-- near: KEY -->` the least factor between the two sides of an inequality that holds,
`<!-- fails: KEY field -->` a value of its smallest counterexample,
`<!-- agree: KEY -->` in how many cases the value, or the mean, agrees, `<!-- against: KEY -->` in
how many the 95 % interval contradicts, `<!-- shapes: KEY -->` how many shapes of nets a PROVED
claim is about, `<!-- sizes: KEY -->` how large the trained nets of a claim are,
`<!-- number: WHAT -->` a count (claims, cited claims, topics, records, cited verdicts: how many
cited claims have which),
`<!-- shape: 3B -->` what `depthlaw depth` recommends for a budget,
`<!-- depth: 3B -->` how many layers that are, of a size that losses reach,
`<!-- law: MODULE.FUNCTION 16 3 -->` a function of `depthlaw`, such as advisor.laws.reach, at whole
numbers, and `<!-- bench: NAME: FIELD -->` what a benchmark noted, as benchmarks.json holds it.

In committed pages what fills a mark follows it: `<!-- law: advisor.laws.reach 2 -->9<!--/-->`.
`filling` writes it there, and the site writes its own.
"""

from __future__ import annotations

import json
import re
from collections import Counter
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import cache
from importlib import import_module
from pathlib import Path
from typing import Any

from depthlaw.advisor.recommendation import recommend
from depthlaw.theory.claims.verdict import Verdict

from ...running.claims_index import claims_index
from ...verdicts.display import measured_side, slack
from ...verdicts.estimates import leaning
from ...verdicts.suite_verdicts import (
    NOT_RUN,
    VERDICT_NAMES,
    CaseResult,
    ClaimResult,
    marked,
    verdict_name,
)
from ..appendix.printed_claims import Statement
from ..appendix.typesetting import verdict
from .front_page import headline

KINDS = "(?:verdict|of|is|near|fails|agree|against|shapes|sizes|number|shape|depth|law|bench)"
MARK = re.compile(rf"<!--\s+(?P<kind>{KINDS}):\s+(?P<what>[^>]+?)\s+-->")
# What keeps a mark from being first in a paragraph, and what ends a filling, which is no comment.
NO_WIDTH, END = "&#8203;", "<!--/-->"
FILLING = re.compile(rf"(?<=-->)(?:(?!<!--).)*{END}(?!`)", re.DOTALL)


def unfilled(text: str) -> str:
    """A page whose marks stand alone, without what fills them.

    >>> unfilled("sees <!-- law: advisor.laws.reach 2 -->9<!--/--> steps, <!-- data -->")
    'sees <!-- law: advisor.laws.reach 2 --> steps, <!-- data -->'
    """
    return FILLING.sub("", text.replace(f"{NO_WIDTH}<!--", "<!--"))


@dataclass(frozen=True)
class MarkSource:
    """What marks are filled from.

    Attributes:
        judged: every claim by key, None where nothing is recorded.
        records: how many there are.
    """

    judged: Mapping[str, ClaimResult | None]
    records: int

    def spoken(self, text: str) -> str:
        """A page with its marks replaced.

        Raises:
            ValueError: where nothing is recorded for a mark, or it names no claim, case or
                function: a sentence without its number must not be published.
        """
        return MARK.sub(self._said, text)

    def filled(self, text: str, as_read: Callable[[str], str]) -> str:
        """A page with what replaces each mark behind it.

        Args:
            text: of the page, whose marks stand alone.
            as_read: makes of what the site says what a reader of the file sees.

        Raises:
            ValueError: as `spoken`.
        """
        return MARK.sub(lambda mark: f"{mark[0]}{as_read(self._said(mark))}{END}", text)

    def _said(self, mark: re.Match[str]) -> str:
        return str(getattr(self, f"_{mark['kind']}")(" ".join(mark["what"].split())))

    def _result(self, key: str) -> ClaimResult:
        if (result := self.judged.get(key)) is None:
            raise ValueError(f"nothing is recorded for {key}")
        return result

    def _verdict(self, key: str) -> str:
        return f"[{verdict(marked(self._result(key)))}](/claims/{key}.md)"

    def _of(self, key: str) -> str:
        result = self._result(key)
        decided, asked = len(result.decided), len(result.in_scope)
        return f"{asked:,}" if decided == asked else f"{decided:,} of {asked:,}"

    def _is(self, what: str) -> str:
        result, row = self._case(what)
        return _grouped(measured_side(result.claim, row))

    def _near(self, key: str) -> str:
        result = self._result(key)
        if result.tightest is None or result.counterexample is not None:
            raise ValueError(f"{key} has no sides that stay apart")
        return slack(result.tightest).removeprefix("x")

    def _fails(self, what: str) -> str:
        key, _, name = what.partition(" ")
        worst = self._result(key).counterexample
        if worst is None or name not in (fields := worst.case.fields()):
            raise ValueError(f"no counterexample of {key} is recorded with a value {name}")
        return _grouped(str(fields[name]))

    def _agree(self, key: str) -> str:
        result = self._result(key)
        side = leaning(result)
        if side.cases:
            return _share(side.cases - side.means, side.cases)
        agree = sum(row.decision.verdict is Verdict.HOLDS for row in result.decided)
        return _share(agree, len(result.in_scope))

    def _against(self, key: str) -> str:
        side = leaning(self._result(key))
        if not side.cases:
            raise ValueError(f"{key} has no means or shares")
        return _share(side.intervals, side.cases)

    def _shapes(self, key: str) -> str:
        _, shapes = Statement(self._result(key)).shapes
        if not shapes:
            raise ValueError(f"{key} is not PROVED of several shapes")
        return f"{len(shapes):,}"

    def _sizes(self, key: str) -> str:
        if not (sizes := Statement(self._result(key)).sizes):
            raise ValueError(f"{key} is about no trained nets whose sizes are known")
        return sizes

    def _case(self, what: str) -> tuple[ClaimResult, CaseResult]:
        """The one case of a claim that has the values that a mark names."""
        key, _, named = what.partition(" ")
        values = dict(field.split("=", 1) for field in named.split(",") if field)
        result = self._result(key)
        texts = ({n: str(v) for n, v in row.case.fields().items()} for row in result.cases)
        pairs = zip(result.cases, texts, strict=True)
        rows = [row for row, fields in pairs if values.items() <= fields.items()]
        if len(rows) != 1:
            raise ValueError(f"{len(rows)} cases of {key} have {named or 'any values'}, not one")
        return result, rows[0]

    def _number(self, what: str) -> str:
        cited = [r for key, r in self.judged.items() if claims_index()[key]["tier"] == "cited"]
        numbers = {
            "records": self.records,
            "claims": len(self.judged),
            "cited claims": len(cited),
            "topics": len({key.partition("/")[0] for key in self.judged}),
        }
        if what in numbers:
            return f"{numbers[what]:,}"
        if what != "cited verdicts":
            raise ValueError(f"{what} is not counted; say cited verdicts, {', '.join(numbers)}")
        counts = Counter(verdict_name(result) if result else NOT_RUN for result in cited)
        return ", ".join(f"{name} {counts[name]:,}" for name in VERDICT_NAMES if counts[name])

    def _shape(self, budget: str) -> str:
        return headline(recommend(budget))

    def _depth(self, budget: str) -> str:
        answer = recommend(budget)
        if not headline(answer).startswith(f"{answer.layers} layers of "):
            raise ValueError(f"the answer for {budget} is no number of layers: use `shape`")
        return _printed(answer.layers)

    def _law(self, what: str) -> str:
        name, *arguments = what.split()
        module, _, function = name.rpartition(".")
        value = getattr(import_module(f"depthlaw.{module}"), function)(*map(int, arguments))
        return _printed(value)

    def _bench(self, what: str) -> str:
        name, _, noted = what.rpartition(": ")
        if noted not in (numbers := _benchmarks().get(name, {})):
            raise ValueError(f"no benchmark {name} noted {noted}; run `make bench`")
        return _printed(numbers[noted])


# Counts up to it are written as words.
_WORDS = "none one two three four five six seven eight nine ten eleven twelve"


def _share(part: int, whole: int) -> str:
    """So many of so many, as a sentence says it.

    >>> _share(0, 6), _share(6, 6), _share(11, 14)
    ('none of six', 'all six', '11 of 14')
    """
    words = _WORDS.split()
    few = whole < len(words)
    some, every = (words[n] if few else f"{n:,}" for n in (part, whole))
    return f"all {every}" if part == whole else f"{some} of {every}"


@cache
def _benchmarks() -> dict[str, dict[str, Any]]:
    """What `make bench` kept."""
    file = Path(__file__).with_name("benchmarks.json")
    return dict(json.loads(file.read_text(encoding="utf-8")))


def _printed(value: object) -> str:
    """Whole numbers in full, others as two machines would agree on them."""
    if isinstance(value, int):
        return f"{value:,}"
    if isinstance(value, float):
        return f"{value:,.0f}" if abs(value) >= 100 else f"{value:.2g}"
    return str(value)


def _grouped(text: str) -> str:
    """Digits in threes."""
    return f"{int(text):,}" if re.fullmatch(r"-?\d+", text) else text

"""What the atlas leaves open: each open row as a question under a name that stays, in words, with
a file to fill in where `depthlaw tasks check` can judge an answer, and with a theorem to prove
where the definitions of `theory/formal` can state it.

open_theorems.toml holds the theorems, to be proved; `make prove-mutants` compiles them.
open_words.toml words questions of which both ends do not tell what is open, and pins these ends."""

from __future__ import annotations

import json
import textwrap
import tomllib
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any

from depthlaw.advisor.atlas import AtlasClass, AtlasRow, atlas, atlas_rows, formula
from depthlaw.advisor.atlas.formulas import (
    Conditional,
    Depth,
    Growth,
    Limited,
    Words,
    parse,
    printed,
    singular,
)
from depthlaw.theory.atlas.ends import ends_of_task
from depthlaw.theory.atlas.tasks import WordTask, word_task

# Small numbers at which the file of a question asks for a net, for each task whose answers are
# known exactly; a class may ask for other ones than its task.
_SIZES: Mapping[str, Mapping[str, Any]] = {
    "dyck": {"k": 2, "D": 3},
    "hops": {"k": 3, "symbols": 2},
    "reachability": {"n": 3, "D": 2},
    "circuit": {"n": 5, "D": 3},
    "group-words": {"group": "SL(2,3)"},
    "maximum-large": {"n": 13},
    "sorting": {"n": 3, "m": 3},
    "multiplication": {},
}


@dataclass(frozen=True)
class OpenTheorem:
    """A theorem that would settle one direction of a question, in Rocq.

    Attributes:
        says: in words, what it says.
        imports: the files of the library that it names.
        statement: of the theorem.
        control: a negative control, a statement that looks like it and is false.
        refuted: why the control is false, by which theorem of the library.
    """

    says: str
    imports: tuple[str, ...]
    statement: str
    control: str
    refuted: str

    def file(self, name: str) -> str:
        """The file to complete, for the question of that name."""
        named = name.replace("-", "_")
        required = "".join(f"From Depthlaw Require {each}.\n" for each in self.imports)
        about = (
            f"{name}: {self.says}. Coq 8.20 accepts this file, without a proof. Replace Abort by a "
            f"proof and Qed. The negative control is false: {self.refuted}. Whoever can prove it "
            "has found a fault. *)"
        )
        return (
            f"{textwrap.fill(about, 80, initial_indent='(* ', subsequent_indent='   ')}\n\n"
            "From mathcomp Require Import all_ssreflect all_fingroup all_algebra all_solvable.\n"
            f"{required}\n"
            f"Theorem {named} {self.statement.strip()}\nProof.\nAbort.\n\n"
            f"Theorem {named}__control {self.control.strip()}\nProof.\nAbort.\n"
        )


@dataclass(frozen=True)
class OpenWords:
    """What a question asks, where the ends of its row do not tell it.

    Attributes:
        needed, suffices: the ends that the words are about, as the row has them.
        find: what a net would have to do, as a command, in Markdown with formulas.
        prove: what a proof would have to do, in the same way.
        layers: how many the file of a net has; None for one fewer than the atlas knows to suffice.
    """

    needed: str
    suffices: str
    find: str
    prove: str
    layers: int | None = None


@dataclass(frozen=True)
class OpenQuestion:
    """An open row of the atlas as a question.

    Attributes:
        row: both ends that are known.
        theorem: None where the library has no definitions for it.
        words: None where both ends tell what is open.

    Raises:
        ValueError: for words about other ends than the row has.
    """

    row: AtlasRow
    theorem: OpenTheorem | None = None
    words: OpenWords | None = None

    def __post_init__(self) -> None:
        known = (self.row.needed, self.row.suffices)
        if self.words and (self.words.needed, self.words.suffices) != known:
            raise ValueError(f"{self.name}: open_words.toml is about other ends than {known}")

    @property
    def name(self) -> str:
        """What it is called for good: the keys of task and class."""
        return f"{self.row.task.key}--{self.row.class_.key}"

    @property
    def fewer(self) -> str:
        """What a net would have to do, as a command; formulas in LaTeX."""
        upper, unit = self.row.upper, self.row.class_.unit
        if self.words:
            return self.words.find
        if upper is None:
            return f"Find nets for every size and say how many {unit} they take"
        if upper.depth == "some depth":
            return f"Name a number of {unit} that is enough"
        return f"Find nets with fewer {unit} than {formula(upper.depth, latex=True)}"

    @property
    def more(self) -> str:
        """What a proof would have to do, in the same way."""
        lower, unit = self.row.lower, self.row.class_.unit
        if self.words:
            return self.words.prove
        if lower is None:
            return f"prove a lower bound on the number of {unit}"
        match parse(lower.depth):
            case Conditional(then, Words(premise)):
                known = _enough(then, unit)
                return f"prove, without supposing that {premise}, that {known}"
            case Conditional(then, condition, otherwise):
                under = printed(condition, True)
                if self.row.upper and otherwise:
                    return f"prove that {_failing(otherwise, unit)} unless {under}"
                return f"prove that {_failing(then, unit)} if {under}"
            case Limited(known):
                return f"prove that {_failing(known, unit)} at sizes below the known ones"
            case Growth() as known:
                return f"prove that more {unit} than {printed(known, True)} are needed"
            case known:
                return f"prove that {_failing(known, unit)}"

    @property
    def parameters(self) -> Mapping[str, Any] | None:
        """The sizes that its file is about; None where weights do not show the class, or no answer
        of the task can be computed."""
        class_, sizes = self.row.class_, _SIZES.get(self.row.task.key)
        # A class may bound its heads by a letter that its task does not have.
        bounded = class_.most_heads.isalpha() and class_.most_heads not in (sizes or {})
        return None if class_.family == "words" or bounded else sizes

    def file(self) -> str:
        """A net of the right form that answers nothing, as JSON to fill in; "" where there is
        none. It has as many layers as its words ask for, else one fewer than the atlas knows to
        suffice at its sizes."""
        sizes = self.parameters
        if sizes is None:
            return ""
        task, class_ = self.row.task.key, self.row.class_
        head = {"task": task, "parameters": dict(sizes), "class": class_.key}
        body = _empty_net(task, class_, sizes, self._layers(sizes))
        return json.dumps(head | body, indent=1) + "\n"

    def _layers(self, sizes: Mapping[str, Any]) -> int:
        ends = ends_of_task(self.row.task.key, self.row.class_.key, sizes, atlas(), None)
        number = ends.suffices - 1 if isinstance(ends.suffices, int) else ends.needed
        if self.words and self.words.layers:
            number = self.words.layers
        return max(number, 1) if isinstance(number, int) else 1


def _enough(depth: Depth, unit: str) -> str:
    """A lower end that rests on a conjecture, as what is to be proved.

    >>> _enough(parse("order log k"), "layers"), _enough(parse("none"), "loops")
    ('order $\\\\log k$ layers are needed', 'no fixed number of loops is enough')
    """
    if isinstance(depth, Words):
        return f"no fixed number of {unit} is enough"
    return f"{printed(depth, True)} {unit} are needed"


def _failing(depth: Depth, unit: str) -> str:
    """So many of what depth counts, and that they fail.

    >>> _failing(parse("1"), "layers"), _failing(parse("D + 1"), "loops")
    ('one layer fails', '$D + 1$ loops fail')
    """
    text = printed(depth, True)
    return f"one {singular(unit)} fails" if text == "1" else f"{text} {unit} fail"


def questions() -> list[OpenQuestion]:
    """Every open row of the atlas, in its order.

    >>> [question.name for question in questions()][:2]
    ['dyck--uhat-both', 'dyck--softmax']
    """
    theorems, words = _theorems(), _words()
    return [
        OpenQuestion(row, theorems.get(name), words.get(name))
        for row in atlas_rows()
        for name in [f"{row.task.key}--{row.class_.key}"]
        if row.gap == "open"
    ]


@cache
def _theorems() -> Mapping[str, OpenTheorem]:
    return {
        name: OpenTheorem(**body | {"imports": tuple(body["imports"])})
        for name, body in _table("open_theorems.toml").items()
    }


@cache
def _words() -> Mapping[str, OpenWords]:
    return {name: OpenWords(**body) for name, body in _table("open_words.toml").items()}


def _table(name: str) -> dict[str, Any]:
    return tomllib.loads(Path(__file__).with_name(name).read_text(encoding="utf-8"))


def _empty_net(
    task: str, class_: AtlasClass, sizes: Mapping[str, Any], layers: int
) -> dict[str, Any]:
    """A net whose weights are 0, in the format of a class."""
    if class_.family == "relu":
        inputs = sizes["n"]
        hidden = [{"matrix": [[0] * (inputs if layer == 0 else 1)]} for layer in range(layers)]
        return {"family": "relu", "layers": hidden, "out": [0]}
    words = word_task(task, sizes)
    letters = list(words.letters)
    if class_.family == "thoughts":
        head = " ".join(f"0:{letter}" for letter in letters)
        after = {f"0:{letter}": "last" for letter in letters}
        return {
            "family": "thoughts",
            "alphabet": letters,
            "begin": "begin",
            "thoughts": {"begin": {"heads": [head], "next": after}},
            "answers": {"last": "0"},
        }
    if class_.family == "recurrent":
        layer = {
            "start": [1],
            "step": {letter: {"diagonal": [1]} for letter in letters},
            "emit": [[[1], letter, letter] for letter in letters],
        }
        return {"family": "recurrent", "alphabet": letters, "layers": [layer] * layers}
    return _empty_attention(words, letters, class_, layers)


def _empty_attention(
    words: WordTask, letters: list[str], class_: AtlasClass, layers: int
) -> dict[str, Any]:
    zero: list[list[int]] = [[0]]
    head: dict[str, Any] = {
        "attention": next((kind for kind in class_.attention if kind != "weights"), "softmax"),
        "mask": next(iter(class_.masks), "none"),
        **dict.fromkeys(("query", "key", "value", "output"), zero),
    }
    head |= {"base": 2} if head["attention"] == "softmax" else {}
    mark = {"end": "$"} if class_.read == "mark" else {}
    tokens = [*letters, *mark.values()]
    net: dict[str, Any] = {"family": "attention", "alphabet": letters, **mark}
    net["embedding"] = {token: [0] for token in tokens}
    thoughts = class_.family == "continuous thoughts"
    net["layers"] = [{"heads": [head]}] * (2 if thoughts else layers)
    if thoughts:
        net["thoughts"] = {"steps": layers, "matrix": zero, "add": [0]}
    answers = list(dict.fromkeys(map(words.answer, _some(words))))
    if isinstance(answers[0], bool):
        return net | {"read": [1]}
    return net | {"labels": answers, "read": [[int(i == 0)] for i in range(len(answers))]}


def _some(words: WordTask) -> Iterator[tuple[str, ...]]:
    """Words enough to see every answer."""
    return (word for word in words.words(5) if word)

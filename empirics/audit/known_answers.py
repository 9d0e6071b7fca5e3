"""What each measure says of nets that are known to need every layer.

`known_answers.csv` names the nets: for most of them a claim or a paper proves that one layer fewer
of their class fails. `known_rules.csv` says by which threshold a measure calls a layer superfluous,
and which measures must call all of them needed. Both were written before they were run.

Decoys are the same nets with one layer more, on which no answer depends: "zero" writes nothing,
"loud" writes `LOUD` to a coordinate that nothing reads, both behind the first layer; "copied" is
the last layer once more. A document is one word.
"""

from __future__ import annotations

import contextlib
import copy
import csv
import itertools
import json
import random
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from importlib.resources import files
from typing import Any

import numpy as np
from numpy.typing import NDArray

from depthlaw.advisor.base.quantities import UsageError
from depthlaw.theory.atlas.tasks import Word, WordTask, word_task
from depthlaw.theory.nets.batched import answers
from depthlaw.theory.nets.json_format import net_of

from . import AuditError
from .documents import IGNORED, Documents, outcomes
from .explicit import ExplicitNet, explicit
from .layered import layered, whole, without
from .measures import measure
from .statistics import Call, Estimate, call, mean

LOUD = 1_000
DECOYS = ("zero", "loud", "copied")
DOCUMENTS = 128
# Words of a length are gone through where they are no more than this, else drawn.
MOST_WORDS = 100_000

Body = dict[str, Any]


@dataclass(frozen=True)
class KnownNet:
    """A net, the words it is run on, and what is true of its layers.

    Attributes:
        name, decoy: of the table, and of `DECOYS` or "" for the net itself.
        documents: words of one length, scored at the token that answers.
        truth: of each layer, None where nothing is known.
        exact: error rate, by exact arithmetic, when each layer is taken out; of a decoy ().
    """

    name: str
    decoy: str
    net: ExplicitNet
    documents: Documents
    truth: tuple[Call | None, ...]
    exact: tuple[float, ...]


@dataclass(frozen=True)
class LayerCalls:
    """What one measure says of the layers of a net, from 0; nothing where it is not defined."""

    net: KnownNet
    measure: str
    variant: str
    estimates: Mapping[int, Estimate]
    threshold: float

    @property
    def calls(self) -> dict[int, Call]:
        """What the interval of each layer says against the threshold."""
        return {i: call(estimate, self.threshold) for i, estimate in self.estimates.items()}

    @property
    def wrong(self) -> list[int]:
        """Needed layers that are called superfluous, and superfluous ones that are called needed;
        undecided ones are neither right nor wrong."""
        told = {i: {said, self.net.truth[i]} for i, said in self.calls.items()}
        return [i for i, both in told.items() if both == {Call.NEEDED, Call.SUPERFLUOUS}]

    @property
    def below(self) -> float | None:
        """By how much the decoy's value is below that of every needed layer: where it is not above
        0, the layer of the least value is a needed one, or may be. None without both."""
        of: dict[Call | None, list[float]] = {}
        for i, estimate in self.estimates.items():
            of.setdefault(self.net.truth[i], []).append(estimate.value)
        if not {Call.NEEDED, Call.SUPERFLUOUS} <= of.keys():
            return None
        return min(of[Call.NEEDED]) - max(of[Call.SUPERFLUOUS])


def known_answers(nets: Iterable[str] = ()) -> list[LayerCalls]:
    """What every rule with a threshold says of nets of the table, by default all, and of decoys.

    Cost: some minutes on one core for all.
    """
    chosen = set(nets)
    rows = [row for row in table("known_answers") if not chosen or row["net"] in chosen]
    rules = [rule for rule in table("known_rules") if rule["threshold"]]
    made = (known_net(row, decoy) for row, decoy in itertools.product(rows, ("", *DECOYS)))
    return [answer(net, rule) for net in made if net for rule in rules]


def answer(net: KnownNet, rule: Mapping[str, str]) -> LayerCalls:
    """What a rule of known_rules.csv says of the layers of a net."""
    found: dict[int, NDArray[np.float64]] = {}
    with contextlib.suppress(AuditError):  # Such as parts of a layer that has none.
        found = values(net, rule["measure"], rule["variant"])
    estimates = {i: mean(of_words) for i, of_words in sorted(found.items())}
    return LayerCalls(net, rule["measure"], rule["variant"], estimates, float(rule["threshold"]))


def table(name: str) -> list[dict[str, str]]:
    """The rows of known_answers.csv or known_rules.csv, by its name without .csv."""
    text = files(__package__).joinpath(f"{name}.csv").read_text("utf-8")
    return list(csv.DictReader(text.splitlines()))


# --- nets ---


def known_net(
    row: Mapping[str, str], decoy: str = "", documents: int = DOCUMENTS
) -> KnownNet | None:
    """The net of a row of known_answers.csv, with a decoy or none; None where the net has no such
    decoy, or errs with it. Cost: exact runs on at most `documents` words, one for each layer."""
    from depthlaw.theory.least_depth.written_nets import FILES

    made = FILES[row["net"]]()
    # No part of it stands in two places, as in Python's own.
    body = json.loads(json.dumps(made if isinstance(made, dict) else dict(made.body)))
    truth: list[Call | None] = [Call.NEEDED] * int(row["layers"])
    if decoy:
        if (longer := with_decoy(body, decoy)) is None:
            return None
        body = longer
        truth.insert(1, Call.SUPERFLUOUS)
        if decoy == "copied":
            truth = [None] * (len(truth) - 2) + [Call.SUPERFLUOUS] * 2
    numbers = dict(pair.split("=") for pair in row["parameters"].split())
    task = word_task(
        row["task"], {name: int(v) if v.isdecimal() else v for name, v in numbers.items()}
    )
    words = chosen_words(task, int(row["letters"]), documents)
    if decoy and errors(net_of(body), task, words):
        return None
    net, layers = explicit(body), body["layers"]
    less = [body | {"layers": [*layers[:i], *layers[i + 1 :]]} for i in range(len(layers))]
    exact = tuple(errors(net_of(each), task, words) / len(words) for each in less if not decoy)
    ids = net.ids(words).numpy()
    labels = np.full_like(ids, IGNORED)
    labels[:, net.at] = [net.labels.index(task.answer(word)) for word in words]
    sample = Documents(ids, "words", f"words of the task {row['task']}", labels=labels)
    return KnownNet(row["net"], decoy, net, sample, tuple(truth), exact)


def errors(net: Any, task: WordTask, words: Sequence[Word]) -> int:
    """How many words a net answers wrongly, or not at all, in exact arithmetic."""
    try:
        return sum(said != task.answer(word) for word, said in answers(net, words))
    except UsageError:
        return sum(errors(net, task, [word]) for word in words) if len(words) > 1 else 1


def chosen_words(
    task: WordTask, letters: int, documents: int = DOCUMENTS, seed: int = 0
) -> list[Word]:
    """At most `documents` words of a length, no word twice, by turns from each right answer."""
    rng = random.Random(seed)
    if task.length or task.listed or task.asked or len(task.letters) ** letters <= MOST_WORDS:
        found = [word for word in task.words(letters) if len(word) == letters]
    else:
        drawn = (tuple(rng.choices(task.letters, k=letters)) for _ in range(32 * documents))
        found = list(dict.fromkeys(drawn))
    rng.shuffle(found)
    groups: dict[str, list[Word]] = {}
    for word in found:
        groups.setdefault(str(task.answer(word)), []).append(word)
    turns = itertools.zip_longest(*(groups[key] for key in sorted(groups)))
    return list(itertools.islice(filter(None, itertools.chain(*turns)), documents))


def with_decoy(body: Body, decoy: str) -> Body | None:
    """The JSON of a net with one layer more; None for recurrent nets but with "zero", since their
    stream is letters, which every layer reads."""
    layers = copy.deepcopy(body["layers"])
    if body["family"] == "recurrent":
        net: Any = net_of(body)
        passed = list(dict.fromkeys(net.layers[0].emit.values()))
        step = {letter: {"diagonal": [1]} for letter in passed}
        silent = {"start": [1], "step": step, "emit": [[[1], x, x] for x in passed]}
        return body | {"layers": [layers[0], silent, *layers[1:]]} if decoy == "zero" else None
    if decoy == "copied":
        return body | {"layers": [*layers, copy.deepcopy(layers[-1])]}
    if decoy == "loud":
        body = _wider(body)
        layers = copy.deepcopy(body["layers"])
    silent = copy.deepcopy(layers[0]) | {"residual": True}
    if decoy == "loud":
        width = len(silent["heads"][0]["output"])
        silent["mlp"] = {"in": [[0] * width], "bias": [1], "out": [[0]] * (width - 1) + [[LOUD]]}
    for part, name in [*((head, "output") for head in silent["heads"]), (silent.get("mlp"), "out")]:
        if part and not (decoy == "loud" and name == "out"):
            part[name] = [[0] * len(row) for row in part[name]]
    return body | {"layers": [layers[0], silent, *layers[1:]]}


def _wider(body: Body) -> Body:
    """The JSON of a net with one coordinate more, the last, that is 0 and that nothing reads."""

    def wide(part: Body, into: Sequence[str], out: str) -> Body:
        more = {name: [[*row, 0] for row in part[name]] for name in into}
        return part | more | {out: [*part[out], [0] * len(part[out][0])]}

    layers = copy.deepcopy(body["layers"])
    for layer in layers:
        layer["heads"] = [wide(x, ("query", "key", "value"), "output") for x in layer["heads"]]
        if "mlp" in layer:
            layer["mlp"] = wide(layer["mlp"], ("in",), "out")
    read, positions = body["read"], [*body.get("positions", ()), "0"]
    read = [[*row, 0] for row in read] if body.get("labels") else [*read, 0]
    return body | {"positions": positions, "layers": layers, "read": read}


# --- what measures say ---


def values(known: KnownNet, key: str, variant: str) -> dict[int, NDArray[np.float64]]:
    """By layer, from 0, what known_rules.csv takes of a measure, for each word: float64 (words,).

    Raises:
        AuditError: where the measure is not defined on the net.
    """
    model, sample = layered(known.net, name=known.name, layers="layers"), known.documents
    every = whole(model.depth)
    if variant == "error" or (key, variant) == ("exit_loss", "loss"):
        # What is read before a layer is what the layers before it make.
        routes = [
            every[:i] if key == "exit_loss" else without(model.depth, i, i)
            for i in range(model.depth)
        ]
        name, sign = ("right", -1) if variant == "error" else ("loss", 1)
        found = outcomes(model, sample, [every, *routes], [name])[name]
        return dict(enumerate(sign * (found[1:] - found[0])))
    if (key, variant) == ("settling_depth", "share"):
        depth = measure(model, sample, key, "mean").per_document[0]
        unsettled = 1 - measure(model, sample, key, variant).per_document[:-1]
        # The depth is the sum of the shares that are not settled before each layer.
        return dict(enumerate([depth - unsettled.sum(0), *unsettled]))
    told = [measure(model, sample, key, "attention" if variant == "parts" else variant)]
    if variant == "parts" and any(getattr(layer, "mlp", None) for layer in model.layers):
        told.append(measure(model, sample, key, "mlp"))
    by_layer: dict[int, NDArray[np.float64]] = {}
    for index, row in itertools.chain(*(zip(x.index, x.per_document, strict=True) for x in told)):
        # Of a block of one layer, or of a layer skipped and a later one.
        layer = index[0] if isinstance(index, tuple) else index
        row = abs(row - 1) if told[0].identity == 1 else 0 - row if variant == "change" else row
        by_layer[layer] = np.maximum(by_layer.get(layer, row), row)
    return by_layer

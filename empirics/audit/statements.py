"""Four published sentences on the layers of trained models, put to the test on the project's own.

The models are few and small: a verdict is of these models, not of all. Every interval that is
counted is at a level divided by all that are asked for one statement, so that a count of what
is sure is right as a whole at that level.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from depthlaw.theory.claims.verdict import Verdict

from .measures import Values
from .statistics import LEVEL, Estimate, agreement, mean, proportion, relative

# Fewer removals, of all models together, are no evidence of what is lost first.
FEWEST_REMOVALS = 8
# Rungs that stand for arithmetic and brackets, and for what is only looked up.
COUNTED, LOOKED_UP = ("brackets", "words", "parity"), ("copying", "recall")


@dataclass(frozen=True)
class Statement:
    """A sentence and what became of it.

    Attributes:
        says: the sentence, in words.
        source: the paper, and how its sentence is known here.
        reading: what it is taken to say of these models.
        verdict: HOLDS, FAILS or UNDECIDED, of these models.
        numbers: what decided it, by model.
    """

    key: str
    says: str
    source: str
    reading: str
    verdict: Verdict
    numbers: dict[str, Any]


@dataclass(frozen=True, eq=False)
class Answers:
    """What a model says on the ladder, whole and without each single layer.

    Attributes:
        ladders: of each rung, its ladder.
        chance: share right by the best strategy that does not solve a rung, see `baseline`; for
            each question, (rungs, questions).
        before: whether the whole model is right, bool (rungs, questions).
        after: the same without each layer, bool (layers, rungs, questions).
    """

    ladders: tuple[str, ...]
    chance: NDArray[np.float64]
    before: NDArray[np.bool_]
    after: NDArray[np.bool_]

    def had(self, level: float = LEVEL) -> NDArray[np.bool_]:
        """The rungs on which the whole model is surely better than chance, for all at once."""
        rungs, n = self.before.shape
        strict = 1 - (1 - level) / rungs
        low = [proportion(int(right.sum()), n, strict).low for right in self.before]
        return np.array(low) > self.chance.mean(1)


def repetition_degrades(repeats: Mapping[str, Values]) -> Statement:
    """Of "naive block reapplication usually degrades": `repeats` are plain repetitions by model. A
    block counts as degraded, or improved, where the interval lies on one side of 0."""
    shares = _shares(repeats)
    numbers = {
        name: {
            "blocks": len(of),
            "degraded": sum(share.low > 0 for share in of),
            "improved": sum(share.high < 0 for share in of),
        }
        for name, of in shares.items()
    }
    counts = [(n["degraded"], n["improved"], n["blocks"]) for n in numbers.values()]
    return Statement(
        "repetition-degrades",
        "Running a block of layers again usually degrades a model.",
        "arXiv:2605.23872, abstract",
        "In each model the loss surely rises for more than half of the blocks.",
        _usually(counts),
        numbers,
    )


def _shares(repeats: Mapping[str, Values], single: bool = False) -> dict[str, list[Estimate]]:
    """Of every block, or of single layers, the change of the loss as a share of the whole's."""
    chosen = {
        name: [
            row
            for block, row in zip(values.index, values.per_document, strict=True)
            if not single or len(set(np.atleast_1d(block))) == 1
        ]
        for name, values in repeats.items()
    }
    strict = 1 - (1 - LEVEL) / max(1, sum(map(len, chosen.values())))
    return {
        name: [relative(base + row, base, strict) for row in rows]
        for name, rows in chosen.items()
        if (base := repeats[name].baseline) is not None
    }


def _usually(counts: Sequence[tuple[int, int, int]]) -> Verdict:
    """Of (surely for, surely against, all) of each model: more than half in each."""
    if counts and all(2 * yes > all_ for yes, _, all_ in counts):
        return Verdict.HOLDS
    if any(2 * no >= all_ > 0 for _, no, all_ in counts):
        return Verdict.FAILS
    return Verdict.UNDECIDED


def one_layer_does_nothing(repeats: Mapping[str, Values], tolerance: float) -> Statement:
    """Of "single-layer duplication does nothing": the loss of every layer run twice lies within
    `tolerance` of the whole's; `repeats` as above."""
    shares = _shares(repeats, single=True)
    numbers = {
        name: {
            "layers": len(of),
            "beyond": sum(s.low > tolerance or s.high < -tolerance for s in of),
            "within": sum(-tolerance <= s.low and s.high <= tolerance for s in of),
            "least": min((s.value for s in of), key=abs, default=None),
            "largest": max((s.value for s in of), key=abs, default=None),
        }
        for name, of in shares.items()
    }
    verdict = Verdict.UNDECIDED
    if any(n["beyond"] for n in numbers.values()):
        verdict = Verdict.FAILS
    elif numbers and all(n["within"] == n["layers"] for n in numbers.values()):
        verdict = Verdict.HOLDS
    return Statement(
        "one-layer-does-nothing",
        "Running a single layer twice does nothing.",
        "Ng 2024 (RYS), printed; its author found gains by single layers later, reported",
        f"The loss of every model with any one layer run twice changes by at most {tolerance:.0%}.",
        verdict,
        numbers,
    )


def counted_is_lost_first(answers: Mapping[str, Answers]) -> Statement:
    """Of "arithmetic and brackets are lost first": without each single layer, the share that is
    lost of what a model answers beyond chance, in the mean over the rungs of `COUNTED` that it has,
    less that over those of `LOOKED_UP`. Question i of every rung is one document."""
    differences = {name: _differences(of) for name, of in answers.items()}
    had = {name: np.array(of.ladders)[of.had()] for name, of in answers.items()}
    strict = 1 - (1 - LEVEL) / max(1, sum(map(len, differences.values())))
    numbers: dict[str, dict[str, Any]] = {}
    for name, of in differences.items():
        estimates = [mean(documents, strict) for documents in of]
        numbers[name] = {
            "counted rungs": int(np.isin(had[name], COUNTED).sum()),
            "looked up rungs": int(np.isin(had[name], LOOKED_UP).sum()),
            "removals": len(of),
            "counted falls further": sum(one.low > 0 for one in estimates),
            "looked up falls further": sum(one.high < 0 for one in estimates),
            "mean difference": float(np.mean(of)) if len(of) else None,
        }
    counts = [
        (n["counted falls further"], n["looked up falls further"], n["removals"])
        for n in numbers.values()
        if n["removals"]
    ]
    enough = sum(map(len, differences.values())) >= FEWEST_REMOVALS
    return Statement(
        "counted-is-lost-first",
        "Arithmetic and balanced brackets are lost first when depth is cut.",
        "arXiv:2602.01997, abstract",
        "In each model products, parity and brackets surely lose a larger share than copying and "
        "recall, without more than half of the single layers; fewer than "
        f"{FEWEST_REMOVALS} removals that compare the two decide nothing.",
        _usually(counts) if enough else Verdict.UNDECIDED,
        numbers,
    )


def _differences(answers: Answers) -> NDArray[np.float64]:
    """By layer and question; their mean over questions is the difference of mean losses, and their
    spread that of the ratios, by the delta method. No row where a group has no rung."""
    had = answers.had()
    groups = [had & np.isin(answers.ladders, group) for group in (COUNTED, LOOKED_UP)]
    if not all(group.any() for group in groups):
        return np.empty((0, answers.before.shape[1]))
    beyond = answers.before - answers.chance
    fall = answers.before.astype(float) - answers.after
    scale = np.where(had, beyond.mean(1), np.inf)[:, None]
    ratio = fall.mean(2, keepdims=True) / scale
    lost = ratio + (fall - ratio * beyond) / scale
    found: NDArray[np.float64] = lost[:, groups[0]].mean(1) - lost[:, groups[1]].mean(1)
    return found


def order_depends_on_text(
    removals: Mapping[str, tuple[NDArray[np.float64], NDArray[np.float64]]],
) -> Statement:
    """Of "which layers are redundant depends on the calibration text": changes of the loss without
    each layer of each model on two texts, (layers, documents); some pair of layers has surely
    another order. Beside it two halves of the first text, whose orders are one by construction."""
    level = 1 - (1 - LEVEL) / max(1, len(removals))
    numbers, taus = {}, []
    for name, (one, other) in removals.items():
        n = min(one.shape[1], other.shape[1])
        tau = agreement(one[:, :n], other[:, :n], level=level)
        halves = agreement(one[:, : n // 2], one[:, n // 2 : 2 * (n // 2)], level=level)
        taus.append(tau)
        numbers[name] = {"two texts": _number(tau), "halves of one": _number(halves)}
    verdict = Verdict.UNDECIDED
    if any(tau.high < 1 for tau in taus):
        verdict = Verdict.HOLDS
    elif taus and all(tau.low == 1 for tau in taus):
        verdict = Verdict.FAILS
    return Statement(
        "order-depends-on-text",
        "Which layers are redundant depends on the calibration text.",
        "arXiv:2604.24938v3, abstract",
        "In some model two layers are surely in another order of cost on another text.",
        verdict,
        numbers,
    )


def _number(estimate: Estimate) -> dict[str, float]:
    return {"tau": estimate.value, "low": estimate.low, "high": estimate.high}

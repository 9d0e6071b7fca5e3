"""What an exercise is: what the text predicts, and which claims measure it."""

from __future__ import annotations

import tomllib
from dataclasses import dataclass
from functools import cache
from pathlib import Path

from depthlaw.theory.claims.symbols import quantity

loss = quantity(
    "loss", r"\ell", "validation loss of a language model in nats per token", "nonnegative real"
)


@dataclass(frozen=True)
class Exercise:
    """One exercise of the text.

    Attributes:
        number: in the text.
        name: on the command line.
        title: in one line.
        predicts: one paragraph: what the text says, and where.
        claims: keys of the claims that measure it.
        trains: which of the claims train one net for each case. They are measured before the
            others, which would wait for each other's nets.
    """

    number: int
    name: str
    title: str
    predicts: str
    claims: tuple[str, ...]
    trains: tuple[str, ...] = ()


@cache
def exercises() -> dict[str, Exercise]:
    """Every exercise by name, in the order of the text.

    >>> list(exercises())[:2]
    ['depth-ablation', 'initialisation']
    """
    text = Path(__file__).with_name("exercises.toml").read_text(encoding="utf-8")
    return {
        name: Exercise(
            row["number"],
            name,
            row["title"],
            row["predicts"],
            *(
                tuple(f"exercises/{claim}" for claim in row.get(of, ()))
                for of in ("claims", "trains")
            ),
        )
        for name, row in tomllib.loads(text).items()
    }

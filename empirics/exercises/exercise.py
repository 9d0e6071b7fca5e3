"""What an exercise is: what the text predicts, and which claims measure it."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cache
from importlib import import_module

from depthlaw.theory.claims.symbols import quantity

loss = quantity(
    "loss", r"\ell", "validation loss of a language model in nats per token", "nonnegative real"
)

# Listed, since the package also holds the nets, which cannot be imported without torch.
_MODULES = ("depth_ablation", "initial_scales", "gradient_flow", "layer_probing", "remove_layer")


@dataclass(frozen=True)
class Exercise:
    """One exercise of the text, which its module calls EXERCISE.

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
    listed = [import_module(f"{__package__}.{module}").EXERCISE for module in _MODULES]
    return {exercise.name: exercise for exercise in listed}

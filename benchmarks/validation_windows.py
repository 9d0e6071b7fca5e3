"""How far a comparison of depths depends on the 64 windows that losses are measured on: language
models of 82k weights in their layers, eight seeds, asked on all windows of the validation files.

    python benchmarks/validation_windows.py [1000 or 4000] [depths ...]

A trial, which no claim rests on. Of each depth it prints how much larger the mean loss is than that
of one layer, in nats: on the 64 windows of the records, on all 2,102, and its standard deviation
over other sets of 64, evenly spaced as those of the records are. After 1,000 updates it printed,
for one layer, 4.145 on the 64 and 4.208 on all; for two layers +0.114 and +0.127, sd over other
sets 0.008, standard error of all 0.002 (four minutes of CPU).
"""

from __future__ import annotations

import math
import sys

import torch
from torch.nn import functional

from depthlaw.empirics.depth_width import by_updates, language_models
from depthlaw.empirics.exercises.corpus import STANDARD
from depthlaw.empirics.exercises.language_model import texts
from depthlaw.empirics.training.trainer import train
from depthlaw.theory.claims.definition import Case

SEEDS = range(by_updates.SEEDS)
# As chosen for 1,000 and for 4,000 updates: `depth_width/chosen_rate`.
RATE_EXPONENTS = {1: -8, 2: -7, 3: -7, 4: -6, 6: -6, 12: -6}


def losses(depth: int, updates: int) -> torch.Tensor:
    """Mean losses of shape (seeds, windows)."""
    case = Case(
        attention="softmax",
        vocabulary=2000,
        heads=2,
        batch=8,
        length=64,
        parameters=by_updates.SIZE,
        steps=updates,
    )
    both = texts(STANDARD, case.vocabulary, case.length, "")
    rates = [2.0 ** RATE_EXPONENTS[depth]] * len(SEEDS)
    model = language_models.made(case, depth, rates, SEEDS)
    net = train(model.shape, both.training, model.settings).net.eval()
    asked = both.validation.windows(10**9)
    parts = []
    with torch.no_grad():
        for inputs, targets in zip(
            asked.inputs.split(16, 1), asked.targets.split(16, 1), strict=True
        ):
            said = net(inputs).float().movedim(-1, 1)
            of = functional.cross_entropy(
                said, targets.expand(len(SEEDS), -1, -1), reduction="none"
            )
            parts.append(of.mean(-1))
    return torch.cat(parts, 1)


def main(updates: int, depths: list[int]) -> None:
    """Print one line for each depth beside one layer."""
    torch.set_num_threads(1)
    base = losses(1, updates).mean(0)
    count = len(base)
    ours = torch.arange(language_models.WINDOWS) * count // language_models.WINDOWS
    shifts = range(1, count // language_models.WINDOWS)
    _say(f"1 layer: {base[ours].mean():.3f} on the 64, {base.mean():.3f} on all {count}")
    for depth in depths:
        more = losses(depth, updates).mean(0) - base
        others = torch.stack([more[(ours + k) % count].mean() for k in shifts])
        _say(
            f"{depth} layers: {more[ours].mean():+.3f} on the 64, {more.mean():+.3f} on all, "
            f"sd over other sets {others.std():.3f}, standard error of all "
            f"{more.std() / math.sqrt(count):.3f}"
        )


def _say(line: str) -> None:
    sys.stdout.write(f"{line}\n")
    sys.stdout.flush()


if __name__ == "__main__":
    given = [int(word) for word in sys.argv[1:]] or [1_000]
    if given[0] not in (1_000, 4_000):
        sys.exit("1000 or 4000 updates, for which learning rates were chosen")
    main(given[0], given[1:] or [2, 3, 12])

"""Whether the factors between trained errors and rank floors hang on the teacher: the students of
`trained_rank/floor_attained`, of teachers of seeds 0 to 3.

    python benchmarks/teacher_seeds.py [shape ...]

A trial, which no claim rests on; shapes are layers x width, such as 2x1. Written before any student
of seeds 1 to 3 was trained. Seed 0 is the teacher of the claims. For each shape and teacher it
prints the mean error over sixteen seeds of students, divided by the floor. If the factors of the
four teachers lie within a factor 2 of each other for a shape, the claim's note says so of it; if
they do not, it says how far they lie apart; and where one of them is on another side of the 1.1,
2 or 10 that the claim asks for than that of seed 0, it says that, too.

It printed, for seeds 0 to 3: 1x1 4.02 5.26 4.68 2.71, 1x2 3.95 4.92 6.54 2.79, 1x4 3.16 3.38 3.9
3.06, 1x8 3.27 3.21 3.39 3.85, 1x16 4.44 4.39 6.26 4.52, 2x1 6.56 11.4 11.2 6.22, 2x2 24.1 19.1 29.9
18.2 (seven minutes of CPU). 3x1 was not run, for want of time.
"""

from __future__ import annotations

import sys
from dataclasses import replace

import numpy as np
import torch

from depthlaw.empirics.trained_rank import floors, students
from depthlaw.theory.separation_rank.error_floor import rank_bound

SHAPES = ("1x1", "1x2", "1x4", "1x8", "1x16", "2x1", "2x2", "3x1")
TEACHERS = range(4)


def factor(layers: int, width: int, seed: int) -> float:
    """Mean error over seeds of students, in units of the floor."""
    case = floors._CPU(depth=layers, width=width)
    recipe = floors.recipe_of(case)
    teacher = replace(recipe.teacher, seed=seed)
    least = floors.floor(teacher, rank_bound(width, layers, case.tokens, case.vocabulary))
    errors = students._trained(replace(recipe, teacher=teacher), "cpu", None).errors
    return float(np.nan_to_num(errors, nan=1.0).mean() / float(least.low))


def main(shapes: list[str]) -> None:
    """Print one line for each shape."""
    torch.set_num_threads(1)
    for shape in shapes:
        layers, width = map(int, shape.split("x"))
        found = [factor(layers, width, seed) for seed in TEACHERS]
        sys.stdout.write(f"{shape}: {' '.join(f'{of:.3g}' for of in found)}\n")
        sys.stdout.flush()


if __name__ == "__main__":
    main(sys.argv[1:] or list(SHAPES))

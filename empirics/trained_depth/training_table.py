"""How the nets of every size are trained, as the table of docs/what-training-finds.md, which is
built where there is no torch: `python -m depthlaw.empirics.trained_depth.training_table` writes
it again."""

from __future__ import annotations

import csv
from pathlib import Path

from depthlaw.theory.claims.definition import Case

from .experiment import GRAPHS_OF, HOPS_OF, NETS
from .recipes import training


def trainings() -> list[tuple[str | int, ...]]:
    """How the nets of every size are trained, below a heading."""
    rows: list[tuple[str | int, ...]] = [
        (
            "suite",
            "task",
            "size",
            "width",
            "MLP",
            "heads",
            "updates",
            "batch",
            "learning rate",
            "seeds",
            "fresh examples of each seed",
        )
    ]
    for suite in dict.fromkeys((*GRAPHS_OF, *HOPS_OF)):
        cases = [
            Case(task="connectivity", net=NETS[0], vertices=n, diameter=diameter)
            for n, diameter in GRAPHS_OF.get(suite, {})
        ]
        cases += [
            Case(task=task, symbols=symbols, alphabet=alphabet, hops_max=k)
            for task, symbols, alphabet, k in HOPS_OF.get(suite, {})
        ]
        for case in cases:
            run = training(case, 2)
            shape, how = run.shape, run.settings
            size = (
                f"{case.vertices} vertices, D = {case.diameter}"
                if case.task == "connectivity"
                else f"{case.symbols} symbols of {case.alphabet}, k <= {case.hops_max}"
            )
            rows.append(
                (
                    # The net that is called quick is trained by suite full.
                    "full" if suite == "quick" else suite,
                    case.task,
                    size,
                    shape.width,
                    shape.mlp,
                    shape.heads,
                    how.steps,
                    how.batch,
                    " or ".join(f"{rate:g}" for rate in run.rates),
                    len(run.seeds),
                    run.examples,
                )
            )
    return rows


if __name__ == "__main__":
    with Path(__file__).with_suffix(".csv").open("w", encoding="utf-8", newline="") as file:
        csv.writer(file, lineterminator="\n").writerows(trainings())

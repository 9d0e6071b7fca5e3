"""How deep a net should be."""

from __future__ import annotations

from typing import TYPE_CHECKING, Unpack

from depthlaw.advisor.question import completed
from depthlaw.advisor.recommendation import recommend as answer

from ..notebook import show_answers
from .nets import with_net

if TYPE_CHECKING:
    from depthlaw.advisor.answer import Answer
    from depthlaw.advisor.budgets import Budget

    from .options import QuestionOptions


@completed(lambda option: True)
def recommend(
    budget: str | float | Budget | None = None, **options: Unpack[QuestionOptions]
) -> Answer:
    """How deep a net should be, in one buildable shape: the answer of `depthlaw depth` as data.

    Args:
        budget: all parameters, as a number (1.3e9) or as it is typed ("1.3B").
        options: those of `depthlaw depth`, as numbers or as they are typed (the fields of
            depthlaw.advisor.question.Question): what else there is to spend (gpu="H100", gpus=64,
            time="2 weeks"), what the shape must obey (pipeline=4), a `config` to judge, or a
            `task`.

    Returns:
        One `Answer`: `shape` is recommended, `interval` and `laws` stand beside it. Printed, it
        is what the command prints.

    Raises:
        UsageError: (depthlaw.advisor.base.quantities) when something is missing, unknown or cannot
            be built, in one line.

    Cost: milliseconds; loads neither NumPy nor SymPy.

    >>> answer = recommend("1.3B")
    >>> answer.layers, answer.floor.layers, answer.floor.source
    (28, 8, 'levine2020, arXiv:2006.12467v1, abstract; inverted here')
    >>> recommend(task="hops", hops=16).tasks[0].numbers[0].layers
    6
    """
    show_answers()
    return answer(budget, **with_net(dict(options)))

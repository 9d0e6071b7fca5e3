"""How deep a net should be."""

from __future__ import annotations

from typing import TYPE_CHECKING, Unpack

from depthlaw.advisor.base.quantities import UsageError
from depthlaw.advisor.question import completed
from depthlaw.advisor.recommendation import recommend as answer
from depthlaw.advisor.trades import layers_of
from depthlaw.advisor.words import with_losses

from ..notebook import show_answers
from .nets import with_net

if TYPE_CHECKING:
    from depthlaw.advisor.answer import Answer
    from depthlaw.advisor.budgets import Budget

    from .fit import Losses, LossFit
    from .options import QuestionOptions


@completed(lambda option: True)
def recommend(
    budget: str | float | Budget | None = None,
    *,
    losses: Losses | LossFit | None = None,
    **options: Unpack[QuestionOptions],
) -> Answer:
    """Recommend a depth, in one buildable shape: the answer of `depthlaw depth` as data.

    Args:
        budget: all parameters, as a number (1.3e9) or as it is typed ("1.3B").
        losses: of nets that you trained, as for `depthlaw.fit`, or what it returns: what they say
                of this net.
        options: those of `depthlaw depth`, as numbers or as they are typed (the fields of
            depthlaw.advisor.question.Question): what else there is to spend (gpu="H100", gpus=64,
            time="2 weeks"), what the shape must obey (pipeline=4), a net to judge (`hf`), or a
            `task`.

    Returns:
        One `Answer`: `shape` is recommended, `interval` and `laws` stand beside it. Printed, it
        is what the command prints.

    Raises:
        UsageError: (depthlaw.advisor.base.quantities) when something is missing, unknown or cannot
            be built, in one line.

    Cost: milliseconds, and neither NumPy nor SymPy; with `losses` seconds, and SciPy.

    >>> answer = recommend("1.3B")
    >>> answer.layers, answer.floor.layers, answer.floor.source
    (28, 8, 'levine2020, arXiv:2006.12467v1, abstract; inverted here')
    >>> recommend(task="hops", hops=16).tasks[0].numbers[0].layers
    6
    """
    show_answers()
    found = answer(budget, **with_net(dict(options)))
    return found if losses is None else with_own_losses(found, losses)


def with_own_losses(found: Answer | None, losses: Losses | LossFit) -> Answer:
    """An answer with what losses of somebody's own say of its net.

    Raises:
        UsageError: where no net is asked for, and as `fit`.
    """
    if found is None or found.shape is None:
        raise UsageError(
            "--losses compares your losses with a net, and there is no net; try "
            "depthlaw depth 1B --losses FILE"
        )
    # NumPy and SciPy, which no other answer needs.
    from .fit import LossFit, fit_of_net

    net = layers_of(found.shape.architecture)
    fitted = losses if isinstance(losses, LossFit) else fit_of_net(losses)
    own = fitted.next_net(net.parameters, net.per_layer)
    # What is published is that of the answer: of its kind of net, tokens and year.
    by = next((law.depth for law in found.laws if law.key == found.rule), own.rule)
    within = found.interval.ends if found.interval else None
    return with_losses(found, own._replace(rule=by, within=within))

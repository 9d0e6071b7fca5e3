"""How deep a net should be for what somebody has: one buildable shape, and what speaks for it."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Any

from .answer import Answer
from .base.quantities import UsageError
from .budgets import Budget
from .decide import decide, given_net, judge, judge_shape
from .question import Question, typed as typed_as
from .rules import rules
from .shapes import Constraints, demands_of
from .task_depths import OPTIONS as TASK_OPTIONS, TaskAnswer, answer_task, refuse_options
from .words import answer_of, answer_to_task, hybrid_answer, of_tensors, with_tensors

if TYPE_CHECKING:
    from .checkpoint import GivenNet


def recommend(
    budget: str | float | Budget | None = None,
    *,
    constraints: Constraints | None = None,
    **options: Any,
) -> Answer:
    """Recommend a depth for a budget, a configuration or a task: a buildable shape, its evidence.

    Args:
        budget: all parameters, as a number or as it is typed ("3B"); or a Budget.
        constraints: what the shape must obey; by default what nets of this size have.
        options: those of a Question, as numbers or as they are typed: what there is to spend
            (gpu="H100", gpus=64, hours="2 weeks"), what the shape must obey (pipeline=4), `hf`, a
            net to judge (an Architecture, or the path of a config.json), a `task` with what it
            needs, or `known_by`, a year: rules, grids and models of later years are left out.

    Raises:
        UsageError: (depthlaw.advisor.base.quantities) when nothing is asked, something contradicts,
            or no shape can be built, in one line with what to try.

    Cost: some 30 ms the first time; loads neither NumPy nor SymPy.

    >>> answer = recommend("3B", pipeline=4)
    >>> answer.shape.architecture.layers % 4, answer.floor.layers, answer.floor.meaning
    (0, 8, 'floor')
    >>> recommend(task="hops", hops=16).tasks[0].headline
    '6 layers suffice for 16 hops: ceil(log_2 k) + 2'
    """
    if isinstance(budget, Budget):
        return answer_to(Question.read(**options), budget, constraints)
    return answer_to(Question.read(budget=budget, **options), constraints=constraints)


def answer_to(
    question: Question, budget: Budget | None = None, constraints: Constraints | None = None
) -> Answer:
    """The answer to a question, whose options come before those of a Budget and of Constraints."""
    spent, known_by, net = question.of(Budget), question.known_by, _given(question)
    config = None if net is None else net.architecture
    have = None
    if budget or spent.keys() - {"tensor", "pipeline"}:  # which alone are demands on a shape
        have = replace(budget or Budget(), **spent)
    demanded = replace(constraints or Constraints(), **question.of(Constraints))
    if have is not None or config is not None:
        oldest = min(r.year for r in rules() if r.eligible)
        if known_by is not None and known_by < oldest:
            raise UsageError(
                f"no listed rule named a depth by {known_by}: the oldest is of {oldest}; "
                f"try --known-by {oldest}"
            )
    typed = {
        name: None if (value := getattr(question, name)) is None else str(value)
        for name in TASK_OPTIONS
    }
    tasks: tuple[TaskAnswer, ...] = ()
    if question.task is not None:
        tasks = (answer_task(question.task, known_by, question.atlas, **typed),)
    else:
        refuse_options(typed)
        if question.atlas is not None:
            raise UsageError("--atlas adds tasks, and there is no task; give --task TASK")
    mixer = question.mixer
    if mixer is not None and config is None and have is None:
        raise UsageError(
            "--mixer is about the layers of a net, and no size is given; try depthlaw depth 3B "
            f"--mixer {mixer}"
        )
    if mixer is not None and config is not None and config.mixed:
        raise UsageError(
            "--mixer asks which layers of a net to make attention, and this configuration says so "
            "itself; leave it out"
        )
    if net is not None and net.stored is not None and config is None:
        for name in (*spent, *demands_of(demanded)):
            sized = name in ("total", "nonembedding", "active")
            option = "a size" if sized else typed_as(name, (vars(demanded) | spent)[name])
            raise UsageError(
                f"{option} and a net of which the tensors alone are known: they say its size, and "
                "not enough for more; leave it out, or give a configuration of a known class"
            )
        return of_tensors(net, tasks, known_by)
    if net is not None and config is not None and config.mixed:
        # Nothing is known of how to split layers of several kinds.
        a, resolved = given_net(config, have or Budget(), demanded, ("context",), net.named)
        return with_tensors(hybrid_answer(a, resolved, demanded, tasks, known_by), net)
    if net is not None and config is not None:
        decision = judge(config, have or Budget(), demanded, known_by, net.named)
    elif None not in (demanded.layers, demanded.width) and (have is None or have.size is None):
        decision = judge_shape(demanded, have or Budget(), known_by)
    elif have is not None:
        decision = decide(have, demanded, known_by)
    elif tasks and (idle := demands_of(demanded)):
        option = typed_as(idle[0], getattr(demanded, idle[0]))
        raise UsageError(
            f"{option} is about a shape, and a task alone asks for none; leave it out, or give a "
            "size too, as in depthlaw depth 3B"
        )
    elif tasks:
        return answer_to_task(tasks[0])
    else:
        raise UsageError(
            "nothing to answer: give a size (3B, 350M, 7e9), --layers and --width, --flops, "
            "--gpu and --time, --hf or --task; try depthlaw depth 3B, or --task hops --hops 16"
        )
    answer = answer_of(decision, tasks, mixer)
    return with_tensors(answer, net) if net is not None else answer


def _given(question: Question) -> GivenNet | None:
    """The net that a question is about, where one is given."""
    if question.hf is not None and question.safetensors is not None:
        raise UsageError(
            "--hf and --safetensors: give one of them; --hf FOLDER reads the header beside the "
            "configuration too"
        )
    if (given := question.hf or question.safetensors) is None:
        return None
    from .checkpoint import GivenNet

    return given if isinstance(given, GivenNet) else GivenNet(given)

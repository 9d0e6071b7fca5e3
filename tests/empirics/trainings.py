"""Trainings that are killed on the way, and nets that answer what a test says."""

from contextlib import contextmanager
from itertools import count

import pytest

from depthlaw.empirics.training.depth_search import Answers


@contextmanager
def killed(owner, name, call):
    """What is inside ends where it would call a function for the so-manyth time."""
    right, calls = getattr(owner, name), count(1)

    def until(*arguments):
        if next(calls) == call:
            raise KeyboardInterrupt
        return right(*arguments)

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(owner, name, until)
        with pytest.raises(KeyboardInterrupt):
            yield


def answered(groups, *shares, trials=4000, **fields):
    """Answers of a net for each row of shares that are right, one for each group."""
    nets, right = len(shares), [tuple(round(trials * share) for share in row) for row in shares]
    counts = {"right": tuple(right), "trials": ((trials,) * len(groups),) * nets}
    given = {"rate": 1e-3, "status": ("success",) * nets, "steps": (1,) * nets} | fields
    return Answers(groups=tuple(groups), **counts, **given)

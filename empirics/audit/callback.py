"""An audit during training: a callback for `transformers.Trainer`."""

from __future__ import annotations

import logging
from collections.abc import Callable, Sequence
from typing import Any

from transformers import TrainerCallback

from . import AuditError
from .audit import GROUPS, audit
from .documents import Documents
from .layered import layered
from .measures import MEASURES
from .models import undisturbed
from .results import Audit
from .statistics import asked_level


class AuditCallback(TrainerCallback):
    """Audits the model in memory as it trains, and leaves it as it was: its weights, gradients,
    training mode and the state of every random generator of torch.

    The first audit is of the model before its first step. Where a later one is refused, as of
    weights that are no longer finite, the training goes on and `refused` says why. Only the main
    process audits. Weights that are split over processes cannot be audited.

    Args:
        documents: see `from_text` and `random_documents`; the same at every step.
        every: steps between audits; by default one at each evaluation of the Trainer.
        groups: what is measured, of `GROUPS`.
        level: of the intervals, from 0.5 to 0.9999.
        seed: of splits.
        layers: dotted name of the module list, where more than one could be meant.
        log: `trainer.log`, which hands the values to all that listen to it; by default they are
            added to the log history of the Trainer's state.

    Attributes:
        history: the audits, by step.
        refused: why there is none, by step.

    Raises:
        AuditError: for groups that do not exist, another level or `every` below 1, and, as the
            training begins, for a model or documents that cannot be audited.

    Cost: of an audit without null models: with the usual groups of L layers about L / 2 + 2 passes
    over the documents.

    >>> from depthlaw.empirics.audit.documents import random_documents
    >>> AuditCallback(random_documents(100, tokens=16), every=0)
    Traceback (most recent call last):
    depthlaw.empirics.audit.AuditError: every=0: accepted are whole numbers of steps from 1
    """

    def __init__(
        self,
        documents: Documents,
        *,
        every: int | None = None,
        groups: Sequence[str] = ("states", "removal"),
        level: float = 0.95,
        seed: int = 0,
        layers: str | None = None,
        log: Callable[[dict[str, float]], object] | None = None,
    ) -> None:
        if every is not None and every < 1:
            raise AuditError(f"every={every}: accepted are whole numbers of steps from 1")
        for name in groups:
            if name not in GROUPS:
                raise AuditError(f"group {name!r} is not known; accepted are {', '.join(GROUPS)}")
        self.documents, self.every, self.groups = documents, every, tuple(groups)
        self.level, self.seed = asked_level(level), seed
        self.layers, self.log = layers, log
        self.history: dict[int, Audit] = {}
        self.refused: dict[int, str] = {}

    def on_train_begin(self, args: Any, state: Any, control: Any, **known: Any) -> None:
        """Audit the model before its first step."""
        if state.is_world_process_zero:
            self._audit(known["model"], state, control)

    def on_step_end(self, args: Any, state: Any, control: Any, **known: Any) -> None:
        """Audit every so many steps, where that was asked."""
        if self.every and state.global_step % self.every == 0:
            self._tried(known["model"], state, control)

    def on_evaluate(self, args: Any, state: Any, control: Any, **known: Any) -> None:
        """Audit at an evaluation, unless every so many steps was asked."""
        if not self.every and state.global_step not in self.history:
            self._tried(known["model"], state, control)

    def _tried(self, net: Any, state: Any, control: Any) -> None:
        if not state.is_world_process_zero:
            return
        try:
            self._audit(net, state, control)
        except AuditError as error:
            self.refused[state.global_step] = str(error)
            logging.getLogger(__name__).warning("no audit at step %d: %s", state.global_step, error)

    def _audit(self, net: Any, state: Any, control: Any) -> None:
        with undisturbed():
            found = audit(
                layered(net, layers=self.layers),
                self.documents,
                groups=self.groups,
                nulls=(),
                level=self.level,
                seed=self.seed,
            )
        self.history[state.global_step] = found
        values = flat(found)
        if self.log is None:
            state.log_history.append({**values, "step": state.global_step})
            return
        # A log in the middle of a step must not take the place of the Trainer's own.
        due = control.should_log
        self.log(values)
        control.should_log = due


def flat(found: Audit) -> dict[str, float]:
    """The values of an audit under one name each, as loggers take them.

    A name is audit/MEASURE_layer_N, from 1, or audit/MEASURE_layers_N_M of a pair or a block; a
    variant other than the first of its measure stands behind the measure. Beside them stands
    audit/loss, of the whole model.
    """
    values = {} if found.loss is None else {"audit/loss": found.loss.value}
    for table in found.tables:
        usual = table.variant == next(iter(MEASURES[table.key].variants))
        name = table.key if usual else f"{table.key}_{table.variant}"
        for row in table.rows:
            first, last = row.first + 1, row.last + 1
            place = f"layer_{first}" if first == last else f"layers_{first}_{last}"
            values[f"audit/{name}_{place}"] = row.estimate.value
    return values

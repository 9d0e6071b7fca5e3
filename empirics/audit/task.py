"""A task as a second objective: nats for each token of the right answer, given its prompt."""

from __future__ import annotations

import json
import os
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from depthlaw.advisor.base.quantities import quoted

from . import AuditError
from .documents import IGNORED, LEAST, Documents, read_text, special_ids
from .ladder import Encode, encoding
from .layered import LayeredModel
from .rungs import ladder, questions


class _Item(NamedTuple):
    """A question, its answer as it stands behind the prompt, and where it comes from."""

    where: str
    prompt: str
    answer: str


class _Ids(NamedTuple):
    """Tokens of a question with its answer, where the answer begins, and whether it was encoded
    apart."""

    ids: list[int]
    start: int
    apart: bool


def task_documents(
    model: LayeredModel,
    tokenizer: Any,
    task: str | Path,
    documents: int = 64,
    seed: int = 0,
) -> Documents:
    """Questions of a task, one document each, scored at the tokens of the answer.

    An answer follows its prompt as it stands. Where the tokens of both together do not begin with
    those of the prompt, the answer is encoded apart; `cut` says how often. Shorter questions are
    filled up behind the answer, where a causal model does not look.

    Args:
        task: a file of lines {"prompt": ..., "answer": ...}, of which a choice by the seed is kept
            where there are more than `documents`; or the name of a ladder of abilities, whose
            levels that the model has room for are asked alike often.
        tokenizer: see `from_text`; a ladder is also asked without one, word by word.

    Raises:
        AuditError: for a model that is not causal or has no head, a task that is neither, a line
            that is no question, fewer than 8 questions, and one longer than the model accepts.
    """
    model.need_head()
    if not model.causal:
        raise AuditError(f"{model.name} is not causal, and a task asks what comes next")
    names = dict.fromkeys(rung.ladder for rung in ladder())
    longest = model.longest or float("inf")
    before = [] if tokenizer is None else special_ids(tokenizer)[0]
    encode = encoding(model, tokenizer)
    if os.path.isfile(task):
        if tokenizer is None:
            raise AuditError(
                f"{model.name} has no tokenizer, so a task has no tokens; put the tokenizer's "
                f"files beside the weights, or ask for one of {', '.join(names)}"
            )
        items, cut = _of_file(Path(task), documents, seed)
        found = [_ids_of(item, model, encode, before) for item in items]
        for item, one in zip(items, found, strict=True):
            if len(one.ids) > longest:
                raise AuditError(
                    f"{item.where}: {len(one.ids)} tokens, but {model.name} accepts at most "
                    f"{longest}; give shorter prompts"
                )
        source = str(task)
    elif str(task) in names:
        try:
            found, cut = _of_ladder(str(task), model, encode, before, documents, seed)
        except AuditError:
            raise
        except ValueError as error:
            raise AuditError(f"{model.name}: {error}; put a tokenizer beside the weights") from None
        source = f"questions of the ladder {task}, seed {seed}"
    else:
        raise AuditError(
            f"the task {quoted(str(task))} is neither a file nor a ladder; accepted are a file of "
            f'lines {{"prompt": ..., "answer": ...}}, and {", ".join(names)}'
        )
    most = max(len(one.ids) for one in found)
    ids = np.array([one.ids + one.ids[-1:] * (most - len(one.ids)) for one in found], np.int64)
    labels = np.full_like(ids, IGNORED)
    for row, one in zip(labels, found, strict=True):
        row[one.start - 1 : len(one.ids) - 1] = one.ids[one.start :]
    cut["answers encoded apart"] = sum(one.apart for one in found)
    return Documents(ids, "task", source, cut, labels=labels)


def _of_file(file: Path, documents: int, seed: int) -> tuple[list[_Item], dict[str, Any]]:
    source, text = read_text(file)
    lines = enumerate(text.split("\n"), 1)
    asked = [_item(f"{source}, line {number}", line) for number, line in lines if line.strip()]
    items = list({(item.prompt, item.answer): item for item in asked}.values())
    again = len(asked) - len(items)
    if len(items) < LEAST:
        raise AuditError(
            f"{source} has {len(items)} different questions; {LEAST} are needed for an interval"
        )
    rest = max(0, len(items) - documents)
    if rest:
        chosen = np.random.default_rng(seed).choice(len(items), documents, replace=False)
        items = [items[i] for i in sorted(chosen)]
    return items, {"asked again": again, "not chosen": rest}


def _item(where: str, line: str) -> _Item:
    form = 'give lines such as {"prompt": "2 + 2 =", "answer": " 4"}'
    try:
        told = json.loads(line)
    except (ValueError, RecursionError):
        raise AuditError(f"{where}: no JSON; {form}") from None
    parts = []
    for key in ("prompt", "answer"):
        part = told.get(key) if isinstance(told, dict) else None
        # A lone surrogate is no text.
        if not isinstance(part, str) or not part.encode(errors="ignore"):
            raise AuditError(f"{where}: no {key}; {form}")
        parts.append(part.encode(errors="ignore").decode())
    return _Item(where, *parts)


def _of_ladder(
    name: str,
    model: LayeredModel,
    encode: Encode,
    before: list[int],
    documents: int,
    seed: int,
) -> tuple[list[_Ids], dict[str, Any]]:
    by_level: dict[int, list[_Ids]] = {}
    for rung in ladder():
        if rung.ladder != name:
            continue
        where = f"{name} {rung.level}"
        items = [
            _Item(where, one.prompt, f" {one.candidates[one.right]}")
            for one in questions(rung, documents, seed)
        ]
        level = [_ids_of(item, model, encode, before) for item in items]
        if max(len(one.ids) for one in level) <= (model.longest or np.inf):
            by_level[rung.level] = level
    if not by_level:
        raise AuditError(
            f"the questions of {name} are longer than the {model.longest} tokens that {model.name} "
            "accepts; take another task"
        )
    mixed = [one for of_place in zip(*by_level.values(), strict=True) for one in of_place]
    return mixed[:documents], {"ladder": name, "levels": " ".join(map(str, by_level))}


def _ids_of(item: _Item, model: LayeredModel, encode: Encode, before: list[int]) -> _Ids:
    own, whole, answer = map(encode, (item.prompt, item.prompt + item.answer, item.answer))
    apart = whole[: len(own)] != own or len(whole) == len(own)
    ids = [*before, *own, *(answer if apart else whole[len(own) :])]
    start = len(before) + len(own)
    if not own or len(ids) == start:
        part = "answer" if own else "prompt"
        raise AuditError(f"{item.where}: the tokenizer makes no token of the {part}")
    if max(ids) >= model.accepted:
        raise AuditError(
            f"{item.where}: id {max(ids)}, but {model.name} accepts 0 to {model.accepted - 1}; "
            "take the tokenizer that belongs to the model"
        )
    return _Ids(ids, start, apart)

"""Is the depth of a trained model used: `depthlaw audit`."""

from __future__ import annotations

import operator
import os
import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from importlib.util import find_spec
from pathlib import Path
from typing import TYPE_CHECKING, Any

from depthlaw.advisor.base.quantities import UsageError, parse_share, plural, quoted

from ..records.environment import installing
from .report import Picture, Report

if TYPE_CHECKING:
    from depthlaw.empirics.audit.layered import LayeredModel, Route
    from depthlaw.empirics.audit.records import Store
    from depthlaw.empirics.audit.results import Audit

# Documents, and tokens of each, where nothing is asked; most random tokens in all.
DOCUMENTS, TOKENS, MOST = 64, 256, 10**8

Tick = Callable[[str, int, int], object]


@dataclass(frozen=True, repr=False)
class AuditReport(Report):
    """The findings of an audit of one model.

    Attributes:
        audit: all values, see `depthlaw.empirics.audit.results`.
    """

    audit: Audit

    def rows(self) -> list[dict[str, Any]]:
        """A row for each layer or block of each measure, or for how many layers are kept."""
        kept = "path_length", "kept"
        return [
            {
                "measure": table.key,
                "variant": table.variant,
                "size": table.size,
                "first": row.first + ((table.key, table.variant) != kept),
                "last": row.last + ((table.key, table.variant) != kept),
                "value": row.estimate.value,
                "low": row.estimate.low,
                "high": row.estimate.high,
                "unit": table.unit,
                "call": row.call.value if row.call else "",
            }
            for table in self.audit.tables
            for row in table.rows
        ]

    def to_json(self) -> dict[str, Any]:
        """The data that `depthlaw audit --json` prints; the schema is `audit_schema()`."""
        return self.audit.to_json()

    def markdown(self) -> str:
        """One page, for a model card."""
        from ..publish.audit.page import markdown

        return markdown(self.audit)

    def save(self, file: str | Path) -> Path:
        """Write the page as .md, .html or .pdf.

        Raises:
            UsageError: for another end, and where the extra appendix is not installed.
        """
        from ..publish.audit.page import written
        from ..records.store import write_file

        place = Path(file)
        write_file(place, written(self.audit, place.suffix))
        return place

    def plot(self) -> Picture:
        """Every measure by layer, beside its null models."""

        def drawn(form: str) -> bytes:
            from ..publish.audit.pictures import panels
            from ..publish.drawing.line_plot import stacked

            return stacked(panels(self.audit), form)

        return Picture(drawn)

    def summary(self) -> str:
        """The model, and what its first sentence says."""
        from ..publish.audit.sentences import answer

        return f"{self.audit.model.name}: {answer(self.audit)}"


def audit(
    model: Any,
    tokenizer: Any = None,
    text: str | Path | None = None,
    *,
    tokens: int = TOKENS,
    documents: int = DOCUMENTS,
    law: str = "zipf",
    measures: str | Sequence[str] = "usual",
    blocks: int | Sequence[int] = (),
    task: str | Path | None = None,
    draws: int = 1,
    ladder: bool = False,
    without: str = "",
    repeat: str = "",
    against: Any = None,
    questions: int = 200,
    tolerance: float | str = "1%",
    level: float = 0.95,
    seed: int = 0,
    layers: str | None = None,
    folder: str | Path | None = None,
    announce: Callable[[str], object] = lambda sentence: None,
    tick: Tick = lambda what, done, total: None,
) -> AuditReport:
    """Measure what each layer of a trained model does: `depthlaw audit`.

    A model in memory stays as it is: weights, gradients, training mode, and the state of torch's
    random generators.

    Args:
        model: a folder as `save_pretrained` writes it, or one with an explicit net; a name of
            `depthlaw measure` (fresh weights); or a module of torch in memory.
        tokenizer: of a model in memory, or a function from a string to ids; that of a folder lies
            there.
        text: a text, or the path of a file; without it tokens are random, and an explicit net is
            asked words of its task.
        tokens, documents: of each document, or as many as the model accepts; and how many.
        law: of random tokens: zipf or uniform.
        measures: "usual", "all", or names of groups: states, parts, removal, exits, changes,
            skips, paths.
        blocks: sizes of blocks of layers, each searched for the one that costs least to remove;
            with the measures changes also to run twice or to swap.
        task: a second objective: a file of lines {"prompt": ..., "answer": ...}, or the name of a
            ladder of abilities; layers are removed on its answers too.
        draws: of each null model. From 19 on, at a level of 0.95, a measure is told from the law
            of the draws, otherwise from the drawn ones alone.
        ladder: ask a causal model the questions of the ladder of abilities.
        without, repeat: layers such as "5-8", from 1, that the ladder is asked without, or with
            twice.
        against: another model that the ladder is asked of.
        questions: of each rung.
        tolerance: share of the loss that a layer may cost and still be called superfluous.
        level: of the intervals, from 0.5 to 0.9999.
        seed: of documents, splits and null models.
        layers: dotted name of the module list, where more than one could be meant.
        folder: where measurements are kept; by default depthlaw's folder among your data. Those of
            a class that is not of transformers are not kept, since its code may change.
        announce: hears how long a search over blocks will take, and of documents that are shorter
            than asked.
        tick: hears what runs, and what is done of all.

    Raises:
        UsageError: in one line, for a model, a text or an option that cannot be used.

    Cost: with the usual measures of L layers about L passes and 2 L heads over all tokens, and as
    many over 16 documents for each draw of a null model. Memory: one model more for the null
    models; of the streams one beside that of the route, in the search over blocks too, which keeps
    no prefixes.
    """
    if not all(map(find_spec, ("torch", "transformers"))):
        raise UsageError(f"an audit needs PyTorch and transformers; {installing('hf')}")
    from depthlaw.empirics.audit.audit import GROUPS, USUAL, audit as audited, forecast
    from depthlaw.empirics.audit.models import undisturbed
    from depthlaw.empirics.audit.records import named_code
    from depthlaw.empirics.audit.statistics import asked_level
    from depthlaw.empirics.audit.task import task_documents

    share = float(parse_share(tolerance, "tolerance") if isinstance(tolerance, str) else tolerance)
    groups = _groups(measures, USUAL, tuple(GROUPS))
    for name, number, least in (
        ("tokens", tokens, 2),
        ("documents", documents, 8),
        ("questions", questions, 1),
        ("draws", draws, 1),
        ("seed", seed, 0),
    ):
        _whole(name, number, least)
    listed = blocks if isinstance(blocks, Sequence) else [blocks]
    sizes = [_whole("blocks", size, 1) for size in listed]
    asked_level(level)
    if (without or repeat or against is not None) and not ladder:
        raise UsageError(
            "without, repeat and against change what the ladder is asked of; add --ladder, or for "
            "the loss ask for --blocks"
        )
    if sum(map(bool, (without, repeat, against is not None))) > 1:
        raise UsageError("give one of without, repeat and against")
    with undisturbed():
        opened, words = _model(model, tokenizer, layers, seed)
        sample = _documents(opened, words, text, tokens, documents, law, seed)
        asked = None
        if task is not None:
            if not isinstance(task, str | Path):
                raise UsageError(f"a {type(task).__name__} is not a task; give a path or a name")
            asked = task_documents(opened, words, task, documents, seed)
        if sizes and opened.head:
            minutes = forecast(opened, sample, sizes, groups) / 60
            said = f"{minutes:.0f} minutes" if minutes >= 1.5 else "a minute or less"
            announce(
                f"The search over blocks takes about {said}. If stopped, the same command goes on "
                "with what is done."
            )
        store = _store(folder) if named_code(opened) else None
        climbed = (
            _climbed(opened, words, without, repeat, against, questions, level, seed, store, tick)
            if ladder
            else ()
        )
        if tokens > sample.tokens == opened.longest:
            announce(f"Documents have {sample.tokens} tokens, the longest that the model accepts")
        return AuditReport(
            audited(
                opened,
                sample,
                groups=groups,
                blocks=sizes,
                draws=draws,
                tolerance=share,
                level=level,
                seed=seed,
                store=store,
                task=asked,
                ladder=climbed,
                changed=_changed(without, repeat, against),
                tick=tick,
            )
        )


def _whole(name: str, value: Any, least: int) -> int:
    if not hasattr(value, "__index__") or not least <= operator.index(value) < 2**63:
        said = value if isinstance(value, int) else quoted(str(value))
        raise UsageError(f"{name}={said}: accepted are whole numbers from {least} to 2^63 - 1")
    return operator.index(value)


def _store(folder: str | Path | None) -> Store:
    """Where measurements are kept: made now, so that none is lost in the end."""
    from platformdirs import user_data_path

    from depthlaw.empirics.audit.records import Store

    place = Path(folder) if folder is not None else user_data_path("depthlaw") / "audits"
    try:
        place.mkdir(parents=True, exist_ok=True)
        reason = "" if os.access(place, os.W_OK | os.X_OK) else "Permission denied"
    except (OSError, ValueError) as error:
        reason = getattr(error, "strerror", "") or type(error).__name__
    if reason:
        raise UsageError(
            f"{quoted(str(place))} cannot keep measurements: {reason}; give another folder"
        )
    return Store(place)


def _groups(
    asked: str | Sequence[str], usual: Sequence[str], known: Sequence[str]
) -> tuple[str, ...]:
    names = re.split(r"[,\s]+", asked.strip()) if isinstance(asked, str) else list(asked)
    chosen: list[str] = []
    for name in names:
        if name not in ("usual", "all", *known):
            raise UsageError(
                f"measures {quoted(name)}: accepted are usual, all, {', '.join(known)}"
            )
        chosen += usual if name == "usual" else known if name == "all" else [name]
    return tuple(dict.fromkeys(chosen))


def _model(model: Any, tokenizer: Any, layers: str | None, seed: int) -> tuple[LayeredModel, Any]:
    from depthlaw.empirics.audit.layered import LayeredModel, layered
    from depthlaw.empirics.audit.models import opened

    if isinstance(model, str | Path):
        found, own = opened(model, layers=layers, seed=seed)
        return found, tokenizer or own
    if isinstance(model, LayeredModel):
        return model, tokenizer
    if not hasattr(model, "named_parameters"):
        raise UsageError(
            f"a {type(model).__name__} is not a model; accepted are a folder, a name of `depthlaw "
            "measure`, and a module of torch"
        )
    return layered(model, layers=layers), tokenizer


def _documents(
    model: LayeredModel,
    tokenizer: Any,
    text: str | Path | None,
    tokens: int,
    documents: int,
    law: str,
    seed: int,
) -> Any:
    from depthlaw.empirics.audit.documents import from_text, random_documents
    from depthlaw.empirics.audit.explicit import ExplicitNet
    from depthlaw.empirics.audit.models import words_of

    if text is None and isinstance(model.net, ExplicitNet):
        return words_of(model.net, tokens, documents, seed)
    longest = min(tokens, model.longest or tokens)
    if text is None:
        if documents * longest > MOST:
            raise UsageError(
                f"{documents:,} documents of {longest:,} tokens: accepted are at most {MOST:,} "
                "random tokens in all"
            )
        return random_documents(model.accepted, law, longest, documents, seed, model.padding)
    if tokenizer is None:
        raise UsageError(
            f"{model.name} has no tokenizer, so a text has no tokens; leave --text out for random "
            "tokens, or put the tokenizer's files beside the weights"
        )
    if not isinstance(text, str | Path):
        raise UsageError(f"a {type(text).__name__} is not a text; give a string or a path")
    if isinstance(text, str) and "\n" not in text and os.path.isfile(text):
        text = Path(text)
    return from_text(text, tokenizer, longest, documents, seed)


def _climbed(
    model: LayeredModel,
    tokenizer: Any,
    without: str,
    repeat: str,
    against: Any,
    questions: int,
    level: float,
    seed: int,
    store: Store | None,
    tick: Tick,
) -> tuple[Any, ...]:
    from depthlaw.empirics.audit.ladder import climb, encoding

    if not model.causal:
        raise UsageError(f"{model.name} is not causal, and the ladder asks for the next token")
    other = None
    if against is not None:
        in_memory = not isinstance(against, str | Path)
        other = _model(against, tokenizer if in_memory else None, None, seed)
        if not other[0].causal:
            raise UsageError(
                f"{other[0].name} is not causal, and the ladder asks for the next token"
            )
    route = _route(model, without, repeat)
    try:
        return climb(
            model,
            encoding(model, tokenizer),
            route=route,
            other=other and other[0],
            other_encode=other and encoding(*other),
            count=questions,
            seed=seed,
            level=level,
            store=store,
            tick=tick,
        )
    except UsageError:
        raise
    except ValueError as error:
        raise UsageError(f"{model.name}: {error}; put a tokenizer beside the weights") from None


def _changed(without: str, repeat: str, against: Any) -> dict[str, str]:
    if against is not None:
        named = isinstance(against, str | Path)
        return {"against": Path(against).name if named else type(against).__name__}
    return {name: typed for name, typed in (("without", without), ("repeat", repeat)) if typed}


def _route(model: LayeredModel, without: str, repeat: str) -> Route | None:
    from depthlaw.empirics.audit.layered import repeated, without as route_without

    if without:
        return route_without(model.depth, *block_of(without, model.depth, "--without"))
    if repeat:
        return repeated(model.depth, *block_of(repeat, model.depth, "--repeat"))
    return None


def block_of(typed: str, layers: int, option: str) -> tuple[int, int]:
    """The block that "5-8" or "5" names, counted from 0.

    Raises:
        UsageError: for what is no block of layers of the model.

    >>> block_of("5-8", 12, "--without")
    (4, 7)
    """
    match = re.fullmatch(r"\s*(\d{1,6})\s*(?:-\s*(\d{1,6})\s*)?", typed)
    first, last = (int(match[1]), int(match[2] or match[1])) if match else (0, 0)
    if not 1 <= first <= last <= layers:
        raise UsageError(
            f"{option} {quoted(typed)}: the model has {plural(layers, 'layer')}; give a block such "
            f"as {max(1, layers // 2)}-{max(1, layers // 2 + 1)}, counted from 1"
        )
    return first - 1, last - 1


def audit_schema() -> dict[str, Any]:
    """The JSON schema of `to_json`."""
    import json
    from importlib.resources import files

    text = files("depthlaw.empirics.audit").joinpath("schema.json").read_text(encoding="utf-8")
    schema: dict[str, Any] = json.loads(text)
    return schema

"""The sample of an audit: documents of equal length, and the objectives that are measured on them.

A document is the unit: every objective is one number per document, and routes are compared on the
same documents. Beyond the shared design: a document may carry labels, for models whose answer is
not the next token, and `outcomes` measures many routes and objectives in one go.
"""

from __future__ import annotations

import contextlib
import hashlib
import re
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any, Protocol

import numpy as np

from ..architectures.residuals import zipf_ids
from . import AuditError

if TYPE_CHECKING:
    from torch import Tensor

    from .layered import LayeredModel, Route

    Reference = tuple[Tensor, Tensor]

LEAST = 8  # documents, fewer of which carry no interval
IGNORED = -100  # a label that is not scored
_MASKED = 0.15  # of the tokens, as BERT was trained (arXiv:1810.04805, section 3.1)
# Tokens, and logits, that are in memory at once.
_TOKENS_AT_ONCE, _LOGITS_AT_ONCE = 4096, 2**24


@dataclass(frozen=True, eq=False)
class Documents:
    """Token ids of documents.

    Attributes:
        ids: int64, shape (documents, tokens).
        law: "text", or the law that random ids follow.
        source: where they come from, in words.
        cut: what was made of the text: how it was split, what was dropped, what was left out.
        mask: id that hides a token from a model that fills gaps; without one another id is drawn.
        ends: special ids at the start and the end of every document, which are never hidden.
        labels: int64 like `ids`, the right answer at each token, `IGNORED` where there is none.
    """

    ids: np.ndarray
    law: str
    source: str
    cut: dict[str, Any] = field(default_factory=dict)
    mask: int | None = None
    ends: tuple[int, int] = (0, 0)
    labels: np.ndarray | None = None

    def __post_init__(self) -> None:
        if self.ids.ndim != 2 or self.ids.dtype.kind not in "iu" or min(self.ids.shape) < 1:
            raise AuditError(
                f"documents of shape {self.ids.shape} and type {self.ids.dtype}: accepted are "
                "integers of shape (documents, tokens)"
            )
        if self.labels is not None and self.labels.shape != self.ids.shape:
            raise AuditError(
                f"labels of shape {self.labels.shape} for ids of shape {self.ids.shape}: give one "
                f"label for each token, {IGNORED} where there is none"
            )

    def __len__(self) -> int:
        return len(self.ids)

    @property
    def tokens(self) -> int:
        """Tokens in each document."""
        return int(self.ids.shape[1])

    @property
    def sha256(self) -> str:
        """Of all that decides a measurement: ids, mask, ends and labels."""
        total = hashlib.sha256(f"{self.ids.shape} {self.mask} {self.ends}\n".encode())
        for array in (self.ids, self.labels):
            total.update(b"" if array is None else np.ascontiguousarray(array, "<i8").tobytes())
        return total.hexdigest()


def from_text(
    text: str | Path,
    tokenizer: Any,
    tokens: int = 256,
    documents: int = 64,
    seed: int = 0,
) -> Documents:
    """Documents of `tokens` ids each from a text.

    Where at least 8 paragraphs, split at blank lines, have that many ids, each of them gives its
    first ids. Otherwise the text is cut into consecutive windows, which are less independent; `cut`
    says which. Of more than `documents`, a choice by `seed` is kept, in the order of the text.
    Special ids that the tokenizer puts around a text are put around each document.

    Args:
        text: the text, or the path of a UTF-8 file.
        tokenizer: of transformers, or a function from a string to a list of ids.

    Raises:
        AuditError: for a file that cannot be read as text, an empty text, and one that gives fewer
            than 8 documents.
    """
    if tokens < 2 or documents < LEAST:
        raise AuditError(
            f"tokens={tokens}, documents={documents}: at least 2 and {LEAST} are accepted"
        )
    source, text = read_text(text)
    if not text.strip():
        raise AuditError(f"{source} is empty; give a text of {LEAST} documents or more")
    before, after = special_ids(tokenizer)
    room = tokens - len(before) - len(after)
    if room < 2:
        raise AuditError(f"tokens={tokens}: {tokens - room} are special; take more tokens")
    paragraphs = [ids for part in re.split(r"\n[ \t\r]*\n", text) if (ids := _ids(tokenizer, part))]
    found = [ids[:room] for ids in paragraphs if len(ids) >= room]
    cut: dict[str, Any] = {
        "way": "paragraphs",
        "short": len(paragraphs) - len(found),
        "ids left out": sum(map(len, paragraphs)) - room * len(found),
    }
    if len(found) < LEAST:
        stream = _ids(tokenizer, text)
        found = [stream[i : i + room] for i in range(0, len(stream) - room + 1, room)]
        cut = {"way": "windows", "short": 0, "ids left out": len(stream) - room * len(found)}
    if len(found) < LEAST:
        raise AuditError(
            f"{source} gives {len(found)} documents of {tokens} tokens; {LEAST} are needed for an "
            f"interval: give more text, or at most tokens={max(2, len(stream) // LEAST)}"
        )
    cut["not chosen"] = max(0, len(found) - documents)
    if cut["not chosen"]:
        chosen = np.random.default_rng(seed).choice(len(found), documents, replace=False)
        found = [found[i] for i in sorted(chosen)]
    table = np.array([[*before, *part, *after] for part in found], dtype=np.int64)
    mask = getattr(tokenizer, "mask_token_id", None)
    return Documents(table, "text", source, cut, mask, (len(before), len(after)))


def random_documents(
    vocabulary: int,
    law: str = "zipf",
    tokens: int = 256,
    documents: int = 64,
    seed: int = 0,
    without: int | None = None,
) -> Documents:
    """Documents of independent random ids: uniform, or with probability proportional to 1/rank of
    the id. The id `without`, of padding, is left out.

    Raises:
        AuditError: for another law, and sizes that leave nothing to draw.
    """
    if law not in ("uniform", "zipf"):
        raise AuditError(f"law {law!r} is not known; accepted are uniform, zipf")
    if vocabulary < 3 or tokens < 2 or documents < LEAST:
        raise AuditError(
            f"vocabulary={vocabulary}, tokens={tokens}, documents={documents}: at least 3, 2 and "
            f"{LEAST} are accepted"
        )
    rng = np.random.default_rng(seed)
    if law == "zipf":
        ids = zipf_ids(rng, documents, tokens, vocabulary, without)
    else:
        some = np.delete(np.arange(vocabulary), [] if without is None else [without])
        ids = rng.choice(some, size=(documents, tokens))
    return Documents(ids.astype(np.int64), law, f"random ids, {law} law, seed {seed}")


def shuffled(documents: Documents, seed: int = 0) -> Documents:
    """The same documents with the tokens of each in random order; special ids at the ends stay.

    Raises:
        AuditError: for documents with labels, whose answers depend on the order.
    """
    if documents.labels is not None:
        raise AuditError("documents with labels cannot be shuffled: the answers depend on order")
    first, last = documents.ends
    ids = documents.ids.copy()
    inner = ids[:, first : documents.tokens - last]
    ids[:, first : documents.tokens - last] = np.random.default_rng(seed).permuted(inner, axis=1)
    law = f"{documents.law}, shuffled"
    source = f"{documents.source}; tokens shuffled inside each document, seed {seed}"
    return replace(documents, ids=ids, law=law, source=source)


def subset(documents: Documents, chosen: Sequence[int] | slice) -> Documents:
    """Some of the documents."""
    index = chosen if isinstance(chosen, slice) else np.asarray(chosen)
    labels = None if documents.labels is None else documents.labels[index]
    return replace(documents, ids=documents.ids[index], labels=labels)


# --- objectives ---


def objective(model: LayeredModel, documents: Documents) -> str:
    """What `loss` is here: "labels", "next token" or "masked token"."""
    if documents.labels is not None:
        return "labels"
    return "next token" if model.causal else "masked token"


def loss(model: LayeredModel, documents: Documents, route: Route | None = None) -> np.ndarray:
    """Mean cross-entropy of each document in nats, float64 of shape (documents,).

    Of the labels where there are some; of the next token for a causal model; otherwise of 15 % of
    the tokens, the same for every route, each hidden by `documents.mask` or, without one, by
    another id.

    Raises:
        AuditError: for a model without a head, ids that do not fit, a loss that is not finite.
    """
    return outcomes(model, documents, [_whole(model) if route is None else route])["loss"][0]


def divergence(model: LayeredModel, documents: Documents, route: Route) -> np.ndarray:
    """Mean Kullback-Leibler divergence KL(whole || route) of what the model says at the scored
    tokens of each document, in nats, float64 of shape (documents,)."""
    return outcomes(model, documents, [route], ("divergence",))["divergence"][0]


def outcomes(
    model: LayeredModel,
    documents: Documents,
    routes: Sequence[Route],
    objectives: Sequence[str] = ("loss",),
    tick: Callable[[int], object] = lambda documents: None,
    parts: Parts | None = None,
) -> dict[str, np.ndarray]:
    """Objectives of routes: objective -> float64 (routes, documents).

    Args:
        objectives: of "loss", "divergence", "output" (norm of the change of the softmax, mean over
            the scored tokens), "output_max" (its maximum), "right" (share of scored tokens where
            the largest logit is the right one).
        tick: called with the number of documents that are done.
        parts: where columns of a few documents are kept.

    Cost: per document the layers of each route behind the prefix that it shares with the whole, and
    one head per route. Memory: two streams, and logits of a few documents.
    """
    for name in objectives:
        if name not in SCORES:
            raise AuditError(f"objective {name!r} is not known; accepted are {', '.join(SCORES)}")
    found = {name: np.empty((len(routes), len(documents))) for name in objectives}
    compared = any(SCORES[name][0] for name in objectives)
    for rows, ids, targets in batches(model, documents):
        with kept_columns(parts, list(found.values()), rows) as known:
            if not known:
                reference = reference_by(model.logits(ids), targets) if compared else None
                right = targets[targets != IGNORED].to(ids.device)
                for index, hidden in model.outcomes(ids, routes):
                    said = said_by(model.read_out(hidden, ids), targets)
                    for name in objectives:
                        per_token = SCORES[name][1](said, reference, right).double().cpu()
                        found[name][index, rows] = by_document(per_token, targets, "max" in name)
        tick(rows.stop)
    for name, values in found.items():
        if not np.isfinite(values).all():
            bad = int(np.argmin(np.isfinite(values).all(axis=1)))
            raise AuditError(
                f"{model.name}: the {name} of route {bad + 1} is not finite; take float64 or a "
                "shorter route"
            )
    return found


class Parts(Protocol):
    """Where columns of tables, one for each document, are kept while others are measured."""

    def read(self, rows: slice) -> list[np.ndarray] | None:
        """The columns of these documents; None where they are not known."""

    def write(self, rows: slice, columns: list[np.ndarray]) -> None:
        """Keep the columns of these documents."""


@contextlib.contextmanager
def kept_columns(parts: Parts | None, tables: Sequence[np.ndarray], rows: slice) -> Iterator[bool]:
    """Whether the columns of these documents are known, and then in the tables; otherwise they are
    kept once they have been filled."""
    known = None if parts is None else parts.read(rows)
    for table, columns in zip(tables, known or (), strict=known is not None):
        table[:, rows] = columns
    yield known is not None
    if parts is not None and known is None:
        parts.write(rows, [table[:, rows] for table in tables])


def batches(model: LayeredModel, documents: Documents) -> Iterator[tuple[slice, Tensor, Tensor]]:
    """Documents a few at a time: which, the ids that the model reads, and at each token the right
    answer or `IGNORED`."""
    import torch

    ids, targets = _task(model, documents)
    at_once = min(_TOKENS_AT_ONCE, max(1, _LOGITS_AT_ONCE // model.vocabulary))
    rows = max(1, at_once // documents.tokens)
    for start in range(0, len(documents), rows):
        part = slice(start, min(start + rows, len(documents)))
        yield part, model.tokens(ids[part]), torch.as_tensor(targets[part])


def _task(model: LayeredModel, documents: Documents) -> tuple[np.ndarray, np.ndarray]:
    """What the model reads, and what it should say."""
    ids, kind = documents.ids, objective(model, documents)
    answers = ids if documents.labels is None else documents.labels
    if answers.max() >= model.vocabulary:
        raise AuditError(
            f"an answer is {answers.max()}, but {model.name} has logits for 0 to "
            f"{model.vocabulary - 1}; take the tokenizer or the labels that belong to the model"
        )
    if documents.labels is not None:
        return ids, documents.labels
    targets = np.full_like(ids, IGNORED)
    if kind == "next token":
        targets[:, :-1] = ids[:, 1:]
        return ids, targets
    first, last = documents.ends
    inner = documents.tokens - first - last
    rng = np.random.default_rng(int(documents.sha256[:16], 16))
    hidden = rng.permuted(np.tile(np.arange(inner), (len(ids), 1)), axis=1)
    places = first + hidden[:, : max(1, round(_MASKED * inner))]
    right = np.take_along_axis(ids, places, axis=1)
    np.put_along_axis(targets, places, right, axis=1)
    other = (right + rng.integers(1, model.accepted, right.shape)) % model.accepted
    read = ids.copy()
    shown = other if documents.mask is None else np.full_like(right, documents.mask)
    np.put_along_axis(read, places, shown, axis=1)
    return read, targets


def said_by(logits: Tensor, targets: Tensor) -> Tensor:
    """Log-probabilities at the scored tokens, (scored tokens, vocabulary)."""
    import torch

    scored = logits[(targets != IGNORED).to(logits.device)]
    return (scored if scored.dtype == torch.float64 else scored.float()).log_softmax(-1)


def reference_by(logits: Tensor, targets: Tensor) -> Reference:
    """Log-probabilities at the scored tokens, and probabilities, of the whole model."""
    said = said_by(logits, targets)
    return said, said.exp()


def by_document(per_token: Tensor, targets: Tensor, largest: bool = False) -> np.ndarray:
    """One number per document from one per scored token: the mean, or the largest."""
    counts = (targets != IGNORED).sum(1).tolist()
    parts = per_token.split(counts)
    return np.array([float(p.max() if largest else p.mean()) if len(p) else np.nan for p in parts])


def _cross_entropy(said: Tensor, reference: Reference | None, right: Tensor) -> Tensor:
    return -said.gather(1, right[:, None])[:, 0]


def _divergence(said: Tensor, reference: Reference, right: Tensor) -> Tensor:
    logs, shares = reference
    told = (shares * (logs - said)).sum(1)
    if told.isnan().any():
        # A token of probability zero adds nothing, whatever the route says of it.
        told = (shares * (logs - said)).where(shares > 0, told.new_zeros(())).sum(1)
    return told


def _output(said: Tensor, reference: Reference, right: Tensor) -> Tensor:
    change: Tensor = (said.exp() - reference[1]).norm(dim=1)
    return change


def _hits(said: Tensor, reference: Reference | None, right: Tensor) -> Tensor:
    return said.argmax(1) == right


# Objective -> (whether the whole model's answer is needed, number for each scored token).
SCORES: dict[str, tuple[bool, Callable[..., Any]]] = {
    "loss": (False, _cross_entropy),
    "divergence": (True, _divergence),
    "output": (True, _output),
    "output_max": (True, _output),
    "right": (False, _hits),
}


def _whole(model: LayeredModel) -> Route:
    from .layered import whole

    return whole(model.depth)


# --- text ---


def read_text(text: str | Path) -> tuple[str, str]:
    """How a text is called, and the text, or what stands in the file of a path.

    Raises:
        AuditError: for a file that cannot be read as text.
    """
    if isinstance(text, str):
        return "the text", text
    try:
        return str(text), text.read_text(encoding="utf-8")
    except UnicodeDecodeError:
        raise AuditError(f"{text} is not text in UTF-8; convert it, or give another file") from None
    except OSError as error:
        reason = error.strerror or type(error).__name__
        raise AuditError(f"{text} cannot be read: {reason}; give a file of text") from None


def _ids(tokenizer: Any, text: str) -> list[int]:
    if not hasattr(tokenizer, "encode"):
        return list(tokenizer(text))
    return list(tokenizer(text, add_special_tokens=False, verbose=False)["input_ids"])


def special_ids(tokenizer: Any) -> tuple[list[int], list[int]]:
    """Special ids that a tokenizer puts before and after a text."""
    if not hasattr(tokenizer, "encode"):
        return [], []
    special = list(tokenizer("")["input_ids"])
    if len(special) == 1:
        first = special[0] in (
            getattr(tokenizer, "bos_token_id", None),
            getattr(tokenizer, "cls_token_id", None),
        )
        return (special, []) if first else ([], special)
    return special[:1], special[1:]

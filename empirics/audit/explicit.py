"""Nets with explicit weights as torch modules of the same answers, in doubles.

`explicit` turns an exact net of the family attention or recurrent into a module with an embedding,
a `layers` list whose members map a stream (documents, tokens, width) to the next one, and a linear
read-out. Hard attention, exact averages and strict masks are run as such. Nets with thoughts run
their layers several times and ReLU nets read no words; both are refused. `save` writes a folder,
`load` reads it back: `net.json` says the form, and the numbers in model.safetensors are what runs.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import torch
from torch import Tensor, nn

from depthlaw.advisor.base.files import regular_file
from depthlaw.advisor.base.quantities import quoted
from depthlaw.advisor.headers import WHOLE
from depthlaw.theory.nets.attention import AttentionNet, Head, Layer
from depthlaw.theory.nets.classes import ExactNet, family_of
from depthlaw.theory.nets.fields import Field
from depthlaw.theory.nets.json_format import net_of, read_body, text_of
from depthlaw.theory.nets.recurrent import RecurrentLayer, RecurrentNet

from . import AuditError

FORM = "net.json"
# More letters than any net here has, and the square of it is a table of what a layer writes.
MOST_LETTERS = 4_096


class _Weights(nn.Module):
    """A module whose numbers are parameters that nothing trains."""

    def _keep(self, name: str, values: Any) -> None:
        made = torch.as_tensor(values, dtype=torch.float64)
        self.register_parameter(name, nn.Parameter(made, requires_grad=False))


class AttentionHead(_Weights):
    """What one head writes to the stream."""

    def __init__(self, field: Field, head: Head) -> None:
        super().__init__()
        for name in ("query", "key", "value", "output"):
            self._keep(name, floats(field, getattr(head, name)))
        self.kind, self.mask = head.kind, head.mask
        self.by_length = head.divide == "n"
        base = math.e if head.base == "e" else floats(field, head.base or 2)
        divide = 1.0 if self.by_length else floats(field, head.divide or 1)
        self.sharpness, self.divide = math.log(base), divide

    def forward(self, hidden: Tensor) -> Tensor:
        """What the head adds to each token of a stream (documents, tokens, width)."""
        scores = (hidden @ self.query.mT) @ (hidden @ self.key.mT).mT
        return self._weights(scores) @ (hidden @ self.value.mT) @ self.output.mT

    def _weights(self, scores: Tensor) -> Tensor:
        n = scores.shape[-1]
        last = {"none": n, "causal": 0, "strict": -1}[self.mask]
        seen = torch.ones(n, n, dtype=torch.bool, device=scores.device).tril(last)
        if self.kind == "linear":
            return scores * seen / (n if self.by_length else self.divide)
        if self.kind == "weights":
            weights = scores * seen
        else:
            scores = scores.masked_fill(~seen, -torch.inf)
            best = scores.amax(-1, keepdim=True)
            if self.kind == "softmax":
                weights = ((scores - best) * self.sharpness).exp()
            else:
                weights = (scores == best).to(scores.dtype)
            weights = torch.where(seen, weights, 0.0)
            if self.kind.startswith("hard"):
                right = self.kind == "hard-right"
                place = weights.flip(-1).argmax(-1) if right else weights.argmax(-1)
                place = n - 1 - place if right else place
                weights = nn.functional.one_hot(place, n).to(scores.dtype) * seen
        # A token that sees nothing gets nothing.
        totals = weights.sum(-1, keepdim=True)
        return weights / torch.where(totals == 0, 1.0, totals)


class Heads(nn.Module):
    """What the heads of a layer write together."""

    def __init__(self, field: Field, heads: Iterable[Head]) -> None:
        super().__init__()
        self.heads = nn.ModuleList(AttentionHead(field, head) for head in heads)

    def forward(self, hidden: Tensor) -> Tensor:
        """The sum of what the heads add to a stream (documents, tokens, width)."""
        return sum((head(hidden) for head in self.heads), torch.zeros_like(hidden))


class Mlp(_Weights):
    """What the MLP of a layer writes."""

    def __init__(self, field: Field, mlp: tuple[Any, Any, Any]) -> None:
        super().__init__()
        for name, values in zip(("into", "bias", "out"), mlp, strict=True):
            self._keep(name, floats(field, values))

    def forward(self, hidden: Tensor) -> Tensor:
        """What the MLP adds to a stream (documents, tokens, width)."""
        return (hidden @ self.into.mT + self.bias).relu() @ self.out.mT


class AttentionLayer(nn.Module):
    """Heads side by side, then perhaps an MLP, as `theory.nets.attention.Layer`."""

    def __init__(self, field: Field, layer: Layer) -> None:
        super().__init__()
        self.attention, self.residual = Heads(field, layer.heads), layer.residual
        self.mlp = Mlp(field, layer.mlp) if layer.mlp else None

    def forward(self, hidden: Tensor) -> Tensor:
        """The stream (documents, tokens, width) after the layer."""
        written = self.attention(hidden)
        hidden = hidden + written if self.residual else written
        return hidden if self.mlp is None else hidden + self.mlp(hidden)


class LetterLayer(_Weights):
    """A recurrent layer: letters read to letters written, each a unit vector of the stream.

    A letter that it has no step for leaves its state, and where it writes nothing it writes zeros;
    the exact net has no answer there. A stream between letters moves the state by their mean step.
    """

    def __init__(self, field: Field, layer: RecurrentLayer, letters: Sequence[str]) -> None:
        super().__init__()
        size, place = len(layer.start), {letter: i for i, letter in enumerate(letters)}
        still = (np.eye(size).tolist(), [0.0] * size)
        steps = [
            floats(field, layer.step[letter]) if letter in layer.step else still
            for letter in letters
        ]
        states = list(dict.fromkeys(state for state, _ in layer.emit))
        written = torch.zeros(len(states), len(letters), len(letters), dtype=torch.float64)
        for (state, read), letter in layer.emit.items():
            if read in place:
                written[states.index(state), place[read], place[letter]] = 1
        self._keep("matrix", [matrix for matrix, _ in steps])
        self._keep("add", [add for _, add in steps])
        self._keep("start", floats(field, layer.start))
        self._keep("states", floats(field, states))
        self._keep("written", written)
        self.before = layer.before
        residues = field.domain is not None and field.root is None
        self.modulus = int(field.domain.characteristic()) if residues else 0

    def forward(self, hidden: Tensor) -> Tensor:
        """The letters (documents, tokens, letters) that the layer writes."""
        state = self.start.expand(hidden.shape[0], -1)
        unit, found = torch.eye(state.shape[1], dtype=state.dtype, device=state.device), []
        for read in hidden.unbind(1):
            none = 1 - read.sum(-1)[:, None, None]
            matrix = torch.einsum("bv,vij->bij", read, self.matrix) + none * unit
            after = (matrix @ state[..., None])[..., 0] + read @ self.add
            if self.modulus:
                after = after.remainder(self.modulus)
            at = torch.cdist(state if self.before else after, self.states).argmin(-1)
            letter = read.argmax(-1)
            found.append(self.written[at, letter] * read.any(-1, keepdim=True))
            state = after
        return torch.stack(found, 1)


class Tokens(_Weights):
    """Tokens as vectors, with what their positions append."""

    def __init__(self, vectors: Any, net: AttentionNet | None) -> None:
        super().__init__()
        self._keep("weight", vectors)
        self.net = net

    def forward(self, ids: Tensor) -> Tensor:
        """The stream (documents, tokens, width) before the first layer."""
        own = self.weight[ids]
        if self.net is None or not self.net.positions:
            return own
        n = ids.shape[1]
        places = [[float(at(i, n)) for at in self.net.positions] for i in range(n)]
        placed = torch.tensor(places, dtype=own.dtype, device=own.device).expand(len(ids), -1, -1)
        ones = torch.ones_like(own[..., 0])
        factors = [ones if c is None else own[..., c] for c in self.net.factors]
        return torch.cat([own, placed * torch.stack(factors, -1)], -1)


class ExplicitNet(nn.Module):
    """An exact net as a torch module.

    Attributes:
        exact: the net of `theory.nets` whose answers it gives.
        tokens: what an id stands for.
        labels: what a column of the logits stands for; None for a letter that is none.
        at: -1 or 0, the token whose logits are the answer.
    """

    def __init__(self, exact: ExactNet) -> None:
        super().__init__()
        if isinstance(exact, AttentionNet) and exact.thoughts is None:
            self._of_attention(exact)
        elif isinstance(exact, RecurrentNet):
            self._of_letters(exact)
        else:
            raise AuditError(
                f"a net of the family {family_of(exact)} has no list of layers that each token "
                "passes once; accepted are attention without thoughts, and recurrent"
            )
        self.exact = exact
        self.place = {token: i for i, token in enumerate(self.tokens)}
        self.eval()

    def _of_attention(self, net: AttentionNet) -> None:
        marks = [mark for mark in (net.start, net.end) if mark is not None]
        self.tokens: tuple[str, ...] = tuple(dict.fromkeys([*net.alphabet, *marks]))
        self.embedding = Tokens([floats(net.field, net.embedding[t]) for t in self.tokens], net)
        self.layers = nn.ModuleList(AttentionLayer(net.field, layer) for layer in net.layers)
        read = torch.tensor(floats(net.field, net.read), dtype=torch.float64)
        if net.labels is None:  # The answer is True where the read-out is above 0.
            read = torch.cat([torch.zeros_like(read), read])
        self.labels: tuple[str | bool | None, ...] = net.labels or (False, True)
        self.at = -1 if net.at == "last" else 0
        self._read_by(read, torch.zeros(len(read)))

    def _of_letters(self, net: RecurrentNet) -> None:
        written = [letter for layer in net.layers for letter in layer.emit.values()]
        letters = tuple(dict.fromkeys([*net.alphabet, *written]))
        if len(letters) > MOST_LETTERS:
            raise AuditError(f"a net of {len(letters):,} letters; at most {MOST_LETTERS:,} are run")
        self.tokens, self.at = net.alphabet, -1
        unit = torch.eye(len(letters), dtype=torch.float64)
        self.embedding = Tokens(unit[: len(net.alphabet)], None)
        self.layers = nn.ModuleList(LetterLayer(net.field, each, letters) for each in net.layers)
        self.labels = (*letters, None)
        nothing = torch.tensor([0.0] * len(letters) + [0.5])
        self._read_by(torch.cat([unit, torch.zeros_like(unit[:1])]), nothing)

    def _read_by(self, matrix: Tensor, add: Tensor) -> None:
        self.head = nn.Linear(matrix.shape[1], len(matrix), dtype=torch.float64)
        self.head.weight = nn.Parameter(matrix, requires_grad=False)
        self.head.bias = nn.Parameter(add.double(), requires_grad=False)

    @property
    def causal(self) -> bool:
        """Whether no token sees a later one."""
        return not any(getattr(m, "mask", "") == "none" for m in self.modules())

    def forward(self, input_ids: Tensor) -> Tensor:
        """Logits (documents, tokens, labels) of token ids (documents, tokens)."""
        hidden = self.embedding(input_ids)
        for layer in self.layers:
            hidden = layer(hidden)
        return self.head(hidden)

    def ids(self, words: Sequence[Sequence[str]]) -> Tensor:
        """The token ids of words of one length, with the marks that stand around a word.

        Raises:
            AuditError: for a letter that the net does not know, or words of several lengths.
        """
        start, end = getattr(self.exact, "start", None), getattr(self.exact, "end", None)
        marks = [[mark] if isinstance(mark, str) else [] for mark in (start, end)]
        if len({len(word) for word in words}) != 1:
            raise AuditError("the words have several lengths, or there is none; give one length")
        try:
            rows = [[self.place[token] for token in (*marks[0], *w, *marks[1])] for w in words]
        except KeyError as unknown:
            known = quoted(" ".join(self.tokens))
            raise AuditError(f"the letter {unknown} is unknown; accepted are {known}") from None
        return torch.tensor(rows)

    def answers(self, words: Sequence[Sequence[str]]) -> list[str | bool | None]:
        """What the net says of words of one length."""
        with torch.no_grad():
            chosen = self(self.ids(words))[:, self.at].argmax(-1)
        return [self.labels[column] for column in chosen.tolist()]


def explicit(net: ExactNet | Mapping[str, Any]) -> ExplicitNet:
    """An exact net, or its JSON, as a torch module in doubles.

    Raises:
        AuditError: for a ReLU net, one with thoughts, or JSON that is no net.

    >>> net = {"family": "attention", "alphabet": ["0", "1"], "embedding": {"0": [0], "1": [1]},
    ...        "layers": [], "read": [1]}
    >>> explicit(net).answers(["10", "01"])
    [False, True]
    """
    return ExplicitNet(net_of(read_body(net)) if isinstance(net, Mapping) else net)


def floats(field: Field, values: Any) -> Any:
    """Numbers of a field, in lists and tuples, as doubles."""
    if isinstance(values, list | tuple):
        return [floats(field, value) for value in values]
    if field.domain is None or isinstance(values, int | float):
        return float(values)
    return float(field.domain.to_sympy(values))


# --- words and the objective on them ---


@dataclass(frozen=True)
class Words:
    """Words of one length with the right answers: ids (n, tokens), and columns of the logits."""

    ids: Tensor
    right: Tensor

    def error(self, logits: Tensor, at: int) -> np.ndarray[Any, np.dtype[np.float64]]:
        """1 for each word that logits (n, tokens, labels) answer wrongly at a token, else 0."""
        wrong = logits[:, at].argmax(-1) != self.right
        return np.asarray(wrong.double().numpy())

    def loss(self, logits: Tensor, at: int) -> np.ndarray[Any, np.dtype[np.float64]]:
        """Cross-entropy of the right answer to each word, in nats."""
        found = nn.functional.cross_entropy(logits[:, at], self.right, reduction="none")
        return np.asarray(found.double().numpy())


# --- folders ---


def save(net: ExplicitNet, folder: str | Path) -> None:
    """Write a net to a folder, which is made: net.json and model.safetensors."""
    from safetensors.torch import save as tensors

    folder = Path(folder)
    folder.mkdir(parents=True, exist_ok=True)
    state = {name: value.contiguous() for name, value in net.state_dict().items()}
    form = text_of(dict(net.exact.body)) + "\n"
    for name, data in ((WHOLE, tensors(state)), (FORM, form.encode())):
        unfinished = folder / f".{name}.part"
        unfinished.write_bytes(data)
        unfinished.replace(folder / name)


def load(folder: str | Path) -> ExplicitNet:
    """The net of a folder that `save` wrote.

    Raises:
        AuditError: for a folder that lacks a file, tensors that are not those of the form, or
            numbers that are not finite.
    """
    from safetensors import SafetensorError
    from safetensors.torch import load as tensors

    folder = Path(folder)
    accepted = "give a folder that depthlaw.empirics.audit.explicit.save wrote"
    net = explicit(read_body(folder / FORM))
    weights = folder / WHOLE
    with regular_file(str(weights), quoted(str(weights)), accepted) as (opened, _):
        data = opened.read()
    try:
        state = tensors(data)
    except SafetensorError as error:
        raise AuditError(f"{weights} is no safetensors file ({error}); {accepted}") from None
    wanted = net.state_dict()
    for name in sorted({*wanted} ^ {*state}):
        where = "lacks" if name in wanted else "has beside the net"
        raise AuditError(f"{weights} {where} the tensor {quoted(name)}; {accepted}")
    for name, value in state.items():
        if value.shape != wanted[name].shape or value.dtype != torch.float64:
            shape = " x ".join(map(str, wanted[name].shape))
            raise AuditError(f"the tensor {quoted(name)} of {weights} is not {shape} in float64")
        if not value.isfinite().all():
            raise AuditError(f"the tensor {quoted(name)} of {weights} holds NaN or infinity")
    net.load_state_dict(state)
    return net

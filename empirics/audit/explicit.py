"""Nets with explicit weights as torch modules of the same answers, in doubles.

`explicit` makes of an exact net, of the family attention or recurrent, a module with an embedding,
`layers` that each map a stream (documents, tokens, width) to the next one, and a linear read-out.
Hard attention and exact averages are run as such. `save` writes a folder and `load` reads it:
net.json says the form, and the numbers of model.safetensors are what runs.
"""

from __future__ import annotations

import copy
import math
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

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


def floats(field: Field, values: Any) -> Any:
    """Numbers of a field, in lists and tuples, as doubles."""
    if isinstance(values, list | tuple):
        return [floats(field, value) for value in values]
    given = isinstance(values, int | float) or field.domain is None
    return float(values if given else field.domain.to_sympy(values))


class _Weights(nn.Module):
    """A module whose numbers are parameters that nothing trains."""

    def __init__(self, **numbers: Any) -> None:
        super().__init__()
        for name, values in numbers.items():
            made = torch.as_tensor(values, dtype=torch.float64)
            self.register_parameter(name, nn.Parameter(made, requires_grad=False))

    if TYPE_CHECKING:

        def __getattr__(self, name: str) -> Any: ...


class AttentionHead(_Weights):
    """One head, as `theory.nets.attention.Head`."""

    def __init__(self, field: Field, head: Head) -> None:
        names = ("query", "key", "value", "output")
        super().__init__(**{name: floats(field, getattr(head, name)) for name in names})
        self.kind, self.mask = head.kind, head.mask
        self.divide = head.divide if head.divide == "n" else floats(field, head.divide or 1)
        self.sharpness = 1.0 if head.base == "e" else math.log(floats(field, head.base or 2))

    def forward(self, hidden: Tensor) -> Tensor:
        """What the head adds to each token of a stream (documents, tokens, width)."""
        scores = (hidden @ self.query.mT) @ (hidden @ self.key.mT).mT
        return self._weights(scores) @ (hidden @ self.value.mT) @ self.output.mT

    def _weights(self, scores: Tensor) -> Tensor:
        n = scores.shape[-1]
        last = {"none": n, "causal": 0, "strict": -1}[self.mask]
        seen = torch.ones_like(scores[0], dtype=torch.bool).tril(last)
        if self.kind == "linear":
            return scores * seen / (n if self.divide == "n" else self.divide)
        hidden = scores.masked_fill(~seen, -torch.inf)
        best = hidden.amax(-1, keepdim=True)
        if self.kind == "weights":
            weights = scores
        elif self.kind == "softmax":
            weights = ((hidden - best) * self.sharpness).exp()
        else:
            weights = (hidden == best).to(scores.dtype)
            if self.kind != "average":
                right = self.kind == "hard-right"
                place = n - 1 - weights.flip(-1).argmax(-1) if right else weights.argmax(-1)
                weights = nn.functional.one_hot(place, n).to(scores.dtype)
        weights = torch.where(seen, weights, 0.0)
        # A token that sees nothing gets nothing.
        totals = weights.sum(-1, keepdim=True)
        return weights / torch.where(totals == 0, 1.0, totals)


class Heads(nn.ModuleList):
    """The heads of a layer."""

    def forward(self, hidden: Tensor) -> Tensor:
        """The sum of what the heads add to a stream (documents, tokens, width)."""
        return sum((head(hidden) for head in self), torch.zeros_like(hidden))


class Mlp(_Weights):
    """The MLP of a layer."""

    def forward(self, hidden: Tensor) -> Tensor:
        """What the MLP adds to a stream (documents, tokens, width)."""
        added: Tensor = (hidden @ self.into.mT + self.bias).relu() @ self.out.mT
        return added


class AttentionLayer(nn.Module):
    """Heads side by side, then perhaps an MLP, as `theory.nets.attention.Layer`."""

    def __init__(self, field: Field, layer: Layer) -> None:
        super().__init__()
        self.attention = Heads(AttentionHead(field, head) for head in layer.heads)
        self.residual, self.mlp = layer.residual, None
        if layer.mlp:
            into, bias, out = floats(field, layer.mlp)
            self.mlp = Mlp(into=into, bias=bias, out=out)

    def forward(self, hidden: Tensor) -> Tensor:
        """The stream (documents, tokens, width) after the layer."""
        written = self.attention(hidden)
        hidden = hidden + written if self.residual else written
        return hidden if self.mlp is None else hidden + self.mlp(hidden)


class LetterLayer(_Weights):
    """A recurrent layer: letters read to letters written, each a unit vector of the stream.

    A letter without a step leaves the state as it is, and where nothing is to be written it writes
    zeros; the exact net has no answer there.
    """

    def __init__(self, field: Field, layer: RecurrentLayer, letters: Sequence[str]) -> None:
        place = {letter: i for i, letter in enumerate(letters)}
        matrix = torch.eye(len(layer.start)).double().repeat(len(letters), 1, 1)
        add = torch.zeros(len(letters), len(layer.start)).double()
        for letter, step in layer.step.items():
            if letter in place:
                made = [torch.tensor(floats(field, part)).double() for part in step]
                matrix[place[letter]], add[place[letter]] = made
        states = list(dict.fromkeys(state for state, _ in layer.emit))
        written = torch.zeros(len(states), len(letters), len(letters))
        for (state, read), letter in layer.emit.items():
            if read in place:
                written[states.index(state), place[read], place[letter]] = 1
        start, states = floats(field, (layer.start, states))
        super().__init__(matrix=matrix, add=add, start=start, states=states, written=written)
        self.before = layer.before
        residues = field.domain is not None and field.root is None
        self.modulus = int(field.domain.characteristic()) if residues else 0

    def forward(self, hidden: Tensor) -> Tensor:
        """The letters (documents, tokens, letters) that the layer writes."""
        state, found = self.start.expand(hidden.shape[0], -1), []
        unit = torch.eye(state.shape[1]).to(state)
        for read in hidden.unbind(1):
            none = 1 - read.sum(-1)[:, None, None]
            matrix = torch.einsum("bv,vij->bij", read, self.matrix) + none * unit
            after = (matrix @ state[..., None])[..., 0] + read @ self.add
            after = after.remainder(self.modulus) if self.modulus else after
            at = torch.cdist(state if self.before else after, self.states).argmin(-1)
            found.append(self.written[at, read.argmax(-1)] * read.any(-1, keepdim=True))
            state = after
        return torch.stack(found, 1)


class LetterEmbedding(_Weights):
    """Tokens as vectors, with what positions append."""

    def __init__(self, net: ExactNet, weight: Any) -> None:
        super().__init__(weight=weight)
        self.positions = getattr(net, "positions", ())
        self.factors = getattr(net, "factors", ())

    def forward(self, ids: Tensor) -> Tensor:
        """The stream (documents, tokens, width) before the first layer."""
        own, n = self.weight[ids], ids.shape[1]
        found = [own]
        for at, c in zip(self.positions, self.factors, strict=True):
            places = torch.tensor([float(at(i, n)) for i in range(n)], dtype=own.dtype).to(own)
            found.append((places * (1 if c is None else own[..., c])).expand(ids.shape)[..., None])
        return torch.cat(found, -1)


class ExplicitNet(nn.Module):
    """An exact net as a torch module.

    Attributes:
        exact: the net of `theory.nets` whose answers it gives.
        tokens: what an id stands for; vocabulary: how many there are.
        labels: what a column of the logits stands for; None for a letter that is none.
        at: -1 or 0, the token whose logits are the answer.
    """

    def __init__(self, net: ExactNet) -> None:
        super().__init__()
        self.exact, self.at = net, -1
        if isinstance(net, AttentionNet) and net.thoughts is None:
            marks = [mark for mark in (net.start, net.end) if mark is not None]
            self.tokens: tuple[str, ...] = tuple(dict.fromkeys([*net.alphabet, *marks]))
            vectors = floats(net.field, [list(net.embedding[token]) for token in self.tokens])
            self.layers = nn.ModuleList(AttentionLayer(net.field, layer) for layer in net.layers)
            read = floats(net.field, net.read)
            if net.labels is None:  # The answer is True where the read-out is above 0.
                read = [[0.0] * len(read[0]), *read]
            self.labels: tuple[str | bool | None, ...] = net.labels or (False, True)
            self.at, add = -1 if net.at == "last" else 0, [0.0] * len(read)
        elif isinstance(net, RecurrentNet):
            self.tokens = net.alphabet
            written = [letter for layer in net.layers for letter in layer.emit.values()]
            letters = tuple(dict.fromkeys([*net.alphabet, *written]))
            unit = torch.eye(len(letters)).tolist()
            vectors, read = unit[: len(self.tokens)], [*unit, [0.0] * len(letters)]
            self.layers = nn.ModuleList(LetterLayer(net.field, x, letters) for x in net.layers)
            self.labels, add = (*letters, None), [0.0] * len(letters) + [0.5]
        else:
            raise AuditError(
                f"a net of the family {family_of(net)} has no layers that each token passes once; "
                "accepted are attention without thoughts, and recurrent"
            )
        self.embedding, self.vocabulary = LetterEmbedding(net, vectors), len(self.tokens)
        self.head = _Weights(weight=read, bias=add)
        self.eval()

    def __deepcopy__(self, memo: dict[int, Any]) -> ExplicitNet:
        # Exact numbers never change, and those of residue rings cannot be copied.
        memo[id(self.exact)] = self.exact
        made = memo[id(self)] = type(self).__new__(type(self))
        made.__dict__ = {key: copy.deepcopy(part, memo) for key, part in vars(self).items()}
        return made

    def forward(self, input_ids: Tensor) -> Tensor:
        """Logits (documents, tokens, labels) of token ids (documents, tokens)."""
        hidden = self.embedding(input_ids)
        for layer in self.layers:
            hidden = layer(hidden)
        return nn.functional.linear(hidden, self.head.weight, self.head.bias)

    def ids(self, words: Sequence[Sequence[str]]) -> Tensor:
        """The token ids of words of one length, with the marks that stand around a word.

        Raises:
            AuditError: for a letter that the net does not know, or words of several lengths.
        """
        body = self.exact.body
        start, end = ([body[at]] if body.get(at) else [] for at in ("start", "end"))
        place = {token: i for i, token in enumerate(self.tokens)}
        if len({len(word) for word in words}) != 1:
            raise AuditError("the words have several lengths, or there is none; give one length")
        try:
            return torch.tensor([[place[x] for x in (*start, *word, *end)] for word in words])
        except KeyError as unknown:
            known = quoted(" ".join(self.tokens))
            raise AuditError(f"the letter {unknown} is unknown; accepted are {known}") from None

    def answers(self, words: Sequence[Sequence[str]]) -> list[str | bool | None]:
        """What the net says of words of one length; Raises: as of `ids`."""
        with torch.no_grad():
            chosen = self(self.ids(words))[:, self.at].argmax(-1)
        return [self.labels[column] for column in chosen.tolist()]


def explicit(net: ExactNet | Mapping[str, Any]) -> ExplicitNet:
    """An exact net, or its JSON, as a torch module in doubles.

    Raises:
        UsageError: for a ReLU net, one with thoughts, or JSON that is no net.

    >>> net = {"family": "attention", "alphabet": ["0", "1"], "embedding": {"0": [0], "1": [1]},
    ...        "layers": [], "read": [1]}
    >>> explicit(net).answers(["10", "01"])
    [False, True]
    """
    return ExplicitNet(net_of(read_body(net)) if isinstance(net, Mapping) else net)


def save(net: ExplicitNet, folder: str | Path) -> None:
    """Write a net to a folder, which is made: net.json and model.safetensors."""
    from safetensors.torch import save as tensors

    place = Path(folder)
    place.mkdir(parents=True, exist_ok=True)
    form = text_of(dict(net.exact.body)) + "\n"
    for name, data in ((WHOLE, tensors(net.state_dict())), (FORM, form.encode())):
        unfinished = place / f".{name}.part"
        unfinished.write_bytes(data)
        unfinished.replace(place / name)


def load(folder: str | Path) -> ExplicitNet:
    """The net of a folder that `save` wrote.

    Raises:
        UsageError: for a folder that lacks a file, tensors that are not those of the form, or
            numbers that are not finite.
    """
    from safetensors import SafetensorError
    from safetensors.torch import load as tensors

    net = explicit(read_body(Path(folder) / FORM))
    weights, wanted = Path(folder) / WHOLE, net.state_dict()
    accepted = "give a folder that depthlaw.empirics.audit.explicit.save wrote"
    with regular_file(str(weights), str(weights), accepted) as (opened, _):
        data = opened.read()
    try:
        state = tensors(data)
    except SafetensorError as error:
        raise AuditError(f"{weights} is no safetensors file ({error}); {accepted}") from None
    for name in sorted({*wanted, *state}):
        value, known = state.get(name), wanted.get(name)
        if value is None or known is None:
            raise AuditError(f"{weights} and {FORM} differ in the tensor {name}; {accepted}")
        if value.shape != known.shape or value.dtype != torch.float64:
            shape = " x ".join(map(str, known.shape))
            raise AuditError(f"the tensor {name} of {weights} is not {shape} in float64")
        if not value.isfinite().all():
            raise AuditError(f"the tensor {name} of {weights} holds NaN or infinity")
    net.load_state_dict(state)
    return net

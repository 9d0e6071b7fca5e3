"""Any model whose layers pass one stream of hidden states, with its layers in any order.

The layers are found by structure: a probe runs the model once and records which members of its
module lists hand a tensor of shape (documents, tokens, width) from one to the next. A layer is one
*call*: a module that runs twelve times, as in ALBERT, is twelve layers.

How a route runs. In a forward pass of the model itself every layer is replaced by the identity,
which keeps the arguments beside the stream (masks, positions). The last one then runs the route on
the stream that left the embeddings, each layer with its own arguments. Embeddings, final norm and
head are thus the model's own code, and nothing is copied. Where a layer's arguments come from
another layer, as the position bias of T5, the layers run once in truth to make them.

Beyond the shared design: `outcomes` runs many routes on the prefix that they share, `head` tells
whether there are logits, `accepted` how many ids the embeddings know, and `layered` takes example
ids for a plain module that accepts only certain lengths.
"""

from __future__ import annotations

import contextlib
import hashlib
import itertools
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property, partial
from typing import Any, NamedTuple

import torch
from torch import Tensor, nn

from . import AuditError
from .probe import (
    accepted_ids,
    called,
    chain,
    cut,
    evaluation,
    finite,
    first_of,
    kinds_of,
    logits_of,
    longest_input,
    one_line,
    probe_ids,
    probe_run,
    stream_of,
    sum_of_parts,
)


@dataclass(frozen=True)
class Step:
    """One layer on a route: h becomes h + scale * (layer(h) - h). Scale 1 is the layer itself."""

    layer: int
    scale: float = 1.0


Route = tuple[Step, ...]


def whole(layers: int) -> Route:
    """Every layer once, in order."""
    return tuple(map(Step, range(layers)))


def without(layers: int, first: int, last: int) -> Route:
    """All layers but the block first..last, both included, counted from 0."""
    _check_block(layers, first, last)
    return whole(layers)[:first] + whole(layers)[last + 1 :]


def swapped(layers: int, first: int, size: int = 1) -> Route:
    """The block of so many layers that begins at first, and the one behind it, change places."""
    second, end = first + size, first + 2 * size
    _check_block(layers, first, end - 1)
    route = whole(layers)
    return route[:first] + route[second:end] + route[first:second] + route[end:]


def repeated(layers: int, first: int, last: int, times: int = 2, damped: bool = False) -> Route:
    """The block first..last runs `times` times in place of once; damped: each pass of a layer moves
    the stream by 1/times of what the layer says, as sub-steps of one step (arXiv:2605.23872)."""
    _check_block(layers, first, last)
    if times < 1:
        raise AuditError(f"times={times}: a block runs at least once")
    block = tuple(Step(i, 1 / times if damped else 1.0) for i in range(first, last + 1))
    return whole(layers)[:first] + block * times + whole(layers)[last + 1 :]


def _check_block(layers: int, first: int, last: int) -> None:
    if not 0 <= first <= last < layers:
        raise AuditError(
            f"layers {first + 1} to {last + 1}: the model has layers 1 to {layers}; give a block "
            "that lies inside"
        )


class _Call(NamedTuple):
    """One layer, with what it receives beside the stream."""

    forward: Callable[..., Any]
    place: int | str
    args: tuple[Any, ...]
    kwargs: dict[str, Any]

    def run(self, hidden: Tensor) -> Any:
        args, kwargs = self.args, self.kwargs
        if isinstance(self.place, int):
            args = (*args[: self.place], hidden, *args[self.place + 1 :])
        else:
            kwargs = kwargs | {self.place: hidden}
        return self.forward(*args, **kwargs)

    def stream(self, hidden: Tensor) -> Tensor:
        return first_of(self.run(hidden))


class _Enough(Exception):
    """Ends a forward pass whose head is not wanted."""


@dataclass(eq=False, repr=False)
class LayeredModel:
    """A model and its layers, made by `layered`. Calls are free of gradients and leave the model as
    it was, its training mode included.

    Attributes:
        name: how reports call it.
        net: the model.
        layers: the module of each layer; one module may stand several times.
        kinds: of each layer, the parts that not every layer has, or the class where all are alike.
        causal: whether no logit, or no hidden state, depends on later tokens.
        vocabulary: logits for one token, or ids that the embeddings accept where there is no head.
        width: of the stream.
        head: whether the model returns logits of shape (documents, tokens, vocabulary).
        accepted: ids run from 0 to accepted - 1.
        longest: tokens in the longest input, where the configuration says so.
    """

    name: str
    net: nn.Module
    layers: list[nn.Module]
    kinds: tuple[str, ...]
    causal: bool
    vocabulary: int
    width: int
    head: bool
    accepted: int
    longest: int | None
    _lengths: tuple[int, ...]
    _in_truth: bool = False
    _kept: tuple[Tensor, int, list[_Call], Tensor] | None = None

    @cached_property
    def shared(self) -> tuple[tuple[int, ...], ...]:
        """Groups of at least two layers that are one module, or hold equal weights."""
        seen: dict[Any, list[int]] = {}
        known: dict[int, Any] = {}
        for index, layer in enumerate(self.layers):
            if id(layer) not in known:
                tensors = layer.state_dict(keep_vars=True)
                known[id(layer)] = digest(layer) if tensors else id(layer)
            seen.setdefault(known[id(layer)], []).append(index)
        return tuple(tuple(group) for group in seen.values() if len(group) > 1)

    @property
    def depth(self) -> int:
        """Number of layers."""
        return len(self.layers)

    @property
    def padding(self) -> int | None:
        """The id that fills up short inputs, which random ids leave out: its state may be zero."""
        found = getattr(getattr(self.net, "config", None), "pad_token_id", None)
        return found if isinstance(found, int) and 0 <= found < self.accepted else None

    def logits(self, ids: Any, route: Route | None = None) -> Tensor:
        """Logits (documents, tokens, vocabulary) of the model with its layers on a route.

        Raises:
            AuditError: for a model without a head, and for ids or a route that do not fit.
        """
        self.need_head()
        return self._read(self._pass(self.tokens(ids), self._runner(route)))

    def states(self, ids: Any, route: Route | None = None) -> Iterator[Tensor]:
        """The stream (documents, tokens, width) before the first step and after each, one at a
        time."""
        ids = self.tokens(ids)
        steps = self._route(route)
        calls, hidden = self._calls(ids)
        yield hidden
        for step in steps:
            hidden = self._moved(calls, hidden, step)
            yield hidden

    def outcomes(self, ids: Any, routes: Sequence[Route]) -> Iterator[tuple[int, Tensor]]:
        """Number and last stream of each route, those first that leave the whole early; what a
        route shares with the whole before it leaves runs once for all. Memory: one state beside
        that of the route. `read_out` makes logits of a stream."""
        ids = self.tokens(ids)
        checked = [self._route(route) for route in routes]
        calls, hidden = self._calls(ids)
        passed = 0
        for index in sorted(range(len(checked)), key=lambda i: self._shared(checked[i])):
            for layer in range(passed, passed := self._shared(checked[index])):
                hidden = self._moved(calls, hidden, Step(layer))
            own = hidden
            for step in checked[index][passed:]:
                own = self._moved(calls, own, step)
            yield index, own

    def read_out(self, hidden: Tensor, ids: Any) -> Tensor:
        """What the final norm and the head make of a stream: the logit lens; without a head, what
        the model returns for it."""
        return self._read(self._pass(self.tokens(ids), lambda calls, start: hidden))

    def step(self, hidden: Tensor, index: int, ids: Any) -> Tensor:
        """One layer run on any stream, with the arguments that it has on these ids."""
        calls, _ = self._calls(self.tokens(ids))
        _check_block(self.depth, index, index)
        return self._moved(calls, hidden, Step(index))

    def parts(self, ids: Any) -> Iterator[dict[str, Tensor]]:
        """For each layer the stream before it ("stream") and what its parts add to the stream:
        "attention", the part that runs first, whatever mixes tokens there, and "mlp", the second;
        one part alone is "attention". Where a norm stands behind the sum, as in BERT, a part is
        what it adds before that norm.

        Raises:
            AuditError: where no parts were found whose sum with the stream goes on.
        """
        ids = self.tokens(ids)
        names = [self._writers(index) for index in range(self.depth)]
        calls, hidden = self._calls(ids)
        for index, call in enumerate(calls):
            written: dict[str, Tensor] = {"stream": hidden}
            with contextlib.ExitStack() as stack, evaluation(self.net):
                for key, name in zip(("attention", "mlp"), names[index], strict=False):
                    module = self.layers[index].get_submodule(name)
                    hook = module.register_forward_hook(partial(_keep, written, key))
                    stack.callback(hook.remove)
                hidden = call.stream(hidden)
            yield written

    def need_head(self) -> None:
        """Raise AuditError for a model that returns no logits."""
        if not self.head:
            raise AuditError(
                f"{self.name} returns no logits (documents, tokens, vocabulary), so it has no "
                "loss; load it with its head, or ask for measures of hidden states"
            )

    def tokens(self, ids: Any) -> Tensor:
        """Ids as the model reads them, on its device.

        Raises:
            AuditError: for another shape or type, ids that the embeddings do not have, and more
                tokens than the model accepts.
        """
        place = next(itertools.chain(self.net.parameters(), self.net.buffers()), torch.empty(0))
        found = torch.as_tensor(ids, device=place.device)
        if found.ndim != 2 or found.is_floating_point() or not found.numel():
            raise AuditError(
                f"ids of shape {tuple(found.shape)} and type {found.dtype}: accepted are integers "
                "of shape (documents, tokens)"
            )
        if found.min() < 0 or found.max() >= self.accepted:
            raise AuditError(
                f"ids reach from {found.min()} to {found.max()}, but {self.name} accepts 0 to "
                f"{self.accepted - 1}; take the tokenizer that belongs to the model"
            )
        if self.longest is not None and found.shape[1] > self.longest:
            raise AuditError(
                f"{found.shape[1]} tokens, but {self.name} accepts at most {self.longest}; take "
                "shorter documents"
            )
        return found.long()

    # --- how ---

    def _route(self, route: Route | None) -> Route:
        steps = whole(self.depth) if route is None else route
        for step in steps:
            _check_block(self.depth, step.layer, step.layer)
        return steps

    def _runner(self, route: Route | None) -> Callable[[list[_Call], Tensor], Tensor]:
        steps = self._route(route)

        def run(calls: list[_Call], hidden: Tensor) -> Tensor:
            for step in steps:
                hidden = self._moved(calls, hidden, step)
            return hidden

        return run

    def _shared(self, route: Route) -> int:
        """How many steps a route has in common with the whole, from the first on."""
        pairs = zip(route, whole(self.depth), strict=False)
        return sum(1 for _ in itertools.takewhile(lambda pair: pair[0] == pair[1], pairs))

    def _moved(self, calls: list[_Call], hidden: Tensor, step: Step) -> Tensor:
        with evaluation(self.net):
            moved = calls[step.layer].stream(hidden)
            return moved if step.scale == 1 else hidden + step.scale * (moved - hidden)

    def _calls(self, ids: Tensor) -> tuple[list[_Call], Tensor]:
        """The layers with their arguments on these ids, and the stream before the first; the last
        answer is kept until weights change in place."""
        changes = sum(weight._version for weight in self.net.parameters())
        kept = self._kept
        if kept is None or kept[1] != changes or not torch.equal(kept[0], ids):

            def leave(calls: list[_Call], start: Tensor) -> Tensor:
                self._kept = (ids, changes, calls, start)
                raise _Enough

            with contextlib.suppress(_Enough):
                self._pass(ids, leave)
        assert self._kept is not None
        return self._kept[2:]

    def _pass(self, ids: Tensor, run: Callable[[list[_Call], Tensor], Tensor]) -> Any:
        """What the model returns when `run` stands for all layers: (calls, first stream) -> last
        stream."""
        calls: list[_Call] = []
        start: list[Tensor] = []
        own = {id(layer): layer.forward for layer in self.layers}

        def forward(layer: nn.Module, *args: Any, **kwargs: Any) -> Any:
            place, hidden = stream_of(args, kwargs)
            call = _Call(own[id(layer)], place, cut(args, place), cut(kwargs, place))
            calls.append(call)
            start.append(hidden) if not start else None
            told = call.run(hidden) if self._in_truth else None
            if len(calls) == self.depth:
                hidden = run(calls, start[0])
            elif told is not None:
                return told
            length = self._lengths[len(calls) - 1]
            rest = told[1:] if isinstance(told, tuple) else (None,) * (length - 1)
            return (hidden, *rest) if length else hidden

        with evaluation(self.net), _forward_of(self.layers, forward):
            try:
                return called(self.net, ids)
            except (_Enough, AuditError):
                raise
            except (RuntimeError, ValueError, IndexError, TypeError, KeyError) as error:
                raise AuditError(
                    f"{self.name} fails on {ids.shape[0]} documents of {ids.shape[1]} tokens: "
                    f"{one_line(error)}"
                ) from None

    def _read(self, returned: Any) -> Tensor:
        found = logits_of(returned)
        return first_of(returned) if found is None else found

    def _writers(self, index: int) -> tuple[str, ...]:
        """Names, inside a layer, of the parts that write into the stream."""
        if index not in self._written:
            calls, hidden = self._calls(self._probe)
            for layer in range(index):
                hidden = self._moved(calls, hidden, Step(layer))
            with evaluation(self.net):
                found = sum_of_parts(self.layers[index], calls[index].stream, hidden)
            if found is None:
                raise AuditError(
                    f"{self.name}: what attention and MLP of layer {index + 1} add cannot be told "
                    "apart; ask for the other measures"
                )
            self._written[index] = found
        return self._written[index]

    @cached_property
    def _written(self) -> dict[int, tuple[str, ...]]:
        return {}

    @cached_property
    def _probe(self) -> Tensor:
        return self.tokens(probe_ids(self.accepted, self.longest))


def layered(
    net: nn.Module,
    *,
    name: str = "",
    layers: str | None = None,
    example: Any = None,
    causal: bool | None = None,
) -> LayeredModel:
    """The layers of a model, found by a probe.

    Args:
        net: a model of transformers, or a module that maps ids (documents, tokens) to logits or
            hidden states (documents, tokens, width).
        name: how reports call it; by default the name of its class.
        layers: dotted name of the module list, where more than one could be meant.
        example: ids (documents, tokens) for the probe; by default two documents of 8 random ids.
        causal: whether later tokens are unseen; by default the probe tells by changing them.

    Raises:
        AuditError: where weights are missing or not finite, the probe fails, no list or more than
            one passes the stream, or the stream is not one tensor that goes from layer to layer.

    Cost: five forward passes on the probe.
    """
    name = name or type(net).__name__
    config = getattr(net, "config", None)
    for key, tensor in itertools.chain(net.named_parameters(), net.named_buffers()):
        if tensor.is_meta:
            raise AuditError(f"{name}: {key} has no values; load the weights first")
        if tensor.is_floating_point() and not finite(tensor):
            raise AuditError(f"{name}: {key} holds weights that are not finite; load it anew")
    if getattr(config, "is_encoder_decoder", False):
        raise AuditError(
            f"{name} is an encoder and a decoder, so its stream is not one tensor; give one of "
            "the two"
        )
    accepted = accepted_ids(net, name, example)
    longest = longest_input(config)
    ids = probe_ids(accepted, longest) if example is None else torch.as_tensor(example)
    events, returned = probe_run(net, name, layers, ids)
    events = chain(name, layers, events, ids)
    logits = logits_of(returned)
    head = logits is not None and logits.ndim == 3 and logits.shape[:2] == ids.shape
    made = LayeredModel(
        name,
        net,
        [event.module for event in events],
        kinds_of(events, config),
        False,
        logits.shape[2] if head and logits is not None else accepted,
        events[0].before.shape[2],
        head,
        accepted,
        longest,
        tuple(event.length for event in events),
    )
    read = made._read(returned)
    for made._in_truth in (False, True):
        made._kept = None
        with contextlib.suppress(AuditError):
            again = made._read(made._pass(made.tokens(ids), made._runner(None)))
            if again.shape == read.shape and torch.equal(again, read):
                break
    else:
        raise AuditError(
            f"{name}: its {made.depth} layers run one by one do not give what the model gives, so "
            "its stream is not one tensor; this kind is not audited"
        )
    made.causal = _causal(made, ids, read) if causal is None else causal
    made._kept = None
    return made


def digest(net: nn.Module) -> str:
    """SHA-256 of all weights and buffers that a module saves, with names, types and shapes, read
    one tensor at a time in the order of the module."""
    total = hashlib.sha256()
    for key, tensor in net.state_dict(keep_vars=True).items():
        total.update(f"{key} {tensor.dtype} {tuple(tensor.shape)}\n".encode())
        flat = tensor.detach().cpu().contiguous().reshape(-1)
        total.update(flat.view(torch.uint8).numpy().data)
    return total.hexdigest()


def _causal(model: LayeredModel, ids: Tensor, read: Tensor) -> bool:
    """Whether new ids in the second half leave what the model says on the first as it was, up to
    rounding: by so many units in the last place as sums of a thousand terms may lose."""
    half = ids.shape[1] // 2
    generator = torch.Generator().manual_seed(1)
    other = ids.clone()
    low = min(10, model.accepted // 2)
    for _ in range(3):
        drawn = torch.randint(low, model.accepted, other[:, half:].shape, generator=generator)
        other[:, half:] = drawn
        changed = model._read(model._pass(model.tokens(other), model._runner(None)))
        moved = (changed - read)[:, :half].abs().max() if half else read.new_zeros(())
        if moved > 1024 * torch.finfo(read.dtype).eps * read.abs().max():
            return False
    return True


def _keep(written: dict[str, Tensor], key: str, module: nn.Module, args: Any, output: Any) -> None:
    written[key] = first_of(output)


@contextlib.contextmanager
def _forward_of(layers: Iterable[nn.Module], forward: Callable[..., Any]) -> Iterator[None]:
    """Every layer runs `forward(layer, ...)` in place of its own."""
    distinct: dict[int, Any] = {id(layer): layer for layer in layers}
    before = {key: vars(layer).get("forward") for key, layer in distinct.items()}
    try:
        for layer in distinct.values():
            layer.forward = partial(forward, layer)
        yield
    finally:
        for key, layer in distinct.items():
            if before[key] is None:
                del layer.forward
            else:
                layer.forward = before[key]

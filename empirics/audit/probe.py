"""How the layers of a model are found: by what its modules hand to each other in one pass."""

from __future__ import annotations

import contextlib
import inspect
import itertools
from collections.abc import Callable, Iterable, Iterator
from functools import partial
from typing import Any, NamedTuple

import torch
from torch import Tensor, nn

from . import AuditError


class Event(NamedTuple):
    """What a module received and returned in the probe."""

    name: str
    module: nn.Module
    before: Tensor
    after: Tensor
    length: int  # of the tuple that it returned, 0 for a tensor
    outermost: bool  # whether no other of the recorded modules was running


@contextlib.contextmanager
def evaluation(net: nn.Module) -> Iterator[None]:
    """A net in evaluation mode, without gradients; afterwards its modes are as they were."""
    training = [module for module in net.modules() if module.training]
    for module in training:
        module.training = False
    try:
        with torch.no_grad():
            yield
    finally:
        for module in training:
            module.training = True


def _recorded(
    modules: Iterable[tuple[str, nn.Module]], run: Callable[[], Any]
) -> tuple[list[Event], Any]:
    """What modules receive and return while something runs, and what that returns."""
    events: list[Event] = []
    received: list[Tensor | None] = []

    def before(module: nn.Module, args: Any, kwargs: Any) -> None:
        found = stream_of(args, kwargs, required=False)
        received.append(None if found is None else found[1])

    def after(name: str, module: nn.Module, args: Any, output: Any) -> None:
        found, told = received.pop(), first_of(output, required=False)
        if found is not None and told is not None:
            length = len(output) if isinstance(output, tuple) else 0
            events.append(Event(name, module, found, told, length, not received))

    with contextlib.ExitStack() as stack:
        for name, module in modules:
            hook = module.register_forward_pre_hook(before, with_kwargs=True)
            stack.callback(hook.remove)
            stack.callback(module.register_forward_hook(partial(after, name)).remove)
        return events, run()


def finite(tensor: Tensor) -> bool:
    """Whether weights are finite; a mask held in a buffer may hold -inf."""
    return not tensor.isnan().any() and (
        not tensor.isinf().any() or not isinstance(tensor, nn.Parameter)
    )


def accepted_ids(net: nn.Module, name: str, example: Any) -> int:
    """How many ids the embeddings accept."""
    get = getattr(net, "get_input_embeddings", None)
    table = None
    with contextlib.suppress(Exception):
        table = get() if get else None
    if not isinstance(table, nn.Embedding):
        table = next((m for m in net.modules() if isinstance(m, nn.Embedding)), None)
    if table is not None:
        return table.num_embeddings
    for holder in (net, getattr(net, "config", None)):
        for key in ("vocab_size", "vocabulary"):
            if isinstance(size := getattr(holder, key, None), int):
                return size
    if example is not None:
        return int(torch.as_tensor(example).max()) + 1
    raise AuditError(
        f"{name} has no embedding of ids; give a model that reads ids, with an attribute "
        "`vocabulary` where it has no nn.Embedding"
    )


def longest_input(config: Any) -> int | None:
    """Tokens in the longest input that the configuration names; beyond it positions are either
    missing or were never trained."""
    size = getattr(config, "max_position_embeddings", None)
    return size if isinstance(size, int) and size > 0 else None


def probe_ids(accepted: int, longest: int | None) -> Tensor:
    """Two documents of different, fixed ids, away from the special ones where there is room."""
    tokens = min(8, longest or 8)
    generator = torch.Generator().manual_seed(0)
    low = min(10, accepted // 2)
    rows = 2 if tokens != 2 else 3
    return torch.randint(low, accepted, (rows, tokens), generator=generator)


def probe_run(
    net: nn.Module, name: str, wanted: str | None, ids: Tensor
) -> tuple[list[Event], Any]:
    """One forward pass: what members of module lists received and returned, outermost alone."""
    lists = {
        key: module
        for key, module in net.named_modules()
        if isinstance(module, (nn.ModuleList, nn.Sequential))
        and (key == wanted if wanted is not None else isinstance(module, nn.ModuleList))
        and len(module)
    }
    if not lists:
        raise AuditError(
            f"{name} has no list of layers"
            + (f" named {wanted!r}" if wanted is not None else "")
            + "; accepted is a module whose layers are an nn.ModuleList"
        )
    members = {id(member): (key, member) for key, found in lists.items() for member in found}
    place = next(itertools.chain(net.parameters(), net.buffers()), ids)
    try:
        with evaluation(net):
            events, returned = _recorded(
                members.values(), lambda: called(net, ids.to(place.device))
            )
    # A model that is not of this kind may raise anything.
    except Exception as error:
        raise AuditError(
            f"{name} does not run on ids of shape {tuple(ids.shape)}: {one_line(error)}; give "
            "example=ids that it accepts"
        ) from None
    return [event for event in events if event.outermost], returned


def chain(name: str, wanted: str | None, events: list[Event], ids: Tensor) -> list[Event]:
    """The calls that hand the stream from one to the next."""
    shape = tuple(ids.shape)
    named = sorted({event.name for event in events})
    events = [event for event in events if event.before.shape == event.after.shape]
    found = [e for e in events if e.before.ndim == 3 and e.before.shape[:2] == shape]
    if not found:
        seen = "; ".join(
            f"{event.name} passes {tuple(event.before.shape)}" for event in events[:1]
        ) or (f"seen were {', '.join(named)}" if named else "none of its lists ran as layers")
        raise AuditError(
            f"{name}: no list of layers passes one stream (documents, tokens, width) on {shape} "
            f"ids: {seen}"
        )
    for index, (one, two) in enumerate(itertools.pairwise(found)):
        same = one.after is two.before or torch.equal(one.after, two.before)
        if one.after.shape != two.before.shape or not same:
            raise AuditError(
                f"{name}: layer {index + 2} ({two.name}) does not receive what layer {index + 1} "
                f"({one.name}) returns, so the stream is not one tensor"
                + ("" if wanted is not None else f"; name one list by layers=, of {named}")
            )
    return found


def kinds_of(events: list[Event], config: Any) -> tuple[str, ...]:
    """A name for each layer's kind: its class where all are alike, otherwise the parts and the type
    that tell it from others."""
    modules = [event.module for event in events]
    told = getattr(config, "layer_types", None) or getattr(config, "layers_block_type", None) or ()
    types = [
        str(getattr(m, "layer_type", None) or getattr(m, "attention_type", None) or "")
        or (str(told[i]) if len(told) == len(modules) else "")
        for i, m in enumerate(modules)
    ]
    parts = [
        {f"{key}: {type(part).__name__}" for key, part in module.named_children()}
        for module in modules
    ]
    common = set.intersection(*parts)
    several = len(set(types)) > 1
    return tuple(
        " + ".join(filter(None, [type_ if several else "", *sorted(own - common)]))
        or type(module).__name__
        for module, type_, own in zip(modules, types, parts, strict=True)
    )


# --- parts of a layer ---


def sum_of_parts(
    layer: nn.Module, run: Callable[[Tensor], Tensor], hidden: Tensor
) -> tuple[str, ...] | None:
    """Names of one or two modules whose outputs, added to the stream, are what goes on."""
    inner = [(key, module) for key, module in layer.named_modules() if key]
    events, end = _recorded(inner, lambda: run(hidden))
    events = [event for event in events if event.after.shape == hidden.shape]

    def same(one: Tensor, two: Tensor) -> bool:
        if one.shape != two.shape:
            return False
        near = 64 * torch.finfo(one.dtype).eps * max(float(one.abs().max()), 1e-30)
        return bool((one - two).abs().max() <= near)

    outer = [event for event in events if "." not in event.name]
    for number in (2, 1):
        for group in itertools.combinations(outer, number):
            if same(hidden + torch.stack([event.after for event in group]).sum(0), end):
                return tuple(event.name for event in group)
    # A sum that a later module receives; a norm behind it makes the next stream.
    bases, found = [hidden], list[str]()
    for index, event in enumerate(events):
        sums = [base + event.after for base in bases]
        into = [later for later in events[index + 1 :] if any(same(later.before, s) for s in sums)]
        if into or any(same(s, end) for s in sums):
            found.append(event.name)
            bases = [*sums, *(later.after for later in into)]
    finished = any(same(base, end) for base in bases)
    return tuple(found) if finished and 0 < len(found) <= 2 else None


# --- calls of modules ---


def called(net: nn.Module, ids: Tensor) -> Any:
    """What a net returns for ids, without a store of keys and values."""
    takes = inspect.signature(type(net).forward).parameters
    if "input_ids" not in takes:
        return net(ids)
    if hasattr(getattr(net, "config", None), "use_cache") and "use_cache" in takes:
        return net(input_ids=ids, use_cache=False)
    return net(input_ids=ids)


def logits_of(returned: Any) -> Tensor | None:
    """The logits among what a net returns; a bare tensor is taken for logits."""
    if isinstance(returned, Tensor):
        return returned
    for key in ("logits", "prediction_logits"):
        if isinstance(found := getattr(returned, key, None), Tensor):
            return found
    return None


def stream_of(args: Any, kwargs: Any, *, required: bool = True) -> Any:
    """Where the stream stands among arguments, and the stream: the first tensor of numbers."""
    for place, value in itertools.chain(enumerate(args), kwargs.items()):
        if isinstance(value, Tensor) and value.is_floating_point():
            return place, value
    if required:
        raise AuditError("a layer receives no stream of numbers; this kind is not audited")
    return None


def cut(given: Any, place: int | str) -> Any:
    """Arguments without the stream, which is not kept."""
    if isinstance(given, dict):
        return {key: value for key, value in given.items() if key != place}
    return tuple(None if index == place else value for index, value in enumerate(given))


def first_of(output: Any, *, required: bool = True) -> Any:
    """The stream among what a module returns."""
    if isinstance(output, Tensor):
        return output
    if isinstance(output, (tuple, list)) and output and isinstance(output[0], Tensor):
        return output[0]
    if isinstance(found := getattr(output, "last_hidden_state", None), Tensor):
        return found
    if required:
        raise AuditError("a layer returns no stream of numbers; this kind is not audited")
    return None


def one_line(error: BaseException) -> str:
    """What an error says, at most 160 characters."""
    text = " ".join(str(error).split()) or type(error).__name__
    return text if len(text) <= 160 else text[:157] + "..."

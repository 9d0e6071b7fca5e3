"""How far the tokens of a real architecture are from equal, layer by layer.

Hooks reduce the hidden states to a few norms as they pass: none is stored, so that memory grows
with the weights and with one layer, not with depth times batch.
"""

from __future__ import annotations

import contextlib
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal, NamedTuple

import numpy as np

from depthlaw.advisor.base.quantities import UsageError

from .ablations import ablated, removed
from .loading import NetFamily, architecture, random_net, stored_net

if TYPE_CHECKING:
    from torch import Tensor, nn

# Tokens that pass the net at once: enough for matrix products, little beside the weights.
_TOKENS_AT_ONCE = 4096


class Norms(NamedTuple):
    """Norms of hidden states and of their residual, which is the states minus their token mean;
    each of shape (layers + 1, batch), with the embeddings as layer 0.

    The composite norm of a matrix is sqrt(largest column sum * largest row sum), of absolute
    values.
    """

    composite: np.ndarray
    frobenius: np.ndarray
    composite_residual: np.ndarray
    frobenius_residual: np.ndarray


@dataclass(frozen=True, eq=False)
class Residuals:
    """Relative residuals by layer: norm of the hidden states minus their token mean, over the norm
    of the hidden states. Arrays have the shape (seeds, layers + 1); layer 0 is the embeddings.

    Attributes:
        model, variant, layers, width, heads, parameters: of the net, with all its parts.
        what_is_removed: by the variant, in words.
        batch, tokens, seeds, device, dtype: how it was measured.
        by_layer: in the composite norm, the mean over the batch.
        over_batch: its standard deviation over the batch; 0 for one sequence.
        frobenius: in the Frobenius norm, the mean over the batch.
        norms: composite norm of the hidden states, the mean over the batch.
        weights: "random", or the folder that they come from.
        versions: of torch and transformers.
        notes: what a reader of the numbers should know.
    """

    model: str
    variant: str
    layers: int
    width: int
    heads: int
    parameters: int
    what_is_removed: str
    batch: int
    tokens: int
    seeds: tuple[int, ...]
    device: str
    dtype: str
    by_layer: np.ndarray
    over_batch: np.ndarray
    frobenius: np.ndarray
    norms: np.ndarray
    weights: str
    versions: dict[str, str]
    notes: tuple[str, ...]


def measure_residuals(
    model: str = "",
    *,
    variant: str = "full",
    layers: int | None = None,
    width: int | None = None,
    heads: int | None = None,
    vocabulary: int | None = None,
    batch: int = 8,
    tokens: int = 128,
    seeds: Sequence[int] = (0,),
    ids: np.ndarray | None = None,
    device: str = "cpu",
    dtype: Literal["float32", "float64"] = "float32",
    weights: Path | None = None,
) -> Residuals:
    """Relative residuals by layer of an architecture of transformers, whole or with parts removed.

    Args:
        model: a name of `ARCHITECTURES`; with `weights` it may be left out.
        variant: a name of `VARIANTS`.
        layers, width, heads, vocabulary: of a net with random weights; by default 12, 768, 12 and
            the architecture's own. A folder says its own.
        batch, tokens: sequences, and tokens in each.
        seeds: for each, new weights and new ids; with `weights` only new ids.
        ids: token ids, shape (batch, tokens), for every seed; by default independent ones by Zipf's
            law, see `zipf_ids`.
        device: "cpu" or "cuda".
        dtype: weights are drawn in float32 in any case. In float32 residuals below about 1e-6 are
            rounding.
        weights: a folder with config.json and weights.

    Raises:
        UsageError: for an argument that is not accepted, when the extra hf is not installed, for a
            folder whose weights do not fit, and where hidden states vanish below what the dtype
            can hold.

    Cost: drawing the weights and one forward pass per seed. Memory: the weights, and activations of
    one layer for 4096 tokens or one sequence.
    """
    _check_how(batch, tokens, seeds, dtype)
    sizes = {"layers": layers, "width": width, "heads": heads, "vocabulary": vocabulary}
    given = {name: size for name, size in sizes.items() if size is not None}
    kind, net = _chosen(model, given, tokens, seeds[0], weights, variant)
    import torch
    import transformers

    check_device(device)
    config: Any = net.config
    _check_ids(ids, batch, tokens, config, kind)
    number = sum(p.numel() for p in net.parameters())
    rows = []
    for index, seed in enumerate(seeds):
        if index and weights is None:
            net = random_net(kind, tokens=tokens, seed=seed, **given)
        net = net.to(device, torch.float64 if dtype == "float64" else torch.float32)
        inputs = (
            ids
            if ids is not None
            else zipf_ids(
                np.random.default_rng(seed), batch, tokens, config.vocab_size, config.pad_token_id
            )
        )
        with ablated(net, kind, variant):
            rows.append(layer_norms(net, kind, inputs))
    relative = np.stack([row.composite_residual / row.composite for row in rows])
    return Residuals(
        model=kind.name,
        variant=variant,
        layers=relative.shape[1] - 1,
        width=config.hidden_size,
        heads=config.num_attention_heads,
        parameters=number,
        what_is_removed=removed(kind, variant),
        batch=relative.shape[2],
        tokens=tokens if ids is None else ids.shape[1],
        seeds=tuple(seeds),
        device=device,
        dtype=dtype,
        by_layer=relative.mean(axis=-1),
        over_batch=relative.std(axis=-1),
        frobenius=np.stack(
            [(row.frobenius_residual / row.frobenius).mean(axis=-1) for row in rows]
        ),
        norms=np.stack([row.composite.mean(axis=-1) for row in rows]),
        weights="random" if weights is None else str(weights),
        versions={"torch": torch.__version__, "transformers": transformers.__version__},
        notes=_notes(kind, dtype),
    )


def layer_norms(net: nn.Module, model: NetFamily, ids: np.ndarray) -> Norms:
    """Norms of the hidden states before the first layer and after each, as they pass, of a net in
    evaluation mode on token ids (batch, tokens).

    Raises:
        UsageError: where all hidden states of a layer are zero, or not finite.
    """
    import torch

    rows = max(1, _TOKENS_AT_ONCE // ids.shape[1])
    place = next(net.parameters()).device
    norms: list[Tensor] = []
    with torch.inference_mode(), _listening(net, model) as passed:
        for start in range(0, len(ids), rows):
            passed.clear()
            net(input_ids=torch.as_tensor(ids[start : start + rows], device=place))
            norms.append(torch.stack(passed))
    values = torch.cat(norms, dim=2).double().cpu().numpy()
    if not np.all(np.isfinite(values)) or not np.all(values[:, 0] > 0):
        bad = int(np.argmax(~(np.isfinite(values).all(axis=1) & (values[:, 0] > 0)).all(axis=1)))
        raise UsageError(
            f"after layer {bad} hidden states are zero or not finite: they left the "
            "range of the numbers; take float64 or fewer layers"
        )
    return Norms(*values.transpose(1, 0, 2))


@contextlib.contextmanager
def _listening(net: nn.Module, model: NetFamily) -> Iterator[list[Tensor]]:
    """A list to which every layer that runs appends the norms of its hidden states."""
    layers, passed = list(model.layers(net)), list[Any]()

    def before(module: nn.Module, args: Any) -> None:
        # A layer that is run many times, as in ALBERT, reads the embeddings the first time.
        if not passed:
            passed.append(matrix_norms(model.hidden(args[0])))

    def after(module: nn.Module, args: Any, output: Any) -> None:
        passed.append(matrix_norms(model.hidden(output)))

    # Before the hooks that remove parts of a layer change what comes in; after they have changed
    # what goes out.
    hooks = [
        layers[0].register_forward_pre_hook(before, prepend=True),
        *(layer.register_forward_hook(after) for layer in layers),
    ]
    try:
        yield passed
    finally:
        for hook in hooks:
            hook.remove()


def matrix_norms(hidden: Tensor) -> Tensor:
    """The four norms of `Norms` for each sequence: hidden (batch, tokens, width) -> (4, batch)."""
    import torch

    def both(matrix: Tensor) -> Iterator[Tensor]:
        columns = torch.linalg.vector_norm(matrix, 1, dim=1).amax(dim=1)
        rows = torch.linalg.vector_norm(matrix, 1, dim=2).amax(dim=1)
        # The root of each factor: their product may underflow.
        yield columns.sqrt() * rows.sqrt()
        yield torch.linalg.vector_norm(matrix, dim=(1, 2))

    moved = hidden - hidden.mean(dim=1, keepdim=True)
    return torch.stack([*both(hidden), *both(moved)])


def zipf_ids(
    rng: np.random.Generator, batch: int, tokens: int, vocabulary: int, without: int | None = None
) -> np.ndarray:
    """Independent token ids, shape (batch, tokens), by Zipf's law: P(rank) proportional to 1/rank.
    Ids are ranked by size; `without` is left out: the id of padding, whose embedding is zero."""
    ids = np.delete(np.arange(vocabulary), [] if without is None else [without])
    law = 1 / np.arange(1, len(ids) + 1)
    return rng.choice(ids, size=(batch, tokens), p=law / law.sum())


def _chosen(
    model: str, given: dict[str, int], tokens: int, seed: int, weights: Path | None, variant: str
) -> tuple[NetFamily, nn.Module]:
    """The architecture and the net for the first seed."""
    if weights is None:
        kind = architecture(model)
        removed(kind, variant)
        return kind, random_net(kind, tokens=tokens, seed=seed, **given)
    if given:
        raise UsageError(
            f"{', '.join(given)}: a folder with weights says its own sizes; leave "
            f"{'it' if len(given) == 1 else 'them'} out, or the folder"
        )
    if model:
        architecture(model)
    kind, net = stored_net(weights)
    if model not in ("", kind.name):
        raise UsageError(f"{weights} holds a model of type {kind.name}, not {model}")
    removed(kind, variant)
    return kind, net


def _check_how(batch: int, tokens: int, seeds: Sequence[int], dtype: str) -> None:
    if batch < 1 or tokens < 2:
        raise UsageError(
            f"batch={batch}, tokens={tokens}: at least 1 and 2 are accepted; one "
            "token is its own mean"
        )
    if not seeds or min(seeds) < 0:
        raise UsageError(f"seeds={tuple(seeds)}: accepted is at least one, none negative")
    if dtype not in ("float32", "float64"):
        raise UsageError(f"dtype={dtype!r}: accepted are float32 and float64")


def check_device(device: str) -> None:
    """Refuse a device that is not known, or not here."""
    import torch

    if device not in ("cpu", "cuda"):
        raise UsageError(f"device {device!r}: accepted are cpu and cuda")
    if device == "cuda" and not torch.cuda.is_available():
        raise UsageError("device cuda: PyTorch finds no GPU here; take cpu")


def _check_ids(
    ids: np.ndarray | None, batch: int, tokens: int, config: Any, model: NetFamily
) -> None:
    if ids is not None:
        if ids.ndim != 2 or ids.dtype.kind not in "iu" or ids.shape[1] < 2 or not len(ids):
            raise UsageError(
                f"ids have shape {ids.shape} and type {ids.dtype}; accepted are "
                "integers of shape (batch, tokens) with at least 2 tokens"
            )
        if ids.min() < 0 or ids.max() >= config.vocab_size:
            raise UsageError(
                f"ids reach from {ids.min()} to {ids.max()}; the vocabulary has "
                f"{config.vocab_size}, so accepted is 0 to {config.vocab_size - 1}"
            )
        tokens = ids.shape[1]
    if model.learned and tokens > config.max_position_embeddings:
        raise UsageError(
            f"{tokens} tokens, but this net has learned positions for "
            f"{config.max_position_embeddings}"
        )


def _notes(model: NetFamily, dtype: str) -> tuple[str, ...]:
    if dtype == "float64" and model.norms_in_float32:
        return (
            f"the norms of {model.label} compute in float32 whatever the weights are, so that "
            "float64 does not have all of its precision",
        )
    return ()

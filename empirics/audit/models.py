"""Models to audit: from a folder as `save_pretrained` writes it, or an architecture with fresh
weights; never from the network, and never by running code that a folder brings."""

from __future__ import annotations

import contextlib
import json
import os
import re
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

from depthlaw.advisor.base.quantities import quoted

from ..architectures.loading import (
    ARCHITECTURES,
    library,
    one_line,
    quiet,
    random_net,
)
from . import AuditError

if TYPE_CHECKING:
    from .documents import Documents
    from .explicit import ExplicitNet
    from .layered import LayeredModel

# Files of which a tokenizer has at least one.
_TOKENIZER_FILES = (
    "tokenizer.json",
    "tokenizer_config.json",
    "vocab.json",
    "vocab.txt",
    "tokenizer.model",
    "spiece.model",
)
_WEIGHTS = ("*.safetensors", "*.bin", "*.index.json")
# Architectures of `measure` whose head fills gaps; of the others, but for these, it says the next.
_FILLS_GAPS, _NO_HEAD = ("bert", "albert"), ("t5", "xlnet")


class Opened(NamedTuple):
    """A model and, where one lies beside it, its tokenizer."""

    model: LayeredModel
    tokenizer: Any


def opened(what: str | Path, *, layers: str | None = None, seed: int = 0) -> Opened:
    """The model in a folder, or an architecture of `depthlaw measure` with fresh weights.

    Args:
        what: a folder, also one with an explicit net, see `explicit.save`; or a name such as gpt2
            where no folder of this name is.
        layers: dotted name of the module list, see `layered`.
        seed: of fresh weights.

    Raises:
        AuditError: where no model can be made of it: nothing there, a class that transformers does
            not have, weights that are missing, damaged, of other sizes or not finite, a tokenizer
            that cannot be read or has more tokens than the model.
    """
    from .explicit import FORM, load
    from .layered import layered

    folder = Path(what)
    if str(what) and os.path.isfile(folder / FORM) and not os.path.isfile(folder / "config.json"):
        return Opened(layered(load(folder), name=folder.resolve().name, layers="layers"), None)
    if str(what) and os.path.isdir(folder):
        net, tokenizer = _from_folder(folder)
        model = layered(net, name=folder.resolve().name, layers=layers)
        _check_tokenizer(folder, model, tokenizer)
        return Opened(model, tokenizer)
    if str(what) not in ARCHITECTURES:
        raise AuditError(
            f"{quoted(str(what))} is neither a folder nor an architecture; accepted are a folder "
            f"as save_pretrained writes it, and {', '.join(ARCHITECTURES)} with fresh weights"
        )
    net = _fresh(str(what), seed)
    return Opened(layered(net, name=f"{what} with fresh weights", layers=layers), None)


def words_of(net: ExplicitNet, tokens: int, documents: int, seed: int) -> Documents:
    """Words of the task that an explicit net does, at most 128, scored at the token that answers.

    They are as long as in known_answers.csv; for a task that is not there, as long as all words can
    be gone through, and at most `tokens`.

    Raises:
        AuditError: for a net that names no task.
        UsageError: for a task without words.
    """
    import numpy as np

    from depthlaw.theory.atlas.tasks import word_task

    from .documents import IGNORED, Documents
    from .known_answers import DOCUMENTS, MOST_WORDS, chosen_words, table

    name, numbers = net.exact.body.get("task"), net.exact.body.get("parameters", {})
    if name is None:
        raise AuditError('the net names no task, so it has no words; add "task" to its net.json')
    task, typed = word_task(name, numbers), " ".join(f"{k}={v}" for k, v in numbers.items())
    known = {(row["task"], row["parameters"]): row["letters"] for row in table("known_answers")}
    most = int(np.emath.logn(max(2, len(task.letters)), MOST_WORDS))
    letters = task.length or int(known.get((name, typed), min(most, tokens)))
    words = chosen_words(task, letters, min(documents, DOCUMENTS), seed)
    ids = net.ids(words).numpy()
    labels = np.full_like(ids, IGNORED)
    labels[:, net.at] = [net.labels.index(task.answer(word)) for word in words]
    return Documents(ids, "words", f"words of the task {f'{name} {typed}'.strip()}", labels=labels)


def _from_folder(folder: Path) -> tuple[Any, Any]:
    transformers = library()
    file = folder / "config.json"
    if not file.is_file():
        inside = sorted(found.parent.name for found in folder.glob("*/config.json"))
        raise AuditError(
            f"{folder} holds no config.json; give a folder as save_pretrained of transformers "
            f"writes it" + (f", such as {folder / inside[-1]}" if inside else "")
        )
    try:
        told = json.loads(file.read_text(encoding="utf-8"))
        names = told.get("architectures") if isinstance(told, dict) else None
    except (OSError, ValueError) as error:
        raise AuditError(f"{file} cannot be read as JSON: {one_line(error)}") from None
    if not any(found for pattern in _WEIGHTS for found in folder.glob(pattern)):
        raise AuditError(
            f"{folder} holds no weights; expected is model.safetensors beside config.json"
        )
    name = names[0] if isinstance(names, list) and names and isinstance(names[0], str) else ""
    kind = getattr(transformers, name, None) if name.isidentifier() else None
    if kind is None or not hasattr(kind, "from_pretrained"):
        raise AuditError(
            f"{file}: architectures names {name or 'no class'}, which transformers "
            f"{transformers.__version__} does not have; code in the folder is never run; pass a "
            "model in memory to depthlaw.audit"
        )
    with quiet(transformers):
        try:
            net, report = kind.from_pretrained(
                folder,
                local_files_only=True,
                trust_remote_code=False,
                output_loading_info=True,
                dtype="auto",
                ignore_mismatched_sizes=True,
            )
        except Exception as error:  # whatever a damaged file makes a reader of files raise
            raise AuditError(f"{folder} cannot be loaded: {one_line(error)}") from None
    known = {re.sub(r"\d+", "N", key) for key in net.state_dict()}
    wrong = {
        "missing": sorted(report["missing_keys"]),
        "of another shape": sorted(key for key, *_ in report["mismatched_keys"]),
        "of layers beyond those that it names": sorted(
            key for key in report["unexpected_keys"] if re.sub(r"\d+", "N", key) in known
        ),
    }
    for what, keys in wrong.items():
        if keys:
            raise AuditError(
                f"{folder}: the weights do not fit its config.json: {len(keys)} {what}, such as "
                f"{keys[0]}; give a folder as save_pretrained writes it"
            )
    if not any(parameter.is_floating_point() for parameter in net.parameters()):
        raise AuditError(
            f"{folder}: no weight is a floating-point number; give unquantised weights"
        )
    half = {"torch.float16", "torch.bfloat16"}
    if {str(parameter.dtype) for parameter in net.parameters()} & half:
        net = net.float()
    return net.eval(), _tokenizer(transformers, folder)


@contextlib.contextmanager
def undisturbed() -> Iterator[None]:
    """The random generators of torch are left as they were, those of accelerators too."""
    import torch

    with torch.random.fork_rng(devices=range(torch.cuda.device_count())):
        yield


def _tokenizer(transformers: Any, folder: Path) -> Any:
    if not any((folder / name).is_file() for name in _TOKENIZER_FILES):
        return None
    with quiet(transformers):
        try:
            return transformers.AutoTokenizer.from_pretrained(
                folder, local_files_only=True, trust_remote_code=False
            )
        except Exception as error:  # of several libraries
            raise AuditError(
                f"the tokenizer in {folder} cannot be read: {one_line(error)}"
            ) from None


def _check_tokenizer(folder: Path, model: LayeredModel, tokenizer: Any) -> None:
    if tokenizer is not None and len(tokenizer) > model.accepted:
        raise AuditError(
            f"{folder}: the tokenizer has {len(tokenizer):,} tokens, but the model accepts "
            f"{model.accepted:,}; take the tokenizer that belongs to the model"
        )


def _fresh(name: str, seed: int) -> Any:
    """With the head that the architecture is trained with, where it has one stream."""
    transformers = library()
    plain = random_net(ARCHITECTURES[name], tokens=512, seed=seed)
    if name in _NO_HEAD:
        return plain
    import torch

    kind = "AutoModelForMaskedLM" if name in _FILLS_GAPS else "AutoModelForCausalLM"
    with quiet(transformers), torch.random.fork_rng(devices=[]):
        torch.manual_seed(seed)
        return getattr(transformers, kind).from_config(plain.config).eval()

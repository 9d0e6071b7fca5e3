"""Names of long trainings, under which their weights or losses are kept for years."""

from __future__ import annotations

from dataclasses import MISSING, Field, asdict, fields, is_dataclass
from typing import Any

from .checkpoints import fingerprint

# To be raised when the trainer makes other nets of the same arguments, which the tests of short
# trainings tell. It stands for the code.
TRAINER = 1


def name_of(*made: Any, device: str) -> str:
    """The folder of a training below `trainings`, by what is trained: dataclasses, texts, numbers
    and lists of them. Neither the code nor the version of torch is part of it, so that no edit
    loses hours: see `TRAINER`.

    Of a dataclass, but not of those inside it, only what differs from its defaults counts, so that
    an option that is added with a default renames nothing. A default or a field that is renamed
    does; then the folders have to be renamed too.
    """
    return fingerprint({"made": _told(list(made)), "device": device, "trainer": TRAINER})


def _told(value: Any) -> Any:
    if is_dataclass(value) and not isinstance(value, type):
        whole = asdict(value)
        return {
            part.name: whole[part.name]
            for part in fields(value)
            if getattr(value, part.name) != _default(part)
        }
    return [_told(item) for item in value] if isinstance(value, list) else value


def _default(part: Field[Any]) -> Any:
    return part.default_factory() if part.default_factory is not MISSING else part.default

"""What measurements read that a user may replace by a file, such as the text that nets train on.

Cases name such an input by its digest, in a field; the field's name is that of the option.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from .values import Case


@dataclass(frozen=True)
class Input:
    """An input that cases name, and what is done with a user's own before the runs start.

    Attributes:
        field: of the cases.
        use: what claims do with it, as in "none of the claims trains on a text".
        standard: the digest of the one that comes with depthlaw, or that every machine has.
        read: (file) -> the input, whose `digest` names it; raises UsageError.
        prepare: (input or None; cases; folder of the cache): store what their runs will read.
    """

    field: str
    use: str
    standard: str
    read: Callable[[Path], Any]
    prepare: Callable[[Any, Sequence[Case], str], None]

    def __post_init__(self) -> None:
        INPUTS[self.field] = self


# Every input by its field, once the claims that read it are imported.
INPUTS: dict[str, Input] = {}

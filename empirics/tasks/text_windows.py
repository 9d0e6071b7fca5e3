"""The next token of a text."""

from __future__ import annotations

import hashlib
from dataclasses import InitVar, dataclass, field

import numpy as np
import torch
from torch import Tensor

from . import Batch, TokenIds


@dataclass(frozen=True)
class Text(TokenIds):
    """Windows of a text that start anywhere in it; each token answers with the next one.

    Args:
        tokens: ids of the whole text, in order; they are known by their digest.
        length: tokens of a window.
        vocabulary: number of token ids.

    Attributes:
        digest: SHA-256 of the tokens, 16 hexadecimal digits.

    Raises:
        ValueError: for a text without a window, or ids beyond the vocabulary.
    """

    tokens: InitVar[np.ndarray]
    length: int
    vocabulary: int
    digest: str = field(init=False)

    def __post_init__(self, tokens: np.ndarray) -> None:
        """Keep the tokens beside the fields, which name them by their digest."""
        ids = np.ascontiguousarray(tokens, dtype=np.int32)
        if self.length < 1 or len(ids) <= self.length:
            raise ValueError(
                f"a text of {len(ids)} tokens has no window of {self.length} and the "
                "token after it: give more text, or shorter windows"
            )
        if ids.min() < 0 or ids.max() >= self.vocabulary:
            raise ValueError(
                f"token ids from {ids.min()} to {ids.max()} with a vocabulary of "
                f"{self.vocabulary}: accepted are 0 to {self.vocabulary - 1}"
            )
        object.__setattr__(self, "digest", hashlib.sha256(ids.tobytes()).hexdigest()[:16])
        object.__setattr__(self, "_by_device", {"cpu": torch.from_numpy(ids)})

    @property
    def name(self) -> str:
        """The task and its text, by digest."""
        return f"next token of text {self.digest}"

    @property
    def outputs(self) -> int:
        """One class per id."""
        return self.vocabulary

    def batch(self, generator: torch.Generator, replicas: int, size: int) -> Batch:
        """Draw windows with uniform starts, independently; the group is the position."""
        ids = self._on(generator.device)
        starts = torch.randint(
            0,
            len(ids) - self.length,
            (replicas * size,),
            generator=generator,
            device=generator.device,
        )
        return self._at(starts, replicas)

    def windows(self, count: int, device: torch.device | str = "cpu") -> Batch:
        """So many windows without overlap, evenly spread over the text, the same at every call; all
        that there are where there are fewer."""
        ids = self._on(torch.device(device))
        most = (len(ids) - 1) // self.length
        count = min(count, most)
        return self._at(torch.arange(count, device=ids.device) * most // count * self.length, 1)

    def _at(self, starts: Tensor, replicas: int) -> Batch:
        places = torch.arange(self.length + 1, device=starts.device)
        windows = self._on(starts.device)[starts[:, None] + places].long()
        windows = windows.view(replicas, -1, self.length + 1)
        inputs, targets = windows[..., :-1].contiguous(), windows[..., 1:].contiguous()
        return Batch(
            inputs,
            targets,
            torch.ones_like(targets, dtype=torch.bool),
            places[:-1].expand_as(targets).contiguous(),
        )

    def _on(self, device: torch.device) -> Tensor:
        known: dict[str, Tensor] = self._by_device  # type: ignore[attr-defined]
        if str(device) not in known:
            known[str(device)] = known["cpu"].to(device)
        return known[str(device)]

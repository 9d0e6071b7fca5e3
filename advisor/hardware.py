"""What training and serving hardware can do at best (hardware.csv), each row with its source.

Peak rates are those of 16-bit matrix products that are summed in 32 bits, without sparsity: data
sheets often print twice as much, for matrices that are half zeros.
"""

from __future__ import annotations

import csv
import difflib
import re
from dataclasses import dataclass
from functools import cache
from pathlib import Path

from .base.quantities import UsageError, quoted


@dataclass(frozen=True)
class Hardware:
    """One device: a GPU, a chip of a TPU, or the processor of a phone or a laptop."""

    name: str
    also: tuple[str, ...]  # other names
    flops: float | None  # per second, dense, bf16 (else fp16); None: not for training
    memory: float | None  # bytes; a GB of a memory chip is 2^30 bytes; None: depends on the phone
    bandwidth: float  # bytes per second of that memory; here a GB is 10^9 bytes
    link: float | None  # bytes per second to the GPUs of its machine, one way; None: not listed
    wording: str  # how the numbers are known: printed, reported, recalled, derived
    source: str


@cache
def devices() -> tuple[Hardware, ...]:
    """The rows of hardware.csv."""
    with (Path(__file__).parent / "hardware.csv").open(encoding="utf-8", newline="") as file:
        _, *rows = csv.reader(file)
    return tuple(
        Hardware(
            name,
            tuple(filter(None, also.split(";"))),
            float(teraflops) * 1e12 if teraflops else None,
            float(size) * 2**30 if size else None,
            float(rate) * 1e9,
            float(link) * 1e9 if link else None,
            wording,
            source,
        )
        for name, also, teraflops, size, rate, link, wording, source in rows
    )


def gpu(name: str) -> Hardware:
    """The device of a name, however it is spelled: case, spaces, hyphens and makers do not count.

    Raises:
        UsageError: for an unknown name, with the nearest known ones.
    """
    known, words = _known(), _words(name)
    sizes = {word for word in words if re.fullmatch(r"\d+gb", word)}
    device = known.get(_plain(name)) or known.get(words) or known.get(words - sizes)
    if device:
        return device
    names = [key for key in known if isinstance(key, str)]
    near = difflib.get_close_matches(_plain(name[:60]), names, n=3, cutoff=0.5)
    examples = list(dict.fromkeys(known[n].name for n in near)) or ["H100 SXM", "A100 80GB SXM"]
    raise UsageError(
        f"the GPU {quoted(name)} is unknown; nearest: {', '.join(examples)}; for a training on "
        "any other give its FLOPs instead, such as --flops 1e21"
    )


def slowest_with(bandwidth: float) -> Hardware | None:
    """The listed device with the least bandwidth that is at least so much; None where none has it.

    >>> slowest_with(60e9).name
    'Snapdragon 8 Gen 2'
    """
    enough = [d for d in devices() if d.bandwidth >= bandwidth]
    return min(enough, key=lambda d: d.bandwidth, default=None)


# What people add to names that are known without it.
_UNSAID = re.compile(
    "|nvidia|amd|google|geforce|tesla|instinct|gpu|cloud|tensor|core|apple|qualcomm|bionic"
    "|hbm|hbm[23]e?"
)


@cache
def _known() -> dict[str | frozenset[str], Hardware]:
    """Every name, as its letters and digits alone and as its set of words."""
    return {
        key: device
        for device in devices()
        for name in (device.name, *device.also)
        for key in (_plain(name), _words(name))
    }


def _plain(name: str) -> str:
    return re.sub(r"[^a-z0-9]", "", name.lower())


def _words(name: str) -> frozenset[str]:
    words = re.split(r"[^a-z0-9]+", re.sub(r"sxm\d", "sxm", name[:200].lower()))
    return frozenset(word for word in words if not _UNSAID.fullmatch(word))

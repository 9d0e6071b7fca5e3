"""Headers of .safetensors files: names, types and shapes of tensors, and where each of them lies.

A file starts with 8 bytes, the length of its header as a little-endian number; the header is a JSON
object with an entry for each tensor, which says its dtype, its shape and the bytes that it takes
after the header. Nothing after the header is read.
"""

from __future__ import annotations

import os
import re
from math import prod
from typing import Any, NamedTuple

from .base.files import json_object, regular_file
from .base.quantities import UsageError, quoted

# Of all headers of a checkpoint together; and of tensors in a file, bytes of an index.
_MOST_BYTES = 100_000_000
_MOST_DIMENSIONS = 16
# What the library safetensors 0.8 writes, and the bits of each: the first number in its name.
_DTYPES = (
    "BOOL F4 F6_E2M3 F6_E3M2 U8 I8 F8_E5M2 F8_E4M3 F8_E8M0 F8_E4M3FNUZ F8_E5M2FNUZ I16 U16 F16 "
    "BF16 I32 U32 F32 C64 F64 I64 U64"
)
_BITS = {name: int(re.sub(r"^\D+(\d*).*", r"\1", name) or 8) for name in _DTYPES.split()}
WHOLE, INDEX = "model.safetensors", "model.safetensors.index.json"
_ACCEPTED = f"give a .safetensors file, its index ({INDEX}), or their folder"
_POINTER = b"version https://git-lfs"


class Tensor(NamedTuple):
    """A tensor that is stored: `dtype` as safetensors calls it; tensors of one `place` (file, first
    and last byte) are the same numbers under several names."""

    name: str
    dtype: str
    shape: tuple[int, ...]
    place: tuple[int, ...]

    @property
    def numbers(self) -> int:
        """How many."""
        return prod(self.shape)

    @property
    def bits(self) -> int:
        """Of one number."""
        return _BITS[self.dtype]


class Headers(NamedTuple):
    """What the headers of a checkpoint say."""

    path: str  # of the file or the index
    files: int
    tensors: tuple[Tensor, ...]


def header_beside(folder: str) -> str | None:
    """The .safetensors file of a folder, or the index of its files, as transformers looks for
    them; None where there is neither."""
    paths = (os.path.join(folder, name) for name in (WHOLE, INDEX))
    return next((path for path in paths if os.path.lexists(path)), None)


def read_headers(path: str) -> Headers:
    """Every tensor of a .safetensors file, of the files that an index names, or of a folder.

    Raises:
        UsageError: where there is none; for a header that is damaged, larger than 100 MB, or not of
            its file; for an index that names files elsewhere, or other tensors than they hold.

    Cost: milliseconds a megabyte of headers; no weight is read.
    """
    if os.path.isdir(path):
        found = header_beside(path)
        if found is None:
            raise UsageError(f"{quoted(path)} holds neither {WHOLE} nor its index; {_ACCEPTED}")
        path = found
    if not path.endswith(".json"):
        return Headers(path, 1, tuple(_tensors(path, 0, _MOST_BYTES)[0]))
    by_name = _index(path)
    tensors: list[Tensor] = []
    left, files = _MOST_BYTES, sorted(set(by_name.values()))
    for number, file in enumerate(files):
        listed, length = _tensors(os.path.join(os.path.dirname(path), file), number, left)
        left -= length
        for tensor in listed:
            if by_name.pop(tensor.name, None) != file:
                raise UsageError(
                    f"{quoted(file)} holds {quoted(tensor.name)}, which the index does not say; "
                    "give an index of these files, or one of the files"
                )
        tensors += listed
    if by_name:
        name, file = next(iter(by_name.items()))
        raise UsageError(
            f"{quoted(file)} does not hold {quoted(name)}, as the index says; give an index of "
            "these files, or one of the files"
        )
    return Headers(path, len(files), tuple(tensors))


def _index(path: str) -> dict[str, str]:
    """By the name of a tensor, the name of its file, in the folder of the index."""
    name = quoted(os.path.basename(path))
    with regular_file(path, name, _ACCEPTED) as (opened, _):
        data = opened.read(_MOST_BYTES + 1)
    if len(data) > _MOST_BYTES:
        raise UsageError(f"{name} is larger than 100 MB, which no index is; {_ACCEPTED}")
    by_name = json_object(data, name, "an index", _ACCEPTED).get("weight_map")
    if not isinstance(by_name, dict) or not by_name:
        raise UsageError(f"{name} has no weight_map, so it is not an index; {_ACCEPTED}")
    for file in by_name.values():
        # A link is followed, as the cache of the Hub has them; a path is not.
        if not isinstance(file, str) or not re.fullmatch(r"[^/\\:\0]+\.safetensors", file):
            named = quoted(file) if isinstance(file, str) else "something that is not text"
            raise UsageError(
                f"{name} names {named} as a file; accepted are names that end in .safetensors, of "
                "files in its own folder"
            )
    return by_name


def _tensors(path: str, number: int, most: int) -> tuple[list[Tensor], int]:
    """The tensors of one file, in the order of their bytes, and the length of its header."""
    name = quoted(os.path.basename(path))
    with regular_file(path, name, _ACCEPTED) as (opened, size):
        start = opened.read(8)
        if (start + opened.read(len(_POINTER) - 8)).startswith(_POINTER):
            raise UsageError(f"{name} is a pointer of Git LFS, not the file; try git lfs pull")
        length = int.from_bytes(start, "little")
        if len(start) < 8 or length > size - 8:
            what = "no .safetensors file, or cut off within its header"
            raise UsageError(f"{name} is {what} ({size:,} bytes); {_ACCEPTED}")
        if length > most:
            raise UsageError(f"{name}: the header takes more than 100 MB; {_ACCEPTED}")
        opened.seek(8)
        data = opened.read(length)
    if not data.startswith(b"{"):
        raise UsageError(f"{name} has no header, which starts with a brace; {_ACCEPTED}")
    entries = json_object(data, f"the header of {name}", "a header", _ACCEPTED)
    entries.pop("__metadata__", None)
    tensors = [_tensor(name, each, told, number) for each, told in entries.items()]
    if not tensors:
        raise UsageError(f"the header of {name} names no tensor; {_ACCEPTED}")
    tensors.sort(key=lambda tensor: tensor.place)
    end = 0
    for before, tensor in zip((None, *tensors), tensors, strict=False):
        _, first, last = tensor.place
        if first != end and not (before and before.place == tensor.place):
            what = "overlap those before" if first < end else "leave a gap before them"
            raise UsageError(f"{name}: the bytes of {quoted(tensor.name)} {what}; {_ACCEPTED}")
        end = last
    if end != size - 8 - length:
        raise UsageError(
            f"{name} has {size - 8 - length:,} bytes after its header, which speaks of {end:,}: it "
            "is cut off or damaged; download it again"
        )
    return tensors, length


def _tensor(file: str, name: str, told: Any, number: int) -> Tensor:
    """A tensor, checked as far as it is told without the others."""

    def refuse(why: str) -> UsageError:
        return UsageError(f"{file}, tensor {quoted(name)}: {why}; {_ACCEPTED}")

    def wholes(value: Any) -> bool:
        return isinstance(value, list) and all(type(n) is int and n >= 0 for n in value)

    if not isinstance(told, dict) or told.keys() != {"dtype", "shape", "data_offsets"}:
        raise refuse("it is not told by dtype, shape and data_offsets")
    dtype, shape, offsets = told["dtype"], told["shape"], told["data_offsets"]
    if not isinstance(dtype, str) or dtype not in _BITS:
        raise refuse(f"its dtype is none of {_DTYPES}")
    if len(name) > 1000 or not name.isprintable():
        raise refuse("its name is no printable text of at most 1,000 characters")
    if not wholes(shape) or len(shape) > _MOST_DIMENSIONS or any(n >= 2**63 for n in shape):
        raise refuse("the shape is not a list of at most 16 whole numbers from 0 to 2^63")
    if not wholes(offsets) or len(offsets) != 2 or not offsets[0] <= offsets[1] < 2**63:
        raise refuse("data_offsets are not two whole numbers, the first byte and the end")
    tensor = Tensor(name, dtype, tuple(shape), (number, *offsets))
    if tensor.numbers * tensor.bits != 8 * (offsets[1] - offsets[0]):
        raise refuse("its shape and dtype do not take as many bytes as data_offsets say")
    return tensor

"""Small .safetensors files: headers as transformers writes them, with nothing behind them."""

from __future__ import annotations

import json
import math
from itertools import product
from pathlib import Path
from typing import Any

ROWS: dict[str, Any] = json.loads(Path(__file__).with_name("header_files.json").read_text())
ABOUT = ROWS.pop("about")


def shapes_of(row: dict[str, Any]) -> dict[str, list[int]]:
    """The tensors of a row by their whole names."""
    names = {}
    for pattern, shape in row["tensors"].items():
        for parts in product(*(part.split(",") for part in pattern.split("."))):
            names[".".join(parts)] = shape
    return names


def header(shapes: dict[str, Any], dtype: str = "F32", bits: int = 32) -> dict[str, Any]:
    """The entries of a header, one tensor after another."""
    entries, end = {}, 0
    for name, shape in shapes.items():
        start, end = end, end + math.prod(shape) * bits // 8
        entries[name] = {"dtype": dtype, "shape": shape, "data_offsets": [start, end]}
    return entries


def write(path: Path, entries: Any, size: int | None = None) -> Path:
    """A file with a header, and as many bytes behind it as it says, which take no room."""
    data = entries if isinstance(entries, bytes) else json.dumps(entries).encode()
    if size is None:
        size = max((told["data_offsets"][1] for told in entries.values()), default=0)
    path.write_bytes(len(data).to_bytes(8, "little") + data)
    with path.open("r+b") as file:
        file.truncate(8 + len(data) + size)
    return path


def write_folder(folder: Path, row: dict[str, Any], *, config: bool = True) -> Path:
    """A folder with the configuration of a row and its headers, in as many files."""
    folder.mkdir(exist_ok=True)
    if config:
        (folder / "config.json").write_text(json.dumps(row["config"]))
    shapes, files = list(shapes_of(row).items()), row["files"]
    if files == 1:
        write(folder / "model.safetensors", header(dict(shapes)))
        return folder
    index = {}
    for n in range(files):
        file = f"model-{n + 1:05}-of-{files:05}.safetensors"
        write(folder / file, header(dict(shapes[n::files])))
        index |= dict.fromkeys((name for name, _ in shapes[n::files]), file)
    text = json.dumps({"metadata": {}, "weight_map": index})
    (folder / "model.safetensors.index.json").write_text(text)
    return folder

"""Loss surfaces: the losses of nets of several widths and depths, read from a table that anybody
published."""

from __future__ import annotations

import csv
import io
import math
import os
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from depthlaw.advisor.base.quantities import UsageError, plural, quoted, shown

# More is the wrong file.
_MOST_BYTES, _MOST_ROWS = 20_000_000, 100_000
_WHOLE = {"width": 10**7, "depth": 10**5}
# Of any number; its powers are finite as well.
_LEAST, _MOST = 1e-40, 1e40
# The first name of a column wins over the others. No single letters: d is a width here and a
# number of tokens there, L a depth and a loss.
_NAMES = {
    "width": ("width", "d_model", "n_embd", "n_embed", "hidden_size", "model_dim"),
    "depth": ("depth", "layers", "n_layer", "n_layers", "num_layers", "num_hidden_layers"),
    "parameters": ("parameters", "params", "n_params", "num_params", "n_parameters"),
    "tokens": ("tokens", "n_tokens", "num_tokens", "train_tokens", "training_tokens"),
    "loss": ("loss", "val_loss", "valid_loss", "validation_loss", "eval_loss", "test_loss"),
    "seed": ("seed",),
    "flops": ("flops", "train_flops", "training_flops"),
    "seconds": ("seconds", "train_seconds", "training_seconds", "wall_seconds"),
    "hours": ("hours", "train_hours", "training_hours", "wall_hours", "wall_clock_hours"),
}
_REQUIRED = ("width", "depth", "tokens", "loss")
_EXAMPLE = (
    "give a CSV file with the header width,depth,parameters,tokens,loss and lines such as "
    "768,12,84934656,1e10,3.12"
)


@dataclass(frozen=True)
class TrainedLoss:
    """A trained net and its loss.

    Attributes:
        width, depth: d and L.
        parameters: what a budget of parameters counts, such as 12 L d^2.
        tokens: seen in training.
        loss: a mean per token or byte; positive, lower is better.
        seed: of the training; nets of one seed saw the same data in the same order.
        flops: of the training, where measured; else 6 N D.
        seconds: that the training took, where measured.
    """

    width: int
    depth: int
    parameters: float
    tokens: float
    loss: float
    seed: int | None = None
    flops: float | None = None
    seconds: float | None = None

    @property
    def volume(self) -> float:
        """L d^2, on which rules of depth depend."""
        return float(self.depth * self.width**2)

    @property
    def compute(self) -> float:
        """Training FLOPs: as measured, else 6 N D.

        >>> TrainedLoss(768, 12, 84934656, 1e9, 3.1).compute
        5.09607936e+17
        """
        return self.flops or 6 * self.parameters * self.tokens


@dataclass(frozen=True)
class Surface:
    """What a file holds.

    Attributes:
        points: one for each row, in the order of the file.
        columns: what was read, as (meaning, name in the file).
        ignored: names of the other columns.
        notes: what was assumed, in words.
    """

    points: tuple[TrainedLoss, ...]
    columns: tuple[tuple[str, str], ...]
    ignored: tuple[str, ...]
    notes: tuple[str, ...]

    @property
    def seeds(self) -> int:
        """How many seeds the file names; 0 without such a column."""
        return len({p.seed for p in self.points} - {None})


def read(path: str | Path | Iterable[Mapping[str, Any]], seed_column: str = "") -> Surface:
    """The loss surface of a CSV file, or of its rows as dictionaries or a table of pandas.

    The header names the columns width, depth, tokens and loss, in any order; parameters, seed,
    flops, and seconds or hours may be there too. Usual other names are known, such as d_model or
    n_layer; capitals do not count. Without parameters they are 12 L d^2. Empty lines and lines that
    start with # are passed over.

    Args:
        seed_column: the column that tells repeated trainings of one shape apart, if it is not
            called seed; its entries may be words.

    Raises:
        UsageError: for a file that cannot be read or is no such table: one line that says what was
            wrong, in which line and column, what is accepted and what to try.
    """
    if isinstance(path, str | Path):
        name = quoted(Path(path).name)
        rows = _rows(_text(path, name), name)
    else:
        name = "the table"  # of which the first is line 2, as in a file
        rows = _rows(_written(path), name)
    _, head = next(rows, (0, ()))
    if not head:
        raise UsageError(f"{name} is empty; {_EXAMPLE}")
    places = _columns(head, name, seed_column)
    points: list[TrainedLoss] = []
    seeds: dict[str, int] = {}
    first_line: dict[object, int] = {}
    for number, cells in rows:
        if len(cells) != len(head):
            raise UsageError(
                f"line {number} of {name} has {plural(len(cells), 'cell')}, the header"
                f" {len(head)}; a number with commas in it needs quotes, or none"
            )
        if len(points) >= _MOST_ROWS:
            raise UsageError(
                f"{name} has more than {_MOST_ROWS:,} rows; leave out what is not "
                "needed, such as all but the last loss of each training"
            )
        p = _point(cells, head, places, f"line {number} of {name}", seeds)
        apart = "seed" if "seed" in places else "loss"
        first = first_line.setdefault(
            (p.width, p.depth, p.parameters, p.tokens, getattr(p, apart)), number
        )
        if first != number:
            raise UsageError(
                f"lines {first} and {number} of {name} have the same shape, tokens and {apart}; "
                "leave out one, or name what tells them apart by --seed-column"
            )
        points.append(p)
    if not points:
        raise UsageError(f"{name} has a header and no rows; {_EXAMPLE}")
    used = set(places.values())
    return Surface(
        tuple(points),
        tuple((key, head[at].strip()) for key, at in places.items()),
        tuple(cell.strip() for at, cell in enumerate(head) if at not in used and cell.strip()),
        tuple(_notes(points, places)),
    )


def _written(rows: Any) -> str:
    """Rows as the text of a file; what a row has not is empty."""
    if hasattr(rows, "to_dict"):
        rows = rows.to_dict("records")
    try:
        listed = [{str(name): value for name, value in dict(row).items()} for row in rows]
    except (TypeError, ValueError):
        raise UsageError(
            f"{shown(rows)} is no table of losses; accepted are the path of a CSV file, a table of "
            "pandas, or rows such as {'width': 768, 'depth': 12, 'tokens': 1e10, 'loss': 3.12}; "
            "try fit('losses.csv')"
        ) from None
    text = io.StringIO()
    writer = csv.DictWriter(text, list(dict.fromkeys(n for row in listed for n in row)))
    writer.writeheader()
    writer.writerows(listed)
    return text.getvalue()


def _text(path: str | Path, name: str) -> str:
    """The whole file, if it is text."""
    if os.path.isdir(path):
        raise UsageError(f"{name} is a folder; {_EXAMPLE}")
    # A pipe that nobody writes to would be waited for.
    if os.path.exists(path) and not os.path.isfile(path):
        raise UsageError(f"cannot read {name}: it is no regular file; {_EXAMPLE}")
    try:
        with Path(path).open("rb") as file:
            content = file.read(_MOST_BYTES + 1)
    except (OSError, ValueError) as error:
        reason = error.strerror if isinstance(error, OSError) and error.strerror else "bad name"
        raise UsageError(f"cannot read {name}: {reason}; {_EXAMPLE}") from None
    if len(content) > _MOST_BYTES:
        raise UsageError(
            f"{name} is larger than {_MOST_BYTES:,} bytes; leave out columns and rows "
            "that are not needed"
        )
    try:
        return content.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        line = content.count(b"\n", 0, error.start) + 1
        raise UsageError(
            f"line {line} of {name} is not text in UTF-8; save the table as CSV in UTF-8"
        ) from None


def _rows(text: str, name: str) -> Iterator[tuple[int, Sequence[str]]]:
    """The lines that hold something, with their numbers in the file."""
    reader = csv.reader(io.StringIO(text, newline=""))
    try:
        for cells in reader:
            if any(cell.strip() for cell in cells) and not cells[0].lstrip().startswith("#"):
                yield reader.line_num, cells
    except csv.Error as error:
        raise UsageError(
            f"line {reader.line_num} of {name} is no CSV ({error}); {_EXAMPLE}"
        ) from None


def _columns(head: Sequence[str], name: str, seed_column: str) -> dict[str, int]:
    """Where each meaning stands in the header."""
    if len(head) == 1:
        for mark, called in ((";", "semicolons"), ("\t", "tabs")):
            if mark in head[0]:
                raise UsageError(
                    f"{name} has its columns separated by {called}; save it with "
                    "commas between columns and points in numbers"
                )
    written = ["_".join(cell.strip().lower().replace("-", " ").split()) for cell in head]
    places = {}
    for meaning, names in _NAMES.items():
        columns = [at for at, cell in enumerate(written) if cell in names]
        first = [at for at in columns if written[at] == names[0]] or columns
        if len(first) > 1:
            both = " and ".join(quoted(head[at].strip()) for at in first[:2])
            raise UsageError(
                f"the header of {name} has {both}, which may both be the {meaning}; "
                f"call the right one {meaning} and the other something else"
            )
        if first:
            places[meaning] = first[0]
    if seed_column:
        columns = [at for at, cell in enumerate(head) if cell.strip() == seed_column.strip()]
        if len(columns) != 1:
            have = ", ".join(quoted(cell.strip()) for cell in head[:20])
            several = f"{len(columns)} columns" if columns else "no column"
            raise UsageError(
                f"{name} has {several} called {quoted(seed_column)} for "
                f"--seed-column; it has {have}"
            )
        if columns[0] in (at for meaning, at in places.items() if meaning != "seed"):
            raise UsageError(
                f"the column {quoted(seed_column)} of {name} cannot be the seed too; "
                "name another by --seed-column"
            )
        places["seed"] = columns[0]
    if missing := [meaning for meaning in _REQUIRED if meaning not in places]:
        also = ", ".join(_NAMES[missing[0]][1:4])
        raise UsageError(
            f"the header of {name} has no column {missing[0]} (also accepted: {also}); {_EXAMPLE}"
        )
    return places


def _point(
    cells: Sequence[str],
    head: Sequence[str],
    places: dict[str, int],
    line: str,
    seeds: dict[str, int],
) -> TrainedLoss:
    fields: dict[str, Any] = {}
    for meaning, at in places.items():
        text = cells[at].strip()
        if meaning in ("flops", "seconds", "hours") and not text:
            continue
        if wrong := _wrong(text, meaning):
            raise UsageError(f"{line}, column {quoted(head[at].strip())}: {quoted(text)} {wrong}")
        fields[meaning] = (
            seeds.setdefault(text, len(seeds))
            if meaning == "seed"
            else int(float(text))
            if meaning in _WHOLE
            else float(text)
        )
    if (hours := fields.pop("hours", None)) is not None:
        fields.setdefault("seconds", 3600 * hours)
    fields.setdefault("parameters", 12.0 * fields["depth"] * fields["width"] ** 2)
    return TrainedLoss(**fields)


def _wrong(text: str, meaning: str) -> str:
    """What is wrong with a cell, and what to do; nothing where nothing is."""
    of_loss = meaning == "loss"
    if meaning == "seed":
        return "" if text else "is empty; give the seed, or leave out the column"
    try:
        value = float(text)
    except ValueError:
        if not text:
            return "is empty; give a number, or leave out the row"
        if "," in text:
            return "is not a number; write it without commas, with a point for decimals"
        return "is not a number; give one such as 3.12 or 1e9"
    if not math.isfinite(value):
        then = "leave out rows whose training diverged" if of_loss else "give one such as 1e9"
        return f"is not a finite number; {then}"
    if value <= 0:
        return "is not positive; " + (
            "the fits are of logarithms of losses, so take losses above zero"
            if of_loss
            else "give a number above zero"
        )
    if not _LEAST <= value <= _MOST:
        return f"is not from {_LEAST:g} to {_MOST:g}; give what was measured"
    most = _WHOLE.get(meaning)
    if most and (value != int(value) or value > most):
        return f"is not a whole number from 1 to {most:,}"
    return ""


def _notes(points: Sequence[TrainedLoss], places: dict[str, int]) -> Iterator[str]:
    if "parameters" not in places:
        yield "no column parameters: 12 L d^2 was taken, weights of the layers alone"
    else:
        ratios = sorted(p.parameters / (12 * p.volume) for p in points)
        if ratios[-1] > 1.1 * ratios[0]:
            yield (
                f"parameters are {ratios[0]:.2f} to {ratios[-1]:.2f} times 12 L d^2: they count "
                "embeddings or other layers, so nets of equal parameters differ in L d^2"
            )
    if "seed" not in places:
        shapes = {(p.width, p.depth, p.parameters, p.tokens) for p in points}
        yield (
            f"no column seed: {len(points) - len(shapes)} rows repeat a shape and count as "
            "further seeds"
            if len(shapes) < len(points)
            else "no column seed: one training of each shape, so that intervals rest on how far "
            "losses lie from a smooth curve"
        )

"""Claims that were merged into others or demoted to notes. A key is never used again."""

import csv
from functools import cache
from pathlib import Path


@cache
def withdrawn() -> dict[str, str]:
    """What became of each withdrawn claim, by its key."""
    with Path(__file__).with_suffix(".csv").open(encoding="utf-8", newline="") as file:
        _, *rows = csv.reader(file)
    return dict(rows)

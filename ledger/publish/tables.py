"""Tables that lie beside the modules that read them, and those that are written."""

from __future__ import annotations

import csv
import io
import re
import tomllib
from collections.abc import Iterable
from importlib.resources import files
from typing import Any

from ..verdicts.estimates import CONFIDENCE


def csv_rows(package: str, name: str) -> list[dict[str, str]]:
    """The rows of a CSV file of a package, by the names of its columns."""
    text = (files(package) / name).read_text(encoding="utf-8")
    return list(csv.DictReader(text.splitlines()))


def csv_text(columns: Iterable[str], rows: Iterable[Iterable[object]]) -> str:
    """A table as the text of a CSV file."""
    text = io.StringIO()
    writer = csv.writer(text, lineterminator="\n")
    writer.writerows((columns, *rows))
    return text.getvalue()


def markdown_as_csv(table: str) -> str:
    """A Markdown table as the text of a CSV file.

    >>> markdown_as_csv("| a | b |\\n|---|--:|\\n| x, y | 1 |")
    'a,b\\n"x, y",1\\n'
    """
    lines = [re.split(r"(?<!\\)\|", line)[1:-1] for line in table.splitlines()]
    names, _, *rows = [[re.sub(r"\\(.)", r"\1", cell.strip()) for cell in line] for line in lines]
    return csv_text(names, rows)


def texts(package: str, name: str) -> dict[str, dict[str, Any]]:
    """Texts in TOML, in which CONFIDENCE stands for the level of intervals; lists are tuples."""
    text = (files(package) / name).read_text(encoding="utf-8")
    return {
        name: {key: tuple(it) if isinstance(it, list) else it for key, it in row.items()}
        for name, row in tomllib.loads(text.replace("CONFIDENCE", CONFIDENCE)).items()
    }

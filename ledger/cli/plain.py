"""Paragraphs as wide as the terminal, and files written whole: what commands need that load no
heavy library."""

from __future__ import annotations

import os
import shutil
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from depthlaw.advisor.base.quantities import UsageError
from depthlaw.advisor.layout import wrapped

from ..text import clean

if TYPE_CHECKING:
    from ..publish.drawing.panels import Panel


def columns() -> int:
    """80, or what the terminal has where that is less."""
    width = shutil.get_terminal_size().columns if sys.stdout.isatty() else 80
    return max(20, min(80, width))


def paragraph(text: str, before: str = "", rest: str | None = None) -> None:
    """Print a text in lines, the first of which begins with `before` and the others with `rest`, by
    default the same."""
    rest = before if rest is None else rest
    print("\n".join(wrapped(clean(text), columns(), before, rest)))


def note(message: str) -> None:
    """Say something beside the answer: as wide as a terminal, piped in one line."""
    width = shutil.get_terminal_size().columns
    lines = wrapped(clean(message), width) if sys.stderr.isatty() else [clean(message)]
    sys.stderr.write("\n".join([*lines, ""]))


def picture_format(plot: Path | None, force: bool) -> str:
    """The format of the picture that --plot names, if it can be written; empty where it names
    none."""
    if plot is None:
        if force:
            raise UsageError(
                "--force replaces a file, and none is written; say which by --plot FILE"
            )
        return ""
    from ..publish.drawing.sweep_plot import plot_format

    form = plot_format(plot.suffix)
    refuse_place(plot, force)
    return form


def draw(file: Path, panels: Sequence[Panel], form: str) -> None:
    """Write panels as a picture of that format, and say so on stderr."""
    from ..publish.drawing.line_plot import line_plot

    write_named(file, line_plot(panels, form))


def write_named(file: Path, data: bytes) -> None:
    """Write a file whole or not at all, and say so on stderr."""
    from ..records.store import write_file

    write_file(file, data)
    note(f"{_named(file)} written")


def refuse_place(file: Path, force: bool, instead: str = "") -> None:
    """Raises where a file cannot be written, as far as that can be seen before; `instead` ends what
    is said of one that exists."""
    named = _named(file)
    # Of os.path, which takes a name that is too long for one that does not exist.
    if os.path.isdir(file):
        raise UsageError(f"{named} is a folder; give the name of a file in it")
    if os.path.lexists(file) and not (force and os.path.isfile(file)):
        hint = "give another name" + (", or --force to replace it" if os.path.isfile(file) else "")
        raise UsageError(f"{named} exists; {hint}{instead}")
    try:
        # A folder that is missing, a name that is too long: also that of the temporary file.
        os.stat(file.parent)
        os.lstat(file.with_name(f".{file.name}.{'0' * 32}"))
    except FileNotFoundError:
        if file.parent.is_dir():
            return
        why = "its folder does not exist"
    except (OSError, ValueError) as error:
        why = getattr(error, "strerror", None) or "no file has such a name"
    raise UsageError(f"{named} cannot be written ({why}); give another name")


def _named(file: Path) -> str:
    """A file as it is called, quoted where the name would break the line."""
    return str(file) if str(file).isprintable() else ascii(str(file))

"""Printing, one line or a paragraph for people, or JSON for machines; and files written whole: what
commands need that load no heavy library."""

from __future__ import annotations

import json
import os
import re
import shutil
import sys
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from depthlaw.advisor.base.quantities import UsageError, quoted
from depthlaw.advisor.layout import wrapped

from ..text import clean, is_unicode

if TYPE_CHECKING:
    from rich.console import Console

    from depthlaw.theory.claims.definition import Claim

    from ..publish.drawing.panels import Panel
    from ..records.store import Store


def columns() -> int:
    """80, or what the terminal or the environment's COLUMNS has where that is less."""
    asked = sys.stdout.isatty() or "COLUMNS" in os.environ
    return max(20, min(80, shutil.get_terminal_size().columns)) if asked else 80


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


def stdout() -> Console:
    """The console of what a command answers."""
    from rich.console import Console

    return Console(highlight=False)


def notes() -> Console:
    """The console of what is said beside the answer. It moves in a terminal alone: a notebook asks
    for colours (FORCE_COLOR), which rich takes for a terminal, and prints every step of a bar."""
    from rich.console import Console

    still = not sys.stderr.isatty() or "JPY_PARENT_PID" in os.environ
    return Console(stderr=True, highlight=False, force_terminal=False if still else None)


def say(message: str) -> None:
    """One line of plain text, never wrapped: messages hold paths and commands that people copy."""
    stdout().print(clean(message), soft_wrap=True, markup=False, emoji=False)


def tell(text: str, before: str = "") -> None:
    """A paragraph, as wide as the terminal, whose lines but the first are indented by two more;
    piped in one line, however long."""
    if stdout().is_terminal:
        paragraph(text, before, f"{before}  ")
    else:
        say(before + text)


def heading(text: str) -> None:
    """A line in bold, whole."""
    stdout().print(clean(text), style="bold", soft_wrap=True, markup=False, emoji=False)


def dump(value: object) -> None:
    """Print JSON."""
    escaped = not is_unicode(sys.stdout)
    json.dump(value, sys.stdout, indent=1, ensure_ascii=escaped, allow_nan=False)
    sys.stdout.write("\n")


def axes_of(typed: Iterable[str], example: str) -> dict[str, list[int | str]]:
    """What --at is given: "name=value" or "name=value,value" of each name once.

    >>> axes_of(["k=2,3", "group=S3"], "k=3")
    {'k': [2, 3], 'group': ['S3']}
    """
    axes: dict[str, list[int | str]] = {}
    for one in typed:
        name, _, several = one.partition("=")
        given = [value.strip() for value in several.split(",")]
        if not name or not all(given) or name in axes:
            raise UsageError(
                f"--at {quoted(one)}: give each name once with its value, such as --at {example}"
            )
        axes[name] = [int(v) if re.fullmatch(r"-?[0-9]+", v) else v for v in given]
    return axes


def report_unnamed(claims: Iterable[Claim]) -> None:
    """Say which claims of a user's file name depthlaw as their source, which it is not."""
    from depthlaw.theory.claims.definition import UNNAMED

    if keys := [claim.key for claim in claims if claim.source.key == UNNAMED]:
        others = f" and {len(keys) - 1} more" if len(keys) > 1 else ""
        note(
            f"{keys[0]}{others} names no author: the source depthlaw is for claims that come "
            'with it; write source=Source.own("Jane Doe", 2026)'
        )


def report_set_aside(store: Store) -> None:
    """Name the files of a results folder that are not trusted."""
    for item in store.set_aside:
        fate = "left in place" if store.read_only else f"set aside as {item.moved_to}"
        note(f"not trusted: {item.name} ({item.why}); {fate}, not used")


def picture_format(plot: Path | None, force: bool) -> str:
    """The format of the picture that --plot names, if it can be written; empty where it names
    none."""
    if plot is None:
        if force:
            raise UsageError("--force replaces a file, and no file is written; give --plot FILE")
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

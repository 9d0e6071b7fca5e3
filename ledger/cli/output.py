"""Printing: one line for people, or JSON for machines."""

from __future__ import annotations

import json
import sys
from collections.abc import Iterable
from typing import TYPE_CHECKING

from ..text import clean, is_unicode
from .plain import note, paragraph

if TYPE_CHECKING:
    from rich.console import Console

    from depthlaw.theory.claims.definition import Claim

    from ..records.store import Store


def stdout() -> Console:
    """The console of what a command answers."""
    from rich.console import Console

    return Console(highlight=False)


def notes() -> Console:
    """The console of what is said beside the answer."""
    from rich.console import Console

    return Console(stderr=True, highlight=False)


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


def report_unnamed(claims: Iterable[Claim]) -> None:
    """Say which claims of a user's file name depthlaw as their source, which it is not."""
    from depthlaw.theory.claims.definition import UNNAMED

    if keys := [claim.key for claim in claims if claim.source.key == UNNAMED]:
        others = f" and {len(keys) - 1} more" if len(keys) > 1 else ""
        note(
            f"no author is named of {keys[0]}{others}: the source depthlaw stands for what comes "
            'with it; write source=Source.own("Jane Doe", 2026)'
        )


def report_set_aside(store: Store) -> None:
    """Name the files of a results folder that are not trusted."""
    for item in store.set_aside:
        fate = "left in place" if store.read_only else f"set aside as {item.moved_to}"
        note(f"not trusted: {item.name} ({item.why}); {fate}, not used")

"""Published nets by the names that people type: those of models.csv, and hybrid, recurrent and
looped ones, whose configurations stand in hybrids.json."""

from __future__ import annotations

import csv
import difflib
import json
import re
from functools import cache
from pathlib import Path
from typing import Any, NamedTuple

from .architecture import Architecture
from .base.quantities import UsageError, quoted
from .huggingface import architecture_of
from .models import architecture, models, spelling

# Words at the end of a name on the Hub that say how a net was trained, not what it is.
_TRAINED = ("hf", "instruct", "chat", "base", "it", "pt", "thinking", "bf16")


class Published(NamedTuple):
    """A net with the source of its shape, and how that is known."""

    architecture: Architecture
    source: str
    mark: str


@cache
def hybrids() -> dict[str, dict[str, Any]]:
    """Hybrid, recurrent and looped nets by name: year, reported size, source, mark, config."""
    path = Path(__file__).with_name("hybrids.json")
    rows: dict[str, dict[str, Any]] = json.loads(path.read_text(encoding="utf-8"))
    return rows


def published_names() -> list[str]:
    """All names, without their other spellings."""
    return [*(m.name for m in models()), *hybrids()]


def published(name: str) -> Published:
    """The net of a name in any spelling, with or without who made it and how it was trained.

    Raises:
        UsageError: for an unknown name, with those like it.

    >>> published("gpt2").architecture.name, published("state-spaces/mamba-2.8b-hf").mark
    ('GPT-2 small', 'recalled')
    """
    known = {spelling(each): each for each in published_names()}
    for tried in _spellings(name):
        found = known.get(tried) or _others().get(tried)
        if found in hybrids():
            row = hybrids()[found]
            return Published(
                architecture_of(row["config"]).with_(name=found), row["source"], row["mark"]
            )
        if found:
            m = next(m for m in models() if m.name == found)
            return Published(architecture(m), m.source, m.status)
    wanted = spelling(name)
    longer = [key for key in known if wanted and key.startswith(wanted)]
    near = longer[:4] or difflib.get_close_matches(wanted, known, 4)
    nearest = ", ".join(known[key] for key in near) or "GPT-2 small, Llama-3-8B"
    raise UsageError(
        f"no model {quoted(name)} among the {len(known)} listed; nearest are {nearest}; "
        "`depthlaw compare --list` prints all names; to judge a configuration try "
        "depthlaw depth --hf config.json"
    )


@cache
def _others() -> dict[str, str]:
    """Names by their other spellings."""
    with Path(__file__).with_name("names.csv").open(encoding="utf-8", newline="") as file:
        return {spelling(row["typed"]): row["name"] for row in csv.DictReader(file)}


def _spellings(name: str) -> list[str]:
    """What may be meant, the whole name first. SoViT's own name has a slash."""
    words = re.split(r"[-_\s]+", name.rsplit("/", 1)[-1].lower())
    tried = [name, "".join(words)]
    while len(words) > 1 and words[-1] in _TRAINED:
        words.pop()
        tried.append("".join(words))
    if words[0] == "meta":
        tried.append("".join(words[1:]))
    return [spelling(each) for each in tried]

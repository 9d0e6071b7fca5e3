"""What people type finds the page that answers it."""

from __future__ import annotations

import re
from collections.abc import Callable
from urllib.parse import quote

import pytest
from playwright.sync_api import Page

# A query, the page that it is about, and among how many of the first results that must be.
ASKED = [
    ("prune", "questions/can-i-prune-layers", 1),
    ("drop layers", "questions/can-i-prune-layers", 3),
    ("is my model too deep", "questions/is-my-model-too-deep", 1),
    ("how many layers for 3B parameters", "questions/how-deep-for-a-budget", 3),
    ("depth training", "questions/does-depth-help-in-training", 3),
    ("width vs depth", "questions/deep-or-wide", 5),
    ("looped transformer", "questions/do-loops-replace-depth", 3),
    ("rank collapse", "questions/does-attention-collapse", 5),
    ("chain of thought", "questions/does-chain-of-thought-replace-depth", 3),
    ("how deep for parity", "tasks/parity", 1),
    ("sorting", "tasks/sorting", 1),
    ("levine", "papers/levine2020", 1),
    ("dong 2021", "papers/dong2021", 1),
    ("csordas", "papers/csordas2025", 1),
    ("what is proved", "proofs", 1),
    ("bibtex", "how-to/cite", 5),
]
# What the search says when it has listed all.
FINISHED = re.compile("Search finished|did not match")


@pytest.mark.parametrize(("typed", "page", "place"), ASKED)
def test_what_people_type_finds_its_page(
    opened: Callable[..., Page], typed: str, page: str, place: int
) -> None:
    found = results(opened, typed)
    assert f"{page}.html" in found[:place], found[:place]


def test_what_stands_nowhere_is_not_found(opened: Callable[..., Page]) -> None:
    assert results(opened, "zygomorphic") == []


def results(opened: Callable[..., Page], typed: str) -> list[str]:
    """The pages that the search lists, best first, each once."""
    page = opened(f"search.html?q={quote(typed)}")
    page.locator("#search-results p", has_text=FINISHED).wait_for()
    links = page.eval_on_selector_all(
        "#search-results ul.search > li > a",
        "all => all.map(a => new URL(a.href).pathname.slice(1))",
    )
    return list(dict.fromkeys(links))

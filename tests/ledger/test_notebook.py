"""What notebooks show of answers, claims and verdicts."""

from __future__ import annotations

import re
import subprocess
import sys
from dataclasses import replace
from html.parser import HTMLParser
from pathlib import Path
from typing import Any

import depthlaw


class _Tags(HTMLParser):
    """Every tag is closed in its order."""

    def __init__(self) -> None:
        super().__init__()
        self.open: list[str] = []

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.open.append(tag)

    def handle_endtag(self, tag: str) -> None:
        assert self.open.pop() == tag


def _well_formed(html: str) -> str:
    parser = _Tags()
    parser.feed(html)
    assert not parser.open
    return html


def test_a_claim_shows_its_statement_and_symbols() -> None:
    claim: Any = depthlaw.claims()["separation_rank/dimension_count"]
    html = _well_formed(claim._repr_html_())
    assert r"$$\operatorname{sep} \leq S(d_x, L)$$" in html
    assert r"S(d_x, L) = \sum" in html
    assert "depth: the number of layers" in html


def test_a_verdict_card_shows_cases_and_text_is_escaped(tmp_path: Path) -> None:
    key = "separation_rank/degree"
    result: Any = depthlaw.verify(only=[key], results=tmp_path)[key]
    html = _well_formed(result._repr_html_())
    assert "<strong>PROVED</strong>" in html
    assert f"{len(result.decided)} of {len(result.in_scope)} cases decided" in html
    assert html.count("<tr>") == 1 + min(12, len(result.cases))
    evil = replace(result, claim=replace(result.claim, title="<script>alert(1)</script>"))
    assert "<script" not in evil._repr_html_()
    assert "<script" not in evil.claim._repr_html_()


def test_an_answer_shows_its_shape_and_loads_no_sympy() -> None:
    code = (
        "import depthlaw, sys; html = depthlaw.recommend('1.3B')._repr_html_(); print(html); "
        "assert 'sympy' not in sys.modules and 'numpy' not in sys.modules"
    )
    command, here = [sys.executable, "-c", code], Path(__file__).parent
    html = _well_formed(subprocess.check_output(command, text=True, cwd=here))
    assert re.search(r"<td[^>]*>\d+ layers", html)
    assert "<details>" in html

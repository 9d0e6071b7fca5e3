"""The page of ten questions: its commands run, and print no more than it says; and the pages of one
question each open with an answer."""

from __future__ import annotations

import re
from collections.abc import Callable
from pathlib import Path

import pytest

from depthlaw.ledger.publish.site import inline

PAGE = Path(__file__).resolve().parents[2] / "docs" / "how-to" / "ten-questions.md"
ROWS = re.findall(r"\| `depthlaw (.*?)` \|.*\| (\d+) \|$", PAGE.read_text("utf-8"), re.MULTILINE)

QUESTIONS = sorted((PAGE.parents[1] / "questions").glob("*.md"))


@pytest.mark.parametrize("page", QUESTIONS, ids=lambda page: page.stem)
def test_a_question_is_answered_in_its_first_sentence_and_on_one_screen(page: Path) -> None:
    written = inline.unfilled(page.read_text("utf-8"))
    text = re.sub(r"<!-- .*? -->", "", written)
    title, first, *_ = (part for part in text.split("\n\n") if part.strip())
    assert title.startswith("# ")
    assert title.endswith("?")
    assert len(first.split()) < 60
    assert not first.strip().endswith("?"), "a question is no answer"
    assert "**This would change the answer:**" in text
    assert len(text.split()) < 300


def test_every_question_is_answered_or_says_why_not() -> None:
    rows = re.findall(r"^\|(.*?)\|(.*?)\|(.*?)\|", PAGE.read_text("utf-8"), re.MULTILINE)[2:]
    assert sum(bool(question.strip()) for question, *_ in rows) >= 10
    assert all(typed.strip() or said.startswith(" no") for _, typed, said in rows)
    assert len(ROWS) == sum(bool(typed.strip()) for _, typed, _ in rows)


@pytest.mark.parametrize(("typed", "lines"), ROWS)
def test_its_commands_run_and_are_as_short_as_it_says(
    typed: str, lines: str, depthlaw: Callable[..., object], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(PAGE.parents[2])
    found = depthlaw(typed)
    assert found.code == 0
    assert 0 < found.out.count("\n") <= int(lines)

"""The page of ten questions: its commands run, and print no more than it says."""

from __future__ import annotations

import re
from collections.abc import Callable
from pathlib import Path

import pytest

PAGE = Path(__file__).resolve().parents[2] / "docs" / "how-to" / "ten-questions.md"
ROWS = re.findall(r"\| `depthlaw (.*?)` \|.*\| (\d+) \|$", PAGE.read_text("utf-8"), re.MULTILINE)


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

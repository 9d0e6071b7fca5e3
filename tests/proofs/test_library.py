"""The proofs as a library: what docs/proofs.md shows others to write."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from depthlaw.ledger.publish.site.open_questions import questions
from depthlaw.theory.formal import prove

pytestmark = pytest.mark.timeout(7200)
PAGE = Path(__file__).parents[2] / "docs" / "proofs.md"


def test_the_page_shows_a_file_that_builds_on_the_proofs(compiled):
    (shown,) = re.findall(r"^```coq\n(.*?)^```", PAGE.read_text(encoding="utf-8"), re.M | re.S)
    (compiled / "Other.v").write_text(shown)
    prove.coqc(compiled, "Other")
    (compiled / "Wrong.v").write_text(shown.replace("<-> 12 <= H", "<-> 11 <= H"))
    with pytest.raises(prove.NotAcceptedError):
        prove.coqc(compiled, "Wrong")


THEOREMS = [question for question in questions() if question.theorem]


@pytest.mark.parametrize("question", THEOREMS, ids=lambda question: question.name)
def test_open_theorems_are_statements_that_the_prover_reads(compiled, question):
    """Both of a file are left without a proof; what proves nothing is refused."""
    text, name = question.theorem.file(question.name), f"Open{THEOREMS.index(question)}"
    for place in question.theorem.imports:
        if not (compiled / f"{place}.vo").is_file():
            prove.compile_files(compiled, [place])
    (compiled / f"{name}.v").write_text(text)
    prove.coqc(compiled, name)
    for lemma in (text.index("__control"), text.index("Theorem")):
        tried = text[:lemma] + text[lemma:].replace("Proof.\nAbort.", "Proof.\nby [].\nQed.", 1)
        (compiled / f"{name}.v").write_text(tried)
        with pytest.raises(prove.NotAcceptedError):
            prove.coqc(compiled, name)

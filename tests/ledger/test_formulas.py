"""Formulas in prose: what is set as maths, and what stays as it is."""

from __future__ import annotations

import re

import pytest

from depthlaw.ledger.publish.appendix.typesetting import code, maths, prose
from depthlaw.theory.claims.definition import registry


@pytest.mark.parametrize(
    ("text", "markdown"),
    [
        ("log_3(d_x) <= 3^(L-2)", r"$\log_3(d_x) \leq 3^{L-2}$"),
        ("ceil(log2 k) + 2 layers", r"$\lceil \log_2 k \rceil + 2$ layers"),
        ("4 gamma beta H < sqrt(d_qk)", r"$4 \gamma \beta H < \sqrt{d_{qk}}$"),
        ("the count S(d, L) = 31460", "the count $S(d, L) = 31460$"),
        ("at 1e-12, for L = 2..6", r"at $10^{-12}$, for $L = 2 \ldots 6$"),
        (
            "every N x N matrix A, |E|_1 and ||y||^2",
            r"every $N \times N$ matrix $A$, $\lVert E\rVert _1$ and $\lVert y\rVert ^2$",
        ),
        (
            "|x| and find^(k mod 2^(l-1))",
            r"$\left\vert x\right\vert$ and $\mathrm{find}^{k \bmod 2^{l-1}}$",
        ),
        ("**depth wins** at 2**(t + 1)", r"depth wins at $2^{t + 1}$"),
        ("a net of L layers", "a net of $L$ layers"),
        ("distance > r", "distance $> r$"),
        ("h <- h + x, X -> X X^T X", r"$h \leftarrow h + x$, $X \to X X^T X$"),
        ("3^beta_2 d_x", r"$3^{\beta_2} d_x$"),
        ("2.6 x 10^-5", r"$2.6 \times 10^{-5}$"),
        (
            "Entries are at most (degree + 1)^(3^L - 1)",
            r"Entries are at most $(\text{degree} + 1)^{3^L - 1}$",
        ),
    ],
)
def test_formulas_are_set(text: str, markdown: str) -> None:
    assert prose(text) == markdown


@pytest.mark.parametrize(
    "text",
    [
        "A graph is a tree",
        "C-RASP and GPT-3 with 150M weights",
        "see Section B, i.e. the last",
        "60L-12L beats 6L-6L",
        "log(-log residual) grows",
        "float64 and and/or",
    ],
)
def test_prose_stays_prose(text: str) -> None:
    assert prose(text) == text


def test_what_markdown_would_read_is_escaped() -> None:
    assert prose("(ab)* and a_name_of_code, [1] <b>") == (
        r"(ab)\* and a\_name\_of\_code, \[1\] $< b >$"
    )
    assert prose("# 1. first") == r"\# 1. first"
    assert prose("2. second") == r"2\. second"
    assert prose("run `depthlaw a_b` --all") == r"run `depthlaw a_b` \--all"
    assert maths("|x|") == r"$\vert x\vert$"
    assert code("a|b") == r"a\|b"


def test_every_text_of_every_claim_is_one_line_with_paired_dollars() -> None:
    for claim in registry().values():
        for text in (
            claim.title,
            claim.text,
            claim.note,
            claim.rests_on,
            claim.control.why,
            *claim.assumes,
        ):
            shown = re.sub(r"`[^`]*`", "", prose(text))
            assert "\n" not in shown
            parts = re.split(r"(?<!\\)\$", shown)
            assert len(parts) % 2 == 1, shown
            # Outside of maths nothing is left that Markdown would read.
            assert not re.search(r"(?<!\\)[\^_*<>|~]", "".join(parts[::2])), shown
            assert all(part.count("{") == part.count("}") for part in parts[1::2]), shown

"""Formulas in texts: written as LaTeX between dollars, set as maths, and read in a terminal."""

from __future__ import annotations

import re
from collections.abc import Iterator

import pytest

from depthlaw.ledger.publish.appendix.typesetting import code, prose
from depthlaw.theory.claims.definition import Claim, registry
from depthlaw.theory.claims.readable import readable
from depthlaw.theory.claims.symbols import TERMS

# What texts may use: KaTeX, LaTeX, typst by pandoc, and terminals know them.
KNOWN = re.compile(
    "ell|nu|Pr|varsigma|alpha|arccos|arcsin|approx|bar|begin|beta|binom|bmod|cdot|chi|cos|deg|"
    "Delta|delta|det|"
    "dim|dots|dot|end|epsilon|eta|exp|frac|gamma|geq|hat|in|infty|kappa|Lambda|lambda|lceil|"
    "ldots|left|leftarrow|leftrightarrow|leq|lfloor|ln|log|lVert|mathbb|mathcal|mathrm|max|"
    "min|mu|nabla|neq|Omega|omega|operatorname|partial|phi|pi|pm|prod|rceil|rfloor|rho|right|"
    "rVert|Sigma|sigma|sim|sin|sqrt|star|sum|tanh|tau|text|Theta|theta|tilde|times|to|top|"
    "varepsilon|vert|xi|zeta"
)


def texts(claim: Claim) -> Iterator[str]:
    yield from (claim.title, claim.text, claim.note, claim.rests_on, claim.post_hoc)
    yield from (claim.undecidable, claim.headline, claim.cited, claim.control.why)
    yield from (claim.source.place, *claim.assumes)


@pytest.mark.parametrize(
    ("text", "markdown", "line"),
    [
        (
            r"$\lceil \log_2 k \rceil + 2$ layers",
            r"$\lceil \log_2 k \rceil + 2$ layers",
            "ceil(log_2(k)) + 2 layers",
        ),
        (
            r"matrix $A$, $\|E\|_1$ and $\|y\|^2$",
            r"matrix $A$, $\lVert E\rVert_1$ and $\lVert y\rVert^2$",
            "matrix A, ||E||_1 and ||y||^2",
        ),
        (
            r"$|x|$, $\mathrm{find}^{k \bmod 2^{l-1}}$",
            r"$\left\vert x\right\vert$, $\mathrm{find}^{k \bmod 2^{l-1}}$",
            "|x|, find^(k mod 2^(l-1))",
        ),
        (
            r"$\frac{a + b}{2 c} + \frac{1}{2} x$ > $\hat r_L$",
            r"$\frac{a + b}{2 c} + \frac{1}{2} x$ $>$ $\hat r_L$",
            "(a + b)/(2 c) + (1/2) x > r_hat_L",
        ),
        ("A graph, $5 more", r"A graph, \$5 more", "A graph, $5 more"),
        ("`$x$` is code", "`$x$` is code", "`$x$` is code"),
    ],
)
def test_formulas_are_set_and_read(text: str, markdown: str, line: str) -> None:
    assert (prose(text), readable(text)) == (markdown, line)


def test_what_markdown_would_read_is_escaped() -> None:
    assert prose("(ab)* and a_name_of_code, [1] <b>") == (
        r"(ab)\* and a\_name\_of\_code, \[1\] $<$b$>$"
    )
    assert prose("# 1. first") == r"\# 1. first"
    assert prose("2. second") == r"2\. second"
    assert prose("run `depthlaw a_b` --all") == r"run `depthlaw a_b` \--all"
    assert code("a|b") == r"a\|b"


def test_every_text_of_every_claim_has_formulas_that_every_format_knows() -> None:
    claims = registry().values()
    listed = [text for claim in claims for text in texts(claim)]
    listed += [t.meaning for t in TERMS.values()] + [f"${t.latex}$" for t in TERMS.values()]
    for text in listed:
        shown = re.sub(r"`[^`]*`", "", prose(text))
        assert "\n" not in shown
        parts = re.split(r"(?<!\\)\$", shown)
        assert len(parts) % 2 == 1, shown
        # Outside of maths nothing is left that Markdown would read.
        assert not re.search(r"(?<!\\)[\^_*<>|~]", "".join(parts[::2])), shown
        for formula in parts[1::2]:
            assert formula.count("{") == formula.count("}"), shown
            assert formula.count("(") == formula.count(")") or "[" in formula, shown
            for command in re.findall(r"\\([A-Za-z]+)", formula):
                assert KNOWN.fullmatch(command), (command, shown)
        line = readable(text)
        assert line.isascii() or not text.isascii(), line
        assert "\\" not in line, (text, line)
        assert "$" not in line, (text, line)

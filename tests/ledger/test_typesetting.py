"""Escaping for Markdown and LaTeX, held against a Markdown renderer and against LaTeX's own rules;
formulas in texts: written as LaTeX between dollars, set as maths, and read in a terminal."""

import html
import re
from operator import attrgetter

import pytest
from hypothesis import given, strategies as st
from markdown_it import MarkdownIt

from depthlaw.ledger.publish.appendix import typesetting
from depthlaw.ledger.publish.appendix.typesetting import code, prose
from depthlaw.ledger.text import clean
from depthlaw.theory.claims.definition import registry
from depthlaw.theory.claims.readable import readable
from depthlaw.theory.claims.symbols import TERMS

RENDERER = MarkdownIt("commonmark").enable(["table", "strikethrough"])
TEXT = st.text(st.characters(codec="utf-8", exclude_categories=["Cs"]), max_size=40)
PRINTED = st.text(r"\{}|_^*~<>[]()$&#%`'\"!,:; ab1", max_size=30)


def balanced(latex: str) -> bool:
    depth = 0
    for brace in re.findall(r"\\.|[{}]", latex):
        depth += {"{": 1, "}": -1}.get(brace, 0)
        if depth < 0:
            return False
    return depth == 0


def flat(text: str) -> str:
    return clean(re.sub(r"\s+", " ", text))


@given(st.one_of(TEXT, PRINTED))
def test_markdown_shows_the_text_itself(text):
    (shown,) = re.fullmatch(
        r"<p>x(.*)x</p>\n", RENDERER.render(f"x{typesetting.md(text)}x"), re.S
    ).groups()
    assert html.unescape(shown) == flat(text)


@given(PRINTED)
def test_markdown_table_keeps_its_cells(text):
    cells = [typesetting.md(text), typesetting.code(text or "-"), typesetting.prose(text), "end"]
    page = RENDERER.render(
        "| 1 | 2 | 3 | 4 |\n|---|---|---|---|\n" + "| " + " | ".join(cells) + " |\n"
    )
    shown = re.findall(r"<td>(.*?)</td>", page)
    assert html.unescape(shown[0]) == flat(text).strip()
    assert shown[3] == "end"


@pytest.mark.parametrize("latex", [r"\left|x\right| \leq \|M\|_{1}", r"|E|_{1}", r"\lVert x\rVert"])
def test_maths_stays_in_its_cell(latex):
    page = RENDERER.render(f"| 1 | 2 |\n|---|---|\n| {typesetting.maths(latex)} | end |\n")
    assert page.count("<td>") == 2


@given(st.one_of(TEXT, PRINTED))
def test_latex_text_holds_nothing_that_latex_could_stumble_over(text):
    latex = typesetting.tex(text)
    assert balanced(latex)
    assert latex.isascii()
    commands = r"\\text(backslash|asciicircum|asciitilde)\{\}|\\[{}$&#%_]"
    assert not re.search(r"[\\$&#%_^{}]", re.sub(commands, "", latex)), latex


def test_names_are_not_taken_for_formulas():
    names = "theory/rank_collapse/__init__.py rank_collapse/cubic residual_BERT.pdf an_id"
    for text in (*names.split(), "first_layer_costs"):
        assert prose(text) == text.replace("_", r"\_")


def test_macros_are_letters_only():
    assert typesetting.macro("hops/k_max2") == r"\dlHopsKMaxTwo"
    assert re.fullmatch(r"\\[A-Za-z]+", typesetting.macro("a_b/0_1x"))


@pytest.mark.parametrize(
    ("value", "latex"),
    [(0.0, "1"), (-0.02, "0.955"), (12.4, "10^{12.4}"), (2e7, r"10^{2\cdot 10^{7}}")],
)
def test_slack_is_a_factor(value, latex):
    assert typesetting.factor(value) == rf"\times {latex}"
    assert typesetting.factor(None) == ""


@pytest.mark.parametrize(
    ("text", "latex"),
    [
        ("7", "7"),
        ("-1/3", "-1/3"),
        ("1e+20", r"1\cdot 10^{20}"),
        ("10^-320.51", "10^{-320.51}"),
        ("-10^400.00", "-10^{400.00}"),
        ("[1e-07, 2]", r"\left[1\cdot 10^{-7}, 2\right]"),
        ("mean 0.5 of 10", None),
        ("123456...0000 (191 digits)", None),
        ("-", None),
    ],
)
def test_numbers_become_maths(text, latex):
    assert typesetting.value(text) == (f"${latex}$" if latex else typesetting.prose(text))


# --- formulas -------------------------------------------------------------------------------------

# What texts may use: KaTeX, LaTeX, typst by pandoc, and terminals know them.
KNOWN = re.compile(
    "ell|nu|Pr|varsigma|alpha|arccos|arcsin|approx|bar|begin|beta|binom|bmod|cdot|chi|cos|deg|"
    "Delta|delta|det|dim|dots|dot|end|epsilon|eta|exp|frac|gamma|geq|hat|in|infty|kappa|Lambda|"
    "lambda|lceil|ldots|left|leftarrow|leftrightarrow|leq|lfloor|ln|log|lVert|mathbb|mathcal|"
    "mathrm|max|min|mu|nabla|neq|Omega|omega|operatorname|partial|phi|pi|pm|prod|rceil|rfloor|"
    "rho|right|rVert|Sigma|sigma|sim|sin|sqrt|star|sum|tanh|tau|text|Theta|theta|tilde|times|"
    "to|top|varepsilon|vert|xi|zeta"
)
# Where claims have texts.
TEXTS = (
    *("title", "text", "note", "rests_on", "post_hoc", "undecidable", "headline", "cited"),
    *("control.why", "source.place"),
)


# A text, the same as Markdown, and as a line of ASCII.
FORMULAS = r"""
$\lceil \log_2 k \rceil + 2$ layers
$\lceil \log_2 k \rceil + 2$ layers
ceil(log_2(k)) + 2 layers

matrix $A$, $\|E\|_1$ and $\|y\|^2$
matrix $A$, $\lVert E\rVert_1$ and $\lVert y\rVert^2$
matrix A, ||E||_1 and ||y||^2

$|x|$, $\mathrm{find}^{k \bmod 2^{l-1}}$
$\left\vert x\right\vert$, $\mathrm{find}^{k \bmod 2^{l-1}}$
|x|, find^(k mod 2^(l-1))

$\frac{a + b}{2 c} + \frac{1}{2} x$ > $\hat r_L$
$\frac{a + b}{2 c} + \frac{1}{2} x$ $>$ $\hat r_L$
(a + b)/(2 c) + (1/2) x > r_hat_L

A graph, $5 more
A graph, \$5 more
A graph, $5 more

`$x$` is code
`$x$` is code
`$x$` is code
"""


@pytest.mark.parametrize("three", FORMULAS.strip().split("\n\n"))
def test_formulas_are_set_and_read(three):
    text, markdown, line = three.splitlines()
    assert (prose(text), readable(text)) == (markdown, line)


def test_what_markdown_would_read_is_escaped():
    assert prose("(ab)* and a_name_of_code, [1] <b>") == (
        r"(ab)\* and a\_name\_of\_code, \[1\] $<$b$>$"
    )
    assert prose("# 1. first") == r"\# 1. first"
    assert prose("2. second") == r"2\. second"
    assert prose("run `depthlaw a_b` --all") == r"run `depthlaw a_b` \--all"
    assert code("a|b") == r"a\|b"


def test_every_text_of_every_claim_has_formulas_that_every_format_knows():
    listed = [text for c in registry().values() for text in (*attrgetter(*TEXTS)(c), *c.assumes)]
    listed += [text for t in TERMS.values() for text in (t.meaning, f"${t.latex}$")]
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

"""Escaping for Markdown and LaTeX, held against a Markdown renderer and against LaTeX's own
rules."""

import html
import re

import pytest
from hypothesis import given, strategies as st
from markdown_it import MarkdownIt

from depthlaw.ledger.publish.appendix import typesetting
from depthlaw.ledger.text import clean

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


@pytest.mark.parametrize(
    "text",
    [
        "theory/rank_collapse/__init__.py",
        "rank_collapse/cubic",
        "residual_BERT.pdf",
        "an_id",
        "first_layer_costs",
    ],
)
def test_names_are_not_taken_for_formulas(text):
    assert typesetting.prose(text) == text.replace("_", r"\_")


def test_macros_are_letters_only():
    assert typesetting.macro("hops/k_max2") == r"\dlHopsKMaxTwo"
    assert re.fullmatch(r"\\[A-Za-z]+", typesetting.macro("a_b/0_1x"))


@pytest.mark.parametrize(
    ("value", "latex"),
    [
        (0.0, r"\times 1"),
        (-0.02, r"\times 0.955"),
        (12.4, r"\times 10^{12.4}"),
        (2e7, r"\times 10^{2\cdot 10^{7}}"),
        (None, ""),
    ],
)
def test_slack_is_a_factor(value, latex):
    assert typesetting.factor(value) == latex


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

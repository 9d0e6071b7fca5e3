"""Escaping for Markdown and LaTeX, held against a Markdown renderer and against LaTeX's own
rules."""
import html
import re

import pytest
from hypothesis import given
from hypothesis import strategies as st
from markdown_it import MarkdownIt

from depthlaw.ledger.publish import typesetting
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
    (shown,) = re.fullmatch(r"<p>x(.*)x</p>\n", RENDERER.render(f"x{typesetting.md(text)}x"),
                            re.S).groups()
    assert html.unescape(shown) == flat(text)


@given(PRINTED)
def test_markdown_table_keeps_its_cells(text):
    cells = [typesetting.md(text), typesetting.md_code(text or "-"),
             typesetting.md_math(f"a{text}b"), "end"]
    page = RENDERER.render("| 1 | 2 | 3 | 4 |\n|---|---|---|---|\n" + "| " + " | ".join(cells)
                           + " |\n")
    shown = re.findall(r"<td>(.*?)</td>", page)
    assert html.unescape(shown[0]) == flat(text).strip()
    assert (html.unescape(re.fullmatch("<code>(.*)</code>", shown[1])[1]).strip()
            == flat(text or "-").strip())
    assert shown[3] == "end"


@pytest.mark.parametrize(
    "latex",
    [r"\left|x\right| \leq \|M\|_{1}", r"\left\{a_{i}, b_{j}\right\}", r"a*b_*c*",
     r"x_{1} < y_{2} > z", r"\begin{cases} a & b \\ c & d \end{cases}", r"\left[x\right](n)",
     r"a\,b\;c\!d", r"`~", r"\operatorname{sep}_{A}_{B}", r"<b>", r"x~", r"\#_{w} = 0"])
def test_maths_passes_through_a_renderer_that_knows_no_maths(latex):
    inline = typesetting.md_math(latex)
    page = RENDERER.render(f"| 1 | 2 |\n|---|---|\n| {inline} | end |\n")
    assert page.count("<td>") == 2
    assert html.unescape(re.search("<td>(.*?)</td>", page)[1]) == inline
    assert not re.search(r"\\[^A-Za-z ]|[|<>*~]|^\$ | \$$", inline.replace("`", ""))


def test_quotes_pair_across_formulas():
    assert typesetting.tex_prose('"about x_i", "12 d_model² (L)" here') == (
        r"``about x\textsubscript{i}'', ``12 d\textsubscript{model}\ensuremath{^{2}} (L)'' here")


def test_maths_keeps_its_commands():
    assert typesetting.md_math(r"\left|d_x\right|") == r"$\left\vert d_ x\right\vert$"
    assert typesetting.md_math("") == ""


@given(st.one_of(TEXT, PRINTED))
def test_latex_text_holds_nothing_that_latex_could_stumble_over(text):
    for latex in (typesetting.tex(text), typesetting.tex_code(text), typesetting.tex_prose(text)):
        assert balanced(latex)
        assert latex.isascii()
        assert latex.isprintable()
        accents = r"\\[`'^~=u.\"rHvc]\{[A-Za-z]\}|\\(ss|o|O|l|L|ae|AE|oe|OE)\{\}"
        commands = (r"\\(text(backslash|asciicircum|asciitilde|asciigrave|tt|subscript|superscript)"
                    r"|dots|allowbreak)(?![A-Za-z])")
        maths = r"\\ensuremath\{(?:[^{}]|\{[^{}]*\})*\}"
        rest = re.sub(commands, "",
                      re.sub(r"\\[{}$&#%_]", "", re.sub(f"{maths}|{accents}", "", latex)))
        assert not re.search(r"[\\$&#%_^]", rest), rest


@pytest.mark.parametrize(("text", "latex"), [
    ("50% & #1 $x$", r"50\% \& \#1 \$x\$"), ("a\x1b[2Jb\n c", "a[2Jb c"),
    ('say "yes" and "no"', "say ``yes'' and ``no''"),
    ("λ ≤ Ω² Α", r"\ensuremath{\lambda} \ensuremath{\leq} \ensuremath{\Omega}\ensuremath{^{2}} "
                 r"\ensuremath{\mathrm{A}}"),
    ("Čech é Łoś", r"\v{C}ech \'{e} \L{}o\'{s}"), ("Ϟ ή", "[U+03DE] [U+03AE]"), ("漢", "[U+6F22]"),
    ("a–b", "a--b"),
])
def test_latex_text(text, latex):
    assert typesetting.tex(text) == latex


@pytest.mark.parametrize("text",
                         ["theory/rank_collapse/__init__.py", "rank_collapse/cubic",
                          "residual_BERT.pdf", "a_b/c_d", "an_id", "`k_v`"])
def test_names_are_not_taken_for_formulas(text):
    assert typesetting.tex_prose(text) == typesetting.tex(text)


@pytest.mark.parametrize(("text", "latex"), [
    ("3^(C(L))", r"3\textsuperscript{C(L)}"),
    ("sum_{k=0}^C", r"sum\textsubscript{k=0}\textsuperscript{C}"),
    ("x_i^2 != y", r"x\textsubscript{i}\textsuperscript{2} \ensuremath{\neq} y"),
    ("e^-x_1", r"e\textsuperscript{-x}\_1"),
])
def test_formulas_in_prose(text, latex):
    assert typesetting.tex_prose(text) == latex


def test_macros_are_letters_only():
    assert typesetting.macro("hops/k_max2") == r"\dlHopsKMaxTwo"
    assert re.fullmatch(r"\\[A-Za-z]+", typesetting.macro("a_b/0_1x"))


@pytest.mark.parametrize(("value", "latex"),
                         [(0.0, r"\times 1"), (-0.02, r"\times 0.955"), (12.4, r"\times 10^{12.4}"),
                          (2e7, r"\times 10^{2\cdot 10^{7}}"), (None, "")])
def test_slack_is_a_factor(value, latex):
    assert typesetting.factor(value) == latex


@pytest.mark.parametrize(
    ("text", "latex"),
    [("7", "7"), ("-1/3", "-1/3"), ("1e+20", r"1\cdot 10^{20}"), ("10^-320.51", "10^{-320.51}"),
     ("-10^400.00", "-10^{400.00}"), ("[1e-07, 2]", r"\left[1\cdot 10^{-7}, 2\right]"),
     ("mean 0.5 of 10", None), ("123456...0000 (191 digits)", None), ("-", None)])
def test_numbers_become_maths(text, latex):
    assert typesetting._number(text) == latex
    assert typesetting.tex_value(text) == (f"${latex}$" if latex else typesetting.tex(text))

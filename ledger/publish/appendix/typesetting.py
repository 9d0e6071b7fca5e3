"""Text and maths on their way into Markdown and LaTeX: escaping, names of macros, numbers."""

from __future__ import annotations

import json
import re
import unicodedata
from collections.abc import Callable, Iterable, Sequence
from functools import cache, partial
from importlib.resources import files
from typing import TYPE_CHECKING

from depthlaw.advisor.base.quantities import plural

from ...text import clean
from ...verdicts.citations import entries
from ...verdicts.display import slack

if TYPE_CHECKING:
    import jinja2

# Signs that a text may hold outside of its formulas, as commands.
_SIGNS = {
    **dict.fromkeys(("<->", "↔"), r"\leftrightarrow"),
    **dict.fromkeys(("<-", "←"), r"\leftarrow"),
    **dict.fromkeys(("->", "→"), r"\to"),
    **dict.fromkeys(("<=", "≤"), r"\leq"),
    **dict.fromkeys((">=", "≥"), r"\geq"),
    **dict.fromkeys(("!=", "≠"), r"\neq"),
    "≈": r"\approx",
    "±": r"\pm",
    "×": r"\times",
    "·": r"\cdot",
    "∞": r"\infty",
    "<": "<",
    ">": ">",
}
_SIGN = re.compile("|".join(_SIGNS) + "|[ΓΔΘΛΞΠΣΦΨΩα-ξπ-ω]")
# Intervals, and numbers with a power of ten, as `display.number` writes them.
_NUMBER = (
    r"(?<![\w\]])\[-?[\d.e+^-]+, -?[\d.e+^-]+\](?!\()"
    r"|(?<![\w.+-])-?(?:\d+(?:\.\d+)?e[+-]?\d+|10\^-?\d+(?:\.\d+)?)(?!\w)"
)
# Letters, numbers and names of functions with an index or a power, such as `log_3`, `d_x^2` and
# `N^(-c)`; a name in code has a longer part after its underscore.
_SCRIPT = r"[_^](?:-?[A-Za-z0-9]|\((?![^)]*[a-z]{2})[^()$]{1,8}\))(?![A-Za-z0-9])"
_SCRIPTED = re.compile(
    r"(?<![\w.])((?:log|hop|sep|MAX|STAIR|AC|NC|TC|GL|[A-Za-z]|\d+)(?=[_^])|\([^()$]{1,8}\)(?=\^))"
    rf"((?:{_SCRIPT})+)(?!\w|\.\w)"
)
# What looks like a key of the bibliography in running text.
_DATED = re.compile(r"(?<![\w@/`])[a-z]+\d{4}[a-z]*\b")
_DIGITS = ("Zero", "One", "Two", "Three", "Four", "Five", "Six", "Seven", "Eight", "Nine")


def tex(text: str) -> str:
    r"""Plain text of ASCII as LaTeX text; other characters become question marks.

    >>> tex("50% of d_x")
    '50\\% of d\\_x'
    """
    return escaped(_flat(text).encode("ascii", "replace").decode())


def escaped(text: str) -> str:
    """Plain text as LaTeX text, whose letters stay, such as those of a name."""
    return re.sub(r"[\\^~{}$&#%_]", lambda m: _TEX.get(m[0], f"\\{m[0]}"), text)


_TEX = {"\\": r"\textbackslash{}", "^": r"\textasciicircum{}", "~": r"\textasciitilde{}"}


def sentence(text: str) -> str:
    """The text with a full stop, when it ends without one.

    >>> sentence("as recalled"), sentence("Is it so?")
    ('as recalled.', 'Is it so?')
    """
    text = text.rstrip()
    return text if not text or text[-1] in ".!?" else text + "."


def md(text: str) -> str:
    """Plain text as Markdown: every character that a renderer could read as markup is escaped,
    pipes included.

    >>> md("a_b | <x> $1")
    'a\\\\_b \\\\| \\\\<x\\\\> \\\\$1'
    """
    return re.sub(r"([\\`*_{}\[\]<>|$~&#])", r"\\\1", _flat(text))


def pipe_table(heading: str, rows: Iterable[Iterable[str]]) -> str:
    r"""A table in Markdown, of cells that are Markdown already. What ends in a colon in the heading
    stands over a column of numbers.

    >>> print(pipe_table("rule | layers:", [("Kaplan", "32")]))
    | rule | layers |
    |---|--:|
    | Kaplan | 32 |
    """
    columns = heading.split(" | ")
    marks = "".join("--:|" if column.endswith(":") else "---|" for column in columns)
    titles = (column.removesuffix(":") for column in columns)
    lines = (f"| {' | '.join(cells)} |" for cells in (titles, *rows))
    return "\n".join([next(lines), f"|{marks}", *lines])


def prose(text: str) -> str:
    r"""Running text as Markdown for pandoc and MyST: `...` is set as code, $...$ as maths, like
    intervals and powers of ten, and everything else is escaped. Line breaks become spaces.

    >>> print(prose(r"$\mathrm{hop}_k$ in $|x|$ <= 3 layers, see [x](y_z.md)"))
    $\mathrm{hop}_k$ in $\left\vert x\right\vert$ $\leq$ 3 layers, see \[x\](y\_z.md)
    """
    typeset, text, done = "", _flat(text), 0
    for match in re.finditer(rf"`([^`]+)`|\$([^$`]+)\$|{_NUMBER}", text):
        typeset += _escaped(text[done : match.start()])
        latex = match[2] or _number(match[0])
        typeset += code(match[1]) if match[1] else maths(latex) if latex else _escaped(match[0])
        done = match.end()
    typeset += _escaped(text[done:])
    # Two formulas without a space between them are one; $$ would begin another kind of maths.
    typeset = re.sub(r"(?<!\\)\$\$", " ", typeset)
    # What would begin a list, a heading or a quotation.
    typeset = re.sub(r"^(\d+)([.)])", r"\1\\\2", typeset)
    return re.sub(r"^[-+>#%=:]", r"\\\g<0>", typeset)


# A citation on the pages of the site.
cite = "{{cite:t}}`{}`".format


def told(text: str, citation: Callable[[str], str] = "@{}".format) -> str:
    """Running text, whose keys of the bibliography become citations.

    >>> told("see dong2021, Lemma A.3")
    'see @dong2021, Lemma A.3.'
    """

    def cited(key: re.Match[str]) -> str:
        return citation(key[0]) if key[0] in entries() else key[0]

    return _DATED.sub(cited, prose(sentence(text)))


def _escaped(text: str) -> str:
    r"""Text without formulas, for every format: what Markdown reads as markup is escaped, signs of
    maths and Greek letters are set, accented Latin stays, and what a format may have no letter for
    becomes its code point in brackets.

    >>> print(_escaped("é: λ -> 日, 12 L d_x^2, seq_len, log_3(d)"))
    é: $\lambda$ $\to$ \[U+65E5\], 12 L $d_{x}^{2}$, seq\_len, $\log_{3}$(d)
    """
    typeset, done, text = "", 0, unicodedata.normalize("NFC", text)
    for match in re.finditer(f"{_SCRIPTED.pattern}|{_SIGN.pattern}", text):
        typeset += _marked(text[done : match.start()])
        typeset += _scripted(*match.groups()) if match[1] else f"${_sign(match[0])}$"
        done = match.end()
    return typeset + _marked(text[done:])


def _sign(text: str) -> str:
    """A sign of maths or a Greek letter as LaTeX."""
    name = unicodedata.name(text[0]).split()[-1].replace("LAMDA", "LAMBDA")
    return _SIGNS.get(text) or "\\" + (name.lower() if text.islower() else name.capitalize())


def _scripted(base: str, scripts: str) -> str:
    r"""What has an index or a power in plain text, as maths.

    >>> print(_scripted("d", "_x^2"), _scripted("log", "_3"), _scripted("N", "^(-c)"))
    $d_{x}^{2}$ $\log_{3}$ $N^{-c}$
    """
    scripts = re.sub(r"([_^])(?:\((.*?)\)|(-?\w))", lambda m: f"{m[1]}{{{m[2] or m[3]}}}", scripts)
    if len(base) > 1 and base.isalpha():
        base = r"\log" if base == "log" else rf"\mathrm{{{base}}}"
    return f"${base}{scripts}$"


def _marked(text: str) -> str:
    """Text without maths, escaped; code points for what is neither ASCII nor Latin."""
    text = re.sub(r"([\\`*_{}\[\]|$~&#@^])", r"\\\1", text)
    text = re.sub("-(?=-)", r"\\-", text)
    return "".join(c if _latin(c) else rf"\[U+{ord(c):04X}\]" for c in text)


def _latin(c: str) -> bool:
    """Whether every format has a letter for it; pdfLaTeX knows few accents beyond U+017F."""
    return c.isascii() or c in "–—‘’“”…" or "\u00a0" <= c <= "\u017f"


def maths(latex: str) -> str:
    r"""LaTeX as inline maths, also inside a pipe table; empty for an empty one. Bars come in pairs,
    as typst sets others as relations.

    >>> print(maths(r"\|x\|_1 \leq |E|"))
    $\lVert x\rVert_1 \leq \left\vert E\right\vert$
    """
    text = re.sub(r"\\\|(.*?)\\\|", r"\\lVert \1\\rVert ", _flat(latex))
    text = re.sub(r"\|(.*?)\|", r"\\left\\vert \1\\right\\vert ", text).replace("|", r"\vert ")
    return f"${re.sub(r'(?<=ert) (?=[_^),./]|$)', '', text).strip()}$" if latex else ""


def code(text: str) -> str:
    """A key, a case or a hash as a code span; escaped text where a table could not hold it or type
    of one width lacks a letter.

    >>> code("a_b"), code("a|b"), code("")
    ('`a_b`', 'a\\\\|b', '')
    """
    text = unicodedata.normalize("NFC", _flat(text))
    fits = text and not set("|`") & set(text) and all(map(_latin, text))
    return f"`{text}`" if fits else _escaped(text)


def value(text: str) -> str:
    """A measured or predicted value: maths where it is a number, prose otherwise.

    >>> value("1.5e-07"), value("not run")
    ('$1.5\\\\cdot 10^{-7}$', 'not run')
    """
    number = _number(text)
    return prose(text) if number is None else maths(number)


def verdict(name: str) -> str:
    """A verdict in words that may break over lines; its mark begins no emphasis."""
    return name.replace("_", " ").replace("*", r"\*")


def macro(key: str) -> str:
    r"""The LaTeX macro of a claim: letters only, digits spelled out.

    >>> macro("separation_rank/theorem1_upper")
    '\\dlSeparationRankTheoremOneUpper'
    """
    words = re.findall(r"[A-Za-z]+|[0-9]", key)
    return r"\dl" + "".join(_DIGITS[int(w)] if w.isdigit() else w[0].upper() + w[1:] for w in words)


def factor(value: float | None) -> str:
    r"""A slack as maths: the factor between the two sides on the permitted side; empty when it has
    no meaning.

    >>> factor(0.30103), factor(12.4), factor(None)
    ('\\times 2', '\\times 10^{12.4}', '')
    """
    text = slack(value)
    return rf"\times {_power(text[1:])}" if text else ""


def _number(text: str) -> str | None:
    r"""A number, an interval or a power of ten, as `display.number` writes it, as maths; None when
    it is not one of them.

    >>> _number("1.5e-07"), _number("[1, 10^-320.51]"), _number("mean 3 of 4")
    ('1.5\\cdot 10^{-7}', '\\left[1, 10^{-320.51}\\right]', None)
    """
    number = r"-?(?:10\^)?-?[0-9]+(?:\.[0-9]+)?(?:e[+-]?[0-9]+)?(?:/[0-9]+)?"
    if re.fullmatch(number, text):
        return _power(text)
    if interval := re.fullmatch(rf"\[({number}), ({number})\]", text):
        return rf"\left[{_power(interval[1])}, {_power(interval[2])}\right]"
    return None


def _power(text: str) -> str:
    base, caret, exponent = text.partition("10^")
    return f"{base}10^{{{_scientific(exponent)}}}" if caret else _scientific(text)


def _scientific(text: str) -> str:
    mantissa, e, exponent = text.partition("e")
    return rf"{mantissa}\cdot 10^{{{int(exponent)}}}" if e else text


def _flat(text: str) -> str:
    """One line without control characters."""
    return clean(re.sub(r"\s+", " ", text))


# --- templates ------------------------------------------------------------------------------------


def template(name: str, package: str = __package__) -> jinja2.Template:
    """A file of the folder `templates` of a package. Its delimiters are those that LaTeX and
    Markdown do not use; a name that is missing is an error, never an empty place."""
    return _templates(package).get_template(name)


def own_text(name: str, package: str = __package__) -> str:
    """A file of the folder `templates` as it is."""
    return (files(package) / "templates" / name).read_text(encoding="utf-8")


@cache
def _templates(package: str) -> jinja2.Environment:
    import jinja2

    environment = jinja2.Environment(
        loader=jinja2.FunctionLoader(partial(own_text, package=package)),
        block_start_string="<%",
        block_end_string="%>",
        variable_start_string="<<",
        variable_end_string=">>",
        comment_start_string="<#",
        comment_end_string="#>",
        trim_blocks=True,
        lstrip_blocks=True,
        keep_trailing_newline=True,
        undefined=jinja2.StrictUndefined,
        autoescape=False,
    )
    # A JSON string is one of YAML too.
    yaml = partial(json.dumps, ensure_ascii=False)
    environment.filters |= {"cited": partial(told, citation=cite), "yaml": yaml}
    own = (code, maths, md, prose, sentence, span, verdict)
    environment.filters |= {"hours": _hours} | {made.__name__: made for made in own}
    environment.globals |= {"plural": plural, "told": told}
    return environment


def span(numbers: Sequence[int]) -> str:
    """The least and the largest of some numbers, once where they are equal."""
    ends = (min(numbers), max(numbers)) if numbers else ()
    return " to ".join(dict.fromkeys(f"{n:,}" for n in ends)) or "no"


def _hours(seconds: float) -> str:
    if seconds < 90:
        return f"{seconds:.0f} seconds"
    return f"{seconds / 3600:.1f} hours" if seconds >= 5400 else f"{seconds / 60:.0f} minutes"

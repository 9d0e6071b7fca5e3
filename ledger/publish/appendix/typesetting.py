"""Text and maths on their way into Markdown and LaTeX: escaping, names of macros, numbers."""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Sequence
from functools import cache
from importlib.resources import files
from itertools import groupby
from typing import TYPE_CHECKING

from ...text import clean
from ...verdicts.display import slack
from .formulas import formulas

if TYPE_CHECKING:
    import jinja2

_TEX = {
    "\\": r"\textbackslash{}",
    "{": r"\{",
    "}": r"\}",
    "$": r"\$",
    "&": r"\&",
    "#": r"\#",
    "%": r"\%",
    "_": r"\_",
    "^": r"\textasciicircum{}",
    "~": r"\textasciitilde{}",
    "<": r"\ensuremath{<}",
    ">": r"\ensuremath{>}",
    "|": r"\ensuremath{|}",
    "`": r"\textasciigrave{}",
    "\u00a0": "~",
    "\u2013": "--",
    "\u2014": "---",
    "\u2018": "`",
    "\u2019": "'",
    "\u201c": "``",
    "\u201d": "''",
    "\u2026": r"\dots{}",
    "ß": r"\ss{}",
    "ø": r"\o{}",
    "Ø": r"\O{}",
    "ł": r"\l{}",
    "Ł": r"\L{}",
    "æ": r"\ae{}",
    "Æ": r"\AE{}",
    "œ": r"\oe{}",
    "Œ": r"\OE{}",
}
# Combining marks and the commands that set them in every font encoding.
_ACCENTS = {
    "\u0300": "`",
    "\u0301": "'",
    "\u0302": "^",
    "\u0303": "~",
    "\u0304": "=",
    "\u0306": "u",
    "\u0307": ".",
    "\u0308": '"',
    "\u030a": "r",
    "\u030b": "H",
    "\u030c": "v",
    "\u0327": "c",
}

# Characters that papers write in maths mode, as commands.
_MATHS = {
    "≤": "leq",
    "≥": "geq",
    "≠": "neq",
    "≈": "approx",
    "≡": "equiv",
    "∝": "propto",
    "∼": "sim",
    "≃": "simeq",
    "≅": "cong",
    "±": "pm",
    "×": "times",
    "÷": "div",
    "·": "cdot",
    "⋅": "cdot",
    "∗": "ast",
    "⊙": "odot",
    "⊗": "otimes",
    "⊕": "oplus",
    "→": "to",
    "←": "leftarrow",
    "⇒": "Rightarrow",
    "⇔": "Leftrightarrow",
    "↔": "leftrightarrow",
    "↦": "mapsto",
    "∞": "infty",
    "∈": "in",
    "∉": "notin",
    "∋": "ni",
    "∅": "emptyset",
    "⊂": "subset",
    "⊆": "subseteq",
    "⊃": "supset",
    "⊇": "supseteq",
    "∖": "setminus",
    "∪": "cup",
    "∩": "cap",
    "∀": "forall",
    "∃": "exists",
    "¬": "neg",
    "∧": "wedge",
    "∨": "vee",
    "⊥": "perp",
    "⊤": "top",
    "∑": "sum",
    "∏": "prod",
    "∫": "int",
    "√": r"sqrt{\,}",
    "∂": "partial",
    "∇": "nabla",
    "∆": "Delta",
    "⌊": "lfloor",
    "⌋": "rfloor",
    "⌈": "lceil",
    "⌉": "rceil",
    "⟨": "langle",
    "⟩": "rangle",
    "‖": "Vert",
    "ℓ": "ell",
    "∘": "circ",
    "≪": "ll",
    "≫": "gg",
    "µ": "mu",
    "ϵ": "epsilon",
    "ϕ": "phi",
    "ϑ": "vartheta",
    "ℕ": "mathbb{N}",
    "ℤ": "mathbb{Z}",
    "ℚ": "mathbb{Q}",
    "ℝ": "mathbb{R}",
    "ℂ": "mathbb{C}",
    "𝔽": "mathbb{F}",
    "𝔼": "mathbb{E}",
    "ℙ": "mathbb{P}",
}
_ASCII_SIGNS = {"<->": "↔", "<-": "←", "<=": "≤", ">=": "≥", "!=": "≠", "->": "→"}
# Superscripts and subscripts, also those that Unicode does not call so.
_RAISED = {"°": r"\circ", "′": r"\prime"}
_SCRIPTS = "°′²³¹⁰ⁱ⁴-ⁿ₀-₎ₐ-ₓₕ-ₜᵀᵢ-ᵥ"
# One piece of maths: a letter or a number with scripts, signs, the number after them.
_RUN = re.compile(
    rf"(?:(?<![^\W_])(?:[A-Za-z]|[0-9]+)(?=[{_SCRIPTS}]))?"
    rf"[<>−{''.join(_MATHS)}Α-ΡΣ-Ωα-ω{_SCRIPTS}]+(?:[0-9]+(?:\.[0-9]+)?)?"
)
_GREEK_LATIN = {
    "ALPHA": "A",
    "BETA": "B",
    "EPSILON": "E",
    "ZETA": "Z",
    "ETA": "H",
    "IOTA": "I",
    "KAPPA": "K",
    "MU": "M",
    "NU": "N",
    "OMICRON": "O",
    "RHO": "P",
    "TAU": "T",
    "CHI": "X",
}
_GREEK = (
    "ALPHA",
    "BETA",
    "GAMMA",
    "DELTA",
    "EPSILON",
    "ZETA",
    "ETA",
    "THETA",
    "IOTA",
    "KAPPA",
    "LAMDA",
    "MU",
    "NU",
    "XI",
    "OMICRON",
    "PI",
    "RHO",
    "SIGMA",
    "TAU",
    "UPSILON",
    "PHI",
    "CHI",
    "PSI",
    "OMEGA",
)
_DIGITS = ("Zero", "One", "Two", "Three", "Four", "Five", "Six", "Seven", "Eight", "Nine")


def tex(text: str) -> str:
    """Plain text as LaTeX text. Never fails: what pdfLaTeX cannot set by itself becomes its code
    point in brackets.

    >>> tex("50% of d_x, λ ≤ 3")
    '50\\\\% of d\\\\_x, \\\\ensuremath{\\\\lambda} \\\\ensuremath{\\\\leq} 3'
    """
    return "".join(_tex_character(c) for c in _quoted(_flat(text)))


def _quoted(text: str) -> str:
    """Straight quotes open and close in turn."""
    parts = text.split('"')
    return "".join(
        part + ("" if i == len(parts) - 1 else "\u201d" if i % 2 else "\u201c")
        for i, part in enumerate(parts)
    )


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


def prose(text: str) -> str:
    r"""Running text as Markdown for pandoc and MyST: formulas written in ASCII are set as maths,
    `...` as code, and everything else is escaped. Line breaks become spaces.

    >>> print(prose("hop_k in log_3(d_x) <= 3^(L-2) layers, see [x](y_z.md)"))
    $\mathrm{hop}_k$ in $\log_3(d_x) \leq 3^{L-2}$ layers, see \[$x$\](y\_z.md)
    """
    typeset = ""
    for place, part in enumerate(re.split("`([^`]+)`", _flat(text))):
        if place % 2:
            typeset += code(part)
            continue
        part, done = _rooted(_plain(part)), 0
        for start, end, latex in formulas(part):
            typeset += _escaped(part[done:start]) + maths(latex)
            done = end
        typeset += _escaped(part[done:])
    # Two formulas without a space between them are one; $$ would begin another kind of maths.
    typeset = re.sub(r"(?<!\\)\$\$", " ", typeset)
    # What would begin a list, a heading or a quotation.
    return re.sub(
        r"^([-+>#%=:]|\d+(?=[.)]))",
        lambda m: m[0] if m[0].isdigit() else f"\\{m[0]}",
        re.sub(r"^(\d+)([.)])", r"\1\\\2", typeset),
    )


def _plain(text: str) -> str:
    """Without the marks of Markdown around quoted words, and with the powers of Python as those of
    formulas.

    >>> _plain("**depth wins** at 2**(t + 1)")
    'depth wins at 2^(t + 1)'
    """
    text = re.sub(r"(?<![\w*])\*\*([A-Za-z][^*]*[A-Za-z])\*\*(?![\w*(])", r"\1", text)
    return re.sub(r"(?<=[\w)])\*\*(?=[\w(])", "^", text)


def _rooted(text: str) -> str:
    """What stands under a root goes into brackets: √2 is sqrt(2)."""
    text = re.sub(r"√(\d+(?:\.\d+)?|[A-Za-z](?:_[A-Za-z0-9]+)?(?!\w))", r"sqrt(\1)", text)
    return text.replace("√(", "sqrt(")


def _escaped(text: str) -> str:
    r"""Text without formulas, for every format: what Markdown reads as markup is escaped, signs of
    maths, Greek letters and small digits are set, accented Latin stays, and what a format may have
    no letter for becomes its code point in brackets.

    >>> print(_escaped("é: x₁₂ ≤ 10², ℕ, 日"))
    é: $x_{12}$ $\leq$ $10^{2}$, $\mathbb{N}$, \[U+65E5\]
    """
    text = re.sub(
        "|".join(_ASCII_SIGNS), lambda m: _ASCII_SIGNS[m[0]], unicodedata.normalize("NFC", text)
    )
    parts, done = "", 0
    for match in _RUN.finditer(text):
        parts += _marked(text[done : match.start()]) + maths(_run(match[0]))
        done = match.end()
    return parts + _marked(text[done:])


def _run(text: str) -> str:
    """One piece of maths, as LaTeX; scripts of one height stand together."""
    typeset, before = "", ""
    for height, group in groupby(text, lambda c: _script(c)[0]):
        if not height:
            typeset += "".join(f"{_sign(c)} " if _sign(c) else c for c in group)
        else:
            # A second pair of scripts needs a base of its own.
            typeset += ("{}" if not before or height in before else "") + (
                f"{height}{{{''.join(_script(c)[1] for c in group)}}}"
            )
        before = before + height if height and before else height or "base"
    return re.sub(r" +(?=[ _^{]|$)", "", typeset)


def _marked(text: str) -> str:
    """Text without maths, escaped; code points for what is neither ASCII nor Latin."""
    text = re.sub(r"([\\`*_{}\[\]|$~&#@^])", r"\\\1", text)
    text = re.sub("-(?=-)", r"\\-", text)
    return "".join(c if _latin(c) else rf"\[U+{ord(c):04X}\]" for c in text)


def _latin(c: str) -> bool:
    """Whether every format has a letter for it; pdfLaTeX knows few accents beyond U+017F."""
    return c.isascii() or c in _TEX or (c < "\u0180" and _accented(c) != "")


def maths(latex: str) -> str:
    r"""LaTeX as inline maths, also inside a pipe table; empty for an empty one.

    >>> maths(r"\|x\| \leq |E|"), maths("")
    ('$\\Vert x\\Vert \\leq \\vert E\\vert$', '')
    """
    # A command that ends in letters takes a space before a letter.
    text = re.sub(r"\\\||\|", lambda m: r"\Vert" if len(m[0]) > 1 else r"\vert", _flat(latex))
    text = re.sub(r"(\\[vV]ert)(?=[A-Za-z])", r"\1 ", text)
    return f"${text.strip()}$" if latex else ""


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
    if not text:
        return ""
    return r"\times " + (
        f"10^{{{_scientific(text[4:])}}}" if text.startswith("x10^") else _scientific(text[1:])
    )


def _number(text: str) -> str | None:
    r"""A number, an interval or a power of ten, as `terminal.number` writes it, as maths; None when
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


def _tex_character(c: str) -> str:
    if c in _TEX:
        return _TEX[c]
    if c.isascii():
        return c
    if sign := _sign(c):
        return rf"\ensuremath{{{sign}}}"
    height, plain = _script(c)
    if height:
        return rf"\ensuremath{{{height}{{{plain}}}}}"
    return _accented(c) or f"[U+{ord(c):04X}]"


def _sign(c: str) -> str:
    """A sign or a Greek letter in maths mode; empty for others."""
    if c in _MATHS:
        return f"\\{_MATHS[c]}"
    if c == "−":
        return "-"
    greek = re.fullmatch(
        rf"GREEK (SMALL|CAPITAL) LETTER (FINAL )?({'|'.join(_GREEK)})", unicodedata.name(c, "")
    )
    return _greek(greek[3].replace("LAMDA", "LAMBDA"), greek[1] == "CAPITAL") if greek else ""


def _script(c: str) -> tuple[str, str]:
    """Its height, ^ or _, and what is raised or lowered, in maths mode; empty for others."""
    if c in _RAISED:
        return "^", _RAISED[c]
    kind, _, _ = unicodedata.decomposition(c).partition(" ")
    plain = unicodedata.normalize("NFKD", c).replace("−", "-")
    if kind in ("<super>", "<sub>") and len(plain) == 1 and plain.isascii():
        return "^" if kind == "<super>" else "_", plain
    return "", ""


def _accented(c: str) -> str:
    """An accented letter of Latin as a command of LaTeX; empty for others."""
    letter, *marks = list(unicodedata.normalize("NFD", c))
    if letter.isascii() and letter.isalpha() and len(marks) == 1 and marks[0] in _ACCENTS:
        return rf"\{_ACCENTS[marks[0]]}{{{letter}}}"
    return ""


def _greek(letter: str, capital: bool) -> str:
    if capital:
        return (
            rf"\mathrm{{{_GREEK_LATIN[letter]}}}"
            if letter in _GREEK_LATIN
            else "\\" + letter.capitalize()
        )
    return "o" if letter == "OMICRON" else "\\" + letter.lower()


# --- templates ------------------------------------------------------------------------------------


def template(name: str) -> jinja2.Template:
    """A file of the folder `templates`. Its delimiters are those that LaTeX and Markdown do not
    use; a name that is missing is an error, never an empty place."""
    return _templates().get_template(name)


@cache
def _templates() -> jinja2.Environment:
    import jinja2

    environment = jinja2.Environment(
        loader=jinja2.FunctionLoader(
            lambda name: (files(__package__) / "templates" / name).read_text(encoding="utf-8")
        ),
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
    environment.filters |= {"md": md, "span": _span, "hours": _hours}
    return environment


def _span(numbers: Sequence[int]) -> str:
    """The least and the largest of some numbers, once where they are equal."""
    ends = (min(numbers), max(numbers)) if numbers else ()
    return " to ".join(dict.fromkeys(f"{n:,}" for n in ends)) or "no"


def _hours(seconds: float) -> str:
    return (
        f"{seconds / 3600:.1f} hours"
        if seconds >= 5400
        else f"{seconds / 60:.0f} minutes"
        if seconds >= 90
        else f"{seconds:.0f} seconds"
    )

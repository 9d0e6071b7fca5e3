"""Text and maths on their way into Markdown and LaTeX: escaping, names of macros, numbers."""
from __future__ import annotations

import re
import unicodedata

from ..text import clean
from ..verdicts.display import slack
from .formulas import formulas

_TEX = {"\\": r"\textbackslash{}", "{": r"\{", "}": r"\}", "$": r"\$", "&": r"\&", "#": r"\#",
        "%": r"\%", "_": r"\_", "^": r"\textasciicircum{}", "~": r"\textasciitilde{}",
        "<": r"\ensuremath{<}", ">": r"\ensuremath{>}", "|": r"\ensuremath{|}",
        "`": r"\textasciigrave{}", "\u00a0": "~", "\u2013": "--", "\u2014": "---", "\u2018": "`",
        "\u2019": "'", "\u201c": "``", "\u201d": "''", "\u2026": r"\dots{}", "ß": r"\ss{}",
        "ø": r"\o{}", "Ø": r"\O{}", "ł": r"\l{}", "Ł": r"\L{}", "æ": r"\ae{}", "Æ": r"\AE{}",
        "œ": r"\oe{}", "Œ": r"\OE{}"}
# Combining marks and the commands that set them in every font encoding.
_ACCENTS = {"\u0300": "`", "\u0301": "'", "\u0302": "^", "\u0303": "~", "\u0304": "=",
            "\u0306": "u", "\u0307": ".", "\u0308": '"',
            "\u030a": "r", "\u030b": "H", "\u030c": "v", "\u0327": "c"}

# Characters that papers write as a command of maths mode.
_MATHS = {"≤": "leq", "≥": "geq", "≠": "neq", "≈": "approx", "≡": "equiv", "∝": "propto",
          "∼": "sim", "±": "pm", "×": "times", "·": "cdot", "⊙": "odot", "⊗": "otimes",
          "⊕": "oplus", "→": "to", "←": "leftarrow", "⇒": "Rightarrow", "↔": "leftrightarrow",
          "↦": "mapsto", "∞": "infty", "∈": "in", "∉": "notin", "⊂": "subset", "⊆": "subseteq",
          "∪": "cup", "∩": "cap", "∀": "forall", "∃": "exists", "∑": "sum", "∏": "prod",
          "√": "surd", "∂": "partial", "⌊": "lfloor", "⌋": "rfloor", "⌈": "lceil", "⌉": "rceil",
          "⟨": "langle", "⟩": "rangle", "‖": "Vert", "ℓ": "ell", "−": "-", "∘": "circ", "≪": "ll",
          "≫": "gg", "ℝ": "mathbb{R}", "ℚ": "mathbb{Q}", "ℤ": "mathbb{Z}", "𝔽": "mathbb{F}"}
_GREEK_LATIN = {"ALPHA": "A", "BETA": "B", "EPSILON": "E", "ZETA": "Z", "ETA": "H", "IOTA": "I",
                "KAPPA": "K", "MU": "M", "NU": "N",
                "OMICRON": "O", "RHO": "P", "TAU": "T", "CHI": "X"}
_GREEK = ("ALPHA", "BETA", "GAMMA", "DELTA", "EPSILON", "ZETA", "ETA", "THETA", "IOTA", "KAPPA",
          "LAMDA", "MU", "NU", "XI", "OMICRON", "PI",
          "RHO", "SIGMA", "TAU", "UPSILON", "PHI", "CHI", "PSI", "OMEGA")
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
    return "".join(part + ("" if i == len(parts) - 1 else "\u201d" if i % 2 else "\u201c")
                   for i, part in enumerate(parts))


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
    shown = ""
    for place, part in enumerate(re.split("`([^`]+)`", _flat(text).replace("√", "sqrt"))):
        if place % 2:
            shown += code(part)
            continue
        done = 0
        for start, end, latex in formulas(part):
            shown += _escaped(part[done:start]) + maths(latex)
            done = end
        shown += _escaped(part[done:])
    # Two formulas without a space between them are one; $$ would begin another kind of maths.
    shown = shown.replace("$$", " ")
    # What would begin a list, a heading or a quotation.
    return re.sub(r"^([-+>#%=:]|\d+(?=[.)]))", lambda m: (
        m[0] if m[0].isdigit() else f"\\{m[0]}"), re.sub(r"^(\d+)([.)])", r"\1\\\2", shown))


def _escaped(text: str) -> str:
    """Text without formulas: what Markdown reads as markup is escaped, signs of maths are set."""
    text = re.sub(r"([\\`*_{}\[\]|$~&#@^])", r"\\\1", text)
    text = re.sub("-(?=-)", r"\\-", text)
    text = re.sub("<->|<=|>=|!=|->|<-|[<>]", lambda m: maths(_SIGNS[m[0]]), text)
    return re.sub("[" + "".join(_MATHS) + "]", lambda m: maths(
        "-" if m[0] == "−" else f"\\{_MATHS[m[0]]}"), text)


_SIGNS = {"<->": r"\leftrightarrow", "<-": r"\leftarrow", "<=": r"\leq", ">=": r"\geq",
          "!=": r"\neq", "->": r"\to", "<": "<", ">": ">"}


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
    """A key, a case or a hash as a code span; escaped text where a table could not hold it.

    >>> code("a_b"), code("a|b"), code("")
    ('`a_b`', 'a\\\\|b', '')
    """
    text = _flat(text)
    return _escaped(text) if not text or "|" in text or "`" in text else f"`{text}`"


def value(text: str) -> str:
    """A measured or predicted value: maths where it is a number, prose otherwise.

    >>> value("1.5e-07"), value("not run")
    ('$1.5\\\\cdot 10^{-7}$', 'not run')
    """
    number = _number(text)
    return prose(text) if number is None else maths(number)


def verdict(name: str) -> str:
    """A verdict in words that may break over lines."""
    return name.replace("_", " ")


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
    return r"\times " + (f"10^{{{_scientific(text[4:])}}}" if text.startswith("x10^")
                         else _scientific(text[1:]))


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
    if c in _MATHS:
        return r"\ensuremath{" + ("" if c == "−" else "\\") + _MATHS[c] + "}"
    name = unicodedata.name(c, "")
    if greek := re.fullmatch(rf"GREEK (SMALL|CAPITAL) LETTER (FINAL )?({'|'.join(_GREEK)})", name):
        return r"\ensuremath{" + _greek(greek[3].replace("LAMDA", "LAMBDA"),
                                        greek[1] == "CAPITAL") + "}"
    if script := re.fullmatch(r"(SUPERSCRIPT|SUBSCRIPT) \w+", name):
        plain = unicodedata.normalize("NFKD", c).replace("−", "-")
        return rf"\ensuremath{{{'^' if script[1] == 'SUPERSCRIPT' else '_'}{{{plain}}}}}"
    letter, *marks = list(unicodedata.normalize("NFD", c))
    if letter.isascii() and letter.isalpha() and len(marks) == 1 and marks[0] in _ACCENTS:
        return rf"\{_ACCENTS[marks[0]]}{{{letter}}}"
    return f"[U+{ord(c):04X}]"


def _greek(letter: str, capital: bool) -> str:
    if capital:
        return (rf"\mathrm{{{_GREEK_LATIN[letter]}}}" if letter in _GREEK_LATIN
                else "\\" + letter.capitalize())
    return "o" if letter == "OMICRON" else "\\" + letter.lower()

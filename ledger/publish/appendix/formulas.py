"""Formulas written in ASCII within prose, such as log_3(d_x) <= 3^(L-2), as LaTeX."""

from __future__ import annotations

import re
from collections.abc import Iterator

_GREEK = re.compile(
    "(var)?epsilon|alpha|beta|[gG]amma|[dD]elta|zeta|eta|[tT]heta|kappa|[lL]ambda|mu|nu|[xX]i|"
    "[pP]i|rho|[sS]igma|tau|[pP]hi|chi|[pP]si|[oO]mega"
)
_RELATIONS = {
    "<=": r"\leq",
    ">=": r"\geq",
    "!=": r"\neq",
    "<->": r"\leftrightarrow",
    "<-": r"\leftarrow",
    "->": r"\to",
    "=": "=",
    "<": "<",
    ">": ">",
    "≤": r"\leq",
    "≥": r"\geq",
    "≠": r"\neq",
    "→": r"\to",
    "~": r"\sim",
    "≈": r"\approx",
}
# Functions that take what follows as their argument, also without brackets.
_PREFIXES = {
    "log": r"\log",
    "ln": r"\ln",
    "log2": r"\log_2",
    "log10": r"\log_{10}",
    "cos": r"\cos",
    "sin": r"\sin",
    "tanh": r"\tanh",
}
# Signs that carry their range as an index.
_LARGE = {"sum": r"\textstyle\sum", "prod": r"\textstyle\prod", "max": r"\max", "min": r"\min"}
_FUNCTIONS = {
    "exp": r"\exp",
    "min": r"\min",
    "max": r"\max",
    "arcsin": r"\arcsin",
    "deg": r"\deg",
    "det": r"\det",
    "dim": r"\dim",
    "res": r"\mathrm{res}",
    "SA": r"\mathrm{SA}",
    "poly": r"\mathrm{poly}",
    "Bell": r"\mathrm{Bell}",
    "Var": r"\mathrm{Var}",
    "ReLU": r"\mathrm{ReLU}",
    "LN": r"\mathrm{LN}",
    "tril": r"\mathrm{tril}",
    "softmax": r"\mathrm{softmax}",
    "rank": r"\mathrm{rank}",
}
_BRACKETS = {
    "sqrt": (r"\sqrt{", "}"),
    "ceil": (r"\lceil ", r" \rceil"),
    "floor": (r"\lfloor ", r" \rfloor"),
}
# Names of more than one letter that carry an index or stand for a quantity.
_NAMES = {
    "hop": r"\mathrm{hop}",
    "Cat": r"\mathrm{Cat}",
    "sep": r"\operatorname{sep}",
    "find": r"\mathrm{find}",
    "grad": r"\nabla",
    "Hdp": "H d p",
}
_INDICES = {"QK", "qk", "ij", "ik", "jk", "kl", "ii", "jj", "xyz", "mn"}
# After these a single letter is a label.
_LABELLED = re.compile(
    r"\b(section|appendix|app\.|lemma|theorem|table|figure|fig\.|corollary|proposition|definition|"
    r"equation|part|version|panel|group|plan|type|net|case|exercise|step) $",
    re.IGNORECASE,
)
_RELATION = re.compile(r" ?(<->|<=|>=|!=|->|<-(?= )|[=<>≤≥≠→~≈])(?=[ \w(|-])")
_TIMES = re.compile(r" ?([/·×]) ?| ([*x]) (?=\d|[A-Za-z]\b)")
_START = re.compile(
    r"(?<![\w.'’`/@#|*^+-])(?<!\w\()(?=[A-Za-z0-9([|<>=!≤≥≠→])|"
    r"(?<= )(?=\+?-[A-Za-z0-9(])"
)


def formulas(text: str) -> Iterator[tuple[int, int, str]]:
    """(start, end, LaTeX) of the formulas in a text, from left to right.

    >>> [latex for _, _, latex in formulas("log_3(d_x) <= 3^(L-2) for all L")]
    ['\\\\log_3(d_x) \\\\leq 3^{L-2}', 'L']
    """
    done = 0
    for match in _START.finditer(text):
        if match.start() >= done:
            found = _Formula(text, match.start()).read()
            if found:
                done, latex = found
                yield match.start(), done, latex


class _NoFormulaError(Exception):
    """What stands here is no formula."""


class _Formula:
    """Reads one formula, as far as it goes."""

    def __init__(self, text: str, start: int) -> None:
        self.text, self.start, self.at = text, start, start
        self.depth = self.letters = self.operators = 0
        self.strong = False

    def read(self) -> tuple[int, str] | None:
        """Where it ends, and its LaTeX; None where none begins here."""
        try:
            latex = self._statement(leading=True)
        except (_NoFormulaError, IndexError):
            return None
        after = self.text[self.at : self.at + 2]
        if re.match(r"[\w(]|[_^/][\w(]|\.[A-Za-z]|'[A-Za-z]|://", after) and not re.match(
            r"'s\b", self.text[self.at :]
        ):
            return None
        return (self.at, latex) if self._is_one() else None

    def _is_one(self) -> bool:
        """Whether what was read is a formula rather than a word, a label or a number."""
        written = self.text[self.start : self.at]
        if self.strong or (self.letters and self.operators):
            return not re.fullmatch(r"[a-zA-Z]/[a-zA-Z]|\(\w\)", written) or written in {
                "d/L",
                "L/d",
                "N/H",
                "d/H",
            }
        if not self.letters or _LABELLED.search(self.text[: self.start]):
            return False
        # "A" begins a sentence more often than it is a matrix there.
        if re.fullmatch(r"[aI]|\(\w\)|\d+(\.\d+)?[^LNRdmnrtuv\d]", written) or (
            written == "A" and re.search(r"(^|[.:;!?\"(] ?)$", self.text[: self.start])
        ):
            return False
        return not re.match(r"-[A-Z\d]|\+|\*", self.text[self.at :])

    # --- the grammar

    def _statement(self, leading: bool = False) -> str:
        """Sums with relations between them."""
        relation = self._relation() if leading else ""
        shown = f"{relation} {self._sum()}" if relation else self._sum()
        while True:
            before = self.at
            try:
                relation = self._relation() or self._range()
                if not relation:
                    break
                shown += f" {relation} {self._sum()}"
                self.strong = True
            except (_NoFormulaError, IndexError):
                self.at = before
                break
        return shown

    def _relation(self) -> str:
        found = _RELATION.match(self.text, self.at)
        if not found:
            return ""
        self.at = found.end()
        self._space()
        self.strong = True
        return _RELATIONS[found[1]]

    def _range(self) -> str:
        if not self.text.startswith("..", self.at) or self.text.startswith("...", self.at):
            return ""
        self.at += 2
        return r"\ldots"

    def _sum(self) -> str:
        shown = ""
        if found := re.compile(r"\+-|-").match(self.text, self.at):
            self.at = found.end()
            shown = {"-": "-", "+-": r"\pm "}[found[0]]
        shown += self._product()
        while True:
            found = re.compile(r" ([-+±]|mod) (?=\S)|([-+])(?=[\w(])").match(self.text, self.at)
            if not found or (
                found[2]
                and not self.depth
                and not re.match(r"(?<![^\W_]\w)[-+]\d+(?![\dA-Za-z])", self.text[found.start() :])
            ):
                return shown
            before = self.at
            self.at = found.end()
            try:
                sign = {"±": r"\pm", "mod": r"\bmod"}.get(found[1], found[1] or found[2])
                space = " " if found[1] else ""
                shown += space + sign + space + self._product()
                self.operators += 1
            except (_NoFormulaError, IndexError):
                self.at = before
                return shown

    def _product(self) -> str:
        shown = self._power()
        while True:
            before = self.at
            try:
                found = _TIMES.match(self.text, self.at)
                if found:
                    self.at = found.end()
                    sign = {"/": "/", "*": r" \cdot ", "·": r" \cdot "}.get(
                        found[1] or found[2], r" \times "
                    )
                    word = re.compile("[a-z]{3,}(?![\\w(^])").match(self.text, self.at)
                    if found[0] == "/" and word and not _known(word[0]):
                        self.at = word.end()
                        part = rf"\text{{{word[0]}}}"
                    else:
                        part = self._power()
                    self.operators += 1
                    shown += sign + part
                    continue
                part = self._next_factor()
                if not part:
                    return shown
                dot = part[0].isdigit() and shown[-1:].isdigit()
                glued = self.text[before] == "("
                shown += (r" \cdot " if dot else "" if glued else " ") + part
            except (_NoFormulaError, IndexError):
                self.at = before
                return shown

    def _next_factor(self) -> str:
        """A factor that follows without a sign, or nothing."""
        rest = self.text[self.at :]
        if re.match(r"[A-Za-z(|]", rest):
            glued = self.text[self.at - 1]
            if rest[0] == "(" or (glued.isdigit() and not re.match(r"[A-Za-z]{2}", rest)):
                return self._power()
            return ""
        if not re.match(r" [A-Za-z(|√]| \d+\^", rest):
            return ""
        # "a" is an article unless a sign or an index follows.
        if re.match(r" [aAI]\b(?!['_^)]| ?[-+*/=<>]| A\^)", rest):
            return ""
        if re.match(r" \(", rest) and re.match(r" \([^()]*([=<>,]|\.\.)", rest):
            return ""
        self.at += 1
        return self._power()

    def _power(self) -> str:
        shown = self._atom()
        while True:
            c = self.text[self.at : self.at + 1]
            if c == "'" and not re.match(r"'[^\W_]", self.text[self.at :]):
                self.at += 1
                shown = f"{{{shown}}}'" if "^" in _outside(shown) else f"{shown}'"
            elif c == "_" and re.match(r"_[\w({+-]", self.text[self.at :]):
                self.at += 1
                shown += f"_{self._index()}"
                if self.text.startswith("_", self.at):
                    raise _NoFormulaError
            elif c == "^" and re.match(r"\^[\w({*-]", self.text[self.at :]):
                self.at += 1
                shown = f"{{{shown}}}^" if "^" in _outside(shown) else f"{shown}^"
                # 3^beta_2 is 3 to the power of beta_2.
                index = re.compile(r"(?!T_)([A-Za-z]+)_[A-Za-z0-9]+\b").match(self.text, self.at)
                # 3^L' is 3 to the power of L'.
                primed = re.match(r"[A-Za-z]'+(?![^\W_])", self.text[self.at :])
                self.at += primed.end() if primed else 0
                shown += (
                    f"{{{primed[0]}}}"
                    if primed
                    else f"{{{self._power()}}}"
                    if index
                    else self._index()
                )
            else:
                return shown
            self.strong = True

    def _index(self) -> str:
        """A subscript or superscript."""
        rest = self.text[self.at :]
        if found := re.match(r"[+*](?![\w(])|-(?![\w(])", rest):
            self.at += 1
            return r"\ast" if found[0] == "*" else found[0]
        if rest[0] in "({":
            inner = self._inside(*("()" if rest[0] == "(" else "{}"))
            return f"{{{inner}}}"
        if rest[0] == "-":
            self.at += 1
            return f"{{-{self._index().strip('{}')}}}"
        if found := re.match(r"\d+(\.\d+)?", rest):
            self.at += found.end()
            return _braced(found[0])
        found = re.match(r"[A-Za-z]+\d*", rest)
        if not found:
            raise _NoFormulaError
        word = found[0]
        if word in {*_BRACKETS, *_FUNCTIONS} and rest[len(word) :].startswith("("):
            return f"{{{self._atom()}}}"
        self.at += len(word)
        if _GREEK.fullmatch(word):
            return f"{{\\{word}}}"
        if word in _NAMES:
            return f"{{{_NAMES[word]}}}"
        if word == "inf":
            return r"\infty"
        if len(word) == 1 or word[1:].isdigit() or word in _INDICES:
            return _braced(word)
        return rf"{{\mathrm{{{word}}}}}"

    def _inside(self, left: str, right: str) -> str:
        """What stands between brackets: statements with commas between them."""
        assert self.text[self.at] == left
        self.at += 1
        self.depth += 1
        shown = self._statement(leading=True)
        while found := re.compile(r", ?").match(self.text, self.at):
            self.at = found.end()
            shown += ", " + self._statement()
        if self.text[self.at] != right:
            raise _NoFormulaError
        self.at += 1
        self.depth -= 1
        return shown

    def _atom(self) -> str:
        rest = self.text[self.at :]
        if not rest:
            raise _NoFormulaError
        if found := re.match(r"(\d+(?:\.\d+)?)e([+-]?\d+)\b", rest):
            self.at += found.end()
            self.strong = True
            power = f"10^{{{int(found[2])}}}"
            return power if found[1] == "1" else rf"{found[1]} \cdot {power}"
        if rest[0] == "[":
            inner = self._inside("[", "]")
            if "," not in inner:
                raise _NoFormulaError
            self.strong = True
            return f"[{inner}]"
        if found := re.match(r"\d{1,3}(,\d{3})+(?!\d)|\d+(\.\d+)?", rest):
            self.at += found.end()
            return found[0].replace(",", "{,}")
        if rest[0] == "(":
            return f"({self._inside('(', ')')})"
        if rest[0] == "|":
            return self._bars("||" if rest.startswith("||") else "|")
        found = re.match(r"[A-Za-z]+\d*", rest)
        if not found:
            raise _NoFormulaError
        return self._word(found[0], rest[found.end() :])

    def _bars(self, bars: str) -> str:
        self.at += len(bars)
        self.depth += 1
        inner = self._statement()
        if not self.text.startswith(bars, self.at):
            raise _NoFormulaError
        self.at += len(bars)
        self.depth -= 1
        self.strong = True
        # Only norms have an index: |W|_1 is one.
        norm = bars == "||" or self.text.startswith("_", self.at)
        return rf"\lVert {inner}\rVert " if norm else rf"\left\vert {inner}\right\vert "

    def _word(self, word: str, after: str) -> str:
        self.at += len(word)
        if word in _BRACKETS and after[:1] == "(":
            self.strong = True
            return self._inside("(", ")").join(_BRACKETS[word])
        if word == "binom" and after[:1] == "(":
            self.strong = True
            top, _, bottom = self._inside("(", ")").partition(", ")
            return rf"\binom{{{top}}}{{{bottom}}}"
        if word in _PREFIXES:
            return self._prefix(_PREFIXES[word])
        if word in _FUNCTIONS and after[:1] == "(":
            self.strong = True
            return f"{_FUNCTIONS[word]}({self._inside('(', ')')})"
        if _GREEK.fullmatch(word) or word == "eps":
            self.strong = True
            return r"\varepsilon" if word == "eps" else f"\\{word}"
        if word in _LARGE and after[:1] == "_":
            self.strong = True
            self.at += 1
            sign = f"{_LARGE[word]}_{self._index()}"
            if self.text.startswith("^", self.at):
                self.at += 1
                sign += f"^{self._index()}"
            return f"{sign} {self._following()}"
        if word in {"max", "min"} and after.startswith(" |"):
            return f"{_LARGE[word]} {self._following()}"
        if re.fullmatch("d[tA-Z]", word) and (after[:1] in set("_/^|)") or self.depth):
            return word
        if word in _NAMES and (word in {"sep", "Hdp"} or re.match(r"[_^(]", after)):
            self.strong = True
            return _NAMES[word]
        if len(word) == 1:
            self.letters += 1
            return word
        if self.depth and re.fullmatch("[A-Z]1|[A-Z]{2}", word):
            return f"{word[0]} {word[1]}"
        if word == "inf" and self.depth:
            return r"\infty"
        if self.depth and re.match("[a-z]+ [-+] [\\w(]", word + after):
            return rf"\text{{{word}}}"
        if re.fullmatch("[A-Za-z]+", word) and re.match(r"\^[\w(-]", after):
            return rf"\mathrm{{{word}}}"
        raise _NoFormulaError

    def _prefix(self, sign: str) -> str:
        if self.text[self.at] == "_":
            self.at += 1
            sign += f"_{self._index()}"
            if not re.match(r"\(| [A-Za-z\d|(]", self.text[self.at :]):
                self.strong = True
                return sign
            before = self.at
            try:
                self.strong = True
                return f"{sign} {self._argument()}".replace(" (", "(", 1)
            except (_NoFormulaError, IndexError):
                self.at = before
                return sign
        self.strong = True
        return f"{sign} {self._argument()}".replace(" (", "(", 1)

    def _argument(self) -> str:
        if self.text[self.at] == "(":
            return f"({self._inside('(', ')')})"
        return self._following()

    def _following(self) -> str:
        """What stands after a space and belongs to the sign before it."""
        if self.text[self.at] not in " (":
            raise _NoFormulaError
        self._space()
        if re.match(r"[aAI]\b(?!['_^])", self.text[self.at :]):
            raise _NoFormulaError
        return self._power()

    def _space(self) -> None:
        if self.text[self.at : self.at + 1] == " ":
            self.at += 1


def _known(word: str) -> bool:
    """Whether a word stands for a sign."""
    return bool(_GREEK.fullmatch(word)) or word in {*_PREFIXES, *_LARGE, *_NAMES, "eps"}


def _outside(latex: str) -> str:
    """What stands in no brackets."""
    return re.sub(r"\([^()]*\)|{[^{}]*}", "", latex)


def _braced(index: str) -> str:
    return index if len(index) == 1 else f"{{{index}}}"

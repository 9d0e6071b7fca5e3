"""Formulas of LaTeX as one line of ASCII, for terminals, tables and data.

The libraries that turn LaTeX into text lose the brackets around a sum above a bar, so that another
formula is printed; this reader keeps them (docs/decisions/0025).
"""

from __future__ import annotations

import re
from functools import cache

_SIGNS = {
    **dict.fromkeys(("le", "leq"), " <= "),
    **dict.fromkeys(("ge", "geq"), " >= "),
    **dict.fromkeys(("sim", "approx"), " ~ "),
    **dict.fromkeys(("ast", "star"), "*"),
    **dict.fromkeys(("vert", "lvert", "rvert"), "|"),
    **dict.fromkeys(("Vert", "lVert", "rVert", "|"), "||"),
    **dict.fromkeys(("rceil", "rfloor"), ")"),
    **dict.fromkeys((",", ";", ":", " ", "quad"), " "),
    **dict.fromkeys(("left", "right", "!", "textstyle", "begin{cases}", "end{cases}"), ""),
    "mathcal{L}": "loss",
    "lceil": "ceil(",
    "lfloor": "floor(",
    "neq": " != ",
    "to": " -> ",
    "leftarrow": " <- ",
    "leftrightarrow": " <-> ",
    "in": " in ",
    "bmod": " mod ",
    "times": " x ",
    "pm": " +- ",
    "cdot": "*",
    "ldots": "..",
    "infty": "inf",
    "partial": "d",
    "nabla": "grad",
    "top": "T",
    "varepsilon": "epsilon",
    "varsigma": "sigma",
    "\\": ";",
}
# After a fraction these begin no factor.
_BETWEEN = re.compile(
    r"[^\w({\\]|$|\\(?:right|[,;|\\]|end{|[lr]?[vV]ert|"
    + "|".join(rf"{name}\b" for name, sign in _SIGNS.items() if re.search(r"^ .+ $|[)*]", sign))
    + ")"
)
_TOKEN = re.compile(r"\\(?:begin|end){cases}|\\mathcal{L}|\\[A-Za-z]+|\\.|\d+(?:\.\d+)?|.")


@cache
def readable(text: str) -> str:
    r"""A text with formulas between dollars, each as one line of ASCII.

    >>> readable(r"$\frac{N-1}{2}$ of $\frac{x}{y}^2$")
    '(N-1)/2 of (x/y)^2'
    >>> readable(r"at most $3^{L-2}$ of $\frac{d_x + 1}{2}$, for $|x| \leq \sqrt{n}$")
    'at most 3^(L-2) of (d_x + 1)/2, for |x| <= sqrt(n)'
    """
    return re.sub(r"`[^`]*`|\$([^$`]+)\$", lambda m: ascii_formula(m[1]) if m[1] else m[0], text)


def ascii_formula(latex: str) -> str:
    r"""One formula, without dollars.

    >>> ascii_formula(r"\lceil \log_2 k \rceil \neq \frac{1}{2} \binom{n}{2} e^{-x}")
    'ceil(log_2(k)) != (1/2) binom(n, 2) e^(-x)'
    """
    return re.sub(r"(\|+) *([^|]*?) *\1", r"\1\2\1", _Reader(latex).line())


class _Reader:
    """Reads from the left; `tokens` are those that are left, in reverse."""

    def __init__(self, latex: str) -> None:
        self.tokens = _TOKEN.findall(re.sub(r"\s+(?=[_^'])", "", latex))[::-1]

    def line(self, end: str = "") -> str:
        """Everything up to a bracket that closes, which is taken away too."""
        line, apart = "", False
        while self.tokens and self.tokens[-1] != end:
            bare = self.tokens[-1][0] in "{0123456789"
            part = self.part()
            # What was a command or carries a script stands apart from letters beside it.
            alone = len(part) > 1 and not (bare and "^" not in part)
            if part[:1].isalnum() and (
                (apart and re.search(r"[^\W_]$|[')]$", line)) or (alone and line[-1:].isalnum())
            ):
                line += " "
            line += part
            apart = alone or (apart and not part)
        if self.tokens:
            self.tokens.pop()
        line = re.sub(r"(?<=[(\[{]) +| +(?=[\])},;:])", "", re.sub(" +", " ", line))
        return re.sub(r" ?\* ?(?=\w)|(?<![,.]) ?\.\. ?", lambda m: m[0].strip(), line).strip()

    def part(self) -> str:
        """What stands next, with its scripts."""
        token = self.tokens.pop()
        printed = {"~": " ", "&": " "}.get(token, token)
        if token == "{":
            printed = self.line("}")
        elif token[0] == "\\":
            printed = self.command(token[1:])
        return self.scripted(printed)

    def scripted(self, printed: str) -> str:
        while self.tokens and self.tokens[-1] in "_^'":
            sign = self.tokens.pop()
            inner = "" if sign == "'" else re.sub(" ([-+]) ", r"\1", self.argument()).strip()
            if inner == "prime":
                sign, inner = "'", ""
            call = r"[a-z]+\((?:[^()]|\([^()]*\))*\)"
            bare = re.fullmatch(rf"[^\W_]*|\d+\.\d+|-\d+|[*+#-]|{call}", inner)
            printed += f"{sign}{inner}" if bare else f"{sign}({inner})"
        return printed

    def argument(self) -> str:
        self.skip()
        token = self.tokens.pop()
        if token == "{":
            return self.line("}")
        if token[0] == "\\":
            return self.command(token[1:])
        self.tokens += [token[1:]] if token[1:] else []
        return token[0]

    def skip(self) -> None:
        while self.tokens[-1:] == [" "]:
            self.tokens.pop()

    def command(self, name: str) -> str:
        if name == "rfloor" and self.tokens[-1:] == ["_"]:
            self.tokens.pop()
            return f", {self.argument()} decimals)"
        if name in _SIGNS:
            return _SIGNS[name]
        if name in ("mathrm", "operatorname", "mathbb", "mathcal", "text"):
            return self.argument()
        if name in ("hat", "bar", "tilde", "dot"):
            return f"{self.argument()}_{name}"
        if name == "sqrt":
            return f"sqrt({self.argument()})"
        if name == "binom":
            return f"binom({self.argument()}, {self.argument()})"
        if name == "frac":
            return self.fraction(self.argument(), self.argument())
        if name in ("sum", "prod") and self.tokens[-1:] == ["_"]:
            return self.large(name)
        return self.called(self.scripted(name)) if name in ("log", "ln") else name

    def fraction(self, top: str, bottom: str) -> str:
        top = f"({top})" if re.search(".[-+]", _outside(top)) else top
        bottom = f"({bottom})" if re.search("[ */+-]", _outside(bottom)) else bottom
        # a/b c would be read as a/(b c).
        rest = "".join(self.tokens[::-1]).lstrip()
        # And a script would be read as the bottom's.
        alone = _BETWEEN.match(rest) and not rest.startswith(("^", "_"))
        return f"{top}/{bottom}" if alone else f"({top}/{bottom})"

    def large(self, name: str) -> str:
        """A sum or product with what it runs over."""
        self.tokens.pop()
        low = self.argument()
        if self.tokens[-1:] != ["^"]:
            return f"{name}_{low}" if low.isalnum() else f"{name}_({low})"
        self.tokens.pop()
        return f"{name}[{re.sub(' ?= ?', ' = ', low)}..{self.argument()}]"

    def called(self, name: str) -> str:
        """A logarithm with its argument, which brackets may surround or not."""
        rest = "".join(self.tokens[::-1]).lstrip()
        if not rest.startswith(("(", r"\left")) and _BETWEEN.match(rest):
            return name
        self.skip()
        if rest.startswith(("(", r"\left")):
            return name
        printed = self.part()
        return f"{name} {printed}" if self.tokens[-1:] == ["("] else f"{name}({printed})"


def _outside(line: str) -> str:
    """What stands in no brackets."""
    while line != (line := re.sub(r"\([^()]*\)", "", line)):
        pass
    return line

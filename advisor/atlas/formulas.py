"""Depths of the table as people write them: in one line of ASCII, or with LaTeX."""

from __future__ import annotations

import re

# What a call of the table becomes, in ASCII and in LaTeX. Logarithms have a base of their own.
_CALLS = {
    "Min": ("min({})", r"\min({})"),
    "Max": ("max({})", r"\max({})"),
    "ceil": ("ceil({})", r"\lceil {} \rceil"),
    "floor": ("floor({})", r"\lfloor {} \rfloor"),
}
_CALL = re.compile(rf"\b(?:{'|'.join(_CALLS)}|log2|log)\(")
# Prose beside formulas: words of two letters and more that are no functions, and "a".
_WORD = re.compile(rf"(\b(?:a|(?!(?:{'|'.join(_CALLS)}|log2|log)\b)[A-Za-z]\w+)\b)")
_SIGNS = {"<=": r"\leq", ">=": r"\geq", "!=": r"\neq", "log": r"\log", "*": "^*"}


def formula(depth: str, *, latex: bool = False) -> str:
    r"""A depth in ASCII, or in words with LaTeX between dollars.

    >>> formula("Max(2, ceil(log(n - 2, 3)) + 1)"), formula("ceil(log(N, H + 1))")
    ('max(2, ceil(log_3(n - 2)) + 1)', 'ceil(log_(H+1) N)')
    >>> print(formula("2 ceil(log2(n)) + 18", latex=True))
    $2 \lceil \log_2 n \rceil + 18$
    >>> print(formula("order log k, if a conjecture holds", latex=True))
    order $\log k$, if a conjecture holds
    """
    if not latex:
        return _written(depth, latex=False)
    parts = []
    for part in _WORD.split(depth):
        maths = part.strip(" ,")
        written = maths
        if re.search("[A-Za-z]", maths) and not _WORD.fullmatch(maths):
            written = f"${_written(maths, latex=True)}$"
        parts.append(part.replace(maths, written) if maths else part)
    return "".join(parts)


def _written(text: str, *, latex: bool) -> str:
    """A formula, or a part of one."""
    call = _CALL.search(text)
    if call is None:
        text = text.replace(" / ", "/")
        return re.sub(r"<=|>=|!=|\blog\b|\*", lambda m: _SIGNS[m[0]], text) if latex else text
    arguments, rest = _called(text[call.end() :])
    inside = [_written(part, latex=latex) for part in arguments]
    name = call[0][:-1]
    if name in _CALLS:
        printed = _CALLS[name][latex].format(", ".join(inside))
    else:
        of, base = inside if name == "log" else (*inside, "2")
        if not base.isalnum():
            base = f"{{{base}}}" if latex else f"({base.replace(' ', '')})"
        printed = rf"\log_{base}" if latex else f"log_{base}"
        printed += f" {of}" if of.isalnum() else f"({of})"
    return text[: call.start()] + printed + _written(rest, latex=latex)


def _called(text: str) -> tuple[list[str], str]:
    """What stands between commas up to the bracket that closes, and what follows it."""
    arguments, start, open_ = [], 0, 0
    for place, sign in enumerate(text):
        if open_ == 0 and sign in ",)":
            arguments.append(text[start:place].strip())
            start = place + 1
            if sign == ")":
                return arguments, text[start:]
        open_ += {"(": 1, ")": -1}.get(sign, 0)
    raise ValueError(f"a bracket is open before {text!r}")

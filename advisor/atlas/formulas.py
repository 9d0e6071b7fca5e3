"""Depths of the table: one grammar, which is read to a tree, printed as ASCII or LaTeX, and
evaluated exactly.

    depth     := clause | clause [","] "if" condition ["," "else" depth]
    clause    := "none" | "-" | words | "order" sum | sum "for" words | sum
    condition := sum ("<=" | ">=" | "!=" | "<" | ">" | "=") sum | words
               | "an element has order" integer "or more"
    sum       := product (("+" | "-") product)*
    product   := power (("/" | "*" | nothing) power)*
    power     := atom ["^" atom]
    atom      := integer | letter | "(" sum ")" | "ceil(" sum ")" | "floor(" sum ")"
               | ("min(" | "max(") sum ("," sum)* ")" | "log2(" sum ")" | "log(" sum "," sum ")"
               | "log_" atom atom | "log" atom

A letter may carry a star, as n* does, after which no letter, number or bracket follows at once. The
last two forms are those of print.
"""

from __future__ import annotations

import operator
import re
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, fields
from fractions import Fraction
from functools import cache
from math import ceil, floor, inf

from ..base.quantities import UsageError, quoted

# A lower bound that no fixed depth meets.
NONE = "none"
_WORDS = re.compile(r"[A-Za-z]\w*(?: \w+)+")
_ELEMENT = re.compile(r"an element has order (\d+) or more")
_RELATIONS: dict[str, tuple[str, Callable[[Fraction, Fraction], bool]]] = {
    "<=": (r"\leq", operator.le),
    ">=": (r"\geq", operator.ge),
    "!=": (r"\neq", operator.ne),
    "<": ("<", operator.lt),
    ">": (">", operator.gt),
    "=": ("=", operator.eq),
}
_COMPARISON = re.compile(rf"(.+?) ?({'|'.join(_RELATIONS)}) ?(.+)")
_TOKEN = re.compile(r"\s*(\d+|log_|[A-Za-z][A-Za-z0-9]*(?:\*(?![\w(]))?|[-+*/^(),])")
_CALLS = {
    "ceil": r"\lceil {} \rceil",
    "floor": r"\lfloor {} \rfloor",
    "min": r"\min({})",
    "max": r"\max({})",
}
_LARGEST_EXPONENT = 1_000


# --- the tree -------------------------------------------------------------------------------------


@dataclass(frozen=True)
class Number:
    """A whole number."""

    number: int


@dataclass(frozen=True)
class Letter:
    """A letter of the task or the class."""

    name: str


@dataclass(frozen=True)
class Operation:
    """A sum, difference, product, quotient or power: `sign` is one of + - * / ^."""

    sign: str
    left: Maths
    right: Maths


@dataclass(frozen=True)
class Call:
    """ceil, floor, min or max."""

    name: str
    arguments: tuple[Maths, ...]


@dataclass(frozen=True)
class Log:
    """A logarithm; of an order of growth it has no base."""

    of: Maths
    base: Maths | None


@dataclass(frozen=True)
class Words:
    """What is no formula: `NONE`, "-" where nothing is known, "some depth", or a premise."""

    text: str


@dataclass(frozen=True)
class Growth:
    """Order of a formula, up to constants."""

    of: Maths


@dataclass(frozen=True)
class Limited:
    """A formula for some sizes, in words: "all large n"."""

    of: Maths
    sizes: str


@dataclass(frozen=True)
class Comparison:
    """A condition on letters; `ORDER` stands for the largest order of an element."""

    sign: str
    left: Maths
    right: Maths


@dataclass(frozen=True)
class Conditional:
    """A clause under a condition, and what else; `comma` stands before the condition."""

    then: Words | Growth | Limited | Maths
    condition: Comparison | Words
    otherwise: Depth | None
    comma: bool


Maths = Number | Letter | Operation | Call | Log
ORDER = Letter("order")
Depth = Words | Growth | Limited | Conditional | Maths


@dataclass(frozen=True)
class NoNumber:
    """Why a depth is no number: `why` is "letter" (one is not given), "words", "condition" (it does
    not hold, and there is no `else`) or "not whole"; `what` names the letter or the part."""

    why: str
    what: str


# --- reading --------------------------------------------------------------------------------------


@cache
def parse(text: str) -> Depth:
    """A depth as a tree.

    Raises:
        UsageError: for what the grammar does not have.

    >>> parse("D + 1")
    Operation(sign='+', left=Letter(name='D'), right=Number(number=1))
    >>> parse("ceil(log2(n))") == parse("ceil(log(n, 2))") == parse("ceil(log_2 n)")
    True
    """
    if parts := re.fullmatch(r"(.+?)(,?) if (.+?)(?:,? else (.+))?", text):
        otherwise = parse(parts[4]) if parts[4] else None
        return Conditional(_clause(parts[1]), _condition(parts[3]), otherwise, bool(parts[2]))
    return _clause(text)


def _clause(text: str) -> Words | Growth | Limited | Maths:
    if text.startswith("order "):
        return Growth(_maths(text.removeprefix("order ")))
    if text in (NONE, "-") or (_WORDS.fullmatch(text) and re.match("[a-z]{2}", text)):
        return _maths(text) if text.startswith(("log ", "log_")) else Words(text)
    of, for_, sizes = text.partition(" for ")
    return Limited(_maths(of), sizes) if for_ else _maths(text)


def _condition(text: str) -> Comparison | Words:
    if order := _ELEMENT.fullmatch(text):
        return Comparison(">=", ORDER, Number(int(order[1])))
    if parts := _COMPARISON.fullmatch(text):
        return Comparison(parts[2], _maths(parts[1]), _maths(parts[3]))
    if not _WORDS.fullmatch(text):
        raise _unreadable(text, "it is no condition")
    return Words(text)


def _unreadable(text: str, why: str) -> UsageError:
    return UsageError(
        f"cannot read the depth {quoted(text)}: {why}; write such as 'ceil(log2(n)) + 1', 'none', "
        "'order log n' or '1 if k <= 1, else 2'"
    )


def _maths(text: str) -> Maths:
    tokens, place = [], 0
    for token in _TOKEN.finditer(text):
        if token.start() != place:
            break
        tokens.append(token[1])
        place = token.end()
    if text[place:].strip():
        raise _unreadable(text, f"{quoted(text[place:].strip()[0])} has no meaning here")
    reader = _Reader(text, tokens)
    tree = reader.sum()
    if reader.tokens:
        raise _unreadable(text, f"{quoted(reader.tokens[0])} follows its end")
    return tree


@dataclass
class _Reader:
    """Recursive descent over the tokens that are left."""

    text: str
    tokens: list[str]

    def _next(self, *accepted: str) -> str:
        """The next token, if it is one of these; else ""."""
        return self.tokens.pop(0) if self.tokens and self.tokens[0] in accepted else ""

    def _close(self) -> None:
        if not self._next(")"):
            raise _unreadable(self.text, "a bracket is open")

    def sum(self) -> Maths:
        tree = self._product()
        while sign := self._next("+", "-"):
            tree = Operation(sign, tree, self._product())
        return tree

    def _product(self) -> Maths:
        tree = self._power()
        while self.tokens and self.tokens[0] not in ("+", "-", ")", ",", "^"):
            tree = Operation(self._next("*", "/") or "*", tree, self._power())
        return tree

    def _power(self) -> Maths:
        tree = self._atom()
        return Operation("^", tree, self._atom()) if self._next("^") else tree

    def _atom(self) -> Maths:
        token = self.tokens.pop(0) if self.tokens else ""
        name = token.lower() if token in ("Min", "Max") else token
        if token.isdecimal():
            return Number(int(token))
        if token == "(":
            tree = self.sum()
            self._close()
            return tree
        if token == "log_":
            base = self._atom()
            return Log(self._atom(), base)
        if token == "log" and self.tokens[:1] != ["("]:
            return Log(self._atom(), None)
        if name in (*_CALLS, "log", "log2") and self._next("("):
            return self._call(name)
        if not re.fullmatch(r"[A-Za-z]\*?", token):
            what = quoted(token) if token else "the end"
            raise _unreadable(self.text, f"{what} is no number, letter or function")
        return Letter(token)

    def _call(self, name: str) -> Maths:
        arguments = [self.sum()]
        while self._next(","):
            arguments.append(self.sum())
        self._close()
        if name in ("min", "max") or (name in _CALLS and len(arguments) == 1):
            return Call(name, tuple(arguments))
        if name == "log2" and len(arguments) == 1:
            return Log(arguments[0], Number(2))
        if name == "log" and len(arguments) <= 2:
            return Log(arguments[0], arguments[1] if arguments[1:] else None)
        raise _unreadable(self.text, f"{name} has other arguments")


# --- printing -------------------------------------------------------------------------------------


def formula(depth: str, *, latex: bool = False) -> str:
    r"""A depth in ASCII, or in words with LaTeX between dollars.

    >>> formula("Max(2, ceil(log(n - 2, 3)) + 1)"), formula("ceil(log(N, H + 1))")
    ('max(2, ceil(log_3(n - 2)) + 1)', 'ceil(log_(H+1) N)')
    >>> print(formula("2 ceil(log2(n)) + 18", latex=True))
    $2 \lceil \log_2 n \rceil + 18$
    >>> print(formula("order log k, if a conjecture holds", latex=True))
    order $\log k$, if a conjecture holds
    """
    return printed(parse(depth), latex)


def printed(tree: Depth | Comparison, latex: bool) -> str:
    """A tree in ASCII, or in words with LaTeX between dollars.

    >>> printed(parse("(k + 1)/2"), False), printed(parse("rank of f"), True)
    ('(k + 1)/2', 'rank of $f$')
    """
    match tree:
        case Words(text):
            return re.sub(r"\b(?!a\b)[A-Za-z]\b", lambda it: f"${it[0]}$", text) if latex else text
        case Growth(of):
            return f"order {printed(of, latex)}"
        case Limited(of, sizes):
            return f"{printed(of, latex)} for {printed(Words(sizes), latex)}"
        case Comparison(">=", left, Number(least)) if left == ORDER:
            return f"an element has order {least} or more"
        case Comparison(sign, left, right):
            shown = _RELATIONS[sign][0] if latex else sign
            whole = f"{_written(left, latex)} {shown} {_written(right, latex)}"
            return f"${whole}$" if latex else whole
        case Conditional(then, condition, otherwise, comma):
            under = f"{printed(then, latex)}{',' if comma else ''} if {printed(condition, latex)}"
            return under + (f", else {printed(otherwise, latex)}" if otherwise else "")
    written = _written(tree, latex)
    return f"${written}$" if latex and any(letters(tree)) else written


def singular(unit: str) -> str:
    """What depth counts, in the singular.

    >>> singular("hidden layers"), singular("steps of thought")
    ('hidden layer', 'step of thought')
    """
    return unit.replace("layers", "layer").replace("steps", "step").replace("counts", "count")


def counted(tree: Depth, unit: str) -> str:
    """A tree in ASCII with what it counts, which stands before a condition.

    >>> counted(parse("1 if k <= 1, else ceil(k/4) + 1"), "layers")
    '1 layer if k <= 1, else ceil(k/4) + 1 layers'
    >>> counted(parse("order log k, if a conjecture holds"), "layers")
    'order log k layers, if a conjecture holds'
    """
    match tree:
        case Limited(of, sizes):
            return f"{counted(of, unit)} for {sizes}"
        case Conditional(then, condition, otherwise, comma):
            under = f"{counted(then, unit)}{',' if comma else ''} if {printed(condition, False)}"
            return under + (f", else {counted(otherwise, unit)}" if otherwise else "")
    whole = printed(tree, False)
    if whole.startswith("no ") or whole == NONE:
        return whole
    return f"{whole} {singular(unit) if whole == '1' else unit}"


_BINDS = {"+": 1, "-": 1, "*": 2, "/": 2, "^": 3}


def _written(tree: Maths, latex: bool, above: int = 0) -> str:
    """A formula, in brackets if it binds less than what is above it."""
    match tree:
        case Number(number):
            return str(number)
        case Letter(name):
            return name.replace("*", "^*") if latex else name
        case Call(name, arguments):
            inside = ", ".join(_written(each, latex) for each in arguments)
            return _CALLS[name].format(inside) if latex else f"{name}({inside})"
        case Log(of, base):
            inside, below = _written(of, latex), ""
            if base is not None:
                below = _written(base, latex)
                if not below.isalnum():
                    below = f"{{{below}}}" if latex else re.sub(" ([+-]) ", r"\1", f"({below})")
            sign = (r"\log" if latex else "log") + (f"_{below}" if below else "")
            bare = inside.isalnum() and above < 2
            return f"{sign} {inside}" if bare else f"{sign}({inside})"
        case Operation(sign, left, right):
            binds = _BINDS[sign]
            # Print leaves the sign of a product out, and a letter after a quotient joins what is
            # below the stroke.
            divided = sign == "*" and isinstance(left, Operation) and left.sign == "/"
            first = _written(left, latex, binds + (sign == "^" or divided))
            second = _written(right, latex, binds + 1)
            between = f" {sign} " if binds == 1 else sign
            if sign == "*":
                between = " " if not second[0].isdecimal() else r" \cdot " if latex else " * "
            whole = first + between + (f"{{{second}}}" if latex and sign == "^" else second)
            return f"({whole})" if binds < above else whole


def letters(tree: object) -> Iterator[str]:
    """Every letter of a tree that is not in words.

    >>> sorted(set(letters(parse("1 if H >= n, else ceil(n/H)"))))
    ['H', 'n']
    """
    if isinstance(tree, Letter):
        yield tree.name
    elif isinstance(tree, tuple):
        for each in tree:
            yield from letters(each)
    elif hasattr(tree, "__dataclass_fields__"):
        for field in fields(tree):  # type: ignore[arg-type]
            yield from letters(getattr(tree, field.name))


# --- evaluating -----------------------------------------------------------------------------------


class _Undefined(Exception):
    """A part of a depth that is no number."""


def value(depth: str, numbers: Mapping[str, int]) -> int | float | NoNumber:
    """A depth at numbers for its letters: whole, or infinite for `NONE`. `order` stands for the
    largest order of an element.

    Cost: exact; logarithms by comparing powers.

    >>> value("ceil(log(n, 3))", {"n": 3**40}), value("ceil(log(n, 3))", {"n": 3**40 + 1})
    (40, 41)
    >>> value("1 if H >= n, else ceil(n/H)", {"H": 2, "n": 5}), value("none", {})
    (3, inf)
    >>> value("D + 1", {}), value("order log n", {"n": 3})
    (NoNumber(why='letter', what='D'), NoNumber(why='words', what='order log n'))
    """
    try:
        found = _value(parse(depth), numbers)
    except _Undefined as undefined:
        return NoNumber(*undefined.args)
    if isinstance(found, Fraction) and found.denominator > 1:
        return NoNumber("not whole", str(found))
    return int(found) if isinstance(found, Fraction) else found


def _value(tree: Depth, numbers: Mapping[str, int]) -> Fraction | float:
    match tree:
        case Words("none"):
            return inf
        case Conditional(then, condition, otherwise):
            if _holds(condition, numbers):
                return _value(then, numbers)
            if otherwise is None:
                raise _Undefined("condition", printed(condition, False))
            return _value(otherwise, numbers)
        case Words() | Growth() | Limited():
            raise _Undefined("words", printed(tree, False))
    return _number(tree, numbers)


def _holds(condition: Comparison | Words, numbers: Mapping[str, int]) -> bool:
    if isinstance(condition, Words):
        raise _Undefined("words", condition.text)
    sides = (_number(side, numbers) for side in (condition.left, condition.right))
    return _RELATIONS[condition.sign][1](*sides)


def _number(tree: Maths, numbers: Mapping[str, int]) -> Fraction:
    match tree:
        case Number(number):
            return Fraction(number)
        case Letter(name):
            if name not in numbers:
                raise _Undefined("letter", name)
            return Fraction(numbers[name])
        case Call("ceil" | "floor" as name, (of,)):
            return Fraction(_rounded(of, numbers, up=name == "ceil"))
        case Call(name, arguments):
            return (min if name == "min" else max)(_number(each, numbers) for each in arguments)
        case Log():
            below = _rounded(tree, numbers, up=False)
            if below != _rounded(tree, numbers, up=True):
                raise _Undefined("not whole", _written(tree, False))
            return Fraction(below)
    left, right = (_number(each, numbers) for each in (tree.left, tree.right))
    if tree.sign == "^" and not (right.denominator == 1 and 0 <= right <= _LARGEST_EXPONENT):
        raise _Undefined("not whole", _written(tree, False))
    if tree.sign == "/" and not right:
        raise _Undefined("not whole", _written(tree, False))
    return {
        "+": operator.add,
        "-": operator.sub,
        "*": operator.mul,
        "/": operator.truediv,
        "^": operator.pow,
    }[tree.sign](left, right)


def _rounded(tree: Maths, numbers: Mapping[str, int], up: bool) -> int:
    """The next whole number. A logarithm is irrational where it is not whole, so that nothing but
    whole numbers may be added to it."""
    if isinstance(tree, Operation) and tree.sign in ("+", "-") and isinstance(tree.left, Log):
        more = _number(tree.right, numbers)
        if more.denominator == 1:
            return _rounded(tree.left, numbers, up) + int(more if tree.sign == "+" else -more)
    if not isinstance(tree, Log):
        return (ceil if up else floor)(_number(tree, numbers))
    if tree.base is None:
        raise _Undefined("words", _written(tree, False))
    of, base = _number(tree.of, numbers), _number(tree.base, numbers)
    if of <= 0 or base <= 1:
        raise _Undefined("not whole", _written(tree, False))
    exponent, power = 0, Fraction(1)
    while power < of:
        exponent, power = exponent + 1, power * base
    while power / base >= of:
        exponent, power = exponent - 1, power / base
    return exponent if up or power == of else exponent - 1

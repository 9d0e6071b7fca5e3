"""Statements in print: LaTeX as papers write it, and one line of ASCII for a terminal.

SymPy keeps terms and factors in an order of its own, splits (3^L - 1)/2 into two terms, and knows
neither the names of counts such as S(d, L) nor logarithms to a base. What is printed here is equal
to the statement, in the order and with the names that papers use.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Callable, Iterable, Sequence
from math import lcm
from typing import Any, ClassVar, NamedTuple

import sympy
from sympy import Add, Expr, Integer, Mul, Pow, Rational, Symbol, default_sort_key
from sympy.core.function import AppliedUndef
from sympy.core.relational import Relational

from .relations import Within
from .symbols import TERMS, depth, order, width

__all__ = ["Definition", "definitions", "latex", "symbols", "text"]


class Definition(NamedTuple):
    """What stands behind a name in a printed statement: a relation as LaTeX and as ASCII, and what
    it is in words."""

    latex: str
    text: str
    meaning: str


def latex(expression: sympy.Basic) -> str:
    r"""LaTeX of an expression or relation, without dollars. It may use names that `definitions`
    explains.

    >>> latex(sympy.Le(depth, sympy.ceiling(sympy.log(width) / sympy.log(2)) - 1))
    'L \\leq \\lceil \\log_2 d_x \\rceil - 1'
    """
    return _Printer(_Tex(), expression).whole()


def text(expression: sympy.Basic) -> str:
    """One line of ASCII for a terminal.

    >>> text(sympy.Le(depth, sympy.ceiling(sympy.log(width) / sympy.log(2)) - 1))
    'L <= ceil(log_2(d_x)) - 1'
    """
    return _Printer(_Ascii(), expression).whole()


def definitions(expression: sympy.Basic) -> tuple[Definition, ...]:
    """The definitions of the names, other than symbols, that the printed statement uses.

    >>> definitions(sympy.Le(width, 3 ** depth))
    ()
    """
    tex, plain = _Printer(_Tex(), expression), _Printer(_Ascii(), expression)
    return tuple(
        Definition(left, right, meaning)
        for (left, meaning), (right, _) in zip(tex.explained(), plain.explained(), strict=True)
    )


def symbols(expression: sympy.Basic) -> tuple[Symbol, ...]:
    """The declared symbols of an expression and of its definitions, in the order of print.

    >>> symbols(sympy.Le(width, 3 ** depth))
    (width, depth)
    """
    printer = _Printer(_Tex(), expression)
    printer.whole()
    printer.explained()
    free = {width, depth} if printer.named else set()
    for part in (expression, *(formula for _, formula, _ in printer.named)):
        free |= part.free_symbols
    return tuple(s for s in printer.seen if s.name in TERMS and s in free)


# Names that would be read in another way than they are meant: two pairs of brackets around n over k
# look like an ordinary binomial coefficient.
_MULTISET = r"\left(\!\binom{n}{k}\!\right)"
_CLEARER = {
    r"\log_{10}\rho_l/\rho_{l+1}": r"\log_{10}(\rho_l/\rho_{l+1})",
    r"\log_{10}\rho_l/\rho'_l": r"\log_{10}(\rho_l/\rho'_l)",
    _MULTISET: "M(n, k)",
}


def _declared(symbol: Symbol) -> str:
    """The LaTeX name that a quantity was declared with."""
    if symbol.name not in TERMS:
        return str(sympy.latex(symbol))
    name = TERMS[symbol.name].latex
    return _CLEARER.get(name, name)


# --- how the two forms are written ---------------------------------------------------------------

# How tightly a printed part holds together.
_SUM, _PRODUCT, _POWER, _ATOM = range(4)
_Part = tuple[str, int]


class _Tex:
    """LaTeX that TeX, KaTeX and pandoc read."""

    relations: ClassVar = {
        "==": "=",
        "!=": r"\neq",
        "<=": r"\leq",
        "<": "<",
        ">=": r"\geq",
        ">": ">",
    }
    times, dot, minus, pi, both = " ", r" \cdot ", "-", r"\pi", r" \text{ and } "

    def name(self, symbol: Symbol) -> str:
        if symbol in _INTERNAL:
            return _INTERNAL[symbol]
        # Bars in pairs, as typst sets those that are not as relations.
        name = re.sub(r"\\\|(.*?)\\\|", r"\\lVert \1\\rVert ", _declared(symbol))
        name = re.sub(r"\|(.*?)\|", r"\\left\\vert \1\\right\\vert ", name)
        return _roman(re.sub(r"(?<=ert) (?=[_^)/]|$)", "", name))

    def parens(self, inner: str, left: str = "(", right: str = ")") -> str:
        if re.search(r"\\(frac|binom|sum|prod|begin)", inner):
            return rf"\left{left} {inner} \right{right}"
        space = " " if left.startswith("\\") else ""
        return f"{left}{space}{inner}{space}{right}"

    def fraction(self, top: str, bottom: str) -> str:
        return rf"\frac{{{top}}}{{{bottom}}}"

    def power(self, base: str, exponent: str) -> str:
        return f"{base}^{_group(exponent)}"

    def root(self, inner: str) -> str:
        return rf"\sqrt{{{inner}}}"

    def call(self, name: str, inner: str) -> str:
        known = {"log", "ln", "min", "max", "cos", "sin", "tan", "tanh", "exp", "arcsin", "arccos"}
        return (f"\\{name}" if name in known else _roman(name)) + self.parens(inner)

    def logarithm(self, name: str, inner: str, simple: bool) -> str:
        return rf"\{name} {inner}" if simple else rf"\{name}{self.parens(inner)}"

    def floor(self, inner: str, digits: int = 0) -> str:
        tex = self.parens(inner, r"\lfloor", r"\rfloor")
        return f"{tex}_{_group(str(digits))}" if digits else tex

    def ceiling(self, inner: str) -> str:
        return self.parens(inner, r"\lceil", r"\rceil")

    def binomial(self, top: str, bottom: str) -> str:
        return rf"\binom{{{top}}}{{{bottom}}}"

    def large(self, sign: str, index: str, low: str, high: str, body: str) -> str:
        return rf"\{sign}_{{{index}={low}}}^{{{high}}} {body}"

    def cases(self, rows: Iterable[tuple[str, str]]) -> str:
        listed = r" \\ ".join(
            rf"{value} & \text{{if }} {when}" if when else rf"{value} & \text{{otherwise}}"
            for value, when in rows
        )
        return rf"\begin{{cases}} {listed} \end{{cases}}"

    def among(self, name: str, values: Sequence[str]) -> str:
        return rf"{name} \in \{{{', '.join(values)}\}}"

    def ten(self, exponent: int) -> str:
        return f"10^{_group(str(exponent))}"

    def fallback(self, expression: sympy.Basic) -> str:
        names = {s: self.name(s) for s in expression.atoms(Symbol)}
        return str(sympy.latex(expression, symbol_names=names))


class _Ascii:
    """One line that a person reads as a formula."""

    relations: ClassVar = {"==": "=", "!=": "!=", "<=": "<=", "<": "<", ">=": ">=", ">": ">"}
    times, dot, minus, pi, both = " ", "*", "-", "pi", " and "

    def name(self, symbol: Symbol) -> str:
        if symbol in _INTERNAL:
            return _INTERNAL[symbol].replace("\\", "")
        return _ascii(_declared(symbol)) if symbol.name in TERMS else symbol.name

    def parens(self, inner: str) -> str:
        return f"({inner})"

    def power(self, base: str, exponent: str) -> str:
        tight = re.sub(" ([-+]) ", r"\1", exponent)
        return f"{base}^{tight}" if re.fullmatch(r"\w+|-\d+", tight) else f"{base}^({tight})"

    def root(self, inner: str) -> str:
        return f"sqrt({inner})"

    def call(self, name: str, inner: str) -> str:
        return f"{name}({inner})"

    def logarithm(self, name: str, inner: str, simple: bool) -> str:
        return f"{name}({inner})"

    def floor(self, inner: str, digits: int = 0) -> str:
        return f"floor({inner}, {digits} decimals)" if digits else f"floor({inner})"

    def ceiling(self, inner: str) -> str:
        return f"ceil({inner})"

    def binomial(self, top: str, bottom: str) -> str:
        return f"binom({top}, {bottom})"

    def large(self, sign: str, index: str, low: str, high: str, body: str) -> str:
        return f"{sign}[{index} = {low}..{high}] {body}"

    def cases(self, rows: Iterable[tuple[str, str]]) -> str:
        return "; ".join(
            f"{value} if {when}" if when else f"{value} otherwise" for value, when in rows
        )

    def among(self, name: str, values: Sequence[str]) -> str:
        return f"{name} in {{{', '.join(values)}}}"

    def ten(self, exponent: int) -> str:
        return f"10^{exponent}"

    def fallback(self, expression: sympy.Basic) -> str:
        names = {s: Symbol(self.name(s)) for s in expression.atoms(Symbol)}
        return str(sympy.sstr(expression.xreplace(names))).replace("**", "^")


def _group(text: str) -> str:
    return text if len(text) == 1 else f"{{{text}}}"


def _roman(name: str) -> str:
    """Subscripts and names that are words, upright."""
    words = r"(?<![\\A-Za-z])(?!QK|qk|Hdp)([A-Za-z]{2,})"
    inside = re.sub(
        r"(?<=[_^]){([^{}]*)}",
        lambda m: (
            "{"
            + re.sub(
                words,
                lambda w: (
                    r"\max"
                    if w[1] == "max"
                    else r"\min"
                    if w[1] == "min"
                    else rf"\mathrm{{{w[1]}}}"
                ),
                m[1],
            )
            + "}"
        ),
        name,
    )
    return rf"\mathrm{{{name}}}" if re.fullmatch("(?!Hdp)[a-z]{2,}", name) else inside


# LaTeX names as ASCII: patterns and what they become, one after the other.
_READ = [
    (r"\\lfloor10\^9\\xi\\rfloor", "floor(10^9 xi)"),
    (r"\\lfloor k\(c\)\\rfloor_9", "floor(k(c), 9 decimals)"),
    # What must stand apart.
    (r"(?<=[A-Za-z0-9}])(?=\\[A-Za-z])", " "),
    (r"(?<=[\w}'])([-+])(?=[\w\\])(?![^{(]*[})])", r" \1 "),
    (r"(?<=V)-", " - "),
    (r"\\(log|ln|Delta)(?=\\?\|)", r"\\\1 "),
    # Words and signs.
    (r"\\mathcal{L}", " loss"),
    (r"\\sqrt{(.*?})}", r"sqrt(\1)"),
    (r"\\mathbb{E}", "E "),
    (r"\\(?:operatorname|mathrm|mathbb){(\w+)}", r"\1"),
    (r"\\[,:;! ]", " "),
    (r"\\\|", "|"),
    (r"\\partial *", "d "),
    (r"\\nabla(?=})", "grad"),
    (r"\\nabla *", "grad "),
    (r"\\top", "T"),
    (r"\\geq", ">="),
    (r"\\infty", "inf"),
    (r"\\times", "x"),
    (r"\\star", "*"),
    (r"\^{?\\prime}?", "'"),
    (r"\\var(epsilon|sigma)", r"\\\1"),
    (r"\\([#{}])", r"\1"),
    (r"\\(hat|bar|tilde|dot)\s*(\\?[A-Za-z]+)", r"\2_\1"),
    (r"\\([A-Za-z]++)(?=[A-Za-z0-9\\])", r"\1 "),
    (r"\\([A-Za-z]+)", r"\1"),
    # Groups and spaces.
    (r"([_^]){([^{}]*[^{}\w#][^{}]*)}", r"\1(\2)"),
    (r"([_^]){([^{}]+)}", r"\1\2"),
    (r"(_\([^()]*\))(?=\w)", r"\1 "),
    (r" +(?=[_^)/'])|(?<=[/(]) +", ""),
    (r" +", " "),
]


def _ascii(name: str) -> str:
    """The LaTeX name of a quantity as ASCII."""
    for pattern, replacement in _READ:
        name = re.sub(pattern, replacement, name)
    return name.strip()


# --- names for parts of a statement ---------------------------------------------------------------

# Names for parts, each with its place in SymPy's order of terms (D + k, d_x + C), and in print.
_D, _C = (Symbol(name, integer=True, positive=True) for name in ("a D", "width C"))
_WIDTH, _LAYERS, _X, _N = (Symbol(f"{letter} ", integer=True, positive=True) for letter in "dLxn")
_F, *_SUMS = (Symbol(f"{name} ", positive=True) for name in ("f", "z1", "z2", "z3"))
_INTERNAL = {_D: "D", _C: "C", _WIDTH: "d", _LAYERS: "L", _X: "x", _N: "n", _F: "f"} | {
    sign: rf"\Sigma_{place}" for place, sign in enumerate(_SUMS, 1)
}
_COUNT = sympy.Function("S", integer=True, positive=True)


def _dimension_count(d: Expr, D: Expr, C: Expr) -> sympy.Sum:
    """S(d, L) as it is defined, D = d (d + 1)/2 and C = (3^L - 1)/2."""
    return sympy.Sum(
        sympy.Min(
            d * sympy.binomial(D + order - 1, order),
            sympy.binomial(D + C - order - 1, C - order),
            evaluate=False,
        ),
        (order, 0, C),
    )


def _as_count(total: sympy.Sum) -> Expr | None:
    """S(d, L) where a sum is one, else None."""
    if len(total.limits) != 1 or tuple(total.limits[0][:2]) != (order, 0):
        return None
    power = sympy.expand(2 * total.limits[0][2] + 1)
    terms = total.function.args
    if not (
        isinstance(power, Pow)
        and power.base == 3
        and isinstance(total.function, sympy.Min)
        and len(terms) == 2
    ):
        return None
    for term in terms:
        rest = [f for f in Mul.make_args(term) if not isinstance(f, sympy.binomial)]
        d = Mul(*rest)
        formula = _dimension_count(d, d * (d + 1) / 2, (power - 1) / 2)
        if rest and _multiplied_out(formula) == _multiplied_out(total):
            return _COUNT(d, power.exp)
    return None


def _multiplied_out(expression: Expr) -> Expr:
    """With sums in place of products inside binomial coefficients and limits, to compare."""
    return expression.replace(
        lambda e: isinstance(e, sympy.binomial),
        lambda e: e.func(*(sympy.expand(part) for part in e.args)),
    ).replace(
        lambda e: isinstance(e, sympy.Tuple),
        lambda e: sympy.Tuple(*(sympy.expand(part) for part in e)),
    )


def _replaced(expression: Any, change: Callable[[Any], Any]) -> Any:
    """Every part for which `change` is not None by what it returns, innermost first; the sides of
    relations are not compared."""
    if not expression.args:
        return expression
    new = [_replaced(part, change) for part in expression.args]
    if isinstance(expression, Relational):
        return expression.func(*new, evaluate=False)
    built = expression if new == list(expression.args) else expression.func(*new)
    better = change(built)
    return built if better is None else better


def _with_size(part: Any) -> Any:
    """D for d_x (d_x + 1)/2 within a product."""
    for power in (1, -1):
        pair = (width**power, (width + 1) ** power)
        if isinstance(part, Mul) and set(pair) <= set(part.args):
            return Mul(*[f for f in part.args if f not in pair], (2 * _D) ** power)
    return None


def _with_degree(part: Any) -> Any:
    """C for (3^L - 1)/2 within a sum."""
    half = 3**depth / 2
    if isinstance(part, Mul) and sympy.expand(part) == half - Rational(1, 2):
        return _C
    if isinstance(part, Add) and half in part.args:
        return part - half + Rational(1, 2) + _C
    return None


# --- printing -------------------------------------------------------------------------------------

# Places of factors in a product, from the left.
_NUMBER, _SYMBOL, _SYMBOL_POWER, _NUMBER_POWER, _ROOT, _BRACKET, _CALL, _LOG, _LARGE = range(9)
_FUNCTIONS = {
    "cos": "cos",
    "sin": "sin",
    "tan": "tan",
    "tanh": "tanh",
    "asin": "arcsin",
    "acos": "arccos",
    "atan": "arctan",
    "Min": "min",
    "Max": "max",
    "LambertW": "W",
}


class _Printer:
    """Prints one statement, and knows which names it used."""

    def __init__(self, style: _Tex | _Ascii, expression: sympy.Basic) -> None:
        self.style = style
        self.seen: dict[Symbol, None] = {}
        # What a statement's own names stand for: name, formula, meaning.
        self.named: list[tuple[Any, Any, str]] = []
        self.digits, self.small = 0, 0
        self.shown = {
            TERMS[s.name].latex if s.name in TERMS else s.name for s in expression.atoms(Symbol)
        }
        # Natural logarithms are called as the quantities' own names call them.
        self.natural = "log" if any(re.search(r"\\log(?!_)", name) for name in self.shown) else "ln"
        self.expression = self._abbreviated(expression)

    def whole(self) -> str:
        """The statement."""
        return self._top(self.expression)

    def explained(self) -> list[tuple[str, str]]:
        """(definition, meaning) of the names that the statement uses."""
        self.whole()
        equal = f" {self.style.relations['==']} "
        rows = [
            (self._show(name) + equal + self._top(formula), meaning)
            for name, formula, meaning in self.named
        ]
        if self.expression.has(sympy.LambertW):
            w = sympy.LambertW(_X)
            rows.append(
                (
                    self._show(Mul(w, sympy.exp(w), evaluate=False)) + equal + "x",
                    "the principal branch of Lambert's function",
                )
            )
        if self.expression.has(sympy.bell):
            rows.append((self._show(sympy.bell(_N)), "number of partitions of a set of $n$"))
        if _MULTISET in self.shown:
            rows.append(
                (
                    _CLEARER[_MULTISET] + equal + self._show(sympy.binomial(_N + order - 1, order)),
                    "a product of $k$ factors $(n + j)/(j + 1)$, $j < k$",
                )
            )
        if self.digits:
            whole = self.style.floor(f"{self.style.ten(self.digits)} x")
            rows.append(
                (
                    f"{self.style.floor('x', self.digits)}{equal}"
                    f"{self.style.ten(-self.digits)} {whole}",
                    f"rounded down to {self.digits} decimals",
                )
            )
        return rows

    def _abbreviated(self, expression: Any) -> Any:
        if isinstance(expression, Relational):
            expression = self._without_inner_cases(expression)
        counts: list[Any] = []

        def count(part: Any) -> Any:
            name = _as_count(part) if isinstance(part, sympy.Sum) else None
            if name is not None:
                counts.append(name)
            return name

        if not {"S", "D", "C"} & self.shown:
            expression = _replaced(expression, count)
        if counts:
            d, layers = next(
                (n.args for n in counts if n.args == (width, depth)), (_WIDTH, _LAYERS)
            )
            self.named += [
                (_COUNT(d, layers), _dimension_count(d, _D, _C), "the dimension count"),
                (_D, d * (d + 1) / 2, ""),
                (_C, (3**layers - 1) / 2, ""),
            ]
            return expression
        large = sorted(expression.atoms(sympy.Sum, sympy.Product), key=default_sort_key)
        if isinstance(expression, Relational) and 1 < len(large) <= len(_SUMS):
            names = dict(zip(large, _SUMS, strict=False))
            expression = expression.func(
                *(side.xreplace(names) for side in expression.args), evaluate=False
            )
            self.named += [(name, total, "") for total, name in names.items()]
        for letter, change, value in (
            (_D, _with_size, width * (width + 1) / 2),
            (_C, _with_degree, (3**depth - 1) / 2),
        ):
            if _INTERNAL[letter] in self.shown:
                continue
            parts = [
                _replaced(part, change)
                for part in (expression, *(formula for _, formula, _ in self.named))
            ]
            times = sum(int(part.count(letter)) for part in parts)
            if times > 2 or (times and any(part.has(sympy.binomial) for part in parts)):
                expression = parts[0]
                self.named = [
                    (name, part, meaning)
                    for (name, _, meaning), part in zip(self.named, parts[1:], strict=True)
                ]
                self.named.append((letter, value, ""))
        return expression

    def _without_inner_cases(self, statement: Relational) -> Relational:
        """With a name for the cases that stand inside a formula."""
        inner = {
            part for side in statement.args for part in side.atoms(sympy.Piecewise) if part != side
        }
        if len(inner) != 1 or "f" in self.shown:
            return statement
        cases = inner.pop()
        self.named.append((_F, cases, ""))
        return statement.func(
            *(side.xreplace({cases: _F}) for side in statement.args), evaluate=False
        )

    # --- parts

    def _top(self, expression: Any) -> str:
        if isinstance(expression, Within):
            low, high = expression.rhs
            below = f" {self.style.relations['<=']} "
            # Two bounds by cases would run into each other.
            return below.join(
                self.style.parens(self._show(part))
                if isinstance(part, sympy.Piecewise)
                else self._show(part)
                for part in (low, expression.lhs, high)
            )
        if isinstance(expression, Relational):
            left, right = (self._show(side) for side in expression.args)
            return f"{left} {self.style.relations[expression.rel_op]} {right}"
        return self._show(expression)

    def _show(self, expression: Any, least: int = _SUM) -> str:
        printed, holds = self._part(expression)
        return self.style.parens(printed) if holds < least else printed

    def _part(self, e: Any) -> _Part:
        if isinstance(e, Symbol):
            return self._symbol(e)
        if isinstance(e, Rational):
            return self._rational(e)
        if isinstance(e, Add):
            return self._sum(e)
        if isinstance(e, Mul | Pow | sympy.log | sympy.exp):
            return self._product(e)
        if isinstance(e, sympy.Sum | sympy.Product):
            return self._large(e), _PRODUCT
        return self._function(e), _ATOM

    def _symbol(self, symbol: Symbol) -> _Part:
        if symbol in _INTERNAL:
            return self.style.name(symbol), _ATOM
        self.seen.setdefault(symbol)
        name = self.style.name(symbol)
        # A name such as g_1 - g_0 or r_L/r_0 is one part only where it stands alone.
        outside = re.sub(r"\([^()]*\)|{[^{}]*}|\[[^][]*\]|(?<=[_^])[-+*]", "", name)
        if re.search(r"[-+:]|sum", outside):
            return name, _SUM
        if re.search("/|partial|^d |^[A-Z][a-z]", outside):
            return name, _PRODUCT
        return name, _PRODUCT if "^" in outside else _ATOM

    def _rational(self, number: Rational) -> _Part:
        if number < 0:
            return self.style.minus + self._show(-number), _SUM
        p, q = int(number.p), int(number.q)
        if decimal := _decimal(p, q):
            return self._decimal(*decimal)
        if q == 1:
            return str(p), _ATOM
        return self._fraction([(_NUMBER, str(p), _ATOM)], [(_NUMBER, str(q), _ATOM)])

    def _decimal(self, mantissa: str, exponent: int) -> _Part:
        if not exponent:
            return mantissa, _ATOM
        ten = self.style.ten(exponent)
        return (ten if mantissa == "1" else mantissa + self.style.dot + ten), _PRODUCT

    def _sum(self, total: Add) -> _Part:
        constant, terms = total.as_coeff_Add()[0], list(total.as_ordered_terms())
        if constant.is_Integer and constant >= 10**5 and len(terms) == 2:
            rounded = next((t for t in terms if isinstance(t, sympy.floor)), None)
            if rounded is not None:
                inside = Mul(constant, 1 + rounded.args[0] / constant, evaluate=False)
                return self._part(sympy.floor(inside, evaluate=False))
        alone = len(total.free_symbols) < 2 and total.is_polynomial()
        shared = Counter(_halves(t) for t in terms)
        # Terms with one denominator stand over it together.
        grouped: dict[Any, list[Any]] = {}
        for place, t in enumerate(terms):
            q = _halves(t)
            grouped.setdefault((q,) if q > 1 and shared[q] > 1 else (1, place), []).append(t)
        written = []
        for key, parts in grouped.items():
            negative = all(t.as_coeff_Mul()[0] < 0 for t in parts)
            term = Add(*((-t if negative else t) * key[0] for t in parts))
            if key[0] > 1:
                part = self._fraction(
                    [(_BRACKET, *self._part(term))], [(_NUMBER, str(key[0]), _ATOM)]
                )
            else:
                part = self._show(term, _PRODUCT), _PRODUCT
            if len(grouped) == 1 and not negative:
                return part
            written.append((self._place(term, negative, terms, alone), negative, part[0]))
        # What SymPy's order puts first comes first among those of one place.
        written.sort(key=lambda item: item[0])
        printed = "".join((" - " if negative else " + ") + part for _, negative, part in written)
        return (self.style.minus + printed[3:] if printed.startswith(" - ") else printed[3:]), _SUM

    def _place(self, term: Any, negative: bool, terms: list[Any], alone: bool) -> int:
        """Where a term stands in a sum: 1 + a^2, n + 1, 1 - a, k - i + 1; polynomials in one symbol
        as SymPy orders them."""
        others = [t for t in terms if not t.is_Rational]
        if not term.is_Rational:
            large = term.has(sympy.Sum, sympy.Product)
            return 1 if alone and terms[0].as_coeff_Mul()[0] > 0 else 1 + negative + 2 * large
        first = not negative and (
            all(t.as_coeff_Mul()[0] < 0 for t in others)
            or (term.is_Integer and not all(_is_whole(t) for t in others))
        )
        return 0 if first and not (alone and len(terms) > 2) else 3

    def _product(self, e: Any) -> _Part:
        coefficient, rest = e.as_coeff_Mul()
        if coefficient < 0:
            printed, holds = self._part(
                Mul(-coefficient, rest)
                if isinstance(rest, Mul | Pow) or coefficient != -1
                else rest
            )
            return self.style.minus + (
                printed if holds > _SUM else self.style.parens(printed)
            ), _SUM
        if (
            isinstance(rest, sympy.floor)
            and coefficient.p == 1
            and (digits := str(coefficient.q).count("0")) > 2
            and coefficient.q == 10**digits
        ):
            self.digits = digits
            inside = Add(*(t * coefficient for t in Add.make_args(rest.args[0])))
            return self.style.floor(self._show(inside), digits), _ATOM
        factors = []
        for factor in Mul.make_args(rest):
            content, inner = factor.primitive() if isinstance(factor, Add) else (Integer(1), factor)
            content, inner = (content, inner) if content.is_Integer else (Integer(1), factor)
            coefficient *= content
            factors += [_base_and_exponent(inner)] if inner != 1 else []
        # A power of ten stays outside of roots.
        tens = 10 ** (len(str(coefficient.p)) - 1) if coefficient.p >= 10**5 else 1
        tens *= 10 if coefficient.p > tens > 1 else 1
        coefficient, root, degree, factors = _roots(coefficient / tens, factors)
        coefficient *= tens
        logs, under_logs, factors = _logarithms(factors)
        top = [self._factor(b, x) for b, x in factors if not _below(b, x)]
        bottom = [self._factor(b, -x) for b, x in factors if _below(b, x)]
        top += [self._logarithm(*pair) for pair in logs]
        bottom += [self._logarithm(*pair) for pair in under_logs]
        behind = None
        if root != 1:
            above, below = root.as_numer_denom()
            if above == 1:
                bottom.append(self._root(below, degree))
            elif below != 1 and bottom and isinstance(self.style, _Tex):
                behind = self._root(root, degree)
            else:
                top.append(self._root(root, degree))
        p, q = int(coefficient.p), int(coefficient.q)
        if decimal := _decimal(p, q):
            if decimal != ("1", 0):
                top.append((_NUMBER, *self._decimal(*decimal)))
        elif split := _one_over_decimal(p, q):
            if split[0] != 1:
                top.append((_NUMBER, *self._rational(Integer(split[0]))))
            bottom.append((_NUMBER, split[1], _ATOM))
        else:
            least = _CALL if isinstance(self.style, _Tex) else _LARGE
            places = [place for place, _, _ in top]
            if (
                q > 1
                and not bottom
                and max(places) >= least
                and (min(places) >= _BRACKET or max(places) == _LARGE)
            ):
                front = self._rational(Rational(p, q))
                return self._joined([(_NUMBER, front[0], _ATOM), *top]), _PRODUCT
            if p != 1:
                top.append((_NUMBER, *self._rational(Integer(p))))
            if q != 1:
                bottom.append((_NUMBER, *self._rational(Integer(q))))
        if bottom:
            printed, holds = self._fraction(top or [(_NUMBER, "1", _ATOM)], bottom)
            return (f"{printed} {behind[1]}" if behind else printed), holds
        if len(top) == 1:
            return top[0][1:]
        return self._joined(top), _PRODUCT

    def _factor(self, base: Any, exponent: Any) -> tuple[int, str, int]:
        """Place, text and hold of a power."""
        if base == sympy.E:
            place = _CALL if exponent.has(sympy.Function) else _NUMBER_POWER
            return place, *self._exponential(exponent)
        if exponent == 1:
            printed, holds = self._part(base)
            place = (
                _SYMBOL
                if base.is_Symbol or base is sympy.pi
                else _NUMBER_POWER
                if base.is_Rational
                else _BRACKET
                if isinstance(base, Add)
                else _LARGE
                if isinstance(base, sympy.Sum | sympy.Product)
                else _CALL
            )
            return place, printed, holds
        place = (
            _SYMBOL_POWER
            if base.is_Symbol
            else _NUMBER_POWER
            if base.is_Rational
            else _BRACKET
            if isinstance(base, Add | Mul | Pow)
            else _CALL
        )
        name = self._show(base)
        if base.is_Symbol and name.startswith("e^"):
            # (e^beta)^rho = e^(beta rho)
            inner = f"{name[2:].strip('{}()')} {self._show(exponent, _PRODUCT)}"
            return _NUMBER_POWER, self.style.power("e", inner), _POWER
        return place, self.style.power(self._show(base, _ATOM), self._exponent(exponent)), _POWER

    def _exponent(self, exponent: Any) -> str:
        self.small += 1
        printed = self._show(exponent)
        self.small -= 1
        return printed

    def _exponential(self, exponent: Any) -> _Part:
        if exponent == 1:
            return "e", _ATOM
        printed = self._exponent(exponent)
        if isinstance(self.style, _Ascii) or len(printed) > 40:
            return self.style.call("exp", self._show(exponent)), _ATOM
        return self.style.power("e", printed), _POWER

    def _root(self, inner: Any, degree: int) -> tuple[int, str, int]:
        if degree == 2:
            return _ROOT, self.style.root(self._show(inner)), _ATOM
        return (
            _ROOT,
            self.style.power(self._show(inner, _ATOM), self._exponent(Rational(1, degree))),
            _POWER,
        )

    def _logarithm(self, base: Any, argument: Any) -> tuple[int, str, int]:
        printed, holds = self._part(argument)
        plain = holds == _ATOM and not isinstance(argument, sympy.Function)
        name = self.natural if base is None else f"log_{_group(self._show(base))}"
        return _LOG, self.style.logarithm(name, printed, plain), _POWER

    def _joined(self, parts: list[tuple[int, str, int]]) -> str:
        """A product, its factors in order."""
        parts = sorted(parts, key=lambda part: part[0])
        printed = ""
        for place, (_, text, holds) in enumerate(parts):
            # (a/b) c in one line, as a/b c could be read as a/(b c).
            open_ended = (
                holds == _PRODUCT
                and "/" in text
                and place < len(parts) - 1
                and (self.small or isinstance(self.style, _Ascii))
            )
            inside = self.style.parens(text) if holds < _PRODUCT or open_ended else text
            if printed:
                printed += self.style.dot if inside[0].isdigit() else self.style.times
            printed += inside
        return printed

    def _fraction(
        self, top: list[tuple[int, str, int]], bottom: list[tuple[int, str, int]]
    ) -> _Part:
        if self.small or isinstance(self.style, _Ascii):
            above = self._joined(top)
            below = bottom[0][1] if len(bottom) == 1 else self._joined(bottom)
            simple = len(bottom) == 1 and bottom[0][2] > _PRODUCT
            return f"{above}/{below if simple else self.style.parens(below)}", _PRODUCT
        above, below = (
            part[0][1] if len(part) == 1 else self._joined(part) for part in (top, bottom)
        )
        return self.style.fraction(above, below), _PRODUCT

    def _large(self, e: Any) -> str:
        index, low, high = e.limits[0]
        if len(e.limits) > 1:
            return self.style.fallback(e)
        sign = "sum" if isinstance(e, sympy.Sum) else "prod"
        body = self._show(e.function, _PRODUCT)
        self.small += 1
        name, low, high = self._bound(index), self._show(low), self._show(high)
        self.small -= 1
        return self.style.large(sign, name, low, high, body)

    def _bound(self, index: Symbol) -> str:
        return self.style.name(index)

    def _function(self, e: Any) -> str:
        style, name = self.style, type(e).__name__
        if e is sympy.pi:
            return style.pi
        if e is sympy.E:
            return "e"
        parts = (
            sorted(e.args, key=default_sort_key)
            if isinstance(e, sympy.Min | sympy.Max)
            else ()
            if isinstance(e, sympy.Piecewise)
            else e.args
        )
        texts = [self._show(part) for part in parts]
        if isinstance(e, sympy.floor):
            return style.floor(texts[0])
        if isinstance(e, sympy.ceiling):
            return style.ceiling(texts[0])
        if isinstance(e, sympy.binomial):
            return style.binomial(*texts)
        if isinstance(e, sympy.Piecewise):
            return style.cases([(self._show(value), self._when(when)) for value, when in e.args])
        if isinstance(e, AppliedUndef):
            return style.call(str(e.func), ", ".join(texts))
        if name in _FUNCTIONS:
            return style.call(_FUNCTIONS[name], ", ".join(texts))
        for s in e.atoms(Symbol):
            self.seen.setdefault(s)
        return style.fallback(e)

    def _when(self, condition: Any) -> str:
        """The condition of one of several cases; empty for otherwise."""
        if condition == True:  # noqa: E712
            return ""
        if isinstance(condition, sympy.Or) and all(
            isinstance(part, sympy.Eq) for part in condition.args
        ):
            left = {part.lhs for part in condition.args}
            if len(left) == 1:
                values = sorted(part.rhs for part in condition.args)
                return self.style.among(
                    self._show(left.pop()), [self._show(value) for value in values]
                )
        if isinstance(condition, sympy.And):
            parts = sorted(condition.args, key=default_sort_key)
            return self.style.both.join(self._when(part) for part in parts)
        return (
            self._top(condition)
            if isinstance(condition, Relational)
            else self.style.fallback(condition)
        )


def _base_and_exponent(factor: Any) -> tuple[Any, Any]:
    if isinstance(factor, sympy.exp):
        return sympy.E, factor.args[0]
    return factor.as_base_exp() if isinstance(factor, Pow) else (factor, Integer(1))


def _below(base: Any, exponent: Any) -> bool:
    """Whether a power belongs below the bar."""
    if exponent.is_Rational:
        return bool(exponent < 0 and (base != sympy.E or exponent == -1))
    return bool(
        base != sympy.E and not isinstance(exponent, Add) and exponent.could_extract_minus_sign()
    )


def _logarithms(
    factors: list[tuple[Any, Any]],
) -> tuple[list[tuple[Any, Any]], list[tuple[Any, Any]], list[tuple[Any, Any]]]:
    """(base, argument) of the logarithms above and below the bar, base None for the natural ones,
    and the other factors. Quotients of two logarithms become one."""
    others = [(b, x) for b, x in factors if not (isinstance(b, sympy.log) and abs(x) == 1)]
    above = [b.args[0] for b, x in factors if isinstance(b, sympy.log) and x == 1]
    below = [b.args[0] for b, x in factors if isinstance(b, sympy.log) and x == -1]
    top, bottom = [], []
    for base in sorted(below, key=lambda part: not part.is_Integer):
        partner = next((a for a in above if not (a.is_Integer and not base.is_Integer)), None)
        if partner is not None and (base.is_Integer or base.is_Symbol):
            above.remove(partner)
            top.append((base, partner))
        elif above and above[0].is_Integer:
            bottom.append((above.pop(0), base))
        else:
            bottom.append((None, base))
    return [*((None, a) for a in above), *top], bottom, others


def _roots(
    coefficient: Any, factors: list[tuple[Any, Any]]
) -> tuple[Any, Any, int, list[tuple[Any, Any]]]:
    """(coefficient, radicand, degree, other factors): all roots in one."""
    roots = [(b, x) for b, x in factors if x.is_Rational and not x.is_Integer and b != sympy.E]
    unsure = [b for b, _ in roots if not b.is_nonnegative]
    if not roots or len(unsure) > 1 or any(x == int(x) for _, x in roots):
        return coefficient, Integer(1), 2, factors
    degree = lcm(*(int(x.q) for _, x in roots))
    radicand = Integer(1)
    for base, exponent in roots:
        if base.is_Integer:
            # sqrt(2)/4 = 1/(2 sqrt(2))
            power = sympy.multiplicity(base, coefficient)
            coefficient /= base**power
            exponent += power
        if degree == 2:
            outside = int(exponent)
            if base.is_Integer:
                coefficient *= base**outside
            elif outside:
                factors = [*factors, (base, Integer(outside))]
            exponent -= outside
        radicand *= base ** (exponent * degree)
    return coefficient, radicand, degree, [f for f in factors if f not in roots]


def _is_whole(term: Any) -> bool:
    return all(
        f.is_integer or isinstance(f, sympy.floor | sympy.ceiling) for f in Mul.make_args(term)
    )


def _halves(term: Any) -> int:
    """The denominator of a term that is a polynomial over a whole number, else 1."""
    coefficient, rest = term.as_coeff_Mul()
    plain = not rest.has(sympy.Function, sympy.Sum, sympy.Product) and rest.as_numer_denom()[1] == 1
    return int(coefficient.q) if plain or rest == 1 else 1


def _decimal(p: int, q: int) -> tuple[str, int] | None:
    """(mantissa, power of ten) where papers print p/q as a decimal number, and whole numbers of
    many zeros as a power of ten; None for fractions."""
    if q == 1:
        zeros = len(str(p)) - len(str(p).rstrip("0"))
        return (str(p)[:-zeros], zeros) if zeros > 4 else None
    rest = q
    while rest % 2 == 0:
        rest //= 2
    fives = 0
    while rest % 5 == 0:
        rest, fives = rest // 5, fives + 1
    if rest > 1 or not fives or q < 10:
        return None
    digits = 0
    while p * 10**digits % q:
        digits += 1
    whole = str(p * 10**digits // q)
    if len(whole) + 3 > digits:
        whole = whole.rjust(digits + 1, "0")
        return f"{whole[:-digits]}.{whole[-digits:]}", 0
    if p == 1 and len(whole) > 1:
        return None
    return whole[0] + ("." + whole[1:] if whole[1:] else ""), len(whole) - 1 - digits


def _one_over_decimal(p: int, q: int) -> tuple[int, str] | None:
    """(whole number, decimal number) for 1000/111 = 1/0.111."""
    digits = len(str(q))
    if (
        p < 100
        or set(str(p)[1:]) != {"0"}
        or str(p)[0] != "1"
        or digits < 2
        or q % 2 == 0
        or (q % 5 == 0)
    ):
        return None
    return (p // 10**digits, f"0.{q}") if p >= 10**digits else None

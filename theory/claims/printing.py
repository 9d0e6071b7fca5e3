"""Statements in print: LaTeX as papers write it, and one line of ASCII for a terminal.

What is printed is equal to the statement, in the order and with the names that papers use: SymPy
splits (3^L - 1)/2 into two terms, and knows neither S(d, L) nor logarithms to a base.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Callable, Sequence
from functools import cache
from typing import Any, NamedTuple

import sympy
from sympy import Add, Expr, Integer, Mul, Pow, Rational, Symbol, default_sort_key
from sympy.core.relational import Relational
from sympy.printing.latex import LatexPrinter

from .readable import ascii_formula
from .relations import Within
from .symbols import depth, order, term_of, width


class Definition(NamedTuple):
    """What stands behind a name in a printed statement: a relation, twice, and what it is."""

    latex: str
    text: str
    meaning: str


@cache
def latex(expression: sympy.Basic) -> str:
    r"""LaTeX of an expression or relation, without dollars. It may use names that `definitions`
    explains.

    >>> latex(sympy.Le(depth, sympy.ceiling(sympy.log(width) / sympy.log(2)) - 1))
    'L \\leq \\lceil \\log_2 d_x \\rceil - 1'
    """
    return _Printer(expression).whole()


def text(expression: sympy.Basic) -> str:
    """One line of ASCII for a terminal.

    >>> text(sympy.Le(depth, sympy.ceiling(sympy.log(width) / sympy.log(2)) - 1))
    'L <= ceil(log_2(d_x)) - 1'
    """
    return ascii_formula(latex(expression))


@cache
def definitions(expression: sympy.Basic) -> tuple[Definition, ...]:
    """The definitions of the names, other than symbols, that the printed statement uses.

    >>> definitions(sympy.Le(width, 3 ** depth))
    ()
    """
    return tuple(
        Definition(line, ascii_formula(line), meaning)
        for line, meaning in _Printer(expression).explained()
    )


@cache
def symbols(expression: sympy.Basic) -> tuple[Symbol, ...]:
    """The declared symbols of an expression and of its definitions, in the order of print.

    >>> symbols(sympy.Le(width, 3 ** depth))
    (width, depth)
    """
    printer = _Printer(expression)
    printer.explained()
    free = {width, depth} if printer.named else set()
    for part in (expression, *(formula for _, formula, _ in printer.named)):
        free |= part.free_symbols
    return tuple(s for s in printer.seen if term_of(s) and s in free)


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
    term = term_of(symbol)
    return _CLEARER.get(term.latex, term.latex) if term else str(sympy.latex(symbol))


def _roman(name: str) -> str:
    """Subscripts and names that are words, upright."""
    words = r"(?<![\\A-Za-z])(?!QK|qk|Hdp)([A-Za-z]{2,})"

    def upright(word: re.Match[str]) -> str:
        return f"\\{word[1]}" if word[1] in ("max", "min") else rf"\mathrm{{{word[1]}}}"

    scripts = r"(?<=[_^]){[^{}]*}"
    inside = re.sub(scripts, lambda script: re.sub(words, upright, script[0]), name)
    return rf"\mathrm{{{name}}}" if re.fullmatch("(?!Hdp)[a-z]{2,}", name) else inside


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
    """With what `change` returns for parts, innermost first, unless None; sides stay apart."""
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

_RELATIONS = {"==": "=", "!=": r"\neq", "<=": r"\leq", ">=": r"\geq"}


class _Log(sympy.Function):
    """Of a base, and of what the logarithm is taken of."""


class _Root(sympy.Function):
    """Of all factors under one square root."""


_LARGE = (sympy.Sum, sympy.Product)
_FUNCTIONS = {
    **{name: rf"\{name}" for name in ("cos", "sin", "tan", "tanh")},
    "asin": r"\arcsin",
    "acos": r"\arccos",
    "Min": r"\min",
    "Max": r"\max",
    "LambertW": "W",
}
# What holds so much together that its brackets grow with it.
_TALL = r"\\left|\\right|\\frac|\\binom|\\sum|\\prod|\\begin"


class _Printer(LatexPrinter):
    """Prints one statement, and knows which names it used."""

    def __init__(self, expression: sympy.Basic) -> None:
        super().__init__()
        self.seen: dict[Symbol, None] = {}
        # What a statement's own names stand for: name, formula, meaning.
        self.named: list[tuple[Any, Any, str]] = []
        # Digits of rounded numbers; whether fractions take one line, as in exponents.
        self.digits, self.small = 0, False
        self.shown = {
            term.latex if (term := term_of(s)) else s.name for s in expression.atoms(Symbol)
        }
        # Natural logarithms are called as the quantities' own names call them.
        self.natural = "log" if any(re.search(r"\\log(?!_)", name) for name in self.shown) else "ln"
        self.expression = self._abbreviated(expression)

    def whole(self) -> str:
        """The statement."""
        return self.line(self.expression)

    def line(self, expression: Any) -> str:
        """An expression, with brackets no larger than what they hold."""
        printed, before = self._print(_replaced(expression, _joined)), ""
        pair = rf"\\left(\(|\\l\w+ )((?:(?!{_TALL}).)*)\\right(\)|\\r\w+)"
        while printed != before:
            before, printed = printed, re.sub(pair, r"\1\2\3", printed)
        return re.sub(r"((?<!})\^|_){(\w)}", r"\1\2", printed)

    def explained(self) -> list[tuple[str, str]]:
        """(definition, meaning) of the names that the statement uses."""
        self.whole()
        rows = [
            (f"{self.line(name)} = {self.line(formula)}", meaning)
            for name, formula, meaning in self.named
        ]
        n = self.digits
        lambert = "W(x) e^{W(x)} = x", "the principal branch of Lambert's function"
        bell = "B_n", "number of partitions of a set of $n$"
        multiset = rf"{_CLEARER[_MULTISET]} = \binom{{n + k - 1}}{{k}}"
        cut = rf"\lfloor x \rfloor_{n} = 10^{{-{n}}} \lfloor 10^{n} x \rfloor"
        rows += [lambert] * self.expression.has(sympy.LambertW)
        rows += [bell] * self.expression.has(sympy.bell)
        rows += [(multiset, "a product of $k$ factors $(n + j)/(j + 1)$, $j < k$")] * (
            _MULTISET in self.shown
        )
        return rows + [(cut, f"rounded down to {n} decimals")] * bool(n)

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

    def _print_Symbol(self, symbol: Symbol, style: Any = None) -> str:
        if symbol in _INTERNAL:
            return _INTERNAL[symbol]
        self.seen.setdefault(symbol)
        return _name(symbol)

    def _print_Relational(self, e: Any) -> str:
        if isinstance(e, Within):
            # Two bounds by cases would run into each other.
            return r" \leq ".join(
                _brackets(self._print(part))
                if isinstance(part, sympy.Piecewise)
                else self._print(part)
                for part in (e.rhs[0], e.lhs, e.rhs[1])
            )
        sign = _RELATIONS.get(e.rel_op, e.rel_op)
        return f"{self._print(e.lhs)} {sign} {self._print(e.rhs)}"

    def _print_Rational(self, e: Any) -> str:
        if e < 0:
            return f"-{self._print(-e)}"
        if decimal := _decimal(e.p, e.q):
            mantissa, power = decimal
            ten = f"10^{{{power}}}"
            return mantissa if not power else ten if mantissa == "1" else rf"{mantissa} \cdot {ten}"
        return str(e.p) if e.q == 1 else self._fraction(Integer(e.p), Integer(e.q))

    _print_Integer = _print_Rational

    def _print_Add(self, e: Any, order: Any = None) -> str:
        terms, shared = list(e.as_ordered_terms()), Counter(map(_denominator, e.args))
        others = [t for t in terms if not t.is_Rational]
        alone = len(e.free_symbols) < 2 and bool(e.is_polynomial())
        ordered = alone and not _is_negative(terms[0])
        written: list[tuple[int, int, str]] = []
        for place, term in enumerate(terms):
            # Terms with one denominator stand over it together.
            q = _denominator(term)
            group = [t for t in terms if q > 1 and _denominator(t) == q and shared[q] > 1] or [term]
            if term is not group[0]:
                continue
            negative = all(map(_is_negative, group))
            total = Add(*((-t if negative else t) * (q if len(group) > 1 else 1) for t in group))
            printed = self._fraction(total, Integer(q)) if len(group) > 1 else self._factor(total)
            if len(group) == len(terms):
                return f"-{printed}" if negative else printed
            # 1 + a^2, 1 - a, n + 1
            first = all(map(_is_negative, others)) or (
                term.is_Integer and not all(map(_is_whole, others))
            )
            first = first and not negative and not (alone and len(terms) > 2)
            rank = 1 if ordered else 1 + negative + 2 * bool(term.has(*_LARGE))
            if term.is_Rational:
                rank = 0 if first else 3
            written.append((rank, place, (" - " if negative else " + ") + printed))
        line = "".join(part for _, _, part in sorted(written))
        return line[3:] if line.startswith(" + ") else f"-{line[3:]}"

    def _print_Mul(self, e: Any) -> str:
        coefficient, rest = e.as_coeff_Mul()
        if coefficient < 0:
            return f"-{self._factor(-coefficient * rest)}"
        q = coefficient.q
        if (
            isinstance(rest, sympy.floor)
            and q > 100
            and coefficient == Rational(1, 10 ** _zeros(q))
        ):
            self.digits = _zeros(q)
            inside = Add(*(t * coefficient for t in Add.make_args(rest.args[0])))
            return rf"{self._print(sympy.floor(inside, evaluate=False))}_{self.digits}"
        factors = []
        for factor in Mul.make_args(rest):
            content, inner = factor.primitive() if factor.is_Add else (Integer(1), factor)
            coefficient *= content if content.is_Integer else 1
            factors.append(inner if content.is_Integer else factor)
        below = [1 / f for f in factors if _is_below(f)]
        above = [f for f in factors if not _is_below(f)]
        front, under = (coefficient, Integer(1))
        if not _decimal(front.p, front.q):
            front, under = Integer(front.p), Integer(front.q)
        # 1/2 stands before functions and sums of a product without quantities.
        places = [_place(f) for f in above]
        if (
            under > 1
            and not (below or self.small)
            and max(places) > 4
            and (min(places) > 3 or max(places) > 6)
        ):
            return self._product([coefficient, *above])
        top = [front, *above] if front != 1 or not above else above
        if under == 1 and not below:
            return self._product(top)
        bottom = [under, *below] if under != 1 else below
        return self._over(top, bottom)

    def _product(self, factors: Sequence[Any]) -> str:
        """Factors in the order of papers."""
        printed = ""
        for factor in sorted(factors, key=_place):
            part = self._factor(factor) if len(factors) > 1 else self._print(factor)
            printed += (r" \cdot " if part[0].isdigit() else " ") + part if printed else part
        return printed

    def _factor(self, e: Any) -> str:
        """In brackets where a sum would fall apart beside others."""
        over = len(set(map(_denominator, e.args))) == 1 < _denominator(e.args[0]) if e.is_Add else 1
        return (
            self._print(e) if over and not (e.is_Add and self.small) else _brackets(self._print(e))
        )

    def _fraction(self, top: Any, bottom: Any) -> str:
        return self._over([top], [bottom])

    def _over(self, top: Sequence[Any], bottom: Sequence[Any]) -> str:
        above, below = self._product(top), self._product(bottom)
        if not self.small:
            return rf"\frac{{{above}}}{{{below}}}"
        above = _brackets(above) if len(top) == 1 and top[0].is_Add else above
        atom = len(bottom) == 1 and not bottom[0].is_Add and not bottom[0].is_Mul
        return f"{above}/{below if atom else _brackets(below)}"

    def _print_Pow(self, e: Any) -> str:
        base, exponent = e.as_base_exp()
        if e.is_Pow and exponent == Rational(1, 2):
            return rf"\sqrt{{{self._print(base)}}}"
        if _is_below(e):
            return self._fraction(Integer(1), 1 / e)
        self.small, before = True, self.small
        power = (
            self._factor(exponent)
            if base.is_Symbol and "e^" in _name(base)
            else self._print(exponent)
        )
        self.small = before
        printed = self._print(base)
        if base.is_Symbol and printed.startswith("e^"):
            # (e^beta)^rho = e^(beta rho)
            return rf"e^{{{printed[2:].strip('{}')} {power}}}"
        atom = base.is_Integer or base is sympy.E or (base.is_Symbol and _is_one(printed))
        called = isinstance(base, sympy.Min | sympy.Max)
        return rf"{printed if atom or called else _brackets(printed)}^{{{power}}}"

    _print_ExpBase = _print_exp = _print_Pow

    def _print_Sum(self, e: Any) -> str:
        index, low, high = e.limits[0]
        self.small, before = True, self.small
        name, start, end = map(self._print, (index, low, high))
        self.small = before
        sign = "prod" if isinstance(e, sympy.Product) else "sum"
        return rf"\{sign}_{{{name}={start}}}^{{{end}}} {self._factor(e.function)}"

    _print_Product = _print_Sum

    def _print_log(self, e: Any, exp: Any = None) -> str:
        return self._logarithm(self.natural, e.args[0])

    def _print__Log(self, e: Any, exp: Any = None) -> str:
        return self._logarithm(f"log_{{{self._print(e.args[0])}}}", e.args[1])

    def _logarithm(self, name: str, argument: Any) -> str:
        printed = self._print(argument)
        plain = (argument.is_Symbol and _is_one(printed)) or re.fullmatch(r"[\d.]+", printed)
        return rf"\{name} {printed}" if plain else rf"\{name}{_brackets(printed)}"

    def _print__Root(self, e: Any, exp: Any = None) -> str:
        return rf"\sqrt{{{self._print(e.args[0])}}}"

    def _print_floor(self, e: Any, exp: Any = None) -> str:
        return rf"\left\lfloor {self._print(e.args[0])} \right\rfloor"

    def _print_ceiling(self, e: Any, exp: Any = None) -> str:
        return rf"\left\lceil {self._print(e.args[0])} \right\rceil"

    def _print_binomial(self, e: Any, exp: Any = None) -> str:
        top, bottom = map(self._print, e.args)
        return rf"\binom{{{top}}}{{{bottom}}}"

    def _print_Function(self, e: Any, exp: Any = None) -> str:
        kind = type(e).__name__
        name = _FUNCTIONS.get(kind, kind)
        parts = sorted(e.args, key=default_sort_key) if kind in ("Min", "Max") else e.args
        return f"{name}{_brackets(', '.join(map(self._print, parts)))}"

    _print_Min = _print_Max = _print_LambertW = _print_Function

    def _print_bell(self, e: Any, exp: Any = None) -> str:
        return f"B_{{{self._print(e.args[0])}}}"

    def _print_Piecewise(self, e: Any) -> str:
        rows = (
            f"{self._print(value)} & "
            + (r"\text{otherwise}" if when == True else rf"\text{{if }} {self._print(when)}")
            for value, when in e.args
        )
        return r"\begin{cases} " + r" \\ ".join(rows) + r" \end{cases}"

    def _print_Or(self, e: Any) -> str:
        values = ", ".join(self._print(value) for value in sorted(part.rhs for part in e.args))
        return rf"{self._print(e.args[0].lhs)} \in \{{{values}\}}"

    def _print_And(self, e: Any) -> str:
        return r" \text{ and } ".join(map(self._print, sorted(e.args, key=default_sort_key)))


def _brackets(inner: str) -> str:
    tall = re.search(r"\\(frac|binom|sum|prod|begin)", inner)
    return rf"\left( {inner} \right)" if tall else rf"\left({inner}\right)"


def _name(symbol: Symbol) -> str:
    # Bars in pairs, as typst sets those that are not as relations.
    name = re.sub(r"\\\|(.*?)\\\|", r"\\lVert \1\\rVert ", _declared(symbol))
    name = re.sub(r"\|(.*?)\|", r"\\left\\vert \1\\right\\vert ", name)
    return _roman(re.sub(r"(?<=ert) (?=[_^)/]|$)", "", name))


def _is_one(name: str) -> bool:
    """Whether a name such as d_x is one part, unlike g_1 - g_0 and r_L/r_0."""
    return not re.search(r"[-+:/^]|sum|partial|Delta.", re.sub(r"{[^{}]*}|\([^()]*\)", "", name))


def _joined(e: Any) -> Any:
    """A product with logarithms to a base, and with one square root."""
    if not isinstance(e, Mul):
        return None
    factors: list[Any] = list(e.args)
    for below in [f for f in factors if f.is_Pow and f.exp == -1 and isinstance(f.base, sympy.log)]:
        base = below.base.args[0]
        above = [f for f in factors if isinstance(f, sympy.log)]
        fits = [f for f in above if f.args[0].is_Integer <= base.is_Integer]
        if fits and (base.is_Integer or base.is_Symbol):
            new: Any = _Log(base, fits[0].args[0])
        elif fits := [f for f in above if f.args[0].is_Integer]:
            new = 1 / _Log(fits[0].args[0], base)
        else:
            continue
        factors = [f for f in factors if f not in (below, fits[0])] + [new]
    roots = [f for f in factors if f.is_Pow and abs(f.exp) == Rational(1, 2)]
    if len(roots) > 1:
        inside = Mul(*(f**2 for f in roots))
        top, bottom = inside.as_numer_denom()
        factors = [f for f in factors if f not in roots]
        factors.append(1 / _Root(bottom) if top == 1 else _Root(inside))
    return Mul(*factors)


def _is_below(e: Any) -> bool:
    """Whether a power belongs below the bar."""
    base, exponent = e.as_base_exp()
    return bool(
        exponent.could_extract_minus_sign()
        and not isinstance(exponent, Add)
        and (base != sympy.E or exponent == -1)
    )


def _place(factor: Any) -> int:
    """Where a factor stands in a product, from the left."""
    base, exponent = factor.as_base_exp()
    if factor.is_Rational:
        return 0
    if isinstance(factor, _Root) or exponent == Rational(1, 2):
        return 3
    if base.is_Symbol or base is sympy.pi:
        return 1
    if base.is_Add:
        return 4
    if isinstance(base, sympy.log | _Log | sympy.Sum | sympy.Product):
        return 7 if isinstance(base, _LARGE) else 6
    return 2 if base.is_number else 5


def _is_negative(term: Any) -> bool:
    return bool(term.as_coeff_Mul()[0] < 0)


def _zeros(number: int) -> int:
    return str(number).count("0")


def _is_whole(term: Any) -> bool:
    return all(
        f.is_integer or isinstance(f, sympy.floor | sympy.ceiling) for f in Mul.make_args(term)
    )


def _denominator(term: Any) -> int:
    """The denominator of a term that is a polynomial over a whole number, else 1."""
    coefficient, rest = term.as_coeff_Mul()
    plain = not rest.has(sympy.Function, *_LARGE) and rest.as_numer_denom()[1] == 1
    plain = plain and not _decimal(1, coefficient.q)
    return int(coefficient.q) if plain or rest == 1 else 1


def _decimal(p: int, q: int) -> tuple[str, int] | None:
    """(mantissa, power of ten) where papers print p/q as a decimal number, and whole numbers of
    many zeros as a power of ten; None for fractions."""
    if q == 1:
        zeros = len(str(p)) - len(str(p).rstrip("0"))
        return (str(p)[:-zeros], zeros) if zeros > 4 else None
    twos, fives = (sympy.multiplicity(prime, q) for prime in (2, 5))
    if q != 2**twos * 5**fives or not fives or q < 10:
        return None
    digits = max(twos, fives)
    whole = str(p * 10**digits // q)
    if len(whole) + 3 > digits:
        whole = whole.rjust(digits + 1, "0")
        return f"{whole[:-digits]}.{whole[-digits:]}", 0
    if p == 1 and len(whole) > 1:
        return None
    return whole[0] + ("." + whole[1:] if whole[1:] else ""), len(whole) - 1 - digits

"""What is printed for people says what the statement says: every printed statement is read back and
evaluated beside the original."""

from __future__ import annotations

import math
import re
from random import Random
from typing import Any

import pytest
import sympy
from sympy import Eq, Integer, Le, Rational, Symbol, exp, floor, log, sqrt

from depthlaw.theory.claims.definition import registry
from depthlaw.theory.claims.printing import definitions, latex, symbols, text
from depthlaw.theory.claims.relations import Within, between
from depthlaw.theory.claims.symbols import TERMS, depth, heads, quantity, width
from depthlaw.theory.separation_rank.rank_symbols import dimension_sum
from depthlaw.theory.separation_rank.value_rank import sep

N = quantity("tokens", "N", TERMS["tokens"].meaning)
W = sympy.LambertW


@pytest.mark.parametrize(
    ("expression", "tex", "ascii_form"),
    [
        (3 ** (depth - 2), "3^{L - 2}", "3^(L-2)"),
        ((3**depth - 1) / 2, r"\frac{3^L - 1}{2}", "(3^L - 1)/2"),
        (sympy.ceiling(log(N) / log(2)), r"\lceil \log_2 N \rceil", "ceil(log_2(N))"),
        (log(width - heads) / log(3), r"\log_3(d_x - H)", "log_3(d_x - H)"),
        (2 * 3**depth, r"2 \cdot 3^L", "2*3^L"),
        (Rational(111, 2000) * depth, "0.0555 L", "0.0555 L"),
        (Rational(19, 20), "0.95", "0.95"),
        (Rational(1, 16000), r"\frac{1}{16000}", "1/16000"),
        (sqrt(2) * sqrt(1 / (N + 1)), r"\sqrt{\frac{2}{N + 1}}", "sqrt(2/(N + 1))"),
        (1 - width, "1 - d_x", "1 - d_x"),
        (width + 1, "d_x + 1", "d_x + 1"),
        (1 + width / N, r"1 + \frac{d_x}{N}", "1 + d_x/N"),
        (sqrt(2) * sqrt(depth) / 3, r"\frac{\sqrt{2 L}}{3}", "sqrt(2 L)/3"),
        (
            floor(10**9 * exp(width) / N) / 10**9,
            r"\left\lfloor \frac{e^{d_x}}{N} \right\rfloor_9",
            "floor(e^(d_x)/N, 9 decimals)",
        ),
        (width / 2 - heads / 2, r"\frac{d_x - H}{2}", "(d_x - H)/2"),
        (Integer(10**12), "10^{12}", "10^12"),
        (sympy.binomial(N, 2), r"\binom{N}{2}", "binom(N, 2)"),
    ],
)
def test_by_hand(expression: Any, tex: str, ascii_form: str) -> None:
    assert (latex(expression), text(expression)) == (tex, ascii_form)


def test_the_dimension_count_has_its_name() -> None:
    statement = Le(sep, dimension_sum(), evaluate=False)
    assert latex(statement) == r"\operatorname{sep} \leq S(d_x, L)"
    assert [d.text for d in definitions(statement)] == [
        "S(d_x, L) = sum[k = 0..C] min(d_x binom(D + k - 1, k), binom(D + C - k - 1, C - k))",
        "D = d_x (d_x + 1)/2",
        "C = (3^L - 1)/2",
    ]
    assert symbols(statement) == (sep, width, depth)
    # Another sum is not given this name.
    other = Le(sep, dimension_sum(sympy.Max), evaluate=False)
    assert "S(" not in latex(other)


def test_cases_by_hand() -> None:
    cases = sympy.Piecewise((Rational(1, 3), Eq(width, 2) | Eq(width, 3)), (0, True))
    assert text(Eq(sep, cases)) == "sep = 1/3 if d_x in {2, 3}; 0 otherwise"
    assert latex(Eq(sep, cases)) == (
        r"\operatorname{sep} = \begin{cases} \frac{1}{3} & \text{if } d_x \in \{2, 3\} \\ "
        r"0 & \text{otherwise} \end{cases}"
    )
    both = sympy.Piecewise((1, Eq(width, 2) & Le(heads, 3)), (0, True))
    assert text(Eq(sep, both)) == "sep = 1 if d_x = 2 and H <= 3; 0 otherwise"
    assert r"\text{if } d_x = 2 \text{ and } H \leq 3 \\" in latex(Eq(sep, both))
    # Cases inside a formula have a name of their own.
    inside = Eq(sep, floor(10 * cases + Rational(1, 2)), evaluate=False)
    assert text(inside) == "sep = floor(10 f + 1/2)"
    assert definitions(inside)[0].text == "f = 1/3 if d_x in {2, 3}; 0 otherwise"


# --- every statement, read back -------------------------------------------------------------------

_SAFE: dict[str, Any] = {
    **{
        name: getattr(math, name)
        for name in ["sqrt", "log", "exp", "cos", "tanh", "acosh", "e", "pi"]
    },
    "ln": math.log,
    "arcsin": math.asin,
    "arccos": math.acos,
    "min": min,
    "max": max,
    "ceil": lambda x: math.ceil(x - 1e-11),
    "bell": lambda n: int(sympy.bell(n)),
    "floor": lambda x, digits=0: math.floor(x * 10**digits + 1e-7) / 10**digits,
    "W": lambda x: float(W(x)),
    "base": lambda b, x: math.log(x) / math.log(b),
    "binom": lambda n, k: math.comb(round(n), round(k)) if n >= 0 <= k else 0,
    "sum": lambda f, low, high: sum(f(i) for i in range(round(low), round(high) + 1)),
    "prod": lambda f, low, high: math.prod(f(i) for i in range(round(low), round(high) + 1)),
}


def _named(line: str, names: dict[str, str]) -> str:
    """The line with the names of quantities, longest first, replaced by names that Python knows."""
    for name in sorted(names, key=len, reverse=True):
        before = r"(?:(?<![\w'\\])|(?<=log_))" if name[0].isalpha() else ""
        line = re.sub(rf"{before}{re.escape(name)}(?![\w'])", f" {names[name]} ", line)
    return line


def _python(line: str) -> str:
    """A formula as `text` prints it, as Python: products without a sign and sums made explicit."""
    line = re.sub(r"(log_\w+) +(v\d+v)", r"\1(\2)", line)
    line = re.sub(r"log_ *{?(\w+)}? *\(", r"base(\1, ", line)
    line = re.sub(r", (\d) decimals", r", \1", line)
    while found := re.search(r"(sum|prod)\[(.*?) = (.*?)\.\.", line):
        begin = found.end()
        high = _until(line, begin, "]")
        stop = _until(line, high + 1, ",);")
        body = line[high + 1 : stop]
        line = (
            f"{line[: found.start()]}{found[1]}((lambda {found[2]}: {body}), {found[3]}, "
            f"{line[begin:high]}){line[stop:]}"
        )
    line = line.replace("^", "**")
    pieces = re.findall(r"\*\*|<=|>=|!=|\d+\.?\d*|[A-Za-z_]\w*|[^\s]", line)
    shown = ""
    for before, piece in zip(["", *pieces], pieces, strict=False):
        value = re.fullmatch(r"[\w.]+|\)", before) and before not in ("lambda", *_SAFE_CALLS)
        if value and re.match(r"[\w(]", piece) and not shown.rstrip().endswith("lambda"):
            shown += " * "
        shown += piece + (" " if piece == "lambda" else "")
    return shown


_SAFE_CALLS = [name for name, value in _SAFE.items() if callable(value)] + ["S"]


def _until(line: str, start: int, stops: str) -> int:
    level = 0
    for place in range(start, len(line)):
        ends = "]" not in stops and place > start and line[place : place + 3] in (" + ", " - ")
        if level == 0 and (line[place] in stops or ends):
            return place
        level += (line[place] in "([") - (line[place] in ")]")
    return len(line)


def _value_of(symbol: Symbol, random: Random) -> float:
    domain = TERMS[symbol.name].domain if symbol.name in TERMS else "positive real"
    if symbol.name == "width":
        return random.choice([4, 6, 8])
    if symbol.name == "depth":
        return 3
    if symbol.name in ("heads", "order", "cut", "shared_separators", "spreading", "doubling"):
        return 2 if symbol.name == "heads" else 1
    if symbol.name in ("shallow_depth", "feature_gain", "first"):
        return 2
    return random.choice([3, 4, 5]) if "integer" in domain else round(random.uniform(0.3, 0.9), 3)


def _count(d: float, layers: float) -> float:
    return float(dimension_sum().subs({width: int(d), depth: int(layers)}).doit())


def test_every_printed_statement_says_the_same() -> None:
    """As a terminal shows it, which is read off the LaTeX."""
    random, compared, wrong = Random(1), 0, []
    for key, claim in registry().items():
        if (statement := claim.statement).has(sympy.Piecewise):
            continue
        used = sorted(statement.atoms(Symbol), key=lambda s: s.name)
        values = {s: _value_of(s, random) for s in used}
        variables = {
            s for part in statement.atoms(sympy.Sum, sympy.Product) for s in part.variables
        }
        names = {text(s): f"v{i}v" for i, s in enumerate(used)}
        assert len(names) == len(used), f"{key}: two quantities with one name"
        given = {s.name: value for s, value in values.items()}
        env = (
            _SAFE
            | {f"v{i}v": values[s] for i, s in enumerate(used)}
            | {
                "S": _count,
                "D": given.get("width", 0) * (given.get("width", 0) + 1) // 2,
                "C": (3 ** given.get("depth", 0) - 1) / 2,
                "beta": math.log(given.get("exp_beta", 1)),
            }
        )
        for place, shown in enumerate(definitions(statement), 1):
            name, _, formula = _named(shown.text, names).partition(" = ")
            if "Sigma" in name:
                env[f"Sigma_{place}"] = eval(_python(formula), env)
        line = _named(text(statement).replace("B_n", "bell(n)"), names)
        originals = statement.args
        if isinstance(statement, Within):
            low, high = statement.rhs
            originals = low, statement.lhs, high
        sides = re.split(" (?:<=|>=|!=|=|<|>) ", line, maxsplit=len(originals) - 1)
        for side, original in zip(sides, originals, strict=True):
            exact = original.xreplace(
                {
                    s: Integer(v) if isinstance(v, int) else Rational(str(v))
                    for s, v in values.items()
                    if s not in variables
                }
            ).doit()
            found = eval(_python(side), env)
            if exact.is_Integer and isinstance(found, int):
                same = int(exact) == found
            else:
                expected = float(exact.evalf(25))
                same = abs(found - expected) <= 1e-7 * max(1, abs(expected))
            if not same:
                wrong.append(f"{key}: {side} is {found} at {given}")
            compared += 1
    assert not wrong
    assert compared > 1.9 * len(registry())


def test_reading_back_sees_a_wrong_power() -> None:
    """The negative control of the test above."""
    env = _SAFE | {"v0v": 3}
    assert eval(_python(_named("3^(L-2)", {"L": "v0v"})), env) == 3
    assert eval(_python(_named("3^L-2", {"L": "v0v"})), env) == 25


def test_bounds_by_cases_stand_in_parentheses() -> None:
    low, high = (sympy.Piecewise((n, heads <= 2), (n + 1, True)) for n in (1, 5))
    assert text(between(low, width, high)) == (
        "(1 if H <= 2; 2 otherwise) <= d_x <= (5 if H <= 2; 6 otherwise)"
    )

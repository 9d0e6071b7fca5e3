"""Tables of the atlas: what is wrong with a row is said with its place, and formulas of depths mean
what SymPy says of them."""

from __future__ import annotations

import math
import random
import re
from itertools import product
from pathlib import Path

import pytest
import sympy

from depthlaw.advisor import atlas
from depthlaw.advisor.atlas.formulas import Depth, NoNumber, formula, letters, parse, printed, value
from depthlaw.advisor.base.quantities import UsageError
from depthlaw.ledger.cli.arguments import main
from depthlaw.theory.formal_languages.regular_depth import read_language

DEPTHS = sorted({bound.depth for bound in atlas.bounds()})
BOUND = "task,class,end,depth,year,source,mark,argument,claim,covers,superseded\n"
WORDS = "key,subject,name,definition,language,alphabet\n"


# --- reading ---


def tables(folder: Path, **texts: str) -> Path:
    for name, text in texts.items():
        (folder / f"{name}.csv").write_text(text)
    return folder


def test_own_tables_extend_the_atlas(tmp_path: Path) -> None:
    folder = tables(
        tmp_path,
        tasks="key,subject,name,definition\nzigzag,Mine,zigzag,Letters alternate.\n",
        bounds=BOUND + 'zigzag,uhat-right,upper,"Min(2, k)",2026,me,derived,,,,\n'
        "dyck,uhat-right,upper,D,2027,me,derived,,,,\n",
    )
    own = atlas.atlas(folder)
    assert [(row.class_.key, row.suffices) for row in own.rows("zigzag")] == [
        ("uhat-right", "Min(2, k)")
    ]
    ends = {row.class_.key: row.suffices for row in own.rows("dyck")}
    assert (ends["uhat-right"], ends["uhat-both"]) == ("D", "D + 1")
    assert "zigzag" not in atlas.tasks()


@pytest.mark.parametrize(
    ("row", "says"),
    [
        ("dyck,uhat-right,upper,2,2026,me,derived,,,,,", "line 2: 12 cells for the 11 columns"),
        ("dyck,uhat-right,upper,2,2026,me", "line 2: 6 cells for the 11 columns"),
        ("dyck,uhat-right,upper,,2026,me,derived,,,,", "line 2: the cell depth is empty"),
        ("dyck,uhat-right,upper,2,MMXX,me,derived,,,,", "line 2: the year is 'MMXX'; write a year"),
        ("dyck,uhat-right,upper,2,2026,me,derived,,,,x", "line 2: the superseded is 'x'; write a"),
        ("dyk,uhat-right,upper,2,2026,me,derived,,,,", "unknown task 'dyk'; did you mean dyck?"),
        ("dyck,uhat,upper,2,2026,me,derived,,,,", "unknown class 'uhat'; did you mean uhat-"),
        ("dyck,uhat-right,up,2,2026,me,derived,,,,", "unknown end 'up'; accepted are lower, upper"),
        ("dyck,uhat-right,upper,2,2026,me,seen,,,,", "unknown mark 'seen'; accepted are printed,"),
        ("dyck,uhat-right,upper,2,2026,me,derived,,no/claim,,", "unknown claim 'no/claim'; give"),
        ("dyck,uhat-right,upper,2,2026,me,derived,,,some,", "unknown covers 'some'; accepted are"),
        ("dyck,uhat-right,upper,2,2026,me,derived,,,part,", "covers is part, and no claim is"),
        (
            "dyck,uhat-right,upper,celi(D),2026,me,derived,,,,",
            "cannot read the depth 'celi(D)': 'c",
        ),
        ('dyck,uhat-right,upper,"2,2026,me,derived,,,,', "unexpected end of data"),
        # An end of ours says why it holds: nothing is "argued in words" that has no words.
        ("dyck,uhat-right,upper,2,2026,depthlaw,derived,,,,", "line 2: an end of the source depth"),
        (
            "dyck,uhat-right,upper,2,2026,depthlaw,derived,,least_depth/dyck_layers,part,",
            "has a claim about all of it, or says in the cell argument why it holds",
        ),
    ],
)
def test_a_wrong_row_is_one_line_with_its_place(
    row: str, says: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    with pytest.raises(UsageError) as error:
        atlas.atlas(tables(tmp_path, bounds=f"{BOUND}{row}\n"))
    assert says in str(error.value)
    assert str(error.value).startswith("bounds.csv, line 2: ")
    assert "\n" not in str(error.value)


@pytest.mark.parametrize(
    "support", ["each letter is its own inverse,,,", ",least_depth/dyck_layers,,"]
)
def test_an_end_of_ours_has_a_claim_or_an_argument(support: str, tmp_path: Path) -> None:
    row = f"dyck,uhat-right,upper,D + 1,2026,depthlaw,derived,{support}\n"
    own = atlas.atlas(tables(tmp_path, bounds=BOUND + row)).bounds[-1]
    assert (own.verdict == "argued in words") == bool(own.argument)


@pytest.mark.parametrize(
    ("name", "text", "says"),
    [
        ("tasks", "key,subject,name,definition\na,b,c,d,\n", "tasks.csv, line 2: 5 cells for the"),
        ("tasks", "key,subject,name\na,b,c\n", "tasks.csv, line 1: the column definition is"),
        ("tasks", "key,key,name\n", "tasks.csv, line 1: the column 'key' is there twice"),
        ("classes", "key,nom,unit\n", "classes.csv, line 1: the column 'nom' is unknown; accepted"),
        (
            "tasks",
            f"{WORDS}a,b,c,d,(ab,\n",
            "tasks.csv, line 2, language: cannot read '(ab'; try",
        ),
        (
            "tasks",
            "key,subject,name,definition,asks\na,b,c,d,n\n",
            "tasks.csv, line 2, asks: 'n' is",
        ),
        ("tasks", f"{WORDS}a,b,c,d,ab*,a\n", "tasks.csv, line 2, language: the alphabet 'a' lacks"),
        (
            "tasks",
            'key,subject,name,definition\na,b,c,"d\ne"\ndyck,b,c,d\n',
            "tasks.csv, line 4: the atlas has the key 'dyck'; take another",
        ),
    ],
)
def test_a_wrong_table_is_one_line_with_its_place(
    name: str, text: str, says: str, tmp_path: Path
) -> None:
    with pytest.raises(UsageError) as error:
        atlas.atlas(tables(tmp_path, **{name: text}))
    assert str(error.value).startswith(says)


def test_a_table_accepts_the_expressions_that_a_check_reads(tmp_path: Path) -> None:
    for text in (t for size in range(1, 5) for t in map("".join, product("a(|*)?", repeat=size))):
        refused, folder = [], tables(tmp_path, tasks=f"{WORDS}own,b,c,d,{text},a\n")
        for read, given in (atlas.atlas, [folder]), (read_language, [text, "a"]):
            try:
                refused.append(not read(*given))
            except UsageError:
                refused.append(True)
        assert refused[0] == refused[1], text


def test_no_tables_are_no_atlas(tmp_path: Path) -> None:
    with pytest.raises(UsageError, match="holds no tables; give a folder with tasks.csv"):
        atlas.atlas(tmp_path)


def test_the_argument_stands_where_an_end_is_argued_in_words(
    capsys: pytest.CaptureFixture[str],
) -> None:
    argued = [bound for bound in atlas.bounds() if bound.verdict.startswith("argued in words")]
    assert len(argued) >= 10
    for task in dict.fromkeys(bound.task for bound in argued):
        assert main(["tasks", "list", task]) == 0
        said = " ".join(capsys.readouterr().out.split())
        for bound in argued:
            assert (bound.argument in said) == (bound.task == task) or bound.argument in {
                other.argument for other in argued if other.task == task
            }


# --- formulas ---


@pytest.mark.parametrize("depth", DEPTHS)
def test_what_is_printed_is_read_as_the_same(depth: str) -> None:
    tree = parse(depth)
    assert parse(printed(tree, False)) == tree
    # A negative control: other numbers are another tree.
    changed = re.sub(r"(?<!log)\d+", lambda it: str(int(it[0]) + 1), depth)
    assert changed == depth or parse(changed) != tree


def expression(rng: random.Random, size: int) -> str:
    """A random formula as a table may have it."""
    if size <= 1:
        return rng.choice(["n", "k", "H", "n*", str(rng.randrange(1, 9))])
    parts = [expression(rng, rng.randrange(1, size)) for _ in range(2)]
    signs = [f"({{}}) {sign} ({{}})" for sign in ("+", "-", "*", "/", "")]
    calls = ["min({}, {})", "Max({}, {})", "ceil(({})/({}))", "floor(log({}, ({})+1))"]
    calls += ["log({}, ({})+1)", "log2({}) log2({})", "log2({})^({})"]
    return rng.choice([*signs, *calls]).format(*parts)


@pytest.mark.parametrize("seed", range(60))
def test_random_formulas_are_read_as_they_are_printed(seed: int) -> None:
    rng = random.Random(seed)
    tree = parse(expression(rng, 7))
    assert parse(printed(tree, False)) == tree


@pytest.mark.parametrize(
    ("depth", "latex"),
    [
        ("log_2 n", r"$\log_2 n$"),
        ("log2(n)/2", r"$\log_2(n)/2$"),
        ("log2(n)^2", r"$\log_2(n)^{2}$"),
        ("n/k H", "$(n/k) H$"),
    ],
)
def test_what_stands_below_a_logarithm_or_a_stroke_is_plain(depth: str, latex: str) -> None:
    assert printed(parse(depth), True) == latex
    assert not isinstance(value(depth, {"n": 4, "k": 2, "H": 1}), NoNumber)


def by_sympy(depth: str, numbers: dict[str, int]) -> sympy.Expr:
    """The other route, over SymPy's own parser and functions. What it does not know to be whole is
    rounded up at 30 digits, which costs less than its bounds."""

    def ceil(x: sympy.Expr) -> sympy.Expr:
        return x if x.is_integer else sympy.Integer(math.ceil(x.n(30)))

    text = depth.replace("n*", "n_star").replace("^", "**").replace("/", "/Integer(1)/")
    text = re.sub(r"(?<=[\w)]) (?=[a-zA-Z(])", "*", text)
    names = {name.replace("*", "_star"): sympy.Integer(n) for name, n in numbers.items()}
    functions = {
        "ceil": ceil,
        "log2": lambda x: sympy.log(x, 2),
        "Min": sympy.Min,
        "Max": sympy.Max,
    }
    return sympy.sympify(text, names | functions)


@pytest.mark.parametrize(
    "depth", [depth for depth in DEPTHS if re.search(r"[a-zA-Z]", depth) and " if " not in depth]
)
def test_values_are_those_of_sympy(depth: str) -> None:
    rng = random.Random(depth)
    tree: Depth = parse(depth)
    words = isinstance(value(depth, dict.fromkeys([*letters(tree), "f"], 9)), NoNumber)
    for _ in range(20):
        numbers = {letter: rng.randrange(3, 3**9) for letter in letters(tree)}
        ours = value(depth, numbers)
        if isinstance(ours, NoNumber) and ours.why == "words":
            assert words
            continue
        if depth == atlas.NONE:
            assert ours == math.inf
            continue
        theirs = by_sympy(depth, numbers)
        assert bool(theirs.is_integer) == (not isinstance(ours, NoNumber)), (depth, numbers)
        assert isinstance(ours, NoNumber) or ours == theirs, (depth, numbers)


@pytest.mark.parametrize("base", [2, 3, 5, 6])
def test_logarithms_of_powers_are_exact(base: int) -> None:
    for power in (2, 30, 200):
        for more, rounded in ((-1, power), (0, power), (1, power + 1)):
            numbers = {"n": base**power + more}
            assert value(f"ceil(log(n, {base}))", numbers) == rounded
            assert value(f"floor(log(n, {base}))", numbers) == power - (more < 0)
            assert (value(f"log(n, {base})", numbers) == power) == (more == 0)


@pytest.mark.parametrize(
    ("depth", "numbers", "expected"),
    [
        ("D + 1", {"D": 2}, 3),
        ("ceil(n/H)", {"n": 5, "H": 2}, 3),
        ("1 if H >= n, else 2", {"H": 2, "n": 3}, 2),
        ("1 if H >= n", {"H": 3, "n": 3}, 1),
        ("1 if H >= n", {"H": 2, "n": 3}, NoNumber("condition", "H >= n")),
        ("1 if H >= n, else 2", {"n": 3}, NoNumber("letter", "H")),
        ("2 if an element has order 3 or more, else 1", {"order": 5}, 2),
        ("2 if an element has order 3 or more, else 1", {"order": 2}, 1),
        ("Min(2, e - 1)", {"e": 2}, 1),
        ("Min(d + 1, 4)", {"d": 4}, 4),
        ("none", {}, math.inf),
        ("none if TC0 is not NC1", {}, NoNumber("words", "TC0 is not NC1")),
        ("some depth", {}, NoNumber("words", "some depth")),
        ("order log n", {"n": 3}, NoNumber("words", "order log n")),
        ("rank of f", {"f": 3}, NoNumber("words", "rank of f")),
        ("k for all large n", {"k": 3}, NoNumber("words", "k for all large n")),
        ("floor(k/2) + 1", {"k": 5}, 3),
        ("(k + 1)/2", {"k": 4}, NoNumber("not whole", "5/2")),
        ("log2(k) + 1", {"k": 5}, NoNumber("not whole", "log_2 k")),
        ("ceil(log2(k) + 1)", {"k": 5}, 4),
        ("8 ceil(log2(n)) + 9", {"n": 5}, 33),
        ("ceil(log(2 n* + 1, 3))", {"n*": 13}, 3),
        ("2^(k - 1) - 1", {"k": 4}, 7),
        ("ceil(log(n/2, 6))", {"n": 1}, 0),
        ("n/k", {"n": 1, "k": 0}, NoNumber("not whole", "n/k")),
        ("d", {}, NoNumber("letter", "d")),
    ],
)
def test_a_depth_is_a_number_or_says_why_not(
    depth: str, numbers: dict[str, int], expected: object
) -> None:
    assert value(depth, numbers) == expected


def test_every_depth_but_words_is_a_number_at_numbers() -> None:
    numbers = dict.fromkeys(["D", "H", "L", "M", "N", "d", "e", "k", "l", "n", "n*", "s"], 9)
    in_words = {b for b in DEPTHS if isinstance(value(b, numbers), NoNumber)}
    assert in_words == {
        *("k for all large n", "log2(k) + 1", "no fixed number if TC0 is not NC1"),
        "no fixed number for all D if TC0 is not NC1",
        *("none if TC0 is not NC1", "order log D", "order log D, if a conjecture holds", "order n"),
        *("order log k, if a conjecture holds", "order log n", "rank of f", "some depth"),
    }


@pytest.mark.parametrize(
    ("depth", "says"),
    [
        ("ceil(log2(k)", "a bracket is open"),
        ("celi(k)", "'celi' is no number, letter or function"),
        ("k +", "the end is no number"),
        ("k)", "')' follows its end"),
        ("k $ 2", "'$' has no meaning here"),
        ("ceil(1, 2)", "ceil has other arguments"),
        ("2 if ???", "it is no condition"),
        ("", "the end is no number"),
    ],
)
def test_a_depth_that_cannot_be_read(depth: str, says: str) -> None:
    with pytest.raises(UsageError, match="cannot read the depth") as error:
        formula(depth)
    assert says in str(error.value)

"""The code version of a claim: it follows what a function reaches, and nothing else."""

import hashlib
import importlib
import sys
import textwrap
from functools import partial
from pathlib import Path

import pytest

from depthlaw.advisor.base.quantities import UsageError
from depthlaw.theory.claims import code_version as versions

ENGINE = """
    import json
    LIMIT = 3

    def used(x):
        return helper(x) + LIMIT

    def helper(x):
        return x + 1

    def unused(x):
        return x
"""
MODULE = """
    from functools import partial
    from .engine import (
        used,  # an import over several lines, with a comment
    )
    from . import engine as whole

    def measure(case):
        return used(case.x)

    def by_attribute(case):
        return whole.used(case.x)

    def late(case):
        from .engine import used as again
        return again(case.x)

    def other(case):
        helper = unused = case.x
        for used in range(3):
            helper += [late + used for late in (1, 2)][0]
        return helper

    def factory(n):
        def inner(case):
            return used(case.x) + n
        return inner

    def reads_data(case):
        return open("table.csv")

    three, four, short = factory(3), factory(4), lambda case: used(case.x)
"""


@pytest.fixture
def version(tmp_path, monkeypatch):
    """(name, engine, module) -> the code version of a function of a package that is written
    anew."""
    package = tmp_path / "depthlaw_example"
    package.mkdir()
    (package / "__init__.py").write_text("")
    (package / "table.csv").write_text("1,2\n")
    monkeypatch.syspath_prepend(str(tmp_path))
    monkeypatch.setattr(versions, "_PROJECT", "depthlaw_example")
    monkeypatch.setattr(sys, "dont_write_bytecode", True)

    def found(
        name: str, engine: str = ENGINE, module: str = MODULE, table: str = "1,2\n", **others: str
    ) -> str:
        """others: further modules; one named engine2 stands in place of the engine."""
        files = {"engine": engine, "module": module} | others
        for old in package.glob("*.py"):
            if old.stem != "__init__":
                old.unlink()
        for file, text in files.items():
            if text:
                (package / f"{file}.py").write_text(textwrap.dedent(text))
        (package / "table.csv").write_text(table)
        for loaded in [key for key in sys.modules if key.startswith("depthlaw_example")]:
            del sys.modules[loaded]
        importlib.invalidate_caches()
        forget()
        return versions._version(getattr(importlib.import_module("depthlaw_example.module"), name))

    yield found
    for loaded in [key for key in sys.modules if key.startswith("depthlaw_example")]:
        del sys.modules[loaded]
    # Names of the project were none of it meanwhile.
    forget()


def forget() -> None:
    """Let go of what is known of modules."""
    for cached in (
        versions._module,
        versions._tree,
        versions._functions,
        versions._node,
        versions._resolve,
        versions._spec_path,
    ):
        cached.cache_clear()


@pytest.mark.parametrize("name", ["measure", "by_attribute", "late", "three", "short"])
@pytest.mark.parametrize(("old", "new"), [("x + 1", "x + 2"), ("LIMIT = 3", "LIMIT = 4")])
def test_a_change_of_what_is_reached_changes_the_version(version, name, old, new):
    assert version(name) != version(name, engine=ENGINE.replace(old, new))


@pytest.mark.parametrize("name", ["measure", "by_attribute", "late", "three", "short", "other"])
def test_comments_docstrings_layout_and_new_functions_change_nothing(version, name):
    before = version(name)
    documented = ENGINE.replace(
        "return helper(x)", '"""Twice."""\n        return helper(  # why\n            x)'
    )
    assert version(name, engine=documented) == before
    assert version(name, engine=ENGINE.replace("return x\n", "return -x\n")) == before
    assert (
        version(name, module=MODULE + "\n    def added(case):\n        return case.x + 5\n")
        == before
    )
    assert version(name, module="\n    # a line above\n" + MODULE) == before


def test_a_function_that_reaches_nothing_of_it_keeps_its_version(version):
    """What it binds itself may bear the names of what stands in the module."""
    assert version("other") == version("other", engine=ENGINE.replace("x + 1", "x + 2"))


def test_values_that_a_function_is_made_with_belong_to_it(version):
    assert version("three") != version("four")


def test_data_files_belong_to_what_names_them(version):
    assert version("reads_data") != version("reads_data", table="1,3\n")
    assert version("measure") == version("measure", table="1,3\n")


def test_a_decorator_is_no_part_of_how_is_measured(version):
    plain = version("measure")
    assert (
        version("measure", module=MODULE.replace("def measure", "@(lambda f: f)\n    def measure"))
        == plain
    )


def test_another_import_under_the_same_name_is_other_code(version):
    engine = "    from itertools import product\n" + ENGINE.replace("x + 1", "product(x)")
    assert version("measure", engine=engine) != version(
        "measure", engine=engine.replace("import product", "import combinations as product")
    )
    assert version("other", engine=engine) == version("other")


def test_a_module_is_renamed_and_moved_without_another_version(version):
    before = {name: version(name) for name in ("measure", "by_attribute", "late", "three", "short")}
    renamed = MODULE.replace(".engine", ".motor").replace("import engine as", "import motor as")
    for name, expected in before.items():
        assert version(name, engine="", motor=ENGINE, module=renamed) == expected
    # Through another module, and one definition in a module of its own.
    through = MODULE.replace("from .engine import (", "from .facade import (")
    assert (
        version("measure", facade="    from .engine import used\n", module=through)
        == (before["measure"])
    )
    helper = "    def helper(x):\n        return x + 1\n"
    split = "    from .parts import helper\n" + ENGINE.replace(helper, "")
    for name, expected in before.items():
        assert version(name, engine=split, parts=helper) == expected


def test_another_way_to_import_is_the_same_code(version):
    assert version("measure") == version("by_attribute") == version("late")


@pytest.mark.parametrize(
    ("old", "new"),
    [("def helper", "def successor"), ("LIMIT", "_BOUND"), ("def used", "def applied")],
)
def test_a_definition_may_be_renamed(version, old, new):
    before, word = version("measure"), (old.split()[-1], new.split()[-1])
    engine, module = ENGINE.replace(*word), MODULE
    if old == "def used":
        module = (
            MODULE.replace("used,  #", "applied as used,  #")
            .replace("import used as", "import applied as")
            .replace("whole.used", "whole.applied")
        )
    assert version("measure", engine=engine, module=module) == before


FUNCTION = """
    def measure(case):
        total = 0
        for {a}, {b} in enumerate(case.rows, start=1):
            total += sum({a} * {c} - {b} for {c} in case.x)
        with open(case.file) as {d}:
            return total, {d}.read(size={a}), (lambda x: x + {b})(1)
"""


def test_local_variables_may_be_renamed_but_not_exchanged(version):
    first = version("measure", module=FUNCTION.format(a="i", b="row", c="x", d="file"))
    assert version("measure", module=FUNCTION.format(a="k", b="line", c="y", d="f")) == first
    turned = FUNCTION.format(a="i", b="row", c="x", d="file").replace(
        "enumerate(case.rows", "map(case.rows"
    )
    assert version("measure", module=turned) != first
    exchanged = FUNCTION.format(a="i", b="row", c="x", d="file").replace(
        "i * x - row", "row * x - i"
    )
    assert version("measure", module=exchanged) != first


@pytest.mark.parametrize(
    "change",
    [
        ("size=", "length="),  # the name of an argument
        ("case.rows", "case.lines"),  # an attribute
        ("return total", "return size"),  # a name that is none of its own
    ],
)
def test_names_that_others_see_belong_to_the_code(version, change):
    text = FUNCTION.format(a="i", b="row", c="x", d="file")
    assert version("measure", module=text) != version("measure", module=text.replace(*change))


TWO = """
    def small(x):
        return x + 1

    def large(x):
        return x + 10

    def first(x):
        return {} (x)

    def second(x):
        return {} (x)

    def measure(case):
        return first(case) - second(case)
"""


def test_two_functions_of_one_form_that_exchange_their_helpers_are_other_code(version):
    """Each looks like the other, and what is reached is the same: only who reaches what differs."""
    assert version("measure", module=TWO.format("small", "large")) != version(
        "measure", module=TWO.format("large", "small")
    )


CIRCLE = """
    def even(n):
        return n == 0 or odd(n - 1)

    def odd(n):
        return n != 0 and even(n - 1)

    def measure(case):
        return even(case.n)
"""


def test_functions_that_call_each_other(version):
    before = version("measure", module=CIRCLE)
    assert version("measure", module=CIRCLE.replace("even", "gerade")) == before
    assert version("measure", module=CIRCLE.replace("and even", "and odd")) != before
    assert version("measure", module=CIRCLE.replace("return even", "return odd")) != before


def test_annotations_are_no_part_but_where_they_change_a_class(version):
    typed = ENGINE.replace("def helper(x):", "def helper(x: int) -> int:").replace(
        "LIMIT = 3", "LIMIT: int = 3"
    )
    assert version("measure", engine=typed) == version("measure")
    pair = """
    from dataclasses import dataclass
    from typing import ClassVar

    @dataclass
    class Pair:
        left: int = 0
        right: int = 0

    def measure(case):
        return Pair(case.x)
"""
    before = version("measure", module=pair)
    assert version("measure", module=pair.replace("left: int", "left: float")) == before
    assert version("measure", module=pair.replace("left: int", "left: ClassVar[int]")) != before
    assert version("measure", module=pair.replace("left", "first")) != before
    assert version("measure", module=pair.replace("Pair", "Couple")) == before


def test_what_is_imported_in_a_try_or_a_branch_belongs_to_the_code(version):
    locks = """
    try:
        import fcntl
        locks = fcntl
    except ImportError:
        locks = None

    def measure(case):
        return locks
"""
    assert version("measure", module=locks) != version(
        "measure", module=locks.replace("fcntl", "termios")
    )


METHODS = """
    from dataclasses import dataclass

    @dataclass(frozen=True)
    class Fixed:
        value: int

        def measure(self, case):
            return self.value + case.x

    one, two, again = Fixed(1).measure, Fixed(2).measure, Fixed(1).measure
"""


def test_what_a_method_is_bound_to_belongs_to_it(version):
    assert version("one", module=METHODS) == version("again", module=METHODS)
    assert version("one", module=METHODS) != version("two", module=METHODS)


def test_bound_values_belong_to_their_names(version):
    swapped = MODULE.replace("factory(3), factory(4)", "factory(4), factory(3)")
    assert version("three", module=swapped) == version("four")
    assert versions._version(partial(test_bound_values_belong_to_their_names, a=1, b=2)) != (
        versions._version(partial(test_bound_values_belong_to_their_names, a=2, b=1))
    )


def test_every_table_of_the_project_belongs_to_a_claim():
    from depthlaw.theory.claims.definition import registry

    walk = versions._Walk()
    for claim in registry().values():
        walk.function(claim.measured, itself=True)
        if claim.proof is not None:
            walk.function(claim.proof, itself=True)
    reached = {text.rpartition(" ")[2] for _, named in walk.entries() for text, _ in named}
    tables = {
        path.name: hashlib.sha256(path.read_bytes()).hexdigest()
        for folder in {p.parent for p in versions.source_files()}
        for path in folder.glob("*.csv")
    }
    assert len(tables) >= 7
    # The advisor alone reads these: devices, and verdicts, which are read off the claims. Pages
    # alone read the settings of trainings, which a test compares with the recipes.
    unreached = sorted(name for name, content in tables.items() if content not in reached)
    assert unreached == ["hardware.csv", "training_table.csv", "verdicts.csv"]


def test_the_decorated_claims_have_different_versions_where_they_measure_differently():
    from depthlaw.theory.claims.definition import registry

    claims = registry().values()
    found = {versions.code_version(c.measured) for c in claims if c.measured is not None}
    assert len(found) > len(claims) / 2


def test_what_derives_from_the_files_is_kept_for_these_files_only(tmp_path, monkeypatch):
    monkeypatch.setattr(versions, "user_cache_path", lambda name: tmp_path / name)
    versions.write_cache("example", {"a": 1})
    assert versions.read_cache("example") == {"a": 1}
    monkeypatch.setattr(versions, "tree_version", lambda: "another")
    assert versions.read_cache("example") is None
    versions.write_cache("example", {"a": 2})
    assert len(list(Path(tmp_path / "depthlaw").glob("example-*.json"))) == 1


# A program, and what replaces what in it: the value differs, and so must the version.
OTHER = {
    "one of two equal exceptions": (
        """
        class One(Exception): pass
        class Two(Exception): pass
        def fails(c): raise One
        def measure(c):
            try: fails(c)
            except Two: return 2
            except Exception: return 0
        """,
        "except Two",
        "except One",
    ),
    "one of two equal sentinels": (
        """
        A = object()
        B = object()
        def get(c): return A
        def measure(c): return get(c) is B
        """,
        "is B",
        "is A",
    ),
    "an import in a try": (
        """
        try: from .engine import used as g
        except ImportError: g = None
        def measure(c): return g(c)
        """,
        "used as g",
        "helper as g",
    ),
    "an import in a branch": (
        """
        def measure(c):
            if c: from .engine import used as g
            else: from .engine import unused as g
            return g(c)
        """,
        "used as g\n            else",
        "helper as g\n            else",
    ),
    "an import over a parameter": (
        """
        def measure(c, g=None):
            from .engine import used as g
            return g(c)
        """,
        "used as g",
        "helper as g",
    ),
    "an import in a class": (
        """
        class K:
            from .engine import used as g
        def measure(c): return K.g(c)
        """,
        "used as g",
        "helper as g",
    ),
    "an import that is wrapped": (
        """
        from .engine import used as g
        g = [g]
        def measure(c): return g[0](c)
        """,
        "used as g",
        "helper as g",
    ),
    "a star": (
        """
        from .engine import *
        def measure(c): return used(c)
        """,
        "import *",
        "import unused as used",
    ),
    "whether a library is there": (
        """
        def measure(c):
            try: import json
            except ImportError: return 0
            return 1
        """,
        "json",
        "nosuchlibrary",
    ),
    "a loop that fills a table": (
        """
        TABLE = {}
        for k in range(5): TABLE[k] = k + 1
        def measure(c): return TABLE[3]
        """,
        "k + 1",
        "k + 2",
    ),
    "an exchange": (
        """
        A = 1
        B = 2
        A, B = B, A
        def measure(c): return A
        """,
        "B = 2",
        "B = 3",
    ),
    "a loop over what was there": (
        """
        total = 5
        for i in range(3): total += i; last = total
        def measure(c): return last
        """,
        "total = 5",
        "total = 6",
    ),
    "a class with a name from around it": (
        """
        LIMIT = 3
        class K: LIMIT = LIMIT
        def measure(c): return K.LIMIT
        """,
        "LIMIT = 3",
        "LIMIT = 4",
    ),
    "a base for a decorator": (
        """
        def wrap(k): return k
        class A(wrap and object): pass
        def measure(c): return A.__bases__
        """,
        "wrap and object",
        "object",
    ),
    "the decorator of what a closure holds": (
        """
        from functools import wraps
        def double(f):
            @wraps(f)
            def g(c): return 2 * f(c)
            return g
        @double
        def held(c): return c
        def factory(f): return lambda c: f(c)
        measure = factory(held)
        """,
        "2 * f",
        "3 * f",
    ),
    "the other lambda of a line": (
        """
        a, measure = lambda c: 1, lambda c: 2
        """,
        "a, measure",
        "measure, a",
    ),
    "a default that a loop gives": (
        """
        T = {}
        for k in (1, 2):
            def measure(c, k=k): return c * k
            T[k] = measure
        measure = T[1]
        """,
        "T[1]",
        "T[2]",
    ),
    "what is free and what is of the module": (
        """
        def a(x): return x + 1
        def b(x): return x + 10
        def factory(x, y):
            a = x; b = y
            def inner(c): return a(c) - b(c)
            return inner
        measure = factory(a, b)
        """,
        "a(c) - b(c)",
        "b(c) - a(c)",
    ),
    "the assumptions of a symbol": (
        """
        from sympy import Symbol
        def factory(s):
            return lambda c: s.is_positive
        measure = factory(Symbol("x"))
        """,
        'Symbol("x")',
        'Symbol("x", positive=True)',
    ),
    "a list for a tuple": (
        """
        def factory(s):
            return lambda c: str(s)
        measure = factory([1])
        """,
        "[1]",
        "(1,)",
    ),
    "an array": (
        """
        import numpy
        def factory(s):
            return lambda c: s.sum()
        measure = factory(numpy.arange(2000))
        """,
        "2000)",
        "2000) % 1999",
    ),
}


@pytest.mark.parametrize("what", OTHER)
def test_what_computes_something_else_has_another_version(version, what):
    text, old, new = OTHER[what]
    assert old in text
    assert version("measure", module=text) != version("measure", module=text.replace(old, new))


ROUNDS = """
    def f0(w): return 0 if not w else f1(w[1:]) if w[0] == "a" else f0(w[1:])
    def f1(w): return 0 if not w else f{}(w[1:]) if w[0] == "a" else f0(w[1:])
    def f2(w): return {} if not w else f{}(w[1:]) if w[0] == "a" else f{}(w[1:])
    def f3(w): return {} if not w else f{}(w[1:]) if w[0] == "a" else f{}(w[1:])
    def measure(c): return f0("aaaab")
"""


def test_circles_that_differ_only_after_many_steps(version):
    assert version("measure", module=ROUNDS.format(2, 0, 1, 3, 1, 2, 0)) != version(
        "measure", module=ROUNDS.format(3, 1, 3, 1, 0, 0, 2)
    )


SAME = {
    "another name in a closure": (
        """
        def factory(n):
            k = n + 1
            def inner(c): return c * k
            return inner
        measure = factory(3)
        """,
        "k",
        "much",
    ),
    "a function of a library by its module": (
        """
        import math
        def measure(c): return math.sqrt(c)
        """,
        "import math\n        def measure(c): return math.sqrt",
        "from math import sqrt as root\n        def measure(c): return root",
    ),
    "the order of a set": (
        """
        def factory(s):
            return lambda c: c in s
        measure = factory(frozenset({"a", "b", "c"}))
        """,
        '{"a", "b", "c"}',
        '{"c", "b", "a"}',
    ),
}


@pytest.mark.parametrize("what", SAME)
def test_what_computes_the_same_keeps_its_version(version, what):
    text, old, new = SAME[what]
    assert old in text
    assert version("measure", module=text) == version("measure", module=text.replace(old, new))


BOUND = """
    from collections import Counter
    from typing import NamedTuple
    class Pair(NamedTuple):
        left: int
        right: int
    def factory(s):
        return lambda c: s
    measure = factory({})
"""


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("Pair(1, 2)", "Pair(2, 1)"),
        ("Pair(1, 2)", "(1, 2)"),
        ("Counter(a=1)", "Counter(a=2)"),
        ("Counter(a=1)", "dict(a=1)"),
        ("range(3)", "range(4)"),
        ("b'a'", "b'b'"),
        ("1j", "2j"),
        ("1", "True"),
        ("0.0", "-0.0"),
        ("frozenset({1})", "{1}"),
    ],
)
def test_values_of_many_kinds_say_what_they_are(version, one, other):
    assert version("measure", module=BOUND.format(one)) == (
        version("measure", module=BOUND.format(one))
    )
    assert version("measure", module=BOUND.format(one)) != (
        version("measure", module=BOUND.format(other))
    )


def test_a_value_that_does_not_say_what_it_is_is_refused(version):
    with pytest.raises(UsageError, match="holds a Random, which does not say what it is"):
        version(
            "measure",
            module="""
        from random import Random
        def factory(s):
            return lambda c: s.random()
        measure = factory(Random(1))
        """,
        )


def test_what_is_remembered_tells_methods_of_two_objects_apart():
    from depthlaw.theory.claims.values import Case

    assert versions._plain_name(Case(x=1).fields) != versions._plain_name(Case(x=2).fields)


def test_a_function_of_a_script_is_the_same_in_the_process_that_runs_it_and_in_its_workers():
    def measure(case):
        return case

    found = []
    for home in ("__main__", "script"):
        measure.__module__ = home
        found.append(versions._version(measure))
    assert found[0] == found[1]
    measure.__qualname__ = "another"
    assert versions._version(measure) != found[0]


@pytest.mark.parametrize("maker", ["claim", "family"])
def test_what_a_claim_is_for_is_no_part_of_the_code_that_reaches_it(version, maker):
    made = """
        from functools import partial
        from depthlaw.theory.claims import claim
        family = partial(claim, holds_for="all")
        def stated():
            return {maker}(3, control=4{label})
        def measure(case):
            return stated()
        """
    labels = ("", ', cited="A line."', ', supports="topic/key"')
    assert (
        len({version("measure", module=made.format(maker=maker, label=label)) for label in labels})
        == 1
    )
    assert version("measure", module=made.format(maker=maker, label=", seeds=2")) != (
        version("measure", module=made.format(maker=maker, label=""))
    )


def test_arguments_of_these_names_belong_to_the_code_of_any_other_call(version):
    found = [
        version(
            "measure",
            module=f"""
        def probes(supports):
            return supports
        def measure(case):
            return probes(supports={number})
        """,
        )
        for number in (0, 1)
    ]
    assert found[0] != found[1]
    found = [
        version(
            "measure",
            module=f"""
        def measure(case):
            return dict(cited={number})
        """,
        )
        for number in (0, 1)
    ]
    assert found[0] != found[1]


def test_a_relation_that_is_not_evaluated_is_the_same_code(version):
    found = [
        version(
            "measure",
            module=f"""
        from {home} import Le
        def measure(case):
            return Le(case.x, 3)
        """,
        )
        for home in ("sympy", "depthlaw.theory.claims.relations")
    ]
    assert found[0] == found[1]

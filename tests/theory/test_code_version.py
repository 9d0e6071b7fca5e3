"""The code version of a claim: it follows what a function reaches, and nothing else."""

import hashlib
import importlib
import sys
import textwrap
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
    for cached in vars(versions).values():
        if hasattr(cached, "cache_clear"):
            cached.cache_clear()


REACHING = ["measure", "by_attribute", "late", "three", "short"]


@pytest.mark.parametrize("name", [*REACHING, "other"])
def test_the_version_follows_what_is_reached_and_not_comments_layout_or_new_functions(
    version, name
):
    """`other` reaches nothing of the engine, and binds names of the module itself."""
    before = version(name)
    for old, new in (("x + 1", "x + 2"), ("LIMIT = 3", "LIMIT = 4")):
        assert (version(name, engine=ENGINE.replace(old, new)) == before) is (name == "other")
    documented = ENGINE.replace(
        "return helper(x)", '"""Twice."""\n        return helper(  # why\n            x)'
    )
    assert version(name, engine=documented) == before
    assert version(name, engine=ENGINE.replace("return x\n", "return -x\n")) == before
    added = MODULE + "\n    def added(case):\n        return case.x + 5\n"
    decorated = MODULE.replace("def measure", "@(lambda f: f)\n    def measure")
    for module in (added, "\n    # a line above\n" + MODULE, decorated):
        assert version(name, module=module) == before


def test_data_files_belong_to_what_names_them(version):
    assert version("reads_data") != version("reads_data", table="1,3\n")
    assert version("measure") == version("measure", table="1,3\n")


def test_modules_and_definitions_are_renamed_and_moved_without_another_version(version):
    before = {name: version(name) for name in REACHING}
    assert before["measure"] == before["by_attribute"] == before["late"]
    renamed = MODULE.replace(".engine", ".motor").replace("import engine as", "import motor as")
    for name, expected in before.items():
        assert version(name, engine="", motor=ENGINE, module=renamed) == expected
    applied = MODULE.replace("used,  #", "applied as used,  #")
    engine = ENGINE.replace("used", "applied")
    assert version("measure", engine=engine, module=applied) == before["measure"]
    # Through another module, and one definition in a module of its own.
    through = MODULE.replace("from .engine import (", "from .facade import (")
    facade = "    from .engine import used\n"
    assert version("measure", facade=facade, module=through) == before["measure"]
    helper = "    def helper(x):\n        return x + 1\n"
    split = "    from .parts import helper\n" + ENGINE.replace(helper, "")
    for name, expected in before.items():
        assert version(name, engine=split, parts=helper) == expected


# Programs: what each is about, what replaces what in it ("=" where it computes the same, "!" where
# it computes something else, so that the version must differ), and the text.
PROGRAMS = """
## local variables
= first => k ;; second => line ;; third => y ;; fourth => f
! enumerate(case.rows => map(case.rows
! first * third - second => second * third - first
! size= => length=
! case.rows => case.lines
! return total => return size
def measure(case):
    total = 0
    for first, second in enumerate(case.rows, start=1):
        total += sum(first * third - second for third in case.x)
    with open(case.file) as fourth:
        return total, fourth.read(size=first), (lambda x: x + second)(1)

## two functions of one form that exchange their helpers
! small (x) => both (x) ;; large (x) => small (x) ;; both (x) => large (x)
def small(x): return x + 1
def large(x): return x + 10
def one(x): return small (x)
def two(x): return large (x)
def measure(case): return one(case) - two(case)

## functions that call each other
= even => gerade
! and even => and odd
! return even => return odd
def even(n): return n == 0 or odd(n - 1)
def odd(n): return n != 0 and even(n - 1)
def measure(case): return even(case.n)

## annotations
= helper(x): => helper(x: int) -> int:
= LIMIT = 3 => LIMIT: int = 3
= LIMIT => _BOUND
= helper => successor
LIMIT = 3
def helper(x): return x + LIMIT
def measure(case): return helper(case)

## annotations that make a class
= left: int => left: float
= Pair => Couple
! left: int => left: ClassVar[int]
! left => first
from dataclasses import dataclass
from typing import ClassVar
@dataclass
class Pair:
    left: int = 0
    right: int = 0
def measure(case): return Pair(case.x)

## another import under the same name
! import product => import combinations as product
from itertools import product
def helper(x): return product(x)
def measure(case): return helper(case)

## a library in a try
! fcntl => termios
try:
    import fcntl
    locks = fcntl
except ImportError: locks = None
def measure(case): return locks

## one of two equal exceptions
! except Two => except One
class One(Exception): pass
class Two(Exception): pass
def fails(c): raise One
def measure(c):
    try: fails(c)
    except Two: return 2
    except Exception: return 0

## one of two equal sentinels
! is B => is A
A = object()
B = object()
def get(c): return A
def measure(c): return get(c) is B

## an import in a try
! used as g => helper as g
try: from .engine import used as g
except ImportError: g = None
def measure(c): return g(c)

## an import in a branch
! import used as => import helper as
def measure(c):
    if c: from .engine import used as g
    else: from .engine import unused as g
    return g(c)

## an import over a parameter
! used as g => helper as g
def measure(c, g=None):
    from .engine import used as g
    return g(c)

## an import in a class
! used as g => helper as g
class K:
    from .engine import used as g
def measure(c): return K.g(c)

## an import that is wrapped
! used as g => helper as g
from .engine import used as g
g = [g]
def measure(c): return g[0](c)

## a star
! import * => import unused as used
from .engine import *
def measure(c): return used(c)

## whether a library is there
! json => nosuchlibrary
def measure(c):
    try: import json
    except ImportError: return 0
    return 1

## a loop that fills a table
! k + 1 => k + 2
TABLE = {}
for k in range(5): TABLE[k] = k + 1
def measure(c): return TABLE[3]

## an exchange
! B = 2 => B = 3
A = 1
B = 2
A, B = B, A
def measure(c): return A

## a loop over what was there
! total = 5 => total = 6
total = 5
for i in range(3): total += i; last = total
def measure(c): return last

## a class with a name from around it
! LIMIT = 3 => LIMIT = 4
LIMIT = 3
class K: LIMIT = LIMIT
def measure(c): return K.LIMIT

## a base for a decorator
! wrap and object => object
def wrap(k): return k
class A(wrap and object): pass
def measure(c): return A.__bases__

## the decorator of what a closure holds
! 2 * f => 3 * f
from functools import wraps
def double(f):
    @wraps(f)
    def g(c): return 2 * f(c)
    return g
@double
def held(c): return c
def factory(f): return lambda c: f(c)
measure = factory(held)

## the other lambda of a line
! a, measure => measure, a
a, measure = lambda c: 1, lambda c: 2

## a default that a loop gives
! T[1] => T[2]
T = {}
for k in (1, 2):
    def measure(c, k=k): return c * k
    T[k] = measure
measure = T[1]

## what is free and what is of the module
! a(c) - b(c) => b(c) - a(c)
def a(x): return x + 1
def b(x): return x + 10
def factory(x, y):
    a = x; b = y
    def inner(c): return a(c) - b(c)
    return inner
measure = factory(a, b)

## the assumptions of a symbol
! Symbol("x") => Symbol("x", positive=True)
from sympy import Symbol
def factory(s): return lambda c: s.is_positive
measure = factory(Symbol("x"))

## an array
! 2000) => 2000) % 1999
import numpy
def factory(s): return lambda c: s.sum()
measure = factory(numpy.arange(2000))

## another name in a closure
= k => much
! factory(3) => factory(4)
def factory(n):
    k = n + 1
    def inner(c): return c * k
    return inner
measure = factory(3)

## what a partial binds
! a=1, b=2 => a=2, b=1
from functools import partial
def both(c, a, b): return a * c - b
measure = partial(both, a=1, b=2)

## the object of a method
= Fixed => Bound
! Fixed(1) => Fixed(2)
from dataclasses import dataclass
@dataclass(frozen=True)
class Fixed:
    value: int
    def measure(self, case): return self.value + case.x
measure = Fixed(1).measure

## a function of a library by its module
= import math => from math import sqrt as root ;; math.sqrt => root
import math
def measure(c): return math.sqrt(c)

## the order of a set
= {"a", "b", "c"} => {"c", "b", "a"}
def factory(s): return lambda c: c in s
measure = factory(frozenset({"a", "b", "c"}))

## what a claim is for
= control=4 => control=4, cited="A line."
= control=4 => control=4, supports="topic/key"
! control=4 => control=4, seeds=2
from depthlaw.theory.claims import claim
def stated(): return claim(3, control=4)
def measure(case): return stated()

## what a claim of a family is for
= control=4 => control=4, cited="A line."
= control=4 => control=4, supports="topic/key"
! control=4 => control=4, seeds=2
from functools import partial
from depthlaw.theory.claims import claim
family = partial(claim, holds_for="all")
def stated(): return family(3, control=4)
def measure(case): return stated()

## arguments of these names in any other call
! supports=0 => supports=1
! cited=0 => cited=1
def probes(supports): return supports
def measure(case): return probes(supports=0), dict(cited=0)

## a relation that is not evaluated
= sympy => depthlaw.theory.claims.relations
from sympy import Le
def measure(case): return Le(case.x, 3)
"""


def changes():
    """(text, changed text, whether both compute the same) of every change of a program."""
    for program in PROGRAMS.strip().removeprefix("## ").split("\n## "):
        title, *lines = program.split("\n")
        number = sum(line.startswith(("= ", "! ")) for line in lines)
        for change in lines[:number]:
            changed = text = "\n".join(lines[number:])
            for pair in change[2:].split(" ;; "):
                old, new = pair.split(" => ")
                assert old in changed, f"{title}: {old}"
                changed = changed.replace(old, new)
            yield pytest.param(text, changed, change[0] == "=", id=f"{title}: {change}")


@pytest.mark.parametrize(("text", "changed", "same"), list(changes()))
def test_a_program_has_another_version_exactly_where_it_computes_something_else(
    version, text, changed, same
):
    assert (version("measure", module=text) == version("measure", module=changed)) is same


def test_circles_that_differ_only_after_many_steps(version):
    rounds = """
    def f0(w): return 0 if not w else f1(w[1:]) if w[0] == "a" else f0(w[1:])
    def f1(w): return 0 if not w else f{}(w[1:]) if w[0] == "a" else f0(w[1:])
    def f2(w): return {} if not w else f{}(w[1:]) if w[0] == "a" else f{}(w[1:])
    def f3(w): return {} if not w else f{}(w[1:]) if w[0] == "a" else f{}(w[1:])
    def measure(c): return f0("aaaab")
    """
    assert version("measure", module=rounds.format(2, 0, 1, 3, 1, 2, 0)) != version(
        "measure", module=rounds.format(3, 1, 3, 1, 0, 0, 2)
    )


BOUND = """
    from random import Random
    def factory(s):
        return lambda c: s
    measure = factory({})
"""


# Lists and tuples, dicts, strings that look like them, and numbers that are equal.
VALUES = """
    (1, 2) | (2, 1) | [1, 2] | '[1, 2]' | dict(a=1) | dict(a=2)
    | range(3) | range(4) | b'a' | b'b' | 1j | 2j | 1 | True | 0.0 | -0.0 | frozenset({1}) | {1}
"""


def test_values_of_many_kinds_say_what_they_are(version):
    first, again = (
        [version("measure", module=BOUND.format(value.strip())) for value in VALUES.split("|")]
        for _ in range(2)
    )
    assert first == again
    assert len(set(first)) == len(first)
    with pytest.raises(UsageError, match="holds a Random, which does not say what it is"):
        version("measure", module=BOUND.format("Random(1)"))


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
    # The advisor alone reads these: advice, rules and their uses, loops and hybrids, facts, the
    # atlas, devices, trainings, what a verdict is about, and verdicts, read off the claims. Pages
    # alone read the settings of trainings, which a test compares with the recipes, what became of
    # withdrawn claims, and what sources are known for. An audit alone reads the last four.
    assert {name for name, content in tables.items() if content not in reached} == {
        *("advice.csv", "bounds.csv", "caveats.csv", "hardware.csv", "rules.csv", "tasks.csv"),
        *("hybrids.csv", "loop_laws.csv", "loops.csv", "mixers.csv", "names.csv"),
        *("facts.csv", "training_runs.csv", "uses.csv"),
        *("known_bounds.csv", "training_table.csv", "verdicts.csv", "withdrawn.csv"),
        *("known_answers.csv", "known_rules.csv", "rungs.csv", "theory_beside.csv"),
    }


def test_what_derives_from_the_files_is_kept_for_these_files_only(tmp_path, monkeypatch):
    monkeypatch.setattr(versions, "user_cache_path", lambda name: tmp_path / name)
    versions.write_cache("example", {"a": 1})
    assert versions.read_cache("example") == {"a": 1}
    monkeypatch.setattr(versions, "tree_version", lambda: "another")
    assert versions.read_cache("example") is None
    versions.write_cache("example", {"a": 2})
    assert versions.read_cache("example") is None, "the files are not those that were read"
    monkeypatch.setattr(versions, "_hash_of_tree", lambda: "another")
    versions.write_cache("example", {"a": 2})
    assert versions.read_cache("example") == {"a": 2}
    assert len(list(Path(tmp_path / "depthlaw").glob("example-*.json"))) == 1


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

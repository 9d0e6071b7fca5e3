"""The code version of a claim: it follows what a function reaches, and nothing else."""
import importlib
import sys
import textwrap
from functools import partial
from pathlib import Path

import pytest

from depthlaw.theory import code_version as versions

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

    def found(name: str, engine: str = ENGINE, module: str = MODULE, table: str = "1,2\n") -> str:
        for file, text in (("engine.py", engine), ("module.py", module), ("table.csv", table)):
            (package / file).write_text(textwrap.dedent(text))
        for loaded in [key for key in sys.modules if key.startswith("depthlaw_example")]:
            del sys.modules[loaded]
        importlib.invalidate_caches()
        for cached in (versions._module, versions._tree, versions._functions, versions._globals,
                       versions._spec_path):
            cached.cache_clear()
        return versions._version(getattr(importlib.import_module("depthlaw_example.module"), name))

    yield found
    for loaded in [key for key in sys.modules if key.startswith("depthlaw_example")]:
        del sys.modules[loaded]


@pytest.mark.parametrize("name", ["measure", "by_attribute", "late", "three", "short"])
@pytest.mark.parametrize(("old", "new"), [("x + 1", "x + 2"), ("LIMIT = 3", "LIMIT = 4")])
def test_a_change_of_what_is_reached_changes_the_version(version, name, old, new):
    assert version(name) != version(name, engine=ENGINE.replace(old, new))


@pytest.mark.parametrize("name", ["measure", "by_attribute", "late", "three", "short", "other"])
def test_comments_docstrings_layout_and_new_functions_change_nothing(version, name):
    before = version(name)
    documented = ENGINE.replace("return helper(x)", '"""Twice."""\n        return helper(  # why\n '
                                                    '           x)')
    assert version(name, engine=documented) == before
    assert version(name, engine=ENGINE.replace("return x\n", "return -x\n")) == before
    assert version(name,
                   module=MODULE + "\n    def added(case):\n        return case.x + 5\n") == before
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
    assert version("measure",
                   module=MODULE.replace("def measure", "@(lambda f: f)\n    def measure")) == plain


def test_another_import_under_the_same_name_is_other_code(version):
    engine = "    from itertools import product\n" + ENGINE.replace("x + 1", "product(x)")
    assert version("measure", engine=engine) != version(
        "measure", engine=engine.replace("import product", "import combinations as product"))
    assert version("other", engine=engine) == version("other")


def test_bound_values_belong_to_their_names(version):
    swapped = MODULE.replace("factory(3), factory(4)", "factory(4), factory(3)")
    assert version("three", module=swapped) == version("four")
    assert versions._version(partial(test_bound_values_belong_to_their_names, a=1, b=2)) != (
        versions._version(partial(test_bound_values_belong_to_their_names, a=2, b=1)))


def test_every_table_of_the_project_belongs_to_a_claim():
    from depthlaw.theory.claim import registry

    found: dict[str, str] = {}
    for claim in registry().values():
        versions._reach_function(claim.measured, found)
        if claim.proof is not None:
            versions._reach_function(claim.proof, found)
    reached = {key.rpartition(" ")[2] for key in found}
    tables = {path.name for folder in {p.parent for p in versions.source_files()}
              for path in folder.glob("*.csv")}
    assert len(tables) >= 7
    # The advisor alone reads these: devices, and verdicts, which are read off the claims.
    assert sorted(tables - reached) == ["hardware.csv", "verdicts.csv"]


def test_the_decorated_claims_have_different_versions_where_they_measure_differently():
    from depthlaw.theory.claim import registry

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

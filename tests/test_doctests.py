"""The examples in the docstrings, run on the installed modules, so that they hold for the wheel as
for the tree."""

from __future__ import annotations

import doctest
import pkgutil
from importlib import import_module

import pytest

import depthlaw.advisor
import depthlaw.empirics
import depthlaw.ledger
import depthlaw.theory

MODULES = sorted(
    {
        module.name
        for package in (depthlaw.advisor, depthlaw.theory, depthlaw.empirics, depthlaw.ledger)
        for module in pkgutil.walk_packages(package.__path__, package.__name__ + ".")
    }
)


@pytest.mark.parametrize("name", MODULES)
def test_examples_of_a_module(name: str, capsys: pytest.CaptureFixture[str]) -> None:
    failed = doctest.testmod(import_module(name), optionflags=doctest.FAIL_FAST).failed
    assert failed == 0, capsys.readouterr().out


def test_there_are_examples() -> None:
    examples = doctest.DocTestFinder(exclude_empty=True).find(
        import_module("depthlaw.theory.claims.values")
    )
    assert any(example.examples for example in examples)

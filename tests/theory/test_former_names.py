"""Files that were written for 0.3.0 import claims from where they were."""

import importlib
import sys

import pytest

from depthlaw.theory.claims import definition, symbols


@pytest.mark.parametrize(("former", "now"), [("claim", definition), ("symbols", symbols)])
def test_a_former_name_hands_out_the_same_and_says_the_new_one(former, now):
    sys.modules.pop(f"depthlaw.theory.{former}", None)
    with pytest.warns(FutureWarning, match=r"is now depthlaw\.theory\.claims"):
        module = importlib.import_module(f"depthlaw.theory.{former}")
    assert module.__all__
    assert all(getattr(module, name) is getattr(now, name) for name in module.__all__)

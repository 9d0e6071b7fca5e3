"""Files that were written for 0.3.0 import claims from where they were."""

import importlib
import subprocess
import sys

import pytest

from depthlaw.theory.claims import definition, symbols

FILE = """
from depthlaw.theory.claim import Case, Control, Exact, Source, claim
from depthlaw.theory.symbols import depth, quantity
from sympy import Eq

double = quantity("double", "x", "twice the depth")


@claim(Eq(double, 2 * depth), source=Source("me", "here"), cases={"quick": [Case(depth=3)]},
       control=Control(Case(depth=3), "three times", statement=Eq(double, 3 * depth)))
def doubled(case: Case) -> Exact:
    \"\"\"Twice the depth.

    For every depth the double is twice the depth.
    \"\"\"
    return Exact(case.depth + case.depth)
"""


@pytest.mark.parametrize(("former", "now"), [("claim", definition), ("symbols", symbols)])
def test_a_former_name_hands_out_the_same_and_says_the_new_one(former, now):
    sys.modules.pop(f"depthlaw.theory.{former}", None)
    with pytest.warns(FutureWarning, match=r"is now depthlaw\.theory\.claims"):
        module = importlib.import_module(f"depthlaw.theory.{former}")
    assert module.__all__
    assert all(getattr(module, name) is getattr(now, name) for name in module.__all__)


def test_a_file_of_claims_of_before_is_verified(tmp_path):
    file = tmp_path / "mine.py"
    file.write_text(FILE)
    done = subprocess.run(
        [
            sys.executable,
            "-m",
            "depthlaw",
            "verify",
            "--claims",
            str(file),
            "--results",
            str(tmp_path / "records"),
        ],
        capture_output=True,
        text=True,
    )
    assert done.returncode == 0, done.stderr
    assert "HOLDS" in done.stdout
    assert done.stderr.count("FutureWarning") <= 2

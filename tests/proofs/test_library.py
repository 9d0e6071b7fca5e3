"""The proofs as a library: what docs/proofs.md shows others to write."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from depthlaw.theory.formal import prove

pytestmark = pytest.mark.timeout(7200)
PAGE = Path(__file__).parents[2] / "docs" / "proofs.md"


def test_the_page_shows_a_file_that_builds_on_the_proofs(compiled):
    (shown,) = re.findall(r"^```coq\n(.*?)^```", PAGE.read_text(encoding="utf-8"), re.M | re.S)
    (compiled / "Other.v").write_text(shown)
    prove.coqc(compiled, "Other")
    (compiled / "Wrong.v").write_text(shown.replace("<-> 12 <= H", "<-> 11 <= H"))
    with pytest.raises(prove.NotAcceptedError):
        prove.coqc(compiled, "Wrong")

"""The appendix of the reference ledger, written once."""

from __future__ import annotations

from pathlib import Path

import pytest

from depthlaw.ledger.publish.appendix.document import write_appendix
from depthlaw.ledger.verdicts.reference_ledger import shipped
from depthlaw.theory.claims.definition import registry


@pytest.fixture(scope="session")
def appendix(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Its folder."""
    store = shipped()
    assert store is not None
    folder = tmp_path_factory.mktemp("written") / "appendix"
    write_appendix(folder, registry(), store)
    return folder

"""What the prover compiled, once."""

from __future__ import annotations

import sys
from pathlib import Path

import pytest

from depthlaw.theory.claims.formal import needed
from depthlaw.theory.formal import prove

sys.path.insert(0, str(Path(__file__).parent))  # for modules beside the tests


@pytest.fixture(scope="session")
def compiled(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with the files that other files or claims build on."""
    folder = tmp_path_factory.mktemp("compiled")
    wanted = {needs for name in prove.project() for needs in needed(name) if needs != name}
    wanted |= {name for claim in prove.linked().values() for name in claim.formal.files}
    prove.compile_files(folder, [name for name in prove.project() if name in wanted])
    return folder

"""What the tests of `depthlaw tasks check` share."""

from __future__ import annotations

import json
from collections.abc import Callable
from typing import Any

import pytest

from depthlaw.ledger.cli.arguments import main


@pytest.fixture
def checked(tmp_path, capsys) -> Callable[..., tuple[int, Any]]:
    """Exit code of a net or a bound and what is printed, or the JSON."""

    def run(net: dict, *options: str) -> tuple[int, Any]:
        file = tmp_path / "net.json"
        file.write_text(json.dumps(net))
        code = main(["tasks", "check", str(file), *options])
        out = capsys.readouterr()
        return code, json.loads(out.out) if "--json" in options else out.out + out.err

    return run

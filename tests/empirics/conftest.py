"""Modules beside the tests are importable from them; what a rule answers is computed once a run."""

import os
import sys
from functools import lru_cache
from pathlib import Path

import pytest

sys.path.insert(0, str(Path(__file__).parent))


@pytest.fixture
def rules_once(tmp_path_factory, monkeypatch):
    """What a rule answers, such as the local baseline of a radius, is computed by the first test
    that asks and read by all others, in whatever worker they run."""
    from depthlaw.empirics.trained_depth import net_answers
    from depthlaw.empirics.training import depth_search

    folder, computed = tmp_path_factory.getbasetemp(), net_answers.by_rule
    if "PYTEST_XDIST_WORKER" in os.environ:
        folder = folder.parent

    @lru_cache
    def by_rule(*asked):
        place = folder / "rules" / "-".join(map(str, asked))
        with depth_search.alone(place):
            found = depth_search._read(place.with_suffix(".json"))
            if found is None:
                found = computed(*asked)
                depth_search._write(place.with_suffix(".json"), found)
        return found

    monkeypatch.setattr(net_answers, "by_rule", by_rule)

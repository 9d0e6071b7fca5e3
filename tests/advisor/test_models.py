"""The table of shapes: its rows are consistent, and looking near a budget finds what is there."""
from __future__ import annotations

from depthlaw.advisor.models import models, models_near

STATUS = {"seen", "seen (secondary)", "mixed", "recalled"}


def test_rows_are_unique_complete_and_marked() -> None:
    rows = models()
    assert len({m.name for m in rows}) == len(rows) == 130
    assert {m.status for m in rows} == STATUS
    assert all(m.source and m.family and m.kind for m in rows)
    assert all(min(m.layers, m.width, m.heads, m.parameters) > 0 for m in rows)


def test_counts_follow_12_l_d2_for_gpt2() -> None:
    exact = [m for m in models() if m.family in ("GPT-2", "OPT", "Pythia")]
    assert all(m.parameters == 12 * m.layers * m.width**2 for m in exact)


def test_near_a_budget_only_dense_decoders_within_the_factor() -> None:
    near = models_near(1.3e9, 2)
    assert near == sorted(near, key=lambda m: (m.layers, m.parameters))
    assert {m.kind for m in near} == {"decoder"}
    assert all(0.65e9 <= m.parameters <= 2.6e9 for m in near)
    assert {"OLMo-1B", "MobileLLM-1.5B"} <= {m.name for m in near}
    assert models_near(1e3, 2) == []

"""docs/counting.md: listed models recounted, with a reason for each that differs."""

from __future__ import annotations

import pytest

from depthlaw.advisor.counting import weights
from depthlaw.advisor.models import architecture
from depthlaw.ledger.publish.site.count_comparison import part, recounts, reported_size


def test_every_recount_is_what_transformers_has() -> None:
    built = [r for r in recounts() if r.built is not None]
    assert len(built) >= 0.95 * len(recounts())
    assert [r.model.name for r in built if r.built != r.counts.total] == []


def test_at_least_98_percent_have_exactly_the_parameters_of_the_list() -> None:
    listed = [r for r in recounts() if r.model.listed]
    assert len(listed) == 128
    assert [r.model.name for r in listed if r.model.listed not in (0, r.as_listed)] == ["OPT-350M"]


def test_a_reason_stands_beside_every_model_that_differs_and_no_other() -> None:
    different = {
        r.model.name
        for r in recounts()
        if not r.as_reported or abs(r.counts.total - r.model.listed) > 0.01 * r.model.listed > 0
    }
    assert different == {r.model.name for r in recounts() if r.model.difference}
    shown = part("exceptions")
    assert all(name in shown for name in different)


def test_matrices_of_the_layers_are_those_of_the_column_that_claims_read() -> None:
    for r in recounts():
        inside = sum(
            w.stored
            for w in weights(architecture(r.model))
            if len(w.shape) == 2 and w.role in ("attention", "mlp", "expert", "router")
        )
        assert inside == r.model.parameters, r.model.name


@pytest.mark.parametrize(
    ("text", "size", "half"),
    [("124M", 124e6, 0.5e6), ("70B", 70e9, 5e9), ("1.54B", 1.54e9, 0.005e9), ("1.0B", 1e9, 5e7)],
)
def test_a_reported_size_may_be_rounded_in_its_last_digit(
    text: str, size: float, half: float
) -> None:
    assert reported_size(text) == pytest.approx((size, half))


def test_ten_configurations_are_exact_here_and_shown_for_every_tool() -> None:
    heading, _, *rows, last = part("tools").splitlines()
    assert len(rows) == 10
    assert all(row.split(" | ")[2] == "exact" for row in rows)
    assert "10 of 10" in last
    for tool in ("accelerate", "EleutherAI cookbook", "llm-analysis, by hand"):
        assert tool in heading
        assert f"- {tool}: " in part("versions")


def test_the_page_says_which_comparisons_reach_98_percent() -> None:
    rows = [row.split(" | ") for row in part("summary").splitlines()[4:]]
    assert [row[-1] for row in rows] == ["yes |", "yes |", "no |", "no |", "no |"]
    assert rows[0][1:4] == ["172", "172 (100.0 %)", "172 (100.0 %)"]
    assert [row[3] for row in rows[1:]] == [
        "127 (99.2 %)",
        "119 (93.0 %)",
        "124 (70.5 %)",
        "160 (90.9 %)",
    ]


def test_all_complete_models_are_on_the_page() -> None:
    assert len(part("models").splitlines()) == 2 + len(recounts())
    assert f"{len(recounts())} are complete" in part("summary")

"""What sources are known for: found by their names, evaluated by hand, printed on a page."""

from __future__ import annotations

import re
from importlib.resources import files
from math import ceil, comb, floor, log, log2, log10

import pytest

import depthlaw as library
from depthlaw.advisor.base.quantities import UsageError
from depthlaw.ledger.publish.site.page_blocks import Recorded, bounds
from depthlaw.ledger.records.store import Store
from depthlaw.theory.claims.definition import find, registry
from depthlaw.theory.claims.known_bounds import known_bounds
from depthlaw.theory.claims.values import PowerOfTen


def _log3(x: float) -> float:
    return log(x) / log(3)


def _minimum(width: int, depth: int) -> int:
    D, C = width * (width + 1) // 2, (3**depth - 1) // 2
    pairs = ((width * comb(D + k - 1, k), comb(D + C - k - 1, C - k)) for k in range(C + 1))
    return sum(map(min, pairs))


_C = (3**12 - 1) // 2
# The example of each bound, computed again in plain Python; a pair for two bounds.
BY_HAND: dict[str, float | tuple[float, float]] = {
    "depth_choice/threshold_never_binds": _log3(768),
    "separation_rank/upper_bound_shallow": 780**364,
    "separation_rank/lower_bound_shallow": 81 * (_log3(756) - 4 - _log3(2)),
    "separation_rank/upper_bound_deep": 12 * 1537
    + _log3(768)
    - 1536 * _log3(768 * 2**0.5 / 4 / 2.718281828459045),
    "separation_rank/lower_bound_deep": 12 * 384 - 12 * 7 - 768 * (1 + _log3(378) / 2),
    "separation_rank/degree": 531441,
    "separation_rank/knee": ceil(_log3(2 * 768**2 + 2 * 768 + 1)),
    "separation_rank/vocabulary_bottleneck": (_minimum(64, 2), _minimum(64, 2)),
    "separation_rank/convolution_sides": 768**512,
    "rank_collapse/one_layer_cubic": 4 * 0.5 * 0.5 / 8,
    "rank_collapse/layers_product": -(3**12) * log(10) + _C * log(4),
    "rank_collapse/layers_uniform": -(3**12) * log(10) + _C * log(4 * 12 / 4 / 2 / 8),
    "rank_collapse/mask_exponential": (15 / 16) ** 12,
    "connectivity/layers_for_diameter": 7,
    "connectivity/least_layers_all_weights": 7,
    "connectivity/reach": 729,
    "connectivity/row_reach": 1458,
    "connectivity/log_depth_uniform": 20,
    "connectivity/log_depth_lengths": 2,
    "connectivity/mpc_rounds": 4,
    "hops/depth_printed": floor(log2(16)) + 2,
    "hops/depth_corrected": 6,
    "hops/one_lookup_per_layer": 6,
    "hops/one_layer_index": 2**512,
    "hops/composition_error": (1024 * 10 - 768) / (3 * 1024 * 10),
    "least_depth/dyck_layers": 17,
    "least_depth/fixed_reads": ceil(log(1024) / log(13)),
    "formal_languages/blocks_hard_attention": 9,
    "signal_propagation/pre_ln_norm": (7, 19),
}
# What is checked elsewhere: tests/theory/test_evaluation.py.
ELSEWHERE = {
    "depth_choice/threshold_budget",
    "depth_choice/levine_fit_depth",
    "separation_rank/dimension_count",
    "separation_rank/count_bounds",
    "rank_collapse/collapse_condition",
    "connectivity/one_layer_summaries",
}
EXAMPLES = {bound.claim: bound.at for bound in known_bounds()}


def test_every_bound_is_checked_by_hand_and_has_its_source() -> None:
    assert set(EXAMPLES) == {*BY_HAND, *ELSEWHERE}
    assert len(EXAMPLES) == len(known_bounds())
    bibliography = (files("depthlaw.theory") / "bibliography.bib").read_text(encoding="utf-8")
    keys = {*re.findall(r"^@\w+\{([^,]+),", bibliography, re.M), "depthlaw"}
    assert {bound.source for bound in known_bounds()} <= keys


@pytest.mark.parametrize("key", BY_HAND)
def test_an_example_is_what_one_computes_by_hand(key: str) -> None:
    value, expected = find(key).at(**EXAMPLES[key]), BY_HAND[key]
    if isinstance(expected, tuple):
        assert [float(end) for end in value] == pytest.approx(expected, rel=1e-9)
    elif isinstance(expected, int):
        assert value == expected
    else:
        assert float(value) == pytest.approx(expected, rel=1e-9)


def test_counts_with_too_many_digits_lie_within_their_closed_bounds() -> None:
    count = find("separation_rank/dimension_count").at(width=768, depth=12)
    low, high = find("separation_rank/count_bounds").at(width=768, depth=12)
    assert isinstance(count, PowerOfTen)
    assert low * log10(3) <= count.log10 <= high * log10(3)
    shallower = find("separation_rank/dimension_count").at(width=768, depth=11)
    assert shallower.log10 < low * log10(3)


def test_one_layer_must_tell_apart_every_partition() -> None:
    """Dobinski's triangle by hand."""
    row = [1]
    for _ in range(10):
        following = [row[-1]]
        for entry in row:
            following.append(following[-1] + entry)
        row = following
    assert find("connectivity/one_layer_summaries").at(vertices=10) == row[0] == 115975


KNOWN_FOR = {
    "sanford": "connectivity/layers_for_diameter hops/depth_printed",
    "levine": "depth_choice/threshold_never_binds separation_rank/upper_bound_deep",
    "dong": "rank_collapse/layers_product rank_collapse/one_layer_cubic",
    "merrill": "connectivity/log_depth_uniform",
    "ye2025": "connectivity/reach",
    "minsky": "connectivity/least_layers_all_weights",
    "cohen": "separation_rank/convolution_sides",
    "wies": "separation_rank/vocabulary_bottleneck",
    "xiong": "signal_propagation/pre_ln_norm",
    "yang2025knee": "formal_languages/blocks_hard_attention",
    "yao2021": "least_depth/dyck_layers",
    "peng2024": "hops/composition_error",
}


@pytest.mark.parametrize("name", KNOWN_FOR)
def test_what_a_source_is_known_for_is_found_by_its_name(depthlaw, name: str) -> None:
    listed = [row["key"] for row in depthlaw(f"claims {name} --json").data]
    assert set(KNOWN_FOR[name].split()) <= set(listed)
    assert listed == list(library.claims(name))
    assert "counting/gpt3_heads" not in listed


def test_several_words_must_all_be_mentioned(depthlaw) -> None:
    assert next(iter(library.claims("levine threshold budget"))) == "depth_choice/threshold_budget"
    assert "rank_collapse/layers_product" not in library.claims("dong sorting")
    with pytest.raises(UsageError) as no:
        library.claims("nobody2031")
    assert "no claim mentions 'nobody2031'" in str(no.value)


def test_the_page_gives_each_bound_its_example(tmp_path) -> None:
    keys = ("separation_rank/dimension_count", "hops/depth_corrected", "counting/gpt3_heads")
    recorded = Recorded({key: registry()[key] for key in keys}, Store(tmp_path))
    *_, count, hops, _ = bounds(recorded).splitlines()
    assert "`separation_rank/dimension_count` `width=768 depth=12`" in count
    assert r"$\leq$ 10\^(115163.51)" in count
    assert "depth, width: positive integer" in count
    assert "`hops=16`" in hops
    assert hops.split(" | ")[-2].endswith("= $6$")
    assert "counting" not in bounds(recorded)


def test_every_number_of_the_command_is_that_of_python(depthlaw) -> None:
    key = "hops/depth_corrected"
    rows = depthlaw(f"show {key} --at k=1,2,16,17 --json").data
    assert [(row["k"], int(row["value"])) for row in rows] == [(1, 2), (2, 3), (16, 6), (17, 7)]
    assert [int(row["value"]) for row in rows] == find(key).at(hops=[1, 2, 16, 17]).tolist()
    assert depthlaw("show separation_rank/dimension_count --at d_x=768 L=12").out == (
        "L=12 d_x=768: sep <= 10^(115163.51)\n"
    )

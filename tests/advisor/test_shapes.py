"""Feasible shapes: exact sizes, legal widths, splits, contradictions."""

from __future__ import annotations

from itertools import product
from statistics import median, median_low, mode

import pytest
from hypothesis import given, settings, strategies as st

from depthlaw.advisor.architecture import Architecture, Experts
from depthlaw.advisor.base.quantities import UsageError
from depthlaw.advisor.counting import count
from depthlaw.advisor.models import architecture, models
from depthlaw.advisor.question import flag
from depthlaw.advisor.shapes import (
    DEFAULTS,
    LEAST_INNER,
    MOST_INNER,
    Constraints,
    Measure,
    Target,
    legal_depths,
    measure,
    nearest,
    resized,
    shapes,
    stages,
    template,
    terms,
)

MEASURES: tuple[Measure, ...] = ("total", "nonembedding", "active", "flops")
# The published nets that the defaults come from.
GROUPED = [
    m
    for m in models()
    if m.complete
    and m.kind == "decoder"
    and not m.sizes["experts"]
    and m.sizes["matrices"] == 3
    and 0 < m.sizes["kv_heads"] < m.heads
]
MIXTURE = {"experts": 16, "active_experts": 2, "shared_experts": 1, "dense_layers": 1}


def test_defaults_are_the_medians_of_published_nets() -> None:
    low = 1e8
    assert all(count(architecture(m)).total > low for m in GROUPED)
    for default in DEFAULTS:
        nets = [m for m in GROUPED if low <= count(architecture(m)).total < default.below]
        assert len(nets) >= 7
        assert default.head_width == median_low(m.sizes["head_width"] for m in nets)
        assert default.kv_ratio == median_low(m.heads // m.sizes["kv_heads"] for m in nets)
        assert default.vocabulary == median_low(m.sizes["vocabulary"] for m in nets)
        assert default.tied == mode(m.tied for m in nets)
        factor = median(m.sizes["d_ff"] / m.width for m in nets)
        assert abs(default.ff_factor / factor - 1) < 0.04
        assert sum(m.width % default.multiple == 0 for m in nets) >= 0.9 * len(nets)
        low = default.below


def test_free_inner_widths_stay_within_published_factors() -> None:
    factors = [m.sizes["d_ff"] / m.width for m in GROUPED]
    for default in DEFAULTS[1:]:
        assert min(factors) <= LEAST_INNER * default.ff_factor
        assert MOST_INNER * default.ff_factor <= max(factors)


EXPERTS: tuple[dict, ...] = (
    {},
    {"experts": 16, "active_experts": 2, "shared_experts": 1},
    {"experts": 4, "active_experts": 1, "shared_experts": 1, "expert_width": 512},
)


@pytest.mark.parametrize("experts", EXPERTS, ids=["dense", "mixture", "narrow"])
@pytest.mark.parametrize("kind", ["decoder", "encoder", "encoder-decoder"])
def test_formula_and_counting_agree_for_all_constraints_together(kind: str, experts: dict) -> None:
    for loops, dense, gated, tied, ratio, head, of in product(
        (1, 2), (0, 3), (False, True), (False, True), (None, 1, 4), (None, 64), MEASURES
    ):
        demands = {"kind": kind, **experts, "loops": loops, "dense_layers": dense, "gated": gated}
        demands |= {"tied": tied, "kv_ratio": ratio, "head_width": head}
        known = not (kind != "decoder" and experts) and not (dense and (loops > 1 or not experts))
        if not known or (kind == "encoder-decoder" and loops > 1):
            with pytest.raises(UsageError):
                template(Target(2e9, of), Constraints(**demands))
            continue
        t = template(Target(2e9, of), Constraints(**demands))
        for layers in (2, 12, 26):
            shape = nearest(Target(2e9, of), t, layers)
            assert shape is None or measure(shape.architecture, of) == shape.value, demands
            assert shape is None or shape.mismatch == shape.value / 2e9 - 1
            assert (shape is None) <= (layers <= dense)


def test_dense_layers_may_be_more_than_there_is_room_for() -> None:
    """The formula holds at every depth: at most all layers are dense."""
    for dense in (9, 60, 999):
        c = Constraints(experts=8, active_experts=2, dense_layers=dense)
        t = template(Target(3e9), c)
        assert terms(t, 5, "total").expert == 0
        assert terms(t, 5, "total").inner == 15
        assert nearest(Target(3e9), t, dense) is None
    found = shapes(Target(3e9), Constraints(experts=8, active_experts=2, dense_layers=60))
    assert all(s.architecture.layers > 60 for s in found)


@settings(deadline=None, max_examples=50)
@given(
    st.floats(1e7, 1e12),
    st.integers(1, 128),
    st.sampled_from([1, 2, 4]),
    st.sampled_from([None, 1, 4]),
    st.sampled_from([None, 64, 256]),
    st.sampled_from(MEASURES),
)
def test_shapes_are_feasible(
    size: float, layers: int, tensor: int, ratio: int | None, multiple: int | None, of: Measure
) -> None:
    target = Target(size, of)
    t = template(target, Constraints(kv_ratio=ratio, multiple=multiple, tensor=tensor))
    shape = nearest(target, t, layers)
    if shape is None:
        return
    a = shape.architecture
    assert a.layers == layers
    assert a.width % (multiple or 1) == 0
    assert a.heads * a.head_size == a.width
    assert a.heads % a.key_heads == 0
    assert a.heads % tensor == a.key_heads % tensor == a.d_ff % tensor == 0
    assert ratio is None or a.heads == ratio * a.key_heads


@settings(deadline=None)
@given(st.integers(8, 80), st.integers(4, 32))
def test_the_size_of_a_shape_gives_the_shape_back(layers: int, steps: int) -> None:
    """Inverse consistent: a legal shape is the answer to its own size."""
    t = template(Target(2e9), Constraints(ff_factor=4.0, kv_ratio=2, head_width=128))
    width = steps * t.step
    a = Architecture(
        layers, width, width // 128, 4 * width, t.vocabulary, kv_heads=width // 256, tied=t.tied
    )
    shape = nearest(Target(measure(a, "total")), t, layers)
    assert shape.mismatch == 0
    assert (shape.architecture.width, shape.architecture.d_ff) == (width, 4 * width)


@pytest.mark.parametrize(
    ("size", "worst"), [(3.5e8, 0.02), (3e9, 0.01), (7e10, 0.01), (1e12, 0.01)]
)
def test_free_inner_widths_reach_the_size_at_every_depth(size: float, worst: float) -> None:
    assert all(abs(s.mismatch) <= worst for s in shapes(Target(size), Constraints()))


@given(st.integers(1, 300), st.integers(1, 300))
def test_stages_hold_all_layers_evenly(layers: int, pipeline: int) -> None:
    if pipeline > layers:
        with pytest.raises(UsageError, match="accepted are 1 to"):
            stages(layers, pipeline)
        return
    split = stages(layers, pipeline)
    assert (sum(split), len(split)) == (layers, pipeline)
    assert max(split) - min(split) <= 1
    assert split[0] == min(split)


def test_depths_of_loops_and_pipelines() -> None:
    assert list(legal_depths(Constraints(loops=3, pipeline=2), 1, 20)) == [6, 12, 18]
    looped = nearest(Target(1e9), template(Target(1e9), Constraints(loops=4)), 32)
    assert looped.architecture.own_layers == 8


@pytest.mark.parametrize(
    ("demands", "names"),
    [
        ({"layers": 20, "most_layers": 10}, "--layers 20 and --most-layers 10 exclude"),
        ({"layers": 4, "least_layers": 5, "width": 64}, "--layers 4 and --least-layers 5 exclude"),
        ({"pipeline": 16, "most_layers": 10}, "--pipeline 16 and --most-layers 10 exclude"),
        (
            {"loops": 2, "least_layers": 11, "most_layers": 11},
            "--loops 2 and --least-layers 11 and ",
        ),
    ],
)
def test_demands_that_exclude_each_other_are_named_in_one_line(demands: dict, names: str) -> None:
    with pytest.raises(UsageError, match=names) as caught:
        shapes(Target(1e9), Constraints(**demands))
    assert "\n" not in str(caught.value)
    for name in demands:  # of the others alone no demand excludes another
        some = {each: demands[each] for each in demands if each != name}
        if flag(name) in names.split():
            assert legal_depths(Constraints(**some), 1, 99)


@pytest.mark.parametrize(
    ("demands", "why"),
    [
        ({"head_width": 0}, "--head-width '0' is out of range"),
        ({"head_width": 12.5}, "--head-width '12.5' is not a whole"),
        ({"layers": "12"}, "not a whole"),
        ({"layers": True}, "not a whole"),
        ({"ff_factor": "4"}, "--ff '4'"),
        ({"layers": 10**5000}, "out of range"),
        ({"kind": "diffusion"}, "accepted are decoder"),
        ({"width": 5590}, "head width 128 does not divide"),
        ({"width": 4096, "multiple": 96}, "multiple 96 does not divide"),
        ({"width": 4096, "head_width": 128, "kv_ratio": 5}, "5 must divide the heads"),
        ({"width": 4096, "tensor": 3}, "devices must divide the heads"),
        ({"layers": 3, "pipeline": 4}, "leave stages empty"),
        ({"layers": 31, "loops": 2}, "try 30 or 32"),
        ({"experts": 8}, "8 experts, none of them active; give --active-experts, such as 8"),
        ({"active_experts": 2}, "--active-experts without --experts"),
        ({"dense_layers": 2}, "--dense-layers without --experts"),
        ({**MIXTURE, "kind": "encoder-decoder"}, "give experts for decoders only"),
        ({**MIXTURE, "loops": 2}, "looped layers and first dense layers"),
        ({**MIXTURE, "layers": 1}, "leave none with experts"),
        ({**MIXTURE, "tensor": 3}, "one of the two must divide"),
        ({"ff_factor": float("nan")}, "--ff 'nan'"),
        ({"vocabulary": 10**8, "tied": False}, "no shape"),
        ({"width": 128, "layers": 2}, "no shape"),
        ({"head_width": 33}, "head width 33 is odd; .* try 34"),
        ({"loops": 10**4}, "--loops '10000' is out of range; accepted are 1 to 64"),
        ({"loops": 64, "pipeline": 1000}, "64 loops on 1,000 stages take at least 64,000 layers"),
        ({"kind": "encoder-decoder", "loops": 2}, "looped layers in an encoder-decoder"),
        (
            {"experts": 10**5, "active_experts": 1, "head_width": 128},
            "with 100,000 experts of .* try fewer or narrower",
        ),
        (
            {"experts": 8, "active_experts": 2, "dense_layers": 999, "multiple": 256},
            "nearest, 1,000 layers",
        ),
        ({"tensor": 1024}, "head width 32 x 1,024 devices.* fewer devices"),
        ({"kv_ratio": 1024}, "x 1,024 query heads a key head.* fewer queries a key head"),
        ({"head_width": 4094, "multiple": 4096}, "multiple 4096.*; try .*a multiple of 2"),
    ],
)
def test_contradictions_get_one_clear_line(demands: dict, why: str) -> None:
    with pytest.raises(UsageError, match=why) as caught:
        shapes(Target(3e9), Constraints(**demands))
    assert str(caught.value).isprintable()
    assert len(str(caught.value)) < 300


@pytest.mark.parametrize("of", ["total", "flops"])
@pytest.mark.parametrize(
    "a",
    [
        Architecture(32, 4096, 32, 14336, 128256, kv_heads=8),
        Architecture(28, 3584, 28, 18944, 152064, kv_heads=4, qkv_bias=True),
        Architecture(26, 1152, 4, 6912, 262144, kv_heads=1, head_width=256, tied=True),
        Architecture(12, 768, 12, 3072, 50257, gated=False, tied=True, learned_positions=1024),
        Architecture(
            48, 2048, 32, 6144, 151936, kv_heads=4, head_width=128, experts=Experts(128, 8, 768)
        ),
        Architecture(12, 768, 12, 3072, 32128, "encoder-decoder", encoder_layers=12),
    ],
    ids=lambda a: a if isinstance(a, str) else f"{a.layers}x{a.width}",
)
def test_a_layer_more_or_less_at_equal_size(a: Architecture, of: Measure) -> None:
    for layers in (a.layers - 1, a.layers, a.layers + 1):
        other = resized(a, layers, of)
        assert other.layers == layers
        assert abs(measure(other, of) / measure(a, of) - 1) < 0.015
    assert resized(a, a.layers, of).width == a.width


def test_looped_layers_change_by_whole_loops() -> None:
    looped = Architecture(12, 512, 8, 2048, 1000, unique_layers=4)
    assert resized(looped, 15).own_layers == 5
    with pytest.raises(UsageError, match="multiples of 3"):
        resized(looped, 13)

"""Advice for a depth: constants are those of the claims, and nothing counts depth twice."""

from __future__ import annotations

import math

import pytest

from depthlaw import recommend
from depthlaw.advisor import laws
from depthlaw.advisor.grids import NetKind
from depthlaw.advisor.initialisation_advice import advice
from depthlaw.theory.claims.definition import Case, at, find
from depthlaw.theory.signal_propagation.depth_scaling import deepnorm_cases

KEYS = [
    NetKind(parametrisation, norm, residual)
    for parametrisation in ("standard", "mup", "completep")
    for norm in ("pre", "post", "lns")
    for residual in ("plain", "attnres")
]


def says(what: str, *args: object, **kwargs: object) -> str:
    return next(a.says for a in advice(*args, **kwargs) if a.what == what)


@pytest.mark.parametrize("key", KEYS, ids=str)
def test_every_piece_has_a_source_and_a_claim_that_exists(key: NetKind) -> None:
    found = advice(40, key)
    assert found
    for each in found:
        assert each.source
        assert each.wording in {"printed", "reported", "recalled", "derived"}
        assert not each.claim or find(each.claim).key == each.claim
        assert each.source in str(each)
        assert "\n" not in str(each)


@pytest.mark.parametrize("depth", [1, 6, 24, 100])
def test_deepnorm_is_that_of_its_claims(depth: int) -> None:
    claim = find("signal_propagation/deepnorm_scales")
    pair = laws.deepnorm_pair(depth, depth)
    for stack, ours in (("alone", laws.deepnorm_scales(depth)), ("decoder", pair[2:])):
        stated = [at(claim.statement.rhs, case) for case in deepnorm_cases(stack, depth=depth)]
        # Claims state scales rounded down to nine decimals.
        assert ours == pytest.approx([float(value) for value in stated], abs=1.001e-9)


def test_encoder_scales_are_the_printed_ones_to_two_digits() -> None:
    alpha, beta, _, _ = laws.deepnorm_pair(18, 6)
    statement = find("signal_propagation/deepnorm_scales").statement
    cases = deepnorm_cases("encoder", depth=18, decoder_depth=6)
    for value, case in zip((alpha, beta), cases, strict=True):
        assert value == pytest.approx(float(at(statement.rhs, case)), rel=0.005)


@pytest.mark.parametrize("layers", [1, 12, 96])
def test_scaled_branches_keep_the_variance_of_the_claim(layers: int) -> None:
    scale = laws.residual_scale(layers)
    assert 1 + 2 * layers * scale**2 == pytest.approx(2)
    assert f"{0.02 / math.sqrt(2 * layers):.3g}" in says("initialisation", layers)


@pytest.mark.parametrize("key", [k for k in KEYS if k.residual == "plain"], ids=str)
def test_depth_is_counted_once(key: NetKind) -> None:
    found = advice(32, key)
    assert any("do not count depth twice" in a.says for a in found)
    scales = [a for a in found if a.what == "initialisation" and "0.02 / sqrt(2 L)" in a.says]
    others = [a for a in found if a.what in ("branch multiplier", "residual scale", "norm")]
    assert not (scales and others)


def test_plain_post_norm_is_warned_of_when_deep() -> None:
    assert not any(a.what == "warning" for a in advice(12, NetKind(norm="post")))
    assert any(a.what == "warning" for a in advice(13, NetKind(norm="post")))
    assert "in the decoder" in says("residual scale", 6, NetKind(norm="post"), encoder_layers=18)


def test_layernorm_scaling_ends_at_one_over_the_root_of_the_depth() -> None:
    assert "0.125 in the last" in says("norm", 64, NetKind(norm="lns"))


@pytest.mark.parametrize("loops", [1, 2, 4, 8])
def test_passes_that_share_weights_write_coherently(loops: int) -> None:
    """2 L branches, each writing R times the same, have variance 2 L R^2 scale^2: that of scale
    1/(R sqrt(2 L)) is 1, and as if each pass had its own weights it would be R."""
    own = 8
    scale = laws.residual_scale(own, loops)
    assert 2 * own * (loops * scale) ** 2 == pytest.approx(1)
    assert laws.residual_scale(own * loops) == pytest.approx(scale * math.sqrt(loops))
    assert f" = {0.02 * scale:.3g}" in says("initialisation", own * loops, loops=loops)


@pytest.mark.parametrize("loops", [1, 2, 8])
def test_deepnorm_in_loops_is_that_of_its_claim(loops: int) -> None:
    """A step of passes that agree changes the output by 2 L R^2 2 beta^2/alpha^2 = 1; with the
    scales of R L layers of their own it would be R."""
    claim, own = find("signal_propagation/looped_deepnorm_scales"), 6
    found = {a.what: a.value for a in advice(own * loops, NetKind(norm="post"), loops=loops)}
    alpha, beta = found["residual scale"], found["initialisation"]
    assert alpha is not None
    assert beta is not None
    assert 4 * own * (loops * beta / alpha) ** 2 == pytest.approx(1)
    stated = at(claim.statement.rhs, Case(own_layers=own, loops=loops))
    assert alpha == pytest.approx(float(stated), abs=1.001e-9)
    plain_alpha, plain_beta = laws.deepnorm_scales(own * loops)
    assert 4 * own * (loops * plain_beta / plain_alpha) ** 2 == pytest.approx(loops)


def test_a_deep_post_norm_net_is_warned_of_on_the_first_screen() -> None:
    deep = recommend("300M", norm="post", layers=24)
    assert any("plain post-norm failed" in warning for warning in deep.warnings)
    shallow = recommend("300M", norm="post", layers=12)
    assert not any("plain post-norm" in warning for warning in shallow.warnings)


def test_a_looped_answer_scales_branches_by_its_loops() -> None:
    answer = recommend("1B", loops=4)
    shape = answer.shape
    assert shape is not None
    scale = 0.02 * laws.residual_scale(shape.architecture.own_layers, 4)
    assert f"{scale:.3g}, R = 4" in " ".join(answer.initialisation)

"""Schemes of initialisation against published tables and the identities behind their constants."""

import math

import pytest

from depthlaw.empirics.nets.initialisations import deepnorm_constants, initialised
from depthlaw.empirics.nets.net import Factors, NetShape

SHAPE = NetShape(width=32, depth=6, heads=4, mlp=128, norm="pre", vocabulary=50, outputs=50)


def test_deepnorm_has_the_published_constants():
    for layers, alpha, beta in ((6, 1.8612, 0.3799), (100, 3.7606, 0.1880)):
        assert deepnorm_constants(layers) == (
            pytest.approx(alpha, abs=1e-4),
            pytest.approx(beta, abs=1e-4),
        )
    alpha, beta = deepnorm_constants(7)
    assert 2 * 7 * 2 * beta**2 / alpha**2 == pytest.approx(1)
    shape, stds = initialised("deepnorm", SHAPE)
    assert shape.norm == "post"
    assert shape.factors == (Factors(skip=deepnorm_constants(6)[0]),) * 12
    xavier = initialised("xavier", SHAPE)[1]
    assert stds.query == xavier.query
    for name in ("value", "output", "mlp_in", "mlp_out"):
        assert getattr(stds, name) == deepnorm_constants(6)[1] * getattr(xavier, name)


@pytest.mark.parametrize(
    ("scheme", "query", "mlp_in", "mlp_out", "output"),
    [
        ("plain", 0.02, 0.02, 0.02, 0.02),
        ("gpt2", 0.02, 0.02, 0.02 / math.sqrt(12), 0.02 / math.sqrt(12)),
        ("xavier", 1 / math.sqrt(32), math.sqrt(2 / 160), math.sqrt(2 / 160), 1 / math.sqrt(32)),
        ("kaiming", 0.25, 0.25, math.sqrt(2 / 128), 0.25),
        ("lecun", 1 / math.sqrt(32), 1 / math.sqrt(32), 1 / math.sqrt(128), 1 / math.sqrt(32)),
    ],
)
def test_deviations(scheme, query, mlp_in, mlp_out, output):
    shape, stds = initialised(scheme, SHAPE)
    assert shape == SHAPE
    assert (stds.query, stds.mlp_in, stds.mlp_out, stds.output) == tuple(
        pytest.approx(value) for value in (query, mlp_in, mlp_out, output)
    )


def test_branches_and_norms_shrink_with_depth():
    assert [f.entering for f in initialised("layernorm-scaling", SHAPE)[0].factors[::2]] == [
        pytest.approx(layer**-0.5) for layer in range(1, 7)
    ]
    for scheme, branch in (("depth-mup", math.sqrt(2 / 6)), ("completep", 2 / 6)):
        assert (
            initialised(scheme, SHAPE, base_depth=2)[0].factors
            == (Factors(branch=pytest.approx(branch)),) * 12
        )


def test_an_unknown_scheme_is_refused_by_name():
    with pytest.raises(ValueError, match="'he': accepted schemes are plain, gpt2"):
        initialised("he", SHAPE)

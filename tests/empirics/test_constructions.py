"""Constructions against the exact networks of theory, at every depth, and one layer, one scale or one weight short."""
import networkx as nx
import numpy as np
import pytest
import torch

from depthlaw.advisor.laws import layers_for_hops
from depthlaw.empirics.constructions import (
    averaging,
    cubing,
    hop_errors,
    hop_network,
    hop_scale,
    hop_weights,
    hop_weights_scale,
    induction,
    reach,
    relu_stream,
    support,
)
from depthlaw.theory.connectivity.doubling import directed_graphs, doubling_layers
from depthlaw.theory.connectivity.graph_attention import (
    distances,
    graph,
    integer_states,
    layer_at,
    minimal_depth,
)
from depthlaw.theory.hops.network import BOTTOM, all_sequences, answers, causal, random_sequences
from depthlaw.theory.hops.pointers import hop_k

FLOAT32 = {"attention": "softmax", "dtype": torch.float32}


def every(tokens, alphabet):
    return np.array(list(all_sequences(tokens, alphabet)))


def drawn(tokens, alphabet, *, repeats, count=4):
    return random_sequences(np.random.default_rng(0), tokens, alphabet, repeats, count)


# --- induction ----------------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("options", [{}, {"dtype": torch.float32}, FLOAT32], ids=str)
def test_induction_is_right_on_every_sequence(options):
    for tokens, alphabet in ((1, 1), (2, 2), (6, 3), (4, 5)):
        assert hop_errors(induction(alphabet, tokens, **options), every(tokens, alphabet), 1) == 0


@pytest.mark.parametrize("options", [{}, FLOAT32], ids=str)
def test_induction_is_right_on_long_sequences(options):
    for repeats in (False, True):
        assert hop_errors(induction(4, 100, **options), drawn(100, 4, repeats=repeats), 1) == 0


def test_induction_needs_both_layers_and_each_head():
    sequences = every(6, 3)
    assert hop_errors(induction(3, 6, depth=1), sequences, 1) > 0
    for layer in (0, 1):
        cut = induction(3, 6)
        cut.net.set_attention_weights(layer, *[torch.zeros(())] * 4)
        assert hop_errors(cut, sequences, 1) > 0


# --- hops ---------------------------------------------------------------------------------------------------------------------

BUILDS = [hop_weights, hop_network]


@pytest.mark.parametrize("build", BUILDS)
@pytest.mark.parametrize("hops", [1, 2, 3, 4, 5, 8])
def test_hops_are_right_on_every_short_sequence_and_one_layer_less_is_not(build, hops):
    for tokens, alphabet in ((9, 2), (6, 3)):
        assert hop_errors(build(hops, alphabet, tokens), every(tokens, alphabet), hops) == 0
    alternating = [[i % 2 for i in range(20)]]  # on which different numbers of hops differ
    assert hop_errors(build(hops, 2, 20), alternating, hops) == 0
    assert hop_errors(build(hops, 2, 20, depth=layers_for_hops(hops) - 1), alternating, hops) > 0


@pytest.mark.parametrize("build", BUILDS)
@pytest.mark.parametrize("hops", [1, 5, 16])
@pytest.mark.parametrize("options", [{}, {"dtype": torch.float32}, FLOAT32], ids=str)
def test_hops_are_right_at_the_published_length(build, hops, options):
    for repeats in (False, True):
        assert hop_errors(build(hops, 4, 100, **options), drawn(100, 4, repeats=repeats), hops) == 0


@pytest.mark.parametrize("hops", [1, 2, 3, 6, 7, 16])
def test_hop_network_equals_the_exact_network_after_every_layer(hops):
    sequences = drawn(30, 3, repeats=True)
    for depth in range(1, layers_for_hops(hops) + 2):
        expected = [answers(causal, s, 3, hops, depth).tolist() for s in sequences]
        assert hop_network(hops, 3, 30, depth=depth)(torch.tensor(sequences)).tolist() == expected


@pytest.mark.parametrize("hops", [2, 3, 16])
def test_hop_weights_and_hop_network_agree_after_every_layer(hops):
    sequences = torch.tensor(drawn(30, 3, repeats=True))
    for depth in range(1, layers_for_hops(hops) + 2):
        assert torch.equal(*(build(hops, 3, 30, depth=depth)(sequences) for build in BUILDS))
    assert not torch.equal(hop_weights(hops, 3, 30)(sequences), hop_weights(hops, 3, 30, depth=2)(sequences))


def test_the_printed_spacing_fails_on_the_known_sequence_and_the_repaired_one_does_not():
    sequence = [[0, 0, 1]]
    assert hop_errors(hop_network(1, 2, 3, spacing=1), sequence, 1) > 0
    assert hop_errors(hop_network(1, 2, 3, spacing=2), sequence, 1) == 0


@pytest.mark.parametrize(("build", "scale"), [(hop_network, hop_scale(100, 4)), (hop_weights, hop_weights_scale(100, 6))])
def test_softmax_at_a_hundredth_of_the_scale_fails(build, scale):
    sequences = drawn(100, 4, repeats=True)
    assert hop_errors(build(16, 4, 100, scale=scale, **FLOAT32), sequences, 16) == 0
    assert hop_errors(build(16, 4, 100, scale=scale / 100, **FLOAT32), sequences, 16) > 0


def test_hop_weights_is_a_net_of_weights_alone_and_hop_network_has_one_width():
    assert hop_weights(5, 4, 20).row_map is None
    assert {hop_network(hops, a, n).net.shape.width for hops, a, n in ((1, 2, 5), (16, 4, 100), (3, 50, 60))} == {15}


def test_wrong_answers_are_counted():
    right = hop_k([0, 1, 0, 1], 1, missing=BOTTOM)
    found = hop_network(1, 2, 4)(torch.tensor([[0, 1, 0, 1]]))[0].tolist()
    assert found == right
    zero_hops = hop_network(1, 2, 4, depth=1)
    assert hop_errors(zero_hops, [[0, 1, 0, 1]], 1) == sum(a != b for a, b in zip([0, 1, 0, 1], right, strict=True)) == 4


# --- reach --------------------------------------------------------------------------------------------------------------------

FAMILIES = ["path", "cycle", "two cycles", "grid", "barbell", "random tree", "Erdos-Renyi"]
BASES = [(cubing, {}, 3), (cubing, {"clip": True}, 3), (relu_stream, {}, 3), (averaging, {}, 2), (averaging, {"attention": "softmax"}, 2)]


@pytest.mark.parametrize(("build", "options", "base"), BASES)
@pytest.mark.parametrize("dtype", [torch.float64, torch.float32])
def test_reach_by_depth_is_a_power_of_the_base(build, options, base, dtype):
    for depth in (1, 2, 3):
        n = base**depth + 2
        assert reach(build(n, depth, dtype=dtype, **options), nx.path_graph(n)) == base**depth == n - 2


@pytest.mark.parametrize(("build", "options", "base"), BASES)
@pytest.mark.parametrize("family", FAMILIES)
def test_reach_on_other_graphs(build, options, base, family):
    rng = np.random.default_rng(0)
    for diameter in (3, 5, 6):
        g = graph(family, diameter, rng)
        for depth in (1, 2):
            assert reach(build(len(g), depth, **options), g) == min(base**depth, diameter)


@pytest.mark.parametrize("family", FAMILIES)
def test_cubing_equals_the_exact_integers_and_stops_where_they_do(family):
    g = graph(family, 8, np.random.default_rng(1))
    needed = minimal_depth(g)
    for depth in range(1, needed + 1):
        assert (support(cubing(len(g), depth), g) == (layer_at(integer_states(g), depth) > 0)).all()
    connected = distances(g) < len(g)
    assert (support(cubing(len(g), needed), g) == connected).all()
    assert not (support(cubing(len(g), needed - 1), g) == connected).all()


def test_cubing_counts_walks_exactly():
    g = graph("grid", 5, np.random.default_rng(2))
    construction = cubing(len(g), 2)
    with torch.no_grad():
        walks = construction.net(construction.encode(torch.from_numpy(nx.to_numpy_array(g, nodelist=range(len(g))))[None]))[0, 0]
    # Degree 4 and a loop: at most 5^9 < 2^53.
    assert walks.tolist() == layer_at(integer_states(g), 2).tolist() != layer_at(integer_states(g), 1).tolist()


def test_averaging_doubles_like_the_padding_construction_on_every_small_directed_graph():
    for g in [*directed_graphs("all", 3, np.random.default_rng(0)), *directed_graphs("directed path", 9, np.random.default_rng(0)),
              *directed_graphs("random digraph", 12, np.random.default_rng(0))]:
        doublings = doubling_layers(g) // 2
        reachable = np.array([[v == u or v in nx.descendants(g, u) for v in g] for u in g])
        for options in ({}, {"attention": "softmax", "dtype": torch.float32}):
            assert (support(averaging(len(g), max(doublings, 1), **options), g) == reachable).all()
        if doublings > 1:
            assert not (support(averaging(len(g), doublings - 1), g) == reachable).all()


def test_averaging_with_softmax_at_a_quarter_of_the_scale_fails():
    weak = averaging(20, 2, attention="softmax", scale=np.log(4 * 20**2) / 4)
    assert reach(averaging(20, 2, attention="softmax"), nx.path_graph(20)) == 4
    assert reach(weak, nx.path_graph(20)) == 19  # it calls everything connected
    with pytest.raises(ArithmeticError, match="not those up to distance"):
        reach(weak, nx.disjoint_union(nx.path_graph(10), nx.path_graph(10)))


def test_a_broken_construction_has_no_reach():
    g = nx.path_graph(12)
    broken = cubing(12, 2)
    weight = torch.eye(12)
    weight[3, 3] = 0
    broken.net.set_attention_weights(1, *[weight] * 4)
    with pytest.raises(ArithmeticError, match="not those up to distance"):
        reach(broken, g)


def test_entries_beyond_the_dtype_are_refused_and_clipping_avoids_them():
    g = nx.complete_graph(30)
    with pytest.raises(OverflowError, match="clip=True"):
        reach(cubing(30, 4, dtype=torch.float32), g)
    assert reach(cubing(30, 4, dtype=torch.float32, clip=True), g) == 1
    with pytest.raises(ValueError, match="use less depth"):
        relu_stream(100, 4, dtype=torch.float32)

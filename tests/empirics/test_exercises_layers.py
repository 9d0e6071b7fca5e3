"""Gradients by layer, nets of which one layer is trained or layers are removed, and linear probes:
against routes of their own, on a tiny text; and what the exercises show of what is recorded."""

from dataclasses import replace

import numpy as np
import pytest
import torch
from judging import claims

from depthlaw.empirics.exercises import gradient_flow, language_model, layer_probing, remove_layer
from depthlaw.empirics.nets.net import Factors, Net, NetShape
from depthlaw.empirics.tasks.text_windows import Text
from depthlaw.empirics.training.adamw import flatten
from depthlaw.empirics.training.evaluation import draw, source
from depthlaw.theory.claims.values import Case

CLAIMS = claims("exercises")


@pytest.fixture(autouse=True)
def tiny_text(monkeypatch):
    """A text in which each token follows one of two others, in place of every corpus."""
    rng = np.random.default_rng(0)
    after, tokens = rng.integers(0, 512, (512, 2)), [0]
    for way in rng.integers(0, 2, 11_000):
        tokens.append(int(after[tokens[-1], way]))

    def texts(corpus, vocabulary=512, length=64, folder=""):
        return language_model.Texts(
            *(Text(np.array(part), length, vocabulary) for part in (tokens[:9000], tokens[9000:]))
        )

    monkeypatch.setattr(language_model, "texts", texts)


def smaller(case, **fields):
    """A case on the tiny text, with other fields; those that it does not have stay away."""
    given = {"corpus": "tiny", "replicas": 3} | fields
    return Case(**case.fields() | {name: value for name, value in given.items() if name in case})


def case_of(**fields):
    """A case of the gradients of small nets, or of another exercise with these fields alone."""
    return Case(**{"width": 48, "replicas": 2, "corpus": "tiny"} | fields)


STATES = {"residual": True, "norm": "pre", "scheme": "gpt2", "layer": 1, "of": "states"}


def random_net(**fields):
    sizes = {"width": 8, "depth": 4, "heads": 2, "mlp": 16, "vocabulary": 11, "outputs": 5}
    kind = {"norm": "pre", "causal": True, "biases": True, "positions": "learned", "length": 7}
    shape = NetShape(**sizes, **kind, **fields)
    return Net(shape, replicas=2, rng=np.random.default_rng(0), std=0.5)


def drawn(made, **kind):
    """The nets of a recipe before they are trained."""
    generators = [np.random.default_rng(source("weights", seed)) for seed in (0, 1)]
    return Net(made.shape, replicas=2, rng=generators, std=made.settings.std, **kind)


# --- gradients ------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("residual", "norm", "scheme"),
    [(True, "pre", "gpt2"), (True, "post", "xavier"), (False, "none", "xavier")],
)
def test_log_ratios_are_those_of_one_backward_pass_through_all_layers(residual, norm, scheme):
    kind = {"residual": residual, "norm": norm, "scheme": scheme}
    case = case_of(**STATES | kind, depth=3, steps=0)
    net = drawn(language_model.recipe(3, steps=1, seeds=2, **kind), dtype=torch.float64)
    validation = language_model.texts("tiny").validation
    batch = draw(validation, (0, 1), gradient_flow.SEQUENCES, "cpu", "gradient flow")
    states = net.hidden_states(batch.inputs)
    for state in states:
        state.retain_grad()
    loss = torch.nn.functional.cross_entropy(
        net.read(states[-1]).flatten(0, 2), batch.targets.flatten(), reduction="sum"
    )
    loss.backward()
    norms = torch.stack([state.grad.flatten(1).norm(dim=1) for state in states], dim=1)
    expected = (norms[:, 1] / norms[:, 3]).log().numpy()
    assert gradient_flow.log_ratios(case) == pytest.approx(expected, abs=1e-9)
    matrices = (net.qkv, net.output, net.mlp_in, net.mlp_out)
    first, last = (
        sum(part[place].grad.square().flatten(1).sum(dim=1) for part in matrices)
        for place in (0, 2)
    )
    assert gradient_flow.log_ratios(Case(**case.fields() | {"of": "weights"})) == pytest.approx(
        (first / last).log().numpy() / 2, abs=1e-9
    )


def test_gradients_after_training_are_those_of_the_trained_net():
    start, end = (case_of(**STATES, depth=2, steps=steps) for steps in (0, 3))
    assert (gradient_flow.log_ratios(start) != gradient_flow.log_ratios(end)).all()


# --- one layer trained ----------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("layer", "ends", "moved"),
    [
        (2, "frozen", {"1"}),
        (2, "trained", {"1", ""}),
        (layer_probing.NONE, "trained", {""}),
        (layer_probing.ALL, "frozen", {"0", "1", "2"}),
        (layer_probing.NONE, "frozen", set()),
    ],
)
def test_only_what_a_case_says_is_trained(layer, ends, moved):
    case = case_of(layers=3, steps=2, vocabulary=512, layer=layer, ends=ends)
    made = layer_probing.frozen_but_one(case)
    net, before = language_model.trained(made, "tiny").net, drawn(made)
    changed = {
        name.partition(".")[2]
        for (name, new), old in zip(net.named_parameters(), before.parameters(), strict=True)
        if not torch.equal(new, old)
    }
    assert changed == moved


def test_what_one_layer_takes_off_is_the_difference_of_two_nets_on_the_same_text():
    small = {"layers": 2, "steps": 6, "replicas": 2}
    case = smaller(CLAIMS["each_layer_alone_helps"].cases("exercises")[1], **small)
    one, first, none = (
        np.array(
            language_model.trained(
                layer_probing.frozen_but_one(Case(**case.fields() | {"layer": place})), "tiny"
            ).losses
        )
        for place in (2, 1, layer_probing.NONE)
    )
    close = {"rel": 1e-4, "abs": 1e-5}
    alone = CLAIMS["each_layer_alone_helps"].measure(case)
    assert alone.values == pytest.approx(none - one, **close)
    best = CLAIMS["first_layer_alone_is_best"].measure(case)
    assert best.values == pytest.approx(one - first, **close)


@pytest.mark.parametrize(
    ("target", "said", "there"),
    [
        ("current", [3, 4, 3, 3, 4], [1, 1, 1, 1, 1]),
        ("next", [4, 3, 3, 4, 9], [1, 1, 1, 1, 1]),
        ("previous", [0, 3, 4, 3, 3], [0, 1, 1, 1, 1]),
        ("after", [0, 0, 4, 3, 3], [0, 0, 1, 1, 1]),
    ],
)
def test_what_a_probe_has_to_say(target, said, there):
    found, mask = layer_probing.answers(target, np.array([[3, 4, 3, 3, 4, 9]]))
    assert mask[0].tolist() == [bool(each) for each in there]
    assert found[0][mask[0]].tolist() == [s for s, t in zip(said, there, strict=True) if t]


def test_the_discriminant_is_that_of_scikit_learn():
    rng = np.random.default_rng(0)
    said = rng.integers(3, 12, 400)
    states = rng.normal(size=(12, 6))[said] + rng.normal(size=(400, 6)) @ rng.normal(size=(6, 6))
    classes, weights, biases = layer_probing.discriminant(states, said)
    from sklearn.discriminant_analysis import LinearDiscriminantAnalysis

    peer = LinearDiscriminantAnalysis().fit(states, said)
    scores, expected = states @ weights + biases, peer.decision_function(states)
    differences, wanted = (x - x[:, :1] for x in (scores, expected))
    assert classes.tolist() == peer.classes_.tolist()
    assert differences == pytest.approx(wanted, abs=1e-8)


def test_probes_read_what_is_linear_in_the_states_and_nothing_of_shuffled_answers():
    case = remove_layer.whole_net(
        layers=2, steps=2, replicas=2, corpus="tiny", target="current", layer=0
    )
    claim = CLAIMS["every_layer_is_read"]
    # Embeddings of 512 tokens are linearly separable by construction: width 48, few in use.
    assert claim.measure(case).mean > 0.5
    assert claim.measure(case, control=True).mean < 0.01
    surface = CLAIMS["layers_specialise"]
    places = {"low": 0, "high": 0, "against_low": 1, "against_high": 2}
    both = smaller(surface.control.case, layers=2, steps=2, replicas=2, **places)
    assert surface.measure(both).mean > surface.measure(both, control=True).mean
    assert surface.measure(both, control=True).mean < 0


# --- layers removed -------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("first", "last", "stay"), [(1, 1, (1, 2, 3)), (2, 3, (0, 3)), (4, 4, (0, 1, 2)), (1, 3, (3,))]
)
def test_a_net_without_layers_runs_the_others_in_order(first, last, stay):
    factors = tuple(Factors(branch=1 + place / 8) for place in range(8))
    net = random_net(factors=factors)
    for gain in (*net.attention_gain, *net.mlp_shift, net.final_gain):
        gain.data.normal_(generator=torch.Generator().manual_seed(0))
    inputs = torch.arange(14).remainder(11).view(1, 2, 7)
    hidden = net.embed(inputs)
    for place in stay:
        hidden = net.layer(place, hidden)
    found = remove_layer.without(net, first, last)
    assert torch.equal(found(inputs), net.read(hidden))
    assert found.shape == replace(
        net.shape,
        depth=len(stay),
        factors=tuple(factors[2 * place + part] for place in stay for part in (0, 1)),
    )


@pytest.mark.parametrize(
    ("first", "last", "loops"), [(0, 1, 1), (3, 2, 1), (4, 5, 1), (1, 4, 1), (2, 2, 2)]
)
def test_what_cannot_be_removed_is_refused(first, last, loops):
    net = random_net()
    net.shape = replace(net.shape, loops=loops)
    with pytest.raises(ValueError, match=f"layers {first} to {last} of 4"):
        remove_layer.without(net, first, last)


def test_removing_layers_is_measured_against_the_whole_net_on_the_same_text():
    small = {"layers": 3, "steps": 10, "replicas": 3}

    def measured(name, first, last):
        case = smaller(CLAIMS[name].cases("exercises")[0], first=first, last=last, **small)
        return np.array(CLAIMS[name].measure(case).values)

    def added(first, last):
        return measured("every_layer_matters", first, last)

    models = remove_layer.trained_net(smaller(remove_layer.whole_net(), **small), "cpu", "")
    weights = flatten(models.net).clone()
    shorter = remove_layer.without(models.net, 1, 1)
    direct = language_model.validation_losses(shorter, models.validation) - np.array(models.losses)
    close = {"rel": 1e-4, "abs": 1e-5}
    assert added(1, 1) == pytest.approx(direct, rel=1e-4, abs=1e-6)
    assert torch.equal(flatten(models.net), weights), "the whole net stays as it was"
    assert (added(0, 0) == 0).all(), "removing nothing adds nothing"
    # The first layer against another one; the lowest layers against as many of the highest.
    lower = "lower_layers_cost_more"
    assert measured(lower, 2, 2) == pytest.approx(added(1, 1) - added(2, 2), **close)
    assert measured(lower, 1, 2) == pytest.approx(added(1, 2) - added(2, 3), **close)
    alone = added(1, 1) + added(2, 2)
    assert measured("together_costs_more", 1, 2) == pytest.approx(added(1, 2) - alone, **close)
    learned = np.log(512) - models.losses
    spared = measured("middle_layers_are_spared", 1, 1)
    assert spared == pytest.approx(direct / learned, rel=1e-4, abs=1e-6)

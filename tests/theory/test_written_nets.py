"""Stored nets are those of the constructions; a weight changed or a layer left out is wrong."""

from __future__ import annotations

import copy
import itertools

import networkx as nx
import numpy as np
import pytest
from stored_nets import NETS, changed, stored

from depthlaw.theory.atlas.tasks import word_task
from depthlaw.theory.claims.values import Case
from depthlaw.theory.connectivity.graph_attention import integer_states
from depthlaw.theory.formal_languages.automaton import block_language, minimal
from depthlaw.theory.formal_languages.fixed_precision import stair
from depthlaw.theory.hops.hop_nets import causal_net
from depthlaw.theory.least_depth import brackets, continuous_thoughts, markov_order
from depthlaw.theory.least_depth.composition import composed, lookups
from depthlaw.theory.least_depth.fixed_reads import doubling_net
from depthlaw.theory.least_depth.written_nets import FILES, identity_weights, written
from depthlaw.theory.nets.batched import answers, thoughts
from depthlaw.theory.nets.classes import in_class
from depthlaw.theory.nets.json_format import net_of


@pytest.mark.parametrize("name", FILES)
def test_what_is_stored_is_what_the_construction_writes(name) -> None:
    assert (NETS / f"{name}.json").read_text() == written(name, stored(name)), (
        "run python -m depthlaw.theory.least_depth.written_nets docs/examples/nets"
    )


# --- controls: one weight changed, one layer left out ---

# Where one weight stands, and what it becomes.
WEIGHTS: dict[str, tuple[list, object]] = {
    "letters-hard": (["layers", 0, "heads", 0, "key", 0, 0], -1),
    "stair-hard": (["layers", 0, "heads", 0, "query", 0, 0], -1),
    "blocks-hard": (["layers", 1, "mlp", "bias", 0], 1),
    "blocks-hard-left": (["layers", 2, "mlp", "bias", 0], 1),
    "dyck-hard": (["layers", 1, "heads", 0, "query", 0, 0], -1),
    "c2-deltanet": (["layers", 0, "step", "10", "diagonal", 1], 1),
    "d8-deltanet": (["layers", 0, "start", 0], 5),
    "s4-deltanet": (["layers", 0, "emit", "rows", 3, 1], None),
    "s4-diagonal": (["layers", 2, "emit", "rows", 1, 1], None),
    "d8-signs": (["layers", 1, "emit", "rows", 1, 1], None),
    "hops-causal": (["layers", 1, "heads", 0, "key", 0, 4], 1),
    "hops-strict": (["layers", 0, "mlp", "bias", 0], 0),
    # The token itself is not skipped; places are ranked in another way; a pointer is one place off;
    # a lookup finds half the place.
    "hops-3": (["layers", 0, "heads", 0, "key", 3, 13], 0),
    "hops-5": (["positions", 2], "2^(-i)"),
    "hops-7": (["layers", 0, "heads", 0, "value", 0, 1], 0),
    "hops-15": (["layers", 3, "heads", 0, "key", 0, 10], 1),
    "kgram": (["layers", 0, "heads", 1, "key", 1, 13], -2),
    "composition-lookups": (["layers", 1, "heads", 0, "key", 0, 4], 3),
    "ordered-two-heads": (["read", 2], 0),
    "ordered-one-head": (["read", 2], 0),
    "parity": (["layers", 0, "mlp", "out", 5, 1], -1),
    "parity-one-head": (["layers", 1, "heads", 0, "query", 0, 2], 1),
    "parity-softmax-positions": (["layers", 0, "heads", 0, "key", 1, 1], -1),
    "product-of-four": (["layers", 1, "heads", 0, "key", 1, -2], -2),
    "connectivity-linear": (["embedding", "11000", 1], 0),
    "reachability-thoughts": (["layers", 1, "mlp", "bias", 0], 1),
    "majority": (["embedding", "0", 0], -2),
    "count": (["read", 6, 1], 11),
    # A ReLU is above 0 too early; at a whole slope two numbers and all between them are largest.
    "sorting-one-layer": (["layers", 0, "mlp", "bias", 0], 1),
    "sorting-two-layers": (["layers", 1, "heads", 0, "query", 0, 0], 0),
    "recall": (["layers", 0, "heads", 0, "key", 1, 1], 0),
    "copying-any": (["layers", 1, "heads", 0, "query", 0, 4], -1),
    "copying": (["layers", 0, "heads", 0, "query", 0, 0], -6),
    # A sum above 0 goes unseen, and so does a prefix that closes too much.
    "equality": (["layers", 0, "mlp", "in", 0, 2], 0),
    "dyck-one": (["read", 8], 0),
    "addition": (["layers", 0, "heads", 0, "key", 0, 1], -1),
    "multiplication": (["layers", 0, "mlp", "bias", 0], 0),
    "match-three": (["layers", 1, "mlp", "bias", 0], 0),
    "circuit-loops": (["layers", 2, "mlp", "bias", 1], -2),
}


@pytest.mark.parametrize("name", WEIGHTS)
def test_one_weight_changed_is_wrong_or_of_no_such_class(name, checked) -> None:
    way, to = WEIGHTS[name]
    code, said = checked(changed(stored(name), way, to))
    if name in ("d8-deltanet", "connectivity-linear", "circuit-loops"):
        assert code == 2
        assert "is not of the class" in said
    else:
        assert code == 1
        assert said.startswith("WRONG: ")
        assert "of the word '" in said


ATTENTION = [
    name for name in FILES if stored(name)["family"] == "attention" and "thoughts" not in name
]


@pytest.mark.parametrize("name", ATTENTION)
@pytest.mark.parametrize("left_out", ["first", "last"])
def test_one_layer_left_out_is_wrong(name, left_out, checked) -> None:
    body = stored(name)
    layers = body["layers"][1:] if left_out == "first" else body["layers"][:-1]
    code, said = checked(body | {"layers": layers})
    assert code == 1
    assert said.startswith("WRONG: ")


def test_one_thought_left_out_is_wrong_and_one_layer_is_no_such_net(checked) -> None:
    body = stored("reachability-thoughts")
    code, said = checked(body | {"thoughts": body["thoughts"] | {"steps": 1}})
    assert code == 1
    assert "says False of the word '2 1 | 3 2 | >3', which has True" in said
    code, said = checked(body | {"layers": body["layers"][1:]})
    assert (code, "it has 2 layers, not 1" in said) == (2, True)


@pytest.mark.parametrize("name", ["s4-deltanet", "s4-diagonal", "d8-signs", "d8-deltanet"])
def test_a_recurrent_layer_left_out_says_other_letters(name, checked) -> None:
    body = stored(name)
    code, said = checked(body | {"layers": body["layers"][:-1]})
    assert code == 1
    assert said.startswith("WRONG: ")


def from_zero(body: dict, adds: bool = True) -> dict:
    """A DeltaNet with whole numbers whose layers start at 0: h - s, for the start s, follows the
    step of h with (A - I) s = -beta k (k s) added."""
    body = copy.deepcopy(body)
    for layer in body["layers"]:
        start = np.array(layer["start"])
        for step in layer["step"].values():
            matrix = np.diag(step["diagonal"]) if "diagonal" in step else np.array(step["matrix"])
            step["add"] = (adds * (matrix @ start - start)).tolist()
        if isinstance(layer["emit"], dict):
            rows = [[(state - start).tolist(), row] for state, row in layer["emit"]["rows"]]
            layer["emit"]["rows"] = rows
        else:
            layer["emit"] = [[(state - start).tolist(), *more] for state, *more in layer["emit"]]
        layer["start"] = (0 * start).tolist()
    return body


@pytest.mark.parametrize("name", ["c2-deltanet", "d4-deltanet", "s4-deltanet"])
def test_a_deltanet_layer_may_start_at_zero(name, checked) -> None:
    code, said = checked(from_zero(stored(name)))
    assert code == 0
    assert said.startswith("right on words of every length, exactly: its")
    assert "as many as the table" in said
    assert checked(from_zero(stored(name), adds=False))[0] != 0


# --- the nets say what the constructions say ---


@pytest.mark.parametrize(("k", "symbols"), [(1, 3), (2, 3), (3, 2)])
def test_kgrams_are_those_of_the_network(k, symbols) -> None:
    net = markov_order.heads_net(Case(context=k, symbols=symbols))
    words = itertools.product("abc"[:symbols], repeat=k + 4)
    for word, said in answers(net, words):
        numbers = tuple(map("abc".index, word))
        if markov_order.gram(numbers, k, symbols) is None:
            continue
        found, layers = markov_order.network(numbers, k, symbols)
        assert found["abc".index(said)] == max(found)
        assert layers == net.depth


def test_three_layers_compose_seven_maps() -> None:
    net, task = lookups(Case(depth=3)), word_task("composition", {"k": 7, "N": 2})
    words = list(itertools.islice(task.words(0), 0, None, 37))
    assert all(said == task.answer(word) for word, said in answers(net, words))
    short = net_of(lookups(Case(depth=2)).body | {"alphabet": ["0", "1"]})
    assert any(said != task.answer(word) for word, said in answers(short, words))


@pytest.mark.parametrize(("group", "layers", "letters"), [("C2", 3, 8), ("C3", 2, 3), ("S3", 1, 2)])
def test_products_are_those_of_the_elements(group, layers, letters) -> None:
    """Two to the number of layers letters are multiplied, and one more is too much."""
    net = doubling_net(group, layers)
    for N in (letters, 2**layers + 1):
        task = word_task("group-product", {"group": group, "N": N})
        words = itertools.islice(task.words(0), 0, None, 1 + len(task.letters) ** N // 500)
        right = all(said == task.answer(word) for word, said in answers(net, words))
        assert right == (letters == N)


def test_linear_layers_are_those_of_the_matrices() -> None:
    path = nx.path_graph(4)
    word = ["".join(map(str, row)) for row in (nx.to_numpy_array(path, dtype=int)).tolist()]
    word = [row[:i] + "1" + row[i + 1 :] for i, row in enumerate(word)]
    states = next(itertools.islice(integer_states(path), 1, None))
    net = net_of(identity_weights(4, 1))
    assert net.answer(word) == bool(states[0, 1] > 0)


def test_thoughts_are_those_of_the_net() -> None:
    net = continuous_thoughts.vertex_net(Case(vertices=3, distance=2))
    words = list(word_task("reachability", {"n": 3, "D": 2}).words(0))[::7]
    held_of = thoughts(net, [[word] for word in words])
    for (word, said), after in zip(answers(net, words), held_of, strict=True):
        ((held,),) = next(itertools.islice(after, 2, None))
        assert said == (held > 0) == net.answer(word)


# --- the answers of tasks, by other routes ---


def all_words(letters: str, longest: int):
    for n in range(longest + 1):
        yield from itertools.product(letters, repeat=n)


@pytest.mark.parametrize(
    ("task", "parameters", "letters", "member"),
    [
        ("stair", {"k": 3}, "abc", minimal(stair(3), "abc").accepts),
        ("stair", {"k": 1}, "abc", minimal(stair(1), "abc").accepts),
        ("letters", {"k": 2}, "ab", minimal("(a|b)*a(a|b)*a(a|b)*").accepts),
        ("blocks", {"k": 2}, "ab", minimal(block_language(2)).accepts),
        ("blocks", {"k": 3}, "ab", minimal(block_language(3)).accepts),
        ("dyck", {"k": 2, "D": 2}, "([)]", lambda word: brackets.well_nested(word, 2)),
        ("dyck", {"k": 1, "D": 2}, "()", lambda word: brackets.well_nested(word, 2)),
        ("dyck", {"k": 1, "D": 3}, "()", lambda word: brackets.well_nested(word, 3)),
    ],
)
def test_languages_are_those_of_automata(task, parameters, letters, member) -> None:
    made = word_task(task, parameters)
    for word in all_words(letters, 6):
        assert made.answer(word) == member("".join(word))


def test_answers_of_kgrams_are_the_largest_shares() -> None:
    task = word_task("kgram", {"k": 1, "symbols": 3})
    asked = set(task.words(5))
    for word in all_words("abc", 5):
        shares = word and markov_order.gram(tuple("abc".index(x) for x in word), 1, 3)
        alone = bool(shares) and shares.count(max(shares)) == 1
        assert (word in asked) == alone
        if alone:
            assert task.answer(word) == "abc"[shares.index(max(shares))]


def test_answers_of_compositions_are_composed() -> None:
    task = word_task("composition", {"k": 2, "N": 3})
    for word in itertools.islice(task.words(0), 0, None, 5):
        numbers = list(map(int, word))
        assert int(task.answer(word)) == composed([numbers[3:6], numbers[:3]], numbers[6])


def test_directed_graphs_are_all_with_every_start() -> None:
    task = word_task("reachability", {"n": 3, "D": 2})
    words = list(task.words(0))
    assert len(words) == 3 * 2**6
    for word in words:
        graph = nx.DiGraph([word[i : i + 2] for i in range(0, len(word) - 1, 3)])
        graph.add_nodes_from("123")
        assert task.answer(word) == nx.has_path(graph, word[-1][1:], "1")
    # Two edges that lead there and one that must not be: three more are free, for either start.
    near = list(word_task("reachability", {"n": 3, "D": 1}).words(0))
    assert len(words) - len(near) == 2 * 2**3


def test_graphs_are_all_labelled_ones_of_the_diameter() -> None:
    count = {D: len(list(word_task("connectivity", {"n": 4, "D": D}).words(0))) for D in (1, 2, 3)}
    # Graphs of cliques are partitions, 15 of them; of the 64 graphs 12 are paths of four vertices.
    assert count == {1: 15, 2: 52, 3: 64}


# --- what a class is, in weights ---

HEAD = ["layers", 0, "heads", 0]


@pytest.mark.parametrize(
    ("name", "way", "to", "says"),
    [
        ("dyck-hard", [*HEAD, "attention"], "hard-left", "hard-left; the class has hard-right"),
        ("dyck-hard", [*HEAD, "mask"], "causal", "the mask causal; the class has strict"),
        ("kgram", [*HEAD, "attention"], "hard-right", "softmax or weights or average"),
        ("kgram", ["layers", 1, "residual"], False, "the input of a layer is added"),
        ("kgram", ["parameters", "k"], 1, "a layer has at most 1 head, not 2"),
        ("hops-causal", [*HEAD, "mask"], "none", "a head has the mask none; the class has causal"),
        ("hops-causal", ["end"], "a", "it answers at every token"),
        ("hops-causal", ["positions", 0], "i + 0*n", "no position depends on n"),
        ("hops-strict", [*HEAD, "attention"], "average", "the class has hard-right or hard-left"),
        ("composition-lookups", [*HEAD, "mask"], "none", "the class has causal"),
        ("composition-lookups", [*HEAD, "key", 0, 1], 1, "key of layer 1 is no function of the pl"),
        ("product-of-four", [*HEAD, "query", 0, 1], 1, "query of layer 1 is no function of the pl"),
        ("product-of-four", [*HEAD, "key", 0, 1], 1, "a key of layer 1 is no function of the pl"),
        ("product-of-four", [*HEAD, "attention"], "average", "class has hard-right or hard-left"),
        ("connectivity-linear", [*HEAD, "attention"], "average", "the class has linear"),
        ("connectivity-linear", [*HEAD, "divide"], 2, "it divides by nothing"),
        ("connectivity-linear", [*HEAD, "key", 0, 1], 1, "one head with identity matrices"),
        ("connectivity-linear", ["layers", 0, "residual"], True, "no residual"),
        ("connectivity-linear", ["embedding", "11000", 3], 1, "no linear function of the row"),
        ("connectivity-linear", ["end"], "11111", "a token for each vertex and no other"),
        ("reachability-thoughts", [*HEAD, "mask"], "none", "the class has causal"),
        ("reachability-thoughts", [*HEAD, "attention"], "hard-left", "weights or average"),
        ("ordered-two-heads", ["end"], None, "it is read at a letter after the word"),
    ],
)
def test_weights_that_break_a_class_are_refused(name, way, to, says) -> None:
    body = stored(name)
    net, task = net_of(body), word_task(body["task"], body["parameters"])
    assert in_class(net, body["class"], body["parameters"], task.length) == ""
    other = changed(body, way, to)
    why = in_class(net_of(other), body["class"], other["parameters"], task.length)
    assert says in why


def test_thoughts_are_for_classes_that_have_some() -> None:
    body = stored("reachability-thoughts")
    for kind in ("softmax", "uhat-right", "one-causal-head", "softmax-heads"):
        assert in_class(net_of(body), kind) == "it has no thoughts"
    del body["thoughts"]
    assert "its thoughts are vectors" in in_class(net_of(body), "continuous-thought")


def test_two_heads_are_too_many_where_a_layer_has_one() -> None:
    for name in ("hops-causal", "hops-strict", "composition-lookups"):
        body = stored(name)
        body["layers"][1]["heads"] *= 2
        assert "a layer has at most 1 head, not 2" in in_class(net_of(body), body["class"])


def test_no_mlp_after_the_last_layer() -> None:
    body = stored("kgram")
    width = len(body["read"][0])
    mlp = {"in": [[1] * width], "bias": [0], "out": [[0]] * width}
    body["layers"][0]["mlp"] = mlp
    assert in_class(net_of(body), "softmax-heads", body["parameters"]) == ""
    body["layers"][1]["mlp"] = mlp
    assert "no MLP after the last" in in_class(net_of(body), "softmax-heads", body["parameters"])


def test_a_place_that_is_written_over_is_no_place() -> None:
    body = stored("composition-lookups")
    body["layers"][0]["heads"][0]["output"][4] = [1]
    assert "a key of layer 2 is no function" in in_class(net_of(body), "one-lookup")


def test_any_weights_are_more_than_identity_weights(checked) -> None:
    body = stored("connectivity-linear") | {"class": "linear-attention-graph-any"}
    body["layers"][0]["heads"][0]["value"][0][0] = 2
    code, said = checked(body)
    assert code == 0
    assert said.startswith("right on all 1,024 graphs of 5 vertices, exactly; 2 layers: as many")


# --- no record where there is none ---


@pytest.mark.parametrize(
    ("task", "n", "D"), [("connectivity", 2, 4), ("connectivity", 4, 100), ("reachability", 3, 3)]
)
def test_no_vertices_are_as_far_apart_as_there_are_of_them(task, n, D, checked) -> None:
    """Else a bound for a larger D is said to be contradicted by a net on graphs that have none."""
    net = identity_weights(2, 1) | {"class": "linear-attention-graph-any"}
    code, said = checked(net | {"task": task, "parameters": {"n": n, "D": D}})
    assert (code, said.count("\n")) == (2, 1)
    assert f"the task {task} has D up to n - 1" in said
    assert f"got n = {n} and D = {D}" in said
    word_task(task, {"n": n, "D": n - 1})


@pytest.mark.parametrize(
    ("name", "class_", "says"),
    [
        # The strict net has fewer layers than the table of the causal mask.
        ("hops-strict", "one-causal-head", "a head has the mask strict; the class has causal"),
        ("hops-3", "one-causal-head-fixed", "has i in an exponent"),
        # What refused the table's own row of one lookup a layer: keys that letters enter.
        ("hops-causal", "one-lookup", "is no function of the place alone"),
        ("hops-3", "one-lookup", "is no function of the place alone"),
    ],
)
def test_hops_in_another_class_are_no_record(name, class_, says, checked) -> None:
    code, said = checked(stored(name) | {"class": class_})
    assert (code, says in said) == (2, True)


def test_fewer_hops_on_short_words_are_no_record(checked) -> None:
    """Words of three letters have no third hop but by repeats."""
    body = causal_net(2, 2).body | {"task": "hops", "parameters": {"k": 3, "symbols": 2}}
    body |= {"class": "one-causal-head-fixed"}
    code, said = checked(body, "--length", "2")
    assert code == 0
    assert "fewer than the table (4; it needs order log k" in said
    assert "a record only if it is right on longer words too" in said
    assert checked(body)[0] == 1


def test_the_page_names_every_stored_net() -> None:
    page = (NETS.parents[1] / "how-to/net-format.md").read_text()
    stored_names = {file.name for file in NETS.glob("*.json")}
    assert {name for name in stored_names if f"`{name}`" not in page} == set()
    guide = (NETS.parents[1] / "how-to/check-a-net.md").read_text()
    assert (NETS / "majority.json").read_text().rstrip() in guide, "the net that it shows"

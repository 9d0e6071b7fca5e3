"""hop_k by one causal head in floor(log2 k) + 2 layers: right, and wrong with less or otherwise."""

from __future__ import annotations

import itertools
from dataclasses import replace

import numpy as np
import pytest
from judging import claims, verdict

from depthlaw.advisor.base.quantities import UsageError
from depthlaw.advisor.laws import layers_for_hops, layers_for_hops_printed
from depthlaw.theory.atlas.tasks import hops as hops_task
from depthlaw.theory.claims.definition import Case
from depthlaw.theory.claims.verdict import Verdict
from depthlaw.theory.hops import hop_nets, self_skipping_lookup as lookup
from depthlaw.theory.hops.hop_nets import net_depth, random_sequences, self_skipping_net
from depthlaw.theory.hops.pointers import hop_k
from depthlaw.theory.nets import balls
from depthlaw.theory.nets.attention import Layer
from depthlaw.theory.nets.batched import answers
from depthlaw.theory.nets.json_format import changed, net_of
from depthlaw.theory.nets.right import right_on

# k = 4 for completeness; the others take a layer less than ceil(log2 k) + 2.
ASKED = (3, 4, 5, 6, 7, 15)


def depth(k: int, symbols: int = 2, net=None) -> int:
    """On all words up to a length; 15 hops differ from 7 in words of nine letters and more."""
    case = Case(hops=k, tokens=10 if symbols == 2 else 6, alphabet=symbols, exhaustive=True)
    return int(net_depth(case, 0, net or self_skipping_net(k, symbols), "one-causal-head").value)


@pytest.mark.parametrize("symbols", [2, 3])
@pytest.mark.parametrize("k", ASKED)
def test_nets_are_right_on_all_short_words_and_wrong_without_a_layer(k: int, symbols: int) -> None:
    layers = self_skipping_net(k, symbols).depth
    assert layers == layers_for_hops_printed(k)
    assert layers == layers_for_hops(k) - (k != 4)
    assert depth(k, symbols) == (layers if (k, symbols) != (15, 3) else -1)


@pytest.mark.parametrize("k", ASKED)
def test_nets_are_wrong_with_one_score_changed(k: int) -> None:
    """A token does not skip itself, a copy next to it ties, a lookup finds half the place."""
    net = self_skipping_net(k, 2)
    for way, to in (((0, "key", 3, 13), 0), ((0, "query", 3, 12), 2), ((1, "key", 0, 10), 1)):
        layer, *rest = way
        other = changed(net, "layers", layer, "heads", 0, *rest, to=to)
        assert depth(k, net=other) == -1, way


def test_the_width_is_that_of_every_k() -> None:
    nets = [self_skipping_net(k, symbols) for k in (1, 3, 15, 64) for symbols in (2, 26)]
    widths = {len(net.read[0]) for net in nets}
    assert len(widths) == 1


@pytest.mark.parametrize("alphabet", [2, 3, 26])
@pytest.mark.parametrize("k", ASKED)
def test_long_words_in_doubles(k: int, alphabet: int) -> None:
    rng = np.random.default_rng((7, k, alphabet))
    for tokens in (lookup.LONGEST_IN_DOUBLES, int(rng.integers(100, 500))):
        words = random_sequences(rng, tokens, alphabet, repeats=bool(k % 2), count=1)
        for factor in (None, lookup.sharpness(tokens, alphabet)):
            for word in words:
                *_, early, last = lookup.in_doubles(word, k, factor)
                assert last == hop_k(word, k, missing=-1)
                # On the first word, which alternates, no two numbers of hops agree.
                assert early != last or word != words[0]


def test_doubles_end_where_powers_do() -> None:
    with pytest.raises(ValueError, match="16\\^N needs N at most 500"):
        next(lookup.in_doubles([0] * 501, 1))


def test_whole_numbers_of_any_length_are_exact() -> None:
    """Beyond 62 bits they are Python's integers."""
    word = random_sequences(np.random.default_rng(3), 40, 3, True)[-1]
    letters = tuple("abc"[x] for x in word)
    sizes: dict = {}
    assert right_on(self_skipping_net(7, 3), hops_task(7, 3), [letters], sizes, prefixes=True)
    assert sizes[40][2] > 62


@pytest.mark.parametrize("bits", [9, 12])
def test_few_bits_of_mantissa_are_enough(bits: int) -> None:
    """Scores of floating point with so many bits, where two symbols need 2 log2(2) + O(1)."""
    word = random_sequences(np.random.default_rng(11), 200, 2, True)[-1]
    query, key = lookup.first_features(np.array([0.0, *(x + 1 for x in word)]))

    def rounded(numbers: np.ndarray) -> np.ndarray:
        mantissa, exponent = np.frexp(numbers)
        return np.ldexp(np.round(mantissa * 2**bits), exponent - bits)

    total, seen = np.zeros((len(word) + 1,) * 2), np.tri(len(word) + 1)
    with np.errstate(over="ignore", invalid="ignore"):
        for q, k in zip(query, key, strict=True):
            product = np.where(seen, q[:, None] * k[None, :], 0)
            total = rounded(total + rounded(product))
    exact = lookup.shares(lookup.scores(query, key), softmax=False)
    assert (lookup.shares(total, softmax=False) == exact).all()
    assert (exact.max(axis=1) == 1).all()


@pytest.mark.parametrize(("name", "to"), [("SKIP", 0), ("BASE", 2), ("SKIP", 4)])
def test_other_scores_do_not_find_the_last_earlier_copy(
    name: str, to: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A token finds itself; the nearest copy ties with other symbols, twice."""
    assert depth(3) == 3
    monkeypatch.setattr(hop_nets, name, to)
    assert depth(3) == -1


@pytest.mark.parametrize("late", [0, 1, 3])
@pytest.mark.parametrize("name", ["depth_printed_floating", "depth_printed_softmax"])
def test_a_network_that_is_a_layer_late_fails(name: str, late: int, monkeypatch) -> None:
    claim = claims("hops")[name]
    case = Case(hops=3, tokens=5, alphabet=2, exhaustive=True, doubles=False)
    assert verdict(claim, case) is Verdict.HOLDS
    real = lookup.with_softmax if name.endswith("softmax") else lookup.self_skipping_net

    def idle(*given):
        net = real(*given)
        layers = (*net.layers[:late], Layer((), None, True), *net.layers[late:])
        return replace(net, layers=layers)

    monkeypatch.setattr(lookup, real.__name__, idle)
    assert verdict(claim, case) is Verdict.FAILS


def test_doubles_that_are_a_layer_late_fail(monkeypatch: pytest.MonkeyPatch) -> None:
    claim, real = claims("hops")["depth_printed_floating"], lookup.in_doubles
    case = Case(hops=3, tokens=100, alphabet=3, repeats=True, doubles=True)
    assert verdict(claim, case) is Verdict.HOLDS

    def late(*given, **more):
        first, *others = real(*given, **more)
        return iter((first, first, *others))

    monkeypatch.setattr(lookup, "in_doubles", late)
    assert verdict(claim, case) is Verdict.FAILS


# --- products of a letter and its place in a file ---


def product_net(positions: list) -> dict:
    """The sum over the tokens of a letter's number times a power of its place, less 5."""
    head = {"attention": "linear", "query": [[1, 0, 0]], "key": [[1, 0, 0]]}
    head |= {"value": [[0, 0, 1]], "output": [[1], [0], [0]]}
    return {
        "family": "attention",
        "alphabet": ["a", "b"],
        "embedding": {"a": [1, 1], "b": [1, -2]},
        "positions": positions,
        "layers": [{"heads": [head]}],
        "read": [1, 0, 0],
    }


@pytest.mark.parametrize("power", ["2^i", "2^(-i)", "i/n"])
def test_a_product_is_that_of_the_letter_and_the_place(power: str) -> None:
    net = net_of(product_net([[power, 1]]))
    for word, said in answers(net, list(itertools.product("ab", repeat=5))):
        at = [{"2^i": 2**i, "2^(-i)": 0.5**i, "i/n": i / 5}[power] for i in range(5)]
        total = 1 + sum(p * {"a": 1, "b": -2}[x] for p, x in zip(at, word, strict=True))
        assert said == net.answer(word) == (total > 1e-9)


def test_a_product_in_balls() -> None:
    body = product_net([["log(i + 1)", 1]])
    body["layers"][0]["heads"][0] |= {"attention": "softmax", "base": "e"}
    (read,) = balls.read_out(net_of(body), ("a", "b", "a"))
    # The mean of 0, -2 ln 2 and ln 3, and the letter's 1.
    assert abs(float(read.mid()) - (1 + (np.log(3) - 2 * np.log(2)) / 3)) < 1e-12


@pytest.mark.parametrize("given", [["2^i"], ["2^i", 2], ["2^i", -1], ["2^i", True], [1, 2, 3]])
def test_other_products_are_refused(given: list) -> None:
    with pytest.raises(UsageError, match="a coordinate of the letter from 0 to 1"):
        net_of(product_net([given]))

"""hop_k by one causal head in floor(log2 k) + 2 layers: right, and wrong with less or otherwise."""

from __future__ import annotations

import copy
import itertools
from functools import cache, partial
from itertools import islice

import numpy as np
import pytest
from judging import claims, verdict

from depthlaw.advisor.base.quantities import UsageError
from depthlaw.advisor.laws import layers_for_hops, layers_for_hops_printed
from depthlaw.theory.claims.definition import Case
from depthlaw.theory.claims.verdict import Verdict
from depthlaw.theory.hops import network, self_skipping_lookup as lookup
from depthlaw.theory.hops.pointers import hop_k
from depthlaw.theory.least_depth.lookup_nets import hops_self_skipping
from depthlaw.theory.nets import balls
from depthlaw.theory.nets.batched import answers
from depthlaw.theory.nets.json_format import net_of

# k = 4 for completeness; the others take a layer less than ceil(log2 k) + 2.
ASKED = (3, 4, 5, 6, 7, 15)


@cache
def short_words(symbols: int) -> list[tuple[str, ...]]:
    longest = {2: 10, 3: 6}[symbols]
    return [
        word for n in range(1, longest + 1) for word in itertools.product("abc"[:symbols], repeat=n)
    ]


def errs(body: dict, k: int, symbols: int) -> bool:
    """Whether a net differs from the definition on a short word."""
    said = answers(net_of(body), short_words(symbols))
    return any(answer != hop_k(word, k, missing="none")[-1] for word, answer in said)


@pytest.mark.parametrize("symbols", [2, 3])
@pytest.mark.parametrize("k", ASKED)
def test_nets_are_right_on_all_short_words_and_wrong_without_a_layer(k: int, symbols: int) -> None:
    body = hops_self_skipping(k, symbols).body
    depth = len(body["layers"])
    assert depth == layers_for_hops_printed(k)
    assert depth == layers_for_hops(k) - (k != 4)
    assert not errs(body, k, symbols)
    # 15 hops differ from 7 in words of nine letters and more.
    if (k, symbols) != (15, 3):
        assert errs(body | {"layers": body["layers"][:-1]}, k, symbols)


@pytest.mark.parametrize("k", ASKED)
def test_nets_are_wrong_with_one_score_changed(k: int) -> None:
    """A token does not skip itself, a copy next to it ties, a lookup finds half the place."""
    for layer, part, row, column, to in (
        (0, "key", 3, 13, 0),
        (0, "query", 3, 12, 2),
        (1, "key", 0, 10, 1),
    ):
        body = copy.deepcopy(hops_self_skipping(k, 2).body)
        matrix = body["layers"][layer]["heads"][0][part]
        assert matrix[row][column] != to
        matrix[row][column] = to
        assert errs(body, k, 2), (layer, part)


def test_the_width_is_that_of_every_k() -> None:
    nets = [hops_self_skipping(k, symbols) for k in (1, 3, 15, 64) for symbols in (2, 26)]
    widths = {len(net.read[0]) for net in nets}
    assert len(widths) == 1


@pytest.mark.parametrize("alphabet", [2, 3, 26])
@pytest.mark.parametrize("k", ASKED)
def test_long_words_in_doubles(k: int, alphabet: int) -> None:
    rng = np.random.default_rng((7, k, alphabet))
    depth = layers_for_hops_printed(k)
    for tokens in (lookup.LONGEST_IN_DOUBLES, int(rng.integers(100, 500))):
        words = network.random_sequences(rng, tokens, alphabet, repeats=bool(k % 2), count=1)
        for word in words:
            right = network.right_answers(word, k)
            for net in (partial(lookup.self_skipping, doubles=True), lookup.softmax):
                assert (network.answers(net, word, alphabet, k, depth) == right).all()
        # On the first word, which alternates, no two numbers of hops agree.
        early = network.answers(
            partial(lookup.self_skipping, doubles=True), words[0], alphabet, k, depth - 1
        )
        assert (early != network.right_answers(words[0], k)).any()


def test_doubles_end_where_powers_do() -> None:
    with pytest.raises(ValueError, match="16\\^N needs N at most 500"):
        next(lookup.self_skipping([0] * 501, 2, 1, doubles=True))


def test_whole_numbers_of_any_length_are_exact() -> None:
    """Beyond 60 bits they are Python's integers."""
    word = network.random_sequences(np.random.default_rng(3), 40, 3, True)[-1]
    first = lookup.first_features(np.array([network.BOTTOM, *word]))
    assert first[1][3].dtype == object
    assert (
        network.answers(lookup.self_skipping, word, 3, 7, 4) == network.right_answers(word, 7)
    ).all()


@pytest.mark.parametrize("bits", [9, 12])
def test_few_bits_of_mantissa_are_enough(bits: int) -> None:
    """Scores of floating point with so many bits, where two symbols need 2 log2(2) + O(1)."""
    word = network.random_sequences(np.random.default_rng(5), 300, 2, True)[-1]
    symbols = np.array([network.BOTTOM, *word])
    query, key = lookup.first_features(symbols, doubles=True)

    def rounded(numbers: np.ndarray) -> np.ndarray:
        mantissa, exponent = np.frexp(numbers)
        return np.ldexp(np.round(mantissa * 2**bits), exponent - bits)

    total, seen = np.zeros((len(symbols), len(symbols))), np.tri(len(symbols))
    with np.errstate(over="ignore", invalid="ignore"):
        for q, k in zip(query, key, strict=True):
            product = np.where(seen, q[:, None] * k[None, :], 0)
            total = rounded(total + rounded(product))
    exact = lookup.attended(lookup.scores(query, key))
    assert (lookup.attended(total) == exact).all()


@pytest.mark.parametrize(
    "options", [{"skip": 0}, {"base": 2}, {"skip": 4}], ids=["no skip", "base 2", "skip of base"]
)
def test_other_scores_do_not_find_the_last_earlier_copy(options: dict) -> None:
    """A token finds itself; the nearest copy ties with other symbols, twice."""
    case = Case(hops=3, tokens=6, alphabet=2, exhaustive=True)
    assert network.settles(lookup.self_skipping, case) == 3
    assert network.settles(partial(lookup.self_skipping, **options), case) == -1


@pytest.mark.parametrize("name", ["depth_printed_floating", "depth_printed_softmax"])
def test_a_network_that_is_a_layer_late_fails(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    claim = claims("hops")[name]
    net = "softmax" if name.endswith("softmax") else "self_skipping"
    case = Case(hops=3, tokens=5, alphabet=2, exhaustive=True, doubles=False)
    assert verdict(claim, case) is Verdict.HOLDS
    real = getattr(lookup, net)

    def late(sequence, alphabet, hops, **options):
        layers = real(sequence, alphabet, hops, **options)
        yield next(layers)
        first = next(islice(real(sequence, alphabet, hops, **options), 1))
        yield first
        yield from layers

    monkeypatch.setattr(lookup, net, late)
    assert verdict(claim, case) is Verdict.FAILS


# --- products of a letter and its place in a file ---


def product_net(positions: list) -> dict:
    """The sum over the tokens of a letter's number times a power of its place, less 5."""
    return {
        "family": "attention",
        "alphabet": ["a", "b"],
        "embedding": {"a": [1, 1], "b": [1, -2]},
        "positions": positions,
        "layers": [
            {
                "heads": [
                    {
                        "attention": "linear",
                        "query": [[1, 0, 0]],
                        "key": [[1, 0, 0]],
                        "value": [[0, 0, 1]],
                        "output": [[1], [0], [0]],
                    }
                ]
            }
        ],
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

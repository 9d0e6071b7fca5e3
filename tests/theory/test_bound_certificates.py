"""Lower bounds as certificates: each stored one is verified, and what is no bound is not.

The other routes are nets at random: what no net of so many layers tells apart, none of them does.
"""

from __future__ import annotations

import json
import random
from functools import cache
from itertools import product
from math import inf
from pathlib import Path

import pytest
from stored_nets import table_of

from depthlaw.advisor.base.quantities import UsageError
from depthlaw.theory.atlas.certificates import BACK, flows, read_bound
from depthlaw.theory.atlas.check import check
from depthlaw.theory.atlas.ends import Result
from depthlaw.theory.atlas.languages import SEARCH
from depthlaw.theory.least_depth.chain_of_thought import least_steps
from depthlaw.theory.least_depth.groups import GROUPS, closure, inverse, power, times

BOUNDS = Path(__file__).parents[2] / "docs/examples/bounds"
ALL = {file.stem: json.loads(file.read_text()) for file in sorted(BOUNDS.glob("*.json"))}
# Those of functions may have more than two words.
THOUGHTS = {name: bound for name, bound in ALL.items() if bound["class"] == "cot-one-head"}
STORED = {name: bound for name, bound in ALL.items() if name not in THOUGHTS}


# --- the stored ones ---


@pytest.mark.parametrize("name", ALL)
def test_each_stored_bound_is_verified_and_no_better_than_the_table(name) -> None:
    weaker = name in ("parity", "a5-diagonal")
    assert check(ALL[name]).result == (Result.WEAKER if weaker else Result.EQUAL)


@pytest.mark.parametrize("name", [name for name in ALL if name != "s3-deltanet"])
def test_one_layer_more_tells_the_words_apart(name) -> None:
    bound = ALL[name] | {"layers": ALL[name]["layers"] + 1}
    found = check(bound)
    assert (found.result, found.found.separated_by) == (Result.NOT_VERIFIED, bound["layers"])


# Of the same task words that fewer layers tell apart, by so many.
APART = {
    "a5-diagonal": (["01342 02143", "02143 01342"], 2),
    "blocks": (["ab", "abab"], 2),
    "blocks-both-ways": (["aba", "ab"], 1),
    "blocks-leftmost": (["abab", "ababa"], 3),
    "c4-signs": (["1230 0123", "0123"], 1),
    "d8-signs": (["12345670 12345670 01234567", "01234567"], 2),
    "dyck": (["()", "(()"], 2),
    "dyck-both-ways": (["()", "()(()"], 2),
    "letters": (["aa", "aaaa"], 3),
    "letters-both-ways": (["a", "aaaa"], 2),
    "parity": (["1111", "11111"], 5),
    "s3-deltanet": (["120 120", "120"], 1),
    "s3-diagonal": (["021 102", "102 102"], 1),
    "s4-diagonal": (["0132 0213", "0213 0132"], 2),
    "sorted": (["b", "ba"], 1),
    "stair": (["a", "aaa"], 2),
}


@pytest.mark.parametrize("name", STORED)
def test_other_words_are_no_certificate(name) -> None:
    words, parted = APART[name]
    found = check(STORED[name] | {"words": words})
    assert (found.result, found.found.separated_by) == (Result.NOT_VERIFIED, parted)


@pytest.mark.parametrize("name", STORED)
def test_a_word_beside_itself_shows_nothing(name) -> None:
    one, _ = STORED[name]["words"]
    found = check(STORED[name] | {"words": [one, one]})
    assert (found.right, found.found.separated_by) == (False, None)


@pytest.mark.parametrize("name", THOUGHTS)
def test_of_thoughts_every_word_is_needed(name) -> None:
    for word in (bound := THOUGHTS[name])["words"]:
        fewer = [other for other in bound["words"] if other != word]
        found = check(bound | {"words": fewer})
        assert (found.right, found.found.separated_by) == (False, bound["layers"])


@pytest.mark.parametrize("name", THOUGHTS)
def test_a_search_over_all_decoders_finds_no_fewer_steps(name) -> None:
    """On the words that are named alone, by another route than the rank."""
    bound = read_bound(THOUGHTS[name])
    named = {tuple(map(int, word)) for word in bound.words}
    others = sum(1 << j for j, word in enumerate(bound.function.words) if word not in named)
    # Words that are not named may be answered in any way.
    classes = {answer: same | others for answer, same in bound.function.classes.items()}
    only = bound.function._replace(classes=classes)
    assert least_steps(only) == bound.layers + 1


# --- nets at random ---


def hard_attention(layers: int, rng: random.Random, kind: str):
    """A net of four states with random scores, values and transitions; what it holds at the end."""
    both = kind == "uhat-two-way"
    tables = [
        {
            "score": cache(lambda *pair: rng.randrange(3)),
            "next": cache(lambda *pair: rng.randrange(4)),
            "side": rng.choice((1, -1)) if both else 1 if kind == "uhat-right" else -1,
            # What is seen before the own position, at it and after it.
            "sees": [rng.randrange(2) for _ in range(3)] if both else (1, 0, 0),
        }
        for _ in range(2 * layers)
    ]

    def run(word: str):
        now: list = [*word, "$"]
        for layer in range(layers):
            following = []
            for i, own in enumerate(now):
                heads = []
                for head in (tables[2 * layer], tables[2 * layer + 1]):
                    seen = [j for j in range(len(now)) if head["sees"][(j > i) - (j < i) + 1]]
                    best = max(
                        seen,
                        key=lambda j: (head["score"](own, now[j]), head["side"] * j),
                        default=None,
                    )
                    heads.append(None if best is None else now[best])
                following.append(tables[2 * layer]["next"](own, *heads))
            now = following
        return now[-1]

    return run


@pytest.mark.parametrize("name", [n for n, b in STORED.items() if b["class"].startswith("uhat")])
def test_no_hard_attention_at_random_tells_the_words_apart(name) -> None:
    bound = read_bound(STORED[name])
    one, other = ("".join(word) for word in bound.words)
    rng = random.Random(7)
    for _ in range(300):
        net = hard_attention(bound.layers, rng, bound.kind)
        assert net(one) == net(other)
    deeper = (hard_attention(bound.layers + 1, rng, bound.kind) for _ in range(3_000))
    assert name == "parity" or any(net(one) != net(other) for net in deeper)


def signs(layers: int, rng: random.Random):
    """Layers of two signs each, which depend on the letter and the states below before it."""
    sign = cache(lambda *read: (rng.choice((1, -1)), rng.choice((1, -1))))

    def run(word):
        states = [(1, 1)] * layers
        for letter in word:
            below = tuple(states)
            states = [
                tuple(a * b for a, b in zip(state, sign(layer, letter, below[:layer]), strict=True))
                for layer, state in enumerate(states)
            ]
        return tuple(states)

    return run


@pytest.mark.parametrize("name", ["c4-signs", "d8-signs"])
def test_no_signs_at_random_tell_the_words_apart(name) -> None:
    bound, rng = read_bound(STORED[name]), random.Random(3)
    one, other = bound.words
    for _ in range(300):
        net = signs(bound.layers, rng)
        assert net(one) == net(other)
    assert any((net := signs(bound.layers + 1, rng))(one) != net(other) for _ in range(300))


def commutator(u: list, v: list) -> list:
    return [*taken_back(u), *taken_back(v), *u, *v]


def taken_back(word: list) -> list:
    return [x.removesuffix(BACK) if x.endswith(BACK) else x + BACK for x in reversed(word)]


def in_derived(length: int, rng: random.Random) -> list:
    """A random word of the group of the derived series of that number, in the free group."""
    if not length:
        return [rng.choice("xyz") + rng.choice(("", BACK)) for _ in range(rng.randrange(1, 4))]
    return commutator(in_derived(length - 1, rng), in_derived(length - 1, rng))


# Groups by derived length: k diagonal layers do no more than these, and each of them.
DERIVED = {1: ("C6",), 2: ("S3", "D4", "A4"), 3: ("S4", "SL(2,3)")}


@pytest.mark.parametrize("layers", [1, 2, 3])
def test_words_are_alike_iff_they_are_equal_in_all_groups_of_the_derived_length(layers) -> None:
    rng = random.Random(layers)

    def value(word, images, one):
        for letter in word:
            plain = images[letter.removesuffix(BACK)]
            one = times(one, inverse(plain) if letter.endswith(BACK) else plain)
        return one

    def equal(one, other, tries=40) -> bool:
        for name in DERIVED[layers]:
            elements = sorted(closure(GROUPS[name]))
            unit = power(elements[0], 0)
            for _ in range(tries):
                images = {letter: rng.choice(elements) for letter in "xyz"}
                if value(one, images, unit) != value(other, images, unit):
                    return False
        return True

    def alike(one, other) -> bool:
        first, second = flows([one, other], layers)
        return first == second

    for _ in range(25):
        u, v, inner = in_derived(0, rng), in_derived(0, rng), in_derived(layers, rng)
        one, other = tuple(u + v), tuple(u + inner + v)
        assert alike(one, other)
        assert equal(one, other)
        # A member of the series one earlier, which a group of this length tells from 1.
        shallow = tuple(u + in_derived(layers - 1, rng) + v)
        assert equal(one, shallow) or not alike(one, shallow)


def test_diagonal_layers_with_resets_are_deceived_after_words_that_bring_them_to_rest() -> None:
    """One layer whose letters turn a wheel of six places or throw it back to a place. After words
    that throw it back as far as any do, xy and yx are one; as written they are not."""
    group = sorted(closure(GROUPS["S3"]))
    rng, apart = random.Random(1), 0
    for _ in range(200):
        acts = {x: rng.choice([("turn", k) for k in range(6)] + [("to", 2)]) for x in group}

        def run(word, place=0, acts=acts):
            for letter in word:
                how, k = acts[letter]
                place = (place + k) % 6 if how == "turn" else k
            return place

        thrown = [x for x in group if acts[x][0] == "to"]
        # A word of product 1 with such a letter in it, if there is one.
        rest = [thrown[0], inverse(thrown[0])] if thrown else []
        x, y = (0, 2, 1), (1, 0, 2)
        one, other = ([*rest, a, *rest, b, *rest] for a, b in ((x, y), (y, x)))
        assert run(one) == run(other)
        apart += run([x, y]) != run([y, x])
        assert not rest or times(*rest) == power(x, 0)
    assert apart > 20


# --- compared with the table ---


@pytest.mark.parametrize(
    ("lower", "upper", "result"),
    [
        ("2", "5", Result.RECORD),
        ("D + 1", "", Result.EQUAL),
        ("4", "5", Result.WEAKER),
        ("none", "", Result.WEAKER),
        ("", "5", Result.NO_LOWER),
        ("order log n", "", Result.NO_LOWER),
        ("1", "D", Result.CONTRADICTS_UPPER),
        ("", "2", Result.CONTRADICTS_UPPER),
    ],
)
def test_a_bound_is_compared_with_both_ends(lower, upper, result, monkeypatch) -> None:
    table_of(monkeypatch, "dyck", "uhat-right", lower, upper)
    found = check(STORED["dyck"])
    assert found.right
    assert found.result == result


def test_without_a_row_there_is_nothing_to_compare_with() -> None:
    bound = {"family": "bound", "task": "stair", "parameters": {"k": 2}, "class": "uhat-right"}
    bound |= {"layers": 0, "words": ["b", "aa"]}
    assert compared(bound) == (Result.WEAKER, 2, "ours, derived")
    # Of the row of languages that are not R-trivial.
    of_others = compared(bound | {"class": "uhat-left"})
    assert of_others == (Result.WEAKER, inf, "jerad2025, printed")


def compared(given: dict) -> tuple[str, float, str]:
    found = check(given)
    return found.result, found.ends.needed, found.ends.lower.attribution


def test_a_language_is_compared_with_what_is_decided_of_it() -> None:
    bound = STORED["sorted"]
    assert compared(bound) == (Result.EQUAL, 2, SEARCH)
    cycle = bound | {"language": "(ab)*", "words": ["abab", "ababa"]}
    assert compared(cycle) == (Result.WEAKER, inf, "jerad2025, printed")
    right = cycle | {"class": "uhat-right", "words": ["ab", "aab"]}
    assert compared(right) == (Result.EQUAL, 2, SEARCH)
    odd = right | {"language": "(aa)*", "alphabet": "a", "words": ["a", "aa"]}
    assert compared(odd) == (Result.WEAKER, inf, "yang2024masked, printed")


# --- reading ---


@pytest.mark.parametrize(
    ("changed", "says"),
    [
        ({"class": "softmax"}, "bounds of the class 'softmax' cannot be checked from words"),
        ({"class": None}, "accepted are uhat-right, uhat-left, uhat-two-way, diagonal-ssm, "),
        ({"class": "diagonal-ssm"}, "for the task dyck are not checked here; accepted are the"),
        ({"class": "cot-one-head"}, "for the task 'dyck' are not checked here; accepted are bool"),
        ({"task": "parity-bits", "parameters": {"n": 2}}, "the task parity-bits are not checked"),
        ({"words": ["()", "(", ")"]}, "the file names no two words"),
        ({"layers": -1}, "the field layers is '-1'"),
        ({"layers": True}, "the field layers is 'True'"),
        ({"layers": "2"}, "give the number of layers that do not suffice, 0 or more"),
        ({"layers": 10**6}, "1,000,000 layers on a word of 5 letters take too long"),
        ({"words": ["()"]}, "the file names no two words"),
        ({"words": ["()", ""]}, "cannot read the word ''; give a list of one letter or more"),
        ({"words": ["()", 3]}, "cannot read the word '3'"),
        ({"words": ["()", "ab"]}, "'a', which is no letter of the task; accepted are ( )"),
        ({"words": ["()", [["("]]]}, "which is no letter of the task"),
        ({"words": ["()", "(" * 20_001]}, "a word has 20,001 letters; accepted are up to 20,000"),
        ({"words": ["()", "(" * 5_000]}, "take too long; give fewer layers or shorter words"),
        ({"language": "a*"}, 'give either "task" and "parameters", or "language"'),
        ({"task": None}, "the task has the wrong form"),
        ({"task": "maximum"}, "the task 'maximum' cannot be checked from a file"),
        ({"parameters": {}}, "the task dyck takes the parameters k, D"),
    ],
)
def test_what_is_wrong_with_a_file_is_one_line(changed, says) -> None:
    with pytest.raises(UsageError) as error:
        check(STORED["dyck"] | changed)
    assert says in str(error.value)
    assert "\n" not in str(error.value)


@pytest.mark.parametrize(
    ("name", "changed", "says"),
    [
        ("sorted", {"alphabet": None}, 'give "language": "(ab)*" and "alphabet": "ab"'),
        ("sorted", {"language": "(a"}, "cannot read '(a'"),
        ("sorted", {"class": "sign-ssm"}, "for a language are not checked here; accepted are uhat"),
        ("s3-diagonal", {"class": "uhat-right"}, "accepted are the classes diagonal-ssm, sign-ssm"),
        ("c4-signs", {"words": ["1230^-1", "0123"]}, "'1230^-1', which is no letter of the task"),
        ("s3-diagonal", {"words": ["021^-2", "102"]}, "accepted are 012 021 102 120 201 210, each"),
        ("s3-deltanet", {"words": ["120 021", "120"]}, "both words are powers of one letter"),
        ("kth-one-thoughts", {"words": ["01", "0111"]}, "the words of this task have 4 letters"),
        ("kth-one-thoughts", {"words": ["0121", "0111"]}, "'2', which is no letter of the task"),
        ("kth-one-thoughts", {"parameters": {"k": 2, "n": 13}}, "whole numbers from 1 to 12 here"),
        ("kth-one-thoughts", {"parameters": {"k": 2}}, "takes the parameters k, n"),
        ("iteration-thoughts", {"parameters": {"l": 1, "n": 6}}, "words of this task have 6"),
        ("function-thoughts", {"parameters": {"table": "011"}}, "has 2^n digits 0 and 1"),
        ("function-thoughts", {"parameters": {"table": 6}}, "the parity of two bits 0110; got '6'"),
        ("s3-deltanet", {"layers": 2}, "bounds on 0 or 1 layers are checked here; got 2"),
    ],
)
def test_each_class_has_its_words(name, changed, says) -> None:
    with pytest.raises(UsageError) as error:
        check(ALL[name] | changed)
    assert says in str(error.value)


def test_words_that_take_too_long_are_refused() -> None:
    words = ["".join(map(str, word)) for word in product(range(5), repeat=5)]
    bound = ALL["iteration-thoughts"] | {"parameters": {"l": 2, "n": 5}}
    with pytest.raises(UsageError, match="too many words to be decided; name fewer"):
        check(bound | {"words": words})
    assert check(bound | {"words": ["11200", "12100", "21200", "22100"]}).right


def test_a_length_belongs_to_nets() -> None:
    with pytest.raises(UsageError, match="--length belongs to nets"):
        check(STORED["dyck"], length=3)


def test_letters_may_be_listed_or_written_in_one_string() -> None:
    bound = STORED["s3-diagonal"]
    listed = bound | {"words": [word.split() for word in bound["words"]]}
    assert read_bound(listed) == read_bound(bound)


def test_inverses_multiply_to_one() -> None:
    bound = STORED["s3-diagonal"]
    for x, y in product(("120", "021"), repeat=2):
        read = read_bound(bound | {"words": [f"{x} {y}{BACK} {y} {x}{BACK}", "012"]})
        assert read.answers == ("012", "012")
    with pytest.raises(UsageError):
        read_bound(bound | {"words": [f"120{BACK}{BACK}", "012"]})

"""Words against Python's regular expressions, their distributions exactly, and a wrong automaton."""
import dataclasses
import itertools
import re

import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st
from scipy import stats

from depthlaw.empirics.tasks import cross_check
from depthlaw.empirics.tasks.languages import Blocks, Prefixes, letter_odds, walk
from depthlaw.theory.formal_languages.automaton import minimal, monoid_period

FALSE_ALARM = 1e-6
STAR_FREE = ["(ab)*", "a*b*", "(a|b)*b", "a+b+a+", "(a|b)*aa(a|b)*", "(ab|ba)*", "(aab)*", "(a(ab)*b)*"]


def seeded(seed=0):
    return torch.Generator().manual_seed(seed)


@given(st.sampled_from(STAR_FREE), st.lists(st.integers(0, 1), max_size=12))
def test_the_walk_ends_where_the_word_matches(expression, letters):
    automaton = minimal(expression)
    states = walk(automaton, torch.tensor([letters], dtype=torch.long))[0].tolist()
    word = "".join("ab"[i] for i in letters)
    assert [s in automaton.accepting for s in states] == [re.fullmatch(expression, word[:i]) is not None for i in range(len(word) + 1)]


def test_the_listed_languages_are_star_free_and_the_parity_of_a_is_not():
    assert {monoid_period(Prefixes(expression, letters=6).automaton) for expression in STAR_FREE} == {1}
    assert monoid_period(Prefixes("(b|ab*a)*", letters=6).automaton) == 2


def chance(odds, automaton, word):
    """The probability of a word, letter by letter."""
    state, product = 0, 1.0
    for i, letter in enumerate(word):
        product *= odds[i, state, letter].item()
        state = automaton.moves[letter][state]
    return product


@pytest.mark.parametrize("inside", [True, False])
@pytest.mark.parametrize("expression", ["a*b*", "(a|b)*aa(a|b)*", "(ab|ba)*"])
def test_the_odds_give_every_word_the_same_probability(expression, inside):
    automaton = minimal(expression)
    odds = letter_odds(automaton, 6, inside)
    every = list(itertools.product(range(2), repeat=6))
    asked = [word for word in every if automaton.accepts("".join("ab"[i] for i in word)) == inside]
    # Six factors, each rounded a few times.
    assert all(abs(chance(odds, automaton, word) * len(asked) - 1) < 2**6 * 2.0**-53 for word in asked)
    assert all(chance(odds, automaton, word) == 0 for word in every if word not in asked)


def test_odds_of_long_words_neither_overflow_nor_vanish():
    odds = letter_odds(minimal("(ab)*"), 4000, True)
    assert odds[0, 0].tolist() == [1.0, 0.0]
    assert odds[-1, 1].tolist() == [0.0, 1.0]


@pytest.mark.parametrize("negatives", ["near", "uniform"])
@pytest.mark.parametrize("expression", STAR_FREE)
def test_half_of_the_words_are_inside(expression, negatives):
    batch = Prefixes(expression, letters=12, negatives=negatives, whole=True).batch(seeded(), 1, 3000)
    assert batch.scored.sum() == 3000
    assert stats.binomtest(int(batch.targets[batch.scored].sum()), 3000, 0.5).pvalue > FALSE_ALARM


def test_near_words_have_the_letters_of_words_inside():
    batch = Prefixes("(ab)*", letters=12).batch(seeded(), 1, 500)
    assert (batch.inputs[..., 1:].sum(-1) == 6).all()
    uniform = Prefixes("(ab)*", letters=12, negatives="uniform").batch(seeded(), 1, 500)
    assert not (uniform.inputs[..., 1:].sum(-1) == 6).all()


def test_every_word_inside_is_drawn_equally_often():
    batch = Prefixes("a*b*", letters=4, whole=True).batch(seeded(), 1, 4000)
    inside = batch.inputs[batch.targets[..., -1] == 1][:, 1:].sum(-1)
    assert stats.chisquare(inside.bincount().tolist()).pvalue > FALSE_ALARM
    assert len(inside.unique()) == 5


def test_a_wrong_automaton_is_caught(monkeypatch):
    task = Prefixes("(ab)*", letters=8)
    assert cross_check(task, task.batch(seeded(), 1, 20)).wrong == 0
    automaton = task.automaton
    wrong = automaton._replace(accepting=frozenset(range(automaton.states)) - automaton.accepting)
    monkeypatch.setattr(Prefixes, "automaton", property(lambda self: wrong))
    assert cross_check(task, task.batch(seeded(), 1, 20)).wrong > 0


def test_blocks_of_one_letter_too_few_are_caught():
    task = Blocks(blocks=3, letters=10, words="published")
    other = dataclasses.replace(task, blocks=4).batch(seeded(), 1, 20)
    assert cross_check(task, task.batch(seeded(), 1, 20)).wrong == 0
    assert cross_check(task, other).wrong > 0


def test_published_words_have_k_blocks_with_switches_anywhere():
    batch = Blocks(blocks=3, letters=5, words="published").batch(seeded(), 1, 3000)
    assert (batch.group[..., -1] == 3).all()
    assert batch.targets[..., -1].all()
    switches = (batch.inputs[..., 2:] != batch.inputs[..., 1:-1]).long() @ torch.tensor([8, 4, 2, 1])
    assert stats.chisquare(switches.unique(return_counts=True)[1].tolist()).pvalue > FALSE_ALARM
    assert len(switches.unique()) == 6


@pytest.mark.parametrize(("k", "numbers"), [(1, {1, 3}), (2, {2, 4}), (3, {1, 3, 5}), (6, {4, 6, 8})])
def test_balanced_words_differ_by_two_blocks_and_keep_their_ends(k, numbers):
    batch = Blocks(blocks=k, letters=20).batch(seeded(), 1, 2000)
    assert set(batch.group[..., -1].unique().tolist()) == numbers
    assert (batch.inputs[..., 1] == 0).all()
    assert (batch.inputs[..., -1] == (k + 1) % 2).all()
    assert stats.binomtest(int(batch.targets[batch.scored].sum()), 2000, 0.5).pvalue > FALSE_ALARM


@pytest.mark.parametrize("words", ["published", "balanced"])
def test_blocks_of_several_lengths_are_padded_and_checked(words):
    task = Blocks(blocks=3, letters=12, words=words, shortest=6)
    batch = task.batch(seeded(), 1, 3500)
    size = (batch.inputs[0, :, 1:] < 2).sum(-1)
    assert stats.chisquare(size.bincount()[6:].tolist()).pvalue > FALSE_ALARM
    assert size.unique().tolist() == [6, 7, 8, 9, 10, 11, 12]
    place = torch.arange(13)
    beyond = place > size[:, None]
    assert torch.equal(batch.inputs[0] == 3, beyond)
    assert torch.equal(batch.learned[0], ~beyond)
    assert torch.equal(batch.scored[0], place == size[:, None] if words == "balanced" else ~beyond & (place > 0))
    assert (batch.group[0][beyond] == -1).all()
    numbers = batch.group[0].gather(1, size[:, None])
    assert set(numbers.unique().tolist()) == ({3} if words == "published" else {1, 3, 5})
    few = task.batch(seeded(1), 1, 30)
    assert cross_check(task, few).wrong == 0
    few.inputs[..., 1:] = torch.where(few.inputs[..., 1:] == 1, 0, few.inputs[..., 1:])
    assert cross_check(task, few).wrong > 0


def test_switches_of_short_words_are_anywhere_in_the_word():
    inputs = Blocks(blocks=2, letters=7, words="published", shortest=4).batch(seeded(), 1, 4000).inputs[0]
    short = inputs[inputs[:, 5] == 3][:, 1:5]
    assert stats.chisquare((short == 0).sum(-1).bincount()[1:].tolist()).pvalue > FALSE_ALARM
    assert (short == 0).sum(-1).unique().tolist() == [1, 2, 3]


def test_without_a_shortest_length_the_words_fill_all_places():
    task = Blocks(blocks=3, letters=12)
    assert task.vocabulary == 3
    assert (task.batch(seeded(), 1, 100).inputs[..., 1:] < 2).all()
    assert dataclasses.replace(task, shortest=5).vocabulary == 4
    assert len({task.name, dataclasses.replace(task, shortest=5).name}) == 2


@pytest.mark.parametrize(("build", "message"), [
    (lambda: Prefixes("(ab)*", letters=7), "no word of 7 letters is in"), (lambda: Prefixes("(a|b)*", letters=7), "outside"),
    (lambda: Prefixes("(ab", letters=7), "cannot read"), (lambda: Prefixes(letters=0), "at least 1"),
    (lambda: Prefixes(alphabet="a"), "two letters"), (lambda: Prefixes(negatives="far"), "near or uniform"),
    (lambda: Blocks(blocks=0), "at least 1"), (lambda: Blocks(blocks=3, letters=4), "two letters more"),
    (lambda: Blocks(words="all"), "published or balanced"), (lambda: Blocks(blocks=3, letters=9, shortest=4), "accepted are 0, and 5"),
    (lambda: Blocks(blocks=3, letters=9, shortest=10), "to 9 \\(the letters")])
def test_options_out_of_range_are_refused(build, message):
    with pytest.raises(ValueError, match=message):
        build()

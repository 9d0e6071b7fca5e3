"""hop_k against theory's pointers, and the published data."""

import pytest
import torch
from hypothesis import given, settings, strategies as st
from scipy import stats
from task_labels import cross_check

from depthlaw.empirics.tasks import sequences
from depthlaw.empirics.tasks.sequences import HopK, draw_symbols, find, last_copies
from depthlaw.theory.hops import pointers as theory

FALSE_ALARM = 1e-6


def seeded(seed=0):
    return torch.Generator().manual_seed(seed)


@settings(max_examples=40)
@given(
    st.lists(st.integers(0, 5) | st.integers(0, 20), min_size=1, max_size=30), st.integers(0, 20)
)
def test_find_is_theory_s(symbols, k):
    assert find(torch.tensor([symbols]), torch.tensor([k]), 20)[0].tolist() == theory.find(
        symbols, k
    )
    assert [p + 1 if p else 0 for p in last_copies(torch.tensor(symbols)).tolist()] == theory.find1(
        symbols
    )


@pytest.mark.parametrize("alphabet", [2, sequences.FEW, sequences.FEW + 1])
@pytest.mark.parametrize("length", [1, 60, 127, 128, 300])
def test_last_copies_of_few_symbols_are_those_of_the_sort(monkeypatch, alphabet, length):
    symbols = torch.randint(3, 3 + alphabet, (4, 5, length), generator=seeded())
    found = last_copies(symbols)
    monkeypatch.setattr(sequences, "FEW", 0)
    assert torch.equal(found, last_copies(symbols))
    assert length == 1 or not torch.equal(found, last_copies(symbols.flip(-1)))


def test_positions_in_numbers_too_small_are_caught(monkeypatch):
    symbols = torch.randint(0, 2, (5, 300), generator=seeded())
    right = last_copies(symbols)
    monkeypatch.setattr(sequences, "smallest_type", lambda largest: torch.int8)
    assert not torch.equal(right, last_copies(symbols))


def test_symbols_are_uniform_and_so_is_the_next_one():
    drawn = draw_symbols(seeded(), (3000, 2), 4, repeats=False)
    pairs, counts = (drawn @ torch.tensor([4, 1])).unique(return_counts=True)
    assert pairs.tolist() == [4 * a + b for a in range(4) for b in range(4) if a != b]
    assert stats.chisquare(counts.tolist()).pvalue > FALSE_ALARM
    free = draw_symbols(seeded(), (3000, 2), 4, repeats=True) @ torch.tensor([4, 1])
    assert stats.chisquare(free.unique(return_counts=True)[1].tolist()).pvalue > FALSE_ALARM
    assert len(free.unique()) == 16


def test_ids_are_the_published_ones():
    task = HopK()
    batch = task.batch(seeded(), 1, 500)
    assert (task.length, task.vocabulary, task.outputs) == (99, 30, 30)
    assert batch.inputs[..., 0].unique().tolist() == list(range(17))
    assert batch.inputs[..., 1:].unique().tolist() == [17, 18, 19, 20]
    assert (batch.targets[..., 0] == 22).all()
    assert batch.targets[..., 1:].unique().tolist() == [17, 18, 19, 20, 21]
    assert batch.scored.equal(batch.targets < 21)
    assert batch.learned.all()
    assert stats.chisquare(batch.inputs[..., 0].flatten().bincount().tolist()).pvalue > FALSE_ALARM


@pytest.mark.parametrize("k", [1, 4, 16])
def test_97_minus_3k_positions_are_scored_on_average(k):
    scored = HopK(k_min=k, k_max=k, vocabulary=0).batch(seeded(), 1, 4000).scored.sum(-1).double()
    # For small k it is that number in every sequence; later five standard errors, which are
    # exceeded with probability below 1e-6.
    error = scored.std().item() / 4000**0.5
    assert (error == 0) == (k < 16)
    assert abs(scored.mean().item() - (97 - 3 * k)) <= 5 * error
    assert abs(scored.mean().item() - (98 - 3 * k)) > 5 * error


def test_a_pointer_one_short_is_caught(monkeypatch):
    task = HopK(symbols=15, k_max=4)
    assert cross_check(task, task.batch(seeded(), 1, 20)).wrong == 0
    monkeypatch.setattr(
        sequences,
        "find",
        lambda symbols, hops, hops_max: find(symbols, (hops - 1).clamp(min=0), hops_max),
    )
    assert cross_check(task, task.batch(seeded(), 1, 20)).wrong > 0

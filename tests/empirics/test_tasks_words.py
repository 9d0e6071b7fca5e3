"""Words have the answers of the atlas's tasks, at every prefix, by another route."""

from collections import Counter
from functools import reduce

import pytest
import torch

from depthlaw.advisor.atlas import atlas_rows
from depthlaw.advisor.laws import layers_for_hops
from depthlaw.empirics.tasks.words import Words
from depthlaw.empirics.trained_depth.learnt_layers import _LARGER, _TASKS
from depthlaw.theory.atlas.tasks import word_task
from depthlaw.theory.least_depth.groups import GROUPS, closure, times

TASKS = [
    Words("parity", 9),
    Words("S3 words", 8),
    Words("A5 words", 6),
    Words("letters", 10, 3),
    Words("blocks", 10, 4),
    Words("stair", 12, 3),
    Words("brackets", 10, 2),
    Words("composition", 13, 3),
    Words("kgram", 14, 2),
    Words("kgram", 9, 1),
]


def answer(task, word):
    """What a prefix answers; None where it has no answer."""
    letters = {"parity": "01", "letters": "ba", "blocks": "ab", "stair": "abc", "brackets": "([)]"}
    if task.task in letters:
        sizes = {"parity": {}, "brackets": {"k": 2, "D": task.size}}.get(task.task)
        name = "dyck" if task.task == "brackets" else task.task
        member = word_task(name, {"k": task.size} if sizes is None else sizes).answer
        return int(member(tuple(letters[task.task][letter] for letter in word)))
    if task.task.endswith(" words"):
        elements = sorted(closure(GROUPS[task.task.removesuffix(" words")]))
        return elements.index(reduce(times, (elements[letter] for letter in word)))
    if task.task == "composition":
        if len(word) < task.length:
            return None
        value = word[-1] - 4
        for j in reversed(range(task.size)):
            value = word[4 * j + value]
        return value
    k = task.size
    seen = Counter(word[i + k] for i in range(len(word) - k) if word[i : i + k] == word[-k:])
    best = seen.most_common(2)
    if len(word) < k or not best or (len(best) == 2 and best[0][1] == best[1][1]):
        return None
    return best[0][0]


@pytest.mark.parametrize("task", TASKS, ids=lambda task: task.name)
def test_every_prefix_has_its_answer(task):
    batch = task.batch(torch.Generator().manual_seed(3), 1, 200)
    others = wrong = 0
    rows = zip(batch.inputs[0], batch.targets[0], batch.loss_mask[0], strict=True)
    for letters, targets, known in rows:
        word = letters.tolist()
        for end in range(1, task.length + 1):
            expected = answer(task, word[:end])
            assert (expected is not None) == bool(known[end - 1])
            if expected is not None:
                assert targets[end - 1] == expected
                others += 1
                wrong += int(answer(task, word[end - 1 :: -1]) != expected)
    assert torch.equal(batch.scored[..., -1], batch.loss_mask[..., -1])
    assert not batch.scored[..., :-1].any()
    # The other route could disagree: words read backwards often have another answer.
    assert task.task in ("parity", "letters", "stair", "composition") or wrong > others / 20


@pytest.mark.parametrize("task", TASKS, ids=lambda task: task.name)
def test_no_answer_is_rare_or_nearly_sure(task):
    batch = task.batch(torch.Generator().manual_seed(4), 1, 4_000)
    last = batch.targets[batch.scored]
    share = torch.bincount(last, minlength=task.outputs) / len(last)
    assert share.min() > 0.3 / task.outputs
    assert share.max() < 0.7


@pytest.mark.parametrize(
    "sizes",
    [
        ("words", 5),
        ("blocks", 7, 4),
        ("brackets", 9, 2),
        ("brackets", 10, 1),
        ("composition", 12, 3),
    ],
)
def test_what_has_no_words_is_refused(sizes):
    with pytest.raises(ValueError, match="accepted are"):
        Words(*sizes)


def test_bounds_beside_trained_nets_are_those_of_the_atlas():
    for task, key, model, needed, enough in _TASKS + _LARGER:
        (row,) = (row for row in atlas_rows(key) if row.class_.key == model)
        k = task.get("hops", task.get("size"))
        value = {
            "2": 2,
            "k": k,
            "D + 1": None if k is None else k + 1,
            "ceil(log2(k)) + 2": layers_for_hops(k or 1),
            "ceil(log2(k + 1))": (k or 0).bit_length(),
            "ceil(log(N, H + 1))": next(L for L in range(9) if task["symbols"] <= 2**L),
        }
        assert (value[row.lower.depth], value[row.upper.depth]) == (needed, enough), key


def test_counts_and_neighbours_do_not_tell_brackets():
    batch = Words("brackets", 16, 3).batch(torch.Generator().manual_seed(5), 1, 4_000)
    words, right = batch.inputs[0], batch.targets[0, :, -1].bool()
    heights = torch.where(words < 2, 1, -1).cumsum(-1)
    assert (heights >= 0).all()
    assert (heights <= 3).all()
    assert not heights[:, -1].any()
    before, after = words[:, :-1], words[:, 1:]
    assert not ((before < 2) & (after >= 2) & (after != before + 2)).any()
    # A closing bracket of each kind for every opening one, in words of both answers.
    for kind in range(2):
        assert ((words == kind).sum(-1) == (words == kind + 2).sum(-1)).all()
    assert 0.45 < right.float().mean() < 0.55

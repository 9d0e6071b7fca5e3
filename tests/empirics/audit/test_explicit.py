"""Exact nets as torch modules."""

from __future__ import annotations

import random
from pathlib import Path

import pytest
import torch
from stored_nets import NETS, stored

from depthlaw.advisor.base.quantities import UsageError
from depthlaw.empirics.audit.explicit import explicit, load, save
from depthlaw.theory.atlas.tasks import word_task
from depthlaw.theory.nets.attention import AttentionNet
from depthlaw.theory.nets.batched import answers
from depthlaw.theory.nets.json_format import net_of
from depthlaw.theory.nets.recurrent import RecurrentNet

FIXED = {"connectivity-linear": 5, "composition-lookups": 7, "product-of-four": 4, "majority": 7}
FIXED |= dict.fromkeys(("recall", "sorting-one-layer", "sorting-two-layers"), 4)
RECALL = {"n": 3, "keys": 3, "values": 2}
RUN = sorted(path.stem for path in NETS.glob("*.json"))


@pytest.mark.parametrize("name", RUN)
def test_answers_are_those_of_the_exact_net(name: str) -> None:
    exact = net_of(stored(name))
    if not isinstance(exact, AttentionNet | RecurrentNet) or getattr(exact, "thoughts", None):
        with pytest.raises(UsageError, match="has no layers"):
            explicit(exact)
        return
    net, rng = explicit(exact), random.Random(name)
    for letters in [FIXED[name]] if name in FIXED else [3, 7, 20]:
        words = [tuple(rng.choices(exact.alphabet, k=letters)) for _ in range(25)]
        if name == "recall":
            # A key that is asked in vain ties, and rounding decides: only words of the task.
            words = rng.choices(list(word_task(name, RECALL).words(letters)), k=25)
        assert net.answers(words) == [said for _, said in answers(exact, words)]
        hidden = net.embedding(net.ids(words))
        assert all(
            (hidden := layer(hidden)).shape[1] == net.ids(words).shape[1] for layer in net.layers
        )


def test_a_folder_holds_the_weights_that_run(tmp_path: Path) -> None:
    net, words = explicit(stored("dyck-hard")), ["([])", "([)]", "(())"]
    with torch.no_grad():
        net.head.bias[1] = 100
    save(net, tmp_path / "net")
    loaded = load(tmp_path / "net")
    assert [p.name for p in sorted((tmp_path / "net").iterdir())] == [
        "model.safetensors",
        "net.json",
    ]
    assert loaded.answers(words) == net.answers(words) == [True, True, True]
    assert explicit(loaded.exact).answers(words) == [True, False, True]


@pytest.mark.parametrize("case", ["no folder", "cut", "other", "nan", "form", "single"])
def test_hostile_folders_are_refused_in_a_line(tmp_path: Path, case: str) -> None:
    net = explicit(stored("letters-hard"))
    if case == "nan":
        net.head.weight.data[0, 0] = torch.nan
    elif case == "single":
        net.float()
    if case != "no folder":
        save(net, tmp_path)
    weights = tmp_path / "model.safetensors"
    if case == "cut":
        weights.write_bytes(weights.read_bytes()[:-9])
    elif case == "other":
        (tmp_path / "net.json").write_text((NETS / "dyck-hard.json").read_text())
    elif case == "form":
        (tmp_path / "net.json").write_text('{"family": "attention", "layers": 3}')
    with pytest.raises(UsageError) as refused:
        load(tmp_path)
    assert "\n" not in str(refused.value)
    assert len(str(refused.value)) < 300


def test_words_that_no_net_reads() -> None:
    net = explicit(stored("letters-hard"))
    for words in ([], ["ab", "a"], ["xy"]):
        with pytest.raises(UsageError):
            net.answers(words)

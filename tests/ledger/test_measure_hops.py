"""`depthlaw measure hops`: checkpoints in both layouts, what is counted, and what is refused."""

from __future__ import annotations

import json
from collections import OrderedDict
from collections.abc import Callable, Iterator
from itertools import pairwise
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch
from torch import Tensor
from torch.nn import functional

from depthlaw.advisor.base.quantities import UsageError
from depthlaw.empirics.architectures.gpt2_weights import stored_gpt2
from depthlaw.empirics.nets.net import Net, gpt2
from depthlaw.empirics.tasks.sequences import HopK
from depthlaw.empirics.trained_depth.stored_hops import OneHop, hop_errors
from depthlaw.empirics.training.evaluation import spot_checks
from depthlaw.ledger.records.environment import installing
from depthlaw.theory.claims.definition import Proportion
from depthlaw.theory.hops.pointers import find

WIDTH, DEPTH, HEADS = 32, 2, 4
CONFIG: dict[str, Any] = {
    "model_type": "gpt2",
    "vocab_size": 30,
    "n_positions": 100,
    "n_embd": WIDTH,
    "n_layer": DEPTH,
    "n_head": HEADS,
}
# As the authors' files say it.
PUBLISHED = """model:
  depth: 2
  dim_embedding: 32
  dim_feedforward: 0
  family: gpt2_model
  headcount: 4
  vocab_size: 30
out_dir: models/induction_hops_full_seq/3cfe0268-eae3
training:
  learning_rate: 0.0001
  task_kwargs:
    max_hops: 16
    seq_len: 100
"""


def sizes() -> dict[str, tuple[int, ...]]:
    """Shapes by the names of transformers, written down from GPT-2 itself."""
    w = WIDTH
    vectors = {"ln_1.weight": w, "ln_1.bias": w, "ln_2.weight": w, "ln_2.bias": w}
    vectors |= {"attn.c_attn.bias": 3 * w, "attn.c_proj.bias": w}
    vectors |= {"mlp.c_fc.bias": 4 * w, "mlp.c_proj.bias": w}
    matrices = {"attn.c_attn.weight": (w, 3 * w), "attn.c_proj.weight": (w, w)}
    matrices |= {"mlp.c_fc.weight": (w, 4 * w), "mlp.c_proj.weight": (4 * w, w)}
    layer = {**{name: (size,) for name, size in vectors.items()}, **matrices}
    below = {f"h.{i}.{name}": size for i in range(DEPTH) for name, size in layer.items()}
    ends = {"wte.weight": (30, w), "wpe.weight": (100, w), "ln_f.weight": (w,), "ln_f.bias": (w,)}
    return ends | below


def weights(seed: int = 0) -> dict[str, Tensor]:
    """Random ones, gains and biases too."""
    rng = torch.Generator().manual_seed(seed)
    return {n: 0.3 * torch.randn(size, generator=rng) for n, size in sizes().items()}


def forward(w: dict[str, Tensor], ids: Tensor) -> Tensor:
    """GPT-2 by the book: (sequences, tokens) -> hidden states after the last norm."""

    def norm(x: Tensor, name: str) -> Tensor:
        return functional.layer_norm(x, (WIDTH,), w[f"{name}.weight"], w[f"{name}.bias"])

    def linear(x: Tensor, name: str) -> Tensor:
        return x @ w[f"{name}.weight"] + w[f"{name}.bias"]

    x = w["wte.weight"][ids] + w["wpe.weight"][: ids.shape[1]]
    late = torch.ones(ids.shape[1], ids.shape[1], dtype=torch.bool).triu(1)
    for h in (f"h.{layer}" for layer in range(DEPTH)):
        parts = linear(norm(x, f"{h}.ln_1"), f"{h}.attn.c_attn").split(WIDTH, dim=-1)
        q, k, v = (part.unflatten(-1, (HEADS, -1)).transpose(1, 2) for part in parts)
        scores = (q @ k.mT / (WIDTH // HEADS) ** 0.5).masked_fill(late, -torch.inf)
        mixed = (scores.softmax(-1) @ v).transpose(1, 2).flatten(2)
        x = x + linear(mixed, f"{h}.attn.c_proj")
        inner = functional.gelu(linear(norm(x, f"{h}.ln_2"), f"{h}.mlp.c_fc"), approximate="tanh")
        x = x + linear(inner, f"{h}.mlp.c_proj")
    return norm(x, "ln_f")


def stored(folder: Path, tensors: dict[str, Tensor] | None = None, **config: Any) -> Path:
    """A folder as `save_pretrained` writes it."""
    from safetensors.torch import save_file

    folder.mkdir(exist_ok=True)
    (folder / "config.json").write_text(json.dumps(CONFIG | config))
    save_file(weights() if tensors is None else tensors, folder / "model.safetensors")
    return folder


def published(folder: Path, tensors: dict[str, Tensor], config: str = PUBLISHED) -> Path:
    """A folder as the authors published theirs: a GPT2Model under the name backbone."""
    folder.mkdir(exist_ok=True)
    (folder / "config.yaml").write_text(config)
    named = OrderedDict((f"backbone.{name}", weight) for name, weight in tensors.items())
    named._metadata = {"": {"version": 1}}  # type: ignore[attr-defined]
    torch.save(named, folder / "model_100000.pt")
    return folder


def ids() -> Tensor:
    return torch.randint(0, 30, (3, 99), generator=torch.Generator().manual_seed(1))


def test_in_both_layouts_it_is_gpt_2(tmp_path: Path) -> None:
    w, x = weights(), ids()
    masks = {f"h.{i}.attn.bias": torch.ones(1, 1, 100, 100) for i in range(DEPTH)}
    for folder in (
        stored(tmp_path / "a", w),
        stored(tmp_path / "b", {f"transformer.{n}": t for n, t in (w | masks).items()}),
        published(tmp_path / "c", w),
    ):
        net, logits, _ = stored_gpt2(folder)
        assert logits == "hidden states"
        with torch.no_grad():
            assert torch.allclose(net(x[None])[0], forward(w, x), atol=1e-4)
        assert (net.training, net.shape.dropout) == (False, 0.1)


def test_a_head_makes_the_logits(tmp_path: Path) -> None:
    w, x = weights(), ids()
    head = torch.randn(30, WIDTH, generator=torch.Generator().manual_seed(2))
    named = {f"transformer.{name}": weight for name, weight in w.items()}
    whole = {"architectures": ["GPT2LMHeadModel"]}
    for folder, read, said in (
        (stored(tmp_path / "own", named | {"lm_head.weight": head}), head, "lm_head.weight"),
        (stored(tmp_path / "tied", named, **whole), w["wte.weight"], "wte.weight"),
    ):
        net, logits, _ = stored_gpt2(folder)
        assert logits == said
        with torch.no_grad():
            assert torch.allclose(net(x[None])[0], forward(w, x) @ read.T, atol=1e-3)
    with pytest.raises(UsageError, match="lacks lm_head.weight"):
        stored_gpt2(stored(tmp_path / "none", named, **whole, tie_word_embeddings=False))


def test_options_of_the_configuration_are_followed(tmp_path: Path) -> None:
    """With scores that are not divided by sqrt(8) queries must be, to say the same."""
    w, x = weights(), ids()
    scaled = dict(w)
    for i in range(DEPTH):
        for name in (f"h.{i}.attn.c_attn.weight", f"h.{i}.attn.c_attn.bias"):
            scaled[name] = w[name].clone()
            scaled[name][..., :WIDTH] /= (WIDTH // HEADS) ** 0.5
    dropouts = dict.fromkeys(("embd_pdrop", "attn_pdrop", "resid_pdrop"), 0.25)
    folder = stored(tmp_path, scaled, scale_attn_weights=False, layer_norm_epsilon=1e-5, **dropouts)
    net = stored_gpt2(folder).net
    with torch.no_grad():
        assert torch.allclose(net(x[None])[0], forward(w, x), atol=1e-4)
    assert net.shape.dropout == 0.25


@pytest.mark.parametrize("k", [0, 1, 5, 16])
def test_sequences_of_one_k_are_those_of_the_published_task(k: int) -> None:
    task, batch = HopK(), OneHop(k=k).batch(torch.Generator().manual_seed(0), 1, 4)
    for inputs, targets, scored in zip(
        *(part[0] for part in (batch.inputs, batch.targets, batch.scored)), strict=True
    ):
        symbols = inputs[1:].tolist()
        assert inputs[0] == k
        assert {*symbols} == {17, 18, 19, 20}
        assert all(a != b for a, b in pairwise(symbols))
        answers = [symbols[p - 1] if p else task.missing for p in find(symbols, k)]
        assert targets.tolist() == [task.blank, *answers]
        assert scored.tolist() == [False, *(answer != task.missing for answer in answers)]


def random_net() -> Net:
    shape = gpt2(width=WIDTH, depth=1, heads=2, vocabulary=30, length=100)
    return Net(shape, rng=np.random.default_rng(0), std=0.5)


def test_counts_are_those_of_spot_checks_and_dropout_changes_them() -> None:
    net, state = random_net(), torch.get_rng_state()
    off, on, again = (
        hop_errors(net, 1, dropout, sequences=300, seed=3) for dropout in (False, True, True)
    )
    assert torch.equal(state, torch.get_rng_state())
    groups, counts = spot_checks(net, OneHop(k=1), seed=3, graphs=300)
    assert groups == (1,)
    assert off.right == Proportion(*map(int, counts[:, 0, 0]))
    assert off.error != on.error
    assert on == again


def test_a_net_that_copies_its_symbol_errs_as_often_as_copying_does() -> None:
    """All weights 0 but the embedding, in which a token is itself: hop_0 is right everywhere, hop_1
    nowhere, hop_2 half of the time (theory/hops)."""
    net = Net(gpt2(width=WIDTH, depth=1, heads=2, vocabulary=30, length=100))
    with torch.no_grad():
        net.embedding[0, :, :30] = torch.eye(30)
        net.embedding[0, :17] = 0
    found = [hop_errors(net, k, False, sequences=400) for k in (0, 1, 2)]
    assert [each.right.mean for each in found[:2]] == [1, 0]
    assert [each.error for each in found[:2]] == [0, 1]
    low, high = found[2].right.interval(1e-6)
    assert low < 0.5039 < high
    assert found[2].error == pytest.approx(1 - 0.5039, abs=0.02)


def test_the_table_has_the_published_cell_of_depth_and_k(
    tmp_path: Path, depthlaw: Callable[..., Any]
) -> None:
    """Of a net of the published width; all weights 0 but gains, so that it always says 0."""
    shape = gpt2(width=128, depth=4, heads=4, vocabulary=30, length=100)
    layer = {name.removeprefix("h.0."): size for name, size in sizes().items() if "h.0." in name}
    wide = {
        name: tuple(size * 4 if size % 32 == 0 else size for size in each)
        for name, each in {
            **{f"h.{i}.{name}": size for i in range(4) for name, size in layer.items()},
            **{name: size for name, size in sizes().items() if "h." not in name},
        }.items()
    }
    zeros = {name: torch.zeros(size) for name, size in wide.items()}
    config = PUBLISHED.replace("depth: 2", "depth: 4").replace("embedding: 32", "embedding: 128")
    folder = published(tmp_path / "there", zeros, config)
    command = ("measure hops --sequences 20 --k 8,3 --checkpoint", folder)
    data = depthlaw(*command, "--json").data
    assert data["parameters"] == sum(p.numel() for p in Net(shape).parameters()) == 809_984
    rows = [
        (row["hops"], row["dropout"], row["published"], row["reported"]) for row in data["errors"]
    ]
    assert rows == [
        (8, "off", None, 0.0648),
        (8, "on", 0.2163, 0.2130),
        (3, "off", None, None),
        (3, "on", None, None),
    ]
    assert {(row["wrong"], row["asked"], row["error"]) for row in data["errors"]} == {(20, 20, 1)}
    assert data["errors"][0]["interval"] == pytest.approx([0.025 ** (1 / 20), 1])
    printed = depthlaw(*command).out
    assert "0.2163" in printed
    assert "0.8316 to 1.0000" in printed
    tied = stored(tmp_path / "tied", architectures=["GPT2LMHeadModel"])
    command = ("measure hops --sequences 1 --k 8 --checkpoint", tied)
    assert "No published errors are listed" in depthlaw(*command).out
    # 130 m + 2 m + L (12 m^2 + 13 m)
    assert depthlaw(*command, "--json").data["parameters"] == 132 * 32 + 2 * (12 * 32**2 + 13 * 32)


def broken(folder: Path) -> Iterator[tuple[str, Path]]:
    """What is said of folders that cannot be used, each of which is made anew."""
    good, w = {"config.json": json.dumps(CONFIG)}, weights()
    unsafe = {"more than weights": Path("x"), "a state_dict alone": w}
    for place, (said, files) in enumerate(
        {
            "holds no config.json": {},
            "cannot be read": {"config.json": "{"},
            "the model is 'bert'": {"config.json": '{"model_type": "bert"}'},
            "the model is 'lstm'": {"config.yaml": PUBLISHED.replace("gpt2_model", "lstm")},
            "family is missing": {"config.yaml": "out_dir: x"},
            "no weights in one file": good,
            "2 files": {**good, "model_1.pt": "", "model_2.pt": ""},
            "damaged": {**good, "model.safetensors": "no weights"},
            **dict.fromkeys(unsafe, good),
        }.items()
    ):
        made = folder / f"files {place}"
        made.mkdir()
        for name, text in files.items():
            (made / name).write_text(text)
        if said in unsafe:
            torch.save({"state": unsafe[said]}, made / "pytorch_model.bin")
        yield said, made
    without = {name: weight for name, weight in w.items() if name != "ln_f.bias"}
    short = {**w, "ln_f.bias": torch.zeros(3)}
    nan = {**w, "ln_f.bias": torch.full((WIDTH,), torch.nan)}
    for said, tensors, config in (
        ("no wte.weight", {"x": torch.zeros(1)}, {}),
        ("ln_f.bias, [3] in place of [32]", short, {}),
        ("1 weight missing, such as ln_f.bias", without, {}),
        ("without a place, such as score.weight", {**w, "score.weight": torch.zeros(1)}, {}),
        ("not finite", nan, {}),
        ("the weights have 2 layers", w, {"n_layer": 3}),
        ("in place of [31, 32]", w, {"vocab_size": 31}),
        ("whole numbers", w, {"n_embd": "wide"}),
        ("heads divide", w, {"n_head": 5}),
        ("same rate", w, {"attn_pdrop": 0.2}),
        ("accepted are gelu_new", w, {"activation_function": "silu"}),
        ("is set", w, {"add_cross_attention": True}),
        ("has 22 token ids", {**w, "wte.weight": w["wte.weight"][:22]}, {"vocab_size": 22}),
        ("has 98 positions", {**w, "wpe.weight": w["wpe.weight"][:98]}, {"n_positions": 98}),
        ("has 4 logits", {**w, "lm_head.weight": torch.zeros(4, WIDTH)}, {}),
    ):
        yield said, stored(folder / "stored", tensors, **config)


def test_what_cannot_be_used_is_one_line_and_2(
    tmp_path: Path, refused: Callable[..., str], monkeypatch: pytest.MonkeyPatch
) -> None:
    assert "is not a folder" in refused("measure hops --checkpoint", tmp_path / "absent")
    for said, folder in broken(tmp_path):
        assert said in refused("measure hops --checkpoint", folder)
    good = stored(tmp_path / "good")
    for option, said in {
        "--k 17": "0 to 16",
        "--k 1,,2": "such as 1,2,4",
        "--sequences 0": "1 to 1000000",
        "--seed -1": "0 or more",
        "--device tpu": "cpu and cuda",
    }.items():
        assert said in refused("measure hops --checkpoint", good, *option.split())
    assert "--checkpoint" in refused("measure hops")
    monkeypatch.setattr("importlib.util.find_spec", lambda name: None)
    assert installing("empirics") in refused("measure hops --checkpoint", good)

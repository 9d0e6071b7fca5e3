"""Nets by the headers of their files: counts, layers and width beside what transformers builds."""

from __future__ import annotations

import contextlib
import json
import tempfile
from pathlib import Path
from typing import Any

import pytest
from header_files import ROWS, header, shapes_of, write, write_folder
from hypothesis import given, settings, strategies as st

from depthlaw.advisor.base.quantities import UsageError
from depthlaw.advisor.checkpoint import GivenNet, net_of, read_net, read_stored
from depthlaw.advisor.counting import count
from depthlaw.advisor.headers import Tensor
from depthlaw.advisor.huggingface import architecture_of
from depthlaw.advisor.words import as_text, of_tensors

D = 16  # the width of every row


def stored(net: GivenNet) -> Any:
    assert net.stored is not None
    return net.stored


def codes(net: GivenNet) -> set[str]:
    return {remark.code for remark in net.remarks}


@pytest.mark.parametrize("kind", ROWS)
def test_a_header_counts_what_transformers_builds(kind: str, tmp_path: Path) -> None:
    row = ROWS[kind]
    net = read_net(write_folder(tmp_path / kind, row))
    s = stored(net)
    assert (s.total, s.width, s.vocabulary) == (row["parameters"], D, 100)
    assert s.layers == row["config"].get("num_hidden_layers", row["layers"])
    assert s.own_layers == row["layers"]
    assert [k.layers for k in s.stacks[0].kinds] == row.get("stored_kinds", row["kinds"])
    assert s.active == row.get("active", row["parameters"])
    assert (s.files, s.tensors) == (row["files"], len(shapes_of(row)))
    if s.tied is not None:
        assert s.tied == (not any(name.endswith("head.weight") for name in shapes_of(row)))
    # A configuration whose class is known agrees with its header.
    assert not codes(net) & {"other-total", "other-width", "unread", "layers"}
    if net.architecture is not None:
        counted = count(net.architecture)
        # BART's second table of positions is among the further weights there.
        further = dict(net.architecture.extra).get("positions of the encoder", 0)
        assert (s.total, s.embedding) == (counted.total, counted.embedding)
        assert s.nonembedding == counted.nonembedding - further


def test_rows_are_of_every_sort_of_net() -> None:
    parts = {}
    for kind, row in ROWS.items():
        tensors = [
            Tensor(name, "F32", tuple(s), (n,))
            for n, (name, s) in enumerate(shapes_of(row).items())
        ]
        layers = stored(net_of(tensors, {}, kind, 1)).stacks[0]
        parts[kind] = {part for each in layers.kinds for part in each.parts}
    for part, least in {
        "attention": 20,
        "experts": 8,
        "state space": 7,
        "linear attention": 2,
        "recurrence": 3,
        "convolution": 1,
    }.items():
        assert sum(part in found for found in parts.values()) >= least, part


def test_kinds_of_layers_are_named_and_placed(tmp_path: Path) -> None:
    def kinds(kind: str) -> list[tuple[int, tuple[str, ...]]]:
        s = stored(read_net(write_folder(tmp_path / kind, ROWS[kind])))
        return [(k.first, k.parts) for k in s.stacks[0].kinds]

    assert kinds("qwen3_next") == [
        (0, ("linear attention", "experts")),
        (3, ("attention", "experts")),
    ]
    assert kinds("nemotron_h") == [
        (0, ("state space",)),
        (1, ("feed-forward",)),
        (3, ("attention",)),
    ]
    assert kinds("rwkv")[0] == (0, ("recurrence", "feed-forward"))


LLAMA = shapes_of(ROWS["llama"])


@pytest.mark.parametrize(
    "experts",
    [
        {"mlp.experts.gate_up_proj": [4, D, 16], "mlp.experts.down_proj": [4, 8, D]},
        {"mlp.w1": [4, D, 16], "mlp.w2": [4, 8, D]},  # told by the router's four rows alone
        {"mlp.switch_mlp.fc1.weight": [4, 16, D], "mlp.switch_mlp.fc2.weight": [4, D, 8]},
    ],
)
def test_without_experts_per_token_active_parameters_are_unknown(experts: dict) -> None:
    shapes = {name: shape for name, shape in LLAMA.items() if ".mlp." not in name}
    for layer in {name.split(".")[2] for name in shapes if "layers" in name}:
        inside = {"mlp.gate.weight": [4, D], **experts}
        shapes |= {f"model.layers.{layer}.{name}": shape for name, shape in inside.items()}
    tensors = [Tensor(name, "F32", tuple(s), (n,)) for n, (name, s) in enumerate(shapes.items())]
    net = net_of(tensors, {}, "sparse", 1)
    s = stored(net)
    assert (s.experts, s.active, s.active_experts) == (4, None, None)
    text = " ".join(as_text(of_tensors(net)).split())
    assert "active unknown" in text
    assert "with num_experts_per_tok beside them, and type depthlaw depth --hf FOLDER" in text
    told = stored(net_of(tensors, {"num_experts_per_tok": 1}, "sparse", 1))
    unused = 3 * 24 * D * s.layers  # 16 columns of gate and up, 8 rows of down
    assert told.active == s.total - unused


@pytest.mark.parametrize(
    ("change", "code", "numbers"),
    [
        ({"model.layers.4.mlp.up_proj.weight": [24, D]}, "layers", 24 * D),
        ({"model.layers.9.mlp.up_proj.weight": [24, D]}, "gaps", 24 * D),
        ({"model.layers.0.self_attn.q_proj.lora_A.weight": [2, D]}, "adapter", 2 * D),
        ({"model.rotary.inv_freq": [4]}, "buffers", 0),
        ({"lm_head.weight": None}, "no-head", -100 * D),
        ({"model.layers.0.mlp.up_proj.weight": [24, D + 1]}, "other-total", 24),
    ],
)
def test_what_a_reader_must_know_is_told(
    change: dict[str, Any], code: str, numbers: int, tmp_path: Path
) -> None:
    shapes = {name: shape for name, shape in (LLAMA | change).items() if shape}
    write_folder(tmp_path, ROWS["llama"] | {"tensors": shapes, "files": 1})
    net = read_net(tmp_path)
    assert code in codes(net)
    assert stored(net).total == ROWS["llama"]["parameters"] + numbers
    assert net.architecture is not None
    told = [r.known for r in net.remarks if r.code == "other-total"]
    assert [k["header"] - k["config"] for k in told] == ([numbers] if numbers else [])


def test_a_tied_output_layer_counts_once_however_it_is_stored(tmp_path: Path) -> None:
    row = ROWS["qwen2"]
    entries = header(shapes_of(row))
    table = entries["model.embed_tokens.weight"]
    file = write(tmp_path / "model.safetensors", entries | {"lm_head.weight": table})
    alias = read_stored(file)
    assert stored(alias).shared == (("model.embed_tokens.weight", "lm_head.weight"),)
    write_folder(tmp_path, row | {"tensors": row["tensors"] | {"lm_head.weight": [100, D]}})
    spare = read_net(tmp_path)
    assert codes(spare) == {"spare"}
    for net in (alias, spare):
        assert (stored(net).total, stored(net).tied) == (row["parameters"], True)
    (tmp_path / "config.json").unlink()
    untied = read_stored(file)
    assert (stored(untied).total, stored(untied).tied) == (row["parameters"] + 100 * D, False)


def test_packed_weights_are_counted_as_they_are_stored(tmp_path: Path) -> None:
    entries = header({"model.layers.0.mlp.up_proj.qweight": [2, D]}, "I32")
    start = 4 * 2 * D
    for name, dtype, bits in (("packed", "F4", 4), ("scales", "F8_E8M0", 8), ("norm", "BF16", 16)):
        end = start + D * bits // 8
        told = {"dtype": dtype, "shape": [D], "data_offsets": [start, end]}
        entries |= {f"model.layers.0.mlp.{name}": told}
        start = end
    net = read_stored(write(tmp_path / "q.safetensors", entries))
    assert stored(net).total == 5 * D
    assert stored(net).bytes == start
    (told,) = [r.known for r in net.remarks if r.code == "quantised"]
    assert told == {"numbers": 4 * D, "dtypes": ["I32", "F4", "F8_E8M0"]}


@settings(max_examples=50)
@given(st.integers(0, 2**31), st.binary(min_size=1, max_size=3))
def test_a_damaged_header_is_refused_or_read(place: int, damage: bytes) -> None:
    data = json.dumps(header(shapes_of(ROWS["mamba"]))).encode()
    place %= len(data)
    with tempfile.TemporaryDirectory() as folder:
        file = Path(folder, "model.safetensors")
        write(file, data[:place] + damage + data[place + len(damage) :], 4 * 10768)
        with contextlib.suppress(UsageError):
            assert 0 <= stored(read_stored(file)).total <= 10768


@settings(max_examples=50)
@given(st.permutations(sorted(LLAMA)), st.integers(1, 5))
def test_neither_order_nor_files_change_the_counts(names: list[str], files: int) -> None:
    shapes = {name: LLAMA[name] for name in names}
    with tempfile.TemporaryDirectory() as folder:
        row = ROWS["llama"] | {"tensors": shapes, "files": files}
        s = stored(read_net(write_folder(Path(folder), row)))
    counted = count(architecture_of(ROWS["llama"]["config"]))
    assert (s.total, s.nonembedding, s.layers, s.width) == (*counted[:2], 4, D)
    assert s.files == files

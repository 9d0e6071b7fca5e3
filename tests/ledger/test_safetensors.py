"""`depthlaw depth --safetensors` and configurations with headers beside them."""

from __future__ import annotations

import importlib.util
import json
import os
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from header_files import ROWS, header, shapes_of, write, write_folder
from jsonschema import Draft202012Validator

from depthlaw.advisor.answer import SCHEMA

Run = Callable[..., str]
GOOD = header({"model.embed_tokens.weight": [4, 2], "model.layers.0.up.weight": [2, 2]})
TABLE, LAYER = GOOD
FIRST = GOOD[TABLE]


def changed(name: str = TABLE, **fields: Any) -> dict[str, Any]:
    """A header of which one entry says something else."""
    return GOOD | {name: {k: v for k, v in (GOOD[name] | fields).items() if v is not None}}


def raw(data: bytes) -> Callable[[Path], Any]:
    return lambda file: file.write_bytes(data)


def sized(length: int, data: bytes = b"{}") -> Callable[[Path], Any]:
    return raw(length.to_bytes(8, "little") + data)


# By what is wrong: the entries of a header, its bytes, or what makes the file.
HOSTILE: dict[str, dict[str, Any] | bytes | Callable[[Path], Any]] = {
    "empty file": raw(b""),
    "seven bytes": raw(b"\x02" + b"\0" * 6),
    "length alone": sized(2, b""),
    "length beyond the file": sized(3),
    "length of 2^63": sized(2**63),
    "length of 2^64 - 1": sized(2**64 - 1),
    "header of 100 MB": lambda file: write(file, GOOD) and grow(file, 100_000_001),
    "pointer of Git LFS": raw(b"version https://git-lfs.github.com/spec/v1\noid sha256:0\n"),
    "page of a site": raw(b"<!DOCTYPE html><html>not found</html>"),
    "pickle": raw(b"PK\x03\x04" + b"\0" * 999),
    "pipe": os.mkfifo,
    "folder without files": Path.mkdir,
    "link to itself": lambda file: file.symlink_to(file),
    "link to nothing": lambda file: file.symlink_to("nowhere"),
    "not JSON": b"{tensors}",
    "not UTF-8": b'{"\xff\xfe": 1}',
    "starts with a space": b" {}",
    "a list": b"[1, 2]",
    "no tensors": {},
    "metadata alone": b'{"__metadata__": {"format": "pt"}}',
    "nested": b'{"a":' * 100_000 + b"1" + b"}" * 100_000,
    "digits by the thousand": b'{"a": ' + b"9" * 5000 + b"}",
    "not a number": b'{"a": NaN}',
    "infinite": b'{"a": Infinity}',
    "name twice": json.dumps(GOOD).replace(LAYER, TABLE).encode(),
    "entry is a number": b'{"a": 1}',
    "entry is null": b'{"a": null}',
    "no dtype": changed(dtype=None),
    "no shape": changed(shape=None),
    "no offsets": changed(data_offsets=None) | {"x": FIRST},
    "further key": changed(device="cuda"),
    "dtype unknown": changed(dtype="F31"),
    "dtype is a number": changed(dtype=32),
    "dtype is a list": changed(dtype=["F32"]),
    "dtype is nested": b'{"a": {"dtype": ' + b"[" * 900 + b"]" * 900 + b', "shape": [], '
    b'"data_offsets": [0, 4]}}',
    "name with an escape": {"\x1b[2J": FIRST},
    "name that never ends": {"a" * 100_000: FIRST},
    "shape negative": changed(shape=[-4, -2]),
    "shape is a fraction": changed(shape=[4.0, 2]),
    "shape is true": changed(shape=[True, 8]),
    "shape is a number": changed(shape=8),
    "shape is text": changed(shape="42"),
    "shape huge": changed(shape=[2**62, 2**62]),
    "shape too long to print": changed(shape=[10**400]),
    "shape of too many sides": changed(shape=[8] + [1] * 99),
    "shape of other bytes": changed(shape=[4, 3]),
    "bits that fill no byte": changed(dtype="F4", shape=[3], data_offsets=[0, 1]),
    "offsets backwards": changed(data_offsets=[32, 0]),
    "offsets negative": changed(data_offsets=[-32, 0]),
    "one offset": changed(data_offsets=[32]),
    "offsets beyond 2^63": changed(data_offsets=[2**63, 2**63 + 32]),
    "overlap": changed(LAYER, data_offsets=[16, 32]),
    "overlap from the same start": changed(LAYER, data_offsets=[0, 16]),
    "gap": changed(LAYER, data_offsets=[40, 56]),
    "first byte left out": {TABLE: FIRST | {"data_offsets": [8, 40]}},
    "cut off": lambda file: write(file, GOOD, 47),
    "longer than it says": lambda file: write(file, GOOD, 49),
    "offsets out of range": lambda file: write(file, changed(LAYER, data_offsets=[32, 48]), 32),
}


def grow(file: Path, length: int) -> None:
    """A file whose header is as long as that, and empty."""
    with file.open("r+b") as opened:
        opened.write(length.to_bytes(8, "little"))
        opened.truncate(length + 8)


@pytest.mark.parametrize("case", HOSTILE)
def test_a_hostile_header_is_refused_in_one_line(case: str, tmp_path: Path, refused: Run) -> None:
    file, content = tmp_path / "model.safetensors", HOSTILE[case]
    if callable(content):
        content(file)
    else:
        write(file, content, 48)
    for typed in ("depth --safetensors", "compare"):
        said = refused(typed, file)
        assert len(said) < 400
        assert said.isascii()


ELSEWHERE = ("../model.safetensors", "/etc/x.safetensors", "a/b.safetensors", "a\\b.safetensors")
INDEXES: dict[str, Any] = {
    **{file: {"weight_map": {TABLE: file}} for file in (*ELSEWHERE, "C:x.safetensors", "..")},
    "a file with a null character": {"weight_map": {TABLE: "a\0.safetensors"}},
    "a pickle": {"weight_map": {TABLE: "pytorch_model.bin"}},
    "a number": {"weight_map": {TABLE: 1}},
    "a file that is not there": {"weight_map": {TABLE: "b.safetensors"}},
    "no map": {"metadata": {}},
    "an empty map": {"weight_map": {}},
    "a list as map": {"weight_map": [TABLE]},
    "a tensor that is nowhere": {"weight_map": dict.fromkeys((*GOOD, "x"), "a.safetensors")},
    "a tensor left out": {"weight_map": {TABLE: "a.safetensors"}},
    "a pipe": {"weight_map": dict.fromkeys(GOOD, "pipe.safetensors")},
    "a link to itself": {"weight_map": dict.fromkeys(GOOD, "link.safetensors")},
    "the wrong file": {"weight_map": {TABLE: "a.safetensors", LAYER: "c.safetensors"}},
}


@pytest.mark.parametrize("case", INDEXES)
def test_a_hostile_index_is_refused_in_one_line(case: str, tmp_path: Path, refused: Run) -> None:
    for name in ("a", "c"):
        write(tmp_path / f"{name}.safetensors", GOOD)
    write(tmp_path.parent / "model.safetensors", GOOD)
    os.mkfifo(tmp_path / "pipe.safetensors")
    (tmp_path / "link.safetensors").symlink_to("link.safetensors")
    index = tmp_path / "model.safetensors.index.json"
    index.write_text(json.dumps(INDEXES[case]))
    for typed in ("depth --safetensors", "depth --hf", "compare"):
        assert len(refused(typed, tmp_path if typed == "depth --hf" else index)) < 400


def printed(depthlaw: Callable[..., Any], *words: object) -> str:
    code, out, _ = depthlaw(*words)
    assert code == 0
    assert max(map(len, out.splitlines())) <= 80
    return " ".join(out.split())


def test_a_refused_configuration_is_counted_from_its_header(
    tmp_path: Path, depthlaw: Callable[..., Any]
) -> None:
    row = ROWS["zamba2"]
    folder = write_folder(tmp_path / "net", row)
    said = printed(depthlaw, "depth --hf", folder)
    assert "6 layers x width 16; 4 heads on 4 key-value heads; d_ff 24; 100 tokens (tied)" in said
    assert "Model_type 'zamba2' is not known" in said
    assert "Unknown costs of a token" in said
    assert "not judged; no published rule is fitted to depths of nets with state space" in said
    assert "43,444 are parameters" in printed(depthlaw, "depth --why --hf", folder)
    data = depthlaw("depth --json --hf", folder).data
    schema = json.loads(SCHEMA.read_text(encoding="utf-8"))
    compared = depthlaw("compare --json", folder).data
    assert all(Draft202012Validator(schema).is_valid(each) for each in (data, compared))
    assert data["answer"]["shape"] is None
    assert data["answer"]["stored"]["total"] == row["parameters"]
    assert data["answer"]["warning_codes"] == ["class"]
    (net,) = compared["nets"]
    assert (net["layers"], net["width"], net["d_ff"]) == (6, 16, 24)
    assert "feed-forward width 24 experts" in printed(depthlaw, "compare", folder)
    (folder / "config.json").unlink()
    alone = printed(depthlaw, "depth --hf", folder)
    assert "Unknown heads, context, d_ff" in alone


def test_a_file_is_read_alone_and_not_by_the_configuration_beside_it(
    tmp_path: Path, depthlaw: Callable[..., Any]
) -> None:
    shapes = shapes_of(ROWS["llama"])
    file = write(tmp_path / "own.safetensors", header(shapes))
    alone = depthlaw("depth --json --safetensors", file).data
    other = ROWS["llama"]["config"] | {"num_hidden_layers": 20}
    (tmp_path / "config.json").write_text(json.dumps(other))
    assert depthlaw("depth --json --safetensors", file).data == alone
    (net,) = depthlaw("compare --json", file).data["nets"]
    assert (net["name"], net["layers"], net["d_ff"]) == ("own", 4, None)


def test_what_names_do_not_say_is_not_claimed(tmp_path: Path, depthlaw: Callable[..., Any]) -> None:
    """Layers and tables that are called otherwise: known ones count, others are said not to."""
    layer = {name: [8, 8] for name in "qkvo"} | {"up": [32, 8], "gate": [32, 8], "down": [8, 32]}
    blocks = {f"blocks.{n}.{name}.weight": s for n in range(5) for name, s in layer.items()}
    blocks["blocks.4.attn.weight"] = [8, 8]  # a second kind
    tables = {"embed.weight": [100, 8], "pos.weight": [100, 8], "out.weight": [100, 8]}
    inside = 5 * (4 * 8 * 8 + 3 * 8 * 32) + 64
    for names, counted, warned in ((tables, inside, False), ({"words": [100, 8]}, None, True)):
        file = write(tmp_path / "own.safetensors", header(names | blocks))
        said = printed(depthlaw, "depth --why --safetensors", file)
        assert "parts not recognised" in said
        assert "4 whose parts are not recognised (from 0); 1 with attention (from 4)" in said
        assert "one block each" not in said
        assert ("without embeddings may hold one" in said) is warned
        stored = depthlaw("depth --json --safetensors", file).data["answer"]["stored"]
        assert stored["nonembedding"] == (counted or stored["total"])
        assert stored["total"] - inside == sum(100 * 8 for _ in names)


@pytest.mark.parametrize("more", ["3B", "--pipeline 4", "--memory 8GB", "--bits 4", "--hf net"])
def test_what_tensors_cannot_answer_is_refused(
    more: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, refused: Run
) -> None:
    monkeypatch.chdir(tmp_path)
    write_folder(tmp_path / "net", ROWS["zamba2"])
    assert "give" in refused("depth --safetensors net/model.safetensors", *more.split())


def test_a_header_that_disagrees_is_named_with_both_numbers(
    tmp_path: Path, depthlaw: Callable[..., Any]
) -> None:
    row = ROWS["llama"]
    write_folder(tmp_path, row | {"files": 1, "config": row["config"] | {"intermediate_size": 25}})
    said = printed(depthlaw, "depth --hf", tmp_path)
    assert "Warning The configuration says 11,216 parameters, the header 11,024: 192 fewer" in said
    (tmp_path / "model.safetensors").write_bytes(b"version https://git-lfs.github.com/spec/v1")
    said = printed(depthlaw, "depth --hf", tmp_path)
    assert "is not counted: 'model.safetensors' is a pointer of Git LFS" in said
    assert "4 layers" in said


def test_without_transformers_one_line_says_what_to_give(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, refused: Run
) -> None:
    (tmp_path / "config.json").write_text(json.dumps(ROWS["zamba2"]["config"]))
    monkeypatch.setattr(importlib.util, "find_spec", lambda name: None)
    said = refused("depth --hf", tmp_path)
    assert "pip install 'depthlaw[hf]'" in said
    assert ".safetensors" in said

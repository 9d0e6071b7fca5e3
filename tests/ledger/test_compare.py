"""`depthlaw compare`: every net counted, in words and as JSON, at any width."""

from __future__ import annotations

import json
import re
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from header_files import header, write
from jsonschema import Draft202012Validator

from depthlaw.advisor import models, rule_scores
from depthlaw.advisor.answer import SCHEMA
from depthlaw.advisor.base.quantities import UsageError
from depthlaw.advisor.counting import count
from depthlaw.advisor.huggingface import config_of
from depthlaw.advisor.laws import threshold_layers
from depthlaw.advisor.published import published_names
from depthlaw.advisor.rules import rule
from depthlaw.ledger.cli import plain
from depthlaw.ledger.cli.compare_command import compare
from depthlaw.ledger.functions.compare import compare as compare_nets


def shown(capsys: pytest.CaptureFixture[str], *names: str) -> str:
    compare(list(names), False)
    return capsys.readouterr().out


def test_a_listed_model_and_its_own_configuration_are_counted_alike(
    tmp_path: Path, depthlaw: Callable[..., Any]
) -> None:
    net = models.architecture(models.model("Llama-3-8B"))
    (tmp_path / "config.json").write_text(json.dumps(config_of(net)), encoding="utf-8")
    said = depthlaw("compare llama-3-8b --json", tmp_path).data
    listed, read = said["nets"]
    assert (listed["status"], read["status"]) == ("seen", "read")
    told_apart = {"name", "source", "status", "remarks"}
    assert {k: v for k, v in listed.items() if k not in told_apart} == {
        k: v for k, v in read.items() if k not in told_apart
    }
    assert listed["total"] == count(net).total == 8_030_261_248
    assert listed["kv_bytes_per_token"] == 2 * 2 * 32 * 8 * 128
    assert said["context"] == 4096
    assert depthlaw("compare bert-large llama-3-8b --json").data["context"] == 512
    laws = {law["key"]: law for law in listed["laws"]}
    assert laws["nanochat"]["depth"] == pytest.approx((32 * 4096**2 / 64**2) ** (1 / 3))
    assert laws["nanochat"]["extrapolated"]


def test_it_opens_with_its_conclusion(depthlaw: Callable[..., Any]) -> None:
    """Which is deeper, cheaper, faster, by the numbers of the table; nothing of a net alone, or of
    what nets have alike."""
    names = ["llama-3-8b", "qwen3-8b", "llama-3.1-8b"]
    text = " ".join(depthlaw(f"compare {' '.join(names)}").out.split())
    both = "Llama-3-8B and Llama-3.1-8B"
    assert text.startswith(f"Qwen3-8B is deepest, with 36 layers; {both} have 32. {both} are ")
    said = depthlaw(f"compare {' '.join(names)} --json").data
    layers, training, read = said["conclusion"]
    nets = {net["name"]: net for net in said["nets"]}
    for end in (layers, training, read):
        values = [net[end["what"]] for net in nets.values()]
        assert (end["low"], end["high"]) == (min(values), max(values))
    share = 1 - nets["Llama-3-8B"]["flops_training"] / nets["Qwen3-8B"]["flops_training"]
    assert f"{both} are cheapest to train: {100 * share:.0f} % fewer" in text
    assert f"{both} are fastest where memory sets the pace" in text
    # Untied: all weights but the input table, of which one row is read.
    llama = nets["Llama-3-8B"]
    table = 2 * llama["vocabulary"] * llama["width"]
    cache = 4096 * llama["kv_bytes_per_token"]
    assert llama["read_bytes"] == 2 * llama["total"] - table + cache
    looped = depthlaw("compare ouro-1.4b qwen3-next --json").data["conclusion"]
    assert {c["what"]: c["least"] for c in looped}["read_bytes"] == ["Qwen3-Next-80B-A3B"]
    assert depthlaw("compare llama-3-8b llama-3.1-8b --json").data["conclusion"] == []
    assert depthlaw("compare llama-3-8b --json").data["conclusion"] == []


def test_a_conclusion_names_ties_and_what_is_of_another_kind_or_unknown(
    tmp_path: Path, depthlaw: Callable[..., Any]
) -> None:
    def opening(*names: object) -> str:
        said = " ".join(depthlaw("compare", *names).out.split())
        return said[: said.index("layers L")]

    tied = opening("mixtral-8x7b", "llama-3-8b", "gpt2")
    assert tied.startswith("Mixtral-8x7B and Llama-3-8B are deepest, with 32 layers; GPT-2 small")
    other = opening("mamba-2.8b", "gpt-neo-2.7b")
    assert other.startswith("Mamba-2.8B has 64 layers, GPT-Neo-2.7B has 32. Their layers are of")
    assert "deepest" not in other
    # Windows are attention; layers without a mixer are none.
    kinds = {
        "gemma-3-4b gpt2": "alike",
        "jamba-1.5-mini jamba-1.5-large": "alike",
        "nemotron-h-8b llama-3-8b": "different",
    }
    for names, said in kinds.items():
        assert depthlaw(f"compare {names} --json").data["conclusion"][0]["kinds"] == said
    shapes = {f"blocks.{n}.{part}.weight": [8, 8] for n in range(5) for part in "qkvo"}
    file = write(tmp_path / "own.safetensors", header(shapes | {"norm.weight": [8]}))
    text = opening(file, "gpt2", "llama-3-8b")
    assert text.startswith("Llama-3-8B has 32 layers, own has 5. Whether")
    assert "Of own this is not known." in text
    data = depthlaw("compare --json", file, "gpt2", "llama-3-8b").data
    assert Draft202012Validator(json.loads(SCHEMA.read_text(encoding="utf-8"))).is_valid(data)
    layers, training, _ = data["conclusion"]
    assert (layers["kinds"], layers["unknown"]) == ("unknown", [])
    assert (training["least"], training["unknown"]) == (["GPT-2 small"], ["own"])
    (alone,) = depthlaw("compare --json", file, "gpt2").data["conclusion"]
    assert alone["what"] == "layers"


@pytest.mark.parametrize("given", [(5,), ("gpt2", None), (["gpt2", 5],), (None,)])
def test_what_is_no_name_is_refused_in_python(given: tuple[Any, ...]) -> None:
    with pytest.raises(UsageError, match=r"is not a net; .*; try compare\("):
        compare_nets(*given)


def test_a_floor_is_rounded_up_as_in_an_answer(capsys: pytest.CaptureFixture[str]) -> None:
    volume = 32 * 4096**2
    assert rule("threshold").depth(volume, per_layer=1) == pytest.approx(8.2, abs=0.1)
    text = shown(capsys, "llama-3-8b")
    assert re.search(r"\(floor\) +9$", text, re.MULTILINE)
    assert threshold_layers(12 * volume) == 9


def test_what_is_unusual_stands_in_its_row(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(plain, "columns", lambda: 1000)
    text = shown(capsys, "T5-Large", "ALBERT-base", "DeepSeek-V2-Lite", "Mixtral-8x7B")
    rows = dict(line.partition("  ")[::2] for line in text.splitlines())
    assert "24 + 24" in rows["layers L"]
    assert "12, 1 stored" in rows["layers L"]
    assert "6 + 2 of 64, 1408 wide" in rows["experts"]
    assert "2 of 8, 14336 wide" in rows["experts"]
    assert "latent" in rows["key heads"]
    assert "12.9B" in rows["active"]


@pytest.mark.parametrize(("width", "nets"), [(80, 2), (80, 3), (80, 4), (80, 6), (40, 2), (40, 3)])
def test_nets_stand_in_one_table_or_each_in_a_row_of_every_table(
    width: int, nets: int, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    """Of a table the first column is read: the quantities, or the nets; of a table too wide to
    print, what they are."""
    names = ["GPT-2 small", "Llama-3-8B", "Qwen3-8B", "GPT-Neo-2.7B", "Llama-2-7B", "Pythia-410M"]
    monkeypatch.setattr(plain, "columns", lambda: 1000)
    whole = shown(capsys, *names[:nets])
    quantities = [line.partition("  ")[0] for line in whole.splitlines() if "  " in line.strip()]
    monkeypatch.setattr(plain, "columns", lambda: width)
    tables = shown(capsys, *names[:nets]).split("\nFLOPs:")[0].split("\n\n")
    lines = [line for table in tables for line in table.splitlines()]
    first = " ".join(" ".join(line.split("  ")[0] for line in lines).split())
    if len(tables) == 1 and nets <= (4 if width == 80 else 2):
        assert all(first.count(what) >= 1 for what in quantities[1:])
        assert sum(line.startswith("layers L ") for line in lines) == 1
    else:
        assert nets > (4 if width == 80 else 2)
        for table in tables:
            rows = [line.split("  ")[0] for line in table.splitlines()]
            assert [row for row in rows if row in names] == names[:nets]


@pytest.mark.parametrize("width", [80, 40])
def test_no_line_is_cut_or_too_long(
    width: int, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    names = ["llama-3-8b", "gemma-3-27b", "deepseek-v3", "t5-large"]
    monkeypatch.setattr(plain, "columns", lambda: 1000)
    wide = shown(capsys, *names)
    monkeypatch.setattr(plain, "columns", lambda: width)
    narrow = shown(capsys, *names)
    assert all(len(line) <= width or " " not in line.strip() for line in narrow.splitlines())
    assert set(wide.split()) <= set(narrow.split())


@pytest.mark.parametrize(
    ("names", "said"),
    [
        ([], "0 nets to compare"),
        (["gpt-2-small"] * 51, "51 nets"),
        (["llama-9"], "no model"),
        (["nowhere/config.json"], "no such file"),
        ([""], "no model"),
        (["sovit-400m/14"], "listed with its layers alone"),
        (["a" * 5000], "no model"),
        (["a" * 300 + ".json"], "File name too long"),
        (["a\0b"], "no model"),
        (["~nobody/x"], "no model"),
        (["a\nb.json"], "no such file"),
    ],
)
def test_bad_names_are_usage_errors(names: list[str], said: str) -> None:
    with pytest.raises(UsageError, match=said) as caught:
        compare(names, False)
    assert str(caught.value).isprintable()


def test_where_training_ended_is_no_verdict_on_deeper_nets(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """What no grid covers is not called too deep, and the end of training has its mark."""
    base = models.architecture(models.model("Llama-3-8B"))
    heads = {"heads": 8, "kv_heads": 8, "d_ff": 4096}
    net = replace(base, layers=80, width=1024, **heads)
    found = rule_scores.interval(80 * 1024**2, per_layer=1)
    assert found is not None
    assert found.ended
    (tmp_path / "config.json").write_text(json.dumps(config_of(net)), encoding="utf-8")
    text = shown(capsys, str(tmp_path))
    place = f"{found.low} to {found.high}+{'*' * found.extrapolated}: {found.place(80)}"
    assert re.search(f"^evidence: within 1 % +{re.escape(place)}$", text, re.MULTILINE)
    assert "deeper than trained" in place
    assert "training ended there" in text


def test_all_names_are_listed_alone_and_an_unknown_one_says_how(
    depthlaw: Callable[..., Any], refused: Callable[..., str]
) -> None:
    names = depthlaw("compare --list").out.splitlines()
    assert sorted(names) == sorted(published_names())
    said = refused("compare gpt-2-s")
    assert "nearest are GPT-2 small; " in said
    assert "`depthlaw compare --list`" in said
    assert "depthlaw depth --hf config.json" in refused("depth config.json")
    refused("compare --list gpt-2-small")
    refused("compare --list --json")

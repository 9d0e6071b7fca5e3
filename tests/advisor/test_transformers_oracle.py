"""Every configuration is built by transformers on the meta device: our count is its count."""

from __future__ import annotations

import csv
import json
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import pytest
from header_files import ROWS, shapes_of

from depthlaw.advisor.base.quantities import UsageError
from depthlaw.advisor.checkpoint import net_of
from depthlaw.advisor.counting import count
from depthlaw.advisor.headers import read_headers
from depthlaw.advisor.huggingface import architecture_of, config_of, read_config
from depthlaw.advisor.model_classes import CLASSES
from depthlaw.empirics.architectures.meta_device import parameters_of
from depthlaw.ledger.functions.nets import net

torch = pytest.importorskip("torch", reason="the extra hf is not installed")
# Imported by the tests, not wherever tests are collected: it takes seconds.
if find_spec("transformers") is None:
    pytest.skip("the extra hf is not installed", allow_module_level=True)

pytestmark = pytest.mark.filterwarnings("ignore")

CONFIGS = Path(__file__).parent / "configs"
with (CONFIGS / "sources.csv").open(newline="", encoding="utf-8") as _file:
    SOURCES = {row["file"]: row for row in csv.DictReader(_file)}
# Its code is outside transformers, which knows no such class.
FOREIGN = {"qwen-7b.json"}


def built(values: dict[str, Any], kind: str) -> int:
    """The parameters of the model that transformers builds without storing it; tied ones once."""
    import transformers

    transformers.logging.set_verbosity_error()
    values = dict(values)
    model_type = values.pop("model_type")
    if model_type == "gemma3":  # the language model alone, as our count
        values = dict(values["text_config"])
        model_type = values.pop("model_type")
    # What is quantised holds other tensors; the precision does not matter.
    for key in ("quantization_config", "torch_dtype"):
        values.pop(key, None)
    head = {"encoder": "AutoModelForMaskedLM", "encoder-decoder": "AutoModelForSeq2SeqLM"}
    auto = getattr(transformers, head.get(kind, "AutoModelForCausalLM"))
    with torch.device("meta"):
        model = auto.from_config(transformers.AutoConfig.for_model(model_type, **values))
    total = sum(p.numel() for p in model.parameters())
    # transformers 5 ties the output layer of T5 whatever the configuration says, 4.57 does not; the
    # published weights of T5 v1.1 have a layer of their own.
    if (
        model_type == "t5"
        and values.get("tie_word_embeddings") is False
        and model.lm_head.weight is model.shared.weight
    ):
        total += model.lm_head.weight.numel()
    return total


@pytest.mark.parametrize("file", sorted(SOURCES.keys() - FOREIGN))
def test_count_is_what_transformers_allocates(file: str) -> None:
    a = read_config(CONFIGS / file)
    values = json.loads((CONFIGS / file).read_text())
    total = built(values, a.kind)
    assert count(a).total == total
    assert int(SOURCES[file]["total"]) == total


# A toy of each class, with every option that changes its weights at another value than in the
# published files; its parts are fields that several share.
TOYS = json.loads(Path(__file__).with_name("toys.json").read_text())


@pytest.mark.parametrize("toy", TOYS["toys"], ids=lambda toy: toy["model_type"])
def test_options_change_the_count_as_they_change_the_model(toy: dict[str, Any]) -> None:
    shared = [TOYS["parts"][name] for name in toy["parts"].split()]
    values = {key: value for fields in (*shared, toy) for key, value in fields.items()}
    del values["parts"]
    a = architecture_of(values)
    assert count(a).total == built(values, a.kind)
    written = config_of(a)
    assert built(written, a.kind) == count(a).total


@pytest.mark.parametrize("kind", ROWS)
def test_rows_are_what_transformers_writes_and_builds(kind: str, tmp_path: Path) -> None:
    import transformers

    transformers.logging.set_verbosity_error()
    row = ROWS[kind]
    values = {key: value for key, value in row["config"].items() if key != "model_type"}
    with torch.random.fork_rng(devices=[]):
        model = getattr(transformers, row["class"])(
            transformers.AutoConfig.for_model(kind, **values)
        )
    assert sum(p.numel() for p in model.parameters()) == row["parameters"]
    model.save_pretrained(tmp_path)
    written = {t.name: list(t.shape) for t in read_headers(str(tmp_path)).tensors}
    assert written == shapes_of(row)
    built_net = parameters_of(row["config"] | {"architectures": [row["class"]]})
    assert built_net is not None
    s = net_of(*built_net, kind).stored
    assert s is not None
    assert (s.source, s.total, s.active) == (
        "meta",
        row["parameters"],
        row.get("active", row["parameters"]),
    )
    assert [k.layers for k in s.stacks[0].kinds] == row["kinds"]


def test_a_context_that_is_not_given_is_what_transformers_takes() -> None:
    from transformers.models.auto.configuration_auto import CONFIG_MAPPING

    known = {
        kind: key.default
        for kind, row in CLASSES.items()
        if isinstance((key := row.keys.get("context")) and key.default, int)
        and key.names == "max_position_embeddings"
        and not (row.blocks or row.text)
    }
    assert known.keys() >= {"llama", "mistral", "qwen2", "qwen3", "gemma"}
    taken = {kind: CONFIG_MAPPING[kind]().max_position_embeddings for kind in known}
    assert taken == known


def test_a_part_that_is_no_object_is_named_in_words_of_ours(tmp_path: Path) -> None:
    file = tmp_path / "config.json"
    file.write_text('{"model_type": "qwen2_vl", "text_config": 5, "vision_config": null}')
    with pytest.raises(UsageError, match="^the configuration's 'text_config' is not an object"):
        net(file)


def test_the_recorded_counts_of_families_are_what_transformers_allocates() -> None:
    """Small nets with options of their classes at other values; a class that this version does not
    have yet is left out."""
    from transformers.models.auto.configuration_auto import CONFIG_MAPPING

    rows = json.loads(Path(__file__).with_name("families.json").read_text())
    rows = [row for row in rows if row["what"] == "options" and "transformers" in row["by"]]
    there = [row for row in rows if row["config"]["model_type"] in CONFIG_MAPPING]
    assert len(there) > len(rows) / 2
    kinds = [architecture_of(row["config"]).kind for row in there]
    totals = [built(row["config"], kind) for row, kind in zip(there, kinds, strict=True)]
    assert totals == [row["total"] for row in there]

"""Models from folders: what is read is what was saved, and nothing that a folder brings is run."""

import json
import pickle
import shutil
from pathlib import Path

import pytest
import torch
from tiny_models import DEPTH, tiny

from depthlaw.advisor.base.quantities import UsageError
from depthlaw.empirics.audit import AuditError
from depthlaw.empirics.audit.audit import audit
from depthlaw.empirics.audit.explicit import explicit, save
from depthlaw.empirics.audit.models import opened, undisturbed, words_of
from depthlaw.empirics.audit.statistics import Call

NETS = Path(__file__).parents[3] / "docs" / "examples" / "nets"


@pytest.fixture(scope="module")
def saved(tmp_path_factory):
    folder = tmp_path_factory.mktemp("models") / "gpt2"
    tiny("GPT2LMHeadModel").float().save_pretrained(folder)
    return folder


@pytest.fixture
def folder(saved, tmp_path):
    return Path(shutil.copytree(saved, tmp_path / "model"))


def configured(folder, **told):
    """The same weights with other lines in config.json."""
    file = folder / "config.json"
    file.write_text(json.dumps(json.loads(file.read_text()) | told))


def test_a_folder_is_the_model_that_was_saved(folder):
    net = tiny("GPT2LMHeadModel").float()
    read = opened(folder)
    ids = torch.arange(12)[None]
    assert torch.equal(read.model.logits(ids), net(ids).logits)
    assert (read.tokenizer, read.model.name, read.model.depth) == (None, "model", DEPTH)
    net.bfloat16().save_pretrained(folder)
    half = opened(folder).model
    assert {weight.dtype for weight in half.net.parameters()} == {torch.float32}
    assert torch.equal(half.logits(ids), net.float()(ids).logits)


def test_a_folder_of_the_trainer_names_the_last_checkpoint(folder, tmp_path):
    folder.rename(tmp_path / "checkpoint-20")
    with pytest.raises(AuditError, match=r"no config\.json.*such as .*checkpoint-20"):
        opened(tmp_path)


class Danger:
    """Weights that run code when they are read without care."""

    def __init__(self, mark):
        self.mark = mark

    def __reduce__(self):
        return Path.touch, (self.mark,)


def test_code_in_a_folder_never_runs(folder, tmp_path):
    mark = tmp_path / "ran"
    code = f"open({str(mark)!r}, 'w')\nclass Evil: pass\n"
    (folder / "evil.py").write_text(code)
    classes = ("AutoModelForCausalLM", "AutoModel", "AutoConfig", "AutoTokenizer")
    named = dict.fromkeys(classes, "evil.Evil")
    configured(folder, auto_map=named)
    assert opened(folder).model.depth == DEPTH
    for told in ({"architectures": ["Evil"]}, {"architectures": ["evil.Evil"], "model_type": "x"}):
        configured(folder, **told)
        with pytest.raises(AuditError, match="code in the folder is never run"):
            opened(folder)
    configured(folder, architectures=["AutoModelForCausalLM"], model_type="x")
    with pytest.raises(AuditError, match="cannot be loaded"):
        opened(folder)
    configured(folder, architectures=["GPT2LMHeadModel"], model_type="gpt2")
    (folder / "tokenizer_config.json").write_text(
        json.dumps({"auto_map": {"AutoTokenizer": ["evil.Evil", None]}, "tokenizer_class": "Evil"})
    )
    with pytest.raises(AuditError, match="tokenizer in .* cannot be read"):
        opened(folder)
    (folder / "tokenizer_config.json").unlink()
    (folder / "model.safetensors").unlink()
    (folder / "pytorch_model.bin").write_bytes(pickle.dumps(Danger(mark)))
    with pytest.raises(AuditError, match="cannot be loaded"):
        opened(folder)
    assert not mark.exists()


def spoilt(folder, how):
    weights = folder / "model.safetensors"
    if how == "cut":
        weights.write_bytes(weights.read_bytes()[:-64])
    elif how == "header":
        weights.write_bytes(b"\xff" * 40)
    elif how == "none":
        weights.unlink()
    elif how == "integers":
        from safetensors.torch import load_file, save_file

        whole = {key: tensor.to(torch.int8) for key, tensor in load_file(weights).items()}
        save_file(whole, weights, {"format": "pt"})
    elif how == "list":
        (folder / "config.json").write_text("[]")
    elif how == "json":
        (folder / "config.json").write_text("{")
    elif how == "nan":
        net = tiny("GPT2LMHeadModel").float()
        net.transformer.h[2].mlp.c_fc.bias.data[3] = torch.nan
        net.save_pretrained(folder)
    elif how == "tokens":
        (folder / "tokenizer.json").write_text("{")


@pytest.mark.parametrize(
    ("how", "told", "says"),
    [
        ("cut", {}, "cannot be loaded: "),
        ("header", {}, "cannot be loaded: "),
        ("none", {}, "holds no weights; expected is model.safetensors"),
        ("list", {}, "names no class"),
        ("json", {}, "config.json cannot be read as JSON"),
        ("nan", {}, "transformer.h.2.mlp.c_fc.bias holds weights that are not finite"),
        ("tokens", {}, "the tokenizer in .* cannot be read"),
        ("", {"n_embd": 24}, "of another shape, such as transformer"),
        ("", {"n_layer": 5}, "12 missing, such as transformer.h.4"),
        ("", {"n_layer": 3}, "layers beyond those that it names, such as transformer.h.3"),
        ("", {"n_head": "two"}, "cannot be loaded: "),
        ("", {"architectures": ["FutureLMHeadModel"]}, "FutureLMHeadModel, which transformers"),
        ("", {"architectures": ["GPT2Config"]}, "cannot be loaded: "),
    ],
)
def test_a_folder_that_is_no_model_is_one_line(folder, how, told, says):
    spoilt(folder, how)
    if told:
        configured(folder, **told)
    with pytest.raises(AuditError, match=says) as refused:
        opened(folder)
    assert "\n" not in str(refused.value)


@pytest.mark.parametrize("name", ["", "nothing", "a\nb", "a" * 300, "\udcff", "/dev/null", "~x/y"])
def test_a_name_that_is_neither_is_one_line(name):
    with pytest.raises(AuditError, match=r"neither a folder nor an architecture.*gpt2") as refused:
        opened(name)
    assert "\n" not in str(refused.value)


def test_random_generators_are_left_as_they_were():
    before = torch.get_rng_state()
    with undisturbed():
        torch.manual_seed(3)
        torch.rand(5)
    assert torch.equal(before, torch.get_rng_state())


# --- explicit nets ---


@pytest.mark.parametrize(
    ("name", "letters", "calls"),
    [
        # What a proof says of its layers the loss says too; where the margins are small, the loss
        # is not below that of fresh weights, and nothing is said.
        ("dyck-hard", 8, [Call.NEEDED] * 3),
        ("s4-diagonal", 8, [Call.NEEDED] * 3),
        ("parity", 10, [None] * 2),
    ],
)
def test_an_explicit_net_is_asked_words_of_its_task(tmp_path, name, letters, calls):
    net = explicit(json.loads((NETS / f"{name}.json").read_text()))
    save(net, tmp_path)
    model = opened(tmp_path).model
    sample = words_of(model.net, 256, 64, 0)
    scored = sample.labels[:, net.at]
    words = [
        [token for i in row if (token := net.tokens[i]) in net.exact.alphabet] for row in sample.ids
    ]
    assert {len(word) for word in words} == {letters}
    assert [net.labels[label] for label in scored] == net.answers(words)
    assert len(set(scored)) > 1
    found = audit(model, sample, groups=["removal"])
    assert [row.call for row in found.table("removal").rows] == calls


def test_an_explicit_net_without_a_task_has_no_words():
    body = json.loads((NETS / "parity.json").read_text())
    for key in ("task", "parameters", "class"):
        body.pop(key, None)
    net = explicit(body)
    with pytest.raises(UsageError, match="names no task"):
        words_of(net, 16, 64, 0)

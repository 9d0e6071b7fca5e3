"""`depthlaw audit` on models of every kind, on bad ones, after an interruption, and as its page."""

from __future__ import annotations

import json
import re
import shutil
from collections.abc import Callable
from importlib.util import find_spec
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest
import tokenizers
import torch
import transformers
from torch import nn

import depthlaw
from depthlaw.empirics.audit import audit as audits, records
from depthlaw.empirics.audit.documents import random_documents

PAGE = Path(__file__).parents[2] / "docs" / "how-to" / "audit-a-model.md"
SIZES = {
    "vocab_size": 40,
    "hidden_size": 16,
    "num_hidden_layers": 3,
    "num_attention_heads": 2,
    "intermediate_size": 32,
    "max_position_embeddings": 64,
    "bos_token_id": None,
    "eos_token_id": None,
    "pad_token_id": None,
}
HYBRID = {
    "layer_types": ["linear_attention", "full_attention", "linear_attention"],
    "num_key_value_heads": 1,
    "head_dim": 8,
    "linear_num_key_heads": 2,
    "linear_num_value_heads": 2,
    "linear_key_head_dim": 8,
    "linear_value_head_dim": 8,
    "num_experts": 0,
}
LETTERS = {chr(97 + i): i for i in range(26)} | {"[UNK]": 26}
TEXT = "\n\n".join(f"{'the cat sat on a mat and saw '[i:]} a b c d e f g h" for i in range(20))
SHORT = ("--documents", "8", "--tokens", "8")


def net(name: str, **more: Any) -> Any:
    torch.manual_seed(0)
    kind = getattr(transformers, name)
    return kind(kind.config_class(**SIZES | more))


def letters(text: str) -> list[int]:
    return [LETTERS.get(letter, 26) for letter in text]


class Residual(nn.Linear):
    def forward(self, hidden: torch.Tensor) -> torch.Tensor:
        return hidden + super().forward(hidden).tanh()


class Plain(nn.Module):
    """A module of torch with layers, and nothing of transformers."""

    def __init__(self) -> None:
        super().__init__()
        self.embed = nn.Embedding(30, 8)
        self.layers = nn.ModuleList(Residual(8, 8) for _ in range(3))
        self.head = nn.Linear(8, 30)

    def forward(self, ids: torch.Tensor) -> torch.Tensor:
        hidden = self.embed(ids)
        for layer in self.layers:
            hidden = layer(hidden)
        return self.head(hidden)


KINDS: dict[str, tuple[Callable[[], Any], str]] = {
    "GPT-2": (lambda: net("GPT2LMHeadModel"), "next token"),
    "in bfloat16": (lambda: net("LlamaForCausalLM").bfloat16(), "next token"),
    "without a head": (lambda: net("GPT2Model"), ""),
    "fills gaps": (lambda: net("BertForMaskedLM"), "masked token"),
    "a hybrid": (lambda: net("Qwen3NextForCausalLM", **HYBRID), "next token"),
    "of torch alone": (Plain, "next token"),
}


@pytest.mark.parametrize("text", [None, TEXT], ids=["random tokens", "text"])
@pytest.mark.parametrize("kind", KINDS)
def test_a_model_in_memory_is_audited_and_stays_as_it_was(
    kind: str, text: str | None, tmp_path: Path
) -> None:
    make, objective = KINDS[kind]
    model = make().train()
    weights = {key: tensor.clone() for key, tensor in model.state_dict().items()}
    torch.manual_seed(7)
    before = torch.get_rng_state()
    words = letters if text else None
    report = depthlaw.audit(model, words, text, documents=8, tokens=12, folder=tmp_path)
    assert torch.equal(before, torch.get_rng_state())
    assert all(module.training for module in model.modules())
    assert all(weight.grad is None for weight in model.parameters())
    assert all(torch.equal(weights[key], tensor) for key, tensor in model.state_dict().items())
    found = report.audit
    assert (found.model.layers, found.model.objective) == (3, objective)
    assert found.text.law == ("text" if text else "zipf")
    removal = found.table("removal")
    assert (removal is None) == (objective == "")
    assert json.loads(json.dumps(report.to_json()))["model"]["layers"] == 3
    if kind == "a hybrid":
        assert len(set(found.model.kinds)) == 2


# --- from the command line ---


@pytest.fixture(scope="module")
def models(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Folders of models, and texts."""
    place = tmp_path_factory.mktemp("models")
    (place / "empty").mkdir()
    net("GPT2LMHeadModel").save_pretrained(place / "plain")
    net("BertForMaskedLM").save_pretrained(place / "bert")
    for name, more in (("words", {}), ("large", {f"w{i}": 27 + i for i in range(30)})):
        shutil.copytree(place / "plain", place / name)
        whole = tokenizers.Tokenizer(tokenizers.models.WordLevel(LETTERS | more, "[UNK]"))
        whole.pre_tokenizer = tokenizers.pre_tokenizers.Split("", "isolated")
        made = transformers.PreTrainedTokenizerFast(tokenizer_object=whole, unk_token="[UNK]")
        made.save_pretrained(place / name)
    asked = "".join(f'{{"prompt": "the {c} ", "answer": "{c} cat"}}\n' for c in "abcdefghij")
    (place / "task.jsonl").write_text(asked)
    texts = {"text": TEXT.encode(), "void": b" \n\n", "bytes": bytes(range(256)) * 9}
    for name, content in (texts | {"short": TEXT[:90].encode()}).items():
        (place / f"{name}.txt").write_bytes(content)
    return place


@pytest.fixture
def here(models: Path, monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Path:
    """The folder of models, which stays as it is, and a place for measurements."""
    monkeypatch.chdir(models)
    monkeypatch.setenv("XDG_DATA_HOME", str(tmp_path / "data"))
    return models


REFUSED = """
nothing | neither a folder nor an architecture; accepted are
empty | holds no config.json; give a folder
large | the tokenizer has 57 tokens, but the model accepts 40
plain --text text.txt | plain has no tokenizer, so a text has no tokens; leave --text out
words --text nothing.txt | cannot be read: No such file or directory; give a file of text
words --text empty | cannot be read: Is a directory; give a file of text
words --text void.txt | void.txt is empty; give a text of 8 documents or more
words --text bytes.txt | is not text in UTF-8; convert it, or give another file
words --text short.txt --tokens 32 | gives 2 documents of 32 tokens; 8 are needed for an interval
plain --tokens 1 | tokens=1: accepted are whole numbers from 2
plain --documents 3 | documents=3: accepted are whole numbers from 8
plain --documents 99999999999 | accepted are at most 100,000,000 random tokens
plain --seed -1 | seed=-1: accepted are whole numbers from 0
plain --seed 99999999999999999999 | accepted are whole numbers from 0 to 2^63 - 1
plain --blocks 0 | blocks=0: accepted are whole numbers from 1
plain --blocks 99 | blocks of 99 layers: plain has 3; accepted are 1 to 2
plain --blocks x | --blocks 'x': give sizes of blocks, such as 4 or 2,4
plain --blocks , | --blocks ',': give sizes of blocks, such as 4 or 2,4
plain --task text.txt | plain has no tokenizer, so a task has no tokens; put the tokenizer's files
plain --task riddles | the task 'riddles' is neither a file nor a ladder; accepted are a file
words --task text.txt | text.txt, line 1: no JSON; give lines such as {"prompt":
words --task void.txt | void.txt has 0 different questions; 8 are needed for an interval
words --task bytes.txt | is not text in UTF-8
words --task hops | the questions of hops are longer than the 64 tokens that words accepts
bert --task hops | bert is not causal, and a task asks what comes next
plain --ladder --without 0 | --without '0': the model has 3 layers; give a block such as 1-2
plain --ladder --without 1-3 | no layer of 3 is left; leave one at least, such as --without 1
plain --ladder --without 9-5 | --without '9-5': the model has 3 layers
plain --ladder --without 99 | --without '99': the model has 3 layers
plain --ladder --repeat 2-x | --repeat '2-x': the model has 3 layers
plain --ladder --questions 0 | questions=0: accepted are whole numbers from 1
plain --draws 0 | draws=0: accepted are whole numbers from 1
plain --repeat 2 | add --ladder
plain --ladder --without 1 --repeat 2 | give one of without, repeat and against
plain --ladder --without 1 --against plain | give one of without, repeat and against
plain --ladder --against bert | bert is not causal, and the ladder asks for the next token
bert --ladder | bert is not causal, and the ladder asks for the next token
plain --law x | law 'x' is not known; accepted are uniform, zipf
plain --measures x | measures 'x': accepted are usual, all, states
plain --tolerance 200% | the tolerance '200%' is more than 1; give a positive number
nothing --level 2 | level 2.0: accepted are 0.5 to 0.9999, such as 0.95
nothing --level 0.9999999999999999 | level 0.9999999999999999: accepted are 0.5 to 0.9999
nothing --level 0.49 | level 0.49: accepted are 0.5 to 0.9999
nothing --level nan | level nan: accepted are 0.5 to 0.9999
plain --layers decoder | no list of layers named 'decoder'; accepted is
plain --results text.txt | cannot keep measurements: File exists; give another folder
plain --results /dev/null/x | cannot keep measurements: Not a directory; give another folder
plain --markdown page.txt | accepted is a name that ends in .md
plain --plot page.doc | accepted are .png, .svg and .pdf
"""
CASES = [tuple(line.split(" | ")) for line in REFUSED.strip().splitlines()]


@pytest.mark.parametrize(("typed", "says"), CASES)
def test_what_cannot_be_audited_is_one_line_and_leaves_nothing(
    typed: str, says: str, here: Path, tmp_path: Path, refused: Callable[..., str]
) -> None:
    before = sorted(here.rglob("*"))
    beside = [word for word in SHORT if word.isdigit() or word not in typed]
    options = [] if len(beside) < len(SHORT) else SHORT
    assert says in refused("audit", *typed.split(), *options)
    assert sorted(here.rglob("*")) == before
    assert not list(tmp_path.rglob("*.json"))


def counted(monkeypatch: pytest.MonkeyPatch, most: float = float("inf")) -> list[int]:
    """Runs of measures are counted, and interrupted after so many."""
    runs: list[int] = []
    own = records.measure_all

    def measure_all(*arguments: Any, **options: Any) -> Any:
        if len(runs) >= most:
            raise KeyboardInterrupt
        runs.append(len(arguments[1]))
        return own(*arguments, **options)

    monkeypatch.setattr(records, "measure_all", measure_all)
    monkeypatch.setattr(audits, "measure_all", measure_all)
    return runs


def test_an_audit_that_was_stopped_goes_on_and_one_that_is_repeated_measures_nothing(
    here: Path, tmp_path: Path, depthlaw: Callable[..., Any], monkeypatch: pytest.MonkeyPatch
) -> None:
    command = ("audit", "words", "--text", "text.txt", "--tokens", "8", "--documents", "16")
    command += ("--blocks", "2", "--json")
    command += ("--task", here / "task.jsonl", "--measures", "states,removal,changes")

    def run(folder: str) -> Any:
        return depthlaw(*command, "--results", tmp_path / folder)

    with monkeypatch.context() as patch:
        whole = counted(patch)
        expected = run("whole").data
    with monkeypatch.context() as patch:
        first = counted(patch, most=3)
        assert run("parts").code != 0
    kept = {file.name: file.read_bytes() for file in (tmp_path / "parts").iterdir()}
    assert kept
    assert all(name.endswith(".json") for name in kept)
    with monkeypatch.context() as patch:
        rest = counted(patch)
        assert run("parts").data == expected
    assert len(first) + len(rest) == len(whole) > 5
    with monkeypatch.context() as patch:
        again = counted(patch)
        assert run("parts").data == expected
    assert again == []
    # A record that does not read back is set aside and measured anew.
    name = sorted(kept)[0]
    (tmp_path / "parts" / name).write_bytes(kept[name][:-9])
    with monkeypatch.context() as patch:
        mended = counted(patch)
        assert run("parts").data == expected
    assert len(mended) == 1
    assert (tmp_path / "parts" / f"{name}.damaged").read_bytes() == kept[name][:-9]
    assert (tmp_path / "parts" / name).read_bytes() == kept[name]


def test_the_outermost_levels_are_audited_and_layers_count_from_one_in_rows(tmp_path: Path) -> None:
    given = {"documents": 16, "tokens": 8, "folder": tmp_path, "measures": "removal", "blocks": 2}
    plain = Plain()
    narrow, wide = (depthlaw.audit(plain, level=level, **given) for level in (0.5, 0.9999))
    for row, other in zip(narrow.rows(), wide.rows(), strict=True):
        assert other["low"] < row["low"] < row["high"] < other["high"]
    for printed, row in zip(wide.to_json()["tables"][0]["rows"], wide.rows(), strict=False):
        assert (printed["first"] + 1, printed["last"] + 1) == (row["first"], row["last"])
    assert {row["first"] for row in wide.rows()} == {1, 2, 3}
    paths = depthlaw.audit(Plain(), **given | {"measures": "paths", "blocks": ()}).rows()
    # How many layers are kept is no number of a layer.
    firsts = [(row["variant"], row["first"]) for row in paths]
    assert firsts == [("kept", 0), ("kept", 1), ("kept", 2), ("kept", 3), ("half", 1)]
    described = json.dumps(depthlaw.ledger.functions.audit.audit_schema())
    assert described.count("Counted from 0; options, page and rows() count from 1") == 6


def test_random_tokens_leave_the_id_of_padding_out(tmp_path: Path) -> None:
    given = {"documents": 8, "tokens": 8, "folder": tmp_path, "measures": "states", "seed": 4}
    for padding in (3, None):
        found = depthlaw.audit(net("GPT2LMHeadModel", pad_token_id=padding), **given).audit.text
        own, all_ids = (random_documents(40, "zipf", 8, 8, 4, without) for without in (3, None))
        assert (own.ids != 3).all()
        assert (all_ids.ids == 3).any()
        assert found.sha256 == (own if padding else all_ids).sha256


def test_documents_that_the_model_makes_shorter_are_announced(
    here: Path, depthlaw: Callable[..., Any]
) -> None:
    few = ("audit", "plain", "--documents", "8", "--measures", "states", "--tokens")
    cut = depthlaw(*few, "999999999")
    assert cut.code == 0
    assert "Documents have 64 tokens, the longest that the model accepts" in cut.err
    assert depthlaw(*few, "64").err == ""


# --- in Python ---


@pytest.mark.parametrize(
    ("options", "says"),
    [
        ({"model": 5}, "a int is not a model; accepted are a folder"),
        ({"text": TEXT}, "has no tokenizer"),
        ({"text": 5, "tokenizer": letters}, "a int is not a text; give a string or a path"),
        ({"task": 5}, "a int is not a task; give a path or a name"),
        ({"blocks": [1.5]}, "blocks='1.5': accepted are whole numbers"),
        ({"blocks": "x"}, "blocks='x': accepted are whole numbers"),
        ({"tokens": "8"}, "tokens='8': accepted are whole numbers"),
        ({"ladder": True}, "tokens"),
    ],
)
def test_what_python_hands_over_is_refused_in_one_line(
    options: dict[str, Any], says: str, tmp_path: Path
) -> None:
    given = {"model": Plain(), "documents": 8, "tokens": 8, "folder": tmp_path} | options
    with pytest.raises(depthlaw.UsageError) as refused:
        depthlaw.audit(**given)
    assert says in str(refused.value)
    assert "\n" not in str(refused.value)


def test_a_text_may_be_the_name_of_a_file(here: Path, tmp_path: Path) -> None:
    given = {"documents": 8, "tokens": 8, "folder": tmp_path, "measures": "removal"}
    named, whole = (depthlaw.audit(Plain(), letters, text, **given) for text in ("text.txt", TEXT))
    assert named.audit.text.sha256 == whole.audit.text.sha256
    assert named.audit.text.source == "text.txt"


# --- the page ---


@pytest.mark.slow
def test_the_page_is_followed_on_fewer_documents(
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    depthlaw: Callable[..., Any],
    capsys: pytest.CaptureFixture[str],
) -> None:
    text = PAGE.read_text("utf-8")
    made, asked, trainer_made, trained = re.findall(r"^```python\n(.*?)^```$", text, re.M | re.S)
    commands = re.findall(r"^\$ depthlaw (.*)$", text, re.M)
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("XDG_DATA_HOME", str(tmp_path / "data"))
    names: dict[str, Any] = {}
    assert "range(300)" in made
    exec(made.replace("range(300)", "range(20)"), names)
    capsys.readouterr()
    screens = {}
    for command in commands:
        documents = 16 if "--blocks" in command else 8
        fewer = f"{command} --documents {documents}".replace("questions 20", "questions 3")
        found = depthlaw(fewer)
        assert found.code == 0, found.err
        screens[command] = found.out
    assert len(commands) == 6
    usual = screens["audit tiny --text held-out.txt --tokens 64"]
    told = re.findall(r"^\* \*\*(.*?)\*\*:", text, re.M)
    assert re.findall(r"^([A-Z]\w+(?: \w+)?)  ", usual, re.M) == told
    assert "random tokens" not in usual
    assert "random tokens" in screens["audit tiny --tokens 64"]
    assert (tmp_path / "card.md").read_text().startswith("# ")
    exec(asked.replace("tokens=64", "tokens=64, documents=8"), names)
    # After so short a training the loss may not be below that of fresh weights: then "None".
    assert re.search(r"\['(needed|superfluous|undecided|None)', ", capsys.readouterr().out)
    assert (tmp_path / "again.md").exists()

    heard: list[dict[str, float]] = []

    def add_callback(callback: Any) -> None:
        control = transformers.TrainerControl()
        callback.on_train_begin(None, transformers.TrainerState(), control, model=names["net"])

    trainer = SimpleNamespace(log=heard.append, add_callback=add_callback)
    exec(trained, names | {"trainer": trainer})
    assert "audit/removal_layer_5" in heard[0]
    if find_spec("accelerate"):
        exec(trainer_made, names)

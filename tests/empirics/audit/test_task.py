"""A task as a second objective: answers are scored given their prompts, and nothing else is."""

import json

import numpy as np
import pytest
import torch
from tiny_models import VOCABULARY, tiny
from torch.nn.functional import cross_entropy

from depthlaw.empirics.audit import AuditError
from depthlaw.empirics.audit.audit import audit
from depthlaw.empirics.audit.documents import loss, random_documents
from depthlaw.empirics.audit.layered import layered, without
from depthlaw.empirics.audit.rungs import ladder, questions
from depthlaw.empirics.audit.task import task_documents

ASKED = [{"prompt": "ab" * (1 + i % 4), "answer": "c" * (1 + i % 3) + "d"} for i in range(9)]


def letters(text):
    return [ord(c) % 32 for c in text if c.strip()]


def pairs(text):
    """Tokens of two letters from the left, as a tokenizer that joins a prompt and its answer."""
    ids = letters(text)
    return [(7 * sum(ids[i : i + 2])) % VOCABULARY for i in range(0, len(ids), 2)]


@pytest.fixture(scope="module")
def model():
    return layered(tiny("GPT2LMHeadModel"))


@pytest.fixture
def file(tmp_path):
    def made(lines):
        path = tmp_path / "task.jsonl"
        said = (line if isinstance(line, str) else json.dumps(line) for line in lines)
        path.write_text("\n".join(said) + "\n", encoding="utf-8")
        return path

    return made


@pytest.mark.parametrize("route", [None, without(4, 1, 2)])
def test_the_loss_is_that_of_the_answers_tokens_of_each_question_alone(model, file, route):
    found = task_documents(model, letters, file([*ASKED[:4], "", *ASKED[4:]]))
    assert (len(found), found.law, found.cut["answers encoded apart"]) == (9, "task", 0)
    by_hand = []
    for one in ASKED:
        prompt, answer = letters(one["prompt"]), letters(one["answer"])
        logits = model.logits([[*prompt, *answer]], route)[0]
        said = logits[len(prompt) - 1 : -1]
        by_hand.append(cross_entropy(said, torch.tensor(answer)).item())
    np.testing.assert_allclose(loss(model, found, route), by_hand, rtol=1e-10)


def test_what_a_tokenizer_joins_is_encoded_apart_and_said(model, file):
    asked = [
        {"prompt": "abc", "answer": "de"},
        *({"prompt": "ab", "answer": f"c{letter}"} for letter in "defghij"),
    ]
    found = task_documents(model, pairs, file(asked))
    assert found.cut["answers encoded apart"] == 1
    assert found.ids[0].tolist() == [*pairs("abc"), *pairs("de")]
    assert (found.labels[0] >= 0).tolist() == [False, True, False]
    assert (found.labels[1] >= 0).tolist() == [True, False, False]


def test_of_many_questions_a_choice_is_asked(model, file):
    path = file([{"prompt": "a" * (1 + i), "answer": "b"} for i in range(20)])
    some, again, other = (task_documents(model, letters, path, 8, seed) for seed in (0, 0, 1))
    assert some.cut["not chosen"] == 12
    assert some.sha256 == again.sha256 != other.sha256


def test_levels_of_a_ladder_that_fit_are_asked_alike_often(model):
    levels = [rung for rung in ladder() if rung.ladder == "recall"]
    symbols = {s: i for i, s in enumerate("abcdefghijklmnop0123|=")} | {"recall": 22}

    def encode(text):
        # The solved lines are left out, so that some levels fit into 32 tokens.
        return [symbols[word] for word in text.split("\n")[-1].split()]

    found = task_documents(model, encode, "recall", 9)
    assert found.cut["levels"] == "4 8 12"
    for row, number in ((0, 0), (4, 1), (8, 2)):
        one = questions(levels[row % 3], 9)[number]
        text = encode(f"{one.prompt} {one.candidates[one.right]}")
        assert found.ids[row, : len(text)].tolist() == text
        assert found.labels[row, len(text) - 2] == text[-1]
        assert (found.labels[row] >= 0).sum() == 1
    few = task_documents(model, lambda text: encode(text) * 2, "recall", 9)
    assert few.cut["levels"] == "4"
    with pytest.raises(AuditError, match="the questions of recall are longer than the 32 tokens"):
        task_documents(model, lambda text: encode(text) * 4, "recall", 9)


def test_the_audit_has_a_table_of_the_task_and_how_far_two_orders_agree(model, file):
    task = task_documents(model, letters, file(ASKED))
    sample = random_documents(VOCABULARY, tokens=8, documents=12)
    found = audit(model, sample, groups=["removal"], nulls=(), task=task)
    table = found.table("removal", "task")
    for layer, row in enumerate(table.rows):
        more = loss(model, task, without(4, layer, layer)) - loss(model, task)
        assert row.estimate.value == pytest.approx(more.mean())
    assert found.task.loss.value == pytest.approx(loss(model, task).mean())
    assert (found.task.agreement.n, found.task.sample.documents) == (9, 9)
    # On the text itself, answered as if it were a task, both orders are one.
    same = audit(model, sample, groups=["removal"], nulls=(), task=sample)
    assert same.task.agreement.value == 1
    assert audit(model, sample, groups=["states"], nulls=(), task=task).task.agreement is None


def test_a_task_that_was_not_learnt_has_no_calls_of_layers(model, file):
    """The net has fresh weights, and none were drawn beside the text."""
    task, sample = (
        task_documents(model, letters, file(ASKED)),
        random_documents(VOCABULARY, tokens=8),
    )
    found = audit(model, sample, groups=["removal"], nulls=(), task=task)
    assert abs(found.task.fresh.value) < 0.5
    assert {row.call for row in found.table("removal", "task").rows} == {None}
    assert all(row.call for row in found.table("removal").rows)
    # One that says the same token everywhere has learnt the task of that token.
    told = tiny("GPT2LMHeadModel")
    with torch.no_grad():
        told.transformer.ln_f.weight.zero_()
        told.transformer.ln_f.bias.copy_(5 * told.transformer.wte.weight[4])
    knows = task_documents(
        layered(told),
        letters,
        file(
            [one | {"answer": "d"} for one in ASKED[:4]]
            + [{"prompt": "ba" * n, "answer": "d"} for n in (1, 2, 3, 4)]
        ),
    )
    learnt = audit(layered(told), sample, groups=["removal"], nulls=(), task=knows)
    assert learnt.task.fresh.high < -0.01
    assert all(row.call for row in learnt.table("removal", "task").rows)


GOOD = [json.dumps(one) for one in ASKED]


def test_a_question_that_is_asked_again_counts_once(model, file):
    assert task_documents(model, letters, file([*GOOD, GOOD[0]])).cut["asked again"] == 1
    with pytest.raises(AuditError, match="1 different questions"):
        task_documents(model, letters, file([GOOD[0]] * 9))


@pytest.mark.parametrize(
    ("lines", "said"),
    [
        ([*GOOD, "{"], r"line 10: no JSON; give lines such as"),
        (["", *GOOD, "[" * 99_999], r"line 11: no JSON"),
        ([*GOOD, "[1]"], r"line 10: no prompt; give lines"),
        ([*GOOD, '{"prompt": "a"}'], r"line 10: no answer"),
        ([*GOOD, '{"prompt": "a", "answer": 4}'], r"line 10: no answer"),
        ([*GOOD, '{"prompt": "", "answer": "a"}'], r"line 10: no prompt"),
        ([*GOOD, '{"prompt": "a", "answer": "\\ud800"}'], r"line 10: no answer"),
        ([*GOOD, '{"prompt": "a", "answer": "  "}'], r"line 10: the tokenizer makes no token of"),
        ([*GOOD, '{"prompt": " ", "answer": "a"}'], r"no token of the prompt"),
        ([*GOOD, json.dumps({"prompt": "a" * 32, "answer": "b"})], r"line 10: 33 tokens, but"),
        (GOOD[:7], r"has 7 different questions; 8 are needed for an interval"),
        ([], r"has 0 different questions"),
    ],
)
def test_what_is_no_task_is_one_line(model, file, lines, said):
    with pytest.raises(AuditError, match=said) as error:
        task_documents(model, letters, file(lines))
    assert "\n" not in str(error.value)


def test_models_that_no_task_is_asked_of(model, file):
    path = file(ASKED)
    for net, tokenizer, task, said in (
        (layered(tiny("AlbertForMaskedLM")), letters, path, "is not causal"),
        (layered(tiny("GPT2LMHeadModel").transformer), letters, path, "returns no logits"),
        (model, None, path, "has no tokenizer, so a task has no tokens"),
        (model, letters, "riddles", "neither a file nor a ladder; accepted are"),
        (model, letters, path.parent, "neither a file nor a ladder"),
        (model, lambda text: [99] * len(text), path, "line 1: id 99, but .* accepts 0 to 39"),
    ):
        with pytest.raises(AuditError, match=said):
            task_documents(net, tokenizer, task)

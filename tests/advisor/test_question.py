"""One question: the same options on the command line, in Python and in the schema."""

from __future__ import annotations

from dataclasses import fields

import pytest
from hypothesis import given, strategies as st

from depthlaw.advisor.base.quantities import UsageError
from depthlaw.advisor.budgets import Budget
from depthlaw.advisor.question import BY_NAME, OPTIONS, Question, flag, schema
from depthlaw.advisor.recommendation import recommend
from depthlaw.advisor.shapes import Constraints

TYPED = [option for option in OPTIONS if "heading" in option.metadata]


def test_every_field_of_budget_and_constraints_is_a_keyword() -> None:
    for known in (*fields(Budget), *fields(Constraints)):
        assert known.name in BY_NAME


def test_every_option_reaches_budget_constraints_or_the_question_itself() -> None:
    reached = {known.name for kind in (Budget, Constraints) for known in fields(kind)}
    rest = {o.name for o in OPTIONS if (o.metadata.get("of") or o.name) not in reached}
    tasks = {"task", "atlas", "diameter", "vertices", "hops", "length"}
    assert rest == {
        *("budget", "count", "hf", "safetensors", "known_by", "encoder_decoder", "mixer"),
        *tasks,
    }


@pytest.mark.parametrize(
    ("typed", "keywords"),
    [
        ({"gqa": "4:1", "ff": "8/3"}, {"kv_ratio": 4, "ff_factor": 8 / 3}),
        ({"bits": "4"}, {"bytes_per_weight": 0.5}),
        ({"bits": 4}, {"bytes_per_weight": 0.5}),
        ({"tokens_per_second": 50}, {"milliseconds": 20.0}),
        ({"time": "2 weeks", "gpu": "H100"}, {"hours": 336, "gpu": "H100"}),
        ({"encoder_decoder": True}, {"kind": "encoder-decoder"}),
        ({"pipeline": "4", "norm": "LNS"}, {"pipeline": 4, "norm": "lns"}),
        ({"kv_cache": "1GB", "known_by": "2025"}, {"kv_bytes": 2**30, "known_by": 2025}),
    ],
)
def test_what_is_typed_is_what_programs_pass(typed: dict, keywords: dict) -> None:
    asked, passed = Question.read(budget="3B", **typed), Question.read(budget=3e9, **keywords)
    for kind in (Budget, Constraints):
        assert asked.of(kind) == passed.of(kind)
    assert asked.known_by == passed.known_by


def test_two_names_of_one_quantity_are_refused() -> None:
    for options in ({"hours": 1, "time": "1h"}, {"gqa": 4, "kv_ratio": 4}):
        with pytest.raises(UsageError, match="say the same; give one of them"):
            Question.read(**options)
    with pytest.raises(UsageError, match="budget and total are both a number of parameters"):
        recommend("3B", total=350e6)
    with pytest.raises(UsageError, match="--count says what the budget counts"):
        recommend(flops=1e21, count="active")


def test_a_size_counts_what_is_said() -> None:
    assert Question.read(budget="3B", count="active").of(Budget) == {"active": 3e9}
    assert Question.read(budget="3B", count="non-embedding").of(Budget) == {"nonembedding": 3e9}


def test_none_is_not_given_and_leaves_what_constraints_say() -> None:
    assert Question.read(**dict.fromkeys(BY_NAME)) == Question()
    assert Question().of(Budget) == Question().of(Constraints) == {}
    shallow = Constraints(latency_matters=True, kind="encoder-decoder")
    assert recommend("3B", constraints=shallow) == recommend(
        "3B", latency_matters=True, encoder_decoder=True
    )


@given(st.sampled_from(OPTIONS), st.text(max_size=20))
def test_arbitrary_text_is_read_or_refused_in_one_line(option, text: str) -> None:
    more = {"budget": "3B"} if option.name == "count" else {}
    refused = ""
    try:
        Question.read(**more, **{option.name: text})
    except UsageError as error:
        refused = str(error)
    assert "\n" not in refused
    assert refused.isascii()


def test_the_schema_names_every_keyword_with_its_help() -> None:
    described = schema()["properties"]
    assert list(described) == [option.name for option in OPTIONS]
    assert described["norm"]["enum"] == ["pre", "post", "lns"]
    assert described["gpus"]["type"] == ["number", "string"]
    assert described["gated"]["type"] == "boolean"
    assert all(option.metadata["text"].endswith(".") for option in OPTIONS)
    assert flag("ms_per_token") == "--ms-per-token"
    assert len({option.metadata["text"] for option in TYPED}) == len(TYPED)

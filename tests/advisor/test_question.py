"""One question: the same options on the command line, in Python and in the schema."""

from __future__ import annotations

from dataclasses import fields

import pytest
from hypothesis import given, strategies as st

from depthlaw.advisor.base.quantities import UsageError
from depthlaw.advisor.budgets import Budget
from depthlaw.advisor.question import BY_FIELD, BY_NAME, OPTIONS, Question, flag, schema
from depthlaw.advisor.recommendation import recommend
from depthlaw.advisor.shapes import Constraints


def test_every_field_of_budget_and_constraints_is_an_option() -> None:
    sizes = {"total", "nonembedding", "active"}  # which are BUDGET, by --count
    for known in (*fields(Budget), *fields(Constraints)):
        assert (known.name in BY_FIELD) != (known.name in sizes)


def test_every_option_reaches_budget_constraints_or_the_question_itself() -> None:
    reached = {known.name for kind in (Budget, Constraints) for known in fields(kind)}
    rest = {o.name for o in OPTIONS if (o.metadata.get("of") or o.name) not in reached}
    tasks = {"task", "atlas", "diameter", "vertices", "hops", "length"}
    assert rest == {
        *("budget", "count", "hf", "safetensors", "known_by", "mixer"),
        *tasks,
    }


@pytest.mark.parametrize(
    ("typed", "meant"),
    [
        ({"gqa": "4:1", "ff": "8/3"}, {"kv_ratio": 4, "ff_factor": 8 / 3}),
        ({"gqa": 4, "ff": 8 / 3}, {"kv_ratio": 4, "ff_factor": 8 / 3}),
        ({"bits": "4"}, {"bytes_per_weight": 0.5}),
        ({"bits": 4}, {"bytes_per_weight": 0.5}),
        ({"tokens_per_second": 50}, {"milliseconds": 20.0}),
        ({"time": "2 weeks", "gpu": "H100"}, {"hours": 336, "gpu": "H100"}),
        ({"encoder_decoder": True}, {"kind": "encoder-decoder"}),
        ({"encoder_decoder": False}, {}),
        ({"pipeline": "4", "norm": "LNS"}, {"pipeline": 4, "norm": "lns"}),
        ({"kv_cache": "1GB"}, {"kv_bytes": 2**30}),
        ({"kv_cache": 1e9, "ms_per_layer": 0.05}, {"kv_bytes": 1e9, "layer_milliseconds": 0.05}),
    ],
)
def test_what_is_typed_is_what_budget_and_constraints_hold(typed: dict, meant: dict) -> None:
    asked = Question.read(budget="3B", **typed)
    assert asked.of(Budget) | asked.of(Constraints) == {"total": 3e9, **meant}


def test_two_names_of_one_quantity_are_refused() -> None:
    for options in ({"hours": 1, "time": "1h"}, {"ms_per_token": 20, "tokens_per_second": 50}):
        with pytest.raises(UsageError, match="say the same; give one of them"):
            Question.read(**options)
    for name, meant in {"kv_ratio": "gqa", "bytes_per_weight": "bits", "config": "hf"}.items():
        with pytest.raises(UsageError, match=f"no option '{name}'; did you mean {meant}"):
            recommend("3B", **{name: 4})
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
    assert len({option.metadata["text"] for option in OPTIONS}) == len(OPTIONS)

"""What an answer looks like: text at any width, JSON as its schema says, a sentence to cite."""

from __future__ import annotations

import ast
import dataclasses
import json
import re
import types
import typing
from collections.abc import Iterator
from fractions import Fraction
from functools import cache
from pathlib import Path
from typing import Any

import pytest
from jsonschema import Draft202012Validator

from depthlaw.advisor import (
    answer as answers,
    architecture,
    checkpoint,
    counting,
    grids,
    hybrids,
    initialisation_advice,
    loops,
    question,
    regimes,
    rule_scores as evidence,
    step_time,
    task_depths,
    trades,
    training_cost,
    training_memory,
    words,
)
from depthlaw.advisor.answer import Answer
from depthlaw.advisor.architecture import Architecture
from depthlaw.advisor.base import quantities
from depthlaw.advisor.latency import LatencyPoint, fit
from depthlaw.advisor.published import published
from depthlaw.advisor.recommendation import recommend
from depthlaw.ledger.cli.arguments import main

TRAINING = (regimes, step_time, training_cost, training_memory)
NAMES = {
    name: value
    for module in (
        *(architecture, checkpoint, counting, evidence, answers, hybrids, initialisation_advice),
        *(grids, loops, task_depths, trades, *TRAINING),
    )
    for name, value in vars(module).items()
}
SCHEMA = json.loads(answers.SCHEMA.read_text(encoding="utf-8"))
VALIDATOR = Draft202012Validator(SCHEMA)
SIMPLE = {str: "string", int: "integer", float: "number", bool: "boolean", type(None): "null"}


# --- what an answer says -------------------------------------------------------------------------

POINTS = [LatencyPoint(layers, 2048, Fraction(layers, 2)) for layers in (12, 36)]
ASKED: dict[str, dict[str, Any]] = {
    "plain": {"budget": "3B"},
    "full": {"budget": "3B", "pipeline": 4, "gpu": "H100", "gpus": 64, "hours": 336}
    | {"ff": 8.0, "task": "hops", "hops": 5},
    "task": {"task": "hops", "hops": 5},
    "experts": {"budget": "30B", "experts": 64, "active_experts": 6, "shared_experts": 2},
    "trained": {"hf": Architecture(30, 2304, 18, 6144, 32000, kv_heads=6), "gpu": "B200"}
    | {"gpus": 64, "tensor": 4, "pipeline": 4, "microbatch": 64, "recompute": "none"},
    "timed": {"budget": "1B", "loops": 2, "latency": fit(POINTS)},
    "mixer": {"budget": "1B", "loops": 9, "mixer": "mamba2"},
    "hybrid": {"hf": published("jamba").architecture, "memory": 80e9},
    "judged": {"hf": Architecture(6, 4096, 32, 8192, 32000, name="mine"), "pipeline": 4},
}


@cache
def answered(name: str) -> Answer:
    """The answer to one of these; of no question an empty one."""
    return recommend(**ASKED[name]) if name in ASKED else Answer("?")


ANSWERS = pytest.mark.parametrize("name", [*ASKED, "nothing"])


@ANSWERS
@pytest.mark.parametrize("width", [30, 59, 60, 80])
def test_no_line_is_wider_than_the_terminal(name: str, width: int) -> None:
    for text in (words.as_text(answered(name), width), words.explained(answered(name), width)):
        assert text.isascii()
        for line in text.splitlines():
            assert len(line) <= width or " " not in line.strip()
            assert line == line.rstrip()


def test_the_first_screen_opens_with_its_slots_and_the_shape_follows() -> None:
    found = answered("plain")
    text, a = words.as_text(found), found.shape.architecture
    opening, below = text.split("\n\n")
    first, second, *_ = text.splitlines()
    assert first == found.question
    assert second == f"Answer   {a.layers} layers of width {a.width:,}."
    assert f"Answer: {a.layers} layers" in words.as_text(found, 59)
    labels = [line[:9].strip() for line in opening.splitlines()[1:]]
    assert [*filter(None, labels)] == ["Answer", "How sure", "Changes", "Floor", "More"]
    assert f"{a.heads} heads of 128 on {a.key_heads} key-value" in below
    # Those at equal FLOPs are for --why.
    less, same, more, *others = (f"{n.layers} x {n.architecture.width:,}" for n in found.neighbours)
    said = " ".join(text.split())
    around = " or ".join(net.split()[0] for net in (less, more))
    assert f"Going to {around} layers should change the loss by " in said
    assert not any(shape in said for shape in {*others} - {less, same, more})
    assert not any(doubt in said for doubt in found.doubts)


def test_a_sentence_falls_into_the_slot_of_its_code() -> None:
    """In the order of the slots, whatever the order in which sentences were made."""
    made = [answers.Said(slot, "x", f"({slot})") for slot in (*reversed(words.SLOTS), "sure")]
    text = words.as_text(Answer("?", screen=tuple(made)), 80)
    assert re.findall(r"\((\w+)\)", text) == sorted(
        (said.slot for said in made), key=[*words.SLOTS].index
    )
    assert all(said.slot in words.SLOTS for name in ASKED for said in answered(name).screen)


def test_the_evidence_for_the_rule_is_behind_why() -> None:
    chosen = recommend("3B")
    short, long = (
        " ".join(text.split()) for text in (words.as_text(chosen), words.explained(chosen))
    )
    assert chosen.rule_why not in short
    assert chosen.rule_why in long
    assert f"with each source left out in turn, has {evidence.table().by_scores:.3f}" in long
    # A gated layer of 14 d^2 and some rounding is what most nets have: no warning, but said.
    assert "d^2 weights" not in short
    one = chosen.shape.architecture
    assert f"{counting.per_layer(one) / one.width**2:.3g} d^2 weights in a layer" in long
    assert "A layer has" in " ".join(words.as_text(recommend("3B", ff=8.0)).split())


@pytest.mark.parametrize(
    ("layers", "width", "said"),
    [
        (30, 1536, "Yes: 30 layers come"),
        (6, 4096, "No: 6 layers are too shallow"),
        (400, 1536, "Not known: "),
    ],
)
def test_of_a_configuration_the_depth_is_judged_first_and_its_costs_are_said(
    layers: int, width: int, said: str
) -> None:
    net = Architecture(layers, width, 16, 4096, 50304, kv_heads=4, name="mine", context=2048)
    found = recommend(hf=net)
    lines = words.as_text(found).splitlines()
    assert lines[1].startswith(f"Answer   {said}")
    short = " ".join(" ".join(lines).split())
    weights = quantities.binary(counting.memory(net).weights)
    assert f"training, at 2,048 tokens. Weights {weights}, KV cache" in short
    long = " ".join(words.explained(found).split())
    assert f"Counts of the configuration: - {counting.count(net).total:,} parameters" in long
    assert ("Counts of the recommended shape" in long) == said.startswith("No:")
    assert ("Instead " in short) == said.startswith("No:")


def test_unequal_pipeline_stages_are_said_and_equal_ones_are_not() -> None:
    uneven = dataclasses.replace(answered("full"), stages=(5, 6, 6, 6, 6, 6, 5))
    text = words.as_text(uneven)
    assert "Stages   7 of unequal depth: 2 of 5 layers and 5 of 6 layers" in text
    assert len(answered("full").stages) == 4
    assert "Stages" not in words.as_text(answered("full"))


def test_no_number_has_an_exponent_and_thousands_are_marked_alike() -> None:
    full = answered("plain")
    slow = dataclasses.replace(full.shape, milliseconds=(178.0, 1574.0, 2044.0))
    text = words.as_text(dataclasses.replace(full, shape=slow), 300)
    assert "1,574 ms per token (95 %: 178 to 2,044)" in text
    said = words.milliseconds((0.0123, 2.5, 99.96))
    assert said == "2.5 ms per token (95 %: 0.0123 to 100)"
    assert "Answer   2,000 layers of width" in words.as_text(recommend("100B", layers=2000))


# Fields whose texts are for programs.
CODES = {
    "kind",
    "norm",
    "qk_norm",
    "rule",
    "key",
    "residual",
    "parametrisation",
    "place",
    "code",
    "slot",
}
CODES |= {"demands", "dropped", "verdict_codes", "warning_codes", "doubt_codes", "name", "equal"}
CODES |= {"mixer"}
CODES |= {"attention_gate", "weights"}


@ANSWERS
def test_everything_that_an_answer_holds_is_said_somewhere(name: str) -> None:
    found = answered(name)
    texts = words.as_text(found), words.explained(found), words.recipe(found, 10**6)
    text = " ".join("".join(texts).lower().split())
    for field, value in _leaves(found):
        # A claim stands there with its title and verdict.
        for part in () if field in CODES else re.split(r"claim \S+", value):
            assert " ".join(part.lower().split()) in text, field


def test_an_error_and_a_domain_of_a_law_are_said() -> None:
    (law, *_), full = answered("full").laws, answered("full")
    law = dataclasses.replace(law, error=None, extrapolated=True, domain=(1e7, 1e9))
    said = words.explained(dataclasses.replace(full, laws=(law,)))
    assert "+-" not in said
    assert "EXTRAPOLATED. Measured at 10M to 1B" in " ".join(said.split())
    law = dataclasses.replace(law, error=1.5)
    assert "+- 1.5" in words.explained(dataclasses.replace(full, laws=(law,)))


def _leaves(value: Any, name: str = "") -> Iterator[tuple[str, str]]:
    """Every text in an answer, and the field that holds it."""
    if isinstance(value, str):
        yield name, value
    elif dataclasses.is_dataclass(value) or hasattr(value, "_asdict"):
        for field in getattr(value, "_fields", None) or vars(value):
            yield from _leaves(getattr(value, field), field)
    elif isinstance(value, tuple):
        for item in value:
            yield from _leaves(item, name)


def test_verdicts_stand_beside_claims() -> None:
    task = words.as_text(answered("task")) + words.explained(answered("task"))
    judged = r"claim hops/depth_corrected \(The repaired .*? layers\): PROVED"
    assert len(re.findall(judged, " ".join(task.split()))) == 1
    full = answered("full")
    said = " ".join(words.explained(full).split())
    assert f"{full.floor.claim_about}: claim depth_choice/threshold_budget (Lambert's" in said
    assert f"for a budget): {full.floor.verdict}]" in said
    unjudged = dataclasses.replace(full.floor, claim="depth_choice/new", verdict=None)
    said = " ".join(words.explained(dataclasses.replace(full, laws=(unjudged,))).split())
    assert "claim depth_choice/new: no verdict yet" in said


def test_a_citation_is_one_sentence_with_version_and_sources() -> None:
    found = recommend("1.3B")
    measured, net = (
        words.citation(found, "1.2.3"),
        f"{found.layers} layers of width {found.width:,}",
    )
    assert "\n" not in measured
    assert re.search(rf"depthlaw 1\.2\.3.*{net}.*mcleish2025", measured)
    assert "sanford2024" in words.citation(answered("task"), "1.2.3")
    assert "by muP's best d / L (dey2025, arXiv:2505.01618; reported), and" in measured
    assert "in published grids" in measured
    demanded = words.citation(recommend("3B", most_layers=8), "1.2.3")
    assert "of width 5,120 (3B parameters), and finds" in demanded
    assert "; why this depth: set by --most-layers 8; otherwise 31" in demanded
    assert words.citation(recommend("1B", layers=24, task="hops", hops=16), "1.2.3").endswith(
        "Theorem 4.2); why this depth: 24 layers were demanded."
    )


@pytest.mark.parametrize(
    ("asked", "own"),
    [
        ("3B", "as deep as the rule at the largest"),
        ("8B", "the shallowest whose extrapolated loss"),
    ],
)
def test_where_the_advice_is_not_the_depth_of_the_rule_a_citation_says_so(
    asked: str, own: str
) -> None:
    found = recommend(asked)
    assert found.rule_layers
    assert found.rule_layers > found.shape.architecture.layers
    said = words.citation(found, "1.2.3")
    assert " by muP's" not in said
    for text in (said, " ".join(words.explained(found).split())):
        assert own in text
        assert f"within 0.1 % of that of the {found.rule_layers} layers of muP's best" in text
    assert "dey2025, arXiv:2505.01618; reported, itself extrapolated beyond its 50M to 1.5B" in said
    assert "of the best loss, as extrapolated from published grids without such nets" in said
    assert recommend("1.3B").rule_layers is None


def test_a_verdict_stands_with_what_its_claim_is_about() -> None:
    regular = " ".join(words.explained(recommend(task="regular", length=64)).split())
    checked = "we check the arithmetic of the count alone: claim "
    assert regular.count(f"{checked}connectivity/log_depth_lengths (r layers") == 2
    reach = " ".join(words.explained(recommend(task="connectivity", diameter=64)).split())
    # A theorem for every graph needs no such word.
    assert "[depthlaw, claim connectivity/layers_for_diameter" in reach
    assert "did not run the 18 other layers, which are as printed: claim" in reach
    laws = " ".join(words.explained(answered("plain")).split())
    assert "we check the fit solved for a size, not whether nets obey it: claim" in laws
    assert "not the printed theorem behind it: claim depth_choice/threshold" in laws


def test_a_gpu_that_changes_nothing_is_no_part_of_the_question() -> None:
    idle = recommend("3B", gpu="Apple M4 Pro")
    assert "Apple" not in idle.question
    assert idle.limits == ("the Apple M4 Pro changes nothing: no net is trained on it here",)
    assert idle.shape == recommend("3B").shape
    for more in ({}, {"hours": 336}, {"tokens": 3e11}, {"flops": 1e21}, {"ms_per_token": 20.0}):
        used = recommend("3B", gpu="H100", **more)
        assert "H100" in used.question
        assert not any("changes nothing" in said for said in used.limits)


# --- the schema ----------------------------------------------------------------------------------


@ANSWERS
def test_json_of_an_answer_is_what_the_schema_says(name: str) -> None:
    data = json.loads(json.dumps(answers.as_json(answered(name)), allow_nan=False))
    assert valid({"answer": data, "evidence": None})


@pytest.mark.parametrize(
    "typed",
    [
        "depth --gpu H100 --gpus 64 --time 2weeks",
        "depth 3B --task hops --hops 16",
        "depth --task regular --length 64",
        "depth 3B --evidence",
        "depth --evidence --known-by 2024",
        "depth 30B --experts 64 --active-experts 6 --ms-per-token 20",
        "depth --hf docs/examples/my-config",
        "sweep --from 100M --to 10B --points 3",
        "compare llama-3-8b t5-large deepseek-v3 albert-base docs/examples/my-config",
    ],
)
def test_json_of_a_command_is_what_the_schema_says(
    typed: str, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(Path(__file__).parents[2])
    assert main([*typed.split(), "--json"]) == 0
    assert valid(json.loads(capsys.readouterr().out))


def test_the_command_prints_the_schema(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["depth", "--schema"]) == 0
    printed = json.loads(capsys.readouterr().out)
    assert printed["$defs"].pop("Question") == question.schema()
    assert printed == SCHEMA


def test_the_schema_describes_every_field_of_an_answer() -> None:
    """schema.json is written by hand; its structure follows from the dataclasses."""
    Draft202012Validator.check_schema(SCHEMA)
    expected: dict[str, Any] = {}
    described(Answer, expected)
    for name, schema in expected.items():
        assert structure(SCHEMA["$defs"][name]) == schema, name


def described(kind: Any, found: dict[str, Any]) -> dict[str, Any]:
    """The schema of a type; those of dataclasses and named tuples are put into `found`."""
    origin, arguments = typing.get_origin(kind), typing.get_args(kind)
    if origin is typing.Literal:
        return {"enum": list(arguments)}
    if origin in (typing.Union, types.UnionType):
        each = [described(a, found) for a in arguments]
        plain = [a["type"] for a in each if a.keys() == {"type"}]
        return {"type": plain} if len(plain) == len(each) else {"anyOf": each}
    if origin is tuple and arguments[-1] is ...:
        return {"type": "array", "items": described(arguments[0], found)}
    if origin is tuple:
        size, items = len(arguments), [described(a, found) for a in arguments]
        return {"type": "array", "prefixItems": items, "minItems": size, "maxItems": size}
    if origin is dict:
        return {"type": "object", "additionalProperties": described(arguments[1], found)}
    if kind in SIMPLE:
        return {"type": SIMPLE[kind]}
    if kind.__name__ not in found:
        found[kind.__name__] = {}
        hints = typing.get_type_hints(kind, localns=NAMES)
        hints |= {
            "Flops": {"forward": int, "training": int},
            "Memory": {"training": int | None, "serving": int},
        }.get(kind.__name__, {})
        found[kind.__name__] = {
            "type": "object",
            "properties": {n: described(h, found) for n, h in hints.items()},
            "required": list(hints),
            "additionalProperties": False,
        }
    return {"$ref": f"#/$defs/{kind.__name__}"}


def structure(schema: Any) -> Any:
    """A schema without its descriptions."""
    if isinstance(schema, dict):
        return {
            key: structure(value)
            for key, value in schema.items()
            if key != "description" or not isinstance(value, str)
        }
    return [structure(item) for item in schema] if isinstance(schema, list) else schema


def valid(data: Any) -> bool:
    """Whether data are as the schema says."""
    return bool(VALIDATOR.is_valid(data))


@pytest.mark.parametrize(
    "broken",
    [{"stages": ["7"]}, {"surprise": 1}, {"shape": {}}, {"question": None}],
)
def test_what_breaks_the_schema_is_seen(broken: dict[str, Any]) -> None:
    answer = answers.as_json(answered("full"))
    assert valid({"answer": answer, "evidence": None})
    assert not valid({"answer": answer | broken, "evidence": None})
    assert not valid({"answer": answer})
    assert not valid({"answer": None, "evidence": None, "x": 1})


@pytest.mark.parametrize(
    ("asked", "kind", "code", "doubt"),
    [
        ({"budget": "3B"}, "rule", "rule", "extrapolated"),
        ({"budget": "1B"}, "rule", "rule", "contradicted"),
        ({"budget": "3B", "most_layers": 20}, "demand", "most-layers", "extrapolated"),
        ({"budget": "3B", "latency_matters": True}, "demand", "latency-matters", "extrapolated"),
        ({"budget": "8B", "kv_cache": "300MB"}, "limit", "kv-cache", "extrapolated"),
        ({"budget": "3B", "multiple": 1024}, "step", "coarse-widths", "extrapolated"),
        ({"budget": "10M", "vocabulary": 256}, "rule", "rest-of-size", "contradicted"),
        (
            {"hf": Architecture(6, 4096, 32, 8192, 32000)},
            "given",
            "configuration",
            "contradicted",
        ),
    ],
)
def test_reasons_are_data_beside_their_sentences(
    asked: dict[str, Any], kind: str, code: str, doubt: str
) -> None:
    found = recommend(**asked)
    data = answers.as_json(found)
    assert (data["shape"]["reason"]["kind"], data["shape"]["reason"]["code"]) == (kind, code)
    for name in ("verdict", "warning", "doubt"):
        assert len(data[f"{name}s"]) == len(data[f"{name}_codes"])
    assert doubt in found.doubt_codes
    assert found.doubt_codes[-1] == "one-run"
    if kind in ("demand", "limit"):
        reason = found.shape.reason
        free = recommend(asked["budget"]).shape.architecture
        assert reason.against == (free.layers, free.width)
        assert reason.cost.loss is None or reason.cost.sources
    assert all(c.reason.kind == "trade" for c in found.runners_up)


# --- the advisor decides, then speaks -------------------------------------------------------------

PROSE = {"why", "rule_why", "loss_source", "among", "together", "headline", "remark"}
PROSE |= {"verdicts", "warnings", "doubts", "limits", "initialisation", "notes"}
READING = {"startswith", "endswith", "removeprefix", "split", "partition"}
WORDS = {"words", "layout", "evidence"}


def readings(source: str, decides: bool) -> list[str]:
    """Where a sentence is read: a comparison or a search in a field of prose; in modules that
    decide, any search in a text, and any import of a module of words."""
    found = []
    for node in ast.walk(ast.parse(source)):
        if isinstance(node, ast.Compare):
            operands = [node.left, *node.comparators]
            searched = any(isinstance(op, ast.In | ast.NotIn | ast.Eq) for op in node.ops)
            if searched and any(isinstance(x, ast.Attribute) and x.attr in PROSE for x in operands):
                found.append(ast.unparse(node))
        if isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute):
            of = node.func.value
            prose = isinstance(of, ast.Attribute) and of.attr in PROSE
            if node.func.attr in READING and (prose or decides):
                found.append(ast.unparse(node))
        if isinstance(node, ast.ImportFrom) and decides:
            names = {node.module, *(alias.name for alias in node.names)}
            found += sorted(WORDS & {str(each) for each in names})
    return found


def test_every_sentence_is_said_and_every_code_has_one() -> None:
    table, folder = words._TABLE, Path(words.__file__).parent
    source = "".join((folder / name).read_text() for name in ("words.py", "evidence.py"))
    named = set(re.findall(r'"([a-z]+(?:\.[\w-]+)?)"', source))
    groups = {f"{group}." for group in re.findall(r'f"([a-z]+)\.\{', source)}
    assert {code for code in table.keys() - named if not code.startswith(tuple(groups))} == set()
    assert set(re.findall(r'(?:say|_coded|_line)\("([^"]+)"', source)) <= table.keys()
    bounds = typing.get_args(typing.get_type_hints(answers.Bound)["code"])
    assert {f"bound.{code}" for code in bounds} <= table.keys()


def test_no_decision_reads_a_sentence() -> None:
    folder = Path(answers.__file__).parent
    deciding = {"decide.py", "trades.py", "shape_search.py", "shapes.py", "answer.py"}
    for path in sorted(folder.glob("*.py")):
        source = path.read_text(encoding="utf-8")
        assert readings(source, path.name in deciding) == [], path.name
    tree = ast.parse((folder / "decide.py").read_text(encoding="utf-8"))
    functions = [node for node in ast.walk(tree) if isinstance(node, ast.FunctionDef)]
    texts = [f.name for f in functions if f.returns and ast.unparse(f.returns) == "str"]
    assert texts == ["_code"]  # the name of an option


@pytest.mark.parametrize(
    "source",
    [
        "chosen = rule.name in answer.shape.why",
        "if cost.startswith('loss no higher'): pass",
        "from .words import percents",
        "trained = not within.place(a).endswith('trained')",
    ],
)
def test_a_sentence_that_is_read_is_seen(source: str) -> None:
    assert readings(source, True)

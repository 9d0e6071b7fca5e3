"""The page, the pictures and the JSON of an audit, against what is computed by hand."""

from __future__ import annotations

import json
import re
from collections.abc import Mapping
from dataclasses import fields, replace
from typing import Any, get_args

import numpy as np
import pytest
import torch
import transformers
from jsonschema import Draft202012Validator

from depthlaw.advisor.base.quantities import UsageError
from depthlaw.empirics.audit import audit as audits, ladder, results, rungs
from depthlaw.empirics.audit.documents import Documents, from_text, random_documents
from depthlaw.empirics.audit.layered import LayeredModel, layered, without
from depthlaw.empirics.audit.statistics import Call, Chosen, Estimate, Telling, reach, relative
from depthlaw.empirics.audit.task import task_documents
from depthlaw.empirics.audit.theory_beside import Reason
from depthlaw.ledger.functions.audit import audit_schema
from depthlaw.ledger.publish.audit import page, pictures, sentences

TEXT = "\n\n".join(f"{n**3 % 997} words of {n} {'abc'[n % 3] * n} and {n * n}" for n in range(28))
LAYERS, VOCABULARY = 3, 48
Found = Mapping[str, results.Audit]
NAMES = ("head", "ladder", "no head")


def words(text: str) -> list[int]:
    return [ord(letter) % VOCABULARY for letter in text]


@pytest.fixture(scope="module")
def net() -> Any:
    torch.manual_seed(5)
    sizes = {"vocab_size": VOCABULARY, "n_positions": 400, "n_embd": 16, "n_layer": LAYERS}
    config = transformers.GPT2Config(**sizes, n_head=2, initializer_range=0.4)
    return transformers.GPT2LMHeadModel(config).eval()


@pytest.fixture(scope="module")
def model(net: Any) -> LayeredModel:
    return layered(net, name="three|layers")


@pytest.fixture(scope="module")
def text() -> Documents:
    return from_text(TEXT, words, 14, 20, 0)


@pytest.fixture(scope="module")
def found(net: Any, model: LayeredModel, text: Documents) -> Found:
    """With a head on a text; on random tokens with a ladder and a change; without a head."""
    few, route = rungs.ladder()[:6], without(LAYERS, 1, 1)
    encode = ladder.encoding(model, words)
    climbed = ladder.climb(model, encode, route=route, count=12, rungs=few)
    tokens = random_documents(VOCABULARY, "zipf", 12, 10, 0)
    task = task_documents(model, words, "copying", 16)
    return {
        "head": audits.audit(
            model, text, groups=[*audits.USUAL, "changes"], blocks=(2, 1), task=task
        ),
        "ladder": audits.audit(model, tokens, groups=["removal"], ladder=climbed),
        "no head": audits.audit(layered(net.transformer, name="bare"), tokens),
    }


@pytest.mark.parametrize("name", NAMES)
def test_json_is_as_the_schema_says(found: Found, name: str) -> None:
    schema = audit_schema()
    Draft202012Validator.check_schema(schema)
    printed = json.loads(json.dumps(found[name].to_json(), allow_nan=False))
    errors = [error.message for error in Draft202012Validator(schema).iter_errors(printed)]
    assert not errors


def test_what_breaks_the_schema_is_seen(found: Found) -> None:
    validator = Draft202012Validator(audit_schema())
    no_level = {"value": 1.0, "low": 0.5, "high": 2.0, "n": 20}
    gone = {"refused": {"random_block": ""}}
    for broken in ({"loss": no_level}, {"surprise": 1}, {"refused": {"noise": ""}}, gone):
        assert not validator.is_valid(found["head"].to_json() | broken)


def test_the_schema_has_every_field() -> None:
    """Of the classes that an audit is made of, which are written apart from it."""
    schema = audit_schema()
    defs = schema["$defs"]
    kinds = [results.AuditedModel, results.AuditedText, results.Table, results.Row, results.Search]
    kinds += [results.LeastBlock, results.AuditedTask, results.Planted, ladder.RungResult, Chosen]
    names = ("Model", "Text", "Table", "Row", "Search")
    names += ("LeastBlock", "Task", "Planted", "Rung", "Chosen")
    described = [(results.Audit, schema), *zip(kinds, (defs[name] for name in names), strict=True)]
    described.append((rungs.Rung, defs["Rung"]["properties"]["rung"]))
    for kind, part in described:
        listed = [field.name for field in fields(kind)]
        assert list(part["properties"]) == part["required"] == listed, kind


def test_the_cost_of_a_layer_on_the_page_is_that_of_a_net_built_without_it(
    net: Any, text: Documents, found: Found
) -> None:
    ids = torch.as_tensor(text.ids)

    def losses(layers: list[int]) -> np.ndarray:
        whole = net.transformer.h
        net.transformer.h = torch.nn.ModuleList(whole[layer] for layer in layers)
        with torch.no_grad():
            scores = net(ids, use_cache=False).logits[:, :-1].log_softmax(-1)
        net.transformer.h = whole
        picked = scores.gather(2, ids[:, 1:, None])[..., 0]
        return -picked.mean(1).numpy().astype(float)

    whole = losses([0, 1, 2])
    card = page.markdown(found["head"])
    table = card[card.index("| layer | share of loss |") :].split("\n\n")[0].splitlines()[2:]
    assert len(table) == LAYERS
    for layer, row in enumerate(table):
        cells = [cell.strip() for cell in row.strip("|").split(" | ")]
        told = re.fullmatch(r"([+-][\d.]+) % \[(\S+), (\S+)\]", cells[1])
        assert told
        by_hand = relative(losses([i for i in range(3) if i != layer]), whole, 1 - 0.05 / LAYERS)
        value, low, high = (float(end) for end in told.groups())
        width = 100 * (by_hand.high - by_hand.low)
        assert value == pytest.approx(100 * by_hand.value, abs=width / 5)
        # Rounded outward, to the places of the value.
        assert 0 <= 100 * by_hand.low - low < width / 5
        assert 0 <= high - 100 * by_hand.high < width / 5
        assert len({end.partition(".")[2].__len__() for end in told.groups()}) == 1


@pytest.mark.parametrize("name", NAMES)
def test_sentences_are_short_and_words_are_escaped(found: Found, name: str) -> None:
    card = page.markdown(found[name])
    plain = re.sub(r"```.*?```|`[0-9a-f]{64}`", "", card, flags=re.DOTALL)
    lines = [line for line in plain.splitlines() if line and not line.startswith(("|", "#"))]
    lines += [said for _, said in sentences.lines(found[name])]
    for line in lines:
        for sentence in re.split(r"(?<=[.!?])\s+(?=[A-Z\d])", line):
            assert len(re.findall(r"[A-Za-z'-]+", sentence)) <= 25, sentence
    assert ("three\\|layers" in card) == (name != "no head")


@pytest.mark.parametrize("name", ["ladder", "no head"])
def test_every_number_on_random_tokens_says_so(found: Found, name: str) -> None:
    """The first screen in its sample and its answer, a page in every caption too."""
    lines = dict(sentences.lines(found[name]))
    told = [lines.pop("Answer"), lines.pop("Sample")]
    assert not any("(zipf)" in said for said in lines.values())
    card = page.markdown(found[name])
    told += re.findall(r"^\*([^*]+)\*$", card, flags=re.MULTILINE)
    exempt = ("theorem", "rung", "questions", "variants and sources", "put behind")
    measured = [said for said in told if not any(word in said for word in exempt)]
    assert len(measured) >= 4
    for said in measured:
        assert "andom tokens" in said or not re.search(r"\d", said), said


def test_the_first_sentence_follows_the_call_and_the_null_model(found: Found) -> None:
    audit = found["head"]
    one = audit.searches[0]
    less = Estimate(-0.5, -0.6, -0.4, 0.95, 10, "ratio")
    taught = replace(audit, fresh=less)

    def told(call: Call, value: float, size: int = 1) -> str:
        cost = Estimate(value, value - 0.005, value + 0.005, 0.95, 10, "ratio")
        chosen = replace(one.chosen, estimate=cost)
        search = replace(one, size=size, first=0, last=size - 1, chosen=chosen, call=call)
        return sentences.answer(replace(taught, searches=(search,), tables=()))

    assert told(Call.SUPERFLUOUS, 0.0013, 2).startswith(
        "Layers 1 to 2 of 3 can be left out: the loss changes by +0.1 % [-0.4, 0.7]. The tolerance "
        "is 1 %."
    )
    assert told(Call.NEEDED, 0.3).startswith("No single layer was found that can go: layer 1 of 3")
    assert "does not decide" in told(Call.UNDECIDED, 0.008)
    removal = audit.table("removal", "loss")
    assert removal
    spare = replace(removal.rows[1], share=less, call=Call.SUPERFLUOUS)
    rows = tuple(replace(row, call=Call.NEEDED) for row in removal.rows)
    known = replace(removal, rows=(rows[0], spare, *rows[2:]))
    undecided = replace(one, call=Call.UNDECIDED)
    shown = sentences.answer(replace(taught, searches=(undecided,), tables=(known,)))
    assert shown.startswith("Layer 2 of 3 can be left out: the loss changes by -50 % [-60, -40].")
    assert "One at a time, 1 of 3 layers are superfluous" in shown
    assert "One at a time" not in told(Call.SUPERFLUOUS, 0.0013)
    for high in (-0.005, 0.01):  # not below by the tolerance, and not below at all
        fresh = replace(audit, fresh=replace(less, high=high))
        assert "its loss is 50" in sentences.answer(fresh)
        assert "] lower. Nothing is said of which layer is used" in sentences.answer(fresh)
        assert sentences.called(fresh, spare) == ""
    assert sentences.called(taught, spare) == "superfluous"
    unasked = replace(taught, fresh=None, searches=(undecided,))
    assert "Nothing is said" not in sentences.answer(unasked)
    assert "has no head" in sentences.answer(found["no head"])


def test_what_is_told_is_of_nets_or_of_a_law_and_chance_stands_beside_it(found: Found) -> None:
    audit = found["head"]
    assert audit.draws == 1
    assert "differ from one draw of the same shapes" in sentences.nulls(audit)[0]
    assert "Each null model was drawn once" in page.markdown(audit)
    (chance,) = [said for said in sentences.nulls(audit) if "chance" in said]
    assert chance == "One draw may differ by chance; `--draws 19` tests that."
    assert "--draws" not in page._command(audit)

    def said(draws: int, about: Any, chosen: int) -> results.Audit:
        """An audit whose first measures alone tell the model from fresh weights."""
        tables = [
            replace(
                table,
                rows=tuple(
                    replace(row, nulls={"initialised": reach([1.25, *[2.5] * (draws - 1)])})
                    for row in table.rows
                ),
                told={"initialised": Telling(place < chosen, about, 0.05, draws)},
            )
            for place, table in enumerate(audit.tables)
        ]
        return replace(audit, tables=tuple(tables), draws=draws)

    every = len(audit.tables)
    (few,) = sentences.nulls(said(3, "nets", 2))
    assert few.startswith(f"2 of {every} measures differ from each of 3 draws of the same shapes")
    law = said(19, "law", 5)
    assert sentences.nulls(law) == [
        f"5 of {every} measures tell the model from the same shapes with fresh weights; "
        f"on average chance alone gives at most {every / 20:g}."
    ]
    # 24 draws allow one rank of 25, and not one of 20.
    assert f"gives at most {every / 25:.2g}." in sentences.nulls(said(24, "law", 5))[0]
    card = page.markdown(law)
    assert "drawn 19 times" in card
    assert "drawn once" not in card
    assert "--draws 19" in card
    assert card.count("the mean of 19 draws; brackets and bands go from the least") == 1
    assert "Null models: least and greatest over 19 draws." in card
    rows = [line for line in card.splitlines() if "| 1.25 to 2.5" in line]
    assert len(rows) == every
    assert sum("not told" in line for line in rows) == every - 5


def test_layers_that_were_put_in_are_said_and_tabled(found: Found) -> None:
    audit = found["head"]
    said = sentences.planted(audit)
    behind = audit.planted[0].behind + 1
    right = "Without the copy the loss is that of the whole model, as it must be."
    assert said.endswith(f"A copy of layer {behind} was put behind it. {right}")
    assert "adds zero" in said
    card = page.markdown(audit)
    rows = [line for line in card.splitlines() if "| a copy | `removal`, loss" in line]
    assert [row.endswith("| yes |") for row in rows] == [True]
    shown = [line for line in card.splitlines() if "| a copy | `block_influence`" in line]
    assert not shown
    wrong = [
        replace(one, identity=one.identity and one.identity + 0.1) if one.how == "copy" else one
        for one in audit.planted
    ]
    assert "is not that of the whole model" in sentences.planted(replace(audit, planted=wrong))
    assert "must say of it is not known" in sentences.planted(found["no head"])


def test_a_null_without_a_number_says_why_once(found: Found) -> None:
    audit = found["head"]
    why = {"initialised": "They cannot be told apart"}
    tables = [
        replace(table, missing=why) if table.key == "contribution" else table
        for table in audit.tables
    ]
    card = page.markdown(replace(audit, tables=tuple(tables)))
    line = "The same shapes with fresh weights: `contribution` has no number. They cannot be told"
    assert card.count(line) == 1
    assert line not in page.markdown(audit)


def test_any_block_stands_beside_the_cheapest(found: Found) -> None:
    audit = found["head"]
    two = audit.searches[1]
    told = f"A block of 2 neighbours costs {sentences.percent(two.neighbours)} of the loss"
    assert told in dict(sentences.lines(audit))["Block of 2"]
    assert "neighbours" not in dict(sentences.lines(audit))["One layer"]
    card = page.markdown(audit)
    row = next(line for line in card.splitlines() if re.match(r"\| 2 \| \d to", line))
    cells = [cell.strip() for cell in row.strip("|").split(" | ")]
    assert cells[-2:] == [sentences.percent(two.neighbours), sentences.percent(two.random)]


def test_theorems_stand_with_their_value_or_the_reason_of_their_silence(found: Found) -> None:
    audit = found["head"]
    speaks = audit.theory[-1]._replace(key="paths", value=1.5, low=1.0, high=2.0, reasons=())
    silent = audit.theory[0]._replace(key="collapse", value=None, low=None, reasons=("skips",))
    card = page.markdown(replace(audit, theory=(speaks, silent)))
    one, two = (line for line in card.splitlines() if re.match(r"\| (Heads|Tokens) ", line))
    assert "| 1.5 (1 to 2) |" in one
    assert "| yes |" in one
    assert "vacuous: it is of layers without skip connections" in two
    assert set(sentences.WORDS["reason"]) == set(get_args(Reason))


def test_html_asks_for_nothing_and_other_ends_are_refused(found: Found) -> None:
    html = page.written(found["ladder"], ".html").decode()
    shown = re.sub(r"<script>.*?</script>", "", html, flags=re.DOTALL)
    assert not re.search(r'(src|href)="(?!data:|#)', shown)
    assert html.count("data:image/svg+xml") == 2
    assert "three|layers" in html
    assert page.written(found["head"], ".md").decode() == page.markdown(found["head"])
    with pytest.raises(UsageError, match=r"accepted are .md, .html and .pdf"):
        page.written(found["head"], ".docx")


def test_panels_hold_the_numbers_of_the_tables_and_their_null_models(found: Found) -> None:
    drawn, no_rungs = pictures.panels(found["head"])
    assert (len(drawn), no_rungs) == (5, [])
    removal = found["head"].table("removal", "loss")
    assert removal
    by_name = {series.label: series for series in drawn[0].series}
    assert by_name["this model"].y == tuple(row.estimate.value for row in removal.rows)
    assert by_name["this model"].x == (1, 2, 3)
    assert (drawn[0].x_label, drawn[0].y_label) == ("layer", "rise of loss, nats")
    for key, null in removal.rows[0].nulls.items():
        series = by_name[sentences.WORDS["short"][key]]
        assert (series.y[0], (series.low or ())[0]) == (null.value, null.low)
    assert all("random tokens" in panel.x_label for panel in pictures.panels(found["no head"])[0])


def test_rungs_stand_below_each_other_with_what_was_right_before_and_after(found: Found) -> None:
    rungs = found["ladder"].ladder
    (panel,) = pictures.ladder_panels(found["ladder"])
    assert panel.x_names[:4] == ("brackets 2 (3)", "brackets 4 (5)", "brackets 8 (9)", "hops 1 (2)")
    before, after, unsolved = panel.series
    assert before.y == tuple(result.before.value for result in rungs)
    assert after.low == tuple(result.after.low for result in rungs if result.after)
    assert unsolved.y == tuple(result.baseline.share for result in rungs)
    unchanged = replace(found["ladder"], ladder=tuple(replace(r, after=None) for r in rungs * 5))
    several = pictures.ladder_panels(unchanged)
    assert [len(part.x_names) for part in several] == [14, 14, 2]
    assert [len(part.series) for part in several] == [2, 2, 2]


def test_a_gain_is_said_of_a_corrected_interval_below_0_alone(found: Found) -> None:
    one = next(of for of in found["head"].least if (of.key, of.size) == ("repeat", 1))

    def told(value: float, size: int, gain: bool, **more: Any) -> Any:
        cost = Estimate(value, value - 0.002, value + 0.002, 0.99, 10, "ratio")
        chosen = replace(one.chosen, estimate=cost, candidates=4 - size)
        return replace(one, size=size, first=0, last=size - 1, chosen=chosen, gain=gain, **more)

    swap = {"key": "swap", "variant": "loss", "last": 3, "first": 0}
    least = (told(0.001, 1, False), told(-0.004, 2, True))
    swapped = replace(told(0.001, 2, False), **swap)
    turned = replace(told(0.001, 2, False), key="angular_distance", gain=None)
    called = tuple(replace(of, call=Call.UNDECIDED) for of in found["head"].searches)
    every = (*least, swapped, turned)
    audit = replace(found["head"], fresh=None, searches=called, least=every)
    assert sentences.changes(audit) == [
        "Running layers 1 to 2 of 3 twice changes the loss by -0.40 % [-0.60, -0.20], "
        "the best of 5.",
        "That is a gain, corrected for having searched.",
        "Swapping layers 1 to 2 and 3 to 4 of 3 changes the loss by +0.10 % [-0.10, 0.30], "
        "the best of 2.",
        "That shows no gain.",
    ]
    assert sentences.changes(replace(audit, least=least[:1]))[-1] == "That shows no gain."
    few = replace(audit, least=(replace(least[1], gain=None),))
    assert "fewer than 32 documents" in sentences.changes(few)[-1]
    untaught = replace(few, fresh=Estimate(0.0, -0.1, 0.1, 0.95, 10, "ratio"))
    assert len(sentences.changes(untaught)) == 1
    search = page.markdown(audit).partition("## The search")[2]
    rows = [row for row in search.splitlines() if "`repeat`, plain | " in row]
    assert [row.rstrip(" |").rpartition("| ")[2] for row in rows][:2] == ["no", "yes"]


def test_the_task_stands_beside_the_loss_on_screen_and_page(found: Found) -> None:
    audit = found["head"]
    table = audit.table("removal", "task")
    assert table
    assert audit.task
    assert audit.task.agreement
    card = page.markdown(audit)
    rows = card[card.index("| KL | task |") :].split("\n\n")[0].splitlines()[2:]
    cells = [row.strip("|").split(" | ")[5].strip(" |") for row in rows]
    assert cells == [sentences.number(row.estimate) for row in table.rows]
    lines = dict(sentences.lines(audit))
    assert sentences.number(audit.task.agreement) in lines["Objectives"]
    assert "16 questions do not say whether" in lines["Objectives"]
    sure = replace(audit.task.agreement, low=0.2, value=0.5, high=0.8)
    told = sentences.objectives(replace(audit, task=replace(audit.task, agreement=sure)))
    assert told.endswith("By loss and by loss on the task it is 0.5 [0.2, 0.8].")
    assert "The task is the ladder copying: the loss is" in lines["Sample"]
    assert "16 questions" in lines["Sample"]
    assert "--task copying" in card
    assert audit.task.sample.sha256 in card
    unasked = page.markdown(found["ladder"])
    assert "| task |" not in unasked
    assert "--task" not in unasked


def test_a_title_names_a_least_layer_only_where_intervals_do_not_meet() -> None:
    def table(*ends: tuple[float, float]) -> Any:
        rows = [
            results.Row(i, i, Estimate((low + high) / 2, low, high, 0.95, 9, "skewed"))
            for i, (low, high) in enumerate(ends)
        ]
        return results.Table("block_influence", "mean", "1", 0.0, tuple(rows))

    apart = pictures._influence(None, table((3, 4), (1, 2), (5, 6)))  # type: ignore[arg-type]
    assert apart == "Layer 2 changes the hidden states least"
    meet = pictures._influence(None, table((1.5, 4), (1, 2), (5, 6)))  # type: ignore[arg-type]
    assert meet.startswith("2 layers are not told apart")


def test_what_theory_expects_to_be_lost_stands_beside_what_was(found: Found) -> None:
    one = found["ladder"].ladder[0]
    states = (("lost", True), ("lost", False), ("kept", True), ("kept", None), ("never had", True))
    results = [
        replace(one, state=state, had=state != "never had", beyond=beyond)
        for state, beyond in states
    ]
    told = "4 of 5 rungs are above the baseline; after the change 2 lost, 2 kept"
    assert sentences.climbed(results) == told
    assert sentences.ladder(results, {"without": "2"})[2] == (
        "Of 4 rungs that the model had, 2 have a least depth above the layers that are left. "
        "1 of these were lost, and 1 of the others. "
        "That depth is of idealised nets, mostly at some length, so this is no test of theory."
    )
    assert len(sentences.ladder([replace(one, state=None)], {})) == 1


def test_without_removal_the_ladder_is_the_answer(found: Found) -> None:
    audit = replace(found["ladder"], searches=())
    lines = dict(sentences.lines(audit))
    assert re.match(r"\d of 6 rungs are above the baseline\.", lines["Answer"])
    assert "was not measured" in lines["Answer"]
    assert "Ladder" not in lines
    assert "Ladder" in dict(sentences.lines(found["ladder"]))


def test_an_exit_is_early_by_the_difference_of_each_document(found: Found) -> None:
    """Where the losses themselves spread widely, and their intervals meet."""
    table = found["head"].table("exit_loss", "loss")
    assert table
    last = table.rows[-1]
    assert last.share
    assert (last.share.low, last.share.high) == (0, 0)

    def title(high: float) -> str:
        share = Estimate(0.001, -0.002, high, 0.95, 20, "ratio")
        rows = [replace(last, first=n, last=n, share=share) for n in (0, 1)]
        shown = replace(table, rows=(*rows, last))
        return pictures._exit(found["head"], shown)

    assert title(0.01) == "Read after layer 1, the loss is within the tolerance"
    assert title(0.02).startswith("No early exit")

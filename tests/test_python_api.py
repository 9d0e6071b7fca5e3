"""`import depthlaw` and `python -m depthlaw`: the answers of the command line as data."""

import doctest
import inspect
import json
import re
import signal
from decimal import Decimal
from fractions import Fraction
from functools import partial
from importlib.metadata import version
from pathlib import Path
from pkgutil import resolve_name
from typing import Literal, get_args, get_type_hints

import numpy as np
import pytest

import depthlaw
from depthlaw.advisor import architecture, checkpoint, latency
from depthlaw.advisor.base.quantities import UsageError
from depthlaw.advisor.question import OPTIONS
from depthlaw.ledger.cli.arguments import main, parser
from depthlaw.ledger.functions.options import QuestionOptions, SizeOptions
from depthlaw.ledger.records.store import Store

LOSSES = Path(__file__).parents[1] / "docs/examples/gemstones.csv"
NETS = LOSSES.with_name("nets")


def test_only_what_is_promised_is_there():
    assert depthlaw.__version__ == version("depthlaw")
    assert set(depthlaw.__all__) <= set(dir(depthlaw))
    assert depthlaw.UsageError is UsageError
    with pytest.raises(AttributeError, match="has no attribute 'nothing'$"):
        _ = depthlaw.nothing
    with pytest.raises(AttributeError, match=r"did you mean verify\?"):
        _ = depthlaw.verfy


@pytest.fixture
def printed(capsys):
    """What a command prints with --json."""

    def run(*words):
        assert main([*map(str, words), "--json"]) in (0, 1)
        return json.loads(capsys.readouterr().out)

    return run


def same(value, data):
    """Whether a value is the command's JSON, is one short line, and has flat rows alike."""
    assert json.loads(json.dumps(value.to_json())) == data
    assert "\n" not in repr(value)
    assert len(repr(value)) < 300
    rows = value.rows()
    assert all(not isinstance(cell, dict | list) for row in rows for cell in row.values())
    assert value._repr_html_().startswith(("<table>", "<div>"))
    return rows


def test_each_function_returns_what_its_command_prints(printed, tmp_path):
    sizes = ("--from", "100M", "--to", "10B", "--points", "3")
    rows = same(depthlaw.sweep(1e8, "10B", 3, gqa=4.0), printed("sweep", *sizes, "--gqa", "4"))
    assert [row["budget"] for row in rows] == [10**8, 10**9, 10**10]
    assert depthlaw.sweep(1e8, "10B", 3) != depthlaw.sweep(1e8, "10B", 3, layers=12)
    nets = ["llama-3-8b", "qwen3-8b"]
    assert len(same(depthlaw.compare(nets), printed("compare", *nets))) == 2
    assert depthlaw.compare(*nets) == depthlaw.compare(nets)
    same(depthlaw.tasks("dyck"), printed("tasks", "list", "dyck"))
    (file,) = NETS.glob("parity.json")
    (row,) = same(depthlaw.check(file), printed("tasks", "check", file))
    assert (row["task"], row["layers"], row["result"]) == ("parity", 2, "as many as the table")
    known = depthlaw.atlas("blocks", k=6)
    assert same(known, known.to_json())[0]["needed"] == known[0].needed == 6
    assert same(depthlaw.tasks(known_by=2023), printed("tasks", "list", "--known-by", 2023))
    same(depthlaw.cite("dong2021", "hops/doubling"), printed("cite", "dong2021", "hops/doubling"))
    assert same(depthlaw.claims(), printed("claims", "--all"))[0]["verdict"]
    card = depthlaw.show("hops/doubling", results=tmp_path)
    same(card, printed("show", "hops/doubling", "--results", tmp_path))
    assert card.why() == printed("why", "hops/doubling", "--results", tmp_path)
    answer = depthlaw.recommend("3B", pipeline=4)
    assert answer.to_json() == printed("depth", "3B", "--pipeline", 4)["answer"]
    (row,) = answer.rows()
    assert (row["budget"], row["layers"], row["width"]) == (3e9, answer.layers, answer.width)


def test_fit_is_the_answer_of_fit(printed, tmp_path):
    fitted = depthlaw.fit(LOSSES, tolerance=0.1)
    rows = same(fitted, printed("fit", LOSSES))
    assert [row["depth"] for row in rows] == [o.depth for o in fitted.optima]
    assert depthlaw.fit(LOSSES, budget="flops").budget == "flops"
    picture = fitted.plot().save(tmp_path / "fit.svg")
    assert main(["fit", str(LOSSES), "--plot", str(tmp_path / "cli.svg")]) == 0
    assert picture.read_bytes() == (tmp_path / "cli.svg").read_bytes()
    assert fitted.plot()._repr_svg_().encode() == picture.read_bytes()


def test_what_tries_to_break_claims_is_what_the_commands_do(printed, tmp_path):
    key, folder = "rank_collapse/one_layer_cubic", ("--results", tmp_path)
    found = depthlaw.falsify(key, 0.1, "4=0.4", results=tmp_path)
    data = printed("falsify", key, "--minutes", 0.1, "--weaken", "4=0.4", *folder)
    assert found.verdict.value == data["verdict"] == "FAILS"
    assert found.unexpected
    same(found, found.to_json())
    # The search stops at the first counterexample: the same one, by the same certificate.
    assert found.to_json() == data
    depthlaw.verify(only="separation_rank/degree", results=tmp_path)
    mutants = depthlaw.mutate("separation_rank/degree", "quick", results=tmp_path)
    same(mutants, printed("mutate", "separation_rank/degree", "--suite", "quick", *folder))
    assert mutants.alarms == 0
    assert {row["fate"] for row in mutants.rows()} <= {"data", "proof", "undecided", "survives"}


def test_verify_is_the_answer_of_verify(printed, tmp_path):
    key = "hops/depth_corrected"
    found = depthlaw.verify(only=key, results=tmp_path)
    files = sorted((tmp_path / "runs").rglob("*.json"))
    words = ("verify", "quick", "--only", key, "--results", tmp_path)
    assert same(found, printed(*words)["claims"])[0]["verdict"] == found[key].verdict == "PROVED"
    again = depthlaw.verify(only=[key], results=tmp_path, engine="pool", processes=1)
    assert again[key].verdict is found[key].verdict
    # Nothing was recorded again.
    assert sorted((tmp_path / "runs").rglob("*.json")) == files
    with pytest.raises(KeyError, match="did you mean hops/depth_corrected"):
        found["hops/depth_correcte"]


def test_appendix_writes_what_the_command_writes(monkeypatch, tmp_path):
    """Of what is written, and not of the minutes that typesetting takes."""
    asked = []

    def written(directory, claims, store, **options):
        asked.append({**options, "doing": None, "repeated": None})
        return [directory / "appendix.md"]

    monkeypatch.setattr("depthlaw.ledger.functions.appendix.check_programs", lambda: None)
    monkeypatch.setattr("depthlaw.ledger.functions.appendix.write_appendix", written)
    keys = ["hops/doubling", "separation_rank/exact"]
    made = depthlaw.appendix(tmp_path / "a", keys)
    assert made.to_json() == {"written": [str(tmp_path / "a" / "appendix.md")]}
    assert main(["appendix", str(tmp_path / "a"), "--claims", ",".join(keys)]) == 0
    assert asked[0] == asked[1]
    assert asked[0]["keys"] == keys
    with pytest.raises(UsageError, match="did you mean hops/doubling"):
        depthlaw.appendix(tmp_path / "a", "hops/doublin")


def test_every_command_has_a_twin_or_a_reason():
    """The table of the page on Python use."""
    page = Path(__file__).parents[1].joinpath("docs/api.md").read_text(encoding="utf-8")
    listed = dict(re.findall(r"^\| `depthlaw ([a-z ]+)` \| (.+) \|$", page, re.M))
    commands = {
        " ".join([name, *below])
        for name, command in parser().commands.items()
        for below in ([(word,) for word in getattr(command, "commands", ())] or [()])
    }
    assert set(listed) == commands
    for counterpart in listed.values():
        function = re.match(r"`(depthlaw\.[\w.]+)\(", counterpart)
        assert function or counterpart.startswith("none: ")
        if function:
            assert callable(resolve_name(function[1]))
    named = {
        name
        for counterpart in listed.values()
        for name in re.findall(r"depthlaw\.(\w+)", counterpart)
    }
    assert {*depthlaw.__all__} - named == {"UsageError", "__version__"}


def test_the_examples_of_the_page():
    page = str(Path(__file__).parents[1] / "docs/api.md")
    done = doctest.testfile(page, module_relative=False, optionflags=doctest.ELLIPSIS)
    assert done.attempted >= 3
    assert done.failed == 0


def test_numbers_are_read_as_notebooks_have_them():
    said = depthlaw.recommend("1.3B", layers=12)
    for twelve in (np.int64(12), np.float32(12), 12.0, Fraction(12), Decimal(12), np.array(12)):
        assert depthlaw.recommend("1.3B", layers=twelve) == said


def test_factors_and_sizes_are_read_as_notebooks_have_them():
    third = depthlaw.recommend("1.3B", ff="8/3")
    assert third == depthlaw.recommend(np.int64(1_300_000_000), ff=8 / 3)
    assert third == depthlaw.recommend(Decimal("1.3e9"), ff=Fraction(8, 3))
    assert third != depthlaw.recommend("1.3B", ff=4.0) == depthlaw.recommend("1.3B", ff="4")
    assert depthlaw.recommend("1.3B", gated=np.True_) == depthlaw.recommend("1.3B", gated=True)
    for wrong in (12.5, float("nan"), float("inf"), Fraction(1, 2)):
        with pytest.raises(ValueError, match="layers is a whole number"):
            depthlaw.recommend("1.3B", layers=wrong)


def test_slips_are_answered_with_what_was_meant(tmp_path):
    verify = partial(depthlaw.verify, results=tmp_path / "r")
    for wrong, meant in (
        (lambda: depthlaw.recommend("1.3B", pipelin=4), "pipeline"),
        (lambda: depthlaw.sweep("1B", "2B", pipelin=4), "pipeline"),
        (lambda: depthlaw.show("hops/doublin"), "hops/doubling"),
        (lambda: depthlaw.cite("levine2021"), "levine2020"),
        (lambda: depthlaw.falsify("hops/doublin"), "hops/doubling"),
        (lambda: verify("quik"), "unknown suite .* quick"),
        (lambda: verify(only=["hops/no"]), "unknown claim"),
        (lambda: verify(engine="x"), "unknown engine"),
        (lambda: verify(minutes=0), "--minutes 0"),
        (lambda: depthlaw.tasks("pariti"), "parity"),
        (lambda: depthlaw.compare("llama-3-9b"), "Llama-3-8B"),
    ):
        with pytest.raises(depthlaw.UsageError, match=meant):
            wrong()
    assert not (tmp_path / "r").exists()
    with pytest.raises(UsageError, match="takes no gpu"):
        depthlaw.sweep("1B", "2B", gpu="H100")


def test_prompts_complete_the_options_of_a_question():
    names = {option.name for option in OPTIONS}
    assert names <= set(inspect.signature(depthlaw.recommend).parameters)
    swept = inspect.signature(depthlaw.sweep).parameters
    assert {"pipeline", "norm", "count"} <= set(swept)
    assert not {"gpu", "task", "budget"} & set(swept)
    assert swept["norm"].annotation == Literal["pre", "post", "lns"] | None
    # What a type checker sees, which runs nothing, is the same.
    named = vars(architecture) | vars(latency) | vars(checkpoint)
    for function, options, own in (
        (depthlaw.recommend, QuestionOptions, {"budget", "losses"}),
        (depthlaw.sweep, SizeOptions, {"least", "most", "points"}),
    ):
        kinds = get_type_hints(options, None, named)
        assert kinds.keys() == inspect.signature(function).parameters.keys() - own
    kinds = get_type_hints(QuestionOptions, None, named)
    for option in OPTIONS:
        if option.name != "budget":
            kind, facts = kinds[option.name], option.metadata
            if facts.get("choices"):
                assert get_args(get_args(kind)[0]) == facts["choices"]
            else:
                assert (str in get_args(kind)) == ("bool" not in option.type)


# Options of `depth` that are no keyword, and why.
OF_THE_COMMAND = {
    **dict.fromkeys(("why", "recipe", "cite", "evidence"), "what is printed of an answer"),
    "json_output": "Answer.to_json",
    "schema": "what is printed without an answer",
    "config": "a file that is written",
    "force": "a file that is written",
}


def test_each_option_of_depth_has_one_keyword_of_its_name_and_each_keyword_an_option():
    typed = {option.name: option.opts[0] for option in parser("depth").commands["depth"].params}
    keywords = inspect.signature(depthlaw.recommend).parameters.keys()
    assert typed.keys() - OF_THE_COMMAND.keys() == keywords
    assert OF_THE_COMMAND.keys() <= typed.keys()
    for name in keywords - {"budget"}:
        assert typed[name] == f"--{name.replace('_', '-')}"
    # Two keywords of one quantity are two options, each in a unit of its own.
    fields = [option.metadata["of"] or option.name for option in OPTIONS]
    assert {name for name in fields if fields.count(name) > 1} == {"milliseconds", "hours"}


def test_losses_of_ones_own_are_said_of_the_net_as_the_command_says_them(tmp_path, capsys):
    shapes = [(depth, round(1e3 / depth**0.5)) for depth in (2, 4, 8, 16, 32)]
    rows = [
        {"width": width, "depth": depth, "tokens": 1e9, "loss": 3 + (depth / 8 - 1) ** 2}
        for depth, width in shapes
    ]
    file = tmp_path / "losses.csv"
    text = [",".join(rows[0]), *(",".join(map(str, row.values())) for row in rows)]
    file.write_text("\n".join(text), encoding="utf-8")
    asked = depthlaw.recommend("1B", losses=rows)
    assert asked == depthlaw.recommend("1B", losses=file)
    assert main(["depth", "1B", "--losses", str(file)]) == 0
    assert capsys.readouterr().out == f"{asked}\n"
    assert main(["depth", "1B", "--losses", str(file), "--json"]) == 0
    assert json.loads(capsys.readouterr().out)["answer"] == json.loads(json.dumps(asked.to_json()))
    # A fit is taken as its file is; size, rule and range are those of the answer itself.
    assert asked == depthlaw.recommend("1B", losses=depthlaw.fit(rows))
    own, net = asked.losses, asked.shape
    # The last norm is in no layer.
    assert own.parameters == net.counts.nonembedding - asked.width
    assert round(own.rule) == asked.layers
    assert own.within == asked.interval.ends
    for wrong, why in (
        ({"task": "hops", "hops": 5, "losses": file}, "there is no net"),
        ({"budget": "1B", "losses": "no.csv"}, "cannot read 'no.csv'"),
        ({"budget": "1B", "losses": [{"width": 8, "depth": 2, "tokens": 9}]}, "no column loss"),
        ({"budget": "1B", "losses": [5]}, "is no table of losses; accepted are"),
    ):
        with pytest.raises(UsageError, match=why):
            depthlaw.recommend(**wrong)


def test_recommend_is_the_answer_of_depth():
    assert (
        depthlaw.recommend("1.3B") == depthlaw.recommend(1_300_000_000) == depthlaw.recommend(1.3e9)
    )
    both = depthlaw.recommend("1.3B", task="hops", hops=16, pipeline=4)
    assert both.shape.architecture.layers % 4 == 0
    assert both.tasks[0].headline.startswith("6 layers suffice")
    with pytest.raises(UsageError, match="the task hops needs --hops"):
        depthlaw.recommend(task="hops")


def test_an_answer_prints_what_the_command_prints_and_is_one_line_at_a_prompt(capsys):
    answer = depthlaw.recommend("3B", pipeline=4)
    assert main(["depth", "3B", "--pipeline", "4"]) == 0
    assert capsys.readouterr().out == f"{answer}\n"
    shape = answer.shape.architecture
    assert repr(answer) == f"<Answer: {shape.layers} x {shape.width:,}>"
    assert repr(depthlaw.recommend(task="hops", hops=16)).startswith("<Answer: 6 layers suffice")


def test_verify_stops_in_time_and_says_what_it_has(tmp_path, monkeypatch):
    """The alarm goes off while the first record is written."""

    def put(store, record, **more):
        kept(store, record)
        signal.raise_signal(signal.SIGALRM)

    kept = Store.put
    monkeypatch.setattr(Store, "put", put)
    found = depthlaw.verify("theory", only=["hops/depth_corrected"], results=tmp_path, minutes=60)
    assert len(found["hops/depth_corrected"].records) == 1
    assert len(found["hops/depth_corrected"].cases) > 1

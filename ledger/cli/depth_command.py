"""`depthlaw depth` and `depthlaw sweep`: from what was typed to answers, printed."""

from __future__ import annotations

import csv
import io
import json
import os
import sys
from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any

from depthlaw.advisor import evidence, layout, words
from depthlaw.advisor.answer import SCHEMA, as_json
from depthlaw.advisor.base.quantities import UsageError, size
from depthlaw.advisor.question import HAVE, OPTIONS, Question, flag, schema as question_schema
from depthlaw.advisor.recommendation import answer_to

from ..functions.nets import with_net
from ..functions.sweep import Sweep, sweep as sizes_swept
from . import plain

if TYPE_CHECKING:
    from depthlaw.advisor.answer import Answer
    from depthlaw.advisor.architecture import Architecture
    from depthlaw.advisor.rule_scores import Interval

# What was typed, by the names of the command's parameters; None or False where nothing was.
Given = Mapping[str, Any]

_STDOUT = Path("-")


def depth(**given: Any) -> int:
    """Answer `depthlaw depth`: print a recommendation, the evidence, or the schema of both."""
    if given["schema"]:
        if any(value not in (None, False) for name, value in given.items() if name != "schema"):
            raise UsageError(
                "--schema prints nothing else; give it alone, and a command to the rest"
            )
        described = json.loads(SCHEMA.read_text(encoding="utf-8"))
        described["$defs"]["Question"] = question_schema()
        _dump(described, 1)
        return 0
    _refuse_idle_output(given)
    _refuse_idle_options(given)
    question = Question.read(**with_net(_typed(given)))
    asked = None not in (given["layers"], given["width"]) or any(
        given[option.name] is not None
        for option in OPTIONS
        if option.metadata.get("heading") == HAVE or option.name == "task"
    )
    if given["config"] is not None and not (asked or given["evidence"]):
        raise UsageError(
            "--config writes what is recommended, such as by depthlaw depth 3B --config "
            "config.json; to judge a configuration give it to --hf"
        )
    answer = answer_to(question) if asked or not given["evidence"] else None
    if given["why"] and answer is None:
        raise UsageError(
            "--why explains an answer, and there is no question; try depthlaw depth 3B --why"
        )
    if given["recipe"] and (answer is None or not answer.recipe):
        raise UsageError(
            "--recipe says how to train a net of some depth, and there is no net; try "
            "depthlaw depth 3B --recipe"
        )
    if given["losses"] is not None:
        from ..functions.recommend import with_own_losses

        answer = with_own_losses(answer, given["losses"])
    if given["config"] is not None:
        if answer is None or answer.shape is None:
            raise UsageError(
                "--config writes a recommended shape, and nothing that was given asks "
                "for one; try depthlaw depth 3B --config config.json"
            )
        _write_config((answer.instead or answer.shape).architecture, question, given)
        if given["config"] == _STDOUT:
            return 0
    if given["json_output"]:
        from depthlaw.advisor.rule_scores import table

        _dump(
            {
                "answer": answer and as_json(answer),
                "evidence": evidence.evidence_json(table(known_by=question.known_by))
                if given["evidence"]
                else None,
            }
        )
        return 0
    print("\n\n".join(_texts(answer, question, given)))
    return 0


def _refuse_idle_output(given: Given) -> None:
    """Raises where one form of output would hide another, or an option would do nothing."""
    kinds = ("cite", "json_output", "why", "recipe", "evidence", "losses")
    names = {name: flag(name) for name in kinds} | {"json_output": "--json"}
    forms = ["--config -"] if given["config"] == _STDOUT else []
    forms += [form for name, form in names.items() if given[name]]
    if len(forms) > 1 and forms[0] in ("--config -", "--cite"):
        raise UsageError(
            f"{forms[0]} prints nothing else: leave out {' and '.join(forms[1:])}, or "
            "give a command to each"
        )
    _refuse_idle_force(given, "config")


def _refuse_idle_force(given: Given, *places: str) -> None:
    if given["force"] and all(given[name] in (None, _STDOUT) for name in places):
        raise UsageError(
            "--force replaces a file, and no file is written; give "
            + " or ".join(f"{flag(name)} FILE" for name in places)
        )


def _texts(answer: Answer | None, question: Question, given: Given) -> list[str]:
    """What is printed for people, in paragraphs."""
    width, texts = plain.columns(), []
    if answer is not None and given["cite"]:
        from importlib.metadata import version

        return [words.citation(answer, version("depthlaw"))]
    if answer is not None:
        texts.append(words.as_text(answer, width))
        if given["why"]:
            texts.append(words.explained(answer, width))
        if given["recipe"]:
            texts.append(words.recipe(answer, width))
    if given["evidence"]:
        from depthlaw.advisor.rule_scores import table

        texts.append(evidence.evidence(table(known_by=question.known_by), width))
    return texts


def _typed(given: Given) -> dict[str, Any]:
    """The options of a Question among what was typed."""
    return {option.name: given[option.name] for option in OPTIONS if option.name in given}


def _refuse_idle_options(given: Given) -> None:
    """Raises where an option needs another one to change anything."""
    for option in OPTIONS:
        needed = option.metadata.get("needs", ())
        if not needed or given[option.name] is None or any(given[n] is not None for n in needed):
            continue
        if needed == ("gpu",):
            raise UsageError(
                f"{flag(option.name)} without --gpu; say which GPU, such as --gpu H100"
            )
        memory = " or --memory" if "memory" in needed else ""
        raise UsageError(
            f"{flag(option.name)} changes nothing without a limit that depends on it; give "
            f"--ms-per-token{memory} too"
        )


# --- writing -------------------------------------------------------------------------------------


# What else a class does that no answer speaks of.
_CLASSES = {
    "arcee": "its MLP is a squared ReLU",
    "glm4_moe": "its router weighs experts by sigmoids, balanced by a bias, and positions turn "
    "half of each head",
    "t5": "its attention scores are not scaled, and positions are relative",
}
# Classes with norms after each branch.
_POST = ("bert", "roberta", "albert")


def _write_config(architecture: Architecture, question: Question, given: Given) -> None:
    """Write a config.json whole or not at all, or print it; say on stderr what it does not hold.

    Raises:
        UsageError: for norms or residuals that the written class does not have.
    """
    from depthlaw.advisor.huggingface import config_of

    if question.mixer is not None:
        raise UsageError(
            f"--config would write a net with attention in every layer, and --mixer "
            f"{question.mixer} asks for another; leave one of them out, or write the configuration "
            "by hand"
        )
    held = config_of(architecture)
    kind, name = held["model_type"], held["architectures"][0]
    for option, usual in (("norm", "post" if kind in _POST else "pre"), ("residual", "plain")):
        if getattr(question, option) not in (None, usual):
            raise UsageError(
                f"--config would write a {name}, whose {option} is {usual}, not "
                f"{getattr(question, option)}; try it without {flag(option)}, or write "
                "the configuration by hand"
            )
    text = json.dumps(held, indent=2, allow_nan=False) + "\n"
    if given["config"] == _STDOUT:
        sys.stdout.write(text)
    else:
        plain.refuse_place(given["config"], given["force"], "; to judge it give it to --hf")
        plain.write_named(given["config"], text.encode())
    if given["hf"] is not None:
        _note(
            f"{name}: the shape alone is yours; copy the rest, such as rope_theta and token ids, "
            "from your configuration"
        )
    elif kind in _CLASSES:
        _note(f"{name}: {_CLASSES[kind]}")
    if question.parametrisation not in (None, "standard"):
        _note(
            f"{name} has none of the multipliers of {question.parametrisation}: set them where "
            "the net is built (--why says which)"
        )


def _note(text: str) -> None:
    sys.stderr.write(f"note: {text}\n")


def _dump(value: object, indent: int = 2) -> None:
    json.dump(value, sys.stdout, indent=indent, allow_nan=False)
    sys.stdout.write("\n")


# --- sweep ---------------------------------------------------------------------------------------


def sweep(**given: Any) -> int:
    """Answer `depthlaw sweep`: recommendations over a range of sizes."""
    _refuse_idle_force(given, "csv", "plot")
    files = [file for file in (given["csv"], given["plot"]) if file not in (None, _STDOUT)]
    for file in files:
        plain.refuse_place(file, given["force"])
    if len({os.path.realpath(file) for file in files}) < len(files):
        raise UsageError("--csv and --plot name the same file; give each its own")
    if given["csv"] == _STDOUT and given["json_output"]:
        raise UsageError("--csv - prints nothing else: leave out --json, or give --csv a file")
    if given["plot"] is not None:
        from ..publish.drawing.sweep_plot import plot_format

        form = plot_format(given["plot"].suffix)
    sizes = {name: given[name] for name in ("least", "most", "points")}
    answered, data = sizes_swept(**sizes, **_typed(given)), {}
    if given["csv"] is not None:
        text, rows = io.StringIO(), answered.rows()
        writer = csv.DictWriter(text, list(rows[0]), lineterminator="\n")
        writer.writeheader()
        writer.writerows(rows)
        data[given["csv"]] = text.getvalue().encode()
    if given["plot"] is not None:
        data[given["plot"]] = answered.plot().drawn(form)
    for file, contents in data.items():
        if file == _STDOUT:
            sys.stdout.write(contents.decode())
        else:
            plain.write_named(file, contents)
    if given["json_output"]:
        _dump(answered.to_json())
    elif not data:
        _print_table(answered)
    return 0


def _print_table(answered: Sweep) -> None:
    rows, demanded = [("budget", "layers x width", "heads", "within 1 %", "built", "laws")], False
    for row, answer in zip(answered.rows(), answered.answers, strict=True):
        within = ends(answer.interval) if answer.interval else ""
        shape, heads = f"{row['layers']} x {row['width']:,}", f"{row['heads']} ({row['kv_heads']})"
        built = _span([answer.built.low, answer.built.high] if answer.built else [])
        laws = _span([law.layers for law in answer.laws if law.meaning in ("optimum", "default")])
        within += " *" if row["extrapolated"] else ""
        assert answer.shape is not None
        assert answer.shape.reason is not None
        if answer.shape.reason.kind != "rule":
            shape, demanded = f"{shape} =", True
        rows.append((size(row["budget"]), shape, heads, within, built, laws))
    width = plain.columns()
    print(layout.columns(rows, width))
    for text in (
        "heads: query heads (key-value heads). within 1 %: of the best loss in published "
        "grids; +, -: training ended there, and the loss of deeper (+) or shallower (-) "
        "nets is not known. * extrapolated: outside the sizes that the source measured.",
        "built: real models near the size. laws: optima and defaults; each of them, "
        "floors and bounds too: --csv FILE, --json, --plot FILE.",
        *["= the demands set this depth, not the rule; `depthlaw depth` says which."] * demanded,
    ):
        print("\n".join(layout.wrapped(text, width)))


def ends(interval: Interval) -> str:
    """Both ends of the depths within 1 %, with a plus or a minus where training ended.

    >>> from depthlaw.advisor.rule_scores import Interval
    >>> ends(Interval(10, 42, "", (), ended=True)), ends(Interval(1, 1, "", (), started=True))
    ('10 to 42+', '1- to 1')
    """
    return interval.ends.rpartition(" ")[0]


def _span(depths: list[int]) -> str:
    """The least and the greatest of some depths.

    >>> _span([18, 4]), _span([4, 4]), _span([])
    ('4-18', '4', '')
    """
    low, high = (min(depths), max(depths)) if depths else ("", "")
    return f"{low}" if low == high else f"{low}-{high}"

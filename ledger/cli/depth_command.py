"""`depthlaw depth` and `depthlaw sweep`: from what was typed to answers, printed."""

from __future__ import annotations

import csv
import io
import os
import shutil
import sys
from collections.abc import Callable, Mapping
from fractions import Fraction
from pathlib import Path
from typing import TYPE_CHECKING, Any

from depthlaw.advisor import answer_text
from depthlaw.advisor.base.quantities import (
    UsageError,
    parse_bandwidth,
    parse_budget,
    parse_bytes,
    parse_count,
    parse_factor,
    parse_flops,
    parse_hours,
    parse_milliseconds,
    parse_ratio,
    parse_share,
    parse_tokens,
    quoted,
    size,
)
from depthlaw.advisor.budgets import Budget
from depthlaw.advisor.grids import Key
from depthlaw.advisor.recommendation import recommend
from depthlaw.advisor.shapes import Constraints

if TYPE_CHECKING:
    from depthlaw.advisor.answer import Answer
    from depthlaw.advisor.architecture import Architecture
    from depthlaw.advisor.rule_scores import Interval

# What was typed, by the names of the command's parameters; None or False where nothing was.
Given = Mapping[str, Any]

_COUNTS = ("total", "non-embedding", "active")
_CHOICES = {
    "parametrisation": ("standard", "mup", "completep"),
    "norm": ("pre", "post", "lns"),
    "residual": ("plain", "attnres"),
}
# Fields of Constraints that are whole numbers, under the names of their options, with examples.
_NUMBERS = {
    "head_width": 128,
    "multiple": 128,
    "vocabulary": 32000,
    "context": 4096,
    "experts": 64,
    "active_experts": 6,
    "shared_experts": 2,
    "expert_width": 1408,
    "dense_layers": 1,
    "loops": 2,
    "tensor": 8,
    "pipeline": 4,
    "layers": 32,
    "width": 4096,
}
# Quantities with units: option, field of Budget, and how it is read.
_QUANTITIES: dict[str, tuple[str, Callable[[str], float | Fraction]]] = {
    "flops": ("flops", parse_flops),
    "tokens": ("tokens", parse_tokens),
    "hours": ("hours", parse_hours),
    "time": ("hours", parse_hours),
    "utilisation": ("utilisation", parse_share),
    "memory": ("memory", parse_bytes),
    "ms_per_token": ("milliseconds", parse_milliseconds),
    "kv_cache": ("kv_bytes", parse_bytes),
    "bandwidth": ("bandwidth", parse_bandwidth),
    "ms_per_layer": ("layer_milliseconds", parse_milliseconds),
}
_TASKS = ("task", "diameter", "vertices", "hops", "length")
_STDOUT = Path("-")
_MOST_POINTS = 1000
# Sizes at which a plot is drawn, at least.
_PLOTTED = 81


def depth(given: Given) -> int:
    """Answer `depthlaw depth`: print a recommendation, the evidence, or the schema of both."""
    if given["schema"]:
        if any(value not in (None, False) for name, value in given.items() if name != "schema"):
            raise UsageError(
                "--schema prints nothing else; give it alone, and a command to the rest"
            )
        sys.stdout.write(answer_text.SCHEMA.read_text(encoding="utf-8"))
        return 0
    _refuse_idle_output(given)
    budget, config = _budget(given), _configuration(given["hf"])
    asked = budget is not None or config is not None or given["task"] is not None
    if not (asked or given["evidence"]):
        _refuse_task_options(given)
        raise UsageError(
            "nothing to answer: give a size (3B, 350M, 7e9), --flops, --gpu, --hf or "
            "--task; try depthlaw depth 3B, or --task hops --hops 16"
        )
    answer = (
        recommend(
            budget,
            constraints=constraints_of(given),
            config=config,
            known_by=_year(given),
            **{name: given[name] for name in _TASKS},
        )
        if asked
        else None
    )
    if given["why"] and answer is None:
        raise UsageError(
            "--why explains an answer, and nothing was asked; try depthlaw depth 3B --why"
        )
    if given["config"] is not None:
        if answer is None or answer.shape is None:
            raise UsageError(
                "--config writes a recommended shape, and nothing that was given asks "
                "for one; try depthlaw depth 3B --config config.json"
            )
        _write_config((answer.instead or answer.shape).architecture, given)
        if given["config"] == _STDOUT:
            return 0
    if given["as_json"]:
        from depthlaw.advisor.rule_scores import table

        _dump(
            {
                "answer": answer and answer_text.as_json(answer),
                "evidence": answer_text.evidence_json(table(known_by=_year(given)))
                if given["evidence"]
                else None,
            }
        )
        return 0
    print("\n\n".join(_texts(answer, given)))
    return 0


def _refuse_idle_output(given: Given) -> None:
    """Raises where one form of output would hide another, or an option would do nothing."""
    forms = [
        flag
        for flag, asked in (
            ("--config -", given["config"] == _STDOUT),
            ("--cite", given["cite"]),
            ("--json", given["as_json"]),
            ("--why", given["why"]),
            ("--evidence", given["evidence"]),
        )
        if asked
    ]
    if len(forms) > 1 and forms[0] in ("--config -", "--cite"):
        raise UsageError(
            f"{forms[0]} prints nothing else: leave out {' and '.join(forms[1:])}, or "
            "give a command to each"
        )
    _refuse_idle_force(given, "config")


def _refuse_idle_force(given: Given, *places: str) -> None:
    if given["force"] and all(given[name] in (None, _STDOUT) for name in places):
        raise UsageError(
            "--force replaces a file, and none is written; say which by "
            + " or ".join(f"{_flag(name)} FILE" for name in places)
        )


def _texts(answer: Answer | None, given: Given) -> list[str]:
    """What is printed for people, in paragraphs."""
    width, texts = columns(), []
    if answer is not None and given["cite"]:
        return [answer_text.citation(answer, _version())]
    if answer is not None:
        texts.append(answer_text.as_text(answer, width))
        if given["why"]:
            texts.append(answer_text.explained(answer, width))
    if given["evidence"]:
        from depthlaw.advisor.rule_scores import table

        texts.append(answer_text.evidence(table(known_by=_year(given)), width))
    return texts


# --- reading what was typed ----------------------------------------------------------------------


def constraints_of(given: Given) -> Constraints:
    """What the shape must obey, from the options of `depth` or of `sweep`.

    Raises:
        UsageError: for a value that cannot be read. Which values go together is for `shapes`.
    """
    found: dict[str, Any] = {
        name: parse_count(given[name], f"value of {_flag(name)}", f"{_flag(name)} {example}")
        for name, example in _NUMBERS.items()
        if given.get(name) is not None
    }
    found |= {
        name: _choice(given[name], f"--{name}", accepted)
        for name, accepted in _CHOICES.items()
        if given[name] is not None
    }
    found |= {name: given[name] for name in ("gated", "tied") if given[name] is not None}
    if given["gqa"] is not None:
        found["kv_ratio"] = parse_ratio(given["gqa"])
    if given["ff"] is not None:
        found["ff_factor"] = float(parse_factor(given["ff"]))
    if given.get("encoder_decoder"):
        found["kind"] = "encoder-decoder"
    return Constraints(latency_matters=given["latency_matters"], **found)


def _budget(given: Given) -> Budget | None:
    """What there is to spend; None where no option says."""
    found: dict[str, Any] = {}
    if given["budget"] is not None:
        found[_counted(given)] = parse_budget(given["budget"])
    elif given["count"] is not None:
        raise UsageError(
            "--count says what the budget counts, and there is none; try depthlaw "
            "depth 3B --count non-embedding"
        )
    _one_of(given, "ms_per_token", "tokens_per_second")
    _one_of(given, "hours", "time")
    if given["gpu"] is None:
        for name in ("gpus", "hours", "time", "utilisation"):
            if given[name] is not None:
                raise UsageError(f"--{name} without --gpu; say which GPU, such as --gpu H100")
    else:
        found["gpu"] = given["gpu"]
    timed = given["ms_per_token"] is not None or given["tokens_per_second"] is not None
    stored = given["memory"] is not None or given["hf"] is not None
    for name, used in (("bits", timed or stored), ("bandwidth", timed)):
        if given[name] is not None and not used:
            memory = " or --memory" if name == "bits" else ""
            raise UsageError(
                f"--{name} changes nothing without a limit that depends on it; give "
                f"--ms-per-token{memory} too"
            )
    if given["ms_per_layer"] is not None and not timed:
        raise UsageError("--ms-per-layer changes nothing without a limit; give --ms-per-token too")
    if given["gpus"] is not None:
        found["gpus"] = parse_count(given["gpus"], "number of GPUs", "--gpus 64")
    if given["bits"] is not None:
        found["bytes_per_weight"] = parse_count(given["bits"], "number of bits", "--bits 8") / 8
    if (speed := given["tokens_per_second"]) is not None:
        found["milliseconds"] = float(parse_milliseconds(speed if "/" in speed else f"{speed}/s"))
    found |= {
        field: float(read(given[name]))
        for name, (field, read) in _QUANTITIES.items()
        if given[name] is not None
    }
    if given["latency"] is not None:
        from depthlaw.advisor.latency import read_latency

        found["latency"] = read_latency(given["latency"])
    return Budget(**found) if found else None


def _counted(given: Given) -> str:
    """The field of Budget that holds a size."""
    which = given["count"]
    return _choice("total" if which is None else which, "--count", _COUNTS).replace("-", "")


def _configuration(path: Path | None) -> Architecture | None:
    if path is None:
        return None
    from depthlaw.advisor.huggingface import read_config

    return read_config(path)


def _one_of(given: Given, first: str, second: str) -> None:
    if given[first] is not None and given[second] is not None:
        raise UsageError(f"{_flag(first)} and {_flag(second)} say the same; give one of them")


def _flag(option: str) -> str:
    return f"--{option.replace('_', '-')}"


def _choice(text: str, option: str, accepted: tuple[str, ...]) -> str:
    found = text.strip().lower()
    if found not in accepted:
        raise UsageError(
            f"unknown {option} {quoted(text)}; accepted are {', '.join(accepted)}; "
            f"try {option} {accepted[0]}"
        )
    return found


def _year(given: Given) -> int | None:
    text = given["known_by"]
    if text is None:
        return None
    year = parse_count(text, "year", "--known-by 2023")
    if not 2017 <= year <= 2100:
        raise UsageError(
            f"the year {quoted(text)} is out of range; accepted are years from 2017, "
            "when the transformer appeared, to 2100; try --known-by 2023"
        )
    return year


def _refuse_task_options(given: Given) -> None:
    from depthlaw.advisor.task_depths import refuse_options

    refuse_options({name: given[name] for name in _TASKS if name != "task"})


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


def _write_config(architecture: Architecture, given: Given) -> None:
    """Write a config.json whole or not at all, or print it; say on stderr what it does not hold.

    Raises:
        UsageError: for norms or residuals that the written class does not have.
    """
    import json

    from depthlaw.advisor.huggingface import config_of

    held, asked = config_of(architecture), constraints_of(given)
    kind, name = held["model_type"], held["architectures"][0]
    for option, plain in (("norm", "post" if kind in _POST else "pre"), ("residual", "plain")):
        if given[option] is not None and getattr(asked, option) != plain:
            raise UsageError(
                f"--config would write a {name}, whose {option} is {plain}, not "
                f"{getattr(asked, option)}; try it without {_flag(option)}, or write "
                "the configuration by hand"
            )
    text = json.dumps(held, indent=2, allow_nan=False) + "\n"
    if given["config"] == _STDOUT:
        sys.stdout.write(text)
    else:
        refuse_place(given["config"], given["force"])
        write_named(given["config"], text.encode())
    if given["hf"] is not None:
        _note(
            f"{name}: the shape alone is yours; copy the rest, such as rope_theta and token ids, "
            "from your configuration"
        )
    elif kind in _CLASSES:
        _note(f"{name}: {_CLASSES[kind]}")
    if asked.parametrisation != "standard":
        _note(
            f"{name} has none of the multipliers of {given['parametrisation']}: set them where "
            "the net is built (--why says which)"
        )


def _note(text: str) -> None:
    sys.stderr.write(f"note: {text}\n")


def write_named(file: Path, data: bytes) -> None:
    """Write a file whole or not at all, and say so on stderr."""
    from ..records.store import write_file

    write_file(file, data)
    sys.stderr.write(f"{_named(file)} written\n")


def refuse_place(file: Path, force: bool) -> None:
    """Raises where a file cannot be written, as far as that can be seen before."""
    named = _named(file)
    # Of os.path, which takes a name that is too long for one that does not exist.
    if os.path.isdir(file):
        raise UsageError(
            f"{named} is a folder; give the name of a file, such as {_named(file / 'config.json')}"
        )
    if os.path.lexists(file) and not (force and os.path.isfile(file)):
        hint = "give another name" + (", or --force to replace it" if os.path.isfile(file) else "")
        raise UsageError(f"{named} exists; {hint}")
    try:
        # A folder that is missing, a name that is too long: also that of the temporary file.
        os.stat(file.parent)
        os.lstat(file.with_name(f".{file.name}.{'0' * 32}"))
    except FileNotFoundError:
        if file.parent.is_dir():
            return
        why = "its folder does not exist"
    except (OSError, ValueError) as error:
        why = getattr(error, "strerror", None) or "no file has such a name"
    raise UsageError(f"{named} cannot be written ({why}); give another name")


def _named(file: Path) -> str:
    """A file as it is called, quoted where the name would break the line."""
    return str(file) if str(file).isprintable() else ascii(str(file))


def _dump(value: object) -> None:
    import json

    json.dump(value, sys.stdout, indent=2, allow_nan=False)
    sys.stdout.write("\n")


def columns() -> int:
    """80, or what the terminal has where that is less."""
    found = shutil.get_terminal_size().columns if sys.stdout.isatty() else 80
    return max(20, min(80, found))


def _version() -> str:
    from importlib.metadata import version

    return version("depthlaw")


# --- sweep ---------------------------------------------------------------------------------------


def sweep(given: Given) -> int:
    """Answer `depthlaw sweep`: recommendations over a range of sizes."""
    least, most = parse_budget(given["least"]), parse_budget(given["most"])
    if least >= most:
        raise UsageError(
            f"--from {given['least']} is not below --to {given['most']}; try --from 100M --to 1T"
        )
    points = parse_count(given["points"], "number of points", "--points 9", least=2)
    if points > _MOST_POINTS:
        raise UsageError(f"{points} points are too many; accepted are 2 to {_MOST_POINTS}")
    _refuse_idle_force(given, "csv", "plot")
    files = [file for file in (given["csv"], given["plot"]) if file not in (None, _STDOUT)]
    for file in files:
        refuse_place(file, given["force"])
    if len({os.path.realpath(file) for file in files}) < len(files):
        raise UsageError("--csv and --plot name the same file; give each its own")
    if given["csv"] == _STDOUT and given["as_json"]:
        raise UsageError("--csv - prints nothing else: leave out --json, or give --csv a file")
    if given["plot"] is not None:
        from ..publish.drawing.depth_plot import depth_plot, plot_format

        form = plot_format(given["plot"].suffix)
    constraints, year, counted = constraints_of(given), _year(given), _counted(given)

    def answers(points: int) -> dict[int, Answer]:
        sizes = (round(least * (most / least) ** (i / (points - 1))) for i in range(points))
        return {
            n: recommend(
                Budget(**dict[str, Any]({counted: float(n)})),
                constraints=constraints,
                known_by=year,
            )
            for n in sizes
        }

    found, data = answers(points), {}
    if given["csv"] is not None:
        data[given["csv"]] = _as_csv(found).encode()
    if given["plot"] is not None:
        drawn = list(answers(max(points, _PLOTTED)).values())
        key = Key(constraints.parametrisation, constraints.norm, constraints.residual)
        data[given["plot"]] = depth_plot(drawn, form, key, year)
    for file, contents in data.items():
        if file == _STDOUT:
            sys.stdout.write(contents.decode())
        else:
            write_named(file, contents)
    if given["as_json"]:
        _dump(
            {"sweep": [{"budget": n, "answer": answer_text.as_json(a)} for n, a in found.items()]}
        )
    elif not data:
        _print_table(found)
    return 0


def _rows(answers: Mapping[int, Answer]) -> list[dict[str, Any]]:
    """One row for each size; the number of every law under its key, empty where it has none."""
    keys = list(dict.fromkeys(law.key for a in answers.values() for law in a.laws))
    rows = []
    for budget, answer in answers.items():
        assert answer.shape is not None
        shape, counts, interval = answer.shape.architecture, answer.shape.counts, answer.interval
        said = {law.key: law.layers for law in answer.laws}
        rows.append(
            {
                "budget": budget,
                "layers": shape.layers,
                "width": shape.width,
                "heads": shape.heads,
                "kv_heads": shape.key_heads,
                "d_ff": shape.d_ff,
                "total": counts.total,
                "nonembedding": counts.nonembedding,
                "active": counts.active,
                "low": interval.low if interval else "",
                "high": interval.high if interval else "",
                "started": interval.started if interval else "",
                "ended": interval.ended if interval else "",
                "extrapolated": interval.extrapolated if interval else "",
                **{f"law {key}": said.get(key, "") for key in keys},
            }
        )
    return rows


def _as_csv(answers: Mapping[int, Answer]) -> str:
    text, rows = io.StringIO(), _rows(answers)
    writer = csv.DictWriter(text, list(rows[0]), lineterminator="\n")
    writer.writeheader()
    writer.writerows(rows)
    return text.getvalue()


def _print_table(answers: Mapping[int, Answer]) -> None:
    rows = [("budget", "layers x width", "heads", "within 1 %", "built", "laws")]
    for row, answer in zip(_rows(answers), answers.values(), strict=True):
        within = ends(answer.interval) if answer.interval else ""
        rows.append(
            (
                size(row["budget"]),
                f"{row['layers']} x {row['width']:,}",
                f"{row['heads']} ({row['kv_heads']})",
                within + " *" * bool(row["extrapolated"]),
                _span([answer.built.low, answer.built.high] if answer.built else []),
                _span([law.layers for law in answer.laws if law.meaning in ("optimum", "default")]),
            )
        )
    width = columns()
    print(answer_text.columns(rows, width))
    for text in (
        "heads: query heads (key-value heads). within 1 %: of the best loss in published "
        "grids; +, -: training ended there, and the loss of deeper (+) or shallower (-) "
        "nets is not known. * extrapolated: outside the sizes that the source measured.",
        "built: real models near the size. laws: optima and defaults; each of them, "
        "floors and bounds too: --csv FILE, --json, --plot FILE.",
    ):
        print("\n".join(answer_text.wrapped(text, width)))


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

"""The command line: parses arguments and hands them to the module that does the work. Heavy imports
wait inside the commands."""

from __future__ import annotations

import atexit
import errno
import gc
import inspect
import os
import re
import shutil
import sys
from collections.abc import Callable, Iterable
from contextlib import suppress
from copy import copy
from dataclasses import Field
from functools import cache, partial, wraps
from importlib import import_module
from pathlib import Path
from typing import Any, cast

import typer
from typer.core import TyperCommand, TyperGroup

from depthlaw.advisor.base.quantities import UsageError, quoted
from depthlaw.advisor.layout import wrapped

from ..running.interrupts import stoppable
from ..text import never_refuse
from . import completion

# The base of every complaint of the argument parser; typer does not export it by name.
_ParserError: type[Exception] = typer.BadParameter.__bases__[0]


# What the parser calls a value of an option that has no name here.
_VALUES = {"int": "NUMBER", "float": "NUMBER"}


class _AsTyped:
    """Reads the values of an option. Texts, and what is not given, stay as they are: newer parsers
    would load a library that takes as long to import as the rest of the command line."""

    def coerce(self, value: Any, param: Any, ctx: Any) -> Any:
        several = param.multiple or param.nargs == -1
        if value is None:
            return () if several else None
        if param.type_descriptor.annotation is str and not several:
            return value
        param._runtime_param = None
        return param.get_runtime_param().coerce(value, param=param, ctx=ctx)


class _WithExamples:
    """Help in terminals of any width, which ends with command lines to copy, never wrapped."""

    epilog: str | None

    def get_params(self, ctx: Any) -> list[Any]:
        parameters: list[Any] = super().get_params(ctx)  # type: ignore[misc]
        for parameter in parameters:
            parameter._runtime_param = _AsTyped()
        return parameters

    def collect_usage_pieces(self, ctx: Any) -> list[str]:
        """Arguments in capitals, as in texts; versions of the parser differ."""
        pieces = super().collect_usage_pieces(ctx)  # type: ignore[misc]
        return [re.sub(r"\{(.+)\}", r"\1", piece).upper() for piece in pieces]

    def format_help(self, ctx: Any, formatter: Any) -> None:
        formatter.write_dl = partial(_write_definitions, formatter)
        super().format_help(ctx, formatter)  # type: ignore[misc]

    def format_epilog(self, ctx: Any, formatter: Any) -> None:
        if self.epilog:
            with formatter.section("Examples"):
                for line in self.epilog.splitlines():
                    formatter.write(f"  depthlaw {line}\n")


def _write_definitions(formatter: Any, rows: Iterable[tuple[str, str]]) -> None:
    """Terms, and beside them what they mean; below them, where that is narrow."""
    named = [(_term(term), text) for term, text in rows]
    margin, widest = " " * formatter.current_indent, max(len(term) for term, _ in named)
    room = max(widest, *(len(word) for _, text in named for word in text.split()))
    beside = len(margin) + widest + 2 + room <= formatter.width
    for term, text in named:
        first = f"{margin}{term:{widest + 2}}"
        if not beside:
            formatter.write(f"{margin}{term}\n")
            first = f"{margin}    "
        formatter.write("\n".join(wrapped(text, formatter.width, first, " " * len(first))) + "\n")


def _term(term: str) -> str:
    """An option with its value, or an argument, without the parser's names of types.

    >>> _term("--minutes <float>"), _term("--suite <str>"), _term("key <str>"), _term("--json")
    ('--minutes NUMBER', '--suite NAME', 'KEY', '--json')
    """
    name, _, kind = term.partition(" <")
    if not name.startswith("-"):
        return name.upper() if kind else name
    return f"{name} {_VALUES.get(kind.strip('>'), 'NAME')}" if kind else name


class _Command(_WithExamples, TyperCommand):
    """A command whose help ends with examples."""


class _Group(_WithExamples, TyperGroup):
    """Commands under one name, whose help ends with examples. Interrupted, they abort: newer
    parsers turn Ctrl-C into an exit without a word."""

    def format_commands(self, ctx: Any, formatter: Any) -> None:
        """Each with its first sentence, whole."""
        with formatter.section("Commands"):
            formatter.write_dl(
                [(name, self.commands[name].get_short_help_str(10**3)) for name in self.commands]
            )

    def invoke(self, ctx: Any) -> Any:
        try:
            return super().invoke(ctx)
        except KeyboardInterrupt as stop:
            raise typer.Abort(str(stop)) from None
        except BrokenPipeError:
            # The parser would end with 1, as if something were wrong.
            _abandon_output()
            raise typer.Exit(0) from None


def _group(*examples: str, **more: Any) -> typer.Typer:
    return typer.Typer(
        cls=_Group,
        epilog="\n".join(examples),
        rich_markup_mode=None,
        invoke_without_command=True,
        **more,
    )


def _command(
    *examples: str,
    runs: str,
    of: typer.Typer | None = None,
    cls: type[_Command] = _Command,
    **more: Any,
) -> Callable[[Callable[..., None]], Callable[..., int]]:
    """Decorator: a command, and lines that show how it is called, of which the first begins with
    its name. The function below is its signature and its help; `runs` names what does the work,
    "module.function" of this folder, which takes the same parameters and is imported when it is
    called."""
    module, _, function = runs.partition(".")
    name = examples[0].split()[0 if of is None else 1]

    def declared(signature: Callable[..., None]) -> Callable[..., int]:
        @wraps(signature)
        def command(**given: Any) -> int:
            return getattr(import_module(f".{module}", __package__), function)(**given)

        return (of or app).command(name, cls=cls, epilog="\n".join(examples), **more)(command)

    return declared


app = _group(
    'depth 3B --gpu H100 --gpus 64 --time "2 weeks"',
    "verify quick",
    "why separation_rank/upper_bound_deep",
    pretty_exceptions_enable=False,
)


def _print_version(wanted: bool) -> None:
    if wanted:
        from importlib.metadata import version

        typer.echo(f"depthlaw {version('depthlaw')}")
        raise typer.Exit


class _NoPlaceError(Exception):
    """What `main` says of a path; the parser would say something else of a ValueError."""


def _place(text: str) -> Path:
    """A file or folder as it was typed; an empty name would be the current folder."""
    if not text.strip():
        raise _NoPlaceError(
            "the name of a file or folder is empty; give its path, or . for the folder you are in"
        )
    try:
        return Path(text).expanduser()
    except RuntimeError:
        raise _NoPlaceError(
            f"{quoted(text)} names the home folder of nobody known here; give the whole path"
        ) from None


def _option(default: Any, text: str, *name: str, offers: Any = None, **more: Any) -> Any:
    """An option, by default of its parameter's name; ... is one that must be given. `offers`: what
    completes it."""
    return typer.Option(default, *name, help=text, autocompletion=offers, **more)


def _flag(name: str, text: str, **more: Any) -> Any:
    return typer.Option(False, name, help=text, **more)


def _path(what: str, text: str, *name: str) -> Any:
    return typer.Option(None, *name, metavar=what, parser=_place, help=text)


def _argument(default: Any, text: str, offers: Any = None, **more: Any) -> Any:
    return typer.Argument(default, help=text, autocompletion=offers, **more)


def _file(text: str, **more: Any) -> Any:
    """An argument that is a path."""
    return typer.Argument(..., help=text, parser=_place, **more)


_JSON: Any = _flag("--json", "Print JSON.")
_KEY: Any = _argument(..., "A claim's key.", offers=completion.keys)

_RESULTS: Any = _path(
    "DIR", "Results folder; by default depthlaw's folder among your data.", "--results"
)
_PLACE: Any = _path("PLACE", "Results folder, a ledger file, or the word reference.", "--results")
_CLAIMS: Any = _path(
    "FILE", "A Python file with claims of your own (docs/how-to/add-a-theorem.md).", "--claims"
)
_FORCE: Any = _flag("--force", "Replace an existing file.")


@app.callback()
def _depthlaw(
    context: typer.Context,
    version: bool = _flag(
        "--version", "Print the version.", is_eager=True, callback=_print_version
    ),
) -> None:
    """Executable theorems on transformer depth: predict, measure, judge, cite."""
    if context.invoked_subcommand is None:
        typer.echo(context.get_help())


# --- depth, sweep, compare -----------------------------------------------------------------------


_OUTPUT, _SIZES = "Output", "Sizes"


class _Sections(_Command):
    """A command whose help lists the options under headings, and that takes no flag together with
    its opposite."""

    def parse_args(self, ctx: Any, args: list[str]) -> list[str]:
        for parameter in self.get_params(ctx):
            for yes, no in zip(parameter.opts, parameter.secondary_opts, strict=False):
                if yes in args and no in args:
                    raise UsageError(f"{yes} and {no} contradict each other; give one of them")
        return super().parse_args(ctx, args)

    def format_options(self, ctx: Any, formatter: Any) -> None:
        from depthlaw.advisor.question import HAVE

        sections: dict[str, list[tuple[str, str]]] = {}
        for parameter in self.get_params(ctx):
            if record := parameter.get_help_record(ctx):
                heading = getattr(parameter, "rich_help_panel", None) or _OUTPUT
                if heading == HAVE and ctx.info_name == "sweep":
                    heading = _SIZES
                sections.setdefault(heading, []).append(record)
        sections[_OUTPUT] = sections.pop(_OUTPUT)  # last
        for heading, rows in sections.items():
            with formatter.section(heading):
                formatter.write_dl(rows)


class _OfSuites(_Command):
    """A command whose help says what the suites are."""

    def format_options(self, ctx: Any, formatter: Any) -> None:
        with formatter.section("Suites (times: about, on two cores)"):
            formatter.write_dl(list(completion.SUITES.items()))
        super().format_options(ctx, formatter)


# The commands that take options of a Question, where their functions have a star; and whether also
# those that say what there is to spend, or a task.
_ASKS: dict[str, bool] = {"depth": True, "sweep": False}


def _with_options(function: Callable[..., Any], whole: bool) -> None:
    """Give a command the options of a Question, which every other command starts without."""
    from depthlaw.advisor.question import OPTIONS, of_sizes

    signature = inspect.signature(function, eval_str=True)
    own = [p for p in signature.parameters.values() if p.kind is not p.VAR_KEYWORD]
    place = [p.kind for p in own].index(inspect.Parameter.KEYWORD_ONLY)
    own[place:place] = [
        _parameter(option)
        for option in OPTIONS
        if "heading" in option.metadata and (whole or of_sizes(option))
    ]
    function.__signature__ = signature.replace(parameters=own)  # type: ignore[attr-defined]


_OFFERED = {"gpu": completion.gpus, "task": completion.tasks}


def _parameter(option: Field[Any]) -> inspect.Parameter:
    """An option of a Question as the parser takes it. All but paths are read as text by the module
    that knows what is accepted."""
    from depthlaw.advisor.question import flag

    facts, default = option.metadata, None
    kind: Any = str | None
    more = {"help": facts["text"], "metavar": facts["unit"], "rich_help_panel": facts["heading"]}
    if option.name in _OFFERED:
        more["autocompletion"] = _OFFERED[option.name]
    if facts["unit"] in ("FILE", "PATH"):
        kind, more["parser"] = Path | None, _place
    elif facts["unit"] is None:
        kind, default = bool | None, None if "flags" in facts else False
    given = (
        typer.Argument(None, **more)
        if option.name == "budget"
        else typer.Option(default, facts.get("flags") or flag(option.name), **more)
    )
    return inspect.Parameter(
        option.name, inspect.Parameter.KEYWORD_ONLY, default=given, annotation=kind
    )


class _OfSizes(_Sections):
    """A command that takes what starts with one hyphen as its budget, so that a negative one gets
    an answer about budgets. With two it is an option, and an unknown one is refused as elsewhere.
    """

    def parse_args(self, ctx: Any, args: list[str]) -> list[str]:
        parsed, rest, _ = self.make_parser(ctx).parse_args(args=list(args))
        ctx.ignore_unknown_options = not any(
            text.startswith("--") for text in (parsed.get("budget") or "", *rest)
        )
        return super().parse_args(ctx, args)


@_command(
    "depth 3B",
    'depth --gpu H100 --gpus 64 --time "2 weeks"',
    "depth --hf config.json --why",
    "depth --task hops --hops 16",
    "depth 1.3B --pipeline 4 --config new.json",
    cls=_OfSizes,
    context_settings={"ignore_unknown_options": True},
    runs="depth_command.depth",
)
def depth(
    *,
    why: bool = _flag("--why", "Everything, with sources."),
    evidence: bool = _flag("--evidence", "The published grids, and how every rule does on them."),
    cite: bool = _flag("--cite", "One sentence that cites the answer."),
    config: Path | None = _path(
        "FILE", "Write the recommended shape as a Hugging Face config.json; - prints it."
    ),
    force: bool = _FORCE,
    json_output: bool = _JSON,
    schema: bool = _flag("--schema", "Print the JSON schema of what --json prints."),
    **question: Any,
) -> None:
    """Recommend a shape, first of all its depth.

    Give what you have: a size, FLOPs, GPUs, a latency, a configuration, or a task. The shape can be
    built as it stands. The answer also says what published nets show about one layer more or less,
    and what real models do; with --why, what every law says, and its source. Of an option that is
    given twice the last counts.
    """


@_command(
    "sweep --from 100M --to 1T",
    "sweep --from 1B --to 100B --points 5 --csv depths.csv",
    "sweep --from 100M --to 1T --plot depth.svg",
    cls=_Sections,
    runs="depth_command.sweep",
)
def sweep(
    least: str = _option(
        ..., "Smallest number of parameters.", "--from", metavar="BUDGET", rich_help_panel=_SIZES
    ),
    most: str = _option(
        ..., "Largest number of parameters.", "--to", metavar="BUDGET", rich_help_panel=_SIZES
    ),
    points: str = _option("9", "How many sizes, evenly spaced in the logarithm.", metavar="NUMBER"),
    *,
    csv: Path | None = _path("FILE", "Write the table as CSV; - prints it."),
    plot: Path | None = _path("FILE", "Draw laws, intervals and real models (.png, .svg or .pdf)."),
    force: bool = _FORCE,
    json_output: bool = _JSON,
    **question: Any,
) -> None:
    """Recommend shapes for a range of sizes.

    Prints a table, or writes CSV or a plot.
    """


@_command(
    "compare llama-3-8b qwen3-8b",
    "compare my-model/config.json llama-3-8b --json",
    "compare --list",
    runs="compare_command.compare",
)
def compare(
    names: list[str] | None = _argument(
        None,
        "Names of published models, or paths of config.json files.",
        metavar="MODEL",
        offers=completion.models,
    ),
    listed: bool = _flag("--list", "Print the names of all published models that are known."),
    json_output: bool = _JSON,
) -> None:
    """Count models or configurations side by side.

    Prints parameters, FLOPs and memory, and what the evidence and each law say about their depth.
    """


# --- measure -------------------------------------------------------------------------------------


measure = _group(
    "measure",
    "measure residual --model gpt2 --variant san --layers 24",
    "measure hops --checkpoint FOLDER",
)
app.add_typer(measure, name="measure")


@measure.callback()
def _measure(context: typer.Context, json_output: bool = _JSON) -> int:
    """Measure real architectures by layer, or a checkpoint on hops.

    Without a command, lists models and variants.
    """
    if context.invoked_subcommand is not None:
        return 0
    from .measure_commands import measure as command

    return command(json_output)


_DRAWN: Any = _path("FILE", "Draw a picture (.png, .svg or .pdf).", "--plot")


@_command(
    "measure residual --model gpt2",
    "measure residual --model gpt2 --variant san --plot gpt2.svg",
    of=measure,
    runs="measure_commands.residual",
)
def measure_residual(
    model: str = _option(
        "", "An architecture, such as gpt2; `depthlaw measure` lists them.", metavar="NAME"
    ),
    variant: str = _option(
        "full", "What is removed, such as san (without skips and MLPs).", metavar="NAME"
    ),
    layers: int | None = _option(None, "Layers (12)."),
    width: int | None = _option(None, "Width (768)."),
    heads: int | None = _option(None, "Heads (12)."),
    batch: int = _option(8, "Sequences."),
    tokens: int = _option(128, "Tokens in each."),
    seeds: int = _option(3, "How many seeds, for intervals."),
    device: str = _option("cpu", "cpu or cuda."),
    dtype: str = _option("float32", "float32 or float64."),
    weights: Path | None = _path(
        "FOLDER", "A folder with config.json and weights; by default weights are random."
    ),
    json_output: bool = _JSON,
    plot: Path | None = _DRAWN,
    force: bool = _FORCE,
) -> None:
    """Measure how far tokens are from equal after each layer.

    Takes an architecture, whole or with parts removed.
    """


@_command(
    "measure hops --checkpoint FOLDER",
    "measure hops --checkpoint FOLDER --k 1,8 --sequences 5000",
    of=measure,
    runs="hops_command.hops",
)
def measure_hops(
    checkpoint: Path = _option(
        ...,
        "A folder with the configuration and weights of a net of GPT-2's shape.",
        metavar="FOLDER",
        parser=_place,
    ),
    k: str = _option("1,2,4,8,16", "Hops, 0 to 16, separated by commas.", metavar="NUMBERS"),
    sequences: int = _option(1000, "Fresh sequences for each k."),
    seed: int = _option(0, "Seed of the sequences and of dropout."),
    device: str = _option("cpu", "cpu or cuda."),
    json_output: bool = _JSON,
) -> None:
    """Measure how often a checkpoint is wrong on hop_k.

    Tests it with dropout off and on, and prints the published errors of a net of its depth beside
    its own.
    """


# --- loss surfaces -------------------------------------------------------------------------------


@_command(
    "fit losses.csv",
    "fit losses.csv --seed-column run --tolerance 5% --plot losses.png",
    "fit losses.csv --budget flops",
    runs="fit_command.fit",
)
def fit(
    path: Path = _file(
        "A CSV file with the columns width, depth, parameters, tokens, loss; others are allowed.",
        metavar="FILE",
    ),
    budget: str = _option(
        "parameters",
        "What nets of one budget have in common: parameters (with tokens) or flops.",
        metavar="WHICH",
    ),
    tolerance: str = _option(
        "10%", "How far the sizes of one budget may differ, such as 5%.", metavar="SHARE"
    ),
    seed_column: str = _option(
        "",
        "The column that tells trainings of one shape apart, such as run; by default seed.",
        metavar="NAME",
    ),
    json_output: bool = _JSON,
    plot: Path | None = _DRAWN,
    force: bool = _FORCE,
) -> None:
    """Fit the losses of nets that you trained.

    Prints the best depth of each budget with an interval, laws of width against depth, and beside
    them every published rule with a verdict.
    """


# --- exercises -----------------------------------------------------------------------------------


_CORPUS: Any = _path(
    "FILE", "Any text to train on; by default the sources of Python's standard library.", "--corpus"
)


@_command(
    "exercise",
    "exercise layer-probing",
    "exercise all --corpus my-text.txt",
    runs="exercise_command.exercise",
)
def exercise(
    name: str = _argument(
        "", "An exercise, or all; by default the exercises are listed.", metavar="NAME"
    ),
    corpus: Path | None = _CORPUS,
    folder: Path | None = _RESULTS,
    json_output: bool = _JSON,
    plot: Path | None = _path(
        "FILE", "Draw what was measured (.png, .svg or .pdf); for all, one file each."
    ),
    force: bool = _FORCE,
) -> None:
    """Do an exercise on deep networks.

    Trains tiny language models for some minutes. Prints what the text predicts, what was measured,
    and the verdicts. If stopped, the same command continues. Exit code 1 if a verdict is
    unexpected.
    """


# --- suites and claims ---------------------------------------------------------------------------


@_command(
    "verify",
    "verify theory --minutes 10",
    "verify quick --only hops --only separation_rank/degree",
    "verify --claims walks.py",
    "verify full --engine ray --address auto",
    cls=_OfSuites,
    runs="suite_command.verify",
)
def verify(
    suite: str = _argument(
        "quick",
        "quick, theory, full, frontier, exercises, training, long or gpu.",
        offers=completion.suites,
    ),
    only: list[str] | None = _option(
        None,
        "A claim's key, or a topic; can be given several times.",
        offers=completion.keys,
        metavar="KEY",
    ),
    own: Path | None = _path(
        "FILE", "Run the claims in this Python file of yours; --only adds others.", "--claims"
    ),
    corpus: Path | None = _CORPUS,
    folder: Path | None = _RESULTS,
    json_output: bool = _JSON,
    quiet: bool = _flag("--quiet", "No progress, only the verdicts."),
    engine: str = _option("pool", "inline, pool (processes of this machine) or ray."),
    processes: int = _option(0, "Processes of the pool; 0: one per core."),
    timeout: float = _option(
        3600.0, "Seconds after which a run of the pool counts as hung; a day in suite long."
    ),
    max_memory: str = _option(
        "", "Memory cap of each process of the pool, such as 4GB.", metavar="BYTES"
    ),
    minutes: float | None = _option(None, "Stop after this long; the records are kept."),
    address: str = _option("local", "Ray cluster: local, auto, or its address."),
    gpus: str | None = _option(
        None, "Device ids for the pool, such as 0,1: one process each.", metavar="IDS"
    ),
    memory: str = _option(
        "",
        "Suite frontier: memory budget of all processes together, such as 8GB.",
        metavar="BYTES",
    ),
    device: str = _option("cpu", "cuda for eliminations and trainings: suites frontier and gpu."),
    gpus_per_run: float = _option(0.0, "Share of a GPU for each run on Ray, such as 0.25."),
) -> None:
    """Run a suite of checks and print the verdicts.

    What is recorded is not run again. Suites that train need the extra empirics. Exit code 1 if a
    verdict is unexpected.
    """


@_command("claims", "claims recalled", "claims rank --all --json", runs="claim_commands.claims")
def claims(
    words: list[str] | None = _argument(
        None, "List only claims that mention these words.", offers=completion.keys
    ),
    everything: bool = _flag("--all", "Also the claims that support the cited ones."),
    json_output: bool = _JSON,
) -> None:
    """List the cited claims."""


@_command(
    "show hops",
    "show separation_rank/exact",
    "show separation_rank/upper_bound_deep --at width=768 depth=6,12,24",
    "show walks/complete_graph --claims walks.py",
    runs="claim_commands.show",
)
def show(
    key: str = _argument(
        ...,
        "A claim's key, or a topic or a source (levine2020), whose claims are listed.",
        offers=completion.keys,
    ),
    values: list[str] | None = _argument(
        None, "After --at: more of the same.", metavar="NAME=VALUE"
    ),
    at: list[str] | None = _option(
        None,
        "What the statement says at this value, or at each of several (depth=6,12).",
        "--at",
        metavar="NAME=VALUE",
    ),
    own: Path | None = _CLAIMS,
    folder: Path | None = _RESULTS,
    json_output: bool = _JSON,
) -> None:
    """Show one claim, or list those of a topic or of a source.

    Prints statement, source, conditions, how it is checked, verdict and cases.
    """


@_command(
    "why separation_rank/upper_bound_deep",
    "why trained_rank/floor_holds --all",
    "why hops/depth_corrected --json",
    runs="claim_commands.why",
)
def why(
    key: str = _KEY,
    whole: bool = _flag("--all", "Every case, step and record."),
    own: Path | None = _CLAIMS,
    folder: Path | None = _RESULTS,
    json_output: bool = _JSON,
) -> None:
    """Show what a verdict rests on, as a tree.

    Prints cases and their records, the steps of a proof, certificates, premises and what they rest
    on, sources, and the negative control.
    """


@_command(
    "appendix out/",
    "appendix out/ --topic hops",
    "appendix out/ --claims separation_rank/exact,hops/depth_corrected",
    "appendix out/ --suite quick",
    runs="appendix_command.appendix",
)
def appendix(
    directory: Path = _file("Folder to write."),
    named: str | None = _option(
        None,
        "Exactly these claims: keys separated by commas, or a Python file with claims of your own.",
        "--claims",
        metavar="WHICH",
    ),
    topic: str | None = _option(
        None, "Exactly the claims of this topic.", offers=completion.topics
    ),
    everything: bool = _flag("--all", "The supplement: every claim."),
    suite: str = _option(
        "",
        "From your own records of this suite, not from the reference ledger.",
        offers=completion.suites,
    ),
    folder: Path | None = _RESULTS,
    json_output: bool = _JSON,
) -> None:
    """Write an appendix to attach to a paper.

    Writes PDF, HTML, LaTeX, figures, data and a checklist.

    It is made from the reference ledger, unless --suite or --results asks for your own records. By
    default it has the headline results, in about fourteen pages.
    """


@_command(
    "falsify rank_collapse/one_layer_cubic --minutes 5",
    "falsify rank_collapse/one_layer_cubic --weaken 4=0.4",
    "falsify walks/complete_graph --claims walks.py",
    runs="falsify_commands.falsify",
)
def falsify(
    key: str = _KEY,
    minutes: float = _option(1.0, "How long to search."),
    changes: list[str] | None = _option(
        None, "Replace a constant first, such as 4=0.4.", "--weaken", metavar="OLD=NEW"
    ),
    own: Path | None = _CLAIMS,
    folder: Path | None = _RESULTS,
    json_output: bool = _JSON,
) -> None:
    """Search for a counterexample of a claim.

    What is found is stored as a certificate. Exit code 1 for a counterexample that nobody expected.
    """


@_command("recheck rank.json", runs="falsify_commands.recheck")
def recheck(
    path: Path = _file("A certificate."), own: Path | None = _CLAIMS, json_output: bool = _JSON
) -> None:
    """Verify a certificate from its file alone. Exit code 1 if it does not hold."""


@_command(
    "certify 3 3 rank.json",
    "certify 4 2 rank.json --heads 2 --force",
    runs="falsify_commands.certify",
)
def certify(
    width: int = _argument(..., "Width d_x, 1 or more."),
    depth: int = _argument(..., "Number L of layers, 1 to 6."),
    file: Path = _argument(..., "File to write."),
    heads: int = _option(1, "Number H of heads, which divides the width."),
    force: bool = _FORCE,
) -> None:
    """Write the certificate of a separation rank.

    It certifies a lower bound for nets of one shape and almost all weights, which `depthlaw
    recheck` verifies without an elimination.
    """


@_command(
    "mutate",
    "mutate hops --suite quick",
    "mutate separation_rank/degree --json",
    runs="falsify_commands.mutate",
)
def mutate(
    keys: list[str] | None = _argument(
        None,
        "Claim keys or topics; by default those of --claims, else all.",
        offers=completion.keys,
    ),
    suite: str = _option(
        "theory", "The suite whose records are judged again.", offers=completion.suites
    ),
    own: Path | None = _CLAIMS,
    folder: Path | None = _RESULTS,
    json_output: bool = _JSON,
) -> None:
    """Perturb constants of statements; see which changes are noticed.

    Exit code 1 if an exact or argued claim has a survivor without a reason.
    """


@_command("cite hops/depth_corrected", "cite levine2020 dong2021", runs="claim_commands.cite")
def cite(
    keys: list[str] = _argument(..., "Claim keys or bibliography keys.", offers=completion.sources),
    json_output: bool = _JSON,
) -> None:
    """Print the BibTeX entries behind claims.

    If a source is "depthlaw, after X", the entry of X is printed too.
    """


atlas = _group("tasks", "tasks list dyck", "tasks check net.json", "tasks language '(ab)*'")
app.add_typer(atlas, name="tasks")


_KNOWN_BY: Any = _option(None, "As it was known at the end of a year.", metavar="YEAR")
_TABLES: Any = _path(
    "DIR", "A folder with tables of your own (docs/how-to/add-a-task.md).", "--atlas"
)


@atlas.callback()
def _atlas(
    context: typer.Context,
    known_by: int | None = _KNOWN_BY,
    tables: Path | None = _TABLES,
    json_output: bool = _JSON,
) -> None:
    """The atlas of least depth: how many layers tasks need.

    Without a command, lists all tasks: what each is, and what is known by class of models.
    """
    named = context.invoked_subcommand
    if named is None:
        from .tasks_command import list_tasks

        list_tasks(None, known_by, tables, json_output)
    elif known_by is not None and named != "list":
        raise UsageError(
            "--known-by belongs to the list: `depthlaw tasks list TASK --known-by YEAR`"
        )
    elif known_by is not None:
        raise UsageError(f"--known-by comes last: `depthlaw tasks {named} --known-by {known_by}`")
    elif tables is not None:
        raise UsageError(f"--atlas comes last: `depthlaw tasks {named} --atlas {tables}`")
    elif json_output:
        raise UsageError(f"--json comes last: `depthlaw tasks {named} --json`")


@_command(
    "tasks list",
    "tasks list dyck",
    "tasks list parity --known-by 2023",
    of=atlas,
    runs="tasks_command.list_tasks",
)
def tasks_list(
    task: str | None = _argument(
        None, "A task, such as dyck; by default all.", offers=completion.atlas_tasks
    ),
    known_by: int | None = _KNOWN_BY,
    tables: Path | None = _TABLES,
    json_output: bool = _JSON,
) -> None:
    """List the depths known to be needed and to suffice.

    By task and class of models. For one task, also prints its classes with all their fine print,
    and who found each bound.
    """


@_command(
    "tasks check net.json",
    "tasks check net.json --length 8",
    "tasks check bound.json",
    of=atlas,
    runs="check_command.check",
)
def tasks_check(
    file: Path = _file(
        "Explicit weights or a lower bound, in the format of docs/how-to/check-a-net.md."
    ),
    length: int | None = _option(
        None, "Longest word that is run; by default, that of 3,000 words in all."
    ),
    tables: Path | None = _TABLES,
    json_output: bool = _JSON,
) -> None:
    """Run explicit weights exactly on all short words, and compare their depth with the table.

    Where states or kinks are finitely many, all inputs are decided. Of a lower bound it is verified
    that so many layers cannot tell its two words apart. Exit code 1 if the net is wrong on an input
    or the bound is not verified.
    """


@_command(
    "tasks language '(ab)*'",
    "tasks language 'a*b*' --alphabet abc",
    "tasks language '(ab)*' --net net.json",
    of=atlas,
    runs="language_command.language",
)
def tasks_language(
    expression: str = _argument(
        ..., "A regular expression of letters and digits, |, *, +, ? and parentheses."
    ),
    alphabet: str | None = _option(
        None, "All letters of words; by default those of the expression.", metavar="LETTERS"
    ),
    net: Path | None = _path(
        "FILE",
        "Write a net of as few layers as are known to be enough, for `tasks check`.",
        "--net",
    ),
    force: bool = _FORCE,
    json_output: bool = _JSON,
) -> None:
    """Say whether any depth recognises a regular language of your own, by class of models.

    This is decided exactly, in its syntactic monoid. Where some depth of hard attention does it, a
    search says how many layers are needed and how many are enough, as far as it gets.
    """


records = _group("records list --claim hops", "records verify")
app.add_typer(records, name="records")


@records.callback()
def _records(context: typer.Context) -> None:
    """Look at what is recorded: list, show, verify, export, gc, diff."""
    if context.invoked_subcommand is None:
        typer.echo(context.get_help())


@_command(
    "records list",
    "records list --claim hops --results reference",
    "records list --suite quick --json",
    of=records,
    runs="records_commands.list_records",
)
def records_list(
    claim: str = _option("", "Only claims whose key contains this.", offers=completion.keys),
    suite: str = _option("", "Only what this suite asks for now.", offers=completion.suites),
    place: Path | None = _PLACE,
    json_output: bool = _JSON,
) -> None:
    """List records: id, claim, case, value."""


@_command(
    "records show 69c73d33ce --results reference", of=records, runs="records_commands.show_record"
)
def records_show(
    start: str = _argument(..., "A record's id, or its beginning.", metavar="ID"),
    place: Path | None = _PLACE,
    json_output: bool = _JSON,
) -> None:
    """Show one record in full."""


@_command(
    "records verify",
    "records verify --results reference",
    of=records,
    runs="records_commands.verify_records",
)
def records_verify(place: Path | None = _PLACE, json_output: bool = _JSON) -> None:
    """Verify every hash. Exit code 1 if one does not verify."""


@_command(
    "records export records.csv",
    "records export reference.csv --results reference",
    of=records,
    runs="records_commands.export",
)
def records_export(
    file: Path = _file("File to write, such as records.csv."),
    force: bool = _FORCE,
    place: Path | None = _PLACE,
    json_output: bool = _JSON,
) -> None:
    """Write the records as one table in CSV, for other programs."""


@_command("records gc", "records gc --delete", of=records, runs="records_commands.gc")
def records_gc(
    delete: bool = _flag("--delete", "Remove the records listed."),
    own: Path | None = _CLAIMS,
    folder: Path | None = _RESULTS,
    json_output: bool = _JSON,
) -> None:
    """List the records that no claim asks for now.

    Stale temporary files are removed.
    """


@_command(
    "records diff reference ~/results",
    "records diff old-results new-results --json",
    of=records,
    runs="records_commands.diff",
)
def records_diff(
    first: Path = _file("Results folder, ledger file, or the word reference.", metavar="A"),
    second: Path = _file("The same.", metavar="B"),
    everything: bool = _flag("--all", "Every run that differs, not the first 20 of each kind."),
    json_output: bool = _JSON,
) -> None:
    """Compare two collections of records run by run.

    It does not matter which code made them. Exit code 1 if they differ.
    """


@_command("doctor", "doctor --load", "doctor --json", runs="doctor_command.doctor")
def doctor(
    folder: Path | None = _RESULTS,
    load: bool = _flag(
        "--load",
        "Also load the claims and PyTorch: has a claim changed since its claim set, which devices "
        "are there, do your records agree with the reference?",
    ),
    json_output: bool = _JSON,
) -> None:
    """Look for what is missing or out of order.

    Checks versions, extras, threads and folders, the ledger that comes with depthlaw, and whether
    every record of yours verifies. Exit code 1 if there is a problem.
    """


def main(arguments: list[str] | None = None) -> int:
    """Run a command and return its exit code: 0, 1 (something unexpected), 2 (usage, one line on
    stderr), 130 (interrupted)."""
    if sys.stdout is None:
        return _complain(
            "the output is closed, so that nothing can be printed; send it to a file, "
            "or to /dev/null"
        )
    never_refuse(sys.stdout, sys.stderr)
    # Almost everything that a command makes lives until it ends: looking through it for garbage
    # again and again, and once more at the end, would take a quarter of its time.
    gc.set_threshold(100_000, 100, 100)
    atexit.register(gc.freeze)
    # The parser believes that no terminal is narrower than this.
    columns = shutil.get_terminal_size().columns
    narrow = {"terminal_width": max(columns, 20)} if columns < 52 else {}
    try:
        with stoppable(None):
            word = (sys.argv[1:] if arguments is None else arguments)[:1]
            code = int(parser(*word)(arguments, "depthlaw", standalone_mode=False, **narrow) or 0)
        # Here, where a full disk can still be reported, rather than at the interpreter's exit.
        sys.stdout.flush()
        return code
    except (UsageError, _NoPlaceError) as error:
        return _complain(str(error))
    except _ParserError as error:
        return _complain(_parser_message(error))
    except (typer.Abort, KeyboardInterrupt) as stop:
        return _complain(str(stop) or "interrupted", 130)
    except BrokenPipeError:
        # The reader of a pipe went away (| head).
        _abandon_output()
        return 0
    except OSError as error:
        # An error that names a file is nobody's output; whoever opened that file has to deal with
        # it.
        if error.filename is not None or error.errno not in _NO_ROOM:
            raise
        _abandon_output()
        return _complain(
            f"the output cannot be written ({error.strerror}); what was recorded before is kept"
        )


@cache
def parser(word: str = "") -> Any:
    """The parser of one command, or of a group of commands; of all where the word names none. To
    make that of all takes longer than many a command."""
    one = copy(app)
    for name in ("registered_commands", "registered_groups"):
        setattr(one, name, [it for it in getattr(app, name) if it.name == word])
    if not (one.registered_commands or one.registered_groups):
        one = app
    for it in one.registered_commands:
        if it.name in _ASKS and not hasattr(it.callback, "__signature__"):
            _with_options(cast(Callable[..., Any], it.callback), _ASKS[it.name])
    return typer.main.get_command(one)


# What writing to a full or failing disk says.
_NO_ROOM = (errno.ENOSPC, errno.EDQUOT, errno.EFBIG, errno.EIO)


def _abandon_output() -> None:
    """Send the rest nowhere; the interpreter would complain once more when it flushes."""
    os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())


# What the least and the most of something are also called.
_ENDS = {"min": "least", "max": "most"}


def _parser_message(error: Any) -> str:
    """The parser's complaint as one line of our form."""
    message = " ".join(error.format_message().split()).rstrip(".")
    message = re.sub(
        r"Input should be a valid (integer|number).*",
        lambda kind: f"it is no {'whole ' * (kind[1] == 'integer')}number",
        message,
    )
    # As help names it.
    message = re.sub(
        r"^Missing argument '(\w+)", lambda it: f"Missing argument '{it[1].upper()}", message
    )
    command = error.ctx.command_path if getattr(error, "ctx", None) else "depthlaw"
    if command == "depthlaw tasks" and (word := re.match("No such command '([\\w-]+)'", message)):
        from depthlaw.advisor.atlas import atlas

        if near := atlas().nearest_tasks(word[1]):
            return f"no such command {word[1]!r}; try `depthlaw tasks list {near[0]}`"
    if command in ("depthlaw depth", "depthlaw sweep"):
        message = re.sub(
            r"(No such option: --(min|max)\w*-(?:layers|depth)\b).*",
            lambda it: f"{it[1]} (did you mean --{_ENDS[it[2]]}-layers?)",
            message,
        )
        message = re.sub(
            r"(No such option: --depth) \(.*\)", r"\1 (did you mean --layers?)", message
        )
        message = re.sub(
            r"(No such option: --(?:params|parameters|size)\b).*",
            r"\1 (a size stands alone, as in depthlaw depth 7e9)",
            message,
        )
    if command == "depthlaw certify" and re.match(r"No such option: -\d", message):
        message = "The width is 1 or more and the depth 1 to 6, as in certify 3 3 FILE"
    end = "" if message.endswith("?") else ";"
    return f"{message[:1].lower()}{message[1:]}{end} `{command} --help` lists what is accepted"


def _complain(message: str, code: int = 2) -> int:
    with suppress(OSError):  # it may stand on the same full disk
        sys.stderr.write(f"error: {message}\n")
        sys.stderr.flush()
    return code


if __name__ == "__main__":
    sys.exit(main())

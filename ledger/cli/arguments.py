"""The command line: parses arguments and hands them to the module that does the work. Heavy imports
wait inside the commands."""

from __future__ import annotations

import errno
import os
import re
import shutil
import sys
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path
from typing import Annotated, Any, TypeVar

import typer
from typer.core import TyperCommand, TyperGroup

from depthlaw.advisor.base.quantities import UsageError, quoted

from . import completion

# The base of every complaint of the argument parser; typer does not export it by name.
_ParserError: type[Exception] = typer.BadParameter.__bases__[0]

_Function = TypeVar("_Function", bound=Callable[..., Any])


def _write_examples(command: Any, formatter: Any) -> None:
    """Command lines to copy, which are never wrapped, below the options."""
    if command.epilog:
        with formatter.section("Examples"):
            for line in command.epilog.splitlines():
                formatter.write(f"  depthlaw {line}\n")


class _Command(TyperCommand):
    """A command whose help ends with examples."""

    def format_epilog(self, ctx: Any, formatter: Any) -> None:
        _write_examples(self, formatter)


class _Group(TyperGroup):
    """Commands under one name, whose help ends with examples. Interrupted, they abort: newer
    parsers turn Ctrl-C into an exit without a word."""

    def invoke(self, ctx: Any) -> Any:
        try:
            return super().invoke(ctx)
        except KeyboardInterrupt:
            raise typer.Abort from None
        except BrokenPipeError:
            # The parser would end with 1, as if something were wrong.
            _abandon_output()
            raise typer.Exit(0) from None

    def format_epilog(self, ctx: Any, formatter: Any) -> None:
        _write_examples(self, formatter)


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
    of: typer.Typer | None = None,
    name: str | None = None,
    cls: type[_Command] = _Command,
    **more: Any,
) -> Callable[[_Function], _Function]:
    """Decorator: a command, and lines that show how it is called."""
    return (of or app).command(name, cls=cls, epilog="\n".join(examples), **more)


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


def _place(text: str) -> Path:
    """A file or folder as it was typed; an empty name would be the current folder."""
    if not text.strip():
        raise UsageError(
            "the name of a file or folder is empty; give its path, or . for the folder you are in"
        )
    try:
        return Path(text).expanduser()
    except RuntimeError:
        raise UsageError(
            f"{quoted(text)} names the home folder of nobody known here; give the whole path"
        ) from None


def _option(flag: str, text: str, **more: Any) -> Any:
    return typer.Option(flag, help=text, **more)


def _path(flag: str, what: str, text: str) -> Any:
    return typer.Option(flag, metavar=what, parser=_place, help=text)


_Flag = Annotated[
    bool, _option("--version", "Print the version.", is_eager=True, callback=_print_version)
]
_Json = Annotated[bool, _option("--json", "Print JSON.")]
_Key = Annotated[str, typer.Argument(help="A claim's key.", autocompletion=completion.keys)]
_KeyOrTopic = Annotated[
    str,
    typer.Argument(
        help="A claim's key, or a topic, whose claims are listed.", autocompletion=completion.keys
    ),
]
_Results = Annotated[
    Path | None,
    _path("--results", "DIR", "Results folder; by default depthlaw's folder among your data."),
]
_Place = Annotated[
    Path | None,
    _path("--results", "PLACE", "Results folder, a ledger file, or the word reference."),
]
_Claims = Annotated[
    Path | None,
    _path(
        "--claims", "FILE", "A Python file with claims of your own (docs/how-to/add-a-theorem.md)."
    ),
]
_Force = Annotated[bool, _option("--force", "Replace an existing file.")]


@app.callback()
def _depthlaw(context: typer.Context, version: _Flag = False) -> None:
    """Executable theorems on transformer depth: predict, measure, judge, cite."""
    if context.invoked_subcommand is None:
        typer.echo(context.get_help())


# --- depth, sweep, compare -----------------------------------------------------------------------


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
        sections: dict[str, list[tuple[str, str]]] = {}
        for parameter in self.get_params(ctx):
            if record := parameter.get_help_record(ctx):
                heading = getattr(parameter, "rich_help_panel", None) or _OUTPUT
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


_HAVE, _SHAPE = "What you have (one at least, or a task)", "What the shape must obey"
_EXPERTS, _SPLIT = "Mixture of experts", "Parallel training"
_OUTPUT = "Output"
_TRAINED, _TASK = "How it is trained and used", "A task instead of a size, or beside it"


def _under(heading: str, flag: str, text: str, what: str | None = None, **more: Any) -> Any:
    return typer.Option(flag, help=text, metavar=what, rich_help_panel=heading, **more)


# All but paths is read as text by the modules that know what is accepted.
_Text = str | None
_Budget = Annotated[
    _Text,
    typer.Argument(
        metavar="BUDGET", help="Parameters, such as 3B, 350M or 7e9.", rich_help_panel=_HAVE
    ),
]
_Count = Annotated[
    _Text,
    _under(
        _HAVE, "--count", "What sizes count: total (default), non-embedding or active.", "WHICH"
    ),
]
_Flops = Annotated[_Text, _under(_HAVE, "--flops", "Training FLOPs, such as 1e21.", "FLOPS")]
_Tokens = Annotated[_Text, _under(_HAVE, "--tokens", "Training tokens, such as 300B.", "TOKENS")]
_GpuType = Annotated[
    _Text, _under(_HAVE, "--gpu", "GPU type, such as H100.", "NAME", autocompletion=completion.gpus)
]
_GpuCount = Annotated[_Text, _under(_HAVE, "--gpus", "How many GPUs (1).", "COUNT")]
_Hours = Annotated[_Text, _under(_HAVE, "--hours", "For how many hours.", "HOURS")]
_Time = Annotated[_Text, _under(_HAVE, "--time", 'The same in words, such as "2 weeks".', "TIME")]
_Utilisation = Annotated[
    _Text,
    _under(_HAVE, "--utilisation", "Share of the GPUs' peak that training reaches (0.4).", "SHARE"),
]
_ServingMemory = Annotated[
    _Text, _under(_HAVE, "--memory", "Memory of the device that serves it, such as 8GB.", "BYTES")
]
_Bits = Annotated[_Text, _under(_HAVE, "--bits", "Bits of a weight on that device (16).", "BITS")]
_Milliseconds = Annotated[
    _Text, _under(_HAVE, "--ms-per-token", "Latency limit for one token of one sequence.", "MS")
]
_PerSecond = Annotated[
    _Text, _under(_HAVE, "--tokens-per-second", "The same as a speed.", "TOKENS")
]
_Latency = Annotated[
    Path | None,
    _under(
        _HAVE,
        "--latency",
        "Measured points, a CSV with columns L, d, ms, perhaps d_ff and more.",
        "FILE",
        parser=_place,
    ),
]
_Bandwidth = Annotated[
    _Text, _under(_HAVE, "--bandwidth", "Memory bandwidth of that device, such as 50GB/s.", "RATE")
]
_PerLayer = Annotated[
    _Text, _under(_HAVE, "--ms-per-layer", "Time of a layer beside reading its weights.", "MS")
]
_Cache = Annotated[
    _Text,
    _under(
        _HAVE,
        "--kv-cache",
        "Limit of one sequence's KV cache at full context, such as 1GB.",
        "BYTES",
    ),
]
_HuggingFace = Annotated[
    Path | None,
    _under(
        _HAVE,
        "--hf",
        "A Hugging Face config.json, or its folder: count and judge it.",
        "PATH",
        parser=_place,
    ),
]

_HeadWidth = Annotated[_Text, _under(_SHAPE, "--head-width", "Width of one head.", "WIDTH")]
_Multiple = Annotated[
    _Text, _under(_SHAPE, "--multiple", "What must divide the width, such as 128.", "NUMBER")
]
_Gqa = Annotated[_Text, _under(_SHAPE, "--gqa", "Query heads per key-value head.", "RATIO")]
_Gated = Annotated[
    bool | None, _under(_SHAPE, "--gated/--plain", "Three matrices in the MLP, or two.")
]
_Factor = Annotated[_Text, _under(_SHAPE, "--ff", "d_ff / d.", "FACTOR")]
_Tied = Annotated[
    bool | None,
    _under(_SHAPE, "--tied/--untied", "Input and output embeddings share weights, or not."),
]
_Vocabulary = Annotated[_Text, _under(_SHAPE, "--vocabulary", "Size of the vocabulary.", "SIZE")]
_Context = Annotated[_Text, _under(_SHAPE, "--context", "Context length.", "TOKENS")]
_FixedLayers = Annotated[_Text, _under(_SHAPE, "--layers", "Fix the depth.", "LAYERS")]
_FixedWidth = Annotated[_Text, _under(_SHAPE, "--width", "Fix the width.", "WIDTH")]
_Loops = Annotated[
    _Text,
    _under(_SHAPE, "--loops", "Passes through the same layers; BUDGET counts them once.", "TIMES"),
]
_Stacks = Annotated[bool, _under(_SHAPE, "--encoder-decoder", "Two stacks, as in T5.")]

_Experts = Annotated[_Text, _under(_EXPERTS, "--experts", "Experts of a layer.", "COUNT")]
_Active = Annotated[_Text, _under(_EXPERTS, "--active-experts", "How many a token uses.", "COUNT")]
_Shared = Annotated[
    _Text, _under(_EXPERTS, "--shared-experts", "Experts that every token uses.", "COUNT")
]
_ExpertWidth = Annotated[
    _Text, _under(_EXPERTS, "--expert-width", "Inner width of one expert.", "WIDTH")
]
_DenseLayers = Annotated[
    _Text, _under(_EXPERTS, "--dense-layers", "First layers without experts.", "LAYERS")
]
_Tensor = Annotated[_Text, _under(_SPLIT, "--tensor", "Tensor-parallel size.", "GPUS")]
_Pipeline = Annotated[_Text, _under(_SPLIT, "--pipeline", "Pipeline stages.", "STAGES")]

_Parametrisation = Annotated[
    _Text, _under(_TRAINED, "--parametrisation", "standard, mup or completep.", "WHICH")
]
_Norm = Annotated[
    _Text, _under(_TRAINED, "--norm", "pre, post, or lns (scaled by 1/sqrt(layer)).", "WHERE")
]
_Residual = Annotated[
    _Text,
    _under(_TRAINED, "--residual", "plain, or attnres (attention over earlier layers).", "WHICH"),
]
_Matters = Annotated[
    bool, _under(_TRAINED, "--latency-matters", "Among depths of like loss prefer the shallow one.")
]

_Task = Annotated[
    _Text,
    _under(
        _TASK, "--task", "connectivity, hops or regular.", "TASK", autocompletion=completion.tasks
    ),
]
_Diameter = Annotated[
    _Text, _under(_TASK, "--diameter", "connectivity: largest diameter of a component.", "NUMBER")
]
_Vertices = Annotated[
    _Text, _under(_TASK, "--vertices", "connectivity: vertices of the graph.", "NUMBER")
]
_Hops = Annotated[_Text, _under(_TASK, "--hops", "hops: number of hops k.", "NUMBER")]
_Length = Annotated[_Text, _under(_TASK, "--length", "regular: length of the input.", "NUMBER")]

_KnownBy = Annotated[
    _Text,
    _option("--known-by", "Answer as of a year: only what was published by then.", metavar="YEAR"),
]
_Why = Annotated[bool, _option("--why", "Everything, with sources.")]
_Evidence = Annotated[
    bool, _option("--evidence", "The published grids and how every rule does on them.")
]
_Cited = Annotated[bool, _option("--cite", "One sentence to cite the answer by.")]
_Config = Annotated[
    Path | None,
    _path(
        "--config",
        "FILE",
        "Write the recommended shape as a Hugging Face config.json; - prints it.",
    ),
]
_Schema = Annotated[bool, _option("--schema", "Print the JSON schema of what --json prints.")]


class _OfSizes(_Sections):
    """A command that takes what starts with one hyphen as its budget, so that a negative one gets
    an answer about budgets. With two it is an option, and an unknown one is refused as elsewhere.
    """

    def parse_args(self, ctx: Any, args: list[str]) -> list[str]:
        found, rest, _ = self.make_parser(ctx).parse_args(args=list(args))
        ctx.ignore_unknown_options = not any(
            text.startswith("--") for text in (found.get("budget") or "", *rest)
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
)
def depth(
    typed: typer.Context,
    budget: _Budget = None,
    count: _Count = None,
    flops: _Flops = None,
    tokens: _Tokens = None,
    gpu: _GpuType = None,
    gpus: _GpuCount = None,
    hours: _Hours = None,
    time: _Time = None,
    utilisation: _Utilisation = None,
    memory: _ServingMemory = None,
    bits: _Bits = None,
    ms_per_token: _Milliseconds = None,
    tokens_per_second: _PerSecond = None,
    latency: _Latency = None,
    bandwidth: _Bandwidth = None,
    ms_per_layer: _PerLayer = None,
    kv_cache: _Cache = None,
    hf: _HuggingFace = None,
    head_width: _HeadWidth = None,
    multiple: _Multiple = None,
    gqa: _Gqa = None,
    gated: _Gated = None,
    ff: _Factor = None,
    tied: _Tied = None,
    vocabulary: _Vocabulary = None,
    context: _Context = None,
    layers: _FixedLayers = None,
    width: _FixedWidth = None,
    loops: _Loops = None,
    encoder_decoder: _Stacks = False,
    experts: _Experts = None,
    active_experts: _Active = None,
    shared_experts: _Shared = None,
    expert_width: _ExpertWidth = None,
    dense_layers: _DenseLayers = None,
    tensor: _Tensor = None,
    pipeline: _Pipeline = None,
    parametrisation: _Parametrisation = None,
    norm: _Norm = None,
    residual: _Residual = None,
    latency_matters: _Matters = False,
    task: _Task = None,
    diameter: _Diameter = None,
    vertices: _Vertices = None,
    hops: _Hops = None,
    length: _Length = None,
    known_by: _KnownBy = None,
    why: _Why = False,
    evidence: _Evidence = False,
    cite: _Cited = False,
    config: _Config = None,
    force: _Force = False,
    as_json: _Json = False,
    schema: _Schema = False,
) -> int:
    """Recommend a shape, first of all its depth.

    For what you have: a size, FLOPs, GPUs, a latency, a configuration, or a task. The shape can be
    built as it stands. Beside it: what published nets show about one layer more or
    less, what real models do, and what every law says, with its source.
    """
    from .depth_command import depth as command

    return command(typed.params)


_From = Annotated[str, _under(_HAVE, "--from", "Smallest number of parameters.", "BUDGET")]
_To = Annotated[str, _under(_HAVE, "--to", "Largest number of parameters.", "BUDGET")]
_Points = Annotated[
    str, _option("--points", "How many sizes, evenly in the logarithm.", metavar="NUMBER")
]
_Csv = Annotated[Path | None, _path("--csv", "FILE", "Write the table as CSV; - prints it.")]
_Plot = Annotated[
    Path | None,
    _path("--plot", "FILE", "Draw it: laws, intervals, real models (.png, .svg or .pdf)."),
]


@_command(
    "sweep --from 100M --to 1T",
    "sweep --from 1B --to 100B --points 5 --csv depths.csv",
    "sweep --from 100M --to 1T --plot depth.svg",
    cls=_Sections,
)
def sweep(
    typed: typer.Context,
    least: _From,
    most: _To,
    points: _Points = "9",
    count: _Count = None,
    head_width: _HeadWidth = None,
    multiple: _Multiple = None,
    gqa: _Gqa = None,
    gated: _Gated = None,
    ff: _Factor = None,
    tied: _Tied = None,
    vocabulary: _Vocabulary = None,
    context: _Context = None,
    layers: _FixedLayers = None,
    width: _FixedWidth = None,
    loops: _Loops = None,
    encoder_decoder: _Stacks = False,
    experts: _Experts = None,
    active_experts: _Active = None,
    shared_experts: _Shared = None,
    expert_width: _ExpertWidth = None,
    dense_layers: _DenseLayers = None,
    tensor: _Tensor = None,
    pipeline: _Pipeline = None,
    parametrisation: _Parametrisation = None,
    norm: _Norm = None,
    residual: _Residual = None,
    latency_matters: _Matters = False,
    known_by: _KnownBy = None,
    csv: _Csv = None,
    plot: _Plot = None,
    force: _Force = False,
    as_json: _Json = False,
) -> int:
    """Recommend shapes over a range of sizes.

    As a table, CSV or plot.
    """
    from .depth_command import sweep as command

    return command(typed.params)


_Names = Annotated[
    list[str] | None,
    typer.Argument(
        metavar="MODEL...",
        help="Names of published models, or paths of config.json files.",
        autocompletion=completion.models,
    ),
]
_Listed = Annotated[bool, _option("--list", "Print the names of all published models listed here.")]


@_command(
    "compare llama-3-8b qwen3-8b",
    "compare my-model/config.json llama-3-8b --json",
    "compare --list",
)
def compare(names: _Names = None, listed: _Listed = False, as_json: _Json = False) -> int:
    """Count models or configurations side by side.

    Parameters, FLOPs, memory, and what the evidence and each law say of their depth.
    """
    from .compare import compare as command

    return command(names or [], as_json, listed)


# --- measure -------------------------------------------------------------------------------------


measure = _group("measure", "measure residual --model gpt2 --variant san --layers 24")
app.add_typer(measure, name="measure")


@measure.callback()
def _measure(context: typer.Context, as_json: _Json = False) -> int:
    """Measure real architectures layer by layer.

    Alone it lists models and variants.
    """
    if context.invoked_subcommand is not None:
        return 0
    from .measure import models

    return models(as_json)


_Model = Annotated[
    str,
    _option(
        "--model", "An architecture, such as gpt2; `depthlaw measure` lists them.", metavar="NAME"
    ),
]
_Variant = Annotated[
    str,
    _option("--variant", "What is removed, such as san (without skips and MLPs).", metavar="NAME"),
]
_SomeLayers = Annotated[int | None, _option("--layers", "Layers (12).")]
_SomeWidth = Annotated[int | None, _option("--width", "Width (768).")]
_SomeHeads = Annotated[int | None, _option("--heads", "Heads (12).")]
_Batch = Annotated[int, _option("--batch", "Sequences.")]
_InSequence = Annotated[int, _option("--tokens", "Tokens in each.")]
_Seeds = Annotated[int, _option("--seeds", "How many seeds, for intervals.")]
_MeasuredOn = Annotated[str, _option("--device", "cpu or cuda.")]
_Dtype = Annotated[str, _option("--dtype", "float32 or float64.")]
_Weights = Annotated[
    Path | None,
    _path("--weights", "FOLDER", "A folder with config.json and weights; else they are random."),
]
_Drawn = Annotated[Path | None, _path("--plot", "FILE", "Draw it (.png, .svg or .pdf).")]


@_command(
    "measure residual --model gpt2",
    "measure residual --model gpt2 --variant san --plot gpt2.svg",
    of=measure,
    name="residual",
)
def measure_residual(
    model: _Model = "",
    variant: _Variant = "full",
    layers: _SomeLayers = None,
    width: _SomeWidth = None,
    heads: _SomeHeads = None,
    batch: _Batch = 8,
    tokens: _InSequence = 128,
    seeds: _Seeds = 3,
    device: _MeasuredOn = "cpu",
    dtype: _Dtype = "float32",
    weights: _Weights = None,
    as_json: _Json = False,
    plot: _Drawn = None,
    force: _Force = False,
) -> int:
    """Measure how far tokens are from equal after each layer.

    Of an architecture, whole or with parts removed.
    """
    from .measure import residual

    return residual(
        model,
        variant,
        {"layers": layers, "width": width, "heads": heads},
        batch=batch,
        tokens=tokens,
        seeds=seeds,
        device=device,
        dtype=dtype,
        weights=weights,
        plot=plot,
        force=force,
        json_output=as_json,
    )


# --- loss surfaces -------------------------------------------------------------------------------


_Surface = Annotated[
    Path,
    typer.Argument(
        metavar="FILE",
        parser=_place,
        help="A CSV file with the columns width, depth, parameters, tokens, loss; more may be "
        "there.",
    ),
]
_Equal = Annotated[
    str,
    _option(
        "--budget",
        "What nets of one budget have in common: parameters (with tokens) or flops, as in "
        "--budget flops.",
        metavar="WHICH",
    ),
]
_Within = Annotated[
    str,
    _option("--tolerance", "How far sizes of one budget may differ, such as 5%.", metavar="SHARE"),
]
_SeedColumn = Annotated[
    str,
    _option(
        "--seed-column",
        "The column that tells trainings of one shape apart, such as run; else seed.",
        metavar="NAME",
    ),
]


@_command(
    "fit losses.csv",
    "fit losses.csv --seed-column run --tolerance 5% --plot losses.png",
    "fit losses.csv --budget flops",
)
def fit(
    file: _Surface,
    budget: _Equal = "parameters",
    tolerance: _Within = "10%",
    seed_column: _SeedColumn = "",
    as_json: _Json = False,
    plot: _Drawn = None,
    force: _Force = False,
) -> int:
    """Fit the losses of nets that you trained.

    The best depth of each budget with an interval, laws of width against depth, and every published
    rule beside them with a verdict.
    """
    from .fit import fit as command

    return command(
        file,
        budget=budget,
        tolerance=tolerance,
        seed_column=seed_column,
        plot=plot,
        force=force,
        json_output=as_json,
    )


# --- exercises -----------------------------------------------------------------------------------


_Exercise = Annotated[
    str, typer.Argument(metavar="NAME", help="An exercise, or all; without it they are listed.")
]
_Corpus = Annotated[
    Path | None,
    _path(
        "--corpus",
        "FILE",
        "Any text to train on; by default the sources of Python's standard library.",
    ),
]
_TrainedOn = Annotated[str, _option("--device", "cpu, or cuda for larger nets.")]
_Picture = Annotated[
    Path | None,
    _path("--plot", "FILE", "Draw what was measured (.png, .svg or .pdf); of all, a file each."),
]


@_command("exercise", "exercise layer-probing", "exercise all --corpus my-text.txt")
def exercise(
    name: _Exercise = "",
    corpus: _Corpus = None,
    device: _TrainedOn = "cpu",
    results: _Results = None,
    as_json: _Json = False,
    plot: _Picture = None,
    force: _Force = False,
) -> int:
    """Do an exercise on deep networks.

    Trains tiny language models for some minutes, prints what the text predicts, what was measured,
    and the verdicts. Killed, the same command goes on. Exit code 1 when a verdict is unexpected.
    """
    from .exercise_command import exercise as run

    return run(
        name, results, corpus=corpus, device=device, plot=plot, force=force, json_output=as_json
    )


# --- suites and claims ---------------------------------------------------------------------------


_Suite = Annotated[
    str,
    typer.Argument(
        help="quick, theory, full, frontier, exercises, training or gpu.",
        autocompletion=completion.suites,
    ),
]
_Only = Annotated[
    list[str] | None,
    _option(
        "--only",
        "A claim's key, or a topic; may be given several times.",
        autocompletion=completion.keys,
    ),
]
_OwnClaims = Annotated[
    Path | None,
    _path(
        "--claims", "FILE", "Run the claims of this Python file of yours; with --only also others."
    ),
]
_Quiet = Annotated[bool, _option("--quiet", "No progress, only the verdicts.")]
_Engine = Annotated[str, _option("--engine", "inline, pool (processes of this machine) or ray.")]
_Processes = Annotated[int, _option("--processes", "Processes of the pool; 0: one per core.")]
_Timeout = Annotated[
    float, _option("--timeout", "Seconds after which a run of the pool counts as hung.")
]
_MaxMemory = Annotated[
    str, _option("--max-memory", "Memory cap of each process of the pool, such as 4GB.")
]
_Minutes = Annotated[
    float | None, _option("--minutes", "Stop after this long; the records are kept.")
]
_Address = Annotated[str, _option("--address", "Ray cluster: local, auto, or its address.")]
_Gpus = Annotated[
    str | None, _option("--gpus", "Device ids for the pool, such as 0,1: one process each.")
]
_Memory = Annotated[
    str,
    _option("--memory", "Suite frontier: memory budget of all processes together, such as 8GB."),
]
_Device = Annotated[
    str,
    _option("--device", "Suites frontier and gpu: cpu, or cuda for eliminations and trainings."),
]
_GpusPerRun = Annotated[
    float, _option("--gpus-per-run", "Share of a GPU for each run on Ray, such as 0.25.")
]


@_command(
    "verify",
    "verify theory --minutes 10",
    "verify quick --only hops --only separation_rank/degree",
    "verify --claims walks.py",
    "verify full --engine ray --address auto",
    cls=_OfSuites,
)
def verify(
    suite: _Suite = "quick",
    only: _Only = None,
    own: _OwnClaims = None,
    corpus: _Corpus = None,
    results: _Results = None,
    as_json: _Json = False,
    quiet: _Quiet = False,
    engine: _Engine = "pool",
    processes: _Processes = 0,
    timeout: _Timeout = 3600.0,
    max_memory: _MaxMemory = "",
    minutes: _Minutes = None,
    address: _Address = "local",
    gpus: _Gpus = None,
    memory: _Memory = "",
    device: _Device = "cpu",
    gpus_per_run: _GpusPerRun = 0.0,
) -> int:
    """Run a suite of checks and print the verdicts.

    What is recorded is not run again. Suites that train need the extra empirics. Exit code 1 when a
    verdict is unexpected.
    """
    from ..running.options import Options
    from .verify import verify as run

    if gpus is not None and not gpus.strip():
        raise UsageError("--gpus names no device; give ids, such as --gpus 0,1, or leave it out")
    options = Options(
        engine,
        processes,
        timeout,
        max_memory,
        minutes,
        address,
        gpus or "",
        gpus_per_run,
        memory,
        device,
    )
    return run(
        suite,
        results,
        only=only or (),
        own=own,
        corpus=corpus,
        options=options,
        json_output=as_json,
        quiet=quiet,
    )


_Mention = Annotated[
    str, typer.Argument(help="List only claims that mention this.", autocompletion=completion.keys)
]


_EveryTier = Annotated[
    bool, _option("--all", "Also those that support the cited ones, and checks of our own code.")
]


@_command("claims", "claims recalled", "claims rank --all --json")
def claims(text: _Mention = "", everything: _EveryTier = False, as_json: _Json = False) -> int:
    """List the cited claims."""
    from . import lists as command

    return command.claims(text, as_json, everything=everything)


@_command("show hops", "show separation_rank/exact", "show walks/returns --claims walks.py")
def show(
    key: _KeyOrTopic, own: _Claims = None, results: _Results = None, as_json: _Json = False
) -> int:
    """Show one claim, or list those of a topic.

    Statement, source, conditions, how it is checked, verdict and cases.
    """
    from . import show as command

    return command.show(key, results, as_json, own)


_Whole = Annotated[bool, _option("--all", "Every case, step and record.")]


@_command(
    "why separation_rank/upper_bound_deep",
    "why trained_rank/floor_holds --all",
    "why hops/depth_corrected --json",
)
def why(
    key: _Key,
    whole: _Whole = False,
    own: _Claims = None,
    results: _Results = None,
    as_json: _Json = False,
) -> int:
    """Show what a verdict rests on, as a tree.

    Cases and their records, the steps of a proof, certificates, premises and what they rest on,
    sources, the negative control.
    """
    from . import show as command

    return command.why(key, results, as_json, own, whole=whole)


_Folder = Annotated[Path, typer.Argument(help="Folder to write.", parser=_place)]
_Printed = Annotated[
    str | None,
    _option(
        "--claims",
        "Exactly these claims: keys with commas between them, or a Python file with claims "
        "of your own.",
        metavar="WHICH",
    ),
]
_OfTopic = Annotated[
    str | None,
    _option("--topic", "Exactly the claims of this topic.", autocompletion=completion.topics),
]
_Complete = Annotated[bool, _option("--all", "The supplement: every claim.")]
_Published = Annotated[
    str,
    _option(
        "--suite",
        "From your own records of this suite, not from the reference ledger.",
        autocompletion=completion.suites,
    ),
]


@_command(
    "appendix out/",
    "appendix out/ --topic hops",
    "appendix out/ --claims separation_rank/exact,hops/depth_corrected",
    "appendix out/ --suite quick",
)
def appendix(
    directory: _Folder,
    claims: _Printed = None,
    topic: _OfTopic = None,
    everything: _Complete = False,
    suite: _Published = "",
    results: _Results = None,
    as_json: _Json = False,
) -> int:
    """Write what a paper attaches.

    PDF, HTML, LaTeX, figures, data, checklist.

    From the reference ledger, unless --suite or --results asks for records of your own. By
    default the headlines, six to ten pages.
    """
    from . import appendix_command as command

    return command.appendix(
        directory, claims, topic, suite, results, as_json, everything=everything
    )


_Search = Annotated[float, _option("--minutes", "How long to search.")]
_Weaken = Annotated[
    list[str] | None, _option("--weaken", "Replace a constant first, such as 4=0.4.")
]


@_command(
    "falsify rank_collapse/one_layer_cubic --minutes 5",
    "falsify rank_collapse/one_layer_cubic --weaken 4=0.4",
)
def falsify(
    key: _Key,
    minutes: _Search = 1.0,
    weaken: _Weaken = None,
    results: _Results = None,
    as_json: _Json = False,
) -> int:
    """Search for a counterexample of a claim.

    What is found is stored as a certificate. Exit code 1 for one that nobody expected.
    """
    from . import falsify_commands as command

    return command.falsify(key, minutes, weaken or [], results, as_json)


_Certificate = Annotated[Path, typer.Argument(help="A certificate.", parser=_place)]


@_command("recheck rank.json")
def recheck(path: _Certificate, as_json: _Json = False) -> int:
    """Verify a certificate from its file alone. Exit code 1 when it does not stand."""
    from . import falsify_commands as command

    return command.recheck(path, as_json)


_Width = Annotated[int, typer.Argument(help="d_x.")]
_Depth = Annotated[int, typer.Argument(help="L.")]
_Heads = Annotated[int, _option("--heads", "H.")]
_ToWrite = Annotated[Path, typer.Argument(help="File to write.")]


@_command("certify 3 3 rank.json", "certify 4 2 rank.json --heads 2 --force")
def certify(
    width: _Width, depth: _Depth, file: _ToWrite, heads: _Heads = 1, force: _Force = False
) -> int:
    """Write the certificate of a separation rank.

    A lower bound for nets of a shape and almost all weights, which `depthlaw recheck` verifies
    without an elimination.
    """
    from . import falsify_commands as command

    return command.certify(width, depth, file, heads, force)


_Keys = Annotated[
    list[str] | None,
    typer.Argument(help="Claim keys or topics; all by default.", autocompletion=completion.keys),
]
_Judged = Annotated[
    str,
    _option(
        "--suite", "The suite whose records are judged again.", autocompletion=completion.suites
    ),
]


@_command("mutate", "mutate hops --suite quick", "mutate separation_rank/degree --json")
def mutate(
    keys: _Keys = None, suite: _Judged = "theory", results: _Results = None, as_json: _Json = False
) -> int:
    """Perturb constants of statements and say what notices.

    Exit code 1 when an exact or argued claim has a survivor without a reason.
    """
    from . import falsify_commands as command

    return command.mutate(keys or (), suite, results, as_json)


_Sources = Annotated[
    list[str],
    typer.Argument(help="Claim keys or bibliography keys.", autocompletion=completion.sources),
]


@_command("cite hops/depth_corrected", "cite levine2020 dong2021")
def cite(keys: _Sources, as_json: _Json = False) -> int:
    """Print the BibTeX entries behind claims.

    Where a source is "depthlaw, after X", also that of X.
    """
    from . import lists as command

    return command.cite(keys, as_json)


records = _group("records list --claim hops", "records verify")
app.add_typer(records, name="records")


@records.callback()
def _records(context: typer.Context) -> None:
    """Look at what is recorded: list, show, verify, export, gc, diff."""
    if context.invoked_subcommand is None:
        typer.echo(context.get_help())


_OfClaim = Annotated[
    str, _option("--claim", "Only claims whose key contains this.", autocompletion=completion.keys)
]
_OfSuite = Annotated[
    str, _option("--suite", "Only what this suite asks for now.", autocompletion=completion.suites)
]


@_command(
    "records list",
    "records list --claim hops --results reference",
    "records list --suite quick --json",
    of=records,
    name="list",
)
def records_list(
    claim: _OfClaim = "", suite: _OfSuite = "", results: _Place = None, as_json: _Json = False
) -> int:
    """List records: id, claim, case, value."""
    from . import records_commands

    return records_commands.list_records(results, claim, suite, as_json)


_Start = Annotated[str, typer.Argument(metavar="ID", help="A record's id, or its beginning.")]


@_command("records show 69c73d33ce --results reference", of=records, name="show")
def records_show(start: _Start, results: _Place = None, as_json: _Json = False) -> int:
    """Show one record whole."""
    from . import records_commands

    return records_commands.show_record(start, results, as_json)


@_command("records verify", "records verify --results reference", of=records, name="verify")
def records_verify(results: _Place = None, as_json: _Json = False) -> int:
    """Verify every hash. Exit code 1 when something does not verify."""
    from . import records_commands

    return records_commands.verify_records(results, as_json)


_NewFile = Annotated[Path, typer.Argument(help="File to write.", parser=_place)]
_Form = Annotated[
    str, _option("--format", "csv, sqlite or parquet; by default what the file's name says.")
]


@_command(
    "records export records.csv",
    "records export reference.sqlite --results reference",
    of=records,
    name="export",
)
def records_export(
    file: _NewFile,
    form: _Form = "",
    force: _Force = False,
    results: _Place = None,
    as_json: _Json = False,
) -> int:
    """Write the records as one table, for other programs."""
    from . import records_commands

    return records_commands.export(file, form, results, force, as_json)


_Delete = Annotated[bool, _option("--delete", "Remove the records listed.")]


@_command("records gc", "records gc --delete", of=records, name="gc")
def records_gc(
    delete: _Delete = False, own: _Claims = None, results: _Results = None, as_json: _Json = False
) -> int:
    """List the records that no claim asks for now.

    Stale temporary files are removed.
    """
    from . import records_commands

    return records_commands.gc(results, delete, as_json, own)


_First = Annotated[
    Path,
    typer.Argument(
        metavar="A", parser=_place, help="Results folder, ledger file, or the word reference."
    ),
]
_Second = Annotated[Path, typer.Argument(metavar="B", parser=_place, help="The same.")]


@_command(
    "records diff reference ~/results",
    "records diff old-results new-results --json",
    of=records,
    name="diff",
)
def records_diff(first: _First, second: _Second, as_json: _Json = False) -> int:
    """Compare two collections of records run by run.

    Whatever code did them. Exit code 1 when they differ.
    """
    from . import records_commands

    return records_commands.diff(first, second, as_json)


@_command("doctor", "doctor --json")
def doctor(results: _Results = None, as_json: _Json = False) -> int:
    """Look for what is missing or out of order.

    Versions, extras, devices, threads, folders, and whether every record verifies and agrees with
    the ledger that comes with depthlaw. Exit code 1 when there is a problem.
    """
    from .doctor import doctor as command

    return command(results, as_json)


def main(arguments: list[str] | None = None) -> int:
    """Run a command and return its exit code: 0, 1 (something unexpected), 2 (usage, one line on
    stderr), 130 (interrupted)."""
    if sys.stdout is None:
        return _complain(
            "the output is closed, so that nothing can be printed; send it to a file, "
            "or to /dev/null"
        )
    try:
        code = int(app(arguments, prog_name="depthlaw", standalone_mode=False, **_narrow()) or 0)
        # Here, where a full disk can still be reported, rather than at the interpreter's exit.
        sys.stdout.flush()
        return code
    except UsageError as error:
        return _complain(str(error))
    except _ParserError as error:
        return _complain(_parser_message(error))
    except (typer.Abort, KeyboardInterrupt):
        return _complain("interrupted", 130)
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


def _narrow() -> dict[str, int]:
    """The width of help in a terminal that is narrower than the parser believes any to be."""
    columns = shutil.get_terminal_size().columns
    return {"terminal_width": max(columns, 20)} if columns < 52 else {}


# What writing to a full or failing disk says.
_NO_ROOM = (errno.ENOSPC, errno.EDQUOT, errno.EFBIG, errno.EIO)


def _abandon_output() -> None:
    """Send the rest nowhere; the interpreter would complain once more when it flushes."""
    os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())


def _parser_message(error: Any) -> str:
    """The parser's complaint as one line of our form."""
    message = " ".join(error.format_message().split()).rstrip(".")
    message = re.sub(
        r"Input should be a valid (integer|number).*",
        lambda kind: f"it is no {'whole ' * (kind[1] == 'integer')}number",
        message,
    )
    command = error.ctx.command_path if getattr(error, "ctx", None) else "depthlaw"
    end = "" if message.endswith("?") else ";"
    return f"{message[:1].lower()}{message[1:]}{end} `{command} --help` lists what is accepted"


def _complain(message: str, code: int = 2) -> int:
    with suppress(OSError):  # it may stand on the same full disk
        sys.stderr.write(f"error: {message}\n")
        sys.stderr.flush()
    return code


if __name__ == "__main__":
    sys.exit(main())

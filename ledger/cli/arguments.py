"""The command line: parses arguments and hands them to the module that does the work. Heavy imports
wait inside the commands."""
from __future__ import annotations

import errno
import json
import os
import shutil
import sys
from contextlib import suppress
from pathlib import Path
from typing import Annotated, Any

import typer

from depthlaw.advisor.quantities import UsageError, quoted

# The base of every complaint of the argument parser; typer does not export it by name.
_ParserError: type[Exception] = typer.BadParameter.__bases__[0]

app = typer.Typer(add_completion=False, rich_markup_mode=None, pretty_exceptions_enable=False)


def _print_version(wanted: bool) -> None:
    if wanted:
        from importlib.metadata import version

        typer.echo(f"depthlaw {version('depthlaw')}")
        raise typer.Exit


def _place(text: str) -> Path:
    """A file or folder as it was typed; an empty name would be the current folder."""
    if not text.strip():
        raise UsageError("the name of a file or folder is empty; give its path, or . for the "
                         "folder you are in")
    return Path(text).expanduser()


def _option(flag: str, text: str, **more: Any) -> Any:
    return typer.Option(flag, help=text, **more)


def _path(flag: str, what: str, text: str) -> Any:
    return typer.Option(flag, metavar=what, parser=_place, help=text)


_Flag = Annotated[bool, _option("--version", "Print the version.", is_eager=True,
                                callback=_print_version)]
_Budget = Annotated[str | None, typer.Argument(
    help="Parameters without embeddings, such as 1.3B, 350M or 7e9.")]
_Task = Annotated[str | None, _option(
    "--task", "connectivity (with --diameter) or hops (with --hops).")]
_Diameter = Annotated[str | None, _option(
    "--diameter", "Largest diameter of a component of the graph.")]
_Vertices = Annotated[str | None, _option(
    "--vertices", "Vertices of the graph, which one of the constructions depends on.")]
_Hops = Annotated[str | None, _option("--hops", "Number of hops k.")]
_Json = Annotated[bool, _option("--json", "Print JSON.")]
_Key = Annotated[str, typer.Argument(help="A claim's key.")]
_Results = Annotated[Path | None, _path(
    "--results", "DIR", "Results folder; by default depthlaw's folder among your data.")]
_Place = Annotated[Path | None, _path(
    "--results", "PLACE", "Results folder, a ledger file, or the word reference.")]
_Claims = Annotated[Path | None, _path(
    "--claims", "FILE", "A Python file with claims of your own (see CONTRIBUTING.md).")]
_Force = Annotated[bool, _option("--force", "Replace an existing file.")]


@app.callback(invoke_without_command=True)
def _depthlaw(context: typer.Context, version: _Flag = False) -> None:
    """Executable theorems on transformer depth: predict, measure, judge, cite."""
    if context.invoked_subcommand is None:
        typer.echo(context.get_help())


# An unknown option is taken as the budget, so that a negative one gets an answer about budgets.
@app.command(context_settings={"ignore_unknown_options": True})
def depth(budget: _Budget = None, task: _Task = None, diameter: _Diameter = None,
          vertices: _Vertices = None, hops: _Hops = None, as_json: _Json = False) -> None:
    """Recommend a minimum depth for a parameter budget, a task, or both, with the source of every
    number."""
    from depthlaw.advisor import answers as advice

    if budget and budget.startswith("--"):
        raise UsageError(f"no such option {quoted(budget)}; `depthlaw depth --help` lists the "
                         "options")
    answers = advice.answer(budget, task, diameter, hops, vertices)
    if as_json:
        typer.echo(json.dumps({"answers": [a.as_json() for a in answers]}, indent=2))
    else:
        narrow = shutil.get_terminal_size().columns if sys.stdout.isatty() else 80
        typer.echo(advice.as_text(answers, max(20, min(80, narrow))))


_Suite = Annotated[str, typer.Argument(help="quick, theory, full, frontier or gpu.")]
_Only = Annotated[list[str] | None, _option(
    "--only", "A claim's key, or a topic; may be given several times.")]
_OwnClaims = Annotated[Path | None, _path(
    "--claims", "FILE", "Run the claims of this Python file of yours; with --only also others.")]
_Quiet = Annotated[bool, _option("--quiet", "No progress, only the verdicts.")]
_Engine = Annotated[str, _option("--engine", "inline, pool (processes of this machine) or ray.")]
_Processes = Annotated[int, _option("--processes", "Processes of the pool; 0: one per core.")]
_Timeout = Annotated[float, _option(
    "--timeout", "Seconds after which a run of the pool counts as hung.")]
_MaxMemory = Annotated[str, _option(
    "--max-memory", "Memory cap of each process of the pool, such as 4GB.")]
_Minutes = Annotated[float | None, _option(
    "--minutes", "Stop after this long; the records are kept.")]
_Address = Annotated[str, _option("--address", "Ray cluster: local, auto, or its address.")]
_Gpus = Annotated[str, _option(
    "--gpus", "Device ids for the pool, such as 0,1: one process each.")]
_Memory = Annotated[str, _option(
    "--memory", "Suite frontier: memory budget of all processes together, such as 8GB.")]
_Device = Annotated[str, _option(
    "--device", "Suites frontier and gpu: cpu, or cuda for eliminations and trainings.")]
_GpusPerRun = Annotated[float, _option(
    "--gpus-per-run", "Share of a GPU for each run on Ray, such as 0.25.")]


@app.command()
def verify(suite: _Suite = "quick", only: _Only = None, own: _OwnClaims = None,
           results: _Results = None, as_json: _Json = False, quiet: _Quiet = False,
           engine: _Engine = "pool", processes: _Processes = 0, timeout: _Timeout = 3600.0,
           max_memory: _MaxMemory = "", minutes: _Minutes = None, address: _Address = "local",
           gpus: _Gpus = "", memory: _Memory = "", device: _Device = "cpu",
           gpus_per_run: _GpusPerRun = 0.0) -> int:
    """Run a suite of checks, skipping what is recorded, and print the verdicts. Exit code 1 when
    one is unexpected."""
    from ..run.options import Options
    from .verify import verify as run

    options = Options(engine, processes, timeout, max_memory, minutes, address, gpus, gpus_per_run,
                      memory, device)
    return run(suite, results, only=only or (), own=own, options=options, json_output=as_json,
               quiet=quiet)


_Mention = Annotated[str, typer.Argument(help="List only claims that mention this.")]


@app.command()
def claims(text: _Mention = "", as_json: _Json = False) -> int:
    """List the claims."""
    from . import lists as command

    return command.claims(text, as_json)


@app.command()
def show(key: _Key, own: _Claims = None, results: _Results = None, as_json: _Json = False) -> int:
    """Show one claim: statement, source, conditions, how it is checked, verdict and cases."""
    from . import show as command

    return command.show(key, results, as_json, own)


_Folder = Annotated[Path, typer.Argument(help="Folder to write.", parser=_place)]
_Published = Annotated[str, _option("--suite", "The suite whose records are published.")]
_Reference = Annotated[bool, _option(
    "--reference", "From the ledger that comes with depthlaw, not from your records.")]


@app.command()
def appendix(directory: _Folder, suite: _Published = "quick", results: _Results = None,
             as_json: _Json = False, reference: _Reference = False) -> int:
    """Write the appendix of a suite from its records: Markdown, LaTeX, macros, figure, references,
    manifest."""
    from . import appendix as command

    return command.appendix(directory, suite, results, as_json, from_reference=reference)


_Search = Annotated[float, _option("--minutes", "How long to search.")]
_Weaken = Annotated[list[str] | None, _option(
    "--weaken", "Replace a constant first, such as 4=0.4.")]


@app.command()
def falsify(key: _Key, minutes: _Search = 1.0, weaken: _Weaken = None, results: _Results = None,
            as_json: _Json = False) -> int:
    """Search for a counterexample; store what is found as a certificate. Exit code 1 for one that
    nobody expected."""
    from . import challenges as command

    return command.falsify(key, minutes, weaken or [], results, as_json)


_Certificate = Annotated[Path, typer.Argument(help="A certificate.", parser=_place)]


@app.command()
def recheck(path: _Certificate, as_json: _Json = False) -> int:
    """Verify a certificate from its file alone. Exit code 1 when it does not stand."""
    from . import challenges as command

    return command.recheck(path, as_json)


_Width = Annotated[int, typer.Argument(help="d_x.")]
_Depth = Annotated[int, typer.Argument(help="L.")]
_Heads = Annotated[int, _option("--heads", "H.")]
_ToWrite = Annotated[Path, typer.Argument(help="File to write.")]


@app.command()
def certify(width: _Width, depth: _Depth, file: _ToWrite, heads: _Heads = 1,
            force: _Force = False) -> int:
    """Write a certificate for the separation rank of nets of a shape, which `depthlaw recheck`
    verifies without an elimination."""
    from . import challenges as command

    return command.certify(width, depth, file, heads, force)


_Keys = Annotated[list[str] | None, typer.Argument(help="Claim keys; all by default.")]
_Judged = Annotated[str, _option("--suite", "The suite whose records are judged again.")]


@app.command()
def mutate(keys: _Keys = None, suite: _Judged = "theory", results: _Results = None,
           as_json: _Json = False) -> int:
    """Perturb every constant of the statements and say which verdicts turn. Exit code 1 when an
    exact claim has a survivor."""
    from . import challenges as command

    return command.mutate(keys or (), suite, results, as_json)


_Cited = Annotated[list[str], typer.Argument(help="Claim keys or bibliography keys.")]


@app.command()
def cite(keys: _Cited, as_json: _Json = False) -> int:
    """Print the BibTeX entries behind claims."""
    from . import lists as command

    return command.cite(keys, as_json)


records = typer.Typer(rich_markup_mode=None, invoke_without_command=True)
app.add_typer(records, name="records")


@records.callback()
def _records(context: typer.Context) -> None:
    """Look at what is recorded: list, show, verify, export, gc, diff."""
    if context.invoked_subcommand is None:
        typer.echo(context.get_help())


_OfClaim = Annotated[str, _option("--claim", "Only claims whose key contains this.")]
_OfSuite = Annotated[str, _option("--suite", "Only what this suite asks for now.")]


@records.command("list")
def records_list(claim: _OfClaim = "", suite: _OfSuite = "", results: _Place = None,
                 as_json: _Json = False) -> int:
    """List records: id, claim, case, value."""
    from . import archive

    return archive.list_records(results, claim, suite, as_json)


_Start = Annotated[str, typer.Argument(metavar="ID", help="A record's id, or its beginning.")]


@records.command("show")
def records_show(start: _Start, results: _Place = None, as_json: _Json = False) -> int:
    """Show one record whole."""
    from . import archive

    return archive.show_record(start, results, as_json)


@records.command("verify")
def records_verify(results: _Place = None, as_json: _Json = False) -> int:
    """Verify every hash. Exit code 1 when something does not verify."""
    from . import archive

    return archive.verify_records(results, as_json)


_NewFile = Annotated[Path, typer.Argument(help="File to write.", parser=_place)]
_Form = Annotated[str, _option(
    "--format", "csv, sqlite or parquet; by default what the file's name says.")]


@records.command("export")
def records_export(file: _NewFile, form: _Form = "", force: _Force = False,
                   results: _Place = None, as_json: _Json = False) -> int:
    """Write the records as one table, for other programs."""
    from . import archive

    return archive.export(file, form, results, force, as_json)


_Delete = Annotated[bool, _option("--delete", "Remove the records listed.")]


@records.command("gc")
def records_gc(delete: _Delete = False, own: _Claims = None, results: _Results = None,
               as_json: _Json = False) -> int:
    """Remove stale temporary files; list the records that no claim asks for now."""
    from . import archive

    return archive.gc(results, delete, as_json, own)


_First = Annotated[Path, typer.Argument(
    metavar="A", parser=_place, help="Results folder, ledger file, or the word reference.")]
_Second = Annotated[Path, typer.Argument(metavar="B", parser=_place, help="The same.")]


@records.command("diff")
def records_diff(first: _First, second: _Second, as_json: _Json = False) -> int:
    """Compare two collections run by run, whatever code did them. Exit code 1 when they differ."""
    from . import archive

    return archive.diff(first, second, as_json)


def main(arguments: list[str] | None = None) -> int:
    """Run a command and return its exit code: 0, 1 (something unexpected), 2 (usage, one line on
    stderr), 130 (interrupted)."""
    # None where whoever started it closed it.
    sys.stdout = sys.stdout or open(os.devnull, "w", encoding="utf-8")  # noqa: SIM115
    try:
        code = int(app(arguments, prog_name="depthlaw", standalone_mode=False) or 0)
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
        return _complain(f"the output cannot be written ({error.strerror}); what was recorded "
                         "before is kept")


# What writing to a full or failing disk says.
_NO_ROOM = (errno.ENOSPC, errno.EDQUOT, errno.EFBIG, errno.EIO)


def _abandon_output() -> None:
    """Send the rest nowhere; the interpreter would complain once more when it flushes."""
    os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())


def _parser_message(error: Any) -> str:
    """The parser's complaint as one line of our form."""
    message = " ".join(error.format_message().split()).rstrip(".?")
    command = error.ctx.command_path if getattr(error, "ctx", None) else "depthlaw"
    return f"{message[:1].lower()}{message[1:]}; `{command} --help` lists what is accepted"


def _complain(message: str, code: int = 2) -> int:
    with suppress(OSError):  # it may stand on the same full disk
        sys.stderr.write(f"error: {message}\n")
        sys.stderr.flush()
    return code


if __name__ == "__main__":
    sys.exit(main())

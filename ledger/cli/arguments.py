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
    """A file or folder as it was typed. Nothing typed would be the folder one happens to stand
    in."""
    if not text.strip():
        raise UsageError("the name of a file or folder is empty; give its path, or . for the "
                         "folder you are in")
    return Path(text).expanduser()


@app.callback(invoke_without_command=True)
def _depthlaw(context: typer.Context,
              version: Annotated[bool,
                                 typer.Option("--version", help="Print the version.", is_eager=True,
                                              callback=_print_version)] = False) -> None:
    """Executable theorems on transformer depth: predict, measure, judge, cite."""
    if context.invoked_subcommand is None:
        typer.echo(context.get_help())


# An unknown option is taken as the budget, so that a negative one gets an answer about budgets.
@app.command(context_settings={"ignore_unknown_options": True})
def depth(budget: Annotated[str | None,
                            typer.Argument(help="Parameters without embeddings, such as 1.3B, 350M "
                                                "or 7e9.")] = None,
          task: Annotated[str | None,
                          typer.Option(
                              help="connectivity (with --diameter) or hops (with --hops).")] = None,
          diameter: Annotated[str | None,
                              typer.Option(
                                  help="Largest diameter of a component of the graph.")] = None,
          vertices: Annotated[str | None,
                              typer.Option(help="Vertices of the graph, which one of the "
                                                "constructions depends on.")] = None,
          hops: Annotated[str | None, typer.Option(help="Number of hops k.")] = None,
          as_json: Annotated[bool, typer.Option("--json", help="Print JSON.")] = False) -> None:
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


_Results = Annotated[Path | None,
                     typer.Option("--results", metavar="DIR", parser=_place,
                                  help="Results folder; by default depthlaw's folder among your "
                                       "data.")]
_Claims = Annotated[Path | None,
                    typer.Option(
                        "--claims", metavar="FILE", parser=_place,
                        help="A Python file with claims of your own (see CONTRIBUTING.md).")]
_Json = Annotated[bool, typer.Option("--json", help="Print JSON.")]


@app.command()
def verify(
    suite: Annotated[str, typer.Argument(help="quick, theory, full, frontier or gpu.")] = "quick",
    only: Annotated[list[str] | None,
                    typer.Option(
                        "--only",
                        help="A claim's key, or a topic; may be given several times.")] = None,
    own: Annotated[Path | None,
                   typer.Option("--claims", metavar="FILE", parser=_place,
                                help="Run the claims of this Python file of yours; with --only "
                                     "also others.")] = None, results: _Results = None,
    as_json: _Json = False,
    quiet: Annotated[bool, typer.Option("--quiet", help="No progress, only the verdicts.")] = False,
    engine: Annotated[
        str,
        typer.Option("--engine", help="inline, pool (processes of this machine) or ray.")] = "pool",
    processes: Annotated[
        int, typer.Option("--processes", help="Processes of the pool; 0: one per core.")] = 0,
    timeout: Annotated[float,
                       typer.Option(
                           "--timeout",
                           help="Seconds after which a run of the pool counts as hung.")] = 3600.0,
    max_memory: Annotated[str,
                          typer.Option(
                              "--max-memory",
                              help="Memory cap of each process of the pool, such as 4GB.")] = "",
    minutes: Annotated[float | None,
                       typer.Option("--minutes",
                                    help="Stop after this long; the records are kept.")] = None,
    address: Annotated[
        str, typer.Option("--address", help="Ray cluster: local, auto, or its address.")] = "local",
    gpus: Annotated[str,
                    typer.Option(
                        "--gpus",
                        help="Device ids for the pool, such as 0,1: one process each.")] = "",
    memory: Annotated[str,
                      typer.Option("--memory",
                                   help="Suite frontier: memory budget of all processes together, "
                                        "such as 8GB.")] = "",
    device: Annotated[str,
                      typer.Option("--device",
                                   help="Suites frontier and gpu: cpu, or cuda for eliminations "
                                        "and trainings.")] = "cpu",
    gpus_per_run: Annotated[float,
                            typer.Option(
                                "--gpus-per-run",
                                help="Share of a GPU for each run on Ray, such as 0.25.")] = 0.0,
) -> int:
    """Run a suite of checks, skipping what is recorded, and print the verdicts. Exit code 1 when
    one is unexpected."""
    from ..run.options import Options
    from .verify import verify as run

    options = Options(engine, processes, timeout, max_memory, minutes, address, gpus, gpus_per_run,
                      memory, device)
    return run(suite, results, only=only or (), own=own, options=options, json_output=as_json,
               quiet=quiet)


@app.command()
def claims(text: Annotated[str, typer.Argument(help="List only claims that mention this.")] = "",
           as_json: _Json = False) -> int:
    """List the claims."""
    from . import lists as command

    return command.claims(text, as_json)


@app.command()
def show(key: Annotated[str, typer.Argument(help="A claim's key.")], own: _Claims = None,
         results: _Results = None, as_json: _Json = False) -> int:
    """Show one claim: statement, source, conditions, how it is checked, verdict and cases."""
    from . import show as command

    return command.show(key, results, as_json, own)


@app.command()
def appendix(directory: Annotated[Path, typer.Argument(help="Folder to write.", parser=_place)],
             suite: Annotated[
                 str,
                 typer.Option("--suite", help="The suite whose records are published.")] = "quick",
             results: _Results = None, as_json: _Json = False,
             reference: Annotated[bool,
                                  typer.Option("--reference",
                                               help="From the ledger that comes with depthlaw, not "
                                                    "from your records.")] = False) -> int:
    """Write the appendix of a suite from its records: Markdown, LaTeX, macros, figure, references,
    manifest."""
    from . import appendix as command

    return command.appendix(directory, suite, results, as_json, from_reference=reference)


@app.command()
def falsify(key: Annotated[str, typer.Argument(help="A claim's key.")],
            minutes: Annotated[float, typer.Option("--minutes", help="How long to search.")] = 1.0,
            weaken: Annotated[list[str] | None,
                              typer.Option("--weaken",
                                           help="Replace a constant first, such as 4=0.4.")] = None,
            results: _Results = None, as_json: _Json = False) -> int:
    """Search for a counterexample; store what is found as a certificate. Exit code 1 for one that
    nobody expected."""
    from . import challenges as command

    return command.falsify(key, minutes, weaken or [], results, as_json)


@app.command()
def recheck(path: Annotated[Path, typer.Argument(help="A certificate.", parser=_place)],
            as_json: _Json = False) -> int:
    """Verify a certificate from its file alone. Exit code 1 when it does not stand."""
    from . import challenges as command

    return command.recheck(path, as_json)


@app.command()
def certify(width: Annotated[int, typer.Argument(help="d_x.")],
            depth: Annotated[int, typer.Argument(help="L.")],
            file: Annotated[Path, typer.Argument(help="File to write.")],
            heads: Annotated[int, typer.Option("--heads", help="H.")] = 1,
            force: Annotated[
                bool, typer.Option("--force", help="Replace an existing file.")] = False) -> int:
    """Write a certificate for the separation rank of nets of a shape, which `depthlaw recheck`
    verifies without an elimination."""
    from . import challenges as command

    return command.certify(width, depth, file, heads, force)


@app.command()
def mutate(
    keys: Annotated[list[str] | None, typer.Argument(help="Claim keys; all by default.")] = None,
    suite: Annotated[
        str, typer.Option("--suite", help="The suite whose records are judged again.")] = "theory",
    results: _Results = None, as_json: _Json = False,
) -> int:
    """Perturb every constant of the statements and say which verdicts turn. Exit code 1 when an
    exact claim has a survivor."""
    from . import challenges as command

    return command.mutate(keys or (), suite, results, as_json)


@app.command()
def cite(keys: Annotated[list[str], typer.Argument(help="Claim keys or bibliography keys.")],
         as_json: _Json = False) -> int:
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


_Place = Annotated[Path | None,
                   typer.Option("--results", metavar="PLACE", parser=_place,
                                help="Results folder, a ledger file, or the word reference.")]


@records.command("list")
def records_list(claim: Annotated[str,
                                  typer.Option(
                                      "--claim", help="Only claims whose key contains this.")] = "",
                 suite: Annotated[
                     str, typer.Option("--suite", help="Only what this suite asks for now.")] = "",
                 results: _Place = None, as_json: _Json = False) -> int:
    """List records: id, claim, case, value."""
    from . import archive

    return archive.list_records(results, claim, suite, as_json)


@records.command("show")
def records_show(start: Annotated[
                     str, typer.Argument(metavar="ID", help="A record's id, or its beginning.")],
                 results: _Place = None, as_json: _Json = False) -> int:
    """Show one record whole."""
    from . import archive

    return archive.show_record(start, results, as_json)


@records.command("verify")
def records_verify(results: _Place = None, as_json: _Json = False) -> int:
    """Verify every hash. Exit code 1 when something does not verify."""
    from . import archive

    return archive.verify_records(results, as_json)


@records.command("export")
def records_export(file: Annotated[Path, typer.Argument(help="File to write.", parser=_place)],
                   form: Annotated[str,
                                   typer.Option(
                                       "--format",
                                       help="csv, sqlite or parquet; by default what the file's "
                                            "name says.")] = "",
                   force: Annotated[
                       bool, typer.Option("--force", help="Replace an existing file.")] = False,
                   results: _Place = None, as_json: _Json = False) -> int:
    """Write the records as one table, for other programs."""
    from . import archive

    return archive.export(file, form, results, force, as_json)


@records.command("gc")
def records_gc(delete: Annotated[
                   bool, typer.Option("--delete", help="Remove the records listed.")] = False,
               own: _Claims = None, results: _Results = None, as_json: _Json = False) -> int:
    """Remove stale temporary files; list the records that no claim asks for now."""
    from . import archive

    return archive.gc(results, delete, as_json, own)


@records.command("diff")
def records_diff(first: Annotated[Path,
                                  typer.Argument(
                                      metavar="A", parser=_place,
                                      help="Results folder, ledger file, or the word reference.")],
                 second: Annotated[Path,
                                   typer.Argument(metavar="B", parser=_place, help="The same.")],
                 as_json: _Json = False) -> int:
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
        # Here, where a full disk can still be told of, rather than at the interpreter's exit.
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
    """Send the rest of the output nowhere; the interpreter would complain once more when it
    flushes."""
    os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())


def _parser_message(error: Any) -> str:
    """The parser's complaint as one line of our form, pointing to the help of the command that was
    typed."""
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

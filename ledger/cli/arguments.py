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
import tomllib
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import suppress
from functools import cache, partial
from importlib import import_module
from pathlib import Path
from typing import Any

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
    """A command whose help ends with examples, and that takes no flag together with its opposite.
    What `depth` and `sweep` take stands below headings."""

    def parse_args(self, ctx: Any, args: list[str]) -> list[str]:
        if self.name == "depth":
            # What starts with one hyphen is its budget, so that a negative one gets an answer about
            # budgets. With two it is an option, and an unknown one is refused as elsewhere.
            ctx.ignore_unknown_options = True
            parsed, rest, _ = self.make_parser(ctx).parse_args(args=list(args))
            ctx.ignore_unknown_options = not any(
                text.startswith("--") for text in (parsed.get("budget") or "", *rest)
            )
        for parameter in self.get_params(ctx):
            for yes, no in zip(parameter.opts, parameter.secondary_opts, strict=False):
                if yes in args and no in args:
                    raise UsageError(f"{yes} and {no} contradict each other; give one of them")
        return super().parse_args(ctx, args)

    def format_options(self, ctx: Any, formatter: Any) -> None:
        if ctx.command_path == "depthlaw verify":
            with formatter.section("Suites (times: about, on two cores)"):
                formatter.write_dl(list(completion.SUITES.items()))
        if self.name not in ("depth", "sweep"):
            super().format_options(ctx, formatter)
            return
        sections: dict[str, list[tuple[str, str]]] = {}
        for parameter in self.get_params(ctx):
            if record := parameter.get_help_record(ctx):
                heading = getattr(parameter, "rich_help_panel", None) or "Output"
                sections.setdefault(heading, []).append(record)
        sections["Output"] = sections.pop("Output")  # last
        for heading, rows in sections.items():
            with formatter.section(heading):
                formatter.write_dl(rows)


class _Group(_WithExamples, TyperGroup):
    """Commands under one name, whose help ends with examples. Interrupted, they abort: newer
    parsers turn Ctrl-C into an exit without a word."""

    def format_options(self, ctx: Any, formatter: Any) -> None:
        """Options stand below the commands."""
        self.format_commands(ctx, formatter)
        TyperCommand.format_options(self, ctx, formatter)  # type: ignore[arg-type]

    def format_commands(self, ctx: Any, formatter: Any) -> None:
        """Each with its first sentence, whole, below the heading of its group."""
        groups: dict[str, list[tuple[str, str]]] = {}
        order, path = list(_RUNS), ctx.command_path.split()[1:]
        # The parser would list groups of commands last.
        for name in sorted(self.commands, key=lambda name: order.index(" ".join([*path, name]))):
            command = self.commands[name]
            row = (name, command.get_short_help_str(10**3))
            panel = getattr(command, "rich_help_panel", None) or "Commands"
            groups.setdefault(panel, []).append(row)
        for heading, rows in groups.items():
            with formatter.section(heading):
                formatter.write_dl(rows)

    def invoke(self, ctx: Any) -> Any:
        try:
            return super().invoke(ctx)
        except KeyboardInterrupt as stop:
            raise typer.Abort(str(stop)) from None


# --- commands as the table declares them ----------------------------------------------------------

# What does the work of each command, "module.function" of this folder, which takes the parameters
# that commands.toml lists and is imported when it is called; a group of commands stands before
# them, with what it does alone.
_RUNS = {
    "depth": "depth_command.depth",
    "compare": "compare_command.compare",
    "fit": "fit_command.fit",
    "audit": "audit_command.audit",
    "tasks": "tasks_command.list_tasks",
    "tasks list": "tasks_command.list_tasks",
    "tasks check": "check_command.check",
    "tasks language": "tasks_command.language",
    "claims": "claim_commands.claims",
    "show": "claim_commands.show",
    "verify": "suite_command.verify",
    "appendix": "appendix_command.appendix",
    "cite": "claim_commands.cite",
    "doctor": "doctor_command.doctor",
    "why": "claim_commands.why",
    "sweep": "depth_command.sweep",
    "exercise": "exercise_command.exercise",
    "measure": "measure_commands.measure",
    "measure residual": "measure_commands.residual",
    "measure hops": "measure_commands.hops",
    "falsify": "falsify_commands.falsify",
    "recheck": "falsify_commands.recheck",
    "certify": "falsify_commands.certify",
    "mutate": "falsify_commands.mutate",
    "records": "",
    "records list": "records_commands.list_records",
    "records show": "records_commands.show_record",
    "records verify": "records_commands.verify_records",
    "records export": "records_commands.export",
    "records gc": "records_commands.gc",
    "records diff": "records_commands.diff",
}
_KEYWORD = inspect.Parameter.KEYWORD_ONLY
_KINDS = {"texts": list[str], "whole": int, "number": float, "flag": bool, "path": Path}


@cache
def _declared() -> dict[str, Any]:
    """What commands.toml says, by command."""
    return tomllib.loads(Path(__file__).with_name("commands.toml").read_text(encoding="utf-8"))


def _parameters(name: str) -> Iterator[inspect.Parameter]:
    """What a command takes."""
    declared = _declared()
    for key, own in declared[name].get("takes", {}).items():
        if key == "question":
            yield from _of_question(whole=name == "depth")
        else:
            yield _parameter(key, declared["shared"].get(key, {}) | own)


def _parameter(name: str, facts: Mapping[str, Any]) -> inspect.Parameter:
    """A parameter as the parser takes it; `facts` are the fields of commands.toml."""
    kind: Any = _KINDS[facts["kind"]] if "kind" in facts else str
    default = False if kind is bool else None
    value = ... if facts.get("required") else facts.get("default", default)
    more = {
        "help": facts["help"],
        "metavar": facts.get("takes"),
        "parser": _place if kind is Path else None,
        "autocompletion": completion.OFFERS[facts["offers"]] if "offers" in facts else None,
        "rich_help_panel": facts.get("heading"),
    }
    if facts.get("argument"):
        given = typer.Argument(value, **more)
    else:
        typed = facts.get("typed") or f"--{name.replace('_', '-')}"
        given = typer.Option(value, typed, **more)
    annotation = kind if value is not None else kind | None
    return inspect.Parameter(name, _KEYWORD, default=given, annotation=annotation)


def _of_question(*, whole: bool) -> Iterator[inspect.Parameter]:
    """The options of a Question; `whole`: also those that say what there is to spend, or a task.
    All but paths are read as text by the module that knows what is accepted."""
    from depthlaw.advisor.question import HAVE, OPTIONS, of_sizes

    for option in OPTIONS:
        facts = option.metadata
        if "heading" not in facts or not (whole or of_sizes(option)):
            continue
        unit, heading = facts["unit"], facts["heading"]
        made = {"help": facts["text"], "takes": unit, "heading": heading}
        made |= {"typed": facts.get("flags"), "argument": option.name == "budget"}
        if heading == HAVE and not whole:
            made["heading"] = "Sizes"
        if option.name in ("gpu", "task"):
            made["offers"] = f"{option.name}s"
        if unit is None:
            made |= {"kind": "flag", "default": None if "flags" in facts else False}
        elif unit in ("FILE", "PATH", "DIR"):
            made["kind"] = "path"
        yield _parameter(option.name, made)


def _callback(name: str) -> Callable[..., Any]:
    """What runs a command or, where nothing stands behind it, a group of commands."""
    module, _, function = _RUNS[name].partition(".")

    def command(**given: Any) -> Any:
        return getattr(import_module(f".{module}", __package__), function)(**given)

    def group(context: typer.Context, **given: Any) -> None:
        named = context.invoked_subcommand
        if named is None and module:
            command(**given)
        elif named is None:
            typer.echo(context.get_help())
        elif name == "tasks":
            _refuse_misplaced(named, **given)

    first = inspect.Parameter("context", _KEYWORD, annotation=typer.Context)
    called: Any = group if _is_group(name) else command
    called.__doc__ = _declared()[name]["help"]
    called.__signature__ = inspect.Signature([*[first] * _is_group(name), *_parameters(name)])
    return called


def _is_group(name: str) -> bool:
    return any(other.startswith(f"{name} ") for other in _RUNS)


def _refuse_misplaced(
    named: str, known_by: int | None, tables: Path | None, json_output: bool
) -> None:
    """Raises where an option of `tasks` stands before the command that takes it."""
    if known_by is not None and named != "list":
        raise UsageError(
            "--known-by belongs to the list: `depthlaw tasks list TASK --known-by YEAR`"
        )
    for option, value in (("--known-by", known_by), ("--atlas", tables), ("--json", json_output)):
        if value not in (None, False):
            typed = option if value is True else f"{option} {value}"
            raise UsageError(f"{option} comes last: `depthlaw tasks {named} {typed}`")


def _print_version(wanted: bool) -> None:
    if wanted:
        from importlib.metadata import version

        typer.echo(f"depthlaw {version('depthlaw')}")
        raise typer.Exit


def _depthlaw(
    context: typer.Context,
    version: bool = typer.Option(
        False, "--version", help="Print the version.", is_eager=True, callback=_print_version
    ),
) -> None:
    """Recommend the depth of a transformer, audit trained ones, and check theorems on depth."""
    if context.invoked_subcommand is None:
        typer.echo(context.get_help())


_EXAMPLES = """
depth 3B --gpu H100 --gpus 64 --time "2 weeks"
audit FOLDER --text held-out.txt
show separation_rank/upper_bound_deep
"""


def _commands(examples: str, callback: Callable[..., Any], **more: Any) -> typer.Typer:
    """A group of commands, so far without any."""
    made = typer.Typer(
        cls=_Group,
        epilog=examples.strip(),
        rich_markup_mode=None,
        invoke_without_command=True,
        **more,
    )
    made.callback()(callback)
    return made


@cache
def parser(word: str = "") -> Any:
    """The parser of one command, or of a group of commands; of all where the word names none. To
    make that of all takes longer than many a command."""
    app = _commands(_EXAMPLES, _depthlaw, pretty_exceptions_enable=False)
    groups = {"": app}
    for name in [name for name in _RUNS if name.split()[0] == word] or _RUNS:
        before, _, last = name.rpartition(" ")
        examples, group = _declared()[name]["examples"], _declared()[name].get("group")
        if _is_group(name):
            groups[name] = _commands(examples, _callback(name))
            app.add_typer(groups[name], name=name, rich_help_panel=group)
        else:
            declared = groups[before].command(
                last, cls=_Command, epilog=examples.strip(), rich_help_panel=group
            )
            declared(_callback(name))
    return typer.main.get_command(app)


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
            f"{quoted(text)} names the home folder of an unknown user; give the whole path"
        ) from None


# --- from what was typed to an exit code ----------------------------------------------------------


def main(arguments: list[str] | None = None) -> int:
    """Run a command and return its exit code: 0, 1 (something unexpected), 2 (usage, one line on
    stderr), 130 (interrupted)."""
    if sys.stdout is None:
        return _complain("the output is closed; send it to a file, or to /dev/null")
    never_refuse(sys.stdout, sys.stderr)
    # Almost everything that a command makes lives until it ends: looking through it for garbage
    # again and again, and once more at the end, would take a quarter of its time.
    gc.set_threshold(100_000, 100, 100)
    atexit.register(gc.freeze)
    # The parser believes that no terminal is narrower than this.
    columns = shutil.get_terminal_size().columns
    narrow = {"terminal_width": max(columns, 20)} if columns < 52 else {}
    words = sys.argv[1:] if arguments is None else arguments
    try:
        with stoppable(None):
            code = int(
                parser(*words[:1])(arguments, "depthlaw", standalone_mode=False, **narrow) or 0
            )
        # Here, where a full disk can still be reported, rather than at the interpreter's exit.
        sys.stdout.flush()
        return code
    except (UsageError, _NoPlaceError) as error:
        return _complain(str(error))
    except _ParserError as error:
        return _complain(_parser_message(error, words))
    except (typer.Abort, KeyboardInterrupt) as stop:
        return _complain(str(stop) or "interrupted", 130)
    except (BrokenPipeError, SystemExit) as stop:
        # The reader of a pipe went away (| head), which the parser and rich turn into an exit.
        if BrokenPipeError not in (type(stop), type(stop.__context__)):
            raise
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


# What writing to a full or failing disk says.
_NO_ROOM = (errno.ENOSPC, errno.EDQUOT, errno.EFBIG, errno.EIO)


def _abandon_output() -> None:
    """Send the rest nowhere; the interpreter would complain once more when it flushes."""
    os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())


# What the least and the most of something are also called.
_ENDS = {"min": "least", "max": "most"}
# What the parser says, by the commands that it says it of, and what is said instead.
_OF_DEPTHS = "depthlaw (depth|sweep)"
_REWORDED: tuple[tuple[str, str, str | Callable[[re.Match[str]], str]], ...] = (
    (".*", "Input should be a valid integer.*", "it is not a whole number"),
    (".*", "Input should be a valid number.*", "it is not a number"),
    # As help names it.
    (".*", r"^Missing argument '\w+", lambda it: it[0][:18] + it[0][18:].upper()),
    (
        _OF_DEPTHS,
        r"(No such option: --(min|max)\w*-(?:layers|depth)\b).*",
        lambda it: f"{it[1]} (did you mean --{_ENDS[it[2]]}-layers?)",
    ),
    (_OF_DEPTHS, r"(No such option: --depth) \(.*\)", r"\1 (did you mean --layers?)"),
    (
        _OF_DEPTHS,
        r"(No such option: --(?:\w+-)?kv-heads\b).*",
        r"\1 (did you mean --gqa, the query heads per key-value head?)",
    ),
    (
        _OF_DEPTHS,
        r"(No such option: --(?:params|parameters|size)\b).*",
        r"\1 (a size stands alone, as in depthlaw depth 7e9)",
    ),
    (
        "depthlaw certify",
        r"^No such option: -\d.*",
        "The width is 1 or more and the depth 1 to 6, as in certify 3 3 FILE",
    ),
)


def _parser_message(error: Any, words: list[str]) -> str:
    """The parser's complaint of what was typed as one line of our form."""
    message = " ".join(error.format_message().split()).rstrip(".")
    command = error.ctx.command_path if getattr(error, "ctx", None) else _command_of(words)
    if command == "depthlaw tasks" and (word := re.match("No such command '([\\w-]+)'", message)):
        from depthlaw.advisor.atlas import atlas

        if near := atlas().nearest_tasks(word[1]):
            return f"no such command {word[1]!r}; try `depthlaw tasks list {near[0]}`"
    if command == "depthlaw show" and message == "Option '--at' requires an argument":
        key = next((word for word in words[1:] if not word.startswith("-")), "KEY")
        return (
            "--at without a value; give names with values, such as --at width=768 depth=6,12; "
            f"`depthlaw claims {key}` lists the names"
        )
    for of, said, instead in _REWORDED:
        if re.fullmatch(of, command):
            message = re.sub(said, instead, message)
    end = "" if message.endswith("?") else ";"
    return f"{message[:1].lower()}{message[1:]}{end} `{command} --help` lists what is accepted"


def _command_of(words: list[str]) -> str:
    """The command that was typed, with what stands before it.

    >>> _command_of(["tasks", "list", "--atlas"]), _command_of(["--nothing"])
    ('depthlaw tasks list', 'depthlaw')
    """
    command, path = parser(*words[:1]), ["depthlaw"]
    for word in words:
        if (command := getattr(command, "commands", {}).get(word)) is None:
            break
        path.append(word)
    return " ".join(path)


def _complain(message: str, code: int = 2) -> int:
    with suppress(OSError):  # it may stand on the same full disk
        sys.stderr.write(f"error: {message}\n")
        sys.stderr.flush()
    return code


if __name__ == "__main__":
    sys.exit(main())

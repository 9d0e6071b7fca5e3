"""What the command line says of itself: examples that parse, and what a shell offers."""

import inspect
import os
import pkgutil
import re
import shlex
import subprocess
import sys

import pytest

from depthlaw.ledger.cli import arguments, completion
from depthlaw.ledger.cli.arguments import main, parser
from depthlaw.ledger.running.claims_index import claims_index
from depthlaw.theory.claims.code_version import write_cache
from depthlaw.theory.claims.definition import SUITES, topics


def commands(group, path=()):
    for name, command in group.commands.items():
        yield (*path, name), command
        if hasattr(command, "commands"):
            yield from commands(command, (*path, name))


COMMANDS = dict(commands(parser()))


@pytest.mark.parametrize("path", COMMANDS, ids=" ".join)
def test_every_command_has_examples_that_parse(path):
    command = COMMANDS[path]
    examples = (command.epilog or "").splitlines()
    assert examples
    for example in examples:
        words = shlex.split(example)
        target, place = COMMANDS[tuple(words[:1])], 1
        if hasattr(target, "commands") and len(words) > 1:
            target, place = target.commands[words[1]], 2
        assert words[: len(path)] == list(path)
        # Parsed, not carried out: an unknown option or a missing argument raises.
        target.make_context(" ".join(words[:place]), words[place:])
        assert len(f"  depthlaw {example}") <= 80


@pytest.mark.parametrize("name", [name for name, runs in arguments._RUNS.items() if runs])
def test_what_does_the_work_takes_what_is_declared(name):
    function = pkgutil.resolve_name(f"depthlaw.ledger.cli.{arguments._RUNS[name]}")
    declared = COMMANDS[tuple(name.split())].params
    inspect.signature(function).bind(**dict.fromkeys(each.name for each in declared))


def test_keys_in_examples_exist():
    of_claims = {key.partition("/")[0] for key in claims_index()}
    named = {
        word
        for command in COMMANDS.values()
        for line in command.epilog.splitlines()
        for option in shlex.split(line)
        for word in option.split(",")
        if word.partition("/")[0] in of_claims
    }
    assert named <= claims_index().keys() | of_claims


@pytest.mark.parametrize("columns", ["40", "80"])
def test_help_keeps_within_the_terminal_but_for_examples(columns, capsys, monkeypatch):
    monkeypatch.setenv("COLUMNS", columns)
    for path in [(), *COMMANDS]:
        assert main([*path, "--help"]) == 0
        text, _, examples = capsys.readouterr().out.partition("\nExamples:\n")
        assert examples.startswith("  depthlaw ")
        assert max(map(len, text.splitlines())) <= int(columns), path
        said = " ".join(text.split())
        # Whole sentences, names of values, and no word broken at a hyphen.
        assert not re.search(r"[a-z]\.\.\. |<\w+|\{\w+\}|\w- \w", said), path
        for below, command in COMMANDS.items():
            if below[:-1] == tuple(path):
                assert " ".join(command.help.partition(".")[0].split()) in said, below


def test_help_lists_the_jobs_before_what_maintainers_need(capsys):
    assert main(["--help"]) == 0
    jobs, *groups = capsys.readouterr().out.partition("Commands:\n")[2].split("\n\n")
    named = " ".join(line.split()[0] for line in jobs.splitlines() if line[2] != " ")
    assert named == "depth compare fit audit tasks claims show verify appendix cite doctor"
    kept = next(group for group in groups if group.startswith("For maintainers"))
    assert {"certify", "recheck", "mutate", "falsify", "records"} <= set(kept.split())


def test_offers_are_keys_topics_suites_and_names():
    assert completion.keys("") == completion.topics("")
    assert {name for name, _ in completion.topics("")} == set(topics())
    assert completion.keys("hops/doub") == [
        ("hops/doubling", claims_index()["hops/doubling"]["title"])
    ]
    assert [name for name, _ in completion.sources("levine2020p")] == ["levine2020page"]
    assert tuple(completion.SUITES) == SUITES
    assert "llama-3-8b" in [name for name, _ in completion.models("Llama")]
    assert ("hops", completion.tasks("h")[0][1]) in completion.tasks("")
    assert all(" " not in name for name, _ in completion.gpus("H100"))


def test_a_shell_is_answered_without_a_heavy_library(tmp_path, monkeypatch):
    # It is built once after a change of the code; another checkout may throw it away meanwhile.
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path))
    write_cache("index", claims_index())
    code = (
        "import sys; from depthlaw.ledger.cli.arguments import main\n"
        "try: main()\n"
        "finally: sys.stderr.write(str({'sympy', 'numpy', 'torch'} & set(sys.modules)))"
    )
    done = subprocess.run(
        [sys.executable, "-c", code],
        capture_output=True,
        text=True,
        env=os.environ
        | {
            "_DEPTHLAW_COMPLETE": "complete_bash",
            "COMP_CWORD": "2",
            "COMP_WORDS": "depthlaw why hops/doub",
        },
    )
    assert (done.stdout.split(), done.stderr) == (["hops/doubling"], "set()")

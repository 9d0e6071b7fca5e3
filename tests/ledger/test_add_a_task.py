"""The page on a task of one's own, run as it is printed."""

from __future__ import annotations

import json
import re
import shlex
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

Command = Callable[..., Any]
PAGE = (Path(__file__).parents[2] / "docs/how-to/add-a-task.md").read_text()


def blocks(kind: str) -> list[str]:
    found = re.findall(r"^```(\w*)\n(.*?)^```$", PAGE, re.M | re.S)
    return [text for info, text in found if info == kind]


@pytest.fixture
def mine(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The folder of the page, in the working directory."""
    monkeypatch.chdir(tmp_path)
    folder = tmp_path / "mine"
    folder.mkdir()
    for name, text in zip(("tasks", "bounds"), blocks("text"), strict=True):
        (folder / f"{name}.csv").write_text(text)
    (folder / "words.py").write_text(blocks("python")[0])
    return folder


def test_the_page_runs_as_it_is_printed(
    mine: Path, depthlaw: Command, refused: Command, capsys: pytest.CaptureFixture[str]
) -> None:
    said = {}
    for line in "".join(blocks("")).splitlines():
        if line.startswith("depthlaw tasks check"):
            net = json.loads(Path("net.json").read_text())
            del net["language"]
            Path("net.json").write_text(json.dumps(net | {"task": "alternating"}))
        answer = depthlaw(*shlex.split(line)[1:])
        assert answer.code == 0, line
        said[line] = " ".join(answer.out.split())
    assert len(said) == 5
    alone = said["depthlaw depth --task alternating --atlas mine"]
    assert "hard attention, rightmost: at most 3 layers; derived." in alone
    text = (mine / "tasks.csv").read_text().replace("alphabet\n", "alphabet,asks\n")
    (mine / "tasks.csv").write_text(text.replace(",ab\n", ",ab,k >= 1\n"))
    assert "asks for k >= 1" in refused("tasks list lead --at k=0 --atlas mine")
    # Without the folder nobody knows the task, and without a task the folder does nothing.
    for wrong in ("--task alternating", "3B --atlas mine", "--task hops --hops 3 --atlas none"):
        refused(f"depth {wrong}")
    every, check = (said[f"depthlaw tasks {what}--atlas mine"] for what in ("", "check net.json "))
    assert "alternating, uhat-right: at most 3 layers; derived" in every
    assert "right on words of every length, exactly: its" in check
    assert "fewer than the table (3;" in check
    exec(compile(blocks("python")[1], "page", "exec"), {})
    assert capsys.readouterr().out.splitlines() == [
        "counting None 1 open",
        "True 2 fewer than the table",
    ]


def counting_net(bias: int) -> dict:
    """One layer that averages a's against b's and compares with nothing: more a than b."""
    head = {
        "attention": "linear",
        "divide": 1,
        "query": [[1, 1]],
        "key": [[1, 1]],
        "value": [[1, -1]],
        "output": [[1], [0]],
    }
    return {
        "family": "attention",
        "task": "lead",
        "parameters": {"k": 0},
        "class": "linear-attention",
        "alphabet": ["a", "b"],
        "embedding": {"a": [1, 0], "b": [0, 1]},
        "layers": [{"heads": [head], "residual": False}],
        "read": [1 + bias, 0],
    }


def test_words_of_a_function_are_asked(mine: Path, depthlaw: Command, refused: Command) -> None:
    file = mine / "net.json"
    for net, code in ((counting_net(0), 0), (counting_net(-2), 1)):
        file.write_text(json.dumps(net))
        answer = depthlaw("tasks check", file, "--atlas", mine, "--json")
        said = answer.data
        assert answer.code == code == (said["wrong"] is not None)
        assert said["words"] > 1000 or code
    # Without the folder nobody knows the task.
    assert "the task 'lead' cannot be checked" in refused("tasks check", file)


@pytest.mark.parametrize(
    ("text", "says"),
    [
        ("", "cannot use lead of"),
        ("def lead(word): return True", "the task lead takes no parameters; got k"),
        ("def lead(word, k): return 1", "answers 1; return True or False, or a string"),
        ("def lead(word, k): return word.index(k)", "ValueError('tuple.index(x): x not in"),
        ("1/0", "ZeroDivisionError"),
        (None, "the task lead has no words; fill in language or alphabet in tasks.csv"),
    ],
)
def test_a_file_of_words_that_cannot_be_used_is_one_line(
    text: str | None, says: str, mine: Path, refused: Command
) -> None:
    (mine / "words.py").unlink()
    if text is not None:
        (mine / "words.py").write_text(text)
    file = mine / "net.json"
    file.write_text(json.dumps(counting_net(0)))
    assert says in refused("tasks check", file, "--atlas", mine)

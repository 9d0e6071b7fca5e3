"""Hostile options and files, made from the table of options: one line, exit code 2, and no file."""

from __future__ import annotations

import os
import re
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings, strategies as st

from depthlaw.advisor.question import OPTIONS, flag, of_sizes

COMMANDS = {"depth": ["3B"], "sweep": ["--from", "1B", "--to", "2B", "--points", "2"]}
# What no option of a number or of a choice accepts; for an argument, too.
WRONG = ["", " ", "zero", "-1", "nan", "inf", "1e999", "\u00bd", "\u0664\u0662", "0x10", "9" * 400]
WRONG += ["1..2", "3 apples", "$(id)", "\x1b[2J"]
PLACES = ["", "missing", "folder", "empty", "binary", "head", "nested", "a" * 300, "~nobody/x"]
PLACES += ["/dev/null", "/dev/null/x", "a\nb", "\udcff"]
# Options beside which another one means something.
BESIDE = {
    "--gpu H100": "gpus hours time utilisation",
    "--ms-per-token 20": "bandwidth ms_per_layer latency",
    "--experts 8": "active_experts shared_experts",
    "--experts 8 --active-experts 2": "expert_width dense_layers",
    "--active-experts 2": "experts",
    "--task connectivity": "diameter vertices",
    "--task hops": "hops",
    "--task regular": "length",
    "--task parity": "atlas",
    "--memory 8GB": "bits",
}
HINTS = (
    "try |give |accepted|known|say |must|needs?|relax|allow|--help|did you mean|cannot be|such as"
)
VALUED = [option for option in OPTIONS if option.metadata.get("unit")]
ASKED = [("depth", option) for option in VALUED]
ASKED += [("sweep", option) for option in VALUED if of_sizes(option)]


def values(option: object) -> list[str]:
    return PLACES if option.metadata["unit"] in ("FILE", "PATH", "DIR") else WRONG


@pytest.fixture
def places(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    """A folder with files of every bad kind, which stays as it is."""
    monkeypatch.chdir(tmp_path)
    (tmp_path / "folder").mkdir()
    contents = {"empty": b"", "binary": bytes(range(256)) * 9, "head": b"L,d,ms\n"}
    contents |= {"nested": b'{"a":' * 9999, "utf16": "width,depth\n".encode("utf-16")}
    contents |= {name: text.encode() for name, text in TABLES.items()}
    for name, content in contents.items():
        (tmp_path / name).write_bytes(content)
    before = sorted(os.listdir())
    yield
    assert sorted(os.listdir()) == before


@pytest.mark.parametrize(("command", "option"), ASKED, ids=lambda x: getattr(x, "name", x))
def test_no_option_takes_what_it_cannot_read(
    command: str, option: object, places: None, refused: Callable[..., str]
) -> None:
    for value in values(option):
        typed = [value] if option.name == "budget" else [flag(option.name), value]
        alone = option.name in ("budget", "hf")
        typed = [*([] if alone else COMMANDS[command]), *typed]
        beside = (more for more, names in BESIDE.items() if option.name in names.split())
        said = refused(command, *typed, *" ".join(beside).split())
        assert re.search(HINTS, said), said


def test_there_are_three_hundred_of_them() -> None:
    assert sum(len(values(option)) for _, option in ASKED) >= 300


HEAD, LINE = "width,depth,parameters,tokens,loss\n", "256,4,3145728,1e9,3.2\n"
TABLES = {
    "one": HEAD + LINE,
    "alike": HEAD + 9 * LINE,
    "short": f"{HEAD}{LINE}1,2\n",
    "only": HEAD,
    "page": "<html>404</html>",
    "twice": f"width,{HEAD}1,{LINE}",
    "text": "hello\n",
}
for bad in ("nan", "inf", "-3", "0", "4.5", "1e400", "x", "\u0664"):
    TABLES[f"with {bad}"] = f"{HEAD}{LINE}{LINE.replace('256', bad)}"


@pytest.mark.parametrize("file", [*PLACES, *TABLES, "utf16"])
def test_no_command_takes_a_file_that_it_cannot_read(
    file: str, places: None, refused: Callable[..., str]
) -> None:
    for command in ("fit", "compare", "depth --hf", "depth 3B --ms-per-token 9 --latency"):
        refused(command, file)


# One value of each option, which it takes.
TAKEN = """
    1B | --count active | --flops 1e21 | --tokens 300B | --gpu H100 | --gpus 64 | --hours 10
    --time 2h | --memory 8GB | --bits 8 | --ms-per-token 20 | --bandwidth 50GB/s | --layers 24
    --ms-per-layer 0.1 | --kv-cache 500MB | --head-width 64 | --multiple 128 | --gqa 4 | --plain
    --ff 3 | --tied | --vocabulary 32000 | --context 4096 | --least-layers 16 | --most-layers 32
    --width 2048 | --loops 2 | --encoder-decoder | --experts 64 | --active-experts 6 | --tensor 4
    --shared-experts 1 | --expert-width 1024 | --dense-layers 1 | --pipeline 4 | --norm post
    --parametrisation mup | --residual attnres | --latency-matters | --task hops | --hops 16
    --diameter 64 | --known-by 2024 | --utilisation 0.4 | --length 64 | gpt-2-xl | --cite | --why
    --json | --evidence | --schema | --config -
"""
CHOICES = st.sampled_from([typed.strip() for typed in re.split(r"\||\n", TAKEN.strip())])


@settings(
    max_examples=50,
    deadline=None,
    derandomize=True,
    suppress_health_check=[HealthCheck.function_scoped_fixture],
)
@given(st.sets(CHOICES, min_size=2, max_size=4))
def test_options_that_contradict_each_other_are_answered_or_refused_in_one_line(
    depthlaw: Callable[..., object], typed: set[str]
) -> None:
    found = depthlaw("depth " + " ".join(sorted(typed)))
    if found.code:
        assert (found.code, found.out) == (2, "")
        assert re.fullmatch(r"error: [^\n]+\n", found.err)
    else:
        assert found.out

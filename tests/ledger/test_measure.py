"""`depthlaw measure`: what it prints, writes and refuses, mostly on numbers made up here."""

from __future__ import annotations

import math
import re
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from depthlaw.empirics.architectures.ablations import VARIANTS
from depthlaw.empirics.architectures.loading import ARCHITECTURES
from depthlaw.empirics.architectures.residuals import Residuals
from depthlaw.ledger.cli import measure_commands
from depthlaw.ledger.records.environment import installing

TINY = ("--layers", "2", "--width", "8", "--heads", "2", "--batch", "2", "--tokens", "5")


def made_up(
    model: str = "gpt2", *, seeds: tuple[int, ...] = (0,), dtype: str = "float32", **_: Any
) -> Residuals:
    """Twelve layers of an exponential law whose factor is 10 and more, by the seed."""
    layers = 12
    rows = np.array(
        [[10.0 ** (-(1 + seed / 10) * layer) for layer in range(layers + 1)] for seed in seeds]
    )
    sizes = (layers, 768, 12, 10**8, "nothing", 8, 128, seeds, "cpu", dtype)
    numbers = (rows, 0 * rows, rows / 2, 1 + 0 * rows)
    return Residuals(model, "full", *sizes, *numbers, "random", {"torch": "2"}, ("a note",))


@pytest.fixture
def fake(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(measure_commands, "measure_residuals", made_up)


@pytest.fixture
def run(depthlaw: Callable[..., Any]) -> Callable[..., Any]:
    """The answer of `depthlaw measure`."""

    def measured(*words: object) -> Any:
        answer = depthlaw("measure", *words)
        assert answer.code == 0
        return answer

    return measured


def test_alone_it_lists_every_model_and_every_variant(run: Callable[..., Any]) -> None:
    listed = run().out
    assert {line.split()[0] for line in listed.splitlines() if line} >= {*ARCHITECTURES, *VARIANTS}
    data = run("--json").data
    assert data["models"].keys() == ARCHITECTURES.keys()
    assert {name: tuple(parts) for name, parts in data["variants"].items()} == VARIANTS


def test_without_the_extra_it_says_what_to_install(
    monkeypatch: pytest.MonkeyPatch, refused: Callable[..., str]
) -> None:
    monkeypatch.setattr("importlib.util.find_spec", lambda name: None)
    assert installing("hf") in refused("measure residual --model gpt2")


def test_too_little_memory_is_one_line(
    monkeypatch: pytest.MonkeyPatch, refused: Callable[..., str]
) -> None:
    def full(*_: Any, **__: Any) -> Residuals:
        raise RuntimeError("DefaultCPUAllocator: can't allocate memory: you tried")

    monkeypatch.setattr(measure_commands, "measure_residuals", full)
    assert "does not fit into the memory" in refused("measure residual --model gpt2")


@pytest.mark.usefixtures("fake")
def test_json_holds_what_was_measured_for_every_seed(run: Callable[..., Any]) -> None:
    data = run("residual", "--model", "gpt2", "--seeds", "4", "--json").data
    assert data["seeds"] == [0, 1, 2, 3]
    assert (len(data["by_seed"]), len(data["by_layer"])) == (4, 13)
    values = [row[3] for row in data["by_seed"]]
    third = data["by_layer"][3]
    assert third["residual"] == pytest.approx(sum(values) / 4)
    # Student's 97.5 % quantile for three degrees of freedom.
    assert third["half_width"] == pytest.approx(3.18245 * np.std(values, ddof=1) / 2, rel=1e-4)
    assert [row["rounding"] for row in data["by_layer"]] == [
        row["residual"] < data["rounding_below"] for row in data["by_layer"]
    ]
    assert data["rounding_below"] == 8 * 2.0**-23
    one = run("residual", "--model", "gpt2", "--seeds", "1", "--json").data
    assert one["by_layer"][3]["half_width"] is None


@pytest.mark.usefixtures("fake")
def test_a_narrow_terminal_cuts_nothing(on_terminal: Callable[..., Any]) -> None:
    shown = on_terminal(40, "measure", "residual", "--model", "gpt2", "--seeds", "2").out
    assert "…" not in shown
    table = shown.partition("relative residual:")[0]
    assert len(re.findall(r"\brounding\b", table)) == 7


@pytest.mark.usefixtures("fake")
def test_a_picture_is_written_whole(tmp_path: Path, run: Callable[..., Any]) -> None:
    file = tmp_path / "x.svg"
    run("residual", "--model", "gpt2", "--plot", file)
    assert b"<svg" in file.read_bytes()
    assert list(tmp_path.iterdir()) == [file]


@pytest.mark.parametrize(
    ("exponents", "floor", "said"),
    [
        (range(1, 11), 1e-12, "divides it by 3.3 to 3.3;"),
        ([3**layer for layer in range(6)], 1e-300, "here it grows by 3.00 to 3.00 times"),
        ([3**layer for layer in range(6)], 1e-6, "are too few to tell"),
        ([1] * 6, 1e-6, "No collapse is seen"),
        (range(1, 4), 1e-12, "show no law"),
    ],
)
def test_what_is_said_of_a_law_goes_no_further_than_the_numbers(
    exponents: Sequence[int], floor: float, said: str
) -> None:
    assert said in measure_commands.seen(np.array([[0.3**n for n in exponents]]), floor)


def test_in_float64_the_norms_of_some_nets_still_round_in_float32() -> None:
    single, double = 8 * 2.0**-23, 8 * 2.0**-52
    for model, dtype, expected in (
        ("gpt2", "float32", single),
        ("gpt2", "float64", double),
        ("llama", "float64", single),
    ):
        assert measure_commands.rounding(made_up(model, dtype=dtype)) == expected


def test_a_real_net_is_measured(run: Callable[..., Any]) -> None:
    """Without skips and MLPs tokens come closer; the table's numbers are those of the library."""
    from depthlaw.empirics.architectures.residuals import measure_residuals

    words = ["residual", "--model", "gpt2", "--variant", "san", "--seeds", "2", "--json"]
    data = run(*words, *TINY).data
    found = measure_residuals(
        "gpt2", variant="san", layers=2, width=8, heads=2, batch=2, tokens=5, seeds=(0, 1)
    )
    assert np.allclose(data["by_seed"], found.by_layer, rtol=1e-5)
    assert not math.isclose(found.by_layer[0, 1], found.by_layer[1, 1], rel_tol=1e-3)
    assert data["what_is_removed"] == found.what_is_removed

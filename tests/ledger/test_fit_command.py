"""The command `depthlaw fit`: what it prints, draws and refuses."""

from __future__ import annotations

import csv
import json
import math
from collections.abc import Callable, Iterable
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from depthlaw.advisor.grids import rows
from depthlaw.ledger.cli.arguments import main

EXAMPLE = Path(__file__).resolve().parents[2] / "docs" / "examples" / "gemstones.csv"


@pytest.fixture(scope="module")
def losses(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Best at d = 20 L, with 2 seeds, seven depths and three sizes."""
    generator = np.random.default_rng(0)
    path = tmp_path_factory.mktemp("fit") / "losses.csv"
    with path.open("w", newline="", encoding="utf-8") as file:
        table = csv.writer(file)
        table.writerow(["run", "width", "depth", "parameters", "tokens", "loss", "note"])
        for volume in (1e5, 1e6, 1e7):
            best = (volume / 400) ** (1 / 3)
            for step in range(-3, 4):
                depth = max(1, round(best * 1.4**step))
                for run in "ab":
                    off = 0.05 * math.log(depth / best) ** 2 + generator.normal(0, 3e-4)
                    loss, width = (
                        3 * volume**-0.02 * math.exp(off),
                        round(math.sqrt(volume / depth)),
                    )
                    table.writerow([run, round(width), depth, 12 * volume, 1e9, loss, "x"])
    return path


def test_what_is_printed(losses: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["fit", str(losses), "--seed-column", "run"]) == 0
    text = capsys.readouterr().out
    for part in (
        "Ignored: note",
        "2 seeds",
        "Best depth at equal parameters and tokens",
        "Additive law",
        "Levine's fit",
        "What this file cannot tell",
    ):
        assert part in text
    assert ", too few for a best depth" not in text
    best = next(line for line in text.splitlines() if line.strip().startswith("120M"))
    assert float(best.split()[5]) == pytest.approx((1e7 / 400) ** (1 / 3), rel=0.05)


def test_json(losses: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["fit", str(losses), "--seed-column", "run", "--json"]) == 0
    found = json.loads(capsys.readouterr().out)
    assert [each["seeds"] for each in found["budgets"]] == [2, 2, 2]
    slope = next(law for law in found["laws"] if law["form"] == "power")
    # Five standard errors.
    assert slope["b"] == pytest.approx(1, abs=0.01)
    assert {row["verdict"] for row in found["comparison"] if row["key"] == "nanochat"} == {"FAILS"}


@pytest.mark.slow
def test_a_picture_is_written_once(
    losses: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    picture = tmp_path / "fit.svg"
    arguments = ["fit", str(losses), "--seed-column", "run", "--plot", str(picture)]
    assert main(arguments) == 0
    assert "<svg" in picture.read_text(encoding="utf-8")
    assert main(arguments) == 2
    assert "exists" in capsys.readouterr().err


def test_the_example_holds_the_rows_of_the_advisor() -> None:
    lines = [
        line
        for line in EXAMPLE.read_text(encoding="utf-8").splitlines()
        if not line.startswith("#")
    ]
    found = [
        (r["width"], r["depth"], r["parameters"], r["tokens"], r["loss"])
        for r in csv.DictReader(lines)
    ]
    assert found == [
        (r["width"], r["layers"], r["nonembedding"], r["tokens"], r["value"])
        for r in rows()
        if r["source"] == "Gemstones" and r["grid"].endswith("without embeddings")
    ]


def table(path: Path, rows: Iterable[tuple[float, int, float, int]]) -> str:
    """A file of (L d^2, depth, loss, seed)."""
    lines = [
        f"{round(math.sqrt(volume / depth))},{depth},{12 * volume:.0f},1e9,{loss:.5f},{seed}"
        for volume, depth, loss, seed in rows
    ]
    path.write_text(
        "\n".join(["width,depth,parameters,tokens,loss,seed", *lines]) + "\n", encoding="utf-8"
    )
    return str(path)


@pytest.fixture
def said(depthlaw: Callable[..., Any]) -> Callable[..., str]:
    return lambda *arguments: " ".join(depthlaw("fit", *arguments).out.split())


def test_a_range_may_stand_beside_an_unbounded_interval(said: Callable[..., str]) -> None:
    assert "5.5 to 15 unbounded" in said(EXAMPLE, "--tolerance", "35%")


def test_equal_losses_name_no_side(
    tmp_path: Path, said: Callable[..., str], depthlaw: Callable[..., Any]
) -> None:
    """Nor do sizes that differ a little, which only the exponent of the comparison tells apart."""
    for stretch in (1.0, 1.02):
        path = table(
            tmp_path / "equal.csv",
            ((1e6 * stretch**step, depth, 2.5, 0) for step, depth in enumerate((1, 2, 4, 8, 16))),
        )
        text = said(path)
        assert "the losses are equal" in text
        assert "train shallower nets" not in text
        assert "still falls" not in text
        # A rule without an end of loss decides nothing.
        rows = depthlaw("fit", path, "--json").data["comparison"]
        verdicts = {row["verdict"] for row in rows if not row["reading"].startswith("within")}
        assert verdicts == {"UNDECIDED"}


def test_one_layer_is_one_layer(tmp_path: Path, said: Callable[..., str]) -> None:
    path = table(
        tmp_path / "steep.csv", ((1e6, depth, 2.5 + 0.1 * depth, 0) for depth in (1, 2, 4, 8, 16))
    )
    assert "the curve still falls at 1 layer (" in said(path)

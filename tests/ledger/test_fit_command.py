"""The command `depthlaw fit`: what it prints, draws and refuses."""

from __future__ import annotations

import csv
import math
from collections.abc import Callable, Iterable
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from depthlaw.advisor.base.quantities import UsageError
from depthlaw.advisor.grids import rows
from depthlaw.ledger.functions.fit import fit

EXAMPLE = Path(__file__).resolve().parents[2] / "docs" / "examples" / "gemstones.csv"


def table(path: Path, rows: Iterable[tuple[float, int, float, int]]) -> str:
    """A file of (L d^2, depth, loss, seed)."""
    lines = [
        f"{round(math.sqrt(volume / depth))},{depth},{12 * volume:.0f},1e9,{loss:.5f},{seed}"
        for volume, depth, loss, seed in rows
    ]
    path.write_text(
        "\n".join(["width,depth,parameters,tokens,loss,run", *lines]) + "\n", encoding="utf-8"
    )
    return str(path)


@pytest.fixture(scope="module")
def losses(tmp_path_factory: pytest.TempPathFactory) -> str:
    """Best at d = 20 L, with 2 seeds, seven depths and three sizes."""
    noise, made = np.random.default_rng(0), []
    for volume in (1e5, 1e6, 1e7):
        best = (volume / 400) ** (1 / 3)
        for depth in (max(1, round(best * 1.4**step)) for step in range(-3, 4)):
            off = 0.05 * math.log(depth / best) ** 2 + noise.normal(0, 3e-4, 2)
            loss = 3 * volume**-0.02 * np.exp(off)
            made += [(volume, depth, loss[seed], seed) for seed in (0, 1)]
    return table(tmp_path_factory.mktemp("fit") / "losses.csv", made)


def test_what_is_no_file_is_refused_in_python() -> None:
    nothing: Any = None
    with pytest.raises(UsageError, match=r"'None' is no table of losses; .*; try fit\("):
        fit(nothing)


def test_json(losses: str, depthlaw: Callable[..., Any]) -> None:
    found = depthlaw("fit --seed-column run --json", losses).data
    assert [each["seeds"] for each in found["budgets"]] == [2, 2, 2]
    slope = next(law for law in found["laws"] if law["form"] == "power")
    # Five standard errors.
    assert slope["b"] == pytest.approx(1, abs=0.01)
    assert {row["verdict"] for row in found["comparison"] if row["key"] == "nanochat"} == {"FAILS"}


@pytest.mark.slow
def test_a_picture_is_written_once(
    losses: str, tmp_path: Path, depthlaw: Callable[..., Any], refused: Callable[..., str]
) -> None:
    picture = tmp_path / "fit.svg"
    command = ("fit --seed-column run", losses, "--plot", picture)
    assert "2 seeds" in depthlaw(*command).out
    assert "<svg" in picture.read_text(encoding="utf-8")
    assert "exists" in refused(*command)


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


@pytest.fixture
def said(depthlaw: Callable[..., Any]) -> Callable[..., str]:
    return lambda *arguments: " ".join(depthlaw("fit", *arguments).out.split())


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


def test_at_equal_hours_the_best_depth_is_another_and_the_next_net_is_named(
    tmp_path: Path, depthlaw: Callable[..., Any], said: Callable[..., str], refused: Callable
) -> None:
    """Planted: at equal tokens the best depth is (L d^2 / 400)^(1/3); a deeper net takes longer a
    token, so that within the same hours it sees fewer of them, and loses by it."""
    lines = ["width,depth,tokens,loss,hours"]
    for volume in (1e5, 1e6, 1e7):
        best = (volume / 400) ** (1 / 3)
        for depth in (max(1, round(best * 1.3**step)) for step in range(-4, 4)):
            width = round(math.sqrt(volume / depth))
            of_shape = 0.05 * math.log(depth / best) ** 2
            for tokens in (1e9, 2e9, 1e9 * (best / depth) ** 0.5):
                loss = 3 * volume**-0.02 * tokens**-0.1 * math.exp(of_shape)
                hours = volume / 1e5 * (depth / best) ** 0.5 * tokens / 1e9
                lines.append(f"{width},{depth},{tokens:.6e},{loss:.6f},{hours:.6f}")
    path = tmp_path / "clock.csv"
    path.write_text("\n".join(lines), encoding="utf-8")
    by_tokens, by_hours = (
        depthlaw("fit", path, "--json", *more).data
        for more in ((), ("--budget", "hours", "--tolerance", "1%"))
    )
    planted = [(volume / 400) ** (1 / 3) for volume in (1e5, 1e6, 1e7)]
    # 0.1 (L^-1/2)' against 0.1 ln(L / best): the least is at best / e^(1/2).
    clocked = [best * math.exp(-0.05 / 0.1) for best in planted]
    equal = [b for b in by_hours["budgets"] if len(b["depths"]) == 8 and b["depth"]]
    assert [b["depth"] for b in by_tokens["budgets"]] == pytest.approx(planted, rel=0.03)
    for best in clocked:
        assert any(b["depth"] == pytest.approx(best, rel=0.05) for b in equal)
    assert {round(b["seconds"] / 3600, 2) for b in equal} >= {1.0, 10.0, 100.0}
    (law,) = (law for law in by_tokens["next"]["laws"] if law["form"] == "power")
    low, middle, high = law["layers"]
    assert low < (1e9 / 12 / 400) ** (1 / 3) < high
    assert middle == pytest.approx((1e9 / 12 / 400) ** (1 / 3), rel=0.1)
    text = said(path)
    assert "Your next net - at 1.2M parameters and 2B tokens:" in text
    assert "your losses ask for" in text.partition("Your next net")[2]
    assert "EXTRAPOLATED" in text.partition("Your next net")[2]
    # The advisor says the same of its own net.
    answer = depthlaw("depth 1B --losses", path)
    assert "your losses ask for" in " ".join(answer.out.split())
    own = depthlaw("depth 1B --json --losses", path).data["answer"]["losses"]
    (law,) = (law for law in own["laws"] if law["form"] == "power")
    assert law["layers"][1] == pytest.approx((own["parameters"] / 12 / 400) ** (1 / 3), rel=0.1)
    assert "there is no net" in refused("depth --task hops --hops 3 --losses", path)
    # How sure opens with it, and what would change the answer no longer asks for losses.
    (without, _), (screen, own) = (
        (found["answer"]["screen"], found["answer"]["losses"])
        for found in (depthlaw("depth 3B --json", *more).data for more in ((), ("--losses", path)))
    )
    assert [each["code"] for each in without].count("measure") == 1
    assert "measure" not in {each["code"] for each in screen}
    sure = next(each for each in screen if each["slot"] == "sure")
    assert sure["code"] == "own"
    assert ("by two laws" in sure["text"]) == (len(own["laws"]) == 2)
    assert sure["text"].endswith(", EXTRAPOLATED.") == (own["beyond"] > 1)
    for law in own["laws"]:
        assert "{1:.0f} ({0:.0f} to {2:.0f})".format(*law["layers"]) in sure["text"]
    # A file of equal hours alone is read at equal hours, as fit --budget hours reads it.
    timed = tmp_path / "timed.csv"
    timed.write_text("\n".join(lines[:1] + lines[3::3]) + "\n", encoding="utf-8")
    assert "no three depths have equal parameters and tokens" in refused("fit", timed)
    own = depthlaw("depth 60M --json --losses", timed).data["answer"]["losses"]
    assert own["budget"] == "hours"
    (law,) = (law for law in own["laws"] if law["form"] == "power")
    clocked = (own["parameters"] / 12 / 400) ** (1 / 3) * math.exp(-0.5)
    assert law["layers"][1] == pytest.approx(clocked, rel=0.1)
    assert "your losses, at equal hours, ask for" in " ".join(
        depthlaw("depth 60M --losses", timed).out.split()
    )
    untimed = tmp_path / "untimed.csv"
    rows = [line.rpartition(",")[0] for line in timed.read_text(encoding="utf-8").splitlines()]
    untimed.write_text("\n".join(rows) + "\n", encoding="utf-8")
    assert "no three depths have equal parameters" in refused("depth 60M --losses", untimed)
    flat = table(tmp_path / "flat.csv", ((1e6, d, 2.5 + 0.1 * d, 0) for d in (1, 2, 4, 8, 16)))
    assert "column hours or seconds" in refused("fit --budget hours", flat)


def test_losses_of_one_size_name_their_own_depth_and_what_is_missing(
    tmp_path: Path, depthlaw: Callable[..., Any]
) -> None:
    """Planted: the least loss of nets of 1e6 L d^2 is at (1e6 / 400)^(1/3) = 13.6 layers."""
    lines = ["width,depth,tokens,loss"]
    for depth in (5, 6, 8, 10, 14, 18, 23, 30):
        for off in (4e-4, -4e-4):
            loss = 3 * (1 + off) * math.exp(0.05 * math.log(depth / 2500 ** (1 / 3)) ** 2)
            lines.append(f"{round(math.sqrt(1e6 / depth))},{depth},1e9,{loss:.6f}")
    path = tmp_path / "one.csv"
    path.write_text("\n".join(lines), encoding="utf-8")
    found = depthlaw("depth 1B --json --losses", path).data["answer"]
    nearest = found["losses"]["nearest"]
    assert nearest["parameters"] == pytest.approx(12e6, rel=0.01)
    low, best, high = nearest["layers"]
    assert low < 2500 ** (1 / 3) < high
    assert best == pytest.approx(2500 ** (1 / 3), rel=0.02)
    assert found["losses"]["laws"] == []
    screen = " ".join(depthlaw("depth 1B --losses", path).out.split())
    assert "Your losses name 14 layers (13 to 14), for 12M parameters in layers." in screen
    assert "Five depths of another size" in screen


def test_the_losses_and_the_answer_speak_of_one_net_and_say_where_they_part(
    tmp_path: Path, depthlaw: Callable[..., Any]
) -> None:
    """Planted: best depths of half, or about as many, layers as the published rule has."""
    for exponent, planted, apart in ((0.28, 13, True), (0.35, 26, False)):
        lines = ["width,depth,tokens,loss"]
        for volume in (1e6, 4e6, 16e6):
            best = planted * (volume / (762e6 / 12.4)) ** exponent
            for depth in sorted({max(1, round(best * 1.25**step)) for step in range(-4, 5)}):
                for off in (1e-3, -1e-3):
                    loss = (3 + off) * math.exp(0.05 * math.log(depth / best) ** 2)
                    width = round(math.sqrt(volume / depth))
                    lines.append(f"{width},{depth},{volume * 240:g},{loss:.6f}")
        path = tmp_path / "own.csv"
        path.write_text("\n".join(lines), encoding="utf-8")
        found = depthlaw("depth 1B --json --losses", path).data["answer"]
        own, layers = found["losses"], found["shape"]["architecture"]["layers"]
        assert own["laws"]
        inside = [law["layers"][0] <= layers <= law["layers"][2] for law in own["laws"]]
        assert any(inside) != apart
        said = {each["code"] for each in found["screen"]}
        assert ("own-apart" in said) == apart
        text = " ".join(depthlaw("depth 1B --losses", path).out.split())
        assert f"The published rule says {layers} layers" in text
        assert f"by published grids {found['interval']['low']} to" in text

"""Measured latency: hand answers, recovered coefficients, honest intervals, bad tables."""

from __future__ import annotations

import math
import random
from collections.abc import Callable
from fractions import Fraction
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings, strategies as st
from scipy import optimize, stats

from depthlaw.advisor.architecture import Architecture
from depthlaw.advisor.base.quantities import UsageError
from depthlaw.advisor.counting import weights
from depthlaw.advisor.latency import REACH, Fit, LatencyPoint, fit, read_latency, student_quantile


def points(*rows: tuple[int, int, float]) -> list[LatencyPoint]:
    return [LatencyPoint(layers, width, Fraction(str(ms))) for layers, width, ms in rows]


def table(tmp_path: Path, text: str | bytes) -> Path:
    path = tmp_path / "points.csv"
    path.write_bytes(text if isinstance(text, bytes) else text.encode())
    return path


def measured(ms: Callable[[int, int], Fraction], **fields: Any) -> list[LatencyPoint]:
    """Nets of three depths and three widths, and their times."""
    return [LatencyPoint(n, d, ms(n, d), **fields) for n in (8, 16, 32) for d in (512, 1024, 2048)]


def net(layers: int, width: int, **fields: Any) -> Architecture:
    """Like the measured nets of a table that says no more: 12 d^2 weights a layer."""
    return Architecture(layers, width, 1, 4 * width, 32000, gated=False).with_(**fields)


@settings(deadline=None, max_examples=25)
@given(
    st.integers(0, 50), st.integers(0, 20), st.integers(1, 40), st.integers(0, 9), st.integers(0, 9)
)
def test_exact_data_give_their_coefficients_back(a: int, b: int, c: int, e: int, f: int) -> None:
    sizes = (a, 0), (b, 1), (c, 9), (e, 8), (f, 10)
    coefficients = [Fraction(x, 10**power) for x, power in sizes]

    def ms(n: int, d: int, context: int = 4096) -> Fraction:
        loads = (1, n, 12 * n * d * d, d * 32000, 2 * n * d * context)
        return sum((x * y for x, y in zip(coefficients, loads, strict=True)), Fraction())

    found = fit(measured(ms, heads=8, kv_heads=8, vocabulary=32000, context=4096))
    assert found.coefficients == pytest.approx(tuple(map(float, coefficients)), rel=1e-12)
    assert found.spread == 0
    asked = float(ms(20, 1536, 8192))
    assert found.ms(net(20, 1536, context=8192))[2] == pytest.approx(asked, rel=1e-9)


def cached(context: int | None) -> Fit:
    """1 ms, 1e-9 ms a weight, 2e-10 ms a number in a cache of 32,768 tokens."""

    def point(n: int, d: int, k: int) -> LatencyPoint:
        ms = 1 + Fraction(n * (10 * d * d + 2 * d * k), 10**9) + Fraction(n * k * 2**17, 10**10)
        return LatencyPoint(n, d, ms, heads=d // 64, kv_heads=k // 64, context=context)

    widths = (512, 128), (1024, 512), (2048, 256), (1024, 128)
    return fit([point(n, d, k) for n in (8, 16, 32) for d, k in widths])


def test_a_cache_beyond_the_measured_ones_is_outside() -> None:
    found = cached(32768)
    a = net(16, 1024, heads=16, kv_heads=8, context=32768)
    assert not found.outside(a)
    assert "numbers in the KV cache (measured:" in found.outside(a.with_(context=2**20), REACH)
    assert found.outside(a.with_(kv_heads=16)) == "keys of width 1,024 (measured: 128 to 512)"


def test_caches_of_unknown_keys_are_read_both_ways() -> None:
    """Measured nets of full keys, or of grouped ones such as the answer's: the slower counts."""

    def found(share: int) -> Fit:
        cache = Fraction(2 * 32768 * 2, share * 10**10)
        return fit(measured(lambda n, d: 1 + Fraction(n * 12 * d * d, 10**9) + n * d * cache))

    asked = net(16, 1024, heads=16, kv_heads=4, context=32768)
    weights_only = 1 + 16 * (10 * 1024**2 + 2 * 1024 * 256) / 1e9
    assert "a KV cache that grows with L d" in found(1).assumed
    for share in (1, 4):
        low, _, high = found(share).ms(asked)
        for keys in (256, 1024):
            true = weights_only + 2 * 16 * keys * 32768 * 2e-10 / (share if keys == 1024 else 1)
            if share == 1 or keys == 1024:
                assert low - 1e-9 <= true <= high + 1e-9


def test_a_fatter_layer_of_the_same_width_takes_longer() -> None:
    """Of weights, not of d^2: the weights of a layer are read whatever made them many."""
    found = fit(measured(lambda n, d: 1 + Fraction(12 * n * d * d, 10**9)))
    plain = net(16, 1024)
    fat, grouped = plain.with_(d_ff=2 * plain.d_ff), net(16, 1024, heads=8, kv_heads=2)
    assert found.ms(fat)[1] - found.ms(plain)[1] == pytest.approx(8 * 16 * 1024**2 / 1e9)
    assert found.ms(plain)[1] - found.ms(grouped)[1] == pytest.approx(1.5 * 16 * 1024**2 / 1e9)


def test_weights_of_a_measured_layer_are_those_that_are_counted() -> None:
    for shape in (
        Architecture(1, 512, 8, 1536, 99, kv_heads=2),
        Architecture(1, 512, 8, 1536, 99, gated=False, head_width=96),
    ):
        said = ("d_ff", "heads", "kv_heads", "head_width", "vocabulary", "gated")
        point = LatencyPoint(1, 512, Fraction(1), *(getattr(shape, name) for name in said))
        matrices = [w for w in weights(shape) if w.role in ("attention", "mlp")]
        assert point.layer_weights == sum(w.stored for w in matrices)


def test_the_interval_of_the_mean_by_hand() -> None:
    """Depths 1, 2, 4 and 8 of relative residuals r: the one coefficient is the mean of ms / L."""
    found = fit(points((1, 64, 0.9), (2, 64, 1.9), (4, 64, 4.4), (8, 64, 8.6)))
    assert found.coefficients[0] == 0
    # Weights 1 / ms^2: c = sum(L / ms) / sum((L / ms)^2), the rest is the sum of squares.
    ratios = [1 / 0.9, 2 / 1.9, 4 / 4.4, 8 / 8.6]
    squares = sum(r * r for r in ratios)
    c = sum(ratios) / squares
    assert found.coefficients[1] == pytest.approx(c)
    s = ((4 - c * sum(ratios)) / 3) ** 0.5
    assert found.spread == pytest.approx(s)
    _, middle, high = found.ms(net(8, 64))
    assert middle == pytest.approx(8 * c)
    t = stats.t.ppf(0.975, 3)
    # The ellipsoid of one coefficient gives the least that the span of all of them is.
    assert high - middle >= t * s * (middle**2 + 64 / squares) ** 0.5 - 1e-12


def arrays(table: list[LatencyPoint]) -> tuple[np.ndarray, np.ndarray]:
    """What the times are fitted on where a table has L, d and ms alone, and the times."""
    loads = [[1, n, 12 * n * d**2, d, 2 * n * d] for n, d, *_ in table]
    return np.array(loads, float), np.array([float(p.milliseconds) for p in table])


def test_least_squares_without_negative_coefficients_are_those_of_scipy() -> None:
    draw = random.Random(5)
    for _ in range(15):

        def ms(n: int, d: int) -> float:
            parts = (draw.uniform(1, 3), n * draw.uniform(0, 0.2), d * draw.uniform(0, 1e-3))
            return round(sum(parts), 4)

        nets = ((8, 512), (12, 1024), (24, 768), (36, 2048), (48, 512), (16, 1536))
        table = points(*((n, d, ms(n, d)) for n, d in nets))
        rows, times = arrays(table)
        scale = rows.max(axis=0)
        solved, _ = optimize.nnls(rows / scale / times[:, None], np.ones(len(table)))
        try:
            found = fit(table)
        except UsageError:
            assert not solved[1] + solved[2] + solved[4] or np.count_nonzero(solved) == len(table)
            continue
        assert found.coefficients == pytest.approx(solved / scale, rel=1e-6, abs=1e-15)


# Layers that are read no faster than others start: the formula does not hold.
BENT = points(
    *(
        (n, d, round(200 + n * max(30, d * d / 5e4), 3))
        for n in (12, 20, 32, 46)
        for d in (1024, 1280, 1536, 2048, 2560)
    )
)


@pytest.mark.parametrize(
    "table",
    [
        points(
            (12, 2560, 1600), (18, 2048, 1720), (24, 1792, 1730), (32, 1536, 1930), (46, 1280, 2110)
        ),
        BENT,
    ],
    ids=["few points", "another formula"],
)
def test_the_span_of_the_mean_is_what_a_search_finds(table: list[LatencyPoint]) -> None:
    """The greatest and the least mean over all coefficients that are not negative and within the
    allowed sum of squares, against a numerical optimiser: it finds nothing outside. Up to twice the
    least is allowed, even where the points are many."""
    found = fit(table)
    rows, times = arrays(table)
    scale = rows.max(axis=0)
    scaled = rows / scale / times[:, None]
    least = found.spread**2 * found.freedom
    share = stats.t.ppf(0.975, found.freedom) * found.spread
    assert (share**2 < least) == (table is BENT)
    room = max(share**2, least)
    for asked in (net(8, 2560), net(40, 1024), net(20, 2048, d_ff=12288)):
        slow = np.array([1, *found.loads(asked)[1]], float) / scale
        # What goes with L d, as a cache of full keys.
        fast = slow.copy()
        fast[4] = 2 * asked.layers * asked.width / scale[4]
        low, middle, high = found.ms(asked)
        assert middle == pytest.approx(np.array(found.coefficients) * scale @ slow)
        ends = []
        for sign, x in ((1, fast), (-1, slow)):
            best = optimize.minimize(
                lambda c, sign=sign, x=x: sign * c @ x,
                np.array(found.coefficients) * scale,
                jac=lambda c, sign=sign, x=x: sign * x,
                bounds=[(0, None)] * 5,
                method="SLSQP",
                options={"maxiter": 500, "ftol": 1e-12},
                constraints={
                    "type": "ineq",
                    "fun": lambda c: (room + least - ((scaled @ c - 1) ** 2).sum()) * 1e3,
                },
            )
            ends.append(best.x @ x)
        assert high == pytest.approx(
            middle + math.hypot(ends[1] - middle, share * middle), rel=1e-3
        )
        middle = np.array(found.coefficients) * scale @ fast
        assert low == pytest.approx(
            max(0, middle - math.hypot(middle - ends[0], share * middle)), rel=1e-3
        )


def test_the_interval_covers_new_measurements_as_often_as_it_says() -> None:
    """60 tables of noisy points: a binomial count, below 0.95 by more than four deviations once
    in 1,000 tests or less (the seed is fixed)."""
    draw, inside, trials = random.Random(1), 0, 60
    for _ in range(trials):

        def ms(layers: int, width: int) -> Fraction:
            return Fraction((3 + 0.2 * layers + 1e-7 * layers * width**2) * draw.gauss(1, 0.05))

        found = fit([LatencyPoint(n, d, ms(n, d)) for n in (12, 24, 36) for d in (512, 1024, 2048)])
        low, _, high = found.ms(net(30, 1536))
        inside += low <= ms(30, 1536) <= high
    assert inside >= trials * 0.95 - 4 * (trials * 0.95 * 0.05) ** 0.5


@pytest.mark.parametrize("freedom", [1, 2, 3, 10, 31, 200])
@pytest.mark.parametrize("probability", [0.5, 0.975, 0.999])
def test_quantiles_of_student(probability: float, freedom: int) -> None:
    assert student_quantile(probability, freedom) == pytest.approx(
        stats.t.ppf(probability, freedom), rel=1e-9, abs=1e-12
    )


def test_what_is_outside_the_measured_range_is_said() -> None:
    found = fit(points((8, 512, 3), (16, 512, 4), (16, 1024, 5), (32, 1024, 8), (32, 512, 6)))
    assert not found.outside(net(16, 768))
    assert found.outside(net(4, 1024)) == "4 layers (measured: 8 to 32)"
    assert found.outside(net(32, 2048)) == (
        "1.61B weights in layers (measured: 25.2M to 403M) and width 2,048 (measured: 512 to 1,024)"
    )
    assert found.outside(net(20, 512, d_ff=99)).startswith("23M weights in layers")
    assert "weights in layers" in found.outside(net(32, 1024, d_ff=2**20))
    assert found.outside(net(64, 512))
    assert not found.outside(net(64, 512), REACH)
    assert found.outside(net(65, 512), REACH)
    told = fit([p._replace(vocabulary=1000) for p in found.points])
    assert "weights in the output layer" in told.outside(net(16, 768))


def test_what_the_points_do_not_tell_apart_is_read_both_ways() -> None:
    """Of one shape's width, time may go with layers or with their weights."""
    line = fit(points((8, 512, 3), (16, 512, 5), (32, 512, 9)))
    assert line.ambiguous
    assert line.ms(net(16, 512)) == (5, 5, 5)
    fat = net(16, 512, d_ff=4096)
    low, _, high = line.ms(fat)
    assert low == 5
    assert high == pytest.approx(1 + 4 * fat_share(fat))
    several = fit(points((8, 512, 3), (16, 512, 5), (32, 512, 9), (16, 1024, 5), (8, 768, 3)))
    assert not several.ambiguous
    assert several.ms(fat) == (5, 5, 5)


def fat_share(a: Architecture) -> float:
    """Weights of a layer over 12 d^2."""
    return (4 * a.width**2 + 2 * a.width * a.d_ff) / (12 * a.width**2)


ASKED = ("the answer's vocabulary", "the answer's context")


@pytest.mark.parametrize(
    ("columns", "said"),
    [
        ("", ("12 d^2 weights a layer", "a KV cache that grows with L d", *ASKED)),
        (",d_ff,gated,heads,kv_heads,vocabulary,context", ()),
        (",heads,kv_heads", ("8 d^2 weights an MLP", *ASKED)),
    ],
)
def test_what_is_assumed_of_the_measured_nets_is_said(
    tmp_path: Path, columns: str, said: tuple[str, ...]
) -> None:
    values = {"d_ff": 2048, "gated": "no", "heads": 12, "kv_heads": 4}
    values |= {"vocabulary": 32000, "context": 4096}
    more = "".join(f",{values[name]}" for name in columns.split(",")[1:])
    rows = "".join(f"{n},768,{ms}{more}\n" for n, ms in ((12, 5), (24, 8), (36, 11)))
    assert read_latency(table(tmp_path, f"L,d,ms{columns}\n{rows}")).assumed == said


MEASURED = st.tuples(
    st.integers(1, 100), st.integers(1, 5000), st.fractions("0.001", 1000, max_denominator=1000)
)


@settings(deadline=None, max_examples=25)
@given(st.lists(MEASURED, min_size=1, max_size=12))
def test_any_points_give_an_ordered_interval_or_a_usage_error(rows: list) -> None:
    try:
        found = fit([LatencyPoint(*row) for row in rows])
    except UsageError:
        return
    low, middle, high = found.ms(net(*rows[0][:2]))
    assert 0 <= low <= middle <= high
    assert found.ms(net(rows[0][0] + 1, rows[0][1]))[1] >= middle


@pytest.mark.parametrize(
    ("rows", "why"),
    [
        ([(8, 512, 3)], "one depth alone"),
        ([(8, 512, 3), (8, 1024, 4), (8, 256, 2)], "one depth"),
        ([(8, 512, 3), (16, 512, 4)], "2 measured points for 2 coefficients"),
        ([(8, 512, 3), (16, 512, 4), (8, 1024, 4)], "3 measured points for 3 coefficients"),
        ([(8, 512, 9), (16, 512, 6), (32, 512, 3)], "does not grow with depth"),
        ([], "no measured points"),
    ],
)
def test_what_cannot_be_fitted_says_what_to_measure(rows: list, why: str) -> None:
    with pytest.raises(UsageError, match=why):
        fit(points(*rows))


@pytest.mark.parametrize(
    "text",
    [
        "L,d,ms\n12,768,5\n24,768,8\n36,768,11\n",
        "layers,width,milliseconds\n12,768,5\n24,768,8\n36,768,11\n",
        "\ufeff# measured on a phone\n ms ; L ; d \r\n5 ms;12;768\r\n\r\n8;24;768\r\n11;36;768\r\n",
        "device,L,d,ms\nphone,12,768,5\nphone,24,768,8\n# again\nphone,36,768,11",
        "L\td\tms\n12\t768\t5e0\n24\t768\t8.0\n36\t768\t11",
    ],
)
def test_tables_as_people_write_them(tmp_path: Path, text: str) -> None:
    found = read_latency(table(tmp_path, text))
    assert isinstance(found, Fit)
    assert found.coefficients[:2] == (2, 0.25)


HEAD = "L,d,ms\n12,768,5\n24,768,8\n"


@pytest.mark.parametrize(
    ("text", "why"),
    [
        ("", "is empty"),
        ("L,d\n1,2\n", "does not name the columns"),
        ("12,768,5\n24,768,8\n", "does not name the columns"),
        ("L,layers,d,ms\n1,1,2,3\n", "does not name"),
        (HEAD, "2 measured points"),
        (HEAD + "36,768\n", "line 4 .* has 2 cells, the header 3"),
        (HEAD + "36,768,nan\n", "line 4 .*not a finite"),
        (HEAD + "36,768,0\n", "not positive"),
        (HEAD + "36,768,-1\n", "line 4 .*not positive"),
        (HEAD + "36,768,inf\n", "line 4 .*not a finite"),
        (HEAD + "36,768,fast\n", "line 4 "),
        (HEAD + "36.5,768,3\n", "not a whole number"),
        ("L,d,ms,d_ff,gated\n12,768,5,3072,maybe\n", "gated is 'maybe'; accepted are yes and no"),
        ("L,d,ms,kv_heads\n12,768,5,4\n", "line 2 .*kv_heads says nothing without heads"),
        ("L,d,ms,heads\n12,768,5,7\n", "7 heads do not divide the width 768"),
        ("L,d,ms,context\n12,768,5,long\n", "line 2 .*context .long. is not a whole number"),
        ("L,d,ms,d_ff\n12,768,5,\n", "line 2 .*d_ff '' is not a whole number"),
        ("L,d,ms,d_ff,intermediate_size\n12,768,5,1,1\n", "does not name"),
        (HEAD + "1e9,768,3\n", "out of range"),
        (HEAD + "12,768,50\n36,768,11\n", "5 and 50 ms for 12 layers of width 768"),
        (b"L,d,ms\n\xff\xfe\x00\n", "not text in UTF-8"),
        (b"\x00" * 100, "does not name"),
        ("L,d,ms\n" + "12,768,5\n" * 3000, "3,000 points"),
        ("x" * 1_000_001, "larger than"),
        ("L,d,ms\n" + '"' * 1000, "line 2 .* has 1 cells"),
    ],
)
def test_bad_tables_get_one_clear_line(tmp_path: Path, text: str | bytes, why: str) -> None:
    with pytest.raises(UsageError, match=why) as caught:
        read_latency(table(tmp_path, text))
    assert str(caught.value).isprintable()
    assert "points.csv" in str(caught.value)


@pytest.mark.parametrize("path", ["missing.csv", ".", "\x00", "x" * 5000])
def test_unreadable_files_get_one_clear_line(tmp_path: Path, path: str) -> None:
    with pytest.raises(UsageError, match="cannot read the table of latencies") as caught:
        read_latency(tmp_path / path)
    assert str(caught.value).isprintable()

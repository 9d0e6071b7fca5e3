"""Measured latency: hand answers, recovered coefficients, honest intervals, bad tables."""
from __future__ import annotations

import random
from fractions import Fraction
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import stats

from depthlaw.advisor.latency import Fit, Point, fit, read_latency, student_quantile
from depthlaw.advisor.quantities import UsageError


def points(*rows: tuple[int, int, float]) -> list[Point]:
    return [Point(layers, width, Fraction(str(ms))) for layers, width, ms in rows]


def table(tmp_path: Path, text: str | bytes) -> Path:
    path = tmp_path / "points.csv"
    path.write_bytes(text if isinstance(text, bytes) else text.encode())
    return path


def test_one_width_gives_a_line_with_its_intercept() -> None:
    line = fit(points((12, 768, 5), (24, 768, 8), (36, 768, 11), (48, 768, 14)))
    assert line.terms == ("1", "L")
    assert line.coefficients == (2, 0.25)
    assert line.ms(18, 768) == (6.5, 6.5, 6.5)
    # Twice the layers are less than twice the time.
    assert line.ms(24, 768)[1] < 2 * line.ms(12, 768)[1]


@settings(deadline=None)
@given(st.integers(0, 50), st.integers(1, 20), st.integers(1, 40))
def test_exact_data_give_their_coefficients_back(a: int, b: int, c: int) -> None:
    rows = [Point(layers, width, Fraction(a) + Fraction(b * layers, 10)
                  + Fraction(c * layers * width**2, 10**8))
            for layers in (8, 16, 32) for width in (512, 1024, 2048)]
    found = fit(rows)
    assert found.terms == ("1", "L", "L d^2")
    assert found.coefficients == pytest.approx((a, b / 10, c / 1e8), rel=1e-12)
    assert found.spread == 0


def test_half_interval_of_a_line_by_hand() -> None:
    """Four points with residuals +-1: s^2 = 4 / 2, mean 20, sum of squares 500; t(0.975, 2)."""
    line = fit(points((5, 64, 6), (15, 64, 14), (25, 64, 24), (35, 64, 36)))
    assert line.coefficients == (0, 1)
    low, middle, high = line.ms(20, 64)
    assert middle == 20
    assert high - middle == pytest.approx(4.302653 * (2 * (1 + 1 / 4)) ** 0.5, rel=1e-6)
    assert low == pytest.approx(2 * middle - high)
    assert line.ms(35, 64)[2] - line.ms(35, 64)[1] == pytest.approx(
        4.302653 * (2 * (1 + 1 / 4 + 15**2 / 500)) ** 0.5, rel=1e-6)


def test_the_interval_covers_new_measurements_as_often_as_it_says() -> None:
    """200 tables of noisy points: a binomial count, below 0.95 by more than four deviations once
    in 30,000 tests (the seed is fixed)."""
    draw, inside, trials = random.Random(1), 0, 200
    for _ in range(trials):
        def ms(layers: int, width: int) -> Fraction:
            return Fraction(3 + 0.2 * layers + 1e-7 * layers * width**2 + draw.gauss(0, 0.2))
        found = fit([Point(n, d, ms(n, d)) for n in (12, 24, 36) for d in (512, 1024, 2048)])
        low, _, high = found.ms(30, 1536)
        inside += low <= ms(30, 1536) <= high
    assert inside >= trials * 0.95 - 4 * (trials * 0.95 * 0.05) ** 0.5


@pytest.mark.parametrize("freedom", [1, 2, 3, 4, 7, 10, 31, 200])
@pytest.mark.parametrize("probability", [0.5, 0.6, 0.9, 0.975, 0.999])
def test_quantiles_of_student(probability: float, freedom: int) -> None:
    assert student_quantile(probability, freedom) == pytest.approx(
        stats.t.ppf(probability, freedom), rel=1e-9, abs=1e-12)


def test_what_is_outside_the_measured_range_is_said() -> None:
    found = fit(points((8, 512, 3), (16, 512, 4), (16, 1024, 5), (32, 1024, 8), (32, 512, 6)))
    assert not found.extrapolated(16, 768)
    assert all(found.extrapolated(*shape)
               for shape in ((4, 512), (64, 512), (16, 256), (16, 2048)))


def test_one_width_says_nothing_of_another() -> None:
    line = fit(points((8, 512, 3), (16, 512, 4), (32, 512, 6)))
    assert line.covers(512)
    assert not line.covers(768)
    with pytest.raises(UsageError, match="width 512 alone and say nothing of 768"):
        line.ms(8, 768)
    assert "width 512 alone" in line.formula


@pytest.mark.parametrize(("rows", "terms"), [
    # Wider is not slower: launches decide, and the term with d^2 would be negative.
    ([(8, 512, 3), (8, 1024, 2.9), (16, 512, 5), (16, 1024, 4.8), (32, 512, 9)], ("1", "L")),
    # Deeper costs by its weights alone.
    ([(8, 512, 1.9), (8, 1024, 9.2), (16, 512, 4), (16, 1024, 17.1), (32, 512, 7.4),
      (32, 1024, 33)], ("1", "L d^2")),
])
def test_no_term_has_a_negative_coefficient(rows: list, terms: tuple[str, ...]) -> None:
    found = fit(points(*rows))
    assert found.terms == terms
    assert all(c > 0 for c in found.coefficients[1:])


@settings(deadline=None)
@given(st.lists(st.tuples(st.integers(1, 100), st.integers(1, 5000),
                          st.integers(1, 10**6).map(lambda n: Fraction(n, 1000))),
                min_size=1, max_size=12))
def test_any_points_give_an_ordered_interval_or_a_usage_error(rows: list) -> None:
    try:
        found = fit([Point(*row) for row in rows])
    except UsageError:
        return
    low, middle, high = found.ms(*rows[0][:2])
    assert 0 <= low <= high
    assert middle <= high
    assert found.ms(rows[0][0] + 1, rows[0][1])[1] >= middle


@pytest.mark.parametrize(("rows", "why"), [
    ([(8, 512, 3)], "one depth alone"), ([(8, 512, 3), (8, 1024, 4), (8, 256, 2)], "one depth"),
    ([(8, 512, 3), (16, 512, 4)], "2 measured points for 2 coefficients"),
    ([(8, 512, 3), (16, 512, 4), (8, 1024, 5)], "3 measured points for 3 coefficients"),
    ([(8, 512, 9), (16, 512, 6), (32, 512, 3)], "does not grow with depth"),
    ([], "no measured points"),
])
def test_what_cannot_be_fitted_says_what_to_measure(rows: list, why: str) -> None:
    with pytest.raises(UsageError, match=why):
        fit(points(*rows))


@pytest.mark.parametrize("text", [
    "L,d,ms\n12,768,5\n24,768,8\n36,768,11\n",
    "layers,width,milliseconds\n12,768,5\n24,768,8\n36,768,11\n",
    "\ufeff# measured on a phone\n ms ; L ; d \r\n5 ms;12;768\r\n\r\n8;24;768\r\n11;36;768\r\n",
    "device,L,d,ms\nphone,12,768,5\nphone,24,768,8\n# again\nphone,36,768,11",
    "L\td\tms\n12\t768\t5e0\n24\t768\t8.0\n36\t768\t11",
])
def test_tables_as_people_write_them(tmp_path: Path, text: str) -> None:
    found = read_latency(table(tmp_path, text))
    assert isinstance(found, Fit)
    assert found.coefficients == (2, 0.25)


HEAD = "L,d,ms\n12,768,5\n24,768,8\n"


@pytest.mark.parametrize(("text", "why"), [
    ("", "is empty"), ("# nothing\n", "is empty"), ("L,d\n1,2\n", "does not name the columns"),
    ("12,768,5\n24,768,8\n", "does not name the columns"),
    ("L,L,d,ms\n1,1,2,3\n", "does not name"),
    ("L,layers,d,ms\n1,1,2,3\n", "does not name"), (HEAD, "2 measured points"),
    (HEAD + "36,768\n", "line 4 .* has 2 cells, the header 3"),
    (HEAD + "36,768,11,1\n", "has 4 cells"), (HEAD + "36,768,nan\n", "line 4 .*not a finite"),
    (HEAD + "36,768,inf\n", "not a finite"), (HEAD + "36,768,-1\n", "not positive"),
    (HEAD + "36,768,0\n", "not positive"), (HEAD + "36,768,fast\n", "cannot read|unit"),
    (HEAD + "36.5,768,3\n", "not a whole number"), (HEAD + "-3,768,3\n", "not a whole number"),
    (HEAD + "0,768,3\n", "not a whole number"), (HEAD + "36,x,3\n", "not a whole number"),
    (HEAD + "1e9,768,3\n", "out of range"), (HEAD + "36,1e9,3\n", "out of range"),
    (HEAD + "12,768,50\n36,768,11\n", "5 and 50 ms for 12 layers of width 768"),
    (HEAD + "36,768,1e99999999999\n", "more than"),
    (b"L,d,ms\n\xff\xfe\x00\n", "not text in UTF-8"), (b"\x00" * 100, "does not name"),
    ("L,d,ms\n" + "12,768,5\n" * 3000, "3,000 points"), ("x" * 1_000_001, "larger than"),
    ("L,d,ms\n" + '"' * 1000, "line 2 .* has 1 cells"),
])
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

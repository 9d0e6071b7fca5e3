"""Intervals in print contain what they round."""

from fractions import Fraction

from hypothesis import example, given, strategies as st

from depthlaw.theory.claims.rounding import centre, interval
from depthlaw.theory.claims.values import Proportion, Sample

NUMBERS = st.floats(-1e9, 1e9, allow_nan=False).filter(lambda x: x == 0 or abs(x) > 1e-200)


def ends(text: str) -> tuple[float, float]:
    low, high = text.removeprefix("[").removesuffix("]").split(", ")
    return float(low), float(high)


@given(NUMBERS, NUMBERS)
@example(1.10149, 1.10151)
@example(0.99994, 1.0)
@example(1.0, 1.0 + 2**-52)
@example(-0.1, 0.1 + 0.2)
@example(1e22, 2e22)
def test_a_printed_interval_contains_the_real_one(x: float, y: float) -> None:
    low, high = sorted((x, y))
    least, most = ends(interval(low, high))
    assert least <= low <= high <= most
    assert (least < most) or low == high
    assert least > 0 or low <= 0
    assert most < 0 or high >= 0
    wider = 0.11 * (high - low) + 1.1e-8 * max(abs(low), abs(high))
    assert low - least <= wider
    assert most - high <= wider


def test_digits_that_rounding_leaves_to_chance_are_not_printed() -> None:
    assert interval(4.022949444905527, 4.022949444905529) == "[4.02294944, 4.02294945]"
    assert interval(4.25, 4.25) == "[4.25, 4.25]"


@given(st.fractions(), st.fractions())
def test_fractions_are_rounded_outward_exactly(x: Fraction, y: Fraction) -> None:
    low, high = sorted((x, y))
    least, most = (Fraction(end) for end in interval(low, high)[1:-1].split(", "))
    # A fraction that is a float is the decimal that the float is printed as.
    slop = Fraction(1, 2**50) * max(abs(low), abs(high))
    assert least - slop <= low <= high <= most + slop
    assert least < most or low == high


@given(st.integers(0, 10**5), st.integers(1, 10**5))
@example(44685, 44685)
@example(2581, 5120)
def test_a_printed_share_lies_in_its_printed_interval(right: int, trials: int) -> None:
    share = Proportion(min(right, trials), trials)
    for alpha in (0.05, 1e-5):
        least, most = ends(interval(*share.interval(alpha)))
        assert least <= float(centre(share.mean, share.interval(0.05), share=True)) <= most


@given(
    st.lists(st.floats(-100, 100), min_size=2, max_size=20).filter(
        lambda values: max(values) - min(values) > 1e-9
    )
)
def test_a_printed_mean_lies_in_its_printed_interval(values: list[float]) -> None:
    sample = Sample(tuple(values))
    least, most = ends(interval(*sample.interval(0.05)))
    assert least <= float(centre(sample.mean, sample.interval(0.05))) <= most

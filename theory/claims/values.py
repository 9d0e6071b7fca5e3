"""What a claim is asked about, a `Case`, and the kinds of values that are measured there."""

from __future__ import annotations

import hashlib
import itertools
import json
import math
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from fractions import Fraction
from functools import total_ordering
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    import numpy as np
    from flint import arb

Scalar = int | str | bool

# Chance that sampling noise alone turns the verdict of a claim. It belongs to the claim, which
# divides it over its cases: no other claim, suite or machine moves a verdict.
FALSE_ALARM_BUDGET = 1e-3


class Case:
    """One point of a claim's domain: named integers, booleans and strings, such as "1/3" or "0.1".

    >>> Case(width=2, depth=3).depth
    3
    >>> [c.depth for c in Case.grid(width=2, depth=(1, 2))]
    [1, 2]
    """

    __slots__ = ("_fields",)
    _fields: dict[str, Scalar]

    def __init__(self, **fields: Scalar) -> None:
        object.__setattr__(self, "_fields", dict(sorted(fields.items())))

    @classmethod
    def grid(cls, **axes: Scalar | Iterable[Scalar]) -> tuple[Case, ...]:
        """The product of the axes; a single value is an axis of length one."""
        lists = [[v] if isinstance(v, str | int) else list(v) for v in axes.values()]
        points = itertools.product(*lists)
        return tuple(cls(**dict(zip(axes, point, strict=True))) for point in points)

    def __getattr__(self, name: str) -> Any:
        if name.startswith("_"):
            raise AttributeError(name)
        try:
            return self._fields[name]
        except KeyError:
            raise AttributeError(f"the case [{self}] has no field {name!r}") from None

    def __setattr__(self, name: str, value: object) -> None:
        raise AttributeError("a case is immutable; build another one")

    def __reduce__(self) -> tuple[Any, ...]:
        return _case_from_fields, (self._fields,)

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Case) and self._fields == other._fields

    def __hash__(self) -> int:
        return hash(tuple(self._fields.items()))

    def __contains__(self, name: str) -> bool:
        return name in self._fields

    def __str__(self) -> str:
        return " ".join(f"{k}={v}" for k, v in self._fields.items())

    __repr__ = __str__

    def get(self, name: str, default: Scalar | None = None) -> Any:
        """The field, or `default` when the case has no such field."""
        return self._fields.get(name, default)

    def fields(self) -> dict[str, Scalar]:
        """The fields by name, sorted: the form that goes into a record."""
        return dict(self._fields)

    def rational(self, name: str) -> Fraction:
        """A field read as an exact rational number."""
        return Fraction(self._fields[name])

    def rng(self, seed: int) -> np.random.Generator:
        """A generator that depends on the case and the seed alone, not on claim, code or order."""
        import numpy as np

        text = json.dumps([self._fields, seed], sort_keys=True)
        return np.random.default_rng(int.from_bytes(hashlib.sha256(text.encode()).digest(), "big"))


def _case_from_fields(fields: dict[str, Scalar]) -> Case:
    return Case(**fields)


@dataclass(frozen=True)
class Exact:
    """An integer or rational known exactly.

    `misses` bounds the probability that the true quantity is LARGER than the value, as a rank over
    a finite field rarely falls short of what it certifies, and never exceeds it. `truncated`: the
    measurement could not have seen more, such as the full rank of as many inputs as were given.
    """

    value: int | Fraction
    misses: float = 0.0
    truncated: bool = False

    def __post_init__(self) -> None:
        """Refuse what is no probability, which would make every verdict true or false at will."""
        if not 0.0 <= self.misses <= 1.0:
            raise ValueError(f"misses is a probability, between 0 and 1; got {self.misses}")
        if self.truncated and self.misses < 1:
            raise ValueError("what a truncated measurement misses is not known: misses must be 1")


@dataclass(frozen=True)
class Ball:
    """A real number enclosed rigorously in [low, high], with exact rational end points."""

    low: Fraction
    high: Fraction

    def __post_init__(self) -> None:
        """Refuse an empty interval, of which everything is true."""
        if not self.low <= self.high:
            low, high = float(self.low), float(self.high)
            raise ValueError(f"an interval needs low <= high; got [{low:g}, {high:g}]")

    @classmethod
    def of(cls, ball: arb) -> Ball:
        """From a python-flint ball."""
        from ..exact.enclosure import endpoints

        return cls(*endpoints(ball))

    def widened(self, bits: int = 64) -> Ball:
        """The smallest interval around this one whose end points are multiples of 2^-bits.

        Flint's integrals depend in their last bits on what a process did before; a record must not.

        >>> Ball(Fraction(1, 3), Fraction(1, 3)).widened(2)
        Ball(low=Fraction(1, 4), high=Fraction(1, 2))
        """
        low, high = math.floor(self.low * 2**bits), math.ceil(self.high * 2**bits)
        return Ball(Fraction(low, 2**bits), Fraction(high, 2**bits))


@dataclass(frozen=True)
class Sample:
    """Independent observations, one per seed, whose mean is estimated (Student interval)."""

    values: tuple[float, ...]

    def __post_init__(self) -> None:
        """Refuse observations that no interval can be computed from."""
        if not self.values or not all(math.isfinite(v) for v in self.values):
            raise ValueError("a sample needs at least one observation, all of them finite")

    def interval(self, alpha: float) -> tuple[float, float]:
        """Two-sided confidence interval of level 1 - alpha."""
        from scipy import special

        n = len(self.values)
        if n < 2:
            return -math.inf, math.inf
        spread = math.sqrt(math.fsum((v - self.mean) ** 2 for v in self.values) / (n - 1) / n)
        if spread == 0:
            # Equal observations say that the spread was not sampled, not that there is none.
            return -math.inf, math.inf
        half = float(special.stdtrit(n - 1, 1 - alpha / 2)) * spread
        return self.mean - half, self.mean + half

    @property
    def mean(self) -> float:
        """The mean of the observations."""
        return math.fsum(self.values) / len(self.values)


@dataclass(frozen=True)
class Proportion:
    """Successes among independent trials, for the mean probability of success.

    The interval is that of Clopper and Pearson. The trials need not have the same probability: the
    interval for equal ones is then too wide, not too narrow (Hoeffding 1956).

    >>> [round(end, 3) for end in Proportion(98, 100).interval(0.05)]
    [0.93, 0.998]
    """

    right: int
    trials: int

    def __post_init__(self) -> None:
        """Refuse counts that no interval can be computed from."""
        if not 0 <= self.right <= self.trials or self.trials < 1:
            raise ValueError(
                "a proportion is of at least one trial, with 0 to all right; got "
                f"{self.right} of {self.trials}"
            )

    def interval(self, alpha: float) -> tuple[float, float]:
        """Two-sided confidence interval of level at least 1 - alpha."""
        from scipy import special

        k, n = self.right, self.trials
        low = float(special.betaincinv(k, n - k + 1, alpha / 2)) if k else 0.0
        high = float(special.betaincinv(k + 1, n - k, 1 - alpha / 2)) if k < n else 1.0
        return low, high

    @property
    def mean(self) -> float:
        """The share of the trials that succeeded."""
        return self.right / self.trials


@dataclass(frozen=True)
class Outside:
    """The instance that was built breaks the assumption `broken`, so its case is OUT_OF_SCOPE: only
    the instance can tell, such as by a norm of weights that were drawn."""

    broken: str


@dataclass(frozen=True)
class Instance:
    """One instance at which a statement fails, in words that a reader can check by eye: texts with
    LaTeX between dollars.

    Attributes:
        asked: the input.
        expected, got: what the statement has of it, and what is found.
    """

    asked: str
    expected: str
    got: str

    def __str__(self) -> str:
        """In one line."""
        return f"input: {self.asked}; expected: {self.expected}; got: {self.got}"


@total_ordering
@dataclass(frozen=True)
class PowerOfTen:
    """A number with too many digits to be written down, or too close to 0: `sign` 10^`log10`. It
    compares with all others, and is no float.

    >>> huge = PowerOfTen(1, Fraction(10**6))
    >>> print(huge), huge > 10**100, PowerOfTen(1, Fraction(3**40)) > huge
    10^(1000000)
    (None, True, True)
    """

    sign: int
    log10: Fraction

    def __str__(self) -> str:
        """In eight digits, those of the exponent."""
        large = abs(self.log10) >= 10**300
        exponent = str(_power_of(self.log10)) if large else f"{float(self.log10):.8g}"
        return f"{'-' if self.sign < 0 else ''}10^({exponent})"

    def __lt__(self, other: Any) -> bool:
        """By signs and logarithms."""
        if not isinstance(other, PowerOfTen):
            other = _power_of(other)
        ours, theirs = ((x.sign, x.sign * x.log10) for x in (self, other))
        return ours < theirs


def _power_of(number: Any) -> PowerOfTen:
    exact = Fraction(int(number.p), int(number.q)) if hasattr(number, "p") else number
    exact = Fraction(exact if isinstance(exact, int | Fraction) else float(exact))
    if not exact:
        return PowerOfTen(0, Fraction(0))
    digits = math.log10(abs(exact.numerator)) - math.log10(exact.denominator)
    return PowerOfTen(1 if exact > 0 else -1, Fraction(digits))


# What an interval is estimated for from random observations.
Statistical = Sample | Proportion

Measured = Exact | Ball | Sample | Proportion | Outside


def joined(values: Sequence[Measured]) -> list[Measured]:
    """What the seeds of one case measured: samples and proportions as one, anything else as it is.

    >>> joined([Sample((1.0,)), Sample((2.0,))]), joined([Proportion(1, 2), Proportion(2, 2)])
    ([Sample(values=(1.0, 2.0))], [Proportion(right=3, trials=4)])
    """
    samples = [v for v in values if isinstance(v, Sample)]
    proportions = [v for v in values if isinstance(v, Proportion)]
    if samples and len(samples) == len(values):
        return [Sample(tuple(x for v in samples for x in v.values))]
    if proportions and len(proportions) == len(values):
        return [Proportion(sum(v.right for v in proportions), sum(v.trials for v in proportions))]
    return list(values)


@dataclass(frozen=True)
class Step:
    """One step of an argument: what it says, and whether the machine confirmed it (None: open)."""

    says: str
    holds: bool | None

"""Linearised attention written a second time, for rechecking: it shares no code with the first."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from operator import add
from typing import Any

import numpy as np
from flint import Ordering, nmod_mat, nmod_mpoly_ctx
from numpy.typing import NDArray

Matrix = list[list[int]]
# A linear form of the moments: the coefficient of M_ab by (a, b), a <= b.
Form = dict[tuple[int, int], int]
# Of max and +, where None is the weight of what is not there.
Tropical = list[list[int | None]]

NAMES = ("query", "key", "value", "output")

# Below 2^28: up to 127 products of residues add up in 64 bits.
_PRIME = 268435399
_LARGEST_WIDTH = 126

# Entries times moments that are looked at to read the linear forms of a net.
_MOST_TERMS = 20_000_000


def whole(data: Mapping[str, Any], name: str, least: int, most: int) -> int:
    """A field that must be an integer from `least` to `most`; a ValueError for anything else."""
    value = data[name]
    if type(value) is not int or not least <= value <= most:
        raise ValueError(f"{name} must be a whole number from {least} to {most}")
    return value


def whole_list(data: Mapping[str, Any], name: str) -> list[int]:
    """A field that must be a list of integers; a ValueError for anything else."""
    values = data[name]
    if not isinstance(values, list) or any(type(v) is not int for v in values):
        raise ValueError(f"{name} must be a list of whole numbers")
    return values


@dataclass(frozen=True)
class PlainNet:
    """For every layer and head A = W^O W^V and B = W^K^T W^Q, T_l(M) = sum_h A_h M B_h."""

    width: int
    layers: list[list[tuple[Matrix, Matrix]]]
    weights: dict[str, NDArray[Any]]

    def layer_forms(self) -> Iterator[dict[tuple[int, int], Form]]:
        """For every layer: the entries of T_l(M) that are not zero.

        Raises:
            ValueError: where the weights have too many entries that are not zero.
        """
        terms = 0
        for heads in self.layers:
            entries: dict[tuple[int, int], Form] = {}
            for A, B in heads:
                left, right = _entries(A), _entries(B)
                terms += len(left) * len(right)
                if terms > _MOST_TERMS:
                    raise ValueError(
                        f"the weights have more than {_MOST_TERMS} products to look "
                        "at; give sparser ones"
                    )
                for p, b, x in left:
                    for c, a, y in right:
                        form, pair = entries.setdefault((p, a), {}), (min(b, c), max(b, c))
                        form[pair] = form.get(pair, 0) + x * y
            trimmed = {
                place: {pair: v for pair, v in form.items() if v} for place, form in entries.items()
            }
            yield {place: form for place, form in trimmed.items() if form}

    def token_outputs(self, points: int) -> Iterator[tuple[list[int], Matrix, int]]:
        """Random inputs of 2 d + 2 tokens: the first, the moments, and the output by recursion."""
        rng, p = np.random.default_rng(20240601), _PRIME
        reduced = {
            name: np.array(array % p, dtype=np.int64) for name, array in self.weights.items()
        }
        for _ in range(points):
            x = rng.integers(0, p, (2 * self.width + 2, self.width))
            y = x
            for layer in range(len(self.layers)):
                total = np.zeros_like(y)
                for head in range(len(self.layers[layer])):
                    query, key, value, output = (reduced[name][layer, head] for name in NAMES)
                    scores = (y @ query.T % p) @ (y @ key.T % p).T % p
                    total += (scores @ (y @ value.T % p) % p) @ output.T % p
                y = total % p
            yield x[0].tolist(), (x.T @ x % p).tolist(), int(y[0, 0])

    def moments_give_outputs(self, points: int) -> bool:
        """Whether e_1^T T_L(M_L) ... T_1(M_1) x is what the recursion gives at random inputs."""
        p = _PRIME
        for x, moment, output in self.token_outputs(points):
            M, vector = np.array(moment), np.array(x)
            for heads in self.layers:
                T = sum(_residues(A) @ M % p @ _residues(B) % p for A, B in heads) % p
                M, vector = T @ M % p @ T.T % p, T @ vector % p
            if int(vector[0]) != output:
                return False
        return True

    def products_give_outputs(
        self, forms: Sequence[Form], exponents: Sequence[int], points: int
    ) -> bool:
        """Whether x_1 prod f^e is what the recursion gives at random inputs."""
        for x, moment, output in self.token_outputs(points):
            product = x[0]
            for form, exponent in zip(forms, exponents, strict=True):
                value = sum(c * moment[a][b] for (a, b), c in form.items())
                product = product * pow(value, exponent, _PRIME) % _PRIME
            if product != output:
                return False
        return True


def read_net(weights: Any, width: int, depth: int, heads: int) -> PlainNet:
    """The net of a certificate.

    Args:
        weights: query, key and value of shape (L, H, d_x / H, d_x), output of shape
            (L, H, d_x, d_x / H), as nested lists of integers.

    Raises:
        ValueError: where the shape is none, or an entry is no integer.
    """
    if not 1 <= width <= _LARGEST_WIDTH or depth < 1 or heads < 1 or width % heads:
        raise ValueError(
            f"width={width}, depth={depth}, heads={heads}: accepted are widths to "
            f"{_LARGEST_WIDTH}, and heads must divide width"
        )
    if not isinstance(weights, dict) or set(weights) != set(NAMES):
        raise ValueError(f"weights must be an object with {', '.join(NAMES)}")
    inner, arrays = width // heads, {}
    for name in NAMES:
        shape = (depth, heads, width, inner) if name == "output" else (depth, heads, inner, width)
        if not _has_shape(weights[name], shape):
            raise ValueError(f"weights.{name} must be integers of shape {shape}")
        arrays[name] = np.array(weights[name], dtype=object)
    query, key, value, output = (arrays[name] for name in NAMES)
    layers = [
        [
            (
                _times(output[layer, h].tolist(), value[layer, h].tolist()),
                _times(key[layer, h].T.tolist(), query[layer, h].tolist()),
            )
            for h in range(heads)
        ]
        for layer in range(depth)
    ]
    return PlainNet(width, layers, arrays)


def _has_shape(nested: Any, shape: tuple[int, ...]) -> bool:
    if not shape:
        return type(nested) is int
    if not isinstance(nested, list) or len(nested) != shape[0]:
        return False
    return all(_has_shape(part, shape[1:]) for part in nested)


def _times(a: Any, b: Any, zero: Any = 0) -> Any:
    columns = list(zip(*b, strict=True))
    return [
        [
            sum((x * y for x, y in zip(row, column, strict=True) if x and y), zero)
            for column in columns
        ]
        for row in a
    ]


def _both(operation: Callable[[Any, Any], Any], one: Any, other: Any) -> Any:
    """Two matrices, entry by entry."""
    return [list(map(operation, *rows)) for rows in zip(one, other, strict=True)]


def _entries(matrix: Matrix) -> list[tuple[int, int, int]]:
    """Row, column and value of the entries that are not zero."""
    return [(i, j, value) for i, row in enumerate(matrix) for j, value in enumerate(row) if value]


def _residues(matrix: Matrix) -> NDArray[np.int64]:
    return (np.array(matrix, dtype=object) % _PRIME).astype(np.int64)


def _places(width: int) -> Matrix:
    """The number of every moment M_ab, a <= b row by row."""
    pairs = ((a, b) for a in range(width) for b in range(a, width))
    number = {pair: n for n, pair in enumerate(pairs)}
    return [[number[min(a, b), max(a, b)] for b in range(width)] for a in range(width)]


# --- the leading monomial of a net with weights that are not negative -----------------------------


def leading_exponents(net: PlainNet, grading: Sequence[int], column: int) -> list[int] | None:
    """The exponents of the monomial of largest weight in P_column, where y_1 = sum_a x_a P_a(M);
    None where it is not one monomial alone.

    M_ab has the weight that `grading` gives it, a <= b row by row. Weights that are not negative
    cannot cancel, so the largest weights obey the recursion over layers with max and + in place of
    + and times. Weights that are apart by multiples of a number K above all exponents leave room
    for a second count: what is added to the weight of a moment, B^j for the j-th, adds up to digits
    that are the exponents in base B. They are added once and subtracted once; two monomials of the
    same weight give two different sums.

    Raises:
        ValueError: for a negative weight.

    >>> ones = {name: [[[[1]]]] * 2 for name in NAMES}
    >>> leading_exponents(read_net(ones, 1, 2, 1), [5], 0)
    [4]
    """
    d, degree = net.width, (3 ** len(net.layers) - 1) // 2
    if any(int(array.min()) < 0 for array in net.weights.values()):
        raise ValueError(
            "a weight is negative, so that terms may cancel; give weights that are not negative"
        )
    base = degree + 1
    room = base ** (len(grading) + 1)
    above, below = (
        _top(net, [room * w + sign * base**j for j, w in enumerate(grading)], d, column)
        for sign in (1, -1)
    )
    if above is None or below is None:
        return None
    weight, rest = divmod(above + below, 2 * room)
    exponents, digits = [], above - room * weight
    for _ in grading:
        digits, exponent = divmod(digits, base)
        exponents.append(exponent)
    return exponents if rest == 0 and digits == 0 else None


def _top(net: PlainNet, weights: list[int], d: int, column: int) -> int | None:
    """The largest weight of P_column, by max-plus products."""
    M: Tropical = [[weights[n] for n in row] for row in _places(d)]
    vector: list[int | None] = [0 if a == column else None for a in range(d)]
    for heads in net.layers:
        T: Tropical = [[None] * d for _ in range(d)]
        for A, B in heads:
            part = _max_plus(_max_plus(_support(A), M), _support(B))
            T = _both(_larger, T, part)
        vector = [row[0] for row in _max_plus(T, [[x] for x in vector])]
        M = _max_plus(_max_plus(T, M), [list(row) for row in zip(*T, strict=True)])
    return vector[0]


def _support(matrix: Matrix) -> Tropical:
    return [[0 if x else None for x in row] for row in matrix]


def _larger(x: int | None, y: int | None) -> int | None:
    return y if x is None else x if y is None else max(x, y)


def _max_plus(a: Tropical, b: Tropical) -> Tropical:
    def entry(row: Sequence[int | None], column: Sequence[int | None]) -> int | None:
        pairs = zip(row, column, strict=True)
        return max((x + y for x, y in pairs if x is not None and y is not None), default=None)

    columns = list(zip(*b, strict=True))
    return [[entry(row, column) for column in columns] for row in a]


# --- catalecticants, from polynomials multiplied out by python-flint ------------------------------


class PlainForms:
    """P_1, ..., P_d with y_1 = sum_a x_a P_a(M), multiplied out modulo a prime, and square parts of
    their catalecticants."""

    # More coefficients than this take long: `fits` says so.
    _MOST = 20_000

    def __init__(self, net: PlainNet, prime: int) -> None:
        d = net.width
        self.width, self.prime, self.degree = d, prime, (3 ** len(net.layers) - 1) // 2
        self.variables = d * (d + 1) // 2
        names = [f"m{n}" for n in range(self.variables)]
        ring = nmod_mpoly_ctx.get(names, modulus=prime, ordering=Ordering.lex)
        gens, zero = ring.gens(), ring.constant(0)

        def product(a: Any, b: Any) -> Any:
            return _times(a, b, zero)

        def constants(matrix: Matrix) -> Any:
            return [[ring.constant(value % prime) for value in row] for row in matrix]

        # The row e_1^T T_L(M_L) ... T_1(M_1) needs every T, so these come first.
        M = [[gens[n] for n in row] for row in _places(d)]
        matrices = []
        for number, heads in enumerate(net.layers):
            T = [[zero] * d for _ in range(d)]
            for A, B in heads:
                part = product(product(constants(A), M), constants(B))
                T = _both(add, T, part)
            matrices.append(T)
            if number + 1 < len(net.layers):
                M = product(product(T, M), [list(row) for row in zip(*T, strict=True)])
        row = [matrices[-1][0]]
        for T in reversed(matrices[:-1]):
            row = product(row, T)
        scales: dict[tuple[int, ...], tuple[int, int]] = {}
        self._keys, self._values = zip(
            *(self._sorted(form, scales) for form in row[0]), strict=True
        )

    @classmethod
    def fits(cls, width: int, depth: int) -> bool:
        """Whether the forms are small enough to be multiplied out in about a second."""
        variables, degree = width * (width + 1) // 2, (3**depth - 1) // 2
        monomials = math.comb(variables + degree - 1, degree)
        return (degree + 1) ** variables < 2**62 and monomials <= cls._MOST

    def _sorted(
        self, form: Any, scales: dict[tuple[int, ...], tuple[int, int]]
    ) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
        """Exponents as numbers in base C + 1, and coefficients times their exponents' factorials;
        `scales` keeps both of monomials that several forms have."""
        scaled = {}
        for exponents, coefficient in form.to_dict().items():
            if exponents not in scales:
                factor = math.prod(map(math.factorial, exponents))
                scales[exponents] = self._key(exponents), factor % self.prime
            key, factor = scales[exponents]
            scaled[key] = int(coefficient) * factor % self.prime
        keys = np.array(sorted(scaled), dtype=np.int64)
        return keys, np.array([scaled[key] for key in keys.tolist()], dtype=np.int64)

    def _key(self, exponents: Sequence[int]) -> int:
        key = 0
        for e in exponents:
            key = key * (self.degree + 1) + int(e)
        return key

    def _monomial(self, degree: int, number: int) -> int:
        """The key of the monomial numbered sum_i binom(s_i + i - 1, i), s_i = e_1 + ... + e_i."""
        exponents, total = [], degree
        for i in range(self.variables - 1, 0, -1):
            s = 0
            while math.comb(s + i, i) <= number:
                s += 1
            number -= math.comb(s + i - 1, i)
            exponents.append(total - s)
            total = s
        return self._key([total, *reversed(exponents)])

    def square(self, order: int, rows: Sequence[int], columns: Sequence[int]) -> nmod_mat:
        """The entries (mu + nu)! [M^(mu + nu)] P_a at rows (a, mu), numbered a binom(D + k - 1, k)
        + mu, and columns nu."""
        size = math.comb(self.variables + order - 1, order)
        nus = np.array([self._monomial(self.degree - order, n) for n in columns], dtype=np.int64)
        entries: list[int] = []
        for number in rows:
            form, mu = divmod(number, size)
            keys, values = self._keys[form], self._values[form]
            wanted = nus + self._monomial(order, mu)
            if not len(keys):
                entries += [0] * len(wanted)
                continue
            places = np.searchsorted(keys, wanted).clip(max=len(keys) - 1)
            entries += np.where(keys[places] == wanted, values[places], 0).tolist()
        return nmod_mat(len(rows), len(columns), entries, self.prime)

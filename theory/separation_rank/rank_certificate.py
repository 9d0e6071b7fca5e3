"""Certificates for lower bounds on separation ranks: made by elimination over F_p, checked without one.

A certificate holds the weights, a prime, and for every graded piece the rows and columns of a square part of its catalecticant. That the
part is invertible is shown by solutions x of A x = b for right-hand sides b which are derived from everything else in the certificate: a
singular matrix reaches a random b with chance at most 1/p, so `SIDES` of them leave p^-3. Checking costs one pass over the entries.
"""
from __future__ import annotations

import hashlib
import json
from collections.abc import Iterator, Mapping
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ..finite_field import centred, matmul, ple, triangular_solve
from ..measurement import Step
from ..residues import checked_prime
from .graded_pieces import (
    PRIME,
    Forms,
    Piece,
    catalecticant_part,
    dense_forms,
    frontier_net,
    partial_sums,
    piece_shape,
    scaled_forms,
    selection,
)
from .linear_attention import AttentionNet, normal_form

__all__ = ["KIND", "certificate", "recheck_ranks"]

KIND = "separation_rank/graded_ranks"
SIDES = 3

# Parts up to this size are also given to python-flint, modulo the prime and modulo another.
_FLINT = 300
_WEIGHTS = ("query", "key", "value", "output")

# Larger than the weights, so that they stay the same integers.
ANOTHER = 67108859
Integers = NDArray[np.integer[Any]]


def certificate(width: int, depth: int, *, heads: int = 1, seed: int = 0) -> dict[str, Any]:
    """The certificate that sep is at least the sum of the ranks found, for almost all weights of the shape.

    Args:
        width, depth, heads: the shape of the net.
        seed: of weights and choices.

    Cost: the elimination of every piece, once for the rank and once to solve.

    >>> certificate(2, 2)["rank"]
    18
    """
    net = frontier_net(width, depth, heads, seed)
    forms = scaled_forms(net)
    data: dict[str, Any] = {
        "kind": KIND, "claim": "separation_rank/exact", "width": width, "depth": depth, "heads": heads, "prime": PRIME, "seed": seed,
        "says": "For almost all real weights of this shape and N >= 2 (width + 1) tokens the separation rank is at least `rank`.",
        "weights": {name: getattr(net, name).tolist() for name in _WEIGHTS}, "pieces": [], "rank": 0}
    for order in range(forms.degree + 1):
        rng = np.random.default_rng([seed, order])
        piece = selection(piece_shape(width, depth, order), rng)
        data["pieces"].append(_piece(data, forms, order, piece))
    data["rank"] = sum(len(piece["rows"]) for piece in data["pieces"])
    return data


def _piece(data: Mapping[str, Any], forms: Forms, order: int, piece: Piece) -> dict[str, Any]:
    """Rows, columns and solutions: an invertible part from the pivots of the elimination."""
    found = ple(_upright(forms, order, piece), forms.prime)
    size = len(found.columns)
    part = {"order": order, "rows": piece.rows[np.sort(found.order[:size])].tolist(), "columns": piece.columns[np.sort(found.columns)].tolist()}
    del found
    square = _square(forms, part)
    factors = ple(square, forms.prime)
    below = triangular_solve(factors.lower, _sides(data, part, forms.prime)[factors.order], forms.prime, unit=True)
    solutions = triangular_solve(factors.upper, below, forms.prime, lower=False)
    return part | {"solutions": (solutions.T.astype(np.int64) % forms.prime).tolist()}


def _upright(forms: Forms, order: int, piece: Piece) -> NDArray[np.float64]:
    matrix = catalecticant_part(forms, order, piece)
    return matrix if order <= forms.degree - order else matrix.T


def _square(forms: Forms, part: Mapping[str, Any]) -> NDArray[np.float64]:
    piece = Piece(np.array(part["rows"], dtype=np.int64), np.array(part["columns"], dtype=np.int64))
    return _upright(forms, part["order"], piece)


def _sides(data: Mapping[str, Any], part: Mapping[str, Any], prime: int) -> Integers:
    """Right-hand sides that nobody can choose: a stream of SHA-256 over all that was fixed before. Array (size, SIDES)."""
    fixed = [data[name] for name in ("width", "depth", "heads", "prime", "weights")] + [part[name] for name in ("order", "rows", "columns")]
    key = hashlib.sha256(json.dumps(fixed, separators=(",", ":")).encode()).digest()
    size = len(part["rows"])
    stream = b"".join(hashlib.sha256(key + n.to_bytes(8, "big")).digest() for n in range(-(-size * SIDES // 4)))
    # Words of 64 bits modulo p: the bias is below p / 2^64.
    return (np.frombuffer(stream, dtype=">u8")[:size * SIDES] % np.uint64(prime)).astype(np.int64).reshape(size, SIDES)


# --- checking ---------------------------------------------------------------------------------------------------------------------


def recheck_ranks(data: Mapping[str, Any]) -> Iterator[Step]:
    """The steps that verify a certificate of kind `KIND`; see `certificate`.

    Raises:
        ValueError: for a shape or a modulus that makes no sense.
    """
    width, depth, heads, prime = (int(data[name]) for name in ("width", "depth", "heads", "prime"))
    degree = (3**depth - 1) // 2
    try:
        checked_prime(prime)
        refused = "" if prime > degree else f"p = {prime} does not exceed the degree {degree} of the forms, so derivatives vanish"
    except ValueError as error:
        refused = str(error)
    yield Step(f"refused: {refused}" if refused else f"p = {prime} is prime and exceeds the degree {degree} of the forms", not refused)
    if refused:
        return
    net = _net(data["weights"], width, depth, heads, prime)
    coefficients = dense_forms(net)
    yield Step("the forms take the values of the recursion over layers at four random moments", _forms_agree(net, coefficients))
    forms = scaled_forms(net)
    orders = [piece["order"] for piece in data["pieces"]]
    yield Step("every piece has its own order between 0 and C(L)", len(set(orders)) == len(orders) and set(orders) <= set(range(degree + 1)))
    for part in data["pieces"]:
        yield _invertible(data, forms, part)
    total = sum(len(part["rows"]) for part in data["pieces"])
    yield Step(f"the sizes add up to {data['rank']}", total == data["rank"])


def _net(weights: Mapping[str, Any], d: int, depth: int, heads: int, prime: int) -> AttentionNet:
    if min(d, depth, heads) < 1 or d % heads:
        raise ValueError(f"width={d}, depth={depth}, heads={heads}: all must be positive and heads must divide width")
    inner = d // heads
    arrays = {}
    for name in _WEIGHTS:
        arrays[name] = np.array(weights[name])
        wanted = (depth, heads, d, inner) if name == "output" else (depth, heads, inner, d)
        if arrays[name].shape != wanted or arrays[name].dtype.kind not in "iu":
            raise ValueError(f"weights.{name} must be integers of shape {wanted}, found shape {arrays[name].shape}")
    query, key, value, output = (arrays[name].astype(np.int64) % prime for name in _WEIGHTS)
    return AttentionNet(query, key, value, output, prime)


def _forms_agree(net: AttentionNet, coefficients: NDArray[np.float64]) -> bool:
    """Schwartz and Zippel: forms of degree C that differ agree at a random point with chance at most C/p."""
    assert net.prime is not None
    p, d = net.prime, net.width
    rng, degree = np.random.default_rng(len(coefficients.T)), (3**net.depth - 1) // 2
    pairs = [(a, b) for a in range(d) for b in range(a, d)]
    numbers = np.arange(coefficients.shape[1])
    sums = partial_sums(len(pairs), degree, numbers).astype(np.int64)
    for _ in range(4):
        point = rng.integers(0, p, len(pairs))
        moment = np.zeros((d, d), dtype=np.int64)
        for (a, b), value in zip(pairs, point, strict=True):
            moment[a, b] = moment[b, a] = value
        values, before = np.ones(len(numbers), dtype=np.int64), np.zeros(len(numbers), dtype=np.int64)
        for variable, after in zip(point, [*sums, np.full(len(numbers), degree)], strict=True):
            powers = np.array([pow(int(variable), e, p) for e in range(degree + 1)])
            values = values * powers[after - before] % p
            before = after
        found = [int(v) for v in (matmul(coefficients, values[:, None], p)[:, 0] % p)]
        if found != [int(normal_form(net, moment, unit)) for unit in np.eye(d, dtype=np.int64)]:
            return False
    return True


def _invertible(data: Mapping[str, Any], forms: Forms, part: Mapping[str, Any]) -> Step:
    order, size = part["order"], len(part["rows"])
    rows, columns = piece_shape(forms.width, int(data["depth"]), order)
    inside = all(len(set(part[name])) == size and all(0 <= n < limit for n in part[name])
                 for name, limit in (("rows", rows), ("columns", columns)))
    says = f"order {order}: {size} rows and columns of {rows} x {columns} are an invertible matrix"
    if not inside:
        return Step(f"{says} (refused: rows or columns repeat or lie outside)", False)
    if not size:
        return Step(says, True)
    square = _square(forms, part)
    solutions = np.array(part["solutions"], dtype=np.int64).T
    if solutions.shape != (size, SIDES):
        return Step(f"{says} (refused: {SIDES} solutions of length {size} are needed)", False)
    defect = matmul(square, solutions, forms.prime) - centred(_sides(data, part, forms.prime), forms.prime)
    holds = not (defect % forms.prime).any()
    if holds and size <= _FLINT:
        holds = _flint_rank(square, forms.prime) == size and _rank_at_another_prime(data, part) == size
        says += ", by python-flint too and modulo another prime"
    return Step(f"{says}; a singular one solves {SIDES} random systems with chance p^-{SIDES}", holds)


def _flint_rank(square: NDArray[np.float64], prime: int) -> int:
    import flint

    return int(flint.nmod_mat(len(square), len(square), [int(v) % prime for v in square.ravel()], prime).rank())


def _rank_at_another_prime(data: Mapping[str, Any], part: Mapping[str, Any]) -> int:
    """The rank of the same rows and columns at the same integer weights modulo a prime that has nothing to do with the first."""
    width, depth, heads = (int(data[name]) for name in ("width", "depth", "heads"))
    net = _net(data["weights"], width, depth, heads, ANOTHER)
    return _flint_rank(_square(scaled_forms(net), part), ANOTHER)

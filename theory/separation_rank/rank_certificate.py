"""Certificates for lower bounds on separation ranks, made by elimination over F_p.

A certificate holds the weights, a prime, and for every graded piece the rows and columns of a
square part of its catalecticant. That the part is invertible is shown by solutions x of A x = b for
right-hand sides b which are derived from everything else in the certificate: a singular matrix
reaches a random b with chance at most 1/p, so `SIDES` of them leave p^-3. Parts of up to a thousand
rows are decided without chance: by their rank modulo p. Where the forms are small they are
multiplied out by python-flint, so that nothing of the code that measures takes part.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterator, Mapping
from typing import Any

import numpy as np
from flint import nmod_mat
from numpy.typing import NDArray

from ..certificates.second_net import NAMES, PlainForms, read_net, whole, whole_list
from ..claims.values import Step
from ..exact.finite_field import centred, matmul, ple, triangular_solve
from ..exact.residues import checked_prime
from .graded_pieces import (
    PRIME,
    Forms,
    Piece,
    catalecticant_part,
    dense_forms,
    exponents_of,
    forms_bytes,
    frontier_net,
    piece_shape,
    scaled_forms,
    selection,
)
from .linear_attention import LinearAttentionNet, normal_form

__all__ = [
    "KIND",
    "LARGEST",
    "STORED",
    "certificate",
    "established",
    "independent",
    "recheck_ranks",
    "sentence",
]

KIND = "separation_rank/graded_ranks"
SIDES = 3

# The certificates beside this file, by (d_x, L); written out, so that code versions cover them.
STORED: Mapping[tuple[int, int], str] = {
    (2, 1): "certificates/exact-2-1.json",
    (2, 2): "certificates/exact-2-2.json",
    (2, 3): "certificates/exact-2-3.json",
    (2, 4): "certificates/exact-2-4.json",
    (3, 1): "certificates/exact-3-1.json",
    (3, 2): "certificates/exact-3-2.json",
    (3, 3): "certificates/exact-3-3.json",
    (4, 1): "certificates/exact-4-1.json",
    (4, 2): "certificates/exact-4-2.json",
    (5, 1): "certificates/exact-5-1.json",
    (5, 2): "certificates/exact-5-2.json",
    (6, 1): "certificates/exact-6-1.json",
    (6, 2): "certificates/exact-6-2.json",
}

# Parts up to this size are decided by python-flint's rank, without chance.
_FLINT = 1000

# Larger parts, and forms of more bytes, would not fit into the memory of a small machine.
LARGEST = 12_000
_MOST_BYTES = 8 * 2**30

Integers = NDArray[np.integer[Any]]


def certificate(width: int, depth: int, *, heads: int = 1, seed: int = 0) -> dict[str, Any]:
    """The certificate that sep is at least the sum of the ranks found, for almost all weights.

    Cost: the elimination of every piece, once for the rank and once to solve.

    >>> certificate(2, 2)["rank"]
    18
    """
    net = frontier_net(width, depth, heads, seed)
    forms = scaled_forms(net)
    data: dict[str, Any] = {
        "kind": KIND,
        "claim": "separation_rank/exact",
        "says": "",
        "width": width,
        "depth": depth,
        "heads": heads,
        "prime": PRIME,
        "weights": {name: getattr(net, name).tolist() for name in NAMES},
        "pieces": [],
        "rank": 0,
    }
    for order in range(forms.degree + 1):
        rng = np.random.default_rng([seed, order])
        piece = selection(piece_shape(width, depth, order), rng)
        data["pieces"].append(_piece(data, forms, order, piece))
    data["rank"] = sum(len(piece["rows"]) for piece in data["pieces"])
    return data | {"says": sentence(data)}


def sentence(data: Mapping[str, Any]) -> str:
    """What a certificate says, for its numbers."""
    d, L, H, rank = (data[name] for name in ("width", "depth", "heads", "rank"))
    return (
        f"For d_x = {d}, L = {L}, H = {H} and almost all real weights the catalecticant of "
        f"each order listed has at least the rank of its rows here, and with N >= {2 * d + 2} "
        f"tokens the separation rank is at least their sum, {rank}."
    )


def established(data: Mapping[str, Any]) -> str:
    """What a certificate that stands has established, with the numbers of the file."""
    d, L, H, rank = (data[name] for name in ("width", "depth", "heads", "rank"))
    full = sum(
        len(part["rows"]) == min(piece_shape(d, L, part["order"])) for part in data["pieces"]
    )
    return (
        f"d={d}, L={L}, H={H}, N>={2 * d + 2}: sep >= {rank} for almost all weights; {full} of "
        f"{(3**L + 1) // 2} catalecticants have the rank of their shorter side"
    )


def independent(data: Mapping[str, Any]) -> str:
    """Whether checking a certificate takes no part of the code that measures."""
    if PlainForms.fits(data["width"], data["depth"]):
        return "yes"
    return (
        "in part: the matrices are built by the code that measures, the elimination is not repeated"
    )


def _piece(data: Mapping[str, Any], forms: Forms, order: int, piece: Piece) -> dict[str, Any]:
    """Rows, columns and solutions: an invertible part from the pivots of the elimination."""
    triple = ple(_upright(forms, order, piece), forms.prime)
    size = len(triple.columns)
    part = {
        "order": order,
        "rows": piece.rows[np.sort(triple.order[:size])].tolist(),
        "columns": piece.columns[np.sort(triple.columns)].tolist(),
    }
    del triple
    square = _square(forms, part)
    factors = ple(square, forms.prime)
    sides = _sides(data, part, forms.prime)[factors.order]
    below = triangular_solve(factors.lower, sides, forms.prime, unit=True)
    solutions = triangular_solve(factors.upper, below, forms.prime, lower=False)
    return part | {"solutions": (solutions.T.astype(np.int64) % forms.prime).tolist()}


def _upright(forms: Forms, order: int, piece: Piece) -> NDArray[np.float64]:
    matrix = catalecticant_part(forms, order, piece)
    return matrix if order <= forms.degree - order else matrix.T


def _square(forms: Forms, part: Mapping[str, Any]) -> NDArray[np.float64]:
    piece = Piece(np.array(part["rows"], dtype=np.int64), np.array(part["columns"], dtype=np.int64))
    return _upright(forms, part["order"], piece)


def _sides(data: Mapping[str, Any], part: Mapping[str, Any], prime: int) -> Integers:
    """Right-hand sides that nobody can choose: SHA-256 over all that was fixed before."""
    fixed = [data[name] for name in ("width", "depth", "heads", "prime", "weights")]
    fixed += [part[name] for name in ("order", "rows", "columns")]
    key = hashlib.sha256(json.dumps(fixed, separators=(",", ":")).encode()).digest()
    size = len(part["rows"])
    blocks = (key + n.to_bytes(8, "big") for n in range(-(-size * SIDES // 4)))
    stream = b"".join(hashlib.sha256(block).digest() for block in blocks)
    # Words of 64 bits modulo p: the bias is below p / 2^64.
    words = np.frombuffer(stream, dtype=">u8")[: size * SIDES] % np.uint64(prime)
    return words.astype(np.int64).reshape(size, SIDES)


# --- checking -------------------------------------------------------------------------------------


def recheck_ranks(data: Mapping[str, Any]) -> Iterator[Step]:
    """The steps that verify a certificate of kind `KIND`; a ValueError for what is no such one, or
    too large to be checked."""
    width, depth = whole(data, "width", 1, 126), whole(data, "depth", 1, 6)
    heads, prime = whole(data, "heads", 1, 126), whole(data, "prime", 1, 2**62)
    degree = (3**depth - 1) // 2
    refused = (
        ""
        if prime > degree
        else (
            f"p = {prime} does not exceed the degree {degree} of the forms, so derivatives vanish"
        )
    )
    try:
        checked_prime(prime)
    except ValueError as error:
        refused = str(error)
    right = f"p = {prime} is prime and exceeds the degree {degree} of the forms"
    yield Step(f"refused: {refused}" if refused else right, not refused)
    if refused:
        return
    net, parts = read_net(data["weights"], width, depth, heads), _parts(data)
    orders = [part["order"] for part in parts]
    own = len(set(orders)) == len(orders) and set(orders) <= set(range(degree + 1))
    yield Step("every piece has its own order between 0 and C(L)", own)
    plain, forms = None, None
    if PlainForms.fits(width, depth):
        plain = PlainForms(net, prime)
        yield Step(
            "the recursion over tokens gives the normal form's outputs at four inputs "
            "modulo a prime (a check of the code: no rank rests on it)",
            net.moments_give_outputs(4),
        )
    else:
        if forms_bytes(width, depth) > _MOST_BYTES:
            raise ValueError(
                f"width {width}, depth {depth}: the forms take more than "
                f"{_MOST_BYTES // 2**30} GB; give a smaller shape"
            )
        reduced = _reduced(data, prime)
        yield Step(
            "the forms take the values of the recursion over layers at four random moments",
            _forms_agree(reduced, dense_forms(reduced)),
        )
        forms = scaled_forms(reduced)
    for part in parts:
        yield _invertible(data, part, prime, plain, forms)
    total = sum(len(part["rows"]) for part in parts)
    yield Step(
        f"the sizes add up to {data['rank']}", type(data["rank"]) is int and total == data["rank"]
    )


def _parts(data: Mapping[str, Any]) -> list[dict[str, Any]]:
    """The pieces, every number an integer; a ValueError for anything else, and large parts."""
    parts = data["pieces"]
    fields = {"order", "rows", "columns", "solutions"}
    if not isinstance(parts, list) or not all(
        isinstance(part, dict) and set(part) == fields for part in parts
    ):
        raise ValueError("pieces must be objects with order, rows, columns and solutions")
    for part in parts:
        whole(part, "order", -1, 3**6)
        if max(len(whole_list(part, "rows")), len(whole_list(part, "columns"))) > LARGEST:
            raise ValueError(
                f"a piece has more than {LARGEST} rows or columns; give a smaller shape"
            )
        if not isinstance(part["solutions"], list):
            raise ValueError("solutions must be lists of whole numbers")
        for solution in part["solutions"]:
            whole_list({"solutions": solution}, "solutions")
    return parts


def _reduced(data: Mapping[str, Any], prime: int) -> LinearAttentionNet:
    query, key, value, output = (
        (np.array(data["weights"][name], dtype=object) % prime).astype(np.int64) for name in NAMES
    )
    return LinearAttentionNet(query, key, value, output, prime)


def _forms_agree(net: LinearAttentionNet, coefficients: NDArray[np.float64]) -> bool:
    """Forms of degree C that differ agree at a random point with chance at most C/p."""
    assert net.prime is not None
    p, d = net.prime, net.width
    rng, degree = np.random.default_rng(len(coefficients.T)), (3**net.depth - 1) // 2
    pairs = [(a, b) for a in range(d) for b in range(a, d)]
    powers_of = exponents_of(len(pairs), degree, np.arange(coefficients.shape[1]))
    for _ in range(4):
        point = rng.integers(0, p, len(pairs))
        moment = np.zeros((d, d), dtype=np.int64)
        values = np.ones(coefficients.shape[1], dtype=np.int64)
        for (a, b), value, exponents in zip(pairs, point, powers_of, strict=True):
            moment[a, b] = moment[b, a] = value
            powers = np.array([pow(int(value), e, p) for e in range(degree + 1)])
            values = values * powers[exponents] % p
        products = [int(v) for v in (matmul(coefficients, values[:, None], p)[:, 0] % p)]
        if products != [int(normal_form(net, moment, unit)) for unit in np.eye(d, dtype=np.int64)]:
            return False
    return True


def _invertible(
    data: Mapping[str, Any],
    part: Mapping[str, Any],
    prime: int,
    plain: PlainForms | None,
    forms: Forms | None,
) -> Step:
    order, size = part["order"], len(part["rows"])
    says = f"order {order}: {size} rows and columns"
    if not 0 <= order <= (3 ** data["depth"] - 1) // 2:
        return Step(f"{says} (refused: there is no such order)", False)
    rows, columns = piece_shape(data["width"], data["depth"], order)
    says += f" of {rows} x {columns} are an invertible matrix"
    inside = all(
        len(set(part[name])) == len(part[name]) == size and all(0 <= n < limit for n in part[name])
        for name, limit in (("rows", rows), ("columns", columns))
    )
    if not inside:
        return Step(f"{says} (refused: rows or columns repeat or lie outside)", False)
    if [len(solution) for solution in part["solutions"]] != SIDES * [size]:
        return Step(f"{says} (refused: {SIDES} solutions of length {size} are needed)", False)
    if not size:
        return Step(says, True)
    square = plain.square(order, part["rows"], part["columns"]) if plain else None
    if square is None:
        assert forms is not None
        matrix = _square(forms, part)
        holds = _solve(matrix, part, data, prime)
        if size <= _FLINT:
            entries = (matrix.astype(np.int64) % prime).ravel().tolist()
            square = nmod_mat(size, size, entries, prime)
    else:
        holds = _solve_in_flint(square, part, data, prime)
    if square is not None and size <= _FLINT:
        return Step(
            f"{says}, by its rank modulo p (python-flint); it solves the systems stored",
            holds and int(square.rank()) == size,
        )
    return Step(
        f"{says}; a singular one solves {SIDES} random systems with chance p^-{SIDES}", holds
    )


def _solve(
    matrix: NDArray[np.float64], part: Mapping[str, Any], data: Mapping[str, Any], prime: int
) -> bool:
    solutions = (np.array(part["solutions"], dtype=object).T % prime).astype(np.int64)
    defect = matmul(matrix, solutions, prime) - centred(_sides(data, part, prime), prime)
    return not (defect % prime).any()


def _solve_in_flint(
    square: nmod_mat, part: Mapping[str, Any], data: Mapping[str, Any], prime: int
) -> bool:
    size = len(part["rows"])
    entries = [solution[n] % prime for n in range(size) for solution in part["solutions"]]
    sides = nmod_mat(size, SIDES, _sides(data, part, prime).ravel().tolist(), prime)
    return bool(square * nmod_mat(size, SIDES, entries, prime) == sides)

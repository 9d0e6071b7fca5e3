"""Stored counterexamples, checked again exactly from the file alone: no claim, record, or random number of ours is needed.

A certificate is a JSON object whose `kind` names the argument that it feeds. `recheck` runs that argument and returns its steps.
"""
from __future__ import annotations

import json
from collections.abc import Callable, Iterator, Mapping
from importlib.resources import files
from pathlib import Path
from typing import TYPE_CHECKING, Any

from .measurement import Step

if TYPE_CHECKING:
    from .separation_rank.linear_attention import AttentionNet

__all__ = ["KINDS", "load", "product_certificate", "recheck", "shipped"]

_WEIGHTS = ("query", "key", "value", "output")


def recheck(data: Mapping[str, Any]) -> tuple[Step, ...]:
    """Check a certificate in exact arithmetic.

    Args:
        data: what a certificate file holds.

    Returns:
        The steps of the argument; the certificate stands when every step holds.

    Raises:
        ValueError: when the kind is unknown, or a field is missing or has the wrong form.

    >>> [step.holds for step in recheck(load(shipped()["separation_rank-upper_bound_deep.json"]))]
    [True, True, True, True, True, True]
    """
    kind = data.get("kind") if isinstance(data, Mapping) else None
    if kind not in KINDS:
        raise ValueError(f"certificate kind {kind!r} is not known; accepted are {', '.join(sorted(KINDS))}")
    try:
        return tuple(KINDS[kind](data))
    except (KeyError, TypeError, IndexError, OverflowError, AttributeError) as error:
        raise ValueError(f"not a certificate of kind {kind}: {type(error).__name__} at {error}; restore the file") from None


def load(path: Path) -> dict[str, Any]:
    """Read a certificate file.

    Raises:
        ValueError: when the file is no JSON object.
    """
    try:
        data = json.loads(path.read_text(encoding="utf-8"))
    except (OSError, UnicodeDecodeError, json.JSONDecodeError) as error:
        raise ValueError(f"{path} cannot be read as a certificate: {error}; expected is a JSON object") from None
    if not isinstance(data, dict):
        raise ValueError(f"{path} holds a {type(data).__name__}; expected is a JSON object with a field 'kind'")
    return data


def shipped() -> dict[str, Path]:
    """The certificates that come with the package, by file name."""
    folder = Path(str(files(__package__) / "counterexamples"))
    return {path.name: path for path in sorted(folder.glob("*.json"))}


# --- a net whose layers multiply by linear forms of the moments, against an upper bound on the separation rank ---------------------


def product_certificate(net: AttentionNet, tokens: int) -> dict[str, Any]:
    """The certificate of kind "separation_rank/product_of_forms" for a net over Z, for instance from `coordinate_net`.

    Raises:
        ArithmeticError: when a layer does not multiply by one linear form.
    """
    from .separation_rank.measured import form_exponents, linear_forms

    forms = linear_forms(net)
    distinct = sorted(set(forms))
    return {"kind": "separation_rank/product_of_forms", "claim": "separation_rank/upper_bound_deep",
            "says": "These weights have separation rank prod (exponent + 1), and almost all weights of their shape at least that, for "
                    "every balanced partition of at least 2 (width + 1) tokens. That exceeds the upper bound 2 d L + L - 2 d log_3(d / "
                    "(2 sqrt(2) e)) + log_3 d as recalled, stated for L > log_3 d.",
            "width": net.width, "depth": net.depth, "heads": net.heads, "tokens": tokens,
            "weights": {name: getattr(net, name).tolist() for name in _WEIGHTS},
            "forms": [list(form) for form in distinct], "exponents": form_exponents(forms, distinct)}


def _recheck_product(data: Mapping[str, Any]) -> Iterator[Step]:
    from .separation_rank.measured import form_exponents, linear_forms, require_equal_values, require_independent

    d, depth, heads, tokens = (int(data[name]) for name in ("width", "depth", "heads", "tokens"))
    net = _net(data["weights"], d, depth, heads)
    stored, exponents = [tuple(int(c) for c in form) for form in data["forms"]], [int(e) for e in data["exponents"]]
    yield Step(f"L = {depth} > log_3 {d}, and N = {tokens} is even and at least 2 (d + 1)",
               3**depth > d and tokens % 2 == 0 and tokens >= 2 * d + 2)
    yield Step("the forms stored are linearly independent over Q", _passes(require_independent, stored))
    try:
        forms = linear_forms(net)
    except ArithmeticError:
        forms = []
    yield Step("every layer is T_l(M) = f_l(M) P for all M, with f_l one of the forms stored", bool(forms) and set(forms) == set(stored))
    right = bool(forms) and set(forms) == set(stored) and exponents == form_exponents(forms, stored)
    yield Step("y_p = x_p prod f^e with the exponents stored, by the recursion over layers", right)
    yield Step("the recursion over tokens gives this product at four inputs modulo 2^31 - 1",
               right and _passes(require_equal_values, net, stored, exponents, 4, 0))
    yield Step("log_3 prod (e + 1) > 2 d L + L - 2 d log_3(d / (2 sqrt(2) e)) + log_3 d, in rigorous balls", _exceeds(d, depth, exponents))


def _net(weights: Mapping[str, Any], d: int, depth: int, heads: int) -> AttentionNet:
    import numpy as np

    from .separation_rank.linear_attention import AttentionNet

    arrays = {name: np.array(weights[name], dtype=object) for name in _WEIGHTS}
    inner = d // heads if heads > 0 else 0
    wanted = {name: (depth, heads, d, inner) if name == "output" else (depth, heads, inner, d) for name in _WEIGHTS}
    for name, array in arrays.items():
        if inner < 1 or d % heads or array.shape != wanted[name] or not all(type(v) is int for v in array.ravel()):
            raise ValueError(f"weights.{name} must be integers of shape {wanted[name]}, found shape {array.shape}")
    return AttentionNet(arrays["query"], arrays["key"], arrays["value"], arrays["output"], prime=None)


def _passes(check: Callable[..., None], *arguments: Any) -> bool:
    try:
        check(*arguments)
    except ArithmeticError:
        return False
    return True


def _exceeds(d: int, depth: int, exponents: list[int]) -> bool:
    import math

    import flint
    from flint import arb, fmpz

    with flint.ctx.workprec(192):
        log3 = arb(3).log()
        rank = arb(fmpz(math.prod(e + 1 for e in exponents))).log() / log3
        bound = 2 * d * depth + depth - 2 * d * (arb(d) / (2 * arb(2).sqrt() * arb(1).exp())).log() / log3 + arb(d).log() / log3
        return bool(rank > bound)


def _recheck_ranks(data: Mapping[str, Any]) -> Iterator[Step]:
    from .separation_rank.rank_certificate import recheck_ranks

    return recheck_ranks(data)


# Another kind of certificate needs one line here: its name, and a function from the data to the steps.
KINDS: dict[str, Callable[[Mapping[str, Any]], Iterator[Step]]] = {
    "separation_rank/product_of_forms": _recheck_product, "separation_rank/graded_ranks": _recheck_ranks}

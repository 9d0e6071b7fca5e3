"""The arithmetics reach what they say they reach, with and without gradients, and change what they
should and nothing else."""

from __future__ import annotations

import functools
from collections.abc import Callable
from fractions import Fraction
from typing import Any

import numpy as np
import pytest
import torch
from arithmetics import arithmetic
from torch.nn import functional

ROWS, INNER, COLUMNS = 24, 37, 5
DTYPES = ("float32", "float64")
scaled = functional.scaled_dot_product_attention


def batches(x: Any) -> Any:
    return x.reshape(2, ROWS // 2, -1)


def twice(x: Any) -> Any:
    return torch.stack([x, x])


# Each takes a matrix of equal rows and another matrix; names of modules are looked up when it runs.
IN_TORCH: dict[str, Callable[[Any, Any], Any]] = {
    "matmul": torch.matmul,
    "@": lambda a, b: a @ b,
    "mm": torch.mm,
    "bmm": lambda a, b: torch.bmm(batches(a), twice(b)),
    "addmm": lambda a, b: torch.addmm(torch.zeros_like(a[:1, :COLUMNS]), a, b),
    "baddbmm": lambda a, b: torch.baddbmm(torch.zeros_like(a[0, 0]), batches(a), twice(b)),
    "baddbmm_": lambda a, b: a.new_empty(2, ROWS // 2, COLUMNS).baddbmm_(
        batches(a), twice(b), beta=0, alpha=0.7
    ),
    "addbmm": lambda a, b: torch.addbmm(torch.zeros_like(a[0, 0]), twice(a), twice(b)),
    "linear": lambda a, b: functional.linear(a, b.T),
    "linear with a bias": lambda a, b: functional.linear(a, b.T, torch.zeros_like(b[0])),
    "einsum": lambda a, b: torch.einsum("ij,jk->ik", a, b),
    "einsum of three": lambda a, b: torch.einsum("ij,jk,kl->il", a, b, b.T),
    "tensordot": lambda a, b: torch.tensordot(a, b, 1),
    "inner": lambda a, b: torch.inner(a, b.T),
    "mv": lambda a, b: torch.mv(a, b[:, 0]),
    "addmv": lambda a, b: torch.addmv(torch.zeros_like(a[:, 0]), a, b[:, 0]),
    "dot": lambda a, b: torch.stack([torch.dot(row, b[:, 0]) for row in a]),
    "vdot": lambda a, b: torch.stack([torch.vdot(row, b[:, 0]) for row in a]),
    "attention": lambda a, b: scaled(a[None, None], b.T[None, None], b.T[None, None])[0, 0],
    "causal attention": lambda a, b: scaled(
        a[None, None], *[torch.cat([b.T] * 9)[None, None, :ROWS]] * 2, is_causal=True
    )[0, 0, 5:6].expand(ROWS, -1),
    "multi_dot": lambda a, b: torch.linalg.multi_dot([a, b, b.T]),
}
IN_NUMPY: dict[str, Callable[[Any, Any], Any]] = {
    "matmul": np.matmul,
    "@": lambda a, b: a @ b,
    "@ in batches": lambda a, b: batches(a) @ b,
    "@ vector": lambda a, b: a @ b[:, 0],
    "vector @": lambda a, b: np.array([row @ b for row in a]),
    "dot": lambda a, b: np.dot(a, b),
    "vdot": lambda a, b: np.array([np.vdot(row, b[:, 0]) for row in a]),
    "inner": lambda a, b: np.inner(a, b.T),
    "tensordot": lambda a, b: np.tensordot(a, b, 1),
    "einsum": lambda a, b: np.einsum("ij,jk->ik", a, b),
    "einsum, transposed": lambda a, b: np.einsum("ij,jk", a, b),
}
EACH = [
    *(("torch", name, grad) for name in IN_TORCH for grad in (False, True)),
    *(("numpy", name, False) for name in IN_NUMPY),
]
# Gradients of what is written in place do not exist.
EACH.remove(("torch", "baddbmm_", True))
each_operation = pytest.mark.parametrize(("library", "name", "grad"), EACH)


def drawn(dtype: str) -> tuple[Any, Any]:
    rng = np.random.default_rng(3)
    a, b = rng.normal(size=(1, INNER)), rng.normal(size=(INNER, COLUMNS))
    return np.repeat(a, ROWS, axis=0).astype(dtype), b.astype(dtype)


def results(library: str, name: str, grad: bool, dtype: str) -> Any:
    """The result of one operation, a row for each row of the first factor."""
    a, b = drawn(dtype)
    if library == "numpy":
        found = IN_NUMPY[name](a, b)
    else:
        a, b = (torch.from_numpy(x).requires_grad_(grad) for x in (a, b))
        found = IN_TORCH[name](a, b)
        assert found.requires_grad is grad
        found = found.detach().numpy()
    assert found.dtype == dtype
    return found.reshape(-1, found.shape[-1] if found.ndim > 1 else 1)


@pytest.mark.parametrize("kind", ["exact", "perturbed"])
def test_products_of_nothing_are_what_they_are_without(kind: str) -> None:
    """A minimiser that ends where it starts asks for them."""
    none, some = np.zeros((0, 3)), np.zeros((2, 0))
    with arithmetic(kind):
        assert np.einsum("ij,ij->i", none, none).shape == (0,)
        assert (np.einsum("ij,kj->ik", some, some) == np.zeros((2, 2))).all()


@pytest.mark.parametrize("dtype", DTYPES)
@each_operation
def test_exact_products_of_equal_rows_are_equal(
    library: str, name: str, grad: bool, dtype: str
) -> None:
    with arithmetic("exact"):
        found = results(library, name, grad, dtype)
    assert (found == found[0]).all()
    assert found == pytest.approx(results(library, name, grad, dtype), rel=1e-4, abs=1e-5)


@pytest.mark.parametrize("dtype", DTYPES)
@each_operation
def test_perturbed_products_differ_in_last_digits_and_repeat(
    library: str, name: str, grad: bool, dtype: str
) -> None:
    plain = results(library, name, grad, dtype)
    with arithmetic("perturbed"):
        found, again = (results(library, name, grad, dtype) for _ in range(2))
    assert (found == again).all()
    assert (found != plain).any()
    assert found == pytest.approx(plain, rel=1e-4, abs=1e-5)
    assert (results(library, name, grad, dtype) == plain).all()


@pytest.mark.parametrize("name", ["exact", "perturbed"])
def test_backward_passes_are_reached(name: str) -> None:
    def gradient() -> Any:
        a, b = (torch.from_numpy(x).requires_grad_() for x in drawn("float64"))
        weights = torch.linspace(0.1, 0.7, COLUMNS, dtype=torch.float64)
        (functional.linear(a, b.T) * weights).sum().backward()
        return np.concatenate([a.grad.numpy().ravel(), b.grad.numpy().ravel()])

    plain = gradient()
    with arithmetic(name):
        found = gradient()
    assert (found != plain).any()
    assert found == pytest.approx(plain)


@pytest.mark.parametrize("dtype", DTYPES)
def test_exact_products_are_the_nearest_numbers(dtype: str) -> None:
    """As fractions have them, over forty powers of two, where plain products are not."""
    rng = np.random.default_rng(4)
    a, b = (
        (rng.normal(size=size) * 2.0 ** rng.integers(-20, 20, size)).astype(dtype)
        for size in ((6, 50), (50, 7))
    )
    rows, columns = ([[Fraction(float(x)) for x in row] for row in each] for each in (a, b.T))
    true = [[float(sum(map(Fraction.__mul__, row, column))) for column in columns] for row in rows]
    assert (a @ b != np.array(true).astype(dtype)).any()
    with arithmetic("exact"):
        assert (a @ b == np.array(true).astype(dtype)).all()


def test_exact_products_of_numbers_far_apart_end() -> None:
    """As weights of attention are, where a score is 750 below the largest."""
    weights = np.array([[1.0, 2.0**-1070, 2.0**-1040, 0.0]])
    with arithmetic("exact"):
        product = torch.from_numpy(weights) @ torch.eye(4, dtype=torch.float64)
        assert product.tolist() == weights.tolist()


@pytest.mark.parametrize("name", ["exact", "perturbed"])
def test_what_no_order_of_summation_rounds_stays(name: str) -> None:
    """Whole numbers, chosen entries, zeros, what is not finite; and other types are let through."""
    rng = np.random.default_rng(5)
    whole = rng.integers(-99, 99, (9, 9))
    real, chosen = rng.normal(size=(9, 9)), np.eye(9)[[3, 3, 1, 0, 8]]
    with arithmetic(name):
        for dtype in DTYPES:
            assert (whole.astype(dtype) @ whole.astype(dtype) == whole @ whole).all()
            assert (
                chosen.astype(dtype) @ real.astype(dtype) == real[[3, 3, 1, 0, 8]].astype(dtype)
            ).all()
        assert not (0 * real @ real).any()
        with np.errstate(all="ignore"):
            assert np.isnan(np.full((2, 2), np.inf) @ np.zeros((2, 2))).all()
        assert (np.zeros((3, 0)) @ np.zeros((0, 2)) == np.zeros((3, 2))).all()
        assert (torch.ones(2, 3, 0) @ torch.ones(0, 4) == torch.zeros(2, 3, 4)).all()
        assert (torch.ones(3, 3, dtype=torch.long) @ torch.ones(3, 3, dtype=torch.long) == 3).all()
        assert (torch.empty(2, 3, device="meta") @ torch.empty(3, 4, device="meta")).shape == (2, 4)


def test_the_order_of_a_view_is_none_of_the_arithmetic() -> None:
    """Reversed, transposed and strided factors, as their copies."""
    rng = np.random.default_rng(6)
    wide = rng.normal(size=(4, 20, 30))
    a, b = wide[::-1, ::3, ::-2], wide[:, :15, :].swapaxes(1, 2)[:, :15][:, :, ::-1]
    for name in ("exact", "perturbed"):
        with arithmetic(name):
            assert (a @ b == functools.reduce(np.matmul, [a.copy(), b.copy()])).all()

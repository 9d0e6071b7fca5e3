"""Two arithmetics of floating-point matrix products that need no other CPU.

    pytest --arithmetic exact tests/empirics
    pytest --arithmetic perturbed tests/empirics

`exact`: entries are split into parts whose products no order of summation rounds; the sums of these
are added in one order with twice the precision, and rounded once. Equal rows give equal results, on
every CPU the same ones. `perturbed`: a hash of both factors and of the place moves each result that
an order of summation may round by at most one unit in the last place of the sum of absolute values.
The same product gives the same result; equal rows of one product do not.

Reached, in the main thread, in single and double precision on a CPU: all of torch that ends in mm,
bmm, mv, dot, vdot, addmm, baddbmm, addbmm or addmv, with and without gradients and in backward
passes, so matmul, @, linear, einsum, tensordot and attention, which takes no fused kernel here;
NumPy's matmul and @, whoever calls them, and its dot, inner, vdot, tensordot and einsum of two
arrays, by these names.

Not reached: other sums (means, softmax, norms), convolutions, factorisations (linalg), the method
`ndarray.dot`, NumPy's vecdot, matvec and vecmat, einsum of other numbers of arrays, SciPy, Python's
own sums, torch.compile, and processes that a test starts.
"""

from __future__ import annotations

import ctypes
import math
import zlib
from collections.abc import Callable, Iterator, Sequence
from contextlib import ExitStack, contextmanager
from types import SimpleNamespace
from typing import Any

import numpy as np
import torch
from numpy.typing import NDArray
from torch.nn.attention import SDPBackend, sdpa_kernel
from torch.utils._python_dispatch import TorchDispatchMode

Array = NDArray[Any]
Product = Callable[[Array, Array], Array]
_BITS = {np.dtype(np.float32): 24, np.dtype(np.float64): 53}
# NumPy's numbers of its types float32 and float64.
_TYPES = (11, 12)


def exact(a: Array, b: Array) -> Array:
    """a @ b, (..., m, k) times (..., k, n), rounded once."""
    if not (a.size and b.size):
        return np.matmul(a, b)
    finite = [np.isfinite(x).all((-1, -2), keepdims=True) for x in (a, b)]
    if not all(each.all() for each in finite):
        # One matrix of a batch leaves the others as they are.
        known = exact(np.where(finite[0], a, 0), np.where(finite[1], b, 0))
        return np.where(finite[0] & finite[1], known, np.matmul(a, b))
    bits = (53 - (a.shape[-1] - 1).bit_length()) // 2
    (left, a_power), (right, b_power) = _parts(a, -1, bits), _parts(b, -2, bits)
    total = rest = np.zeros(1)
    for level in range(len(left) + len(right) - 1):
        for i in range(max(0, level + 1 - len(right)), min(level + 1, len(left))):
            part = np.matmul(left[i], right[level - i])
            whole = total + part
            back = whole - total
            rest = rest + ((total - (whole - back)) + (part - back))
            total = whole
    return np.ldexp(total + rest, a_power + b_power).astype(a.dtype)


def _parts(x: Array, axis: int, bits: int) -> tuple[list[Array], Array]:
    """x as a sum of parts, times powers of 2 along the axis: each part is a whole number of at most
    so many bits times a power of its own."""
    power = np.frexp(np.abs(x).max(axis=axis, keepdims=True))[1]
    left = np.ldexp(x.astype(np.float64), -power)
    parts: list[Array] = []
    while not parts or left.any():
        # No number has a bit below that of the least one.
        grid = max(2.0 ** (-bits * (len(parts) + 1)), 2.0**-1074)
        parts.append(np.rint(left / grid) * grid)
        left = left - parts[-1]
    return parts, power


def perturbed(a: Array, b: Array) -> Array:
    """a @ b with other last digits, where they hang on the order of summation."""
    plain = np.matmul(a, b)
    if not plain.size or not a.size:
        return plain
    size = np.matmul(np.abs(a), np.abs(b))
    terms = np.matmul((a != 0).astype(a.dtype), (b != 0).astype(b.dtype))
    # All sums are multiples of this power of 2.
    grid = _lowest(a, -1) + _lowest(b, -2)
    rounded = (terms > 1) & (np.frexp(size)[1] > _BITS[a.dtype] + grid) & np.isfinite(size)
    many = plain.shape[:-2]
    factors = [np.broadcast_to(x, many + x.shape[-2:]).reshape(-1, *x.shape[-2:]) for x in (a, b)]
    seeds = [
        zlib.crc32(np.ascontiguousarray(y), zlib.crc32(np.ascontiguousarray(x)))
        for x, y in zip(*factors, strict=True)
    ]
    places = np.arange(plain.shape[-2] * plain.shape[-1], dtype=np.uint64)
    mixed = (places + (np.array(seeds, np.uint64) << np.uint64(32))[:, None]).reshape(plain.shape)
    for factor in (0xBF58476D1CE4E5B9, 0x94D049BB133111EB):
        mixed = (mixed ^ (mixed >> np.uint64(30))) * np.uint64(factor)
    steps = ((mixed >> np.uint64(40)) % np.uint64(3)).astype(a.dtype) - 1
    return np.where(rounded, plain + steps * np.spacing(size), plain)


def _lowest(x: Array, axis: int) -> Array:
    """The exponent of the lowest bit that is set along the axis, as large as can be for zeros."""
    mantissa, power = np.frexp(x.astype(np.float64))
    whole = np.ldexp(mantissa, 53).astype(np.int64)
    lowest = np.frexp((whole & -whole).astype(np.float64))[1] - 54 + power
    return np.where(x == 0, 4096, lowest).min(axis=axis, keepdims=True)


ARITHMETICS: dict[str, Product] = {"exact": exact, "perturbed": perturbed}


@contextmanager
def arithmetic(name: str) -> Iterator[None]:
    """Products in torch and NumPy come from the arithmetic of this name."""
    with ExitStack() as stack:
        product = stack.enter_context(_numpy(ARITHMETICS[name]))
        stack.enter_context(sdpa_kernel(SDPBackend.MATH))
        stack.enter_context(_Torch(product))
        yield


# --- NumPy ----------------------------------------------------------------------------------------

_Places = ctypes.POINTER(ctypes.c_void_p)
_Sizes = ctypes.POINTER(ctypes.c_ssize_t)
# The inner loop of a universal function: pointers, dimensions, strides, and data of its own.
_Loop = ctypes.CFUNCTYPE(None, _Places, _Sizes, _Sizes, ctypes.c_void_p)


def _replace_loop(type_number: int, loop: Any) -> Any:
    """Let NumPy's matmul of this type, and with it @, run a loop; the one that ran before."""
    pointer = ctypes.pythonapi.PyCapsule_GetPointer
    pointer.restype, pointer.argtypes = ctypes.c_void_p, [ctypes.py_object, ctypes.c_char_p]
    core = getattr(np, "_core", None) or np.core
    table = ctypes.cast(pointer(core._multiarray_umath._UFUNC_API, None), _Places)
    # PyUFunc_ReplaceLoopBySignature of NumPy's C API.
    replace = ctypes.PYFUNCTYPE(
        ctypes.c_int, ctypes.py_object, _Loop, ctypes.POINTER(ctypes.c_int), ctypes.POINTER(_Loop)
    )(table[30])
    before = _Loop()
    signature = (ctypes.c_int * 3)(*[type_number] * 3)
    assert replace(np.matmul, loop, signature, ctypes.byref(before)) == 0
    return before


def _view(place: int, shape: Sequence[int], strides: Sequence[int], dtype: np.dtype[Any]) -> Array:
    """Memory as an array."""
    form = {"shape": tuple(shape), "strides": tuple(strides), "typestr": dtype.str}
    said = {"version": 3, "data": (place, False)} | form
    return np.asarray(SimpleNamespace(__array_interface__=said))


@contextmanager
def _numpy(product: Product) -> Iterator[Product]:
    """Replace NumPy's products; the product without what is replaced inside it."""
    inside = False

    def plainly(a: Array, b: Array) -> Array:
        nonlocal inside
        before, inside = inside, True
        try:
            with np.errstate(all="ignore"):
                return product(a, b)
        finally:
            inside = before

    def loop_of(dtype: np.dtype[Any], before: Sequence[Any]) -> Any:
        def loop(places: Any, sizes: Any, strides: Any, data: Any) -> None:
            if inside:
                before[0](places, sizes, strides, data)
                return
            count, m, k, n = sizes[:4]
            steps = [(strides[i], *strides[3 + 2 * i : 5 + 2 * i]) for i in range(3)]
            a, b, c = (
                _view(places[i], (count, *shape), steps[i], dtype)
                for i, shape in enumerate(((m, k), (k, n), (m, n)))
            )
            c[...] = plainly(a, b)

        return _Loop(loop)

    loops = []
    for number, dtype in zip(_TYPES, _BITS, strict=True):
        before: list[Any] = []
        loops.append(loop_of(dtype, before))
        before.append(_replace_loop(number, loops[-1]))
        loops.append(before[0])
    names = {"dot": np.dot, "inner": np.inner, "vdot": np.vdot, "einsum": np.einsum}
    numeric = np.tensordot.__wrapped__.__globals__  # tensordot calls the dot that stands here
    try:
        for name, replaced in _by_name(names).items():
            setattr(np, name, replaced)
        numeric["dot"] = np.dot
        yield plainly
    finally:
        for name, original in names.items():
            setattr(np, name, original)
        numeric["dot"] = names["dot"]
        for number, before_it in zip(_TYPES, loops[1::2], strict=True):
            _replace_loop(number, before_it)


def _by_name(original: dict[str, Any]) -> dict[str, Any]:
    """NumPy's functions that multiply without its matmul, with it."""

    def floats(*arrays: Any) -> bool:
        dtypes = {np.asarray(x).dtype for x in arrays}
        return len(dtypes) == 1 and dtypes <= _BITS.keys() and all(map(np.ndim, arrays))

    def dot(a: Any, b: Any, **options: Any) -> Any:
        fits = floats(a, b) and np.ndim(a) <= 2 and np.ndim(b) <= 2 and not options
        return np.matmul(a, b) if fits else original["dot"](a, b, **options)

    def inner(a: Any, b: Any) -> Any:
        return np.tensordot(a, b, (-1, -1)) if floats(a, b) else original["inner"](a, b)

    def vdot(a: Any, b: Any) -> Any:
        return np.matmul(np.ravel(a), np.ravel(b)) if floats(a, b) else original["vdot"](a, b)

    def einsum(subscripts: Any, *operands: Any, **options: Any) -> Any:
        text = subscripts if isinstance(subscripts, str) else "..."
        inputs, arrow, output = text.replace(" ", "").partition("->")
        sides = inputs.split(",")
        if (
            not ("." not in text and len(sides) == len(operands) == 2 and floats(*operands))
            or any(len(set(side)) < len(side) for side in sides)
            or options.keys() - {"optimize"}
        ):
            return original["einsum"](subscripts, *operands, **options)
        letters = sorted({*sides[0], *sides[1]})
        if not arrow:
            output = "".join(x for x in letters if inputs.count(x) == 1)
        order = [*output, *(x for x in letters if x not in output)]
        size = dict(zip("".join(sides), operands[0].shape + operands[1].shape, strict=True))
        # Said in full: of an empty array NumPy cannot tell what is left.
        shape = [*(size[x] for x in output), math.prod(size[x] for x in order[len(output) :])]
        rows = [
            np.broadcast_to(
                original["einsum"](f"{side}->{''.join(x for x in order if x in side)}", y).reshape(
                    [size[x] if x in side else 1 for x in order]
                ),
                [size[x] for x in order],
            ).reshape(shape)
            for side, y in zip(sides, operands, strict=True)
        ]
        return np.matmul(rows[0][..., None, :], rows[1][..., None])[..., 0, 0]

    return {"dot": dot, "inner": inner, "vdot": vdot, "einsum": einsum}


# --- torch ----------------------------------------------------------------------------------------


class _Torch(TorchDispatchMode):
    """The products at the bottom of torch, below autograd, so that backward passes are reached."""

    def __init__(self, product: Product) -> None:
        super().__init__()
        self.product = product

    def __torch_dispatch__(
        self, function: Any, types: Any, args: Any = (), kwargs: Any = None
    ) -> Any:
        options = dict(kwargs or {})
        name = function._schema.name.removeprefix("aten::")
        in_place, kind = name.endswith("_"), name.rstrip("_")
        tensors = [x for x in args if isinstance(x, torch.Tensor)]
        if kind not in _FORMS or not all(
            x.device.type == "cpu"
            and x.dtype in (torch.float32, torch.float64)
            and type(x) in (torch.Tensor, torch.nn.Parameter)
            for x in tensors
        ):
            return function(*args, **options)
        into = tensors[0] if in_place else options.pop("out", None)
        *added, a, b = tensors
        left, right = (x.detach().numpy() for x in (a, b))
        found = _FORMS[kind](self.product, left, right)
        result = torch.from_numpy(np.ascontiguousarray(found).reshape(found.shape))
        alpha, beta = options.get("alpha", 1), options.get("beta", 1)
        result = result if alpha == 1 else result * alpha
        # Where beta is 0, what it stands before may be no number.
        if added and beta:
            result = result + (added[0] if beta == 1 else beta * added[0])
        return result if into is None else into.copy_(result)


# The products of torch, as those of two matrices.
_FORMS: dict[str, Callable[[Product, Array, Array], Array]] = {
    **dict.fromkeys(("mm", "bmm", "addmm", "baddbmm"), lambda product, a, b: product(a, b)),
    **dict.fromkeys(("mv", "addmv"), lambda product, a, b: product(a, b[:, None])[:, 0]),
    **dict.fromkeys(("dot", "vdot"), lambda product, a, b: product(a[None], b[:, None])[0, 0]),
    "addbmm": lambda product, a, b: product(np.concatenate([*a], axis=1), np.concatenate([*b])),
}

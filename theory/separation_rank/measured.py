"""Evidence for separation_rank by other routes than its formulas: exact ranks of value matrices, explicit weights whose rank is known,
degrees measured over Z, and the arguments that cover every depth."""
from __future__ import annotations

import itertools
import math
from collections.abc import Callable, Iterable
from functools import lru_cache
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ..proof_steps import vanish
from ..values import Ball, Case, Exact, Step
from .leading_monomial import GRADING, graded_net, leading_rank
from .linear_attention import (
    PRIME,
    AttentionNet,
    forward,
    layer_matrix,
    moments,
    normal_form,
    random_net,
    random_tokens,
    value_matrix,
)
from .linear_attention import measured_degree as degree_of

Array = NDArray[Any]

# Chance of a miss that is small enough for a suite with thousands of comparisons.
_RARE = 1e-6


def rank_mod(matrix: Array, prime: int = PRIME) -> int:
    """The exact rank of an integer matrix modulo a prime.

    >>> rank_mod(np.array([[1, 2], [2, 4]]))
    1
    """
    import flint

    rows, columns = matrix.shape
    return int(flint.nmod_mat(rows, columns, (matrix % prime).ravel().tolist(), prime).rank())


def separation_rank(rng: np.random.Generator, *, width: int, depth: int, heads: int = 1, tokens: int = 2,
                    inputs: int | None = None, residual: bool = False, input_rank: int | None = None) -> Exact:
    """The separation rank of a random net with respect to two halves of the tokens, or a certified lower bound on it.

    The value matrix at random weights and inputs is an integer matrix known modulo p. A minor that is non-zero there is a non-zero
    polynomial in the weights, so the rank found is a lower bound for almost every choice of real weights, whatever p. Inputs are
    added until the rank no longer grows with them, or up to `inputs` of them on each side.

    Args:
        rng: source of randomness.
        width, depth, heads: the shape of the net.
        tokens: N, even; the halves have N/2 tokens and position 0 is read.
        inputs: how many inputs for each side; None for as many as it takes.
        residual: whether the net has residual connections.
        input_rank: r, when the tokens are drawn from a random subspace of that dimension; None for the whole space.

    Returns:
        The rank, with the chance that the separation rank is larger. With fewer inputs than the separation rank, that chance is 1.
        Otherwise, an entry has degree 3^(L+1) - 2 in weights and tokens together, and 3^L more where the tokens are products with the
        basis of a subspace, so by Schwartz and Zippel a minor of size up to R that is not the zero polynomial modulo p vanishes with
        probability at most R times that degree, over p.

    Raises:
        ValueError: when the number of tokens is odd, or the degree in the moments reaches p (binomial factors would vanish).

    Cost: O(R^2) forward passes and one elimination of an R x R matrix for each growth step, R = 1.25 times the rank.

    >>> separation_rank(np.random.default_rng(0), width=2, depth=2, tokens=4).value
    18
    """
    if tokens < 2 or tokens % 2:
        raise ValueError(f"tokens={tokens}: a balanced partition needs an even number of tokens, at least 2")
    degree = 3 ** (depth + 1) - 2 + (0 if input_rank is None else 3**depth)
    if degree >= PRIME:
        raise ValueError(f"depth={depth}: the degree {degree} reaches the prime {PRIME}, so the rank modulo it would be too small")
    net = random_net(rng, width=width, depth=depth, heads=heads, residual=residual)
    embedding = None if input_rank is None else random_tokens(rng, net, input_rank)
    empty = np.empty((0, tokens // 2, width), dtype=np.int64)
    left, right, values, rank = empty, empty, np.empty((0, 0), dtype=np.int64), 0
    while len(values) == rank and (inputs is None or len(values) < inputs):
        more = max(16, len(values) // 4) if inputs is None else inputs
        new_left, new_right = (_embedded(rng, net, embedding, more, tokens // 2) for _ in range(2))
        values = np.vstack([np.hstack([values, value_matrix(net, left, new_right)]),
                            value_matrix(net, new_left, np.concatenate([right, new_right]))])
        left, right = np.concatenate([left, new_left]), np.concatenate([right, new_right])
        rank = rank_mod(values)
    full = rank == len(values)
    return Exact(rank, misses=1.0 if full else min(1.0, len(values) * degree / PRIME), truncated=full)


def _embedded(rng: np.random.Generator, net: AttentionNet, embedding: Array | None, *shape: int) -> Array:
    """Random tokens, of the whole space or of the row space of the embedding."""
    if embedding is None:
        return random_tokens(rng, net, *shape)
    factors = rng.integers(0, PRIME, (*shape, len(embedding))).astype(object)
    return (factors @ embedding.astype(object) % PRIME).astype(np.int64)


# --- explicit weights whose rank is known exactly ---------------------------------------------------------------------------------


def coordinate_net(width: int, depth: int, prime: int | None = None, heads: int | None = None) -> AttentionNet:
    """Weights for which every layer multiplies by one entry of the moment matrix, on as many coordinates as there are heads.

    Head h of layer l has one row or column that is not zero in each matrix: W^O = e_h, W^Q = e_h^T, W^V = e_a^T and W^K = e_b^T.
    So T_l(M) = M_ab P with P the projection on the first H coordinates. The pairs a <= b <= H run through the H (H + 1) / 2 moments
    of these coordinates; later layers repeat the last pair.

    Args:
        width, depth: the shape of the net.
        prime: None for Python integers.
        heads: H, a divisor of width; None for as many as width.
    """
    heads = width if heads is None else heads
    pairs = [(a, b) for a in range(heads) for b in range(a, heads)]
    chosen = [pairs[min(layer, len(pairs) - 1)] for layer in range(depth)]
    query, key, value = (np.zeros((depth, heads, width // heads, width), dtype=np.int64 if prime else object) for _ in range(3))
    for layer, (a, b) in enumerate(chosen):
        query[layer, range(heads), 0, range(heads)] = 1
        value[layer, :, 0, a] = key[layer, :, 0, b] = 1
    return AttentionNet(query=query, key=key, value=value, output=np.swapaxes(query, -1, -2), prime=prime)


def certified_rank(net: AttentionNet, *, points: int = 4, seed: int = 0) -> Exact:
    """The separation rank of a net whose layers each multiply by a linear form of the moments, when N >= 2 (d_x + 1).

    If T_l(M) = f_l(M) P for every l, with P the projection on some coordinates, p among them, and f_l a form in their moments, then
    y_p = x_p prod f_j(M)^(e_j) over the distinct forms. With M = U + V, U from one side and V from the other, a power splits into
    e_j + 1 products f_j(U)^k f_j(V)^(e_j - k) with non-zero binomial coefficients; when the forms are linearly independent these
    products are different monomials, so the rank is prod (e_j + 1). N >= 2 (d_x + 1) makes (x, U) and V fill Zariski-dense sets.
    For almost every choice of weights of the same shape the rank is at least as large, which is why the value is returned as a
    lower bound. Every premise is checked exactly; nothing is taken from the construction.

    Args:
        net: weights over Z, for instance from `coordinate_net`.
        points: random inputs modulo PRIME at which the product is compared with the token recursion.
        seed: for these inputs.

    Raises:
        ArithmeticError: when a premise fails: a layer is no such multiple, the forms are dependent, or a value differs.

    Cost: O(L H d_x^4) integer operations and `points` forward passes.

    >>> certified_rank(coordinate_net(2, 3)).value  # exponents 9, 3, 1
    80
    """
    forms = linear_forms(net)
    distinct = sorted(set(forms))
    exponents = form_exponents(forms, distinct)
    require_independent(distinct)
    require_equal_values(net, distinct, exponents, points, seed)
    return Exact(math.prod(e + 1 for e in exponents), misses=1.0)


def linear_forms(net: AttentionNet) -> list[tuple[int, ...]]:
    """f_1, ..., f_L with T_l(M) = f_l(M) P for all M: coefficients of M_ab, a <= b, row by row.

    Raises:
        ArithmeticError: when a layer is no such multiple of one projection P on coordinates, the one that is read among them.
    """
    images = [_images(net, layer) for layer in range(net.depth)]
    kept = np.array([images[0][:, i, i].any() for i in range(net.width)])
    upper = np.triu_indices(net.width)
    outside = ~(kept[upper[0]] & kept[upper[1]])
    forms = []
    for layer, image in enumerate(images):
        form = image[:, 0, 0]
        if not kept[0] or (image != form[:, None, None] * np.diag(kept)).any() or form[outside].any():
            raise ArithmeticError(f"layer {layer} does not multiply every token by one linear form of the moments")
        forms.append(tuple(int(c) for c in form))
    return forms


def _images(net: AttentionNet, layer: int) -> Array:
    """T_l at each symmetric basis matrix: array (D, d_x, d_x). T_l is linear in M, so these values decide it."""
    weights = [w[layer] for w in (net.output, net.value, net.key, net.query)]
    sizes = [max(1, int(abs(w).max())) for w in weights]
    if math.prod(sizes) * net.width**3 >= 2**62:
        raise ArithmeticError("the weights are too large for exact 64-bit sums; scale them down")
    output, value, key, query = (w.astype(np.int64) for w in weights)
    left, right = output @ value, np.swapaxes(key, -1, -2) @ query
    image = np.tensordot(left, right, axes=(0, 0)).transpose(1, 2, 0, 3)
    upper = np.triu_indices(net.width)
    both = image[upper] + image[upper[::-1]]
    both[upper[0] == upper[1]] //= 2
    return both


def form_exponents(forms: list[tuple[int, ...]], distinct: list[tuple[int, ...]]) -> list[int]:
    """The exponent of each distinct form in y_p, by the recursion over layers."""
    # M_l = c_l M for a scalar c_l: a layer contributes f_l(c_l M) = c_l f_l(M), and c_{l+1} = (c_l f_l(M))^2 c_l.
    product, scale = [0] * len(distinct), [0] * len(distinct)
    for form in forms:
        used = [int(form == other) for other in distinct]
        product = [p + c + u for p, c, u in zip(product, scale, used, strict=True)]
        scale = [3 * c + 2 * u for c, u in zip(scale, used, strict=True)]
    return product


def require_independent(forms: list[tuple[int, ...]]) -> None:
    """Raise ArithmeticError unless the linear forms are linearly independent over Q."""
    import flint

    rank = flint.fmpz_mat([list(form) for form in forms]).rank()
    if rank != len(forms):
        raise ArithmeticError(f"the {len(forms)} linear forms span only {rank} dimensions")


def require_equal_values(net: AttentionNet, forms: list[tuple[int, ...]], exponents: list[int], points: int, seed: int) -> None:
    """Raise ArithmeticError unless the token recursion gives x_p prod f^e at random inputs modulo PRIME."""
    query, key, value, output = ((a % PRIME).astype(np.int64) for a in (net.query, net.key, net.value, net.output))
    reduced = AttentionNet(query, key, value, output, PRIME, net.residual)
    tokens = random_tokens(np.random.default_rng(seed), reduced, points, 2 * net.width + 2)
    found = forward(reduced, tokens)
    upper = np.triu_indices(net.width)
    for x, moment, value in zip(tokens[:, 0, 0], moments(reduced, tokens), found, strict=True):
        product = int(x)
        for form, exponent in zip(forms, exponents, strict=True):
            linear = sum(c * int(m) for c, m in zip(form, moment[upper], strict=True)) % PRIME
            product = product * pow(linear, exponent, PRIME) % PRIME
        if product != int(value):
            raise ArithmeticError("the token recursion differs from the product of linear forms")


# --- what the claims ask for ---


def measured_rank(case: Case, seed: int) -> Exact:
    """The separation rank of a random net, or a lower bound by explicit weights when the case says weights=coordinate.

    A case names width, depth, heads and tokens; `inputs` limits the matrix, which then certifies a lower bound only. `residual=True`
    adds residual connections, and `input_rank` draws the tokens from a random subspace. `weights=coordinate` are those of `coordinate_net`,
    whose rank is that of a product of forms, or with `inputs` that of their value matrix at so many random inputs on each side.
    `weights=graded` are those of `leading_monomial.graded_net`.
    """
    if case.get("weights") == "graded":
        if (case.width, case.heads) != (4, 2) or case.tokens < 10:
            raise ValueError(f"[{case}]: the graded weights are of width 4 with two heads, and need at least 10 tokens")
        return leading_rank(graded_net(case.depth), GRADING)
    if case.get("weights") == "coordinate":
        if case.width % case.heads or case.tokens < 2 * case.width + 2:
            raise ValueError(f"[{case}]: the explicit weights need heads that divide width and at least 2 width + 2 tokens")
        if case.get("inputs"):
            return _rank_at_inputs(coordinate_net(case.width, case.depth, PRIME, case.heads), case, seed)
        return certified_rank(coordinate_net(case.width, case.depth, heads=case.heads))
    return _random_rank(case, seed)


def _rank_at_inputs(net: AttentionNet, case: Case, seed: int) -> Exact:
    """The rank modulo PRIME of the values of a net at random inputs, a lower bound on its separation rank."""
    rng = case.rng(seed)
    left, right = (random_tokens(rng, net, case.inputs, case.tokens // 2) for _ in range(2))
    found = rank_mod(value_matrix(net, left, right))
    return Exact(found, misses=1.0, truncated=found == case.inputs)


@lru_cache(maxsize=1024)
def _random_rank(case: Case, seed: int) -> Exact:
    # Cached, because several claims ask about the same net.
    rng, shape = case.rng(seed), {name: case.get(name) for name in ("width", "depth", "heads", "tokens", "input_rank")}
    shape["residual"] = bool(case.get("residual", False))
    found = separation_rank(rng, inputs=case.get("inputs"), **shape)
    if not _RARE < found.misses < 1:
        return found
    # Other weights and inputs miss independently of the first.
    again = separation_rank(rng, inputs=int(found.value) + 1, **shape)
    return Exact(max(found.value, again.value), misses=found.misses * again.misses)


def measured_degree(case: Case, seed: int) -> Exact | Ball:
    """The degree of the output in all tokens, over Z; a case with residual=True gives the net residual connections."""
    rng = case.rng(seed)
    net = random_net(rng, width=case.width, depth=case.depth, prime=None, residual=case.get("residual", False))
    return _degree(rng, lambda tokens: forward(net, tokens).item(), (2, net.width))


def measured_moments_degree(case: Case, seed: int) -> Exact | Ball:
    """The degree of the normal form in the moment matrix alone, at a fixed token, over Z."""
    rng = case.rng(seed)
    net = random_net(rng, width=case.width, depth=case.depth, prime=None)
    token = random_tokens(rng, net)
    # A symmetric matrix from any square one: the polynomial is asked about off the cone of moment matrices too.
    return _degree(rng, lambda half: normal_form(net, half + half.T, token).item(), (net.width, net.width))


def _degree(rng: np.random.Generator, function: Callable[[NDArray[Any]], Any], shape: tuple[int, ...]) -> Exact | Ball:
    base, direction = (rng.integers(1, 2**61, shape).astype(object) for _ in range(2))
    found = degree_of(function, base, direction)
    # By Schwartz and Zippel the part of top degree, if below 2^21, vanishes at a random direction with probability at most 2^-40.
    return Exact(found.value, misses=2.0**-40) if isinstance(found, Exact) else found


def measured_threshold(case: Case, seed: int) -> Exact:
    """The whole depth at which the degree of the output reaches the width, by tripling; for widths that are powers of three."""
    depth, degree = 0, 1
    while degree < case.width:
        depth, degree = depth + 1, degree * 3
    if degree != case.width:
        raise ValueError(f"width={case.width} is no power of three, so no whole depth meets it exactly")
    return Exact(depth)


# --- arguments that cover every depth --------------------------------------------------------------------------------------------


def degree_proof(statement: Any) -> Iterable[Step]:
    """deg = 3^L for every shape and almost all weights: induction over layers, and positive weights as the witness."""
    net, tokens = positive_net(1), positive_symbols("x", (2, 2))
    term = _layer_term("i", "j")
    total = sum(_at_indices(term, net, y=tokens, i=0, j=j, p=0, h=h, e=0, f=0, a=a, b=b, c=c)
                for j, h, a, b, c in itertools.product(range(2), repeat=5))
    yield vanish("a layer sums one kind of term over heads, tokens and coordinates, of which there may be any number; the sum over two of "
                 "each is what the code computes", forward(net, tokens).item() - total)
    yield vanish("that term takes a factor t^3 when the tokens take t, whatever its indices are", _scaled_by(term, "y", 3))
    yield from _induction(statement, first=3, following=lambda degree: 3 * degree)
    yield Step("at positive weights and tokens every term is positive, so no output is the zero polynomial", term.is_positive)


def moments_degree_proof(statement: Any) -> Iterable[Step]:
    """deg = C(L) for every shape and almost all weights: the first layer gives 1, all later ones act on moments of degree 3."""
    net, half = positive_net(1), positive_symbols("m", (2, 2))
    M = half + half.T
    term = _matrix_term("p", "a", "1")
    entries = [sum(_at_indices(term, net, M=M, p=p, a=a, h1=h, e1=0, f1=0, b1=b, c1=c) for h, b, c in itertools.product(range(2), repeat=3))
               for p, a in itertools.product(range(2), repeat=2)]
    yield vanish("the matrix T(M) of a layer sums one kind of term over heads and coordinates, of which there may be any number; the sum "
                 "over two of each is what the code computes", *(layer_matrix(net, 0, M).ravel() - entries))
    yield vanish("that term is linear in M, whatever its indices are", _scaled_by(term, "M", 1))
    tokens = positive_symbols("x", (2, 2))
    moved = layer_matrix(net, 0, moments(net, tokens)) @ tokens[0]
    yield vanish("and a layer multiplies a token by T(M), M the sum of x x^T over the tokens: so the output is linear in the token",
                 *(forward(net, tokens, coordinate=p).item() - moved[p] for p in range(2)))
    cubic = _matrix_term("p", "a", "1") * _entry("M", "a", "g") * _matrix_term("q", "g", "2")
    yield vanish("so a term of the moments after the layer, T(M) M T(M)^T, is cubic in M", _scaled_by(cubic, "M", 3))
    yield from _induction(statement, first=1, following=lambda degree: 3 * degree + 1)
    yield Step("at positive weights, moments and tokens every term is positive, so no output is the zero polynomial",
               bool(term.is_positive and cubic.is_positive))


def threshold_proof(statement: Any) -> Iterable[Step]:
    """The right side is the only depth at which the degree 3^L of the output equals the width."""
    import sympy

    from ..glossary import symbol

    width, real = symbol("width"), sympy.Symbol("depth", real=True)
    yield vanish("3^L at the threshold is the width", 3**statement.rhs - width)
    yield Step("3^L grows strictly with L, so no other depth meets the width", sympy.diff(3**real, real).is_positive)


def _entry(array: str, *indices: str) -> Any:
    """An entry of an array of any size, with symbolic indices."""
    import sympy

    return sympy.IndexedBase(array, positive=True)[tuple(sympy.Symbol(i, integer=True) for i in indices)]


def _layer_term(asking: str, asked: str) -> Any:
    """The term W^O[h,p,f] W^Q[h,e,a] y[i,a] W^K[h,e,b] y[j,b] W^V[h,f,c] y[j,c], whose sum over h, j, e, f, a, b, c is a layer."""
    y = [_entry("y", asking, "a"), _entry("y", asked, "b"), _entry("y", asked, "c")]
    return math.prod([_entry("o", "h", "p", "f"), _entry("q", "h", "e", "a"), _entry("k", "h", "e", "b"), _entry("v", "h", "f", "c"), *y])


def _matrix_term(row: str, column: str, own: str) -> Any:
    """The term W^O[h,row,f] W^V[h,f,b] M[b,c] W^K[h,e,c] W^Q[h,e,column] of T(M); `own` tells its summation indices from another's."""
    h, e, f, b, c = (name + own for name in "hefbc")
    return math.prod([_entry("o", h, row, f), _entry("v", h, f, b), _entry("M", b, c), _entry("k", h, e, c), _entry("q", h, e, column)])


def _scaled_by(term: Any, array: str, degree: int) -> Any:
    """term(t * array) - t^degree term(array), which vanishes exactly when the term is homogeneous of that degree in the array."""
    import sympy

    t = sympy.Symbol("t", positive=True)
    scaled = term.xreplace({x: t * x for x in term.atoms(sympy.Indexed) if str(x.base) == array})
    return scaled - t**degree * term


def _at_indices(term: Any, net: AttentionNet, **values: Any) -> Any:
    """The term with the entries of a net's first layer, and of the arrays given by name, at the indices given by name."""
    import sympy

    arrays = {"q": net.query[0], "k": net.key[0], "v": net.value[0], "o": net.output[0]} | {n: v for n, v in values.items() if n in ("y", "M")}
    return math.prod(arrays[str(x.base)][tuple(values[str(i)] for i in x.indices)] ** n for x, n in term.as_powers_dict().items()
                     if isinstance(x, sympy.Indexed))


def _induction(statement: Any, first: int, following: Callable[[Any], Any]) -> Iterable[Step]:
    from ..glossary import symbol

    L = symbol("depth")
    yield vanish(f"one layer has degree {first}", statement.rhs.subs(L, 1) - first)
    yield vanish(f"from L to L + 1 layers a degree n becomes {following(symbol('order'))}".replace("order", "n"),
                statement.rhs.subs(L, L + 1) - following(statement.rhs))


def positive_net(depth: int) -> AttentionNet:
    """A net of positive symbols. Width 2 with two heads and two tokens has every kind of sum: over heads, tokens and coordinates."""
    shapes = 3 * [(depth, 2, 1, 2)] + [(depth, 2, 2, 1)]
    query, key, value, output = (positive_symbols(name, shape) for name, shape in zip("qkvo", shapes, strict=True))
    return AttentionNet(query, key, value, output, None)


def positive_symbols(name: str, shape: tuple[int, ...]) -> Array:
    """An array of positive symbols name0, name1, ..."""
    import sympy

    symbols = [sympy.Symbol(f"{name}{i}", positive=True) for i in range(math.prod(shape))]
    return np.array(symbols, dtype=object).reshape(shape)

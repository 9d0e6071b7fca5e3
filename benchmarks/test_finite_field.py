"""Rank over F_p next to python-flint and to the machine's float64 product, on the same threads.

Run with `pytest benchmarks/test_finite_field.py --benchmark-only`. Sizes are 1024 and 2048;
BENCHMARK_LARGE=1 adds 4096, where python-flint takes half a minute, and 8192, without python-flint.
Small sizes compare the two routes that `rank` chooses from, each from the array to the rank.
Threads are those of OPENBLAS_NUM_THREADS or OMP_NUM_THREADS, else all cores. Each round runs the
peers beside the kernel; medians and ratios are printed and stored, nothing depends on them.
"""

from __future__ import annotations

import os
from statistics import median

import flint
import numpy as np
import pytest

from depthlaw.theory.exact import finite_field
from depthlaw.theory.exact.finite_field import (
    FLINT_SIDE,
    centred,
    default_prime,
    elimination_cost,
    flint_side,
    rank,
)

LARGE = os.environ.get("BENCHMARK_LARGE", "") == "1"
SIZES = (1024, 2048, *((4096, 8192) if LARGE else ()))
FLINT_LIMIT = 4096
SMALL = (
    (8, 8),
    (32, 32),
    (64, 64),
    (FLINT_SIDE // 2, FLINT_SIDE),
    (80, 80),
    (96, 96),
    (FLINT_SIDE, FLINT_SIDE),
    (FLINT_SIDE, 2 * FLINT_SIDE),
    (160, 160),
    (192, 192),
    (256, 256),
)
# 0: the default prime of the side; the others have small pivots, or small room.
PRIMES = (0, 3, 101, 1009, 67108859)
GIVEN = (os.environ.get(name, "") for name in ("OPENBLAS_NUM_THREADS", "OMP_NUM_THREADS"))
THREADS = next((int(value) for value in GIVEN if value.isdecimal()), os.cpu_count() or 1)


@pytest.mark.parametrize("prime", PRIMES)
@pytest.mark.parametrize(("m", "n"), SMALL)
@pytest.mark.benchmark(group="two routes to a rank")
def test_both_routes(benchmark, say, seconds, m: int, n: int, prime: int) -> None:
    p, times = prime or default_prime(min(m, n)), {"flint": [], "elimination": []}
    a = centred(np.random.default_rng(n).integers(0, p, (m, n)), p)

    def one_of_each() -> None:
        for route, side in (("flint", max(m, n)), ("elimination", -1)):
            with pytest.MonkeyPatch.context() as patch:
                patch.setattr(finite_field, "FLINT_SIDE", side)
                times[route].append(seconds(lambda: rank(a, p)))

    found = benchmark.pedantic(rank, args=(a, p), setup=one_of_each, rounds=31, warmup_rounds=1)
    flints, mine = (1e3 * median(times[route]) for route in ("flint", "elimination"))
    ratio = mine / flints
    benchmark.extra_info.update({"threads": THREADS, "elimination / flint": ratio})
    say(
        f"{m} x {n}, p={p}, {THREADS} threads: elimination {mine:.3f} ms, "
        f"flint {flints:.3f} ms, ratio {ratio:.2f}; "
        f"rank takes {'flint' if max(m, n) <= flint_side(p) else 'the elimination'}"
    )
    # Of small primes a random matrix may lack a little.
    assert found == min(m, n) or (p < 1000 and found > min(m, n) - 5)


@pytest.mark.parametrize("n", SIZES)
@pytest.mark.benchmark(group="rank over F_p")
def test_rank_against_flint_and_the_matrix_product(benchmark, say, seconds, n: int) -> None:
    p, rounds = default_prime(n), 5 if n <= 2048 else 3
    a = centred(np.random.default_rng(n).integers(0, p, (n, n)), p)
    real, out = np.random.default_rng(0).standard_normal((n, n)), np.empty((n, n))
    products: list[float] = []
    flints: list[float] = []
    if n <= FLINT_LIMIT:
        flint.ctx.threads = THREADS
        peer = flint.nmod_mat(n, n, [int(v) % p for v in a.ravel()], p)

    def peers() -> None:
        products.append(seconds(lambda: np.matmul(real, real, out=out)))
        if n <= FLINT_LIMIT and (n < FLINT_LIMIT or not flints):
            flints.append(seconds(peer.rank))

    # NumPy's first product starts the threads of the BLAS.
    np.matmul(real, real, out=out)
    found = benchmark.pedantic(rank, args=(a, p), setup=peers, rounds=rounds, warmup_rounds=0)
    mine = benchmark.stats.stats.median if benchmark.stats else seconds(lambda: rank(a, p))
    product, cost = median(products), elimination_cost(n, n, p)
    share = 2 / 3 * n**3 / mine / (2 * n**3 / product)
    benchmark.extra_info.update({"threads": THREADS, "share of the product's rate": share})
    line = (
        f"n={n}, p={p}, {THREADS} threads: rank {mine:.3f} s "
        f"({2 / 3e9 * n**3 / mine:.1f} Gop/s), product {product:.3f} s "
        f"({2e-9 * n**3 / product:.1f} Gop/s), share of its rate {share:.0%}; operations "
        f"{cost.operations:.3g}, bytes moved {cost.bytes_moved:.3g}, memory "
        f"{cost.peak_bytes / 1e6:.0f} MB"
    )
    ratio = median(flints) / mine if flints else None
    benchmark.extra_info["flint / depthlaw"] = ratio
    if flints:
        line += f"; python-flint {median(flints):.3f} s, ratio {ratio:.1f}"
    say(line)
    assert found == n

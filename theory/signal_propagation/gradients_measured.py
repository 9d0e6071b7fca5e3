"""Evidence for gradients: the last feed-forward gradient of real nets, by reverse mode, and its exact law at equal tokens."""
from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any

from ..values import Case, Outside, Sample

if TYPE_CHECKING:
    from flint import arb

    from .backward import Array

# Numbers of a record keep six digits: the rest depends on the order in which a machine's linear algebra adds.
DIGITS = 6
# Nets that are drawn at once, which bounds the memory.
BLOCK = 32
# A net whose last layer has no active unit has a zero gradient, of which the logarithms here are not defined.
DEAD = "some unit of the last layer is active at the first token (not so by chance 2^-width)"


def last_gradients(case: Case, rng: Any, depth: int, *, pre: bool, attention: float = 1.0) -> Array:
    """||dl/dW^{2,L}||_F of `replicas` nets of a depth, for the loss l of the first position.

    The loss is u.y for a random unit vector u ("linear") or cross-entropy behind a random linear head with d classes
    ("softmax"); the tokens are Gaussian, all equal or independent.
    """
    import numpy as np

    blocks = [min(BLOCK, case.replicas - start) for start in range(0, case.replicas, BLOCK)]
    return np.concatenate([_block(case, rng, depth, count, pre, attention) for count in blocks])


def _block(case: Case, rng: Any, depth: int, count: int, pre: bool, attention: float) -> Array:
    import numpy as np

    from .backward import backward, cross_entropy, draw, forward

    d, equal = case.width, case.start == "equal"
    x = rng.normal(size=(count, 1 if equal else case.tokens, d)) + np.zeros((count, case.tokens, d))
    layers = draw(rng, depth, d, count)
    output, tape = forward(x, layers, pre=pre, attention=attention)
    if case.loss == "softmax":
        upstream = cross_entropy(output, rng.normal(0, d**-0.5, (count, d, d)))[1]
    else:
        upstream = np.zeros_like(output)
        u = rng.normal(size=(count, d))
        upstream[:, 0] = u / np.linalg.norm(u, axis=-1, keepdims=True)
    last = next(backward(upstream, layers, tape, pre=pre, attention=attention))
    return np.asarray(np.linalg.norm(last.second, axis=(-2, -1)))


def doublings(case: Case) -> list[int]:
    """The depths of a fit: shallow, 2 shallow, ... up to deep."""
    count = (case.deep // case.shallow).bit_length()
    return [case.shallow << k for k in range(count)]


def gradient_slope(case: Case, seed: int, *, pre: bool, attention: float = 1.0) -> Sample | Outside:
    """The least-squares slope of log ||dl/dW^{2,L}|| against log L, one net of each depth per slope."""
    import numpy as np

    rng, depths = case.rng(seed), doublings(case)
    sizes = np.array([last_gradients(case, rng, depth, pre=pre, attention=attention) for depth in depths])
    if not sizes.all():
        return Outside(DEAD)
    slopes = np.polynomial.polynomial.polyfit(np.log(depths), np.log(sizes), 1)[1]
    return Sample(tuple(float(f"{v:.{DIGITS}g}") for v in slopes))


def log_gradient(case: Case, seed: int, *, pre: bool, attention: float = 1.0) -> Sample | Outside:
    """log ||dl/dW^{2,L}||^2 less its mean c(d) over the last layer alone, where the sum before the last LayerNorm has variance 1."""
    import numpy as np

    sizes = last_gradients(case, case.rng(seed), case.depth, pre=pre, attention=attention)
    if not sizes.all():
        return Outside(DEAD)
    shift = last_layer_mean(case.width)
    return Sample(tuple(float(f"{v:.{DIGITS}g}") for v in 2 * np.log(sizes) - shift))


def last_layer_mean(width: int) -> float:
    """c(d) = log d + E log||ReLU(Z)||^2 + E log||P u||^2 - E log chi^2_(d-1), for a standard Gaussian Z that is not
    all negative (of chance 2^-d), a random unit vector u, and P the projection off two directions.

    That is a chi-square with a binomial number of degrees, a Beta((d - 2)/2, 1), and a chi-square.

    >>> round(last_layer_mean(32) - math.log(32 / 2), 2)
    -0.08
    """
    from scipy.special import digamma

    active = math.fsum(math.comb(width, k) * (float(digamma(k / 2)) + math.log(2)) for k in range(1, width + 1)) / (2**width - 1)
    return math.log(width) + active - 2 / (width - 2) - float(digamma((width - 1) / 2)) - math.log(2)


def mean_log_variance(depth: int, width: int, *, attention: bool) -> arb:
    """E log(1 + a L + s_1^2 + ... + s_L^2), a = 1 or 0, for independent s_l^2 = ||ReLU(Z_l)||^2/d: the variance of the
    stream at equal tokens, or without attention.

    By log v = integral over t > 0 of (e^(-t) - e^(-tv))/t, with E e^(-t s^2) = ((1 + (1 + 2t/d)^(-1/2))/2)^d; the ends are bounded by hand.
    """
    import flint

    near, far = flint.arb(2) ** -50, flint.arb(80)
    linear = depth if attention else 0

    def integrand(t: Any, analytic: bool) -> Any:
        one = ((1 + (1 + 2 * t / width).rsqrt(analytic)) / 2) ** width
        return (-t).exp() * (1 - (-t * linear).exp() * one**depth) / t

    with flint.ctx.workprec(96):
        middle = flint.acb.integral(integrand, near, far).real
        # On (0, near) the integrand lies between 0 and E v - 1; beyond `far` between 0 and e^(-t).
        ends = near * (linear + flint.arb(depth) / 2) + (-far).exp()
        return middle + ends.union(0)

"""The laws of depth as plain functions of the standard library; claims state them symbolically.

A budget is a count N = 12 L d^2 of parameters without embeddings, positions, norms and biases: per
layer 4 d^2 for attention and 8 d^2 for a feed-forward network of width 4 d. A rule that ties the
width to the depth is solved for the depth L at a given N.
"""

from __future__ import annotations

import math

# Levine's fit ln d = a + b L of the width at which a net of depth L stops losing to shallower ones
# of equal size; the variances of a and b, and their covariance.
FIT_A, FIT_B = 5.039, 5.55e-2
FIT_VAR_A, FIT_VAR_B, FIT_COV = 9.4e-4, 1.74e-6, -3.74e-5
# Depths of the nets behind the fit, and their largest size (recalled).
FIT_DEPTHS, FIT_LARGEST = (6, 48), 6e8

# The largest number of hops that the claims hops/depth_* execute; beyond it speaks their argument.
LARGEST_EXECUTED = 64

# The largest diameter of a graph on which the shipped ledger executes
# connectivity/layers_for_diameter.
LARGEST_DIAMETER = 28

# The fit L = a log_2 n + b to trained nets on the word problem of A5, and the depths of these nets.
A5_SLOPE, A5_INTERCEPT = 4.8, -15.8
A5_DEPTHS = (6, 24)


# --- depth for a budget -------------------------------------------------------------------------


def width_at(parameters: float, depth: float) -> float:
    """The width d = sqrt(N / (12 L)) that spends a budget N on L layers.

    >>> width_at(84934656, 12)
    768.0
    """
    return math.sqrt(_positive("budget", parameters) / (12 * _positive("depth", depth)))


def threshold_layers(parameters: int) -> int:
    """The fewest layers L for which a net of N parameters has L >= log_3(d): 12 L 9^L >= N.

    >>> threshold_layers(1_300_000_000), threshold_layers(314928), threshold_layers(314929)
    (8, 4, 5)
    """
    _positive("budget", parameters)
    depth = 1
    while 12 * depth * 9**depth < parameters:
        depth += 1
    return depth


def threshold_depth(parameters: float) -> float:
    """The real depth with 12 L 9^L = N, where L = log_3(d): L = W(N ln 9 / 12) / ln 9.

    >>> [round(threshold_depth(10.0 ** k), 2) for k in (6, 7, 8, 9, 12)]
    [4.47, 5.43, 6.41, 7.39, 10.38]
    """
    return lambert_w_exp(_log_budget(parameters) + math.log(math.log(9) / 12)) / math.log(9)


def transition_depth(parameters: float) -> float:
    """Levine's fit solved for a budget: 12 L e^(2 a + 2 b L) = N, L = W(b N / (6 e^(2 a))) / (2 b).

    >>> [round(transition_depth(n), 1) for n in (1e8, 7e9, 1.75e11)]
    [24.1, 55.0, 80.5]
    """
    y = _log_budget(parameters) + math.log(FIT_B / 6) - 2 * FIT_A
    return lambert_w_exp(y) / (2 * FIT_B)


def transition_depth_error(parameters: float) -> float:
    """First-order standard error of `transition_depth`: of the fit, not of its form or range.

    The gradient of L in (a, b) follows from ln L + 2 a + 2 b L = const.

    >>> round(transition_depth_error(1e8), 2)
    0.16
    """
    depth = transition_depth(parameters)
    da = -2 * depth / (1 + 2 * FIT_B * depth)
    db = da * depth
    return math.sqrt(da * da * FIT_VAR_A + db * db * FIT_VAR_B + 2 * da * db * FIT_COV)


def aspect_depth(parameters: float, aspect: float) -> float:
    """The depth of a net of N parameters with d / L = r: L = (N / (12 r^2))^(1/3).

    >>> round(aspect_depth(12 * 24 * 1536**2, 64), 9)
    24.0
    """
    layer = 12 * _positive("aspect ratio", aspect) ** 2
    return math.cbrt(_positive("budget", parameters) / layer)


def logarithmic_depth(parameters: float, slope: float) -> float:
    """The depth of a net of N parameters with L = c ln d: L = (c / 2) W(N / (6 c)).

    >>> round(logarithmic_depth(1e9, 1 / math.log(3)) - threshold_depth(1e9), 12)
    0.0
    """
    c = _positive("slope", slope)
    return c / 2 * lambert_w_exp(_log_budget(parameters) - math.log(6 * c))


def lambert_w_exp(y: float) -> float:
    """W(e^y): the w > 0 with w + ln w = y, for any real y, so that W's argument never overflows.

    Newton's method on the concave w + ln w - y climbs monotonically after one step. The error is a
    few units in the last place of max(1, abs(y)), divided by 1 + 1/w.

    >>> lambert_w_exp(1.0), round(lambert_w_exp(1e6), 6)
    (1.0, 999986.184503)
    """
    if y < -700:  # w = e^y (1 - e^y + ...) underflows to the same float
        return math.exp(y)
    w = y if y > 1 else math.exp(y)
    for _ in range(100):
        following = w * ((1 + y - math.log(w)) / (1 + w))
        if abs(following - w) <= 1e-15 * following:
            return following
        w = following
    return w


def _log_budget(parameters: float) -> float:
    return math.log(_positive("budget", parameters))


def _positive(what: str, value: float) -> float:
    if not (isinstance(value, int) or math.isfinite(value)) or value <= 0:
        raise ValueError(f"the {what} must be a positive finite number, got {value}; try 1.3e9")
    return value


# --- depth for a task ---------------------------------------------------------------------------


def layers_for_hops(hops: int) -> int:
    """ceil(log_2 k) + 2: layers that suffice for hop_k with one causal head of fixed width.

    >>> [layers_for_hops(hops) for hops in (0, 1, 2, 3, 4, 5, 16)]
    [0, 2, 3, 4, 4, 5, 6]
    """
    if hops < 0:
        raise ValueError(f"hops={hops}: accepted are whole numbers from 0 on")
    return (hops - 1).bit_length() + 2 if hops else 0


def layers_for_hops_printed(hops: int) -> int:
    """floor(log_2 k) + 2, as printed; enough with a strict mask, with log_2 N heads in layer 1, or
    in floating point with scores as large as 4^N.

    >>> [layers_for_hops_printed(hops) for hops in (0, 1, 2, 3, 4, 5, 16)]
    [0, 2, 3, 3, 4, 4, 6]
    """
    if hops < 0:
        raise ValueError(f"hops={hops}: accepted are whole numbers from 0 on")
    return hops.bit_length() + 1 if hops else 0


def reach(depth: int) -> int:
    """3^L: the distance up to which vertices see each other after L layers of linear attention.

    >>> [reach(depth) for depth in range(4)]
    [1, 3, 9, 27]
    """
    return int(3**depth)


def layers_for_diameter(diameter: int) -> int:
    """ceil(log_3 D), the least L with 3^L >= D: layers until a component of diameter D sees itself.

    >>> [layers_for_diameter(diameter) for diameter in (0, 1, 3, 4, 9, 10, 81, 82)]
    [0, 0, 1, 2, 2, 3, 4, 5]
    """
    if diameter < 0:
        raise ValueError(f"diameter={diameter}: accepted are whole numbers from 0 on")
    depth = 0
    while reach(depth) < diameter:
        depth += 1
    return depth


def universal_layers(vertices: int) -> int:
    """18 + 2 ceil(log_2 n): layers of fixed width that decide s-t connectivity of n-vertex graphs.

    >>> [universal_layers(vertices) for vertices in (1, 2, 128, 129)]
    [18, 20, 32, 34]
    """
    if vertices < 1:
        raise ValueError(f"vertices={vertices}: accepted are whole numbers from 1 on")
    return 18 + 2 * (vertices - 1).bit_length()


def layers_for_regular(length: int, shared: bool = False) -> int:
    """4 ceil(log_2 n) + 5 layers that recognise a regular language on words of n letters; with the
    same weights for all n, 8 ceil(log_2 n) + 9.

    >>> [layers_for_regular(length) for length in (1, 2, 64, 65)], layers_for_regular(64, True)
    ([5, 9, 29, 33], 57)
    """
    if length < 1:
        raise ValueError(f"length={length}: accepted are whole numbers from 1 on")
    per_doubling, fixed = (8, 9) if shared else (4, 5)
    return per_doubling * (length - 1).bit_length() + fixed


def trained_layers_for_a5(length: int) -> float:
    """The fit L = 4.8 log_2 n - 15.8 to trained nets that multiply n elements of the group A5.

    >>> round(trained_layers_for_a5(64), 1)
    13.0
    """
    return A5_SLOPE * math.log2(_positive("length", length)) + A5_INTERCEPT


# --- depth for a budget: further rules ------------------------------------------------------------


def knee_depth(parameters: float) -> float:
    """The depth of a net of N parameters at the knee 3^L = 2 d^2 + 2 d + 1 of the dimension count:
    up to it more layers raise the count doubly exponentially, then only exponentially.

    >>> [round(knee_depth(10.0 ** k), 1) for k in (6, 8, 12)]
    [9.0, 12.8, 20.8]
    """
    _positive("budget", parameters)

    def beyond(depth: float) -> bool:
        d = width_at(parameters, depth)
        return depth * math.log(3) > math.log(2 * d * d + 2 * d + 1)

    low, high = 0.0, 1.0
    while not beyond(high):
        low, high = high, 2 * high
    for _ in range(60):
        middle = (low + high) / 2
        low, high = (low, middle) if beyond(middle) else (middle, high)
    return high


def marin_depth(parameters: float) -> float:
    """Marin's rule L = d / (64 + 4 log2(d) - 9), not rounded, solved for a budget N = 12 L d^2.

    >>> [round(marin_depth(12 * L * d**2), 1) for L, d in ((6, 512), (21, 2048), (77, 8192))]
    [5.7, 20.8, 76.7]
    """
    volume = _positive("budget", parameters) / 12
    width = math.cbrt(64 * volume)
    for _ in range(60):  # the error falls by more than a factor 10 each time
        width = math.cbrt(volume * max(55 + 4 * math.log2(width), 1))
    return width / max(55 + 4 * math.log2(width), 1)


# --- scales for a depth ---------------------------------------------------------------------------


def residual_scale(depth: int, loops: int = 1) -> float:
    """1 / (R sqrt(2 L)): by which the two output projections of a layer are scaled in a net of R
    passes over L layers; of one pass, GPT-2's initialisation.

    >>> residual_scale(8)
    0.25
    >>> residual_scale(8, loops=4)
    0.0625
    """
    return 1 / (_positive("loops", loops) * math.sqrt(2 * _positive("depth", depth)))


def deepnorm_scales(depth: int, loops: int = 1) -> tuple[float, float]:
    """DeepNorm's alpha = (2 L R^2)^(1/4) and beta = (8 L R^2)^(-1/4) for a stack of L layers that a
    token passes R times.

    >>> tuple(round(scale, 4) for scale in deepnorm_scales(6))
    (1.8612, 0.3799)
    >>> deepnorm_scales(2, loops=4)[1]
    0.25
    """
    counted = _positive("depth", depth) * _positive("loops", loops) ** 2
    return (2 * counted) ** 0.25, (8 * counted) ** -0.25


def deepnorm_pair(encoder: int, decoder: int) -> tuple[float, float, float, float]:
    """DeepNorm's scales for N encoder and M decoder layers: alpha, beta of the encoder, then of the
    decoder: 0.81 (N^4 M)^(1/16), 0.87 (N^4 M)^(-1/16), (3 M)^(1/4), (12 M)^(-1/4).

    >>> tuple(round(scale, 3) for scale in deepnorm_pair(6, 6))
    (1.418, 0.497, 2.06, 0.343)
    """
    both = (_positive("depth", encoder) ** 4 * _positive("depth", decoder)) ** (1 / 16)
    return 0.81 * both, 0.87 / both, (3 * decoder) ** 0.25, (12 * decoder) ** -0.25

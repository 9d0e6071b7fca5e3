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

# The fit loss = c + m d^-a + l (100 L)^-b + t (D / 10^6)^-e to the losses of 203 of Chinchilla's
# trainings, those below the 40th highest (liu2026, liuyz0/DepthScaling 07360e3,
# Scaling/fit-5.ipynb, output of cell 7).
ADDED_LIMIT = 1.7503269910812378
ADDED_WIDTH = 333.3808501910344, 0.9769136309623718
ADDED_DEPTH = 1284.3676595484178, 1.201390266418457
ADDED_TOKENS = 8.48674282280199, 0.29909613728523254
# Variances and covariances of (ln m, a, ln l, b) at that fit: derived from its 203 trainings
# (Scaling/get_fitting_data_chinchilla.csv) by the Jacobian of the residuals, as its cell 8 has it.
# The roots of the variances are the standard errors printed there: 0.5126, 0.0833, 1.8238, 0.2685.
ADDED_COVARIANCE = (
    (0.26278195, 0.04264795, -0.78524091, -0.11616237),
    (0.04264795, 0.00693437, -0.12739107, -0.01887318),
    (-0.78524091, -0.12739107, 3.3262209, 0.4894889),
    (-0.11616237, -0.01887318, 0.4894889, 0.07211428),
)

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


def added_loss(depth: float, width: float, tokens: float) -> float:
    """Liu's fit: the loss of L layers of width d after D training tokens, a sum of a limit and a
    power of each.

    >>> round(added_loss(47, 4608, 1e11), 3)
    2.159
    """
    (m, a), (k, b), (t, e) = ADDED_WIDTH, ADDED_DEPTH, ADDED_TOKENS
    _positive("depth", depth)
    shape = m * _positive("width", width) ** -a + k * (100 * depth) ** -b
    return ADDED_LIMIT + shape + t * (_positive("number of tokens", tokens) / 1e6) ** -e


def added_depth(parameters: float) -> float:
    """The depth of a net of N = 12 L d^2 parameters with the least loss by Liu's fit.

    With V = N / 12, d = (V / L)^(1/2), and the loss is c(D) + m (L / V)^(a/2) + l (100 L)^-b: its
    derivative in L vanishes at L^(a/2 + b) = 2 b l 100^-b V^(a/2) / (a m), whatever D is.

    >>> [round(added_depth(n), 1) for n in (1e8, 1e9, 7e9)]
    [14.3, 27.9, 49.0]
    """
    (m, a), (k, b) = ADDED_WIDTH, ADDED_DEPTH
    volume = _positive("budget", parameters) / 12
    return float((2 * b * k * 100**-b * volume ** (a / 2) / (a * m)) ** (1 / (a / 2 + b)))


def added_depth_error(parameters: float) -> float:
    """The standard error of `added_depth`, in layers, to first order: of the fit, not of its form.

    >>> [round(added_depth_error(n), 1) for n in (1e8, 1e9, 7e9)]
    [1.3, 2.2, 9.2]
    """
    (_, a), (_, b) = ADDED_WIDTH, ADDED_DEPTH
    depth, volume = added_depth(parameters), parameters / 12
    # Of ln L = (ln(2 b l) - b ln 100 + a / 2 ln V - ln(a m)) / (a / 2 + b), by ln m, a, ln l, b.
    slopes = (
        -1.0,
        (math.log(volume) - math.log(depth)) / 2 - 1 / a,
        1.0,
        1 / b - math.log(100) - math.log(depth),
    )
    square = sum(
        x * y * covariance
        for x, row in zip(slopes, ADDED_COVARIANCE, strict=True)
        for y, covariance in zip(slopes, row, strict=True)
    )
    return depth * math.sqrt(square) / (a / 2 + b)


def added_range(parameters: float, tokens: float, tolerance: float) -> tuple[float, float]:
    """The depths whose loss by Liu's fit is within a share of the least, at N = 12 L d^2 parameters
    and D tokens: fewer tokens make every loss greater, and so the range a little wider.

    >>> [tuple(round(end) for end in added_range(1e9, n, 0.01)) for n in (1e9, 2e10)]
    [(16, 52), (17, 48)]
    """
    best = added_depth(parameters)

    def loss(depth: float) -> float:
        return added_loss(depth, width_at(parameters, depth), tokens)

    most = (1 + tolerance) * loss(best)
    ends = []
    for factor in (0.5, 2.0):
        inside, outside = best, factor * best
        while loss(outside) < most:
            inside, outside = outside, factor * outside
        for _ in range(50):
            middle = math.sqrt(inside * outside)
            inside, outside = (middle, outside) if loss(middle) < most else (inside, middle)
        ends.append(inside)
    return ends[0], ends[1]


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

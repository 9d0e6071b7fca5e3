"""Depth against width: losses and sizes of trained nets, and what texts conclude from them."""

from __future__ import annotations

from fractions import Fraction
from itertools import pairwise
from typing import NamedTuple

from flint import arb
from sympy import Rational

from depthlaw.advisor.grids import rows

from ..claims.definition import Ball, Case, Control, Exact, Source, claim
from ..claims.relations import Eq, Ge, Gt, between
from ..claims.symbols import depth, quantity, stated
from ..counting.counted_nets import gpt2
from ..exact.enclosure import ball, endpoints
from .printed_numbers import gain, interval

best = quantity("best_depth", r"L^\star", "depth of the best of several trained nets")
shallower = quantity("shallower", "L_0", "depth of the next smaller net")
size_ratio = quantity(
    "size_ratio", r"\rho", "parameters of one net over those of another", "positive real"
)
least = quantity("least_ratio", r"\rho_0", "least ratio of sizes that a text allows", "real")
most = quantity("most_ratio", r"\rho_1", "largest ratio of sizes that a text allows", "real")
local_exponent = quantity(
    "local_exponent",
    r"\partial\ln D/\partial\ln W",
    "local exponent of a depth as a function of the width",
    "positive real",
)

# The grids that claims are about; the table goes on to others, by which rules of depth are scored.
_GRIDS = (
    "95-117M",
    "475-543M",
    "1.01-1.05B",
    "1.9-2.0B",
    "T5 at 223M",
    "codelion 70M",
    "width 512",
    "encoder",
)
TABLE = tuple(row for row in rows() if row["grid"] in _GRIDS)


class ListedNet(NamedTuple):
    """A trained net; `sign` is 1 where its value is a loss and -1 where it is an accuracy."""

    depth: int
    width: int
    value: str
    sign: int


def trained(group: str) -> list[ListedNet]:
    """The nets of a group, shallowest first."""
    sign = {"loss": 1, "accuracy": -1}
    return sorted(
        ListedNet(int(r["layers"]), int(r["width"] or 0), r["value"], sign[r["measure"]])
        for r in TABLE
        if r["grid"] == group
    )


@claim(
    Gt(gain, 0),
    source=Source("deepnetworks63", "Section 6.3, Why Depth?, Depth vs Width"),
    wording="universal",
    known="FAILS",
    weight="measurement",
    # Neighbours of different width, or of one width where the group lists none.
    cases={
        "quick": [
            Case(group=group, depth=a.depth, deeper=b.depth)
            for group in ("T5 at 223M", "95-117M", "475-543M", "1.01-1.05B", "1.9-2.0B")
            for a, b in pairwise(trained(group))
            if not a.width or a.width != b.width
        ]
    },
    control=Control(
        Case(group="T5 at 223M", depth=6, deeper=8),
        "a fiftieth of a nat",
        statement=Gt(gain, Rational(1, 50)),
    ),
    cited=(
        "Bears on whether the deeper of two nets of equal size may be advised without a "
        "measurement."
    ),
)
def depth_wins(case: Case) -> Ball:
    """At a fixed budget the deeper net wins.

    Of two trained nets of about the same number of parameters the deeper one has the lower loss.

    Checked sentence: "Empirically, depth wins for most tasks:", said of a fixed parameter budget,
    and read here without exception. Data: Narang et al. (second-hand) and Gemstones, one run per
    net. T5 at 223M is best at 18 layers and worse at 24; Gemstones turn once between $d/L$ of 37
    and 17, once between 11 and 4, and elsewhere no net is deep enough to tell.
    """
    nets = {net.depth: net for net in trained(case.group)}
    first, second = nets[case.depth], nets[case.deeper]
    return interval([(first.sign, first.value), (-second.sign, second.value)])


_SIZE_CLASSES = ("95-117M", "475-543M", "1.01-1.05B", "1.9-2.0B")


@claim(
    Eq(best, stated),
    source=Source("narang2021", "and fahim2026, espnet1552, mcleish2025", "arXiv:2102.11972"),
    weight="measurement",
    cases={
        "quick": (
            *(
                Case(group=group, stated=layers)
                for group, layers in (("T5 at 223M", 18), ("width 512", 16), ("encoder", 14))
            ),
            *(
                Case(
                    group=group,
                    least_aspect=30,
                    stated=max(net.depth for net in trained(group) if net.width >= 30 * net.depth),
                )
                for group in _SIZE_CLASSES
            ),
        )
    },
    control=Control(
        Case(group="475-543M", least_aspect=1, stated=45), "45 layers of width 768, $d/L = 17$"
    ),
    supports="evidence/depth_wins",
    post_hoc="the limit of 30 on $d/L$ in Gemstones was read off the losses that it is asked of",
)
def best_depth(case: Case) -> Exact:
    r"""In three series a middle depth is best, in Gemstones the deepest with $d/L \geq 30$.

    The best depth is 18 of 6 to 24 layers for T5 at 223M parameters, 16 of 2 to 24 for width 512 in
    the Depth Delusion, and 14 of 12 to 96 for an ESPnet encoder: in none is the deepest net the
    best. In each of the four size classes of Gemstones it is the deepest of the nets with $d/L$ of
    at least 30.

    Read off the printed numbers, one run each. The series of T5 has a fixed budget; that of width
    512 has one learning rate for all depths, the encoder's is post-norm. The Depth Delusion goes on
    to 32 layers, where a figure's caption speaks of a partial recovery that stays above 16 layers;
    the number was not read. The 30 was read off these same losses, so this describes Gemstones
    (their released table at 300B tokens) and predicts nothing. Beyond it there are nets in two
    classes only: at 475-543M they lose, at 95-117M 36 layers of width 384 ($d/L = 11$) beat all.
    Sizes within a class differ by up to a quarter. Losses of the nets with $d/L$ from 30 to 300
    differ by 1.0 % at 2B, 0.8 % at 1B, 3.0 % at 0.5B and 6.9 % at 0.1B, where 3 layers of width 768
    are among the shapes.
    """
    aspect = case.get("least_aspect", 0)
    nets = [net for net in trained(case.group) if net.width >= aspect * net.depth]
    best_net = min(nets, key=lambda net: net.sign * Fraction(net.value))
    if sum(net.value == best_net.value for net in nets) > 1:
        raise ValueError(f"{case.group} has no single best net")
    return Exact(best_net.depth)


_ACROSS_512 = [
    Case(wide=wide.depth, narrow=narrow.depth)
    for wide in trained("codelion 70M")
    if wide.width >= 512
    for narrow in trained("codelion 70M")
    if narrow.width < 512
]


@claim(
    Gt(gain, 0),
    wording="universal",
    known="FAILS",
    weight="measurement",
    source=Source("codelion2025", "findings; scores in the author's comment"),
    cases={"quick": _ACROSS_512},
    control=Control(
        Case(wide=4, narrow=24),
        "three tenths of a point ahead",
        statement=Gt(gain, Rational(3, 10)),
    ),
    cited="Bears on whether models of 70M parameters should keep a width of 512 at any depth.",
)
def width_512_threshold(case: Case) -> Ball:
    r"""Below width 512 no number of layers compensates.

    Of seven nets of about 70M parameters each one of width 512 or more has a higher average score
    than each narrower one; nets are named by their layers.

    The sentence: "Hidden dimension $\geq 512$ is a hard threshold", "Below it, even 64 layers can't
    compensate". 64 layers of width 256 score 38.21 and 32 of width 384 score 38.50, more than
    either wide net; 4 layers of width 768 score less than three of the five narrow ones. The author
    has since said that depth matters too.
    """
    values = {net.depth: net.value for net in trained("codelion 70M")}
    return interval([(1, values[case.wide]), (-1, values[case.narrow])])


# The textbook's table of model depths, smallest model first.
_TEXTBOOK_DEPTHS = {
    "GPT-2 Small": 12,
    "GPT-2 Medium": 24,
    "GPT-2 Large": 36,
    "GPT-2 XL": 48,
    "LLaMA 7B": 32,
    "LLaMA 70B": 80,
}
_NEXT_LARGER = [
    Case(smaller=a, shallower=_TEXTBOOK_DEPTHS[a], model=b) for a, b in pairwise(_TEXTBOOK_DEPTHS)
]


@claim(
    Gt(depth, shallower),
    source=Source("deepnetworks63", "Section 6.3, Modern Model Depths"),
    wording="universal",
    known="FAILS",
    weight="arithmetic",
    cases={"quick": _NEXT_LARGER},
    control=Control(_NEXT_LARGER[3], "LLaMA 7B has 32 layers, GPT-2 XL 48"),
    supports="counting/textbook_numbers",
)
def more_layers_more_parameters(case: Case) -> Exact:
    """The textbook's nets with more layers have more parameters.

    In the textbook's table of model depths every model has more layers than the next smaller one.

    Checked sentence: "The trend: more layers, more parameters, more capability." A trend allows
    exceptions; this is the reading without any. The row GPT-4, "~120?" layers and "~1.8T?"
    parameters, is marked as unknown there and is left out; it would agree.
    """
    return Exact(_TEXTBOOK_DEPTHS[case.model])


# Pairs of shapes, (layers, width), that a text compares; as equally large but for one pair.
_COMPARED = {
    "Kaplan, 6 and 48 layers": ((48, 1600), (6, 4288)),
    "Kaplan, 207 and 48 layers": ((48, 1600), (207, 768)),
    "textbook, options A and B": ((24, 1024), (6, 2048)),
    "iGSM, 4 and 16 layers": ((16, 576), (4, 1920)),
}


# Parameters of a deep and narrow T5 and of the standard one: millions, or percent of the latter.
_DEEPNARROW = {
    "T5, small-16L and base": (134, 223),
    "T5, XL-32L and XXL": (33, 100),
    "T5, base-36L and large": (84, 100),
}


def _compared() -> list[Case]:
    """A text's ratio within 5 %, and at most a half."""
    sized = [(pair, 2 if pair.startswith("iGSM") else 1) for pair in _COMPARED]
    return [
        *(
            Case(pair=pair, least_ratio=f"{19 * printed}/20", most_ratio=f"{21 * printed}/20")
            for pair, printed in sized
        ),
        *(Case(pair=pair, least_ratio="0", most_ratio="1/2") for pair in _DEEPNARROW),
    ]


@claim(
    between(least, size_ratio, most),
    wording="universal",
    known="FAILS",
    weight="arithmetic",
    source=Source(
        "kaplan2020",
        "Figure 5; and tay2022, abstract, and the other texts named in the cases",
        "arXiv:2001.08361",
    ),
    cases={"quick": _compared()},
    control=Control(
        Case(pair="Kaplan, 207 and 48 layers", least_ratio="19/20", most_ratio="21/20"),
        "a quarter of a percent",
        statement=between(Rational(399, 400), size_ratio, Rational(401, 400)),
    ),
    cited=(
        "Decides whether half the parameters may be quoted for every pair of deep and standard T5."
    ),
)
def compared_sizes(case: Case) -> Exact:
    """Nets that texts compare have the ratio of sizes that they say.

    Two shapes that a text compares as equally large, or as twice as large, have this ratio of
    weights in layers within 5 %; and each deep and narrow T5 has at most half the parameters of the
    standard T5 that it is compared with.

    The texts say less than within 5 %. Kaplan's Figure 5: "Small differences in parameter counts
    are compensated for by using the fit to $L(N)$ as a baseline"; (6, 4288) has 10 % fewer weights
    than (48, 1600), for which that fit makes up. The text on iGSM is reported as "about twice as
    large"; four layers of width 1920 have 2.8 times the weights of 16 layers of width 576. The
    textbook gives both of its options "~150M params", and they are equal. Tay et al.: "our
    redesigned models achieve similar downstream fine-tuning quality while having 50% fewer
    parameters and training 40% faster compared to the widely adopted T5-base model", which is about
    T5-base only, and does not name the model: 134 for 223 million is 40 % fewer. Of their pairs
    (second-hand) only XL-32L against XXL saves more than half.
    """
    if case.pair in _DEEPNARROW:
        return Exact(Fraction(*_DEEPNARROW[case.pair]))
    first, second = _COMPARED[case.pair]
    return Exact(Fraction(gpt2(*second).weights(), gpt2(*first).weights()))


@claim(
    Ge(local_exponent, Rational(87, 200)),
    wording="universal",
    kind="rate",
    known="FAILS",
    weight="measurement",
    source=Source("fahim2026", "abstract; the logarithmic form in a review", "arXiv:2601.20994v1"),
    cases={
        "quick": (
            *Case.grid(law="2.43 ln W", width=(2, 4, 8, 16, 512, 4096)),
            Case(law="optimal shapes"),
        )
    },
    control=Control(Case(law="2.43 ln W", width=16), "a width of 16"),
    cited=r"Bears on the choice between $W^{0.44}$ and $2.43 \ln W$ as a cap on depth at large "
    "widths.",
)
def critical_depth_exponent(case: Case) -> Ball:
    r"""The depth $2.43 \ln W$ and the optimal shapes' grow like $W^{0.44}$ at every width.

    A depth $2.43 \ln W$ grows locally at least like $W^{0.435}$, which rounds to the stated
    $W^{0.44}$, at every width; and so do the optimal shapes $D \sim C^{0.12}$, $W \sim C^{0.34}$.

    The vague sentence: "beyond $D_{\mathrm{crit}}$ ∝ $W^{0.44}$ (sublinear in $W$), adding layers
    increases loss", with $2.43 \ln W$ as an approximation within the range of its experiments; read
    here at every width. That the best depth follows the critical one is our addition. $c \ln W$ has
    the local exponent $1/\ln W$, which is 0.44 only at $W$ of about 10 and 0.16 at $W = 512$. The
    optimal shapes follow $W^{0.35}$ (0.33 to 0.37), slower than the critical depth.
    """
    if case.law == "optimal shapes":
        return Ball(Fraction(115, 345), Fraction(125, 335))  # 0.12 and 0.34, each to two digits
    # ln ln W is concave in ln W: the slope lies between the quotients to the right and to the left.
    x, h = arb(case.width).log(), arb(1) / 1024
    right, left = ((x + h).log() - x.log()) / h, (x.log() - (x - h).log()) / h
    return Ball.of(ball(endpoints(right)[0], endpoints(left)[1]))

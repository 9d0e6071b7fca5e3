"""Rules of depth, carried down to the nets that were trained here: what their depth costs, and
where they say that depth pays.

Every rule is that of `advisor.rules`. Nearly all were measured on larger nets, so that a verdict
says how far down a rule carries; it is no verdict on the rule where it was measured.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator
from itertools import pairwise

from sympy import Rational

from depthlaw.advisor.rules import rule
from depthlaw.theory.claims.definition import LEVEL_MOVED, Case, Control, Sample, Source, claim
from depthlaw.theory.claims.relations import Gt, Le, Lt, between
from depthlaw.theory.claims.symbols import quantity

from ..signal_propagation.exponents import sample
from .ablation import DEPTHS, MORE_SEEDS, NETS, SIZES, case_of, depths_of, gain, gains, log_losses
from .fixed_budgets import width_of

excess = quantity(
    "excess_loss",
    r"\ln\ell_r-\ln\ell",
    "ln of the validation loss at the depth of a rule minus that of a net of equal size",
    "real",
)


# --- rules that name a depth ----------------------------------------------------------------------


def _ruled_depth(case: Case) -> int:
    """The trained depth that is nearest to that of the case's rule for its size, in ln L."""
    asked = rule(case.rule).depth(case.parameters)
    return min(depths_of(case), key=lambda depth: abs(math.log(depth / asked)))


# Each rule and the nets that it is read on.
_RULES = {
    "levine": "standard",
    "nanochat": "standard",
    "marin": "standard",
    "prenorm": "standard",
    "mup": "mup",
    "completep-least": "completep",
}


def _ruled() -> Iterator[Case]:
    """Each rule against each other trained depth, where it asks for one of them or more: a depth
    that rounds to less than the fewest layers trained was not trained."""
    sizes = SIZES["training"]
    for key, parametrisation in _RULES.items():
        for parameters in sizes if parametrisation == "standard" else sizes[:1]:
            case = case_of("training", parameters, parametrisation, rule=key)
            if round(rule(key).depth(parameters)) >= depths_of(case)[0]:
                for other in depths_of(case):
                    if other != _ruled_depth(case):
                        yield Case(**case.fields() | {"other": other})


@claim(
    Le(excess, Rational(1, 100)),
    source=Source(
        "depthlaw", "after bigscience, nanochat, marin, attnres2026 and dey2025: rules of depth"
    ),
    expected="FAILS",
    known="UNDECIDED",
    post_hoc=f"{MORE_SEEDS} Also: {LEVEL_MOVED}. Each rule was a claim of its own.",
    cases={"training": list(_ruled())},
    control=Control(
        next(_ruled()), "a twentieth of the loss less", statement=Le(excess, -Rational(1, 20))
    ),
    cited="Bears on whether a rule of depth may be used far below the sizes it was fitted to.",
    **NETS,
)
def rules_cost_little(case: Case, device: str = "cpu", folder: str = "") -> Sample:
    r"""Six rules of depth, carried down, cost at most one per cent.

    At equal $12 L d^2$ and equal updates, the validation loss at the depth of the rule is typically
    at most 1 % above that of every trained depth, for the rules of Levine, nanochat, Marin and
    Attention Residuals ($d = 60 L$), and for the best $N$:$L$ under muP and the least under
    CompleteP.

    A rule is read at the nearest trained depth, in $\ln L$, and not asked where its depth rounds to
    less than the fewest layers trained: Levine's is asked at the largest size alone. Of the nets
    trained here nanochat's rule and $d = 60 L$ ask for the same depths, and these two alone are
    undecided, against 1 layer at the largest size; the others hold, nearly all because they ask for
    the fewest layers trained. Expected to fail, but for the two of muP and CompleteP. One per cent
    is ours: the sources give a shape and promise no loss. They are math/README.md of bigscience,
    after Levine et al. (reported); scripts/base_train.py of nanochat, commit 92d63d4, and
    experiments/grug/moe of Marin (printed); 25 shapes at $6.5 \cdot 10^{19}$ FLOPs,
    arXiv:2603.15031 (printed); $N$:$L$ of 11.8 within 1 %, arXiv:2505.01618 (reported). None of
    them measured sizes so small: the verdict says how far down a rule carries.
    """
    return sample(
        log_losses(case, _ruled_depth(case), device, folder)
        - log_losses(case, case.other, device, folder)
    )


# --- rules that say where depth pays --------------------------------------------------------------


def _steps(wanted: Callable[[Case], bool], suite: str = "training") -> list[Case]:
    """Steps from a depth to the next one at a size, of which this is true."""
    steps = (
        case_of(suite, parameters, depth=depth, other=other)
        for parameters in SIZES[suite]
        for depth, other in pairwise(DEPTHS[suite])
    )
    return list(filter(wanted, steps))


def _from_threshold(case: Case) -> bool:
    return bool(3**case.depth >= width_of(case.parameters, case.depth, case.heads))


def _to_knee(case: Case) -> bool:
    return bool(case.other <= rule("knee").depth(case.parameters))


def _beyond_largest(case: Case) -> bool:
    return bool(case.other * case.depth > rule("delusion").depth(case.parameters) ** 2)


@claim(
    Gt(gain, 0),
    source=Source(
        "depthlaw", r"after levine2020 (v1, abstract and Table 1): $L_{\mathrm{th}} = \log_3(d_x)$"
    ),
    expected="FAILS",
    post_hoc=(
        MORE_SEEDS + r" Up to $\log_3(d)$, to the knee and to six layers were three claims about "
        "parts of these cases."
    ),
    headline=r"The reading of $\log_3(d_x)$ as advice for training, tested on small models.",
    cases={suite: _steps(_to_knee, suite) for suite in SIZES},
    control=Control(_steps(_to_knee)[0], "by a hundredth", statement=Gt(gain, Rational(1, 100))),
    cited=r"Bears on whether designers should add layers up to $\log_3(d)$ before they add width.",
    **NETS,
)
def depth_pays_to_knee(case: Case, device: str = "cpu", folder: str = "") -> Sample:
    r"""Depth pays at equal size up to $\log_3(d)$, and to the knee.

    At equal $12 L d^2$ and equal updates, the loss of the deeper net of two neighbouring depths is
    typically lower where its depth is at most the knee of its size, $3^L = 2 d^2 + 2 d + 1$, about
    $2 \log_3(d) + \log_3(2)$: from 1 layer to 2 and from 2 to 3, which is up to $\log_3(d)$, and
    from 3 to 6.

    It fails already up to $\log_3(d)$, from 2 to 3 layers at the smallest and the largest size and
    from 1 to 2 at the smallest, and from 3 to 6 at the smallest; the other steps are undecided.
    Asked of the steps up to $\log_3(d)$ alone, at a level of their own, 1 to 2 failed at the
    largest size too. That theorem is about what nets can represent, without softmax, MLP and
    residuals; that trained nets lose less by it is a reading. Up to the knee a bound on separation
    rank grows doubly exponentially with depth; nobody claims that trained nets follow it. These are
    also the steps up to six layers: the legend of Kaplan et al.'s Figure 6 parts nets of 1, 2 and 3
    layers from those of "6 Layers" (recalled), and Levine et al. are reported to read it so that
    depth helps up to there. Nets as large as those of suite gpu are all deeper than $\log_3(d)$.
    """
    return sample(gains(case, device, folder))


@claim(
    between(-Rational(1, 100), gain, Rational(1, 100)),
    source=Source("depthlaw", r"after levine2020 (v1, abstract and Table 1): beyond $\log_3(d_x)$"),
    expected="FAILS",
    post_hoc=f"{MORE_SEEDS} Also: {LEVEL_MOVED}",
    cases={"training": _steps(_from_threshold)},
    control=Control(
        _steps(_from_threshold)[0],
        "a sixtieth of the loss is gained",
        statement=between(Rational(1, 60) - Rational(1, 100), gain, Rational(2, 75)),
    ),
    supports="depth_width/depth_pays_to_knee",
    **NETS,
)
def depth_is_neutral_from_threshold(case: Case, device: str = "cpu", folder: str = "") -> Sample:
    r"""From $\log_3(d)$ layers on depth and width are interchangeable.

    At equal $12 L d^2$ and equal updates, the losses of two neighbouring depths, the shallower of
    at least $\log_3(d)$ layers, typically differ by at most 1 %.

    One per cent is ours, fixed before anything was measured. Of representation the text says so up
    to constants alone. Expected to fail, since the deepest nets here are too narrow for 2,000
    tokens. These are also the steps from 6 layers on: by the legend of Kaplan et al.'s Figure 6,
    "$> 6$ Layers" (recalled), and as Levine et al. are reported to read it, more depth gains
    nothing there. That half, that depth gains at most 1 %, is refuted nowhere: it holds at the two
    smaller sizes and is undecided at the largest.
    """
    return sample(gains(case, device, folder))


@claim(
    Lt(gain, 0),
    post_hoc=f"{MORE_SEEDS} Also: {LEVEL_MOVED}",
    source=Source(
        "fahim2026", r"$2.43 \ln d$, as restated on themoonlight.io", "arXiv:2601.20994v1"
    ),
    wording="reported",
    cases={"training": _steps(_beyond_largest)},
    control=Control(
        _steps(_beyond_largest)[0], "by a twentieth", statement=Lt(gain, -Rational(1, 20))
    ),
    cited=r"Bears on whether small models should be capped at $2.43 \ln d$ layers.",
    **NETS,
)
def depth_harms_beyond_largest(case: Case, device: str = "cpu", folder: str = "") -> Sample:
    r"""Depth harms at equal size beyond $2.43 \ln d$ layers.

    At equal $12 L d^2$ and equal updates, the loss of the deeper net of two neighbouring depths is
    typically higher where the middle of the two, in $\ln L$, is deeper than $2.43 \ln d$.

    So rises a curve in $\ln L$ that is even about a minimum at or below that depth; one that is
    steeper towards few layers may still fall in a step that starts below it.
    """
    return sample(gains(case, device, folder))

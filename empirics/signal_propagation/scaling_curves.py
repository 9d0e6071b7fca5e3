"""Curves of scaling rules: what steps move against width and depth, and correlations layer by layer
beside their recursion."""
from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from scipy import special

from depthlaw.theory.claim import Case

from ..figures import Panel, Series
from .coordinate_checks import changes_by_size, sizes
from .recursions import mapped, mean_field_correlations
from .updates import step_changes

__all__ = ["curve", "power_law", "scaling_panels"]

LEVEL = 0.99


def curve(label: str, x: Sequence[int], logs: np.ndarray) -> Series:
    """Geometric means over nets with Student intervals, of logarithms (points, nets)."""
    nets = logs.shape[1]
    half = special.stdtrit(nets - 1, (1 + LEVEL) / 2) * logs.std(axis=1, ddof=1) / np.sqrt(nets)
    low, middle, high = (tuple(np.exp(logs.mean(axis=1) + side * half).tolist())
                         for side in (-1, 0, 1))
    return Series(label, tuple(x), middle, low, high)


def _growth(label: str, case: Case, changes: np.ndarray) -> Series:
    """Changes over that of the smallest net, replica by replica."""
    logs = np.log(changes)
    return curve(label, sizes(case), logs - logs[:1])


def power_law(label: str, x: Sequence[int], exponent: float) -> Series:
    """A reference line: (x / first x)^exponent."""
    return Series(label, tuple(x), tuple((size / x[0]) ** exponent for size in x),
                  kind="reference")


def scaling_panels(device: str = "cpu") -> tuple[Panel, ...]:
    """Four pictures: change by Adam's steps against width and against depth, change by one step of
    post-LN nets, and token correlations layer by layer beside the mean-field maps; means over nets
    with 99 % Student intervals.

    Args:
        device: on which nets are run.

    Cost: about half a minute on one core.
    """
    narrow = Case(depth=4, moved="all", steps=4, narrow=32, wide=128, replicas=32)
    shallow = Case(width=32, moved="blocks", steps=4, shallow=8, deep=64, replicas=32)
    step = Case(width=32, shallow=8, deep=64, replicas=32, biases=False)

    def ruled(label: str, rule: str, case: Case) -> Series:
        case = Case(**case.fields(), rule=rule)
        return _growth(label, case, changes_by_size(case, 0, device)["hidden"])

    def stepped(label: str, scheme: str, optimiser: str) -> Series:
        case = Case(**step.fields(), scheme=scheme, optimiser=optimiser)
        return _growth(label, case, step_changes(case, 0, device))

    by_size = "change, over that of the smallest net"
    widths, depths = sizes(narrow), sizes(shallow)
    return (
        Panel("Four steps of Adam against width", "width", by_size, (
            ruled("standard", "standard", narrow), ruled("muP", "mup", narrow),
            ruled("CompleteP", "completep", narrow), power_law("width", widths, 1.0),
            power_law("flat", widths, 0.0)), x_scale="log", y_scale="log"),
        Panel("Four steps of Adam in blocks against depth", "layers", by_size, (
            ruled("no power of the depth", "mup", shallow),
            ruled("depth-muP", "depth-mup", shallow), ruled("CompleteP", "completep", shallow),
            ruled("1/L, with depth-muP's rate", "completep with the rate of depth-mup", shallow),
            power_law("layers", depths, 1.0), power_law("flat", depths, 0.0),
            power_law("1/sqrt(layers)", depths, -0.5)), x_scale="log", y_scale="log"),
        Panel("One step of post-LN nets against depth", "layers", by_size, (
            stepped("DeepNorm, SGD", "deepnorm", "sgd"),
            stepped("DeepNorm, Adam", "deepnorm", "adam"),
            stepped("Xavier, SGD", "xavier, post", "sgd"), power_law("layers", depths, 1.0),
            power_law("sqrt(layers)", depths, 0.5), power_law("flat", depths, 0.0)),
            x_scale="log", y_scale="log"),
        Panel("Token correlation, nets beside the mean-field maps", "layer", "p/q",
              tuple(each for pre in (False, True) for each in _correlations(pre, device))))


def _correlations(pre_norm: bool, device: str) -> tuple[Series, Series]:
    case = Case(pre_norm=pre_norm, tokens=64, width=256, depth=8, replicas=16)
    q, spread = mapped(case, 0, device)
    name, layers = "pre-LN" if pre_norm else "post-LN", range(case.depth + 1)
    limit = mean_field_correlations(case.depth, pre_norm=pre_norm)
    return (curve(f"{name} nets", layers, np.log(1 - spread / q).T),
            Series(f"{name}, maps", tuple(layers), tuple(float(rho) for rho in limit),
                   kind="reference"))

"""The advisor: how deep a net should be for a budget or a task, with everyone's number, where it stands, and how sure it is.

Sources that disagree are shown side by side and never averaged. The answer is an interval: at its ends stand the least and the
greatest number among the sources that state a minimum.
"""
from __future__ import annotations

import math
import textwrap
from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass, field
from statistics import median_low
from typing import Any, Literal

from depthlaw.theory import depth_choice as rules
from depthlaw.theory.models import models, models_near

from .budget import UsageError, parse_budget, parse_count, quoted

Meaning = Literal["minimum", "suffices", "optimum", "default", "maximum", "built"]
# The meanings that bound the depth from below: what the answer's interval is made of.
_MINIMA = ("minimum", "suffices")
# CompleteP and muP: width per layer; Depth Delusion: layers per e-fold of width; nanochat: width per layer.
_COMPLETEP, _MUP, _DEPTH_DELUSION, _NANOCHAT = 11.8, 38.7, 2.43, 64
_NEAR = 2.0
_TASKS = {"connectivity": "connectivity --diameter 64", "hops": "hops --hops 16"}
_WIDTH = 80


@dataclass(frozen=True)
class Recommendation:
    """One number and whose it is.

    Attributes:
        layers: the depth, as an integer.
        depth: the same before rounding.
        meaning: what the number claims to be.
        rule: what it comes from, in words; with the value before rounding.
        regime: for which nets it was shown or measured.
        source: bibliography key, version, place.
        reading: how the wording of the source is known: printed, reported, recalled, derived.
        certainty: how far to trust it here.
        width: the width that spends the budget at this depth, when there is a budget.
        standard_error: of the depth, when the source gives one.
        extrapolated: whether the budget lies outside what the source measured.
    """

    layers: int
    depth: float
    meaning: Meaning
    rule: str
    regime: str
    source: str
    reading: str
    certainty: str
    width: int | None = None
    standard_error: float | None = None
    extrapolated: bool = False


@dataclass(frozen=True)
class Advice:
    """The answer to one question: every number, sorted by depth, and remarks that carry no depth of their own."""

    question: str
    recommendations: tuple[Recommendation, ...]
    remarks: tuple[str, ...] = field(default=())

    @property
    def low(self) -> Recommendation:
        """The least number among the sources that state a minimum."""
        return min((r for r in self.recommendations if r.meaning in _MINIMA), key=lambda r: r.layers)

    @property
    def high(self) -> Recommendation:
        """The greatest number among the sources that state a minimum."""
        return max((r for r in self.recommendations if r.meaning in _MINIMA), key=lambda r: r.layers)

    @property
    def headline(self) -> str:
        """The recommendation in one line."""
        low, high = self.low.layers, self.high.layers
        return f"Recommended minimum depth: {_layers(low) if low == high else f'{low} to {_layers(high)}'}"

    def as_json(self) -> dict[str, Any]:
        """The advice for machines; the texts are those for people."""
        return {
            "question": self.question, "recommendation": self.headline,
            "minimum_depth": {"low": self.low.layers, "low_source": self.low.source,
                              "high": self.high.layers, "high_source": self.high.source},
            "numbers": [vars(r) for r in self.recommendations], "remarks": list(self.remarks),
        }

    def as_text(self) -> str:
        """The advice for people, at most 80 columns wide."""
        lines = [*_wrap(self.question), self.headline]
        for end, r in {"low": self.low, "high": self.high}.items():
            warning = " EXTRAPOLATED." if r.extrapolated else ""
            if end == "low" or r is not self.low:
                lines += _wrap(f"{end} end {r.layers}: {r.rule}.{warning} [{r.source}]", "  ")
        for remark in self.remarks:
            lines += _wrap(remark, "- ", "  ")
        lines += ["", "Whose number is what (the sources are not averaged):"]
        for r in self.recommendations:
            lines += ["", *_block(r)]
        return "\n".join(lines)


def answer(budget: str | None, task: str | None, diameter: str | None, hops: str | None) -> list[Advice]:
    """The answers to what was typed: one for the budget, one for the task.

    Raises:
        UsageError: when something is missing, unknown or unreadable.

    >>> [a.headline for a in answer("350M", None, None, None)]
    ['Recommended minimum depth: 7 to 33 layers']
    """
    if task not in (None, *_TASKS):
        raise UsageError(f"unknown task {quoted(task or '')}; accepted are connectivity and hops; try --task connectivity --diameter 64")
    for name, option, value in (("connectivity", "--diameter", diameter), ("hops", "--hops", hops)):
        if value is not None and task != name:
            raise UsageError(f"{option} belongs to the task {name}; try --task {_TASKS[name]}")
        if value is None and task == name:
            raise UsageError(f"the task {name} needs {option}; try --task {_TASKS[name]}")
    if budget is None and task is None:
        raise UsageError("nothing to answer: give a budget (1.3B, 350M, 7e9) or a task; try depthlaw depth 1.3B, or --task hops --hops 16")
    answers = [] if budget is None else [for_budget(parse_budget(budget))]
    if diameter is not None:
        answers.append(for_connectivity(parse_count(diameter, "diameter", "--diameter 64", least=0)))
    if hops is not None:
        answers.append(for_hops(parse_count(hops, "number of hops", "--hops 16")))
    return answers


def for_budget(parameters: int) -> Advice:
    """What everyone says about the depth of a net of N = 12 L d^2 parameters.

    >>> for_budget(1_300_000_000).headline
    'Recommended minimum depth: 8 to 42 layers'
    """
    threshold, fit, cap = _threshold(parameters), _levine_fit(parameters), _depth_delusion(parameters)
    numbers = sorted([threshold, fit, cap, *_aspects(parameters)], key=lambda r: r.layers)
    remarks = [*_floor_remark(parameters, threshold, fit),
               f"All sources together: {numbers[0].layers} ({_name(numbers[0])}, {numbers[0].meaning}) to "
               f"{numbers[-1].layers} ({_name(numbers[-1])}, {numbers[-1].meaning})."]
    if cap.layers < fit.layers:
        remarks.append(f"Contradiction: {_name(cap)} would stop at {cap.layers}, {_name(fit)} asks for {fit.layers}.")
    remarks.append(_FLATNESS)
    built = _built(parameters)
    if built is None:
        remarks.append("No dense decoder in models.csv lies within a factor 2 of this budget.")
    else:
        numbers.append(built)
    return Advice(f"Budget: {parameters:,} parameters, counted as N = 12 L d^2 (without embeddings).",
                  tuple(sorted(numbers, key=lambda r: r.layers)), tuple(remarks))


def for_connectivity(diameter: int) -> Advice:
    """Layers to decide connectivity in graphs whose components have diameter at most D.

    >>> for_connectivity(64).headline
    'Recommended minimum depth: 4 to 32 layers'
    """
    from depthlaw.theory.connectivity import layers_for_diameter, universal_layers

    vertices = diameter + 1
    reach, doubling = layers_for_diameter(diameter), universal_layers(vertices)
    return Advice(
        f"Task: connectivity in graphs with components of diameter at most {diameter:,}.",
        (Recommendation(
            reach, reach, "minimum", f"the reach of linear attention, least L with 3^L >= {max(diameter, 1):,}",
            "attention without softmax, or with ReLU and weights >= 0; one token per vertex, as wide as the graph has vertices",
            "ye2025, arXiv:2510.19753, Theorems 4.3 and 4.5", "reported",
            "exact for these nets: our construction computes (A + I)^(3^L); other nets may need more or fewer layers"),
         Recommendation(
            doubling, doubling, "suffices",
            f"one construction for all sizes: 18 + 2 ceil(log2 n) layers, here at the least n = {vertices:,} vertices",
            "averaging-hard attention, masked pre-norm, fixed width, n^2 input and n^3 padding tokens; grows with n, not with D",
            "merrill2025, arXiv:2503.03961, Theorem 2", "printed",
            "proved to suffice; nobody says that as many are necessary; take n in place of D + 1 when your graphs are larger")),
        ("Depth of order log(D) suffices at width N^eps (sanford2024, arXiv:2402.09268, Corollary 3.3; printed; no constant is given).",
         "Fewer than order log(D) layers fail if the one-versus-two-cycle conjecture holds (sanford2024, Corollary 3.5; printed; "
         "conditional; no constant is given)."))


def for_hops(hops: int) -> Advice:
    """Layers to follow k hops (the k-fold induction heads task).

    >>> for_hops(16).headline, for_hops(5).headline
    ('Recommended minimum depth: 6 layers', 'Recommended minimum depth: 4 to 5 layers')
    """
    from depthlaw.theory.hops import layers_for_hops

    printed, corrected = layers_for_hops(hops, reading="printed"), layers_for_hops(hops, reading="corrected")
    regime = "masked attention, one head, constant width, queries, keys and values arbitrary functions of a token, precision O(log N)"
    return Advice(
        f"Task: follow {hops:,} hops (the k-hop induction heads task).",
        (Recommendation(
            printed, printed, "suffices", f"the published count floor(log2 k) + 2 at k = {hops:,}", regime,
            "sanford2024, arXiv:2402.09268, Theorem 4.2", "printed",
            "the published construction misses k hops for k >= 2; the repaired one has this depth at powers of two; other k are open here"),
         Recommendation(
            corrected, corrected, "suffices", f"the repaired construction, ceil(log2 k) + 2 at k = {hops:,}", regime,
            "depthlaw, claims of stem hops, after sanford2024", "derived",
            "exact weights exist and are checked; nobody says that as many are necessary")),
        ("Fewer than order log(k) layers fail if the one-versus-two-cycle conjecture holds (sanford2024, Corollary 4.3; printed; "
         "conditional; no constant is given).",))


_FLATNESS = ("Shape may matter little: at about 1.4e9 parameters 6 layers of width 4288 came within 3% of the loss of 48 layers of width "
             "1600 (kaplan2020, arXiv:2001.08361, Fig. 5; printed; one study, language models only).")


def _floor_remark(parameters: int, threshold: Recommendation, fit: Recommendation) -> Iterable[str]:
    low, high = sorted((threshold.layers, fit.layers))
    if 1 < low < high:
        yield f"Fewer than {low} satisfy no source that states a minimum; {high} satisfy all of them."
    if parameters > 1e8 and threshold.layers == low:
        depths = [m.layers / math.log(m.width, 3) for m in models() if m.parameters > 1e8]
        yield (f"The threshold is a floor, not a target: the {len(depths)} listed models above 1e8 parameters have {min(depths):.1f} to "
               f"{max(depths):.1f} times log_3(d) layers (depthlaw, theory/models.csv; derived; claim depth_choice/threshold_never_binds).")


# --- the sources on a budget --------------------------------------------------------------------------------------------------


def _threshold(parameters: int) -> Recommendation:
    layers, depth = rules.threshold_layers(parameters), rules.threshold_depth(parameters)
    return Recommendation(
        layers, depth, "minimum", f"the threshold, L >= log_3(d): L = {depth:.2f}, rounded up",
        "attention without softmax, feed-forward layers and residuals; below it depth beats width double-exponentially",
        "levine2020, arXiv:2006.12467v1, abstract", "printed (threshold); derived (solved for the budget)",
        "the arithmetic is proved; that trained nets obey log_3(d) is untested", _width(parameters, layers))


def _levine_fit(parameters: int) -> Recommendation:
    depth, error = rules.transition_depth(parameters), rules.transition_depth_error(parameters)
    layers, outside = max(1, round(depth)), rules.extrapolated(parameters)
    if outside:
        sure = "EXTRAPOLATED: outside depths 6 to 48 or above 3e9 parameters"
    elif parameters > 6e8:
        sure = "inside the fitted depths, above the size of the trained nets"
    else:
        sure = "inside the fitted depths and sizes"
    return Recommendation(
        layers, depth, "minimum",
        f"Levine's fit, ln d = {rules.FIT_A} + {rules.FIT_B} L: L = {depth:.1f} +- {error:.1f}, the depth up to which deeper nets won",
        "trained decoders of 6 to 48 layers, up to about 6e8 parameters (sizes recalled), vocabulary of 2000",
        "bigscience, math/README.md, after levine2020, arXiv:2006.12467v3", "reported (fit); recalled (its errors); derived (solved)",
        f"{sure}; +- is the fit's own standard error, to first order", _width(parameters, layers), round(error, 4), outside)


def _depth_delusion(parameters: int) -> Recommendation:
    depth = rules.logarithmic_depth(parameters, _DEPTH_DELUSION)
    layers = max(1, int(depth))
    return Recommendation(
        layers, depth, "maximum", f"Depth Delusion, L <= {_DEPTH_DELUSION} ln d: L = {depth:.1f}; deeper nets got worse",
        "30 decoders, 17M to 7B parameters", "fahim2026, arXiv:2601.20994v1, after a review", "reported",
        "low: one seed, one learning rate for all shapes", _width(parameters, layers))


def _aspects(parameters: int) -> Iterable[Recommendation]:
    def at(aspect: float, meaning: Meaning, name: str, regime: str, source: str, reading: str, certainty: str) -> Recommendation:
        depth = rules.aspect_depth(parameters, aspect)
        layers = max(1, round(depth))
        return Recommendation(layers, depth, meaning, f"{name}, d / L = {aspect}: L = {depth:.1f}", regime, source, reading, certainty,
                              _width(parameters, layers))

    recalled = ("dey2025, arXiv:2505.01618v3", "recalled", "low: the number is from memory; check against the paper")
    yield at(_NANOCHAT, "default", "nanochat", "a recipe for 12 to 26 layers; width is rounded up to a multiple of 128",
             "nanochat, commit 92d63d4, scripts/base_train.py", "printed", "a default, tuned at 12 layers; not an optimum for every size")
    yield at(_COMPLETEP, "optimum", "CompleteP", "decoders with residual branches scaled by 1/L", *recalled)
    yield at(_MUP, "optimum", "muP", "decoders under muP, as the baseline of CompleteP", *recalled)


def _built(parameters: int) -> Recommendation | None:
    near = models_near(parameters, _NEAR)
    if not near:
        return None
    layers = median_low([m.layers for m in near])
    known = ", ".join(f"{count} {status}" for status, count in Counter(m.status for m in near).most_common())
    return Recommendation(
        layers, layers, "built",
        f"{len(near)} dense decoders within a factor {_NEAR:g} of the budget: {near[0].layers} ({near[0].name}) to "
        f"{near[-1].layers} ({near[-1].name}) layers, median {layers}",
        "published models, chosen for speed and hardware as much as for quality",
        "depthlaw, theory/models.csv, source of each row there", f"row by row: {known}",
        "what was built, not what is best; counts copy each other", _width(parameters, layers))


def _width(parameters: int, layers: int) -> int:
    return max(1, round(rules.width_at(parameters, layers)))


# --- printing -----------------------------------------------------------------------------------------------------------------


def _block(r: Recommendation) -> list[str]:
    width = f", width {r.width:,}" if r.width else ""
    lines = [f"{r.layers:>4}  {r.meaning}{width}"]
    for label, text in (("from", r.rule), ("regime", r.regime), ("source", r.source), ("reading", r.reading), ("sure", r.certainty)):
        lines += _wrap(text, f"      {label:<8}", " " * 14)
    return lines


def _wrap(text: str, first: str = "", rest: str | None = None) -> list[str]:
    return textwrap.wrap(text, _WIDTH, initial_indent=first, subsequent_indent=first if rest is None else rest, break_on_hyphens=False)


def _layers(count: int) -> str:
    return f"{count} layer{'' if count == 1 else 's'}"


def _name(r: Recommendation) -> str:
    return r.rule.split(",")[0].split(":")[0]

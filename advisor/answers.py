"""The advisor: how deep a net should be for a budget or a task, with everyone's number, where it stands, and how sure it is.

A minimum, an optimum, a maximum, a depth that suffices and a depth that was built are five different things. They are shown side by
side, each under its own name and its source, and are never averaged.
"""
from __future__ import annotations

import math
import textwrap
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from statistics import median_low
from typing import Any, Literal

from . import laws as rules
from .models import models, models_near

from .quantities import UsageError, parse_budget, parse_count, quoted

Meaning = Literal["minimum", "exact", "suffices", "claimed", "optimum", "default", "maximum", "built"]
# CompleteP and muP: width per layer; Depth Delusion: layers per e-fold of width; nanochat: width per layer.
_COMPLETEP, _MUP, _DEPTH_DELUSION, _NANOCHAT = 11.8, 38.7, 2.43, 64
# What the sources measured: parameters behind Levine's fit (recalled) and behind the Depth Delusion, layers of the nanochat recipe.
_FIT_LARGEST, _DELUSION_SIZES, _NANOCHAT_DEPTHS = rules.FIT_LARGEST, (17e6, 7e9), (12, 26)
_NEAR = 2.0
_TASKS = {"connectivity": "connectivity --diameter 64", "hops": "hops --hops 16"}
# The rows of models.csv have marks of their own.
_READINGS = {"seen": "printed", "seen (secondary)": "reported", "mixed": "recalled", "recalled": "recalled"}
_WIDTH = 80
LEGEND = ("printed: read in the source; reported: read elsewhere; recalled: from memory, check it; derived: computed here; "
          "EXTRAPOLATED: outside what was measured.")


@dataclass(frozen=True)
class Recommendation:
    """One number and whose it is.

    Attributes:
        layers: the depth, as an integer.
        depth: the same before rounding.
        meaning: what the number claims to be.
        name: what people call the rule.
        rule: the formula, with the value before rounding.
        regime: for which nets it was shown or measured.
        source: bibliography key, version, place.
        wording: how the wording of the source is known: printed, reported, recalled, derived.
        certainty: how far to trust it here, for those who ask.
        width: the width that spends the budget at this depth, when there is a budget.
        standard_error: of the depth, when the source gives one.
        extrapolated: whether the budget lies outside what the source measured; None when that is not known.
        range: least and greatest depth, when the number is the median of several.
    """

    layers: int
    depth: float
    meaning: Meaning
    name: str
    rule: str
    regime: str
    source: str
    wording: str
    certainty: str
    width: int | None = None
    standard_error: float | None = None
    extrapolated: bool | None = False
    range: tuple[int, int] | None = None


@dataclass(frozen=True)
class Advice:
    """The answer to one question.

    Attributes:
        question: what was asked, as it was understood.
        headline: the answer in one line.
        remarks: what else there is to know, most wanted first.
        numbers: every number with its source, sorted by depth.
        minimum: the number behind "recommended minimum depth"; None where nobody gives one.
        interval: the minimum, and the deepest optimum that is not merely recalled, when there is one.
        labels: in front of the numbers in the text, in place of their layers.
    """

    question: str
    headline: str
    remarks: tuple[str, ...]
    numbers: tuple[Recommendation, ...] = ()
    minimum: Recommendation | None = None
    interval: tuple[Recommendation, Recommendation] | None = None
    labels: tuple[str, ...] = ()

    def as_json(self) -> dict[str, Any]:
        """The advice for machines; the texts are those for people."""
        def end(r: Recommendation) -> dict[str, Any]:
            return {"layers": r.layers, "meaning": r.meaning, "name": r.name, "source": r.source, "extrapolated": r.extrapolated}

        return {
            "question": self.question, "recommendation": self.headline, "minimum_depth": end(self.minimum) if self.minimum else None,
            "interval": {"low": end(self.interval[0]), "high": end(self.interval[1])} if self.interval else None,
            "numbers": [vars(r) for r in self.numbers], "remarks": list(self.remarks)}

    def as_text(self, width: int = _WIDTH) -> str:
        """The advice for people, at most `width` columns wide. How far to trust each number stands in the JSON only."""
        lines = [*_wrap(self.question, width), *_wrap(self.headline, width, rest="  ")]
        for remark in self.remarks:
            lines += _wrap(remark, width, rest="  ")
        shown = [r for r in self.numbers if r.meaning != "built"]
        if shown:
            lines += ["", "Who says what (never averaged):"]
        for place, r in enumerate(shown):
            lines += _block(self.labels[place] if self.labels else str(r.layers), r, width)
        return "\n".join(lines)


def as_text(answers: Sequence[Advice], width: int = _WIDTH) -> str:
    """Several answers for people, and once what the words about sources mean."""
    return "\n\n".join([*(a.as_text(width) for a in answers), "\n".join(_wrap(LEGEND, width))])


def answer(budget: str | None, task: str | None, diameter: str | None, hops: str | None, vertices: str | None = None) -> list[Advice]:
    """The answers to what was typed: one for the budget, one for the task, and one for both together when both are given.

    Raises:
        UsageError: when something is missing, unknown or unreadable.

    >>> [a.headline for a in answer("350M", None, None, None)]
    ['Recommended minimum depth: 7 layers (threshold L >= log_3(d), levine2020)']
    """
    known = None if task is None else task.strip().lower()
    if known not in (None, *_TASKS):
        raise UsageError(f"unknown task {quoted(task or '')}; accepted are connectivity and hops; try --task connectivity --diameter 64")
    options = (("connectivity", "--diameter", diameter), ("hops", "--hops", hops), ("connectivity", "--vertices", vertices))
    for name, option, value in options:
        if value is not None and known != name:
            raise UsageError(f"{option} belongs to the task {name}; try --task {_TASKS[name]}")
        if value is None and known == name and option != "--vertices":
            raise UsageError(f"the task {name} needs {option}; try --task {_TASKS[name]}")
    if budget is None and known is None:
        raise UsageError("nothing to answer: give a budget (1.3B, 350M, 7e9) or a task; try depthlaw depth 1.3B, or --task hops --hops 16")
    answers = [] if budget is None else [for_budget(parse_budget(budget))]
    if diameter is not None:
        count = None if vertices is None else parse_count(vertices, "number of vertices", "--vertices 100")
        answers.append(for_connectivity(parse_count(diameter, "diameter", "--diameter 64", least=0), count))
    if hops is not None:
        answers.append(for_hops(parse_count(hops, "number of hops", "--hops 16")))
    return [*answers, together(*answers)] if len(answers) == 2 else answers


def for_budget(parameters: int) -> Advice:
    """What everyone says about the depth of a net of N = 12 L d^2 parameters.

    >>> said = for_budget(1_300_000_000)
    >>> said.headline, [r.layers for r in said.interval]
    ('Recommended minimum depth: 8 layers (threshold L >= log_3(d), levine2020)', [8, 42])
    """
    threshold, fit, cap, built = _threshold(parameters), _levine_fit(parameters), _depth_delusion(parameters), _built(parameters)
    aspects = list(_aspects(parameters))
    used = [r for r in aspects if r.depth >= 1]
    numbers = [r for r in (threshold, fit, cap, built, *used) if r]
    remarks = [_built_remark(built), *_interval_remarks(threshold, fit), *_optima_remark(fit, used), *_conflict_remark(cap, fit),
               *_floor_remark(parameters), _SHAPE, *_left_out(fit, [r for r in aspects if r not in used])]
    return Advice(
        f"Budget: {parameters:,} parameters, counted as N = 12 L d^2 (no embeddings).",
        f"Recommended minimum depth: {_layers(threshold.layers)} ({threshold.name}, levine2020)", tuple(remarks),
        tuple(sorted((r for r in numbers if r.meaning != "built"), key=lambda r: r.layers)) + ((built,) if built else ()),
        threshold, (threshold, fit) if fit else None)


def for_connectivity(diameter: int, vertices: int | None = None) -> Advice:
    """Layers to decide connectivity in graphs whose components have diameter at most D, for two architectures.

    Args:
        diameter: D.
        vertices: n, which one of them depends on; by default it is asked for, and its number is given at the least n = D + 1.

    Raises:
        UsageError: when n vertices cannot have diameter D.

    >>> for_connectivity(64).headline
    'It depends on the architecture: (a) 4 layers, (b) 18 + 2 ceil(log2 n) layers'
    >>> for_connectivity(64, 1000).headline
    'It depends on the architecture: (a) 4 layers, (b) 38 layers'
    """
    from .laws import layers_for_diameter, universal_layers

    least = diameter + 1
    if vertices is not None and vertices < least:
        raise UsageError(f"a component of diameter {diameter} has at least {least} vertices, not {vertices}; try --vertices {least}")
    n = least if vertices is None else vertices
    reach, doubling = layers_for_diameter(diameter), universal_layers(n)
    unknown = ", at the least n for this diameter; give yours by --vertices" if vertices is None else ""
    numbers = (
        Recommendation(
            reach, reach, "exact", "(a) linearised attention of width n",
            "0 layers: the input already shows it" if diameter <= 1 else f"ceil(log_3 D) = {reach}, the least L with 3^L >= {diameter:,}",
            "enough and needed for this construction: X -> X X^T X on A + I, identity weights, one token per vertex",
            "depthlaw, claim connectivity/layers_for_diameter, after ye2025, arXiv:2510.19753", "derived",
            "exact for this construction; other nets may need more or fewer"),
        Recommendation(
            doubling, doubling, "suffices", f"(b) fixed width, n = {n:,}", f"18 + 2 ceil(log2 n) = {doubling}{unknown}",
            "averaging-hard attention, n^2 input and n^3 padding tokens, the same weights for all n",
            "merrill2025, arXiv:2503.03961, Theorem 2", "printed", "whether fewer are enough is not stated"))
    second = _layers(doubling) if vertices is not None else "18 + 2 ceil(log2 n) layers"
    return Advice(
        f"Task: connectivity in graphs whose components have diameter at most {diameter:,}.",
        f"It depends on the architecture: (a) {_layers(reach)}, (b) {second}",
        ("Lower bound: order log(D), if the one-versus-two-cycle conjecture holds and the net is narrow. It comes without a constant, so "
         "it gives no number (sanford2024, arXiv:2402.09268, Corollary 3.5; printed).",
         "Upper bound at width N^eps: order log(D), again without a constant (sanford2024, Corollary 3.3; printed)."),
        numbers, labels=("(a)", "(b)"))


def for_hops(hops: int) -> Advice:
    """Layers to follow k hops (the k-fold induction heads task).

    >>> for_hops(16).headline
    '6 layers suffice for 16 hops: ceil(log2 k) + 2'
    """
    from .laws import LARGEST_EXECUTED, layers_for_hops, layers_for_hops_printed

    printed, corrected = layers_for_hops_printed(hops), layers_for_hops(hops)
    regime = "one causal head, constant width, precision O(log N); queries, keys and values are arbitrary functions of a token"
    executed = f"executed here without an error up to k = {LARGEST_EXECUTED}"
    if hops > LARGEST_EXECUTED:
        executed += "; this k rests on the written argument"
    numbers = [Recommendation(
        corrected, corrected, "suffices", "repaired construction", f"ceil(log2 k) + 2, {executed}", regime,
        "depthlaw, claim hops/depth_corrected, after sanford2024, arXiv:2402.09268, Theorem 4.2", "derived",
        "exact weights, right on every sequence executed; for all others it rests on a written argument; whether fewer layers are enough "
        "is open")]
    if printed == corrected:
        claimed = "The paper claims floor(log2 k) + 2, the same number here" + ("; its printed construction fails." if hops > 1 else ".")
    else:
        claimed = (f"The paper claims floor(log2 k) + 2 = {printed}. Its printed construction fails; whether that depth suffices for one "
                   "causal head is open. With a strict mask (claim hops/depth_strict_mask), or with ceil(log2(N + 1)) heads in layer 1 "
                   f"(claim hops/depth_log_heads), it did on everything executed, up to k = {LARGEST_EXECUTED}.")
        numbers.insert(0, Recommendation(
            printed, printed, "claimed", "published count", "floor(log2 k) + 2", regime,
            "sanford2024, arXiv:2402.09268, Theorem 4.2", "printed",
            "open for one causal head; with a strict mask, or with ceil(log2(N + 1)) heads in layer 1, right on everything executed"))
    return Advice(
        f"Task: follow {hops:,} hop{'' if hops == 1 else 's'} (the k-hop induction heads task).",
        f"{_layers(corrected)} suffice for {hops:,} hop{'' if hops == 1 else 's'}: ceil(log2 k) + 2"
        + (f" (executed up to k = {LARGEST_EXECUTED}, argued beyond)" if hops > LARGEST_EXECUTED else ""),
        (claimed, "No unconditional lower bound is known here. If the one-versus-two-cycle conjecture holds and the net is narrow, order "
         "log(k) layers are needed; no constant is given (sanford2024, Corollary 4.3; printed)."), tuple(numbers))


def together(budget: Advice, task: Advice) -> Advice:
    """What a budget and a task ask for together: the greater of the two numbers, for each architecture of the task.

    >>> together(for_budget(10**9), for_hops(16)).headline
    'Depth that meets both: 8 layers'
    """
    assert budget.minimum is not None
    least = budget.minimum.layers
    parts, reasons = [], []
    for r in (r for r in task.numbers if r.meaning != "claimed"):
        place = r.name.split()[0] + " " if task.labels else ""
        parts.append(f"{place}{_layers(max(least, r.layers))}")
        reasons.append(f"{place}the greater of {least} (threshold at this budget) and {r.layers} ({r.name.removeprefix(place)})")
    return Advice(
        "Budget and task together.", f"Depth that meets both: {', '.join(parts)}",
        (f"That is {'; '.join(reasons)}.", "The threshold and the constructions speak of different nets: a plan, not a theorem."))


_SHAPE = ("Shape may matter little: at about 1.4e9 parameters 6 x 4288 came within 3% of the loss of 48 x 1600 (kaplan2020, Fig. 5, "
          "printed).")


def _built_remark(built: Recommendation | None) -> str:
    if built is None:
        return "Built: no dense decoder in models.csv lies within a factor 2 of this budget."
    return f"Built: {built.rule}; {built.regime}. [{built.source}; {built.wording}]"


def _interval_remarks(threshold: Recommendation, fit: Recommendation | None) -> Iterator[str]:
    if fit:
        yield f"{threshold.layers} to {_layers(fit.layers)}, depending on whose criterion:"
        yield f"  {threshold.layers}, a minimum: below it more depth beats more width, in theory (levine2020)"
        yield f"  {fit.layers}, an optimum: deeper nets won up to it ({fit.name}{', EXTRAPOLATED' if fit.extrapolated else ''})"


def _optima_remark(fit: Recommendation | None, others: Iterable[Recommendation]) -> Iterator[str]:
    """All who name an optimum, in the order of their depths."""
    named = [(r.depth, f"{r.layers} ({r.name}, {r.wording})") for r in others if r.meaning == "optimum"]
    if fit:
        named.append((fit.depth, f"{fit.layers} +- {fit.standard_error:.1f} ({fit.name})"))
    if named:
        yield "Optimum: " + ", ".join(text for _, text in sorted(named)) + "."


def _conflict_remark(cap: Recommendation, fit: Recommendation | None) -> Iterator[str]:
    if fit and cap.layers < fit.layers:
        yield f"Maximum: {cap.layers} by {cap.name}, in conflict with {fit.name}."


def _floor_remark(parameters: int) -> Iterator[str]:
    if parameters > 1e8:
        depths = [m.layers / math.log(m.width, 3) for m in models() if m.parameters > 1e8]
        yield (f"The minimum is a floor: the {len(depths)} listed models above 1e8 parameters have {min(depths):.1f} to {max(depths):.1f} "
               "times log_3(d) layers (claim depth_choice/threshold_never_binds).")


def _left_out(fit: Recommendation | None, shallow: list[Recommendation]) -> Iterator[str]:
    if fit is None:
        yield f"Left out: Levine's fit, because it asks for fewer than {rules.FIT_DEPTHS[0]} layers here, and no net behind it has fewer."
    if shallow:
        yield f"Left out: {', '.join(r.name for r in shallow)}, because they ask for less than one layer."


# --- the sources on a budget --------------------------------------------------------------------------------------------------


def _threshold(parameters: int) -> Recommendation:
    layers, depth = rules.threshold_layers(parameters), rules.threshold_depth(parameters)
    return Recommendation(
        layers, depth, "minimum", "threshold L >= log_3(d)", f"L = {depth:.2f}, rounded up",
        "theory without softmax, without feed-forward layers, without residuals; untested on trained nets",
        "levine2020, arXiv:2006.12467v1, abstract", "printed; theorems recalled",
        "the arithmetic is exact; that trained nets obey the threshold is untested", _width(parameters, layers))


def _levine_fit(parameters: int) -> Recommendation | None:
    """Levine's fit; None where it asks for fewer layers than any net behind it has."""
    depth, error = rules.transition_depth(parameters), rules.transition_depth_error(parameters)
    if depth < rules.FIT_DEPTHS[0]:
        return None
    layers, outside = round(depth), parameters > _FIT_LARGEST
    return Recommendation(
        layers, depth, "optimum", "Levine's fit", f"ln d = {rules.FIT_A} + {rules.FIT_B} L, L = {depth:.1f} +- {error:.1f}",
        f"decoders of {rules.FIT_DEPTHS[0]} to {rules.FIT_DEPTHS[1]} layers, up to about 6e8 parameters (recalled)",
        "bigscience, math/README.md, after levine2020, arXiv:2006.12467v3", "reported; +- recalled",
        "+- is the fit's own standard error, to first order: neither of its form nor of its use on larger nets",
        _width(parameters, layers), round(error, 4), outside)


def _depth_delusion(parameters: int) -> Recommendation:
    depth = rules.logarithmic_depth(parameters, _DEPTH_DELUSION)
    layers, (least, most) = max(1, int(depth)), _DELUSION_SIZES
    return Recommendation(
        layers, depth, "maximum", "fahim2026 (Depth Delusion)", f"L <= {_DEPTH_DELUSION} ln d",
        "30 decoders of 17M to 7B parameters, one seed, one learning rate",
        "fahim2026, arXiv:2601.20994v1, as restated on themoonlight.io", "reported",
        "weak: the one learning rate may favour the shallow nets", _width(parameters, layers), extrapolated=not least <= parameters <= most)


def _aspects(parameters: int) -> Iterable[Recommendation]:
    def at(aspect: float, meaning: Meaning, name: str, regime: str, source: str, wording: str, certainty: str,
           measured: tuple[int, int] | None = None) -> Recommendation:
        depth = rules.aspect_depth(parameters, aspect)
        layers = max(1, round(depth))
        outside = None if measured is None else not measured[0] <= layers <= measured[1]
        return Recommendation(layers, depth, meaning, name, f"d / L = {aspect}", regime, source, wording, certainty,
                              _width(parameters, layers), extrapolated=outside)

    recalled = ("dey2025, arXiv:2505.01618v3", "recalled", "check against the paper")
    yield at(_NANOCHAT, "default", "nanochat", "a recipe for 12 to 26 layers", "nanochat, commit 92d63d4, scripts/base_train.py",
             "printed", "a default tuned at 12 layers, not an optimum", _NANOCHAT_DEPTHS)
    yield at(_COMPLETEP, "optimum", "CompleteP", "residual branches scaled by 1/L", *recalled)
    yield at(_MUP, "optimum", "muP", "the baseline of CompleteP", *recalled)


def _built(parameters: int) -> Recommendation | None:
    near = models_near(parameters, _NEAR)
    if not near:
        return None
    layers = median_low([m.layers for m in near])
    known = ", ".join(f"{count} {reading}" for reading, count in Counter(_READINGS[m.status] for m in near).most_common())
    least, most = near[0], near[-1]
    return Recommendation(
        layers, layers, "built", "models of similar size",
        f"median {_layers(layers)}, from {least.layers} ({least.name}) to {most.layers} ({most.name}), in {len(near)} dense decoders "
        f"within a factor {_NEAR:g} of the budget", "chosen for speed and hardware too", "depthlaw, theory/depth_choice/models.csv", known,
        "what was built, not what is best; shapes copy each other", range=(least.layers, most.layers))


def _width(parameters: int, layers: int) -> int:
    return max(1, round(rules.width_at(parameters, layers)))


# --- printing -----------------------------------------------------------------------------------------------------------------


def _block(label: str, r: Recommendation, columns: int) -> list[str]:
    width = f" (width {r.width:,})" if r.width else ""
    name, warning = r.name.removeprefix(label).strip(), " EXTRAPOLATED." if r.extrapolated else ""
    regime = f"{r.regime[:1].upper()}{r.regime[1:]}"
    return _wrap(f"{r.meaning}{width}: {name}, {r.rule}.{warning} {regime}. [{r.source}; {r.wording}]", columns, f"{label:>4}  ", " " * 6)


def _wrap(text: str, width: int, first: str = "", rest: str = "") -> list[str]:
    return textwrap.wrap(text, width, initial_indent=first, subsequent_indent=rest, break_on_hyphens=False)


def _layers(count: int) -> str:
    return f"{count} layer{'' if count == 1 else 's'}"

"""How deep a net should be for a budget or a task: everyone's number, and where it stands.

A minimum, an optimum, a maximum, a depth that suffices and a depth that was built are five
different things. They are shown side by side, each under its own name, and are never averaged.
"""
from __future__ import annotations

import math
import textwrap
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import partial
from statistics import median_low
from typing import Any, Literal

from . import laws
from .models import models, models_near
from .quantities import UsageError, parse_budget, parse_count, quoted

Meaning = Literal[
    "minimum", "exact", "suffices", "claimed", "optimum", "default", "maximum", "built"]
# How far from the budget a model may be whose depth is shown.
_NEAR = 2
_TASKS = {"connectivity": "connectivity --diameter 64", "hops": "hops --hops 16"}
# The rows of models.csv have marks of their own.
_WORDINGS = {"seen": "printed", "seen (secondary)": "reported", "mixed": "recalled",
             "recalled": "recalled"}
_WIDTH = 80
LEGEND = (
    "printed: read in the source; reported: read elsewhere; recalled: from memory, check it; "
    "derived: computed here; EXTRAPOLATED: outside what was measured.")


@dataclass(frozen=True)
class Recommendation:
    """One number and whose it is."""

    layers: int
    depth: float  # before rounding
    meaning: Meaning  # what the number claims to be
    name: str  # what people call the rule
    rule: str  # the formula, with the depth before rounding
    regime: str  # for which nets it was shown or measured
    source: str  # bibliography key, version, place
    wording: str  # how the wording of the source is known: printed, reported, recalled, derived
    certainty: str  # how far to trust it here, for those who ask
    width: int | None = None  # what spends the budget at this depth, when there is a budget
    standard_error: float | None = None  # of the depth, when the source gives one
    extrapolated: bool | None = False  # outside what the source measured; None: not known
    range: tuple[int, int] | None = None  # least and greatest, when it is the median of several


@dataclass(frozen=True)
class Advice:
    """The answer to one question."""

    question: str  # as it was understood
    headline: str  # the answer in one line
    remarks: tuple[str, ...]  # what else there is to know, most wanted first
    numbers: tuple[Recommendation, ...] = ()  # sorted by depth
    minimum: Recommendation | None = None  # behind the headline; None where nobody gives one
    # The minimum, and the deepest optimum that is not merely recalled.
    interval: tuple[Recommendation, Recommendation] | None = None
    labels: tuple[str, ...] = ()  # in front of the numbers in the text, in place of their layers

    def as_json(self) -> dict[str, Any]:
        """The advice for machines; the texts are those for people."""
        def end(r: Recommendation) -> dict[str, Any]:
            return {name: getattr(r, name)
                    for name in ("layers", "meaning", "name", "source", "extrapolated")}

        ends = zip(("low", "high"), map(end, self.interval), strict=True) if self.interval else None
        return {
            "question": self.question, "recommendation": self.headline,
            "minimum_depth": end(self.minimum) if self.minimum else None,
            "interval": dict(ends) if ends else None,
            "numbers": [vars(r) for r in self.numbers], "remarks": list(self.remarks)}

    def as_text(self, width: int = _WIDTH) -> str:
        """The advice for people, at most `width` columns wide, without `certainty`."""
        lines = _wrap(self.question, width)
        for text in (self.headline, *self.remarks):
            lines += _wrap(text, width, rest="  ")
        shown = [r for r in self.numbers if r.meaning != "built"]
        if shown:
            lines += ["", "Who says what (never averaged):"]
        for label, r in zip(self.labels or [str(r.layers) for r in shown], shown, strict=True):
            lines += _wrap(_sentence(r, label), width, f"{label:>4}  ", " " * 6)
        return "\n".join(lines)


def as_text(answers: Sequence[Advice], width: int = _WIDTH) -> str:
    """Several answers for people, and once what the words about sources mean."""
    return "\n\n".join([*(a.as_text(width) for a in answers), "\n".join(_wrap(LEGEND, width))])


def _sentence(r: Recommendation, label: str) -> str:
    width = f" (width {r.width:,})" if r.width else ""
    name, warning = r.name.removeprefix(label).strip(), " EXTRAPOLATED." if r.extrapolated else ""
    regime = f"{r.regime[:1].upper()}{r.regime[1:]}"
    return f"{r.meaning}{width}: {name}, {r.rule}.{warning} {regime}. [{r.source}; {r.wording}]"


def _wrap(text: str, width: int, first: str = "", rest: str = "") -> list[str]:
    return textwrap.wrap(
        text, width, initial_indent=first, subsequent_indent=rest, break_on_hyphens=False)


def _count(count: int, what: str = "layer") -> str:
    return f"{count:,} {what}{'' if count == 1 else 's'}"


def answer(budget: str | None, task: str | None, diameter: str | None, hops: str | None,
           vertices: str | None = None) -> list[Advice]:
    """The answers to what was typed: for the budget, for the task, and for both together.

    Raises:
        UsageError: when something is missing, unknown or unreadable.

    >>> [a.headline for a in answer("350M", None, None, None)]
    ['Recommended minimum depth: 7 layers (threshold L >= log_3(d), levine2020)']
    """
    known = None if task is None else task.strip().lower()
    if known not in (None, *_TASKS):
        raise UsageError(f"unknown task {quoted(task or '')}; accepted are connectivity and hops; "
                         "try --task connectivity --diameter 64")
    for name, option, value in (("connectivity", "--diameter", diameter), ("hops", "--hops", hops),
                                ("connectivity", "--vertices", vertices)):
        if value is not None and known != name:
            raise UsageError(f"{option} belongs to the task {name}; try --task {_TASKS[name]}")
        if value is None and known == name and option != "--vertices":
            raise UsageError(f"the task {name} needs {option}; try --task {_TASKS[name]}")
    if budget is None and known is None:
        raise UsageError("nothing to answer: give a budget (1.3B, 350M, 7e9) or a task; "
                         "try depthlaw depth 1.3B, or --task hops --hops 16")
    answers = [] if budget is None else [for_budget(parse_budget(budget))]
    if diameter is not None:
        count = None
        if vertices is not None:
            count = parse_count(vertices, "number of vertices", "--vertices 100")
        reached = parse_count(diameter, "diameter", "--diameter 64", least=0)
        answers.append(for_connectivity(reached, count))
    if hops is not None:
        answers.append(for_hops(parse_count(hops, "number of hops", "--hops 16")))
    return [*answers, together(*answers)] if len(answers) == 2 else answers


# --- a budget ------------------------------------------------------------------------------------


def for_budget(parameters: int) -> Advice:
    """What everyone says about the depth of a net of N = 12 L d^2 parameters."""
    threshold, asked, *others = _sources(parameters)
    # No net behind the fit has fewer layers, and no net has less than one.
    fit = asked if asked.depth >= laws.FIT_DEPTHS[0] else None
    used = [r for r in (threshold, fit, *others) if r and r.depth >= 1]
    built = _built(parameters)
    return Advice(
        f"Budget: {parameters:,} parameters, counted as N = 12 L d^2 (no embeddings).",
        f"Recommended minimum depth: {_count(threshold.layers)} ({threshold.name}, levine2020)",
        tuple(_remarks(parameters, threshold, fit, others, built)),
        (*sorted(used, key=lambda r: r.layers), *built), threshold,
        (threshold, fit) if fit else None)


def _remarks(parameters: int, threshold: Recommendation, fit: Recommendation | None,
             others: list[Recommendation], built: list[Recommendation]) -> Iterator[str]:
    if not built:
        yield "Built: no dense decoder in models.csv lies within a factor 2 of this budget."
    for r in built:
        yield f"Built: {r.rule}; {r.regime}. [{r.source}; {r.wording}]"
    optima = [(r.depth, f"{r.layers} ({r.name}, {r.wording})") for r in others
              if r.meaning == "optimum" and r.depth >= 1]
    if fit:
        warning = ", EXTRAPOLATED" if fit.extrapolated else ""
        yield f"{threshold.layers} to {_count(fit.layers)}, depending on whose criterion:"
        yield (f"  {threshold.layers}, a minimum: below it more depth beats more width, in theory "
               "(levine2020)")
        yield f"  {fit.layers}, an optimum: deeper nets won up to it ({fit.name}{warning})"
        optima.append((fit.depth, f"{fit.layers} +- {fit.standard_error:.1f} ({fit.name})"))
    if optima:
        yield f"Optimum: {', '.join(text for _, text in sorted(optima))}."
    for r in others:
        if fit and r.meaning == "maximum" and r.layers < fit.layers:
            yield f"Maximum: {r.layers} by {r.name}, in conflict with {fit.name}."
    if parameters > 1e8:
        depths = [m.layers / math.log(m.width, 3) for m in models() if m.parameters > 1e8]
        yield (f"The minimum is a floor: the {len(depths)} listed models above 1e8 parameters have "
               f"{min(depths):.1f} to {max(depths):.1f} times log_3(d) layers "
               "(claim depth_choice/threshold_never_binds).")
    yield ("Shape may matter little: at about 1.4e9 parameters 6 x 4288 came within 3% of the loss "
           "of 48 x 1600 (kaplan2020, Fig. 5, printed).")
    if fit is None:
        yield (f"Left out: Levine's fit, because it asks for fewer than {laws.FIT_DEPTHS[0]} "
               "layers here, and no net behind it has fewer.")
    if shallow := [r.name for r in others if r.depth < 1]:
        yield f"Left out: {', '.join(shallow)}, because they ask for less than one layer."


def _sources(parameters: int) -> Iterator[Recommendation]:
    """The threshold, Levine's fit, and everyone else, whatever depth they ask for."""
    def says(meaning: Meaning, name: str, depth: float, rule: str, regime: str, source: str,
             wording: str, certainty: str, layers: int = 0, error: float | None = None,
             outside: bool | None = False) -> Recommendation:
        layers = layers or max(1, round(depth))
        width = max(1, round(laws.width_at(parameters, layers)))
        return Recommendation(layers, depth, meaning, name, rule, regime, source, wording,
                              certainty, width, error, outside)

    depth = laws.threshold_depth(parameters)
    yield says(
        "minimum", "threshold L >= log_3(d)", depth, f"L = {depth:.2f}, rounded up",
        "theory without softmax, without feed-forward layers, without residuals; untested on "
        "trained nets", "levine2020, arXiv:2006.12467v1, abstract", "printed; theorems recalled",
        "the arithmetic is exact; that trained nets obey the threshold is untested",
        layers=laws.threshold_layers(parameters))
    depth, error = laws.transition_depth(parameters), laws.transition_depth_error(parameters)
    fewest, most = laws.FIT_DEPTHS
    yield says(
        "optimum", "Levine's fit", depth,
        f"ln d = {laws.FIT_A} + {laws.FIT_B} L, L = {depth:.1f} +- {error:.1f}",
        f"decoders of {fewest} to {most} layers, up to about 6e8 parameters (recalled)",
        "bigscience, math/README.md, after levine2020, arXiv:2006.12467v3", "reported; +- recalled",
        "+- is the fit's own standard error, to first order: neither of its form nor of its use on "
        "larger nets", error=round(error, 4), outside=parameters > laws.FIT_LARGEST)
    depth = laws.logarithmic_depth(parameters, 2.43)
    yield says(
        "maximum", "fahim2026 (Depth Delusion)", depth, "L <= 2.43 ln d",
        "30 decoders of 17M to 7B parameters, one seed, one learning rate",
        "fahim2026, arXiv:2601.20994v1, as restated on themoonlight.io", "reported",
        "weak: the one learning rate may favour the shallow nets", layers=max(1, int(depth)),
        outside=not 17e6 <= parameters <= 7e9)
    depth = laws.aspect_depth(parameters, 64)
    yield says(
        "default", "nanochat", depth, "d / L = 64", "a recipe for 12 to 26 layers",
        "nanochat, commit 92d63d4, scripts/base_train.py", "printed",
        "a default tuned at 12 layers, not an optimum", outside=not 12 <= round(depth) <= 26)
    for name, aspect, regime in (("CompleteP", 11.8, "residual branches scaled by 1/L"),
                                 ("muP", 38.7, "the baseline of CompleteP")):
        yield says(
            "optimum", name, laws.aspect_depth(parameters, aspect), f"d / L = {aspect}", regime,
            "dey2025, arXiv:2505.01618v3", "recalled", "check against the paper", outside=None)


def _built(parameters: int) -> list[Recommendation]:
    """The median of the models near the budget, if there are any."""
    near = models_near(parameters, _NEAR)
    if not near:
        return []
    layers, least, most = median_low([m.layers for m in near]), near[0], near[-1]
    known = Counter(_WORDINGS[m.status] for m in near).most_common()
    return [Recommendation(
        layers, layers, "built", "models of similar size",
        f"median {_count(layers)}, from {least.layers} ({least.name}) to {most.layers} "
        f"({most.name}), in {len(near)} dense decoders within a factor {_NEAR} of the budget",
        "chosen for speed and hardware too", "depthlaw, advisor/models.csv",
        ", ".join(f"{count} {wording}" for wording, count in known),
        "what was built, not what is best; shapes copy each other",
        range=(least.layers, most.layers))]


# --- a task --------------------------------------------------------------------------------------


def for_connectivity(diameter: int, vertices: int | None = None) -> Advice:
    """Layers to decide connectivity in graphs whose components have diameter at most D.

    Args:
        vertices: n, which one of two architectures depends on; by default it is asked for, and the
            number is given at the least n = D + 1.

    Raises:
        UsageError: when n vertices cannot have diameter D.
    """
    least = diameter + 1
    if vertices is not None and vertices < least:
        raise UsageError(f"a component of diameter {diameter} has at least {least} vertices, "
                         f"not {vertices}; try --vertices {least}")
    n = vertices or least
    reach, doubling = laws.layers_for_diameter(diameter), laws.universal_layers(n)
    rule = f"ceil(log_3 D) = {reach}, the least L with 3^L >= {diameter:,}"
    unknown = "" if vertices else ", at the least n for this diameter; give yours by --vertices"
    numbers = (
        Recommendation(
            reach, reach, "exact", "(a) linearised attention of width n",
            "0 layers: the input already shows it" if diameter <= 1 else rule,
            "enough and needed for this construction: X -> X X^T X on A + I, identity weights, one "
            "token per vertex",
            "depthlaw, claim connectivity/layers_for_diameter, after ye2025, arXiv:2510.19753",
            "derived", "exact for this construction; other nets may need more or fewer"),
        Recommendation(
            doubling, doubling, "suffices", f"(b) fixed width, n = {n:,}",
            f"18 + 2 ceil(log2 n) = {doubling}{unknown}",
            "averaging-hard attention, n^2 input and n^3 padding tokens, the same weights for all "
            "n",
            "merrill2025, arXiv:2503.03961, Theorem 2", "printed",
            "whether fewer are enough is not stated"))
    second = _count(doubling) if vertices else "18 + 2 ceil(log2 n) layers"
    return Advice(
        f"Task: connectivity in graphs whose components have diameter at most {diameter:,}.",
        f"It depends on the architecture: (a) {_count(reach)}, (b) {second}",
        ("Lower bound: order log(D), if the one-versus-two-cycle conjecture holds and the net is "
         "narrow. It comes without a constant, so it gives no number (sanford2024, "
         "arXiv:2402.09268, Corollary 3.5; printed).",
         "Upper bound at width N^eps: order log(D), again without a constant (sanford2024, "
         "Corollary 3.3; printed)."),
        numbers, labels=("(a)", "(b)"))


def for_hops(hops: int) -> Advice:
    """Layers to follow k hops (the k-fold induction heads task)."""
    printed, corrected = laws.layers_for_hops_printed(hops), laws.layers_for_hops(hops)
    executed, beyond = laws.LARGEST_EXECUTED, hops > laws.LARGEST_EXECUTED
    rests = "; this k rests on the written argument" if beyond else ""
    suffices = partial(
        Recommendation, regime="one causal head, constant width, precision O(log N); queries, keys "
        "and values are arbitrary functions of a token")
    numbers = [suffices(
        corrected, corrected, "suffices", "repaired construction",
        f"ceil(log2 k) + 2, executed here without an error up to k = {executed}{rests}",
        source="depthlaw, claim hops/depth_corrected, after sanford2024, arXiv:2402.09268, Theorem "
        "4.2", wording="derived",
        certainty="exact weights, right on every sequence executed; for all others it rests on a "
        "written argument; whether fewer layers are enough is open")]
    claimed = "The paper claims floor(log2 k) + 2, the same number here"
    claimed += "; its printed construction fails." if hops > 1 else "."
    if printed != corrected:
        claimed = (
            f"The paper claims floor(log2 k) + 2 = {printed}. Its printed construction fails; "
            "whether that depth suffices for one causal head is open. With a strict mask (claim "
            "hops/depth_strict_mask), or with ceil(log2(N + 1)) heads in layer 1 (claim "
            f"hops/depth_log_heads), it did on everything executed, up to k = {executed}.")
        numbers.insert(0, suffices(
            printed, printed, "claimed", "published count", "floor(log2 k) + 2",
            source="sanford2024, arXiv:2402.09268, Theorem 4.2", wording="printed",
            certainty="open for one causal head; with a strict mask, or with ceil(log2(N + 1)) "
            "heads in layer 1, right on everything executed"))
    limits = f" (executed up to k = {executed}, argued beyond)" if beyond else ""
    return Advice(
        f"Task: follow {_count(hops, 'hop')} (the k-hop induction heads task).",
        f"{_count(corrected)} suffice for {_count(hops, 'hop')}: ceil(log2 k) + 2{limits}",
        (claimed,
         "No unconditional lower bound is known here. If the one-versus-two-cycle conjecture holds "
         "and the net is narrow, order log(k) layers are needed; no constant is given "
         "(sanford2024, Corollary 4.3; printed)."), tuple(numbers))


def together(budget: Advice, task: Advice) -> Advice:
    """What a budget and a task ask for together: the greater number, for each architecture."""
    assert budget.minimum is not None
    least = budget.minimum.layers
    parts, reasons = [], []
    for r in task.numbers:
        if r.meaning != "claimed":
            place = r.name.split()[0] + " " if task.labels else ""
            parts.append(f"{place}{_count(max(least, r.layers))}")
            reasons.append(f"{place}the greater of {least} (threshold at this budget) and "
                           f"{r.layers} ({r.name.removeprefix(place)})")
    return Advice(
        "Budget and task together.", f"Depth that meets both: {', '.join(parts)}",
        (f"That is {'; '.join(reasons)}.",
         "The threshold and the constructions speak of different nets: a plan, not a theorem."))

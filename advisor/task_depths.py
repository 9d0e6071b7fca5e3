"""How deep a net must be for a task: constructions that suffice, lower bounds that are known.

Exact, suffices, claimed and measured are different things; they stand side by side, each under its
own name.
"""

from __future__ import annotations

from dataclasses import dataclass
from difflib import get_close_matches
from functools import partial
from pathlib import Path
from typing import Literal

from . import atlas, laws
from .base.quantities import UsageError, parse_count, plural, quoted

Meaning = Literal["exact", "suffices", "claimed", "measured"]
# What can be asked, and how.
TASKS = {
    "connectivity": "connectivity --diameter 64",
    "hops": "hops --hops 16",
    "regular": "regular --length 1024",
}
# Which task an option belongs to.
OPTIONS = {
    "diameter": "connectivity",
    "vertices": "connectivity",
    "hops": "hops",
    "length": "regular",
}
_NEEDED = {"connectivity": "diameter", "hops": "hops", "regular": "length"}


@dataclass(frozen=True)
class TaskNumber:
    """A number of layers for a task, and whose it is."""

    layers: int
    meaning: Meaning  # what the number claims to be
    name: str  # of the construction
    rule: str  # the formula
    regime: str  # for which nets
    source: str  # bibliography key, version, place
    wording: str  # how the wording of the source is known: printed, reported, recalled, derived
    certainty: str  # how far to trust it here, for those who ask
    claim: str | None = None  # key of the claim that tests it
    extrapolated: bool = False  # outside what the source measured


@dataclass(frozen=True)
class TaskAnswer:
    """What is known of the depth that one task needs."""

    task: str  # a key of TASKS
    question: str  # as it was understood
    headline: str  # the answer in one line
    remarks: tuple[str, ...]  # what else there is to know, most wanted first
    numbers: tuple[TaskNumber, ...]
    labels: tuple[str, ...] = ()  # in front of the numbers, in place of their layers


def answer_task(
    task: str, known_by: int | None = None, tables: Path | None = None, **typed: str | None
) -> TaskAnswer:
    """The depth that a task needs, from what was typed: of three tasks in numbers, of any other
    task of the atlas as it stands there.

    Args:
        task: "connectivity", with `diameter`, `vertices` or both (n vertices have a diameter of at
            most n - 1); "hops", with `hops`; or
            "regular", with `length`; or a key of `atlas.tasks`.
        known_by: of a task of the atlas, what was known at the end of that year.
        tables: a folder with tables of a user's own, which extend the atlas.
        typed: these options.

    Raises:
        UsageError: when something is missing, unknown or unreadable.

    >>> answer_task("hops", hops="16").headline
    '6 layers suffice for 16 hops: ceil(log_2 k) + 2'
    """
    known, every = task.strip().lower(), atlas.atlas(tables)
    if known not in TASKS and known in every.tasks:
        refuse_options(typed)
        return _from_atlas(known, known_by, every, tables)
    if known not in TASKS:
        spelt = get_close_matches(known, {**TASKS, **every.tasks}, n=1)
        nearest, *_ = spelt or every.nearest_tasks(known) or ["connectivity"]
        raise UsageError(
            f"unknown task {quoted(task)}; accepted are connectivity, hops, regular and those that "
            f"`depthlaw tasks` lists; try --task {TASKS.get(nearest, nearest)}"
        )
    refuse_options({name: value for name, value in typed.items() if OPTIONS[name] != known})
    needed = typed.get(_NEEDED[known])
    vertices = typed.get("vertices")
    count = (
        None if vertices is None else parse_count(vertices, "number of vertices", "--vertices 100")
    )
    if needed is None and count is not None:
        return for_connectivity(count - 1, count)
    if needed is None:
        raise UsageError(f"the task {known} needs --{_NEEDED[known]}; try --task {TASKS[known]}")
    if known == "hops":
        return for_hops(parse_count(needed, "number of hops", "--hops 16"))
    if known == "regular":
        return for_regular(parse_count(needed, "length", "--length 1024"))
    return for_connectivity(parse_count(needed, "diameter", "--diameter 64", least=0), count)


def _from_atlas(
    key: str, known_by: int | None, known: atlas.Atlas, tables: Path | None
) -> TaskAnswer:
    rows = list(known.rows(key, known_by))
    if not rows:
        raise UsageError(f"nothing was known of {key} by {known_by}; try a later year")
    task, more = known.tasks[key], f" --atlas {tables}" if tables else ""
    return TaskAnswer(
        key,
        f"Task: {task.name}. {task.definition}",
        f"It depends on the class of models, of which the atlas has {len(rows)}; "
        f"`depthlaw tasks list {key}{more}` defines them and names sources",
        tuple(f"{row.class_.name}: {row.summary}; {row.checked}." for row in rows),
        (),
    )


def refuse_options(typed: dict[str, str | None]) -> None:
    """Options of tasks (diameter, vertices, hops, length) that were given without their task.

    Raises:
        UsageError: for the first that is not None.
    """
    for name, value in typed.items():
        if value is not None:
            task = OPTIONS[name]
            raise UsageError(f"--{name} belongs to the task {task}; try --task {TASKS[task]}")


def for_connectivity(diameter: int, vertices: int | None = None) -> TaskAnswer:
    """Layers to decide connectivity in graphs whose components have diameter at most D.

    Args:
        vertices: n, which one of two architectures depends on; by default it is asked for, and the
            number is given at the least n = D + 1.

    Raises:
        UsageError: when n vertices cannot have diameter D.

    >>> [number.layers for number in for_connectivity(64, 128).numbers]
    [4, 32]
    """
    least = diameter + 1
    if vertices is not None and vertices < least:
        raise UsageError(
            f"a component of diameter {diameter} has at least {least} vertices, "
            f"not {vertices}; try --vertices {least}"
        )
    n = vertices or least
    reach, doubling = laws.layers_for_diameter(diameter), laws.universal_layers(n)
    rule = f"ceil(log_3 D) = {reach}, the least L with 3^L >= {diameter:,}"
    unknown = "" if vertices else ", at the least n for this diameter; give yours by --vertices"
    numbers = (
        TaskNumber(
            reach,
            "exact",
            "(a) linearised attention of width n",
            "0 layers: the input already shows it" if diameter <= 1 else rule,
            "this construction: X -> X X^T X on A + I, identity weights, one token per vertex; "
            f"enough and needed: executed up to D = {laws.LARGEST_DIAMETER}; for every D a "
            "theorem that Rocq's kernel checked",
            "depthlaw, claim connectivity/layers_for_diameter, after ye2025, arXiv:2510.19753",
            "derived",
            "other nets may need more or fewer; the theorem: "
            "`depthlaw show connectivity/layers_for_diameter`",
            "connectivity/layers_for_diameter",
        ),
        TaskNumber(
            doubling,
            "suffices",
            f"(b) fixed width, n = {n:,}",
            f"18 + 2 ceil(log_2 n) = {doubling}{unknown}",
            "averaging-hard attention, n^2 input and n^3 padding tokens, the same weights for all "
            "n",
            "merrill2025, arXiv:2503.03961, Theorem 2",
            "printed",
            "whether fewer are enough is not stated",
            "connectivity/log_depth_uniform",
        ),
    )
    second = plural(doubling, "layer") if vertices else "18 + 2 ceil(log_2 n) layers"
    return TaskAnswer(
        "connectivity",
        f"Task: connectivity in graphs whose components have diameter at most {diameter:,}.",
        f"It depends on the architecture: (a) {plural(reach, 'layer')}, (b) {second}",
        (
            "Lower bound: order log(D), if the one-versus-two-cycle conjecture holds and the net "
            "is narrow. It comes without a constant, so it gives no number (sanford2024, "
            "arXiv:2402.09268, Corollary 3.5; printed).",
            "Upper bound at width N^eps: order log(D), again without a constant (sanford2024, "
            "Corollary 3.3; printed).",
        ),
        numbers,
        labels=("(a)", "(b)"),
    )


def for_hops(hops: int) -> TaskAnswer:
    """Layers to follow k hops (the k-fold induction heads task).

    >>> [(number.layers, number.meaning) for number in for_hops(5).numbers]
    [(4, 'claimed'), (5, 'suffices')]
    """
    printed, corrected = laws.layers_for_hops_printed(hops), laws.layers_for_hops(hops)
    executed, beyond = laws.LARGEST_EXECUTED, hops > laws.LARGEST_EXECUTED
    theorem = "for every k a theorem that Rocq's kernel checked, but for cosines and softmax"
    number = partial(
        TaskNumber,
        regime="one causal head, constant width, precision O(log N); queries, keys "
        "and values are arbitrary functions of a token",
    )
    numbers = [
        number(
            corrected,
            "suffices",
            "repaired construction",
            f"ceil(log_2 k) + 2, executed here without an error up to k = {executed}; {theorem}",
            source="depthlaw, claim hops/depth_corrected, after sanford2024, arXiv:2402.09268, "
            "Theorem 4.2",
            wording="derived",
            certainty="exact weights; the theorem, and what of it is not formal: "
            "`depthlaw show hops/depth_corrected`; whether fewer layers are enough in fixed point "
            "is open",
            claim="hops/depth_corrected",
        )
    ]
    claimed = "The paper claims floor(log_2 k) + 2, the same number here"
    claimed += "; its printed construction fails." if hops > 1 else "."
    if printed != corrected:
        claimed = (
            f"The paper claims floor(log_2 k) + 2 = {printed}. Its printed construction fails; "
            "whether that depth suffices for one causal head in fixed point is open. In floating "
            "point, with scores as large as 4^N, it does (claim hops/depth_printed_floating). With "
            "a strict mask, or with ceil(log_2(N + 1)) heads in layer 1 (claim "
            f"hops/depth_carried_symbols), it did on everything executed, up to k = {executed}."
        )
        numbers.insert(
            0,
            number(
                printed,
                "claimed",
                "published count",
                "floor(log_2 k) + 2",
                source="sanford2024, arXiv:2402.09268, Theorem 4.2",
                wording="printed",
                certainty="open for one causal head in fixed point; enough in floating point with "
                "scores as large as 4^N (hops/depth_printed_floating); with a strict mask, or "
                "with ceil(log_2(N + 1)) heads in layer 1, right on everything executed",
                claim="hops/depth_printed",
            ),
        )
    asked = plural(hops, "hop")
    limits = f" (executed up to k = {executed}; {theorem})" if beyond else ""
    return TaskAnswer(
        "hops",
        f"Task: follow {asked} (the k-hop induction heads task).",
        f"{plural(corrected, 'layer')} suffice for {asked}: ceil(log_2 k) + 2{limits}",
        (
            claimed,
            "No unconditional lower bound is known here. If the one-versus-two-cycle conjecture "
            "holds and the net is narrow, order log(k) layers are needed; no constant is given "
            "(sanford2024, Corollary 4.3; printed).",
        ),
        tuple(numbers),
    )


def for_regular(length: int) -> TaskAnswer:
    """Layers to recognise a regular language (to track a finite state) on words of n letters.

    >>> [(number.layers, number.meaning) for number in for_regular(64).numbers]
    [(29, 'suffices'), (57, 'suffices'), (13, 'measured')]
    """
    own, looped = (laws.layers_for_regular(length, shared) for shared in (False, True))
    trained = laws.trained_layers_for_a5(length)
    fewest, most = laws.A5_DEPTHS
    number = partial(
        TaskNumber,
        regime="averaging-hard attention, masked pre-norm, a logarithmic number of "
        "bits, width fixed by the automaton",
        wording="printed",
    )
    numbers = (
        *(
            number(
                layers,
                "suffices",
                name,
                f"{formula} = {layers}",
                source=f"merrill2025, arXiv:2503.03961, {place}",
                certainty="a printed construction, not executed here; whether fewer are enough is "
                "not stated",
                claim="connectivity/log_depth_lengths",
            )
            for layers, name, formula, place in (
                (own, "(a) weights may depend on n", "4 ceil(log_2 n) + 5", "Corollary 1.1"),
                (looped, "(b) the same weights for all n", "8 ceil(log_2 n) + 9", "Theorem 1"),
            )
        ),
        number(
            max(1, round(trained)),
            "measured",
            "(c) trained nets on A5",
            f"L = {laws.A5_SLOPE} log_2 n - {-laws.A5_INTERCEPT} = {trained:.1f}",
            regime="width 512, 95 % of the answers right, the best seed, words up to 1024 "
            f"letters, {fewest} to {most} layers",
            source="merrill2025, arXiv:2503.03961, fit to trained nets",
            certainty="the fit of its authors (r^2 = 0.93) to one task, the hardest regular one",
            extrapolated=not fewest <= trained <= most,
        ),
    )
    return TaskAnswer(
        "regular",
        f"Task: recognise a regular language on words of {plural(length, 'letter')} "
        "(track the state of a finite automaton).",
        f"Order log n: {own} layers suffice, {looped} with one set of weights for all lengths",
        (
            "No fixed depth is enough for all regular languages, if TC0 is not NC1; width, padding "
            "that grows polynomially, or a logarithmic chain of thought do not change that "
            "(merrill2025, Theorems 3 and 4; printed).",
            "Easier languages need less: an automaton whose groups are solvable has a depth that "
            "does not grow with n (liu2022, arXiv:2210.10749, Theorem 2; reported), and a language "
            "without groups (star-free) is one of masked hard attention, its depth that of a "
            "formula (yang2024masked, arXiv:2310.13897; topic formal_languages).",
            "The lengths that the paper's introduction gives for 32 and 80 layers do not follow "
            "from this count (claim connectivity/log_depth_lengths_printed).",
        ),
        numbers,
        labels=("(a)", "(b)", "(c)"),
    )

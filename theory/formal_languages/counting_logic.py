"""Temporal logic that counts, TL[count-left, count-right]; with counts to the left alone it is
C-RASP: what transformers with rounded soft attention compute.

At a position i a formula may compare sums of counts to the left, |{j <= i : x holds at j}|, and to
the right, |{j >= i : x holds at j}|, with integers; the nesting depth of counts is the number of
layers. A word is read at its last position.
"""

from __future__ import annotations

from itertools import accumulate
from typing import Any, Literal

from ..claims.definition import Case, Control, Exact, Source, claim
from ..claims.relations import Eq
from ..claims.symbols import quantity
from .automaton import block_language, minimal, words
from .hard_attention import blocks as k, clash

count_depth = quantity(
    "count_depth",
    r"L_{\#}",
    "nesting depth of a counting formula that is right on every word tried",
    "integer",
)
saved = quantity(
    "saved",
    "s",
    "counts that the task saves: 0 to recognise a word, 2 to predict at each of its positions",
    "nonnegative integer",
)
perfect_depth = quantity(
    "perfect_depth", "L_{100}", "least depth with a published accuracy of 100 %"
)

KNEE = "arXiv:2506.16055"

Side = Literal["<", ">"]
# A formula: a letter, ("not", x), ("and", x, y, ...), or ("counts", ((c, side, x), ...), n): the
# counts of the x, each to its side ("<": up to here, ">": from here on) and times c, add up to n or
# more.
Formula = str | tuple[Any, ...]


def depth(formula: Formula) -> int:
    """Nesting depth of counts.

    >>> depth(within(("and", "a", within("b", ">"))))
    2
    """
    if isinstance(formula, str):
        return 0
    if formula[0] == "counts":
        return 1 + max(depth(x) for _, _, x in formula[1])
    return max(map(depth, formula[1:]))


def truths(formula: Formula, word: str) -> list[bool]:
    """Truth at every position of a word, left to right.

    >>> truths(("counts", ((1, "<", "a"), (-1, ">", "a")), 0), "aba")
    [False, True, True]
    """
    if isinstance(formula, str):
        return [letter == formula for letter in word]
    if formula[0] == "counts":
        _, terms, least = formula
        sums = [0] * len(word)
        for factor, side, x in terms:
            found = truths(x, word)
            counts = accumulate(found) if side == "<" else [*accumulate(found[::-1])][::-1]
            sums = [s + factor * count for s, count in zip(sums, counts, strict=True)]
        return [s >= least for s in sums]
    points = zip(*(truths(part, word) for part in formula[1:]), strict=True)
    return [all(point) != (formula[0] == "not") for point in points]


def within(x: Formula, side: Side = "<") -> Formula:
    """x holds at this position or at one to that side."""
    return ("counts", ((1, side, x),), 1)


def in_block(m: int) -> Formula:
    """In a word that begins with a: here is the m-th block, or a later one of the same letter.

    Depth m - 2, since the letter b alone shows the second block.

    >>> truths(in_block(3), "aabba")
    [False, False, False, False, True]
    """
    if m < 1:
        raise ValueError(f"blocks are numbered from 1, got {m}")
    if m <= 2:
        return "ab"[m - 1]
    return ("and", "ab"[(m - 1) % 2], within(in_block(m - 1)))


def with_blocks(m: int) -> Formula:
    """Exactly m blocks, at depth m: the m-th is reached, the next is not, no b is before all a.

    >>> depth(with_blocks(3)), truths(with_blocks(3), "aabba")[-1]
    (3, True)
    """
    parts: list[Formula] = [within(in_block(m)), ("not", within(in_block(m + 1)))]
    if m > 1:
        parts.append(("not", within(("and", "b", ("not", within("a"))))))
    return ("and", *parts)


# --- claims ---


def _recognition(case: Case) -> Exact:
    """The depth of the formula for exactly k blocks, or -1 where it is wrong, and where words that
    depth 1 cannot tell apart are found for one block or not found for more."""
    formula, accepts = with_blocks(case.blocks), minimal(block_language(case.blocks)).accepts
    listed = [word for word in words(case.longest) if word]
    right = all(truths(formula, word)[-1] == accepts(word) for word in listed)
    beyond_depth_one = clash(accepts, counts, listed) is not None
    return Exact(depth(formula) if right and beyond_depth_one == (case.blocks > 1) else -1)


def counts(word: str) -> tuple[int, int, str]:
    """What depth 1 sees of a word: the numbers of a and b, and the last letter, which is what
    counts to the right see at the last position."""
    return word.count("a"), word.count("b"), word[-1]


def _prediction(case: Case, anywhere: bool = False) -> Exact:
    """The depth of the formula for the k-th block, or -1 where it is wrong about a prefix of a word
    of k blocks, or of any word."""
    formula, accepts = in_block(case.blocks), minimal(block_language(case.blocks)).accepts
    right = all(
        truths(formula, word) == [accepts(word[: i + 1]) for i in range(len(word))]
        for word in words(case.longest)
        if anywhere or accepts(word)
    )
    return Exact(depth(formula) if right else -1)


@claim(
    Eq(count_depth, k - saved),
    source=Source("depthlaw", f"after yang2025knee, {KNEE}: definability; prediction task"),
    kind="construction",
    cases={
        "quick": (
            *Case.grid(blocks=range(1, 6), longest=8, saved=0),
            *Case.grid(blocks=range(3, 7), longest=9, saved=2),
        ),
        "theory": (
            *Case.grid(blocks=(6, 7, 8), longest=11, saved=0),
            *Case.grid(blocks=(7, 8), longest=12, saved=2),
        ),
    },
    assumes={"at least three blocks to predict": lambda c: c.saved == 0 or c.blocks >= 3},
    control=Control(
        Case(blocks=4, longest=9, saved=2),
        "the formula of the prediction task on all words, not only those of $k$ blocks",
        measured=lambda case: _prediction(case, anywhere=True),
    ),
    cited="Decides whether $k$ layers may be quoted as enough for $k$ blocks in C-RASP.",
)
def crasp_blocks(case: Case) -> Exact:
    r"""C-RASP: depth $k$ is enough for $k$ blocks, for prediction $k-2$.

    For every $k$ the words a+ b+ a+ ... with $k$ blocks are defined by a formula of TL[count-left],
    that is C-RASP, of depth $k$, and for $k \geq 2$ by none of depth 1. For the prediction task,
    $k \geq 3$, on a word of $k$ blocks a formula of depth $k - 2$ says at each position whether the
    prefix has $k$ blocks.

    The class is words: formulas derived here, run on all words up to the length. Depth 1 sees the
    numbers of a and $b$ and the last letter of a word only, which is the reading of its definition
    and not measured: two words of equal counts and last letter, one of $k$ blocks and one not, are
    found for every $k \geq 2$, and none for $k = 1$. That depth $k - 1$ does not suffice is shown
    here for $k = 2$, and for $k = 3$ by least_depth/blocks_beyond_depth_two, whose words grow with
    the constants: two fixed words are told apart at depth 2 by large enough ones. That $k - 3$ does
    not for prediction is shown there for $k = 5$, and else as reported. For prediction inputs are
    words of the language: we read it so since $k - 2$ is right then, the first letter and the
    letter read saving a layer each. On arbitrary words prefix membership is as deep as membership.
    """
    return _prediction(case) if case.saved else _recognition(case)


# Published whole-string accuracies on L_4 by depth, in percent.
ACCURACY_L4 = {1: "21.7", 2: "100"}


@claim(
    Eq(perfect_depth, k - 2),
    source=Source("yang2025knee", "Figure 2", f"{KNEE}v2"),
    wording="printed",
    kind="empirical fit",
    holds_for="exists",
    cases={"quick": (Case(blocks=4),)},
    control=Control(Case(blocks=4), "the depth of recognition", statement=Eq(perfect_depth, k)),
    supports="formal_languages/crasp_blocks",
)
def crasp_accuracy(case: Case) -> Exact:
    """The published nets are perfect on $L_4$ from depth 2 on.

    The least depth at which the published accuracy on $L_4$ is 100 % is $k - 2 = 2$, the depth of
    the prediction task.

    Two published numbers, 21.7 % at depth 1 and 100 % from depth 2 on, of one language; for which
    lengths was not verified. Not trained here. That the prediction task needs depth $k - 2$ is
    reported (formal_languages/crasp_blocks).
    """
    return Exact(min(layers for layers, accuracy in ACCURACY_L4.items() if accuracy == "100"))

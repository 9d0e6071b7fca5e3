"""Counting logic with counts to both sides, TL[count-left, count-right], by nesting depth. With
counts to the left alone it is C-RASP (formal_languages/crasp_blocks)."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Sequence
from itertools import product
from typing import Any

from sympy import expand, floor, symbols
from sympy.core.relational import Relational

from ..claims.definition import Case, Control, Exact, Formal, Source, Step, claim
from ..claims.proof_steps import equal, nonnegative
from ..claims.relations import Eq
from ..claims.symbols import depth as layers, quantity
from ..formal_languages.automaton import block_language, minimal, words
from ..formal_languages.counting_logic import KNEE, Side, count_depth, counts, depth, truths, within
from ..formal_languages.hard_attention import blocks, clash
from ..formal_languages.temporal_logic import Formula

weight_bound = quantity(
    "weight_bound",
    "C",
    "bound on the weight of a position and on the threshold in a comparison of counts",
    "nonnegative integer",
)
last_change = quantity(
    "last_change",
    "n_L",
    "largest $n$ for which formulas of a depth tell $1^n$ from $1^{n-1}$",
    "nonnegative integer",
)

told_apart = quantity(
    "told_apart",
    r"\#_{apart}",
    "positions of one word without a position of the same kind in the other",
    "integer",
)

# --- formulas ---


def alternation(letters: str, side: Side) -> Formula:
    """Here is the first of the letters, and the others follow to that side: one depth for each."""
    if len(letters) == 1:
        return letters
    return ("and", letters[0], within(alternation(letters[1:], side), side))


def somewhere(x: Formula) -> Formula:
    """x holds at some position: counts to both sides, added, so that all positions agree."""
    return ("counts", ((1, "<", x), (1, ">", x)), 1)


def contains(letters: str, sides: str = "<>") -> Formula:
    """An alternation of k letters is a subsequence, at depth floor(k / 2) + 1: it is read off its
    middle, by looking to these sides, and all positions agree.
    """
    middle = len(letters) // 2
    halves: dict[str, Formula] = {
        "<": alternation(letters[middle::-1], "<"),
        ">": alternation(letters[middle:], ">"),
    }
    return somewhere(("and", *(halves[side] for side in sides)))


def exact_blocks(k: int, sides: str = "<>") -> Formula:
    """Exactly k blocks, the first of a: that alternation is contained, and not the other one."""
    first, second = (("ab" * k)[i : k + i] for i in (0, 1))
    return ("and", contains(first, sides), ("not", contains(second, sides)))


def odd_number(letter: str, right: Side = ">") -> Formula:
    """The letter occurs an odd number of times: one of them has as many up to it as from it on."""
    equal = [("counts", ((c, "<", letter), (-c, right, letter)), 0) for c in (1, -1)]
    return within(("and", letter, *equal))


# --- what a depth can see ---


def kinds(length: int, depth: int, bound: int) -> list[int]:
    """Kinds of the positions 1..length of 1^n (n >= length): equal iff no formula of a depth of
    counts to the left tells two positions apart.

    A comparison gives each position a weight from -bound to bound that depends on its kind one
    level below, and asks whether the weights up to here add up to b or more, |b| <= bound. Kinds
    are numbered in the order in which they appear.

    Cost: for each level and each pair of a position and a kind, the sums that the two can reach.

    >>> kinds(4, 1, 1)
    [0, 1, 1, 1]
    """
    now = [0] * length
    for _ in range(depth):
        so_far: list[Counter[int]] = []
        for kind in now:
            so_far.append((so_far[-1] if so_far else Counter()) + Counter((kind,)))
        found: list[int] = []  # one position for each kind
        after = []
        for i in range(length):
            same = (
                number
                for number, j in enumerate(found)
                if not _told_apart(so_far[i], so_far[j], bound)
            )
            number = next(same, len(found))
            if number == len(found):
                found.append(i)
            after.append(number)
        now = after
    return now


def _told_apart(first: Counter[int], second: Counter[int], bound: int) -> bool:
    """Whether weights of kinds exist for which a threshold lies between the two sums."""
    sums = {(0, 0)}
    for kind in {*first, *second}:
        pair = first[kind], second[kind]
        weights = range(-bound, bound + 1)
        sums = {(x + w * pair[0], y + w * pair[1]) for x, y in sums for w in weights}
    # A threshold b with low < b <= high and |b| <= bound.
    return any(max(min(s) + 1, -bound) <= min(max(s), bound) for s in sums)


# --- claims ---


def _least(
    formula: Formula,
    accepts: Callable[[str], bool],
    listed: Iterable[str],
    apart: Callable[[], bool],
) -> Exact:
    """Depth of a formula that is right on every word and that a smaller depth is shown not to
    replace, else -1."""
    right = all(truths(formula, word)[-1] == accepts(word) for word in listed)
    return Exact(depth(formula) if right and apart() else -1)


def _exact_blocks(case: Case, formula: Formula) -> Exact:
    accepts = minimal(block_language(case.blocks)).accepts
    listed = [word for word in words(case.longest) if word]

    def apart() -> bool:
        """Depth 1 is not enough from two blocks on, and depth 0 reads the last letter alone."""
        seen = counts if case.blocks > 1 else lambda word: word[-1]
        return clash(accepts, seen, listed) is not None

    return _least(formula, accepts, listed, apart)


@claim(
    Eq(count_depth, floor(blocks / 2) + 1),
    source=Source("depthlaw", f"after yang2025knee, {KNEE}v3, Appendix D: odd numbers of blocks"),
    kind="threshold",
    cases={
        "quick": (*Case.grid(blocks=range(1, 6), longest=7), *Case.grid(blocks=(6, 7), longest=8)),
        "theory": Case.grid(blocks=(7, 8, 9), longest=11),
        "full": (Case(blocks=11, longest=13),),
    },
    control=Control(
        Case(blocks=5, longest=7),
        "without the counts to the right of the middle letter",
        measured=lambda case: _exact_blocks(case, exact_blocks(case.blocks, "<")),
    ),
    supports="least_depth/parity_two_layers",
    formal=Formal(
        "Caps.block_layers_checked",
        "Caps.block_layers_value {blocks}",
        "By definition, not formal: a formula of depth $L$ is a net of $L$ layers whose states are "
        "the truths of its parts, and the theorem's own net, whose weights are whole and of whose "
        "states finitely many occur, is a set of formulas of depth $L$. The theorem allows any "
        "states and any weights of an ordered domain.",
    ),
)
def blocks_counted_both_ways(case: Case) -> Exact:
    r"""Both ways, $k$ blocks take exactly depth $\lfloor k/2 \rfloor + 1$.

    For every $k$ the least depth of a formula with counts to the left and to the right that defines
    the words a+ b+ a+ ... with exactly $k$ blocks, read at the last position, is
    $\lfloor k/2 \rfloor + 1$.

    The class is words: formulas, which are run on all words up to the length. An alternation of $k$
    letters is read off its middle, $\lfloor k/2 \rfloor$ nested counts to the left, at most as many
    to the right, and one for the middle itself. With counts to the left alone depth $k$ is enough
    (formal_languages/crasp_blocks); a second direction of the mask about halves the depth if $k$ is
    needed there (shown for 2 and 3 blocks). That less is not enough is measured for up to 3 blocks:
    depth 1 sees at the last position the number of each letter and the letter there, and two words
    of which one is in the language are found. For 4 and 5 blocks it is measured by
    least_depth/blocks_beyond_depth_two, within bounds on inner weights; for more blocks a run shows
    only that depth 1 is not enough. The kernel checks it for every $k$, with weights that depend on
    the own state too. For odd $k$ it was proved in Lean before (fxeqxmulfx/transformer,
    definable_altPlusDouble and not_definable_altPlus_double), the printed proof resting on lemmas
    that fail (least_depth/cropping_and_reduction). Exactly as many blocks are decided above a
    collapse (least_depth/collapse_caps_depth).
    """
    return _exact_blocks(case, exact_blocks(case.blocks))


def _parity(case: Case, formula: Formula) -> Exact:
    listed = [word for word in words(case.longest) if word]
    return _least(formula, lambda word: word.count("a") % 2 == 1, listed, _depth_one_constant)


def _depth_one_constant() -> bool:
    """Formulas of depth 1 with weights up to 4 agree on a^n and a^(n+1) for n from 9 to 40: each
    letter to the left has weight v, the last one to the right w, and the sum is compared with b."""
    conditions = product(range(-4, 5), repeat=3)
    return all(len({v * n + w >= b for n in range(9, 42)}) == 1 for v, w, b in conditions)


@claim(
    Eq(count_depth, 2),
    source=Source("depthlaw", f"after yang2025knee, {KNEE}v3, section 3 (in its source)"),
    kind="construction",
    cases={"quick": (Case(longest=9),), "theory": (Case(longest=13),)},
    control=Control(
        Case(longest=9),
        "both counts to the left: then they always agree",
        measured=lambda case: _parity(case, odd_number("a", "<")),
    ),
    supports="least_depth/parity_two_layers",
)
def parity_counted_both_ways(case: Case) -> Exact:
    r"""With counts to both sides parity takes depth exactly 2.

    The words over a, $b$ with an odd number of a are defined by a formula of depth 2 with counts to
    the left and to the right, and by none of depth 1.

    The class is words. The formula: at some a, as many a lie up to it as from it on, both counts
    with the a itself. It is run on all words up to the length. Lower bound: on the word of $n$
    letters a, depth 1 sees at the last position $n$ to the left and 1 to the right, so it is a
    Boolean combination of conditions $v n + w \geq b$, each of which changes once at most, and not
    beyond $2 C + 1$ if $|v|, |w|, |b| \leq C$; run for $C = 4$. With counts to the left alone no
    depth is enough (least_depth/unary_reach). That it is in this logic is said in a remark of the
    paper's source, as reported by a Lean formalisation, which has this formula as well.
    """
    return _parity(case, odd_number("a"))


@parity_counted_both_ways.argument(
    "At which a the two counts agree, and that conditions on n alone do not change beyond 2 C + 1, "
    "is checked; prose: a formula of depth 1 on n letters a is a Boolean combination of such "
    "conditions, with some bound C on their integers."
)
def _(statement: Relational) -> Iterator[Step]:
    """The j-th of m letters a counts j up to it and m - j + 1 from it on."""
    yield Step("the formula is as deep as stated", depth(odd_number("a")) == statement.rhs)
    j, r, C, more, s = symbols("j r C u s", integer=True, nonnegative=True)
    gap = j - (2 * r + 1 - j + 1)
    yield equal("of 2r + 1 letters the counts agree at number r + 1", gap.subs(j, r + 1), 0)
    odd = expand(j - (2 * r - j + 1)).is_odd
    yield Step("of 2r letters they agree at none: they differ by an odd number", odd is True)
    n = 2 * C + 1 + s
    yield nonnegative("v n + w > b for v >= 1", (1 + more) * n - C - C - 1)
    yield nonnegative("v n + w < b for v <= -1", -(-(1 + more) * n + C + C) - 1)


@claim(
    Eq(last_change, (weight_bound + 1) ** layers),
    source=Source("depthlaw", f"after yang2025knee, {KNEE}: parity is not in TL[count-left]"),
    kind="threshold",
    cases={
        "quick": (
            *Case.grid(depth=(0, 1), weight_bound=(1, 2, 3, 6), longest=20),
            *Case.grid(depth=2, weight_bound=(1, 2, 3), longest=34),
            Case(depth=3, weight_bound=1, longest=20),
        ),
        "theory": (
            Case(depth=2, weight_bound=4, longest=51),
            Case(depth=4, weight_bound=1, longest=34),
            Case(depth=3, weight_bound=2, longest=56),
        ),
    },
    control=Control(
        Case(depth=2, weight_bound=3, longest=34),
        "as if each level added its threshold and did not multiply",
        statement=Eq(last_change, layers * weight_bound + 1),
    ),
    supports="least_depth/parity_two_layers",
)
def unary_reach(case: Case) -> Exact:
    r"""C-RASP of depth $L$ tells numbers up to $(C + 1)^L$ apart.

    For all $L$ and $C \geq 1$, formulas with counts to the left, of depth $L$, tell the words
    $1^{n-1}$ and $1^n$ apart at $n = (C + 1)^L$ and at no larger $n$, if a comparison of counts
    gives each position a weight of absolute value at most $C$ and has a threshold of absolute value
    at most $C$; for $L = 0$ they tell none apart, which is listed as $n = 1$.

    So no such formula of any depth decides parity: on $1^n$ it is constant from $(C + 1)^L$ on.
    Parity up to length $n$ asks for depth at least $\log(n) / \log(C + 1)$, whatever the size.
    Derived here, after a reported sentence, that parity is in no depth of TL[count-left]. By the
    published equality of that logic and rounded transformers, depth for depth, that parity is in no
    depth is then true of those too; the bound $(C + 1)^L$ is not, since it does not bound $C$.
    Computed by the partition of the positions into kinds, with all weights and thresholds; about
    twice as many positions are looked at as the statement names, and the argument covers the rest.
    """
    found = kinds(case.longest, case.depth, case.weight_bound)
    changes = [i + 1 for i in range(1, case.longest) if found[i] != found[i - 1]]
    return Exact(max(changes, default=1))


@unary_reach.argument(
    "The start, the factor C + 1 of a level, that it is attained, and that no sum changes side "
    "later are checked; prose: the induction over levels, from one kind for all positions from T "
    "on to one for all from (C + 1) T on, told from each earlier one by one formula."
)
def _(statement: Relational) -> Iterator[Step]:
    """All positions from T on have one kind, and one formula holds exactly before T."""
    reach = statement.rhs
    yield equal("with no comparison all positions are alike: T = 1", reach.subs(layers, 0), 1)
    yield equal(
        "a further level multiplies T by C + 1",
        reach.subs(layers, layers + 1),
        (weight_bound + 1) * reach,
    )
    C, m, more = symbols("C m s", integer=True, nonnegative=True)
    T = 1 + more
    # The sum over the T - 1 first positions is between -C (T - 1) and C (T - 1).
    n = (C + 1) * T
    yield equal("weights C before T and -1 from T on: -C just before", C * (T - 1) - (n - T), -C)
    yield equal("and below -C at (C + 1) T", C * (T - 1) - (n - T + 1), -C - 1)
    yield nonnegative(
        "later a weight of 1 or more from T on gives at least C", -C * (T - 1) + (n + m - T + 1) - C
    )
    yield nonnegative(
        "and a weight of -1 or less gives less than -C", -C - 1 - (C * (T - 1) - (n + m - T + 1))
    )


def scales(bound: int, number: int, first: int = 1, more: int = 2) -> list[int]:
    """Numbers each of which outweighs the ones before: with weights from -bound to bound, and up to
    `more` further ones of each, the largest that has a weight other than 0 decides every
    comparison.

    >>> scales(1, 3)
    [2, 6, 14]
    """
    found: list[int] = []
    for _ in range(number):
        found.append(bound * sum(size + more for size in found) + bound + first)
    return found


def alike(bound: int, number: int, sides: int = 2, first: int = 1) -> tuple[str, str]:
    """Two words with the same letters that depth 2 does not tell apart, whatever its outer
    comparisons are, if inner ones have weights and thresholds up to the bound. The second word has
    2 blocks more. `sides`: 1 for counts to the left alone, with 3 blocks; 2 for both, with 4 or
    more. `first`: what the shortest run has beyond the bound; with 0 it does not outweigh it.

    >>> alike(1, 3, sides=1)
    ('aabbbbbbbbaa', 'aabbbbbbbaba')
    """
    turns = (number - 4) // 2 if sides == 2 else 0
    if sides == 1:
        p, q = scales(bound, 2, first)
        after = ""
    else:
        p, p_right, q, q_right = scales(bound, 4, first, more=2 + turns)
        ends = "b" * q_right, "a" * p_right
        after = "".join(ends if number % 2 else ends[::-1])
    before = "a" * p + "b" * q + "ab" * turns
    return before + "bbaa" + after, before + "baba" + after


# What a position sees: its letter, and counts.
LayerKind = tuple[Any, ...]


def kinds_of_one_layer(word: str) -> list[LayerKind]:
    """All that comparisons of one layer see at each position, with any weights: the letter, and the
    numbers of each letter up to here and from here on.

    >>> kinds_of_one_layer("ba")
    [('b', 0, 1, 1, 1), ('a', 1, 1, 1, 0)]
    """
    sides = ((word[: i + 1], word[i:]) for i in range(len(word)))
    counted = ([side.count(x) for side in both for x in "ab"] for both in sides)
    return [(letter, *counts) for letter, counts in zip(word, counted, strict=True)]


def positions_apart(both: tuple[str, str], bound: int, sides: int = 2) -> int:
    """By how many positions the kinds of depth 1 of two words of one length differ; comparisons
    have weights and thresholds up to the bound.

    >>> positions_apart(("ab", "ba"), 1), positions_apart(("ab", "ab"), 1)
    (2, 0)
    """

    def seen(word: str) -> Counter[LayerKind]:
        return Counter(kind[: 1 + 2 * sides] for kind in kinds_of_one_layer(word))

    def kind(counts: Sequence[int]) -> tuple[int, ...]:
        """How every weighted sum of the counts lies to every threshold."""
        weighted = product(range(-bound, bound + 1), repeat=len(counts))
        sums = (sum(w * c for w, c in zip(weights, counts, strict=True)) for weights in weighted)
        return tuple(min(max(total, -bound - 1), bound) for total in sums)

    # Positions with the same letter and counts in both words are of the same kind.
    first_only, second_only = (seen(a) - seen(b) for a, b in (both, both[::-1]))
    of_first, of_second = (
        Counter((letter, kind(counts)) for letter, *counts in only.elements())
        for only in (first_only, second_only)
    )
    return sum((of_first - of_second).values())


def one_inside(both: tuple[str, str], number: int) -> bool:
    """The two words have one length and one last letter, and only the first has exactly so many
    blocks.

    >>> one_inside(("abb", "bab"), 2)
    True
    """
    accepts = minimal(block_language(number)).accepts
    same = len({(len(word), word[-1]) for word in both}) == 1
    return same and [accepts(word) for word in both] == [True, False]


def _told_apart_at_depth_two(case: Case, first: int = 1) -> Exact:
    """Positions by which the kinds of depth 1 of the two words differ; -1 for unsuitable words."""
    both = alike(case.weight_bound, case.blocks, case.sides, first)
    if not one_inside(both, case.blocks):
        return Exact(-1)
    return Exact(positions_apart(both, case.weight_bound, case.sides))


@claim(
    Eq(told_apart, 0),
    source=Source("depthlaw", f"after yang2025knee, {KNEE}v3, and its Lean formalisation"),
    cases={
        "quick": (
            *Case.grid(sides=1, blocks=3, weight_bound=(1, 2, 3, 8)),
            *Case.grid(sides=2, blocks=(4, 5), weight_bound=(1, 2, 3)),
        ),
        "theory": (
            *Case.grid(sides=1, blocks=3, weight_bound=(16, 32)),
            *Case.grid(sides=2, blocks=(4, 5), weight_bound=(4, 5)),
        ),
    },
    control=Control(
        Case(sides=2, blocks=5, weight_bound=2),
        "every run shorter than the least that outweighs the others",
        measured=lambda case: _told_apart_at_depth_two(case, first=0),
    ),
    supports="least_depth/parity_two_layers",
)
def blocks_beyond_depth_two(case: Case) -> Exact:
    r"""Depth 2 fails for 3 blocks, both ways for 4 and 5.

    For every $C$ there are two words, one with 3 blocks and one with 5, that no formula of depth 2
    with counts to the left tells apart if its inner comparisons have weights and thresholds of
    absolute value at most $C$, whatever its outer ones have; with counts to both sides there are
    two such words with 4 and with 6 blocks, and two with 5 and with 7.

    So the depths 3 for 3 blocks (formal_languages/crasp_blocks) and, both ways, 3 for 4 and 5
    blocks (least_depth/blocks_counted_both_ways) are least, since every formula has some $C$. The
    words are $u$ bbaa $v$ and $u$ baba $v$, where $u = a^p b^q$, and $v$ is empty, $a^{p'} b^{q'}$
    or $b^{q'} a^{p'}$, of lengths each of which outweighs the smaller ones. The letter and the
    counts of each position are listed for both words; positions that only one of them has are
    compared by all weighted sums and thresholds. An outer comparison sums weights of kinds, the
    same in both words. The words with 3 and 5 blocks also show that prediction for 5 blocks takes
    depth 3, since $u$ bbaa begins a word of 5 blocks. For deeper formulas the words depend on the
    formula: both ways that is checked by a kernel for every depth
    (least_depth/blocks_counted_both_ways), to the left alone in Lean (fxeqxmulfx/transformer).
    """
    return _told_apart_at_depth_two(case)


@blocks_beyond_depth_two.argument(
    "That a count which outweighs the others decides every comparison is checked for all C; prose: "
    "the words bbaa and baba have the same letters, the counts of their positions differ by at "
    "most 2, and the positions before and after have equal counts in both words."
)
def _(statement: Relational) -> Iterator[Step]:
    """Counts s_j = C ((s_1 + 2) + ... + (s_(j-1) + 2)) + C + 1, and up to 2 more each."""
    C, smaller, more = symbols("C S m", integer=True, nonnegative=True)
    count = C * smaller + C + 1 + more
    # |sum over the smaller counts| is at most C S.
    yield nonnegative(
        "with a positive weight the sum exceeds every threshold", count - C * smaller - C - 1
    )
    yield nonnegative("with a negative one it is below each", -C - 1 - (-count + C * smaller))
    yield Step("no kind is told apart", statement.rhs == 0)

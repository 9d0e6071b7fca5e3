"""What can be decided above a collapse: all positions in one state, masks to both sides.

A net of L layers is a set of formulas of depth L with counts to both sides (counting_both_ways).
Above it stands any function of the sequence of all states, whatever layers compute it.
"""

from __future__ import annotations

from collections.abc import Callable

from ..claims.definition import Case, Control, Exact, Formal, Source, claim
from ..claims.relations import Eq
from ..claims.symbols import depth as layers, quantity
from ..formal_languages.automaton import block_language, minimal, words
from ..formal_languages.counting_logic import depth, truths, within
from ..formal_languages.temporal_logic import Formula
from .counting_both_ways import (
    LayerKind,
    alike,
    exact_blocks,
    kinds_of_one_layer,
    one_inside,
    positions_apart,
)

most_blocks = quantity(
    "blocks_above_collapse",
    r"k_{\max}",
    "largest number of blocks that a net decides whose positions all agree after $L$ layers",
    "integer",
)


def common_states(listed: list[str], kinds: Callable[[str], list[LayerKind]]) -> list[list[str]]:
    """The words by the finest state that all positions of each can share: words with a position of
    one kind in common have the same one, and so have words between which a chain of such words
    leads.

    >>> common_states(["aab", "aba", "bab", "abb"], kinds_of_one_layer)
    [['aab', 'aba'], ['abb', 'bab']]
    """
    import networkx as nx

    graph = nx.Graph((word, kind) for word in listed for kind in kinds(word))
    parts = nx.connected_components(graph)
    return sorted(sorted(node for node in part if isinstance(node, str)) for part in parts)


def excluded(listed: list[str], kinds: Callable[[str], list[LayerKind]], tried: range) -> list[int]:
    """Numbers of blocks for which two of the words have one length and one common state, and only
    one of them has so many blocks: the sequences of states above the collapse are the same.
    """
    groups = [
        [word for word in part if len(word) == length]
        for part in common_states(listed, kinds)
        for length in {len(word) for word in part}
    ]
    found = []
    for number in tried:
        accepts = minimal(block_language(number)).accepts
        if any(len({accepts(word) for word in group}) == 2 for group in groups):
            found.append(number)
    return found


def _tried(case: Case) -> range:
    return range(1, case.longest - 1)


def _excluded(case: Case) -> list[int]:
    """Numbers of blocks that nothing above a collapse decides, of all that are tried."""
    if case.depth == 1:
        listed = [word for word in words(case.longest) if word]
        return excluded(listed, kinds_of_one_layer, _tried(case))
    # The last positions are of one kind, so both words have one common state.
    return [
        number
        for number in _tried(case)
        for both in (alike(case.weight_bound, number),)
        if one_inside(both, number) and positions_apart(both, case.weight_bound) == 0
    ]


def _decided(formula: Formula, case: Case, number: int, exceptions: int = 0) -> bool:
    """The formula is no deeper than the case, all but so many positions of each word agree, and the
    word has so many blocks iff it holds at some position."""
    accepts = minimal(block_language(number)).accepts
    if depth(formula) > case.depth:
        return False
    for word in words(case.longest):
        found = truths(formula, word) if word else [False]
        differing = min(found.count(True), found.count(False))
        if differing > exceptions or any(found) != accepts(word):
            return False
    return True


def _with_an_exception(case: Case) -> Exact:
    """The largest number of blocks that one layer decides by the first b, which sees whether an a
    stands before it and after it."""
    first = ("and", "b", ("not", ("counts", ((1, "<", "b"),), 2)))
    lone = ("and", first, within("a"), ("not", within("a", ">")))
    decided = [number for number in _tried(case) if _decided(lone, case, number, exceptions=1)]
    return Exact(max(decided, default=0))


@claim(
    Eq(most_blocks, 2 * layers - 1),
    source=Source("depthlaw", "docs/collapse-caps-depth.md"),
    kind="threshold",
    cases={
        "quick": (
            *Case.grid(depth=1, longest=(6, 8)),
            *Case.grid(depth=2, weight_bound=(1, 2), longest=7),
        ),
        "theory": (
            *Case.grid(depth=1, longest=(10, 12)),
            *Case.grid(depth=2, weight_bound=3, longest=9),
        ),
    },
    control=Control(
        Case(depth=1, longest=8),
        "one position of a word may differ: the first b, which sees whether an a follows",
        measured=_with_an_exception,
    ),
    cited="Decides whether layers above collapsed states can make up for layers missing below.",
    formal=Formal(
        "Caps.collapse_cap_checked",
        "Caps.collapse_cap_value {depth}",
        "Nothing: layers, common state and the function above are those of the theorem, with "
        "weights of any ordered domain, and tokens for start and end or none. That transformers "
        "whose attention is rounded are such nets is Bridges.rounded_transformer.",
    ),
)
def collapse_caps_depth(case: Case) -> Exact:
    r"""A collapse after $L$ layers leaves $2L-1$ blocks decidable, whatever follows.

    For every $L \geq 1$ the largest $k$ for which words of exactly $k$ blocks, the first of a, are
    decided by a net whose positions are all in one state after $L$ layers, for every word, is $2L -
    1$. A layer compares finitely many weighted sums over the states up to a position and from it
    on, and sets the position's state by its own state and the answers; first states know their
    letter, and no position; above the $L$ layers stands any function of all states.

    So layers above a collapse cannot make up for one that is missing below it. One layer: with any
    weights a position sees its letter and the numbers of letters up to it and in all. Words with a
    position of one kind in common share their state, which is followed through all words up to the
    length, for every number of blocks up to the length less 2. Two layers: the words of
    least_depth/blocks_beyond_depth_two and longer ones like them have last positions of one kind,
    for inner weights and thresholds up to $C$. The formulas of
    least_depth/blocks_counted_both_ways are the same at all positions of a word, and attain the
    cap. More layers are not measured; the kernel checks every $L$. That all positions agree is
    needed: with one exception in a word a layer decides 2 blocks, the control. With a mask to one
    side the common state is that of the first position, which has seen one letter
    (rank_collapse/causal_amnesia).
    """
    tried = _tried(case)
    decided = [number for number in tried if _decided(exact_blocks(number), case, number)]
    settled = sorted([*decided, *_excluded(case)]) == list(tried)
    return Exact(max(decided) if settled else -1)

"""A net of unique hard attention for a regular language, of as few layers as a search finds to be
enough.

What an end token can tell of a word after L layers is the order in which the *kinds* of positions
after L - 1 layers last occurred (for leftmost heads, first occurred); the kind of a position after
a layer is its kind before, with that order of what stands before it (`regular_depth.search`). The
net computes just that. A head for each two kinds that follow one another in such an order looks for
either, and copies which one it found; a head for each kind copies whether it occurs. An MLP writes
a unit for each kind that some word has; after the last layer, for each order at the end of a word
of the language.
"""

from __future__ import annotations

from collections.abc import Iterable
from itertools import pairwise
from typing import Any, NamedTuple

from depthlaw.advisor.base.quantities import UsageError, plural

from ..formal_languages.automaton import Automaton
from ..nets.builder import Body, Stream
from .languages import LanguageDepth

# Units and coordinates of a net that is written out.
WIDEST = 2_000
_END = "$"

# A letter; or a pair, a kind of one layer less and the order of kinds before the position.
PositionKind = Any
Order = tuple[PositionKind, ...]


class _Words(NamedTuple):
    """By layer the kinds of positions that some word has; and the orders at the end of words, each
    with whether they are in the language."""

    kinds: list[dict[PositionKind, None]]
    ends: dict[Order, bool]


def _words(automaton: Automaton, layers: int, leftmost: bool) -> _Words:
    """All that so many layers can tell of words, followed until nothing new comes."""
    kinds: list[dict[PositionKind, None]] = [{} for _ in range(layers)]
    ends: dict[Order, bool] = {}
    start: tuple[tuple[Order, ...], int] = (((),) * layers, 0)
    seen, queue = {start}, [start]
    for orders, state in queue:
        for letter, move in zip(automaton.alphabet, automaton.moves, strict=True):
            kind: PositionKind = letter
            after = []
            for level, order in enumerate(orders):
                kinds[level][kind] = None
                rest = tuple(other for other in order if other != kind)
                after.append(order if leftmost and kind in order else (*rest, kind))
                kind = (kind, order)
            reached = (tuple(after), move[state])
            ends[reached[0][-1]] = move[state] in automaton.accepting
            if reached not in seen:
                seen.add(reached)
                queue.append(reached)
            if len(ends) + sum(map(len, kinds)) > WIDEST:
                raise UsageError(
                    f"a net of {plural(layers, 'layer')} for this language has more than "
                    f"{WIDEST:,} units, which are too many for a file; try a language of fewer "
                    "letters"
                )
    return _Words(kinds, ends)


def net_of_language(found: LanguageDepth) -> Body:
    """The JSON of a net for a language, in the class of hard attention that takes fewest layers.

    Raises:
        UsageError: where no number of layers is known that suffices, and for nets too large to be
            written.

    Cost: that of the search for so many layers, and the square of the number of kinds.

    >>> from .languages import depth_of_language
    >>> net = net_of_language(depth_of_language("(ab)*"))
    >>> net["class"], len(net["layers"])
    ('uhat-right', 2)
    """
    enough = {
        each.class_: each.least.enough
        for each in found.classes
        if each.least and each.least.enough is not None
    }
    if not enough:
        raise UsageError(
            "no number of layers of hard attention was found to be enough for this language, so "
            "that there is no net to write; leave out --net"
        )
    class_ = min(enough, key=lambda key: (enough[key], key == "uhat-left"))
    net = _net(found.automaton, enough[class_], leftmost=class_ == "uhat-left")
    return {"language": found.language, "class": class_, **net}


def _net(of_all: Automaton, layers: int, leftmost: bool) -> Body:
    # Letters that move all states alike are one letter to the net.
    alike = dict(reversed([*zip(of_all.moves, of_all.alphabet, strict=True)]))
    read_as = {x: alike[move] for x, move in zip(of_all.alphabet, of_all.moves, strict=True)}
    automaton = of_all._replace(alphabet="".join(alike.values()), moves=tuple(alike))
    if layers == 0:
        # All words of one letter or more are in the language, or none is.
        accepted = automaton.moves[0][0] in automaton.accepting
        found, last = _Words([dict.fromkeys(automaton.alphabet)], {}), int(accepted) or -1
    else:
        found, last = _words(automaton, layers, leftmost), 0
    kinds, ends = found
    place: dict[object, str] = {x: str(i) for i, x in enumerate([*automaton.alphabet, _END])}
    everywhere = dict.fromkeys(place.values(), 1)

    def coordinate(name: object) -> str:
        return place.setdefault(name, str(len(place)))

    orders: list[dict[tuple[PositionKind, Order], None]] = [
        dict.fromkeys(kind for kind in level if not isinstance(kind, str)) for level in kinds[1:]
    ]
    orders.append({(_END, order): None for order, accepted in ends.items() if accepted})
    made = []
    for level, of_level in zip(kinds, orders, strict=True):
        # Each pair in one order, so that it has one head.
        pairs = dict.fromkeys(
            tuple(sorted(pair, key=repr)) for _, order in of_level for pair in pairwise(order)
        )
        heads: list[tuple[list[PositionKind], dict[str, PositionKind]]]
        heads = [([kind], {coordinate(("occurs", kind)): kind}) for kind in level]
        heads += [(list(pair), {coordinate((pair, kind)): kind for kind in pair}) for pair in pairs]
        for target in of_level:
            coordinate("yes" if target[0] == _END else target)
        made.append((level, of_level, heads))
    answer, stream = coordinate("yes"), Stream([*place.values()], {})

    def head(sought: Iterable[PositionKind], copied: dict[str, PositionKind]) -> Body:
        side, key = "hard-left" if leftmost else "hard-right", {place[kind]: 1 for kind in sought}
        rows = [({place[kind]: 1}, to) for to, kind in copied.items()]
        return stream.head(side, "strict", [everywhere], [key], rows)

    def unit(
        level: Iterable[PositionKind], kind: PositionKind, order: Order
    ) -> tuple[dict[str, int], int, str]:
        """What is 1 where a token is of this kind with this order before it, and else 0 or less."""
        first = {place["occurs", other]: 1 if other in order else -1 for other in level}
        # Of two that follow one another a head finds the later, to the left the earlier.
        for earlier, later in pairwise(order):
            pair = tuple(sorted((earlier, later), key=repr))
            first[place[pair, earlier if leftmost else later]] = 1
        to = place["yes" if kind == _END else (kind, order)]
        return first | {place[kind]: 1}, -(2 * len(order) - bool(order)), to

    layers_ = []
    for level, of_level, heads in made if layers else ():
        layer: Body = {"heads": [head(*given) for given in heads]}
        if of_level:
            layer["mlp"] = stream.mlp([unit(level, kind, order) for kind, order in of_level])
        layers_.append(layer)
    return {
        "family": "attention",
        "alphabet": list(of_all.alphabet),
        "end": _END,
        "embedding": {
            letter: stream.matrix([{place[kind]: 1}])[0]
            for letter, kind in (read_as | {_END: _END}).items()
        },
        "layers": layers_,
        "read": stream.matrix([{answer: 1} if layers else {place[_END]: last}])[0],
    }

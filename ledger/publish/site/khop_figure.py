"""The figure `khop`: the printed k-hop step beside the repaired one on a word, layer by layer."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import product
from typing import Any

from depthlaw.theory.hops.hop_nets import causal_net, lookups
from depthlaw.theory.hops.pointers import find

from ...verdicts.record_source import Recorded
from ..drawing.svg import picture, tag

WORD, HOPS = "ababa", 2
_LONGEST, _MOST_HOPS = 6, 4
_NETS = ("printed", "repaired")
# Of the picture of a net: between letters, between layers, and where the boxes begin.
_STEP, _ROW, _TOP = 23, 42, 82


def khop_data(recorded: Recorded) -> dict[str, Any]:
    """For the script, of every word of up to six letters a and b and up to four hops: the places
    that the right pointers pass, and of each net what the last letter holds at first and after each
    layer: where its head looked, where it points and what it says. No record takes part.

    Cost: four seconds.
    """
    del recorded
    lengths = range(1, _LONGEST + 1)
    words = ["".join(word) for length in lengths for word in product("ab", repeat=length)]
    every = range(1, _MOST_HOPS + 1)
    nets = {
        net: {
            str(hops): {
                word: [[it.looked, it.aim, it.says] for it in done]
                for word, done in lookups(causal_net(hops, 2, net), words).items()
            }
            for hops in every
        }
        for net in _NETS
    }
    right = {word: [find(word, hops)[-1] for hops in (0, *every)] for word in words}
    return {"word": WORD, "hops": HOPS, "right": right, "nets": nets}


def khop_still(data: dict[str, Any]) -> str:
    """Both nets on the word of the page, a row of boxes for each layer."""
    places = data["right"][WORD][: HOPS + 1]
    right = WORD[places[-1] - 1]
    said = {net: data["nets"][net][str(HOPS)][WORD][-1][2] for net in _NETS}
    alt = (
        f"Two hops from the last letter of {WORD} lead to {right}. In the last layer both nets "
        "look at the same letter and take over what it says: in the printed net that is the "
        f"letter itself, {said['printed']}, in the repaired one its next hop, {said['repaired']}."
    )
    layers = len(data["nets"]["printed"][str(HOPS)][WORD])
    height = _TOP + layers * _ROW + 8
    parts = [tag("rect", width=360, height=height, class_="paper")]
    title = f"Two hops on {WORD}: the printed step says {said['printed']}"
    parts.append(tag("text", title, x=180, y=16, class_="title", text_anchor="middle"))
    way = ", then ".join(f"{WORD[place - 1]} at {place}" for place in places)
    parts.append(tag("text", f"Right: {way}", x=180, y=33, text_anchor="middle"))
    for net, left in zip(_NETS, (16, 198), strict=True):
        parts.append(tag("text", f"{net} step", x=left - 10, y=54, class_="large"))
        for place, letter in enumerate(WORD, 1):
            x = left + (place - 1) * _STEP
            parts.append(tag("text", letter, x=x, y=74, class_="letter", text_anchor="middle"))
        for layer in range(layers):
            parts += _boxes(data, net, layer, left)
        mark = "right" if said[net] == right else "wrong"
        answer = f"answers {said[net]}: {mark} {'✓' if mark == 'right' else '✗'}"
        parts.append(tag("text", answer, x=left - 10, y=height - 8, class_=f"large {mark}"))
    return picture(360, height, alt, parts)


def _boxes(data: dict[str, Any], net: str, layer: int, left: int) -> Iterator[str]:
    """What each letter says after a layer, and where the last one looked for it."""
    table, last, y = data["nets"][net][str(HOPS)], len(WORD), _TOP + layer * _ROW
    looked, aim, said = table[WORD][layer]
    done = layer == len(table[WORD]) - 1
    mark = ("right" if said == WORD[data["right"][WORD][HOPS] - 1] else "wrong") if done else ""
    for place in range(1, last + 1):
        x, own = left + (place - 1) * _STEP, mark if place == last else ""
        box: dict[str, Any] = {"width": 20, "height": 17, "rx": 3, "class_": f"token {own}".strip()}
        yield tag("rect", x=x - 10, y=y, **box)
        says = table[WORD[:place]][layer][2] or "–"
        yield tag("text", says, x=x, y=y + 12, class_=own, text_anchor="middle")
    beside: dict[str, Any] = {"x": left + last * _STEP - 9, "class_": "quiet"}
    yield tag("text", f"layer {layer}" if layer else "at first", y=y + 7, **beside)
    if aim:
        yield tag("text", f"aims at {aim}", y=y + 19, **beside)
    if layer:
        start, end = left + (last - 1) * _STEP, left + (looked - 1) * _STEP
        from_, to = y - 1, y - _ROW + 19
        path = f"M{start} {from_} L{end} {to} M{end - 1} {to + 8} L{end} {to} L{end + 7} {to + 4}"
        yield tag("path", d=path, class_=f"arrow {mark}".strip())

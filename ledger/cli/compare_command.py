"""`depthlaw compare`: listed models and configurations side by side."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Iterator, Sequence
from itertools import zip_longest
from typing import Any

from depthlaw.advisor import words
from depthlaw.advisor.base.quantities import UsageError, binary, size
from depthlaw.advisor.layer_kinds import layer_kinds
from depthlaw.advisor.layout import wrapped
from depthlaw.advisor.published import published_names

from ..functions.compare import compare as compared
from ..text import clean
from . import plain
from .plain import dump

# Between columns, and how wide one need be at most where a net is a row.
_GAP, _HEADING = "  ", 14
# A cell of a net of which the tensors alone are known.
_UNKNOWN = "unknown"


def compare(names: list[str] | None, json_output: bool, listed: bool = False) -> None:
    """Print the costs of nets side by side, and what the evidence and each law say of their depth;
    `listed`: only the names of all listed models."""
    if listed:
        if names or json_output:
            raise UsageError("--list prints nothing else; give it alone")
        return print("\n".join(sorted(published_names(), key=str.lower)))
    comparison = compared(*(names or ()))
    if json_output:
        return dump(comparison.to_json())
    width = plain.columns()
    for end in comparison.conclusion:
        text = words.compared(**end, context=comparison.context)
        print("\n".join(wrapped(clean(text), width)))
    print("\n\n".join("\n".join(lines) for lines in _tables(comparison.nets, width)), end="\n\n")
    print("\n".join(_notes(comparison.nets, comparison.context, width)))


def _tables(answers: Sequence[dict[str, Any]], width: int) -> Iterator[list[str]]:
    """One table, a net in each column; where they have no room beside each other, a net in each
    row, and below the first table the columns that it has no room for."""
    labels = ["", *(label for label, _ in _cells(answers[0]))]
    nets = [[clean(facts["name"]), *(text for _, text in _cells(facts))] for facts in answers]
    word = _word(labels)
    for first in (max(word, width * 2 // 5), max(word, width * 3 // 10)):
        if widths := _widths(nets, width - min(first, max(map(len, labels)))):
            # What the nets leave is for the labels.
            rest = min(width - sum(widths) - len(_GAP) * len(widths), max(map(len, labels)))
            yield [
                line
                for row in zip(labels, *nets, strict=True)
                for line in _row(row, [rest, *widths])
            ]
            return
    names, *columns = zip(labels, *nets, strict=True)
    room = min(max(map(len, names)), max(_word(names), width // 3))
    most = min(_HEADING, (width - room) // 2 - len(_GAP))
    while columns:
        taken, widths = [names], [room]
        while columns:
            wide = max(_word(columns[0]), min(max(map(len, columns[0])), most))
            if len(taken) > 1 and sum(widths) + len(_GAP) * len(widths) + wide > width:
                break
            taken.append(columns.pop(0))
            widths.append(wide)
        yield [line for row in zip(*taken, strict=True) for line in _row(row, widths)]


def _word(texts: Iterable[str]) -> int:
    """The longest word of texts, which is not broken."""
    return max((len(word) for text in texts for word in text.split()), default=0)


def _widths(columns: Sequence[Sequence[str]], room: int) -> list[int] | None:
    """So much of their room for each column, with a gap before it, as needs it, the narrowest
    first; None where a word would be broken."""
    widths, most = [_word(cells) for cells in columns], [max(map(len, c)) for c in columns]
    room -= sum(widths) + len(_GAP) * len(widths)
    if room < 0:
        return None
    while room and (narrow := [i for i, wide in enumerate(widths) if wide < most[i]]):
        widths[min(narrow, key=widths.__getitem__)] += 1
        room -= 1
    return widths


def _row(cells: Sequence[str], widths: Sequence[int]) -> Iterator[str]:
    """The lines of one row, each cell wrapped to its width."""
    for line in zip_longest(*map(wrapped, cells, widths), fillvalue=""):
        yield _GAP.join(map(str.ljust, line, widths)).rstrip()


def _notes(answers: Sequence[dict[str, Any]], context: int, width: int) -> Iterator[str]:
    every = [
        f"FLOPs: {context:,} tokens attended to, masked ones included; bytes: 16 bits a number, "
        "MiB and GiB in powers of 1024.",
        "Evidence and laws: the depth they ask for at this net's own L d^2.",
        "+, -: training ended there; the loss of deeper (+) or shallower (-) nets is not known.",
        "* extrapolated: outside the sizes that the source measured.",
    ]
    if any(law["depth"] is None for facts in answers for law in facts["laws"]):
        every.append("-: no published rule is fitted to such layers, or they are not known.")
    every += [
        f"{facts['name']}: {remark}"
        for facts in answers
        for remark in (f"{facts['status']}: {facts['source']}", *facts["remarks"])
    ]
    for text in dict.fromkeys(every):
        yield from wrapped(clean(text), width, rest="  ")


def _cells(facts: dict[str, Any]) -> Iterator[tuple[str, str]]:
    """The rows of one column: label and text."""
    f, e = facts, facts["experts"]

    def known(name: str, written: Callable[[Any], str] = str) -> str:
        return _UNKNOWN if f[name] is None else written(f[name])

    layers = f"{f['encoder_layers']} + {f['layers']}" if f["encoder_layers"] else known("layers")
    own = "" if f["own_layers"] == f["layers"] else f", {f['own_layers']} stored"
    yield "layers L", layers + own
    mixers = {kind: row.name for kind, row in layer_kinds().items()}
    kinds = [f"{n} {mixers.get(kind, kind)}" for kind, n in f["layer_kinds"].items()]
    yield "what mixes tokens", ", ".join(kinds) or _UNKNOWN
    yield "width d", known("width")
    yield "d / L", known("aspect", "{:.0f}".format)
    yield "heads", known("heads", lambda heads: f"{heads or 'none'}")
    keys = known("kv_heads", lambda heads: f"{heads or 'none'}")
    yield "key heads", "latent" if f["latent_attention"] else keys
    yield "head width", known("head_width", lambda width: f"{width or 'none'}")
    gate = {None: "", True: " gated", False: " plain"}[f["gated"]]
    inner = f"{f['d_ff']}{gate}"
    yield "feed-forward width", known("d_ff", lambda width: inner if width else "none")
    shared = f" + {e['shared']}" if e and e["shared"] else ""
    wide = f", {e['width']} wide" if e and e["width"] else ""
    active = e and (e["active"] or _UNKNOWN)
    yield "experts", f"{active}{shared} of {e['count']}{wide}" if e else "none"
    tied = known("tied", lambda tied: "tied" if tied else "untied")
    yield "vocabulary", f"{known('vocabulary')} {tied}" if f["vocabulary"] else _UNKNOWN
    yield "context", known("context")
    yield "parameters", size(f["total"])
    yield "without embeddings", size(f["nonembedding"])
    yield "active", known("active", size)
    yield "forward FLOPs per token", known("flops_forward", size)
    yield "training FLOPs per token", known("flops_training", size)
    yield "weights", binary(f["weights_bytes"])
    yield "KV cache per token", known("kv_bytes_per_token", "{:,} B".format)
    yield "state of a sequence", known("state_bytes", lambda n: binary(n) if n else "none")
    yield "cache, full context", known("kv_bytes", binary)
    i = f["interval"]
    near = f"{i['ends']}{'*' if i['extrapolated'] else ''}: {i['place']}" if i else "no grid"
    yield "evidence: within 1 %", near
    for law in f["laws"]:
        meaning = "" if law["meaning"] in law["name"] else f" ({law['meaning']})"
        # A floor is met by the next layer, a maximum kept by the last one.
        whole = {"floor": math.ceil, "maximum": math.floor}.get(law["meaning"], round)
        if law["depth"] is None:  # no rule is fitted to hybrids, or the size is not known
            yield law["name"] + meaning, "-"
            continue
        yield law["name"] + meaning, f"{whole(law['depth'])}{'*' if law['extrapolated'] else ''}"

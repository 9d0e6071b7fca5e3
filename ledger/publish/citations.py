"""The bibliography: which BibTeX entries stand behind claims."""
from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from difflib import get_close_matches
from functools import cache
from importlib.resources import files
from types import MappingProxyType

from ..run.index import claims_index


@cache
def entries() -> Mapping[str, str]:
    """Every entry of the bibliography by key, as it is printed there; read from the installed
    package.

    >>> entries()["levine2020"].splitlines()[0]
    '@inproceedings{levine2020,'
    """
    return MappingProxyType(dict(parse((files("depthlaw.theory")
                                        / "bibliography.bib").read_text(encoding="utf-8"))))


def bibtex_for(keys: Iterable[str]) -> dict[str, str]:
    """The BibTeX entries behind claims or bibliography keys, each once, in the order asked for.

    Raises:
        KeyError: for a key that is neither; its first argument is one line for people.

    >>> list(bibtex_for(["levine2020", "dong2021", "levine2020"]))
    ['levine2020', 'dong2021']
    """
    return {source: entries()[source] for source in (_source(key) for key in keys)}


def parse(text: str) -> Iterator[tuple[str, str]]:
    """The (key, entry) pairs of a BibTeX file whose entries are delimited by braces. What stands
    between entries is a comment.

    Raises:
        ValueError: when an entry has no key, does not end, or repeats a key.

    >>> list(parse("% two @words @misc{a, title = {A {B}}} @misc{b,}"))
    [('a', '@misc{a, title = {A {B}}}'), ('b', '@misc{b,}')]
    """
    seen = set()
    start = _next_entry(text, 0)
    while start >= 0:
        opening = text.index("{", start)
        end = _closing(text, opening)
        key = text[opening + 1:end].partition(",")[0].strip()
        if not key or key in seen:
            raise ValueError("the bibliography has an entry with "
                             f"{'the key ' + repr(key) + ' twice' if key else 'no key'}")
        seen.add(key)
        yield key, text[start:end + 1]
        start = _next_entry(text, end)


def _next_entry(text: str, start: int) -> int:
    while (start := text.find("@", start)) >= 0:
        kind, brace, _ = text[start + 1:start + 40].partition("{")
        if brace and kind.isalpha():
            return start
        start += 1
    return -1


def _closing(text: str, opening: int) -> int:
    depth = 0
    for place in range(opening, len(text)):
        depth += {"{": 1, "}": -1}.get(text[place], 0)
        if depth == 0:
            return place
    raise ValueError(f"the bibliography entry that begins {text[opening:opening + 30]!r} does not "
                     "end")


def _source(key: str) -> str:
    if key in entries():
        return key
    claims = claims_index()
    if key not in claims:
        close = get_close_matches(key, [*claims, *entries()], n=1, cutoff=0.5)
        hint = f"did you mean {close[0]}?" if close else "`depthlaw claims` lists the claims"
        raise KeyError(f"unknown key {key!r}: neither a claim nor a bibliography entry; {hint}")
    source = claims[key]["bibliography"]
    if source not in entries():
        raise KeyError(f"the source {source!r} of {key} is missing from bibliography.bib")
    return source

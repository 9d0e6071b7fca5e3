"""The bibliography: which BibTeX entries stand behind claims."""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterable, Mapping
from functools import cache
from importlib.metadata import version
from importlib.resources import files
from types import MappingProxyType

from ..address import address
from ..running.claims_index import claims_index, unknown


@cache
def entries() -> Mapping[str, str]:
    """Every entry of the bibliography by key, as it is printed there, from the line of its @ to
    that of its closing brace; read from the installed package.

    >>> entries()["levine2020"].splitlines()[0]
    '@inproceedings{levine2020,'
    """
    text = (files("depthlaw.theory") / "bibliography.bib").read_text(encoding="utf-8")
    matches = re.findall(r"^(@\w+\{([^,\s]+),.*?^\})", text, re.M | re.S)
    return MappingProxyType({key: entry for entry, key in matches})


def bibtex_for(keys: Iterable[str]) -> dict[str, str]:
    """The BibTeX entries behind claims or bibliography keys, each once, in the order asked for; of
    a claim whose source is "depthlaw, after X" also that of X. That of depthlaw has its version,
    and its address where it is published.

    Raises:
        KeyError: for a key that is neither; its first argument is one line for people.

    >>> list(bibtex_for(["levine2020", "dong2021", "levine2020"]))
    ['levine2020', 'dong2021']
    """
    return {source: _of_this_version(source) for key in keys for source in _sources_of(key)}


def _of_this_version(key: str) -> str:
    if key != "depthlaw":
        return entries()[key]
    fields = {"version": version("depthlaw"), "url": address().first}
    lines = (f"  {name} = {{{value}}},\n" for name, value in fields.items() if value)
    return f"{entries()[key].removesuffix('}')}{''.join(lines)}}}"


def sources(line: str) -> list[str]:
    """The bibliography keys that the source of a claim names, in its order.

    >>> sources("depthlaw, after dong2021, Theorem 2.3")
    ['depthlaw', 'dong2021']
    """
    return list(dict.fromkeys(filter(entries().__contains__, words(line))))


def words(line: str) -> list[str]:
    """The words of a source without the punctuation around them: keys of claims and of the
    bibliography stay whole.

    >>> words("depthlaw, after eqs. (3)-(4) of levine2020: L_th")[-2:]
    ['levine2020', 'L_th']
    """
    return [word.strip(".,;:()") for word in line.split()]


def reference(key: str) -> str:
    """One entry of the bibliography in one line: who, when, title, and where it can be had.

    >>> reference("levine2020")[:52]
    'Levine and others 2020: Limits to Depth Efficiencies'
    """
    fields = _fields(key)
    where = {"eprint": "arXiv:", "doi": "doi:", "url": "", "howpublished": "", "note": ""}
    at = next((before + fields[name] for name, before in where.items() if name in fields), "")
    head = " ".join(filter(None, (_who(fields, " and others"), fields.get("year"))))
    line = ": ".join(filter(None, (head, _plain(fields["title"]))))
    return line + (f" ({_plain(at)})" if at else "")


def named(key: str) -> str:
    """One entry of the bibliography as running text names it: who and when; without authors by its
    title.

    >>> named("levine2020"), named("cirrincione2026")
    ('Levine et al. 2020', 'Cirrincione 2026')
    """
    fields = _fields(key)
    who = _who(fields, " et al.") or _plain(fields["title"])
    return " ".join(filter(None, (who, fields.get("year"))))


def _fields(key: str) -> dict[str, str]:
    return dict(re.findall(r"^ *(\w+) = \{(.*)\},?$", entries()[key], re.M))


def _who(fields: Mapping[str, str], others: str) -> str:
    """The last names of one or two authors, or the first one's and what stands for the others."""
    authors = filter(None, re.split(r"\s+and\s+", fields.get("author", "")))
    people = [_plain(person).partition(",")[0] for person in authors]
    few = len(people) < 3 and people[-1:] != ["others"]
    return " and ".join(people) if few else people[0] + others


# BibTeX's accents as characters that combine with the letter before them.
_ACCENTS = dict(zip("'`\"^v~", "\u0301\u0300\u0308\u0302\u030c\u0303", strict=True))


def _plain(text: str) -> str:
    """A BibTeX value without its markup."""
    text = re.sub(r"\\([\"'`^~]|v(?=\{))\{?\\?(\w)\}?", lambda m: m[2] + _ACCENTS[m[1]], text)
    text = re.sub("-{2,3}", "-", text).replace(r"\L", "\u0141").replace(r"\textasciitilde", "~")
    return unicodedata.normalize("NFC", re.sub(r"[{}\\]", "", text))


def _sources_of(key: str) -> list[str]:
    if key in entries():
        return [key]
    claims = claims_index()
    if key not in claims:
        raise KeyError(unknown(key, claims, entries()))
    source = claims[key]["bibliography"]
    if source not in entries():
        raise KeyError(f"the source {source!r} of {key} is missing from bibliography.bib")
    return sources(claims[key]["source"])

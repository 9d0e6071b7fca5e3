"""The list of claims as plain data, so that commands which only name claims need not import them.

It is built once for each version of the code and stored in the user's cache folder, which may be
deleted at any time.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable
from difflib import get_close_matches
from functools import cache
from typing import TYPE_CHECKING

from depthlaw.advisor.base.quantities import UsageError, quoted
from depthlaw.theory.claims.code_version import read_cache, write_cache
from depthlaw.theory.claims.known_bounds import KnownBound, known_bounds
from depthlaw.theory.claims.withdrawn import withdrawn

if TYPE_CHECKING:
    from depthlaw.theory.claims.definition import Claim

# A cache is thrown away when theory or empirics change, not when `described` does: then it takes
# another name here.
_CACHE = "index"
# What is shorter stands in many keys by chance.
_WORD = 4


@cache
def claims_index() -> dict[str, dict[str, str]]:
    """Of every claim that comes with depthlaw, by key: what `depthlaw claims --json` prints but
    the verdict, its text, its bibliography key, and whether its values are the same everywhere;
    `at`: the names of what its statement is evaluated at.

    Cost: milliseconds; two seconds for the first time after a change of the code.
    """
    index = read_cache(_CACHE)
    if index is None:
        from depthlaw.theory.claims.definition import registry

        index = {claim.key: described(claim) for claim in registry().values()}
        write_cache(_CACHE, index)
    return index


def described(claim: Claim) -> dict[str, str]:
    """What `claims_index` says of a claim."""
    from depthlaw.theory.claims.evaluation import accepted
    from depthlaw.theory.claims.symbols import plain

    claim = claim.plain
    names = "key title wording kind holds_for text post_hoc tier cited supports"
    return {name: getattr(claim, name) for name in names.split()} | {
        "source": str(claim.source),
        "statement": plain(claim.statement),
        "bibliography": claim.source.key,
        "portable": "yes" if claim.portable else "",
        "at": accepted(claim, claim.symbols),
    }


def mentioning(words: Iterable[str]) -> tuple[list[dict[str, str]], list[dict[str, str]]]:
    """The claims that mention all words in what is printed of them, in source, wording or kind, or
    that hold what a source is known for; and of these the ones that are listed: the cited ones, and
    what the named source is known for. Where there are none, what others say is the answer.

    Raises:
        UsageError: where no claim mentions them.

    >>> [row["key"] for row in mentioning(["merrill", "doublings"])[1]]
    ['connectivity/log_depth_uniform']
    """
    text = " ".join(words)
    wanted = text.lower().split()
    fields = ("key", "title", "text", "source", "wording", "kind", "cited", "supports")
    known: dict[str, list[KnownBound]] = {}
    for bound in known_bounds():
        known.setdefault(bound.claim, []).append(bound)
    matching, listed = [], []
    for key, row in claims_index().items():
        of_sources = known.get(key, [])
        texts = [row[field] for field in fields]
        texts += [f"{bound.source} {bound.known_for}" for bound in of_sources]
        if all(word in " ".join(texts).lower() for word in wanted):
            matching.append(row)
            named = any(word in bound.source for bound in of_sources for word in wanted)
            if row["tier"] == "cited" or named:
                listed.append(row)
    if not matching:
        hint = unknown(text, claims_index()).partition("; ")[2]
        raise UsageError(f"no claim mentions {quoted(text)}; {hint}")
    return matching, listed or matching


def select(asked: Iterable[str], known: Collection[str]) -> list[str]:
    """The keys that were asked for by key or by topic; all of them when none was.

    Raises:
        UsageError: for what is neither, with the nearest key.
    """
    keys = [
        key
        for one in asked
        for key in [k for k in known if k.startswith(f"{one.rstrip('/')}/")] or [one]
    ]
    for key in (key for key in keys if key not in known):
        raise UsageError(unknown(key, known))
    return keys or list(known)


def unknown(asked: str, known: Collection[str], others: Collection[str] = ()) -> str:
    """What every command says of a key that there is none of, in one line: that it was withdrawn,
    or the nearest key or topic, by the whole of it or by what stands behind the topic.

    Args:
        asked: what was typed.
        known: the keys of the claims.
        others: keys of another kind that would do as well.
    """
    if not asked.strip():
        return "the key is empty; give a key or a topic, such as hops (`depthlaw claims --all`)"
    if asked in withdrawn():
        return f"the claim {asked} was withdrawn: {withdrawn()[asked]}"
    topics = dict.fromkeys(key.partition("/")[0] for key in known)
    behind = {key.partition("/")[2]: key for key in known}
    near = get_close_matches(asked, behind, n=1, cutoff=0.7)
    close = (
        [key for key in known if key.partition("/")[2] == asked]
        or get_close_matches(asked, [*known, *topics, *others], n=1, cutoff=0.7)
        or [behind[name] for name in near]
        or [key for key in known if len(asked) >= _WORD and asked in key]
    )
    what = "key" if others else "claim"
    hint = f"did you mean {close[0]}?" if close else "`depthlaw claims --all` lists the claims"
    return f"unknown {what} {quoted(asked)}; {hint}"

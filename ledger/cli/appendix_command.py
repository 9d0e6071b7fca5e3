"""`depthlaw appendix`: what a paper attaches, from the reference ledger or from records of one's
own."""

from __future__ import annotations

from collections.abc import Mapping
from difflib import get_close_matches
from pathlib import Path
from shlex import quote

from depthlaw.advisor.base.quantities import UsageError, quoted
from depthlaw.theory.claims.code_version import remember
from depthlaw.theory.claims.definition import Claim

from ..publish.appendix.document import write_appendix
from ..publish.appendix.formats import check_programs
from ..publish.appendix.output_folder import DeliveryError, check_folder
from ..records.store import Store, StoreError, open_store
from ..running.claims_index import select
from ..running.user_claims import all_claims, own_file
from ..suite import check_suite
from ..verdicts.reference_ledger import Agreement, Ledger, compare, shipped
from .output import dump, note, notes, report_set_aside, report_unnamed, say
from .terminal import waiting


def appendix(
    directory: Path,
    named: str | None,
    topic: str | None,
    suite: str,
    folder: Path | None,
    json_output: bool,
    *,
    everything: bool,
) -> int:
    """Write the appendix: of the headlines, of the claims or the topic named, or of everything.

    Args:
        named: keys with commas between them, or a Python file with claims of one's own; None: not
            asked.
        topic: None: not asked.
        suite: "": of each claim the longest that is recorded.
        folder: records of one's own; None: the reference ledger, unless a suite or own claims are
            asked for.
    """
    if (named is not None) + (topic is not None) + everything > 1:
        raise UsageError("--claims, --topic and --all exclude each other; name one")
    check_programs()
    try:
        check_folder(directory)
    except DeliveryError as error:
        raise UsageError(str(error)) from None
    own = Path(named) if named and named.endswith(".py") else None
    with waiting(notes(), "reading claims and records", json_output) as doing:
        claims = all_claims(own)
        keys = list(claims) if everything else _keys(named, topic, own, claims)
        if suite:
            check_suite(suite)
        store = _store(folder, suite, own)
        report_set_aside(store)
        report_unnamed(claims[key] for key in keys)
        # Whoever reads it has the file elsewhere.
        which = own.name if own else ",".join(_parts(named or ""))
        options = " ".join(
            filter(
                None,
                (
                    f"--claims {quote(which)}" if which else "",
                    f"--topic {quote(topic)}" if topic else "",
                    "--all" if everything else "",
                    f"--suite {suite}" if suite else "",
                    # Who has the file has its records in a folder of their own.
                    "--results DIR" if folder or own else "",
                ),
            )
        )
        written = write_appendix(
            directory,
            claims,
            store,
            keys=[] if everything else keys,
            everything=everything,
            suite=suite,
            repeated=_repeated(store, claims),
            command=f"depthlaw appendix FOLDER {options}".rstrip(),
            file=own_file(own) if own else None,
            doing=doing,
        )
    remember()
    if json_output:
        dump({"written": [str(path) for path in written]})
    else:
        for path in written:
            say(str(path))
        reference = "the reference ledger that comes with depthlaw"
        note(f"records of {reference if isinstance(store, Ledger) else store.root}")
    return 0


def _repeated(store: Store, claims: Mapping[str, Claim]) -> Agreement | None:
    """How the user's own records agree with the reference ledger, where that is what is printed."""
    if not isinstance(store, Ledger):
        return None
    try:
        own = open_store(None, read_only=True)
    except StoreError:
        # A folder that cannot be read repeats nothing.
        return compare((), store)
    return compare(own, store, lambda key: key in claims and claims[key].portable)


def _keys(
    named: str | None, topic: str | None, own: Path | None, claims: Mapping[str, Claim]
) -> list[str]:
    if own is not None:
        return [key for key in claims if key.startswith(f"{own.stem}/")]
    if topic is not None:
        return _of_topic(topic, claims)
    if named is None:
        return []
    if not (parts := _parts(named)):
        raise UsageError(
            f"--claims {quoted(named)} names no claim; give keys with commas between "
            "them or a Python file, or leave it out for the headlines"
        )
    return select(parts, claims)


def _parts(named: str) -> list[str]:
    return [part for part in map(str.strip, named.split(",")) if part]


def _of_topic(topic: str, claims: Mapping[str, Claim]) -> list[str]:
    topics = list(dict.fromkeys(key.partition("/")[0] for key in claims))
    if topic in topics:
        return [key for key in claims if key.startswith(f"{topic}/")]
    if topic in claims:
        raise UsageError(f"--topic {quoted(topic)} is no topic; say --claims {topic}")
    close = get_close_matches(topic, topics, n=1)
    raise UsageError(
        f"unknown topic {quoted(topic)}; "
        + (f"did you mean {close[0]}?" if close else f"topics are {', '.join(topics)}")
    )


def _store(folder: Path | None, suite: str, own: Path | None) -> Store:
    if folder is not None or suite or own is not None:
        return open_store(folder, read_only=True)
    known = shipped()
    if known is None:
        raise UsageError(
            "this installation holds no reference ledger; run `depthlaw verify "
            "quick`, then `depthlaw appendix DIR --suite quick`"
        )
    return known

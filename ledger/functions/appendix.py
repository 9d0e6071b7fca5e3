"""What a paper attaches, from the reference ledger or from records of one's own."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from difflib import get_close_matches
from pathlib import Path
from shlex import quote
from typing import Any

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
from .report import Report, as_list, as_path
from .show import of_topic


@dataclass(frozen=True, repr=False)
class Appendix(Report):
    """The files of an appendix, the claims in print (none for the headlines), and the records that
    it was made from."""

    written: tuple[Path, ...]
    claims: tuple[Claim, ...]
    store: Store

    def rows(self) -> list[dict[str, Any]]:
        """One for each file."""
        return [{"file": str(path), "bytes": path.stat().st_size} for path in self.written]

    def to_json(self) -> dict[str, Any]:
        """What `depthlaw appendix --json` prints."""
        return {"written": [str(path) for path in self.written]}

    def summary(self) -> str:
        """How many files, and where."""
        return f"{len(self.written)} files in {self.written[0].parent}"


def appendix(
    directory: str | Path,
    claims: str | Iterable[str] | None = None,
    *,
    topic: str | None = None,
    everything: bool = False,
    suite: str = "",
    file: str | Path | None = None,
    results: str | Path | None = None,
    doing: Callable[[str], None] = lambda what: None,
) -> Appendix:
    """Write an appendix to attach to a paper: `depthlaw appendix`. It prints the headlines on at
    most ten pages, or the claims or the topic named, or everything.

    Args:
        directory: new, empty, or with an unedited earlier appendix and nothing else.
        claims: keys, or one text with commas between them.
        topic: exactly the claims of this topic.
        everything: the supplement, every claim.
        suite: from your own records of this suite; by default of each claim the longest recorded.
        file: a Python file with claims of one's own, exactly those.
        results: the folder of the records; by default the reference ledger, unless you ask for a
            suite or for claims of your own.
        doing: called with what is being done.

    Raises:
        UsageError: for what cannot be used, before anything is written.

    Cost: half a minute; it needs pandoc and Typst, which come with the extra appendix.

    >>> appendix("out", topic="hop")
    Traceback (most recent call last):
    depthlaw.advisor.base.quantities.UsageError: unknown topic 'hop'; did you mean hops?
    """
    own, folder = as_path(file), as_path(results)
    if (claims is not None or own is not None) + (topic is not None) + everything > 1:
        raise UsageError("--claims, --topic and --all exclude each other; name one")
    check_programs()
    try:
        check_folder(Path(directory))
    except DeliveryError as error:
        raise UsageError(str(error)) from None
    known = all_claims(own)
    parts = (part.strip() for text in as_list(claims) for part in text.split(","))
    asked = None if claims is None else list(filter(None, parts))
    keys = list(known) if everything else _keys(asked, topic, own, known)
    if suite:
        check_suite(suite)
    store = open_store(folder, read_only=True) if folder or suite or own else shipped()
    if store is None:
        advice = "run `depthlaw verify quick`, then `depthlaw appendix DIR --suite quick`"
        raise UsageError(f"this installation holds no reference ledger; {advice}")
    # Whoever reads it has the file elsewhere.
    which = own.name if own else ",".join(asked or ())
    options = {
        f"--claims {quote(which)}": which,
        f"--topic {quote(topic or '')}": topic,
        "--all": everything,
        f"--suite {suite}": suite,
        # Who has the file has its records in a folder of their own.
        "--results DIR": folder or own,
    }
    written = write_appendix(
        Path(directory),
        known,
        store,
        keys=[] if everything else keys,
        everything=everything,
        suite=suite,
        repeated=_repeated(store, known),
        command=" ".join(["depthlaw appendix FOLDER", *(o for o in options if options[o])]),
        file=own_file(own) if own else None,
        doing=doing,
    )
    remember()
    return Appendix(tuple(written), tuple(known[key] for key in keys), store)


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
    asked: list[str] | None, topic: str | None, own: Path | None, claims: Mapping[str, Claim]
) -> list[str]:
    """The keys in print; none for the headlines."""
    if own is not None:
        return of_topic(own.stem, claims)
    if topic is None:
        if asked == []:
            raise UsageError(
                "--claims names no claim; give keys with commas between them or a Python file, or "
                "leave it out for the headlines"
            )
        return select(asked, claims) if asked else []
    topics = list(dict.fromkeys(key.partition("/")[0] for key in claims))
    if topic in topics:
        return of_topic(topic, claims)
    if topic in claims:
        raise UsageError(f"--topic {quoted(topic)} is not a topic; give --claims {topic}")
    close = get_close_matches(topic, topics, n=1)
    hint = f"did you mean {close[0]}?" if close else f"topics are {', '.join(topics)}"
    raise UsageError(f"unknown topic {quoted(topic)}; {hint}")

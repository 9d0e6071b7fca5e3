"""Verdicts for programs that read schema.org: a Dataset with a ClaimReview for each claim, as
JSON-LD. Pages are named below the site's address, or, where it has none, relative to its root."""

from __future__ import annotations

import json
import re
from collections.abc import Sequence
from importlib.metadata import version
from typing import Any

from depthlaw.theory.claims.readable import readable

from ...address import address
from ...verdicts.citations import entries, reference, sources
from ...verdicts.evidence_tree import because
from ...verdicts.suite_verdicts import ClaimResult, verdict_name

# The file, below the site's root.
FILE = "data/verdicts.jsonld"
_AUTHOR = {"@type": "Organization", "name": "The depthlaw developers"}


def document(judged: Sequence[ClaimResult], ledger: str) -> str:
    """Every verdict as one JSON-LD document.

    Args:
        ledger: which records the verdicts rest on, in words.
    """
    reviews = [review(result) for result in judged if result.measured]
    dataset = {
        "@id": f"{address().site}{FILE}",
        "@type": "Dataset",
        "name": "Verdicts on theorems on the depth of transformers",
        "description": f"Claims from papers, each with its verdict. {ledger}.",
        "version": version("depthlaw"),
        "creator": _AUTHOR,
        "license": "https://spdx.org/licenses/Apache-2.0",
        "hasPart": [{"@id": each["@id"]} for each in reviews],
    }
    body = {"@context": "https://schema.org", "@graph": [dataset, *reviews]}
    return json.dumps(body, indent=1, ensure_ascii=False) + "\n"


def block(result: ClaimResult) -> str:
    """The review of a claim as a script in its own page, which browsers do not show."""
    if not result.measured:
        return ""
    body = {"@context": "https://schema.org"} | review(result, f"{result.claim.name}.html")
    # An end of the script inside a text would be its end.
    text = json.dumps(body, ensure_ascii=False).replace("</", "<\\/")
    return f'\n```{{raw}} html\n<script type="application/ld+json">{text}</script>\n```\n'


def review(result: ClaimResult, page: str = "") -> dict[str, Any]:
    """One verdict as a ClaimReview of the sentence, as the claim has it.

    Args:
        page: of the claim, seen from where the review is; by default from the site's root.
    """
    claim, page = result.claim.plain, page or f"{address().site}claims/{result.claim.key}.html"
    return {
        "@id": f"{page}#verdict",
        "@type": "ClaimReview",
        "url": page,
        "claimReviewed": claim.entitled,
        "reviewRating": {
            "@type": "Rating",
            "alternateName": verdict_name(result),
            "ratingExplanation": readable(because(result)),
        },
        "itemReviewed": {
            "@type": "Claim",
            "text": readable(claim.text),
            "appearance": [_work(key) for key in sources(str(claim.source))],
        },
        "author": _AUTHOR,
    }


def _work(key: str) -> dict[str, Any]:
    """An entry of the bibliography, with its DOI or number at arXiv where it has one."""
    fields = dict(re.findall(r"^ *(\w+) = \{(.*)\},?$", entries()[key], re.M))
    work = {"@type": "CreativeWork", "name": key, "citation": reference(key)}
    if "doi" in fields:
        work["sameAs"] = f"https://doi.org/{fields['doi']}"
    elif "eprint" in fields:
        work["sameAs"] = f"https://arxiv.org/abs/{fields['eprint']}"
    return work

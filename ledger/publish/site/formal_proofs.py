"""What the kernel of the Rocq prover has checked, as the tables of docs/proofs.md."""

from __future__ import annotations

import re
from collections import Counter

from depthlaw.theory.claims.formal import checked, source, stale

from ...verdicts.record_source import Recorded
from ...verdicts.suite_verdicts import verdict_name
from ..appendix.typesetting import code, md, pipe_table

_REFUTED = "; refuted, and a kernel has checked the refutation"


def proofs(recorded: Recorded) -> str:
    """Three tables: claims with their theorems, how many claims rest on which kind of proof, and
    every theorem."""
    formal = {key: c for key, c in recorded.claims.items() if c.formal is not None}
    claims = pipe_table(
        "claim | theorem | not formal | verdict",
        [
            (
                f"[{code(key)}](/claims/{key}.md)",
                code(claim.formal.theorem),
                md(claim.formal.informal),
                "void: " + md(why)
                if (why := stale(claim))
                else _verdict(recorded, key) + _REFUTED * bool(claim.formal.refutes),
            )
            for key, claim in formal.items()
            if claim.formal is not None
        ],
    )
    words = Counter(
        {"PROVED": "by exact decision"}.get(word, word)
        for key in recorded.claims
        if (word := _verdict(recorded, key)) in ("PROVED", "ARGUED") and key not in formal
    )
    kept = [claim.formal for claim in formal.values() if claim.formal and not stale(claim)]
    refuted = [formal for formal in kept if formal.refutes]
    kinds = pipe_table(
        "kind of proof | claims:",
        [
            ("PROVED, by the kernel", str(len(kept) - len(refuted))),
            ("PROVED, by exact decision of every case", str(words["by exact decision"])),
            ("ARGUED, in words with steps that a machine confirmed", str(words["ARGUED"])),
            ("FAILS, and the kernel checked a refutation", str(len(refuted))),
        ],
    )
    listed = [
        (code(name), md(in_words(name)), ", ".join(map(code, entry["assumes"])) or "nothing")
        for name, entry in checked()["theorems"].items()
    ]
    return "\n\n".join(
        (
            kinds,
            claims,
            f"<details><summary>{len(listed)} theorems</summary>",
            pipe_table("theorem | in words | assumes", listed),
            "</details>",
        )
    )


def _verdict(recorded: Recorded, key: str) -> str:
    result = recorded.judged(key)
    return verdict_name(result) if result else "not recorded"


def in_words(theorem: str) -> str:
    """The comment above a theorem in its file, without what is addressed to tools."""
    file, _, name = theorem.partition(".")
    before = re.split(rf"^(?:Theorem|Corollary)\s+{name}\b", source(file), flags=re.M)[0]
    comment = re.search(r"\(\*+((?:(?!\(\*).)*?)\*+\)\s*\Z", before.rpartition("Qed.")[2], re.S)
    text = " ".join(comment[1].split()) if comment else ""
    text = re.sub(r"\s*\(?Claims?: \w+/\w+(?:(?:,| and) \w+/\w+)*\)?[.,:]?", "", text).strip()
    return text[:1].upper() + text[1:]

"""Audit the models of `audit_models.py`, and put four published sentences to the test on them: what
docs/audit-results.md shows.

    python benchmarks/audit_results.py MODELS docs/audit-results.json

Each model is audited on code that it was not trained on, and its removals on lines of the ladder too;
the ladder is climbed whole and without each single layer. About ten minutes a model on two cores; what
was measured is read from MODELS/audits.
"""

from __future__ import annotations

import argparse
import json
from pathlib import Path

from audit_models import LINES_EACH

import depthlaw
from depthlaw.empirics.audit.audit import Audit
from depthlaw.empirics.audit.documents import Documents, from_text
from depthlaw.empirics.audit.ladder import RungResult, climb, encoding
from depthlaw.empirics.audit.layered import without
from depthlaw.empirics.audit.models import opened
from depthlaw.empirics.audit.records import Store
from depthlaw.empirics.audit.rungs import ladder, solved
from depthlaw.empirics.audit.statements import (
    Statement,
    counted_is_lost_first,
    one_layer_does_nothing,
    order_depends_on_text,
    repeat_tables,
    repetition_degrades,
)

TOKENS, DOCUMENTS, QUESTIONS, TOLERANCE = 96, 64, 100, 0.01


def lines() -> str:
    """New solved lines: what follows those that were trained on."""
    blocks = []
    for rung in ladder():
        some = solved(rung)
        for _ in range(LINES_EACH):
            next(some)
        blocks.append("".join(next(some) for _ in range(40)))
    return "\n".join(blocks)


def main() -> None:
    """Audit every folder with a config.json, and write what was found."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("models", type=Path)
    parser.add_argument("out", type=Path)
    asked = parser.parse_args()
    folders = [file.parent for file in asked.models.glob("*/config.json")]
    folders.sort(key=lambda folder: json.loads((folder / "config.json").read_text())["n_layer"])
    audits: dict[str, Audit] = {}
    falls: dict[str, list[tuple[RungResult, ...]]] = {}
    removals = {}
    for folder in folders:
        print(folder.name, flush=True)
        model, tokenizer = opened(folder)
        kept = Store(asked.models / "audits")
        half = model.depth // 2
        report = depthlaw.audit(
            folder,
            text=folder / "held-out.txt",
            tokens=TOKENS,
            documents=DOCUMENTS,
            measures="all",
            blocks=(2,) if half < 4 else (2, half),
            ladder=True,
            without=str(half) if half == 1 else f"{half}-{half + 1}",
            questions=QUESTIONS,
            folder=asked.models / "audits",
        )
        audits[folder.name] = report.audit
        falls[folder.name] = [
            climb(
                model,
                encoding(model, tokenizer),
                route=without(model.depth, layer, layer),
                count=QUESTIONS,
            )
            for layer in range(model.depth)
        ]

        def removed(documents: Documents) -> object:
            return kept.measured(model, documents, [("removal", "loss")])[0].per_document  # noqa: B023

        code = from_text(folder / "held-out.txt", tokenizer, TOKENS, DOCUMENTS)
        other = from_text(lines(), tokenizer, TOKENS, DOCUMENTS)
        removals[folder.name] = (removed(code), removed(other))
    tables = repeat_tables(audits)
    statements = [
        repetition_degrades(tables),
        one_layer_does_nothing(tables, TOLERANCE),
        counted_is_lost_first(falls),
        order_depends_on_text(removals),
    ]
    asked.out.write_text(json.dumps(_plain(audits, statements), indent=1) + "\n", encoding="utf-8")
    for statement in statements:
        print(f"{statement.verdict}: {statement.says}")


def _plain(audits: dict[str, Audit], statements: list[Statement]) -> dict[str, object]:
    return {
        "models": {name: audit.to_json() for name, audit in audits.items()},
        "statements": [
            {
                "key": statement.key,
                "says": statement.says,
                "source": statement.source,
                "reading": statement.reading,
                "verdict": str(statement.verdict),
                "numbers": statement.numbers,
            }
            for statement in statements
        ],
    }


if __name__ == "__main__":
    main()

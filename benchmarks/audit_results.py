"""Audit the models of `audit_models.py`, and put four published sentences to the test on them: what
docs/audit-results.md shows.

    python benchmarks/audit_results.py MODELS docs/audit-results.json

Each model is audited on code that it was not trained on, and its removals on lines of the ladder
too; the ladder is climbed whole and without each single layer. A few minutes for each model on one
core; what was measured is read from MODELS/audits.
"""

from __future__ import annotations

import argparse
import json
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
from audit_models import LINES_EACH

import depthlaw
from depthlaw.empirics.audit.documents import from_text
from depthlaw.empirics.audit.ladder import encoding, right_answers
from depthlaw.empirics.audit.layered import LayeredModel, without
from depthlaw.empirics.audit.measures import Values
from depthlaw.empirics.audit.models import opened
from depthlaw.empirics.audit.records import Store
from depthlaw.empirics.audit.rungs import baseline, ladder, questions, solved
from depthlaw.empirics.audit.statements import (
    Answers,
    Statement,
    counted_is_lost_first,
    one_layer_does_nothing,
    order_depends_on_text,
    repetition_degrades,
)
from depthlaw.ledger.functions.audit import AuditReport

TOKENS, DOCUMENTS, QUESTIONS, TOLERANCE = 96, 64, 100, 0.01
# Documents that the orders of layers on two texts rest on, and draws of each null model.
MANY, DRAWS = 256, 19
# Measures whose rows are written; of the others what they tell from null models is.
ROWS = {
    ("removal", "loss"),
    ("block_influence", "mean"),
    ("exit_loss", "loss"),
    ("settling_depth", "mean"),
}


def lines() -> str:
    """New solved lines: what follows those that were trained on."""
    blocks = []
    for rung in ladder():
        some = solved(rung)
        for _ in range(LINES_EACH):
            next(some)
        blocks.append("".join(next(some) for _ in range(40)))
    return "\n".join(blocks)


def answers(model: LayeredModel, encode: Callable[[str], list[int]]) -> Answers:
    """Every question of the ladder, asked of the model whole and without each layer."""
    asked = [questions(rung, QUESTIONS) for rung in ladder()]
    routes = [None, *(without(model.depth, layer, layer) for layer in range(model.depth))]
    whole, *less = [
        [right_answers(model, some, encode, route) for some in asked] for route in routes
    ]
    return Answers(
        tuple(rung.ladder for rung in ladder()),
        np.array([[baseline(some).share] * len(some) for some in asked]),
        np.array(whole),
        np.array(less),
    )


def brief(report: AuditReport) -> dict[str, Any]:
    """What the page shows of an audit, without what each null model says of each layer."""
    found = report.to_json()
    found["tables"] = [table for table in found["tables"] if table["size"] == 1]
    for table in found["tables"]:
        kept = (table["key"], table["variant"]) in ROWS and table["size"] == 1
        table["rows"] = [
            {key: row[key] for key in ("first", "last", "estimate", "share", "call")}
            for row in table["rows"]
            if kept
        ]
    found["text"]["source"] = Path(found["text"]["source"]).name
    # The summary is "NAME: its first sentence".
    return found | {"says": report.summary().partition(": ")[2]}


def written(file: Path, **parts: Any) -> None:
    """Parts of a file of JSON written anew, numbers with five digits; the others stay."""
    text = json.dumps(parts, default=str)
    known = json.loads(file.read_text(encoding="utf-8")) if file.is_file() else {}
    known |= json.loads(text, parse_float=lambda digits: float(f"{float(digits):.5g}"))
    lines = [
        f" {json.dumps(key)}: {json.dumps(part, separators=(',', ':'))}"
        for key, part in sorted(known.items())
    ]
    file.write_text("{\n" + ",\n".join(lines) + "\n}\n", encoding="utf-8")


def main() -> None:
    """Audit every folder with a config.json, and write what was found."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("models", type=Path)
    parser.add_argument("out", type=Path)
    asked = parser.parse_args()
    folders = [file.parent for file in asked.models.glob("*/config.json")]
    folders.sort(
        key=lambda one: (
            json.loads((one / "config.json").read_text())["num_hidden_layers"],
            one.name,
        )
    )
    kept = Store(asked.models / "audits")
    audits: dict[str, Any] = {}
    said: dict[str, Answers] = {}
    repeats: dict[str, Values] = {}
    removals = {}
    for folder in folders:
        sys.stderr.write(f"{folder.name}\n")
        model, tokenizer = opened(folder)
        half = model.depth // 2
        middle = str(half) if half == 1 else f"{half}-{half + 1}"
        sizes = sorted({1, min(2, half), half})
        report = depthlaw.audit(
            folder,
            text=folder / "held-out.txt",
            tokens=TOKENS,
            documents=DOCUMENTS,
            measures="usual,changes",
            blocks=sizes,
            draws=DRAWS,
            ladder=True,
            without=middle,
            questions=QUESTIONS,
            folder=kept.folder,
        )
        audits[folder.name] = brief(report) | {"without": middle}
        said[folder.name] = answers(model, encoding(model, tokenizer))
        code = from_text(folder / "held-out.txt", tokenizer, TOKENS, DOCUMENTS)
        many = from_text(folder / "held-out.txt", tokenizer, TOKENS, MANY)
        other = from_text(lines(), tokenizer, TOKENS, MANY)
        (repeats[folder.name],) = kept.measured(model, code, [("repeat", "plain")], sizes=sizes)
        one, two = (kept.measured(model, text, [("removal", "loss")])[0] for text in (many, other))
        removals[folder.name] = (one.per_document, two.per_document)
    statements = [
        repetition_degrades(repeats),
        one_layer_does_nothing(repeats, TOLERANCE),
        counted_is_lost_first(said),
        order_depends_on_text(removals),
    ]
    written(asked.out, models=audits, statements=[_plain(one) for one in statements])
    for statement in statements:
        sys.stdout.write(f"{statement.verdict}: {statement.says}\n")


def _plain(statement: Statement) -> dict[str, Any]:
    return vars(statement) | {"verdict": str(statement.verdict)}


if __name__ == "__main__":
    main()

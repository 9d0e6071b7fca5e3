"""What records fill into the pages of exercises and of what was measured."""
from __future__ import annotations

import re
from pathlib import Path

import pytest

from depthlaw.empirics.exercises.exercise import exercises
from depthlaw.ledger.publish import measured
from depthlaw.ledger.run.plan import plan
from depthlaw.ledger.run.records import Record, Store, encode
from depthlaw.theory.claim import Claim, find, registry
from depthlaw.theory.values import Exact, Sample

DOCS = Path(__file__).parents[2] / "docs"
DEGREE = "separation_rank/degree"


@pytest.mark.parametrize("page", ["rank-collapse-measured.md", "exercises.md"])
def test_every_mark_names_a_claim_an_exercise_or_a_picture(page: str) -> None:
    text, claims = (DOCS / page).read_text(encoding="utf-8"), registry()
    marks = re.findall(r"<!-- (\S+): (\S+) -->", text)
    assert marks
    known = {"exercise": set(exercises()), "picture": set(measured._FIGURES),
             "values": set(claims), "verdicts": set(claims)}
    for kind, names in marks:
        assert set(names.split(",")) <= known[kind], names


def test_the_page_of_exercises_has_all_of_them_in_order() -> None:
    text = (DOCS / "exercises.md").read_text(encoding="utf-8")
    assert re.findall(r"<!-- exercise: (\S+) -->", text) == list(exercises())


def recorded(claim: Claim, store: Store, wrong: int = 0) -> None:
    """Records of suite quick, with one value that is not what is stated."""
    for n, run in enumerate(r for r in plan({claim.key: claim}, "quick") if r.case is not None):
        made = run.execute()
        assert isinstance(made, Record)
        store.put(made if n or not wrong else Record(made.inputs, encode(Exact(wrong))))


def test_values_and_verdicts_are_those_of_the_records(tmp_path: Path) -> None:
    claim, store = find(DEGREE), Store(tmp_path / "r")
    claims = {DEGREE: claim}
    assert measured.values([DEGREE], claims, store) == ""
    assert measured.verdicts([DEGREE], claims, store) == ""
    recorded(claim, store, wrong=12345)
    table = measured.values([DEGREE], claims, store).splitlines()
    assert len(table) == 2 + len(claim.cases("quick"))
    assert sum("FAILS" in row for row in table) == 1
    assert "| 12345 |" in next(row for row in table if "FAILS" in row)
    assert "| FAILS |" in measured.verdicts([DEGREE], claims, store)


def test_an_exercise_is_a_picture_a_paragraph_a_table_and_verdicts(
    tmp_path: Path,
) -> None:
    """From made-up losses, one case of which is missing."""
    store, file = Store(tmp_path / "r"), tmp_path / "figures" / "depth-ablation.png"
    claims = {key: find(key) for key in exercises()["depth-ablation"].claims}
    assert measured.exercise("depth-ablation", claims, store, file) == ""
    assert not file.exists()
    learns = claims["exercises/language_models_learn"]
    runs = [run for run in plan({learns.key: learns}, "exercises") if run.case is not None]
    for n, run in enumerate(runs[:-1]):
        store.put(Record(run.inputs, encode(Sample(tuple(3 + n / 10 + s / 100 for s in range(8))))))
    text = measured.exercise("depth-ablation", claims, store, file)
    assert text.startswith("![")
    assert file.read_bytes()[:4] == b"\x89PNG"
    assert "3.035" in text
    assert "not recorded" in text
    assert f"claims/{learns.key}.md" in text


def test_the_picture_of_the_law_needs_no_records(tmp_path: Path) -> None:
    """Attention alone triples the orders of magnitude; a mask and a skip connection do not."""
    ((panel,), table) = measured._layers_seen({}, Store(tmp_path / "r"))
    alone, causal, skip, law = (series.y for series in panel.series)
    assert table is None
    assert alone[-1] / alone[-2] == pytest.approx(3, rel=1e-3)
    assert alone[-1] > law[-1] * 0.9
    assert causal[-1] - causal[-2] < 1
    assert skip[-1] == pytest.approx(2, abs=0.1)

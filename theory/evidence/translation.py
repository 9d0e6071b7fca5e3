"""Very deep nets for translation: the printed tables of Liu et al. 2020."""

from __future__ import annotations

from ..claims.definition import Ball, Case, Control, Source, claim
from ..claims.relations import Gt
from ..claims.symbols import quantity
from .printed_numbers import gain, interval, rows

improvement = quantity("improvement", "i", "printed improvement of one net over another", "real")
TABLE = rows("translation")
_DEEP = Source("liu2020verydeep", "Table 1, as reprinted in notthatdeep2024", "arXiv:2008.07772")
LANGUAGES = ("FR", "DE")


def printed(net: str, language: str, metric: str) -> str:
    """An entry of the tables."""
    return next(
        r["value"]
        for r in TABLE
        if (r["model"], r["language"], r["metric"]) == (net, language, metric)
    )


@claim(
    Gt(improvement, 0),
    source=_DEEP,
    wording="reported",
    weight="measurement",
    cases={
        "quick": Case.grid(
            over=("6L-6L Default", "6L-6L ADMIN"),
            language=LANGUAGES,
            metric=("TER", "METEOR", "BLEU"),
        )
    },
    control=Control(
        Case(over="6L-6L ADMIN", language="DE", metric="METEOR"),
        "two points better",
        statement=Gt(improvement, 2),
    ),
    supports="evidence/translation_deepest",
)
def translation_all_metrics(case: Case) -> Ball:
    """60L-12L beats 6L-6L in all metrics.

    In TER, METEOR and BLEU and on both languages 60L-12L is printed better than 6L-6L, by default
    and trained with ADMIN.

    By at least 1.5 in every one of the twelve comparisons. The source's $p < 0.05$ needs the
    outputs. 60L-12L has four times the parameters: a result on trainability, not on depth at a
    fixed budget.
    """
    sign = -1 if case.metric == "TER" else 1
    return interval(
        [
            (sign, printed("60L-12L ADMIN", case.language, case.metric)),
            (-sign, printed(case.over, case.language, case.metric)),
        ]
    )


@claim(
    Gt(gain, 0),
    wording="universal",
    known="FAILS",
    weight="measurement",
    source=Source(
        "liu2020verydeep", "Table 4, as reprinted in notthatdeep2024", "arXiv:2008.07772"
    ),
    cases={
        "quick": [
            Case(rival=rival, metric=metric)
            for rival, metric in (
                ("36L-12L-768D ADMIN + BT", "BLEU (multi-bleu)"),
                ("36L-12L-768D ADMIN + BT", "BLEU (sacreBLEU)"),
                ("BT (Edunov et al.)", "BLEU (multi-bleu)"),
                ("60L-12L ADMIN", "BLEU (multi-bleu)"),
                ("60L-12L ADMIN", "BLEU (sacreBLEU)"),
            )
        ]
    },
    control=Control(
        Case(rival="BT (Edunov et al.)", metric="BLEU (multi-bleu)"),
        "a point ahead",
        statement=Gt(gain, 1),
    ),
    cited="Bears on whether the deepest net may be advised for translation with back-translation.",
)
def translation_deepest(case: Case) -> Ball:
    """The deepest net is the best with back-translation.

    With back-translation the net of 60 encoder layers has a higher BLEU than every other row of the
    table.

    The vague sentence, of the seminar notes: "They hypothesize that deeper models can better
    exploit on big and noisy datasets." 36 encoder layers of width 768 beat 60 of width 512 in both
    versions of BLEU: the table supports size, not depth alone.
    """
    return interval(
        [
            (1, printed("60L-12L ADMIN + BT", "FR", case.metric)),
            (-1, printed(case.rival, "FR", case.metric)),
        ]
    )

"""Record the runs of suite long whose nets have been trained, and leave out the others.

    .venv/bin/python .ci/record_trained.py RESULTS

What takes a day is declared beforehand and recorded as it comes: nets lie in
RESULTS/cache/trainings and are only asked. Controls train for a minute or two.
"""

from __future__ import annotations

import sys
from pathlib import Path

import torch

from depthlaw.empirics.training.permission import NotTrainedError, permission
from depthlaw.ledger.records.store import open_store
from depthlaw.ledger.running.engines import Inline, execute
from depthlaw.ledger.running.plan import plan
from depthlaw.theory.claims.definition import AS_IT_COMES, registry

# Updates of all nets of one training that are few enough to be done at once.
FEW = 5_000


def main(results: Path) -> int:
    """Record what can be; returns the exit code: 1 where a run failed for another reason."""
    torch.set_num_threads(1)
    store, claims = open_store(results), registry()
    runs = [run for suite in AS_IT_COMES for run in plan(claims, suite)]
    with permission(FEW):
        failures = execute(runs, store, Inline())
    left = [failure for failure in failures if isinstance(failure.error, NotTrainedError)]
    print(f"{len(runs) - len(failures)} of {len(runs)} runs recorded, {len(left)} not trained yet")
    wrong = [failure for failure in failures if failure not in left]
    for failure in wrong:
        print(f"{failure.run.claim.key} [{failure.run.case}]: {failure.why}", file=sys.stderr)
    return int(bool(wrong))


if __name__ == "__main__":
    sys.exit(main(Path(sys.argv[1])))

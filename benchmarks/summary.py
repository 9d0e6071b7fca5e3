"""Keep of a run of the benchmarks what docs/performance.md shows: medians, ratios to the peer of
the same run, machine and date. `make bench` calls it.

    python benchmarks/summary.py RUN.json   # as written by pytest --benchmark-json=RUN.json

Benchmarks that were not run keep what they have, with their date.
"""

from __future__ import annotations

import json
import sys
from pathlib import Path
from typing import Any

OUT = Path(__file__).parents[1] / "ledger" / "publish" / "site" / "benchmarks.json"


def summary(run: dict[str, Any]) -> dict[str, dict[str, Any]]:
    """By name of the benchmark: median in seconds, what it noted itself, date and machine."""
    machine = run["machine_info"]
    cpu = machine["cpu"]
    where = {
        "date": run["datetime"][:10],
        "machine": f"{cpu['brand_raw']}, {cpu['count']} cores, Python {machine['python_version']}",
    }
    return {
        each["name"]: {"median": each["stats"]["median"], **each["extra_info"], **where}
        for each in run["benchmarks"]
    }


def main(file: str) -> None:
    """Merge a run into what is kept."""
    known = json.loads(OUT.read_text(encoding="utf-8")) if OUT.exists() else {}
    known |= summary(json.loads(Path(file).read_text(encoding="utf-8")))
    OUT.write_text(json.dumps(known, indent=1, sort_keys=True) + "\n", encoding="utf-8")


if __name__ == "__main__":
    main(*sys.argv[1:])

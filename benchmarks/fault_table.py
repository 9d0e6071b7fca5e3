"""Run the tests of faults and print what they counted, as a table: python benchmarks/fault_table.py

The table holds nothing typed by hand: each test of tests/ledger that injects a fault appends a row
to the file that DEPTHLAW_FAULT_LOG names. With --log FILE the rows of an earlier run are taken
instead.
"""

from __future__ import annotations

import argparse
import json
import os
import subprocess
import sys
import tempfile
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
TESTS = ("tests/ledger/test_faults.py", "tests/ledger/test_ray.py")


def table(rows: list[dict]) -> str:
    """The rows as Markdown, with their sum."""
    lines = [
        "| fault | injected by | rounds | records lost | wrong records accepted | final "
        "manifest | what is said |",
        "|---|---|--:|--:|--:|---|---|",
    ]
    for row in rows:
        same = "that of an undisturbed run" if row["same"] else "DIFFERS"
        said = row["said"].replace("|", "\\|")
        lines.append(
            f"| {row['fault']} | {row['injected']} | {row['rounds']} | {row['lost']} | "
            f"{row['accepted']} | {same} | {said} |"
        )
    rounds, lost, accepted = (
        sum(row[name] for row in rows) for name in ("rounds", "lost", "accepted")
    )
    return "\n".join(
        [*lines, f"| **all {len(rows)}** | | **{rounds}** | **{lost}** | **{accepted}** | | |"]
    )


def main() -> int:
    """Print the table; the exit code is that of the tests."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--log", type=Path)
    given, code = parser.parse_args().log, 0
    with tempfile.TemporaryDirectory() as folder:
        log = given or Path(folder) / "faults.jsonl"
        if given is None:
            command = [sys.executable, "-m", "pytest", *(str(ROOT / test) for test in TESTS)]
            code = subprocess.run(
                command, cwd=ROOT, env=os.environ | {"DEPTHLAW_FAULT_LOG": str(log)}, check=False
            ).returncode
        rows = [json.loads(line) for line in log.read_text(encoding="utf-8").splitlines()]
    sys.stdout.write(table(rows) + "\n")
    return code


if __name__ == "__main__":
    sys.exit(main())

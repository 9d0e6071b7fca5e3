"""The theory suite on three Ray nodes of this machine, one of them killed in mid-suite: is the
manifest that of the inline engine?

Run with `python benchmarks/ray_suite.py [SUITE]`; needs the extra ray, and minutes. Exit code 1
when the manifests differ.
"""

from __future__ import annotations

import os
import sys
import tempfile
import time
from pathlib import Path

import ray
from ray.cluster_utils import Cluster

from depthlaw.ledger.records.run import Run
from depthlaw.ledger.records.store import Store, manifest
from depthlaw.ledger.running.engines import Inline, Ray, execute
from depthlaw.ledger.running.plan import plan
from depthlaw.theory.claims.definition import registry

# A lost node is noticed within seconds instead of half a minute.
SOON = {
    "health_check_initial_delay_ms": 0,
    "health_check_period_ms": 500,
    "health_check_timeout_ms": 5000,
    "health_check_failure_threshold": 3,
}


def on_three_nodes(runs: list[Run], store: Store) -> int:
    """Record the runs on a cluster that loses a node when a third of them is done. Returns how many
    were done by then."""
    cluster = Cluster(
        initialize_head=True,
        head_node_args={"num_cpus": 0, "include_dashboard": False, "_system_config": SOON},
    )
    ray.init(address=cluster.address, log_to_driver=False)
    nodes = [cluster.add_node(num_cpus=1) for _ in range(3)]
    cluster.wait_for_nodes()
    done: list[Run] = []
    killed_at = 0

    def finished(run: Run) -> None:
        nonlocal killed_at
        done.append(run)
        if len(done) == len(runs) // 3:
            killed_at = len(done)
            cluster.remove_node(nodes[0], allow_graceful=False)

    failures = execute(runs, store, Ray(), finished=finished)
    ray.shutdown()
    cluster.shutdown()
    for failure in failures:
        sys.stdout.write(f"failed: {failure.run}: {failure.why}\n")
    return killed_at


def main(suite: str) -> int:
    """Both engines on a suite; prints one line each."""
    os.environ.setdefault("RAY_USAGE_STATS_ENABLED", "0")
    runs = plan(registry(), suite)
    found = []
    with tempfile.TemporaryDirectory() as folder:
        store = Store(Path(folder) / "ray")
        started = time.perf_counter()
        killed_at = on_three_nodes(runs, store)
        found.append(manifest(store))
        sys.stdout.write(
            f"ray, 3 nodes, one killed after {killed_at} of {len(runs)} runs: "
            f"{found[0]['hash']} ({time.perf_counter() - started:.0f} s)\n"
        )
        store, started = Store(Path(folder) / "inline"), time.perf_counter()
        execute(runs, store, Inline())
        found.append(manifest(store))
        spent = time.perf_counter() - started
        sys.stdout.write(f"inline: {found[1]['hash']} ({spent:.0f} s)\n")
    by_id = {run.id: run for run in runs}
    one, other = ({tuple(pair) for pair in each["runs"]} for each in found)
    for run_id, _ in one ^ other:
        sys.stdout.write(f"differs: {by_id[run_id]}\n")
    same = found[0]["hash"] == found[1]["hash"]
    sys.stdout.write("the same manifest\n" if same else "THE MANIFESTS DIFFER\n")
    return int(not same)


if __name__ == "__main__":
    sys.exit(main(*(sys.argv[1:] or ["theory"])))

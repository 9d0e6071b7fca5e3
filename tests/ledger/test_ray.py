"""The Ray engine on a real local cluster: the records of the inline engine, and a node that is
removed costs none of them."""

from __future__ import annotations

import os
import warnings
from collections.abc import Callable, Iterator

import pytest

from depthlaw.ledger.records.store import Store, manifest
from depthlaw.ledger.running.engines import Inline, Ray, execute
from depthlaw.ledger.running.plan import plan
from depthlaw.theory.claims.definition import Case, registry

ray = pytest.importorskip("ray", reason="the extra ray is not installed")

# A lost node is noticed within a second instead of half a minute.
SOON = {
    "health_check_initial_delay_ms": 0,
    "health_check_period_ms": 300,
    "health_check_timeout_ms": 1000,
    "health_check_failure_threshold": 2,
}

# Ray leaves sockets and files of its processes to the garbage collector.
pytestmark = [
    pytest.mark.ray,
    pytest.mark.slow,
    pytest.mark.filterwarnings("ignore"),
    pytest.mark.filterwarnings("ignore::pytest.PytestUnraisableExceptionWarning"),
]


@pytest.fixture
def cluster(faulty) -> Iterator[Callable]:
    """A cluster on this machine whose head node takes no work."""
    from ray.cluster_utils import Cluster

    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        made = Cluster(
            initialize_head=True,
            head_node_args={"num_cpus": 0, "include_dashboard": False, "_system_config": SOON},
        )
        ray.init(address=made.address, log_to_driver=False)
        yield made
        ray.shutdown()
        made.shutdown()


def test_a_node_is_removed_in_mid_suite(faulty, cluster, tmp_path, monkeypatch, fault):
    """Three nodes do the work; one is removed without notice when a fifth of it is done."""
    monkeypatch.setenv("FAULTY_RUNS", "100")
    nodes = [cluster.add_node(num_cpus=1) for _ in range(3)]
    cluster.wait_for_nodes()
    counted = fault(
        "a Ray node is removed", "one of three nodes killed in mid-suite (ray.cluster_utils)"
    )
    cases = (Case(depth=1 + n % 60, n=n, milliseconds=50) for n in range(100))
    runs, store, done = plan(faulty.claims(*cases), "quick"), Store(tmp_path), []

    def remove_one(run) -> None:
        done.append(run)
        if len(done) == 20:
            counted.survived(tmp_path)
            cluster.remove_node(nodes[0], allow_graceful=False)

    assert execute(runs, store, Ray(loader=faulty.LOADER), finished=remove_one) == []
    assert len(done) == 100
    counted.survived(tmp_path)
    counted.rounds = 1
    counted.ended(tmp_path, runs, "nothing; the runs of that node are done by another")


def test_faults_of_tasks_are_reported(faulty, cluster, tmp_path):
    cluster.add_node(num_cpus=2)
    cluster.wait_for_nodes()
    wrong = (Case(depth=1, **{how: 1}) for how in ("wrong", "hang", "kill"))
    killed = Case(depth=2, kill=1, after=str(tmp_path / "died"))
    runs = plan(faulty.claims(*wrong, killed, Case(depth=3)), "quick")
    engine = Ray(loader=faulty.LOADER, timeout=1.0, retries=1)
    found = {run.id: outcome for run, outcome in engine.outcomes(runs)}
    wrong, hung, died, revived, good = (found[run.id] for run in runs)
    assert wrong.why == "ValueError: no such luck"
    assert hung.why == "hung: stopped after 1 s"
    assert died.why.startswith("Ray lost it: WorkerCrashedError")
    assert (revived.result, good.result) == ({"exact": "9"}, {"exact": "27"})


def test_ray_started_for_one_suite_gives_the_records_of_the_inline_engine(monkeypatch):
    monkeypatch.setenv("RAY_USAGE_STATS_ENABLED", "0")
    keys = ("separation_rank/degree", "hops/doubling")
    runs = plan({key: registry()[key] for key in keys}, "quick")
    alone = manifest(outcome for _, outcome in Inline().outcomes(runs))
    together = manifest(outcome for _, outcome in Ray().outcomes(runs))
    assert alone["hash"] == together["hash"]
    assert not ray.is_initialized()
    assert os.environ["OMP_NUM_THREADS"] == "1"

"""What every test may rely on: fixed examples, fresh precision, one thread, no foreign folders, and
no silent skip."""

from __future__ import annotations

import gc
import json
import os
import signal
import sys
import tempfile
import tomllib
from collections.abc import Callable, Generator, Iterator
from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, settings

# Before NumPy or torch is imported. One thread: sums come out the same everywhere, and neighbours
# are not slowed down.
for _name in ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS"):
    os.environ[_name] = "1"
os.environ["MPLBACKEND"] = "Agg"
# Before SymPy is imported: all claims in one process fill its cache of 1000 again and again.
os.environ["SYMPY_CACHE_SIZE"] = "20000"
# As a shell leaves it: under nohup it is ignored, and tests of a closed terminal would see nothing.
# What tests start inherits it.
if hasattr(signal, "SIGHUP"):
    signal.signal(signal.SIGHUP, signal.SIG_DFL)
# What would change the colours and the width of what is printed.
for _name in ("COLUMNS", "LINES", "FORCE_COLOR", "NO_COLOR", "PY_COLORS", "GITHUB_ACTIONS"):
    os.environ.pop(_name, None)

# The same examples on every machine, and however slow it is; look for new ones with
# `pytest --hypothesis-profile=explore`.
_PATIENT = {"deadline": None, "suppress_health_check": [HealthCheck.too_slow]}
settings.register_profile("depthlaw", derandomize=True, database=None, **_PATIENT)
settings.register_profile("explore", max_examples=1000, print_blob=True, **_PATIENT)
settings.load_profile("depthlaw")

_HERE = Path(__file__).parent
sys.path.insert(0, str(_HERE))  # for modules beside the tests
_LISTED = {
    (entry["file"], entry["test"])
    for entry in tomllib.loads((_HERE / "skips.toml").read_text()).get("skip", [])
}
_unlisted = pytest.StashKey[set[str]]()


@pytest.fixture(autouse=True)
def _fresh_arithmetic() -> Iterator[None]:
    """python-flint's precision and torch's threads are global to the process: no test leaves them
    changed."""
    if torch := sys.modules.get("torch"):
        torch.set_num_threads(1)
    yield
    if flint := sys.modules.get("flint"):
        flint.ctx.default()


@pytest.fixture(autouse=True, scope="session")
def _own_data_folder() -> Iterator[None]:
    """Records go to the user's data folder by default; a test never touches the real one."""
    with tempfile.TemporaryDirectory() as folder, pytest.MonkeyPatch.context() as patch:
        patch.setenv("XDG_DATA_HOME", folder)
        yield


def pytest_addoption(parser: pytest.Parser) -> None:
    parser.addoption(
        "--arithmetic",
        choices=("exact", "perturbed"),
        help="how products of floating-point matrices round: tests/arithmetics.py",
    )


def pytest_configure(config: pytest.Config) -> None:
    """Collect skipped and xfailed tests that skips.toml does not list; take the arithmetic that is
    asked for."""
    if name := config.getoption("arithmetic"):
        from arithmetics import arithmetic

        products = arithmetic(name)
        products.__enter__()
        config.add_cleanup(lambda: products.__exit__(None, None, None))
    config.stash[_unlisted] = set()
    config.pluginmanager.register(_NoSilentSkip(config), "no_silent_skip")


class _Backwards(pytest.Dir):
    def collect(self) -> Iterator[pytest.Item | pytest.Collector]:
        return reversed(list(super().collect()))


def pytest_collect_directory(path: Path, parent: pytest.Collector) -> pytest.Collector | None:
    """Every second process of xdist reads the files of a folder from the last: in a fresh clone two
    processes compile half of them each, not each all."""
    worker = os.environ.get("PYTEST_XDIST_WORKER", "gw0").removeprefix("gw")
    return _Backwards.from_parent(parent, path=path) if int(worker) % 2 else None


@pytest.hookimpl(tryfirst=True)
def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """The same order in all processes."""
    items.sort(key=lambda item: item.path.parts)


@pytest.hookimpl(wrapper=True)
def pytest_collection() -> Generator[None, object, object]:
    """What is imported now stays: no collection of garbage looks through it, now or later."""
    gc.disable()
    try:
        return (yield)
    finally:
        gc.freeze()
        gc.enable()


class _NoSilentSkip:
    def __init__(self, config: pytest.Config) -> None:
        self.found = config.stash[_unlisted]

    def pytest_runtest_logreport(self, report: pytest.TestReport) -> None:
        self._note(report)

    def pytest_collectreport(self, report: pytest.CollectReport) -> None:
        self._note(report)

    def _note(self, report: pytest.TestReport | pytest.CollectReport) -> None:
        file, _, rest = report.nodeid.partition("::")
        test = rest.partition("[")[0].rpartition("::")[2] or "<module>"
        if (report.skipped or hasattr(report, "wasxfail")) and (file, test) not in _LISTED:
            self.found.add(f"{file}::{test}")

    @pytest.hookimpl(trylast=True)
    def pytest_sessionfinish(self, session: pytest.Session) -> None:
        if self.found and session.exitstatus == pytest.ExitCode.OK:
            session.exitstatus = pytest.ExitCode.TESTS_FAILED

    def pytest_terminal_summary(self, terminalreporter: pytest.TerminalReporter) -> None:
        for name in sorted(self.found):
            terminalreporter.write_line(
                f"SILENT SKIP {name}: list it in tests/skips.toml with a "
                "reason and an exit condition",
                red=True,
            )


@pytest.fixture
def checked(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> Callable[..., tuple[int, Any]]:
    """`depthlaw tasks check` of a net or a bound: its exit code and its output."""
    from depthlaw.ledger.cli.arguments import main

    def run(net: dict[str, Any], *options: str) -> tuple[int, Any]:
        file = tmp_path / "net.json"
        file.write_text(json.dumps(net))
        code = main(["tasks", "check", str(file), *options])
        out = capsys.readouterr()
        return code, json.loads(out.out) if "--json" in options else out.out + out.err

    return run

"""`import depthlaw` and `python -m depthlaw`: the answers of the command line as data."""

import signal
from importlib.metadata import version

import pytest

import depthlaw
from depthlaw.advisor.base.quantities import UsageError
from depthlaw.ledger.records.store import Store


def test_only_what_is_promised_is_there():
    assert depthlaw.__version__ == version("depthlaw")
    assert {"__version__", "claims", "recommend", "verify"} <= set(dir(depthlaw))
    with pytest.raises(AttributeError, match="has no attribute 'nothing'"):
        _ = depthlaw.nothing


def test_recommend_is_the_answer_of_depth():
    assert (
        depthlaw.recommend("1.3B") == depthlaw.recommend(1_300_000_000) == depthlaw.recommend(1.3e9)
    )
    both = depthlaw.recommend("1.3B", task="hops", hops=16, pipeline=4)
    assert both.shape.architecture.layers % 4 == 0
    assert both.tasks[0].headline.startswith("6 layers suffice")
    with pytest.raises(UsageError, match="the task hops needs --hops"):
        depthlaw.recommend(task="hops")


def test_an_answer_prints_what_the_command_prints_and_is_one_line_at_a_prompt(capsys):
    from depthlaw.ledger.cli.arguments import main

    answer = depthlaw.recommend("3B", pipeline=4)
    assert main(["depth", "3B", "--pipeline", "4"]) == 0
    assert capsys.readouterr().out == f"{answer}\n"
    shape = answer.shape.architecture
    assert repr(answer) == f"<Answer: {shape.layers} x {shape.width:,}>"
    assert repr(depthlaw.recommend(task="hops", hops=16)).startswith("<Answer: 6 layers suffice")


def test_verify_judges_and_resumes(tmp_path):
    first = depthlaw.verify(only=["hops/depth_corrected"], results=tmp_path / "r")
    files = sorted((tmp_path / "r" / "runs").rglob("*.json"))
    again = depthlaw.verify(
        only=["hops/depth_corrected"], results=tmp_path / "r", engine="pool", processes=1
    )
    assert sorted((tmp_path / "r" / "runs").rglob("*.json")) == files
    assert first["hops/depth_corrected"].verdict is again["hops/depth_corrected"].verdict
    assert first["hops/depth_corrected"].verdict.value == "PROVED"


def test_verify_stops_in_time_and_says_what_it_has(tmp_path, monkeypatch):
    """The alarm goes off while the first record is written."""

    def put(store, record, **more):
        kept(store, record)
        signal.raise_signal(signal.SIGALRM)

    kept = Store.put
    monkeypatch.setattr(Store, "put", put)
    found = depthlaw.verify("theory", only=["hops/depth_corrected"], results=tmp_path, minutes=60)
    assert len(found["hops/depth_corrected"].records) == 1
    assert len(found["hops/depth_corrected"].cases) > 1


@pytest.mark.parametrize(
    ("options", "why"),
    [
        ({"suite": "quik"}, "unknown suite"),
        ({"only": ["hops/no"]}, "unknown claim"),
        ({"engine": "x"}, "unknown engine"),
        ({"minutes": 0}, "--minutes 0"),
    ],
)
def test_verify_refuses_what_makes_no_sense(tmp_path, options, why):
    with pytest.raises(UsageError, match=why):
        depthlaw.verify(results=tmp_path / "r", **options)
    assert not (tmp_path / "r").exists()

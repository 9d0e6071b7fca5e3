"""`depthlaw depth` and `depthlaw sweep` as they are typed: answers, files, and what is refused."""

from __future__ import annotations

import contextlib
import io
import json
import os
import re
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from depthlaw.ledger.cli.arguments import main
from depthlaw.ledger.functions import sweep
from depthlaw.ledger.publish.site import transcripts

LLAMA = {
    "model_type": "llama",
    "num_hidden_layers": 40,
    "hidden_size": 5120,
    "num_attention_heads": 40,
    "num_key_value_heads": 40,
    "intermediate_size": 13824,
    "vocab_size": 32000,
    "max_position_embeddings": 2048,
    "tie_word_embeddings": False,
}
Run = Callable[..., str]


def listing(folder: Path) -> list[Path]:
    return sorted(folder.rglob("*"))


@pytest.fixture
def run(depthlaw: Callable[..., Any]) -> Run:
    """What a command prints that succeeds."""

    def printed(*words: str | Path) -> str:
        code, out, err = depthlaw(*words)
        assert code == 0
        assert "error" not in err
        return str(out)

    return printed


# --- what is refused -----------------------------------------------------------------------------

# Command lines, with a bar or the end of a line between them, beside those of test_hostile: what
# contradicts itself, unknown words, files (NAME is one that is too long), what would be ignored.
BAD = """
    1e40 | 3 | big | 1B 2B | 3B --count words | 3B --frob | 1e3000000000 | 3B5 | --task | --hours
    --flops 1e60 | --flops 3parsecs | 3B --memory 8apples | 3B --bandwidth 50 | 3B --bandwidth GB/s
    --gpu H100 --gpus 64 --time fortnight | --gpu H100 --gpus 1.5 --hours 1 | 3B --bits 1.5
    --gpu H100 --gpus 8 --hours 9 --utilisation 40 | --gpu H1000 --gpus 8 --hours 9
    3B --ms-per-token 20 --tokens-per-second 50 | --gpu H100 --hours 1 --time 1h | 3B --hours 9
    3B --utilisation 0.4 | --gpu H100 | 3B --flops 1e21 --tokens 1T | 3B --layers 32 --width 16384
    3B --active-experts 2 | 3B --experts 4 --active-experts 8 | 3B --loops 2 --layers 31
    3B --pipeline 40 --layers 32 | 3B --width 3000 --multiple 128 | 3B --width 3072 --head-width 100
    3B --layers 2.5 | 3B --layers 1e9 | 3B --gqa 3:2 | 3B --ff 1/0 | 3B --ff 4/ | 3B --ff 4_0
    3B --vocabulary 1e12 | 3B --tensor 7 --width 4096 | 1M --vocabulary 1000000
    3B --dense-layers 3 | 3B --encoder-decoder --experts 8 --active-experts 2 | 10M --memory 1K
    3B --kv-cache 1K --context 1000000 | 3B --known-by 1066 | 3B --known-by 9999
    --task hops | --task hops --hops 1.5
    --task connectivity --diameter 9 --vertices 9 | --task connectivity --diameter 9 --hops 3
    3B --diameter 64 | --hops 3 | --hf fifo | --hf ~nobody/config.json
    3B --latency . | 3B --latency fifo | 3B --config . | 3B --config missing/config.json
    3B --config '' | 3B --config exists.json | 3B --config fifo --force | 3B --config NAME
    3B --config ~nobody/config.json | --config new.json | --task hops --hops 3 --config new.json
    1B --loops 2 --config new.json | 3B --config new.json --norm post
    3B --config - --residual attnres | --layers 12 | --width 512
    3B --bits 4 | 3B --bandwidth 50GB/s | 3B --force | 3B --config - --force | 3B --gated --plain
    3B --tied --untied | 3B --config - --json | 3B --json --cite | 3B --why --cite
    --evidence --why | --schema 3B
"""


def lines(text: str) -> list[str]:
    return [typed.strip() for typed in re.split(r"\||\n", text.strip())]


@pytest.mark.parametrize("typed", ["", *lines(BAD)])
def test_bad_input_is_one_line_on_stderr_exit_2_and_nothing_is_written(
    typed: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, refused: Run
) -> None:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "exists.json").write_text("mine")
    os.mkfifo(tmp_path / "fifo")
    before = listing(tmp_path)
    words = [{"''": "", "NAME": "a" * 300}.get(word, word) for word in typed.split()]
    hints = (
        "try |give |accepted|known|say |must|needs?|relax|allow|--help|did you mean|cannot be wr"
    )
    assert re.search(hints, refused("depth", *words))
    assert listing(tmp_path) == before
    assert (tmp_path / "exists.json").read_text() == "mine"


def nested(depth: int) -> str:
    return '{"model_type":' * depth + "1" + "}" * depth


# Values that no configuration has are refused in tests/advisor/test_huggingface.py.
CONFIGS: dict[str, str | bytes | Callable[[Path], Any]] = {
    "empty": "",
    "nested": nested(100_000),
    "nested list": "[" * 100_000 + "]" * 100_000,
    "binary": b"\x00\xff\xfe\x80" * 999,
    "cut off": json.dumps(LLAMA)[:-20],
    "ten megabytes": json.dumps(LLAMA | {"x": "y" * 10_000_000}),
    "many digits": json.dumps(LLAMA)[:-1] + ', "hidden_act_scale": ' + "9" * 5000 + "}",
    "duplicate": json.dumps(LLAMA)[:-1] + ', "num_hidden_layers": 2}',
    "not a number": json.dumps(LLAMA | {"num_hidden_layers": float("nan")}),
    "a billion layers": json.dumps(LLAMA | {"num_hidden_layers": 10**9}),
    "folder": Path.mkdir,
    "fifo": os.mkfifo,
}


@pytest.mark.parametrize("case", CONFIGS)
def test_a_malformed_or_hostile_configuration_is_refused_in_one_line(
    case: str, tmp_path: Path, refused: Run
) -> None:
    file, content = tmp_path / "config.json", CONFIGS[case]
    if isinstance(content, str | bytes):
        file.write_bytes(content.encode() if isinstance(content, str) else content)
    else:
        content(file)
    assert len(refused("depth --hf", file)) < 1000


BAD_SWEEPS = f"""
    --from 1B | --from 2B --to 1B | --from x --to 1B | 1B --from 1B --to 2B
    --from 1B --to 10B --points 1 | --from 1B --to 10B --points 1e9
    --from 1B --to 10B --plot depth.gif | --from 1B --to 10B --norm batch
    --from 1B --to 10B --csv exists.csv | --from 1B --to 10B --csv .
    --from 1B --to 10B --csv new.csv --plot missing/new.svg
    --from 1B --to 10B --csv new.svg --plot ./new.svg
    --from 1B --to 10B --csv exists.csv --plot ./exists.csv --force
    --from 1B --to 10B --csv new.csv --plot exists.csv/new.svg
    --from 1B --to 10B --csv new.csv --plot {"a" * 240}.svg | --from 1B --to 10B --force
    --from 1B --to 10B --csv - --json | --from 1B --to 10B --gated --plain
"""


@pytest.mark.parametrize("typed", ["", *lines(BAD_SWEEPS)])
def test_a_bad_sweep_is_refused_in_one_line_and_nothing_is_written(
    typed: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, refused: Run
) -> None:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "exists.csv").write_text("mine")
    refused("sweep", *typed.split())
    assert [p.name for p in listing(tmp_path)] == ["exists.csv"]


# --- what is answered ----------------------------------------------------------------------------


ANSWERED = """
    1M --count non-embedding | 1M --vocabulary 256 | 85M | 350M | 1.3B
    7e9 --count non-embedding | 175B | 1T | --flops 1e21 | --gpu H100 --gpus 64 --time 2weeks
    --tokens 300B | 3B --gqa 8 --tied --vocabulary 32000 --ff 8/3 --head-width 64
    3B --plain --pipeline 4
    30B --experts 64 --active-experts 6 --shared-experts 2 --dense-layers 1 | 1B --loops 2
    1B --encoder-decoder | 350M --ms-per-token 20ms --bandwidth 50GB/s --bits 4
    350M --tokens-per-second 50 | 3B --parametrisation completep --known-by 2025
    3B --task hops --hops 16 | --task connectivity --diameter 64 --vertices 1000
    --task regular --length 1024 | 3B --latency-matters --residual attnres --norm lns
"""


@pytest.mark.parametrize("typed", lines(ANSWERED))
def test_an_answer_fits_80_columns(typed: str, run: Run) -> None:
    text = run("depth", *typed.split(), "--why")  # begins with the short answer
    assert max(map(len, text.splitlines())) <= 80
    assert text.isascii()
    assert run("depth", *typed.split(), "--cite").count("\n") == 1


def test_the_default_answer_is_short_and_the_rest_is_behind_why(run: Run) -> None:
    short, long = run("depth 3B"), run("depth 3B --why")
    assert len(short.splitlines()) <= 18
    assert long.startswith(short.rstrip())
    for word in ("EXTRAPOLATED", "printed", "Levine", "claim depth_choice/levine_fit_depth ("):
        assert word in " ".join(long.split())
    assert re.fullmatch(r"Answer   \d+ layers of width [\d,]+\.", short.splitlines()[1])


def test_evidence_shows_every_rule_and_the_projection_that_does_not_match(run: Run) -> None:
    text = run("depth --evidence")
    for words in ("nanochat", "Levine's fit", "not equal after rounding", "Marin *"):
        assert words in text
    assert re.search(r"muP's best d / L \* +optimum +0.242", text)
    assert len(re.findall(r" \*(?=\s)", text)) == 6
    assert re.search(r"Depth Delusion +names a depth to build\n", text)
    assert "keep the one that we have followed, muP's best d / L (decision 0012)" in " ".join(
        text.split()
    )
    found = json.loads(run("depth --evidence --json"))["evidence"]
    assert found["choice"]["rule"] == "mup"
    assert set(found["choice"]["alike"]) == {r["key"] for r in found["rules"] if not r["fails"]}
    data = json.loads(run("depth --evidence --json"))
    assert data["answer"] is None
    assert sum(rule["may_be_chosen"] for rule in data["evidence"]["rules"]) == 6
    assert data["evidence"]["against_default"]["told"] is False
    assert run("depth 3B --evidence").endswith(text)


@pytest.mark.parametrize(
    ("typed", "near"),
    [
        ("3B --gpuz H100", "--gpuz (Possible options: --gpu, --gpus)"),
        ("--gpuz H100 3B", "--gpuz"),
        ("3B --kv-heads 4", "--kv-heads (did you mean --gqa, the query"),
        ("3B --min-layers 9", "--min-layers (did you mean --least-layers?)"),
        ("3B --maximum-depth 9", "--maximum-depth (did you mean --most-layers?)"),
        ("--params 7e9", "--params (a size stands alone, as in depthlaw depth 7e9);"),
    ],
)
def test_an_unknown_option_is_named_with_those_like_it(typed: str, near: str, refused: Run) -> None:
    assert refused(f"depth {typed}").startswith(f"error: no such option: {near}")


def test_a_written_configuration_is_read_back_as_the_recommended_shape(
    tmp_path: Path, run: Run, refused: Run
) -> None:
    file = tmp_path / "config.json"
    run("depth 3B --config", file)
    assert [p.name for p in listing(tmp_path)] == ["config.json"]
    assert run("depth 3B --config -") == file.read_text()
    shape = json.loads(run("depth 3B --json"))["answer"]["shape"]["architecture"]
    given = json.loads(run("depth --hf", file, "--json"))["answer"]["given"]
    for field in ("layers", "width", "heads", "d_ff", "vocabulary", "tied"):
        assert given["architecture"][field] == shape[field]
    file.write_text("mine")
    said = refused("depth 3B --config", file)
    assert file.read_text() == "mine"
    assert said.endswith("--force to replace it; to judge it give it to --hf\n")
    assert "to judge a configuration give it to --hf" in refused("depth --config", file)
    run("depth 3B --config", file, "--force")
    assert json.loads(file.read_text())["num_hidden_layers"] == shape["layers"]


@pytest.mark.parametrize(
    ("typed", "said"),
    [
        (
            "30B --experts 64 --active-experts 6 --shared-experts 2",
            "Glm4MoeForCausalLM: its router",
        ),
        ("3B --plain", "ArceeForCausalLM: its MLP"),
        ("3B --parametrisation completep", "multipliers of completep"),
        ("3B", None),
    ],
)
def test_what_a_written_configuration_does_not_hold_is_said(
    typed: str, said: str | None, depthlaw: Callable[..., Any]
) -> None:
    code, out, err = depthlaw(f"depth {typed} --config -")
    assert code == 0
    json.loads(out)
    assert err == "" if said is None else re.fullmatch(f"note: [^\n]*{said}[^\n]*\n", err)


def test_of_a_given_configuration_the_shape_alone_is_written_and_bits_are_of_its_weights(
    tmp_path: Path, run: Run, depthlaw: Callable[..., Any]
) -> None:
    (tmp_path / "config.json").write_text(json.dumps(LLAMA))
    assert "rope_theta" in depthlaw("depth --pipeline 16 --config - --hf", tmp_path).err
    said = (run("depth --hf", tmp_path, "--bits", n, "--json") for n in ("16", "4"))
    whole, quarter = (json.loads(text)["answer"]["memory"]["weights"] for text in said)
    assert whole == 4 * quarter


@pytest.mark.parametrize("name", ["a\nb.json", "a\x1b[2Jb.json"])
def test_a_name_with_control_characters_stays_one_line(
    name: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, depthlaw: Callable[..., Any]
) -> None:
    monkeypatch.chdir(tmp_path)
    for code in (0, 2):  # written; there already
        said, _, err = depthlaw("depth 3B --config", name)
        assert (said, err.count("\n")) == (code, 1)
        assert err.strip().isprintable()


def test_a_sweep_is_a_table_a_csv_json_and_a_plot(
    tmp_path: Path, run: Run, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(sweep, "_PLOTTED", 2)
    sizes = ["sweep", "--from", "100M", "--to", "10B", "--points", "3"]
    table = run(*sizes)
    assert [line.split()[0] for line in table.splitlines()[1:4]] == ["100M", "1B", "10B"]
    data = json.loads(run(*sizes, "--json"))
    assert run(*sizes, "--csv", tmp_path / "s.csv") == ""
    for line, each in zip(table.splitlines()[1:4], data["sweep"], strict=True):
        within = each["answer"]["interval"]
        assert within["ended"]
        assert (
            f"{within['low']}{'-' * within['started']} to {within['high']}+"
            f"{' *' * within['extrapolated']}  "
        ) in line
    assert " = " not in table
    demanded = run(*sizes, "--most-layers", "20")
    assert [" = " in line for line in demanded.splitlines()[1:4]] == [False, True, True]
    assert "= the demands set this depth, not the rule" in demanded
    heading, *rows = (tmp_path / "s.csv").read_text().splitlines()
    assert heading.startswith("budget,layers,width,heads")
    assert "law levine" in heading
    assert [row.split(",")[1] for row in rows] == [
        str(each["answer"]["shape"]["architecture"]["layers"]) for each in data["sweep"]
    ]
    run(*sizes, "--plot", tmp_path / "s.svg")
    assert (tmp_path / "s.svg").read_bytes().startswith(b"<?xml")


def test_a_sweep_prints_csv_and_takes_every_constraint_of_depth(tmp_path: Path, run: Run) -> None:
    sizes = ["sweep", "--from", "10B", "--to", "100B", "--points", "2"]
    run(*sizes, "--csv", tmp_path / "s.csv")
    assert run(*sizes, "--csv", "-") == (tmp_path / "s.csv").read_text()
    sizes += ["--experts", "16", "--active-experts", "2", "--pipeline", "4", "--count", "active"]
    for answer in json.loads(run(*sizes, "--json"))["sweep"]:
        shape = answer["answer"]["shape"]
        assert shape["architecture"]["experts"]["active"] == 2
        assert shape["architecture"]["layers"] % 4 == 0
        assert shape["counts"]["active"] == pytest.approx(answer["budget"], rel=0.05)
    depth, sweep = (
        set(
            re.findall(
                r"^  (--[a-z-]+)",
                section.partition("Output:")[0]
                .partition("What the shape must obey:")[2]
                .partition("A task")[0],
                re.MULTILINE,
            )
        )
        for section in (run(command, "--help") for command in ("depth", "sweep"))
    )
    # A range of sizes has no mixer.
    assert depth == sweep | {"--mixer"} != {"--mixer"}


def test_a_hybrid_is_not_written_as_a_net_of_attention(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    file = tmp_path / "h.json"
    assert main(["depth", "1B", "--mixer", "hgrn2", "--config", str(file)]) == 2
    said = capsys.readouterr().err
    assert "--mixer hgrn2 asks for another" in said
    assert said.count("\n") == 1
    assert not file.exists()


@pytest.mark.parametrize("columns", [40, 60, 80])
@pytest.mark.parametrize(
    "typed",
    [
        "sweep --from 100M --to 1T --points 4",
        "depth 3B --why",
        "compare " + " ".join(["llama-3-8b"] * 9),
    ],
)
def test_no_line_is_longer_than_was_asked_for(
    typed: str, columns: int, monkeypatch: pytest.MonkeyPatch, run: Run
) -> None:
    monkeypatch.setenv("COLUMNS", str(columns))
    for line in run(*typed.split()).splitlines():
        assert len(line) <= columns or " " not in line.strip()


def in_this_process(words: list[str], folder: Path) -> str:
    """What a command prints that a page shows."""
    said = io.StringIO()
    out, err = contextlib.redirect_stdout(said), contextlib.redirect_stderr(said)
    with contextlib.chdir(folder), out, err:
        assert main(words) == ("--weaken" in words)
    return said.getvalue()


@pytest.mark.parametrize(
    ("page", "least"),
    [
        ("README.md", 1),
        ("docs/depth.md", 3),
        ("docs/loss-surfaces.md", 1),
        ("docs/what-counts-as-a-layer.md", 1),
        ("docs/how-to/loop-mix-or-grow.md", 2),
        ("docs/tutorial.md", 4),
        ("docs/how-to/check-a-theorem.md", 7),
        ("docs/how-to/cite.md", 1),
        ("docs/how-to/check-a-net.md", 2),
    ],
)
def test_transcripts_are_what_the_commands_print(
    page: str, least: int, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Where this fails: `make transcripts`."""
    for name, value in (transcripts.TERMINAL | {"XDG_DATA_HOME": str(tmp_path)}).items():
        monkeypatch.setenv(name, value)
    path = Path(__file__).resolve().parents[2] / page
    text = path.read_text(encoding="utf-8")
    assert text.count("$ depthlaw") >= least
    assert transcripts.renewed(text, transcripts.folder_of(path), in_this_process) == text
